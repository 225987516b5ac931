//! What the client is given of the features that take the analysis: hover, navigation, completion, semantic tokens.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use prose_analysis::location::Origin;
use prose_analysis::{Db, SourceFile};
use prose_ide::semantic_tokens::{Modifiers, TokenKind};
use prose_ide::{Access, Definition, LinkTarget, PathCandidates, SemanticToken};
use prose_syntax::TextSize;
use serde_json::{Value, json};

use crate::protocol::convert::Converter;
use crate::protocol::json::{Json, json as text};
use crate::protocol::lsp;
use crate::protocol::session::Session;
use crate::protocol::shown::Shown;
use crate::protocol::uri::{DocumentUri, uri_of_path};
use crate::reads::views::{View, Views};

/// The answer to `textDocument/hover`.
pub(crate) fn hover(view: &View<'_>, session: &Session, offset: TextSize) -> Json {
    let hover = prose_ide::hover(view.db, view.snapshot.file, offset).map(|hover| {
        let contents = session.hovers.content(&hover.markdown);
        json!({ "contents": contents, "range": view.converter(session).range(hover.range) })
    });
    text(&hover)
}

/// The answer to `textDocument/definition`.
pub(crate) fn definition(view: &View<'_>, session: &Session, offset: TextSize) -> Json {
    let Some(definition) = prose_ide::goto_definition(view.db, view.snapshot.file, offset) else {
        return text(&());
    };
    let origin = view.converter(session).range(definition.origin);
    let targets = definition.targets.iter().filter_map(|target| {
        let (uri, shown) = place(view, target.file)?;
        let there = Converter::new(&shown, session);
        Some(if session.links_definitions {
            json!({
                "originSelectionRange": origin,
                "targetUri": &*uri,
                "targetRange": there.range(target.range),
                "targetSelectionRange": there.range(target.selection_range),
            })
        } else {
            json!({ "uri": &*uri, "range": there.range(target.selection_range) })
        })
    });
    text(&targets.collect::<Vec<Value>>())
}

/// The answer to the requests that lead to other places than the definition.
pub(crate) fn goto(
    view: &View<'_>,
    session: &Session,
    offset: TextSize,
    goto: fn(&dyn Db, SourceFile, TextSize) -> Option<Definition>,
) -> Json {
    let found = goto(view.db, view.snapshot.file, offset);
    let targets = found.iter().flat_map(|found| &found.targets).filter_map(|target| {
        let (uri, shown) = place(view, target.file)?;
        let range = Converter::new(&shown, session).range(target.selection_range);
        Some(json!({ "uri": &*uri, "range": range }))
    });
    text(&targets.collect::<Vec<Value>>())
}

/// The answer to `textDocument/references`.
pub(crate) fn references(
    view: &View<'_>,
    session: &Session,
    offset: TextSize,
    with_declaration: bool,
) -> Json {
    let candidates = view.db.programs();
    let found = prose_ide::references(view.db, view.snapshot.file, offset, with_declaration, &candidates);
    let mut last: Option<(SourceFile, DocumentUri, Shown)> = None;
    let mut locations: Vec<Value> = Vec::new();
    for reference in found.into_iter().flatten() {
        // References come file by file.
        if last.as_ref().is_none_or(|(file, ..)| *file != reference.file) {
            last = place(view, reference.file).map(|(uri, shown)| (reference.file, uri, shown));
        }
        if let Some((_, uri, shown)) = &last {
            let range = Converter::new(shown, session).range(reference.range);
            locations.push(json!({ "uri": &**uri, "range": range }));
        }
    }
    text(&locations)
}

/// The answer to `textDocument/documentLink`.
pub(crate) fn document_links(view: &View<'_>, session: &Session) -> Json {
    let links = prose_ide::document_links(view.db, view.snapshot.file, Path::exists);
    let links = links.iter().filter_map(|link| {
        let target = match &link.target {
            LinkTarget::Path(path) => uri_of_path(path)?.to_string(),
            LinkTarget::Url(url) => url.clone(),
        };
        let range = view.converter(session).range(link.range);
        Some(json!({ "range": range, "target": target, "tooltip": link.tooltip }))
    });
    text(&links.collect::<Vec<Value>>())
}

/// The answer to `textDocument/documentHighlight`.
pub(crate) fn document_highlights(view: &View<'_>, session: &Session, offset: TextSize) -> Json {
    let converter = view.converter(session);
    let highlights = prose_ide::document_highlights(view.db, view.snapshot.file, offset);
    let highlights = highlights.iter().map(|highlight| {
        let kind = match highlight.access {
            Access::Read => 2,
            Access::Write => 3,
        };
        json!({ "range": converter.range(highlight.range), "kind": kind })
    });
    text(&highlights.collect::<Vec<Value>>())
}

/// The answer to `textDocument/linkedEditingRange`.
pub(crate) fn linked_editing_ranges(view: &View<'_>, session: &Session, offset: TextSize) -> Json {
    let programs = view.db.programs();
    let ranges = prose_ide::linked_ranges(view.db, &programs, view.snapshot.file, offset);
    let converter = view.converter(session);
    text(&ranges.map(|ranges| {
        let ranges: Vec<lsp::Range> = ranges.into_iter().map(|range| converter.range(range)).collect();
        json!({ "ranges": ranges })
    }))
}

/// The answer to `textDocument/inlineValue`: the variables that a debugger is to look up.
pub(crate) fn inline_values(view: &View<'_>, session: &Session, range: lsp::Range) -> Json {
    let converter = view.converter(session);
    let range = converter.text_range(range);
    let variables = range.map(|range| prose_ide::variables_in(view.db, view.snapshot.file, range));
    let values = variables.into_iter().flatten().map(|(range, name)| {
        json!({ "range": converter.range(range), "variableName": &*name, "caseSensitiveLookup": true })
    });
    text(&values.collect::<Vec<Value>>())
}

/// What of the semantic tokens of a document is asked for.
#[derive(Debug, Clone)]
pub(crate) enum TokensWanted {
    /// `textDocument/semanticTokens/full`
    All,
    /// `textDocument/semanticTokens/full/delta`, since the answer of that id
    Since(String),
    /// `textDocument/semanticTokens/range`
    In(lsp::Range),
}

/// The answer to the requests for semantic tokens.
pub(crate) fn semantic_tokens(
    views: &Views,
    session: &Session,
    uri: &DocumentUri,
    wanted: &TokensWanted,
) -> Json {
    let mut encoded = Encoded::default();
    for view in views.each() {
        let (converter, file) = (view.converter(session), view.snapshot.file);
        let tokens = match wanted {
            TokensWanted::In(range) => converter
                .text_range(*range)
                .map_or_else(Vec::new, |range| prose_ide::semantic_tokens_in(view.db, file, range)),
            TokensWanted::All | TokensWanted::Since(_) => prose_ide::semantic_tokens(view.db, file),
        };
        encoded.add(&tokens, &converter);
    }
    text(&match wanted {
        TokensWanted::In(_) => json!({ "data": encoded.data }),
        TokensWanted::All => views.tokens.full(uri, encoded.data),
        TokensWanted::Since(previous) => views.tokens.delta(uri, previous, encoded.data),
    })
}

/// The names that the numbers in semantic tokens stand for.
pub(crate) fn legend() -> Value {
    let kinds: Vec<&str> = TokenKind::ALL.iter().map(|kind| kind.name()).collect();
    json!({ "tokenTypes": kinds, "tokenModifiers": Modifiers::NAMES })
}

/// Each token as five numbers, its place relative to the one before.
#[derive(Default)]
struct Encoded {
    data: Vec<u32>,
    line: u32,
    column: u32,
}

impl Encoded {
    fn add(&mut self, tokens: &[SemanticToken], converter: &Converter<'_>) {
        self.data.reserve(tokens.len() * 5);
        for token in tokens {
            let lsp::Range { start, end } = converter.range(token.range);
            let from = if start.line == self.line { self.column } else { 0 };
            self.data.extend([start.line - self.line, start.character - from]);
            self.data.extend([
                end.character.saturating_sub(start.character),
                token.kind as u32,
                token.modifiers.bits(),
            ]);
            (self.line, self.column) = (start.line, start.character);
        }
    }
}

/// The document that shows a program.
pub(crate) fn place(view: &View<'_>, file: SourceFile) -> Option<(DocumentUri, Shown)> {
    if file == view.snapshot.file {
        return Some((Arc::clone(&view.snapshot.uri), view.snapshot.shown.clone()));
    }
    view.programs.place(view.db, file)
}

/// What `use` may name, if the line at an offset is one: folders and the cache are not looked at for others.
pub(crate) fn candidates(view: &View<'_>, offset: TextSize) -> PathCandidates {
    let text = &view.snapshot.text;
    let line = text.byte_to_line(usize::from(offset).min(text.len_bytes()));
    if !text.line(line).chunks().any(|chunk| chunk.trim_start().starts_with(['u', 'i'])) {
        return PathCandidates::default();
    }
    let known = view.cache.list().into_iter().map(|source| source.reference);
    PathCandidates { local: programs_around(view, view.snapshot.file), known: known.collect() }
}

/// The programs that are known, and those in the folder of a program and directly below it.
fn programs_around(view: &View<'_>, file: SourceFile) -> Vec<PathBuf> {
    /// A folder with more than that is none that programs are kept in.
    const MOST: usize = 2_000;
    let db: &dyn Db = view.db;
    let can_be_imported =
        |file: &SourceFile| *file.origin(db) == Origin::Local && !view.programs.is_part(*file);
    let known = view.db.programs().into_iter().filter(can_be_imported);
    let mut paths: Vec<PathBuf> = known.map(|file| file.path(db).to_path_buf()).collect();
    let Some(folder) = file.path(db).parent() else { return paths };
    let entries =
        |folder: PathBuf| std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    for path in entries(folder.to_owned()).take(MOST) {
        if path.is_dir() {
            paths.extend(entries(path).take(MOST).filter(|path| is_program(path)));
        } else if is_program(&path) {
            paths.push(path);
        }
    }
    paths.sort();
    paths.dedup();
    paths.retain(|path| path != &**file.path(db));
    paths
}

fn is_program(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "prose")
}
