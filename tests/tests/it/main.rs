//! End to end: the binary, the language server over stdio, and real programs.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod agent_claude;
mod agent_codex;
mod agent_opencode;
mod agent_provider;
mod bad_programs;
mod cli_official_programs;
mod compile_programs;
mod dependencies;
mod docs;
mod fault_proxy;
mod format_official_programs;
mod glossary;
mod grammar_fixtures;
mod grammar_keywords;
mod lsp_analysis;
mod lsp_bad_input;
mod lsp_debugging;
mod lsp_features;
mod lsp_formatting;
mod lsp_imports;
mod lsp_insight;
mod lsp_lifecycle;
mod lsp_markdown;
mod lsp_moves;
mod lsp_ordering;
mod lsp_refactorings;
mod lsp_replay;
mod lsp_run_queries;
mod lsp_runs;
mod lsp_sessions;
mod lsp_table;
mod lsp_workspace;
mod lsp_workspace_sessions;
mod modules;
mod official_programs;
mod planted_mistakes;
mod refactored_programs;
mod run_crashes;
mod run_disks;
mod run_official_programs;
mod tree_sitter_corpus;
mod tree_sitter_mutations;
mod tree_sitter_statements;
mod two_faces;
