//! What the client is given of the features that take the analysis: hover, navigation, completion, semantic tokens.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use prose_analysis::location::Origin;
use prose_analysis::{Db, SourceFile};
use prose_ide::semantic_tokens::{Modifiers, TokenKind};
use prose_ide::{Access, CompletionKind, LinkTarget, PathCandidates, SemanticToken};
use prose_syntax::{TextRange, TextSize};
use ropey::Rope;
use serde_json::{Value, json};

use crate::convert::{Converter, Session, uri_of_path};
use crate::documents::DocumentUri;
use crate::json::{Json, json as text};
use crate::reads::View;

/// The answer to `textDocument/hover`.
pub(crate) fn hover(view: &View, session: &Session, offset: TextSize) -> Json {
    let hover = prose_ide::hover(&view.db, view.snapshot.file, offset).map(|hover| {
        let contents = if session.shows_markdown {
            json!({ "kind": "markdown", "value": hover.markdown })
        } else {
            json!({ "kind": "plaintext", "value": hover.markdown })
        };
        json!({ "contents": contents, "range": here(view, session).range(hover.range) })
    });
    text(&hover)
}

/// The answer to `textDocument/definition`.
pub(crate) fn definition(view: &View, session: &Session, offset: TextSize) -> Json {
    let Some(definition) = prose_ide::goto_definition(&view.db, view.snapshot.file, offset) else {
        return text(&());
    };
    let origin = here(view, session).range(definition.origin);
    let targets = definition.targets.iter().filter_map(|target| {
        let (uri, contents) = place(view, target.file)?;
        let there = Converter { text: &contents, session };
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

/// The answer to `textDocument/references`.
pub(crate) fn references(view: &View, session: &Session, offset: TextSize, with_declaration: bool) -> Json {
    let candidates = view.db.programs();
    let found = prose_ide::references(&view.db, view.snapshot.file, offset, with_declaration, &candidates);
    let mut last: Option<(SourceFile, DocumentUri, Rope)> = None;
    let mut locations: Vec<Value> = Vec::new();
    for reference in found.into_iter().flatten() {
        // References come file by file.
        if last.as_ref().is_none_or(|(file, ..)| *file != reference.file) {
            last = place(view, reference.file).map(|(uri, contents)| (reference.file, uri, contents));
        }
        if let Some((_, uri, contents)) = &last {
            let range = Converter { text: contents, session }.range(reference.range);
            locations.push(json!({ "uri": &**uri, "range": range }));
        }
    }
    text(&locations)
}

/// The answer to `textDocument/documentLink`.
pub(crate) fn document_links(view: &View, session: &Session) -> Json {
    let links = prose_ide::document_links(&view.db, view.snapshot.file, Path::exists);
    let links = links.iter().filter_map(|link| {
        let target = match &link.target {
            LinkTarget::Path(path) => uri_of_path(path)?.to_string(),
            LinkTarget::Url(url) => url.clone(),
        };
        let range = here(view, session).range(link.range);
        Some(json!({ "range": range, "target": target, "tooltip": link.tooltip }))
    });
    text(&links.collect::<Vec<Value>>())
}

/// The answer to `textDocument/documentHighlight`.
pub(crate) fn document_highlights(view: &View, session: &Session, offset: TextSize) -> Json {
    let converter = here(view, session);
    let highlights = prose_ide::document_highlights(&view.db, view.snapshot.file, offset);
    let highlights = highlights.iter().map(|highlight| {
        let kind = match highlight.access {
            Access::Read => 2,
            Access::Write => 3,
        };
        json!({ "range": converter.range(highlight.range), "kind": kind })
    });
    text(&highlights.collect::<Vec<Value>>())
}

/// The answer to `textDocument/completion`.
pub(crate) fn completions(view: &View, session: &Session, offset: TextSize) -> Json {
    let converter = here(view, session);
    let file = view.snapshot.file;
    let completions = prose_ide::completions(&view.db, file, offset, &candidates(view, offset));
    let items = completions.iter().map(|completion| {
        let snippet = completion.snippet.as_ref().filter(|_| session.takes_snippets);
        let mut item = json!({
            "label": completion.label,
            "kind": completion_kind(completion.kind),
            "sortText": format!("{:06}", completion.order),
            "textEdit": {
                "range": converter.range(completion.range),
                "newText": snippet.unwrap_or(&completion.text),
            },
        });
        let mut add = |key: &str, value: Value| item[key] = value;
        if let Some(detail) = &completion.detail {
            add("detail", json!(detail));
        }
        if let Some(documentation) = &completion.documentation {
            add("documentation", json!({ "kind": "markdown", "value": documentation }));
        }
        if let Some(filter) = &completion.filter {
            add("filterText", json!(filter));
        }
        if snippet.is_some() {
            add("insertTextFormat", json!(2));
            // The lines of a snippet are indented relative to the one it is typed in.
            add("insertTextMode", json!(2));
        }
        if completion.continues {
            let again = json!({ "title": "Suggest", "command": "editor.action.triggerSuggest" });
            if session.is_vscode {
                add("command", again);
            }
        }
        item
    });
    text(&json!({ "isIncomplete": false, "items": items.collect::<Vec<Value>>() }))
}

/// The answer to `textDocument/semanticTokens/full` and, for a part of the document, to `…/range`.
pub(crate) fn semantic_tokens(view: &View, session: &Session, range: Option<TextRange>) -> Json {
    let file = view.snapshot.file;
    let tokens = match range {
        Some(range) => prose_ide::semantic_tokens_in(&view.db, file, range),
        None => prose_ide::semantic_tokens(&view.db, file),
    };
    text(&json!({ "data": encoded(&tokens, &here(view, session)) }))
}

/// The names that the numbers in semantic tokens stand for.
pub(crate) fn legend() -> Value {
    let kinds: Vec<&str> = TokenKind::ALL.iter().map(|kind| kind.name()).collect();
    json!({ "tokenTypes": kinds, "tokenModifiers": Modifiers::NAMES })
}

/// Each token as five numbers, its place relative to the one before.
fn encoded(tokens: &[SemanticToken], converter: &Converter<'_>) -> Vec<u32> {
    let mut data = Vec::with_capacity(tokens.len() * 5);
    let (mut line, mut column) = (0, 0);
    for token in tokens {
        let range = converter.range(token.range);
        let (start, end) = (range.start, range.end);
        let from = if start.line == line { column } else { 0 };
        data.extend([start.line - line, start.character - from]);
        data.extend([
            end.character.saturating_sub(start.character),
            token.kind as u32,
            token.modifiers.bits(),
        ]);
        (line, column) = (start.line, start.character);
    }
    data
}

fn completion_kind(kind: CompletionKind) -> u32 {
    match kind {
        CompletionKind::Keyword => 14,
        CompletionKind::Agent => 7,
        CompletionKind::Block => 3,
        CompletionKind::Program => 9,
        CompletionKind::Variable | CompletionKind::Parameter => 6,
        CompletionKind::Constant => 21,
        CompletionKind::Property => 10,
        CompletionKind::Value => 20,
        CompletionKind::Field => 5,
        CompletionKind::File => 17,
    }
}

fn here<'a>(view: &'a View, session: &'a Session) -> Converter<'a> {
    Converter { text: &view.snapshot.text, session }
}

/// The name and the text of a program.
pub(crate) fn place(view: &View, file: SourceFile) -> Option<(DocumentUri, Rope)> {
    if file == view.snapshot.file {
        return Some((Arc::clone(&view.snapshot.uri), view.snapshot.text.clone()));
    }
    let uri = view.programs.uri(&view.db, file)?;
    Some((uri, Rope::from_str(file.text(&view.db).as_str())))
}

/// What `use` may name, if the line at an offset is one: folders and the cache are not looked at for others.
fn candidates(view: &View, offset: TextSize) -> PathCandidates {
    let text = &view.snapshot.text;
    let line = text.byte_to_line(usize::from(offset).min(text.len_bytes()));
    if !text.line(line).chunks().any(|chunk| chunk.trim_start().starts_with(['u', 'i'])) {
        return PathCandidates::default();
    }
    let known = view.cache.list().into_iter().map(|source| source.reference);
    PathCandidates { local: programs_around(view, view.snapshot.file), known: known.collect() }
}

/// The programs that are known, and those in the folder of a program and directly below it.
fn programs_around(view: &View, file: SourceFile) -> Vec<PathBuf> {
    /// A folder with more than that is none that programs are kept in.
    const MOST: usize = 2_000;
    let db: &dyn Db = &view.db;
    let known = view.db.programs().into_iter().filter(|file| *file.origin(db) == Origin::Local);
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
