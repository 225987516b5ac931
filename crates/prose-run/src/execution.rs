//! Executes a prepared run, and passes its events on.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use prose_narration::Narrator;
use prose_state::agent_log::AgentLogs;
use prose_vm::activity::Work;
use prose_vm::effect::{Effect, Outcome, Request, RequestId, Usage};
use prose_vm::event::{Event, EventKind, Expense, RunStatus};
use prose_vm::runner::{self, Host, NoTrees, RunError, Trees};
use prose_vm::store::Recording;

use crate::error::RunFailure;
use crate::notify::Notification;
use crate::{FinishedRun, PreparedRun, Questions, RunHooks, control};

impl PreparedRun {
    /// Runs the program to its end, or until it is interrupted, on this thread.
    pub fn execute(mut self, hooks: RunHooks<'_>) -> Result<FinishedRun, RunFailure> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(RunFailure::Runtime)?;
        let RunHooks { questions, observer, interrupted, narration } = hooks;
        let _closing = questions.closing();
        questions.use_clock(Arc::clone(&self.clock));
        questions.show_recorded();
        questions.remember(std::mem::take(&mut self.answers));
        questions.continue_numbers(std::mem::take(&mut self.asked));
        let notifier = self.notifier.clone();
        questions.on_question(move |question| notifier.notify(Notification::Waiting(question)));
        if self.stays {
            questions.stay();
        }
        let mut narration = narration.map(|(markers, sink)| {
            let narrator = Narrator::new(markers).with_size(self.size);
            (narrator, sink)
        });
        let mut logs = self.folder.as_deref().map(AgentLogs::new);
        let (sender, commands) = (self.sender, self.commands);
        let (desk, desk_of_time) = (questions.clone(), questions.clone());
        let channel = self
            .folder
            .as_deref()
            .filter(|_| self.not_recorded.is_none())
            .and_then(|folder| control::Server::start_or_note(folder, &self.settings.run, sender, desk));
        let mut answers = 0;
        let mut departure = self.departure.take();
        let mut trace = self.traces.take().and_then(|traces| traces.start((self.clock)()));
        let mut observe = |event: &Event, is_new: bool| {
            if let Some(message) = departure.as_mut().and_then(|departure| departure.warning_before(event)) {
                let warning = Event { kind: EventKind::Warning { message }, ..event.clone() };
                if let Some((narrator, sink)) = &mut narration {
                    narrator.narrate(&warning).iter().for_each(|line| sink(line));
                }
                observer(&warning, is_new);
            }
            if let EventKind::Effect { effect, .. } = &event.kind
                && !Effect::KINDS_WITHOUT_AGENT.contains(&effect.as_str())
            {
                answers += 1;
            }
            if let Some(logs) = &mut logs {
                logs.observe(event);
            }
            if let Some(channel) = &channel {
                channel.observe(event);
            }
            if let Some(trace) = &mut trace {
                trace.observe(event, is_new);
            }
            if let Some((narrator, sink)) = &mut narration {
                let lines = narrator.narrate(event);
                lines.iter().for_each(|line| sink(line));
            }
            observer(event, is_new);
        };
        let mut recall = Counted { recall: self.recall.as_recording(), answers: 0 };
        let harness = Arc::clone(&self.harness);
        let host = Host {
            harness: self.harness,
            trees: match (&self.trees, &self.recorded_trees) {
                (Some(trees), _) => Arc::clone(trees) as Arc<dyn Trees>,
                (None, Some(replay)) => Arc::clone(replay),
                (None, None) => Arc::new(NoTrees),
            },
            store: self.store.as_store(),
            recall: &mut recall,
            inputs: Arc::new(questions.clone()),
            approvals: Arc::new(questions.clone()),
            commands,
            observer: &mut observe,
            interrupted: Box::pin(within(&desk_of_time, self.timeout, interrupted)),
            gate: self.gate,
            limits: self.limits,
            accounts: self.accounts,
            secrets: self.secrets,
            clock: &*self.clock,
        };
        let end = runtime.block_on(async {
            let end = runner::run(self.machine, host).await;
            harness.settled().await;
            if let Some(trees) = &self.trees {
                trees.settled().await;
            }
            end
        });
        // A thread that reads a line from the terminal cannot be cancelled, and its result is not needed any more.
        runtime.shutdown_background();
        // Who waits for the end through the channel finds the run released.
        drop(self.store);
        drop(channel);
        let (end, unrecorded) = match end {
            Ok(end) => (end, None),
            Err(RunError::Unrecorded { end, error }) => (*end, Some(error)),
            Err(error) => {
                self.notifier.notify(Notification::Stopped(&error.to_string()));
                return Err(RunFailure::Run(error));
            }
        };
        if end.status != RunStatus::Waiting {
            self.notifier.notify(Notification::Ended(&end));
        }
        let reused = recall.answers;
        let not_recorded = self.not_recorded.and_then(|missing| missing.take());
        if let Some((mut narrator, sink)) = narration {
            narrator.flush().iter().for_each(|line| sink(line));
        }
        Ok(FinishedRun { end, unrecorded, reused, ran: answers - reused, not_recorded })
    }
}

/// Completes when a run is interrupted, or has worked for as long as one execution may. The time for which it waits for answers does not count.
async fn within(
    questions: &Questions,
    timeout: Option<Duration>,
    interrupted: impl Future<Output = String>,
) -> String {
    let Some(timeout) = timeout else { return interrupted.await };
    tokio::select! {
        reason = interrupted => reason,
        () = questions.worked_for(timeout) => "timed out (`--timeout`)".to_owned(),
    }
}

/// Counts the reused results of agents.
struct Counted<'a> {
    recall: &'a mut dyn Recording,
    answers: u32,
}

impl Recording for Counted<'_> {
    fn recall(&mut self, waiting: &BTreeMap<RequestId, Request>) -> Option<(RequestId, Outcome)> {
        let recalled = self.recall.recall(waiting)?;
        let request = waiting.get(&recalled.0);
        self.answers += u32::from(request.is_some_and(|request| request.effect.needs_agent()));
        Some(recalled)
    }

    fn last_work(&mut self) -> Work {
        self.recall.last_work()
    }

    fn expenses(&mut self) -> Vec<Expense> {
        self.recall.expenses()
    }

    fn may_know_more(&self) -> bool {
        self.recall.may_know_more()
    }

    fn is_known(&self, request: RequestId) -> bool {
        self.recall.is_known(request)
    }

    fn happened(&mut self, event: &Event) {
        self.recall.happened(event);
    }

    fn stopped(&self) -> Option<(u64, u64)> {
        self.recall.stopped()
    }

    fn used(&self) -> Option<Usage> {
        self.recall.used()
    }

    fn abandons_tree(&mut self, request: &Request) -> bool {
        self.recall.abandons_tree(request)
    }

    fn expected(&mut self, seq: u64) -> Option<Event> {
        self.recall.expected(seq)
    }
}
