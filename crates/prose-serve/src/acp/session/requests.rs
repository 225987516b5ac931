//! Questions of a run that a client answers with a choice: permissions of agents, limits, and inputs whose prompt offers answers.

use std::collections::BTreeSet;
use std::sync::Arc;

use prose_acp::{
    CallStatus, OptionKind, PermissionOption, PermissionRequest, ToolCall, Update, call_text, selected,
};
use prose_syntax::text::beginning;
use prose_vm::questions::{ApprovalAnswer, OpenQuestion, QuestionId, QuestionKind};
use prose_vm::value::Value;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::Session;
use crate::acp::updates::{MAX_TEXT, bounded};
use crate::runs::LiveRun;

/// The longest title of a question, in characters.
const MAX_TITLE: usize = 200;

/// The id of the option that answers an optional question with nothing. No choice of a prompt has parentheses.
const NOTHING: &str = "(nothing)";

/// The questions that a client was asked in a turn. Dropping it ends them.
pub(super) struct Requests {
    session: Arc<Session>,
    live: Arc<LiveRun>,
    cancelled: watch::Receiver<bool>,
    asked: BTreeSet<QuestionId>,
    waiting: JoinSet<Option<QuestionId>>,
    /// The questions that the client has closed without an answer. Prompts answer them.
    closed: BTreeSet<QuestionId>,
}

impl Requests {
    pub(super) fn new(session: Arc<Session>, live: Arc<LiveRun>, cancelled: watch::Receiver<bool>) -> Self {
        let (asked, closed) = (BTreeSet::new(), BTreeSet::new());
        Self { session, live, cancelled, asked, waiting: JoinSet::new(), closed }
    }

    /// Asks the client what it can answer with a choice. Returns the first question that needs a prompt, once the client has answered all others.
    pub(super) fn ask(&mut self, open: Vec<OpenQuestion>) -> Option<OpenQuestion> {
        let mut prompt = None;
        for question in open {
            if question.choices.is_empty() || self.closed.contains(&question.id) {
                prompt = prompt.or(Some(question));
            } else if self.asked.insert(question.id) {
                let (session, live) = (Arc::clone(&self.session), Arc::clone(&self.live));
                let cancelled = self.cancelled.clone();
                self.waiting.spawn(async move {
                    let is_answered = request(&session, &live, &question, cancelled).await;
                    (!is_answered).then_some(question.id)
                });
            }
        }
        prompt.filter(|_| self.waiting.is_empty())
    }

    /// Waits until the client knows how the last question ended. The run has ended, so that each of them is settled.
    pub(super) async fn settle(&mut self) {
        while self.waiting.join_next().await.is_some() {}
    }

    /// Waits for the next answer.
    pub(super) async fn next(&mut self) {
        match self.waiting.join_next().await {
            Some(closed) => self.closed.extend(closed.ok().flatten()),
            None => std::future::pending().await,
        }
    }
}

/// The options of a question. Those of an input have none that rejects, by which programs that answer permissions know that a person is asked.
fn options(question: &OpenQuestion) -> Vec<PermissionOption> {
    let kind = |value: &str| match (&question.kind, ApprovalAnswer::of_word(value)) {
        (QuestionKind::Input { .. }, _) | (_, Some(ApprovalAnswer::Once) | None) => OptionKind::AllowOnce,
        (_, Some(ApprovalAnswer::ForRun)) => OptionKind::AllowAlways,
        (_, Some(ApprovalAnswer::Deny)) => OptionKind::RejectOnce,
    };
    let option = |id: &str, name: &str| PermissionOption {
        option_id: id.to_owned(),
        name: name.to_owned(),
        kind: kind(id),
    };
    let offered = question.choices.iter().map(|choice| option(&choice.value, &choice.title));
    let nothing = question.is_optional.then(|| option(NOTHING, "No answer"));
    offered.chain(nothing).collect()
}

/// Asks the client. Returns false if it gives no answer.
async fn request(
    session: &Session,
    live: &LiveRun,
    question: &OpenQuestion,
    cancelled: watch::Receiver<bool>,
) -> bool {
    let summary = question.summary();
    let title = beginning(&summary, MAX_TITLE);
    // What is allowed is seen as a whole.
    let is_whole = title == summary && question.note.is_none();
    let content = (!is_whole).then(|| call_text(&bounded(&question.prompt_and_note(), MAX_TEXT)));
    let call = ToolCall {
        tool_call_id: format!("{}/question-{}", live.id, session.next_question()),
        title: Some(title),
        kind: Some("other".to_owned()),
        status: Some(CallStatus::Pending),
        content,
        ..ToolCall::default()
    };
    session.flush().await;
    session.update(Update::ToolCall(call.clone())).await;
    let options = options(question);
    let request = PermissionRequest {
        session_id: session.id.to_string(),
        tool_call: call.clone(),
        options: options.clone(),
    };
    // The client answers a request of a cancelled turn as well, and what it says does not matter any more.
    let answered = tokio::select! {
        biased;
        () = turn_cancelled(cancelled) => {
            ended(session, call, CallStatus::Failed, "Cancelled").await;
            return true;
        }
        answered = session.connection.request("session/request_permission", &request) => answered,
        // Someone has answered elsewhere, or the run has stopped.
        () = live.desk.settled(question.id) => {
            ended(session, call, CallStatus::Completed, "Answered elsewhere").await;
            return true;
        }
    };
    let id = answered.as_ref().and_then(selected);
    let Some(option) = options.iter().find(|option| Some(option.option_id.as_str()) == id) else {
        ended(session, call, CallStatus::Failed, "No answer").await;
        return false;
    };
    let status = if option.kind.rejects() { CallStatus::Failed } else { CallStatus::Completed };
    ended(session, call, status, &option.name).await;
    let value = if option.option_id == NOTHING { Value::Null } else { Value::text(&*option.option_id) };
    // Someone else may have answered meanwhile; what is offered is always taken.
    let _ = live.answer(question.id, &value);
    true
}

/// Completes when the client cancels the turn.
async fn turn_cancelled(mut cancelled: watch::Receiver<bool>) {
    // Without its sender, the turn has ended and the flag does not change any more.
    if cancelled.wait_for(|is_cancelled| *is_cancelled).await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Ends the tool call of a question.
async fn ended(session: &Session, call: ToolCall, status: CallStatus, said: &str) {
    let call = ToolCall {
        tool_call_id: call.tool_call_id,
        status: Some(status),
        content: Some(call_text(said)),
        ..ToolCall::default()
    };
    session.update(Update::ToolCallChanged(call)).await;
}
