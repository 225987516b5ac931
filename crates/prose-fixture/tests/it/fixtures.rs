//! The notation of fixtures, by example.

use expect_test::{Expect, expect};
use prose_fixture::{Fixture, render};

#[track_caller]
fn check(fixture: &str, expect: Expect) {
    let Fixture { files, cursor, selection } = Fixture::parse(fixture);
    let mut seen = String::new();
    for file in &files {
        seen += &format!("{} {:?}\n", file.path, file.text);
        for mark in &file.marks {
            let message = mark.message.as_deref().unwrap_or("");
            let marked = &file.text[mark.range];
            seen += &format!("  {:?} {marked:?} {}[{}] {message}\n", mark.range, mark.severity, mark.code)
                .replace(" \n", "\n");
        }
    }
    if let Some((file, at)) = cursor {
        seen += &format!("cursor in {file} at {at:?}\n");
    }
    if let Some((file, range)) = selection {
        seen += &format!("selection in {file} at {range:?}\n");
    }
    expect.assert_eq(&seen);
}

/// Marks are drawn as they were written.
#[track_caller]
fn check_round_trip(text: &str) {
    let file = &Fixture::parse(text).files[0];
    let found: Vec<_> = file
        .marks
        .iter()
        .map(|mark| {
            let message = mark.message.iter().map(|message| format!(" {message}")).collect::<String>();
            (mark.range, format!("{}[{}]{message}", mark.severity, mark.code))
        })
        .collect();
    assert_eq!(render(&file.text, &found), file.text);
    file.check(&found);
}

#[track_caller]
fn message_of(test: impl FnOnce() + std::panic::UnwindSafe) -> String {
    let panic = std::panic::catch_unwind(test).expect_err("it should panic");
    panic
        .downcast_ref::<String>()
        .cloned()
        .unwrap_or_else(|| (*panic.downcast_ref::<&str>().expect("a panic has a message")).to_owned())
}

#[test]
fn a_fixture_without_header_is_one_file() {
    check(
        "session \"Hi\"",
        expect![[r#"
        /main.prose "session \"Hi\""
    "#]],
    );
    check(
        "",
        expect![[r#"
        /main.prose ""
    "#]],
    );
}

#[test]
fn the_indentation_that_all_lines_share_is_removed() {
    check(
        r#"
            repeat 2:
              session "Hi"

            session "Bye"
        "#,
        expect![[r#"
            /main.prose "repeat 2:\n  session \"Hi\"\n\nsession \"Bye\"\n"
        "#]],
    );
}

#[test]
fn a_header_at_the_left_edge_keeps_indentation_and_tabs() {
    check(
        "//- /main.prose\n  session\n\tsession \n \n",
        expect![[r#"
        /main.prose "  session\n\tsession \n \n"
    "#]],
    );
}

#[test]
fn newlines_are_kept_as_they_are() {
    check(
        "\n\nlet a = 1\r\nlet b = 2\r\n\r\n",
        expect![[r#"
        /main.prose "\nlet a = 1\r\nlet b = 2\r\n\r\n"
    "#]],
    );
}

#[test]
fn headers_start_files() {
    check(
        r#"
        //- /main.prose
        use "./lib/research.prose"
        //- /lib/research.prose
        session "Go"
        //- /prose.toml
        "#,
        expect![[r#"
            /main.prose "use \"./lib/research.prose\"\n"
            /lib/research.prose "session \"Go\"\n"
            /prose.toml ""
        "#]],
    );
}

#[test]
fn one_marker_is_a_cursor_and_two_are_a_selection() {
    check(
        "call wri$0te",
        expect![[r#"
        /main.prose "call write"
        cursor in 0 at 8
    "#]],
    );
    check(
        "//- /a.prose\n//- /b.prose\ncall $0é$0",
        expect![[r#"
        /a.prose ""
        /b.prose "call é"
        selection in 1 at 5..7
    "#]],
    );
    let fixture = Fixture::parse("//- /a.prose\n//- /b.prose\n$0");
    assert_eq!(fixture.at_cursor().0.path, "/b.prose");
    assert_eq!(fixture.text("/b.prose"), Some(""));
    assert_eq!(fixture.text("/c.prose"), None);
}

#[test]
fn marks_are_about_the_columns_above_them() {
    check(
        r#"
        let é = "$0some" x
        #       ^^^^^^ info[W001]
        #   ^ warning[W002] the name
        #              ^ hint[W003] a part of the message
          #            ^ error[E001]
        #               | error[E002]
        #^^ error[E003]
        #<^^^ error[E004]
        #<| error[E005]
        "#,
        expect![[r##"
            /main.prose "let é = \"some\" x\n#       ^^^^^^ info[W001]\n#   ^ warning[W002] the name\n#              ^ hint[W003] a part of the message\n  #            ^ error[E001]\n#               | error[E002]\n#^^ error[E003]\n#<^^^ error[E004]\n#<| error[E005]\n"
              9..15 "\"some\"" info[W001]
              4..6 "é" warning[W002] the name
              16..17 "x" hint[W003] a part of the message
              16..17 "x" error[E001]
              17..17 "" error[E002]
              1..3 "et" error[E003]
              0..3 "let" error[E004]
              0..0 "" error[E005]
            cursor in 0 at 10
        "##]],
    );
}

#[test]
fn a_moved_mark_counts_from_its_hash() {
    check(
        r#"
        repeat 2:
          sesion
          #<^^^^^^ error[E107]
        "#,
        expect![[r##"
            /main.prose "repeat 2:\n  sesion\n  #<^^^^^^ error[E107]\n"
              12..18 "sesion" error[E107]
        "##]],
    );
}

#[test]
fn marks_may_end_lines_below() {
    check(
        r#"
        let x = """one
        #       ^^^^^^..+1:6 error[E001] unterminated
        #   ^ hint[W001]
        two"""
        #  | hint[W002]
        "#,
        expect![[r##"
            /main.prose "let x = \"\"\"one\n#       ^^^^^^..+1:6 error[E001] unterminated\n#   ^ hint[W001]\ntwo\"\"\"\n#  | hint[W002]\n"
              8..84 "\"\"\"one\n#       ^^^^^^..+1:6 error[E001] unterminated\n#   ^ hint[W001]\ntwo\"\"\"" error[E001] unterminated
              4..5 "x" hint[W001]
              81..81 "" hint[W002]
        "##]],
    );
}

#[test]
fn other_comments_are_no_marks() {
    check(
        "session \"Hi\"\n# See above.\n# | a | table |\n#\n# a ^^ b\n",
        expect![[r##"
        /main.prose "session \"Hi\"\n# See above.\n# | a | table |\n#\n# a ^^ b\n"
    "##]],
    );
}

#[test]
fn findings_are_drawn_as_marks() {
    check_round_trip("one\n#<| error[E001]\n#<^ error[E002]\n#^ error[E003]\n#  | error[E004] at the end\n");
    check_round_trip("é two\n# ^^^ warning[W001] a message\n\n#<| error[E001]\nthree\n#   ^ hint[W002]\n");
    check_round_trip("one\n#  ^..+1:0 error[E001] the newline\ntwo\n#<^^^..+1:0 error[E002]\n");
    check_round_trip("one\r\n#  ^..+1:2 error[E001]\ntwo\r\n");
    check_round_trip("one\n\n#<| error[E001]\n");
}

#[test]
fn findings_in_the_last_line_are_drawn_below_it() {
    let text = "let a = x";
    let found =
        |start: u32, end: u32| (rowan::TextRange::new(start.into(), end.into()), "hint[W001]".to_owned());
    expect![[r#"
        let a = x
        #   ^ hint[W001]
        #       ^ hint[W001]
        #        | hint[W001]
    "#]]
    .assert_eq(&render(text, &[found(9, 9), found(8, 9), found(4, 5)]));
    expect![[r#"
        #<| hint[W001]
    "#]]
    .assert_eq(&render("", &[found(0, 0)]));
}

#[test]
fn a_finding_in_a_mark_is_drawn_below_it() {
    let text = "one\n# ^ error[E001]\n";
    let found = (rowan::TextRange::new(6.into(), 7.into()), "hint[W001]".to_owned());
    expect![[r##"
        one
        # ^ error[E001]
        # ^ hint[W001]
    "##]]
    .assert_eq(&render(text, &[found]));
}

#[test]
fn a_difference_is_shown_in_the_text() {
    let message = message_of(|| {
        let file =
            &Fixture::parse("let a = b\n#   ^ warning[W001] never used\n#       ^ error[E007]\nlet c = 1\n")
                .files[0];
        let a = file.marks[0].range;
        let c = rowan::TextRange::at(u32::try_from(file.text.find("c =").unwrap()).unwrap().into(), 1.into());
        file.check(&[(a, "warning[W001] `a` is never used".into()), (c, "hint[W001] something".into())]);
    });
    expect![[r#"
        /main.prose has other diagnostics than its marks say:

          let a = b
          #   ^ warning[W001] never used
        - #       ^ error[E007]
          let c = 1
        + #   ^ hint[W001] something
    "#]]
    .assert_eq(&message);
}

#[test]
fn range_severity_code_and_message_all_count() {
    let file = &Fixture::parse("let a = b\n#   ^ warning[W001] never used\n").files[0];
    let range = file.marks[0].range;
    let other = rowan::TextRange::empty(range.start());
    assert!(file.marks[0].matches(range, "warning[W001] `a` is never used"));
    assert!(!file.marks[0].matches(other, "warning[W001] `a` is never used"));
    assert!(!file.marks[0].matches(range, "error[W001] `a` is never used"));
    assert!(!file.marks[0].matches(range, "warning[W002] `a` is never used"));
    assert!(!file.marks[0].matches(range, "warning[W001] `a` is used"));
}

#[test]
fn one_finding_answers_one_mark() {
    let message = message_of(|| {
        let file = &Fixture::parse("one\n#^ error[E001]\n#^ error[E001]\n").files[0];
        file.check(&[(file.marks[0].range, "error[E001]".into())]);
    });
    assert!(message.contains("\n- #^ error[E001]\n"), "{message}");
}

#[test]
fn mistakes_of_the_author_are_reported() {
    let panic = |fixture: &'static str| message_of(|| drop(Fixture::parse(fixture)));
    expect!["the mark `#    ^ error[E001]` goes beyond its line `one`"]
        .assert_eq(&panic("one\n#    ^ error[E001]\n"));
    expect!["a mark says `error[E001]`, `warning[…]`, `info[…]` or `hint[…]`, unlike `# ^ eror[E001]`"]
        .assert_eq(&panic("one\n# ^ eror[E001]\n"));
    expect!["a mark says `error[E001]`, `warning[…]`, `info[…]` or `hint[…]`, unlike `# | eror[E001]`"]
        .assert_eq(&panic("one\n# | eror[E001]\n"));
    expect!["there is no line above the mark `# ^ error[E001]`"].assert_eq(&panic("# ^ error[E001]\n"));
    expect!["`..+2:5` looks otherwise in the mark `# ^..+2 error[E001]`"]
        .assert_eq(&panic("one\n# ^..+2 error[E001]\n"));
    expect!["the mark `# ^..+9:0 error[E001]` ends below the text"]
        .assert_eq(&panic("one\n# ^..+9:0 error[E001]\n"));
    expect!["the fixture has 3 `$0`; two are the most"].assert_eq(&panic("$0 $0 $0"));
    expect!["the selection starts in one file and ends in another"]
        .assert_eq(&panic("//- /a\n$0\n//- /b\n$0\n"));
    expect!["the fixture has two files `/a`"].assert_eq(&panic("//- /a\n//- /a\n"));
    expect!["a header has a path that starts with `/`, or a program as `use` names it, unlike `a`"]
        .assert_eq(&panic("//- a\n"));
    expect![[r#"there is text before the first `//- /path`: "one\n""#]].assert_eq(&panic("one\n//- /a\n"));
}
