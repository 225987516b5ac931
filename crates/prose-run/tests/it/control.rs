//! Runs that other processes watch and command.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use prose_analysis::{AnalysisHost, Text};
use prose_config::{Config, RunConfig};
use prose_run::control::{CONTROL_FILE, Client, ControlError, Watched};
use prose_run::{
    FinishedRun, Grants, Project, Questions, RunHooks, RunRequest, Start, TrustSubject, UserFiles, UserTrust,
    prepare,
};
use prose_state::journal::JOURNAL_FILE;
use prose_state::reader::JournalReader;
use prose_state::runs::RunState;
use prose_vm::activity::AnswerSource;
use prose_vm::budget::{Budget, Maximum};
use prose_vm::command::{Command, CommandError, Pause};
use prose_vm::effect::RequestId;
use prose_vm::event::{Event, EventKind, RunStatus, StateMode};
use prose_vm::program::Program;
use prose_vm::questions::Attribution;
use prose_vm::runner::Limits;
use prose_vm::value::Value;
use tempfile::TempDir;

/// `gate` takes longer than any test: it ends when it is skipped, or with the run.
const SCRIPT: &str =
    "[[session]]\nlabel = \"gate\"\nreply = \"late\"\ndelay = \"600s\"\n[[session]]\nreply = \"ok\"\n";

/// A run that a thread executes.
struct Running {
    /// The folder of the project.
    project: Arc<TempDir>,
    /// The folder of the run.
    folder: PathBuf,
    run: String,
    events: Receiver<Event>,
    thread: Option<JoinHandle<FinishedRun>>,
}

fn ada() -> Attribution {
    Attribution { by: Some("ada".into()), from: AnswerSource::Terminal }
}

fn start(program: &str) -> Running {
    let project = Arc::new(prose_fixture::tempdir().unwrap());
    execute(project, program, Start::New, Budget::default())
}

/// A run whose questions people answer.
fn start_asking(program: &str) -> Running {
    let project = Arc::new(prose_fixture::tempdir().unwrap());
    execute_with(project, program, Start::New, Budget::default(), Questions::default())
}

fn execute(project: Arc<TempDir>, program: &str, start: Start, budget: Budget) -> Running {
    execute_with(project, program, start, budget, Questions::unanswered())
}

fn execute_with(
    project: Arc<TempDir>,
    program: &str,
    start: Start,
    budget: Budget,
    questions: Questions,
) -> Running {
    let script = project.path().join("answers.toml");
    fs::write(&script, SCRIPT).unwrap();
    let (path, program) = (project.path().to_owned(), program.to_owned());
    let (send, events) = channel();
    let (ready, started) = channel();
    let thread = std::thread::spawn(move || {
        let mut host = AnalysisHost::default();
        let file = host.set_text(Path::new("/main.prose"), Text::new(program));
        let request = RunRequest {
            program: Program::new(host.db(), file),
            project: Project::new(&path),
            start,
            part: None,
            id: None,
            state: StateMode::Filesystem,
            harness: Some("script".to_owned()),
            script: Some(script),
            stand_in: None,
            dispatch: None,
            model: None,
            seed: 0,
            delay: Duration::ZERO,
            inputs: Vec::new(),
            config: RunConfig::default(),
            routes: prose_run::Routes::default(),
            grants: Grants::default(),
            limits: Limits { budget, ..Limits::default() },
            money: prose_run::Money::default(),
            timeout: None,
            traceparent: None,
            subject: TrustSubject::new(&path, &Config::default()),
            trust: UserTrust { files: UserFiles::at(path.join("state")), is_trusted: false },
            names_program: false,
        };
        let prepared = prepare(request).unwrap();
        ready.send((prepared.folder.clone().unwrap(), prepared.run().to_owned())).unwrap();
        let hooks = RunHooks {
            questions,
            // A test that has seen enough does not receive any more.
            observer: &mut |event, _| _ = send.send(event.clone()),
            interrupted: Box::pin(std::future::pending()),
            narration: None,
        };
        prepared.execute(hooks).unwrap()
    });
    let (folder, run) = started.recv().unwrap();
    Running { project, folder, run, events, thread: Some(thread) }
}

impl Running {
    /// Waits for an event.
    #[track_caller]
    fn wait(&self, is_meant: impl Fn(&EventKind) -> bool) -> Event {
        let mut last = None;
        for event in &self.events {
            if is_meant(&event.kind) {
                return event;
            }
            last = Some(event);
        }
        panic!("the run has ended before it happened: {last:?}")
    }

    /// Waits until a session has started.
    fn wait_for_session(&self, number: u64) {
        self.wait(|kind| matches!(kind, EventKind::SessionStarted { request, .. } if request.0 == number));
    }

    fn client(&self) -> Client {
        Client::connect(&self.folder).unwrap_or_else(|error| panic!("{error}"))
    }

    fn journal(&self) -> Vec<Event> {
        JournalReader::open(&self.folder.join(JOURNAL_FILE)).unwrap().map(Result::unwrap).collect()
    }

    /// What is recorded of commands.
    fn commands(&self) -> Vec<String> {
        let commands = self.journal().into_iter().filter_map(|event| match event.kind {
            EventKind::Commanded { command, by } => Some(format!("{command:?} {by}")),
            _ => None,
        });
        commands.collect()
    }

    /// Waits until the run has ended.
    fn finish(&mut self) -> FinishedRun {
        self.thread.take().unwrap().join().unwrap()
    }
}

#[test]
fn stop_ends_a_run_and_removes_its_address() {
    let mut running = start("session \"gate\"\n");
    running.wait_for_session(1);
    let mut client = running.client();
    assert_eq!((client.run(), client.process()), (running.run.as_str(), std::process::id()));
    client.command(Command::Stop, &ada()).unwrap();
    assert!(client.wait_for_end(Duration::from_secs(60)), "the connection ends with the run");
    let end = running.finish().end;
    assert_eq!(end.status, RunStatus::Interrupted);
    assert_eq!(end.error.unwrap().to_string(), "stopped by ada at the terminal");
    assert!(!running.folder.join(CONTROL_FILE).exists());
    assert!(matches!(Client::connect(&running.folder), Err(ControlError::NotRunning)));
}

#[test]
fn the_command_that_ends_a_run_is_answered() {
    for _ in 0..20 {
        let mut running = start("session \"gate\"\n");
        running.wait_for_session(1);
        running.client().command(Command::Stop, &ada()).unwrap();
        assert_eq!(running.finish().end.status, RunStatus::Interrupted);
    }
}

#[test]
fn a_paused_run_starts_nothing_until_it_continues() {
    let mut running = start("session \"gate\"\nsession \"a\"\n");
    running.wait_for_session(1);
    let mut client = running.client();
    client.command(Command::Pause, &ada()).unwrap();
    client.command(Command::Skip { request: RequestId(1) }, &ada()).unwrap();
    running.wait_for_session(2);
    let status = client.status().unwrap();
    assert!(status.is_paused);
    assert_eq!(status.sessions.len(), 1);
    assert!(!status.sessions[0].is_at_work, "{status:?}");
    client.command(Command::Continue, &ada()).unwrap();
    assert!(matches!(
        client.command(Command::Continue, &ada()),
        // The run may have ended by now.
        Err(ControlError::Rejected(CommandError::NotPaused | CommandError::Ended) | ControlError::Closed)
    ));
    assert_eq!(running.finish().end.value, Value::from("ok"));
}

#[test]
fn a_run_about_to_stop_at_its_limit_continues_with_a_higher_one() {
    let project = Arc::new(prose_fixture::tempdir().unwrap());
    let program = "parallel:\n  session \"gate\"\n  session \"a\"\n";
    let mut running = execute(project, program, Start::New, Budget::sessions(1));
    running.wait_for_session(1);
    let mut client = running.client();
    client.command(Command::SetLimit { limit: Maximum::Sessions(2) }, &ada()).unwrap();
    assert_eq!(client.status().unwrap().limits, ["2 sessions (`--max-sessions`)"]);
    running.wait(|kind| matches!(kind, EventKind::Effect { request, .. } if request.0 == 2));
    client.command(Command::Skip { request: RequestId(1) }, &ada()).unwrap();
    assert_eq!(running.finish().end.status, RunStatus::Completed);
}

#[test]
fn commands_are_recorded_and_a_resumed_run_obeys_them() {
    let program = "let a = session \"gate\"\nsession \"gate\"\nsession \"b\"\noutput found = \"<{a}>\"\n";
    let mut running = start(program);
    running.wait_for_session(1);
    let mut client = running.client();
    client.command(Command::Skip { request: RequestId(1) }, &ada()).unwrap();
    running.wait_for_session(2);
    // It has started when the command before it is answered, or is retried as soon as it has.
    while let Err(error) = client.command(Command::Retry { request: RequestId(2) }, &ada()) {
        assert!(matches!(error, ControlError::Rejected(CommandError::NotAtWork)), "{error}");
    }
    client.command(Command::Stop, &ada()).unwrap();
    assert!(client.wait_for_end(Duration::from_secs(60)));
    let commands = [
        "Skip { request: RequestId(1) } by ada at the terminal",
        "Retry { request: RequestId(2) } by ada at the terminal",
        "Stop by ada at the terminal",
    ];
    assert_eq!(running.commands(), commands);
    let before = running.journal();
    let (project, run) = (Arc::clone(&running.project), running.run.clone());
    running.finish();

    let start = Start::Resume { run: run.into(), accept_changes: false };
    let mut running = execute(project, program, start, Budget::default());
    running.wait(|kind| matches!(kind, EventKind::Resumed { .. }));
    running.client().command(Command::Skip { request: RequestId(2) }, &ada()).unwrap();
    let end = running.finish();
    assert_eq!(end.end.outputs, [("found".into(), Value::from("<>"))]);
    assert_eq!(end.reused, 1);
    assert_eq!(
        running.journal()[..before.len() - 1],
        before[..before.len() - 1],
        "nothing recorded happens again"
    );
}

/// A run that asks after its first session, which is skipped once somebody attends.
const ASKS: &str = "session \"gate\"\nlet go = input \"Ship it? (yes/no)\"\noutput done = go\n";

#[test]
fn a_run_waits_in_its_process_while_somebody_attends() {
    let mut running = start_asking(ASKS);
    running.wait_for_session(1);
    let mut attendant = running.client().attend().unwrap();
    let mut other = running.client().attend().unwrap();
    for attendant in [&mut attendant, &mut other] {
        assert_eq!(attendant.questions().unwrap(), Some(Vec::new()));
    }
    running.client().command(Command::Skip { request: RequestId(1) }, &ada()).unwrap();
    let open = attendant.questions().unwrap().unwrap();
    assert_eq!(open[0].summary(), "Ship it? (yes/no)");
    // The other one is enough.
    drop(attendant);
    assert_eq!(other.questions().unwrap(), Some(open.clone()));
    let refused = running.client().answer(Some(open[0].id), "perhaps", &ada()).unwrap_err().to_string();
    assert_eq!(refused, "`perhaps` is not one of the answers; choose one of [y]es, [n]o");
    running.client().answer(None, "Y", &ada()).unwrap();
    let end = running.finish().end;
    assert_eq!(end.outputs, [("done".into(), Value::from("yes"))]);
    // It has ended.
    while other.questions().unwrap().is_some() {}
}

#[test]
fn a_run_stops_to_wait_when_the_last_one_who_attends_leaves() {
    let mut running = start_asking(ASKS);
    running.wait_for_session(1);
    let attendant = running.client().attend().unwrap();
    let mut follower = running.client().follow_questions().unwrap();
    assert_eq!(follower.questions().unwrap(), Some(Vec::new()));
    running.client().command(Command::Skip { request: RequestId(1) }, &ada()).unwrap();
    running.wait(|kind| matches!(kind, EventKind::InputAsked { .. }));
    assert_eq!(follower.questions().unwrap().unwrap()[0].summary(), "Ship it? (yes/no)");
    // It answers, so it is there.
    assert_eq!(running.client().status().unwrap().sessions, []);
    drop(attendant);
    let end = running.finish().end;
    assert_eq!(end.status, RunStatus::Waiting);
    assert_eq!(end.waiting[0].summary(), "Ship it? (yes/no)");
}

#[test]
fn a_paused_run_is_listed_as_paused_and_by_whom() {
    let mut running = start("session \"gate\"\nsession \"a\"\n");
    running.wait_for_session(1);
    let project = Project::new(running.project.path());
    let listed = || project.list_runs().unwrap().remove(0);
    assert_eq!((listed().status, listed().pause), (RunState::Running(Some(std::process::id())), None));
    running.client().command(Command::Pause, &ada()).unwrap();
    let paused = running.wait(|kind| matches!(kind, EventKind::Commanded { command: Command::Pause, .. }));
    let paused = Some(Pause { since: paused.at, by: ada() });
    assert_eq!((listed().status, listed().pause), (RunState::Paused(Some(std::process::id())), paused));
    running.client().command(Command::Continue, &ada()).unwrap();
    assert_eq!((listed().status.name(), listed().pause), ("running", None));
    // A run that ends while it is paused is paused no more.
    running.client().command(Command::Pause, &ada()).unwrap();
    running.client().command(Command::Stop, &ada()).unwrap();
    running.finish();
    assert_eq!((listed().status, listed().pause), (RunState::Interrupted, None));
}

/// The numbers of the recorded events that a watcher receives.
fn numbers(watched: &[Watched]) -> Vec<u64> {
    let is_in_journal = |event: &&Event| event.kind.is_recorded();
    watched.iter().map(|watched| &watched.event).filter(is_in_journal).map(|event| event.seq).collect()
}

fn all(mut watcher: prose_run::control::Watcher) -> Vec<Watched> {
    let mut watched = Vec::new();
    while let Some(event) = watcher.next_event().unwrap() {
        watched.push(event);
    }
    assert!(watcher.has_ended());
    watched
}

/// Watches a run from its start. On a busy machine the run may need longer to answer than a client waits.
fn attach(running: &Running) -> prose_run::control::Watcher {
    loop {
        match Client::connect(&running.folder).and_then(|client| client.attach(0)) {
            Ok(watcher) => return watcher,
            Err(ControlError::Io(error))
                if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn watchers_receive_every_event_and_a_slow_one_does_not_slow_the_run() {
    // More than sockets and the channel keep for somebody who does not read.
    let long = "x".repeat(20_000);
    let program = format!("session \"gate\"\nrepeat 500:\n  session \"{long}\"\nsession \"gate\"\n");
    let mut running = start(&program);
    running.wait_for_session(1);
    let slow = attach(&running);
    let quick = attach(&running);
    let quick = std::thread::spawn(move || all(quick));
    let mut client = running.client();
    client.command(Command::Skip { request: RequestId(1) }, &ada()).unwrap();
    running.wait_for_session(502);
    let late = attach(&running);
    let late = std::thread::spawn(move || all(late));
    while let Err(error) = client.command(Command::Skip { request: RequestId(502) }, &ada()) {
        assert!(matches!(error, ControlError::Rejected(CommandError::NoSession)), "{error}");
    }
    // The run has ended, and nobody has read anything of the slow watcher.
    assert_eq!(running.finish().end.status, RunStatus::Completed);
    let journal = running.journal();
    let recorded = journal.iter().filter(|event| event.kind.is_recorded()).map(|event| event.seq);
    let recorded: Vec<u64> = recorded.collect();
    assert_eq!(numbers(&quick.join().unwrap()), recorded);
    let late = late.join().unwrap();
    assert_eq!(numbers(&late), recorded);
    assert!(!late[0].is_live && late.last().unwrap().is_live);
    assert_eq!(numbers(&all(slow)), recorded);
}

#[cfg(unix)]
mod refused {
    use std::io::{Read, Write};
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::net::UnixStream;

    use prose_run::control::{MAX_MESSAGE, PROTOCOL_VERSION};
    use serde_json::{Value as Json, json};

    use super::*;

    /// What the run answers to some bytes before it closes the connection.
    fn answers(address: &Json, bytes: &[u8]) -> String {
        let mut stream = UnixStream::connect(address["address"].as_str().unwrap()).unwrap();
        // The run may refuse before it has read everything.
        let _ = stream.write_all(bytes);
        let mut answers = String::new();
        stream.read_to_string(&mut answers).unwrap();
        answers
    }

    #[test]
    fn messages_of_others_are_refused_with_one_error() {
        let mut running = start("session \"gate\"\n");
        running.wait_for_session(1);
        let file = running.folder.join(CONTROL_FILE);
        let address: Json = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        let socket = Path::new(address["address"].as_str().unwrap());
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&file), mode(socket.parent().unwrap())), (0o600, 0o700));

        let hello = |token: &Json, run: &str, protocol: u32| {
            format!("{}\n", json!({ "protocol": protocol, "run": run, "token": token }))
        };
        let welcome = hello(&address["token"], &running.run, PROTOCOL_VERSION);
        let process = std::process::id();
        let greeting = format!("{{\"hello\":{{\"protocol\":1,\"process\":{process}}}}}\n");
        let refusal = |bytes: &str| {
            let answers = answers(&address, bytes.as_bytes());
            let answers = answers.strip_prefix(&greeting).unwrap_or(&answers).replace(&running.run, "RUN");
            let error: Json = serde_json::from_str(&answers).unwrap_or_else(|_| panic!("{answers}"));
            error["error"].as_str().unwrap().to_owned()
        };
        assert_eq!(
            refusal(&hello(&json!("0".repeat(32)), &running.run, 1)),
            "the token is not that of the run"
        );
        assert_eq!(refusal(&hello(&address["token"], "another", 1)), "this is run RUN, not run another");
        assert_eq!(
            refusal(&hello(&address["token"], &running.run, 2)),
            "the run is executed by a version of prose with control protocol 1, not 2"
        );
        let no_hello = "the first message has to be the version, the run and its token";
        assert_eq!(refusal("GET / HTTP/1.1\n"), no_hello);
        let too_long = format!("the message is longer than {MAX_MESSAGE} bytes");
        assert_eq!(refusal(&"x".repeat(MAX_MESSAGE + 1)), too_long);
        assert_eq!(refusal(&format!("{welcome}{}", "x".repeat(MAX_MESSAGE + 1))), too_long);
        assert_eq!(
            refusal(&format!("{welcome}{{\"id\":1,\"method\":\"stop\"}}\n")),
            "the message does not say who sends it"
        );
        let unknown = refusal(&format!("{welcome}{{\"id\":1,\"method\":\"explode\"}}\n"));
        assert!(unknown.starts_with("the message is not a request: unknown variant `explode`"), "{unknown}");
        // None of this has reached the run.
        assert_eq!(running.client().status().unwrap().sessions.len(), 1);
        running.client().command(Command::Stop, &ada()).unwrap();
        assert_eq!(running.finish().end.status, RunStatus::Interrupted);
    }

    #[test]
    fn an_address_that_remains_of_a_dead_process_is_removed() {
        let mut running = start("session \"gate\"\n");
        running.wait_for_session(1);
        let file = running.folder.join(CONTROL_FILE);
        let kept = fs::read(&file).unwrap();
        let mut address: Json = serde_json::from_slice(&kept).unwrap();
        running.client().command(Command::Stop, &ada()).unwrap();
        running.finish();
        // A socket where nobody listens any more.
        let socket = running.project.path().join("left.sock");
        drop(std::os::unix::net::UnixListener::bind(&socket).unwrap());
        address["address"] = json!(socket);
        fs::write(&file, address.to_string()).unwrap();
        assert!(matches!(Client::connect(&running.folder), Err(ControlError::NotRunning)));
        assert!(!file.exists() && !socket.exists());
    }
}
