//! The notification that outcomes are on the server: it names those of one run, so that its leader reads them by their keys.

use std::fmt::Write;
use std::sync::Arc;

use prose_vm::effect::RequestId;

use crate::effects::Key;

/// What is said of outcomes that are not named.
pub(crate) const DONE: &str = "done";

/// How many outcomes are named at most: a notification has up to 8000 bytes.
const MAX_NAMED: usize = 300;

/// What is said of outcomes.
pub(crate) fn done(keys: &[Key]) -> String {
    let mut text = DONE.to_owned();
    let Some((run, _)) = keys.first() else { return text };
    if keys.len() > MAX_NAMED || keys.iter().any(|(of, _)| of != run) {
        return text;
    }
    // Writing to a text does not fail.
    let _ = write!(text, " {run}");
    for (_, id) in keys {
        let _ = write!(text, " {}", id.0);
    }
    text
}

/// The outcomes that a notification names.
pub(crate) fn named(text: &str) -> Option<Vec<Key>> {
    let (run, ids) = text.strip_prefix(DONE)?.strip_prefix(' ')?.split_once(' ')?;
    let run: Arc<str> = Arc::from(run);
    ids.split(' ').map(|id| Some((Arc::clone(&run), RequestId(id.parse().ok()?)))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(run: &str, ids: std::ops::Range<u64>) -> Vec<Key> {
        ids.map(|id| (Arc::from(run), RequestId(id))).collect()
    }

    #[test]
    fn outcomes_of_one_run_are_named() {
        let few = keys("20261130-081500-k3x9", 7..10);
        assert_eq!(done(&few), "done 20261130-081500-k3x9 7 8 9");
        assert_eq!(named(&done(&few)), Some(few));
        let far = keys("20261130-081500-k3x9", 999_999_999_999..1_000_000_000_299);
        assert!(done(&far).len() < 8000);
        for other in [keys("a", 0..301), [keys("a", 0..1), keys("b", 0..1)].concat(), Vec::new()] {
            assert_eq!(done(&other), DONE);
        }
    }

    #[test]
    fn what_names_no_outcomes_is_something_else() {
        for text in [DONE, "done ", "done a", "done a x", "done a 1 ", "effect", "donea 1"] {
            assert_eq!(named(text), None, "{text}");
        }
    }
}
