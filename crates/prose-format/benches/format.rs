//! Formatting a megabyte, next to parsing it: the target is less than five times as long.

use std::hint::black_box;
use std::path::Path;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use prose_format::{apply, edits, format};
use prose_syntax::parse;

fn format_a_megabyte(criterion: &mut Criterion) {
    let formatted = format(&repeated_examples(1_000_000));
    // Nearly every line changes, which is the most work there can be.
    let unformatted: String =
        formatted.lines().map(|line| format!("{0:1$}{line} \n", "", indentation(line))).collect();
    for (name, text) in [("formatted", &formatted), ("unformatted", &unformatted)] {
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Bytes(text.len() as u64)).sample_size(20);
        group.bench_function("parse", |bencher| bencher.iter(|| parse(black_box(text))));
        let parsed = parse(text);
        group.bench_function("format", |bencher| {
            bencher.iter(|| apply(text, &edits(black_box(&parsed), text)));
        });
        group.finish();
    }
}

/// The examples of the repository, one after the other, up to about so many bytes.
fn repeated_examples(length: usize) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    // What has mistakes is not formatted.
    paths.retain(|path| path.is_file() && !path.ends_with("mistakes.prose"));
    let text: String = paths.iter().filter_map(|path| std::fs::read_to_string(path).ok()).collect();
    text.repeat(length / text.len() + 1)
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

criterion_group!(benches, format_a_megabyte);
criterion_main!(benches);
