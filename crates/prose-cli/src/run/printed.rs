//! What goes to standard output, which may have a reader that has seen enough.

use std::borrow::Cow;
use std::cell::RefCell;
use std::io::{self, Write};

use tokio::sync::Notify;

use crate::terminal::{one_line, raw_stdout, stdout_is_terminal};

/// Standard output of a run. That it cannot be written to is no reason to lose what the run has done.
#[derive(Default)]
pub(crate) struct Output {
    error: RefCell<Option<io::Error>>,
    failed: Notify,
}

impl Output {
    /// Writes something, unless writing has failed before.
    pub(crate) fn write(&self, write: impl FnOnce() -> io::Result<()>) {
        if self.error.borrow().is_some() {
            return;
        }
        if let Err(error) = write() {
            self.error.replace(Some(error));
            self.failed.notify_one();
        }
    }

    /// Is ready when something could not be written, with the reason.
    pub(crate) async fn failed(&self) -> String {
        self.failed.notified().await;
        self.error.borrow().as_ref().map_or_else(String::new, ToString::to_string)
    }

    /// What went wrong. A reader that closes early, as in `prose run … | head`, is nothing wrong.
    pub(crate) fn into_error(self) -> Option<io::Error> {
        self.error.into_inner().filter(|error| error.kind() != io::ErrorKind::BrokenPipe)
    }
}

/// Writes a value and a line feed: to a program as it is, to a person without characters that would steer the terminal.
pub(crate) fn write(text: &str) -> io::Result<()> {
    let text = if stdout_is_terminal() { Cow::Owned(shown(text)) } else { Cow::Borrowed(text) };
    let mut out = raw_stdout();
    out.write_all(text.as_bytes())?;
    out.write_all(b"\n")
}

/// A text of several lines without characters that would steer the terminal.
pub(crate) fn shown(text: &str) -> String {
    let line = |line: &str| line.split('\t').map(one_line).collect::<Vec<_>>().join("\t");
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_tabs_stay_and_other_control_characters_do_not() {
        assert_eq!(shown("a\tb\r\nc\u{1b}[2Jd\u{7}\n"), "a\tb\nc\\u{1b}[2Jd\\u{7}");
    }
}
