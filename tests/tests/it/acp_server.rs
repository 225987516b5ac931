//! `prose acp` in a process of its own: as an agent of another program, and with an agent that asks for permission.
#![cfg(unix)]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};

use prose_tests::prose_binary;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A folder with files, whose settings the user trusts.
struct Project {
    folder: TempDir,
    home: TempDir,
}

impl Project {
    fn new(files: &[(&str, &str)]) -> Self {
        let (folder, home) = (prose_fixture::tempdir().unwrap(), prose_fixture::tempdir().unwrap());
        for (path, text) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let project = Self { folder, home };
        let trusted = project.prose(&["trust"]);
        assert!(trusted.status.success(), "{}", String::from_utf8_lossy(&trusted.stderr));
        project
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(prose_binary());
        command.args(arguments).current_dir(self.path()).env("HOME", self.home.path());
        for variable in ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"] {
            command.env_remove(variable);
        }
        command
    }

    fn prose(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }
}

/// A client of a process.
struct Client {
    process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    last: u64,
}

impl Client {
    fn start(project: &Project, arguments: &[&str]) -> Self {
        let mut process =
            project.command(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let input = process.stdin.take();
        let output = BufReader::new(process.stdout.take().unwrap());
        let mut client = Self { process, input, output, last: 0 };
        client.call("initialize", json!({ "protocolVersion": 1 }), &mut |_| None);
        client
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
    }

    /// Sends a request and waits for its result. `answer` gives the result of each request of the server, and sees its notifications.
    fn call(
        &mut self,
        method: &str,
        params: Value,
        answer: &mut dyn FnMut(&Value) -> Option<Value>,
    ) -> Value {
        self.last += 1;
        let id = self.last;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "the server is there");
            let mut message: Value = serde_json::from_str(&line).unwrap();
            if message.get("method").is_none() && message["id"] == id {
                assert!(message.get("error").is_none(), "{message}");
                return message["result"].take();
            }
            if let (Some(result), Some(id)) = (answer(&message), message.get("id")) {
                self.send(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
            }
        }
    }

    fn session(&mut self, folder: &Path) -> String {
        let params = json!({ "cwd": folder, "mcpServers": [] });
        let opened = self.call("session/new", params, &mut |_| None);
        opened["sessionId"].as_str().unwrap().to_owned()
    }

    /// Closes the connection.
    fn close(mut self) {
        drop(self.input.take());
        assert_eq!(self.process.wait().unwrap().code(), Some(0));
    }
}

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
    let mut client = Client::start(&project, &["acp", "asks.prose"]);
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
