//! Sessions whose prompt refers to what they are not given (W148).

use crate::support::{check, fixes, related};
use expect_test::{Expect, expect};
use prose_syntax::Code;

/// What the fix makes of a program.
#[track_caller]
fn check_fix(program: &str, expected: Expect) {
    expected.assert_eq(&fixes(program, Code::W148));
}

#[test]
fn earlier_work_is_not_passed_on_by_itself() {
    check(
        r#"
        session "Research the history of tides"
        session "Summarize your research"
        #                  ^^^^^^^^^^^^^ warning[W148] the prompt refers to `your research`, but the session has no `context:`
        "#,
    );
    check(
        r#"
        agent writer:
          prompt: "You write"
        let draft = session: writer
          prompt: "Write about tides"
        session: writer
          prompt: "Shorten the draft"
        #                  ^^^^^^^^^ warning[W148]
        output draft
        "#,
    );
}

#[test]
fn a_variable_is_called_by_its_name() {
    let program = r#"
        input topic: "What to write about"
        const market_notes = session "Collect facts about {topic}"
        session "Look for gaps in the market notes"
        #                         ^^^^^^^^^^^^^^^^ warning[W148]
        output market_notes
        "#;
    check(program);
    expect!["/main.prose:2 `market_notes`: `market_notes` is bound here\n"]
        .assert_eq(&related(program, Code::W148));
    check_fix(
        program,
        expect![[r#"
            Pass `market_notes` (guess)
            |   context: market_notes
        "#]],
    );
    // The first session can mean an input, too.
    check_fix(
        "input topic: \"What to look at\"\nsession \"Research the topic\" # Thoroughly.\n",
        expect![[r#"
            Pass `topic` (guess)
            |   context: topic
        "#]],
    );
}

#[test]
fn several_results_are_passed_together() {
    check_fix(
        r#"
        parallel:
          security = session "Look for ways to abuse it"
          speed = session "Look for work that is done twice"
        session "Combine both reviews into one list"
        "#,
        expect![[r#"
            Pass `security`, `speed` (guess)
            |   context: { security, speed }
        "#]],
    );
    check_fix(
        "session \"List arguments for it\"\nsession \"List arguments against it\"\nsession \"Weigh these\"\n",
        expect![[r#"
            Keep the result as `result1`, `result2` and pass it (guess)
            | let result1 = session "List arguments for it"
            | let result2 = session "List arguments against it"
            | session "Weigh these"
            |   context: { result1, result2 }
        "#]],
    );
}

#[test]
fn the_last_result_gets_a_name() {
    check_fix(
        "let result = 3\nsession \"Research tides\"\nsession \"Summarize your research\"\n  model: haiku\noutput result\n",
        expect![[r#"
            Keep the result as `result_2` and pass it (guess)
            | let result_2 = session "Research tides"
            | session "Summarize your research"
            |   model: haiku
            |   context: result_2
        "#]],
    );
    check_fix(
        r#"
        block study(topic):
          session "Research {topic}"
          output session "Summarize the findings"
        do study("tides")
        "#,
        expect![[r#"
            Keep the result as `result` and pass it (guess)
            |   let result = session "Research {topic}"
            |   output session "Summarize the findings"
            |     context: result
        "#]],
    );
}

#[test]
fn what_is_passed_something_is_left_alone() {
    check(
        r#"
        input topic: "What to research"
        agent writer:
          persist: true
          prompt: "You write"
        agent editor:
          prompt: "You edit texts about {topic}"
        let research = session "Research {topic}"
        session "Summarize your research"
          context: research
        session "Summarize the research on purpose without it"
          context: []
        session "Summarize your research about {topic}"
        session: writer
          prompt: "Improve the draft"
        resume: writer
          prompt: "Improve the draft again"
        session: editor
          prompt: "Improve the draft"
        "#,
    );
}

#[test]
fn nothing_comes_before_the_first_session() {
    check(
        r#"
        session "Summarize the findings"
        "#,
    );
    check(
        r#"
        block review:
          session "Improve the draft"
        do review
        "#,
    );
}

#[test]
fn branches_do_not_see_each_other() {
    check(
        r#"
        parallel:
          session "Write a report"
          session "Check the report"
        "#,
    );
    check(
        r#"
        if **there is a draft**:
          session "Research tides"
        else:
          session "Improve the draft"
        "#,
    );
}

#[test]
fn items_are_called_by_their_names() {
    check(
        r#"
        input files: "What to look at"
        for file in files:
          session "Summarize this file"
        #                    ^^^^^^^^^ warning[W148]
        for file in files:
          session "Summarize {file}"
        "#,
    );
}
