//! The words that `docs/glossary.md` retires do not come back in the texts that users read.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use prose_config::Config;
use prose_fixture::wording::{contains_word, retired_words};
use prose_harness::registry::HARNESSES;
use prose_syntax::keywords::REFERENCE;
use prose_syntax::options::{FAILURE_POLICIES, OPTIONS, STRATEGIES};
use prose_syntax::properties::{PERMISSIONS, PROPERTIES};
use prose_syntax::{Code, properties};
use prose_tests::repository;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use serde_json::Value;

#[test]
fn retired_words_are_in_no_text_that_users_read() {
    let retired: Vec<_> = retired_words().collect();
    let texts = texts();
    assert!(retired.len() > 20 && texts.len() > 500, "{} words, {} texts", retired.len(), texts.len());
    let found: Vec<String> = texts
        .iter()
        .flat_map(|(place, text)| {
            let words = retired.iter().filter(|(word, _)| contains_word(text, word));
            words.map(move |(word, instead)| format!("{place}: `{word}`, instead: {instead}\n    {text}"))
        })
        .collect();
    assert!(found.is_empty(), "{} retired words:\n{}", found.len(), found.join("\n"));
}

#[test]
fn retired_words_are_on_no_page() {
    let retired: Vec<_> = retired_words().collect();
    let mut found = Vec::new();
    let pages = pages();
    assert!(pages.len() > 30, "{} pages", pages.len());
    for (path, text) in &pages {
        for line in text.lines() {
            let words = retired.iter().filter(|(word, _)| contains_word(line, word));
            found.extend(
                words.map(|(word, instead)| format!("{path}: `{word}`, instead: {instead}\n    {line}")),
            );
        }
    }
    assert!(found.is_empty(), "{} retired words:\n{}", found.len(), found.join("\n"));
}

#[test]
fn retired_words_are_in_no_text_of_the_code() {
    let retired: Vec<_> = retired_words().collect();
    let texts = texts_of_code();
    assert!(texts.len() > 2000, "{} texts", texts.len());
    let mut found = Vec::new();
    for (place, text) in &texts {
        let words = retired.iter().filter(|(word, _)| contains_word(text, word));
        found.extend(
            words.map(|(word, instead)| format!("{place}: `{word}`, instead: {instead}\n    {text}")),
        );
    }
    assert!(found.is_empty(), "{} retired words:\n{}", found.len(), found.join("\n"));
}

#[test]
fn each_term_is_defined_once() {
    let mut terms = BTreeSet::new();
    for row in glossary().lines().filter(|row| row.starts_with("| **")) {
        let (column, definition) = row.trim_matches('|').split_once(" | ").unwrap();
        assert!(definition.trim().len() > 10, "{row}");
        for term in column.split("**").skip(1).step_by(2) {
            assert!(terms.insert(term.to_owned()), "`{term}` is defined twice");
        }
    }
    assert!(terms.len() > 40, "{terms:?}");
}

fn glossary() -> String {
    fs::read_to_string(repository().join("docs/glossary.md")).unwrap()
}

/// The texts that users read, each with its place.
fn texts() -> Vec<(String, String)> {
    let mut texts = Vec::new();
    for code in Code::ALL {
        let info = code.info();
        texts.push((format!("{code}"), info.title.to_owned()));
        texts.push((format!("{code}"), info.explanation.to_owned()));
    }
    for keyword in REFERENCE {
        texts.push((format!("`{}`", keyword.text()), format!("{}\n{}", keyword.summary, keyword.docs)));
    }
    for property in PROPERTIES.iter().chain(PERMISSIONS) {
        texts.push((format!("`{}:`", property.name), format!("{}\n{}", property.summary, property.docs)));
    }
    let words = [STRATEGIES, FAILURE_POLICIES, properties::MODELS, properties::PERSISTENCE];
    let words = words.into_iter().chain([properties::BACKOFFS, properties::PERMISSION_VALUES]).flatten();
    texts.extend(words.map(|word| (format!("`{}`", word.name), word.summary.to_owned())));
    texts.extend(OPTIONS.iter().map(|option| (format!("`{}:`", option.name), option.summary.to_owned())));
    texts.extend(
        HARNESSES.iter().map(|info| (format!("harness `{}`", info.name), info.description.to_owned())),
    );
    collect_strings("prose.toml", &Config::schema(), &["description"], &mut texts);
    // A test of the command line holds this page to what `--help` prints.
    let help = fs::read_to_string(repository().join("docs/cli.md")).unwrap();
    texts.extend(
        help.lines().enumerate().map(|(line, text)| (format!("docs/cli.md:{}", line + 1), text.to_owned())),
    );
    let package = fs::read_to_string(repository().join("editors/vscode/package.json")).unwrap();
    let keys = [
        "displayName",
        "description",
        "markdownDescription",
        "enumDescriptions",
        "title",
        "name",
        "contextualTitle",
        "contents",
    ];
    collect_strings(
        "editors/vscode/package.json",
        &serde_json::from_str(&package).unwrap(),
        &keys,
        &mut texts,
    );
    texts
}

/// The texts in the sources of the crates, such as messages, each with its file. Tests and examples of programs have other words.
fn texts_of_code() -> Vec<(String, String)> {
    let listed = Command::new("git")
        .args(["ls-files", "crates/*/src/*.rs"])
        .current_dir(repository())
        .output()
        .unwrap();
    let mut texts = Vec::new();
    for name in String::from_utf8(listed.stdout).unwrap().lines() {
        let is_of_tests =
            name.ends_with("tests.rs") || name.contains("for-tests") || name.contains("prose-fixture");
        // A file that was removed is still listed until that is committed.
        let Ok(source) = fs::read_to_string(repository().join(name)) else { continue };
        if !is_of_tests {
            collect_texts(name, source.parse().unwrap(), &mut texts);
        }
    }
    texts
}

fn collect_texts(file: &str, tokens: TokenStream, texts: &mut Vec<(String, String)>) {
    let mut tokens = tokens.into_iter().peekable();
    let mut is_test = false;
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(punct) if punct.as_char() == '#' => {
                // Comments with documentation are attributes, too.
                tokens.next_if(|next| matches!(next, TokenTree::Punct(inner) if inner.as_char() == '!'));
                let attribute = tokens.next_if(|next| matches!(next, TokenTree::Group(_)));
                is_test |= attribute.is_some_and(|attribute| attribute.to_string().contains("(test)"));
            }
            TokenTree::Punct(punct) if punct.as_char() == ';' => is_test = false,
            TokenTree::Group(group) => {
                if !is_test {
                    collect_texts(file, group.stream(), texts);
                }
                is_test &= group.delimiter() != Delimiter::Brace;
            }
            TokenTree::Literal(literal) => {
                let text = literal.to_string();
                // Without a space it is a name, and with lines it is a program.
                if text.contains('"') && text.contains(' ') && !text.contains("\\n") {
                    texts.push((file.to_owned(), text));
                }
            }
            _ => {}
        }
    }
}

/// The documentation: each page of the repository as text without code. Only the words that the glossary retires are left out.
fn pages() -> Vec<(String, String)> {
    let listed = Command::new("git").args(["ls-files", "*.md"]).current_dir(repository()).output().unwrap();
    let names = String::from_utf8(listed.stdout).unwrap();
    // Tests have documents of their own, and diagnostics are texts of a table.
    let is_page =
        |name: &&str| !name.contains("tests/") && !["CONTRIBUTING.md", "docs/diagnostics.md"].contains(name);
    names
        .lines()
        .filter(is_page)
        .map(|name| {
            let page = fs::read_to_string(repository().join(name)).unwrap();
            let page = page.split("\n## Retired words\n").next().unwrap();
            (name.to_owned(), text_of(page))
        })
        .collect()
}

/// The text of a page without its code, a line for each line.
fn text_of(page: &str) -> String {
    let mut text = String::new();
    let mut is_code = false;
    for event in Parser::new_ext(page, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::CodeBlock(_)) => is_code = true,
            Event::End(TagEnd::CodeBlock) => is_code = false,
            Event::Text(part) if !is_code => text += &part,
            Event::SoftBreak | Event::Code(_) => text.push(' '),
            Event::End(_) => text.push('\n'),
            _ => {}
        }
    }
    text
}

/// The strings, and lists of strings, at some keys of a JSON value.
fn collect_strings(place: &str, value: &Value, keys: &[&str], texts: &mut Vec<(String, String)>) {
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                let place = format!("{place}/{key}");
                if keys.contains(&key.as_str()) {
                    let list = member.as_array().map_or(std::slice::from_ref(member), Vec::as_slice);
                    texts.extend(
                        list.iter().filter_map(Value::as_str).map(|text| (place.clone(), text.to_owned())),
                    );
                }
                collect_strings(&place, member, keys, texts);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect_strings(place, item, keys, texts)),
        _ => {}
    }
}
