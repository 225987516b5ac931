//! The OpenProse language as text: lexer, layout, parser, lossless tree, typed AST and syntax diagnostics.
//!
//! Parsing never fails: [`parse`] returns a tree whose text is the input, byte for byte, and the diagnostics found on the way.

pub mod ast;
#[doc(hidden)]
pub mod bench;
pub mod braces;
pub mod chains;
pub mod codes;
mod diagnostic;
pub mod fix;
mod grammar;
pub mod keywords;
mod layout;
mod lexer;
pub mod lines;
mod literals;
pub mod names;
pub mod options;
mod parse;
mod parser;
pub mod properties;
mod reparse;
mod severity;
pub mod suggest;
mod syntax_kind;
pub mod text;

pub use codes::{Code, Level, Profile, Tag};
pub use diagnostic::{Diagnostic, Fix, FixSafety, NameRole, Related, TextEdit, Undecided, UndecidedName};
pub use lines::LineIndex;
pub use parse::{Parse, parse};
pub use rowan::{NodeOrToken, TextRange, TextSize, TokenAtOffset, WalkEvent};
pub use severity::Severity;
pub use syntax_kind::{KEYWORDS, ProseLanguage, SyntaxElement, SyntaxKind, SyntaxNode, SyntaxToken};
