//! The same run twice is the same, what is cancelled is stopped, and nothing grows the stack.

use std::fmt::Write;
use std::sync::Arc;

use prose_harness::offline::Offline;
use prose_vm::effect::Effect;
use prose_vm::event::RunStatus;
use prose_vm::machine::{Machine, MachineOutput};
use prose_vm::settings::Settings;

use crate::support::{drive, program, reply, run, run_with};

/// Runs on a stack of two megabytes, which is what threads of a server have.
fn on_a_small_stack(work: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(2 << 20).spawn(work).unwrap().join().unwrap();
}

#[test]
fn the_same_run_twice_gives_the_same_events() {
    let program = r#"
block work(x, depth):
  let a = session "Work on {x} at {depth}"
  if **{x} is done** or depth <= 0:
    output a
  parallel for y in ["p", "q", "r"]:
    do work("{x}{y}", depth - 1)
    session "Wrap up {x}{y}"
  output a
parallel (on-fail: "continue"):
  one = do work("one", 2)
  two = do work("two", 2)
  session "Three"
    retry: 2
    backoff: exponential
choice **how to go on**:
  option "A":
    session "A"
  option "B":
    session "B"
"#;
    let mut script = "unmatched = \"offline\"\n[[session]]\nlabel = \"Three\"\ntimes = 2\nfail = \"no\"\n[[condition]]\nmet = false\n".to_owned();
    for (nth, place) in ["p", "q", "r", "onep", "oneq", "twor"].into_iter().enumerate() {
        _ = write!(
            script,
            "[[session]]\npattern = \"on {place}\"\nreply = \"{place}\"\ndelay = \"{}ms\"\n",
            (nth * 37) % 11
        );
    }
    let first = run(program, &script);
    let second = run(program, &script);
    assert!(first.events.len() > 100, "{}", first.story());
    assert_eq!(first.events, second.events);
}

#[test]
fn what_is_cancelled_is_withdrawn() {
    let said = drive(
        r#"
parallel ("first"):
  session "Fast"
  session "Slow"
  do:
    parallel for x in ["a", "b"]:
      session "{x}"
session "Behind"
"#,
        |request| match &request.effect {
            Effect::Session(task) if matches!(task.task.as_ref(), "Fast" | "Behind") => reply("ok"),
            _ => None,
        },
    );
    let asked: Vec<_> = said
        .iter()
        .filter_map(|said| match said {
            MachineOutput::Request(request) => Some(request.id),
            _ => None,
        })
        .collect();
    let mut cancelled: Vec<_> = said
        .iter()
        .filter_map(|said| match said {
            MachineOutput::Cancel(id) => Some(*id),
            _ => None,
        })
        .collect();
    cancelled.sort();
    assert_eq!(asked.len(), 5);
    assert_eq!(cancelled, [asked[1], asked[2], asked[3]]);
}

#[test]
fn recursion_does_not_grow_the_stack() {
    on_a_small_stack(|| {
        let program = |depth: u32| {
            format!(
                "block f(n) (max_depth: {depth}):\n  if n <= 1:\n    output \"bottom\"\n  parallel:\n    r = do f(n - 1)\n  try:\n    output r\n  finally:\n    session \"leave {{n}}\"\nlet x = do f({depth})\noutput result = x\n"
            )
        };
        for depth in [100, 1_000] {
            let ran = run(&program(depth), "[[session]]\nreply = \"ok\"");
            assert_eq!(ran.end.outputs[0].1.to_string(), "bottom");
        }
    });
}

#[test]
fn an_error_goes_up_a_deep_recursion_without_growing_the_stack() {
    on_a_small_stack(|| {
        let ran = run(
            "block f(n) (max_depth: 1000):\n  do f(n + 1)\ntry:\n  do f(1)\ncatch as e:\n  session \"{e}\"\n",
            "[[session]]\nreply = \"ok\"",
        );
        assert_eq!(ran.tasks(), ["RecursionLimitExceeded: block 'f' exceeded max_depth 1000"]);
    });
}

#[test]
fn what_is_cancelled_deep_down_does_not_grow_the_stack() {
    on_a_small_stack(|| {
        let ran = run(
            "block f(n) (max_depth: 1000):\n  if n == 950:\n    session \"Deep\"\n  parallel:\n    do f(n + 1)\nparallel (\"first\"):\n  do f(1)\n  session \"Fast\"\n",
            "[[session]]\nlabel = \"Deep\"\nreply = \"x\"\ndelay = \"2s\"\n[[session]]\nreply = \"ok\"\ndelay = \"1s\"",
        );
        assert_eq!(ran.end.error, None);
    });
}

#[test]
fn many_calls_do_not_grow_the_stack() {
    on_a_small_stack(|| {
        let ran = run_with(
            "block f(n):\n  let m = n\nrepeat 10000 as i:\n  do f(i)\nparallel for x in [1, 2]:\n  do f(x)\n",
            "",
            |_| {},
        );
        assert_eq!(ran.end.error, None);
    });
}

#[test]
fn nested_bodies_do_not_grow_the_stack() {
    on_a_small_stack(|| {
        let mut program = String::new();
        for depth in 0..60 {
            _ = writeln!(program, "{}if true:", "  ".repeat(depth));
        }
        _ = writeln!(program, "{}session \"Deep\"", "  ".repeat(60));
        let ran = run(&program, "[[session]]\nreply = \"ok\"");
        assert_eq!(ran.tasks(), ["Deep"]);
    });
}

#[test]
fn how_many_run_at_the_same_time_does_not_matter() {
    let program = r#"
agent keeper:
  persist: true
  prompt: "K"
block work(x):
  let a = session "Start {x}"
  resume: keeper
    prompt: "Keep {x}"
  parallel:
    session "One {x}"
    session "Two {x}"
  session "End {x}"
  output a
let all = parallel for x in ["a", "b", "c", "d"]:
  do work(x)
output result = all
"#;
    let with = |max_parallel| {
        run_with(program, "", |setup| {
            setup.harness = Arc::new(Offline::new(7));
            setup.limits.max_parallel = max_parallel;
        })
    };
    let (one, many) = (with(1), with(64));
    assert_eq!(one.end.outputs, many.end.outputs);
    assert_eq!(one.bindings(), many.bindings());
}

#[test]
fn a_program_that_asks_for_nothing_can_be_interrupted() {
    for program in [
        "block f():\n  do f()\n  do f()\ntry:\n  do f()\ncatch:\n  session \"never\"\n",
        "block f():\n  try:\n    do f()\n  finally:\n    do f()\ndo f()\n",
        "repeat 4000000000:\n  # nothing\nsession \"never\"\n",
    ] {
        let ran = run_with(program, "", |setup| {
            setup.interrupted = Box::pin(std::future::ready("stopped by hand".to_owned()));
        });
        assert_eq!(ran.end.status, RunStatus::Interrupted, "{:?}", ran.end.error);
    }
}

#[test]
fn nested_expressions_do_not_grow_the_stack_without_end() {
    on_a_small_stack(|| {
        for (open, close) in [("[", "]"), ("(", ")"), ("not (", ")"), ("{ a: ", " }")] {
            for depth in [50, 5_000] {
                let program = format!("let x = {}1{}\n", open.repeat(depth), close.repeat(depth));
                // Whether it is refused by the parser or worked out does not matter here.
                _ = run(&program, "");
            }
        }
    });
}

#[test]
fn a_machine_leaves_nothing_behind() {
    let program = program(
        "block f(n):\n  if n > 0:\n    do f(n - 1)\n  parallel for x in [1, 2]:\n    session \"{x}\"\ndo f(3)\n",
    );
    for answers in [0, 3, 100] {
        let mut machine = Machine::new(Arc::clone(&program), Settings::new("20260115-143052-a7b3c9"));
        let mut given = 0;
        loop {
            let said = machine.advance();
            let asked = said.iter().filter_map(|said| match said {
                MachineOutput::Request(request) => Some(request.id),
                _ => None,
            });
            let before = given;
            for request in asked.take(answers - given).collect::<Vec<_>>() {
                machine.deliver(request, reply("ok").unwrap());
                given += 1;
            }
            if given == before {
                break;
            }
        }
        assert_eq!(machine.end().is_some(), answers == 100);
        drop(machine);
        assert_eq!(Arc::strong_count(&program), 1, "after {answers} answers");
    }
}
