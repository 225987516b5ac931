//! `prose update`: brings the files of earlier versions to where they belong now (R123, R124).

use std::io::{self, Write};

use prose_state::migration::Migration;

use crate::run::project::present_project;
use crate::status::Status;
use crate::terminal::{ERROR, Terminal, WARNING, one_line};

/// Migrates the project of the present folder, and says what was done in the words of the language's own tools.
pub(crate) fn run(terminal: &Terminal) -> io::Result<Status> {
    let done = match present_project().migrate() {
        Ok(done) => done,
        Err(error) => {
            writeln!(terminal.stderr(), "{ERROR}error{ERROR:#}: {}", one_line(&error.to_string()))?;
            return Ok(Status::Trouble);
        }
    };
    let Migration { settings, runs, agents, restricted, left } = done;
    let private = format!("Made {} private", counted_entries(restricted.changed));
    let mut out = terminal.stdout();
    if settings || runs || agents || restricted.changed > 0 {
        writeln!(out, "🔄 Migrating OpenProse workspace...")?;
        let steps = [
            (settings, "Converted .prose/state.json → .prose/.env"),
            (runs, "Renamed .prose/execution/ → .prose/runs/"),
            (agents, "Created .prose/agents/"),
            (restricted.changed > 0, private.as_str()),
        ];
        for (_, step) in steps.iter().filter(|(is_done, _)| *is_done) {
            writeln!(out, "  ✓ {step}")?;
        }
        writeln!(out, "✅ Migration complete. Your workspace is up to date.")?;
    } else if left.is_empty() {
        writeln!(out, "✅ Workspace already up to date. No migration needed.")?;
    }
    out.flush()?;
    if restricted.left > 0 {
        writeln!(
            terminal.stderr(),
            "{WARNING}warning{WARNING:#}: {} in `.prose` remain accessible to other users, since another user owns them",
            counted_entries(restricted.left)
        )?;
    }
    for path in &left {
        writeln!(
            terminal.stderr(),
            "{WARNING}warning{WARNING:#}: `{}` is not moved, since `.prose/runs` already has an entry of that name",
            one_line(&path.to_string_lossy())
        )?;
    }
    Ok(Status::Clean)
}

fn counted_entries(count: usize) -> String {
    if count == 1 { "1 file or folder".to_owned() } else { format!("{count} files and folders") }
}
