//! Sessions and where their results go (R5, R8, R22 to R34).

use std::sync::Arc;

use expect_test::{Expect, expect};
use prose_vm::budget::Budget;
use prose_vm::effect::Usage;
use prose_vm::event::EventKind;

use crate::support::{Able, Counting, Setup, answers, check, lines, run, run_with};

const OK: &str = "[[session]]\nreply = \"ok\"";

#[test]
fn r005_statements_run_in_order_and_definitions_before_them() {
    check(
        r#"
let a = session "First"
do later("{a}")
block later(x):
  session: worker
    prompt: "Second {x}"
agent worker:
  model: haiku
session "Third"
"#,
        &answers(&[("First", "one", ""), ("", "more", "")]),
        expect![[r#"
            session: First
            let a = one
            call later (1, depth 1)
            session worker: Second one
            let anon_001 in 1 = more
            left 1: Complete
            session: Third
            let anon_002 = more
            value: more
        "#]],
    );
}

/// The parts of a program stand in the reverse of the order in which they count.
#[test]
fn r005_programs_and_inputs_come_first_and_outputs_are_handed_over_at_the_end() {
    let ran = run_with(
        r#"
//- /main.prose
output first = session: worker
  prompt: "First"
try:
  session "Fail"
catch as e:
  output second = "{e.message} about {topic}"
let third = find()
input topic: "What about?"
agent worker:
  model: haiku
use "./find.prose"
//- /find.prose
output found = "much"
"#,
        "[[session]]\nlabel = \"Fail\"\nfail = \"no\"\n[[session]]\nreply = \"ok\"",
        |setup| setup.input("topic", "tides"),
    );
    let position = |is_it: &dyn Fn(&EventKind) -> bool| {
        ran.events.iter().position(|event| is_it(&event.kind)).unwrap_or_else(|| panic!("{}", ran.story()))
    };
    let order = [
        position(&|what| matches!(what, EventKind::Imported { alias, .. } if alias == "find")),
        position(&|what| matches!(what, EventKind::Bound { binding, .. } if binding.name == "topic")),
        position(&|what| matches!(what, EventKind::SessionStarted { task, .. } if &*task.task == "First")),
        position(&|what| matches!(what, EventKind::Caught { .. })),
        position(&|what| matches!(what, EventKind::ImportCalled { .. })),
        position(&|what| matches!(what, EventKind::RunEnded(_))),
    ];
    assert!(order.is_sorted(), "{order:?}");
    let outputs: Vec<_> = ran.end.outputs.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    assert_eq!(outputs, ["first: ok", "second: no about tides"]);
}

#[test]
fn r008_definitions_inside_of_bodies_are_known_everywhere() {
    check(
        r#"
do f()
if false:
  block f():
    session: worker
  agent worker:
    prompt: "Work"
"#,
        OK,
        expect![[r#"
            call f (1, depth 1)
            session worker: Work
            let anon_001 in 1 = ok
            left 1: Complete
            condition: false
            value: null
        "#]],
    );
}

#[test]
fn r008_any_statement_can_be_a_branch() {
    check(
        r#"
block f(x):
  session "F{x}"
let xs = ["a", "b"]
parallel (on-fail: "continue"):
  let one = session "let"
  const two = session "const"
  three = do f(1)
  do f(2)
  session "chain" -> session "end"
  if true:
    session "if"
  choice **which**:
    option "O":
      session "option"
  loop (max: 1):
    session "loop"
  repeat 1:
    session "repeat"
  for x in xs:
    session "for {x}"
  parallel:
    four = session "nested"
  try:
    throw "in try"
  catch:
    session "catch"
  five = xs | map: session "map {item}"
  output six = session "output"
  throw "thrown"
  assert false
session "{one} {two} {three} {four} {five[1]} {six}"
"#,
        "[[choice]]\nchoose = 1\n[[session]]\nreply = \"ok\"",
        expect![[r#"
            let xs = [
              "a",
              "b"
            ]
            session: let
            session: const
            call f (1, depth 1)
            session: F1
            call f (2, depth 1)
            session: F2
            session: chain
            condition: true
            session: if
            iteration 1
            session: loop
            iteration 1
            session: repeat
            iteration 1
            session: for a
            session: nested
            caught: in try
            session: catch
            session: map a
            session: output
            branch 15: Failed
            branch 16: Failed
            let one = ok
            one: Complete
            const two = ok
            two: Complete
            let anon_001 in 1 = ok
            left 1: Complete
            let three = ok
            three: Complete
            let anon_002 in 2 = ok
            left 2: Complete
            branch 4: Complete
            let anon_003 = ok
            session: end
            let anon_004 = ok
            branch 6: Complete
            chosen: O
            session: option
            let anon_005 = ok
            loop ended: Max after 1
            branch 8: Complete
            let anon_006 = ok
            loop ended: Exhausted after 1
            branch 9: Complete
            let anon_007 = ok
            iteration 2
            session: for b
            let four = ok
            four: Complete
            branch 11: Complete
            let anon_008 = ok
            branch 12: Complete
            let anon_009 = ok
            session: map b
            output six = ok
            output six = ok
            branch 14: Complete
            let anon_010 = ok
            branch 5: Complete
            let anon_011 = ok
            branch 7: Complete
            let anon_012 = ok
            loop ended: Exhausted after 2
            branch 10: Complete
            let anon_013 = ok
            let five = [
              "ok",
              "ok"
            ]
            five: Complete
            let four = ok
            warning: 2 of 16 branches failed: branch 15: thrown; branch 16: this does not hold: assert false
            session: ok ok ok ok ok ok
            let anon_014 = ok
            value: null
        "#]],
    );
}

#[test]
fn r022_a_session_is_waited_for() {
    let ran = run("session \"A\"\nsession \"B\"", "[[session]]\nreply = \"ok\"\ndelay = \"1s\"");
    expect![[r#"
        0: start A
        1000: Complete
        1000: start B
        2000: Complete
    "#]]
    .assert_eq(&ran.times());
}

#[test]
fn r024_the_model_of_the_session_comes_before_that_of_the_agent() {
    let ran = run(
        r#"
agent a:
  model: opus
  prompt: "A"
session: a
session: a
  model: haiku
session "B"
  model: "vendor/some-model-7"
session "C"
"#,
        OK,
    );
    let models: Vec<_> = ran.sessions().iter().map(|session| session.model.clone()).collect();
    assert_eq!(format!("{models:?}"), r#"[Some("opus"), Some("haiku"), Some("vendor/some-model-7"), None]"#);
}

#[test]
fn r027_properties_of_the_session_replace_those_of_the_agent_one_by_one() {
    let ran = run(
        r#"
agent a:
  model: opus
  prompt: "A"
  skills: ["one", "two"]
  retry: 1
  permissions:
    read: ["src/*"]
    bash: deny
    network: prompt
session: a
  skills: ["three"]
  permissions:
    bash: allow
    write: ["out.md", notes]
"#,
        OK,
    );
    let session = ran.session("A");
    assert_eq!(
        format!("{:?}", (&session.model, &session.skills, session.retries)),
        r#"(Some("opus"), ["three"], 1)"#
    );
    expect![[r#"
        Permission { about: "read", rule: Patterns(["src/*"]) }
        Permission { about: "network", rule: Prompt }
        Permission { about: "bash", rule: Allow }
        Permission { about: "write", rule: Patterns(["out.md", "notes"]) }
    "#]]
    .assert_eq(&lines(&session.permissions));
}

/// A program whose agent has files: replies in their order, what it has written before it replies, and what it writes when it is asked again.
#[track_caller]
fn check_writing(
    program: &str,
    replies: &[&str],
    written: &[(&str, &str)],
    later: &[(&str, &str)],
    expected: Expect,
) {
    let script = format!("[[session]]\nreply = {replies:?}\n");
    let files = |files: &[(&str, &str)]| {
        files.iter().map(|(path, text)| ((*path).into(), (*text).to_owned())).collect()
    };
    let ran = run_with(program, &script, |setup| {
        setup.with_files();
        setup.harness = Arc::new(Able { inner: Arc::clone(&setup.harness), has_files: true, enforces: true });
        setup.written = files(written);
        setup.written_later = files(later);
    });
    expected.assert_eq(&ran.story());
}

#[test]
fn r031_what_an_agent_writes_is_the_result_and_what_it_says_where_it_writes_nothing() {
    check_writing(
        "let a = session \"A\"\nlet b = session \"B\"\n",
        &["done", "The result of B."],
        &[("bindings/a.md", "what was written")],
        &[],
        expect![[r#"
            session: A
            let a = what was written
            session: B
            warning: the agent did not write a file for `b`; its reply is used as the result
            let b = The result of B.
            value: The result of B.
        "#]],
    );
}

#[test]
fn decision_21_a_confirmation_is_never_the_value() {
    let confirmation = "Binding written: a\nLocation: bindings/a.md\nSummary: Everything\nwent well.";
    // It writes when it is asked again.
    check_writing(
        "let a = session \"A\"\n",
        &["done", "done"],
        &[],
        &[("bindings/a.md", "The result.")],
        expect![[r#"
        session: A
        warning: the agent confirmed the result of `a` without giving it, and was asked again
        let a = The result.
        value: The result.
    "#]],
    );
    // Whatever words it uses.
    for said in [
        "Done!",
        "All done.",
        "Task completed.",
        "I've written the result to the file.",
        "The result has been saved successfully",
    ] {
        check_writing(
            "let a = session \"A\"\n",
            &[said, "The result."],
            &[],
            &[],
            expect![[r#"
                session: A
                warning: the agent confirmed the result of `a` without giving it, and was asked again
                let a = The result.
                value: The result.
            "#]],
        );
    }
    check_writing(
        "let a = session \"A\"\n",
        &["The result is written in stone."],
        &[],
        &[],
        expect![[r#"
            session: A
            warning: the agent did not write a file for `a`; its reply is used as the result
            let a = The result is written in stone.
            value: The result is written in stone.
        "#]],
    );
    // It replies then.
    check_writing(
        "let a = session \"A\"\n",
        &[confirmation, "The result."],
        &[],
        &[],
        expect![[r#"
            session: A
            warning: the agent confirmed the result of `a` without giving it, and was asked again
            let a = The result.
            value: The result.
        "#]],
    );
    // It does neither.
    check_writing(
        "let a = session \"A\"\n",
        &["Done.", "It is in bindings/a.md now."],
        &[],
        &[],
        expect![[r#"
        session: A
        failed: the agent confirmed the result of `a` twice without writing it to `bindings/a.md`; let it write there, or deny `write` so that the reply is the result
        Failed: the agent confirmed the result of `a` twice without writing it to `bindings/a.md`; let it write there, or deny `write` so that the reply is the result
    "#]],
    );
    // An agent that may not write was not told to reply `done`, so that is its result.
    let denied = "let a = session \"A\"\n  permissions:\n    write: deny\n";
    check_writing(
        denied,
        &["Done."],
        &[],
        &[],
        expect![[r#"
        session: A
        let a = Done.
        value: Done.
    "#]],
    );
    check_writing(
        denied,
        &[confirmation, "The result."],
        &[],
        &[],
        expect![[r#"
            session: A
            warning: the agent confirmed the result of `a` without giving it, and was asked again
            let a = The result.
            value: The result.
        "#]],
    );
}

#[test]
fn decision_21_a_session_that_is_asked_again_is_one_request_with_the_usage_of_both_replies() {
    let ran = run_with("let a = session \"A\"\n", "[[session]]\nreply = \"done\"", |setup| {
        setup.with_files();
        let usage = |_: &str| Some(Usage { input_tokens: 10, output_tokens: 1, ..Usage::default() });
        let counting = Counting { inner: Arc::clone(&setup.harness), usage, changes: None, is_live: false };
        setup.harness = Arc::new(Able { inner: Arc::new(counting), has_files: true, enforces: true });
        setup.written_later.insert("bindings/a.md".into(), "The result.".to_owned());
    });
    assert_eq!((ran.sessions().len(), ran.asked("session").len(), ran.end.sessions), (1, 1, 1));
    assert_eq!(ran.end.usage.map(|usage| (usage.input_tokens, usage.output_tokens)), Some((20, 2)));
}

#[test]
fn attempts_that_fail_count_as_sessions() {
    let ran = run(
        "try:\n  session \"A\"\n    retry: 2\ncatch:\n  session \"B\"\n",
        "[[session]]\nlabel = \"A\"\nfail = \"no\"\n[[session]]\nreply = \"ok\"\n",
    );
    assert_eq!(ran.end.sessions, 4, "{}", ran.story());
}

#[test]
fn r034_an_arrow_chain_goes_from_left_to_right() {
    check(
        r#"
let x = session "A" -> session "B" -> session "C"
session "{x}"
session "D" -> session "E"
"#,
        &answers(&[("C", "c", ""), ("", "ok", "")]),
        expect![[r#"
            session: A
            let anon_001 = ok
            session: B
            let anon_002 = ok
            session: C
            let x = c
            session: c
            let anon_003 = ok
            session: D
            let anon_004 = ok
            session: E
            let anon_005 = ok
            value: ok
        "#]],
    );
}

#[test]
fn r034_properties_belong_to_the_session_they_stand_behind() {
    let ran = run("session \"A\"\n  model: opus\n-> session \"B\"\n  model: haiku\n", OK);
    let models: Vec<_> =
        ran.sessions().iter().map(|session| (session.task.to_string(), session.model.clone())).collect();
    assert_eq!(format!("{models:?}"), r#"[("A", Some("opus")), ("B", Some("haiku"))]"#);
}

#[test]
fn c12_properties_of_an_agent_hold_for_its_sessions() {
    check(
        r#"
let notes = "n"
agent a:
  prompt: "A"
  retry: 1
  context: notes
session: a
"#,
        "[[session]]\ntimes = 1\nfail = \"no\"\n[[session]]\nreply = \"ok\"",
        expect![[r#"
            let notes = n
            session a: A
            failed: no
            retry 1 after 0 ms
            session a: A
            let anon_001 = ok
            value: ok
        "#]],
    );
}

#[test]
fn c17_a_session_that_takes_too_long_fails() {
    let ran = run(
        r#"
try:
  session "Slow"
    timeout: 90s
catch as e:
  session "After {e.kind}: {e.message}"
"#,
        "[[session]]\nlabel = \"Slow\"\nreply = \"x\"\ndelay = \"2m\"\n[[session]]\nreply = \"ok\"",
    );
    expect![[r#"
        0: start Slow
        90000: Failed
        90000: start After timeout: the session exceeded its timeout of 90 s
        90000: Complete
    "#]]
    .assert_eq(&ran.times());
}

#[test]
fn c18_a_named_session_binds_its_name() {
    check(
        "agent a:\n  prompt: \"A\"\nsession plan: a\nsession \"Use {plan}\"\n",
        OK,
        expect![[r#"
            session a: A
            let plan = ok
            session: Use ok
            let anon_001 = ok
            value: ok
        "#]],
    );
}

#[test]
fn decision_13_rules_that_a_harness_cannot_see_to_stop_the_session() {
    let program = "session \"A\"\n  retry: 2\n  permissions:\n    bash: deny\n";
    let lax = |setup: &mut Setup| {
        setup.harness =
            Arc::new(Able { inner: Arc::clone(&setup.harness), has_files: false, enforces: false });
    };
    let refused = run_with(program, OK, lax);
    expect![[r#"
        session: A
        failed: the harness `able` cannot enforce `bash: deny`, so the session is not started; use a harness that can, or pass `--allow-unenforced-permissions`
        Failed: the harness `able` cannot enforce `bash: deny`, so the session is not started; use a harness that can, or pass `--allow-unenforced-permissions`
    "#]].assert_eq(&refused.story());
    let allowed = run_with(program, OK, |setup| {
        lax(setup);
        setup.limits.allow_unenforced_permissions = true;
    });
    assert_eq!(allowed.end.sessions, 1);
}

#[test]
fn the_most_sessions_end_a_run() {
    let ran = run_with("repeat 5:\n  session \"A\"\n", OK, |setup| setup.limits.budget = Budget::sessions(2));
    expect![[r#"
        iteration 1
        session: A
        let anon_001 = ok
        iteration 2
        session: A
        let anon_002 = ok
        iteration 3
        session: A
        Interrupted: the limit of 2 sessions is reached (`--max-sessions`)
    "#]]
    .assert_eq(&ran.story());
}

#[test]
fn r023_a_task_has_a_prompt_and_a_model_only_if_one_is_set() {
    let ran = run(
        "agent a:\n  model: opus\n  prompt: \"You work\"\nsession \"Plain\"\nsession: a\n  prompt: \"With a model\"\n",
        OK,
    );
    let sent = |start: &str| {
        let mut task = serde_json::to_value(&*ran.session(start)).unwrap();
        task.as_object_mut().unwrap().remove("binding");
        task
    };
    // Nothing stands for what is not set, so that the host decides.
    assert_eq!(
        sent("Plain"),
        serde_json::json!({ "task": "Plain", "prompt": "Plain", "attempt": 0, "retries": 0 })
    );
    assert_eq!(sent("With a model")["model"], "opus");
}

#[test]
fn a_run_adds_up_what_its_sessions_took() {
    let program = "session \"a\"\nsession \"b\"\nsession \"c\"\n";
    let counted = |usage: fn(&str) -> Option<Usage>| {
        let ran = run_with(program, OK, |setup: &mut Setup| {
            setup.harness = Arc::new(Counting {
                inner: Arc::clone(&setup.harness),
                usage,
                changes: None,
                is_live: false,
            });
        });
        ran.end.usage
    };
    assert_eq!(counted(|_| None), None);
    let usage = counted(|task| {
        let cost = (task != "a").then_some(0.25);
        (task != "b").then_some(Usage { input_tokens: 10, output_tokens: 1, cost, ..Usage::default() })
    });
    assert_eq!(
        usage,
        Some(Usage { input_tokens: 20, output_tokens: 2, cost: Some(0.25), ..Usage::default() })
    );
}
