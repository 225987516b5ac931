//! The capabilities of the server: every request and notification that it offers to a client.

use serde_json::{Value, json};

use crate::features::{code_actions, formatting, semantic_tokens, signature_help};
use crate::imports::commands;
use crate::protocol::convert::SOURCE;
use crate::protocol::lsp;
use crate::protocol::session::Session;
use crate::workspace::moves;

/// The answer to `initialize`.
pub(crate) fn initialize_result(session: &Session) -> Value {
    json!({
        "capabilities": {
            "positionEncoding": session.encoding.name(),
            "textDocumentSync": {
                "openClose": true,
                "change": lsp::TextDocumentSyncKind::INCREMENTAL,
                "save": true,
            },
            "diagnosticProvider": {
                "identifier": SOURCE,
                "interFileDependencies": true,
                "workspaceDiagnostics": true,
            },
            "callHierarchyProvider": true,
            "codeLensProvider": { "resolveProvider": true },
            "codeActionProvider": { "codeActionKinds": code_actions::KINDS },
            "completionProvider": {
                "triggerCharacters": prose_ide::completion::TRIGGERS,
                "resolveProvider": true,
            },
            "declarationProvider": true,
            "definitionProvider": true,
            "documentFormattingProvider": true,
            "documentHighlightProvider": true,
            "documentLinkProvider": {},
            "documentOnTypeFormattingProvider": formatting::triggers(),
            "documentRangeFormattingProvider": true,
            "documentSymbolProvider": true,
            "executeCommandProvider": { "commands": commands::names() },
            "foldingRangeProvider": true,
            "hoverProvider": true,
            "implementationProvider": true,
            "inlayHintProvider": true,
            "inlineValueProvider": true,
            "linkedEditingRangeProvider": true,
            "referencesProvider": true,
            "renameProvider": { "prepareProvider": true },
            "selectionRangeProvider": true,
            "signatureHelpProvider": {
                "triggerCharacters": signature_help::TRIGGERS,
                "retriggerCharacters": signature_help::RETRIGGERS,
            },
            "typeDefinitionProvider": true,
            "semanticTokensProvider": {
                "legend": semantic_tokens::legend(),
                "full": { "delta": true },
                "range": true,
            },
            "workspaceSymbolProvider": true,
            "workspace": {
                "workspaceFolders": { "supported": true, "changeNotifications": true },
                "fileOperations": { "willRename": moves::filters(), "didRename": moves::filters() },
            },
        },
        "serverInfo": { "name": SOURCE, "version": env!("CARGO_PKG_VERSION") },
    })
}
