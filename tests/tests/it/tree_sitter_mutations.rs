//! The tree-sitter grammar on broken programs: no crash, no time that grows faster than the text, and the same tree after an edit
//! as from the start.

#![cfg(unix)]

mod mutants;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use fastrand::Rng;
use mutants::{Edit, UNITS, mutant, programs};
use prose_fixture::number;
use prose_tests::repository;
use rustix::time::{ClockId, clock_gettime};
use tree_sitter::{InputEdit, Node, Parser, Point, Tree};

const MUTANTS: usize = 10_000;

fn parser() -> Parser {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_prose::LANGUAGE.into()).unwrap();
    parser
}

#[test]
fn mutated_programs_have_sound_trees() {
    let programs = programs();
    let mut random = Rng::with_seed(2026);
    let mut parser = parser();
    for turn in 0..MUTANTS {
        let text = mutant(&programs[turn % programs.len()], &mut random);
        let tree = parser.parse(&text, None).unwrap();
        check_tree(&tree, &text);
    }
}

/// Nodes lie inside of their parents, one behind the other, and nothing but blanks stands outside of the tree.
#[track_caller]
fn check_tree(tree: &Tree, text: &str) {
    let root = tree.root_node();
    let is_blank = |text: &str| text.trim_matches(['\u{feff}', ' ', '\t', '\u{c}', '\n', '\r']).is_empty();
    assert!(is_blank(&text[..root.start_byte()]) && is_blank(&text[root.end_byte()..]), "{root} {text}");
    let mut open = vec![root];
    while let Some(node) = open.pop() {
        let mut at = node.start_byte();
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            let range = child.byte_range();
            assert!(at <= range.start && range.end <= node.end_byte(), "{child} in {node}: {text}");
            assert!(text.get(range.clone()).is_some(), "{child} splits a character: {text}");
            at = range.end;
            open.push(child);
        }
    }
}

#[test]
fn an_edit_gives_the_tree_of_the_edited_text() {
    let programs = programs();
    let mut random = Rng::with_seed(7);
    let mut parser = parser();
    let mut compared = 0;
    for turn in 0..MUTANTS / 4 {
        let mut text = programs[turn % programs.len()].clone();
        let mut tree = parser.parse(&text, None).unwrap();
        // One edit after the other, as somebody types.
        for _ in 0..4 {
            let before = text.clone();
            let edit = Edit::random(&text, &mut random);
            tree.edit(&input_edit(&text, &edit));
            edit.apply(&mut text);
            tree = parser.parse(&text, Some(&tree)).unwrap();
            check_tree(&tree, &text);
            let fresh = parser.parse(&text, None).unwrap();
            // How tree-sitter goes on behind an error depends on what it can reuse.
            if !fresh.root_node().has_error() {
                compared += 1;
                assert_eq!(shape(&tree), shape(&fresh), "after {edit:?} in\n{before}");
            }
        }
    }
    assert!(compared > MUTANTS / 4, "{compared} trees were compared");
}

fn input_edit(text: &str, edit: &Edit) -> InputEdit {
    let point = |text: &str, at: usize| {
        let row = text[..at].matches('\n').count();
        Point::new(row, at - text[..at].rfind('\n').map_or(0, |newline| newline + 1))
    };
    let mut edited = text.to_owned();
    edit.apply(&mut edited);
    let new_end = edit.range.start + edit.inserted.len();
    InputEdit {
        start_byte: edit.range.start,
        old_end_byte: edit.range.end,
        new_end_byte: new_end,
        start_position: point(text, edit.range.start),
        old_end_position: point(text, edit.range.end),
        new_end_position: point(&edited, new_end),
    }
}

fn shape(tree: &Tree) -> String {
    fn show(node: Node<'_>, depth: usize, shown: &mut String) {
        writeln!(shown, "{:depth$}{} {:?}", "", node.kind(), node.byte_range()).unwrap();
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            show(child, depth + 1, shown);
        }
    }
    let mut shown = String::new();
    show(tree.root_node(), 0, &mut shown);
    shown
}

/// The shortest time of some attempts. It is that of the processor for this thread, since other programs may keep the machine busy.
fn time(parser: &mut Parser, text: &str, attempts: usize) -> Duration {
    let now = || Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap();
    let measure = |_| {
        let start = now();
        parser.parse(text, None).unwrap();
        now() - start
    };
    (0..attempts).map(measure).min().unwrap()
}

/// Fails when eight times the text takes more than 24 times as long. Quadratic time would be 64 times as long. Longer texts have
/// the last word: between the shorter ones lies the size of what the processor keeps close.
#[track_caller]
fn assert_linear(parser: &mut Parser, what: &str, text_of_size: impl Fn(usize) -> String) {
    let mut shown = String::new();
    for size in [4_000, 64_000] {
        let (small, large) = (text_of_size(size), text_of_size(8 * size));
        let (mut short, mut long) = (Duration::MAX, Duration::MAX);
        for _ in 0..5 {
            short = short.min(time(parser, &small, 1));
            long = long.min(time(parser, &large, 1));
            if long < short * 24 + Duration::from_millis(20) {
                return;
            }
        }
        write!(shown, " {short:?}, then {long:?} for eight times the text;").unwrap();
    }
    panic!("{what}:{shown}");
}

#[test]
fn repeated_text_takes_time_in_proportion_to_its_length() {
    check_repeated(&[""]);
}

#[test]
#[ignore = "takes a minute"]
fn repeated_text_behind_something_takes_time_in_proportion_to_its_length() {
    check_repeated(mutants::OPENERS);
}

fn check_repeated(openers: &[&str]) {
    let mut parser = parser();
    for opener in openers {
        for unit in UNITS {
            assert_linear(&mut parser, &format!("{opener:?} and {unit:?}"), |size| {
                format!("{opener}{}", unit.repeat(size / unit.len()))
            });
        }
    }
}

/// The time for each byte of mutated programs one below the other, from 10 kB to 1 MB, which must not grow with the text.
#[test]
fn mutated_programs_take_time_in_proportion_to_their_length() {
    let programs = programs();
    let mut parser = parser();
    let mut random = Rng::with_seed(11);
    let mut mutants = String::new();
    while mutants.len() < 10_000 {
        mutants.push_str(&mutant(&programs[random.usize(..programs.len())], &mut random));
        mutants.push_str("\nsession \"next\"\n");
    }
    let mut per_byte = Vec::new();
    for times in [1, 10, 100] {
        let text = mutants.repeat(times);
        let nanoseconds = time(&mut parser, &text, 5).as_nanos() as f64 / text.len() as f64;
        println!("{:9} bytes: {nanoseconds:6.1} ns for each byte", text.len());
        per_byte.push(nanoseconds);
    }
    assert!(
        per_byte[2] < 3.0 * per_byte[0] && per_byte[1] < 3.0 * per_byte[0],
        "{per_byte:?} ns for each byte"
    );
}

/// Scanner and parser with the checks of the compiler for memory and for what C leaves undefined. `PROSE_GRAMMAR_MUTANTS` says on how many programs.
#[test]
#[ignore = "needs gcc with its sanitizers"]
fn mutated_programs_break_no_rule_of_c() {
    let folder = prose_fixture::tempdir().unwrap();
    let mutants = number("PROSE_GRAMMAR_MUTANTS").unwrap_or(MUTANTS);
    let programs = programs();
    let mut random = Rng::with_seed(3);
    let mut bytes = Vec::new();
    let mut add = |text: &str| {
        bytes.extend_from_slice(&u32::try_from(text.len()).unwrap().to_le_bytes());
        bytes.extend_from_slice(text.as_bytes());
    };
    for turn in 0..mutants {
        add(&mutant(&programs[turn % programs.len()], &mut random));
    }
    for opener in mutants::OPENERS {
        for unit in UNITS {
            add(&format!("{opener}{}", unit.repeat(400)));
        }
    }
    let texts = folder.path().join("texts");
    fs::write(&texts, bytes).unwrap();
    let driver = compile_driver(folder.path());
    let output = Command::new(driver).arg(&texts).output().unwrap();
    let (said, complaints) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && complaints.is_empty(), "{said}{complaints}");
    let count = mutants + mutants::OPENERS.len() * UNITS.len();
    assert_eq!(said, format!("{count} texts\n"));
}

fn compile_driver(folder: &Path) -> PathBuf {
    let library = library();
    let grammar = repository().join("syntaxes/tree-sitter-prose/src");
    let driver = folder.join("driver");
    let output = Command::new("gcc")
        .args(["-std=c11", "-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"])
        .args(["-D_DEFAULT_SOURCE", "-D_BSD_SOURCE", "-w"])
        .arg("-I")
        .arg(library.join("include"))
        .arg("-I")
        .arg(library.join("src"))
        .arg(repository().join("tests/tests/it/tree_sitter_mutations/driver.c"))
        .args([library.join("src/lib.c"), grammar.join("parser.c"), grammar.join("scanner.c")])
        .arg("-o")
        .arg(&driver)
        .output()
        .expect("gcc starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    driver
}

/// Where cargo keeps the source of the library that runs the grammar.
fn library() -> PathBuf {
    // Cargo has downloaded the packages for this platform alone.
    let options = ["--locked", "--offline", "--filter-platform", &host()];
    let metadata = cargo_metadata::MetadataCommand::new()
        .manifest_path(repository().join("Cargo.toml"))
        .other_options(options.map(str::to_owned))
        .exec()
        .unwrap();
    let package = metadata.packages.iter().find(|package| package.name == "tree-sitter").unwrap();
    package.manifest_path.parent().unwrap().into()
}

/// The platform that tests are built for.
fn host() -> String {
    let output = Command::new("rustc").arg("-vV").output().expect("rustc starts");
    let version = String::from_utf8(output.stdout).unwrap();
    version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap().to_owned()
}
