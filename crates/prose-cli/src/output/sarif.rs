//! SARIF 2.1.0, the format of code scanning services. Only the used part of the standard is modelled.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Component, Path};

use prose_syntax::{Code, Severity};
use serde::Serialize;

use crate::finding::{CheckedFile, Finding, Span};
use crate::output::repository::Repository;
use prose_project::Failure;

/// The placeholder for the folder of the repository.
const BASE: &str = "SRCROOT";

#[derive(Serialize)]
struct Log<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run<'a> {
    tool: Tool,
    invocations: [Invocation; 1],
    original_uri_base_ids: BTreeMap<&'static str, ArtifactLocation>,
    column_kind: &'static str,
    results: Vec<Result<'a>>,
}

#[derive(Serialize)]
struct Tool {
    driver: Driver,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Driver {
    name: &'static str,
    version: &'static str,
    rules: Vec<Rule>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Rule {
    id: &'static str,
    short_description: Message<'static>,
    full_description: Message<'static>,
    help: Help,
    default_configuration: Configuration,
}

#[derive(Serialize)]
struct Help {
    text: &'static str,
    markdown: &'static str,
}

#[derive(Serialize)]
struct Configuration {
    level: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Invocation {
    execution_successful: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_execution_notifications: Vec<Notification>,
}

#[derive(Serialize)]
struct Notification {
    level: &'static str,
    message: OwnedMessage,
    locations: [NotificationLocation; 1],
}

#[derive(Serialize)]
struct OwnedMessage {
    text: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct NotificationLocation {
    physical_location: ArtifactOnly,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ArtifactOnly {
    artifact_location: ArtifactLocation,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Result<'a> {
    rule_id: &'static str,
    rule_index: usize,
    level: &'static str,
    message: Message<'a>,
    locations: [Location<'a>; 1],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related_locations: Vec<Location<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fixes: Option<[Fix<'a>; 1]>,
}

#[derive(Serialize)]
struct Message<'a> {
    text: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Location<'a> {
    physical_location: PhysicalLocation,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Message<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation {
    artifact_location: ArtifactLocation,
    region: Region,
}

#[derive(Serialize, Clone)]
#[serde(rename_all = "camelCase")]
struct ArtifactLocation {
    uri: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    uri_base_id: Option<&'static str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: usize,
    start_column: usize,
    end_line: usize,
    end_column: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Fix<'a> {
    description: Message<'a>,
    artifact_changes: [ArtifactChange<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ArtifactChange<'a> {
    artifact_location: ArtifactLocation,
    replacements: Vec<Replacement<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Replacement<'a> {
    deleted_region: Region,
    inserted_content: Message<'a>,
}

pub(crate) fn write(
    files: &[CheckedFile],
    failures: &[Failure],
    repository: &Repository,
    out: &mut dyn Write,
) -> io::Result<()> {
    let results = files.iter().flat_map(|file| {
        let artifact = ArtifactLocation::new(&file.path, repository);
        file.findings.iter().map(move |finding| result(&artifact, finding, repository))
    });
    let base = ArtifactLocation { uri: uri(repository.base()) + "/", uri_base_id: None };
    let run = Run {
        tool: Tool { driver: driver() },
        invocations: [invocation(failures, repository)],
        original_uri_base_ids: BTreeMap::from([(BASE, base)]),
        column_kind: "unicodeCodePoints",
        results: results.collect(),
    };
    let log = Log {
        schema: "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        version: "2.1.0",
        runs: [run],
    };
    serde_json::to_writer_pretty(&mut *out, &log)?;
    writeln!(out)
}

fn driver() -> Driver {
    let rules = Code::ALL.iter().map(|code| {
        let info = code.info();
        Rule {
            id: info.name,
            short_description: Message { text: info.title },
            full_description: Message { text: info.explanation },
            help: Help { text: info.explanation, markdown: info.explanation },
            default_configuration: Configuration { level: info.default.severity().map_or("none", level) },
        }
    });
    Driver { name: "prose", version: env!("CARGO_PKG_VERSION"), rules: rules.collect() }
}

fn invocation(failures: &[Failure], repository: &Repository) -> Invocation {
    let notifications = failures.iter().map(|failure| Notification {
        level: "error",
        message: OwnedMessage { text: failure.reason.clone() },
        locations: [NotificationLocation {
            physical_location: ArtifactOnly {
                artifact_location: ArtifactLocation::new(&failure.path, repository),
            },
        }],
    });
    Invocation {
        execution_successful: failures.is_empty(),
        tool_execution_notifications: notifications.collect(),
    }
}

fn result<'a>(artifact: &ArtifactLocation, finding: &'a Finding, repository: &Repository) -> Result<'a> {
    let fixes = finding.fix.as_ref().map(|fix| {
        let replacements = fix.edits.iter().map(|(span, text)| Replacement {
            deleted_region: region(span),
            inserted_content: Message { text },
        });
        [Fix {
            description: Message { text: &fix.title },
            artifact_changes: [ArtifactChange {
                artifact_location: artifact.clone(),
                replacements: replacements.collect(),
            }],
        }]
    });
    let related = finding.related.iter().map(|related| {
        let other = related.path.as_ref().map(|path| ArtifactLocation::new(path, repository));
        location(other.unwrap_or_else(|| artifact.clone()), &related.span, Some(&related.message))
    });
    Result {
        rule_id: finding.code.as_str(),
        // Every code is in the table, in this order.
        rule_index: Code::ALL.iter().position(|&code| code == finding.code).unwrap_or_default(),
        level: level(finding.severity),
        message: Message { text: &finding.message },
        locations: [location(artifact.clone(), &finding.span, None)],
        related_locations: related.collect(),
        fixes,
    }
}

fn location<'a>(artifact_location: ArtifactLocation, span: &Span, message: Option<&'a str>) -> Location<'a> {
    Location {
        physical_location: PhysicalLocation { artifact_location, region: region(span) },
        message: message.map(|text| Message { text }),
    }
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Information | Severity::Hint => "note",
    }
}

fn region(span: &Span) -> Region {
    Region {
        start_line: span.start.line,
        start_column: span.start.column,
        end_line: span.end.line,
        end_column: span.end.column,
    }
}

impl ArtifactLocation {
    fn new(path: &Path, repository: &Repository) -> Self {
        let path = repository.path(path);
        Self { uri: uri(&path), uri_base_id: path.is_relative().then_some(BASE) }
    }
}

/// The path as a URI reference: a relative path stays relative.
fn uri(path: &Path) -> String {
    let mut uri = String::new();
    let mut separate = false;
    for component in path.components() {
        match component {
            Component::Prefix(prefix) => {
                uri.push_str("file:///");
                // The colon of a drive stays as it is.
                uri.push_str(&prefix.as_os_str().to_string_lossy().replace('\\', "/"));
                continue;
            }
            Component::RootDir => {
                if uri.is_empty() {
                    uri.push_str("file://");
                }
                separate = true;
                continue;
            }
            _ => {}
        }
        if std::mem::replace(&mut separate, true) {
            uri.push('/');
        }
        percent_encode(component.as_os_str().as_encoded_bytes(), &mut uri);
    }
    uri
}

fn percent_encode(bytes: &[u8], uri: &mut String) {
    for &byte in bytes {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_uri_references() {
        assert_eq!(uri(Path::new("flows/a.prose")), "flows/a.prose");
        assert_eq!(uri(Path::new("my flows/ä#1%.prose")), "my%20flows/%C3%A4%231%25.prose");
        assert_eq!(uri(Path::new("../a:b.prose")), "../a%3Ab.prose");
    }

    #[test]
    #[cfg(unix)]
    fn absolute_paths_become_file_uris() {
        assert_eq!(uri(Path::new("/home/a b/c.prose")), "file:///home/a%20b/c.prose");
    }

    #[test]
    #[cfg(windows)]
    fn absolute_paths_become_file_uris() {
        assert_eq!(uri(Path::new(r"C:\a b\c.prose")), "file:///C:/a%20b/c.prose");
    }
}
