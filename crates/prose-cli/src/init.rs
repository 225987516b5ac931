//! `prose init`: sets up a project.

mod json;
mod kits;
mod step;
mod text;

use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

use prose_harness::mcp::is_installed;

use self::step::{FileKind, ProjectFile, Step};
use crate::cli::init::{AgentName, InitArgs, KitArgs, NewArgs};
use crate::keyboard::says_yes;
use crate::status::Status;
use crate::terminal::{BOLD, ERROR, Terminal, WARNING, one_line};

macro_rules! template {
    ($path:literal, $kind:ident) => {
        ProjectFile {
            path: $path,
            text: include_str!(concat!("../templates/", $path)),
            kind: FileKind::$kind,
        }
    };
}

const SETTINGS: ProjectFile = template!("prose.toml", Whole);
const PROGRAM: ProjectFile = template!("main.prose", Whole);
/// Tests of the program.
const TESTS: ProjectFile = template!("main.test.toml", Whole);
/// What runs write is private. `prose.lock` and the memories in `.prose/agents` belong into version control.
const IGNORED: ProjectFile =
    ProjectFile { path: ".gitignore", text: ".prose/runs/\n.prose/.env\n", kind: FileKind::Lines };

/// Sets up a project, or lists what would be written.
pub(crate) fn run(args: &InitArgs, terminal: &Terminal) -> io::Result<Status> {
    set_up(&args.folder, &args.kits, terminal)
}

/// Sets up a project in a folder without files.
pub(crate) fn new(args: &NewArgs, terminal: &Terminal) -> io::Result<Status> {
    let is_empty = match fs::read_dir(&args.folder) {
        Ok(mut entries) => entries.next().is_none(),
        // Other errors, also of a file, are those of setting it up.
        Err(_) => true,
    };
    if !is_empty {
        let shown = args.folder.to_string_lossy();
        let command = format!("prose init {}", prose_project::shell::word(&shown));
        let (shown, command) = (one_line(&shown), one_line(&command));
        writeln!(
            terminal.stderr(),
            "{ERROR}error{ERROR:#}: `{shown}` is not empty; set up a project there with `{command}`"
        )?;
        return Ok(Status::Trouble);
    }
    set_up(&args.folder, &args.kits, terminal)
}

fn set_up(root: &Path, args: &KitArgs, terminal: &Terminal) -> io::Result<Status> {
    if root.exists() && !root.is_dir() {
        let shown = root.to_string_lossy();
        writeln!(terminal.stderr(), "{ERROR}error{ERROR:#}: `{}` is not a folder", one_line(&shown))?;
        return Ok(Status::Trouble);
    }
    let agents = chosen_agents(args, terminal)?;
    let steps = steps(root, &agents);
    if !args.dry_run
        && let Err((path, reason)) = write(root, &steps)
    {
        writeln!(terminal.stderr(), "{ERROR}error{ERROR:#}: `{path}` {}", one_line(&reason))?;
        return Ok(Status::Trouble);
    }
    let mut out = terminal.stdout();
    for (file, step) in &steps {
        show(&mut out, file, step, args.dry_run)?;
    }
    if !args.dry_run {
        show_next(&mut out, root, &steps, &agents)?;
    }
    let needs_user = steps.iter().any(|(_, step)| matches!(step, Step::ByHand(_)));
    Ok(if needs_user { Status::ErrorsFound } else { Status::Clean })
}

/// The agents whose kits the user wants.
fn chosen_agents(args: &KitArgs, terminal: &Terminal) -> io::Result<Vec<AgentName>> {
    let mut agents = match &args.agents {
        Some(named) if !named.is_empty() => named.clone(),
        Some(_) => {
            let found = found_agents();
            if found.is_empty() {
                let programs = AgentName::ALL.map(|agent| format!("`{}`", agent.program()));
                writeln!(
                    terminal.stderr(),
                    "{WARNING}warning{WARNING:#}: no coding agent is on PATH: {}",
                    programs.join(", ")
                )?;
            }
            found
        }
        None if args.dry_run => Vec::new(),
        None => offered_agents(terminal)?,
    };
    agents.sort_by_key(|agent| AgentName::ALL.iter().position(|other| other == agent));
    agents.dedup();
    Ok(agents)
}

fn found_agents() -> Vec<AgentName> {
    AgentName::ALL.into_iter().filter(|agent| is_installed(agent.program(), Path::new("."))).collect()
}

/// Asks at a terminal whether the agents on this machine get their kits.
fn offered_agents(terminal: &Terminal) -> io::Result<Vec<AgentName>> {
    let found = found_agents();
    if found.is_empty() || !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Ok(Vec::new());
    }
    let mut stderr = terminal.stderr();
    write!(
        stderr,
        "Install the kits for {}, so that they can check and run programs? [y/N] ",
        titles(&found)
    )?;
    stderr.flush()?;
    drop(stderr);
    Ok(if says_yes(false)? { found } else { Vec::new() })
}

/// `Claude Code, Codex and OpenCode`.
fn titles(agents: &[AgentName]) -> String {
    let titles: Vec<&str> = agents.iter().map(|agent| agent.title()).collect();
    match &titles[..] {
        [others @ .., last] if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        titles => titles.join(""),
    }
}

/// What happens to each file of the project.
fn steps(root: &Path, agents: &[AgentName]) -> Vec<(ProjectFile, Step)> {
    let mut steps = vec![(SETTINGS, SETTINGS.step(root))];
    let program = match PROGRAM.step(root) {
        Step::Create(_) if has_programs(root) => Step::Left("the folder has programs".to_owned()),
        step => step,
    };
    let is_ours = matches!(program, Step::Create(_) | Step::Unchanged);
    steps.push((PROGRAM, program));
    // They fit no other program.
    if is_ours {
        steps.push((TESTS, TESTS.step(root)));
    }
    steps.push((IGNORED, IGNORED.step(root)));
    for file in agents.iter().flat_map(|agent| kits::files(*agent)) {
        if !steps.iter().any(|(other, _)| other == file) {
            steps.push((*file, file.step(root)));
        }
    }
    steps
}

/// Whether a folder has programs, so that it needs no first one.
fn has_programs(root: &Path) -> bool {
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.path())
        .any(|path| path.extension().is_some_and(|it| it == "prose") && path.is_file())
}

/// Writes the files. The error has the path and the reason.
fn write(root: &Path, steps: &[(ProjectFile, Step)]) -> Result<(), (&'static str, String)> {
    steps.iter().try_for_each(|(file, step)| file.write(root, step).map_err(|reason| (file.path, reason)))
}

fn show(out: &mut dyn Write, file: &ProjectFile, step: &Step, is_dry: bool) -> io::Result<()> {
    let (what, reason) = match step {
        Step::Create(_) if is_dry => ("would create", None),
        Step::Create(_) => ("created", None),
        Step::Extend { .. } if is_dry => ("would extend", None),
        Step::Extend { .. } => ("extended", None),
        Step::Unchanged => ("unchanged", None),
        Step::Left(reason) => ("left", Some(format!(": {reason}"))),
        Step::ByHand(reason) => ("left", Some(format!(": {reason}; add this by hand:"))),
    };
    let reason = reason.unwrap_or_default();
    writeln!(out, "{BOLD}{what:>12}{BOLD:#} {}{}", file.path, one_line(&reason))?;
    match step {
        Step::ByHand(_) => file.text.lines().try_for_each(|line| writeln!(out, "{:13}{line}", "")),
        _ => Ok(()),
    }
}

/// Shows what to do with a new project.
fn show_next(
    out: &mut dyn Write,
    root: &Path,
    steps: &[(ProjectFile, Step)],
    agents: &[AgentName],
) -> io::Result<()> {
    let is_created = |file: &ProjectFile| {
        steps.iter().any(|(other, step)| other == file && matches!(step, Step::Create(_)))
    };
    let mut next = Vec::new();
    if is_created(&PROGRAM) {
        next.push(("prose run main.prose", "run the first program; no model is asked"));
    }
    if is_created(&TESTS) {
        next.push(("prose test", "test it with fixed replies"));
    }
    let kit_is_new = |agent: &AgentName| kits::files(*agent).iter().any(is_created);
    if agents.iter().any(kit_is_new) {
        next.push(("prose trust", "with `run = true` in `[mcp]` of `prose.toml`: let agents run programs"));
    }
    if next.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nNext:")?;
    if root != Path::new(".") {
        // A shell takes a name such as `-x` for an option.
        let is_option = root.to_string_lossy().starts_with('-');
        let folder = if is_option { Path::new(".").join(root) } else { root.to_owned() };
        let folder = prose_project::shell::word(&folder.to_string_lossy()).into_owned();
        writeln!(out, "  cd {}", one_line(&folder))?;
    }
    let width = next.iter().map(|(command, _)| command.len()).max().unwrap_or_default();
    next.iter().try_for_each(|(command, about)| writeln!(out, "  {command:width$}  {about}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_are_listed_as_in_a_sentence() {
        use AgentName::{Claude, Codex, OpenCode};
        assert_eq!(titles(&[Claude]), "Claude Code");
        assert_eq!(titles(&[Claude, Codex, OpenCode]), "Claude Code, Codex and OpenCode");
    }
}
