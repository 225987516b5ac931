//! Returns the prompts of questions without sending them.

use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Waker};

use prose_vm::activity::Reporter;
use prose_vm::effect::{Effect, Failure, PermissionRule, Reply, Request, SessionTask};
use prose_vm::harness::{Capabilities, Harness, HarnessFuture};

use super::{Ask, PromptedDecisions, Sessions};

/// The prompt for a condition, a choice, a part of a text or a summary, as harnesses that prompt a model for it send it; `None` for other requests.
/// The marks in it are other ones each time.
pub fn prompt_of(request: &Request) -> Option<String> {
    asked(request, Rehearsal::default())
}

/// The same for sessions that may bind answers to a schema, which is appended then.
pub(super) fn prompt_for(sessions: &impl Sessions, request: &Request) -> Option<String> {
    asked(request, Rehearsal { binds_answers: sessions.binds_answers(), ..Rehearsal::default() })
}

fn asked(request: &Request, rehearsal: Rehearsal) -> Option<String> {
    let decisions = PromptedDecisions(rehearsal);
    let reporter = Reporter::silent();
    // The question is asked at the first poll, and the rehearsal has no answer to it.
    let mut context = Context::from_waker(Waker::noop());
    match &request.effect {
        Effect::Judge(question) => {
            drop(pin!(decisions.judge(request, question, &reporter)).as_mut().poll(&mut context));
        }
        Effect::Choose(question) => {
            drop(pin!(decisions.choose(request, question, &reporter)).as_mut().poll(&mut context));
        }
        Effect::Extract(question) => {
            drop(pin!(decisions.extract(request, question, &reporter)).as_mut().poll(&mut context));
        }
        Effect::Summarise(summary) => {
            drop(pin!(decisions.summarise(request, summary, &reporter)).as_mut().poll(&mut context));
        }
        _ => {}
    }
    let ask = decisions.0.asked.into_inner().unwrap_or_else(PoisonError::into_inner)?;
    Some(match ask.schema {
        Some(schema) => format!("{}\nSchema of the answer: {schema}", ask.prompt),
        None => ask.prompt,
    })
}

/// Sessions that keep the first question and do not answer.
#[derive(Default)]
struct Rehearsal {
    binds_answers: bool,
    asked: Mutex<Option<Ask>>,
}

impl Sessions for Rehearsal {
    fn name(&self) -> &str {
        "rehearsal"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }

    fn enforces(&self, _: &str, _: &PermissionRule) -> bool {
        false
    }

    fn session<'a>(
        &'a self,
        _: &'a Request,
        _: &'a Arc<SessionTask>,
        _: &'a Reporter,
    ) -> HarnessFuture<'a, Reply> {
        Box::pin(std::future::ready(Err(unanswered())))
    }

    fn ask<'a>(&'a self, question: Ask, _: &'a Reporter) -> HarnessFuture<'a, String> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(question);
        Box::pin(std::future::ready(Err(unanswered())))
    }

    fn binds_answers(&self) -> bool {
        self.binds_answers
    }
}

fn unanswered() -> Failure {
    Failure::session("a rehearsal has no answers")
}
