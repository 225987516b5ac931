//! The types of the protocol.

pub(crate) use tower_lsp_server::ls_types::*;
