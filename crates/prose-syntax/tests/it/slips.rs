//! What is reported about programs that are written as they nearly would be right, and what fixes them.

use crate::shown::check;
use expect_test::expect;

#[test]
fn properties_that_are_not_indented() {
    check(expect![[r#"
        agent a:
        model: opus
        ^^^^^ error[E101] `model:` is a property of the `agent` above; indent it below its header
        fix: Indent the properties => "  model: opus\n  prompt: \"\"\"\nWrite.\n\"\"\"\n\n  permissions:\n    bash: deny"
        prompt: """
        Write.
        """

        permissions:
          bash: deny
        let b = session: a
        prompt: "x"
        ^^^^^^ error[E101] `prompt:` is a property of the `session` above; indent it below its header
        fix: Indent the properties => "  prompt: \"x\""
        repeat 2:
          session "y"
          context: b
          ^^^^^^^ error[E101] `context:` is a property of the `session` above; indent it below its header
          fix: Indent the properties => "    context: b"
          session "z"
        let c = 3
        model: opus
        ^^^^^ error[E004] `model:` is a property; indent it below its `agent` or `session`
        session "q"
    "#]]);
}

#[test]
fn names_in_quotes() {
    check(expect![[r#"
        agent "writer":
              ^^^^^^^^ error[E005] an agent name must not be quoted
              fix: Remove the quotes => "agent writer:"
          "model": opus
          ^^^^^^^ error[E005] a property name must not be quoted
          fix: Remove the quotes => "  model: opus"
        block 'review'(draft):
              ^^^^^^^^ error[E005] a block name must not be quoted
              fix: Remove the quotes => "block review(draft):"
          session "x"
        for "x" in xs:
            ^^^ error[E005] a name for the loop variable must not be quoted
            fix: Remove the quotes => "for x in xs:"
          session "y"
        "total" = 3
        ^^^^^^^ error[E005] a variable name must not be quoted
        fix: Remove the quotes => "total = 3"
        output "report" = 3
               ^^^^^^^^ error[E005] an output name must not be quoted
               fix: Remove the quotes => "output report = 3"
        do "review"
           ^^^^^^^^ error[E005] a block name must not be quoted
           fix: Remove the quotes => "do review"
        do "review"("x")
           ^^^^^^^^ error[E005] a block name must not be quoted
           fix: Remove the quotes => "do review(\"x\")"
        do "review the text"
           ^^^^^^^^^^^^^^^^^ error[E005] `do` takes the name of a block, or `:` and a body: `do review("x")`
        session: "writer"
               ^ error[E108] unexpected `:` before the text; `session:` takes the name of an agent
               guess: Remove the quotes => "session: writer"
        session: "write a poem"
               ^ error[E108] unexpected `:` before the text; `session:` takes the name of an agent
               fix: Remove `:` => "session \"write a poem\""
        resume: "writer"
                ^^^^^^^^ error[E003] an agent name must not be quoted
                fix: Remove the quotes => "resume: writer"
        agent "a b":
              ^^^^^ error[E005] an agent name must not be quoted
          model: opus
    "#]]);
}

#[test]
fn text_without_quotes() {
    check(expect![[r#"
        input x: What is it about?
                 ^^^^^^^^^^^^^^^^^ error[E004] the description of an input must be in quotes
                 guess: Put the text in quotes => "input x: \"What is it about?\""
        throw Nothing was found
              ^^^^^^^^^^^^^^^^^ error[E004] a text of several words must be in quotes
              guess: Put the text in quotes => "throw \"Nothing was found\""
        let y = write a poem
                ^^^^^^^^^^^^ error[E004] a text of several words must be in quotes
                guess: Put the text in quotes => "let y = \"write a poem\""
        return the best draft
               ^^^^^^^^^^^^^^ error[E004] a text of several words must be in quotes
               guess: Put the text in quotes => "return \"the best draft\""
        session "He said "hello" to me"
                          ^^^^^ error[E004] the string ends before this; write a quote inside a string as `\"`
                          guess: Escape the quotes inside => "session \"He said \\\"hello\\\" to me\""
        session 'it's fine'
                ^^^^ error[E109] a string must be in double quotes
                guess: Use double quotes => "session \"it's fine\""
        session `hi`
                ^ error[E109] a string must be in double quotes
                fix: Use double quotes => "session \"hi\""
        let z = 'abc
                ^^^^ error[E109] a string must be in double quotes
                guess: Use double quotes => "let z = \"abc\""
        let q = ['a', 'b']
                 ^^^ error[E109] a string must be in double quotes
                 fix: Use double quotes => "let q = [\"a\", \"b\"]"
    "#]]);
}

#[test]
fn values_without_brackets_and_parentheses() {
    check(expect![[r#"
        session "x"
          context: a, b
                   ^^^^ error[E005] several values must be in brackets: `[a, b]`
                   fix: Put the values in brackets => "  context: [a, b]"
        agent a:
          skills: "x", "y"
                  ^^^^^^^^ error[E005] several values must be in brackets: `[a, b]`
                  fix: Put the values in brackets => "  skills: [\"x\", \"y\"]"
          model: opus, 3 + 4
                 ^^^^^^^^^^^ error[E005] several values must be in brackets: `[a, b]`
                 guess: Put the values in brackets => "  model: [opus, 3 + 4]"
        do greet "Bob"
                 ^^^^^ error[E005] the arguments of a block must be in parentheses: `greet("Bob")`
                 fix: Put the arguments in parentheses => "do greet(\"Bob\")"
        do greet "Bob", 3
                 ^^^^^^^^ error[E005] the arguments of a block must be in parentheses: `greet("Bob", 3)`
                 fix: Put the arguments in parentheses => "do greet(\"Bob\", 3)"
        do greet x
                 ^ error[E005] the arguments of a block must be in parentheses: `greet(x)`
                 guess: Put the arguments in parentheses => "do greet(x)"
        do greet x y
                 ^ error[E004] unexpected `x`
    "#]]);
}

#[test]
fn loops_with_a_word_in_the_place_of_until() {
    check(expect![[r#"
        loop u
             ^ error[E004] unexpected `u`; did you mean `until`?
             guess: Change to `until` => "loop until"
          session "x"
        loop untill **x**:
             ^^^^^^ error[E004] unexpected `untill`; did you mean `until`?
             fix: Change to `until` => "loop until **x**:"
          session "x"
        loop whle not done (max: 3):
             ^^^^ error[E004] unexpected `whle`; did you mean `while`?
             fix: Change to `while` => "loop while not done (max: 3):"
          session "x"
        loop done:
            ^ error[E005] expected `until` or `while` before the condition of a loop
            guess: Insert `until` => "loop until done:"
          session "x"
        loop the tests pass:
            ^ error[E005] expected `until` or `while` before the condition of a loop
            guess: Insert `until` => "loop until the tests pass:"
          session "x"
        loop 3:
        ^^^^^^ error[E108] `loop` takes no number; use `repeat` for a fixed number of iterations
        fix: Change to `repeat 3` => "repeat 3:"
          session "x"
        loop as i:
          session "x"
        loop until (max n):
                   ^ error[E005] unclosed `(`; expected `)`
                   guess: Insert `)` => "loop until (max) n):"
          session "x"
    "#]]);
}

#[test]
fn options_without_their_keyword() {
    check(expect![[r#"
        choice **which**:
          "a":
          ^^^ error[E005] expected `option` before the label: `option "a":`
          fix: Insert `option` => "  option \"a\":"
            session "x"
          b:
          ^ error[E005] expected `option` before the label: `option "b":`
          guess: Insert `option` => "  option \"b\":"
            session "y"
          c: session "z"
           ^ error[E005] expected `=` after `c`, found `:`
           fix: Change `:` to `=` => "  c = session \"z\""
    "#]]);
}

#[test]
fn text_after_an_agent() {
    check(expect![[r#"
        session: writer "Write."
                        ^^^^^^^^ error[E108] unexpected text after the agent; write it below as `prompt: "what to do"`
                        fix: Move the text below => "session: writer\n  prompt: \"Write.\""
        session writer: "Write."
                        ^^^^^^^^ error[E108] unexpected text after the agent; write it below as `prompt: "what to do"`
                        fix: Move the text below => "session: writer\n  prompt: \"Write.\""
        session writer "Write."
                       ^^^^^^^^ error[E108] unexpected text after the agent; write it below as `prompt: "what to do"`
                       fix: Move the text below => "session: writer\n  prompt: \"Write.\""
        repeat 2:
          let a = session: writer "Write."
                                  ^^^^^^^^ error[E108] unexpected text after the agent; write it below as `prompt: "what to do"`
                                  guess: Move the text below => "  let a = session: writer\n    prompt: \"Write.\""
            model: opus
    "#]]);
}

#[test]
fn colons_and_equals_signs_of_other_languages() {
    check(expect![[r#"
        let x := 3
              ^^ error[E005] expected `=` after the name of a variable, found `:=`
              fix: Change `:=` to `=` => "let x = 3"
        let y == 3
              ^^ error[E005] expected `=` after the name of a variable, found `==`
              fix: Change `==` to `=` => "let y = 3"
        agent: a
             ^ error[E108] the `:` must come after the name: `agent a:`
             fix: Move `:` after the name => "agent a:"
          model: opus
        block: b(x):
             ^ error[E108] the `:` must come after the name: `block b:`
             fix: Move `:` after the name => "block b(x):"
          return: x
                ^ error[E108] unexpected `:` after `return`
                fix: Remove `:` => "  return x"
        throw: "x"
             ^ error[E108] unexpected `:` after `throw`
             fix: Remove `:` => "throw \"x\""
        output: x
              ^ error[E108] unexpected `:` after `output`
              guess: Remove `:` => "output x"
        use: "a/b"
           ^ error[E108] unexpected `:` after `use`
           fix: Remove `:` => "use \"a/b\""
        session "x" as y
                    ^^ error[E108] unexpected `as`; bind the result with `let y = session …`
                    fix: Bind it to `y` => "let y = session \"x\""
        let a = session "x" as y
                            ^^ error[E108] unexpected `as`; bind the result with `let y = session …`
    "#]]);
}

#[test]
fn braces_around_bodies() {
    check(expect![[r#"
        agent a {
                ^ error[E108] unexpected braces around a body; end the line with `:` and indent the body
                guess: Replace the braces with `:` => "agent a:\n  model: opus\n"
          model: opus
        }
        repeat 2 {
                 ^ error[E108] unexpected braces around a body; end the line with `:` and indent the body
                 guess: Replace the braces with `:` => "repeat 2:\n  session \"x\"\n"
          session "x"
        }
    "#]]);
}

#[test]
fn conditions_between_other_marks() {
    check(expect![[r#"
        if *the tests pass*:
           ^^^^^^^^^^^^^^^^ error[E113] a condition in words must be between `**` markers
           fix: Put the condition between `**` => "if **the tests pass**:"
          session "x"
        elif the tests pass**:
             ^^^^^^^^^^^^^^^^ error[E113] a condition in words must be between `**` markers
             fix: Put the condition between `**` => "elif **the tests pass**:"
          session "x"
        elif (the tests pass):
             ^^^^^^^^^^^^^^^^ error[E113] a condition in words must be between `**` markers
             fix: Put the condition between `**` => "elif **the tests pass**:"
          session "x"
    "#]]);
}

#[test]
fn a_bracket_that_is_never_closed_above_its_items() {
    check(expect![[r#"
        do f(
            ^ error[E005] unclosed `(`; expected `)`
            guess: Insert `)` => "  b)"
          a: "x",
          b
        let r = do g(
                    ^ error[E005] unclosed `(`; expected `)`
          "x",
          draft.title
        let a = [
                ^ error[E005] unclosed `[`; expected `]`
          "x",
          [1, 2]
        let b = {
                ^ error[E005] unclosed `{`; expected `}`
          x: 1,
          y: 2
        do f(
            ^ error[E005] unclosed `(`; expected `)`
        session "x"
        do f(
            ^ error[E005] unclosed `(`; expected `)`
        let c = 3
    "#]]);
}

#[test]
fn what_is_no_property() {
    check(expect![[r#"
        agent a:
          "text"
          ^^^^^^ error[E004] this is not a property; a property is written `name: value`
          model: opus
        agent b:
          3
          ^ error[E004] this is not a property; a property is written `name: value`
    "#]]);
}

#[test]
fn an_equals_sign_before_the_name_of_an_agent() {
    check(expect![[r#"
        session = a
                ^ error[E005] expected `:` before the name of the agent, found `=`
                fix: Change `=` to `:` => "session: a"
          prompt: "x"
        resume = a
               ^ error[E005] expected `:` before the name of the agent, found `=`
               fix: Change `=` to `:` => "resume: a"
          model: opus
        session = b
    "#]]);
}

#[test]
fn a_missing_colon_after_the_keyword_of_a_value() {
    check(expect![[r#"
        let a = try
                   ^ error[E005] expected `:` at the end of the `try` line
                   fix: Insert `:` => "let a = try:"
          session "x"
        catch:
          session "y"
        let b = parallel
                        ^ error[E005] expected `:` at the end of the `parallel` line
                        fix: Insert `:` => "let b = parallel:"
          session "x"
    "#]]);
}

#[test]
fn words_in_parentheses_in_a_condition() {
    check(expect![[r#"
        loop until **it is done (received status: done):
                   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error[E001] unterminated condition; expected a closing `**`
                   guess: Insert the closing `**` => "loop until **it is done (received status: done)**:"
          session "x"
        loop until the run is over (received status: done):
                   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error[E113] a condition in words must be between `**` markers
                   fix: Put the condition between `**` => "loop until **the run is over (received status: done)**:"
          session "x"
        otput session "x"
        ^^^^^ error[E107] unknown statement `otput`; did you mean `output`?
        fix: Change to `output` => "output session \"x\""
    "#]]);
}

#[test]
fn a_property_left_of_the_others() {
    check(expect![[r#"
        agent a:
        model: opus
        ^^^^^ error[E101] `model:` is a property of the `agent` above; indent it below its header
        fix: Indent the properties => "  model: opus"
          prompt: "x"
          skills: ["y"]
        session "z"
    "#]]);
}
