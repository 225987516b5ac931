//! The XML of JUnit: a file is a suite, and a diagnostic a test that fails.

use std::io::{self, Write};

use prose_project::Failure;
use prose_syntax::Severity;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use crate::finding::{CheckedFile, Finding};
use crate::output::repository::Repository;

pub(crate) fn write(
    files: &[CheckedFile],
    failures: &[Failure],
    repository: &Repository,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut report = Report::new("prose check");
    for file in files {
        let name = repository.name(&file.path);
        let mut suite = TestSuite::new(name.as_str());
        suite.add_test_cases(file.findings.iter().map(|finding| case(&name, finding)));
        if file.findings.is_empty() {
            suite.add_test_case(named("no diagnostics", &name, TestCaseStatus::success()));
        }
        report.add_test_suite(suite);
    }
    for failure in failures {
        let name = repository.name(&failure.path);
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
        status.set_message(format!("This file {}", failure.reason));
        let mut suite = TestSuite::new(name.as_str());
        suite.add_test_case(named("not checked", &name, status));
        report.add_test_suite(suite);
    }
    writeln!(out, "{}", report.to_string().map_err(io::Error::other)?.trim_end())
}

/// Remarks and hints are tests that pass, since nobody has to change anything because of them.
fn case(path: &str, finding: &Finding) -> TestCase {
    let start = &finding.span.start;
    let text = format!("{path}:{}:{}: {}", start.line, start.column, finding.message);
    let status = match finding.severity {
        Severity::Error | Severity::Warning => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status.set_type(finding.severity.as_str());
            status.set_message(finding.message.as_str());
            status.set_description(text);
            status
        }
        Severity::Information | Severity::Hint => TestCaseStatus::success(),
    };
    named(&format!("{} at line {}", finding.code, start.line), path, status)
}

fn named(name: &str, path: &str, status: TestCaseStatus) -> TestCase {
    let mut case = TestCase::new(name, status);
    case.set_classname(path);
    case
}
