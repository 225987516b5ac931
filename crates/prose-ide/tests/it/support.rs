//! What the tests share: fixtures as analysed programs.

use std::path::{Path, PathBuf};

pub(crate) mod offered;
mod programs;

pub(crate) use programs::{Analysed, analysed, expect_lines, load};

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

/// A statement with names in the places of `A`, `B` and `C`.
pub(crate) fn with_names(statement: &str, [a, b, c]: [&str; 3]) -> String {
    let mut text = String::new();
    for part in statement.split_inclusive(['A', 'B', 'C']) {
        let (before, name) = match part.as_bytes().last() {
            Some(b'A') => (&part[..part.len() - 1], a),
            Some(b'B') => (&part[..part.len() - 1], b),
            Some(b'C') => (&part[..part.len() - 1], c),
            _ => (part, ""),
        };
        text += before;
        text += name;
    }
    text
}
