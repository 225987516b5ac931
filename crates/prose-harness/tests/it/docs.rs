//! The examples of `docs/scripts.md`, and what `docs/harnesses.md` lists.

use prose_harness::command::{ALWAYS_PASSED, MAX_REPLY_BYTES};
use prose_harness::drivers::KnownAgent;
use prose_harness::drivers::provider::PROVIDERS;
use prose_harness::registry::HARNESSES;
use prose_harness::script::Script;
use prose_vm::effect::{Request, SummaryLength};

use crate::support::*;

const DOCS: &str = include_str!("../../../../docs/scripts.md");

/// Each block of TOML is followed by one that shows what is asked and what is answered.
#[tokio::test(start_paused = true)]
async fn every_example_answers_as_it_says() {
    let blocks: Vec<(&str, &str)> =
        DOCS.split("\n```").skip(1).step_by(2).filter_map(|block| block.split_once('\n')).collect();
    let mut examples = 0;
    for (index, (language, text)) in blocks.iter().enumerate() {
        let Some(("text", shown)) = blocks.get(index + 1).filter(|_| *language == "toml") else { continue };
        examples += 1;
        let script =
            Script::parse("docs/scripts.md", text, 0).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
        for line in shown.lines() {
            let (asked, expected) = line.split_once(" → ").unwrap_or_else(|| panic!("{line}"));
            let found = said(&script, &read(asked)).await;
            let expected_start = expected.trim_end_matches('…');
            let is_same =
                if expected.ends_with('…') { found.starts_with(expected_start) } else { found == expected };
            assert!(is_same, "{asked} → {found}\n{text}");
        }
    }
    assert!(examples >= 9, "only {examples} examples were found");
}

/// Reads a request such as `session writer at s1: Write it`.
fn read(line: &str) -> Request {
    let (head, text) = line.split_once(": ").unwrap_or((line, ""));
    let (head, place) = head.split_once(" at ").unwrap_or((head, "s1"));
    let (kind, name) = head.split_once(' ').unwrap_or((head, ""));
    match kind {
        "session" if name.is_empty() => session(place, text),
        "session" => session_of(name, place, text),
        "condition" => condition(place, text),
        "choice" => choice(place, text, &["Ship it", "Wait"]),
        "extract" => extract(place, text, "…"),
        "summary" => summary(place, name, text, SummaryLength::KeyPoints),
        "input" => input(place, name, text),
        "memory" => memory(place, name),
        _ => panic!("no request: {line}"),
    }
}

const HARNESS_DOCS: &str = include_str!("../../../../docs/harnesses.md");

#[test]
fn all_harnesses_are_listed_in_their_order() {
    let table: Vec<String> =
        HARNESSES.iter().map(|info| format!("| `{}` | {} |\n", info.name, info.description)).collect();
    assert!(
        HARNESS_DOCS.contains(&format!("|---|---|\n{}\n", table.concat())),
        "the table should be:\n{}",
        table.concat()
    );
}

#[test]
fn what_agents_get_of_the_environment_is_listed() {
    let list = |names: &[&str]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    assert!(HARNESS_DOCS.contains(&format!("\n{}.\n", list(ALWAYS_PASSED))), "{}", list(ALWAYS_PASSED));
    for agent in [KnownAgent::CLAUDE, KnownAgent::CODEX, KnownAgent::OPENCODE] {
        let expected = format!("`{}` gets {}", agent.program, list(agent.variables));
        assert!(HARNESS_DOCS.contains(&expected), "{expected}");
    }
    assert!(HARNESS_DOCS.contains(&format!("longer than {} MiB", MAX_REPLY_BYTES >> 20)));
}

#[test]
fn all_providers_are_listed_with_their_keys_and_models() {
    let mut table = String::new();
    for provider in PROVIDERS {
        let key = match (provider.key_variable, provider.base_url) {
            (Some(variable), _) => format!("`{variable}`"),
            (None, Some(_)) => "none".to_owned(),
            (None, None) => "`run.provider.key-variable`".to_owned(),
        };
        let address = if provider.base_url.is_none() { ", at `run.provider.base-url`" } else { "" };
        let models: Vec<_> = provider.sizes.iter().map(|(_, model)| format!("`{model}`")).collect();
        let models = match models.is_empty() {
            true => "the model in `run.provider.model`".to_owned(),
            false => models.join(", "),
        };
        table
            .push_str(&format!("| `{}` | {}{address} | {key} | {models} |\n", provider.name, provider.title));
    }
    assert!(
        HARNESS_DOCS.contains(&format!("|---|---|---|---|\n{table}\n")),
        "docs/harnesses.md should list\n{table}"
    );
}
