//! One process of an agent, and the sessions of the protocol in it.

use std::sync::Arc;

use prose_acp::{outcome, unknown_method};
use prose_vm::effect::Failure;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use smol_str::SmolStr;
use tokio::sync::mpsc::UnboundedReceiver;

use super::protocol::{Initialized, read};
use crate::drivers::connection::Program;
use crate::drivers::host::AgentHost;
use crate::drivers::rpc::{Answer, Dialect, Incoming, Rpc};
use crate::drivers::shared::{Reader, SharedProcess};

/// A running agent. Dropping it stops the process.
pub(super) struct Server {
    pub(super) rpc: Rpc<Acp>,
    /// What it said about itself.
    pub(super) met: Initialized,
}

/// The messages of the protocol.
#[derive(Default)]
pub(super) struct Acp;

impl Dialect for Acp {
    const NAMES_VERSION: bool = true;

    fn session_of(&mut self, _: &str, params: &Value, _: &mut dyn FnMut(&str, Value)) -> Option<SmolStr> {
        params["sessionId"].as_str().map(SmolStr::from)
    }

    fn refusal(method: &str) -> Result<Value, Value> {
        match method {
            "session/request_permission" => Ok(outcome(None)),
            _ => Err(unknown_method(method)),
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
    /// Starts an agent and introduces the client.
    pub(super) async fn start(
        host: &AgentHost,
        program: Program,
        introduction: &Value,
    ) -> Result<Self, Failure> {
        let rpc = Rpc::start(host, program).await?;
        let met = rpc.require("initialize", introduction).await?;
        let met = read(&rpc.who, "initialize", &met)?;
        Ok(Self { rpc, met })
    }

    /// The name of the harness.
    pub(super) fn who(&self) -> &str {
        &self.rpc.who
    }

    /// Sends a request that must succeed.
    pub(super) async fn require<T: DeserializeOwned>(
        &self,
        method: &str,
        params: &Value,
    ) -> Result<T, Failure> {
        read(self.who(), method, &self.rpc.require(method, params).await?)
    }

    /// Receives what concerns a session until the returned value is dropped.
    pub(super) fn open(self: &Arc<Self>, id: String) -> OpenSession {
        let messages = self.rpc.open(&id);
        OpenSession { server: Arc::clone(self), id, messages, prompt: None }
    }
}

/// A session of the protocol. Dropping it cancels the work.
pub(super) struct OpenSession {
    pub(super) server: Arc<Server>,
    pub(super) id: String,
    pub(super) messages: UnboundedReceiver<Incoming>,
    /// The prompt at work.
    prompt: Option<u64>,
}

impl OpenSession {
    /// Sends a prompt.
    pub(super) fn prompt(&mut self, params: &Value) -> Answer {
        let (call, answer) = self.server.rpc.send("session/prompt", params);
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
        let params = json!({ "sessionId": id });
        if prompt.is_some_and(|call| server.rpc.cancel(call)) {
            server.rpc.notify("session/cancel", &params);
        }
        server.rpc.close(id, |_, tell| {
            // Some agents have a process for each session.
            if server.met.closes_sessions() {
                tell("session/close", params);
            }
        });
    }
}
