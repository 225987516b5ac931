//! What a request to a model has used, as OpenCode reports it.

use prose_vm::effect::Usage;
use serde::Deserialize;
use serde_json::Value;
use smol_str::SmolStr;

/// A part of a message: each request to the model ends with one about what it has used.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub(super) enum Part {
    StepFinish(Spent),
    #[serde(other)]
    Other,
}

/// What a request has used, with the id of the part that says so, if an event is about the end of one.
pub(super) fn used(kind: &str, properties: &Value) -> Option<(SmolStr, Usage)> {
    let part = &properties["part"];
    match (kind, Part::deserialize(part).ok()?) {
        ("message.part.updated", Part::StepFinish(spent)) => {
            Some((part["id"].as_str()?.into(), spent.usage()))
        }
        _ => None,
    }
}

/// The tokens and the cost of a request.
#[derive(Deserialize)]
pub(super) struct Spent {
    tokens: Tokens,
    #[serde(default)]
    cost: f64,
}

/// Tokens. The input does not include those of the cache, and the output not those of the reasoning.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Tokens {
    input: u64,
    output: u64,
    reasoning: u64,
    cache: Cache,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Cache {
    read: u64,
    write: u64,
}

impl Spent {
    pub(super) fn usage(&self) -> Usage {
        let Tokens { input, output, reasoning, cache } = &self.tokens;
        Usage {
            input_tokens: input + cache.read + cache.write,
            cache_read_tokens: cache.read,
            cache_write_tokens: cache.write,
            output_tokens: output + reasoning,
            // It counts models without a known price as free.
            cost: (self.cost > 0.0).then_some(self.cost),
        }
    }
}
