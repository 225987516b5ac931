//! What has become of each statement of a run, told by its events.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use prose_vm::error::RuntimeError;
use prose_vm::event::{Event, RunStatus, Status, What};
use prose_vm::place::{Place, Site};
use smol_str::SmolStr;

/// How much of a result is kept. More than that is read in its file.
const MOST_SHOWN: usize = 60;

/// What has happened in a run up to now.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    statements: BTreeMap<Span, Statement>,
    open: HashMap<Place, Open>,
    /// Statements that failed with an error that may still end the run, inner ones before outer ones.
    failing: Vec<(Span, Arc<RuntimeError>)>,
    failure: Option<Failed>,
    sessions_under_way: u32,
    sessions_done: u32,
    /// The first line of the statement that started last.
    current: Option<SmolStr>,
    waits_for: Option<SmolStr>,
}

/// The lines of a statement in the text that the run was started with, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Span {
    pub(crate) first: u32,
    pub(crate) last: u32,
}

/// A statement that was executed at least once.
#[derive(Debug, Default)]
struct Statement {
    /// How often at this moment.
    running: u32,
    /// How often up to now.
    ended: u32,
    last: Option<Outcome>,
}

/// How a statement ended.
#[derive(Debug)]
enum Outcome {
    Done {
        took: u64,
        result: String,
    },
    Failed {
        took: u64,
        error: String,
    },
    /// Others had decided, or the run was over.
    Stopped,
}

#[derive(Debug)]
struct Open {
    span: Span,
    since: u64,
    result: String,
}

/// Where and why a run failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failed {
    pub(crate) span: Span,
    pub(crate) message: String,
}

impl Trace {
    /// Takes up what happens next.
    pub(crate) fn tell(&mut self, event: &Event) {
        match &event.what {
            What::SessionStarted { .. } => self.sessions_under_way += 1,
            What::SessionEnded { .. } => {
                self.sessions_under_way = self.sessions_under_way.saturating_sub(1);
                self.sessions_done += 1;
            }
            What::InputAsked { name, prompt, .. } => {
                self.waits_for = Some(name.clone().unwrap_or_else(|| prompt.as_ref().into()));
            }
            What::InputGiven { .. } => self.waits_for = None,
            What::Caught { .. } => self.failing.clear(),
            What::RunEnded(end) => {
                self.stop();
                if end.status == RunStatus::Failed
                    && let Some(error) = &end.error
                {
                    self.fail(error);
                }
            }
            What::StatementStarted { source, .. } => {
                self.current = Some(source.clone());
                if let Some(span) = span(event.site) {
                    self.statements.entry(span).or_default().running += 1;
                    let open = Open { span, since: event.at, result: String::new() };
                    self.open.insert(event.place.clone(), open);
                }
            }
            What::StatementEnded { status, error } => self.end(event, *status, error.as_ref()),
            What::Bound { value, .. } | What::OutputGiven { value, .. } => {
                if let Some(open) = self.open.get_mut(&event.place) {
                    open.result = first_line(&value.to_string());
                }
            }
            _ => {}
        }
    }

    fn end(&mut self, event: &Event, status: Status, error: Option<&Arc<RuntimeError>>) {
        let Some(Open { span, since, result }) = self.open.remove(&event.place) else { return };
        if let Some(error) = error {
            self.failing.push((span, Arc::clone(error)));
        }
        let Some(statement) = self.statements.get_mut(&span) else { return };
        let took = event.at.saturating_sub(since);
        statement.running = statement.running.saturating_sub(1);
        statement.ended += 1;
        statement.last = Some(match status {
            Status::Complete | Status::Left => Outcome::Done { took, result },
            Status::Failed => {
                let error = error.map_or_else(String::new, |error| first_line(&error.to_string()));
                Outcome::Failed { took, error }
            }
            Status::Skipped => Outcome::Stopped,
        });
    }

    /// Whatever is still open will not go on.
    pub(crate) fn stop(&mut self) {
        self.waits_for = None;
        self.sessions_under_way = 0;
        for (_, open) in self.open.drain() {
            if let Some(statement) = self.statements.get_mut(&open.span) {
                statement.running = 0;
                statement.last = Some(Outcome::Stopped);
            }
        }
    }

    /// The innermost of the statements that failed with an error is where it comes from. One that an imported program raises has no line here but
    /// that of the call.
    fn fail(&mut self, error: &RuntimeError) {
        let same = self.failing.iter().filter(|(_, raised)| **raised == *error);
        let innermost = same.map(|(span, _)| *span).min_by_key(|span| span.last - span.first);
        let span = innermost.or_else(|| self.failing.last().map(|(span, _)| *span));
        self.failure = span.map(|span| Failed { span, message: error.to_string() });
    }

    /// Where the run failed, if it did.
    pub(crate) fn failure(&self) -> Option<&Failed> {
        self.failure.as_ref()
    }

    /// What to show behind each statement that was executed.
    pub(crate) fn marks(&self) -> impl Iterator<Item = (u32, String)> {
        // Of several statements in a line the last one, which is the innermost, would hide how far the others have come.
        let mut line = None;
        self.statements.iter().rev().filter_map(move |(span, statement)| {
            let is_first = line != Some(span.first);
            line = Some(span.first);
            is_first.then(|| (span.first, statement.mark()))
        })
    }

    /// How far the run has come, in a line.
    pub(crate) fn progress(&self) -> String {
        let done = counted(self.sessions_done);
        if let Some(name) = &self.waits_for {
            return format!("{done} done; waits for the input `{name}`");
        }
        let under_way = match self.sessions_under_way {
            0 => String::new(),
            count => format!(", {count} running"),
        };
        let current =
            self.current.as_ref().map_or_else(String::new, |source| format!(": {}", first_line(source)));
        format!("{done} done{under_way}{current}")
    }
}

impl Statement {
    fn mark(&self) -> String {
        match (self.running, &self.last) {
            (1, _) => "⟳ running".to_owned(),
            (2.., _) => format!("⟳ {} running", self.running),
            (0, None) => String::new(),
            (0, Some(Outcome::Done { took, result })) => self.ended_mark('✓', *took, result),
            (0, Some(Outcome::Failed { took, error })) => self.ended_mark('✗', *took, error),
            (0, Some(Outcome::Stopped)) => "■ stopped".to_owned(),
        }
    }

    fn ended_mark(&self, sign: char, took: u64, text: &str) -> String {
        let times = if self.ended > 1 { format!(", {}×", self.ended) } else { String::new() };
        format!("{sign} {}{times}  {text}", duration(took)).trim_end().to_owned()
    }
}

/// The lines of a part of the program that was started. Those of imported programs are not in this document.
fn span(site: Option<Site>) -> Option<Span> {
    let site = site.filter(|site| site.program == 0 && site.line > 0)?;
    Some(Span { first: site.line - 1, last: site.last_line.max(site.line) - 1 })
}

fn first_line(text: &str) -> String {
    let text = text.trim_start();
    let line = text.lines().next().unwrap_or_default();
    let mut chars = line.chars();
    let mut shown: String = chars.by_ref().take(MOST_SHOWN).collect();
    if chars.next().is_some() || text.trim_end().len() > line.len() {
        shown.push('…');
    }
    shown
}

/// `1 session`, `12 sessions`
pub(crate) fn counted(sessions: u32) -> String {
    if sessions == 1 { "1 session".to_owned() } else { format!("{sessions} sessions") }
}

/// A time in milliseconds as people say it: `40 ms`, `1.2 s`, `3 m 10 s`, `2 h 5 m`.
pub(crate) fn duration(ms: u64) -> String {
    let seconds = (ms + 500) / 1000;
    match ms {
        0..100 => format!("{ms} ms"),
        100..59_950 => format!("{:.1} s", ms as f64 / 1000.0),
        _ if seconds < 3600 => format!("{} m {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} m", seconds / 3600, seconds % 3600 / 60),
    }
}
