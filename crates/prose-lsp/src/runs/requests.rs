//! The commands about runs, with their arguments.

use std::path::PathBuf;

use prose_run::Caps;
use prose_vm::budget::Maximum;
use prose_vm::effect::RequestId;
use prose_vm::value::Value as ProgramValue;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use smol_str::SmolStr;

use crate::protocol::answer::Answer;
use crate::protocol::uri::{DocumentUri, path_of_uri};

/// The kind of a command about runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunCommandKind {
    /// Run a program, or one of its blocks.
    Run,
    /// Show the prompts of its sessions.
    DryRun,
    /// Continue with a run.
    Resume,
    /// See the first of the errors that keep a program from being run.
    ShowError,
    /// End a run, or all runs of a program.
    Cancel,
    /// Let a run, or all runs of a program, start no new session for now.
    Pause,
    /// Let paused runs continue.
    Continue,
    /// End a session of a run with an empty result.
    Skip,
    /// Cancel a session of a run and start it again.
    Retry,
    /// Start a new run that keeps what a run did before a point.
    Fork,
    /// See what such a run would reuse and ask.
    PlanFork,
    /// Move a run of an unsaved program to the project of the program, once that is saved.
    Save,
}

pub(crate) const RUN: &str = "prose.run";
pub(crate) const DRY_RUN: &str = "prose.dryRun";
pub(crate) const RESUME: &str = "prose.resume";
pub(crate) const SHOW_ERROR: &str = "prose.showError";
pub(crate) const CANCEL: &str = "prose.cancel";
pub(crate) const PAUSE: &str = "prose.pause";
pub(crate) const CONTINUE: &str = "prose.continue";
pub(crate) const SKIP: &str = "prose.skip";
pub(crate) const RETRY: &str = "prose.retry";
pub(crate) const FORK: &str = "prose.fork";
pub(crate) const PLAN_FORK: &str = "prose.planFork";
pub(crate) const SAVE: &str = "prose.saveRun";

/// The names of the commands.
pub(crate) const COMMANDS: &[(&str, RunCommandKind)] = &[
    (RUN, RunCommandKind::Run),
    (DRY_RUN, RunCommandKind::DryRun),
    (RESUME, RunCommandKind::Resume),
    (SHOW_ERROR, RunCommandKind::ShowError),
    (CANCEL, RunCommandKind::Cancel),
    (PAUSE, RunCommandKind::Pause),
    (CONTINUE, RunCommandKind::Continue),
    (SKIP, RunCommandKind::Skip),
    (RETRY, RunCommandKind::Retry),
    (FORK, RunCommandKind::Fork),
    (PLAN_FORK, RunCommandKind::PlanFork),
    (SAVE, RunCommandKind::Save),
];

/// A command about a run.
pub(crate) struct RunCommand {
    pub(crate) what: RunCommandKind,
    pub(crate) given: Box<RunArguments>,
    pub(crate) answer: Answer,
}

/// The argument of a command, as docs/editor-commands.md describes it.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RunArguments {
    /// The program.
    pub(crate) uri: Option<String>,
    /// The run, where there may be several.
    pub(crate) run: Option<SmolStr>,
    /// The block, if not the whole program is meant.
    pub(crate) block: Option<SmolStr>,
    /// The session of the run that is skipped or retried.
    pub(crate) request: Option<RequestId>,
    /// The inputs of the program.
    #[serde(default)]
    inputs: Map<String, Value>,
    /// The parameters of the block.
    #[serde(default)]
    arguments: Map<String, Value>,
    /// The harness.
    pub(crate) harness: Option<String>,
    /// The file that the harness `script` answers from.
    pub(crate) script: Option<String>,
    /// Whether a run continues although its program has changed.
    #[serde(default)]
    pub(crate) accept_changes: bool,
    /// The maximum cost of the run in US dollars.
    max_cost: Option<f64>,
    /// The maximum number of input and output tokens of the run.
    max_tokens: Option<u64>,
    /// The maximum number of sessions of the run.
    max_sessions: Option<u32>,
    /// Where a fork leaves the run: a line of the recorded program, a place, an event, or `failure`.
    pub(crate) from: Option<String>,
    /// The same as a line of the document, from 1; for a new run, the line of the part that it executes.
    pub(crate) line: Option<u32>,
    /// The variables that get other values in a fork.
    #[serde(default)]
    pub(crate) variables: Map<String, Value>,
    /// The replies that are replaced in a fork.
    #[serde(default)]
    pub(crate) replies: Vec<ChangedReply>,
    /// Whether the client has asked the user whether to start the fork.
    #[serde(default)]
    pub(crate) confirmed: bool,
}

/// A reply that is replaced in a fork.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChangedReply {
    /// The session: a line of the recorded program, its place, or the event of its result.
    pub(crate) at: String,
    /// The other reply.
    pub(crate) text: String,
}

impl RunArguments {
    /// Reads the argument of a command from the parameters of `workspace/executeCommand`.
    pub(crate) fn read(what: RunCommandKind, params: &Value) -> Result<Self, String> {
        let name = name(params);
        let argument = params.pointer("/arguments/0").unwrap_or(&Value::Null);
        let given = RunArguments::deserialize(argument).map_err(|problem| {
            format!("`{name}` takes one argument, such as {{ \"uri\": \"file:///…\" }}: {problem}")
        })?;
        if given.uri.is_none() && (!what.is_about_live_runs() || given.run.is_none()) {
            return Err(format!("`{name}` needs the program: {{ \"uri\": \"file:///…\" }}"));
        }
        if given.max_cost.is_some_and(|cost| !Maximum::Cost(cost).is_valid()) {
            return Err(format!("`{name}`: `maxCost` is a number of US dollars from 0 on"));
        }
        if what.is_about_session() && (given.run.is_none() || given.request.is_none()) {
            return Err(format!(
                "`{name}` needs a run and one of its sessions: {{ \"run\": \"20260115-143052-a7b3c9\", \"request\": 3 }}"
            ));
        }
        Ok(given)
    }

    /// The limits of the run.
    pub(crate) fn caps(&self) -> Caps {
        Caps { cost: self.max_cost, tokens: self.max_tokens, sessions: self.max_sessions }
    }

    /// The inputs and the parameters, which are the inputs of the program that runs a block.
    pub(crate) fn inputs(&self) -> Vec<(SmolStr, ProgramValue)> {
        let given = self.inputs.iter().chain(&self.arguments);
        given.map(|(name, value)| (name.into(), ProgramValue::from_json(value))).collect()
    }
}

impl RunCommandKind {
    /// Whether it is about runs that are executed now, whose program need not be known.
    pub(crate) fn is_about_live_runs(self) -> bool {
        self.is_about_session()
            || matches!(self, RunCommandKind::Cancel | RunCommandKind::Pause | RunCommandKind::Continue)
    }

    /// Whether it is about a run that keeps what another one did.
    pub(crate) fn is_fork(self) -> bool {
        matches!(self, RunCommandKind::Fork | RunCommandKind::PlanFork)
    }

    /// Whether it is about one session of such a run.
    fn is_about_session(self) -> bool {
        matches!(self, RunCommandKind::Skip | RunCommandKind::Retry)
    }

    /// The command about runs that the parameters of `workspace/executeCommand` name, if they name one.
    pub(crate) fn named(params: &Value) -> Option<Self> {
        let name = name(params);
        COMMANDS.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
    }
}

/// A question about runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RunQuery {
    /// The runs in the folders of the workspace and in some others.
    List(Vec<PathBuf>),
    /// The events of the run in a folder, after one of them.
    Events { folder: PathBuf, after: u64 },
    /// The view of the run in a folder after an event, or after the last one: what changed in it since another one.
    View { folder: PathBuf, after: u64, at: Option<u64> },
    /// One of its sessions.
    Session { folder: PathBuf, request: RequestId },
    /// The flow of its program.
    FlowGraph { folder: PathBuf },
    /// The runs in two folders next to each other, or one step of both with its whole texts.
    Compare { folders: [PathBuf; 2], step: Option<usize> },
}

#[derive(Deserialize)]
struct ListParams {
    #[serde(default)]
    folders: Vec<String>,
}

#[derive(Deserialize)]
struct RunParams {
    folder: String,
    #[serde(default)]
    after: u64,
}

#[derive(Deserialize)]
struct ViewParams {
    folder: String,
    #[serde(default)]
    after: u64,
    at: Option<u64>,
}

#[derive(Deserialize)]
struct SessionParams {
    folder: String,
    request: RequestId,
}

#[derive(Deserialize)]
struct CompareParams {
    folders: [String; 2],
    step: Option<usize>,
}

impl RunQuery {
    /// Reads the parameters of a request, if it is one about runs.
    pub(crate) fn read(method: &str, params: &Value) -> Option<serde_json::Result<Self>> {
        fn decoded<T: DeserializeOwned>(params: &Value) -> serde_json::Result<T> {
            T::deserialize(params)
        }
        Some(match method {
            "prose/runs" if params.is_null() => Ok(RunQuery::List(Vec::new())),
            "prose/runs" => decoded(params).map(|ListParams { folders }| {
                RunQuery::List(folders.iter().map(|folder| path_of_uri(folder)).collect())
            }),
            "prose/run" => decoded(params)
                .map(|RunParams { folder, after }| RunQuery::Events { folder: path_of_uri(&folder), after }),
            "prose/runView" => decoded(params).map(|ViewParams { folder, after, at }| RunQuery::View {
                folder: path_of_uri(&folder),
                after,
                at,
            }),
            "prose/session" => decoded(params).map(|SessionParams { folder, request }| RunQuery::Session {
                folder: path_of_uri(&folder),
                request,
            }),
            "prose/compareRuns" => decoded(params).map(|CompareParams { folders, step }| RunQuery::Compare {
                folders: folders.map(|folder| path_of_uri(&folder)),
                step,
            }),
            "prose/flowGraph" if params.get("folder").is_some() => decoded(params)
                .map(|RunParams { folder, .. }| RunQuery::FlowGraph { folder: path_of_uri(&folder) }),
            _ => return None,
        })
    }
}

fn name(params: &Value) -> &str {
    params.get("command").and_then(Value::as_str).unwrap_or_default()
}

/// A message to the owner about runs.
pub(crate) enum RunMessage {
    /// Run, resume or stop something.
    Command(RunCommand),
    /// Answer a question about runs.
    Query(RunQuery, Answer),
    /// A run of a document has started or ended.
    Changed(DocumentUri),
    /// The client cancelled a progress report.
    CancelProgress(Value),
}
