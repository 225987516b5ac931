//! What can go wrong with the state of runs.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use prose_syntax::text::enumerated;

/// Why the state of a run cannot be read or written. Displayed as sentences that name the run or the file.
#[derive(Debug)]
pub enum StateError {
    /// What the system says about a file.
    Io {
        /// What was being done with it, such as `write`.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// What a PostgreSQL server says, or why it cannot be reached.
    Server {
        /// What was being done with it, such as `write to`.
        doing: &'static str,
        /// The server, without the user and the password.
        server: String,
        /// What it says.
        error: io::Error,
        /// What helps, if that is known.
        advice: Option<String>,
    },
    /// No PostgreSQL server is configured.
    NoServer,
    /// The address of a PostgreSQL server cannot be used.
    ServerAddress {
        /// Where it is set.
        name: String,
        /// What is wrong with it.
        why: String,
    },
    /// There is no space for a new run.
    NoSpace {
        /// The folder with the runs of the project.
        folder: PathBuf,
        /// The reason.
        error: io::Error,
    },
    /// There is no run of that id.
    NoRun {
        /// The id that was asked for.
        run: String,
        /// Where runs of this project lie.
        folder: PathBuf,
    },
    /// A program names a folder outside the project for the memory of an agent (decision 14).
    Outside {
        /// The folder as the program names it.
        folder: String,
        /// The agent.
        agent: String,
        /// The folder of the project.
        project: PathBuf,
    },
    /// The beginning of an id is empty.
    NoName,
    /// Several runs have ids that start like that or contain that.
    Ambiguous {
        /// The part of the ids.
        part: String,
        /// The ids.
        runs: Vec<String>,
    },
    /// The run has ended, and there is nothing that could be tried again.
    Ended {
        /// The run.
        run: String,
        /// The line and the error of a run that failed by its own program.
        error: Option<(u32, String)>,
    },
    /// Another process executes the run.
    Locked {
        /// The run.
        run: String,
        /// The number of the process, where it could be read.
        process: Option<u32>,
    },
    /// The run does not wait for the answer to a question.
    NotOpen {
        /// The run.
        run: String,
        /// The number of the question.
        question: u64,
    },
    /// The project has a run of that id already.
    Taken {
        /// What was to be added, as the user names it.
        path: PathBuf,
        /// The run.
        run: String,
        /// Where runs of this project lie.
        folder: PathBuf,
    },
    /// The journal is one of a later version.
    Version {
        /// The journal.
        path: PathBuf,
        /// Its version; none if a later version of the same form uses events that this one does not know.
        version: Option<u32>,
        /// The line.
        line: u64,
    },
    /// The database of a run is one of a later version.
    NewerDatabase {
        /// The database.
        path: PathBuf,
        /// Its version.
        version: i32,
        /// The last version that this `prose` supports.
        supported: i32,
    },
    /// A line of the journal is torn or has been changed.
    Damaged(Damage),
    /// A name or a path leaves the folders that a run may write to (decision 14).
    Unsafe {
        /// The name or path.
        path: String,
        /// What is wrong with it and what to do.
        why: String,
    },
    /// What is to be redacted is a part of what the events of an exported run consist of, which could not be read then.
    RedactedFormat {
        /// The settings and variables that name it, if they are known; never the text itself.
        names: Vec<String>,
    },
}

/// A line of a journal that is torn or has been changed. What stands above it is sound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// The journal.
    pub path: PathBuf,
    /// The first damaged line, from 1.
    pub line: u64,
    /// The byte at which it starts.
    pub offset: u64,
    /// What is wrong with it.
    pub what: &'static str,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, line, what, .. } = self;
        write!(f, "line {line} of {} {what}", path.display())
    }
}

impl StateError {
    /// What the system says about a file.
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::Io { doing, path: path.to_owned(), error }
    }

    /// A name or path that is refused.
    pub(crate) fn refused(path: impl Into<String>, why: impl Into<String>) -> Self {
        Self::Unsafe { path: path.into(), why: why.into() }
    }
}

impl StateError {
    /// Whether the state of a run is on a server that cannot be used at present, so that nothing is known of the run.
    pub fn is_unreachable(&self) -> bool {
        match self {
            // A server without the run or without its tables was reached.
            Self::Server { error, .. } => {
                !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::InvalidData)
            }
            Self::Io { error, .. } => error.kind() == io::ErrorKind::NotConnected,
            Self::NoServer | Self::ServerAddress { .. } => true,
            _ => false,
        }
    }

    /// The error of a run that could not be made in the folder of all runs: there is nothing to resume.
    pub(crate) fn before_start(self, runs: &Path) -> Self {
        match self {
            Self::Io { error, .. } if error.kind() == io::ErrorKind::StorageFull => {
                Self::NoSpace { folder: runs.to_owned(), error }
            }
            other => other,
        }
    }
}

impl fmt::Display for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { doing, path, error } => {
                write!(f, "cannot {doing} {}: {error}", path.display())?;
                match error.kind() {
                    io::ErrorKind::StorageFull => {
                        f.write_str("; free disk space and resume the run, recorded results are not lost")
                    }
                    io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                        f.write_str("; runs store their state in `.prose`, which must be writable")
                    }
                    _ => Ok(()),
                }
            }
            Self::Server { doing, server, error, advice } => {
                write!(f, "cannot {doing} the PostgreSQL server `{server}`: {error}")?;
                advice.as_ref().map_or(Ok(()), |advice| write!(f, "; {advice}"))
            }
            Self::NoServer => f.write_str(
                "no PostgreSQL server is configured; set `OPENPROSE_POSTGRES_URL` in `.prose/.env` or in the environment, such as \
                 `postgresql://user:password@localhost:5432/database`, or keep the state in a file with `--state sqlite`",
            ),
            Self::ServerAddress { name, why } => write!(f, "cannot use the address in {name}: {why}"),
            Self::NoSpace { folder, error } => write!(
                f,
                "cannot start a run in {}: {error}; free disk space and run the program again",
                folder.display()
            ),
            Self::NoRun { run, folder } => write!(
                f,
                "run `{run}` does not exist in {}; list the runs with `prose runs list`",
                folder.display()
            ),
            Self::NoName => f.write_str("the run id is empty; list the runs with `prose runs list`"),
            Self::Ambiguous { part, runs } => {
                write!(f, "`{part}` matches several runs: {}; use a longer part of the id", runs.join(", "))
            }
            Self::Ended { run, error: None } => {
                write!(f, "run {run} has already completed")
            }
            Self::Ended { run, error: Some((line, error)) } => write!(
                f,
                "run {run} failed at line {line} of its program: {error}; to continue, fix the program and resume with \
                 `--accept-changes`"
            ),
            Self::Locked { run, process } => {
                match process {
                    Some(process) => write!(f, "process {process} is executing run {run}")?,
                    None => write!(f, "another process is executing run {run}")?,
                }
                f.write_str("; wait until it has ended, or stop it")
            }
            Self::Version { path, version: Some(version), .. } => write!(
                f,
                "{} has version {version}, but this `prose` supports versions up to {}; use the `prose` that wrote it, or a newer one",
                path.display(),
                prose_vm::event::JOURNAL_VERSION
            ),
            Self::NewerDatabase { path, version, supported } => write!(
                f,
                "cannot use `{}`: the database has version {version}, but this `prose` supports versions up to {supported}; use the `prose` that wrote it, or a newer one",
                path.display()
            ),
            Self::Version { path, version: None, line } => write!(
                f,
                "line {line} of {} is valid but not supported by this `prose`; use the `prose` that wrote it, \
                 or a newer one",
                path.display()
            ),
            Self::NotOpen { run, question } => {
                write!(
                    f,
                    "run {run} has no open question {question}; `prose runs show {run}` lists its questions"
                )
            }
            Self::Taken { path, run, folder } => write!(
                f,
                "cannot use `{}`: the run {run} is already in {}; to replace it, remove it first with `prose runs rm {run}`",
                path.display(),
                folder.display()
            ),
            Self::Damaged(damage) => write!(f, "{damage}"),
            Self::Outside { folder, agent, project } => write!(
                f,
                "the memory folder `{folder}` of agent `{agent}` is outside of the project {}; use a folder in the project, or pass \
                `--allow-outside`",
                project.display()
            ),
            Self::Unsafe { path, why } => write!(f, "cannot use `{path}`: {why}"),
            Self::RedactedFormat { names } => {
                let (what, is) = match names.as_slice() {
                    [] => ("a redacted text".to_owned(), "is"),
                    [one] => (one.clone(), "is"),
                    several => (enumerated(several, "and"), "are"),
                };
                write!(
                    f,
                    "{what} {is} also a word of the format of runs, so that the exported run could not be read; redact a longer text"
                )
            }
        }
    }
}

impl StateError {
    /// The error with the fix in an editor, without commands and options of the command line.
    pub fn for_editor(&self) -> String {
        match self {
            Self::Outside { folder, agent, project } => format!(
                "`{folder}` is refused: agent `{agent}` would keep its memory outside the project {}. Name a folder inside it, or allow that \
                with the setting `prose.run.allowOutside` of the editor",
                project.display()
            ),
            Self::Ended { run, error: Some((line, error)) } => format!(
                "the run {run} failed at line {line} of its program: {error}. It would fail there again: change the program, then resume the run"
            ),
            Self::NoRun { run, folder } => format!("run `{run}` does not exist in {}", folder.display()),
            Self::NoName => "the run id is empty".to_owned(),
            Self::NotOpen { run, question } => format!("the run {run} has no open question {question}"),
            Self::Taken { run, folder, .. } => {
                format!(
                    "the run {run} is already in {}; remove its folder first to replace it",
                    folder.display()
                )
            }
            Self::NoServer => "no PostgreSQL server is configured. Set `OPENPROSE_POSTGRES_URL` in `.prose/.env`, such as \
                `postgresql://user:password@localhost:5432/database`, or keep the state in a file with `state = \"sqlite\"` in `prose.toml`"
                .to_owned(),
            Self::Io { .. }
            | Self::Server { .. }
            | Self::ServerAddress { .. }
            | Self::NoSpace { .. }
            | Self::Ambiguous { .. }
            | Self::Ended { error: None, .. }
            | Self::Locked { .. }
            | Self::Version { .. }
            | Self::NewerDatabase { .. }
            | Self::Damaged(_)
            | Self::Unsafe { .. }
            | Self::RedactedFormat { .. } => self.to_string(),
        }
    }
}

impl std::error::Error for StateError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { error, .. } | Self::Server { error, .. } | Self::NoSpace { error, .. } => Some(error),
            _ => None,
        }
    }
}

/// Stores tell of errors as those of input and output, with the same words.
impl From<StateError> for io::Error {
    fn from(error: StateError) -> Self {
        let kind = match &error {
            StateError::Io { error, .. }
            | StateError::Server { error, .. }
            | StateError::NoSpace { error, .. } => error.kind(),
            StateError::NoRun { .. } => io::ErrorKind::NotFound,
            StateError::Locked { .. } => io::ErrorKind::WouldBlock,
            StateError::NotOpen { .. }
            | StateError::Unsafe { .. }
            | StateError::RedactedFormat { .. }
            | StateError::Outside { .. }
            | StateError::Ambiguous { .. }
            | StateError::Taken { .. }
            | StateError::NoName
            | StateError::NoServer
            | StateError::ServerAddress { .. }
            | StateError::Ended { .. } => io::ErrorKind::InvalidInput,
            StateError::Version { .. } | StateError::NewerDatabase { .. } | StateError::Damaged(_) => {
                io::ErrorKind::InvalidData
            }
        };
        io::Error::new(kind, error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn editors_get_no_commands_of_the_command_line() {
        let (run, folder) = (|| "20240101-000001-aaaaaa".to_owned(), || PathBuf::from("/p/.prose/runs"));
        let errors = [
            StateError::NoRun { run: run(), folder: folder() },
            StateError::NoName,
            StateError::Ambiguous { part: "2024".to_owned(), runs: vec![run()] },
            StateError::Ended { run: run(), error: None },
            StateError::Ended { run: run(), error: Some((3, "No".to_owned())) },
            StateError::Locked { run: run(), process: Some(7) },
            StateError::NotOpen { run: run(), question: 2 },
            StateError::Taken { path: folder(), run: run(), folder: folder() },
            StateError::Outside { folder: "../notes".to_owned(), agent: "a".to_owned(), project: folder() },
        ];
        let of_terminal = |text: &str| text.contains("`prose ") || text.contains("`--");
        assert_eq!(errors.iter().filter(|error| of_terminal(&error.to_string())).count(), 6);
        let shown: Vec<String> = errors.iter().map(StateError::for_editor).collect();
        assert!(!shown.iter().any(|text| of_terminal(text)), "{shown:#?}");
    }
}
