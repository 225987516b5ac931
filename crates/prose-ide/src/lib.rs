//! Editor features over the syntax tree, in terms of text ranges. What a protocol makes of them is not known here.

mod folding;
mod selection;
mod symbols;

pub use folding::{Fold, FoldKind, folding_ranges};
pub use selection::selection_ranges;
pub use symbols::{Symbol, SymbolKind, document_symbols};
