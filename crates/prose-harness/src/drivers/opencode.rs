//! OpenCode: one `opencode serve` for all sessions of a run.
//!
//! The server listens on this machine only and asks for a password, which is new for each server. It asks before each use of a tool that a session may not
//! use freely, and [`prose_backends::permissions`] decides. A rejected call rejects all calls of its session that ask at the same time, so rejections wait until the
//! others have ended.

mod api;
mod rules;
mod server;
mod spent;
mod tools;
mod turn;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use prose_vm::activity::{Activity, Reporter};
use prose_vm::effect::{Failure, OwnSession, Permission, Reply, Request, SessionTask};
use prose_vm::error::ErrorKind;
use reqwest::Method;
use serde::Deserialize;
use serde_json::{Value, json};
use smol_str::SmolStr;
use tokio::sync::Mutex as AsyncMutex;

pub(super) use self::api::Api;
use self::rules::{Rule, Rules};
use self::server::{OpenSession, Server};
use self::turn::{Ask as Asked, Step, Turn};
use super::host::{AgentHost, Attempted, permissions_of_question};
use super::rpc::CallError;
use super::shared::{Reader, Shared, SharedProcess};
use crate::decide::{Ask, BY_REFERENCE, Sessions};
use crate::drivers::{CONTINUE, CONTINUE_DENIED};
use crate::faults;
use crate::gate::Fault;
use crate::mcp::McpServer;
use prose_backends::permissions::{Folders, permit};

const NAME: &str = "opencode";

/// The variable with the configuration that comes after those of the user and the project.
const CONFIG: &str = "OPENCODE_CONFIG_CONTENT";

/// The instructions for short questions.
pub(super) const OF_QUESTION: &str =
    "Answer the question of the user in the requested form. Read files only if the question names them.";

/// What the model is told about a call that was denied.
const DENIED: &str = "the permissions of this session do not allow it";

/// How often a session goes on after its turn has ended with a rejected call.
const MAX_CONTINUED: usize = 8;

/// The harness `opencode`.
pub struct OpenCode {
    host: AgentHost,
    server: Shared<Running>,
}

/// A server with the agents of this run.
struct Running {
    server: Arc<Server>,
    agents: AgentNames,
    /// The rules of the user for the agent of sessions.
    of_user: Vec<Rule>,
    /// The MCP servers that run, by the folders of their sessions.
    connected: AsyncMutex<HashSet<(PathBuf, SmolStr)>>,
}

/// Whether an MCP server runs.
#[derive(Deserialize)]
struct ServerState {
    status: String,
    error: Option<String>,
}

/// The names of the agents that sessions and questions work as.
struct AgentNames {
    session: String,
    question: String,
}

/// An agent as the server lists it.
#[derive(Deserialize)]
struct AgentInfo {
    name: String,
    permission: Vec<Rule>,
}

/// A session as the server creates it.
#[derive(Deserialize)]
struct NewSession {
    id: SmolStr,
}

/// What OpenCode works on.
struct Work<'a> {
    prompt: &'a str,
    /// The end of the system prompt.
    system: Option<String>,
    model: Option<&'a str>,
    /// The schema of the answer.
    schema: Option<Value>,
    is_question: bool,
    agent: Option<&'a str>,
    permissions: &'a [Permission],
    folders: Folders,
    rules: Rules,
    /// The earlier session of the agent that is continued.
    own: Option<&'a OwnSession>,
    /// The MCP servers of the agent.
    servers: &'a [McpServer],
}

/// A session in which the agent has used tools, and that continues when the provider answers again.
struct Stopped {
    running: Arc<Running>,
    session: OpenSession,
}

/// The title of sessions in the history of the user.
const TITLE: &str = "prose";

impl OpenCode {
    /// The harness of an agent.
    pub fn new(host: AgentHost) -> Self {
        Self { host, server: Shared::default() }
    }

    async fn start(&self) -> Result<Running, Failure> {
        // No configuration of the user or the project can extend the permissions of agents whose names it does not know.
        let agents = AgentNames { session: agent_name("session"), question: agent_name("question") };
        let mut program =
            self.host.program.start(&["serve", "--port", "0"].map(str::to_owned), &self.host.folders.root);
        agents.configure(&mut program.variables)?;
        let server = Server::start(&self.host, program).await?;
        let root = &self.host.folders.root;
        let known = server.call::<Vec<AgentInfo>>(Method::GET, "agent", root, None).await;
        let known = known.map_err(failure_of)?.into_iter().find(|agent| agent.name == agents.session);
        let of_user = known.map(|agent| agent.permission).ok_or_else(|| {
            Failure::session(format!(
                "`{NAME} serve` does not use `{CONFIG}`; install a version that is known to work, such as 1.18.33"
            ))
        })?;
        Ok(Running { server: Arc::new(server), agents, of_user, connected: AsyncMutex::default() })
    }
}

impl Attempted for (&OpenCode, &Work<'_>) {
    type Done = String;
    type Stopped = Stopped;

    async fn attempt(&self, reporter: &Reporter, stopped: &mut Option<Stopped>) -> Result<String, Fault> {
        let (opencode, work) = self;
        let continued = stopped.take().filter(|stopped| stopped.running.is_running());
        let has_acted = continued.is_some();
        let (running, mut session, prompt) = match continued {
            Some(Stopped { running, session }) => (running, session, CONTINUE),
            None => opencode.begin(work, reporter).await.map_err(Fault::last)?,
        };
        let Running { server, agents, .. } = &*running;
        let agent = if work.is_question { &agents.question } else { &agents.session };
        let folder = &work.folders.root;
        let mut turn = Turn::new(session.id.clone(), work.model, folder, &work.rules, has_acted);
        reporter.report(Activity::Agent(turn.agent()));
        let mut body = json!({
            "agent": agent,
            "system": work.system,
            "model": work.model.map(model_id).transpose().map_err(Fault::last)?,
            "format": work.schema.as_ref().map(|schema| json!({ "type": "json_schema", "schema": schema })),
        });
        if let Some(body) = body.as_object_mut() {
            body.retain(|_, value| !value.is_null());
        }
        session.prompt(body.clone(), prompt, reporter).await?;

        let mut questions = Questions::default();
        let mut continued = 0;
        loop {
            let Some(event) = session.next().await else {
                let lost = Failure::session(format!("lost the connection to {NAME}"));
                return Err(Fault::repeatable(server.ending(lost).await));
            };
            match turn.add(event, &mut |activity| reporter.report(activity)) {
                Step::Continue => {}
                Step::Ask(asked) => questions.open.push(asked),
                // A rejection ends the turn if it was for another call.
                Step::End(Ok(_)) if turn.take_blocked() && continued < MAX_CONTINUED => {
                    continued += 1;
                    session.prompt(body.clone(), CONTINUE_DENIED, reporter).await?;
                }
                Step::End(outcome) => {
                    match &outcome {
                        Ok(_) => session.ended(),
                        // The whole server ends.
                        Err(fault) if fault.failure.kind == ErrorKind::Auth => {}
                        // It may have more to do, such as another attempt.
                        Err(_) => session.cancel().await,
                    }
                    let goes_on =
                        |fault: &Fault| turn.has_acted() && faults::is_transient(fault.failure.kind);
                    if outcome.as_ref().is_err_and(goes_on) {
                        session.until_idle().await;
                        *stopped = Some(Stopped { running: Arc::clone(&running), session });
                    }
                    return outcome;
                }
            }
            questions.answer(work, &mut turn, &mut session, reporter).await.map_err(Fault::last)?;
        }
    }
}

impl OpenCode {
    /// A new session with its prompt, or a copy of the earlier one of the agent.
    async fn begin<'w>(
        &self,
        work: &Work<'w>,
        reporter: &Reporter,
    ) -> Result<(Arc<Running>, OpenSession, &'w str), Failure> {
        let running = self.server.get(|_| true, self.start()).await?;
        running.connect(work.servers, &work.folders.root).await?;
        let folder = &work.folders.root;
        let rules = work.rules.with(&running.of_user);
        if let Some(own) = work.own {
            match running.copy(own, folder, &rules).await {
                Ok(id) => {
                    reporter.report(Activity::Continued { id: own.id.clone() });
                    let session = running.server.open(id, folder, false);
                    return Ok((running, session, &*own.prompt));
                }
                Err(CallError::Reported { .. }) => self.host.is_gone(own, reporter),
                Err(error) => return Err(failure_of(error)),
            }
        }
        let agents = &running.agents;
        let agent = if work.is_question { &agents.question } else { &agents.session };
        // With a title, no other request is made for one.
        let new = json!({ "title": TITLE, "agent": agent, "permission": rules });
        let opened = running.server.call::<NewSession>(Method::POST, "session", folder, Some(&new)).await;
        let NewSession { id } = opened.map_err(failure_of)?;
        // Nothing of a question is left in the history of the user.
        let session = running.server.open(id, folder, work.is_question);
        Ok((running, session, work.prompt))
    }
}

impl SharedProcess for Running {
    fn reader(&self) -> &Reader {
        self.server.reader()
    }

    fn is_running(&self) -> bool {
        self.server.is_running()
    }
}

impl Running {
    /// Copies a session, which is not changed itself, so that other attempts can continue it. The copy has rules of its own.
    async fn copy(&self, own: &OwnSession, folder: &Path, rules: &[Rule]) -> Result<SmolStr, CallError> {
        let path = format!("session/{}/fork", own.id);
        let NewSession { id } = self.server.call(Method::POST, &path, folder, Some(&json!({}))).await?;
        let changed = json!({ "title": TITLE, "permission": rules });
        let path = format!("session/{id}");
        self.server.call::<Value>(Method::PATCH, &path, folder, Some(&changed)).await?;
        Ok(id)
    }

    /// Starts MCP servers for sessions in a folder, which share them.
    async fn connect(&self, servers: &[McpServer], folder: &Path) -> Result<(), Failure> {
        let mut connected = self.connected.lock().await;
        for server in servers {
            let key = (folder.to_owned(), server.name.clone());
            if connected.contains(&key) {
                continue;
            }
            let new = json!({ "name": server.name, "config": server.for_opencode(folder) });
            let states = self.server.call(Method::POST, "mcp", folder, Some(&new)).await;
            let mut states: HashMap<SmolStr, ServerState> = states.map_err(failure_of)?;
            let state = states.remove(&server.name);
            if state.as_ref().is_none_or(|state| state.status != "connected") {
                let said = state.map(|state| state.error.unwrap_or(state.status)).unwrap_or_default();
                return Err(Failure::session(format!(
                    "MCP server `{}` did not start: {}; run `prose doctor` to try it",
                    server.name,
                    server.without_values(&said)
                )));
            }
            connected.insert(key);
        }
        Ok(())
    }
}

/// The permission questions of a session.
#[derive(Default)]
struct Questions {
    /// Those that were not decided.
    open: Vec<Asked>,
    /// Those of calls that are denied, with the session of the call.
    denied: Vec<(Asked, SmolStr)>,
}

impl Questions {
    /// Answers what can be answered.
    async fn answer(
        &mut self,
        work: &Work<'_>,
        turn: &mut Turn<'_>,
        session: &mut OpenSession,
        reporter: &Reporter,
    ) -> Result<(), Failure> {
        for asked in std::mem::take(&mut self.open) {
            let Some(asking) = turn.asking(&asked) else {
                self.open.push(asked);
                continue;
            };
            let is_allowed = match asking.decision {
                Some(decision) => decision,
                None => {
                    session.asking = Some(asked.id.clone());
                    permit(reporter, work.agent, work.permissions, &asking.request, &work.folders).await?
                }
            };
            session.asking = None;
            turn.decided(&asking, is_allowed);
            match is_allowed {
                true => session.reply(&asked.id, true, "").await.map_err(failure_of)?,
                false => self.denied.push((asked, asking.session)),
            }
        }
        let (now, later): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.denied).into_iter().partition(|(_, of)| turn.has_only_denied(of));
        self.denied = later;
        for (asked, _) in now {
            session.reply(&asked.id, false, DENIED).await.map_err(failure_of)?;
        }
        Ok(())
    }
}

impl AgentNames {
    /// Adds the agents to the configuration of the environment.
    fn configure(&self, variables: &mut Vec<(String, String)>) -> Result<(), Failure> {
        extend_config(variables, |config| {
            config["agent"][&self.session] = json!({ "mode": "primary" });
            config["agent"][&self.question] = json!({ "mode": "primary", "prompt": OF_QUESTION });
            // A call that is rejected without a reason ends the turn, which is how one ends that waits for a person.
            config["experimental"]["continue_loop_on_deny"] = false.into();
        })
    }
}

/// The name of an agent that no configuration knows.
pub(super) fn agent_name(of: &str) -> String {
    format!("prose-{of}-{:016x}", fastrand::u64(..))
}

/// Adds to the configuration of the environment, whose agents and experimental settings are objects then.
pub(super) fn extend_config(
    variables: &mut Vec<(String, String)>,
    change: impl FnOnce(&mut Value),
) -> Result<(), Failure> {
    let own = variables.iter().position(|(name, _)| name == CONFIG);
    let mut config = match own.map(|at| variables.swap_remove(at).1) {
        Some(text) => serde_json::from_str(&text).map_err(|error| {
            Failure::session(format!(
                "the environment variable `{CONFIG}` cannot be extended, because it is not JSON: {error}; remove comments and trailing commas"
            ))
        })?,
        None => json!({}),
    };
    if !config.is_object() {
        return Err(Failure::session(format!("the environment variable `{CONFIG}` must be an object")));
    }
    for part in ["agent", "experimental"] {
        if !config[part].is_object() {
            config[part] = json!({});
        }
    }
    change(&mut config);
    variables.push((CONFIG.to_owned(), config.to_string()));
    Ok(())
}

/// The model as requests name it.
fn model_id(model: &str) -> Result<Value, Failure> {
    let (provider, model) = model.split_once('/').ok_or_else(|| {
        Failure::session(format!(
            "{NAME} does not know the model `{model}`; write it as `provider/model`, such as `anthropic/claude-sonnet-4-5`, or map it in `[models]` in `prose.toml`"
        ))
    })?;
    Ok(json!({ "providerID": provider, "modelID": model }))
}

fn failure_of(error: CallError) -> Failure {
    error.failure(NAME)
}

impl Sessions for OpenCode {
    fn name(&self) -> &str {
        self.host.name()
    }

    async fn session(
        &self,
        _: &Request,
        task: &Arc<SessionTask>,
        reporter: &Reporter,
    ) -> Result<Reply, Failure> {
        let (model, warning) = self.host.model(task.model.as_deref());
        let servers = self.host.servers_of(task);
        let work = Work {
            prompt: &task.prompt,
            system: task.system_part().map(Into::into),
            model,
            schema: None,
            is_question: false,
            agent: task.agent.as_deref(),
            permissions: &task.permissions,
            folders: Folders::of(task, &self.host.folders),
            rules: Rules::of_session(&task.permissions, &self.host.servers, servers),
            own: self.host.to_continue(task),
            servers,
        };
        let text = self.host.attempt((self, &work), reporter).await?;
        Ok(Reply::new(&text, warning))
    }

    async fn settled(&self) {
        self.server.stop(&self.host.endings).await;
    }

    async fn ask(&self, question: Ask, reporter: &Reporter) -> Result<String, Failure> {
        let Ask { prompt, model, schema } = question;
        let (model, _) = self.host.model(model.as_deref());
        // A question changes nothing, and reads only files of the project that it names.
        let reads = prompt.contains(BY_REFERENCE);
        let permissions = permissions_of_question(reads);
        let work = Work {
            prompt: &prompt,
            system: None,
            model,
            schema,
            is_question: true,
            agent: None,
            permissions: &permissions,
            folders: self.host.folders_of_question(),
            rules: Rules::of_question(reads),
            own: None,
            servers: &[],
        };
        self.host.attempt((self, &work), reporter).await
    }

    fn binds_answers(&self) -> bool {
        true
    }
}
