//! Dry runs, runs of blocks, runs that are stopped, and who answers.

use expect_test::expect;
use prose_tests::workspace::Workspace;
use serde_json::{Value, json};

use super::*;

#[test]
fn a_dry_run_shows_what_sessions_would_be_told() {
    let program = r#"agent writer:
  model: opus
  prompt: "You write."

input topic: "What about?"
let draft = session: writer
  prompt: "Write about {topic}"
session "Count the words"
let is_long = **it is long enough**
"#;
    let mut workspace = Workspace::new(&[("dry.prose", program)]).opened("dry.prose");
    let result = command(&mut workspace, "prose.dryRun", "dry.prose", json!({}));
    // What agents are told besides is not the subject here.
    let shown = |result: &Value| -> Vec<Value> {
        let prompts = result["prompts"].as_array().unwrap().iter().cloned();
        let shortened = prompts.map(|mut prompt| {
            prompt["prompt"] = json!(prompt["prompt"].as_str().unwrap().lines().next());
            prompt["system"] = json!(prompt["system"].as_str().and_then(|system| system.lines().next()));
            prompt
        });
        shortened.collect()
    };
    assert_eq!(
        shown(&result),
        [
            json!({
                "kind": "session", "line": 6, "program": null, "agent": "writer", "model": "opus", "prompt": "Write about [topic]", "system": "You write.",
            }),
            json!({
                "kind": "session", "line": 8, "program": null, "agent": null, "model": null, "prompt": "Count the words", "system": null,
            }),
            json!({
                "kind": "condition", "line": 9, "program": null, "agent": null, "model": null,
                "prompt": "Is this condition met? Judge by its meaning. If you cannot tell, it is not met.", "system": null,
            }),
        ]
    );
    assert_eq!(result["failed"], Value::Null);
    let given =
        command(&mut workspace, "prose.dryRun", "dry.prose", json!({ "inputs": { "topic": "tides" } }));
    assert_eq!(shown(&given)[0]["prompt"], "Write about tides");
    assert!(!workspace.folder.path().join(".prose").exists());
}

#[cfg(unix)]
fn slow_agent(workspace: &Workspace) -> String {
    let pids = workspace.folder.path().join("pids");
    let script = format!("cat > /dev/null; echo $$ >> {}; exec sleep 600", pids.display());
    format!("[run]\nharness = \"command\"\ncommand = [\"sh\", \"-c\", {}]\n", json!(script))
}

#[cfg(unix)]
fn lives(pid: &str) -> bool {
    std::process::Command::new("kill")
        .args(["-0", pid])
        .stderr(std::process::Stdio::null())
        .status()
        .unwrap()
        .success()
}

/// The code actions that run programs, at the start of a line: title and command.
#[track_caller]
fn run_actions(workspace: &mut Workspace, name: &str, line: usize) -> String {
    let one = |action: &Value| {
        let (title, command) = (&action["title"], &action["command"]["command"]);
        format!("{} {}\n", title.as_str().unwrap(), command.as_str().unwrap())
    };
    workspace.run_actions(name, (line, 0)).iter().map(one).collect()
}

#[test]
fn clients_without_lenses_run_programs_by_code_actions() {
    let program = "block greet:\n  session \"Say hello\"\n\nsession \"Say something\"\n";
    let mut workspace = Workspace::with(hearing(), &[("hello.prose", program)]).opened("hello.prose");
    check(
        &run_actions(&mut workspace, "hello.prose", 0),
        expect![[r#"
            ▶ Run program prose.run
            Dry run prose.dryRun
            ▶ Run block prose.run
        "#]],
    );
    check(
        &run_actions(&mut workspace, "hello.prose", 3),
        expect![[r#"
            ▶ Run program prose.run
            Dry run prose.dryRun
            ▶ Run session prose.run
        "#]],
    );
    let action = workspace.run_actions("hello.prose", (3, 0))[0]["command"].clone();
    let answer = workspace.execute("prose.run", action["arguments"][0].clone());
    assert_eq!(answer["result"]["harness"], "offline", "{answer}");
    assert_eq!(message(&mut workspace).split(':').next(), Some("hello.prose is done"));

    let mut workspace = Workspace::with(able(), &[("hello.prose", program)]).opened("hello.prose");
    assert_eq!(run_actions(&mut workspace, "hello.prose", 0), "");
}

#[test]
fn clients_with_a_debugger_get_a_lens_for_it() {
    let capabilities = json!({ "textDocument": { "codeLens": {} }, "experimental": { "proseDebug": true } });
    let files = [("hello.prose", "session \"Say hello\"\n"), ("wrong.prose", "session: nobody\n")];
    let mut workspace = Workspace::with(capabilities, &files).opened("hello.prose").opened("wrong.prose");
    check(
        &lenses(&mut workspace, "hello.prose"),
        expect![[r#"
            0: ▶ Run program prose.run
            0: Debug program prose.debugProgram
            0: Dry run prose.dryRun
            0: ▶ Run session prose.run
        "#]],
    );
    let argument = lens_argument(&mut workspace, "hello.prose", "Debug program");
    assert_eq!(argument, json!({ "uri": workspace.uri("hello.prose") }));
    check(
        &lenses(&mut workspace, "wrong.prose"),
        expect![[r#"
            0: Cannot run: 1 error 
        "#]],
    );
}

#[test]
fn a_dry_run_shows_what_the_harness_would_be_sent() {
    let program =
        "let a = session \"First\"\nsession \"Use\"\n  context:\n    file: \"notes.md\"\n    a: a\n";
    let mut workspace = Workspace::new(&[("dry.prose", program), ("notes.md", "Tides come.\n")]);
    workspace.open_saved("dry.prose");
    let mut used = |argument: Value| -> String {
        let result = command(&mut workspace, "prose.dryRun", "dry.prose", argument);
        result["prompts"][1]["prompt"].as_str().unwrap().to_owned()
    };
    let by_value = used(json!({}));
    let rule = by_value.lines().find(|line| line.starts_with("--- ")).unwrap_or_default();
    assert!(by_value.contains(&format!("\nnotes.md: \"Tides come.\"\n{rule}\na: \"")), "{by_value}");
    let by_reference = used(json!({ "harness": "claude" }));
    let folder = workspace.folder.path().display();
    let paths = format!("\n- notes.md: {folder}/notes.md\n- a: {folder}/.prose/runs/");
    assert!(by_reference.contains(&paths), "{by_reference}");
    assert!(!by_reference.contains("Tides come."), "{by_reference}");
    assert!(!workspace.folder.path().join(".prose").exists());
}

#[cfg(unix)]
#[test]
fn sessions_of_a_cancelled_run_are_killed() {
    let program = "parallel:\n  session \"a\"\n  session \"b\"\n";
    let trusted = json!({ "trusted": true });
    let mut workspace = Workspace::with_settings(able(), trusted, &[("slow.prose", program)]);
    let settings = slow_agent(&workspace);
    workspace.write("prose.toml", &settings);
    workspace.open_saved("slow.prose");
    let pids = workspace.folder.path().join("pids");
    let running = |count: usize| {
        let pids = std::fs::read_to_string(&pids).unwrap_or_default();
        pids.lines().map(str::to_owned).filter(|pid| lives(pid)).count() == count
    };

    let id = run(&mut workspace, "slow.prose", json!({}));
    eventually(|| running(2));
    event(&mut workspace, &id, |event| event["event"] == "session-started" && event["request"] == 2);
    check(
        &hints(&mut workspace, "slow.prose"),
        expect![[r#"
            0:9 ⟳ running
            1:13 ⟳ running
            2:13 ⟳ running
        "#]],
    );
    check(
        &lenses(&mut workspace, "slow.prose"),
        expect![[r#"
            0: ▶ Run program prose.run
            0: Dry run prose.dryRun
            0: ■ Stop prose.cancel
            1: ▶ Run session prose.run
            2: ▶ Run session prose.run
        "#]],
    );
    let stop = lens_argument(&mut workspace, "slow.prose", "■ Stop");
    assert_eq!(stop["run"], id.as_str());
    assert_eq!(workspace.execute("prose.cancel", stop)["error"], Value::Null);
    let end = ended(&mut workspace, &id);
    assert_eq!(
        (&end["status"], &end["error"]["message"]),
        (&json!("interrupted"), &json!("stopped in the editor"))
    );
    eventually(|| running(0));
    check(
        &hints(&mut workspace, "slow.prose"),
        expect![[r#"
        0:9 ■ stopped
        1:13 ■ stopped
        2:13 ■ stopped
    "#]],
    );

    let id = run(&mut workspace, "slow.prose", json!({}));
    eventually(|| running(2));
    let token = json!({ "token": format!("run-{id}") });
    workspace.client.notify("window/workDoneProgress/cancel", token);
    assert_eq!(ended(&mut workspace, &id)["status"], "interrupted");
    eventually(|| running(0));

    run(&mut workspace, "slow.prose", json!({}));
    eventually(|| running(2));
    workspace.restart();
    // What the server has killed is there until the system has cleared it away.
    eventually(|| running(0));
}

#[test]
fn two_programs_run_at_once_and_one_of_them_is_stopped() {
    let answers =
        "[[session]]\nlabel = \"long\"\nreply = \"x\"\ndelay = \"10m\"\n\n[[session]]\nreply = \"y\"\n";
    let files = &[("long.prose", "session \"long\"\n"), ("short.prose", STEPS), ("answers.toml", answers)];
    let mut workspace = Workspace::with(hearing(), files).opened("long.prose");
    workspace.open_saved("short.prose");
    let long = run(&mut workspace, "long.prose", json!({ "script": "answers.toml" }));
    event(&mut workspace, &long, |event| event["event"] == "session-started");
    let short = run(&mut workspace, "short.prose", json!({ "script": "answers.toml" }));
    assert_ne!(long, short);
    assert_eq!(ended(&mut workspace, &short)["status"], "completed");
    assert_eq!(hints(&mut workspace, "long.prose"), "0:14 ⟳ running\n");
    check(
        &hints(&mut workspace, "short.prose"),
        expect![[r#"
        0:13 ✓ …  y
        1:13 ✓ …  y
        2:15 ✓ …  y
    "#]],
    );
    command(&mut workspace, "prose.cancel", "long.prose", json!({}));
    assert_eq!(ended(&mut workspace, &long)["status"], "interrupted");
    let gone = refusal(&mut workspace, "prose.cancel", "long.prose", json!({ "run": long }));
    assert_eq!(gone, format!("the run {long} is not under way here; there is nothing to stop"));
}

#[test]
fn the_client_chooses_the_harness_before_the_project_does() {
    let settings = json!({ "run": { "harness": "offline" } });
    let files = &[("a.prose", "session \"a\"\n"), ("prose.toml", "[run]\nharness = \"script\"\n")];
    let mut workspace = Workspace::with_settings(hearing(), settings, files).opened("a.prose");
    let result = command(&mut workspace, "prose.run", "a.prose", json!({}));
    assert_eq!(result["harness"], "offline");
    workspace.configure(json!({}));
    let refused = refusal(&mut workspace, "prose.run", "a.prose", json!({}));
    assert!(refused.starts_with("harness `script` needs a script"), "{refused}");
}

#[test]
fn a_block_is_run_with_the_definitions_of_its_program() {
    let program = r#"let topic = session "Choose"

agent writer:
  prompt: "You write."

block gather:
  session: writer
    prompt: "Gather"

block about(what):
  session "Write about {what}"

block bound:
  session "Write about {topic}"

do gather
"#;
    let mut workspace = Workspace::with(hearing(), &[("blocks.prose", program)]).opened("blocks.prose");
    check(
        &lenses(&mut workspace, "blocks.prose"),
        expect![[r#"
            0: ▶ Run program prose.run
            0: Dry run prose.dryRun
            5: ▶ Run block prose.run
            0: ▶ Run session prose.run
            6: ▶ Run session prose.run
            9: ▶ Run block prose.run
            10: ▶ Run session prose.run
            12: ▶ Run block prose.run
            13: ▶ Run session prose.run
        "#]],
    );
    let argument = lens_argument(&mut workspace, "blocks.prose", "▶ Run block");
    assert_eq!(argument, json!({ "uri": workspace.uri("blocks.prose"), "block": "gather" }));
    let id = run(&mut workspace, "blocks.prose", argument);
    assert_eq!(ended(&mut workspace, &id)["sessions"], 1);
    assert_eq!(
        hints(&mut workspace, "blocks.prose"),
        "6:17 ✓ …  Started from Gather and followed it to the details. Compared…\n"
    );
    check(
        &lenses(&mut workspace, "blocks.prose"),
        expect![[r#"
            0: ▶ Run program prose.run
            0: Dry run prose.dryRun
            5: ▶ Run block prose.run
            5: 1 session, …, completed 
            0: ▶ Run session prose.run
            6: ▶ Run session prose.run
            9: ▶ Run block prose.run
            10: ▶ Run session prose.run
            12: ▶ Run block prose.run
            13: ▶ Run session prose.run
        "#]],
    );

    let about = json!({ "block": "about", "arguments": { "what": "tides" } });
    let id = run(&mut workspace, "blocks.prose", about);
    let started = event(&mut workspace, &id, |event| event["event"] == "session-started");
    assert!(started["task"]["prompt"].as_str().unwrap().starts_with("Write about tides"), "{started}");
    ended(&mut workspace, &id);
    check(
        &refusal(&mut workspace, "prose.run", "blocks.prose", json!({ "block": "bound" })),
        expect![
            "`bound` is not a block that can be run on its own: it has to stand at the top level of the program, and may use only agents, blocks and imported programs, and no variable of the program. Run the whole program instead"
        ],
    );
}
