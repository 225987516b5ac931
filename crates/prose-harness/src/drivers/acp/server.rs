//! One process of an agent, and the sessions of the protocol in it.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use prose_acp::code::AUTH_REQUIRED;
use prose_acp::{outcome, unknown_method};
use prose_vm::effect::Failure;
use prose_vm::error::ErrorKind;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::protocol::{Initialized, read};
use crate::drivers::connection::{Connection, End, Endings, Program, Sender};
use crate::faults;

/// How long cancelled sessions may take to end before the process is stopped.
const PATIENCE: Duration = Duration::from_secs(2);

/// A running agent. Dropping it stops the process.
pub(super) struct Server {
    /// The name of the harness.
    who: String,
    sender: Sender,
    shared: Arc<Shared>,
    reader: Mutex<Option<JoinHandle<()>>>,
    /// What it said about itself.
    pub(super) met: Initialized,
}

/// A message of the agent about a session, other than the response to a request.
pub(super) struct Incoming {
    /// The id of a request.
    pub(super) id: Option<Value>,
    pub(super) method: String,
    pub(super) params: Value,
}

/// Why a request has no result.
pub(super) enum CallError {
    /// The agent reported an error.
    Reported {
        /// The code of the protocol.
        code: i64,
        /// What it reported.
        message: String,
    },
    /// The agent has ended.
    Failed(Failure),
}

/// The result of a request that was sent.
pub(super) type Answer = oneshot::Receiver<Result<Value, CallError>>;

struct Shared {
    state: Mutex<State>,
    /// The number of cancelled prompts that have not ended.
    cancelled: watch::Sender<usize>,
}

#[derive(Default)]
struct State {
    calls: i64,
    answers: HashMap<i64, oneshot::Sender<Result<Value, CallError>>>,
    sessions: HashMap<String, UnboundedSender<Incoming>>,
    /// The prompts that were cancelled.
    cancelled: HashSet<i64>,
    end: Option<Failure>,
}

impl Server {
    /// Starts an agent and introduces the client.
    pub(super) async fn start(
        who: &str,
        program: Program,
        supervisor: Option<&Path>,
        endings: &Arc<Endings>,
        introduction: &Value,
    ) -> io::Result<Result<Self, Failure>> {
        let connection = Connection::start(program, supervisor, endings).await?;
        let Some(sender) = connection.sender() else {
            return Err(io::Error::other("its standard input is closed"));
        };
        let shared = Arc::new(Shared { state: Mutex::default(), cancelled: watch::Sender::new(0) });
        let receiving = receive(who.to_owned(), connection, Arc::clone(&shared), sender.clone());
        let mut server = Self {
            who: who.to_owned(),
            sender,
            shared,
            reader: Mutex::new(Some(tokio::spawn(receiving))),
            met: Initialized::default(),
        };
        let met = server.require("initialize", introduction).await;
        Ok(met.map(|met| {
            server.met = met;
            server
        }))
    }

    /// The name of the harness.
    pub(super) fn who(&self) -> &str {
        &self.who
    }

    /// Whether the process still runs.
    pub(super) fn is_running(&self) -> bool {
        self.shared.state().end.is_none()
    }

    /// Whether a session is at work.
    pub(super) fn is_used(&self) -> bool {
        !self.shared.state().sessions.is_empty()
    }

    /// Sends a request. Its result arrives in order with the messages about its session, which are received before it.
    pub(super) fn send(&self, method: &str, params: &impl Serialize) -> (i64, Answer) {
        let (answer, answered) = oneshot::channel();
        let mut state = self.shared.state();
        state.calls += 1;
        let call = state.calls;
        match &state.end {
            Some(end) => _ = answer.send(Err(CallError::Failed(end.clone()))),
            None => _ = state.answers.insert(call, answer),
        }
        self.sender.send(&json!({ "jsonrpc": "2.0", "id": call, "method": method, "params": params }));
        (call, answered)
    }

    /// Sends a request and waits for its result.
    pub(super) async fn call(&self, method: &str, params: &impl Serialize) -> Result<Value, CallError> {
        let (_, answer) = self.send(method, params);
        answer.await.unwrap_or_else(|_| Err(CallError::Failed(self.end())))
    }

    /// Sends a request that must succeed.
    pub(super) async fn require<T: serde::de::DeserializeOwned>(
        &self,
        method: &str,
        params: &impl Serialize,
    ) -> Result<T, Failure> {
        let result = self.call(method, params).await.map_err(|error| self.failure(error))?;
        read(&self.who, method, &result)
    }

    /// Sends a notification.
    fn notify(&self, method: &str, params: &Value) {
        self.sender.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Answers a request of the agent.
    pub(super) fn answer(&self, id: &Value, result: Result<Value, Value>) {
        answer(&self.sender, id, result);
    }

    /// Why the agent has ended.
    pub(super) fn end(&self) -> Failure {
        let end = self.shared.state().end.clone();
        end.unwrap_or_else(|| Failure::session(format!("lost the connection to {}", self.who)))
    }

    pub(super) fn failure(&self, error: CallError) -> Failure {
        match error {
            CallError::Failed(failure) => failure,
            CallError::Reported { code: AUTH_REQUIRED, message } => {
                faults::failure_of(ErrorKind::Auth, &self.who, None, &message)
            }
            CallError::Reported { message, .. } => faults::failure(&self.who, None, &message),
        }
    }

    /// Receives what concerns a session until the returned value is dropped.
    pub(super) fn open(self: &Arc<Self>, id: String) -> OpenSession {
        let (sender, messages) = mpsc::unbounded_channel();
        let mut state = self.shared.state();
        if state.end.is_none() {
            state.sessions.insert(id.clone(), sender);
        }
        drop(state);
        OpenSession { server: Arc::clone(self), id, messages, prompt: None }
    }

    /// Stops the process after the end of cancelled prompts, or at once.
    pub(super) async fn stop(&self, at_once: bool) {
        let mut cancelled = self.shared.cancelled.subscribe();
        if !at_once {
            // What does not end is stopped with the process.
            let _ = timeout(PATIENCE, cancelled.wait_for(|count| *count == 0)).await;
        }
        let reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(reader) = reader {
            reader.abort();
            let _ = reader.await;
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The connection is dropped with the task, which stops the process.
        let reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner).take();
        let _ = reader.map(|reader| reader.abort());
    }
}

/// A session of the protocol. Dropping it cancels the work.
pub(super) struct OpenSession {
    pub(super) server: Arc<Server>,
    pub(super) id: String,
    pub(super) messages: UnboundedReceiver<Incoming>,
    /// The prompt at work.
    prompt: Option<i64>,
}

impl OpenSession {
    /// Sends a prompt.
    pub(super) fn prompt(&mut self, params: &Value) -> Answer {
        let (call, answer) = self.server.send("session/prompt", params);
        self.prompt = Some(call);
        answer
    }

    /// Notes that the prompt has ended.
    pub(super) fn ended(&mut self) {
        self.prompt = None;
    }
}

impl Drop for OpenSession {
    fn drop(&mut self) {
        let Self { server, id, prompt, .. } = self;
        let mut state = server.shared.state();
        state.sessions.remove(id);
        if state.end.is_some() {
            return;
        }
        let params = json!({ "sessionId": id });
        if let Some(call) = prompt.filter(|call| state.answers.remove(call).is_some()) {
            state.cancelled.insert(call);
            server.shared.cancelled.send_modify(|count| *count += 1);
            drop(state);
            server.notify("session/cancel", &params);
        } else {
            drop(state);
        }
        // Some agents have a process for each session.
        if server.met.closes_sessions() {
            let _ = server.send("session/close", &params);
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn dispatch(&self, mut message: Value, sender: &Sender) {
        let Some(method) = message.get("method").and_then(Value::as_str).map(str::to_owned) else {
            let Some(call) = message["id"].as_i64() else { return };
            let result = match message.get("error") {
                Some(error) => Err(error.into()),
                None => Ok(message["result"].take()),
            };
            let mut state = self.state();
            if state.cancelled.remove(&call) {
                self.cancelled.send_modify(|count| *count -= 1);
            }
            let answer = state.answers.remove(&call);
            let _ = answer.map(|answer| answer.send(result));
            return;
        };
        let id = message.get("id").cloned();
        let params = message["params"].take();
        let session = params["sessionId"].as_str().unwrap_or_default();
        let state = self.state();
        if let Some(session) = state.sessions.get(session) {
            let _ = session.send(Incoming { id, method, params });
            return;
        }
        drop(state);
        // Outside of a session, nothing that an agent reports or requests is of use.
        if let Some(id) = id {
            let refusal = match method.as_str() {
                "session/request_permission" => Ok(outcome(None)),
                _ => Err(unknown_method(&method)),
            };
            answer(sender, &id, refusal);
        }
    }

    fn end(&self, failure: Failure) {
        let mut state = self.state();
        for (_, answer) in state.answers.drain() {
            let _ = answer.send(Err(CallError::Failed(failure.clone())));
        }
        state.end = Some(failure);
        state.sessions.clear();
        state.cancelled.clear();
        self.cancelled.send_replace(0);
    }
}

fn answer(sender: &Sender, id: &Value, result: Result<Value, Value>) {
    let (name, value) = match result {
        Ok(result) => ("result", result),
        Err(error) => ("error", error),
    };
    sender.send(&json!({ "jsonrpc": "2.0", "id": id, name: value }));
}

impl From<&Value> for CallError {
    fn from(error: &Value) -> Self {
        let message = error["message"].as_str().unwrap_or("unknown error");
        // The details of many agents are in the data, such as the answer of the provider.
        let message = match &error["data"] {
            Value::Null => message.to_owned(),
            Value::String(details) => format!("{message}: {details}"),
            data => match data["details"].as_str().or_else(|| data["message"].as_str()) {
                Some(details) => format!("{message}: {details}"),
                None => message.to_owned(),
            },
        };
        CallError::Reported { code: error["code"].as_i64().unwrap_or_default(), message }
    }
}

async fn receive(who: String, mut connection: Connection, shared: Arc<Shared>, sender: Sender) {
    let end = loop {
        match connection.receive().await {
            Ok(message) => shared.dispatch(message, &sender),
            Err(end) => break end,
        }
    };
    let said = connection.said();
    shared.end(match end {
        End::Exited(status) => {
            let kind = match faults::classify(None, &said) {
                ErrorKind::Session => ErrorKind::AgentCrashed,
                kind => kind,
            };
            let said = if said.is_empty() { status.to_string() } else { said };
            faults::failure_of(kind, &who, None, &said)
        }
        End::LineTooLong => Failure::session(format!("{who} sent a message that is too long")),
        End::Lost(error) => Failure::session(format!("lost the connection to {who}: {error}")),
    });
}
