//! Runs all sessions with one model, whatever the program names.

use std::pin::Pin;
use std::sync::Arc;

use prose_vm::activity::Reporter;
use prose_vm::effect::{
    Effect, Failure, InputRequest, Memory, MemoryPlace, Outcome, PermissionRule, Request, SessionTask,
};
use prose_vm::harness::{Capabilities, Harness, HarnessFuture};
use prose_vm::value::Value;
use smol_str::SmolStr;

/// A harness whose sessions have one model.
pub struct OneModel {
    of: Arc<dyn Harness>,
    model: SmolStr,
}

impl OneModel {
    /// The sessions of a harness, with a model.
    pub fn new(of: Arc<dyn Harness>, model: &str) -> Self {
        Self { of, model: model.into() }
    }
}

impl Harness for OneModel {
    fn name(&self) -> &str {
        self.of.name()
    }

    fn capabilities(&self) -> Capabilities {
        self.of.capabilities()
    }

    fn enforces(&self, about: &str, rule: &PermissionRule) -> bool {
        self.of.enforces(about, rule)
    }

    fn of_agent(&self, agent: Option<&str>) -> Option<&dyn Harness> {
        self.of.of_agent(agent)
    }

    fn of_decisions(&self) -> Option<&dyn Harness> {
        self.of.of_decisions()
    }

    fn perform<'a>(&'a self, request: &'a Request, reporter: &'a Reporter) -> HarnessFuture<'a, Outcome> {
        let Effect::Session(task) = &request.effect else { return self.of.perform(request, reporter) };
        let task = SessionTask { model: Some(self.model.clone()), ..SessionTask::clone(task) };
        let request = Request { effect: Effect::Session(Arc::new(task)), ..request.clone() };
        Box::pin(async move { self.of.perform(&request, reporter).await })
    }

    fn prompt_of(&self, request: &Request) -> Option<String> {
        self.of.prompt_of(request)
    }

    fn input<'a>(
        &'a self,
        request: &'a Request,
        input: &'a InputRequest,
    ) -> Option<HarnessFuture<'a, Value>> {
        self.of.input(request, input)
    }

    fn memory(&self, request: &Request, place: &MemoryPlace) -> Option<Memory> {
        self.of.memory(request, place)
    }

    fn settled(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        self.of.settled()
    }

    fn recalled(&self, request: &Request) {
        self.of.recalled(request);
    }

    fn failed_before(&self, request: &Request, failure: &Failure) {
        self.of.failed_before(request, failure);
    }
}
