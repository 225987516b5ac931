//! `prose worker`: leads and performs runs of a cluster.

use std::io::{self, Write};
use std::net::TcpListener;

use prose_cluster::{WorkerSettings, work};
use prose_harness::mcp::is_installed;
use prose_harness::registry::{HARNESSES, HarnessSettings, agent_command, depends_on_order};
use prose_vm::harness::RunFolders;

use super::host_name::host_name;
use super::server::server_of;
use super::worker_folder::WorkerFolder;
use crate::cli::cluster::WorkerArgs;
use crate::run::ended::refuse;
use crate::run::interrupt::Interrupts;
use crate::run::project::present_project;
use crate::status::Status;
use crate::terminal::{Terminal, one_line};

pub(crate) fn run(args: &WorkerArgs, terminal: &Terminal) -> io::Result<Status> {
    if let Err(message) = check_classes(&args.classes) {
        return refused(terminal, &message);
    }
    let server = match server_of(&args.on) {
        Ok(server) => server,
        Err(error) => return refused(terminal, &error.to_string()),
    };
    let metrics = match args.metrics.map(|address| (address, TcpListener::bind(address))) {
        None => None,
        Some((_, Ok(listener))) => Some(listener),
        Some((address, Err(error))) => {
            return refused(terminal, &format!("metrics cannot be served at `{address}`: {error}"));
        }
    };
    let workspace = match args.workspace.as_ref().map(|folder| (folder, folder.canonicalize())) {
        None => None,
        Some((_, Ok(found))) if found.is_dir() => Some(found),
        Some((folder, found)) => {
            let why = found.err().map_or("it is not a folder".to_owned(), |error| error.to_string());
            return refused(terminal, &format!("agents cannot work in `{}`: {why}", folder.display()));
        }
    };
    let classes = if args.classes.is_empty() { installed() } else { args.classes.clone() };
    let folder = WorkerFolder::new()?;
    let settings = WorkerSettings {
        name: name(),
        classes,
        slots: args.slots,
        leads: args.leads,
        lease: args.lease,
        folder: folder.path()?,
        workspace,
        server,
        metrics,
    };
    let mut interrupts = Interrupts::listen();
    let mut tell = |sentence: &str| {
        if !args.quiet {
            // A worker whose terminal was closed works on.
            let _ = writeln!(terminal.stderr(), "{}", one_line(sentence));
        }
    };
    tell(&format!(
        "worker {} on `{}`: {} requests at a time ({}), {} runs",
        settings.name,
        settings.server,
        settings.slots,
        settings.classes.join(", "),
        settings.leads
    ));
    if let Some(address) = settings.metrics.as_ref().and_then(|listener| listener.local_addr().ok()) {
        tell(&format!("metrics are at http://{address}/metrics"));
    }
    match work(settings, interrupts.interrupted(std::future::pending()), &mut tell) {
        Ok(()) => Ok(Status::Clean),
        Err(error) => refused(terminal, &error.to_string()),
    }
}

/// Whether there are harnesses with these names.
pub(super) fn check_classes(classes: &[String]) -> Result<(), String> {
    let unknown = classes.iter().find(|class| HARNESSES.iter().all(|info| info.name != **class));
    unknown.map_or(Ok(()), |unknown| {
        let known = HARNESSES.iter().map(|info| info.name).filter(|name| !depends_on_order(name));
        let known: Vec<&str> = known.collect();
        Err(format!("`{unknown}` is no harness; the harnesses are {}", known.join(", ")))
    })
}

pub(super) fn refused(terminal: &Terminal, message: &str) -> io::Result<Status> {
    refuse(terminal, message)?;
    Ok(Status::Trouble)
}

/// The harnesses whose programs are on this machine.
fn installed() -> Vec<String> {
    let root = present_project().root;
    let settings = HarnessSettings::new(RunFolders { root: root.clone(), run: None });
    let is_there = |name: &&str| match agent_command(name, &settings) {
        // Without a key, a provider refuses at once; the settings of a run may name another one.
        Some(started) if started.is_address => true,
        Some(started) => started.command.first().is_none_or(|program| is_installed(program, &root)),
        // Of the settings of a run, or nothing is started.
        None => true,
    };
    let names = HARNESSES.iter().map(|info| info.name).filter(|name| !depends_on_order(name));
    names.filter(is_there).map(str::to_owned).collect()
}

/// A name that no other process has.
fn name() -> String {
    let started = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let started = started.map_or(0, |since| since.as_nanos() % 0x1_0000_0000);
    format!("{}/{}/{started:08x}", host_name(), std::process::id())
}
