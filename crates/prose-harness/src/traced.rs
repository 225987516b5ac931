//! Tells the programs that are started for a session in which span of a trace they work.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use prose_vm::activity::Reporter;
use prose_vm::effect::{Failure, InputRequest, Memory, MemoryPlace, Outcome, PermissionRule, Request};
use prose_vm::harness::{Capabilities, Harness, HarnessFuture};
use prose_vm::value::Value;

tokio::task_local! {
    /// The span of the session that the task works on.
    static SPAN: String;
}

/// The variable for a program of the session that this task works on. Only programs that are started for one session receive it.
pub(crate) fn variable() -> Option<(String, String)> {
    SPAN.try_with(|span| ("TRACEPARENT".to_owned(), span.clone())).ok()
}

/// Gives the span of a request as `traceparent`.
pub type SpanOfRequest = Arc<dyn Fn(&Request) -> Option<String> + Send + Sync>;

/// A harness whose requests have spans.
pub struct Traced {
    of: Arc<dyn Harness>,
    span: SpanOfRequest,
}

impl Traced {
    /// The requests of a harness, with their spans.
    pub fn new(of: Arc<dyn Harness>, span: SpanOfRequest) -> Self {
        Self { of, span }
    }
}

impl Harness for Traced {
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
        let work = self.of.perform(request, reporter);
        match (self.span)(request) {
            Some(span) => Box::pin(SPAN.scope(span, work)),
            None => work,
        }
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
