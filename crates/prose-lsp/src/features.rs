//! The requests about documents, one file each.

pub(crate) mod call_hierarchy;
pub(crate) mod code_actions;
pub(crate) mod code_lenses;
pub(crate) mod completions;
pub(crate) mod definition;
pub(crate) mod diagnostics;
pub(crate) mod document_highlights;
pub(crate) mod document_links;
pub(crate) mod document_symbols;
pub(crate) mod flow_graph;
pub(crate) mod folding_ranges;
pub(crate) mod formatting;
pub(crate) mod hover;
mod import_actions;
mod import_candidates;
pub(crate) mod inlay_hints;
pub(crate) mod inline_values;
pub(crate) mod linked_editing_ranges;
pub(crate) mod references;
pub(crate) mod rename;
mod run_hints;
pub(crate) mod selection_ranges;
pub(crate) mod semantic_tokens;
pub(crate) mod signature_help;
pub(crate) mod syntax_tree;
pub(crate) mod will_rename_files;
pub(crate) mod workspace_symbols;
