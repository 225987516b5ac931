//! Temporary folders of tests.

use std::io;

use tempfile::{Builder, TempDir};

/// The environment variable that keeps the folders. `tests/run-all` sets it to search them for keys after all tests.
const KEEP: &str = "PROSE_KEEP_FOLDERS";

/// A new temporary folder for what a program under test writes. It is removed with the value, unless the folders are kept.
pub fn tempdir() -> io::Result<TempDir> {
    Builder::new().disable_cleanup(std::env::var_os(KEEP).is_some()).tempdir()
}
