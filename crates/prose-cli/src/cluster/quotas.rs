//! `prose cluster quotas`, `set-quota` and `remove-quota`: what harnesses may do in the whole cluster.

use std::io::{self, Write};

use prose_cluster::{ClusterError, Period, Quota, QuotaUse, quotas, remove_quota, set_quota};
use prose_state::Server;
use prose_vm::budget::dollars;

use super::server::server_named;
use super::worker::{check_classes, refused};
use crate::cli::cluster::{QuotaArgs, QuotaPeriod, ServerArgs};
use crate::status::Status;
use crate::terminal::{BOLD, Terminal, one_line};

impl From<QuotaPeriod> for Period {
    fn from(period: QuotaPeriod) -> Self {
        match period {
            QuotaPeriod::Day => Self::Day,
            QuotaPeriod::Week => Self::Week,
            QuotaPeriod::Month => Self::Month,
            QuotaPeriod::Ever => Self::Ever,
        }
    }
}

/// The server with its tables.
fn server_of(args: &ServerArgs) -> Result<Server, ClusterError> {
    Ok(server_named(args)?)
}

pub(super) fn list(args: &ServerArgs, terminal: &Terminal) -> io::Result<Status> {
    let found = server_of(args).and_then(|server| quotas(&server));
    let found = match found {
        Ok(found) => found,
        Err(error) => return refused(terminal, &error.to_string()),
    };
    if found.is_empty() {
        writeln!(terminal.stderr(), "There are no quotas; `prose cluster set-quota` sets one.")?;
    }
    let mut out = terminal.stdout();
    for used in &found {
        writeln!(out, "{BOLD}{}{BOLD:#}  {}", one_line(&used.quota.name), described(used))?;
    }
    out.flush()?;
    Ok(Status::Clean)
}

/// What a quota allows, and what there is of it: `claude, codex: 3 of 20 at work; $1.20 of $100.00 per month`.
fn described(used: &QuotaUse) -> String {
    let Quota { classes, max_parallel, max_cost, period, .. } = &used.quota;
    let classes = if classes.is_empty() { "all harnesses".to_owned() } else { classes.join(", ") };
    let parallel = max_parallel.map(|most| format!("{} of {most} at work", used.at_work));
    let cost = max_cost.map(|most| {
        let period = match period {
            Period::Ever => String::new(),
            period => format!(" per {}", period.name()),
        };
        format!("{} of {}{period}", dollars(used.spent), dollars(most))
    });
    let limits: Vec<String> = parallel.into_iter().chain(cost).collect();
    format!("{classes}: {}", limits.join("; "))
}

pub(super) fn set(args: &QuotaArgs, terminal: &Terminal) -> io::Result<Status> {
    if let Err(message) = check_classes(&args.classes) {
        return refused(terminal, &message);
    }
    let quota = Quota {
        name: args.name.clone(),
        classes: args.classes.clone(),
        max_parallel: args.max_parallel,
        max_cost: args.max_cost,
        period: args.per.into(),
    };
    match server_of(&args.server).and_then(|server| set_quota(&server, &quota)) {
        Ok(()) => Ok(Status::Clean),
        Err(error) => refused(terminal, &error.to_string()),
    }
}

pub(super) fn remove(name: &str, args: &ServerArgs, terminal: &Terminal) -> io::Result<Status> {
    match server_of(args).and_then(|server| remove_quota(&server, name)) {
        Ok(true) => Ok(Status::Clean),
        Ok(false) => {
            refused(terminal, &format!("there is no quota `{name}`; `prose cluster quotas` lists them"))
        }
        Err(error) => refused(terminal, &error.to_string()),
    }
}
