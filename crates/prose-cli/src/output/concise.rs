//! `path:line:column: error[E001]: message`, one line for each diagnostic.

use std::io::{self, Write};

use prose_syntax::Severity;

use crate::finding::CheckedFile;
use crate::terminal::{self, BOLD, ERROR, WARNING, one_line};

pub(crate) fn write(files: &[CheckedFile], out: &mut dyn Write) -> io::Result<()> {
    for file in files {
        let name = file.name();
        let name = one_line(&name);
        for finding in &file.findings {
            let style = match finding.severity {
                Severity::Error => ERROR,
                Severity::Warning => WARNING,
                Severity::Information | Severity::Hint => terminal::HELP,
            };
            writeln!(
                out,
                "{BOLD}{name}{BOLD:#}:{line}:{column}: {style}{severity}[{code}]{style:#}: {message}",
                line = finding.span.start.line,
                column = finding.span.start.column,
                severity = finding.severity,
                code = finding.code,
                message = one_line(&finding.message),
            )?;
        }
    }
    Ok(())
}
