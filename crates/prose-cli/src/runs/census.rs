//! The census of a run.

use std::io::{self, Write};

use prose_state::runs::RunState;
use prose_view::{Census, View, usage_text};
use prose_vm::event::RunEnd;

use super::agents;
use crate::run::printed::shown;
use crate::terminal::{BOLD, ERROR, WARNING, counted};

/// The most failures and missing results that are listed, unless all are asked for.
pub(crate) const MAX_LISTED: usize = 10;

/// Writes the block at the end of a run: what became of its sessions, what it used, and which failures its program handled.
pub(crate) fn write_end(end: &RunEnd, view: &View, out: &mut impl Write) -> io::Result<()> {
    let census = view.census();
    let usage = end.usage.map(usage_text);
    let facts: Vec<String> =
        [Some(census.summary()).filter(|summary| !summary.is_empty()), usage].into_iter().flatten().collect();
    if facts.is_empty() && census.failures.is_empty() {
        return Ok(());
    }
    let facts = if facts.is_empty() { String::new() } else { format!(": {}", facts.join("; ")) };
    match RunState::of(end) {
        RunState::CompletedWithFailures => {
            let failures = counted(census.failures.len(), "failure");
            writeln!(out, "{WARNING}Completed with {failures}{WARNING:#}{facts}")?;
        }
        RunState::Failed => writeln!(out, "{ERROR}Failed{ERROR:#}{facts}")?,
        RunState::Interrupted => writeln!(out, "{WARNING}Stopped{WARNING:#}{facts}")?,
        RunState::Waiting => writeln!(out, "{WARNING}Waiting{WARNING:#}{facts}")?,
        _ => writeln!(out, "Completed{facts}")?,
    }
    for agent in agents::of_several(view) {
        writeln!(out, "  {agent}")?;
    }
    write_details(&census, MAX_LISTED, out)
}

/// Writes the census of a run as a section; nothing if there is nothing to count.
pub(super) fn write(census: &Census, max: usize, out: &mut impl Write) -> io::Result<()> {
    let summary = census.summary();
    if summary.is_empty() && census.failures.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{BOLD}census{BOLD:#}")?;
    if !summary.is_empty() {
        writeln!(out, "  {summary}")?;
    }
    write_details(census, max, out)
}

fn write_details(census: &Census, max: usize, out: &mut impl Write) -> io::Result<()> {
    census.details(max).iter().try_for_each(|line| writeln!(out, "  {}", shown(line)))
}
