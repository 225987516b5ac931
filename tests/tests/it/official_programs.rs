//! The parser on the programs that the makers of the language publish, and on the examples in their documents.

#[path = "../../../crates/prose-syntax/tests/it/invariants/mod.rs"]
mod invariants;

use std::collections::BTreeMap;

use expect_test::{Expect, expect};
use invariants::isolation::{GARBAGE, Lines, Original};
use prose_analysis::diagnostics::diagnostics;
use prose_analysis::{AnalysisHost, Text};
use prose_syntax::{Diagnostic, Profile, Severity};
use prose_tests::{PLANNED, official_files};

/// Where the keywords are other words, in an experiment that no program uses.
const OTHER_REGISTERS: &[&str] = &["alts/", "alt-borges.md"];

fn errors(diagnostics: &[Diagnostic]) -> impl Iterator<Item = &Diagnostic> {
    diagnostics.iter().filter(|diagnostic| diagnostic.severity() == Severity::Error)
}

/// How many diagnostics of each code there are.
#[track_caller]
fn check_counts<'a>(diagnostics: impl Iterator<Item = &'a Diagnostic>, expected: Expect) {
    let mut counts = BTreeMap::new();
    for diagnostic in diagnostics {
        *counts.entry(diagnostic.code).or_insert(0) += 1;
    }
    let shown: String = counts.iter().map(|(code, count)| format!("{code} {count}\n")).collect();
    expected.assert_eq(&shown);
}

#[test]
#[ignore = "needs the official programs, see tests/fetch-official-programs"]
fn the_programs_have_lossless_trees_and_no_errors() {
    let (mut sound, mut planned, mut failures) = (Vec::new(), Vec::new(), String::new());
    for (name, text) in official_files("prose") {
        let parsed = invariants::check_parse(&text);
        if name.starts_with(PLANNED) {
            planned.extend_from_slice(parsed.diagnostics());
            continue;
        }
        for error in errors(parsed.diagnostics()) {
            let line = Lines::new(&text).line_of(error.range.start().into()) + 1;
            failures.push_str(&format!("{name}:{line}: {}: {}\n", error.code, error.message));
        }
        sound.extend_from_slice(parsed.diagnostics());
    }
    assert!(failures.is_empty(), "{failures}");
    check_counts(
        sound.iter(),
        expect![[r#"
        W103 4
    "#]],
    );
    check_counts(
        planned.iter(),
        expect![[r#"
        E108 3
        W102 2
        W103 4
    "#]],
    );
}

const OLD: &str = "`import … from` registers a skill, and is no import of a program";
const FRAME: &str = "the name is bound in the block that is called above, whose variables are gone behind it";
const ANSWER: &str = "the program waits for the answer, and then does the same whatever it is; or a condition speaks of it without its name, which nothing hands to the model";
const LET: &str = "`let` declares again, in a body without a scope of its own, what the lines above declare";
const KIND: &str = "the reference knows the permissions read, write, bash and network";
const ALONE: &str =
    "the prompt speaks of what an earlier session found or made, or of a variable, and nothing passes it";
const CALL: &str = "the language has no such call, and no line imports a program of that name";

/// What the analysis reports in the default profile, above hints: program, line, code, and why it is right.
const FINDINGS: &[(&str, usize, &str, &str)] = &[
    ("examples/02-research-and-summarize.prose", 6, "W148", ALONE),
    ("examples/03-code-review.prose", 17, "W148", ALONE),
    ("examples/04-write-and-refine.prose", 8, "W148", ALONE),
    ("examples/04-write-and-refine.prose", 11, "W148", ALONE),
    ("examples/05-debug-issue.prose", 11, "W148", ALONE),
    ("examples/07-refactor.prose", 14, "W148", ALONE),
    ("examples/08-blog-post.prose", 11, "W148", ALONE),
    ("examples/10-code-review-agents.prose", 32, "W148", ALONE),
    ("examples/11-skills-and-imports.prose", 27, "W148", ALONE),
    ("examples/12-secure-agent-permissions.prose", 43, "W148", ALONE),
    ("examples/27-string-interpolation.prose", 18, "W148", ALONE),
    ("examples/11-skills-and-imports.prose", 5, "W103", OLD),
    ("examples/11-skills-and-imports.prose", 6, "W103", OLD),
    ("examples/11-skills-and-imports.prose", 7, "W103", OLD),
    ("examples/12-secure-agent-permissions.prose", 5, "W103", OLD),
    (
        "examples/28-gas-town.prose",
        1214,
        "W127",
        "a `-` for a `_` in the name of an input that is filled in all around it",
    ),
    ("examples/29-captains-chair.prose", 147, "W107", FRAME),
    ("examples/29-captains-chair.prose", 148, "W107", FRAME),
    ("examples/29-captains-chair.prose", 149, "W107", FRAME),
    ("examples/29-captains-chair.prose", 150, "W107", FRAME),
    ("examples/29-captains-chair.prose", 192, "W107", FRAME),
    (
        "examples/34-content-pipeline.prose",
        14,
        "W007",
        "no line imports the skill, so it is for the host to have it",
    ),
    ("examples/39-architect-by-simulation.prose", 187, "W119", ANSWER),
    ("examples/44-run-endpoint-ux-test.prose", 165, "W105", LET),
    ("examples/45-plugin-release.prose", 90, "W119", ANSWER),
    ("examples/45-run-endpoint-ux-test-with-remediation.prose", 295, "W105", LET),
    ("examples/45-run-endpoint-ux-test-with-remediation.prose", 329, "W008", KIND),
    ("examples/45-run-endpoint-ux-test-with-remediation.prose", 362, "W008", KIND),
    ("examples/45-run-endpoint-ux-test-with-remediation.prose", 410, "W008", KIND),
    ("examples/45-run-endpoint-ux-test-with-remediation.prose", 424, "W105", LET),
    ("examples/45-run-endpoint-ux-test-with-remediation.prose", 432, "W008", KIND),
    ("examples/45-run-endpoint-ux-test-with-remediation.prose", 489, "W008", KIND),
    ("examples/45-run-endpoint-ux-test-with-remediation.prose", 575, "W105", LET),
    ("examples/46-run-endpoint-ux-test-fast.prose", 22, "E025", CALL),
    ("examples/46-run-endpoint-ux-test-fast.prose", 23, "E025", CALL),
    ("examples/46-run-endpoint-ux-test-fast.prose", 78, "E025", CALL),
    ("examples/46-run-endpoint-ux-test-fast.prose", 137, "E025", CALL),
    (
        "examples/48-habit-miner.prose",
        252,
        "E018",
        "`persist: true` lasts for one run, and nothing in this one has spawned the agent before",
    ),
    ("examples/49-prose-run-retrospective.prose", 135, "W119", ANSWER),
];

#[test]
#[ignore = "needs the official programs, see tests/fetch-official-programs"]
fn the_programs_have_no_errors_and_known_warnings() {
    let root = prose_tests::official_programs();
    let (mut found, mut shown) = (Vec::new(), String::new());
    for (name, text) in prose_tests::sound_official_programs() {
        let mut host = AnalysisHost::default();
        let file = host.set_text(&root.join(&name), Text::new(&*text));
        host.load_imports(file, |path| std::fs::read_to_string(path).ok());
        let lines = Lines::new(&text);
        for diagnostic in diagnostics(host.db(), file).iter() {
            let Some(severity) = diagnostic.level(Profile::Default).severity() else { continue };
            if severity == Severity::Hint {
                continue;
            }
            let line = lines.line_of(diagnostic.range.start().into()) + 1;
            let code = diagnostic.code.as_str();
            shown.push_str(&format!("{name}:{line}: {severity}[{code}] {}\n", diagnostic.message));
            assert_ne!(severity, Severity::Error, "{shown}");
            found.push((name.clone(), line, code));
        }
    }
    println!("{shown}");
    let mut known: Vec<_> =
        FINDINGS.iter().map(|(name, line, code, _)| ((*name).to_owned(), *line, *code)).collect();
    known.sort();
    found.sort();
    assert_eq!(found, known);
}

#[test]
#[ignore = "needs the official programs, see tests/fetch-official-programs"]
fn garbage_in_one_line_of_a_program_changes_nothing_elsewhere() {
    // All lines with all garbage take a quarter of an hour. Each line gets some, and all garbage has its turn.
    let turns = prose_fixture::number("PROSE_GARBAGE_TURNS").unwrap_or(2);
    let mut garbage = GARBAGE.iter().cycle();
    let mut failures = String::new();
    for (name, text) in official_files("prose") {
        let original = Original::new(&text);
        for line in original.replaceable() {
            for garbage in garbage.by_ref().take(turns) {
                if let Some(violation) = original.violation(line, garbage) {
                    let (hidden, created) = (violation.hidden, violation.created);
                    failures.push_str(&format!(
                        "{name}:{}: {garbage:?} hides {hidden:?} and creates {created:?}\n",
                        line + 1
                    ));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

/// A fenced block of a document.
struct Block {
    /// The line of its fence, from 1.
    line: usize,
    text: String,
}

/// The blocks of `document` that are marked as programs, without the indentation of the list they may stand in.
fn blocks(document: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut lines = document.lines().enumerate();
    while let Some((index, line)) = lines.next() {
        let fence = line.trim_start();
        if !fence.starts_with("```") {
            continue;
        }
        let ticks = fence.len() - fence.trim_start_matches('`').len();
        let closer = &fence[..ticks];
        let content: Vec<&str> = lines
            .by_ref()
            .map(|(_, line)| line)
            .take_while(|line| {
                !(line.trim_start().starts_with(closer) && line.trim().bytes().all(|b| b == b'`'))
            })
            .collect();
        if fence[ticks..].trim() != "prose" {
            continue;
        }
        let margin = line.len() - fence.len();
        let dedented = content.iter().map(|line| {
            let own = line.len() - line.trim_start_matches(' ').len();
            format!("{}\n", &line[own.min(margin)..])
        });
        blocks.push(Block { line: index + 1, text: dedented.collect() });
    }
    blocks
}

/// Tells a block from its later versions without showing it (FNV-1a).
fn hash(text: &str) -> String {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    format!("{:08x}", hash >> 32)
}

const SKETCH: &str = "a sketch with a word in the place of the statements of a body";
const TIMES: &str = "`loop N times`, which this language writes as `repeat N`";

/// The blocks that are no programs: document, line, hash, and the reason.
const NO_PROGRAMS: &[(&str, usize, &str, &str)] = &[
    ("compiler.md", 232, "87a3a917", "a literal alone, which is no statement"),
    ("compiler.md", 1073, "b358677b", SKETCH),
    ("compiler.md", 1101, "738f25c1", SKETCH),
    ("compiler.md", 1142, "3a11f80d", SKETCH),
    ("compiler.md", 1777, "9c3b3c5f", SKETCH),
    ("compiler.md", 2304, "331ca774", SKETCH),
    ("compiler.md", 2423, "b63c15ad", SKETCH),
    ("compiler.md", 2430, "85816a6d", SKETCH),
    ("compiler.md", 2439, "623a2318", SKETCH),
    ("guidance/antipatterns.md", 838, "06cd6bb1", TIMES),
    ("guidance/patterns.md", 290, "f3360778", TIMES),
    ("help.md", 102, "583a29e9", "a table of forms with ellipses, one of them a whole `try` on one line"),
];

#[test]
#[ignore = "needs the official programs, see tests/fetch-official-programs"]
fn the_examples_of_the_documents_have_no_errors() {
    let mut failures = String::new();
    let mut excused = Vec::new();
    let mut count = 0;
    for (name, text) in official_files("md") {
        if OTHER_REGISTERS.iter().any(|other| name.starts_with(other)) {
            continue;
        }
        for Block { line, text } in blocks(&text) {
            count += 1;
            let parsed = invariants::check_parse(&text);
            let hash = hash(&text);
            let errors: Vec<_> = errors(parsed.diagnostics()).collect();
            let excuse =
                NO_PROGRAMS.iter().find(|(file, at, of, _)| (*file, *at, *of) == (&*name, line, &*hash));
            match (excuse, errors.is_empty()) {
                (Some(&excuse), false) => excused.push(excuse),
                (Some(_), true) => failures.push_str(&format!("{name}:{line} {hash} has no errors\n")),
                (None, true) => {}
                (None, false) => {
                    let lines = Lines::new(&text);
                    let shown: Vec<String> = errors
                        .iter()
                        .map(|error| {
                            let at = line + 1 + lines.line_of(error.range.start().into());
                            format!("  line {at}: {}: {}\n", error.code, error.message)
                        })
                        .collect();
                    failures.push_str(&format!("{name}:{line} {hash}\n{}", shown.concat()));
                }
            }
        }
    }
    for excuse in NO_PROGRAMS {
        if !excused.contains(excuse) {
            failures.push_str(&format!("there is no block like that: {excuse:?}\n"));
        }
    }
    assert!(failures.is_empty(), "{failures}");
    expect!["283"].assert_eq(&count.to_string());
}
