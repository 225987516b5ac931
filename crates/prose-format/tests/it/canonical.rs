//! The canonical form of programs.

use expect_test::{Expect, expect};
use prose_format::{canonical, format};

#[track_caller]
fn check(text: &str, expected: Expect) {
    let compiled = canonical(text);
    expected.assert_eq(&compiled.replace('\r', "␍"));
    assert_eq!(canonical(&compiled), compiled, "it is canonical already");
    assert_eq!(format(&compiled), compiled, "it is formatted");
}

#[test]
fn comments_go_with_their_lines() {
    check(
        r#"# What it is for

session "a"  # first
# in between
session "b"
  # the best
  model: opus  # of all
session """
# no comment
"""
if **# no comment either**:
  session "c"
  # the end
let xs = [
  # one
  "a",
]
# bye"#,
        expect![[r##"
            session "a"
            session "b"
              model: opus
            session """
            # no comment
            """
            if **# no comment either**:
              session "c"
            let xs = [
              "a",
            ]
        "##]],
    );
}

#[test]
fn arrow_chains_become_statements_where_these_run_one_after_another() {
    check(
        r#"session "a" -> session "b"
  model: opus
repeat 2:
  let x = session "c" -> session "d" -> session "e"
    retry: 2
session "f"
  model: opus
-> session "g"
  model: haiku
parallel:
  session "h" -> session "i"
  y = session "j" -> session "k"
let z = do:
  session "l" -> session "m"
output r = session "n" -> session "o"
"#,
        expect![[r#"
            session "a"
            session "b"
              model: opus
            repeat 2:
              session "c"
              session "d"
              let x = session "e"
                retry: 2
            session "f"
              model: opus
            session "g"
              model: haiku
            parallel:
              do:
                session "h"
                session "i"
              y = session "j" -> session "k"
            let z = do:
              session "l"
              session "m"
            session "n"
            output r = session "o"
        "#]],
    );
}

#[test]
fn what_is_defined_comes_first() {
    check(
        "input topic: \"What about\"\r\ndo later(topic)\r\n\r\nblock later(t):\r\n  session: writer\r\n    prompt: \"{t}\"\r\nagent writer:\r\n  model: opus\r\ninput more: \"And\"\r\nuse \"alice/x\"\r\nlet r = x(topic: more)\r\n",
        expect![[r#"
            use "alice/x"␍
            ␍
            input topic: "What about"␍
            ␍
            agent writer:␍
              model: opus␍
            ␍
            block later(t):␍
              session: writer␍
                prompt: "{t}"␍
            ␍
            do later(topic)␍
            input more: "And"␍
            let r = x(topic: more)␍
        "#]],
    );
}

#[test]
fn an_agent_stays_after_the_variables_that_it_uses() {
    check(
        "const URL = \"https://example.com\"\nagent b:\n  permissions:\n    network: [URL]\nagent a:\n  prompt: \"a\"\n",
        expect![[r#"
            agent a:
              prompt: "a"

            const URL = "https://example.com"
            agent b:
              permissions:
                network: [URL]
        "#]],
    );
}

#[test]
fn definitions_in_bodies_stand_with_the_others() {
    check(
        r#"let t = "x"
if **so**:
    # the helper
    block inner(a):
        session: helper
            prompt: """
          of {a}
            """
        agent helper:
            model: opus
    do inner(1)
block outer(a):
  block deep:
    session "deep"
  do deep
"#,
        expect![[r#"
            agent helper:
              model: opus

            block inner(a):
              session: helper
                prompt: """
                      of {a}
                        """

            block deep:
              session "deep"

            block outer(a):
              do deep

            let t = "x"
            if **so**:
              do inner(1)
        "#]],
    );
}

#[test]
fn lines_end_as_they_did() {
    let program = "if **so**:\n  block b: # it\n    session \"x\" -> session \"y\"\n  # why\n  do b\nparallel:\n  session \"a\" -> session \"b\"\nsession \"z\"\n";
    let expected = "block b:\n  session \"x\"\n  session \"y\"\n\nif **so**:\n  do b\nparallel:\n  do:\n    session \"a\"\n    session \"b\"\nsession \"z\"\n";
    for line_break in ["\n", "\r\n", "\r"] {
        assert_eq!(canonical(&program.replace('\n', line_break)), expected.replace('\n', line_break));
    }
}

#[test]
fn definitions_that_name_what_their_body_has_stay_in_it() {
    check(
        r#"let url = "x"
for item in [1, 2]:
  block inner:
    session "of {item}"
  agent w:
    prompt: "of {url}"
  session: w
  do inner
if **so**:
  block alone:
    session "there is nothing else to do"
do:
  agent texts:
    prompt: """
      session """
        in it
      """
    """
  session: texts
"#,
        expect![[r#"
            let url = "x"
            for item in [1, 2]:
              block inner:
                session "of {item}"
              agent w:
                prompt: "of {url}"
              session: w
              do inner
            if **so**:
              block alone:
                session "there is nothing else to do"
            do:
              agent texts:
                prompt: """
                  session """
                    in it
                  """
                """
              session: texts
        "#]],
    );
}

#[test]
fn conditions_are_not_touched() {
    check(
        "loop while  **not done**  (max: 3):\n    session \"a\"\n",
        expect![[r#"
            loop while **not done** (max: 3):
              session "a"
        "#]],
    );
    check("", expect![[""]]);
    check("# nothing\n", expect![[""]]);
}
