//! The whole command, as a process: starting up, and checking a folder on one and on several threads.
//!
//! `cargo bench -p prose-cli` runs it; the official programs are part of it if `tests/fetch-official-programs` has fetched
//! them.

#![allow(missing_docs, reason = "the macros of criterion generate public functions")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use criterion::{Criterion, SamplingMode, Throughput, criterion_group, criterion_main};

fn prose(arguments: &[&str], path: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_prose"));
    command.args(arguments).arg(path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn run(command: &mut Command) {
    command.status().expect("the command starts");
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Programs of about 5 KB, made of the examples, in folders of a hundred.
fn many_programs(count: usize) -> tempfile::TempDir {
    let example =
        |name: &str| fs::read_to_string(repository().join("examples").join(name)).expect("it is there");
    let text = ["release-notes.prose", "code-review.prose", "incident.prose"].map(example).concat();
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    for number in 0..count {
        let path = folder.path().join(format!("{:02}/{number:04}.prose", number / 100));
        fs::create_dir_all(path.parent().unwrap_or(&path)).expect("folders can be made");
        fs::write(path, &text).expect("files can be written");
    }
    folder
}

fn start_up(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("start-up");
    let hello = repository().join("examples/hello.prose");
    group.bench_function("check hello.prose", |bencher| bencher.iter(|| run(&mut prose(&["check"], &hello))));
    if cfg!(unix) {
        group.bench_function("/bin/true", |bencher| bencher.iter(|| run(&mut Command::new("/bin/true"))));
    }
    group.finish();
}

fn folder(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("check 2,000 files");
    let programs = many_programs(2000);
    let size: u64 =
        2000 * fs::metadata(programs.path().join("00/0000.prose")).map_or(0, |metadata| metadata.len());
    group.sampling_mode(SamplingMode::Flat).sample_size(20).throughput(Throughput::Bytes(size));
    for threads in ["1", "2"] {
        group.bench_function(format!("{threads} threads"), |bencher| {
            bencher.iter(|| run(&mut prose(&["check", "--threads", threads], programs.path())));
        });
    }
    group.finish();
}

fn one_file(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("check one file");
    let example = fs::read_to_string(repository().join("examples/hello.prose")).expect("it is there");
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let path = folder.path().join("large.prose");
    fs::write(&path, example.repeat((1 << 20) / example.len())).expect("files can be written");
    group.sample_size(20).throughput(Throughput::Bytes(1 << 20));
    group.bench_function("1 MB", |bencher| bencher.iter(|| run(&mut prose(&["check"], &path))));
    group.finish();
}

fn official(criterion: &mut Criterion) {
    let folder = repository().join("tests/.cache/official");
    if folder.is_dir() {
        criterion.bench_function("check the official programs", |bencher| {
            bencher.iter(|| run(&mut prose(&["check"], &folder)));
        });
    }
}

criterion_group!(benches, start_up, one_file, folder, official);
criterion_main!(benches);
