//! A client of the debugger, over pipes in memory.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

use expect_test::Expect;
use prose_debug::Options;
use prose_run::{FromRun, Project, RunRequest, Start, UserFiles, UserTrust};
use prose_state::replay::RecordedRun;
use prose_vm::event::Event;
use serde_json::{Value as Json, json};
use tempfile::TempDir;

/// A folder with programs, and the answers for them.
pub(crate) struct World {
    folder: TempDir,
}

impl World {
    /// A folder with `main.prose` and a script that answers it.
    pub(crate) fn new(program: &str, answers: &str) -> Self {
        let world = Self { folder: prose_fixture::tempdir().unwrap() };
        world.write("main.prose", program);
        world.write("answers.toml", answers);
        world
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn options(&self) -> Options {
        let files = UserFiles::at(self.folder.path().join("state"));
        Options { folder: self.path(""), trust: UserTrust { files, is_trusted: true } }
    }

    /// A client that has not sent anything.
    pub(crate) fn client(&self) -> Client {
        Client::new(self.options())
    }

    /// A client that has started the program, and stops at its breakpoints.
    pub(crate) fn launch(&self, breakpoints: &[Json]) -> Client {
        self.launch_with(json!({}), breakpoints)
    }

    pub(crate) fn launch_with(&self, more: Json, breakpoints: &[Json]) -> Client {
        let mut arguments = json!({ "program": "main.prose", "script": "answers.toml" });
        for (name, value) in more.as_object().unwrap() {
            arguments[name] = value.clone();
        }
        self.start("launch", arguments, breakpoints)
    }

    /// A client that looks at the run that was started last.
    pub(crate) fn look_at_last(&self, more: Json, breakpoints: &[Json]) -> Client {
        let mut arguments = json!({ "run": self.last().head.run });
        for (name, value) in more.as_object().unwrap() {
            arguments[name] = value.clone();
        }
        self.start("attach", arguments, breakpoints)
    }

    pub(crate) fn start(&self, command: &str, arguments: Json, breakpoints: &[Json]) -> Client {
        let mut client = self.client();
        client.ok("initialize", json!({ "adapterID": "prose" }));
        client.ok(command, arguments);
        client.event("initialized");
        if !breakpoints.is_empty() {
            let source = json!({ "path": self.path("main.prose") });
            client.ok("setBreakpoints", json!({ "source": source, "breakpoints": breakpoints }));
        }
        client.ok("configurationDone", json!({}));
        client
    }

    /// Runs the program to its end, and returns what the debugger wrote.
    pub(crate) fn run(&self) -> String {
        let mut client = self.launch(&[]);
        client.event("terminated");
        client.close()
    }

    /// A replay of a run of the program.
    pub(crate) fn replay(&self, from: FromRun) -> RunRequest {
        self.request(Start::From(Box::new(from)))
    }

    /// A run of the program.
    pub(crate) fn request(&self, start: Start) -> RunRequest {
        let path = self.path("main.prose");
        let loaded = prose_project::load::load(&path.to_string_lossy(), Default::default()).unwrap();
        let program = loaded.program.unwrap_or_else(|refusal| panic!("{refusal}"));
        RunRequest::new(program, self.project(), start, loaded.rules.config(), self.options().trust)
    }

    pub(crate) fn project(&self) -> Project {
        Project::new(self.path(""))
    }

    /// The run that was started last.
    pub(crate) fn last(&self) -> RecordedRun {
        let run = self.project().last_run().unwrap().expect("a run was started");
        RecordedRun::in_folder(&run.folder).unwrap()
    }

    pub(crate) fn events(&self) -> Vec<Event> {
        self.last().events().unwrap().map(Result::unwrap).collect()
    }

    /// The events of a run.
    pub(crate) fn events_of(&self, run: &str) -> Vec<Event> {
        let recorded = RecordedRun::in_folder(&self.project().existing_run(run).unwrap()).unwrap();
        recorded.events().unwrap().map(Result::unwrap).collect()
    }
}

/// A line breakpoint.
pub(crate) fn line(line: u32) -> Json {
    json!({ "line": line })
}

/// A client of the debugger.
pub(crate) struct Client {
    output: Option<PipeWriter>,
    input: BufReader<PipeReader>,
    server: Option<JoinHandle<std::io::Result<()>>>,
    seq: u64,
    /// Events that were read before they were waited for.
    events: Vec<Json>,
    /// What the debugger wrote to the console.
    console: String,
}

impl Client {
    pub(crate) fn new(options: Options) -> Self {
        let (server_input, output) = std::io::pipe().unwrap();
        let (input, server_output) = std::io::pipe().unwrap();
        let server = std::thread::spawn(move || prose_debug::serve(server_input, server_output, options));
        Self {
            output: Some(output),
            input: BufReader::new(input),
            server: Some(server),
            seq: 0,
            events: Vec::new(),
            console: String::new(),
        }
    }

    pub(crate) fn send(&mut self, text: &str) {
        let output = self.output.as_mut().unwrap();
        write!(output, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
        output.flush().unwrap();
    }

    fn read(&mut self) -> Option<Json> {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if self.input.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            if let Some(value) = line.strip_prefix("Content-Length: ") {
                length = value.trim().parse().unwrap();
            }
            if line == "\r\n" {
                break;
            }
        }
        let mut message = vec![0; length];
        self.input.read_exact(&mut message).unwrap();
        let message: Json = serde_json::from_slice(&message).unwrap();
        if message["event"] == "output" {
            self.console += message["body"]["output"].as_str().unwrap();
        }
        Some(message)
    }

    /// Sends a request, and returns its response.
    pub(crate) fn request(&mut self, command: &str, arguments: Json) -> Json {
        self.seq += 1;
        let seq = self.seq;
        let request = json!({ "type": "request", "seq": seq, "command": command, "arguments": arguments });
        self.send(&request.to_string());
        loop {
            let message = self.read().expect("the debugger answers");
            match message["type"] == "response" {
                true => {
                    assert_eq!(
                        (&message["request_seq"], &message["command"]),
                        (&json!(seq), &json!(command))
                    );
                    return message;
                }
                false => self.events.push(message),
            }
        }
    }

    /// The body of a response.
    #[track_caller]
    pub(crate) fn ok(&mut self, command: &str, arguments: Json) -> Json {
        let response = self.request(command, arguments);
        assert_eq!(response["success"], true, "{response}");
        response["body"].clone()
    }

    /// Why a request is refused.
    #[track_caller]
    pub(crate) fn refused(&mut self, command: &str, arguments: Json) -> String {
        let response = self.request(command, arguments);
        assert_eq!(response["success"], false, "{response}");
        response["message"].as_str().unwrap().to_owned()
    }

    /// Waits for an event.
    pub(crate) fn event(&mut self, name: &str) -> Json {
        if let Some(at) = self.events.iter().position(|event| event["event"] == name) {
            return self.events.remove(at)["body"].clone();
        }
        loop {
            let message = self.read().unwrap_or_else(|| panic!("no {name}; console: {}", self.console));
            if message["event"] == name {
                return message["body"].clone();
            }
            self.events.push(message);
        }
    }

    /// Waits for one of two events, and returns its name.
    pub(crate) fn either(&mut self, one: &str, other: &str) -> String {
        let is_meant = |event: &Json| event["event"] == one || event["event"] == other;
        let name = |event: &Json| event["event"].as_str().unwrap().to_owned();
        if let Some(at) = self.events.iter().position(is_meant) {
            return name(&self.events.remove(at));
        }
        loop {
            let message = self.read().unwrap_or_else(|| panic!("no {one} and no {other}"));
            if is_meant(&message) {
                return name(&message);
            }
            self.events.push(message);
        }
    }

    /// Waits until the console has a text.
    pub(crate) fn console(&mut self, text: &str) {
        while !self.console.contains(text) {
            let message = self.read().unwrap_or_else(|| panic!("no {text}; console: {}", self.console));
            if message["event"].is_string() {
                self.events.push(message);
            }
        }
    }

    /// Waits for the next stop, and tells where it is: the reason, and the stack of its thread.
    pub(crate) fn stop(&mut self) -> String {
        let stopped = self.event("stopped");
        let mut text = stopped["reason"].as_str().unwrap().to_owned();
        if let Some(why) = stopped["text"].as_str() {
            write!(text, " ({why})").unwrap();
        }
        format!("{text}: {}", self.stack(stopped["threadId"].as_u64().unwrap()))
    }

    /// The numbers and names of the threads.
    pub(crate) fn threads(&mut self) -> Vec<(u64, String)> {
        let threads = self.ok("threads", json!({}));
        let threads = threads["threads"].as_array().unwrap().iter();
        threads
            .map(|thread| (thread["id"].as_u64().unwrap(), thread["name"].as_str().unwrap().to_owned()))
            .collect()
    }

    /// The stack of a thread.
    pub(crate) fn stack(&mut self, thread: u64) -> String {
        let frames = self.ok("stackTrace", json!({ "threadId": thread }));
        let frames: Vec<String> = frames["stackFrames"]
            .as_array()
            .unwrap()
            .iter()
            .map(|frame| {
                let name = frame["source"]["name"].as_str().unwrap_or("?");
                format!("{} {name}:{}", frame["name"].as_str().unwrap(), frame["line"])
            })
            .collect();
        frames.join(" < ")
    }

    /// Moves, and tells where it stops.
    pub(crate) fn go(&mut self, command: &str) -> String {
        self.ok(command, json!({ "threadId": 1 }));
        self.stop()
    }

    /// The top frame of a thread.
    pub(crate) fn frame(&mut self, thread: u64) -> Json {
        self.ok("stackTrace", json!({ "threadId": thread }))["stackFrames"][0]["id"].clone()
    }

    /// The scopes of the top frame of a thread, with what is in them.
    pub(crate) fn scopes(&mut self, thread: u64) -> Vec<(String, Json)> {
        let frame = self.frame(thread);
        let scopes = self.ok("scopes", json!({ "frameId": frame }));
        let scopes = scopes["scopes"].as_array().unwrap().iter();
        scopes
            .map(|scope| (scope["name"].as_str().unwrap().to_owned(), scope["variablesReference"].clone()))
            .collect()
    }

    /// The number of a scope of the top frame of the main thread.
    pub(crate) fn scope(&mut self, name: &str) -> Json {
        self.scope_of(1, name)
    }

    pub(crate) fn scope_of(&mut self, thread: u64, name: &str) -> Json {
        let scopes = self.scopes(thread);
        let found = scopes.iter().find(|(scope, _)| scope == name);
        found.unwrap_or_else(|| panic!("no scope {name}: {scopes:?}")).1.clone()
    }

    /// The rows of a number.
    pub(crate) fn rows(&mut self, reference: &Json) -> String {
        let rows = self.ok("variables", json!({ "variablesReference": reference }));
        let rows = rows["variables"].as_array().unwrap().iter();
        let rows: Vec<String> = rows
            .map(|row| format!("{} = {}", row["name"].as_str().unwrap(), row["value"].as_str().unwrap()))
            .collect();
        rows.join("\n")
    }

    /// The id of the run that is debugged.
    pub(crate) fn run(&mut self) -> String {
        let run = self.scope("Run");
        let rows = self.rows(&run);
        let id = rows.lines().find_map(|row| row.strip_prefix("run = "));
        id.unwrap_or_else(|| panic!("{rows}")).to_owned()
    }

    /// The variables of the top frame of the main thread.
    pub(crate) fn locals(&mut self) -> String {
        let locals = self.scope("Locals");
        self.rows(&locals)
    }

    pub(crate) fn evaluate(&mut self, expression: &str) -> String {
        let response = self.request("evaluate", json!({ "expression": expression, "context": "repl" }));
        let shown =
            if response["success"] == true { &response["body"]["result"] } else { &response["message"] };
        shown.as_str().unwrap().to_owned()
    }

    /// Disconnects, and returns what the debugger wrote.
    pub(crate) fn disconnect(mut self) -> String {
        self.ok("disconnect", json!({}));
        self.close()
    }

    /// Closes the connection after a part of a message, waits for the debugger, and returns what it wrote.
    pub(crate) fn break_off(mut self, part: &str) -> String {
        let output = self.output.as_mut().unwrap();
        write!(output, "Content-Length: 999\r\n\r\n{part}").unwrap();
        output.flush().unwrap();
        self.close()
    }

    /// Closes the connection, waits for the debugger, and returns what it wrote.
    pub(crate) fn close(mut self) -> String {
        self.output = None;
        while self.read().is_some() {}
        self.server.take().unwrap().join().unwrap().unwrap();
        let _ = &self.input;
        self.console
    }
}

/// Compares lines with expected ones.
#[track_caller]
pub(crate) fn check(lines: &[String], expected: Expect) {
    expected.assert_eq(&lines.join("\n"));
}

/// A path as JSON.
pub(crate) fn source(path: &Path) -> Json {
    json!({ "path": path })
}
