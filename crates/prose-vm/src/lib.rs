//! Runs OpenProse programs.
//!
//! A [`machine::Machine`] executes the model that the analysis made of a program. It does no input or output and knows no clock: it asks
//! for effects, is told what came of them, and says what happens as events. Between two answers it does always the same, so a run that is told the
//! recorded answers in the recorded order goes the same way again. A [`runner`] brings machine, harness and store together.

pub mod effect;
pub mod error;
pub mod event;
pub mod frame;
pub mod harness;
mod interpret;
pub mod machine;
pub mod names;
pub mod place;
pub mod program;
pub mod prompt;
mod room;
pub mod runner;
pub mod settings;
pub mod store;
pub mod structure;
pub mod value;
