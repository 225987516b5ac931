//! URIs and paths of documents.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use prose_analysis::location::normalized;

use crate::protocol::lsp;

/// The name of a document, exactly as the client writes it.
pub(crate) type DocumentUri = Arc<str>;

/// The path of a document. One that is in no file has a path too, which no file has.
pub(crate) fn path_of_uri(uri: &str) -> PathBuf {
    let file = uri.starts_with("file:").then(|| uri.parse::<lsp::Uri>().ok()).flatten();
    match file.as_ref().and_then(lsp::Uri::to_file_path) {
        Some(path) => normalized(&path),
        None => PathBuf::from(uri),
    }
}

/// The name of the file at a path. One that is not UTF-8 has none: clients would look for another file.
pub(crate) fn uri_of_path(path: &Path) -> Option<DocumentUri> {
    path.to_str()?;
    lsp::Uri::from_file_path(path).map(|uri| uri.as_str().into())
}
