//! Claude Code, which exchanges messages with `prose` while it works: `claude -p --input-format stream-json`.
//!
//! Each session has a process of its own. Where a session has permissions, a hook makes every use of a tool a question, which is answered by
//! [`prose_backends::permissions`]; the rules of Claude Code itself let too much through. A process is kept for a short while if the same session may ask again.

mod messages;
pub(super) mod tools;
mod turn;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use prose_vm::activity::{Activity, Reporter};
use prose_vm::effect::{Failure, OwnSession, Permission, PermissionRule, Reply, Request, SessionTask};
use prose_vm::harness::RunFolders;
use prose_vm::place::Place;

use self::turn::{Conversation, Rights, Start};
use super::host::{AgentHost, permissions_of_question};
use crate::command::environment;
use crate::decide::{Ask, BY_REFERENCE, Sessions};
use crate::drivers::connection::Endings;
use crate::mcp::{McpServer, config_for_claude};
use crate::traced;
use prose_backends::permissions::{About, Folders};

/// The name of the harness.
const NAME: &str = "claude";

/// The harness that runs sessions in Claude Code.
pub struct Claude {
    host: AgentHost,
    kept: Arc<Mutex<HashMap<Place, Conversation>>>,
}

/// How long the process of a session that may ask again is kept.
const KEPT_AFTER_REPLY: Duration = Duration::from_secs(2);
/// How long the process of a session that may be repeated is kept.
const KEPT_AFTER_FAILURE: Duration = Duration::from_secs(30);

/// What Claude Code reports, without a request to its provider, if it has not the session to continue.
const SESSION_IS_GONE: &str = "No conversation found with session ID";

/// The arguments of all processes.
const PROTOCOL: &[&str] = &[
    "-p",
    "--input-format=stream-json",
    "--output-format=stream-json",
    "--verbose",
    "--include-partial-messages",
    "--permission-prompt-tool=stdio",
    // Only servers that the program names.
    "--strict-mcp-config",
];

/// The system prompt of questions, in place of the one for work on a project, which is a hundred times as long.
const QUESTION_SYSTEM: &str = "You answer one question, in the form that it asks for.";

impl Claude {
    /// The harness of an agent.
    pub fn new(host: AgentHost) -> Self {
        Self { host, kept: Arc::default() }
    }

    /// Works on a prompt, in the process of an earlier attempt if there is one.
    async fn work(
        &self,
        place: &Place,
        start: Start,
        prompt: &str,
        rights: &Rights<'_>,
        reporter: &Reporter,
    ) -> (Result<String, Failure>, Option<Conversation>) {
        let mut conversation = self.take(place, &start);
        let (mut attempts, watched) = self.host.attempts(reporter);
        let mut continues = false;
        loop {
            attempts.begin().await;
            let mut current = match conversation.take() {
                Some(current) => current,
                None => match self.open(start.clone()).await {
                    Ok(opened) => opened,
                    Err(failure) => return (Err(failure), None),
                },
            };
            let tried = current.turn(prompt, continues, rights, &watched).await;
            // Others are stopped.
            conversation = current.is_idle().then_some(current);
            continues = conversation.as_ref().is_some_and(Conversation::has_acted);
            match self.host.settle(&mut attempts, tried).await {
                Ok(None) => {}
                Ok(Some(said)) => return (Ok(said), conversation),
                Err(failure) => return (Err(failure), conversation),
            }
        }
    }

    async fn open(&self, start: Start) -> Result<Conversation, Failure> {
        let mut arguments = start.arguments.clone();
        if let Some(session) = &start.continues {
            // The earlier session stays as it is, for other attempts.
            arguments.extend([format!("--resume={session}"), "--fork-session".to_owned()]);
        }
        let mut program = self.host.program.start(&arguments, &start.folder);
        // What a value names with `@` is not read without a question.
        program.variables.extend(environment::values(&start.variables));
        program.variables.push(("CLAUDE_CODE_DISABLE_FILE_MENTIONS".to_owned(), "1".to_owned()));
        program.variables.extend(traced::variable());
        Ok(Conversation::start(self.host.start(program).await?, start))
    }

    fn kept(&self) -> MutexGuard<'_, HashMap<Place, Conversation>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The kept process of a session.
    fn take(&self, place: &Place, start: &Start) -> Option<Conversation> {
        let conversation = self.kept().remove(&session_of(place))?;
        if conversation.start == *start {
            return Some(conversation);
        }
        finish(conversation, &self.host.endings);
        None
    }

    /// Keeps the process of a session for a while.
    fn keep(&self, place: &Place, conversation: Conversation, time: Duration) {
        let place = session_of(place);
        let number = conversation.number;
        let replaced = self.kept().insert(place.clone(), conversation);
        replaced.into_iter().for_each(|other| finish(other, &self.host.endings));
        let (kept, endings) = (Arc::clone(&self.kept), Arc::clone(&self.host.endings));
        tokio::spawn(async move {
            tokio::time::sleep(time).await;
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            // The session may have taken it, and kept another one.
            if kept.get(&place).is_some_and(|current| current.number == number)
                && let Some(conversation) = kept.remove(&place)
            {
                finish(conversation, &endings);
            }
        });
    }
}

/// Ends a process in the background.
fn finish(conversation: Conversation, endings: &Arc<Endings>) {
    if endings.are_hurried() {
        return;
    }
    let ending = endings.begin();
    tokio::spawn(async move {
        conversation.finish().await;
        drop(ending);
    });
}

/// The place of a session without the number of its retry.
fn session_of(place: &Place) -> Place {
    let is_retry = |step: &str| {
        let number = step.strip_prefix('a');
        number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let steps: Vec<&str> = place.as_str().split('/').collect();
    let kept = match steps.split_last() {
        Some((last, before)) if is_retry(last) => before,
        _ => &steps,
    };
    kept.iter().filter(|step| !step.is_empty()).fold(Place::root(), |place, step| place.step(step))
}

/// How the process of a session with MCP servers is started.
fn start_of(
    task: &SessionTask,
    servers: &[McpServer],
    folders: &RunFolders,
    own: Option<&OwnSession>,
) -> Start {
    let mut arguments: Vec<String> = PROTOCOL.iter().map(|argument| (*argument).to_owned()).collect();
    arguments.extend(task.model.as_deref().map(|model| format!("--model={model}")));
    // There is no one in the terminal of the process.
    arguments.push("--disallowedTools=AskUserQuestion".to_owned());
    let asks = !task.permissions.is_empty();
    match asks {
        false => arguments.push("--permission-mode=acceptEdits".to_owned()),
        true => {
            arguments.push("--permission-mode=default".to_owned());
            arguments.push(r#"--settings={"disableAllHooks":false}"#.to_owned());
            arguments.extend(remaining_tools(&task.permissions));
        }
    }
    let folder = folders.of_session(task);
    if !servers.is_empty() {
        arguments.push(format!("--mcp-config={}", config_for_claude(servers, &folder)));
    }
    Start {
        arguments,
        folder,
        system: task.system_part().map(Into::into),
        asks,
        continues: own.map(|own| own.id.clone()),
        variables: servers.iter().flat_map(McpServer::variables).collect(),
    }
}

/// The argument that leaves the tools that are not forbidden as a whole, so that the model does not try those.
fn remaining_tools(permissions: &[Permission]) -> Option<String> {
    let denies = |about| {
        permissions.iter().any(|permission| {
            About::of(&permission.about) == Some(about) && permission.rule == PermissionRule::Deny
        })
    };
    // The tools of MCP servers are not among those that are named.
    if !About::ALL.into_iter().any(|about| about != About::Mcp && denies(about)) {
        return None;
    }
    let tools = tools::BY_SUBJECT.iter().filter(|(about, _)| !denies(*about)).flat_map(|(_, tools)| *tools);
    // A command can do anything, so any restriction removes commands.
    let tools: Vec<&str> = tools.copied().collect();
    Some(format!("--tools={}", tools.join(",")))
}

impl Sessions for Claude {
    fn name(&self) -> &str {
        self.host.name()
    }

    async fn session(
        &self,
        request: &Request,
        task: &Arc<SessionTask>,
        reporter: &Reporter,
    ) -> Result<Reply, Failure> {
        let rights = Rights {
            agent: task.agent.as_deref(),
            permissions: &task.permissions,
            skills: &task.skills,
            folders: Folders::of(task, &self.host.folders),
        };
        let servers = self.host.servers_of(task);
        let start = |own| start_of(task, servers, &self.host.folders, own);
        let own = self.host.to_continue(task);
        let prompt = own.map_or(&task.prompt, |own| &own.prompt);
        let work = self.work(&request.place, start(own), prompt, &rights, reporter);
        let (mut said, mut conversation) = work.await;
        if let Some(own) = own {
            if matches!(&said, Err(failure) if failure.message.contains(SESSION_IS_GONE)) {
                conversation.take().into_iter().for_each(|other| finish(other, &self.host.endings));
                self.host.is_gone(own, reporter);
                let work = self.work(&request.place, start(None), &task.prompt, &rights, reporter);
                (said, conversation) = work.await;
            } else {
                reporter.report(Activity::Continued { id: own.id.clone() });
            }
        }
        if let Some(conversation) = conversation {
            // Without its result, the session is asked again.
            let has_result = || {
                !task.writes_result
                    || self.host.folders.file(&task.binding.path).is_none_or(|file| file.exists())
            };
            match &said {
                Ok(_) if has_result() => finish(conversation, &self.host.endings),
                Ok(_) => self.keep(&request.place, conversation, KEPT_AFTER_REPLY),
                Err(failure) if task.attempt < task.retries && !failure.kind.stops_run() => {
                    self.keep(&request.place, conversation, KEPT_AFTER_FAILURE);
                }
                Err(_) => finish(conversation, &self.host.endings),
            }
        }
        Ok(Reply::new(&said?, None))
    }

    async fn settled(&self) {
        let kept = std::mem::take(&mut *self.kept());
        kept.into_values().for_each(|conversation| finish(conversation, &self.host.endings));
        self.host.endings.settled().await;
    }

    async fn ask(&self, question: Ask, reporter: &Reporter) -> Result<String, Failure> {
        let Ask { prompt, model, .. } = question;
        // A question changes nothing, and reads only the files that it names.
        let asks = prompt.contains(BY_REFERENCE);
        let mut arguments: Vec<String> = PROTOCOL.iter().map(|argument| (*argument).to_owned()).collect();
        arguments.extend(model.map(|model| format!("--model={model}")));
        arguments.push(format!("--tools={}", if asks { "Read" } else { "" }));
        arguments.push(format!("--system-prompt={QUESTION_SYSTEM}"));
        // Nothing of the project but what the question says; signing in works as always.
        arguments.extend(
            ["--safe-mode", "--disable-slash-commands", "--no-session-persistence"].map(str::to_owned),
        );
        let permissions = permissions_of_question(true);
        let rights = Rights {
            agent: None,
            permissions: &permissions,
            skills: &[],
            folders: self.host.folders_of_question(),
        };
        let folder = self.host.folders.root.clone();
        let start = Start { arguments, folder, system: None, asks, continues: None, variables: Vec::new() };
        let (said, conversation) = self.work(&Place::root(), start, &prompt, &rights, reporter).await;
        conversation.into_iter().for_each(|conversation| finish(conversation, &self.host.endings));
        said
    }
}
