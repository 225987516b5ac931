//! Answers without any model, for trying programs and for tests.
//!
//! Each answer depends on the seed, on the place of the request in the execution and on what is asked, and on nothing else: neither on the order of
//! the requests nor on earlier answers. So a run with the same seed gives the same results however many sessions run at the same time, and a
//! resumed run needs no memory of the one before.

mod text;

use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;
use prose_vm::effect::{
    Choice, Extent, Failure, PermissionRule, Question, Reply, Request, SessionTask, Summary, Verdict,
};
use prose_vm::event::LoopKind;
use prose_vm::harness::{Answer, Capabilities, Harness};
use prose_vm::place::Place;
use sha2::{Digest, Sha256};

/// What every answer ends with, so that nobody takes it for the work of a model.
pub const MARK: &str = "[offline]";

/// After at most so many iterations the condition of a loop ends it.
const MAX_ITERATIONS: u64 = 3;

/// The default harness: generates placeholder replies without a model.
#[derive(Debug, Clone, Default)]
pub struct Offline {
    seed: u64,
    delay: Duration,
}

impl Offline {
    /// Answers at once. Different seeds give different answers.
    pub fn new(seed: u64) -> Self {
        Self { seed, delay: Duration::ZERO }
    }

    /// Takes its time for each answer, as an agent would.
    pub fn with_delay(self, delay: Duration) -> Self {
        Self { delay, ..self }
    }

    /// What the answer to a question at a place is drawn from.
    fn draw(&self, place: &str, asked: &str) -> Rng {
        let mut hash = Sha256::new();
        hash.update(self.seed.to_le_bytes());
        // A zero byte is in no place, so that place and question cannot be confused.
        hash.update(place);
        hash.update([0]);
        hash.update(asked);
        let [a, b, c, d, e, f, g, h, ..] = hash.finalize().0;
        Rng::with_seed(u64::from_le_bytes([a, b, c, d, e, f, g, h]))
    }

    fn answer<'a, T: Send + 'a>(&self, answer: impl FnOnce() -> T + Send + 'a) -> Answer<'a, T> {
        let delay = self.delay;
        Box::pin(async move {
            if !delay.is_zero() {
                tokio::time::sleep(delay).await;
            }
            Ok(answer())
        })
    }

    /// Whether a condition is met (R64). That of a loop ends it after a few iterations; any other is met about every second time, so that
    /// a loop that depends on it ends too.
    fn verdict(&self, place: &Place, question: &Question) -> Verdict {
        // The check before an iteration has the number of that iteration, which is how many there were.
        let looping = question.of_loop.zip(iteration(place.as_str()));
        let Some((kind, (before, number))) = looping else {
            let met = self.draw(place.as_str(), &question.text).bool();
            let reason = format!("random {MARK}");
            return Verdict { met, reason, no_progress: false };
        };
        // The same for all iterations, so that the number of iterations is drawn once for each loop.
        let last = self.draw(before, &question.text).u64(1..=MAX_ITERATIONS);
        let ends = number >= last;
        let reason = format!("iteration {number} of {last} {MARK}");
        Verdict { met: ends != (kind == LoopKind::While), reason, no_progress: false }
    }
}

impl Harness for Offline {
    fn name(&self) -> &str {
        "offline"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { reads_files: false, writes_files: false }
    }

    /// Nothing is read, written or executed, so no rule can be broken (decision 13).
    fn enforces(&self, _: &str, _: &PermissionRule) -> bool {
        true
    }

    fn session<'a>(&'a self, request: &'a Request, task: &'a Arc<SessionTask>) -> Answer<'a, Reply> {
        self.answer(move || {
            let mut draw = self.draw(request.place.as_str(), &task.task);
            Reply { text: text::reply(&task.task, &task.context, &mut draw).into(), ..Reply::default() }
        })
    }

    fn judge<'a>(&'a self, request: &'a Request, question: &'a Question) -> Answer<'a, Verdict> {
        self.answer(move || self.verdict(&request.place, question))
    }

    fn choose<'a>(&'a self, request: &'a Request, question: &'a Question) -> Answer<'a, Choice> {
        if question.labels.is_empty() {
            return Box::pin(async { Err(Failure::session("there is nothing to choose from")) });
        }
        self.answer(move || {
            let index = self.draw(request.place.as_str(), &question.text).usize(..question.labels.len());
            Choice { index, reason: format!("random {MARK}") }
        })
    }

    fn extract<'a>(&'a self, _: &'a Request, question: &'a Question) -> Answer<'a, Option<String>> {
        self.answer(move || {
            let texts = question.context.iter().filter_map(|item| item.text.as_deref());
            text::extract(&question.text, texts)
        })
    }

    fn summarise<'a>(&'a self, _: &'a Request, summary: &'a Summary) -> Answer<'a, String> {
        let longest = match summary.extent {
            Extent::KeyPoints => 1_500,
            Extent::Essentials => 1_000,
        };
        self.answer(move || text::cut(&summary.text, longest))
    }
}

/// The innermost iteration that a place is in: what stands before it, and its number, from 0.
fn iteration(place: &str) -> Option<(&str, u64)> {
    let mut end = place.len();
    loop {
        let start = place[..end].rfind('/').map_or(0, |slash| slash + 1);
        if let Some(number) = place[start..end].strip_prefix('i').and_then(|number| number.parse().ok()) {
            return Some((&place[..start], number));
        }
        end = start.checked_sub(1)?;
    }
}

#[cfg(test)]
mod tests {
    use super::iteration;

    #[test]
    fn the_innermost_iteration_counts() {
        assert_eq!(iteration("s4/i3/s1/i2/c"), Some(("s4/i3/s1/", 2)));
        assert_eq!(iteration("i7"), Some(("", 7)));
        assert_eq!(iteration("s4/b1"), None);
        assert_eq!(iteration(""), None);
    }
}
