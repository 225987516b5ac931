//! Finds test files.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ignore::WalkBuilder;
use prose_project::Failure;

/// How the names of test files end.
pub const SUFFIX: &str = ".test.toml";

/// The result of a search.
#[derive(Debug, Default)]
pub struct Discovered {
    /// The test files, sorted by path.
    pub files: Vec<PathBuf>,
    /// What could not be read, and paths without tests.
    pub failures: Vec<Failure>,
}

/// Whether a path is that of a test file, by its name.
pub fn is_test_file(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(SUFFIX)) && !path.is_dir()
}

/// The program of a test file that names none: the one of the same name next to it.
pub fn program_of(test_file: &Path) -> PathBuf {
    let name = test_file.file_name().unwrap_or_default().to_string_lossy();
    let name = name.strip_suffix(SUFFIX).unwrap_or(&name);
    test_file.with_file_name(format!("{name}.prose"))
}

/// The test file that a program would have: the one of the same name next to it.
pub fn test_file_of(program: &Path) -> Option<PathBuf> {
    let name = program.file_stem()?.to_string_lossy();
    Some(program.with_file_name(format!("{name}{SUFFIX}")))
}

/// Finds the test files at paths: test files, programs, whose test files have the same name, and folders. Hidden and ignored files in folders are left out.
pub fn discover(paths: &[PathBuf]) -> Discovered {
    let mut found = BTreeSet::new();
    let mut failures = Vec::new();
    for path in paths {
        if path.is_dir() {
            for entry in WalkBuilder::new(path).require_git(false).build() {
                match entry {
                    Ok(entry) if is_test_file(entry.path()) => {
                        found.insert(without_dot(entry.path()));
                    }
                    Ok(_) => {}
                    Err(error) => failures
                        .push(Failure { path: path.clone(), reason: format!("cannot be read: {error}") }),
                }
            }
            continue;
        }
        let is_program = path.extension().is_some_and(|extension| extension == "prose");
        let file = if is_program { test_file_of(path) } else { Some(path.clone()) };
        match file {
            Some(file) if file.is_file() => _ = found.insert(without_dot(&file)),
            Some(file) if is_program && path.is_file() => {
                let reason = format!("has no tests; write them to `{}`", file.display());
                failures.push(Failure { path: path.clone(), reason });
            }
            _ => failures.push(Failure { path: path.clone(), reason: "does not exist".to_owned() }),
        }
    }
    Discovered { files: found.into_iter().collect(), failures }
}

/// `./a.test.toml` is displayed as `a.test.toml`.
fn without_dot(path: &Path) -> PathBuf {
    path.strip_prefix(".").unwrap_or(path).to_owned()
}
