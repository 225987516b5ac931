//! Reads files whose size and kind nobody has checked.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The bytes of a regular file of at most `max` bytes; none if there is no such file. Pipes and devices are refused before they are opened, since
/// opening a pipe waits for its writer.
pub(crate) fn read(path: &Path, max: u64) -> io::Result<Option<Vec<u8>>> {
    let metadata = match std::fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    if !metadata.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(max + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max {
        let message = format!("it is larger than {} KiB", max >> 10);
        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
    }
    Ok(Some(bytes))
}
