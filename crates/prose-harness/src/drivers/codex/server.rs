//! One `codex app-server` and the threads that sessions work in.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use smol_str::SmolStr;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;

use crate::drivers::connection::{Connection, Endings, Program, Sender};

/// How long cancelled turns may take to end before the server is stopped.
const PATIENCE: Duration = Duration::from_secs(2);

/// A running server. Dropping it stops the process.
pub(super) struct Server {
    sender: Sender,
    shared: Arc<Shared>,
    reader: Mutex<Option<JoinHandle<()>>>,
    /// The names of the MCP servers that the user has configured.
    pub(super) mcp_servers: Vec<String>,
}

/// Why a call has no result.
#[derive(Debug)]
pub(super) enum CallError {
    /// The server has ended, with what it wrote.
    Ended(String),
    /// It reported an error.
    Reported(String),
}

/// A notification or a request for a thread.
pub(super) struct Incoming {
    /// The id of a request.
    pub(super) request: Option<Value>,
    pub(super) method: String,
    pub(super) params: Value,
}

struct Shared {
    state: Mutex<State>,
    /// The number of cancelled turns that have not ended.
    cancelled: watch::Sender<usize>,
}

#[derive(Default)]
struct State {
    next_call: u64,
    calls: HashMap<u64, oneshot::Sender<Result<Value, String>>>,
    threads: HashMap<SmolStr, UnboundedSender<Incoming>>,
    /// The threads of agents that other threads have started, with the thread of the session.
    children: HashMap<SmolStr, SmolStr>,
    cancelled: HashSet<SmolStr>,
    end: Option<String>,
}

impl Server {
    /// Starts a server.
    pub(super) async fn start(
        program: Program,
        supervisor: Option<&Path>,
        endings: &Arc<Endings>,
    ) -> io::Result<Result<Self, CallError>> {
        let connection = Connection::start(program, supervisor, endings).await?;
        let Some(sender) = connection.sender() else {
            return Err(io::Error::other("its standard input is closed"));
        };
        let shared = Arc::new(Shared { state: Mutex::default(), cancelled: watch::Sender::new(0) });
        let reader = tokio::spawn(receive(connection, Arc::clone(&shared), sender.clone()));
        let mut server = Self { sender, shared, reader: Mutex::new(Some(reader)), mcp_servers: Vec::new() };
        Ok(server.initialize().await.map(|()| server))
    }

    async fn initialize(&mut self) -> Result<(), CallError> {
        let client = json!({ "name": "prose", "title": "prose", "version": env!("CARGO_PKG_VERSION") });
        let capabilities = json!({ "experimentalApi": true });
        self.call("initialize", json!({ "clientInfo": client, "capabilities": capabilities })).await?;
        self.sender.send(&json!({ "method": "initialized" }));
        let config = self.call("config/read", json!({})).await?;
        let servers = config.pointer("/config/mcp_servers").and_then(Value::as_object);
        self.mcp_servers = servers.map(|servers| servers.keys().cloned().collect()).unwrap_or_default();
        Ok(())
    }

    /// Calls a method and waits for its result.
    pub(super) async fn call(&self, method: &str, params: Value) -> Result<Value, CallError> {
        let (answer, answered) = oneshot::channel();
        let id = {
            let mut state = self.shared.state();
            if let Some(end) = &state.end {
                return Err(CallError::Ended(end.clone()));
            }
            state.next_call += 1;
            let id = state.next_call;
            state.calls.insert(id, answer);
            id
        };
        self.sender.send(&json!({ "id": id, "method": method, "params": params }));
        match answered.await {
            Ok(Ok(result)) => Ok(result),
            Ok(Err(error)) => Err(CallError::Reported(error)),
            Err(_) => Err(CallError::Ended(self.end().unwrap_or_default())),
        }
    }

    /// What it wrote before it ended; `None` while it runs.
    pub(super) fn end(&self) -> Option<String> {
        self.shared.state().end.clone()
    }

    /// Answers a request.
    pub(super) fn answer(&self, request: &Value, result: &Value) {
        self.sender.send(&json!({ "id": request, "result": result }));
    }

    /// Receives what concerns a thread until the returned value is dropped.
    pub(super) fn open(self: &Arc<Self>, thread: SmolStr) -> OpenThread {
        let (sender, events) = mpsc::unbounded_channel();
        let mut state = self.shared.state();
        if state.end.is_none() {
            state.threads.insert(thread.clone(), sender);
        }
        drop(state);
        OpenThread { server: Arc::clone(self), id: thread, events, turn: Turn::None }
    }

    /// Stops the server after the end of cancelled turns, or at once.
    pub(super) async fn stop(&self, at_once: bool) {
        let mut cancelled = self.shared.cancelled.subscribe();
        if !at_once {
            // A turn that does not end is stopped with the server.
            let _ = tokio::time::timeout(PATIENCE, cancelled.wait_for(|count| *count == 0)).await;
        }
        if let Some(reader) = self.take_reader() {
            reader.abort();
            let _ = reader.await;
        }
    }

    fn take_reader(&self) -> Option<JoinHandle<()>> {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The connection is dropped with the task, which stops the process.
        let _ = self.take_reader().map(|reader| reader.abort());
    }
}

/// A thread in which a session works. Dropping it interrupts the turn.
pub(super) struct OpenThread {
    server: Arc<Server>,
    pub(super) id: SmolStr,
    events: UnboundedReceiver<Incoming>,
    turn: Turn,
}

/// The turn of a thread.
enum Turn {
    None,
    /// It is being started.
    Starting,
    Running(SmolStr),
}

impl OpenThread {
    /// Starts a turn. `params` are those of `turn/start` without the thread.
    pub(super) async fn start_turn(&mut self, mut params: Value) -> Result<(), CallError> {
        params["threadId"] = self.id.as_str().into();
        self.turn = Turn::Starting;
        let server = Arc::clone(&self.server);
        let started = server.call("turn/start", params).await;
        self.turn = match started.as_ref().ok().and_then(|result| result.pointer("/turn/id")?.as_str()) {
            Some(turn) => Turn::Running(turn.into()),
            None => Turn::None,
        };
        started.map(|_| ())
    }

    /// The next notification or request; `None` when the server has ended.
    pub(super) async fn next(&mut self) -> Option<Incoming> {
        self.events.recv().await
    }

    /// Whether a notification is about a turn of this thread before the present one, as after a thread was copied.
    pub(super) fn is_of_earlier_turn(&self, params: &Value) -> bool {
        let Turn::Running(turn) = &self.turn else { return false };
        let about = params["turnId"].as_str().filter(|_| params["threadId"].as_str() == Some(&self.id));
        about.is_some_and(|about| about != turn)
    }

    /// Waits a moment for the end of a turn that has failed, so that another one can start in the thread.
    pub(super) async fn until_ended(&mut self) {
        let Turn::Running(turn) = &self.turn else { return };
        let turn = turn.clone();
        let is_end = |it: &Incoming| {
            it.method == "turn/completed"
                && it.params.pointer("/turn/id").and_then(Value::as_str) == Some(&turn)
        };
        let ended = tokio::time::timeout(PATIENCE, async {
            while let Some(incoming) = self.events.recv().await {
                if is_end(&incoming) {
                    return;
                }
            }
        });
        if ended.await.is_ok() {
            self.ended();
        }
    }

    /// Notes that the turn has ended.
    pub(super) fn ended(&mut self) {
        self.turn = Turn::None;
    }
}

impl Drop for OpenThread {
    fn drop(&mut self) {
        let Self { server, id, turn, .. } = self;
        let mut state = server.shared.state();
        state.threads.remove(id);
        if state.end.is_some() {
            return;
        }
        match turn {
            Turn::None => {
                state.children.retain(|_, of| of != id);
                state.forget(&server.sender, id);
            }
            Turn::Starting | Turn::Running(_) => {
                state.cancelled.insert(id.clone());
                server.shared.cancelled.send_modify(|count| *count += 1);
                // A turn that is being started is interrupted when its start is reported.
                if let Turn::Running(turn) = turn {
                    state.interrupt(&server.sender, id, turn);
                }
            }
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn dispatch(&self, message: Value, sender: &Sender) {
        let Value::Object(mut message) = message else { return };
        let id = message.remove("id");
        let Some(Value::String(method)) = message.remove("method") else {
            let error = message.remove("error");
            let error = error.map(|error| error["message"].as_str().unwrap_or("unknown error").to_owned());
            let answer = error.map_or_else(|| Ok(message.remove("result").unwrap_or_default()), Err);
            let call = id.and_then(|id| self.state().calls.remove(&id.as_u64()?));
            // The session may have been cancelled.
            let _ = call.map(|call| call.send(answer));
            return;
        };
        let params = message.remove("params").unwrap_or_default();
        let mut state = self.state();
        if method == "thread/started" {
            state.adopt(&params);
        }
        let named = params["threadId"].as_str().unwrap_or_default();
        let thread = state.children.get(named).map_or_else(|| SmolStr::from(named), Clone::clone);
        if state.cancelled.contains(&thread) && thread == named {
            match method.as_str() {
                "turn/started" => {
                    if let Some(turn) = params.pointer("/turn/id").and_then(Value::as_str) {
                        state.interrupt(sender, &thread, turn);
                    }
                }
                "turn/completed" => {
                    state.cancelled.remove(&thread);
                    state.forget(sender, &thread);
                    self.cancelled.send_modify(|count| *count -= 1);
                }
                _ => {}
            }
        }
        match state.threads.get(&thread) {
            // The turn of another agent is not that of the session.
            Some(_) if thread != named && method.starts_with("turn/") => {}
            Some(session) => {
                let _ = session.send(Incoming { request: id, method, params });
            }
            // No session is there to decide.
            None => {
                if let Some(request) = id {
                    sender.send(&json!({ "id": request, "result": refusal(&method) }));
                }
            }
        }
    }

    fn end(&self, said: String) {
        let mut state = self.state();
        state.end = Some(said);
        state.calls.clear();
        state.threads.clear();
        state.cancelled.clear();
        self.cancelled.send_replace(0);
    }
}

impl State {
    /// Notes the thread of an agent that a session has started.
    fn adopt(&mut self, params: &Value) {
        let thread = &params["thread"];
        if let (Some(child), Some(parent)) = (thread["id"].as_str(), thread["parentThreadId"].as_str()) {
            let session = self.children.get(parent).map_or_else(|| SmolStr::from(parent), Clone::clone);
            if self.threads.contains_key(&session) {
                self.children.insert(child.into(), session);
            }
        }
    }

    fn interrupt(&mut self, sender: &Sender, thread: &str, turn: &str) {
        self.notify(sender, "turn/interrupt", &json!({ "threadId": thread, "turnId": turn }));
    }

    /// Lets the server forget a thread.
    fn forget(&mut self, sender: &Sender, thread: &str) {
        self.notify(sender, "thread/unsubscribe", &json!({ "threadId": thread }));
    }

    /// Calls a method whose result does not matter.
    fn notify(&mut self, sender: &Sender, method: &str, params: &Value) {
        self.next_call += 1;
        sender.send(&json!({ "id": self.next_call, "method": method, "params": params }));
    }
}

/// The answer to a request that denies it.
pub(super) fn refusal(method: &str) -> Value {
    match method {
        "item/commandExecution/requestApproval" | "item/fileChange/requestApproval" => {
            json!({ "decision": "decline" })
        }
        "item/permissions/requestApproval" => json!({ "permissions": {}, "scope": "turn" }),
        "mcpServer/elicitation/request" => json!({ "action": "decline", "content": null, "_meta": null }),
        "item/tool/requestUserInput" => json!({ "answers": {} }),
        _ => json!({}),
    }
}

async fn receive(mut connection: Connection, shared: Arc<Shared>, sender: Sender) {
    let end = loop {
        match connection.receive().await {
            Ok(message) => shared.dispatch(message, &sender),
            Err(end) => break end,
        }
    };
    shared.end(connection.ending(&end));
}
