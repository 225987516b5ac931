//! What the drivers of agents have in common: the program in the folders of a run, its supervisor, the gate of its provider and its MCP servers.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use prose_vm::activity::Reporter;
use prose_vm::effect::{Failure, OwnSession, Permission, PermissionRule, SessionTask};
use prose_vm::error::ErrorKind;
use prose_vm::harness::RunFolders;

use super::connection::{Connection, End, Endings, Program};
use super::own_sessions::GoneSessions;
use super::program::{AgentProgram, UnknownModels};
use crate::faults;
use crate::gate::{Attempts, Fault, Gate, PATIENCE};
use crate::mcp::{AgentServers, McpServer, of_agent};
use crate::process;
use crate::supervisor;
use prose_backends::permissions::Folders;

/// Work on a prompt, for which the provider may turn the agent away.
pub(super) trait Attempted: Send + Sync {
    /// What the work leads to.
    type Done: Send;
    /// A session that an attempt has stopped in after the agent has used tools, and in which the next one continues.
    type Stopped: Send;

    /// Works in the session of the attempt before, if there is one, otherwise in a new one.
    fn attempt(
        &self,
        reporter: &Reporter,
        stopped: &mut Option<Self::Stopped>,
    ) -> impl Future<Output = Result<Self::Done, Fault>> + Send;
}

/// An agent in the folders of a run.
pub struct AgentHost {
    name: String,
    pub(super) program: AgentProgram,
    pub(super) folders: RunFolders,
    supervisor: Option<PathBuf>,
    /// The processes that are being stopped.
    pub(super) endings: Arc<Endings>,
    gate: Arc<Gate>,
    models: UnknownModels,
    /// The sessions that cannot be continued.
    gone: GoneSessions,
    /// The MCP servers of all agents of the program.
    pub(super) servers: AgentServers,
}

impl AgentHost {
    /// The host of a harness whose agent starts in the root folder.
    pub fn new(name: impl Into<String>, program: AgentProgram, folders: RunFolders) -> Self {
        let name = name.into();
        Self {
            gate: program.gate(&name, None),
            models: UnknownModels::new(&program),
            name,
            program,
            folders,
            supervisor: supervisor::program().map(Path::to_owned),
            endings: Arc::default(),
            gone: GoneSessions::default(),
            servers: AgentServers::default(),
        }
    }

    /// The same with gates in a folder, which all processes of the user share.
    #[must_use]
    pub fn sharing_gates(self, folder: Option<&Path>) -> Self {
        let gate = self.program.gate(&self.name, folder);
        Self { gate, ..self }
    }

    /// The same with MCP servers of agents.
    #[must_use]
    pub fn with_servers(self, servers: AgentServers) -> Self {
        Self { servers, ..self }
    }

    /// The same with another supervisor, or without one.
    #[must_use]
    pub fn supervised_by(self, supervisor: Option<PathBuf>) -> Self {
        Self { supervisor, ..self }
    }

    /// The name of the harness.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The model of a session if the agent supports it, otherwise a warning at the first time.
    pub(super) fn model<'m>(&self, wanted: Option<&'m str>) -> (Option<&'m str>, Option<String>) {
        self.models.supported(&self.name, wanted)
    }

    /// The MCP servers of the agent of a session.
    pub(super) fn servers_of(&self, task: &SessionTask) -> &[McpServer] {
        of_agent(&self.servers, task.agent.as_deref())
    }

    /// Starts a process of the agent.
    pub(super) async fn start(&self, program: Program) -> Result<Connection, Failure> {
        let folder = program.folder.clone();
        let started = Connection::start(program, self.supervisor.as_deref(), &self.endings).await;
        started.map_err(|error| {
            let install = Some(self.program.install).filter(|install| !install.is_empty());
            process::not_started(&self.name, &self.program.program, &folder, install, &error)
        })
    }

    /// The attempts of a session at the provider, and a reporter for it: where the agent is turned away in an attempt of its own, others wait, too.
    pub(super) fn attempts<'a>(&'a self, reporter: &'a Reporter) -> (Attempts<'a>, Reporter) {
        (Attempts::new(&self.gate, PATIENCE, reporter), self.gate.watch(reporter))
    }

    /// Attempts work until it is done or no further attempt is made.
    pub(super) async fn attempt<W: Attempted>(
        &self,
        work: W,
        reporter: &Reporter,
    ) -> Result<W::Done, Failure> {
        let (mut attempts, watched) = self.attempts(reporter);
        let mut stopped = None;
        loop {
            attempts.begin().await;
            let tried = Box::pin(work.attempt(&watched, &mut stopped)).await;
            if let Some(done) = self.settle(&mut attempts, tried).await? {
                return Ok(done);
            }
        }
    }

    /// What an attempt has led to; `None` if there is to be another one, which may begin.
    pub(super) async fn settle<T>(
        &self,
        attempts: &mut Attempts<'_>,
        tried: Result<T, Fault>,
    ) -> Result<Option<T>, Failure> {
        match tried {
            Ok(done) => {
                attempts.succeeded();
                Ok(Some(done))
            }
            Err(fault) => {
                if fault.failure.kind == ErrorKind::Auth {
                    self.endings.hurry();
                }
                attempts.failed(fault).await?;
                Ok(None)
            }
        }
    }

    /// The earlier session of the agent that a session continues, if the agent may still have it.
    pub(super) fn to_continue<'a>(&self, task: &'a SessionTask) -> Option<&'a OwnSession> {
        self.gone.to_continue(&self.name, task)
    }

    /// Notes that the agent has not the session: this session and all others start from the memory.
    pub(super) fn is_gone(&self, own: &OwnSession, reporter: &Reporter) {
        self.gone.add(own, reporter);
    }

    /// The folders of a question.
    pub(super) fn folders_of_question(&self) -> Folders {
        Folders { root: self.folders.root.clone(), ..Folders::default() }
    }
}

/// The permissions of a question: it changes nothing, and reads files of the project at most.
pub(super) fn permissions_of_question(reads: bool) -> [Permission; 5] {
    ["read", "write", "execute", "network", "mcp"].map(|about| Permission {
        about: about.into(),
        rule: match about {
            "read" if reads => PermissionRule::Patterns(vec!["**".to_owned()]),
            _ => PermissionRule::Deny,
        },
    })
}

/// The failure of sessions whose process has ended.
pub(super) fn ended(who: &str, connection: &Connection, end: &End) -> Failure {
    // What it has written may be older than what it ended of, but without a key every process ends.
    let kind = match faults::classify(None, &connection.said()) {
        kind if kind.stops_run() => kind,
        _ => ErrorKind::AgentCrashed,
    };
    faults::failure_of(kind, who, None, &connection.ending(end))
}
