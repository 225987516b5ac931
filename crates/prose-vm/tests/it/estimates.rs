//! What runs come to lies in the range of the estimate.

use std::path::Path;
use std::sync::Arc;

use fastrand::Rng;
use prose_harness::offline::Offline;
use prose_vm::estimate::{Assumptions, Estimate, estimate};
use prose_vm::event::RunStatus;

use crate::official_programs::{Anything, programs, programs_in};
use crate::support::{Ran, program, run_with};

const MAX_ITERATIONS: u32 = 7;

struct FewIterations;

impl Assumptions for FewIterations {
    fn max_iterations(&self) -> u32 {
        MAX_ITERATIONS
    }
}

/// Sessions whose text has `bad` in it fail; everything else is made up.
fn run(text: &str, seed: u64) -> Ran {
    let script = "unmatched = \"offline\"\n[[session]]\npattern = \"bad\"\nfail = \"no\"\n";
    run_with(text, script, |setup| {
        if !text.contains("bad") {
            setup.harness = Arc::new(Offline::new(seed));
        }
        setup.inputs = Arc::new(Anything);
        setup.settings.seed = seed;
        setup.settings.max_iterations = MAX_ITERATIONS;
    })
}

#[track_caller]
fn check(name: &str, text: &str, estimate: &Estimate, ran: &Ran) {
    let Estimate { least, most, expected, .. } = estimate;
    let sessions = ran.sessions().len() as f64;
    let kinds = ["judge", "choose", "extract", "summarise"];
    let decisions = kinds.iter().map(|kind| ran.asked(kind).len()).sum::<usize>() as f64;
    for (what, happened, least, most, expected) in [
        ("sessions", sessions, least.sessions, most.sessions, expected.sessions),
        ("decisions", decisions, least.decisions, most.decisions, expected.decisions),
    ] {
        assert!(happened <= most, "{name}: {happened} {what}, at most {most} were estimated\n{text}");
        let completed = ran.end.status == RunStatus::Completed;
        assert!(
            !completed || happened >= least,
            "{name}: {happened} {what}, at least {least} were estimated\n{text}"
        );
        assert!(least <= expected && expected <= most, "{name}: {least} {expected} {most}\n{text}");
    }
}

fn check_all(programs: impl IntoIterator<Item = (String, String)>) {
    for (name, text) in programs {
        let estimate = estimate(&program(&text), &FewIterations);
        for seed in 0..3 {
            check(&name, &text, &estimate, &run(&text, seed));
        }
    }
}

#[test]
fn examples_stay_within_their_estimates() {
    check_all(programs_in(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")));
}

#[test]
#[ignore = "needs the official programs, see tests/fetch-official-programs"]
fn official_programs_stay_within_their_estimates() {
    check_all(programs());
}

#[test]
fn generated_programs_stay_within_their_estimates() {
    check_generated(60);
}

#[test]
#[ignore = "takes a minute"]
fn many_generated_programs_stay_within_their_estimates() {
    check_generated(1000);
}

fn check_generated(count: u32) {
    let mut random = Rng::with_seed(16);
    check_all((0..count).map(|number| {
        let mut text = String::from(
            "agent keen:\n  retry: 2\nconst list = [1, 2, 3]\nblock twice(x):\n  session \"{x}\"\n  if **again**:\n    session \"{x} again\"\n    return \"early\"\n  session \"{x} late\"\nblock down(x) (max_depth: 3):\n  session \"{x}\"\n  if **deeper**:\n    do down(x)\n",
        );
        body(&mut random, 0, false, &mut text);
        (format!("program {number}"), text)
    }));
}

/// Some statements with that indentation.
fn body(random: &mut Rng, depth: usize, is_loop: bool, text: &mut String) {
    for _ in 0..random.usize(1..4) {
        statement(random, depth, is_loop, text);
    }
}

fn statement(random: &mut Rng, depth: usize, is_loop: bool, text: &mut String) {
    let indent = "  ".repeat(depth);
    let mut line = |line: &str| text.push_str(&format!("{indent}{line}\n"));
    let kind = if depth > 3 { random.u8(..5) } else { random.u8(..18) };
    let opens = match kind {
        0 | 1 => return line("session \"Do it\""),
        2 => {
            line("session: keen");
            return line(if random.bool() { "  prompt: \"bad\"" } else { "  prompt: \"good\"" });
        }
        3 => return line("do twice(\"x\")"),
        4 if is_loop => {
            line("if **enough**:");
            return line(if random.bool() { "  break" } else { "  continue" });
        }
        4 => return line("do down(\"y\")"),
        5 => "if **so** and not **otherwise**:",
        6 => "repeat 3:",
        7 => "for x in list:",
        8 => "loop until **done** (max: 4):",
        9 => "loop while **going**:",
        10 => "parallel for x in [1, 2]:",
        11 => {
            let options = [
                "",
                " (\"first\")",
                " (on-fail: \"continue\")",
                " (\"any\", count: 2)",
                " (on-fail: \"ignore\")",
            ];
            line(&format!("parallel{}:", random.choice(options).unwrap_or_default()));
            for _ in 0..random.usize(2..4) {
                text.push_str(&format!("{indent}  do:\n"));
                body(random, depth + 2, false, text);
            }
            return;
        }
        12 => {
            line("try:");
            body(random, depth + 1, is_loop, text);
            text.push_str(&format!("{indent}catch as e:\n"));
            body(random, depth + 1, is_loop, text);
            if random.bool() {
                text.push_str(&format!("{indent}finally:\n{indent}  session \"Clean up\"\n"));
            }
            return;
        }
        13 => {
            line("choice **the better one**:");
            for label in ["a", "b"] {
                text.push_str(&format!("{indent}  option \"{label}\":\n"));
                body(random, depth + 2, is_loop, text);
            }
            return;
        }
        14 => return line("session \"One\" -> session \"Two\""),
        15 => return line("let r = list | filter: session \"Keep {item}?\" | map: session \"Use {item}\""),
        16 if depth > 0 => {
            line("if **over**:");
            return line("  throw \"over\"");
        }
        _ => "do:",
    };
    line(opens);
    let opens_loop = matches!(kind, 6..=10);
    body(random, depth + 1, opens_loop || is_loop && kind != 17, text);
}
