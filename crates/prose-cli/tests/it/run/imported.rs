//! Lines of imported programs are named with their program.

use expect_test::expect;

use super::replay;
use crate::common::Workspace;

const MAIN: &str =
    "use \"./lib.prose\" as lib\nlet found = lib(topic: \"tides\")\nsession \"Use it\"\n  context: found\n";

const LIB: &str =
    "# Facts\ninput topic: \"What about?\"\n\nlet facts = session \"Find facts\"\noutput all = facts\n";

/// A workspace with a program that imports another one.
fn workspace(settings: &str) -> Workspace {
    Workspace::new(&[("main.prose", MAIN), ("lib.prose", LIB), ("prose.toml", settings)])
}

#[test]
fn a_question_of_an_imported_program_names_it() {
    let workspace = workspace("[limits.run]\nask-sessions = 1\n");
    workspace.write("lib.prose", LIB.replace("output", "session \"Check them\"\noutput").as_bytes());
    workspace.check(&["run", "main.prose", "-q"], expect![[r#"
        status: 5
        ---- stderr
        waiting: question 1 at lib.prose:5: the limit of 1 session is reached (`limits.run.ask-sessions`); use up to 1 session more?
        help: answer with `prose runs answer ID once|run|deny`; recorded results are reused
    "#]]);
    let shown = workspace.prose(&["runs", "show"]);
    let waiting: Vec<&str> = shown.stdout.lines().filter(|line| line.contains("question 1")).collect();
    expect!["waiting:  question 1 at lib.prose:5: the limit of 1 session is reached (`limits.run.ask-sessions`); use up to 1 session more?"].assert_eq(&waiting.join("\n"));
}

#[test]
fn sessions_and_their_comparison_name_the_imported_program() {
    let workspace = workspace("");
    assert_eq!(workspace.prose(&["run", "main.prose", "-q"]).status, 0);
    let first = replay::last(&workspace);
    let shown = workspace.prose(&["runs", "show"]);
    let sessions: Vec<&str> =
        shown.stdout.lines().filter(|line| line.starts_with("  l") && line.contains(": complete")).collect();
    assert_eq!(sessions.len(), 2, "{shown:?}");
    assert!(sessions[0].starts_with("  lib.prose:4: facts: complete"), "{sessions:?}");
    assert!(sessions[1].starts_with("  line 3: Use it: complete"), "{sessions:?}");

    workspace.write("lib.prose", LIB.replace("Find facts", "Find many facts").as_bytes());
    replay::check(
        &workspace.prose(&["run", "main.prose", "-q", "--replay", &first]),
        &first,
        expect![[r#"
            status: 6
            ---- stderr
            not recorded: run EARLIER has no answer for the session at lib.prose:4 (s1/m1/s1/1)
            --- recorded at lib.prose:4 (s1/m1/s1/1, event 12)
            +++ asked at lib.prose:4 (s1/m1/s1/1)
            @@ -1,2 +1,2 @@
             [task]
            -Find facts
            +Find many facts
            help: `prose run main.prose --replay EARLIER --live` asks the harness from there on
        "#]],
    );
    let diff = workspace.prose(&["runs", "diff", &first, &replay::last(&workspace)]);
    let steps: Vec<&str> = diff.stdout.lines().filter(|line| line.contains(" at ")).collect();
    expect![[r#"
        session at lib.prose:4 (s1/m1/s1/1)  only in EARLIER
        output all at lib.prose:5 (s1/m1/s2)  only in EARLIER
        session at line 3 (s2)  only in EARLIER
        result: run EARLIER has no answer for the session at lib.prose:4"#]]
    .assert_eq(&steps.join("\n").replace(&first, "EARLIER"));
}

#[test]
fn json_says_which_program_a_place_belongs_to() {
    let workspace = workspace("");
    assert_eq!(workspace.prose(&["run", "main.prose", "-q"]).status, 0);
    let shown: serde_json::Value =
        serde_json::from_str(&workspace.prose(&["runs", "show", "--json"]).stdout).unwrap();
    let program = &shown["programs"][0];
    assert_eq!((&program["program"], &program["name"]), (&1.into(), &"lib.prose".into()));
    assert!(program["from"].as_str().unwrap().ends_with("/lib.prose"), "{program}");
    let of = |label: &str| {
        let requests = shown["requests"].as_array().unwrap();
        requests.iter().find(|request| request["label"] == label).unwrap()["site"].clone()
    };
    assert_eq!((&of("Find facts")["program"], &of("Find facts")["line"]), (&1.into(), &4.into()));
    assert_eq!(of("Use it").get("program"), None);
}

#[test]
fn a_dry_run_names_the_imported_program() {
    let shown = workspace("").prose(&["run", "main.prose", "--dry-run"]);
    let prompts: Vec<&str> = shown.stdout.lines().filter(|line| line.starts_with("==")).collect();
    assert_eq!(prompts, ["== 1: lib.prose:4", "== 2: line 3"]);
}

#[test]
fn calls_of_the_same_block_in_two_executions_of_a_program_end_by_themselves() {
    let main = "use \"./lib.prose\" as lib\nparallel:\n  a = lib(topic: \"x\")\n  b = lib(topic: \"y\")\noutput all = [a.facts, b.facts]\n";
    let lib = "input topic: \"What about?\"\n\nblock dig(about):\n  let inner = session \"Dig {about}\"\n  output inner\n\nlet deep = do dig(topic)\noutput facts = deep\n";
    let script = "[[session]]\nlabel = \"Dig x\"\nreply = \"DX\"\n\n[[session]]\nlabel = \"Dig y\"\nreply = \"DY\"\ndelay = \"500ms\"\n";
    let workspace = Workspace::new(&[("main.prose", main), ("lib.prose", lib), ("answers.toml", script)]);
    let run = workspace.prose(&["run", "main.prose", "--script", "answers.toml"]);
    assert!(run.stderr.contains("\nCompleted: 2 sessions done\n"), "{run:?}");
    let shown = workspace.prose(&["runs", "show"]);
    let sessions: Vec<&str> = shown.stdout.lines().filter(|line| line.contains("inner: complete")).collect();
    assert_eq!(sessions.len(), 2, "{shown:?}");
}

#[test]
fn a_fork_leaves_a_run_at_a_line_of_an_imported_program() {
    let workspace = workspace("");
    let lib = LIB.replace("output", "if facts == \"\":\n  session \"Search\"\nlet more = session \"Check them\"\n  context: facts\noutput");
    workspace.write("lib.prose", lib.as_bytes());
    workspace.prose(&["run", "main.prose", "-q"]).ended(0);
    let first = replay::last(&workspace);
    let planned = |arguments: &[&str]| {
        let run = workspace.prose(&[&["runs", "fork", &first], arguments].concat());
        run.stderr.lines().next().unwrap_or_default().replace(&first, "EARLIER")
    };
    expect!["Fork of run EARLIER before lib.prose:7 (s1/m1/s3, event 21)"]
        .assert_eq(&planned(&["--from", "lib.prose:7"]));
    // A line of a statement stands for the statement.
    expect!["Fork of run EARLIER before lib.prose:7 (s1/m1/s3, event 21)"]
        .assert_eq(&planned(&["--from", "./lib.prose:8"]));
    expect!["error: lib.prose:6 was not executed in run EARLIER; lib.prose:5 and lib.prose:7 were"]
        .assert_eq(&planned(&["--from", "lib.prose:6"]));
    expect!["error: other.prose:7 was not executed in run EARLIER"]
        .assert_eq(&planned(&["--from", "other.prose:7"]));
    expect!["error: invalid value 'lib.prose:x' for '--from <LINE|PLACE|@EVENT|failure>': expected a line such as `12` or `lib.prose:12`, a place such as `s4/i2/1`, an event such as `@340`, or `failure`"].assert_eq(&planned(&["--from", "lib.prose:x"]));
    expect!["Fork of run EARLIER before lib.prose:5 (s1/m1/s2, event 14)"]
        .assert_eq(&planned(&["--reply", "lib.prose:4=Many"]));
}

#[test]
fn the_help_after_an_error_of_an_imported_program_is_about_that_error() {
    let help_of = |main: &str, lib: &str| {
        let workspace = workspace("");
        workspace.write("main.prose", main.as_bytes());
        workspace.write("lib.prose", lib.as_bytes());
        workspace.write("answers.toml", b"[[session]]\nlabel = \"Use it\"\nreply = \"used\"\n");
        let run = workspace.prose(&["run", "main.prose", "-q", "--script", "answers.toml"]).ended(1);
        let help: Vec<&str> = run.stderr.lines().filter(|line| line.starts_with("help: ")).collect();
        workspace.masked(&help.join("\n"))
    };
    let help = |lib: &str| help_of(MAIN, lib);
    // Another answer is enough.
    expect![[r#"
        help: its prompt is in `.prose/runs/ID/prompts/imports/lib/facts.md`
        help: resume it with `prose resume ID`; recorded results are reused"#]]
    .assert_eq(&help(LIB));
    expect!["help: resume it with `prose resume ID`; recorded results are reused"].assert_eq(&help(
        "input topic: \"What about?\"\nif **{topic} matters**:\n  session \"Find\"\noutput all = 1\n",
    ));
    // Only another program helps, and not that of the run.
    expect!["help: fix `lib.prose`, then run `prose resume ID --accept-changes`"]
        .assert_eq(&help("input topic: \"What about?\"\nthrow \"no {topic}\"\noutput all = 1\n"));
    // The same where the program of the run has caught the error and throws it again.
    let again = "use \"./lib.prose\" as lib\ntry:\n  lib(topic: \"tides\")\ncatch as problem:\n  throw\n";
    expect![[r#"
        help: its prompt is in `.prose/runs/ID/prompts/imports/lib/facts.md`
        help: resume it with `prose resume ID`; recorded results are reused"#]]
    .assert_eq(&help_of(again, LIB));
}
