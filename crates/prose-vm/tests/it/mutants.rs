//! Programs with slips, through everything: `fmt` changes nothing twice and no finding, and what `check` finds no error in can be compiled and
//! run, and fails only by what no check can know.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use fastrand::Rng;
use prose_analysis::Text;
use prose_analysis::diagnostics::diagnostics;
use prose_analysis::host::AnalysisHost;
use prose_format::{canonical, format};
use prose_harness::script::Script;
use prose_syntax::{Code, Severity};
use prose_vm::budget::Budget;
use prose_vm::error::{ErrorKind, RuntimeError};
use prose_vm::event::RunStatus;
use prose_vm::program::Program;
use prose_vm::runner::Limits;

use crate::official_programs::{Anything, programs_in};
use crate::support::{Ran, Setup, run_program};

/// So many of each hundred are made of short programs: those go through everything quickly, and have as many constructs as the long ones.
const SHORT: usize = 95;

/// A program with more bytes is a long one.
const SHORTEST_LONG: usize = 2500;

/// Answers that depend on what is asked and not on where, since the canonical form has its statements at other places.
const ANSWERS: &str = include_str!("../../../../tests/data/answers.toml");

/// A program to make slips in.
struct Sample {
    path: PathBuf,
    text: String,
}

/// Our examples and the programs of the table of codes, wrong ones too.
fn samples() -> Vec<Sample> {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut samples = below(&examples);
    let programs = Code::ALL.iter().flat_map(|code| [code.info().wrong, code.info().right]);
    let alone = programs.filter(|program| !program.starts_with("//- ") && program.len() < SHORTEST_LONG);
    samples.extend(alone.map(|text| Sample { path: examples.join("table.prose"), text: text.to_owned() }));
    samples
}

fn below(root: &Path) -> Vec<Sample> {
    programs_in(root).into_iter().map(|(name, text)| Sample { path: root.join(name), text }).collect()
}

/// The program after one or two slips.
fn mutant(text: &str, random: &mut Rng) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let words: Vec<String> =
        text.split(|c: char| !is_word(c)).filter(|word| !word.is_empty()).map(str::to_owned).collect();
    for _ in 0..random.usize(1..=2) {
        if lines.is_empty() {
            break;
        }
        let at = random.usize(..lines.len());
        let other = random.usize(..lines.len());
        match random.u8(..10) {
            0 => lines.swap(at, other),
            1 => drop(lines.remove(at)),
            2 => lines.insert(other, lines[at].clone()),
            3 => {
                let line = lines.remove(at);
                lines.insert(other.min(lines.len()), line);
            }
            4 => lines[at].insert_str(0, "  "),
            5 => {
                let spaces = lines[at].len() - lines[at].trim_start_matches(' ').len();
                lines[at].replace_range(..random.usize(..=spaces), "");
            }
            6 => {
                // A block of lines moves deeper.
                for line in lines.iter_mut().skip(at).take(random.usize(1..4)) {
                    line.insert_str(0, "  ");
                }
            }
            _ => lines[at] = with_other_token(&lines[at], &words, random),
        }
    }
    lines.join("\n") + "\n"
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-')
}

/// The line with a token lost, doubled, misspelt, or in the place of another.
fn with_other_token(line: &str, words: &[String], random: &mut Rng) -> String {
    const SIGNS: &[&str] =
        &[":", ",", "(", ")", "[", "]", "{", "}", "\"", "=", "**", "->", "|", ".", " ", "do ", "session "];
    let mut tokens: Vec<&str> = Vec::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|c: char| is_word(c) != is_word(first)).unwrap_or(rest.len());
        // Signs stand for themselves.
        let end = if is_word(first) { end } else { first.len_utf8() };
        tokens.push(&rest[..end]);
        rest = &rest[end..];
    }
    if tokens.is_empty() {
        return random.choice(words).cloned().unwrap_or_default();
    }
    let at = random.usize(..tokens.len());
    let mut tokens: Vec<String> = tokens.into_iter().map(str::to_owned).collect();
    match random.u8(..7) {
        0 => drop(tokens.remove(at)),
        1 => tokens.insert(at, tokens[at].clone()),
        2 => tokens.insert(at, random.choice(SIGNS).copied().unwrap_or_default().to_owned()),
        3 => {
            let other = random.usize(..tokens.len());
            tokens.swap(at, other);
        }
        4 => {
            let letters: Vec<usize> = tokens[at].char_indices().map(|(at, _)| at).collect();
            let letter = random.choice(letters).unwrap_or_default();
            tokens[at].remove(letter);
        }
        _ => {
            let places: Vec<usize> =
                (0..tokens.len()).filter(|at| tokens[*at].starts_with(is_word)).collect();
            if let (Some(place), Some(word)) = (random.choice(places), random.choice(words)) {
                tokens[place].clone_from(word);
            }
        }
    }
    tokens.concat()
}

/// What is found in a program, and the program to run if that is no error.
struct Checked {
    /// With the text that each is about.
    found: Vec<(Code, Severity, String)>,
    program: Arc<Program>,
}

impl Checked {
    fn new(path: &Path, text: &str) -> Self {
        let mut host = AnalysisHost::default();
        let file = host.set_text(path, Text::new(text));
        host.load_imports(file, |path| std::fs::read_to_string(path).ok());
        let found = diagnostics(host.db(), file).iter();
        let found = found.map(|found| (found.code, found.severity(), text[found.range].to_owned()));
        Self { found: found.collect(), program: Program::new(host.db(), file) }
    }

    fn has_errors(&self) -> bool {
        self.found.iter().any(|(_, severity, _)| *severity == Severity::Error)
    }

    /// How often each code is found. Places are others after a change of the layout, and tabs are gone.
    fn codes(&self) -> BTreeMap<Code, usize> {
        let mut codes = BTreeMap::new();
        for (code, _, _) in self.found.iter().filter(|(code, _, _)| *code != Code::E103) {
            *codes.entry(*code).or_default() += 1;
        }
        codes
    }

    fn run(&self) -> Ran {
        let script = Script::parse("answers.toml", ANSWERS, 0).unwrap_or_else(|errors| panic!("{errors}"));
        let mut setup = Setup::new(Arc::new(script));
        setup.settings.max_iterations = 3;
        setup.limits = Limits {
            max_parallel: 1,
            budget: Budget::sessions(60),
            allow_unenforced_permissions: true,
            ..Limits::default()
        };
        setup.inputs = Arc::new(Anything);
        run_program(Arc::clone(&self.program), setup)
    }
}

/// What is wrong with what becomes of a mutant.
fn fault(path: &Path, text: &str) -> Result<(), String> {
    let checked = Checked::new(path, text);
    let formatted = format(text);
    let again = format(&formatted);
    if again != formatted {
        return Err(format!(
            "formatting twice gives another program\n---- once\n{formatted}---- twice\n{again}"
        ));
    }
    let after = Checked::new(path, &formatted);
    if after.codes() != checked.codes() {
        return Err(format!(
            "other findings after formatting: {:?}, before {:?}\n---- formatted\n{formatted}",
            after.codes(),
            checked.codes()
        ));
    }
    if checked.has_errors() {
        return Ok(());
    }
    let compiled = canonical(text);
    let after = Checked::new(path, &compiled);
    if after.has_errors() {
        return Err(format!("the compiled program has errors: {:?}\n---- compiled\n{compiled}", after.found));
    }
    let (ran, again) = (checked.run(), after.run());
    if let Some(error) = ran.end.error.as_ref().filter(|_| ran.end.status == RunStatus::Failed) {
        known_failure(text, &checked, error).map_err(|()| {
            format!(
                "the run fails at line {}: {:?}: {error}; found was {:?}",
                error.line, error.kind, checked.found
            )
        })?;
    }
    let result = |ran: &Ran| {
        let error = ran.end.error.as_ref().map(|error| error.kind);
        (ran.end.status, ran.end.sessions, ran.end.outputs.clone(), ran.end.value.clone(), error)
    };
    match result(&ran) == result(&again) {
        true => Ok(()),
        false => Err(format!(
            "the compiled program gives another result\n{:?}\n{:?}\n---- compiled\n{compiled}",
            result(&ran),
            result(&again)
        )),
    }
}

/// Whether a program without errors may fail so: by its own word, by what answers hold, by a limit, or by what it was warned of.
fn known_failure(text: &str, checked: &Checked, error: &RuntimeError) -> Result<(), ()> {
    const OF_NAMES: &[Code] = &[Code::E025, Code::W107, Code::W125, Code::W138];
    let is_warned = || {
        let mut found = checked.found.iter().filter(|(code, _, _)| OF_NAMES.contains(code));
        found.any(|(_, _, name)| error.message.contains(&format!("`{name}`")))
    };
    // What an agent passes to its sessions is looked up where they start.
    let line = (error.line as usize).saturating_sub(1);
    let is_of_agent = || text.lines().nth(line).is_some_and(|line| line.trim_start().starts_with("agent "));
    let is_known = match error.kind {
        ErrorKind::UnknownName => is_warned() || is_of_agent(),
        ErrorKind::Constant | ErrorKind::Other => false,
        _ => true,
    };
    if is_known { Ok(()) } else { Err(()) }
}

fn check_mutants(samples: &[Sample], seeds: std::ops::Range<u64>) {
    let (short, long): (Vec<_>, Vec<_>) =
        samples.iter().partition(|sample| sample.text.len() < SHORTEST_LONG);
    let next = AtomicU64::new(seeds.start);
    let faults: Mutex<Vec<String>> = Mutex::default();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= seeds.end {
                        break;
                    }
                    let mut random = Rng::with_seed(seed);
                    let is_short = long.is_empty() || random.usize(..100) < SHORT;
                    let sample =
                        random.choice(if is_short { &short } else { &long }).expect("there are programs");
                    let text = mutant(&sample.text, &mut random);
                    let fault = catch_unwind(AssertUnwindSafe(|| fault(&sample.path, &text)))
                        .unwrap_or_else(|_| Err("it panics".to_owned()));
                    if let Err(fault) = fault {
                        let name = sample.path.display();
                        faults
                            .lock()
                            .unwrap()
                            .push(format!("seed {seed}, {name}: {fault}\n---- the mutant\n{text}"));
                    }
                }
            });
        }
    });
    let faults = faults.into_inner().unwrap();
    let shown: Vec<&str> = faults.iter().take(10).map(String::as_str).collect();
    assert!(faults.is_empty(), "{} mutants are not handled:\n\n{}", faults.len(), shown.join("\n\n"));
}

#[test]
fn mutants_go_through_everything() {
    check_mutants(&samples(), 0..400);
}

#[test]
#[ignore = "needs the official programs, see tests/fetch-official-programs"]
fn ten_thousand_mutants_go_through_everything() {
    let mut samples = samples();
    let root = std::env::var("PROSE_OFFICIAL_PROGRAMS").expect("PROSE_OFFICIAL_PROGRAMS names their folder");
    samples.extend(below(Path::new(&root)));
    check_mutants(&samples, 0..prose_fixture::number("PROSE_MUTANTS").unwrap_or(10_000));
}
