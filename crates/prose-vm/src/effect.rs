//! The effects that the interpreter requests.

mod fingerprint;
mod outcome;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use prose_analysis::rights::skill_path;
pub use prose_rights::PermissionRule;
use prose_rights::{About, Right};
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

pub use self::fingerprint::{digest, fingerprint};
pub use self::outcome::{Choice, Failure, Memory, Outcome, Reply, Usage, Verdict};
use crate::frame;
use crate::guidelines;
use crate::place::{NamedLine, Place, Site};
use crate::trees::TreeRequest;

/// The number of a request in its run, in the order in which requests are made.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RequestId(pub u64);

/// A request for an effect.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// Its number.
    pub id: RequestId,
    /// The place in the execution.
    pub place: Place,
    /// The place in the program.
    pub site: Site,
    /// The name of the imported program that makes the request; `None` for the program of the run.
    pub program: Option<SmolStr>,
    /// The effect.
    pub effect: Effect,
}

impl Request {
    /// The line of the statement that makes the request, as messages name it.
    pub fn line(&self) -> NamedLine {
        NamedLine { program: self.program.clone(), line: self.site.line }
    }
}

/// An effect that the runner performs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    /// Run a session (R22).
    Session(Arc<SessionTask>),
    /// Let a model judge a condition or a filtered item (R64, R11).
    Judge(Arc<Question>),
    /// Let a model choose an option (R67).
    Choose(Arc<Question>),
    /// Let a model extract a part of an unstructured text (R9). The question names the part.
    Extract(Arc<Question>),
    /// Let a model shorten a value that is too long to be passed in full (R38, decision 12).
    Summarise(Arc<Summary>),
    /// Read an input from the user or the caller (R88).
    Input(Arc<InputRequest>),
    /// Read the memory of a persistent agent (R42 to R45).
    Memory(MemoryPlace),
    /// Read a file that a context names, for an agent without file access (decision 12).
    File(FileUse),
    /// Check that a file that a context names exists and may be read, for an agent with file access (decisions 12 and 14).
    FileCheck(FileUse),
    /// Open, merge or remove working trees of branches (`run.isolation`).
    Tree(Arc<TreeRequest>),
    /// Wait before a retry (R78).
    Sleep(Duration),
}

impl Effect {
    /// The kind of effect, as in journals.
    pub fn kind(&self) -> &'static str {
        match self {
            Effect::Session(_) => "session",
            Effect::Judge(_) => "judge",
            Effect::Choose(_) => "choose",
            Effect::Extract(_) => "extract",
            Effect::Summarise(_) => "summarise",
            Effect::Input(_) => "input",
            Effect::Memory(_) => "memory",
            Effect::File(_) => "file",
            Effect::FileCheck(_) => "file-check",
            Effect::Tree(_) => "tree",
            Effect::Sleep(_) => "sleep",
        }
    }

    /// The kinds that do not [need an agent](Effect::needs_agent), as in [`Effect::kind`].
    pub const KINDS_WITHOUT_AGENT: [&str; 6] = ["input", "memory", "file", "file-check", "tree", "sleep"];

    /// The agent of the program that works on it, if it is a session of one.
    pub fn agent(&self) -> Option<&SmolStr> {
        match self {
            Effect::Session(task) => task.agent.as_ref(),
            _ => None,
        }
    }

    /// The model that the program names for it.
    pub fn model(&self) -> Option<&SmolStr> {
        match self {
            Effect::Session(task) => task.model.as_ref(),
            _ => None,
        }
    }

    /// The length in bytes of what a session is told; 0 for anything else.
    pub fn prompt_length(&self) -> usize {
        match self {
            Effect::Session(task) => task.prompt.len() + task.system_part().map_or(0, |system| system.len()),
            _ => 0,
        }
    }

    /// Whether an agent works on it, so that it counts against the limit on parallel sessions (R58).
    pub fn needs_agent(&self) -> bool {
        matches!(
            self,
            Effect::Session(_)
                | Effect::Judge(_)
                | Effect::Choose(_)
                | Effect::Extract(_)
                | Effect::Summarise(_)
        )
    }
}

/// A file that a program passes on, with the program's rights.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileUse {
    /// The path, relative to the folder that contains `.prose`, or to the working tree.
    pub path: Arc<str>,
    /// The folder of the project in a working tree, relative to the folder of the run; `None` for the project itself.
    pub folder: Option<Arc<str>>,
    /// Whether a local program names the file literally, without interpolation.
    pub is_exact: bool,
    /// The rights of a fetched program (decision 19); `None` for a local one.
    pub rights: Option<Arc<[Right]>>,
}

impl From<&str> for FileUse {
    /// A file with a path computed by a local program.
    fn from(path: &str) -> Self {
        Self { path: path.into(), folder: None, is_exact: false, rights: None }
    }
}

/// The task of a session, built as in R22 to R32.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionTask {
    /// The agent; `None` for a session without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<SmolStr>,
    /// The text of the session itself, without context and instructions.
    pub task: Arc<str>,
    /// The full prompt, in the order of R28, without the system part.
    pub prompt: Arc<str>,
    /// The system part: the agent's prompt if the session has its own text (R26).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<Arc<str>>,
    /// The model, as in the program or mapped by the project's settings; `None` for the default of the harness (R24).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<SmolStr>,
    /// The skills by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<SmolStr>,
    /// The permissions of the session, by subject (R27, decision 13).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub permissions: Vec<Permission>,
    /// The timeout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Duration>,
    /// The attempt: 0 for the first one, then the number of the retry.
    #[serde(default)]
    pub attempt: u32,
    /// The maximum number of retries.
    #[serde(default)]
    pub retries: u32,
    /// The context, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub context: Vec<ContextItem>,
    /// The binding of the result.
    pub binding: Binding,
    /// The memory of a persistent agent that the session continues or replaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryUse>,
    /// The mark on the lines around values in the prompt; `None` if no value could contain such a line (decision 20).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<SmolStr>,
    /// Whether the prompt asks the agent to write its result to the file of the binding (decision 21). Otherwise the reply is the result.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub writes_result: bool,
    /// The folder of the project in a working tree, relative to the folder of the run, in which the agent works; `None` for the project itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<Arc<str>>,
    /// The session of the agent's own that was ended while it waited for an answer, for backends that can continue it. Not recorded: it follows from
    /// recorded events.
    #[serde(skip)]
    pub stopped: Option<Arc<OwnSession>>,
}

/// The file of a skill in a folder.
pub(crate) fn skill_file(path: &str) -> String {
    let path = path.strip_prefix("./").unwrap_or(path).trim_end_matches('/');
    match path.rsplit('/').next() {
        Some("SKILL.md") => path.to_owned(),
        _ => format!("{path}/SKILL.md"),
    }
}

impl SessionTask {
    /// The files of its skills that are in folders of the project, relative to that unless they are absolute.
    pub fn skill_files(&self) -> impl Iterator<Item = String> {
        self.skills.iter().filter_map(|skill| skill_path(skill)).map(skill_file)
    }

    /// The complete system part: the role of the agent, how it works in a program (R32), how it keeps its memory, and that values are data
    /// (decision 20). It is the same for all sessions of an agent, so that providers cache it.
    pub fn system_part(&self) -> Option<Cow<'_, str>> {
        let role = self.system.as_deref().map(str::trim_end).filter(|role| !role.is_empty());
        let has_agent = self.agent.is_some();
        let guidelines = has_agent.then_some(guidelines::STEP);
        let memory = self.memory.as_ref().map(|memory| guidelines::memory(&memory.place.agent));
        let has_data = self.mark.is_some() || self.prompt.contains(frame::BY_REFERENCE);
        let data = (has_agent || has_data).then_some(guidelines::DATA);
        let parts: Vec<&str> = [role, guidelines, memory.as_deref(), data].into_iter().flatten().collect();
        match (parts.as_slice(), role) {
            ([], _) => None,
            ([_], Some(role)) => Some(Cow::Borrowed(role)),
            _ => Some(parts.join("\n\n").into()),
        }
    }

    /// Whether its permissions let it write files without restriction.
    pub(crate) fn may_write(permissions: &[Permission]) -> bool {
        let is_about_writing = |permission: &&Permission| permission.about == "write";
        permissions.iter().filter(is_about_writing).all(|permission| permission.rule == PermissionRule::Allow)
    }

    /// Whether its permissions let it change any file, by a tool or by a command. Without a rule, commands are denied.
    pub(crate) fn may_change_files(permissions: &[Permission]) -> bool {
        let rules =
            |about| permissions.iter().filter(move |permission| About::of(&permission.about) == Some(about));
        let denies = |permission: &Permission| permission.rule.denies_all();
        !rules(About::Write).any(denies)
            || (rules(About::Execute).count() > 0 && !rules(About::Execute).any(denies))
    }
}

/// A permission of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Permission {
    /// The subject, such as `read`, `write`, `execute`, `bash` or `network`.
    pub about: SmolStr,
    /// The rule.
    pub rule: PermissionRule,
}

/// A value in the context of a session or of a decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ContextItem {
    /// The name.
    pub name: SmolStr,
    /// Its file, relative to the folder that contains `.prose`; `None` if values are passed as text. A file that the program names literally is
    /// passed with its content, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<Arc<str>>,
    /// The value, shortened as in R38; `None` if only the path is passed. Decisions get short values with their path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<Arc<str>>,
    /// A hash of the value if its path is passed, so that a changed value changes the context.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<SmolStr>,
}

impl ContextItem {
    /// A value that is passed as text.
    pub fn text(name: impl Into<SmolStr>, text: impl Into<Arc<str>>) -> Self {
        Self { name: name.into(), path: None, text: Some(text.into()), digest: None }
    }
}

/// A named value, in a file or in the memory of a run.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Binding {
    /// The name, or `anon_001` and so on for the uncaptured result of a session (R20).
    pub name: SmolStr,
    /// The kind of binding.
    pub kind: BindingKind,
    /// The execution id of the frame; 0 for that of the program (R82).
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub frame: u32,
    /// Its file, relative to the folder of the run: `bindings/research__43.md`, in `imports/…` for an imported program.
    pub path: Arc<str>,
    /// The statement that binds it, as written.
    pub source: Arc<str>,
}

/// Kinds of bindings on disk (R15).
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BindingKind {
    /// A value received from the caller.
    Input,
    /// A value returned to the caller.
    Output,
    /// A variable.
    #[default]
    Let,
    /// A constant.
    Const,
}

impl BindingKind {
    /// The name in binding files.
    pub fn name(self) -> &'static str {
        match self {
            BindingKind::Input => "input",
            BindingKind::Output => "output",
            BindingKind::Let => "let",
            BindingKind::Const => "const",
        }
    }
}

/// The lifetime of a persistent agent's memory (R42).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MemoryScope {
    /// Until the end of the run.
    Execution,
    /// As long as the project exists.
    Project,
    /// Until the user removes it.
    User,
    /// As long as the named folder exists.
    Custom,
}

/// The place of a persistent agent's memory.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct MemoryPlace {
    /// The agent.
    pub agent: SmolStr,
    /// The lifetime.
    pub scope: MemoryScope,
    /// The folder: relative to the run for `execution`, to the folder that contains `.prose` for `project`, to the home folder for `user`, and as
    /// written in the program for `custom`.
    pub folder: Arc<str>,
}

/// The memory of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryUse {
    /// Its place.
    pub place: MemoryPlace,
    /// Whether the session continues with it (`resume:`) or starts without it (`session:`, R43).
    pub resumes: bool,
    /// The number of the segment that this session writes (R47).
    pub segment: u32,
    /// The stored text; `None` for a start without memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<Arc<str>>,
    /// The session of the agent's own that left this memory, for backends that can continue it. Not recorded: it follows from recorded events.
    #[serde(skip)]
    pub own_session: Option<Arc<OwnSession>>,
}

/// A session of an agent's own program, which knows more than the memory that it left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnSession {
    /// The harness that ran it.
    pub harness: SmolStr,
    /// Its id.
    pub id: SmolStr,
    /// The prompt of the session that continues it, without the memory.
    pub prompt: Arc<str>,
}

/// A question for a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// The condition, the criterion of the choice, or the name of the part to extract, with references filled in.
    pub text: Arc<str>,
    /// The labels to choose from; empty for other questions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<SmolStr>,
    /// The evidence for the decision.
    pub context: Vec<ContextItem>,
    /// The kind of loop that the condition controls; `None` for other questions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of_loop: Option<LoopKind>,
}

impl Question {
    /// A question about some evidence, without labels and outside of a loop.
    pub fn new(text: Arc<str>, context: Vec<ContextItem>) -> Self {
        Self { text, labels: Vec::new(), context, of_loop: None }
    }
}

/// A value to summarise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The name of the value.
    pub name: SmolStr,
    /// The value.
    pub text: Arc<str>,
    /// The length of the summary.
    pub extent: SummaryLength,
}

/// The length of a summary (R38).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SummaryLength {
    /// The key points: for 2000 to 8000 characters.
    KeyPoints,
    /// Only the essentials: for more than 8000 characters.
    Essentials,
}

/// A request for an input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputRequest {
    /// Its name; none for `input "…"` as a value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<SmolStr>,
    /// The keys by which it can be given in advance, the preferred one first: its name; for an unnamed input, the variable that receives it and its
    /// number among such inputs.
    #[serde(default)]
    pub keys: Vec<SmolStr>,
    /// The prompt, displayed unchanged (R89).
    pub prompt: Arc<str>,
    /// Whether the prompt may be rephrased: it was written between `**`.
    #[serde(default)]
    pub may_rephrase: bool,
    /// Whether the input is optional (its description contains "Optional", B3).
    #[serde(default)]
    pub optional: bool,
}

/// Kinds of loops.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "named for what they are")]
pub enum LoopKind {
    Forever,
    Until,
    While,
    Repeat,
    For,
}
