//! Names and what they are bound to (R14 to R21).

use expect_test::expect;
use prose_vm::event::EventKind;

use crate::support::{answers, check, check_result, run};

const OK: &str = "[[session]]\nreply = \"ok\"";

#[test]
fn r014_constants_keep_their_value() {
    check(
        "let a = 1\na = 2\nconst b = 1\nb = 2\n",
        "",
        expect![[r#"
        let a = 1
        let a = 2
        const b = 1
        Failed: `b` is a constant and cannot get another value; declare it with `let` if it should
    "#]],
    );
}

#[test]
fn r014_loop_and_parameter_names_keep_their_value() {
    check(
        "for x in [1]:\n  x = 2\n",
        "",
        expect![[r#"
        iteration 1
        loop ended: Failed after 1
        Failed: `x` belongs to the body around it and keeps its value there; give the new value a name of its own
    "#]],
    );
    check(
        "block f(p):\n  p = 2\ndo f(1)\n",
        "",
        expect![[r#"
        call f (1, depth 1)
        left 1: Failed
        Failed: `p` is a constant and cannot get another value; declare it with `let` if it should
    "#]],
    );
}

#[test]
fn r015_kinds_of_bindings() {
    check(
        "input a: \"Optional\"\nlet b = 1\nconst c = 2\noutput d = 3\nsession \"S\"\n",
        OK,
        expect![[r#"
            input a = null
            let b = 1
            const c = 2
            output d = 3
            output d = 3
            session: S
            let anon_001 = ok
            value: null
        "#]],
    );
}

#[test]
fn r016_names_are_looked_up_along_the_callers() {
    check(
        r#"
let at_root = "root"
block inner():
  session "{at_root} {in_outer} {own}"
block outer():
  let in_outer = "outer"
  let own = "of outer"
  do inner()
let own = "of root"
do outer()
do inner()
"#,
        OK,
        expect![[r#"
            let at_root = root
            let own = of root
            call outer (1, depth 1)
            let in_outer in 1 = outer
            let own in 1 = of outer
            call inner (2, depth 2)
            session: root outer of outer
            let anon_001 in 2 = ok
            left 2: Complete
            left 1: Complete
            call inner (3, depth 1)
            warning: `in_outer` was bound in a block that has ended (execution_id 1); its value there is used
            session: root outer of root
            let anon_002 in 3 = ok
            left 3: Complete
            value: ok
        "#]],
    );
}

#[test]
fn r016_a_name_of_a_block_that_has_ended_is_found_with_a_warning() {
    check(
        r#"
block get_access():
  let access = session "Get access"
do get_access()
do get_access()
session "Use {access}"
let copy = access
"#,
        "[[session]]\nlabel = \"Get access\"\nreply = [\"old\", \"new\"]\n[[session]]\nreply = \"ok\"",
        expect![[r#"
            call get_access (1, depth 1)
            session: Get access
            let access in 1 = old
            left 1: Complete
            call get_access (2, depth 1)
            session: Get access
            let access in 2 = new
            left 2: Complete
            warning: `access` was bound in a block that has ended (execution_id 2); its value there is used
            session: Use new
            let anon_001 = ok
            warning: `access` was bound in a block that has ended (execution_id 2); its value there is used
            let copy = new
            value: new
        "#]],
    );
}

#[test]
fn r016_a_name_that_nothing_binds_is_an_error_with_a_suggestion() {
    check(
        "let report = 1\noutput result = reprot\n",
        "",
        expect![[r#"
        let report = 1
        Failed: nothing is called `reprot` here: `report` was probably meant
    "#]],
    );
    check(
        "let x = y\nlet y = 1\n",
        "",
        expect![[r#"
        Failed: nothing is called `y` here: it has not been bound yet at this point of the run
    "#]],
    );
}

#[test]
fn r017_assignments_write_to_the_nearest_name() {
    check(
        r#"
let x = 1
block f():
  x = 2
  y = 3
do f()
output result = x
"#,
        "",
        expect![[r#"
            let x = 1
            call f (1, depth 1)
            let x = 2
            let y in 1 = 3
            left 1: Complete
            output result = 2
            output result = 2
            value: null
        "#]],
    );
}

#[test]
fn r018_loop_names_hide_outer_ones_and_vanish() {
    check(
        r#"
let item = "outer"
for item in ["inner"]:
  session "{item}"
session "{item}"
let r = ["p"] | map:
  session "{item}"
session "{item}"
try:
  throw "t"
catch as item:
  session "{item}"
session "{item}"
"#,
        OK,
        expect![[r#"
            let item = outer
            iteration 1
            session: inner
            let anon_001 = ok
            loop ended: Exhausted after 1
            session: outer
            let anon_002 = ok
            session: p
            let anon_003 = ok
            let r = [
              "ok"
            ]
            session: outer
            let anon_004 = ok
            caught: t
            session: t
            let anon_005 = ok
            session: outer
            let anon_006 = ok
            value: ok
        "#]],
    );
}

#[test]
fn r019_branches_bind_in_the_frame_around_after_the_join() {
    check(
        r#"
block f():
  parallel:
    a = session "A"
    b = session "B"
  session "{a} {b}"
do f()
"#,
        &answers(&[("A", "1", "2s"), ("B", "2", "1s"), ("", "ok", "")]),
        expect![[r#"
            call f (1, depth 1)
            session: A
            session: B
            let b in 1 = 2
            b: Complete
            let a in 1 = 1
            a: Complete
            session: 1 2
            let anon_001 in 1 = ok
            left 1: Complete
            value: ok
        "#]],
    );
}

#[test]
fn r020_results_that_nothing_captures_are_numbered() {
    check(
        r#"
session "A"
let x = session "B"
parallel:
  session "C"
  session "D"
block f():
  session "E"
do f()
session "F"
"#,
        &answers(&[("C", "c", "2s"), ("", "ok", "")]),
        expect![[r#"
            session: A
            let anon_001 = ok
            session: B
            let x = ok
            session: C
            session: D
            let anon_003 = ok
            branch 2: Complete
            let anon_002 = c
            branch 1: Complete
            call f (1, depth 1)
            session: E
            let anon_004 in 1 = ok
            left 1: Complete
            session: F
            let anon_005 = ok
            value: ok
        "#]],
    );
}

#[test]
fn r021_files_are_named_after_the_frame() {
    let ran = run(
        r#"
let result = session "A"
block f():
  let result = session "B"
  session "C"
  parallel for x in ["p", "q"]:
    let result = session "{x}"
do f()
"#,
        OK,
    );
    expect![[r#"
        bindings/result.md
        bindings/result__1.md
        bindings/anon_001__1.md
        bindings/result__1_0.md
        bindings/result__1_1.md
        bindings/result__1.md"#]]
    .assert_eq(&ran.files().join("\n"));
}

#[test]
fn a02_branches_of_a_condition_share_a_name() {
    check_result("if true:\n  let x = 1\nelse:\n  let x = 2\noutput result = x", "1");
}

#[test]
fn a03_an_output_takes_over_a_variable_of_its_name() {
    check(
        "let x = 1\noutput x = x\n",
        "",
        expect![[r#"
            let x = 1
            output x = 1
            output x = 1
            value: null
        "#]],
    );
}

#[test]
fn a04_let_in_a_loop_assigns_to_the_name_around() {
    check_result("let n = 0\nrepeat 3:\n  let n = n + 1\noutput result = n", "3");
}

#[test]
fn a05_of_several_outputs_of_a_name_the_last_counts() {
    check_result("if true:\n  output result = 1\noutput result = 2", "2");
}

#[test]
fn a06_branches_bind_names_again() {
    check(
        r#"
parallel:
  a = session "first"
parallel:
  a = session "second"
session "{a}"
"#,
        &answers(&[("first", "1", ""), ("second", "2", ""), ("", "ok", "")]),
        expect![[r#"
            session: first
            let a = 1
            a: Complete
            session: second
            let a = 2
            a: Complete
            session: 2
            let anon_001 = ok
            value: ok
        "#]],
    );
}

#[test]
fn a07_a08_agents_blocks_and_variables_do_not_share_names() {
    check(
        r#"
agent polecat:
  prompt: "You work"
block publish():
  session "Publish {publish}"
let publish = "now"
for polecat in ["p"]:
  session: polecat
    prompt: "Go {polecat}"
do publish()
"#,
        OK,
        expect![[r#"
            let publish = now
            iteration 1
            session polecat: Go p
            let anon_001 = ok
            loop ended: Exhausted after 1
            call publish (1, depth 1)
            session: Publish now
            let anon_002 in 1 = ok
            left 1: Complete
            value: ok
        "#]],
    );
}

#[test]
fn a10_unknown_names_in_braces_are_text() {
    check(
        "session \"\"\"\n  Write {slug}.md with {id}\n\"\"\"\n",
        OK,
        expect![[r#"
        session: Write {slug}.md with {id}
        let anon_001 = ok
        value: ok
    "#]],
    );
}

#[test]
fn a11_agents_prompts_are_filled_in_when_a_session_starts() {
    let ran = run("agent a:\n  prompt: \"About {topic}\"\nfor topic in [\"x\", \"y\"]:\n  session: a\n", OK);
    assert_eq!(ran.tasks(), ["About x", "About y"]);
}

#[test]
fn a13_callers_are_searched_and_not_the_text_around() {
    check_result(
        "let v = \"root\"\nblock f():\n  output v\nblock g():\n  let v = \"caller\"\n  let r = do f()\n  output r\nlet r = do g()\noutput result = r",
        "caller",
    );
}

#[test]
fn a15_the_second_name_of_a_for_is_the_index() {
    check_result(
        "let xs = []\nfor x, i in [\"a\", \"b\"]:\n  xs = xs + [x + i]\noutput result = xs[1]",
        "b1",
    );
}

#[test]
fn r016_that_a_name_is_found_in_a_caller_is_told() {
    let ran = run(
        "let at_root = 1\nblock inner():\n  let x = of_outer + at_root\nblock outer():\n  let of_outer = 1\n  do inner()\ndo outer()\n",
        OK,
    );
    let resolved: Vec<_> = ran
        .events
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::Resolved { name, frame } => Some(format!("{name} in {frame}")),
            _ => None,
        })
        .collect();
    // That names of the file are seen everywhere needs no word.
    assert_eq!(resolved, ["of_outer in 1"]);
}

#[test]
fn a09_what_a_block_has_bound_is_found_however_many_others_have_ended_since() {
    let ran = run(
        "block get():\n  let access = \"granted\"\nblock other(n):\n  let m = n\ndo get()\nrepeat 200 as i:\n  do other(i)\nsession \"{access} {m}\"\n",
        OK,
    );
    assert_eq!(ran.tasks(), ["granted 199"]);
}

/// Whatever variables are called, each of them has a file of its own, on every system.
#[test]
fn no_two_variables_have_the_same_file() {
    let long = "n".repeat(300);
    let text = r#"
let x__1 = session "A"
let anon_001 = session "B"
session "C"
let Draft = session "D"
let draft = session "E"
let nul = session "F"
let LONG = session "G"
block f():
  let x = session "H"
  let x__1 = session "I"
do f()
"#;
    let ran = run(&text.replace("LONG", &long), OK);
    let files = ran.files();
    let lower: std::collections::BTreeSet<String> = files.iter().map(|file| file.to_lowercase()).collect();
    assert_eq!(lower.len(), 9, "{files:#?}");
    assert!(files.iter().all(|file| file.len() < 210), "{files:#?}");
    expect![[r#"
        bindings/x__1~.md
        bindings/anon_001~.md
        bindings/anon_001.md
        bindings/Draft.md
        bindings/draft~7743ce348d9284d6.md
        bindings/nul~99e6242759016035.md
        bindings/nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn~230b077491957fb4.md
        bindings/x__1.md
        bindings/x__1~__1.md"#]]
    .assert_eq(&files.join("\n"));
}
