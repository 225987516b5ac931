//! The terminal UI of runs: what is selected, what keys mean, and how it is drawn.
//!
//! Nothing here reads a key or writes to a terminal. [`RunScreen`] and [`Top`] take keys, return what the user wants done, and draw themselves into a
//! [`ratatui::Frame`]; the command line connects them with a terminal and with runs.

mod answer;
mod draw;
mod keys;
mod message;
mod output;
mod palette;
mod screen;
pub mod text;
mod top;
mod tree;

pub use ratatui;

pub use answer::AnswerLine;
pub use keys::{KEYS, KeyHelp, TOP_KEYS};
pub use output::{Output, Outputs};
pub use palette::Palette;
pub use screen::{Action, Now, RunScreen};
pub use top::{Top, TopAction, TopRun};
