//! The state of a run in a database (R111 to R117).

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use expect_test::{Expect, expect};
use prose_state::bindings::read_value;
use prose_state::filesystem::{FilesystemStore, Resume, Resumed};
use prose_state::folder::Project;
use prose_state::journal::journal_of;
use prose_state::reader::JournalReader;
use prose_state::runs::RunState;
use prose_vm::effect::{MemoryPlace, MemoryScope};
use prose_vm::event::{
    Event, EventKind, JOURNAL_VERSION, RunHead, RunStatus, StateMode, StatementKind, Status,
};
use prose_vm::store::{Recording, Store};
use rusqlite::Connection;
use rusqlite::types::Value as Cell;
use tempfile::TempDir;

use crate::support::{Driver, bound, project, tree, waiting};

const TEXT: &str = "let a = session \"A\"\nlet b = session \"B\"\n";

fn start(project: &Project, text: &str) -> Driver {
    Driver::start_in(StateMode::Sqlite, project, "two.prose", text)
}

/// A run of two sessions that has ended.
fn ended() -> (TempDir, Project, Vec<Event>, PathBuf) {
    executed(Some(RunStatus::Completed))
}

/// A run of two sessions, whose process was killed if it has no end.
fn executed(end: Option<RunStatus>) -> (TempDir, Project, Vec<Event>, PathBuf) {
    let (folder, project) = project();
    let mut run = start(&project, TEXT);
    run.session("s1", 1, "a", "First.");
    run.session("s2", 2, "b", "Second, with an \u{e9} and a\nline break.");
    if let Some(status) = end {
        run.end(status);
    }
    let database = journal_of(run.store.folder());
    let events = std::mem::take(&mut run.events);
    drop(run);
    (folder, project, events, database)
}

/// What a query gives, one line for a row.
fn query(database: &Path, sql: &str) -> String {
    let connection = Connection::open(database).unwrap();
    let mut statement = connection.prepare(sql).unwrap();
    let columns = statement.column_count();
    let shown = |cell: Cell| match cell {
        Cell::Null => "-".to_owned(),
        Cell::Integer(number) => number.to_string(),
        Cell::Real(number) => number.to_string(),
        Cell::Text(text) => text,
        Cell::Blob(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
    };
    let rows = statement.query_map((), |row| {
        let cells: rusqlite::Result<Vec<String>> =
            (0..columns).map(|column| row.get(column).map(shown)).collect();
        Ok(cells?.join(" | ") + "\n")
    });
    rows.unwrap().collect::<rusqlite::Result<String>>().unwrap()
}

fn change(database: &Path, sql: &str) {
    Connection::open(database).unwrap().execute_batch(sql).unwrap();
}

fn read(path: &Path) -> Vec<Event> {
    JournalReader::open(path).unwrap().collect::<Result<_, _>>().unwrap()
}

fn resume(project: &Project, database: &Path, how: Resume) -> Resumed {
    let run = database.parent().unwrap().file_name().unwrap().to_str().unwrap();
    FilesystemStore::resume(project, run, TEXT, how).unwrap()
}

#[test]
fn r111_a_run_has_its_database_and_its_program_and_no_other_files() {
    let (_folder, project, events, database) = ended();
    assert_eq!(database.file_name().unwrap(), "state.db");
    expect![[r#"
        .lock
        program.prose
        state.db
    "#]]
    .assert_eq(&tree(database.parent().unwrap()));
    assert_eq!(read(&database), events);
    let [run] = &project.list_runs().unwrap()[..] else { panic!("one run") };
    assert_eq!(
        (run.status, run.sessions, run.program.as_deref()),
        (RunState::Completed, Some(2), Some("two.prose"))
    );
}

#[cfg(unix)]
#[test]
fn the_database_and_the_files_beside_it_belong_to_the_user_alone() {
    use std::os::unix::fs::PermissionsExt;
    let (_folder, project) = project();
    let mut run = start(&project, TEXT);
    run.session("s1", 1, "a", "First.");
    run.store.commit().unwrap();
    let folder = run.store.folder();
    for file in ["state.db", "state.db-wal", "state.db-shm"] {
        let mode = folder.join(file).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
}

/// A journal in a database can be read with every tool that reads a journal in a file.
#[test]
fn the_rows_of_the_journal_have_the_bytes_of_its_lines() {
    let (_folder, project) = project();
    let lines = |state| {
        let mut run = Driver::start_in(state, &project, "two.prose", TEXT);
        run.session("s1", 1, "a", "First.");
        run.end(RunStatus::Completed);
        let (path, id) = (journal_of(run.store.folder()), run.kill());
        let text = match state {
            StateMode::Sqlite => query(&path, "SELECT line FROM journal ORDER BY start"),
            _ => fs::read_to_string(&path).unwrap(),
        };
        // What follows from the id and from the kind of state is left out.
        let lines = text.lines().map(|line| line.split_once(',').unwrap().1.replace(&id, "ID"));
        lines.map(|line| line.replace("filesystem", "sqlite")).collect::<Vec<_>>()
    };
    assert_eq!(lines(StateMode::Sqlite), lines(StateMode::Filesystem));
    let (_folder, _, _, database) = ended();
    let sums = "SELECT count(*) FROM journal AS a WHERE start <>
        (SELECT ifnull(sum(octet_length(line) + 1), 0) FROM journal AS b WHERE b.start < a.start)";
    assert_eq!(query(&database, sums), "0\n");
}

#[test]
fn r112_the_documented_tables_follow_from_the_events() {
    let (_folder, project) = project();
    let text = "let a = session \"A\"\nparallel:\n  p = session \"P\"\nloop:\n  session \"L\"\ndo block(1)\n";
    let mut run = start(&project, text);
    run.session("s1", 1, "a", "First.");
    run.enter("s2", 2);
    let (branches, strategy) = (vec!["p".into()], "all".into());
    let parallel = EventKind::ParallelStarted {
        branches,
        strategy,
        policy: "fail-fast".into(),
        count: 1,
        is_loop: false,
    };
    run.tell("s2", 2, parallel);
    run.tell("s2/b0", 3, EventKind::BranchStarted { index: 0, name: "p".into() });
    run.session("s2/b0/1", 3, "p", "P.");
    let value = prose_vm::value::Value::text("P.");
    run.tell(
        "s2/b0",
        3,
        EventKind::BranchEnded { index: 0, name: "p".into(), status: Status::Complete, value },
    );
    run.leave("s2", 2);
    run.enter("s3", 4);
    let kind = prose_vm::effect::LoopKind::Until;
    run.tell("s3", 4, EventKind::LoopStarted { kind, header: "**done**".into(), max: Some(3) });
    run.tell("s3/i1", 4, EventKind::IterationStarted { number: 1, max: Some(3) });
    run.tell("s3/i2", 4, EventKind::IterationStarted { number: 2, max: Some(3) });
    run.leave_with("s3", 4, Status::Skipped);
    let source = "do block(1)".into();
    run.tell("s4", 6, EventKind::StatementStarted { number: Some(4), source, kind: StatementKind::Call });
    let (block, arguments) = ("block".into(), Vec::new());
    run.tell("s4/f1", 6, EventKind::FrameEntered { id: 1, block, depth: 1, parent: 0, arguments });
    let binding = run.binding("inner", 1, 6);
    run.tell("s4/f1/1", 6, bound(binding, prose_vm::value::Value::text("In the block."), None));
    let place = MemoryPlace {
        agent: "captain".into(),
        scope: MemoryScope::Execution,
        folder: "agents/captain/".into(),
    };
    let written = EventKind::MemoryWritten {
        place,
        memory: "It is known.".into(),
        segment: 1,
        prompt: "Look".into(),
        record: "Looked.".into(),
    };
    run.tell("s4/f1/2", 6, written);
    run.store.commit().unwrap();
    let database = journal_of(run.store.folder());
    // Read while the run is executed.
    let check = |sql: &str, expected: Expect| expected.assert_eq(&query(&database, sql));
    check(
        "SELECT program_path, status, state_mode, started_at, program_source LIKE 'let a%' FROM run",
        expect![[r#"
            two.prose | running | sqlite | 2026-01-15 14:30:52 | 1
        "#]],
    );
    check(
        "SELECT id, statement_index, statement_text, status, completed_at IS NOT NULL, parent_id, metadata FROM execution",
        expect![[r#"
            1 | - | let a = session "A" | completed | 1 | - | -
            2 | - | parallel: | completed | 1 | - | {"branches":["p"],"parallel_id":"p2","strategy":"all"}
            3 | - | p | completed | 1 | 2 | {"branch":"p","parallel_id":"p2"}
            4 | - | p = session "P" | completed | 1 | 3 | -
            5 | - | loop: | skipped | 1 | - | {"condition":"**done**","current_iteration":2,"loop_id":"l5","max_iterations":3}
            6 | 4 | do block(1) | executing | 0 | - | -
            7 | - | block | executing | 0 | 6 | {"block":"block","depth":1,"frame":1}
        "#]],
    );
    check(
        "SELECT name, execution_id, kind, value, source_statement, attachment_path FROM bindings",
        expect![[r#"
            a | - | let | First. | let a = session "A" | -
            p | - | let | P. | p = session "P" | -
            inner | 7 | let | In the block. | do block(1) | -
        "#]],
    );
    check(
        "SELECT name, scope, memory FROM agents",
        expect![[r#"
        captain | execution | It is known.
    "#]],
    );
    check(
        "SELECT agent_name, segment_number, prompt, summary FROM agent_segments",
        expect![[r#"
        captain | 1 | Look | Looked.
    "#]],
    );
    // R116: a name is looked up in the scopes around a row of `execution`.
    check(
        "WITH RECURSIVE scope AS (
            SELECT id, parent_id FROM execution WHERE id = 7
            UNION ALL SELECT e.id, e.parent_id FROM execution e JOIN scope s ON e.id = s.parent_id)
         SELECT name, value FROM bindings WHERE name IN ('inner', 'a')
            AND (execution_id IS NULL OR execution_id IN (SELECT id FROM scope)) ORDER BY name",
        expect![[r#"
            a | First.
            inner | In the block.
        "#]],
    );
}

#[test]
fn r115_large_values_are_files_beside_the_database() {
    let (_folder, project) = project();
    let mut run = start(&project, TEXT);
    let large = "x".repeat(100_001);
    run.session("s1", 1, "a", &large);
    run.session("s2", 2, "b", &"y".repeat(100_000));
    run.store.commit().unwrap();
    let (folder, id) = (run.store.folder().to_owned(), run.kill());
    let columns = "SELECT name, value IS NULL, length(value), attachment_path FROM bindings ORDER BY name";
    expect![[r#"
        a | 1 | - | attachments/a.md
        b | 0 | 100000 | -
    "#]]
    .assert_eq(&query(&journal_of(&folder), columns));
    assert_eq!(fs::read_to_string(folder.join("attachments/a.md")).unwrap(), large);
    assert_eq!(read_value(&folder, "a").unwrap().as_deref(), Some(large.as_str()));
    assert_eq!(read_value(&folder, "c").unwrap(), None);
    let sizes: Vec<_> =
        project.show_run(&id).unwrap().bindings.into_iter().map(|file| (file.name, file.bytes)).collect();
    assert_eq!(sizes, [("a".to_owned(), 100_001), ("b".to_owned(), 100_000)]);
}

/// A run that was started with an agent that reads files names them in its prompts, so that they are there also when it was moved to a database.
#[test]
fn bindings_have_files_as_well_where_prompts_name_them() {
    for names_files in [false, true] {
        let (_folder, project) = project();
        let state = StateMode::Sqlite;
        let store = FilesystemStore::create_as(None, &project, TEXT, SystemTime::now(), state).unwrap();
        let mut run = Driver::on(store, TEXT);
        let head = RunHead {
            version: JOURNAL_VERSION,
            run: run.store.run().into(),
            state,
            context_by_reference: names_files,
            ..RunHead::default()
        };
        run.tell("", 0, EventKind::RunStarted(Box::new(head)));
        run.session("s1", 1, "a", "First.");
        run.store.commit().unwrap();
        assert_eq!(run.store.folder().join("bindings/a.md").exists(), names_files);
        assert!(!run.store.folder().join("state.md").exists());
        assert_eq!(read_value(run.store.folder(), "a").unwrap().as_deref(), Some("First."));
    }
}

/// The journal has the result, and the process is killed before anything follows from it.
#[test]
fn r116_a_run_whose_process_was_killed_is_resumed_from_its_database() {
    let (_folder, project) = project();
    let mut run = start(&project, TEXT);
    run.session("s1", 1, "a", "First.");
    run.enter("s2", 2);
    let request = run.ask("s2", 2, "b", 0);
    run.store.commit().unwrap();
    let events = std::mem::take(&mut run.events);
    let database = journal_of(run.store.folder());
    let bindings = query(&database, "SELECT * FROM bindings");
    run.kill();
    change(
        &database,
        "CREATE TABLE x_notes (text); INSERT INTO x_notes VALUES ('kept'); UPDATE bindings SET value = 'other'",
    );

    let Resumed { store, mut recall, notes, .. } = resume(&project, &database, Resume::Exact);
    assert_eq!(notes, Vec::<String>::new());
    assert_eq!(recall.recall(&waiting(&[&request])), None);
    let mut run = Driver::on(store, TEXT);
    run.replay(&events);
    run.is_new = true;
    run.reply(&request, "Second.");
    run.leave("s2", 2);
    run.end(RunStatus::Completed);
    let events = std::mem::take(&mut run.events);
    run.kill();
    assert_eq!(read(&database), events);
    assert_eq!(query(&database, "SELECT text FROM x_notes"), "kept\n");
    assert!(query(&database, "SELECT * FROM bindings").starts_with(&bindings));
    assert_eq!(query(&database, "SELECT status FROM run"), "completed\n");
    assert_eq!(query(&database, "SELECT id, status FROM execution"), "1 | completed\n2 | completed\n");
}

#[test]
fn tables_that_somebody_has_removed_are_filled_again() {
    let (_folder, project, events, database) = executed(None);
    let bindings = query(&database, "SELECT * FROM bindings");
    change(&database, "DROP TABLE bindings; DROP TABLE execution; DROP INDEX IF EXISTS bindings_key");
    let Resumed { store, notes, .. } = resume(&project, &database, Resume::Exact);
    assert_eq!(notes, Vec::<String>::new());
    let mut run = Driver::on(store, TEXT);
    run.replay(&events);
    run.is_new = true;
    run.end(RunStatus::Completed);
    run.kill();
    assert_eq!(query(&database, "SELECT * FROM bindings"), bindings);
    assert_eq!(query(&database, "SELECT id, status FROM execution"), "1 | completed\n2 | completed\n");
}

/// The system lets a deleted file be written to, and everything in it is lost in the end.
#[cfg(unix)]
#[test]
fn a_run_whose_journal_was_deleted_does_not_go_on() {
    for state in [StateMode::Filesystem, StateMode::Sqlite] {
        let (_folder, project) = project();
        let mut run = Driver::start_in(state, &project, "two.prose", TEXT);
        run.session("s1", 1, "a", "First.");
        run.store.commit().unwrap();
        let journal = journal_of(run.store.folder());
        fs::remove_file(&journal).unwrap();
        run.session("s2", 2, "b", "Second.");
        let error = run.store.commit().unwrap_err().to_string();
        assert!(error.ends_with("it was deleted or replaced while the run was executed"), "{error}");
    }
}

#[test]
fn the_journal_of_a_program_before_it_changed_is_kept_beside_the_database() {
    let (_folder, project, events, database) = ended();
    let Resumed { store, mut recall, .. } = resume(&project, &database, Resume::AcceptChanges);
    let mut other = Driver::on(store, TEXT);
    other.head("two.prose");
    other.enter("s1", 1);
    let request = other.ask("s1", 1, "a", 0);
    assert!(recall.recall(&waiting(&[&request])).is_some());
    other.store.commit().unwrap();
    assert_eq!(query(&database, "SELECT count(*) FROM bindings"), "0\n");
    let new = other.events.clone();
    other.kill();
    assert_eq!(read(&database), new);
    assert_eq!(read(&database.with_file_name("journal-1.jsonl")), events);
}

/// What was changed by hand costs only what it was about.
#[track_caller]
fn check_damage(sql: &str, expected: Expect) {
    let (_folder, project, events, database) = executed(None);
    change(&database, sql);
    let Resumed { notes, store, .. } = resume(&project, &database, Resume::Exact);
    drop(store);
    let folder = database.parent().unwrap();
    let notes = notes.join("\n").replace(folder.to_str().unwrap(), "RUN");
    let left = read(&database);
    assert!(events.starts_with(&left), "{left:?}");
    expected.assert_eq(&format!("{notes}\n{} of {} events\n", left.len(), events.len()));
    // Where a line was lost, the journal as it was is kept.
    assert!(folder.join("journal.kept-1.jsonl").is_file());
}

#[test]
fn damaged_rows_are_repaired_as_damaged_lines_are() {
    let line = "(SELECT start FROM journal ORDER BY start LIMIT 1 OFFSET 3)";
    check_damage(
        &format!("UPDATE journal SET line = replace(line, 'First', 'Other') WHERE start = {line}"),
        expect![[r#"
            line 4 of RUN/state.db was changed or belongs to another run: its checksum does not match. 1 result is lost: 1 session (line 1) is requested again. The other lines are used; the old journal is kept in journal.kept-1.jsonl
            3 of 13 events
        "#]],
    );
    check_damage(
        &format!("UPDATE journal SET line = line || 'more' WHERE start = {line}"),
        expect![[r#"
        line 4 of RUN/state.db was changed or belongs to another run: its checksum does not match. 1 result is lost: 1 session (line 1) is requested again. The other lines are used; the old journal is kept in journal.kept-1.jsonl
        3 of 13 events
    "#]],
    );
    check_damage(
        &format!("UPDATE journal SET line = substr(line, 1, 40) WHERE start = {line}"),
        expect![[r#"
            line 4 of RUN/state.db was changed or belongs to another run: its checksum does not match, and 1 more line is damaged. 1 result is lost: 1 session (line 1) is requested again. The other lines are used; the old journal is kept in journal.kept-1.jsonl
            3 of 13 events
        "#]],
    );
    check_damage(
        &format!("DELETE FROM journal WHERE start = {line}"),
        expect![[r#"
        line 4 of RUN/state.db is not a line of a journal. 1 result is lost: 1 session (line 1) is requested again. The other lines are used; the old journal is kept in journal.kept-1.jsonl
        3 of 13 events
    "#]],
    );
    check_damage(
        &format!("UPDATE journal SET line = x'00ff' WHERE start = {line}"),
        expect![[r#"
            line 4 of RUN/state.db is not a line of a journal, and 1 more line is damaged. 1 result is lost: 1 session (line 1) is requested again. The other lines are used; the old journal is kept in journal.kept-1.jsonl
            3 of 13 events
        "#]],
    );
    check_damage(
        "UPDATE journal SET line = line || char(10) || '{\"crc\":' WHERE start = (SELECT max(start) FROM journal)",
        expect![[r#"
            line 14 of RUN/state.db is not a line of a journal. No result is lost. The other lines are used; the old journal is kept in journal.kept-1.jsonl
            13 of 13 events
        "#]],
    );
}

/// What is said of a database that cannot be used. Nothing in the folder changes.
#[track_caller]
fn check_refused(spoil: impl FnOnce(&Path), expected: Expect) {
    let (_folder, project, _, database) = ended();
    spoil(&database);
    let before = fs::read(&database).unwrap();
    let folder = database.parent().unwrap();
    let id = folder.file_name().unwrap().to_str().unwrap();
    let mut said = Vec::new();
    said.push(FilesystemStore::resume(&project, id, TEXT, Resume::Exact).unwrap_err().to_string());
    said.push(FilesystemStore::resume(&project, id, TEXT, Resume::AcceptChanges).unwrap_err().to_string());
    let summary = project.show_run(id).unwrap().summary;
    let error = summary.error.unwrap_or_default();
    let is_newer = error.contains("has version 9");
    assert_eq!(summary.status, if is_newer { RunState::Newer } else { RunState::Damaged });
    said.push(error);
    said.dedup();
    expected.assert_eq(&(said.join("\n").replace(folder.to_str().unwrap(), "RUN") + "\n"));
    assert!(fs::read(&database).unwrap() == before, "the database was changed");
}

#[test]
fn databases_that_are_damaged_newer_or_of_others_are_refused_and_stay_as_they_are() {
    check_refused(
        |database| fs::write(database, "no database at all, but a text").unwrap(),
        expect![[r#"
        cannot read RUN/state.db: file is not a database; `sqlite3 state.db .recover` prints what can still be read of it
    "#]],
    );
    check_refused(
        |database| {
            let mut bytes = fs::read(database).unwrap();
            let length = bytes.len();
            bytes[4096..length].fill(0x5a);
            fs::write(database, bytes).unwrap();
        },
        expect![[r#"
            cannot read the journal RUN/state.db: database disk image is malformed; `sqlite3 state.db .recover` prints what can still be read of it
        "#]],
    );
    check_refused(
        |database| change(database, "PRAGMA user_version = 9"),
        expect![[r#"
        cannot use `RUN/state.db`: the database has version 9, but this `prose` supports versions up to 1; use the `prose` that wrote it, or a newer one
    "#]],
    );
    check_refused(
        |database| change(database, "PRAGMA application_id = 7"),
        expect![[r#"
            cannot use `RUN/state.db`: it is not a database that `prose` wrote, and is left as it is
        "#]],
    );
    // The database of another implementation, which has no journal.
    check_refused(
        |database| change(database, "PRAGMA application_id = 0; DROP TABLE journal"),
        expect![[r#"
            cannot use `RUN/state.db`: it is not a database that `prose` wrote, and is left as it is
        "#]],
    );
}

#[test]
fn a_database_that_was_just_being_made_is_an_empty_one() {
    let (_folder, project) = project();
    let run = start(&project, TEXT);
    let (database, id) = (journal_of(run.store.folder()), run.kill());
    fs::write(&database, "").unwrap();
    assert_eq!(project.show_run(&id).unwrap().summary.status, RunState::Damaged);
    let Resumed { store, notes, .. } = resume(&project, &database, Resume::Exact);
    assert_eq!(notes, Vec::<String>::new());
    let mut run = Driver::on(store, TEXT);
    run.head("two.prose");
    run.session("s1", 1, "a", "First.");
    run.store.commit().unwrap();
    assert_eq!(read(&database), run.events);
}

#[cfg(unix)]
#[test]
fn a_link_in_the_place_of_the_database_is_not_followed() {
    let (_folder, project, _, database) = ended();
    let elsewhere = project.root.join("elsewhere.db");
    fs::rename(&database, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &database).unwrap();
    let before = fs::read(&elsewhere).unwrap();
    let id = database.parent().unwrap().file_name().unwrap().to_str().unwrap();
    let error = FilesystemStore::resume(&project, id, TEXT, Resume::Exact).unwrap_err().to_string();
    assert!(error.contains("is a link"), "{error}");
    assert!(fs::read(&elsewhere).unwrap() == before);
}

/// People look at a run with `sqlite3`, and may keep it from being written for a while.
#[test]
fn another_program_reads_and_writes_while_the_run_writes() {
    let (_folder, project) = project();
    let mut run = start(&project, TEXT);
    run.store.commit().unwrap();
    let database = journal_of(run.store.folder());
    let reader = Connection::open(&database).unwrap();
    // A reader with an open transaction sees what was there when it began.
    reader.execute_batch("BEGIN").unwrap();
    let count = || reader.query_row("SELECT count(*) FROM journal", (), |row| row.get::<_, u32>(0)).unwrap();
    assert_eq!(count(), 1);
    let writer = Connection::open(&database).unwrap();
    writer.execute_batch("BEGIN IMMEDIATE; CREATE TABLE x_mine (a); INSERT INTO x_mine VALUES (1)").unwrap();
    let waits = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(300));
        writer.execute_batch("COMMIT").unwrap();
    });
    let before = SystemTime::now();
    run.session("s1", 1, "a", "First.");
    run.store.commit().unwrap();
    assert!(before.elapsed().unwrap().as_millis() >= 200, "it did not wait for the other writer");
    waits.join().unwrap();
    assert_eq!(count(), 1);
    reader.execute_batch("COMMIT").unwrap();
    assert_eq!(count() as usize, run.events.len());
    assert_eq!(query(&database, "SELECT a FROM x_mine"), "1\n");
}

#[test]
fn calls_with_the_same_id_in_two_executions_of_a_program_have_rows_of_their_own() {
    let (_folder, project) = project();
    let mut run = start(&project, TEXT);
    let library = "block dig(x):\n  let inner = x\ndo dig(1)\n";
    let call = |program: u32| format!("s{program}/m{program}/s1");
    let entered =
        || EventKind::FrameEntered { id: 1, block: "dig".into(), depth: 1, parent: 0, arguments: Vec::new() };
    for program in [1, 2] {
        run.enter_program(program, "", library);
        run.tell(&call(program), 3, entered());
    }
    for program in [1, 2] {
        run.enter_program(program, "", library);
        let value = prose_vm::value::Value::text(format!("of {program}"));
        let bound = bound(run.binding("inner", 1, 2), value, None);
        run.tell(&format!("{}/f1/s0", call(program)), 2, bound);
        run.tell(
            &call(program),
            3,
            EventKind::FrameLeft { id: 1, block: "dig".into(), status: Status::Complete },
        );
    }
    run.end(RunStatus::Completed);
    let database = journal_of(run.store.folder());
    expect![[r#"
        1 | completed | of 1
        2 | completed | of 2
    "#]].assert_eq(&query(
        &database,
        "SELECT execution.id, status, value FROM execution JOIN bindings ON execution_id = execution.id ORDER BY 1",
    ));
}
