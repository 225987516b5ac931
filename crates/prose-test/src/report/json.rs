//! Results as JSON.

use prose_project::position::Positions;
use serde_json::{Value, json};

use crate::check::Mismatch;
use crate::coverage::Coverage;
use crate::runner::{AttemptEnd, FileResult, Summary, VariantResult};

/// The results, and the coverage if it was measured.
pub fn json(summary: &Summary, coverage: Option<&Coverage>) -> Value {
    let files: Vec<Value> = summary.files.iter().map(of_file).collect();
    let mut json = json!({
        "files": files,
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
    let start = positions.position(mismatch.range.start());
    let mut json = json!({ "line": start.line, "column": start.column, "message": mismatch.message });
    for (key, text) in [("expected", &mismatch.expected), ("actual", &mismatch.actual)] {
        if let Some(text) = text {
            json[key] = text.as_str().into();
        }
    }
    json
}
