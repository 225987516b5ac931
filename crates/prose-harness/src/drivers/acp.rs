//! Agents that speak the Agent Client Protocol: one process and one session of the protocol for each session of a program.

mod agents;
mod client;
mod protocol;
mod turn;

use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;

use prose_rights::Enforcement;
use prose_vm::activity::Reporter;
use prose_vm::effect::{Failure, Permission, PermissionRule, Reply, Request, SessionTask};
use prose_vm::harness::{Capabilities, HarnessFuture, RunFolders};

use self::client::{Client, Opened};
use self::turn::Rules;
use super::program::{AgentProgram, not_started};
use crate::decide::{Ask, Sessions};
use crate::drivers::connection::{Connection, Endings};
use crate::gate::{Fault, Gate, PATIENCE};
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
}

/// A prompt for a new session.
struct Work<'a> {
    prompt: String,
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
        let gate = Gate::of(&name, None, None);
        Self { name, program, agent, folders, supervisor, endings: Arc::default(), gate }
    }

    /// The same with another supervisor, or without one.
    pub fn supervised_by(self, supervisor: Option<PathBuf>) -> Self {
        Self { supervisor, ..self }
    }

    async fn work(&self, work: &Work<'_>, reporter: &Reporter) -> Result<Reply, Failure> {
        self.gate
            .attempts(PATIENCE, reporter, || async {
                let mut has_acted = false;
                let attempt = self.attempt(work, reporter, &mut has_acted).await;
                attempt.map_err(|failure| Fault { can_repeat: !has_acted, ..Fault::last(failure) })
            })
            .await
    }

    async fn attempt(
        &self,
        work: &Work<'_>,
        reporter: &Reporter,
        has_acted: &mut bool,
    ) -> Result<Reply, Failure> {
        let mut program = self.program.start(&[], &self.folders.root);
        if let Some(agent) = self.agent {
            program.variables.extend(agent.settings(work.rules.denies_all));
        }
        let connection = Connection::start(program, self.supervisor.as_deref(), &self.endings).await;
        let connection =
            connection.map_err(|error| not_started(&self.name, &self.program, &self.folders.root, &error))?;
        let mut client = Client::new(&self.name, connection);
        let gives_files = self.agent.is_some_and(|agent| agent.uses_files_of_client);
        let Opened { id, warnings } =
            client.open(&self.folders.root, gives_files, work.model, reporter).await?;
        let text = client.prompt(&id, &work.prompt, &work.rules, reporter, has_acted).await?;
        Ok(Reply { text: text.trim_end().into(), warnings, ..Reply::default() })
    }
}

impl Sessions for Acp {
    fn name(&self) -> &str {
        &self.name
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { reads_files: true, writes_files: true }
    }

    fn enforces(&self, about: &str, rule: &PermissionRule) -> bool {
        let table = self.agent.and_then(|agent| Enforcement::of(agent.name));
        rule.kind().is_none_or(|kind| table.is_some_and(|table| table.covers(about, kind)))
    }

    fn session<'a>(
        &'a self,
        _: &'a Request,
        task: &'a Arc<SessionTask>,
        reporter: &'a Reporter,
    ) -> HarnessFuture<'a, Reply> {
        Box::pin(async move {
            let prompt = match task.system_part() {
                // The protocol has no system part.
                Some(system) => format!("{system}\n\n{}", task.prompt),
                None => task.prompt.to_string(),
            };
            let rules = Rules {
                agent: task.agent.as_deref(),
                permissions: &task.permissions,
                folders: Folders::of(task, &self.folders),
                denies_all: false,
            };
            self.work(&Work { prompt, model: task.model.as_deref(), rules }, reporter).await
        })
    }

    fn settled(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(self.endings.settled())
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
            };
            let work = Work { prompt, model: model.as_deref(), rules };
            Ok(self.work(&work, reporter).await?.text.to_string())
        })
    }
}
