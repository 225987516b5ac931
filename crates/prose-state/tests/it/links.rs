//! Links and pipes in the places of files that runs keep: none is followed out of the project, and nobody waits for one.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, UNIX_EPOCH};

use expect_test::{Expect, expect};
use prose_state::StateError;
use prose_state::filesystem::{FilesystemStore, Resume};
use prose_state::folder::Project;
use prose_vm::effect::{Memory, MemoryPlace, MemoryScope};
use prose_vm::event::{EventKind, RunStatus};
use prose_vm::store::Store;
use tempfile::TempDir;

use crate::support::{Driver, START, project};

const TEXT: &str = "let a = session \"A\"\n";

/// A project, and a folder outside that nothing may be written to or read from.
struct Two {
    folder: TempDir,
    project: Project,
    outside: TempDir,
}

impl Two {
    fn new() -> Self {
        let (folder, project) = project();
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("memory.md"), "of somebody else").unwrap();
        fs::write(outside.path().join("captain-001.md"), "of somebody else").unwrap();
        Self { folder, project, outside }
    }

    /// Links a path of the project to the folder outside.
    fn link(&self, path: &str) {
        let path = self.folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(self.outside.path(), path).unwrap();
    }

    fn create(&self) -> Result<FilesystemStore, StateError> {
        FilesystemStore::create(&self.project, TEXT, UNIX_EPOCH + Duration::from_millis(START))
    }

    #[track_caller]
    fn refused<T>(&self, result: Result<T, impl ToString>, expected: &Expect) {
        let error = result.err().expect("it is refused").to_string();
        let folder = self.project.root.to_str().unwrap();
        expected.assert_eq(&error.replace(folder, "PROJECT"));
        // Nothing is written there.
        let mut names: Vec<_> =
            fs::read_dir(self.outside.path()).unwrap().flatten().map(|entry| entry.file_name()).collect();
        names.sort();
        assert_eq!(names, ["captain-001.md", "memory.md"]);
        assert_eq!(fs::read_to_string(self.outside.path().join("memory.md")).unwrap(), "of somebody else");
    }
}

#[test]
fn the_folder_of_runs_is_not_followed_out_of_the_project() {
    for (link, expected) in [
        (
            ".prose",
            expect![
                "cannot use `PROJECT/.prose`: it is a link that leads out of PROJECT; replace it with a folder, or pass `--allow-outside`"
            ],
        ),
        (
            ".prose/runs",
            expect![
                "cannot use `PROJECT/.prose/runs`: it is a link, and a run writes only to its own files; remove the link"
            ],
        ),
    ] {
        let two = Two::new();
        two.link(link);
        two.refused(two.create(), &expected);
    }
}

#[test]
fn runs_behind_a_link_are_neither_listed_nor_removed() {
    for link in [".prose", ".prose/runs"] {
        let two = Two::new();
        two.link(link);
        let run = two.folder.path().join(".prose/runs/20260115-143052-a7b3c9");
        let run = if link == ".prose" { two.outside.path().join("runs/20260115-143052-a7b3c9") } else { run };
        fs::create_dir_all(run.join("bindings")).unwrap();
        let errors = [
            two.project.list_runs().unwrap_err(),
            two.project.show_run("20260115-143052-a7b3c9").unwrap_err(),
            two.project.remove_run("20260115-143052-a7b3c9").unwrap_err(),
        ];
        for error in errors {
            assert!(error.to_string().contains("is a link that leads out of"), "{error}");
        }
        assert!(run.exists());
    }
}

#[test]
fn a_folder_of_runs_that_lies_elsewhere_is_used_if_that_is_allowed_or_inside() {
    let mut two = Two::new();
    two.link(".prose");
    two.project.allows_outside = true;
    let store = two.create().unwrap();
    assert!(two.outside.path().join("runs").join(store.run()).join("program.prose").is_file());

    let two = Two::new();
    fs::create_dir(two.folder.path().join("state")).unwrap();
    symlink("state", two.folder.path().join(".prose")).unwrap();
    let store = two.create().unwrap();
    assert!(two.folder.path().join("state/runs").join(store.run()).join("program.prose").is_file());
    assert_eq!(two.project.list_runs().unwrap().len(), 1);
}

#[test]
fn memories_are_not_followed_out_of_the_project() {
    let place = |scope, folder: &str| MemoryPlace { agent: "captain".into(), scope, folder: folder.into() };
    let project = || place(MemoryScope::Project, ".prose/agents/captain/");
    let custom = || place(MemoryScope::Custom, "notes/captain/");
    let lies_outside = expect![
        "cannot use `PROJECT/.prose/agents/captain`: the memory of agent `captain` is outside of PROJECT/.prose"
    ];
    let names_outside = expect![
        "the memory folder `notes/captain/` of agent `captain` is outside of the project PROJECT; use a folder in the project, or pass `--allow-outside`"
    ];
    for (link, place, expected) in [
        (".prose/agents", project(), &lies_outside),
        (".prose/agents/captain", project(), &lies_outside),
        ("notes", custom(), &names_outside),
        ("notes/captain", custom(), &names_outside),
    ] {
        let two = Two::new();
        let mut run = Driver::start(&two.project, "a.prose", TEXT);
        two.link(link);
        two.refused(run.store.read_memory(&place), expected);
        let kind = EventKind::MemoryWritten {
            place,
            memory: "mine".into(),
            segment: 1,
            prompt: "P".into(),
            record: "R".into(),
        };
        let event = run.event("s1", 1, kind);
        two.refused(run.store.record(&event, true), expected);
    }
}

#[test]
fn the_file_of_a_memory_is_not_read_through_a_link_and_replaces_one() {
    let two = Two::new();
    let mut run = Driver::start(&two.project, "a.prose", TEXT);
    let place = MemoryPlace {
        agent: "captain".into(),
        scope: MemoryScope::Project,
        folder: ".prose/agents/captain/".into(),
    };
    let folder = two.folder.path().join(".prose/agents/captain");
    fs::create_dir_all(&folder).unwrap();
    symlink(two.outside.path().join("memory.md"), folder.join("memory.md")).unwrap();
    two.refused(
        run.store.read_memory(&place),
        &expect!["cannot use `PROJECT/.prose/agents/captain/memory.md`: it is a link, and a run writes only to its own files; remove the link"],
    );
    let (memory, prompt, record) = ("mine".into(), "P".into(), "R".into());
    run.tell("s1", 1, EventKind::MemoryWritten { place: place.clone(), memory, segment: 1, prompt, record });
    assert_eq!(fs::read_to_string(two.outside.path().join("memory.md")).unwrap(), "of somebody else");
    assert_eq!(run.store.read_memory(&place).unwrap(), Memory { text: Some("mine".into()), segments: 1 });
}

#[test]
fn a_memory_over_the_limit_is_refused_by_name() {
    let (folder, project) = project();
    let mut run = Driver::start(&project, "a.prose", TEXT);
    let place = MemoryPlace {
        agent: "captain".into(),
        scope: MemoryScope::Project,
        folder: ".prose/agents/captain/".into(),
    };
    let path = folder.path().join(".prose/agents/captain/memory.md");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::File::create(&path).unwrap().set_len((1 << 20) + 1).unwrap();
    let error = run.store.read_memory(&place).unwrap_err().to_string();
    assert!(
        error.ends_with("memory.md`: it is too large: an agent memory may have at most 1 MiB"),
        "{error}"
    );
}

#[test]
fn a_binding_is_not_read_through_a_link() {
    let two = Two::new();
    let mut run = Driver::start(&two.project, "a.prose", TEXT);
    let binding = run.binding("a", 0, 1);
    symlink(two.outside.path().join("memory.md"), run.store.folder().join("bindings/a.md")).unwrap();
    let error = run.store.read_binding(&binding).unwrap_err().to_string();
    assert!(
        error.ends_with(
            "bindings/a.md`: it is a link, and a run writes only to its own files; remove the link"
        ),
        "{error}"
    );
}

/// Everything that a run is resumed from may have been put there by somebody else.
#[test]
fn journals_and_their_copies_that_are_links_or_pipes_are_refused() {
    for name in ["journal.jsonl", "journal-1.jsonl", ".lock", "program.prose"] {
        for is_pipe in [false, true] {
            let two = Two::new();
            let run = Driver::start(&two.project, "a.prose", TEXT);
            let (id, folder) = (run.store.run().to_owned(), run.store.folder().to_owned());
            drop(run);
            let path = folder.join(name);
            let _ = fs::remove_file(&path);
            if is_pipe {
                assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
            } else {
                symlink(two.outside.path().join("memory.md"), &path).unwrap();
            }
            // Looking at a run waits for nobody either.
            assert_eq!(two.project.list_runs().unwrap().len(), 1);
            two.project.show_run(&id).unwrap();
            let error =
                FilesystemStore::resume(&two.project, &id, TEXT, Resume::Exact).unwrap_err().to_string();
            let why = match is_pipe {
                true => "`: it is a named pipe, not a file",
                false => "`: it is a link, and a run writes only to its own files; remove the link",
            };
            assert!(error.contains(name) && error.ends_with(why), "{name}: {error}");
            assert_eq!(fs::read_to_string(two.outside.path().join("memory.md")).unwrap(), "of somebody else");
        }
    }
}

#[test]
fn a_run_of_another_machine_is_not_read_through_links() {
    for name in ["state.md", "bindings/a.md", "bindings", "imports"] {
        let two = Two::new();
        let folder = two.project.runs().join("20260115-143052-a7b3c9");
        fs::create_dir_all(folder.join("bindings")).unwrap();
        fs::write(folder.join("program.prose"), TEXT).unwrap();
        if name == "bindings" {
            fs::remove_dir(folder.join("bindings")).unwrap();
        }
        let to = if name.ends_with(".md") {
            two.outside.path().join("memory.md")
        } else {
            two.outside.path().to_owned()
        };
        symlink(to, folder.join(name)).unwrap();
        let resumed = FilesystemStore::resume(&two.project, "20260115-143052-a7b3c9", TEXT, Resume::Exact);
        let error = resumed.unwrap_err().to_string();
        assert!(error.contains(name) && error.contains("it is a link"), "{name}: {error}");
    }
}

fn modes(folder: &Path, found: &mut Vec<(String, u32)>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let metadata = entry.metadata().unwrap();
        found.push((entry.path().display().to_string(), metadata.permissions().mode() & 0o777));
        if metadata.is_dir() {
            modes(&entry.path(), found);
        }
    }
}

#[test]
fn everything_that_a_run_keeps_is_private() {
    let (folder, mut project) = project();
    let home = tempfile::tempdir().unwrap();
    project.home = Some(home.path().to_owned());
    let mut run = Driver::start(&project, "a.prose", TEXT);
    run.bind("s1", 1, "a", "x");
    run.bind("s2", 1, "a", "y");
    for (scope, place) in [
        (MemoryScope::Execution, "agents/captain/"),
        (MemoryScope::Project, ".prose/agents/captain/"),
        (MemoryScope::User, ".prose/agents/captain/"),
        (MemoryScope::Custom, "notes/captain/"),
    ] {
        let place = MemoryPlace { agent: "captain".into(), scope, folder: place.into() };
        let (memory, prompt, record) = ("m".into(), "P".into(), "R".into());
        run.tell("s3", 1, EventKind::MemoryWritten { place, memory, segment: 1, prompt, record });
    }
    run.end(RunStatus::Interrupted);
    run.end(RunStatus::Interrupted);
    let id = run.kill();
    drop(FilesystemStore::resume(&project, &id, TEXT, Resume::AcceptChanges).unwrap());
    let mut found = Vec::new();
    modes(folder.path(), &mut found);
    modes(home.path(), &mut found);
    assert!(found.len() > 20, "{found:#?}");
    for (path, mode) in found {
        assert_eq!(mode, if Path::new(&path).is_dir() { 0o700 } else { 0o600 }, "{path}");
    }
    assert_eq!(
        fs::read_to_string(folder.path().join(".prose/.gitignore")).unwrap(),
        "runs/\n.env\nagents.db\n"
    );
}
