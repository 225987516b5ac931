//! `prose check` under settings: `prose.toml`, and the flags that come before it.

use std::fs;

use crate::common::Workspace;
use expect_test::{Expect, expect};

/// An error, a warning and a hint.
const PROGRAM: &str = "let unread = session \"Try\"\nloop:\n  session \"Try\"\nsession: nobody\n";

/// What is found, a line each.
#[track_caller]
fn check(files: &[(&str, &str)], arguments: &[&str], expected: Expect) {
    concise(&Workspace::new(files), arguments, expected);
}

#[track_caller]
fn concise(workspace: &Workspace, arguments: &[&str], expected: Expect) {
    let always = ["check", "--output-format", "concise"];
    workspace.prose(&[&always, arguments].concat()).check(expected);
}

#[test]
fn levels_of_the_file_are_in_effect() {
    check(
        &[
            ("a.prose", PROGRAM),
            ("prose.toml", "[check.levels]\nE007 = \"warning\"\nW113 = \"off\"\nW115 = \"info\"\n"),
        ],
        &[],
        expect![[r#"
            status: 0
            ---- stdout
            a.prose:1:5: info[W115]: variable `unread` is never read
            a.prose:4:10: warning[E007]: agent `nobody` is not defined
        "#]],
    );
}

#[test]
fn only_errors_after_levels_give_status_1() {
    let files = [("a.prose", "session: nobody\n")];
    check(
        &files,
        &[],
        expect![[r#"
            status: 1
            ---- stdout
            a.prose:1:10: error[E007]: agent `nobody` is not defined
        "#]],
    );
    check(
        &files,
        &["--level", "E007=warning"],
        expect![[r#"
            status: 0
            ---- stdout
            a.prose:1:10: warning[E007]: agent `nobody` is not defined
        "#]],
    );
    check(
        &files,
        &["--level", "E007=off"],
        expect![[r#"
        status: 0
    "#]],
    );
}

#[test]
fn the_profile_of_the_file_is_in_effect() {
    let program =
        "session \"Say hello\"\ninput topic: \"What to write about\"\nsession \"Write about {topic}\"\n";
    let files = [
        ("a.prose", program),
        ("strict/a.prose", program),
        ("strict/prose.toml", "[check]\nprofile = \"strict\"\n"),
    ];
    check(
        &files,
        &[],
        expect![[r#"
        status: 1
        ---- stdout
        strict/a.prose:2:7: error[E022]: input `topic` must come before the first statement
    "#]],
    );
    check(
        &files,
        &["--profile", "default"],
        expect![[r#"
        status: 0
    "#]],
    );
    check(
        &files,
        &["--profile", "strict"],
        expect![[r#"
        status: 1
        ---- stdout
        a.prose:2:7: error[E022]: input `topic` must come before the first statement
        strict/a.prose:2:7: error[E022]: input `topic` must come before the first statement
    "#]],
    );
}

#[test]
fn the_nearest_file_counts() {
    check(
        &[
            ("prose.toml", "[check.levels]\nE007 = \"warning\"\n"),
            ("a.prose", "session: nobody\n"),
            ("near/prose.toml", "[check.levels]\nE007 = \"hint\"\n"),
            ("near/deep/a.prose", "session: nobody\n"),
            ("off/prose.toml", "[check.levels]\nE007 = \"off\"\n"),
            ("off/a.prose", "session: nobody\n"),
        ],
        &[],
        expect![[r#"
            status: 0
            ---- stdout
            a.prose:1:10: warning[E007]: agent `nobody` is not defined
            near/deep/a.prose:1:10: hint[E007]: agent `nobody` is not defined
        "#]],
    );
}

#[test]
fn the_nearest_file_is_that_of_the_program_and_not_of_the_current_folder() {
    let workspace = Workspace::new(&[
        ("prose.toml", "[check.levels]\nE007 = \"hint\"\n"),
        ("flows/a.prose", "session: nobody\n"),
    ]);
    let mut command = workspace.command();
    command.current_dir(workspace.path("flows")).args(["check", "--output-format", "concise", "a.prose"]);
    crate::common::Run::of(&mut command).check(expect![[r#"
        status: 0
        ---- stdout
        a.prose:1:10: hint[E007]: agent `nobody` is not defined
    "#]]);
}

#[test]
fn codes_are_ignored_in_files() {
    check(
        &[
            (
                "prose.toml",
                "[check.per-file-ignores]\n\"drafts\" = [\"E007\"]\n\"*.gen.prose\" = [\"*\"]\n\"/top.prose\" = [\"E0*\"]\n",
            ),
            ("drafts/deep/a.prose", PROGRAM),
            ("x/b.gen.prose", PROGRAM),
            ("top.prose", "session: nobody\n"),
            ("x/top.prose", "session: nobody\n"),
        ],
        &[],
        expect![[r#"
            status: 1
            ---- stdout
            drafts/deep/a.prose:1:5: hint[W115]: variable `unread` is never read
            drafts/deep/a.prose:2:1: warning[W113]: unbounded loop; add a condition, `max`, `break` or `return`
            x/top.prose:1:10: error[E007]: agent `nobody` is not defined
        "#]],
    );
}

#[test]
fn models_have_names() {
    let program = "session \"Say hello\"\n  model: fast\n";
    let files = [
        ("a.prose", program),
        ("b/a.prose", program),
        ("prose.toml", "[models]\nfast = \"vendor/small\"\n"),
        ("b/prose.toml", ""),
    ];
    check(
        &files,
        &[],
        expect![[r#"
            status: 1
            ---- stdout
            b/a.prose:2:10: error[E008]: unknown model `fast`; use `sonnet`, `opus` or `haiku`, or a quoted model id
        "#]],
    );
    check(
        &files,
        &["--fix"],
        expect![[r#"
            status: 1
            ---- stdout
            b/a.prose:2:10: error[E008]: unknown model `fast`; use `sonnet`, `opus` or `haiku`, or a quoted model id
        "#]],
    );
    check(
        &files,
        &["--config", "prose.toml", "b"],
        expect![[r#"
        status: 0
    "#]],
    );
}

#[test]
fn a_named_file_is_read_instead_of_the_nearest() {
    let files = [
        ("prose.toml", "[check.levels]\nE007 = \"hint\"\n"),
        ("a.prose", "session: nobody\n"),
        ("ci/strict.toml", "[check.levels]\nE007 = \"warning\"\nW999 = \"off\"\n"),
    ];
    check(
        &files,
        &["--config", "ci/strict.toml"],
        expect![[r#"
            status: 0
            ---- stdout
            a.prose:1:10: warning[E007]: agent `nobody` is not defined
            ci/strict.toml:3:1: warning[W141]: `W999` is not a diagnostic code; list all codes with `prose explain`
        "#]],
    );
    check(
        &files,
        &["--no-config"],
        expect![[r#"
        status: 1
        ---- stdout
        a.prose:1:10: error[E007]: agent `nobody` is not defined
    "#]],
    );
    check(
        &files,
        &["--config", "ci/strict.toml", "--no-config"],
        expect![[r#"
        status: 2
        ---- stderr
        error: the argument '--config <PATH>' cannot be used with '--no-config'

        Usage: prose check --output-format <FORMAT> --config <PATH> [PATH]...

        For more information, try '--help'.
    "#]],
    );
}

#[test]
fn nothing_is_checked_under_settings_that_cannot_be_read() {
    let files = [("a.prose", PROGRAM), ("latin1.toml", "")];
    check(
        &files,
        &["--config", "missing.toml"],
        expect![[r#"
        status: 2
        ---- stderr
        error: `missing.toml` does not exist
    "#]],
    );
    check(
        &files,
        &["--config", "."],
        expect![[r#"
        status: 2
        ---- stderr
        error: `.` is a folder, not a file
    "#]],
    );
}

#[test]
fn flags_come_before_the_file() {
    check(
        &[
            ("prose.toml", "[check]\nprofile = \"strict\"\nlevels = { E007 = \"hint\", W113 = \"off\" }\n"),
            ("a.prose", PROGRAM),
        ],
        &["--level", "e007=warning", "--level", "E007=info", "--level", "W113 = error"],
        expect![[r#"
            status: 1
            ---- stdout
            a.prose:1:5: hint[W115]: variable `unread` is never read
            a.prose:2:1: error[W113]: unbounded loop; add a condition, `max`, `break` or `return`
            a.prose:4:10: info[E007]: agent `nobody` is not defined
        "#]],
    );
}

#[test]
fn levels_that_are_none_are_refused() {
    let workspace = Workspace::new(&[("a.prose", PROGRAM)]);
    let check = |level: &str, expected: Expect| workspace.prose(&["check", "--level", level]).check(expected);
    check(
        "E0007=off",
        expect![[r#"
        status: 2
        ---- stderr
        error: invalid value 'E0007=off' for '--level <CODE=LEVEL>': `E0007` is not a diagnostic code; did you mean `E007`?

        For more information, try '--help'.
    "#]],
    );
    check(
        "nonsense=off",
        expect![[r#"
            status: 2
            ---- stderr
            error: invalid value 'nonsense=off' for '--level <CODE=LEVEL>': `nonsense` is not a diagnostic code; list all codes with `prose explain`

            For more information, try '--help'.
        "#]],
    );
    check(
        "E007=of",
        expect![[r#"
        status: 2
        ---- stderr
        error: invalid value 'E007=of' for '--level <CODE=LEVEL>': `of` is not a level; did you mean `off`?

        For more information, try '--help'.
    "#]],
    );
    check(
        "E007=fatal",
        expect![[r#"
        status: 2
        ---- stderr
        error: invalid value 'E007=fatal' for '--level <CODE=LEVEL>': `fatal` is not a level; the levels are `error`, `warning`, `info`, `hint`, `off`

        For more information, try '--help'.
    "#]],
    );
    check(
        "E007",
        expect![[r#"
            status: 2
            ---- stderr
            error: invalid value 'E007' for '--level <CODE=LEVEL>': expected a code and a level, such as `W101=off`

            For more information, try '--help'.
        "#]],
    );
    workspace.prose(&["check", "--profile", "strickt"]).check(expect![[r#"
        status: 2
        ---- stderr
        error: invalid value 'strickt' for '--profile <PROFILE>'
          [possible values: default, strict]

          tip: a similar value exists: 'strict'

        For more information, try '--help'.
    "#]]);
}

const MISTAKEN: &str =
    "[check]\nprofil = \"strict\"\n[check.levels]\nE007 = warning\n[run]\nmax-parallel = 0\n";

#[test]
fn mistakes_of_the_file_are_findings_once_for_all_its_programs() {
    let workspace = Workspace::new(&[
        ("prose.toml", MISTAKEN),
        ("a.prose", "session \"Say hello\"\n"),
        ("b/c.prose", "session \"Say hello\"\n"),
        ("unused/prose.toml", "nonsense"),
    ]);
    workspace.prose(&["check"]).check(expect![[r#"
        status: 1
        ---- stdout
        warning[W141]: `check.profil` is not a setting; did you mean `profile`?
         --> prose.toml:2:1
          |
        2 | profil = "strict"
          | ^^^^^^
          |
        help: Change to `profile`
          |
        2 | profile = "strict"
          |       +

        error[E141]: `warning` is not a TOML value; strings need quotes
         --> prose.toml:4:8
          |
        4 | E007 = warning
          |        ^^^^^^^
          |
        help: Put into quotes
          |
        4 - E007 = warning
        4 + E007 = "warning"
          |

        error[E142]: `run.max-parallel` must be a whole number from 1 to 4294967295, not `0`
         --> prose.toml:6:16
          |
        6 | max-parallel = 0
          |                ^

        ---- stderr
        Found 2 errors and 1 warning in 1 of 3 files; 1 fixable with `--fix`, 1 more with `--unsafe-fixes`.
    "#]]);
    concise(
        &workspace,
        &["a.prose"],
        expect![[r#"
            status: 1
            ---- stdout
            prose.toml:2:1: warning[W141]: `check.profil` is not a setting; did you mean `profile`?
            prose.toml:4:8: error[E141]: `warning` is not a TOML value; strings need quotes
            prose.toml:6:16: error[E142]: `run.max-parallel` must be a whole number from 1 to 4294967295, not `0`
        "#]],
    );
    let github = workspace.prose(&["check", "--output-format", "github"]);
    github.check(expect![[r#"
        status: 1
        ---- stdout
        ::warning file=prose.toml,line=2,endLine=2,col=1,endColumn=7,title=W141%3A unknown key in prose.toml::`check.profil` is not a setting; did you mean `profile`?
        ::error file=prose.toml,line=4,endLine=4,col=8,endColumn=15,title=E141%3A prose.toml is not valid TOML::`warning` is not a TOML value; strings need quotes
        ::error file=prose.toml,line=6,endLine=6,col=16,endColumn=17,title=E142%3A invalid value in prose.toml::`run.max-parallel` must be a whole number from 1 to 4294967295, not `0`
    "#]]);
    let json = workspace.prose(&["check", "--output-format", "json"]);
    let findings: serde_json::Value = serde_json::from_str(&json.stdout).expect("the output is JSON");
    let shown: Vec<String> = findings
        .as_array()
        .into_iter()
        .flatten()
        .map(|finding| format!("{} {}", finding["path"], finding["code"]))
        .collect();
    expect![[r#"
        "prose.toml" "W141"
        "prose.toml" "E141"
        "prose.toml" "E142""#]]
    .assert_eq(&shown.join("\n"));
    let sarif = workspace.prose(&["check", "--output-format", "sarif"]);
    assert_eq!(sarif.stdout.matches("\"uri\": \"prose.toml\"").count(), 3 + 2, "findings and fixes");
}

#[test]
fn a_file_outside_of_the_current_folder_has_its_whole_path() {
    let workspace =
        Workspace::new(&[("prose.toml", "[checks]\n"), ("flows/a.prose", "session \"Say hello\"\n")]);
    let mut command = workspace.command();
    command.current_dir(workspace.path("flows")).args(["check", "--output-format", "concise"]);
    let run = crate::common::Run::of(&mut command);
    let folder = fs::canonicalize(workspace.path("")).expect("the folder is there");
    let folder = format!("{}/", folder.display());
    expect![[r#"
        <folder>/prose.toml:1:2: warning[W141]: `checks` is not a setting; did you mean `check`?
    "#]]
    .assert_eq(&run.stdout.replace(&folder, "<folder>/"));
}

#[test]
fn the_file_can_be_checked_alone() {
    let files = [("prose.toml", MISTAKEN), ("a.prose", PROGRAM), ("sound/prose.toml", "")];
    check(
        &files,
        &["prose.toml"],
        expect![[r#"
            status: 1
            ---- stdout
            prose.toml:2:1: warning[W141]: `check.profil` is not a setting; did you mean `profile`?
            prose.toml:4:8: error[E141]: `warning` is not a TOML value; strings need quotes
            prose.toml:6:16: error[E142]: `run.max-parallel` must be a whole number from 1 to 4294967295, not `0`
        "#]],
    );
    let workspace = Workspace::new(&files);
    workspace.prose(&["check", "./sound/prose.toml"]).remarked(expect!["1 file is clean."]);
    workspace.prose(&["check", "missing/prose.toml"]).refused(expect!["`missing/prose.toml` does not exist"]);
    workspace
        .prose_with_input(
            &["check", "-", "--stdin-filename", "x/prose.toml", "--output-format", "concise"],
            b"[checks]\n",
        )
        .printed(expect![
            "x/prose.toml:1:2: warning[W141]: `checks` is not a setting; did you mean `check`?"
        ]);
}

#[test]
fn levels_are_for_the_file_itself_too() {
    let files = [
        ("prose.toml", "nonsense = 1\n[check.levels]\nW141 = \"error\"\n"),
        ("a.prose", "session \"Say hello\"\n"),
        ("quiet/a.prose", "session \"Say hello\"\n"),
        ("quiet/prose.toml", "nonsense = 1\n[check.per-file-ignores]\n\"prose.toml\" = [\"W141\"]\n"),
    ];
    check(
        &files,
        &[],
        expect![[r#"
            status: 1
            ---- stdout
            prose.toml:1:1: error[W141]: `nonsense` is not a setting; the keys of `prose.toml` are `agents`, `check`, `imports`, `limits`, `markdown`, `mcp`, `models`, `prices`, `registry` and `run`
        "#]],
    );
    check(
        &files,
        &["--level", "W141=hint"],
        expect![[r#"
            status: 0
            ---- stdout
            prose.toml:1:1: hint[W141]: `nonsense` is not a setting; the keys of `prose.toml` are `agents`, `check`, `imports`, `limits`, `markdown`, `mcp`, `models`, `prices`, `registry` and `run`
        "#]],
    );
}

#[test]
fn mistakes_of_the_file_are_fixed_before_its_programs_are_checked() {
    let workspace = Workspace::new(&[("prose.toml", MISTAKEN), ("a.prose", "session: nobody\n")]);
    workspace.prose(&["check", "--diff"]).check(expect![[r#"
        status: 1
        ---- stdout
        --- prose.toml
        +++ prose.toml
        @@ -1,6 +1,6 @@
         [check]
         profil = "strict"
         [check.levels]
        -E007 = warning
        +E007 = "warning"
         [run]
         max-parallel = 0
        ---- stderr
        Would fix 1 problem in 1 file; 1 fixable with `--unsafe-fixes`.
    "#]]);
    concise(
        &workspace,
        &[],
        expect![[r#"
            status: 1
            ---- stdout
            a.prose:1:10: error[E007]: agent `nobody` is not defined
            prose.toml:2:1: warning[W141]: `check.profil` is not a setting; did you mean `profile`?
            prose.toml:4:8: error[E141]: `warning` is not a TOML value; strings need quotes
            prose.toml:6:16: error[E142]: `run.max-parallel` must be a whole number from 1 to 4294967295, not `0`
        "#]],
    );
    concise(
        &workspace,
        &["--fix"],
        expect![[r#"
            status: 1
            ---- stdout
            a.prose:1:10: warning[E007]: agent `nobody` is not defined
            prose.toml:2:1: warning[W141]: `check.profil` is not a setting; did you mean `profile`?
            prose.toml:6:16: error[E142]: `run.max-parallel` must be a whole number from 1 to 4294967295, not `0`
            ---- stderr
            Fixed 1 problem in 1 file; 3 remain, 1 fixable with `--unsafe-fixes`.
        "#]],
    );
    expect![[r#"
        [check]
        profil = "strict"
        [check.levels]
        E007 = "warning"
        [run]
        max-parallel = 0
    "#]]
    .assert_eq(&fs::read_to_string(workspace.path("prose.toml")).expect("it is there"));
}

#[test]
fn fixes_of_what_is_off_are_not_applied() {
    let files = [("a.prose", "import \"search\" from \"./skills\"\nsession 'Say hello'\n")];
    let workspace = Workspace::new(&files);
    workspace
        .prose(&["check", "--fix", "--unsafe-fixes", "--level", "W103=off"])
        .remarked(expect!["Fixed 1 problem in 1 file; none remain."]);
    expect![[r#"
        import "search" from "./skills"
        session "Say hello"
    "#]]
    .assert_eq(&fs::read_to_string(workspace.path("a.prose")).expect("it is there"));
}

#[test]
fn a_file_that_is_not_utf8_is_told_and_not_written() {
    let workspace = Workspace::new(&[("a.prose", "session \"Say hello\"\n")]);
    let bytes = b"[check]\n# caf\xe9\nprofile = strict\n";
    workspace.write("prose.toml", bytes);
    concise(
        &workspace,
        &["--fix"],
        expect![[r#"
            status: 1
            ---- stdout
            prose.toml:2:6: error[E141]: the file is not valid UTF-8; save it as UTF-8
            prose.toml:3:11: error[E141]: `strict` is not a TOML value; strings need quotes
        "#]],
    );
    assert_eq!(fs::read(workspace.path("prose.toml")).expect("it is there"), bytes);
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_cannot_be_read_is_a_failure() {
    let workspace = Workspace::new(&[("a.prose", "session: nobody\n"), ("b.prose", "session: nobody\n")]);
    // Reading this file fails even for the superuser.
    std::os::unix::fs::symlink("/proc/self/mem", workspace.path("prose.toml")).expect("links can be made");
    concise(
        &workspace,
        &[],
        expect![[r#"
        status: 2
        ---- stdout
        a.prose:1:10: error[E007]: agent `nobody` is not defined
        b.prose:1:10: error[E007]: agent `nobody` is not defined
        ---- stderr
        error: `prose.toml` cannot be read: input/output error
    "#]],
    );
    concise(
        &workspace,
        &["--config", "prose.toml"],
        expect![[r#"
        status: 2
        ---- stderr
        error: `prose.toml` cannot be read: input/output error
    "#]],
    );
    concise(
        &workspace,
        &["prose.toml"],
        expect![[r#"
        status: 2
        ---- stderr
        error: `prose.toml` cannot be read: input/output error
    "#]],
    );
}
