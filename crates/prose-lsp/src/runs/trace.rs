//! What has become of each statement of a run, told by its events.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use prose_vm::effect::RequestId;
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
    sessions_under_way: HashMap<RequestId, Place>,
    sessions_done: u32,
    /// The first line of the statement that started last.
    current: Option<SmolStr>,
    waits_for: Option<SmolStr>,
    /// The agents whose memories other runs are using, by the requests that wait for them.
    memories_awaited: BTreeMap<RequestId, SmolStr>,
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
            What::SessionStarted { request, .. } => {
                self.sessions_under_way.insert(*request, event.place.clone());
            }
            What::SessionEnded { request, .. } => {
                self.sessions_under_way.remove(request);
                self.sessions_done += 1;
            }
            // What goes on in a branch that is not waited for any more is not told the end of.
            What::BranchEnded { status: Status::Skipped, .. } => self.stop(&event.place),
            What::InputAsked { name, prompt, .. } => {
                self.waits_for = Some(name.clone().unwrap_or_else(|| prompt.as_ref().into()));
            }
            What::InputGiven { .. } => self.waits_for = None,
            What::MemoryAwaited { request, agent } => {
                self.memories_awaited.insert(*request, agent.clone());
            }
            What::MemoryAcquired { request } => {
                self.memories_awaited.remove(request);
            }
            What::Caught { .. } => self.failing.clear(),
            What::RunEnded(end) => {
                self.stop_all();
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
                    let open = Open { span, since: event.active_at(), result: String::new() };
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
        let took = event.active_at().saturating_sub(since);
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
    pub(crate) fn stop_all(&mut self) {
        self.waits_for = None;
        self.memories_awaited.clear();
        self.stop(&Place::root());
    }

    /// What is still open at a place or below it will not go on.
    fn stop(&mut self, place: &Place) {
        let is_there = |other: &Place| {
            let below = other.as_str().strip_prefix(place.as_str());
            place.as_str().is_empty() || below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.sessions_under_way.retain(|_, at| !is_there(at));
        for (_, open) in self.open.extract_if(|at, _| is_there(at)) {
            if let Some(statement) = self.statements.get_mut(&open.span) {
                statement.running = statement.running.saturating_sub(1);
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

    /// What to show behind each line in which an executed statement starts. Of several in a line that is how the outermost one goes.
    pub(crate) fn marks(&self) -> BTreeMap<u32, String> {
        self.statements.iter().map(|(span, statement)| (span.first, statement.mark())).collect()
    }

    /// How far the run has come, in a line.
    pub(crate) fn progress(&self) -> String {
        let done = counted(self.sessions_done);
        if let Some(name) = &self.waits_for {
            return format!("{done} done; waits for the input `{name}`");
        }
        if let Some(agent) = self.memories_awaited.values().next()
            && self.sessions_under_way.is_empty()
        {
            return format!("{done} done; waits for the memory of {agent}, which another run is using");
        }
        let under_way = match self.sessions_under_way.len() {
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

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde_json::{Value, json};

    use super::*;

    /// What stands behind the lines of a program, and how far it has come, after some events. Each is its time, its place, its lines and what happened.
    #[track_caller]
    fn check(events: &[(u64, &str, (u32, u32), Value)], expected: Expect) {
        let trace = traced(events);
        let mut shown: String =
            trace.marks().iter().map(|(line, mark)| format!("{line}: {mark}\n")).collect();
        shown += &format!("{}\n", trace.progress());
        if let Some(Failed { span, message }) = trace.failure() {
            shown += &format!("failed in {} to {}: {message}\n", span.first, span.last);
        }
        expected.assert_eq(&shown);
    }

    fn traced(events: &[(u64, &str, (u32, u32), Value)]) -> Trace {
        let mut trace = Trace::default();
        for (number, (at, place, (line, last_line), what)) in events.iter().enumerate() {
            let mut event = what.clone();
            event["seq"] = json!(number + 1);
            event["at"] = json!(at);
            event["place"] = json!(place);
            event["site"] = json!({ "start": 0, "end": 0, "line": line, "last_line": last_line });
            if let Some(program) = what.get("of_program") {
                event["site"]["program"] = program.clone();
            }
            trace.tell(&serde_json::from_value(event).unwrap());
        }
        trace
    }

    fn started(source: &str) -> Value {
        json!({ "event": "statement-started", "number": null, "source": source, "kind": "session" })
    }

    fn ended(status: &str) -> Value {
        json!({ "event": "statement-ended", "status": status, "error": null })
    }

    fn error(message: &str, line: u32) -> Value {
        json!({ "kind": "session", "message": message, "line": line })
    }

    fn failed(message: &str, line: u32) -> Value {
        json!({ "event": "statement-ended", "status": "failed", "error": error(message, line) })
    }

    fn run_failed(message: &str, line: u32) -> Value {
        let error = error(message, line);
        json!({ "event": "run-ended", "status": "failed", "outputs": [], "value": null, "error": error, "sessions": 1 })
    }

    fn session_started(request: u32) -> Value {
        let binding = json!({ "name": "a", "kind": "let", "path": "a.md", "source": "" });
        json!({ "event": "session-started", "request": request, "task": { "task": "x", "prompt": "x", "binding": binding } })
    }

    fn session_ended(request: u32) -> Value {
        json!({ "event": "session-ended", "request": request, "status": "complete", "error": null })
    }

    #[test]
    fn a_statement_that_runs_several_times_at_once_runs_until_the_last_one_has_ended() {
        let mut events = vec![
            (0, "s1", (2, 3), started("parallel for x in xs")),
            (0, "s1/b0/1", (3, 3), started("session \"a\"")),
            (0, "s1/b0/1", (3, 3), session_started(1)),
            (0, "s1/b1/1", (3, 3), started("session \"a\"")),
            (0, "s1/b1/1", (3, 3), session_started(2)),
        ];
        check(
            &events,
            expect![[r#"
            1: ⟳ running
            2: ⟳ 2 running
            0 sessions done, 2 running: session "a"
        "#]],
        );
        events.push((1200, "s1/b0/1", (3, 3), session_ended(1)));
        events.push((1200, "s1/b0/1", (3, 3), ended("complete")));
        check(
            &events,
            expect![[r#"
            1: ⟳ running
            2: ⟳ running
            1 session done, 1 running: session "a"
        "#]],
        );
        events.push((63_000, "s1/b1/1", (3, 3), session_ended(2)));
        events.push((63_000, "s1/b1/1", (3, 3), ended("complete")));
        events.push((63_000, "s1", (2, 3), ended("complete")));
        check(
            &events,
            expect![[r#"
            1: ✓ 1 m 3 s
            2: ✓ 1 m 3 s, 2×
            2 sessions done: session "a"
        "#]],
        );
    }

    #[test]
    fn a_branch_that_nobody_waits_for_any_more_is_stopped() {
        let skipped =
            json!({ "event": "branch-ended", "index": 1, "name": "b", "status": "skipped", "value": null });
        check(
            &[
                (0, "s1", (1, 13), started("parallel (\"first\")")),
                (0, "s1/b1", (2, 3), started("do")),
                (0, "s1/b1/1", (3, 3), started("session \"b\"")),
                (0, "s1/b1/1", (3, 3), session_started(1)),
                (0, "s1/b11", (13, 13), started("session \"l\"")),
                (0, "s1/b11", (13, 13), session_started(2)),
                (0, "s1/b1", (1, 13), skipped),
            ],
            expect![[r#"
                0: ⟳ running
                1: ■ stopped
                2: ■ stopped
                12: ⟳ running
                0 sessions done, 1 running: session "l"
            "#]],
        );
    }

    #[test]
    fn an_error_that_was_caught_is_not_why_the_run_failed() {
        check(
            &[
                (0, "s1", (1, 5), started("try")),
                (0, "s1/try/1", (2, 2), started("session \"a\"")),
                (0, "s1/try/1", (2, 2), failed("gone", 2)),
                (0, "s1", (1, 5), json!({ "event": "caught", "name": null, "error": error("gone", 2) })),
                (0, "s1/catch/2", (4, 5), started("if **x**")),
                (0, "s1/catch/2/1", (5, 5), started("session \"b\"")),
                (0, "s1/catch/2/1", (5, 5), failed("gone", 2)),
                (0, "s1/catch/2", (4, 5), failed("gone", 2)),
                (0, "s1", (1, 5), failed("gone", 2)),
                (0, "", (0, 0), run_failed("gone", 2)),
            ],
            expect![[r#"
                0: ✗ 0 ms  gone
                1: ✗ 0 ms  gone
                3: ✗ 0 ms  gone
                4: ✗ 0 ms  gone
                0 sessions done: session "b"
                failed in 4 to 4: gone
            "#]],
        );
    }

    #[test]
    fn a_failure_in_an_imported_program_is_one_of_its_call() {
        let mut inside = started("session \"far away\"");
        inside["of_program"] = json!(1);
        let mut breaks = failed("gone", 70);
        breaks["of_program"] = json!(1);
        check(
            &[
                (0, "s1", (4, 4), started("other()")),
                (0, "s1/p1/s0", (70, 70), inside),
                (0, "s1/p1/s0", (70, 70), breaks),
                (0, "s1", (4, 4), failed("in other: gone", 4)),
                (0, "", (0, 0), run_failed("in other: gone", 4)),
            ],
            expect![[r#"
                3: ✗ 0 ms  in other: gone
                0 sessions done: session "far away"
                failed in 3 to 3: in other: gone
            "#]],
        );
    }

    #[test]
    fn what_is_open_when_a_run_ends_was_stopped() {
        let end = json!({ "event": "run-ended", "status": "interrupted", "outputs": [], "value": null, "error": null, "sessions": 1 });
        let asked = json!({ "event": "input-asked", "request": 1, "name": "topic", "prompt": "What?" });
        let mut events = vec![(0, "s1", (1, 1), started("input topic: \"What?\"")), (0, "s1", (1, 1), asked)];
        check(
            &events,
            expect![[r#"
            0: ⟳ running
            0 sessions done; waits for the input `topic`
        "#]],
        );
        events.push((9, "", (0, 0), end));
        check(
            &events,
            expect![[r#"
            0: ■ stopped
            0 sessions done: input topic: "What?"
        "#]],
        );
    }

    #[test]
    fn times_are_told_as_people_do() {
        let times = [0, 99, 100, 1_249, 59_949, 59_950, 190_400, 3_599_499, 3_599_500, 7_500_000];
        let shown: Vec<String> = times.into_iter().map(duration).collect();
        expect!["0 ms, 99 ms, 0.1 s, 1.2 s, 59.9 s, 1 m 0 s, 3 m 10 s, 59 m 59 s, 1 h 0 m, 2 h 5 m"]
            .assert_eq(&shown.join(", "));
    }
}
