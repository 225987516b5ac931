//! `prose runs`: the runs of a project.

pub(crate) mod agents;
pub(crate) mod attach;
pub(crate) mod census;
mod control;
pub(crate) mod details;
mod diff;
mod portable;
mod prune;
mod report;
mod session;
mod sessions;

use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use prose_cluster::{ClusterError, Priority, prioritize};
use prose_narration::Narrator;
use prose_run::{Project, how_to_continue, recorded_run};
use prose_state::StateError;
use prose_state::journal::journal_of;
use prose_state::prompt_file::PROMPTS_FOLDER;
use prose_state::reader::JournalReader;
use prose_state::runs::{RunState, RunSummary};
use prose_tui::text::fitted;
use prose_view::{Census, Delta, RequestRecord, Requests, Times, View, duration};
use prose_vm::earlier::{ChangedVariable, VariableSetBefore};
use prose_vm::event::{Event, EventKind};
use prose_vm::program_names::ProgramNames;
use serde::Serialize;

use crate::cli::priority::RunPriority;
use crate::cli::run::Narration;
use crate::cli::runs::{RunsArgs, RunsCommand, RunsListArgs};
use crate::cluster::server::{mirror, server_of};
use crate::command_error::CommandError;
use crate::run::project::present_project;
use crate::run::waiting;
use crate::runs::attach::Attach;
use crate::runs::details::view_of;
pub(crate) use crate::runs::details::{details, last_started};
use crate::runs::portable::warn_of_damage;
use crate::status::Status;
use crate::terminal::{self, BOLD, Terminal, counted, first_line, lines, one_line, time};

/// How often a run that is followed is looked at.
const LOOK: Duration = Duration::from_millis(200);

/// Does what the arguments say with the runs of the present folder.
pub(crate) fn run(args: &RunsArgs, terminal: &Terminal) -> io::Result<Status> {
    #[cfg(unix)]
    if matches!(args.command, RunsCommand::List(_) | RunsCommand::Show { .. } | RunsCommand::Diff { .. })
        && !args.no_pager
    {
        return crate::pager::paged(terminal, |terminal| execute(args, terminal));
    }
    execute(args, terminal)
}

fn execute(args: &RunsArgs, terminal: &Terminal) -> io::Result<Status> {
    let mirror = match args.on.as_deref().map(|on| mirror(on, None)).transpose() {
        Ok(mirror) => mirror,
        Err(error) => return CommandError::status(Err(CommandError::Message(error.to_string())), terminal),
    };
    let project = mirror.as_ref().map_or_else(present_project, |mirror| mirror.project.clone());
    let done = match &args.command {
        RunsCommand::SetPriority { run, priority } => set_priority(args, &project, run, *priority, terminal),
        RunsCommand::List(args) => list(&project, args, terminal),
        RunsCommand::Show { run, json, session: Some(session), .. } => {
            session::show(&project, run.as_deref(), session, *json, terminal)
        }
        RunsCommand::Show { run, json: true, .. } => show_view(&project, run.as_deref(), terminal),
        RunsCommand::Show { run, all, .. } => show(&project, run.as_deref(), *all, terminal),
        RunsCommand::Tail { run, narrate, no_follow } => {
            tail(&project, run.as_deref(), *narrate, !no_follow, terminal)
        }
        // The commands that execute runs do these.
        RunsCommand::Answer(_) | RunsCommand::Fork(_) => Ok(()),
        RunsCommand::Export { run, file, force } => portable::export(&project, run, file, *force, terminal),
        RunsCommand::Report(args) => report::report(&project, args, terminal),
        RunsCommand::Import { file, state } => {
            portable::import(&project, file, *state, mirror.is_some(), terminal)
        }
        RunsCommand::Diff { a, b, json, all } => match diff::diff(&project, [a, b], *json, *all, terminal) {
            Ok(status) => return Ok(status),
            Err(error) => Err(error),
        },
        RunsCommand::Prune(args) => match prune::prune(&project, args, terminal) {
            Ok(status) => return Ok(status),
            Err(error) => Err(error),
        },
        RunsCommand::Rm { runs } => remove(&project, runs, terminal),
        RunsCommand::Attach { run, read_only, json, plain } => {
            let args =
                Attach { run: run.as_deref(), is_read_only: *read_only, is_json: *json, is_plain: *plain };
            match attach::attach(&project, &args, terminal) {
                Ok(status) => return Ok(status),
                Err(error) => Err(error),
            }
        }
        command => control::command(&project, command, terminal),
    };
    CommandError::status(done, terminal)
}

fn set_priority(
    args: &RunsArgs,
    project: &Project,
    run: &str,
    priority: RunPriority,
    terminal: &Terminal,
) -> Result<(), CommandError> {
    let message = |error: &dyn std::fmt::Display| CommandError::Message(error.to_string());
    let Some(on) = &args.on else {
        return Err(message(&"only runs of a cluster have priorities; name it with `--on URL`"));
    };
    let id = details(project, Some(run)).map_err(CommandError::Message)?.summary.id;
    let changed = server_of(on)
        .map_err(ClusterError::from)
        .and_then(|server| prioritize(&server, &id, priority.into()))
        .map_err(|error| message(&error))?;
    if !changed {
        return Err(message(&format!("run {id} has ended, or was not submitted to the server")));
    }
    writeln!(terminal.stdout(), "the priority of {id} is {}", Priority::from(priority).name())?;
    Ok(())
}

/// How many runs a terminal shows at once.
const PAGE: usize = 20;

fn list(project: &Project, args: &RunsListArgs, terminal: &Terminal) -> Result<(), CommandError> {
    let runs = project.list_runs()?;
    let total = runs.len();
    let runs: Vec<RunSummary> = runs.into_iter().filter(|run| is_wanted(run, args)).collect();
    let width = terminal::width();
    let limit = args.limit.map(NonZeroUsize::get).or_else(|| width.filter(|_| !args.json).map(|_| PAGE));
    let limit = limit.unwrap_or(usize::MAX);
    let first = limit.saturating_mul(args.page.get() - 1).min(runs.len());
    let page = &runs[first..runs.len().min(first.saturating_add(limit))];
    let mut out = terminal.stdout();
    if args.json {
        let runs: Vec<_> = page.iter().map(as_json).collect();
        serde_json::to_writer_pretty(&mut out, &runs).map_err(io::Error::from)?;
        writeln!(out)?;
        return Ok(());
    }
    let rows: Vec<[String; 3]> = page.iter().map(columns).collect();
    let widths: [usize; 3] =
        std::array::from_fn(|column| rows.iter().map(|row| row[column].len()).max().unwrap_or(0));
    for (run, [status, took, sessions]) in page.iter().zip(&rows) {
        let title = run.title();
        let program = one_line(title.as_deref().unwrap_or("?"));
        let error = match (run.waiting.first(), &run.pause) {
            (Some(open), _) => format!("  since {}: {}", time(open.since), first_line(&open.summary())),
            (None, Some(pause)) => {
                format!("  since {}: {}", time(pause.since), one_line(&pause.by.to_string()))
            }
            (None, None) => {
                run.error.as_deref().map_or(String::new(), |error| format!("  {}", first_line(error)))
            }
        };
        let [a, b, c] = widths;
        let rest = format!("  {status:a$}  {took:b$}  {sessions:c$}  {program}{error}");
        let rest = match width {
            Some(width) => fitted(&rest, width.saturating_sub(run.id.len())).into_owned(),
            None => rest,
        };
        writeln!(out, "{BOLD}{}{BOLD:#}{rest}", run.id)?;
    }
    out.flush()?;
    let folder = project.runs();
    let folder = folder.to_string_lossy();
    let mut stderr = terminal.stderr();
    match (total, runs.len(), page.len()) {
        (0, ..) => writeln!(stderr, "There are no runs in {}.", one_line(&folder))?,
        (_, 0, _) => writeln!(stderr, "No matches in {}.", counted(total, "run"))?,
        (_, found, 0) => writeln!(stderr, "The last page is {}.", found.div_ceil(limit))?,
        (_, found, shown) if shown < found => {
            let next = if first + shown < found {
                format!("; pass `--page {}` for more", args.page.get() + 1)
            } else {
                String::new()
            };
            writeln!(stderr, "Runs {} to {} of {found}{next}.", first + 1, first + shown)?;
        }
        _ => {}
    }
    Ok(())
}

/// What stands between the id and the program.
fn columns(run: &RunSummary) -> [String; 3] {
    let sessions = run.sessions.map_or(String::new(), |count| counted(count as usize, "session"));
    [run.status.name().to_owned(), run.work().map_or(String::new(), duration), sessions]
}

fn is_wanted(run: &RunSummary, args: &RunsListArgs) -> bool {
    let program = run.from.as_deref().or(run.program.as_deref()).unwrap_or_default();
    let is_status = |name: &String| name.replace('-', " ") == run.status.name();
    let is_failed = args.failed && run.status == RunState::Failed;
    let has_status =
        args.statuses.is_empty() && !args.failed || is_failed || args.statuses.iter().any(is_status);
    let is_recent = args.since.is_none_or(|since| {
        let earliest = SystemTime::now().checked_sub(since).unwrap_or(UNIX_EPOCH);
        run.started.is_some_and(|started| UNIX_EPOCH + Duration::from_millis(started) >= earliest)
    });
    has_status && is_recent && args.program.as_deref().is_none_or(|text| program.contains(text))
}

fn as_json(run: &RunSummary) -> serde_json::Value {
    serde_json::json!({
        "run": run.id,
        // Its name in earlier versions.
        "id": run.id,
        "program": run.program,
        "part": run.part,
        "status": run.status.name(),
        "started": run.started.map(time),
        "milliseconds": run.work(),
        "sessions": run.sessions,
        "usage": run.usage,
        "error": run.error,
        "waiting": run.waiting,
        "pause": run.pause,
        "folder": run.folder,
    })
}

/// Prints the view of a run, as far as its journal can be read.
fn show_view(project: &Project, start: Option<&str>, terminal: &Terminal) -> Result<(), CommandError> {
    let details = details(project, start).map_err(CommandError::Message)?;
    let mut requests = Requests::default();
    let mut view = view_of(&details.summary.folder, |event| requests.apply(event))?;
    if !details.summary.status.is_executed() {
        view.interrupt();
    }
    let mut out = terminal.stdout();
    // The view of a run that has ended has it already.
    let census = view.end().is_none().then(|| view.census());
    let shown = ShownRun { view: view.since(0), census, requests: requests.all() };
    serde_json::to_writer(&mut out, &shown).map_err(io::Error::from)?;
    writeln!(out)?;
    Ok(())
}

/// A run as JSON: its view, and each request with its usage and why it failed.
#[derive(Serialize)]
struct ShownRun<'a> {
    #[serde(flatten)]
    view: Delta<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    census: Option<Census>,
    requests: &'a [RequestRecord],
}

/// How long a run took: its work, and how long it waited for people and was stopped.
fn took(run: &RunSummary, view: Option<&View>) -> Option<String> {
    let times = view.filter(|view| view.root().is_some()).map(View::times);
    let work = times.map(|times| times.work).or_else(|| run.work()).map(duration)?;
    let Some(Times { waiting, stopped, .. }) = times else { return Some(work) };
    let waiting = Some(waiting).filter(|waiting| *waiting > 0);
    let stopped = Some(stopped).filter(|stopped| *stopped > 0);
    let parts = [
        Some(work),
        waiting.map(|waiting| format!("waited {} for answers", duration(waiting))),
        stopped.map(|stopped| format!("stopped for {}", duration(stopped))),
    ];
    Some(parts.into_iter().flatten().collect::<Vec<_>>().join("; "))
}

fn show(
    project: &Project,
    start: Option<&str>,
    shows_all: bool,
    terminal: &Terminal,
) -> Result<(), CommandError> {
    let details = details(project, start).map_err(CommandError::Message)?;
    let run = &details.summary;
    // What cannot be read at all is said further below.
    if let Ok(recorded) = recorded_run(project, &run.id) {
        warn_of_damage(&recorded, terminal)?;
    }
    let mut out = terminal.stdout();
    writeln!(out, "{BOLD}{}{BOLD:#}  {}", run.id, run.status.name())?;
    if let Some(head) = &details.head {
        writeln!(out, "program:  {}", one_line(&head.from))?;
        if let Some(part) = &head.part {
            let from =
                part.from.as_ref().map_or(String::new(), |run| format!(", with the values of run {run}"));
            writeln!(out, "part:     {} at line {}{from}", part.noun, part.line)?;
        }
        writeln!(out, "harness:  {}", head.harness)?;
        if let Some(earlier) = &head.earlier {
            let is_replay = earlier.is_replay || !earlier.is_live;
            let name = if is_replay { "replays:" } else { "fork of:" };
            let live = match is_replay && earlier.is_live {
                true => "; what is not recorded is asked",
                false => "",
            };
            let before = earlier.before.map_or(String::new(), |event| format!(", before event {event}"));
            writeln!(out, "{name}  {}{before}{live}", earlier.run)?;
            let by = earlier.by.as_ref().map_or(String::new(), |by| format!(" ({by})"));
            for ChangedVariable { name, value, .. } in &earlier.variables {
                writeln!(out, "set:      {name} = {}{by}", first_line(&value.to_string()))?;
            }
        }
        for VariableSetBefore { changed: ChangedVariable { name, value, .. }, by } in &head.set_before {
            writeln!(out, "set:      {name} = {} ({by})", first_line(&value.to_string()))?;
        }
        if let Some(script) = &head.script {
            writeln!(out, "script:   {}", one_line(&script.path))?;
        }
        for (name, value) in &head.inputs {
            writeln!(out, "input:    {name} = {}", first_line(&value.to_string()))?;
        }
    }
    if let Some(started) = run.started {
        writeln!(out, "started:  {}", time(started))?;
    }
    // A run of another implementation has no journal.
    let mut by_hand = Vec::new();
    let mut programs = ProgramNames::default();
    let view = view_of(&run.folder, |event| {
        programs.apply(event);
        by_hand.extend(done_by_hand(event, &programs));
    })
    .ok();
    if let Some(took) = took(run, view.as_ref()) {
        writeln!(out, "took:     {took}")?;
    }
    if let Some(sessions) = run.sessions {
        writeln!(out, "sessions: {sessions}")?;
    }
    if let Some(usage) = run.usage {
        writeln!(out, "tokens:   {} read, {} written", usage.input_tokens, usage.output_tokens)?;
        if let Some(cost) = usage.cost {
            writeln!(out, "cost:     ${cost:.4}")?;
        }
    }
    if let Some(pause) = &run.pause {
        writeln!(out, "paused:   {}, since {}", one_line(&pause.by.to_string()), time(pause.since))?;
    }
    for open in &run.waiting {
        let since = time(open.since);
        writeln!(out, "waiting:  {}", waiting::shown(open))?;
        match waiting::offered(open) {
            Some(offered) => writeln!(out, "          since {since}; answers: {offered}")?,
            None => writeln!(out, "          since {since}")?,
        }
        if let Some(note) = &open.note {
            writeln!(out, "          note: {}", one_line(note))?;
        }
    }
    if let Some(error) = run.error.as_ref().filter(|_| run.waiting.is_empty()) {
        writeln!(out, "error:    {}", first_line(error))?;
    }
    writeln!(out, "folder:   {}", one_line(&run.folder.to_string_lossy()))?;
    if let Some(end) = &details.end {
        for (name, value) in &end.outputs {
            writeln!(out, "\n{BOLD}{name}{BOLD:#}\n{}", lines(&value.to_string()))?;
        }
    }
    if !details.bindings.is_empty() {
        writeln!(out, "\n{BOLD}bindings{BOLD:#}")?;
        for binding in &details.bindings {
            let kind = binding.kind.as_deref().unwrap_or("?");
            writeln!(out, "  {kind:6} {} ({} bytes)", one_line(&binding.name), binding.bytes)?;
        }
    }
    if let Some(mut view) = view {
        // The process of a run that has no end was killed.
        if !run.status.is_executed() {
            view.interrupt();
        }
        let max = if shows_all { usize::MAX } else { census::MAX_LISTED };
        census::write(&view.census(), max, &mut out)?;
        agents::write(&view, &mut out)?;
        sessions::write(&view, &run.folder, shows_all, &mut out)?;
    }
    if !by_hand.is_empty() {
        writeln!(out, "\n{BOLD}by hand{BOLD:#}")?;
        by_hand.iter().try_for_each(|line| writeln!(out, "  {}", one_line(line)))?;
    }
    if let Some(prompts) = failed_prompts(&run.folder) {
        writeln!(out, "\n{BOLD}prompts of failed sessions{BOLD:#}")?;
        for path in prompts {
            writeln!(out, "  {}", one_line(&path))?;
        }
    }
    if let Some(command) = waiting::command(&run.id, &run.waiting) {
        writeln!(out, "\nAnswer with `{command}`.")?;
    } else if run.pause.is_some() {
        writeln!(out, "\nContinue it with `prose runs continue {}`.", run.id)?;
    } else if run.status.can_be_resumed() {
        let command = format!("prose resume {}", run.id);
        let end = details.end.as_ref().and_then(|end| end.error.as_ref());
        match end.and_then(|error| how_to_continue(&command, &error.message)) {
            // Without a higher limit, it would stop again.
            Some(help) => writeln!(out, "\nhelp: {help}")?,
            None => writeln!(out, "\nResume it with `{command}`.")?,
        }
    }
    Ok(())
}

/// What a person did instead of the program or an agent, in a line.
fn done_by_hand(event: &Event, programs: &ProgramNames) -> Option<String> {
    let what = match &event.kind {
        EventKind::VariableSet { name, by, .. } => by.variable_warning(name),
        EventKind::Effect { effect, work, .. } if effect == "session" => {
            work.given_by.as_ref()?.reply_warning()
        }
        _ => return None,
    };
    let line = event.site.and_then(|site| programs.line(site));
    Some(line.map_or(what.clone(), |line| format!("{line}: {what}")))
}

/// The files with the prompts of sessions that failed, relative to the folder of the run. Those of imported programs lie deeper and are not listed.
fn failed_prompts(folder: &Path) -> Option<Vec<String>> {
    let entries = std::fs::read_dir(folder.join(PROMPTS_FOLDER)).ok()?;
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let mut paths: Vec<String> =
        names.filter(|name| name.ends_with(".md")).map(|name| format!("{PROMPTS_FOLDER}/{name}")).collect();
    paths.sort();
    (!paths.is_empty()).then_some(paths)
}

fn tail(
    project: &Project,
    start: Option<&str>,
    narration: Narration,
    follows: bool,
    terminal: &Terminal,
) -> Result<(), CommandError> {
    let details = details(project, start).map_err(CommandError::Message)?;
    let id = &details.summary.id;
    let path = journal_of(&details.summary.folder);
    if !path.exists() {
        return Err(CommandError::Message(format!(
            "run {id} has no journal to narrate, since it comes from another implementation; its state is in state.md in {}",
            details.summary.folder.display()
        )));
    }
    let mut narrator = Narrator::new(narration.into());
    let mut told = 0;
    loop {
        let mut reader = JournalReader::open(&path)?;
        let mut is_over = false;
        let mut out = terminal.stdout();
        loop {
            // The last line may be just being written; it is whole at the next look.
            let event = match reader.next() {
                Some(Ok(event)) => event,
                None => break,
                Some(Err(StateError::Damaged(_))) if follows => break,
                Some(Err(error)) => return Err(error.into()),
            };
            if event.seq > told {
                told = event.seq;
                is_over = matches!(event.kind, EventKind::RunEnded(_));
                for line in narrator.narrate(&event) {
                    writeln!(out, "{}", one_line(&line))?;
                }
            }
        }
        out.flush()?;
        drop(out);
        let is_running = project.show_run(id)?.summary.status.is_executed();
        if is_over || !follows || !is_running {
            return Ok(());
        }
        std::thread::sleep(LOOK);
    }
}

fn remove(project: &Project, runs: &[String], terminal: &Terminal) -> Result<(), CommandError> {
    for start in runs {
        let id = project.find_run(start)?;
        let folder = project.existing_run(&id)?;
        project.remove_run(&id)?;
        prose_run::forget_trees(&project.root, &folder);
        writeln!(terminal.stdout(), "removed {id}")?;
    }
    Ok(())
}
