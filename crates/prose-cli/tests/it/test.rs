//! `prose test`.

use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

use expect_test::{Expect, expect};

use crate::common::{Run, Workspace};

const PROGRAM: &str = "input topic: \"What about\"\noutput text = session \"Write about {topic}\"\nif **it is long**:\n  session \"Shorten it\"\n";

const TESTS: &str = r#"[[case]]
name = "writes"
inputs.topic = "tides"
[[case.session]]
reply = "Tides\ncome and go"
[[case.condition]]
met = false
[case.expect]
outputs.text = "Tides\ncome and go"

[[case]]
name = "writes otherwise"
inputs.topic = "winds"
[[case.session]]
reply = "Winds\nblow"
[[case.condition]]
met = false
[case.expect]
outputs.text = "Winds\nturn"

[[case]]
name = "later"
skip = "not yet"
"#;

fn workspace() -> Workspace {
    Workspace::new(&[("main.prose", PROGRAM), ("main.test.toml", TESTS)])
}

/// What a user sees, without times.
#[track_caller]
fn check(run: &Run, status: i32, expected: Expect) {
    assert_eq!(run.status, status, "{run:?}");
    let lines = run.stdout.lines().map(|line| match line.rsplit_once(" in ") {
        Some((start, end)) if end.ends_with(" s") => format!("{start} in TIME\n"),
        _ => format!("{line}\n"),
    });
    let stdout: String = lines.collect();
    let stderr = if run.stderr.is_empty() { String::new() } else { format!("---- stderr\n{}", run.stderr) };
    expected.assert_eq(&format!("{stdout}{stderr}"));
}

#[test]
fn failures_are_shown_with_differences() {
    let workspace = workspace();
    check(
        &workspace.prose(&["test"]),
        1,
        expect![[r#"
        main.test.toml
          pass writes
          FAIL writes otherwise
          skip later: not yet

        FAIL writes otherwise
          main.test.toml:19:16: output `text` differs from the expected value
            --- expected
            +++ actual
            @@ -1,2 +1,2 @@
             Winds
            -turn
            +blow

        1 passed, 1 failed, 1 skipped in TIME
    "#]],
    );
    assert!(!workspace.path(".prose").exists());
    check(
        &workspace.prose(&["test", "main.prose", "-k", "WRITES", "-x", "-j", "1"]),
        1,
        expect![[r#"
        main.test.toml
          pass writes
          FAIL writes otherwise

        FAIL writes otherwise
          main.test.toml:19:16: output `text` differs from the expected value
            --- expected
            +++ actual
            @@ -1,2 +1,2 @@
             Winds
            -turn
            +blow

        1 passed, 1 failed in TIME
    "#]],
    );
    check(
        &workspace.prose(&["test", "-k", "tes.toml"]),
        5,
        expect![[r#"
        ---- stderr
        error: no case has a name with this text; `prose test --list` lists all cases
    "#]],
    );
    check(
        &workspace.prose(&["test", "--list"]),
        0,
        expect![[r#"
        main.test.toml::writes
        main.test.toml::writes otherwise
        main.test.toml::later
    "#]],
    );
}

#[test]
fn differences_are_accepted() {
    let workspace = workspace();
    check(
        &workspace.prose(&["test", "--update"]),
        0,
        expect![[r#"
        main.test.toml
          pass writes
          pass writes otherwise
          skip later: not yet

        2 passed, 1 skipped in TIME
        ---- stderr
        Updated main.test.toml.
    "#]],
    );
    let text = std::fs::read_to_string(workspace.path("main.test.toml")).unwrap();
    assert_eq!(text, TESTS.replace("\"Winds\\nturn\"", "'''\nWinds\nblow'''"));
    check(
        &workspace.prose(&["test", "--update"]),
        0,
        expect![[r#"
        main.test.toml
          pass writes
          pass writes otherwise
          skip later: not yet

        2 passed, 1 skipped in TIME
    "#]],
    );
}

#[test]
fn what_is_not_updated_is_named_and_still_fails() {
    let tests = "[[case]]\nname = \"counts\"\n[case.expect]\nsessions = 2\noutputs = { text = { contains = \"rain\" } }\n\
                 [[case.session]]\nreply = \"sun\"\n";
    let program = "output text = session \"Forecast\"\n";
    let workspace = Workspace::new(&[("main.prose", program), ("main.test.toml", tests)]);
    check(
        &workspace.prose(&["test", "--update"]),
        1,
        expect![[r#"
        main.test.toml
          FAIL counts

        FAIL counts
          main.test.toml:5:33: output `text` does not contain "rain"
            sun

        0 passed, 1 failed in TIME
        ---- stderr
        Updated main.test.toml in part.
        not updated: main.test.toml:5: output `text` does not contain "rain"; change it by hand
    "#]],
    );
    let text = std::fs::read_to_string(workspace.path("main.test.toml")).unwrap();
    assert_eq!(text, tests.replace("sessions = 2", "sessions = 1"));
}

#[test]
fn answers_are_recorded() {
    let tests = "[[case]]\nname = \"recorded\"\ninputs.topic = \"tides\"\nrecorded = \"tides.prose-run\"\nharness = \"offline\"\n";
    let workspace = Workspace::new(&[("main.prose", PROGRAM), ("main.test.toml", tests)]);
    check(
        &workspace.prose(&["test"]),
        1,
        expect![[r#"
        main.test.toml
          FAIL recorded

        FAIL recorded
          main.test.toml:2:8: `tides.prose-run` does not exist; `prose test --update` records it

        0 passed, 1 failed in TIME
    "#]],
    );
    check(
        &workspace.prose(&["test", "--update"]),
        0,
        expect![[r#"
        main.test.toml
          pass recorded

        1 passed in TIME
    "#]],
    );
    assert!(workspace.path("tides.prose-run").is_file());
    check(
        &workspace.prose(&["test"]),
        0,
        expect![[r#"
        main.test.toml
          pass recorded

        1 passed in TIME
    "#]],
    );
    assert!(!workspace.path(".prose").exists());
}

#[test]
fn nothing_to_test() {
    let workspace = Workspace::new(&[("main.prose", PROGRAM)]);
    check(
        &workspace.prose(&["test"]),
        5,
        expect![[r#"
        ---- stderr
        error: no tests found; write them to `NAME.test.toml` next to `NAME.prose`
    "#]],
    );
    check(
        &workspace.prose(&["test", "main.prose"]),
        2,
        expect![[r#"
        ---- stderr
        error: `main.prose` has no tests; write them to `main.test.toml`
    "#]],
    );
    check(
        &workspace.prose(&["test", "missing.test.toml"]),
        2,
        expect![[r#"
        ---- stderr
        error: `missing.test.toml` does not exist
    "#]],
    );
}

#[test]
fn mistakes_are_shown_and_the_other_files_are_run() {
    let workspace = Workspace::new(&[
        ("main.prose", PROGRAM),
        ("main.test.toml", TESTS),
        ("other.prose", "sesion \"x\"\n"),
        ("other.test.toml", "[[case]]\nname = \"x\"\n"),
        ("third.test.toml", "[[case]]\nnaem = \"x\"\n[case.expect]\noutput.text = \"x\"\n"),
        (
            "fourth.test.toml",
            "program = \"main.prose\"\n[[case]]\nname = \"x\"\nexpect.outputs.txet = \"x\"\n",
        ),
        ("fifth.test.toml", "[[case]]\nname = \"x\"\n"),
    ]);
    check(
        &workspace.prose(&["test"]),
        2,
        expect![[r#"
            main.test.toml
              pass writes
              FAIL writes otherwise
              skip later: not yet

            FAIL writes otherwise
              main.test.toml:19:16: output `text` differs from the expected value
                --- expected
                +++ actual
                @@ -1,2 +1,2 @@
                 Winds
                -turn
                +blow

            1 passed, 1 failed, 1 skipped in TIME
            ---- stderr
            error[E151]: `fifth.prose` does not exist
             --> fifth.test.toml:1:1
              |
            1 | [[case]]
              | ^

            error[E151]: input `topic` is required; add `inputs.topic = …` to the case
             --> fourth.test.toml:3:8
              |
            3 | name = "x"
              |        ^^^

            error[E151]: the program has no output `txet`; did you mean `text`?
             --> fourth.test.toml:4:23
              |
            4 | expect.outputs.txet = "x"
              |                       ^^^

            error[E107]: unknown statement `sesion`; did you mean `session`?
             --> other.prose:1:1
              |
            1 | sesion "x"
              | ^^^^^^
              |
            help: Change to `session`
              |
            1 | session "x"
              |    +

            error[E151]: `other.prose` has 1 error and is not run
             --> other.test.toml:1:1
              |
            1 | [[case]]
              | ^

            error[E151]: this case has no name; add `name = "…"`
             --> third.test.toml:1:1
              |
            1 | [[case]]
              | ^^^^^^^^

            error[E151]: a `[[case]]` has no `naem`; did you mean `name`?
             --> third.test.toml:2:1
              |
            2 | naem = "x"
              | ^^^^
              |
            help: Change to `name`
              |
            2 - naem = "x"
            2 + name = "x"
              |

            error[E151]: `[case.expect]` has no `output`; did you mean `outputs`?
             --> third.test.toml:4:1
              |
            4 | output.text = "x"
              | ^^^^^^
              |
            help: Change to `outputs`
              |
            4 | outputs.text = "x"
              |       +

        "#]],
    );
}

#[test]
fn results_are_written_for_other_programs() {
    let workspace = workspace();
    let arguments = ["test", "--coverage", "--lcov", "coverage.lcov", "--junit", "results.xml"];
    check(
        &workspace.prose(&arguments),
        1,
        expect![[r#"
        main.test.toml
          pass writes
          FAIL writes otherwise
          skip later: not yet

        FAIL writes otherwise
          main.test.toml:19:16: output `text` differs from the expected value
            --- expected
            +++ actual
            @@ -1,2 +1,2 @@
             Winds
            -turn
            +blow

        Coverage
          main.prose: 3 of 4 statements, 1 of 2 branches; lines not executed: 4
            line 3: `**it is long**` not taken

        1 passed, 1 failed, 1 skipped in TIME
    "#]],
    );
    let read = |name: &str| std::fs::read_to_string(workspace.path(name)).unwrap();
    expect![[r#"
        TN:
        SF:main.prose
        BRDA:3,0,0,0
        BRDA:3,0,1,2
        BRF:2
        BRH:1
        DA:1,2
        DA:2,2
        DA:3,2
        DA:4,0
        LF:4
        LH:3
        end_of_record
    "#]]
    .assert_eq(&read("coverage.lcov"));
    let xml = read("results.xml");
    assert!(
        xml.contains(
            "<testsuite name=\"main.test.toml\" tests=\"3\" skipped=\"1\" errors=\"0\" failures=\"1\">"
        ),
        "{xml}"
    );

    let json = workspace.prose(&["test", "--json"]).ended(1);
    let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(json["files"][0]["cases"][1]["runs"][0]["mismatches"][0]["line"], 19);
    assert_eq!(workspace.prose(&["test", "--junit", "no/such/results.xml"]).status, 2);
}

#[test]
fn whole_names_select_one_case() {
    let workspace = workspace();
    for name in ["writes", "main.test.toml::writes"] {
        let run = workspace.prose(&["test", "--exact", "-k", name]).ended(0);
        let lines: Vec<&str> = run.stdout.lines().take(2).collect();
        assert_eq!(lines, ["main.test.toml", "  pass writes"]);
    }
    assert_eq!(workspace.prose(&["test", "--exact", "-k", "write"]).status, 5);
    assert_eq!(workspace.prose(&["test", "--exact"]).status, 2);
}

#[test]
fn editors_get_a_list_of_cases_with_their_places() {
    let broken = "[[case]]\nname = \"x\"\ninput.topic = 3\n";
    let matrix = "[[case]]\nname = \"all\"\n[case.matrix]\ninputs.topic = [\"a\", \"b\"]\n[[case.session]]\nreply = \"x\"\n\n";
    let workspace =
        Workspace::new(&[("main.prose", PROGRAM), ("main.test.toml", matrix), ("other.test.toml", broken)]);
    let listed = workspace.prose(&["test", "--list", "--json"]);
    assert_eq!(listed.status, 2);
    expect![[r#"
        {
          "files": [
            {
              "cases": [
                {
                  "column": 1,
                  "endColumn": 12,
                  "endLine": 6,
                  "line": 1,
                  "name": "all",
                  "variants": [
                    {
                      "debug": {
                        "inputs": {
                          "topic": "a"
                        },
                        "program": "main.prose",
                        "script": "[[session]]\nreply = \"x\"\n"
                      },
                      "name": "all [topic=a]"
                    },
                    {
                      "debug": {
                        "inputs": {
                          "topic": "b"
                        },
                        "program": "main.prose",
                        "script": "[[session]]\nreply = \"x\"\n"
                      },
                      "name": "all [topic=b]"
                    }
                  ]
                }
              ],
              "path": "main.test.toml",
              "problems": [],
              "program": "main.prose"
            },
            {
              "cases": [
                {
                  "column": 1,
                  "endColumn": 16,
                  "endLine": 3,
                  "line": 1,
                  "name": "x",
                  "variants": [
                    {
                      "debug": {
                        "program": "other.prose",
                        "script": "[input]\ntopic = 3\n"
                      },
                      "name": "x"
                    }
                  ]
                }
              ],
              "path": "other.test.toml",
              "problems": [
                {
                  "code": "E151",
                  "column": 1,
                  "endColumn": 6,
                  "endLine": 3,
                  "line": 3,
                  "message": "an entry must start with a header in double brackets: `[[case.input]]`"
                }
              ],
              "program": "other.prose"
            }
          ]
        }
    "#]]
    .assert_eq(&listed.stdout);
}

#[test]
fn editors_get_events_as_they_happen() {
    let workspace = Workspace::new(&[
        ("main.prose", PROGRAM),
        ("main.test.toml", TESTS),
        ("other.test.toml", "[[case]]\nname = \"x\"\n"),
    ]);
    let run =
        workspace.prose(&["test", "-j", "1", "--format", "events", "--coverage", "--json=results.json"]);
    assert_eq!(run.status, 2);
    let events = run.stdout.lines().map(|line| {
        let mut event: serde_json::Value = serde_json::from_str(line).unwrap();
        // Times differ.
        event.as_object_mut().unwrap().remove("seconds");
        let attempts = event.get_mut("runs").and_then(|runs| runs.as_array_mut());
        for attempt in attempts.into_iter().flatten() {
            attempt.as_object_mut().unwrap().remove("seconds");
        }
        if let Some(files) = event.get_mut("coverage") {
            *files = files[0]["path"].take();
        }
        format!("{event}\n")
    });
    expect![[r#"
        {"code":"E151","column":1,"endColumn":1,"endLine":1,"event":"problem","line":1,"message":"`other.prose` does not exist","path":"other.test.toml"}
        {"event":"started","name":"writes","path":"main.test.toml"}
        {"column":8,"event":"ended","line":2,"name":"writes","path":"main.test.toml","runs":[{"status":"passed"}],"status":"passed"}
        {"event":"started","name":"writes otherwise","path":"main.test.toml"}
        {"column":8,"event":"ended","line":12,"name":"writes otherwise","path":"main.test.toml","runs":[{"mismatches":[{"actual":"Winds\nblow","column":16,"endColumn":29,"endLine":19,"expected":"Winds\nturn","line":19,"message":"output `text` differs from the expected value"}],"status":"failed"}],"status":"failed"}
        {"column":8,"event":"ended","line":22,"name":"later","path":"main.test.toml","runs":[],"skipped":"not yet","status":"skipped"}
        {"coverage":"main.prose","event":"finished","failed":1,"passed":1,"skipped":1,"stopped":0}
    "#]].assert_eq(&events.collect::<String>());
    let results: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(workspace.path("results.json")).unwrap()).unwrap();
    assert_eq!((&results["passed"], &results["failed"]), (&1.into(), &1.into()));
}

#[test]
fn github_gets_annotations() {
    let workspace = workspace();
    let annotation = "::error file=main.test.toml,line=19,title=writes otherwise failed::output `text` differs from the expected value";
    let run = workspace.prose(&["test", "--format", "github"]).ended(1);
    assert!(run.stdout.contains(annotation), "{run:?}");
    let run = Run::of(workspace.command().args(["test"]).env("GITHUB_ACTIONS", "true"));
    assert!(run.stdout.contains(annotation), "{run:?}");
    let run = Run::of(workspace.command().args(["test", "--format", "full"]).env("GITHUB_ACTIONS", "true"));
    assert!(!run.stdout.contains("::error"), "{run:?}");
}

#[test]
fn only_what_has_changed_is_tested() {
    let other = "session \"Other\"\n";
    let workspace = Workspace::new(&[
        ("main.prose", "use \"./lib.prose\" as lib\noutput text = lib()\n"),
        ("main.test.toml", "[[case]]\nname = \"main\"\nunmatched = \"offline\"\n"),
        ("lib.prose", "output text = session \"Library\"\n"),
        ("other.prose", other),
        ("other.test.toml", "[[case]]\nname = \"other\"\nunmatched = \"offline\"\n"),
    ]);
    let git = |arguments: &[&str]| {
        let mut command = std::process::Command::new("git");
        command.current_dir(workspace.path("")).args(["-c", "user.name=a", "-c", "user.email=a@b"]);
        let output = command.args(arguments).env("GIT_CONFIG_NOSYSTEM", "1").output().unwrap();
        assert!(output.status.success(), "{output:?}");
    };
    check(
        &workspace.prose(&["test", "--changed"]),
        2,
        expect![[r#"
        ---- stderr
        error: `--changed`: not a git repository (or any of the parent directories): .git
    "#]],
    );
    git(&["init", "--quiet"]);
    git(&["add", "."]);
    git(&["commit", "--quiet", "-m", "first"]);
    check(
        &workspace.prose(&["test", "--changed"]),
        0,
        expect![[r#"
        ---- stderr
        No test is affected by what has changed.
    "#]],
    );
    std::fs::write(workspace.path("lib.prose"), "output text = session \"The library\"\n").unwrap();
    check(
        &workspace.prose(&["test", "--changed"]),
        0,
        expect![[r#"
        main.test.toml
          pass main

        1 passed in TIME
    "#]],
    );
    git(&["commit", "--quiet", "-am", "second"]);
    check(
        &workspace.prose(&["test", "--changed=HEAD~1", "--list"]),
        0,
        expect![[r#"
        main.test.toml::main
    "#]],
    );
    check(
        &workspace.prose(&["test", "--changed=nowhere"]),
        2,
        expect![[r#"
        ---- stderr
        error: `--changed`: `nowhere` is not a commit
    "#]],
    );
}

#[cfg(unix)]
#[test]
fn tests_are_run_again_when_a_file_changes() {
    use rustix::process::{Pid, Signal, kill_process};

    let workspace = workspace();
    let mut command = workspace.command();
    command.args(["test", "--watch"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut watching = || assert_eq!(stderr.next().unwrap().unwrap(), "Watching for changes; Ctrl-C ends.");
    watching();
    // At once, so that no half of the file is seen.
    let elsewhere = Workspace::new(&[("new.toml", &TESTS.replace("turn", "blow"))]);
    std::fs::rename(elsewhere.path("new.toml"), workspace.path("main.test.toml")).unwrap();
    watching();
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert!(child.wait().unwrap().success());
    let mut stdout = String::new();
    child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
    let summaries: Vec<&str> = stdout.lines().filter(|line| line.contains(" skipped in ")).collect();
    assert_eq!(summaries.len(), 2, "{stdout}");
    assert!(
        summaries[0].starts_with("1 passed, 1 failed") && summaries[1].starts_with("2 passed, 1 skipped"),
        "{stdout}"
    );
}

#[cfg(unix)]
#[test]
fn agents_work_in_a_copy_of_the_project_and_cost_at_most_what_is_allowed() {
    let agent = "#!/bin/sh\ncat > prompt.txt\ncat notes.md > report.md\necho Done\n";
    let tests = r#"[[case]]
name = "writes"
harness = "command"
max-cost = 1
[case.expect]
outputs.text = "Done"
files = { "report.md" = { contains = "the notes" } }
sessions = 1

[[case]]
name = "records"
harness = "command"
max-cost = 1
recorded = "answers/done.prose-run"
[case.expect]
outputs.text = "Done"
"#;
    let workspace = Workspace::new(&[
        ("prose.toml", "[run]\nharness = \"command\"\ncommand = [\"./agent.sh\"]\n"),
        ("agent.sh", agent),
        ("notes.md", "the notes\n"),
        ("main.prose", "output text = session \"Write report.md\"\n"),
        ("main.test.toml", tests),
    ]);
    let untrusted = workspace.prose(&["test", "-k", "writes"]).ended(1);
    assert!(untrusted.stdout.contains("is not trusted yet"), "{untrusted:?}");
    check(
        &workspace.prose(&["test", "--trust", "--update"]),
        0,
        expect![[r#"
        main.test.toml
          pass writes
          pass records

        2 passed in TIME
    "#]],
    );
    // What is recorded needs no agent and no trust.
    std::fs::remove_file(workspace.path("agent.sh")).unwrap();
    check(
        &workspace.prose(&["test", "-k", "records"]),
        0,
        expect![[r#"
        main.test.toml
          pass records

        1 passed in TIME
    "#]],
    );
    assert!(!workspace.path("report.md").exists() && !workspace.path(".prose").exists());
}
