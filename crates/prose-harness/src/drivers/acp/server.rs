//! One process of an agent, and the sessions of the protocol in it.

use std::path::Path;
use std::sync::{Arc, Weak};
use std::time::Duration;

use prose_acp::{outcome, unknown_method};
use prose_vm::activity::{Activity, Reporter};
use prose_vm::effect::{Failure, Usage};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use smol_str::SmolStr;
use tokio::runtime::Handle;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::sleep;

use super::protocol::{Ended, Initialized, read};
use super::spending::Spending;
use crate::drivers::connection::Program;
use crate::drivers::host::AgentHost;
use crate::drivers::opencode::Api;
use crate::drivers::rpc::{Answer, Dialect, Incoming, Rpc};
use crate::drivers::shared::{Reader, SharedProcess};

/// A running agent. Dropping it stops the process.
pub(super) struct Server {
    pub(super) rpc: Rpc<Acp>,
    /// What it said about itself.
    pub(super) met: Initialized,
    /// Its interface besides the protocol.
    api: Option<Api>,
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
    /// Starts an agent, and introduces the client.
    pub(super) async fn start(
        host: &AgentHost,
        program: Program,
        introduction: &Value,
        api: Option<Api>,
    ) -> Result<Self, Failure> {
        let rpc = Rpc::start(host, program).await?;
        let met = rpc.require("initialize", introduction).await?;
        let met = read(&rpc.who, "initialize", &met)?;
        Ok(Self { rpc, met, api })
    }

    /// Whether it does what its configuration says, and has no modes in which it asks before it acts.
    pub(super) fn is_configured(&self) -> bool {
        self.api.is_some()
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

    /// Receives what concerns a session, which may be an earlier one, until the returned value is dropped.
    pub(super) async fn open(self: &Arc<Self>, id: String, folder: &Path, is_earlier: bool) -> OpenSession {
        let messages = self.rpc.open(&id);
        let (server, spending) = (Arc::clone(self), Spending::new(is_earlier));
        let mut session =
            OpenSession { server, id, folder: folder.into(), messages, prompt: None, asking: None, spending };
        if is_earlier && let Some(total) = self.total(&session.id, folder).await {
            session.spending = Spending::after(total);
        }
        session
    }

    /// What a session has used so far, if the agent can be asked.
    async fn total(&self, session: &str, folder: &Path) -> Option<Usage> {
        self.api.as_ref()?.usage(session, folder).await.ok()
    }

    /// The same after a turn that has used something, which may be noted after its end.
    async fn new_total(&self, session: &str, folder: &Path, spending: &Spending) -> Option<Usage> {
        let mut total = self.total(session, folder).await;
        for _ in 0..NOTED_AFTER {
            if total.is_none() || spending.is_new(total) {
                break;
            }
            sleep(Duration::from_millis(100)).await;
            total = self.total(session, folder).await;
        }
        total
    }

    /// Closes a session. Some agents have a process for each.
    fn close(&self, session: &str) {
        if self.met.closes_sessions() {
            self.rpc.note(|_, tell| tell("session/close", json!({ "sessionId": session })));
        }
    }
}

/// A session of the protocol. Dropping it cancels the work.
pub(super) struct OpenSession {
    pub(super) server: Arc<Server>,
    pub(super) id: String,
    pub(super) messages: UnboundedReceiver<Incoming>,
    /// The folder in which it works.
    folder: Box<Path>,
    /// The prompt at work, and who receives what it has used.
    prompt: Option<(u64, Reporter)>,
    /// A request of the agent that is not answered yet.
    pub(super) asking: Option<Value>,
    spending: Spending,
}

impl OpenSession {
    /// Sends a prompt.
    pub(super) fn prompt(&mut self, params: &Value, reporter: &Reporter) -> Answer {
        let (call, answer) = self.server.rpc.send("session/prompt", params);
        self.prompt = Some((call, reporter.clone()));
        answer
    }

    /// Notes that the prompt has ended, and returns what it has used, of which the protocol has reported this.
    pub(super) async fn ended(&mut self, reported: Option<Usage>, is_ok: bool) -> Option<Usage> {
        self.prompt = None;
        let total = match is_ok {
            true => self.server.new_total(&self.id, &self.folder, &self.spending).await,
            false => self.server.total(&self.id, &self.folder).await,
        };
        self.spending.add(total, reported)
    }
}

/// How long an agent may take to end a turn that is cancelled before its question is answered, too.
const ANSWER_AFTER: Duration = Duration::from_millis(500);

/// How many tenths of a second an agent may take to note what its last request has used.
const NOTED_AFTER: u32 = 10;

impl Drop for OpenSession {
    fn drop(&mut self) {
        let Self { server, id, prompt, asking, .. } = self;
        server.rpc.close(id, |_, _| {});
        let Some((call, reporter)) = prompt.take() else { return server.close(id) };
        let cancelled = Cancelled {
            server: Arc::downgrade(server),
            id: id.clone(),
            folder: self.folder.clone(),
            spending: self.spending,
            reporter,
            is_rejected: asking.is_some() && server.is_configured(),
        };
        let at_end = |ended, ending| {
            tokio::spawn(async move {
                cancelled.end(ended).await;
                drop(ending);
            });
        };
        if !server.rpc.cancel(call, Box::new(at_end)) {
            return server.close(id);
        }
        let question = asking.take();
        // OpenCode ends its turn when a call is denied. If it is cancelled instead, it has no figure for the request that has made the call.
        if question.is_none() || !server.is_configured() {
            server.rpc.notify("session/cancel", &json!({ "sessionId": id }));
        }
        let Some(question) = question else { return };
        if server.is_configured() {
            return server.rpc.answer(&question, Ok(outcome(None)));
        }
        // Some agents end only after an answer. An answer before the end of the turn is one more request to the model.
        let (server, runtime) = (Arc::downgrade(server), Handle::try_current());
        drop(runtime.map(|runtime| {
            runtime.spawn(async move {
                sleep(ANSWER_AFTER).await;
                if let Some(server) = server.upgrade() {
                    server.rpc.answer(&question, Ok(outcome(None)));
                }
            })
        }));
    }
}

/// A session whose work was cancelled and has not ended.
struct Cancelled {
    server: Weak<Server>,
    id: String,
    folder: Box<Path>,
    spending: Spending,
    reporter: Reporter,
    /// Whether a call was rejected, after whose request there is something new to count.
    is_rejected: bool,
}

impl Cancelled {
    /// Reports what the work has used, and closes the session.
    async fn end(mut self, ended: Option<Value>) {
        let Some(server) = self.server.upgrade() else { return };
        let reported = ended.and_then(|ended| Ended::deserialize(&ended).ok()?.usage());
        let total = match self.is_rejected {
            true => server.new_total(&self.id, &self.folder, &self.spending).await,
            false => server.total(&self.id, &self.folder).await,
        };
        if let Some(used) = self.spending.add(total, reported) {
            self.reporter.report(Activity::Used(used));
        }
        server.close(&self.id);
    }
}
