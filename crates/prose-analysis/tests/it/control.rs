//! Control flow: conditions, loops, choices, errors, and what is assigned to.

use crate::support::{check, check_fixes_of, check_in, check_related_of};
use expect_test::expect;
use prose_syntax::{Code, Profile};

#[test]
fn empty_conditions() {
    check(
        r#"
        if ****:
        #  ^^^^ error[E129] the condition is empty; describe what the model has to judge
          session "One"
        elif ***   ***:
        #    ^^^^^^^^^ error[E129] the condition is empty; describe what the model has to judge
          session "Two"
        loop while **** (max: 3):
        #          ^^^^ error[E129] the condition is empty; describe what the model has to judge
          session "Three"
        let depth = 3
        if depth > 2 or ****:
        #               ^^^^ error[E129] the condition is empty; describe what the model has to judge
          session "Four"
        "#,
    );
}

#[test]
fn vague_conditions() {
    check(
        r#"
        input goal: "What has to hold"
        loop until **approved** (max: 3):
        #          ^^^^^^^^^^^^ info[W104] condition `approved` is too short; write a sentence that the model can judge
          session "One"
        if **is ok**:
          session "Two"
        if **it is** or **all tests pass**:
          session "Three"
        if **{goal}**:
          session "Four"
        if **it works**:
          session "Five"
        "#,
    );
}

#[test]
fn repeated_conditions() {
    check(
        r#"
        input depth: "How deep to look"
        if **all tests pass**:
          session "One"
        elif **a test fails**:
          session "Two"
        elif **all tests pass**:
        #    ^^^^^^^^^^^^^^^^^^ warning[W154] repeated condition; the branch above with this condition runs instead
          if **a test fails**:
            session "Three"
        elif depth > 2:
          session "Four"
        elif depth > 3:
          session "Five"
        elif depth > 2:
        #    ^^^^^^^^^ warning[W154] repeated condition; the branch above with this condition runs instead
          session "Six"
        if **all tests pass**:
          session "Seven"
        elif not **all tests pass**:
          session "Eight"
        if ****:
        #  ^^^^ error[E129] the condition is empty; describe what the model has to judge
          session "Nine"
        elif ****:
        #    ^^^^ error[E129] the condition is empty; describe what the model has to judge
          session "Ten"
        "#,
    );
    check_related_of(
        Code::W154,
        r#"
        if **it works**:
          session "One"
        elif **it works**:
          session "Two"
        "#,
        expect![[r#"
            /main.prose:1 `**it works**`: the same condition is here
        "#]],
    );
}

#[test]
fn loops_that_end() {
    check(
        r#"
        loop (max: 3):
          session "Try"
        loop until **all tests pass**:
          session "Try"
        loop:
          session "Try"
          if **all tests pass**:
            break
        loop:
          if **all tests pass**:
            throw "It cannot be"
        block work:
          loop:
            if **all tests pass**:
              return "done"
            session "Try"
        do work
        "#,
    );
}

#[test]
fn loops_that_do_not_end() {
    check(
        r#"
        loop:
        #<^^^^ warning[W113] unbounded loop; add a condition, `max`, `break` or `return`
          session "Try"
        loop as i:
        #<^^^^ warning[W113] unbounded loop; add a condition, `max`, `break` or `return`
          for place in ["attic", "cellar"]:
            session "Search {place}, {i}"
            break
        "#,
    );
}

#[test]
fn a_loop_with_a_line_that_is_not_understood_may_end() {
    check(
        r#"
        loop:
          session "Try"
          brek
        # ^^^^ error[E107] unknown statement `brek`; did you mean `break`?
        "#,
    );
}

#[test]
fn choices_without_options() {
    check(
        r#"
        choice **which is best**:
        #<^^^^^^ error[E131] `choice` has no options; add one with `option "label":`
        choice **which is best**:
          session "One"
        # ^^^^^^^ warning[W102] only options are allowed in a `choice`; put this under an `option "label":`
        choice **which is best**:
          opton "one":
        # ^^^^^ error[E107] unknown statement `opton`; did you mean `option`?
            session "One"
        "#,
    );
}

#[test]
fn labels_of_options() {
    check(
        r#"
        choice **which is best**:
          option "one":
            session "One"
          option "two":
            choice **which is better**:
              option "one":
                session "Two"
          option "one":
        #        ^^^^^ warning[W112] duplicate label `one`; the model cannot distinguish the options
            session "Three"
        "#,
    );
}

#[test]
fn handlers_that_never_run() {
    check(
        r#"
        try:
          session "Deploy"
        catch:
          session "Roll back"
        catch as reason:
        #<^^^^^ warning[W122] unreachable `catch`; the first `catch` handles every error
          session "Explain {reason}"
        let limit = 1
        try:
          limit = 3
          let names = ["Ann", "Bob"]
        catch:
        #<^^^^^ warning[W122] unreachable `catch`; nothing in this `try` can fail
          session "Never"
        finally:
          session "Use {names}, {limit}"
        "#,
    );
}

#[test]
fn handlers_that_may_run() {
    check(
        r#"
        let limit = 1
        try:
          let text = "at most {limit}"
        catch:
          session "Handle"
        try:
          limit = limit + 1
        catch:
          session "Handle"
        try:
          ...
        catch:
          session "Handle"
        output [text, limit]
        "#,
    );
}

#[test]
fn errors_without_a_message() {
    check(
        r#"
        try:
          throw "   "
        #       ^^^^^ warning[W111] the message is empty; describe what went wrong
        catch as reason:
          if **it matters**:
            throw
          session "Explain {reason}"
        finally:
          throw
        # ^^^^^ warning[W135] no error to rethrow outside of a `catch`; add a message: `throw "…"`
        "#,
    );
}

#[test]
fn empty_descriptions() {
    check(
        r#"
        input topic: """ """
        #            ^^^^^^^ warning[W136] the description is empty; describe the value
        let name = input ""
        #                ^^ warning[W136] the description is empty; describe the value
        session "Write about {topic} for {name}"
        "#,
    );
}

#[test]
fn named_sessions() {
    check(
        r#"
        agent writer:
          prompt: "Write"

        session text: writer
        #       ^^^^ info[W130] named sessions are deprecated; write `let text = session: …`
        parallel:
          session more: writer
        #         ^^^^ info[W130] named sessions are deprecated; write `more = session: …`
        output [text, more]
        "#,
    );
}

#[test]
fn assignments_to_names_that_nothing_declares() {
    check(
        r#"
        let summary = session "Sum up"
        sumary = session "Sum up again"
        #<^^^^^^ warning[W138] `sumary` is not declared; did you mean `summary`?
        sumary = session "And again"
        fresh = session "Begin"
        #<^^^^^ warning[W138] `fresh` is not declared; declare it with `let fresh = …`
        block work(topic):
          summary = session "Write about {topic}"
          local = session "Think"
        # ^^^^^ warning[W138] `local` is not declared; declare it with `let local = …`
          output local
        output result = do work(fresh)
        output summary
        "#,
    );
}

#[test]
fn names_that_are_bound_otherwise_are_declared() {
    check(
        r#"
        input topic: "What to write about"
        const limit = 3
        output report = session "Write {limit} lines about {topic}"
        report = session "Improve"
          context: report
        topic = "tides"
        parallel:
          a = session "One"
          b = session "Two"
        a = session "Better"
          context: [a, b]
        output last = a
        block inner:
          found = session "Search"
        block outer:
          let found = session "Look"
          do inner
          output found
        do outer
        "#,
    );
}

#[test]
fn constants_keep_their_value() {
    check(
        r#"
        const limit = 3
        limit = 4
        #<^^^^^ error[E121] cannot assign to constant `limit`; declare it with `let` to change it
        parallel:
          limit = session "Count"
        # ^^^^^ error[E121] cannot assign to constant `limit`; declare it with `let` to change it
          other = session "Count again"
        block dig(depth):
          const width = 2
          depth = depth + 1
        # ^^^^^ error[E121] cannot assign to parameter `depth`; use a new name
          parallel:
            depth = session "Measure"
        #   ^^^^^ error[E121] cannot assign to parameter `depth`; use a new name
            width = session "Measure {width}"
        #   ^^^^^ error[E121] cannot assign to constant `width`; declare it with `let` to change it
        for item in [1, 2]:
          item = 3
        # ^^^^ error[E121] cannot assign to `item`, the loop variable of this body
          session "{item}"
        do dig(limit)
        output result = other
        "#,
    );
}

/// Branches are bound in the frame of their block (R19), where the constant of the file is hidden.
#[test]
fn a_branch_of_a_block_hides_a_constant_of_the_file() {
    check(
        r#"
        const limit = 3
        block work:
          parallel:
            limit = session "Count"
            other = session "Count again"
          output [limit, other]
        do work
        session "Write {limit} lines"
        "#,
    );
}

#[test]
fn a_constant_that_changes_is_declared_with_let() {
    check_fixes_of(
        Code::E121,
        r#"
const limit = 3
if **there is time**:
  limit = 4
session "Write {limit} lines"
"#,
        expect![[r#"
            Declare it with `let` (guess)
            | let limit = 3
        "#]],
    );
    check_fixes_of(
        Code::E121,
        "const { a, b } = session \"One\"\r\na = 1\r\nsession \"{a} {b}\"\r\n",
        expect![[r#"
            Declare it with `let` (guess)
            | let { a, b } = session "One"
        "#]],
    );
}

#[test]
fn branches_that_change_one_variable() {
    check(
        r#"
        let found = []
        parallel for place in ["attic", "cellar"]:
          let result = session "Search {place}"
          result = session "Search {place} again"
          found = found + [result]
          found = found + ["more"]
          # Only the first is told.
        output found
        "#,
    );
}

#[test]
fn a_loop_gets_a_bound() {
    check_fixes_of(
        Code::W113,
        r#"
        loop as i:
          session "Try {i}"
        "#,
        expect![[r#"
            Add `(max: 10)` (guess)
            | loop (max: 10) as i:
        "#]],
    );
}

#[test]
fn a_named_session_becomes_a_declaration() {
    check_fixes_of(
        Code::W130,
        r#"
        agent writer:
          prompt: "Write"

        session text: writer
        output text
        "#,
        expect![[r#"
            Write `let text = session: …` (safe)
            | let text = session: writer
        "#]],
    );
}

#[test]
fn a_named_session_becomes_a_branch() {
    check_fixes_of(
        Code::W130,
        r#"
        agent writer:
          prompt: "Write"

        parallel:
          session text: writer
        output text
        "#,
        expect![[r#"
            Write `text = session: …` (safe)
            |   text = session: writer
        "#]],
    );
}

#[test]
fn a_named_session_in_a_chain_is_left_alone() {
    check_fixes_of(
        Code::W130,
        r#"
        agent writer:
          prompt: "Write"

        session "Begin" -> session text: writer
        output text
        "#,
        expect![[r#""#]],
    );
}

#[test]
fn an_assignment_is_changed_or_becomes_a_declaration() {
    check_fixes_of(
        Code::W138,
        r#"
        let summary = session "Sum up"
        sumary = session "Sum up again"
        output summary
        "#,
        expect![[r#"
            Change to `summary` (guess)
            | summary = session "Sum up again"
            Declare `sumary` with `let` (guess)
            | let sumary = session "Sum up again"
        "#]],
    );
}

#[test]
fn the_first_label_is_shown() {
    check_related_of(
        Code::W112,
        r#"
        choice **which is best**:
          option "one":
            session "One"
          option "one":
            session "Two"
        "#,
        expect![[r#"
            /main.prose:2 `"one"`: first used here
        "#]],
    );
}

#[test]
fn the_first_handler_is_shown() {
    check_related_of(
        Code::W122,
        r#"
        try:
          session "Deploy"
        catch:
          session "Roll back"
        catch:
          session "Give up"
        "#,
        expect![[r#"
            /main.prose:3 `catch`: errors are handled here
        "#]],
    );
}

#[test]
fn the_shared_variable_is_shown() {
    check_related_of(
        Code::W133,
        r#"
        let found = []
        parallel for place in ["attic", "cellar"]:
          let result = session "Search {place}"
          result = session "Search {place} again"
          found = found + [result]
          found = found + ["more"]
          # Only the first is told.
        output found
        "#,
        expect![[r#"
            /main.prose:1 `found`: bound outside of the branches here
        "#]],
    );
}

/// Of statements outside of the reference, and of what only the strict profile tells.
#[test]
fn statements_that_the_reference_does_not_define() {
    let program = r#"
        block work:
          loop (max: 3):
            if **all tests pass**:
              break
        #     ^^^^^ info[W132] `break` is not part of the reference; another interpreter may not support it
            continue
        #   ^^^^^^^^ info[W132]
          assert **all tests pass**: "They fail"
        # ^^^^^^ info[W132]
          return "done"
        # ^^^^^^ info[W132]

        do work
        "#;
    check_in(Profile::Strict, program);
}

#[test]
fn a_choice_of_bare_statements_has_no_options_in_the_strict_profile() {
    let program = r#"
        choice **which is best**:
        #<^^^^^^ error[E131] has no options
          session "One"
        # ^^^^^^^ warning[W102]
        "#;
    check_in(Profile::Strict, program);
}

/// A hint, and so told only where it is asked for.
#[test]
fn branches_in_branches_change_one_variable() {
    check(
        r#"
        let found = []
        parallel for place in ["attic", "cellar"]:
          parallel for thing in ["key", "map"]:
            let result = session "Search {place} for {thing}"
            found = found + [result]
        #   ^^^^^ hint[W133] change `found` in the order
        output found
        "#,
    );
}

#[test]
fn an_empty_condition_as_a_value() {
    check(
        r#"
        let tests = session "Test"
        output { tests, passed: ** **, failed: **a test fails** }
        #                       ^^^^^ error[E129]
        "#,
    );
}
