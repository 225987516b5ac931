//! What is offered anywhere in a program.

use std::path::Path;

use prose_analysis::{AnalysisHost, SourceFile, Text};
use prose_ide::{Assist, assists, organize_uses};
use prose_syntax::{SyntaxKind, SyntaxNode, TextRange, parse};

pub(crate) fn analysed(text: &str) -> (AnalysisHost, SourceFile) {
    let mut host = AnalysisHost::default();
    let file = host.set_text(Path::new("/main.prose"), Text::new(text));
    host.load_imports(file, |_| None);
    (host, file)
}

/// Selections of all kinds: each word, and for each list of statements each run of up to three of them.
fn ranges(text: &str) -> Vec<TextRange> {
    let root = parse(text).syntax();
    let mut ranges = Vec::new();
    let tokens = root.descendants_with_tokens().filter_map(|element| element.into_token());
    for token in tokens.filter(|token| !token.kind().is_trivia()) {
        ranges.push(TextRange::empty(token.text_range().start()));
    }
    let lists =
        root.descendants().filter(|node| matches!(node.kind(), SyntaxKind::BLOCK | SyntaxKind::SOURCE_FILE));
    for list in lists {
        let statements: Vec<SyntaxNode> = list.children().collect();
        for count in 1..=3 {
            let runs = statements.windows(count);
            ranges.extend(runs.map(|run| run[0].text_range().cover(run[count - 1].text_range())));
        }
    }
    ranges
}

/// Everything that is offered anywhere in a program.
pub(crate) fn offered(text: &str) -> Vec<Assist> {
    let (host, file) = analysed(text);
    let mut found: Vec<Assist> = Vec::new();
    let at_places = ranges(text).into_iter().flat_map(|range| assists(host.db(), file, range));
    for assist in at_places.chain(organize_uses(host.db(), file)) {
        if !found.contains(&assist) {
            found.push(assist);
        }
    }
    found
}
