//! Looks for the key that `tests/run-all` plants in the environment of all tests, in the folders that are its arguments.
//!
//! Fails if a file contains the key, or if there is none to search.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "it reports what it finds")]

use std::path::Path;
use std::process::ExitCode;

use prose_tests::planted::Search;

fn main() -> ExitCode {
    let key = std::env::var("PROSE_PLANTED_KEY").unwrap_or_default();
    if key.is_empty() {
        eprintln!("error: `PROSE_PLANTED_KEY` is not set; `tests/run-all` sets it");
        return ExitCode::from(2);
    }
    let mut search = Search::new(&key);
    std::env::args_os().skip(1).for_each(|folder| search.add(Path::new(&folder)));
    for (path, form) in &search.found {
        eprintln!("error: {} contains the planted key as {form}", path.display());
    }
    println!("{} files searched, {} with the planted key", search.read, search.found.len());
    match search.found.is_empty() && search.read > 0 {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}
