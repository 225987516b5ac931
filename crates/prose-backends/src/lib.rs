//! The backends that start nothing, neither a process nor a connection, so that they also work in a browser.
//!
//! [`offline`] generates placeholder replies, and [`script`] takes them from a file that [`record`] can write. [`permissions`] decides what agents may do, for these backends
//! and for all others. Time passes by the clock of tokio, which whoever runs a program drives.

pub mod offline;
pub mod permissions;
pub mod record;
pub mod script;
