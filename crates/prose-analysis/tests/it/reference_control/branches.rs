//! Parallel branches, errors, choices and conditions.

use crate::support::check_rule;

/// A choice that is right.
const CHOICE: &str = r#"
        choice **which is best**:
          option "one":
            session "One"
          option "two":
            session "Two"
        "#;

/// An `if` that is right.
const IF: &str = r#"
        if **the tests pass**:
          session "One"
        elif **the tests are slow**:
          session "Two"
        else:
          session "Three"
        "#;

/// Parallel: Invalid join strategy. E124
#[test]
fn parallel_invalid_join_strategy() {
    check_rule(
        r#"
        parallel ("fastest"):
        #         ^^^^^^^^^ error[E124] unknown strategy `fastest`
          session "One"
          session "Two"
        "#,
        r#"
        parallel ("first"):
          session "One"
          session "Two"
        "#,
    );
}

/// Parallel: Invalid on-fail policy. E125
#[test]
fn parallel_invalid_on_fail_policy() {
    check_rule(
        r#"
        parallel (on-fail: "stop"):
        #                  ^^^^^^ error[E125] unknown failure policy `stop`
          session "One"
          session "Two"
        "#,
        r#"
        parallel (on-fail: "continue"):
          session "One"
          session "Two"
        "#,
    );
}

/// Parallel: Count without "any". E126
#[test]
fn parallel_count_without_any() {
    check_rule(
        r#"
        parallel (count: 2):
        #         ^^^^^^^^ error[E126] `count` requires the strategy `"any"`
          session "One"
          session "Two"
        "#,
        r#"
        parallel ("any", count: 2):
          session "One"
          session "Two"
        "#,
    );
}

/// Parallel: Count less than 1. E112
#[test]
fn parallel_count_less_than_1() {
    check_rule(
        r#"
        parallel ("any", count: 0):
        #                       ^ error[E112] `count` must be at least 1
          session "One"
          session "Two"
        "#,
        r#"
        parallel ("any", count: 1):
          session "One"
          session "Two"
        "#,
    );
}

/// Parallel: Count exceeds branches. W114
#[test]
fn parallel_count_exceeds_branches() {
    check_rule(
        r#"
        parallel ("any", count: 3):
        #                       ^ warning[W114] `count` is 3, but there are only 2 branches
          session "One"
          session "Two"
        "#,
        r#"
        parallel ("any", count: 1):
          session "One"
          session "Two"
        "#,
    );
}

/// Parallel: Duplicate variable in parallel. E127
#[test]
fn parallel_duplicate_variable_in_parallel() {
    check_rule(
        r#"
        parallel:
          a = session "One"
          a = session "Two"
        # ^ error[E127] duplicate branch name `a`; one result would be lost
        output a
        "#,
        r#"
        parallel:
          a = session "One"
          b = session "Two"
        output [a, b]
        "#,
    );
}

/// Parallel: Duplicate variable in parallel (bound elsewhere). E127
#[test]
fn parallel_duplicate_variable_in_parallel_bound_elsewhere() {
    check_rule(
        r#"
        let a = session "Zero"
        parallel:
          a = session "One"
        # ^ error[E127] `a` is also bound elsewhere in the program
          b = session "Two"
        output [a, b]
        "#,
        r#"
        parallel:
          a = session "One"
          b = session "Two"
        output [a, b]
        "#,
    );
}

/// Parallel: Variable conflicts with agent. E122
#[test]
fn parallel_variable_conflicts_with_agent() {
    check_rule(
        r#"
        agent writer:
          prompt: "Write"

        parallel:
          writer = session: writer
        # ^^^^^^ error[E122] `writer` is also the name of an agent
          other = session "Two"
        output [writer, other]
        "#,
        r#"
        agent writer:
          prompt: "Write"

        parallel:
          text = session: writer
          other = session "Two"
        output [text, other]
        "#,
    );
}

/// Parallel: Undefined variable in object context. E119
#[test]
fn parallel_undefined_variable_in_object_context() {
    check_rule(
        r#"
        parallel:
          a = session "One"
          b = session "Two"
        session "Compare"
          context: { a, b, c }
        #                  ^ error[E119] variable `c` is not defined
        "#,
        r#"
        parallel:
          a = session "One"
          b = session "Two"
        session "Compare"
          context: { a, b }
        "#,
    );
}

/// Try, throw and retry: Try without catch or finally. E105
#[test]
fn errors_try_without_catch_or_finally() {
    check_rule(
        r#"
        try:
        #<^^^ error[E105] `try` needs a `catch:` or a `finally:`
          session "Deploy"
        "#,
        r#"
        try:
          session "Deploy"
        finally:
          session "Clean up"
        "#,
    );
}

/// Try, throw and retry: Error variable shadows outer. W106
#[test]
fn errors_error_variable_shadows_outer() {
    check_rule(
        r#"
        let reason = session "Guess what may go wrong"
        try:
          session "Deploy"
        catch as reason:
        #        ^^^^^^ warning[W106] `reason` shadows a variable of the same name
          session "Explain {reason}"
        output reason
        "#,
        r#"
        let guess = session "Guess what may go wrong"
        try:
          session "Deploy"
        catch as reason:
          session "Explain {reason}"
        output guess
        "#,
    );
}

/// Try, throw and retry: Empty throw message. W111
#[test]
fn errors_empty_throw_message() {
    check_rule(
        r#"
        if **the tests fail**:
          throw ""
        #       ^^ warning[W111] the message is empty
        "#,
        r#"
        if **the tests fail**:
          throw "The tests fail"
        "#,
    );
}

/// Try, throw and retry: Non-positive retry count. E112
#[test]
fn errors_non_positive_retry_count() {
    check_rule(
        r#"
        session "Deploy"
          retry: 0
        #        ^ error[E112] `retry` must be at least 1
        "#,
        r#"
        session "Deploy"
          retry: 3
        "#,
    );
}

/// Try, throw and retry: Non-integer retry count. E112
#[test]
fn errors_non_integer_retry_count() {
    check_rule(
        r#"
        session "Deploy"
          retry: 1.5
        #        ^^^ error[E112] `retry` must be a whole number
        "#,
        r#"
        session "Deploy"
          retry: 3
        "#,
    );
}

/// Choice: Choice without options. E131
#[test]
fn choices_choice_without_options() {
    check_rule(
        r#"
        choice **which is best**:
        #<^^^^^^ error[E131] `choice` has no options; add one with `option "label":`
        "#,
        CHOICE,
    );
}

/// Choice: Empty criteria. E129
#[test]
fn choices_empty_criteria() {
    check_rule(
        r#"
        choice ****:
        #      ^^^^ error[E129] the criterion is empty
          option "one":
            session "One"
          option "two":
            session "Two"
        "#,
        CHOICE,
    );
}

/// Choice: Duplicate option labels. W112
#[test]
fn choices_duplicate_option_labels() {
    check_rule(
        r#"
        choice **which is best**:
          option "one":
            session "One"
          option "one":
        #        ^^^^^ warning[W112] duplicate label `one`; the model cannot distinguish the options
            session "Two"
        "#,
        CHOICE,
    );
}

/// Choice: Empty option body. W101
#[test]
fn choices_empty_option_body() {
    check_rule(
        r#"
        choice **which is best**:
          option "one":
            session "One"
          option "two":
        # ^^^^^^ warning[W101] `option` has an empty body
        "#,
        CHOICE,
    );
}

/// If: Empty condition. E129
#[test]
fn conditions_empty_condition() {
    check_rule(
        r#"
        if ****:
        #  ^^^^ error[E129] the condition is empty
          session "One"
        elif ****:
        #    ^^^^ error[E129] the condition is empty
          session "Two"
        "#,
        IF,
    );
}

/// If: Elif without if. E104
#[test]
fn conditions_elif_without_if() {
    check_rule(
        r#"
        session "One"
        elif **the tests pass**:
        #<^^^^ error[E104] `elif` has no matching `if` above it at this indentation
          session "Two"
        "#,
        IF,
    );
}

/// If: Else without if. E104
#[test]
fn conditions_else_without_if() {
    check_rule(
        r#"
        session "One"
        else:
        #<^^^^ error[E104] `else` has no matching `if` above it at this indentation
          session "Two"
        "#,
        IF,
    );
}

/// If: Multiple else. E104
#[test]
fn conditions_multiple_else() {
    check_rule(
        r#"
        if **the tests pass**:
          session "One"
        else:
          session "Two"
        else:
        #<^^^^ error[E104] this `if` already has an `else`
          session "Three"
        "#,
        IF,
    );
}

/// If: Empty body. W101
#[test]
fn conditions_empty_body() {
    check_rule(
        r#"
        if **the tests pass**:
        #<^^ warning[W101] `if` has an empty body
        else:
          session "Two"
        "#,
        IF,
    );
}
