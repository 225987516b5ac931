//! Lexing, parsing and walking, next to a flat tree built from the same tokens.
//!
//! `PROSE_OFFICIAL` may name a folder of programs to join into the text; without it the repository's own examples are used.

use std::hint::black_box;
use std::path::Path;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use prose_syntax::{TextRange, TextSize, bench, parse};

fn programs(folder: &Path, text: &mut String) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut paths: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            programs(&path, text);
        } else if path.extension().is_some_and(|extension| extension == "prose") {
            text.push_str(&std::fs::read_to_string(&path).unwrap_or_default());
        }
    }
}

/// Real programs, joined.
fn corpus() -> String {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let folder = std::env::var_os("PROSE_OFFICIAL").map_or(examples, Into::into);
    let mut text = String::new();
    programs(&folder, &mut text);
    assert!(!text.is_empty(), "no programs in {}", folder.display());
    text
}

/// The corpus repeated up to about `len` bytes.
fn repeated(corpus: &str, len: usize) -> String {
    corpus.repeat(len / corpus.len() + 1)
}

fn benches(c: &mut Criterion) {
    let corpus = corpus();
    for (name, text) in [("programs", corpus.clone()), ("1 MB", repeated(&corpus, 1_000_000))] {
        let mut group = c.benchmark_group(name);
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function("lex", |b| b.iter(|| bench::lex(black_box(&text))));
        group.bench_function("flat tree", |b| b.iter(|| bench::flat_tree(black_box(&text))));
        group.bench_function("parse", |b| b.iter(|| parse(black_box(&text))));
        let parsed = parse(&text);
        group.bench_function("tree text", |b| b.iter(|| parsed.syntax().text().to_string()));
        group.finish();
    }

    let mut group = c.benchmark_group("edit");
    for lines in [200, 5_000, 50_000] {
        let text: String = repeated(&corpus, lines * 60).split_inclusive('\n').take(lines).collect();
        let parsed = parse(&text);
        let at = text[text.len() / 2..].find("session \"").map_or(0, |at| text.len() / 2 + at + 9);
        let mut edited = text.clone();
        edited.insert(at, 'x');
        let range = TextRange::empty(TextSize::new(at as u32));
        group.bench_with_input(BenchmarkId::new("reparse", lines), &lines, |b, _| {
            b.iter(|| parsed.reparse(range, TextSize::new(1), black_box(&edited)))
        });
    }
    group.finish();
}

criterion_group!(parsing, benches);
criterion_main!(parsing);
