//! The documentation holds together: links lead somewhere, programs are clean, every page is in the table of contents.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use prose_syntax::KEYWORDS;
use prose_tests::{prose_binary, repository};
use prose_vm::budget::Maximum;
use prose_vm::command::Command as RunCommand;
use prose_vm::effect::RequestId;
use prose_vm::questions::AnswerSource;
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

#[test]
fn links_lead_somewhere() {
    let pages = pages();
    let mut broken = Vec::new();
    for (path, page) in &pages {
        for link in &page.links {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            let (file, anchor) =
                link.split_once('#').map_or((link.as_str(), None), |(file, anchor)| (file, Some(anchor)));
            let target =
                if file.is_empty() { path.clone() } else { normal(&path.parent().unwrap().join(file)) };
            if !target.exists() {
                broken.push(format!("{}: {link}: there is no such file", path.display()));
            } else if let (Some(anchor), Some(page)) = (anchor, pages.get(&target))
                && !page.anchors.contains(anchor)
            {
                broken.push(format!("{}: {link}: there is no such heading", path.display()));
            }
        }
    }
    assert!(broken.is_empty(), "broken links:\n{}", broken.join("\n"));
}

/// The page on running names where people can say something, and what they can command.
#[test]
fn the_events_of_people_are_described() {
    let page = fs::read_to_string(repository().join("docs/running.md")).unwrap();
    let (_, section) = page.split_once("\n### Events of people\n").unwrap();
    let section = section.split("\n### ").next().unwrap_or_default();
    for source in AnswerSource::ALL {
        let name = serde_json::to_value(source).unwrap();
        assert!(section.contains(&format!("\n| `{}` |", name.as_str().unwrap())), "{source:?} is missing");
    }
    let rows: BTreeSet<&str> =
        section.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    let known: Vec<String> = AnswerSource::ALL
        .iter()
        .map(|source| serde_json::to_value(source).unwrap().as_str().unwrap().to_owned())
        .chain(["commanded", "answered", "effect", "from"].map(str::to_owned))
        .collect();
    assert_eq!(rows, known.iter().map(String::as_str).collect(), "there is nothing else");
    let request = RequestId(1);
    let commands = [
        RunCommand::Pause,
        RunCommand::Continue,
        RunCommand::Stop,
        RunCommand::Skip { request },
        RunCommand::Retry { request },
        RunCommand::SetLimit { limit: Maximum::Cost(2.5) },
    ];
    for command in commands {
        let event = serde_json::to_value(command).unwrap();
        let name = event["command"].as_str().unwrap();
        assert!(section.contains(&format!("`{name}`")), "{name} is missing");
        // The command line has it under the same name.
        let help = Command::new(prose_binary()).args(["runs", name, "--help"]).output().unwrap();
        assert!(help.status.success(), "`prose runs {name}` is missing");
    }
}

/// Each promise of the page on security names the tests that hold it.
#[test]
fn the_tests_that_hold_a_promise_exist() {
    let page = fs::read_to_string(repository().join("docs/security.md")).unwrap();
    let promises = page.split("\n## ").find(|section| section.starts_with("Promises")).unwrap();
    let listed = Command::new("git").args(["ls-files", "*.rs"]).current_dir(repository()).output().unwrap();
    let code: String = String::from_utf8(listed.stdout)
        .unwrap()
        .lines()
        .map(|path| fs::read_to_string(repository().join(path)).unwrap_or_default())
        .collect();
    let mut count = 0;
    for promise in promises.split("\n- ").skip(1) {
        let (_, tests) = promise.split_once("<sub>").unwrap_or_else(|| panic!("no test is named: {promise}"));
        let tests = tests.split("</sub>").next().unwrap_or_default();
        for test in tests.split(", ") {
            let test = test.trim_matches('`');
            assert!(code.contains(&format!("fn {test}(")), "there is no test `{test}`");
            count += 1;
        }
    }
    assert!(count > 30, "{count} tests");
}

#[test]
fn every_rule_that_a_comment_names_is_on_the_page_of_rules() {
    let page = fs::read_to_string(repository().join("docs/rules.md")).unwrap();
    let first_cells = page.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
    let listed: BTreeSet<&str> = first_cells.flat_map(|cell| cell.split(", ")).collect();
    let files = Command::new("git").args(["ls-files", "*.rs"]).current_dir(repository()).output().unwrap();
    let mut missing: BTreeMap<String, String> = BTreeMap::new();
    for path in String::from_utf8(files.stdout).unwrap().lines() {
        let code = fs::read_to_string(repository().join(path)).unwrap_or_default();
        for (index, line) in code.lines().enumerate() {
            let Some(comment) = line.trim_start().strip_prefix("//") else { continue };
            for rule in rules_in(comment).into_iter().filter(|rule| !listed.contains(rule)) {
                missing.entry(rule.to_owned()).or_insert_with(|| format!("{path}:{}", index + 1));
            }
        }
    }
    let missing: Vec<String> = missing.iter().map(|(rule, place)| format!("{rule}, in {place}")).collect();
    assert!(missing.is_empty(), "add these rules to docs/rules.md:\n{}", missing.join("\n"));
}

/// The numbers of rules in a comment: `R17`, `A9`, `B3`, and the `25` of `decision 25`.
fn rules_in(comment: &str) -> Vec<&str> {
    let words: Vec<&str> = comment.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let rules = words.iter().filter(|word| word.strip_prefix(['R', 'A', 'B']).is_some_and(is_number));
    let decisions = words.windows(2).filter(|pair| pair[0] == "decision" && is_number(pair[1]));
    rules.copied().chain(decisions.map(|pair| pair[1])).collect()
}

#[test]
fn programs_are_clean() {
    let folder = prose_fixture::tempdir().unwrap();
    let mut count = 0;
    for (path, page) in pages() {
        for (index, program) in page.programs.iter().enumerate() {
            let name = path.strip_prefix(repository()).unwrap().to_string_lossy().replace(['/', '\\'], "-");
            fs::write(folder.path().join(format!("{name}-{}.prose", index + 1)), program).unwrap();
            count += 1;
        }
    }
    assert!(count > 20, "{count} programs");
    let output = Command::new(prose_binary())
        .args(["check", "--no-config", "--offline", "."])
        .current_dir(&folder)
        .output()
        .unwrap();
    let findings = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && findings.trim().is_empty(), "{findings}");
}

#[test]
fn every_page_is_in_the_table_of_contents() {
    let docs = repository().join("docs");
    let pages = pages();
    let summary = &pages[&docs.join("SUMMARY.md")];
    let listed: BTreeSet<PathBuf> = summary.links.iter().map(|link| normal(&docs.join(link))).collect();
    let missing: Vec<_> = pages
        .keys()
        .filter(|path| path.starts_with(&docs) && !path.ends_with("SUMMARY.md") && !listed.contains(*path))
        .collect();
    assert!(missing.is_empty(), "pages that docs/SUMMARY.md does not have: {missing:#?}");
}

#[test]
fn the_book_colours_every_keyword() {
    let script = fs::read_to_string(repository().join("docs/book/prose-highlight.js")).unwrap();
    let words: HashMap<&str, usize> =
        script.split(|c: char| !c.is_ascii_alphabetic()).fold(HashMap::new(), |mut words, word| {
            *words.entry(word).or_default() += 1;
            words
        });
    let missing: Vec<_> = KEYWORDS.iter().filter(|(keyword, _)| !words.contains_key(keyword)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
#[ignore = "needs mdBook"]
fn the_book_is_built_without_warnings() {
    let folder = prose_fixture::tempdir().unwrap();
    let mdbook =
        repository().join("tests/.cache/mdbook/bin").join(format!("mdbook{}", std::env::consts::EXE_SUFFIX));
    let output = Command::new(&mdbook)
        .arg("build")
        .arg(repository().join("docs"))
        .arg("--dest-dir")
        .arg(folder.path())
        .output()
        .unwrap_or_else(|error| panic!("{}: {error}; tests/install/mdbook installs it", mdbook.display()));
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !told.contains("WARN") && !told.contains("ERROR"), "{told}");
    assert!(folder.path().join("language/sessions.html").exists());
}

/// What the tests look at in a page.
#[derive(Default)]
struct Page {
    links: Vec<String>,
    anchors: BTreeSet<String>,
    /// The fences of programs that are to be clean; `ignore` exempts one that shows only a part, or a mistake.
    programs: Vec<String>,
}

/// The pages below `docs`, the readme files and the like.
fn pages() -> BTreeMap<PathBuf, Page> {
    let listed = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard", "-z", "--", "*.md"])
        .current_dir(repository())
        .output()
        .unwrap();
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    let names = String::from_utf8(listed.stdout).unwrap();
    let pages: BTreeMap<_, _> = names
        .split_terminator('\0')
        // What tests are made of is no documentation.
        .filter(|name| !name.contains("tests/"))
        .map(|name| repository().join(name))
        .filter(|path| path.exists())
        .map(|path| {
            let page = read(&fs::read_to_string(&path).unwrap());
            (path, page)
        })
        .collect();
    assert!(pages.len() > 10, "{} pages", pages.len());
    pages
}

fn read(text: &str) -> Page {
    let mut page = Page::default();
    let mut heading: Option<String> = None;
    let mut program: Option<String> = None;
    let mut seen: HashMap<String, usize> = HashMap::new();
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                page.links.push(dest_url.to_string())
            }
            Event::Start(Tag::Heading {
                level: HeadingLevel::H1 | HeadingLevel::H2 | HeadingLevel::H3 | HeadingLevel::H4,
                ..
            }) => {
                heading = Some(String::new());
            }
            Event::End(TagEnd::Heading(_)) => {
                let anchor = anchor(&heading.take().unwrap_or_default());
                let count = seen.entry(anchor.clone()).or_default();
                page.anchors.insert(if *count == 0 { anchor } else { format!("{anchor}-{count}") });
                *count += 1;
            }
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) if &*info == "prose" => {
                program = Some(String::new())
            }
            Event::End(TagEnd::CodeBlock) => page.programs.extend(program.take()),
            Event::Html(tag) | Event::InlineHtml(tag) => {
                let id = tag.split_once("<a id=\"").and_then(|(_, rest)| rest.split_once('"'));
                page.anchors.extend(id.map(|(id, _)| id.to_owned()));
            }
            Event::Text(part) | Event::Code(part) => {
                if let Some(text) = heading.as_mut().or(program.as_mut()) {
                    text.push_str(&part);
                }
            }
            _ => {}
        }
    }
    page
}

/// The anchor of a heading, as forges and mdBook make it.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

/// The path without `..`, without asking the disk.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                normal.pop();
            }
            Component::CurDir => {}
            other => normal.push(other),
        }
    }
    normal
}
