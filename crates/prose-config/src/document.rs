//! From the text of a `prose.toml` to its settings.

use prose_syntax::{Code, Diagnostic, TextRange};
use prose_toml::{Document, MAX_PROBLEMS};

use crate::Config;
use crate::registry_url::RegistryUrl;
use crate::setting::{Reader, Setting};

/// No settings are that long; reading more would only keep an editor waiting.
const MAX_BYTES: usize = 16 << 20;

pub(crate) fn read(text: &str) -> (Config, Vec<Diagnostic>) {
    if text.len() > MAX_BYTES {
        let message = format!("`prose.toml` is larger than {} MiB and is ignored", MAX_BYTES >> 20);
        let problem = Diagnostic::new(Code::E141, TextRange::default(), message);
        let mut config = Config::default();
        config.registry.url = RegistryUrl::unknown();
        return (config, vec![problem]);
    }
    let document = Document::parse(text);
    let mut reader = Reader::new(text, &document, Config::schema);
    let mut config = Config::read(&document.root(), &mut reader).unwrap_or_default();
    let is_url_lost = reader.has_stray_address || !document.problems.is_empty();
    if is_url_lost && config.registry.url == RegistryUrl::default() {
        config.registry.url = RegistryUrl::unknown();
    }
    let mut problems: Vec<Diagnostic> = document
        .problems
        .iter()
        .map(|problem| {
            Diagnostic::new(Code::E141, problem.range, problem.message.clone()).with_fix(problem.fix.clone())
        })
        .collect();
    // Keys and values that are left of broken TOML say nothing about what was meant.
    if document.is_complete {
        let is_sound = |problem: &Diagnostic| !document.is_broken_at(problem.range.start());
        problems.extend(reader.problems.into_iter().filter(is_sound));
    }
    problems.sort_by_key(|problem| (problem.range.start(), problem.range.end()));
    problems.truncate(MAX_PROBLEMS);
    (config, problems)
}
