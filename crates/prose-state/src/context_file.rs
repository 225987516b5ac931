//! The files that a program passes to sessions whose agents cannot read them (decision 12).

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use prose_vm::effect::Failure;
use prose_vm::error::ErrorKind;

use crate::disk::is_absent;
use crate::folder::Project;

/// How large a file may be. A model that shortens it has to read all of it, and none reads more than this.
const LARGEST: u64 = 1 << 20;

/// The content of a file, by the path that a program gives it.
pub(crate) fn read(project: &Project, path: &str) -> Result<Arc<str>, Failure> {
    let file = allowed(project, path)?;
    text_of(&file).map_err(|message| Failure { kind: ErrorKind::Other, message })
}

/// Whether there is a file at the path that a program gives it, for an agent that reads it itself.
pub(crate) fn check(project: &Project, path: &str) -> Result<(), Failure> {
    let file = allowed(project, path)?;
    check_is_file(&file).map_err(|message| Failure { kind: ErrorKind::Other, message })
}

/// Where a path leads, if it is a place that the run may read (decision 14).
fn allowed(project: &Project, path: &str) -> Result<PathBuf, Failure> {
    project.named_by_program(path).ok_or_else(|| {
        let message = format!(
            "the file `{path}` of the context lies outside the project {}. Name a file inside it, or pass `--allow-outside` to `prose run` or \
            `prose resume`",
            project.root.display()
        );
        Failure { kind: ErrorKind::UnsafePath, message }
    })
}

fn unreadable(file: &Path, error: io::Error) -> String {
    match is_absent(&error) {
        true => format!("there is no file {}", file.display()),
        false => format!("{} cannot be read: {error}", file.display()),
    }
}

/// Only then is it opened: what is no file may let a reader wait for ever.
fn check_is_file(file: &Path) -> Result<(), String> {
    let metadata = fs::metadata(file).map_err(|error| unreadable(file, error))?;
    if metadata.is_dir() {
        return Err(format!("{} is a folder; name the files in it", file.display()));
    }
    if !metadata.is_file() {
        return Err(format!("{} is no file that can be read to its end", file.display()));
    }
    Ok(())
}

/// The text in a file, or why there is none.
fn text_of(file: &Path) -> Result<Arc<str>, String> {
    check_is_file(file)?;
    let mut bytes = Vec::new();
    File::open(file)
        .and_then(|opened| opened.take(LARGEST + 1).read_to_end(&mut bytes))
        .map_err(|error| unreadable(file, error))?;
    if bytes.len() as u64 > LARGEST {
        return Err(format!(
            "{} is larger than {} MiB, the most that is passed on; name a part of it in a file of its own",
            file.display(),
            LARGEST >> 20
        ));
    }
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => Ok(text.into()),
        _ => Err(format!("{} is no text in UTF-8", file.display())),
    }
}
