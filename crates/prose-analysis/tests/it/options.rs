//! Options in the parentheses of headers, and the values of loops.

use crate::support::{check, check_fixes_of, check_related_of};
use expect_test::expect;
use prose_syntax::Code;

#[test]
fn words_near_a_strategy_or_policy() {
    check(
        r#"
        parallel ("al"):
        #         ^^^^ error[E124] unknown strategy `al`; did you mean `"all"`?
          session "One"
          session "Two"
        parallel ("first", on-fail: "contine"):
        #                           ^^^^^^^^^ error[E125] unknown failure policy `contine`; did you mean `"continue"`?
          session "One"
          session "Two"
        parallel ("ignore"):
        #         ^^^^^^^^ error[E124] `"ignore"` is a failure policy; write `on-fail: "ignore"`
          session "One"
          session "Two"
        "#,
    );
}

#[test]
fn words_without_quotes() {
    check(
        r#"
        parallel (first, on-fail: ignore):
        #         ^^^^^ info[W131] `first` should be in quotes; without them it looks like a variable
        #                         ^^^^^^ info[W131] `ignore` should be in quotes; without them it looks like a variable
          session "One"
          session "Two"
        parallel (fastest):
        #         ^^^^^^^ error[E124] unknown strategy `fastest`; use `"all"`, `"first"` or `"any"`
          session "One"
          session "Two"
        "#,
    );
}

#[test]
fn a_count_needs_the_strategy_any() {
    check(
        r#"
        parallel ("any", count: 2):
          session "One"
          session "Two"
        parallel ("first", count: 2):
        #                  ^^^^^^^^ error[E126] `count` requires the strategy `"any"`, not `"first"`
          session "One"
          session "Two"
        parallel (on-fail: "ignore", count: 2):
        #                            ^^^^^^^^ error[E126] `count` requires the strategy `"any"`
          session "One"
          session "Two"
        parallel ("ayn", count: 2):
        #         ^^^^^ error[E124] unknown strategy `ayn`; did you mean `"any"`?
          session "One"
          session "Two"
        "#,
    );
}

#[test]
fn a_count_is_compared_with_what_is_known_of_the_branches() {
    check(
        r#"
        let wanted = 3
        parallel ("any", count: wanted):
          session "One"
        parallel ("any", count: 3):
          session "One"
          ...
        parallel ("any", count: 2):
        #                       ^ warning[W114] `count` is 2, but there is only 1 branch
          session "One"
        "#,
    );
}

#[test]
fn options_twice() {
    check(
        r#"
        loop until **all tests pass** (max: 3, max: 5):
        #                                      ^^^^^^ error[E135] option `max` is already given
          session "Try"
        parallel ("any", "all", count: 1):
        #                ^^^^^ error[E135] a strategy is already given
          session "One"
        "#,
    );
}

#[test]
fn options_that_are_not_known() {
    check(
        r#"
        loop until **all tests pass** (maximum: 3):
        #                              ^^^^^^^ warning[W128] `loop` has no option `maximum`; did you mean `max`?
          session "Try"
        loop until **all tests pass** (max_iterations: 3):
        #                              ^^^^^^^^^^^^^^ warning[W128] `loop` has no option `max_iterations`; did you mean `max`?
          session "Try"
        loop until **all tests pass** (count: 3):
        #                              ^^^^^ warning[W128] `count` is an option of `parallel` and has no effect on `loop`
          session "Try"
        parallel (on_fail: "ignore"):
        #         ^^^^^^^ warning[W128] `parallel` has no option `on_fail`; did you mean `on-fail`?
          session "One"
        parallel (strategy: "any", count: 1):
        #         ^^^^^^^^ warning[W128] a strategy takes no name: `parallel ("first"):`
          session "One"
        parallel (speed: "high"):
        #         ^^^^^ warning[W128] `parallel` has no option `speed`; it has `on-fail` and `count`
          session "One"
        block dig(depth) (max: 5):
        #                 ^^^ warning[W128] `block` has no option `max`; did you mean `max_depth`?
          if depth < 3:
            do dig(depth + 1)
        do dig(1)
        "#,
    );
}

#[test]
fn options_without_a_name() {
    check(
        r#"
        loop ("first"):
        #     ^^^^^^^ warning[W128] an option of `loop` needs a name, as in `max: 5`
          session "Try"
        block dig(depth) (deep):
        #                 ^^^^ warning[W128] an option of `block` needs a name, as in `max_depth: 5`
          if depth < 3:
            do dig(depth + 1)
        do dig(1)
        "#,
    );
}

#[test]
fn values_of_the_wrong_kind() {
    check(
        r#"
        loop until **all tests pass** (max: "three"):
        #                                   ^^^^^^^ error[E137] `max` must be a whole number, such as `max: 5`
          session "Try"
        loop until **all tests pass** (max: "3"):
        #                                   ^^^ error[E137] `max` must be a whole number, such as `max: 5`
          session "Try"
        parallel (on-fail: true):
        #                  ^^^^ error[E137] `on-fail` must be `"fail-fast"`, `"continue"` or `"ignore"`
          session "One"
        repeat "3":
        #      ^^^ error[E137] the count of `repeat` must be a whole number, such as `repeat 3:`
          session "Try"
        repeat true:
        #      ^^^^ error[E137] the count of `repeat` must be a whole number, such as `repeat 3:`
          session "Try"
        for item in 3:
        #           ^ error[E137] a number is not a collection; use an array such as `["a", "b"]`, or a variable
          session "Try {item}"
        output true | map:
        #      ^^^^ error[E137] a Boolean is not a collection; use an array such as `["a", "b"]`, or a variable
          session "Try {item}"
        "#,
    );
}

#[test]
fn a_bound_may_be_a_variable() {
    check(
        r#"
        input most: "How often to try"
        loop until **all tests pass** (max: most):
          session "Try"
        loop until **all tests pass** (max: mots):
        #                                   ^^^^ error[E119] variable `mots` is not defined; did you mean `most`?
          session "Try"
        "#,
    );
}

#[test]
fn what_the_parser_reports_of_a_number_is_not_reported_again() {
    check(
        r#"
        loop until **all tests pass** (max: -1):
        #                                   ^^ error[E112] `max` must be at least 1
          session "Try"
        parallel ("any", count: 2.5):
        #                       ^^^ error[E112] `count` must be a whole number
          session "One"
        "#,
    );
}

#[test]
fn a_strategy_is_changed() {
    check_fixes_of(
        Code::E124,
        r#"
        parallel (frist):
          session "One"
        "#,
        expect![[r#"
            Change to `"first"` (guess)
            | parallel ("first"):
        "#]],
    );
}

#[test]
fn a_policy_is_named() {
    check_fixes_of(
        Code::E124,
        r#"
        parallel ("ignore"):
          session "One"
        "#,
        expect![[r#"
            Name it `on-fail` (guess)
            | parallel (on-fail: "ignore"):
        "#]],
    );
}

#[test]
fn a_policy_is_changed() {
    check_fixes_of(
        Code::E125,
        r#"
        parallel (on-fail: "contine"):
          session "One"
        "#,
        expect![[r#"
            Change to `"continue"` (guess)
            | parallel (on-fail: "continue"):
        "#]],
    );
}

#[test]
fn a_count_gets_its_strategy() {
    check_fixes_of(
        Code::E126,
        r#"
        parallel (count: 1):
          session "One"
        "#,
        expect![[r#"
            Add the strategy `"any"` (guess)
            | parallel ("any", count: 1):
        "#]],
    );
}

#[test]
fn a_strategy_gives_way_to_a_count() {
    check_fixes_of(
        Code::E126,
        r#"
        parallel ("first", count: 1):
          session "One"
        "#,
        expect![[r#"
            Change the strategy to `"any"` (guess)
            | parallel ("any", count: 1):
            Remove the option (guess)
            | parallel ("first"):
        "#]],
    );
}

#[test]
fn a_second_option_is_removed() {
    check_fixes_of(
        Code::E135,
        r#"
        loop (max: 3, max: 5):
          session "Try"
        "#,
        expect![[r#"
            Remove the option (guess)
            | loop (max: 3):
        "#]],
    );
}

#[test]
fn the_first_option_is_shown() {
    check_related_of(
        Code::E135,
        r#"
        loop (max: 3, max: 5):
          session "Try"
        "#,
        expect![[r#"
            /main.prose:1 `max`: first given here
        "#]],
    );
}

#[test]
fn an_option_is_changed() {
    check_fixes_of(
        Code::W128,
        r#"
        loop (max_iterations: 3):
          session "Try"
        "#,
        expect![[r#"
            Change to `max` (guess)
            | loop (max: 3):
        "#]],
    );
}

#[test]
fn a_strategy_loses_its_name() {
    check_fixes_of(
        Code::W128,
        r#"
        parallel (strategy: "any"):
          session "One"
        "#,
        expect![[r#"
            Remove the name (guess)
            | parallel ("any"):
        "#]],
    );
}

#[test]
fn a_count_is_lowered() {
    check_fixes_of(
        Code::W114,
        r#"
        parallel ("any", count: 2):
          session "One"
        "#,
        expect![[r#"
            Change to `1` (guess)
            | parallel ("any", count: 1):
        "#]],
    );
}

#[test]
fn a_word_gets_its_quotes() {
    check_fixes_of(
        Code::W131,
        r#"
        parallel (first):
          session "One"
        "#,
        expect![[r#"
            Put it in quotes (safe)
            | parallel ("first"):
        "#]],
    );
}

#[test]
fn a_number_loses_its_quotes() {
    check_fixes_of(
        Code::E137,
        r#"
        repeat "3":
          session "Try"
        "#,
        expect![[r#"
            Remove the quotes (safe)
            | repeat 3:
        "#]],
    );
}
