//! The questions of a run, asked of the user at the terminal, one after the other.

use std::io::{self, BufRead, IsTerminal, Write};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use prose_run::Questions;
use prose_run::questions::{OpenQuestion, QuestionKind, QuestionSource};
use prose_vm::choices;
use prose_vm::questions::AnswerSource;
use prose_vm::value::Value;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::progress::Bars;
use crate::terminal::one_line;

/// Whether the user at the terminal can be asked.
pub(crate) fn can_ask() -> bool {
    io::stdin().is_terminal()
}

/// The user at the terminal, while a run is executed.
pub(crate) struct TerminalQuestions(Option<JoinHandle<()>>);

impl TerminalQuestions {
    /// Asks the questions of a run until it ends, if standard input comes from a terminal.
    pub(crate) fn ask(desk: &Questions, bars: Bars) -> Self {
        if !can_ask() {
            return Self(None);
        }
        let attendance = desk.attend();
        let questions = desk.source(AnswerSource::Terminal);
        let asking = move || {
            ask_all(questions, &bars);
            drop(attendance);
        };
        Self(thread::Builder::new().name("questions".to_owned()).spawn(asking).ok())
    }

    /// Ends the line of a question that no one waits for any more, after the run has ended.
    pub(crate) fn finish(self) {
        if let Some(asking) = self.0 {
            // A panic is reported by its own thread.
            let _ = asking.join();
        }
    }
}

/// Asks questions on this thread until there are no more, or until standard input is closed.
pub(crate) fn ask_all(mut questions: impl QuestionSource, bars: &Bars) {
    // Without a runtime no one asks, and the run waits.
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().build() else { return };
    runtime.block_on(async {
        while let Some(question) = questions.next().await {
            let hidden = bars.hide();
            let is_there = ask(&questions, &question).await;
            drop(hidden);
            if !is_there {
                return;
            }
        }
    });
}

/// Asks until an answer is understood or given elsewhere. Returns false if standard input was closed.
async fn ask(questions: &impl QuestionSource, question: &OpenQuestion) -> bool {
    let line = line_of(question);
    let mut lines = LINES.lock().await;
    let lines = lines.get_or_insert_with(Lines::start);
    loop {
        write(&line);
        let answer = tokio::select! {
            biased;
            () = questions.settled(question.id) => {
                write("\n");
                return true;
            }
            answer = lines.next() => answer,
        };
        let Some(answer) = answer else {
            // The line of the question was not ended.
            write("\n");
            return false;
        };
        match questions.answer(question.id, &Value::text(answer.as_str())) {
            // Only the question is repeated after an empty line.
            Err(_) if answer.trim().is_empty() => {}
            Err(error) => write(&format!("{}\n", one_line(&error))),
            Ok(()) => return true,
        }
    }
}

/// A question for display.
fn line_of(question: &OpenQuestion) -> String {
    let prompt = one_line(&question.prompt);
    match &question.kind {
        QuestionKind::Input { name } => {
            let name = name.as_deref().unwrap_or("input");
            let choices = match choices::listed(&question.choices) {
                choices if choices.is_empty() => choices,
                choices => format!(" {choices}"),
            };
            let optional = if question.is_optional { " (empty for none)" } else { "" };
            format!("{} — {prompt}{choices}{optional}: ", one_line(name))
        }
        _ => format!("{prompt}\n  allow [o]nce, allow for this [r]un, or [d]eny? "),
    }
}

fn write(text: &str) {
    let mut stderr = io::stderr().lock();
    // Who cannot be written to does not look at the question either.
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}

/// The lines of standard input. A read cannot be cancelled, so one that no question waits for any more serves the next question.
struct Lines {
    wanted: mpsc::Sender<()>,
    read: UnboundedReceiver<Option<String>>,
    is_reading: bool,
}

static LINES: tokio::sync::Mutex<Option<Lines>> = tokio::sync::Mutex::const_new(None);

impl Lines {
    fn start() -> Self {
        let (wanted, wishes) = mpsc::channel();
        let (lines, read) = unbounded_channel();
        // Without a thread the channel is closed, as if standard input were.
        let _ = thread::Builder::new().name("stdin".to_owned()).spawn(move || read_lines(&wishes, &lines));
        Self { wanted, read, is_reading: false }
    }

    /// The next line; `None` once standard input is closed.
    async fn next(&mut self) -> Option<String> {
        if !self.is_reading && self.wanted.send(()).is_err() {
            return None;
        }
        self.is_reading = true;
        let line = self.read.recv().await.flatten();
        self.is_reading = false;
        line
    }
}

fn read_lines(wishes: &mpsc::Receiver<()>, lines: &UnboundedSender<Option<String>>) {
    while wishes.recv().is_ok() {
        let mut line = String::new();
        let read = io::stdin().lock().read_line(&mut line);
        let line = read.ok().filter(|read| *read > 0).map(|_| line.trim_end_matches(['\n', '\r']).to_owned());
        let is_over = line.is_none();
        if lines.send(line).is_err() || is_over {
            return;
        }
    }
}
