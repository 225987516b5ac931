//! Memories that several runs share: one run has a turn, the others wait, and memory and segments agree (R48, R49).

use std::fs;
use std::pin::Pin;
use std::sync::Arc;

use expect_test::expect;
use prose_state::filesystem::{FilesystemStore, Resume, Resumed};
use prose_state::folder::Project;
use prose_vm::effect::{
    Effect, Memory, MemoryPlace, MemoryScope, MemoryUse, Outcome, Request, RequestId, SessionTask,
};
use prose_vm::event::EventKind;
use prose_vm::store::{Recording, Store, Turn};

use crate::support::{Driver, effect, project, waiting};

const TEXT: &str = "resume: captain\nsession \"Other\"\n";

fn captain() -> MemoryPlace {
    agent("captain")
}

fn agent(name: &str) -> MemoryPlace {
    let folder = format!(".prose/agents/{name}/").into();
    MemoryPlace { agent: name.into(), scope: MemoryScope::Project, folder }
}

/// The request for what an agent remembers, for the session at a place.
fn memory_request(run: &Driver, id: u64, at: &str, place: &MemoryPlace) -> Request {
    Request {
        id: RequestId(id),
        place: crate::support::place(&format!("{at}/memory")),
        site: run.site(1).unwrap(),
        program: None,
        effect: Effect::Memory(place.clone()),
    }
}

type Awaited = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Takes a turn; gives what to wait for if another run has it.
fn take(store: &mut FilesystemStore, request: &Request) -> Option<Awaited> {
    let Effect::Memory(place) = &request.effect else { unreachable!() };
    match store.take_turn(request, place).unwrap() {
        Turn::Taken => None,
        Turn::Waits(awaited) => Some(awaited),
    }
}

fn wait(awaited: Awaited) {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(awaited);
}

fn write(run: &mut Driver, at: &str, place: &MemoryPlace, memory: &str, segment: u32) {
    let (memory, record) = (memory.into(), format!("- Found: {segment}").into());
    let prompt = "Review".into();
    run.tell(at, 1, EventKind::MemoryWritten { place: place.clone(), memory, segment, prompt, record });
}

fn read(run: &mut Driver, place: &MemoryPlace) -> (String, u32) {
    let Memory { text, segments } = run.store.read_memory(place).unwrap();
    (text.as_deref().unwrap_or_default().to_owned(), segments)
}

#[test]
fn a_run_waits_for_its_turn_and_reads_what_the_one_before_has_written() {
    let (_folder, project) = project();
    let mut first = Driver::start(&project, "first.prose", TEXT);
    let mut second = Driver::start(&project, "second.prose", TEXT);
    let request = memory_request(&first, 1, "s1", &captain());
    assert!(take(&mut first.store, &request).is_none());
    second.enter("s1", 1);
    let awaited = take(&mut second.store, &request).expect("the other run has the turn");
    assert!(
        second.state().contains("\nwaiting: the memory of captain for line 1, which another run is using\n"),
        "{}",
        second.state()
    );
    // A second session of the same run has its turn with the first one.
    let other = memory_request(&first, 2, "s2", &captain());
    assert!(take(&mut first.store, &other).is_none());
    write(&mut first, "s1", &captain(), "of the first", 1);
    first.store.end_turn(request.id);
    assert!(take(&mut second.store, &request).is_some());
    first.store.end_turn(other.id);
    wait(awaited);
    assert!(take(&mut second.store, &request).is_none());
    assert_eq!(read(&mut second, &captain()), ("of the first".to_owned(), 1));
    second.leave("s1", 1);
    assert!(!second.state().contains("waiting:"), "{}", second.state());
    // The turn ends with the run, also where nothing says so.
    let awaited = take(&mut first.store, &other).expect("the other run has the turn");
    drop(second);
    wait(awaited);
    assert!(take(&mut first.store, &other).is_none());
}

#[test]
fn a_turn_that_is_not_wanted_any_more_is_given_back_when_it_comes() {
    let (_folder, project) = project();
    let [mut first, mut second, mut third] =
        ["1.prose", "2.prose", "3.prose"].map(|name| Driver::start(&project, name, TEXT));
    let request = memory_request(&first, 1, "s1", &captain());
    assert!(take(&mut first.store, &request).is_none());
    assert!(take(&mut second.store, &request).is_some());
    let awaited = take(&mut third.store, &request).unwrap();
    second.store.end_turn(request.id);
    first.store.end_turn(request.id);
    wait(awaited);
    assert!(take(&mut third.store, &request).is_none());
}

#[test]
fn runs_that_use_two_agents_in_another_order_do_not_wait_for_each_other_in_a_circle() {
    let (_folder, project) = project();
    let mut runs = ["1.prose", "2.prose"].map(|name| Driver::start(&project, name, TEXT));
    let agents = [agent("a"), agent("b")];
    let requests =
        agents.each_ref().map(|agent| memory_request(&runs[0], agent.agent.len() as u64, "s1", agent));
    let requests = [requests[0].clone(), Request { id: RequestId(2), ..requests[1].clone() }];
    // Each has one of them in one branch, and waits for the other one in another branch.
    let mut awaited = Vec::new();
    for (nth, run) in runs.iter_mut().enumerate() {
        assert!(take(&mut run.store, &requests[nth]).is_none());
    }
    for (nth, run) in runs.iter_mut().enumerate() {
        awaited.push(take(&mut run.store, &requests[1 - nth]).unwrap());
    }
    for (nth, run) in runs.iter_mut().enumerate() {
        run.store.end_turn(requests[nth].id);
    }
    for (nth, awaited) in awaited.into_iter().enumerate() {
        wait(awaited);
        assert!(take(&mut runs[nth].store, &requests[1 - nth]).is_none());
    }
}

#[test]
fn what_a_process_did_not_finish_writing_that_was_killed_the_next_turn_finishes() {
    let (folder, project) = project();
    let memory = folder.path().join(".prose/agents/captain");
    fs::create_dir_all(&memory).unwrap();
    let pending = r##"{"memory":"new","segment":"captain-002.md","record":"# Segment 002\n"}"##;
    let steps: [&[(&str, &str)]; 3] = [
        &[(".memory-pending.json", pending)],
        &[(".memory-pending.json", pending), ("captain-002.md", "# Segment 002\n")],
        &[(".memory-pending.json", pending), ("captain-002.md", "# Segment 002\n"), ("memory.md", "new")],
    ];
    for files in steps {
        fs::write(memory.join("memory.md"), "old").unwrap();
        fs::write(memory.join("captain-001.md"), "# Segment 001\n").unwrap();
        for (name, text) in files {
            fs::write(memory.join(name), text).unwrap();
        }
        let mut run = Driver::start(&project, "a.prose", TEXT);
        let request = memory_request(&run, 1, "s1", &captain());
        assert!(take(&mut run.store, &request).is_none());
        assert_eq!(read(&mut run, &captain()), ("new".to_owned(), 2));
        expect![[r#"
            captain-001.md
            captain-002.md
            memory.md
        "#]]
        .assert_eq(&crate::support::tree(&memory));
        fs::remove_file(memory.join("captain-002.md")).unwrap();
    }
}

/// A run that was killed while the session of an agent was at work, with the request for what it remembers.
fn killed(project: &Project) -> (String, Vec<prose_vm::event::Event>, Request, Request) {
    let mut run = Driver::start(project, "first.prose", TEXT);
    let looked_up = memory_request(&run, 0, "s1", &captain());
    assert!(take(&mut run.store, &looked_up).is_none());
    let memory = run.store.read_memory(&captain()).unwrap();
    run.tell("s1/memory", 1, effect(&looked_up, Outcome::Memory(memory.clone())));
    let task = |run: &Driver| SessionTask {
        memory: Some(MemoryUse {
            place: captain(),
            resumes: true,
            segment: memory.segments + 1,
            text: memory.text.clone(),
            own_session: None,
        }),
        ..task_of(run)
    };
    let task = Arc::new(task(&run));
    run.tell("s1", 1, EventKind::SessionStarted { request: RequestId(1), task });
    // Something else has been answered since.
    let other = crate::support::session(2, "s2", run.site(2).unwrap(), "Other", run.binding("b", 0, 2), &[]);
    run.tell("s2", 2, effect(&other, Outcome::Value("done".into())));
    run.store.commit().unwrap();
    (run.store.run().to_owned(), run.events.clone(), looked_up, other)
}

fn task_of(run: &Driver) -> SessionTask {
    let request =
        crate::support::session(1, "s1", run.site(1).unwrap(), "Go on", run.binding("a", 0, 1), &[]);
    match request.effect {
        Effect::Session(task) => task.as_ref().clone(),
        _ => unreachable!(),
    }
}

#[test]
fn a_session_that_was_at_work_is_told_what_another_run_has_written_since() {
    let (_folder, project) = project();
    let (id, events, looked_up, other) = killed(&project);
    let resume = || FilesystemStore::resume(&project, &id, TEXT, Resume::Exact).unwrap();
    // Nobody has written: the run goes the way it went, and has its turn before its session starts again.
    let Resumed { store, mut recall, notes, .. } = resume();
    assert!(notes.is_empty(), "{notes:?}");
    assert_eq!(recall.expected(events.len() as u64).as_ref(), events.last());
    let mut another = Driver::start(&project, "another.prose", TEXT);
    let awaited = take(&mut another.store, &looked_up).expect("the resumed run has the turn");
    drop(store);
    wait(awaited);
    assert!(take(&mut another.store, &looked_up).is_none());
    // While another run is at work, the memory is looked up anew, and the run waits for it there.
    for is_at_work in [true, false] {
        let Resumed { mut store, mut recall, notes, .. } = resume();
        if is_at_work {
            expect!["the memory of `captain` has changed since the interrupted session started; the session runs again with the current memory"]
                .assert_eq(&notes[0]);
            assert!(take(&mut store, &looked_up).is_some());
            write(&mut another, "s1", &captain(), "of another run", 1);
            another.store.end_turn(looked_up.id);
        } else {
            assert!(notes.is_empty(), "{notes:?}");
            assert!(take(&mut store, &looked_up).is_none());
        }
        assert_eq!(recall.recall(&waiting(&[&looked_up])), None);
        // What was answered meanwhile is used.
        assert_eq!(
            recall.recall(&waiting(&[&looked_up, &other])),
            Some((other.id, Outcome::Value("done".into())))
        );
    }
    let mut run = Driver::on(resume().store, TEXT);
    assert_eq!(read(&mut run, &captain()), ("of another run".to_owned(), 1));
}

#[test]
fn a_memory_is_written_once_however_often_its_run_goes_on() {
    let (folder, project) = project();
    let mut run = Driver::start(&project, "first.prose", TEXT);
    write(&mut run, "s1", &captain(), "mine", 1);
    run.tell("s1", 1, EventKind::Warning { message: "something after it".into() });
    run.store.commit().unwrap();
    let (id, events) = (run.store.run().to_owned(), run.events.clone());
    drop(run);
    let memory = folder.path().join(".prose/agents/captain");
    fs::write(memory.join("memory.md"), "of another run").unwrap();
    // Its agent has shortened what it remembers, and with it the segments.
    fs::rename(memory.join("captain-001.md"), memory.join("captain-002.md")).unwrap();
    let left = || (fs::read_to_string(memory.join("memory.md")).unwrap(), crate::support::tree(&memory));
    let before = left();
    let journal = project.run(&id).unwrap().join("journal.jsonl");
    let check = |how, is_damaged: bool| {
        if is_damaged {
            let text = fs::read_to_string(&journal).unwrap().replacen("run-started", "run-startet", 1);
            fs::write(&journal, text).unwrap();
        }
        let store = FilesystemStore::resume(&project, &id, TEXT, how).unwrap().store;
        let mut run = Driver::on(store, TEXT);
        run.is_new = is_damaged || how == Resume::AcceptChanges;
        for event in &events {
            // In another order, sessions get other segments, and it happens at another time.
            let mut event = event.clone();
            if let EventKind::MemoryWritten { segment, .. } = &mut event.kind
                && run.is_new
            {
                *segment = 7;
                event.at += 1000;
            }
            run.store.record(&event, run.is_new).unwrap();
        }
        run.store.commit().unwrap();
        assert_eq!(left(), before);
    };
    check(Resume::Exact, false);
    check(Resume::Exact, true);
    check(Resume::AcceptChanges, false);
    check(Resume::Exact, false);
}

#[test]
fn a_memory_that_was_left_before_the_process_was_killed_is_put_with_what_another_run_has_written_since() {
    let (folder, project) = project();
    let mut run = Driver::start(&project, "first.prose", TEXT);
    write(&mut run, "s1", &captain(), "mine", 1);
    let (id, events) = (run.store.run().to_owned(), run.events.clone());
    drop(run);
    // It was killed after the line of the journal and before the files, and another run took the number of the segment.
    let memory = folder.path().join(".prose/agents/captain");
    fs::write(memory.join("memory.md"), "of another run\n").unwrap();
    fs::write(memory.join("captain-001.md"), "# Segment 001\n\nof another run\n").unwrap();
    for _ in 0..2 {
        let mut store = FilesystemStore::resume(&project, &id, TEXT, Resume::Exact).unwrap().store;
        events.iter().for_each(|event| store.record(event, false).unwrap());
        expect![[r#"
            of another run

            ## Segment 2 Summary

            - Found: 1
        "#]]
        .assert_eq(&fs::read_to_string(memory.join("memory.md")).unwrap());
        let segment = fs::read_to_string(memory.join("captain-002.md")).unwrap();
        assert!(segment.starts_with("# Segment 002\n") && segment.contains("- Found: 1"), "{segment}");
    }
}

#[test]
fn a_run_that_has_no_journal_does_not_apply_the_memory_of_what_is_done_again() {
    let (folder, project) = project();
    let run = Driver::start(&project, "first.prose", TEXT);
    let id = run.kill();
    fs::remove_file(project.run(&id).unwrap().join("journal.jsonl")).unwrap();
    let memory = folder.path().join(".prose/agents/captain");
    let mut store = FilesystemStore::resume(&project, &id, TEXT, Resume::Exact).unwrap().store;
    for has_memory in [false, true] {
        let mut run = Driver::on(store, TEXT);
        let mut task = task_of(&run);
        task.memory =
            Some(MemoryUse { place: captain(), resumes: true, segment: 1, text: None, own_session: None });
        let site = run.site(1).unwrap();
        let place = crate::support::place("s1");
        let request =
            Request { id: RequestId(1), place, site, program: None, effect: Effect::Session(task.into()) };
        run.store.recalled(&request);
        run.head("first.prose");
        write(&mut run, "s1", &captain(), "once more", 1);
        let expected = if has_memory { "of its agent" } else { "once more" };
        assert_eq!(fs::read_to_string(memory.join("memory.md")).unwrap(), expected);
        fs::write(memory.join("memory.md"), "of its agent").unwrap();
        let path = run.store.folder().join("journal.jsonl");
        drop(run);
        fs::remove_file(path).unwrap();
        store = FilesystemStore::resume(&project, &id, TEXT, Resume::Exact).unwrap().store;
    }
}

#[test]
fn a_run_in_context_takes_turns_and_applies_what_was_narrated_once() {
    use prose_state::in_context::InContextStore;

    let (_folder, project) = project();
    let mut run = Driver::start(&project, "first.prose", TEXT);
    let looked_up = memory_request(&run, 1, "s1", &captain());
    let mut task = task_of(&run);
    task.memory =
        Some(MemoryUse { place: captain(), resumes: true, segment: 1, text: None, own_session: None });
    let (site, at) = (run.site(1).unwrap(), crate::support::place("s1"));
    let session =
        Request { id: RequestId(2), place: at, site, program: None, effect: Effect::Session(task.into()) };
    let (memory, record) = ("as narrated".into(), "- Found: much".into());
    let prompt = "Review".into();
    let kind = EventKind::MemoryWritten { place: captain(), memory, segment: 1, prompt, record };
    let event = run.event("s1", 1, kind);
    let mut check = |expected: (&str, u32)| {
        let mut store = InContextStore::new(&project);
        // A process that another test starts has a copy of the lock that was given back, until it executes its program.
        let is_taken = (0..200).any(|_| {
            let is_taken = matches!(store.take_turn(&looked_up, &captain()).unwrap(), Turn::Taken);
            if !is_taken {
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
            is_taken
        });
        assert!(is_taken);
        assert!(take(&mut run.store, &looked_up).is_some());
        run.store.end_turn(looked_up.id);
        store.recalled(&session);
        store.record(&event, true).unwrap();
        let memory = store.read_memory(&captain()).unwrap();
        assert_eq!((memory.text.as_deref().unwrap_or_default(), memory.segments), expected);
        store.end_turn(looked_up.id);
        fs::write(project.root.join(".prose/agents/captain/memory.md"), "later").unwrap();
    };
    check(("as narrated", 1));
    check(("later", 1));
}
