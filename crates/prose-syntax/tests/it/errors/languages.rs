//! What is written as in other languages and dialects.

use expect_test::expect;

use crate::shown::check;

#[test]
fn other_languages_loops() {
    check(expect![[r#"
        for (x in y):
            ^ error[E108] unexpected parentheses after `for`; write `for item in items:`
            fix: Remove the parentheses => "for x in y:"
          session "q"
        for x of xs:
              ^^ error[E108] expected `in`, found `of`
              fix: Change `of` to `in` => "for x in xs:"
          session "x"
        foreach x in y:
        ^^^^^^^ error[E108] unknown statement `foreach`; use `for` to iterate over a collection
        fix: Change to `for` => "for x in y:"
          session "x"
        while **foo**:
        ^^^^^ error[E108] expected `loop` before `while`
        fix: Insert `loop` => "loop while **foo**:"
          session "x"
        loop 3 times:
        ^^^^^^^^^^^^ error[E108] `loop` takes no number; use `repeat` for a fixed number of iterations
        fix: Change to `repeat 3` => "repeat 3:"
          session "q"
        repeat 3 times:
                 ^^^^^ error[E108] unexpected `times`; write `repeat 3:`
                 fix: Remove `times` => "repeat 3:"
          session "q"
        fixed_loop 5:
        ^^^^^^^^^^ error[E108] unknown statement `fixed_loop`; use `repeat 3:` for a fixed number of iterations
        fix: Change to `repeat` => "repeat 5:"
          session "q"
    "#]]);
}

#[test]
fn other_languages_statements() {
    check(expect![[r##"
        if **a**:
          session "x"
        else if **b**:
        ^^^^^^^ error[E108] unexpected `else if`; use `elif`
        fix: Change to `elif` => "elif **b**:"
          session "y"
        var x = 1
        ^^^ error[E108] unknown statement `var`; use `let` to declare a variable
        fix: Change to `let` => "let x = 1"
        def f(a):
        ^^^ error[E108] unknown statement `def`; use `block` to define reusable statements
        fix: Change to `block` => "block f(a):"
          session "x"
        try:
          raise "x"
          ^^^^^ error[E108] unknown statement `raise`; use `throw` to raise an error
          fix: Change to `throw` => "  throw \"x\""
        except as e:
        ^^^^^^ error[E108] unknown statement `except`; use `catch` to handle errors
        fix: Change to `catch` => "catch as e:"
          session "y"
        session 'it'
                ^^^^ error[E109] a string must be in double quotes
                fix: Use double quotes => "session \"it\""
        session “hi”
                ^^^^ error[E109] a string takes straight quotes `"`, not typographic ones
                fix: Use straight quotes => "session \"hi\""
        session "x";
                   ^ error[E004] unexpected `;`; a statement ends at the end of its line
                   fix: Remove `;` => "session \"x\""
        session("x")
               ^ error[E108] unexpected parentheses around the text of a session: `session "what to do"`
               fix: Remove the parentheses => "session \"x\""
        // comment
        ^^ error[E110] a comment starts with `#`
        fix: Change `//` to `#` => "# comment"
        let a = 1 // why
                  ^^ error[E110] a comment starts with `#`
                  fix: Change `//` to `#` => "let a = 1 # why"
        use alice/research as x
            ^^^^^^^^^^^^^^ error[E106] the path of a program must be in quotes
            fix: Put the path in quotes => "use \"alice/research\" as x"
        import x from "abc"
        ^^^^^^ error[E108] import programs with `use "path"` or `use "path" as name`
        guess: Change to `use` => "use \"./abc.prose\""
        import "abc"
        ^^^^^^ error[E108] import programs with `use "path"` or `use "path" as name`
        guess: Change to `use` => "use \"./abc.prose\""
    "##]]);
}

#[test]
fn other_dialects() {
    check(expect![[r#"
        session "x":
                   ^ error[E108] unexpected `:` after the text of a session; indent its properties on the lines below
                   fix: Remove `:` => "session \"x\""
          context: y
        session "x" with { model: opus, context: [a, b] }
                    ^^^^ error[E108] unexpected `with`; indent properties below the session, such as `context: research`
                    guess: Move the properties below => "session \"x\"\n  model: opus\n  context: [a, b]"
        session "x" as y
                    ^^ error[E108] unexpected `as`; bind the result with `let y = session …`
                    fix: Bind it to `y` => "let y = session \"x\""
        gate approve:
        ^^^^ error[E108] unknown statement `gate`; ask with `input name: "question"` and test the answer with `if`
        guess: Change to `input` => "input approve: \"x\""
          prompt: "x"
        approve "Ship it?"
        ^^^^^^^ error[E108] unknown statement `approve`; ask with `input name: "question"` and test the answer with `if`
        guess: Change to `input` => "input approval: \"Ship it?\""
        exec "npm test"
        ^^^^ error[E108] unknown statement `exec`; use a `session` with `permissions:` for `bash` to run a command
        guess: Change to `session` => "session \"Run this command: npm test\""
        report_{item} = session "x"
        ^^^^^^^^^^^^^ error[E115] a name cannot contain braces; to keep one result per item, collect them in an array
        guess: Rename to `report_item` => "report_item = session \"x\""
        let report_{item} = session "x"
            ^^^^^^^^^^^^^ error[E115] a name cannot contain braces; to keep one result per item, collect them in an array
            guess: Rename to `report_item` => "let report_item = session \"x\""
    "#]]);
}

#[test]
fn forms_that_other_languages_share() {
    check(expect![[r#"
        let x: string = "a"
             ^^^^^^^^ error[E108] variables have no types
             fix: Remove the type => "let x = \"a\""
        input topic = "x"
                    ^ error[E005] expected `:` and a description, found `=`; the caller provides the value of an input
                    guess: Change `=` to `:` => "input topic: \"x\""
        do greet(name="Bob")
                     ^ error[E005] expected `:` after the name of an argument, found `=`
                     fix: Change `=` to `:` => "do greet(name:\"Bob\")"
        if x = 1:
             ^ error[E005] expected `==` to compare values, found `=`
             fix: Change `=` to `==` => "if x == 1:"
          session "y"
        x += 1
          ^^ error[E108] unknown operator `+=`; write `x = x + …`
          fix: Expand the assignment => "x = x + 1"
        if a && b:
             ^^ error[E108] unknown operator `&&`; use `and`
             guess: Change to `and` => "if a and b:"
          session "y"
        if !a:
           ^ error[E108] unknown operator `!`; use `not`
           guess: Change to `not` => "if not a:"
          session "y"
        if a || b:
             ^^ error[E108] unknown operator `||`; use `or`
             guess: Change to `or` => "if a or b:"
          session "y"
        if **a** {
                 ^ error[E108] unexpected braces around a body; end the line with `:` and indent the body
                 guess: Replace the braces with `:` => "if **a**:"
          session "y"
        let 1x = 2
            ^ error[E005] a name after `let` cannot start with a digit
        a: session "x"
         ^ error[E005] expected `=` after `a`, found `:`
         fix: Change `:` to `=` => "a = session \"x\""
        session: "text"
               ^ error[E108] unexpected `:` before the text; `session:` takes the name of an agent
               guess: Remove the quotes => "session: text"
        session "He said "hello" to me"
                          ^^^^^ error[E004] the string ends before this; write a quote inside a string as `\"`
                          guess: Escape the quotes inside => "session \"He said \\\"hello\\\" to me\""
    "#]]);
}

#[test]
fn only_paths_of_programs_are_made_imports() {
    check(expect![[r#"
        import "web" from "github:a/b"
        ^^^^^^ info[W103] `import … from` is deprecated and only names a skill; import programs with `use "path"`
        import "web" from "npm:foo"
        ^^^^^^ info[W103] `import … from` is deprecated and only names a skill; import programs with `use "path"`
        import "web" from "./a.md"
        ^^^^^^ info[W103] `import … from` is deprecated and only names a skill; import programs with `use "path"`
        import "web" from "./web.prose"
        ^^^^^^ info[W103] `import … from` is deprecated and only names a skill; import programs with `use "path"`
        guess: Change to `use` => "use \"./web.prose\" as web"
        import "web" from "alice/web"
        ^^^^^^ info[W103] `import … from` is deprecated and only names a skill; import programs with `use "path"`
        guess: Change to `use` => "use \"alice/web\" as web"
        import web from "./web"
        ^^^^^^ error[E108] import programs with `use "path"` or `use "path" as name`
        import "web"
        ^^^^^^ error[E108] import programs with `use "path"` or `use "path" as name`
        guess: Change to `use` => "use \"./web.prose\""
        use lib
            ^^^ error[E106] the path of a program must be in quotes
            guess: Change to `"./lib.prose"` => "use \"./lib.prose\""
        use lib.prose as lib
            ^^^^^^^^^ error[E106] the path of a program must be in quotes
            guess: Change to `"./lib.prose"` => "use \"./lib.prose\" as lib"
        use github:a/b
            ^^^^^^^^^^ error[E106] the path of a program must be in quotes
    "#]]);
}

#[test]
fn a_gate_becomes_an_input_with_all_that_it_has() {
    check(expect![[r#"
        gate approve:
        ^^^^ error[E108] unknown statement `gate`; ask with `input name: "question"` and test the answer with `if`
        guess: Change to `input` => "input approve: \"ok?\""
          prompt: "ok?"
        gate other:
        ^^^^ error[E108] unknown statement `gate`; ask with `input name: "question"` and test the answer with `if`
          prompt: "ok?"
          timeout: 3
        gate last
        ^^^^ error[E108] unknown statement `gate`; ask with `input name: "question"` and test the answer with `if`
        guess: Change to `input` => "input last: \"Approve last?\""
    "#]]);
}

#[test]
fn doubled_single_quotes_are_one() {
    check(expect![[r#"
        session 'it''s'
                ^^^^ error[E109] a string must be in double quotes
                guess: Use double quotes => "session \"it's\""
        session 'a "b" ''c'''
                ^^^^^^^^ error[E109] a string must be in double quotes
                guess: Use double quotes => "session \"a \\\"b\\\" 'c'\""
    "#]]);
}
