//! Why a run cannot be started or has to stop.

use std::fmt;
use std::io;

use prose_harness::registry::HarnessError;
use prose_project::shell::word;
use prose_project::trust::{Doubt, Subject};
use prose_state::StateError;
use prose_vm::event::ScriptFile;
use prose_vm::runner::RunError;

use crate::rights::MissingRights;

/// Why a run cannot be started or has to stop, apart from what goes wrong in its program.
#[derive(Debug)]
pub enum RunFailure {
    /// Its state cannot be read or written.
    State(StateError),
    /// There is no such harness, or it cannot be made.
    Harness(HarnessError),
    /// The harness cannot do what the prompts of the run tell agents to do.
    OtherHarness {
        /// The run.
        run: String,
        /// The harness that it had.
        before: String,
        /// The harness that it would have now.
        now: String,
    },
    /// The file is gone that the run takes its answers from.
    ScriptGone {
        /// The run.
        run: String,
        /// The file.
        script: ScriptFile,
    },
    /// The program has changed since the run was started.
    Changed {
        /// The run.
        run: String,
        /// The first difference, in words.
        difference: String,
    },
    /// Programs that were fetched ask for rights that nobody has granted (decision 19).
    NotGranted(Box<MissingRights>),
    /// Nobody has trusted the project with what its harness starts.
    Untrusted(Box<Untrusted>),
    /// It is not known that the person has started the run, so that its journal chooses nothing.
    Unconfirmed(Box<Unconfirmed>),
    /// The run has ended.
    Over {
        /// The run.
        run: String,
        /// Whether changes of its program were accepted, and there are none.
        is_unchanged: bool,
    },
    /// It stopped while it was executed.
    Run(RunError),
    /// The system gives no event loop.
    Runtime(io::Error),
}

/// A project that nobody has trusted with what its harness starts.
#[derive(Debug)]
pub struct Untrusted {
    /// The project.
    pub subject: Subject,
    /// The harness.
    pub harness: String,
    /// What the harness starts.
    pub command: Vec<String>,
    /// The variables that it passes besides those that every program gets.
    pub variables: Vec<String>,
    /// Why the project is not trusted.
    pub doubt: Doubt,
}

impl Untrusted {
    /// Why the project is not trusted, with its folder.
    pub fn reason(&self) -> String {
        let folder = self.subject.folder.display();
        match &self.doubt {
            Doubt::Unknown => format!("the project {folder} is not trusted yet"),
            Doubt::Changed(names) => {
                format!("the project {folder} has other settings than you trusted: `{}`", names.join("`, `"))
            }
            Doubt::Unreadable(why) => {
                format!("it is not known whether the project {folder} is trusted: {why}")
            }
        }
    }

    /// What would be started, and what it would be given.
    pub fn start(&self) -> String {
        let words: Vec<_> = self.command.iter().map(|text| word(text)).collect();
        let program = words.join(" ");
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

/// A run that nothing confirms the start of.
#[derive(Debug)]
pub struct Unconfirmed {
    /// The run.
    pub run: String,
    /// The program that its journal names, if the person has to name that.
    pub program: Option<String>,
    /// The harness that the run would go on with.
    pub harness: String,
    /// Whether that is another one than the settings name.
    pub is_other_harness: bool,
    /// The script that its journal names, if the person has to name that.
    pub script: Option<String>,
}

impl Unconfirmed {
    /// What nothing confirms.
    pub fn reason(&self) -> String {
        let Self { run, harness, .. } = self;
        let from = match (&self.program, &self.script) {
            (_, Some(script)) => format!("the script `{script}`"),
            (Some(program), None) => format!("the program `{program}` and the harness `{harness}`"),
            (None, None) => format!("the harness `{harness}`"),
        };
        format!("nothing confirms that you started the run {run} on this machine, with {from}")
    }

    /// The command that goes on with the run.
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

impl fmt::Display for RunFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunFailure::State(error) => error.fmt(f),
            RunFailure::Harness(error) => error.fmt(f),
            RunFailure::OtherHarness { run, before, now } => write!(
                f,
                "the run {run} tells its agents to read and write files, as `{before}` can and `{now}` cannot; go on with `{before}`, or use \
                `--accept-changes` to have the remaining sessions told otherwise"
            ),
            RunFailure::ScriptGone { run, script } => write!(
                f,
                "the run {run} takes its answers from the script `{}`, and `{}` is gone; put it back, or name another one with `--script FILE.toml`",
                script.given, script.path
            ),
            RunFailure::Changed { run, difference } => write!(
                f,
                "the program has changed since the run {run} was started: {difference}. Undo the change, or use `--accept-changes`, which keeps \
                the results of all sessions that are asked the same"
            ),
            RunFailure::NotGranted(missing) => missing.fmt(f),
            RunFailure::Untrusted(untrusted) => write!(
                f,
                "{}, and {}. If you trust it, run `{}`, or pass `--trust`",
                untrusted.reason(),
                untrusted.start(),
                untrusted.command_to_trust()
            ),
            RunFailure::Unconfirmed(unconfirmed) => {
                write!(f, "{}. If that is right, say so: `{}`", unconfirmed.reason(), unconfirmed.command())
            }
            RunFailure::Over { run, is_unchanged: false } => write!(
                f,
                "the run {run} has come to its end; there is nothing left to do. `prose run` starts a new one. To run again from a place, change the \
                program there and use `prose resume {run} --accept-changes`, which keeps the results of all sessions that are asked the same"
            ),
            RunFailure::Over { run, is_unchanged: true } => write!(
                f,
                "the run {run} has come to its end, and its program has not changed since. To run again from a place, change the program there, \
                such as the prompt of a session: that session runs again, with all that depends on it. `prose run` starts a new run"
            ),
            RunFailure::Run(error) => error.fmt(f),
            RunFailure::Runtime(error) => write!(f, "the system gives no event loop: {error}"),
        }
    }
}

impl std::error::Error for RunFailure {}

impl From<StateError> for RunFailure {
    fn from(error: StateError) -> Self {
        RunFailure::State(error)
    }
}
