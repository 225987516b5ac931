//! The census of a run: what became of its sessions, and which failures its program handled (decision 26).

use std::sync::Arc;

use prose_vm::effect::Usage;
use prose_vm::error::RuntimeError;
use prose_vm::place::{NamedLine, Place};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use smol_str::SmolStr;

use crate::json::optional;
use crate::node::{NodeId, Status};
use crate::text::{counted, first_line, usage_text};

/// The most failures and the most missing results in the JSON of a census, which has the counts of all of them.
const MAX_LISTED: usize = 100;

/// The most failures and the most missing results in the lines of that JSON.
const MAX_LINES: usize = 10;

/// What became of a run, with nothing left out.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Census {
    /// The sessions.
    pub sessions: SessionCensus,
    /// The number of conditions that a model judged.
    pub conditions: u32,
    /// The number of choices.
    pub choices: u32,
    /// The number of warnings.
    pub warnings: u32,
    /// The number of denied tool calls.
    pub denied: u32,
    /// What the parts have used whose failures were handled: branches, the bodies of `try`, failed attempts.
    pub failed_usage: Option<Usage>,
    /// The names without a value because what gives it failed or was cancelled.
    pub missing: Vec<MissingResult>,
    /// The failures that the program handled, in the order in which they were handled.
    pub failures: Vec<HandledFailure>,
}

/// How many sessions ended in which way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct SessionCensus {
    /// Those with a result.
    pub done: u32,
    /// Those that failed in their last attempt.
    pub failed: u32,
    /// The failed ones that the model refused to answer, or that were not started because of their permissions.
    pub refused: u32,
    /// Those with more than one attempt.
    pub retried: u32,
    /// Those that were cancelled because nothing waited for them any more (R52).
    pub cancelled: u32,
    /// Those that were at work when the run stopped.
    pub interrupted: u32,
    /// Those that no agent had been asked for when the run stopped, such as those that a limit has kept from it.
    #[serde(rename = "notAsked")]
    pub not_asked: u32,
    /// Those with a result of an earlier execution of the run.
    pub reused: u32,
}

/// A name without a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MissingResult {
    /// The name.
    pub name: SmolStr,
    /// The imported program that it belongs to; `None` for the program of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<SmolStr>,
    /// The line, from 1; 0 if unknown.
    pub line: u32,
    /// Whether what gives it was cancelled, rather than failed.
    #[serde(rename = "cancelled")]
    pub is_cancelled: bool,
}

/// A failure that the program handled, so that the run continued.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HandledFailure {
    /// The part that failed: a branch, a `try`, or the session that was tried again.
    pub node: NodeId,
    /// The place of that part in the execution.
    pub place: Place,
    /// The imported program with the statement; `None` for the program of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<SmolStr>,
    /// The line of the statement that failed, from 1; 0 if unknown.
    pub line: u32,
    /// The name of the branch or of the result; without one, the first line of the statement.
    pub label: SmolStr,
    /// The error.
    #[serde(serialize_with = "message")]
    pub error: Arc<RuntimeError>,
    /// What handled it.
    #[serde(flatten)]
    pub handling: Handling,
}

/// What handled a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "handling", rename_all = "lowercase")]
pub enum Handling {
    /// `on-fail: continue` of the `parallel`.
    Continue,
    /// `on-fail: ignore` of the `parallel`.
    Ignore,
    /// `catch`.
    Catch,
    /// A `finally` that leaves the `try` by `return`, `break` or `continue` (R75).
    Finally,
    /// A retry of the session.
    Retry {
        /// The number of attempts that failed.
        attempts: u32,
    },
}

/// The error in one line.
fn message<S: Serializer>(error: &Arc<RuntimeError>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&first_line(&error.message))
}

/// What is counted while events are folded, and that no node has.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally {
    pub(crate) refused: u32,
    pub(crate) retried: u32,
    pub(crate) cancelled: u32,
    pub(crate) interrupted: u32,
    /// Those of the interrupted ones that were never started.
    pub(crate) not_asked: u32,
    pub(crate) reused: u32,
    /// The sessions before the program changed whose results are not reused.
    pub(crate) before_change: u32,
    pub(crate) conditions: u32,
    pub(crate) choices: u32,
    pub(crate) warnings: u32,
    pub(crate) denied: u32,
}

impl Tally {
    /// The count of sessions with a status that [`crate::Counts`] does not have.
    pub(crate) fn of(&mut self, status: Status) -> Option<&mut u32> {
        match status {
            Status::Skipped => Some(&mut self.cancelled),
            Status::Interrupted => Some(&mut self.interrupted),
            Status::Waiting | Status::Running | Status::Complete | Status::Failed => None,
        }
    }
}

/// A failure that is or was handled.
#[derive(Debug, Clone)]
pub(crate) struct Handled {
    pub(crate) failure: HandledFailure,
    /// The execution of a program with the statement.
    pub(crate) program: u32,
    /// Whether it was raised again, so that something else handles it, or nothing.
    pub(crate) is_raised_again: bool,
}

/// What has failed in a `try` up to now.
#[derive(Debug, Clone, Default)]
pub(crate) struct OpenTry {
    /// The error that is on its way out of it.
    pub(crate) failed: Option<Arc<RuntimeError>>,
    /// The index of the failure that its `catch` handles.
    pub(crate) caught: Option<usize>,
}

impl Census {
    /// The counts in one line, without those that are zero; empty if all are.
    pub fn summary(&self) -> String {
        let SessionCensus { done, failed, refused, retried, cancelled, interrupted, not_asked, reused } =
            self.sessions;
        let sessions = [
            (done, "done"),
            (failed, "failed"),
            (refused, "refused"),
            (retried, "retried"),
            (cancelled, "cancelled"),
            (interrupted, "interrupted"),
            (not_asked, "not asked"),
            (reused, "reused"),
        ];
        let mut sessions: Vec<String> = sessions
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        if let Some((count, what)) = sessions.first().and_then(|first| first.split_once(' ')) {
            let sessions_of = if count == "1" { "session" } else { "sessions" };
            sessions[0] = format!("{count} {sessions_of} {what}");
        }
        let decisions = [
            (self.conditions, "condition judged", "conditions judged"),
            (self.choices, "choice made", "choices made"),
        ];
        let others =
            [(self.warnings, "warning", "warnings"), (self.denied, "tool call denied", "tool calls denied")];
        let words = |counts: [(u32, &str, &str); 2]| {
            let counts = counts.into_iter().filter(|(count, ..)| *count > 0);
            counts.map(|(count, one, several)| counted(count as usize, one, several)).collect::<Vec<_>>()
        };
        let groups = [sessions, words(decisions), words(others)];
        let groups = groups.into_iter().filter(|group| !group.is_empty());
        groups.map(|group| group.join(", ")).collect::<Vec<_>>().join("; ")
    }

    /// What the counts do not say, in lines: the cost of what failed, the missing results, and at most `max` of the handled failures.
    pub fn details(&self, max: usize) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(usage) = self.failed_usage {
            lines.push(format!("used by what failed: {}", usage_text(usage)));
        }
        if !self.missing.is_empty() {
            let mut names: Vec<String> = self.missing.iter().take(max).map(MissingResult::text).collect();
            names.extend(left_out(self.missing.len(), max));
            lines.push(format!("without a result: {}", names.join(", ")));
        }
        lines.extend(self.failures.iter().take(max).map(HandledFailure::text));
        lines.extend(left_out(self.failures.len(), max).map(|more| format!("{more} failures")));
        lines
    }

    /// The census with the lines of the program counted in a document whose line `first_line`, from 0, is the first one of the program.
    pub(crate) fn in_document(mut self, first_line: u32) -> Self {
        let failures = self.failures.iter_mut().map(|failure| (&failure.program, &mut failure.line));
        let missing = self.missing.iter_mut().map(|missing| (&missing.program, &mut missing.line));
        for (program, line) in failures.chain(missing) {
            if program.is_none() && *line > 0 {
                *line += first_line;
            }
        }
        self
    }
}

/// How many of a list are not shown.
fn left_out(count: usize, max: usize) -> Option<String> {
    (count > max).then(|| format!("{} more", count - max))
}

fn place(line: u32, program: Option<&SmolStr>) -> NamedLine {
    NamedLine { program: program.cloned(), line }
}

impl MissingResult {
    /// `facts (line 4)`
    fn text(&self) -> String {
        let how = if self.is_cancelled { ", cancelled" } else { "" };
        format!("{} ({}{how})", self.name, place(self.line, self.program.as_ref()))
    }
}

impl HandledFailure {
    /// The failure in one line, with what handled it.
    pub fn text(&self) -> String {
        let place = place(self.line, self.program.as_ref());
        format!("{place}, {}: {} ({})", self.label, first_line(&self.error.message), self.handling.text())
    }
}

impl Handling {
    /// `on-fail: continue`, `caught`
    pub fn text(self) -> String {
        match self {
            Handling::Continue => "on-fail: continue".to_owned(),
            Handling::Ignore => "on-fail: ignore".to_owned(),
            Handling::Catch => "caught".to_owned(),
            Handling::Finally => "left by finally".to_owned(),
            Handling::Retry { attempts: 1 } => "retried".to_owned(),
            Handling::Retry { attempts } => format!("retried, {attempts} attempts failed"),
        }
    }
}

impl Serialize for Census {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("sessions", &self.sessions)?;
        let counts = [
            ("conditions", self.conditions as usize),
            ("choices", self.choices as usize),
            ("warnings", self.warnings as usize),
            ("denied", self.denied as usize),
            ("missingCount", self.missing.len()),
            ("failureCount", self.failures.len()),
        ];
        for (key, count) in counts {
            map.serialize_entry(key, &count)?;
        }
        optional(&mut map, "failedUsage", &self.failed_usage)?;
        map.serialize_entry("missing", &self.missing[..self.missing.len().min(MAX_LISTED)])?;
        map.serialize_entry("failures", &self.failures[..self.failures.len().min(MAX_LISTED)])?;
        let summary = Some(self.summary()).filter(|summary| !summary.is_empty());
        let lines: Vec<String> = summary.into_iter().chain(self.details(MAX_LINES)).collect();
        map.serialize_entry("lines", &lines)?;
        map.end()
    }
}
