//! A harness that answers at once, for benchmarks of what a run costs besides what it waits for.

use std::sync::Arc;

use prose_vm::activity::Reporter;
use prose_vm::effect::{Choice, PermissionRule, Question, Reply, Request, SessionTask, Summary, Verdict};
use prose_vm::harness::{Capabilities, Harness, HarnessFuture};

/// Answers at once.
pub(crate) struct Instantly;

fn at_once<'a, T: Send + 'a>(answer: T) -> HarnessFuture<'a, T> {
    Box::pin(std::future::ready(Ok(answer)))
}

impl Harness for Instantly {
    fn name(&self) -> &str {
        "instantly"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }

    fn enforces(&self, _: &str, _: &PermissionRule) -> bool {
        true
    }

    fn session<'a>(
        &'a self,
        _: &'a Request,
        _: &'a Arc<SessionTask>,
        _: &'a Reporter,
    ) -> HarnessFuture<'a, Reply> {
        at_once(Reply { text: "done".into(), ..Reply::default() })
    }

    fn judge<'a>(&'a self, _: &'a Request, _: &'a Question, _: &'a Reporter) -> HarnessFuture<'a, Verdict> {
        at_once(Verdict { met: false, reason: String::new(), no_progress: false })
    }

    fn choose<'a>(&'a self, _: &'a Request, _: &'a Question, _: &'a Reporter) -> HarnessFuture<'a, Choice> {
        at_once(Choice { index: 0, reason: String::new() })
    }

    fn extract<'a>(
        &'a self,
        _: &'a Request,
        _: &'a Question,
        _: &'a Reporter,
    ) -> HarnessFuture<'a, Option<String>> {
        at_once(None)
    }

    fn summarise<'a>(
        &'a self,
        _: &'a Request,
        summary: &'a Summary,
        _: &'a Reporter,
    ) -> HarnessFuture<'a, String> {
        at_once(summary.name.to_string())
    }
}
