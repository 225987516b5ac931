//! What a user types at the terminal: read for the question that is shown, and for no other one.

#[cfg(not(unix))]
mod other;
mod typed;
#[cfg(unix)]
mod unix;

use std::io::{self, BufRead, IsTerminal};

#[cfg(not(unix))]
pub(crate) use self::other::{background, discard, foreground, is_foreground, line};
pub(crate) use self::typed::Typed;
#[cfg(unix)]
pub(crate) use self::unix::{background, discard, foreground, is_foreground, line};

/// Whether the user at the terminal can be asked. A process in the background has no terminal to ask at: the system stops it when it reads from there.
pub(crate) fn can_ask() -> bool {
    io::stdin().is_terminal() && is_foreground()
}

/// Reads the answer to a question that was just written, which is yes or no. `by_default` is what an empty line means; everything else than yes is no.
pub(crate) fn says_yes(by_default: bool) -> io::Result<bool> {
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    Ok(match line.trim().to_ascii_lowercase().as_str() {
        "" => by_default,
        answer => ["y", "yes"].contains(&answer),
    })
}
