//! Codex: one `codex app-server` for all sessions of a run, and a thread for each of them.

mod protocol;
mod rules;
mod server;
mod turn;

use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;

use prose_vm::activity::{Activity, AgentSession, Denial, Reporter};
use prose_vm::effect::{Failure, OwnSession, Reply, Request, SessionTask};
use prose_vm::error::ErrorKind;
use prose_vm::harness::{HarnessFuture, RunFolders};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::Mutex as AsyncMutex;

use self::protocol::ThreadStarted;
use self::rules::Rules;
use self::server::{CallError, Incoming, OpenThread, Server, refusal};
use self::turn::Turn;
use super::own_sessions::GoneSessions;
use super::program::{AgentProgram, UnknownModels, not_started};
use crate::decide::{Ask, BY_REFERENCE, Sessions};
use crate::drivers::CONTINUE;
use crate::drivers::connection::Endings;
use crate::faults;
use crate::gate::{Attempts, Fault, Gate, PATIENCE};
use crate::mcp::{AgentServers, of_agent};
use crate::permissions::Folders;
use crate::supervisor;

const NAME: &str = "codex";

/// The features of Codex that programs do not use: other agents, and tools that no rule restricts.
const WITHOUT: &[&str] = &["multi_agent", "browser_use", "computer_use", "image_generation"];

/// The instructions for short questions.
const OF_QUESTION: &str = "Answer the question of the user in the requested form. Read files only if the question names them, and change nothing.";

/// The harness `codex`.
pub struct Codex {
    program: AgentProgram,
    folders: RunFolders,
    supervisor: Option<PathBuf>,
    endings: Arc<Endings>,
    server: AsyncMutex<Option<Arc<Server>>>,
    gate: Arc<Gate>,
    models: UnknownModels,
    /// The threads that cannot be continued.
    gone: GoneSessions,
    servers: AgentServers,
}

/// A thread and its turn.
struct Work<'a> {
    prompt: &'a str,
    /// The folder in which the agent works.
    folder: PathBuf,
    /// The parameters of `thread/start`.
    thread: Value,
    /// Whether a later session may continue the thread. Otherwise nothing of it is left in the history of the user.
    is_kept: bool,
    /// The thread to continue with a copy of.
    own: Option<&'a OwnSession>,
    /// The parameters of `turn/start`.
    turn: Value,
    /// The rules of a session; `None` for a question.
    rules: Option<Rules<'a>>,
}

/// A thread in which the agent has used tools, and that continues when the provider answers again.
struct Stopped {
    server: Arc<Server>,
    thread: OpenThread,
}

impl Codex {
    /// A harness that starts the program in the root folder.
    pub fn new(program: AgentProgram, folders: RunFolders) -> Self {
        Self {
            gate: program.gate(NAME, None),
            models: UnknownModels::new(&program),
            program,
            folders,
            supervisor: supervisor::program().map(Path::to_owned),
            endings: Arc::default(),
            server: AsyncMutex::default(),
            gone: GoneSessions::default(),
            servers: AgentServers::default(),
        }
    }

    /// The same with gates in a folder, which all processes of the user share.
    #[must_use]
    pub fn sharing_gates(self, folder: Option<&Path>) -> Self {
        let gate = self.program.gate(NAME, folder);
        Self { gate, ..self }
    }

    /// The same with MCP servers of agents.
    #[must_use]
    pub fn with_servers(self, servers: AgentServers) -> Self {
        Self { servers, ..self }
    }

    /// The same with another supervisor, or without one.
    pub fn supervised_by(self, supervisor: Option<PathBuf>) -> Self {
        Self { supervisor, ..self }
    }

    /// The running server; starts one if there is none.
    async fn server(&self) -> Result<Arc<Server>, Failure> {
        let mut running = self.server.lock().await;
        if let Some(server) = running.as_ref().filter(|server| server.end().is_none()) {
            return Ok(Arc::clone(server));
        }
        *running = None;
        let mut arguments = vec!["app-server".to_owned()];
        for feature in WITHOUT {
            arguments.extend(["-c".to_owned(), format!("features.{feature}=false")]);
        }
        let program = self.program.start(&arguments, &self.folders.root);
        let started = Server::start(program, self.supervisor.as_deref(), &self.endings).await;
        let started = started
            .map_err(|error| not_started(NAME, &self.program, &self.folders.root, &error))?
            .map_err(|error| self.failure_of(error))?;
        Ok(Arc::clone(running.insert(Arc::new(started))))
    }

    fn failure_of(&self, error: CallError) -> Failure {
        match error {
            CallError::Ended(said) => faults::failure_of(ErrorKind::AgentCrashed, NAME, None, &said),
            CallError::Reported(error) => faults::failure(NAME, None, &error),
        }
    }

    /// Works in a new thread until there is a reply. The attempts of Codex itself to reach its provider come first.
    async fn work(&self, work: &Work<'_>, reporter: &Reporter) -> Result<String, Failure> {
        let watched = self.gate.watch(reporter);
        let mut attempts = Attempts::new(&self.gate, PATIENCE, reporter);
        let mut stopped = None;
        loop {
            attempts.begin().await;
            match Box::pin(self.attempt(work, &watched, &mut stopped)).await {
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

    /// Works in the thread of the attempt before if the agent has used tools there, otherwise in a new one.
    async fn attempt(
        &self,
        work: &Work<'_>,
        reporter: &Reporter,
        stopped: &mut Option<Stopped>,
    ) -> Result<String, Failure> {
        let continued = stopped.take().filter(|stopped| stopped.server.end().is_none());
        let is_continued = continued.is_some();
        let (server, mut thread, prompt) = match continued {
            Some(Stopped { server, thread }) => (server, thread, CONTINUE),
            None => self.start(work, reporter).await?,
        };
        let mut params = work.turn.clone();
        params["input"] = json!([{ "type": "text", "text": prompt }]);
        thread.start_turn(params).await.map_err(|error| self.failure_of(error))?;
        let mut has_acted = is_continued;
        let outcome = self.follow(work, &server, &mut thread, reporter, &mut has_acted).await;
        if let Err(failure) = &outcome
            && has_acted
            && faults::is_transient(failure.kind)
        {
            thread.until_ended().await;
            *stopped = Some(Stopped { server, thread });
        }
        outcome
    }

    /// A new thread with its prompt, or a copy of the one that the session continues.
    async fn start<'w>(
        &self,
        work: &Work<'w>,
        reporter: &Reporter,
    ) -> Result<(Arc<Server>, OpenThread, &'w str), Failure> {
        let server = self.server().await?;
        let mut params = work.thread.clone();
        params["cwd"] = work.folder.to_string_lossy().into();
        params["ephemeral"] = (!work.is_kept).into();
        params["config"] = match &work.rules {
            Some(rules) => rules.config(&server.mcp_servers),
            None => rules::config_of_question(&server.mcp_servers, work.prompt.contains(BY_REFERENCE)),
        };
        let copied = self.copied(&server, work.own, &params, reporter).await?;
        let prompt: &str = match (&copied, work.own) {
            (Some(_), Some(own)) => &own.prompt,
            _ => work.prompt,
        };
        let started = match copied {
            Some(started) => started,
            None => server.call("thread/start", params).await.map_err(|error| self.failure_of(error))?,
        };
        let ThreadStarted { thread, model } =
            serde_json::from_value(started).map_err(|error| unexpected("thread/start", &error))?;
        reporter.report(Activity::Agent(AgentSession {
            id: thread.id.clone(),
            model: Some(model),
            transcript: thread.path,
        }));
        let thread = server.open(thread.id);
        Ok((server, thread, prompt))
    }

    /// Follows the work in a thread until its turn ends.
    async fn follow(
        &self,
        work: &Work<'_>,
        server: &Server,
        thread: &mut OpenThread,
        reporter: &Reporter,
        has_acted: &mut bool,
    ) -> Result<String, Failure> {
        let mut turn = Turn::default();
        loop {
            let Some(Incoming { request, method, params }) = thread.next().await else {
                let end = CallError::Ended(server.end().unwrap_or_default());
                return Err(self.failure_of(end));
            };
            if let Some(request) = request {
                *has_acted = true;
                let answer = self.decide(work.rules.as_ref(), &turn, &method, &params, reporter).await?;
                server.answer(&request, &answer);
                continue;
            }
            let mut report = |activity| {
                *has_acted |= matches!(activity, Activity::Tool(_));
                reporter.report(activity);
            };
            if thread.is_of_earlier_turn(&params) {
                turn.add_earlier(&method, &params);
                continue;
            }
            if let Some(outcome) = turn.add(NAME, &method, &params, &mut report) {
                if method == "turn/completed" {
                    thread.ended();
                }
                return outcome;
            }
        }
    }

    /// A copy of a thread, which is not changed itself, so that other attempts can continue it. `None` if there is nothing to continue.
    async fn copied(
        &self,
        server: &Server,
        own: Option<&OwnSession>,
        params: &Value,
        reporter: &Reporter,
    ) -> Result<Option<Value>, Failure> {
        let Some(own) = own else { return Ok(None) };
        let mut params = params.clone();
        params["threadId"] = own.id.as_str().into();
        params["excludeTurns"] = true.into();
        match server.call("thread/fork", params).await {
            Ok(started) => {
                reporter.report(Activity::Continued { id: own.id.clone() });
                Ok(Some(started))
            }
            Err(CallError::Reported(_)) => {
                self.gone.add(own, reporter);
                Ok(None)
            }
            Err(error) => Err(self.failure_of(error)),
        }
    }

    /// The answer to a request of Codex.
    async fn decide(
        &self,
        rules: Option<&Rules<'_>>,
        turn: &Turn,
        method: &str,
        params: &Value,
        reporter: &Reporter,
    ) -> Result<Value, Failure> {
        let Some(rules) = rules else { return Ok(refusal(method)) };
        match method {
            "item/commandExecution/requestApproval" => rules.command(&read(method, params)?, reporter).await,
            "item/fileChange/requestApproval" => {
                let approval: protocol::FileChangeApproval = read(method, params)?;
                rules.changes(turn.changes(&approval.item_id), reporter).await
            }
            "mcpServer/elicitation/request" => {
                let elicitation: protocol::Elicitation = read(method, params)?;
                let tool = turn.mcp_tool(&elicitation.server_name, &elicitation.message);
                rules.elicitation(&elicitation, tool, reporter).await
            }
            "item/permissions/requestApproval" => {
                let title = params["reason"].as_str().unwrap_or("more permissions").to_owned();
                let reason = "permissions are not extended during a session".to_owned();
                reporter.report(Activity::Denied(Denial { title, reason }));
                Ok(refusal(method))
            }
            _ => Ok(refusal(method)),
        }
    }
}

fn read<T: DeserializeOwned>(method: &str, params: &Value) -> Result<T, Failure> {
    T::deserialize(params).map_err(|error| unexpected(method, &error))
}

fn unexpected(method: &str, error: &serde_json::Error) -> Failure {
    Failure::session(format!(
        "`codex app-server` sent `{method}` in an unknown form: {error}; install a version that is known to work, such as 0.169.0"
    ))
}

impl Sessions for Codex {
    fn name(&self) -> &str {
        NAME
    }

    fn session<'a>(
        &'a self,
        _: &'a Request,
        task: &'a Arc<SessionTask>,
        reporter: &'a Reporter,
    ) -> HarnessFuture<'a, Reply> {
        Box::pin(async move {
            let (model, warning) = self.models.supported(NAME, task.model.as_deref());
            let folders = Folders::of(task, &self.folders);
            let folder = folders.root.clone();
            let servers = of_agent(&self.servers, task.agent.as_deref());
            let rules = Rules::new(task.agent.as_deref(), &task.permissions, folders).with_servers(servers);
            let work = Work {
                prompt: &task.prompt,
                folder,
                thread: json!({
                    "model": model,
                    "approvalPolicy": rules.approval_policy(),
                    "developerInstructions": task.system_part(),
                }),
                turn: json!({ "sandboxPolicy": rules.sandbox() }),
                is_kept: task.memory.is_some(),
                own: self.gone.to_continue(NAME, task),
                rules: Some(rules),
            };
            let text = self.work(&work, reporter).await?;
            Ok(Reply {
                text: text.trim_end().into(),
                warnings: warning.into_iter().collect(),
                ..Reply::default()
            })
        })
    }

    fn settled(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async {
            if let Some(server) = self.server.lock().await.take() {
                server.stop(self.endings.are_hurried()).await;
            }
            self.endings.settled().await;
        })
    }

    fn ask<'a>(&'a self, question: Ask, reporter: &'a Reporter) -> HarnessFuture<'a, String> {
        Box::pin(async move {
            let Ask { prompt, model, schema } = question;
            let (model, _) = self.models.supported(NAME, model.as_deref());
            let work = Work {
                prompt: &prompt,
                folder: self.folders.root.clone(),
                thread: json!({
                    "model": model,
                    "approvalPolicy": "never",
                    "sandbox": "read-only",
                    "baseInstructions": OF_QUESTION,
                }),
                turn: json!({
                    "sandboxPolicy": { "type": "readOnly", "networkAccess": false },
                    "outputSchema": schema,
                }),
                is_kept: false,
                own: None,
                rules: None,
            };
            self.work(&work, reporter).await
        })
    }

    fn binds_answers(&self) -> bool {
        true
    }
}
