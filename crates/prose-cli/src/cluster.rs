//! `prose cluster`: PostgreSQL servers with the state of runs.

pub(crate) mod forked;
pub(crate) mod quotas;
mod roles;
pub(crate) mod server;
pub(crate) mod submitted;
pub(crate) mod worker;

use std::io::{self, Write};

use prose_state::{ServerStatus, StateError, prepare_server, server_status};
use prose_syntax::text::{enumerated, quoted};

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
        ClusterCommand::Init(server) | ClusterCommand::Migrate(server) => prepare(server, terminal)?,
    };
    match done {
        Ok(status) => Ok(status),
        Err(error) => {
            writeln!(terminal.stderr(), "{ERROR}error{ERROR:#}: {}", one_line(&error.to_string()))?;
            Ok(Status::Trouble)
        }
    }
}

fn status(server: &ServerArgs, terminal: &Terminal) -> io::Result<Result<Status, StateError>> {
    let root = present_project().root;
    let found = match server_status(&root, server.url.as_deref(), server.schema.as_deref()) {
        Ok(found) => found,
        Err(error) => return Ok(Err(error)),
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
    out.flush()?;
    Ok(Ok(if version == Some(supported) && missing.is_empty() { Status::Clean } else { Status::ErrorsFound }))
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
