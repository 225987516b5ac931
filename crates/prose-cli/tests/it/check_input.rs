//! What `prose check` reads, and what it says about what it cannot read.

use crate::common::{Run, Workspace};
use expect_test::expect;

const CLEAN: &str = "session \"Say hello\"\n";

/// The names of the programs that are checked. Each has an error, so that it is named.
#[track_caller]
fn checked(workspace: &Workspace, arguments: &[&str]) -> Vec<String> {
    let run = workspace.prose(&[&["check", "--output-format", "concise"], arguments].concat());
    run.stdout.lines().filter_map(|line| line.split(':').next()).map(str::to_owned).collect()
}

const BROKEN: &str = "session \"Say hello\n";

#[test]
fn without_a_path_the_current_folder_is_checked() {
    let workspace = Workspace::new(&[
        ("b.prose", BROKEN),
        ("a.prose", BROKEN),
        ("deep/er/c.prose", BROKEN),
        ("notes.md", BROKEN),
    ]);
    assert_eq!(checked(&workspace, &[]), ["a.prose", "b.prose", "deep/er/c.prose"]);
}

#[test]
fn ignored_and_hidden_files_are_left_out_of_folders() {
    let workspace = Workspace::new(&[
        (".gitignore", "/build\n*.tmp.prose\n"),
        (".prose/runs/1/program.prose", BROKEN),
        (".hidden.prose", BROKEN),
        ("a.prose", BROKEN),
        ("b.tmp.prose", BROKEN),
        ("build/c.prose", BROKEN),
        ("flows/.ignore", "drafts\n"),
        ("flows/d.prose", BROKEN),
        ("flows/drafts/e.prose", BROKEN),
    ]);
    assert_eq!(checked(&workspace, &["."]), ["a.prose", "flows/d.prose"]);
}

#[test]
fn a_named_file_is_always_checked() {
    let workspace = Workspace::new(&[
        (".gitignore", "*.prose\n"),
        ("a.prose", BROKEN),
        (".b.prose", BROKEN),
        ("c.txt", BROKEN),
    ]);
    assert_eq!(checked(&workspace, &["a.prose"]), ["a.prose"]);
    assert_eq!(checked(&workspace, &["c.txt", ".b.prose", "a.prose"]), [".b.prose", "a.prose", "c.txt"]);
}

#[test]
fn a_file_that_is_reached_twice_is_checked_once() {
    let workspace = Workspace::new(&[("flows/a.prose", BROKEN)]);
    let absolute = workspace.path("flows/a.prose");
    let absolute = absolute.to_str().expect("temporary folders have plain names");
    assert_eq!(checked(&workspace, &["flows", "./flows/a.prose", "flows/a.prose"]), ["flows/a.prose"]);
    assert_eq!(checked(&workspace, &["flows", absolute]).len(), 1);
}

#[test]
fn the_order_does_not_depend_on_the_number_of_threads() {
    let names: Vec<String> = (0..200).map(|number| format!("{}/{number:03}.prose", number % 7)).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), BROKEN)).collect();
    let workspace = Workspace::new(&files);
    let one = workspace.prose(&["check", "--threads", "1"]);
    let mut sorted = names.clone();
    sorted.sort();
    assert_eq!(checked(&workspace, &[]), sorted);
    for threads in ["2", "3", "8"] {
        let several = workspace.prose(&["check", "--threads", threads]);
        assert_eq!((several.stdout, several.stderr), (one.stdout.clone(), one.stderr.clone()));
    }
}

#[test]
fn standard_input_has_the_name_it_is_given() {
    let workspace = Workspace::new(&[]);
    let concise = ["check", "--output-format", "concise", "-"];
    let run = workspace.prose_with_input(&concise, BROKEN.as_bytes());
    assert!(run.stdout.starts_with("<stdin>:1:9: error[E001]"), "{run:?}");
    let named = [&concise[..], &["--stdin-filename", "flows/a.prose"]].concat();
    let run = workspace.prose_with_input(&named, BROKEN.as_bytes());
    assert!(run.stdout.starts_with("flows/a.prose:1:9: error[E001]"), "{run:?}");
}

#[test]
fn standard_input_may_be_clean_or_undecodable() {
    let workspace = Workspace::new(&[]);
    workspace.prose_with_input(&["check", "-"], CLEAN.as_bytes()).remarked(expect!["1 file is clean."]);
    workspace.prose_with_input(&["check", "-"], b"\"\xff\"").check(expect![[r#"
        status: 2
        ---- stderr
        error: `<stdin>` is not valid UTF-8: byte 0xff at offset 1, in line 1
    "#]]);
}

#[test]
fn a_folder_without_programs_is_remarked_upon() {
    let workspace = Workspace::new(&[("flows/readme.md", "nothing")]);
    workspace.prose(&["check", "flows"]).remarked(
        expect!["warning: no programs found in `flows`; only `*.prose` files that are not hidden or ignored are checked"],
    );
    workspace.prose(&["check", "--quiet", "flows"]).check(expect![[r#"
        status: 0
    "#]]);
}

#[test]
fn a_path_that_does_not_exist_does_not_keep_the_others_from_being_checked() {
    let workspace = Workspace::new(&[("a.prose", CLEAN), ("flows/b.prose", CLEAN)]);
    workspace.prose(&["check", "gone.prose", "a.prose", "lost/", "flows"]).check(expect![[r#"
        status: 2
        ---- stderr
        error: `gone.prose` does not exist
        error: `lost/` does not exist
        2 files are clean; 2 could not be checked.
    "#]]);
    workspace.prose(&["check", "gone.prose"]).refused(expect!["`gone.prose` does not exist"]);
}

#[test]
fn a_file_that_is_no_text_is_named_with_the_place() {
    let workspace = Workspace::new(&[("a.prose", CLEAN)]);
    workspace.write("latin1.prose", b"# comment\nsession \"Gr\xfc\xdfe\"\n");
    workspace.write("utf16.prose", b"\xff\xfes\0e\0s\0");
    workspace.prose(&["check"]).check(expect![[r#"
        status: 2
        ---- stderr
        error: `latin1.prose` is not valid UTF-8: byte 0xfc at offset 21, in line 2
        error: `utf16.prose` is encoded in UTF-16; save it as UTF-8
        1 file is clean; 2 could not be checked.
    "#]]);
}

#[test]
fn a_carriage_return_ends_a_line() {
    let workspace = Workspace::new(&[]);
    workspace.write("a.prose", b"session \"a\"\r\rsession \"b\r\nsession \"c");
    workspace.write("b.prose", b"session \"a\"\r\"\xff\"");
    workspace.prose(&["check", "--output-format", "concise"]).check(expect![[r#"
        status: 2
        ---- stdout
        a.prose:3:9: error[E001]: unterminated string; expected a closing `"`
        a.prose:4:9: error[E001]: unterminated string; expected a closing `"`
        ---- stderr
        error: `b.prose` is not valid UTF-8: byte 0xff at offset 13, in line 2
    "#]]);
}

#[test]
fn a_folder_may_be_named_like_a_program() {
    let workspace = Workspace::new(&[("x.prose/y.prose", BROKEN)]);
    assert_eq!(checked(&workspace, &[]), ["x.prose/y.prose"]);
    assert_eq!(checked(&workspace, &["x.prose"]), ["x.prose/y.prose"]);
}

#[test]
fn wrong_usage_is_explained() {
    let workspace = Workspace::new(&[]);
    workspace.prose(&["check", "--output-fromat", "json"]).check(expect![[r#"
        status: 2
        ---- stderr
        error: unexpected argument '--output-fromat' found

          tip: a similar argument exists: '--output-format'

        Usage: prose check --output-format <FORMAT> [PATH]...

        For more information, try '--help'.
    "#]]);
    workspace.prose(&["check", "--threads", "0"]).check(expect![[r#"
        status: 2
        ---- stderr
        error: invalid value '0' for '--threads <N>': number would be zero for non-zero type

        For more information, try '--help'.
    "#]]);
    workspace.prose(&["chekc"]).ended(2);
    workspace.prose(&[]).ended(2);
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::process::Command;

    #[test]
    fn links_are_followed_to_files_but_not_to_folders() {
        let workspace = Workspace::new(&[("real/a.prose", BROKEN)]);
        symlink("real/a.prose", workspace.path("link.prose")).unwrap();
        symlink("..", workspace.path("real/parent")).unwrap();
        symlink(".", workspace.path("real/self.prose")).unwrap();
        symlink("../other.txt", workspace.path("real/b.prose")).unwrap();
        workspace.write("other.txt", BROKEN.as_bytes());
        assert_eq!(checked(&workspace, &[]), ["real/a.prose", "real/b.prose"]);
        symlink("real", workspace.path("named")).unwrap();
        assert_eq!(checked(&workspace, &["named"]), ["named/a.prose", "named/b.prose"]);
    }

    #[test]
    fn a_file_that_is_reached_through_links_is_checked_once() {
        let workspace = Workspace::new(&[("b/real.prose", BROKEN)]);
        symlink("b/real.prose", workspace.path("a.prose")).unwrap();
        symlink("b", workspace.path("folder")).unwrap();
        symlink("a.prose", workspace.path("c.prose")).unwrap();
        assert_eq!(checked(&workspace, &[]), ["b/real.prose"]);
        assert_eq!(checked(&workspace, &["folder", "a.prose", "b"]), ["b/real.prose"]);
        assert_eq!(checked(&workspace, &["c.prose", "a.prose"]), ["a.prose"]);
        assert_eq!(checked(&workspace, &["c.prose"]), ["c.prose"]);
    }

    #[test]
    fn the_null_device_is_an_empty_program() {
        let workspace = Workspace::new(&[]);
        workspace.prose(&["check", "/dev/null"]).remarked(expect!["1 file is clean."]);
        workspace.prose(&["check", "--fix", "/dev/null"]).ended(0);
    }

    #[test]
    fn links_to_nothing_and_in_circles_are_named() {
        let workspace = Workspace::new(&[("a.prose", CLEAN)]);
        symlink("gone.prose", workspace.path("dangling.prose")).unwrap();
        symlink("round.prose", workspace.path("round.prose")).unwrap();
        workspace.prose(&["check"]).check(expect![[r#"
            status: 2
            ---- stderr
            error: `dangling.prose` is a symbolic link to `gone.prose`, which does not exist
            error: `round.prose` is a symbolic link that cannot be followed: too many levels of symbolic links
            1 file is clean; 2 could not be checked.
        "#]]);
        workspace
            .prose(&["check", "dangling.prose"])
            .refused(expect!["`dangling.prose` is a symbolic link to `gone.prose`, which does not exist"]);
    }

    #[test]
    fn a_named_pipe_is_refused_rather_than_waited_for() {
        let workspace = Workspace::new(&[("a.prose", CLEAN)]);
        let made = Command::new("mkfifo").arg(workspace.path("pipe.prose")).status().unwrap();
        assert!(made.success());
        workspace.prose(&["check"]).check(expect![[r#"
            status: 2
            ---- stderr
            error: `pipe.prose` is a named pipe, not a file; to read it, use `prose check - <` and its name
            1 file is clean; 1 could not be checked.
        "#]]);
        workspace.prose(&["check", "pipe.prose"]).ended(2);
    }

    #[test]
    fn a_device_is_refused() {
        Workspace::new(&[])
            .prose(&["check", "/dev/zero"])
            .refused(expect!["`/dev/zero` is neither a file nor a folder"]);
    }

    #[test]
    fn a_pipe_of_the_shell_is_read() {
        let workspace = Workspace::new(&[("a.prose", CLEAN)]);
        let mut shell = Command::new("sh");
        shell.args(["-c", "cat a.prose | \"$0\" check /dev/stdin", env!("CARGO_BIN_EXE_prose")]);
        shell.current_dir(workspace.path(""));
        Run::of(&mut shell).ended(0);
    }

    #[test]
    fn a_file_that_is_too_large_is_refused_before_it_is_read() {
        let workspace = Workspace::new(&[("a.prose", CLEAN)]);
        // A hole takes no room on the disk.
        std::fs::File::create(workspace.path("huge.prose")).unwrap().set_len(1 << 32).unwrap();
        workspace.prose(&["check"]).check(expect![[r#"
            status: 2
            ---- stderr
            error: `huge.prose` is too large: a program may have at most 16 MiB
            1 file is clean; 1 could not be checked.
        "#]]);
    }

    #[test]
    fn a_name_that_is_not_unicode_or_holds_a_line_feed_is_shown_harmlessly() {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt;
        let workspace = Workspace::new(&[("a\nb.prose", BROKEN)]);
        // Some systems refuse such names.
        if std::fs::write(workspace.path("").join(OsStr::from_bytes(b"\xff.prose")), BROKEN).is_ok() {
            assert_eq!(checked(&workspace, &[]), ["a\\nb.prose", "\u{fffd}.prose"]);
        } else {
            assert_eq!(checked(&workspace, &[]), ["a\\nb.prose"]);
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_file_that_opens_but_cannot_be_read_is_named() {
        let workspace = Workspace::new(&[("a.prose", CLEAN)]);
        // Reading this file fails even for the superuser.
        symlink("/proc/self/mem", workspace.path("b.prose")).unwrap();
        workspace.prose(&["check"]).check(expect![[r#"
            status: 2
            ---- stderr
            error: `b.prose` cannot be read: input/output error
            1 file is clean; 1 could not be checked.
        "#]]);
    }

    #[test]
    fn a_folder_that_cannot_be_listed_is_named() {
        use std::os::unix::fs::PermissionsExt;
        let workspace = Workspace::new(&[("a.prose", CLEAN), ("closed/b.prose", CLEAN)]);
        let closed = workspace.path("closed");
        std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o000)).unwrap();
        prose_fixture::permissions::obey_permissions();
        let run = workspace.prose(&["check"]);
        std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o700)).unwrap();
        run.check(expect![[r#"
            status: 2
            ---- stderr
            error: `./closed` cannot be read: permission denied
            1 file is clean; 1 could not be checked.
        "#]]);
    }
}

#[test]
fn what_is_imported_and_no_text_is_told() {
    let workspace = Workspace::new(&[
        ("main.prose", "use \"./latin.prose\"\nuse \"./folder.prose\"\noutput a = [latin(), folder()]\n"),
        ("folder.prose/b.prose", "output b = \"c\"\n"),
    ]);
    workspace.write("latin.prose", b"output a = \"\xe9\"\n");
    let arguments = ["check", "main.prose", "--output-format", "concise"];
    workspace.prose(&arguments).check(expect![[r#"
        status: 1
        ---- stdout
        main.prose:1:6: error[E143]: `./latin.prose` is not valid UTF-8: byte 0xe9 at offset 12, in line 1
        main.prose:2:6: error[E143]: `./folder.prose` is a folder, not a file
    "#]]);
}

#[test]
fn the_hook_of_an_agent_names_the_file_that_it_has_edited() {
    let workspace = Workspace::new(&[("a.prose", BROKEN), ("clean.prose", CLEAN), ("a.rs", BROKEN)]);
    let edited = |name: &str| {
        let path = serde_json::Value::from(&*workspace.path(name).to_string_lossy());
        let event = format!(r#"{{"tool_name": "Edit", "tool_input": {{"file_path": {path}}}}}"#);
        workspace.prose_with_input(&["check", "--hook"], event.as_bytes())
    };
    // Status 2 is what returns standard error to the agent.
    let broken = edited("a.prose");
    assert_eq!((broken.status, broken.stdout.as_str()), (2, ""));
    assert!(broken.stderr.contains("a.prose:1:9: error[E001]"), "{broken:?}");
    for other in ["clean.prose", "a.rs", "missing.prose"] {
        let run = edited(other);
        assert_eq!((run.status, run.stdout.as_str(), run.stderr.as_str()), (0, "", ""), "{other}");
    }
    // A patch names several files, from the folder of the session.
    let patch = "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: clean.prose\n*** Add File: a.prose\n*** End Patch\nEOF";
    let event = serde_json::json!({ "cwd": workspace.path(""), "tool_input": { "command": patch } });
    let patched = workspace.prose_with_input(&["check", "--hook"], event.to_string().as_bytes()).ended(2);
    assert!(patched.stderr.contains("a.prose:1:9: error[E001]"), "{patched:?}");
    workspace.prose_with_input(&["check", "--hook"], b"edited a.prose").ended(1);
    workspace.prose_with_input(&["check", "--hook"], b"{}").ended(0);
}
