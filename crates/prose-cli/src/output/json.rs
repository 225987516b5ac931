//! An array with one object for each finding.
//!
//! ```json
//! {
//!   "path": "a.prose",
//!   "code": "E001",
//!   "severity": "error",             // or "warning", "info", "hint"
//!   "title": "unterminated literal", // the same for every finding with this code
//!   "message": "…",                  // about this very finding
//!   "range": {
//!     "start": { "line": 1, "column": 9, "offset": 8 },
//!     "end": { "line": 1, "column": 12, "offset": 11 }
//!   },
//!   "fix": {                         // or null
//!     "title": "Insert '\"'",
//!     "safe": true,                  // false: a guess, to be looked at
//!     "edits": [{ "range": …, "text": "\"" }]
//!   },
//!   "related": [{                    // other places that explain it
//!     "path": "b.prose",
//!     "message": "…",
//!     "range": …
//!   }],
//!   "tags": ["unnecessary"]          // or "deprecated", or none
//! }
//! ```
//!
//! Paths are relative to the Git repository. Lines and columns start at 1 and columns count characters; offsets count bytes from 0. A range ends before its `end`, and
//! an edit whose range is empty inserts.

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;

use crate::finding::{CheckedFile, Finding, Span};
use crate::output::repository::Repository;

#[derive(Serialize)]
struct Record<'a> {
    path: &'a str,
    code: &'a str,
    severity: &'a str,
    title: &'a str,
    message: &'a str,
    range: Range,
    fix: Option<Fix<'a>>,
    related: Vec<Related<'a>>,
    tags: Vec<&'static str>,
}

#[derive(Serialize)]
struct Related<'a> {
    path: Cow<'a, str>,
    message: &'a str,
    range: Range,
}

#[derive(Serialize)]
struct Fix<'a> {
    title: &'a str,
    safe: bool,
    edits: Vec<Edit<'a>>,
}

#[derive(Serialize)]
struct Edit<'a> {
    range: Range,
    text: &'a str,
}

#[derive(Serialize)]
struct Range {
    start: Place,
    end: Place,
}

#[derive(Serialize)]
struct Place {
    line: usize,
    column: usize,
    offset: usize,
}

pub(crate) fn write(files: &[CheckedFile], repository: &Repository, out: &mut dyn Write) -> io::Result<()> {
    let shown = |path: &Path| repository.path(path).to_string_lossy().into_owned();
    let names: Vec<String> = files.iter().map(|file| shown(&file.path)).collect();
    let records: Vec<Record<'_>> = files
        .iter()
        .zip(&names)
        .flat_map(|(file, name)| file.findings.iter().map(move |finding| record(name, finding, &shown)))
        .collect();
    serde_json::to_writer_pretty(&mut *out, &records)?;
    writeln!(out)
}

fn record<'a>(path: &'a str, finding: &'a Finding, shown: &impl Fn(&Path) -> String) -> Record<'a> {
    let fix = finding.fix.as_ref().map(|fix| Fix {
        title: &fix.title,
        safe: fix.safe,
        edits: fix.edits.iter().map(|(span, text)| Edit { range: range(span), text }).collect(),
    });
    let related = finding.related.iter().map(|related| Related {
        path: related.path.as_ref().map_or(Cow::Borrowed(path), |path| Cow::Owned(shown(path))),
        message: &related.message,
        range: range(&related.span),
    });
    Record {
        path,
        code: finding.code.as_str(),
        severity: finding.severity.as_str(),
        title: finding.code.info().title,
        message: &finding.message,
        range: range(&finding.span),
        fix,
        related: related.collect(),
        tags: finding.tags.iter().map(|tag| tag.as_str()).collect(),
    }
}

fn range(span: &Span) -> Range {
    let Span { start, end, bytes } = span;
    Range {
        start: Place { line: start.line, column: start.column, offset: bytes.start },
        end: Place { line: end.line, column: end.column, offset: bytes.end },
    }
}
