//! The tree-sitter queries colour a program as the semantic tokens of the server do, so that its colours stay when the tokens arrive.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::Path;

use expect_test::{Expect, expect};
use prose_analysis::{AnalysisHost, Text};
use prose_ide::semantic_tokens::{Modifiers, TokenKind};
use prose_tests::{repository, sound_official_programs};
use tree_sitter::{Parser, Query, QueryCursor, StreamingIterator};

/// The captures that have the colour of a kind of token, by the first parts of their names. What only the analysis can decide has the capture of what
/// it is by its place alone: an input or a parameter is a variable where it is used.
const CAPTURES: &[(TokenKind, &[&str])] = &[
    (TokenKind::Keyword, &["keyword", "function.builtin", "constant.builtin", "boolean"]),
    (TokenKind::Agent, &["type", "variable"]),
    (TokenKind::Block, &["function"]),
    (TokenKind::Program, &["module", "function.call", "variable"]),
    (TokenKind::Variable, &["variable"]),
    (TokenKind::Parameter, &["variable"]),
    (TokenKind::Property, &["property", "variable.member", "variable.parameter"]),
    (TokenKind::Value, &["constant.builtin", "string"]),
    (TokenKind::String, &["string", "label"]),
    (TokenKind::Discretion, &["string.regexp"]),
    (TokenKind::Escape, &["string.escape"]),
    (TokenKind::Number, &["number"]),
    (TokenKind::Operator, &["operator", "keyword"]),
    (TokenKind::Comment, &["comment"]),
];

/// The last capture of each byte: it is the one that counts.
fn captures(query: &Query, text: &str) -> Vec<String> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_prose::LANGUAGE.into()).unwrap();
    let tree = parser.parse(text, None).unwrap();
    let mut found: Vec<(Range<usize>, usize, String)> = Vec::new();
    let mut cursor = QueryCursor::new();
    let mut matches = cursor.matches(query, tree.root_node(), text.as_bytes());
    while let Some(matched) = matches.next() {
        for capture in matched.captures {
            let name = query.capture_names()[capture.index as usize];
            if name != "spell" && !name.starts_with('_') {
                found.push((capture.node.byte_range(), matched.pattern_index, name.to_owned()));
            }
        }
    }
    // The innermost node counts, and for one node the last pattern.
    found.sort_by_key(|(range, pattern, _)| (std::cmp::Reverse(range.len()), *pattern));
    let mut of_bytes = vec![String::new(); text.len()];
    for (range, _, name) in found {
        of_bytes[range].fill(name);
    }
    of_bytes
}

/// The kinds of tokens with captures of another colour, each with the first example.
fn disagreements<'a>(programs: impl IntoIterator<Item = (&'a str, &'a str)>) -> (usize, String) {
    let query = Query::new(&tree_sitter_prose::LANGUAGE.into(), tree_sitter_prose::HIGHLIGHTS_QUERY).unwrap();
    let mut count = 0;
    let mut found: BTreeMap<(&str, String), (usize, String)> = BTreeMap::new();
    for (name, text) in programs {
        let mut host = AnalysisHost::default();
        let file = host.set_text(Path::new("/coloured.prose"), Text::new(text));
        let captures = captures(&query, text);
        for token in prose_ide::semantic_tokens(host.db(), file) {
            count += 1;
            // Whether there is such a name decides the analysis.
            if token.modifiers == Modifiers::UNRESOLVED {
                continue;
            }
            let allowed =
                CAPTURES.iter().find(|(kind, _)| *kind == token.kind).map_or(&[][..], |(_, names)| names);
            let range = Range::<usize>::from(token.range);
            let is_of = |capture: &str, allowed: &str| {
                capture.strip_prefix(allowed).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            };
            let other = captures[range.clone()].iter().find(|capture| {
                let is_space = capture.is_empty() && text[range.clone()].trim().is_empty();
                !is_space && !allowed.iter().any(|allowed| is_of(capture, allowed))
            });
            if let Some(other) = other {
                let line = text[..range.start].lines().count().max(1);
                let example = format!("{name}:{line}: {}", text[range].lines().next().unwrap_or_default());
                found.entry((token.kind.name(), other.clone())).or_insert((0, example)).0 += 1;
            }
        }
    }
    let lines = found.iter().map(|((kind, capture), (times, example))| {
        format!(
            "{kind} is {}, {times} times: {example}\n",
            if capture.is_empty() { "nothing" } else { capture }
        )
    });
    (count, lines.collect())
}

#[track_caller]
fn check<'a>(programs: impl IntoIterator<Item = (&'a str, &'a str)>, expected: Expect) {
    let (count, found) = disagreements(programs);
    assert!(count > 500, "{count} tokens are few");
    expected.assert_eq(&found);
}

#[test]
fn the_examples_have_the_same_colours_before_and_after_the_analysis() {
    let folder = repository().join("examples");
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "prose"));
    paths.sort();
    let read = |path: &std::path::PathBuf| {
        (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read_to_string(path).unwrap())
    };
    // What is wrong in this one is coloured by what the analysis makes of it.
    let programs: Vec<_> = paths.iter().map(read).filter(|(name, _)| name != "mistakes.prose").collect();
    check(programs.iter().map(|(name, text)| (name.as_str(), text.as_str())), expect![""]);
}

#[test]
#[ignore = "needs the official programs"]
fn the_official_programs_have_the_same_colours_before_and_after_the_analysis() {
    let programs = sound_official_programs();
    check(programs.iter().map(|(name, text)| (name.as_str(), text.as_str())), expect![""]);
}
