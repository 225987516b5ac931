//! What people write who know other languages better: each is one mistake, which says how it is written here.

use expect_test::expect;

use crate::shown::check;

#[test]
fn lists_of_yaml() {
    check(
        r#"
agent a:
  skills:
    - web
    - "code review"
  model: opus
agent b:
  skills:
  - web search
  permissions:
    read:
      - "docs/**"
      # and more
      - notes
session "x"
  context:
    - draft
    - my notes
  model: opus
let xs =
  - "a"
  - "b"
session "y"
"#,
        expect![[r#"
            agent a:
              skills:
                - web
                ^ error[E108] the items of a list stand between brackets, with commas between them: `[a, b]`
                fix: Write it as an array => "  skills: [\"web\", \"code review\"]"
                - "code review"
              model: opus
            agent b:
              skills:
              - web search
              ^ error[E108] the items of a list stand between brackets, with commas between them: `[a, b]`
              fix: Write it as an array => "  skills: [\"web search\"]"
              permissions:
                read:
                  - "docs/**"
                  ^ error[E108] the items of a list stand between brackets, with commas between them: `[a, b]`
                  guess: Write it as an array => "    read: [\"docs/**\", \"notes\"]"
                  # and more
                  - notes
            session "x"
              context:
                - draft
                ^ error[E108] the items of a list stand between brackets, with commas between them: `[a, b]`
                guess: Write it as an array => "  context: [draft, \"my notes\"]"
                - my notes
              model: opus
            let xs =
              - "a"
              ^ error[E108] the items of a list stand between brackets, with commas between them: `[a, b]`
              fix: Write it as an array => "let xs = [\"a\", \"b\"]"
              - "b"
            session "y"
        "#]],
    );
}

#[test]
fn options_without_parentheses() {
    check(
        r#"
loop until **x** max: 5:
  session "x"
loop until **x** max: 5
  session "x"
loop max: 3 as i:
  session "x"
parallel on-fail: "continue", count: 2:
  session "x"
parallel "first":
  session "x"
block f(a) max_depth: 3:
  session "x"
"#,
        expect![[r#"
            loop until **x** max: 5:
                             ^^^^^^ error[E005] the options of a `loop` stand in parentheses: `(max: 5)`
                             fix: Put the options in parentheses => "loop until **x** (max: 5):"
              session "x"
            loop until **x** max: 5
                             ^^^^^^ error[E005] the options of a `loop` stand in parentheses: `(max: 5)`
                             fix: Put the options in parentheses => "loop until **x** (max: 5):"
              session "x"
            loop max: 3 as i:
                 ^^^^^^ error[E005] the options of a `loop` stand in parentheses: `(max: 3)`
                 fix: Put the options in parentheses => "loop (max: 3) as i:"
              session "x"
            parallel on-fail: "continue", count: 2:
                     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error[E005] the options of a `parallel` stand in parentheses: `(on-fail: "continue", count: 2)`
                     fix: Put the options in parentheses => "parallel (on-fail: \"continue\", count: 2):"
              session "x"
            parallel "first":
                     ^^^^^^^ error[E005] the options of a `parallel` stand in parentheses: `("first")`
                     fix: Put the options in parentheses => "parallel (\"first\"):"
              session "x"
            block f(a) max_depth: 3:
                       ^^^^^^^^^^^^ error[E005] the options of a `block` stand in parentheses: `(max_depth: 3)`
                       fix: Put the options in parentheses => "block f(a) (max_depth: 3):"
              session "x"
        "#]],
    );
}

#[test]
fn headers_of_other_languages() {
    check(
        r#"
try:
  session "x"
catch (err):
  session "y"
praallel (on-fail: "continue"):
  session "x"
repeat 3 with i:
  session "x"
for each x in xs:
  session "x"
foreach (x in xs):
  session "x"
review(draft):
  session "x"
agent a():
  model: opus
agent b(topic):
  model: opus
**it is late**: session "a"
else: session "b"
async parallel:
  session "a"
if *ready*:
  session "x"
xs | map(x):
  session "x"
"#,
        expect![[r#"
            try:
              session "x"
            catch (err):
                  ^^^^^ error[E108] the name of the error stands behind `as`: `catch as err:`
                  fix: Change to `as err` => "catch as err:"
              session "y"
            praallel (on-fail: "continue"):
            ^^^^^^^^ error[E107] unknown statement `praallel`; did you mean `parallel`?
            fix: Change to `parallel` => "parallel (on-fail: \"continue\"):"
              session "x"
            repeat 3 with i:
                     ^^^^ error[E005] the number of the iteration gets its name behind `as`: `as i`
                     fix: Change to `as` => "repeat 3 as i:"
              session "x"
            for each x in xs:
                ^^^^ error[E108] `for` alone goes through each item: `for item in items:`
                fix: Remove `each` => "for x in xs:"
              session "x"
            foreach (x in xs):
            ^^^^^^^ error[E108] a loop over a collection is a `for`
            guess: Change to `for` => "for (x in xs):"
              session "x"
            review(draft):
            ^^^^^^ error[E005] a reusable part of a program is defined with `block`: `block review(…):`
            guess: Insert `block` => "block review(draft):"
              session "x"
            agent a():
                   ^^ error[E108] an agent has no parameters: what it is to do stands in the `prompt:` of each session, and `context:` passes values
                   fix: Remove the parentheses => "agent a:"
              model: opus
            agent b(topic):
                   ^^^^^^^ error[E108] an agent has no parameters: what it is to do stands in the `prompt:` of each session, and `context:` passes values
                   guess: Remove the parentheses => "agent b:"
              model: opus
            **it is late**: session "a"
            ^^^^^^^^^^^^^^ error[E005] a condition stands behind `if`, and one that ends a loop behind `loop until`
            guess: Insert `if` => "if **it is late**: session \"a\""
            else: session "b"
            async parallel:
            ^^^^^ error[E108] there is no `async`: each statement waits for the one above, and those of a `parallel:` run at the same time
            fix: Remove `async` => "parallel:"
              session "a"
            if *ready*:
               ^^^^^^^ error[E113] a condition in words is written between `**` markers, so that a model judges it
               fix: Put it between `**` => "if **ready**:"
              session "x"
            xs | map(x):
                    ^^^ error[E116] `map:` names nothing: in its body the item is called `item`
                    guess: Remove the parentheses => "xs | map:"
              session "x"
        "#]],
    );
}

#[test]
fn values_of_other_languages() {
    check(
        r#"
let a = sesion: w
  model: opus
let b = sesssion "a"
let c = await session "a"
await do f(1)
let d = session("do it")
let e = x if y else z
let f = x => y
session "a" => session "b"
session "a" | session "b"
let g = 1..3
for i in 0..2:
  session "x"
for i in range(3):
  session "x"
for i in range(2, 4):
  session "x"
session f"do {x}"
let h = r"a"
session `do ${x}`
let i = x === y
let j = x ?? y
x := session "a"
x++
print("x")
throw new Error("x")
raise ValueError("x")
raise
from a import b
let k = 1; let l = 2
"#,
        expect![[r#"
            let a = sesion: w
                    ^^^^^^ error[E107] there is no `sesion`; did you mean `session`?
                    fix: Change to `session` => "let a = session: w"
              model: opus
            let b = sesssion "a"
                    ^^^^^^^^ error[E107] there is no `sesssion`; did you mean `session`?
                    fix: Change to `session` => "let b = session \"a\""
            let c = await session "a"
                    ^^^^^ error[E108] there is no `await`: each statement waits for the one above, and those of a `parallel:` run at the same time
                    fix: Remove `await` => "let c = session \"a\""
            await do f(1)
            ^^^^^ error[E108] there is no `await`: each statement waits for the one above, and those of a `parallel:` run at the same time
            fix: Remove `await` => "do f(1)"
            let d = session("do it")
                           ^ error[E108] the text of a session is written without parentheses: `session "what to do"`
                           fix: Remove the parentheses => "let d = session \"do it\""
            let e = x if y else z
                    ^^^^^^^^^^^^^ error[E108] a choice between two values is written `condition ? one : other`
                    fix: Write it with `?` and `:` => "let e = y ? x : z"
            let f = x => y
                      ^^ error[E108] an arrow is written `->`, and leads from one session to the next
            session "a" => session "b"
                        ^^ error[E108] an arrow is written `->`, and leads from one session to the next
                        fix: Change to `->` => "session \"a\" -> session \"b\""
            session "a" | session "b"
                        ^ error[E108] one session is chained to the next by `->`; behind `|` stands what is done with each item of an array
                        fix: Change to `->` => "session \"a\" -> session \"b\""
            let g = 1..3
                    ^^^^ error[E108] there are no ranges of numbers: `repeat 5 as i:` counts, and a `for` goes through an array such as `[1, 2, 3]`
                    guess: Write the numbers out => "let g = [1, 2, 3]"
            for i in 0..2:
                     ^^^^ error[E108] there are no ranges of numbers: `repeat 5 as i:` counts, and a `for` goes through an array such as `[1, 2, 3]`
                     guess: Write the numbers out => "for i in [0, 1, 2]:"
              session "x"
            for i in range(3):
                     ^^^^^^^^ error[E108] there are no ranges of numbers: `repeat 5 as i:` counts, and a `for` goes through an array such as `[1, 2, 3]`
                     guess: Write the numbers out => "for i in [0, 1, 2]:"
              session "x"
            for i in range(2, 4):
                     ^^^^^^^^^^^ error[E108] there are no ranges of numbers: `repeat 5 as i:` counts, and a `for` goes through an array such as `[1, 2, 3]`
                     guess: Write the numbers out => "for i in [2, 3]:"
              session "x"
            session f"do {x}"
                    ^ error[E108] a string has no letter before its quotes: `{name}` in it is filled in anyway
                    fix: Remove `f` => "session \"do {x}\""
            let h = r"a"
                    ^ error[E108] a string has no letter before its quotes: `{name}` in it is filled in anyway
                    fix: Remove `r` => "let h = \"a\""
            session `do ${x}`
                    ^ error[E109] strings are written between double quotes
                    fix: Use double quotes => "session \"do {x}\""
            let i = x === y
                      ^^^ error[E108] `===` is written `==`
                      guess: Change to `==` => "let i = x == y"
            let j = x ?? y
                      ^^ error[E108] there is no `??`; a choice between two values is written `condition ? one : other`
            x := session "a"
              ^^ error[E108] a variable is bound with `let x = …`, and gets another value with `=`
              fix: Change `:=` to `=` => "x = session \"a\""
            x++
             ^^ error[E108] there is no `++`; one is added with `count = count + 1`
            print("x")
            ^^^^^ error[E108] there is no `print`: text is worked on by a `session`, and a program hands over its results with `output`
            guess: Change to `session` => "session \"x\""
            throw new Error("x")
                  ^^^^^^^^^^^^^^ error[E108] an error is a text alone: `throw "what went wrong"`
                  fix: Throw the text => "throw \"x\""
            raise ValueError("x")
            ^^^^^ error[E108] an error is raised with `throw`
            fix: Change to `throw` => "throw \"x\""
            raise
            ^^^^^ error[E108] an error is raised with `throw`
            fix: Change to `throw` => "throw"
            from a import b
            ^^^^ error[E108] programs are imported with `use "path"`, and with `as` for another name
            let k = 1; let l = 2
                     ^ error[E004] each statement stands on a line of its own; there is no `;` between two
        "#]],
    );
}

#[test]
fn names_in_quotes_are_names() {
    check(
        r#"
agent "writer":
  "model": opus
let 'x' = 3
do "review"(x)
"#,
        expect![[r#"
            agent "writer":
                  ^^^^^^^^ error[E005] the name of an agent is written without quotes
                  fix: Remove the quotes => "agent writer:"
              "model": opus
              ^^^^^^^ error[E005] the name of a property is written without quotes
              fix: Remove the quotes => "  model: opus"
            let 'x' = 3
                ^^^ error[E005] the name behind `let` is written without quotes
                fix: Remove the quotes => "let x = 3"
            do "review"(x)
               ^^^^^^^^ error[E005] the name of a block is written without quotes
               fix: Remove the quotes => "do review(x)"
        "#]],
    );
}

#[test]
fn a_bracket_closed_in_a_broken_string() {
    check(
        r#"
let x = ["a",
  "b]
let y = ["a",
  "b"
do f(
  "a)
session "x"
"#,
        expect![[r#"
            let x = ["a",
              "b]
              ^^^ error[E001] this string is never closed: the closing `"` is missing
              guess: Insert the closing `"` => "  \"b]\""
            let y = ["a",
                    ^ error[E005] this `[` is never closed: `]` is missing
                    guess: Insert `]` => "  \"b\"]"
              "b"
            do f(
              "a)
              ^^^ error[E001] this string is never closed: the closing `"` is missing
              guess: Insert the closing `"` => "  \"a)\""
            session "x"
        "#]],
    );
}

#[test]
fn single_words_in_a_text_that_is_never_closed() {
    check(
        r#"
agent a:
  prompt: """
You
write
well
  model: opus
"#,
        expect![[r#"
            agent a:
              prompt: """
                      ^^^ error[E001] this triple-quoted string is never closed: the closing `"""` is missing
                      guess: Insert the closing `"""` => "  \"\"\""
            You
            write
            well
              model: opus
        "#]],
    );
    check(
        r#"
session """
Hello
World
session "y"
"#,
        expect![[r#"
            session """
                    ^^^ error[E001] this triple-quoted string is never closed: the closing `"""` is missing
                    guess: Insert the closing `"""` => "\"\"\""
            Hello
            World
            session "y"
        "#]],
    );
}

#[test]
fn texts_and_steps_of_yaml() {
    check(
        r#"
agent a:
  prompt: |
    You write "well.
    Don't stop. (Ever
  model: opus
agent b:
  prompt: >-
    You read.
steps:
  - session "a"
  - name: "b
session "y"
"#,
        expect![[r#"
            agent a:
              prompt: |
                      ^ error[E108] a text of several lines stands between `"""`: `prompt: """` opens it, and `"""` on a line of its own closes it
                      guess: Put the text between `"""` => "  prompt: \"\"\"\n    You write \"well.\n    Don't stop. (Ever\n  \"\"\""
                You write "well.
                Don't stop. (Ever
              model: opus
            agent b:
              prompt: >-
                      ^^ error[E108] a text of several lines stands between `"""`: `prompt: """` opens it, and `"""` on a line of its own closes it
                      fix: Put the text between `"""` => "  prompt: \"\"\"\n    You read.\n  \"\"\""
                You read.
            steps:
            ^^^^^ error[E108] a program is no YAML: its statements stand one below the other, without `-` and without a word above them
              - session "a"
              - name: "b
            session "y"
        "#]],
    );
}

#[test]
fn loops_and_clauses_of_other_languages() {
    check(
        r#"
loop forever:
  session "x"
while True:
  session "x"
repeat until **it is good** (max: 3):
  session "x"
unless **it is late**:
  session "x"
if **it is late** then:
  session "x"
try:
  session "x"
except ValueError as e:
  session "y"
try:
  session "x"
catch ValueError as e:
  session "y"
for (let i = 0; i < 3; i++):
  session "x"
for (x in xs):
  session "x"
choice **which**:
  option "a":
    session "x"
  else:
    session "y"
"#,
        expect![[r#"
            loop forever:
                 ^^^^^^^ error[E108] a loop that goes on until a `break` is written `loop:`
                 fix: Remove `forever` => "loop:"
              session "x"
            while True:
            ^^^^^^^^^^ error[E108] a loop that goes on until a `break` is written `loop:`
            fix: Change to `loop` => "loop:"
              session "x"
            repeat until **it is good** (max: 3):
            ^^^^^^ error[E108] a `repeat` counts; a loop with a condition is a `loop`
            fix: Change to `loop` => "loop until **it is good** (max: 3):"
              session "x"
            unless **it is late**:
            ^^^^^^ error[E108] the opposite of a condition is written `if not`
            fix: Change to `if not` => "if not **it is late**:"
              session "x"
            if **it is late** then:
                              ^^^^ error[E108] a `:` ends the `if` line; it needs no `then`
                              fix: Remove `then` => "if **it is late**:"
              session "x"
            try:
              session "x"
            except ValueError as e:
            ^^^^^^ error[E108] errors are handled in a `catch`
            guess: Change to `catch` => "catch ValueError as e:"
              session "y"
            try:
              session "x"
            catch ValueError as e:
                  ^^^^^^^^^^ error[E108] a `catch` handles every error: it names no kind of them
                  fix: Remove the kind => "catch as e:"
              session "y"
            for (let i = 0; i < 3; i++):
                ^ error[E108] a `for` goes through a collection: `for item in items:`; what counts is a `repeat`: `repeat 3 as i:`
              session "x"
            for (x in xs):
                ^ error[E108] `for` has no parentheses: `for item in items:`
                fix: Remove the parentheses => "for x in xs:"
              session "x"
            choice **which**:
              option "a":
                session "x"
              else:
              ^^^^ error[E104] this `else` does not belong to an `if`: none ends above it at this indentation
                session "y"
        "#]],
    );
}

#[test]
fn definitions_of_other_languages() {
    check(
        r#"
class Writer:
  prompt: "x"
block f(x: string, y: int):
  session "x"
block g(x = "a") -> string:
  session "x"
block h(x) -> string:
  session "x"
"#,
        expect![[r#"
            class Writer:
            ^^^^^ error[E108] there are no classes: who works is an `agent name:`, and a reusable part of a program is a `block name:`
              prompt: "x"
            block f(x: string, y: int):
                     ^^^^^^^^ error[E108] parameters have no types
                     guess: Remove it => "block f(x, y: int):"
              session "x"
            block g(x = "a") -> string:
                      ^^^^^ error[E108] parameters have no default values: each call gives all of them
                      guess: Remove it => "block g(x) -> string:"
              session "x"
            block h(x) -> string:
                       ^^^^^^^^^ error[E108] a block does not say what it returns
                       fix: Remove it => "block h(x):"
              session "x"
        "#]],
    );
}

#[test]
fn what_stands_behind_a_text() {
    check(
        r#"
session "do " + x
session "do " + x + "y"
session "a" then session "b"
session "a" retry 3
session "a" (context = x)
/* a "comment */
-- another
session "y"
"#,
        expect![[r##"
            session "do " + x
                          ^ error[E108] a value is put into a text in braces: `"Write about {topic}"`
                          fix: Put the value into the string => "session \"do {x}\""
            session "do " + x + "y"
                          ^ error[E108] a value is put into a text in braces: `"Write about {topic}"`
            session "a" then session "b"
                        ^^^^ error[E108] one session is chained to the next by `->`
                        fix: Change to `->` => "session \"a\" -> session \"b\""
            session "a" retry 3
                             ^ error[E005] missing `:` behind `retry`
                             fix: Insert `:` => "session \"a\" retry: 3"
            session "a" (context = x)
                                 ^ error[E005] a property is written with `:`, as in `context: …`
                                 fix: Change `=` to `:` => "session \"a\" (context: x)"
            /* a "comment */
            ^^ error[E110] a comment starts with `#`
            fix: Change to `#` => "# a \"comment */"
            -- another
            ^^ error[E110] a comment starts with `#`
            fix: Change to `#` => "# another"
            session "y"
        "##]],
    );
}
