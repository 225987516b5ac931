//! Actual values in the place of expected ones.

use expect_test::{Expect, expect};
use prose_test::updated;

use crate::support::World;

#[track_caller]
fn check(files: &str, expected: Expect) {
    let world = World::new(files);
    let summary = world.run();
    let file = &summary.files[0];
    let text = updated(&file.file, &file.results);
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
    assert_eq!(updated(&summary.files[0].file, &summary.files[0].results), None);
}
