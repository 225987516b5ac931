//! `prose explain`.

use crate::common::Workspace;
use expect_test::expect;
use serde_json::Value;

#[test]
fn a_code_is_explained_in_any_case() {
    let workspace = Workspace::new(&[]);
    let run = workspace.prose(&["explain", "E002"]);
    run.check(expect![[r#"
        status: 0
        ---- stdout
        E002: unknown escape sequence

        Severity: error

        The escapes of a one-line string are `\\`, `\"`, `\n`, `\t`, `\{` and `\}`. In a triple-quoted
        string any other backslash is literal text.

        Wrong

            session "C:\dir"

        Right

            session "C:\\dir"
    "#]]);
    assert_eq!(workspace.prose(&["explain", "e002"]).stdout, run.stdout);
}

#[test]
fn levels_that_differ_are_all_named_and_files_kept_apart() {
    let workspace = Workspace::new(&[]);
    workspace.prose(&["explain", "W132"]).check(expect![[r#"
        status: 0
        ---- stdout
        W132: statement outside of the reference

        Severity: off; info in the strict profile

        `break`, `continue`, `return` and `assert` are in use, but not in the grammar of the reference;
        another interpreter may not support them.

        Wrong

            loop until **it works** (max: 3):
              session "Try"
              break

        Right

            loop until **it works** (max: 3):
              session "Try"
    "#]]);
    workspace.prose(&["explain", "W141"]).check(expect![[r#"
        status: 0
        ---- stdout
        W141: unknown key in prose.toml

        Severity: warning

        The key is not a setting, or the code is not a diagnostic. It has no effect.

        Wrong

          prose.toml:

            [check]
            profil = "strict"

        Right

          prose.toml:

            [check]
            profile = "strict"
    "#]]);
}

#[test]
fn without_a_code_every_code_is_listed() {
    let run = Workspace::new(&[]).prose(&["explain"]).ended(0);
    assert!(run.stdout.starts_with("E001  error    unterminated literal\nE002"), "{}", run.stdout);
}

#[test]
fn an_unknown_code_suggests_the_nearest() {
    let workspace = Workspace::new(&[]);
    workspace.prose(&["explain", "E0O1"]).check(expect![[r#"
        status: 2
        ---- stderr
        error: `E0O1` is not a diagnostic code

          tip: did you mean E001, unterminated literal?
          tip: `prose explain` lists every code
    "#]]);
    workspace.prose(&["explain", "unterminated"]).check(expect![[r#"
        status: 2
        ---- stderr
        error: `unterminated` is not a diagnostic code

          tip: did you mean E001, unterminated literal?
          tip: `prose explain` lists every code
    "#]]);
    workspace.prose(&["explain", "everything"]).check(expect![[r#"
        status: 2
        ---- stderr
        error: `everything` is not a diagnostic code

          tip: `prose explain` lists every code
    "#]]);
}

#[test]
fn json_holds_the_whole_table() {
    let workspace = Workspace::new(&[]);
    let all: Value =
        serde_json::from_str(&workspace.prose(&["explain", "--output-format", "json"]).stdout).unwrap();
    let one: Value =
        serde_json::from_str(&workspace.prose(&["explain", "E001", "--output-format", "json"]).stdout)
            .unwrap();
    assert_eq!(all[0], one);
    let keys: Vec<&String> = one.as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        [
            "code",
            "explanation",
            "lenient_severity",
            "right",
            "severity",
            "strict_severity",
            "tag",
            "title",
            "wrong"
        ]
    );
}
