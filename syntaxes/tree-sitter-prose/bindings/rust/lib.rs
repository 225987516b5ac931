//! The grammar of OpenProse programs for [tree-sitter].
//!
//! ```
//! let mut parser = tree_sitter::Parser::new();
//! parser.set_language(&tree_sitter_prose::LANGUAGE.into()).expect("the versions fit");
//! let tree = parser.parse("session \"Write a poem\"\n", None).expect("nothing cancels it");
//! assert!(!tree.root_node().has_error());
//! ```
//!
//! [tree-sitter]: https://tree-sitter.github.io/

use tree_sitter_language::LanguageFn;

extern "C" {
    fn tree_sitter_prose() -> *const ();
}

/// The language.
// SAFETY: the function is that of the generated parser, which the build script compiles.
pub const LANGUAGE: LanguageFn = unsafe { LanguageFn::from_raw(tree_sitter_prose) };

/// The kinds of nodes and their fields, as `node-types.json` has them.
pub const NODE_TYPES: &str = include_str!("../../src/node-types.json");

/// What is coloured, and how.
pub const HIGHLIGHTS_QUERY: &str = include_str!("../../queries/highlights.scm");
/// What can be folded.
pub const FOLDS_QUERY: &str = include_str!("../../queries/folds.scm");
/// What is indented.
pub const INDENTS_QUERY: &str = include_str!("../../queries/indents.scm");
/// Which parts are of another language.
pub const INJECTIONS_QUERY: &str = include_str!("../../queries/injections.scm");
/// Where names are defined and used.
pub const LOCALS_QUERY: &str = include_str!("../../queries/locals.scm");
/// What can be selected.
pub const TEXTOBJECTS_QUERY: &str = include_str!("../../queries/textobjects.scm");
/// What is listed in an index of symbols.
pub const TAGS_QUERY: &str = include_str!("../../queries/tags.scm");

#[cfg(test)]
mod tests {
    use tree_sitter::{Language, Query};

    #[test]
    fn the_language_and_its_queries_load() {
        let language = Language::from(super::LANGUAGE);
        assert_eq!(language.abi_version(), 14, "older editors know no later one");
        for query in [
            super::HIGHLIGHTS_QUERY,
            super::FOLDS_QUERY,
            super::INDENTS_QUERY,
            super::INJECTIONS_QUERY,
            super::LOCALS_QUERY,
            super::TEXTOBJECTS_QUERY,
            super::TAGS_QUERY,
        ] {
            if let Err(error) = Query::new(&language, query) {
                panic!("{error}\n{query}");
            }
        }
    }
}
