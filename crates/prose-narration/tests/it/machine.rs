//! Narrations of programs that the machine executes, and the same programs going on from them.

use crate::common::programs;
use std::io;
use std::path::Path;
use std::sync::Arc;

use expect_test::{Expect, expect};
use prose_analysis::Text;
use prose_analysis::host::AnalysisHost;
use prose_fixture::Fixture;
use prose_harness::script::Script;
use prose_narration::{Markers, Narrator, transcript};
use prose_vm::activity::NoApprovals;
use prose_vm::budget::NoAccounts;
use prose_vm::effect::{Binding, Failure, FileUse, Memory, MemoryPlace, MemoryUse, Outcome, RequestId};
use prose_vm::error::ErrorKind;
use prose_vm::event::{Event, EventKind, RunEnd, RunStatus, StateMode};
use prose_vm::machine::Machine;
use prose_vm::program::Program;
use prose_vm::runner::{self, Host, Limits, NoInputs};
use prose_vm::settings::Settings;
use prose_vm::store::{NoRecording, NoStore, PendingRequests, Recording, Store};
use prose_vm::value::Value;

fn program(fixture: &str) -> Arc<Program> {
    let fixture = Fixture::parse(fixture);
    let mut host = AnalysisHost::default();
    let files: Vec<_> = fixture
        .files
        .iter()
        .map(|file| host.set_text(Path::new(&file.path), Text::new(file.text.as_str())))
        .collect();
    host.load_imports(files[0], |_| None);
    Program::new(host.db(), files[0])
}

/// Keeps nothing, and has a file.
struct Docs;

impl Store for Docs {
    fn record(&mut self, event: &Event, is_new: bool) -> io::Result<()> {
        NoStore.record(event, is_new)
    }

    fn commit(&mut self) -> io::Result<()> {
        NoStore.commit()
    }

    fn read_binding(&mut self, binding: &Binding) -> io::Result<Option<String>> {
        NoStore.read_binding(binding)
    }

    fn read_memory(&mut self, place: &MemoryPlace) -> io::Result<Memory> {
        NoStore.read_memory(place)
    }

    fn read_file(&mut self, file: &FileUse) -> Result<Arc<str>, Failure> {
        let path = &*file.path;
        match path {
            "docs/a.md" => Ok("# A\n\nOf the docs.\n".into()),
            _ => Err(Failure { kind: ErrorKind::Other, message: format!("there is no file {path}") }),
        }
    }

    fn check_file(&mut self, file: &FileUse) -> Result<(), Failure> {
        self.read_file(file).map(drop)
    }

    fn has_written_memory(&mut self, memory: &MemoryUse) -> io::Result<bool> {
        NoStore.has_written_memory(memory)
    }
}

/// Runs a program with answers of a script, in virtual time, in which each answer takes as long as the script says.
fn run(fixture: &str, script: &str, state: StateMode, recall: &mut dyn Recording) -> (Vec<Event>, RunEnd) {
    let mut settings = Settings::new("20260115-143052-a7b3c9");
    settings.state = state;
    let machine = Machine::new(program(fixture), settings);
    let script = Script::parse("answers.toml", script, 0).unwrap_or_else(|errors| panic!("{errors}"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let mut events = Vec::new();
    let host = Host {
        harness: Arc::new(script),
        store: &mut Docs,
        recall,
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
    let end = runtime.expect("a runtime").block_on(runner::run(machine, host)).expect("a run");
    (events, end)
}

fn narrate(events: &[Event]) -> Vec<String> {
    let mut narrator = Narrator::new(Markers::Brackets);
    events.iter().flat_map(|event| narrator.narrate(event)).collect()
}

/// Compares the narration, without the lines that stand before the program starts.
#[track_caller]
fn check(fixture: &str, script: &str, state: StateMode, expected: Expect) {
    expected.assert_eq(&narrated(fixture, script, state));
}

fn narrated(fixture: &str, script: &str, state: StateMode) -> String {
    let (events, _) = run(fixture, script, state, &mut NoRecording);
    let lines = narrate(&events);
    let start =
        lines.iter().position(|line| line.contains("Program Start") && line.starts_with('[')).unwrap_or(0);
    check_cuts(fixture, script, &events);
    lines[start..].join("\n") + "\n"
}

#[test]
fn what_a_program_failed_by_is_asked_again() {
    let program = "try:\n  session \"zero\"\ncatch:\n  session \"caught\"\nlet a = session \"one\"\nlet b = session \"two\"\noutput c = b\n";
    let fails = "[[session]]\nlabel = \"zero\"\nfail = \"no: such\"\n[[session]]\nlabel = \"two\"\nfail = \"no: such\\nthing\"\n[[session]]\nreply = \"ok\"\n";
    let (events, end) = run(program, fails, StateMode::InContext, &mut NoRecording);
    assert_eq!(end.status, RunStatus::Failed);
    let text = narrate(&events).join("\n") + "\n";
    let recovered = transcript::read(&text);
    expect![[r#"
        recovered 3 sessions and 0 other answers
        line 23: session of `let b = session "two"`: the program failed by it"#]]
    .assert_eq(&recovered.to_string());
    let mended = "[[session]]\nreply = \"mended\"\n";
    let (_, end) = run(program, mended, StateMode::InContext, &mut recovered.into_recording());
    assert_eq!(end.outputs, [("c".into(), Value::text("mended"))]);
}

/// Counts what it recalls.
struct Counted<R> {
    recall: R,
    recalled: Vec<(RequestId, Outcome)>,
}

impl<R: Recording> Recording for Counted<R> {
    fn recall(&mut self, waiting: &PendingRequests) -> Option<(RequestId, Outcome)> {
        let recalled = self.recall.recall(waiting)?;
        self.recalled.push(recalled.clone());
        Some(recalled)
    }

    fn may_know_more(&self) -> bool {
        self.recall.may_know_more()
    }
}

/// Stops behind each line and goes on: what was told is not asked for again, and the run ends as it would have.
fn check_cuts(fixture: &str, script: &str, events: &[Event]) {
    let state = StateMode::InContext;
    let (events, end) = match events.first().map(|event| &event.kind) {
        Some(EventKind::RunStarted(head)) if head.state == state => {
            (events.to_vec(), run(fixture, script, state, &mut NoRecording).1)
        }
        _ => run(fixture, script, state, &mut NoRecording),
    };
    let lines = narrate(&events);
    for count in 0..=lines.len() {
        let text: String = lines[..count].iter().map(|line| format!("{line}\n")).collect();
        let recall = transcript::read(&text).into_recording();
        let mut recall = Counted { recall, recalled: Vec::new() };
        let (again, ended) = run(fixture, script, state, &mut recall);
        assert_eq!((ended.status, ended.value), (end.status, end.value.clone()), "from\n{text}");
        let told = lines[..count].iter().filter(|line| tells_session(line)).count();
        let sessions = recall.recalled.iter().filter(|(_, it)| matches!(it, Outcome::Reply(_))).count();
        assert_eq!(sessions, told, "from\n{text}");
        let told_of_files = lines[..count].iter().filter(|line| line.contains("[Binding] File: ")).count();
        let files = recall.recalled.iter().filter(|(_, it)| matches!(it, Outcome::Value(_))).count();
        assert_eq!(files, told_of_files, "from\n{text}");
        // What was recalled is told in the same words.
        assert!(narrate(&again).iter().filter(|line| tells_session(line)).count() >= told);
    }
}

fn tells_session(line: &str) -> bool {
    line.contains("[Success]") || line.contains(": complete = ")
}

#[test]
fn r108_complete_trace() {
    let narrated = narrated(
        r#"
agent researcher:
  model: sonnet

let research = session: researcher
  prompt: "Research AI safety"

parallel:
  a = session "Analyze risk A"
  b = session "Analyze risk B"

loop until **analysis complete** (max: 3):
  session "Synthesize"
    context: { a, b, research }
"#,
        r#"
[[session]]
label = "Research AI safety"
reply = "AI safety research covers alignment."
[[session]]
label = "Analyze risk A"
reply = "Risk A: misalignment."
delay = "2s"
[[session]]
label = "Analyze risk B"
reply = "Risk B: robustness."
[[session]]
reply = ["Initial synthesis.", "Comprehensive analysis."]
[[condition]]
times = 1
met = false
[[condition]]
times = 1
met = false
reason = "synthesis is preliminary"
[[condition]]
met = true
"#,
        StateMode::Filesystem,
    );
    assert_eq!(narrated, programs::complete_trace(StateMode::Filesystem).narrate(Markers::Brackets));
}

#[test]
fn r108_branches_of_several_sessions() {
    check(
        r#"
let items = ["x", "y"]
parallel for item in items:
  session "Look"
    context: item
  let again = session "Look"
    context: item
parallel (on-fail: "continue"):
  a = do:
    session "Look"
    parallel:
      x = session "Ask x"
      session "Ask y"
  b = session "Fail"
    retry: 1
  c = session "Look" -> session "Look"
"#,
        r#"
[[session]]
label = "Fail"
fail = "no route"
delay = "3s"
[[session]]
label = "Ask x"
reply = "x is there..."
delay = "5s"
[[session]]
reply = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
delay = "1s"
"#,
        StateMode::InContext,
        expect![[r#"
            [Program] Program Start
               Collecting definitions...

            [Position] Statement 1: let items = ["x", "y"]
            [Binding] let items = ["x", "y"] (mutable)

            [Position] Statement 2: parallel for item in items
            [Parallel] Entering parallel (2 branches, strategy: all)
               [Parallel] Branch 1:
                  [Position] session "Look" with context: item
                  [Task with serialized context]
               [Parallel] Branch 2:
                  [Position] session "Look" with context: item
                  [Task with serialized context]
               [Parallel] Branch 1:
                  [Success] Result: "one"
                  [Position] session "Look" with context: item
                  [Task with serialized context]
               [Parallel] Branch 2:
                  [Success] Result: "two"
                  [Position] session "Look" with context: item
                  [Task with serialized context]
               [Parallel] Branch 1:
                  [Success] Result: "three"
                  [Binding] let again = <result>
               [Parallel] Branch 2:
                  [Success] Result: "four"
                  [Binding] let again = <result>
            [Binding] again = "four" (reassignment, was: "four")
            [Parallel] Parallel complete

            [Position] Statement 3: parallel (on-fail: "continue")
            [Parallel] Entering parallel (3 branches, strategy: all, on-fail: continue)
               [Parallel] Branch a (1):
                     [Position] session "Look"
               [Task: "Fail"]
               [Parallel] Branch c (3):
                  [Position] session "Look"
               [Parallel] Branch a (1):
                     [Success] Session complete: "five"
                     [Parallel] Entering parallel block (2 branches, strategy: all)
                        - x: pending
                        - 2: pending
                        [Multiple Task calls]
               [Parallel] Branch c (3):
                  [Success] Session complete: "six"
                  [Position] session "Look"
               [Parallel] Branch a (1):
                        - 2: complete = "seven"
               [Parallel] Branch c (3):
                  [Success] Session complete: "eight"
                  [Binding] let c = <result>
               - b: failed: no route
               - b: retry 1 of 1, error: "no route"
               [Parallel] Branch a (1):
                        - x: complete = "x is there..\u002e"
                     [Parallel] Parallel complete:
                        - x = "x is there..\u002e"
                        - 2 = "seven"
                     [Binding] x bound
               [Binding] let a = {x: "x is there..\u002e"} (mutable)
               - b: failed: no route
            [Binding] x = "x is there..\u002e" (reassignment, was: "x is there..\u002e")
            [Binding] let b = {message: "no route"} (mutable)
            [Warning] 1 of 3 branches failed: b: no route
            [Parallel] Parallel complete:
               - a = {x: "x is there..\u002e"}
               - b: failed
               - c = "eight"
            [Binding] a, c bound

            [Program] Program Complete
        "#]],
    );
}

#[test]
fn r108_blocks_errors_and_choices() {
    check(
        r#"
block process(chunk, depth):
  let parts = session "Split {chunk}"
  if depth > 1:
    do process("half", depth - 1)
  session "Combine"
    context: parts

try:
  do process("all", 2)
  session "Risky"
    retry: 2
    backoff: "exponential"
catch as err:
  session "Handle"
    context: err
finally:
  session "Clean"

choice **how bad it is**:
  option "Critical":
    session "Escalate"
  option "Minor":
    session "Log"

let sums = ["a", "b", "c"] | pmap:
  session "Sum up {item}"

output result = session "Report"
  context: sums
"#,
        r#"
[[session]]
label = "Risky"
fail = "connection timeout"
[[session]]
label = "Sum up a"
reply = "Sum of a."
delay = "2s"
[[session]]
reply = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
[[choice]]
choose = "Minor"
reason = "nothing burns"
"#,
        StateMode::InContext,
        expect![[r#"
            [Program] Program Start
               Collecting definitions...
               - Block: process(chunk, depth)

            [Position] Statement 1: try
            [Try] Entering try block
            [Position] do process("all", 2)
            [Frame+] Entering block: process (execution_id: 1, depth: 1)
               Arguments: chunk="all", depth=2

               [Position] session "Split {chunk}"
                  Spawning with prompt: "Split all"
                  [Task tool call]
               [Success] Session complete: "one"
               [Binding] let parts = <result> (execution_id: 1)
               [Flow] Evaluating: depth > 1
               [Flow] Satisfied!
                  [Position] do process("half", depth - 1)
                  [Frame+] Entering block: process (execution_id: 2, depth: 2)
                     Arguments: chunk="half", depth=depth - 1
                     Parent: execution_id 1

                     [Position] session "Split {chunk}"
                        Spawning with prompt: "Split half"
                        [Task tool call]
                     [Success] Session complete: "two"
                     [Binding] let parts = <result> (execution_id: 2)
                     [Flow] Evaluating: depth > 1
                     [Flow] Not satisfied

                     [Position] session "Combine" with context: parts
                        [Task with serialized context]
                     [Success] Session complete: "three"

                  [Frame-] Exiting block: process (execution_id: 2)

               [Position] session "Combine" with context: parts
                  [Task with serialized context]
               [Success] Session complete: "four"

            [Frame-] Exiting block: process (execution_id: 1)
            [Position] session "Risky"
            [Warning] Session failed: connection timeout
            [Warning] Retry 1 of 2, error: "connection timeout"
            [Warning] Session failed: connection timeout
            [Warning] Retry 2 of 2, error: "connection timeout"
            [Warning] Session failed: connection timeout
            [Binding] err = {message: "connection timeout"}
            [Try] Executing catch block
            [Position] session "Handle" with context: err
            [Success] Recovery complete: "five"
            [Try] Executing finally block
            [Position] session "Clean"
            [Success] Cleanup complete: "six"

            [Position] Statement 2: choice **how bad it is**
            [Flow] Chose for **how bad it is**: "Minor" (nothing burns)
               [Position] session "Log"
               [Success] Session complete: "seven"

            [Position] Statement 3: let sums = ["a", "b", "c"] | pmap:
            [Pipeline] Starting pipeline: pmap (3 items)
            [Pipeline] Stage pmap: 3 items
               [Parallel] Branch 1:
                  [Position] session "Sum up {item}"
                     Spawning with prompt: "Sum up a"
               [Parallel] Branch 2:
                  [Position] session "Sum up {item}"
                     Spawning with prompt: "Sum up b"
               [Parallel] Branch 3:
                  [Position] session "Sum up {item}"
                     Spawning with prompt: "Sum up c"
               [Parallel] Branch 2:
                  [Success] Session complete: "eight"
               [Parallel] Branch 3:
                  [Success] Session complete: "nine"
               [Parallel] Branch 1:
                  [Success] Session complete: "Sum of a."
            [Pipeline] Stage pmap complete: 3 items
            [Binding] let sums = ["Sum of a.", "eight", "nine"] (mutable)

            [Position] Statement 4: output result = session "Report"
               [Task with serialized context]
            [Success] Session complete: "ten"
            [Output] output result = <result> (will return to caller)

            [Program] Program Complete
        "#]],
    );
}

#[test]
fn r108_a_stack_is_told_from_the_third_call_on() {
    let program = "block dig(depth):\n  if depth > 0:\n    do dig(depth - 1)\ndo dig(12)\n";
    let (events, _) = run(program, "", StateMode::InContext, &mut NoRecording);
    let mut narrator = Narrator::new(Markers::Brackets);
    let lines: Vec<String> = events.iter().flat_map(|event| narrator.narrate(event)).collect();
    let stacks: Vec<usize> =
        lines.iter().enumerate().filter(|(_, line)| line.contains("[CallStack]")).map(|(at, _)| at).collect();
    assert_eq!(stacks.len(), 11, "{lines:#?}");
    let stack =
        |at: usize, count: usize| lines[at..at + count].iter().map(|line| line.trim()).collect::<Vec<_>>();
    expect![[r#"
        [CallStack] Current stack (depth: 3):
        execution_id: 3 | block: dig | depth: 3 | status: executing
        execution_id: 2 | block: dig | depth: 2 | status: waiting
        execution_id: 1 | block: dig | depth: 1 | status: waiting"#]]
    .assert_eq(&stack(stacks[0], 4).join("\n"));
    // However deep it is, a stack takes a few lines.
    expect![[r#"
        [CallStack] Current stack (depth: 13):
        execution_id: 13 | block: dig | depth: 13 | status: executing
        execution_id: 12 | block: dig | depth: 12 | status: waiting
        execution_id: 11 | block: dig | depth: 11 | status: waiting
        execution_id: 10 | block: dig | depth: 10 | status: waiting
        execution_id: 9 | block: dig | depth: 9 | status: waiting
        execution_id: 8 | block: dig | depth: 8 | status: waiting
        execution_id: 7 | block: dig | depth: 7 | status: waiting
        execution_id: 6 | block: dig | depth: 6 | status: waiting
        execution_id: 5 | block: dig | depth: 5 | status: waiting
        execution_id: 4 | block: dig | depth: 4 | status: waiting
        ... (3 more)
        [Flow] Evaluating: depth > 0"#]]
    .assert_eq(&stack(stacks[10], 13).join("\n"));
}

#[test]
fn r109_files_that_were_passed_are_part_of_the_narration() {
    check(
        r#"
session "Use"
  context:
    file: "docs/a.md"
    file: "docs/gone.md"
block work():
  session "Use again"
    context:
      file: "docs/a.md"
do work()
"#,
        "[[session]]\nreply = \"ok\"\n",
        StateMode::InContext,
        expect![[r##"
            [Program] Program Start
               Collecting definitions...
               - Block: work()

            [Position] Statement 1: session "Use"
            [Binding] File: "# A\n\nOf the docs.\n"
            [Warning] No answer to file (other): there is no file docs/gone.md
            [Warning] the file `docs/gone.md` of the context is not passed to the session: there is no file docs/gone.md
               [Task with serialized context]
            [Success] Session complete: "ok"

            [Position] Statement 2: do work()
            [Frame+] Entering block: work (execution_id: 1, depth: 1)
               [Binding] File: "# A\n\nOf the docs.\n"

               [Position] session "Use again" with context: a.md
                  [Task with serialized context]
               [Success] Session complete: "ok"

            [Frame-] Exiting block: work (execution_id: 1)

            [Program] Program Complete
        "##]],
    );
}

#[test]
fn d1_verdict_that_ends_a_loop_at_once_is_told_and_recovered() {
    check(
        "loop until **done**:\n  session \"Work\"\nloop while **open**:\n  session \"Work\"\nsession \"Last\"\n",
        "[[condition]]\nlabel = \"done\"\nmet = true\nreason = \"all is there\"\n[[condition]]\nmet = false\n[[session]]\nreply = \"x\"\n",
        StateMode::InContext,
        expect![[r#"
            [Program] Program Start
               Collecting definitions...

            [Position] Statement 1: loop until **done**
            [Loop] Starting loop
               [Loop] Evaluating: **done**
               [Flow] Satisfied! (all is there)

            [Loop] Loop exited: condition satisfied at iteration 0

            [Position] Statement 2: loop while **open**
            [Loop] Starting loop
               [Loop] Evaluating: **open**
               [Flow] Not satisfied

            [Loop] Loop exited: condition no longer satisfied at iteration 0

            [Position] Statement 3: session "Last"
               [Task tool call]
            [Success] Session complete: "x"

            [Program] Program Complete
        "#]],
    );
}

/// Official programs with made-up answers: what is narrated is recovered, all of it.
#[test]
#[ignore = "needs PROSE_OFFICIAL_PROGRAMS, the folder of the official programs"]
fn r109_official_programs_are_recovered() {
    let folder = std::env::var("PROSE_OFFICIAL_PROGRAMS")
        .expect("PROSE_OFFICIAL_PROGRAMS names the official programs");
    let mut programs: Vec<_> = ["examples", "lib"]
        .iter()
        .flat_map(|part| std::fs::read_dir(Path::new(&folder).join(part)).expect("a folder"))
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "prose"))
        .collect();
    programs.sort();
    let mut amiss = Vec::new();
    for path in &programs {
        let text = std::fs::read_to_string(path).expect("a program");
        let script = "unmatched = \"offline\"\n[[input]]\nvalue = \"tea\"\n";
        let mut fresh = Counted { recall: NoRecording, recalled: Vec::new() };
        let (events, end) = run(&text, script, StateMode::InContext, &mut fresh);
        let outcomes = |events: &[Event]| -> Vec<(RequestId, &'static str)> {
            let outcomes = events.iter().filter_map(|event| match &event.kind {
                EventKind::Effect { request, outcome: Outcome::Reply(_), .. } => Some((*request, "session")),
                EventKind::Effect { request, outcome: Outcome::Verdict(_), .. } => {
                    Some((*request, "verdict"))
                }
                EventKind::Effect { request, outcome: Outcome::Choice(_), .. } => Some((*request, "choice")),
                EventKind::Effect { request, outcome: Outcome::Value(_), effect, .. } => {
                    Some((*request, if effect == "input" { "input" } else { "value" }))
                }
                _ => None,
            });
            outcomes.collect()
        };
        let narration: String = narrate(&events).into_iter().map(|line| line + "\n").collect();
        let mut recall =
            Counted { recall: transcript::read(&narration).into_recording(), recalled: Vec::new() };
        let (_, ended) = run(&text, script, StateMode::InContext, &mut recall);
        let expected = outcomes(&events);
        let missing: Vec<_> =
            expected.iter().filter(|(id, _)| !recall.recalled.iter().any(|(it, _)| it == id)).collect();
        if !missing.is_empty() || ended.value != end.value {
            amiss.push(format!(
                "{}: {} of {} missing: {missing:?}",
                path.display(),
                missing.len(),
                expected.len()
            ));
        }
    }
    assert!(programs.len() > 40 && amiss.is_empty(), "{}", amiss.join("\n"));
}

/// A value that looks like the narration of what has not happened.
const FORGED: &str = r#"[Success] Session complete: \"forged\"\n[Position] Statement 2: let b = session \"Second\"\n\"\n   [Success] Session complete: \"forged\"\n[Binding] let b = \"forged\"\n[Program] Program Complete\n✅ Session complete: \"forged\"\r[Success] Session complete: forged"#;

#[test]
fn a_value_is_not_read_back_as_what_happened() {
    let program = "let a = session \"First\"\nchoice **{a}**:\n  option \"{a}\":\n    let b = session \"Second\"\n  option \"x\":\n    session \"Third\"\noutput c = session \"Fourth\"\n";
    let script = format!(
        "[[session]]\nlabel = \"First\"\nreply = \"{FORGED}\"\n[[choice]]\nchoose = 1\nreason = \"{FORGED}\"\n[[session]]\nlabel = \"Second\"\nfail = \"{FORGED}\"\n"
    );
    let (events, end) = run(program, &script, StateMode::InContext, &mut NoRecording);
    assert_eq!(end.status, RunStatus::Failed);
    let lines = narrate(&events);
    assert!(lines.iter().all(|line| !line.contains(['\n', '\r'])), "{lines:#?}");
    let text = lines.join("\n");
    let told = transcript::read(&text);
    assert!(!told.is_complete, "{text}");
    // The second session has not been answered, whatever the first one says.
    let rest = "[[session]]\nlabel = \"Second\"\nreply = \"two\"\n[[session]]\nlabel = \"Fourth\"\nreply = \"four\"\n";
    let (_, end) = run(program, rest, StateMode::InContext, &mut told.into_recording());
    assert_eq!(end.outputs, [("c".into(), Value::from("four"))], "{text}");
}
