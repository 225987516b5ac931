//! Reading programs: every way in which that can fail, said so that the reader knows what to do.

use std::fs::{File, FileType};
use std::io::{self, Read};
use std::path::Path;

use crate::position::line_break_ends;

/// Positions in a program are 32 bits wide.
const LARGEST: u64 = u32::MAX as u64;

/// Reads a file that should be a program.
pub(crate) fn read_file(path: &Path) -> Result<String, String> {
    let length = check_readable(path)?;
    let mut bytes = Vec::new();
    // A failure to reserve is left to reading, which knows how much there really is.
    let _ = bytes.try_reserve_exact(usize::try_from(length).unwrap_or_default().saturating_add(1));
    File::open(path)
        .and_then(|file| file.take(LARGEST + 1).read_to_end(&mut bytes))
        .map_err(|error| explain(path, &error))?;
    decode(bytes)
}

/// Makes sure that there is something at a path that can be read to its end, and returns how long it is.
pub(crate) fn check_readable(path: &Path) -> Result<u64, String> {
    let metadata = path.metadata().map_err(|error| explain(path, &error))?;
    refuse_special_file(path, metadata.file_type())?;
    if metadata.len() > LARGEST {
        return Err(too_large());
    }
    Ok(metadata.len())
}

/// Reads standard input to its end.
pub(crate) fn read_stdin() -> Result<String, String> {
    let mut bytes = Vec::new();
    io::stdin()
        .lock()
        .take(LARGEST + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| format!("cannot be read: {}", reason(&error)))?;
    decode(bytes)
}

/// Opening a pipe that nobody writes to waits forever, and a device may have no end.
fn refuse_special_file(path: &Path, file_type: FileType) -> Result<(), String> {
    if file_type.is_file() {
        return Ok(());
    }
    if file_type.is_dir() {
        return Err("is a folder where a file was expected".to_owned());
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        // What has no contents has no mistakes. Reading any other device might never end.
        if file_type.is_char_device() && path.canonicalize().is_ok_and(|path| path == Path::new("/dev/null"))
        {
            return Ok(());
        }
        if file_type.is_fifo() {
            // The shell's `<(command)` names a pipe below `/dev` that surely has a writer.
            if path.starts_with("/dev") || path.starts_with("/proc") {
                return Ok(());
            }
            return Err(
                "is a named pipe, not a file; to read it, use `prose check - <` and its name".to_owned()
            );
        }
    }
    let _ = path;
    Err("is neither a file nor a folder".to_owned())
}

fn decode(bytes: Vec<u8>) -> Result<String, String> {
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > LARGEST {
        return Err(too_large());
    }
    String::from_utf8(bytes).map_err(|error| not_utf8(error.as_bytes(), error.utf8_error().valid_up_to()))
}

fn too_large() -> String {
    "is too large: a program must be smaller than 4 GiB".to_owned()
}

fn not_utf8(bytes: &[u8], offset: usize) -> String {
    let utf16 = bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]);
    if utf16 {
        return "is encoded in UTF-16; save it as UTF-8, the encoding of programs".to_owned();
    }
    let line = line_break_ends(&bytes[..offset]).count() + 1;
    let byte = bytes[offset];
    format!("is not valid UTF-8: byte 0x{byte:02x} at offset {offset}, in line {line}")
}

/// Why a path cannot be read, as the rest of a sentence that starts with the path.
pub(crate) fn explain(path: &Path, error: &io::Error) -> String {
    let is_link = path.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink());
    match error.kind() {
        io::ErrorKind::NotFound if is_link => match path.read_link() {
            Ok(target) => format!("is a symbolic link to `{}`, which does not exist", target.display()),
            Err(_) => "is a symbolic link to nothing".to_owned(),
        },
        io::ErrorKind::NotFound => "does not exist".to_owned(),
        // Loops have no stable kind yet.
        _ if is_link && path.canonicalize().is_err() => {
            format!("is a symbolic link that cannot be followed: {}", reason(error))
        }
        _ => format!("cannot be read: {}", reason(error)),
    }
}

/// The system's words for an error, without the number that Rust adds.
pub(crate) fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut characters = text.chars();
    match characters.next() {
        Some(first) => first.to_lowercase().chain(characters).collect(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    #[track_caller]
    fn check(bytes: &[u8], expected: Expect) {
        expected.assert_eq(&decode(bytes.to_vec()).unwrap_or_else(|problem| problem));
    }

    #[test]
    fn invalid_utf8_is_placed() {
        check(
            b"session \"a\"\nsession \"\xff\"\n",
            expect!["is not valid UTF-8: byte 0xff at offset 21, in line 2"],
        );
        check(b"cut \xe2\x82", expect!["is not valid UTF-8: byte 0xe2 at offset 4, in line 1"]);
    }

    #[test]
    fn utf16_is_recognised() {
        check(b"\xff\xfes\0e\0", expect!["is encoded in UTF-16; save it as UTF-8, the encoding of programs"]);
    }

    #[test]
    fn a_file_that_has_gone_does_not_exist() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gone.prose");
        std::fs::write(&path, "").unwrap();
        assert_eq!(read_file(&path), Ok(String::new()));
        std::fs::remove_file(&path).unwrap();
        assert_eq!(read_file(&path), Err("does not exist".to_owned()));
    }
}
