//! State in the context of a conversation (R106 to R110).
//!
//! A [`Narrator`] turns the events of a run into lines that people and models read. Where no files are kept, these lines are the only
//! state: they hold every result whole, and [`transcript::read`] gets it out of them again, also where a model wrote
//! them and took liberties.

mod markers;
mod narrator;
mod suitability;
mod text;
pub mod transcript;

pub use markers::{Marker, Markers};
pub use narrator::Narrator;
pub use prose_vm::program::ProgramSize;
pub use suitability::{announcement, exceeded_limits};
