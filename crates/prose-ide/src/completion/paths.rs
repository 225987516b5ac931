//! Completion of the path of a `use`.

use std::path::{Path, PathBuf};

use prose_analysis::location::Origin;
use prose_analysis::location::normalized;
use prose_reference::Reference;
use prose_syntax::TextRange;

use super::{CompletionKind, Context};
use crate::cursor::size;
use crate::moved::relative;

/// The candidates for the path of a `use`. Completion itself reads no folder and no cache.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PathCandidates {
    /// The paths of local programs, such as those in folders near the file, without copies of fetched ones.
    pub local: Vec<PathBuf>,
    /// The references of programs that are not local, such as those in the cache: `alice/research`.
    pub known: Vec<String>,
}

/// The paths between the quotes around the cursor. `closing` is the quote if it is missing.
pub(super) fn between_quotes(context: &mut Context<'_>, range: TextRange, closing: &str) {
    // A path has characters that are no part of a word.
    let mut end = usize::from(range.end());
    let text = context.cursor.text;
    if !closing.is_empty() {
        end += text[end..].find(|c: char| c.is_whitespace() || c == '"').unwrap_or(text.len() - end);
    }
    context.replaced = TextRange::new(range.start(), size(end));
    for (path, detail) in candidates(context) {
        let item = context.item(CompletionKind::File, path.as_str());
        context.add(item.text(format!("{path}{closing}")).detail(detail));
    }
}

/// The paths with their quotes.
pub(super) fn quoted(context: &mut Context<'_>) {
    for (path, detail) in candidates(context) {
        let quoted = format!("\"{path}\"");
        let item = context.item(CompletionKind::File, path.as_str());
        context.add(item.text(quoted.as_str()).filter(quoted).detail(detail));
    }
}

/// What can be imported, with where it comes from: the nearest files first, and then the programs of elsewhere.
fn candidates(context: &Context<'_>) -> Vec<(String, &'static str)> {
    let db = context.cursor.db;
    let mut found = Vec::new();
    // A program of the network reaches no file of this machine.
    if *context.cursor.file.origin(db) == Origin::Local {
        let own = normalized(context.cursor.file.path(db));
        found.extend(local(&own, &context.paths.local).into_iter().map(|path| (path, "")));
    }
    let mut known: Vec<(&str, &'static str)> = context
        .paths
        .known
        .iter()
        .filter_map(|path| Some((path.as_str(), place(&Reference::parse(path).ok()?)?)))
        .collect();
    known.sort_unstable();
    known.dedup();
    found.extend(known.into_iter().map(|(path, place)| (path.to_owned(), place)));
    found
}

/// The location of a remote program.
fn place(reference: &Reference) -> Option<&'static str> {
    match reference {
        Reference::Registry(_) => Some("program in a registry"),
        Reference::Url(_) => Some("program at an address"),
        Reference::Git(_) => Some("program in a git repository"),
        Reference::Local(_) => None,
    }
}

/// The ways to programs on this machine from a file, the nearest first.
fn local(own: &Path, paths: &[PathBuf]) -> Vec<String> {
    let Some(folder) = own.parent() else { return Vec::new() };
    let mut paths: Vec<String> = paths
        .iter()
        .map(|path| normalized(path))
        .filter(|path| path != own)
        .filter_map(|path| relative(folder, &path))
        .collect();
    paths.sort_by_key(|path| (path.matches("../").count(), path.matches('/').count(), path.clone()));
    paths.dedup();
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_from_the_folder_of_the_importer() {
        let path = |folder: &str, file: &str| relative(Path::new(folder), Path::new(file));
        assert_eq!(path("/flows", "/flows/a.prose").as_deref(), Some("./a.prose"));
        assert_eq!(path("/flows", "/flows/lib/a.prose").as_deref(), Some("./lib/a.prose"));
        assert_eq!(path("/flows/main", "/lib/a.prose").as_deref(), Some("../../lib/a.prose"));
        assert_eq!(path("", "a.prose").as_deref(), Some("./a.prose"));
    }
}
