//! What models cost: the prices that `genai-prices` has built in, with the dates from which they hold, and those of the project.

use std::collections::BTreeMap;
use std::time::SystemTime;

use genai_prices::{Calculator, PriceRequest, UsageKey};
use prose_vm::effect::Usage;

/// The price of a model in US dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    /// The price of input tokens.
    pub input: f64,
    /// The price of input tokens that are read from a cache.
    pub cache_read: f64,
    /// The price of input tokens that are written to a cache.
    pub cache_write: f64,
    /// The price of output tokens.
    pub output: f64,
}

const MILLION: f64 = 1_000_000.0;

impl Price {
    fn cost(&self, usage: &Usage) -> f64 {
        let cached = usage.cache_read_tokens.saturating_add(usage.cache_write_tokens);
        let plain = usage.input_tokens.saturating_sub(cached);
        let parts = [
            (plain, self.input),
            (usage.cache_read_tokens, self.cache_read),
            (usage.cache_write_tokens, self.cache_write),
            (usage.output_tokens, self.output),
        ];
        parts.iter().map(|(tokens, price)| *tokens as f64 * price / MILLION).sum()
    }
}

/// The prices of models. The prices of the project come first, by the id of the model.
#[derive(Debug, Clone, Default)]
pub struct Prices {
    of_project: BTreeMap<String, Price>,
}

impl Prices {
    /// Prices with those of a project.
    pub fn new(of_project: impl IntoIterator<Item = (String, Price)>) -> Self {
        let of_project = of_project.into_iter().map(|(model, price)| (model.to_lowercase(), price));
        Self { of_project: of_project.collect() }
    }

    /// The cost of a request in US dollars by the prices of the project; `None` if it has none for the model.
    pub fn cost_as_set(&self, model: &str, usage: &Usage) -> Option<f64> {
        self.price_as_set(&plain(model)).map(|price| price.cost(usage))
    }

    /// The price that the project has for a model with a [plain] name.
    fn price_as_set(&self, model: &str) -> Option<&Price> {
        let (_, id) = parts(model);
        self.of_project.get(model).or_else(|| self.of_project.get(id))
    }

    /// The cost of a request in US dollars at a time; `None` if the price of the model is not known.
    ///
    /// A model is named by the provider's id, with or without `provider/` before it, or by a short name such as `sonnet`, which is the latest
    /// model of that kind.
    pub fn cost(&self, model: &str, usage: &Usage, at: SystemTime) -> Option<f64> {
        let model = plain(model);
        if let Some(price) = self.price_as_set(&model) {
            return Some(price.cost(usage));
        }
        let (provider, id) = parts(&model);
        let counted = genai_prices::Usage::from([
            (UsageKey::INPUT_TOKENS, usage.input_tokens as f64),
            (UsageKey::CACHE_READ_TOKENS, usage.cache_read_tokens as f64),
            (UsageKey::CACHE_WRITE_TOKENS, usage.cache_write_tokens as f64),
            (UsageKey::OUTPUT_TOKENS, usage.output_tokens as f64),
        ]);
        let calculator = Calculator::bundled();
        let cost = |provider: Option<&str>, id: &str| {
            let request = PriceRequest::new(id, &counted).with_timestamp(at);
            let request = provider.map_or(request.clone(), |provider| request.with_provider_id(provider));
            calculator.calculate(&request).ok().map(|price| price.total_price)
        };
        cost(provider, id).or_else(|| cost(None, id)).or_else(|| cost(Some("anthropic"), latest(id)?))
    }
}

/// The name of a model as names are compared.
fn plain(model: &str) -> String {
    model.trim().to_lowercase()
}

/// The provider before a model, if it is named, and the id of the model.
fn parts(model: &str) -> (Option<&str>, &str) {
    match model.split_once('/') {
        Some((provider, id)) => (Some(provider), id),
        None => (None, model),
    }
}

/// The latest Claude model that a short name such as `sonnet` stands for.
fn latest(name: &str) -> Option<&'static str> {
    if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        return None;
    }
    let provider = Calculator::bundled().providers().find(|provider| provider.id() == "anthropic")?;
    let version = |id: &str| -> Option<Vec<u32>> {
        let version = id.strip_prefix("claude-")?.strip_prefix(name)?.strip_prefix('-')?;
        version.split('-').map(|part| part.parse().ok()).collect()
    };
    let models = provider.models().filter_map(|model| Some((version(model.id())?, model.id())));
    models.max().map(|(_, id)| id)
}

/// The tokens of a text of so many bytes, estimated: about four bytes each.
pub fn estimated_tokens(bytes: usize) -> u64 {
    (bytes as u64).div_ceil(4)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const MILLION_EACH: Usage = Usage {
        input_tokens: 1_000_000,
        cache_read_tokens: 0,
        cache_write_tokens: 0,
        output_tokens: 1_000_000,
        cost: None,
    };

    /// 2026-10-20.
    fn at() -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(1_792_454_400)
    }

    #[test]
    fn prices_are_built_in() {
        let prices = Prices::default();
        assert_eq!(prices.cost("claude-opus-4-1", &MILLION_EACH, at()), Some(90.0));
        assert_eq!(prices.cost("anthropic/claude-opus-4-1", &MILLION_EACH, at()), Some(90.0));
        assert_eq!(prices.cost("claude-opus-4-1-20250805", &MILLION_EACH, at()), Some(90.0));
        assert_eq!(prices.cost("my-own-model", &MILLION_EACH, at()), None);
    }

    #[test]
    fn a_short_name_is_the_latest_model_of_its_kind() {
        let latest = latest("sonnet").unwrap();
        assert!(latest.starts_with("claude-sonnet-"), "{latest}");
        let prices = Prices::default();
        let cost = prices.cost("sonnet", &MILLION_EACH, at());
        assert!(cost.is_some());
        assert_eq!(cost, prices.cost(latest, &MILLION_EACH, at()));
        assert_eq!(prices.cost("", &MILLION_EACH, at()), None);
    }

    #[test]
    fn tokens_of_a_cache_have_prices_of_their_own() {
        let usage = Usage {
            input_tokens: 3_000_000,
            cache_read_tokens: 1_000_000,
            cache_write_tokens: 1_000_000,
            output_tokens: 0,
            cost: None,
        };
        let price = Price { input: 3.0, cache_read: 0.3, cache_write: 3.75, output: 15.0 };
        let prices = Prices::new([("My-Model".to_owned(), price)]);
        let cost = prices.cost("local/my-model", &usage, at()).unwrap();
        assert!((cost - 7.05).abs() < 1e-9, "{cost}");
        let plain = Prices::default().cost(
            "claude-opus-4-1",
            &Usage { cache_read_tokens: 0, cache_write_tokens: 0, ..usage },
            at(),
        );
        assert!(Prices::default().cost("claude-opus-4-1", &usage, at()) < plain);
    }

    #[test]
    fn a_price_of_the_project_comes_first() {
        let free = Price { input: 0.0, cache_read: 0.0, cache_write: 0.0, output: 0.0 };
        let prices = Prices::new([("claude-opus-4-1".to_owned(), free)]);
        assert_eq!(prices.cost("claude-opus-4-1", &MILLION_EACH, at()), Some(0.0));
    }
}
