//! What the tests share: fixtures as analysed programs.

use std::path::{Path, PathBuf};

pub(crate) mod offered;
mod programs;

pub(crate) use programs::{Analysed, analysed, expect_lines, load};

/// Programs of all kinds: the examples of the project.
pub(crate) fn samples() -> Vec<(PathBuf, String)> {
    let samples = programs_below(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples"));
    assert!(samples.len() > 5, "the examples have moved");
    samples
}

/// The official programs.
pub(crate) fn official_programs() -> Vec<(PathBuf, String)> {
    let root = std::env::var("PROSE_OFFICIAL_PROGRAMS").expect("PROSE_OFFICIAL_PROGRAMS names their folder");
    programs_below(root.into())
}

/// The programs in a folder and those in it, in the order of their paths.
fn programs_below(folder: PathBuf) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![folder];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("the folder can be read") {
            let path = entry.expect("the folder can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "prose") {
                let text = std::fs::read_to_string(&path).expect("programs are text");
                found.push((path, text));
            }
        }
    }
    found.sort();
    found
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
