//! The formats on diagnostics that are made by hand, so that they show what a format does with every kind of diagnostic
//! and not what the parser does with some program.

use std::path::{Path, PathBuf};

use expect_test::{Expect, expect};
use prose_syntax::{Code, Diagnostic, Fix, FixSafety, Related, TextEdit, TextRange, TextSize};

use super::repository::Repository;
use super::{checkstyle, concise, full, github, gitlab, json, junit, sarif, statistics};
use crate::finding::{CheckedFile, Counts, Finding};
use crate::sources::{OtherTexts, Sources};
use prose_project::{Diagnosed, Failure};

fn no_repository() -> Repository {
    Repository::around("nowhere".into())
}

/// A diagnostic on the first occurrence of `marked`.
fn diagnostic(text: &str, marked: &str, message: &str) -> Diagnostic {
    Diagnostic::new(Code::E001, range_of(text, marked), message)
}

fn range_of(text: &str, marked: &str) -> TextRange {
    let start = u32::try_from(text.find(marked).unwrap()).unwrap();
    TextRange::at(start.into(), TextSize::of(marked))
}

fn fixed(mut diagnostic: Diagnostic, title: &str, edits: Vec<TextEdit>) -> Diagnostic {
    diagnostic.fix = Some(Fix { title: title.to_owned(), safety: FixSafety::Safe, edits });
    diagnostic
}

fn checked(path: &str, text: &str, diagnostics: &[Diagnostic]) -> CheckedFile {
    checked_with(path, text, diagnostics, |path| panic!("nothing refers to {path}"))
}

fn checked_with(
    path: &str,
    text: &str,
    diagnostics: &[Diagnostic],
    text_of: impl Fn(&str) -> String,
) -> CheckedFile {
    let diagnosed: Vec<Diagnosed> = diagnostics
        .iter()
        .map(|diagnostic| Diagnosed { diagnostic: diagnostic.clone(), severity: diagnostic.severity() })
        .collect();
    let others = OtherTexts::of(&diagnosed, text_of);
    let sources = Sources::new(path, text, &others);
    CheckedFile {
        path: PathBuf::from(path),
        counts: Counts::of(&diagnosed),
        fixed: 0,
        findings: diagnosed.iter().map(|diagnosed| Finding::new(diagnosed, &sources)).collect(),
        drawn: full::render(&diagnosed, &sources, &full::renderer(false, None)),
    }
}

/// Two findings, one of them with a fix, in a text with characters of several bytes.
fn example() -> [CheckedFile; 1] {
    let text = "# Grüße\nsession \"Hallo, Welt\nsession \"50%\\q\"\n";
    let unclosed = diagnostic(text, "\"Hallo, Welt", "This string is not closed: add `\"` at its end");
    let end = unclosed.range.end();
    let unclosed = fixed(unclosed, "Insert `\"`", vec![TextEdit::insert(end, "\"")]);
    let escape = diagnostic(text, "\\q", "There is no escape `\\q`, 100%: not,\nsurely");
    [checked("flows/grüße.prose", text, &[unclosed, escape])]
}

#[track_caller]
fn check(write: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>, expected: Expect) {
    let mut out = anstream::StripStream::new(Vec::new());
    write(&mut out).unwrap();
    expected.assert_eq(&String::from_utf8(out.into_inner()).unwrap());
}

#[track_caller]
fn check_full(text: &str, diagnostic: Diagnostic, expected: Expect) {
    expected.assert_eq(&checked("a.prose", text, &[diagnostic]).drawn);
}

#[test]
fn concise_is_one_line_for_each_finding() {
    check(
        |out| concise::write(&example(), out),
        expect![[r#"
        flows/grüße.prose:2:9: error[E001]: This string is not closed: add `"` at its end
        flows/grüße.prose:3:13: error[E001]: There is no escape `\q`, 100%: not,\nsurely
    "#]],
    );
}

#[test]
fn json_has_lines_columns_and_offsets() {
    check(
        |out| json::write(&example(), &no_repository(), out),
        expect![[r#"
            [
              {
                "path": "flows/grüße.prose",
                "code": "E001",
                "severity": "error",
                "title": "unterminated literal",
                "message": "This string is not closed: add `\"` at its end",
                "range": {
                  "start": {
                    "line": 2,
                    "column": 9,
                    "offset": 18
                  },
                  "end": {
                    "line": 2,
                    "column": 21,
                    "offset": 30
                  }
                },
                "fix": {
                  "title": "Insert `\"`",
                  "safe": true,
                  "edits": [
                    {
                      "range": {
                        "start": {
                          "line": 2,
                          "column": 21,
                          "offset": 30
                        },
                        "end": {
                          "line": 2,
                          "column": 21,
                          "offset": 30
                        }
                      },
                      "text": "\""
                    }
                  ]
                },
                "related": [],
                "tags": []
              },
              {
                "path": "flows/grüße.prose",
                "code": "E001",
                "severity": "error",
                "title": "unterminated literal",
                "message": "There is no escape `\\q`, 100%: not,\nsurely",
                "range": {
                  "start": {
                    "line": 3,
                    "column": 13,
                    "offset": 43
                  },
                  "end": {
                    "line": 3,
                    "column": 15,
                    "offset": 45
                  }
                },
                "fix": null,
                "related": [],
                "tags": []
              }
            ]
        "#]],
    );
}

#[test]
fn json_of_nothing_is_an_empty_array() {
    check(
        |out| json::write(&[], &no_repository(), out),
        expect![[r#"
        []
    "#]],
    );
}

#[test]
fn github_escapes_what_would_end_a_command() {
    let failure = Failure { path: PathBuf::from("b,c.prose"), reason: "does not exist".to_owned() };
    check(
        |out| github::write(&example(), &[failure], &no_repository(), out),
        expect![[r#"
        ::error file=flows/grüße.prose,line=2,endLine=2,col=9,endColumn=21,title=E001%3A unterminated literal::This string is not closed: add `"` at its end
        ::error file=flows/grüße.prose,line=3,endLine=3,col=13,endColumn=15,title=E001%3A unterminated literal::There is no escape `\q`, 100%25: not,%0Asurely
        ::error file=b%2Cc.prose,title=not checked::This file does not exist
    "#]],
    );
}

#[test]
fn github_gives_no_columns_for_several_lines() {
    let text = "a\nb\n";
    let file = checked("a.prose", text, &[diagnostic(text, "a\nb", "Two lines")]);
    check(
        |out| github::write(&[file], &[], &no_repository(), out),
        expect![[r#"
        ::error file=a.prose,line=1,endLine=2,title=E001%3A unterminated literal::Two lines
    "#]],
    );
}

/// The findings of the example and a file that could not be read.
fn with_failure() -> ([CheckedFile; 1], [Failure; 1]) {
    (example(), [Failure { path: "gone<1>.prose".into(), reason: "does not exist".to_owned() }])
}

#[test]
fn gitlab_has_paths_of_the_repository_and_distinct_fingerprints() {
    let (files, failures) = with_failure();
    check(
        |out| gitlab::write(&files, &failures, &no_repository(), out),
        expect![[r#"
        [
          {
            "description": "E001: This string is not closed: add `\"` at its end",
            "check_name": "E001",
            "fingerprint": "c73fd3f06a61bec3f05e95d862016f53",
            "severity": "major",
            "location": {
              "path": "flows/grüße.prose",
              "positions": {
                "begin": {
                  "line": 2,
                  "column": 9
                },
                "end": {
                  "line": 2,
                  "column": 21
                }
              }
            }
          },
          {
            "description": "E001: There is no escape `\\q`, 100%: not,\nsurely",
            "check_name": "E001",
            "fingerprint": "774d96ed8d0e13016e966db46f6dbde3",
            "severity": "major",
            "location": {
              "path": "flows/grüße.prose",
              "positions": {
                "begin": {
                  "line": 3,
                  "column": 13
                },
                "end": {
                  "line": 3,
                  "column": 15
                }
              }
            }
          },
          {
            "description": "This file does not exist",
            "check_name": "not-checked",
            "fingerprint": "2324c5db21929bf6a4989b6a2166657d",
            "severity": "blocker",
            "location": {
              "path": "gone<1>.prose",
              "positions": {
                "begin": {
                  "line": 1,
                  "column": 1
                },
                "end": {
                  "line": 1,
                  "column": 1
                }
              }
            }
          }
        ]
    "#]],
    );
    let [file] = example();
    let twice = [file, example().into_iter().next().unwrap()];
    let mut out = Vec::new();
    gitlab::write(&twice, &[], &no_repository(), &mut out).unwrap();
    let issues: Vec<serde_json::Value> = serde_json::from_slice(&out).unwrap();
    let fingerprints: std::collections::BTreeSet<&str> =
        issues.iter().map(|issue| issue["fingerprint"].as_str().unwrap()).collect();
    assert_eq!((issues.len(), fingerprints.len()), (4, 4));
}

#[test]
fn junit_has_a_suite_for_each_file() {
    let (files, failures) = with_failure();
    check(
        |out| junit::write(&files, &failures, &no_repository(), out),
        expect![[r#"
        <?xml version="1.0" encoding="UTF-8"?>
        <testsuites name="prose check" tests="3" skipped="0" failures="2" errors="1">
            <testsuite name="flows/grüße.prose" tests="2" skipped="0" errors="0" failures="2">
                <testcase name="E001 at line 2" classname="flows/grüße.prose">
                    <failure message="This string is not closed: add `&quot;` at its end" type="error">flows/grüße.prose:2:9: This string is not closed: add `&quot;` at its end</failure>
                </testcase>
                <testcase name="E001 at line 3" classname="flows/grüße.prose">
                    <failure message="There is no escape `\q`, 100%: not,
        surely" type="error">flows/grüße.prose:3:13: There is no escape `\q`, 100%: not,
        surely</failure>
                </testcase>
            </testsuite>
            <testsuite name="gone&lt;1&gt;.prose" tests="1" skipped="0" errors="1" failures="0">
                <testcase name="not checked" classname="gone&lt;1&gt;.prose">
                    <error message="This file does not exist"/>
                </testcase>
            </testsuite>
        </testsuites>
    "#]],
    );
}

#[test]
fn checkstyle_escapes_what_xml_reserves() {
    let (files, failures) = with_failure();
    check(
        |out| checkstyle::write(&files, &failures, &no_repository(), out),
        expect![[r#"
        <?xml version="1.0" encoding="UTF-8"?>
        <checkstyle version="4.3">
          <file name="flows/grüße.prose">
            <error line="2" column="9" severity="error" message="This string is not closed: add `&quot;` at its end" source="prose.E001"/>
            <error line="3" column="13" severity="error" message="There is no escape `\q`, 100%: not,&#10;surely" source="prose.E001"/>
          </file>
          <file name="gone&lt;1&gt;.prose">
            <error severity="error" message="This file does not exist" source="prose.not-checked"/>
          </file>
        </checkstyle>
    "#]],
    );
}

#[test]
fn statistics_count_codes() {
    check(
        |out| statistics::write(&example(), false, out),
        expect![[r#"
        2  error[E001]  unterminated literal (1 with a fix)
    "#]],
    );
    check(
        |out| statistics::write(&example(), true, out),
        expect![[r#"
        [
          {
            "code": "E001",
            "severity": "error",
            "title": "unterminated literal",
            "count": 2,
            "fixable": 1
          }
        ]
    "#]],
    );
    check(|out| statistics::write(&[], false, out), expect![[r#""#]]);
}

#[test]
fn sarif_has_what_the_standard_requires() {
    let failure = Failure { path: PathBuf::from("gone.prose"), reason: "does not exist".to_owned() };
    let mut out = Vec::new();
    sarif::write(&example(), &[failure], &no_repository(), &mut out).unwrap();
    let log: serde_json::Value = serde_json::from_slice(&out).unwrap();

    assert_eq!(log["version"], "2.1.0");
    assert!(log["$schema"].as_str().unwrap().ends_with("sarif-schema-2.1.0.json"));
    let run = &log["runs"][0];
    let driver = &run["tool"]["driver"];
    assert_eq!(driver["name"], "prose");
    assert_eq!(driver["rules"].as_array().unwrap().len(), Code::ALL.len());
    for (rule, code) in driver["rules"].as_array().unwrap().iter().zip(Code::ALL) {
        assert_eq!(rule["id"], code.as_str());
        assert_eq!(rule["shortDescription"]["text"], code.info().title);
        let level = rule["defaultConfiguration"]["level"].as_str().unwrap();
        assert!(["error", "warning", "note", "none"].contains(&level), "{level}");
    }
    assert_eq!(run["invocations"][0]["executionSuccessful"], false);
    for result in run["results"].as_array().unwrap() {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(driver["rules"][index]["id"], result["ruleId"]);
        assert!(!result["message"]["text"].as_str().unwrap().is_empty());
    }
    let mut rest = log["runs"][0].clone();
    rest.as_object_mut().unwrap().remove("tool");
    expect![[r#"
        {
          "columnKind": "unicodeCodePoints",
          "invocations": [
            {
              "executionSuccessful": false,
              "toolExecutionNotifications": [
                {
                  "level": "error",
                  "locations": [
                    {
                      "physicalLocation": {
                        "artifactLocation": {
                          "uri": "gone.prose",
                          "uriBaseId": "SRCROOT"
                        }
                      }
                    }
                  ],
                  "message": {
                    "text": "does not exist"
                  }
                }
              ]
            }
          ],
          "originalUriBaseIds": {
            "SRCROOT": {
              "uri": "nowhere/"
            }
          },
          "results": [
            {
              "fixes": [
                {
                  "artifactChanges": [
                    {
                      "artifactLocation": {
                        "uri": "flows/gr%C3%BC%C3%9Fe.prose",
                        "uriBaseId": "SRCROOT"
                      },
                      "replacements": [
                        {
                          "deletedRegion": {
                            "endColumn": 21,
                            "endLine": 2,
                            "startColumn": 21,
                            "startLine": 2
                          },
                          "insertedContent": {
                            "text": "\""
                          }
                        }
                      ]
                    }
                  ],
                  "description": {
                    "text": "Insert `\"`"
                  }
                }
              ],
              "level": "error",
              "locations": [
                {
                  "physicalLocation": {
                    "artifactLocation": {
                      "uri": "flows/gr%C3%BC%C3%9Fe.prose",
                      "uriBaseId": "SRCROOT"
                    },
                    "region": {
                      "endColumn": 21,
                      "endLine": 2,
                      "startColumn": 9,
                      "startLine": 2
                    }
                  }
                }
              ],
              "message": {
                "text": "This string is not closed: add `\"` at its end"
              },
              "ruleId": "E001",
              "ruleIndex": 0
            },
            {
              "level": "error",
              "locations": [
                {
                  "physicalLocation": {
                    "artifactLocation": {
                      "uri": "flows/gr%C3%BC%C3%9Fe.prose",
                      "uriBaseId": "SRCROOT"
                    },
                    "region": {
                      "endColumn": 15,
                      "endLine": 3,
                      "startColumn": 13,
                      "startLine": 3
                    }
                  }
                }
              ],
              "message": {
                "text": "There is no escape `\\q`, 100%: not,\nsurely"
              },
              "ruleId": "E001",
              "ruleIndex": 0
            }
          ]
        }
    "#]]
    .assert_eq(&format!("{rest:#}\n"));
}

#[test]
fn full_shows_the_line_and_the_fix() {
    expect![[r#"
        error[E001]: This string is not closed: add `"` at its end
         --> flows/grüße.prose:2:9
          |
        2 | session "Hallo, Welt
          |         ^^^^^^^^^^^^
          |
        help: Insert `"`
          |
        2 | session "Hallo, Welt"
          |                     +

        error[E001]: There is no escape `\q`, 100%: not,\nsurely
         --> flows/grüße.prose:3:13
          |
        3 | session "50%\q"
          |             ^^

    "#]]
    .assert_eq(&example()[0].drawn);
}

#[test]
fn full_marks_where_something_is_missing() {
    let text = "if **ready**\n  session \"go\"\n";
    let end = range_of(text, "\n").start();
    let missing = Diagnostic::new(Code::E001, TextRange::empty(end), "Expected `:`");
    check_full(
        text,
        fixed(missing, "Insert `:`", vec![TextEdit::insert(end, ":")]),
        expect![[r#"
            error[E001]: Expected `:`
             --> a.prose:1:13
              |
            1 | if **ready**
              |             ^
              |
            help: Insert `:`
              |
            1 | if **ready**:
              |             +

        "#]],
    );
}

#[test]
fn full_points_at_the_end_of_a_file_without_a_last_line_break() {
    let text = "session \"a\"\nif **ready**";
    let end = TextSize::of(text);
    let missing = Diagnostic::new(Code::E001, TextRange::empty(end), "Expected `:`");
    check_full(
        text,
        missing,
        expect![[r#"
            error[E001]: Expected `:`
             --> a.prose:2:13
              |
            2 | if **ready**
              |             ^

        "#]],
    );
}

#[test]
fn full_shows_carriage_returns_tabs_and_control_characters_harmlessly() {
    let text = "\u{feff}session\t\"\u{1b}[31m→\\q\"\r\nsession \"b\"\r\n";
    check_full(
        text,
        diagnostic(text, "\\q", "There is no escape `\\q` \u{1b}[31m"),
        expect![[r#"
            error[E001]: There is no escape `\q` \u{1b}[31m
             --> a.prose:1:16
              |
            1 | session    "␛[31m→\q"
              |                   ^^

        "#]],
    );
}

#[test]
fn full_shows_a_range_of_several_lines() {
    let text = "let x = \"\"\"\n  one\n  two\n  three\n  four\n";
    check_full(
        text,
        diagnostic(text, &text[8..], "This text is not closed"),
        expect![[r#"
            error[E001]: This text is not closed
             --> a.prose:1:9
              |
            1 |   let x = """
              |  _________^
            2 | |   one
            3 | |   two
            4 | |   three
            5 | |   four
              | |_______^

        "#]],
    );
}

#[test]
fn full_shows_a_fix_that_replaces_removes_and_adds_lines() {
    let text = "try:\n  fixed_loop 3 times:\n    session \"a\"\n";
    let edits = vec![
        TextEdit::replace(range_of(text, "fixed_loop"), "repeat"),
        TextEdit::delete(range_of(text, " times")),
        TextEdit::insert(TextSize::of(text), "finally:\n  session \"b\"\n"),
    ];
    let finding = diagnostic(text, "fixed_loop 3 times", "There is no `fixed_loop`");
    check_full(
        text,
        fixed(finding, "Write `repeat 3`", edits),
        expect![[r#"
            error[E001]: There is no `fixed_loop`
             --> a.prose:2:3
              |
            2 |   fixed_loop 3 times:
              |   ^^^^^^^^^^^^^^^^^^
              |
            help: Write `repeat 3`
              |
            2 ~   repeat 3:
            3 |     session "a"
            4 + finally:
            5 +   session "b"
              |

        "#]],
    );
}

#[test]
fn full_shows_a_cutting_of_a_very_long_line() {
    let text = format!("session \"x\"\nsession \"{}\\q{}\"\n", "é ".repeat(100_000), "b ".repeat(100_000));
    let finding = diagnostic(&text, "\\q", "There is no escape `\\q`");
    let edit = TextEdit::replace(range_of(&text, "\\q"), "q");
    check_full(
        &text,
        fixed(finding, "Write `q`", vec![edit]),
        expect![[r#"
        error[E001]: There is no escape `\q`
         --> a.prose:2:200010
          |
         ::: 
        2 | é é é é é é é é é é é é é é é é é é é é é é é é é é é é é é é é é é é é é é é é \qb b b b b b b b b b b b b b b b b b b b b b b b b b...
          |                                                                                 ^^
          |
        help: Write `q`

    "#]],
    );
}

#[test]
fn a_file_name_cannot_break_a_line() {
    let text = "x";
    let file = checked("a\nb.prose", text, &[diagnostic(text, "x", "Wrong")]);
    assert_eq!(file.path, Path::new("a\nb.prose"));
    check(
        |out| concise::write(&[file], out),
        expect![[r#"
        a\nb.prose:1:1: error[E001]: Wrong
    "#]],
    );
}

/// A variable that two lines above, and in another file, is something else; it could go.
fn with_related() -> [CheckedFile; 1] {
    let text = "agent a:\n  prompt: \"A\"\n\nsession: a\nagent a:\n  prompt: \"B\"\n";
    let range = TextRange::at(TextSize::of("agent a:\n  prompt: \"A\"\n\nsession: a\nagent "), 1.into());
    let mut twice = Diagnostic::new(Code::W116, range, "There are two agents `a`")
        .with_related(range_of(text, "a:"), "the first one");
    twice.related.push(Related {
        path: Some("lib/b.prose".into()),
        range: range_of("# Imported.\nagent a:\n", "agent a"),
        message: "and one that is\nimported".to_owned(),
    });
    let text_of = |path: &str| match path {
        "lib/b.prose" => "# Imported.\nagent a:\n".to_owned(),
        _ => String::new(),
    };
    [checked_with("a.prose", text, &[twice], text_of)]
}

#[test]
fn full_shows_related_places_near_far_and_in_other_files() {
    expect![[r#"
        hint[W116]: There are two agents `a`
         --> a.prose:5:7
          |
        1 | agent a:
          |       -- the first one
        ...
        5 | agent a:
          |       ^
          |
         ::: lib/b.prose:2:1
          |
        2 | agent a:
          | ------- and one that is\nimported

    "#]]
    .assert_eq(&with_related()[0].drawn);
    let text = format!("let x = 1\n{}let x = 2\n", "session \"Go\"\n".repeat(1000));
    let second = TextRange::at(TextSize::of(&text) - TextSize::of("x = 2\n"), 1.into());
    let twice = Diagnostic::new(Code::E001, second, "`x` twice")
        .with_related(TextRange::at(4.into(), 1.into()), "the first one");
    check_full(
        &text,
        twice,
        expect![[r#"
            error[E001]: `x` twice
                --> a.prose:1002:5
                 |
            1002 | let x = 2
                 |     ^
                 |
                ::: a.prose:1:5
                 |
               1 | let x = 1
                 |     - the first one

        "#]],
    );
}

#[test]
fn full_shows_a_related_place_in_a_file_that_has_gone() {
    let text = "use \"b\"\n";
    let mut broken = diagnostic(text, "\"b\"", "`b` has an error");
    let range = TextRange::new(90.into(), 99.into());
    broken.related.push(Related { path: Some("b.prose".into()), range, message: "here".to_owned() });
    expect![[r#"
        error[E001]: `b` has an error
         --> a.prose:1:5
          |
        1 | use "b"
          |     ^^^
          |
         ::: b.prose:1:1
          |
        1 |
          | - here

    "#]]
    .assert_eq(&checked_with("a.prose", text, &[broken], |_| String::new()).drawn);
}

#[test]
fn json_has_related_places_and_tags() {
    let mut out = Vec::new();
    json::write(&with_related(), &no_repository(), &mut out).unwrap();
    let findings: serde_json::Value = serde_json::from_slice(&out).unwrap();
    let finding = &findings[0];
    expect![[r#"["unnecessary"] [{"message":"the first one","path":"a.prose","range":{"end":{"column":9,"line":1,"offset":8},"start":{"column":7,"line":1,"offset":6}}},{"message":"and one that is\nimported","path":"lib/b.prose","range":{"end":{"column":8,"line":2,"offset":19},"start":{"column":1,"line":2,"offset":12}}}]"#]].assert_eq(&format!("{} {}", finding["tags"], finding["related"]));
    for file in example() {
        assert!(file.findings.iter().all(|finding| finding.related.is_empty() && finding.tags.is_empty()));
    }
}

#[test]
fn sarif_has_related_locations() {
    let mut out = Vec::new();
    sarif::write(&with_related(), &[], &no_repository(), &mut out).unwrap();
    let log: serde_json::Value = serde_json::from_slice(&out).unwrap();
    expect![[r#"[{"message":{"text":"the first one"},"physicalLocation":{"artifactLocation":{"uri":"a.prose","uriBaseId":"SRCROOT"},"region":{"endColumn":9,"endLine":1,"startColumn":7,"startLine":1}}},{"message":{"text":"and one that is\nimported"},"physicalLocation":{"artifactLocation":{"uri":"lib/b.prose","uriBaseId":"SRCROOT"},"region":{"endColumn":8,"endLine":2,"startColumn":1,"startLine":2}}}]"#]].assert_eq(&log["runs"][0]["results"][0]["relatedLocations"].to_string());
}

#[test]
fn full_shows_no_more_of_a_file_than_somebody_reads() {
    let text = "x".repeat(1001);
    let diagnostics = |count: u32| -> Vec<Diagnostic> {
        let on = |at: u32| Diagnostic::new(Code::E001, TextRange::at(at.into(), 1.into()), "Wrong");
        (0..count).map(on).collect()
    };
    let shown = |count| checked("a.prose", &text, &diagnostics(count)).drawn;
    assert_eq!(shown(1000).matches("error[E001]").count(), 1000);
    assert!(!shown(1000).contains("more"));
    assert_eq!(shown(1001).matches("error[E001]").count(), 1000);
    assert!(shown(1001).contains("… and 1 more in a.prose"));
    assert_eq!(checked("a.prose", &text, &diagnostics(1001)).counts.errors, 1001);
}

#[test]
fn full_breaks_lines_at_carriage_returns() {
    let text = "let x = \"\"\"\r  one\r\r\n  two\r";
    check_full(
        text,
        diagnostic(text, &text[8..], "This text is not closed"),
        expect![[r#"
        error[E001]: This text is not closed
         --> a.prose:1:9
          |
        1 |   let x = """
          |  _________^
        2 | |   one
        3 | |
        4 | |   two
          | |______^

    "#]],
    );
    let text = "session \"a\"\rsession \"\\q\"\rsession \"c\"";
    check_full(
        text,
        diagnostic(text, "\\q", "There is no escape `\\q`"),
        expect![[r#"
        error[E001]: There is no escape `\q`
         --> a.prose:2:10
          |
        2 | session "\q"
          |          ^^

    "#]],
    );
}
