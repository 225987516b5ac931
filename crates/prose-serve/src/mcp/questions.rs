//! Which questions of a run an agent answers: those for inputs. Permissions and limits are under the settings of the project and not under those of the agent,
//! so that a person answers them, from any process.

use prose_run::questions::answer_command;
use prose_vm::questions::{OpenQuestion, QuestionKind};

/// The question that an agent answers: the one with a number, or the only one for an input.
pub(super) fn asked_input<'a>(
    run: &str,
    open: &'a [OpenQuestion],
    number: Option<u64>,
) -> Result<&'a OpenQuestion, String> {
    let mut inputs = open.iter().filter(|question| is_input(question));
    let asked = match (number, open, inputs.next(), inputs.next()) {
        (_, [], ..) => return Err("the run has no open question".to_owned()),
        (Some(number), ..) => open
            .iter()
            .find(|question| question.id.0 == number)
            .ok_or_else(|| format!("the run has no open question {number}"))?,
        (None, _, Some(only), None) => only,
        (None, _, Some(_), Some(_)) => {
            return Err(format!("the run has {} open questions; pass the number of one", open.len()));
        }
        (None, [first, ..], None, _) => first,
    };
    match is_input(asked) {
        true => Ok(asked),
        false => Err(format!("question {} is not for an agent: {}", asked.id, for_person(run, asked))),
    }
}

/// Whether an agent may answer a question.
pub(super) fn is_input(question: &OpenQuestion) -> bool {
    matches!(question.kind, QuestionKind::Input { .. })
}

/// How a person answers a question that is not for an agent.
pub(super) fn for_person(run: &str, question: &OpenQuestion) -> String {
    let command = answer_command(run, question, false);
    format!("a person answers it, with `{command}` in a terminal or in the editor")
}
