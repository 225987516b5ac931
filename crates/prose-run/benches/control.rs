//! What the control channel of a run costs.
//!
//! * `attach`: from the start of a client to the first event of a run.
//! * `stop`: from the command to the answer, which comes when the command is recorded and the run stops.
//! * `watchers`: a run of ten thousand sessions of 100 ms, 500 at a time and all at the same time, with nobody and with 50 clients that read
//!   every event.

#[cfg(not(unix))]
fn main() {}

#[cfg(unix)]
fn main() {
    unix::benches();
}

#[cfg(unix)]
mod unix {
    use std::io::{Read, Write};
    use std::num::NonZeroU32;
    use std::os::unix::net::UnixStream;
    use std::path::{Path, PathBuf};
    use std::sync::Arc;
    use std::sync::mpsc::channel;
    use std::thread::JoinHandle;
    use std::time::{Duration, Instant};

    use criterion::{BenchmarkId, Criterion, SamplingMode, criterion_group};
    use prose_analysis::Text;
    use prose_analysis::host::AnalysisHost;
    use prose_config::{Config, RunConfig};
    use prose_run::control::{CONTROL_FILE, Client, PROTOCOL_VERSION};
    use prose_run::{
        Project, Questions, RunHooks, RunRequest, Start, TrustSubject, UserFiles, UserTrust, prepare,
    };
    use prose_vm::activity::AnswerSource;
    use prose_vm::command::Command;
    use prose_vm::event::{EventKind, StateMode};
    use prose_vm::program::Program;
    use prose_vm::questions::Attribution;
    use prose_vm::runner::Limits;
    use serde_json::{Value, json};
    use tempfile::TempDir;

    const SESSIONS: usize = 10_000;
    const PARALLEL: [usize; 2] = [500, SESSIONS];
    const WATCHERS: [usize; 2] = [0, 50];

    /// A run that a thread executes, from its first session on.
    struct Running {
        folder: PathBuf,
        thread: JoinHandle<Duration>,
        _project: Arc<TempDir>,
    }

    /// Starts a run. `attach` is called with its folder when its channel is there, and before its sessions end.
    fn start(
        text: String,
        delay: Duration,
        parallel: usize,
        attach: impl FnOnce(&Path) + Send + 'static,
    ) -> Running {
        let project = Arc::new(tempfile::tempdir().expect("a temporary folder can be made"));
        let kept = Arc::clone(&project);
        let (ready, started) = channel();
        let thread = std::thread::spawn(move || {
            let mut host = AnalysisHost::default();
            let file = host.set_text(Path::new("/program.prose"), Text::new(text));
            let path = project.path();
            let request = RunRequest {
                program: Program::new(host.db(), file),
                project: Project::new(path),
                start: Start::New,
                part: None,
                id: None,
                state: StateMode::Filesystem,
                harness: Some("offline".to_owned()),
                script: None,
                stand_in: None,
                dispatch: None,
                model: None,
                seed: 0,
                delay,
                inputs: Vec::new(),
                grants: prose_run::Grants::default(),
                config: RunConfig { max_parallel: NonZeroU32::new(parallel as u32), ..RunConfig::default() },
                routes: prose_run::Routes::default(),
                limits: Limits::default(),
                money: prose_run::Money::default(),
                timeout: None,
                traceparent: None,
                subject: TrustSubject::new(path, &Config::default()),
                trust: UserTrust { files: UserFiles::at(path.join("state")), is_trusted: false },
                names_program: false,
            };
            let prepared = prepare(request).unwrap_or_else(|error| panic!("{error}"));
            let folder = prepared.folder.clone().expect("it has files");
            let mut attach = Some(attach);
            let mut begin = Instant::now();
            let hooks = RunHooks {
                questions: Questions::unanswered(),
                observer: &mut |event, _| {
                    if let EventKind::RunStarted(_) = event.kind
                        && let Some(attach) = attach.take()
                    {
                        attach(&folder);
                        begin = Instant::now();
                    }
                    if let EventKind::SessionStarted { .. } = event.kind {
                        // Only the first receiver matters.
                        let _ = ready.send(folder.clone());
                    }
                },
                interrupted: Box::pin(std::future::pending()),
                narration: None,
            };
            prepared.execute(hooks).unwrap_or_else(|error| panic!("{error}"));
            begin.elapsed()
        });
        let folder = started.recv().expect("a session starts");
        Running { folder, thread, _project: kept }
    }

    fn command(folder: &Path, command: Command) -> Duration {
        let mut client = Client::connect(folder).unwrap_or_else(|error| panic!("{error}"));
        let by = Attribution { by: None, from: AnswerSource::Terminal };
        let begin = Instant::now();
        client.command(command, &by).unwrap_or_else(|error| panic!("{error}"));
        begin.elapsed()
    }

    fn attach(criterion: &mut Criterion) {
        let running = start("session \"Wait\"\n".to_owned(), Duration::from_secs(3600), 1, |_| {});
        criterion.bench_function("attach", |bencher| {
            bencher.iter(|| {
                let client = Client::connect(&running.folder).unwrap_or_else(|error| panic!("{error}"));
                let watcher = client.attach(0);
                watcher.and_then(|mut watcher| watcher.next_event()).unwrap_or_else(|error| panic!("{error}"))
            });
        });
        command(&running.folder, Command::Stop);
        running.thread.join().expect("the run ends");

        let mut group = criterion.benchmark_group("stop");
        group.sample_size(10).sampling_mode(SamplingMode::Flat);
        group.bench_function("answer", |bencher| {
            bencher.iter_custom(|times| {
                let once = |_| {
                    let running =
                        start("session \"Wait\"\n".to_owned(), Duration::from_secs(3600), 1, |_| {});
                    let took = command(&running.folder, Command::Stop);
                    running.thread.join().expect("the run ends");
                    took
                };
                (0..times).map(once).sum()
            });
        });
        group.finish();
    }

    /// Reads everything that a run sends to a watcher. What a client makes of it is its own cost.
    fn watch(folder: &Path) {
        let address = std::fs::read(folder.join(CONTROL_FILE)).expect("it can be read");
        let address: Value = serde_json::from_slice(&address).expect("it is JSON");
        let mut stream =
            UnixStream::connect(address["address"].as_str().expect("a path")).expect("it listens");
        let hello = json!({ "protocol": PROTOCOL_VERSION, "run": address["run"], "token": address["token"] });
        write!(stream, "{hello}\n{}\n", json!({ "id": 1, "method": "attach" })).expect("it reads");
        let mut first = [0; 1];
        stream.read_exact(&mut first).expect("it answers");
        std::thread::spawn(move || std::io::copy(&mut stream, &mut std::io::sink()));
    }

    fn watchers(criterion: &mut Criterion) {
        let mut group = criterion.benchmark_group("watchers");
        group.sample_size(10).sampling_mode(SamplingMode::Flat);
        let items: Vec<String> = (0..SESSIONS).map(|item| item.to_string()).collect();
        let text = format!("parallel for item in [{}]:\n  session \"Work on {{item}}\"\n", items.join(", "));
        for parallel in PARALLEL {
            for count in WATCHERS {
                group.bench_function(BenchmarkId::new(parallel.to_string(), count), |bencher| {
                    bencher.iter_custom(|times| {
                        let once = |_| {
                            let attach = move |folder: &Path| (0..count).for_each(|_| watch(folder));
                            let running = start(text.clone(), Duration::from_millis(100), parallel, attach);
                            running.thread.join().expect("the run ends")
                        };
                        (0..times).map(once).sum()
                    });
                });
            }
        }
        group.finish();
    }

    criterion_group!(benches, attach, watchers);
}
