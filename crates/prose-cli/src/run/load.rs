//! The program to run: loaded, or refused with the reason (decision 15).

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use prose_config::Config;
use prose_project::files::{identity, shown};
use prose_project::imports::ImportOptions;
use prose_project::load::{self, STDIN};
use prose_project::position::Positions;
use prose_project::runnable::Refusal;
use prose_project::{Diagnosed, Rules};
use prose_run::Grants;
use prose_syntax::{Code, Severity};
use prose_vm::program::Program;

use crate::output::full;
use crate::sources::{OtherTexts, Sources};
use crate::terminal::{self, ERROR, Terminal, WARNING, counted, one_line, write_failures};

/// A program that can be run.
pub(crate) struct Loaded {
    pub(crate) program: Arc<Program>,
    pub(crate) config: Config,
    /// What the settings let fetched programs do.
    pub(crate) grants: Grants,
    /// The folder of its `prose.toml`.
    pub(crate) project: Option<PathBuf>,
    /// Warnings about the program, a line for each.
    pub(crate) warnings: Vec<String>,
}

impl Loaded {
    /// Writes the warnings about the program.
    pub(crate) fn write_warnings(&self, terminal: &Terminal) -> io::Result<()> {
        const MAX_SHOWN: usize = 10;
        let mut stderr = terminal.stderr();
        for warning in self.warnings.iter().take(MAX_SHOWN) {
            writeln!(stderr, "{warning}")?;
        }
        match self.warnings.len().saturating_sub(MAX_SHOWN) {
            0 => Ok(()),
            more => writeln!(stderr, "{} more; run `prose check` for all of them", counted(more, "warning")),
        }
    }
}

/// The warnings about a program, and that an earlier text of an import is used. What is wrong with a program of another author is nothing that its user
/// can change.
fn warnings(loaded: &load::Loaded) -> Vec<String> {
    let index = Positions::new(&loaded.file_text);
    let is_shown = |Diagnosed { diagnostic, severity }: &&Diagnosed| {
        *severity == Severity::Warning && !loaded.is_remote || diagnostic.code == Code::W143
    };
    let lines = loaded.diagnosed.iter().filter(is_shown).map(|Diagnosed { diagnostic, .. }| {
        let message = one_line(&diagnostic.message);
        let place = match loaded.is_remote {
            true => String::new(),
            false => {
                let start = index.position(diagnostic.range.start());
                format!("{}:{}:{}: ", one_line(&loaded.path.to_string_lossy()), start.line, start.column)
            }
        };
        format!("{place}{WARNING}warning[{}]{WARNING:#}: {message}", diagnostic.code)
    });
    lines.collect()
}

/// Loads the program that an argument names. What keeps it from being run is written; none then.
pub(crate) fn load(what: &str, options: ImportOptions, terminal: &Terminal) -> io::Result<Option<Loaded>> {
    let name = if what == "-" { STDIN } else { what };
    let mut stderr = terminal.stderr();
    let loaded = match load::load(what, options) {
        Ok(loaded) => loaded,
        Err(reason) => {
            writeln!(stderr, "{ERROR}error{ERROR:#}: `{}` {}", one_line(name), one_line(&reason))?;
            return Ok(None);
        }
    };
    write_remarks(&loaded, terminal)?;
    write_problems_of_settings(&loaded.rules, loaded.program.as_ref().err(), terminal)?;
    let warnings = warnings(&loaded);
    let load::Loaded { path, file_text, is_remote, rules, failures, program, .. } = loaded;
    let program = match program {
        Ok(program) if failures.is_empty() => program,
        Err(refusal) if failures.is_empty() || !matches!(refusal, Refusal::Unreadable(_)) => {
            if let Refusal::Errors(errors) = &refusal {
                let shown = if is_remote { name.to_owned() } else { path.to_string_lossy().into_owned() };
                write_diagnostics(&shown, &file_text, errors, terminal)?;
            }
            let refusal = refusal.to_string();
            writeln!(stderr, "{ERROR}error{ERROR:#}: `{}` {}", one_line(name), one_line(&refusal))?;
            return Ok(None);
        }
        // The reason is written with the remarks.
        _ => return Ok(None),
    };
    Ok(Some(Loaded {
        program,
        config: rules.config().clone(),
        grants: rules.config().grants(),
        project: rules.folder().map(identity),
        warnings,
    }))
}

/// Writes which files could not be read, and remarks about settings and imports.
pub(crate) fn write_remarks(loaded: &load::Loaded, terminal: &Terminal) -> io::Result<()> {
    write_failures(&mut terminal.stderr(), &loaded.failures)?;
    terminal::write_remarks(&mut terminal.stderr(), &loaded.remarks)
}

/// Draws diagnostics of a file.
pub(crate) fn write_diagnostics(
    name: &str,
    text: &str,
    diagnosed: &[Diagnosed],
    terminal: &Terminal,
) -> io::Result<()> {
    let others = OtherTexts::read(diagnosed);
    let sources = Sources::new(name, text, &others);
    let renderer = full::renderer(terminal.stdout_is_styled(), terminal::width());
    terminal.stderr().write_all(full::render(diagnosed, &sources, &renderer).as_bytes())
}

/// Writes a line for each problem of the settings of a program, but for the one that the program is refused for: the refusal names it.
fn write_problems_of_settings(
    rules: &Rules,
    refusal: Option<&Refusal>,
    terminal: &Terminal,
) -> io::Result<()> {
    let refused = match refusal {
        Some(Refusal::Settings { line, message, .. }) => Some((*line, message)),
        _ => None,
    };
    let project = rules.project();
    let Some(path) = &project.path else { return Ok(()) };
    let path = shown(path);
    let index = Positions::new(&project.text);
    for Diagnosed { diagnostic, .. } in rules.problems() {
        let start = index.position(diagnostic.range.start());
        if refused == Some((start.line, &diagnostic.message)) {
            continue;
        }
        let (path, message) = (path.to_string_lossy(), one_line(&diagnostic.message));
        let (code, line, column) = (diagnostic.code, start.line, start.column);
        writeln!(
            terminal.stderr(),
            "{WARNING}warning[{code}]{WARNING:#}: {}:{line}:{column}: {message}",
            one_line(&path)
        )?;
    }
    Ok(())
}
