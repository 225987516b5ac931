//! Every check that the reference lists for imports, inputs, outputs, calls, variables, blocks and control flow, in the strict profile at the
//! reference's severity: a program that fails it, and one that does not.

#[path = "../support/mod.rs"]
mod support;

mod branches;
mod loops;
mod names;
mod programs;
