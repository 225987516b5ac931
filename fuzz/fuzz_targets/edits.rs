//! Parsing again after each of some edits gives what parsing the new text from scratch gives.

#![no_main]

#[path = "../../crates/prose-syntax/tests/it/invariants/mod.rs"]
mod invariants;

use arbitrary::{Arbitrary, Unstructured};
use libfuzzer_sys::fuzz_target;

/// One edit. Places are clamped to the text.
#[derive(Debug, Arbitrary)]
struct Edit<'a> {
    start: u16,
    deleted: u8,
    inserted: &'a str,
}

// The text comes first and as it is, so that programs can be seeds; the edits are read behind the first NUL byte.
fuzz_target!(|bytes: &[u8]| {
    let (text, edits) = match bytes.iter().position(|&byte| byte == 0) {
        Some(end) => (&bytes[..end], &bytes[end + 1..]),
        None => (bytes, &bytes[bytes.len()..]),
    };
    let Ok(text) = std::str::from_utf8(text) else { return };
    let Ok(edits) = Vec::<Edit<'_>>::arbitrary_take_rest(Unstructured::new(edits)) else { return };
    let mut text = text.to_owned();
    let mut parsed = invariants::check_parse(&text);
    for Edit { start, deleted, inserted } in edits {
        let start = text.floor_char_boundary(usize::from(start));
        let end = text.floor_char_boundary(start + usize::from(deleted));
        (parsed, text) = invariants::check_reparse(&parsed, &text, start..end, inserted);
    }
});
