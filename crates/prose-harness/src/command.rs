//! Agents that are external programs: the prompt is their standard input or an argument, the reply is their output.

pub(crate) mod environment;

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use prose_vm::activity::Reporter;
use prose_vm::effect::{Failure, Reply, Request, SessionTask};
use prose_vm::harness::{Capabilities, RunFolders};

use crate::decide::{Ask, Sessions};
use crate::drivers::connection::{Connection, End, Endings, MAX_LINE_BYTES, Program};
use crate::process::not_started;
use crate::said::last_lines;
use crate::{supervisor, traced};

pub use self::environment::ALWAYS_PASSED;

/// The maximum size of a reply.
pub const MAX_REPLY_BYTES: usize = MAX_LINE_BYTES;

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
}

impl CommandSettings {
    /// An unknown program that only receives the prompt on standard input.
    pub fn new(program: impl Into<String>) -> Self {
        Self {
            program: program.into(),
            arguments: Vec::new(),
            prompt: PromptBy::Stdin,
            variables: Vec::new(),
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

    /// The program and its arguments.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        let arguments = self.arguments.iter().flat_map(Argument::texts);
        std::iter::once(&self.program).chain(arguments).map(String::as_str)
    }
}

/// An argument, or a group that is passed or omitted as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Argument {
    /// One argument.
    One(String),
    /// A group, such as a flag and its value. It is omitted if the session has no value for one of its placeholders.
    All(Vec<String>),
}

impl Argument {
    fn texts(&self) -> &[String] {
        match self {
            Argument::One(text) => std::slice::from_ref(text),
            Argument::All(texts) => texts,
        }
    }
}

/// How the prompt is passed to a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
}

/// The prompt for a program.
struct Prompt<'a> {
    text: &'a str,
    folder: &'a Path,
    system: Option<&'a str>,
    model: Option<&'a str>,
}

impl Command {
    /// A harness that starts the program in the root folder.
    pub fn new(name: impl Into<String>, settings: CommandSettings, folders: RunFolders) -> Self {
        let supervisor = supervisor::program().map(Path::to_owned);
        let endings = Arc::default();
        Self { name: name.into(), settings, folders, supervisor, endings }
    }

    /// The same with another supervisor, or without one.
    pub fn supervised_by(self, supervisor: Option<PathBuf>) -> Self {
        Self { supervisor, ..self }
    }

    /// The command line for a prompt.
    fn invocation(&self, prompt: &Prompt<'_>) -> Result<(Program, String), Failure> {
        let settings = &self.settings;
        let takes = |placeholder: &str| settings.words().skip(1).any(|part| part.contains(placeholder));
        let text = match prompt.system {
            // R26: without its own placeholder, the system part is appended to the prompt.
            Some(system) if !takes("{system}") => Cow::Owned(format!("{}\n\nSystem: {system}", prompt.text)),
            _ => Cow::Borrowed(prompt.text),
        };
        let values = [("{prompt}", Some(&*text)), ("{system}", prompt.system), ("{model}", prompt.model)];
        let mut arguments = Vec::new();
        for argument in &settings.arguments {
            let texts = argument.texts();
            let filled: Option<Vec<_>> = texts.iter().map(|text| fill(text, &values)).collect();
            for (template, filled) in texts.iter().zip(filled.into_iter().flatten()) {
                if self.is_taken_for_option(template, &filled, &arguments) {
                    return Err(self.option(template, &filled));
                }
                arguments.push(filled);
            }
        }
        let input = match settings.prompt {
            PromptBy::Stdin => text.into_owned(),
            PromptBy::Argument => {
                if !takes("{prompt}") {
                    if self.is_taken_for_option("{prompt}", &text, &arguments) {
                        return Err(self.option("{prompt}", &text));
                    }
                    arguments.push(text.into_owned());
                }
                String::new()
            }
        };
        let program = Program {
            program: settings.program.clone(),
            arguments,
            folder: prompt.folder.to_owned(),
            variables: environment::passed(&settings.variables)
                .into_iter()
                .chain(traced::variable())
                .collect(),
            files: Vec::new(),
        };
        Ok((program, input))
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
        let Self { name, settings: CommandSettings { program, .. }, .. } = self;
        let (started, input) = self.invocation(&prompt)?;
        let by_hand = self.by_hand(&started.arguments, prompt.text);
        let connection = Connection::start(started, self.supervisor.as_deref(), &self.endings).await;
        let mut connection = connection.map_err(|error| match error.kind() {
            io::ErrorKind::ArgumentListTooLong => Failure::session(format!(
                "the prompt of {} KiB is too long for an argument of `{program}`; remove `{{prompt}}` from `run.command` in `prose.toml` to write it to standard input",
                prompt.text.len() >> 10
            )),
            _ => not_started(name, program, prompt.folder, None, &error),
        })?;
        connection.send_text(&input);
        connection.close();
        let (status, output) = connection.receive_all().await.map_err(|end| {
            Failure::session(match end {
                End::LineTooLong => format!(
                    "{name} wrote more than {} MiB, the limit for a reply, and was stopped. {by_hand}",
                    MAX_REPLY_BYTES >> 20
                ),
                End::Lost(error) => format!("lost the connection to {name}: {error}"),
                End::Exited(status) => format!("{name} exited with {status}. {by_hand}"),
            })
        })?;
        let text = String::from_utf8_lossy(&output);
        if !status.success() {
            let said = Some(connection.said()).filter(|said| !said.is_empty());
            let said = said.unwrap_or_else(|| last_lines(&text));
            return Err(Failure::session(match said.is_empty() {
                true => format!("{name} exited with {status} and no output. {by_hand}"),
                false => format!("{name} exited with {status}:\n{said}\n{by_hand}"),
            }));
        }
        let mut warnings = Vec::new();
        if let Cow::Owned(_) = text {
            warnings.push(format!(
                "the reply of {name} is not valid UTF-8; invalid bytes are replaced with `\u{fffd}`"
            ));
        }
        Ok(Reply::new(&text, warnings))
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
}

impl Sessions for Command {
    fn name(&self) -> &str {
        &self.name
    }

    fn capabilities(&self) -> Capabilities {
        // Whether it has tools is not known.
        Capabilities::default()
    }

    async fn session(&self, _: &Request, task: &Arc<SessionTask>, _: &Reporter) -> Result<Reply, Failure> {
        let system = task.system_part();
        let model = task.model.as_deref();
        let folder = self.folders.of_session(task);
        self.run(Prompt { text: &task.prompt, folder: &folder, system: system.as_deref(), model }).await
    }

    async fn settled(&self) {
        self.endings.settled().await;
    }

    async fn ask(&self, question: Ask, _: &Reporter) -> Result<String, Failure> {
        let Ask { prompt, model, .. } = question;
        let folder = self.folders.root();
        let prompt = Prompt { text: &prompt, folder, system: None, model: model.as_deref() };
        Ok(self.run(prompt).await?.text.to_string())
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
