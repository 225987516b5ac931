//! The table of requests that look at documents.

use std::sync::Arc;

use prose_syntax::TextSize;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::documents::snapshot::Snapshot;
use crate::features::code_actions::code_actions;
use crate::features::completions::CompletionData;
use crate::features::lens_resolution::LensData;
use crate::features::semantic_tokens::TokensWanted;
use crate::features::{
    call_hierarchy, code_lenses, completions, definition, description, diagnostics, document_highlights,
    document_links, document_symbols, flow_graph, folding_ranges, formatting, harness, hover, inlay_hints,
    inline_values, lens_resolution, linked_editing_ranges, prompt_preview, references, rename,
    selection_ranges, semantic_tokens, signature_help, syntax_tree, workspace_symbols,
};
use crate::protocol::json::{Json, joined, json as text};
use crate::protocol::lsp::{
    CodeActionParams, DocumentDiagnosticParams, DocumentOnTypeFormattingParams,
    DocumentRangeFormattingParams, InlayHintParams, InlineValueParams, Position, RenameParams,
    SelectionRangeParams, SemanticTokensDeltaParams, SemanticTokensRangeParams, TextDocumentIdentifier,
    TextDocumentPositionParams, Uri, WorkspaceSymbolParams,
};
use crate::protocol::request::{
    ANYWHERE, CODE_LENS, COMPLETION, Failure, HOVER, RESOLVE_CODE_LENS, WORKSPACE_DIAGNOSTIC, decode, name,
};
use crate::protocol::session::Session;
use crate::protocol::uri::DocumentUri;
use crate::reads::read::Work;
use crate::reads::views::{View, Views};

/// A decoded read request.
pub(crate) struct ReadParams {
    pub(crate) uri: DocumentUri,
    /// The position that it is about, if it is about one.
    pub(crate) position: Option<Position>,
    pub(crate) outdated_by_edits: bool,
    pub(crate) work: Work,
    pub(crate) nothing: fn() -> Json,
}

impl ReadParams {
    fn new(uri: &Uri, work: Work) -> Self {
        Self { uri: name(uri), position: None, outdated_by_edits: true, work, nothing: || text(&()) }
    }

    /// A request about the tree of each program of the document.
    fn tree(uri: &Uri, work: impl Fn(&Snapshot, &Session) -> Json + Send + 'static) -> Self {
        Self::trees(uri, move |snapshots, session| {
            joined(snapshots.iter().map(|snapshot| work(snapshot, session)))
        })
    }

    /// A request about the trees of the programs of the document together.
    fn trees(uri: &Uri, work: impl Fn(&[Snapshot], &Session) -> Json + Send + 'static) -> Self {
        Self::new(uri, Work::Tree(Box::new(work)))
    }

    /// A request about each program of the document.
    fn each(uri: &Uri, work: impl Fn(&View<'_>) -> Vec<Value> + Send + Sync + 'static) -> Self {
        Self::each_as_json(uri, move |view| text(&work(view)))
    }

    /// The same for long answers, which are written without building values of JSON.
    fn each_as_json(uri: &Uri, work: impl Fn(&View<'_>) -> Json + Send + Sync + 'static) -> Self {
        Self::all(uri, move |views| joined(views.each().map(|view| work(&view))))
    }

    /// A request about the programs of the document together.
    fn all(uri: &Uri, work: impl Fn(&Views) -> Json + Send + Sync + 'static) -> Self {
        Self::new(uri, Work::Analysis(Arc::new(move |views| Ok(work(views)))))
    }

    /// A request about all programs, whatever is open.
    fn anywhere(work: impl Fn(&Views) -> Json + Send + Sync + 'static) -> Self {
        Self::news(move |views| Ok(work(views)))
    }

    /// A request about all programs that may wait until there is something new.
    fn news(work: impl Fn(&Views) -> Result<Json, Failure> + Send + Sync + 'static) -> Self {
        let work = Work::Analysis(Arc::new(work));
        Self { uri: ANYWHERE.into(), position: None, outdated_by_edits: false, work, nothing: || text(&()) }
    }

    /// A request about the program at a position. Outside of programs the answer is `null`.
    fn at(
        uri: &Uri,
        position: Position,
        work: impl Fn(&View<'_>, TextSize) -> Result<Json, Failure> + Send + Sync + 'static,
    ) -> Self {
        let read = Self::new(
            uri,
            Work::Analysis(Arc::new(move |views| {
                let mut here = views.each().filter_map(|view| {
                    let offset = view.converter().text_offset(position)?;
                    Some((view, offset))
                });
                here.next().map_or_else(|| Ok(text(&())), |(view, offset)| work(&view, offset))
            })),
        );
        Self { position: Some(position), ..read }
    }
}

/// The parameters of a request about a document, of which nothing else is read.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DocumentParams {
    text_document: TextDocumentIdentifier,
}

fn document(params: Value) -> serde_json::Result<Uri> {
    Ok(decode::<DocumentParams>(params)?.text_document.uri)
}

/// The parameters of `prose/prompt`.
#[derive(Deserialize)]
struct PromptParams {
    #[serde(flatten)]
    at: TextDocumentPositionParams,
    #[serde(default)]
    values: Map<String, Value>,
}

/// The parameters of `workspace/diagnostic`, of which some clients leave out those that are not optional.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct WorkspaceDiagnosticParams {
    previous_result_ids: Vec<diagnostics::PreviousReport>,
}

pub(crate) type ReadDecoder = fn(Value) -> serde_json::Result<ReadParams>;

/// Every request that looks at a document.
pub(crate) const READS: &[(&str, ReadDecoder)] = &[
    ("textDocument/diagnostic", |params| {
        let params: DocumentDiagnosticParams = decode(params)?;
        let previous = params.previous_result_id;
        let read = ReadParams::all(&params.text_document.uri, move |views| {
            diagnostics::report(views, previous.as_deref())
        });
        // Clients handle errors of this request badly: some show them, some remove the diagnostics that they have. What was
        // true a moment ago is the better answer, and they ask again after every edit anyway.
        Ok(ReadParams { outdated_by_edits: false, nothing: diagnostics::empty_report, ..read })
    }),
    ("textDocument/codeAction", |params| {
        let CodeActionParams { text_document, range, context, .. } = decode(params)?;
        let only =
            context.only.map(|only| only.iter().map(|kind| kind.as_str().to_owned()).collect::<Vec<_>>());
        Ok(ReadParams::all(&text_document.uri, move |views| code_actions(views, range, only.as_deref())))
    }),
    (HOVER, |params| at_position(params, hover::hover)),
    ("textDocument/definition", |params| at_position(params, definition::definition)),
    ("textDocument/declaration", |params| {
        at_position(params, |view, offset| definition::goto(view, offset, prose_ide::goto_declaration))
    }),
    ("textDocument/typeDefinition", |params| {
        at_position(params, |view, offset| definition::goto(view, offset, prose_ide::goto_type_definition))
    }),
    ("textDocument/implementation", |params| {
        at_position(params, |view, offset| definition::goto(view, offset, prose_ide::goto_implementation))
    }),
    ("textDocument/signatureHelp", |params| at_position(params, signature_help::signature_help)),
    ("textDocument/prepareCallHierarchy", |params| at_position(params, call_hierarchy::prepare)),
    ("callHierarchy/incomingCalls", |params| {
        let data = item_data(params)?;
        Ok(ReadParams::anywhere(move |views| call_hierarchy::incoming(views, &data)))
    }),
    ("callHierarchy/outgoingCalls", |params| {
        let data = item_data(params)?;
        Ok(ReadParams::anywhere(move |views| call_hierarchy::outgoing(views, &data)))
    }),
    ("textDocument/documentHighlight", |params| {
        at_position(params, document_highlights::document_highlights)
    }),
    (COMPLETION, |params| {
        let TextDocumentPositionParams { text_document, position } = decode(params)?;
        let answer = |view: &View<'_>, offset| Ok(completions::completions(view, offset));
        Ok(ReadParams::at(&text_document.uri, position, answer))
    }),
    ("completionItem/resolve", |params| {
        let data = params.get("data").cloned().unwrap_or_default();
        Ok(match serde_json::from_value::<CompletionData>(data) {
            Ok(data) => ReadParams::all(&data.uri.clone(), move |views| {
                completions::resolved(views, params.clone(), &data)
            }),
            // There is nothing to add to it.
            Err(_) => ReadParams::anywhere(move |_| text(&params)),
        })
    }),
    ("textDocument/linkedEditingRange", |params| {
        at_position(params, linked_editing_ranges::linked_editing_ranges)
    }),
    ("textDocument/inlineValue", |params| {
        let InlineValueParams { text_document, range, .. } = decode(params)?;
        Ok(ReadParams::each(&text_document.uri, move |view| inline_values::inline_values(view, range)))
    }),
    ("textDocument/references", |params| {
        let with_declaration =
            params.pointer("/context/includeDeclaration").and_then(Value::as_bool).unwrap_or(true);
        at_position(params, move |view, offset| references::references(view, offset, with_declaration))
    }),
    ("textDocument/prepareRename", |params| {
        let TextDocumentPositionParams { text_document, position } = decode(params)?;
        Ok(ReadParams::at(&text_document.uri, position, rename::prepare))
    }),
    ("textDocument/rename", |params| {
        let RenameParams { text_document_position: at, new_name, .. } = decode(params)?;
        Ok(ReadParams::at(&at.text_document.uri, at.position, move |view, offset| {
            rename::rename(view, offset, &new_name)
        }))
    }),
    ("textDocument/documentLink", |params| {
        Ok(ReadParams::each(&document(params)?, document_links::document_links))
    }),
    ("textDocument/semanticTokens/full", |params| Ok(tokens(&document(params)?, TokensWanted::All))),
    ("textDocument/semanticTokens/full/delta", |params| {
        let SemanticTokensDeltaParams { text_document, previous_result_id, .. } = decode(params)?;
        Ok(tokens(&text_document.uri, TokensWanted::Since(previous_result_id)))
    }),
    ("textDocument/semanticTokens/range", |params| {
        let SemanticTokensRangeParams { text_document, range, .. } = decode(params)?;
        Ok(tokens(&text_document.uri, TokensWanted::In(range)))
    }),
    (WORKSPACE_DIAGNOSTIC, |params| {
        let WorkspaceDiagnosticParams { previous_result_ids: previous } = decode(params)?;
        Ok(ReadParams::news(move |views| diagnostics::workspace_report(views, &previous)))
    }),
    ("workspace/symbol", |params| {
        let WorkspaceSymbolParams { query, .. } = decode(params)?;
        Ok(ReadParams::anywhere(move |views| workspace_symbols::workspace_symbols(views, &query)))
    }),
    (CODE_LENS, |params| Ok(ReadParams::each_as_json(&document(params)?, code_lenses::code_lenses))),
    (RESOLVE_CODE_LENS, |lens| {
        let data = lens.get("data").cloned().unwrap_or_default();
        // One without data has its command.
        let Ok(data) = serde_json::from_value::<LensData>(data) else {
            return Ok(ReadParams::anywhere(move |_| text(&lens)));
        };
        let uri = data.uri.clone();
        let work = move |views: &Views| lens_resolution::resolved(views, &lens, &data);
        Ok(ReadParams::new(&uri, Work::Analysis(Arc::new(work))))
    }),
    ("textDocument/inlayHint", |params| {
        let InlayHintParams { text_document, range, .. } = decode(params)?;
        Ok(ReadParams::each(&text_document.uri, move |view| inlay_hints::inlay_hints(view, range)))
    }),
    ("textDocument/documentSymbol", |params| {
        Ok(ReadParams::tree(&document(params)?, document_symbols::document_symbols))
    }),
    ("textDocument/foldingRange", |params| {
        Ok(ReadParams::tree(&document(params)?, folding_ranges::folding_ranges))
    }),
    ("textDocument/selectionRange", |params| {
        let SelectionRangeParams { text_document, positions, .. } = decode(params)?;
        Ok(ReadParams::trees(&text_document.uri, move |snapshots, session| {
            selection_ranges::selection_ranges(snapshots, session, &positions)
        }))
    }),
    ("prose/harness", |params| Ok(ReadParams::all(&document(params)?, harness::harness))),
    ("prose/prompt", |params| {
        let PromptParams { at, values } = decode(params)?;
        Ok(ReadParams::at(&at.text_document.uri, at.position, move |view, offset| {
            prompt_preview::prompt_preview(view, offset, &values)
        }))
    }),
    ("prose/describe", |params| {
        let work = Work::Analysis(Arc::new(description::description));
        Ok(ReadParams::new(&document(params)?, work))
    }),
    ("prose/flowGraph", |params| Ok(ReadParams::all(&document(params)?, flow_graph::flow_graph))),
    ("textDocument/formatting", |params| Ok(ReadParams::tree(&document(params)?, formatting::whole))),
    ("textDocument/rangeFormatting", |params| {
        let DocumentRangeFormattingParams { text_document, range, .. } = decode(params)?;
        Ok(ReadParams::tree(&text_document.uri, move |snapshot, session| {
            formatting::part(snapshot, session, range)
        }))
    }),
    ("textDocument/onTypeFormatting", |params| {
        let DocumentOnTypeFormattingParams { text_document_position: at, ch, .. } = decode(params)?;
        Ok(ReadParams::trees(&at.text_document.uri, move |snapshots, session| {
            formatting::typed(snapshots, session, at.position, &ch)
        }))
    }),
    ("prose/syntaxTree", |params| {
        Ok(ReadParams::trees(&document(params)?, |snapshots, _| syntax_tree::syntax_trees(snapshots)))
    }),
    // Requests for tests.
    #[cfg(test)]
    ("test/panic", |params| {
        Ok(ReadParams::tree(&document(params)?, |_, _| panic!("this request always panics")))
    }),
    #[cfg(test)]
    ("test/wait", |params| {
        Ok(ReadParams::tree(&document(params)?, |snapshot, _| {
            crate::tests::GATES.pass(&snapshot.uri);
            text(&snapshot.version)
        }))
    }),
    #[cfg(test)]
    ("test/analyse", |params| {
        Ok(ReadParams::all(&document(params)?, |views| {
            let snapshot = &views.snapshots[0];
            crate::tests::GATES.pass_unless(&snapshot.uri, || views.db.unwind_if_cancelled());
            text(&snapshot.version)
        }))
    }),
    #[cfg(test)]
    ("test/state", |params| {
        let read = ReadParams::tree(&document(params)?, |snapshot, _| {
            let parsed = snapshot.parse().syntax().text().to_string();
            text(&(snapshot.version, snapshot.text.to_string(), parsed))
        });
        Ok(ReadParams { outdated_by_edits: false, ..read })
    }),
];

/// A request about a place in a document.
fn at_position<A: Serialize>(
    params: Value,
    answer: impl Fn(&View<'_>, TextSize) -> A + Send + Sync + 'static,
) -> serde_json::Result<ReadParams> {
    let TextDocumentPositionParams { text_document, position } = decode(params)?;
    let answer = move |view: &View<'_>, offset| Ok(text(&answer(view, offset)));
    Ok(ReadParams::at(&text_document.uri, position, answer))
}

/// A request for semantic tokens.
fn tokens(uri: &Uri, wanted: TokensWanted) -> ReadParams {
    let document = name(uri);
    ReadParams::all(uri, move |views| semantic_tokens::semantic_tokens(views, &document, &wanted))
}

/// The data of an item of the call hierarchy.
fn item_data(params: Value) -> serde_json::Result<call_hierarchy::ItemData> {
    #[derive(serde::Deserialize)]
    struct Params {
        item: Item,
    }
    #[derive(serde::Deserialize)]
    struct Item {
        data: call_hierarchy::ItemData,
    }
    Ok(decode::<Params>(params)?.item.data)
}
