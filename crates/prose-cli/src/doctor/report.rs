//! The report of `prose doctor`.

use std::fmt::Display;
use std::io::{self, Write};

use crate::terminal::{BOLD, ERROR, HELP, Terminal, WARNING, one_line};

/// The report, written while checking.
pub(super) struct Report<'a> {
    pub(super) terminal: &'a Terminal,
    pub(super) problems: usize,
}

impl Report<'_> {
    pub(super) fn good(&mut self, about: &str, message: impl Display) -> io::Result<()> {
        let message = message.to_string();
        writeln!(self.terminal.stdout(), "ok       {BOLD}{about}{BOLD:#}: {}", one_line(&message))
    }

    /// A note about a possible problem.
    pub(super) fn note(&mut self, about: &str, message: impl Display) -> io::Result<()> {
        let message = message.to_string();
        writeln!(
            self.terminal.stdout(),
            "{WARNING}note{WARNING:#}     {BOLD}{about}{BOLD:#}: {}",
            one_line(&message)
        )
    }

    pub(super) fn problem(
        &mut self,
        about: &str,
        message: impl Display,
        help: impl Display,
    ) -> io::Result<()> {
        self.problems += 1;
        let (message, help) = (message.to_string(), help.to_string());
        let mut out = self.terminal.stdout();
        writeln!(out, "{ERROR}problem{ERROR:#}  {BOLD}{about}{BOLD:#}: {}", one_line(&message))?;
        writeln!(out, "         {HELP}help{HELP:#}: {}", one_line(&help))
    }
}
