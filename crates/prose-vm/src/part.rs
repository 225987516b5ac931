//! Runs of a part of a program: one statement with its sessions, one condition, one choice or one block, with given values for what comes before it.

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

/// The part of a program that a run executes, and nothing else. Recorded in the head of the run; the values are its inputs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunPart {
    /// Its first byte in the text of the program.
    pub start: u32,
    /// Its line, from 1.
    pub line: u32,
    /// What it is: `session`, `condition`, `choice` or `block`.
    pub noun: SmolStr,
    /// The variables that it reads and does not bind. What is not among the inputs of the run is asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<SmolStr>,
    /// The run that the values were taken from, except those that were given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<SmolStr>,
}
