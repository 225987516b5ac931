//! Runs that wait for answers (decision 24), and answers that are events (decision 25).

use std::fs;
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use expect_test::expect;
use prose_analysis::{AnalysisHost, Text};
use prose_config::{Config, RunConfig, WhenWaiting};
use prose_run::questions::{AnswerError, Attribution, OpenQuestion, QuestionId, resolve};
use prose_run::{
    Grants, Project, Questions, Routes, RunHooks, RunRequest, Start, TrustSubject, UserFiles, UserTrust,
    prepare,
};
use prose_state::journal::JOURNAL_FILE;
use prose_state::reader::JournalReader;
use prose_state::runs::RunState;
use prose_vm::activity::PermissionQuestion;
use prose_vm::activity::{Approvals, PermissionAnswer};
use prose_vm::event::{Event, EventKind, RunEnd, RunStatus, StateMode};
use prose_vm::program::Program;
use prose_vm::questions::AnswerSource;
use prose_vm::runner::{Inputs, Limits, now};
use tempfile::TempDir;

const DAY: u64 = 24 * 60 * 60 * 1000;
/// 2026-01-15T14:30:52Z
const START: u64 = 1_768_487_452_000;

fn ada(from: AnswerSource) -> Attribution {
    Attribution { by: Some("ada".into()), from }
}

/// A folder with a run that no one attends.
struct World {
    folder: TempDir,
    program: &'static str,
    /// The simulated time.
    now: u64,
    config: RunConfig,
}

impl World {
    fn new(program: &'static str) -> Self {
        Self { folder: prose_fixture::tempdir().unwrap(), program, now: START, config: RunConfig::default() }
    }

    fn project(&self) -> Project {
        Project::new(self.folder.path())
    }

    /// Executes the program at the simulated time.
    fn execute(&self, script: &str, start: Start, questions: Questions) -> RunEnd {
        let hooks = RunHooks {
            questions,
            observer: &mut |_, _| {},
            interrupted: Box::pin(std::future::pending()),
            narration: None,
        };
        self.execute_with(script, start, hooks)
    }

    fn execute_with(&self, script: &str, start: Start, hooks: RunHooks<'_>) -> RunEnd {
        let path = self.folder.path().join("answers.toml");
        fs::write(&path, script).unwrap();
        let mut host = AnalysisHost::default();
        let file = host.set_text(Path::new("/main.prose"), Text::new(self.program));
        let request = RunRequest {
            program: Program::new(host.db(), file),
            id: None,
            project: self.project(),
            start,
            part: None,
            state: StateMode::Filesystem,
            harness: Some("script".to_owned()),
            script: Some(path),
            stand_in: None,
            dispatch: None,
            model: None,
            seed: 0,
            delay: Duration::ZERO,
            inputs: Vec::new(),
            config: self.config.clone(),
            routes: Routes::default(),
            grants: Grants::default(),
            limits: Limits::default(),
            money: prose_run::Money::default(),
            timeout: None,
            traceparent: None,
            subject: TrustSubject::new(self.folder.path(), &Config::default()),
            trust: UserTrust { files: UserFiles::at(self.folder.path().join("state")), is_trusted: false },
            names_program: false,
        };
        let mut prepared = prepare(request).unwrap();
        let now = self.now;
        prepared.clock = Arc::new(move || now);
        prepared.execute(hooks).unwrap().end
    }

    fn run(&self, script: &str) -> RunEnd {
        self.execute(script, Start::New, Questions::default())
    }

    fn resume(&self, script: &str) -> RunEnd {
        let run = self.project().last_run().unwrap().unwrap().id;
        self.execute(script, Start::Resume { run, accept_changes: false }, Questions::default())
    }

    /// Answers the only open question of the run in its files, as another process does.
    fn answer(&self, text: &str) -> Vec<OpenQuestion> {
        let run = self.project().last_run().unwrap().unwrap();
        assert_eq!(run.status, RunState::Waiting);
        let question = &run.waiting[0];
        let value = resolve(question, text).unwrap();
        let by = ada(AnswerSource::CommandLine);
        self.project().record_answer(&run.id, question.id, value, by, self.now).unwrap()
    }

    fn events(&self) -> Vec<Event> {
        let run = self.project().last_run().unwrap().unwrap();
        JournalReader::open(&run.folder.join(JOURNAL_FILE)).unwrap().map(Result::unwrap).collect()
    }
}

fn summaries(end: &RunEnd) -> Vec<String> {
    end.waiting.iter().map(OpenQuestion::summary).collect()
}

fn reply(label: &str, reply: &str) -> String {
    format!("[[session]]\nlabel = \"{label}\"\nreply = \"{reply}\"\n")
}

#[test]
fn a_run_waits_for_three_days_and_asks_nothing_twice() {
    let mut world = World::new(
        "let plan = session \"Plan\"\nparallel:\n  go = input \"Ship {plan}? (yes/no)\"\n  notes = session \"Notes\"\noutput \
         done = session \"Deploy {go}, {notes}\"\n",
    );
    let end = world.run(&format!("{}{}", reply("Plan", "it"), reply("Notes", "new")));
    // The other branch has worked meanwhile.
    assert_eq!((end.status, end.sessions), (RunStatus::Waiting, 2));
    assert_eq!(summaries(&end), ["Ship it? (yes/no)"]);
    assert_eq!((end.waiting[0].since, end.waiting[0].line), (START, Some(3)));

    world.now = START + 3 * DAY;
    assert_eq!(world.answer("YES"), []);
    let summary = world.project().last_run().unwrap().unwrap();
    assert_eq!((summary.status, summary.waiting.len()), (RunState::Interrupted, 0));

    // The agent of the last session asks for a permission, and again nobody is there. The script has no replies to the earlier sessions.
    let deploy = "[[session]]\nlabel = \"Deploy yes, new\"\nreply = \"done\"\nactivity = [{ ask = \"git push\", rule = \"execute: prompt\" }]\n";
    let end = world.resume(deploy);
    assert_eq!((end.status, end.sessions), (RunStatus::Waiting, 2));
    assert_eq!(summaries(&end), ["A session asks for permission: git push (execute: prompt)"]);

    world.now += 3 * DAY;
    world.answer("once");
    let end = world.resume(deploy);
    assert_eq!((end.status, end.sessions), (RunStatus::Completed, 3));
    assert_eq!(end.outputs, [("done".into(), "done".into())]);
    // The time for which it waited is not part of its duration.
    let summary = world.project().last_run().unwrap().unwrap();
    assert_eq!(summary.work(), Some(0));

    // What a person said is in the journal, with who, from where and when. The session that was ended counts.
    let told = world.events().into_iter().filter_map(|event| match event.kind {
        EventKind::Answered(answer) => {
            let Attribution { by, from } = &answer.attribution;
            let days = (event.at - START) / DAY;
            Some(format!("day {days}: {} by {by:?} {}", answer.answer, from.phrase()))
        }
        EventKind::Effect { effect, work, .. } if effect == "input" => {
            Some(format!("input by {:?}", work.given_by.unwrap().by))
        }
        EventKind::Expense(expense) => Some(format!("{} session without an outcome", expense.sessions())),
        _ => None,
    });
    expect![[r#"
        day 3: yes by Some("ada") on the command line
        input by Some("ada")
        1 session without an outcome
        day 6: once by Some("ada") on the command line"#]]
    .assert_eq(&told.collect::<Vec<_>>().join("\n"));
}

#[test]
fn a_permission_is_asked_again_for_another_command_only() {
    let mut world = World::new("session \"Push\"\n");
    let script = |commands: &[&str]| {
        let asked: Vec<String> = commands
            .iter()
            .map(|command| format!("{{ ask = \"{command}\", rule = \"execute: prompt\" }}"))
            .collect();
        format!("[[session]]\nlabel = \"Push\"\nreply = \"done\"\nactivity = [{}]\n", asked.join(", "))
    };
    let both = script(&["git push", "git tag"]);
    assert_eq!(summaries(&world.run(&both)), ["A session asks for permission: git push (execute: prompt)"]);
    world.answer("y");
    assert_eq!(summaries(&world.resume(&both)), ["A session asks for permission: git tag (execute: prompt)"]);
    world.now += DAY;
    world.answer("deny");
    assert_eq!(world.resume(&both).status, RunStatus::Completed);
    let asked = world.events().into_iter().filter_map(|event| match event.kind {
        EventKind::Effect { work, .. } => Some(work.questions.into_iter().map(|asked| asked.is_allowed)),
        _ => None,
    });
    assert_eq!(asked.flatten().collect::<Vec<_>>(), [Some(true), Some(false)]);
}

#[test]
fn a_session_that_waits_for_a_person_does_not_keep_others_from_working() {
    let mut world = World::new("parallel:\n  session \"Push\"\n  session \"Notes\"\n");
    world.config.max_parallel = NonZeroU32::new(1);
    let script = "[[session]]\nlabel = \"Push\"\nreply = \"done\"\nactivity = [{ ask = \"git push\", rule = \"execute: prompt\" }]\n\
                  [[session]]\nlabel = \"Notes\"\nreply = \"new\"\n";
    let end = world.run(script);
    assert_eq!(summaries(&end), ["A session asks for permission: git push (execute: prompt)"]);
    assert_eq!(end.sessions, 1, "the other branch has worked meanwhile");
    world.answer("once");
    let end = world.resume(script);
    assert_eq!((end.status, end.sessions), (RunStatus::Completed, 2));
}

#[test]
fn questions_are_answered_one_by_one() {
    let world = World::new(
        "parallel:\n  a = input \"First?\"\n  b = input \"Second? [one | two]\"\noutput c = \"{a} {b}\"\n",
    );
    let end = world.run("");
    assert_eq!(summaries(&end), ["First?", "Second? [one | two]"]);
    let refused = resolve(&end.waiting[1], "three").unwrap_err().to_string();
    expect!["`three` is not one of the answers; choose one of [o]ne, [t]wo"].assert_eq(&refused);
    let left = world.answer("1");
    assert_eq!(left.iter().map(OpenQuestion::summary).collect::<Vec<_>>(), ["Second? [one | two]"]);
    let summary = world.project().last_run().unwrap().unwrap();
    assert_eq!(summary.error.as_deref(), Some("the run waits for an answer: Second? [one | two]"));
    let again = world.project().record_answer(
        &summary.id,
        QuestionId(1),
        "2".into(),
        ada(AnswerSource::CommandLine),
        START,
    );
    assert!(again.unwrap_err().to_string().contains("has no open question 1"));
    // What is still open is asked again.
    let end = world.resume("");
    // It keeps its number, with which someone may be answering it.
    assert_eq!((summaries(&end), end.waiting[0].id), (vec!["Second? [one | two]".to_owned()], QuestionId(2)));
    world.answer("T");
    assert_eq!(world.resume("").outputs, [("c".into(), "1 two".into())]);
}

#[test]
fn the_same_question_in_a_loop_is_another_question() {
    let world = World::new("repeat 2:\n  let go = input \"Again?\"\noutput done = \"done\"\n");
    world.run("");
    world.answer("yes");
    assert_eq!(world.resume("").status, RunStatus::Waiting);
    world.answer("no");
    assert_eq!(world.resume("").status, RunStatus::Completed);
}

#[test]
fn an_optional_input_that_no_one_gives_is_null() {
    let world =
        World::new("session \"First\"\nlet style = input \"Optional: which style?\"\noutput o = style\n");
    let end = world.run(&reply("First", "one"));
    assert_eq!(end.status, RunStatus::Completed);
}

#[test]
fn a_run_that_stays_is_answered_while_it_waits() {
    let mut world = World::new("let go = input \"Ship it? (yes/no)\"\noutput o = go\n");
    world.config.when_waiting = WhenWaiting::Stay;
    let desk = Questions::default();
    let answering = {
        let desk = desk.clone();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            let question = runtime.block_on(desk.next(&mut Default::default())).unwrap();
            let by = ada(AnswerSource::Editor);
            let wrong = desk.answer(Some(question.id), "perhaps", by.clone()).unwrap_err();
            assert!(matches!(wrong, AnswerError::Invalid(_)));
            desk.answer(None, "No", by.clone()).unwrap();
            // The first answer counts.
            assert_eq!(desk.answer(None, "yes", by), Err(AnswerError::None));
        })
    };
    let end = world.execute("", Start::New, desk);
    answering.join().unwrap();
    assert_eq!(end.outputs, [("o".into(), "no".into())]);
}

/// Completes once the run asks, after it was answered: the answer is taken and does not reach the run any more.
async fn answered_and_stopped(desk: Questions) -> String {
    let question = desk.next(&mut Default::default()).await.unwrap();
    desk.answer(Some(question.id), "yes", ada(AnswerSource::CommandLine)).unwrap();
    "the run is stopped".to_owned()
}

#[test]
fn an_answer_that_is_taken_while_the_run_stops_is_recorded() {
    let mut world = World::new(
        "parallel:\n  go = input \"Ship it? (yes/no)\"\n  notes = input \"Notes?\"\noutput o = \"{go} {notes}\"\n",
    );
    world.config.when_waiting = WhenWaiting::Stay;
    let desk = Questions::default();
    let mut late = Vec::new();
    let mut observer = |event: &Event, _: bool| {
        if let EventKind::RunEnded(end) = &event.kind {
            // Another process may still send answers.
            let by = || ada(AnswerSource::CommandLine);
            late.extend(end.waiting.iter().map(|open| desk.answer(Some(open.id), "new", by())));
        }
    };
    let hooks = RunHooks {
        questions: desk.clone(),
        observer: &mut observer,
        interrupted: Box::pin(answered_and_stopped(desk.clone())),
        narration: None,
    };
    let end = world.execute_with("", Start::New, hooks);
    assert_eq!((end.status, summaries(&end)), (RunStatus::Interrupted, vec!["Notes?".to_owned()]));
    assert_eq!(late, [Err(AnswerError::Stopping)]);
    let answered = world.events().into_iter().find_map(|event| match event.kind {
        EventKind::Answered(answer) => Some((answer.answer, answer.attribution)),
        _ => None,
    });
    assert_eq!(answered, Some(("yes".into(), ada(AnswerSource::CommandLine))));
    // The one is not asked again, and the other one is answered in the files of the run.
    let run = world.project().last_run().unwrap().unwrap();
    let by = ada(AnswerSource::CommandLine);
    world.project().record_answer(&run.id, run.waiting[0].id, "new".into(), by, world.now).unwrap();
    assert_eq!(world.resume("").outputs, [("o".into(), "yes new".into())]);
}

#[test]
fn a_question_that_is_shown_is_in_the_files_of_the_run() {
    let mut world = World::new("parallel:\n  a = input \"First?\"\n  b = input \"Second?\"\n");
    world.config.when_waiting = WhenWaiting::Stay;
    // What was asked before the process took the run is not shown.
    world.now = now() + DAY;
    let desk = Questions::default();
    let project = world.project();
    let answering = {
        let desk = desk.clone();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            let (mut seen, mut read) = (Default::default(), Vec::new());
            while let Some(question) = runtime.block_on(desk.next(&mut seen)) {
                let waiting = project.last_run().unwrap().unwrap().waiting;
                read.push((waiting.contains(&question), question.summary()));
                desk.answer(Some(question.id), "yes", ada(AnswerSource::Editor)).unwrap();
            }
            read
        })
    };
    assert_eq!(world.execute("", Start::New, desk).status, RunStatus::Completed);
    let read = answering.join().unwrap();
    assert_eq!(read, [(true, "First?".to_owned()), (true, "Second?".to_owned())]);
}

/// Asks whether a tool may be used.
async fn ask(desk: &Questions, agent: &str, title: &str, rule: &str, is_deniable: bool) -> PermissionAnswer {
    let question = PermissionQuestion {
        id: title.into(),
        agent: Some(agent.into()),
        title: title.to_owned(),
        rule: rule.to_owned(),
        is_deniable,
    };
    desk.ask(&question).await
}

#[tokio::test]
async fn an_answer_for_the_run_covers_what_the_same_rule_asks() {
    let desk = Questions::default();
    let asked = Mutex::new(Vec::new());
    let answering = async {
        let mut seen = Default::default();
        for answer in ["run", "once", "deny"] {
            let question = desk.next(&mut seen).await.unwrap();
            asked.lock().unwrap().push(question.prompt);
            desk.answer(Some(question.id), answer, ada(AnswerSource::Editor)).unwrap();
        }
    };
    let asking = async {
        [
            ask(&desk, "historian", "git log", "bash: prompt", false).await,
            ask(&desk, "historian", "git show", "bash: prompt", false).await,
            ask(&desk, "writer", "git show", "bash: prompt", false).await,
            ask(&desk, "historian", "read .env", "`.env` is a protected file", false).await,
        ]
    };
    let (answers, ()) = tokio::join!(asking, answering);
    let answers = answers.map(|answer| (answer.is_allowed, answer.from));
    use AnswerSource::{Editor, Rule};
    assert_eq!(answers, [(true, Editor), (true, Rule), (true, Editor), (false, Editor)]);
    assert_eq!(asked.lock().unwrap().len(), 3);
}

#[tokio::test]
async fn what_no_rule_asks_for_is_denied_where_no_one_attends() {
    let desk = Questions::default();
    let answer = ask(&desk, "historian", "read .env", "`.env` is a protected file", true).await;
    assert_eq!((answer.is_allowed, answer.from), (false, AnswerSource::NoOne));
    assert_eq!(desk.open(), []);
}

#[tokio::test]
async fn who_answers_inputs_does_not_attend_to_permissions() {
    let desk = Questions::default();
    let _attendance = desk.attend_inputs();
    let answer = ask(&desk, "historian", "read .env", "`.env` is a protected file", true).await;
    assert_eq!((answer.is_allowed, answer.from), (false, AnswerSource::NoOne));
    // A written rule waits for a person.
    let asking = ask(&desk, "historian", "git log", "bash: prompt", false);
    let answering = async { desk.answer(None, "once", ada(AnswerSource::CommandLine)).unwrap() };
    let (answer, ()) = tokio::join!(asking, answering);
    assert_eq!((answer.is_allowed, answer.from), (true, AnswerSource::CommandLine));
}

#[tokio::test]
async fn a_run_that_no_one_attends_takes_no_answer_once_it_stops() {
    let desk = Questions::default();
    let asking = ask(&desk, "historian", "git log", "bash: prompt", false);
    let stopping = async {
        let open = desk.abandoned(1).await;
        let by = ada(AnswerSource::CommandLine);
        assert_eq!(desk.answer(Some(open[0].id), "once", by), Err(AnswerError::Stopping));
    };
    tokio::select! {
        biased;
        _ = asking => panic!("it was answered"),
        () = stopping => {}
    }
}

#[test]
fn a_run_that_is_abandoned_waits_and_denies_nothing() {
    let world = World::new(
        "let a = session \"First\"\ninput topic: \"Optional topic\"\noutput o = \"{a} {topic}\"\n",
    );
    let desk = Questions::default();
    let attendance = desk.attend();
    let leaving = {
        let desk = desk.clone();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            let asked = runtime.block_on(desk.next(&mut Default::default()));
            desk.abandon();
            asked
        })
    };
    let end = world.execute(&reply("First", "one"), Start::New, desk);
    assert!(leaving.join().unwrap().unwrap().is_optional);
    drop(attendance);
    assert_eq!((end.status, summaries(&end)), (RunStatus::Waiting, vec!["topic: Optional topic".to_owned()]));
}

#[tokio::test(start_paused = true)]
async fn waiting_is_no_part_of_a_timeout() {
    let desk = Questions::default();
    let _attendance = desk.attend();
    let asking = ask(&desk, "historian", "git log", "bash: prompt", false);
    let answering = async {
        tokio::time::sleep(Duration::from_secs(3600)).await;
        desk.answer(None, "once", ada(AnswerSource::Editor)).unwrap();
    };
    let start = tokio::time::Instant::now();
    tokio::join!(asking, answering, desk.worked_for(Duration::from_secs(60)));
    assert_eq!(start.elapsed(), Duration::from_secs(3660));
}

#[test]
fn a_face_stops_asking_when_the_run_has_ended() {
    let world = World::new("output o = session \"First\"\n");
    let desk = Questions::default();
    let attendance = desk.attend();
    let face = {
        let desk = desk.clone();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            let next = runtime.block_on(desk.next(&mut Default::default()));
            drop(attendance);
            next
        })
    };
    assert_eq!(world.execute(&reply("First", "one"), Start::New, desk).status, RunStatus::Completed);
    assert_eq!(face.join().unwrap(), None);
}
