//! The questions of a run, asked of the user at the terminal, one after the other.

use std::io::{self, IsTerminal, Write};
use std::thread::{self, JoinHandle};

use prose_run::Questions;
use prose_run::questions::{OpenQuestion, QuestionKind, QuestionSource};
use prose_vm::choices;
use prose_vm::questions::AnswerSource;
use prose_vm::value::Value;

use super::progress::Bars;
use crate::keyboard::{self, Typed};
use crate::terminal::one_line;

/// The user at the terminal, while a run is executed.
pub(crate) struct TerminalQuestions(Option<JoinHandle<()>>);

impl TerminalQuestions {
    /// Asks the questions of a run until it ends, if standard input comes from a terminal.
    pub(crate) fn ask(desk: &Questions, bars: Bars) -> Self {
        if !io::stdin().is_terminal() {
            return Self(None);
        }
        // The run must not find itself alone before the thread has started.
        let attendance = keyboard::is_foreground().then(|| desk.attend());
        let questions = desk.source(AnswerSource::Terminal);
        let desk = desk.clone();
        let asking = move || {
            asked(async {
                tokio::select! {
                    () = ask_each(questions, &bars) => {}
                    () = attend(&desk, attendance) => {}
                }
            });
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

/// Attends a run while this process is in the foreground. In the background it has no terminal, so that a run that only waits is answered later.
async fn attend(desk: &Questions, mut attendance: Option<prose_run::questions::Attendance>) {
    loop {
        if attendance.is_some() {
            keyboard::background().await;
            attendance = None;
        } else {
            keyboard::foreground().await;
            attendance = Some(desk.attend());
        }
    }
}

/// Asks questions on this thread until there are no more, or until standard input is closed.
pub(crate) fn ask_all(questions: impl QuestionSource, bars: &Bars) {
    asked(ask_each(questions, bars));
}

fn asked(asking: impl Future<Output = ()>) {
    // Without a runtime no one asks, and the run waits.
    if let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() {
        runtime.block_on(asking);
    }
}

async fn ask_each(mut questions: impl QuestionSource, bars: &Bars) {
    while let Some(question) = questions.next().await {
        if !ask(&questions, &question, bars).await {
            return;
        }
    }
}

/// Asks until an answer is understood or given elsewhere. Returns false if standard input was closed.
async fn ask(questions: &impl QuestionSource, question: &OpenQuestion, bars: &Bars) -> bool {
    // What was typed before other lines is not visible after the question any more: it must not allow anything.
    let keeps_typed = matches!(question.kind, QuestionKind::Input { .. });
    loop {
        tokio::select! {
            biased;
            () = questions.settled(question.id) => return true,
            () = keyboard::foreground() => {}
        }
        // Only what is typed after the question is shown answers it.
        keyboard::discard();
        let shown = bars.ask(line_of(question), keeps_typed);
        let typed = tokio::select! {
            biased;
            () = questions.settled(question.id) => {
                shown.end_line();
                keyboard::discard();
                return true;
            }
            typed = keyboard::line() => typed,
        };
        let answer = match typed {
            Typed::Line(answer) => answer,
            Typed::NotText => {
                drop(shown);
                write("the answer is not UTF-8; type it again\n");
                continue;
            }
            Typed::Closed => {
                shown.end_line();
                return false;
            }
            Typed::Background => {
                shown.end_line();
                continue;
            }
        };
        drop(shown);
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
    let note = question.note.as_ref().map_or(String::new(), |note| format!("note: {}\n", one_line(note)));
    let prompt = one_line(&question.prompt);
    match &question.kind {
        QuestionKind::Input { name } => {
            let name = name.as_deref().unwrap_or("input");
            let choices = match choices::listed(&question.choices) {
                choices if choices.is_empty() => choices,
                choices => format!(" {choices}"),
            };
            let optional = if question.is_optional { " (empty for none)" } else { "" };
            format!("{note}{} — {prompt}{choices}{optional}: ", one_line(name))
        }
        _ => format!("{note}{prompt}\n  allow [o]nce, allow for this [r]un, or [d]eny? "),
    }
}

fn write(text: &str) {
    let mut stderr = io::stderr().lock();
    // Who cannot be written to does not look at the question either.
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}
