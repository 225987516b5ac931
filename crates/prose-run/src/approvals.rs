//! Permission questions of agents, answered by a client that has a desk of its own (decision 13).

use std::collections::BTreeSet;
use std::future::Future;
use std::pin::Pin;

use prose_vm::activity::{AnswerFuture, AnswerSource, Approvals, PermissionAnswer, PermissionQuestion};
use prose_vm::questions::ApprovalAnswer;
use smol_str::SmolStr;
use tokio::sync::Mutex;

/// Asks the user a permission question.
pub trait AsksUser: Send + Sync {
    /// Where the user answers.
    fn source(&self) -> AnswerSource;

    /// Asks; `None` if no one answers.
    fn ask<'a>(
        &'a self,
        question: &'a PermissionQuestion,
    ) -> Pin<Box<dyn Future<Output = Option<ApprovalAnswer>> + Send + 'a>>;
}

/// Asks one question at a time, and none that an earlier answer covers.
pub struct UserApprovals<A> {
    user: A,
    /// The name of the user, as the system has it.
    name: Option<SmolStr>,
    /// The agents and rules that the user has allowed for the run.
    allowed: Mutex<BTreeSet<(Option<SmolStr>, String)>>,
}

impl<A: AsksUser> UserApprovals<A> {
    /// A user who has not been asked yet.
    pub fn new(user: A) -> Self {
        Self { user, name: crate::questions::user(AnswerSource::Editor).by, allowed: Mutex::default() }
    }
}

impl<A: AsksUser> Approvals for UserApprovals<A> {
    fn ask<'a>(&'a self, question: &'a PermissionQuestion) -> AnswerFuture<'a> {
        let answer = |is_allowed, from| PermissionAnswer::once(is_allowed, from, self.name.clone());
        Box::pin(async move {
            let mut allowed = self.allowed.lock().await;
            let key = (question.agent.clone(), question.rule.clone());
            if allowed.contains(&key) {
                return answer(true, AnswerSource::Rule);
            }
            let Some(said) = self.user.ask(question).await else { return PermissionAnswer::of_no_one() };
            if said == ApprovalAnswer::ForRun {
                allowed.insert(key);
            }
            let is_for_run = said == ApprovalAnswer::ForRun;
            PermissionAnswer { is_for_run, ..answer(said != ApprovalAnswer::Deny, self.user.source()) }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// Answers every question in the same way, and counts them.
    struct Always(Option<ApprovalAnswer>, Arc<AtomicUsize>);

    impl AsksUser for Always {
        fn source(&self) -> AnswerSource {
            AnswerSource::Editor
        }

        fn ask<'a>(
            &'a self,
            _: &'a PermissionQuestion,
        ) -> Pin<Box<dyn Future<Output = Option<ApprovalAnswer>> + Send + 'a>> {
            self.1.fetch_add(1, Ordering::Relaxed);
            Box::pin(std::future::ready(self.0))
        }
    }

    /// The answers to three questions, of which the first two are about the same rule, and how many were asked.
    async fn answers(answer: Option<ApprovalAnswer>) -> ([(bool, AnswerSource); 3], usize) {
        let asked = Arc::new(AtomicUsize::new(0));
        let approvals = UserApprovals::new(Always(answer, Arc::clone(&asked)));
        let question = |title: &str, rule: &str| PermissionQuestion {
            id: "1".into(),
            agent: Some("historian".into()),
            title: title.to_owned(),
            rule: rule.to_owned(),
            is_deniable: false,
        };
        let answers = [
            approvals.ask(&question("git log", "bash: prompt")).await,
            approvals.ask(&question("git show", "bash: prompt")).await,
            approvals.ask(&question("read .env", "`.env` is a protected file")).await,
        ];
        let answers = answers.map(|PermissionAnswer { is_allowed, from, .. }| (is_allowed, from));
        (answers, asked.load(Ordering::Relaxed))
    }

    #[tokio::test]
    async fn an_answer_for_the_run_covers_the_same_rule() {
        use AnswerSource::{Editor, NoOne, Rule};
        assert_eq!(answers(Some(ApprovalAnswer::Once)).await, ([(true, Editor); 3], 3));
        assert_eq!(
            answers(Some(ApprovalAnswer::ForRun)).await,
            ([(true, Editor), (true, Rule), (true, Editor)], 2)
        );
        assert_eq!(answers(Some(ApprovalAnswer::Deny)).await, ([(false, Editor); 3], 3));
        assert_eq!(answers(None).await, ([(false, NoOne); 3], 3));
    }
}
