//! Checks the protocol of a cluster, and that each part of it is needed.

mod mutations;
mod protocol;
mod statements;
