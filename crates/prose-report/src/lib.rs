//! Reports on runs: one HTML file that needs nothing else, neither a network nor the folder of the run.
//!
//! A report is made of what [`prose_run::Redaction::export`] writes, so that it holds what an exported run holds and no more. It shows the view of the run
//! with the panel of the editors, whose script and style are in `assets`, built from `editors/vscode/panel`.

mod error;
mod files;
mod imports;
mod page;
mod run;
mod values;

use std::io::Write;

use prose_run::{Project, Redaction, recorded_run};
use prose_state::StateError;
use prose_state::portable;
use prose_state::replay::RecordedRun;
use prose_view::compare;
use prose_vm::event::Event;
use serde_json::{Value, json};

pub use crate::error::ReportError;
use crate::files::RedactedFiles;
use crate::run::{ReportedRun, report_run};

/// The most characters of a text of a comparison. The sessions have the whole texts.
const MAX_COMPARED_CHARS: usize = 400;

/// What was reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reported {
    /// The ids of the runs.
    pub runs: Vec<String>,
    /// The number of sessions.
    pub sessions: usize,
    /// The number of events with redacted texts.
    pub redacted: u64,
}

/// Writes a report on some runs of a project, or on files of `prose runs export`: each with all its sessions, and the first one next to each other one.
pub fn report(
    project: &Project,
    names: &[&str],
    redaction: &Redaction,
    out: &mut dyn Write,
) -> Result<Reported, ReportError> {
    let mut reported = Reported { runs: Vec::new(), sessions: 0, redacted: 0 };
    let mut runs: Vec<ReportedRun> = Vec::new();
    let mut first: Option<ExportedRun> = None;
    let mut comparisons: Vec<Value> = Vec::new();
    for name in names {
        let recorded = recorded_run(project, name)?;
        let exported = ExportedRun::new(&recorded, redaction)?;
        let files = RedactedFiles { project, run: &recorded, redaction };
        let run = report_run(&recorded, &exported.run, is_executed(project, &recorded), &files)?;
        reported.runs.push(exported.run.head.run.to_string());
        reported.sessions += run.sessions;
        reported.redacted += exported.redacted;
        match &first {
            Some(first) => {
                let comparison = compare(first.events()?, exported.events()?);
                comparisons.push(json!({ "a": 0, "b": runs.len(), "comparison": shortened(&comparison) }));
            }
            None => first = Some(exported),
        }
        runs.push(run);
    }
    page::write(&runs, &comparisons, out).map_err(ReportError::Write)?;
    Ok(reported)
}

/// A run as it is exported, in a temporary file that only this user can read.
struct ExportedRun {
    run: RecordedRun,
    redacted: u64,
    _file: tempfile::NamedTempFile,
}

impl ExportedRun {
    fn new(recorded: &RecordedRun, redaction: &Redaction) -> Result<Self, ReportError> {
        let mut file = tempfile::NamedTempFile::new().map_err(ReportError::Temporary)?;
        let exported = redaction.export(recorded, file.as_file_mut())?;
        Ok(Self { run: portable::open(file.path())?, redacted: exported.redacted, _file: file })
    }

    fn events(&self) -> Result<impl Iterator<Item = Event>, StateError> {
        Ok(self.run.events()?.map_while(Result::ok))
    }
}

/// Whether a process executes the run now.
fn is_executed(project: &Project, run: &RecordedRun) -> bool {
    !run.is_exported()
        && project.show_run(&run.head.run).is_ok_and(|details| details.summary.status.is_executed())
}

/// A comparison with the beginnings of its texts.
fn shortened(comparison: &prose_view::Comparison) -> Value {
    let mut shown = json!(comparison);
    let steps = shown["steps"].as_array_mut();
    for (shown, step) in steps.into_iter().flatten().zip(&comparison.steps) {
        for side in ["a", "b"] {
            for part in ["asked", "result"] {
                if let Some(text) = shown.get_mut(side).and_then(|step| step.get_mut(part))
                    && let Some(whole) = text.as_str()
                {
                    *text = prose_syntax::text::shorten(whole, MAX_COMPARED_CHARS).into();
                }
            }
        }
        shown["different"] = json!(step.is_different());
    }
    shown
}
