//! The databases of agents that outlive runs (R111).

use std::fs;
use std::path::Path;

use expect_test::expect;
use prose_state::filesystem::{FilesystemStore, Resume};
use prose_state::folder::Project;
use prose_vm::effect::{MemoryPlace, MemoryScope};
use prose_vm::event::{EventKind, StateMode};
use prose_vm::store::Store;
use rusqlite::Connection;
use tempfile::TempDir;

use crate::support::{Driver, project};

const TEXT: &str = "resume: captain\n";

fn with_home() -> (TempDir, TempDir, Project) {
    let (folder, mut project) = project();
    let home = tempfile::tempdir().unwrap();
    project.home = Some(home.path().to_owned());
    (folder, home, project)
}

fn place(scope: MemoryScope, folder: &str) -> MemoryPlace {
    MemoryPlace { agent: "captain".into(), scope, folder: folder.into() }
}

fn written(place: &MemoryPlace, segment: u32, record: &str) -> EventKind {
    let memory = format!("# Agent Memory: captain\n\n{record}\n").into();
    let (prompt, record) = ("Review \"all\"".into(), record.into());
    EventKind::MemoryWritten { place: place.clone(), memory, segment, prompt, record }
}

fn remember(run: &mut Driver, place: &MemoryPlace, segment: u32, record: &str) {
    run.tell("s1", 1, written(place, segment, record));
}

/// What is said of a memory that cannot be written.
fn refused(run: &mut Driver, place: &MemoryPlace) -> String {
    let event = run.event("s1", 1, written(place, 2, "More"));
    run.store.record(&event, true).unwrap_err().to_string()
}

/// The agents and the segments of a database, a line each.
fn rows(folder: &Path) -> String {
    let connection = Connection::open(folder.join(".prose/agents.db")).unwrap();
    let read = |sql: &str| -> String {
        let mut statement = connection.prepare(sql).unwrap();
        let rows = statement.query_map((), |row| row.get::<_, String>(0)).unwrap();
        rows.map(|row| row.unwrap().replace('\n', "\\n") + "\n").collect()
    };
    read("SELECT name || ' (' || scope || '): ' || memory || ', ' || updated_at FROM agents ORDER BY name")
        + &read(
            "SELECT agent_name || ' ' || segment_number || ', ' || timestamp || ', ' || prompt || ': ' || summary
             FROM agent_segments ORDER BY agent_name, segment_number",
        )
}

#[test]
fn r111_agents_of_the_project_and_of_the_user_have_databases_beside_their_files() {
    let (folder, home, project) = with_home();
    let own = place(MemoryScope::Project, ".prose/agents/captain/");
    // A run with files, whose segment is copied by the next run with a database.
    let mut run = Driver::start(&project, "a.prose", TEXT);
    remember(&mut run, &own, 1, "From a run with files.");
    assert!(!folder.path().join(".prose/agents.db").exists());

    let mut run = Driver::start_in(StateMode::Sqlite, &project, "a.prose", TEXT);
    remember(&mut run, &own, 2, "Found: much");
    let imported = place(MemoryScope::Project, ".prose/agents/alice/research/captain/");
    remember(&mut run, &imported, 1, "Of an imported program.");
    remember(&mut run, &place(MemoryScope::User, ".prose/agents/captain/"), 1, "Of the user.");
    remember(&mut run, &place(MemoryScope::Execution, "agents/captain/"), 1, "Of the run.");
    remember(&mut run, &place(MemoryScope::Custom, "notes/captain"), 1, "Of the program.");
    expect![[r#"
        alice/research/captain (project): # Agent Memory: captain\n\nOf an imported program.\n, 2026-01-15 14:30:54
        captain (project): # Agent Memory: captain\n\nFound: much\n, 2026-01-15 14:30:53
        alice/research/captain 1, 2026-01-15 14:30:54.000, Review "all": Of an imported program.
        captain 1, 2026-01-15 14:30:53.000, Review "all": From a run with files.
        captain 2, 2026-01-15 14:30:53.000, Review "all": Found: much
    "#]].assert_eq(&rows(folder.path()));
    expect![[r#"
        captain (user): # Agent Memory: captain\n\nOf the user.\n, 2026-01-15 14:30:55
        captain 1, 2026-01-15 14:30:55.000, Review "all": Of the user.
    "#]]
    .assert_eq(&rows(home.path()));
}

#[test]
fn a_killed_run_copies_its_last_memory_when_it_is_resumed() {
    let (folder, _home, project) = with_home();
    let own = place(MemoryScope::Project, ".prose/agents/captain/");
    let mut run = Driver::start_in(StateMode::Sqlite, &project, "a.prose", TEXT);
    remember(&mut run, &own, 1, "Found: much");
    let (id, events) = (run.store.run().to_owned(), std::mem::take(&mut run.events));
    drop(run);
    let expected = rows(folder.path());
    // As if its process had been killed between the files and the database.
    fs::remove_file(folder.path().join(".prose/agents.db")).unwrap();
    let mut store = FilesystemStore::resume(&project, &id, TEXT, Resume::Exact).unwrap().store;
    for event in &events {
        store.record(event, false).unwrap();
    }
    assert_eq!(rows(folder.path()), expected);
}

#[test]
fn a_database_of_another_program_stays_as_it_is() {
    let (folder, _home, project) = with_home();
    let database = folder.path().join(".prose/agents.db");
    fs::create_dir_all(database.parent().unwrap()).unwrap();
    Connection::open(&database).unwrap().execute_batch("CREATE TABLE agents (name TEXT)").unwrap();
    let before = fs::read(&database).unwrap();
    let mut run = Driver::start_in(StateMode::Sqlite, &project, "a.prose", TEXT);
    let own = place(MemoryScope::Project, ".prose/agents/captain/");
    let error = refused(&mut run, &own).replace(folder.path().to_str().unwrap(), "PROJECT");
    expect![
        "cannot use `PROJECT/.prose/agents.db`: it is not a database that `prose` wrote, and is left as it is"
    ]
    .assert_eq(&error);
    assert!(fs::read(&database).unwrap() == before);
}

#[cfg(unix)]
#[test]
fn the_database_belongs_to_the_user_alone_and_a_link_is_not_followed() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let (folder, _home, project) = with_home();
    let own = place(MemoryScope::Project, ".prose/agents/captain/");
    let mut run = Driver::start_in(StateMode::Sqlite, &project, "a.prose", TEXT);
    remember(&mut run, &own, 1, "Found: much");
    let database = folder.path().join(".prose/agents.db");
    assert_eq!(fs::metadata(&database).unwrap().permissions().mode() & 0o777, 0o600);
    let elsewhere = folder.path().join("elsewhere.db");
    fs::rename(&database, &elsewhere).unwrap();
    symlink(&elsewhere, &database).unwrap();
    assert!(refused(&mut run, &own).contains("is a link"));
}

#[test]
fn an_error_of_the_database_names_it() {
    let (folder, _home, project) = with_home();
    let database = folder.path().join(".prose/agents.db");
    fs::create_dir_all(database.parent().unwrap()).unwrap();
    fs::write(&database, "nothing that is a database".repeat(100)).unwrap();
    let mut run = Driver::start_in(StateMode::Sqlite, &project, "a.prose", TEXT);
    let own = place(MemoryScope::Project, ".prose/agents/captain/");
    let error = refused(&mut run, &own).replace(folder.path().to_str().unwrap(), "PROJECT");
    expect!["cannot write PROJECT/.prose/agents.db: file is not a database; `sqlite3 agents.db .recover` prints what can still be read of it"].assert_eq(&error);
}
