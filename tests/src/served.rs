//! `prose mcp` and `prose acp` in processes of their own, in a folder that the user trusts, and a client that speaks JSON-RPC with them.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::prose_binary;

/// A folder with files, whose settings the user trusts.
pub struct Project {
    folder: TempDir,
    home: TempDir,
}

impl Project {
    /// A folder with these files: paths and texts.
    pub fn new(files: &[(&str, &str)]) -> Self {
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

    /// The folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A command of `prose` in the folder.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(prose_binary());
        command.args(arguments).current_dir(self.path()).env("HOME", self.home.path());
        for variable in ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"] {
            command.env_remove(variable);
        }
        command
    }

    /// Runs `prose` in the folder.
    pub fn prose(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }
}

/// A client of a process.
pub struct Client {
    process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    last: u64,
}

impl Client {
    /// Starts `prose acp` with these arguments.
    pub fn acp(project: &Project, arguments: &[&str]) -> Self {
        let mut client = Self::start(project, "acp", arguments);
        client.call("initialize", json!({ "protocolVersion": 1 }), &mut |_| None);
        client
    }

    /// Starts `prose mcp`.
    pub fn mcp(project: &Project) -> Self {
        let mut client = Self::start(project, "mcp", &[]);
        let about = json!({ "name": "test", "version": "1" });
        let params = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": about });
        client.call("initialize", params, &mut |_| None);
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client
    }

    fn start(project: &Project, server: &str, arguments: &[&str]) -> Self {
        let mut command = project.command(&[&[server], arguments].concat());
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let input = process.stdin.take();
        let output = BufReader::new(process.stdout.take().unwrap());
        Self { process, input, output, last: 0 }
    }

    /// Calls a tool of `prose mcp`, and returns its text, with a mark if it is an error.
    pub fn tool(&mut self, name: &str, arguments: &Value) -> String {
        let result = self.called(name, arguments);
        let text = result["content"][0]["text"].as_str().unwrap();
        if result["isError"] == true { format!("error: {text}") } else { text.to_owned() }
    }

    /// Calls a tool of `prose mcp`, and returns its result as JSON.
    pub fn facts(&mut self, name: &str, arguments: &Value) -> Value {
        let mut result = self.called(name, arguments);
        assert_ne!(result["isError"], true, "{result}");
        result["structuredContent"].take()
    }

    fn called(&mut self, name: &str, arguments: &Value) -> Value {
        self.call("tools/call", json!({ "name": name, "arguments": arguments }), &mut |_| None)
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
    }

    /// Sends a request and waits for its result. `answer` gives the result of each request of the server, and sees its notifications.
    pub fn call(
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

    /// Opens a session of the Agent Client Protocol.
    pub fn session(&mut self, folder: &Path) -> String {
        let params = json!({ "cwd": folder, "mcpServers": [] });
        let opened = self.call("session/new", params, &mut |_| None);
        opened["sessionId"].as_str().unwrap().to_owned()
    }

    /// Closes the connection.
    pub fn close(mut self) {
        drop(self.input.take());
        assert_eq!(self.process.wait().unwrap().code(), Some(0));
    }
}
