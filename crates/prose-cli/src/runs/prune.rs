//! `prose runs prune`: removes runs that nobody needs any more.

use std::io::{self, IsTerminal, Write};
use std::time::{SystemTime, UNIX_EPOCH};

use prose_run::Project;
use prose_state::prune::{PruneRules, Pruned};
use prose_state::runs::RunSummary;

use crate::cli::runs::PruneArgs;
use crate::command_error::CommandError;
use crate::keyboard::says_yes;
use crate::status::Status;
use crate::terminal::{BOLD, ERROR, HELP, Terminal, counted, one_line};

/// Removes the runs that the rules select, after a confirmation.
pub(super) fn prune(
    project: &Project,
    args: &PruneArgs,
    terminal: &Terminal,
) -> Result<Status, CommandError> {
    let rules = PruneRules { older: args.older, failed: args.failed, keep: args.keep.unwrap_or(0) };
    let Pruned { removed, kept } = project.prunable(&rules, SystemTime::now())?;
    let mut stderr = terminal.stderr();
    for (run, why) in &kept {
        writeln!(stderr, "{BOLD}{}{BOLD:#} stays: {why}", run.id)?;
    }
    if removed.is_empty() {
        writeln!(stderr, "There is no run to remove.")?;
        return Ok(Status::Clean);
    }
    let is_asked = !args.yes && !args.dry_run;
    if args.dry_run || is_asked {
        let mut out = terminal.stdout();
        removed.iter().try_for_each(|run| writeln!(out, "{}", line(run)))?;
        out.flush()?;
    }
    let runs = counted(removed.len(), "run");
    if args.dry_run {
        writeln!(stderr, "Would remove {runs} with all their files.")?;
        return Ok(Status::Clean);
    }
    if is_asked {
        if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
            let message = format!("removing {runs} needs a confirmation; pass `--yes`");
            return Err(CommandError::Message(message));
        }
        write!(stderr, "{HELP}Remove {runs} with all their files?{HELP:#} [y/N] ")?;
        stderr.flush()?;
        if !says_yes(false)? {
            writeln!(stderr, "Nothing was removed.")?;
            return Ok(Status::Clean);
        }
    }
    let mut status = Status::Clean;
    for run in &removed {
        // A process may have begun to execute it since.
        match project.remove_run(&run.id) {
            Ok(()) => {
                prose_run::forget_trees(&project.root, &run.folder);
                writeln!(terminal.stdout(), "removed {}", run.id)?;
            }
            Err(error) => {
                let error = error.to_string();
                writeln!(stderr, "{ERROR}error{ERROR:#}: run {}: {}", run.id, one_line(&error))?;
                status = Status::Trouble;
            }
        }
    }
    Ok(status)
}

/// A run with its status, its age and its program.
fn line(run: &RunSummary) -> String {
    let age = run.last.or(run.started).and_then(|at| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
        Some(age(now.as_secs().saturating_sub(at / 1000)))
    });
    let title = run.title().unwrap_or_else(|| "?".to_owned());
    let age = age.unwrap_or_default();
    format!("{BOLD}{}{BOLD:#}  {}  {age}  {}", run.id, run.status.name(), one_line(&title))
}

/// How long ago something was, in its largest unit.
fn age(seconds: u64) -> String {
    let (count, unit) = match seconds {
        0..60 => return "just now".to_owned(),
        60..3_600 => (seconds / 60, "minute"),
        3_600..86_400 => (seconds / 3_600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    format!("{} ago", counted(count as usize, unit))
}
