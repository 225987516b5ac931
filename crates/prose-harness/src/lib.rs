//! The backends that run the sessions of programs.
//!
//! Every harness is in the table of [`registry`]. [`offline`] generates placeholder replies, [`script`] takes them from a file that [`record`] can
//! write, [`command`] starts the program of an agent, and [`drivers`] use the protocol of an agent while it works. [`decide`] makes decisions, such as
//! whether a condition is met, by short sessions. [`replay`] asks nothing, and [`one_model`] replaces the models of sessions. [`faults`] classifies what providers and agents report when they fail, and [`gate`] lets sessions wait for
//! a provider that is overloaded. [`permissions`] decides what agents may do. [`notification`] starts the command of
//! `run.notify`. [`supervisor`] stops agents when the process that started them ends, and [`traced`] tells them in which span of a trace they work.

pub mod command;
pub mod decide;
pub mod drivers;
pub mod faults;
pub mod footprint;
pub mod gate;
pub mod mcp;
pub mod notification;
pub mod one_model;
pub mod prices;
mod process;
pub mod registry;
pub mod replay;
mod router;
mod said;
pub mod supervisor;
pub mod traced;

pub use prose_backends::{offline, permissions, record, script};
