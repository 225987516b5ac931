//! `prose runs diff`: two runs next to each other.

use std::io::{self, IsTerminal, Write};

use prose_run::{Project, recorded_run};
use prose_view::{Comparison, Difference, Pair, RunTotals, Step, compare, duration, usage_text};
use prose_vm::event::{Event, RunStatus};

use crate::command_error::CommandError;
use crate::output::diff::{DiffTarget, render_between};
use crate::run::printed;
use crate::runs::portable::warn_of_damage;
use crate::status::Status;
use crate::terminal::{BOLD, Terminal, counted, first_line, one_line};

/// The most lines of one text that are shown, unless everything is asked for.
const MAX_LINES: usize = 40;

/// Writes the differences. The status says whether there are any, as that of `diff` does.
pub(crate) fn diff(
    project: &Project,
    [a, b]: [&str; 2],
    is_json: bool,
    shows_all: bool,
    terminal: &Terminal,
) -> Result<Status, CommandError> {
    for name in [a, b] {
        warn_of_damage(&recorded_run(project, name)?, terminal)?;
    }
    let comparison = compare(events(project, a)?, events(project, b)?);
    let status = match comparison.differences().next() {
        Some(_) => Status::ErrorsFound,
        None => Status::Clean,
    };
    let mut out = terminal.stdout();
    if is_json {
        serde_json::to_writer_pretty(&mut out, &comparison).map_err(io::Error::from)?;
        writeln!(out)?;
        return Ok(status);
    }
    write(&comparison, shows_all, terminal, &mut out)?;
    Ok(status)
}

/// The events of a run, up to the line that is being written if its process is at work.
fn events(project: &Project, name: &str) -> Result<impl Iterator<Item = Event>, CommandError> {
    Ok(recorded_run(project, name)?.events()?.map_while(Result::ok))
}

fn write(
    comparison: &Comparison,
    shows_all: bool,
    terminal: &Terminal,
    out: &mut impl Write,
) -> io::Result<()> {
    for (sign, run) in [("---", &comparison.a), ("+++", &comparison.b)] {
        writeln!(out, "{BOLD}{sign} {}{BOLD:#}  {}", run.run, totals(run))?;
    }
    let look = DiffTarget { styled: terminal.stdout_is_styled(), on_terminal: io::stdout().is_terminal() };
    let mut same = 0;
    for pair in &comparison.steps {
        match (&pair.a, &pair.b) {
            (Some(a), Some(b)) if pair.is_different() => {
                write_same(&mut same, out)?;
                writeln!(out, "\n{BOLD}{}{BOLD:#}{}", title(a), moved(pair, b))?;
                for (part, name, old, new) in [
                    (Difference::Asked, "asked", &a.asked, &b.asked),
                    (Difference::Result, "result", &a.result, &b.result),
                ] {
                    if pair.differs.contains(&part) {
                        write_texts(name, old, new, shows_all, look, out)?;
                    }
                }
                if let Some(used) = used(pair) {
                    writeln!(out, "{used}")?;
                }
            }
            (Some(_), Some(_)) => same += 1,
            (Some(step), None) | (None, Some(step)) => {
                write_same(&mut same, out)?;
                let only = if pair.a.is_some() { &comparison.a.run } else { &comparison.b.run };
                writeln!(out, "\n{BOLD}{}{BOLD:#}  only in {only}", title(step))?;
                for (name, text) in [("asked", &step.asked), ("result", &step.result)] {
                    if !text.is_empty() {
                        writeln!(out, "{name}: {}", first_line(text))?;
                    }
                }
            }
            (None, None) => {}
        }
    }
    write_same(&mut same, out)?;
    let differences = comparison.differences().count();
    match differences {
        0 => writeln!(terminal.stderr(), "No difference in what was asked and what came of it."),
        count => writeln!(terminal.stderr(), "{}.", counted(count, "difference")),
    }
}

fn write_same(same: &mut usize, out: &mut impl Write) -> io::Result<()> {
    if *same > 0 {
        writeln!(out, "\n{} the same", counted(*same, "step"))?;
        *same = 0;
    }
    Ok(())
}

fn totals(run: &RunTotals) -> String {
    let status = match run.status {
        Some(RunStatus::Completed) => "completed",
        Some(RunStatus::Failed) => "failed",
        Some(RunStatus::Interrupted) => "interrupted",
        Some(RunStatus::Waiting) => "waiting",
        None => "not ended",
    };
    let used = run.usage.map_or(String::new(), |usage| format!(", {}", usage_text(usage)));
    format!(
        "{}: {status}, {}, {}{used}, {}",
        one_line(&run.program),
        counted(run.sessions as usize, "session"),
        counted(run.decisions as usize, "decision"),
        duration(run.took)
    )
}

/// `session writer at line 4 (s2)`
fn title(step: &Step) -> String {
    let kind = match step.kind.as_str() {
        "judge" => "condition",
        "choose" => "choice",
        kind => kind,
    };
    let agent = step.agent.as_ref().map_or(String::new(), |agent| format!(" {agent}"));
    let name = if step.kind == "output" { format!(" {}", step.asked) } else { String::new() };
    format!("{kind}{agent}{name}{}", at(step))
}

/// ` at line 4 (s2)`; nothing for what belongs to no statement.
fn at(step: &Step) -> String {
    let place = if step.place.as_str().is_empty() { String::new() } else { format!(" ({})", step.place) };
    step.named_line().map_or(place.clone(), |line| format!(" at {line}{place}"))
}

fn moved(pair: &Pair, b: &Step) -> String {
    match pair.differs.contains(&Difference::Place) {
        true => format!("  now{}", at(b)),
        false => String::new(),
    }
}

/// Short texts in a line each, others as a diff.
fn write_texts(
    name: &str,
    old: &str,
    new: &str,
    shows_all: bool,
    look: DiffTarget,
    out: &mut impl Write,
) -> io::Result<()> {
    let is_short = |text: &str| text.lines().count() <= 1;
    if old == new {
        return writeln!(out, "{name}: other values or another context");
    }
    if is_short(old) && is_short(new) {
        writeln!(out, "{name}: {}", printed::shown(old))?;
        return writeln!(out, "{:width$}  {}", "now", printed::shown(new), width = name.len());
    }
    let rendered = render_between([name, name], &ended(old), &ended(new), look);
    let lines: Vec<&str> = rendered.lines().skip(2).collect();
    let shown = if shows_all { lines.len() } else { lines.len().min(MAX_LINES) };
    writeln!(out, "{name}:")?;
    lines[..shown].iter().try_for_each(|line| writeln!(out, "{line}"))?;
    match lines.len() - shown {
        0 => Ok(()),
        more => writeln!(out, "{} more; pass `--all`", counted(more, "line")),
    }
}

/// A text with a line break at its end, whose lack is no difference.
fn ended(text: &str) -> String {
    if text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") }
}

/// What both used, if that differs.
fn used(pair: &Pair) -> Option<String> {
    let (a, b) = (pair.a.as_ref()?, pair.b.as_ref()?);
    if !pair.differs.contains(&Difference::Usage) {
        return None;
    }
    let text = |step: &Step| step.usage.map_or("nothing reported".to_owned(), usage_text);
    Some(format!("used: {}, now {}", text(a), text(b)))
}
