//! `state.md` (R99, R100).

use std::fs;

use expect_test::expect;
use prose_vm::effect::{MemoryPlace, MemoryScope, Reply};
use prose_vm::error::{ErrorKind, RuntimeError};
use prose_vm::event::{DefinedAgent, EventKind, LoopKind, RunStatus, Status};
use prose_vm::value::Value;

use crate::support::{Driver, bound, project, tree};

/// The program of the specification.
const FEATURE: &str = r#"agent researcher:
  model: sonnet
  prompt: "You research topics thoroughly"

agent captain:
  model: opus
  persist: true
  prompt: "You coordinate and review"

let research = session: researcher
  prompt: "Research AI safety"

parallel:
  a = session "Analyze risk A"
  b = session "Analyze risk B"

loop until **analysis complete** (max: 3):
  session "Synthesize"
    context: { a, b, research }

resume: captain
  prompt: "Review the synthesis"
  context: synthesis
"#;

fn parallel(driver: &mut Driver, at: &str, line: u32, branches: &[&str], is_loop: bool) {
    let branches: Vec<_> = branches.iter().map(|name| (*name).into()).collect();
    let count = branches.len() as u32;
    let kind = EventKind::ParallelStarted {
        branches,
        strategy: "all".into(),
        policy: "fail-fast".into(),
        count,
        is_loop,
    };
    driver.tell(at, line, kind);
}

#[test]
fn r099_the_example_of_the_specification() {
    let (_folder, project) = project();
    let mut run = Driver::start(&project, "feature-implementation.prose", FEATURE);
    let memory = MemoryPlace {
        agent: "captain".into(),
        scope: MemoryScope::Execution,
        folder: "agents/captain/".into(),
    };
    run.tell(
        "",
        0,
        EventKind::Defined {
            program: 0,
            name: "feature-implementation.prose".into(),
            agents: vec![
                DefinedAgent { name: "researcher".into(), model: Some("sonnet".into()), memory: None },
                DefinedAgent { name: "captain".into(), model: Some("opus".into()), memory: Some(memory) },
            ],
            blocks: vec![],
            statements: 4,
        },
    );
    run.session("s1", 10, "research", "Much is known.");
    run.enter("s2", 13);
    parallel(&mut run, "s2", 13, &["a", "b"], false);
    run.tell("s2/b1", 14, EventKind::BranchStarted { index: 0, name: "a".into() });
    run.tell("s2/b2", 15, EventKind::BranchStarted { index: 1, name: "b".into() });
    run.enter("s2/b1/s1", 14);
    let a = run.ask("s2/b1/s1", 14, "a", 0);
    run.enter("s2/b2/s1", 15);
    run.ask("s2/b2/s1", 15, "b", 0);
    run.reply(&a, "A is small.");
    run.leave("s2/b1/s1", 14);
    run.tell(
        "s2/b1",
        14,
        EventKind::BranchEnded {
            index: 0,
            name: "a".into(),
            status: Status::Complete,
            value: Value::text("A is small."),
        },
    );
    expect![[r##"
        # Execution State

        run: 20260115-143052-a7b3c9
        program: feature-implementation.prose
        started: 2026-01-15T14:30:52Z
        updated: 2026-01-15T14:31:12Z

        ## Execution Trace

        ```prose
        agent researcher:
          model: sonnet
          prompt: "You research topics thoroughly"

        agent captain:
          model: opus
          persist: true
          prompt: "You coordinate and review"

        let research = session: researcher           # --> bindings/research.md (complete)
          prompt: "Research AI safety"

        parallel:
          a = session "Analyze risk A"               # --> bindings/a.md (complete)
          b = session "Analyze risk B"               # <-- EXECUTING

        loop until **analysis complete** (max: 3):   # [not yet entered]
          session "Synthesize"
            context: { a, b, research }
        ```

        ## Active Constructs

        ### Parallel (lines 13-15)

        - a: complete
        - b: executing

        ### Loop (lines 17-19)

        - status: not yet entered
        - iteration: 0/3
        - condition: **analysis complete**

        ## Index

        ### Bindings

        | Name     | Kind | Path                 | Execution ID |
        | -------- | ---- | -------------------- | ------------ |
        | research | let  | bindings/research.md | (root)       |
        | a        | let  | bindings/a.md        | (root)       |

        ### Agents

        | Name    | Scope     | Path            |
        | ------- | --------- | --------------- |
        | captain | execution | agents/captain/ |

        ## Call Stack

        (none)
    "##]]
    .assert_eq(&run.state());
    expect![[r#"
        .lock
        bindings/
          a.md
          research.md
        journal.jsonl
        program.prose
        state.md
    "#]]
    .assert_eq(&tree(run.store.folder()));
}

/// The trace and the constructs of what a run shows now.
fn trace(run: &mut Driver) -> String {
    let state = run.state();
    let start = state.find("```").unwrap();
    let end = state.find("## Index").unwrap();
    state[start..end].trim_end().to_owned() + "\n"
}

#[test]
fn r100_statements_ahead_are_marked_and_shown_as_far_as_they_make_sense() {
    let text = r#"let a = session "A"
let b = session "B"
let c = session """
  Much text,
  in many lines.
"""
let d = session "D"
try:
  session "E"
catch:
  session "F"
let g = session "G"
"#;
    let (_folder, project) = project();
    let mut run = Driver::start(&project, "ahead.prose", text);
    // A trace that ended behind line 10 would have a `catch` without a body.
    expect![[r#"
        ```prose
        let a = session "A"                          # [...next...]
        let b = session "B"
        let c = session """
          Much text,
          in many lines.
        """
        ```

        ## Active Constructs

        (none)
    "#]]
    .assert_eq(&trace(&mut run));
    run.session("s1", 1, "a", "A!");
    run.session("s2", 2, "b", "B!");
    run.session("s3", 3, "c", "C!");
    run.enter("s4", 7);
    expect![[r#"
        ```prose
        let a = session "A"                          # --> bindings/a.md (complete)
        let b = session "B"                          # --> bindings/b.md (complete)
        let c = session """
          Much text,
          in many lines.
        """                                          # --> bindings/c.md (complete)
        let d = session "D"                          # <-- EXECUTING
        try:                                         # [not yet entered]
          session "E"
        catch:
          session "F"
        let g = session "G"                          # [...next...]
        ```

        ## Active Constructs

        (none)
    "#]]
    .assert_eq(&trace(&mut run));
}

#[test]
fn r100_iterations_and_retries() {
    let text = r#"loop until **done** (max: 3):
  session "Try"
    retry: 3
  session "Look"
session "End"
"#;
    let (_folder, project) = project();
    let mut run = Driver::start(&project, "retry.prose", text);
    run.enter("s1", 1);
    let header = "**done**".into();
    run.tell("s1", 1, EventKind::LoopStarted { kind: LoopKind::Until, header, max: Some(3) });
    run.tell("s1/i1", 1, EventKind::IterationStarted { number: 1, max: Some(3) });
    run.session("s1/i1/s1", 2, "anon_001", "Tried.");
    run.session("s1/i1/s2", 4, "anon_002", "Looked.");
    run.tell("s1/i2", 1, EventKind::IterationStarted { number: 2, max: Some(3) });
    run.enter("s1/i2/s1", 2);
    run.ask("s1/i2/s1", 2, "anon_003", 0);
    let error = RuntimeError::new(ErrorKind::Session, "it broke");
    run.tell(
        "s1/i2/s1",
        2,
        EventKind::Retrying { attempt: 2, retries: 3, delay_ms: 0, error: error.clone().into() },
    );
    expect![[r#"
        ```prose
        loop until **done** (max: 3):
          session "Try"                              # <-- RETRYING (attempt 2/3)
            retry: 3
          session "Look"
        session "End"                                # [...next...]
        ```

        ## Active Constructs

        ### Loop (lines 1-4)

        - status: executing
        - iteration: 2/3
        - condition: **done**
    "#]]
    .assert_eq(&trace(&mut run));
    run.tell("s1/i2/s1", 2, EventKind::StatementEnded { status: Status::Failed, error: Some(error.into()) });
    run.tell("s1", 1, EventKind::LoopEnded { why: prose_vm::event::LoopEnd::Failed, iterations: 2 });
    run.leave_with("s1", 1, Status::Failed);
    run.end(RunStatus::Failed);
    expect![[r#"
        ```prose
        loop until **done** (max: 3):                # (failed: no reason given)
          session "Try"                              # (failed: it broke)
            retry: 3
          session "Look"
        session "End"                                # [...next...]
        ```

        ## Active Constructs

        (none)
    "#]]
    .assert_eq(&trace(&mut run));
}

#[test]
fn r099_calls_of_blocks_are_on_the_stack_with_their_bindings() {
    let text = r#"block process(data):
  let result = session "Process"
  do process(result)

do process("x")
"#;
    let (_folder, project) = project();
    let mut run = Driver::start(&project, "recursion.prose", text);
    run.enter("s1", 5);
    for (id, at) in [(41, "s1/f41"), (42, "s1/f41/s2/f42")] {
        let block = "process".into();
        let kind = EventKind::FrameEntered {
            id,
            block,
            depth: id - 40,
            parent: if id == 41 { 0 } else { 41 },
            arguments: vec![],
        };
        run.tell(at, 5, kind);
        run.enter(&format!("{at}/s1"), 2);
        let request = run.ask(&format!("{at}/s1"), 2, "result", id);
        if id == 41 {
            run.reply(&request, "First");
            run.leave(&format!("{at}/s1"), 2);
            run.enter(&format!("{at}/s2"), 3);
        }
    }
    let state = run.state();
    expect![[r#"
        ## Index

        ### Bindings

        | Name   | Kind | Path                   | Execution ID |
        | ------ | ---- | ---------------------- | ------------ |
        | result | let  | bindings/result__41.md | 41           |

        ### Agents

        (none)

        ## Call Stack

        | execution_id | block   | depth | status    |
        | ------------ | ------- | ----- | --------- |
        | 42           | process | 2     | executing |
        | 41           | process | 1     | waiting   |
    "#]]
    .assert_eq(&state[state.find("## Index").unwrap()..]);
    run.tell(
        "s1/f41/s2/f42",
        3,
        EventKind::FrameLeft { id: 42, block: "process".into(), status: Status::Complete },
    );
    assert!(run.state().contains("| 41           | process | 1     | executing |"));
}

#[test]
fn r093_an_imported_program_has_a_folder_of_its_own() {
    let (_folder, project) = project();
    let text = "use \"@alice/research\"\nlet r = research(topic: \"x\")\n";
    let mut run = Driver::start(&project, "main.prose", text);
    run.enter("s1", 2);
    let folder = "imports/alice--research";
    let inner = "input topic: \"What\"\nlet found = session \"Find\"\noutput findings = found\n";
    run.tell(
        "s1",
        2,
        EventKind::ImportCalled {
            program: 1,
            alias: "research".into(),
            inputs: vec![],
            folder: folder.into(),
            text: inner.into(),
        },
    );
    run.enter_program(1, folder, inner);
    run.bind("s1/p1", 1, "topic", "x");
    run.enter("s1/p1/s1", 2);
    let request = run.ask("s1/p1/s1", 2, "found", 0);
    run.reply(&request, "Found.");
    run.leave("s1/p1/s1", 2);
    run.enter_program(0, "", text);
    assert!(run.state().contains("let r = research(topic: \"x\")                 # <-- EXECUTING\n"));
    run.tell(
        "s1",
        2,
        EventKind::ImportEnded { program: 1, alias: "research".into(), outputs: vec![], error: None },
    );
    expect![[r#"
        .lock
        bindings/
        imports/
          alice--research/
            bindings/
              found.md
              topic.md
            program.prose
            state.md
        journal.jsonl
        program.prose
        state.md
    "#]]
    .assert_eq(&tree(run.store.folder()));
    assert_eq!(run.read("imports/alice--research/program.prose"), inner);
    let state = run.read("imports/alice--research/state.md");
    expect![[r#"
        program: research
        started: 2026-01-15T14:30:54Z
        updated: 2026-01-15T14:31:01Z

        ## Execution Trace

        ```prose
        input topic: "What"
        let found = session "Find"                   # --> bindings/found.md (complete)
        output findings = found                      # [...next...]
        ```

        ## Active Constructs

        (none)

        ## Index

        ### Bindings

        | Name  | Kind | Path              | Execution ID |
        | ----- | ---- | ----------------- | ------------ |
        | topic | let  | bindings/topic.md | (root)       |
        | found | let  | bindings/found.md | (root)       |

        ### Agents

        (none)

        ## Call Stack

        (none)
    "#]]
    .assert_eq(&state[state.find("program:").unwrap()..]);
}

#[test]
fn r102_behind_each_statement_its_file_is_there_and_state_md_is_written_anew() {
    let (_folder, project) = project();
    let mut run = Driver::start(
        &project,
        "a.prose",
        "let a = session \"A\"\nlet b = session \"B\"\nlet c = session \"C\"\n",
    );
    for (number, name) in ["a", "b", "c"].into_iter().enumerate() {
        let (at, line) = (format!("s{}", number + 1), number as u32 + 1);
        run.enter(&at, line);
        let mark_of = |state: &str| {
            let line = state.lines().find(|line| line.starts_with(&format!("let {name} ")));
            line.and_then(|line| line.split_once("# ")).map(|(_, mark)| mark.to_owned())
        };
        assert_eq!(mark_of(&run.state()).as_deref(), Some("<-- EXECUTING"));
        let request = run.ask(&at, line, name, 0);
        // The agent says that it has written the file, and has not: the machine does.
        let wrote_binding = name == "b";
        run.reply_with(&request, Reply { text: "Done.".into(), wrote_binding, ..Reply::default() });
        assert!(run.read(&format!("bindings/{name}.md")).ends_with("---\n\nDone.\n"));
        let before = fs::File::open(run.store.folder().join("state.md")).unwrap();
        run.leave(&at, line);
        assert_eq!(mark_of(&run.state()), Some(format!("--> bindings/{name}.md (complete)")));
        // It has another file in its place, so that who reads the earlier one reads all of it.
        let earlier = std::io::read_to_string(before).unwrap();
        assert!(earlier.contains("# <-- EXECUTING\n") && earlier.contains("## Call Stack"), "{earlier}");
    }
    let left = tree(run.store.folder());
    assert!(!left.contains("tmp"), "{left}");
}

#[test]
fn r052_what_runs_in_a_cancelled_branch_is_skipped() {
    let text = r#"parallel ("first"):
  session "Quick"
  do:
    let q = session "Slow"
    repeat 2:
      session "Never done"
  session "Slow too"
session "End"
"#;
    let (_folder, project) = project();
    let mut run = Driver::start(&project, "first.prose", text);
    run.enter("s1", 1);
    let branches = ["branch 1", "branch 2", "branch 3"];
    parallel(&mut run, "s1", 1, &branches, false);
    for (index, line) in [(0, 2), (1, 3), (2, 7)] {
        let name = branches[index as usize].into();
        run.tell(&format!("s1/b{index}"), line, EventKind::BranchStarted { index, name });
        // A branch and its statement have the same place.
        run.enter(&format!("s1/b{index}"), line);
    }
    run.session("s1/b1/s1", 4, "q", "It took long.");
    run.enter("s1/b1/s2", 5);
    run.tell(
        "s1/b1/s2",
        5,
        EventKind::LoopStarted { kind: LoopKind::Repeat, header: "2".into(), max: Some(2) },
    );
    run.tell("s1/b1/s2/i1", 5, EventKind::IterationStarted { number: 1, max: Some(2) });
    run.enter("s1/b1/s2/i1/s1", 6);
    let kind = EventKind::FrameEntered { id: 7, block: "b".into(), depth: 1, parent: 0, arguments: vec![] };
    run.tell("s1/b1/s2/i1/s1/f7", 6, kind);
    run.leave("s1/b0", 2);
    for (index, line, status) in [(0, 2, Status::Complete), (1, 3, Status::Skipped), (2, 7, Status::Skipped)]
    {
        let name = branches[index as usize].into();
        let kind = EventKind::BranchEnded { index, name, status, value: Value::Null };
        run.tell(&format!("s1/b{index}"), line, kind);
    }
    expect![[r#"
        ```prose
        parallel ("first"):                          # <-- EXECUTING
          session "Quick"                            # (complete)
          do:                                        # (skipped)
            let q = session "Slow"                   # --> bindings/q.md (complete)
            repeat 2:                                # (skipped)
              session "Never done"                   # (skipped)
          session "Slow too"                         # (skipped)
        session "End"                                # [...next...]
        ```

        ## Active Constructs

        ### Parallel (lines 1-7)

        - branch 1: complete
        - branch 2: skipped
        - branch 3: skipped
    "#]]
    .assert_eq(&trace(&mut run));
    assert!(run.state().ends_with("## Call Stack\n\n(none)\n"));
}

#[test]
fn r099_what_a_branch_has_bound_is_listed_once() {
    let text = "parallel:\n  do:\n    let q = session \"Q\"\n";
    let (_folder, project) = project();
    let mut run = Driver::start(&project, "branch.prose", text);
    run.enter("s1", 1);
    let mut binding = run.binding("q", 0, 3);
    binding.path = "bindings/q__0_b2.md".into();
    run.tell("s1/b1/s1", 3, bound(binding, Value::text("Q!"), None));
    run.bind("s1", 1, "q", "Q!");
    let state = run.state();
    let index = &state[state.find("### Bindings").unwrap()..state.find("### Agents").unwrap()];
    expect![[r#"
        ### Bindings

        | Name | Kind | Path          | Execution ID |
        | ---- | ---- | ------------- | ------------ |
        | q    | let  | bindings/q.md | (root)       |

    "#]]
    .assert_eq(index);
}
