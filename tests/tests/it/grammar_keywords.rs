//! The TextMate grammar colours exactly the keywords of the language, and Neovim's syntax file none fewer. The tree-sitter grammar
//! knows exactly these keywords, properties and words, and the letters that names are made of.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use prose_syntax::options::Word;
use prose_syntax::{KEYWORDS, names, properties};
use prose_tests::repository;
use serde_json::Value;

/// The scopes under which the grammar puts words of the language. Symbols have scopes under `keyword.operator` too,
/// but a symbol holds no word.
const WORD_SCOPES: &[&str] = &["keyword."];

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
fn emacs_highlights_every_keyword_and_property_and_no_other() {
    let package = fs::read_to_string(repository().join("editors/emacs/openprose-mode.el")).unwrap();
    let list = |name: &str| -> BTreeSet<String> {
        let (_, rest) = package.split_once(&format!("(defconst openprose-{name}\n")).unwrap_or_else(|| {
            package.split_once(&format!("(defconst openprose-{name} ")).expect("the list is there")
        });
        let (list, _) = rest.split_once(')').expect("the list ends");
        list.split('"').skip(1).step_by(2).map(str::to_owned).collect()
    };
    let keywords = list("keywords").union(&list("values")).cloned().collect::<BTreeSet<_>>();
    assert_eq!(keywords, KEYWORDS.iter().map(|&(text, _)| text.to_owned()).collect());
    let known = [properties::PROPERTIES, properties::PERMISSIONS].concat();
    assert_eq!(list("properties"), known.iter().map(|property| property.name.to_owned()).collect());
}

#[test]
fn the_tree_sitter_grammar_knows_every_keyword_and_no_other() {
    let grammar = fs::read_to_string(tree_sitter_grammar("src/grammar.json")).unwrap();
    let mut words = BTreeSet::new();
    collect_tokens(&serde_json::from_str(&grammar).unwrap(), &mut words);
    let keywords: BTreeSet<String> = KEYWORDS.iter().map(|&(text, _)| text.to_owned()).collect();
    assert_eq!(words, keywords);
}

#[test]
fn the_tree_sitter_grammar_highlights_every_keyword() {
    let (keywords, _) = words_of_query();
    // The values are coloured by the kind of their node.
    let is_value = |text: &str| matches!(text, "true" | "false" | "null");
    let expected: BTreeSet<&str> =
        KEYWORDS.iter().map(|&(text, _)| text).filter(|text| !is_value(text)).collect();
    assert_eq!(keywords.iter().map(String::as_str).collect::<BTreeSet<_>>(), expected);
}

#[test]
fn the_tree_sitter_grammar_highlights_the_properties_and_their_words() {
    let (_, lists) = words_of_query();
    let names = |properties: &[properties::Property]| -> Vec<String> {
        properties.iter().map(|property| property.name.to_owned()).collect()
    };
    let words = |words: &[Word]| -> Vec<String> {
        // `true` and `false` are coloured as such.
        let names = words.iter().map(|word| word.name).filter(|name| !matches!(*name, "true" | "false"));
        names.map(str::to_owned).collect()
    };
    let expected = [
        names(properties::PROPERTIES),
        names(properties::PERMISSIONS),
        words(properties::MODELS),
        words(properties::PERSISTENCE),
        words(properties::BACKOFFS),
        words(properties::PERMISSION_VALUES),
    ];
    assert_eq!(lists, expected);
}

/// The keywords that the query of highlights names, and the words of each of its lists.
fn words_of_query() -> (BTreeSet<String>, Vec<Vec<String>>) {
    let query = fs::read_to_string(tree_sitter_grammar("queries/highlights.scm")).unwrap();
    let is_word = |text: &str| text.starts_with(|c: char| c.is_ascii_lowercase());
    let quoted = |text: &str| -> Vec<String> {
        text.split('"').skip(1).step_by(2).filter(|text| is_word(text)).map(str::to_owned).collect()
    };
    let code: Vec<&str> = query.lines().filter(|line| !line.starts_with(';')).collect();
    let code = code.join("\n");
    let lists = code.split("(#any-of? ").skip(1).map(|list| quoted(&list[..list.find(')').unwrap()]));
    let keywords = code.lines().filter(|line| line.starts_with('[')).flat_map(quoted);
    (keywords.collect(), lists.collect())
}

/// The words among the tokens of a rule.
fn collect_tokens(rule: &Value, words: &mut BTreeSet<String>) {
    match rule {
        Value::Array(items) => items.iter().for_each(|item| collect_tokens(item, words)),
        Value::Object(parts) => {
            if let (Some("STRING"), Some(text)) =
                (parts.get("type").and_then(Value::as_str), parts.get("value").and_then(Value::as_str))
                && text.starts_with(|c: char| c.is_ascii_alphabetic())
            {
                words.insert(text.to_owned());
            }
            parts.values().for_each(|part| collect_tokens(part, words));
        }
        _ => {}
    }
}

/// The keywords with which a statement or a value starts are known to the scanner, too.
#[test]
fn the_tree_sitter_scanner_knows_keywords_only() {
    let scanner = fs::read_to_string(tree_sitter_grammar("src/scanner.c")).unwrap();
    let table = scanner.split("KEYWORDS[KEYWORD_COUNT] = {").nth(1).unwrap().split('}').next().unwrap();
    let known: Vec<&str> = table.split('"').skip(1).step_by(2).filter(|word| !word.is_empty()).collect();
    assert!(known.len() > 30, "{known:?}");
    // The others stand inside of statements alone, where no name can.
    let inside = ["and", "as", "filter", "from", "in", "is", "map", "or", "pmap", "reduce", "until", "while"];
    let all: BTreeSet<&str> = known.iter().copied().chain(inside).collect();
    assert_eq!(all, KEYWORDS.iter().map(|&(text, _)| text).collect());
    // The table stands in the order of the enumeration of the same names.
    assert!(known.is_sorted(), "{known:?}");
}

/// The tables of letters in `names.h` are those of `prose_syntax::names`. With `UPDATE_EXPECT=1` the test writes them.
#[test]
fn the_tree_sitter_scanner_knows_the_letters_of_names() {
    let path = tree_sitter_grammar("src/names.h");
    let present = fs::read_to_string(&path).unwrap();
    let mut expected = present.clone();
    for (table, is_in) in [
        ("NAME_START", names::is_start as fn(char) -> bool),
        ("NAME_PART", names::is_part as fn(char) -> bool),
    ] {
        let opener = format!("{table}[] = {{\n");
        let start = expected.find(&opener).unwrap() + opener.len();
        let end = start + expected[start..].find("};").unwrap();
        expected.replace_range(start..end, &ranges_in_c(is_in));
    }
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, &expected).unwrap();
    } else {
        assert!(present == expected, "names.h is not up to date: run this with UPDATE_EXPECT=1");
    }
}

/// The ranges of characters behind ASCII for which `is_in` holds, as lines of C.
fn ranges_in_c(is_in: fn(char) -> bool) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for code in 0x80..=u32::from(char::MAX) {
        if char::from_u32(code).is_some_and(is_in) {
            match ranges.last_mut() {
                Some((_, last)) if *last + 1 == code => *last = code,
                _ => ranges.push((code, code)),
            }
        }
    }
    let shown: Vec<String> =
        ranges.iter().map(|(first, last)| format!("{{{first:#06x}, {last:#06x}}},")).collect();
    shown.chunks(6).map(|line| format!("    {}\n", line.join(" "))).collect()
}

fn tree_sitter_grammar(file: &str) -> PathBuf {
    repository().join("syntaxes/tree-sitter-prose").join(file)
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
