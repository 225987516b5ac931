//! What is missing, misspelled or stands where it cannot.

use expect_test::expect;

use crate::shown::check;

#[test]
fn sessions_without_target() {
    check(expect![[r#"
        session
        ^^^^^^^ error[E003] `session` takes a text or an agent: `session "what to do"` or `session: agent`
        session:
        ^^^^^^^ error[E003] `session` takes a text or an agent: `session "what to do"` or `session: agent`
        session writer
               ^ error[E003] expected `:` before the name of the agent: `session: writer`
               guess: Insert `:` => "session: writer"
        session write a poem
                ^^^^^^^^^^^^ error[E003] the text of a session must be in quotes
                guess: Put the text in quotes => "session \"write a poem\""
        resume:
        ^^^^^^ error[E003] `resume` takes an agent: `resume: agent`
        resume
        ^^^^^^ error[E003] `resume` takes an agent: `resume: agent`
        session 3
        ^^^^^^^ error[E003] `session` takes a text or an agent: `session "what to do"` or `session: agent`
    "#]]);
}

#[test]
fn misspelt_keywords() {
    check(expect![[r#"
        sesion "x"
        ^^^^^^ error[E107] unknown statement `sesion`; did you mean `session`?
        fix: Change to `session` => "session \"x\""
          prompt: "y"
        lett x = 1
        ^^^^ error[E107] unknown statement `lett`; did you mean `let`?
        fix: Change to `let` => "let x = 1"
        fro x in xs:
        ^^^ error[E107] unknown statement `fro`; did you mean `for`?
        fix: Change to `for` => "for x in xs:"
          session "y"
        Session "z"
        ^^^^^^^ error[E107] unknown statement `Session`; did you mean `session`?
        fix: Change to `session` => "session \"z\""
        paralel:
        ^^^^^^^ error[E107] unknown statement `paralel`; did you mean `parallel`?
        fix: Change to `parallel` => "parallel:"
          session "q"
        else:
          session "x"
    "#]]);
}

#[test]
fn names_have_the_letters_of_any_script() {
    check(expect![[r#"
        let größe = session "Measure"
        変数 = größe
        élan-vital = "{größe.höhe} {変数[größe]}"
    "#]]);
}

#[test]
fn words_that_start_nothing() {
    check(expect![[r#"
        foo
        ^^^ error[E107] `foo` is not a statement; a statement starts with a keyword such as `session`
        foo bar baz
        ^^^ error[E107] unknown statement `foo`
        "text"
        ^^^^^^ error[E004] a text has no effect by itself; put `session` before it to run it
        guess: Insert `session` => "session \"text\""
        a + b
        ^^^^^ error[E004] unused value; bind it with `let name = …` or return it with `output …`
        **so**
        ^^^^^^ error[E004] a condition has no effect by itself; use it after `if`, `loop until` or `choice`
        3
        ^ error[E004] unused value; bind it with `let name = …` or return it with `output …`
        caf€ = 3
        ^^^^ error[E115] `caf€` is not a valid name; use letters, digits, `_` and `-`, or put a text in quotes
        let caf€ = 3
            ^^^^ error[E115] `caf€` is not a valid name; use letters, digits, `_` and `-`, or put a text in quotes
        @@@ %% ^^
        ^ error[E004] unexpected `@` outside of a string
    "#]]);
}

#[test]
fn missing_parts() {
    check(expect![[r#"
        repeat 3
                ^ error[E005] expected `:` at the end of the `repeat` line
                fix: Insert `:` => "repeat 3:"
          session "x"
        agent foo
                 ^ error[E005] expected `:` at the end of the `agent` line
                 fix: Insert `:` => "agent foo:"
          model: opus
        let x session "y"
             ^ error[E005] expected `=` between a variable and its value
             fix: Insert `=` => "let x = session \"y\""
        let x: 3
             ^ error[E005] expected `=` after the name of a variable, found `:`
             fix: Change `:` to `=` => "let x = 3"
        let x
             ^ error[E005] expected `=` and a value: `let name = …`
        output foo: session "x"
                  ^ error[E005] expected `=` after the name of an output, found `:`
                  fix: Change `:` to `=` => "output foo = session \"x\""
        output
              ^ error[E005] expected a value after `output`
        for x xs:
             ^ error[E005] expected `in` and a collection: `for item in items:`
             fix: Insert `in` => "for x in xs:"
          session "x"
        for in xs:
            ^^ error[E005] expected a name for the loop variable: `for item in items:`
          session "x"
        if :
           ^ error[E005] expected a condition, such as `**the tests pass**`
          session "x"
        use "a" b
                ^ error[E005] expected `as` before the name
                fix: Insert `as` => "use \"a\" as b"
        use "a" as
                  ^ error[E005] expected a name after `as`
    "#]]);
}

#[test]
fn brackets() {
    check(expect![[r#"
        parallel (on-fail: "continue":
                 ^ error[E005] unclosed `(`; expected `)`
                 guess: Insert `)` => "parallel (on-fail: \"continue\"):"
          a = session "x"
        let z = [1, 2
                ^ error[E005] unclosed `[`; expected `]`
                guess: Insert `]` => "let z = [1, 2]"
        let w = { a: 1, b
                ^ error[E005] unclosed `{`; expected `}`
                guess: Insert `}` => "let w = { a: 1, b}"
        let v = [1 2]
                  ^ error[E005] expected `,` between two items
                  fix: Insert `,` => "let v = [1, 2]"
        let u = (1 + 2
                ^ error[E005] unclosed `(`; expected `)`
                guess: Insert `)` => "let u = (1 + 2)"
        let t = a[0
                 ^ error[E005] unclosed `[`; expected `]`
                 guess: Insert `]` => "let t = a[0]"
        let s = ]
                ^ error[E004] unmatched closing `]`
        do f(1, 2
            ^ error[E005] unclosed `(`; expected `)`
            guess: Insert `)` => "do f(1, 2)"
        session "x"
    "#]]);
}

#[test]
fn properties() {
    check(expect![[r#"
        agent x:
          model = opus
                ^ error[E005] expected `:`, found `=`; a property is written `model: …`
                fix: Change `=` to `:` => "  model: opus"
          prompt "abc"
                ^ error[E005] expected `:` after `prompt`
                fix: Insert `:` => "  prompt: \"abc\""
          model
               ^ error[E005] expected `:` and a value after `model`
          context:
                  ^ error[E005] expected a value after `:`
          persist: yes please
                   ^^^^^^^^^^ error[E004] a text of several words must be in quotes
                   guess: Put the text in quotes => "  persist: \"yes please\""
        prompt: "abc"
        ^^^^^^ error[E004] `prompt:` is a property; indent it below its `agent` or `session`
        let a = 1
          context: b
        ^^ error[E101] `context:` is a property, but the statement above takes none
    "#]]);
}

#[test]
fn inputs_and_outputs_without_names() {
    check(expect![[r#"
        input: "x"
        ^^^^^ error[E020] `input` needs a name: `input topic: "what it is for"`
        guess: Name it `topic` => "input topic: \"x\""
        input
        ^^^^^ error[E020] `input` needs a name: `input topic: "what it is for"`
        guess: Name it `topic` => "input topic"
        output = 3
        ^^^^^^ error[E023] `output` needs a name before `=`: `output report = …`
        guess: Name it `result` => "output result = 3"
        input x "desc"
               ^ error[E005] expected `:` between the name of an input and its description
               fix: Insert `:` => "input x: \"desc\""
        input "x": "y"
              ^^^ error[E020] an input name must not be quoted
              fix: Remove the quotes => "input x: \"y\""
    "#]]);
}

#[test]
fn a_missing_colon_before_a_body_on_the_line() {
    check(expect![[r#"
        items | map session "x"
                   ^ error[E005] expected `:` before the body of `map`
                   fix: Insert `:` => "items | map: session \"x\""
        for x in [1, 2] session "a"
                       ^ error[E005] expected `:` before the body of `for`
                       fix: Insert `:` => "for x in [1, 2]: session \"a\""
        if **a** session "b"
                ^ error[E005] expected `:` before the body of `if`
                fix: Insert `:` => "if **a**: session \"b\""
    "#]]);
}

#[test]
fn a_line_that_is_being_written_has_one_mistake() {
    check(expect![[r#"
        do review(
                 ^ error[E005] unclosed `(`; expected `)`
                 guess: Insert `)` => "  b)"
          a,
          b
        loop until **a** max: 3:
                         ^^^^^^ error[E005] the options of `loop` must be in parentheses: `(max: 3)`
                         fix: Put the options in parentheses => "loop until **a** (max: 3):"
          session "x"
        loop (max 3):
                 ^ error[E005] expected `:` after `max`
                 fix: Insert `:` => "loop (max: 3):"
          session "y"
        try
           ^ error[E005] expected `:` at the end of the `try` line
           fix: Insert `:` => "try:"
    "#]]);
}
