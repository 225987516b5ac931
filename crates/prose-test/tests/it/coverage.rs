//! Which statements and branches are executed.

use expect_test::{Expect, expect};
use prose_test::Coverage;

use crate::support::World;

#[track_caller]
fn check(files: &str, expected: Expect) {
    let world = World::new(files);
    let summary = world.run();
    let subject = world.subject(&summary.files[0].file);
    let coverage = Coverage::of(&summary, &[subject]);
    expected.assert_eq(&coverage.lcov(|path| path.file_name().unwrap().to_string_lossy().into_owned()));
    let missing: Vec<String> = coverage.files().iter().map(|file| file.missing_lines()).collect();
    assert_eq!(missing, ["8, 12"]);
}

#[test]
fn statements_and_branches_are_counted_over_all_cases() {
    check(
        r#"
//- /main.prose
agent critic:
  prompt: "You review"

repeat 2:
  session "Look at it"
choice **what to do**:
  option "Ship":
    session "Ship it"
  option "Wait":
    session "Wait for it"
block unused():
  session "Never"
if **it is good**:
  session "Thank"
//- /main.test.toml
[[case]]
name = "waits"
unmatched = "offline"
[[case.choice]]
choose = "Wait"
[[case.condition]]
met = true
[[case]]
name = "waits again"
unmatched = "offline"
[[case.choice]]
choose = "Wait"
[[case.condition]]
met = false
"#,
        expect![[r#"
            TN:
            SF:main.prose
            BRDA:4,0,0,4
            BRDA:6,0,0,0
            BRDA:6,0,1,2
            BRDA:13,0,0,1
            BRDA:13,0,1,1
            BRF:5
            BRH:4
            DA:4,2
            DA:5,4
            DA:6,2
            DA:8,0
            DA:10,2
            DA:12,0
            DA:13,2
            DA:14,1
            LF:8
            LH:6
            end_of_record
        "#]],
    );
}
