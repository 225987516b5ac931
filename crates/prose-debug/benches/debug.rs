//! What a debugger costs.
//!
//! * `step back`: from a random place in a run of ten thousand sessions, with the stack and the variables there.
//! * `run`: a run of a thousand sessions, alone and under a debugger without breakpoints.

use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use criterion::{Criterion, SamplingMode, criterion_group, criterion_main};
use prose_debug::Options;
use prose_run::{Project, Questions, RunHooks, RunRequest, Start, UserFiles, UserTrust, prepare};
use prose_vm::program::Program;
use serde_json::{Value as Json, json};
use tempfile::TempDir;

/// The allocator of the command, so that runs in this process cost what they cost there.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn program(sessions: usize) -> String {
    format!(
        "let topic = \"tides\"\nrepeat {sessions} as nth:\n  let found = session \"Look up {{topic}} {{nth}}\"\n"
    )
}

fn folder(sessions: usize) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    std::fs::write(folder.path().join("main.prose"), program(sessions)).expect("it can be written");
    std::fs::write(folder.path().join("prose.toml"), "[run]\nmax-iterations = 20000\n")
        .expect("it can be written");
    folder
}

fn trust(folder: &Path) -> UserTrust {
    UserTrust { files: UserFiles::at(folder.join("state")), is_trusted: true }
}

fn loaded(folder: &Path) -> (Arc<Program>, prose_project::load::Loaded) {
    let path = folder.join("main.prose");
    let loaded =
        prose_project::load::load(&path.to_string_lossy(), Default::default()).expect("it can be read");
    let program = loaded.program.as_ref().map(Arc::clone).unwrap_or_else(|refusal| panic!("{refusal}"));
    (program, loaded)
}

/// How long a run takes without a debugger.
fn alone(folder: &Path) -> Duration {
    let (program, loaded) = loaded(folder);
    let project = Project::new(folder);
    let mut request = RunRequest::new(program, project, Start::New, loaded.rules.config(), trust(folder));
    request.harness = Some("offline".to_owned());
    let begin = Instant::now();
    let prepared = prepare(request).unwrap_or_else(|error| panic!("{error}"));
    let finished = prepared.execute(RunHooks {
        questions: Questions::unanswered(),
        observer: &mut |_, _| {},
        interrupted: Box::pin(std::future::pending()),
        narration: None,
    });
    finished.unwrap_or_else(|error| panic!("{error}"));
    begin.elapsed()
}

/// A client of the debugger.
struct Client {
    output: PipeWriter,
    input: BufReader<PipeReader>,
    server: JoinHandle<std::io::Result<()>>,
}

impl Client {
    fn new(folder: &Path) -> Self {
        let (server_input, output) = std::io::pipe().expect("a pipe can be made");
        let (input, server_output) = std::io::pipe().expect("a pipe can be made");
        let options = Options { folder: folder.to_owned(), trust: trust(folder) };
        let server = std::thread::spawn(move || prose_debug::serve(server_input, server_output, options));
        let mut client = Self { output, input: BufReader::new(input), server };
        client.request("initialize", json!({ "adapterID": "prose" }));
        client
    }

    fn request(&mut self, command: &str, arguments: Json) -> Json {
        let text =
            json!({ "type": "request", "seq": 1, "command": command, "arguments": arguments }).to_string();
        write!(self.output, "Content-Length: {}\r\n\r\n{text}", text.len()).expect("it can be written");
        let response = self.until(|message| message["type"] == "response");
        assert_eq!(response["success"], true, "{response}");
        response["body"].clone()
    }

    fn until(&mut self, is_wanted: impl Fn(&Json) -> bool) -> Json {
        loop {
            let mut length = 0;
            loop {
                let mut line = String::new();
                self.input.read_line(&mut line).expect("it can be read");
                if let Some(value) = line.strip_prefix("Content-Length: ") {
                    length = value.trim().parse().expect("it is a number");
                }
                if line == "\r\n" {
                    break;
                }
            }
            let mut message = vec![0; length];
            self.input.read_exact(&mut message).expect("it can be read");
            let message: Json = serde_json::from_slice(&message).expect("it is JSON");
            if is_wanted(&message) {
                return message;
            }
        }
    }

    fn event(&mut self, name: &str) {
        self.until(|message| message["event"] == name);
    }

    fn disconnect(mut self) {
        self.request("disconnect", json!({}));
        drop(self.output);
        self.server.join().expect("it does not panic").expect("the connection holds");
    }
}

/// How long a run takes under a debugger without breakpoints.
fn debugged(folder: &Path) -> Duration {
    let mut client = Client::new(folder);
    client.request("launch", json!({ "program": "main.prose", "harness": "offline" }));
    let begin = Instant::now();
    client.request("configurationDone", json!({}));
    client.event("terminated");
    let took = begin.elapsed();
    client.disconnect();
    took
}

fn run(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("run");
    group.sample_size(10).sampling_mode(SamplingMode::Flat);
    let folder = folder(1000);
    group.bench_function("alone", |bencher| {
        bencher.iter_custom(|times| (0..times).map(|_| alone(folder.path())).sum());
    });
    group.bench_function("debugged", |bencher| {
        bencher.iter_custom(|times| (0..times).map(|_| debugged(folder.path())).sum());
    });
}

fn step_back(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("step back");
    let folder = folder(10_000);
    alone(folder.path());
    let run = Project::new(folder.path()).last_run().ok().flatten().expect("a run was started");
    let mut client = Client::new(folder.path());
    client.request("attach", json!({ "run": run.id }));
    client.request("configurationDone", json!({}));
    let mut places = fastrand_like(0x2545_f491);
    group.bench_function("of 10000 sessions", |bencher| {
        bencher.iter_custom(|times| {
            (0..times)
                .map(|_| {
                    let target = 1000 + places() % 60_000;
                    client.request("goto", json!({ "threadId": 1, "targetId": target }));
                    let begin = Instant::now();
                    client.request("stepBack", json!({ "threadId": 1 }));
                    let trace = client.request("stackTrace", json!({ "threadId": 1 }));
                    let frame = &trace["stackFrames"][0]["id"];
                    let scopes = client.request("scopes", json!({ "frameId": frame }));
                    for scope in scopes["scopes"].as_array().into_iter().flatten() {
                        let reference = &scope["variablesReference"];
                        client.request("variables", json!({ "variablesReference": reference }));
                    }
                    begin.elapsed()
                })
                .sum()
        });
    });
    client.disconnect();
}

/// Numbers that look random and are the same in each measurement.
fn fastrand_like(mut state: u64) -> impl FnMut() -> u64 {
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    }
}

criterion_group!(benches, step_back, run);
criterion_main!(benches);
