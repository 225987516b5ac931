//! `prose acp`: programs served as an agent of the Agent Client Protocol, for editors.
//!
//! A session runs a program: its top-level statements are the plan, its sessions are tool calls, permissions are requested from the client, and prompts
//! give inputs. The program runs as with `prose run` in the folder that is served: under the settings, the limits, the permissions and the trust of its
//! project, which a client cannot change.

mod commands;
mod connection;
mod load;
mod report;
mod runs_of_session;
mod session;
mod updates;

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use prose_acp::{Content, PROTOCOL_VERSION, Tokens, Update, code, error, invalid_params, unknown_method};
use prose_state::folder::run_id;
use prose_vm::effect::Usage;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use smol_str::SmolStr;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinSet;

use self::connection::{Connection, Messages, Received};
use self::session::{Session, Turn, TurnGuard};
use crate::Options;
use crate::folder::Folder;

/// The maximum number of sessions in a list.
const MAX_LISTED: usize = 100;

/// Serves a client until it closes the connection. Runs that still work then are stopped, and can be resumed. With `program`, the path of a program in
/// the folder, every session runs that one; otherwise a prompt names one.
pub async fn serve<R, W>(options: Options, program: Option<String>, input: R, output: W) -> io::Result<()>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let folder = Folder::new(options)?;
    let program = match program.as_deref().map(|named| (named, commands::path_of(&folder, named))) {
        None => None,
        Some((_, Some(path))) => Some(path),
        Some((named, None)) => {
            let reason =
                folder.place(named).map_or_else(|reason| reason, |_| format!("`{named}` does not exist"));
            return Err(io::Error::other(reason));
        }
    };
    let (connection, writing) = Connection::new(output);
    let agent = Arc::new(Agent {
        folder: Arc::new(folder),
        program,
        connection: Arc::clone(&connection),
        sessions: Mutex::default(),
    });
    let mut messages = Messages::new(input);
    let ended = loop {
        match messages.next().await {
            Ok(Some(Received::Message(message))) => agent.receive(message),
            Ok(Some(Received::Wrong(error))) => connection.respond(&Value::Null, Err(error)).await,
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    connection.close();
    agent.stop_all().await;
    // Who still waits to write would keep the queue open.
    writing.abort();
    ended
}

/// The sessions of a client.
struct Agent {
    folder: Arc<Folder>,
    program: Option<String>,
    connection: Arc<Connection>,
    sessions: Mutex<HashMap<SmolStr, Arc<Session>>>,
}

/// The parameters of `session/new`, `session/load`, `session/resume` and `session/list`. The MCP servers of the client are not used: agents have those of the project.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct InFolder {
    cwd: Option<PathBuf>,
    session_id: Option<SmolStr>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct OfSession {
    session_id: SmolStr,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Prompt {
    session_id: SmolStr,
    prompt: Vec<Content>,
}

impl Agent {
    fn sessions(&self) -> MutexGuard<'_, HashMap<SmolStr, Arc<Session>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn session(&self, id: &str) -> Result<Arc<Session>, Value> {
        let missing = || error(code::RESOURCE_NOT_FOUND, format!("session `{id}` does not exist"));
        self.sessions().get(id).cloned().ok_or_else(missing)
    }

    /// Handles a message. Requests are answered by tasks, so that none of them keeps a cancellation waiting.
    fn receive(self: &Arc<Self>, mut message: Value) {
        let Some(method) = message.get("method").and_then(Value::as_str).map(str::to_owned) else {
            return self.connection.answered(message);
        };
        let params = message["params"].take();
        let Some(id) = message.get("id").filter(|id| !id.is_null()).cloned() else {
            if let ("session/cancel", Ok(OfSession { session_id })) =
                (method.as_str(), OfSession::deserialize(params))
                && let Ok(session) = self.session(&session_id)
            {
                session.cancel();
            }
            return;
        };
        // A turn begins at once, so that it can be cancelled by the next message.
        let turn = (method == "session/prompt").then(|| self.begin(&params));
        let agent = Arc::clone(self);
        tokio::spawn(async move {
            let (result, new) = match turn {
                Some(turn) => (agent.prompt(turn).await, None),
                None => match agent.request(&method, &params).await {
                    Ok((result, new)) => (Ok(result), new),
                    Err(error) => (Err(error), None),
                },
            };
            agent.connection.respond(&id, result).await;
            if let Some(session) = new {
                agent.offer(&session).await;
            }
        });
    }

    /// Handles a request other than a prompt. A session in the result is a new one.
    async fn request(
        self: &Arc<Self>,
        method: &str,
        params: &Value,
    ) -> Result<(Value, Option<Arc<Session>>), Value> {
        match method {
            "initialize" => Ok((introduction(), None)),
            // There is nothing to sign in to: the agents of programs have accounts of their own.
            "authenticate" => Ok((json!({}), None)),
            "session/new" => {
                let InFolder { cwd, .. } = read(method, params)?;
                let folder = self.folder_of(cwd)?;
                let session = self.open(run_id(SystemTime::now()), folder);
                Ok((json!({ "sessionId": session.id }), Some(session)))
            }
            // A client that resumes a session keeps what it has shown of it.
            "session/load" | "session/resume" => {
                let InFolder { cwd, session_id } = read(method, params)?;
                let id = session_id.ok_or_else(|| invalid_params(method))?;
                let folder = self.folder_of(cwd)?;
                let known = self.session(&id).ok();
                let session = known.clone().unwrap_or_else(|| self.open(id.clone(), folder));
                let turn = session.begin_turn().ok_or_else(at_work)?;
                let loaded = session.load(method == "session/resume").await;
                drop(turn);
                // A session that is open may have no runs yet.
                if let Err(error) = loaded
                    && known.is_none()
                {
                    self.sessions().remove(&id);
                    return Err(error);
                }
                Ok((json!({}), Some(session)))
            }
            "session/list" => {
                let InFolder { cwd, .. } = read(method, params)?;
                let folder = self.folder_of(cwd)?;
                let listing = tokio::task::spawn_blocking(move || listed(&folder));
                let sessions = listing.await.map_err(|_| defect())?;
                Ok((
                    json!({ "sessions": sessions.map_err(|reason| error(code::INTERNAL_ERROR, reason))? }),
                    None,
                ))
            }
            "session/close" => {
                let OfSession { session_id } = read(method, params)?;
                let session = self.session(&session_id)?;
                session.close().await;
                self.sessions().remove(&session_id);
                Ok((json!({}), None))
            }
            other => Err(unknown_method(other)),
        }
    }

    /// The folder of a session: that of the client, which lies in the served one. A server for one program has its own.
    fn folder_of(&self, cwd: Option<PathBuf>) -> Result<Arc<Folder>, Value> {
        let Some(cwd) = cwd else { return Ok(Arc::clone(&self.folder)) };
        let within = self.folder.within(&cwd).map_err(|reason| error(code::INVALID_PARAMS, reason))?;
        Ok(if self.program.is_some() { Arc::clone(&self.folder) } else { Arc::new(within) })
    }

    fn open(&self, id: SmolStr, folder: Arc<Folder>) -> Arc<Session> {
        let session = Session::new(id.clone(), folder, self.program.clone(), Arc::clone(&self.connection));
        let session = Arc::new(session);
        self.sessions().insert(id, Arc::clone(&session));
        session
    }

    /// Tells the client what a prompt can start with.
    async fn offer(&self, session: &Session) {
        let available_commands = commands::available(&session.offered().await);
        session.update(Update::AvailableCommandsUpdate { available_commands }).await;
    }

    /// Begins the turn of a prompt.
    fn begin(&self, params: &Value) -> Result<(Arc<Session>, TurnGuard, String), Value> {
        let Prompt { session_id, prompt } = read("session/prompt", params)?;
        let session = self.session(&session_id)?;
        let Some(guard) = session.begin_turn() else {
            return Err(at_work());
        };
        let text = text_of(&prompt, &session.folder);
        Ok((session, guard, text))
    }

    async fn prompt(&self, turn: Result<(Arc<Session>, TurnGuard, String), Value>) -> Result<Value, Value> {
        let (session, guard, text) = turn?;
        let Turn { stop, end } = session.prompt(&text, guard.cancelled.clone()).await?;
        let mut result = json!({ "stopReason": stop });
        if let Some(usage) = end.and_then(|end| end.usage) {
            result["usage"] = json!(tokens(usage));
        }
        Ok(result)
    }

    async fn stop_all(&self) {
        let sessions: Vec<_> = self.sessions().values().cloned().collect();
        let mut closing = JoinSet::new();
        for session in sessions {
            closing.spawn(async move { session.close().await });
        }
        while closing.join_next().await.is_some() {}
    }
}

/// The result of `initialize`.
fn introduction() -> Value {
    json!({
        "protocolVersion": PROTOCOL_VERSION,
        "agentCapabilities": {
            "loadSession": true,
            "promptCapabilities": { "image": false, "audio": false, "embeddedContext": true },
            "mcpCapabilities": { "http": false, "sse": false },
            "sessionCapabilities": { "close": {}, "list": {}, "resume": {} },
        },
        "agentInfo": { "name": "prose", "title": "OpenProse", "version": env!("CARGO_PKG_VERSION") },
        "authMethods": [],
    })
}

fn read<T: DeserializeOwned>(method: &str, params: &Value) -> Result<T, Value> {
    T::deserialize(params).map_err(|_| invalid_params(method))
}

fn at_work() -> Value {
    error(code::INVALID_REQUEST, "the session is at work; cancel it, or wait for its end")
}

fn defect() -> Value {
    error(code::INTERNAL_ERROR, "a defect in prose has ended this request")
}

/// The recorded runs as sessions, each with its last run.
fn listed(folder: &Folder) -> Result<Vec<Value>, String> {
    let sessions = runs_of_session::sessions(folder, MAX_LISTED)?;
    let sessions = sessions.iter().map(|(session, run)| {
        let title = run.program.as_deref().unwrap_or("?");
        json!({
            "sessionId": session,
            "cwd": folder.root(),
            "title": format!("{title} ({})", run.status.name()),
        })
    });
    Ok(sessions.collect())
}

/// The text of a prompt. Files that it mentions are named by their paths; nothing is read for it.
fn text_of(prompt: &[Content], folder: &Folder) -> String {
    let name = |uri: &str| {
        let path = uri.strip_prefix("file://").unwrap_or(uri);
        folder.shown(path.as_ref())
    };
    let part = |content: &Content| match content {
        Content::Text { text } => Some(text.clone()),
        Content::ResourceLink { uri } => Some(name(uri)),
        Content::Resource { resource } => match &resource.text {
            Some(text) => Some(format!("\n{}:\n{text}\n", name(&resource.uri))),
            None => Some(name(&resource.uri)),
        },
        Content::Other => None,
    };
    prompt.iter().filter_map(part).collect()
}

/// The usage of a run as the protocol counts it: input tokens without those of the cache.
fn tokens(usage: Usage) -> Tokens {
    let Usage { input_tokens, cache_read_tokens, cache_write_tokens, output_tokens, .. } = usage;
    Tokens {
        total_tokens: input_tokens.saturating_add(output_tokens),
        input_tokens: input_tokens.saturating_sub(cache_read_tokens).saturating_sub(cache_write_tokens),
        output_tokens,
        cached_read_tokens: Some(cache_read_tokens).filter(|count| *count > 0),
        cached_write_tokens: Some(cache_write_tokens).filter(|count| *count > 0),
    }
}
