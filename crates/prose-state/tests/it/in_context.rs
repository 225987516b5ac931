use prose_state::in_context::InContextStore;
use prose_vm::effect::{Memory, MemoryPlace, MemoryScope};
use prose_vm::event::{Event, EventKind};
use prose_vm::place::Place;
use prose_vm::store::Store;

use crate::support::project;

fn written(place: &MemoryPlace) -> Event {
    let kind = EventKind::MemoryWritten {
        place: place.clone(),
        memory: "# Agent Memory: captain\n".into(),
        segment: 1,
        prompt: "Review".into(),
        record: "- Found: much".into(),
    };
    Event { seq: 1, at: 0, paused: 0, place: Place::root(), site: None, frame: 0, nesting: 0, kind }
}

#[test]
fn r042_what_lasts_longer_than_a_run_is_on_the_disk_although_the_run_is_not() {
    let (folder, project) = project();
    let place = |scope, folder: &str| MemoryPlace { agent: "captain".into(), scope, folder: folder.into() };
    let of_run = place(MemoryScope::Execution, "agents/captain/");
    let of_project = place(MemoryScope::Project, ".prose/agents/captain/");
    let known = Memory { text: Some("# Agent Memory: captain\n".into()), segments: 1 };

    let mut store = InContextStore::new(&project);
    for place in [&of_run, &of_project] {
        store.record(&written(place), true).unwrap();
        assert_eq!(store.read_memory(place).unwrap(), known);
    }
    let mut next = InContextStore::new(&project);
    assert_eq!(next.read_memory(&of_project).unwrap(), known);
    assert_eq!(next.read_memory(&of_run).unwrap(), Memory::default());

    // A dry run goes by what other runs have kept, and keeps what it changes to itself.
    let of_user = place(MemoryScope::Custom, "notes/captain/");
    let mut dry = InContextStore::dry(&project);
    assert_eq!(dry.read_memory(&of_project).unwrap(), known);
    assert_eq!(dry.read_memory(&of_user).unwrap(), Memory::default());
    dry.record(&written(&of_user), true).unwrap();
    assert_eq!(dry.read_memory(&of_user).unwrap(), known);
    assert!(!folder.path().join("notes").exists());
    assert!(!folder.path().join("agents").exists());
    assert!(!folder.path().join(".prose/runs").exists());
}
