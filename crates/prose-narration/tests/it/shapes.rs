//! The shapes of single lines (R106 to R108), and what a narration says that is only a view.

use crate::common::{Play, more, programs, question, reply};
use expect_test::{Expect, expect};
use prose_narration::{Marker, Markers, Narrator, ProgramSize};
use prose_vm::effect::*;
use prose_vm::error::{ErrorKind, RuntimeError};
use prose_vm::event::*;
use prose_vm::value::Value;
use std::sync::Arc;

/// What is narrated of a program of two statements, without its head.
#[track_caller]
fn check(act: impl FnOnce(&mut Play), expected: Expect) {
    let mut play = Play::new(StateMode::InContext, &[]);
    play.define(&[], &[], 2);
    act(&mut play);
    expected.assert_eq(&body(&play));
}

/// The narration without what stands before the first statement.
fn body(play: &Play) -> String {
    let text = play.narrate(Markers::Brackets);
    text.split_once("Collecting definitions...\n\n").map(|(_, body)| body.to_owned()).unwrap_or_default()
}

#[test]
fn r108_bindings() {
    check(
        |play| {
            play.bind(BindingKind::Let, "research", Value::text("AI safety research."), None);
            play.bind(BindingKind::Const, "config", Value::object([("model", Value::text("opus"))]), None);
            play.bind(BindingKind::Let, "research", Value::text("Updated."), Some("AI safety research."));
            play.bind(BindingKind::Let, "count", Value::Number(3.0), None);
            play.bind(BindingKind::Let, "flags", Value::array([Value::Bool(true), Value::Null]), None);
            play.emit(EventKind::Resolved { name: "config".into(), frame: 41 });
            play.emit(EventKind::Resolved { name: "config".into(), frame: 0 });
            play.here.frame = 43;
            play.bind(BindingKind::Let, "result", Value::text("computed value"), None);
        },
        expect![[r#"
            [Binding] let research = "AI safety research." (mutable)
            [Binding] const config = {model: "opus"} (immutable)
            [Binding] research = "Updated." (reassignment, was: "AI safety research.")
            [Binding] let count = 3 (mutable)
            [Binding] let flags = [true, null] (mutable)
            [Binding] Resolving 'config': found in execution_id 41 (parent scope)
            [Binding] Resolving 'config': found in root scope
            [Binding] let result = "computed value" (mutable) (execution_id: 43)
        "#]],
    );
}

#[test]
fn r108_inputs_and_outputs() {
    check(
        |play| {
            let inputs = vec![
                ("topic".into(), Value::text("quantum computing")),
                ("depth".into(), Value::text("deep")),
            ];
            play.emit(EventKind::InputsReceived { inputs });
            play.input("audience", "Who reads it?", Value::Null);
            let sources = Value::array([Value::text("arxiv:2401.1234")]);
            play.emit(EventKind::OutputGiven { name: Some("sources".into()), value: sources });
            play.emit(EventKind::OutputGiven { name: None, value: Value::text("All of it.") });
            play.statement("output findings = session \"Find\"", StatementKind::Output, |play| {
                let request = play.ask_session("output findings = session \"Find\"", None, "Find", &[]);
                play.end_session(request, reply("Found."));
                play.bind_reply(request, "Found.");
                play.emit(EventKind::OutputGiven {
                    name: Some("findings".into()),
                    value: Value::text("Found."),
                });
            });
        },
        expect![[r#"
            [Input] Inputs received:
               topic = "quantum computing" (from caller)
               depth = "deep" (from caller)
            [Input] Waiting for input: audience, "Who reads it?"
            [Input] Input not given: audience
            [Output] output sources = ["arxiv:2401.1234"] (will return to caller)
            [Output] output = "All of it." (will return to caller)

            [Position] Statement 1: output findings = session "Find"
               [Task tool call]
            [Success] Session complete: "Found."
            [Output] output findings = <result> (will return to caller)
        "#]],
    );
}

#[test]
fn r108_loops_end_in_several_ways() {
    check(
        |play| {
            for (kind, header, max, why) in [
                (LoopKind::Until, "**it is good**", Some(5), LoopEnd::Max),
                (LoopKind::Until, "**it is good**", None, LoopEnd::NoProgress),
                (LoopKind::While, "**it is bad**", Some(5), LoopEnd::Satisfied),
                (LoopKind::Forever, "", None, LoopEnd::Left),
                (LoopKind::Repeat, "3", None, LoopEnd::Exhausted),
                (LoopKind::For, "item in items", None, LoopEnd::Failed),
            ] {
                play.start_loop(kind, header, max);
                play.end_loop(why, 5);
            }
        },
        expect![[r#"
            [Loop] Starting loop until **it is good** (max: 5)

            [Loop] Loop exited: max iterations reached (5)
            [Loop] Starting loop until **it is good**

            [Loop] Loop exited: no progress at iteration 5
            [Loop] Starting loop while **it is bad** (max: 5)

            [Loop] Loop exited: condition no longer satisfied at iteration 5
            [Loop] Starting loop

            [Loop] Loop exited: left at iteration 5
            [Loop] Starting repeat 3

            [Loop] Loop exited: all 5 iterations done
            [Loop] Starting for item in items

            [Loop] Loop exited: failed at iteration 5
        "#]],
    );
}

/// D1: what the check before the first iteration says is told by whether there is one.
#[test]
fn r108_first_check_is_silent_unless_it_ends_the_loop() {
    check(
        |play| {
            play.statement("loop until **a** and **b**", StatementKind::Loop, |play| {
                play.start_loop(LoopKind::Until, "**a** and **b**", None);
                play.judge("a", ConditionOf::Loop, true, "", false);
                play.judge("b", ConditionOf::Loop, false, "not so", false);
                play.iterate(1, None, |_| {});
                play.end_loop(LoopEnd::Left, 1);
            });
            play.statement("loop until **done**", StatementKind::Loop, |play| {
                play.start_loop(LoopKind::Until, "**done**", None);
                play.judge("done", ConditionOf::Loop, true, "it is there", false);
                play.end_loop(LoopEnd::Satisfied, 0);
            });
        },
        expect![[r#"
            [Position] Statement 1: loop until **a** and **b**
            [Loop] Starting loop
               [Loop] Evaluating: **a**
               [Flow] Satisfied!
               [Loop] Evaluating: **b**
               [Flow] Not satisfied (not so)

            [Loop] Iteration 1

            [Loop] Loop exited: left at iteration 1

            [Position] Statement 2: loop until **done**
            [Loop] Starting loop
               [Loop] Evaluating: **done**
               [Flow] Satisfied! (it is there)

            [Loop] Loop exited: condition satisfied at iteration 0
        "#]],
    );
}

#[test]
fn r108_verdicts_and_choices() {
    check(
        |play| {
            play.judge("it is ready", ConditionOf::If, true, "", false);
            play.judge("it is ready", ConditionOf::If, false, "two tests fail", false);
            play.emit(EventKind::ConditionAsked {
                request: None,
                text: "depth <= 0".into(),
                of: ConditionOf::If,
            });
            play.emit(EventKind::ConditionJudged { met: false, reason: String::new(), of: ConditionOf::If });
            play.choose("the severity", &["Critical", "Minor"], 0, "all is down");
            play.start_loop(LoopKind::Until, "**done**", None);
            play.iterate(1, None, |_| {});
            let question = question("done", &[]);
            let request = play.ask(Effect::Judge(Arc::new(question)));
            play.emit(EventKind::ConditionAsked {
                request: Some(request),
                text: "done".into(),
                of: ConditionOf::Loop,
            });
            let verdict = Verdict { met: false, reason: "the same again".into(), no_progress: true };
            play.answered(request, "judge", Outcome::Verdict(verdict), |play| {
                play.emit(EventKind::ConditionJudged {
                    met: false,
                    reason: "the same again".into(),
                    of: ConditionOf::Loop,
                })
            });
            play.end_loop(LoopEnd::NoProgress, 1);
        },
        expect![[r#"
            [Flow] Evaluating: **it is ready**
            [Flow] Satisfied!
            [Flow] Evaluating: **it is ready**
            [Flow] Not satisfied (two tests fail)
            [Flow] Evaluating: depth <= 0
            [Flow] Not satisfied
            [Flow] Chose for **the severity**: "Critical" (all is down)
            [Loop] Starting loop until **done**

            [Loop] Iteration 1
               [Loop] Evaluating: **done**
               [Flow] Not satisfied, no progress (the same again)

            [Loop] Loop exited: no progress at iteration 1
        "#]],
    );
}

#[test]
fn r108_errors() {
    check(
        |play| {
            play.raise(ErrorKind::Thrown, "not today");
            play.raise(ErrorKind::UnknownName, "nothing is called `x`");
            play.raise(ErrorKind::RecursionLimitExceeded, "block 'process' exceeded max_depth 50");
            play.statement("session \"Slow\"", StatementKind::Session, |play| {
                let request = play.ask_session("session \"Slow\"", None, "Slow", &[]);
                let failure = Failure { kind: ErrorKind::Timeout, message: "took longer than 5 s".into() };
                play.end_session(request, Outcome::Failed(failure));
            });
            play.emit(EventKind::Warning { message: "The binding file is missing".into() });
            play.emit(EventKind::RunEnded(RunEnd {
                status: RunStatus::Failed,
                error: Some(Arc::new(RuntimeError::new(ErrorKind::Timeout, "took longer than 5 s"))),
                ..RunEnd::default()
            }));
        },
        expect![[r#"
            [Warning] Error thrown: not today
            [Warning] Error (unknown-name): nothing is called `x`
            [Error] RecursionLimitExceeded: block 'process' exceeded max_depth 50

            [Position] Statement 1: session "Slow"
               [Task tool call]
            [Warning] Session failed (timeout): took longer than 5 s
            [Warning] The binding file is missing

            [Program] Program Failed at Statement 1 of 2: took longer than 5 s
        "#]],
    );
}

#[test]
fn r084_a_run_that_fails_for_recursion_says_so() {
    check(
        |play| {
            let error = play.raise(ErrorKind::RecursionLimitExceeded, "block 'f' exceeded max_depth 100");
            play.emit(EventKind::RunEnded(RunEnd {
                status: RunStatus::Failed,
                error: Some(error),
                ..RunEnd::default()
            }));
        },
        expect![[r#"
            [Error] RecursionLimitExceeded: block 'f' exceeded max_depth 100

            [Program] Program Failed at Statement 0 of 2: RecursionLimitExceeded: block 'f' exceeded max_depth 100
        "#]],
    );
}

#[test]
fn a_view_says_nothing_of_an_input_that_nobody_gave() {
    let mut play = Play::new(StateMode::Filesystem, &[]);
    play.define(&[], &[], 2);
    play.input("audience", "Who reads it?", Value::Null);
    expect![[r#"
        [Input] Waiting for input: audience, "Who reads it?"
    "#]]
    .assert_eq(&body(&play));
}

#[test]
fn r109_call_stack_is_told_where_a_run_stops() {
    check(
        |play| {
            play.statement("do process(5)", StatementKind::Call, |play| {
                play.call("process", &[("depth", "5")], 1, |play| {
                    play.statement("do process(depth - 1)", StatementKind::Call, |play| {
                        play.call("process", &[("depth", "depth - 1")], 2, |play| {
                            play.emit(EventKind::RunEnded(RunEnd {
                                status: RunStatus::Interrupted,
                                ..RunEnd::default()
                            }));
                            play.emit(EventKind::Resumed { harness: "offline".into() });
                        });
                    });
                });
            });
        },
        expect![[r#"
            [Position] Statement 1: do process(5)
            [Frame+] Entering block: process (execution_id: 1, depth: 1)
               Arguments: depth=5

               [Position] do process(depth - 1)
               [Frame+] Entering block: process (execution_id: 2, depth: 2)
                  Arguments: depth=depth - 1
                  Parent: execution_id 1

            [Program] Program Interrupted at Statement 1 of 2
            [CallStack] Current stack (depth: 2):
               execution_id: 2 | block: process | depth: 2 | status: executing
               execution_id: 1 | block: process | depth: 1 | status: waiting

            [Program] Program Resumed at Statement 1 of 2
            [CallStack] Current stack (depth: 2):
               execution_id: 2 | block: process | depth: 2 | status: executing
               execution_id: 1 | block: process | depth: 1 | status: waiting

               [Frame-] Exiting block: process (execution_id: 2)

            [Frame-] Exiting block: process (execution_id: 1)
        "#]],
    );
}

#[test]
fn r108_pipelines() {
    check(
        |play| {
            play.statement("let all = items | map: | reduce(a, b):", StatementKind::Pipeline, |play| {
                play.emit(EventKind::PipelineStarted {
                    stages: vec!["map".into(), "reduce".into()],
                    items: 2,
                });
                play.emit(EventKind::StageStarted { operator: "map".into(), items: 2 });
                for text in ["One.", "Two."] {
                    let request = play.ask_session("session \"Sum up\"", None, "Sum up", &["item"]);
                    play.end_session(request, reply(text));
                }
                play.emit(EventKind::StageEnded { operator: "map".into(), items: 2 });
            });
        },
        expect![[r#"
            [Position] Statement 1: let all = items | map: | reduce(a, b):
            [Pipeline] Starting pipeline: map | reduce (2 items)
            [Pipeline] Stage map: 2 items
               Spawning with prompt: "Sum up"
               [Task with serialized context]
            [Success] Session complete: "One."
               Spawning with prompt: "Sum up"
               [Task with serialized context]
            [Success] Session complete: "Two."
            [Pipeline] Stage map complete: 2 items
        "#]],
    );
}

#[test]
fn r109_memory_of_agents_is_told() {
    check(
        |play| {
            let place = MemoryPlace {
                agent: "captain".into(),
                scope: MemoryScope::Execution,
                folder: "agents/captain".into(),
            };
            let request = play.ask(Effect::Memory(place.clone()));
            let memory = Memory { text: Some("# Captain".into()), segments: 2 };
            play.answered(request, "memory", Outcome::Memory(memory), |_| 0);
            play.emit(EventKind::MemoryWritten {
                place,
                memory: "# Captain\nmore".into(),
                segment: 3,
                prompt: "".into(),
                record: "".into(),
            });
        },
        expect![[r##"
            [Binding] Memory: "# Captain" (segments: 2)
            [Binding] memory of captain = "# Captain\nmore" (segment: 3)
        "##]],
    );
}

#[test]
fn r108_branches_that_are_more_than_a_session_take_turns() {
    let play = more::long_branches(StateMode::InContext);
    let body = body(&play);
    expect![[r#"
        [Position] Statement 1: parallel for item in items
        [Parallel] Entering parallel (3 branches, strategy: all)
           [Parallel] Branch 1:
              [Position] session "Look" with context: item
              [Task with serialized context]
           [Parallel] Branch 2:
              [Position] session "Look" with context: item
              [Task with serialized context]
           [Parallel] Branch 3:
              [Position] session "Look" with context: item
              [Task with serialized context]
           [Parallel] Branch 2:
              [Success] Result: "1 in round 1"
              [Position] session "Look" with context: item
              [Task with serialized context]
           [Parallel] Branch 3:
              [Success] Result: "2 in round 1"
              [Position] session "Look" with context: item
              [Task with serialized context]
           [Parallel] Branch 2:
              [Success] Result: "1 in round 2"
           [Parallel] Branch 1:
              [Success] Result: "0 in round 1"
              [Position] session "Look" with context: item
              [Task with serialized context]
              [Success] Result: "0 in round 2"
           [Parallel] Branch 3:
              [Success] Result: "2 in round 2"
        [Parallel] Parallel complete

        [Position] Statement 2: session "Look"
           [Task tool call]
        [Success] Session complete: "At the end."

        [Program] Program Complete
    "#]]
    .assert_eq(&body);
}

#[test]
fn r108_branches_inside_branches() {
    let play = more::nested_branches(StateMode::InContext);
    let body = body(&play);
    expect![[r#"
        [Position] Statement 1: parallel block
        [Parallel] Entering parallel (2 branches, strategy: all)
           [Parallel] Branch b (2):
              [Position] session "Look"
              [Success] Session complete: "b, first"
           [Parallel] Branch a (1):
              [Position] session "Look"
              [Success] Session complete: "a, first"
              [Parallel] Entering parallel block (2 branches, strategy: all)
                 - x: pending
                 - y: pending
                 [Multiple Task calls]
                 - y: complete = "y in a"
           [Parallel] Branch b (2):
              [Position] session "Look"
              [Success] Session complete: "b, second"
           [Parallel] Branch a (1):
                 - x: complete = "x in a"
              [Parallel] Parallel complete:
                 - x = "x in a"
                 - y = "y in a"
              [Binding] x, y bound
           [Parallel] Branch b (2):
              [Position] session "Look"
              [Success] Session complete: "b, third"
           [Parallel] Branch a (1):
              [Position] session "Look"
              [Success] Session complete: "a, last"
        [Parallel] Parallel complete:
           - a = "a, last"
           - b = "b, third"
        [Binding] a, b bound

        [Position] Statement 2: session "Look"
           [Task tool call]
        [Success] Session complete: "At the end."

        [Program] Program Complete
    "#]]
    .assert_eq(&body);
}

#[test]
fn r108_branches_fail_and_are_tried_again() {
    let play = more::failing_branches(StateMode::InContext);
    let body = body(&play);
    let (first, _) = body.split_once("[Position] Statement 2").unwrap();
    expect![[r#"
        [Position] Statement 1: parallel (on-fail: "continue")
        [Parallel] Entering parallel (3 branches, strategy: all)
           [Task: "Ask"] [Task: "Ask"] [Task: "Ask"]
           - a: failed: no route
           - a: retry 1 of 1, error: "no route"
           - 3: complete = "The last one."
           - b: failed (timeout): too slow
           - a: complete = "It works now."
        [Parallel] Parallel complete:
           - a = "It works now."
           - b: failed
           - 3 = "The last one."
        [Binding] a, b bound

    "#]]
    .assert_eq(first);
}

#[test]
fn r108_branches_are_cancelled() {
    let text = more::races(StateMode::InContext).narrate(Markers::Brackets);
    let (_, body) = text.split_once("[Position] Statement 2: ").unwrap();
    expect![[r#"
        parallel ("first")
        [Parallel] Entering parallel (2 branches, strategy: all)
           [Task: "Run"] [Task: "Run"]
           - a: complete = "0 wins."
        [Parallel] Parallel complete:
           - a = "0 wins."
           - b: cancelled
        [Binding] a bound

        [Program] Program Complete
    "#]]
    .assert_eq(body);
}

#[test]
fn r107_emoji_change_only_the_markers() {
    expect![[r#"
        OpenProse Program Start
           State mode: in-context (program is small, fits in context)
           Program: main.prose (run 20260115-143052-a7b3c9, sha256 5e1f)

        📋 Program Start
           Collecting definitions...

        🛡️ Entering try block
        📍 session "Risky operation"
        ⚠️ Session failed: connection timeout
        📦 err = {message: "connection timeout"}
        🛡️ Executing catch block
        📍 session "Handle error" with context: err
        ✅ Recovery complete: "Handled."
        🛡️ Executing finally block
        📍 session "Cleanup"
        ✅ Cleanup complete: "Clean."

        📋 Program Complete
    "#]]
    .assert_eq(&programs::recovery(StateMode::InContext).narrate(Markers::Emoji));
    let (brackets, emoji) = (
        programs::recursion(StateMode::InContext).narrate(Markers::Brackets),
        programs::recursion(StateMode::InContext).narrate(Markers::Emoji),
    );
    let with_brackets = [("📋", "[Program]"), ("📍", "[Position]"), ("📦", "[Binding]"), ("✅", "[Success]")]
        .iter()
        .fold(emoji, |text, (emoji, marker)| text.replace(emoji, marker));
    assert_eq!(with_brackets, brackets);
}

/// A view leaves out what a run without files has to keep: its head, and at the join what branches said.
#[test]
fn r110_view_of_a_run_with_files() {
    let whole = programs::complete_trace(StateMode::InContext).narrate(Markers::Brackets);
    let view = programs::complete_trace(StateMode::Filesystem).narrate(Markers::Brackets);
    let mut shown = view.lines().peekable();
    let left_out: Vec<&str> = whole.lines().filter(|line| shown.next_if_eq(line).is_none()).collect();
    assert_eq!(shown.next(), None);
    expect![[r#"
        OpenProse Program Start
           State mode: in-context (program is small, fits in context)
           Program: main.prose (run 20260115-143052-a7b3c9, sha256 5e1f)

           - b: complete = "Risk B: robustness."
           - a: complete = "Risk A: misalignment.""#]]
    .assert_eq(&left_out.join("\n"));
}

#[test]
fn r110_view_shortens_long_values() {
    let mut play = Play::new(StateMode::Filesystem, &[]);
    play.define(&[], &[], 1);
    let text = "It was a long day.\nNobody knew why. ".repeat(20);
    play.session("session \"Tell\"", None, "Tell", &[], &text);
    let narration = play.narrate(Markers::Brackets);
    let line = narration.lines().find(|line| line.starts_with("[Success]")).unwrap();
    expect![[r#"[Success] Session complete: "It was a long day. Nobody knew why. It was a long day. Nobody knew why. It was a...""#]].assert_eq(line);
}

#[test]
fn r106_small_programs_are_announced() {
    expect![[r#"
        OpenProse Program Start
           State mode: in-context (program is small, fits in context)
           Program: main.prose (run 20260115-143052-a7b3c9, sha256 5e1f)
    "#]]
    .assert_eq(&announced(ProgramSize { statements: 29, branches: 4, imports: 2, nesting: 2 }));
}

#[test]
fn r106_programs_that_are_too_big_are_warned_about() {
    expect![[r#"
        OpenProse Program Start
           State mode: in-context
           Program: main.prose (run 20260115-143052-a7b3c9, sha256 5e1f)
        [Warning] The program is large for in-context state: 30 statements (at most 29), 5 branches in one `parallel` (at most 4), 3 imported programs (at most 2), 3 levels of nesting (at most 2). What was narrated early may be lost when the context is compacted; run it with `--state filesystem` to keep its state in files.
    "#]].assert_eq(&announced(ProgramSize { statements: 30, branches: 5, imports: 3, nesting: 3 }));
    expect![[r#"
        OpenProse Program Start
           State mode: in-context
           Program: main.prose (run 20260115-143052-a7b3c9, sha256 5e1f)
        [Warning] The program is large for in-context state: 12 branches in one `parallel` (at most 4). What was narrated early may be lost when the context is compacted; run it with `--state filesystem` to keep its state in files.
    "#]].assert_eq(&announced(ProgramSize { statements: 4, branches: 12, imports: 0, nesting: 1 }));
}

fn announced(size: ProgramSize) -> String {
    let play = Play::new(StateMode::InContext, &[]);
    Narrator::new(Markers::Brackets).with_size(size).narrate(&play.events[0]).join("\n")
}

/// A line that names tasks is held back until all are there, or the program waits.
#[test]
fn r108_tasks_are_told_when_the_program_waits() {
    let mut play = Play::new(StateMode::InContext, &[]);
    play.define(&[], &[], 2);
    play.statement("parallel", StatementKind::Parallel, |play| {
        play.parallel(&["a", "b"], false);
        play.branch(0, "a", "a = session \"A\"", "A", &[]);
        play.branch(1, "b", "b = session \"B\"", "B", &[]);
    });
    let events = &play.events[..play.events.len() - 1];
    let mut narrator = Narrator::new(Markers::Brackets);
    let told = events.iter().flat_map(|event| narrator.narrate(event)).last();
    assert_eq!(told.as_deref(), Some("[Parallel] Entering parallel (2 branches, strategy: all)"));
    assert_eq!(narrator.flush(), ["   [Task: \"A\"] [Task: \"B\"]"]);
    assert_eq!(narrator.flush(), [""; 0]);
}

#[test]
fn r107_the_table_of_markers() {
    use Marker::*;
    let all = [
        Program,
        Position,
        Binding,
        Input,
        Output,
        Import,
        Success,
        Warning,
        Parallel,
        Loop,
        Pipeline,
        Try,
        Flow,
        FrameEntered,
        FrameLeft,
        CallStack,
        Error,
    ];
    let row = |marker| format!("{} {}\n", Markers::Brackets.write(marker), Markers::Emoji.write(marker));
    // Those that have no emoji stand between brackets then, too.
    expect![[r#"
        [Program] 📋
        [Position] 📍
        [Binding] 📦
        [Input] [Input]
        [Output] [Output]
        [Import] [Import]
        [Success] ✅
        [Warning] ⚠️
        [Parallel] 🔀
        [Loop] 🔄
        [Pipeline] 🔗
        [Try] 🛡️
        [Flow] ➡️
        [Frame+] [Frame+]
        [Frame-] [Frame-]
        [CallStack] [CallStack]
        [Error] [Error]
    "#]]
    .assert_eq(&all.map(row).concat());
}
