//! Conditions and choices (R64 to R68).

use expect_test::expect;
use prose_vm::effect::{Choice, Effect, Outcome, Verdict, fingerprint};
use prose_vm::settings::Settings;
use prose_vm::value::Value;

use crate::support::{check, check_result, drive, drive_with, reply};

const OK: &str = "[[session]]\nreply = \"ok\"";

#[test]
fn r064_a_model_judges_with_what_was_found_out() {
    let mut asked = String::new();
    drive(
        r#"
let notes = session "Notes"
let count = 1
for x in ["item"]:
  session "Anonymous"
  if **the {x} is done**:
    session "Then"
"#,
        |request| match &request.effect {
            Effect::Judge(question) => {
                asked.push_str(&format!("{}\n", question.text));
                for item in &question.context {
                    asked.push_str(&format!("  {} = {}\n", item.name, item.text.as_deref().unwrap_or("-")));
                }
                Some(Outcome::Verdict(Verdict { met: true, reason: String::new(), no_progress: false }))
            }
            _ => reply("ok"),
        },
    );
    expect![[r#"
        the item is done
          notes = ok
          count = 1
          anon_001 = ok
          x = item
    "#]]
    .assert_eq(&asked);
}

/// The names that a model is given when it judges `done` at the end of a program, with the lengths of their texts.
fn evidence(program: &str, said: &str) -> Vec<(String, usize)> {
    let mut given = Vec::new();
    drive(&format!("{program}if **done**:\n  session \"Then\"\n"), |request| match &request.effect {
        Effect::Judge(question) => {
            let items = question.context.iter();
            given =
                items.map(|item| (item.name.to_string(), item.text.as_deref().map_or(0, str::len))).collect();
            Some(Outcome::Verdict(Verdict { met: true, reason: String::new(), no_progress: false }))
        }
        _ => reply(said),
    });
    given
}

#[test]
fn r064_a_model_judges_with_everything_but_what_is_too_much_to_read() {
    let program: String = (0..60).map(|number| format!("let part_{number} = session \"Part\"\n")).collect();
    let given = evidence(&program, "ok");
    assert_eq!(given.len(), 60);
    assert_eq!((given[0].0.as_str(), given[59].0.as_str()), ("part_0", "part_59"));
    // Of long ones the newest are given, none of them whole.
    let given = evidence(&program, &"long ".repeat(2000));
    assert_eq!(given.last().unwrap().0, "part_59");
    let total: usize = given.iter().map(|(_, length)| length).sum();
    assert!((30_000..=40_000).contains(&total), "{total}");
    assert!(given.iter().all(|(_, length)| *length < 3000), "{given:?}");
}

#[test]
fn short_values_are_passed_as_text_to_judges_that_read_files() {
    let settings = Settings { context_by_reference: true, ..Settings::new("r") };
    let program =
        "let short = session \"Short\"\nlet long = session \"Long\"\nif **done**:\n  session \"Then\"\n";
    let mut given = String::new();
    let mut prints = Vec::new();
    drive_with(program, settings, |request| match &request.effect {
        Effect::Judge(question) => {
            for item in &question.context {
                let length = item.text.as_ref().map(|text| text.len());
                given.push_str(&format!("{} {:?} {length:?}\n", item.name, item.path));
            }
            // Runs of earlier versions, whose judges got paths only, are resumed.
            let mut before = question.as_ref().clone();
            before.context.iter_mut().for_each(|item| item.text = None);
            prints = vec![fingerprint(&request.effect), fingerprint(&Effect::Judge(before.into()))];
            Some(Outcome::Verdict(Verdict { met: false, reason: String::new(), no_progress: false }))
        }
        Effect::Session(task) if &*task.task == "Long" => reply(&"x".repeat(8 * 1024)),
        _ => reply("short"),
    });
    expect![[r#"
        short Some(".prose/runs/r/bindings/short.md") Some(5)
        long Some(".prose/runs/r/bindings/long.md") None
    "#]]
    .assert_eq(&given);
    assert_eq!(prints[0], prints[1]);
}

#[test]
fn r065_branches_are_tried_in_order_and_the_first_that_holds_is_taken() {
    let program = "if **one**:\n  session \"1\"\nelif **two**:\n  session \"2\"\nelif **three**:\n  session \"3\"\nelse:\n  session \"else\"\n";
    check(
        program,
        "[[condition]]\nlabel = \"two\"\nmet = true\n[[condition]]\nmet = false\n[[session]]\nreply = \"ok\"",
        expect![[r#"
            condition: false
            condition: true
            session: 2
            let anon_001 = ok
            value: ok
        "#]],
    );
    check(
        program,
        "[[condition]]\nmet = false\n[[session]]\nreply = \"ok\"",
        expect![[r#"
        condition: false
        condition: false
        condition: false
        session: else
        let anon_001 = ok
        value: ok
    "#]],
    );
}

#[test]
fn r066_no_model_is_asked_where_the_answer_is_known() {
    // No entry of the script would answer a condition.
    check_result("let d = 0\nif **it is a leaf** or d <= 0:\n  output result = \"known\"", "known");
    check_result(
        "let d = 1\nif **it is a leaf** and d <= 0:\n  output result = \"no\"\nelse:\n  output result = \"known\"",
        "known",
    );
    check_result(
        "let d = 1\nif not (d == 1 or **anything**):\n  output result = \"no\"\nelse:\n  output result = \"known\"",
        "known",
    );
}

#[test]
fn r066_a_model_is_asked_where_it_is_not() {
    check(
        "let d = 1\nif d <= 0 or **it is a leaf**:\n  session \"leaf\"\n",
        "[[condition]]\nmet = true\n[[session]]\nreply = \"ok\"",
        expect![[r#"
            let d = 1
            condition: false
            condition: true
            session: leaf
            let anon_001 = ok
            value: ok
        "#]],
    );
}

#[test]
fn r067_one_option_is_chosen() {
    check(
        "choice **how to go on**:\n  option \"Ship\":\n    session \"Shipping\"\n  option \"Wait\":\n    session \"Waiting\"\n",
        "[[choice]]\nchoose = \"Wait\"\nreason = \"tests\"\n[[session]]\nreply = \"ok\"",
        expect![[r#"
            chosen: Wait
            session: Waiting
            let anon_001 = ok
            value: ok
        "#]],
    );
}

#[test]
fn r067_of_options_with_the_same_label_the_first_counts() {
    check(
        "choice **x**:\n  option \"A\":\n    session \"first\"\n  option \"A\":\n    session \"second\"\n",
        "[[choice]]\nchoose = \"A\"\n[[session]]\nreply = \"ok\"",
        expect![[r#"
            chosen: A
            session: first
            let anon_001 = ok
            value: ok
        "#]],
    );
}

#[test]
fn r067_an_answer_that_is_no_option_is_an_error() {
    check(
        "try:\n  choice **x**:\n    option \"A\":\n      session \"a\"\ncatch as e:\n  session \"{e.kind}\"\n",
        "[[choice]]\nfail = \"neither\"\nkind = \"undecided\"\n[[session]]\nreply = \"ok\"",
        expect![[r#"
            failed: neither
            caught: neither
            session: undecided
            let anon_001 = ok
            value: ok
        "#]],
    );
}

#[test]
fn r068_a_condition_in_an_expression_is_true_or_false() {
    check(
        "let done = **it is done**\nlet report = { success: **the test passed**, text: done ? \"yes\" : \"no\" }\n",
        "[[condition]]\nlabel = \"it is done\"\nmet = true\n[[condition]]\nmet = false",
        expect![[r#"
            condition: true
            let done = true
            condition: false
            let report = {
              "success": false,
              "text": "yes"
            }
            value: {
              "success": false,
              "text": "yes"
            }
        "#]],
    );
}

#[test]
fn d21_options_without_a_choice_are_refused() {
    check(
        "option \"A\":\n  session \"a\"\n",
        OK,
        expect![[r#"
        Failed: an `option` needs a `choice` around it; nothing chooses this one
    "#]],
    );
    check(
        "choice **x**:\n  session \"a\"\n",
        OK,
        expect![[r#"
        Failed: there are no options to choose from: a `choice` needs lines such as `option "label":`
    "#]],
    );
}

#[test]
fn r007_a_model_has_no_say_in_order_sessions_and_agents_but_in_context_and_conditions() {
    // What is asked of the world, and for what.
    let asked = |program: &str| {
        let mut asked = Vec::new();
        drive(program, |request| {
            asked.push(request.effect.kind());
            match &request.effect {
                Effect::Judge(_) => {
                    Some(Outcome::Verdict(Verdict { met: true, reason: String::new(), no_progress: false }))
                }
                Effect::Choose(_) => Some(Outcome::Choice(Choice { index: 0, reason: String::new() })),
                Effect::Summarise(_) => Some(Outcome::Value(Value::text("short"))),
                _ => reply(&"long ".repeat(1000)),
            }
        });
        asked
    };
    let strict = r#"
agent a:
  model: sonnet
  prompt: "You work"
repeat 2:
  session: a
    model: opus
if 1 < 2:
  do b()
block b():
  parallel:
    session "One"
    session "Two"
"#;
    assert_eq!(asked(strict), ["session"; 4]);
    let intelligent = r#"
let notes = session "Notes"
session "Use them"
  context: notes
loop until **it is complete**:
  session "Go on"
choice **what is best**:
  option "This":
    session "This"
"#;
    let expected = ["session", "summarise", "session", "judge", "choose", "session"];
    assert_eq!(asked(intelligent), expected);
}
