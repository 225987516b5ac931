//! What each agent of a run has used.

use std::io::{self, Write};

use prose_view::{AgentKey, View, usage_text};

use crate::terminal::{BOLD, counted, one_line};

/// Writes a table of the agents of a run; nothing if none of them reported usage.
pub(super) fn write(view: &View, out: &mut impl Write) -> io::Result<()> {
    let rows = rows(view);
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{BOLD}agents{BOLD:#}")?;
    rows.iter().try_for_each(|row| writeln!(out, "  {row}"))
}

/// What each of several agents has used, in lines; empty if there are not several.
pub(crate) fn of_several(view: &View) -> Vec<String> {
    let rows = rows(view);
    if rows.len() > 1 { rows } else { Vec::new() }
}

fn rows(view: &View) -> Vec<String> {
    if view.agents().all(|agent| agent.usage.is_none()) {
        return Vec::new();
    }
    let cells = view.agents().map(|agent| {
        let what = if agent.key == AgentKey::Decisions { "decision" } else { "session" };
        let usage = agent.usage.map_or_else(|| "no usage reported".to_owned(), usage_text);
        [one_line(agent.name()).into_owned(), counted(agent.requests as usize, what), usage]
    });
    let cells: Vec<[String; 3]> = cells.collect();
    let width = |column: usize| cells.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let (first, second) = (width(0), width(1));
    cells
        .iter()
        .map(|[agent, requests, usage]| format!("{agent:first$}  {requests:second$}  {usage}"))
        .collect()
}
