//! What a user types at the terminal: read for the question that is shown, and for no other one.

#[cfg(not(unix))]
mod other;
mod typed;
#[cfg(unix)]
mod unix;

use std::io::{self, IsTerminal};

#[cfg(not(unix))]
pub(crate) use self::other::{background, discard, foreground, is_foreground, line};
pub(crate) use self::typed::Typed;
#[cfg(unix)]
pub(crate) use self::unix::{background, discard, foreground, is_foreground, line};

/// Whether the user at the terminal can be asked. A process in the background has no terminal to ask at: the system stops it when it reads from there.
pub(crate) fn can_ask() -> bool {
    io::stdin().is_terminal() && is_foreground()
}
