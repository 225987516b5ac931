//! Who answers the sessions of running programs.
//!
//! Every harness stands in the table of [`registry`]. [`offline`] makes its answers up, [`script`] takes them from a file that
//! [`record`] can write, and [`command`] starts the program of an agent. What an agent's program cannot answer in a form of its own, such as
//! whether a condition is met, [`decide`] asks for in short sessions. Agents end with the process that started them: [`supervisor`] sees to it.

pub mod command;
pub mod decide;
pub mod offline;
pub mod record;
pub mod registry;
pub mod script;
pub mod supervisor;
