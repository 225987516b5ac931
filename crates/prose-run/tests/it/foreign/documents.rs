//! Traces in the form of the specification, and ones that are a little off.

use std::fs;

use expect_test::expect;

use crate::foreign::{Foreign, check};

/// Of the same shape as the example of the specification.
const TRIP: &str = r#"agent guide:
  model: sonnet
  prompt: "You know the harbours"

agent skipper:
  model: opus
  persist: true
  prompt: "You steer"

let chart = session: guide
  prompt: "Draw the chart"

parallel:
  wind = session "Look at the wind"
  tide = session "Look at the tide"

loop until **the course is safe** (max: 3):
  session "Plot the course"
    context: { wind, tide, chart }

resume: skipper
  prompt: "Sail it"
"#;

const TRIP_STATE: &str = r#"# Execution State

run: 20260115-143052-a7b3c9
program: trip.prose
started: 2026-01-15T14:30:52Z
updated: 2026-01-15T14:35:22Z

## Execution Trace

```prose
agent guide:
  model: sonnet
  prompt: "You know the harbours"

agent skipper:
  model: opus
  persist: true
  prompt: "You steer"

let chart = session: guide                   # --> bindings/chart.md
  prompt: "Draw the chart"

parallel:
  wind = session "Look at the wind"          # --> bindings/wind.md (complete)
  tide = session "Look at the tide"          # <-- EXECUTING

loop until **the course is safe** (max: 3):  # [not yet entered]
  session "Plot the course"
    context: { wind, tide, chart }

resume: skipper                              # [...next...]
  prompt: "Sail it"
```

## Active Constructs

### Parallel (lines 14-16)

- wind: complete
- tide: executing

### Loop (lines 18-21)

- status: not yet entered
- iteration: 0/3
- condition: **the course is safe**

## Index

### Bindings

| Name   | Kind | Path               | Execution ID |
| ------ | ---- | ------------------ | ------------ |
| chart  | let  | bindings/chart.md  | (root)       |
| wind   | let  | bindings/wind.md   | (root)       |
| course | let  | bindings/c__43.md  | 43           |

## Call Stack

| execution_id | block   | depth | status    |
|--------------|---------|-------|-----------|
| 43           | process | 3     | executing |
| 42           | process | 2     | waiting   |
"#;

#[test]
fn r104_the_shape_of_the_specification_goes_on_at_its_marker() {
    let files = [("chart", "Rocks."), ("wind", "West."), ("tide", "half of"), ("anon_001", "stale")];
    let run = Foreign::new(TRIP, TRIP_STATE, &files);
    let went = run.resume().unwrap();
    expect![
        "the run has no journal, so it comes from another implementation; it is resumed from state.md and 4 files of bindings"
    ]
    .assert_eq(&went.notes.join("\n"));
    expect![[r#"
        kept  Draw the chart: Rocks.
        kept  Look at the wind: West.
        asked Look at the tide
        asked whether (true)
        asked Sail it"#]]
    .assert_eq(&went.lines.join("\n"));
}

#[test]
fn r104_every_file_counts_where_there_is_no_state() {
    let run = Foreign::new(TRIP, "", &[("chart", "Rocks.")]);
    let went = run.resume().unwrap();
    let notes = went.notes.join("\n").replace(run.project().to_str().unwrap(), "PROJECT");
    expect![[r#"
        PROJECT/.prose/runs/20260115-143052-a7b3c9/state.md does not exist, so every session with a file counts as completed
        the run has no journal, so it comes from another implementation; it is resumed from state.md and 1 file of bindings"#]].assert_eq(&notes);
    expect![[r#"
        kept  Draw the chart: Rocks.
        asked Look at the wind
        asked Look at the tide
        asked whether (true)
        asked Sail it"#]]
    .assert_eq(&went.lines.join("\n"));
}

#[test]
fn r104_inputs_are_known() {
    let program =
        "input in_topic: \"What\"\ninput other: \"What else\"\nsession \"On {in_topic} and {other}\"\n";
    check(
        program,
        "",
        &[("in_topic", "bees"), ("other", "no input")],
        expect![[r#"
        asked On bees and given
    "#]],
    );
}

#[test]
fn r104_what_is_complete_is_not_run_again_although_nothing_kept_its_result() {
    let program = "session \"Ship\"\nlet a = session \"A\"\nrepeat 3:\n  session \"Do\"\nsession \"End\"\n";
    let state = "# Execution State\n\n## Execution Trace\n\n```prose\nsession \"Ship\"  # (complete)\nlet a = session \"A\"  # (complete)\n\
        repeat 3:\n  session \"Do\"  # (complete)\nsession \"End\"  # [...next...]\n```\n\n## Active Constructs\n\n\
        ### Loop (lines 3-4)\n\n- status: executing\n- iteration: 2/3\n";
    // Others go on with `a`, so it is asked for again.
    check(
        program,
        state,
        &[],
        expect![[r#"
        kept  Ship: (the result was not kept)
        asked A
        kept  Do: (the result was not kept)
        kept  Do: (the result was not kept)
        asked Do
        asked End
    "#]],
    );
}

#[test]
fn r104_text_of_the_program_that_looks_like_a_mark_is_none() {
    let program = "session \"Say # (complete)\"\nlet a = session \"A\"  # (complete)\nsession \"B\"  # note # two\nlet c = session \"C\"  # --> bindings/a.md\n";
    check(
        program,
        program,
        &[],
        expect![[r#"
        asked Say # (complete)
        asked A
        asked B
        asked C
    "#]],
    );
    let state = program
        .replace("# two", "# two  # (complete)")
        .replace("\"A\"  # (complete)", "\"A\"  # (complete)  # <-- EXECUTING");
    check(
        program,
        &state,
        &[("a", "half")],
        expect![[r#"
        asked Say # (complete)
        asked A
        kept  B: (the result was not kept)
        asked C
    "#]],
    );
}

#[test]
fn r104_a_file_proves_nothing_behind_what_was_being_executed() {
    let program =
        "let a = session \"A\"\nlet b = session \"B\"\nparallel:\n  c = session \"C\"\n  d = session \"D\"\n";
    let state = "let a = session \"A\"  # <-- EXECUTING\nlet b = session \"B\"\n";
    check(
        program,
        state,
        &[("a", "half"), ("b", "stale"), ("d", "stale")],
        expect![[r#"
        asked A
        asked B
        asked C
        asked D
    "#]],
    );
    // Branches run beside each other.
    let state = "let a = session \"A\"  # (complete)\nlet b = session \"B\"  # (complete)\nparallel:\n  c = session \"C\"  # <-- EXECUTING\n  d = session \"D\"\n";
    check(
        program,
        state,
        &[("a", "A"), ("b", "B"), ("d", "D")],
        expect![[r#"
        kept  A: A
        kept  B: B
        kept  D: D
        asked C
    "#]],
    );
}

#[test]
fn r104_what_this_machine_writes_goes_on_when_the_journal_is_lost() {
    let program = "let a = session \"A\"\nlet b = session \"\"\"\n  B\n\"\"\"\nrepeat 2:\n  session \"C\"\ntry:\n  throw \"no\"\ncatch:\n  session \"D\"\n";
    let run = Foreign::new(program, "let a = session \"A\"  # <-- EXECUTING\n", &[]);
    run.resume().unwrap();
    fs::remove_file(run.run_folder().join("journal.jsonl")).unwrap();
    for entry in fs::read_dir(run.run_folder().join("bindings")).unwrap().flatten() {
        let text = fs::read_to_string(entry.path()).unwrap();
        fs::write(entry.path(), text.replace(crate::foreign::ASKED, "an answer of before")).unwrap();
    }
    expect![[r#"
        kept  A: an answer of before
        kept  B: an answer of before
        kept  C: an answer of before
        kept  C: an answer of before
        kept  D: an answer of before"#]]
    .assert_eq(&run.resume().unwrap().lines.join("\n"));
}

#[test]
fn r101_files_that_agents_wrote_without_a_head_get_one() {
    let run = Foreign::new(
        "let a = session \"A\"\nlet b = session \"B\"\n",
        "let a = session \"A\"  # (complete)\n",
        &[],
    );
    run.write("bindings/a.md", "Just the value.\n\n# With a title\n");
    run.resume().unwrap();
    expect![[r##"
        # a

        kind: let

        source:
        ```prose
        let a = session "A"
        ```

        ---

        Just the value.

        # With a title
    "##]]
    .assert_eq(&fs::read_to_string(run.run_folder().join("bindings/a.md")).unwrap());
}

#[test]
fn r104_an_imported_program_goes_on_at_its_own_marker() {
    let program = "use \"./inner.prose\" as inner\nlet a = inner(topic: \"tides\")\nlet b = inner(topic: \"winds\")\nsession \"End\"\n";
    let state = "use \"./inner.prose\" as inner\nlet a = inner(topic: \"tides\")  # --> bindings/a.md (complete)\nlet b = inner(topic: \"winds\")  # <-- EXECUTING\nsession \"End\"  # [...next...]\n";
    let run = Foreign::new(program, state, &[("a", "Tides."), ("b", "stale")]);
    let trace = |marks: [&str; 3]| {
        let mut trace = crate::foreign::INNER.to_owned();
        for (line, mark) in ["Read on {topic}\"", "Read more\"", "Sum up\""].iter().zip(marks) {
            trace = trace.replace(line, &format!("{line}  {mark}"));
        }
        format!("# Execution State\n\n## Execution Trace\n\n```prose\n{trace}```\n")
    };
    for (folder, marks) in [
        (
            "inner",
            ["# --> bindings/notes.md", "# --> bindings/more.md", "# --> bindings/result.md (complete)"],
        ),
        ("inner--002", ["# --> bindings/notes.md", "# <-- EXECUTING", ""]),
    ] {
        run.write(&format!("imports/{folder}/program.prose"), crate::foreign::INNER);
        run.write(&format!("imports/{folder}/state.md"), &trace(marks));
        for name in ["notes", "more", "result"] {
            run.write(&format!("imports/{folder}/bindings/{name}.md"), &format!("{name} of {folder}\n"));
        }
    }
    expect![[r#"
        kept  Read on tides: notes of inner
        known false
        kept  Read more: more of inner
        kept  Sum up: result of inner
        kept  Read on winds: notes of inner--002
        known false
        asked Read more
        asked Sum up
        asked End"#]]
    .assert_eq(&run.resume().unwrap().lines.join("\n"));
}
