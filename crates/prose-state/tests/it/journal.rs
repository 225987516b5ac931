//! The journal (decision 10).

use std::fs;
use std::path::{Path, PathBuf};

use expect_test::expect;
use prose_state::StateError;
use prose_state::journal::Journal;
use prose_state::reader::{JournalReader, read_head, read_last};
use prose_vm::effect::{Outcome, Reply};
use prose_vm::event::{Event, EventKind, RunStatus};
use prose_vm::store::Store;
use prose_vm::value::Value;

use crate::support::{Driver, effect, project};

const TEXT: &str = "let a = session \"A\"\nlet b = session \"B\"\n";

fn run() -> (tempfile::TempDir, Vec<Event>, PathBuf) {
    let (folder, project) = project();
    let mut run = Driver::start(&project, "two.prose", TEXT);
    run.session("s1", 1, "a", "First.");
    // Their replies are bound in another order than they came in.
    run.enter("s2", 2);
    let b = run.ask("s2", 2, "b", 0);
    let c = run.ask("s2/c", 2, "c", 0);
    let (b_reply, c_reply) = ("Second.", "Third,\nin two lines.");
    let effect = |request, text: &str| {
        let reply = prose_vm::effect::Reply { text: text.into(), ..Default::default() };
        crate::support::effect(request, prose_vm::effect::Outcome::Reply(reply))
    };
    run.tell("s2", 2, effect(&b, b_reply));
    run.tell("s2/c", 2, effect(&c, c_reply));
    for (request, name, text) in [(&b, "b", b_reply), (&c, "c", c_reply)] {
        let binding = run.binding(name, 0, 2);
        run.tell("s2", 2, crate::support::bound(binding, Value::text(text), Some(request.id)));
    }
    run.leave("s2", 2);
    run.end(RunStatus::Completed);
    let path = run.store.folder().join("journal.jsonl");
    (folder, run.events, path)
}

/// A line of a journal, with the checksum that it has in the run of that folder.
pub(crate) fn line_of(path: &Path, body: &str) -> String {
    let run = path.parent().unwrap().file_name().unwrap().to_str().unwrap();
    let mut hasher = crc32fast::Hasher::new_with_initial(crc32fast::hash(run.as_bytes()));
    hasher.update(body.as_bytes());
    format!("{{\"crc\":\"{:08x}\",{body}\n", hasher.finalize())
}

fn read(path: &Path) -> Result<Vec<Event>, StateError> {
    JournalReader::open(path)?.collect()
}

#[test]
fn events_are_read_as_they_were_written() {
    let (_folder, events, path) = run();
    assert_eq!(read(&path).unwrap(), events);
    let (at, head) = read_head(&path).unwrap();
    assert_eq!((at, head.program.as_str()), (events[0].at, "two.prose"));
    assert_eq!(read_last(&path).unwrap().as_ref(), events.last());
}

#[test]
fn lines_are_json_and_hold_each_reply_once() {
    let (_folder, _, path) = run();
    let text = fs::read_to_string(&path).unwrap();
    for line in text.lines() {
        let _: serde_json::Value = serde_json::from_str(line).unwrap();
    }
    assert_eq!(text.matches("in two lines.").count(), 1);
    // The checksum depends on the id of the run.
    let bound = &text.lines().nth(5).unwrap()[18..];
    expect![[r#""seq":6,"at":1768487457000,"place":"s1","site":{"start":0,"end":0,"line":1,"last_line":1},"event":"bound","binding":{"name":"a","kind":"let","path":"bindings/a.md","source":"let a = session \"A\""},"value":null,"reply":0,"mutable":true,"anonymous":false}"#]]
    .assert_eq(bound);
}

#[test]
fn a_torn_last_line_is_found_out() {
    let (_folder, events, path) = run();
    let text = fs::read_to_string(&path).unwrap();
    let last = text[..text.len() - 1].rfind('\n').unwrap() + 1;
    for length in [text.len() - 1, last + 30, last + 1] {
        fs::write(&path, &text[..length]).unwrap();
        let mut reader = JournalReader::open(&path).unwrap();
        let sound: Vec<_> = reader.by_ref().take(events.len() - 1).map(Result::unwrap).collect();
        assert_eq!(sound, events[..events.len() - 1]);
        let error = reader.next().unwrap().unwrap_err();
        let expected = format!("line {} of {} is not complete", events.len(), path.display());
        assert_eq!(error.to_string(), expected);
        assert!(reader.next().is_none());
        assert_eq!(read_last(&path).unwrap(), None);
    }
}

#[test]
fn every_changed_byte_is_found_out() {
    let (_folder, events, path) = run();
    let bytes = fs::read(&path).unwrap();
    let line_of = |at: usize| bytes[..at].iter().filter(|byte| **byte == b'\n').count();
    // The first line ends where its version is looked at, and line breaks join lines that are found out later.
    let second = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    for at in (second..bytes.len()).step_by(7).filter(|&at| bytes[at] != b'\n') {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        fs::write(&path, &changed).unwrap();
        let sound = JournalReader::open(&path).unwrap().map_while(Result::ok).count();
        assert!(sound == line_of(at) && sound < events.len(), "byte {at} of line {}", line_of(at));
    }
}

#[test]
fn a_file_of_zeros_as_a_crash_of_the_system_leaves_it() {
    let (_folder, events, path) = run();
    let mut bytes = fs::read(&path).unwrap();
    bytes.extend([0; 4096]);
    fs::write(&path, bytes).unwrap();
    let error = read(&path).unwrap_err();
    let line = events.len() + 1;
    assert_eq!(error.to_string(), format!("line {line} of {} is not complete", path.display()));
}

#[test]
fn a_journal_of_a_later_version_is_refused() {
    let (_folder, _, path) = run();
    // A later version need not write its lines in the same form.
    fs::write(&path, "{\"event\":\"run-started\",\"version\":7,\"form\":\"new\"}\n").unwrap();
    let error = read(&path).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "{} has version 7, but this `prose` supports versions up to 2; use the `prose` that wrote it, or a newer one",
            path.display()
        )
    );
}

#[test]
fn an_event_that_only_a_later_version_knows_is_no_damage() {
    let (_folder, _, path) = run();
    let text = fs::read_to_string(&path).unwrap();
    let body = format!(r#""seq":{},"at":0,"place":"","event":"teleported"}}"#, text.lines().count() + 1);
    let text = text + &line_of(&path, &body);
    fs::write(&path, &text).unwrap();
    let error = read(&path).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "line {} of {} is valid but not supported by this `prose`; use the `prose` that wrote it, or a newer one",
            text.lines().count(),
            path.display()
        )
    );
}

#[test]
fn events_are_written_in_the_order_of_their_numbers() {
    let (_folder, events, path) = run();
    fs::remove_file(&path).unwrap();
    let mut journal = Journal::create(&path).unwrap();
    journal.append(&events[0]).unwrap();
    journal.append(&events[1]).unwrap();
    let error = journal.append(&events[1]).unwrap_err();
    assert_eq!(error.to_string(), format!("event 2 cannot be written after event 2 of {}", path.display()));
    drop(journal);
    assert_eq!(read(&path).unwrap(), events[..2]);
}

#[test]
fn an_outcome_is_written_at_once_and_what_follows_from_it_when_the_program_waits() {
    let (_folder, project) = project();
    let mut run = Driver::start(&project, "one.prose", "let a = session \"A\"\n");
    let path = run.store.folder().join("journal.jsonl");
    run.enter("s1", 1);
    let request = run.ask("s1", 1, "a", 0);
    assert_eq!(read(&path).unwrap(), run.events[..1]);
    run.tell("s1", 1, effect(&request, Outcome::Reply(Reply { text: "First.".into(), ..Reply::default() })));
    assert_eq!(read(&path).unwrap(), run.events);
    let told = run.events.len();
    run.leave("s1", 1);
    assert_eq!(read(&path).unwrap(), run.events[..told]);
    run.store.commit().unwrap();
    assert_eq!(read(&path).unwrap(), run.events);
}

#[test]
fn values_of_all_kinds_come_back() {
    let (_folder, project) = project();
    let mut run = Driver::start(&project, "kinds.prose", "let a = 1\n");
    let error = prose_vm::error::RuntimeError::new(prose_vm::error::ErrorKind::Thrown, "no");
    for value in [
        Value::Null,
        Value::Bool(true),
        Value::Number(0.5),
        Value::Error(error.into()),
        Value::File("a.md".into()),
        Value::array([Value::text("x"), Value::object([("k", Value::Null)])]),
    ] {
        run.bind("s1", 1, "a", value);
    }
    run.tell("s1", 1, EventKind::TryStarted);
    run.store.commit().unwrap();
    let path = run.store.folder().join("journal.jsonl");
    assert_eq!(read(&path).unwrap(), run.events);
}
