//! Loops: which iteration had been reached, and what files of earlier ones prove.

use expect_test::expect;

use crate::foreign::check;

const REFINE: &str = r#"let draft = session "Draft"
loop until **it is good** (max: 4):
  let critique = session "Criticise"
    context: draft
  session "Log it"
  draft = session "Improve"
    context: critique
output text = session "Publish"
  context: draft
"#;

#[test]
fn r104_nothing_in_a_loop_has_run_that_was_not_entered() {
    let state = r#"let draft = session "Draft"                  # <-- EXECUTING
loop until **it is good** (max: 4):          # [not yet entered]
  let critique = session "Criticise"
    context: draft
  session "Log it"
  draft = session "Improve"
    context: critique
"#;
    // Files of those names may be from anywhere.
    let stale = [("critique", "stale"), ("anon_001", "stale"), ("text", "stale"), ("draft", "half of")];
    check(
        REFINE,
        state,
        &stale,
        expect![[r#"
        asked Draft
        asked whether (true)
        asked Publish
    "#]],
    );
    let state = state.replace("# <-- EXECUTING", "# --> bindings/draft.md");
    check(
        REFINE,
        &state,
        &stale,
        expect![[r#"
        kept  Draft: half of
        asked whether (true)
        asked Publish
    "#]],
    );
    // The list of constructs alone says it too.
    let state = format!(
        "# Execution State\n\n## Execution Trace\n\n```prose\n{}```\n\n## Active Constructs\n\n### Loop (lines 2-7)\n\n- status: not yet entered\n- iteration: 0/4\n",
        state.replace("# [not yet entered]", "")
    );
    check(
        REFINE,
        &state,
        &stale,
        expect![[r#"
        kept  Draft: half of
        asked whether (true)
        asked Publish
    "#]],
    );
}

#[test]
fn r104_a_session_that_was_being_executed_in_a_loop_has_not_ended() {
    let state = |iteration: u32, marks: [&str; 3]| {
        let [critique, log, improve] = marks;
        format!(
            r#"# Execution State

## Execution Trace

```prose
let draft = session "Draft"  # --> bindings/draft.md (complete)
loop until **it is good** (max: 4):
  let critique = session "Criticise"  {critique}
    context: draft
  session "Log it"  {log}
  draft = session "Improve"  {improve}
    context: critique
output text = session "Publish"  # [...next...]
```

## Active Constructs

### Loop (lines 2-7)

- status: executing
- iteration: {iteration}/4
- condition: **it is good**
"#
        )
    };
    let files = [
        ("draft", "improved"),
        ("critique", "criticised"),
        ("anon_001", "logged once"),
        ("anon_002", "logged twice"),
    ];
    let first = state(1, ["# --> bindings/critique.md (complete)", "# <-- EXECUTING", ""]);
    check(
        REFINE,
        &first,
        &files,
        expect![[r#"
        kept  Draft: improved
        known false
        kept  Criticise: criticised
        asked Log it
        asked Improve
        asked whether (true)
        asked Publish
    "#]],
    );
    let third = state(3, ["# --> bindings/critique.md (complete)", "# (complete)", "# <-- EXECUTING"]);
    check(
        REFINE,
        &third,
        &files,
        expect![[r#"
        kept  Draft: improved
        known false
        kept  Criticise: criticised
        kept  Log it: logged once
        kept  Improve: improved
        known false
        kept  Criticise: criticised
        kept  Log it: logged twice
        kept  Improve: improved
        known false
        kept  Criticise: criticised
        kept  Log it: (the result was not kept)
        asked Improve
        asked whether (true)
        asked Publish
    "#]],
    );
    // The marks behind it are of the iteration before.
    let second = state(
        2,
        ["# <-- EXECUTING", "# --> bindings/anon_001.md (complete)", "# --> bindings/draft.md (complete)"],
    );
    check(
        REFINE,
        &second,
        &files,
        expect![[r#"
        kept  Draft: improved
        known false
        kept  Criticise: criticised
        kept  Log it: logged once
        kept  Improve: improved
        known false
        asked Criticise
        asked Log it
        asked Improve
        asked whether (true)
        asked Publish
    "#]],
    );
    let unmarked = state(2, ["# <-- EXECUTING", "", ""]);
    check(
        REFINE,
        &unmarked,
        &files,
        expect![[r#"
        kept  Draft: improved
        known false
        kept  Criticise: criticised
        kept  Log it: logged once
        kept  Improve: improved
        known false
        asked Criticise
        asked Log it
        asked Improve
        asked whether (true)
        asked Publish
    "#]],
    );
}

#[test]
fn r104_loops_and_choices_that_have_ended_go_the_way_they_went() {
    let program = r#"loop while **more**:
  let x = session "Do"
if **small**:
  let a = session "A"
elif **large**:
  let b = session "B"
else:
  let c = session "C"
choice **which**:
  option "one":
    let d = session "D"
  option "two":
    let e = session "E"
let z = session "End"
if **later**:
  let f = session "F"
"#;
    let state = r#"loop while **more**:          # (complete)
  let x = session "Do"        # --> bindings/x.md
if **small**:
  let a = session "A"
elif **large**:
  let b = session "B"         # --> bindings/b.md
else:
  let c = session "C"
choice **which**:
  option "one":
    let d = session "D"
  option "two":
    let e = session "E"       # --> bindings/e.md
let z = session "End"         # <-- EXECUTING
"#;
    check(
        program,
        state,
        &[("x", "X"), ("b", "B"), ("e", "E")],
        expect![[r#"
        known true
        kept  Do: X
        known false
        known false
        known true
        kept  B: B
        chosen 2
        kept  E: E
        asked End
        asked whether (true)
        asked F
    "#]],
    );
    // A condition that was being judged is judged again.
    let state = "loop while **more**:          # (complete)\nif **small**:  # <-- EXECUTING\n";
    check(
        program,
        state,
        &[("x", "X")],
        expect![[r#"
        known true
        kept  Do: X
        known false
        asked whether (true)
        asked A
        asked which
        asked D
        asked End
        asked whether (true)
        asked F
    "#]],
    );
}

#[test]
fn r104_iterations_of_loops_in_loops_count_each_for_itself() {
    let program = r#"for x in ["a", "b"]:
  let head = session "Head {x}"
  repeat 3:
    let part = session "Part {x}"
  let tail = session "Tail {x}"
"#;
    let state = r#"# Execution State

## Execution Trace

```prose
for x in ["a", "b"]:
  let head = session "Head {x}"    # --> bindings/head.md (complete)
  repeat 3:
    let part = session "Part {x}"  # <-- EXECUTING
  let tail = session "Tail {x}"
```

## Active Constructs

### Loop (lines 1-5)

- iteration: 2/2

### Loop (lines 3-4)

- iteration: 2/3
"#;
    check(
        program,
        state,
        &[("head", "H"), ("part", "P"), ("tail", "T")],
        expect![[r#"
        kept  Head a: H
        kept  Part a: P
        kept  Part a: P
        kept  Part a: P
        kept  Tail a: T
        kept  Head b: H
        kept  Part b: P
        asked Part b
        asked Part b
        asked Tail b
    "#]],
    );
}

#[test]
fn r104_what_nothing_captures_is_found_by_the_file_that_the_trace_names() {
    let program = "loop until **done** (max: 9):\n  session \"Step\"\nsession \"After\"\nsession \"Last\"\n";
    let state = "loop until **done** (max: 9):  # (complete)\n  session \"Step\"  # --> bindings/anon_003.md (complete)\n\
        session \"After\"  # --> bindings/anon_004.md (complete)\nsession \"Last\"  # <-- EXECUTING\n";
    let files = [("anon_001", "one"), ("anon_002", "two"), ("anon_003", "three"), ("anon_004", "after")];
    check(
        program,
        state,
        &files,
        expect![[r#"
        known false
        kept  Step: one
        known true
        kept  After: after
        asked Last
    "#]],
    );
}

#[test]
fn r104_conditions_with_not_are_known_the_other_way_round() {
    let program = "loop while not **done** (max: 5):\n  let x = session \"Do\"\nif not **safe**:\n  let y = session \"Guard\"\nlet z = session \"End\"\n";
    let state = "loop while not **done** (max: 5):  # (complete)\n  let x = session \"Do\"  # --> bindings/x.md\n\
        if not **safe**:\n  let y = session \"Guard\"  # --> bindings/y.md (complete)\nlet z = session \"End\"  # <-- EXECUTING\n";
    check(
        program,
        state,
        &[("x", "X"), ("y", "Y")],
        expect![[r#"
        known false
        kept  Do: X
        known true
        known false
        kept  Guard: Y
        asked End
    "#]],
    );
}
