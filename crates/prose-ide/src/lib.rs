//! Editor features over the tree and the analysis, in terms of files and text ranges. What a protocol makes of them is not known here.

mod assists;
pub mod completion;
mod definition;
mod element;
mod entity;
mod folding;
mod highlight;
mod hover;
mod lines;
mod links;
mod references;
mod rename;
mod runnable;
mod selection;
pub mod semantic_tokens;
mod symbols;
#[cfg(test)]
mod testing;

pub use assists::{Assist, AssistKind, assists, organize_uses};
pub use completion::{Completion, CompletionKind, PathCandidates, completions};
pub use definition::{Definition, NavigationTarget, goto_definition};
pub use element::{Base, Element, ElementKind, Word, element_at};
pub use folding::{Fold, FoldKind, folding_ranges};
pub use highlight::{Highlight, document_highlights};
pub use hover::{Hover, hover};
pub use links::{DocumentLink, LinkTarget, document_links};
pub use references::{Access, Reference, references};
pub use rename::{FileEdits, Refusal, Renameable, prepare_rename, rename};
pub use runnable::{RunnableBlock, block_parts, block_program, runnable_blocks};
pub use selection::selection_ranges;
pub use semantic_tokens::{SemanticToken, semantic_tokens, semantic_tokens_in};
pub use symbols::{Symbol, SymbolKind, document_symbols};
