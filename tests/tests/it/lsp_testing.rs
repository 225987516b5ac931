//! Test files in an editor: their mistakes, their lenses, and runs of their cases.

use expect_test::{Expect, expect};
use prose_tests::workspace::Workspace;
use serde_json::{Value, json};

const PROGRAM: &str = "input topic: \"What about\"\noutput text = session \"Write about {topic}\"\n";

const TESTS: &str = r#"[[case]]
name = "writes"
inputs.topic = "tides"
[[case.session]]
reply = "Tides come and go"
[case.expect]
outputs.text = { contains = "Tides" }

[[case]]
name = "writes otherwise"
inputs.topic = "winds"
[[case.session]]
reply = "Winds blow"
[case.expect]
outputs.text = "Winds turn"
"#;

/// A client that shows lenses.
fn able() -> Value {
    json!({ "textDocument": { "codeLens": {} } })
}

fn workspace() -> Workspace {
    Workspace::with(able(), &[("main.prose", PROGRAM), ("main.test.toml", TESTS)])
}

/// The next diagnostics that are sent of the test file: their first lines and their messages.
#[track_caller]
fn pushed(workspace: &mut Workspace, name: &str, expected: Expect) {
    let pushed = workspace.pushed_whole(name);
    let one = |diagnostic: &Value| {
        let start = &diagnostic["range"]["start"];
        let what = diagnostic["code"].as_str().unwrap_or_else(|| diagnostic["source"].as_str().unwrap());
        let message = diagnostic["message"].as_str().unwrap();
        format!("{}:{} {what}: {message}\n", start["line"], start["character"])
    };
    let shown: String = pushed["diagnostics"].as_array().unwrap().iter().map(one).collect();
    expected.assert_eq(&shown);
}

/// The lenses of a document: line, title and name of a case.
#[track_caller]
fn lenses(workspace: &mut Workspace, name: &str, expected: Expect) {
    let uri = workspace.uri(name);
    let found = workspace.client.result("textDocument/codeLens", &uri);
    let one = |lens: &Value| {
        let (title, argument) =
            (lens["command"]["title"].as_str().unwrap(), &lens["command"]["arguments"][0]);
        let title = title.split(" in ").next().unwrap();
        let name = argument["name"].as_str().unwrap_or_default();
        let line = format!("{}: {title} {name}", lens["range"]["start"]["line"]);
        format!("{}\n", line.trim_end())
    };
    let found = found.as_array().into_iter().flatten().filter(|lens| lens.get("command").is_some());
    let shown: String = found.map(one).collect();
    expected.assert_eq(&shown);
}

#[test]
fn mistakes_are_diagnostics_while_a_test_file_is_edited() {
    let mut workspace = workspace();
    workspace.open("main.test.toml", &TESTS.replace("inputs.topic", "input.topic"));
    pushed(
        &mut workspace,
        "main.test.toml",
        expect![[r#"
        2:0 E151: an entry must start with a header in double brackets: `[[case.input]]`
        10:0 E151: an entry must start with a header in double brackets: `[[case.input]]`
    "#]],
    );
    workspace.replace("main.test.toml", 2, &TESTS.replace("outputs.text = \"", "outputs.txet = \""));
    pushed(
        &mut workspace,
        "main.test.toml",
        expect![[r#"
        14:15 E151: the program has no output `txet`; did you mean `text`?
    "#]],
    );
    lenses(
        &mut workspace,
        "main.test.toml",
        expect![[r#"
        0: Cannot run: 1 error
    "#]],
    );
    workspace.replace("main.test.toml", 3, "");
    pushed(
        &mut workspace,
        "main.test.toml",
        expect![[r#"
        0:0 E151: the file has no `[[case]]`; add one with a `name`, answers and `[case.expect]`
    "#]],
    );
    workspace.replace("main.test.toml", 4, TESTS);
    pushed(&mut workspace, "main.test.toml", expect![[]]);
}

#[test]
fn mistakes_come_and_go_with_the_program() {
    let mut workspace = workspace().opened("main.prose").opened("main.test.toml");
    // As it is in the editor.
    workspace.replace("main.prose", 2, &PROGRAM.replace("output text", "output article"));
    pushed(
        &mut workspace,
        "main.test.toml",
        expect![[r#"
        6:28 E151: the program has no output `text`; it has `article`
        14:15 E151: the program has no output `text`; it has `article`
    "#]],
    );
    workspace.replace("main.prose", 3, &PROGRAM.replace("session", "sesion"));
    pushed(
        &mut workspace,
        "main.test.toml",
        expect![[r#"
        0:0 E151: `main.prose` has 1 error and is not run
    "#]],
    );
    workspace.replace("main.prose", 4, PROGRAM);
    pushed(&mut workspace, "main.test.toml", expect![[]]);
    // As it is on the disk.
    workspace.close("main.prose");
    workspace.remove_watched("main.prose");
    pushed(
        &mut workspace,
        "main.test.toml",
        expect![[r#"
        0:0 E151: `main.prose` does not exist
    "#]],
    );
    workspace.write_watched("main.prose", PROGRAM);
    pushed(&mut workspace, "main.test.toml", expect![[]]);
    workspace.replace("main.test.toml", 2, "program = \"no/such.prose\"\n[[case]]\nname = \"x\"\n");
    pushed(
        &mut workspace,
        "main.test.toml",
        expect![[r#"
        0:10 E151: `no/such.prose` does not exist
    "#]],
    );
    workspace.close("main.test.toml");
    assert_eq!(workspace.pushed("main.test.toml"), [] as [&str; 0]);
}

#[test]
fn the_editor_and_the_command_report_the_same() {
    for (program, tests) in [
        (PROGRAM, "[[case]]\nnaem = \"x\"\n"),
        (PROGRAM, "[[case]]\nname = \"x\"\ntimeout = 3\n[case.expect]\nsessions = \"one\"\n"),
        (PROGRAM, "[[case]]\nname = \"x\"\n[case.expect]\noutputs.txet = \"x\"\n"),
        (PROGRAM, "program = \"other.prose\"\n[[case]]\nname = \"x\"\n"),
        (PROGRAM, "[[case]\nname = \"x\"\n"),
        (PROGRAM, "# nothing\n"),
        ("sesion \"x\"\n", "[[case]]\nname = \"x\"\n"),
    ] {
        let mut workspace = Workspace::with(able(), &[("main.prose", program), ("main.test.toml", tests)]);
        workspace.open_saved("main.test.toml");
        let pushed = workspace.pushed_whole("main.test.toml");
        let of_editor: Vec<Value> = pushed["diagnostics"]
            .as_array()
            .unwrap()
            .iter()
            .map(|found| {
                let line = found["range"]["start"]["line"].as_u64().unwrap() + 1;
                json!([line, found["code"], found["message"]])
            })
            .collect();
        let mut command = workspace.prose();
        let output = command.current_dir(workspace.folder.path()).args(["test", "--list", "--json"]).output();
        let list: Value = serde_json::from_slice(&output.unwrap().stdout).unwrap();
        let problems = list["files"][0]["problems"].as_array().unwrap();
        let of_command: Vec<Value> =
            problems.iter().map(|found| json!([found["line"], found["code"], found["message"]])).collect();
        assert!(!of_editor.is_empty(), "{tests}");
        assert_eq!(of_editor, of_command, "{tests}");
    }
}

#[test]
fn cases_are_run_by_their_lenses() {
    let mut workspace = workspace().opened("main.prose").opened("main.test.toml");
    lenses(
        &mut workspace,
        "main.prose",
        expect![[r#"
            0: ▶ Run program
            0: Dry run
            0: ▶ Run tests
            1: ▶ Run session
        "#]],
    );
    lenses(
        &mut workspace,
        "main.test.toml",
        expect![[r#"
        0: ▶ Run all tests
        0: ▶ Run test writes
        8: ▶ Run test writes otherwise
    "#]],
    );

    let uri = workspace.uri("main.test.toml");
    let answer = workspace.execute("prose.test", json!({ "uri": uri, "name": "writes" }));
    assert_eq!(answer["result"]["passed"], 1, "{answer}");
    assert_eq!(message(&mut workspace), "main.test.toml: 1 passed");
    lenses(
        &mut workspace,
        "main.test.toml",
        expect![[r#"
        0: ▶ Run all tests
        0: ▶ Run test writes
        0: ✓ passed
        8: ▶ Run test writes otherwise
    "#]],
    );

    let program = workspace.uri("main.prose");
    let answer = workspace.execute("prose.test", json!({ "uri": program }));
    assert_eq!(answer["result"]["failed"], 1, "{answer}");
    assert_eq!(
        message(&mut workspace),
        "main.test.toml: 1 passed, 1 failed; writes otherwise: output `text` differs from the expected value"
    );
    pushed(
        &mut workspace,
        "main.test.toml",
        expect![[r#"
        14:15 prose test: output `text` differs from the expected value
        expected: Winds turn
        actual: Winds blow
    "#]],
    );
    lenses(
        &mut workspace,
        "main.test.toml",
        expect![[r#"
        0: ▶ Run all tests
        0: ▶ Run test writes
        0: ✓ passed
        8: ▶ Run test writes otherwise
        8: ✗ failed
    "#]],
    );

    // The text in the editor is what is run; results of another text are not shown.
    workspace.replace("main.test.toml", 2, &TESTS.replace("Winds turn", "Winds blow"));
    pushed(&mut workspace, "main.test.toml", expect![[]]);
    let answer = workspace.execute("prose.test", json!({ "uri": uri }));
    assert_eq!((&answer["result"]["passed"], &answer["result"]["failed"]), (&json!(2), &json!(0)));
    assert!(!workspace.folder.path().join(".prose").exists());
}

#[test]
fn tests_that_cannot_be_run_are_refused_with_the_reason() {
    let mut workspace = workspace().opened("main.prose");
    let uri = workspace.uri("main.test.toml");
    let program = workspace.uri("main.prose");
    let mut refusal = |command: &str, argument: Value| {
        let answer = workspace.execute(command, argument);
        answer["error"]["message"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    };
    expect!["`main.test.toml` has no case `reads`"]
        .assert_eq(&refusal("prose.test", json!({ "uri": uri, "name": "reads" })));
    expect!["no tests of this file are run now"]
        .assert_eq(&refusal("prose.stopTests", json!({ "uri": uri })));
    expect!["`other.test.toml` does not exist"]
        .assert_eq(&refusal("prose.test", json!({ "uri": program.replace("main", "other") })));
    expect!["`a.toml` is not a test file; the name of one ends with `.test.toml`"]
        .assert_eq(&refusal("prose.test", json!({ "uri": "file:///a.toml" })));
    expect![[r#"`prose.test` takes one argument, such as { "uri": "file:///…" }: unknown field `file`, expected `uri` or `name`"#]].assert_eq(&refusal("prose.test", json!({ "file": uri })));
    workspace.configure(json!({ "trusted": false }));
    let answer = workspace.execute("prose.test", json!({ "uri": uri }));
    expect!["the tests of `main.test.toml` are not run, since this workspace is not trusted. Trust the workspace first"].assert_eq(answer["error"]["message"].as_str().unwrap());
}

#[test]
fn tests_are_stopped() {
    let slow = TESTS.replace("reply = \"Winds blow\"", "reply = \"Winds blow\"\ndelay = \"10m\"");
    let mut workspace = Workspace::with(able(), &[("main.prose", PROGRAM), ("main.test.toml", &slow)])
        .opened("main.test.toml");
    let uri = workspace.uri("main.test.toml");
    let params =
        json!({ "command": "prose.test", "arguments": [{ "uri": uri, "name": "writes otherwise" }] });
    let id = workspace.client.send_request("workspace/executeCommand", params);
    lenses(
        &mut workspace,
        "main.test.toml",
        expect![[r#"
        0: ▶ Run all tests
        0: ■ Stop
        0: ▶ Run test writes
        8: ▶ Run test writes otherwise
    "#]],
    );
    let answer = workspace.execute("prose.stopTests", json!({ "uri": uri }));
    assert_eq!(answer["result"], Value::Null, "{answer}");
    let answer = workspace.client.answer(&json!(id));
    assert_eq!(answer["result"]["stopped"], 1, "{answer}");
    assert!(message(&mut workspace).contains("1 stopped"));
}

/// The next message for the user.
#[track_caller]
fn message(workspace: &mut Workspace) -> String {
    let message = workspace.client.wait_for_method("window/showMessage");
    message["params"]["message"].as_str().unwrap().to_owned()
}

#[test]
fn keys_values_and_names_are_completed_and_documented() {
    let mut workspace = workspace().opened("main.prose").opened("main.test.toml");
    let uri = workspace.uri("main.test.toml");
    let ask = |workspace: &mut Workspace, method: &str, line: u32, character: u32| {
        let position = json!({ "line": line, "character": character });
        workspace.client.ask(method, json!({ "textDocument": { "uri": uri }, "position": position }))
    };
    let hover = ask(&mut workspace, "textDocument/hover", 2, 9);
    assert_eq!(hover["contents"]["value"], "Input topic of main.prose: What about");
    let labels = |items: Value| -> Vec<String> {
        items.as_array().unwrap().iter().map(|item| item["label"].as_str().unwrap().to_owned()).collect()
    };
    workspace.replace("main.test.toml", 2, "[[case]]\nname = \"a\"\n[case.expect]\nstatus = \noutputs.\n");
    let values = ask(&mut workspace, "textDocument/completion", 3, 9);
    assert_eq!(labels(values), ["completed", "failed", "interrupted", "waiting"]);
    // As the program is in the editor.
    workspace.replace("main.prose", 2, &PROGRAM.replace("output text", "output article"));
    let outputs = ask(&mut workspace, "textDocument/completion", 4, 8);
    assert_eq!(labels(outputs), ["article"]);
}
