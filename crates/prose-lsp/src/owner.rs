//! The one owner of the server's state.
//!
//! Every message that touches state is received here, in the order of the wire, and handled before the next one. Nothing here waits
//! for the client or for a read. The [state] is a few parts that do not depend on one another; the other modules handle one kind of message
//! each.

#[cfg(test)]
mod desk;
mod disk;
mod documents;
mod event_loop;
mod imports;
mod markdown;
mod moves;
mod publisher;
mod publishing;
mod reads;
mod releases;
mod releasing;
mod runs;
mod session;
mod settings_files;
pub(crate) mod state;
mod testing;
mod typing;
mod workspace;
