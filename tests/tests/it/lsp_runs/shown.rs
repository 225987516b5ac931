//! What an editor shows of a run: progress, hints, lenses, diagnostics.

use expect_test::expect;
use prose_tests::lsp::range;
use prose_tests::workspace::Workspace;
use serde_json::{Value, json};

use super::*;

#[test]
fn a_run_is_shown_while_it_goes_and_afterwards() {
    let mut workspace = Workspace::with(able(), &[("tides.prose", TIDES), ("answers.toml", ANSWERS)]);
    workspace.open_saved("tides.prose");
    check(
        &lenses(&mut workspace, "tides.prose"),
        expect![[r#"
            0: ▶ Run program prose.run
            0: Dry run prose.dryRun
            4: ▶ Run session prose.run
            8: ▶ Run session prose.run
        "#]],
    );
    let argument = lens_argument(&mut workspace, "tides.prose", "▶ Run program");
    assert_eq!(argument, json!({ "uri": workspace.uri("tides.prose") }));
    let result = command(&mut workspace, "prose.run", "tides.prose", json!({ "script": "answers.toml" }));
    assert_eq!(result["harness"], "script");
    let id = result["run"].as_str().unwrap().to_owned();
    let folder = workspace.uri(&format!(".prose/runs/{id}"));
    assert_eq!(result["folder"], folder.as_str());

    let token = format!("run-{id}");
    let progress = |workspace: &mut Workspace, kind: &str| {
        let is_of_run = |message: &Value| message["params"]["token"] == token.as_str();
        workspace.client.wait_for(|message| is_of_run(message) && message["params"]["value"]["kind"] == kind)
    };
    let begin = progress(&mut workspace, "begin");
    assert_eq!(begin["params"]["value"]["title"], "Running tides.prose");
    assert_eq!(begin["params"]["value"]["cancellable"], true);
    let end = progress(&mut workspace, "end");
    assert_eq!(end["params"]["value"]["message"], "tides.prose is done: 3 sessions");
    assert_eq!(message(&mut workspace), "tides.prose is done: 3 sessions");
    for refresh in ["workspace/inlayHint/refresh", "workspace/codeLens/refresh"] {
        workspace.client.wait_for(|message| message["method"] == refresh && message.get("id").is_some());
    }
    check(
        &hints(&mut workspace, "tides.prose"),
        expect![[r#"
            4:27 ✓ …  Tides come and go.…
            7:9 ✓ …
            8:26 ✓ …, 2×  Polished.
            10:21 ✓ …  Tides come and go.…
        "#]],
    );
    check(
        &lenses(&mut workspace, "tides.prose"),
        expect![[r#"
            0: ▶ Run program prose.run
            0: Dry run prose.dryRun
            0: 3 sessions, …, completed 
            4: ▶ Run session prose.run
            8: ▶ Run session prose.run
            10: DATE: Tides come and go. So they do. 
        "#]],
    );
    let events = told(&mut workspace);
    let numbers: Vec<u64> = events.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=events.len() as u64).collect::<Vec<_>>());
    assert_eq!((&events[0]["event"], &events[0]["run"]), (&json!("run-started"), &json!(id)));
    assert_eq!(events[events.len() - 1]["event"], "run-ended");
    workspace.client.shut_down();
}

#[test]
fn a_client_that_asks_for_nothing_is_told_nothing_but_the_end() {
    let mut workspace = Workspace::new(&[("tides.prose", TIDES), ("answers.toml", ANSWERS)]);
    workspace.open_saved("tides.prose");
    run(&mut workspace, "tides.prose", json!({ "script": "answers.toml" }));
    assert_eq!(message(&mut workspace), "tides.prose is done: 3 sessions");
    let mut methods: Vec<String> = workspace
        .client
        .take_all()
        .iter()
        .map(|message| message["method"].as_str().unwrap_or("answer").to_owned())
        .collect();
    methods.dedup();
    assert_eq!(methods, ["textDocument/publishDiagnostics"]);
    workspace.client.shut_down();
}

#[test]
fn a_run_that_handled_a_failure_ends_with_a_warning_and_its_census() {
    let program = "try:\n  throw \"no room\"\ncatch:\n  session \"Write about tides\"\n";
    let mut workspace = Workspace::with(able(), &[("a.prose", program), ("answers.toml", ANSWERS)]);
    workspace.open_saved("a.prose");
    run(&mut workspace, "a.prose", json!({}));
    assert_eq!(message(&mut workspace), "a.prose is done with 1 failure that it handled: 1 session");
    let runs = workspace.client.request("prose/runs", json!({}));
    assert_eq!(runs["result"]["runs"][0]["status"], "completed with failures", "{runs}");
    workspace.client.shut_down();
}

#[test]
fn a_program_runs_as_it_was_last_edited() {
    let mut workspace = Workspace::with(hearing(), &[("a.prose", "session \"saved\"\n")]).opened("a.prose");
    workspace.replace("a.prose", 2, "session \"typed\"\n");
    let id = run(&mut workspace, "a.prose", json!({}));
    let started = event(&mut workspace, &id, |event| event["event"] == "session-started");
    assert_eq!(started["task"]["prompt"], "typed");
    ended(&mut workspace, &id);
    check(
        &message(&mut workspace),
        expect![
            "a.prose is done: 1 session. All answers are placeholders of the harness `offline`; `run.harness` chooses another one"
        ],
    );
}

const FAILING: &str = r#"session "First"
parallel:
  session "Second"
  session "Breaks"
session "Never"
"#;

#[test]
fn the_statement_that_failed_has_a_diagnostic_until_it_is_edited() {
    let answers = r#"
[[session]]
label = "Breaks"
fail = "the agent is gone"

[[session]]
reply = "Fine."
"#;
    let mut workspace = Workspace::with(able(), &[("fails.prose", FAILING), ("answers.toml", answers)]);
    workspace.open_saved("fails.prose");
    assert_eq!(workspace.pushed("fails.prose"), [] as [&str; 0]);
    let id = run(&mut workspace, "fails.prose", json!({ "script": "answers.toml" }));
    assert_eq!(ended(&mut workspace, &id)["status"], "failed");
    check(&message(&mut workspace), expect!["fails.prose failed at line 4: the agent is gone"]);
    let diagnostics = loop {
        let diagnostics = workspace.pushed_whole("fails.prose")["diagnostics"].clone();
        if diagnostics != json!([]) {
            break diagnostics;
        }
    };
    assert_eq!(
        diagnostics,
        json!([{
            "range": range((3, 2), (3, 18)), "severity": 1, "source": "prose run", "message": "the agent is gone",
        }])
    );
    check(
        &hints(&mut workspace, "fails.prose"),
        expect![[r#"
        0:15 ✓ …  Fine.
        1:9 ✗ …  the agent is gone
        2:18 ✓ …  Fine.
        3:18 ✗ …  the agent is gone
    "#]],
    );
    check(
        &lenses(&mut workspace, "fails.prose"),
        expect![[r#"
            0: ▶ Run program prose.run
            0: Dry run prose.dryRun
            0: Resume last run prose.resume
            0: 3 sessions, …, failed at line 4 
            3: Run again from here prose.fork
            0: ▶ Run session prose.run
            2: ▶ Run session prose.run
            3: ▶ Run session prose.run
            4: ▶ Run session prose.run
        "#]],
    );

    // An edit elsewhere moves it, and one of the statement takes it away.
    workspace.replace("fails.prose", 2, &format!("# new\n{FAILING}"));
    assert_eq!(workspace.pushed_whole("fails.prose")["diagnostics"][0]["range"], range((4, 2), (4, 18)));
    workspace.replace("fails.prose", 3, &FAILING.replace("Breaks", "Holds"));
    assert_eq!(workspace.pushed_whole("fails.prose")["diagnostics"], json!([]));
    check(
        &hints(&mut workspace, "fails.prose"),
        expect![[r#"
        0:15 ✓ …  Fine.
        1:9 ✗ …  the agent is gone
        2:18 ✓ …  Fine.
    "#]],
    );
}

#[test]
fn clients_that_pull_diagnostics_get_a_refresh_request() {
    let capabilities = json!({
        "textDocument": { "diagnostic": {} },
        "workspace": { "diagnostics": { "refreshSupport": true } },
        "experimental": { "proseRunEvents": true },
    });
    let mut workspace = Workspace::with(capabilities, &[("a.prose", "throw \"no\"\n")]).opened("a.prose");
    let uri = workspace.uri("a.prose");
    assert_eq!(workspace.client.result("textDocument/diagnostic", &uri)["items"], json!([]));
    run(&mut workspace, "a.prose", json!({}));
    message(&mut workspace);
    workspace.client.wait_for_method("workspace/diagnostic/refresh");
    eventually(|| workspace.client.result("textDocument/diagnostic", &uri)["items"][0]["message"] == "no");
}

#[test]
fn the_next_run_takes_the_diagnostic_of_the_last_one_away() {
    let mut workspace = Workspace::with(able(), &[("a.prose", "input go: \"Go?\"\nthrow \"no {go}\"\n")]);
    workspace.open_saved("a.prose");
    assert_eq!(workspace.pushed_whole("a.prose")["diagnostics"], json!([]));
    let id = run(&mut workspace, "a.prose", json!({ "inputs": { "go": "way" } }));
    ended(&mut workspace, &id);
    assert_eq!(workspace.pushed_whole("a.prose")["diagnostics"][0]["message"], "no way");
    let id = run(&mut workspace, "a.prose", json!({}));
    workspace.client.wait_for_method("prose/input");
    assert_eq!(workspace.pushed_whole("a.prose")["diagnostics"], json!([]));
    let uri = workspace.uri("a.prose");
    assert_eq!(workspace.execute("prose.cancel", json!({ "uri": uri }))["error"], Value::Null);
    assert_eq!(ended(&mut workspace, &id)["status"], "interrupted");
    // The question is taken back.
    workspace.client.wait_for_method("$/cancelRequest");
}

/// A harness whose sessions write their process id to a file and then take long.

#[test]
fn an_edit_leaves_a_run_alone_and_moves_what_it_shows() {
    let answers =
        "[[session]]\nlabel = \"two\"\nreply = \"2\"\ndelay = \"1s\"\n\n[[session]]\nreply = \"done\"\n";
    let mut workspace = Workspace::with(able(), &[("steps.prose", STEPS), ("answers.toml", answers)]);
    workspace.open_saved("steps.prose");
    let id = run(&mut workspace, "steps.prose", json!({ "script": "answers.toml" }));
    event(&mut workspace, &id, |event| {
        event["event"] == "session-started" && event["task"]["prompt"] == "two"
    });
    workspace.replace(
        "steps.prose",
        2,
        "# é\nsession \"1\"\nlet x = \"new\"\nsession \"two\"\n\nsession \"three\"\n",
    );
    assert_eq!(hints(&mut workspace, "steps.prose"), "3:13 ⟳ running\n");
    assert_eq!(ended(&mut workspace, &id)["status"], "completed");
    check(
        &hints(&mut workspace, "steps.prose"),
        expect![[r#"
        3:13 ✓ …  2
        5:15 ✓ …  done
    "#]],
    );
}

#[test]
fn hints_can_be_switched_off() {
    let off = json!({ "prose": { "run": { "inlayHints": false } } });
    let mut workspace = Workspace::with_settings(hearing(), off, &[("a.prose", "session \"a\"\n")]);
    workspace.open_saved("a.prose");
    let id = run(&mut workspace, "a.prose", json!({}));
    ended(&mut workspace, &id);
    assert_eq!(hints(&mut workspace, "a.prose"), "");
    workspace.configure(json!({ "prose": { "run": { "inlayHints": true } } }));
    assert!(hints(&mut workspace, "a.prose").starts_with("0:11 ✓ …  "));
}
