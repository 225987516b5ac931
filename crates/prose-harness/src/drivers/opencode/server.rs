//! One `opencode serve` and the sessions in it.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use prose_vm::activity::{Activity, Reporter};
use prose_vm::effect::Failure;
use reqwest::{Method, Response, Url};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use smol_str::SmolStr;
use tokio::runtime::Handle;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::sync::watch;
use tokio::time::timeout;

use super::NAME;
use super::api::{Api, crashed, lost, not_started, protect};
use super::spent::used;
use crate::drivers::connection::{Connection, Program};
use crate::drivers::host::{AgentHost, ended};
use crate::drivers::rpc::CallError;
use crate::drivers::server_events::{Events, StreamEvent};
use crate::drivers::shared::{PATIENCE, PATIENCE_AFTER_QUESTION, Reader, SharedProcess};
use crate::gate::Fault;

/// How long the server may take to start.
const START_TIME: Duration = Duration::from_secs(60);

/// How long the server may run after its stream of events has ended.
const EXIT_TIME: Duration = Duration::from_secs(1);

/// A running server. Dropping it stops the process.
pub(super) struct Server {
    api: Api,
    shared: Arc<Shared>,
    reader: Reader,
}

/// An event of a session.
pub(super) struct Incoming {
    /// The session, which may be one that a tool of the session has started.
    pub(super) session: SmolStr,
    /// The kind of event.
    pub(super) kind: String,
    pub(super) properties: Value,
}

struct Shared {
    state: Mutex<State>,
    /// Why it has ended.
    end: watch::Sender<Option<Failure>>,
}

#[derive(Default)]
struct State {
    sessions: HashMap<SmolStr, UnboundedSender<Incoming>>,
    /// The sessions that tools have started, with the session of the tool.
    children: HashMap<SmolStr, SmolStr>,
}

impl SharedProcess for Server {
    fn reader(&self) -> &Reader {
        &self.reader
    }

    fn is_running(&self) -> bool {
        self.shared.end.borrow().is_none()
    }
}

impl Server {
    /// Starts a server, which accepts connections of this machine with a password.
    pub(super) async fn start(host: &AgentHost, mut program: Program) -> Result<Self, Failure> {
        let password = protect(&mut program)?;
        let connection = host.start(program).await?;
        let starting = timeout(START_TIME, Self::connect(connection, password));
        let in_time = format!("it did not start within {} s", START_TIME.as_secs());
        starting.await.unwrap_or_else(|_| Err(not_started(&in_time)))
    }

    async fn connect(mut connection: Connection, password: Arc<str>) -> Result<Self, Failure> {
        let base = loop {
            match connection.receive_text().await {
                // It writes other lines before, such as warnings.
                Ok(line) => {
                    let address = line.split_once("listening on ").map(|(_, address)| address.trim());
                    if let Some(address) = address.and_then(|address| Url::parse(address).ok()) {
                        break address;
                    }
                }
                Err(end) => return Err(ended(NAME, &connection, &end)),
            }
        };
        let api = Api::new(base, password)?;
        // Events are received before the first session begins.
        let events = api.request(Method::GET, "global/event", None).send().await;
        let events = events.and_then(Response::error_for_status).map_err(|error| lost(&error))?;
        let shared = Arc::new(Shared { state: Mutex::default(), end: watch::Sender::new(None) });
        let reader = Reader::spawn(receive(connection, events, Arc::clone(&shared)), Arc::default());
        Ok(Self { api, shared, reader })
    }

    /// Requests something and reads the answer. `folder` is the one in which the session works.
    pub(super) async fn call<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        folder: &Path,
        body: Option<&Value>,
    ) -> Result<T, CallError> {
        match self.api.read(method, path, folder, body).await {
            Err(CallError::Ended(lost)) => Err(CallError::Ended(self.ending(lost).await)),
            answer => answer,
        }
    }

    /// Why a server has ended that does not answer, for which it may take a moment.
    pub(super) async fn ending(&self, lost: Failure) -> Failure {
        let mut end = self.shared.end.subscribe();
        let ended = timeout(2 * EXIT_TIME, end.wait_for(Option::is_some)).await;
        ended.ok().and_then(|end| end.ok()?.clone()).unwrap_or(lost)
    }

    /// Receives the events of a session until the returned value is dropped. `is_temporary` if it is deleted then.
    pub(super) fn open(self: &Arc<Self>, id: SmolStr, folder: &Path, is_temporary: bool) -> OpenSession {
        let (sender, events) = mpsc::unbounded_channel();
        let mut state = self.shared.state();
        if self.is_running() {
            state.sessions.insert(id.clone(), sender);
        }
        drop(state);
        OpenSession {
            server: Arc::clone(self),
            id,
            folder: folder.into(),
            events,
            is_at_work: false,
            is_temporary,
            asking: None,
            reporter: None,
        }
    }
}

/// A session that works. Dropping it cancels the work.
pub(super) struct OpenSession {
    server: Arc<Server>,
    pub(super) id: SmolStr,
    folder: Box<Path>,
    events: UnboundedReceiver<Incoming>,
    is_at_work: bool,
    is_temporary: bool,
    /// The permission question that a person is asked.
    pub(super) asking: Option<String>,
    /// Who receives what the work uses.
    reporter: Option<Reporter>,
}

impl OpenSession {
    /// Sends a prompt, on which the session works from then on. `body` is the rest of that of `prompt_async`.
    pub(super) async fn prompt(
        &mut self,
        mut body: Value,
        prompt: &str,
        reporter: &Reporter,
    ) -> Result<(), Fault> {
        body["parts"] = json!([{ "type": "text", "text": prompt }]);
        self.is_at_work = true;
        self.reporter = Some(reporter.clone());
        let path = format!("session/{}/prompt_async", self.id);
        let sent = self.server.call(Method::POST, &path, &self.folder, Some(&body)).await;
        sent.map_err(|error| Fault::repeatable(error.failure(NAME)))
    }

    /// Answers a permission question. It is not an error if the question does not exist any more.
    pub(super) async fn reply(
        &self,
        question: &str,
        is_allowed: bool,
        reason: &str,
    ) -> Result<(), CallError> {
        let path = format!("permission/{question}/reply");
        let body = match is_allowed {
            true => json!({ "reply": "once" }),
            false => json!({ "reply": "reject", "message": reason }),
        };
        match self.server.call::<Value>(Method::POST, &path, &self.folder, Some(&body)).await {
            Ok(_) | Err(CallError::Reported { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// The next event; `None` when the server has ended.
    pub(super) async fn next(&mut self) -> Option<Incoming> {
        self.events.recv().await
    }

    /// Ends work whose tool waits for a person, and reports what it has used: the request that has made the call has figures only after the call.
    async fn reject(mut self, question: &str) {
        let path = format!("permission/{question}/reply");
        let body = json!({ "reply": "reject" });
        let _ = self.server.call::<Value>(Method::POST, &path, &self.folder, Some(&body)).await;
        let mut steps = HashSet::new();
        let rest = async {
            while let Some(event) = self.events.recv().await {
                if event.kind == "session.idle" && event.session == self.id {
                    return true;
                }
                if let Some((step, used)) = used(&event.kind, &event.properties)
                    && steps.insert(step)
                    && let Some(reporter) = &self.reporter
                {
                    reporter.report(Activity::Used(used));
                }
            }
            false
        };
        // What does not end is cancelled when this is dropped.
        self.is_at_work = !timeout(PATIENCE_AFTER_QUESTION, rest).await.unwrap_or_default();
    }

    /// Notes that the work has ended.
    pub(super) fn ended(&mut self) {
        self.is_at_work = false;
    }

    /// Waits a moment for the last event of work that has failed, so that more work can begin.
    pub(super) async fn until_idle(&mut self) {
        let idle = async {
            while let Some(event) = self.events.recv().await {
                if event.kind == "session.idle" && event.session == self.id {
                    return;
                }
            }
        };
        let _ = timeout(PATIENCE, idle).await;
        while self.events.try_recv().is_ok() {}
    }

    /// Cancels the work and waits until it has ended.
    pub(super) async fn cancel(&mut self) {
        if std::mem::take(&mut self.is_at_work) {
            let path = format!("session/{}/abort", self.id);
            // The server may have ended, and the session with it.
            let _ = self.server.call::<Value>(Method::POST, &path, &self.folder, None).await;
        }
    }
}

impl Drop for OpenSession {
    fn drop(&mut self) {
        if let Some((question, runtime)) = self.asking.take().zip(Handle::try_current().ok()) {
            let session = Self {
                server: Arc::clone(&self.server),
                id: self.id.clone(),
                folder: self.folder.clone(),
                events: std::mem::replace(&mut self.events, mpsc::unbounded_channel().1),
                is_at_work: std::mem::take(&mut self.is_at_work),
                is_temporary: std::mem::take(&mut self.is_temporary),
                asking: None,
                reporter: self.reporter.take(),
            };
            let ending = self.server.reader.rejected.begin();
            drop(runtime.spawn(async move {
                session.reject(&question).await;
                drop(ending);
            }));
            return;
        }
        let mut state = self.server.shared.state();
        state.sessions.remove(&self.id);
        state.children.retain(|_, of| *of != self.id);
        drop(state);
        let (aborts, deletes) = (self.is_at_work, self.is_temporary);
        let Ok(runtime) = Handle::try_current() else { return };
        if !self.server.is_running() || !aborts && !deletes {
            return;
        }
        let (api, closing) = (self.server.api.clone(), self.server.reader.cancelled.begin());
        let (id, folder) = (self.id.clone(), self.folder.clone());
        runtime.spawn(async move {
            // The server may have ended, and the session with it.
            if aborts {
                let _ = api.call(Method::POST, &format!("session/{id}/abort"), &folder, None).await;
            }
            if deletes {
                let _ = api.call(Method::DELETE, &format!("session/{id}"), &folder, None).await;
            }
            drop(closing);
        });
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Passes an event on to its session.
    fn dispatch(&self, mut event: Value) {
        let mut payload = event["payload"].take();
        let Value::String(kind) = payload["type"].take() else { return };
        let properties = payload["properties"].take();
        let Some(id) = properties["sessionID"].as_str().map(SmolStr::from) else { return };
        let mut state = self.state();
        if kind == "session.created"
            && let Some(parent) = properties.pointer("/info/parentID").and_then(Value::as_str)
        {
            let session = state.children.get(parent).cloned().unwrap_or_else(|| parent.into());
            if state.sessions.contains_key(&session) {
                state.children.insert(id.clone(), session);
            }
        }
        let session = state.children.get(&id).unwrap_or(&id);
        if let Some(session) = state.sessions.get(session) {
            let _ = session.send(Incoming { session: id, kind, properties });
        }
    }

    fn end(&self, failure: Failure) {
        let mut state = self.state();
        self.end.send_replace(Some(failure));
        state.sessions.clear();
        state.children.clear();
    }
}

/// Reads the events and the output of the server until it ends.
async fn receive(mut connection: Connection, mut events: Response, shared: Arc<Shared>) {
    let mut stream = Events::default();
    let end = 'running: loop {
        tokio::select! {
            line = connection.receive_text() => if let Err(end) = line {
                break ended(NAME, &connection, &end);
            },
            bytes = events.chunk() => {
                let Ok(Some(bytes)) = bytes else { break 'running stopped(&mut connection).await };
                for event in stream.push(&bytes) {
                    match event {
                        StreamEvent::Data(event) => shared.dispatch(event),
                        StreamEvent::Done | StreamEvent::Invalid => {
                            break 'running crashed("it sent an unknown event");
                        }
                    }
                }
            }
        }
    };
    // What was cancelled ends with the server.
    shared.end(end);
    drop(connection);
}

/// How a server ended whose events have ended.
async fn stopped(connection: &mut Connection) -> Failure {
    match timeout(EXIT_TIME, connection.exited()).await {
        Ok(end) => ended(NAME, connection, &end),
        Err(_) => crashed("it stopped sending events"),
    }
}
