//! Inputs, outputs and imported programs (R88 to R95).

use expect_test::{Expect, expect};
use prose_vm::effect::{Effect, Outcome};
use prose_vm::event::EventKind;
use prose_vm::value::Value;

use crate::support::{check, check_result, drive, lines, run, run_with};

const OK: &str = "[[session]]\nreply = \"ok\"";

#[test]
fn r088_inputs_that_are_given_are_bound_before_the_first_statement() {
    let ran = run_with(
        "session \"First\"\ninput topic: \"What about?\"\nsession \"About {topic}\"\n",
        OK,
        |setup| setup.input("topic", "tides"),
    );
    expect![[r#"
        input topic = tides
        session: First
        let anon_001 = ok
        session: About tides
        let anon_002 = ok
        value: ok
    "#]]
    .assert_eq(&ran.story());
}

#[test]
fn r088_a_program_waits_for_what_is_missing_where_it_stands() {
    check(
        "session \"First\"\ninput topic: \"What about?\"\nsession \"About {topic}\"\n",
        "[[input]]\nname = \"topic\"\nvalue = \"tides\"\n[[session]]\nreply = \"ok\"",
        expect![[r#"
            session: First
            let anon_001 = ok
            input topic = tides
            session: About tides
            let anon_002 = ok
            value: ok
        "#]],
    );
}

#[test]
fn r089_without_anybody_to_ask_a_missing_input_is_an_error_unless_it_is_optional() {
    check(
        "input topic: \"What about?\"\n",
        OK,
        expect![[r#"
            failed: a required input is not given; give it with `--input topic=…`: What about?
            Failed: a required input is not given; give it with `--input topic=…`: What about?
        "#]],
    );
    check(
        "input topic: \"optional: a topic\"\nsession \"{topic}\"\n",
        OK,
        expect![[r#"
        input topic = null
        session: null
        let anon_001 = ok
        value: ok
    "#]],
    );
    check(
        "input topic: \"\"\"\n  Optional: a topic\n\"\"\"\nsession \"{topic}\"\n",
        OK,
        expect![[r#"
            input topic = null
            session: null
            let anon_001 = ok
            value: ok
        "#]],
    );
    check(
        "let x = input \"Go on?\"\n",
        OK,
        expect![[r#"
            failed: a required input is not given; give it with `--input x=…`: Go on?
            Failed: a required input is not given; give it with `--input x=…`: Go on?
        "#]],
    );
}

#[test]
fn r089_an_input_without_a_name_can_be_given_by_its_variable_or_its_number() {
    let program = "let style = input \"How?\"\nif input \"Really?\":\n  style = input \"How now?\"\nsession \"{style}\"\n";
    let ran = run_with(program, OK, |setup| {
        setup.input("style", "short");
        setup.input("2", "yes");
    });
    assert_eq!(ran.tasks(), ["short"]);
    let ran = run_with(program, OK, |setup| {
        setup.input("1", "short");
        setup.input("2", "yes");
        setup.input("3", "long");
    });
    assert_eq!(ran.tasks(), ["long"]);
    // What belongs to an input with a name is not taken for another one.
    let program = "input style: \"How?\"\nblock again():\n  let style = input \"How now?\"\n  output style\noutput o = do again()\n";
    let failed = run_with(program, OK, |setup| setup.input("style", "short")).story();
    assert!(failed.contains("give it with `--input 1=…`: How now?"), "{failed}");
}

#[test]
fn r090_an_input_in_a_loop_is_asked_for_each_time_unless_it_was_given() {
    let program = "repeat 2:\n  input mood: \"How are you?\"\n  session \"{mood}\"\n";
    check(
        program,
        "[[input]]\ntimes = 1\nvalue = \"fine\"\n[[input]]\nvalue = \"tired\"\n[[session]]\nreply = \"ok\"",
        expect![[r#"
            iteration 1
            input mood = fine
            session: fine
            let anon_001 = ok
            iteration 2
            input mood = tired
            session: tired
            let anon_002 = ok
            loop ended: Exhausted after 2
            value: ok
        "#]],
    );
    let ran = run_with(program, OK, |setup| setup.input("mood", "given"));
    assert_eq!(ran.tasks(), ["given", "given"]);
}

#[test]
fn r091_outputs_are_collected_by_name_and_an_unnamed_one_ends_the_program() {
    let ran = run("output a = 1\noutput b = 2\noutput a = 3\noutput \"the end\"\nsession \"never\"\n", OK);
    assert_eq!(
        format!("{:?}", (ran.end.outputs, ran.end.value, ran.end.status)),
        r#"([("a", Number(3.0)), ("b", Number(2.0))], Text("the end"), Completed)"#
    );
    // The value of the last statement counts only where nothing else is given (R5).
    assert_eq!(run("output a = 1\nsession \"S\"\nlet last = 5\n", OK).end.value, Value::Null);
    assert_eq!(run("session \"S\"\nlet last = 5\n", OK).end.value, Value::Number(5.0));
}

const RESEARCH: &str = r#"
//- /research.prose
input topic: "What about?"
input depth: "Optional: how deep"
block f():
  let findings = session "Find {topic} {depth}"
  output findings
let r = do f()
output findings = r
output sources = ["a"]
"#;

/// Runs a program, and compares the lines that start with one of these words.
#[track_caller]
fn check_lines(words: &[&str], program: &str, script: &str, expected: Expect) {
    let story = run(program, script).story();
    let lines = story.split_inclusive('\n').filter(|line| words.iter().any(|word| line.starts_with(word)));
    expected.assert_eq(&lines.collect::<String>());
}

#[test]
fn r092_a_call_of_an_imported_program_gives_its_outputs() {
    check(
        &format!(
            r#"
//- /main.prose
use "./research.prose"
let topic = "not seen there"
let result = research(topic: "tides")
session "{{result.findings}} {{result.sources[0]}}"
let {{ findings, sources }} = research("harbours", 2)
{RESEARCH}"#
        ),
        OK,
        expect![[r#"
            let topic = not seen there
            import research in imports/research/
            input topic = tides
            input depth = null
            call f (1, depth 1)
            session: Find tides null
            let findings in 1 = ok
            output (unnamed) = ok
            left 1: Complete
            let r = ok
            output findings = ok
            output findings = ok
            output sources = [
              "a"
            ]
            output sources = [
              "a"
            ]
            let result = {
              "findings": "ok",
              "sources": [
                "a"
              ]
            }
            session: ok a
            let anon_001 = ok
            import research in imports/research--002/
            input topic = harbours
            input depth = 2
            call f (1, depth 1)
            session: Find harbours 2
            let findings in 1 = ok
            output (unnamed) = ok
            left 1: Complete
            let r = ok
            output findings = ok
            output findings = ok
            output sources = [
              "a"
            ]
            output sources = [
              "a"
            ]
            let findings = ok
            let sources = [
              "a"
            ]
            value: {
              "findings": "ok",
              "sources": [
                "a"
              ]
            }
        "#]],
    );
}

#[test]
fn r092_a_missing_output_is_an_error() {
    check_lines(
        &["Failed"],
        &format!(
            "//- /main.prose\nuse \"./research.prose\"\nlet {{ findings, prices }} = research(\"x\")\n{RESEARCH}"
        ),
        OK,
        expect![[r#"
            Failed: the value that is taken apart here has no `prices`: it has `findings`, `sources`
        "#]],
    );
}

#[test]
fn r093_files_of_imported_programs_lie_in_folders_of_their_own() {
    let ran = run(
        &format!(
            r#"
//- /main.prose
use "./research.prose" as find
let a = find("x")
let b = find("y")
{RESEARCH}"#
        ),
        OK,
    );
    expect![[r#"
        imports/research/bindings/topic.md
        imports/research/bindings/depth.md
        imports/research/bindings/findings__1.md
        imports/research/bindings/r.md
        imports/research/bindings/findings.md
        imports/research/bindings/sources.md
        bindings/a.md
        imports/research--002/bindings/topic.md
        imports/research--002/bindings/depth.md
        imports/research--002/bindings/findings__1.md
        imports/research--002/bindings/r.md
        imports/research--002/bindings/findings.md
        imports/research--002/bindings/sources.md
        bindings/b.md"#]]
    .assert_eq(&ran.files().join("\n"));
}

#[test]
fn r094_the_name_of_a_program_is_that_behind_as_or_the_last_part_of_its_path() {
    check_lines(
        &["import", "session", "Failed"],
        &format!(
            "//- /main.prose\nuse \"./research.prose\" as find\nlet a = find(\"x\")\nlet b = research(\"x\")\n{RESEARCH}"
        ),
        OK,
        expect![[r#"
            import find in imports/research/
            session: Find x null
            Failed: there is no program `research` to call; import it with `use "…" as research`
        "#]],
    );
}

#[test]
fn r095_errors_of_imported_programs_are_errors_of_the_call() {
    check(
        r#"
//- /main.prose
use "./broken.prose"
try:
  let a = broken()
catch as e:
  session "{e.kind}: {e.message}"
//- /broken.prose
session "S"
throw "it broke"
"#,
        OK,
        expect![[r#"
            import broken in imports/broken/
            session: S
            let anon_001 = ok
            caught: program `broken` failed at its line 2: it broke
            session: import: program `broken` failed at its line 2: it broke
            let anon_001 = ok
            value: ok
        "#]],
    );
}

#[test]
fn b03_a_description_is_never_the_value() {
    check_result("input url: \"Optional https://example.com\"\noutput result = url\n", "null");
}

#[test]
fn b04_an_imported_program_asks_for_what_is_missing() {
    check_lines(
        &["import", "input", "session"],
        &format!("//- /main.prose\nuse \"./research.prose\"\nlet a = research()\n{RESEARCH}"),
        "[[input]]\nname = \"topic\"\nvalue = \"asked\"\n[[input]]\nabsent = true\n[[session]]\nreply = \"ok\"",
        expect![[r#"
            import research in imports/research/
            input topic = asked
            input depth = null
            session: Find asked null
        "#]],
    );
}

#[test]
fn b11_a_program_that_nothing_imports_cannot_be_called() {
    check(
        "let x = http.get(\"url\")\n",
        OK,
        expect![[r#"
        Failed: there is no program `http.get` to call; what is called has the name of a `use` line
    "#]],
    );
    check(
        "use \"@nobody/nothing\"\nlet x = nothing()\n",
        OK,
        expect![[r#"
        Failed: the program `@nobody/nothing` could not be read, so `nothing` cannot be called
    "#]],
    );
}

#[test]
fn what_a_program_has_no_input_for_is_left_out() {
    check_lines(
        &["warning", "import", "input", "session"],
        &format!(
            "//- /main.prose\nuse \"./research.prose\"\nlet a = research(topic: 1, colour: 2)\n{RESEARCH}"
        ),
        OK,
        expect![[r#"
            warning: program `research` has no input `colour`; it is left out
            import research in imports/research/
            input topic = 1
            input depth = null
            session: Find 1 null
        "#]],
    );
}

#[test]
fn b09_import_from_registers_a_skill_and_runs_nothing() {
    check(
        "import \"web-search\" from \"github:anthropic/skills\"\nsession \"S\"\n  skills: [\"web-search\"]\n",
        OK,
        expect![[r#"
            session: S
            let anon_001 = ok
            value: ok
        "#]],
    );
}

#[test]
fn b12_imports_are_taken_up_before_inputs() {
    let ran = run_with(
        &format!("//- /main.prose\ninput topic: \"What about?\"\nuse \"./research.prose\"\n{RESEARCH}"),
        OK,
        |setup| setup.input("topic", "tides"),
    );
    let order: Vec<_> = ran
        .events
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::Imported { alias, inputs, outputs, .. } => {
                Some(format!("{alias} {inputs:?} {outputs:?}"))
            }
            EventKind::InputsReceived { inputs } => Some(format!("{inputs:?}")),
            _ => None,
        })
        .collect();
    expect![[r#"
        "research [\"topic\", \"depth\"] [\"findings\", \"sources\"]"
        "[(\"topic\", Text(\"tides\"))]"
    "#]]
    .assert_eq(&lines(&order));
}

#[test]
fn r089_prompts_of_strings_are_shown_as_they_are_and_those_of_conditions_may_be_put_otherwise() {
    let mut asked = Vec::new();
    drive(
        "let who = \"Ann\"\ninput a: \"How is {who}?\"\ninput b: **how {who} feels**\nlet c = input \"Go on?\"\n",
        |request| match &request.effect {
            Effect::Input(input) => {
                asked.push((input.prompt.to_string(), input.may_rephrase));
                Some(Outcome::Value(Value::text("fine")))
            }
            _ => None,
        },
    );
    let expected = [("How is Ann?", false), ("how Ann feels", true), ("Go on?", false)];
    assert_eq!(asked, expected.map(|(prompt, may_rephrase)| (prompt.to_owned(), may_rephrase)));
}

#[test]
fn r094_the_contract_of_a_program_is_its_inputs_and_outputs() {
    let ran = run(&format!("//- /main.prose\nuse \"./research.prose\"\n{RESEARCH}"), OK);
    let told = ran.events.iter().find_map(|event| match &event.kind {
        EventKind::Imported { alias, inputs, outputs, .. } => {
            Some(format!("{alias}: {inputs:?} -> {outputs:?}"))
        }
        _ => None,
    });
    assert_eq!(told.as_deref(), Some("research: [\"topic\", \"depth\"] -> [\"findings\", \"sources\"]"));
}
