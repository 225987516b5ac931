//! A project with a server, and an editor that speaks the Agent Client Protocol with it.

use std::path::Path;
use std::sync::Arc;

use prose_config::Config;
use prose_project::trust::TrustStore;
use prose_run::{TrustSubject, UserFiles, UserTrust};
use prose_serve::Options;
use prose_serve::acp::serve;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};
use tokio::task::JoinHandle;

/// A folder with files, a server for it, and an editor.
pub(crate) struct Editor {
    folder: Arc<TempDir>,
    user: Arc<TempDir>,
    input: Lines<BufReader<ReadHalf<DuplexStream>>>,
    output: WriteHalf<DuplexStream>,
    server: JoinHandle<std::io::Result<()>>,
    last: u64,
    /// The id of the option that answers each permission request; none to cancel it.
    pub(crate) choice: Option<&'static str>,
    /// Whether permission requests are not answered.
    pub(crate) leaves_open: bool,
    /// What the editor was told since the last prompt.
    told: Vec<Value>,
}

impl Editor {
    /// Serves a folder with these files: paths and texts.
    pub(crate) async fn new(files: &[(&str, &str)], program: Option<&str>) -> Self {
        let (folder, user) = (prose_fixture::tempdir().unwrap(), prose_fixture::tempdir().unwrap());
        for (path, text) in files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        Self::of_folder(Arc::new(folder), Arc::new(user), program).await
    }

    async fn of_folder(folder: Arc<TempDir>, user: Arc<TempDir>, program: Option<&str>) -> Self {
        let (near, far) = tokio::io::duplex(1 << 20);
        let trust = UserTrust { files: UserFiles::at(user.path()), is_trusted: false };
        let options = Options { folder: folder.path().to_owned(), offline: true, trust };
        let (input, output) = tokio::io::split(far);
        let server = tokio::spawn(serve(options, program.map(str::to_owned), input, output));
        let (input, output) = tokio::io::split(near);
        let input = BufReader::new(input).lines();
        let mut editor = Self {
            folder,
            user,
            input,
            output,
            server,
            last: 0,
            choice: None,
            leaves_open: false,
            told: Vec::new(),
        };
        let met = editor.call("initialize", json!({ "protocolVersion": 1 })).await.unwrap();
        assert_eq!(met["protocolVersion"], 1);
        editor
    }

    /// Closes the connection and opens another one, as an editor that is started again.
    pub(crate) async fn restarted(self) -> Self {
        let Self { folder, user, output, input, server, .. } = self;
        drop((input, output));
        server.await.unwrap().unwrap();
        Self::of_folder(folder, user, None).await
    }

    /// Another editor with the same folder and a server of its own.
    pub(crate) async fn another(&self) -> Self {
        Self::of_folder(Arc::clone(&self.folder), Arc::clone(&self.user), None).await
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Has the user trust the project with these settings.
    pub(crate) fn trust(&self, settings: &str) {
        let subject = TrustSubject::new(self.path(), &Config::parse(settings).0);
        TrustStore::in_files(UserFiles::at(self.user.path())).grant(&subject).unwrap();
    }

    pub(crate) async fn send(&mut self, message: Value) {
        let line = format!("{message}\n");
        self.output.write_all(line.as_bytes()).await.unwrap();
    }

    /// Sends a request without waiting for its result.
    pub(crate) async fn start(&mut self, method: &str, params: Value) -> u64 {
        self.last += 1;
        let id = self.last;
        self.send(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
        id
    }

    /// The next message; permission requests are answered.
    async fn receive(&mut self) -> Value {
        let line = self.input.next_line().await.unwrap().expect("the server is there");
        let message: Value = serde_json::from_str(&line).unwrap();
        if message["method"] == "session/request_permission" && !self.leaves_open {
            let outcome = match self.choice {
                Some(id) => json!({ "outcome": "selected", "optionId": id }),
                None => json!({ "outcome": "cancelled" }),
            };
            let result = json!({ "outcome": outcome });
            self.send(json!({ "jsonrpc": "2.0", "id": message["id"], "result": result })).await;
        }
        message
    }

    /// Waits for an update that fits.
    pub(crate) async fn until(&mut self, fits: impl Fn(&Value) -> bool) {
        loop {
            let message = self.receive().await;
            let has_come = fits(&message["params"]["update"]);
            self.told.push(message);
            if has_come {
                return;
            }
        }
    }

    /// Waits for the result of a request.
    pub(crate) async fn result(&mut self, id: u64) -> Result<Value, Value> {
        loop {
            let mut message = self.receive().await;
            if message["id"] == id && message.get("method").is_none() {
                return match message.get("error") {
                    Some(error) => Err(error.clone()),
                    None => Ok(message["result"].take()),
                };
            }
            self.told.push(message);
        }
    }

    pub(crate) async fn call(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        let id = self.start(method, params).await;
        self.result(id).await
    }

    /// Opens a session, and waits for its commands.
    pub(crate) async fn session(&mut self) -> String {
        let cwd = self.path().to_owned();
        let opened = self.call("session/new", json!({ "cwd": cwd, "mcpServers": [] })).await.unwrap();
        self.until(|update| update["sessionUpdate"] == "available_commands_update").await;
        self.told.clear();
        opened["sessionId"].as_str().unwrap().to_owned()
    }

    /// Loads a session, and returns what the editor shows of it.
    pub(crate) async fn load(&mut self, session: &str) -> String {
        let cwd = self.path().to_owned();
        let params = json!({ "sessionId": session, "cwd": cwd, "mcpServers": [] });
        let loaded = self.call("session/load", params).await;
        let shown = self.shown(session, loaded.clone());
        if loaded.is_ok() {
            self.until(|update| update["sessionUpdate"] == "available_commands_update").await;
            self.told.clear();
        }
        shown
    }

    /// The parameters of a prompt.
    pub(crate) fn prompt_of(session: &str, text: &str) -> Value {
        json!({ "sessionId": session, "prompt": [{ "type": "text", "text": text }] })
    }

    /// Prompts, and returns what the editor shows until the end of the turn.
    pub(crate) async fn prompt(&mut self, session: &str, text: &str) -> String {
        let id = self.start("session/prompt", Self::prompt_of(session, text)).await;
        let result = self.result(id).await;
        self.shown(session, result)
    }

    /// What the editor shows: each update in short, and the result. The last state of the plan is shown in place of all.
    pub(crate) fn shown(&mut self, session: &str, result: Result<Value, Value>) -> String {
        let told = std::mem::take(&mut self.told);
        let is_plan = |message: &Value| message["params"]["update"]["sessionUpdate"] == "plan";
        let last_plan = told.iter().rposition(is_plan);
        let mut shown = String::new();
        for (index, message) in told.iter().enumerate() {
            if !is_plan(message) || Some(index) == last_plan {
                shown.push_str(&line(message));
            }
        }
        shown.push_str(&match result {
            Ok(result) => match result["stopReason"].as_str() {
                Some(reason) => format!("-> {reason}\n"),
                None => format!("-> {result}\n"),
            },
            Err(error) => format!("-> error {}: {}\n", error["code"], error["message"].as_str().unwrap()),
        });
        let folder = self.folder.path().canonicalize().unwrap();
        let shown = shown.replace(session, "RUN").replace(&*folder.to_string_lossy(), "$DIR");
        // How long it took.
        let took = |line: &str| match line.strip_prefix("notice: Run RUN: ") {
            Some(rest) => format!("notice: Run RUN: {}", rest.rsplit_once(", ").unwrap().0),
            None => line.to_owned(),
        };
        shown.lines().map(|line| took(line) + "\n").collect()
    }

    /// Closes the connection, and waits until the server has ended.
    pub(crate) async fn close(self) -> Arc<TempDir> {
        let Self { folder, output, input, server, .. } = self;
        drop((input, output));
        server.await.unwrap().unwrap();
        folder
    }
}

/// A message in a line.
fn line(message: &Value) -> String {
    let update = &message["params"]["update"];
    let kind = update["sessionUpdate"].as_str().or(message["method"].as_str()).unwrap_or("?");
    let text = update["content"]["text"].as_str().unwrap_or_default().trim();
    match kind {
        "user_message_chunk" => format!("user: {text}\n"),
        "agent_thought_chunk" => format!("thought: {text}\n"),
        "agent_message_chunk" if update["_meta"]["prose"]["kind"] == "notice" => format!("notice: {text}\n"),
        "agent_message_chunk" => format!("message: {text}\n"),
        "plan" => update["entries"].as_array().unwrap().iter().fold(String::new(), |plan, entry| {
            let mark = match entry["status"].as_str().unwrap() {
                "completed" => "x",
                "in_progress" => ">",
                _ => " ",
            };
            format!("{plan}[{mark}] {}\n", entry["content"].as_str().unwrap())
        }),
        "tool_call" => format!(
            "call {}: {} ({})\n",
            update["toolCallId"].as_str().unwrap(),
            update["title"].as_str().unwrap(),
            update["status"].as_str().unwrap()
        ),
        "tool_call_update" => {
            let content = update["content"][0]["content"]["text"].as_str().unwrap_or_default();
            let content: String = content.lines().next().unwrap_or_default().chars().take(40).collect();
            let id = update["toolCallId"].as_str().unwrap();
            format!("call {id}: {} {content}\n", update["status"].as_str().unwrap())
        }
        "session/request_permission" => {
            let options = message["params"]["options"].as_array().unwrap().iter();
            let options = options.map(|option| {
                format!("{} ({})", option["name"].as_str().unwrap(), option["kind"].as_str().unwrap())
            });
            format!("asked: {}\n", options.collect::<Vec<_>>().join(", "))
        }
        "available_commands_update" => {
            let commands = update["availableCommands"].as_array().unwrap().iter();
            commands.fold(String::new(), |all, command| {
                let hint = command["input"]["hint"].as_str().unwrap_or_default();
                format!(
                    "{all}/{} {hint} -- {}\n",
                    command["name"].as_str().unwrap(),
                    command["description"].as_str().unwrap()
                )
            })
        }
        other => format!("{other}\n"),
    }
}
