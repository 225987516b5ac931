//! `prose acp` in a process of its own: as an agent of another program, and with an agent that asks for permission.
#![cfg(unix)]

use std::fs;

use prose_tests::prose_binary;
use prose_tests::served::{Client, Project};
use serde_json::json;

const INNER: &str = "input topic: \"What to review\"\nlet notes = session \"Review {topic}\"\noutput report = \"About {topic}\"\n";

#[test]
fn a_program_is_an_agent_of_another_one() {
    let settings = |path: &str| {
        let prose = prose_binary();
        format!("[run]\nharness = \"acp\"\ncommand = [{prose:?}, \"acp\", {path:?}]\n")
    };
    let outer = "agent reviewer:\n  prompt: \"You review\"\nlet notes = session: reviewer\n  prompt: \"the tests\"\noutput result = notes\n";
    let inner = [("outer.prose", outer), ("flows/inner.prose", INNER), ("flows/prose.toml", "")];
    let project =
        Project::new(&[&inner[..], &[("prose.toml", settings("flows/inner.prose").as_str())]].concat());
    let output = project.prose(&["run", "outer.prose", "--quiet"]);
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(stdout.contains("About ") && stdout.contains("the tests"), "{stdout}");
    let runs = fs::read_dir(project.path().join("flows/.prose/runs")).unwrap();
    assert_eq!(runs.count(), 1, "the inner program has a run of its own");

    let failing = ("flows/inner.prose", "throw \"No luck\"\n");
    fs::write(project.path().join(failing.0), failing.1).unwrap();
    let output = project.prose(&["run", "outer.prose", "--quiet"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("No luck"), "{stderr}");
}

/// An agent that wants to read a protected file, and says whether it may.
const ASKING: &str = r#"
read -r line; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{},"authMethods":[]}}'
read -r line; echo '{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}'
read -r line
echo '{"jsonrpc":"2.0","id":"a","method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"t","title":"Read .env","kind":"read","locations":[{"path":".env"}]},"options":[{"optionId":"yes","name":"Yes","kind":"allow_once"},{"optionId":"no","name":"No","kind":"reject_once"}]}}'
read -r line
case "$line" in *'"yes"'*) said=allowed;; *) said=denied;; esac
echo '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"It was '$said'"}}}}'
echo '{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}'
read -r line
"#;

#[track_caller]
fn check_permission(choice: &str, expected: &str) {
    let settings = "[run]\nharness = \"acp\"\ncommand = [\"sh\", \"agent.sh\"]\n";
    let program = "output said = session \"Read the file .env\"\n";
    let project = Project::new(&[
        ("asks.prose", program),
        ("agent.sh", ASKING),
        (".env", "KEY=secret\n"),
        ("prose.toml", settings),
    ]);
    let mut client = Client::acp(&project, &["asks.prose"]);
    let session = client.session(project.path());
    let (mut asked, mut said) = (Vec::new(), String::new());
    let prompt = json!({ "sessionId": session, "prompt": [{ "type": "text", "text": "go" }] });
    let result = client.call("session/prompt", prompt, &mut |message| {
        let params = &message["params"];
        if params["update"]["sessionUpdate"] == "agent_message_chunk"
            && params["update"].get("_meta").is_none()
        {
            said.push_str(params["update"]["content"]["text"].as_str().unwrap());
        }
        (message["method"] == "session/request_permission").then(|| {
            let options = params["options"].as_array().unwrap().iter();
            asked.extend(options.map(|option| option["name"].as_str().unwrap().to_owned()));
            json!({ "outcome": { "outcome": "selected", "optionId": choice } })
        })
    });
    assert_eq!(result["stopReason"], "end_turn");
    assert_eq!(asked, ["Allow once", "Allow for this run", "Deny"]);
    assert_eq!(said, expected);
    client.close();
    let shown = project.prose(&["runs", "show", &session]);
    let shown = String::from_utf8_lossy(&shown.stdout);
    assert!(shown.contains("through ACP"), "the answer is recorded: {shown}");
}

#[test]
fn permissions_are_requests_to_the_client() {
    check_permission("once", "It was allowed");
    check_permission("deny", "It was denied");
}

#[test]
fn a_program_that_is_not_there_is_not_served() {
    let project = Project::new(&[("a.prose", "session \"A\"\n")]);
    let output = project.prose(&["acp", "b.prose"]);
    assert_eq!(output.status.code(), Some(2));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("`b.prose` does not exist"), "{stderr}");
}
