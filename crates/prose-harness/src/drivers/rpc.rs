//! JSON-RPC with a process that all sessions of a run share: calls in both directions, and messages about sessions.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use prose_acp::code::AUTH_REQUIRED;
use prose_vm::effect::Failure;
use prose_vm::error::ErrorKind;
use serde_json::{Value, json};
use smol_str::SmolStr;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::sync::oneshot;

use super::connection::{Connection, Endings, Program, Sender};
use super::host::{AgentHost, ended};
use super::shared::Reader;
use crate::faults;
use crate::process::Ending;

/// A message about a session, other than the response to a call.
pub(super) struct Incoming {
    /// The id of a request.
    pub(super) id: Option<Value>,
    pub(super) method: String,
    pub(super) params: Value,
}

/// Why a call has no result.
#[derive(Debug)]
pub(super) enum CallError {
    /// The process reported an error.
    Reported {
        /// The code of the protocol.
        code: i64,
        /// What it reported.
        message: String,
    },
    /// The process has ended.
    Ended(Failure),
}

/// The result of a call.
pub(super) type Answer = oneshot::Receiver<Result<Value, CallError>>;

/// How the messages of a protocol are about sessions.
pub(super) trait Dialect: Default + Send + 'static {
    /// Whether messages name the version of JSON-RPC.
    const NAMES_VERSION: bool;

    /// The session that a message is about. Methods whose result does not matter can be called then.
    fn session_of(
        &mut self,
        method: &str,
        params: &Value,
        tell: &mut dyn FnMut(&str, Value),
    ) -> Option<SmolStr>;

    /// The answer to a request about which no session is there to decide: the result, or the error.
    fn refusal(method: &str) -> Result<Value, Value>;
}

/// A connection to a process. Dropping it stops the process.
pub(super) struct Rpc<D> {
    /// The name of the harness.
    pub(super) who: String,
    wire: Wire<D>,
    pub(super) reader: Reader,
}

/// What the task that reads needs of the connection, too.
struct Wire<D> {
    sender: Sender,
    state: Arc<Mutex<State<D>>>,
}

#[derive(Default)]
struct State<D> {
    calls: u64,
    waiting: HashMap<u64, Waiting>,
    sessions: HashMap<SmolStr, UnboundedSender<Incoming>>,
    dialect: D,
    end: Option<Failure>,
}

/// Who waits for the response to a call.
enum Waiting {
    Caller(oneshot::Sender<Result<Value, CallError>>),
    /// Work that was cancelled, which counts until its end is reported.
    Cancelled(Ending, AtEnd),
}

/// What is done with the result of work that was cancelled, if it has one. The work counts until the [`Ending`] is dropped.
pub(super) type AtEnd = Box<dyn FnOnce(Option<Value>, Ending) + Send>;

impl<D: Dialect> Rpc<D> {
    /// Starts the program of an agent.
    pub(super) async fn start(host: &AgentHost, program: Program) -> Result<Self, Failure> {
        let who = host.name().to_owned();
        let connection = host.start(program).await?;
        let Some(sender) = connection.sender() else {
            return Err(Failure::session(format!("the standard input of {who} is closed")));
        };
        let wire = Wire { sender, state: Arc::default() };
        let reader = Reader::spawn(wire.clone().receive(who.clone(), connection), Arc::<Endings>::default());
        Ok(Self { who, wire, reader })
    }

    /// Whether the process still runs.
    pub(super) fn is_running(&self) -> bool {
        self.wire.state().end.is_none()
    }

    /// Whether a session is at work.
    pub(super) fn is_used(&self) -> bool {
        !self.wire.state().sessions.is_empty()
    }

    /// Why the process has ended.
    pub(super) fn end(&self) -> Failure {
        let end = self.wire.state().end.clone();
        end.unwrap_or_else(|| Failure::session(format!("lost the connection to {}", self.who)))
    }

    /// Calls a method. Its result arrives in order with the messages about its session, which are received before it.
    pub(super) fn send(&self, method: &str, params: &Value) -> (u64, Answer) {
        let (answer, answered) = oneshot::channel();
        let mut state = self.wire.state();
        state.calls += 1;
        let call = state.calls;
        match &state.end {
            Some(end) => _ = answer.send(Err(CallError::Ended(end.clone()))),
            None => _ = state.waiting.insert(call, Waiting::Caller(answer)),
        }
        self.wire.call(call, method, params);
        (call, answered)
    }

    /// Calls a method and waits for its result.
    pub(super) async fn call(&self, method: &str, params: &Value) -> Result<Value, CallError> {
        let (_, answer) = self.send(method, params);
        answer.await.unwrap_or_else(|_| Err(CallError::Ended(self.end())))
    }

    /// Calls a method that must succeed.
    pub(super) async fn require(&self, method: &str, params: &Value) -> Result<Value, Failure> {
        self.call(method, params).await.map_err(|error| error.failure(&self.who))
    }

    /// Sends a notification.
    pub(super) fn notify(&self, method: &str, params: &Value) {
        self.wire.send(json!({ "method": method, "params": params }));
    }

    /// Answers a request of the process with a result or an error.
    pub(super) fn answer(&self, id: &Value, result: Result<Value, Value>) {
        self.wire.answer(id, result);
    }

    /// Receives the messages about a session until it is closed.
    pub(super) fn open(&self, session: &str) -> UnboundedReceiver<Incoming> {
        let (sender, messages) = mpsc::unbounded_channel();
        let mut state = self.wire.state();
        if state.end.is_none() {
            state.sessions.insert(session.into(), sender);
        }
        messages
    }

    /// Closes a session, and lets its protocol note that while the process runs. Methods whose result does not matter can be called then.
    pub(super) fn close(&self, session: &str, note: impl FnOnce(&mut D, &mut dyn FnMut(&str, Value))) {
        let mut state = self.wire.state();
        state.sessions.remove(session);
        self.wire.note(&mut state, note);
    }

    /// Lets the protocol note something while the process runs. Methods whose result does not matter can be called then.
    pub(super) fn note(&self, note: impl FnOnce(&mut D, &mut dyn FnMut(&str, Value))) {
        self.wire.note(&mut self.wire.state(), note);
    }

    /// Waits for the response to a call of cancelled work before the process is stopped, and does something with its result. False if the response has come.
    pub(super) fn cancel(&self, call: u64, at_end: AtEnd) -> bool {
        let mut state = self.wire.state();
        let Some(waiting) = state.waiting.get_mut(&call) else { return false };
        *waiting = Waiting::Cancelled(self.reader.cancelled.begin(), at_end);
        true
    }
}

impl<D> Clone for Wire<D> {
    fn clone(&self) -> Self {
        Self { sender: self.sender.clone(), state: Arc::clone(&self.state) }
    }
}

impl<D: Dialect> Wire<D> {
    fn state(&self) -> MutexGuard<'_, State<D>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn send(&self, mut message: Value) {
        if D::NAMES_VERSION {
            message["jsonrpc"] = "2.0".into();
        }
        self.sender.send(&message);
    }

    fn call(&self, call: u64, method: &str, params: &Value) {
        self.send(json!({ "id": call, "method": method, "params": params }));
    }

    /// Calls a method whose result does not matter.
    fn tell(&self, calls: &mut u64, method: &str, params: &Value) {
        *calls += 1;
        self.call(*calls, method, params);
    }

    fn note(&self, state: &mut State<D>, note: impl FnOnce(&mut D, &mut dyn FnMut(&str, Value))) {
        if state.end.is_none() {
            let State { calls, dialect, .. } = state;
            note(dialect, &mut |method, params| self.tell(calls, method, &params));
        }
    }

    fn answer(&self, id: &Value, result: Result<Value, Value>) {
        let (name, value) = match result {
            Ok(result) => ("result", result),
            Err(error) => ("error", error),
        };
        self.send(json!({ "id": id, name: value }));
    }

    async fn receive(self, who: String, mut connection: Connection) {
        let end = loop {
            match connection.receive().await {
                Ok(message) => self.dispatch(message),
                Err(end) => break end,
            }
        };
        let failure = ended(&who, &connection, &end);
        let mut state = self.state();
        for (_, waiting) in state.waiting.drain() {
            if let Waiting::Caller(caller) = waiting {
                let _ = caller.send(Err(CallError::Ended(failure.clone())));
            }
        }
        state.end = Some(failure);
        state.sessions.clear();
        state.dialect = D::default();
    }

    fn dispatch(&self, mut message: Value) {
        let Some(method) = message["method"].as_str().map(str::to_owned) else {
            let Some(call) = message["id"].as_u64() else { return };
            let result = match message.get("error") {
                Some(error) => Err(error.into()),
                None => Ok(message["result"].take()),
            };
            let waiting = self.state().waiting.remove(&call);
            match (waiting, result) {
                (Some(Waiting::Caller(caller)), result) => _ = caller.send(result),
                (Some(Waiting::Cancelled(ending, at_end)), result) => at_end(result.ok(), ending),
                (None, _) => {}
            }
            return;
        };
        let id = message.get("id").cloned();
        let params = message["params"].take();
        let mut state = self.state();
        let State { calls, dialect, sessions, .. } = &mut *state;
        let tell = &mut |method: &str, params| self.tell(calls, method, &params);
        let session = dialect.session_of(&method, &params, tell);
        if let Some(session) = session.and_then(|session| sessions.get(&session)) {
            let _ = session.send(Incoming { id, method, params });
        } else if let Some(id) = id {
            self.answer(&id, D::refusal(&method));
        }
    }
}

impl CallError {
    /// The failure of a session whose call failed.
    pub(super) fn failure(self, who: &str) -> Failure {
        match self {
            CallError::Ended(failure) => failure,
            CallError::Reported { code: AUTH_REQUIRED, message } => {
                faults::failure_of(ErrorKind::Auth, who, None, &message)
            }
            CallError::Reported { message, .. } => faults::failure(who, None, &message),
        }
    }
}

impl From<&Value> for CallError {
    fn from(error: &Value) -> Self {
        let message = error["message"].as_str().unwrap_or("unknown error");
        // The details of many agents are in the data, such as the answer of the provider.
        let data = &error["data"];
        let details = data.as_str().or(data["details"].as_str()).or(data["message"].as_str());
        let message = details.map_or_else(|| message.to_owned(), |details| format!("{message}: {details}"));
        CallError::Reported { code: error["code"].as_i64().unwrap_or_default(), message }
    }
}
