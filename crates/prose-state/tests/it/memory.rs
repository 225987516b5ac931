//! The memory of agents (R42 to R47), and `.prose/.env` (R103).

use std::fs;

use expect_test::expect;
use prose_state::env::EnvFile;
use prose_state::filesystem::{FilesystemStore, Resume};
use prose_state::folder::Project;
use prose_vm::effect::{Memory, MemoryPlace, MemoryScope, MemoryUse};
use prose_vm::event::EventKind;
use prose_vm::store::Store;

use crate::support::{Driver, project, tree};

const TEXT: &str = "resume: captain\n";

fn places() -> Vec<MemoryPlace> {
    use MemoryScope::{Custom, Execution, Project, User};
    [
        (Execution, "agents/captain/"),
        (Project, ".prose/agents/captain/"),
        (User, ".prose/agents/captain/"),
        (Custom, "notes/captain"),
    ]
    .map(|(scope, folder)| MemoryPlace { agent: "captain".into(), scope, folder: folder.into() })
    .to_vec()
}

fn with_home() -> (tempfile::TempDir, tempfile::TempDir, Project) {
    let (folder, mut project) = project();
    let home = tempfile::tempdir().unwrap();
    project.home = Some(home.path().to_owned());
    (folder, home, project)
}

#[test]
fn r042_memories_lie_in_the_run_the_project_the_home_folder_and_where_the_program_says() {
    let (folder, home, project) = with_home();
    let mut run = Driver::start(&project, "a.prose", TEXT);
    for place in places() {
        let text = format!("# Agent Memory: captain\n\n{:?}\n", place.scope);
        assert_eq!(run.store.read_memory(&place).unwrap(), Memory::default());
        for segment in [1, 2, 1000] {
            let (memory, prompt, record) = (text.as_str().into(), "Review".into(), "- Found: much".into());
            run.tell(
                "s1",
                1,
                EventKind::MemoryWritten { place: place.clone(), memory, segment, prompt, record },
            );
        }
        let found = run.store.read_memory(&place).unwrap();
        assert_eq!(found, Memory { text: Some(text.into()), segments: 1000 });
        for (segment, is_written) in [(2, true), (3, false)] {
            let memory =
                MemoryUse { place: place.clone(), resumes: true, segment, text: None, own_session: None };
            assert_eq!(run.store.has_written_memory(&memory).unwrap(), is_written);
        }
    }
    let expected = "captain-001.md\ncaptain-002.md\ncaptain-1000.md\nmemory.md\n";
    for agent in [
        run.store.folder().join("agents/captain"),
        folder.path().join(".prose/agents/captain"),
        home.path().join(".prose/agents/captain"),
        folder.path().join("notes/captain"),
    ] {
        assert_eq!(tree(&agent), expected, "{}", agent.display());
    }
}

#[test]
fn a_memory_that_another_run_has_written_since_is_not_overwritten_by_a_replay() {
    let (folder, _home, project) = with_home();
    let mut run = Driver::start(&project, "a.prose", TEXT);
    let place = places().remove(1);
    let kind = |memory: &str| EventKind::MemoryWritten {
        place: place.clone(),
        memory: memory.into(),
        segment: 1,
        prompt: "Review".into(),
        record: "- Found: much".into(),
    };
    run.tell("s1", 1, kind("mine"));
    let (id, events) = (run.store.run().to_owned(), run.events);
    drop(run.store);
    let path = folder.path().join(".prose/agents/captain");
    fs::write(path.join("memory.md"), "of another run").unwrap();
    let replay = || {
        let mut store = FilesystemStore::resume(&project, &id, TEXT, Resume::Exact).unwrap().store;
        for event in &events {
            store.record(event, false).unwrap();
        }
        fs::read_to_string(path.join("memory.md")).unwrap()
    };
    assert_eq!(replay(), "of another run");
    // The process was killed between the journal and the files.
    fs::remove_file(path.join("captain-001.md")).unwrap();
    assert_eq!(replay(), "mine");
}

#[test]
fn r103_unknown_lines_of_env_are_kept() {
    let (folder, project) = project();
    let path = folder.path().join(".prose/.env");
    assert_eq!(EnvFile::read(&project).unwrap().get("USER_ID"), None);
    assert!(!path.exists());
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, "# mine\nOPENPROSE_TELEMETRY=enabled\n\nMY_KEY=a=b\nUSER_ID=user-1\n").unwrap();
    let mut env = EnvFile::read(&project).unwrap();
    assert_eq!(env.get("MY_KEY"), Some("a=b"));
    assert_eq!(env.get("# mine"), None);
    env.set("USER_ID", "user-2");
    env.set("OPENPROSE_POSTGRES_URL", "postgresql://localhost/prose");
    env.write(&project).unwrap();
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        "# mine\nOPENPROSE_TELEMETRY=enabled\n\nMY_KEY=a=b\nUSER_ID=user-2\nOPENPROSE_POSTGRES_URL=postgresql://localhost/prose\n"
    );
    // A run writes nothing there.
    drop(Driver::start(&project, "a.prose", TEXT));
    assert_eq!(EnvFile::read(&project).unwrap().get("SESSION_ID"), None);
}

#[test]
fn r097_everything_has_its_place_in_the_tree() {
    let (folder, home, project) = with_home();
    let text = "use \"@alice/research\"\nlet r = research()\n";
    let mut run = Driver::start(&project, "a.prose", text);
    let import = EventKind::ImportCalled {
        program: 1,
        alias: "research".into(),
        inputs: vec![],
        folder: "imports/alice--research".into(),
        text: "let found = 1\n".into(),
    };
    run.tell("s1", 2, import);
    run.enter_program(1, "imports/alice--research", "let found = 1\n");
    run.bind("s1/p1/s1", 1, "found", "x");
    run.enter_program(0, "", text);
    let ended = EventKind::ImportEnded { program: 1, alias: "research".into(), outputs: vec![], error: None };
    run.tell("s1", 2, ended);
    run.bind("s1", 2, "r", "x");
    for place in places().into_iter().filter(|place| place.scope != MemoryScope::Custom) {
        let (memory, prompt, record) = ("# Agent Memory".into(), "Review".into(), "- Found: much".into());
        run.tell("s2", 2, EventKind::MemoryWritten { place, memory, segment: 1, prompt, record });
    }
    let mut env = EnvFile::read(&project).unwrap();
    env.set("OPENPROSE_TELEMETRY", "disabled");
    env.write(&project).unwrap();
    run.state();
    let id = run.store.run().to_owned();
    expect![[r#"
        .prose/
          .env
          .gitignore
          agents/
            captain/
              captain-001.md
              memory.md
          runs/
            ID/
              .lock
              agents/
                captain/
                  captain-001.md
                  memory.md
              bindings/
                r.md
              imports/
                alice--research/
                  bindings/
                    found.md
                  program.prose
                  state.md
              journal.jsonl
              program.prose
              state.md
    "#]]
    .assert_eq(&tree(folder.path()).replace(&id, "ID"));
    expect![[r#"
        .prose/
          agents/
            captain/
              captain-001.md
              memory.md
    "#]]
    .assert_eq(&tree(home.path()));
}
