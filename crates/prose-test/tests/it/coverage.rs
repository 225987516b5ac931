//! Which statements and branches are executed.

use expect_test::{Expect, expect};
use prose_test::{Coverage, FileCoverage, run_variant};

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

#[test]
fn imported_programs_of_the_project_are_counted() {
    let world = World::new(
        r#"
//- /prose.toml
//- /main.prose
use "./parts/check.prose" as check
use "./parts/unused.prose" as unused
let a = check(claim: "one")
let b = check(claim: "two")
output text = session "Tell"
  context: [a, b]
if **a third is needed**:
  session "Never"
    context: unused()
//- /parts/check.prose
use "./deep.prose" as deep
input claim: "What to check"
let found = deep(claim)
if **it is doubtful**:
  session "Doubt it"
output verdict = found
//- /parts/deep.prose
input claim: "What"
output found = session "Look up {claim}"
//- /parts/unused.prose
output x = session "Never"
//- /parts/deep.test.toml
[[case]]
name = "looks it up"
inputs.claim = "x"
unmatched = "offline"
//- /main.test.toml
[[case]]
name = "asks twice"
unmatched = "offline"
[[case.condition]]
label = "it is doubtful"
times = 1
met = true
[[case.condition]]
met = false
"#,
    );
    let summary = world.run();
    let main = world.subject(&summary.files[0].file);
    let shown = |coverage: &Coverage| -> String {
        let line = |file: &FileCoverage| {
            let hits: Vec<String> =
                file.statements.iter().map(|it| format!("{}:{}", it.line, it.hits)).collect();
            let branches: Vec<String> =
                file.branches.iter().map(|it| format!("{} {}", it.name, it.hits)).collect();
            let name = file.path.file_name().unwrap().to_string_lossy().into_owned();
            format!("{name} {} [{}]\n", hits.join(" "), branches.join(", "))
        };
        coverage.files().iter().map(line).collect()
    };
    let coverage = Coverage::of(&summary, std::slice::from_ref(&main));
    expect![[r#"
        main.prose 3:1 4:1 5:1 7:1 8:0 [**a third is needed** 0, no branch 1]
        check.prose 2:2 3:2 4:2 5:1 6:2 [**it is doubtful** 1, no branch 1]
        deep.prose 1:2 2:2 []
        unused.prose 1:0 []
    "#]]
    .assert_eq(&shown(&coverage));

    // A program that is also tested itself is counted once, with both.
    let file = world.file("parts/deep.test.toml");
    let deep = world.subject(&file);
    let mut coverage = coverage;
    for variant in file.variants() {
        coverage.add(&deep, &run_variant(&file, &deep, &variant, &world.options));
    }
    expect![[r#"
        main.prose 3:1 4:1 5:1 7:1 8:0 [**a third is needed** 0, no branch 1]
        check.prose 2:2 3:2 4:2 5:1 6:2 [**it is doubtful** 1, no branch 1]
        deep.prose 1:3 2:3 []
        unused.prose 1:0 []
    "#]]
    .assert_eq(&shown(&coverage));
}
