//! Performs requests that need an agent: sessions with their rules and their timeout.

use std::time::Duration;

use tokio::time::Instant;

use crate::activity::Reporter;
use crate::effect::{Effect, Failure, Outcome, Request};
use crate::error::ErrorKind;
use crate::harness::Harness;
use crate::runner::trees::{NoTrees, Trees};

/// The outcome of a request that may have failed.
pub(super) fn outcome(result: Result<Outcome, Failure>) -> Outcome {
    result.unwrap_or_else(Outcome::Failed)
}

/// Performs a request of a run that is executed elsewhere, within the timeout of its session. Whether its permissions are enforced was checked there.
pub async fn perform_for_another(harness: &dyn Harness, request: &Request, reporter: &Reporter) -> Outcome {
    perform(harness, request, reporter, true, &NoTrees).await
}

/// Performs a request that needs an agent: a session within its timeout, and only if the harness can enforce its permissions.
pub(super) async fn perform(
    harness: &dyn Harness,
    request: &Request,
    reporter: &Reporter,
    allow_unenforced: bool,
    trees: &dyn Trees,
) -> Outcome {
    let work = harness.perform(request, reporter);
    let Effect::Session(task) = &request.effect else { return outcome(work.await) };
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
    if let Some(folder) = &task.folder
        && let Err(failure) = trees.restore(folder).await
    {
        return Outcome::Failed(failure);
    }
    outcome(match task.timeout {
        None => work.await,
        Some(limit) => tokio::select! {
            biased;
            done = work => done,
            () = reporter.exceeded(Instant::now(), limit) => {
                let message = format!("the session exceeded its timeout of {}", shown(limit));
                Err(Failure { kind: ErrorKind::Timeout, message })
            }
        },
    })
}

fn shown(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    if seconds < 1.0 { format!("{} ms", duration.as_millis()) } else { format!("{seconds} s") }
}
