//! What holds for every program, sound or not.

use std::path::Path;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use prose_format::format;
use prose_syntax::{NodeOrToken, SyntaxKind, parse};

const CASES: u32 = 1000;

fn runner(cases: u32) -> TestRunner {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    // The same programs each time: what a change breaks shows in that change.
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]))
}

#[test]
fn the_layout_of_the_writer_does_not_matter() {
    check_layouts(CASES);
}

#[test]
#[ignore = "takes a minute"]
fn the_layout_of_many_programs_does_not_matter() {
    check_layouts(10 * CASES);
}

/// However a program is laid out, it comes out the same, and as the same program.
fn check_layouts(cases: u32) {
    let program = (crate::generated::program(), any::<u64>(), any::<u64>());
    runner(cases)
        .run(&program, |(program, one, other)| {
            let (one, other) = (program.lay_out(one), program.lay_out(other));
            let errors = |text: &str| {
                parse(text).diagnostics().iter().map(|found| found.message.clone()).collect::<Vec<_>>()
            };
            prop_assert_eq!(errors(&one), Vec::<String>::new(), "{}", one);
            let formatted = format(&one);
            prop_assert_eq!(meaning(&one), meaning(&formatted));
            let (a, b) = (without_alignment(&formatted), without_alignment(&format(&other)));
            prop_assert_eq!(a, b, "{}\n----\n{}", one, other);
            prop_assert_eq!(&format(&formatted), &formatted);
            check_style(&formatted)?;
            Ok(())
        })
        .unwrap();
}

#[test]
fn broken_programs_keep_what_they_have() {
    check_broken(CASES / 2);
}

#[test]
#[ignore = "takes a minute"]
fn many_broken_programs_keep_what_they_have() {
    check_broken(5 * CASES);
}

/// Whatever is typed into a program, formatting twice is formatting once, and no token is lost.
fn check_broken(cases: u32) {
    let sample = (
        prop::sample::select(samples()),
        prop::collection::vec((any::<prop::sample::Index>(), slip()), 1..4),
    );
    runner(cases)
        .run(&sample, |(mut text, slips)| {
            for (at, slip) in slips {
                let at = text.floor_char_boundary(at.index(text.len() + 1));
                match slip {
                    Slip::Insert(piece) => text.insert_str(at, piece),
                    Slip::Remove(count) => {
                        let end = text.floor_char_boundary((at + count).min(text.len()));
                        text.replace_range(at..end.max(at), "");
                    }
                }
            }
            let formatted = format(&text);
            prop_assert_eq!(meaning(&text), meaning(&formatted), "{}", text);
            prop_assert_eq!(&format(&formatted), &formatted, "{}", text);
            Ok(())
        })
        .unwrap();
}

#[derive(Debug, Clone)]
enum Slip {
    Insert(&'static str),
    Remove(usize),
}

fn slip() -> impl Strategy<Value = Slip> {
    const PIECES: &[&str] = &[
        " ", "    ", "\t", "\n", "\r\n", "\n\n\n", "\"", "\"\"\"", "**", "***", "(", ")", "[", "]", "{", "}",
        ",", ":", "#", "# x\n", "|", "->", "-", "=", ".", "session ", "if ", "else:\n", "let x = ", "do f(",
        "'", "//", "\u{feff}", "é",
    ];
    prop_oneof![prop::sample::select(PIECES).prop_map(Slip::Insert), (1..20usize).prop_map(Slip::Remove)]
}

/// Programs that together use every construct, and programs with mistakes.
fn samples() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../prose-syntax/tests/programs");
    let files =
        [folder.join("mistakes"), folder].into_iter().flat_map(|folder| std::fs::read_dir(folder).unwrap());
    let mut samples: Vec<String> = files
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "prose"))
        .map(|path| std::fs::read_to_string(path).unwrap())
        .collect();
    samples.sort();
    assert!(samples.len() > 5);
    samples
}

/// Comments stay under each other where the writer has put them so, if by chance.
fn without_alignment(formatted: &str) -> String {
    let mut text = formatted.to_owned();
    while text.contains("   #") {
        text = text.replace("   #", "  #");
    }
    text
}

/// The tokens of a program in their order, without its layout.
fn meaning(text: &str) -> Vec<(SyntaxKind, String)> {
    let tokens = parse(text).syntax().descendants_with_tokens().filter_map(NodeOrToken::into_token);
    let tokens = tokens.filter(|token| !matches!(token.kind(), SyntaxKind::WHITESPACE | SyntaxKind::NEWLINE));
    let mut meaning: Vec<(SyntaxKind, String)> = tokens
        .map(|token| {
            let text =
                if token.kind() == SyntaxKind::COMMENT { token.text().trim_end() } else { token.text() };
            (token.kind(), text.to_owned())
        })
        .collect();
    // A comma before the end of a list is layout.
    let is_end = |kind| matches!(kind, SyntaxKind::R_PAREN | SyntaxKind::R_BRACKET | SyntaxKind::R_BRACE);
    for at in (1..meaning.len()).rev() {
        let next = meaning[at..].iter().find(|(kind, _)| *kind != SyntaxKind::COMMENT);
        if meaning[at - 1].0 == SyntaxKind::COMMA && next.is_some_and(|(kind, _)| is_end(*kind)) {
            meaning.remove(at - 1);
        }
    }
    meaning
}

/// What can be seen of the style without knowing how it is made. Lines of texts are the writer's.
fn check_style(formatted: &str) -> Result<(), TestCaseError> {
    let literals: Vec<_> = parse(formatted)
        .syntax()
        .descendants()
        .filter(|node| matches!(node.kind(), SyntaxKind::STRING | SyntaxKind::DISCRETION))
        .map(|node| std::ops::Range::<usize>::from(node.text_range()))
        .collect();
    let mut start = 0;
    let mut was_blank = true;
    for line in formatted.split_inclusive('\n') {
        let end = start + line.len();
        let is_own = |at: usize| !literals.iter().any(|literal| literal.start < at && at < literal.end);
        if is_own(start) && is_own(end - 1) {
            let content = line.trim_end_matches(['\r', '\n']);
            prop_assert_eq!(content.trim_end(), content, "spaces at the end of a line:\n{}", formatted);
            let indentation = content.len() - content.trim_start().len();
            prop_assert!(indentation % 2 == 0 && !content.contains('\t'), "{content:?} in\n{formatted}");
            prop_assert!(!(content.is_empty() && was_blank), "blank lines in\n{formatted}");
            was_blank = content.is_empty();
        } else {
            was_blank = false;
        }
        start = end;
    }
    prop_assert!(formatted.is_empty() || formatted.ends_with('\n'));
    Ok(())
}
