//! Answers the requests of a run that is executed again, from its narration.

use prose_vm::effect::{Choice, Effect, Outcome, Reply, Request, RequestId, SessionTask};
use prose_vm::place::Place;
use prose_vm::store::{PendingRequests, Recording};
use rustc_hash::FxHashSet;

use super::lines::discretions;
use super::{About, Answer, Entry, Finding, NarratedSession, Step};
use crate::text::one_line;

/// What stands for the result of a session that has ended and whose result is not narrated.
const NOT_KEPT: &str = "(the result was not kept)";

/// Remembers what a narration states, in its order.
///
/// An effect that is in doubt takes the place of the request it belongs to, which is then not answered, so that what is narrated after it goes to
/// the requests after that. A runner that asks again once such a request has been answered gets the rest.
#[derive(Debug)]
pub struct TranscriptRecording {
    entries: Vec<Option<Entry>>,
    /// Before it, every entry has been used.
    first: usize,
    /// The requests whose outcome is in doubt.
    doubtful: FxHashSet<RequestId>,
}

impl TranscriptRecording {
    pub(super) fn new(entries: Vec<Entry>) -> Self {
        Self { entries: entries.into_iter().map(Some).collect(), first: 0, doubtful: FxHashSet::default() }
    }

    /// What no request has asked for, so far: at the end of a run, what the program does otherwise than the narration states.
    pub fn unused(&self) -> impl Iterator<Item = Finding> {
        self.entries.iter().flatten().filter(|entry| !matches!(entry.about, About::Sleep)).map(Entry::finding)
    }
}

impl Recording for TranscriptRecording {
    fn recall(&mut self, waiting: &PendingRequests) -> Option<(RequestId, Outcome)> {
        for at in self.first..self.entries.len() {
            let Some(entry) = &self.entries[at] else { continue };
            let open = || waiting.values().filter(|request| !self.doubtful.contains(&request.id));
            let found = open().find(|request| fits(entry, request, true));
            let Some(request) = found.or_else(|| open().find(|request| fits(entry, request, false))) else {
                continue;
            };
            let outcome = match &entry.answer {
                Ok(answer) => outcome_of(answer, entry.line, request),
                Err(_) => None,
            };
            self.entries[at] = None;
            while self.entries.get(self.first).is_some_and(Option::is_none) {
                self.first += 1;
            }
            match outcome {
                Some(outcome) => return Some((request.id, outcome)),
                None => {
                    self.doubtful.insert(request.id);
                }
            }
        }
        None
    }

    fn may_know_more(&self) -> bool {
        self.first < self.entries.len()
    }
}

/// The outcome for a request; none for a label that it does not have, and for a result that is not narrated and that the program continues with.
fn outcome_of(answer: &Answer, line: usize, request: &Request) -> Option<Outcome> {
    match (answer, &request.effect) {
        (Answer::Outcome(outcome), _) => Some(outcome.clone()),
        (Answer::Ended { part, doubt }, Effect::Session(task)) => {
            (!continues_with(request, task)).then(|| {
                let lost = format!("the session in line {line} of the narration has ended, but {doubt}");
                let text = part.as_deref().unwrap_or(NOT_KEPT);
                Outcome::Reply(Reply { text: text.into(), warnings: vec![lost], ..Reply::default() })
            })
        }
        (Answer::Ended { .. }, _) => None,
        (Answer::Label { label, reason }, Effect::Choose(question)) => {
            let is_it = |it: &&str| it.trim().to_lowercase() == label.trim().to_lowercase();
            let index = question.labels.iter().map(|it| it.as_str()).position(|it| is_it(&it))?;
            Some(Outcome::Choice(Choice { index, reason: reason.clone() }))
        }
        (Answer::Label { .. }, _) => None,
    }
}

/// Whether the program continues with the result of a session: a name gets it, or it is worked on in a pipeline.
fn continues_with(request: &Request, task: &SessionTask) -> bool {
    let is_stage = |step: &str| step.strip_prefix('g').is_some_and(|number| number.parse::<u32>().is_ok());
    !task.binding.name.starts_with("anon_") || request.place.as_str().split('/').any(is_stage)
}

/// Whether what is narrated is about a request. `is_exact` asks that the whole way to it is narrated as well.
fn fits(entry: &Entry, request: &Request, is_exact: bool) -> bool {
    let is_about = match (&entry.about, &request.effect) {
        // A branch without a name is known by its number alone.
        (About::Session(narrated), Effect::Session(_)) if *narrated == NarratedSession::default() => {
            is_exact && matches!(entry.steps.last(), Some(Step::Branch(Some(_))))
        }
        (About::Session(narrated), Effect::Session(task)) => is_told_of(narrated, task),
        (About::Judge(text), Effect::Judge(question)) | (About::Choose(text), Effect::Choose(question)) => {
            text.as_ref().is_none_or(|text| is_same_question(text, &question.text))
        }
        (About::Input(name), Effect::Input(input)) => {
            name.is_none() || input.name.is_none() || name.as_deref() == input.name.as_deref()
        }
        (About::Extract, Effect::Extract(_))
        | (About::Summarise, Effect::Summarise(_))
        | (About::Memory, Effect::Memory(_))
        | (About::File, Effect::File(_))
        | (About::Sleep, Effect::Sleep(_)) => true,
        _ => false,
    };
    is_about && is_on_the_way(&entry.steps, &request.place, is_exact)
}

/// Iterations, branches and frames that a narration states have to be those of the place, as far as both count them in the same way: a model that
/// leaves out a level is not taken at its word.
fn is_on_the_way(steps: &[Step], place: &Place, is_exact: bool) -> bool {
    let numbers = |letters: &[char]| -> Vec<u32> {
        place.as_str().split('/').filter_map(|step| step.strip_prefix(letters)?.parse().ok()).collect()
    };
    let agree = |letters: &[char], narrated: Vec<Option<u32>>| {
        let numbers = numbers(letters);
        if numbers.len() != narrated.len() {
            return !is_exact;
        }
        narrated.iter().zip(numbers).all(|(narrated, number)| narrated.is_none_or(|it| it == number))
    };
    let narrated = |pick: fn(&Step) -> Option<Option<u32>>| steps.iter().filter_map(pick).collect();
    // The iterations of a `parallel for` are narrated as branches.
    let turns = narrated(|step| match step {
        Step::Iteration(number) => Some(Some(*number)),
        Step::Branch(index) => Some(*index),
        Step::Frame(_) => None,
    });
    let frames = narrated(|step| if let Step::Frame(id) = step { Some(Some(*id)) } else { None });
    agree(&['i', 'b'], turns) && agree(&['f'], frames)
}

/// Whether what is narrated about a session is about this one: by the name that its result gets, by what it is asked to do, or by its statement.
fn is_told_of(narrated: &NarratedSession, task: &SessionTask) -> bool {
    let is_captured = !task.binding.name.starts_with("anon_");
    if let (Some(name), true) = (&narrated.name, is_captured)
        && task.binding.name != name.as_str()
    {
        return false;
    }
    if let Some(prompt) = &narrated.prompt {
        return begins_with(&task.task, prompt);
    }
    let is_same_statement = narrated.source.as_ref().map(|source| is_same_statement(source, task));
    // A name says it where a model put the statement into words of its own.
    is_same_statement.unwrap_or(false) || (narrated.name.is_some() && is_captured)
}

fn is_same_statement(source: &str, task: &SessionTask) -> bool {
    let source = plain(source);
    let written =
        task.binding.source.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let written = plain(written);
    if source == written || bare(&source) == bare(&written) {
        return true;
    }
    let texts: Vec<&str> = source.split('"').skip(1).step_by(2).collect();
    let is_agent = task.agent.as_ref().is_some_and(|agent| {
        bare(&source).split_once(':').is_some_and(|(_, name)| name.split_whitespace().next() == Some(agent))
    });
    if texts.is_empty() { is_agent } else { texts.iter().any(|text| begins_with(&task.task, text)) }
}

/// A statement with one kind of quotes, single spaces, and without what only narrations add.
fn plain(source: &str) -> String {
    let source = source.replace(['“', '”', '\'', '`'], "\"");
    let source = one_line(&source);
    let source = source.split(" with context").next().unwrap_or_default();
    source.trim_end_matches([':', ' ']).to_owned()
}

fn bare(source: &str) -> &str {
    crate::narrator::without_binding(source)
}

/// Whether a text is another or, where that is cut off, begins with it.
fn begins_with(text: &str, narrated: &str) -> bool {
    let narrated = one_line(narrated);
    // A session with a text and a prompt is narrated by its text alone; a blank line is between them (R25).
    if one_line(text) == narrated
        || text.split("\n\n").next().is_some_and(|label| one_line(label) == narrated)
    {
        return true;
    }
    let start = narrated.trim_end_matches(['.', '…']);
    start.len() < narrated.len() && one_line(text).starts_with(start)
}

/// Whether a condition is the one that is asked. References that it holds are filled in where it is asked, and may not be where it is narrated.
fn is_same_question(narrated: &str, asked: &str) -> bool {
    let simple = |text: &str| one_line(text).trim_matches(['*', ' ', '"']).to_lowercase();
    let narrated = simple(discretions(narrated).first().map_or(narrated, |it| it));
    let asked = simple(asked);
    let mut rest = asked.as_str();
    let mut parts = narrated.split('{').enumerate().map(|(at, part)| match at {
        0 => part,
        _ => part.split_once('}').map_or(part, |(_, behind)| behind),
    });
    let Some(first) = parts.next() else { return asked.is_empty() };
    let Some(behind) = rest.strip_prefix(first) else { return false };
    rest = behind;
    let mut has_gap = false;
    for part in parts {
        has_gap = true;
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.is_empty() || (has_gap && narrated.ends_with('}'))
}
