//! Loads a session: shows what happened in a recorded run, and prepares for what the next prompt does.

use std::sync::Arc;

use prose_acp::{Chunk, Update, code, error};
use prose_state::runs::{RunDetails, RunState};
use prose_view::View;
use prose_vm::event::{EventKind, RunHead, RunStatus};
use serde_json::Value as Json;
use smol_str::SmolStr;

use super::report;
use super::session::{Session, Stage};
use super::updates::Shown;
use crate::runnable::Runnable;
use crate::runs::{events, recorded};

/// What is shown of a recorded run, read from its files.
struct History {
    details: Box<RunDetails>,
    shown: Shown,
    view: View,
    /// Whether it waited for an answer when it was stopped.
    waits: bool,
}

impl Session {
    /// Shows the run with the id of the session.
    pub(super) async fn load(&self) -> Result<(), Json> {
        let (folder, id) = (Arc::clone(&self.folder), self.id.clone());
        let names_program = self.program.is_none();
        let reading = tokio::task::spawn_blocking(move || {
            let details = recorded(&folder, &id).ok().filter(|details| details.summary.id == id)?;
            let program = details.head.as_ref().and_then(|head| Runnable::load(&folder, &head.from).ok());
            let outline = program.as_ref().map_or_else(Vec::new, |program| program.program.outline());
            let file = program.map(|program| program.loaded.path).filter(|path| path.is_file());
            let history = History {
                shown: Shown::of_program(&outline, file),
                details: Box::new(details),
                view: View::default(),
                waits: false,
            };
            Some(history.replayed(names_program))
        });
        let missing = || error(code::RESOURCE_NOT_FOUND, format!("session `{}` does not exist", self.id));
        let History { details, shown, view, waits } = reading.await.ok().flatten().ok_or_else(missing)?;
        let warnings = shown.warnings();
        self.show(Arc::new(shown));
        self.flush().await;
        let run = details.summary.id.clone();
        let stopped = |waits| Stage::Stopped { run: run.clone(), waits };
        let stage = match (&details.end, details.summary.status) {
            (_, RunState::Running(process)) => {
                let by = process.map_or("another process".to_owned(), |id| format!("process {id}"));
                Stage::Elsewhere(format!(
                    "run {run} is executed by {by}; stop it there before you resume it here"
                ))
            }
            (Some(end), _) if !end.status.is_stopped() => {
                let result = report::result(end);
                if !result.is_empty() {
                    self.write(Chunk::text(result)).await;
                }
                self.write(Chunk::notice(report::census(&run, &view, &warnings))).await;
                let has_failed = end.status == RunStatus::Failed;
                if has_failed {
                    self.write(Chunk::notice(format!("{}\n", report::error(end)))).await;
                }
                Stage::Ready { failed: has_failed.then(|| run.clone()) }
            }
            _ if details.head.is_none() => Stage::Elsewhere(format!(
                "run {run} has no journal; resume it with `prose resume {run}` in a terminal"
            )),
            // Its question was shown last, and the next prompt answers it.
            _ if waits => stopped(true),
            _ => {
                self.write(Chunk::notice(format!("\n\nThe run was stopped. {}", report::RESUMES))).await;
                stopped(false)
            }
        };
        if let Stage::Elsewhere(reason) = &stage {
            self.write(Chunk::notice(format!("\n\n{reason}\n"))).await;
        }
        *self.stage.lock().await = stage;
        Ok(())
    }
}

impl History {
    /// Replays the journal.
    fn replayed(mut self, names_program: bool) -> Self {
        if let Some(head) = &self.details.head {
            self.shown.push(Update::UserMessageChunk(Chunk::text(prompt(head, names_program))));
        }
        let Ok(events) = events(&self.details.summary.folder) else { return self };
        for event in events {
            match &event.kind {
                // The end of a run closes its questions in the view.
                EventKind::RunEnded(end) if end.status.is_stopped() => {
                    self.waits = self.view.awaited_inputs().next().is_some();
                }
                EventKind::InputAsked { prompt, .. } => {
                    self.shown.push(Update::AgentMessageChunk(Chunk::text(&**prompt)));
                }
                EventKind::InputGiven { value, .. } => {
                    self.shown.push(Update::UserMessageChunk(Chunk::text(value.to_string())));
                }
                _ => {}
            }
            self.view.apply(&event);
            self.shown.event(&event);
        }
        // A process that was killed has left no end.
        if self.view.end().is_none() {
            self.waits = self.view.awaited_inputs().next().is_some();
        }
        self
    }
}

/// The prompt that would start a run.
fn prompt(head: &RunHead, names_program: bool) -> String {
    let inputs = match head.inputs.as_slice() {
        [(_, only)] => only.to_string(),
        inputs => {
            let lines: Vec<String> = inputs.iter().map(|(name, value)| format!("{name}: {value}")).collect();
            lines.join("\n")
        }
    };
    let name: SmolStr = head.program.strip_suffix(".prose").unwrap_or(&head.program).into();
    match (names_program, inputs.contains('\n')) {
        (false, _) => inputs,
        (true, false) => format!("/{name} {inputs}").trim_end().to_owned(),
        (true, true) => format!("/{name}\n{inputs}"),
    }
}
