//! The files that a program passes to sessions whose agents cannot read them (decision 12).

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

pub use prose_rights::is_protected;
use prose_rights::{Right, normalized};
use prose_vm::effect::{Failure, FileUse};
use prose_vm::error::ErrorKind;

use crate::disk::is_absent;
use crate::folder::Project;

/// How large a file may be. A model that shortens it has to read all of it, and none reads more than this.
const MAX_BYTES: u64 = 1 << 20;

/// The content of a file, by the path that a program gives it. The failure is [`ErrorKind::UnsafePath`] if the program may not pass it on, and
/// [`ErrorKind::Other`] if it cannot be read.
pub fn read(project: &Project, file: &FileUse) -> Result<Arc<str>, Failure> {
    let file = allowed(project, file)?;
    text_of(&file).map_err(|message| Failure { kind: ErrorKind::Other, message })
}

/// Whether there is a file at the path that a program gives it, for an agent that reads it itself.
pub(crate) fn check(project: &Project, file: &FileUse) -> Result<(), Failure> {
    let file = allowed(project, file)?;
    check_is_file(&file).map_err(|message| Failure { kind: ErrorKind::Other, message })
}

/// The path that a program gives a file, without `.` and empty parts, if it is that of the file wherever the project is and on any system: it leads neither out
/// of the project nor through `..`, and has no characters that separate parts elsewhere.
pub fn portable_path(path: &str) -> Option<String> {
    let mut parts = Path::new(path).components();
    let is_below = parts.all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    (is_below && !path.starts_with("~/") && !path.contains(['\\', ':'])).then(|| normalized(path))
}

/// Where a path leads, if it is a place that the run may read (decision 14), no protected file, and one that the program has a right to (decision 19).
fn allowed(project: &Project, file: &FileUse) -> Result<PathBuf, Failure> {
    let path = &*file.path;
    let refused = |message| Failure { kind: ErrorKind::UnsafePath, message };
    let target = project.named_by_program(path).ok_or_else(|| {
        refused(format!(
            "context file `{path}` is outside of the project {}; use a file in the project, or pass `--allow-outside` to `prose run` or \
            `prose resume`",
            project.root.display()
        ))
    })?;
    // Neither the name nor what it leads to gets around the other.
    for place in [normalized(path), project.settled(&target)] {
        let is_listed = || project.allowed_files.iter().any(|listed| normalized(listed) == place);
        if is_protected(&place) && !(file.is_exact && is_listed()) {
            return Err(refused(protected(path, &place, file.rights.is_some())));
        }
        if let Some(rights) = &file.rights
            && !rights.iter().any(|right| right.covers_file(&place))
        {
            return Err(refused(format!(
                "context file `{path}` is not passed on: the fetched program needs the right `{}`, which is not granted",
                Right::files(&place)
            )));
        }
    }
    Ok(target)
}

/// Why a protected file is not passed on, and what a person can do about it.
fn protected(path: &str, place: &str, is_fetched: bool) -> String {
    let leads =
        if normalized(path) == place { String::new() } else { format!(", which leads to `{place}`,") };
    let what = format!(
        "context file `{path}`{leads} is not passed on: it may contain secrets or control what programs may do"
    );
    match is_fetched {
        true => format!("{what}, and fetched programs cannot get the right to it"),
        false => format!(
            "{what}; to pass it anyway, write its path in the program without `{{…}}` and add it to `prose.toml`: `[run]` `allow-files = [{place:?}]`"
        ),
    }
}

fn unreadable(file: &Path, error: io::Error) -> String {
    match is_absent(&error) {
        true => format!("{} does not exist", file.display()),
        false => format!("{} cannot be read: {error}", file.display()),
    }
}

/// Only then is it opened: what is no file may let a reader wait for ever.
fn check_is_file(file: &Path) -> Result<(), String> {
    let metadata = fs::metadata(file).map_err(|error| unreadable(file, error))?;
    if metadata.is_dir() {
        return Err(format!("{} is a folder; list the files in it", file.display()));
    }
    if !metadata.is_file() {
        return Err(format!("{} is not a regular file", file.display()));
    }
    Ok(())
}

/// The text in a file, or why there is none.
fn text_of(file: &Path) -> Result<Arc<str>, String> {
    check_is_file(file)?;
    let mut bytes = Vec::new();
    File::open(file)
        .and_then(|opened| opened.take(MAX_BYTES + 1).read_to_end(&mut bytes))
        .map_err(|error| unreadable(file, error))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(format!(
            "{} is larger than the limit of {} MiB; put the relevant part into a separate file",
            file.display(),
            MAX_BYTES >> 20
        ));
    }
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => Ok(text.into()),
        _ => Err(format!("{} is not valid UTF-8", file.display())),
    }
}
