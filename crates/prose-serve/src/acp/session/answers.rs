//! Questions of a run that a client answers with a choice: permissions of agents.

use std::collections::BTreeSet;
use std::sync::Arc;

use prose_acp::{
    CallStatus, OptionKind, PermissionOption, PermissionRequest, ToolCall, Update, call_text, selected,
};
use prose_run::ApprovalAnswer;
use tokio::task::JoinSet;

use super::{Session, is_input};
use crate::questions::{Answer, OpenQuestion};
use crate::runs::LiveRun;

/// The questions that a client was asked in a turn. Dropping it ends them.
pub(super) struct Answers {
    session: Arc<Session>,
    live: Arc<LiveRun>,
    asked: BTreeSet<u64>,
    waiting: JoinSet<()>,
}

impl Answers {
    pub(super) fn new(session: Arc<Session>, live: Arc<LiveRun>) -> Self {
        Self { session, live, asked: BTreeSet::new(), waiting: JoinSet::new() }
    }

    /// Asks the client what it can answer with a choice. Returns the first question that needs a prompt, once the client has answered all others.
    pub(super) fn ask(&mut self, open: Vec<OpenQuestion>) -> Option<OpenQuestion> {
        let mut prompt = None;
        for question in open {
            if is_input(&question) {
                prompt = prompt.or(Some(question));
            } else if self.asked.insert(question.number) {
                let (session, live) = (Arc::clone(&self.session), Arc::clone(&self.live));
                self.waiting.spawn(async move { request(&session, &live, question).await });
            }
        }
        prompt.filter(|_| self.waiting.is_empty())
    }

    /// Waits for the next answer.
    pub(super) async fn next(&mut self) {
        if self.waiting.join_next().await.is_none() {
            std::future::pending::<()>().await;
        }
    }
}

/// The options of a permission.
fn options() -> Vec<PermissionOption> {
    let option = |answer: ApprovalAnswer| {
        let (id, kind) = match answer {
            ApprovalAnswer::Once => ("once", OptionKind::AllowOnce),
            ApprovalAnswer::ForRun => ("for-run", OptionKind::AllowAlways),
            ApprovalAnswer::Deny => ("deny", OptionKind::RejectOnce),
        };
        PermissionOption { option_id: id.to_owned(), name: answer.title().to_owned(), kind }
    };
    ApprovalAnswer::ALL.map(option).to_vec()
}

async fn request(session: &Session, live: &LiveRun, question: OpenQuestion) {
    let call = ToolCall {
        tool_call_id: format!("{}/question-{}", live.id, question.number),
        title: Some(question.prompt.to_string()),
        kind: Some("other".to_owned()),
        status: Some(CallStatus::Pending),
        ..ToolCall::default()
    };
    session.flush().await;
    session.update(Update::ToolCall(call.clone())).await;
    let options = options();
    let request = PermissionRequest {
        session_id: session.id.to_string(),
        tool_call: call.clone(),
        options: options.clone(),
    };
    let answered = session.connection.request("session/request_permission", &request).await;
    let id = answered.as_ref().and_then(selected);
    let option = options.iter().position(|option| Some(option.option_id.as_str()) == id);
    let answer = option.map(|index| ApprovalAnswer::ALL[index]);
    let allows = answer.is_some_and(|answer| answer != ApprovalAnswer::Deny);
    let said = answer.map_or("No answer", ApprovalAnswer::title);
    session
        .update(Update::ToolCallChanged(ToolCall {
            tool_call_id: call.tool_call_id,
            status: Some(if allows { CallStatus::Completed } else { CallStatus::Failed }),
            content: Some(call_text(said)),
            ..ToolCall::default()
        }))
        .await;
    // Someone else may have answered, or the session may have ended in the meantime.
    let _ = live.questions.answer(Some(question.number), Answer::Approval(answer));
}
