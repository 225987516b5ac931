//! Permission questions of agents, asked of the user at the terminal.

use std::future::Future;
use std::io::{self, IsTerminal};
use std::pin::Pin;
use std::sync::Arc;

use prose_run::{ApprovalAnswer, AsksUser, UserApprovals, approval_text};
use prose_vm::activity::{AnswerSource, Approvals, NoApprovals, PermissionQuestion};

use super::progress::Bars;
use super::terminal_inputs::{ASKING, QuestionLine, ask};
use crate::terminal::one_line;

/// The user at the terminal.
struct TerminalUser(Bars);

/// The user at the terminal, if standard input comes from one.
pub(crate) fn approvals(bars: Bars) -> Arc<dyn Approvals> {
    match io::stdin().is_terminal() {
        true => Arc::new(UserApprovals::new(TerminalUser(bars))),
        false => Arc::new(NoApprovals),
    }
}

impl AsksUser for TerminalUser {
    fn source(&self) -> AnswerSource {
        AnswerSource::Terminal
    }

    fn ask<'a>(
        &'a self,
        question: &'a PermissionQuestion,
    ) -> Pin<Box<dyn Future<Output = Option<ApprovalAnswer>> + Send + 'a>> {
        Box::pin(async move {
            let _turn = ASKING.lock().await;
            let text = approval_text(question);
            let line = format!("{}\n  allow [o]nce, allow for this [r]un, or [d]eny? ", one_line(&text));
            let bars = self.0.clone();
            let mut open = QuestionLine(true);
            let asked = tokio::task::spawn_blocking(move || bars.hidden(|| answer(&line))).await;
            open.0 = false;
            asked.ok().flatten()
        })
    }
}

/// Asks until an answer is understood; `None` once standard input is closed.
fn answer(question: &str) -> Option<ApprovalAnswer> {
    loop {
        let line = ask(question, false).ok()??;
        if let Some(answer) = understood(&line) {
            return Some(answer);
        }
    }
}

fn understood(line: &str) -> Option<ApprovalAnswer> {
    match line.trim().to_lowercase().as_str() {
        "o" | "once" | "y" | "yes" => Some(ApprovalAnswer::Once),
        "r" | "run" => Some(ApprovalAnswer::ForRun),
        "d" | "deny" | "n" | "no" => Some(ApprovalAnswer::Deny),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_letters_or_words() {
        assert_eq!(understood(" O\r"), Some(ApprovalAnswer::Once));
        assert_eq!(understood("yes"), Some(ApprovalAnswer::Once));
        assert_eq!(understood("run"), Some(ApprovalAnswer::ForRun));
        assert_eq!(understood("N"), Some(ApprovalAnswer::Deny));
        assert_eq!(understood("perhaps"), None);
    }
}
