//! `prose compile`: checks a program and writes it in the canonical form of the language reference (R126, R127).

use std::io::{self, Write};
use std::path::PathBuf;

use prose_format::canonical;
use prose_markdown::program_at_path;
use prose_syntax::Severity;

use crate::Status;
use crate::check::settings::Settings;
use crate::check::{Analyst, Common, source};
use crate::cli::{CompileArgs, STDIN};
use crate::imports::{How, Imports};
use crate::output::full;
use crate::run::load::part;
use crate::sources::{OtherTexts, Sources};
use crate::terminal::{self, ERROR, Terminal, WARNING, counted, one_line};

/// Writes the canonical form of a program to standard output, and what is wrong with it to standard error.
pub(crate) fn run(args: &CompileArgs, terminal: &Terminal) -> io::Result<Status> {
    let is_stdin = args.program.as_os_str() == "-";
    let named = if is_stdin { STDIN.into() } else { args.program.to_string_lossy() };
    let in_document = program_at_path(&args.program).filter(|_| !args.program.exists());
    let (path, number) = match in_document {
        Some((document, number)) => (document, Some(number)),
        None if is_stdin => (PathBuf::from(STDIN), None),
        None => (args.program.clone(), None),
    };
    let text = if is_stdin { source::read_stdin() } else { source::read_file(&path) };
    let mut stderr = terminal.stderr();
    let part = text.as_ref().map_err(String::clone).and_then(|text| Ok((text, part(&path, text, number)?)));
    let (text, part) = match part {
        Ok(found) => found,
        Err(reason) => {
            writeln!(stderr, "{ERROR}error{ERROR:#}: `{}` {}", one_line(&named), one_line(&reason))?;
            return Ok(Status::Trouble);
        }
    };

    let mut settings = Settings::nearest();
    let rules = settings.of(&path);
    let mut failures = settings.take_failures();
    let ignored = settings.take_ignored();
    let common = Common::new(settings, Imports::new(How { offline: args.offline, ..How::default() }));
    if Analyst::new(&common).note_imports(part.path(), part.text(), &rules) {
        common.imports.look_up();
    }
    let (diagnosed, _) = Analyst::new(&common).program(&path, &part, &rules, false);
    failures.extend(common.imports.take_failures());
    for failure in &failures {
        let path = failure.path.to_string_lossy();
        writeln!(stderr, "{ERROR}error{ERROR:#}: `{}` {}", one_line(&path), one_line(&failure.reason))?;
    }
    for remark in ignored.into_iter().chain(common.imports.take_remarks()) {
        writeln!(stderr, "{WARNING}warning{WARNING:#}: {}", one_line(&remark))?;
    }
    if !diagnosed.is_empty() {
        let others = OtherTexts::of(&diagnosed, crate::check::text_of_other);
        let name = path.to_string_lossy();
        let sources = Sources::new(&name, text, &others);
        let renderer = full::renderer(terminal.stdout_is_styled(), terminal::width());
        stderr.write_all(full::render(&diagnosed, &sources, &renderer).as_bytes())?;
    }
    let errors = diagnosed.iter().filter(|found| found.severity == Severity::Error).count();
    if errors > 0 {
        let found = counted(errors, "error");
        writeln!(stderr, "{ERROR}error{ERROR:#}: `{}` has {found} and is not compiled", one_line(&named))?;
        return Ok(Status::ErrorsFound);
    }
    if !failures.is_empty() {
        return Ok(Status::Trouble);
    }
    let mut stdout = terminal::raw_stdout();
    stdout.write_all(canonical(part.text()).as_bytes())?;
    stdout.flush()?;
    Ok(Status::Clean)
}
