//! The list of completions, as clients take it.

use std::fmt;

use prose_ide::{Completion, CompletionKind};
use prose_syntax::{TextRange, TextSize};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value, json};

use crate::features::import_candidates::candidates;
use crate::protocol::json::{Json, json as text};
use crate::protocol::lsp;
use crate::reads::views::{View, Views};

/// The list. A long program has a thousand names, so common properties are sent once, if the client supports that, and
/// the items are written without a tree of values in between.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct List<'a> {
    is_incomplete: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    item_defaults: Option<Defaults>,
    items: Vec<Item<'a>>,
}

/// The defaults of all items.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Defaults {
    edit_range: lsp::Range,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Value>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Item<'a> {
    label: &'a str,
    kind: u32,
    sort_text: SortText,
    #[serde(skip_serializing_if = "Option::is_none")]
    text_edit: Option<TextEdit<'a>>,
    /// The inserted text, if it is not the label.
    #[serde(skip_serializing_if = "Option::is_none")]
    text_edit_text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    documentation: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    filter_text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    insert_text_format: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    insert_text_mode: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<&'a Value>,
}

/// The sort key of a completion.
struct SortText(u32);

impl fmt::Display for SortText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:06}", self.0)
    }
}

impl Serialize for SortText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TextEdit<'a> {
    range: lsp::Range,
    new_text: &'a str,
}

/// The answer to `textDocument/completion`.
pub(crate) fn completions(view: &View<'_>, offset: TextSize) -> Json {
    let (converter, session) = (view.converter(), view.session);
    let file = view.snapshot.file;
    // Editors indent the lines of a snippet, but do not add the marks of a block quote.
    let takes_lines = !view.snapshot.shown.has_marked_lines();
    let completions = prose_ide::completions(view.db, file, offset, &candidates(view, offset));
    let data = json!({
        "uri": &*view.snapshot.uri,
        "version": view.snapshot.version,
        "position": converter.position(offset),
    });
    let again = json!({ "title": "Suggest", "command": "editor.action.triggerSuggest" });
    let common: Option<TextRange> =
        completions.first().filter(|_| session.takes_item_defaults).map(|first| first.range);
    let items = completions.iter().map(|completion| {
        let snippet = completion.snippet.as_deref().filter(|_| session.takes_snippets);
        let snippet = snippet.filter(|snippet| takes_lines || !snippet.contains('\n'));
        let new_text = snippet.unwrap_or(&completion.text);
        let is_common = common == Some(completion.range);
        let resolves = session.resolves_documentation;
        let documentation = completion.documentation.as_deref();
        Item {
            label: &completion.label,
            kind: kind(completion.kind),
            sort_text: SortText(completion.order),
            text_edit: (!is_common).then(|| TextEdit { range: converter.range(completion.range), new_text }),
            text_edit_text: (is_common && new_text != completion.label).then_some(new_text),
            detail: completion.detail.as_deref(),
            documentation: documentation.filter(|_| !resolves).map(|text| session.completions.content(text)),
            data: (common.is_none() && resolves && documentation.is_some()).then_some(&data),
            filter_text: completion.filter.as_deref(),
            insert_text_format: snippet.map(|_| 2),
            // The lines of a snippet are indented relative to the one it is typed in.
            insert_text_mode: snippet.map(|_| 2),
            command: (completion.continues && session.is_vscode).then_some(&again),
        }
    });
    let items = items.collect();
    let item_defaults = common.map(|range| Defaults {
        edit_range: converter.range(range),
        data: session.resolves_documentation.then(|| data.clone()),
    });
    text(&List { is_incomplete: false, item_defaults, items })
}

/// Where a completion came from, for when more of it is asked for.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct CompletionData {
    pub(crate) uri: lsp::Uri,
    version: i32,
    position: lsp::Position,
}

/// The answer to `completionItem/resolve`: the item with its documentation, as it is if the document has changed since.
pub(crate) fn resolved(views: &Views, mut item: Value, data: &CompletionData) -> Json {
    let here = views.each().filter(|view| view.snapshot.version == data.version);
    let mut here = here.filter_map(|view| Some((view, view.converter().text_offset(data.position)?)));
    if let Some((view, offset)) = here.next() {
        let (db, file) = (view.db, view.snapshot.file);
        let completions = prose_ide::completions(db, file, offset, &candidates(&view, offset));
        let is_meant = |completion: &&Completion| {
            item["label"] == *completion.label && item["sortText"] == SortText(completion.order).to_string()
        };
        let meant = completions.iter().find(is_meant);
        if let Some(documentation) = meant.and_then(|meant| meant.documentation.as_deref()) {
            item["documentation"] = view.session.completions.content(documentation);
        }
    }
    text(&item)
}

fn kind(kind: CompletionKind) -> u32 {
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
        CompletionKind::Snippet => 15,
    }
}
