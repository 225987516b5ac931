//! The programs that the makers of the language publish run to their end without any model.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use prose_harness::offline::Offline;
use prose_vm::effect::InputRequest;
use prose_vm::event::RunStatus;
use prose_vm::harness::HarnessFuture;
use prose_vm::runner::Inputs;
use prose_vm::value::Value;

use crate::support::{Ran, run_with};

/// The programs that are declared to work, by the path below their folder.
pub(crate) fn programs() -> BTreeMap<String, String> {
    let root = std::env::var("PROSE_OFFICIAL_PROGRAMS").expect("PROSE_OFFICIAL_PROGRAMS names their folder");
    programs_in(Path::new(&root))
}

/// The programs below a folder.
pub(crate) fn programs_in(root: &Path) -> BTreeMap<String, String> {
    let mut programs = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
            if path.is_dir() && !path.ends_with("roadmap") {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "prose") {
                programs.insert(name, std::fs::read_to_string(&path).unwrap());
            }
        }
    }
    assert!(!programs.is_empty(), "there is no program in {}", root.display());
    programs
}

/// Gives every input a text that is made from its name.
pub(crate) struct Anything;

impl Inputs for Anything {
    fn give<'a>(&'a self, input: &'a InputRequest) -> HarnessFuture<'a, Value> {
        let name = input.name.as_deref().unwrap_or("answer");
        Box::pin(async move { Ok(Value::text(format!("an example of {name}"))) })
    }
}

fn run(text: &str, seed: u64, max_parallel: usize) -> Ran {
    run_with(text, "", |setup| {
        setup.harness = Arc::new(Offline::new(seed));
        setup.inputs = Arc::new(Anything);
        setup.settings.seed = seed;
        setup.settings.max_iterations = 25;
        setup.limits.max_parallel = max_parallel;
    })
}

/// Programs that do not run to their end with the seed 0, and why that is right.
const FAILING: &[(&str, &str)] = &[
    ("examples/22-error-handling.prose", "its last line throws, to show how"),
    ("examples/46-run-endpoint-ux-test-fast.prose", "it calls `env`, which the language does not have (B11)"),
    ("examples/47-language-self-improvement.prose", "it throws where nothing was approved (D20)"),
    ("examples/48-habit-miner.prose", "it throws where no source was selected (D20)"),
];

#[test]
#[ignore = "needs the official programs, see tests/fetch-official-programs"]
fn official_programs_run_to_their_end() {
    let mut failed = Vec::new();
    for (name, text) in programs() {
        let ran = run(&text, 0, 8);
        if ran.end.status != RunStatus::Completed {
            let error = ran.end.error.as_ref().unwrap();
            failed.push(format!("{name}:{}: {error}", error.line));
        }
        let again = run(&text, 0, 8);
        assert_eq!(ran.events, again.events, "{name}");
    }
    let unexpected: Vec<_> =
        failed.iter().filter(|failed| !FAILING.iter().any(|(name, _)| failed.starts_with(name))).collect();
    assert!(unexpected.is_empty(), "{unexpected:#?}");
    assert_eq!(failed.len(), FAILING.len(), "{failed:#?}");
}

#[test]
#[ignore = "needs the official programs, see tests/fetch-official-programs"]
fn official_programs_do_not_depend_on_how_many_sessions_run_at_the_same_time() {
    for (name, text) in programs() {
        for seed in [0, 1] {
            let (one, many) = (run(&text, seed, 1), run(&text, seed, 64));
            assert_eq!(one.end.outputs, many.end.outputs, "{name}");
            assert_eq!(one.bindings(), many.bindings(), "{name}");
            assert_eq!(one.end.sessions, many.end.sessions, "{name}");
        }
    }
}
