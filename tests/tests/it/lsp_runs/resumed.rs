//! Runs that go on, also after a restart of the server.

use expect_test::expect;
use prose_tests::workspace::Workspace;
use serde_json::json;

use super::*;

#[test]
fn a_run_is_known_by_the_beginning_of_its_id() {
    let program = "input topic: \"What about?\"\nsession \"Write about {topic}\"\n";
    let mut workspace = Workspace::with(hearing(), &[("ask.prose", program)]).opened("ask.prose");
    let id = run(&mut workspace, "ask.prose", json!({}));
    ended(&mut workspace, &id);
    workspace.client.take_all();
    let refused = refusal(&mut workspace, "prose.resume", "ask.prose", json!({ "run": "1999" }));
    assert!(refused.starts_with("run `1999` does not exist in "), "{refused}");
    let others = json!({ "run": id[..20], "inputs": { "topic": "tides" } });
    assert_eq!(command(&mut workspace, "prose.resume", "ask.prose", others)["run"], id.as_str());
    assert_eq!(ended(&mut workspace, &id)["status"], "completed");
}

#[test]
fn a_run_that_stopped_at_its_limit_goes_on_with_a_higher_one() {
    let capabilities = json!({ "experimental": { "proseRunEvents": true, "proseRunEnds": true } });
    let program = "session \"one\"\nsession \"two\"\nsession \"three\"\n";
    let mut workspace = Workspace::with(capabilities, &[("three.prose", program)]).opened("three.prose");
    let id = run(&mut workspace, "three.prose", json!({ "maxSessions": 1 }));
    let end = |workspace: &mut Workspace| {
        let ended = workspace.client.wait_for_method("prose/runEnded")["params"].clone();
        workspace.client.take_all();
        format!("{} {} {}", ended["message"], ended["canResume"], ended["raise"])
    };
    check(
        &end(&mut workspace),
        expect![[
            r#""three.prose was stopped: the limit of 1 session is reached (`--max-sessions`)" true "maxSessions""#
        ]],
    );
    let refused = refusal(&mut workspace, "prose.resume", "three.prose", json!({ "run": id, "maxCost": -1 }));
    check(&refused, expect!["`prose.resume`: `maxCost` is a number of US dollars from 0 on"]);
    command(&mut workspace, "prose.resume", "three.prose", json!({ "run": id, "maxSessions": 2 }));
    let set = event(&mut workspace, &id, |event| event["event"] == "commanded");
    assert_eq!(
        (&set["command"], &set["limit"], &set["from"]),
        (&json!("set-limit"), &json!({ "sessions": 2 }), &json!("editor"))
    );
    check(
        &end(&mut workspace),
        expect![[
            r#""three.prose was stopped: the limit of 2 sessions is reached (`--max-sessions`)" true "maxSessions""#
        ]],
    );
    command(&mut workspace, "prose.resume", "three.prose", json!({ "run": id, "maxSessions": 9 }));
    let done = end(&mut workspace);
    assert!(done.contains("three.prose is done: 3 sessions") && done.ends_with(" false null"), "{done}");
}

#[test]
fn a_run_that_would_fail_again_says_so_in_the_words_of_an_editor() {
    let program = "session \"Try\"\nthrow \"It has failed\"\n";
    let mut workspace = Workspace::with(hearing(), &[("failing.prose", program)]).opened("failing.prose");
    let id = run(&mut workspace, "failing.prose", json!({}));
    assert_eq!(ended(&mut workspace, &id)["status"], "failed");
    workspace.client.take_all();
    let refused = refusal(&mut workspace, "prose.resume", "failing.prose", json!({ "run": id }));
    check(
        &refused.replace(&id, "ID"),
        expect![
            "the run ID failed at line 2 of its program: It has failed. It would fail there again: change the program, then resume the run"
        ],
    );
    let refused = refusal(&mut workspace, "prose.resume", "failing.prose", json!({ "run": "1999" }));
    assert!(
        refused.starts_with("run `1999` does not exist in ") && !refused.contains("prose runs"),
        "{refused}"
    );
}

#[test]
fn a_run_goes_on_after_a_restart_of_the_server() {
    check_restart(Workspace::restart);
}

#[test]
fn a_run_goes_on_after_the_server_was_killed() {
    check_restart(Workspace::restart_killed);
}

#[track_caller]
fn check_restart(restart: fn(&mut Workspace)) {
    let before = "[[session]]\nlabel = \"one\"\nreply = \"1\"\n\n[[session]]\nlabel = \"two\"\nreply = \"2\"\ndelay = \"10m\"\n";
    // The first session has no answer here: it is not run again.
    let after =
        "[[session]]\nlabel = \"two\"\nreply = \"2\"\n\n[[session]]\nlabel = \"three\"\nreply = \"3\"\n";
    let files = &[("steps.prose", STEPS), ("before.toml", before), ("after.toml", after)];
    let mut workspace = Workspace::with(hearing(), files).opened("steps.prose");
    let id = run(&mut workspace, "steps.prose", json!({ "script": "before.toml" }));
    event(&mut workspace, &id, |event| {
        event["event"] == "session-started" && event["task"]["prompt"] == "two"
    });
    restart(&mut workspace);

    workspace.open_saved("steps.prose");
    let lenses_before = lenses(&mut workspace, "steps.prose");
    assert!(lenses_before.contains(", interrupted"), "{lenses_before}");
    let mut resume = lens_argument(&mut workspace, "steps.prose", "Resume last run");
    assert_eq!(resume, json!({ "uri": workspace.uri("steps.prose"), "run": id }));
    resume["script"] = json!("after.toml");
    let answer = workspace.execute("prose.resume", resume);
    assert_eq!(answer["result"]["run"], id.as_str(), "{answer}");
    assert_eq!(ended(&mut workspace, &id)["status"], "completed");
    check(
        &message(&mut workspace),
        expect!["steps.prose is done: 3 sessions, 1 result of the earlier execution used again"],
    );
    check(
        &hints(&mut workspace, "steps.prose"),
        expect![[r#"
        0:13 ✓ …  1
        1:13 ✓ …  2
        2:15 ✓ …  3
    "#]],
    );
    check(
        &lenses(&mut workspace, "steps.prose"),
        expect![[r#"
        0: ▶ Run program prose.run
        0: Dry run prose.dryRun
        0: 3 sessions, …, completed 
        0: ▶ Run session prose.run
        1: ▶ Run session prose.run
        2: ▶ Run session prose.run
    "#]],
    );
    let over = refusal(&mut workspace, "prose.resume", "steps.prose", json!({}));
    assert_eq!(
        over,
        format!(
            "the run {id} has already completed. Run the program again, or change it and resume the run with `acceptChanges`, which keeps the results of all sessions that are asked the same"
        )
    );
}

#[test]
fn the_lens_that_resumes_a_run_needs_no_script() {
    let answers =
        "[[session]]\nlabel = \"one\"\nreply = \"1\"\n\n[[session]]\nreply = \"2\"\ndelay = \"10m\"\n";
    let files = &[("steps.prose", STEPS), ("answers.toml", answers)];
    let mut workspace = Workspace::with(hearing(), files).opened("steps.prose");
    let id = run(&mut workspace, "steps.prose", json!({ "script": "answers.toml" }));
    event(&mut workspace, &id, |event| {
        event["event"] == "session-started" && event["task"]["prompt"] == "two"
    });
    command(&mut workspace, "prose.cancel", "steps.prose", json!({}));
    ended(&mut workspace, &id);

    let script = workspace.folder.path().join("answers.toml");
    std::fs::remove_file(&script).unwrap();
    let resume = lens_argument(&mut workspace, "steps.prose", "Resume last run");
    let answer = workspace.execute("prose.resume", resume.clone());
    let refused = answer["error"]["message"].as_str().unwrap();
    let folder = workspace.folder.path().to_str().unwrap();
    check(
        &refused.replace(&id, "ID").replace(folder, "FOLDER"),
        expect![
            "the run ID takes its answers from the script `answers.toml`, and `FOLDER/answers.toml` is gone; put it back, or resume the run with another one as `script`"
        ],
    );

    std::fs::write(&script, answers.replace("delay = \"10m\"\n", "")).unwrap();
    workspace.client.take_all();
    let answer = workspace.execute("prose.resume", resume);
    assert_eq!(
        answer["result"],
        json!({ "run": id, "folder": answer["result"]["folder"], "harness": "script", "limits": null })
    );
    assert_eq!(ended(&mut workspace, &id)["status"], "completed");
}

#[test]
fn a_changed_program_is_resumed_only_if_that_is_wanted() {
    let program = "session \"one\"\ninput what: \"What?\"\nsession \"two {what}\"\n";
    let mut workspace = Workspace::with(hearing(), &[("a.prose", program)]).opened("a.prose");
    let id = run(&mut workspace, "a.prose", json!({}));
    ended(&mut workspace, &id);
    // What it says at its end comes after its last event.
    message(&mut workspace);
    workspace.client.take_all();
    workspace.replace("a.prose", 2, &program.replace("two", "2"));
    let inputs = json!({ "inputs": { "what": "x" } });
    let refused = refusal(&mut workspace, "prose.resume", "a.prose", inputs);
    check(
        &refused.replace(&id, "ID"),
        expect![[
            r#"the program has changed since the run ID was started: line 3 was `session "two {what}"` and is `session "2 {what}"`. Undo the change, or resume the run with `acceptChanges`, which keeps the results of all sessions that are asked the same"#
        ]],
    );
    let accepted = json!({ "inputs": { "what": "x" }, "acceptChanges": true });
    command(&mut workspace, "prose.resume", "a.prose", accepted);
    assert_eq!(ended(&mut workspace, &id)["status"], "completed");
}

#[test]
fn a_run_of_a_block_is_resumed_as_one() {
    let program = "session \"Never\"\n\nblock steps:\n  session \"one\"\n  session \"two\"\n";
    let before =
        "[[session]]\nlabel = \"one\"\nreply = \"1\"\n\n[[session]]\nlabel = \"two\"\nfail = \"gone\"\n";
    let after = "[[session]]\nlabel = \"two\"\nreply = \"2\"\n";
    let files = &[("a.prose", program), ("before.toml", before), ("after.toml", after)];
    let mut workspace = Workspace::with(hearing(), files).opened("a.prose");
    let id = run(&mut workspace, "a.prose", json!({ "block": "steps", "script": "before.toml" }));
    assert_eq!(ended(&mut workspace, &id)["error"]["line"], 5);
    message(&mut workspace);
    check(
        &lenses(&mut workspace, "a.prose"),
        expect![[r#"
            0: ▶ Run program prose.run
            0: Dry run prose.dryRun
            2: ▶ Run block prose.run
            2: Resume last run prose.resume
            2: 2 sessions, …, failed at line 5 
            4: Run again from here prose.fork
            0: ▶ Run session prose.run
            3: ▶ Run session prose.run
            4: ▶ Run session prose.run
        "#]],
    );
    let mut resume = lens_argument(&mut workspace, "a.prose", "Resume last run");
    resume["script"] = json!("after.toml");
    workspace.client.take_all();
    let answer = workspace.execute("prose.resume", resume);
    assert_eq!(answer["result"]["run"], id.as_str(), "{answer}");
    assert_eq!(ended(&mut workspace, &id)["status"], "completed");
    check(
        &hints(&mut workspace, "a.prose"),
        expect![[r#"
        3:15 ✓ …  1
        4:15 ✓ …  2
    "#]],
    );
    // The program itself has not run.
    let none = refusal(&mut workspace, "prose.resume", "a.prose", json!({}));
    assert!(none.starts_with("there is no run of `"), "{none}");
}

#[test]
fn of_runs_of_one_second_the_last_is_the_last() {
    let program = "session \"one\"\ninput what: \"What?\"\n";
    let mut workspace = Workspace::with(hearing(), &[("a.prose", program)]).opened("a.prose");
    let mut last = String::new();
    for _ in 0..4 {
        last = run(&mut workspace, "a.prose", json!({}));
        ended(&mut workspace, &last);
        message(&mut workspace);
    }
    workspace.client.take_all();
    let argument = json!({ "uri": workspace.uri("a.prose"), "inputs": { "what": "x" } });
    let answer = workspace.execute("prose.resume", argument);
    assert_eq!(answer["result"]["run"], *last, "{answer}");
}
