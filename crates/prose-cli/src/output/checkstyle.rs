//! The XML of Checkstyle, which many tools read.

use std::fmt::Write as _;
use std::io::{self, Write};

use prose_project::Failure;
use prose_syntax::Severity;

use crate::finding::CheckedFile;
use crate::output::repository::Repository;

pub(crate) fn write(
    files: &[CheckedFile],
    failures: &[Failure],
    repository: &Repository,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<checkstyle version=\"4.3\">")?;
    for file in files {
        writeln!(out, "  <file name=\"{}\">", escaped(&repository.name(&file.path)))?;
        for finding in &file.findings {
            let severity = match finding.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Information | Severity::Hint => "info",
            };
            let start = &finding.span.start;
            writeln!(
                out,
                "    <error line=\"{}\" column=\"{}\" severity=\"{severity}\" message=\"{}\" source=\"prose.{}\"/>",
                start.line,
                start.column,
                escaped(&finding.message),
                finding.code
            )?;
        }
        writeln!(out, "  </file>")?;
    }
    for Failure { path, reason } in failures {
        let message = escaped(&format!("This file {reason}"));
        writeln!(out, "  <file name=\"{}\">", escaped(&repository.name(path)))?;
        writeln!(out, "    <error severity=\"error\" message=\"{message}\" source=\"prose.not-checked\"/>")?;
        writeln!(out, "  </file>")?;
    }
    writeln!(out, "</checkstyle>")
}

/// The value of an attribute. XML has no way to write most control characters.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\n' | '\r' | '\t' => {
                // Writing to a string cannot fail.
                let _ = write!(escaped, "&#{};", character as u32);
            }
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            character => escaped.push(character),
        }
    }
    escaped
}
