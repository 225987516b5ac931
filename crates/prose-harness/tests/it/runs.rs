//! Harnesses in whole runs.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use prose_analysis::Text;
use prose_analysis::host::AnalysisHost;
use prose_harness::offline::Offline;
use prose_harness::record;
use prose_harness::script::Script;
use prose_vm::activity::NoApprovals;
use prose_vm::budget::NoAccounts;
use prose_vm::event::{Event, EventKind, LoopEnd, RunStatus};
use prose_vm::harness::Harness;
use prose_vm::machine::Machine;
use prose_vm::program::Program;
use prose_vm::runner::{self, Host, Limits, NoInputs};
use prose_vm::settings::Settings;
use prose_vm::store::{NoRecording, NoStore};

/// Runs a program, and gives all that happens in it.
fn run(program: &str, harness: Arc<dyn Harness>) -> Vec<Event> {
    let mut analysis = AnalysisHost::default();
    let file = analysis.set_text(Path::new("/main.prose"), Text::new(program));
    analysis.load_imports(file, |_| None);
    let machine = Machine::new(Program::new(analysis.db(), file), Settings::new("20260115-143052-a7b3c9"));
    let mut events = Vec::new();
    let host = Host {
        harness,
        store: &mut NoStore,
        recall: &mut NoRecording,
        trees: Arc::new(prose_vm::runner::NoTrees),
        inputs: Arc::new(NoInputs),
        approvals: Arc::new(NoApprovals),
        commands: prose_vm::command::Commands::none(),
        observer: &mut |event, _| events.push(event.clone()),
        interrupted: Box::pin(std::future::pending()),
        accounts: Arc::new(NoAccounts),
        gate: None,
        limits: Limits::default(),
        secrets: Arc::default(),
        clock: &|| 0,
    };
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_time().start_paused(true).build().unwrap();
    runtime.block_on(runner::run(machine, host)).unwrap();
    events
}

/// What happened, without what the run is.
fn story(events: &[Event]) -> Vec<String> {
    let happened = events.iter().filter(|event| !matches!(event.kind, EventKind::RunStarted(_)));
    happened.map(|event| serde_json::to_string(event).unwrap()).collect()
}

/// Every kind of request, in loops, branches, frames and after failures.
const PROGRAM: &str = r#"
input topic: "What to look into"

agent writer:
  model: sonnet
  persist: true
  prompt: "You write."

block review(part, depth):
  if depth < 2:
    do review(part, depth + 1)
  session "Review {part} at depth {depth}"

let ideas = session "List three ideas about {topic}"
let draft = resume: writer
  prompt: "Write a draft about {topic}"

loop until **the draft is good** (max: 5):
  draft = session "Improve the draft"
    context: draft

loop while **there is more to say** (max: 5):
  session "Say more"

parallel for idea in ideas:
  session "Look into {idea}"

parallel (on-fail: "continue"):
  a = do review("the beginning", 0)
  b = session "Read the end"

try:
  session "Deploy"
    retry: 2
    backoff: "linear"
catch as e:
  session "Tell why: {e.message}"

choice **how to go on**:
  option "Ship it":
    session "Ship"
  option "Wait":
    session "Wait"

if **it is late**:
  session "Go home"
else:
  session "Stay"

let facts = session "Return JSON with the fields title and steps"
let more = input "Anything else?"
session "Write to {draft.owner}"
  context: draft
output result = session "Sum up {facts.title} and {more}"
"#;

/// What the offline harness does not do: it gives no inputs, nothing fails, and no reply is so long that it has to be shortened.
const ANSWERS: &str = r#"
unmatched = "offline"

[[session]]
label = "Improve the draft"
reply = """LONG"""

[[session]]
label = "Deploy"
times = 2
fail = "no connection"

[[session]]
label = "Deploy"
fail = "still no connection"
kind = "timeout"

[[input]]
name = "topic"
value = "tides"

[[input]]
label = "Anything else?"
value = "No."
"#;

fn answers(seed: u64) -> Arc<Script> {
    let long = "The tide comes and goes.\n".repeat(200);
    Arc::new(Script::parse("answers.toml", &ANSWERS.replace("LONG", &long), seed).unwrap())
}

fn ended_well(events: &[Event]) -> bool {
    matches!(&events.last().unwrap().kind, EventKind::RunEnded(end) if end.status == RunStatus::Completed)
}

/// The kinds of effects in a run.
fn effects(events: &[Event]) -> BTreeSet<&str> {
    let effects = events.iter().filter_map(|event| match &event.kind {
        EventKind::Effect { effect, .. } => Some(effect.as_str()),
        _ => None,
    });
    effects.collect()
}

#[test]
fn a_run_with_a_recorded_script_is_the_same_run() {
    for seed in 0..5 {
        let first = run(PROGRAM, answers(seed));
        assert!(ended_well(&first), "{:#?}", first.last());
        let kinds = ["choose", "extract", "input", "judge", "memory", "session", "sleep", "summarise"];
        assert!(effects(&first).into_iter().eq(kinds), "{:?}", effects(&first));
        let script = record::script(&first);
        let harness = Script::parse("recorded.toml", &script, 0).unwrap_or_else(|errors| panic!("{errors}"));
        let second = run(PROGRAM, Arc::new(harness));
        let (first, second) = (story(&first), story(&second));
        for (first, second) in first.iter().zip(&second) {
            assert_eq!(first, second, "{script}");
        }
        assert_eq!(first.len(), second.len());
    }
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let stories: Vec<_> = [1, 1, 2].map(|seed| story(&run(PROGRAM, answers(seed)))).into();
    assert!(stories[0] == stories[1]);
    assert!(stories[0] != stories[2]);
}

#[test]
fn r060_loops_end_offline_after_one_to_three_iterations() {
    let program = "loop until **it is good**:\n  session \"Improve it\"\n\
                   loop while **it is bad**:\n  loop until **this is better**:\n    session \"Improve this\"\n\
                   loop:\n  if **it is enough**:\n    break\n";
    for seed in 0..20 {
        let events = run(program, Arc::new(Offline::new(seed)));
        assert!(ended_well(&events));
        let mut loops = 0;
        for event in &events {
            if let EventKind::LoopEnded { why, iterations } = &event.kind {
                loops += 1;
                let expected = if *why == LoopEnd::Left { 1..=40 } else { 1..=3 };
                assert!(expected.contains(iterations), "{why:?} after {iterations}");
            }
        }
        assert!(loops >= 4);
    }
}
