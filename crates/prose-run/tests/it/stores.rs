//! Runs that keep their state in a database do and record the same as runs that keep it in files, and move from one to the other.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fastrand::Rng;
use prose_analysis::{AnalysisHost, Text};
use prose_config::Config;
use prose_run::{
    FinishedRun, ForkRequest, FromRun, Point, Project, Questions, RunHooks, RunRequest, Start, UserFiles,
    UserTrust, plan_fork, prepare,
};
use prose_state::bindings::read_value;
use prose_state::journal::journal_of;
use prose_state::portable;
use prose_state::reader::JournalReader;
use prose_state::replay::RecordedRun;
use prose_vm::event::{Event, EventKind, RunStatus, StateMode};
use prose_vm::program::Program;
use smol_str::SmolStr;
use tempfile::TempDir;

use crate::generated::{count_of_programs, program};

const BOTH: [StateMode; 2] = [StateMode::Filesystem, StateMode::Sqlite];

/// The id of every run, so that nothing of the journals differs by it.
const ID: &str = "20260115-143052-a7b3c9";

/// A folder with runs. Where there is a server, they have a schema of their own on it, as all have the same id.
struct World<'s>(TempDir, Server<'s>);

#[cfg(target_os = "linux")]
type Server<'s> = Option<&'s prose_fixture::postgres::PostgresServer>;
#[cfg(not(target_os = "linux"))]
type Server<'s> = Option<&'s ()>;

impl<'s> World<'s> {
    fn new(server: Server<'s>) -> Self {
        let folder = prose_fixture::tempdir().unwrap();
        #[cfg(target_os = "linux")]
        if let Some(server) = server {
            static SCHEMAS: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
            let schema = SCHEMAS.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let settings =
                format!("OPENPROSE_POSTGRES_URL={}\nOPENPROSE_POSTGRES_SCHEMA=s{schema}\n", server.url());
            fs::create_dir(folder.path().join(".prose")).unwrap();
            fs::write(folder.path().join(".prose/.env"), settings).unwrap();
        }
        Self(folder, server)
    }

    fn project(&self) -> Project {
        Project::new(self.0.path())
    }

    fn folder(&self) -> PathBuf {
        self.project().existing_run(ID).unwrap()
    }

    /// Executes a program with made-up answers. It is interrupted after some of them, if it should be.
    fn execute(&self, text: &str, state: StateMode, start: Start, answers: Option<usize>) -> FinishedRun {
        let mut host = AnalysisHost::default();
        let file = host.set_text(Path::new("/main.prose"), Text::new(text));
        let trust = UserTrust { files: UserFiles::at(self.0.path().join("state")), is_trusted: true };
        let program = Program::new(host.db(), file);
        let mut request = RunRequest::new(program, self.project(), start, &Config::default(), trust);
        request.harness = Some("offline".to_owned());
        request.state = state;
        request.seed = 7;
        request.id = Some(SmolStr::new(ID));
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let mut sender = Some(sender);
        let mut left = answers;
        let hooks = RunHooks {
            questions: Questions::unanswered(),
            observer: &mut |event, is_new| {
                if let (EventKind::Effect { .. }, true, Some(count)) = (&event.kind, is_new, left.as_mut()) {
                    *count = count.saturating_sub(1);
                    if *count == 0 {
                        sender.take().map(|sender| sender.send("enough".to_owned()));
                    }
                }
            },
            interrupted: Box::pin(async move {
                match receiver.await {
                    Ok(reason) => reason,
                    Err(_) => std::future::pending().await,
                }
            }),
            narration: None,
        };
        prepare(request).unwrap().execute(hooks).unwrap()
    }

    fn resume(&self, text: &str) -> FinishedRun {
        let start = Start::Resume { run: ID.into(), accept_changes: false };
        self.execute(text, StateMode::Filesystem, start, None)
    }

    fn events(&self) -> Vec<Event> {
        events(&self.folder())
    }

    /// The values that are stored, by name.
    fn values(&self) -> Vec<(String, Option<String>)> {
        let run = self.project().show_run(ID).unwrap();
        // Names in blocks have the number of their call, which the two count in another way.
        let names = run.bindings.into_iter().map(|binding| binding.name).filter(|name| !name.contains("__"));
        let mut values: Vec<_> =
            names.map(|name| (name.clone(), read_value(&run.summary.folder, &name).unwrap())).collect();
        values.sort();
        values
    }

    /// The run in one file, added to another folder.
    fn moved(&self, to: StateMode) -> World<'s> {
        let (file, other) = (self.0.path().join("moved.prose-run"), World::new(self.1));
        let recorded = RecordedRun::in_folder(&self.folder()).unwrap();
        portable::export(&recorded, &|_| None, &mut fs::File::create(&file).unwrap()).unwrap();
        portable::import(&other.project(), &file, Some(to)).unwrap();
        other
    }
}

/// The file by which the kind of the state is known.
fn file_of(state: StateMode) -> &'static str {
    match state {
        StateMode::Sqlite => "state.db",
        StateMode::Postgres => "postgres.json",
        StateMode::Filesystem | StateMode::InContext => "journal.jsonl",
    }
}

fn events(folder: &Path) -> Vec<Event> {
    JournalReader::open(&journal_of(folder)).unwrap().collect::<Result<_, _>>().unwrap()
}

/// The events without what differs between any two runs: the times, and what is measured; and without the kind of the state.
fn comparable(events: Vec<Event>) -> Vec<Event> {
    let without_times = |mut event: Event| {
        (event.at, event.paused) = (0, 0);
        match &mut event.kind {
            EventKind::RunStarted(head) => head.state = StateMode::Filesystem,
            EventKind::Effect { began, work, .. } => {
                *began = None;
                **work = Default::default();
            }
            EventKind::SessionStarted { task, .. } => Arc::make_mut(task).mark = None,
            _ => {}
        }
        event
    };
    events.into_iter().map(without_times).collect()
}

/// The same program with the same answers gives the same journal, event by event, and the same values, in files and in a database; and so does
/// a run that is interrupted anywhere, moved to the other one, and resumed there.
fn check_generated(seed: u64, [from, to]: [StateMode; 2], server: Server<'_>) {
    let mut random = Rng::with_seed(seed);
    let text = program(&mut random);
    let [files, database] = [from, to].map(|state| {
        let world = World::new(server);
        world.execute(&text, state, Start::New, None);
        world
    });
    assert_eq!(journal_of(&database.folder()).file_name().unwrap(), file_of(to));
    let expected = comparable(files.events());
    assert_eq!(comparable(database.events()), expected, "seed {seed}:\n{text}");
    assert_eq!(database.values(), files.values(), "seed {seed}:\n{text}");

    let answers = expected.iter().filter(|event| matches!(event.kind, EventKind::Effect { .. })).count();
    for (from, to) in [(from, to), (to, from), (to, to)] {
        let world = World::new(server);
        let count = random.usize(1..=answers);
        let stopped = world.execute(&text, from, Start::New, Some(count)).end.status;
        let moved = world.moved(to);
        assert_eq!(comparable(moved.events()), comparable(world.events()), "seed {seed}:\n{text}");
        if stopped == RunStatus::Interrupted {
            let finished = moved.resume(&text);
            assert!(finished.reused >= 1, "seed {seed}: {from:?} to {to:?}");
        }
        assert_eq!(
            comparable(moved.events()),
            expected,
            "seed {seed}: {from:?} to {to:?} after {count}:\n{text}"
        );
        assert_eq!(moved.values(), files.values(), "seed {seed}: {from:?} to {to:?}:\n{text}");
    }
}

#[test]
fn generated_programs_do_the_same_in_files_and_in_a_database() {
    (0..count_of_programs(12)).for_each(|seed| check_generated(seed, BOTH, None));
}

/// The same on a server, which is also where a run of SQLite goes on, and back.
#[test]
#[cfg(target_os = "linux")]
#[ignore = "needs PostgreSQL"]
fn generated_programs_do_the_same_on_a_postgresql_server() {
    let server = prose_fixture::postgres::PostgresServer::start();
    // Each step waits for the disk of the server.
    for seed in 0..count_of_programs(12).div_ceil(4) {
        let other = BOTH[seed as usize % 2];
        check_generated(seed, [other, StateMode::Postgres], Some(&server));
    }
}

const PROGRAM: &str = "let a = session \"A\"\nlet b = session \"B\"\noutput c = session \"C\"\n";

/// A replay and a fork are kept where the earlier run is.
#[test]
fn runs_in_a_database_are_replayed_and_forked() {
    let world = World::new(None);
    world.execute(PROGRAM, StateMode::Sqlite, Start::New, None);
    let recorded = RecordedRun::in_folder(&world.folder()).unwrap();
    let fork = ForkRequest { from: Some(Point::of_line(2)), ..ForkRequest::default() };
    let forked = plan_fork(recorded.clone(), fork).unwrap_or_else(|error| panic!("{error}"));
    for (from, reused) in [(FromRun::replay(recorded), 3), (forked.from, 1)] {
        let start = Start::From(Box::new(from));
        let trust = UserTrust { files: UserFiles::at(world.0.path().join("state")), is_trusted: true };
        let mut host = AnalysisHost::default();
        let file = host.set_text(Path::new("/main.prose"), Text::new(PROGRAM));
        let program = Program::new(host.db(), file);
        let state = RunRequest::new(program, world.project(), start.clone(), &Config::default(), trust).state;
        assert_eq!(state, StateMode::Sqlite);
        let finished = world.execute(PROGRAM, state, start, None);
        assert_eq!((finished.end.status, finished.reused), (RunStatus::Completed, reused));
    }
    let runs = world.project().list_runs().unwrap();
    assert_eq!(runs.len(), 3);
    assert!(runs.iter().all(|run| journal_of(&run.folder).ends_with("state.db")), "{runs:?}");
}
