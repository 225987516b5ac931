//! `try`: what had failed, and what was being done about it.

use expect_test::expect;

use crate::foreign::check;

const DEPLOY: &str = r#"try:
  let build = session "Build"
  session "Deploy"
    retry: 2
catch as problem:
  let plan = session "Plan for {problem.message}"
  session "Roll back"
finally:
  session "Clean up"
session "Report"
"#;

#[test]
fn r104_a_recovery_that_was_being_executed_goes_on() {
    let state = r#"try:
  let build = session "Build"                # --> bindings/build.md (complete)
  session "Deploy"                           # (failed: no route to host)
    retry: 2
catch as problem:
  let plan = session "Plan for {problem.message}"  # --> bindings/plan.md (complete)
  session "Roll back"                        # <-- EXECUTING
finally:
  session "Clean up"
"#;
    let files = [("build", "built"), ("plan", "planned")];
    check(
        DEPLOY,
        state,
        &files,
        expect![[r#"
        kept  Build: built
        failed Deploy: no route to host
        failed Deploy: no route to host
        failed Deploy: no route to host
        kept  Plan for no route to host: planned
        asked Roll back
        asked Clean up
        asked Report
    "#]],
    );
    // Nothing is said of the session that failed.
    let unmarked = state.replace("# (failed: no route to host)", "");
    check(
        DEPLOY,
        &unmarked,
        &files,
        expect![[r#"
        kept  Build: built
        failed Deploy: it failed in the run that stopped, and state.md does not say why
        failed Deploy: it failed in the run that stopped, and state.md does not say why
        failed Deploy: it failed in the run that stopped, and state.md does not say why
        kept  Plan for it failed in the run that stopped, and state.md does not say why: planned
        asked Roll back
        asked Clean up
        asked Report
    "#]],
    );
    let with_error = [("build", "built"), ("plan", "planned"), ("problem", "a message of its own")];
    check(
        DEPLOY,
        &unmarked,
        &with_error,
        expect![[r#"
        kept  Build: built
        failed Deploy: a message of its own
        failed Deploy: a message of its own
        failed Deploy: a message of its own
        kept  Plan for a message of its own: planned
        asked Roll back
        asked Clean up
        asked Report
    "#]],
    );
    // A file that it left when it failed does not make it succeed.
    let with_file = [("build", "built"), ("plan", "planned"), ("anon_001", "half of")];
    check(
        DEPLOY,
        &unmarked,
        &with_file,
        expect![[r#"
        kept  Build: built
        failed Deploy: it failed in the run that stopped, and state.md does not say why
        failed Deploy: it failed in the run that stopped, and state.md does not say why
        failed Deploy: it failed in the run that stopped, and state.md does not say why
        kept  Plan for it failed in the run that stopped, and state.md does not say why: planned
        asked Roll back
        asked Clean up
        asked Report
    "#]],
    );
}

#[test]
fn r104_a_recovery_that_has_ended_is_not_done_again() {
    let state = r#"try:  # (complete)
  let build = session "Build"                # --> bindings/build.md (complete)
  session "Deploy"                           # (failed: no route to host)
    retry: 2
catch as problem:
  let plan = session "Plan for {problem.message}"  # --> bindings/plan.md (complete)
  session "Roll back"                        # --> bindings/anon_002.md (complete)
finally:
  session "Clean up"                         # (complete)
session "Report"                             # <-- EXECUTING
"#;
    check(
        DEPLOY,
        state,
        &[("build", "built"), ("plan", "planned"), ("anon_002", "rolled back")],
        expect![[r#"
        kept  Build: built
        failed Deploy: no route to host
        failed Deploy: no route to host
        failed Deploy: no route to host
        kept  Plan for no route to host: planned
        kept  Roll back: rolled back
        kept  Clean up: (the result was not kept)
        asked Report
    "#]],
    );
}

#[test]
fn r104_a_try_that_did_not_fail_goes_on() {
    let state = r#"try:
  let build = session "Build"                # --> bindings/build.md (complete)
  session "Deploy"                           # <-- EXECUTING
    retry: 2
catch as problem:                            # [not yet entered]
  let plan = session "Plan for {problem.message}"
"#;
    check(
        DEPLOY,
        state,
        &[("build", "built"), ("plan", "stale")],
        expect![[r#"
        kept  Build: built
        asked Deploy
        asked Clean up
        asked Report
    "#]],
    );
    let state = r#"try:
  let build = session "Build"                # --> bindings/build.md (complete)
  session "Deploy"                           # (complete)
    retry: 2
catch as problem:
  let plan = session "Plan for {problem.message}"
  session "Roll back"
finally:
  session "Clean up"                         # <-- EXECUTING
"#;
    check(
        DEPLOY,
        state,
        &[("build", "built")],
        expect![[r#"
        kept  Build: built
        kept  Deploy: (the result was not kept)
        asked Clean up
        asked Report
    "#]],
    );
}

#[test]
fn r104_a_recovery_in_a_loop_is_that_of_the_recorded_iteration() {
    let program = "repeat 2:\n  try:\n    session \"Risk\"\n  catch:\n    session \"Recover\"\n";
    let state = "# Execution State\n\n## Execution Trace\n\n```prose\nrepeat 2:\n  try:\n    session \"Risk\"\n  catch:\n    session \"Recover\"  # <-- EXECUTING\n```\n\n\
        ## Active Constructs\n\n### Loop (lines 1-5)\n\n- iteration: 1/2\n";
    check(
        program,
        state,
        &[],
        expect![[r#"
        failed Risk: it failed in the run that stopped, and state.md does not say why
        asked Recover
        asked Risk
    "#]],
    );
}

#[test]
fn r104_what_a_block_failed_by_is_not_done_again() {
    let program = "block risk(what):\n  let first = session \"First of {what}\"\n  let second = session \"Second of {what}\"\n\
        try:\n  do risk(\"all\")\ncatch as e:\n  session \"Recover\"\nsession \"End\"\n";
    let state = "block risk(what):\n  let first = session \"First of {what}\"\n  let second = session \"Second of {what}\"\n\
        try:\n  do risk(\"all\")\ncatch as e:\n  session \"Recover\"  # <-- EXECUTING\n";
    check(
        program,
        state,
        &[("first__1", "one")],
        expect![[r#"
        kept  First of all: one
        failed Second of all: it failed in the run that stopped, and state.md does not say why
        asked Recover
        asked End
    "#]],
    );
}
