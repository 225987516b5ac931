//! The tree-sitter queries colour a program as the semantic tokens of the server do, so that its colours stay when the tokens arrive.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::ops::Range;
use std::path::Path;
use std::process::{Command, Stdio};

use expect_test::{Expect, expect};
use prose_analysis::{AnalysisHost, Text};
use prose_ide::semantic_tokens::{Modifiers, TokenKind};
use prose_tests::{repository, sound_official_programs};
use serde_json::json;
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

/// The names of captures in Helix and Zed that differ from those. A name that is used for its value has the colour of text: in some versions of Helix
/// another pattern counts where several capture one node, so that no pattern can be for all names.
const CAPTURES_OF_EDITORS: &[(TokenKind, &[&str])] = &[
    (TokenKind::Keyword, &["function"]),
    (TokenKind::Agent, &[""]),
    (TokenKind::Variable, &[""]),
    (TokenKind::Parameter, &[""]),
    (TokenKind::Program, &["namespace", "function"]),
    (TokenKind::Property, &["variable.other.member", "attribute"]),
    (TokenKind::Value, &["constant"]),
    (TokenKind::Discretion, &["string.regex"]),
    (TokenKind::Escape, &["constant.character.escape"]),
    (TokenKind::Number, &["constant.numeric"]),
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
fn disagreements<'a>(
    query: &str,
    tables: &[&[(TokenKind, &[&str])]],
    programs: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> (usize, String) {
    let query = Query::new(&tree_sitter_prose::LANGUAGE.into(), query).unwrap();
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
            let same = tables.iter().copied().flatten().filter(|(kind, _)| *kind == token.kind);
            let allowed: Vec<&str> = same.flat_map(|(_, names)| names.iter().copied()).collect();
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

fn examples() -> Vec<(String, String)> {
    let folder = repository().join("examples");
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "prose"));
    paths.sort();
    let read = |path: &std::path::PathBuf| {
        (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read_to_string(path).unwrap())
    };
    // What is wrong in this one is coloured by what the analysis makes of it.
    paths.iter().map(read).filter(|(name, _)| name != "mistakes.prose").collect()
}

#[track_caller]
fn check<'a>(programs: impl IntoIterator<Item = (&'a str, &'a str)>, expected: Expect) {
    let (count, found) = disagreements(tree_sitter_prose::HIGHLIGHTS_QUERY, &[CAPTURES], programs);
    assert!(count > 500, "{count} tokens are few");
    expected.assert_eq(&found);
}

#[test]
fn the_examples_have_the_same_colours_before_and_after_the_analysis() {
    let programs = examples();
    check(programs.iter().map(|(name, text)| (name.as_str(), text.as_str())), expect![""]);
}

#[test]
#[ignore = "needs the official programs"]
fn the_official_programs_have_the_same_colours_before_and_after_the_analysis() {
    let programs = sound_official_programs();
    check(programs.iter().map(|(name, text)| (name.as_str(), text.as_str())), expect![""]);
}

/// What the colours of the TextMate grammar and of the semantic tokens differ in, in themes of Visual Studio Code.
#[track_caller]
fn check_textmate<'a>(programs: impl IntoIterator<Item = (&'a str, &'a str)>, expected: Expect) {
    let programs: Vec<_> = programs
        .into_iter()
        .map(|(name, text)| {
            let mut host = AnalysisHost::default();
            let file = host.set_text(Path::new("/coloured.prose"), Text::new(text));
            let tokens = prose_ide::semantic_tokens(host.db(), file).into_iter().map(|token| {
                let range = Range::<usize>::from(token.range);
                let before = &text[..range.start];
                let start = before.rfind('\n').map_or(0, |at| at + 1);
                let units = |text: &str| text.encode_utf16().count();
                let modifiers = Modifiers::NAMES
                    .iter()
                    .enumerate()
                    .filter(|(bit, _)| token.modifiers.bits() >> bit & 1 == 1);
                json!([
                    before.matches('\n').count(),
                    units(&before[start..]),
                    units(&text[range]),
                    token.kind.name(),
                    modifiers.map(|(_, name)| name).collect::<Vec<_>>()
                ])
            });
            json!({ "name": name, "text": text, "tokens": tokens.collect::<Vec<_>>() })
        })
        .collect();
    let script = repository().join("syntaxes/compare-colours");
    let mut child = Command::new(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("`syntaxes/compare-colours` starts");
    child.stdin.take().unwrap().write_all(json!(programs).to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "`syntaxes/compare-colours` failed");
    let (count, found) = std::str::from_utf8(&output.stdout).unwrap().split_once('\n').unwrap();
    assert!(count.split(' ').next().unwrap().parse::<usize>().unwrap() > 500, "{count} are few");
    expected.assert_eq(found);
}

#[test]
#[ignore = "needs npm and the official programs"]
fn the_textmate_grammar_has_the_colours_of_the_semantic_tokens() {
    let programs = sound_official_programs();
    let examples = examples();
    check_textmate(
        programs.iter().chain(&examples).map(|(name, text)| (name.as_str(), text.as_str())),
        expect![""],
    );
}

#[test]
fn helix_and_zed_have_the_same_colours_as_the_others() {
    let programs = examples();
    for (query, expected) in [
        ("editors/helix/queries/prose/highlights.scm", expect![""]),
        ("editors/zed/languages/prose/highlights.scm", expect![""]),
    ] {
        let query = fs::read_to_string(repository().join(query)).unwrap();
        let texts = programs.iter().map(|(name, text)| (name.as_str(), text.as_str()));
        expected.assert_eq(&disagreements(&query, &[CAPTURES, CAPTURES_OF_EDITORS], texts).1);
    }
}

#[test]
#[ignore = "needs the official programs"]
fn helix_and_zed_colour_the_official_programs_as_the_others_do() {
    let programs = sound_official_programs();
    for (query, expected) in [
        ("editors/helix/queries/prose/highlights.scm", expect![""]),
        ("editors/zed/languages/prose/highlights.scm", expect![""]),
    ] {
        let query = fs::read_to_string(repository().join(query)).unwrap();
        let texts = programs.iter().map(|(name, text)| (name.as_str(), text.as_str()));
        expected.assert_eq(&disagreements(&query, &[CAPTURES, CAPTURES_OF_EDITORS], texts).1);
    }
}
