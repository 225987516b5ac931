//! Codex: one `codex app-server` for all sessions of a run, and a thread for each of them.

mod protocol;
mod rules;
mod server;
mod turn;

use std::path::PathBuf;
use std::sync::Arc;

use prose_vm::activity::{Activity, AgentSession, Denial, Reporter};
use prose_vm::effect::{Failure, OwnSession, PermissionRule, Reply, Request, SessionTask};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use self::protocol::ThreadStarted;
use self::rules::Rules;
use self::server::{OpenThread, Server, refusal};
use self::turn::Turn;
use super::host::{AgentHost, Attempted};
use super::rpc::{CallError, Incoming};
use super::shared::{Shared, SharedProcess};
use crate::decide::{Ask, BY_REFERENCE, Sessions};
use crate::drivers::CONTINUE;
use crate::faults;
use crate::gate::Fault;
use prose_backends::permissions::Folders;

const NAME: &str = "codex";

/// The features of Codex that programs do not use: other agents, tools that no rule restricts, and the snapshot of the shell, which writes the
/// keys in its environment into a file.
const WITHOUT: &[&str] =
    &["multi_agent", "browser_use", "computer_use", "image_generation", "shell_snapshot"];

/// The instructions for short questions.
const OF_QUESTION: &str = "Answer the question of the user in the requested form. Read files only if the question names them, and change nothing.";

/// The harness `codex`.
pub struct Codex {
    host: AgentHost,
    server: Shared<Server>,
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

impl Attempted for (&Codex, &Work<'_>) {
    type Done = String;
    type Stopped = OpenThread;

    // The attempts of Codex itself to reach its provider come first.
    async fn attempt(&self, reporter: &Reporter, stopped: &mut Option<OpenThread>) -> Result<String, Fault> {
        let (codex, work) = self;
        let continued = stopped.take().filter(|thread| thread.server.is_running());
        let mut has_acted = continued.is_some();
        let (mut thread, prompt) = match continued {
            Some(thread) => (thread, CONTINUE),
            None => codex.start(work, reporter).await.map_err(Fault::repeatable)?,
        };
        let mut params = work.turn.clone();
        params["input"] = json!([{ "type": "text", "text": prompt }]);
        thread.start_turn(params, reporter).await.map_err(Fault::repeatable)?;
        let outcome = codex.follow(work, &mut thread, reporter, &mut has_acted).await;
        if let Err(failure) = &outcome
            && has_acted
            && faults::is_transient(failure.kind)
        {
            thread.until_ended().await;
            *stopped = Some(thread);
        }
        outcome.map_err(Fault::repeatable)
    }
}

impl Codex {
    /// The harness of an agent.
    pub fn new(host: AgentHost) -> Self {
        Self { host, server: Shared::default() }
    }

    async fn start_server(&self) -> Result<Server, Failure> {
        let mut arguments = vec!["app-server".to_owned()];
        for feature in WITHOUT {
            arguments.extend(["-c".to_owned(), format!("features.{feature}=false")]);
        }
        let program = self.host.program.start(&arguments, &self.host.folders.root);
        Server::start(&self.host, program).await
    }

    /// A new thread with its prompt, or a copy of the one that the session continues.
    async fn start<'w>(
        &self,
        work: &Work<'w>,
        reporter: &Reporter,
    ) -> Result<(OpenThread, &'w str), Failure> {
        let server = self.server.get(|_| true, self.start_server()).await?;
        let mut params = work.thread.clone();
        params["cwd"] = work.folder.to_string_lossy().into();
        params["ephemeral"] = (!work.is_kept).into();
        params["config"] = match &work.rules {
            Some(rules) => rules.config(&server.mcp_servers),
            None => rules::config_of_question(&server.mcp_servers, work.prompt.contains(BY_REFERENCE)),
        };
        let (started, prompt) = match self.copied(&server, work.own, &params, reporter).await? {
            Some(copied) => copied,
            None => (server.rpc.require("thread/start", &params).await?, work.prompt),
        };
        let ThreadStarted { thread, model } =
            serde_json::from_value(started).map_err(|error| unexpected("thread/start", &error))?;
        reporter.report(Activity::Agent(AgentSession {
            id: thread.id.clone(),
            model: Some(model),
            transcript: thread.path,
        }));
        Ok((server.open(thread.id), prompt))
    }

    /// Follows the work in a thread until its turn ends.
    async fn follow(
        &self,
        work: &Work<'_>,
        thread: &mut OpenThread,
        reporter: &Reporter,
        has_acted: &mut bool,
    ) -> Result<String, Failure> {
        let server = Arc::clone(&thread.server);
        let mut turn = Turn::default();
        loop {
            let Some(Incoming { id, method, params }) = thread.next().await else {
                return Err(server.rpc.end());
            };
            if let Some(id) = id {
                *has_acted = true;
                thread.is_asking = true;
                let answer = self.decide(work.rules.as_ref(), &turn, &method, &params, reporter).await?;
                thread.is_asking = false;
                server.rpc.answer(&id, Ok(answer));
                continue;
            }
            let mut report = |activity| {
                *has_acted |= matches!(activity, Activity::Tool(_));
                reporter.report(activity);
            };
            let is_earlier = thread.count(&method, &params);
            if is_earlier {
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

    /// A copy of a thread with its next prompt; the thread is not changed itself, so that other attempts can continue it. `None` if there is nothing to
    /// continue.
    async fn copied<'w>(
        &self,
        server: &Server,
        own: Option<&'w OwnSession>,
        params: &Value,
        reporter: &Reporter,
    ) -> Result<Option<(Value, &'w str)>, Failure> {
        let Some(own) = own else { return Ok(None) };
        let mut params = params.clone();
        params["threadId"] = own.id.as_str().into();
        params["excludeTurns"] = true.into();
        match server.rpc.call("thread/fork", &params).await {
            Ok(started) => {
                reporter.report(Activity::Continued { id: own.id.clone() });
                Ok(Some((started, &own.prompt)))
            }
            Err(CallError::Reported { .. }) => {
                self.host.is_gone(own, reporter);
                Ok(None)
            }
            Err(CallError::Ended(failure)) => Err(failure),
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
        self.host.name()
    }

    async fn session(
        &self,
        _: &Request,
        task: &Arc<SessionTask>,
        reporter: &Reporter,
    ) -> Result<Reply, Failure> {
        let (model, warning) = self.host.model(task.model.as_deref());
        let folders = Folders::of(task, &self.host.folders);
        let folder = folders.root.clone();
        let servers = self.host.servers_of(task);
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
            // A session that waits for a person may have to continue in another process.
            is_kept: task.memory.is_some()
                || task.permissions.iter().any(|it| it.rule == PermissionRule::Prompt),
            own: self.host.to_continue(task),
            rules: Some(rules),
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
        let work = Work {
            prompt: &prompt,
            folder: self.host.folders.root.clone(),
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
        self.host.attempt((self, &work), reporter).await
    }

    fn binds_answers(&self) -> bool {
        true
    }
}
