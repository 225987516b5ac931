//! The answers of people in the journals of a run, and those that are given while no process executes it.

use std::io;
use std::path::Path;

use prose_vm::event::{Event, EventKind, RunEnd, RunStatus};
use prose_vm::place::Place;
use prose_vm::questions::{
    ApprovalAnswer, Attribution, OpenQuestion, QuestionId, QuestionKind, RecordedAnswer,
};
use prose_vm::value::Value;

use crate::error::StateError;
use crate::folder::Project;
use crate::journal::{Journal, journal_of};
use crate::lock::RunLock;
use crate::reader::{INCOMPLETE, Lines, read_last};
use crate::recall::{JournalRecording, Matching};
use crate::remembered::Journals;
use crate::repair::truncate;
use crate::runs::OpenRun;

impl Project {
    /// The answers that the journals of a run have, also those from before its program changed, in the order in which they were given.
    pub fn answers(&self, run: &str) -> Result<Vec<(Place, RecordedAnswer)>, StateError> {
        let folder = self.existing_run(run)?;
        let mut answers = Vec::new();
        for path in (Journals { folder: &folder, run }).all() {
            collect(&path, &mut answers)?;
        }
        Ok(answers)
    }

    /// Records the answer to a question of a run that no process executes: it waits, or its process has ended while it asked. The value is in the form
    /// that the program receives. Returns the questions that are left.
    pub fn record_answer(
        &self,
        run: &str,
        question: QuestionId,
        answer: Value,
        attribution: Attribution,
        now: u64,
    ) -> Result<Vec<OpenQuestion>, StateError> {
        let folder = self.existing_run(run)?;
        let tree = self.run_tree(&folder)?;
        let _lock = RunLock::acquire(&tree, run)?;
        let path = journal_of(&folder);
        let not_open = || StateError::NotOpen { run: run.to_owned(), question: question.0 };
        let last = read_last(&path)?;
        let Some((last, mut end)) = last.and_then(|last| match last.kind.clone() {
            EventKind::RunEnded(end) => Some((last, end)),
            _ => None,
        }) else {
            return answer_killed(&path, question, (answer, attribution), now)?.ok_or_else(not_open);
        };
        let index = end.waiting.iter().position(|open| open.id == question).ok_or_else(not_open)?;
        let asked = end.waiting.remove(index);
        let whole = JournalRecording::open(&path, Matching::Exact)?;
        let Some(offset) = whole.sound().end else { return Err(not_open()) };
        truncate(&path, offset)?;
        let shortened = JournalRecording::open(&path, Matching::Exact)?;
        let written = |error: io::Error| StateError::io("write", &path)(error);
        let mut journal = Journal::resume(&path, shortened.sound())?;
        let paused = last.paused.saturating_add(now.saturating_sub(last.at));
        journal
            .append(&Event { at: now, paused, ..answered(&last, asked, answer, attribution) })
            .map_err(written)?;
        let waiting = end.waiting.clone();
        still_stopped(&mut end);
        journal
            .append(&Event { seq: last.seq + 1, at: now, paused, kind: EventKind::RunEnded(end), ..last })
            .map_err(written)?;
        journal.sync().map_err(written)?;
        Ok(waiting)
    }
}

/// Records the answer to a question of a run whose process has ended without ending the run. `None` if it does not ask the question.
fn answer_killed(
    path: &Path,
    question: QuestionId,
    (answer, attribution): (Value, Attribution),
    now: u64,
) -> Result<Option<Vec<OpenQuestion>>, StateError> {
    let mut open = OpenRun::read(path).map(|open| open.waiting).unwrap_or_default();
    let Some(index) = open.iter().position(|open| open.id == question) else { return Ok(None) };
    let asked = open.remove(index);
    let whole = JournalRecording::open(path, Matching::Exact)?;
    // The process may have ended while it wrote a line. Everything else that is wrong is repaired when the run is resumed.
    match &whole.sound().damage {
        Some(damage) if damage.what != INCOMPLETE => return Err(StateError::Damaged(damage.clone())),
        Some(_) => truncate(path, whole.sound().length)?,
        None => {}
    }
    let Some(last) = read_last(path)? else { return Ok(None) };
    let written = |error: io::Error| StateError::io("write", path)(error);
    let mut journal = Journal::resume(path, whole.sound())?;
    let paused = last.paused.saturating_add(now.saturating_sub(last.at));
    let next = Event { seq: last.seq + 1, at: now, paused, frame: 0, nesting: 0, site: None, ..last };
    journal.append(&answered(&next, asked, answer, attribution)).map_err(written)?;
    let kind = EventKind::QuestionsOpen { questions: open.clone() };
    let left = Event { seq: next.seq + 1, place: Place::root(), kind, ..next };
    journal.append(&left).map_err(written)?;
    journal.sync().map_err(written)?;
    Ok(Some(open))
}

/// The event of an answer, with the number and the times of another one.
fn answered(like: &Event, asked: OpenQuestion, answer: Value, attribution: Attribution) -> Event {
    let place = asked.asked_at.clone();
    let kind = EventKind::Answered(asked.answered(answer, attribution));
    Event { place, kind, ..like.clone() }
}

/// How a stopped run stands after an answer.
fn still_stopped(end: &mut RunEnd) {
    let Some(mut error) = end.error.take().map(|error| (*error).clone()) else { return };
    error.message = match end.waiting.as_slice() {
        [] => {
            end.status = RunStatus::Interrupted;
            "all questions of the run are answered; resume it".to_owned()
        }
        [one] => format!("the run waits for an answer: {}", one.summary()),
        [first, ..] => format!("the run waits for {} answers: {}; …", end.waiting.len(), first.summary()),
    };
    end.error = Some(error.into());
}

/// Adds the answers of a journal, as far as it can be read.
fn collect(path: &Path, answers: &mut Vec<(Place, RecordedAnswer)>) -> Result<(), StateError> {
    let mut lines = Lines::open(path)?;
    // A limit that was not raised stops the run, and resuming that run asks again.
    let mut denied = None;
    while let Ok(Some(line)) = lines.next() {
        let (is_answer, is_end) = (line.event == "answered", line.event == "run-ended");
        if !is_end && !is_answer {
            denied = None;
        }
        if !is_answer {
            continue;
        }
        let Event { place, kind: EventKind::Answered(answer), .. } = lines.event()? else { continue };
        let is_denied = answer.answer.to_string() == ApprovalAnswer::Deny.word();
        match &answer.kind {
            QuestionKind::Limit { .. } if is_denied => denied = Some((place, answer)),
            _ => answers.push((place, answer)),
        }
    }
    answers.extend(denied);
    Ok(())
}
