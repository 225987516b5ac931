//! Where answers come from: entries, recorded runs, harnesses; and in how many variants.

use std::fs;
use std::sync::Arc;

use expect_test::expect;
use prose_harness::offline::Offline;
use prose_test::run_variant;

use crate::support::{World, check, shown};

#[test]
fn a_matrix_runs_all_combinations_and_repeats_each() {
    check(
        r#"
//- /main.prose
input topic: "What about"
input tone: "How"
output text = session "Write about {topic}, {tone}"
//- /main.test.toml
[[case]]
name = "writes"
inputs.tone = "short"
repeat = 3
at-least = 2
[case.matrix]
inputs.topic = ["tides", "winds"]
[[case.session]]
label = "Write about tides, short"
reply = "Tides"
[[case.session]]
label = "Write about winds, short"
reply = "It blows"
[case.expect]
outputs.text = { contains = "Tides" }

[[case]]
name = "later"
inputs = { topic = "tides", tone = "long" }
skip = "not written yet"
"#,
        expect![[r#"
            pass writes [topic=tides] 3 of 3
            FAIL writes [topic=winds] 0 of 3
              15:29: output `text` does not contain "Tides"
                +It blows
            skip (not written yet) later
        "#]],
    );
}

#[test]
fn each_run_starts_with_unused_entries_and_empty_memories() {
    check(
        r#"
//- /main.prose
agent keeper:
  persist: project
let a = session: keeper
  prompt: "Remember one"
let b = resume: keeper
  prompt: "Remember two"
output both = "{a} {b}"
//- /.prose/agents/keeper/memory.md
What it remembers of other runs
//- /main.test.toml
[[case]]
name = "remembers"
repeat = 2
[[case.session]]
reply = ["first", "second"]
[case.expect]
outputs.both = "first second"
[[case.expect.session]]
name = "b"
prompt = { excludes = "other runs" }
"#,
        expect![[r#"
            pass remembers 2 of 2
        "#]],
    );
}

#[test]
fn a_harness_without_a_model_answers() {
    check(
        r#"
//- /main.prose
output text = session "Say hello"
//- /main.test.toml
[[case]]
name = "generated"
harness = "offline"
[case.expect]
outputs.text = { matches = "." }
sessions = 1
"#,
        expect![[r#"
            pass generated
        "#]],
    );
}

/// A program and a test whose answers are recorded with a harness.
const RECORDED: &str = r#"
//- /main.prose
input topic: "What about"
output text = session "Write about {topic}"
//- /main.test.toml
[[case]]
name = "recorded"
inputs.topic = "tides"
recorded = "answers/first.prose-run"
harness = "offline"
[case.expect]
outputs.text = { matches = "." }
sessions = 1
"#;

#[test]
fn answers_are_recorded_and_replayed() {
    let mut world = World::new(RECORDED);
    let missing = shown(&world.run());
    assert!(missing.contains("does not exist; `prose test --update` records it"), "{missing}");
    world.options.updates = true;
    expect![[r#"
        pass recorded
    "#]]
    .assert_eq(&shown(&world.run()));
    world.options.updates = false;
    expect![[r#"
        pass recorded
    "#]]
    .assert_eq(&shown(&world.run()));
    assert_eq!(world.content(), ["answers", "main.prose", "main.test.toml"]);

    let program = "input topic: \"What about\"\noutput text = session \"Write more about {topic}\"\n";
    fs::write(world.path("main.prose"), program).unwrap();
    let changed = shown(&world.run());
    assert!(changed.contains("`first.prose-run` has no answer for the session at line 2"), "{changed}");
    assert!(changed.contains("Write more about tides"), "{changed}");
}

#[test]
fn a_damaged_recording_is_an_error_of_its_case() {
    let world = World::new(RECORDED);
    fs::create_dir(world.path("answers")).unwrap();
    for text in ["", "no run", "{\"prose-run\":99,\"run\":\"x\"}\n"] {
        fs::write(world.path("answers/first.prose-run"), text).unwrap();
        let result = shown(&world.run());
        assert!(result.starts_with("FAIL recorded\n  Error("), "{text}: {result}");
    }
}

#[test]
fn a_model_judges_values() {
    let mut world = World::new(
        r#"
//- /main.prose
output text = session "Say hello"
//- /main.test.toml
[[case]]
name = "polite"
[[case.session]]
reply = "Good day"
[case.expect]
outputs.text = { judge = "it is polite" }
"#,
    );
    let result = shown(&world.run());
    assert!(result.contains("the harness `offline` asks no model; set `run.judge"), "{result}");
    let script = prose_harness::script::Script::parse("judge", "[[condition]]\nmet = true\n", 0).unwrap();
    world.options.judge = Some(Arc::new(script));
    assert_eq!(shown(&world.run()), "pass polite\n");
    let script = "[[condition]]\npattern = \"polite\"\nmet = false\nreason = \"it is curt\"\n";
    let script = prose_harness::script::Script::parse("judge", script, 0).unwrap();
    world.options.judge = Some(Arc::new(script));
    expect![[r#"
        FAIL polite
          6:26: output `text` is not judged to meet "it is polite": it is curt
            +Good day
    "#]]
    .assert_eq(&shown(&world.run()));
    world.options.judge = Some(Arc::new(Offline::new(0)));
    // Whatever the offline harness decides, it decides.
    assert_eq!(world.run().results().count(), 1);
}

#[test]
fn one_case_is_run_for_an_editor() {
    let world = World::new(RECORDED);
    let file = world.file("main.test.toml");
    let subject = world.subject(&file);
    let variant = file.variants().remove(0);
    let result = run_variant(&file, &subject, &variant, &world.options);
    assert!(result.is_failed());
    assert_eq!(&file.text[std::ops::Range::<usize>::from(result.range)], "\"recorded\"");
    assert!(file.text[std::ops::Range::<usize>::from(file.cases[0].range)].starts_with("[[case]]"));
}

#[test]
fn a_stopped_test_is_neither_passed_nor_failed() {
    let mut world = World::new(RECORDED);
    let (sender, stopped) = tokio::sync::watch::channel(true);
    world.options.stopped = stopped;
    let summary = world.run();
    drop(sender);
    assert_eq!((summary.passed(), summary.failed(), summary.stopped()), (0, 0, 1));
}
