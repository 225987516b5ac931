//! The statements of a run as inlay hints and progress show them.

use std::collections::BTreeMap;

use prose_syntax::text::counted;
use prose_view::{Outcome, Statement, View, duration, usage_text};
use prose_vm::effect::Usage;
use prose_vm::place::Site;

/// How much of a result is kept. More than that is read in its file.
const MAX_SHOWN: usize = 60;

/// The lines of a statement in the text that the run was started with, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Span {
    pub(crate) first: u32,
    pub(crate) last: u32,
}

/// Where and why a run failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failed {
    pub(crate) span: Span,
    pub(crate) message: String,
}

impl Failed {
    /// Where and why a run failed, if it did.
    pub(crate) fn of(view: &View) -> Option<Self> {
        let failure = view.failure()?;
        Some(Self { span: span(failure.site)?, message: failure.error.to_string() })
    }
}

/// What to show after each line in which an executed statement starts. Of several in a line that is how the outermost one goes.
pub(crate) fn marks(view: &View) -> BTreeMap<u32, String> {
    let mut spans: BTreeMap<Span, Vec<&Statement>> = BTreeMap::new();
    for statement in view.statements(0) {
        if let Some(span) = span(statement.site) {
            spans.entry(span).or_default().push(statement);
        }
    }
    let mut doing: BTreeMap<Span, Vec<String>> = BTreeMap::new();
    for (_, node, _) in view.open_sessions() {
        let site = view.node(node).and_then(|node| node.site);
        if let (Some(span), Some(activity)) = (site.and_then(span), view.activity(node)) {
            let parts = [first_line(&activity.summary(view.now())), activity.counted_calls()];
            let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            doing.entry(span).or_default().push(parts.join(" · "));
        }
    }
    let mut denied: BTreeMap<Span, usize> = BTreeMap::new();
    for (_, node) in view.denied() {
        let attempts = node.session().map(|session| &session.attempts[..]).unwrap_or_default();
        if let Some(span) = node.site.and_then(span) {
            *denied.entry(span).or_default() +=
                attempts.iter().map(|attempt| attempt.denials.len()).sum::<usize>();
        }
    }
    let spent: BTreeMap<Span, Usage> = spans
        .iter()
        .filter_map(|(span, statements)| {
            // Of several statements with the same lines, the outermost one has what the others have used.
            let usages = statements.iter().filter_map(|statement| statement.usage);
            Some((*span, usages.reduce(Usage::at_least)?))
        })
        .collect();
    let shown = |(span, statements): (Span, Vec<&Statement>)| {
        let mut mark = match doing.get(&span).map(Vec::as_slice) {
            Some([doing]) if !doing.is_empty() => format!("⟳ {doing}"),
            _ => mark(&statements),
        };
        if let Some(usage) = spent.get(&span) {
            mark += &format!(" · {}", usage_text(*usage));
        }
        match denied.get(&span) {
            None | Some(0) => {}
            Some(1) => mark += "  ⚠ 1 tool call denied",
            Some(count) => mark += &format!("  ⚠ {count} tool calls denied"),
        }
        (span.first, mark)
    };
    spans.into_iter().map(shown).collect()
}

/// The progress of a run, in a line.
pub(crate) fn progress(view: &View) -> String {
    let done = counted(view.sessions_ended() as usize, "session");
    if let Some(input) = view.awaited_inputs().next_back() {
        let name = if input.label.is_empty() { &input.detail } else { &input.label };
        return format!("{done} done; waits for the input `{name}`");
    }
    let running = view.open_sessions().count();
    if let Some(agent) = view.awaited_memories().next()
        && running == 0
    {
        return format!("{done} done; waiting for the memory of {agent}, which another run is using");
    }
    let running = if running == 0 { String::new() } else { format!(", {running} running") };
    if let Some(pause) = view.pause() {
        return format!("paused {}: {done} done{running}", pause.by);
    }
    let usage = view.root().and_then(|root| root.usage);
    let usage = usage.map_or_else(String::new, |usage| format!(", {}", usage_text(usage)));
    let current = view.current().map_or_else(String::new, |source| format!(": {}", first_line(source)));
    format!("{done} done{running}{usage}{current}")
}

/// How the statements with the same lines go.
fn mark(statements: &[&Statement]) -> String {
    let running: u32 = statements.iter().map(|statement| statement.running).sum();
    let ended: u32 = statements.iter().map(|statement| statement.ended).sum();
    let last = statements.iter().max_by_key(|statement| statement.ended_at);
    match (running, last.and_then(|statement| statement.outcome.as_ref())) {
        (1, _) => "⟳ running".to_owned(),
        (2.., _) => format!("⟳ {running} running"),
        (0, None) => String::new(),
        (0, Some(Outcome::Done { took, value })) => ended_mark('✓', *took, ended, value),
        (0, Some(Outcome::Failed { took, error })) => {
            let error = error.as_ref().map_or_else(String::new, |error| error.to_string());
            ended_mark('✗', *took, ended, &error)
        }
        (0, Some(Outcome::Stopped)) => "■ stopped".to_owned(),
    }
}

fn ended_mark(sign: char, took: u64, times: u32, text: &str) -> String {
    let times = if times > 1 { format!(", {times}×") } else { String::new() };
    format!("{sign} {}{times}  {}", duration(took), first_line(text)).trim_end().to_owned()
}

/// The lines of a part of the program of the run. Those of imported programs are not in its document.
fn span(site: Site) -> Option<Span> {
    let is_shown = site.program == 0 && site.line > 0;
    is_shown.then(|| Span { first: site.line - 1, last: site.last_line.max(site.line) - 1 })
}

fn first_line(text: &str) -> String {
    let text = text.trim_start();
    let line = text.lines().next().unwrap_or_default();
    let mut chars = line.chars();
    let mut shown: String = chars.by_ref().take(MAX_SHOWN).collect();
    if chars.next().is_some() || text.trim_end().len() > line.len() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde_json::{Value, json};

    use super::*;

    /// What comes after the lines of a program, and how far it has come, after some events. Each is its time, its place, its lines and what happened.
    #[track_caller]
    fn check(events: &[(u64, &str, (u32, u32), Value)], expected: Expect) {
        let view = view(events);
        let mut shown: String = marks(&view).iter().map(|(line, mark)| format!("{line}: {mark}\n")).collect();
        shown += &format!("{}\n", progress(&view));
        if let Some(Failed { span, message }) = Failed::of(&view) {
            shown += &format!("failed in {} to {}: {message}\n", span.first, span.last);
        }
        expected.assert_eq(&shown);
    }

    fn view(events: &[(u64, &str, (u32, u32), Value)]) -> View {
        let mut view = View::default();
        for (number, (at, place, (line, last_line), what)) in events.iter().enumerate() {
            let mut event = what.clone();
            event["seq"] = json!(number + 1);
            event["at"] = json!(at);
            event["place"] = json!(place);
            event["site"] = json!({ "start": 0, "end": 0, "line": line, "last_line": last_line });
            if let Some(program) = what.get("of_program") {
                event["site"]["program"] = program.clone();
            }
            view.apply(&serde_json::from_value(event).unwrap());
        }
        view
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
