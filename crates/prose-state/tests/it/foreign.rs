//! Runs that another machine has made (R104).

use std::fs;

use prose_state::filesystem::{FilesystemStore, Resume, Resumed};
use prose_state::remembered::Remembered;
use prose_vm::effect::{Binding, BindingKind, Effect, InputRequest, Outcome, Question, Request, RequestId};
use prose_vm::place::Site;
use prose_vm::store::Recall;
use prose_vm::value::Value;

use crate::support::{place, project, session, waiting};

/// The folder of a run in the form of the specification, and what is asked of it.
struct Foreign {
    _folder: tempfile::TempDir,
    recall: Remembered,
    notes: Vec<String>,
    text: String,
    asked: u64,
}

const ID: &str = "20260115-143052-a7b3c9";

impl Foreign {
    fn new(text: &str, state: &str, bindings: &[(&str, &str)]) -> Self {
        let (folder, project) = project();
        let run = project.runs().join(ID);
        fs::create_dir_all(run.join("bindings")).unwrap();
        fs::write(run.join("program.prose"), text).unwrap();
        if !state.is_empty() {
            fs::write(run.join("state.md"), state).unwrap();
        }
        for (name, value) in bindings {
            let kind = if name.starts_with("in_") { "input" } else { "let" };
            let file = format!(
                "# {name}\n\nkind: {kind}\n\nsource:\n\n```prose\nlet {name} = …\n```\n\n---\n\n{value}\n"
            );
            fs::write(run.join("bindings").join(format!("{name}.md")), file).unwrap();
        }
        let Resumed { recall, notes, .. } =
            FilesystemStore::resume(&project, ID, text, Resume::Exact).unwrap();
        Self { _folder: folder, recall, notes, text: text.to_owned(), asked: 0 }
    }

    fn site(&self, line: u32) -> Site {
        assert!(line as usize <= self.text.lines().count());
        Site { program: 0, start: 0, end: 0, line, last_line: line }
    }

    fn ask(&mut self, request: &Request) -> Option<Outcome> {
        self.asked += 1;
        self.recall.recall(&waiting(&[request])).map(|(id, outcome)| {
            assert_eq!(id, request.id);
            outcome
        })
    }

    /// What a session gave whose result goes to that file.
    fn session(&mut self, at: &str, line: u32, file: &str) -> Option<String> {
        let (name, frame) = file.split_once("__").map_or((file, 0), |(name, id)| (name, id.parse().unwrap()));
        let path = format!("bindings/{file}.md").into();
        let binding = Binding { name: name.into(), kind: BindingKind::Let, frame, path, source: "".into() };
        match self.ask(&session(self.asked, at, self.site(line), "task", binding, &[]))? {
            Outcome::Reply(reply) => Some(reply.text.to_string()),
            other => panic!("{other:?}"),
        }
    }

    fn judge(&mut self, at: &str, line: u32) -> Option<bool> {
        let question = Question { text: "?".into(), labels: vec![], context: vec![], of_loop: None };
        let effect = Effect::Judge(question.into());
        match self.ask(&Request {
            id: RequestId(self.asked),
            place: place(at),
            site: self.site(line),
            effect,
        })? {
            Outcome::Verdict(verdict) => Some(verdict.met),
            other => panic!("{other:?}"),
        }
    }

    fn choose(&mut self, line: u32, labels: &[&str]) -> Option<usize> {
        let labels = labels.iter().map(|label| (*label).into()).collect();
        let effect =
            Effect::Choose(Question { text: "?".into(), labels, context: vec![], of_loop: None }.into());
        match self.ask(&Request {
            id: RequestId(self.asked),
            place: place("s"),
            site: self.site(line),
            effect,
        })? {
            Outcome::Choice(choice) => Some(choice.index),
            other => panic!("{other:?}"),
        }
    }

    fn input(&mut self, name: &str) -> Option<Outcome> {
        let input = InputRequest {
            name: Some(name.into()),
            keys: Vec::new(),
            prompt: "?".into(),
            may_rephrase: false,
            optional: false,
        };
        let effect = Effect::Input(input.into());
        self.ask(&Request { id: RequestId(self.asked), place: place("s"), site: self.site(1), effect })
    }
}

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

/// As the specification prints it: without the line `context: { a, b, research }` at its place, say, and with lines that are a few off.
const FEATURE_STATE: &str = r#"# Execution State

run: 20260115-143052-a7b3c9
program: feature-implementation.prose
started: 2026-01-15T14:30:52Z
updated: 2026-01-15T14:35:22Z

## Execution Trace

```prose
agent researcher:
  model: sonnet
  prompt: "You research topics thoroughly"

let research = session: researcher           # --> bindings/research.md
  prompt: "Research AI safety"

parallel:
  a = session "Analyze risk A"               # --> bindings/a.md (complete)
  b = session "Analyze risk B"               # <-- EXECUTING

loop until **analysis complete** (max: 3):   # [not yet entered]
  session "Synthesize"

resume: captain                              # [...next...]
```

## Active Constructs

### Parallel (lines 14-16)

- a: complete
- b: executing

### Loop (lines 18-21)

- status: not yet entered
- iteration: 0/3
- condition: **analysis complete**

## Index

### Bindings

| Name     | Kind | Path                 | Execution ID |
| -------- | ---- | -------------------- | ------------ |
| research | let  | bindings/research.md | (root)       |

## Call Stack

| execution_id | block   | depth | status    |
| ------------ | ------- | ----- | --------- |
"#;

#[test]
fn r104_the_example_of_the_specification_goes_on_at_its_marker() {
    // The second session had begun to write its file.
    let bindings = [
        ("research", "Much is known."),
        ("a", "A is small."),
        ("b", "half of"),
        ("anon_001", "of an earlier run"),
    ];
    let mut run = Foreign::new(FEATURE, FEATURE_STATE, &bindings);
    assert_eq!(
        run.notes,
        [
            "the run has no journal, so another machine made it. It goes on from state.md and 4 files of bindings"
        ]
    );
    assert_eq!(run.session("s1", 10, "research").as_deref(), Some("Much is known."));
    assert_eq!(run.session("s2/b1/s1", 14, "a").as_deref(), Some("A is small."));
    assert_eq!(run.session("s2/b2/s1", 15, "b"), None);
    assert_eq!(run.judge("s3/i1", 17), None);
    assert_eq!(run.session("s3/i1/s1", 18, "anon_001"), None);
    assert_eq!(run.recall.reused(), 2);
    assert!(run.recall.may_know_more());
}

#[test]
fn r104_every_file_counts_where_there_is_no_state() {
    let mut run = Foreign::new(FEATURE, "", &[("research", "Much is known.")]);
    assert!(
        run.notes[0]
            .ends_with("state.md is not there, so every session whose file exists is taken for finished")
    );
    assert_eq!(run.session("s1", 10, "research").as_deref(), Some("Much is known."));
    assert_eq!(run.session("s2/b1/s1", 14, "a"), None);
}

#[test]
fn r104_loops_are_entered_again_at_the_recorded_iteration() {
    let text = "let n = session \"Start\"\nloop until **done** (max: 5):\n  let x = session \"Do\"\n  let y = session \"Check\"\nlet z = session \"End\"\n";
    let state = "# Execution State\n\n## Execution Trace\n\n```prose\nlet n = session \"Start\"  # --> bindings/n.md\n\
        loop until **done** (max: 5):\n  let x = session \"Do\"  # --> bindings/x.md (complete)\n  let y = session \"Check\"  # <-- EXECUTING\n\
        let z = session \"End\"  # [...next...]\n```\n\n## Active Constructs\n\n### Loop (lines 2-4)\n\n- status: executing\n- iteration: 3/5\n";
    let mut run = Foreign::new(text, state, &[("n", "0"), ("x", "third"), ("y", "second")]);
    for iteration in 1..=2 {
        assert_eq!(run.judge(&format!("s2/i{iteration}"), 2), Some(false));
        assert_eq!(run.session(&format!("s2/i{iteration}/s1"), 3, "x").as_deref(), Some("third"));
        assert_eq!(run.session(&format!("s2/i{iteration}/s2"), 4, "y").as_deref(), Some("second"));
    }
    assert_eq!(run.judge("s2/i3", 2), Some(false));
    assert_eq!(run.session("s2/i3/s1", 3, "x").as_deref(), Some("third"));
    assert_eq!(run.session("s2/i3/s2", 4, "y"), None);
    // The next iteration is new.
    assert_eq!(run.judge("s2/i4", 2), None);
    assert_eq!(run.session("s2/i4/s1", 3, "x"), None);
    assert_eq!(run.session("s3", 5, "z"), None);
}

#[test]
fn r104_loops_and_branches_that_have_ended() {
    let text = r#"loop while **more**:
  let x = session "Do"
if **small**:
  let a = session "A"
elif **large**:
  let b = session "B"
else:
  let c = session "C"
choice **which**:
  option "one":
    let d = session "D"
  option "two":
    let e = session "E"
let z = session "End"
if **later**:
  let f = session "F"
"#;
    let state = r#"## Execution Trace

```prose
loop while **more**:          # (complete)
  let x = session "Do"        # --> bindings/x.md
if **small**:
  let a = session "A"
elif **large**:
  let b = session "B"         # --> bindings/b.md
else:
  let c = session "C"
choice **which**:
  option "one":
    let d = session "D"
  option "two":
    let e = session "E"       # --> bindings/e.md
let z = session "End"         # <-- EXECUTING
```
"#;
    let mut run = Foreign::new(text, state, &[("x", "X"), ("b", "B"), ("e", "E")]);
    // It goes round once, which is enough to bind what it bound.
    assert_eq!(run.judge("s1/i1", 1), Some(true));
    assert_eq!(run.session("s1/i1/s1", 2, "x").as_deref(), Some("X"));
    assert_eq!(run.judge("s1/i2", 1), Some(false));
    assert_eq!(run.judge("s2", 3), Some(false));
    assert_eq!(run.judge("s2", 5), Some(true));
    assert_eq!(run.session("s2/s1", 6, "b").as_deref(), Some("B"));
    assert_eq!(run.choose(9, &["one", "two"]), Some(1));
    assert_eq!(run.session("s4", 14, "z"), None);
    assert_eq!(run.judge("s5", 15), None);
}

#[test]
fn r104_marks_in_a_block_are_about_the_call_at_the_top_of_the_stack() {
    let text = "block process(data):\n  let result = session \"Process\"\n  do process(result)\n\ndo process(\"x\")\n";
    let state = "## Execution Trace\n\n```prose\nblock process(data):\n  let result = session \"Process\"  # <-- EXECUTING\n  do process(result)\n\
        \ndo process(\"x\")\n```\n\n## Call Stack\n\n| execution_id | block | depth | status |\n| --- | --- | --- | --- |\n\
        | 2 | process | 2 | executing |\n| 1 | process | 1 | waiting |\n";
    let mut run = Foreign::new(text, state, &[("result__1", "one"), ("result__2", "half of two")]);
    assert_eq!(run.session("s1/f1/s1", 2, "result__1").as_deref(), Some("one"));
    assert_eq!(run.session("s1/f1/s2/f2/s1", 2, "result__2"), None);
    assert_eq!(run.session("s1/f1/s2/f2/s2/f3/s1", 2, "result__3"), None);
}

#[test]
fn r104_inputs_are_known() {
    let mut run = Foreign::new("input in_topic: \"What\"\n", "", &[("in_topic", "bees"), ("x", "no input")]);
    assert_eq!(run.input("in_topic"), Some(Outcome::Value(Value::text("bees"))));
    assert_eq!(run.input("x"), None);
    assert_eq!(run.input("other"), None);
}

#[test]
fn r104_what_this_crate_writes_can_be_gone_on_with_when_the_journal_is_lost() {
    use crate::support::Driver;
    let text = "let a = session \"A\"\nlet b = session \"\"\"\n  B\n\"\"\"\nlet c = session \"C\"\n";
    let (_folder, project) = project();
    let mut run = Driver::start(&project, "three.prose", text);
    run.session("s1", 1, "a", "First.");
    run.enter("s2", 2);
    run.state();
    let id = run.store.run().to_owned();
    let folder = run.store.folder().to_owned();
    drop(run);
    fs::remove_file(folder.join("journal.jsonl")).unwrap();
    fs::write(folder.join("bindings/b.md"), "half").unwrap();
    let Resumed { recall, notes, .. } = FilesystemStore::resume(&project, &id, text, Resume::Exact).unwrap();
    let mut run = Foreign { _folder, recall, notes, text: text.to_owned(), asked: 0 };
    assert_eq!(run.session("s1", 1, "a").as_deref(), Some("First."));
    assert_eq!(run.session("s2", 2, "b"), None);
}

#[test]
fn r104_what_is_complete_is_not_run_again_although_nothing_kept_its_result() {
    let text = "session \"Deploy\"\nlet a = session \"A\"\nrepeat 3:\n  session \"Do\"\nsession \"End\"\n";
    let state = "## Execution Trace\n\n```prose\nsession \"Deploy\"  # (complete)\nlet a = session \"A\"  # (complete)\n\
        repeat 3:\n  session \"Do\"  # (complete)\nsession \"End\"  # [...next...]\n```\n\n## Active Constructs\n\n\
        ### Loop (lines 3-4)\n\n- status: executing\n- iteration: 2/3\n";
    let mut run = Foreign::new(text, state, &[]);
    assert_eq!(run.session("s1", 1, "anon_001").as_deref(), Some("(the result was not kept)"));
    // Others go on with this one, so it is asked for again.
    assert_eq!(run.session("s2", 2, "a"), None);
    assert_eq!(run.session("s3/i1/s1", 4, "anon_002").as_deref(), Some("(the result was not kept)"));
    assert_eq!(run.session("s3/i2/s1", 4, "anon_003").as_deref(), Some("(the result was not kept)"));
    assert_eq!(run.session("s3/i3/s1", 4, "anon_004"), None);
    assert_eq!(run.session("s4", 5, "anon_005"), None);
}

#[test]
fn r104_a_condition_that_was_being_judged_is_judged_again() {
    let text = "if **good**:\n  let a = session \"A\"\nelse:\n  let b = session \"B\"\n";
    let state =
        "## Execution Trace\n\n```prose\nif **good**:  # <-- EXECUTING\n  let a = session \"A\"\n```\n";
    let mut run = Foreign::new(text, state, &[]);
    assert_eq!(run.judge("s1", 1), None);
}
