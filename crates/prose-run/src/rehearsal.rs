//! The harness of a dry run: replies are generated, and the prompts that another harness would receive are kept.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use prose_harness::decide;
use prose_harness::offline::Offline;
use prose_vm::activity::Reporter;
use prose_vm::effect::{InputRequest, Outcome, PermissionRule, Request, RequestId};
use prose_vm::harness::{Capabilities, Harness, HarnessFuture};
use prose_vm::value::Value;

/// The prompts of questions in a dry run, by request.
#[derive(Debug, Clone, Default)]
pub(crate) struct QuestionPrompts(Arc<Mutex<BTreeMap<RequestId, String>>>);

impl QuestionPrompts {
    /// Removes the prompt of an answered condition or choice, of a part of a text or of a summary; `None` for other requests.
    pub(crate) fn take(&self, request: RequestId) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&request)
    }
}

/// What a question is about, by the kind of its effect, for display.
pub(crate) fn question_kind(effect: &str) -> &'static str {
    match effect {
        "judge" => "condition",
        "choose" => "choice",
        "extract" => "part of a text",
        _ => "summary",
    }
}

pub(crate) struct Rehearsal {
    pub(crate) replies: Offline,
    /// The harness whose prompts are kept.
    pub(crate) of: Arc<dyn Harness>,
    pub(crate) prompts: QuestionPrompts,
}

impl Harness for Rehearsal {
    fn name(&self) -> &str {
        self.replies.name()
    }

    fn capabilities(&self) -> Capabilities {
        self.replies.capabilities()
    }

    fn enforces(&self, about: &str, rule: &PermissionRule) -> bool {
        self.replies.enforces(about, rule)
    }

    fn perform<'a>(&'a self, request: &'a Request, reporter: &'a Reporter) -> HarnessFuture<'a, Outcome> {
        // Harnesses without a model have no prompt of their own; an agent would receive this one.
        let prompt = self.of.prompt_of(request).or_else(|| decide::prompt_of(request));
        let mut prompts = self.prompts.0.lock().unwrap_or_else(PoisonError::into_inner);
        prompts.extend(prompt.map(|prompt| (request.id, prompt)));
        self.replies.perform(request, reporter)
    }

    fn input<'a>(
        &'a self,
        request: &'a Request,
        input: &'a InputRequest,
    ) -> Option<HarnessFuture<'a, Value>> {
        self.replies.input(request, input)
    }

    fn recalled(&self, request: &Request) {
        self.replies.recalled(request);
    }
}
