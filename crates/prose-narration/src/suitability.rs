//! Which programs fit into a context (R106).

use prose_vm::program::ProgramSize;

/// What speaks against keeping the state of a program in the context, each with the number and the limit; nothing for small programs.
///
/// The expected duration, which the table names as well, is not known before the run.
pub fn exceeded_limits(size: &ProgramSize) -> Vec<String> {
    [
        (size.statements, 29, "statements"),
        (size.branches, 4, "branches in one `parallel`"),
        (size.imports, 2, "imported programs"),
        (size.nesting, 2, "levels of nesting"),
    ]
    .into_iter()
    .filter(|(number, most, _)| number > most)
    .map(|(number, most, what)| format!("{number} {what} (at most {most})"))
    .collect()
}

/// The lines that say at the start of a run where its state is kept, and the warning of a program that is too big for that.
pub fn announcement(size: Option<&ProgramSize>) -> (Vec<String>, Option<String>) {
    let exceeded_limits = size.map(exceeded_limits).unwrap_or_default();
    let start = "OpenProse Program Start".to_owned();
    if exceeded_limits.is_empty() {
        return (vec![start, "   State mode: in-context (program is small, fits in context)".into()], None);
    }
    let warning = format!(
        "The program is large for in-context state: {}. What was narrated early may be lost when the context is compacted; run it with \
         `--state filesystem` to keep its state in files.",
        exceeded_limits.join(", ")
    );
    (vec![start, "   State mode: in-context".into()], Some(warning))
}
