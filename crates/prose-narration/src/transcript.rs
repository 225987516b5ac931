//! Recovers a run from a narration.
//!
//! What a narrator of this crate wrote is recovered exactly. What a model wrote is recovered as far as it is sure: a session whose result is cut
//! off or not narrated is run again, and so is one whose text does not fit any that the program asks for.

mod lines;
mod reader;
mod recall;
mod values;

use std::fmt;

use prose_vm::budget::Maximum;
use prose_vm::effect::Outcome;
use prose_vm::value::Value;
use smol_str::SmolStr;

pub use recall::TranscriptRecording;

/// Reads a narration.
pub fn read(text: &str) -> Recovered {
    reader::Reader::new(text).read()
}

/// What a narration states of a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Recovered {
    /// What the program was read from, where the narration says so.
    pub program: Option<String>,
    /// The SHA-256 of the program's text, where the narration says so.
    pub sha256: Option<String>,
    /// The inputs that the program was started with.
    pub inputs: Vec<(SmolStr, Value)>,
    /// The limits that it was started with by flags.
    pub limits: Vec<Maximum>,
    /// The time in milliseconds after which an execution stops, if it was started with one.
    pub timeout_ms: Option<u64>,
    /// Whether the program has come to its end.
    pub is_complete: bool,
    entries: Vec<Entry>,
}

/// What a narration says or fails to say about one effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The line, from 1.
    pub line: usize,
    /// What it is about, in words.
    pub about: String,
    /// Why its outcome is unsure; none where it is known.
    pub doubt: Option<&'static str>,
    /// Whether it has ended all the same: it is asked for again only where the program continues with its result (decision 23).
    pub has_ended: bool,
}

/// An effect that a narration mentions.
#[derive(Debug, Clone, PartialEq)]
struct Entry {
    line: usize,
    about: About,
    steps: Vec<Step>,
    answer: Result<Answer, &'static str>,
}

/// What an effect was about, as far as it is narrated.
#[derive(Debug, Clone, PartialEq)]
enum About {
    Session(NarratedSession),
    /// A condition; without a text where none is narrated.
    Judge(Option<String>),
    Choose(Option<String>),
    Input(Option<String>),
    Extract,
    Summarise,
    Memory,
    File,
    Sleep,
}

/// What is narrated about a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct NarratedSession {
    /// Its statement.
    source: Option<String>,
    /// What it was asked to do, maybe only the beginning.
    prompt: Option<String>,
    /// The name that its result is bound to.
    name: Option<String>,
}

/// What came of an effect.
#[derive(Debug, Clone, PartialEq)]
enum Answer {
    Outcome(Outcome),
    /// The session has ended, and its result is not narrated, or only the beginning of it.
    Ended {
        part: Option<String>,
        doubt: &'static str,
    },
    /// A label that was chosen; which of the labels it is, the request will say.
    Label {
        label: String,
        reason: String,
    },
}

/// A step on the way to an effect.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    /// The number of an iteration, from 0.
    Iteration(u32),
    /// The number of the branch from 0, where it is known.
    Branch(Option<u32>),
    Frame(u32),
}

impl Recovered {
    /// What is known and what is in doubt, in the order in which it is narrated. Pauses are left out.
    pub fn findings(&self) -> impl Iterator<Item = Finding> {
        self.entries.iter().filter(|entry| !matches!(entry.about, About::Sleep)).map(Entry::finding)
    }

    /// Answers what the run asks again.
    pub fn into_recording(self) -> TranscriptRecording {
        TranscriptRecording::new(self.entries)
    }
}

impl Entry {
    fn finding(&self) -> Finding {
        let (doubt, has_ended) = match &self.answer {
            Ok(Answer::Ended { doubt, .. }) => (Some(*doubt), true),
            Ok(_) => (None, false),
            Err(doubt) => (Some(*doubt), false),
        };
        Finding { line: self.line, about: self.about.to_string(), doubt, has_ended }
    }
}

/// One line for each finding in doubt below a line that counts.
impl fmt::Display for Recovered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (doubts, known): (Vec<_>, Vec<_>) = self.findings().partition(|finding| finding.doubt.is_some());
        let sessions = known.iter().filter(|finding| finding.about.starts_with("session")).count();
        let others = known.len() - sessions;
        write!(f, "recovered {sessions} sessions and {others} other answers")?;
        for doubt in doubts {
            write!(f, "\nline {}: {}: {}", doubt.line, doubt.about, doubt.doubt.unwrap_or_default())?;
        }
        Ok(())
    }
}

impl fmt::Display for About {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            About::Session(narrated) => match (&narrated.name, &narrated.source, &narrated.prompt) {
                (Some(name), _, _) => write!(f, "session that `{name}` is bound to"),
                (None, Some(source), _) => write!(f, "session of `{source}`"),
                (None, None, Some(prompt)) => write!(f, "session \"{prompt}\""),
                (None, None, None) => f.write_str("session"),
            },
            About::Judge(Some(text)) => write!(f, "condition **{text}**"),
            About::Judge(None) => f.write_str("condition"),
            About::Choose(Some(text)) => write!(f, "choice **{text}**"),
            About::Choose(None) => f.write_str("choice"),
            About::Input(Some(name)) => write!(f, "input `{name}`"),
            About::Input(None) => f.write_str("input"),
            About::Extract => f.write_str("part of a text"),
            About::Summarise => f.write_str("summary"),
            About::Memory => f.write_str("memory of an agent"),
            About::File => f.write_str("file of a context"),
            About::Sleep => f.write_str("pause"),
        }
    }
}
