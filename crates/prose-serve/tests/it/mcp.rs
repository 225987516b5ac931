//! What the server says about programs.

use expect_test::{Expect, expect};
use rmcp::model::{GetPromptRequestParams, ReadResourceRequestParams, ResourceContents, object};
use serde_json::{Value, json};

use crate::project::Served;

const REVIEW: &str = r#"
input topic: "What to review"

agent reviewer:
  model: sonnet
  prompt: "You review"

let notes = session: reviewer
  prompt: "Review {topic}"

if **the notes are good**:
  session "Praise"

output report = notes
"#;

async fn check(tool: &'static str, arguments: Value, expect: Expect) {
    let served = Served::new(&[
        ("review.prose", REVIEW),
        ("wrong.prose", "let a = session \"One\"\nlet b = sesion \"Two\"\n"),
        ("notes.md", "# Notes\n\n```prose\nsession \"In a document\"\n```\n"),
        (".env", "KEY=secret\n"),
    ])
    .await;
    expect.assert_eq(&served.text(tool, arguments).await);
    served.close().await;
}

#[tokio::test]
async fn mistakes_have_a_place_and_a_fix() {
    check(
        "check",
        json!({ "path": "wrong.prose" }),
        expect![[r#"
        wrong.prose:1:5: hint[W115]: variable `a` is never read
        wrong.prose:2:9: error[E107]: unknown keyword `sesion`; did you mean `session`?
          fix: Change to `session`
        1 error, 0 warnings; a program with errors is not run
    "#]],
    )
    .await;
}

#[tokio::test]
async fn the_text_of_a_program_is_checked_without_a_file() {
    check(
        "check",
        json!({ "text": "session \"One\"\n" }),
        expect![[r#"
        no errors and no warnings
    "#]],
    )
    .await;
}

#[tokio::test]
async fn fixes_are_returned_and_not_written() {
    let served = Served::new(&[("wrong.prose", "sesion \"One\"\n")]).await;
    let result = served.call("check", json!({ "path": "wrong.prose", "fix": true })).await;
    let facts = result.structured_content.unwrap();
    assert_eq!((&facts["text"], &facts["errors"]), (&json!("session \"One\"\n"), &json!(0)));
    assert_eq!(std::fs::read_to_string(served.path().join("wrong.prose")).unwrap(), "sesion \"One\"\n");
    served.close().await;
}

#[tokio::test]
async fn programs_are_described() {
    check(
        "describe",
        json!({ "path": "review.prose" }),
        expect![[r#"
        review.prose

        inputs:
          topic: What to review

        outputs:
          report

        agents:
          line 4: reviewer (sonnet)

        flow:
          line 2: topic = input "What to review"
          line 8: notes = session reviewer "Review {topic}"
          line 11: if **the notes are good**
            line 12: **the notes are good**
              line 12: session "Praise"
          line 14: report = output notes
    "#]],
    )
    .await;
}

#[tokio::test]
async fn a_program_in_a_document_has_a_number() {
    check(
        "describe",
        json!({ "path": "notes.md#1" }),
        expect![[r#"
        notes.md#1

        inputs:
          none

        outputs:
          none

        flow:
          line 1: session "In a document"
    "#]],
    )
    .await;
}

#[tokio::test]
async fn a_run_is_estimated() {
    check(
        "estimate",
        json!({ "path": "review.prose" }),
        expect![[r#"
        1–2 sessions
                         least    expected        most
        sessions             1           2           2
        decisions            1           1           2
    "#]],
    )
    .await;
}

#[tokio::test]
async fn a_dry_run_shows_the_prompts() {
    let served = Served::new(&[("review.prose", REVIEW)]).await;
    let text =
        served.text("dry_run", json!({ "path": "review.prose", "inputs": { "topic": "the tests" } })).await;
    for part in ["Review the tests", "== 1: line 8, agent reviewer", "the notes are good"] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    assert!(!served.path().join(".prose").exists(), "a dry run writes nothing");
    served.close().await;
}

#[tokio::test]
async fn codes_are_explained() {
    let served = Served::new(&[]).await;
    let text = served.text("explain", json!({ "code": "E001" })).await;
    assert!(text.starts_with("E001: ") && text.contains("Wrong:") && text.contains("Right:"), "{text}");
    let unknown = served.text("explain", json!({ "code": "E999" })).await;
    assert_eq!(unknown, "error: `E999` is not the code of a diagnostic");
    served.close().await;
}

#[tokio::test]
async fn only_programs_of_the_project_are_read() {
    let outside = prose_fixture::tempdir().unwrap();
    std::fs::write(outside.path().join("other.prose"), "session \"Secret\"\n").unwrap();
    let served = Served::new(&[(".env", "KEY=secret\n"), ("flows/a.prose", "session \"A\"\n")]).await;
    let absolute = outside.path().join("other.prose");
    #[cfg(unix)]
    std::os::unix::fs::symlink(&absolute, served.path().join("linked.prose")).unwrap();
    let mut paths =
        vec![".env".to_owned(), "../other.prose".to_owned(), absolute.to_string_lossy().into_owned()];
    paths.push(format!("flows/../../{}/other.prose", outside.path().file_name().unwrap().to_string_lossy()));
    if cfg!(unix) {
        paths.push("linked.prose".to_owned());
    }
    for path in paths {
        for tool in ["check", "format", "describe", "estimate", "dry_run", "run"] {
            let result = served.call(tool, json!({ "path": path })).await;
            assert_eq!(result.is_error, Some(true), "{tool} of {path}");
            assert!(!crate::project::text_of(&result).contains("Secret"), "{tool} of {path}");
        }
    }
    let inside = served.text("check", json!({ "path": "flows/a.prose" })).await;
    assert_eq!(inside, "no errors and no warnings\n");
    served.close().await;
}

#[tokio::test]
async fn programs_import_from_the_folder_only() {
    let outside = prose_fixture::tempdir().unwrap();
    std::fs::write(outside.path().join("other.prose"), "output x = session \"Secret\"\n").unwrap();
    let name = outside.path().file_name().unwrap().to_string_lossy().into_owned();
    let of = |path: &str| format!("use {path:?} as other\noutput a = other()\n");
    let served = Served::new(&[
        ("up.prose", &of(&format!("../{name}/other.prose"))),
        ("flows/in.prose", &of("../shared.prose")),
        ("shared.prose", "output x = session \"Shared\"\n"),
        ("missing.prose", &of(&format!("../{name}/othr.prose"))),
        ("linked.prose", &of("./link/other.prose")),
    ])
    .await;
    #[cfg(unix)]
    std::os::unix::fs::symlink(outside.path(), served.path().join("link")).unwrap();
    for path in ["up.prose", "missing.prose", "linked.prose"] {
        for tool in ["check", "describe", "estimate", "dry_run", "run"] {
            let text = served.text(tool, json!({ "path": path })).await;
            assert!(!text.contains("Secret") && !text.contains("did you mean"), "{tool} of {path}: {text}");
        }
    }
    let checked = served.text("check", json!({ "path": "up.prose" })).await;
    assert!(checked.contains("is outside the folder that is served"), "{checked}");
    let inside = served.text("dry_run", json!({ "path": "flows/in.prose" })).await;
    assert!(inside.contains("Shared"), "{inside}");
    served.close().await;
}

#[tokio::test]
async fn results_are_bounded() {
    let long = format!("session \"{}\"\n", "word ".repeat(50_000));
    let served = Served::new(&[("long.prose", &long)]).await;
    let text = served.text("format", json!({ "path": "long.prose" })).await;
    assert!(text.len() < 41_000 && text.contains("bytes; the first 40000 are shown"), "{}", text.len());
    served.close().await;
}

#[tokio::test]
async fn the_reference_and_the_prompts_are_there() {
    let served = Served::new(&[]).await;
    let resources = served.client.list_all_resources().await.unwrap();
    assert_eq!(resources.len(), 10);
    for resource in resources {
        let read =
            served.client.read_resource(ReadResourceRequestParams::new(resource.uri.clone())).await.unwrap();
        let [ResourceContents::TextResourceContents { text, .. }] = read.contents.as_slice() else {
            panic!("{} is one text", resource.uri);
        };
        assert!(text.starts_with("# "), "{}", resource.uri);
    }
    let missing = ReadResourceRequestParams::new("prose://language/../../Cargo");
    served.client.read_resource(missing).await.unwrap_err();
    let prompts: Vec<String> =
        served.client.list_all_prompts().await.unwrap().into_iter().map(|prompt| prompt.name).collect();
    assert_eq!(prompts, ["repair_program", "write_program"]);
    let arguments = object(json!({ "task": "Review my tests" }));
    let prompt = GetPromptRequestParams::new("write_program").with_arguments(arguments);
    let prompt = served.client.get_prompt(prompt).await.unwrap();
    assert!(format!("{:?}", prompt.messages).contains("Review my tests"));
    served.close().await;
}
