//! Mistakes in a test file that only show together with its program.

use prose_syntax::{Code, Diagnostic, Fix, suggest};
use prose_vm::program::unknown_name;

use crate::expectation::Expected;
use crate::file::{Answers, Case, Input, TestFile};
use crate::subject::Subject;

impl TestFile {
    /// What the program cannot fulfil: inputs and outputs that it does not have, values that it does not accept, inputs that are missing.
    pub fn problems_with(&self, subject: &Subject) -> Vec<Diagnostic> {
        let mut problems: Vec<Diagnostic> =
            self.cases.iter().flat_map(|case| of_case(case, subject)).collect();
        problems.sort_by_key(|problem| (problem.range.start(), problem.range.end()));
        problems
    }
}

fn of_case(case: &Case, subject: &Subject) -> Vec<Diagnostic> {
    let program = &subject.program;
    let mut problems = Vec::new();
    let mut report = |diagnostic: Diagnostic| problems.push(diagnostic);
    let mut input = |input: &Input, value| {
        let refusal = program.refusal_of_input(&input.name);
        let refusal = refusal.or_else(|| program.input_value(&input.name, value).err());
        if let Some(refusal) = refusal {
            let known = program.inputs();
            let meant = suggest::nearest(&input.name, known.iter(), |known| known);
            let fix =
                meant.filter(|meant| **meant != input.name).map(|meant| Fix::change(input.range, meant));
            report(Diagnostic::new(Code::E151, input.range, refusal).with_fix(fix));
        }
    };
    case.inputs.iter().for_each(|given| input(given, &given.value));
    for (given, values) in &case.matrix.inputs {
        values.iter().for_each(|value| input(given, value));
    }
    if !matches!(case.answers, Answers::Recorded(_)) && case.skip.is_none() {
        let script = match &case.answers {
            Answers::Script(script) => Some(script),
            _ => None,
        };
        let matrix = case.matrix.inputs.iter().map(|(input, _)| input);
        let missing = program.missing_at_start(|key| {
            case.inputs.iter().chain(matrix.clone()).any(|given| given.name == *key)
                || script.is_some_and(|script| script.may_give_input(key))
        });
        let expects_it = case.expectations.iter().any(|it| {
            matches!(it.expected, Expected::Status(status) if status != prose_vm::event::RunStatus::Completed)
        });
        for name in missing.iter().filter(|_| !expects_it) {
            let message = format!("input `{name}` is required; add `inputs.{name} = …` to the case");
            report(Diagnostic::new(Code::E151, case.name_range, message));
        }
    }
    let outputs = &program.contract.outputs;
    for expectation in &case.expectations {
        let Expected::Output { name, .. } = &expectation.expected else { continue };
        if outputs.contains(name) {
            continue;
        }
        let message = unknown_name("output", name, outputs, "it has none; `value` is its unnamed output");
        report(Diagnostic::new(Code::E151, expectation.range, message));
    }
    problems.dedup();
    problems
}
