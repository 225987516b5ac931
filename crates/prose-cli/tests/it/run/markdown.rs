//! Programs in Markdown documents.

use expect_test::expect;

use crate::common::Workspace;
use crate::run::{ANSWERS, TWO};

fn document(programs: &[&str]) -> String {
    let blocks = programs.iter().map(|program| format!("Text.\n\n> ```prose\n{}> ```\n\n", quoted(program)));
    blocks.collect()
}

fn quoted(program: &str) -> String {
    program.lines().map(|line| format!("> {line}\n")).collect()
}

#[test]
fn the_only_program_of_a_document_is_run() {
    let workspace = Workspace::new(&[("guide.md", &document(&[TWO])), ("answers.toml", ANSWERS)]);
    workspace.prints(&["run", "guide.md", "--script", "answers.toml", "--quiet"], expect!["text: two"]);
    // Of which program a run is one can be told.
    let runs = workspace.prose(&["runs", "list"]).stdout;
    assert!(runs.trim_end().ends_with("2 sessions  guide.md#1"), "{runs}");
}

#[test]
fn of_several_programs_one_has_to_be_named() {
    let workspace = Workspace::new(&[
        ("guide.md", &document(&["session \"Other\"\n", TWO])),
        ("empty.md", "Nothing.\n"),
        ("answers.toml", ANSWERS),
    ]);
    workspace.refuses(
        &["run", "guide.md"],
        expect!["`guide.md` has several programs; choose one of `guide.md#1`, `guide.md#2`"],
    );
    workspace.refuses(
        &["run", "guide.md#3"],
        expect!["`guide.md#3` does not exist; the document has `guide.md#1`, `guide.md#2`"],
    );
    workspace.refuses(
        &["run", "empty.md"],
        expect!["`empty.md` has no program; programs are code blocks that start with ```prose"],
    );
    workspace.prints(&["run", "guide.md#2", "--script", "answers.toml", "--quiet"], expect!["text: two"]);
}

#[test]
fn mistakes_are_shown_where_they_stand_in_the_document() {
    let workspace = Workspace::new(&[("guide.md", &document(&["session: nobody\n"]))]);
    workspace.check(
        &["run", "guide.md"],
        expect![[r#"
        status: 2
        ---- stderr
        error[E007]: agent `nobody` is not defined
         --> guide.md:4:12
          |
        4 | > session: nobody
          |            ^^^^^^

        error: `guide.md` has 1 error and is not run
    "#]],
    );
}

#[test]
fn a_run_of_a_program_in_a_document_goes_on_with_it() {
    let workspace = Workspace::new(&[
        ("guide.md", &document(&["session \"Other\"\n", TWO])),
        ("half.toml", "[[session]]\nlabel = \"First\"\nreply = \"one\"\n"),
        ("answers.toml", ANSWERS),
    ]);
    workspace.check(
        &["run", "guide.md#2", "--script", "half.toml", "--quiet"],
        expect![[r#"
        status: 1
        ---- stderr
        error: the program failed at line 2: half.toml has no reply for this session:
          place: s1/1
          label: Second
        Add an entry such as this one, or set `unmatched = "offline"` at the top for generated replies:

        [[session]]
        label = "Second"
        reply = "…"
        help: its prompt is in `.prose/runs/ID/prompts/text.md`
        help: resume it with `prose resume ID`; recorded results are reused
    "#]],
    );
    workspace.prints(&["resume", "--script", "answers.toml", "--quiet"], expect!["text: two"]);
}
