//! Runs the sessions of some agents, and decisions, with other harnesses than the rest of a program.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;

use prose_vm::activity::Reporter;
use prose_vm::effect::{
    Effect, Failure, InputRequest, Memory, MemoryPlace, Outcome, PermissionRule, Request, SessionTask,
};
use prose_vm::harness::{Capabilities, Harness, HarnessFuture};
use prose_vm::value::Value;
use smol_str::SmolStr;

/// A harness that hands requests to others.
pub(crate) struct Router {
    /// The harness of all other requests.
    pub(crate) rest: Arc<dyn Harness>,
    /// The harness of decisions.
    pub(crate) judge: Arc<dyn Harness>,
    /// The harnesses and models of agents.
    pub(crate) agents: BTreeMap<SmolStr, Route>,
}

/// The backend of an agent.
pub(crate) struct Route {
    /// The harness.
    pub(crate) harness: Arc<dyn Harness>,
    /// The model, instead of the one in the program.
    pub(crate) model: Option<SmolStr>,
}

impl Router {
    fn agent(&self, agent: Option<&str>) -> &dyn Harness {
        let route = agent.and_then(|agent| self.agents.get(agent));
        route.map_or(self.rest.as_ref(), |route| route.harness.as_ref())
    }

    /// The harness that a request is for.
    fn asked_for(&self, request: &Request) -> &dyn Harness {
        match &request.effect {
            Effect::Session(task) => self.agent(task.agent.as_deref()),
            effect if effect.needs_agent() => self.judge.as_ref(),
            _ => self.rest.as_ref(),
        }
    }
}

impl Harness for Router {
    fn name(&self) -> &str {
        self.rest.name()
    }

    fn capabilities(&self) -> Capabilities {
        self.rest.capabilities()
    }

    fn enforces(&self, about: &str, rule: &PermissionRule) -> bool {
        self.rest.enforces(about, rule)
    }

    fn of_agent(&self, agent: Option<&str>) -> Option<&dyn Harness> {
        Some(self.agent(agent))
    }

    fn of_decisions(&self) -> Option<&dyn Harness> {
        Some(self.judge.as_ref())
    }

    fn perform<'a>(&'a self, request: &'a Request, reporter: &'a Reporter) -> HarnessFuture<'a, Outcome> {
        let Effect::Session(task) = &request.effect else { return self.judge.perform(request, reporter) };
        let route = task.agent.as_ref().and_then(|agent| self.agents.get(agent));
        let Some(Route { harness, model }) = route else { return self.rest.perform(request, reporter) };
        let Some(model) = model else { return harness.perform(request, reporter) };
        let task = SessionTask { model: Some(model.clone()), ..SessionTask::clone(task) };
        let request = Request { effect: Effect::Session(Arc::new(task)), ..request.clone() };
        Box::pin(async move { harness.perform(&request, reporter).await })
    }

    fn prompt_of(&self, request: &Request) -> Option<String> {
        self.judge.prompt_of(request)
    }

    fn input<'a>(
        &'a self,
        request: &'a Request,
        input: &'a InputRequest,
    ) -> Option<HarnessFuture<'a, Value>> {
        self.rest.input(request, input)
    }

    fn memory(&self, request: &Request, place: &MemoryPlace) -> Option<Memory> {
        self.rest.memory(request, place)
    }

    fn settled(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async move {
            self.rest.settled().await;
            self.judge.settled().await;
            for route in self.agents.values() {
                route.harness.settled().await;
            }
        })
    }

    fn recalled(&self, request: &Request) {
        self.asked_for(request).recalled(request);
    }

    fn failed_before(&self, request: &Request, failure: &Failure) {
        self.asked_for(request).failed_before(request, failure);
    }
}
