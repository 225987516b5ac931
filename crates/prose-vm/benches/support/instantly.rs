//! A harness that answers at once, for benchmarks of what a run costs besides what it waits for.

use prose_vm::activity::Reporter;
use prose_vm::effect::{Choice, Effect, Outcome, PermissionRule, Reply, Request, Verdict};
use prose_vm::harness::{Capabilities, Harness, HarnessFuture};
use prose_vm::value::Value;

/// Answers at once.
pub(crate) struct Instantly;

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

    fn perform<'a>(&'a self, request: &'a Request, _: &'a Reporter) -> HarnessFuture<'a, Outcome> {
        Box::pin(std::future::ready(Ok(match &request.effect {
            Effect::Session(_) => Outcome::Reply(Reply { text: "done".into(), ..Reply::default() }),
            Effect::Judge(_) => {
                Outcome::Verdict(Verdict { met: false, reason: String::new(), no_progress: false })
            }
            Effect::Choose(_) => Outcome::Choice(Choice { index: 0, reason: String::new() }),
            Effect::Summarise(summary) => Outcome::Value(Value::text(summary.name.as_str())),
            _ => Outcome::Value(Value::Null),
        })))
    }
}
