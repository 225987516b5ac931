//! The filters for failures, and what a stop at each says.

use prose_vm::activity::Activity;
use prose_vm::budget::dollars;
use prose_vm::event::EventKind;

use crate::timeline::Timeline;

/// What an exception filter stops at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Filter {
    /// A failure that nothing handles.
    Uncaught,
    /// Any failure.
    Failure,
    /// A failed session is retried.
    Retry,
    /// An agent asks for permission, or is denied it.
    Permission,
    /// The run has used more than so many dollars.
    Cost,
}

impl Filter {
    pub(crate) const ALL: [Self; 5] =
        [Self::Uncaught, Self::Failure, Self::Retry, Self::Permission, Self::Cost];

    /// The name that clients send.
    pub(crate) fn id(self) -> &'static str {
        match self {
            Self::Uncaught => "uncaught",
            Self::Failure => "failure",
            Self::Retry => "retry",
            Self::Permission => "permission",
            Self::Cost => "cost",
        }
    }

    /// What clients show for it.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Uncaught => "Uncaught failures",
            Self::Failure => "All failures",
            Self::Retry => "Retries",
            Self::Permission => "Permissions",
            Self::Cost => "Over a cost",
        }
    }

    /// When it stops.
    pub(crate) fn description(self) -> &'static str {
        match self {
            Self::Uncaught => "Stops where a failure ends the run",
            Self::Failure => "Stops at every error and every failed session",
            Self::Retry => "Stops before a failed session is retried",
            Self::Permission => "Stops where an agent asks for a permission or is denied one",
            Self::Cost => "Stops when the run has cost more than a number of dollars",
        }
    }

    /// The title of a stop.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Uncaught => "Stopped where a failure ends the run",
            Self::Failure => "Stopped at a failure",
            Self::Retry => "Stopped before a retry",
            Self::Permission => "Stopped at a permission",
            Self::Cost => "Stopped over a cost",
        }
    }
}

/// What a filter other than those for failures has stopped at, in a line.
pub(crate) fn occasion(timeline: &Timeline, index: usize, filter: Filter) -> Option<String> {
    match (filter, &timeline.event(index)?.kind) {
        (Filter::Permission, EventKind::Activity { activity, .. }) => match activity {
            Activity::Asked(asked) => Some(asks(&asked.title, &asked.rule)),
            Activity::Denied(denial) => Some(denied(&denial.title, &denial.reason)),
            _ => None,
        },
        (Filter::Permission, EventKind::Effect { work, .. }) => {
            let denial = work.denials.first().map(|denial| denied(&denial.title, &denial.reason));
            let asked = work.questions.first().map(|asked| asks(&asked.question.title, &asked.question.rule));
            denial.or(asked)
        }
        (Filter::Cost, _) => {
            let cost = timeline.used(index).cost.unwrap_or_default();
            Some(format!("the run has cost {}", dollars(cost)))
        }
        _ => None,
    }
}

fn asks(title: &str, rule: &str) -> String {
    format!("an agent asks for a permission: {title} ({rule})")
}

fn denied(title: &str, reason: &str) -> String {
    format!("an agent was denied a permission: {title} ({reason})")
}
