//! Runs OpenProse programs.
//!
//! A [`machine::Machine`] executes the model of a program that the analysis produced. It does no input or output and uses no clock: it requests
//! effects, receives their outcomes, and emits events. Between two outcomes it is deterministic, so a run with the recorded outcomes in the recorded
//! order is the same run again. A [`runner`] connects machine, harness and store.

pub mod activity;
mod agent_capacity;
pub mod budget;
pub mod call_order;
pub mod choices;
pub mod command;
mod confirmation;
pub mod earlier;
pub mod effect;
pub mod error;
pub mod estimate;
pub mod event;
pub mod frame;
pub mod gate;
mod guidelines;
pub mod harness;
mod interpret;
pub mod machine;
pub mod names;
pub mod part;
pub mod permissions;
pub mod place;
pub mod program;
pub mod program_names;
mod prompt;
pub mod questions;
mod reports;
pub mod runner;
pub mod secrets;
pub mod settings;
mod shared_text;
pub mod store;
pub mod structure;
pub mod trees;
pub mod value;
mod waits;
mod writers;

/// Whether a field has its default value, so that it is not written.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
