//! From the text of a `prose.toml` to its settings.

use std::collections::HashSet;

use prose_syntax::{Code, Diagnostic, TextRange};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::Config;
use crate::repair::{self, Lines, Repaired};
use crate::setting::{Reader, Setting};
use crate::values::RegistryUrl;

/// No settings are that long; reading more would only keep an editor waiting.
const LONGEST: usize = 16 << 20;

/// More of a kind tell nobody more, and take their time.
pub(crate) const MOST_PROBLEMS: usize = 100;

pub(crate) fn read(text: &str) -> (Config, Vec<Diagnostic>) {
    if text.len() > LONGEST {
        let message = format!("prose.toml is longer than {} MiB, so none of it is read", LONGEST >> 20);
        let problem = Diagnostic::new(Code::E141, TextRange::default(), message);
        let mut config = Config::default();
        config.registry.url = RegistryUrl::unknown();
        return (config, vec![problem]);
    }
    let Repaired { text: toml, positions, mut problems, is_sound } = repair::repair(text);
    let (table, _) = DeTable::parse_recoverable(&toml);
    let span = table.span();
    let root = Spanned::new(span, DeValue::Table(table.into_inner()));
    let mut reader = Reader::new(text, &positions);
    let mut config = Config::read(&root, &mut reader).unwrap_or_default();
    let is_url_lost = reader.has_stray_address || !problems.is_empty();
    if is_url_lost && config.registry.url == RegistryUrl::default() {
        config.registry.url = RegistryUrl::unknown();
    }
    // Keys and values that are left of broken TOML say nothing about what was meant.
    if is_sound {
        let lines = Lines::new(text);
        let line = |problem: &Diagnostic| lines.line_at(problem.range.start().into());
        let broken: HashSet<usize> = problems.iter().map(line).collect();
        problems.extend(reader.problems.into_iter().filter(|problem| !broken.contains(&line(problem))));
    }
    problems.sort_by_key(|problem| (problem.range.start(), problem.range.end()));
    problems.truncate(MOST_PROBLEMS);
    (config, problems)
}
