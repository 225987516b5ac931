//! `textDocument/documentLink`.

use std::path::Path;

use prose_ide::LinkTarget;
use serde_json::{Value, json};

use crate::protocol::uri::uri_of_path;
use crate::reads::views::View;

/// The answer to `textDocument/documentLink`.
pub(crate) fn document_links(view: &View<'_>) -> Vec<Value> {
    let links = prose_ide::document_links(view.db, view.snapshot.file, Path::exists);
    let links = links.iter().filter_map(|link| {
        let target = match &link.target {
            LinkTarget::Path(path) => uri_of_path(path)?.to_string(),
            LinkTarget::Url(url) => url.clone(),
        };
        let range = view.converter().range(link.range);
        Some(json!({ "range": range, "target": target, "tooltip": link.tooltip }))
    });
    links.collect()
}
