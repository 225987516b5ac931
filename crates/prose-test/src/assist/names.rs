//! The names of a program that its tests mention.

use prose_syntax::text::one_line;
use prose_vm::choices;
use prose_vm::program::Program;

/// A name, or a value that the program offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Name {
    pub(super) name: String,
    /// What it is.
    pub(super) about: String,
}

/// The names that are keys of a table.
pub(super) fn keys(path: &[String], program: &Program) -> Vec<Name> {
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    match path.as_slice() {
        ["case", "inputs"] | ["case", "matrix", "inputs"] => inputs(program),
        ["case", "expect", "outputs"] => {
            named(program.contract.outputs.iter(), |name| format!("Output `{name}` of `{}`", program.name))
        }
        ["case", "expect", "session", "context"] => results(program),
        ["case", "expect", "iterations"] => {
            named(program.loop_headers(), |_| format!("A loop of `{}`", program.name))
        }
        _ => Vec::new(),
    }
}

/// The names and the texts of the program that are values of a key.
pub(super) fn values(path: &[String], program: &Program) -> Vec<Name> {
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    match path.as_slice() {
        ["case", "inputs", input] | ["case", "matrix", "inputs", input] => {
            let prompt = program.prompt_of_input(input).unwrap_or_default();
            let offered = choices::choices(prompt).into_iter().map(|choice| choice.value.to_string());
            named(offered, |_| format!("An answer to input `{input}`: {}", one_line(prompt)))
        }
        ["case", "session" | "memory", "agent"] | ["case", "expect", "session", "agent"] => agents(program),
        ["case", "input", "name"] => inputs(program),
        ["case", "expect", "session", "name"] => results(program),
        ["case", "session", "label"] | ["case", "expect", "session", "label"] => labels(program),
        ["case", "expect", "sessions", "names" | "order" | "never"] => {
            [results(program), agents(program), labels(program)].concat()
        }
        ["case", "expect", "branches"] | ["case", "expect", "branches", "taken" | "not-taken"] => {
            let coverable = program.coverable();
            let branches = coverable.decisions.iter().flat_map(|decision| &decision.branches);
            let names = branches.map(|branch| branch.name.clone()).filter(|name| name != "body");
            named(names, |_| format!("A branch of `{}`", program.name))
        }
        _ => Vec::new(),
    }
}

fn inputs(program: &Program) -> Vec<Name> {
    named(program.inputs(), |name| {
        let prompt = program.prompt_of_input(name).map(|prompt| format!(": {}", one_line(prompt)));
        format!("Input `{name}` of `{}`{}", program.name, prompt.unwrap_or_default())
    })
}

fn agents(program: &Program) -> Vec<Name> {
    named(program.agent_names(), |name| format!("Agent `{name}` of `{}`", program.name))
}

fn results(program: &Program) -> Vec<Name> {
    named(program.session_results(), |name| format!("`{name}` receives the reply of a session"))
}

fn labels(program: &Program) -> Vec<Name> {
    named(program.session_labels(), |_| "The first line of the task of a session".to_owned())
}

/// Names with what each is, without those that come again.
fn named<N: ToString>(names: impl IntoIterator<Item = N>, about: impl Fn(&str) -> String) -> Vec<Name> {
    let mut found: Vec<Name> = Vec::new();
    for name in names {
        let name = name.to_string();
        if found.iter().all(|known| known.name != name) {
            found.push(Name { about: about(&name), name });
        }
    }
    found
}
