//! One mistake, one diagnostic: single mistakes are planted into the programs that the makers of the language publish, and each must
//! be answered with one diagnostic on its line, and change nothing elsewhere.

mod kinds;
mod program;

use std::collections::BTreeMap;
use std::path::Path;

use kinds::KINDS;
use program::{Plant, Program};
use prose_analysis::diagnostics::diagnostics;
use prose_analysis::{AnalysisHost, Text};
use prose_syntax::{Code, Profile, Severity};

/// How many mistakes of each kind there are, if there are places for so many. Thousands are planted, for a few seconds.
const OF_EACH_KIND: usize = 40;

/// What is known to go another way: kind, program, line, and the reason.
const KNOWN: &[(&str, &str, usize, &str)] = &[
    (
        "missing closing quote",
        "examples/48-habit-miner.prose",
        79,
        "the array goes on from the line above, and the parser tells of its bracket too, which it does not find behind the string",
    ),
    (
        "missing opening bracket",
        "examples/41-rlm-divide-conquer.prose",
        38,
        "the input has become one word with the name of the block that is called, and nothing else uses it",
    ),
];

/// A diagnostic as it can be compared between two versions of a program.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Found {
    /// From 0.
    line: usize,
    code: Code,
    severity: Severity,
    message: String,
}

fn found(path: &Path, text: &str) -> Vec<Found> {
    let mut host = AnalysisHost::default();
    let file = host.set_text(path, Text::new(text));
    host.load_imports(file, |path| std::fs::read_to_string(path).ok());
    let reported = diagnostics(host.db(), file).iter().filter_map(|diagnostic| {
        let severity = diagnostic.level(Profile::Default).severity()?;
        let line = text[..usize::from(diagnostic.range.start())].matches('\n').count();
        Some(Found { line, code: diagnostic.code, severity, message: diagnostic.message.clone() })
    });
    reported.collect()
}

/// What is reported for a program with a mistake and not for the one without.
fn new_diagnostics(before: &[Found], after: Vec<Found>, program: &Program, plant: &Plant) -> Vec<Found> {
    let first = program.line_number(plant.range.start);
    let last = program.line_number(plant.range.end);
    let added = plant.with.matches('\n').count();
    // Where a line of the program is after the change. What stood on a changed line may be about the same thing as before.
    let is_line_put_before = plant.range.is_empty() && plant.with.ends_with('\n');
    let moved = |line: usize| match line > last || line == last && is_line_put_before {
        true => line - (last - first) + added,
        false => line,
    };
    let mut old: BTreeMap<(usize, Code), usize> = BTreeMap::new();
    for found in before {
        *old.entry((moved(found.line), found.code)).or_default() += 1;
    }
    after
        .into_iter()
        .filter(|found| match old.get_mut(&(found.line, found.code)) {
            Some(count) if *count > 0 => {
                *count -= 1;
                false
            }
            _ => true,
        })
        .collect()
}

#[test]
#[ignore = "needs the official programs, see tests/fetch-official-programs"]
fn each_of_300_mistakes_has_one_diagnostic_on_its_line() {
    let programs: Vec<Program> = prose_tests::sound_official_programs()
        .into_iter()
        .map(|(name, text)| Program::new(name, text))
        .collect();
    let root = prose_tests::official_programs();
    let before: Vec<Vec<Found>> =
        programs.iter().map(|program| found(&root.join(&program.name), &program.text)).collect();

    let mut chance = fastrand::Rng::with_seed(2026);
    let (mut planted, mut misses, mut hints) = (0, Vec::new(), BTreeMap::<Code, usize>::new());
    let mut shown = String::new();
    for (kind, plants) in KINDS {
        let mut candidates: Vec<(usize, Plant)> = programs
            .iter()
            .enumerate()
            .flat_map(|(index, program)| plants(program).into_iter().map(move |plant| (index, plant)))
            .collect();
        assert!(!candidates.is_empty(), "no program has a place for this mistake: {kind}");
        chance.shuffle(&mut candidates);
        // What is reported for a line already could not be told from what is new.
        let tellable = candidates.iter().filter(|(index, plant)| {
            let line = programs[*index].line_number(plant.range.start);
            before[*index].iter().all(|found| found.line != line || found.severity == Severity::Hint)
        });
        for (index, plant) in tellable.take(OF_EACH_KIND) {
            planted += 1;
            let program = &programs[*index];
            let text = plant.apply(&program.text);
            let new =
                new_diagnostics(&before[*index], found(&root.join(&program.name), &text), program, plant);
            let (new_hints, new): (Vec<Found>, Vec<Found>) =
                new.into_iter().partition(|found| found.severity == Severity::Hint);
            for hint in new_hints.iter().filter(|hint| hint.line != plant.line) {
                *hints.entry(hint.code).or_default() += 1;
            }
            if matches!(&new[..], [only] if only.line == plant.line) {
                continue;
            }
            misses.push((*kind, program.name.clone(), plant.line + 1));
            shown.push_str(&describe(kind, program, plant, &text, &new));
        }
    }

    println!("{planted} mistakes, {} misses\n\n{shown}", misses.len());
    println!("hints on other lines: {hints:?}");
    assert!(planted >= 300, "only {planted} mistakes are planted");
    assert!(misses.len() * 20 <= planted, "{} of {planted} mistakes are missed", misses.len());
    let mut known: Vec<(&str, String, usize)> =
        KNOWN.iter().map(|(kind, program, line, _)| (*kind, (*program).to_owned(), *line)).collect();
    known.sort();
    misses.sort();
    assert_eq!(misses, known);
}

/// A miss, as somebody would look at it.
fn describe(kind: &str, program: &Program, plant: &Plant, text: &str, new: &[Found]) -> String {
    let line = |text: &str, line: usize| text.lines().nth(line).unwrap_or_default().to_owned();
    let mut shown = format!("{}:{}: {kind}\n", program.name, plant.line + 1);
    if plant.range.is_empty() && plant.with.contains('\n') {
        shown.push_str(&format!("  + {}\n", plant.with.trim_end().replace('\n', "\n  + ")));
    } else {
        let before = program.line_number(plant.range.start);
        shown.push_str(&format!("  - {}\n  + {}\n", line(&program.text, before), line(text, plant.line)));
    }
    for Found { line: at, code, severity, message } in new {
        shown.push_str(&format!("    line {}: {severity}[{code}] {message}\n", at + 1));
        if *at != plant.line {
            shown.push_str(&format!("      {}\n", line(text, *at).trim()));
        }
    }
    if new.is_empty() {
        shown.push_str("    nothing\n");
    }
    shown + "\n"
}
