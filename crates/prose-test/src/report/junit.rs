//! Results in the format of JUnit.

use prose_project::position::Positions;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::{mismatches, reasons};
use crate::runner::{AttemptEnd, FileResult, Summary, VariantResult};

/// The results as XML. A file is a suite, and a variant of a case is a test case.
pub fn junit(summary: &Summary) -> String {
    let mut report = Report::new("prose test");
    report.set_time(summary.took);
    report.add_test_suites(summary.files.iter().map(suite));
    report.to_string().unwrap_or_default()
}

fn suite(file: &FileResult) -> TestSuite {
    let name = file.path.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/");
    let positions = Positions::new(&file.file.text);
    let mut suite = TestSuite::new(name.as_str());
    suite.add_test_cases(file.results.iter().map(|result| {
        let mut case = TestCase::new(result.id.as_str(), status(result, &positions));
        case.set_classname(name.as_str());
        case.set_time(result.took());
        case
    }));
    suite
}

fn status(result: &VariantResult, positions: &Positions<'_>) -> TestCaseStatus {
    if let Some(reason) = &result.skipped {
        let mut status = TestCaseStatus::skipped();
        status.set_message(reason.as_str());
        return status;
    }
    if result.is_stopped() {
        let mut status = TestCaseStatus::skipped();
        status.set_message("the tests were stopped");
        return status;
    }
    if result.is_passed() {
        return TestCaseStatus::success();
    }
    let is_error = matches!(result.first_failure(), Some((_, AttemptEnd::Error(_))));
    let kind = if is_error { NonSuccessKind::Error } else { NonSuccessKind::Failure };
    let reasons = reasons(result, |mismatch| {
        let start = positions.position(mismatch.range.start());
        format!("{}:{}", start.line, start.column)
    });
    let mut status = TestCaseStatus::non_success(kind);
    if let Some(first) = reasons.first() {
        status.set_message(first.lines().next().unwrap_or_default());
    }
    // Viewers show the text of a failure as it is, so that both texts are read there.
    let compared = mismatches(result).iter().filter_map(|mismatch| {
        Some(format!("expected:\n{}\nactual:\n{}", mismatch.expected.as_ref()?, mismatch.actual.as_ref()?))
    });
    let description: Vec<String> = reasons.iter().cloned().chain(compared).collect();
    status.set_description(description.join("\n"));
    status
}
