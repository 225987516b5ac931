//! `prose runs report`: what the file holds. `editors/vscode/test/report.test.mjs` opens it in a browser.

use expect_test::expect;
use serde_json::Value;

use super::replay::last;
use crate::common::{Run, Workspace};

/// A program that fails, tries again, and passes values on.
const PROGRAM: &str = "\
input topic: \"What about?\"
agent writer:
  prompt: \"You write\"
let draft = session: writer
  prompt: \"Write about {topic}\"
let notes = session \"Check it\"
  context: draft
  retry: 1
output text = notes
";

const ANSWERS: &str = "\
[[session]]
label = \"Check it\"
fail = \"no answer\"
kind = \"timeout\"
times = 1
[[session]]
reply = \"Of Ada: </script><script>alert(1)</script>\"
";

fn workspace(settings: &str) -> Workspace {
    let files = [("main.prose", PROGRAM), ("answers.toml", ANSWERS), ("prose.toml", settings)];
    let workspace = Workspace::new(&files);
    let run = ["run", "main.prose", "--script", "answers.toml", "-q", "--input", "topic=tides"];
    workspace.prose(&run).ended(0);
    workspace
}

/// The data in the element with an id.
fn data(page: &str, id: &str) -> Value {
    let start = format!("<script type=\"application/json\" id=\"{id}\">");
    let (_, rest) = page.split_once(&start).unwrap_or_else(|| panic!("no {id}"));
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

#[test]
fn a_report_has_the_run_and_its_sessions() {
    let workspace = workspace("");
    let id = last(&workspace);
    let run = workspace.prose(&["runs", "report"]).ended(0);
    assert_eq!(
        run.stderr,
        format!(
            "Wrote the report on run {id} to `{id}.html`: 2 sessions, nothing redacted. It contains the prompts and replies of the run.\n"
        )
    );
    let page = workspace.read(&format!("{id}.html"));
    // The data, two parts of it, the script, and nothing of a reply.
    assert_eq!(page.matches("<script").count(), 3);
    let report = data(&page, "report");
    let run = &report["runs"][0];
    assert_eq!(run["run"], id.as_str());
    assert_eq!(run["text"], PROGRAM);
    assert_eq!(run["view"]["whole"], true);
    assert_eq!(run["view"]["inputs"], serde_json::json!([["topic", "tides"]]));
    assert_eq!(run["graph"]["nodes"][1]["label"], "writer");
    let names: Vec<&str> =
        run["values"].as_array().unwrap().iter().filter_map(|value| value["name"].as_str()).collect();
    expect![[r#"["topic", "draft", "notes", "text"]"#]].assert_eq(&format!("{names:?}"));
    let sessions = data(&page, "part-0-0");
    let shown: Vec<String> = sessions
        .as_array()
        .unwrap()
        .iter()
        .map(|session| {
            let text = |key: &str| {
                session[key].as_str().unwrap_or("-").lines().next().unwrap_or_default().to_owned()
            };
            format!(
                "{} {}: {} | {} | {}",
                session["request"],
                text("status"),
                text("prompt"),
                text("reply"),
                text("error")
            )
        })
        .collect();
    expect![[r#"
            1 complete: Write about tides | Of Ada: </script><script>alert(1)</script> | -
            2 failed: Check it | - | no answer
            3 complete: Check it | Of Ada: </script><script>alert(1)</script> | -
        "#]]
    .assert_eq(&(shown.join("\n") + "\n"));
    assert_eq!(sessions[1]["context"][0]["text"], "Of Ada: </script><script>alert(1)</script>");
}

#[test]
fn a_report_redacts_what_an_export_redacts() {
    let workspace = workspace("[run]\nredact = [\"Ada\", \"tides\"]\n");
    let id = last(&workspace);
    let run = workspace.prose(&["runs", "report", "-o", "a.html"]).ended(0);
    assert!(run.stderr.contains("texts redacted in"), "{run:?}");
    let page = workspace.read("a.html");
    assert!(!page.contains("Ada") && !page.contains("tides"));
    assert_eq!(data(&page, "report")["runs"][0]["isRedacted"], true);
    workspace.write("prose.toml", b"[run]\nredacts = [\"Ada\"]\n");
    let run = workspace.prose(&["runs", "report", "-o", "b.html"]).ended(2);
    let refused = "prose.toml:2:1: `run.redacts` is not a setting; did you mean `redact`?";
    assert!(
        run.stderr.starts_with("error: no report is written: fix ") && run.stderr.contains(refused),
        "{run:?}"
    );
    assert!(!workspace.path("b.html").exists() && !workspace.path(".b.html.part").exists(), "{id}");
}

#[cfg(unix)]
#[test]
fn only_the_user_can_read_a_report_and_no_file_is_overwritten_unasked() {
    use std::os::unix::fs::PermissionsExt;
    let workspace = workspace("");
    workspace.prose(&["runs", "report", "-o", "a.html"]).ended(0);
    let mode = std::fs::metadata(workspace.path("a.html")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    workspace
        .prose(&["runs", "report", "-o", "a.html"])
        .refused(expect!["`a.html` already exists; pass another file, or overwrite it with `--force`"]);
    workspace.prose(&["runs", "report", "-o", "a.html", "--force"]).ended(0);
    let written = workspace.prose(&["runs", "report", "-o", "-"]).ended(0).stdout;
    assert_eq!(written, workspace.read("a.html"), "a report of the same run is the same");
}

#[test]
fn several_runs_and_exported_ones_stand_side_by_side() {
    let workspace = workspace("");
    let first = last(&workspace);
    workspace.prose(&["runs", "export", &first, "first.prose-run"]).ended(0);
    workspace.write("answers.toml", b"[[session]]\nreply = \"Another\"\n");
    workspace
        .prose(&["run", "main.prose", "--script", "answers.toml", "-q", "--input", "topic=winds"])
        .ended(0);
    workspace.prose(&["runs", "report", "first.prose-run", &last(&workspace), "-o", "a.html"]).ended(0);
    let report = data(&workspace.read("a.html"), "report");
    assert_eq!(report["runs"].as_array().map(Vec::len), Some(2));
    let comparison = &report["comparisons"][0]["comparison"];
    let different =
        comparison["steps"].as_array().unwrap().iter().filter(|step| step["different"] == true).count();
    assert!(different >= 2, "{comparison}");
    let missing: Run = workspace.prose(&["runs", "report", "zzzz"]);
    assert_eq!(missing.status, 2, "{missing:?}");
}

#[test]
fn a_run_that_stopped_is_reported_as_far_as_it_came() {
    let workspace = Workspace::new(&[("main.prose", "session \"one\"\nsession \"two\"\n")]);
    workspace.prose(&["run", "main.prose", "-q", "--max-sessions", "1"]).ended(3);
    workspace.prose(&["runs", "report", "-o", "a.html"]).ended(0);
    let report = data(&workspace.read("a.html"), "report");
    let root = &report["runs"][0]["view"]["nodes"][0];
    assert_eq!(root["status"], "interrupted", "{root}");
}

#[test]
fn imported_programs_are_in_it_each_text_once() {
    let tool = "input text: \"Text\"\nlet short = session \"Shorten {text}\"\noutput short = short\n";
    let main = "use \"./tool.prose\" as tool\nlet a = tool(text: \"Ada\")\nlet b = tool(text: \"Bob\")\n";
    let settings = "[run]\nredact = [\"Shorten\"]\n";
    let workspace = Workspace::new(&[("main.prose", main), ("tool.prose", tool), ("prose.toml", settings)]);
    workspace.prose(&["run", "main.prose", "-q"]).ended(0);
    workspace.prose(&["runs", "report", "-o", "run.html"]).ended(0);
    let report = &data(&workspace.read("run.html"), "report")["runs"][0];
    let imports = report["imports"].as_array().unwrap();
    assert_eq!(imports.len(), 1, "{imports:?}");
    assert_eq!(imports[0]["text"], tool.replace("Shorten", "[redacted]"));
    assert_eq!(imports[0]["programs"].as_array().unwrap().len(), 2);
    let values = report["values"].as_array().unwrap();
    let short = values.iter().find(|value| value["name"] == "short" && value["line"] == 2).unwrap();
    assert_eq!((&short["import"], &short["times"]), (&0.into(), &2.into()));
    assert!(values.iter().any(|value| value["name"] == "a" && value.get("import").is_none()), "{values:?}");
}

#[test]
fn a_damaged_line_ends_what_is_shown_with_a_warning() {
    let workspace = workspace("");
    let id = last(&workspace);
    let path = format!(".prose/runs/{id}/journal.jsonl");
    let journal = workspace.read(&path);
    let damaged: Vec<String> = journal
        .lines()
        .enumerate()
        .map(|(index, line)| if index == 19 { format!("[{}", &line[1..]) } else { line.to_owned() })
        .collect();
    std::fs::write(workspace.path(&path), damaged.join("\n") + "\n").unwrap();
    for command in [
        &["runs", "report", "-o", "run.html"][..],
        &["runs", "export", &id, "run.prose-run"],
        &["runs", "show"],
        &["runs", "diff", &id, &id],
    ] {
        let run = workspace.prose(command);
        let warning = format!("warning: run {id}: line 20 of ");
        assert!(run.stderr.contains(&warning), "{command:?}: {}", run.stderr);
        assert!(run.stderr.contains("what happened after it is not read"), "{command:?}: {}", run.stderr);
    }
}

#[cfg(unix)]
#[test]
fn nobody_else_can_read_it_and_no_link_or_device_is_replaced() {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};

    let workspace = workspace("");
    let mode = |name: &str| std::fs::metadata(workspace.path(name)).unwrap().permissions().mode() & 0o777;
    // What an earlier version has left, and what somebody has put there.
    std::fs::write(workspace.path(".run.html.part"), "").unwrap();
    workspace.prose(&["runs", "report", "-o", "run.html"]).ended(0);
    assert_eq!(mode("run.html"), 0o600);
    std::fs::write(workspace.path("kept.html"), "kept").unwrap();
    symlink("kept.html", workspace.path(".linked.html.part")).unwrap();
    workspace.prose(&["runs", "report", "-o", "linked.html"]).ended(0);
    assert_eq!(workspace.read("kept.html"), "kept");
    // A link is followed, and one that leads nowhere is there, too.
    symlink("kept.html", workspace.path("link.html")).unwrap();
    workspace.prose(&["runs", "report", "-o", "link.html", "--force"]).ended(0);
    assert!(workspace.path("link.html").is_symlink());
    assert!(workspace.read("kept.html").starts_with("<!DOCTYPE html>"));
    symlink("nowhere", workspace.path("dangling.html")).unwrap();
    let refused = workspace.prose(&["runs", "report", "-o", "dangling.html"]).ended(2);
    assert!(refused.stderr.contains("`dangling.html` already exists"), "{}", refused.stderr);
    // A pipe stays one.
    let pipe = workspace.path("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::read_to_string(pipe).unwrap()
    });
    workspace.prose(&["runs", "report", "-o", "pipe", "--force"]).ended(0);
    assert!(reader.join().unwrap().starts_with("<!DOCTYPE html>"));
    assert!(std::fs::symlink_metadata(&pipe).unwrap().file_type().is_fifo());
}
