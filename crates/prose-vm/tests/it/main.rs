//! Programs and what happens when they run.

mod support;

mod sessions;
