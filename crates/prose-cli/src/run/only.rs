//! `prose run --only LINE`: runs a part of a program.

use prose_run::RunRequest;
use prose_syntax::text::{enumerated, quoted};
use prose_vm::part::RunPart;
use prose_vm::value::Value;
use smol_str::SmolStr;

use super::given;
use super::load::Loaded;
use crate::cli::run::RunArgs;
use crate::keyboard;

/// The part at a line, or why it cannot run with the given values.
pub(super) fn part(line: u32, loaded: &Loaded, inputs: &[(SmolStr, Value)]) -> Result<RunPart, String> {
    let program = &loaded.program;
    let Some(part) = program.part_at(line) else {
        let lines = program.lines_of_parts().into_iter().map(|line| line.to_string());
        let lines = match enumerated(lines, "and") {
            lines if lines.is_empty() => "the program has none".to_owned(),
            lines => format!("they start at the lines {lines}"),
        };
        return Err(format!("no session, condition, choice or block is at line {line}; {lines}"));
    };
    given::check_for(Some(&part), inputs.iter().map(|(name, _)| name.as_str()), program)?;
    given::check_values(inputs, program)?;
    Ok(part)
}

/// The message about values that no run has and that cannot be asked for. A script may contain them, and a dry run generates them.
pub(super) fn missing(request: &RunRequest, args: &RunArgs) -> Option<String> {
    let missing = request.missing_values();
    let first = missing.first()?;
    if args.dry_run || request.harness.as_deref() == Some("script") || keyboard::can_ask() {
        return None;
    }
    let names = enumerated(missing.iter().map(quoted), "and");
    Some(format!(
        "no run of the program has a value for {names}; add `--input {first}=…`, or run the program first"
    ))
}
