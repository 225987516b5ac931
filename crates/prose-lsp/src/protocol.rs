//! The protocol: its types, the wire, and conversion between the types of the client and those of the analysis.

pub(crate) mod answer;
pub(crate) mod client;
pub(crate) mod client_requests;
pub(crate) mod convert;
pub(crate) mod flow_graph;
pub(crate) mod framing;
pub(crate) mod incoming;
pub(crate) mod json;
mod last_line;
pub(crate) mod lsp;
pub(crate) mod markup;
pub(crate) mod notification;
pub(crate) mod parent;
pub(crate) mod position;
pub(crate) mod program_document;
pub(crate) mod progress;
pub(crate) mod recording;
pub(crate) mod request;
pub(crate) mod session;
pub(crate) mod transport;
pub(crate) mod uri;
