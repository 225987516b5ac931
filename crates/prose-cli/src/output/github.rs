//! Workflow commands of GitHub Actions, which become annotations of the changed lines.

use std::io::{self, Write};
use std::path::Path;

use prose_syntax::Severity;

use crate::finding::CheckedFile;
use crate::output::repository::{Repository, forward_slashes};
use prose_project::Failure;

pub(crate) fn write(
    files: &[CheckedFile],
    failures: &[Failure],
    repository: &Repository,
    out: &mut dyn Write,
) -> io::Result<()> {
    for file in files {
        let path = repository.name(&file.path);
        for finding in &file.findings {
            let command = match finding.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Information | Severity::Hint => "notice",
            };
            let (start, end) = (finding.span.start, finding.span.end);
            write!(out, "::{command} file={},line={},endLine={}", property(&path), start.line, end.line)?;
            // Columns are only supported in annotations of a single line.
            if start.line == end.line {
                write!(out, ",col={},endColumn={}", start.column, end.column)?;
            }
            let title = format!("{}: {}", finding.code, finding.code.info().title);
            writeln!(out, ",title={}::{}", property(&title), data(&finding.message))?;
        }
    }
    for Failure { path, reason } in failures {
        let path = property(&repository.name(path));
        writeln!(out, "::error file={path},title=not checked::{}", data(&format!("This file {reason}")))?;
    }
    Ok(())
}

/// Writes an error for a line of a file.
pub(crate) fn write_error(
    path: &Path,
    line: usize,
    title: &str,
    message: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    let path = property(&forward_slashes(&path.to_string_lossy()));
    writeln!(out, "::error file={path},line={line},title={}::{}", property(title), data(message))
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_of_the_command_are_escaped() {
        assert_eq!(data("50%: a, b\r\n"), "50%25: a, b%0D%0A");
        assert_eq!(property("50%: a, b\n"), "50%25%3A a%2C b%0A");
    }
}
