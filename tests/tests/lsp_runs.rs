//! Programs that are run from an editor, over the wire.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::time::{Duration, Instant};

use expect_test::{Expect, expect};
use prose_tests::lsp::{PATIENCE, range};
use prose_tests::workspace::Workspace;
use serde_json::{Value, json};

/// What a client says that can show all there is.
fn able() -> Value {
    json!({
        "window": { "workDoneProgress": true },
        "workspace": { "inlayHint": { "refreshSupport": true }, "codeLens": { "refreshSupport": true } },
        "textDocument": { "codeLens": {} },
        "experimental": { "proseInput": true, "proseRunEvents": true },
    })
}

/// A client that hears events and nothing else.
fn hearing() -> Value {
    json!({ "experimental": { "proseRunEvents": true } })
}

fn execute(workspace: &mut Workspace, command: &str, argument: Value) -> Value {
    let params = json!({ "command": command, "arguments": [argument] });
    workspace.client.request("workspace/executeCommand", params)
}

/// Runs a command of a program that has to be taken; gives its result.
#[track_caller]
fn command(workspace: &mut Workspace, command: &str, name: &str, others: Value) -> Value {
    let mut argument = others;
    argument["uri"] = json!(workspace.uri(name));
    let answer = execute(workspace, command, argument);
    assert_eq!(answer.get("error"), None, "{command} failed");
    answer["result"].clone()
}

/// The message with which a command is refused.
#[track_caller]
fn refusal(workspace: &mut Workspace, command: &str, name: &str, others: Value) -> String {
    let mut argument = others;
    argument["uri"] = json!(workspace.uri(name));
    let answer = execute(workspace, command, argument);
    answer["error"]["message"].as_str().unwrap_or_else(|| panic!("{command} was taken: {answer}")).to_owned()
}

/// Starts a program; gives the id of the run.
#[track_caller]
fn run(workspace: &mut Workspace, name: &str, others: Value) -> String {
    let result = command(workspace, "prose.run", name, others);
    result["run"].as_str().unwrap().to_owned()
}

/// The first event of a run for which something holds, among those that were not waited for yet.
#[track_caller]
fn event(workspace: &mut Workspace, run: &str, wanted: impl Fn(&Value) -> bool) -> Value {
    let events = |message: &Value| -> Vec<Value> {
        let is_ours = message["method"] == "prose/runEvent" && message["params"]["run"] == run;
        let events = message["params"]["events"].as_array().filter(|_| is_ours);
        events.cloned().unwrap_or_default()
    };
    let message = workspace.client.wait_for(|message| events(message).iter().any(&wanted));
    // The others in the piece may be waited for next.
    workspace.client.put_back(message.clone());
    events(&message).into_iter().find(&wanted).unwrap()
}

#[track_caller]
fn ended(workspace: &mut Workspace, run: &str) -> Value {
    event(workspace, run, |event| event["event"] == "run-ended")
}

/// The names of events that were told of a run, in their order.
fn told(workspace: &mut Workspace) -> Vec<Value> {
    let messages = workspace.client.take_all();
    let told = messages.iter().filter(|message| message["method"] == "prose/runEvent");
    told.flat_map(|message| message["params"]["events"].as_array().unwrap().clone()).collect()
}

#[track_caller]
fn message(workspace: &mut Workspace) -> String {
    let message = workspace.client.wait_for(|message| message["method"] == "window/showMessage");
    message["params"]["message"].as_str().unwrap().to_owned()
}

/// The lenses of a program: line, title and command. Times are left out.
#[track_caller]
fn lenses(workspace: &mut Workspace, name: &str) -> String {
    let uri = workspace.uri(name);
    let lenses = workspace.client.result("textDocument/codeLens", &uri);
    let line = |lens: &Value| {
        let title = without_times(lens["command"]["title"].as_str().unwrap());
        format!(
            "{}: {title} {}\n",
            lens["range"]["start"]["line"],
            lens["command"]["command"].as_str().unwrap()
        )
    };
    lenses.as_array().unwrap().iter().map(line).collect()
}

/// The argument of the first lens with a title.
#[track_caller]
fn lens_argument(workspace: &mut Workspace, name: &str, title: &str) -> Value {
    let uri = workspace.uri(name);
    let lenses = workspace.client.result("textDocument/codeLens", &uri);
    let lens = lenses.as_array().unwrap().iter().find(|lens| lens["command"]["title"] == title);
    lens.unwrap_or_else(|| panic!("no lens {title:?} in {lenses}"))["command"]["arguments"][0].clone()
}

/// The hints of a program: line, column and text. Times are left out.
#[track_caller]
fn hints(workspace: &mut Workspace, name: &str) -> String {
    let params = json!({ "textDocument": { "uri": workspace.uri(name) }, "range": range((0, 0), (1000, 0)) });
    let answer = workspace.client.request("textDocument/inlayHint", params);
    let hints = answer["result"].as_array().unwrap_or_else(|| panic!("{answer}")).iter();
    let line = |hint: &Value| {
        let place = &hint["position"];
        let label = without_times(hint["label"].as_str().unwrap());
        format!("{}:{} {label}\n", place["line"], place["character"])
    };
    hints.map(line).collect()
}

/// `✓ 12 ms  done` becomes `✓ …  done`.
fn without_times(text: &str) -> String {
    let mut words: Vec<&str> = text.split(' ').collect();
    for index in (1..words.len()).rev() {
        let unit = words[index].trim_end_matches(',');
        if ["ms", "s", "m"].contains(&unit)
            && words[index - 1].starts_with(|char: char| char.is_ascii_digit())
        {
            let comma = if words[index].ends_with(',') { "…," } else { "…" };
            words[index - 1] = comma;
            words.remove(index);
        }
    }
    words.join(" ")
}

#[track_caller]
fn check(found: &str, expected: Expect) {
    expected.assert_eq(found);
}

/// Waits until something holds that the server does not tell of.
#[track_caller]
fn eventually(mut holds: impl FnMut() -> bool) {
    let since = Instant::now();
    while !holds() {
        assert!(since.elapsed() < PATIENCE, "it never holds");
        std::thread::sleep(Duration::from_millis(10));
    }
}

const TIDES: &str = r#"# What the moon does
agent writer:
  prompt: "You write."

let draft = session: writer
  prompt: "Write about tides"

repeat 2:
  session "Polish {draft}"

output result = draft
"#;

const ANSWERS: &str = r#"
[[session]]
agent = "writer"
reply = "Tides come and go.\nSo they do."

[[session]]
reply = "Polished."
"#;

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
    let mut workspace = Workspace::with(hearing(), &[("hello.prose", program)]);
    workspace.open_saved("hello.prose");
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
        "#]],
    );
    let action = workspace.run_actions("hello.prose", (3, 0))[0]["command"].clone();
    let answer = execute(&mut workspace, "prose.run", action["arguments"][0].clone());
    assert_eq!(answer["result"]["harness"], "offline", "{answer}");
    assert_eq!(message(&mut workspace).split(':').next(), Some("hello.prose is done"));

    let mut workspace = Workspace::with(able(), &[("hello.prose", program)]);
    workspace.open_saved("hello.prose");
    assert_eq!(run_actions(&mut workspace, "hello.prose", 0), "");
}

#[test]
fn a_run_is_shown_while_it_goes_and_afterwards() {
    let mut workspace = Workspace::with(able(), &[("tides.prose", TIDES), ("answers.toml", ANSWERS)]);
    workspace.open_saved("tides.prose");
    check(
        &lenses(&mut workspace, "tides.prose"),
        expect![[r#"
            0: ▶ Run program prose.run
            0: Dry run prose.dryRun
        "#]],
    );
    let argument = lens_argument(&mut workspace, "tides.prose", "▶ Run program");
    assert_eq!(argument, json!({ "uri": workspace.uri("tides.prose") }));
    let result = command(&mut workspace, "prose.run", "tides.prose", json!({ "script": "answers.toml" }));
    assert_eq!(result["harness"], "script");
    let id = result["run"].as_str().unwrap().to_owned();
    let folder = workspace.uri(&format!(".prose/runs/{id}"));
    assert_eq!(result["folder"], folder.as_str());

    let begin = workspace.client.wait_for(|message| message["params"]["value"]["kind"] == "begin");
    assert_eq!(begin["params"]["token"], format!("run-{id}"));
    assert_eq!(begin["params"]["value"]["title"], "Running tides.prose");
    assert_eq!(begin["params"]["value"]["cancellable"], true);
    let end = workspace.client.wait_for(|message| message["params"]["value"]["kind"] == "end");
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
fn a_program_runs_as_it_was_last_edited() {
    let mut workspace = Workspace::with(hearing(), &[("a.prose", "session \"saved\"\n")]);
    workspace.open_saved("a.prose");
    workspace.replace("a.prose", 2, "session \"typed\"\n");
    let id = run(&mut workspace, "a.prose", json!({}));
    let started = event(&mut workspace, &id, |event| event["event"] == "session-started");
    assert_eq!(started["task"]["prompt"], "typed");
    ended(&mut workspace, &id);
    check(
        &message(&mut workspace),
        expect![
            "a.prose is done: 1 session. All answers were made up by the harness `offline`; `run.harness` chooses another one"
        ],
    );
}

#[test]
fn a_person_is_asked_for_inputs() {
    let program = r#"input topic: "What should it be about?"
input style: "Optional: how should it sound?"
session "Write about {topic}, {style}"
"#;
    let mut workspace = Workspace::with(able(), &[("ask.prose", program)]);
    workspace.open_saved("ask.prose");
    let id = run(&mut workspace, "ask.prose", json!({}));
    let question = workspace.client.wait_for(|message| message["method"] == "prose/input");
    assert_eq!(
        question["params"],
        json!({
            "run": id, "name": "topic", "prompt": "What should it be about?", "mayRephrase": false, "optional": false,
        })
    );
    answer(&mut workspace, &question, json!({ "value": "tides" }));
    let question = workspace.client.wait_for(|message| message["method"] == "prose/input");
    assert_eq!(
        (&question["params"]["name"], &question["params"]["optional"]),
        (&json!("style"), &json!(true))
    );
    answer(&mut workspace, &question, Value::Null);
    let started = event(&mut workspace, &id, |event| event["event"] == "session-started");
    assert_eq!(started["task"]["prompt"].as_str().unwrap().split(',').next(), Some("Write about tides"));
    assert_eq!(ended(&mut workspace, &id)["status"], "completed");
}

fn answer(workspace: &mut Workspace, question: &Value, result: Value) {
    let message = json!({ "jsonrpc": "2.0", "id": question["id"], "result": result });
    workspace.client.send_bytes(&prose_tests::lsp::frame(&message));
}

#[test]
fn a_run_that_nobody_gives_an_input_waits_for_it_as_a_run_to_resume() {
    let program = "session \"First\"\ninput topic: \"What about?\"\nsession \"Write about {topic}\"\n";
    let mut workspace = Workspace::with(hearing(), &[("ask.prose", program)]);
    workspace.open_saved("ask.prose");
    let id = run(&mut workspace, "ask.prose", json!({}));
    assert_eq!(ended(&mut workspace, &id)["status"], "interrupted");
    check(
        &message(&mut workspace),
        expect![
            "ask.prose was stopped: the program waits for the input `topic` (What about?), and this editor does not ask for inputs. Resume the run with it: `prose.resume` with { \"inputs\": { \"topic\": … } }"
        ],
    );
    workspace.client.take_all();
    let resumed =
        command(&mut workspace, "prose.resume", "ask.prose", json!({ "inputs": { "topic": "tides" } }));
    assert_eq!(resumed["run"], id.as_str());
    assert_eq!(ended(&mut workspace, &id)["status"], "completed");
}

#[test]
fn what_cannot_be_run_is_refused_with_the_reason() {
    let files =
        &[("good.prose", "input topic: \"What?\"\nsession \"Write about {topic}\"\n"), ("notes.toml", "")];
    let mut workspace = Workspace::new(files);
    workspace.open_saved("good.prose");
    let mut refused = |others| refusal(&mut workspace, "prose.run", "good.prose", others);
    check(
        &refused(json!({ "inputs": { "topik": "x" } })),
        expect!["the program has no input `topik`; did you mean `topic`?"],
    );
    check(
        &refused(json!({ "harness": "offlin" })),
        expect!["there is no harness `offlin`; did you mean `offline`?"],
    );
    check(
        &refused(json!({ "topic": "x" })),
        expect![[
            r#"`prose.run` takes one argument, such as { "uri": "file:///…" }: unknown field `topic`, expected one of `uri`, `run`, `block`, `inputs`, `arguments`, `harness`, `script`, `acceptChanges`"#
        ]],
    );
    check(
        &refused(json!({ "block": "none" })),
        expect![
            "`none` is not a block that can be run on its own: it has to stand at the top level of the program, and may use only agents, blocks and imported programs, and no variable of the program. Run the whole program instead"
        ],
    );
    // As it was last edited, and not as it was saved.
    workspace.replace("good.prose", 2, "session \"a\"\nsession: nobody\nsession \"b\n");
    check(
        &refusal(&mut workspace, "prose.run", "good.prose", json!({})),
        expect!["`good.prose` has 2 errors and is not run; line 2: there is no agent `nobody`"],
    );
    check(
        &refusal(&mut workspace, "prose.dryRun", "good.prose", json!({})),
        expect!["`good.prose` has 2 errors and is not run; line 2: there is no agent `nobody`"],
    );
    check(
        &refusal(&mut workspace, "prose.cancel", "good.prose", json!({})),
        expect!["nothing of this program runs; there is nothing to stop"],
    );
    workspace.replace("good.prose", 3, "session \"a\"\n");
    let none = refusal(&mut workspace, "prose.resume", "good.prose", json!({}));
    assert!(none.starts_with("there is no run of `"), "{none}");
    let closed = refusal(&mut workspace, "prose.run", "closed.prose", json!({}));
    assert!(
        closed.ends_with("closed.prose is not open; `textDocument/didOpen` has to come first"),
        "{closed}"
    );
    let runs = std::fs::read_dir(workspace.folder.path().join(".prose/runs")).unwrap();
    assert_eq!(runs.count(), 0, "something is left of a run that was refused");

    let uri = "untitled:Untitled-1";
    workspace.client.open(uri, 1, "session \"a\"\n");
    let answer = execute(&mut workspace, "prose.run", json!({ "uri": uri }));
    check(
        answer["error"]["message"].as_str().unwrap(),
        expect![
            "`untitled:Untitled-1` lies in no folder, and a run keeps its files in one; save the program first, or use a dry run"
        ],
    );
    let answer = execute(&mut workspace, "prose.dryRun", json!({ "uri": uri }));
    assert_eq!(answer["result"]["prompts"][0]["prompt"], "a");
}

#[test]
fn programs_of_a_workspace_that_is_not_trusted_are_not_run() {
    let settings = json!({ "trusted": false });
    let mut workspace = Workspace::with_settings(json!({}), settings, &[("a.prose", "session \"a\"\n")]);
    workspace.open_saved("a.prose");
    check(
        &refusal(&mut workspace, "prose.run", "a.prose", json!({})),
        expect![
            "`a.prose` is not run, since this workspace is not trusted: its programs tell agents what to do on this machine. Trust the workspace first"
        ],
    );
    let trusted = json!({ "settings": { "trusted": true } });
    workspace.client.notify("workspace/didChangeConfiguration", trusted);
    run(&mut workspace, "a.prose", json!({}));
    message(&mut workspace);
}

#[test]
fn a_dry_run_shows_what_sessions_would_be_told() {
    let program = r#"agent writer:
  model: opus
  prompt: "You write."

input topic: "What about?"
let draft = session: writer
  prompt: "Write about {topic}"
session "Count the words"
"#;
    let mut workspace = Workspace::new(&[("dry.prose", program)]);
    workspace.open_saved("dry.prose");
    let result = command(&mut workspace, "prose.dryRun", "dry.prose", json!({}));
    // What agents are told besides is not the subject here.
    let shown = |result: &Value| -> Vec<Value> {
        let prompts = result["prompts"].as_array().unwrap().iter().cloned();
        let shortened = prompts.map(|mut prompt| {
            prompt["prompt"] = json!(prompt["prompt"].as_str().unwrap().lines().next());
            prompt
        });
        shortened.collect()
    };
    assert_eq!(
        shown(&result),
        [
            json!({
                "line": 6, "agent": "writer", "model": "opus", "prompt": "Write about [topic]", "system": "You write.",
            }),
            json!({ "line": 8, "agent": null, "model": null, "prompt": "Count the words", "system": null }),
        ]
    );
    assert_eq!(result["failed"], Value::Null);
    let given =
        command(&mut workspace, "prose.dryRun", "dry.prose", json!({ "inputs": { "topic": "tides" } }));
    assert_eq!(shown(&given)[0]["prompt"], "Write about tides");
    assert!(!workspace.folder.path().join(".prose").exists());
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
        0: 2 sessions, …, failed at line 4 
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
fn clients_that_ask_for_diagnostics_are_told_to_ask_again() {
    let capabilities = json!({
        "textDocument": { "diagnostic": {} },
        "workspace": { "diagnostics": { "refreshSupport": true } },
        "experimental": { "proseRunEvents": true },
    });
    let mut workspace = Workspace::with(capabilities, &[("a.prose", "throw \"no\"\n")]);
    workspace.open_saved("a.prose");
    let uri = workspace.uri("a.prose");
    assert_eq!(workspace.client.result("textDocument/diagnostic", &uri)["items"], json!([]));
    run(&mut workspace, "a.prose", json!({}));
    message(&mut workspace);
    workspace.client.wait_for(|message| message["method"] == "workspace/diagnostic/refresh");
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
    workspace.client.wait_for(|message| message["method"] == "prose/input");
    assert_eq!(workspace.pushed_whole("a.prose")["diagnostics"], json!([]));
    let uri = workspace.uri("a.prose");
    assert_eq!(execute(&mut workspace, "prose.cancel", json!({ "uri": uri }))["error"], Value::Null);
    assert_eq!(ended(&mut workspace, &id)["status"], "interrupted");
    // The question is taken back.
    workspace.client.wait_for(|message| message["method"] == "$/cancelRequest");
}

/// A harness whose sessions write their process id to a file and then take long.
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

#[cfg(unix)]
#[test]
fn sessions_of_a_cancelled_run_are_killed() {
    let program = "parallel:\n  session \"a\"\n  session \"b\"\n";
    let mut workspace = Workspace::with(able(), &[("slow.prose", program)]);
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
        "#]],
    );
    let stop = lens_argument(&mut workspace, "slow.prose", "■ Stop");
    assert_eq!(stop["run"], id.as_str());
    assert_eq!(execute(&mut workspace, "prose.cancel", stop)["error"], Value::Null);
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
    assert!(running(0), "the agents outlive the server");
}

const STEPS: &str = "session \"one\"\nsession \"two\"\nsession \"three\"\n";

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
    let mut workspace = Workspace::with(hearing(), files);
    workspace.open_saved("steps.prose");
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
    let answer = execute(&mut workspace, "prose.resume", resume);
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
    "#]],
    );
    let over = refusal(&mut workspace, "prose.resume", "steps.prose", json!({}));
    assert_eq!(
        over,
        format!("the run {id} has come to its end; there is nothing left to do. Run the program anew")
    );
}

#[test]
fn a_changed_program_is_resumed_only_if_that_is_wanted() {
    let program = "session \"one\"\ninput what: \"What?\"\nsession \"two {what}\"\n";
    let mut workspace = Workspace::with(hearing(), &[("a.prose", program)]);
    workspace.open_saved("a.prose");
    let id = run(&mut workspace, "a.prose", json!({}));
    ended(&mut workspace, &id);
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
fn two_programs_run_at_once_and_one_of_them_is_stopped() {
    let answers =
        "[[session]]\nlabel = \"long\"\nreply = \"x\"\ndelay = \"10m\"\n\n[[session]]\nreply = \"y\"\n";
    let files = &[("long.prose", "session \"long\"\n"), ("short.prose", STEPS), ("answers.toml", answers)];
    let mut workspace = Workspace::with(hearing(), files);
    workspace.open_saved("long.prose");
    workspace.open_saved("short.prose");
    let long = run(&mut workspace, "long.prose", json!({ "script": "answers.toml" }));
    event(&mut workspace, &long, |event| event["event"] == "session-started");
    let short = run(&mut workspace, "short.prose", json!({ "script": "answers.toml" }));
    assert_ne!(long, short);
    assert_eq!(ended(&mut workspace, &short)["status"], "completed");
    check(
        &hints(&mut workspace, "long.prose"),
        expect![[r#"
        0:14 ⟳ running
    "#]],
    );
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
    check(
        &hints(&mut workspace, "steps.prose"),
        expect![[r#"
        3:13 ⟳ running
    "#]],
    );
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
    let on = json!({ "settings": { "prose": { "run": { "inlayHints": true } } } });
    workspace.client.notify("workspace/didChangeConfiguration", on);
    assert!(hints(&mut workspace, "a.prose").starts_with("0:11 ✓ …  "));
}

#[test]
fn the_client_chooses_the_harness_before_the_project_does() {
    let settings = json!({ "run": { "harness": "offline" } });
    let files = &[("a.prose", "session \"a\"\n"), ("prose.toml", "[run]\nharness = \"script\"\n")];
    let mut workspace = Workspace::with_settings(hearing(), settings, files);
    workspace.open_saved("a.prose");
    let result = command(&mut workspace, "prose.run", "a.prose", json!({}));
    assert_eq!(result["harness"], "offline");
    workspace.client.notify("workspace/didChangeConfiguration", json!({ "settings": {} }));
    let refused = refusal(&mut workspace, "prose.run", "a.prose", json!({}));
    assert!(refused.starts_with("the harness `script` needs a file to answer from"), "{refused}");
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
    let mut workspace = Workspace::with(hearing(), &[("blocks.prose", program)]);
    workspace.open_saved("blocks.prose");
    check(
        &lenses(&mut workspace, "blocks.prose"),
        expect![[r#"
        0: ▶ Run program prose.run
        0: Dry run prose.dryRun
        5: ▶ Run block prose.run
    "#]],
    );
    let argument = lens_argument(&mut workspace, "blocks.prose", "▶ Run block");
    assert_eq!(argument, json!({ "uri": workspace.uri("blocks.prose"), "block": "gather" }));
    let id = run(&mut workspace, "blocks.prose", argument);
    assert_eq!(ended(&mut workspace, &id)["sessions"], 1);
    check(
        &hints(&mut workspace, "blocks.prose"),
        expect![[r#"
        6:17 ✓ …  Started from Gather and followed it to the details. Compared…
    "#]],
    );
    check(
        &lenses(&mut workspace, "blocks.prose"),
        expect![[r#"
        0: ▶ Run program prose.run
        0: Dry run prose.dryRun
        5: ▶ Run block prose.run
        5: 1 session, …, completed 
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

#[test]
fn a_run_of_a_block_is_resumed_as_one() {
    let program = "session \"Never\"\n\nblock steps:\n  session \"one\"\n  session \"two\"\n";
    let before =
        "[[session]]\nlabel = \"one\"\nreply = \"1\"\n\n[[session]]\nlabel = \"two\"\nfail = \"gone\"\n";
    let after = "[[session]]\nlabel = \"two\"\nreply = \"2\"\n";
    let files = &[("a.prose", program), ("before.toml", before), ("after.toml", after)];
    let mut workspace = Workspace::with(hearing(), files);
    workspace.open_saved("a.prose");
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
        2: 1 session, …, failed at line 5 
    "#]],
    );
    let mut resume = lens_argument(&mut workspace, "a.prose", "Resume last run");
    resume["script"] = json!("after.toml");
    workspace.client.take_all();
    let answer = execute(&mut workspace, "prose.resume", resume);
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
