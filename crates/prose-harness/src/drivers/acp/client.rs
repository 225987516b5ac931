//! The set-up of a session, and its prompt.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use prose_acp::code::{AUTH_REQUIRED, METHOD_NOT_FOUND};
use prose_acp::{PROTOCOL_VERSION, StopReason};
use prose_vm::activity::{Activity, AgentSession, Reporter};
use prose_vm::effect::Failure;
use prose_vm::error::ErrorKind;
use serde_json::{Value, json};

use super::protocol::{ConfigOption, Continuing, Ended, Models, NewSession, read};
use super::server::{OpenSession, Server};
use super::turn::{Rules, Turn};
use crate::drivers::CONTINUE_DENIED;
use crate::drivers::program::unknown_model;
use crate::drivers::rpc::{CallError, Incoming};
use crate::faults;
use crate::mcp::McpServer;

const SESSION_NEW: &str = "session/new";

const SESSION_SET_TITLE: &str = "session/set_title";

/// The title of sessions in the history of the user.
const TITLE: &str = "prose";

/// How often a session goes on after a call that was denied, by an agent that ends its turn then.
const MAX_CONTINUED: usize = 8;

/// What comes before a prompt that begins like a command.
const BEFORE_COMMAND: &str = "The task:\n\n";

/// The modes in which agents ask before they act, the most common name first.
const ASKING_MODES: &[&str] = &["default", "ask", "manual", "read-only"];

/// The sign-ins that need no browser, and the variables that they read.
const SIGN_INS: &[(&str, &[&str])] = &[
    ("gemini-api-key", &["GEMINI_API_KEY"]),
    ("codex-api-key", &["CODEX_API_KEY"]),
    ("openai-api-key", &["OPENAI_API_KEY"]),
    ("api-key", &["CODEX_API_KEY", "OPENAI_API_KEY"]),
    ("openai", &["OPENAI_API_KEY"]),
];

/// A session that is ready for a prompt.
pub(super) struct Opened {
    pub(super) session: OpenSession,
    pub(super) warnings: Vec<String>,
    /// Whether it is an earlier session with what was said there.
    pub(super) is_continued: bool,
}

/// How a session is set up.
pub(super) struct Setup<'a> {
    pub(super) folder: &'a Path,
    pub(super) servers: &'a [McpServer],
    /// What only this agent understands.
    pub(super) meta: Option<Value>,
    pub(super) model: Option<&'a str>,
}

/// The parameters of `initialize`.
pub(super) fn introduction(gives_files: bool) -> Value {
    json!({
        "protocolVersion": PROTOCOL_VERSION,
        "clientCapabilities": {
            "fs": { "readTextFile": gives_files, "writeTextFile": gives_files },
            "terminal": false,
        },
        "clientInfo": { "name": "prose", "version": env!("CARGO_PKG_VERSION") },
    })
}

impl Server {
    /// Starts a session with MCP servers in a folder, or continues an earlier one by its id. The agent asks before it acts, as far as it has such a mode.
    pub(super) async fn open_session(
        self: &Arc<Self>,
        setup: Setup<'_>,
        earlier: Option<(Continuing, &str)>,
        reporter: &Reporter,
    ) -> Result<Opened, Failure> {
        let Setup { folder, servers, meta, model } = setup;
        let servers: Vec<Value> = servers.iter().map(|server| server.for_acp(folder)).collect();
        let mut new = json!({ "cwd": folder, "mcpServers": servers });
        if let Some(meta) = meta {
            new["_meta"] = meta;
        }
        let method = match earlier {
            Some((continuing, id)) => {
                new["sessionId"] = id.into();
                continuing.method()
            }
            None => SESSION_NEW,
        };
        // What was said in an earlier session is reported before the answer, and ignored as the session is not open yet.
        let mut opened = match self.rpc.call(method, &new).await {
            Err(CallError::Reported { code: AUTH_REQUIRED, message }) => {
                self.sign_in(&message).await?;
                self.require(method, &new).await?
            }
            opened => opened.map_err(|error| error.failure(self.who()))?,
        };
        // Only a copy has an id of its own.
        if let Some((_, id)) = earlier.filter(|_| opened["sessionId"].is_null()) {
            if !opened.is_object() {
                opened = json!({});
            }
            opened["sessionId"] = id.into();
        }
        let NewSession { session_id: id, modes, config_options, models } = read(self.who(), method, &opened)?;
        let session = self.open(id.clone(), folder, earlier.is_some()).await;
        if self.met.names_sessions() {
            // Otherwise, an agent may ask a model for a title, which nobody reads. It does not matter whether this succeeds.
            self.rpc.send(SESSION_SET_TITLE, &json!({ "sessionId": id, "title": TITLE }));
        }
        if let Some(modes) = modes.filter(|_| !self.is_configured()) {
            let has = |mode: &&&str| modes.available_modes.iter().any(|it| it.id == ***mode);
            let asking = ASKING_MODES.iter().find(has);
            if let Some(mode) = asking.filter(|mode| modes.current_mode_id != **mode) {
                let params = json!({ "sessionId": id, "modeId": mode });
                self.require::<Value>("session/set_mode", &params).await?;
            }
        }
        let mut warnings = Vec::new();
        let options = config_options.unwrap_or_default();
        let mut used = current_model(&options)
            .or_else(|| models.as_ref().map(|models| models.current_model_id.as_str()))
            .map(Into::into);
        if let Some(model) = model {
            match self.set_model(&id, &options, models.as_ref(), model).await? {
                Some(set) => used = Some(set),
                None => warnings.push(unknown_model(self.who(), model)),
            }
        }
        let agent = AgentSession {
            id: id.as_str().into(),
            model: used.map(|model: String| provider_id(&model).into()),
            transcript: None,
        };
        reporter.report(Activity::Agent(agent));
        Ok(Opened { session, warnings, is_continued: earlier.is_some() })
    }

    /// Signs in with a key of the environment.
    async fn sign_in(&self, message: &str) -> Result<(), Failure> {
        let has_key = |variables: &[&str]| variables.iter().any(|name| std::env::var_os(name).is_some());
        let method = SIGN_INS.iter().find(|(id, variables)| {
            self.met.auth_methods.iter().any(|method| method.id == *id) && has_key(variables)
        });
        let Some((method, _)) = method else {
            return Err(faults::failure_of(ErrorKind::Auth, self.who(), None, message));
        };
        let request = json!({ "methodId": method });
        match self.rpc.call("authenticate", &request).await {
            Ok(_) => Ok(()),
            Err(CallError::Reported { message, .. }) => {
                Err(faults::failure_of(ErrorKind::Auth, self.who(), None, &message))
            }
            Err(CallError::Ended(failure)) => Err(failure),
        }
    }

    /// Sets the model of a session; `None` if the agent does not have it.
    async fn set_model(
        &self,
        session: &str,
        options: &[ConfigOption],
        models: Option<&Models>,
        wanted: &str,
    ) -> Result<Option<String>, Failure> {
        if let Some(option) = model_option(options) {
            let Some(value) = nearest(values(option).into_iter(), wanted) else {
                return Ok(None);
            };
            let params = json!({ "sessionId": session, "configId": option.id, "value": value });
            self.require::<Value>("session/set_config_option", &params).await?;
            return Ok(Some(value));
        }
        let listed = models.into_iter().flat_map(|models| &models.available_models);
        let Some(model) = nearest(listed.map(|model| model.model_id.as_str()), wanted) else {
            return Ok(None);
        };
        // Agents of an earlier version of the protocol.
        let params = json!({ "sessionId": session, "modelId": model });
        match self.rpc.call("session/set_model", &params).await {
            Ok(_) => Ok(Some(model)),
            Err(CallError::Reported { code: METHOD_NOT_FOUND, .. }) => Ok(None),
            Err(error) => Err(error.failure(self.who())),
        }
    }
}

impl OpenSession {
    /// Sends a prompt and answers what the agent requests until its turn ends. The result is what it wrote after its last tool call.
    pub(super) async fn work(
        &mut self,
        prompt: &str,
        rules: &Rules<'_>,
        reporter: &Reporter,
        has_acted: &mut bool,
    ) -> Result<String, Failure> {
        let server = Arc::clone(&self.server);
        let who = server.who();
        let mut turn = Turn::default();
        let mut ended = self.turn(prompt, &mut turn, rules, reporter, has_acted).await?;
        for _ in 0..MAX_CONTINUED {
            // Some agents end their turn when a call is denied, as if it were cancelled or had an empty reply.
            let is_over = match ended.stop_reason {
                StopReason::Cancelled => false,
                StopReason::EndTurn => !turn.reply().trim().is_empty(),
                _ => true,
            };
            if !turn.take_denied() || is_over {
                break;
            }
            ended = self.turn(CONTINUE_DENIED, &mut turn, rules, reporter, has_acted).await?;
        }
        match ended.stop_reason {
            StopReason::EndTurn => turn.into_reply(who),
            StopReason::Refusal => Err(faults::failure_of(ErrorKind::Refused, who, None, turn.reply())),
            StopReason::MaxTokens => Err(Failure::session(format!(
                "{} reached the maximum number of tokens of a reply before it was done",
                who
            ))),
            StopReason::MaxTurnRequests => Err(Failure::session(format!(
                "{} reached its maximum number of requests to the model before it was done",
                who
            ))),
            StopReason::Cancelled => Err(Failure::session(format!("{} cancelled the session", who))),
        }
    }

    /// Sends a prompt and answers what the agent requests until its turn ends.
    async fn turn(
        &mut self,
        prompt: &str,
        turn: &mut Turn,
        rules: &Rules<'_>,
        reporter: &Reporter,
        has_acted: &mut bool,
    ) -> Result<Ended, Failure> {
        let prompt = plain(prompt);
        let request = json!({ "sessionId": self.id, "prompt": [{ "type": "text", "text": prompt }] });
        let mut answer = self.prompt(&request, reporter);
        let server = Arc::clone(&self.server);
        let ended = loop {
            let incoming = tokio::select! {
                biased;
                // What came before the end of the turn is received before it.
                incoming = self.messages.recv() => match incoming {
                    Some(incoming) => incoming,
                    None => return Err(server.rpc.end()),
                },
                answer = &mut answer => break answer.unwrap_or_else(|_| Err(CallError::Ended(server.rpc.end()))),
            };
            let Incoming { id, method, params } = incoming;
            let Some(id) = id else {
                let mut report = |activity| {
                    *has_acted |= matches!(activity, Activity::Tool(_));
                    reporter.report(activity);
                };
                turn.notified(server.who(), &method, &params, rules, &mut report)?;
                continue;
            };
            *has_acted = true;
            self.asking = Some(id.clone());
            let result = turn.requested(&method, &params, rules, reporter).await?;
            self.asking = None;
            server.rpc.answer(&id, result);
        };
        let ended = ended.map_err(|error| error.failure(server.who()));
        let ended = ended.and_then(|ended| read::<Ended>(server.who(), "session/prompt", &ended));
        let reported = turn.usage(ended.as_ref().ok().and_then(Ended::usage));
        // A turn that has failed has used something, too.
        if let Some(used) = self.ended(reported, ended.is_ok()).await {
            reporter.report(Activity::Used(used));
        }
        ended
    }
}

/// A prompt that is not a command of the agent itself, such as `/logout`, whatever a program or a value begins with.
fn plain(prompt: &str) -> Cow<'_, str> {
    match prompt.trim_start().starts_with(['/', '$', '!', '?']) {
        true => format!("{BEFORE_COMMAND}{prompt}").into(),
        false => prompt.into(),
    }
}

fn model_option(options: &[ConfigOption]) -> Option<&ConfigOption> {
    options.iter().find(|option| option.category.as_deref() == Some("model"))
}

fn current_model(options: &[ConfigOption]) -> Option<&str> {
    model_option(options)?.current_value.as_str()
}

fn values(option: &ConfigOption) -> Vec<&str> {
    option.options.iter().flat_map(|value| value.values()).collect()
}

/// The provider's id of a model, by which it has a price. Qwen Code writes `$runtime|openai|ID(openai)`.
fn provider_id(model: &str) -> &str {
    let id = model.rsplit('|').next().unwrap_or(model);
    id.strip_suffix(')').and_then(|id| id.rsplit_once('(')).map_or(id, |(id, _)| id.trim_end())
}

/// The model with a name; for a word such as `opus`, the only or first one whose name has it as a part.
fn nearest<'m>(models: impl Iterator<Item = &'m str>, wanted: &str) -> Option<String> {
    let models: Vec<&str> = models.collect();
    let is_same = |model: &&&str| {
        [**model, provider_id(model)].contains(&wanted) || model.rsplit('/').next() == Some(wanted)
    };
    let has_part = |model: &&&str| model.split(|c: char| !c.is_alphanumeric()).any(|part| part == wanted);
    models.iter().find(is_same).or_else(|| models.iter().find(has_part)).map(|model| (*model).to_owned())
}
