//! Results for other programs.

use expect_test::expect;
use prose_test::report::{json, junit};

use crate::support::World;

const FILES: &str = r#"
//- /main.prose
output text = session "Say <hello>"
//- /main.test.toml
[[case]]
name = "passes"
[[case.session]]
reply = "hello"
[[case]]
name = "fails & says so"
[[case.session]]
reply = "</hello>"
[case.expect]
outputs.text = "hello"
[[case]]
name = "has no answer"
[[case]]
name = "is skipped"
skip = "not yet"
"#;

/// A report without times and folders.
fn plain(text: &str, world: &World) -> String {
    let folder = world.path("").to_string_lossy().into_owned();
    let text = text.replace(&folder, "").replace("\r\n", "\n");
    let times = regex::Regex::new("(time=\"|\"seconds\": )[0-9.e-]+").unwrap();
    times.replace_all(&text, "${1}0").into_owned()
}

#[test]
fn junit_has_a_suite_for_each_file() {
    let world = World::new(FILES);
    expect![[r#"
        <?xml version="1.0" encoding="UTF-8"?>
        <testsuites name="prose test" tests="4" skipped="1" failures="2" errors="0" time="0">
            <testsuite name="main.test.toml" tests="4" skipped="1" errors="0" failures="2">
                <testcase name="passes" classname="main.test.toml" time="0"/>
                <testcase name="fails &amp; says so" classname="main.test.toml" time="0">
                    <failure message="10:16: output `text` differs from the expected value">10:16: output `text` differs from the expected value
        expected:
        hello
        actual:
        &lt;/hello&gt;</failure>
                </testcase>
                <testcase name="has no answer" classname="main.test.toml" time="0">
                    <failure message="12:8: the run failed at line 1: main.test.toml has no reply for this session:">12:8: the run failed at line 1: main.test.toml has no reply for this session:
          place: s0/1
          label: Say &lt;hello&gt;
        Add an entry such as this one, or set `unmatched = &quot;offline&quot;` in the case for generated replies:

        [[case.session]]
        label = &quot;Say &lt;hello&gt;&quot;
        reply = &quot;…&quot;
        </failure>
                </testcase>
                <testcase name="is skipped" classname="main.test.toml" time="0">
                    <skipped message="not yet"/>
                </testcase>
            </testsuite>
        </testsuites>
    "#]].assert_eq(&plain(&junit(&world.run()), &world));
}

#[test]
fn json_has_places_and_both_texts() {
    let world = World::new(FILES);
    let json = format!("{:#}\n", json(&world.run(), None));
    expect![[r#"
        {
          "failed": 2,
          "files": [
            {
              "cases": [
                {
                  "column": 8,
                  "line": 2,
                  "name": "passes",
                  "runs": [
                    {
                      "seconds": 0,
                      "status": "passed"
                    }
                  ],
                  "status": "passed"
                },
                {
                  "column": 8,
                  "line": 6,
                  "name": "fails & says so",
                  "runs": [
                    {
                      "mismatches": [
                        {
                          "actual": "</hello>",
                          "column": 16,
                          "endColumn": 23,
                          "endLine": 10,
                          "expected": "hello",
                          "line": 10,
                          "message": "output `text` differs from the expected value"
                        }
                      ],
                      "seconds": 0,
                      "status": "failed"
                    }
                  ],
                  "status": "failed"
                },
                {
                  "column": 8,
                  "line": 12,
                  "name": "has no answer",
                  "runs": [
                    {
                      "mismatches": [
                        {
                          "column": 8,
                          "endColumn": 23,
                          "endLine": 12,
                          "line": 12,
                          "message": "the run failed at line 1: main.test.toml has no reply for this session:\n  place: s0/1\n  label: Say <hello>\nAdd an entry such as this one, or set `unmatched = \"offline\"` in the case for generated replies:\n\n[[case.session]]\nlabel = \"Say <hello>\"\nreply = \"…\"\n"
                        }
                      ],
                      "seconds": 0,
                      "status": "failed"
                    }
                  ],
                  "status": "failed"
                },
                {
                  "column": 8,
                  "line": 14,
                  "name": "is skipped",
                  "runs": [],
                  "skipped": "not yet",
                  "status": "skipped"
                }
              ],
              "path": "main.test.toml",
              "program": "main.prose"
            }
          ],
          "passed": 1,
          "seconds": 0,
          "skipped": 1,
          "stopped": 0
        }
    "#]].assert_eq(&plain(&json, &world));
}
