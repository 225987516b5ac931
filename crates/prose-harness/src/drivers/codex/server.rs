//! One `codex app-server` and the threads that sessions work in.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use prose_vm::activity::{Activity, Reporter};
use prose_vm::effect::Failure;
use serde_json::{Value, json};
use smol_str::SmolStr;
use tokio::runtime::Handle;
use tokio::sync::mpsc::{self, UnboundedReceiver};
use tokio::time::timeout;

use super::turn::Meter;
use crate::drivers::connection::Program;
use crate::drivers::host::AgentHost;
use crate::drivers::rpc::{Dialect, Incoming, Rpc};
use crate::drivers::shared::{PATIENCE, Reader, SharedProcess};
use crate::process::Ending;

/// A running server. Dropping it stops the process.
pub(super) struct Server {
    pub(super) rpc: Rpc<Threads>,
    /// The names of the MCP servers that the user has configured.
    pub(super) mcp_servers: Vec<String>,
}

/// The threads of a server, as far as their messages are not those of a session.
#[derive(Default)]
pub(super) struct Threads {
    /// The threads of agents that other threads have started, with the thread of the session.
    children: HashMap<SmolStr, SmolStr>,
    /// The threads whose turns were cancelled and have not ended.
    cancelled: HashMap<SmolStr, Ending>,
    /// The threads that have ended, which the server forgets when it waits for the model of another one: it answers one call after the other, and forgetting
    /// takes longer than most.
    ended: Vec<SmolStr>,
}

impl Dialect for Threads {
    const NAMES_VERSION: bool = false;

    fn session_of(
        &mut self,
        method: &str,
        params: &Value,
        tell: &mut dyn FnMut(&str, Value),
    ) -> Option<SmolStr> {
        if method == "thread/started" {
            self.adopt(&params["thread"]);
        }
        let named = params["threadId"].as_str()?;
        if let Some(session) = self.children.get(named) {
            // The turn of another agent is not that of the session.
            return (!method.starts_with("turn/")).then(|| session.clone());
        }
        if let Some(turn) = params.pointer("/turn/id").filter(|_| self.cancelled.contains_key(named)) {
            match method {
                "turn/started" => tell("turn/interrupt", json!({ "threadId": named, "turnId": turn })),
                "turn/completed" => {
                    self.cancelled.remove(named);
                    tell(FORGET, json!({ "threadId": named }));
                }
                _ => {}
            }
        }
        Some(named.into())
    }

    fn refusal(method: &str) -> Result<Value, Value> {
        Ok(refusal(method))
    }
}

/// Notifications that come with each thread or turn, and say nothing that is used.
const UNUSED: &[&str] = &["account/rateLimits/updated", "thread/settings/updated", "thread/status/changed"];

/// The method that lets the server forget a thread.
const FORGET: &str = "thread/unsubscribe";

impl Threads {
    /// Notes the thread of an agent that a session has started.
    fn adopt(&mut self, thread: &Value) {
        if let (Some(child), Some(parent)) = (thread["id"].as_str(), thread["parentThreadId"].as_str()) {
            let session = self.children.get(parent).map_or_else(|| SmolStr::from(parent), Clone::clone);
            self.children.insert(child.into(), session);
        }
    }
}

impl SharedProcess for Server {
    fn reader(&self) -> &Reader {
        &self.rpc.reader
    }

    fn is_running(&self) -> bool {
        self.rpc.is_running()
    }
}

impl Server {
    /// Starts a server.
    pub(super) async fn start(host: &AgentHost, program: Program) -> Result<Self, Failure> {
        let rpc = Rpc::start(host, program).await?;
        let client = json!({ "name": "prose", "title": "prose", "version": env!("CARGO_PKG_VERSION") });
        let capabilities = json!({ "experimentalApi": true, "optOutNotificationMethods": UNUSED });
        rpc.require("initialize", &json!({ "clientInfo": client, "capabilities": capabilities })).await?;
        rpc.notify("initialized", &json!({}));
        let config = rpc.require("config/read", &json!({})).await?;
        let servers = config.pointer("/config/mcp_servers").and_then(Value::as_object);
        let mcp_servers = servers.map(|servers| servers.keys().cloned().collect()).unwrap_or_default();
        Ok(Self { rpc, mcp_servers })
    }

    /// Receives what concerns a thread until the returned value is dropped.
    pub(super) fn open(self: &Arc<Self>, thread: SmolStr) -> OpenThread {
        let events = self.rpc.open(&thread);
        OpenThread {
            server: Arc::clone(self),
            id: thread,
            events,
            turn: Turn::None,
            meter: Meter::default(),
            is_asking: false,
            reporter: None,
        }
    }
}

/// A thread in which a session works. Dropping it interrupts the turn.
pub(super) struct OpenThread {
    pub(super) server: Arc<Server>,
    pub(super) id: SmolStr,
    events: UnboundedReceiver<Incoming>,
    turn: Turn,
    meter: Meter,
    /// Whether Codex waits for the answer to a request.
    pub(super) is_asking: bool,
    /// Who receives what the turn uses.
    reporter: Option<Reporter>,
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
    pub(super) async fn start_turn(&mut self, mut params: Value, reporter: &Reporter) -> Result<(), Failure> {
        params["threadId"] = self.id.as_str().into();
        self.reporter = Some(reporter.clone());
        self.turn = Turn::Starting;
        let server = Arc::clone(&self.server);
        let started = server.rpc.require("turn/start", &params).await;
        server.rpc.note(|threads, tell| {
            threads.ended.drain(..).for_each(|thread| tell(FORGET, json!({ "threadId": thread })));
        });
        let turn = started.as_ref().ok().and_then(|result| result.pointer("/turn/id")?.as_str());
        self.turn = turn.map_or(Turn::None, |turn| Turn::Running(turn.into()));
        started.map(|_| ())
    }

    /// The next notification or request; `None` when the server has ended.
    pub(super) async fn next(&mut self) -> Option<Incoming> {
        self.events.recv().await
    }

    /// Counts what a notification says was used. Returns whether it is about a turn of this thread before the present one, as after a thread was copied.
    pub(super) fn count(&mut self, method: &str, params: &Value) -> bool {
        let Turn::Running(turn) = &self.turn else { return false };
        let about = params["turnId"].as_str().filter(|_| params["threadId"].as_str() == Some(&self.id));
        let is_earlier = about.is_some_and(|about| about != turn);
        let used = self.meter.add(method, params, is_earlier);
        if let Some((used, reporter)) = used.zip(self.reporter.as_ref()) {
            reporter.report(Activity::Used(used));
        }
        is_earlier
    }

    /// Waits a moment for the end of a turn that has failed, so that another one can start in the thread.
    pub(super) async fn until_ended(&mut self) {
        let Turn::Running(turn) = &self.turn else { return };
        let turn = turn.clone();
        let is_end = |it: &Incoming| {
            it.method == "turn/completed"
                && it.params.pointer("/turn/id").and_then(Value::as_str) == Some(&turn)
        };
        let ended = timeout(PATIENCE, async {
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

/// How long the model may write after a call of a tool that waits for an answer.
const WRITING_TIME: Duration = Duration::from_secs(1);

impl Drop for OpenThread {
    fn drop(&mut self) {
        let turn = std::mem::replace(&mut self.turn, Turn::None);
        let Self { server, id, .. } = self;
        if let Turn::None = turn {
            return server.rpc.close(id, |threads, _| {
                threads.children.retain(|_, of| of != id);
                threads.ended.push(id.clone());
            });
        }
        let cancelled = Cancelled {
            server: Arc::downgrade(server),
            id: id.clone(),
            events: std::mem::replace(&mut self.events, mpsc::unbounded_channel().1),
            meter: std::mem::take(&mut self.meter),
            reporter: self.reporter.take(),
            waits: self.is_asking,
        };
        let ending = server.rpc.reader.cancelled.begin();
        match (turn, Handle::try_current()) {
            (Turn::Running(turn), Ok(runtime)) => {
                drop(runtime.spawn(async move {
                    cancelled.end(&turn).await;
                    drop(ending);
                }));
            }
            // A turn that is being started is interrupted when its start is reported.
            _ => server.rpc.close(id, |threads, _| {
                threads.cancelled.insert(id.clone(), ending);
            }),
        }
    }
}

/// A thread whose turn was cancelled and has not ended.
struct Cancelled {
    server: Weak<Server>,
    id: SmolStr,
    events: UnboundedReceiver<Incoming>,
    meter: Meter,
    reporter: Option<Reporter>,
    /// Whether Codex waits for an answer, so that it does nothing meanwhile.
    waits: bool,
}

impl Cancelled {
    /// Interrupts the turn and reports what it has used until its end.
    async fn end(mut self, turn: &SmolStr) {
        if self.waits {
            // An answer of the model that is interrupted has no figures.
            let _ = timeout(WRITING_TIME, async { while self.meter.is_behind && self.next().await {} }).await;
        }
        if let Some(server) = self.server.upgrade() {
            let about = json!({ "threadId": self.id, "turnId": turn });
            server.rpc.note(|_, tell| tell("turn/interrupt", about));
        }
        self.waits = false;
        while self.next().await {}
        let id = self.id.clone();
        if let Some(server) = self.server.upgrade() {
            server.rpc.close(&id, |threads, tell| {
                threads.children.retain(|_, of| *of != id);
                tell(FORGET, json!({ "threadId": id }));
            });
        }
    }

    /// Handles what comes next; false after the end of the turn.
    async fn next(&mut self) -> bool {
        let Some(Incoming { id, method, params }) = self.events.recv().await else { return false };
        if let Some(id) = id {
            // What waits is answered by the interruption.
            if let Some(server) = self.server.upgrade().filter(|_| !self.waits) {
                server.rpc.answer(&id, Ok(refusal(&method)));
            }
            return true;
        }
        let used = self.meter.add(&method, &params, false);
        if let Some((used, reporter)) = used.zip(self.reporter.as_ref()) {
            reporter.report(Activity::Used(used));
        }
        method != "turn/completed"
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
