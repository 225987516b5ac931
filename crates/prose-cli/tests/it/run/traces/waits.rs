//! Spans of time in which nothing works on something, and of tool calls.

use std::io::{BufReader, Read};
use std::process::{Child, Stdio};

use expect_test::expect;

use super::collector::{Answer, Collector, attribute};
use super::{run, traced};
use crate::common::{Run, Workspace};
use crate::run::memories::read_to;
#[cfg(unix)]
use crate::terminal::answered;

/// Starts a run whose sessions take some time.
fn start(workspace: &Workspace, endpoint: &str, delay: &str) -> (Child, BufReader<impl Read + use<>>) {
    let mut command = traced(workspace, endpoint);
    command.args(["run", "main.prose", "--delay", delay]).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary starts");
    let stderr = BufReader::new(child.stderr.take().expect("it is piped"));
    (child, stderr)
}

/// Reads what is left, so that the run never waits for a reader, and waits for its end.
fn ended(mut child: Child, mut stderr: impl Read) {
    std::io::copy(&mut stderr, &mut std::io::sink()).expect("it can be read");
    assert!(child.wait().expect("it ends").success());
}

#[test]
fn sessions_above_the_limit_wait_in_a_queue() {
    let collector = Collector::start(Answer::Status(200));
    let workspace = Workspace::new(&[(
        "main.prose",
        "parallel:\n  a = session \"One\"\n  b = session \"Two\"\n  c = session \"Three\"\n",
    )]);
    let mut command = traced(&workspace, &collector.endpoint);
    command.args(["run", "main.prose", "-q", "--max-parallel", "1", "--delay", "20ms"]);
    Run::of(&mut command).ended(0);
    let trace = collector.spans();
    assert_eq!(trace.names("wait"), ["wait queue", "wait queue"]);
    for wait in trace.0.iter().filter(|span| span.name == "wait queue") {
        let session = trace.0.iter().find(|span| span.span_id == wait.parent_span_id).expect("it is there");
        assert_eq!(session.name, "invoke_agent");
        assert!(session.start_time_unix_nano <= wait.start_time_unix_nano);
        assert!(wait.end_time_unix_nano < session.end_time_unix_nano);
        assert!(wait.end_time_unix_nano - wait.start_time_unix_nano >= 15_000_000, "{wait:?}");
    }
    let metrics = collector.metrics();
    assert!(metrics.contains("prose.wait.duration {prose.wait.kind=queue}: 2"), "{metrics}");
}

#[test]
fn tool_calls_are_spans_of_their_session() {
    let collector = Collector::start(Answer::Status(200));
    let script = r#"
[[session]]
reply = "Done."
activity = [
  { tool = "edit", title = "Edit a.rs", paths = ["a.rs"] },
  { tool = "execute", title = "cargo test", status = "failed" },
  { denied = "git push", reason = "execute: deny" },
]
"#;
    let workspace = Workspace::new(&[("main.prose", "session \"One\"\n"), ("answers.toml", script)]);
    Run::of(&mut run(&workspace, &collector.endpoint)).ended(0);
    let trace = collector.spans();
    expect![[r#"
        invoke_workflow main.prose {gen_ai.operation.name=invoke_workflow}
          invoke_agent {gen_ai.operation.name=invoke_agent}
            execute_tool edit {gen_ai.operation.name=execute_tool, gen_ai.tool.name=edit}
            execute_tool execute ✗ {error.type=_OTHER, gen_ai.operation.name=execute_tool, gen_ai.tool.name=execute}
    "#]]
    .assert_eq(&trace.tree(&["gen_ai.operation.name", "gen_ai.tool.name", "error.type", "prose.tool.title"]));
    let events: Vec<_> = trace.named("invoke_agent").events.iter().map(|event| event.name.as_str()).collect();
    assert_eq!(events, ["tool denied"]);
    let mut with_texts = run(&workspace, &collector.endpoint);
    Run::of(with_texts.env("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true")).ended(0);
    let trace = collector.spans();
    assert_eq!(attribute(trace.named("execute_tool edit"), "prose.tool.title").as_deref(), Some("Edit a.rs"));
}

#[cfg(unix)]
#[test]
fn a_question_for_permission_is_a_wait() {
    let collector = Collector::start(Answer::Status(200));
    let program =
        "agent historian:\n  permissions:\n    bash: prompt\n\nsession: historian\n  prompt: \"Look\"\n";
    let script = "[[session]]\nreply = \"done\"\ntools = [\"bash: git log\", \"bash: git show\"]\n";
    let workspace = Workspace::new(&[("main.prose", program), ("answers.toml", script)]);
    let question = "or [d]eny? ";
    let (status, _) =
        answered(&mut run(&workspace, &collector.endpoint), &[(question, "o\n"), (question, "d\n")]);
    assert_eq!(status, 0);
    expect![[r#"
        invoke_workflow main.prose
          invoke_agent historian
            wait approval {prose.approval.allowed=true, prose.approval.from=terminal}
            execute_tool execute
            wait approval {prose.approval.allowed=false, prose.approval.from=terminal}
            execute_tool execute ✗
    "#]]
    .assert_eq(&collector.spans().tree(&["prose.approval.allowed", "prose.approval.from"]));
}

#[test]
fn a_paused_run_has_a_wait_for_the_time_without_new_sessions() {
    let collector = Collector::start(Answer::Status(200));
    let workspace = Workspace::new(&[("main.prose", "session \"One\"\nsession \"Two\"\n")]);
    let (child, mut stderr) = start(&workspace, &collector.endpoint, "300ms");
    read_to(&mut stderr, "… One");
    workspace.prose(&["runs", "pause", "20"]).ended(0);
    // The session that had begun ends.
    read_to(&mut stderr, "✓ One");
    workspace.prose(&["runs", "continue", "20"]).ended(0);
    ended(child, stderr);
    let trace = collector.spans();
    let (root, wait) = (trace.named("invoke_workflow main.prose"), trace.named("wait pause"));
    assert_eq!(wait.parent_span_id, root.span_id);
    let sessions: Vec<_> = trace.0.iter().filter(|span| span.name == "invoke_agent").collect();
    let first = sessions.iter().min_by_key(|span| span.start_time_unix_nano).expect("there are two");
    let second = sessions.iter().max_by_key(|span| span.start_time_unix_nano).expect("there are two");
    assert!(first.start_time_unix_nano <= wait.start_time_unix_nano);
    // It is asked for in the pause, and nothing is done for it before that is over.
    assert!(first.end_time_unix_nano < wait.end_time_unix_nano);
    assert!(wait.end_time_unix_nano + 200_000_000 < second.end_time_unix_nano);
}

#[test]
fn a_memory_that_another_run_uses_is_waited_for() {
    let collector = Collector::start(Answer::Status(200));
    let workspace = Workspace::new(&[(
        "main.prose",
        "agent keeper:\n  prompt: \"You keep notes\"\n  persist: project\nresume: keeper\n  prompt: \"Keep this\"\n",
    )]);
    let (first, mut of_first) = start(&workspace, "", "1s");
    read_to(&mut of_first, "… keeper: Keep this");
    let (second, mut of_second) = start(&workspace, &collector.endpoint, "1ms");
    read_to(&mut of_second, "waiting for the memory of keeper");
    ended(first, of_first);
    ended(second, of_second);
    expect![[r#"
        invoke_workflow main.prose
          wait memory
          invoke_agent keeper
    "#]]
    .assert_eq(&collector.spans().tree(&[]));
}
