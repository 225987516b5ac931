//! `prose outdated`: lists pinned programs that have changed.

use std::io::{self, Write};

use futures_util::future::join_all;
use prose_project::imports::{ImportOptions, LockUse, Update, block_on};
use prose_registry::{Freshness, Importer, LOCK_FILE, Outcome, Pin, Reference};

use crate::cli::OutdatedArgs;
use crate::gather::Gathered;
use crate::status::Status;
use crate::terminal::{ERROR, Terminal, counted, one_line};

/// Fetches the current texts of all pinned programs.
pub(crate) fn run(args: &OutdatedArgs, terminal: &Terminal) -> io::Result<Status> {
    // All pins are updated, so that none rejects a current text.
    let options =
        ImportOptions { past_vendor: true, lock: LockUse::Kept(Update::All), ..ImportOptions::default() };
    let mut gathered = Gathered::new(&args.paths, Vec::new(), options);
    let mut asking = Vec::new();
    for project in gathered.projects() {
        let Some(lock) = &project.lock else {
            gathered.fail(&project.lock_path, "does not exist; create it with `prose lock`");
            continue;
        };
        let Some(client) = project.client(&project.registry) else { continue };
        for pin in lock.pins().cloned() {
            let Ok(reference) = Reference::parse(&pin.reference) else {
                gathered.fail(
                    &project.lock_path,
                    format!("contains `{}`, which is not a reference to a program", pin.reference),
                );
                continue;
            };
            let client = client.clone();
            asking.push(
                async move { (pin, client.get(&reference, &Importer::Workspace, Freshness::Now).await) },
            );
        }
    }
    let asked = block_on(join_all(asking))?;
    let count = asked.len();
    let mut outdated = 0;
    let mut stdout = terminal.stdout();
    for (pin, outcome) in asked {
        match &outcome.result {
            Ok(found) if pin.is_outdated(&found.program) => {
                outdated += 1;
                writeln!(stdout, "{}", one_line(&changed(&pin, &outcome)))?;
            }
            Ok(_) => {}
            Err(_) => {
                outdated += 1;
                writeln!(terminal.stderr(), "{ERROR}error{ERROR:#}: {}", one_line(&outcome.to_string()))?;
            }
        }
    }
    stdout.flush()?;
    if gathered.report(terminal)? {
        return Ok(Status::Trouble);
    }
    if outdated == 0 {
        writeln!(
            terminal.stderr(),
            "{} as {LOCK_FILE} has {}.",
            counted(count, "program"),
            if count == 1 { "it" } else { "them" }
        )?;
        return Ok(Status::Clean);
    }
    Ok(Status::ErrorsFound)
}

fn changed(pin: &Pin, outcome: &Outcome) -> String {
    let now = outcome.program().map(|program| program.source.sha256.to_string()).unwrap_or_default();
    format!(
        "`{0}` has changed: SHA-256 {1:.12}, pinned on {2} with {3:.12}; update it with `prose lock --update={0}`",
        pin.reference,
        now,
        pin.time,
        pin.sha256.to_string()
    )
}
