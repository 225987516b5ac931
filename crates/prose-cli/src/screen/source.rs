//! Where the questions of a run come from, and where commands to it go.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use prose_run::control::{Client, Closer, ElsewhereQuestions};
use prose_run::questions::{Attendance, user};
use prose_run::{Questions, questions::QuestionSource};
use prose_vm::command::Command;
use prose_vm::questions::{AnswerSource, OpenQuestion, QuestionId};
use prose_vm::value::Value;

use crate::run::interrupt::Interrupter;
use crate::run::progress::Bars;
use crate::run::terminal_questions::TerminalQuestions;

/// A run that a screen shows.
pub(crate) trait Source: Send + Sync {
    /// The questions that wait for a person, the oldest first.
    fn questions(&self) -> Vec<OpenQuestion>;

    /// Answers a question.
    fn answer(&self, question: QuestionId, text: &str) -> Result<(), String>;

    /// Gives the run a command.
    fn command(&self, command: Command) -> Result<(), String>;

    /// Says whether the user is there to answer.
    fn attend(&self, is_there: bool);

    /// The user has left the screen. Returns what asks the questions from now on, if the run continues at this terminal.
    fn leave(&self, bars: &Bars) -> Option<TerminalQuestions>;

    /// Whether Ctrl-C stops the run, and does not only leave its screen.
    fn ends_with_screen(&self) -> bool;
}

/// A run that this process executes.
pub(crate) struct Here {
    pub(crate) desk: Questions,
    pub(crate) folder: PathBuf,
    attendance: Mutex<Option<Attendance>>,
}

impl Here {
    pub(crate) fn new(desk: Questions, folder: PathBuf) -> Self {
        Self { desk, folder, attendance: Mutex::default() }
    }
}

impl Source for Here {
    fn questions(&self) -> Vec<OpenQuestion> {
        self.desk.open()
    }

    fn answer(&self, question: QuestionId, text: &str) -> Result<(), String> {
        let by = user(AnswerSource::Terminal);
        self.desk.answer(Some(question), text, by).map_err(|error| error.to_string())
    }

    fn command(&self, command: Command) -> Result<(), String> {
        send(&self.folder, command, AnswerSource::Terminal)
    }

    fn attend(&self, is_there: bool) {
        let mut attendance = self.attendance.lock().unwrap_or_else(PoisonError::into_inner);
        match is_there {
            true if attendance.is_none() => *attendance = Some(self.desk.attend()),
            true => {}
            false => *attendance = None,
        }
    }

    fn ends_with_screen(&self) -> bool {
        true
    }

    fn leave(&self, bars: &Bars) -> Option<TerminalQuestions> {
        let asking = TerminalQuestions::ask(&self.desk, bars.clone());
        self.attend(false);
        Some(asking)
    }
}

/// Why nothing is done in a run that is only watched.
const READ_ONLY: &str = "the run is only watched (`--read-only`)";

/// A run that another process executes.
pub(crate) struct Elsewhere {
    /// Those that are asked; the connection stays open as long as the user attends them.
    pub(crate) questions: Option<(ElsewhereQuestions, Closer)>,
    pub(crate) folder: PathBuf,
    /// Whether the run is only watched.
    pub(crate) is_read_only: bool,
    /// Ends this process, and not the run.
    pub(crate) interrupter: Interrupter,
}

impl Source for Elsewhere {
    fn questions(&self) -> Vec<OpenQuestion> {
        self.questions.as_ref().map_or_else(Vec::new, |(questions, _)| questions.open())
    }

    fn answer(&self, question: QuestionId, text: &str) -> Result<(), String> {
        match &self.questions {
            Some((questions, _)) if !self.is_read_only => questions.answer(question, &Value::text(text)),
            _ => Err(READ_ONLY.to_owned()),
        }
    }

    fn command(&self, command: Command) -> Result<(), String> {
        match self.is_read_only {
            true => Err(READ_ONLY.to_owned()),
            false => send(&self.folder, command, AnswerSource::Terminal),
        }
    }

    fn attend(&self, _: bool) {}

    fn ends_with_screen(&self) -> bool {
        false
    }

    fn leave(&self, _: &Bars) -> Option<TerminalQuestions> {
        self.interrupter.interrupt();
        None
    }
}

/// Gives the run in a folder a command.
pub(crate) fn send(folder: &Path, command: Command, from: AnswerSource) -> Result<(), String> {
    let sent = Client::connect(folder).and_then(|mut client| client.command(command, &user(from)));
    sent.map_err(|error| error.to_string())
}
