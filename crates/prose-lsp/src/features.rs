//! The requests about documents, one file each.

pub(crate) mod answers;
pub(crate) mod call_hierarchy;
pub(crate) mod code_actions;
pub(crate) mod code_lenses;
pub(crate) mod completions;
pub(crate) mod diagnostics;
pub(crate) mod formatting;
mod import_actions;
pub(crate) mod inlay_hints;
pub(crate) mod rename;
mod run_hints;
pub(crate) mod signature_help;
pub(crate) mod will_rename_files;
pub(crate) mod workspace_symbols;
