//! What `prose check` writes, where, and how it ends.

use std::io::Read;
use std::process::Stdio;

use crate::common::{Run, Workspace};
use expect_test::expect;
use serde_json::Value;

const CLEAN: &str = "session \"Say hello\"\n";
const BROKEN: &str = "agent writer:\n  prompt: \"Grüße\n\nsession: writer\n";

fn workspace() -> Workspace {
    Workspace::new(&[("b/broken.prose", BROKEN), ("a.prose", CLEAN), ("c.prose", "session \"C:\\q\"\n")])
}

#[test]
fn full_is_for_people() {
    workspace().prose(&["check"]).check(expect![[r#"
        status: 1
        ---- stdout
        error[E001]: unterminated string; expected a closing `"`
         --> b/broken.prose:2:11
          |
        2 |   prompt: "Grüße
          |           ^^^^^^
          |
        help: Insert the closing `"`
          |
        2 |   prompt: "Grüße"
          |                 +

        error[E002]: unknown escape `\q`; write a backslash as `\\`
         --> c.prose:1:12
          |
        1 | session "C:\q"
          |            ^^
          |
        help: Double the backslash
          |
        1 | session "C:\\q"
          |            +

        ---- stderr
        Found 2 errors in 2 of 3 files; 2 fixable with `--fix`.
    "#]]);
}

#[test]
fn concise_is_sorted_by_path_and_position() {
    workspace().prose(&["check", "--output-format", "concise", "c.prose", "b", "a.prose"]).check(expect![[
        r#"
        status: 1
        ---- stdout
        b/broken.prose:2:11: error[E001]: unterminated string; expected a closing `"`
        c.prose:1:12: error[E002]: unknown escape `\q`; write a backslash as `\\`
    "#
    ]]);
}

#[test]
fn github_annotates() {
    workspace().prose(&["check", "--output-format", "github"]).check(expect![[r#"
        status: 1
        ---- stdout
        ::error file=b/broken.prose,line=2,endLine=2,col=11,endColumn=17,title=E001%3A unterminated literal::unterminated string; expected a closing `"`
        ::error file=c.prose,line=1,endLine=1,col=12,endColumn=14,title=E002%3A unknown escape sequence::unknown escape `\q`; write a backslash as `\\`
    "#]]);
}

#[test]
fn json_can_be_read_back() {
    let run = workspace().prose(&["check", "--output-format", "json"]);
    let findings: Value = serde_json::from_str(&run.stdout).unwrap();
    let paths: Vec<_> = findings.as_array().unwrap().iter().map(|finding| &finding["path"]).collect();
    assert_eq!(paths, ["b/broken.prose", "c.prose"]);
    assert_eq!(findings[0]["range"]["start"]["line"], 2);
    assert_eq!((run.status, run.stderr.as_str()), (1, ""));
}

#[test]
fn applying_the_edits_of_a_fix_mends_the_program() {
    let workspace = workspace();
    let run = workspace.prose(&["check", "--output-format", "json", "b/broken.prose"]);
    let findings: Value = serde_json::from_str(&run.stdout).unwrap();
    let edit = &findings[0]["fix"]["edits"][0];
    let offset = |end: &str| usize::try_from(edit["range"][end]["offset"].as_u64().unwrap()).unwrap();
    let mut mended = BROKEN.to_owned();
    mended.replace_range(offset("start")..offset("end"), edit["text"].as_str().unwrap());
    assert_eq!(workspace.prose_with_input(&["check", "-"], mended.as_bytes()).status, 0, "{mended}");
}

#[test]
fn sarif_names_the_rule_and_the_place() {
    let run = workspace().prose(&["check", "--output-format", "sarif"]);
    let log: Value = serde_json::from_str(&run.stdout).unwrap();
    let result = &log["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "E001");
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "b/broken.prose");
    assert_eq!(place["region"]["startLine"], 2);
    assert_eq!(log["runs"][0]["invocations"][0]["executionSuccessful"], true);
    assert_eq!((run.status, run.stderr.as_str()), (1, ""));
}

#[test]
fn clean_programs_give_an_empty_document_or_nothing() {
    let workspace = Workspace::new(&[("a.prose", CLEAN), ("b.prose", "")]);
    workspace.prose(&["check"]).remarked(expect!["All 2 files are clean."]);
    assert_eq!(workspace.prose(&["check", "--output-format", "json"]).stdout, "[]\n");
    for format in ["concise", "github"] {
        workspace.prose(&["check", "--output-format", format]).check(expect![[r#"
            status: 0
        "#]]);
    }
}

#[test]
fn warnings_alone_are_no_failure() {
    let program = "import \"search\" from \"./search.prose\"\nparallel:\n";
    let workspace = Workspace::new(&[("a.prose", program)]);
    workspace.prose(&["check"]).check(expect![[r#"
        status: 0
        ---- stdout
        info[W103]: `import … from` is deprecated and only names a skill; import programs with `use "path"`
         --> a.prose:1:1
          |
        1 | import "search" from "./search.prose"
          | ^^^^^^
          |
        help: Change to `use`
          |
        1 - import "search" from "./search.prose"
        1 + use "./search.prose" as search
          |

        warning[W101]: `parallel` has an empty body
         --> a.prose:2:1
          |
        2 | parallel:
          | ^^^^^^^^

        ---- stderr
        Found 1 warning and 1 remark in 1 file; 1 fixable with `--fix --unsafe-fixes`.
    "#]]);
    workspace.prose(&["check", "--output-format", "concise"]).check(expect![[r#"
        status: 0
        ---- stdout
        a.prose:1:1: info[W103]: `import … from` is deprecated and only names a skill; import programs with `use "path"`
        a.prose:2:1: warning[W101]: `parallel` has an empty body
    "#]]);
    workspace.prose(&["check", "--output-format", "github"]).check(expect![[r#"
        status: 0
        ---- stdout
        ::notice file=a.prose,line=1,endLine=1,col=1,endColumn=7,title=W103%3A deprecated import::`import … from` is deprecated and only names a skill; import programs with `use "path"`
        ::warning file=a.prose,line=2,endLine=2,col=1,endColumn=9,title=W101%3A empty body::`parallel` has an empty body
    "#]]);
}

#[test]
fn the_examples_are_clean_but_for_the_one_that_is_wrong_on_purpose() {
    let mut command = Workspace::new(&[]).command();
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let run = Run::of(command.current_dir(examples).args(["check", "--output-format", "json"]));
    let findings: Value = serde_json::from_str(&run.stdout).unwrap();
    let findings = findings.as_array().unwrap();
    assert!(findings.len() >= 3, "{findings:#?}");
    for finding in findings {
        // The examples lie in a repository, or where somebody has unpacked them.
        assert!(finding["path"].as_str().unwrap().ends_with("mistakes.prose"), "{finding:#}");
    }
}

#[test]
fn quiet_leaves_out_the_summary_only() {
    let workspace = workspace();
    let loud = workspace.prose(&["check"]);
    let quiet = workspace.prose(&["check", "--quiet"]);
    assert_eq!((quiet.status, quiet.stdout, quiet.stderr.as_str()), (1, loud.stdout, ""));
    workspace.prose(&["check", "-q", "gone.prose"]).refused(expect!["`gone.prose` does not exist"]);
}

#[test]
fn what_cannot_be_read_weighs_more_than_errors() {
    let run = workspace().prose(&["check", "c.prose", "gone.prose"]).ended(2);
    assert!(run.stdout.contains("c.prose:1"), "{run:?}");
    assert!(
        run.stderr.contains("Found 1 error in 1 file; 1 fixable with `--fix`; 1 could not be checked."),
        "{run:?}"
    );
}

#[test]
fn colours_are_shown_where_they_are_wanted() {
    let workspace = workspace();
    let is_coloured = |arguments: &[&str], variables: &[(&str, &str)]| {
        let mut command = workspace.command();
        let run = Run::of(command.arg("check").args(arguments).envs(variables.iter().copied()));
        assert_eq!(run.stdout.contains('\u{1b}'), run.stderr.contains('\u{1b}'), "{run:?}");
        run.stdout.contains('\u{1b}')
    };
    assert!(!is_coloured(&[], &[]), "a pipe is no terminal");
    assert!(is_coloured(&["--color", "always"], &[]));
    assert!(is_coloured(&["--color", "always"], &[("NO_COLOR", "1")]));
    assert!(is_coloured(&[], &[("CLICOLOR_FORCE", "1")]));
    assert!(!is_coloured(&[], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
    assert!(!is_coloured(&["--color", "never"], &[("CLICOLOR_FORCE", "1")]));
}

#[test]
fn a_reader_who_stops_early_is_no_failure() {
    let names: Vec<String> = (0..500).map(|number| format!("{number:03}.prose")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), BROKEN)).collect();
    let workspace = Workspace::new(&files);
    let mut command = workspace.command();
    command.arg("check").stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_exact(&mut [0; 10]).unwrap();
    drop(stdout);
    let run = Run::from(child.wait_with_output().unwrap());
    // The programs have errors, whoever listens; and the closed pipe is nobody's news.
    assert_eq!(run.status, 1, "{run:?}");
    assert_eq!(run.stderr, "");
}

#[test]
#[cfg(target_os = "linux")]
fn output_that_cannot_be_written_is_a_failure() {
    let workspace = workspace();
    let full = || std::fs::File::create("/dev/full").unwrap();
    for arguments in [&["check"][..], &["explain"]] {
        let run = Run::of(workspace.command().args(arguments).stdout(full())).ended(2);
        assert_eq!(run.stderr, "error: cannot write the output: No space left on device (os error 28)\n");
    }
}

#[test]
fn help_and_version_are_results() {
    let workspace = Workspace::new(&[]);
    let help = workspace.prose(&["check", "--help"]);
    assert_eq!((help.status, help.stderr.as_str()), (0, ""));
    assert!(help.stdout.contains("Exit status:") && help.stdout.contains("Examples:"), "{}", help.stdout);
    let version = workspace.prose(&["--version"]);
    assert_eq!((version.status, version.stdout), (0, format!("prose {}\n", env!("PROSE_VERSION"))));
}

/// Services show findings in the repository, wherever in it the check ran.
#[test]
fn formats_for_services_name_paths_from_the_root_of_the_repository() {
    let workspace = Workspace::new(&[(".git/HEAD", ""), ("flows/my b.prose", "break\n"), ("a.prose", CLEAN)]);
    let check = |format: &str, path: &str| {
        Run::of(workspace.command().current_dir(workspace.path("flows")).args([
            "check",
            "--output-format",
            format,
            path,
        ]))
    };
    assert!(check("github", "my b.prose").stdout.starts_with("::error file=flows/my b.prose,line=1"));
    assert!(check("concise", "my b.prose").stdout.starts_with("my b.prose:1:1: "));
    for path in ["my b.prose", "../flows/my b.prose", "."] {
        let findings: Value = serde_json::from_str(&check("json", path).stdout).unwrap();
        assert_eq!(findings[0]["path"], "flows/my b.prose", "{path}");
    }
    let log: Value = serde_json::from_str(&check("sarif", "my b.prose").stdout).unwrap();
    let run = &log["runs"][0];
    let place = &run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"];
    assert_eq!(place, &serde_json::json!({ "uri": "flows/my%20b.prose", "uriBaseId": "SRCROOT" }));
    let root = workspace.path("").canonicalize().unwrap();
    let base = run["originalUriBaseIds"]["SRCROOT"]["uri"].as_str().unwrap();
    assert_eq!(base, format!("file://{}/", root.to_str().unwrap()));
}

#[test]
fn standard_input_lies_in_no_repository() {
    let workspace = Workspace::new(&[(".git/HEAD", "")]);
    let run = workspace.prose_with_input(&["check", "-", "--output-format", "github"], b"break\n");
    assert!(run.stdout.starts_with("::error file=<stdin>,line=1"), "{}", run.stdout);
    let arguments = ["check", "-", "--output-format", "github", "--stdin-filename", "./a/../b.prose"];
    let run = workspace.prose_with_input(&arguments, b"break\n");
    assert!(run.stdout.starts_with("::error file=b.prose,line=1"), "{}", run.stdout);
}

#[test]
fn more_warnings_than_allowed_fail_the_check() {
    let workspace = Workspace::new(&[("a.prose", "loop:\n  session \"Work\"\n"), ("b.prose", CLEAN)]);
    workspace.prose(&["check", "--max-warnings", "0", "--output-format", "concise"]).check(expect![[r#"
        status: 1
        ---- stdout
        a.prose:1:1: warning[W113]: unbounded loop; add a condition, `max`, `break` or `return`
        ---- stderr
        error: found 1 warning, and `--max-warnings` allows 0
    "#]]);
    workspace.prose(&["check", "--max-warnings", "1"]).ended(0);
}

#[test]
fn a_star_sets_the_level_of_all_codes_that_start_like_this() {
    let workspace = Workspace::new(&[("a.prose", "loop:\n  session \"Work\"\n")]);
    workspace.prose(&["check", "--max-warnings", "0", "--level", "W*=off"]).ended(0);
    workspace.prose(&["check", "--level", "*=error"]).ended(1);
    // The later one counts.
    workspace.prose(&["check", "--level", "*=error", "--level", "W*=off"]).ended(0);
    workspace.prose(&["check", "--level", "X*=off"]).check(expect![[r#"
        status: 2
        ---- stderr
        error: invalid value 'X*=off' for '--level <CODE=LEVEL>': `X*` is not a diagnostic code; list all codes with `prose explain`

        For more information, try '--help'.
    "#]]);
}

#[test]
fn codes_are_selected_and_ignored_by_their_beginnings() {
    let workspace = Workspace::new(&[(
        "a.prose",
        "agent unused:\n  prompt: \"x\"\nagent other:\n  prompt: \"y\"\nsession \"C:\\q\"\n",
    )]);
    let codes = |arguments: &[&str]| {
        let run = workspace.prose(&[&["check", "--output-format", "concise"], arguments].concat());
        let codes =
            run.stdout.lines().filter_map(|line| Some(line.split_once('[')?.1.split_once(']')?.0.to_owned()));
        (run.status, codes.collect::<Vec<_>>().join(" "))
    };
    expect![[r#"
        (1, "W116 W116 E002")
    "#]]
    .assert_eq(&format!("{:?}\n", codes(&[])));
    expect![[r#"
        (0, "W116 W116")
    "#]]
    .assert_eq(&format!("{:?}\n", codes(&["--select", "W"])));
    expect![[r#"
        (1, "E002")
    "#]]
    .assert_eq(&format!("{:?}\n", codes(&["--select", "E0,W115"])));
    expect![[r#"
        (1, "E002")
    "#]]
    .assert_eq(&format!("{:?}\n", codes(&["--ignore", "W1*", "--ignore", "W0"])));
    expect![[r#"
        (0, "")
    "#]]
    .assert_eq(&format!("{:?}\n", codes(&["--select", "E", "--ignore", "E002"])));
    expect![[r#"
        (1, "W116 W116")
    "#]]
    .assert_eq(&format!("{:?}\n", codes(&["--select", "W", "--level", "W*=error"])));
    workspace.prose(&["check", "--select", "W9"]).check(expect![[r#"
        status: 2
        ---- stderr
        error: invalid value 'W9' for '--select <CODE>': `W9` is not a diagnostic code; list all codes with `prose explain`

        For more information, try '--help'.
    "#]]);
    workspace.prose(&["check", "--ignore", "w101"]).check(expect![[r#"
        status: 1
        ---- stdout
        hint[W116]: agent `unused` is never used
         --> a.prose:1:7
          |
        1 | agent unused:
          |       ^^^^^^

        hint[W116]: agent `other` is never used
         --> a.prose:3:7
          |
        3 | agent other:
          |       ^^^^^

        error[E002]: unknown escape `\q`; write a backslash as `\\`
         --> a.prose:5:12
          |
        5 | session "C:\q"
          |            ^^
          |
        help: Double the backslash
          |
        5 | session "C:\\q"
          |            +

        ---- stderr
        Found 1 error and 2 hints in 1 file; 1 fixable with `--fix`.
    "#]]);
    workspace.prose(&["check", "--ignore", ""]).check(expect![[r#"
        status: 2
        ---- stderr
        error: invalid value '' for '--ignore <CODE>': `` is not a diagnostic code; list all codes with `prose explain`

        For more information, try '--help'.
    "#]]);
}

#[test]
fn statistics_are_instead_of_diagnostics() {
    workspace().prose(&["check", "--statistics"]).check(expect![[r#"
        status: 1
        ---- stdout
        1  error[E001]  unterminated literal (1 with a fix)
        1  error[E002]  unknown escape sequence (1 with a fix)
        ---- stderr
        Found 2 errors in 2 of 3 files; 2 fixable with `--fix`.
    "#]]);
    workspace().prose(&["check", "--statistics", "--fix", "-q"]).check(expect![[r#"
        status: 0
    "#]]);
    workspace().prose(&["check", "--statistics", "--output-format", "sarif"]).check(expect![[r#"
        status: 2
        ---- stderr
        error: `--statistics` has only the output formats `full`, `concise` and `json`
    "#]]);
}

/// A service has the repository, not the folder that the command ran in.
#[test]
fn formats_of_services_have_paths_of_the_repository() {
    let workspace = workspace();
    std::fs::create_dir(workspace.path(".git")).unwrap();
    for format in ["gitlab", "junit", "checkstyle"] {
        let mut command = workspace.command();
        command.args(["check", "--output-format", format]).current_dir(workspace.path("b"));
        let run = Run::of(&mut command);
        assert_eq!((run.status, run.stderr.as_str()), (1, ""), "{format}");
        assert!(run.stdout.contains("\"b/broken.prose\""), "{}", run.stdout);
    }
}

#[cfg(unix)]
#[test]
fn programs_are_checked_again_when_an_import_changes() {
    use std::io::{BufRead, BufReader};

    use rustix::process::{Pid, Signal, kill_process};

    let workspace = Workspace::new(&[
        ("a.prose", "use \"./lib/b.prose\" as b\nlet x = b()\nsession \"Say it\"\n  context: x\n"),
        ("lib/b.prose", "output text = session \"Say hello\"\n"),
    ]);
    let mut command = workspace.command();
    command.args(["check", "--watch", "a.prose"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut passed = || {
        let summary = stderr.next().unwrap().unwrap();
        assert_eq!(stderr.next().unwrap().unwrap(), "Watching for changes; Ctrl-C ends.");
        summary
    };
    assert_eq!(passed(), "1 file is clean.");
    workspace.write("lib/b.prose", b"output text = session \"Say hello\n");
    assert_eq!(passed(), "Found 1 error in 1 file.");
    workspace.write("a.prose", b"session \"Say it\"\n");
    assert_eq!(passed(), "1 file is clean.");
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert!(child.wait().unwrap().success());
}

#[test]
fn options_that_do_not_fit_watching_are_refused() {
    workspace().prose(&["check", "--watch", "-"]).check(expect![[r#"
        status: 2
        ---- stderr
        error: `--watch` cannot check standard input, which does not change; name files and folders
    "#]]);
    workspace().prose(&["check", "--watch", "--output-format", "json"]).check(expect![[r#"
        status: 2
        ---- stderr
        error: `--watch` has only the output formats `full` and `concise`
    "#]]);
}
