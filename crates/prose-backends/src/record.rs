//! Writes scripts from runs (`--record-script`), so that a run with the script gets the same replies.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use prose_vm::effect::{Failure, Outcome, RequestId};
use prose_vm::error::ErrorKind;
use prose_vm::event::{Event, EventKind};
use prose_vm::frame;
use prose_vm::place::Place;
use prose_vm::value::Value;

use crate::script::Kind;
use crate::script::entry::label;
use crate::script::written::{Choose, Entry};

/// The script that reproduces the replies of a run, from its events.
///
/// An entry selects its request by label if that is unique, so that it still matches after other parts of the program have changed, and otherwise by
/// its place in the execution.
pub fn script<'a>(events: impl IntoIterator<Item = &'a Event>) -> String {
    let mut recorder = Recorder::default();
    for event in events {
        recorder.take_up(event);
    }
    recorder.write()
}

/// The delay of a cancelled session in the script: longer than everything that cancels it.
const LONG: &str = "1h";

/// Collects the requests of a run and their replies.
#[derive(Default)]
struct Recorder {
    head: String,
    /// The subjects of requests, if events contain them.
    asked: HashMap<RequestId, Asked>,
    answered: Vec<Answered>,
    /// The sessions without a reply so far, with their places.
    open: BTreeMap<RequestId, Place>,
    /// The inputs that the run was started with.
    inputs: Vec<Entry>,
}

/// The subject of a request.
#[derive(Default)]
struct Asked {
    agent: Option<String>,
    name: Option<String>,
    text: Arc<str>,
}

/// A request with its reply.
struct Answered {
    kind: Kind,
    request: RequestId,
    place: Place,
    entry: Entry,
}

impl Recorder {
    fn take_up(&mut self, event: &Event) {
        match &event.kind {
            EventKind::RunStarted(head) => {
                self.head = format!(
                    "# The run {} of {} with the harness {}.\n",
                    head.run, head.program, head.harness
                );
                self.inputs.extend(
                    head.inputs
                        .iter()
                        .map(|(name, value)| Entry { name: Some(name.to_string()), ..Entry::value(value) }),
                );
            }
            EventKind::SessionStarted { request, task } => {
                let agent = task.agent.as_ref().map(ToString::to_string);
                self.asked.insert(*request, Asked { agent, name: None, text: task.task.clone() });
                self.open.insert(*request, event.place.clone());
            }
            EventKind::RunEnded(end) if !end.status.is_stopped() => self.stopped(),
            EventKind::ConditionAsked { request: Some(request), text, .. } => {
                self.asked.insert(*request, Asked { text: text.clone(), ..Asked::default() });
            }
            EventKind::InputAsked { request, name, prompt } => {
                let name = name.as_ref().map(ToString::to_string);
                self.asked.insert(*request, Asked { agent: None, name, text: prompt.clone() });
            }
            EventKind::Chosen { criterion, label, .. } => self.chosen(&event.place, criterion, label),
            EventKind::Effect { request, effect, outcome, .. } => {
                self.open.remove(request);
                if let Some(kind) = Kind::of_effect(effect)
                    && let Some(entry) = Entry::outcome(kind, outcome)
                {
                    let place = event.place.clone();
                    self.answered.push(Answered { kind, request: *request, place, entry });
                }
            }
            _ => {}
        }
    }

    /// A session without a reply at the end of the program was cancelled (R52). A long delay has it cancelled again.
    fn stopped(&mut self) {
        for (request, place) in std::mem::take(&mut self.open) {
            let entry =
                Entry { reply: Some(String::new()), delay: Some(LONG.to_owned()), ..Entry::default() };
            self.answered.push(Answered { kind: Kind::Session, request, place, entry });
        }
    }

    /// The event of a choice has the label, while the reply only has its number. It follows the reply, at the same place or an outer one.
    fn chosen(&mut self, place: &Place, criterion: &Arc<str>, label: &str) {
        let is_around = |inner: &Place| match inner.as_str().strip_prefix(place.as_str()) {
            Some(rest) => rest.is_empty() || rest.starts_with('/') || place.as_str().is_empty(),
            None => false,
        };
        let mut answered = self.answered.iter_mut().rev();
        let answered = answered.find(|answered| answered.kind == Kind::Choice && is_around(&answered.place));
        if let Some(answered) = answered {
            answered.entry.choose = Some(Choose::Label(label.to_owned()));
            self.asked.insert(answered.request, Asked { text: criterion.clone(), ..Asked::default() });
        }
    }

    fn write(mut self) -> String {
        let mut known: HashMap<(Kind, String), usize> = HashMap::new();
        for answered in &mut self.answered {
            if let Some(Asked { agent, name, text }) = self.asked.get(&answered.request) {
                answered.entry.agent.clone_from(agent);
                answered.entry.name.clone_from(name);
                answered.entry.label = Some(label(text).to_owned()).filter(|label| !label.is_empty());
            }
            *known.entry((answered.kind, answered.entry.key())).or_default() += 1;
        }
        let mut script = format!("{}# docs/scripts.md describes what can be changed here.\n", self.head);
        for Answered { kind, place, mut entry, .. } in self.answered {
            let key = entry.key();
            if key.is_empty() || known[&(kind, key)] > 1 {
                entry.place = Some(place.to_string());
            }
            script.push('\n');
            script.push_str(&entry.to_toml(kind));
        }
        // After the entries with a place, since an input may be requested again after it was given at the start.
        for entry in self.inputs {
            script.push('\n');
            script.push_str(&entry.to_toml(Kind::Input));
        }
        script
    }
}

impl Entry {
    /// Adds an outcome; `None` if it does not fit the kind of request.
    fn outcome(kind: Kind, outcome: &Outcome) -> Option<Self> {
        Some(match outcome {
            Outcome::Reply(reply) => {
                let text = match &reply.mark {
                    Some(mark) => frame::without_mark(&reply.text, mark),
                    None => Arc::clone(&reply.text),
                };
                Self { reply: Some(text.to_string()), ..Self::default() }
            }
            Outcome::Verdict(verdict) => Self {
                met: Some(verdict.met),
                no_progress: verdict.no_progress,
                reason: verdict.reason.clone(),
                ..Self::default()
            },
            Outcome::Choice(choice) => Self {
                choose: Some(Choose::Number(choice.index + 1)),
                reason: choice.reason.clone(),
                ..Self::default()
            },
            Outcome::Value(value) if kind == Kind::Summary => {
                Self { text: Some(value.to_string()), ..Self::default() }
            }
            Outcome::Value(value) => Self::value(value),
            Outcome::Memory(memory) => match &memory.text {
                Some(text) => {
                    let segments = Some(memory.segments).filter(|segments| *segments != 1);
                    Self { text: Some(text.to_string()), segments, ..Self::default() }
                }
                None => Self { absent: true, ..Self::default() },
            },
            Outcome::Failed(Failure { kind, message }) => Self {
                fail: Some(message.clone()),
                kind: Some(*kind).filter(|kind| *kind != ErrorKind::Session),
                ..Self::default()
            },
            Outcome::Tree(_) | Outcome::Slept => return None,
        })
    }

    /// Adds a value. Values that TOML cannot represent are written as JSON.
    fn value(value: &Value) -> Self {
        let value = match value {
            Value::Null => return Self { absent: true, ..Self::default() },
            Value::Text(text) => toml::Value::from(&**text),
            Value::Bool(value) => (*value).into(),
            Value::Number(number) => (*number).into(),
            _ => {
                let json = serde_json::to_string(value).unwrap_or_default();
                return Self { json: Some(json), ..Self::default() };
            }
        };
        Self { value: Some(value), ..Self::default() }
    }

    /// What distinguishes it from others of its kind, apart from its place.
    fn key(&self) -> String {
        self.name.as_ref().or(self.label.as_ref()).cloned().unwrap_or_default()
    }

    /// With its header.
    pub(crate) fn to_toml(&self, kind: Kind) -> String {
        // Texts, numbers and lists of them can always be serialised.
        let keys = toml::to_string_pretty(self).unwrap_or_default();
        format!("[[{}]]\n{keys}", kind.info().table)
    }
}
