//! The report of Code Quality of GitLab, which shows diagnostics in merge requests.

use std::collections::HashMap;
use std::io::{self, Write};

use prose_project::Failure;
use prose_syntax::Severity;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::finding::CheckedFile;
use crate::output::repository::Repository;

#[derive(Serialize)]
struct Issue<'a> {
    description: String,
    check_name: &'a str,
    /// What GitLab recognises the same issue by in another commit.
    fingerprint: String,
    severity: &'static str,
    location: Location<'a>,
}

#[derive(Serialize)]
struct Location<'a> {
    path: &'a str,
    positions: Positions,
}

#[derive(Serialize)]
struct Positions {
    begin: Position,
    end: Position,
}

#[derive(Serialize)]
struct Position {
    line: usize,
    column: usize,
}

pub(crate) fn write(
    files: &[CheckedFile],
    failures: &[Failure],
    repository: &Repository,
    out: &mut dyn Write,
) -> io::Result<()> {
    let files: Vec<_> = files.iter().map(|file| (repository.name(&file.path), &file.findings)).collect();
    let unread: Vec<_> =
        failures.iter().map(|failure| (repository.name(&failure.path), &failure.reason)).collect();
    let mut fingerprints = Fingerprints::default();
    let mut issues = Vec::new();
    for (path, findings) in &files {
        for finding in *findings {
            let position =
                |at: &prose_project::position::Position| Position { line: at.line, column: at.column };
            issues.push(Issue {
                description: format!("{}: {}", finding.code, finding.message),
                check_name: finding.code.as_str(),
                fingerprint: fingerprints.of(path, finding.code.as_str(), &finding.message),
                severity: match finding.severity {
                    Severity::Error => "major",
                    Severity::Warning => "minor",
                    Severity::Information | Severity::Hint => "info",
                },
                location: Location {
                    path,
                    positions: Positions {
                        begin: position(&finding.span.start),
                        end: position(&finding.span.end),
                    },
                },
            });
        }
    }
    for (path, reason) in &unread {
        let start = || Position { line: 1, column: 1 };
        issues.push(Issue {
            description: format!("This file {reason}"),
            check_name: "not-checked",
            fingerprint: fingerprints.of(path, "not-checked", reason),
            severity: "blocker",
            location: Location { path, positions: Positions { begin: start(), end: start() } },
        });
    }
    serde_json::to_writer_pretty(&mut *out, &issues).map_err(io::Error::from)?;
    writeln!(out)
}

/// Fingerprints do not contain lines: an issue is the same when a line is added above it.
#[derive(Default)]
struct Fingerprints(HashMap<[u8; 32], u32>);

impl Fingerprints {
    /// The fingerprint of an issue. Equal ones in a file are told apart by their number.
    fn of(&mut self, path: &str, code: &str, message: &str) -> String {
        let hash: [u8; 32] = Sha256::digest(format!("{path}\0{code}\0{message}")).into();
        let number = self.0.entry(hash).or_default();
        *number += 1;
        let hash = Sha256::digest([&hash[..], &number.to_le_bytes()].concat());
        hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
    }
}
