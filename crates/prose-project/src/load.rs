//! Loads the program that the user named: reads its file, fetches its imports, and checks whether it can be run.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use prose_markdown::program_at_path;
use prose_reference::Reference;
use prose_registry::{Freshness, Program as FetchedProgram};
use prose_vm::program::Program;

use crate::checker::{Checker, Context};
use crate::files::{Failure, read_program, read_stdin, shown};
use crate::imports::{ImportOptions, Imports, block_on};
use crate::parts::{document_of, part, parts};
use crate::runnable::Refusal;
use crate::settings::{Diagnosed, Rules, Settings};

/// The name of standard input.
pub const STDIN: &str = "<stdin>";

/// A program that the user named.
pub struct Loaded {
    /// The path of its file.
    pub path: PathBuf,
    /// The text of the file.
    pub file_text: String,
    /// The text of the program.
    pub text: String,
    /// Whether it is a remote program. The file is then a generated one that imports it.
    pub is_remote: bool,
    /// Its settings.
    pub rules: Arc<Rules>,
    /// Its diagnostics, with ranges in the file.
    pub diagnosed: Vec<Diagnosed>,
    /// Other files that could not be read.
    pub failures: Vec<Failure>,
    /// Warnings about settings and imports.
    pub remarks: Vec<String>,
    /// The program, or why it cannot be run, with ranges in the file.
    pub program: Result<Arc<Program>, Refusal>,
}

/// Loads a program by path, path with number, reference, or `-`. The error is the rest of a sentence that starts with the name.
pub fn load(what: &str, options: ImportOptions) -> Result<Loaded, String> {
    let path = Path::new(what);
    let is_remote = what != "-"
        && !path.exists()
        && program_at_path(path).is_none()
        && Reference::parse(what).is_ok_and(|reference| !reference.is_local());
    if is_remote {
        // A remote program is treated as an import of a program in this folder.
        let text = format!("use {what:?} as program\n");
        return load_text(PathBuf::from("<program>.prose"), None, text, true, options);
    }
    load_file(path, options)
}

/// Loads a program by path, path with number, or `-` for standard input.
pub fn load_file(path: &Path, options: ImportOptions) -> Result<Loaded, String> {
    if path.as_os_str() == "-" {
        return load_text(PathBuf::from(STDIN), None, read_stdin()?, false, options);
    }
    match document_of(path) {
        Some((document, number)) => {
            let text = read_program(&document)?;
            load_text(document, Some(number), text, false, options)
        }
        None => load_text(path.to_owned(), None, read_program(path)?, false, options),
    }
}

/// A program that is only read.
pub struct ReadProgram {
    /// The path of its file.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
    /// Where its text starts in the file, in lines.
    pub first_line: usize,
}

/// Reads a program as [`load_file`] does, without its settings and imports.
pub fn read_file(path: &Path) -> Result<ReadProgram, String> {
    let (path, number, text) = match document_of(path) {
        _ if path.as_os_str() == "-" => (PathBuf::from(STDIN), None, read_stdin()?),
        Some((document, number)) => {
            let text = read_program(&document)?;
            (document, Some(number), text)
        }
        None => (path.to_owned(), None, read_program(path)?),
    };
    let (program, first_line) = {
        let part = part(&path, &text, number)?;
        (part.text().to_owned(), part.first_line(&text))
    };
    Ok(ReadProgram { path, text: program, first_line })
}

fn load_text(
    path: PathBuf,
    number: Option<usize>,
    file_text: String,
    is_remote: bool,
    options: ImportOptions,
) -> Result<Loaded, String> {
    let part = part(&path, &file_text, number)?;
    let mut settings = Settings::default();
    let rules = settings.of(&path);
    // An unreadable settings file is a reason by itself.
    let unreadable = settings.take_failures();
    let mut remarks = settings.take_ignored();
    let context = Context::new(settings, Imports::new(options));
    if Checker::new(&context).note_imports(part.path(), part.text(), &rules) || is_remote {
        context.imports.look_up();
    }
    let (diagnosed, program) = Checker::new(&context).runnable(&path, &part, &rules, is_remote);
    let mut failures = context.imports.take_failures();
    failures.extend(unreadable);
    remarks.extend(context.imports.take_remarks());
    let text = part.text().to_owned();
    Ok(Loaded { path, text, is_remote, rules, diagnosed, failures, remarks, program, file_text })
}

/// The programs from registries that the programs in a file import, directly or through others, as they would be run now. The error is the first of those that
/// are not there.
pub fn copies_of_imports(path: &Path) -> Result<Vec<FetchedProgram>, String> {
    let text = read_program(path).map_err(|reason| format!("`{}` {reason}", shown(path).display()))?;
    let mut settings = Settings::default();
    let rules = settings.of(path);
    let context = Context::new(settings, Imports::new(ImportOptions::default()));
    for part in parts(path, &text) {
        Checker::new(&context).note_imports(part.path(), part.text(), &rules);
    }
    let mut programs = Vec::new();
    for project in context.imports.projects().iter().filter(|project| project.has_remote_imports()) {
        let visited = block_on(project.walk(Freshness::Known)).map_err(|error| error.to_string())?;
        for (_, visited) in visited {
            programs.push(visited.into_copy()?);
        }
    }
    Ok(programs)
}
