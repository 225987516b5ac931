//! Replies from a file, for tests of programs and for reproducing a run (`--script`). `docs/scripts.md` describes the file.

mod activity;
pub(crate) mod entry;
mod read;
mod schema;
mod value;
pub(crate) mod written;

use std::collections::HashMap;
use std::fmt::{self, Write as _};
use std::future::ready;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use prose_toml::Document;
use prose_vm::activity::{Activity, Reporter, ToolStatus, ToolUse};
use prose_vm::effect::{
    Choice, Effect, Failure, InputRequest, Memory, MemoryPlace, Outcome, Reply, Request, SessionTask,
};
use prose_vm::error::ErrorKind;
use prose_vm::frame;
use prose_vm::harness::{Capabilities, Harness, HarnessFuture, RunFolders, not_performed};
use prose_vm::value::Value;
use smol_str::SmolStr;
use toml::de::DeTable;

use self::entry::{Asked, Entry, Said};
use crate::offline::Offline;
use crate::permissions::{Folders, ToolRequest, permit};

pub use self::entry::Kind;
pub use self::read::{EntryProblem, ScriptError, ScriptErrors};
pub use self::schema::{keys, schema};
pub use self::value::{InvalidValue, toml_value};

/// A harness that replies from a script.
///
/// The first entry that matches a request and is not used up provides the reply. The order of requests matters only for entries that are used up
/// (`times`, lists of answers) or have an `order`.
#[derive(Debug)]
pub struct Script {
    /// The file, for messages.
    name: String,
    /// What comes before the names of tables in headers.
    prefix: &'static str,
    entries: Arc<[Entry]>,
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
    /// The number of the entry.
    index: usize,
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
            prefix: "",
            entries: file.entries.into(),
            unmatched: file.is_offline.then(|| Offline::new(seed)),
            folders: RunFolders { root: PathBuf::from("."), run: None },
            uses: Mutex::default(),
        })
    }

    /// Reads the entries in a table of another document, such as a case of a test file, in whose headers `prefix` comes before the names of their tables.
    /// The other keys of the table are left to the caller, also those that look like a misspelled kind of entries.
    pub fn in_table(
        name: impl Into<String>,
        document: &Document<'_>,
        text: &str,
        table: &DeTable<'_>,
        prefix: &'static str,
    ) -> (Self, Vec<EntryProblem>) {
        let (file, problems) = read::read_in(document, text, table, prefix);
        let script = Self {
            name: name.into(),
            prefix,
            entries: file.entries.into(),
            unmatched: file.is_offline.then(|| Offline::new(0)),
            folders: RunFolders { root: PathBuf::from("."), run: None },
            uses: Mutex::default(),
        };
        (script, problems)
    }

    /// The same script for another run: none of its entries has been used. `seed` is for generated replies.
    pub fn unused(&self, seed: u64) -> Self {
        Self {
            name: self.name.clone(),
            prefix: self.prefix,
            entries: Arc::clone(&self.entries),
            unmatched: self.unmatched.as_ref().map(|_| Offline::new(seed)),
            folders: self.folders.clone(),
            uses: Mutex::default(),
        }
    }

    /// Whether it has no entries, and no replies are generated either.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.unmatched.is_none()
    }

    /// Whether it has an entry for an input of this name, or one that matches any input.
    pub fn may_give_input(&self, name: &str) -> bool {
        let mut inputs = self.entries.iter().filter(|entry| entry.kind == Kind::Input);
        inputs.any(|entry| entry.name.as_deref().is_none_or(|known| known == name))
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
        let taken = self.find(asked, order, &uses)?;
        *uses.entries.entry(taken.index).or_default() += 1;
        Some(taken)
    }

    /// The first entry for a request that is not used up, with the answer that it gives next.
    fn find(&self, asked: &Asked<'_>, order: usize, uses: &Uses) -> Option<Taken<'_>> {
        let used = |index: usize| uses.entries.get(&index).copied().unwrap_or_default();
        let (index, entry) = self.entries.iter().enumerate().find(|(index, entry)| {
            entry.fits(asked, order) && entry.times.is_none_or(|times| used(*index) < times)
        })?;
        let said = &entry.answers[used(index) % entry.answers.len()];
        Some(Taken { index, entry, said })
    }

    fn uses(&self) -> MutexGuard<'_, Uses> {
        // The counters are consistent even if a thread panicked.
        self.uses.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The outcome of a request by an answer of its entry.
    fn read(&self, effect: &Effect, entry: &Entry, said: &Said) -> Result<Outcome, Failure> {
        Ok(match (effect, said) {
            (_, Said::Outcome(Outcome::Failed(failure))) => return Err(failure.clone()),
            (Effect::Session(task), Said::Outcome(Outcome::Reply(reply))) => {
                // The author of a script cannot know the marks of a run.
                let marked = task.mark.as_ref().map(|mark| frame::with_mark(&reply.text, mark));
                let text = marked.unwrap_or_else(|| reply.text.clone());
                Outcome::Reply(Reply { text, ..reply.clone() })
            }
            (Effect::Choose(question), said) => {
                Outcome::Choice(self.choice(&question.labels, entry, said)?)
            }
            // What a model extracts or shortens is text.
            (_, Said::Outcome(Outcome::Value(value))) if *value != Value::Null => {
                Outcome::Value(Value::text(value.to_string()))
            }
            (_, Said::Outcome(outcome)) => outcome.clone(),
            (_, Said::Label { .. }) => {
                return Err(self.mistake(entry, "names a label, but the request is not a choice"));
            }
        })
    }

    fn choice(&self, labels: &[SmolStr], entry: &Entry, said: &Said) -> Result<Choice, Failure> {
        let (found, wanted, reason) = match said {
            Said::Label { label, reason } => (label_index(labels, label), format!("`{label}`"), reason),
            Said::Outcome(Outcome::Choice(Choice { index, reason })) => {
                (Some(*index), format!("number {}", index + 1), reason)
            }
            Said::Outcome(_) => return Err(self.mistake(entry, "chooses nothing")),
        };
        match found.filter(|index| *index < labels.len()) {
            Some(index) => Ok(Choice { index, reason: reason.clone() }),
            None => {
                let labels: Vec<String> = labels.iter().map(|label| format!("`{label}`")).collect();
                let why = format!("chooses {wanted}, but the labels are {}", labels.join(", "));
                Err(self.mistake(entry, why))
            }
        }
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
        let place = if self.prefix.is_empty() { "at the top" } else { "in the case" };
        let entry = asked.entry_to_add().replacen("[[", &format!("[[{}", self.prefix), 1);
        let _ = write!(
            message,
            "Add an entry such as this one, or set `unmatched = \"offline\"` {place} for generated replies:\n\n{entry}"
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

    fn perform<'a>(&'a self, request: &'a Request, reporter: &'a Reporter) -> HarnessFuture<'a, Outcome> {
        let asked = Asked::of(request).filter(|_| request.effect.needs_agent());
        let Some(asked) = asked else { return Box::pin(ready(Err(not_performed(request)))) };
        let Some(Taken { entry, said, .. }) = self.take(&asked) else {
            return match &self.unmatched {
                Some(offline) => offline.perform(request, reporter),
                None => Box::pin(ready(Err(self.unmatched(&asked)))),
            };
        };
        Box::pin(async move {
            activity::perform(&entry.activity, entry.delay, reporter).await;
            if let Effect::Session(task) = &request.effect {
                self.use_tools(&entry.tools, task, reporter).await?;
            }
            self.read(&request.effect, entry, said)
        })
    }

    /// Inputs that the script does not contain are requested from the user, so they are never unmatched.
    fn input<'a>(&'a self, request: &'a Request, _: &'a InputRequest) -> Option<HarnessFuture<'a, Value>> {
        let Taken { entry, said, .. } = self.take(&Asked::of(request)?)?;
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
    fn memory(&self, request: &Request, _: &MemoryPlace) -> Option<Memory> {
        match self.take(&Asked::of(request)?)?.said {
            Said::Outcome(Outcome::Memory(memory)) => Some(memory.clone()),
            _ => None,
        }
    }

    /// An entry that replied in the earlier execution has been used there.
    fn recalled(&self, request: &Request) {
        if let Some(asked) = Asked::of(request) {
            self.take(&asked);
        }
    }

    /// An entry that made the run fail has been used, too. The script may have been edited since, so only an entry that fails in the same way counts.
    fn failed_before(&self, request: &Request, failure: &Failure) {
        let Some(asked) = Asked::of(request) else { return };
        let mut uses = self.uses();
        let order = uses.requests.get(&asked.kind).copied().unwrap_or_default() + 1;
        if let Some(found) = self.find(&asked, order, &uses)
            && let Said::Outcome(Outcome::Failed(said)) = found.said
            && said == failure
        {
            *uses.entries.entry(found.index).or_default() += 1;
        }
    }
}

/// The matching label (R67): the first one that is equal apart from case and surrounding white space.
pub fn label_index(labels: &[SmolStr], answer: &str) -> Option<usize> {
    let answer = answer.trim().to_lowercase();
    labels.iter().position(|label| label.trim().to_lowercase() == answer)
}
