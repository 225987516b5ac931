//! What is said of a run that waits for answers.

use std::io::{self, Write};

use prose_project::shell::word;
use prose_vm::choices;
use prose_vm::event::RunEnd;
use prose_vm::questions::OpenQuestion;

use crate::terminal::{HELP, Terminal, WARNING, one_line};

/// Writes the questions of a run that has stopped to wait, and how to answer them.
pub(crate) fn write(run: &str, end: &RunEnd, is_kept: bool, terminal: &Terminal) -> io::Result<()> {
    let mut stderr = terminal.stderr();
    for question in &end.waiting {
        writeln!(stderr, "{WARNING}waiting{WARNING:#}: {}", shown(question))?;
    }
    if is_kept {
        let command = command(run, &end.waiting);
        writeln!(stderr, "{HELP}help{HELP:#}: answer with `{command}`; recorded results are reused")?;
    }
    Ok(())
}

/// A question in one line: `question 1 at line 3: go: Ship it? (yes/no)`.
pub(crate) fn shown(question: &OpenQuestion) -> String {
    let line = question.line.map_or(String::new(), |line| format!(" at line {line}"));
    format!("question {}{line}: {}", question.id, one_line(&question.summary()))
}

/// The command that answers the questions of a run.
pub(crate) fn command(run: &str, questions: &[OpenQuestion]) -> String {
    let number = match questions {
        [question, _, ..] => format!(" {}", question.id),
        _ => String::new(),
    };
    let choices = questions.first().map_or_else(Vec::new, |question| question.choices.clone());
    let value = match choices.as_slice() {
        [] => "VALUE".to_owned(),
        choices => choices.iter().map(|choice| word(&choice.value)).collect::<Vec<_>>().join("|"),
    };
    format!("prose runs answer {}{number} {value}", word(run))
}

/// The answers that a question offers, for display; `None` if any text is an answer.
pub(crate) fn offered(question: &OpenQuestion) -> Option<String> {
    Some(choices::listed(&question.choices)).filter(|listed| !listed.is_empty())
}
