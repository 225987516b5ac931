//! Requests, and what becomes of them.

use std::sync::Arc;

use prose_vm::activity::Reporter;
use prose_vm::effect::{
    Binding, BindingKind, ContextItem, Effect, Failure, InputRequest, MemoryPlace, MemoryScope, Outcome,
    Question, Reply, Request, RequestId, SessionTask, Summary, SummaryLength,
};
use prose_vm::event::LoopKind;
use prose_vm::harness::Harness;
use prose_vm::place::{Place, Site};

pub(crate) fn place(text: &str) -> Place {
    text.split('/').filter(|step| !step.is_empty()).fold(Place::root(), |place, step| place.step(step))
}

pub(crate) fn request(at: &str, effect: Effect) -> Request {
    let site = Site { program: 0, start: 0, end: 0, line: 1, last_line: 1 };
    Request { id: RequestId(1), place: place(at), site, program: None, effect }
}

pub(crate) fn task(text: &str) -> SessionTask {
    SessionTask {
        agent: None,
        task: text.into(),
        prompt: text.into(),
        system: None,
        model: None,
        skills: Vec::new(),
        permissions: Vec::new(),
        timeout: None,
        attempt: 0,
        retries: 0,
        context: Vec::new(),
        binding: Binding {
            name: "anon_001".into(),
            kind: BindingKind::Let,
            frame: 0,
            path: "bindings/anon_001.md".into(),
            source: format!("session \"{text}\"").into(),
        },
        memory: None,
        mark: None,
        writes_result: false,
        folder: None,
        stopped: None,
    }
}

pub(crate) fn session(at: &str, text: &str) -> Request {
    request(at, Effect::Session(Arc::new(task(text))))
}

pub(crate) fn session_of(agent: &str, at: &str, text: &str) -> Request {
    request(at, Effect::Session(Arc::new(SessionTask { agent: Some(agent.into()), ..task(text) })))
}

pub(crate) fn question(text: &str) -> Question {
    Question { text: text.into(), labels: Vec::new(), context: Vec::new(), of_loop: None }
}

pub(crate) fn condition(at: &str, text: &str) -> Request {
    request(at, Effect::Judge(Arc::new(question(text))))
}

pub(crate) fn loop_condition(at: &str, text: &str, kind: LoopKind) -> Request {
    request(at, Effect::Judge(Arc::new(Question { of_loop: Some(kind), ..question(text) })))
}

pub(crate) fn choice(at: &str, text: &str, labels: &[&str]) -> Request {
    let labels = labels.iter().map(|label| (*label).into()).collect();
    request(at, Effect::Choose(Arc::new(Question { labels, ..question(text) })))
}

pub(crate) fn extract(at: &str, part: &str, from: &str) -> Request {
    request(at, Effect::Extract(Arc::new(Question { context: vec![item("text", from)], ..question(part) })))
}

pub(crate) fn summary(at: &str, name: &str, text: &str, extent: SummaryLength) -> Request {
    request(at, Effect::Summarise(Arc::new(Summary { name: name.into(), text: text.into(), extent })))
}

pub(crate) fn input(at: &str, name: &str, prompt: &str) -> Request {
    let name = (!name.is_empty()).then(|| name.into());
    let input =
        InputRequest { name, keys: Vec::new(), prompt: prompt.into(), may_rephrase: false, optional: false };
    request(at, Effect::Input(Arc::new(input)))
}

pub(crate) fn memory(at: &str, agent: &str) -> Request {
    let folder = format!("agents/{agent}").into();
    request(at, Effect::Memory(MemoryPlace { agent: agent.into(), scope: MemoryScope::Execution, folder }))
}

pub(crate) fn item(name: &str, text: &str) -> ContextItem {
    ContextItem { name: name.into(), path: None, text: Some(text.into()), digest: None }
}

/// Has a harness answer, as a runner does; none for an input or a memory that it does not know.
pub(crate) async fn answer(harness: &dyn Harness, request: &Request) -> Option<Outcome> {
    let answered = match &request.effect {
        Effect::Input(input) => harness.input(request, input)?.await.map(Outcome::Value),
        Effect::Memory(place) => Ok(Outcome::Memory(harness.memory(request, place)?)),
        Effect::File(_) | Effect::FileCheck(_) => return None,
        Effect::Sleep(_) => Ok(Outcome::Slept),
        _ => harness.perform(request, &Reporter::silent()).await,
    };
    Some(answered.unwrap_or_else(Outcome::Failed))
}

/// The reply of a session.
pub(crate) fn reply(outcome: Result<Outcome, Failure>) -> Result<Reply, Failure> {
    outcome.map(|outcome| match outcome {
        Outcome::Reply(reply) => reply,
        other => panic!("a session has {other:?}"),
    })
}

/// An answer in a line, or in several if it is a text of several.
pub(crate) async fn said(harness: &dyn Harness, request: &Request) -> String {
    match answer(harness, request).await {
        None => "(not known)".to_owned(),
        Some(Outcome::Reply(reply)) => reply.text.to_string(),
        Some(Outcome::Verdict(verdict)) => {
            let met = if verdict.met { "yes" } else { "no" };
            let stuck = if verdict.no_progress { " (no progress)" } else { "" };
            let reason = if verdict.reason.is_empty() { "" } else { ": " };
            format!("{met}{stuck}{reason}{}", verdict.reason)
        }
        Some(Outcome::Choice(choice)) => {
            let Effect::Choose(question) = &request.effect else { unreachable!("a choice answers a choice") };
            question.labels[choice.index].to_string()
        }
        Some(Outcome::Value(value)) => value.to_string(),
        Some(Outcome::Memory(memory)) => {
            format!("{} ({} segments)", memory.text.as_deref().unwrap_or("nothing"), memory.segments)
        }
        Some(Outcome::Slept) => "slept".to_owned(),
        Some(Outcome::Tree(outcome)) => format!("{outcome:?}"),
        Some(Outcome::Failed(failure)) => format!("{:?}: {}", failure.kind, failure.message),
    }
}

/// Whether a process that wrote its number to a file runs.
#[cfg(unix)]
pub(crate) fn runs(file: &std::path::Path) -> bool {
    let number = std::fs::read_to_string(file).unwrap_or_default();
    let number = number.trim();
    assert!(!number.is_empty(), "it has not started");
    // What has ended and is not yet fetched by its parent does not run.
    let state = std::process::Command::new("ps").args(["-o", "stat=", "-p", number]).output().unwrap();
    let state = String::from_utf8(state.stdout).unwrap();
    !state.trim().is_empty() && !state.trim().starts_with('Z')
}

/// Waits until something has happened.
#[cfg(unix)]
pub(crate) async fn until(what: impl Fn() -> bool) {
    let start = tokio::time::Instant::now();
    while !what() {
        assert!(start.elapsed() < std::time::Duration::from_secs(120), "it takes too long");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}
