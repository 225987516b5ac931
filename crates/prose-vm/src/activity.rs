//! What backends report while they work on a request, and what of it is recorded.

use std::fmt;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use tokio::sync::mpsc::UnboundedSender;

use crate::effect::{RequestId, Usage};
use crate::secrets::Secrets;

/// Something that a backend reports about a request at work. Emitted as [`crate::event::EventKind::Activity`], which is not recorded; [`Work`]
/// keeps what has to survive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "activity", rename_all = "kebab-case")]
pub enum Activity {
    /// The next part of the reply.
    Text {
        /// The part, to be appended to the previous ones.
        text: Arc<str>,
    },
    /// The next part of the model's reasoning.
    Reasoning {
        /// The part, to be appended to the previous ones.
        text: Arc<str>,
    },
    /// A tool call starts or changes its status.
    Tool(ToolUse),
    /// The agent asks for permission to use a tool; the user is asked.
    Asked(PermissionQuestion),
    /// The user has answered a permission question.
    Answered {
        /// The [`PermissionQuestion::id`].
        id: SmolStr,
        /// Whether the tool may be used.
        is_allowed: bool,
    },
    /// A tool call was denied.
    Denied(Denial),
    /// The provider failed, and the agent or the driver tries again.
    ProviderRetry(ProviderRetry),
    /// Usage since the previous report of usage for the same request.
    Used(Usage),
    /// The session of the agent that works on the request.
    Agent(AgentSession),
    /// Nothing was reported for a while.
    Stalled {
        /// The time without a report, in milliseconds.
        silent_ms: u64,
    },
}

/// A tool call of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolUse {
    /// Identifies the call within the request.
    pub id: SmolStr,
    /// The kind of tool.
    pub kind: ToolKind,
    /// What the call does in one line, such as the command or the name of the tool and its file.
    pub title: SmolStr,
    /// The files that it concerns, as the agent names them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<SmolStr>,
    /// Its status.
    pub status: ToolStatus,
}

/// Kinds of tools, as the Agent Client Protocol has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "named for what they are")]
pub enum ToolKind {
    Read,
    Edit,
    Delete,
    Move,
    Search,
    Execute,
    Fetch,
    Think,
    Other,
}

/// The status of a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "named for what they are")]
pub enum ToolStatus {
    Pending,
    Running,
    Completed,
    Failed,
    Denied,
}

/// A question whether an agent may use a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PermissionQuestion {
    /// Identifies the question within the request.
    pub id: SmolStr,
    /// The agent of the program; `None` for a session without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<SmolStr>,
    /// What the agent wants to do, in one line.
    pub title: String,
    /// The rule that asks, such as `execute: prompt`.
    pub rule: String,
}

/// A tool call that was denied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Denial {
    /// What the agent wanted to do, in one line.
    pub title: String,
    /// Why it was denied, such as the rule.
    pub reason: String,
}

/// A retry after a failure of a provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProviderRetry {
    /// The number of the retry, from 1.
    pub attempt: u32,
    /// The HTTP status, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The delay before the retry in milliseconds.
    pub delay_ms: u64,
    /// The failure in one line.
    pub message: String,
}

/// The session of an agent, as its own program names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentSession {
    /// Its id.
    pub id: SmolStr,
    /// The model that it uses, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<SmolStr>,
    /// The file of its transcript, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transcript: Option<PathBuf>,
}

/// What was reported for a request, as it is recorded with the outcome. Failed and cancelled attempts count, too.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Work {
    /// The total usage, if any was reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Whether the usage is estimated, since the backend reported none.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_estimated: bool,
    /// The number of tool calls.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub calls: u32,
    /// The denied tool calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub denials: Vec<Denial>,
    /// The permission questions, with the answers of the user (decision 25).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<AskedPermission>,
    /// The last session of the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentSession>,
}

/// A permission question and its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskedPermission {
    /// The question.
    pub question: PermissionQuestion,
    /// Whether the user allowed it; `None` if no one was there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_allowed: Option<bool>,
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// The maximum number of recorded denials and of questions of a request.
const MAX_DENIALS: usize = 100;

impl Work {
    /// Whether nothing was reported.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Adds a report. Tool calls are not counted, since several reports may be about one call.
    pub fn add(&mut self, activity: &Activity) {
        match activity {
            Activity::Used(usage) => self.usage = Usage::sum([self.usage, Some(*usage)]),
            Activity::Denied(denial) if self.denials.len() < MAX_DENIALS => {
                self.denials.push(denial.clone());
            }
            Activity::Asked(question) if self.questions.len() < MAX_DENIALS => {
                self.questions.push(AskedPermission { question: question.clone(), is_allowed: None });
            }
            Activity::Answered { id, is_allowed } => {
                let asked = self.questions.iter_mut().find(|asked| asked.question.id == *id);
                asked.into_iter().for_each(|asked| asked.is_allowed = Some(*is_allowed));
            }
            Activity::Agent(agent) => self.agent = Some(agent.clone()),
            _ => {}
        }
    }
}

/// The person who answers permission questions.
pub trait Approvals: Send + Sync {
    /// Asks a question; `None` if there is no one to answer it.
    fn ask<'a>(
        &'a self,
        question: &'a PermissionQuestion,
    ) -> Pin<Box<dyn Future<Output = Option<bool>> + Send + 'a>>;
}

/// No one to answer.
pub struct NoApprovals;

impl Approvals for NoApprovals {
    fn ask<'a>(
        &'a self,
        _: &'a PermissionQuestion,
    ) -> Pin<Box<dyn Future<Output = Option<bool>> + Send + 'a>> {
        Box::pin(std::future::ready(None))
    }
}

/// Receives the reports of a backend for one request. Clones report for the same request.
#[derive(Clone)]
pub struct Reporter {
    request: RequestId,
    sink: Option<UnboundedSender<(RequestId, Activity)>>,
    approvals: Arc<dyn Approvals>,
    secrets: Arc<Secrets>,
}

impl fmt::Debug for Reporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reporter").field("request", &self.request).finish_non_exhaustive()
    }
}

impl Reporter {
    /// A reporter for a request, with the receiver of its reports.
    pub fn new(
        request: RequestId,
        sink: UnboundedSender<(RequestId, Activity)>,
        approvals: Arc<dyn Approvals>,
    ) -> Self {
        Self { request, sink: Some(sink), approvals, secrets: Arc::default() }
    }

    /// The same with secrets that are masked in what it reports.
    pub(crate) fn masking(self, secrets: Arc<Secrets>) -> Self {
        Self { secrets, ..self }
    }

    /// A reporter whose reports nobody receives, for backends that are used outside of a run.
    pub fn silent() -> Self {
        Self { request: RequestId(0), sink: None, approvals: Arc::new(NoApprovals), secrets: Arc::default() }
    }

    /// Reports an activity. Secrets in it are masked; those in texts when their parts are merged.
    pub fn report(&self, activity: Activity) {
        if let Some(sink) = &self.sink {
            // Without a receiver the run has ended, and nothing is left to be told.
            let _ = sink.send((self.request, activity.masked(&self.secrets)));
        }
    }

    /// Asks the user whether a tool may be used; `None` if there is no one to answer.
    pub async fn ask(&self, question: PermissionQuestion) -> Option<bool> {
        let question = question.masked(&self.secrets);
        self.report(Activity::Asked(question.clone()));
        let answer = self.approvals.ask(&question).await;
        if let Some(is_allowed) = answer {
            self.report(Activity::Answered { id: question.id, is_allowed });
        }
        answer
    }
}

impl Activity {
    /// The activity with masked secrets, except in texts, whose parts may each hold a part of one.
    fn masked(self, secrets: &Secrets) -> Self {
        if secrets.is_empty() {
            return self;
        }
        match self {
            Activity::Tool(tool) => Activity::Tool(ToolUse {
                title: secrets.mask(&tool.title).into(),
                paths: tool.paths.iter().map(|path| secrets.mask(path).into()).collect(),
                ..tool
            }),
            Activity::Asked(question) => Activity::Asked(question.masked(secrets)),
            Activity::Denied(Denial { title, reason }) => Activity::Denied(Denial {
                title: secrets.mask(&title).into_owned(),
                reason: secrets.mask(&reason).into_owned(),
            }),
            Activity::ProviderRetry(retry) => Activity::ProviderRetry(ProviderRetry {
                message: secrets.mask(&retry.message).into_owned(),
                ..retry
            }),
            activity => activity,
        }
    }
}

impl PermissionQuestion {
    fn masked(self, secrets: &Secrets) -> Self {
        Self {
            title: secrets.mask(&self.title).into_owned(),
            rule: secrets.mask(&self.rule).into_owned(),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_recorded_with_their_answers() {
        let question = |id: &str| PermissionQuestion {
            id: id.into(),
            agent: None,
            title: "git log".to_owned(),
            rule: "bash: prompt".to_owned(),
        };
        let mut work = Work::default();
        work.add(&Activity::Asked(question("1")));
        work.add(&Activity::Asked(question("2")));
        work.add(&Activity::Answered { id: "1".into(), is_allowed: true });
        let answers: Vec<_> = work.questions.iter().map(|asked| asked.is_allowed).collect();
        assert_eq!(answers, [Some(true), None]);
    }
}
