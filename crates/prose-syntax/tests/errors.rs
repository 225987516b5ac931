//! What is said of programs with mistakes, where, and what mends them.

mod shown;

use expect_test::expect;
use shown::check;

#[test]
fn unterminated_literals() {
    check(
        r#"
session "abc
if **abc:
  session "z"
loop until **done (max: 3):
  session "z"
session "next"
"#,
        expect![[r#"
            session "abc
                    ^^^^ error[E001] this string is never closed: the closing `"` is missing
                    fix: Insert the closing `"` => "session \"abc\""
            if **abc:
               ^^^^^ error[E001] this condition is never closed: the closing `**` is missing
               fix: Insert the closing `**` => "if **abc**:"
              session "z"
            loop until **done (max: 3):
                       ^^^^^^ error[E001] this condition is never closed: the closing `**` is missing
                       fix: Insert the closing `**` => "loop until **done** (max: 3):"
              session "z"
            session "next"
        "#]],
    );
}

#[test]
fn an_unterminated_triple_string_costs_its_own_lines() {
    check(
        r#"
agent a:
  prompt: """
    You write.
    It is fun.
  model: opus
agent b:
  prompt: """
    You read.
  """
"#,
        expect![[r#"
            agent a:
              prompt: """
                      ^^^ error[E001] this triple-quoted string is never closed: the closing `"""` is missing
                      guess: Insert the closing `"""` => "  \"\"\""
                You write.
                It is fun.
              model: opus
            agent b:
              prompt: """
                You read.
              """
        "#]],
    );
}

#[test]
fn an_opener_that_lost_its_line() {
    check(
        r#"
agent a:
  @@@
    You write.
  """
agent b:
  prompt: """
    You read.
  """
"#,
        expect![[r#"
            agent a:
              @@@
              ^ error[E004] `@` is no part of the language outside of strings
                You write.
                ^^^ error[E107] `You` starts no statement of the language
              """
              ^^^ error[E001] this triple-quoted string is never closed: the closing `"""` is missing
              guess: Insert the closing `"""` => "  \"\"\""
            agent b:
              prompt: """
                You read.
              """
        "#]],
    );
}

#[test]
fn an_unterminated_discretion_over_lines() {
    check(
        r#"
input x: **
  What is
  the name?

if **so**:
  session "x"
"#,
        expect![[r#"
            input x: **
                     ^^ error[E001] this condition is never closed: the closing `**` is missing
                     guess: Insert the closing `**` => "**"
              What is
              the name?

            if **so**:
              session "x"
        "#]],
    );
}

#[test]
fn unknown_escapes() {
    check(
        r#"
session "C:\dir"
session """C:\dir"""
"#,
        expect![[r#"
            session "C:\dir"
                       ^^ error[E002] unknown escape `\d`; a string knows `\\`, `\"`, `\n`, `\t`, `\{` and `\}`. For a backslash write `\\`
                       fix: Double the backslash => "session \"C:\\\\dir\""
            session """C:\dir"""
        "#]],
    );
}

#[test]
fn sessions_without_target() {
    check(
        r#"
session
session:
session writer
session write a poem
resume:
resume
session 3
"#,
        expect![[r#"
            session
            ^^^^^^^ error[E003] a session needs a text or an agent: `session "what to do"` or `session: agent`
            session:
            ^^^^^^^ error[E003] a session needs a text or an agent: `session "what to do"` or `session: agent`
            session writer
                   ^ error[E003] missing `:` before the name of the agent: `session: writer`
                   fix: Insert `:` => "session: writer"
            session write a poem
                    ^^^^^^^^^^^^ error[E003] the text of a session is written in quotes
                    guess: Put the text in quotes => "session \"write a poem\""
            resume:
            ^^^^^^ error[E003] `resume` needs the agent that goes on: `resume: agent`
            resume
            ^^^^^^ error[E003] `resume` needs the agent that goes on: `resume: agent`
            session 3
            ^^^^^^^ error[E003] a session needs a text or an agent: `session "what to do"` or `session: agent`
        "#]],
    );
}

#[test]
fn misspelt_keywords() {
    check(
        r#"
sesion "x"
  prompt: "y"
lett x = 1
fro x in xs:
  session "y"
Session "z"
paralel:
  session "q"
else:
  session "x"
"#,
        expect![[r#"
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
        "#]],
    );
}

#[test]
fn names_have_the_letters_of_any_script() {
    check(
        r#"
let größe = session "Measure"
変数 = größe
élan-vital = "{größe.höhe} {変数[größe]}"
"#,
        expect![[r#"
            let größe = session "Measure"
            変数 = größe
            élan-vital = "{größe.höhe} {変数[größe]}"
        "#]],
    );
}

#[test]
fn words_that_start_nothing() {
    check(
        r#"
foo
foo bar baz
"text"
a + b
**so**
3
caf€ = 3
let caf€ = 3
@@@ %% ^^
"#,
        expect![[r#"
            foo
            ^^^ error[E107] `foo` alone does nothing; a statement starts with a keyword such as `session`
            foo bar baz
            ^^^ error[E107] `foo` starts no statement of the language
            "text"
            ^^^^^^ error[E004] a text alone does nothing; to have an agent work on it, put `session` before it
            guess: Insert `session` => "session \"text\""
            a + b
            ^^^^^ error[E004] this value is not used; bind it with `let name = …` or return it with `output …`
            **so**
            ^^^^^^ error[E004] a condition alone does nothing; it belongs behind `if`, `loop until` or `choice`
            3
            ^ error[E004] this value is not used; bind it with `let name = …` or return it with `output …`
            caf€ = 3
            ^^^^ error[E115] `caf€` is no name: names are made of letters, digits, `_` and `-`, and start with a letter or `_`. Other text is written in quotes
            let caf€ = 3
                ^^^^ error[E115] `caf€` is no name: names are made of letters, digits, `_` and `-`, and start with a letter or `_`. Other text is written in quotes
            @@@ %% ^^
            ^ error[E004] `@` is no part of the language outside of strings
        "#]],
    );
}

#[test]
fn missing_parts() {
    check(
        r#"
repeat 3
  session "x"
agent foo
  model: opus
let x session "y"
let x: 3
let x
output foo: session "x"
output
for x xs:
  session "x"
for in xs:
  session "x"
if :
  session "x"
use "a" b
use "a" as
"#,
        expect![[r#"
            repeat 3
                    ^ error[E005] missing `:` at the end of the `repeat` line
                    fix: Insert `:` => "repeat 3:"
              session "x"
            agent foo
                     ^ error[E005] missing `:` at the end of the `agent` line
                     fix: Insert `:` => "agent foo:"
              model: opus
            let x session "y"
                 ^ error[E005] missing `=` between a variable and its value
                 fix: Insert `=` => "let x = session \"y\""
            let x: 3
                 ^ error[E005] a variable gets its value with `=`
                 fix: Change `:` to `=` => "let x = 3"
            let x
                 ^ error[E005] `let` binds a value: `let name = …`
            output foo: session "x"
                      ^ error[E005] an output gets its value with `=`
                      fix: Change `:` to `=` => "output foo = session \"x\""
            output
                  ^ error[E005] missing a value behind `output`
            for x xs:
                 ^ error[E005] missing `in` and the collection: `for item in items:`
                 fix: Insert `in` => "for x in xs:"
              session "x"
            for in xs:
                ^^ error[E005] missing the name of the loop variable: `for item in items:`
              session "x"
            if :
               ^ error[E005] missing the condition, such as `**the tests pass**`
              session "x"
            use "a" b
                    ^ error[E005] missing `as` before the name
                    fix: Insert `as` => "use \"a\" as b"
            use "a" as
                      ^ error[E005] missing the name behind `as`
        "#]],
    );
}

#[test]
fn brackets() {
    check(
        r#"
parallel (on-fail: "continue":
  a = session "x"
let z = [1, 2
let w = { a: 1, b
let v = [1 2]
let u = (1 + 2
let t = a[0
let s = ]
do f(1, 2
session "x"
"#,
        expect![[r#"
            parallel (on-fail: "continue":
                     ^ error[E005] this `(` is never closed: `)` is missing
                     guess: Insert `)` => "parallel (on-fail: \"continue\"):"
              a = session "x"
            let z = [1, 2
                    ^ error[E005] this `[` is never closed: `]` is missing
                    guess: Insert `]` => "let z = [1, 2]"
            let w = { a: 1, b
                    ^ error[E005] this `{` is never closed: `}` is missing
                    guess: Insert `}` => "let w = { a: 1, b}"
            let v = [1 2]
                      ^ error[E005] missing `,` between two items
                      fix: Insert `,` => "let v = [1, 2]"
            let u = (1 + 2
                    ^ error[E005] this `(` is never closed: `)` is missing
                    guess: Insert `)` => "let u = (1 + 2)"
            let t = a[0
                     ^ error[E005] this `[` is never closed: `]` is missing
                     guess: Insert `]` => "let t = a[0]"
            let s = ]
                    ^ error[E004] this `]` closes nothing
            do f(1, 2
                ^ error[E005] this `(` is never closed: `)` is missing
                guess: Insert `)` => "do f(1, 2)"
            session "x"
        "#]],
    );
}

#[test]
fn properties() {
    check(
        r#"
agent x:
  model = opus
  prompt "abc"
  model
  context:
  persist: yes please
prompt: "abc"
let a = 1
  context: b
"#,
        expect![[r#"
            agent x:
              model = opus
                    ^ error[E005] a property is written with `:`, as in `model: …`
                    fix: Change `=` to `:` => "  model: opus"
              prompt "abc"
                    ^ error[E005] missing `:` behind `prompt`
                    fix: Insert `:` => "  prompt: \"abc\""
              model
                   ^ error[E005] missing `:` and a value behind `model`
              context:
                      ^ error[E005] missing a value behind `:`
              persist: yes please
                       ^^^^^^^^^^ error[E004] a text of several words is written in quotes
                       guess: Put the text in quotes => "  persist: \"yes please\""
            prompt: "abc"
            ^^^^^^ error[E004] `prompt:` is a property; indent it below the `agent` or `session` that it belongs to
            let a = 1
              context: b
            ^^ error[E101] `context:` is a property, but the statement above it takes none
        "#]],
    );
}

#[test]
fn statements_below_a_session() {
    check(
        r#"
session: x
  session "foo"
  session "bar"
  prompt: "y"
session "z"
"#,
        expect![[r#"
            session: x
              session "foo"
              ^^^^^^^ error[E101] only properties are indented below this; indent a statement like the line it follows
              session "bar"
              prompt: "y"
            session "z"
        "#]],
    );
}

#[test]
fn layout() {
    check(
        r#"
let a = 1
  session "x"
  session "y"
if **a**:
    session "x"
  session "y"
session "z"
"#,
        expect![[r#"
            let a = 1
              session "x"
            ^^ error[E101] this line is indented deeper than the one above, which opens no block
              session "y"
            if **a**:
                session "x"
              session "y"
            ^^ error[E102] this line is indented by 2, but the lines above are indented by 0 and 4; indent it by one of the two
            guess: Indent by 4 => "    session \"y\""
            session "z"
        "#]],
    );
}

#[test]
fn a_first_line_that_is_indented() {
    check(
        r#"
  session "x"
session "y"
"#,
        expect![[r#"
              session "x"
            ^^ error[E101] the first line of a program is not indented
            session "y"
        "#]],
    );
}

#[test]
fn tabs() {
    check(
        "repeat 3:\n\tsession \"x\"\n\trepeat 2:\n\t\tsession \"y\"\n",
        expect![[r#"
        repeat 3:
        	session "x"
        ^ error[E103] this line is indented with a tab; OpenProse is indented with spaces
        fix: Indent with spaces => "  session \"x\""
        	repeat 2:
        ^ error[E103] this line is indented with a tab; OpenProse is indented with spaces
        fix: Indent with spaces => "  repeat 2:"
        		session "y"
        ^^ error[E103] this line is indented with a tab; OpenProse is indented with spaces
        fix: Indent with spaces => "    session \"y\""
    "#]],
    );
}

#[test]
fn clauses() {
    check(
        r#"
else:
  session "x"
if **a**:
  session "x"
else:
  session "x"
else:
  session "y"
elif **b**:
  session "z"
catch as e:
  session "x"
option "x":
  session "y"
try:
  session "x"
session "y"
"#,
        expect![[r#"
            else:
            ^^^^ error[E104] this `else` does not belong to an `if`: none ends above it at this indentation
              session "x"
            if **a**:
              session "x"
            else:
              session "x"
            else:
            ^^^^ error[E104] this `if` has an `else` already
              session "y"
            elif **b**:
            ^^^^ error[E104] an `elif` stands before the `else`
              session "z"
            catch as e:
              session "x"
            option "x":
            ^^^^^^ error[E104] this `option` stands outside of a `choice`
              session "y"
            try:
            ^^^ error[E105] this `try` has neither a `catch:` nor a `finally:` below it
              session "x"
            session "y"
        "#]],
    );
}

#[test]
fn finally_is_the_last_clause_of_a_try() {
    check(
        r#"
try:
  session "x"
finally:
  session "clean up"
catch as e:
  session "y"
try:
  session "x"
finally:
  session "clean up"
finally:
  session "clean up again"
try:
  session "x"
finaly:
  session "clean up"
catch:
  session "y"
"#,
        expect![[r#"
            try:
              session "x"
            finally:
              session "clean up"
            catch as e:
            ^^^^^ error[E104] a `catch` stands before the `finally`, which runs last
              session "y"
            try:
              session "x"
            finally:
              session "clean up"
            finally:
            ^^^^^^^ error[E104] this `try` has a `finally` already
              session "clean up again"
            try:
              session "x"
            finaly:
            ^^^^^^ error[E107] unknown statement `finaly`; did you mean `finally`?
            fix: Change to `finally` => "finally:"
              session "clean up"
            catch:
              session "y"
        "#]],
    );
}

#[test]
fn choices() {
    check(
        r#"
choice **a**:
  option x y:
    session "x"
  option :
    session "x"
  session "y"
choice:
  option "x":
    session "x"
"#,
        expect![[r#"
            choice **a**:
              option x y:
                     ^^^ error[E005] the label of an option is written in quotes
                     fix: Put the label in quotes => "  option \"x y\":"
                session "x"
              option :
                     ^ error[E005] missing the label of the option: `option "label":`
                session "x"
              session "y"
              ^^^^^^^ warning[W102] a `choice` holds options alone: put this under an `option "label":`
            choice:
                  ^ error[E005] missing the condition, such as `**the tests pass**`
              option "x":
                session "x"
        "#]],
    );
}

#[test]
fn conditions_without_markers() {
    check(
        r#"
if the tests pass:
  session "x"
elif tests pass?:
  session "x"
loop until it works (max: 3):
  session "x"
choice the best one:
  option "a":
    session "x"
loop **done**:
  session "x"
"#,
        expect![[r#"
            if the tests pass:
               ^^^^^^^^^^^^^^ error[E113] a condition in words is written between `**` markers, so that a model judges it
               fix: Put it between `**` => "if **the tests pass**:"
              session "x"
            elif tests pass?:
                 ^^^^^^^^^^^ error[E113] a condition in words is written between `**` markers, so that a model judges it
                 fix: Put it between `**` => "elif **tests pass?**:"
              session "x"
            loop until it works (max: 3):
                       ^^^^^^^^ error[E113] a condition in words is written between `**` markers, so that a model judges it
                       fix: Put it between `**` => "loop until **it works** (max: 3):"
              session "x"
            choice the best one:
                   ^^^^^^^^^^^^ error[E113] a condition in words is written between `**` markers, so that a model judges it
                   fix: Put it between `**` => "choice **the best one**:"
              option "a":
                session "x"
            loop **done**:
                ^ error[E005] a loop says whether it goes on `until` or `while` its condition holds
                guess: Insert `until` => "loop until **done**:"
              session "x"
        "#]],
    );
}

#[test]
fn numbers_out_of_range() {
    check(
        r#"
repeat 0:
  session "x"
repeat 1.5:
  session "x"
loop until **a** (max: -1):
  session "x"
session "x"
  retry: 0
parallel ("any", count: 0):
  session "x"
"#,
        expect![[r#"
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
        "#]],
    );
}

#[test]
fn pipelines() {
    check(
        r#"
xs | mapp: session "x"
xs | each:
  session "x"
xs | reduce: session "x"
xs | reduce(a): session "x"
| map: session "x"
-> session "x"
session "a" -> "b"
"#,
        expect![[r#"
            xs | mapp: session "x"
                 ^^^^ error[E116] unknown pipeline operator `mapp`; did you mean `map`?
                 fix: Change to `map` => "xs | map: session \"x\""
            xs | each:
                 ^^^^ error[E116] expected `map:`, `filter:`, `pmap:` or `reduce(total, item):` behind `|`
              session "x"
            xs | reduce: session "x"
                       ^ error[E116] `reduce` names what it gathers and the item: `reduce(total, item):`
            xs | reduce(a): session "x"
                         ^ error[E116] `reduce` needs two names, what it gathers and the item: `reduce(total, item):`
            | map: session "x"
            -> session "x"
            session "a" -> "b"
                           ^^^ error[E005] an arrow leads to a `session` or a `resume`: `session "a" -> session "b"`
        "#]],
    );
}

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
            guess: Change to `use` => "use \"abc\""
            import "abc"
            ^^^^^^ error[E108] programs are imported with `use "path"`, and with `as` for another name
            guess: Change to `use` => "use \"abc\""
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
            guess: Change to `input` => "input approve: \"Approve approve?\""
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
fn jumps_outside_of_loops() {
    check(
        r#"
break
repeat 2:
  if **a**:
    break
block f:
  continue
loop:
  block g:
    break
"#,
        expect![[r#"
            break
            ^^^^^ error[E114] `break` stands outside of a loop
            guess: Remove `break` => ""
            repeat 2:
              if **a**:
                break
            block f:
              continue
              ^^^^^^^^ error[E114] `continue` stands outside of a loop
              guess: Remove `continue` => "  "
            loop:
              block g:
                break
                ^^^^^ error[E114] `break` stands outside of a loop
                guess: Remove `break` => "    "
        "#]],
    );
}

#[test]
fn empty_bodies() {
    check(
        r#"
repeat 3:
agent a:
if **x**:
  # nothing
else:
  session "y"
"#,
        expect![[r#"
            repeat 3:
            ^^^^^^ warning[W101] this `repeat` has an empty body
            agent a:
            ^^^^^ warning[W101] this `agent` has no properties
            if **x**:
            ^^ warning[W101] this `if` has an empty body
              # nothing
            else:
              session "y"
        "#]],
    );
}

#[test]
fn inputs_and_outputs_without_names() {
    check(
        r#"
input: "x"
input
output = 3
input x "desc"
input "x": "y"
"#,
        expect![[r#"
            input: "x"
            ^^^^^ error[E020] this input has no name: `input topic: "what it is for"`
            guess: Name it `topic` => "input topic: \"x\""
            input
            ^^^^^ error[E020] this input has no name: `input topic: "what it is for"`
            guess: Name it `topic` => "input topic"
            output = 3
            ^^^^^^ error[E023] this output has no name: `output report = …`
            guess: Name it `result` => "output result = 3"
            input x "desc"
                   ^ error[E005] missing `:` between an input's name and its description
                   fix: Insert `:` => "input x: \"desc\""
            input "x": "y"
                  ^^^ error[E020] the name of an input is written without quotes
                  fix: Remove the quotes => "input x: \"y\""
        "#]],
    );
}

#[test]
fn garbage_in_a_header_keeps_its_body() {
    check(
        r#"
@@@ what:
  session "x"
  prompt: "p"
  option "x":
    session "y"
else:
  session "z"
"#,
        expect![[r#"
            @@@ what:
            ^ error[E004] `@` is no part of the language outside of strings
              session "x"
              prompt: "p"
              option "x":
                session "y"
            else:
              session "z"
        "#]],
    );
}

#[test]
fn garbage_in_a_choice() {
    check(
        r#"
choice **a**:
  @@@
    session "x"
  option "y":
    session "y"
"#,
        expect![[r#"
            choice **a**:
              @@@
              ^ error[E004] `@` is no part of the language outside of strings
                session "x"
              option "y":
                session "y"
        "#]],
    );
}

#[test]
fn garbage_in_a_pipeline() {
    check(
        r#"
let r = xs
  | map: session "a"
  @@@
  | filter: session "b"
session "c"
"#,
        expect![[r#"
            let r = xs
              | map: session "a"
              @@@
              ^ error[E004] `@` is no part of the language outside of strings
              | filter: session "b"
            session "c"
        "#]],
    );
}

#[test]
fn garbage_in_a_collection() {
    check(
        r#"
let a = [
  1,
  @@@,
  3 4
]
"#,
        expect![[r#"
            let a = [
              1,
              @@@,
              ^ error[E004] `@` is no part of the language outside of strings
              3 4
               ^ error[E005] missing `,` between two items
               fix: Insert `,` => "  3, 4"
            ]
        "#]],
    );
}

#[test]
fn a_wide_character_before_a_marker() {
    check(
        r#"
if **a
x 😀on**y
z **b
"#,
        expect![[r#"
            if **a
               ^^^ error[E001] this condition is never closed: the closing `**` is missing
               fix: Insert the closing `**` => "if **a**"
            x 😀on**y
            ^ error[E107] `x` starts no statement of the language
            z **b
            ^ error[E107] `z` starts no statement of the language
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
fn a_missing_colon_before_a_body_on_the_line() {
    check(
        r#"
items | map session "x"
for x in [1, 2] session "a"
if **a** session "b"
"#,
        expect![[r#"
            items | map session "x"
                       ^ error[E005] missing `:` before the body of this `map`
                       fix: Insert `:` => "items | map: session \"x\""
            for x in [1, 2] session "a"
                           ^ error[E005] missing `:` before the body of this `for`
                           fix: Insert `:` => "for x in [1, 2]: session \"a\""
            if **a** session "b"
                    ^ error[E005] missing `:` before the body of this `if`
                    fix: Insert `:` => "if **a**: session \"b\""
        "#]],
    );
}

#[test]
fn a_line_that_is_being_written_has_one_mistake() {
    check(
        r#"
do review(
  a,
  b
loop until **a** max: 3:
  session "x"
loop (max 3):
  session "y"
try
"#,
        expect![[r#"
            do review(
                     ^ error[E005] this `(` is never closed: `)` is missing
                     guess: Insert `)` => "  b)"
              a,
              b
            loop until **a** max: 3:
                             ^^^ error[E004] unexpected `max`
              session "x"
            loop (max 3):
                     ^ error[E005] missing `:` behind `max`
                     fix: Insert `:` => "loop (max: 3):"
              session "y"
            try
               ^ error[E005] missing `:` at the end of the `try` line
               fix: Insert `:` => "try:"
        "#]],
    );
}

#[test]
fn characters_that_look_like_others() {
    check(
        "session\u{a0}\"x\"\nif **a**：\n  session \"y\"\n",
        expect![[r#"
            session "x"
            ^^^^^^^^ error[E004] there is a character in this that looks like a space and is none; it often comes with text from a web page
            fix: Change to a space => "session \"x\""
            if **a**：
                    ^ error[E004] this colon is a full-width one; the language has `:`
                    fix: Change to `:` => "if **a**:"
              session "y"
        "#]],
    );
}

#[test]
fn a_handler_on_the_line_of_its_try() {
    check(
        r#"
try: do a() catch: do b()
"#,
        expect![[r#"
            try: do a() catch: do b()
                        ^^^^^ error[E004] unexpected `catch`
        "#]],
    );
}

#[test]
fn an_unterminated_triple_string_with_text_left_of_it_is_one_mistake() {
    check(
        r#"
agent a:
  prompt: """
You write.
It is fun, and these are the rules:
- one
2. two

# Style
Be brief.
  model: opus
let x = """
Some text here.
sesion "y"
"#,
        expect![[r#"
            agent a:
              prompt: """
                      ^^^ error[E001] this triple-quoted string is never closed: the closing `"""` is missing
                      guess: Insert the closing `"""` => "  \"\"\""
            You write.
            It is fun, and these are the rules:
            - one
            2. two

            # Style
            Be brief.
              model: opus
            let x = """
                    ^^^ error[E001] this triple-quoted string is never closed: the closing `"""` is missing
                    guess: Insert the closing `"""` => "\"\"\""
            Some text here.
            sesion "y"
            ^^^^^^ error[E107] unknown statement `sesion`; did you mean `session`?
            fix: Change to `session` => "session \"y\""
        "#]],
    );
}

#[test]
fn markdown_fences() {
    check(
        r#"
```prose
agent a:
  ```
  model: opus
let x = ```y
````
"#,
        expect![[r#"
            ```prose
            ^^^^^^^^ error[E004] a Markdown fence is no part of a program; keep the lines between the fences alone
            fix: Remove the fence => ""
            agent a:
              ```
              ^^^ error[E004] a Markdown fence is no part of a program; keep the lines between the fences alone
              fix: Remove the fence => ""
              model: opus
            let x = ```y
                    ^^^ error[E004] ````` is no part of the language outside of strings
            ````
            ^^^^ error[E004] a Markdown fence is no part of a program; keep the lines between the fences alone
            fix: Remove the fence => ""
        "#]],
    );
}

#[test]
fn merge_conflicts() {
    check(
        r#"
agent a:
<<<<<<< HEAD
  model: opus
||||||| 1234567
  model: haiku
=======
  model: sonnet
>>>>>>> feature
  prompt: "x"
  <<<<<<< HEAD
xs
  ======= y
"#,
        expect![[r#"
            agent a:
            <<<<<<< HEAD
            ^^^^^^^^^^^^ error[E004] a merge conflict was left unresolved here: keep one of its sides, and remove this line
              model: opus
            ||||||| 1234567
            ^^^^^^^^^^^^^^^ error[E004] the common ancestor in an unresolved merge conflict starts here: remove it with this line
              model: haiku
            =======
            ^^^^^^^ error[E004] the other side of an unresolved merge conflict starts here: keep one side, and remove this line
              model: sonnet
            >>>>>>> feature
            ^^^^^^^^^^^^^^^ error[E004] a merge conflict that was left unresolved ends here: remove this line
              prompt: "x"
              <<<<<<< HEAD
              ^^^^^^^ error[E004] `<<<<<<<` is no part of the language outside of strings
            xs
            ^^ error[E107] `xs` alone does nothing; a statement starts with a keyword such as `session`
              ======= y
              ^^^^^^^ error[E004] `=======` is no part of the language outside of strings
        "#]],
    );
}

#[test]
fn a_tab_before_the_first_line_is_one_mistake() {
    check(
        "\tsession \"x\"\nsession \"y\"\n",
        expect![[r#"
            	session "x"
            ^ error[E103] this line is indented with a tab; OpenProse is indented with spaces
            fix: Indent with spaces => "session \"x\""
            session "y"
        "#]],
    );
}
