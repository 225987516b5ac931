//! What analysis costs beside parsing, and an edit beside the file that it is in.
//!
//! The text is the programs below `PROSE_OFFICIAL` where that is set, and our own otherwise.

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use prose_analysis::diagnostics::diagnostics;
use prose_analysis::statements::parse;
use prose_analysis::{AnalysisHost, Text};
use prose_syntax::{TextRange, TextSize};

fn programs() -> Vec<String> {
    let root = std::env::var_os("PROSE_OFFICIAL")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples"), PathBuf::from);
    let mut texts = Vec::new();
    let mut folders = vec![root];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("the folder of programs can be read").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "prose") {
                texts.push(std::fs::read_to_string(path).expect("programs are text"));
            }
        }
    }
    assert!(!texts.is_empty());
    texts
}

fn beside_parsing(criterion: &mut Criterion) {
    let programs = programs();
    let mut group = criterion.benchmark_group("programs");
    group.bench_function("parse", |bencher| {
        bencher.iter(|| programs.iter().for_each(|text| _ = black_box(prose_syntax::parse(text))));
    });
    group.bench_function("analyse", |bencher| {
        bencher.iter(|| {
            let mut host = AnalysisHost::default();
            for (index, text) in programs.iter().enumerate() {
                let path = PathBuf::from(format!("/{index}.prose"));
                let file = host.set_text(&path, Text::new(&**text));
                black_box(diagnostics(host.db(), file).len());
            }
        });
    });
    group.finish();
}

/// A program of about so many lines without findings.
fn program(lines: usize) -> String {
    let mut text = "let change = session \"Describe the change\"\n\n".to_owned();
    for index in 0..lines / 20 {
        text += &format!(
            "agent reviewer_{index}:\n  model: sonnet\n  prompt: \"\"\"\n    You review changes.\n    Be short.\n  \"\"\"\n\n\
             let review_{index} = session: reviewer_{index}\n  prompt: \"Review part {index} of the change\"\n  context: [change]\n\n\
             if **the review of part {index} found a mistake**:\n  session \"Mend part {index} as {{review_{index}}} says\"\n    \
             context: review_{index}\nelse:\n  session \"Note that part {index} is fine\"\n\n"
        );
    }
    text
}

/// A program of about so many lines that is nothing but short statements, two on three lines.
fn dense_program(lines: usize) -> String {
    let pairs = (0..lines / 3).map(|index| {
        format!("let note_{index} = session \"Write note {index}\"\nsession \"Review {{note_{index}}} for part {index}\"\n\n")
    });
    pairs.collect()
}

/// The diagnostics of a whole file after something was typed into the line in its middle that has `marker`, and after it was removed again.
fn edits(criterion: &mut Criterion, name: &str, program: fn(usize) -> String, marker: &str, typed: &str) {
    let mut group = criterion.benchmark_group(name);
    for lines in [200, 5_000, 50_000] {
        let mut text = program(lines);
        let at = text.len() / 2 + text[text.len() / 2..].find(marker).expect("the marker is there");
        let path = Path::new("/main.prose");
        let mut host = AnalysisHost::default();
        let file = host.set_text(path, Text::new(&*text));
        diagnostics(host.db(), file);
        group.bench_function(BenchmarkId::from_parameter(lines), |bencher| {
            bencher.iter(|| {
                let comes = !text[at..].starts_with(typed);
                let before = Arc::clone(parse(host.db(), file));
                let (range, inserted) = if comes { (at..at, typed) } else { (at..at + typed.len(), "") };
                text.replace_range(range.clone(), inserted);
                let range =
                    TextRange::new(TextSize::new(range.start as u32), TextSize::new(range.end as u32));
                host.set_text(path, Text::edited(&*text, before, range, TextSize::of(inserted)));
                black_box(diagnostics(host.db(), file).len())
            });
        });
    }
    group.finish();
}

fn one_edit(criterion: &mut Criterion) {
    edits(criterion, "edit of a prompt", program, "Review part", "x");
    edits(criterion, "edit of a prompt among many statements", dense_program, "Write note", "x");
    edits(criterion, "a statement more", dense_program, "let note", "let one_more = session \"One more\"\n");
}

criterion_group!(benches, beside_parsing, one_edit);
criterion_main!(benches);
