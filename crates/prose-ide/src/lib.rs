//! Editor features over the syntax tree and the analysis, in terms of text ranges. What a protocol makes of them is not known here.

pub mod completion;
mod folding;
mod selection;
pub mod semantic_tokens;
mod symbols;

pub use folding::{Fold, FoldKind, folding_ranges};
pub use selection::selection_ranges;
pub use symbols::{Symbol, SymbolKind, document_symbols};
