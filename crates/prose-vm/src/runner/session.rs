//! Runs a session with its rules and its timeout.

use std::sync::Arc;
use std::time::Duration;

use crate::activity::Reporter;
use crate::effect::{Failure, Outcome, Reply, Request, SessionTask};
use crate::error::ErrorKind;
use crate::harness::Harness;

/// The outcome of a request that may have failed.
pub(super) fn outcome(result: Result<Outcome, Failure>) -> Outcome {
    result.unwrap_or_else(Outcome::Failed)
}

/// Runs a session within its timeout, if the harness can enforce its permissions.
pub(super) async fn session(
    harness: &dyn Harness,
    request: &Request,
    task: &Arc<SessionTask>,
    reporter: &Reporter,
    allow_unenforced: bool,
) -> Outcome {
    let enforcing = harness.of_agent(task.agent.as_deref()).unwrap_or(harness);
    let broken = task.permissions.iter().find(|rule| !enforcing.enforces(&rule.about, &rule.rule));
    if let Some(rule) = broken.filter(|_| !allow_unenforced) {
        let message = format!(
            "the harness `{}` cannot enforce `{}`, so the session is not started; use a harness that can, or pass \
            `--allow-unenforced-permissions`",
            enforcing.name(),
            rule.rule.shown(&rule.about)
        );
        return Outcome::Failed(Failure { kind: ErrorKind::Permission, message });
    }
    let reply = harness.session(request, task, reporter);
    let reply: Result<Reply, Failure> = match task.timeout {
        None => reply.await,
        Some(limit) => tokio::time::timeout(limit, reply).await.unwrap_or_else(|_| {
            let message = format!("the session exceeded its timeout of {}", shown(limit));
            Err(Failure { kind: ErrorKind::Timeout, message })
        }),
    };
    outcome(reply.map(Outcome::Reply))
}

fn shown(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    if seconds < 1.0 { format!("{} ms", duration.as_millis()) } else { format!("{seconds} s") }
}
