//! A connection to an agent: requests, and the set-up of a session.

use std::path::Path;

use prose_vm::activity::{Activity, AgentSession, Reporter};
use prose_vm::effect::{Failure, Usage};
use prose_vm::error::ErrorKind;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::protocol::{
    ConfigOption, Ended, Initialized, METHOD_NOT_FOUND, Models, NewSession, StopReason, unknown_method,
};
use super::turn::{Rules, Turn};
use crate::drivers::connection::{Connection, End};
use crate::drivers::program::unknown_model;
use crate::faults;

/// The version of the protocol.
const PROTOCOL_VERSION: u32 = 1;

const SESSION_NEW: &str = "session/new";

/// The code of an error that asks for a sign-in.
const AUTH_REQUIRED: i64 = -32000;

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

/// An agent with its connection.
pub(super) struct Client<'a> {
    /// The name of the harness.
    who: &'a str,
    connection: Connection,
    calls: i64,
}

/// A session that is ready for a prompt.
pub(super) struct Opened {
    pub(super) id: String,
    pub(super) warnings: Vec<String>,
}

/// A message of the agent, other than the response to a request.
struct Incoming {
    /// The id of a request.
    id: Option<Value>,
    method: String,
    params: Value,
}

/// Why a request has no result.
enum CallError {
    /// The agent reported an error.
    Reported { code: i64, message: String },
    /// The session cannot go on.
    Failed(Failure),
}

impl<'a> Client<'a> {
    pub(super) fn new(who: &'a str, connection: Connection) -> Self {
        Self { who, connection, calls: 0 }
    }

    /// Introduces the client and starts a session in a folder. The agent asks before it acts, as far as it has such a mode.
    pub(super) async fn open(
        &mut self,
        folder: &Path,
        gives_files: bool,
        model: Option<&str>,
        reporter: &Reporter,
    ) -> Result<Opened, Failure> {
        let request = json!({
            "protocolVersion": PROTOCOL_VERSION,
            "clientCapabilities": {
                "fs": { "readTextFile": gives_files, "writeTextFile": gives_files },
                "terminal": false,
            },
            "clientInfo": { "name": "prose", "version": env!("CARGO_PKG_VERSION") },
        });
        let met: Initialized = self.require("initialize", &request).await?;
        let new = json!({ "cwd": folder, "mcpServers": [] });
        let opened = match self.call(SESSION_NEW, &new).await {
            Err(CallError::Reported { code: AUTH_REQUIRED, message }) => {
                self.sign_in(&met, &message).await?;
                self.require(SESSION_NEW, &new).await?
            }
            opened => opened.map_err(|error| self.failure(error))?,
        };
        let NewSession { session_id: id, modes, config_options, models } =
            read(self.who, SESSION_NEW, &opened)?;
        if let Some(modes) = modes {
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
                None => warnings.push(unknown_model(self.who, model)),
            }
        }
        let agent = AgentSession {
            id: id.as_str().into(),
            model: used.map(|model: String| model.into()),
            transcript: None,
        };
        reporter.report(Activity::Agent(agent));
        Ok(Opened { id, warnings })
    }

    /// Signs in with a key of the environment.
    async fn sign_in(&mut self, met: &Initialized, message: &str) -> Result<(), Failure> {
        let has_key = |variables: &[&str]| variables.iter().any(|name| std::env::var_os(name).is_some());
        let method = SIGN_INS.iter().find(|(id, variables)| {
            met.auth_methods.iter().any(|method| method.id == *id) && has_key(variables)
        });
        let Some((method, _)) = method else {
            return Err(faults::failure_of(ErrorKind::Auth, self.who, None, message));
        };
        let request = json!({ "methodId": method });
        match self.call("authenticate", &request).await {
            Ok(_) => Ok(()),
            Err(CallError::Reported { message, .. }) => {
                Err(faults::failure_of(ErrorKind::Auth, self.who, None, &message))
            }
            Err(CallError::Failed(failure)) => Err(failure),
        }
    }

    /// Sets the model of a session; `None` if the agent does not have it.
    async fn set_model(
        &mut self,
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
        match self.call("session/set_model", &params).await {
            Ok(_) => Ok(Some(model)),
            Err(CallError::Reported { code: METHOD_NOT_FOUND, .. }) => Ok(None),
            Err(error) => Err(self.failure(error)),
        }
    }

    /// Sends a prompt and answers what the agent requests until its turn ends. The result is what it wrote after its last tool call.
    pub(super) async fn prompt(
        &mut self,
        session: &str,
        prompt: &str,
        rules: &Rules<'_>,
        reporter: &Reporter,
        has_acted: &mut bool,
    ) -> Result<String, Failure> {
        let request = json!({ "sessionId": session, "prompt": [{ "type": "text", "text": prompt }] });
        let method = "session/prompt";
        let call = self.send(method, &request);
        let mut turn = Turn::default();
        let ended = loop {
            let message = self.receive().await?;
            match response(&message, call) {
                Some(Ok(result)) => break read::<Ended>(self.who, method, result)?,
                Some(Err(error)) => return Err(self.failure(error)),
                None => {}
            }
            let Some(incoming) = incoming(message) else { continue };
            let Some(id) = incoming.id else {
                let mut report = |activity| {
                    *has_acted |= matches!(activity, Activity::Tool(_));
                    reporter.report(activity);
                };
                turn.notified(&incoming.method, &incoming.params, &mut report);
                continue;
            };
            *has_acted = true;
            let result = turn.requested(&incoming.method, &incoming.params, rules, reporter).await?;
            self.answer(&id, result);
        };
        if let Some(usage) = ended.usage {
            let cached = usage.cached_read_tokens.unwrap_or_default();
            let written = usage.cached_write_tokens.unwrap_or_default();
            reporter.report(Activity::Used(Usage {
                // Input tokens of the protocol are those outside of the cache.
                input_tokens: usage.input_tokens.saturating_add(cached).saturating_add(written),
                cache_read_tokens: cached,
                cache_write_tokens: written,
                output_tokens: usage.output_tokens,
                cost: turn.cost,
            }));
        } else if let Some(usage) = turn.usage() {
            reporter.report(Activity::Used(usage));
        }
        match ended.stop_reason {
            StopReason::EndTurn => Ok(turn.into_reply()),
            StopReason::Refusal => {
                Err(faults::failure_of(ErrorKind::Refused, self.who, None, &turn.into_reply()))
            }
            StopReason::MaxTokens => Err(Failure::session(format!(
                "{} reached the maximum number of tokens of a reply before it was done",
                self.who
            ))),
            StopReason::MaxTurnRequests => Err(Failure::session(format!(
                "{} reached its maximum number of requests to the model before it was done",
                self.who
            ))),
            StopReason::Cancelled => Err(Failure::session(format!("{} cancelled the session", self.who))),
        }
    }

    /// Sends a request and waits for its result.
    async fn call(&mut self, method: &str, params: &impl Serialize) -> Result<Value, CallError> {
        let call = self.send(method, params);
        loop {
            let message = self.receive().await.map_err(CallError::Failed)?;
            match response(&message, call) {
                Some(result) => return result.cloned(),
                // Before a prompt, nothing that an agent reports or requests is of use.
                None => {
                    if let Some(Incoming { id: Some(id), method, .. }) = incoming(message) {
                        self.answer(&id, Err(unknown_method(&method)));
                    }
                }
            }
        }
    }

    async fn require<T: DeserializeOwned>(
        &mut self,
        method: &str,
        params: &impl Serialize,
    ) -> Result<T, Failure> {
        let result = self.call(method, params).await.map_err(|error| self.failure(error))?;
        read(self.who, method, &result)
    }

    fn send(&mut self, method: &str, params: &impl Serialize) -> i64 {
        self.calls += 1;
        self.connection
            .send(&json!({ "jsonrpc": "2.0", "id": self.calls, "method": method, "params": params }));
        self.calls
    }

    fn answer(&self, id: &Value, result: Result<Value, Value>) {
        let (name, value) = match result {
            Ok(result) => ("result", result),
            Err(error) => ("error", error),
        };
        self.connection.send(&json!({ "jsonrpc": "2.0", "id": id, name: value }));
    }

    async fn receive(&mut self) -> Result<Value, Failure> {
        let end = match self.connection.receive().await {
            Ok(value) => return Ok(value),
            Err(end) => end,
        };
        let said = self.connection.said();
        Err(match end {
            End::Exited(status) => {
                let kind = match faults::classify(None, &said) {
                    ErrorKind::Session => ErrorKind::AgentCrashed,
                    kind => kind,
                };
                let said = if said.is_empty() { status.to_string() } else { said };
                faults::failure_of(kind, self.who, None, &said)
            }
            End::LineTooLong => Failure::session(format!("{} sent a message that is too long", self.who)),
            End::Lost(error) => Failure::session(format!("lost the connection to {}: {error}", self.who)),
        })
    }

    fn failure(&self, error: CallError) -> Failure {
        match error {
            CallError::Failed(failure) => failure,
            CallError::Reported { code: AUTH_REQUIRED, message } => {
                faults::failure_of(ErrorKind::Auth, self.who, None, &message)
            }
            CallError::Reported { message, .. } => faults::failure(self.who, None, &message),
        }
    }
}

impl<'m> From<&'m Value> for CallError {
    fn from(error: &'m Value) -> Self {
        let message = error["message"].as_str().unwrap_or("unknown error");
        // The details of many agents are in the data, such as the answer of the provider.
        let message = match &error["data"] {
            Value::Null => message.to_owned(),
            Value::String(details) => format!("{message}: {details}"),
            data => match data["details"].as_str().or_else(|| data["message"].as_str()) {
                Some(details) => format!("{message}: {details}"),
                None => message.to_owned(),
            },
        };
        CallError::Reported { code: error["code"].as_i64().unwrap_or_default(), message }
    }
}

/// The result of a request, if the message is its response.
fn response(message: &Value, call: i64) -> Option<Result<&Value, CallError>> {
    if message.get("method").is_some() || message["id"].as_i64() != Some(call) {
        return None;
    }
    Some(match message.get("error") {
        Some(error) => Err(error.into()),
        None => Ok(&message["result"]),
    })
}

fn incoming(mut message: Value) -> Option<Incoming> {
    let method = message.get("method")?.as_str()?.to_owned();
    Some(Incoming { id: message.get("id").cloned(), method, params: message["params"].take() })
}

fn read<T: DeserializeOwned>(who: &str, method: &str, result: &Value) -> Result<T, Failure> {
    T::deserialize(result).map_err(|error| {
        Failure::session(format!(
            "{who} answered `{method}` in an unknown form: {error}; check that it speaks the Agent Client Protocol"
        ))
    })
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

/// The model with a name; for a word such as `opus`, the only or first one whose name has it as a part.
fn nearest<'m>(models: impl Iterator<Item = &'m str>, wanted: &str) -> Option<String> {
    let models: Vec<&str> = models.collect();
    let is_same = |model: &&&str| **model == wanted || model.rsplit('/').next() == Some(wanted);
    let has_part = |model: &&&str| model.split(|c: char| !c.is_alphanumeric()).any(|part| part == wanted);
    models.iter().find(is_same).or_else(|| models.iter().find(has_part)).map(|model| (*model).to_owned())
}
