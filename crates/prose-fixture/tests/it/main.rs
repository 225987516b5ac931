//! Fixtures: files, cursors and marks in one string.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod fixtures;
