//! `prose check` and `prose fmt` on Markdown documents: their `prose` blocks are the programs.

use std::fs;

use crate::common::Workspace;
use expect_test::expect;

const GUIDE: &str = "# A guide

Text with a mistake: sesion.

```prose
agent writer:
  prompt: \"Write\"
```

- In a list:

  ```prose
  let draft = sesion \"Draft\"
  output text = sesion: writer
  ```

```prose,ignore
sesion
```
";

#[test]
fn a_document_that_is_named_is_checked() {
    let workspace = Workspace::new(&[("guide.md", GUIDE)]);
    workspace.prose(&["check", "guide.md"]).check(expect![[r#"
        status: 1
        ---- stdout
        error[E107]: unknown keyword `sesion`; did you mean `session`?
          --> guide.md:13:15
           |
        13 |   let draft = sesion "Draft"
           |               ^^^^^^
           |
        help: Change to `session`
           |
        13 |   let draft = session "Draft"
           |                  +

        error[E107]: unknown keyword `sesion`; did you mean `session`?
          --> guide.md:14:17
           |
        14 |   output text = sesion: writer
           |                 ^^^^^^
           |
        help: Change to `session`
           |
        14 |   output text = session: writer
           |                    +

        ---- stderr
        Found 2 errors in 1 file; 2 fixable with `--fix`.
    "#]]);
    workspace.prose(&["check", "--output-format", "concise", "guide.md"]).check(expect![[r#"
        status: 1
        ---- stdout
        guide.md:13:15: error[E107]: unknown keyword `sesion`; did you mean `session`?
        guide.md:14:17: error[E107]: unknown keyword `sesion`; did you mean `session`?
    "#]]);
}

#[test]
fn fixes_are_made_in_the_document() {
    let workspace = Workspace::new(&[("guide.md", GUIDE)]);
    let diff = workspace.prose(&["check", "--diff", "--unsafe-fixes", "guide.md"]).stdout;
    let changed: Vec<&str> = diff.lines().filter(|line| line.starts_with(['-', '+'])).collect();
    expect![[r#"
        --- guide.md
        +++ guide.md
        -  let draft = sesion "Draft"
        -  output text = sesion: writer
        +  let draft = session "Draft"
        +  output text = session: writer"#]]
    .assert_eq(&changed.join("\n"));
    workspace.prose(&["check", "--fix", "--unsafe-fixes", "--quiet", "guide.md"]);
    let fixed = fs::read_to_string(workspace.path("guide.md")).expect("the document can be read");
    assert_eq!(fixed, GUIDE.replace("= sesion", "= session"));
}

#[test]
fn documents_of_folders_are_checked_where_the_settings_say_so() {
    let workspace = Workspace::new(&[
        ("guide.md", GUIDE),
        ("docs/guide.md", GUIDE),
        ("docs/guide.MARKDOWN", GUIDE),
        ("docs/prose.toml", "[markdown]\ncheck = true\n[check.per-file-ignores]\n\"*.MARKDOWN\" = [\"*\"]\n"),
    ]);
    workspace.prose(&["check", "--output-format", "concise"]).check(expect![[r#"
        status: 1
        ---- stdout
        docs/guide.md:13:15: error[E107]: unknown keyword `sesion`; did you mean `session`?
        docs/guide.md:14:17: error[E107]: unknown keyword `sesion`; did you mean `session`?
    "#]]);
}

#[test]
fn what_a_document_imports_lies_beside_it() {
    let workspace = Workspace::new(&[
        ("docs/guide.md", "```prose\nuse \"./part.prose\"\noutput a = part(nothing: 1)\n```\n"),
        ("docs/part.prose", "input topic: \"What\"\noutput a = session \"{topic}\"\n"),
    ]);
    workspace.prose(&["check", "--output-format", "concise", "docs/guide.md"]).printed(expect![
        "docs/guide.md:3:17: warning[E027]: `part` has no input `nothing`; did you mean `topic`?"
    ]);
}

#[test]
fn a_document_without_programs_is_clean() {
    let workspace = Workspace::new(&[("guide.md", "# Nothing\n")]);
    workspace.prose(&["check", "guide.md"]).remarked(expect!["1 file is clean."]);
}

#[test]
fn the_programs_of_a_document_are_formatted() {
    let untidy = "Text  .\n\n> ```prose\n> agent   writer:\n>     prompt: \"Write\"\n>\n>\n>\n> session:writer\n> ```\n";
    let workspace = Workspace::new(&[("guide.md", untidy)]);
    workspace.prose(&["fmt", "guide.md"]).remarked(expect!["1 program formatted."]);
    let tidy = fs::read_to_string(workspace.path("guide.md")).expect("the document can be read");
    expect![[r#"
        Text  .

        > ```prose
        > agent writer:
        >   prompt: "Write"
        >
        > session: writer
        > ```
    "#]]
    .assert_eq(&tidy);
    workspace.prose(&["fmt", "--check", "guide.md"]).remarked(expect!["1 program already formatted."]);
}
