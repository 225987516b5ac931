//! Placeholder replies without a model, for trying programs and for tests.
//!
//! Each reply depends only on the seed, the place of the request in the execution and its content, not on the order of requests or on earlier
//! replies. So a seed gives the same results however many sessions run at the same time, and a resumed run needs no state of the previous one.

mod text;

use std::time::Duration;

use fastrand::Rng;
use prose_vm::activity::Reporter;
use prose_vm::effect::{Choice, Effect, Failure, Outcome, Question, Reply, Request, SummaryLength, Verdict};
use prose_vm::event::LoopKind;
use prose_vm::harness::{Capabilities, Harness, HarnessFuture, not_performed};
use prose_vm::place::Place;
use prose_vm::value::Value;
use sha2::{Digest, Sha256};

/// The end of every reply, which marks it as generated.
pub const MARK: &str = "[offline]";

/// The maximum number of iterations after which the condition of a loop ends it.
const MAX_ITERATIONS: u64 = 3;

/// The default harness: generates placeholder replies without a model.
#[derive(Debug, Clone, Default)]
pub struct Offline {
    seed: u64,
    delay: Duration,
}

impl Offline {
    /// Replies without delay. Different seeds give different replies.
    pub fn new(seed: u64) -> Self {
        Self { seed, delay: Duration::ZERO }
    }

    /// Delays each reply, like an agent.
    pub fn with_delay(self, delay: Duration) -> Self {
        Self { delay, ..self }
    }

    /// The random generator for a question at a place.
    fn draw(&self, place: &str, asked: &str) -> Rng {
        let mut hash = Sha256::new();
        hash.update(self.seed.to_le_bytes());
        // No place contains a zero byte, so place and question cannot be confused.
        hash.update(place);
        hash.update([0]);
        hash.update(asked);
        let [a, b, c, d, e, f, g, h, ..] = hash.finalize().0;
        Rng::with_seed(u64::from_le_bytes([a, b, c, d, e, f, g, h]))
    }

    fn answer(&self, request: &Request) -> Result<Outcome, Failure> {
        let place = request.place.as_str();
        Ok(match &request.effect {
            Effect::Session(task) => {
                let text = text::reply(&task.task, &task.context, &mut self.draw(place, &task.task));
                Outcome::Reply(Reply { text: text.into(), ..Reply::default() })
            }
            Effect::Judge(question) => Outcome::Verdict(self.verdict(&request.place, question)),
            Effect::Choose(question) if question.labels.is_empty() => {
                return Err(Failure::session("there are no options to choose from"));
            }
            Effect::Choose(question) => {
                let index = self.draw(place, &question.text).usize(..question.labels.len());
                Outcome::Choice(Choice { index, reason: format!("random {MARK}") })
            }
            Effect::Extract(question) => {
                let texts = question.context.iter().filter_map(|item| item.text.as_deref());
                Outcome::Value(text::extract(&question.text, texts).map_or(Value::Null, Value::text))
            }
            Effect::Summarise(summary) => {
                let longest = match summary.extent {
                    SummaryLength::KeyPoints => 1_500,
                    SummaryLength::Essentials => 1_000,
                };
                Outcome::Value(Value::text(text::cut(&summary.text, longest)))
            }
            _ => return Err(not_performed(request)),
        })
    }

    /// Whether a condition is met (R64). The condition of a loop ends it after a few iterations; any other is met with probability one half, so that
    /// a loop that depends on it ends too.
    fn verdict(&self, place: &Place, question: &Question) -> Verdict {
        // The check before an iteration has the number of that iteration.
        let looping = question.of_loop.zip(iteration(place.as_str()));
        let Some((kind, (before, number))) = looping else {
            let met = self.draw(place.as_str(), &question.text).bool();
            let reason = format!("random {MARK}");
            return Verdict { met, reason, no_progress: false };
        };
        // The same for all iterations, so that the number of iterations is drawn once per loop.
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

    fn perform<'a>(&'a self, request: &'a Request, _: &'a Reporter) -> HarnessFuture<'a, Outcome> {
        Box::pin(async move {
            if !self.delay.is_zero() {
                tokio::time::sleep(self.delay).await;
            }
            self.answer(request)
        })
    }
}

/// The innermost iteration of a place: the path before it, and its number, from 0.
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
