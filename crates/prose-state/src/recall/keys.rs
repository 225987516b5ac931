//! By what an effect of an earlier execution is known again.

use smol_str::{SmolStr, format_smolstr};

/// The last step of the place at which the memory of a session's agent is looked up.
pub(super) const MEMORY_STEP: &str = "/memory";

/// The key of a session whose work is in a working tree: in another tree, and in the project, that work would be missing.
pub(super) fn key_in_tree(fingerprint: &str, folder: &str) -> SmolStr {
    format_smolstr!("{fingerprint} {folder}")
}

/// The key of an effect by its place and its kind.
pub(crate) fn key_of_place(place: &str, kind: &str) -> SmolStr {
    format_smolstr!("{place} {kind}")
}

/// The key of an effect whose place may have other numbers now: those of calls are given in the order in which calls are made, and that may be another
/// one where a result came later than it did before. A summary is made where it is needed first.
pub(super) fn key_of_both(place: &str, kind: &str, fingerprint: &str) -> SmolStr {
    if kind == "summarise" {
        return fingerprint.into();
    }
    let mut key = String::with_capacity(place.len() + kind.len() + fingerprint.len() + 2);
    for step in place.split('/') {
        key.push_str(if is_numbered(step, &['f', 'm']) { &step[..1] } else { step });
        key.push('/');
    }
    key.push_str(kind);
    key.push(' ');
    key.push_str(fingerprint);
    key.into()
}

/// Whether a step of a place is one of these letters with a number.
fn is_numbered(step: &str, letters: &[char]) -> bool {
    let number = step.strip_prefix(letters).unwrap_or_default();
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// The place of a session, of which that of a retry is one step further.
pub(super) fn first_attempt(place: &str) -> &str {
    match place.rsplit_once('/') {
        Some((session, step)) if is_numbered(step, &['a']) => session,
        _ => place,
    }
}
