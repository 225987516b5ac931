//! What goes wrong around a run: each time an error that names the file, and nothing lost.

use std::fs;
use std::time::UNIX_EPOCH;

use prose_state::filesystem::{FilesystemStore, Resume};
use prose_state::folder::Project;
use prose_vm::event::RunStatus;
use prose_vm::store::Store;

use crate::support::{Driver, bound, project};

const TEXT: &str = "let a = session \"A\"\nlet b = session \"B\"\n";

#[test]
#[cfg(unix)]
fn a_folder_that_cannot_be_written_to() {
    use prose_fixture::permissions::obey_permissions;
    use std::os::unix::fs::PermissionsExt;

    let (folder, project) = project();
    let mut run = Driver::start(&project, "two.prose", TEXT);
    run.session("s1", 1, "a", "First.");
    let bindings = run.store.folder().join("bindings");
    let set =
        |path: &std::path::Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    set(&bindings, 0o500);
    obey_permissions();
    let binding = run.binding("b", 0, 2);
    let event = run.event("s2", 2, bound(binding, "x".into(), None));
    let error = run.store.record(&event, true).unwrap_err().to_string();
    let file = format!("cannot write {}: Permission denied (os error 13)", bindings.join("b.md").display());
    assert!(error.starts_with(&file), "{error}");
    assert!(error.ends_with("; runs store their state in `.prose`, which must be writable"), "{error}");
    set(&bindings, 0o700);

    let id = run.store.run().to_owned();
    let mut events = std::mem::take(&mut run.events);
    drop(run);
    // The event was recorded before its file could not be written.
    events.push(event);
    let store = FilesystemStore::resume(&project, &id, TEXT, Resume::Exact).unwrap().store;
    let mut run = Driver::on(store, TEXT);
    for event in events {
        run.store.record(&event, false).unwrap();
        run.events.push(event);
    }
    run.end(RunStatus::Completed);
    assert!(run.read("bindings/b.md").ends_with("---\n\nx\n"));
    drop(folder);
}

#[test]
fn a_project_whose_prose_folder_is_a_file() {
    let (folder, project) = project();
    fs::write(folder.path().join(".prose"), "").unwrap();
    let error = FilesystemStore::create(&project, TEXT, UNIX_EPOCH).unwrap_err().to_string();
    let expected =
        format!("cannot open {}: ", folder.path().canonicalize().unwrap().join(".prose").display());
    assert!(error.starts_with(&expected), "{error}");
    assert!(project.list_runs().unwrap().is_empty());
}

/// A run whose first session has ended, stopped.
fn stopped(project: &Project) -> (String, Vec<prose_vm::event::Event>) {
    let mut run = Driver::start(project, "two.prose", TEXT);
    run.session("s1", 1, "a", "First.");
    (run.store.run().to_owned(), run.events)
}

#[test]
fn a_run_folder_of_which_only_the_journal_is_left() {
    let (_folder, project) = project();
    let (id, events) = stopped(&project);
    let folder = project.existing_run(&id).unwrap();
    fs::remove_dir_all(folder.join("bindings")).unwrap();
    fs::remove_file(folder.join("state.md")).unwrap();
    fs::remove_file(folder.join("program.prose")).unwrap();
    fs::remove_file(folder.join(".lock")).unwrap();
    let store = FilesystemStore::resume(&project, &id, TEXT, Resume::Exact).unwrap().store;
    let mut run = Driver::on(store, TEXT);
    for event in events {
        run.store.record(&event, false).unwrap();
        run.events.push(event);
    }
    run.end(RunStatus::Completed);
    assert!(run.read("bindings/a.md").ends_with("---\n\nFirst.\n"));
    assert_eq!(run.read("program.prose"), TEXT);
    assert!(run.read("state.md").contains("# --> bindings/a.md (complete)"));
}

#[test]
fn a_folder_that_is_removed_while_the_run_goes_on() {
    let (_folder, project) = project();
    let mut run = Driver::start(&project, "two.prose", TEXT);
    run.session("s1", 1, "a", "First.");
    fs::remove_dir_all(run.store.folder().join("bindings")).unwrap();
    run.session("s2", 2, "b", "Second.");
    assert!(run.read("bindings/b.md").ends_with("---\n\nSecond.\n"));
}

#[test]
fn a_reply_of_many_megabytes() {
    let (_folder, project) = project();
    let mut run = Driver::start(&project, "two.prose", TEXT);
    let reply = "line\n---\n".repeat(1_000_000);
    run.session("s1", 1, "a", &reply);
    let binding = run.binding("a", 0, 1);
    assert_eq!(run.store.read_binding(&binding).unwrap().as_deref(), Some(reply.as_str()));
    let id = run.kill();
    assert_eq!(project.show_run(&id).unwrap().summary.sessions, Some(1));
}
