//! How much a test tries, by variables of the environment.

use std::str::FromStr;

/// The number in a variable, if it is set.
#[track_caller]
pub fn number<N: FromStr>(variable: &str) -> Option<N> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("`{variable}` is no number: {text}")))
}
