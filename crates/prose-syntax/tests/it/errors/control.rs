//! Loops, conditions, choices, clauses and jumps.

use expect_test::expect;

use crate::shown::check;

#[test]
fn clauses() {
    check(expect![[r#"
        else:
        ^^^^ error[E104] `else` has no matching `if` above it at this indentation
          session "x"
        if **a**:
          session "x"
        else:
          session "x"
        else:
        ^^^^ error[E104] this `if` already has an `else`
          session "y"
        elif **b**:
        ^^^^ error[E104] `elif` must come before `else`
          session "z"
        catch as e:
          session "x"
        option "x":
        ^^^^^^ error[E104] `option` outside of a `choice`
          session "y"
        try:
        ^^^ error[E105] `try` needs a `catch:` or a `finally:`
          session "x"
        session "y"
    "#]]);
}

#[test]
fn a_colon_before_the_name_of_an_index_makes_no_option_of_it() {
    check(expect![[r#"
        loop until **a** as: turn:
                           ^ error[E005] expected a name after `as`
          session "x"
        loop as: turn
               ^ error[E005] expected a name after `as`
          session "x"
    "#]]);
}

#[test]
fn finally_is_the_last_clause_of_a_try() {
    check(expect![[r#"
        try:
          session "x"
        finally:
          session "clean up"
        catch as e:
        ^^^^^ error[E104] `catch` must come before `finally`
          session "y"
        try:
          session "x"
        finally:
          session "clean up"
        finally:
        ^^^^^^^ error[E104] this `try` already has a `finally`
          session "clean up again"
        try:
          session "x"
        finaly:
        ^^^^^^ error[E107] unknown statement `finaly`; did you mean `finally`?
        fix: Change to `finally` => "finally:"
          session "clean up"
        catch:
          session "y"
    "#]]);
}

#[test]
fn choices() {
    check(expect![[r#"
        choice **a**:
          option x y:
                 ^^^ error[E005] the label of an option must be in quotes
                 fix: Put the label in quotes => "  option \"x y\":"
            session "x"
          option :
                 ^ error[E005] expected a label: `option "label":`
            session "x"
          session "y"
          ^^^^^^^ warning[W102] only options are allowed in a `choice`; put this under an `option "label":`
        choice:
              ^ error[E005] expected a condition, such as `**the tests pass**`
          option "x":
            session "x"
    "#]]);
}

#[test]
fn conditions_without_markers() {
    check(expect![[r#"
        if the tests pass:
           ^^^^^^^^^^^^^^ error[E113] a condition in words must be between `**` markers
           fix: Put the condition between `**` => "if **the tests pass**:"
          session "x"
        elif tests pass?:
             ^^^^^^^^^^^ error[E113] a condition in words must be between `**` markers
             fix: Put the condition between `**` => "elif **tests pass?**:"
          session "x"
        loop until it works (max: 3):
                   ^^^^^^^^ error[E113] a condition in words must be between `**` markers
                   fix: Put the condition between `**` => "loop until **it works** (max: 3):"
          session "x"
        choice the best one:
               ^^^^^^^^^^^^ error[E113] a condition in words must be between `**` markers
               fix: Put the condition between `**` => "choice **the best one**:"
          option "a":
            session "x"
        loop **done**:
            ^ error[E005] expected `until` or `while` before the condition of a loop
            guess: Insert `until` => "loop until **done**:"
          session "x"
    "#]]);
}

#[test]
fn numbers_out_of_range() {
    check(expect![[r#"
        repeat 0:
               ^ error[E112] the count of `repeat` must be at least 1
               guess: Change to `1` => "repeat 1:"
          session "x"
        repeat 1.5:
               ^^^ error[E112] the count of `repeat` must be a whole number
               guess: Change to `1` => "repeat 1:"
          session "x"
        loop until **a** (max: -1):
                               ^^ error[E112] `max` must be at least 1
                               guess: Change to `1` => "loop until **a** (max: 1):"
          session "x"
        session "x"
          retry: 0
                 ^ error[E112] `retry` must be at least 1
                 guess: Change to `1` => "  retry: 1"
        parallel ("any", count: 0):
                                ^ error[E112] `count` must be at least 1
                                guess: Change to `1` => "parallel (\"any\", count: 1):"
          session "x"
    "#]]);
}

#[test]
fn pipelines() {
    check(expect![[r#"
        xs | mapp: session "x"
             ^^^^ error[E116] unknown pipeline operator `mapp`; did you mean `map`?
             fix: Change to `map` => "xs | map: session \"x\""
        xs | each:
             ^^^^ error[E116] expected `map:`, `filter:`, `pmap:` or `reduce(total, item):` after `|`
          session "x"
        xs | reduce: session "x"
                   ^ error[E116] `reduce` takes two names: `reduce(total, item):`
        xs | reduce(a): session "x"
                     ^ error[E116] `reduce` takes two names: `reduce(total, item):`
        | map: session "x"
        -> session "x"
        session "a" -> "b"
                       ^^^ error[E005] expected `session` or `resume` after `->`, as in `session "a" -> session "b"`
    "#]]);
}

#[test]
fn jumps_outside_of_loops() {
    check(expect![[r#"
        break
        ^^^^^ error[E114] `break` outside of a loop
        guess: Remove `break` => ""
        repeat 2:
          if **a**:
            break
        block f:
          continue
          ^^^^^^^^ error[E114] `continue` outside of a loop
          guess: Remove `continue` => "  "
        loop:
          block g:
            break
            ^^^^^ error[E114] `break` outside of a loop
            guess: Remove `break` => "    "
    "#]]);
}

#[test]
fn a_handler_on_the_line_of_its_try() {
    check(expect![[r#"
        try: do a() catch: do b()
                    ^^^^^ error[E004] unexpected `catch`
    "#]]);
}

#[test]
fn handlers_for_kinds_of_errors() {
    check(expect![[r#"
        try:
          session "x"
        catch "NotFound":
              ^^^^^^^^^^ error[E108] `catch` handles every error and takes no type
              guess: Remove the type => "catch:"
          session "y"
        catch "Timeout" as error:
              ^^^^^^^^^ error[E108] `catch` handles every error and takes no type
              guess: Remove the type => "catch as error:"
          session "z {error}"
    "#]]);
}
