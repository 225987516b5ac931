//! `prose outdated`: which pinned programs have another text now.

use std::io::{self, Write};

use futures_util::future::join_all;
use prose_project::imports::{ImportOptions, LockUse, Update, block_on};
use prose_registry::{Freshness, Importer, LOCK_FILE, Outcome, Pin, Reference};

use crate::cli::OutdatedArgs;
use crate::gather::Gathered;
use crate::status::Status;
use crate::terminal::{ERROR, Terminal, counted, one_line};

/// Asks the hosts of all that is pinned.
pub(crate) fn run(args: &OutdatedArgs, terminal: &Terminal) -> io::Result<Status> {
    // All is to be renewed, so nothing that is pinned stands in the way of what the hosts have.
    let options =
        ImportOptions { past_vendor: true, lock: LockUse::Kept(Update::All), ..ImportOptions::default() };
    let mut gathered = Gathered::new(&args.paths, Vec::new(), options);
    let mut asking = Vec::new();
    for project in gathered.projects() {
        let Some(lock) = &project.lock else {
            gathered.fail(&project.lock_path, "does not exist; `prose lock` writes it");
            continue;
        };
        let Some(client) = project.client(&project.registry) else { continue };
        for pin in lock.pins().cloned() {
            let Ok(reference) = Reference::parse(&pin.reference) else {
                gathered.fail(&project.lock_path, format!("names `{}`, which is no program", pin.reference));
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
    if gathered.tell(terminal)? {
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
        "`{0}` has another text now: SHA-256 {1:.12}, pinned on {2} was {3:.12}; `prose lock --update={0}` takes it",
        pin.reference,
        now,
        pin.time,
        pin.sha256.to_string()
    )
}
