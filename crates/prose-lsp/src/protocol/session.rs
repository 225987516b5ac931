//! The capabilities of the client, from the parameters of `initialize`.

use std::path::{Path, PathBuf};

use prose_analysis::location::normalized;
use prose_run::TemporaryProject;
use serde_json::Value;

use crate::protocol::markup::Markup;
use crate::protocol::position::Encoding;
use crate::protocol::uri::path_of_uri;

/// The capabilities and settings of the client that the server uses.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Session {
    pub(crate) encoding: Encoding,
    /// The client requests diagnostics, so none are published.
    pub(crate) pulls_diagnostics: bool,
    pub(crate) nests_symbols: bool,
    pub(crate) folds_whole_lines: bool,
    pub(crate) fold_limit: Option<usize>,
    /// The process that started the server.
    pub(crate) parent: Option<i32>,
    /// The settings of the client.
    pub(crate) settings: Value,
    /// The client supports `workspace/diagnostic/refresh`.
    pub(crate) refreshes_diagnostics: bool,
    /// The client watches files if it is asked to.
    pub(crate) watches_files: bool,
    pub(crate) shows_related: bool,
    /// The client takes edits of documents with their versions.
    pub(crate) edits_versions: bool,
    /// The markup of hovers.
    pub(crate) hovers: Markup,
    /// The markup of documentation of completions.
    pub(crate) completions: Markup,
    /// The markup of documentation of signatures.
    pub(crate) signatures: Markup,
    /// The client takes definitions with the range that they are asked from.
    pub(crate) links_definitions: bool,
    /// The client understands snippets in completions.
    pub(crate) takes_snippets: bool,
    /// The client supports defaults for all items of a completion list.
    pub(crate) takes_item_defaults: bool,
    /// The client takes the places of parameters in the text of a signature.
    pub(crate) takes_label_offsets: bool,
    /// The client resolves the documentation of a completion when it is selected.
    pub(crate) resolves_documentation: bool,
    /// The client shows progress reports.
    pub(crate) shows_progress: bool,
    /// The client is VS Code or built on it, and has its commands.
    pub(crate) is_vscode: bool,
    /// The client supports `workspace/inlayHint/refresh`.
    pub(crate) refreshes_hints: bool,
    /// The client shows code lenses.
    pub(crate) shows_lenses: bool,
    /// The client supports `workspace/codeLens/refresh`.
    pub(crate) refreshes_lenses: bool,
    /// The client supports `window/showDocument`.
    pub(crate) shows_documents: bool,
    /// The client asks the user for the inputs of a run.
    pub(crate) asks_inputs: bool,
    /// The client receives every event of a run.
    pub(crate) receives_run_events: bool,
    /// The client shows the views of runs.
    pub(crate) receives_views: bool,
    /// The client reports the ends of runs to the user.
    pub(crate) reports_ends: bool,
    /// The client starts the debugger for a program.
    pub(crate) debugs_programs: bool,
    /// The client lets the user edit replies of sessions, with which a fork continues.
    pub(crate) edits_replies: bool,
    /// The client shows the references that a lens counts.
    pub(crate) shows_references: bool,
    /// The client starts a rename at the generated name of a refactoring.
    pub(crate) renames_afterwards: bool,
    /// The folders of the workspace.
    pub(crate) folders: Vec<PathBuf>,
    /// Where runs of programs that are in no folder keep their files; not from the client.
    pub(crate) temporary: Option<TemporaryProject>,
}

impl Session {
    /// Reads the parameters of `initialize`. A field of an unexpected type counts as absent, since one odd capability must not
    /// cost the whole session.
    pub(crate) fn from_initialize(params: &Value) -> Self {
        let capability = |path: &str| params.pointer(&format!("/capabilities/{path}"));
        let flag = |path: &str| capability(path).and_then(Value::as_bool).unwrap_or(false);
        let lists = |path: &str, wanted: &str| {
            let listed = capability(path).and_then(Value::as_array);
            listed.is_some_and(|listed| listed.iter().any(|known| known == wanted))
        };
        let is_announced = |name: &str| {
            let announced = [
                params.pointer(&format!("/capabilities/experimental/{name}")),
                params.pointer(&format!("/initializationOptions/experimental/{name}")),
            ];
            announced.contains(&Some(&Value::Bool(true)))
        };
        let hover_formats = capability("textDocument/hover/contentFormat");
        // Helix announces formats only for hovers.
        let documented = |path: &str| Markup::negotiate(capability(path).or(hover_formats));
        let encodings = capability("general/positionEncodings").and_then(Value::as_array);
        Self {
            encoding: Encoding::negotiate(encodings.into_iter().flatten().filter_map(Value::as_str)),
            pulls_diagnostics: capability("textDocument/diagnostic").is_some_and(Value::is_object),
            nests_symbols: flag("textDocument/documentSymbol/hierarchicalDocumentSymbolSupport"),
            folds_whole_lines: flag("textDocument/foldingRange/lineFoldingOnly"),
            fold_limit: capability("textDocument/foldingRange/rangeLimit")
                .and_then(Value::as_u64)
                .and_then(|limit| usize::try_from(limit).ok()),
            parent: params
                .get("processId")
                .and_then(Value::as_i64)
                .and_then(|pid| i32::try_from(pid).ok())
                .filter(|pid| *pid > 0),
            settings: params.get("initializationOptions").cloned().unwrap_or_default(),
            refreshes_diagnostics: flag("workspace/diagnostics/refreshSupport"),
            watches_files: flag("workspace/didChangeWatchedFiles/dynamicRegistration"),
            hovers: Markup::negotiate(hover_formats),
            completions: documented("textDocument/completion/completionItem/documentationFormat"),
            signatures: documented("textDocument/signatureHelp/signatureInformation/documentationFormat"),
            links_definitions: flag("textDocument/definition/linkSupport"),
            takes_snippets: flag("textDocument/completion/completionItem/snippetSupport"),
            takes_item_defaults: ["editRange", "data"]
                .iter()
                .all(|wanted| lists("textDocument/completion/completionList/itemDefaults", wanted)),
            resolves_documentation: lists(
                "textDocument/completion/completionItem/resolveSupport/properties",
                "documentation",
            ),
            takes_label_offsets: flag(
                "textDocument/signatureHelp/signatureInformation/parameterInformation/labelOffsetSupport",
            ),
            shows_progress: flag("window/workDoneProgress"),
            is_vscode: params.pointer("/clientInfo/name").and_then(Value::as_str).is_some_and(|name| {
                ["Visual Studio Code", "VSCodium", "Code - OSS", "code-server"]
                    .iter()
                    .any(|known| name.starts_with(known))
            }),
            refreshes_hints: flag("workspace/inlayHint/refreshSupport"),
            shows_lenses: capability("textDocument/codeLens").is_some_and(Value::is_object),
            refreshes_lenses: flag("workspace/codeLens/refreshSupport"),
            shows_documents: flag("window/showDocument/support"),
            asks_inputs: is_announced("proseInput"),
            receives_run_events: is_announced("proseRunEvents"),
            receives_views: is_announced("proseRunViews"),
            reports_ends: is_announced("proseRunEnds"),
            debugs_programs: is_announced("proseDebug"),
            edits_replies: is_announced("proseReplies"),
            shows_references: is_announced("proseReferences"),
            renames_afterwards: is_announced("proseRename"),
            folders: folders(params),
            temporary: None,
            edits_versions: flag("workspace/workspaceEdit/documentChanges"),
            shows_related: flag("textDocument/publishDiagnostics/relatedInformation")
                || flag("textDocument/diagnostic/relatedInformation"),
        }
    }
}

impl Session {
    /// Whether a folder is that of the temporary project.
    pub(crate) fn is_temporary(&self, folder: &Path) -> bool {
        self.temporary.as_ref().and_then(TemporaryProject::root).as_deref() == Some(folder)
    }
}

/// The folders that are open in the client, in whichever of the three ways it sends them.
fn folders(params: &Value) -> Vec<PathBuf> {
    let open = params.get("workspaceFolders").and_then(Value::as_array).into_iter().flatten();
    let mut folders: Vec<PathBuf> =
        open.filter_map(|folder| folder.get("uri")?.as_str()).map(path_of_uri).collect();
    if folders.is_empty() {
        folders.extend(params.get("rootUri").and_then(Value::as_str).map(path_of_uri));
    }
    if folders.is_empty() {
        folders
            .extend(params.get("rootPath").and_then(Value::as_str).map(|path| normalized(Path::new(path))));
    }
    folders
}
