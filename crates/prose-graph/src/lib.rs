//! Draws the flow of a program: where its statements stand, and the drawing as SVG, Mermaid or DOT.
//!
//! Everything here is a pure function of a [`prose_ide::FlowGraph`], so that the command line, editors and reports show the same drawing, and the same
//! program always has the same one.

mod dot;
mod drawing;
mod json;
mod layout;
mod mermaid;
mod svg;
#[cfg(test)]
mod testing;
mod text;
mod tree;

pub use dot::dot;
pub use drawing::{Drawing, flow_of};
pub use json::graph_json;
pub use layout::{Layout, Line, Rect};
pub use mermaid::mermaid;
pub use svg::svg;
