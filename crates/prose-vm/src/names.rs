//! Names that become paths (decision 14).

use std::borrow::Cow;

use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::{SmolStr, format_smolstr};

use crate::effect::digest;

/// The maximum length in bytes of a name that is used as a file name unchanged.
const MAX_BYTES_OF_NAME: usize = 150;

/// The maximum length of a file name in bytes, without its extension: file systems allow 255, and temporary names need room.
const MAX_BYTES_OF_STEM: usize = 190;

/// The maximum length in bytes of an agent's name that is used for its memory unchanged.
const MAX_BYTES_OF_AGENT: usize = 180;

/// The number of bytes that are kept of a longer name.
const MAX_KEPT_BYTES: usize = 100;

/// A separator in file names that is not valid in names of programs, so that different names have different files.
const ESCAPE: char = '~';

/// Whether a name can be a file or folder name, apart from its length: a single path component.
pub fn is_safe(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with('.')
        && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))
}

/// The file names of a program's variables: their names (R101), except where two files would have the same name or the name is not portable. The same
/// names in the same order always have the same file names.
#[derive(Debug, Default)]
pub(crate) struct FileNames {
    bases: FxHashMap<SmolStr, SmolStr>,
    /// In lower case, since some file systems ignore case.
    taken: FxHashSet<String>,
}

impl FileNames {
    /// The file name for a variable, without the suffixes of frames and branches.
    pub(crate) fn base(&mut self, name: &SmolStr) -> SmolStr {
        if let Some(base) = self.bases.get(name) {
            return base.clone();
        }
        let lower = name.to_lowercase();
        let looks_marked = is_marked(&lower) || is_anonymous(&lower);
        let is_reserved = is_reserved(&lower);
        let is_free = self.taken.insert(lower);
        let base = if !is_free || is_reserved || name.len() > MAX_BYTES_OF_NAME {
            with_hash(name)
        } else if looks_marked {
            format_smolstr!("{name}{ESCAPE}")
        } else {
            name.clone()
        };
        self.bases.insert(name.clone(), base.clone());
        base
    }
}

/// A file name without its extension, truncated if it is too long.
pub(crate) fn file_stem(stem: Cow<'_, str>) -> Cow<'_, str> {
    if stem.len() > MAX_BYTES_OF_STEM { String::from(with_hash(&stem)).into() } else { stem }
}

/// The name of the folder and the segments of an agent's memory: that of the agent, truncated if it is too long (R42).
pub(crate) fn memory_base(agent: &SmolStr) -> SmolStr {
    if agent.len() > MAX_BYTES_OF_AGENT { with_hash(agent) } else { agent.clone() }
}

/// A portable folder name that differs from the numbered names of others.
pub(crate) fn folder_base(name: &str) -> SmolStr {
    let is_numbered = name.rsplit_once("--").is_some_and(|(_, number)| number.len() > 2 && is_number(number));
    match is_numbered || is_reserved(&name.to_lowercase()) {
        true => format_smolstr!("{name}{ESCAPE}"),
        false => name.into(),
    }
}

/// A unique replacement for a name that cannot be a file name.
fn with_hash(name: &str) -> SmolStr {
    format_smolstr!("{}{ESCAPE}{}", &name[..name.floor_char_boundary(MAX_KEPT_BYTES)], digest(name))
}

/// Whether a name has the form of a variable's file in a frame or a branch: `draft__43`, `draft__43_2_b1`.
fn is_marked(name: &str) -> bool {
    let is_mark = |mark: &str| {
        let mut parts = mark.split('_');
        parts.next().is_some_and(is_number)
            && parts.all(|part| is_number(part.strip_prefix('b').unwrap_or(part)))
    };
    name.match_indices("__").any(|(at, _)| is_mark(&name[at + 2..]))
}

/// Whether a name has the form of an uncaptured session (R20).
fn is_anonymous(name: &str) -> bool {
    name.strip_prefix("anon_").is_some_and(is_number)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether Windows reserves a file name for a device, with any extension.
fn is_reserved(name: &str) -> bool {
    let numbered =
        |device: &str| name.strip_prefix(device).is_some_and(|rest| matches!(rest.as_bytes(), [b'1'..=b'9']));
    matches!(name, "con" | "prn" | "aux" | "nul" | "conin" | "conout") || numbered("com") || numbered("lpt")
}

/// The error for an unsafe name.
pub fn unsafe_name(what: &str, name: &str) -> String {
    format!("the {what} name `{name}` is not a valid file name; use only letters, digits, `_` and `-`")
}

/// The name of the file of a segment: three digits, more when three are not enough (R47).
pub fn segment_file(agent: &str, number: u32) -> String {
    format!("{agent}-{number:03}.md")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r047_segments_have_three_digits_and_four_when_needed() {
        assert_eq!(segment_file("captain", 3), "captain-003.md");
        assert_eq!(segment_file("captain", 1000), "captain-1000.md");
    }

    #[track_caller]
    fn check_files(names: &[&str], expected: expect_test::Expect) {
        let mut files = FileNames::default();
        let bases: Vec<SmolStr> = names.iter().map(|name| files.base(&(*name).into())).collect();
        let again: Vec<SmolStr> = names.iter().map(|name| files.base(&(*name).into())).collect();
        assert_eq!(bases, again);
        let lower: FxHashSet<String> = bases.iter().map(|base| base.to_lowercase()).collect();
        assert_eq!(lower.len(), names.len(), "{bases:?}");
        expected.assert_eq(&bases.join(" "));
    }

    #[test]
    fn r101_files_have_the_names_of_variables() {
        check_files(
            &["draft", "draft_2", "größe", "__", "a__b", "anon", "anon_x", "x__", "com", "com10", "console"],
            expect_test::expect!["draft draft_2 größe __ a__b anon anon_x x__ com com10 console"],
        );
    }

    #[test]
    fn names_whose_file_could_be_that_of_another_are_told_apart() {
        check_files(
            &["x", "x__1", "x__1_2", "x__43_b1_2", "__1", "anon_001", "Anon_1", "Draft", "draft", "DRAFT"],
            expect_test::expect![
                "x x__1~ x__1_2~ x__43_b1_2~ __1~ anon_001~ Anon_1~ Draft draft~7743ce348d9284d6 DRAFT~53dd5f4b25e5f226"
            ],
        );
    }

    #[test]
    fn names_that_some_system_cannot_have_are_replaced() {
        check_files(
            &["con", "AUX", "lpt1"],
            expect_test::expect!["con~1143da2bc54c495c AUX~1898ed910d4be0a0 lpt1~cfbdeb88d77292b5"],
        );
        let mut files = FileNames::default();
        let long = "ä".repeat(200);
        let (one, other) = (files.base(&format_smolstr!("{long}1")), files.base(&format_smolstr!("{long}2")));
        assert!(one != other && one.len() == 117 && one.starts_with(&"ä".repeat(50)), "{one} {other}");
        assert!(file_stem(format!("{}__1{}", "x".repeat(150), "_2".repeat(40)).into()).len() < 130);
    }

    #[test]
    fn folders_of_calls_are_told_from_programs_of_such_names() {
        assert_eq!(folder_base("alice--research"), "alice--research");
        assert_eq!(folder_base("alice--research--002"), "alice--research--002~");
        assert_eq!(folder_base("nul"), "nul~");
    }

    #[test]
    fn names_that_lead_elsewhere_are_not_safe() {
        for name in ["", ".", "..", "a/b", "a\\b", "..x", "a:b", "a\0"] {
            assert!(!is_safe(name), "{name}");
        }
        for name in ["captain", "größe", "a-b_c", "v1.2"] {
            assert!(is_safe(name), "{name}");
        }
    }
}
