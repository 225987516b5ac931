//! The events of a run. Journals, files, narration, progress and editors are all derived from them.

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use std::sync::Arc;

use crate::activity::{Activity, Work};
use crate::budget::Maximum;
use crate::command::{Command, Pause};
use crate::earlier::{ChangedVariable, EarlierRun, VariableSetBefore};
pub use crate::effect::LoopKind;
use crate::effect::{Binding, Failure, MemoryPlace, Outcome, RequestId, SessionTask, Usage};
use crate::error::RuntimeError;
use crate::part::RunPart;
use crate::place::{Place, Site};
use crate::questions::{Attribution, OpenQuestion, RecordedAnswer};
use crate::value::Value;

/// An event of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// The number of the event in its run, from 1 without gaps. [`EventKind::Resumed`], [`EventKind::Queued`], [`EventKind::Begun`],
    /// [`EventKind::MemoryAwaited`], [`EventKind::MemoryAcquired`] and [`EventKind::Activity`] are not recorded and have the number of the previous
    /// event.
    pub seq: u64,
    /// The time, in milliseconds since 1970-01-01 in UTC. An event of a resumed run that is executed again keeps its first time.
    pub at: u64,
    /// The total time in milliseconds that the run was stopped before this event.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub paused: u64,
    /// The place in the execution.
    pub place: Place,
    /// The part of the program; `None` for the run as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site: Option<Site>,
    /// The execution id of the frame; 0 for that of the program (R82).
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub frame: u32,
    /// The nesting depth in statements and frames, by which narration indents it (R108). Top-level statements have 0.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub nesting: u32,
    /// The kind of event.
    #[serde(flatten)]
    pub kind: EventKind,
}

impl Event {
    /// The number of the execution of a program that it belongs to; 0 for the program of the run.
    pub fn program(&self) -> u32 {
        self.site.map_or(0, |site| site.program)
    }

    /// The time in milliseconds on a clock that stops while the run is stopped. Durations are differences of these times.
    pub fn active_at(&self) -> u64 {
        self.at.saturating_sub(self.paused)
    }

    /// The pause of the run after this event, with the one before it. A run that is resumed continues.
    pub fn pause_after(&self, before: Option<Pause>) -> Option<Pause> {
        match &self.kind {
            EventKind::Commanded { command: Command::Pause, by } => {
                Some(Pause { since: self.at, by: by.clone() })
            }
            EventKind::Commanded { command: Command::Continue, .. }
            | EventKind::Resumed { .. }
            | EventKind::RunEnded(_) => None,
            _ => before,
        }
    }
}

/// A kind of event, with its data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
#[allow(missing_docs, reason = "the parts of an event are named for what they are")]
pub enum EventKind {
    /// The run starts. Always the first event.
    RunStarted(Box<RunHead>),
    /// The definitions of a program have been collected (R5).
    Defined {
        /// The number of the program, 0 for the started one.
        program: u32,
        /// Its name, such as `review.prose`.
        name: SmolStr,
        agents: Vec<DefinedAgent>,
        blocks: Vec<DefinedBlock>,
        /// The number of executed top-level statements, without definitions.
        statements: u32,
    },
    /// A `use` line has been processed (R94).
    Imported {
        path: SmolStr,
        /// Its source: an address or a file.
        from: String,
        inputs: Vec<SmolStr>,
        outputs: Vec<SmolStr>,
        alias: SmolStr,
    },
    /// The inputs that a program received from its caller.
    InputsReceived { inputs: Vec<(SmolStr, Value)> },
    /// The program waits for an input.
    InputAsked { request: RequestId, name: Option<SmolStr>, prompt: Arc<str> },
    /// The program received an input that it waited for.
    InputGiven { name: Option<SmolStr>, value: Value },

    /// A statement starts.
    StatementStarted {
        /// Its number among the executed top-level statements of its program, from 1; `None` for a nested statement.
        number: Option<u32>,
        /// Its first line, without the indentation, the colon of its body and comments.
        source: SmolStr,
        /// The kind of statement.
        kind: StatementKind,
    },
    /// A statement has ended.
    StatementEnded { status: Status, error: Option<Arc<RuntimeError>> },

    /// A subagent starts with a task.
    SessionStarted { request: RequestId, task: Arc<SessionTask> },
    /// A session has ended. Its reply is in the preceding `effect` event of the request.
    SessionEnded { request: RequestId, status: Status, error: Option<Arc<RuntimeError>> },
    /// A failed session is retried after a delay (R79).
    Retrying { attempt: u32, retries: u32, delay_ms: u64, error: Arc<RuntimeError> },

    /// A name is bound to a value.
    Bound {
        binding: Binding,
        /// The value.
        value: Value,
        /// The request whose reply is exactly the value. Journals then omit the value, and readers restore it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reply: Option<RequestId>,
        /// The beginning of the previous value, if the name is reassigned.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        was: Option<SmolStr>,
        /// Whether the name can be reassigned.
        mutable: bool,
        /// Whether it is the uncaptured result of a session (R20).
        anonymous: bool,
    },
    /// A name was resolved in an outer frame (R16).
    Resolved {
        name: SmolStr,
        /// The frame that contains the name; the frame of the event is the one that looked it up.
        #[serde(rename = "found_in")]
        frame: u32,
    },
    /// The program returns an output.
    OutputGiven { name: Option<SmolStr>, value: Value },

    /// Branches start together (R50).
    ParallelStarted { branches: Vec<SmolStr>, strategy: SmolStr, policy: SmolStr, count: u32, is_loop: bool },
    /// A branch starts, at the place of this event.
    BranchStarted { index: u32, name: SmolStr },
    /// A branch has ended.
    BranchEnded { index: u32, name: SmolStr, status: Status, value: Value },
    /// The `parallel` has ended as its strategy requires, with the names and values that are now bound.
    ParallelEnded { bound: Vec<(SmolStr, Value)>, failures: Vec<SmolStr>, status: Status },

    /// A loop starts.
    LoopStarted {
        kind: LoopKind,
        /// The condition or the collection, as written.
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
    /// A `catch` handles an error.
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
        /// The frame of the caller; 0 for the program.
        parent: u32,
        /// The parameters with their arguments as written and their values.
        arguments: Vec<(SmolStr, SmolStr, Value)>,
    },
    /// A block call has ended.
    FrameLeft { id: u32, block: SmolStr, status: Status },

    /// An imported program is called (R92).
    ImportCalled {
        /// The number of the program execution that starts.
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

    /// The runner has written the memory of an agent, since its harness only returns text (decision 11).
    MemoryWritten {
        /// Its place. Named differently from the `place` of the event.
        #[serde(rename = "memory_place")]
        place: MemoryPlace,
        /// The new text of `memory.md`.
        memory: Arc<str>,
        /// The number of the segment.
        segment: u32,
        /// The task of the session, for the head of the segment file.
        prompt: Arc<str>,
        /// The text below `## Summary` in the segment file.
        record: Arc<str>,
    },

    /// The outcome of a request. It is recorded before the program continues with it (decision 10).
    Effect {
        request: RequestId,
        /// The kind of effect.
        effect: SmolStr,
        /// A hash of the request without paths and numbers that differ between runs.
        fingerprint: SmolStr,
        outcome: Outcome,
        /// The time at which an agent started with it, in milliseconds since 1970, if the request was queued (R58).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        began: Option<u64>,
        /// What the backend reported while it worked on the request: usage, denials, the agent's session.
        #[serde(default, skip_serializing_if = "Work::is_empty")]
        work: Box<Work>,
    },
    /// A request has used something, and the run has no outcome of it.
    Expense(Box<Expense>),
    /// A person commands something while the run is executed (decision 25). Recorded before it takes effect; a resumed run repeats it.
    Commanded {
        #[serde(flatten)]
        command: Command,
        #[serde(flatten)]
        by: Attribution,
    },
    /// A person has given a variable another value at the start of the statement at the place of this event (decision 25). Recorded while the run is not
    /// executed; each execution binds the value there.
    VariableSet {
        name: SmolStr,
        value: Value,
        #[serde(flatten)]
        by: Attribution,
    },
    /// These questions are open from now on, and no others. Recorded when one is asked or is not asked any more while the program is executed, so that a
    /// person can answer also after the process has ended in whatever way (decision 24).
    QuestionsOpen { questions: Vec<OpenQuestion> },
    /// A person has answered a question of the request at the place of this event (decision 25): an agent asked for a permission, a limit was reached,
    /// or the run was stopped and waits for an input. An input that is given to a running program is in its `effect` event.
    Answered(RecordedAnswer),
    /// A request waits for a free agent (R58). Emitted but not recorded, since it belongs to the execution and not to the run; the waiting time is in
    /// the `effect` event of the request.
    Queued { request: RequestId },
    /// The session waits until another run has finished with the memory of its agent.
    MemoryAwaited { request: RequestId, agent: SmolStr },
    /// The request has its turn at the memory.
    MemoryAcquired { request: RequestId },
    /// An agent starts with a queued request. Emitted but not recorded.
    Begun { request: RequestId },
    /// A report of the backend that works on a request. Emitted but not recorded; the `effect` event of the request has the [`Work`].
    Activity {
        request: RequestId,
        #[serde(flatten)]
        activity: Activity,
    },
    /// A warning for the user.
    Warning { message: String },
    /// The run is resumed, and later events are new. Emitted but not recorded, since it belongs to the execution and not to the run. The end of an
    /// interrupted run is removed when the run is resumed.
    Resumed { harness: SmolStr },
    /// The run has ended or was interrupted. Always the last event.
    RunEnded(RunEnd),
}

impl EventKind {
    /// The name of [`EventKind::VariableSet`] in journals.
    pub const VARIABLE_SET: &str = "variable-set";

    /// Whether the event belongs to the run and not only to its execution. A warning may be either; warnings of the program are recorded.
    pub fn is_recorded(&self) -> bool {
        !matches!(
            self,
            EventKind::Resumed { .. }
                | EventKind::Queued { .. }
                | EventKind::Begun { .. }
                | EventKind::MemoryAwaited { .. }
                | EventKind::MemoryAcquired { .. }
                | EventKind::Activity { .. }
                | EventKind::Warning { .. }
        )
    }

    /// The usage of the request of an `effect` or `expense` event.
    pub fn usage(&self) -> Option<Usage> {
        match self {
            // Runs of earlier versions have it in the reply only.
            EventKind::Effect { work, outcome, .. } => match outcome {
                Outcome::Reply(reply) => work.usage.or(reply.usage),
                _ => work.usage,
            },
            EventKind::Expense(expense) => expense.work.usage,
            _ => None,
        }
    }
}

/// What was used without an outcome: the request was cancelled, the run stopped while it was at work, or its outcome was removed when the run was
/// resumed. Recorded where it became known; a resumed run repeats it there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Expense {
    /// The request; `None` for those of all executions before the program changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<RequestId>,
    /// The kind of effect.
    pub effect: SmolStr,
    /// The agent of the program; `None` for decisions and sessions without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<SmolStr>,
    /// The number of started requests; 0 for usage that was reported later.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub requests: u32,
    /// What was reported.
    #[serde(default, skip_serializing_if = "Work::is_empty")]
    pub work: Work,
    /// The failure that was its outcome, if that was removed when the run was resumed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Box<Failure>>,
}

impl Expense {
    /// The number of started sessions.
    pub fn sessions(&self) -> u32 {
        if self.effect == "session" { self.requests } else { 0 }
    }
}

/// The description of a run.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunHead {
    /// The version of the journal format. Readers reject later versions.
    pub version: u32,
    /// The id of the run (R96).
    pub run: SmolStr,
    /// The name of the program, such as `review.prose`.
    pub program: SmolStr,
    /// The source of the program: a path, a reference to a registry, an address.
    pub from: String,
    /// The SHA-256 of its text, in hexadecimal digits.
    pub sha256: String,
    /// The imported programs: the path in `use` and the hash of the text, in import order.
    pub imports: Vec<(SmolStr, String)>,
    /// The backend for the state.
    pub state: StateMode,
    /// The harness.
    pub harness: SmolStr,
    /// The agents and decisions with another harness.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub routes: Vec<RecordedRoute>,
    /// The script of the harness, if it uses one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<Box<ScriptFile>>,
    /// The seed of the offline harness.
    pub seed: u64,
    /// Whether context is passed by reference.
    pub context_by_reference: bool,
    /// Whether agents write the files of bindings and memories themselves.
    pub agents_write: bool,
    /// Whether branches that may change files work in trees of their own (`run.isolation`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub isolates: bool,
    /// The maximum number of iterations of a loop without its own limit.
    pub max_iterations: u32,
    /// The delay of `backoff: linear`, and the first one of `exponential`, in milliseconds.
    pub backoff_ms: u64,
    /// The maximum delay of `backoff: exponential`, in milliseconds.
    pub backoff_cap_ms: u64,
    /// The limits that the run was started with by flags. They hold in later executions that are given none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub caps: Vec<Maximum>,
    /// The time in milliseconds after which each execution stops, as the run was started with it by a flag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// The inputs that the run was started with.
    pub inputs: Vec<(SmolStr, Value)>,
    /// The earlier run whose outcomes it takes; `None` for a run from scratch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earlier: Option<Box<EarlierRun>>,
    /// The variables that a person set in the run before its program changed; those that were set since then are events of their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set_before: Vec<VariableSetBefore>,
    /// The part of the program that it executes; `None` for the whole program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<Box<RunPart>>,
    /// Whether texts of its events were redacted when it was exported.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub redacted: bool,
    /// The span of a trace that the run was started in, as W3C `traceparent`, if traces are sent. Those of later executions and forks link to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traceparent: Option<SmolStr>,
}

impl RunHead {
    /// The variables that a person changed before the events of the run, in the order in which they are set.
    pub fn changed_variables(&self) -> impl Iterator<Item = &ChangedVariable> + Clone {
        let of_fork = self.earlier.iter().flat_map(|earlier| &earlier.variables);
        of_fork.chain(self.set_before.iter().map(|set| &set.changed))
    }
}

/// The harness of an agent or of decisions, what it can do in the run, and the skills that the settings give it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedRoute {
    /// The agent; `None` for decisions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<SmolStr>,
    /// The harness.
    pub harness: SmolStr,
    /// Whether context is passed by reference.
    pub context_by_reference: bool,
    /// Whether the agent writes the files of bindings and memories itself.
    pub agents_write: bool,
    /// Whether branches in which the agent may change files work in trees of their own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub isolates: bool,
    /// The skills of the agent, instead of those in the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skills: Option<Vec<SmolStr>>,
}

/// The script of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptFile {
    /// The path as the user gave it.
    pub given: String,
    /// The absolute path, for runs that are resumed in another folder.
    pub path: String,
}

/// The journal format that this version writes.
pub const JOURNAL_VERSION: u32 = 2;

/// Backends for the state of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StateMode {
    /// Files in `.prose/runs` (R96 to R104).
    #[default]
    Filesystem,
    /// Only the narration (R106 to R110).
    InContext,
    /// A database in `.prose/runs` (R111 to R117).
    Sqlite,
    /// A database of a PostgreSQL server (R118 to R122).
    Postgres,
}

/// The result of a run.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunEnd {
    /// The final status.
    pub status: RunStatus,
    /// The named outputs of the program; of a failed program, the ones that it returned (R76).
    pub outputs: Vec<(SmolStr, Value)>,
    /// The value of its unnamed output (R91); without one, that of its last statement if it has no named outputs either (R5).
    pub value: Value,
    /// The error of a failed run.
    pub error: Option<Arc<RuntimeError>>,
    /// The number of ended sessions, including failed attempts and those of imported programs.
    pub sessions: u32,
    /// The total usage of all requests that reported it, also of failed and cancelled ones; `None` if none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The number of failures that the program handled: by `on-fail: continue` or `ignore`, by `catch` or by a retry (decision 26). A failure that was
    /// raised again is not among them. Counted only in runs that reach the end of their program.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub failures: u32,
    /// The number of sessions that were not started when the run stopped, such as those that a limit has kept from it.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub not_asked: u32,
    /// The questions that a waiting run has; empty with any other status.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<OpenQuestion>,
}

/// The status of an ended run.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunStatus {
    /// Completed.
    #[default]
    Completed,
    /// Failed with an uncaught error.
    Failed,
    /// Interrupted by the user, by a limit or by a failure outside of the program. It can be resumed.
    Interrupted,
    /// Stopped since it waits for answers and nothing else was at work (decision 24). It continues when they are given and it is resumed.
    Waiting,
}

impl RunStatus {
    /// Whether the program has not come to an end, so that the run continues when it is resumed.
    pub fn is_stopped(self) -> bool {
        matches!(self, RunStatus::Interrupted | RunStatus::Waiting)
    }
}

/// The status of an ended statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Completed.
    Complete,
    /// Failed.
    Failed,
    /// Cancelled because it was not needed any more (R52), or skipped by a person.
    Skipped,
    /// Left by `break`, `continue`, `return` or an unnamed `output`.
    Left,
}

/// Kinds of statements, as far as consumers of events distinguish them.
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
    /// The condition was met, or no longer met for `while`.
    Satisfied,
    /// The model reported that further iterations would change nothing (D3).
    NoProgress,
    /// It reached its `max` (R62).
    Max,
    /// All items or iterations are done.
    Exhausted,
    /// `break`, `return` or an unnamed `output`.
    Left,
    /// An error.
    Failed,
}

/// The construct that a condition belongs to.
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
    /// The place of its memory, if it is persistent.
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
