//! Names and paths that would leave the folders of a run (decision 14).

use std::fs;

use prose_state::folder::{run_id, time_of_id};
use prose_vm::effect::{MemoryPlace, MemoryScope};
use prose_vm::store::Store;
use std::time::{Duration, UNIX_EPOCH};

use crate::support::{Driver, START, bound, project};

const TEXT: &str = "let a = session \"A\"\n";

#[test]
fn r096_ids_of_runs_are_in_utc() {
    let id = run_id(UNIX_EPOCH + Duration::from_millis(START));
    let random = id.strip_prefix("20260115-143052-").unwrap();
    assert!(
        random.len() == 6 && random.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()),
        "{id}"
    );
    assert_eq!(time_of_id(&id), Some(START));
    assert_eq!(time_of_id("my-notes"), None);
    assert_eq!(time_of_id("20269999-143052-a7b3c9"), None);
    assert_eq!(time_of_id("２０２６-143052-a7b3c9"), None);
}

#[test]
fn bindings_stay_in_the_folder_of_the_run() {
    let (folder, project) = project();
    let mut run = Driver::start(&project, "a.prose", TEXT);
    let mut refused = |path: &str| {
        let mut binding = run.binding("a", 0, 1);
        binding.path = path.into();
        let event = run.event("s1", 1, bound(binding.clone(), "x".into(), None));
        let error = run.store.record(&event, true).unwrap_err().to_string();
        assert_eq!(run.store.read_binding(&binding).unwrap_err().to_string(), error);
        error
    };
    assert_eq!(
        refused("bindings/../../../../x.md"),
        "cannot use `bindings/../../../../x.md`: the path leads out of its folder; remove `.` and `..`"
    );
    assert_eq!(refused("/etc/x.md"), "cannot use `/etc/x.md`: the path has an empty component");
    for path in ["bindings\\x.md", "c:/x.md", "bindings/a\n.md", "bindings/a\0.md"] {
        assert!(refused(path).ends_with("use letters, digits and `_`"), "{path:?}");
    }
    let long = format!("bindings/{}.md", "x".repeat(300));
    assert!(refused(&long).ends_with("a file name in it is too long; use a shorter one"));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
#[cfg(unix)]
fn links_out_of_the_folder_of_the_run_are_not_followed() {
    use std::os::unix::fs::symlink;
    let (folder, project) = project();
    let outside = tempfile::tempdir().unwrap();
    let outside = outside.path().canonicalize().unwrap();
    let mut run = Driver::start(&project, "a.prose", TEXT);
    let run_folder = run.store.folder().to_owned();

    // A file that is a link is replaced.
    fs::write(outside.join("secret"), "kept").unwrap();
    symlink(outside.join("secret"), run_folder.join("bindings/a.md")).unwrap();
    run.bind("s1", 1, "a", "x");
    assert_eq!(fs::read_to_string(outside.join("secret")).unwrap(), "kept");
    assert!(!run_folder.join("bindings/a.md").is_symlink());

    // A folder that is a link is refused.
    symlink(&outside, run_folder.join("imports")).unwrap();
    let mut binding = run.binding("b", 0, 1);
    binding.path = "imports/x--y/bindings/b.md".into();
    let event = run.event("s1", 1, bound(binding, "x".into(), None));
    let error = run.store.record(&event, true).unwrap_err().to_string();
    let expected = format!(
        "cannot use `{}`: it is a link, and a run writes only to its own files; remove the link",
        run_folder.join("imports").display()
    );
    assert_eq!(error, expected);
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);

    // So is the folder of a run.
    symlink(&outside, project.runs().join("elsewhere")).unwrap();
    let error = project.existing_run("elsewhere").unwrap_err().to_string();
    assert!(
        error.ends_with("it is a link, and a run writes only to `.prose/runs`; replace it with a folder"),
        "{error}"
    );
    drop(folder);
}

fn memory(scope: MemoryScope, agent: &str, folder: &str) -> MemoryPlace {
    MemoryPlace { agent: agent.into(), scope, folder: folder.into() }
}

#[test]
fn memories_stay_in_their_places() {
    let (_folder, mut project) = project();
    let outside = tempfile::tempdir().unwrap();
    let outside = outside.path().to_str().unwrap().to_owned();
    let mut run = Driver::start(&project, "a.prose", TEXT);
    let mut refused = |place: &MemoryPlace| run.store.read_memory(place).unwrap_err().to_string();
    use MemoryScope::{Custom, Execution, Project, User};
    assert!(refused(&memory(Execution, "captain", "../captain")).contains("remove `.` and `..`"));
    assert!(refused(&memory(Project, "a/b", ".prose/agents/a")).contains("must not contain separators"));
    assert_eq!(
        refused(&memory(Project, "captain", "src")),
        format!(
            "cannot use `{0}/src`: the memory of agent `captain` is outside of {0}/.prose",
            project.root.display()
        )
    );
    assert_eq!(
        refused(&memory(User, "captain", ".prose/agents/captain")),
        "cannot use `.prose/agents/captain`: agent `captain` stores its memory in the home folder, but there is none"
    );
    for folder in [outside.as_str(), "../elsewhere", "notes/../../elsewhere"] {
        assert_eq!(
            refused(&memory(Custom, "captain", folder)),
            format!(
                "the memory folder `{folder}` of agent `captain` is outside of the project {}; use a folder in the project, \
                 or pass `--allow-outside`",
                project.root.display()
            )
        );
    }
    assert_eq!(run.store.read_memory(&memory(Custom, "captain", "notes/captain")).unwrap().segments, 0);

    project.allows_outside = true;
    let mut run = Driver::start(&project, "a.prose", TEXT);
    assert_eq!(run.store.read_memory(&memory(Custom, "captain", &outside)).unwrap().segments, 0);
}
