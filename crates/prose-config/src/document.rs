//! From the text of a `prose.toml` to its settings.

use prose_syntax::{Code, Diagnostic, TextRange};
use prose_toml::{Document, MAX_PROBLEMS};

use crate::Config;
use crate::mcp;
use crate::registry_url::RegistryUrl;
use crate::setting::{NamedInSettings, Problem, Reader, Setting};

/// No settings are that long; reading more would only keep an editor waiting.
const MAX_BYTES: usize = 16 << 20;

/// A problem of the file as a whole, or of its TOML.
pub(crate) fn of_toml(diagnostic: Diagnostic) -> Problem {
    Problem { diagnostic, prevents_runs: true }
}

/// The settings, what is wrong, and the skills that agents have.
pub(crate) fn read(text: &str) -> (Config, Vec<Problem>, Vec<NamedInSettings>) {
    if text.len() > MAX_BYTES {
        let message = format!("`prose.toml` is larger than {} MiB and is ignored", MAX_BYTES >> 20);
        let problem = Diagnostic::new(Code::E141, TextRange::default(), message);
        let mut config = Config::default();
        config.registry.url = RegistryUrl::unknown();
        return (config, vec![of_toml(problem)], Vec::new());
    }
    let document = Document::parse(text);
    let mut reader = Reader::new(text, &document, Config::schema);
    let mut config = Config::read(&document.root(), &mut reader).unwrap_or_default();
    mcp::check_names(&config.mcp.servers, &mut reader);
    let named_skills = std::mem::take(&mut reader.named_skills);
    let is_url_lost = reader.has_stray_address || !document.problems.is_empty();
    if is_url_lost && config.registry.url == RegistryUrl::default() {
        config.registry.url = RegistryUrl::unknown();
    }
    let mut problems: Vec<Problem> = document
        .problems
        .iter()
        .map(|problem| {
            of_toml(
                Diagnostic::new(Code::E141, problem.range, problem.message.clone())
                    .with_fix(problem.fix.clone()),
            )
        })
        .collect();
    // Keys and values that are left of broken TOML say nothing about what was meant.
    if document.is_complete {
        let is_sound = |problem: &Problem| !document.is_broken_at(problem.diagnostic.range.start());
        problems.extend(reader.problems.into_iter().filter(is_sound));
    }
    problems.sort_by_key(|problem| (problem.diagnostic.range.start(), problem.diagnostic.range.end()));
    problems.truncate(MAX_PROBLEMS);
    (config, problems, named_skills)
}
