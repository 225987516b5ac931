//! The questions of a run that another process executes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::thread;

use prose_vm::activity::AnswerSource;
use prose_vm::questions::{OpenQuestion, QuestionId};
use prose_vm::value::Value;
use tokio::sync::watch;

use super::client::{Client, Closer, ControlError, QuestionListener};
use crate::questions::{QuestionSource, user};

/// The questions of a run that another process executes.
#[derive(Clone)]
pub struct ElsewhereQuestions {
    folder: PathBuf,
    from: AnswerSource,
    /// The open questions; `None` once there are no more.
    open: watch::Receiver<Option<Vec<OpenQuestion>>>,
    seen: BTreeSet<QuestionId>,
}

impl ElsewhereQuestions {
    /// The questions of the run in a folder, for a face whose user answers from there. The run stays a process as long as the user attends it, until
    /// the connection is closed.
    pub fn attend(folder: &Path, from: AnswerSource) -> Result<(Self, Closer), ControlError> {
        Self::listen(folder, from, Client::connect(folder)?.attend()?)
    }

    /// The same without attending: a run that only waits may stop, and is answered later.
    pub fn follow(folder: &Path, from: AnswerSource) -> Result<(Self, Closer), ControlError> {
        Self::listen(folder, from, Client::connect(folder)?.follow_questions()?)
    }

    /// The questions that wait for a person, the oldest first.
    pub fn open(&self) -> Vec<OpenQuestion> {
        self.open.borrow().clone().unwrap_or_default()
    }

    fn listen(
        folder: &Path,
        from: AnswerSource,
        mut listener: QuestionListener,
    ) -> Result<(Self, Closer), ControlError> {
        let closer = listener.closer()?;
        let (news, open) = watch::channel(Some(Vec::new()));
        let listening = move || {
            while let Ok(Some(questions)) = listener.questions() {
                news.send_replace(Some(questions));
            }
            news.send_replace(None);
        };
        thread::Builder::new().name("run-listener".to_owned()).spawn(listening)?;
        Ok((Self { folder: folder.to_owned(), from, open, seen: BTreeSet::new() }, closer))
    }
}

impl QuestionSource for ElsewhereQuestions {
    async fn next(&mut self) -> Option<OpenQuestion> {
        loop {
            let open = self.open.borrow_and_update().clone()?;
            if let Some(question) = open.into_iter().find(|open| !self.seen.contains(&open.id)) {
                self.seen.insert(question.id);
                return Some(question);
            }
            self.open.changed().await.ok()?;
        }
    }

    async fn settled(&self, id: QuestionId) {
        let is_settled = |open: &Option<Vec<OpenQuestion>>| {
            open.as_ref().is_none_or(|open| open.iter().all(|open| open.id != id))
        };
        // Without the other thread, the run has ended.
        let _ = self.open.clone().wait_for(is_settled).await;
    }

    fn answer(&self, id: QuestionId, value: &Value) -> Result<(), String> {
        // A question that cannot be answered any more was answered elsewhere, or its run has ended.
        let Ok(mut client) = Client::connect(&self.folder) else { return Ok(()) };
        let Err(error) = client.answer(Some(id), &value.to_string(), &user(self.from)) else { return Ok(()) };
        let is_open = client.questions().is_ok_and(|open| open.iter().any(|open| open.id == id));
        if is_open { Err(error.to_string()) } else { Ok(()) }
    }
}
