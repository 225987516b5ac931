//! What is said of a run that waits for answers.

use std::io::{self, Write};

use prose_run::questions::answer_command;
use prose_vm::choices;
use prose_vm::event::RunEnd;
use prose_vm::questions::OpenQuestion;

use crate::terminal::{HELP, Terminal, WARNING, one_line};

/// Writes the questions of a run that has stopped to wait, and how to answer them.
pub(crate) fn write(run: &str, end: &RunEnd, is_kept: bool, terminal: &Terminal) -> io::Result<()> {
    let mut stderr = terminal.stderr();
    for question in &end.waiting {
        write_question(question, &mut stderr)?;
    }
    if let Some(command) = command(run, &end.waiting).filter(|_| is_kept) {
        writeln!(stderr, "{HELP}help{HELP:#}: answer with `{command}`; recorded results are reused")?;
    }
    Ok(())
}

/// Writes the questions of a run that another process or this one executes, and how to answer them from elsewhere.
pub(crate) fn write_open(
    run: &str,
    questions: &[OpenQuestion],
    is_only: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    for question in questions {
        write_question(question, out)?;
        let command = answer_command(run, question, is_only);
        writeln!(out, "{HELP}help{HELP:#}: answer with `{command}`")?;
    }
    Ok(())
}

fn write_question(question: &OpenQuestion, stderr: &mut dyn Write) -> io::Result<()> {
    writeln!(stderr, "{WARNING}waiting{WARNING:#}: {}", shown(question))?;
    match &question.note {
        Some(note) => writeln!(stderr, "{WARNING}note{WARNING:#}: {}", one_line(note)),
        None => Ok(()),
    }
}

/// A question in one line: `question 1 at line 3: go: Ship it? (yes/no)`.
pub(crate) fn shown(question: &OpenQuestion) -> String {
    let line =
        question.named_line().map_or(String::new(), |line| format!(" at {}", one_line(&line.to_string())));
    format!("question {}{line}: {}", question.id, one_line(&question.summary()))
}

/// The command that answers the first question of a run.
pub(crate) fn command(run: &str, questions: &[OpenQuestion]) -> Option<String> {
    questions.first().map(|first| answer_command(run, first, questions.len() == 1))
}

/// The answers that a question offers, for display; `None` if any text is an answer.
pub(crate) fn offered(question: &OpenQuestion) -> Option<String> {
    Some(choices::listed(&question.choices)).filter(|listed| !listed.is_empty())
}
