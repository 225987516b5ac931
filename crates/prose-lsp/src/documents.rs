//! Documents and the programs in them.

pub(crate) mod closed;
pub(crate) mod document;
pub(crate) mod message;
pub(crate) mod open;
pub(crate) mod pauses;
pub(crate) mod programs;
pub(crate) mod public_interface;
pub(crate) mod sent_reports;
pub(crate) mod sent_tokens;
pub(crate) mod snapshot;
pub(crate) mod typing;
