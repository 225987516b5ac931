//! Workspace symbol search.

use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use prose_analysis::statements::parse;
use prose_analysis::{Database, SourceFile};
use prose_syntax::SyntaxNode;

use crate::symbols::{Symbol, SymbolKind, document_symbols};

/// A query: some of the letters of a name, in their order.
struct SymbolQuery {
    pattern: Pattern,
    matcher: Matcher,
}

/// A definition that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundSymbol {
    /// The definition.
    pub symbol: Symbol,
    /// The name of the definition that contains it.
    pub container: Option<String>,
    /// The score of the match: the higher, the better.
    pub score: u32,
}

impl SymbolQuery {
    /// A query. An empty one finds all.
    fn new(typed: &str) -> Self {
        let pattern = Pattern::new(typed, CaseMatching::Smart, Normalization::Smart, AtomKind::Fuzzy);
        Self { pattern, matcher: Matcher::new(Config::DEFAULT) }
    }

    /// The definitions of a program that fit, in the order of the text. What has no name of its own, such as a session, is none.
    fn find(&mut self, root: &SyntaxNode) -> Vec<FoundSymbol> {
        let symbols = document_symbols(root);
        let mut buffer = Vec::new();
        let mut found = Vec::new();
        for symbol in &symbols {
            let has_name = symbol.kind != SymbolKind::Session && symbol.selection_range != symbol.range;
            let name = Utf32Str::new(&symbol.name, &mut buffer);
            if let Some(score) = has_name.then(|| self.pattern.score(name, &mut self.matcher)).flatten() {
                let container = symbol.parent.map(|parent| symbols[parent].name.clone());
                found.push(FoundSymbol { symbol: symbol.clone(), container, score });
            }
        }
        found
    }
}

/// The definitions that match a query, the best first.
pub fn search_symbols(db: &Database, files: &[SourceFile], typed: &str) -> Vec<(SourceFile, FoundSymbol)> {
    let mut query = SymbolQuery::new(typed);
    let mut found = Vec::new();
    for file in files {
        db.unwind_if_cancelled();
        found.extend(query.find(&parse(db, *file).syntax()).into_iter().map(|symbol| (*file, symbol)));
    }
    // Those that fit equally well stay in the order of the files.
    found.sort_by_key(|(_, found)| std::cmp::Reverse(found.score));
    found
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::testing::{analysed, expect_lines};

    #[track_caller]
    fn check(typed: &str, expected: Expect) {
        let at = analysed(
            r#"
            //- /main.prose
            use "./lib.prose" as library$0
            agent code-reviewer:
              model: opus
            block review(topic):
              let recent = session "x"
              session "review"
            do review("x")
            output review_result = review
            //- /lib.prose
            input topic: "x"
            agent Rover:
              model: opus
            "#,
        );
        let found = search_symbols(at.host.db(), &at.files, typed);
        let shown: String = found
            .iter()
            .map(|(file, found)| {
                let inside = found.container.iter().map(|name| format!(" in {name}")).collect::<String>();
                format!("{}{inside}\n", at.show(*file, found.symbol.selection_range))
            })
            .collect();
        expect_lines(&shown, &expected);
    }

    #[test]
    fn letters_of_a_name_find_it_and_the_best_comes_first() {
        check(
            "review",
            expect![[r#"
            /main.prose:4: block «review»(topic):
            /main.prose:8: output «review_result» = review
            /main.prose:2: agent «code-reviewer»:
        "#]],
        );
        check(
            "rvr",
            expect![[r#"
            /main.prose:8: output «review_result» = review
            /lib.prose:2: agent «Rover»:
            /main.prose:2: agent «code-reviewer»:
        "#]],
        );
        check("recnt", expect![[r#"/main.prose:5: let «recent» = session "x" in review"#]]);
        check("Rov", expect!["/lib.prose:2: agent «Rover»:"]);
        check("nothing", expect![[""]]);
    }

    #[test]
    fn nothing_typed_finds_everything_with_a_name() {
        check(
            "",
            expect![[r#"
            /main.prose:1: use "./lib.prose" as «library»
            /main.prose:2: agent «code-reviewer»:
            /main.prose:4: block «review»(topic):
            /main.prose:5: let «recent» = session "x" in review
            /main.prose:8: output «review_result» = review
            /lib.prose:1: input «topic»: "x"
            /lib.prose:2: agent «Rover»:
        "#]],
        );
    }
}
