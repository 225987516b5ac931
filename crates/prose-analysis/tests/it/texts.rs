//! Texts in the default profile: those that say nothing, and sessions that nobody tells anything.

use crate::support::{check, check_fixes, check_related, unmarked};
use expect_test::expect;
use prose_syntax::Code;

#[test]
fn texts() {
    check(
        r#"
        session """  """
        #       ^^^^^^^^ warning[W002] the text of the session is only whitespace; describe the task
        session ""
        #       ^^ warning[W001] the text of the session is empty; write here what the `prompt:` below is about
          prompt: "Say hello"
        session "Say hello"
          prompt: " "
        #         ^^^ warning[W004] the prompt is empty; describe the task of the session
        "#,
    );
    check_fixes(
        "session \"Say hello\"\n  prompt: \"\"\n  model: opus\n",
        expect![[r#"
            Remove `prompt`:
            session "Say hello"
              model: opus
        "#]],
    );
}

#[test]
fn sessions_without_instructions() {
    check(
        r#"
        agent writer:
          model: opus
        agent editor:
          prompt: ""
        #         ^^ warning[W004]
        let draft = session: writer
        #                    ^^^^^^ warning[W126] neither this session nor agent `writer` has a `prompt:`
          context: []
        session: editor
          context: draft
        session: writer
          prompt: "Write"
        session: nobody
        #        ^^^^^^ error[E007]
        "#,
    );
    check_related(
        "agent writer:\n  model: opus\n\nsession: writer\n",
        expect![[r#"
            line 1, `writer`: `writer` has no `prompt:`
        "#]],
    );
}

#[test]
fn triple_quotes_inside_of_a_triple_quoted_string() {
    let program = Code::W140.info().wrong;
    let (text, found) = unmarked(program);
    let [diagnostic] = found.as_slice() else { panic!("one diagnostic is wanted: {found:#?}") };
    assert_eq!(diagnostic.code, Code::W140);
    let before = &text[..usize::from(diagnostic.range.end())];
    assert_eq!(before.lines().last(), Some("      session \"\"\""));
    assert_eq!(diagnostic.range.len(), 3.into());
}

#[test]
fn names_in_braces_have_the_letters_of_any_script() {
    check(
        r#"
        let größe = session "Measure"
        session "Compare {größe} with {grösse}"
        #                              ^^^^^^ error[E120] variable `grösse` is not defined; did you mean `größe`?
        use "./übersicht.prose"
        #    ^^^^^^^^^^^^^^^^^ error[E139] file `./übersicht.prose` not found
        output übersicht()
        "#,
    );
}
