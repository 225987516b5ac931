//! `prose lock`: pins the texts of a project's imports.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use futures_util::future::join_all;
use prose_project::files::{identity, shown};
use prose_project::imports::{self, ImportOptions, LockUse, Update, block_on, commit};
use prose_registry::{Client, LOCK_FILE, Lock, Outcome, Pin, Reference, Visited};

use crate::cli::LockArgs;
use crate::gather::{Gathered, Walked};
use crate::status::Status;
use crate::terminal::{ERROR, Terminal, counted, one_line};

/// Updates the lock files of the projects and reports the changes.
pub(crate) fn run(args: &LockArgs, terminal: &Terminal) -> io::Result<Status> {
    let update = match update(args.update.as_deref()) {
        Ok(update) => update,
        Err(message) => {
            writeln!(terminal.stderr(), "{ERROR}error{ERROR:#}: {}", one_line(&message))?;
            return Ok(Status::Trouble);
        }
    };
    let options =
        ImportOptions { past_vendor: true, lock: LockUse::Kept(update.clone()), ..ImportOptions::default() };
    let mut gathered = Gathered::new(&args.paths, Vec::new(), options);
    if gathered.report(terminal)? {
        // An unreadable lock file must not be overwritten.
        return Ok(Status::Trouble);
    }
    if let Update::These(references) = &update {
        let projects = gathered.projects();
        let is_known = |reference: &&String| {
            projects.iter().filter_map(|project| project.lock.as_ref()).any(|lock| names(lock, reference))
        };
        if let Some(unknown) = references.iter().find(|reference| !is_known(reference)) {
            let message = format!("`{unknown}` is not in {LOCK_FILE}; add new imports with `prose lock`");
            writeln!(terminal.stderr(), "{ERROR}error{ERROR:#}: {}", one_line(&message))?;
            return Ok(Status::Trouble);
        }
    }
    let mut stdout = terminal.stdout();
    let mut status = Status::Clean;
    for Walked { project, programs } in gathered.walk() {
        let path = &project.lock_path;
        let name = shown(path).to_string_lossy().into_owned();
        let name = one_line(&name);
        let failed: Vec<&Outcome> = programs
            .iter()
            .map(|(_, visited)| &visited.outcome)
            .filter(|outcome| outcome.result.is_err())
            .collect();
        if !failed.is_empty() {
            for outcome in failed {
                writeln!(terminal.stderr(), "{ERROR}error{ERROR:#}: {}", one_line(&outcome.to_string()))?;
            }
            writeln!(stdout, "{name}: not changed.")?;
            status = Status::ErrorsFound;
            continue;
        }
        let before = project.lock.clone().unwrap_or_default();
        let mut lock = before.clone();
        let mut changes = pin(&mut lock, &programs, &update);
        let used: BTreeSet<String> =
            programs.iter().map(|(_, visited)| visited.reference.to_string()).collect();
        if is_whole(&args.paths, path) {
            let unused = lock.retain(|reference| used.contains(reference));
            changes.extend(
                unused.iter().map(|pin| format!("removed `{}`, which is not imported", pin.reference)),
            );
        }
        if project.lock.is_none() && used.is_empty() {
            writeln!(stdout, "There are no imports to pin.")?;
            continue;
        }
        for change in &changes {
            writeln!(stdout, "{}", one_line(change))?;
        }
        if let Err(error) = lock.save(path) {
            gathered.fail(path, error);
            continue;
        }
        let what = if changes.is_empty() { "nothing to change" } else { "written" };
        writeln!(stdout, "{name}: {what}, {} pinned.", counted(lock.pins().count(), "program"))?;
    }
    stdout.flush()?;
    Ok(if gathered.report(terminal)? { Status::Trouble } else { status })
}

/// The pins that `--update` selects.
fn update(references: Option<&[String]>) -> Result<Update, String> {
    match references {
        None => Ok(Update::Nothing),
        Some([]) => Ok(Update::All),
        Some(references) => {
            let canonical = references.iter().map(|written| match Reference::parse(written) {
                Ok(reference) if !reference.is_local() => Ok(reference.to_string()),
                Ok(_) => Err(format!("`{written}` is a local file, and local files are not pinned")),
                Err(why) => Err(format!("`{written}` {why}")),
            });
            canonical.collect::<Result<_, _>>().map(Update::These)
        }
    }
}

fn names(lock: &Lock, reference: &str) -> bool {
    lock.pins().any(|pin| pin.reference == reference)
}

/// Pins the fetched programs, and returns the changes.
fn pin<'a>(lock: &mut Lock, programs: &'a [(Client, Visited)], update: &Update) -> Vec<String> {
    let is_new = |visited: &Visited| {
        let reference = visited.reference.to_string();
        !names(lock, &reference) || update.includes(&reference)
    };
    let new = programs.iter().filter(|(_, visited)| is_new(visited));
    let found = |(client, visited): &'a (Client, Visited)| {
        Some((client, &visited.reference, visited.outcome.program()?))
    };
    let new: Vec<_> = new.filter_map(found).collect();
    let commits: Vec<_> =
        new.iter().map(|(client, reference, program)| commit(client, reference, program)).collect();
    // Without a runtime nothing would have been fetched either.
    let commits = block_on(join_all(commits)).unwrap_or_else(|_| vec![None; new.len()]);
    let mut changes = Vec::new();
    for ((_, reference, program), commit) in new.into_iter().zip(commits) {
        let was_known = names(lock, &reference.to_string());
        match imports::pin(lock, reference, program, commit) {
            Some(Pin { sha256, .. }) => changes.push(format!(
                "updated `{reference}` from SHA-256 {:.12} to {:.12}",
                sha256.to_string(),
                program.source.sha256.to_string()
            )),
            None if was_known => {}
            None => {
                changes.push(format!(
                    "added `{reference}` with SHA-256 {:.12}",
                    program.source.sha256.to_string()
                ));
            }
        }
    }
    changes
}

/// Whether the paths cover the whole project, so that pins that no checked program imports are unused.
fn is_whole(paths: &[PathBuf], lock: &Path) -> bool {
    let folder = lock.parent().unwrap_or(lock);
    paths.iter().any(|path| folder.starts_with(identity(path)))
}
