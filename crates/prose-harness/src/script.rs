//! Replies from a file, for tests of programs and for reproducing a run (`--script`). `docs/scripts.md` describes the file.

mod activity;
pub(crate) mod entry;
mod read;
pub(crate) mod written;

use std::collections::HashMap;
use std::fmt::{self, Write as _};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use prose_vm::activity::{Activity, Reporter, ToolStatus, ToolUse};
use prose_vm::effect::{
    Choice, Effect, Failure, InputRequest, Memory, MemoryPlace, Outcome, PermissionRule, Question, Reply,
    Request, SessionTask, Summary, Verdict,
};
use prose_vm::error::ErrorKind;
use prose_vm::frame;
use prose_vm::harness::{Capabilities, Harness, HarnessFuture, RunFolders};
use prose_vm::value::Value;

use self::entry::{Asked, Entry, Said};
use crate::offline::Offline;
use crate::permissions::{Folders, ToolRequest, permit};

pub use self::entry::Kind;
pub use self::read::{ScriptError, ScriptErrors};

/// A harness that replies from a script.
///
/// The first entry that matches a request and is not used up provides the reply. The order of requests matters only for entries that are used up
/// (`times`, lists of answers) or have an `order`.
#[derive(Debug)]
pub struct Script {
    /// The file, for messages.
    name: String,
    entries: Vec<Entry>,
    /// The harness for unmatched requests, if the script enables it.
    unmatched: Option<Offline>,
    /// The folders of the run, for permissions.
    folders: RunFolders,
    uses: Mutex<Uses>,
}

/// The requests so far.
#[derive(Debug, Default)]
struct Uses {
    /// The number of replies of each entry.
    entries: HashMap<usize, usize>,
    /// The number of requests of each kind.
    requests: HashMap<Kind, usize>,
}

/// An answer of an entry.
struct Taken<'a> {
    entry: &'a Entry,
    said: &'a Said,
}

impl Script {
    /// Parses a script. `name` is used in messages; `seed` is for the offline harness, if the script enables it for unmatched requests.
    pub fn parse(name: impl Into<String>, text: &str, seed: u64) -> Result<Self, ScriptErrors> {
        let name = name.into();
        let file = read::read(&name, text)?;
        Ok(Self {
            name,
            entries: file.entries,
            unmatched: file.is_offline.then(|| Offline::new(seed)),
            folders: RunFolders { root: PathBuf::from("."), run: None },
            uses: Mutex::default(),
        })
    }

    /// The same script in the folders of a run.
    pub fn in_folders(self, folders: RunFolders) -> Self {
        Self { folders, ..self }
    }

    /// Finds the entry for a request and counts it as used.
    fn take(&self, asked: &Asked<'_>) -> Option<Taken<'_>> {
        let mut uses = self.uses();
        let order = uses.requests.entry(asked.kind).or_default();
        *order += 1;
        let order = *order;
        let (index, entry) = self.entries.iter().enumerate().find(|(index, entry)| {
            entry.fits(asked, order)
                && entry.times.is_none_or(|times| uses.entries.get(index).is_none_or(|used| *used < times))
        })?;
        let used = uses.entries.entry(index).or_default();
        let said = &entry.answers[*used % entry.answers.len()];
        *used += 1;
        Some(Taken { entry, said })
    }

    fn uses(&self) -> MutexGuard<'_, Uses> {
        // The counters are consistent even if a thread panicked.
        self.uses.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replies from the matching entry or by the offline harness, or fails with the missing entry.
    fn answer<'a, T: Send + 'a>(
        &'a self,
        asked: &Asked<'_>,
        task: Option<&'a SessionTask>,
        reporter: &'a Reporter,
        read: impl FnOnce(&'a Said, &'a Entry) -> Result<T, Failure> + Send + 'a,
        otherwise: impl FnOnce(&'a Offline) -> HarnessFuture<'a, T>,
    ) -> HarnessFuture<'a, T> {
        let Some(Taken { entry, said }) = self.take(asked) else {
            return match &self.unmatched {
                Some(offline) => otherwise(offline),
                None => {
                    let failure = self.unmatched(asked);
                    Box::pin(async { Err(failure) })
                }
            };
        };
        Box::pin(async move {
            activity::perform(&entry.activity, entry.delay, reporter).await;
            if let Some(task) = task {
                self.use_tools(&entry.tools, task, reporter).await?;
            }
            match said {
                Said::Outcome(Outcome::Failed(failure)) => Err(failure.clone()),
                said => read(said, entry),
            }
        })
    }

    /// Asks for permission to use tools, as an agent would, and reports them. Nothing is done with them.
    async fn use_tools(
        &self,
        tools: &[ToolRequest],
        task: &SessionTask,
        reporter: &Reporter,
    ) -> Result<(), Failure> {
        let folders = Folders::of(task, &self.folders);
        for (index, tool) in tools.iter().enumerate() {
            let is_allowed =
                permit(reporter, task.agent.as_deref(), &task.permissions, tool, &folders).await?;
            reporter.report(Activity::Tool(ToolUse {
                id: smol_str::format_smolstr!("tool-{}", index + 1),
                kind: tool.kind,
                title: tool.title.as_str().into(),
                paths: tool.paths.iter().map(Into::into).collect(),
                status: if is_allowed { ToolStatus::Completed } else { ToolStatus::Denied },
            }));
        }
        Ok(())
    }

    /// The failure of an unmatched request, with an entry that would match it.
    fn unmatched(&self, asked: &Asked<'_>) -> Failure {
        let mut message = format!("{} has no reply for this {}:\n", self.name, asked.kind);
        // Writing to a string cannot fail.
        let _ = write!(message, "{asked}");
        let used_up =
            self.entries.iter().find(|entry| entry.times.is_some() && entry.fits_but_for_order(asked));
        if let Some(entry) = used_up {
            let _ = writeln!(
                message,
                "  The entry in line {} matches, but it replies only {}.",
                entry.line,
                match entry.times {
                    Some(1) => "once".to_owned(),
                    times => format!("{} times", times.unwrap_or_default()),
                }
            );
        }
        let _ = write!(
            message,
            "Add an entry such as this one, or set `unmatched = \"offline\"` at the top for generated replies:\n\n{}",
            asked.entry_to_add()
        );
        Failure { kind: ErrorKind::Other, message }
    }

    /// The failure of an entry that does not fit its request.
    fn mistake(&self, entry: &Entry, why: impl fmt::Display) -> Failure {
        Failure {
            kind: ErrorKind::Undecided,
            message: format!("the entry in line {} of {} {why}", entry.line, self.name),
        }
    }
}

impl Harness for Script {
    fn name(&self) -> &str {
        "script"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { reads_files: false, writes_files: false }
    }

    /// Sessions read, write and execute nothing, so no permission can be violated (decision 13).
    fn enforces(&self, _: &str, _: &PermissionRule) -> bool {
        true
    }

    fn session<'a>(
        &'a self,
        request: &'a Request,
        task: &'a Arc<SessionTask>,
        reporter: &'a Reporter,
    ) -> HarnessFuture<'a, Reply> {
        // The author of a script cannot know the marks of a run.
        let read = |said: &Said, _: &Entry| match (said, &task.mark) {
            (Said::Outcome(Outcome::Reply(reply)), Some(mark)) => {
                Ok(Reply { text: frame::with_mark(&reply.text, mark), ..reply.clone() })
            }
            (Said::Outcome(Outcome::Reply(reply)), None) => Ok(reply.clone()),
            _ => Ok(Reply::default()),
        };
        self.answer(&Asked::session(request, task), Some(task), reporter, read, |offline| {
            offline.session(request, task, reporter)
        })
    }

    fn judge<'a>(
        &'a self,
        request: &'a Request,
        question: &'a Question,
        reporter: &'a Reporter,
    ) -> HarnessFuture<'a, Verdict> {
        let read = |said: &Said, _: &Entry| match said {
            Said::Outcome(Outcome::Verdict(verdict)) => Ok(verdict.clone()),
            _ => Ok(Verdict { met: false, reason: String::new(), no_progress: false }),
        };
        let asked = Asked::question(Kind::Condition, request, question);
        self.answer(&asked, None, reporter, read, |offline| offline.judge(request, question, reporter))
    }

    fn choose<'a>(
        &'a self,
        request: &'a Request,
        question: &'a Question,
        reporter: &'a Reporter,
    ) -> HarnessFuture<'a, Choice> {
        let read = |said: &Said, entry: &Entry| {
            let (found, wanted, reason) = match said {
                Said::Label { label, reason } => {
                    (label_index(&question.labels, label), format!("`{label}`"), reason)
                }
                Said::Outcome(Outcome::Choice(Choice { index, reason })) => {
                    (Some(*index), format!("number {}", index + 1), reason)
                }
                Said::Outcome(_) => return Err(self.mistake(entry, "chooses nothing")),
            };
            match found.filter(|index| *index < question.labels.len()) {
                Some(index) => Ok(Choice { index, reason: reason.clone() }),
                None => {
                    let labels: Vec<String> =
                        question.labels.iter().map(|label| format!("`{label}`")).collect();
                    let why = format!("chooses {wanted}, but the labels are {}", labels.join(", "));
                    Err(self.mistake(entry, why))
                }
            }
        };
        let asked = Asked::question(Kind::Choice, request, question);
        self.answer(&asked, None, reporter, read, |offline| offline.choose(request, question, reporter))
    }

    fn extract<'a>(
        &'a self,
        request: &'a Request,
        question: &'a Question,
        reporter: &'a Reporter,
    ) -> HarnessFuture<'a, Option<String>> {
        let read = |said: &Said, _: &Entry| match said {
            Said::Outcome(Outcome::Value(Value::Null)) => Ok(None),
            Said::Outcome(Outcome::Value(value)) => Ok(Some(value.to_string())),
            _ => Ok(None),
        };
        let asked = Asked::question(Kind::Extract, request, question);
        self.answer(&asked, None, reporter, read, |offline| offline.extract(request, question, reporter))
    }

    fn summarise<'a>(
        &'a self,
        request: &'a Request,
        summary: &'a Summary,
        reporter: &'a Reporter,
    ) -> HarnessFuture<'a, String> {
        let read = |said: &Said, _: &Entry| match said {
            Said::Outcome(Outcome::Value(value)) => Ok(value.to_string()),
            _ => Ok(String::new()),
        };
        self.answer(&Asked::summary(request, summary), None, reporter, read, |offline| {
            offline.summarise(request, summary, reporter)
        })
    }

    /// Inputs that the script does not contain are requested from the user, so they are never unmatched.
    fn input<'a>(
        &'a self,
        request: &'a Request,
        input: &'a InputRequest,
    ) -> Option<HarnessFuture<'a, Value>> {
        let Taken { entry, said } = self.take(&Asked::input(request, input))?;
        Some(Box::pin(async move {
            if !entry.delay.is_zero() {
                tokio::time::sleep(entry.delay).await;
            }
            match said {
                Said::Outcome(Outcome::Value(value)) => Ok(value.clone()),
                Said::Outcome(Outcome::Failed(failure)) => Err(failure.clone()),
                _ => Ok(Value::Null),
            }
        }))
    }

    /// Memories that the script does not contain are read from the store.
    fn memory(&self, request: &Request, place: &MemoryPlace) -> Option<Memory> {
        match self.take(&Asked::memory(request, place))?.said {
            Said::Outcome(Outcome::Memory(memory)) => Some(memory.clone()),
            _ => None,
        }
    }

    /// An entry that replied in the earlier execution has been used there.
    fn recalled(&self, request: &Request) {
        let asked = match &request.effect {
            Effect::Session(task) => Asked::session(request, task),
            Effect::Judge(question) => Asked::question(Kind::Condition, request, question),
            Effect::Choose(question) => Asked::question(Kind::Choice, request, question),
            Effect::Extract(question) => Asked::question(Kind::Extract, request, question),
            Effect::Summarise(summary) => Asked::summary(request, summary),
            Effect::Input(input) => Asked::input(request, input),
            Effect::Memory(place) => Asked::memory(request, place),
            Effect::File(_) | Effect::FileCheck(_) | Effect::Sleep(_) => return,
        };
        self.take(&asked);
    }
}

/// The matching label (R67): the first one that is equal apart from case and surrounding white space.
pub(crate) fn label_index(labels: &[smol_str::SmolStr], answer: &str) -> Option<usize> {
    let answer = answer.trim().to_lowercase();
    labels.iter().position(|label| label.trim().to_lowercase() == answer)
}
