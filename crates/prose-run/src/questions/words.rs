//! Open questions in words that all faces use.

use prose_project::shell::word;
use prose_vm::questions::OpenQuestion;

/// The command with which a person answers a question of a run. The number is left out of that for the only one.
pub fn answer_command(run: &str, question: &OpenQuestion, is_only: bool) -> String {
    let number = if is_only { String::new() } else { format!(" {}", question.id) };
    let value = match question.choices.as_slice() {
        [] => "VALUE".to_owned(),
        choices => choices.iter().map(|choice| word(&choice.value)).collect::<Vec<_>>().join("|"),
    };
    format!("prose runs answer {}{number} {value}", word(run))
}
