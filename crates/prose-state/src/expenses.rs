//! What the requests of a journal have used, for an execution that does not repeat them.

use std::path::Path;

use prose_vm::activity::Work;
use prose_vm::effect::{Outcome, RequestId, Usage};
use prose_vm::event::{EventKind, Expense};
use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use crate::error::StateError;
use crate::reader::JournalReader;

/// The expenses of a journal.
pub(crate) struct Expenses {
    /// One for each request, in the order in which they were recorded.
    pub(crate) each: Vec<Expense>,
}

impl Expenses {
    /// Those of the events from a number on, as far as the journal can be read.
    pub(crate) fn since(path: &Path, seq: u64) -> Result<Self, StateError> {
        let mut each = Vec::new();
        let mut agents: FxHashMap<RequestId, SmolStr> = FxHashMap::default();
        for event in JournalReader::open(path)?.map_while(Result::ok) {
            let usage = event.kind.usage();
            match event.kind {
                EventKind::SessionStarted { request, task } => {
                    agents.extend(task.agent.clone().map(|agent| (request, agent)));
                }
                EventKind::Effect { request, effect, work, outcome, .. } => {
                    let agent = agents.remove(&request);
                    let failure = match outcome {
                        Outcome::Failed(failure) => Some(Box::new(failure)),
                        _ => None,
                    };
                    let is_spent = effect == "session" || usage.is_some();
                    if event.seq >= seq && (is_spent || failure.is_some()) && !work.is_reused {
                        let work = Work { usage, ..*work };
                        each.push(Expense {
                            request: Some(request),
                            effect,
                            agent,
                            // What has used nothing is only known to have failed.
                            requests: u32::from(is_spent),
                            work,
                            failure,
                        });
                    }
                }
                EventKind::Expense(expense) if event.seq >= seq => each.push(*expense),
                _ => {}
            }
        }
        Ok(Self { each })
    }

    /// One for each agent and kind of effect.
    pub(crate) fn total(self) -> Vec<Expense> {
        let mut total: Vec<Expense> = Vec::new();
        for expense in self.each.into_iter().filter(|each| each.requests > 0 || each.work.usage.is_some()) {
            let same =
                |other: &&mut Expense| (&other.agent, &other.effect) == (&expense.agent, &expense.effect);
            match total.iter_mut().find(same) {
                Some(sum) => {
                    sum.requests += expense.requests;
                    sum.work.usage = Usage::sum([sum.work.usage, expense.work.usage]);
                }
                None => {
                    let work = Work { usage: expense.work.usage, ..Work::default() };
                    total.push(Expense { request: None, work, failure: None, ..expense });
                }
            }
        }
        total
    }
}
