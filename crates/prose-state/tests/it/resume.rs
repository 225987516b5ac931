//! Runs that go on (decision 10, R104).

use std::fs;
use std::path::Path;
use std::sync::Arc;

use prose_state::StateError;
use prose_state::binding_file;
use prose_state::filesystem::{FilesystemStore, Resume, Resumed};
use prose_state::folder::Project;
use prose_state::reader::JournalReader;
use prose_state::runs::RunState;
use prose_vm::activity::Work;
use prose_vm::effect::{
    Binding, BindingKind, ContextItem, Effect, Failure, Outcome, Reply, Request, RequestId, Usage,
    fingerprint,
};
use prose_vm::error::{ErrorKind, RuntimeError};
use prose_vm::event::{Event, EventKind, Expense, RunEnd, RunStatus};
use prose_vm::place::Site;
use prose_vm::store::{Recording, Store};

use crate::support::{Driver, effect, project, session, waiting};

const TEXT: &str = "let a = session \"A\"\nlet b = session \"B\"\nlet c = session \"C\"\n";

/// A run that was killed while its second session ran, its id and its events.
fn killed(project: &Project) -> (String, Vec<Event>, Vec<Request>) {
    let mut run = Driver::start(project, "three.prose", TEXT);
    run.enter("s1", 1);
    let a = run.ask("s1", 1, "a", 0);
    run.reply(&a, "First.");
    run.leave("s1", 1);
    run.enter("s2", 2);
    let b = run.ask("s2", 2, "b", 0);
    run.store.commit().unwrap();
    (run.store.run().to_owned(), run.events, vec![a, b])
}

fn resume(project: &Project, id: &str, how: Resume) -> Resumed {
    FilesystemStore::resume(project, id, TEXT, how).unwrap()
}

fn journal(store: &FilesystemStore) -> Vec<Event> {
    JournalReader::open(&store.folder().join("journal.jsonl")).unwrap().map(Result::unwrap).collect()
}

fn reply(text: &str) -> Outcome {
    Outcome::Reply(Reply { text: text.into(), ..Reply::default() })
}

#[test]
fn r104_a_run_goes_on_where_it_was_killed() {
    let (_folder, project) = project();
    let (id, events, requests) = killed(&project);
    let Resumed { store, mut recall, notes, .. } = resume(&project, &id, Resume::Exact);
    assert!(notes.is_empty());
    // What waits is the first session, then the second one, whose reply never came.
    assert_eq!(recall.recall(&waiting(&[&requests[0]])), Some((RequestId(0), reply("First."))));
    assert_eq!(recall.recall(&waiting(&[&requests[1]])), None);
    assert!(!recall.may_know_more());
    assert_eq!(recall.reused(), 1);
    for event in &events {
        assert_eq!(recall.expected(event.seq).as_ref(), Some(event));
    }
    assert_eq!(recall.expected(events.len() as u64 + 1), None);
    assert_eq!(recall.expected(2).as_ref(), Some(&events[1]));
    // The same events happen again and are not written again.
    let mut run = Driver::on(store, TEXT);
    run.replay(&events);
    run.reply(&requests[1], "Second.");
    run.leave("s2", 2);
    let state = run.state();
    assert!(
        state.contains("let b = session \"B\"                          # --> bindings/b.md (complete)\n"),
        "{state}"
    );
    run.end(RunStatus::Completed);
    assert_eq!(journal(&run.store), run.events);
}

#[test]
fn a_run_that_was_interrupted_has_no_end_any_more_when_it_goes_on() {
    let (_folder, project) = project();
    let mut run = Driver::start(&project, "three.prose", TEXT);
    run.session("s1", 1, "a", "First.");
    run.end(RunStatus::Interrupted);
    let (id, events) = (run.store.run().to_owned(), run.events);
    drop(run.store);
    let Resumed { store, mut recall, .. } = resume(&project, &id, Resume::Exact);
    let last = events.len() as u64;
    assert_eq!(recall.expected(last), None);
    let mut run = Driver::on(store, TEXT);
    run.replay(&events[..events.len() - 1]);
    run.enter("s2", 2);
    run.store.commit().unwrap();
    assert_eq!(run.events.last().unwrap().seq, last);
    assert_eq!(journal(&run.store), run.events);
}

#[test]
fn files_that_were_not_written_before_the_kill_are_brought_up() {
    let (_folder, project) = project();
    let (id, events, _) = killed(&project);
    let folder = project.existing_run(&id).unwrap();
    let path = folder.join("bindings/a.md");
    let sound = fs::read_to_string(&path).unwrap();
    for before in [None, Some("# a\n\nkind: let\n\n---\n\nan earlier value\n")] {
        match before {
            None => fs::remove_file(&path).unwrap(),
            Some(text) => fs::write(&path, text).unwrap(),
        }
        fs::write(folder.join("bindings/.prose-tmp-x1y2z3"), "torn").unwrap();
        let Resumed { store, .. } = resume(&project, &id, Resume::Exact);
        let mut run = Driver::on(store, TEXT);
        run.replay(&events);
        run.tell("s2", 2, EventKind::Warning { message: "new".into() });
        assert_eq!(fs::read_to_string(&path).unwrap(), sound);
        assert_eq!(fs::read_dir(folder.join("bindings")).unwrap().count(), 1);
        // The next one finds the journal as it was.
        let journal = folder.join("journal.jsonl");
        let text = fs::read_to_string(&journal).unwrap();
        let lines: Vec<_> = text.lines().take(events.len()).collect();
        drop(run);
        fs::write(&journal, lines.join("\n") + "\n").unwrap();
    }
}

#[test]
fn r101_a_binding_that_its_agent_wrote_gets_its_head_from_the_machine() {
    let (_folder, project) = project();
    let mut run = Driver::start(&project, "three.prose", TEXT);
    let path = run.store.folder().join("bindings/a.md");
    let reply = Reply { text: "First.".into(), wrote_binding: true, ..Reply::default() };
    run.enter("s1", 1);
    let expected = binding_file::write(&run.binding("a", 0, 1), "First.");
    for by_agent in ["First.\n", "# a (mine)\n\n---\n\nFirst.", "# a\n\nkind: let\n\n---\n\nFirst.\n"] {
        fs::write(&path, by_agent).unwrap();
        let a = run.ask("s1", 1, "a", 0);
        run.reply_with(&a, reply.clone());
        assert_eq!(fs::read_to_string(&path).unwrap(), expected, "{by_agent}");
    }
    let binding = run.binding("a", 0, 1);
    assert_eq!(run.store.read_binding(&binding).unwrap().as_deref(), Some("First."));
    assert_eq!(run.store.read_binding(&run.binding("b", 0, 2)).unwrap(), None);
    // It says that it has written the file, and has not.
    fs::remove_file(&path).unwrap();
    run.enter("s2", 1);
    let a = run.ask("s2", 1, "a", 0);
    run.reply_with(&a, reply);
    assert!(fs::read_to_string(&path).unwrap().ends_with("---\n\nFirst.\n"));
}

/// Changes the line of that number, counted from 1, and gives the journal before and after.
fn change_line(path: &Path, number: usize, from: &str, to: &str) -> (String, String) {
    let text = fs::read_to_string(path).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines[number - 1] = lines[number - 1].replacen(from, to, 1);
    let changed = lines.join("\n") + "\n";
    assert_ne!(changed, text);
    fs::write(path, &changed).unwrap();
    (text, changed)
}

#[test]
fn a_damaged_line_costs_that_line() {
    let (_folder, project) = project();
    let (id, events, requests) = killed(&project);
    let path = project.existing_run(&id).unwrap().join("journal.jsonl");
    // The reply stands in line 4.
    let (_, changed) = change_line(&path, 5, "session-ended", "session-endeb");
    let Resumed { store, mut recall, notes, .. } = resume(&project, &id, Resume::Exact);
    let expected = format!(
        "line 5 of {} was changed or belongs to another run: its checksum does not match. No result is lost. The other lines are used; the \
         old journal is kept in journal.kept-1.jsonl",
        path.display()
    );
    assert_eq!(notes, [expected]);
    assert_eq!(journal(&store), events[..4]);
    assert_eq!(fs::read_to_string(store.folder().join("journal.kept-1.jsonl")).unwrap(), changed);
    assert_eq!(recall.recall(&waiting(&[&requests[0]])), Some((RequestId(0), reply("First."))));
    assert_eq!(recall.expected(5), None);
}

#[test]
fn results_after_a_damaged_line_are_used_and_what_it_said_is_asked_again() {
    let (_folder, project) = project();
    let mut run = Driver::start(&project, "three.prose", TEXT);
    let mut asked = Vec::new();
    for (line, name) in [(1, "a"), (2, "b"), (3, "c")] {
        let at = format!("s{line}");
        run.enter(&at, line);
        asked.push(run.ask(&at, line, name, 0));
        run.reply(&asked[line as usize - 1], &format!("{name}!"));
    }
    let id = run.kill();
    let path = project.existing_run(&id).unwrap().join("journal.jsonl");
    // A bit of a value is another one.
    change_line(&path, 9, "b!", "c!");
    let Resumed { store, mut recall, notes, .. } = resume(&project, &id, Resume::Exact);
    assert!(notes[0].contains(". 1 result is lost: 1 session (line 2) is requested again. "), "{notes:?}");
    drop(store);
    for _ in 0..2 {
        assert_eq!(recall.recall(&waiting(&[&asked[0]])), Some((RequestId(0), reply("a!"))));
        assert_eq!(recall.recall(&waiting(&[&asked[1]])), None);
        assert!(recall.may_know_more());
        // It is asked by the same number, or by another one if the program goes another way up to it.
        let later = Request { id: RequestId(7), ..asked[2].clone() };
        // It is told when the lost one has come again, and not asked meanwhile.
        assert_eq!(recall.recall(&waiting(&[&asked[1], &later])), None);
        assert!(recall.is_known(later.id) && !recall.is_known(asked[1].id) && recall.may_know_more());
        assert_eq!(recall.recall(&waiting(&[&later])), Some((RequestId(7), reply("c!"))));
        assert!(!recall.may_know_more());
        // A run that is killed again finds the same.
        recall = resume(&project, &id, Resume::Exact).recall;
    }
    // Another question at the same place is another one.
    let Effect::Session(task) = &asked[2].effect else { unreachable!() };
    let mut task = task.as_ref().clone();
    task.task = "Something else".into();
    let other = Request { effect: Effect::Session(task.into()), ..asked[2].clone() };
    assert_eq!(recall.recall(&waiting(&[&other])), None);
}

#[test]
fn a_line_of_a_later_version_keeps_a_damaged_journal_from_being_changed() {
    let (_folder, project) = project();
    let (id, events, _) = killed(&project);
    let path = project.existing_run(&id).unwrap().join("journal.jsonl");
    change_line(&path, 5, "session-ended", "session-endeb");
    let body = format!(r#""seq":{},"at":0,"place":"","event":"teleported"}}"#, events.len() + 1);
    let text = fs::read_to_string(&path).unwrap() + &crate::journal::line_of(&path, &body);
    fs::write(&path, &text).unwrap();
    let error = FilesystemStore::resume(&project, &id, TEXT, Resume::Exact).unwrap_err();
    assert!(matches!(error, StateError::Version { version: None, .. }), "{error}");
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
    assert!(!path.with_file_name("journal.kept-1.jsonl").exists());
}

#[test]
fn accepting_changes_uses_the_sound_lines_of_damaged_journals() {
    let (_folder, project) = project();
    let mut run = Driver::start(&project, "three.prose", TEXT);
    run.session("s1", 1, "a", "a!");
    run.enter("s2", 2);
    let b = run.ask("s2", 2, "b", 0);
    run.reply(&b, "b!");
    let id = run.kill();
    let path = project.existing_run(&id).unwrap().join("journal.jsonl");
    change_line(&path, 3, "session-started", "session-startet");
    // It is repaired first, and the program changes before anything has happened again.
    drop(resume(&project, &id, Resume::Exact));
    for _ in 0..2 {
        let Resumed { mut recall, .. } = resume(&project, &id, Resume::AcceptChanges);
        let moved = Request { place: crate::support::place("s5"), ..b.clone() };
        assert_eq!(recall.recall(&waiting(&[&moved])), Some((b.id, reply("b!"))));
        assert_eq!(recall.recall(&waiting(&[&Request { id: RequestId(9), ..moved }])), None);
    }
}

#[test]
fn the_inputs_of_a_run_whose_head_is_lost_are_found_behind_it() {
    let (_folder, project) = project();
    let mut run = Driver::start(&project, "three.prose", TEXT);
    run.tell("", 0, EventKind::InputsReceived { inputs: vec![("topic".into(), "tides".into())] });
    run.enter("s1", 1);
    let a = run.ask("s1", 1, "a", 0);
    run.reply(&a, "a!");
    let id = run.kill();
    let path = project.existing_run(&id).unwrap().join("journal.jsonl");
    change_line(&path, 1, "three", "eerht");
    for nth in 0..2 {
        let Resumed { inputs, mut recall, notes, .. } = resume(&project, &id, Resume::Exact);
        assert_eq!(inputs, Some(vec![("topic".into(), "tides".into())]));
        assert_eq!(recall.recall(&waiting(&[&a])), Some((RequestId(0), reply("a!"))));
        let settings = "The settings of the run are lost";
        assert_eq!(notes.iter().any(|note| note.contains(settings)), nth == 0, "{notes:?}");
    }
}

#[test]
fn an_enormous_line_is_passed_over() {
    use std::io::Write;

    let (_folder, project) = project();
    let (id, _, requests) = killed(&project);
    let path = project.existing_run(&id).unwrap().join("journal.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    let (head, rest) = text.split_at(text.find('\n').unwrap() + 1);
    let mut file = fs::File::create(&path).unwrap();
    file.write_all(head.as_bytes()).unwrap();
    // A hole in the file, which takes no room on the disk.
    file.set_len((1 << 28) + (1 << 24)).unwrap();
    std::io::Seek::seek(&mut file, std::io::SeekFrom::End(0)).unwrap();
    file.write_all(format!("\n{rest}").as_bytes()).unwrap();
    drop(file);
    let Resumed { mut recall, notes, .. } = resume(&project, &id, Resume::Exact);
    assert!(notes[0].contains("No result is lost"), "{notes:?}");
    assert_eq!(recall.recall(&waiting(&[&requests[0]])), Some((RequestId(0), reply("First."))));
}

#[test]
fn a_journal_of_the_first_version_goes_on_in_its_form() {
    let (_folder, project) = project();
    let mut run = Driver::start(&project, "three.prose", TEXT);
    let path = run.store.folder().join("journal.jsonl");
    run.session("s1", 1, "a", "First.");
    run.store.commit().unwrap();
    let (id, mut events) = (run.store.run().to_owned(), run.events);
    drop(run.store);
    // Its checksums started from nothing.
    let lines = fs::read_to_string(&path).unwrap().replace("\"version\":2", "\"version\":1");
    let lines = lines.lines().map(|line| {
        let body = &line[18..];
        format!("{{\"crc\":\"{:08x}\",{body}\n", crc32fast::hash(body.as_bytes()))
    });
    fs::write(&path, lines.collect::<String>()).unwrap();
    let EventKind::RunStarted(head) = &mut events[0].kind else { unreachable!() };
    head.version = 1;
    let Resumed { store, notes, .. } = resume(&project, &id, Resume::Exact);
    assert!(notes.is_empty(), "{notes:?}");
    let mut run = Driver::on(store, TEXT);
    run.replay(&events);
    run.session("s2", 2, "b", "Second.");
    run.store.commit().unwrap();
    assert_eq!(journal(&run.store), run.events);
}

#[test]
fn of_several_known_outcomes_the_one_that_came_first_is_told_first() {
    let (_folder, project) = project();
    let mut run = Driver::start(&project, "three.prose", TEXT);
    let asked: Vec<Request> = (1..=3).map(|line| run.ask(&format!("s1/b{line}"), line, "x", 0)).collect();
    for (request, text) in [(&asked[2], "third"), (&asked[0], "first")] {
        run.tell(request.place.as_str(), 1, effect(request, reply(text)));
    }
    let id = run.kill();
    let Resumed { mut recall, .. } = resume(&project, &id, Resume::Exact);
    let asked: Vec<&Request> = asked.iter().collect();
    assert_eq!(recall.recall(&waiting(&asked)), Some((RequestId(2), reply("third"))));
    assert_eq!(recall.recall(&waiting(&asked[..2])), Some((RequestId(0), reply("first"))));
    assert_eq!(recall.recall(&waiting(&asked[1..2])), None);
}

const SITE: Site = Site { program: 0, start: 0, end: 0, line: 1, last_line: 1 };

fn dollars(dollars: u32) -> Work {
    let usage =
        Usage { input_tokens: u64::from(dollars), cost: Some(f64::from(dollars)), ..Usage::default() };
    Work { usage: Some(usage), ..Work::default() }
}

/// The outcome of a request with its usage.
fn paid(request: &Request, outcome: Outcome, used: u32) -> EventKind {
    let mut kind = effect(request, outcome);
    if let EventKind::Effect { work, .. } = &mut kind {
        **work = dollars(used);
    }
    kind
}

fn expense(request: &Request, used: u32) -> Expense {
    let effect = request.effect.kind().into();
    Expense {
        request: Some(request.id),
        effect,
        agent: None,
        requests: 1,
        work: dollars(used),
        failure: None,
    }
}

#[test]
fn what_a_run_has_used_is_kept_when_its_program_changes() {
    let (_folder, project) = project();
    let mut run = Driver::start(&project, "three.prose", TEXT);
    run.enter("s1", 1);
    let a = run.ask("s1", 1, "a", 0);
    run.tell("s1", 1, paid(&a, reply("a!"), 10));
    run.enter("s2", 2);
    let b = run.ask("s2", 2, "b", 0);
    run.tell("s2", 2, EventKind::Expense(Box::new(expense(&b, 5))));
    run.enter("s3", 3);
    let c = run.ask("s3", 3, "c", 0);
    run.tell("s3", 3, paid(&c, Outcome::Failed(Failure::session("it broke")), 20));
    let id = run.kill();

    let resume = || FilesystemStore::resume(&project, &id, "changed", Resume::AcceptChanges).unwrap();
    let Resumed { store, mut recall, .. } = resume();
    let total = Expense { request: None, requests: 3, work: dollars(35), ..expense(&a, 0) };
    assert_eq!(recall.expenses(), std::slice::from_ref(&total));
    assert_eq!(recall.expenses(), []);
    // What is reused has its usage, which is in the total.
    assert_eq!(recall.recall(&waiting(&[&a])), Some((a.id, reply("a!"))));
    let reused = recall.last_work();
    assert_eq!(reused, Work { is_reused: true, ..dollars(10) });

    // The next change carries the total on, once.
    let mut run = Driver::on(store, "changed");
    run.head("three.prose");
    run.tell("", 0, EventKind::Expense(Box::new(total.clone())));
    let mut kind = effect(&a, reply("a!"));
    if let EventKind::Effect { work, .. } = &mut kind {
        **work = reused;
    }
    run.tell("s1", 1, kind);
    run.store.commit().unwrap();
    drop(run);
    assert_eq!(resume().recall.expenses(), [total]);
}

#[test]
fn what_was_at_work_when_the_process_was_killed_is_an_expense() {
    let (_folder, project) = project();
    let mut run = Driver::start(&project, "three.prose", TEXT);
    let starts = |run: &mut Driver, expenses: &[Expense]| {
        let after = run.events.last().unwrap().seq;
        expenses.iter().for_each(|expense| run.store.at_work(after, expense).unwrap());
        run.store.commit().unwrap();
    };
    run.enter("s1", 1);
    let a = run.ask("s1", 1, "a", 0);
    starts(&mut run, &[expense(&a, 0), expense(&a, 7)]);
    run.tell("s1", 1, paid(&a, reply("a!"), 10));
    run.enter("s2", 2);
    let b = run.ask("s2", 2, "b", 0);
    // What it reports counts in place of what it has reported before.
    starts(&mut run, &[expense(&b, 0), expense(&b, 2), expense(&b, 5)]);
    run.enter("s3", 3);
    let c = run.ask("s3", 3, "c", 0);
    // The system had no resources for it.
    starts(&mut run, &[expense(&c, 0), Expense { requests: 0, ..expense(&c, 0) }]);
    let (id, folder) = (run.store.run().to_owned(), run.store.folder().to_owned());
    drop(run);
    let (journal, at_work) = (folder.join("journal.jsonl"), folder.join("at-work.jsonl"));
    let (whole, left) = (fs::read_to_string(&journal).unwrap(), fs::read_to_string(&at_work).unwrap());

    let expenses = |how| FilesystemStore::resume(&project, &id, TEXT, how).unwrap().recall.expenses();
    // Until the journal has it, it is found again.
    assert_eq!(expenses(Resume::Exact), [expense(&b, 5)]);
    assert_eq!(expenses(Resume::Exact), [expense(&b, 5)]);
    // What a request has used whose outcome is lost counts as well.
    fs::write(&journal, whole.replacen("a!", "A!", 1)).unwrap();
    fs::write(&at_work, left).unwrap();
    assert_eq!(expenses(Resume::Exact), [expense(&a, 7), expense(&b, 5)]);
    let total = Expense { request: None, requests: 2, work: dollars(12), ..expense(&a, 0) };
    assert_eq!(expenses(Resume::AcceptChanges), std::slice::from_ref(&total));
    assert_eq!(expenses(Resume::AcceptChanges), [total]);
}

#[test]
fn a_failure_that_is_asked_again_was_paid_for() {
    let (_folder, project) = project();
    let mut run = Driver::start(&project, "three.prose", TEXT);
    run.enter("s1", 1);
    let a = run.ask("s1", 1, "a", 0);
    run.tell("s1", 1, paid(&a, Outcome::Failed(Failure::session("it broke")), 20));
    let error = Arc::new(RuntimeError::new(ErrorKind::Session, "it broke"));
    run.tell("", 0, {
        EventKind::RunEnded(RunEnd {
            status: RunStatus::Failed,
            error: Some(error),
            sessions: 1,
            usage: dollars(20).usage,
            ..RunEnd::default()
        })
    });
    run.store.commit().unwrap();
    let id = run.kill();
    let mut resumed = FilesystemStore::resume(&project, &id, TEXT, Resume::Exact).unwrap();
    // By what it failed is known to a script, whose entry for it is used up.
    let failure = Some(Box::new(Failure::session("it broke")));
    assert_eq!(resumed.recall.expenses(), [Expense { failure, ..expense(&a, 20) }]);
}

#[test]
fn accepting_changes_reuses_what_asks_for_the_same() {
    let (_folder, project) = project();
    let mut run = Driver::start(&project, "three.prose", TEXT);
    let mut old = Vec::new();
    for (line, name) in [(1, "a"), (2, "b")] {
        let at = format!("s{line}");
        run.enter(&at, line);
        old.push(run.ask(&at, line, name, 0));
        run.reply(&old[line as usize - 1], &format!("{name}!"));
    }
    run.enter("s3", 3);
    let c = run.ask("s3", 3, "c", 0);
    run.tell("s3", 3, effect(&c, Outcome::Failed(Failure::session("it broke"))));
    let id = run.store.run().to_owned();
    let folder = run.store.folder().to_owned();
    drop(run);

    let changed = "let new = session \"New\"\nlet b2 = session \"B\"\n";
    let resumed = FilesystemStore::resume(&project, &id, changed, Resume::AcceptChanges).unwrap();
    let Resumed { store, mut recall, .. } = resumed;
    assert_eq!(fs::read_to_string(folder.join("program.prose")).unwrap(), changed);
    let task = |request: &Request| match &request.effect {
        Effect::Session(task) => task.task.to_string(),
        _ => String::new(),
    };
    // The second session has another name, place and number now; the first one is new; the third one failed.
    let new = session(0, "s1", SITE, "New", old[0].effect_binding(), &[]);
    let b = session(1, "s2", SITE, &task(&old[1]), old[0].effect_binding(), &[]);
    let c = session(2, "s3", SITE, &task(&c), c.effect_binding(), &[]);
    assert_eq!(recall.recall(&waiting(&[&new])), None);
    assert!(recall.may_know_more());
    assert_eq!(recall.recall(&waiting(&[&new, &b])), Some((RequestId(1), reply("b!"))));
    assert_eq!(recall.recall(&waiting(&[&new, &c])), None);
    assert_eq!(recall.reused(), 1);
    assert_eq!(recall.expected(1), None);
    // The new journal has every event, and the earlier one is kept.
    let mut run = Driver::on(store, changed);
    run.is_new = false;
    run.head("three.prose");
    run.enter("s1", 1);
    run.store.commit().unwrap();
    assert_eq!(journal(&run.store), run.events);
    assert!(folder.join("journal-1.jsonl").is_file());
}

#[test]
fn what_was_not_reached_again_before_a_second_kill_is_still_reused_once() {
    let (_folder, project) = project();
    let mut run = Driver::start(&project, "three.prose", TEXT);
    let asked: Vec<Request> = (0..3).map(|number| run.ask(&format!("s1/i{number}"), 1, "a", 0)).collect();
    for (request, text) in asked.iter().zip(["one", "two", "three"]) {
        run.tell(request.place.as_str(), 1, effect(request, reply(text)));
    }
    let id = run.kill();

    // The changed program takes over the first one, and is killed.
    let Resumed { store, mut recall, .. } = resume(&project, &id, Resume::AcceptChanges);
    let (_, first) = recall.recall(&waiting(&[&asked[0]])).unwrap();
    assert_eq!(first, reply("one"));
    let mut run = Driver::on(store, TEXT);
    run.head("three.prose");
    let request = run.ask("s2/i0", 1, "a", 0);
    run.tell("s2/i0", 1, effect(&request, first));
    drop(run);

    for _ in 0..2 {
        let Resumed { store, mut recall, .. } = resume(&project, &id, Resume::Exact);
        assert_eq!(recall.recall(&waiting(&[&request])), Some((request.id, reply("one"))));
        assert!(recall.may_know_more());
        let others = [1, 2, 3].map(|id| {
            session(id, &format!("s2/i{id}"), SITE, "let a = session \"A\"", request.effect_binding(), &[])
        });
        assert_eq!(recall.recall(&waiting(&[&others[0]])), Some((RequestId(1), reply("two"))));
        assert_eq!(recall.recall(&waiting(&[&others[1]])), Some((RequestId(2), reply("three"))));
        assert_eq!(recall.recall(&waiting(&[&others[2]])), None);
        assert!(!recall.may_know_more());
        assert_eq!(recall.reused(), 3);
        drop(store);
    }

    // The process is killed between putting the journal away and starting the next one.
    let folder = project.existing_run(&id).unwrap();
    fs::rename(folder.join("journal.jsonl"), folder.join("journal-2.jsonl")).unwrap();
    let Resumed { mut recall, .. } = resume(&project, &id, Resume::Exact);
    for (request, text) in asked.iter().zip(["one", "two", "three"]) {
        assert_eq!(recall.recall(&waiting(&[request])), Some((request.id, reply(text))));
    }
}

trait Bindings {
    fn effect_binding(&self) -> prose_vm::effect::Binding;
}

impl Bindings for Request {
    fn effect_binding(&self) -> prose_vm::effect::Binding {
        match &self.effect {
            Effect::Session(task) => task.binding.clone(),
            _ => panic!("no session"),
        }
    }
}

#[test]
fn accepting_changes_asks_again_where_what_a_file_of_the_context_holds_has_changed() {
    let (_folder, project) = project();
    let mut run = Driver::start(&project, "three.prose", TEXT);
    let binding = run.binding("b", 0, 2);
    let path = Some(".prose/runs/20260115-143052-a7b3c9/bindings/a.md".into());
    let [before, after] = ["a!", "another"].map(|value| {
        let digest = Some(prose_vm::effect::digest(value));
        let context = [ContextItem { name: "a".into(), path: path.clone(), text: None, digest }];
        session(7, "s2", SITE, "B", binding.clone(), &context)
    });
    run.tell("s2", 2, effect(&before, reply("b!")));
    let id = run.kill();
    for (request, is_reused) in [(after, false), (before, true)] {
        let mut recall = resume(&project, &id, Resume::AcceptChanges).recall;
        assert_eq!(recall.recall(&waiting(&[&request])).is_some(), is_reused);
    }
}

#[test]
fn the_file_of_an_earlier_session_is_not_taken_for_what_the_next_one_wrote() {
    let (_folder, project) = project();
    let mut run = Driver::start(&project, "three.prose", TEXT);
    run.session("s1", 1, "a", "First.");
    let binding = run.binding("a", 0, 1);
    let path = run.store.folder().join("bindings/a.md");
    run.store.prepare(&binding).unwrap();
    assert_eq!(run.store.read_binding(&binding).unwrap(), None);
    // The session may be shown the earlier value, so the file is there.
    assert!(path.is_file());
    fs::write(&path, "# a\n\n---\n\nSecond, by the agent.\n").unwrap();
    assert_eq!(run.store.read_binding(&binding).unwrap().as_deref(), Some("Second, by the agent."));
    fs::remove_file(&path).unwrap();
    run.store.prepare(&binding).unwrap();
    assert_eq!(run.store.read_binding(&binding).unwrap(), None);
}

#[test]
fn one_process_executes_a_run_at_a_time() {
    let (_folder, project) = project();
    let run = Driver::start(&project, "three.prose", TEXT);
    let id = run.store.run().to_owned();
    let error = FilesystemStore::resume(&project, &id, TEXT, Resume::Exact).unwrap_err();
    assert!(matches!(error, StateError::Locked { .. }));
    assert_eq!(
        error.to_string(),
        format!("process {} is executing run {id}; wait until it has ended, or stop it", std::process::id())
    );
    // Another run in the same project is another matter.
    let other = Driver::start(&project, "three.prose", TEXT);
    assert_ne!(other.store.run(), id);
    drop(run);
    resume(&project, &id, Resume::Exact);
}

/// Names the folder of the project that another process of these tests works in.
const HELD: &str = "PROSE_STATE_TEST_HELD";

#[test]
#[ignore = "does nothing but in the process that the next test starts"]
fn holds_a_run() {
    if let Some(folder) = std::env::var_os(HELD) {
        let mut run = Driver::start(&Project::new(folder), "three.prose", TEXT);
        run.session("s1", 1, "a", "First.");
        run.store.commit().unwrap();
        std::thread::sleep(std::time::Duration::from_secs(600));
    }
}

#[test]
fn the_lock_dies_with_its_process_and_what_was_recorded_does_not() {
    let (_folder, project) = project();
    let mut process = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "resume::holds_a_run", "--ignored"])
        .env(HELD, &project.root)
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let start = std::time::Instant::now();
    let run = loop {
        let run = project.last_run().unwrap().filter(|run| run.sessions == Some(1));
        if let Some(run) = run {
            break run;
        }
        assert!(start.elapsed().as_secs() < 120, "the other process records nothing");
        std::thread::sleep(std::time::Duration::from_millis(5));
    };
    assert_eq!(run.status, RunState::Running(Some(process.id())));
    let error = FilesystemStore::resume(&project, &run.id, TEXT, Resume::Exact).unwrap_err().to_string();
    assert!(error.contains(&format!("process {} is executing run ", process.id())), "{error}");
    process.kill().unwrap();
    process.wait().unwrap();
    assert_eq!(project.last_run().unwrap().unwrap().status, RunState::Interrupted);
    let Resumed { store, recall, notes, .. } = resume(&project, &run.id, Resume::Exact);
    assert!(notes.is_empty());
    assert_eq!(recall.reused(), 0);
    assert!(journal(&store).len() >= 5);
}

#[test]
fn fingerprints_leave_out_where_an_effect_stands() {
    let context = |path: &str, text: &str| {
        [ContextItem { name: "a".into(), path: Some(path.into()), text: Some(text.into()), digest: None }]
    };
    let binding = |name: &str| Binding {
        name: name.into(),
        kind: BindingKind::Let,
        frame: 0,
        path: format!("bindings/{name}.md").into(),
        source: "".into(),
    };
    let print = |name: &str, task: &str, path: &str, text: &str, attempt: u32| {
        let request = session(0, "s1", SITE, task, binding(name), &context(path, text));
        let Effect::Session(task) = request.effect else { unreachable!() };
        let mut task = (*task).clone();
        // A prompt names the files that belong to the run.
        task.prompt = format!("{} Write to {path}", task.prompt).into();
        task.attempt = attempt;
        fingerprint(&Effect::Session(task.into()))
    };
    let first = print("a", "Do", "x.md", "text", 0);
    assert_eq!(first, print("b", "Do", "y.md", "text", 2));
    assert_ne!(first, print("a", "Do not", "x.md", "text", 0));
    assert_ne!(first, print("a", "Do", "x.md", "another text", 0));
    assert!(first.len() == 16 && first.bytes().all(|byte| byte.is_ascii_hexdigit()), "{first}");
}

#[test]
fn a_journal_that_was_never_begun_is_told_apart_from_a_foreign_run() {
    let (_folder, project) = project();
    let (id, ..) = killed(&project);
    let path = project.existing_run(&id).unwrap().join("journal.jsonl");
    fs::write(&path, "").unwrap();
    let Resumed { store, mut recall, .. } = resume(&project, &id, Resume::Exact);
    assert_eq!(recall.expected(1), None);
    let mut run = Driver::on(store, TEXT);
    run.head("three.prose");
    assert_eq!(journal(&run.store), run.events);
}

#[test]
fn a_run_that_does_not_exist() {
    let (_folder, project) = project();
    let message =
        |id: &str| FilesystemStore::resume(&project, id, TEXT, Resume::Exact).unwrap_err().to_string();
    let runs = project.runs();
    let folder: &Path = &runs;
    assert_eq!(
        message("20260115-143052-a7b3c9"),
        format!(
            "run `20260115-143052-a7b3c9` does not exist in {}; list the runs with `prose runs list`",
            folder.display()
        )
    );
    assert_eq!(
        message("../../etc"),
        "cannot use `../../etc`: file names must not contain separators, colons or control characters; \
         use letters, digits and `_`"
    );
    assert!(message("..").starts_with("cannot use `..`: the path leads out of its folder"));
}

#[test]
fn r030_the_folder_exists_that_agents_are_told_to_write_to() {
    let (_folder, project) = project();
    let mut run = Driver::start(&project, "three.prose", TEXT);
    let mut binding = run.binding("a", 0, 1);
    binding.path = "imports/alice--research/bindings/a.md".into();
    run.store.prepare(&binding).unwrap();
    assert!(run.store.folder().join("imports/alice--research/bindings").is_dir());
}
