//! What people write who know other languages better: each is one mistake, which says how it is written here.

use expect_test::expect;

use crate::shown::check;

#[test]
fn lists_of_yaml() {
    check(expect![[r#"
        agent a:
          skills:
            - web
            ^ error[E108] the items of a list must be in brackets, separated by commas: `[a, b]`
            fix: Write it as an array => "  skills: [\"web\", \"code review\"]"
            - "code review"
          model: opus
        agent b:
          skills:
          - web search
          ^ error[E108] the items of a list must be in brackets, separated by commas: `[a, b]`
          fix: Write it as an array => "  skills: [\"web search\"]"
          permissions:
            read:
              - "docs/**"
              ^ error[E108] the items of a list must be in brackets, separated by commas: `[a, b]`
              guess: Write it as an array => "    read: [\"docs/**\", \"notes\"]"
              # and more
              - notes
        session "x"
          context:
            - draft
            ^ error[E108] the items of a list must be in brackets, separated by commas: `[a, b]`
            guess: Write it as an array => "  context: [draft, \"my notes\"]"
            - my notes
          model: opus
        let xs =
          - "a"
          ^ error[E108] the items of a list must be in brackets, separated by commas: `[a, b]`
          fix: Write it as an array => "let xs = [\"a\", \"b\"]"
          - "b"
        session "y"
    "#]]);
}

#[test]
fn options_without_parentheses() {
    check(expect![[r#"
        loop until **x** max: 5:
                         ^^^^^^ error[E005] the options of `loop` must be in parentheses: `(max: 5)`
                         fix: Put the options in parentheses => "loop until **x** (max: 5):"
          session "x"
        loop until **x** max: 5
                         ^^^^^^ error[E005] the options of `loop` must be in parentheses: `(max: 5)`
                         fix: Put the options in parentheses => "loop until **x** (max: 5):"
          session "x"
        loop max: 3 as i:
             ^^^^^^ error[E005] the options of `loop` must be in parentheses: `(max: 3)`
             fix: Put the options in parentheses => "loop (max: 3) as i:"
          session "x"
        parallel on-fail: "continue", count: 2:
                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error[E005] the options of `parallel` must be in parentheses: `(on-fail: "continue", count: 2)`
                 fix: Put the options in parentheses => "parallel (on-fail: \"continue\", count: 2):"
          session "x"
        parallel "first":
                 ^^^^^^^ error[E005] the options of `parallel` must be in parentheses: `("first")`
                 fix: Put the options in parentheses => "parallel (\"first\"):"
          session "x"
        block f(a) max_depth: 3:
                   ^^^^^^^^^^^^ error[E005] the options of `block` must be in parentheses: `(max_depth: 3)`
                   fix: Put the options in parentheses => "block f(a) (max_depth: 3):"
          session "x"
    "#]]);
}

#[test]
fn headers_of_other_languages() {
    check(expect![[r#"
        try:
          session "x"
        catch (err):
              ^^^^^ error[E108] expected `as` before the name of the error: `catch as err:`
              fix: Change to `as err` => "catch as err:"
          session "y"
        praallel (on-fail: "continue"):
        ^^^^^^^^ error[E107] unknown statement `praallel`; did you mean `parallel`?
        fix: Change to `parallel` => "parallel (on-fail: \"continue\"):"
          session "x"
        repeat 3 with i:
                 ^^^^ error[E005] expected `as` before the name of the index: `as i`
                 fix: Change to `as` => "repeat 3 as i:"
          session "x"
        for each x in xs:
            ^^^^ error[E108] unexpected `each`; write `for item in items:`
            fix: Remove `each` => "for x in xs:"
          session "x"
        foreach (x in xs):
        ^^^^^^^ error[E108] unknown statement `foreach`; use `for` to iterate over a collection
        guess: Change to `for` => "for (x in xs):"
          session "x"
        review(draft):
        ^^^^^^ error[E005] expected `block` before a definition: `block review(…):`
        guess: Insert `block` => "block review(draft):"
          session "x"
        agent a():
               ^^ error[E108] an agent takes no parameters; pass values with the `context:` of each session
               fix: Remove the parentheses => "agent a:"
          model: opus
        agent b(topic):
               ^^^^^^^ error[E108] an agent takes no parameters; pass values with the `context:` of each session
               guess: Remove the parentheses => "agent b:"
          model: opus
        **it is late**: session "a"
        ^^^^^^^^^^^^^^ error[E005] expected `if` or `loop until` before the condition
        guess: Insert `if` => "if **it is late**: session \"a\""
        else: session "b"
        async parallel:
        ^^^^^ error[E108] unexpected `async`; statements run in order, those in `parallel:` concurrently
        fix: Remove `async` => "parallel:"
          session "a"
        if *ready*:
           ^^^^^^^ error[E113] a condition in words must be between `**` markers
           fix: Put the condition between `**` => "if **ready**:"
          session "x"
        xs | map(x):
                ^^^ error[E116] `map` takes no parameters; its body uses the name `item`
                guess: Remove the parentheses => "xs | map:"
          session "x"
    "#]]);
}

#[test]
fn values_of_other_languages() {
    check(expect![[r#"
        let a = sesion: w
                ^^^^^^ error[E107] unknown keyword `sesion`; did you mean `session`?
                fix: Change to `session` => "let a = session: w"
          model: opus
        let b = sesssion "a"
                ^^^^^^^^ error[E107] unknown keyword `sesssion`; did you mean `session`?
                fix: Change to `session` => "let b = session \"a\""
        let c = await session "a"
                ^^^^^ error[E108] unexpected `await`; statements run in order, those in `parallel:` concurrently
                fix: Remove `await` => "let c = session \"a\""
        await do f(1)
        ^^^^^ error[E108] unexpected `await`; statements run in order, those in `parallel:` concurrently
        fix: Remove `await` => "do f(1)"
        let d = session("do it")
                       ^ error[E108] unexpected parentheses around the text of a session: `session "what to do"`
                       fix: Remove the parentheses => "let d = session \"do it\""
        let e = x if y else z
                ^^^^^^^^^^^^^ error[E108] unexpected `if` in a value; use `condition ? one : other`
                fix: Rewrite with `?` and `:` => "let e = y ? x : z"
        let f = x => y
                  ^^ error[E108] expected `->` between two sessions
        session "a" => session "b"
                    ^^ error[E108] expected `->` between two sessions
                    fix: Change to `->` => "session \"a\" -> session \"b\""
        session "a" | session "b"
                    ^ error[E108] expected `->` between two sessions; `|` starts a stage over the items of an array
                    fix: Change to `->` => "session \"a\" -> session \"b\""
        let g = 1..3
                ^^^^ error[E108] ranges are not supported; use `repeat 5 as i:` to count, or an array such as `[1, 2, 3]`
                guess: Write the numbers out => "let g = [1, 2, 3]"
        for i in 0..2:
                 ^^^^ error[E108] ranges are not supported; use `repeat 5 as i:` to count, or an array such as `[1, 2, 3]`
                 guess: Write the numbers out => "for i in [0, 1, 2]:"
          session "x"
        for i in range(3):
                 ^^^^^^^^ error[E108] ranges are not supported; use `repeat 5 as i:` to count, or an array such as `[1, 2, 3]`
                 guess: Write the numbers out => "for i in [0, 1, 2]:"
          session "x"
        for i in range(2, 4):
                 ^^^^^^^^^^^ error[E108] ranges are not supported; use `repeat 5 as i:` to count, or an array such as `[1, 2, 3]`
                 guess: Write the numbers out => "for i in [2, 3]:"
          session "x"
        session f"do {x}"
                ^ error[E108] unexpected `f` before a string; `{name}` in it is always interpolated
                fix: Remove `f` => "session \"do {x}\""
        let h = r"a"
                ^ error[E108] unexpected `r` before a string; `{name}` in it is always interpolated
                fix: Remove `r` => "let h = \"a\""
        session `do ${x}`
                ^ error[E109] a string must be in double quotes
                fix: Use double quotes => "session \"do {x}\""
        let i = x === y
                  ^^^ error[E108] unknown operator `===`; use `==`
                  guess: Change to `==` => "let i = x == y"
        let j = x ?? y
                  ^^ error[E108] unknown operator `??`; use `condition ? one : other`
        x := session "a"
          ^^ error[E108] unexpected `:=`; declare a variable with `let x = …` and assign to it with `=`
          fix: Change `:=` to `=` => "x = session \"a\""
        x++
         ^^ error[E108] unknown operator `++`; use `count = count + 1`
        print("x")
        ^^^^^ error[E108] unknown function `print`; run a `session`, or return a result with `output`
        guess: Change to `session` => "session \"x\""
        throw new Error("x")
              ^^^^^^^^^^^^^^ error[E108] `throw` takes a text: `throw "what went wrong"`
              fix: Throw the text => "throw \"x\""
        raise ValueError("x")
        ^^^^^ error[E108] unknown statement `raise`; use `throw` to raise an error
        fix: Change to `throw` => "throw \"x\""
        raise
        ^^^^^ error[E108] unknown statement `raise`; use `throw` to raise an error
        fix: Change to `throw` => "throw"
        from a import b
        ^^^^ error[E108] unknown statement `from`; import programs with `use "path"` or `use "path" as name`
        let k = 1; let l = 2
                 ^ error[E004] unexpected `;`; put each statement on its own line
    "#]]);
}

#[test]
fn names_in_quotes_are_names() {
    check(expect![[r#"
        agent "writer":
              ^^^^^^^^ error[E005] an agent name must not be quoted
              fix: Remove the quotes => "agent writer:"
          "model": opus
          ^^^^^^^ error[E005] a property name must not be quoted
          fix: Remove the quotes => "  model: opus"
        let 'x' = 3
            ^^^ error[E005] a name after `let` must not be quoted
            fix: Remove the quotes => "let x = 3"
        do "review"(x)
           ^^^^^^^^ error[E005] a block name must not be quoted
           fix: Remove the quotes => "do review(x)"
    "#]]);
}

#[test]
fn a_bracket_closed_in_a_broken_string() {
    check(expect![[r#"
        let x = ["a",
          "b]
          ^^^ error[E001] unterminated string; expected a closing `"`
          guess: Insert the closing `"` => "  \"b]\""
        let y = ["a",
                ^ error[E005] unclosed `[`; expected `]`
                guess: Insert `]` => "  \"b\"]"
          "b"
        do f(
          "a)
          ^^^ error[E001] unterminated string; expected a closing `"`
          guess: Insert the closing `"` => "  \"a)\""
        session "x"
    "#]]);
}

#[test]
fn single_words_in_a_text_that_is_never_closed() {
    check(expect![[r#"
        agent a:
          prompt: """
                  ^^^ error[E001] unterminated triple-quoted string; expected a closing `"""`
                  guess: Insert the closing `"""` => "  \"\"\""
        You
        write
        well
          model: opus
    "#]]);
    check(expect![[r#"
        session """
                ^^^ error[E001] unterminated triple-quoted string; expected a closing `"""`
                guess: Insert the closing `"""` => "\"\"\""
        Hello
        World
        session "y"
    "#]]);
}

#[test]
fn texts_and_steps_of_yaml() {
    check(expect![[r#"
        agent a:
          prompt: |
                  ^ error[E108] a text of several lines must be between `"""`; open it with `prompt: """`
                  guess: Put the text between `"""` => "  prompt: \"\"\"\n    You write \"well.\n    Don't stop. (Ever\n  \"\"\""
            You write "well.
            Don't stop. (Ever
          model: opus
        agent b:
          prompt: >-
                  ^^ error[E108] a text of several lines must be between `"""`; open it with `prompt: """`
                  fix: Put the text between `"""` => "  prompt: \"\"\"\n    You read.\n  \"\"\""
            You read.
        steps:
        ^^^^^ error[E108] a program is not YAML; write its statements one per line, without `-` and without a key
          - session "a"
          - name: "b
        session "y"
    "#]]);
}

#[test]
fn loops_and_clauses_of_other_languages() {
    check(expect![[r#"
        loop forever:
             ^^^^^^^ error[E108] an infinite loop is written `loop:`
             fix: Remove `forever` => "loop:"
          session "x"
        while True:
        ^^^^^^^^^^ error[E108] an infinite loop is written `loop:`
        fix: Change to `loop` => "loop:"
          session "x"
        repeat until **it is good** (max: 3):
        ^^^^^^ error[E108] `repeat` takes a number; use `loop` for a loop with a condition
        fix: Change to `loop` => "loop until **it is good** (max: 3):"
          session "x"
        unless **it is late**:
        ^^^^^^ error[E108] unknown statement `unless`; use `if not` to negate a condition
        fix: Change to `if not` => "if not **it is late**:"
          session "x"
        if **it is late** then:
                          ^^^^ error[E108] unexpected `then`; a `if` line ends with `:`
                          fix: Remove `then` => "if **it is late**:"
          session "x"
        try:
          session "x"
        except ValueError as e:
        ^^^^^^ error[E108] unknown statement `except`; use `catch` to handle errors
        guess: Change to `catch` => "catch ValueError as e:"
          session "y"
        try:
          session "x"
        catch ValueError as e:
              ^^^^^^^^^^ error[E108] `catch` handles every error and takes no type
              fix: Remove the type => "catch as e:"
          session "y"
        for (let i = 0; i < 3; i++):
            ^ error[E108] `for` iterates over a collection: `for item in items:`; to count, use `repeat 3 as i:`
          session "x"
        for (x in xs):
            ^ error[E108] unexpected parentheses after `for`; write `for item in items:`
            fix: Remove the parentheses => "for x in xs:"
          session "x"
        choice **which**:
          option "a":
            session "x"
          else:
          ^^^^ error[E104] `else` has no matching `if` above it at this indentation
            session "y"
    "#]]);
}

#[test]
fn definitions_of_other_languages() {
    check(expect![[r#"
        class Writer:
        ^^^^^ error[E108] unknown statement `class`; define an `agent name:` or a `block name:`
          prompt: "x"
        block f(x: string, y: int):
                 ^^^^^^^^ error[E108] parameters have no types
                 guess: Remove the type => "block f(x, y: int):"
          session "x"
        block g(x = "a") -> string:
                  ^^^^^ error[E108] parameters have no default values; pass every argument in each call
                  guess: Remove the default value => "block g(x) -> string:"
          session "x"
        block h(x) -> string:
                   ^^^^^^^^^ error[E108] a block takes no return type
                   fix: Remove the return type => "block h(x):"
          session "x"
    "#]]);
}

#[test]
fn what_follows_a_text() {
    check(expect![[r##"
        session "do " + x
                      ^ error[E108] unexpected `+` after a string; interpolate the value: `"Write about {topic}"`
                      fix: Interpolate the value => "session \"do {x}\""
        session "do " + x + "y"
                      ^ error[E108] unexpected `+` after a string; interpolate the value: `"Write about {topic}"`
        session "a" then session "b"
                    ^^^^ error[E108] unexpected `then`; chain sessions with `->`
                    fix: Change to `->` => "session \"a\" -> session \"b\""
        session "a" retry 3
                         ^ error[E005] expected `:` after `retry`
                         fix: Insert `:` => "session \"a\" retry: 3"
        session "a" (context = x)
                             ^ error[E005] expected `:`, found `=`; a property is written `context: …`
                             fix: Change `=` to `:` => "session \"a\" (context: x)"
        /* a "comment */
        ^^ error[E110] a comment starts with `#`
        fix: Change to `#` => "# a \"comment */"
        -- another
        ^^ error[E110] a comment starts with `#`
        fix: Change to `#` => "# another"
        session "y"
    "##]]);
}
