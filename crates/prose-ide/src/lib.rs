//! Editor features over the tree and the analysis, in terms of files and text ranges. What a protocol makes of them is not known here.

mod calls;
mod comments;
pub mod completion;
mod cursor;
mod definition;
mod element;
mod entity;
mod folding;
mod highlight;
mod hints;
mod hover;
mod lines;
mod links;
mod markdown;
mod moved;
mod navigation;
mod references;
mod rename;
mod runnable;
mod selection;
pub mod semantic_tokens;
mod signature;
mod symbol_search;
mod symbols;
#[cfg(test)]
mod testing;

pub use calls::{Callable, Calls, callables, incoming_calls, outgoing_calls};
pub use completion::{Completion, CompletionKind, PathCandidates, completions};
pub use definition::{Definition, NavigationTarget, goto_definition};
pub use element::{Base, Element, ElementKind, Word, element_at};
pub use folding::{Fold, FoldKind, folding_ranges};
pub use highlight::{Highlight, document_highlights};
pub use hints::{HintKind, HintsWanted, InlayHint, inlay_hints};
pub use hover::{Hover, hover};
pub use links::{DocumentLink, LinkTarget, document_links};
pub use moved::moved_imports;
pub use navigation::{goto_declaration, goto_implementation, goto_type_definition};
pub use references::{Access, Reference, references};
pub use rename::{FileEdits, Refusal, Renameable, prepare_rename, rename};
pub use runnable::{RunnableBlock, block_parts, block_program, runnable_blocks};
pub use selection::selection_ranges;
pub use semantic_tokens::{SemanticToken, semantic_tokens, semantic_tokens_in};
pub use signature::{Signature, SignatureParameter, signature_help};
pub use symbol_search::{FoundSymbol, SymbolQuery, search_symbols};
pub use symbols::{Symbol, SymbolKind, document_symbols};
