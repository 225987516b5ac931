//! What a replay asks that the recorded run does not have, next to the recorded request that is most like it.

use std::collections::HashMap;
use std::fmt::Write;

use prose_state::StateError;
use prose_state::replay::RecordedRun;
use prose_vm::effect::{ContextItem, Effect, Request, SessionTask};
use prose_vm::event::EventKind;
use prose_vm::place::{NamedLine, Place};
use prose_vm::program_names::ProgramNames;

/// A recorded request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NearestRequest {
    /// The number of the event with which it starts.
    pub seq: u64,
    /// Its place.
    pub place: Place,
    /// Its line in the recorded programs, if it is known.
    pub line: Option<NamedLine>,
    /// What it asks, as [`asked_text`] writes it.
    pub text: String,
    /// Whether the run has an outcome of it: it may have stopped before.
    pub is_answered: bool,
}

/// The recorded request that is most like a request: of the same kind, best at the same place, else the one whose text is most alike. `None` if the run
/// has no request of that kind.
pub fn nearest_request(
    recorded: &RecordedRun,
    request: &Request,
) -> Result<Option<NearestRequest>, StateError> {
    let asked = asked_text(&request.effect);
    let asked = words(&asked);
    let (mut nearest, mut best) = (None::<NearestRequest>, (false, 0.0));
    let mut asked_by = None;
    let mut programs = ProgramNames::default();
    for event in recorded.events()? {
        let Ok(event) = event else { break };
        programs.apply(&event);
        let place = &event.place;
        if let EventKind::Effect { request, .. } = &event.kind
            && asked_by == Some(*request)
            && let Some(nearest) = &mut nearest
        {
            nearest.is_answered = true;
        }
        // A choice is known by its result alone.
        let (id, text) = match (&event.kind, &request.effect) {
            (EventKind::SessionStarted { request, task }, Effect::Session(_)) => {
                (Some(*request), text_of_session(task))
            }
            (EventKind::ConditionAsked { text, request: Some(request), .. }, Effect::Judge(_)) => {
                (Some(*request), text.to_string())
            }
            (EventKind::Chosen { criterion, .. }, Effect::Choose(_)) => (None, criterion.to_string()),
            (EventKind::InputAsked { request, prompt, .. }, Effect::Input(_)) => {
                (Some(*request), prompt.to_string())
            }
            _ => continue,
        };
        let likeness = (*place == request.place, likeness(&asked, &words(&text)));
        if nearest.is_none() || likeness > best {
            (best, asked_by) = (likeness, id);
            let line = event.site.and_then(|site| programs.line(site));
            nearest = Some(NearestRequest {
                seq: event.seq,
                place: place.clone(),
                line,
                text,
                is_answered: id.is_none(),
            });
        }
    }
    Ok(nearest)
}

/// Everything that the answer to a request depends on, in lines. Paths and numbers that differ between runs are left out.
pub fn asked_text(effect: &Effect) -> String {
    match effect {
        Effect::Session(task) => text_of_session(task),
        Effect::Judge(question) | Effect::Choose(question) | Effect::Extract(question) => {
            question.text.to_string()
        }
        Effect::Summarise(summary) => summary.text.to_string(),
        Effect::Input(input) => input.prompt.to_string(),
        Effect::Memory(place) => format!("the memory of {}", place.agent),
        Effect::File(file) | Effect::FileCheck(file) => file.path.to_string(),
        Effect::Tree(_) => "a working tree".to_owned(),
        Effect::Sleep(duration) => format!("{} ms", duration.as_millis()),
    }
}

fn text_of_session(task: &SessionTask) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(text, "{name}: {value}");
    };
    if let Some(agent) = &task.agent {
        line("agent", agent);
    }
    if let Some(model) = &task.model {
        line("model", model);
    }
    if !task.skills.is_empty() {
        line("skills", &task.skills.join(", "));
    }
    for permission in &task.permissions {
        line("permission", &permission.rule.shown(&permission.about));
    }
    for (name, part) in [("system", task.system.as_deref()), ("task", Some(&*task.task))] {
        if let Some(part) = part {
            let _ = writeln!(text, "[{name}]\n{}", part.trim_end());
        }
    }
    if let Some(memory) = task.memory.as_ref().and_then(|memory| memory.text.as_deref()) {
        let _ = writeln!(text, "[memory]\n{}", memory.trim_end());
    }
    for ContextItem { name, text: value, digest, .. } in &task.context {
        let _ = writeln!(text, "[context {name}]");
        if let Some(value) = value {
            let _ = writeln!(text, "{}", value.trim_end());
        } else if let Some(digest) = digest {
            let _ = writeln!(text, "a value with the hash {digest}");
        }
    }
    text
}

/// How often each word occurs.
fn words(text: &str) -> HashMap<&str, u32> {
    let mut words = HashMap::new();
    for word in text.split_whitespace() {
        *words.entry(word).or_default() += 1;
    }
    words
}

/// The share of words that two texts have in common, from 0 to 1. A diff of each pair would take too long in a long run.
fn likeness(one: &HashMap<&str, u32>, other: &HashMap<&str, u32>) -> f64 {
    let total: u32 = one.values().sum::<u32>() + other.values().sum::<u32>();
    let common: u32 =
        one.iter().map(|(word, count)| (*count).min(other.get(word).copied().unwrap_or_default())).sum();
    if total == 0 { 1.0 } else { f64::from(2 * common) / f64::from(total) }
}
