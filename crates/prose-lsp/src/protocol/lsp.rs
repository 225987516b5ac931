//! The types of the protocol. Only this file and `server.rs` import the protocol's library.

pub(crate) use tower_lsp_server::ls_types::*;
