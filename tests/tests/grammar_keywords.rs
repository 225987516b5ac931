//! The TextMate grammar colours exactly the keywords of the language, and Neovim's syntax file none fewer.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::collections::BTreeSet;
use std::fs;

use prose_syntax::KEYWORDS;
use prose_tests::repository;
use serde_json::Value;

/// The scopes under which the grammar puts words of the language. Symbols have scopes under `keyword.operator` too,
/// but a symbol holds no word.
const WORD_SCOPES: &[&str] = &["keyword.", "storage.", "constant.language."];

#[test]
fn the_grammar_knows_every_keyword_and_no_other() {
    let grammar = fs::read_to_string(repository().join("syntaxes/prose.tmLanguage.json")).unwrap();
    let grammar: Value = serde_json::from_str(&grammar).unwrap();

    let mut coloured = BTreeSet::new();
    collect_words(&grammar, &mut coloured);
    let coloured: BTreeSet<&str> = coloured.iter().map(String::as_str).collect();
    let keywords: BTreeSet<&str> = KEYWORDS.iter().map(|&(text, _)| text).collect();

    let missing: Vec<_> = keywords.difference(&coloured).collect();
    let unknown: Vec<_> = coloured.difference(&keywords).collect();
    assert!(missing.is_empty(), "keywords that the grammar does not colour: {missing:?}");
    assert!(unknown.is_empty(), "words that the grammar colours and that are no keywords: {unknown:?}");
}

#[test]
fn neovim_highlights_every_keyword() {
    let syntax = fs::read_to_string(repository().join("editors/neovim/syntax/prose.vim")).unwrap();
    let rules = syntax.lines().filter(|line| line.starts_with("syntax match")).collect::<Vec<_>>().join("\n");
    let words: BTreeSet<&str> = rules.split(|c: char| !c.is_ascii_alphabetic()).collect();
    // In a rule, `\zs` sets where the match starts.
    let named = |keyword: &str| words.contains(keyword) || words.contains(format!("zs{keyword}").as_str());
    let missing: Vec<_> = KEYWORDS.iter().filter(|(text, _)| !named(text)).collect();
    assert!(missing.is_empty(), "keywords that `editors/neovim/syntax/prose.vim` does not have: {missing:?}");
}

#[test]
fn words_of_a_group_are_found() {
    let regex = r#"^\s*(?:(parallel)\s+)?(for|\(each)\s+([A-Za-z_](?:\w|-(?=\w))*)(?=[(:]|\s+in)"#;
    assert_eq!(words_of_group(regex, 1), ["parallel"]);
    assert_eq!(words_of_group(regex, 2), ["for", "each"]);
    assert_eq!(words_of_group(regex, 3), Vec::<String>::new());
    assert_eq!(words_of_group(r"(?<![\w.-])(?:true|false)(?!\w|\s*[:(])", 0), ["true", "false"]);
}

/// Every word that a rule under `value` puts in one of [`WORD_SCOPES`].
fn collect_words(value: &Value, words: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect_words(item, words)),
        Value::Object(rule) => {
            for (regex, captures) in
                [("match", "captures"), ("begin", "beginCaptures"), ("end", "endCaptures")]
            {
                let Some(regex) = rule.get(regex).and_then(Value::as_str) else { continue };
                let groups = rule.get(captures).and_then(Value::as_object).into_iter().flatten();
                let groups = groups.map(|(group, scope)| (group.parse().unwrap(), &scope["name"]));
                for (group, scope) in groups.chain([(0, &value["name"])]) {
                    let Some(scope) = scope.as_str() else { continue };
                    if WORD_SCOPES.iter().any(|prefix| scope.starts_with(prefix)) {
                        words.extend(words_of_group(regex, group));
                    }
                }
            }
            rule.values().for_each(|part| collect_words(part, words));
        }
        _ => {}
    }
}

/// The literal words that the capture group of this number matches, and for the number 0 those that the whole regex
/// matches. Words in lookaround and in character classes are not matched text.
fn words_of_group(regex: &str, group: usize) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    // The capture group of each open parenthesis, where it has one, and whether it is lookaround.
    let mut open: Vec<(Option<usize>, bool)> = vec![(Some(0), false)];
    let mut groups = 0;
    let mut in_class = false;
    let mut rest = regex.chars();
    while let Some(c) = rest.next() {
        let matched = !in_class
            && open.iter().all(|&(_, lookaround)| !lookaround)
            && open.iter().any(|&(number, _)| number == Some(group));
        if matched && c.is_ascii_lowercase() {
            word.push(c);
            continue;
        }
        if word.len() > 1 {
            words.push(word.clone());
        }
        word.clear();
        match c {
            '\\' => {
                rest.next();
            }
            '[' => in_class = true,
            ']' => in_class = false,
            '(' if !in_class => {
                let after = rest.as_str();
                let lookaround = ["?=", "?!", "?<=", "?<!"].iter().any(|mark| after.starts_with(mark));
                let captures = !after.starts_with('?');
                groups += usize::from(captures);
                open.push((captures.then_some(groups), lookaround));
            }
            ')' if !in_class => {
                open.pop();
            }
            _ => {}
        }
    }
    if word.len() > 1 {
        words.push(word);
    }
    words
}
