//! Actual values in the place of expected ones.

use expect_test::{Expect, expect};
use prose_test::{Updated, updated};

use crate::support::World;

#[track_caller]
fn check(files: &str, expected: Expect) {
    let world = World::new(files);
    let summary = world.run();
    let file = &summary.files[0];
    let Updated { text, kept } = updated(&file.file, &file.results);
    assert_eq!(kept, []);
    expected.assert_eq(text.as_deref().unwrap_or("unchanged\n"));
    if let Some(text) = text {
        std::fs::write(world.path("main.test.toml"), text).unwrap();
        assert_eq!(world.run().failed(), 0);
    }
}

#[test]
fn values_that_differ_are_written() {
    check(
        r#"
//- /main.prose
output text = session "Say hello"
output count = 2
//- /main.test.toml
[[case]]
name = "greets"  # the first one
[[case.session]]
reply = "Hello,\nit's me"
[case.expect]
outputs.text = ""  # a snapshot
outputs.count = { equals = "3", matches = "[0-9]" }
"#,
        expect![[r#"
            [[case]]
            name = "greets"  # the first one
            [[case.session]]
            reply = "Hello,\nit's me"
            [case.expect]
            outputs.text = '''
            Hello,
            it's me'''  # a snapshot
            outputs.count = { equals = "2", matches = "[0-9]" }
        "#]],
    );
}

#[test]
fn values_that_differ_between_runs_stay() {
    let files = r#"
//- /main.prose
input topic: "What about"
output text = session "Write about {topic}"
//- /main.test.toml
[[case]]
name = "writes"
matrix.inputs.topic = ["tides", "winds"]
[[case.session]]
label = "Write about tides"
reply = "Tides"
[[case.session]]
reply = "Winds"
[case.expect]
outputs.text = "Waves"
"#;
    let world = World::new(files);
    let summary = world.run();
    assert_eq!(summary.failed(), 2);
    let Updated { text, kept } = updated(&summary.files[0].file, &summary.files[0].results);
    assert_eq!(text, None);
    let kept: Vec<_> = kept.iter().map(|kept| (kept.line, kept.message.as_str(), kept.reason)).collect();
    let reason = "the value differs between variants, runs or sessions";
    assert_eq!(kept, [(10, "output `text` differs from the expected value", reason)]);
}

/// A program with sessions, a branch and a loop, and answers for it.
const STEPS: &str = r#"
//- /main.prose
let draft = session "Draft"
let review = session "Review"
if draft == "A draft":
  session "Publish"
else:
  session "Discard"
repeat 3:
  session "Check"
throw "no room left"
//- /main.test.toml
[[case]]
name = "steps"
[[case.session]]
label = "Draft"
reply = "A draft"
[[case.session]]
reply = "Done"
"#;

#[test]
fn numbers_and_lists_are_written() {
    check(
        &format!(
            "{STEPS}{}",
            r#"
[case.expect]
status = "failed"
sessions.count = 2  # how many
sessions.names = ["draft", "critic"]
sessions.order = ["review", "draft"]
sessions.never = ["Publish", "Deploy"]
branches.taken = ["else"]
branches.not-taken = ['draft == "A draft"', "catch"]
iterations = 2
errors = ["no room", "no paper"]

[[case.expect.session]]
label = "Check"
count = 1
"#
        ),
        expect![[r#"
            [[case]]
            name = "steps"
            [[case.session]]
            label = "Draft"
            reply = "A draft"
            [[case.session]]
            reply = "Done"

            [case.expect]
            status = "failed"
            sessions.count = 6  # how many
            sessions.names = ["draft", "review", "Publish", "Check", "Check", "Check"]
            sessions.order = ["draft", "review", "Publish", "Check", "Check", "Check"]
            sessions.never = ["Deploy"]
            branches.taken = ['draft == "A draft"']
            branches.not-taken = ["catch"]
            iterations = 3
            errors = ["no room"]

            [[case.expect.session]]
            label = "Check"
            count = 3
        "#]],
    );
}

#[test]
fn what_cannot_be_written_is_named() {
    let world = World::new(&format!(
        "{STEPS}{}",
        r#"
[case.expect]
status = "completed"
value = ""
sessions = { at-most = 2 }
iterations = { at-least = 7 }
errors = [{ equals = "no paper" }]
files = ["a.md"]
"#
    ));
    let summary = world.run();
    let Updated { text, kept } = updated(&summary.files[0].file, &summary.files[0].results);
    let kept: String =
        kept.iter().map(|kept| format!("{}: {}; {}\n", kept.line, kept.message, kept.reason)).collect();
    expect![[r#"
        10: the run failed at line 9: no room left; change it by hand
        12: 6 sessions were asked, expected at most 2 (there: `draft`, `review`, `Publish`, `Check`, `Check`, `Check`); change it by hand
        13: the loop at line 7 had 3 iterations, expected at least 7; change it by hand
        14: the run had 1 error that is not expected (there: `no room left`); change it by hand
        14: the run had no error like this (there: `no room left`); change it by hand
        15: file `a.md` was not written; change it by hand
    "#]].assert_eq(&kept);
    expect![[r#"
        [[case]]
        name = "steps"
        [[case.session]]
        label = "Draft"
        reply = "A draft"
        [[case.session]]
        reply = "Done"

        [case.expect]
        status = "completed"
        value = "null"
        sessions = { at-most = 2 }
        iterations = { at-least = 7 }
        errors = [{ equals = "no paper" }]
        files = ["a.md"]
    "#]]
    .assert_eq(text.as_deref().unwrap_or("unchanged\n"));
}
