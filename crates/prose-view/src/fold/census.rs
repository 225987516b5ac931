//! The census of what was folded.

use std::collections::HashSet;

use prose_vm::effect::Usage;
use smol_str::SmolStr;

use crate::census::{Census, HandledFailure, Handling, MissingResult, SessionCensus, Tally};
use crate::node::{Node, NodeId, NodeKind, Status};
use crate::text::difference;
use crate::view::View;

impl View {
    /// The census of the run up to the last event.
    pub fn census(&self) -> Census {
        let counts = self.root().map(|root| root.sessions).unwrap_or_default();
        let Tally { refused, retried, cancelled, interrupted, not_asked, reused, .. } = self.tally;
        let Tally { conditions, choices, warnings, denied, .. } = self.tally;
        let missing = self.missing.iter().map(|((program, _, _), missing)| MissingResult {
            program: self.imported(*program),
            ..missing.clone()
        });
        let mut missing: Vec<_> = missing.collect();
        missing.sort_by_key(|missing| (missing.program.is_some(), missing.line));
        let handled = self.handled.iter().filter(|handled| !handled.is_raised_again);
        let failures: Vec<_> = handled
            .map(|handled| HandledFailure {
                program: self.imported(handled.program),
                ..handled.failure.clone()
            })
            .collect();
        Census {
            sessions: SessionCensus {
                done: counts.complete,
                failed: counts.failed,
                refused,
                retried,
                cancelled,
                interrupted: interrupted.saturating_sub(not_asked),
                not_asked,
                reused,
            },
            conditions,
            choices,
            warnings,
            denied,
            failed_usage: self.failed_usage(&failures),
            missing,
            failures,
        }
    }

    fn imported(&self, program: u32) -> Option<SmolStr> {
        Some(self.program_names.imported(program)?.name.clone())
    }

    /// What the failed parts have used. A failed part in another one is counted once.
    fn failed_usage(&self, failures: &[HandledFailure]) -> Option<Usage> {
        let is_whole = |failure: &&HandledFailure| !matches!(failure.handling, Handling::Retry { .. });
        let parts: HashSet<NodeId> = failures.iter().filter(is_whole).map(|failure| failure.node).collect();
        let mut counted = HashSet::new();
        let used = failures.iter().filter(|failure| !self.is_inside(failure.node, &parts)).map(|failure| {
            let node = self.node(failure.node).filter(|_| counted.insert(failure.node))?;
            match failure.handling {
                Handling::Retry { .. } => failed_attempts(node),
                Handling::Continue | Handling::Ignore => node.usage,
                Handling::Catch | Handling::Finally => self.usage_of_body(failure.node, node),
            }
        });
        Usage::sum(used)
    }

    /// Whether a node is in one of the failed parts. What is in the `catch` or the `finally` of a `try` has not failed with its body.
    fn is_inside(&self, id: NodeId, parts: &HashSet<NodeId>) -> bool {
        let mut is_in_part = self.node(id).is_some_and(|node| node.kind == NodeKind::Part);
        self.ancestors(id).any(|(id, node)| {
            let is_inside = parts.contains(&id) && !is_in_part;
            is_in_part = node.kind == NodeKind::Part;
            is_inside
        })
    }

    /// What the body of a `try` has used, without its `catch` and `finally`.
    fn usage_of_body(&self, id: NodeId, node: &Node) -> Option<Usage> {
        let parts = self.children(id).filter(|(_, child)| child.kind == NodeKind::Part);
        match Usage::sum(parts.map(|(_, part)| part.usage)) {
            Some(parts) => difference(node.usage?, parts),
            None => node.usage,
        }
    }
}

/// What the failed attempts of a session have used.
fn failed_attempts(node: &Node) -> Option<Usage> {
    let attempts = node.session()?.attempts.iter();
    Usage::sum(attempts.filter(|attempt| attempt.status == Status::Failed).map(|attempt| attempt.usage))
}
