//! A program to run: read, with what it imports, and refused if something is wrong with it (decision 15).

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use prose_config::Config;
use prose_markdown::{path_of_program, program_at_path};
use prose_registry::Reference;
use prose_run::Grants;
use prose_syntax::{Code, Diagnostic, Severity};
use prose_vm::program::Program;

use crate::check::parts::{Part, parts};
use crate::check::settings::{Rules, Settings, identity, shown};
use crate::check::{Analyst, Common, Diagnosed, source};
use crate::cli::STDIN;
use crate::imports::{How, Imports};
use crate::output::full;
use crate::position::LineIndex;
use crate::sources::{OtherTexts, Sources};
use crate::terminal::{self, ERROR, Terminal, WARNING, counted, one_line};

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
            more => writeln!(stderr, "{} more; `prose check` shows all of them", counted(more, "warning")),
        }
    }
}

/// The warnings about a program, but none of what is merely worth knowing.
fn warnings(diagnosed: &[Diagnosed], name: &str, text: &str) -> Vec<String> {
    let index = LineIndex::new(text);
    let warnings = diagnosed.iter().filter(|diagnosed| diagnosed.severity == Severity::Warning);
    let lines = warnings.map(|Diagnosed { diagnostic, .. }| {
        let start = index.position(diagnostic.range.start());
        let (name, message) = (one_line(name), one_line(&diagnostic.message));
        format!(
            "{name}:{}:{}: {WARNING}warning[{}]{WARNING:#}: {message}",
            start.line, start.column, diagnostic.code
        )
    });
    lines.collect()
}

/// The program that is meant by the path of a file and, in a document with several, by its number.
pub(crate) fn part<'a>(path: &'a Path, text: &'a str, number: Option<usize>) -> Result<Part<'a>, String> {
    let mut parts = parts(path, text);
    let wanted = match number {
        Some(number) => {
            let wanted = path_of_program(path, number);
            parts.iter().position(|part| part.path() == wanted)
        }
        None => (parts.len() == 1).then_some(0),
    };
    if let Some(wanted) = wanted {
        return Ok(parts.swap_remove(wanted));
    }
    let names = parts.iter().map(|part| format!("`{}`", part.path().to_string_lossy()));
    let names = names.collect::<Vec<_>>().join(", ");
    Err(match (parts.is_empty(), number) {
        (true, _) => "has no program: a block that starts with ```prose would be one".to_owned(),
        (false, None) => format!("has several programs; say which one is meant: {names}"),
        (false, Some(_)) => format!("is not there; the document has {names}"),
    })
}

/// Reads the program that an argument names. What keeps it from being run is told; none then.
pub(crate) fn load(what: &str, how: &How, terminal: &Terminal) -> io::Result<Option<Loaded>> {
    let is_stdin = what == "-";
    let what = if is_stdin { STDIN } else { what };
    let is_file = !is_stdin && Path::new(what).exists();
    let in_document = program_at_path(Path::new(what)).filter(|_| !is_file && !is_stdin);
    let reference =
        Reference::parse(what).ok().filter(|reference| !is_file && !is_stdin && !reference.is_local());
    let is_remote = reference.is_some() && in_document.is_none();
    let refused = |reason: &str| {
        writeln!(terminal.stderr(), "{ERROR}error{ERROR:#}: `{}` {}", one_line(what), one_line(reason))
    };
    let (path, number) = match in_document {
        Some((document, number)) => (document, Some(number)),
        // A program from elsewhere is what a program of this folder imports.
        None if is_remote => (PathBuf::from("<program>.prose"), None),
        None if is_stdin => (PathBuf::from(STDIN), None),
        None => (PathBuf::from(what), None),
    };
    let read = if is_stdin {
        source::read_stdin()
    } else if is_remote {
        Ok(format!("use {what:?} as program\n"))
    } else {
        source::read_file(&path)
    };
    let text = match read {
        Ok(text) => text,
        Err(reason) => return refused(&reason).map(|()| None),
    };
    let part = match part(&path, &text, number) {
        Ok(part) => part,
        Err(reason) => return refused(&reason).map(|()| None),
    };
    let mut settings = Settings::nearest();
    let rules = settings.of(&path);
    let mut failures = settings.take_failures();
    let ignored = settings.take_ignored();
    let common = Common::new(settings, Imports::new(how.clone()));
    if Analyst::new(&common).note_imports(part.path(), part.text(), &rules) || is_remote {
        common.imports.look_up();
    }
    let mut analyst = Analyst::new(&common);
    let (diagnosed, program) = analyst.program(&path, &part, &rules, is_remote);
    failures.extend(common.imports.take_failures());
    let mut stderr = terminal.stderr();
    for failure in &failures {
        let path = failure.path.to_string_lossy();
        writeln!(stderr, "{ERROR}error{ERROR:#}: `{}` {}", one_line(&path), one_line(&failure.reason))?;
    }
    for remark in ignored.into_iter().chain(common.imports.take_remarks()) {
        writeln!(stderr, "{WARNING}warning{WARNING:#}: {}", one_line(&remark))?;
    }
    // Why an import cannot be had is no mistake of the program, and still nothing that a run should find out when it is half done.
    let keeps = |diagnosed: &Diagnosed| {
        diagnosed.severity == Severity::Error || diagnosed.diagnostic.code == Code::W143
    };
    let warnings = match is_remote {
        // What is wrong with a program of somebody else is nothing that its user can change.
        true => Vec::new(),
        false => warnings(&diagnosed, &path.to_string_lossy(), &text),
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
    if !tell_of_settings(&rules, what, &mut stderr)? {
        return Ok(None);
    }
    Ok(Some(Loaded {
        program,
        config: project.config.clone(),
        grants: project.config.imports.grants(),
        project: project.path.as_deref().map(identity).and_then(|path| path.parent().map(Path::to_owned)),
        warnings,
    }))
}

/// Tells what is wrong with the settings of a program. Gives whether it can be run with them.
fn tell_of_settings(rules: &Rules, what: &str, stderr: &mut dyn Write) -> io::Result<bool> {
    let project = rules.project();
    let Some(path) = &project.path else { return Ok(true) };
    let path = shown(path);
    let index = LineIndex::new(&project.text);
    let place = |diagnostic: &Diagnostic| {
        let start = index.position(diagnostic.range.start());
        format!("{}:{}:{}", one_line(&path.to_string_lossy()), start.line, start.column)
    };
    for Diagnosed { diagnostic, .. } in rules.diagnosed(&path, &project.problems) {
        let (code, place) = (diagnostic.code, place(&diagnostic));
        writeln!(stderr, "{WARNING}warning[{code}]{WARNING:#}: {place}: {}", one_line(&diagnostic.message))?;
    }
    let Some(error) = project.run_error() else { return Ok(true) };
    let place = place(error);
    writeln!(
        stderr,
        "{ERROR}error{ERROR:#}: `{}` is not run, since how to run it is not understood; mend {place}",
        one_line(what)
    )?;
    Ok(false)
}
