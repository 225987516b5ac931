//! Programs with missing and misplaced parts. They are refused before they run; where one runs all the same, the interpreter does not panic.

use std::path::Path;
use std::sync::Arc;

use fastrand::Rng;
use prose_harness::offline::Offline;
use prose_vm::budget::Budget;

use crate::official_programs::{Anything, programs, programs_in};
use crate::support::{Ran, run, run_with};

fn run_offline(text: &str) -> Ran {
    run_with(text, "", |setup| {
        setup.harness = Arc::new(Offline::new(3));
        setup.inputs = Arc::new(Anything);
        setup.settings.max_iterations = 3;
        setup.limits.budget = Budget::sessions(200);
    })
}

/// A program after a few accidents.
fn damaged(text: &str, random: &mut Rng) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for _ in 0..random.usize(1..5) {
        let at = random.usize(..lines.len());
        let other = random.usize(..lines.len());
        match random.u8(..8) {
            0 => drop(lines.remove(at)),
            1 => lines.swap(at, other),
            2 => lines.insert(at, lines[other].clone()),
            3 => {
                // The end of a line is lost.
                let ends: Vec<usize> = lines[at].char_indices().map(|(at, _)| at).collect();
                if let Some(end) = random.choice(ends) {
                    lines[at].truncate(end);
                }
            }
            4 => lines[at].insert_str(0, &" ".repeat(random.usize(1..5))),
            5 => lines[at] = lines[at].trim_start().to_owned(),
            6 => {
                // A word is lost, or takes the place of another one.
                let words: Vec<String> = lines[at].split(' ').map(str::to_owned).collect();
                let word = random.usize(..words.len());
                let new = lines[other].split_whitespace().next().unwrap_or_default().to_owned();
                let mut words = words;
                words[word] = if random.bool() { new } else { String::new() };
                lines[at] = words.join(" ");
            }
            _ => lines.truncate(at.max(1)),
        }
        if lines.is_empty() {
            return String::new();
        }
    }
    lines.join("\n") + "\n"
}

fn check_damaged(programs: impl IntoIterator<Item = (String, String)>, times: u64) {
    for (name, text) in programs {
        for seed in 0..times {
            let text = damaged(&text, &mut Rng::with_seed(seed));
            let ran = std::panic::catch_unwind(|| run_offline(&text));
            assert!(ran.is_ok(), "{name} with the damage of seed {seed}:\n{text}");
        }
    }
}

#[test]
fn damaged_examples_do_not_panic() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    check_damaged(programs_in(&examples), 15);
}

#[test]
#[ignore = "needs the official programs, see tests/fetch-official-programs"]
fn damaged_official_programs_do_not_panic() {
    check_damaged(programs(), 40);
}

#[test]
fn constructs_without_their_parts_do_not_panic() {
    for program in [
        "",
        "session",
        "session:",
        "session: nobody",
        "resume:",
        "resume: nobody",
        "let",
        "let x",
        "let x =",
        "const",
        "x =",
        "output",
        "output x =",
        "input",
        "input :",
        "do",
        "do:",
        "do f(",
        "do f(,)",
        "block",
        "block f",
        "block f(a):",
        "agent",
        "agent a:",
        "use",
        "use \"\"",
        "import",
        "parallel:",
        "parallel (",
        "parallel (\"any\", count:):",
        "parallel for:",
        "parallel for x in:",
        "for",
        "for x",
        "for x in",
        "for x in []:",
        "repeat",
        "repeat:",
        "repeat 2:",
        "loop (max:):",
        "loop until:",
        "loop until ** **:",
        "loop while:",
        "try:",
        "try:\ncatch",
        "try:\ncatch as:",
        "try:\nfinally:",
        "choice",
        "choice **x**:",
        "choice **x**:\n  option:",
        "option \"x\":",
        "if",
        "if :",
        "if **x**:",
        "if x:\nelif:\nelse:",
        "throw",
        "throw x",
        "return",
        "return x",
        "break",
        "continue",
        "assert",
        "x | map:",
        "let x = | map:",
        "let x = [] |",
        "let x = [1] | reduce(a): session",
        "let x = [1, 2] | reduce(): session \"x\"",
        "session \"a\" ->",
        "-> session \"a\"",
        "let x = a.",
        "let x = a[",
        "let x = [1][",
        "let x = 1 +",
        "let x = not",
        "let x = a ?",
        "let x = a ? b :",
        "let { } = x",
        "let { a } =",
        "session \"{\"",
        "session \"{a.\"",
        "session \"{a[}\"",
        "let x = {",
        "let x = { a: }",
        "session \"x\"\n  context:",
        "session \"x\"\n  retry: many",
        "session \"x\"\n  timeout: soon",
        "session \"x\"\n  permissions:",
        "session \"x\"\n  permissions:\n    read:",
        "agent a:\n  persist:\nresume: a",
        "agent a:\n  persist: \"\"\nresume: a",
        "agent a:\n  persist: \"../../x\"\nresume: a",
        "block f():\n  break\ndo f()",
        "parallel:\n  break",
        "break\nsession \"x\"",
    ] {
        let ran = std::panic::catch_unwind(|| run_offline(program));
        assert!(ran.is_ok(), "{program}");
    }
}

#[test]
fn what_leads_out_of_nothing_is_an_error() {
    let ran = run("block f():\n  break\nfor x in [1]:\n  do f()\n", "");
    assert_eq!(ran.end.error.unwrap().to_string(), "`break` and `continue` cannot leave a block");
    let ran = run("break\n", "");
    assert_eq!(ran.end.error.unwrap().to_string(), "`break` and `continue` need a loop around them");
}

#[test]
fn values_do_not_grow_without_end() {
    for growing in ["[x]", "{ a: x, b: x }", "x + x", "\"{x}{x}{x}\""] {
        let ran = run(&format!("let x = \"text\"\nrepeat 1000:\n  let x = {growing}\n"), "");
        assert_eq!(
            ran.end.error.unwrap().to_string(),
            "the value is too large or too deeply nested to be kept",
            "{growing}"
        );
    }
}
