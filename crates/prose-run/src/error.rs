//! The errors of runs.

use std::fmt;
use std::io;

use prose_harness::registry::HarnessError;
use prose_project::shell::word;
use prose_project::trust::{TrustError, TrustSubject};
use prose_state::StateError;
use prose_vm::event::ScriptFile;
use prose_vm::runner::RunError;

use crate::fork::ForkError;
use crate::permissions::Unenforced;
use crate::rights::MissingRights;
use crate::tools::MissingTools;

/// The reason why a run cannot start or continue, other than an error of its program.
#[derive(Debug)]
pub enum RunFailure {
    /// Its state cannot be read or written.
    State(StateError),
    /// The harness is unknown or cannot be created.
    Harness(HarnessError),
    /// An input has a value that its prompt does not offer.
    Input(String),
    /// A fork changes something that an edited program does not have.
    Change(String),
    /// The prompts of the run need capabilities that the harness does not have.
    OtherHarness {
        /// The run.
        run: String,
        /// The harness of the run.
        before: String,
        /// The harness that it was to be resumed with.
        now: String,
    },
    /// The run is a replay, which asks nothing.
    Replay {
        /// The run.
        run: String,
    },
    /// The script of the run does not exist any more.
    ScriptGone {
        /// The run.
        run: String,
        /// The script.
        script: ScriptFile,
    },
    /// The program has changed since the run was started.
    Changed {
        /// The run.
        run: String,
        /// The first difference, for display.
        difference: String,
    },
    /// Fetched programs request rights that are not granted (decision 19).
    NotGranted(Box<MissingRights>),
    /// The harness cannot enforce permissions of the program (decision 13).
    Unenforced(Box<Unenforced>),
    /// Branches cannot have working trees (`run.isolation`).
    Isolation(String),
    /// Sessions of the program cannot use their skills or MCP servers.
    MissingTools(Box<MissingTools>),
    /// The user has not trusted the project to start its harness.
    Untrusted(Box<Untrusted>),
    /// It is not confirmed that the user started the run, so its journal is not trusted.
    Unconfirmed(Box<Unconfirmed>),
    /// The run has ended.
    Over {
        /// The run.
        run: String,
        /// Whether `--accept-changes` was given, but the program has not changed.
        is_unchanged: bool,
    },
    /// The run stopped with an error.
    Run(RunError),
    /// The event loop cannot be created.
    Runtime(io::Error),
}

/// A project that is not trusted to start its harness.
#[derive(Debug)]
pub struct Untrusted {
    /// The project.
    pub subject: TrustSubject,
    /// The harness.
    pub harness: String,
    /// Whether the command is the address of a provider that gets the prompts.
    pub is_address: bool,
    /// The command that the harness starts.
    pub command: Vec<String>,
    /// The environment variables that it passes in addition to the default ones.
    pub variables: Vec<String>,
    /// The reason.
    pub cause: TrustError,
}

impl Untrusted {
    /// The reason, with the folder of the project.
    pub fn reason(&self) -> String {
        let folder = self.subject.folder.display();
        match &self.cause {
            TrustError::Unknown => format!("the project {folder} is not trusted yet"),
            TrustError::Changed(names) => {
                format!(
                    "these settings of the project {folder} have changed since you trusted it: `{}`",
                    names.join("`, `")
                )
            }
            TrustError::Unreadable(why) => {
                format!("cannot check whether the project {folder} is trusted: {why}")
            }
        }
    }

    /// The command that would be started, and its variables.
    pub fn start(&self) -> String {
        let words: Vec<_> = self.command.iter().map(|text| word(text)).collect();
        let program = words.join(" ");
        if self.is_address {
            let key = match self.variables.as_slice() {
                [] => String::new(),
                variables => format!(", with the key in `{}`", variables.join("`, `")),
            };
            return format!("the harness `{}` would send prompts to `{program}`{key}", self.harness);
        }
        let passing = match self.variables.is_empty() {
            true => String::new(),
            false => format!(", with the variables `{}`", self.variables.join("`, `")),
        };
        format!("the harness `{}` would start `{program}` for each session{passing}", self.harness)
    }

    /// The command that trusts the project.
    pub fn command_to_trust(&self) -> String {
        format!("prose trust {}", word(&self.subject.folder.to_string_lossy()))
    }
}

/// A run whose start by this user is not confirmed.
#[derive(Debug)]
pub struct Unconfirmed {
    /// The run.
    pub run: String,
    /// The program in its journal, if the user must confirm it.
    pub program: Option<String>,
    /// The harness that the run would be resumed with.
    pub harness: String,
    /// Whether it differs from the harness of the settings.
    pub is_other_harness: bool,
    /// The script in its journal, if the user must confirm it.
    pub script: Option<String>,
}

impl Unconfirmed {
    /// What cannot be confirmed.
    pub fn reason(&self) -> String {
        let Self { run, harness, .. } = self;
        let from = match (&self.program, &self.script) {
            (_, Some(script)) => format!("the script `{script}`"),
            (Some(program), None) => format!("the program `{program}` and the harness `{harness}`"),
            (None, None) => format!("the harness `{harness}`"),
        };
        format!("cannot confirm that you started run {run} on this machine with {from}")
    }

    /// The command that resumes the run.
    fn command(&self) -> String {
        let mut command = format!("prose resume {}", word(&self.run));
        if let Some(program) = &self.program {
            command += &format!(" --program {}", word(program));
        }
        if let Some(script) = &self.script {
            command += &format!(" --script {}", word(script));
        } else if self.is_other_harness {
            command += &format!(" --harness {}", word(&self.harness));
        }
        command
    }
}

impl RunFailure {
    /// Whether the process was asked to end while the run waited for its database.
    pub fn is_interrupted(&self) -> bool {
        matches!(self, Self::Run(RunError::Store { error, .. }) if error.kind() == io::ErrorKind::Interrupted)
    }
}

impl fmt::Display for RunFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunFailure::State(error) => error.fmt(f),
            RunFailure::Harness(error) => error.fmt(f),
            RunFailure::OtherHarness { run, before, now } => write!(
                f,
                "the agents of run {run} read and write files, which `{now}` does not support; resume it with `{before}`, or pass \
                `--accept-changes` to change the remaining prompts"
            ),
            RunFailure::Replay { run } => write!(
                f,
                "run {run} is a replay and asks nothing; to continue it, name a harness with `--harness`, or start a run with `prose run PROGRAM --replay {run} --live`"
            ),
            RunFailure::ScriptGone { run, script } => write!(
                f,
                "run {run} uses the script `{}`, but `{}` does not exist; restore it, or pass another script with `--script FILE.toml`",
                script.given, script.path
            ),
            RunFailure::Changed { run, difference } => write!(
                f,
                "the program has changed since run {run} was started: {difference}; undo the change, or pass `--accept-changes` to reuse \
                the results of all unchanged sessions"
            ),
            RunFailure::NotGranted(missing) => missing.fmt(f),
            RunFailure::Unenforced(unenforced) => unenforced.fmt(f),
            RunFailure::Input(reason) | RunFailure::Change(reason) | RunFailure::Isolation(reason) => {
                f.write_str(reason)
            }
            RunFailure::MissingTools(missing) => missing.fmt(f),
            RunFailure::Untrusted(untrusted) => write!(
                f,
                "{}, and {}; if you trust it, run `{}`, or pass `--trust`",
                untrusted.reason(),
                untrusted.start(),
                untrusted.command_to_trust()
            ),
            RunFailure::Unconfirmed(unconfirmed) => {
                write!(f, "{}; if you did, run `{}`", unconfirmed.reason(), unconfirmed.command())
            }
            RunFailure::Over { run, is_unchanged: false } => write!(
                f,
                "run {run} has already completed; start a new run with `prose run`, or change the program and run \
                `prose resume {run} --accept-changes` to reuse the results of all unchanged sessions"
            ),
            RunFailure::Over { run, is_unchanged: true } => write!(
                f,
                "run {run} has already completed, and its program has not changed; start a new run with `prose run`, or change the program: \
                changed sessions run again, with everything that depends on them"
            ),
            RunFailure::Run(error) => error.fmt(f),
            RunFailure::Runtime(error) => write!(f, "cannot create the event loop: {error}"),
        }
    }
}

impl RunFailure {
    /// The error with the fix in an editor, without options of the command line.
    pub fn for_editor(&self) -> String {
        match self {
            RunFailure::Changed { run, difference } => format!(
                "the program has changed since the run {run} was started: {difference}. Undo the change, or resume the run with \
                `acceptChanges`, which keeps the results of all sessions that are asked the same"
            ),
            RunFailure::Over { run, .. } => format!(
                "the run {run} has already completed. Run the program again, or change it and resume the run with \
                `acceptChanges`, which keeps the results of all sessions that are asked the same"
            ),
            RunFailure::OtherHarness { run, before, now } => format!(
                "the run {run} tells its agents to read and write files, as `{before}` can and `{now}` cannot; resume it with `{before}`, or \
                with `acceptChanges` to give the remaining sessions other instructions"
            ),
            RunFailure::Replay { run } => format!(
                "the run {run} is a replay and asks nothing; resume it with another `harness`, or run its program again from one of its lines"
            ),
            RunFailure::ScriptGone { run, script } => format!(
                "the run {run} takes its answers from the script `{}`, and `{}` is gone; put it back, or resume the run with another one as `script`",
                script.given, script.path
            ),
            RunFailure::Untrusted(untrusted) => format!(
                "{}, and {}. If you trust it, run `{}` in a terminal, or have the editor send the setting `trusted` as true",
                untrusted.reason(),
                untrusted.start(),
                untrusted.command_to_trust()
            ),
            RunFailure::Unconfirmed(unconfirmed) => {
                format!("{}. If that is right, resume it with that as `harness`", unconfirmed.reason())
            }
            RunFailure::State(error) => error.for_editor(),
            RunFailure::NotGranted(missing) => missing.for_editor(),
            RunFailure::Unenforced(unenforced) => unenforced.for_editor(),
            RunFailure::Harness(_)
            | RunFailure::Input(_)
            | RunFailure::Change(_)
            | RunFailure::Isolation(_)
            | RunFailure::MissingTools(_)
            | RunFailure::Run(_)
            | RunFailure::Runtime(_) => self.to_string(),
        }
    }
}

impl std::error::Error for RunFailure {}

impl From<StateError> for RunFailure {
    fn from(error: StateError) -> Self {
        RunFailure::State(error)
    }
}

impl From<ForkError> for RunFailure {
    fn from(error: ForkError) -> Self {
        match error {
            ForkError::State(error) => RunFailure::State(error),
            ForkError::Request(reason) => RunFailure::Change(reason),
        }
    }
}
