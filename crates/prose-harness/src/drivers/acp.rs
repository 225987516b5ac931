//! Agents that speak the Agent Client Protocol: one process for all sessions of a run, and one session of the protocol for each of them.

mod agents;
mod client;
mod protocol;
mod server;
mod turn;

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use prose_rights::Enforcement;
use prose_vm::activity::{Activity, Reporter};
use prose_vm::effect::{Failure, OwnSession, Permission, PermissionRule, Reply, Request, SessionTask};
use prose_vm::error::ErrorKind;
use prose_vm::harness::{HarnessFuture, RunFolders};
use serde_json::Value;
use tokio::sync::Mutex as AsyncMutex;

use self::agents::SessionNeeds;
use self::client::{Opened, Setup};
use self::server::Server;
use self::turn::Rules;
use super::own_sessions::GoneSessions;
use super::program::{AgentProgram, not_started};
use crate::decide::{Ask, BY_REFERENCE, Sessions};
use crate::drivers::CONTINUE;
use crate::drivers::connection::Endings;
use crate::faults;
use crate::gate::{Attempts, Fault, Gate, PATIENCE};
use crate::mcp::{AgentServers, of_agent};
use crate::permissions::Folders;
use crate::supervisor;

pub use self::agents::{AGENTS, AcpAgent};

/// The harness of an agent that speaks the protocol.
pub struct Acp {
    name: String,
    program: AgentProgram,
    /// The known agent; `None` for the command of a project, about which nothing is known.
    agent: Option<&'static AcpAgent>,
    folders: RunFolders,
    supervisor: Option<PathBuf>,
    endings: Arc<Endings>,
    gate: Arc<Gate>,
    /// The processes of sessions and of questions, which are one unless the agent needs two.
    servers: [AsyncMutex<Option<Arc<Server>>>; 2],
    /// Whether the agent has rejected a second session at the same time.
    has_one_session: AtomicBool,
    mcp_servers: AgentServers,
    /// The sessions that cannot be continued.
    gone: GoneSessions,
}

/// A prompt for a session.
struct Work<'a> {
    prompt: &'a str,
    /// The earlier session of the agent that is continued.
    own: Option<&'a OwnSession>,
    /// The end of the system prompt.
    system: Option<&'a str>,
    model: Option<&'a str>,
    rules: Rules<'a>,
}

impl Acp {
    /// A harness that starts an agent in the root folder of the run.
    pub fn new(
        name: impl Into<String>,
        program: AgentProgram,
        agent: Option<&'static AcpAgent>,
        folders: RunFolders,
    ) -> Self {
        let name = name.into();
        let supervisor = supervisor::program().map(Path::to_owned);
        let gate = program.gate(&name, None);
        Self {
            name,
            program,
            agent,
            folders,
            supervisor,
            endings: Arc::default(),
            gate,
            servers: Default::default(),
            has_one_session: AtomicBool::new(false),
            mcp_servers: AgentServers::default(),
            gone: GoneSessions::default(),
        }
    }

    /// The same with MCP servers of agents.
    #[must_use]
    pub fn with_servers(self, mcp_servers: AgentServers) -> Self {
        Self { mcp_servers, ..self }
    }

    /// The same with gates in a folder, which all processes of the user share.
    #[must_use]
    pub fn sharing_gates(self, folder: Option<&Path>) -> Self {
        let gate = self.program.gate(&self.name, folder);
        Self { gate, ..self }
    }

    /// The same with another supervisor, or without one.
    pub fn supervised_by(self, supervisor: Option<PathBuf>) -> Self {
        Self { supervisor, ..self }
    }

    async fn work(&self, work: &Work<'_>, reporter: &Reporter) -> Result<Reply, Failure> {
        let watched = self.gate.watch(reporter);
        let mut attempts = Attempts::new(&self.gate, PATIENCE, reporter);
        let mut stopped = None;
        loop {
            attempts.begin().await;
            match self.attempt(work, &watched, &mut stopped).await {
                Ok(reply) => {
                    attempts.succeeded();
                    return Ok(reply);
                }
                Err(failure) => {
                    if failure.kind == ErrorKind::Auth {
                        self.endings.hurry();
                    }
                    attempts.failed(Fault::repeatable(failure)).await?;
                }
            }
        }
    }

    /// Works in the session of the attempt before if the agent has used tools there, otherwise in a new one.
    async fn attempt(
        &self,
        work: &Work<'_>,
        reporter: &Reporter,
        stopped: &mut Option<Opened>,
    ) -> Result<Reply, Failure> {
        let continued = stopped.take().filter(|stopped| stopped.session.server.is_running());
        let mut has_acted = continued.is_some();
        let (mut opened, prompt) = match continued {
            Some(opened) => (opened, Cow::Borrowed(CONTINUE)),
            None => self.begin(work, reporter).await?,
        };
        let said = opened.session.work(&prompt, &work.rules, reporter, &mut has_acted).await;
        match said {
            Ok(text) => {
                let (text, warnings) = (text.trim_end().into(), opened.warnings);
                Ok(Reply { text, warnings, ..Reply::default() })
            }
            Err(failure) => {
                *stopped = (has_acted && faults::is_transient(failure.kind)).then_some(opened);
                Err(failure)
            }
        }
    }

    /// A session with its prompt: a new one, or the earlier one of the agent.
    async fn begin<'w>(
        &self,
        work: &Work<'w>,
        reporter: &Reporter,
    ) -> Result<(Opened, Cow<'w, str>), Failure> {
        let needs = SessionNeeds {
            system: work.system,
            is_question: work.rules.denies_all,
            reads: work.prompt.contains(BY_REFERENCE),
            servers: work.rules.servers,
        };
        let meta = self.agent.and_then(|agent| agent.meta(&needs));
        let has_system = meta.is_some();
        let opened = self.open(work, meta, reporter).await?;
        let prompt = match (work.own, work.system) {
            // It has the system part already.
            (Some(own), _) if opened.is_continued => Cow::Borrowed(&*own.prompt),
            // The protocol has no system part.
            (_, Some(system)) if !has_system => Cow::Owned(format!("{system}\n\n{}", work.prompt)),
            _ => Cow::Borrowed(work.prompt),
        };
        Ok((opened, prompt))
    }

    /// Starts a session in a running process. An agent that has only one session at a time gets a process for each.
    async fn open(
        &self,
        work: &Work<'_>,
        meta: Option<Value>,
        reporter: &Reporter,
    ) -> Result<Opened, Failure> {
        let Rules { servers, folders, denies_all: is_question, .. } = &work.rules;
        let folder = &folders.root;
        let server = self.server(*is_question).await?;
        if let Some(other) = servers.iter().find(|it| it.is_http() && !server.met.uses_http_servers()) {
            return Err(Failure::session(format!(
                "{} cannot use the MCP server `{}`, as it only starts programs; set `command` instead of `url`, or use another harness",
                self.name, other.name
            )));
        }
        if let Some(own) = work.own.filter(|_| server.met.loads_sessions()) {
            let setup = Setup { folder, servers, meta: meta.clone(), model: work.model };
            match server.open_session(setup, Some(&own.id), reporter).await {
                Ok(opened) => {
                    reporter.report(Activity::Continued { id: own.id.clone() });
                    return Ok(opened);
                }
                Err(failure) if failure.kind == ErrorKind::Session && server.is_running() => {
                    self.gone.add(own, reporter);
                }
                Err(failure) => return Err(failure),
            }
        }
        let is_shared = server.is_used();
        let setup = || Setup { folder, servers, meta: meta.clone(), model: work.model };
        match server.open_session(setup(), None, reporter).await {
            Err(failure) if is_shared && failure.kind == ErrorKind::Session && server.is_running() => {
                let own = Arc::new(self.start(*is_question).await?);
                let opened = own.open_session(setup(), None, reporter).await?;
                // The same session alone is no problem.
                self.has_one_session.store(true, Ordering::Relaxed);
                Ok(opened)
            }
            opened => opened,
        }
    }

    /// The running process for sessions or questions; starts one if there is none.
    async fn server(&self, is_question: bool) -> Result<Arc<Server>, Failure> {
        let is_apart = is_question && self.agent.is_some_and(AcpAgent::has_process_for_questions);
        let mut running = self.servers[usize::from(is_apart)].lock().await;
        let has_one_session = self.has_one_session.load(Ordering::Relaxed);
        let is_usable = |server: &&Arc<Server>| server.is_running() && !(has_one_session && server.is_used());
        if let Some(server) = running.as_ref().filter(is_usable) {
            return Ok(Arc::clone(server));
        }
        let started = Arc::new(self.start(is_apart).await?);
        // One that is still used ends with its last session.
        Ok(Arc::clone(running.insert(started)))
    }

    async fn start(&self, is_question: bool) -> Result<Server, Failure> {
        let root = &self.folders.root;
        let mut program = self.program.start(&[], root);
        if let Some(agent) = self.agent {
            program.variables.extend(agent.settings(is_question));
        }
        let gives_files = self.agent.is_some_and(|agent| agent.uses_files_of_client);
        let introduction = client::introduction(gives_files);
        let supervisor = self.supervisor.as_deref();
        let started = Server::start(&self.name, program, supervisor, &self.endings, &introduction).await;
        started.map_err(|error| not_started(&self.name, &self.program, root, &error))?
    }
}

impl Sessions for Acp {
    fn name(&self) -> &str {
        &self.name
    }

    fn enforces(&self, about: &str, rule: &PermissionRule) -> bool {
        Enforcement::holds(self.agent.map_or(&self.name, |agent| agent.name), about, rule)
    }

    fn session<'a>(
        &'a self,
        _: &'a Request,
        task: &'a Arc<SessionTask>,
        reporter: &'a Reporter,
    ) -> HarnessFuture<'a, Reply> {
        Box::pin(async move {
            let rules = Rules {
                agent: task.agent.as_deref(),
                permissions: &task.permissions,
                folders: Folders::of(task, &self.folders),
                denies_all: false,
                servers: of_agent(&self.mcp_servers, task.agent.as_deref()),
                reads_missing_files: self.agent.is_some_and(|agent| agent.reads_before_writing),
                harness: self.agent.map(|agent| agent.name),
            };
            let system = task.system_part();
            // Another attempt would find what this one has left in the session.
            let own = (task.attempt == 0).then(|| self.gone.to_continue(&self.name, task)).flatten();
            let (prompt, model) = (&*task.prompt, task.model.as_deref());
            let work = Work { prompt, own, system: system.as_deref(), model, rules };
            self.work(&work, reporter).await
        })
    }

    fn settled(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async {
            for server in &self.servers {
                let running = server.lock().await.take();
                if let Some(server) = running {
                    server.stop(self.endings.are_hurried()).await;
                }
            }
            self.endings.settled().await;
        })
    }

    fn ask<'a>(&'a self, question: Ask, reporter: &'a Reporter) -> HarnessFuture<'a, String> {
        Box::pin(async move {
            let Ask { prompt, model, .. } = question;
            // The answer to a question changes nothing, so every tool that asks is denied.
            let rules = Rules {
                agent: None,
                permissions: &[] as &[Permission],
                folders: Folders { root: self.folders.root.clone(), ..Folders::default() },
                denies_all: true,
                servers: &[],
                reads_missing_files: false,
                harness: None,
            };
            let work = Work { prompt: &prompt, own: None, system: None, model: model.as_deref(), rules };
            Ok(self.work(&work, reporter).await?.text.to_string())
        })
    }
}
