//! Permission questions of agents, asked of the user of the editor.

use std::future::Future;
use std::pin::Pin;

use prose_run::{ApprovalAnswer, AsksUser, approval_text};
use prose_vm::activity::{AnswerSource, PermissionQuestion};
use serde_json::json;

use crate::protocol::client_requests::ClientRequests;
use crate::protocol::lsp::MessageType;

/// The user of an editor, asked with `window/showMessageRequest`, which every client supports.
pub(super) struct EditorUser {
    pub(super) client: ClientRequests,
    /// The name of the program.
    pub(super) program: String,
}

impl AsksUser for EditorUser {
    fn source(&self) -> AnswerSource {
        AnswerSource::Editor
    }

    fn ask<'a>(
        &'a self,
        question: &'a PermissionQuestion,
    ) -> Pin<Box<dyn Future<Output = Option<ApprovalAnswer>> + Send + 'a>> {
        Box::pin(async move {
            let actions = ApprovalAnswer::ALL.map(|answer| json!({ "title": answer.title() }));
            let message = format!("{}: {}", self.program, approval_text(question));
            let params = json!({ "type": MessageType::WARNING, "message": message, "actions": actions });
            // A message that is closed without an answer is no answer.
            let reply = self.client.ask("window/showMessageRequest", params).await?;
            let title = reply.get("title")?.as_str()?;
            ApprovalAnswer::ALL.into_iter().find(|answer| answer.title() == title)
        })
    }
}
