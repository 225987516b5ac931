//! Distinguishes the lines of a question and its answer from lines quoted in values (decision 20).

use std::borrow::Cow;
use std::hash::{BuildHasher, RandomState};

use prose_vm::effect::Question;
use prose_vm::frame;
use smol_str::SmolStr;

use super::answers;

/// The mark of a question and how strictly its answer must contain it.
pub(super) struct Marks {
    /// `None` if neither the evidence nor the question can contain a line of a frame or of an answer.
    mark: Option<SmolStr>,
    trust: Trust,
}

/// Which answers without the mark are accepted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trust {
    /// Answer lines anywhere: no value contains such lines that could be quoted.
    Anywhere,
    /// Only answer lines and nothing else: files may contain anything, and an agent that quotes them writes more than that.
    Alone,
    /// Only a single word: a value contains lines that look like an answer.
    Nowhere,
}

impl Marks {
    pub(super) fn of(question: &Question) -> Self {
        let values = question.context.iter().filter_map(|item| item.text.as_deref());
        let texts = values.chain([&*question.text]).chain(question.labels.iter().map(SmolStr::as_str));
        let has_files = question.context.iter().any(|item| item.path.is_some() && item.text.is_none());
        let trust = if texts.clone().any(|text| text.lines().any(|line| answers::key(line).is_some())) {
            Trust::Nowhere
        } else if has_files {
            Trust::Alone
        } else {
            Trust::Anywhere
        };
        let needs_mark = trust != Trust::Anywhere || texts.clone().any(frame::has_lines);
        Self { mark: needs_mark.then(|| random_mark(texts)), trust }
    }

    pub(super) fn is_there(&self) -> bool {
        self.mark.is_some()
    }

    /// The line around values.
    pub(super) fn rule(&self) -> String {
        frame::rule(self.mark.as_deref())
    }

    /// A text of the program, which may contain values.
    pub(super) fn framed<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.is_there() && frame::has_lines(text) {
            true => format!("{0}\n{text}\n{0}", self.rule()).into(),
            false => text.into(),
        }
    }

    /// The form of an answer: lines `NAME: content`, with the mark after each name.
    pub(super) fn form(&self, lines: &[&str]) -> String {
        let marked = lines.iter().map(|line| match (&self.mark, line.split_once(": ")) {
            (Some(mark), Some((name, rest))) => format!("{name} {mark}: {rest}"),
            _ => (*line).to_owned(),
        });
        marked.collect::<Vec<_>>().join("\n")
    }

    /// The answer in a reply, without the mark; `None` if it is not certain.
    pub(super) fn answer<'a>(&self, said: &'a str) -> Option<Cow<'a, str>> {
        let Some(mark) = &self.mark else { return Some(said.into()) };
        if said.lines().any(|line| answers::marked(line, mark).is_some()) {
            return Some(answers::of_mark(said, mark).into());
        }
        let lines = || said.lines().filter(|line| !line.trim().is_empty());
        let is_answer = match self.trust {
            Trust::Anywhere => true,
            Trust::Alone => lines().all(|line| answers::key(line).is_some()) || lines().count() == 1,
            Trust::Nowhere => lines().count() == 1 && lines().all(|line| answers::key(line).is_none()),
        };
        // An extracted part follows the first line of the answer.
        let is_extract =
            || self.trust == Trust::Alone && lines().next().and_then(answers::key) == Some("FOUND");
        (is_answer || is_extract()).then_some(said.into())
    }
}

/// An unpredictable mark that is in none of the texts.
pub(super) fn random_mark<'a>(texts: impl Iterator<Item = &'a str> + Clone) -> SmolStr {
    frame::mark(&RandomState::new().hash_one(0).to_string(), texts)
}
