//! Every check that the reference lists for imports, inputs, outputs, calls, variables, blocks and control flow, in the strict profile at the
//! reference's severity: a program that fails it, and one that does not.

mod branches;
mod loops;
mod names;
mod programs;
