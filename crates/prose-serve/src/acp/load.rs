//! Loads a session: shows what happened in its runs, and prepares for what the next prompt does.

use std::sync::Arc;

use prose_acp::{Chunk, Update, code, error};
use prose_state::runs::RunState;
use prose_view::View;
use prose_vm::event::{Event, EventKind, RunHead, RunStatus};
use prose_vm::questions::QuestionKind;
use serde_json::Value as Json;
use smol_str::SmolStr;

use super::report;
use super::runs_of_session::runs_of;
use super::session::{Awaited, Session, Stage};
use super::updates::Shown;
use crate::folder::Folder;
use crate::runs::{Recorded, events, recorded};

/// The number of runs that are shown of a session. Older ones are sessions of their own, too.
const MAX_RUNS: usize = 20;

/// What is shown of a recorded run, read from its files.
struct History {
    recorded: Recorded,
    shown: Arc<Shown>,
    view: View,
    /// What it waited for when it was stopped.
    awaited: Option<Awaited>,
}

impl Session {
    /// Prepares for the next prompt. What happened in the runs of the session is shown, unless the client `keeps` what it has shown.
    pub(super) async fn load(&self, keeps: bool) -> Result<(), Json> {
        let (folder, id) = (Arc::clone(&self.folder), self.id.clone());
        let finding = tokio::task::spawn_blocking(move || runs_of(&folder, &id)).await;
        let missing = || error(code::RESOURCE_NOT_FOUND, format!("session `{}` does not exist", self.id));
        let runs = finding.ok().and_then(Result::ok).unwrap_or_default();
        let Some(last) = runs.last().map(|run| run.id.clone()) else { return Err(missing()) };
        let mut stage = self.stage.lock().await;
        for run in &runs[runs.len().saturating_sub(MAX_RUNS)..] {
            if keeps && run.id != last {
                continue;
            }
            let history = self.history(run.id.clone(), None).await.ok_or_else(missing)?;
            if keeps {
                history.shown.take();
            } else {
                self.send(&history.shown).await;
                self.tell_end(&history).await;
            }
            // A run that this connection executes continues to show itself.
            let is_live = matches!(&*stage, Stage::Live { live, .. } if live.end().is_none());
            if run.id == last && !is_live {
                *stage = history.stage();
                self.show(history.shown);
                if !keeps {
                    self.tell_next(&stage).await;
                }
            }
        }
        Ok(())
    }

    /// What the next prompt does after another process has executed a run. What happened in it meanwhile is shown.
    pub(super) async fn stage_of(&self, run: SmolStr) -> Result<Stage, Json> {
        let gone = || error(code::RESOURCE_NOT_FOUND, format!("run {run} does not exist"));
        let history = self.history(run.clone(), Some(self.shown())).await.ok_or_else(gone)?;
        self.flush().await;
        self.tell_end(&history).await;
        Ok(history.stage())
    }

    /// Whether a run that was stopped is still stopped, and not resumed or removed by another process.
    pub(super) async fn is_stopped(&self, run: SmolStr) -> bool {
        let folder = Arc::clone(&self.folder);
        let reading = tokio::task::spawn_blocking(move || recorded(&folder, &run));
        let recorded = reading.await.ok().and_then(Result::ok);
        recorded.is_some_and(|recorded| {
            let status = recorded.details.summary.status;
            status.can_be_resumed() && status != RunState::Failed
        })
    }

    /// Reads a run, after what was `known` of it.
    async fn history(&self, run: SmolStr, known: Option<Arc<Shown>>) -> Option<History> {
        let (folder, names_program) = (Arc::clone(&self.folder), self.program.is_none());
        let reading = tokio::task::spawn_blocking(move || {
            let recorded = recorded(&folder, &run).ok().filter(|recorded| *recorded.id() == run)?;
            Some(History::read(recorded, known, &folder, names_program))
        });
        reading.await.ok().flatten()
    }

    /// Shows how a run ended that was not stopped.
    async fn tell_end(&self, history: &History) {
        let details = &history.recorded.details;
        let Some(end) = details.end.as_ref().filter(|end| !end.status.is_stopped()) else { return };
        let result = report::result(end);
        if !result.is_empty() {
            self.write(Chunk::text(result)).await;
        }
        let census = report::census(&details.summary.id, &history.view, &history.shown.warnings());
        self.write(Chunk::notice(census)).await;
        if end.status == RunStatus::Failed {
            self.write(Chunk::notice(format!("{}\n", report::error(end)))).await;
        }
    }

    /// Says what the next prompt does.
    async fn tell_next(&self, stage: &Stage) {
        let chunk = match stage {
            // An input was shown last, where it was asked.
            Stage::Stopped { awaited: Some(Awaited::Question(question)), .. }
                if !matches!(question.kind, QuestionKind::Input { .. }) =>
            {
                Chunk::text(report::question(question))
            }
            Stage::Stopped { awaited: None, .. } => {
                Chunk::notice(format!("\n\nThe run was stopped. {}", report::RESUMES))
            }
            Stage::Elsewhere(run) => Chunk::notice(format!("\n\n{}\n", report::executed_elsewhere(run))),
            Stage::Unavailable(reason) => Chunk::notice(format!("\n\n{reason}\n")),
            _ => return,
        };
        self.write(chunk).await;
    }
}

impl History {
    /// Replays the journal of a run.
    fn read(recorded: Recorded, known: Option<Arc<Shown>>, folder: &Folder, names_program: bool) -> Self {
        let shown = known.unwrap_or_else(|| {
            let program = recorded.runnable(folder).ok();
            let outline = program.as_ref().map_or_else(Vec::new, |program| program.program.outline());
            let file = program.map(|program| program.loaded.path).filter(|path| path.is_file());
            let shown = Shown::of_program(&outline, file);
            if let Some(head) = &recorded.details.head {
                shown.push(Update::UserMessageChunk(Chunk::text(prompt(head, names_program))));
            }
            Arc::new(shown)
        });
        let mut history = Self { recorded, shown, view: View::default(), awaited: None };
        if let Ok(events) = events(&history.recorded.details.summary.folder) {
            let seen = history.shown.last();
            for event in events {
                history.replay(&event, event.seq > seen);
            }
        }
        // A process that was killed has left no end.
        if history.view.end().is_none() {
            history.awaited = history.awaited_input();
        }
        history
    }

    fn replay(&mut self, event: &Event, is_new: bool) {
        match &event.kind {
            // The end of a run closes its questions in the view.
            EventKind::RunEnded(end) if end.status.is_stopped() => {
                let asked = end.waiting.first().cloned().map(Awaited::question);
                self.awaited = asked.or_else(|| self.awaited_input());
            }
            EventKind::InputAsked { prompt, .. } if is_new => {
                self.shown.push(Update::AgentMessageChunk(Chunk::text(&**prompt)));
            }
            EventKind::InputGiven { value, .. } if is_new => {
                self.shown.push(Update::UserMessageChunk(Chunk::text(value.to_string())));
            }
            _ => {}
        }
        self.view.apply(event);
        self.shown.event(event);
    }

    fn awaited_input(&self) -> Option<Awaited> {
        self.view.awaited_inputs().next().map(|_| Awaited::Input)
    }

    /// What the next prompt does after the run.
    fn stage(&self) -> Stage {
        let (details, run) = (&self.recorded.details, self.recorded.id().clone());
        match (&details.end, details.summary.status) {
            (_, status) if status.is_executed() => Stage::Elsewhere(run),
            (Some(end), _) if !end.status.is_stopped() => {
                Stage::Ready { failed: (end.status == RunStatus::Failed).then_some(run) }
            }
            _ if details.head.is_none() => Stage::Unavailable(self.recorded.without_journal()),
            _ => Stage::Stopped { run, awaited: self.awaited.clone() },
        }
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
