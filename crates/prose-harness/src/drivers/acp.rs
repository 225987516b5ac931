//! Agents that speak the Agent Client Protocol: one process for all sessions of a run, and one session of the protocol for each of them.

mod agents;
mod client;
mod codex;
mod protocol;
mod server;
mod spending;
mod turn;

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use prose_vm::activity::{Activity, Reporter};
use prose_vm::effect::{Failure, OwnSession, Reply, Request, SessionTask};
use prose_vm::error::ErrorKind;
use serde_json::Value;

use self::agents::{Purpose, SessionNeeds};
use self::client::{Opened, Setup};
use self::server::Server;
use self::turn::Rules;
use super::host::{AgentHost, Attempted, permissions_of_question};
use super::opencode::Api;
use super::shared::{Shared, SharedProcess};
use crate::decide::{Ask, BY_REFERENCE, Sessions};
use crate::drivers::CONTINUE;
use crate::faults;
use crate::gate::Fault;
use prose_backends::permissions::Folders;

pub use self::agents::{AGENTS, AcpAgent};

/// The harness of an agent that speaks the protocol.
pub struct Acp {
    host: AgentHost,
    /// The known agent; `None` for the command of a project, about which nothing is known.
    agent: Option<&'static AcpAgent>,
    /// The processes of sessions and of questions, which are one unless the agent needs two.
    servers: [Shared<Server>; 2],
    /// Whether the agent has rejected a second session at the same time.
    has_one_session: AtomicBool,
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

impl Attempted for (&Acp, &Work<'_>) {
    type Done = Reply;
    type Stopped = Opened;

    async fn attempt(&self, reporter: &Reporter, stopped: &mut Option<Opened>) -> Result<Reply, Fault> {
        let (acp, work) = self;
        let continued = stopped.take().filter(|stopped| stopped.session.server.is_running());
        let mut has_acted = continued.is_some();
        let (mut opened, prompt) = match continued {
            Some(opened) => (opened, Cow::Borrowed(CONTINUE)),
            None => acp.begin(work, reporter).await.map_err(Fault::repeatable)?,
        };
        let said = opened.session.work(&prompt, &work.rules, reporter, &mut has_acted).await;
        match said {
            Ok(text) => Ok(Reply::new(&text, opened.warnings)),
            Err(failure) => {
                *stopped = (has_acted && faults::is_transient(failure.kind)).then_some(opened);
                Err(Fault::repeatable(failure))
            }
        }
    }
}

impl Acp {
    /// The harness of an agent.
    pub fn new(host: AgentHost, agent: Option<&'static AcpAgent>) -> Self {
        Self { host, agent, servers: Default::default(), has_one_session: AtomicBool::new(false) }
    }

    /// A session with its prompt: a new one, or the earlier one of the agent.
    async fn begin<'w>(
        &self,
        work: &Work<'w>,
        reporter: &Reporter,
    ) -> Result<(Opened, Cow<'w, str>), Failure> {
        let needs = SessionNeeds {
            system: work.system,
            is_question: work.rules.is_question,
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
        let Rules { servers, folders, is_question, .. } = &work.rules;
        let folder = &folders.root;
        let server = self.server(*is_question).await?;
        if let Some(other) = servers.iter().find(|it| it.is_http() && !server.met.uses_http_servers()) {
            return Err(Failure::session(format!(
                "{} cannot use the MCP server `{}`, as it only starts programs; set `command` instead of `url`, or use another harness",
                self.host.name(),
                other.name
            )));
        }
        if let Some((own, continuing)) = work.own.zip(server.met.continuing()) {
            let setup = Setup { folder, servers, meta: meta.clone(), model: work.model };
            match server.open_session(setup, Some((continuing, &own.id)), reporter).await {
                Ok(opened) => {
                    reporter.report(Activity::Continued { id: own.id.clone() });
                    return Ok(opened);
                }
                Err(failure) if failure.kind == ErrorKind::Session && server.is_running() => {
                    self.host.is_gone(own, reporter);
                }
                Err(failure) => return Err(failure),
            }
        }
        let is_shared = server.rpc.is_used();
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
        let has_one_session = self.has_one_session.load(Ordering::Relaxed);
        let is_usable = |server: &Server| !(has_one_session && server.rpc.is_used());
        let purpose = self.purpose(is_question);
        let start = self.start(is_question);
        self.servers[usize::from(purpose == Purpose::Questions)].get(is_usable, start).await
    }

    /// What the process for a session or a question is for.
    fn purpose(&self, is_question: bool) -> Purpose {
        match is_question && self.agent.is_some_and(|agent| agent.has_process_for_questions) {
            true => Purpose::Questions,
            false => Purpose::Sessions,
        }
    }

    async fn start(&self, is_question: bool) -> Result<Server, Failure> {
        let mut program = self.host.program.start(&[], &self.host.folders.root);
        if let Some(agent) = self.agent {
            (agent.adjust)(&mut program, self.purpose(is_question))?;
        }
        let is_http_server = self.agent.is_some_and(|agent| agent.is_server_of_opencode);
        let api = is_http_server.then(|| Api::of(&mut program)).transpose()?;
        let gives_files = self.agent.is_some_and(|agent| agent.uses_files_of_client);
        Server::start(&self.host, program, &client::introduction(gives_files), api).await
    }
}

impl Sessions for Acp {
    fn name(&self) -> &str {
        self.host.name()
    }

    async fn session(
        &self,
        _: &Request,
        task: &Arc<SessionTask>,
        reporter: &Reporter,
    ) -> Result<Reply, Failure> {
        let rules = Rules {
            agent: task.agent.as_deref(),
            permissions: &task.permissions,
            folders: Folders::of(task, &self.host.folders),
            is_question: false,
            servers: self.host.servers_of(task),
            known: self.agent,
        };
        let system = task.system_part();
        // Another attempt would find what this one has left in the session.
        let own = (task.attempt == 0).then(|| self.host.to_continue(task)).flatten();
        let (prompt, model) = (&*task.prompt, task.model.as_deref());
        let work = Work { prompt, own, system: system.as_deref(), model, rules };
        self.host.attempt((self, &work), reporter).await
    }

    async fn settled(&self) {
        for server in &self.servers {
            server.stop(&self.host.endings).await;
        }
    }

    async fn ask(&self, question: Ask, reporter: &Reporter) -> Result<String, Failure> {
        let Ask { prompt, model, .. } = question;
        let permissions = permissions_of_question(prompt.contains(BY_REFERENCE));
        let rules = Rules {
            agent: None,
            permissions: &permissions,
            folders: self.host.folders_of_question(),
            is_question: true,
            servers: &[],
            known: self.agent,
        };
        let work = Work { prompt: &prompt, own: None, system: None, model: model.as_deref(), rules };
        Ok(self.host.attempt((self, &work), reporter).await?.text.to_string())
    }
}
