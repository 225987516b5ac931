//! What is written as in other languages and dialects.

use expect_test::expect;

use crate::shown::check;

#[test]
fn other_languages_loops() {
    check(
        r#"
for (x in y):
  session "q"
for x of xs:
  session "x"
foreach x in y:
  session "x"
while **foo**:
  session "x"
loop 3 times:
  session "q"
repeat 3 times:
  session "q"
fixed_loop 5:
  session "q"
"#,
        expect![[r#"
            for (x in y):
                ^ error[E108] `for` has no parentheses: `for item in items:`
                fix: Remove the parentheses => "for x in y:"
              session "q"
            for x of xs:
                  ^^ error[E108] `for` goes through a collection with `in`
                  fix: Change `of` to `in` => "for x in xs:"
              session "x"
            foreach x in y:
            ^^^^^^^ error[E108] a loop over a collection is a `for`
            fix: Change to `for` => "for x in y:"
              session "x"
            while **foo**:
            ^^^^^ error[E108] a loop with a condition is written `loop while`
            fix: Insert `loop` => "loop while **foo**:"
              session "x"
            loop 3 times:
            ^^^^^^^^^^^^ error[E108] a loop that runs a fixed number of times is a `repeat`
            fix: Change to `repeat 3` => "repeat 3:"
              session "q"
            repeat 3 times:
                     ^^^^^ error[E108] `repeat` takes the number alone: `repeat 3:`
                     fix: Remove `times` => "repeat 3:"
              session "q"
            fixed_loop 5:
            ^^^^^^^^^^ error[E108] a loop that runs a fixed number of times is a `repeat`: `repeat 3:`
            fix: Change to `repeat` => "repeat 5:"
              session "q"
        "#]],
    );
}

#[test]
fn other_languages_statements() {
    check(
        r#"
if **a**:
  session "x"
else if **b**:
  session "y"
var x = 1
def f(a):
  session "x"
try:
  raise "x"
except as e:
  session "y"
session 'it'
session “hi”
session "x";
session("x")
// comment
let a = 1 // why
use alice/research as x
import x from "abc"
import "abc"
"#,
        expect![[r##"
            if **a**:
              session "x"
            else if **b**:
            ^^^^^^^ error[E108] a further condition is written `elif`
            fix: Change to `elif` => "elif **b**:"
              session "y"
            var x = 1
            ^^^ error[E108] a variable is bound with `let`
            fix: Change to `let` => "let x = 1"
            def f(a):
            ^^^ error[E108] a reusable part of a program is a `block`
            fix: Change to `block` => "block f(a):"
              session "x"
            try:
              raise "x"
              ^^^^^ error[E108] an error is raised with `throw`
              fix: Change to `throw` => "  throw \"x\""
            except as e:
            ^^^^^^ error[E108] errors are handled in a `catch`
            fix: Change to `catch` => "catch as e:"
              session "y"
            session 'it'
                    ^^^^ error[E109] strings are written between double quotes
                    fix: Use double quotes => "session \"it\""
            session “hi”
                    ^^^^ error[E109] strings are written between straight quotes `"`, not typographic ones
                    fix: Use straight quotes => "session \"hi\""
            session "x";
                       ^ error[E004] a statement ends with its line; it needs no `;`
                       fix: Remove `;` => "session \"x\""
            session("x")
                   ^ error[E108] the text of a session is written without parentheses: `session "what to do"`
                   fix: Remove the parentheses => "session \"x\""
            // comment
            ^^ error[E110] a comment starts with `#`
            fix: Change `//` to `#` => "# comment"
            let a = 1 // why
                      ^^ error[E110] a comment starts with `#`
                      fix: Change `//` to `#` => "let a = 1 # why"
            use alice/research as x
                ^^^^^^^^^^^^^^ error[E106] the path of a program is written in quotes
                fix: Put the path in quotes => "use \"alice/research\" as x"
            import x from "abc"
            ^^^^^^ error[E108] programs are imported with `use "path"`, and with `as` for another name
            guess: Change to `use` => "use \"./abc.prose\""
            import "abc"
            ^^^^^^ error[E108] programs are imported with `use "path"`, and with `as` for another name
            guess: Change to `use` => "use \"./abc.prose\""
        "##]],
    );
}

#[test]
fn other_dialects() {
    check(
        r#"
session "x":
  context: y
session "x" with { model: opus, context: [a, b] }
session "x" as y
gate approve:
  prompt: "x"
approve "Ship it?"
exec "npm test"
report_{item} = session "x"
let report_{item} = session "x"
"#,
        expect![[r#"
            session "x":
                       ^ error[E108] no `:` stands behind the text of a session; its properties follow on indented lines
                       fix: Remove `:` => "session \"x\""
              context: y
            session "x" with { model: opus, context: [a, b] }
                        ^^^^ error[E108] a session has no `with`; its properties follow on indented lines, such as `context: research`
                        guess: Move the properties below => "session \"x\"\n  model: opus\n  context: [a, b]"
            session "x" as y
                        ^^ error[E108] the result of a session is bound in front of it: `let y = session …`
                        fix: Bind it to `y` => "let y = session \"x\""
            gate approve:
            ^^^^ error[E108] `gate` belongs to another dialect; ask a person with `input name: "question"` and test the answer with `if`
            guess: Change to `input` => "input approve: \"x\""
              prompt: "x"
            approve "Ship it?"
            ^^^^^^^ error[E108] `approve` belongs to another dialect; ask a person with `input name: "question"` and test the answer with `if`
            guess: Change to `input` => "input approval: \"Ship it?\""
            exec "npm test"
            ^^^^ error[E108] `exec` belongs to another dialect; have a `session` run the command, with `permissions:` for `bash`
            guess: Change to `session` => "session \"Run this command: npm test\""
            report_{item} = session "x"
            ^^^^^^^^^^^^^ error[E115] a name is fixed when the program is written: braces are replaced in strings only. To keep one result for each item, gather them in an array
            guess: Rename to `report_item` => "report_item = session \"x\""
            let report_{item} = session "x"
                ^^^^^^^^^^^^^ error[E115] a name is fixed when the program is written: braces are replaced in strings only. To keep one result for each item, gather them in an array
                guess: Rename to `report_item` => "let report_item = session \"x\""
        "#]],
    );
}

#[test]
fn forms_that_other_languages_share() {
    check(
        r#"
let x: string = "a"
input topic = "x"
do greet(name="Bob")
if x = 1:
  session "y"
x += 1
if a && b:
  session "y"
if !a:
  session "y"
if a || b:
  session "y"
if **a** {
  session "y"
let 1x = 2
a: session "x"
session: "text"
session "He said "hello" to me"
"#,
        expect![[r#"
            let x: string = "a"
                 ^^^^^^^^ error[E108] variables have no types
                 fix: Remove the type => "let x = \"a\""
            input topic = "x"
                        ^ error[E005] an input is given by the caller; what stands behind its `:` describes it
                        guess: Change `=` to `:` => "input topic: \"x\""
            do greet(name="Bob")
                         ^ error[E005] a named argument is written with `:`
                         fix: Change `=` to `:` => "do greet(name:\"Bob\")"
            if x = 1:
                 ^ error[E005] values are compared with `==`
                 fix: Change `=` to `==` => "if x == 1:"
              session "y"
            x += 1
              ^^ error[E108] `+=` is written out: `x = x + …`
              fix: Write it out => "x = x + 1"
            if a && b:
                 ^^ error[E108] `&&` is written `and`
                 guess: Change to `and` => "if a and b:"
              session "y"
            if !a:
               ^ error[E108] `!` is written `not`
               guess: Change to `not` => "if not a:"
              session "y"
            if a || b:
                 ^^ error[E108] `||` is written `or`
                 guess: Change to `or` => "if a or b:"
              session "y"
            if **a** {
                     ^ error[E108] a body begins behind `:` and is indented; it has no braces
                     guess: Change the braces to `:` => "if **a**:"
              session "y"
            let 1x = 2
                ^ error[E005] the name behind `let` cannot start with a digit
            a: session "x"
             ^ error[E005] `a` gets its value with `=`
             fix: Change `:` to `=` => "a = session \"x\""
            session: "text"
                   ^ error[E108] no `:` stands before the text of a session; behind `session:` stands the name of an agent
                   guess: Remove the quotes => "session: text"
            session "He said "hello" to me"
                              ^^^^^ error[E004] the string ends before this; a quote inside of a string is written `\"`
                              guess: Escape the quotes inside => "session \"He said \\\"hello\\\" to me\""
        "#]],
    );
}

#[test]
fn only_paths_of_programs_are_made_imports() {
    check(
        r#"
import "web" from "github:a/b"
import "web" from "npm:foo"
import "web" from "./a.md"
import "web" from "./web.prose"
import "web" from "alice/web"
import web from "./web"
import "web"
use lib
use lib.prose as lib
use github:a/b
"#,
        expect![[r#"
            import "web" from "github:a/b"
            ^^^^^^ info[W103] `import … from` is the old form; it registers the name of a skill only. Programs are imported with `use "path"`
            import "web" from "npm:foo"
            ^^^^^^ info[W103] `import … from` is the old form; it registers the name of a skill only. Programs are imported with `use "path"`
            import "web" from "./a.md"
            ^^^^^^ info[W103] `import … from` is the old form; it registers the name of a skill only. Programs are imported with `use "path"`
            import "web" from "./web.prose"
            ^^^^^^ info[W103] `import … from` is the old form; it registers the name of a skill only. Programs are imported with `use "path"`
            guess: Change to `use` => "use \"./web.prose\" as web"
            import "web" from "alice/web"
            ^^^^^^ info[W103] `import … from` is the old form; it registers the name of a skill only. Programs are imported with `use "path"`
            guess: Change to `use` => "use \"alice/web\" as web"
            import web from "./web"
            ^^^^^^ error[E108] programs are imported with `use "path"`, and with `as` for another name
            import "web"
            ^^^^^^ error[E108] programs are imported with `use "path"`, and with `as` for another name
            guess: Change to `use` => "use \"./web.prose\""
            use lib
                ^^^ error[E106] the path of a program is written in quotes
                guess: Change to `"./lib.prose"` => "use \"./lib.prose\""
            use lib.prose as lib
                ^^^^^^^^^ error[E106] the path of a program is written in quotes
                guess: Change to `"./lib.prose"` => "use \"./lib.prose\" as lib"
            use github:a/b
                ^^^^^^^^^^ error[E106] the path of a program is written in quotes
        "#]],
    );
}

#[test]
fn a_gate_becomes_an_input_with_all_that_it_has() {
    check(
        r#"
gate approve:
  prompt: "ok?"
gate other:
  prompt: "ok?"
  timeout: 3
gate last
"#,
        expect![[r#"
            gate approve:
            ^^^^ error[E108] `gate` belongs to another dialect; ask a person with `input name: "question"` and test the answer with `if`
            guess: Change to `input` => "input approve: \"ok?\""
              prompt: "ok?"
            gate other:
            ^^^^ error[E108] `gate` belongs to another dialect; ask a person with `input name: "question"` and test the answer with `if`
              prompt: "ok?"
              timeout: 3
            gate last
            ^^^^ error[E108] `gate` belongs to another dialect; ask a person with `input name: "question"` and test the answer with `if`
            guess: Change to `input` => "input last: \"Approve last?\""
        "#]],
    );
}

#[test]
fn doubled_single_quotes_are_one() {
    check(
        r#"
session 'it''s'
session 'a "b" ''c'''
"#,
        expect![[r#"
            session 'it''s'
                    ^^^^ error[E109] strings are written between double quotes
                    guess: Use double quotes => "session \"it's\""
            session 'a "b" ''c'''
                    ^^^^^^^^ error[E109] strings are written between double quotes
                    guess: Use double quotes => "session \"a \\\"b\\\" 'c'\""
        "#]],
    );
}
