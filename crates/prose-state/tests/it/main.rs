//! Tests of the state of runs, driven by events made by hand.

mod support;

mod binding_files;
mod journal;
mod state_md;
