//! The questions of a run, put to the user of the editor.

use std::cell::RefCell;
use std::rc::Rc;

use prose_run::Questions;
use prose_run::questions::{ApprovalAnswer, Attendance, OpenQuestion, QuestionKind, QuestionSource};
use prose_vm::choices;
use prose_vm::questions::AnswerSource;
use prose_vm::value::Value;
use serde_json::json;
use smol_str::SmolStr;
use tokio::sync::Mutex;
use tokio::task::LocalSet;

use crate::protocol::client_requests::ClientRequests;
use crate::protocol::lsp::MessageType;

/// The action that opens the field for an answer.
const ANSWER: &str = "Answer";

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
    /// Asks the questions of a run of this server until it ends. A user who closes a question without an answer leaves: then the run waits when nothing
    /// else is at work, and is answered later.
    pub(super) fn ask_all(self, desk: &Questions, attendance: Attendance) {
        let attendance = Rc::new(RefCell::new(Some(attendance)));
        let questions = desk.source(AnswerSource::Editor);
        each_question(questions.clone(), |question, approvals| {
            let (user, questions, attendance) = (self.clone(), questions.clone(), Rc::clone(&attendance));
            let attends = desk.attend();
            async move {
                let is_answered = match question.kind {
                    QuestionKind::Input { .. } => user.ask_input(&questions, &question).await,
                    _ => user.ask_approval(&questions, &question, &approvals).await,
                };
                drop(attends);
                if !is_answered {
                    attendance.borrow_mut().take();
                }
            }
        });
    }

    /// Shows the questions of a run that another process executes until it ends. They can be answered here, and that process may ask them itself.
    pub(super) fn show_all(self, questions: &(impl QuestionSource + 'static)) {
        each_question(questions.clone(), |question, approvals| {
            let (user, questions) = (self.clone(), questions.clone());
            async move {
                match question.kind {
                    QuestionKind::Input { .. } => user.show_input(&questions, &question).await,
                    _ => _ = user.ask_approval(&questions, &question, &approvals).await,
                }
            }
        });
    }

    /// Asks until there is an answer. Returns false if the user gives none.
    async fn ask_input(&self, questions: &impl QuestionSource, question: &OpenQuestion) -> bool {
        if !self.asks_inputs {
            return self.ask_choice(questions, question).await;
        }
        let mut problem: Option<String> = None;
        loop {
            let mut params = json!({
                "run": self.run,
                "question": question.id,
                "name": question.input(),
                "prompt": question.prompt_and_note(),
                "mayRephrase": question.may_rephrase,
                "optional": question.is_optional,
            });
            if !question.choices.is_empty() {
                params["choices"] = json!(question.choices);
            }
            if let Some(problem) = problem.take() {
                params["problem"] = json!(problem);
            }
            let reply = self.client.ask("prose/input", params).await;
            let value = reply.as_ref().and_then(|reply| reply.get("value")).filter(|value| !value.is_null());
            let value = match value {
                Some(value) => Value::from_json(value),
                None if question.is_optional => Value::Null,
                None => return false,
            };
            match questions.answer(question.id, &value) {
                Err(error) => problem = Some(error),
                Ok(()) => return true,
            }
        }
    }

    /// Asks a client without fields for inputs, which can show choices. Returns false if there are none or the user chooses none.
    async fn ask_choice(&self, questions: &impl QuestionSource, question: &OpenQuestion) -> bool {
        if question.choices.is_empty() {
            return false;
        }
        let titles: Vec<&str> = question.choices.iter().map(|choice| choice.title.as_str()).collect();
        let message = format!("{}: {}", self.program, question.prompt_and_note());
        let title = self.message(MessageType::INFO, &message, &titles).await;
        let choice = title.and_then(|title| choices::understood(&question.choices, &title));
        if let Some(choice) = &choice {
            self.answer_choice(questions, question, choice.value.as_str());
        }
        choice.is_some()
    }

    /// Shows an input with its choices. A field for the answer, which takes the focus, is opened only when the user wants it.
    async fn show_input(&self, questions: &impl QuestionSource, question: &OpenQuestion) {
        let titles: Vec<&str> = match question.choices.as_slice() {
            [] if self.asks_inputs => vec![ANSWER],
            choices => choices.iter().map(|choice| choice.title.as_str()).collect(),
        };
        let message = format!("{} waits for an answer: {}", self.program, question.prompt_and_note());
        let Some(title) = self.message(MessageType::INFO, &message, &titles).await else { return };
        match choices::understood(&question.choices, &title) {
            Some(choice) => self.answer_choice(questions, question, choice.value.as_str()),
            None => _ = self.ask_input(questions, question).await,
        }
    }

    /// Asks for an approval in its turn. Returns false if the user gives no answer.
    async fn ask_approval(
        &self,
        questions: &impl QuestionSource,
        question: &OpenQuestion,
        turns: &Mutex<()>,
    ) -> bool {
        let _turn = turns.lock().await;
        let titles = ApprovalAnswer::ALL.map(|answer| answer.title());
        let message = format!("{}: {}", self.program, question.prompt_and_note());
        // A message that is closed without an answer is no answer.
        let title = self.message(MessageType::WARNING, &message, &titles).await;
        match title.and_then(|title| choices::understood(&question.choices, &title)) {
            Some(choice) => {
                self.answer_choice(questions, question, &choice.value);
                true
            }
            None => false,
        }
    }

    fn answer_choice(&self, questions: &impl QuestionSource, question: &OpenQuestion, value: &str) {
        // What is offered is accepted, unless the run has ended meanwhile.
        if let Err(error) = questions.answer(question.id, &Value::text(value)) {
            tracing::warn!("run {}: {error}", self.run);
        }
    }

    /// Asks with `window/showMessageRequest`, which every client supports. Returns the title of the action.
    async fn message(&self, kind: MessageType, message: &str, titles: &[&str]) -> Option<String> {
        let actions: Vec<_> = titles.iter().map(|title| json!({ "title": title })).collect();
        let params = json!({ "type": kind, "message": message, "actions": actions });
        let reply = self.client.ask("window/showMessageRequest", params).await?;
        reply.get("title")?.as_str().map(str::to_owned)
    }
}

/// Asks each question of a run in a task of its own until the run ends. A task ends when its question was answered elsewhere, which cancels its requests.
/// Approvals take turns with the lock.
fn each_question<T: Future<Output = ()> + 'static>(
    mut questions: impl QuestionSource + 'static,
    ask: impl Fn(OpenQuestion, Rc<Mutex<()>>) -> T,
) {
    // Without a runtime no one asks, and the run waits.
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().build() else { return };
    LocalSet::new().block_on(&runtime, async move {
        let approvals = Rc::new(Mutex::new(()));
        while let Some(question) = questions.next().await {
            let (id, asked) = (question.id, questions.clone());
            let asking = ask(question, Rc::clone(&approvals));
            tokio::task::spawn_local(async move {
                tokio::select! {
                    () = asked.settled(id) => {}
                    () = asking => {}
                }
            });
        }
    });
}
