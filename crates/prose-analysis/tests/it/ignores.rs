//! Comments that switch diagnostics off.

use std::path::Path;

use crate::support::check;
use expect_test::{Expect, expect};
use prose_analysis::diagnostics::diagnostics;
use prose_analysis::{AnalysisHost, Text};
use prose_syntax::fix::apply;

#[test]
fn a_comment_at_the_end_of_a_line_is_for_that_line() {
    check(
        r#"
        session: nobody # prose: ignore[E007] defined elsewhere
        session: nobody
        #        ^^^^^^ error[E007]
        "#,
    );
}

#[test]
fn a_comment_may_begin_like_a_sentence() {
    check(
        r#"
        # Prose: ignore-file[E119] defined by the host
        session: nobody # Prose: Ignore[e007] defined elsewhere
        session: nobody # PROSE: IGNORE[E007]
        session "One"
          context: missing
        # Prose: Ignroe[E007]
        #<^^^^^^^^^^^^^^^^^^^^^ warning[W137] `Ignroe` has no effect; did you mean `ignore`?
        # Prose: what a pleasure
        session "Two"
        "#,
    );
}

#[test]
fn a_comment_on_its_own_line_is_for_the_next_line_of_code() {
    check(
        r#"
        # prose: ignore[E007]
        session: nobody
        session: nobody
        #        ^^^^^^ error[E007]

        # prose: ignore[E007] with a comment and an empty line below

        # the comment
        session: nobody
        repeat 2:
          # prose: ignore[E007]
          session: nobody
          session: nobody
        #          ^^^^^^ error[E007]
        "#,
    );
}

#[test]
fn other_codes_are_still_reported() {
    check(
        r#"
        let draft = session "Write"
        # prose: ignore[E019]
        let draft = session: nobody
        #                    ^^^^^^ error[E007]
        output draft
        # prose: ignore[E007]
        #<^^^^^^^^^^^^^^^^^^^^^ warning[W137] `E007` is not reported here
        session "{missing}"
        #         ^^^^^^^ error[E120]
        "#,
    );
}

#[test]
fn several_codes_and_several_comments() {
    check(
        r#"
        # prose: ignore[E117, E120]
        do nobody("{missing}")
        # prose: ignore[E117]
        # prose: ignore[ e120 ,]
        do nobody("{missing}")
        # prose: ignore[E117]
        do nobody("{missing}") # prose: ignore[E120]
        #prose:ignore [E117]
        do nobody
        ## prose: ignore[E117]
        do nobody
        "#,
    );
}

#[test]
fn a_text_over_several_lines_counts_as_one() {
    check(
        r#"
        input subject: "What to write about"
        # prose: ignore[W127]
        session """
          Write about {subject}.
          Write about {subjct}.
        """
        # prose: ignore[W127, E117]
        do nobody("""
          Write about {subjct}.
        """)
        if ***
          {subjct} is done
        ***: # prose: ignore[W127]
          session """
            Write about {subjct}.
        #                ^^^^^^ warning[W127]
          """
        "#,
    );
}

#[test]
fn properties_and_bodies_are_lines_of_their_own() {
    check(
        r#"
        # prose: ignore[E119]
        #<^^^^^^^^^^^^^^^^^^^^^ warning[W137]
        session "Write"
          context: missing
        #          ^^^^^^^ error[E119]
        session "Write"
          # prose: ignore[E119]
          context: missing
        "#,
    );
}

#[test]
fn a_comment_inside_of_brackets_is_for_its_part() {
    check(
        r#"
        let parts = [
          # prose: ignore[E119]
          missing,
          other,
        # ^^^^^ error[E119]
        ]
        output parts
        "#,
    );
}

#[test]
fn a_file_can_be_excepted_at_its_top() {
    check(
        r#"
        # A program of a sketch.
        # prose: ignore-file[E007, E120] nothing is defined yet
        # Another comment.
        session: nobody
        session "{missing}"
        output missing
        #      ^^^^^^^ error[E119]
        "#,
    );
    check(
        r#"
        session: nobody # prose: ignore-file[E007]
        #        ^^^^^^ error[E007]
        #               ^^^^^^^^^^^^^^^^^^^^^^^^^^ warning[W137] `ignore-file` must come before the first statement
        "#,
    );
}

#[test]
fn a_text_that_looks_like_a_comment_is_none() {
    check(
        r##"
        session "# prose: ignore[E120] {missing}"
        #                               ^^^^^^^ error[E120]
        agent teacher:
          prompt: """
            Write
            # prose: ignore[E007]
          """
        session: teacher
        session: nobody
        #        ^^^^^^ error[E007]
        "##,
    );
}

#[test]
fn comments_about_prose_are_no_ignore_comments() {
    check(
        r#"
        # prose: a language
        # prose: ignorance is bliss [1]
        # prose:
        session "Say hello"
        "#,
    );
}

#[test]
fn syntax_errors_can_be_ignored() {
    check(
        r#"
        # prose: ignore[E107] a session knows what is meant
        perform the rites
        while tired: # prose: ignore[E108]
          session "Rest"
        "#,
    );
}

#[test]
fn a_text_that_is_not_read_as_written_cannot_be_ignored() {
    check(
        r#"
        # prose: ignore[E001]
        #               ^^^^ warning[W137] `E001` cannot be ignored
        session "Say hello
        #       ^^^^^^^^^^ error[E001]
        "#,
    );
}

#[test]
fn codes_without_effect_are_reported_one_by_one() {
    check(
        r#"
        # prose: ignore[E007, E019, E120x, X]
        #                     ^^^^ warning[W137] `E019` is not reported here, so it has no effect in this comment
        #                           ^^^^^ warning[W137] `E120x` is not a diagnostic code; did you mean `E120`?
        #                                  ^ warning[W137] `X` is not a diagnostic code
        session: nobody
        # prose: ignore[E007, E019]
        #<^^^^^^^^^^^^^^^^^^^^^^^^^^^ warning[W137] none of these codes is reported here
        session "Say hello"
        # prose: ignore[E007]
        #<^^^^^^^^^^^^^^^^^^^^^ warning[W137] `E007` is not reported here
        "#,
    );
}

#[test]
fn comments_that_are_nearly_right_are_reported() {
    check(
        r#"
        session "One" # prose: ignore
        #             ^^^^^^^^^^^^^^^ warning[W137] expected codes to ignore: `# prose: ignore[W101] reason`
        session "Two" # prose: ignore E007
        #             ^^^^^^^^^^^^^^^^^^^^ warning[W137] expected codes to ignore: `# prose: ignore[W101] reason`
        session "Three" # prose: ignore[E007
        #               ^^^^^^^^^^^^^^^^^^^^ warning[W137] expected `]` after the codes
        session "Four" # prose: ignore[]
        #              ^^^^^^^^^^^^^^^^^ warning[W137] expected a code between the brackets
        session "Five" # prose: ignroe[E007]
        #              ^^^^^^^^^^^^^^^^^^^^^ warning[W137] `ignroe` has no effect; did you mean `ignore`?
        "#,
    );
}

#[test]
fn comments_without_effect_can_be_ignored() {
    check(
        r#"
        # prose: ignore-file[W137] the examples of a tutorial
        # prose: ignore[E007]
        session "Say hello"
        "#,
    );
    check(
        r#"
        session "Say hello" # prose: ignore[E007, W137]
        "#,
    );
}

#[test]
fn a_code_that_is_off_is_ignored_all_the_same() {
    // Whoever checks in the strict profile too needs the comment there.
    check(
        r#"
        session "Say hello"
        # prose: ignore[E022]
        input topic: "What to write about"
        session "Write about {topic}"
        "#,
    );
}

/// What is found in a text that no fixture can hold, as the texts of its places.
#[track_caller]
fn check_text(text: &str, expected: Expect) {
    let mut host = AnalysisHost::default();
    let file = host.set_text(Path::new("/main.prose"), Text::new(text));
    let found: Vec<String> = diagnostics(host.db(), file)
        .iter()
        .map(|found| format!("{} {:?}\n", found.code, &text[std::ops::Range::<usize>::from(found.range)]))
        .collect();
    expected.assert_eq(&found.concat());
}

#[test]
fn all_kinds_of_line_ends() {
    let text = "# prose: ignore[E007]\n\nsession: nobody\nsession: other\n# prose: ignore[E120]\ndo greet(\"\"\"\n  text\n\"\"\", \"{missing}\")\nsession \"{missing}\" # prose: ignore[E120]\nsession: last\nblock greet(a, b):\n  session \"Greet\"";
    check_text(
        text,
        expect![[r#"
            E007 "other"
            E007 "last"
            W115 "a"
            W115 "b"
        "#]],
    );
    check_text(
        &text.replace('\n', "\r\n"),
        expect![[r#"
            E007 "other"
            E007 "last"
            W115 "a"
            W115 "b"
        "#]],
    );
    check_text(
        &text.replace('\n', "\r"),
        expect![[r#"
            E007 "other"
            E007 "last"
            W115 "a"
            W115 "b"
        "#]],
    );
}

#[test]
fn the_edges_of_a_file() {
    check_text(
        "# prose: ignore[E007]",
        expect![[r##"
        W137 "# prose: ignore[E007]"
    "##]],
    );
    check_text("# prose: ignore[E007]\nsession: nobody", expect![[r#""#]]);
    check_text("\u{feff}# prose: ignore-file[E007]\nsession: nobody", expect![[r#""#]]);
    check_text("session: nobody# prose: ignore[E007]", expect![[r#""#]]);
}

/// The text after the fixes of what is wrong with its ignore comments.
#[track_caller]
fn check_fixed(text: &str, expected: Expect) {
    expected.assert_eq(&fixed(text));
}

fn fixed(text: &str) -> String {
    let mut host = AnalysisHost::default();
    let file = host.set_text(Path::new("/main.prose"), Text::new(text));
    let found = diagnostics(host.db(), file);
    apply(text, found.iter().filter_map(|found| found.fix.as_ref())).text
}

#[test]
fn what_has_no_effect_can_be_removed() {
    check_fixed(
        "session \"One\" # prose: ignore[E007] why\n# prose: ignore[E007]\nsession \"Two\"\n  # prose: ignore[E007]\n",
        expect![[r#"
            session "One"
            session "Two"
        "#]],
    );
    check_fixed(
        "session: nobody # prose: ignore[E019, E007] why\n",
        expect![[r#"
        session: nobody # prose: ignore[E007] why
    "#]],
    );
    check_fixed(
        "session: nobody # prose: ignore[E007, E019, E020] why\n",
        expect![[r#"
        session: nobody # prose: ignore[E007, E020] why
    "#]],
    );
    check_fixed(
        "session: nobody # prose: ignore[E0077] why\n",
        expect![[r#"
            session: nobody # prose: ignore[E007] why
        "#]],
    );
    check_fixed(
        "session: nobody # prose: ignor[E007] why\n",
        expect![[r#"
            session: nobody # prose: ignore[E007] why
        "#]],
    );
    let crlf = "session \"One\"\r\n# prose: ignore[E007]\r\nsession \"Two\"\r\n";
    assert_eq!(fixed(crlf), "session \"One\"\r\nsession \"Two\"\r\n");
}
