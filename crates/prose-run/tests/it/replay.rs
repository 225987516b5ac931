//! Runs with the answers of an earlier run: replays, forks, and runs in one file.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use expect_test::{Expect, expect};
use fastrand::Rng;
use prose_analysis::{AnalysisHost, Text};
use prose_config::Config;
use prose_run::{
    FinishedRun, ForkRequest, FromRun, Point, Project, Questions, RunHooks, RunRequest, Start, UserFiles,
    UserTrust, nearest_request, plan_fork, prepare, recorded_run,
};
use prose_state::journal::JOURNAL_FILE;
use prose_state::portable;
use prose_state::replay::RecordedRun;
use prose_vm::effect::Outcome;
use prose_vm::error::ErrorKind;
use prose_vm::event::{Event, EventKind, RunStatus};
use prose_vm::place::NamedLine;
use prose_vm::program::Program;
use prose_vm::value::Value;
use tempfile::TempDir;

use crate::generated::{count_of_programs, program};

/// A folder with runs.
struct World {
    folder: TempDir,
    /// The events of the run that was executed last.
    events: Vec<Event>,
}

impl World {
    fn new() -> Self {
        Self { folder: prose_fixture::tempdir().unwrap(), events: Vec::new() }
    }

    fn project(&self) -> Project {
        Project::new(self.folder.path())
    }

    fn execute(&mut self, program: &str, harness: &str, start: Start) -> FinishedRun {
        self.execute_with(program, harness, start, &[])
    }

    fn execute_with(
        &mut self,
        program: &str,
        harness: &str,
        start: Start,
        inputs: &[(&str, &str)],
    ) -> FinishedRun {
        let mut host = AnalysisHost::default();
        let file = host.set_text(Path::new("/main.prose"), Text::new(program));
        let trust = UserTrust { files: UserFiles::at(self.folder.path().join("state")), is_trusted: true };
        let program = Program::new(host.db(), file);
        let mut request = RunRequest::new(program, self.project(), start, &Config::default(), trust);
        request.harness = Some(harness.to_owned()).filter(|harness| !harness.is_empty());
        request.script = (harness == "script").then(|| self.script());
        request.inputs = inputs.iter().map(|(name, value)| ((*name).into(), Value::from(*value))).collect();
        self.events.clear();
        let events = &mut self.events;
        let hooks = RunHooks {
            questions: Questions::unanswered(),
            observer: &mut |event, _| events.push(event.clone()),
            interrupted: Box::pin(std::future::pending()),
            narration: None,
        };
        prepare(request).unwrap().execute(hooks).unwrap()
    }

    fn script(&self) -> PathBuf {
        self.folder.path().join("answers.toml")
    }

    fn answer(&self, script: &str) {
        fs::write(self.script(), script).unwrap();
    }

    /// The run that was started last.
    fn last(&self) -> RecordedRun {
        let run = self.project().last_run().unwrap().unwrap();
        RecordedRun::in_folder(&run.folder).unwrap()
    }

    /// The run of the events that were observed last.
    fn observed(&self) -> RecordedRun {
        let EventKind::RunStarted(head) = &self.events[0].kind else { panic!("{:?}", self.events[0]) };
        recorded_run(&self.project(), &head.run).unwrap()
    }

    fn replay(&mut self, program: &str, recorded: RecordedRun) -> FinishedRun {
        // Scripts and agents must not be looked for.
        self.execute(program, "", Start::From(Box::new(FromRun::replay(recorded))))
    }

    fn fork(
        &mut self,
        program: &str,
        harness: &str,
        recorded: RecordedRun,
        fork: ForkRequest,
    ) -> FinishedRun {
        let planned = plan_fork(recorded, fork).unwrap_or_else(|error| panic!("{error}"));
        self.execute(program, harness, Start::From(Box::new(planned.from)))
    }
}

/// What a run did, without its id, its times and what was used.
fn story(events: impl IntoIterator<Item = Event>) -> String {
    let mut story = String::new();
    let mut run = String::new();
    for mut event in events {
        match &mut event.kind {
            EventKind::RunStarted(head) => {
                run = head.run.to_string();
                continue;
            }
            EventKind::Effect { work, began, outcome, .. } => {
                **work = Default::default();
                *began = None;
                if let Outcome::Reply(reply) = outcome {
                    reply.usage = None;
                }
            }
            // The marks around values are made of the id of the run.
            EventKind::SessionStarted { task, .. } => {
                let task = Arc::make_mut(task);
                (task.prompt, task.mark) = ("".into(), None);
            }
            EventKind::RunEnded(end) => end.usage = None,
            EventKind::Expense(_)
            | EventKind::Commanded { .. }
            | EventKind::QuestionsOpen { .. }
            | EventKind::Answered(_) => continue,
            kind if !kind.is_recorded() => continue,
            _ => {}
        }
        (event.seq, event.at, event.paused) = (0, 0, 0);
        story += &serde_json::to_string(&event).unwrap().replace(&run, "RUN");
        story.push('\n');
    }
    story
}

fn recorded_story(recorded: &RecordedRun) -> String {
    story(recorded.events().unwrap().map(Result::unwrap))
}

const PROGRAM: &str = r#"input topic: "What about?"
agent writer:
  model: sonnet
let facts = session "Find facts on {topic}"
parallel:
  a = session: writer
    prompt: "Draft A from {facts}"
  b = session: writer
    prompt: "Draft B from {facts}"
loop until **the draft is good** (max: 3):
  let better = session "Improve"
    context: { a, b }
    retry: 1
choice **what to do with it**:
  option "Publish":
    session "Publish"
  option "Drop":
    session "Drop"
try:
  session "Check"
catch as e:
  session "Handle {e.message}"
output report = session "Write the report"
"#;

const ANSWERS: &str = r#"
[[session]]
pattern = "Find facts"
reply = "three facts"
[[session]]
pattern = "Draft A"
reply = "draft A"
delay = "30ms"
[[session]]
pattern = "Draft B"
reply = "draft B"
[[session]]
pattern = "Improve"
times = 1
fail = "connection lost"
[[session]]
pattern = "Improve"
reply = "better"
[[session]]
pattern = "Check"
fail = "it is wrong"
[[session]]
reply = "done"
[[condition]]
met = false
times = 1
[[condition]]
met = true
[[choice]]
choose = 2
"#;

/// A world with a run of [`PROGRAM`].
fn run() -> (World, RecordedRun) {
    let mut world = World::new();
    world.answer(ANSWERS);
    let finished = world.execute_with(PROGRAM, "script", Start::New, &[("topic", "tides")]);
    assert_eq!(finished.end.status, RunStatus::Completed, "{:?}", finished.end.error);
    let recorded = world.observed();
    (world, recorded)
}

#[test]
fn a_replay_gives_the_same_events_without_asking() {
    let (mut world, recorded) = run();
    let before = recorded_story(&recorded);
    // Nothing could answer now.
    fs::remove_file(world.script()).unwrap();
    let finished = world.replay(PROGRAM, recorded.clone());
    assert_eq!(finished.end.status, RunStatus::Completed, "{:?}", finished.end.error);
    assert_eq!(story(world.events.clone()), before);
    let replay = world.observed();
    assert_eq!(recorded_story(&replay), before);
    let earlier = replay.head.earlier.unwrap();
    assert_eq!((earlier.run, earlier.is_live), (recorded.head.run, false));
    assert_eq!((finished.reused, finished.ran), (12, 0));
    assert_eq!(finished.end.usage, None);
}

#[test]
fn a_replay_of_a_replay_gives_the_same_events() {
    let (mut world, recorded) = run();
    let before = recorded_story(&recorded);
    world.replay(PROGRAM, recorded);
    let replay = world.observed();
    world.replay(PROGRAM, replay);
    assert_eq!(story(world.events.clone()), before);
}

#[test]
fn a_replay_stops_where_the_program_asks_something_else() {
    let (mut world, recorded) = run();
    let edited = PROGRAM.replace("\"Improve\"", "\"Improve it a lot\"");
    let finished = world.replay(&edited, recorded.clone());
    assert_eq!(finished.end.status, RunStatus::Interrupted);
    let error = finished.end.error.unwrap();
    assert_eq!(error.kind, ErrorKind::NotRecorded);
    let run = &recorded.head.run;
    assert_eq!(error.message, format!("run {run} has no answer for the session at line 11"));
    let request = finished.not_recorded.unwrap();
    let nearest = nearest_request(&recorded, &request).unwrap().unwrap();
    expect![[r#"
        [task]
        Improve
        [context a]
        draft A
        [context b]
        draft B
    "#]]
    .assert_eq(&nearest.text);
    assert_eq!((nearest.line, nearest.place), (Some(NamedLine { program: None, line: 11 }), request.place));
}

#[test]
fn a_live_replay_asks_what_is_not_recorded() {
    let (mut world, recorded) = run();
    let edited = PROGRAM.replace("\"Write the report\"", "\"Write a long report\"");
    let start = FromRun { is_live: true, ..FromRun::replay(recorded) };
    let finished = world.execute(&edited, "script", Start::From(Box::new(start)));
    assert_eq!(finished.end.status, RunStatus::Completed, "{:?}", finished.end.error);
    assert_eq!((finished.reused, finished.ran), (11, 1));
}

#[test]
fn other_inputs_ask_other_questions() {
    let (mut world, recorded) = run();
    let start = Start::From(Box::new(FromRun::replay(recorded)));
    let finished = world.execute_with(PROGRAM, "", start, &[("topic", "winds")]);
    assert_eq!(finished.end.error.unwrap().kind, ErrorKind::NotRecorded);
    assert_eq!(finished.reused, 0);
}

#[test]
fn a_replay_does_not_write_memories_of_the_project() {
    let mut world = World::new();
    let program = "agent clerk:\n  model: haiku\n  persist: project\n  prompt: \"Keep notes\"\nlet a = session: clerk\n  prompt: \"First\"\noutput b = resume: clerk\n  prompt: \"Second\"\n";
    world.execute(program, "offline", Start::New);
    let recorded = world.observed();
    let agents = world.folder.path().join(".prose/agents");
    let files = || {
        let mut files = Vec::new();
        let mut folders = vec![agents.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                match path.is_dir() {
                    true => folders.push(path),
                    false => files.push((path.clone(), fs::read(path).unwrap())),
                }
            }
        }
        files.sort();
        files
    };
    let before = files();
    assert!(!before.is_empty());
    let story = recorded_story(&recorded);
    world.replay(program, recorded);
    assert_eq!(recorded_story(&world.observed()), story);
    assert_eq!(files(), before);
}

#[test]
fn a_fork_keeps_what_came_before_a_line_and_asks_the_rest() {
    let (mut world, recorded) = run();
    let journal = fs::read(&recorded.path).unwrap();
    world.answer(&ANSWERS.replace("\"better\"", "\"much better\""));
    let fork = ForkRequest { from: Some(Point::of_line(10)), ..ForkRequest::default() };
    let planned = plan_fork(recorded.clone(), fork.clone()).unwrap();
    assert_eq!(
        [planned.reused_sessions, planned.reused_decisions, planned.asked_sessions, planned.asked_decisions],
        [3, 0, 6, 3]
    );
    let finished = world.fork(PROGRAM, "script", recorded.clone(), fork);
    assert_eq!(finished.end.status, RunStatus::Completed, "{:?}", finished.end.error);
    assert_eq!(finished.reused, 3);
    assert!(story(world.events.clone()).contains("much better"));
    assert_eq!(fs::read(&recorded.path).unwrap(), journal, "the original stays as it is");
    let fork = world.observed();
    let earlier = fork.head.earlier.as_ref().unwrap();
    assert_eq!((&earlier.run, earlier.before), (&recorded.head.run, planned.from.before));
    // A fork is a run of its own, which can be replayed in turn.
    let before = recorded_story(&fork);
    world.replay(PROGRAM, fork);
    assert_eq!(recorded_story(&world.observed()), before);
}

#[test]
fn a_fork_of_a_failed_run_asks_what_failed_again() {
    let mut world = World::new();
    let program = "let a = session \"First\"\noutput b = session \"Second {a}\"\n";
    world.answer("[[session]]\npattern = \"First\"\nreply = \"one\"\n[[session]]\nfail = \"no\"\n");
    assert_eq!(world.execute(program, "script", Start::New).end.status, RunStatus::Failed);
    let recorded = world.observed();
    world.answer("[[session]]\npattern = \"Second one\"\nreply = \"two\"\n");
    let fork = ForkRequest { from: Some(Point::of_line(2)), ..ForkRequest::default() };
    let finished = world.fork(program, "script", recorded, fork);
    assert_eq!(finished.end.outputs, [("b".into(), Value::from("two"))]);
}

#[test]
fn a_fork_that_failed_is_resumed_like_any_other_run() {
    let mut world = World::new();
    let program =
        "let a = session \"First\"\nlet b = session \"Second {a}\"\noutput c = session \"Third {b}\"\n";
    let reply = |label: &str| format!("[[session]]\npattern = \"^{label}\"\nreply = \"{label}\"\n");
    world.answer(&["First", "Second", "Third"].map(reply).concat());
    world.execute(program, "script", Start::New);
    let recorded = world.observed();
    world.answer(&(reply("Second") + "[[session]]\nfail = \"no\"\n"));
    let fork = ForkRequest {
        from: Some(Point::of_line(2)),
        variables: vec![("a".into(), Value::from("Zeroth"))],
        ..ForkRequest::default()
    };
    assert_eq!(world.fork(program, "script", recorded, fork).end.status, RunStatus::Failed);
    let run = world.observed().head.run;
    world.answer(&reply("Third"));
    let finished = world.execute(program, "script", Start::Resume { run, accept_changes: false });
    assert_eq!(finished.end.status, RunStatus::Completed, "{:?}", finished.end.error);
    assert_eq!((finished.reused, finished.ran), (2, 1));
    assert!(story(world.events.clone()).contains("Second Zeroth"));
}

#[test]
fn a_fork_sets_variables_and_says_who_did() {
    let (mut world, recorded) = run();
    let fork = ForkRequest {
        from: Some(Point::of_line(10)),
        variables: vec![("a".into(), Value::from("another draft"))],
        ..ForkRequest::default()
    };
    world.fork(PROGRAM, "script", recorded, fork);
    let improved = world.events.iter().find_map(|event| match &event.kind {
        EventKind::SessionStarted { task, .. } if *task.task == *"Improve" => {
            Some(task.context[0].text.clone())
        }
        _ => None,
    });
    assert_eq!(improved.unwrap().as_deref(), Some("another draft"));
    let fork = world.observed();
    let before = recorded_story(&fork);
    // A replay of the fork obeys the person's word, too.
    world.replay(PROGRAM, fork);
    assert_eq!(recorded_story(&world.observed()), before);
}

#[test]
fn what_if_it_had_replied_something_else() {
    let (mut world, recorded) = run();
    let fork =
        ForkRequest { replies: vec![(Point::of_line(4), Arc::from("no facts"))], ..ForkRequest::default() };
    let finished = world.fork(PROGRAM, "script", recorded, fork);
    assert_eq!(finished.end.status, RunStatus::Completed, "{:?}", finished.end.error);
    assert!(story(world.events.clone()).contains("Draft A from no facts"));
    assert_eq!(finished.reused, 1);
}

#[test]
fn the_place_of_a_statement_stands_for_its_only_session() {
    let (mut world, recorded) = run();
    let fork = |at: &str| ForkRequest {
        replies: vec![(at.parse().unwrap(), Arc::from("no facts"))],
        ..ForkRequest::default()
    };
    let places = |at: &str| plan_fork(recorded.clone(), fork(at)).unwrap().from.replies;
    assert_eq!(places("s2"), places("s2/1"));
    // The last attempt of a session that was retried.
    let mut events = recorded.events().unwrap().map(Result::unwrap);
    let retried = events.find(|event| event.place.as_str().ends_with("/a1")).unwrap().place;
    let session = retried.as_str().strip_suffix("/a1").unwrap();
    let (statement, _) = session.rsplit_once('/').unwrap();
    assert_eq!(places(session)[0].0, retried);
    assert_eq!(places(statement)[0].0, retried);
    let finished = world.fork(PROGRAM, "script", recorded.clone(), fork("s2"));
    assert_eq!(finished.end.status, RunStatus::Completed, "{:?}", finished.end.error);
    assert!(story(world.events.clone()).contains("Draft A from no facts"));
}

#[test]
fn a_statement_with_several_sessions_has_them_named() {
    let mut world = World::new();
    world.execute("output a = session \"First\" -> session \"Second\"\n", "offline", Start::New);
    let fork =
        ForkRequest { replies: vec![("s0".parse().unwrap(), Arc::from("x"))], ..ForkRequest::default() };
    let recorded = world.observed();
    let run = recorded.head.run.to_string();
    let refusal = plan_fork(recorded, fork).unwrap_err().to_string();
    expect!["run RUN has no reply of a session at s0; `prose runs show RUN --json` lists the places of its requests"].assert_eq(&refusal.replace(&run, "RUN"));
}

#[test]
fn a_run_is_forked_where_it_failed() {
    let mut world = World::new();
    let program = "for x in [\"a\", \"b\", \"c\"]:\n  session \"Do {x}\"\noutput end = session \"End\"\n";
    world.answer("[[session]]\npattern = \"Do b\"\nfail = \"no\"\n[[session]]\nreply = \"done\"\n");
    assert_eq!(world.execute(program, "script", Start::New).end.status, RunStatus::Failed);
    let recorded = world.observed();
    let fork = ForkRequest { from: Some(Point::Failure), ..ForkRequest::default() };
    let planned = plan_fork(recorded.clone(), fork.clone()).unwrap();
    // The line alone stands for its first execution.
    assert_eq!(planned.place.unwrap().as_str(), "s0/i1/1");
    world.answer("[[session]]\nreply = \"done\"\n");
    let finished = world.fork(program, "script", recorded, fork.clone());
    assert_eq!((finished.end.status, finished.reused, finished.ran), (RunStatus::Completed, 1, 3));
    let refusal = plan_fork(world.observed(), fork).unwrap_err().to_string();
    assert!(refusal.ends_with("has not failed; name a line, a place or an event instead"), "{refusal}");
}

#[test]
fn a_waiting_run_is_forked_with_another_past() {
    let mut world = World::new();
    let program = "let a = session \"First\"\ninput go: \"Ship it? (yes/no)\"\noutput b = session \"Second {a} {go}\"\n";
    world.answer("[[session]]\nreply = \"one\"\n");
    let waiting = world.execute(program, "script", Start::New);
    assert_eq!(waiting.end.status, RunStatus::Failed, "no one answers in this test");
    let recorded = world.observed();
    let journal = fs::read(&recorded.path).unwrap();
    let fork = ForkRequest {
        from: Some(Point::of_line(2)),
        variables: vec![("a".into(), Value::from("uno"))],
        ..ForkRequest::default()
    };
    let planned = plan_fork(recorded.clone(), fork).unwrap();
    let start = Start::From(Box::new(planned.from));
    world.answer("[[session]]\npattern = \"Second uno yes\"\nreply = \"two\"\n");
    let finished = world.execute_with(program, "script", start, &[("go", "yes")]);
    assert_eq!(finished.end.status, RunStatus::Completed, "{:?}", finished.end.error);
    assert_eq!((finished.reused, finished.ran), (1, 1));
    assert_eq!(fs::read(&recorded.path).unwrap(), journal);
}

#[track_caller]
fn check_refused(fork: ForkRequest, expected: Expect) {
    let (_world, recorded) = run();
    let run = recorded.head.run.to_string();
    let refusal = plan_fork(recorded, fork).unwrap_err().to_string();
    expected.assert_eq(&refusal.replace(&run, "RUN"));
}

#[test]
fn points_that_do_not_exist_are_refused() {
    let at = |point| ForkRequest { from: Some(point), ..ForkRequest::default() };
    check_refused(at(Point::of_line(40)), expect!["line 40 was not executed in run RUN; line 23 was"]);
    check_refused(
        at("s99".parse().unwrap()),
        expect!["run RUN has no place `s99`; `prose runs show RUN --json` lists the places of its requests"],
    );
    check_refused(
        ForkRequest { variables: vec![("fact".into(), Value::from(""))], ..at(Point::of_line(10)) },
        expect!["`fact` has no value before the point in run RUN; did you mean `facts`?"],
    );
    check_refused(
        ForkRequest { replies: vec![(Point::of_line(20), Arc::from("x"))], ..at(Point::of_line(4)) },
        expect![
            "the changed reply is recorded by event 68, after the point at event 7; fork from a later point"
        ],
    );
    assert!("@x".parse::<Point>().is_err() && "".parse::<Point>().is_err() && "3x".parse::<Point>().is_err());
}

/// Replays a generated program and forks it at a random event.
fn check_generated(seed: u64) {
    let mut random = Rng::with_seed(seed);
    let text = program(&mut random);
    let mut world = World::new();
    let first = world.execute(&text, "offline", Start::New);
    let recorded = world.observed();
    let before = recorded_story(&recorded);
    let replay = world.replay(&text, recorded.clone());
    assert_eq!(recorded_story(&world.observed()), before, "seed {seed}\n{text}");
    assert_eq!(replay.ran, 0);
    let count = recorded.events().unwrap().count() as u64;
    let event = random.u64(1..=count);
    let fork = ForkRequest { from: Some(Point::Event(event)), ..ForkRequest::default() };
    let fork = world.fork(&text, "offline", recorded, fork);
    assert_eq!(fork.reused + fork.ran, first.ran, "seed {seed}, event {event}\n{text}");
    let ends = [&first, &fork].map(|run| (run.end.status, run.end.outputs.clone(), run.end.value.clone()));
    assert_eq!(ends[0], ends[1], "seed {seed}, event {event}\n{text}");
}

#[test]
fn generated_programs_replay_and_fork_to_the_same_end() {
    (0..count_of_programs(12)).for_each(check_generated);
}

/// A run in one file.
fn exported(world: &World, recorded: &RecordedRun, secret: Option<&str>) -> PathBuf {
    let path = world.folder.path().join("run.prose-run");
    let redact = |text: &str| {
        secret.filter(|secret| text.contains(*secret)).map(|secret| text.replace(secret, "[redacted]"))
    };
    let mut file = fs::File::create(&path).unwrap();
    portable::export(recorded, &redact, &mut file).unwrap();
    file.flush().unwrap();
    path
}

#[test]
fn a_run_in_one_file_is_replayed_and_imported() {
    let (world, recorded) = run();
    let path = exported(&world, &recorded, None);
    let before = recorded_story(&recorded);

    let mut other = World::new();
    let from_file = recorded_run(&other.project(), path.to_str().unwrap()).unwrap();
    other.replay(PROGRAM, from_file);
    assert_eq!(story(other.events.clone()), before);

    let id = portable::import(&other.project(), &path, None).unwrap();
    assert_eq!(id, recorded.head.run);
    let imported = recorded_run(&other.project(), &id).unwrap();
    assert_eq!(recorded_story(&imported), before);
    assert_eq!(imported.program.as_deref(), Some(PROGRAM));
    let bindings = |world: &World| {
        let run = world.project().show_run(&id).unwrap();
        run.bindings
            .iter()
            .map(|binding| (binding.name.clone(), fs::read(&binding.path).unwrap()))
            .collect::<Vec<_>>()
    };
    assert_eq!(bindings(&other), bindings(&world));
    let error = portable::import(&other.project(), &path, None).unwrap_err().to_string();
    assert!(error.contains("is already in"), "{error}");
    assert_eq!(recorded_story(&recorded_run(&other.project(), &id).unwrap()), before);
}

#[test]
fn a_redacted_run_does_not_have_the_secret_and_is_replayed() {
    let (world, recorded) = run();
    let path = exported(&world, &recorded, Some("three facts"));
    assert!(!fs::read_to_string(&path).unwrap().contains("three facts"));
    let mut other = World::new();
    let redacted = recorded_run(&other.project(), path.to_str().unwrap()).unwrap();
    assert!(redacted.is_redacted);
    let finished = other.replay(PROGRAM, redacted);
    assert_eq!(finished.end.status, RunStatus::Completed, "{:?}", finished.end.error);
    assert!(story(other.events.clone()).contains("Draft A from [redacted]"));
}

#[test]
fn damaged_and_newer_exports_are_refused_and_nothing_is_imported() {
    let (world, recorded) = run();
    let path = exported(&world, &recorded, None);
    let whole = fs::read(&path).unwrap();
    let refused = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        let other = World::new();
        let error = portable::import(&other.project(), &path, None).unwrap_err().to_string();
        assert_eq!(other.project().list_runs().unwrap(), []);
        error.replace(path.to_str().unwrap(), "FILE")
    };
    let cut: Vec<usize> = (0..whole.len()).step_by(whole.len() / 50 + 1).collect();
    for length in cut {
        refused(&whole[..length]);
    }
    let mut random = Rng::with_seed(7);
    for _ in 0..50 {
        let mut changed = whole.clone();
        let at = random.usize(..changed.len());
        changed[at] ^= 1 << random.u32(0..7);
        refused(&changed);
    }
    let newer = String::from_utf8(whole.clone()).unwrap().replacen("\"prose-run\":1", "\"prose-run\":9", 1);
    expect!["cannot use `FILE`: it has version 9 of the format, but this `prose` supports versions up to 1; use a newer `prose`"]
        .assert_eq(&refused(newer.as_bytes()));
    expect!["cannot use `FILE`: it is not a run that `prose runs export` wrote"]
        .assert_eq(&refused(b"hello\n"));
    expect!["cannot use `FILE`: it is not complete; export the run again"]
        .assert_eq(&refused(&whole[..whole.len() - 200]));
}

#[test]
fn a_journal_that_is_being_written_is_used_up_to_its_last_whole_line() {
    let (mut world, recorded) = run();
    let folder = recorded.path.parent().unwrap().to_owned();
    let journal = fs::read(folder.join(JOURNAL_FILE)).unwrap();
    let lines: Vec<&[u8]> = journal.split_inclusive(|byte| *byte == b'\n').collect();
    let mut grown = lines[..lines.len() / 2].concat();
    grown.extend_from_slice(&lines[lines.len() / 2][..20]);
    fs::write(folder.join(JOURNAL_FILE), grown).unwrap();
    let recorded = world.last();
    let finished = world.replay(PROGRAM, recorded);
    assert_eq!(finished.end.error.unwrap().kind, ErrorKind::NotRecorded);
    assert!(finished.reused > 0);
}

#[test]
fn messages_of_a_fork_count_lines_in_the_document_of_the_program() {
    let in_document = ForkRequest { first_line: 100, ..ForkRequest::default() };
    check_refused(
        ForkRequest { from: Some(Point::of_line(40)), ..in_document.clone() },
        expect!["line 140 was not executed in run RUN; line 123 was"],
    );
    check_refused(
        ForkRequest { replies: vec![(Point::of_line(40), Arc::from("x"))], ..in_document },
        expect![
            "run RUN has no reply of a session at line 140; `prose runs show RUN --json` lists the places of its requests"
        ],
    );
}
