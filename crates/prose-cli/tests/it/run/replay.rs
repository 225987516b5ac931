//! `prose run --replay`, `prose runs fork`, `diff`, `export` and `import`.

use expect_test::{Expect, expect};

use super::{ANSWERS, TWO, without_time};
use crate::common::{Run, Workspace};

/// A workspace with a run of [`TWO`], and its id.
pub(super) fn recorded() -> (Workspace, String) {
    let workspace = Workspace::new(&[("main.prose", TWO), ("answers.toml", ANSWERS)]);
    let run = workspace.prose(&["run", "main.prose", "--script", "answers.toml", "--quiet"]);
    assert_eq!(run.status, 0, "{run:?}");
    let id = last(&workspace);
    std::fs::remove_file(workspace.path("answers.toml")).unwrap();
    (workspace, id)
}

/// The id of the run that was started last.
pub(super) fn last(workspace: &Workspace) -> String {
    ids(workspace).swap_remove(0)
}

fn ids(workspace: &Workspace) -> Vec<String> {
    let list = workspace.prose(&["runs", "list", "--json"]);
    let list: serde_json::Value = serde_json::from_str(&list.stdout).unwrap();
    // The name in earlier versions.
    assert!(list.as_array().unwrap().iter().all(|run| run["id"] == run["run"]));
    list.as_array().unwrap().iter().map(|run| run["run"].as_str().unwrap().to_owned()).collect()
}

/// What a user sees, with names for the ids of runs and without times.
#[track_caller]
pub(super) fn check(run: &Run, known: &str, expected: Expect) {
    let mut shown = format!("status: {}\n{}---- stderr\n{}", run.status, run.stdout, run.stderr);
    shown = shown.replace(known, "EARLIER");
    let is_id = |word: &str| {
        let word = word.trim_end_matches(['.', ':', ',']);
        word.len() == 22 && word.as_bytes()[8] == b'-' && word.as_bytes()[15] == b'-'
    };
    let lines = shown.lines().map(|line| {
        let words = line.split(' ').map(|word| match word {
            _ if is_id(word) => "NEW",
            _ if word.ends_with("/.prose/runs;") => "RUNS;",
            _ => word,
        });
        let words: Vec<_> = words.collect();
        let line = without_time(&words.join(" "));
        match line.rsplit_once(", ") {
            // How long a run took.
            Some((start, end)) if end.ends_with(" ms") || end.ends_with(" s") => format!("{start}, TIME"),
            _ => line,
        }
    });
    expected.assert_eq(&(lines.collect::<Vec<_>>().join("\n") + "\n"));
}

#[test]
fn a_run_is_replayed_with_the_answers_of_another() {
    let (workspace, id) = recorded();
    check(
        &workspace.prose(&["run", "main.prose", "--replay", &id]),
        &id,
        expect![[r#"
            status: 0
            text: two
            ---- stderr
            Run NEW with replay
            … First
            ✓ First (TIME)
            … Second
            ✓ Second (TIME)
            Replayed 2 results of run EARLIER; no agent was asked.
            Completed: 2 sessions done, 2 reused
        "#]],
    );
    assert_eq!(ids(&workspace).len(), 2);
    let shown = workspace.prose(&["runs", "show"]).stdout;
    assert!(shown.contains(&format!("replays:  {id}")), "{shown}");
}

/// A workspace whose agent is a program that takes note of each start, and the id of a run in it.
#[cfg(unix)]
fn recorded_with_an_agent() -> (Workspace, String) {
    let agent = "echo started >> started; echo Done";
    let settings = format!("[run]\nharness = \"command\"\ncommand = [\"sh\", \"-c\", {agent:?}]\n");
    let workspace = Workspace::new(&[("main.prose", TWO), ("prose.toml", &settings)]);
    workspace.trust();
    workspace.prose(&["run", "main.prose", "--quiet"]).ended(0);
    assert_eq!(workspace.read("started"), "started\nstarted\n");
    let id = last(&workspace);
    (workspace, id)
}

#[test]
#[cfg(unix)]
fn a_replay_starts_no_agent() {
    let (workspace, id) = recorded_with_an_agent();
    let replay = workspace.prose(&["run", "main.prose", "--replay", &id, "--quiet"]).ended(0);
    assert_eq!(replay.stdout, "text: Done\n");
    assert_eq!(workspace.read("started"), "started\nstarted\n");
}

/// The same by the calls of the system, with the connections.
#[test]
#[cfg(target_os = "linux")]
#[ignore = "needs strace"]
fn a_replay_starts_no_process_and_makes_no_connection() {
    let (workspace, id) = recorded_with_an_agent();
    let traced = |arguments: &[&str]| workspace.traced("execve,execveat,connect", arguments);
    let started = |trace: &str| trace.lines().filter(|line| line.contains("exec")).count();
    let run = traced(&["run", "main.prose", "--quiet"]);
    assert!(started(&run) > 2, "the agent is seen: {run}");
    let replay = traced(&["run", "main.prose", "--replay", &id, "--quiet"]);
    assert_eq!(started(&replay), 1, "`prose` alone: {replay}");
    assert!(!replay.contains("connect("), "{replay}");
}

#[test]
fn a_changed_program_stops_where_it_asks_something_else() {
    let (workspace, id) = recorded();
    workspace.write("main.prose", TWO.replace("\"Second\"", "\"Second and last\"").as_bytes());
    check(
        &workspace.prose(&["run", "main.prose", "--replay", &id, "--quiet"]),
        &id,
        expect![[r#"
            status: 6
            ---- stderr
            not recorded: run EARLIER has no answer for the session at line 2 (s1/1)
            --- recorded at line 2 (s1/1, event 10)
            +++ asked at line 2 (s1/1)
            @@ -1,4 +1,4 @@
             [task]
            -Second
            +Second and last
             [context a]
             one
            help: `prose run main.prose --replay EARLIER --live` asks the harness from there on
        "#]],
    );
    check(
        &workspace.prose(&["run", "main.prose", "--replay", &id, "--live", "--harness", "offline"]),
        &id,
        expect![[r#"
            status: 0
            text: Here is what last comes down to. Took a into account. What matters most is Second, and the rest follows from it. Compared with the rest, Second is the smaller part. One open question about the rest remains. [offline]
            ---- stderr
            Run NEW with offline (placeholder replies)
            … First
            ✓ First (TIME)
            … Second and last
            Recorded results reused; the run continues.
            ✓ Second and last (TIME)
            Reused 1 result of run EARLIER, ran 1.
            Completed: 2 sessions done, 1 reused
        "#]],
    );
}

#[test]
fn replays_are_refused_with_a_reason() {
    let (workspace, id) = recorded();
    let check = |arguments: &[&str], expected: Expect| {
        check(&workspace.prose(&[&["run", "main.prose"], arguments].concat()), &id, expected);
    };
    check(
        &["--replay", "nothing"],
        expect![[r#"
            status: 2
            ---- stderr
            error: run `nothing` does not exist in RUNS; list the runs with `prose runs list`
        "#]],
    );
    check(
        &["--replay", "missing.prose-run"],
        expect![[r#"
            status: 2
            ---- stderr
            error: cannot read missing.prose-run: No such file or directory (os error 2)
        "#]],
    );
    check(
        &["main.prose", "--replay", &id],
        expect![[r#"
        status: 2
        ---- stderr
        error: `--replay` replays one program; run the programs separately
    "#]],
    );
    assert_eq!(workspace.prose(&["run", "main.prose", "--live"]).status, 2);
    assert_eq!(ids(&workspace).len(), 1);
    // A replay asks nothing, also when it is resumed.
    workspace.write("main.prose", TWO.replace("\"Second\"", "\"Third\"").as_bytes());
    workspace.prose(&["run", "main.prose", "--replay", &id]);
    self::check(
        &workspace.prose(&["resume"]),
        &id,
        expect![[r#"
        status: 2
        ---- stderr
        error: run NEW is a replay and asks nothing; to continue it, name a harness with `--harness`, or start a run with `prose run PROGRAM --replay NEW --live`
    "#]],
    );
}

#[test]
fn a_fork_says_what_it_reuses_and_asks() {
    let (workspace, id) = recorded();
    workspace.write("answers.toml", ANSWERS.replace("\"two\"", "\"another\"").as_bytes());
    check(
        &workspace.prose(&["runs", "fork", &id, "--from", "2", "--script", "answers.toml", "--quiet"]),
        &id,
        expect![[r#"
            status: 0
            text: another
            ---- stderr
        "#]],
    );
    check(
        &workspace.prose(&["runs", "fork", &id, "--reply", "1=won", "--harness", "offline"]),
        &id,
        expect![[r#"
            status: 0
            text: Went through Second with an eye on the details. Took a into account. Compared with the rest, Second is the smaller part. Nothing stands in the way of the details. [offline]
            ---- stderr
            Fork of run EARLIER before line 2 (s1, event 6)
            replaces the reply of the session at s0/1
            reuses 1 session and 0 decisions
            asks offline, as far as the rest of run EARLIER shows: 1 session and 0 decisions
            Run NEW with offline (placeholder replies)
            … First
            warning: line 1: the reply was given by ada on the command line, not by an agent
            ✓ First (TIME)
            … Second
            Recorded results reused; the run continues.
            ✓ Second (TIME)
            Reused 1 result of run EARLIER, ran 1.
            Completed: 2 sessions done, 1 reused; 1 warning
        "#]],
    );
    // Of the three runs, one has a reply by hand.
    let shown = ids(&workspace).into_iter().map(|run| workspace.prose(&["runs", "show", &run]).stdout);
    let by_hand: Vec<String> =
        shown.filter_map(|shown| Some(shown.split_once("by hand\n")?.1.to_owned())).collect();
    assert_eq!(by_hand, ["  line 1: the reply was given by ada on the command line, not by an agent\n"]);
    check(
        &workspace.prose(&["runs", "fork", &id]),
        &id,
        expect![[r#"
        status: 2
        ---- stderr
        error: pass where the fork leaves the run with `--from`, a changed reply with `--reply`, or an edited program with `--program`
    "#]],
    );
    check(
        &workspace.prose(&["runs", "fork", &id, "--from", "x y"]),
        &id,
        expect![[r#"
        status: 2
        ---- stderr
        error: run EARLIER has no place `x y`; `prose runs show EARLIER --json` lists the places of its requests
    "#]],
    );
    workspace.write("main.prose", b"session \"Other\"\n");
    check(
        &workspace.prose(&["runs", "fork", &id, "--from", "2"]),
        &id,
        expect![[r#"
            status: 2
            ---- stderr
            error: the program `main.prose` has changed since run EARLIER; fork with it as it is now by `--program main.prose`, or as it was by `--program .prose/runs/EARLIER/program.prose`
        "#]],
    );
}

#[test]
fn two_runs_are_compared() {
    let (workspace, id) = recorded();
    workspace.write("answers.toml", ANSWERS.replace("\"two\"", "\"a\\nb\\nd\"").as_bytes());
    workspace.prose(&["runs", "fork", &id, "--from", "2", "--script", "answers.toml", "--quiet"]);
    let fork = last(&workspace);
    check(
        &workspace.prose(&["runs", "diff", &id, &fork]),
        &id,
        expect![[r#"
        status: 1
        --- EARLIER  main.prose: completed, 2 sessions, 0 decisions, TIME
        +++ NEW  main.prose: completed, 2 sessions, 0 decisions, TIME

        1 step the same

        session at line 2 (s1/1)
        result:
        @@ -1 +1,3 @@
        -two
        +a
        +b
        +d

        output text at line 2 (s1)
        result:
        @@ -1 +1,3 @@
        -two
        +a
        +b
        +d
        ---- stderr
        2 differences.
    "#]],
    );
    check(
        &workspace.prose(&["runs", "diff", &id, &id]),
        &id,
        expect![[r#"
        status: 0
        --- EARLIER  main.prose: completed, 2 sessions, 0 decisions, TIME
        +++ EARLIER  main.prose: completed, 2 sessions, 0 decisions, TIME

        3 steps the same
        ---- stderr
        No difference in what was asked and what came of it.
    "#]],
    );
    let json = workspace.prose(&["runs", "diff", &id, &fork, "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(json["steps"][0]["differs"], serde_json::Value::Null);
    assert_eq!(json["steps"][1]["b"]["result"], "a\nb\nd");
}

#[test]
fn an_output_that_moved_is_compared_with_itself() {
    let (workspace, id) = recorded();
    workspace.write("answers.toml", ANSWERS.replace("\"two\"", "\"three\"").as_bytes());
    workspace.write("main.prose", format!("let one = 1\n{TWO}").as_bytes());
    workspace.prose(&["run", "main.prose", "--script", "answers.toml", "--quiet"]).ended(0);
    check(
        &workspace.prose(&["runs", "diff", &id, &last(&workspace)]),
        &id,
        expect![[r#"
        status: 1
        --- EARLIER  main.prose: completed, 2 sessions, 0 decisions, TIME
        +++ NEW  main.prose: completed, 2 sessions, 0 decisions, TIME

        1 step the same

        session at line 2 (s1/1)  now at line 3 (s2/1)
        result: two
        now     three

        output text at line 2 (s1)  now at line 3 (s2)
        result: two
        now     three
        ---- stderr
        2 differences.
    "#]],
    );
}

#[test]
fn an_exported_run_has_no_secrets_and_is_replayed_elsewhere() {
    let program = "input key: \"The key\"\noutput text = session \"Use {key} for Ada\"\n";
    let settings = "[run]\nredact = [\"Ada\"]\nenvironment = [\"PLANTED\"]\n";
    let workspace = Workspace::new(&[("main.prose", program), ("prose.toml", settings)]);
    let secret = "sk-planted-0123456789";
    workspace.prose(&["run", "main.prose", "--input", &format!("key={secret}"), "--quiet"]);
    let id = last(&workspace);
    let mut export = workspace.command();
    export.args(["runs", "export", &id, "run.prose-run"]).env("PLANTED", secret);
    check(
        &Run::of(&mut export),
        &id,
        expect![[r#"
        status: 0
        ---- stderr
        Exported run EARLIER to `run.prose-run`: 14 events, texts redacted in 10 events. It contains the prompts and replies of the run.
    "#]],
    );
    let file = workspace.read("run.prose-run");
    assert!(!file.contains(secret) && !file.contains("Ada"), "{file}");
    check(
        &Run::of(&mut export),
        &id,
        expect![[r#"
        status: 2
        ---- stderr
        error: `run.prose-run` already exists; pass another file, or overwrite it with `--force`
    "#]],
    );

    let other = Workspace::new(&[("main.prose", program), ("run.prose-run", &file)]);
    let replay = other.prose(&["run", "main.prose", "--replay", "run.prose-run", "--quiet"]);
    assert_eq!(replay.status, 0, "{replay:?}");
    check(
        &other.prose(&["runs", "import", "run.prose-run"]),
        &id,
        expect![[r#"
        status: 0
        imported EARLIER
        ---- stderr
    "#]],
    );
    check(
        &other.prose(&["runs", "import", "run.prose-run"]),
        &id,
        expect![[r#"
        status: 2
        ---- stderr
        error: cannot use `run.prose-run`: the run EARLIER is already in RUNS; to replace it, remove it first with `prose runs rm EARLIER`
    "#]],
    );
    assert_eq!(ids(&other).len(), 2);
    other.write("run.prose-run", &file.as_bytes()[..file.len() - 100]);
    check(
        &other.prose(&["runs", "import", "run.prose-run"]),
        &id,
        expect![[r#"
        status: 2
        ---- stderr
        error: cannot use `run.prose-run`: it is not complete; export the run again
    "#]],
    );
}

#[test]
fn a_loop_that_failed_is_compared_with_the_one_that_did_not() {
    let program = "for x in [\"a\", \"b\", \"c\"]:\n  session \"Do {x}\"\noutput end = session \"End\"\n";
    let fails = "[[session]]\npattern = \"Do b\"\nfail = \"no\"\n[[session]]\nreply = \"done\"\n";
    let workspace = Workspace::new(&[
        ("main.prose", program),
        ("fails.toml", fails),
        ("works.toml", "[[session]]\nreply = \"done\"\n"),
    ]);
    workspace.prose(&["run", "main.prose", "--script", "fails.toml", "--quiet"]).ended(1);
    let failed = last(&workspace);
    workspace.prose(&["run", "main.prose", "--script", "works.toml", "--quiet"]).ended(0);
    check(
        &workspace.prose(&["runs", "diff", &failed, &last(&workspace)]),
        &failed,
        expect![[r#"
            status: 1
            --- EARLIER  main.prose: failed, 2 sessions, 0 decisions, TIME
            +++ NEW  main.prose: completed, 4 sessions, 0 decisions, TIME

            1 step the same

            session at line 2 (s0/i1/1)
            result: failed: no
            now     done

            session at line 2 (s0/i2/1)  only in NEW
            asked: Do c
            result: done

            loop at line 1 (s0)
            result: 2 iterations (failed)
            now     3 iterations (all done)

            error at line 2 (s0/i1/1)  only in EARLIER
            result: no

            session at line 3 (s1/1)  only in NEW
            asked: End
            result: done

            output end at line 3 (s1)  only in NEW
            asked: end
            result: done
            ---- stderr
            6 differences.
        "#]],
    );
}

#[test]
fn a_run_shows_whether_it_is_a_replay_or_a_fork() {
    let (workspace, id) = recorded();
    let origin = |arguments: &[&str]| {
        workspace.prose(arguments).ended(0);
        let shown = workspace.prose(&["runs", "show"]).stdout;
        let line = shown.lines().find(|line| line.contains(&id)).unwrap_or_default();
        line.replace(&id, "EARLIER")
    };
    let replay = ["run", "main.prose", "-q", "--replay", &id];
    assert_eq!(origin(&replay), "replays:  EARLIER");
    let live = [&replay[..], &["--live", "--harness", "offline"]].concat();
    assert_eq!(origin(&live), "replays:  EARLIER; what is not recorded is asked");
    let fork = ["runs", "fork", &id, "-q", "--from", "2", "--harness", "offline"];
    assert_eq!(origin(&fork), "fork of:  EARLIER, before event 9");
}
