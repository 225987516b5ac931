//! Answers from a file, for tests of programs and for showing a run again (`--script`). `docs/scripts.md` describes the file.

pub(crate) mod entry;
mod read;
pub(crate) mod written;

use std::collections::HashMap;
use std::fmt::{self, Write as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use prose_vm::effect::{
    Choice, Effect, Failure, InputRequest, Memory, MemoryPlace, Outcome, PermissionRule, Question, Reply,
    Request, SessionTask, Summary, Verdict,
};
use prose_vm::error::ErrorKind;
use prose_vm::frame;
use prose_vm::harness::{Answer, Capabilities, Harness};
use prose_vm::value::Value;

use self::entry::{Asked, Entry, Said};
use crate::offline::Offline;

pub use self::entry::Kind;
pub use self::read::{ScriptError, ScriptErrors};

/// A harness that answers as a file says.
///
/// The first entry that fits a request and is not used up answers it. Which one that is depends on the order of the requests only where
/// entries are used up (`times`, lists of answers) or name an `order`.
#[derive(Debug)]
pub struct Script {
    /// The file, for messages.
    name: String,
    entries: Vec<Entry>,
    /// What answers requests that no entry fits, if the script leaves them to it.
    unmatched: Option<Offline>,
    uses: Mutex<Uses>,
}

/// What has been asked so far.
#[derive(Debug, Default)]
struct Uses {
    /// How often each entry has answered.
    entries: HashMap<usize, usize>,
    /// How many requests of each kind there were.
    requests: HashMap<Kind, usize>,
}

/// An answer that an entry gives.
struct Taken<'a> {
    entry: &'a Entry,
    said: &'a Said,
}

impl Script {
    /// Reads a script. `name` is what messages call it; `seed` decides what is made up if the script leaves unmatched requests to the offline
    /// harness.
    pub fn parse(name: impl Into<String>, text: &str, seed: u64) -> Result<Self, ScriptErrors> {
        let name = name.into();
        let file = read::read(&name, text)?;
        Ok(Self {
            name,
            entries: file.entries,
            unmatched: file.is_offline.then(|| Offline::new(seed)),
            uses: Mutex::default(),
        })
    }

    /// The entry that answers a request, which counts as used by this.
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
        // Counters are whole whatever happened to the thread that held them.
        self.uses.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers from the entry that fits, or as the offline harness does, or says what entry is missing.
    fn answer<'a, T: Send + 'a>(
        &'a self,
        asked: &Asked<'_>,
        read: impl FnOnce(&'a Said, &'a Entry) -> Result<T, Failure> + Send + 'a,
        otherwise: impl FnOnce(&'a Offline) -> Answer<'a, T>,
    ) -> Answer<'a, T> {
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
            if !entry.delay.is_zero() {
                tokio::time::sleep(entry.delay).await;
            }
            match said {
                Said::Outcome(Outcome::Failed(failure)) => Err(failure.clone()),
                said => read(said, entry),
            }
        })
    }

    /// Why a request has no answer, and the entry that would give it one.
    fn unmatched(&self, asked: &Asked<'_>) -> Failure {
        let mut message = format!("{} has no answer for this {}:\n", self.name, asked.kind);
        // Writing to a string cannot fail.
        let _ = write!(message, "{asked}");
        let used_up =
            self.entries.iter().find(|entry| entry.times.is_some() && entry.fits_but_for_order(asked));
        if let Some(entry) = used_up {
            let _ = writeln!(
                message,
                "  The entry in line {} fits, but it answers only {}.",
                entry.line,
                match entry.times {
                    Some(1) => "once".to_owned(),
                    times => format!("{} times", times.unwrap_or_default()),
                }
            );
        }
        let _ = write!(
            message,
            "Add an entry for it, such as this one, or write `unmatched = \"offline\"` at the top to have answers made up:\n\n{}",
            asked.entry_to_add()
        );
        Failure { kind: ErrorKind::Other, message }
    }

    /// Why an entry cannot answer.
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

    /// Nothing is read, written or executed, so no rule can be broken (decision 13).
    fn enforces(&self, _: &str, _: &PermissionRule) -> bool {
        true
    }

    fn session<'a>(&'a self, request: &'a Request, task: &'a Arc<SessionTask>) -> Answer<'a, Reply> {
        // Who writes a script cannot know the marks of a run.
        let read = |said: &Said, _: &Entry| match (said, &task.mark) {
            (Said::Outcome(Outcome::Reply(reply)), Some(mark)) => {
                Ok(Reply { text: frame::with_mark(&reply.text, mark), ..reply.clone() })
            }
            (Said::Outcome(Outcome::Reply(reply)), None) => Ok(reply.clone()),
            _ => Ok(Reply::default()),
        };
        self.answer(&Asked::session(request, task), read, |offline| offline.session(request, task))
    }

    fn judge<'a>(&'a self, request: &'a Request, question: &'a Question) -> Answer<'a, Verdict> {
        let read = |said: &Said, _: &Entry| match said {
            Said::Outcome(Outcome::Verdict(verdict)) => Ok(verdict.clone()),
            _ => Ok(Verdict { met: false, reason: String::new(), no_progress: false }),
        };
        let asked = Asked::question(Kind::Condition, request, question);
        self.answer(&asked, read, |offline| offline.judge(request, question))
    }

    fn choose<'a>(&'a self, request: &'a Request, question: &'a Question) -> Answer<'a, Choice> {
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
                    let why = format!("chooses {wanted}, and the labels are {}", labels.join(", "));
                    Err(self.mistake(entry, why))
                }
            }
        };
        let asked = Asked::question(Kind::Choice, request, question);
        self.answer(&asked, read, |offline| offline.choose(request, question))
    }

    fn extract<'a>(&'a self, request: &'a Request, question: &'a Question) -> Answer<'a, Option<String>> {
        let read = |said: &Said, _: &Entry| match said {
            Said::Outcome(Outcome::Value(Value::Null)) => Ok(None),
            Said::Outcome(Outcome::Value(value)) => Ok(Some(value.to_string())),
            _ => Ok(None),
        };
        let asked = Asked::question(Kind::Extract, request, question);
        self.answer(&asked, read, |offline| offline.extract(request, question))
    }

    fn summarise<'a>(&'a self, request: &'a Request, summary: &'a Summary) -> Answer<'a, String> {
        let read = |said: &Said, _: &Entry| match said {
            Said::Outcome(Outcome::Value(value)) => Ok(value.to_string()),
            _ => Ok(String::new()),
        };
        self.answer(&Asked::summary(request, summary), read, |offline| offline.summarise(request, summary))
    }

    /// Inputs that the script does not know are left to the person, so they are never unmatched.
    fn input<'a>(&'a self, request: &'a Request, input: &'a InputRequest) -> Option<Answer<'a, Value>> {
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

    /// What agents remember is read from the store where the script does not say.
    fn memory(&self, request: &Request, place: &MemoryPlace) -> Option<Memory> {
        match self.take(&Asked::memory(request, place))?.said {
            Said::Outcome(Outcome::Memory(memory)) => Some(memory.clone()),
            _ => None,
        }
    }

    /// An entry that answered in the earlier execution has been used there.
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

/// Which of the labels is meant (R67): the first one that is the same but for case and white space around it.
pub(crate) fn label_index(labels: &[smol_str::SmolStr], answer: &str) -> Option<usize> {
    let answer = answer.trim().to_lowercase();
    labels.iter().position(|label| label.trim().to_lowercase() == answer)
}
