//! The programs of a folder as commands, and the prompts that name them.

use std::path::Path;

use prose_acp::{AvailableCommand, CommandInput};
use prose_analysis::contract::{Contract, contract};
use prose_analysis::{AnalysisHost, Text};
use prose_project::files::read_program;
use prose_syntax::text::{beginning, one_line};
use prose_vm::program::Program;
use prose_vm::value::Value;
use smol_str::SmolStr;

use crate::folder::Folder;

/// The command that resumes the run of a session.
pub(super) const RESUME: &str = "resume";

/// The maximum number of programs that are offered.
const MAX_PROGRAMS: usize = 100;

/// The longest description, in characters.
const MAX_DESCRIPTION: usize = 120;

/// A program that a prompt can name.
#[derive(Debug, Clone)]
pub(super) struct Offered {
    /// Its path in the folder without the ending.
    pub(super) name: String,
    description: String,
    inputs: String,
}

/// The programs of a folder. Reading them takes a while.
pub(super) fn offered(folder: &Folder) -> Vec<Offered> {
    let programs = folder.programs();
    programs.iter().take(MAX_PROGRAMS).filter_map(|path| of_file(folder, path)).collect()
}

fn of_file(folder: &Folder, path: &Path) -> Option<Offered> {
    let text = read_program(path).ok()?;
    let mut host = AnalysisHost::default();
    let file = host.set_text(path, Text::new(text.as_str()));
    let shown = folder.shown(path);
    let name = shown.strip_suffix(".prose").unwrap_or(&shown).to_owned();
    // A command is one word.
    let is_word = !name.contains(char::is_whitespace);
    is_word.then(|| Offered {
        name,
        description: description(&text).unwrap_or_else(|| format!("Run {shown}")),
        inputs: inputs(contract(host.db(), file)),
    })
}

/// The first words of the comment that a program starts with.
fn description(text: &str) -> Option<String> {
    let comments = text.lines().map(str::trim).take_while(|line| line.is_empty() || line.starts_with('#'));
    let words = |line: &str| beginning(line.trim_start_matches('#'), MAX_DESCRIPTION);
    comments.map(words).find(|line| line.chars().any(char::is_alphanumeric))
}

/// What a program takes, in a line.
fn inputs(contract: &Contract) -> String {
    match contract.inputs.as_slice() {
        [] => String::new(),
        [input] => {
            let description = input.description.as_deref().unwrap_or(&input.name);
            beginning(description, MAX_DESCRIPTION)
        }
        inputs => {
            let names: Vec<String> = inputs
                .iter()
                .map(|input| match input.is_optional() {
                    true => format!("[{}: …]", input.name),
                    false => format!("{}: …", input.name),
                })
                .collect();
            names.join(" ")
        }
    }
}

/// The commands of a client: the programs, and the one that resumes a run.
pub(super) fn available(offered: &[Offered]) -> Vec<AvailableCommand> {
    let command = |offered: &Offered| AvailableCommand {
        name: offered.name.clone(),
        description: offered.description.clone(),
        input: Some(offered.inputs.clone())
            .filter(|inputs| !inputs.is_empty())
            .map(|hint| CommandInput { hint }),
    };
    let resume = AvailableCommand {
        name: RESUME.to_owned(),
        description: "Resume the run of this session; recorded results are reused".to_owned(),
        input: None,
    };
    offered.iter().map(command).chain([resume]).collect()
}

/// How to use the programs of a folder, for a prompt that names none of them.
pub(super) fn usage(offered: &[Offered], word: &str) -> String {
    let mut text = match word {
        "" => String::new(),
        word => format!("`{}` is not a program of this folder. ", beginning(word, 50)),
    };
    if offered.is_empty() {
        text.push_str("There are no programs here: add a `.prose` file.");
        return text;
    }
    text.push_str("Start with the name of a program, and its inputs after it:\n\n");
    for Offered { name, description, inputs } in offered {
        let inputs = if inputs.is_empty() { String::new() } else { format!(" {inputs}") };
        text.push_str(&format!("- `/{name}{inputs}`: {}\n", one_line(description)));
    }
    text.push_str("\nSeveral inputs are lines such as `name: value`.");
    text
}

/// The first word of a prompt without its `/`, and the rest. The flag says whether the word has a `/`, which only a command has.
pub(super) fn split(text: &str) -> (&str, &str, bool) {
    let text = text.trim_start();
    let (word, rest) = text.split_at(text.find(char::is_whitespace).unwrap_or(text.len()));
    match word.strip_prefix('/') {
        Some(name) => (name, rest.trim(), true),
        None => (word, rest.trim(), false),
    }
}

/// The path of the program that a word names.
pub(super) fn path_of(folder: &Folder, word: &str) -> Option<String> {
    let is_there = |path: &String| folder.place(path).is_ok_and(|place| is_program(&place));
    [word.to_owned(), format!("{word}.prose")].into_iter().find(|path| !word.is_empty() && is_there(path))
}

fn is_program(path: &Path) -> bool {
    path.is_file() || prose_markdown::program_at_path(path).is_some_and(|(document, _)| document.is_file())
}

/// The inputs in the text of a prompt.
///
/// Lines such as `name: value` give inputs by name, with all lines up to the next one. A text without a name is the value of `single`; none if there
/// is no such input.
pub(super) fn inputs_of(
    text: &str,
    names: &[SmolStr],
    single: Option<&SmolStr>,
) -> Option<Vec<(SmolStr, Value)>> {
    let text = text.trim();
    if text.is_empty() {
        return Some(Vec::new());
    }
    let named = |line: &str| {
        let (name, value) = line.split_once(':')?;
        let name = names.iter().find(|known| *known == name.trim())?;
        Some((name.clone(), value.trim_start().to_owned()))
    };
    let mut inputs: Vec<(SmolStr, String)> = Vec::new();
    for line in text.lines() {
        match (named(line), inputs.last_mut()) {
            (Some(input), _) => inputs.push(input),
            (None, Some((_, value))) => {
                value.push('\n');
                value.push_str(line);
            }
            (None, None) => {
                return single.map(|single| vec![(single.clone(), Value::text(text))]);
            }
        }
    }
    Some(inputs.into_iter().map(|(name, value)| (name, Value::text(value.trim()))).collect())
}

/// The input that a text without a name is for: the only one that the program needs, or the only one that it has.
pub(super) fn single_input(program: &Program) -> Option<SmolStr> {
    let one = |mut names: Vec<SmolStr>| (names.len() == 1).then(|| names.pop()).flatten();
    one(program.missing_at_start(|_| false)).or_else(|| one(program.inputs()))
}

/// The question for an input of a program.
pub(super) fn question(program: &Program, input: &str) -> String {
    match program.prompt_of_input(input) {
        Some(prompt) => format!("`{input}`: {prompt}"),
        None => format!("`{input}`?"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, single: Option<&str>, expected: Option<&[(&str, &str)]>) {
        let names: Vec<SmolStr> = ["topic", "style"].map(SmolStr::from).to_vec();
        let single = single.map(SmolStr::from);
        let inputs = inputs_of(text, &names, single.as_ref());
        let inputs: Option<Vec<(String, String)>> =
            inputs.map(|it| it.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect());
        let expected: Option<Vec<(String, String)>> =
            expected.map(|it| it.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect());
        assert_eq!(inputs, expected, "{text}");
    }

    #[test]
    fn a_prompt_gives_inputs() {
        check("", None, Some(&[]));
        check("whales", Some("topic"), Some(&[("topic", "whales")]));
        check("note: whales\nsing", Some("topic"), Some(&[("topic", "note: whales\nsing")]));
        check("whales", None, None);
        check("topic: whales", Some("style"), Some(&[("topic", "whales")]));
        check(
            "topic: whales\n  and krill\nstyle:\nplain\n",
            None,
            Some(&[("topic", "whales\n  and krill"), ("style", "plain")]),
        );
    }

    #[test]
    fn a_prompt_names_a_program() {
        assert_eq!(split("/review the tests"), ("review", "the tests", true));
        assert_eq!(split(" review\nthe tests\n"), ("review", "the tests", false));
        assert_eq!(split("/"), ("", "", true));
        assert_eq!(split(""), ("", "", false));
    }

    #[test]
    fn the_first_comment_describes_a_program() {
        assert_eq!(description("# \n#  Code review\n# of a folder\nsession \"A\"").unwrap(), "Code review");
        assert_eq!(description("# ====\nsession \"A\"\n# B"), None);
    }
}
