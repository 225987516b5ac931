//! Reading programs: every way in which that can fail, said so that the reader knows what to do.

use std::io;
use std::path::Path;

use prose_files::{Limit, ReadError, decode, read_named_text, read_stream};

/// Reads a file that should be a program.
pub(crate) fn read_file(path: &Path) -> Result<String, String> {
    read_named_text(path, Limit::PROGRAM).map_err(|error| match error {
        ReadError::Pipe => format!("{error}; to read it, use `prose check - <` and its name"),
        error => error.to_string(),
    })
}

/// Reads standard input to its end.
pub(crate) fn read_stdin() -> Result<String, String> {
    read_stream(io::stdin().lock(), Limit::PROGRAM).and_then(decode).map_err(|error| error.to_string())
}
