//! OpenCode: `opencode run` with events in JSON, and an agent of its own for each session that has only the tools that the session may use.

mod events;
mod rules;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use prose_vm::activity::{Activity, Reporter};
use prose_vm::effect::{Failure, PermissionRule, Reply, Request, SessionTask};
use prose_vm::error::ErrorKind;
use prose_vm::harness::{Capabilities, HarnessFuture, RunFolders};
use serde_json::{Value, json};

use self::events::Events;
use super::program::{AgentProgram, not_started, unknown_model};
use crate::decide::{Ask, Sessions};
use crate::drivers::connection::{Connection, End, Endings};
use crate::faults;
use crate::gate::{Fault, Gate, PATIENCE};
use crate::permissions::Folders;
use crate::process::Program;
use crate::supervisor;

const NAME: &str = "opencode";

/// The variable with the configuration that comes after those of the user and the project.
const CONFIG: &str = "OPENCODE_CONFIG_CONTENT";

/// The instructions for short questions.
const OF_QUESTION: &str =
    "Answer the question of the user in the requested form. Read files only if the question names them.";

/// The harness `opencode`.
#[derive(Debug)]
pub struct OpenCode {
    program: AgentProgram,
    folders: RunFolders,
    supervisor: Option<PathBuf>,
    endings: Arc<Endings>,
    gate: Arc<Gate>,
    /// The unsupported models that were already reported.
    told: Mutex<HashSet<String>>,
}

/// What OpenCode works on.
struct Work<'a> {
    prompt: String,
    model: Option<&'a str>,
    /// The configuration of the agent.
    agent: Value,
}

/// An attempt of a session.
type Attempt<'a> = Pin<Box<dyn Future<Output = Result<String, Fault>> + Send + 'a>>;

impl OpenCode {
    /// A harness that starts the program in the root folder.
    pub fn new(program: AgentProgram, folders: RunFolders) -> Self {
        Self {
            program,
            folders,
            supervisor: supervisor::program().map(Path::to_owned),
            endings: Arc::default(),
            gate: Gate::of(NAME, None, None),
            told: Mutex::default(),
        }
    }

    /// The same with another supervisor, or without one.
    pub fn supervised_by(self, supervisor: Option<PathBuf>) -> Self {
        Self { supervisor, ..self }
    }

    async fn work(&self, work: &Work<'_>, reporter: &Reporter) -> Result<String, Failure> {
        let attempt = || -> Attempt<'_> { Box::pin(self.attempt(work, reporter)) };
        self.gate.attempts(PATIENCE, reporter, attempt).await
    }

    async fn attempt(&self, work: &Work<'_>, reporter: &Reporter) -> Result<String, Fault> {
        let program = self.start(work).map_err(Fault::last)?;
        let started = Connection::start(program, self.supervisor.as_deref(), &self.endings).await;
        let mut connection = started
            .map_err(|error| Fault::last(not_started(NAME, &self.program, &self.folders.root, &error)))?;
        connection.send_text(&work.prompt);
        connection.close();

        let mut events = Events::new(work.model);
        let mut report = |activity: Activity| reporter.report(activity);
        let end = loop {
            match connection.receive().await {
                Ok(event) => {
                    if let Some(fault) = events.add(NAME, &event, &mut report) {
                        return Err(fault);
                    }
                }
                Err(end) => break end,
            }
        };
        let said = connection.said();
        let failed = |failure| Fault { can_repeat: !events.has_acted(), ..Fault::last(failure) };
        match end {
            End::Exited(status) if status.success() => Ok(events.reply()),
            End::Exited(status) if status.code().is_none() => {
                let said = if said.is_empty() { status.to_string() } else { format!("{status}: {said}") };
                Err(failed(faults::failure_of(ErrorKind::AgentCrashed, NAME, None, &said)))
            }
            End::Exited(status) if faults::classify(None, &said) == ErrorKind::Session => {
                let message = match said.is_empty() {
                    true => format!("{NAME} exited with {status} and no output"),
                    false => format!("{NAME} exited with {status}:\n{said}"),
                };
                Err(failed(Failure::session(message)))
            }
            End::Exited(_) => Err(failed(faults::failure(NAME, None, &said))),
            End::LineTooLong => {
                Err(failed(Failure::session(format!("{NAME} wrote a line that is too long"))))
            }
            End::Lost(error) => {
                Err(failed(Failure::session(format!("lost the connection to {NAME}: {error}"))))
            }
        }
    }

    /// The program with the agent of a session.
    fn start(&self, work: &Work<'_>) -> Result<Program, Failure> {
        // No configuration of the user or the project can extend the permissions of an agent whose name it does not know.
        let agent = format!("prose-{:016x}", fastrand::u64(..));
        let mut arguments: Vec<String> =
            ["run", "--format", "json", "--title", "prose", "--agent", &agent].map(str::to_owned).into();
        arguments.extend(work.model.map(|model| format!("--model={model}")));
        let mut program = self.program.start(&arguments, &self.folders.root);
        let own = program.variables.iter().position(|(name, _)| name == CONFIG);
        let mut config = match own.map(|at| program.variables.swap_remove(at).1) {
            Some(text) => serde_json::from_str(&text).map_err(|error| {
                Failure::session(format!(
                    "the environment variable `{CONFIG}` cannot be extended, because it is not JSON: {error}; remove comments and trailing commas"
                ))
            })?,
            None => json!({}),
        };
        if !config.is_object() {
            return Err(Failure::session(format!("the environment variable `{CONFIG}` must be an object")));
        }
        if !config["agent"].is_object() {
            config["agent"] = json!({});
        }
        config["agent"][&agent] = work.agent.clone();
        program.variables.push((CONFIG.to_owned(), config.to_string()));
        Ok(program)
    }

    /// The model in the terms of OpenCode, and a warning if it does not support it.
    fn model<'m>(&self, model: Option<&'m str>) -> (Option<&'m str>, Option<String>) {
        let Some(unknown) = model.filter(|model| self.program.unknown_models.iter().any(|it| it == model))
        else {
            return (model, None);
        };
        let is_new = self.told.lock().unwrap_or_else(PoisonError::into_inner).insert(unknown.to_owned());
        (None, is_new.then(|| unknown_model(NAME, unknown)))
    }
}

impl Sessions for OpenCode {
    fn name(&self) -> &str {
        NAME
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { reads_files: true, writes_files: true }
    }

    fn enforces(&self, about: &str, rule: &PermissionRule) -> bool {
        rules::enforces(about, rule)
    }

    fn session<'a>(
        &'a self,
        _: &'a Request,
        task: &'a Arc<SessionTask>,
        reporter: &'a Reporter,
    ) -> HarnessFuture<'a, Reply> {
        Box::pin(async move {
            let (model, warning) = self.model(task.model.as_deref());
            let prompt = match task.system_part() {
                // R26: an instruction of the agent would replace those of OpenCode.
                Some(system) => format!("{}\n\nSystem: {system}", task.prompt),
                None => task.prompt.to_string(),
            };
            let folders = Folders::of(task, &self.folders);
            let permission = rules::of_session(&task.permissions, &folders);
            let agent = json!({ "mode": "primary", "permission": permission });
            let text = self.work(&Work { prompt, model, agent }, reporter).await?;
            Ok(Reply {
                text: text.trim_end().into(),
                warnings: warning.into_iter().collect(),
                ..Reply::default()
            })
        })
    }

    fn settled(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(self.endings.settled())
    }

    fn ask<'a>(&'a self, question: Ask, reporter: &'a Reporter) -> HarnessFuture<'a, String> {
        Box::pin(async move {
            let (model, _) = self.model(question.model.as_deref());
            let permission = rules::of_question();
            let agent = json!({ "mode": "primary", "prompt": OF_QUESTION, "permission": permission });
            self.work(&Work { prompt: question.prompt.clone(), model, agent }, reporter).await
        })
    }
}
