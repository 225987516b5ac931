//! What backends report while they work on a request, and what of it is recorded.

use std::fmt;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::Instant;

use crate::effect::{Outcome, RequestId, Usage};
pub use crate::questions::AnswerSource;
use crate::questions::{AskedAt, Attribution};
use crate::secrets::Secrets;
use crate::waits::Waits;

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
    /// A permission question was answered, or no one is there to answer it.
    Answered {
        /// The [`PermissionQuestion::id`].
        id: SmolStr,
        /// The answer.
        #[serde(flatten)]
        answer: PermissionAnswer,
    },
    /// A tool call was denied.
    Denied(Denial),
    /// The provider failed, and the agent or the driver tries again.
    ProviderRetry(ProviderRetry),
    /// Usage since the previous report of usage for the same request.
    Used(Usage),
    /// The session of the agent that works on the request.
    Agent(AgentSession),
    /// The session of the agent continues an earlier one, which it knows from a previous request.
    Continued {
        /// The id of the earlier one.
        id: SmolStr,
    },
    /// A person gave the input.
    Given(Attribution),
    /// Something that only the log of the session tells.
    Note {
        /// What happened, in one line.
        text: String,
    },
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
    /// Whether it may be denied without asking: no rule of the program says that a person decides. Of interest only until it is answered.
    #[serde(skip)]
    pub is_deniable: bool,
}

/// The [`PermissionQuestion::id`] of the question whether a limit may be exceeded.
pub const LIMIT_QUESTION: &str = "limit";

/// The answer to a permission question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PermissionAnswer {
    /// Whether the tool may be used.
    pub is_allowed: bool,
    /// Where the answer comes from.
    pub from: AnswerSource,
    /// The name of the user who gave it, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<SmolStr>,
    /// Whether it covers everything that the same rule asks for the same agent, until the run ends.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_for_run: bool,
    /// Whether an event of the run has it already: it was given before the run was resumed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_recorded: bool,
}

impl PermissionAnswer {
    /// An answer to this question alone.
    pub fn once(is_allowed: bool, from: AnswerSource, by: Option<SmolStr>) -> Self {
        Self { is_allowed, from, by, is_for_run: false, is_recorded: false }
    }

    /// The answer to a question that reaches no one.
    pub fn of_no_one() -> Self {
        Self::once(false, AnswerSource::NoOne, None)
    }

    /// Whether a person gave it now, so that it is an event of the run (decision 25).
    pub fn is_new(&self) -> bool {
        !self.is_recorded && !matches!(self.from, AnswerSource::NoOne | AnswerSource::Rule)
    }
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
    /// The number of the retry, from 1; 0 for a request that waits because the provider turned another one away.
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
    #[serde(default, skip_serializing_if = "crate::is_default")]
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
    /// Whether the outcome was recorded before the program changed: an [`crate::event::Expense`] of the run has its usage already.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_reused: bool,
    /// The id of the earlier session of the agent that it continues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub continues: Option<SmolStr>,
    /// The harness that ran the session of a persistent agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub harness: Option<SmolStr>,
    /// Who gave an input; `None` if it came with the start of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given_by: Option<Attribution>,
}

/// A permission question and its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskedPermission {
    /// The question.
    pub question: PermissionQuestion,
    /// The time of the question, in milliseconds since 1970-01-01 in UTC; 0 in runs of earlier versions.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub asked_at: u64,
    /// Whether it is allowed; `None` if no one answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_allowed: Option<bool>,
    /// Where the answer comes from; `None` if the request ended before an answer, and in runs of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<AnswerSource>,
    /// The name of the user who answered, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<SmolStr>,
    /// The time of the answer, like [`AskedPermission::asked_at`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered_at: Option<u64>,
}

impl AskedPermission {
    /// A question that waits for its answer.
    pub fn new(question: PermissionQuestion, at: u64) -> Self {
        Self { question, asked_at: at, is_allowed: None, from: None, by: None, answered_at: None }
    }

    /// Adds the answer.
    pub fn answered(&mut self, answer: &PermissionAnswer, at: u64) {
        self.is_allowed = Some(answer.is_allowed).filter(|_| answer.from != AnswerSource::NoOne);
        self.from = Some(answer.from);
        self.by.clone_from(&answer.by);
        self.answered_at = Some(at);
    }
}

/// The maximum number of recorded denials and of questions of a request.
const MAX_DENIALS: usize = 100;

impl Work {
    /// Whether a person has ended the work with this outcome: the session was skipped, or the answer was given.
    pub fn is_ended_by_hand(&self, outcome: &Outcome) -> bool {
        self.given_by.is_some() || matches!(outcome, Outcome::Reply(reply) if reply.is_skipped)
    }

    /// Whether nothing was reported.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The number of questions without an answer.
    pub fn unanswered(&self) -> usize {
        self.questions.iter().filter(|asked| asked.answered_at.is_none()).count()
    }

    /// Adds a report, made at a time in milliseconds since 1970-01-01 in UTC. Tool calls are not counted, since several reports may be about one
    /// call.
    pub fn add(&mut self, activity: &Activity, at: u64) {
        match activity {
            Activity::Used(usage) => self.usage = Usage::sum([self.usage, Some(*usage)]),
            Activity::Denied(denial) if self.denials.len() < MAX_DENIALS => {
                self.denials.push(denial.clone());
            }
            Activity::Asked(question) if self.questions.len() < MAX_DENIALS => {
                self.questions.push(AskedPermission::new(question.clone(), at));
            }
            Activity::Answered { id, answer } => {
                // A request may reach a limit again after it was raised; both questions have the same id.
                let asked = self.questions.iter_mut().rfind(|asked| asked.question.id == *id);
                asked.into_iter().for_each(|asked| asked.answered(answer, at));
            }
            Activity::Agent(agent) => self.agent = Some(agent.clone()),
            Activity::Continued { id } => self.continues = Some(id.clone()),
            Activity::Given(attribution) => self.given_by = Some(attribution.clone()),
            _ => {}
        }
    }
}

/// The future answer to a permission question.
pub type AnswerFuture<'a> = Pin<Box<dyn Future<Output = PermissionAnswer> + Send + 'a>>;

/// The person who answers permission questions.
pub trait Approvals: Send + Sync {
    /// Asks a question.
    fn ask<'a>(&'a self, question: &'a PermissionQuestion) -> AnswerFuture<'a>;

    /// Asks a question of a request, with the place and the time of it.
    fn ask_at<'a>(&'a self, at: &'a AskedAt, question: &'a PermissionQuestion) -> AnswerFuture<'a> {
        let _ = at;
        self.ask(question)
    }
}

/// No one to answer.
pub struct NoApprovals;

impl Approvals for NoApprovals {
    fn ask<'a>(&'a self, _: &'a PermissionQuestion) -> AnswerFuture<'a> {
        Box::pin(std::future::ready(PermissionAnswer::of_no_one()))
    }
}

/// Receives the reports of a backend for one request. Clones report for the same request.
#[derive(Clone)]
pub struct Reporter {
    request: RequestId,
    sink: Option<UnboundedSender<(RequestId, Activity)>>,
    approvals: Arc<dyn Approvals>,
    /// The place of the request, for its questions.
    at: Option<Arc<AskedAt>>,
    secrets: Arc<Secrets>,
    /// The time that the request waits for answers.
    waits: Arc<Waits>,
    watch: Option<Arc<Watch>>,
}

/// Receives reports before they are masked and emitted.
type Watch = dyn Fn(&Activity) + Send + Sync;

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
        let (waits, secrets) = Default::default();
        Self { request, sink: Some(sink), approvals, at: None, secrets, waits, watch: None }
    }

    /// A reporter for a request of a run, with the secrets that are masked in what it reports.
    pub(crate) fn of_run(
        at: AskedAt,
        sink: UnboundedSender<(RequestId, Activity)>,
        approvals: Arc<dyn Approvals>,
        secrets: Arc<Secrets>,
    ) -> Self {
        let (request, at) = (at.request, Some(Arc::new(at)));
        Self { request, sink: Some(sink), approvals, at, secrets, waits: Arc::default(), watch: None }
    }

    /// The same that masks secrets in what it reports.
    #[must_use]
    pub fn masking(self, secrets: Arc<Secrets>) -> Self {
        Self { secrets, ..self }
    }

    /// The same with a function that receives each report first. One that has received them before still does.
    #[must_use]
    pub fn watched_by(self, watch: impl Fn(&Activity) + Send + Sync + 'static) -> Self {
        let watch: Arc<Watch> = match self.watch {
            None => Arc::new(watch),
            Some(before) => Arc::new(move |activity| {
                before(activity);
                watch(activity);
            }),
        };
        Self { watch: Some(watch), ..self }
    }

    /// A reporter whose reports have no receiver, for backends that are used outside of a run.
    pub fn silent() -> Self {
        Self {
            request: RequestId(0),
            sink: None,
            approvals: Arc::new(NoApprovals),
            at: None,
            secrets: Arc::default(),
            waits: Arc::default(),
            watch: None,
        }
    }

    /// Reports an activity. Secrets in it are masked; those in texts when their parts are merged.
    pub fn report(&self, activity: Activity) {
        if let Some(watch) = &self.watch {
            watch(&activity);
        }
        if let Some(sink) = &self.sink {
            // Without a receiver the run has ended, and nothing is left to be told.
            let _ = sink.send((self.request, activity.masked(&self.secrets)));
        }
    }

    /// Until the returned value is dropped, the request does not work, so that the time does not count for its timeout.
    pub fn rest(&self) -> impl Drop + use<> {
        self.waits.begin()
    }

    /// Asks the user whether a tool may be used; `None` if there is no one to answer. The time until the answer is no part of the request's timeout.
    pub async fn ask(&self, question: PermissionQuestion) -> Option<bool> {
        let answer = self.answer_to(question).await;
        Some(answer.is_allowed).filter(|_| answer.from != AnswerSource::NoOne)
    }

    /// The answer to a question, with where it comes from.
    pub async fn answer_to(&self, question: PermissionQuestion) -> PermissionAnswer {
        let question = question.masked(&self.secrets);
        self.report(Activity::Asked(question.clone()));
        let wait = self.waits.begin();
        let answer = match &self.at {
            Some(at) => self.approvals.ask_at(at, &question).await,
            None => self.approvals.ask(&question).await,
        };
        drop(wait);
        self.report(Activity::Answered { id: question.id, answer: answer.clone() });
        answer
    }

    /// Completes when the request has worked for longer than a limit since a time, apart from waits for answers.
    pub(crate) async fn exceeded(&self, since: Instant, limit: Duration) {
        self.waits.exceeded(since, limit).await;
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
            Activity::Note { text } => Activity::Note { text: secrets.mask(&text).into_owned() },
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

    /// Such as what counts the usage, and the gate of a provider.
    #[test]
    fn every_watch_of_a_reporter_receives_its_reports() {
        let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
        let watch = |name: &'static str| {
            let seen = Arc::clone(&seen);
            move |activity: &Activity| {
                seen.lock().unwrap().push((name, matches!(activity, Activity::Used(_))))
            }
        };
        let reporter = Reporter::silent().watched_by(watch("usage")).watched_by(watch("gate"));
        reporter.report(Activity::Used(Usage::default()));
        assert_eq!(*seen.lock().unwrap(), [("usage", true), ("gate", true)]);
    }

    #[test]
    fn questions_are_recorded_with_their_answers() {
        let question = |id: &str| PermissionQuestion {
            id: id.into(),
            agent: None,
            title: "git log".to_owned(),
            rule: "bash: prompt".to_owned(),
            is_deniable: false,
        };
        let mut work = Work::default();
        let by = |from: AnswerSource| PermissionAnswer::once(true, from, Some("ada".into()));
        work.add(&Activity::Asked(question("1")), 1000);
        work.add(&Activity::Asked(question("2")), 2000);
        work.add(&Activity::Asked(question("3")), 3000);
        work.add(&Activity::Answered { id: "1".into(), answer: by(AnswerSource::Terminal) }, 4000);
        work.add(&Activity::Answered { id: "2".into(), answer: PermissionAnswer::of_no_one() }, 5000);
        let answers = work.questions.iter().map(
            |AskedPermission { asked_at, is_allowed, from, by, answered_at, .. }| {
                format!("{asked_at} {is_allowed:?} {from:?} {by:?} {answered_at:?}")
            },
        );
        assert_eq!(
            answers.collect::<Vec<_>>(),
            [
                r#"1000 Some(true) Some(Terminal) Some("ada") Some(4000)"#,
                "2000 None Some(NoOne) None Some(5000)",
                "3000 None None None None",
            ]
        );
    }
}
