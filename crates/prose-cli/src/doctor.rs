//! `prose doctor`: diagnoses the installation and configuration.

mod agent;
mod machine;
mod report;
mod tools;

use std::io::{self, Write};
use std::path::Path;
use std::time::SystemTime;

use prose_config::{Config, FILE_NAME, HarnessName};
use prose_harness::drivers::provider::KnownProvider;
use prose_harness::mcp::is_installed;
use prose_harness::registry;
use prose_project::Diagnosed;
use prose_project::files::shown;
use prose_project::imports::block_on;
use prose_registry::{
    CACHE_DIR, Cache, Credentials, Freshness, Importer, LOCK_FILE, Lock, Outcome, Problem, Reference,
    Settings,
};
use prose_run::{MachineResources, Parallelism, Project};
use prose_state::runs::RunState;
use prose_syntax::lines::LineIndex;
use prose_syntax::{Code, Severity};

use self::machine::{Answer, asked_for_version};
use self::report::Report;
use crate::cli::{DoctorArgs, VERSION};
use crate::run::project::present_project;
use crate::status::Status;
use crate::terminal::{BOLD, Terminal, counted};

/// Checks everything that `prose` needs in the current folder.
pub(crate) fn run(args: &DoctorArgs, terminal: &Terminal) -> io::Result<Status> {
    let mut report = Report { terminal, problems: 0 };
    version(&mut report)?;
    let config = settings(&mut report)?;
    let project = present_project();
    harnesses(&config, &project.root, &mut report)?;
    tools::skills(&config, &project.root, &mut report)?;
    tools::servers(&config, &project.root, &mut report)?;
    runs(&project, &mut report)?;
    imports(&project.root, &mut report)?;
    if args.online {
        registry(&config, &mut report)?;
    }
    match report.problems {
        0 => writeln!(terminal.stderr(), "{BOLD}no problems found.{BOLD:#}")?,
        count => writeln!(terminal.stderr(), "{BOLD}{} found.{BOLD:#}", counted(count, "problem"))?,
    }
    Ok(if report.problems == 0 { Status::Clean } else { Status::ErrorsFound })
}

const EDITORS: &str = "editors";

/// Editors start the `prose` on `PATH`, which may differ from this one.
fn version(report: &mut Report<'_>) -> io::Result<()> {
    let own = format!("prose {VERSION}");
    report.good("version", format_args!("{own} ({}, {})", std::env::consts::OS, std::env::consts::ARCH))?;
    match asked_for_version("prose") {
        Answer::Version(version) if version == own => {
            report.good(EDITORS, format_args!("`prose` on PATH is {version}"))
        }
        Answer::Version(other) => report.problem(
            EDITORS,
            format_args!("`prose` on PATH is {other}, and this is {own}"),
            "editors start the one on PATH; remove it, or put the folder of this one first",
        ),
        Answer::NotFound => report.problem(
            EDITORS,
            "`prose` is not on PATH, so editors cannot start the server",
            "add the folder of this program to PATH, or set its full path in the editor",
        ),
        Answer::Failed(reason) => report.problem(
            EDITORS,
            format_args!("the `prose` on PATH {reason}"),
            "reinstall it, or set the full path of another one in the editor",
        ),
    }
}

/// The nearest settings file and its errors.
fn settings(report: &mut Report<'_>) -> io::Result<Config> {
    const ABOUT: &str = "settings";
    let mut rules = prose_project::Settings::default();
    let here = std::env::current_dir()?;
    let config = rules.of(&here.join("program.prose")).project().config.clone();
    for ignored in rules.take_ignored() {
        report.note(ABOUT, ignored)?;
    }
    for failure in rules.take_failures() {
        let path = failure.path.display().to_string();
        report.problem(
            ABOUT,
            format_args!("`{path}` {}", failure.reason),
            "fix it; until then, the default settings apply",
        )?;
    }
    let files = rules.files();
    if files.is_empty() {
        report.good(
            ABOUT,
            format_args!("no {FILE_NAME} in this folder or its parents; the default settings apply"),
        )?;
    }
    for file in files {
        let path = file.path.display();
        let found = rules.diagnose_file(&file);
        let mut is_good = true;
        // Skills have a part of their own.
        let is_shown =
            |found: &&Diagnosed| found.severity <= Severity::Warning && found.diagnostic.code != Code::W152;
        for found in found.iter().filter(is_shown) {
            is_good = false;
            let (start, text) = (usize::from(found.diagnostic.range.start()), file.text());
            let line = LineIndex::new(text).line(start) + 1;
            let message = format!("{path}:{line}: {}", found.diagnostic.message);
            report.problem(ABOUT, message, format_args!("run `prose check {path}` for details"))?;
        }
        if is_good {
            report.good(ABOUT, path)?;
        }
    }
    Ok(config)
}

/// The harnesses of the program, of its decisions and of its agents, and how many sessions they can run at the same time.
fn harnesses(config: &Config, root: &Path, report: &mut Report<'_>) -> io::Result<()> {
    const ABOUT: &str = "harness";
    let mut checked: Vec<HarnessName> = Vec::new();
    let judge = config.run.judge.harness;
    let agents = config.agents.values().map(|agent| agent.harness);
    for name in std::iter::once(Some(config.run.harness)).chain([judge]).chain(agents).flatten() {
        if !checked.contains(&name) {
            checked.push(name);
            harness(name, config, root, report)?;
        }
    }
    for (agent, own) in &config.agents {
        let name = own.harness.unwrap_or(config.run.harness).as_str();
        if let Some(model) = &own.model {
            report.good(ABOUT, format_args!("agent `{agent}` uses `{model}` of `{name}`"))?;
        }
    }
    for name in config.run.environment.iter().map(|word| word.as_str()) {
        if !machine::is_set(name) {
            report.problem(
                ABOUT,
                format_args!("`run.environment` contains `{name}`, which is not set"),
                "set it before you start `prose` and the editor, or remove it from `prose.toml`",
            )?;
        }
    }
    let parallelism = Parallelism::new(MachineResources::this(), config.run.max_parallel);
    if let Some(parallelism) = parallelism.describe(config.run.harness.as_str()) {
        report.good("parallel", parallelism)?;
    }
    Ok(())
}

/// A harness.
fn harness(harness: HarnessName, config: &Config, root: &Path, report: &mut Report<'_>) -> io::Result<()> {
    const ABOUT: &str = "harness";
    let name = harness.as_str();
    match harness {
        HarnessName::Offline => {
            report.good(
                ABOUT,
                "`offline` generates placeholder replies; set an agent with `run.harness` in `prose.toml`",
            )?;
        }
        HarnessName::Script => report.good(ABOUT, "`script` takes replies from the file of `--script`")?,
        HarnessName::Provider => provider(config, report)?,
        HarnessName::Command | HarnessName::Acp => match config.run.command.first().map(|word| word.as_str())
        {
            None => report.problem(
                ABOUT,
                format_args!("`{name}` needs `run.command`, which is not set in `prose.toml`"),
                "add, for example, `command = [\"my-agent\", \"--quiet\"]` to `[run]`",
            )?,
            // It may not support `--version`, so it is not started.
            Some(program) if is_installed(program, Path::new(".")) => {
                report.good(ABOUT, format_args!("`{name}`: `{program}`"))?
            }
            Some(program) => report.problem(
                ABOUT,
                format_args!("`{program}` of `run.command` is not installed"),
                "install it; if it is installed, add its folder to PATH or set its full path",
            )?,
        },
        _ => {
            if let Some(agent) = registry::known_agent(name) {
                agent::check(&agent, name, root, report)?;
            }
        }
    }
    Ok(())
}

/// The provider of the harness `provider`, and its key.
fn provider(config: &Config, report: &mut Report<'_>) -> io::Result<()> {
    const ABOUT: &str = "harness";
    let provider = &config.run.provider;
    let known = KnownProvider::named(provider.name.as_str());
    let own = provider.key_variable.as_ref().map(|name| name.as_str());
    let variable = own.or(known.and_then(|known| known.key_variable));
    let name = provider.name.as_str();
    match variable {
        Some(variable) if !machine::is_set(variable) => report.problem(
            ABOUT,
            format_args!("`provider` needs the key of `{name}` in `{variable}`, which is not set"),
            "set it before you start `prose` and the editor",
        ),
        _ => report.good(ABOUT, format_args!("`provider`: `{name}`")),
    }
}

/// The folder for runs, and runs that can be resumed.
fn runs(project: &Project, report: &mut Report<'_>) -> io::Result<()> {
    const ABOUT: &str = "runs";
    let folder = project.runs();
    match machine::written_to(&folder) {
        Ok(()) => report.good(ABOUT, format_args!("runs are stored in {}", shown(&folder).display()))?,
        Err(error) => report.problem(
            ABOUT,
            format_args!("{} cannot be written: {error}", folder.display()),
            "make the folder writable, or use `prose run --in-context`, which writes no files",
        )?,
    }
    let runs = match project.list_runs() {
        Ok(runs) => runs,
        Err(error) => {
            return report.problem(ABOUT, error, "make it readable; until then, runs cannot be resumed");
        }
    };
    let mut unreachable = Vec::new();
    for run in &runs {
        let id = &run.id;
        match run.status {
            RunState::Damaged if run.never_started() => report.note(
                ABOUT,
                format_args!("{id} was stopped before it started; remove it with `prose runs rm {id}`"),
            )?,
            RunState::Damaged => report.problem(
                ABOUT,
                format_args!("the files of {id} cannot be read"),
                format_args!(
                    "run `prose runs show {id}` for details, or remove them with `prose runs rm {id}`"
                ),
            )?,
            // Once for all of them, below.
            RunState::Unreachable => unreachable.push(run),
            RunState::Newer => report.problem(
                ABOUT,
                format_args!("the files of {id} are of a later version of `prose`"),
                "use the `prose` that wrote them, or a newer one",
            )?,
            _ => {}
        }
    }
    if let Some(first) = unreachable.first() {
        report.problem(
            ABOUT,
            format_args!(
                "the state of {} is unreachable: {}",
                counted(unreachable.len(), "run"),
                first.error.as_deref().unwrap_or_default()
            ),
            "list them with `prose runs list --status unreachable`; recorded results are not lost",
        )?;
    }
    let open: Vec<_> = runs.iter().filter(|run| run.status.can_be_resumed()).collect();
    if let Some(last) = open.first() {
        let message = format!(
            "{} can be resumed; resume the last one with `prose resume {}`",
            counted(open.len(), "run"),
            last.id
        );
        report.note(ABOUT, message)?;
    }
    Ok(())
}

/// The cache and the lock file.
fn imports(project: &Path, report: &mut Report<'_>) -> io::Result<()> {
    const ABOUT: &str = "imports";
    match Cache::of_user().dir() {
        None => report.problem(
            ABOUT,
            "there is no cache folder on this system",
            format_args!("set {CACHE_DIR} to a folder"),
        )?,
        Some(dir) => match machine::written_to(dir) {
            Ok(()) => report.good(ABOUT, format_args!("the cache is {}", dir.display()))?,
            Err(error) => report.problem(
                ABOUT,
                format_args!("the cache {} cannot be written: {error}", dir.display()),
                format_args!("make the folder writable, or set {CACHE_DIR} to another folder"),
            )?,
        },
    }
    let lock = project.join(LOCK_FILE);
    match Lock::load(&lock) {
        Ok(None) => {}
        Ok(Some(pins)) => {
            let pins = counted(pins.pins().count(), "program");
            report.good(ABOUT, format_args!("{} pins {pins}", shown(&lock).display()))?;
        }
        Err(error) => {
            report.problem(ABOUT, error, "fix or remove it, then run `prose lock`")?;
        }
    }
    for problem in Credentials::of_user().1 {
        report.problem(ABOUT, problem, "until then, its tokens are not sent")?;
    }
    Ok(())
}

/// Whether the registry responds. The requested program need not exist.
fn registry(config: &Config, report: &mut Report<'_>) -> io::Result<()> {
    const ABOUT: &str = "registry";
    let address = config.registry.url.as_str();
    let client = address.parse().ok().map(|url| {
        let (settings, _) = Settings::of_user(url);
        prose_registry::Client::new(settings, Cache::in_memory())
    });
    let reference = Reference::parse("prose-doctor/is-anybody-there");
    let (Some(client), Ok(reference)) = (client, reference) else {
        let help = "set `url` in `[registry]` in `prose.toml`";
        return report.problem(ABOUT, format_args!("`{address}` is not a URL"), help);
    };
    let start = SystemTime::now();
    let outcome: Outcome =
        block_on(async { client.get(&reference, &Importer::Workspace, Freshness::Now).await })?;
    match &outcome.result {
        Err(Problem::Unreachable { why, .. }) => report.problem(
            ABOUT,
            format_args!("{address} cannot be reached: {why}"),
            "check the network, the proxy (HTTPS_PROXY), and `url` in `[registry]` in `prose.toml`",
        ),
        Err(Problem::Refused(refusal)) => report.problem(
            ABOUT,
            format_args!("{address} is not contacted: {refusal}"),
            "see docs/registry.md",
        ),
        _ => {
            let took = start.elapsed().unwrap_or_default().as_millis();
            report.good(ABOUT, format_args!("{address} responded in {took} ms"))
        }
    }
}
