//! The analysis of programs: names, properties, control flow, permissions, and what is computed again after an edit.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod bodies;
mod call_graph;
mod callees;
mod calls;
mod certain_failures;
mod codes;
mod consequences;
mod control;
mod differential;
mod host;
mod ignores;
mod imports;
mod incremental;
mod isolated_sessions;
mod names;
mod options;
mod outputs;
mod permissions;
mod properties;
mod reference;
mod reference_control;
mod reference_permissions;
mod reference_properties;
mod skills;
mod support;
mod texts;
mod unreachable;
