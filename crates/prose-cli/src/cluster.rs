//! `prose cluster`: PostgreSQL servers with the state of runs.

pub(crate) mod forked;
mod host_name;
pub(crate) mod quotas;
mod roles;
pub(crate) mod server;
pub(crate) mod submitted;
pub(crate) mod worker;
mod worker_folder;

use std::io::{self, Write};

use prose_cluster::{ClusterError, Queue, WorkerState, queues, workers};
use prose_state::{ServerStatus, StateError, prepare_server, server_status};
use prose_syntax::text::{enumerated, quoted};
use prose_view::duration;

use crate::cli::cluster::{ClusterArgs, ClusterCommand, ServerArgs};
use crate::run::project::present_project;
use crate::status::Status;
use crate::terminal::{ERROR, Terminal, one_line};

pub(crate) fn run(args: &ClusterArgs, terminal: &Terminal) -> io::Result<Status> {
    let done = match &args.command {
        ClusterCommand::Quotas(server) => return quotas::list(server, terminal),
        ClusterCommand::SetQuota(quota) => return quotas::set(quota, terminal),
        ClusterCommand::RemoveQuota { name, server } => return quotas::remove(name, server, terminal),
        ClusterCommand::Grant { role, user, server } => {
            return roles::grant_role(Some(*role), user, server, terminal);
        }
        ClusterCommand::Revoke { user, server } => return roles::grant_role(None, user, server, terminal),
        ClusterCommand::Status(server) => status(server, terminal)?,
        ClusterCommand::Init(server) | ClusterCommand::Migrate(server) => {
            prepare(server, terminal)?.map_err(ClusterError::from)
        }
    };
    match done {
        Ok(status) => Ok(status),
        Err(error) => {
            writeln!(terminal.stderr(), "{ERROR}error{ERROR:#}: {}", one_line(&error.to_string()))?;
            Ok(Status::Trouble)
        }
    }
}

fn status(server_args: &ServerArgs, terminal: &Terminal) -> io::Result<Result<Status, ClusterError>> {
    let root = present_project().root;
    let found = match server_status(&root, server_args.url.as_deref(), server_args.schema.as_deref()) {
        Ok(found) => found,
        Err(error) => return Ok(Err(error.into())),
    };
    let has_lost_rows = found.has_lost_rows();
    let ServerStatus { server, postgres, schema, version, supported, missing, runs } = found;
    let mut out = terminal.stdout();
    writeln!(out, "server   {server}, PostgreSQL {postgres}")?;
    match version {
        None => writeln!(out, "schema   {schema}, without tables: `prose cluster init` makes them")?,
        Some(version) if version == supported => writeln!(out, "schema   {schema}, version {version}")?,
        Some(version) if version < supported => writeln!(
            out,
            "schema   {schema}, version {version}: `prose cluster migrate` brings it to version {supported}"
        )?,
        Some(version) => writeln!(
            out,
            "schema   {schema}, version {version}: this `prose` supports versions up to {supported}; use a newer one"
        )?,
    }
    if !missing.is_empty() {
        let fix = match has_lost_rows {
            true => "restore the schema from a copy",
            false => "`prose cluster migrate` makes them again",
        };
        writeln!(out, "missing  {}: {fix}", missing.join(", "))?;
    }
    let counts: Vec<String> = runs.iter().map(|(status, count)| format!("{count} {status}")).collect();
    let counts = if counts.is_empty() { "none".to_owned() } else { counts.join(", ") };
    writeln!(out, "runs     {counts}")?;
    let is_complete = version == Some(supported) && missing.is_empty();
    if is_complete && let Err(error) = write_activity(server_args, &mut out)? {
        return Ok(Err(error));
    }
    out.flush()?;
    Ok(Ok(if is_complete { Status::Clean } else { Status::ErrorsFound }))
}

/// Writes what the workers do, and what waits for them.
fn write_activity(server: &ServerArgs, out: &mut impl Write) -> io::Result<Result<(), ClusterError>> {
    let found = || -> Result<_, ClusterError> {
        let server = server::server_named(server)?;
        Ok((workers(&server)?, queues(&server)?))
    };
    let (workers, queues) = match found() {
        Ok(found) => found,
        Err(error) => return Ok(Err(error)),
    };
    if workers.is_empty() {
        writeln!(out, "workers  none")?;
    }
    for (index, worker) in workers.iter().enumerate() {
        let head = if index == 0 { "workers" } else { "" };
        let WorkerState { name, classes, slots, at_work, .. } = worker;
        let classes = if classes.is_empty() { "no harness".to_owned() } else { classes.join(", ") };
        writeln!(out, "{head:7}  {}  {at_work} of {slots} at work  {}", one_line(name), one_line(&classes))?;
    }
    let waiting = queues.iter().filter(|queue| queue.waiting > 0);
    for (index, queue) in waiting.enumerate() {
        let head = if index == 0 { "waiting" } else { "" };
        let Queue { class, waiting, oldest, .. } = queue;
        let is_served = workers.iter().any(|worker| worker.slots > 0 && worker.classes.contains(class));
        let why = match is_served {
            true => format!(", the oldest for {}", duration(oldest.as_millis() as u64)),
            false => format!(", and no worker performs {}", if *waiting == 1 { "it" } else { "them" }),
        };
        let noun = if *waiting == 1 { "request" } else { "requests" };
        writeln!(out, "{head:7}  {}  {waiting} {noun}{why}", one_line(class))?;
    }
    Ok(Ok(()))
}

fn prepare(server: &ServerArgs, terminal: &Terminal) -> io::Result<Result<Status, StateError>> {
    let root = present_project().root;
    let before = match prepare_server(&root, server.url.as_deref(), server.schema.as_deref()) {
        Ok(before) => before,
        Err(error) => return Ok(Err(error)),
    };
    let ServerStatus { server, schema, version, supported, missing, .. } = before;
    let mut out = terminal.stdout();
    if !missing.is_empty() {
        let noun = if missing.len() == 1 { "table" } else { "tables" };
        let names = enumerated(missing.iter().map(quoted), "and");
        writeln!(
            out,
            "made the {noun} {names} of the schema `{schema}` again; resumed runs fill what is missing"
        )?;
    }
    match version {
        None => writeln!(out, "made the tables in the schema `{schema}` of `{server}`, version {supported}")?,
        Some(version) if version < supported => {
            writeln!(
                out,
                "brought the schema `{schema}` of `{server}` from version {version} to {supported}"
            )?;
        }
        Some(_) => writeln!(out, "the schema `{schema}` of `{server}` is up to date, version {supported}")?,
    }
    out.flush()?;
    Ok(Ok(Status::Clean))
}
