//! `prose compile`: checks a program and writes it in the canonical form of the language reference (R126, R127).

use std::io::{self, Write};

use prose_format::canonical;
use prose_project::imports::ImportOptions;
use prose_project::load::load_file;
use prose_syntax::Severity;

use crate::cli::{CompileArgs, STDIN};
use crate::run::load::{write_diagnostics, write_remarks};
use crate::status::Status;
use crate::terminal::{self, ERROR, Terminal, counted, one_line};

/// Writes the canonical form of a program to standard output, and its diagnostics to standard error.
pub(crate) fn run(args: &CompileArgs, terminal: &Terminal) -> io::Result<Status> {
    let is_stdin = args.program.as_os_str() == "-";
    let named = if is_stdin { STDIN.into() } else { args.program.to_string_lossy() };
    let options = ImportOptions { offline: args.offline, ..ImportOptions::default() };
    let mut stderr = terminal.stderr();
    let loaded = match load_file(&args.program, options) {
        Ok(loaded) => loaded,
        Err(reason) => {
            writeln!(stderr, "{ERROR}error{ERROR:#}: `{}` {}", one_line(&named), one_line(&reason))?;
            return Ok(Status::Trouble);
        }
    };
    write_remarks(&loaded, terminal)?;
    let diagnosed = &loaded.diagnosed;
    if !diagnosed.is_empty() {
        write_diagnostics(&loaded.path.to_string_lossy(), &loaded.file_text, diagnosed, terminal)?;
    }
    let errors = diagnosed.iter().filter(|found| found.severity == Severity::Error).count();
    if errors > 0 {
        let found = counted(errors, "error");
        writeln!(stderr, "{ERROR}error{ERROR:#}: `{}` has {found} and is not compiled", one_line(&named))?;
        return Ok(Status::ErrorsFound);
    }
    if !loaded.failures.is_empty() {
        return Ok(Status::Trouble);
    }
    let mut stdout = terminal::raw_stdout();
    stdout.write_all(canonical(&loaded.text).as_bytes())?;
    stdout.flush()?;
    Ok(Status::Clean)
}
