//! Any bytes that are text have a lossless tree and well-placed diagnostics.

#![no_main]

#[path = "../../crates/prose-syntax/tests/it/invariants/mod.rs"]
mod invariants;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(text) = std::str::from_utf8(bytes) {
        invariants::check_parse(text);
    }
});
