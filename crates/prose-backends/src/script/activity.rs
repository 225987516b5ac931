//! What an entry of a script reports while it replies.

use std::time::Duration;

use prose_vm::activity::{Activity, Denial, PermissionQuestion, Reporter, ToolStatus, ToolUse};
use tokio::time::sleep;

/// A step of the work on a request.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Step {
    /// The time after the step before; `None` for an equal part of the duration of the request.
    pub(crate) after: Option<Duration>,
    pub(crate) action: Action,
}

/// What happens in a step.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Action {
    /// A report.
    Report(Activity),
    /// A tool call, which runs until the next step and ends with its status.
    Tool(ToolUse),
    /// A permission question. Unless the user allows it, the tool call is denied.
    Ask(PermissionQuestion),
}

/// Performs the steps. Those without a time of their own divide the rest of the duration into equal parts.
pub(super) async fn perform(steps: &[Step], duration: Duration, reporter: &Reporter) {
    let fixed: Duration = steps.iter().filter_map(|step| step.after).sum();
    let parts = steps.iter().filter(|step| step.after.is_none()).count() as u32 + 1;
    let interval = duration.saturating_sub(fixed) / parts;
    let mut running: Option<&ToolUse> = None;
    for step in steps.iter().map(Some).chain([None]) {
        pause(step.and_then(|step| step.after).unwrap_or(interval)).await;
        if let Some(tool) = running.take() {
            reporter.report(Activity::Tool(tool.clone()));
        }
        match step.map(|step| &step.action) {
            Some(Action::Report(activity)) => reporter.report(activity.clone()),
            Some(Action::Tool(tool)) => {
                reporter.report(Activity::Tool(ToolUse { status: ToolStatus::Running, ..tool.clone() }));
                running = Some(tool);
            }
            Some(Action::Ask(question)) if reporter.ask(question.clone()).await != Some(true) => {
                let (title, reason) = (question.title.clone(), question.rule.clone());
                reporter.report(Activity::Denied(Denial { title, reason }));
            }
            Some(Action::Ask(_)) | None => {}
        }
    }
}

async fn pause(duration: Duration) {
    if !duration.is_zero() {
        sleep(duration).await;
    }
}
