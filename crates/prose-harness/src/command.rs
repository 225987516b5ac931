//! Agents that are external programs: the prompt is their standard input or an argument, the reply is their output.

pub(crate) mod environment;
mod presets;
mod process;

use std::borrow::Cow;
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use prose_vm::activity::Reporter;
use prose_vm::effect::{Failure, Permission, PermissionRule, Reply, Request, SessionTask};
use prose_vm::error::ErrorKind;
use prose_vm::harness::{Capabilities, HarnessFuture, RunFolders};
use serde::Deserialize;

use self::process::{Finished, Invocation, Limits, Stopped};
use crate::decide::{Ask, Sessions};
use crate::process::{Endings, Program, not_started};
use crate::said::last_lines;
use crate::supervisor;

pub use self::environment::ALWAYS_PASSED;
pub use self::presets::Agent;

/// The maximum size of a reply: 64 MiB.
pub const MAX_REPLY_BYTES: usize = 64 << 20;

/// How to start an agent's program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandSettings {
    /// The program: a name that is searched in `PATH`, or a path.
    pub program: String,
    /// Its arguments, with `{prompt}`, `{system}` and `{model}` as placeholders for the values of a session.
    pub arguments: Vec<Argument>,
    /// How the prompt is passed.
    pub prompt: PromptBy,
    /// The environment variables that it receives in addition to [`ALWAYS_PASSED`]; a trailing `*` is a wildcard.
    pub variables: Vec<String>,
    /// Whether it can read files.
    pub reads_files: bool,
    /// Whether it can write files.
    pub writes_files: bool,
    /// The timeout of a session.
    pub timeout: Option<Duration>,
    /// The timeout without output. Programs that write only at the end, as most presets do, need the whole timeout of a session.
    pub idle: Option<Duration>,
    /// Names of models that it does not support, so that it uses its default.
    pub unknown_models: Vec<String>,
    /// The agent, if it is a known one: it decides which permissions can be enforced.
    pub agent: Option<Agent>,
}

impl CommandSettings {
    /// An unknown program that only receives the prompt on standard input.
    pub fn new(program: impl Into<String>) -> Self {
        Self {
            program: program.into(),
            arguments: Vec::new(),
            prompt: PromptBy::Stdin,
            variables: Vec::new(),
            reads_files: false,
            writes_files: false,
            timeout: None,
            idle: None,
            unknown_models: Vec::new(),
            agent: None,
        }
    }

    /// A program and its arguments as in `run.command` in `prose.toml`; `None` if it is empty. Without `{prompt}`, the prompt is written to standard
    /// input. A flag before a placeholder for the model or the system part is omitted together with it.
    pub fn from_words<'a>(words: impl IntoIterator<Item = &'a str>) -> Option<Self> {
        let mut words = words.into_iter();
        let program = words.next()?;
        let mut arguments = Vec::new();
        let mut prompt = PromptBy::Stdin;
        for word in words {
            if word.contains("{prompt}") {
                prompt = PromptBy::Argument;
            }
            let flag = arguments.pop_if(|before| {
                matches!(before, Argument::One(flag) if flag.starts_with('-') && !flag.contains(['{', '=']))
                    && ["{model}", "{system}"].contains(&word)
            });
            arguments.push(match flag {
                Some(Argument::One(flag)) => Argument::All(vec![flag, word.to_owned()]),
                _ => Argument::One(word.to_owned()),
            });
        }
        Some(Self { arguments, prompt, ..Self::new(program) })
    }
}

/// An argument, or a group that is passed or omitted as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Argument {
    /// One argument.
    One(String),
    /// A group, such as a flag and its value. It is omitted if the session has no value for one of its placeholders.
    All(Vec<String>),
}

/// How the prompt is passed to a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PromptBy {
    /// On standard input.
    Stdin,
    /// As an argument: in place of `{prompt}`, or as the last one.
    Argument,
}

/// A harness that starts a program for each session.
#[derive(Debug)]
pub struct Command {
    name: String,
    settings: CommandSettings,
    folders: RunFolders,
    /// The program that supervises it, so that it ends with this process.
    supervisor: Option<PathBuf>,
    /// Counts stopped programs that have not ended yet.
    endings: Arc<Endings>,
    /// The unsupported models that were already reported.
    told: Mutex<HashSet<String>>,
}

/// The prompt for a program.
struct Prompt<'a> {
    text: &'a str,
    system: Option<&'a str>,
    model: Option<&'a str>,
    permissions: &'a [Permission],
}

impl Command {
    /// A harness that starts the program in the root folder.
    pub fn new(name: impl Into<String>, settings: CommandSettings, folders: RunFolders) -> Self {
        let supervisor = supervisor::program().map(Path::to_owned);
        let endings = Arc::default();
        Self { name: name.into(), settings, folders, supervisor, endings, told: Mutex::default() }
    }

    /// The same with another supervisor, or without one.
    pub fn supervised_by(self, supervisor: Option<PathBuf>) -> Self {
        Self { supervisor, ..self }
    }

    /// The command line for a prompt.
    fn invocation(&self, prompt: &Prompt<'_>) -> Result<Invocation, Failure> {
        let settings = &self.settings;
        let parts = settings.arguments.iter().flat_map(|argument| match argument {
            Argument::One(text) => std::slice::from_ref(text),
            Argument::All(texts) => texts,
        });
        let takes = |placeholder: &str| parts.clone().any(|part| part.contains(placeholder));
        let text = match prompt.system {
            // R26: without its own placeholder, the system part is appended to the prompt.
            Some(system) if !takes("{system}") => Cow::Owned(format!("{}\n\nSystem: {system}", prompt.text)),
            _ => Cow::Borrowed(prompt.text),
        };
        let model =
            prompt.model.filter(|model| !settings.unknown_models.iter().any(|unknown| unknown == model));
        let values = [("{prompt}", Some(&*text)), ("{system}", prompt.system), ("{model}", model)];
        let mut arguments = Vec::new();
        for argument in &settings.arguments {
            let texts = match argument {
                Argument::One(text) => std::slice::from_ref(text),
                Argument::All(texts) => texts,
            };
            let filled: Option<Vec<_>> = texts.iter().map(|text| fill(text, &values)).collect();
            for (template, filled) in texts.iter().zip(filled.into_iter().flatten()) {
                if self.is_taken_for_option(template, &filled, &arguments) {
                    return Err(self.option(template, &filled));
                }
                arguments.push(filled);
            }
        }
        arguments
            .extend(settings.agent.map(|agent| agent.permissions(prompt.permissions)).unwrap_or_default());
        let input = match settings.prompt {
            PromptBy::Stdin => text.into_owned().into_bytes(),
            PromptBy::Argument => {
                if !takes("{prompt}") {
                    if self.is_taken_for_option("{prompt}", &text, &arguments) {
                        return Err(self.option("{prompt}", &text));
                    }
                    arguments.push(text.into_owned());
                }
                Vec::new()
            }
        };
        let program = Program {
            program: settings.program.clone(),
            arguments,
            folder: self.folders.root.clone(),
            variables: environment::passed(&settings.variables),
        };
        Ok(Invocation {
            program,
            input,
            limits: Limits { time: settings.timeout, idle: settings.idle, output: MAX_REPLY_BYTES },
        })
    }

    /// Whether a value has become an argument that the program would parse as an option. Arguments after `--` are not options.
    fn is_taken_for_option(&self, template: &str, filled: &str, before: &[String]) -> bool {
        filled.starts_with('-')
            && !template.starts_with('-')
            && !before.iter().any(|argument| argument == "--")
    }

    fn option(&self, template: &str, filled: &str) -> Failure {
        let Self { name, settings, .. } = self;
        let shown: String = filled.chars().take(40).map(|c| if c.is_control() { ' ' } else { c }).collect();
        let program = &settings.program;
        let message = match template.contains("{prompt}") {
            true => format!(
                "the prompt starts with `-`, so `{program}` would read it as an option: `{shown}`; put `--` before `{{prompt}}` in `run.command` in `prose.toml`, or remove \
                 `{{prompt}}` to write the prompt to standard input"
            ),
            false => format!(
                "{name} would read `{shown}` as an option instead of the value of `{template}`; write it as `--flag={template}` in `run.command` in `prose.toml`"
            ),
        };
        Failure::session(message)
    }

    /// Runs the program and returns its reply.
    async fn run(&self, prompt: Prompt<'_>) -> Result<Reply, Failure> {
        let invocation = self.invocation(&prompt)?;
        let by_hand = self.by_hand(&invocation.program.arguments, prompt.text);
        match process::run(invocation, self.supervisor.as_deref(), &self.endings).await {
            Ok(finished) => self.reply(&finished, &by_hand),
            Err(stopped) => Err(self.stopped(stopped, prompt.text.len(), &by_hand)),
        }
    }

    fn reply(&self, finished: &Finished, by_hand: &str) -> Result<Reply, Failure> {
        let Self { name, .. } = self;
        let text = String::from_utf8_lossy(&finished.output);
        if !finished.status.success() {
            let said = match finished.errors.trim_ascii().is_empty() {
                true => last_lines(&text),
                false => last_lines(&String::from_utf8_lossy(&finished.errors)),
            };
            let message = match said.is_empty() {
                true => format!("{name} exited with {} and no output. {by_hand}", finished.status),
                false => format!("{name} exited with {}:\n{said}\n{by_hand}", finished.status),
            };
            return Err(Failure::session(message));
        }
        let warnings = match text {
            Cow::Owned(_) => {
                vec![format!(
                    "the reply of {name} is not valid UTF-8; invalid bytes are replaced with `\u{fffd}`"
                )]
            }
            Cow::Borrowed(_) => Vec::new(),
        };
        Ok(Reply { text: text.trim_end().into(), warnings, ..Reply::default() })
    }

    /// The failure of a session, with a hint how to fix it.
    fn stopped(&self, stopped: Stopped, prompt: usize, by_hand: &str) -> Failure {
        let Self { name, settings, folders, .. } = self;
        let program = &settings.program;
        let message = match stopped {
            Stopped::TimedOut(time) => {
                let time = humantime::format_duration(time);
                let message = format!("{name} did not reply within {time} and was stopped");
                return Failure { kind: ErrorKind::Timeout, message };
            }
            Stopped::Idle(time) => {
                let time = humantime::format_duration(time);
                let message = format!("{name} wrote nothing for {time} and was stopped");
                return Failure { kind: ErrorKind::Timeout, message };
            }
            Stopped::TooLong(most) => {
                format!(
                    "{name} wrote more than {} MiB, the limit for a reply, and was stopped. {by_hand}",
                    most >> 20
                )
            }
            Stopped::NotStarted(error) if error.kind() == io::ErrorKind::ArgumentListTooLong => {
                format!(
                    "the prompt of {} KiB is too long for an argument of `{program}`; remove `{{prompt}}` from `run.command` in `prose.toml` to write it to standard input",
                    prompt >> 10
                )
            }
            Stopped::NotStarted(error) => {
                let install = settings.agent.map(Agent::install);
                return not_started(name, program, &folders.root, install, &error);
            }
            Stopped::Lost(error) => format!("lost the connection to {name}: {error}"),
        };
        Failure::session(message)
    }

    /// A hint how to test the program.
    fn by_hand(&self, arguments: &[String], prompt: &str) -> String {
        const MAX_ARGUMENT: usize = 60;
        let shown = arguments.iter().map(|argument| match argument {
            argument if argument == prompt || argument.len() > MAX_ARGUMENT => quoted("Say hello"),
            argument => quoted(argument),
        });
        let mut command = quoted(&self.settings.program);
        for argument in shown {
            command.push(' ');
            command.push_str(&argument);
        }
        let input = match self.settings.prompt {
            PromptBy::Stdin => "echo 'Say hello' | ",
            PromptBy::Argument => "",
        };
        format!("To test it, run `{input}{command}`.")
    }

    /// The warning about an unsupported model, once for each model.
    fn unknown_model(&self, model: Option<&str>) -> Option<String> {
        let model =
            model.filter(|model| self.settings.unknown_models.iter().any(|unknown| unknown == model))?;
        let is_new = self.told.lock().unwrap_or_else(PoisonError::into_inner).insert(model.to_owned());
        is_new.then(|| {
            format!(
                "{} does not support the model `{model}` and uses its default; map `{model}` in `[models]` in `prose.toml`",
                self.name
            )
        })
    }
}

impl Sessions for Command {
    fn name(&self) -> &str {
        &self.name
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { reads_files: self.settings.reads_files, writes_files: self.settings.writes_files }
    }

    fn enforces(&self, about: &str, rule: &PermissionRule) -> bool {
        // Allowed actions need no enforcement.
        *rule == PermissionRule::Allow || self.settings.agent.is_some_and(|agent| agent.enforces(about, rule))
    }

    fn session<'a>(
        &'a self,
        _: &'a Request,
        task: &'a Arc<SessionTask>,
        _: &'a Reporter,
    ) -> HarnessFuture<'a, Reply> {
        let model = task.model.as_deref();
        Box::pin(async move {
            let system = task.system_part();
            let prompt = Prompt {
                text: &task.prompt,
                system: system.as_deref(),
                model,
                permissions: &task.permissions,
            };
            let mut reply = self.run(prompt).await?;
            reply.warnings.extend(self.unknown_model(model));
            Ok(reply)
        })
    }

    fn settled(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(self.endings.settled())
    }

    fn ask<'a>(&'a self, question: Ask, _: &'a Reporter) -> HarnessFuture<'a, String> {
        Box::pin(async move {
            // Decisions may read files but change nothing.
            let permissions = ["write", "execute", "network"]
                .map(|about| Permission { about: about.into(), rule: PermissionRule::Deny });
            let Ask { prompt, model, .. } = question;
            let model = model.as_deref();
            let prompt = Prompt { text: &prompt, system: None, model, permissions: &permissions };
            Ok(self.run(prompt).await?.text.to_string())
        })
    }
}

/// Replaces the placeholders in an argument; `None` if one has no value. Placeholders in values are not replaced.
fn fill(template: &str, values: &[(&str, Option<&str>)]) -> Option<String> {
    let mut filled = String::new();
    let mut rest = template;
    let next = |rest: &str| {
        values
            .iter()
            .filter_map(|(placeholder, value)| Some((rest.find(placeholder)?, placeholder.len(), *value)))
            .min_by_key(|(at, ..)| *at)
    };
    while let Some((at, len, value)) = next(rest) {
        filled.push_str(&rest[..at]);
        filled.push_str(value?);
        rest = &rest[at + len..];
    }
    filled.push_str(rest);
    Some(filled)
}

/// Quotes a text for a shell.
pub(crate) fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@+".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}
