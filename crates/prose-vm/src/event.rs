//! What happens in a run. Journals, files, narration, progress and editors are all made from these events.

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use std::sync::Arc;

pub use crate::effect::LoopKind;
use crate::effect::{Binding, MemoryPlace, Outcome, RequestId, SessionTask, Usage};
use crate::error::RuntimeError;
use crate::place::{Place, Site};
use crate::value::Value;

/// Something that happened in a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Its number in the run, from 1 without gaps. [`What::Resumed`], [`What::Queued`], [`What::Begun`], [`What::MemoryAwaited`] and
    /// [`What::MemoryAcquired`], which are not recorded, have the number of the event before them.
    pub seq: u64,
    /// When, in milliseconds since 1970-01-01 in UTC. An event of a run that is executed again keeps the time at which it happened first.
    pub at: u64,
    /// How many milliseconds the run had lain stopped before that, between its executions.
    #[serde(default, skip_serializing_if = "is_no_time")]
    pub paused: u64,
    /// Where in the execution.
    pub place: Place,
    /// The part of the text it is about; none for the run as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site: Option<Site>,
    /// The execution id of the frame; 0 for that of the program (R82).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub frame: u32,
    /// How deep it is nested in statements and frames, which is how far narration indents it (R108). Statements of the file have 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub nesting: u32,
    /// What happened.
    #[serde(flatten)]
    pub what: What,
}

impl Event {
    /// When it happened, in milliseconds, on a clock that stands still while the run lies stopped. Durations are differences of these.
    pub fn active_at(&self) -> u64 {
        self.at.saturating_sub(self.paused)
    }
}

fn is_no_time(milliseconds: &u64) -> bool {
    *milliseconds == 0
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
#[allow(missing_docs, reason = "the parts of an event are named for what they are")]
pub enum What {
    /// A run starts. Always the first event.
    RunStarted(RunHead),
    /// The definitions of a program have been collected (R5).
    Defined {
        /// The program, 0 for the one that was started.
        program: u32,
        /// Its name, such as `review.prose`.
        name: SmolStr,
        agents: Vec<DefinedAgent>,
        blocks: Vec<DefinedBlock>,
        /// How many top-level statements are executed, without definitions.
        statements: u32,
    },
    /// A `use` line has been taken up (R94).
    Imported {
        path: SmolStr,
        /// Where it was read from: an address or a file.
        from: String,
        inputs: Vec<SmolStr>,
        outputs: Vec<SmolStr>,
        alias: SmolStr,
    },
    /// A program has got its inputs, those it was given when it was started or called.
    InputsReceived { inputs: Vec<(SmolStr, Value)> },
    /// The program waits for an input.
    InputAsked { request: RequestId, name: Option<SmolStr>, prompt: Arc<str> },
    /// An input has been given to a program that waited.
    InputGiven { name: Option<SmolStr>, value: Value },

    /// A statement starts.
    StatementStarted {
        /// Its number among the executed top-level statements of its program, from 1; none for one inside another.
        number: Option<u32>,
        /// Its first line, without the indentation, the colon of its body and comments.
        source: SmolStr,
        /// What it is.
        kind: StatementKind,
    },
    /// A statement has ended.
    StatementEnded { status: Status, error: Option<Arc<RuntimeError>> },

    /// A subagent starts with a task.
    SessionStarted { request: RequestId, task: Arc<SessionTask> },
    /// A session has ended. Its reply is in the `effect` event of that request, which stands before.
    SessionEnded { request: RequestId, status: Status, error: Option<Arc<RuntimeError>> },
    /// A session is tried again after a pause (R79).
    Retrying { attempt: u32, retries: u32, delay_ms: u64, error: Arc<RuntimeError> },

    /// A name has got a value.
    Bound {
        binding: Binding,
        /// The value.
        value: Value,
        /// The request whose reply it is, as it stands. Journals leave the value out then, and readers fill it in again.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reply: Option<RequestId>,
        /// The beginning of the value that the name had before, where it is a new value for an existing name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        was: Option<SmolStr>,
        /// Whether the name can get another value.
        mutable: bool,
        /// Whether it is the result of a session that nothing captures (R20).
        anonymous: bool,
    },
    /// A name was found in a frame further out (R16).
    Resolved {
        name: SmolStr,
        /// The frame it was found in; the event itself has the one that looked.
        #[serde(rename = "found_in")]
        frame: u32,
    },
    /// The program gives an output.
    OutputGiven { name: Option<SmolStr>, value: Value },

    /// Branches start together (R50).
    ParallelStarted { branches: Vec<SmolStr>, strategy: SmolStr, policy: SmolStr, count: u32, is_loop: bool },
    /// A branch starts, at the place of this event.
    BranchStarted { index: u32, name: SmolStr },
    /// A branch has ended.
    BranchEnded { index: u32, name: SmolStr, status: Status, value: Value },
    /// All that the strategy waits for has ended; names and values are those that are bound now.
    ParallelEnded { bound: Vec<(SmolStr, Value)>, failures: Vec<SmolStr>, status: Status },

    /// A loop starts.
    LoopStarted {
        kind: LoopKind,
        /// The condition or the collection, as it is written.
        header: SmolStr,
        max: Option<u32>,
    },
    /// An iteration starts, counted from 1 (D2).
    IterationStarted { number: u32, max: Option<u32> },
    /// A condition is judged.
    ConditionAsked { request: Option<RequestId>, text: Arc<str>, of: ConditionOf },
    /// A condition has been judged.
    ConditionJudged { met: bool, reason: String, of: ConditionOf },
    /// A loop has ended after a number of iterations.
    LoopEnded { why: LoopEnd, iterations: u32 },

    /// A `try` starts.
    TryStarted,
    /// An error has been raised.
    Raised { error: Arc<RuntimeError> },
    /// A `catch` takes an error.
    Caught { name: Option<SmolStr>, error: Arc<RuntimeError> },
    /// A `finally` starts.
    FinallyStarted,
    /// The `catch` or the `finally` of a `try` has ended, or the `try` itself.
    TryEnded { part: TryPart, status: Status },

    /// An option has been chosen.
    Chosen { criterion: Arc<str>, label: SmolStr, reason: String },

    /// A block is called (R80).
    FrameEntered {
        id: u32,
        block: SmolStr,
        depth: u32,
        /// The frame that calls it; 0 for that of the program.
        parent: u32,
        /// The parameters with their arguments as they are written and their values.
        arguments: Vec<(SmolStr, SmolStr, Value)>,
    },
    /// A block is left.
    FrameLeft { id: u32, block: SmolStr, status: Status },

    /// An imported program is called (R92).
    ImportCalled {
        /// The number of the execution of the program that starts.
        program: u32,
        alias: SmolStr,
        /// The arguments.
        inputs: Vec<(SmolStr, Value)>,
        /// The folder of its files, relative to that of the run (R93).
        folder: Arc<str>,
        /// Its text.
        text: Arc<str>,
    },
    /// An imported program has ended.
    ImportEnded {
        program: u32,
        alias: SmolStr,
        outputs: Vec<(SmolStr, Value)>,
        error: Option<Arc<RuntimeError>>,
    },

    /// A pipeline starts.
    PipelineStarted { stages: Vec<SmolStr>, items: u32 },
    /// A stage of a pipeline starts with a number of items.
    StageStarted { operator: SmolStr, items: u32 },
    /// A stage has ended with a number of items.
    StageEnded { operator: SmolStr, items: u32 },

    /// The memory of an agent has been written by the runner, since its harness only returns text (decision 11).
    MemoryWritten {
        /// Where it lies. The event itself has a `place`, too.
        #[serde(rename = "memory_place")]
        place: MemoryPlace,
        /// The new text of `memory.md`.
        memory: Arc<str>,
        /// The number of the segment.
        segment: u32,
        /// What the session was told to do, for the head of the segment's file.
        prompt: Arc<str>,
        /// What stands below `## Summary` in the segment's file.
        record: Arc<str>,
    },

    /// What came of a request. It is recorded before the program goes on with it (decision 10).
    Effect {
        request: RequestId,
        /// What kind of effect it is.
        effect: SmolStr,
        /// A hash of what was asked for, without paths and numbers that depend on the run.
        fingerprint: SmolStr,
        outcome: Outcome,
        /// When an agent began with it, in milliseconds since 1970, where it had to wait for one (R58).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        began: Option<u64>,
    },
    /// A request has to wait until an agent is free (R58). It is told and not recorded, since it is said of an execution and not of the run; how long
    /// it waited is in the `effect` event of the request.
    Queued { request: RequestId },
    /// The session of an agent waits until another run is done with the memory of that agent.
    MemoryAwaited { request: RequestId, agent: SmolStr },
    /// The turn of that request at the memory has come.
    MemoryAcquired { request: RequestId },
    /// An agent begins with a request that was queued. It is told and not recorded.
    Begun { request: RequestId },
    /// Something the person should know.
    Warning { message: String },
    /// A run that had stopped goes on. The events behind it are new. It is told and not recorded, since it is said of an execution and not of
    /// the run; nor is the end of a run that was interrupted part of it once it goes on.
    Resumed { harness: SmolStr },
    /// The run is over, for now if it was interrupted. Always the last event.
    RunEnded(RunEnd),
}

/// What a run is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunHead {
    /// The form of the journal. A reader that knows only earlier ones refuses it.
    pub version: u32,
    /// The id of the run (R96).
    pub run: SmolStr,
    /// The name of the program, such as `review.prose`.
    pub program: SmolStr,
    /// What the program was read from: a path, a reference to a registry, an address.
    pub from: String,
    /// The SHA-256 of its text, in hexadecimal digits.
    pub sha256: String,
    /// The imported programs, by the path of their `use` and the hash of their text, in the order in which they were met.
    pub imports: Vec<(SmolStr, String)>,
    /// The state system.
    pub state: StateMode,
    /// The harness.
    pub harness: SmolStr,
    /// The file that it takes its answers from, if it is one that does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<Box<ScriptFile>>,
    /// What decides what the offline harness answers.
    pub seed: u64,
    /// Whether context is passed by reference.
    pub context_by_reference: bool,
    /// Whether agents write the files of bindings and memories themselves.
    pub agents_write: bool,
    /// How often a loop without a limit of its own is repeated.
    pub max_iterations: u32,
    /// The pause of `backoff: linear`, and the first one of `exponential`, in milliseconds.
    pub backoff_ms: u64,
    /// The longest pause of `backoff: exponential`, in milliseconds.
    pub backoff_cap_ms: u64,
    /// The inputs that the run was started with.
    pub inputs: Vec<(SmolStr, Value)>,
}

/// The file that a run takes its answers from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptFile {
    /// Its path, as the person gave it.
    pub given: String,
    /// The same from the root on, for runs that go on in another folder.
    pub path: String,
}

/// The form of journals that this version writes.
pub const JOURNAL_VERSION: u32 = 2;

/// State systems.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StateMode {
    /// Files below `.prose/runs` (R96 to R104).
    #[default]
    Filesystem,
    /// Narration alone (R106 to R110).
    InContext,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunEnd {
    /// How.
    pub status: RunStatus,
    /// The named outputs of the program, those of a failed one as far as it had come (R76).
    pub outputs: Vec<(SmolStr, Value)>,
    /// The value of its unnamed output (R91); without one, that of its last statement if it has no named outputs either (R5).
    pub value: Value,
    /// Why it failed.
    pub error: Option<Arc<RuntimeError>>,
    /// How many sessions have ended, with those of imported programs.
    pub sessions: u32,
    /// What those took together whose harness told it; none if it told of none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunStatus {
    /// To its end.
    Completed,
    /// With an error that nothing caught.
    Failed,
    /// By a person, by a limit, or because something around it failed. It can be resumed.
    Interrupted,
}

/// How something ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Well.
    Complete,
    /// With an error.
    Failed,
    /// Without an end of its own: others had decided (R52).
    Skipped,
    /// By `break`, `continue`, `return` or an unnamed `output`, which leads out of what is around it.
    Left,
}

/// Kinds of statements, as far as those who read events tell them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "named for what they are")]
pub enum StatementKind {
    Session,
    Resume,
    Binding,
    Input,
    Output,
    Call,
    ImportCall,
    Do,
    Parallel,
    Loop,
    If,
    Choice,
    Try,
    Pipeline,
    Chain,
    Throw,
    Other,
}

/// Why a loop ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LoopEnd {
    /// Its condition was met, or no longer met for `while`.
    Satisfied,
    /// The model saw that going on would change nothing (D3).
    NoProgress,
    /// It reached its `max` (R62).
    Max,
    /// Every item or count had its turn.
    Exhausted,
    /// `break`, `return` or an unnamed `output`.
    Left,
    /// An error.
    Failed,
}

/// What a condition belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "named for what they are")]
pub enum ConditionOf {
    Loop,
    If,
    Filter,
    Value,
}

/// Parts of a `try`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "named for what they are")]
pub enum TryPart {
    Body,
    Catch,
    Finally,
}

/// An agent that a program defines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DefinedAgent {
    /// Its name.
    pub name: SmolStr,
    /// Its model, if it names one.
    pub model: Option<SmolStr>,
    /// Where its memory lies, if it is persistent.
    pub memory: Option<MemoryPlace>,
}

/// A block that a program defines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DefinedBlock {
    /// Its name.
    pub name: SmolStr,
    /// Its parameters.
    pub params: Vec<SmolStr>,
}
