//! One `opencode serve` and the sessions in it.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use prose_registry::tls_config;
use reqwest::header::CONTENT_TYPE;
use reqwest::{Client, Method, RequestBuilder, Response, Url};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use smol_str::SmolStr;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::drivers::connection::{Connection, Endings, Program};
use crate::drivers::server_events::{Events, StreamEvent};

/// How long the server may take to start.
const START_TIME: Duration = Duration::from_secs(60);

/// How long the server may take to answer. The model works on a prompt after its answer.
const ANSWER_TIME: Duration = Duration::from_secs(60);

/// How long cancelled sessions may take to end before the server is stopped.
const PATIENCE: Duration = Duration::from_secs(2);

/// How long the server may run after its stream of events has ended.
const EXIT_TIME: Duration = Duration::from_secs(1);

/// The variables with the name and the password that the server asks for.
const USER: &str = "OPENCODE_SERVER_USERNAME";
const PASSWORD: &str = "OPENCODE_SERVER_PASSWORD";

/// The user of the server.
const NAME: &str = "prose";

/// A running server. Dropping it stops the process.
pub(super) struct Server {
    api: Api,
    shared: Arc<Shared>,
    reader: Mutex<Option<JoinHandle<()>>>,
}

/// Why a request has no answer.
#[derive(Debug)]
pub(super) enum CallError {
    /// The server has ended, with what it wrote.
    Ended(String),
    /// It did not start in time, or wrote something unexpected.
    NotStarted(String),
    /// It reported an error.
    Reported(String),
}

/// An event of a session.
pub(super) struct Incoming {
    /// The session, which may be one that a tool of the session has started.
    pub(super) session: SmolStr,
    /// The kind of event.
    pub(super) kind: String,
    pub(super) properties: Value,
}

/// The HTTP interface of the server.
#[derive(Clone)]
struct Api {
    client: Client,
    base: Url,
    password: Arc<str>,
}

struct Shared {
    state: Mutex<State>,
    /// The number of sessions that are being cancelled or deleted.
    closing: watch::Sender<usize>,
    /// What it wrote before it ended.
    end: watch::Sender<Option<String>>,
}

#[derive(Default)]
struct State {
    sessions: HashMap<SmolStr, UnboundedSender<Incoming>>,
    /// The sessions that tools have started, with the session of the tool.
    children: HashMap<SmolStr, SmolStr>,
}

impl Server {
    /// Starts a server, which accepts connections of this machine with a password.
    pub(super) async fn start(
        mut program: Program,
        supervisor: Option<&Path>,
        endings: &Arc<Endings>,
    ) -> io::Result<Result<Self, CallError>> {
        let password = new_password()?;
        program.variables.retain(|(name, _)| name != USER && name != PASSWORD);
        program.variables.push((USER.to_owned(), NAME.to_owned()));
        program.variables.push((PASSWORD.to_owned(), password.clone()));
        let connection = Connection::start(program, supervisor, endings).await?;
        let starting = timeout(START_TIME, Self::connect(connection, password.into()));
        Ok(starting.await.unwrap_or_else(|_| {
            Err(CallError::NotStarted(format!("it did not start within {} s", START_TIME.as_secs())))
        }))
    }

    async fn connect(mut connection: Connection, password: Arc<str>) -> Result<Self, CallError> {
        let base = loop {
            match connection.receive_text().await {
                // It writes other lines before, such as warnings.
                Ok(line) => {
                    let address = line.split_once("listening on ").map(|(_, address)| address.trim());
                    if let Some(address) = address.and_then(|address| Url::parse(address).ok()) {
                        break address;
                    }
                }
                Err(end) => return Err(CallError::Ended(connection.ending(&end))),
            }
        };
        let client = Client::builder()
            .tls_backend_preconfigured(tls_config(None).map_err(CallError::NotStarted)?)
            .redirect(reqwest::redirect::Policy::none())
            // The loopback of a proxy is another machine.
            .no_proxy()
            .build()
            .map_err(|error| CallError::NotStarted(error.to_string()))?;
        let api = Api { client, base, password };
        // Events are received before the first session begins.
        let events = api.request(Method::GET, "global/event", None).send().await;
        let events = events.and_then(Response::error_for_status).map_err(|error| lost(&error))?;
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            closing: watch::Sender::new(0),
            end: watch::Sender::new(None),
        });
        let reader = tokio::spawn(receive(connection, events, Arc::clone(&shared)));
        Ok(Self { api, shared, reader: Mutex::new(Some(reader)) })
    }

    /// Requests something and reads the answer. `folder` is the one in which the session works.
    pub(super) async fn call<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        folder: &Path,
        body: Option<&Value>,
    ) -> Result<T, CallError> {
        let called = self.api.call(method, path, folder, body).await;
        let text = match called {
            Ok(text) => text,
            Err(CallError::Ended(error)) => {
                return Err(CallError::Ended(self.ending().await.unwrap_or(error)));
            }
            Err(error) => return Err(error),
        };
        // Some answers have no content.
        let text = if text.trim().is_empty() { "null" } else { &text };
        serde_json::from_str(text).map_err(|error| {
            CallError::Reported(format!("`{path}` was answered in an unknown form: {error}"))
        })
    }

    /// What it wrote before it ended; `None` while it runs.
    pub(super) fn end(&self) -> Option<String> {
        self.shared.end.borrow().clone()
    }

    /// Waits a moment for the end of a server that does not answer.
    async fn ending(&self) -> Option<String> {
        let mut end = self.shared.end.subscribe();
        let _ = timeout(2 * EXIT_TIME, end.wait_for(Option::is_some)).await;
        self.end()
    }

    /// Receives the events of a session until the returned value is dropped. `is_temporary` if it is deleted then.
    pub(super) fn open(self: &Arc<Self>, id: SmolStr, folder: &Path, is_temporary: bool) -> OpenSession {
        let (sender, events) = mpsc::unbounded_channel();
        let mut state = self.shared.state();
        if self.end().is_none() {
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
        }
    }

    /// Stops the server after the end of cancelled sessions, or at once.
    pub(super) async fn stop(&self, at_once: bool) {
        let mut closing = self.shared.closing.subscribe();
        if !at_once {
            // A session that does not end is stopped with the server.
            let _ = timeout(PATIENCE, closing.wait_for(|count| *count == 0)).await;
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

impl Api {
    fn request(&self, method: Method, path: &str, folder: Option<&Path>) -> RequestBuilder {
        let mut url = self.base.clone();
        url.set_path(path);
        if let Some(folder) = folder {
            url.query_pairs_mut().append_pair("directory", &folder.to_string_lossy());
        }
        self.client.request(method, url).basic_auth(NAME, Some(&self.password))
    }

    /// The text of the answer.
    async fn call(
        &self,
        method: Method,
        path: &str,
        folder: &Path,
        body: Option<&Value>,
    ) -> Result<String, CallError> {
        let mut request = self.request(method, path, Some(folder)).timeout(ANSWER_TIME);
        if let Some(body) = body {
            request = request.header(CONTENT_TYPE, "application/json").body(body.to_string());
        }
        let answer = request.send().await.map_err(|error| lost(&error))?;
        let status = answer.status();
        let text = answer.text().await.map_err(|error| lost(&error))?;
        match status.is_success() {
            true => Ok(text),
            false => Err(CallError::Reported(format!("`{path}` was answered with status {status}: {text}"))),
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
}

impl OpenSession {
    /// Sends a prompt, on which the session works from then on. `body` is that of `prompt_async`.
    pub(super) async fn prompt(&mut self, body: &Value) -> Result<(), CallError> {
        self.is_at_work = true;
        let path = format!("session/{}/prompt_async", self.id);
        self.server.call(Method::POST, &path, &self.folder, Some(body)).await
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
            Ok(_) | Err(CallError::Reported(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// The next event; `None` when the server has ended.
    pub(super) async fn next(&mut self) -> Option<Incoming> {
        self.events.recv().await
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
        let mut state = self.server.shared.state();
        state.sessions.remove(&self.id);
        state.children.retain(|_, of| *of != self.id);
        drop(state);
        let has_ended = self.server.end().is_some();
        let (aborts, deletes) = (self.is_at_work, self.is_temporary);
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        if has_ended || !aborts && !deletes {
            return;
        }
        let (api, shared) = (self.server.api.clone(), Arc::clone(&self.server.shared));
        let (id, folder) = (self.id.clone(), self.folder.clone());
        shared.closing.send_modify(|count| *count += 1);
        runtime.spawn(async move {
            // The server may have ended, and the session with it.
            if aborts {
                let _ = api.call(Method::POST, &format!("session/{id}/abort"), &folder, None).await;
            }
            if deletes {
                let _ = api.call(Method::DELETE, &format!("session/{id}"), &folder, None).await;
            }
            shared.closing.send_modify(|count| *count -= 1);
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

    fn end(&self, said: String) {
        let mut state = self.state();
        self.end.send_replace(Some(said));
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
                break connection.ending(&end);
            },
            bytes = events.chunk() => {
                let Ok(Some(bytes)) = bytes else { break 'running stopped(&mut connection).await };
                for event in stream.push(&bytes) {
                    match event {
                        StreamEvent::Data(event) => shared.dispatch(event),
                        StreamEvent::Done | StreamEvent::Invalid => {
                            break 'running "it sent an unknown event".to_owned();
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
async fn stopped(connection: &mut Connection) -> String {
    match timeout(EXIT_TIME, connection.exited()).await {
        Ok(end) => connection.ending(&end),
        Err(_) => "it stopped sending events".to_owned(),
    }
}

fn lost(error: &reqwest::Error) -> CallError {
    CallError::Ended(format!("lost the connection to it: {}", error.to_string().trim_end()))
}

/// A password for one server.
fn new_password() -> io::Result<String> {
    let mut bytes = [0; 24];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
