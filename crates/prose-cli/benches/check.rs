//! The whole command, as a process: starting up, and checking a folder on one and on several threads.
//!
//! `cargo bench -p prose-cli` runs it; the official programs are part of it if `tests/fetch-official-programs` has fetched
//! them.

#![allow(missing_docs, reason = "the macros of criterion generate public functions")]

use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use criterion::{Criterion, SamplingMode, Throughput, criterion_group, criterion_main};

fn prose(arguments: &[&str], path: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_prose"));
    // What registries take is not what is measured.
    command.env("PROSE_OFFLINE", "1");
    command.args(arguments).arg(path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn run(command: &mut Command) {
    command.status().expect("the command starts");
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The allocator of the command, so that parsing in this process costs what it costs there.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// A program of about 5 KB without findings.
fn program() -> String {
    let mut text = "input change: \"The change to review\"\n\n".to_owned();
    for part in ["parser", "lexer", "printer", "driver", "tests", "docs", "tools", "server"] {
        text += &format!(
            r#"# Looks at the {part}, then decides.
agent {part}-reviewer:
  model: sonnet
  prompt: """
    You review changes of the {part}.
    Be short, and name the file and the line of each mistake.
  """

block mend-{part}(problem, rounds):
  let patch = session "Mend the {part}: {{problem}}"
    context: change
  if **the patch mends {{problem}} for good** or rounds <= 0:
    output patch
  output do mend-{part}(patch, rounds - 1)

parallel:
  {part}_review = session: {part}-reviewer
    prompt: "Review the {part}"
    context: change
  {part}_tests = session "Run the tests of the {part}"
    retry: 2
    backoff: exponential

if **{{{part}_review}} found a mistake**:
  let {part}_patch = do mend-{part}({part}_review, 3)
  session "Note what was mended in the {part}"
    context: {{ {part}_patch, {part}_tests }}

"#
        );
    }
    text
}

/// Programs in folders of a hundred.
fn many_programs(count: usize) -> tempfile::TempDir {
    let text = program();
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    for number in 0..count {
        let path = folder.path().join(format!("{:02}/{number:04}.prose", number / 100));
        fs::create_dir_all(path.parent().unwrap_or(&path)).expect("folders can be made");
        fs::write(path, &text).expect("files can be written");
    }
    folder
}

/// Reads and parses the programs, without asking for anything else, on so many threads.
fn read_and_parse(folder: &Path, threads: usize) {
    let folders: Vec<PathBuf> =
        fs::read_dir(folder).expect("the folder is there").flatten().map(|entry| entry.path()).collect();
    std::thread::scope(|scope| {
        for share in folders.chunks(folders.len().div_ceil(threads)) {
            scope.spawn(move || {
                for program in
                    share.iter().flat_map(|folder| fs::read_dir(folder).expect("it is there")).flatten()
                {
                    let text = fs::read_to_string(program.path()).expect("programs are text");
                    black_box(prose_syntax::parse(&text));
                }
            });
        }
    });
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
        let threads = threads.parse().expect("it is a number");
        group.bench_function(format!("read and parse alone, {threads} threads"), |bencher| {
            bencher.iter(|| read_and_parse(programs.path(), threads));
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
