//! What the tests share: fixtures as analysed programs.

#![allow(dead_code, reason = "each test file uses what it needs of this module")]

use std::path::{Path, PathBuf};

pub(crate) mod offered;
mod programs;

#[allow(unused_imports, reason = "each test file uses what it needs of this module")]
pub(crate) use programs::analysed;

/// Programs of all kinds: the examples of the project.
pub(crate) fn samples() -> Vec<(PathBuf, String)> {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut samples: Vec<(PathBuf, String)> = std::fs::read_dir(examples)
        .expect("the examples are there")
        .map(|entry| entry.expect("the folder can be read").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "prose"))
        .map(|path| (path.clone(), std::fs::read_to_string(path).expect("examples are text")))
        .collect();
    samples.sort();
    assert!(samples.len() > 5);
    samples
}
