//! Results as JSON: all of them at once, or one event after another.

use prose_project::position::Positions;
use prose_syntax::{Diagnostic, TextRange, TextSize};
use serde_json::{Value, json};

use crate::check::Mismatch;
use crate::coverage::Coverage;
use crate::debugged::Debugged;
use crate::file::{Case, TestFile};
use crate::runner::{AttemptEnd, FileResult, Progress, Summary, VariantResult};
use crate::variant::Variant;

/// The results, and the coverage if it was measured.
pub fn json(summary: &Summary, coverage: Option<&Coverage>) -> Value {
    let mut json = totals(summary, coverage);
    json["files"] = summary.files.iter().map(of_file).collect();
    json
}

fn totals(summary: &Summary, coverage: Option<&Coverage>) -> Value {
    let mut json = json!({
        "passed": summary.passed(),
        "failed": summary.failed(),
        "skipped": summary.skipped(),
        "stopped": summary.stopped(),
        "seconds": summary.took.as_secs_f64(),
    });
    if let Some(coverage) = coverage {
        json["coverage"] = serde_json::to_value(coverage.files()).unwrap_or_default();
    }
    json
}

/// What is reported while tests run, as an event: `started` and `ended`.
pub fn event(progress: &Progress<'_>) -> Value {
    match progress {
        Progress::Started { file, variant } => {
            json!({ "event": "started", "path": file.path, "name": variant.id })
        }
        Progress::Ended { file, result } => {
            let mut json = of_variant(result, &Positions::new(&file.text));
            json["event"] = "ended".into();
            json["path"] = file.path.to_string_lossy().into();
            json
        }
    }
}

/// The last event, `finished`, with the totals.
pub fn finished(summary: &Summary, coverage: Option<&Coverage>) -> Value {
    let mut json = totals(summary, coverage);
    json["event"] = "finished".into();
    json
}

/// What keeps a test file from being run.
pub fn problems(file: &TestFile, problems: &[Diagnostic]) -> Vec<Value> {
    let with_path = of_problems(&file.text, problems).into_iter().map(|mut problem| {
        problem["path"] = file.path.to_string_lossy().into();
        problem
    });
    with_path.collect()
}

/// A test file with its selected variants, and with what keeps them from being run.
pub fn listed(file: &TestFile, variants: &[Variant], problems: &[Diagnostic]) -> Value {
    let positions = Positions::new(&file.text);
    let cases = file.cases.iter().enumerate().filter_map(|(index, case)| {
        let variants: Vec<&Variant> = variants.iter().filter(|variant| variant.case == index).collect();
        (!variants.is_empty()).then(|| of_case(file, case, &variants, &positions))
    });
    json!({
        "path": file.path,
        "program": file.program,
        "cases": cases.collect::<Vec<_>>(),
        "problems": of_problems(&file.text, problems),
    })
}

fn of_case(file: &TestFile, case: &Case, variants: &[&Variant], positions: &Positions<'_>) -> Value {
    let text = file.text.get(std::ops::Range::<usize>::from(case.range)).unwrap_or_default();
    let end = case.range.start() + TextSize::of(text.trim_end());
    let variants: Vec<Value> = variants
        .iter()
        .map(|variant| json!({ "name": variant.id, "debug": Debugged::new(file, variant) }))
        .collect();
    let mut json = placed(TextRange::new(case.range.start(), end), positions);
    json["name"] = case.name.as_str().into();
    json["variants"] = variants.into();
    if let Some(reason) = &case.skip {
        json["skipped"] = reason.as_str().into();
    }
    json
}

fn of_problems(text: &str, problems: &[Diagnostic]) -> Vec<Value> {
    let positions = Positions::new(text);
    let of_problem = |problem: &Diagnostic| {
        let mut json = placed(problem.range, &positions);
        json["code"] = problem.code.to_string().into();
        json["message"] = problem.message.as_str().into();
        json
    };
    problems.iter().map(of_problem).collect()
}

/// The lines and columns of a range.
fn placed(range: TextRange, positions: &Positions<'_>) -> Value {
    let (start, end) = (positions.position(range.start()), positions.position(range.end()));
    json!({ "line": start.line, "column": start.column, "endLine": end.line, "endColumn": end.column })
}

fn of_file(file: &FileResult) -> Value {
    let positions = Positions::new(&file.file.text);
    let cases: Vec<Value> = file.results.iter().map(|result| of_variant(result, &positions)).collect();
    json!({ "path": file.path, "program": file.file.program, "cases": cases })
}

fn of_variant(result: &VariantResult, positions: &Positions<'_>) -> Value {
    let status = match result {
        result if result.skipped.is_some() => "skipped",
        result if result.is_stopped() => "stopped",
        result if result.is_passed() => "passed",
        _ => "failed",
    };
    let attempts: Vec<Value> = result
        .attempts
        .iter()
        .map(|attempt| {
            let mut json = json!({ "seconds": attempt.took.as_secs_f64() });
            match &attempt.end {
                AttemptEnd::Passed => json["status"] = "passed".into(),
                AttemptEnd::Stopped => json["status"] = "stopped".into(),
                AttemptEnd::Error(message) => {
                    json["status"] = "error".into();
                    json["message"] = message.as_str().into();
                }
                AttemptEnd::Failed(mismatches) => {
                    json["status"] = "failed".into();
                    let mismatches = mismatches.iter().map(|mismatch| of_mismatch(mismatch, positions));
                    json["mismatches"] = mismatches.collect::<Vec<_>>().into();
                }
            }
            json
        })
        .collect();
    let start = positions.position(result.range.start());
    let mut json = json!({
        "name": result.id,
        "line": start.line,
        "column": start.column,
        "status": status,
        "runs": attempts,
    });
    if let Some(reason) = &result.skipped {
        json["skipped"] = reason.as_str().into();
    }
    json
}

fn of_mismatch(mismatch: &Mismatch, positions: &Positions<'_>) -> Value {
    let mut json = placed(mismatch.range, positions);
    json["message"] = mismatch.message.as_str().into();
    for (key, text) in [("expected", &mismatch.expected), ("actual", &mismatch.actual)] {
        if let Some(text) = text {
            json[key] = text.as_str().into();
        }
    }
    json
}
