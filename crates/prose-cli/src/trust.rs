//! `prose trust`, and the question whether a project is trusted.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use prose_config::FILE_NAME;
use prose_project::trust::{TrustStore, TrustSubject, TrustedSetting, accepts_settings};
use prose_run::{RunFailure, RunRequest, Untrusted};

use crate::cli::run::TrustArgs;
use crate::command_error::CommandError;
use crate::keyboard;
use crate::status::Status;
use crate::terminal::{BOLD, ERROR, HELP, Terminal, WARNING, one_line};

/// Trusts a project, trusts it no longer, or lists what is trusted.
pub(crate) fn run(args: &TrustArgs, terminal: &Terminal) -> io::Result<Status> {
    let store = TrustStore::of_user();
    let done = if args.list {
        list(&store, terminal)
    } else if args.revoke {
        revoke(&args.dir, &store, terminal)
    } else {
        trust(&args.dir, &store, terminal)
    };
    CommandError::status(done, terminal)
}

fn trust(dir: &Path, store: &TrustStore, terminal: &Terminal) -> Result<(), CommandError> {
    if !dir.is_dir() {
        let message = format!("`{}` is not a folder; pass the folder of a project", dir.display());
        return Err(CommandError::Message(message));
    }
    let settings = settings_of(dir, store);
    let folder = settings.as_deref().and_then(Path::parent).unwrap_or(dir);
    let config = match &settings {
        None => prose_config::Config::default(),
        Some(path) => match prose_config::Project::load(path.clone()) {
            (project, None) => project.config,
            (_, Some(error)) => {
                return Err(CommandError::Message(format!("`{}` cannot be read: {error}", path.display())));
            }
        },
    };
    let subject = TrustSubject::new(folder, &config);
    store.grant(&subject)?;
    let mut out = terminal.stdout();
    writeln!(out, "You trust {BOLD}{}{BOLD:#}", one_line(&subject.folder.to_string_lossy()))?;
    match subject.concerns.is_empty() {
        true => writeln!(out, "  Its settings start no agent and pass nothing on.")?,
        false => write_concerns(&mut out, "  ", &subject.concerns)?,
    }
    writeln!(
        out,
        "You must confirm changes of these settings. To revoke the trust, run `prose trust --revoke`."
    )?;
    Ok(())
}

/// The settings that a person means who names a folder: those in it, no matter whose they are, else the nearest ones above.
fn settings_of(dir: &Path, store: &TrustStore) -> Option<PathBuf> {
    let here = dir.join(FILE_NAME);
    if here.is_file() {
        return std::path::absolute(here).ok();
    }
    prose_config::find_accepted(&dir.join("program.prose"), |file| accepts_settings(store, file))
}

fn write_concerns(out: &mut dyn Write, indent: &str, concerns: &[TrustedSetting]) -> io::Result<()> {
    for concern in concerns {
        let name = one_line(&concern.name);
        match &concern.shown[..] {
            [] => writeln!(out, "{indent}{name}")?,
            values => {
                let values: Vec<_> = values.iter().map(|value| prose_project::shell::word(value)).collect();
                writeln!(out, "{indent}{name}: {}", one_line(&values.join(" ")))?;
            }
        }
    }
    Ok(())
}

fn revoke(dir: &Path, store: &TrustStore, terminal: &Terminal) -> Result<(), CommandError> {
    let mut folder = dir.to_owned();
    let mut was_trusted = store.revoke(&folder)?;
    if !was_trusted && let Some(parent) = settings_of(dir, store).as_deref().and_then(Path::parent) {
        folder = parent.to_owned();
        was_trusted = store.revoke(&folder)?;
    }
    let shown = folder.canonicalize().unwrap_or(folder);
    let shown = shown.to_string_lossy();
    match was_trusted {
        true => writeln!(terminal.stdout(), "You no longer trust {BOLD}{}{BOLD:#}", one_line(&shown))?,
        false => writeln!(terminal.stdout(), "You did not trust {BOLD}{}{BOLD:#}", one_line(&shown))?,
    }
    Ok(())
}

fn list(store: &TrustStore, terminal: &Terminal) -> Result<(), CommandError> {
    let trusted = store.list()?;
    if trusted.is_empty() {
        writeln!(
            terminal.stderr(),
            "No project is trusted. To trust the project in this folder, run `prose trust`."
        )?;
    }
    let mut out = terminal.stdout();
    for folder in trusted {
        let since = folder.since.duration_since(UNIX_EPOCH).unwrap_or_default();
        let since = humantime::format_rfc3339_seconds(UNIX_EPOCH + since).to_string();
        let date = since.split('T').next().unwrap_or_default();
        let settings = match folder.settings.is_empty() {
            true => String::new(),
            false => format!("  ({})", one_line(&folder.settings.join(", "))),
        };
        writeln!(out, "{date}  {}{settings}", one_line(&folder.folder.to_string_lossy()))?;
    }
    Ok(())
}

/// Where the agents of a run start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AgentPlace {
    /// On this machine.
    Here,
    /// On the machines of the workers that execute the run.
    Workers,
}

/// Checks that the project of a request is trusted as far as the request needs it, and asks the user where it is not; `is_said` answers. Returns whether
/// the run may start.
pub(crate) fn check(
    request: &mut RunRequest,
    agents: AgentPlace,
    is_said: bool,
    terminal: &Terminal,
) -> io::Result<Result<bool, RunFailure>> {
    match prose_run::check_trust(request) {
        Ok(()) => Ok(Ok(true)),
        Err(RunFailure::Untrusted(untrusted)) => {
            let is_trusted = asked(&untrusted, &request.trust.store(), agents, is_said, terminal)?;
            // The trust of this run holds also where it cannot be stored.
            request.trust.is_trusted = is_trusted;
            Ok(Ok(is_trusted))
        }
        Err(failure) => Ok(Err(failure)),
    }
}

/// Asks the user to trust a project, or says how that is done. Returns whether it is trusted.
fn asked(
    untrusted: &Untrusted,
    store: &TrustStore,
    agents: AgentPlace,
    is_said: bool,
    terminal: &Terminal,
) -> io::Result<bool> {
    if !is_said {
        let can_ask = keyboard::can_ask() && io::stderr().is_terminal();
        let mut stderr = terminal.stderr();
        let reason = untrusted.reason();
        let (place, rights) = match agents {
            AgentPlace::Here => ("", "your rights"),
            AgentPlace::Workers => (", on the machines of workers", "the rights of the workers"),
        };
        let (reason, start) = (one_line(&reason), format!("{}{place}", untrusted.start()));
        if !can_ask {
            writeln!(stderr, "{ERROR}error{ERROR:#}: {reason}, and {}", one_line(&start))?;
            let command = untrusted.command_to_trust();
            let command = one_line(&command);
            writeln!(stderr, "{HELP}help{HELP:#}: if you trust it, run `{command}`, or pass `--trust`")?;
            return Ok(false);
        }
        writeln!(stderr, "{WARNING}trust{WARNING:#}: {reason}")?;
        writeln!(stderr, "  {}", one_line(&start))?;
        if !untrusted.subject.concerns.is_empty() {
            writeln!(stderr, "  its settings say:")?;
            write_concerns(&mut stderr, "    ", &untrusted.subject.concerns)?;
        }
        writeln!(stderr, "  Agents have {rights}, and the project's programs control what they do.")?;
        write!(stderr, "Do you trust this project? [y/N] ")?;
        stderr.flush()?;
        drop(stderr);
        if !keyboard::says_yes(false)? {
            writeln!(
                terminal.stderr(),
                "{ERROR}error{ERROR:#}: the project is not trusted; no agent was started"
            )?;
            return Ok(false);
        }
    }
    if let Err(error) = store.grant(&untrusted.subject) {
        let message = format!("the project is trusted for this run only: {error}");
        writeln!(terminal.stderr(), "{WARNING}warning{WARNING:#}: {}", one_line(&message))?;
    }
    Ok(true)
}
