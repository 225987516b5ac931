//! A program to run: read, with what it imports, and refused if something is wrong with it (decision 15).

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use prose_config::RunConfig;
use prose_registry::Reference;
use prose_syntax::{Code, Severity};
use prose_vm::program::Program;

use crate::check::settings::{Settings, identity};
use crate::check::{Analyst, Common, Diagnosed, source};
use crate::imports::{How, Imports};
use crate::output::full;
use crate::sources::{OtherTexts, Sources};
use crate::terminal::{self, ERROR, Terminal, WARNING, counted, one_line};

/// A program that can be run.
pub(crate) struct Loaded {
    pub(crate) program: Arc<Program>,
    pub(crate) config: RunConfig,
    /// The folder of its `prose.toml`.
    pub(crate) project: Option<PathBuf>,
}

/// Reads the program that an argument names. What keeps it from being run is told; none then.
pub(crate) fn load(what: &str, how: &How, terminal: &Terminal) -> io::Result<Option<Loaded>> {
    let is_file = Path::new(what).exists();
    let reference = Reference::parse(what).ok().filter(|reference| !is_file && !reference.is_local());
    let is_remote = reference.is_some();
    let (path, text) = match reference {
        // A program from elsewhere is what a program of this folder imports.
        Some(_) => (PathBuf::from("<program>.prose"), format!("use {what:?} as program\n")),
        None => {
            let path = PathBuf::from(what);
            match source::read_file(&path) {
                Ok(text) => (path, text),
                Err(reason) => {
                    writeln!(
                        terminal.stderr(),
                        "{ERROR}error{ERROR:#}: `{}` {}",
                        one_line(what),
                        one_line(&reason)
                    )?;
                    return Ok(None);
                }
            }
        }
    };
    let mut settings = Settings::nearest();
    let rules = settings.of(&path);
    let mut failures = settings.take_failures();
    let common = Common::new(settings, Imports::new(how.clone()));
    if Analyst::new(&common).note_imports(&path, &text, &rules) || is_remote {
        common.imports.look_up();
    }
    let mut analyst = Analyst::new(&common);
    let (diagnosed, program) = analyst.program(&path, &text, &rules, is_remote);
    failures.extend(common.imports.take_failures());
    let mut stderr = terminal.stderr();
    for failure in &failures {
        let path = failure.path.to_string_lossy();
        writeln!(stderr, "{ERROR}error{ERROR:#}: `{}` {}", one_line(&path), one_line(&failure.reason))?;
    }
    for remark in common.imports.take_remarks() {
        writeln!(stderr, "{WARNING}warning{WARNING:#}: {}", one_line(&remark))?;
    }
    // Why an import cannot be had is no mistake of the program, and still nothing that a run should find out when it is half done.
    let keeps = |diagnosed: &Diagnosed| {
        diagnosed.severity == Severity::Error || diagnosed.diagnostic.code == Code::W143
    };
    let mut errors: Vec<Diagnosed> = diagnosed.into_iter().filter(keeps).collect();
    for error in &mut errors {
        error.severity = Severity::Error;
    }
    if !errors.is_empty() {
        let others = OtherTexts::of(&errors, crate::check::text_of_other);
        let name = if is_remote { what.to_owned() } else { path.to_string_lossy().into_owned() };
        let sources = Sources::new(&name, &text, &others);
        let renderer = full::renderer(terminal.stdout_is_styled(), terminal::width());
        stderr.write_all(full::render(&errors, &sources, &renderer).as_bytes())?;
        let found = counted(errors.len(), "error");
        writeln!(stderr, "{ERROR}error{ERROR:#}: `{}` has {found} and is not run", one_line(what))?;
        return Ok(None);
    }
    let Some(program) = program.filter(|_| failures.is_empty()) else {
        if failures.is_empty() {
            writeln!(stderr, "{ERROR}error{ERROR:#}: the program `{}` could not be read", one_line(what))?;
        }
        return Ok(None);
    };
    let project = rules.project();
    Ok(Some(Loaded {
        program,
        config: project.config.run.clone(),
        project: project.path.as_deref().map(identity).and_then(|path| path.parent().map(Path::to_owned)),
    }))
}
