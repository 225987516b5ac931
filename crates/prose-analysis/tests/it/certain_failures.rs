//! What every run would fail by is an error.

use crate::support::{check, fixes};
use expect_test::expect;
use prose_syntax::Code;

#[test]
fn nothing_but_programs_is_called() {
    check(
        r#"
        let items = ["a", "b"]
        print(items)
        #<^^^^^ error[E025] function `print` is not defined; only imported programs can be called
        let count = len(items)
        #           ^^^ error[E025] function `len` is not defined; only imported programs can be called
        output count
        "#,
    );
}

#[test]
fn a_call_that_a_run_may_not_come_to_is_a_warning() {
    check(
        r#"
        input items: "What to look at"
        if **there are many**:
          print(items)
        # ^^^^^ warning[E025]
        for item in items:
          show(item)
        # ^^^^ warning[E025]
        try:
          show(items)
        # ^^^^ warning[E025]
        catch:
          session "Say that it failed"
        "#,
    );
    check(
        r#"
        input items: "What to look at"
        if **there is nothing to do**:
          output "nothing"
        show(items)
        #<^^^^ warning[E025]
        "#,
    );
    // Programs that work call what their hosts have.
    check(
        r#"
        let key = env("KEY")
        #         ^^^ warning[E025]
        let page = http.get("https://example.com")
        #          ^^^^ warning[E025]
        output [key, page]
        "#,
    );
}

#[test]
fn what_a_surely_called_block_calls_is_called_for_sure() {
    check(
        r#"
        block outer:
          do inner
        block inner:
          greet()
        # ^^^^^ error[E025]
        block other:
          greet()
        # ^^^^^ warning[E025]
        do outer
        if **there is time**:
          do other
        "#,
    );
}

#[test]
fn a_block_is_called_with_do() {
    let program = r#"
        block greet(name):
          session "Say hello to {name}"
        let greeting = greet("Ann")
        #              ^^^^^ error[E025] `greet` is a block; call it with `do greet(…)`
        output greeting
        "#;
    check(program);
    let program = r#"
        block greet:
          session "Say hello"
        greet
        #<^^^^^ error[E107] `greet` is a block; call it with `do greet`
        "#;
    check(program);
    expect![[r#"
        Call the block with `do greet` (guess)
        | do greet
    "#]]
    .assert_eq(&fixes(program, Code::E107));
}

#[test]
fn a_property_one_letter_off_is_an_error() {
    check(
        r#"
        agent writer:
          promt: "Write"
        # ^^^^^ error[E149] unknown property `promt`; did you mean `prompt`?
        session: writer
          modle: opus
        # ^^^^^ error[E149]
          retries: 2
        # ^^^^^^^ warning[W005]
        if **it is late**:
          session "Say good night"
            modell: haiku
        #   ^^^^^^ warning[E149]
        "#,
    );
}

#[test]
fn nothing_is_read_before_it_is_bound() {
    check(
        r#"
        session "Sum up"
          context: findings
        #          ^^^^^^^^ error[E150] is bound only later, so it is empty here
        let findings = session "Research"
        let count = count + 1
        #           ^^^^^ error[E150] is bound by this statement itself, so it is empty here
        repeat 3:
          let rounds = rounds + 1
        #              ^^^^^^ error[E150] is bound by this statement itself, so it is empty here
          session "Round {rounds}"
        output [findings, count]
        "#,
    );
    check(
        r#"
        block study:
          session "Sum up"
            context: notes
        #            ^^^^^ error[E150] `notes` is bound only later, so it is empty here
          let notes = session "Take notes"
        do study
        "#,
    );
}

/// The error is what keeps the program from running, wherever it stands.
#[test]
fn an_early_read_is_reported_once_and_as_an_error_if_one_is() {
    check(
        r#"
        session "Sum up {notes}"
        session "Sum up again"
          context: notes
        #          ^^^^^ error[E150]
        let notes = session "Take notes"
        "#,
    );
}

#[test]
fn a_block_reads_what_is_bound_before_its_first_call() {
    check(
        r#"
        block sum_up:
          session "Sum up"
            context: notes
        #            ^^^^^ error[E150] `notes` is bound only later, so it is empty here
        let notes = do sum_up
        output notes
        "#,
    );
    check(
        r#"
        block sum_up:
          session "Sum up"
            context: notes
        input topic: "What to take notes of"
        let notes = session "Take notes of {topic}"
        do sum_up
        "#,
    );
}

#[test]
fn what_an_earlier_round_or_call_may_have_bound_is_no_error() {
    check(
        r#"
        repeat 3 as round:
          if round > 0:
            session "Go on"
              context: notes
          let notes = session "Take notes"
        "#,
    );
    check(
        r#"
        block study(depth):
          if depth > 0:
            session "Go on"
              context: notes
          let notes = session "Take notes"
        do study(0)
        do study(1)
        "#,
    );
    // A text keeps the braces of what is empty.
    check(
        r#"
        session "Sum up {findings}"
        #                ^^^^^^^^ warning[W125]
        let findings = session "Research"
        output findings
        "#,
    );
}

#[test]
fn braces_of_other_languages_leave_a_part_in_the_text() {
    let program = r#"
        input name: "Who is greeted"
        session "Say hello to ${name}"
        #                     ^^^^^^^ warning[W149] the rest of `${name}` stays in the text
        session """
          Say hello to {{name}}.
        """
        session "Say hello to {{ name }}"
        #                     ^^^^^^^^^^ warning[W149]
        "#;
    // The third stands in a text of several lines, where no mark can stand below it.
    let program = program.replace("{{name}}", "{name}");
    check(&program);
    expect![[r#"
        Change to `{name}` (guess)
        | session "Say hello to {name}"
    "#]]
    .assert_eq(&fixes(&program, Code::W149));
    expect![[r#"
        Change to `{name}` (guess)
        |   Say hello to {name}.
    "#]]
    .assert_eq(&fixes("input name: \"Who\"\nsession \"\"\"\n  Say hello to {{name}}.\n\"\"\"\n", Code::W149));
    check(
        r#"
        input price: "What it costs"
        input name: "What it is"
        session "Say that {name} costs ${price}, and how to write \{{name}\}"
        session """
          Keep ${HOME} and {{other}} as they are, and fill in {name}.
        """
        session "é{name}é, 中{name}中 and 😀{name}😀"
        "#,
    );
}

#[test]
fn a_backoff_is_no_number() {
    let program = r#"
        session "Fetch the report"
          retry: 3
          backoff: 1000
        #          ^^^^ error[E130] `run.backoff-ms`
        "#;
    check(program);
    expect![[r#"
        Change to `linear` (guess)
        |   backoff: linear
    "#]]
    .assert_eq(&fixes(program, Code::E130));
}
