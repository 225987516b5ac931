//! A folder with programs, and a server that an editor would have started for it.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::lsp::{LspClient, range};
use crate::prose_binary;

/// The folder in a workspace where its server keeps what it fetched.
pub const CACHE: &str = ".cache";

/// The folder in a workspace where its server remembers what the person trusts.
const STATE: &str = ".state";

/// A folder with files, and a server that has it open.
pub struct Workspace {
    /// The folder.
    pub folder: TempDir,
    /// The server.
    pub client: LspClient,
    capabilities: Value,
    settings: Value,
    /// The files that are open in the server.
    open: BTreeSet<String>,
}

/// A server that keeps what it fetches and what the person trusts in the folder: what other tests fetched and trusted is not known in this one.
fn server(folder: &TempDir) -> LspClient {
    let mut command = Command::new(prose_binary());
    command.arg("lsp").env("PROSE_CACHE_DIR", folder.path().join(CACHE));
    remember_in(&mut command, folder);
    LspClient::run(command)
}

fn remember_in(command: &mut Command, folder: &TempDir) {
    for variable in ["XDG_STATE_HOME", "LOCALAPPDATA"] {
        command.env(variable, folder.path().join(STATE));
    }
}

impl Workspace {
    /// A workspace with files, for a client that can nothing special.
    pub fn new(files: &[(&str, &str)]) -> Self {
        Self::with(json!({}), files)
    }

    /// The same for a client that says what it can.
    pub fn with(capabilities: Value, files: &[(&str, &str)]) -> Self {
        Self::with_settings(capabilities, Value::Null, files)
    }

    /// The same for a client that has settings, too.
    pub fn with_settings(capabilities: Value, settings: Value, files: &[(&str, &str)]) -> Self {
        let folder = prose_fixture::tempdir().unwrap();
        let client = server(&folder);
        let mut workspace = Self { folder, client, capabilities, settings, open: BTreeSet::new() };
        for (name, text) in files {
            workspace.write(name, text);
        }
        workspace.introduce();
        workspace
    }

    /// Ends the server and starts another one, which does not find what was fetched.
    pub fn restart_without_cache(&mut self) {
        let client = std::mem::replace(&mut self.client, server(&self.folder));
        client.shut_down();
        std::fs::remove_dir_all(self.folder.path().join(CACHE)).unwrap();
        self.introduce();
    }

    /// Ends the server and starts another one.
    pub fn restart(&mut self) {
        let client = std::mem::replace(&mut self.client, server(&self.folder));
        client.shut_down();
        self.introduce();
    }

    /// Kills the server, which can do nothing about it, and starts another one.
    pub fn restart_killed(&mut self) {
        drop(std::mem::replace(&mut self.client, server(&self.folder)));
        self.introduce();
    }

    /// The program `prose`, in a terminal of the same person in the folder.
    pub fn prose(&self) -> Command {
        let mut command = Command::new(prose_binary());
        remember_in(&mut command, &self.folder);
        command.current_dir(self.folder.path());
        command
    }

    /// Runs `prose trust` with these arguments, as a person would in a terminal.
    #[track_caller]
    pub fn trust(&self, arguments: &[&str]) {
        let output = self.prose().arg("trust").args(arguments).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    fn introduce(&mut self) {
        self.open.clear();
        let params = json!({
            "processId": null,
            "rootUri": self.uri(""),
            "capabilities": self.capabilities,
            "initializationOptions": self.settings,
        });
        self.client.request("initialize", params);
        self.client.notify("initialized", json!({}));
    }

    /// The name of a file as editors write it.
    pub fn uri(&self, name: &str) -> String {
        let path = self.folder.path().canonicalize().unwrap().join(name);
        let mut uri = String::from("file://");
        for byte in path.to_str().unwrap().replace('\\', "/").bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' => {
                    uri.push(byte.into())
                }
                _ => uri.push_str(&format!("%{byte:02X}")),
            }
        }
        uri
    }

    /// Writes a file, at once: the server may be scanning the folder, and must not find half of a text.
    pub fn write(&self, name: &str, text: &str) {
        let path = self.folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap_or(Path::new(""))).unwrap();
        let part = self.folder.path().join(".part");
        std::fs::write(&part, text).unwrap();
        std::fs::rename(part, path).unwrap();
    }

    /// Writes a file and says so, as the editor would that watches it.
    pub fn write_watched(&mut self, name: &str, text: &str) {
        self.write(name, text);
        self.say_changed(name, 2);
    }

    /// Removes a file and says so.
    pub fn remove_watched(&mut self, name: &str) {
        std::fs::remove_file(self.folder.path().join(name)).unwrap();
        self.say_changed(name, 3);
    }

    /// Says that a file or folder was created (1), changed (2) or deleted (3).
    pub fn say_changed(&mut self, name: &str, kind: u32) {
        let changes = json!({ "changes": [{ "uri": self.uri(name), "type": kind }] });
        self.client.notify("workspace/didChangeWatchedFiles", changes);
    }

    /// Opens a file with a text that need not lie on the disk.
    pub fn open(&mut self, name: &str, text: &str) {
        let uri = self.uri(name);
        self.client.open(&uri, 1, text);
        self.open.insert(uri);
    }

    /// Opens a file as it lies on the disk.
    pub fn open_saved(&mut self, name: &str) {
        let text = std::fs::read_to_string(self.folder.path().join(name)).unwrap();
        self.open(name, &text);
    }

    /// The same with a file open as it lies on the disk.
    #[must_use]
    pub fn opened(mut self, name: &str) -> Self {
        self.open_saved(name);
        self
    }

    /// Gives an open file another text, as `git` would and not a person who types: what is found in it is reported at once.
    pub fn replace(&mut self, name: &str, version: i64, text: &str) {
        let uri = self.uri(name);
        let other = "# another text\n\n# of several lines\n";
        self.client.change(&uri, version, json!([{ "text": other }, { "text": text }]));
    }

    /// Says that a file was saved.
    pub fn save(&mut self, name: &str) {
        let uri = self.uri(name);
        self.client.notify("textDocument/didSave", json!({ "textDocument": { "uri": uri } }));
    }

    /// Gives the client other settings.
    pub fn configure(&mut self, settings: Value) {
        self.client.notify("workspace/didChangeConfiguration", json!({ "settings": settings }));
    }

    /// Closes a file.
    pub fn close(&mut self, name: &str) {
        let uri = self.uri(name);
        self.client.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
        self.open.remove(&uri);
    }

    /// The codes of the next diagnostics that are sent of a file.
    #[track_caller]
    pub fn pushed(&mut self, name: &str) -> Vec<String> {
        codes(&self.pushed_whole(name)["diagnostics"])
    }

    /// The next diagnostics that are sent of a file, as they are sent.
    #[track_caller]
    pub fn pushed_whole(&mut self, name: &str) -> Value {
        let uri = self.uri(name);
        // The scan of the workspace may have found the file before it was opened; what it says then has no version.
        let is_open = self.open.contains(&uri);
        let is_wanted = |message: &Value| {
            let params = &message["params"];
            message["method"] == "textDocument/publishDiagnostics"
                && params["uri"] == uri.as_str()
                && (!is_open || params["version"].is_number())
        };
        self.client.wait_for(is_wanted)["params"].clone()
    }

    /// The codes of the diagnostics that a file has when it is asked for them.
    #[track_caller]
    pub fn pulled(&mut self, name: &str) -> Vec<String> {
        let uri = self.uri(name);
        codes(&self.client.result("textDocument/diagnostic", &uri)["items"])
    }

    /// Asks about a place in a file.
    #[track_caller]
    pub fn at(&mut self, method: &str, name: &str, place: (usize, usize)) -> Value {
        let (line, character) = place;
        let params = json!({
            "textDocument": { "uri": self.uri(name) },
            "position": { "line": line, "character": character },
            "context": { "includeDeclaration": true },
        });
        self.client.ask(method, params)
    }

    /// Renames what is at a place in a file; gives the answer.
    #[track_caller]
    pub fn rename(&mut self, name: &str, (line, character): (usize, usize), to: &str) -> Value {
        let params = json!({
            "textDocument": { "uri": self.uri(name) },
            "position": { "line": line, "character": character },
            "newName": to,
        });
        self.client.request("textDocument/rename", params)
    }

    /// Has the server execute a command; gives its answer.
    #[track_caller]
    pub fn execute(&mut self, command: &str, argument: Value) -> Value {
        let params = json!({ "command": command, "arguments": [argument] });
        self.client.request("workspace/executeCommand", params)
    }

    /// The code actions at a place, of some kinds or of any. Those that run programs are offered anywhere and are left out.
    #[track_caller]
    pub fn actions(&mut self, name: &str, place: (usize, usize), only: &[&str]) -> Value {
        self.all_actions(name, place, only).into_iter().filter(|action| !runs_programs(action)).collect()
    }

    /// The code actions at a place that run programs.
    #[track_caller]
    pub fn run_actions(&mut self, name: &str, place: (usize, usize)) -> Vec<Value> {
        self.all_actions(name, place, &[]).into_iter().filter(runs_programs).collect()
    }

    #[track_caller]
    fn all_actions(&mut self, name: &str, place: (usize, usize), only: &[&str]) -> Vec<Value> {
        let context = match only {
            [] => json!({ "diagnostics": [] }),
            only => json!({ "diagnostics": [], "only": only }),
        };
        let params = json!({
            "textDocument": { "uri": self.uri(name) }, "range": range(place, place), "context": context,
        });
        self.client.ask("textDocument/codeAction", params).as_array().unwrap().clone()
    }
}

fn runs_programs(action: &Value) -> bool {
    let command = action["command"]["command"].as_str();
    command.is_some_and(|command| {
        ["prose.run", "prose.dryRun", "prose.cancel", "prose.resume", "prose.fork"].contains(&command)
    })
}

/// The codes of diagnostics, in their order.
pub fn codes(diagnostics: &Value) -> Vec<String> {
    let diagnostics = diagnostics.as_array().unwrap().iter();
    diagnostics.map(|diagnostic| diagnostic["code"].as_str().unwrap().to_owned()).collect()
}
