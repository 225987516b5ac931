//! Programs before and after.

use expect_test::{Expect, expect};
use prose_format::format;

#[track_caller]
fn check(before: &str, after: Expect) {
    let formatted = format(before);
    after.assert_eq(&formatted);
    assert_eq!(format(&formatted), formatted, "formatting again changes something");
}

#[test]
fn spaces() {
    check(
        r#"
let   x=[1,2 , 3,]
do f( a,b :2 )
session   "a"   # why
if not (x)or y . z [ 0 ]==-1 :
    throw
parallel("any",count:2):
      a=session:b
      b = { a , c:1,}
let {p,q}=g()
let t = x?1:2
"#,
        expect![[r#"
            let x = [1, 2, 3]
            do f(a, b: 2)
            session "a"  # why
            if not (x)or y . z [ 0 ]==-1 :
              throw
            parallel ("any", count: 2):
              a = session: b
              b = { a, c: 1 }
            let { p, q } = g()
            let t = x ? 1 : 2
        "#]],
    );
}

#[test]
fn indentation() {
    check(
        r#"
agent a:
    model: opus
    permissions:
        read: ["x",
          "y"]
    prompt: """
  stays
    as it is
"""
if **a
  or b**:
     # in the body
     session "x"
     # still in the body
# of else
else:
       do:
          session "y"

          # ends do

       # ends else
catch_up = 3
assert x == 1:
       "message"
try:
   # nothing
catch as e:
   throw
"#,
        expect![[r#"
            agent a:
              model: opus
              permissions:
                read: [
                  "x",
                  "y"
                ]
              prompt: """
              stays
                as it is
            """
            if **a
              or b**:
              # in the body
              session "x"
              # still in the body
            # of else
            else:
              do:
                session "y"

                # ends do

              # ends else
            catch_up = 3
            assert x == 1:
              "message"
            try:
              # nothing
            catch as e:
              throw
        "#]],
    );
}

#[test]
fn pipelines_and_chains() {
    check(
        r#"
let issue = picks | reduce(draft,pick):
    session "a"
let r = files
    | filter: session "a"
    | reduce(report, info):
        session "b"
          context: x
ideas | filter:
  session "a"
| pmap:
  session "b"
let s = xs | map: session "x" | filter: session "y"
let t = session "x"
->session "y"
    context: t
"#,
        expect![[r#"
            let issue = picks | reduce(draft, pick):
              session "a"
            let r = files
              | filter: session "a"
              | reduce(report, info):
                  session "b"
                    context: x
            ideas
              | filter:
                  session "a"
              | pmap:
                  session "b"
            let s = xs | map: session "x" | filter: session "y"
            let t = session "x"
            -> session "y"
              context: t
        "#]],
    );
}

#[test]
fn lists() {
    check(
        r#"
let a = [
 1, 2,
    3]
let b = [ # first
  "x"
  # last
]
let c = f(a,
  { k: [1,
    2] }, )
let d = (a
  + b)
let e = [
]
agent x:
  permissions:
      read: [
         "a"
         , "b",

         "c"
      ]
"#,
        expect![[r#"
            let a = [
              1,
              2,
              3
            ]
            let b = [  # first
              "x"
              # last
            ]
            let c = f(
              a,
              { k: [
                1,
                2
              ] },
            )
            let d = (a + b)
            let e = []
            agent x:
              permissions:
                read: [
                  "a",
                  "b",

                  "c"
                ]
        "#]],
    );
}

#[test]
fn blank_lines_and_ends() {
    check(
        "\n\n\nsession \"a\"  \n\n\n\n# x   \n\n\nagent a:\n\n  model: opus\n\n\n  prompt: \"p\"\n\n\n",
        expect![[r#"
            session "a"

            # x

            agent a:
              model: opus

              prompt: "p"
        "#]],
    );
    assert_eq!(format("session \"a\"\r\nif x:\r\n    throw"), "session \"a\"\r\nif x:\r\n  throw\r\n");
    assert_eq!(format("  \n\n"), "");
    assert_eq!(format("\u{feff}\nsession \"a\""), "\u{feff}session \"a\"\n");
    assert_eq!(format("# only this"), "# only this\n");
}

#[test]
fn mistakes_stay() {
    check(
        r#"
let  x =
session   "unterminated
for (x  in y):
     session    "b"
while   true:
     session    "b"
session  'a'
if **x**:
      sesion   "typed"
      let  y  =  1
"#,
        expect![[r#"
            let  x =
            session   "unterminated
            for (x  in y):
              session "b"
            while   true:
              session "b"
            session  'a'
            if **x**:
              sesion   "typed"
              let y = 1
        "#]],
    );
}

#[test]
fn tabs() {
    check(
        "if **x**:\n\tsession \"a\"\n\tif **y**:\n\t\tthrow\n",
        expect![[r#"
        if **x**:
          session "a"
          if **y**:
            throw
    "#]],
    );
}

#[test]
fn comments_under_each_other() {
    check(
        r#"
agent a:
    model: opus      # hard work
    persist: project # stays
let x=1           # alone

let y = "ö" # one
let long = 1 # two
session """
text"""   # a
throw     # b
"#,
        expect![[r#"
            agent a:
              model: opus       # hard work
              persist: project  # stays
            let x = 1  # alone

            let y = "ö"  # one
            let long = 1  # two
            session """
            text"""  # a
            throw    # b
        "#]],
    );
}
