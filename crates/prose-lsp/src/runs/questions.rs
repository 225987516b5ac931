//! The questions of a run, put to the user of the editor.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use prose_run::Questions;
use prose_run::questions::{AnswerError, ApprovalAnswer, Attendance, OpenQuestion, QuestionKind, user};
use prose_vm::choices;
use prose_vm::questions::AnswerSource;
use prose_vm::value::Value;
use serde_json::json;
use smol_str::SmolStr;
use tokio::task::LocalSet;

use crate::protocol::client_requests::ClientRequests;
use crate::protocol::lsp::MessageType;

/// The user of an editor.
#[derive(Clone)]
pub(super) struct EditorUser {
    pub(super) client: ClientRequests,
    /// Whether the client asks for inputs.
    pub(super) asks_inputs: bool,
    /// The id of the run.
    pub(super) run: SmolStr,
    /// The name of the program.
    pub(super) program: SmolStr,
}

impl EditorUser {
    /// Asks the questions of a run until it ends. A user who closes a question without an answer leaves: then the run waits when nothing else is at work,
    /// and is answered later.
    pub(super) fn ask_all(self, desk: &Questions, attendance: Attendance) {
        // Without a runtime no one asks, and the run waits.
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().build() else { return };
        let attendance = Rc::new(RefCell::new(Some(attendance)));
        LocalSet::new().block_on(&runtime, async move {
            let mut seen = BTreeSet::new();
            let approvals = Rc::new(tokio::sync::Mutex::new(()));
            while let Some(question) = desk.next(&mut seen).await {
                let (user, desk, attendance) = (self.clone(), desk.clone(), Rc::clone(&attendance));
                let approvals = Rc::clone(&approvals);
                tokio::task::spawn_local(async move {
                    let id = question.id;
                    tokio::select! {
                        // A request for what was answered elsewhere is cancelled.
                        () = desk.settled(id) => {}
                        is_there = user.ask(&desk, &question, &approvals, desk.attend()) => {
                            if !is_there {
                                attendance.borrow_mut().take();
                            }
                        }
                    }
                });
            }
        });
    }

    /// Asks until there is an answer. Returns false if the user gives none.
    async fn ask(
        &self,
        desk: &Questions,
        question: &OpenQuestion,
        approvals: &tokio::sync::Mutex<()>,
        _attendance: Attendance,
    ) -> bool {
        match question.kind {
            QuestionKind::Input { .. } => self.ask_input(desk, question).await,
            _ => {
                let _turn = approvals.lock().await;
                self.ask_approval(desk, question).await
            }
        }
    }

    async fn ask_input(&self, desk: &Questions, question: &OpenQuestion) -> bool {
        if !self.asks_inputs {
            return false;
        }
        let mut problem: Option<serde_json::Value> = None;
        loop {
            let mut params = json!({
                "run": self.run,
                "question": question.id,
                "name": question.input(),
                "prompt": question.prompt,
                "mayRephrase": question.may_rephrase,
                "optional": question.is_optional,
            });
            if !question.choices.is_empty() {
                params["choices"] = json!(question.choices);
            }
            if let Some(problem) = problem.take() {
                params["problem"] = problem;
            }
            let reply = self.client.ask("prose/input", params).await;
            let value = reply.as_ref().and_then(|reply| reply.get("value")).filter(|value| !value.is_null());
            let value = match value {
                Some(value) => Value::from_json(value),
                None if question.is_optional => Value::Null,
                None => return false,
            };
            match desk.answer_with(Some(question.id), &value, user(AnswerSource::Editor)) {
                Err(error @ (AnswerError::NotOffered { .. } | AnswerError::Empty)) => {
                    problem = Some(json!(error.to_string()));
                }
                _ => return true,
            }
        }
    }

    /// Asks with `window/showMessageRequest`, which every client supports.
    async fn ask_approval(&self, desk: &Questions, question: &OpenQuestion) -> bool {
        let actions = ApprovalAnswer::ALL.map(|answer| json!({ "title": answer.title() }));
        let message = format!("{}: {}", self.program, question.prompt);
        let params = json!({ "type": MessageType::WARNING, "message": message, "actions": actions });
        // A message that is closed without an answer is no answer.
        let reply = self.client.ask("window/showMessageRequest", params).await;
        let title = reply.as_ref().and_then(|reply| reply.get("title")?.as_str());
        match title.and_then(|title| choices::understood(&question.choices, title)) {
            Some(choice) => {
                // It may have been answered elsewhere meanwhile.
                let _ = desk.answer(Some(question.id), &choice.value, user(AnswerSource::Editor));
                true
            }
            None => false,
        }
    }
}
