//! What tests with scripted answers cost: 200 cases of a program with sessions, conditions and a loop. They should take less than 2 seconds on two cores.

use std::fmt::Write as _;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use criterion::{Criterion, criterion_group, criterion_main};
use prose_test::{Job, RunOptions, Subject, TestFile, run_tests};

/// The allocator of the command, so that runs in this process cost what they cost there.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const PROGRAM: &str = r#"
input topic: "What about"

agent writer:
  prompt: "You write"

parallel:
  facts = session "Collect facts about {topic}"
  questions = session "Collect questions about {topic}"

let draft = session: writer
  prompt: "Write about {topic}"
  context: [facts, questions]
loop until **the draft is good** (max: 5):
  draft = session "Improve the draft"
    context: draft
output article = draft
"#;

fn cases(count: usize) -> String {
    let mut text = String::new();
    for case in 0..count {
        let written = write!(
            text,
            r#"
[[case]]
name = "case {case}"
inputs.topic = "topic {case}"
[[case.session]]
label = "Improve the draft"
reply = ["better", "good"]
[[case.session]]
reply = "a text about {case}"
[[case.condition]]
met = [false, false, true]
[case.expect]
outputs.article = "good"
sessions = {{ count = 5, order = ["facts", "draft"] }}
iterations = 2
errors = []
"#
        );
        debug_assert!(written.is_ok(), "writing to a string cannot fail");
    }
    text
}

fn scripted(criterion: &mut Criterion) {
    let options = RunOptions { jobs: NonZeroUsize::MIN.saturating_add(1), ..RunOptions::default() };
    let folder = std::env::temp_dir();
    let subject = Subject::of_text(&folder.join("main.prose"), PROGRAM);
    let mut group = criterion.benchmark_group("cases");
    group.sample_size(10);
    group.bench_function("200 scripted", |bencher| {
        bencher.iter(|| {
            let file = TestFile::read(Path::new("/main.test.toml"), &cases(200));
            let variants = file.variants();
            let jobs = [Job { file: Arc::new(file), subject: subject.clone(), variants }];
            let summary = run_tests(&jobs, &options, &mut |_| {});
            assert_eq!(summary.passed(), 200);
        });
    });
    group.finish();
}

criterion_group!(benches, scripted);
criterion_main!(benches);
