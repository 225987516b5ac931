//! Loops and pipelines.

use crate::support::check_rule;

/// A loop that is right.
const LOOP: &str = r#"
        loop until **all tests pass** (max: 5):
          session "Try"
        "#;

/// Repeat and for: Repeat count must be positive. E112
#[test]
fn fixed_loops_repeat_count_must_be_positive() {
    check_rule(
        r#"
        repeat 0:
        #      ^ error[E112] the count of `repeat` must be at least 1
          session "Try"
        "#,
        r#"
        repeat 1:
          session "Try"
        "#,
    );
}

/// Repeat and for: Repeat count must be integer. E112
#[test]
fn fixed_loops_repeat_count_must_be_integer() {
    check_rule(
        r#"
        repeat 1.5:
        #      ^^^ error[E112] the count of `repeat` must be a whole number
          session "Try"
        "#,
        r#"
        repeat 2:
          session "Try"
        "#,
    );
}

/// Repeat and for: Undefined collection variable. E119
#[test]
fn fixed_loops_undefined_collection_variable() {
    check_rule(
        r#"
        for place in places:
        #            ^^^^^^ error[E119] variable `places` is not defined
          session "Search {place}"
        "#,
        r#"
        let places = ["attic", "cellar"]
        for place in places:
          session "Search {place}"
        "#,
    );
}

/// Repeat and for: Loop variable shadows outer. W106
#[test]
fn fixed_loops_loop_variable_shadows_outer() {
    check_rule(
        r#"
        let place = session "Choose a place"
        for place in [place, "cellar"]:
        #   ^^^^^ warning[W106] `place` shadows a variable of the same name
          session "Search {place}"
        "#,
        r#"
        let chosen = session "Choose a place"
        for place in [chosen, "cellar"]:
          session "Search {place}"
        "#,
    );
}

/// Loop: Loop without max or condition. W113
#[test]
fn unbounded_loops_loop_without_max_or_condition() {
    check_rule(
        r#"
        loop:
        #<^^^^ warning[W113] unbounded loop; add a condition, `max`, `break` or `return`
          session "Try"
        "#,
        r#"
        loop (max: 5):
          session "Try"
        "#,
    );
}

/// Loop: Max iterations <= 0. E112
#[test]
fn unbounded_loops_max_iterations_less_or_equal_0() {
    check_rule(
        r#"
        loop until **all tests pass** (max: 0):
        #                                   ^ error[E112] `max` must be at least 1
          session "Try"
        "#,
        LOOP,
    );
}

/// Loop: Max iterations not integer. E112
#[test]
fn unbounded_loops_max_iterations_not_integer() {
    check_rule(
        r#"
        loop until **all tests pass** (max: 2.5):
        #                                   ^^^ error[E112] `max` must be a whole number
          session "Try"
        "#,
        LOOP,
    );
}

/// Loop: Empty discretion condition. E129
#[test]
fn unbounded_loops_empty_discretion_condition() {
    check_rule(
        r#"
        loop until **** (max: 5):
        #          ^^^^ error[E129] the condition is empty
          session "Try"
        "#,
        LOOP,
    );
}

/// Loop: Very short condition. W104
#[test]
fn unbounded_loops_very_short_condition() {
    check_rule(
        r#"
        loop until **ok** (max: 5):
        #          ^^^^^^ warning[W104] condition `ok` is too short; write a sentence that the model can judge
          session "Try"
        "#,
        LOOP,
    );
}

/// Loop: Loop variable shadows outer. W106
#[test]
fn unbounded_loops_loop_variable_shadows_outer() {
    check_rule(
        r#"
        let i = session "Choose a number"
        loop until **all tests pass** (max: 5) as i:
        #                                         ^ warning[W106] `i` shadows a variable of the same name
          session "Try {i}"
        output i
        "#,
        r#"
        let n = session "Choose a number"
        loop until **all tests pass** (max: 5) as i:
          session "Try {i}"
        output n
        "#,
    );
}

/// Pipelines: Undefined input collection. E119
#[test]
fn pipelines_undefined_input_collection() {
    check_rule(
        r#"
        output places | map:
        #      ^^^^^^ error[E119] variable `places` is not defined
          session "Search {item}"
        "#,
        r#"
        let places = ["attic", "cellar"]
        output places | map:
          session "Search {item}"
        "#,
    );
}

/// Pipelines: Invalid pipe operator. E116
#[test]
fn pipelines_invalid_pipe_operator() {
    check_rule(
        r#"
        output ["attic", "cellar"] | each:
        #                            ^^^^ error[E116] expected `map:`, `filter:`, `pmap:` or `reduce(total, item):` after `|`
          session "Search {item}"
        "#,
        r#"
        output ["attic", "cellar"] | map:
          session "Search {item}"
        "#,
    );
}

/// Pipelines: Reduce without variables. E116
#[test]
fn pipelines_reduce_without_variables() {
    check_rule(
        r#"
        output ["attic", "cellar"] | reduce:
        #                                  ^ error[E116] `reduce` takes two names: `reduce(total, item):`
          session "Search"
        "#,
        r#"
        output ["attic", "cellar"] | reduce(found, place):
          session "Search {place}, beside {found}"
        "#,
    );
}

/// Pipelines: Pipeline variable shadows outer (implicit). W106
#[test]
fn pipelines_pipeline_variable_shadows_outer_implicit() {
    check_rule(
        r#"
        let item = session "Choose"
        output [item, "cellar"] | map:
        #                         ^^^ warning[W106] `item` shadows a variable of the same name
          session "Search {item}"
        "#,
        r#"
        let chosen = session "Choose"
        output [chosen, "cellar"] | map:
          session "Search {item}"
        "#,
    );
}

/// Pipelines: Pipeline variable shadows outer (explicit). W106
#[test]
fn pipelines_pipeline_variable_shadows_outer_explicit() {
    check_rule(
        r#"
        let place = session "Choose"
        output [place, "cellar"] | reduce(found, place):
        #                                        ^^^^^ warning[W106] `place` shadows a variable of the same name
          session "Search {place}, beside {found}"
        "#,
        r#"
        let chosen = session "Choose"
        output [chosen, "cellar"] | reduce(found, place):
          session "Search {place}, beside {found}"
        "#,
    );
}
