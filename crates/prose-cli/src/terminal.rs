//! The two output streams: colours, width, and text that must not steer the terminal.

use std::io::{self, IsTerminal, Write};
use std::sync::OnceLock;
use std::time::{Duration, UNIX_EPOCH};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use prose_project::Failure;
pub(crate) use prose_syntax::text::counted;
pub(crate) use prose_tui::text::one_line;

use crate::color::ColorWhen;

/// The style of the word `error`.
pub(crate) const ERROR: Style = AnsiColor::BrightRed.on_default().bold();
/// The style of the word `warning`.
pub(crate) const WARNING: Style = AnsiColor::Yellow.on_default().bold();
/// The style of `help` and `tip`.
pub(crate) const HELP: Style = AnsiColor::BrightCyan.on_default().bold();
/// The style of headings and names.
pub(crate) const BOLD: Style = Style::new().bold();

/// Standard output and standard error, with colours where they are wanted. Everything is written styled; the streams take the
/// styles away where they would not be shown.
#[derive(Clone)]
pub(crate) struct Terminal {
    color: ColorChoice,
}

impl Terminal {
    pub(crate) fn new(when: ColorWhen) -> Self {
        let color = match when {
            ColorWhen::Auto => ColorChoice::Auto,
            ColorWhen::Always => ColorChoice::Always,
            ColorWhen::Never => ColorChoice::Never,
        };
        Self { color }
    }

    pub(crate) fn stdout(&self) -> AutoStream<io::StdoutLock<'static>> {
        AutoStream::new(io::stdout().lock(), self.color)
    }

    pub(crate) fn stderr(&self) -> AutoStream<io::StderrLock<'static>> {
        AutoStream::new(io::stderr().lock(), self.color)
    }

    /// Whether standard error shows colours.
    pub(crate) fn stderr_has_colors(&self) -> bool {
        match self.color {
            ColorChoice::Auto => AutoStream::choice(&io::stderr()) != ColorChoice::Never,
            choice => choice != ColorChoice::Never,
        }
    }

    /// Whether standard output shows styles, so that none are made that would be removed again.
    pub(crate) fn stdout_is_styled(&self) -> bool {
        match self.color {
            ColorChoice::Auto => AutoStream::choice(&io::stdout()) != ColorChoice::Never,
            choice => choice != ColorChoice::Never,
        }
    }
}

/// Standard output as it is, for what must arrive byte by byte.
pub(crate) fn raw_stdout() -> io::StdoutLock<'static> {
    io::stdout().lock()
}

/// The width of the terminal behind a pager, from the start of the pager on.
static WIDTH_BEFORE_PAGER: OnceLock<usize> = OnceLock::new();

/// Keeps the width of the terminal before standard output goes to a pager.
#[cfg(unix)]
pub(crate) fn keep_width() {
    if let Some(width) = width() {
        WIDTH_BEFORE_PAGER.get_or_init(|| width);
    }
}

/// Whether standard output is a terminal.
pub(crate) fn stdout_is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// The width of the terminal that standard output goes to, also through a pager, if it goes to one.
pub(crate) fn width() -> Option<usize> {
    if let Some(width) = WIDTH_BEFORE_PAGER.get() {
        return Some(*width);
    }
    terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0))
}

/// A time, given in milliseconds since 1970.
pub(crate) fn time(milliseconds: u64) -> String {
    humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_millis(milliseconds)).to_string()
}

/// The first line of a text, by which it is told. One that ends with a colon says nothing without what stands below it, as in the message of a program
/// that failed and wrote why.
pub(crate) fn first_line(text: &str) -> String {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    match lines.next() {
        Some(second) if first.ends_with(':') => one_line(&format!("{first} {second}")).into_owned(),
        _ => one_line(first).into_owned(),
    }
}

/// The text without control characters other than its line breaks.
pub(crate) fn lines(text: &str) -> String {
    text.lines().map(one_line).collect::<Vec<_>>().join("\n")
}

/// Writes which files could not be read, checked or written, a line for each.
pub(crate) fn write_failures(out: &mut dyn Write, failures: &[Failure]) -> io::Result<()> {
    failures.iter().try_for_each(|Failure { path, reason }| {
        let path = path.to_string_lossy();
        writeln!(out, "{ERROR}error{ERROR:#}: `{}` {}", one_line(&path), one_line(reason))
    })
}

/// Writes remarks, a line for each.
pub(crate) fn write_remarks(out: &mut dyn Write, remarks: &[String]) -> io::Result<()> {
    remarks.iter().try_for_each(|remark| writeln!(out, "{WARNING}warning{WARNING:#}: {}", one_line(remark)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_line_that_ends_with_a_colon_says_what_stands_below() {
        assert_eq!(first_line("exit status: 3:\n\n  no key\nat x"), "exit status: 3: no key");
        assert_eq!(first_line("\nNo key.\nat x"), "No key.");
        assert_eq!(first_line("Why:\n"), "Why:");
        assert_eq!(first_line(""), "");
    }
}
