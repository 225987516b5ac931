//! `prose check` with `--fix`, `--unsafe-fixes` and `--diff`.

use std::fs;

use crate::common::Workspace;
use expect_test::expect;
use serde_json::Value;

const CLEAN: &str = "session \"Say hello\"\n";
/// Three mistakes that can be mended without asking, one that nobody can mend, and an old form that can be guessed to mean another.
const BROKEN: &str =
    "import \"search\" from \"./d.prose\"\nsession 'Say hello'\nrepeat 3\n  sesion \"Try\"\nlet x =\n";

fn workspace() -> Workspace {
    Workspace::new(&[
        ("a.prose", CLEAN),
        ("b/broken.prose", BROKEN),
        ("b/d.prose", CLEAN),
        ("b/c.prose", "session \"C:\\q\"\r\n"),
    ])
}

fn read(workspace: &Workspace, name: &str) -> String {
    fs::read_to_string(workspace.path(name)).expect("programs can be read")
}

#[test]
fn without_fixing_the_summary_says_what_could_be_fixed() {
    let workspace = workspace();
    let summary = |arguments: &[&str]| {
        let run = workspace.prose(&[&["check"], arguments].concat()).ended(1);
        run.stderr
    };
    expect![[r#"
        Found 5 errors and 1 remark in 2 of 4 files; 4 fixable with `--fix`, 1 more with `--unsafe-fixes`.
    "#]]
    .assert_eq(&summary(&[]));
    expect![[r#"
        Found 5 errors and 1 remark in 2 of 4 files; 5 fixable with `--fix --unsafe-fixes`.
    "#]]
    .assert_eq(&summary(&["--unsafe-fixes"]));
    expect![[r#"
        Found 1 error in 1 file; 1 fixable with `--fix`.
    "#]]
    .assert_eq(&summary(&["b/c.prose"]));
    assert_eq!(read(&workspace, "b/broken.prose"), BROKEN);
}

#[test]
fn what_is_certain_is_fixed_and_the_rest_is_shown() {
    let workspace = workspace();
    workspace.prose(&["check", "--fix"]).check(expect![[r#"
        status: 1
        ---- stdout
        info[W103]: `import … from` is deprecated and only names a skill; import programs with `use "path"`
         --> b/broken.prose:1:1
          |
        1 | import "search" from "./d.prose"
          | ^^^^^^
          |
        help: Change to `use`
          |
        1 - import "search" from "./d.prose"
        1 + use "./d.prose" as search
          |

        error[E005]: expected a value after `=`
         --> b/broken.prose:5:8
          |
        5 | let x =
          |        ^

        ---- stderr
        Fixed 4 problems in 2 files; 2 remain, 1 fixable with `--unsafe-fixes`.
    "#]]);
    expect![[r#"
        import "search" from "./d.prose"
        session "Say hello"
        repeat 3:
          session "Try"
        let x =
    "#]]
    .assert_eq(&read(&workspace, "b/broken.prose"));
    expect![[r#""session \"C:\\\\q\"\r\n""#]].assert_eq(&format!("{:?}", read(&workspace, "b/c.prose")));
    assert_eq!(read(&workspace, "a.prose"), CLEAN);
    let again = workspace.prose(&["check", "--fix"]);
    expect![[r#"
        Found 1 error and 1 remark in 1 of 4 files; 1 fixable with `--unsafe-fixes`.
    "#]]
    .assert_eq(&again.stderr);
}

#[test]
fn guesses_are_made_where_they_are_asked_for() {
    let workspace = workspace();
    workspace.prose(&["check", "--fix", "--unsafe-fixes", "--quiet"]).check(expect![[r#"
        status: 1
        ---- stdout
        hint[W120]: imported program `search` is never called
         --> b/broken.prose:1:20
          |
        1 | use "./d.prose" as search
          |                    ^^^^^^

        error[E005]: expected a value after `=`
         --> b/broken.prose:5:8
          |
        5 | let x =
          |        ^

    "#]]);
    expect![[r#"
        use "./d.prose" as search
        session "Say hello"
        repeat 3:
          session "Try"
        let x =
    "#]]
    .assert_eq(&read(&workspace, "b/broken.prose"));
}

#[test]
fn programs_without_mistakes_are_not_touched() {
    let workspace = Workspace::new(&[("a.prose", CLEAN)]);
    let modified = || fs::metadata(workspace.path("a.prose")).unwrap().modified().unwrap();
    let before = modified();
    workspace.prose(&["check", "--fix", "--unsafe-fixes"]).remarked(expect!["1 file is clean."]);
    assert_eq!(modified(), before);
}

#[test]
fn when_all_is_fixed_the_status_is_that_of_clean_programs() {
    let workspace =
        Workspace::new(&[("a.prose", "session 'a'\n"), ("b.prose", "session 'b'\nsession 'c'\n")]);
    workspace.prose(&["check", "--fix"]).remarked(expect!["Fixed 3 problems in 2 files; none remain."]);
}

#[test]
fn every_format_shows_what_remains() {
    for format in ["concise", "json", "github", "sarif"] {
        let workspace = workspace();
        let fixed = workspace.prose(&["check", "--fix", "--output-format", format]);
        let checked = workspace.prose(&["check", "--output-format", format]);
        assert_eq!(fixed.stdout, checked.stdout);
        assert_eq!(fixed.status, checked.status);
        assert!(fixed.stderr.starts_with("Fixed "), "{fixed:?}");
        assert_eq!(checked.stderr, "");
    }
}

#[test]
fn a_diff_changes_nothing() {
    let workspace = workspace();
    workspace.prose(&["check", "--diff", "b/broken.prose"]).check(expect![[r#"
        status: 1
        ---- stdout
        --- b/broken.prose
        +++ b/broken.prose
        @@ -1,5 +1,5 @@
         import "search" from "./d.prose"
        -session 'Say hello'
        -repeat 3
        -  sesion "Try"
        +session "Say hello"
        +repeat 3:
        +  session "Try"
         let x =
        ---- stderr
        Would fix 3 problems in 1 file; 1 fixable with `--unsafe-fixes`.
    "#]]);
    assert_eq!(read(&workspace, "b/broken.prose"), BROKEN);
    let run = workspace.prose(&["check", "--diff", "--fix", "--unsafe-fixes", "-q", "b/broken.prose"]);
    expect![[r#"
        --- b/broken.prose
        +++ b/broken.prose
        @@ -1,5 +1,5 @@
        -import "search" from "./d.prose"
        -session 'Say hello'
        -repeat 3
        -  sesion "Try"
        +use "./d.prose" as search
        +session "Say hello"
        +repeat 3:
        +  session "Try"
         let x =
    "#]]
    .assert_eq(&run.stdout);
    assert_eq!(read(&workspace, "b/broken.prose"), BROKEN);
    workspace.prose(&["check", "--diff", "a.prose"]).remarked(expect!["Nothing to fix."]);
    workspace.prose(&["check", "--diff", "--output-format", "json"]).ended(2);
}

#[test]
#[cfg(unix)]
fn patch_understands_the_diff() {
    // The line feed that is missing at the end and the carriage return in the middle are what diffs get wrong.
    let workspace =
        Workspace::new(&[("a.prose", "session 'a'\r\nsession \"b\"\rsession 'c'\r\n\nsession 'd'")]);
    let run = workspace.prose(&["check", "--diff"]);
    workspace.prose(&["check", "--fix", "-q"]);
    let fixed = read(&workspace, "a.prose");
    assert!(!fixed.contains('\''), "{fixed:?}");
    workspace.write("a.prose", b"session 'a'\r\nsession \"b\"\rsession 'c'\r\n\nsession 'd'");
    workspace.write("a.diff", run.stdout.as_bytes());
    // Git applies to the letter; `patch` is not everywhere.
    let applied = std::process::Command::new("git")
        .args(["apply", "-p0", "--whitespace=nowarn", "a.diff"])
        .env("GIT_CEILING_DIRECTORIES", workspace.path("").parent().unwrap())
        .current_dir(workspace.path(""))
        .output()
        .unwrap();
    assert!(applied.status.success(), "{applied:?}");
    assert_eq!(read(&workspace, "a.prose"), fixed);
}

#[test]
fn the_fixed_text_of_standard_input_goes_to_standard_output() {
    let workspace = Workspace::new(&[]);
    let run = |arguments: &[&str], input: &str| {
        workspace.prose_with_input(&[&["check", "-"], arguments].concat(), input.as_bytes())
    };
    run(&["--fix"], BROKEN).check(expect![[r#"
        status: 1
        ---- stdout
        import "search" from "./d.prose"
        session "Say hello"
        repeat 3:
          session "Try"
        let x =
        ---- stderr
        info[W103]: `import … from` is deprecated and only names a skill; import programs with `use "path"`
         --> <stdin>:1:1
          |
        1 | import "search" from "./d.prose"
          | ^^^^^^
          |
        help: Change to `use`
          |
        1 - import "search" from "./d.prose"
        1 + use "./d.prose" as search
          |

        error[E005]: expected a value after `=`
         --> <stdin>:5:8
          |
        5 | let x =
          |        ^

        Fixed 3 problems in 1 file; 2 remain, 1 fixable with `--unsafe-fixes`.
    "#]]);
    run(&["--fix", "--output-format", "concise", "-q"], BROKEN).check(expect![[r#"
        status: 1
        ---- stdout
        import "search" from "./d.prose"
        session "Say hello"
        repeat 3:
          session "Try"
        let x =
        ---- stderr
        <stdin>:1:1: info[W103]: `import … from` is deprecated and only names a skill; import programs with `use "path"`
        <stdin>:5:8: error[E005]: expected a value after `=`
    "#]]);
    assert_eq!(run(&["--fix"], CLEAN).stdout, CLEAN);
    assert_eq!(run(&["--fix"], "\u{feff}# \u{1b}[1m\r\n").stdout, "\u{feff}# \u{1b}[1m\r\n");
    run(&["--diff", "--stdin-filename", "b.prose"], "session 'a'\n").check(expect![[r#"
        status: 1
        ---- stdout
        --- b.prose
        +++ b.prose
        @@ -1 +1 @@
        -session 'a'
        +session "a"
        ---- stderr
        Would fix 1 problem in 1 file.
    "#]]);
}

#[test]
fn json_of_what_remains_is_one_document() {
    let workspace = workspace();
    let run = workspace.prose(&["check", "--fix", "--output-format", "json"]);
    let findings: Value = serde_json::from_str(&run.stdout).unwrap();
    assert!(!findings.as_array().unwrap().is_empty());
}

#[test]
fn a_read_only_program_is_checked_and_named() {
    let workspace = workspace();
    let path = workspace.path("b/broken.prose");
    let mut permissions = path.metadata().unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&path, permissions).unwrap();
    workspace.prose(&["check", "--fix", "--output-format", "concise"]).check(expect![[r#"
        status: 2
        ---- stdout
        b/broken.prose:1:1: info[W103]: `import … from` is deprecated and only names a skill; import programs with `use "path"`
        b/broken.prose:2:9: error[E109]: a string must be in double quotes
        b/broken.prose:3:9: error[E005]: expected `:` at the end of the `repeat` line
        b/broken.prose:4:3: error[E107]: unknown statement `sesion`; did you mean `session`?
        b/broken.prose:5:8: error[E005]: expected a value after `=`
        ---- stderr
        error: `b/broken.prose` has fixes, but is read-only
        Fixed 1 problem in 1 file; 5 remain, 1 fixable with `--unsafe-fixes`; 1 could not be fixed.
    "#]]);
    assert_eq!(read(&workspace, "b/broken.prose"), BROKEN);
}

#[test]
fn what_looks_unused_after_a_guess_is_kept() {
    // The guess makes `improve` a text, and so leaves the block without the call that it was meant to be.
    let program = "block improve:\n  session \"Improve\"\n\nsession improve the draft\n";
    let workspace = Workspace::new(&[("a.prose", program)]);
    workspace.prose(&["check", "--fix", "--unsafe-fixes"]);
    expect![[r#"
        block improve:
          session "Improve"

        session "improve the draft"
    "#]]
    .assert_eq(&read(&workspace, "a.prose"));
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::Path;

    #[test]
    fn permissions_and_links_stay() {
        let workspace = Workspace::new(&[("real/a.txt", "session 'a'\n")]);
        fs::set_permissions(workspace.path("real/a.txt"), fs::Permissions::from_mode(0o754)).unwrap();
        symlink("real/a.txt", workspace.path("a.prose")).unwrap();
        workspace.prose(&["check", "--fix"]).ended(0);
        assert_eq!(read(&workspace, "real/a.txt"), "session \"a\"\n");
        assert_eq!(fs::read_link(workspace.path("a.prose")).unwrap(), Path::new("real/a.txt"));
        let mode = workspace.path("real/a.txt").metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o754);
        assert_eq!(fs::read_dir(workspace.path("real")).unwrap().count(), 1);
    }

    #[test]
    fn a_program_that_is_reached_twice_is_fixed_once() {
        let workspace = Workspace::new(&[("real/a.prose", "session 'a'\n")]);
        symlink("real/a.prose", workspace.path("a.prose")).unwrap();
        symlink("real", workspace.path("link")).unwrap();
        let run = workspace.prose(&["check", "--fix", ".", "link", "real/a.prose"]);
        assert_eq!((run.status, run.stderr.as_str()), (0, "Fixed 1 problem in 1 file; none remain.\n"));
    }

    #[test]
    fn a_folder_that_cannot_be_written_to_keeps_its_program() {
        let workspace = Workspace::new(&[("closed/a.prose", "session 'a'\n")]);
        let closed = workspace.path("closed");
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o500)).unwrap();
        prose_fixture::permissions::obey_permissions();
        let run = workspace.prose(&["check", "--fix", "--output-format", "concise"]);
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
        assert_eq!(run.status, 2);
        assert!(run.stderr.contains("its folder cannot be written to: permission denied"), "{run:?}");
        assert_eq!(read(&workspace, "closed/a.prose"), "session 'a'\n");
    }

    #[test]
    fn a_pipe_is_no_file_to_write_to() {
        let workspace = Workspace::new(&[("a.prose", "session 'a'\n")]);
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", "cat a.prose | \"$0\" check --fix /dev/stdin", env!("CARGO_BIN_EXE_prose")]);
        let run = crate::common::Run::of(shell.current_dir(workspace.path(""))).ended(2);
        assert!(run.stderr.contains("has fixes, but "), "{run:?}");
    }
}
