//! The program that a person names: its file is found and read, what it imports is looked up, and it is checked whether it can be run.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use prose_markdown::program_at_path;
use prose_reference::Reference;
use prose_vm::program::Program;

use crate::checker::{Checker, Context};
use crate::files::{Failure, read_program, read_stdin};
use crate::imports::{ImportOptions, Imports};
use crate::parts::part;
use crate::runnable::Refusal;
use crate::settings::{Diagnosed, Rules, Settings};

/// What standard input is called.
pub const STDIN: &str = "<stdin>";

/// A program that a person has named.
pub struct Loaded {
    /// The file that it stands in.
    pub path: PathBuf,
    /// The text of the file.
    pub file_text: String,
    /// The text of the program.
    pub text: String,
    /// Whether it is a program from elsewhere. The file is then one that imports it and that nobody has written.
    pub is_remote: bool,
    /// Its settings.
    pub rules: Arc<Rules>,
    /// Its diagnostics. The places are those of the file.
    pub diagnosed: Vec<Diagnosed>,
    /// The files besides it that could not be read.
    pub failures: Vec<Failure>,
    /// Remarks about settings and imports.
    pub remarks: Vec<String>,
    /// The program, or why it is not run. Places of errors are those of the file.
    pub program: Result<Arc<Program>, Refusal>,
}

/// Loads the program that a path, a path with a number in a document, a reference or `-` names. The error is the rest of a sentence that starts
/// with the name.
pub fn load(what: &str, options: ImportOptions) -> Result<Loaded, String> {
    let path = Path::new(what);
    let is_remote = what != "-"
        && !path.exists()
        && program_at_path(path).is_none()
        && Reference::parse(what).is_ok_and(|reference| !reference.is_local());
    if is_remote {
        // A program from elsewhere is what a program of this folder imports.
        let text = format!("use {what:?} as program\n");
        return load_text(PathBuf::from("<program>.prose"), None, text, true, options);
    }
    load_file(path, options)
}

/// Loads the program at a path, at a path with a number in a document, or in standard input for `-`.
pub fn load_file(path: &Path, options: ImportOptions) -> Result<Loaded, String> {
    if path.as_os_str() == "-" {
        return load_text(PathBuf::from(STDIN), None, read_stdin()?, false, options);
    }
    match program_at_path(path).filter(|_| !path.exists()) {
        Some((document, number)) => {
            let text = read_program(&document)?;
            load_text(document, Some(number), text, false, options)
        }
        None => load_text(path.to_owned(), None, read_program(path)?, false, options),
    }
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
    // A file of settings that cannot be read is a reason of its own.
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
