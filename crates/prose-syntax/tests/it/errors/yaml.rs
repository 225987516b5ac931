//! Front matter, and definitions below a word for all of them: one mistake each.

use expect_test::expect;

use crate::shown::check;

#[test]
fn front_matter() {
    check(expect![[r##"
        ---
        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error[E108] a program has no front matter; write it as comments starting with `#`
        fix: Convert to comments => "# title: Tides\n# tags:\n#   - sea\n# author: \"Ann\n#\n# version: 1"
        title: Tides
        tags:
          - sea
        author: "Ann

        version: 1
        ---

        session "Write about tides"
    "##]]);
    // Without its end it is none.
    check(expect![[r##"
        ---
        ^^^ error[E110] a line of dashes is not a statement; a comment starts with `#`
        fix: Convert to a comment => "# ---"
        session "Write about tides"
    "##]]);
    check(expect![[r##"
        session "Write about tides"
        ---
        ^^^ error[E110] a line of dashes is not a statement; a comment starts with `#`
        fix: Convert to a comment => "# ---"
        session "Write about the moon"
    "##]]);
}

#[test]
fn definitions_below_one_word() {
    check(expect![[r#"
        agents:
        ^^^^^^ error[E108] unexpected `agents:`; define each agent separately: `agent writer:`
        guess: Define each with `agent` => "agent writer:\n  model: opus\n  prompt: \"Write\"\n\nagent editor:\n  prompt: \"\"\"\n    Edit\n  \"\"\""
          writer:
            model: opus
            prompt: "Write"

          editor:
            prompt: """
              Edit
            """
        session: writer
    "#]]);
    check(expect![[r#"
        inputs:
        ^^^^^^ error[E108] unexpected `inputs:`; define each input separately: `input topic:`
        guess: Define each with `input` => "input topic: \"What to write about\""
          topic: "What to write about"
        session "Write about {topic}"
    "#]]);
    // Variables have any name.
    check(expect![[r#"
        let agents = 3
        agents = 4
    "#]]);
}
