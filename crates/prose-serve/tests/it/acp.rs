//! Programs that an editor runs.

use expect_test::{Expect, expect};
use prose_run::control::Client;
use prose_vm::questions::AnswerSource;
use serde_json::json;

use crate::editor::Editor;
use crate::project::sources_of_inputs;

const REVIEW: &str = r#"# Reviews a part of the project

input topic: "What to review"

agent reviewer:
  prompt: "You review"

let notes = session: reviewer
  prompt: "Review {topic}"

output report = session "Sum up"
  context: notes
"#;

const ASKS: &str = r#"
let draft = session "Write a draft"
input topic: "What is it about?"
output report = session "Write about {topic}"
  context: draft
"#;

/// An editor with these files, and a session in it.
async fn opened(files: &[(&str, &str)]) -> (Editor, String) {
    let mut editor = Editor::new(files, None).await;
    let session = editor.session().await;
    (editor, session)
}

/// What the user sees after each of these prompts in a session of a server, which may be one for a single program.
async fn check(file: (&str, &str), served: Option<&str>, prompts: &[&str], expected: Expect) {
    let mut editor = Editor::new(&[file], served).await;
    let session = editor.session().await;
    let mut shown = String::new();
    for text in prompts {
        shown.push_str(&format!("\n{text}\n{}", editor.prompt(&session, text).await));
    }
    expected.assert_eq(&shown);
    editor.close().await;
}

#[tokio::test]
async fn a_prompt_runs_a_program() {
    let (mut editor, session) = opened(&[("review.prose", REVIEW)]).await;
    let shown = editor.prompt(&session, "/review the tests").await;
    expect![[r#"
        call RUN/1: reviewer: Review the tests (in_progress)
        call RUN/1: completed Here is what Review comes down to. What 
        call RUN/2: Sum up (in_progress)
        call RUN/2: completed Here is what the task comes down to. Too
        [x] input topic: "What to review"
        [x] let notes = session: reviewer
        [x] output report = session "Sum up"
        message: Here is what the task comes down to. Took notes into account. What matters most is the details, and the rest follows from it. Next comes the rest. [offline]
        notice: Run RUN: 2 sessions done
        -> end_turn
    "#]]
    .assert_eq(&shown);
    assert!(editor.path().join(".prose/runs").join(&session).is_dir(), "the session is the run");
    editor.close().await;
}

#[tokio::test]
async fn programs_are_commands() {
    let files = [
        ("review.prose", REVIEW),
        ("flows/two.prose", "input a: \"First\"\ninput b: \"Optional second\"\nsession \"{a} {b}\"\n"),
    ];
    let mut editor = Editor::new(&files, None).await;
    let cwd = editor.path().to_owned();
    let opened = editor.call("session/new", json!({ "cwd": cwd, "mcpServers": [] })).await;
    editor.until(|update| update["sessionUpdate"] == "available_commands_update").await;
    let session = opened.clone().unwrap()["sessionId"].as_str().unwrap().to_owned();
    let mut shown = editor.shown(&session, opened);
    shown.push_str(&editor.prompt(&session, "hello").await);
    expect![[r#"
        /flows/two a: … [b: …] -- Run flows/two.prose
        /review What to review -- Reviews a part of the project
        /resume  -- Resume the run of this session; recorded results are reused
        -> {"sessionId":"RUN"}
        message: `hello` is not a program of this folder. Start with the name of a program, and its inputs after it:

        - `/flows/two a: … [b: …]`: Run flows/two.prose
        - `/review What to review`: Reviews a part of the project

        Several inputs are lines such as `name: value`.
        -> end_turn
    "#]]
    .assert_eq(&shown);
    editor.close().await;
}

#[tokio::test]
async fn the_prompt_of_an_input_of_a_variable_is_asked() {
    let program = "let go = input \"Ship it? (yes/no)\"\noutput done = go\n";
    check(
        ("ship.prose", program),
        Some("ship.prose"),
        &["", "perhaps", "Y"],
        expect![[r#"


            message: `go`: Ship it? (yes/no)
            -> end_turn

            perhaps
            message: `perhaps` is not one of the answers to input `go`; choose one of [y]es, [n]o

            `go`: Ship it? (yes/no)
            -> end_turn

            Y
            [x] let go = input "Ship it? (yes/no)"
            [x] output done = go
            message: yes
            notice: Run RUN: no sessions
            -> end_turn
        "#]],
    )
    .await;
}

#[tokio::test]
async fn missing_inputs_are_asked() {
    let program = "input a: \"The first\"\ninput b: \"The second\"\noutput c = session \"{a} and {b}\"\n";
    check(
        ("two.prose", program),
        Some("two.prose"),
        &["hello", "b: krill", "whales"],
        expect![[r#"

            hello
            message: The program has several inputs. Write each as a line `name: value`:

            - `a`: The first
            - `b`: The second
            -> end_turn

            b: krill
            message: `a`: The first
            -> end_turn

            whales
            call RUN/1: whales and krill (in_progress)
            call RUN/1: completed Started from krill and followed it to wh
            [x] input a: "The first"
            [x] input b: "The second"
            [x] output c = session "{a} and {b}"
            message: Started from krill and followed it to whales. Compared with the rest, whales is the smaller part. What matters most is whales, and the rest follows from it. As far as krill goes, this can go ahead as planned. [offline]
            notice: Run RUN: 1 session done
            -> end_turn
        "#]],
    )
    .await;
}

#[tokio::test]
async fn a_question_ends_the_turn_and_the_next_prompt_answers_it() {
    let (mut editor, session) = opened(&[("asks.prose", ASKS)]).await;
    let asked = editor.prompt(&session, "asks").await;
    expect![[r#"
        call RUN/1: Write a draft (in_progress)
        call RUN/1: completed Here is what draft comes down to. What m
        [x] let draft = session "Write a draft"
        [>] input topic: "What is it about?"
        [ ] output report = session "Write about {topic}"
        message: What is it about?
        -> end_turn
    "#]]
    .assert_eq(&asked);
    let answered = editor.prompt(&session, "whales").await;
    expect![[r#"
        call RUN/3: Write about whales (in_progress)
        call RUN/3: completed Started from whales and followed it to t
        [x] let draft = session "Write a draft"
        [x] input topic: "What is it about?"
        [x] output report = session "Write about {topic}"
        message: Started from whales and followed it to the details. Took draft into account. What matters most is the details, and the rest follows from it. Compared with the rest, whales is the smaller part. One open question about the rest remains. [offline]
        notice: Run RUN: 2 sessions done
        -> end_turn
    "#]]
    .assert_eq(&answered);
    assert_eq!(sources_of_inputs(editor.path()), ["acp"]);
    editor.close().await;
}

#[tokio::test]
async fn a_cancelled_run_is_resumed_by_the_next_prompt() {
    let program = "let a = session \"One\"\nlet b = session \"Two\"\noutput c = \"{a} {b}\"\n";
    // The agent of the second session never answers, until a file is there.
    let agent = "read -r line; case \"$line\" in *Two*) until [ -e go ]; do sleep 0.05; done;; esac; echo \"Done: $line\"";
    let settings = format!("[run]\nharness = \"command\"\ncommand = [\"sh\", \"-c\", {agent:?}]\n");
    let (mut editor, session) = opened(&[("two.prose", program), ("prose.toml", &settings)]).await;
    editor.trust(&settings);
    let prompt = editor.start("session/prompt", Editor::prompt_of(&session, "two")).await;
    editor.until(|update| update["title"] == "Two").await;
    editor
        .send(json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": { "sessionId": session } }))
        .await;
    let result = editor.result(prompt).await;
    let cancelled = editor.shown(&session, result);
    expect![[r#"
        call RUN/1: One (in_progress)
        call RUN/1: completed Done: One
        call RUN/2: Two (in_progress)
        call RUN/2: failed the run was stopped
        [x] let a = session "One"
        [ ] let b = session "Two"
        [ ] output c = "{a} {b}"
        notice: Run RUN: 1 session done, 1 interrupted, 4 tokens
        -> cancelled
    "#]]
    .assert_eq(&cancelled);
    std::fs::write(editor.path().join("go"), "").unwrap();
    let resumed = editor.prompt(&session, "continue").await;
    expect![[r#"
        call RUN/2: in_progress 
        call RUN/2: completed Done: Two
        [x] let a = session "One"
        [x] let b = session "Two"
        [x] output c = "{a} {b}"
        message: Done: One Done: Two
        notice: Run RUN: 2 sessions done, 1 retried, 1 reused, 8 tokens
        -> end_turn
    "#]]
    .assert_eq(&resumed);
    editor.close().await;
}

#[tokio::test]
async fn nothing_starts_in_an_editor_before_the_project_is_trusted() {
    let settings =
        "[run]\nharness = \"command\"\ncommand = [\"sh\", \"-c\", \"echo started >> started; echo Done\"]\n";
    let files = [("a.prose", "output a = session \"One\"\n"), ("prose.toml", settings)];
    let (mut editor, session) = opened(&files).await;
    let refused = editor.prompt(&session, "/a").await;
    assert!(refused.starts_with("-> error") && refused.contains("trust"), "{refused}");
    assert!(!editor.path().join("started").exists());
    editor.trust(settings);
    let shown = editor.prompt(&session, "/a").await;
    assert!(shown.contains("message: Done") && editor.path().join("started").exists(), "{shown}");
    editor.close().await;
}

#[tokio::test]
async fn an_earlier_run_is_shown_and_its_question_answered() {
    let (mut editor, session) = opened(&[("asks.prose", ASKS)]).await;
    editor.prompt(&session, "asks").await;
    let mut editor = editor.restarted().await;
    let loaded = editor.load(&session).await;
    expect![[r#"
        user: /asks
        call RUN/1: Write a draft (in_progress)
        call RUN/1: completed Here is what draft comes down to. What m
        message: What is it about?
        [x] let draft = session "Write a draft"
        [ ] input topic: "What is it about?"
        [ ] output report = session "Write about {topic}"
        -> {}
    "#]]
    .assert_eq(&loaded);
    let answered = editor.prompt(&session, "whales").await;
    expect![[r#"
        call RUN/3: Write about whales (in_progress)
        call RUN/3: completed Started from whales and followed it to t
        [x] let draft = session "Write a draft"
        [x] input topic: "What is it about?"
        [x] output report = session "Write about {topic}"
        message: Started from whales and followed it to the details. Took draft into account. What matters most is the details, and the rest follows from it. Compared with the rest, whales is the smaller part. One open question about the rest remains. [offline]
        notice: Run RUN: 2 sessions done, 1 reused
        -> end_turn
    "#]]
    .assert_eq(&answered);
    let mut editor = editor.restarted().await;
    let loaded = editor.load(&session).await;
    expect![[r#"
        user: /asks
        call RUN/1: Write a draft (in_progress)
        call RUN/1: completed Here is what draft comes down to. What m
        message: What is it about?
        user: whales
        call RUN/3: Write about whales (in_progress)
        call RUN/3: completed Started from whales and followed it to t
        [x] let draft = session "Write a draft"
        [x] input topic: "What is it about?"
        [x] output report = session "Write about {topic}"
        message: Started from whales and followed it to the details. Took draft into account. What matters most is the details, and the rest follows from it. Compared with the rest, whales is the smaller part. One open question about the rest remains. [offline]
        notice: Run RUN: 2 sessions done, 1 reused
        -> {}
    "#]]
    .assert_eq(&loaded);
    let listed = editor.call("session/list", json!({})).await.unwrap();
    assert_eq!(listed["sessions"][0]["sessionId"], session.as_str());
    assert_eq!(listed["sessions"][0]["title"], "asks.prose (completed)");
    editor.close().await;
}

#[tokio::test]
async fn a_failed_program_fails_the_turn() {
    let files = [
        ("fails.prose", "session \"One\"\nthrow \"No luck\"\n"),
        ("wrong.prose", "session \"One\"\nsesion \"Two\"\n"),
    ];
    let (mut editor, session) = opened(&files).await;
    let mut shown = editor.prompt(&session, "/fails").await;
    shown.push_str(&editor.prompt(&session, "/wrong").await);
    expect![[r#"
        call RUN/1: One (in_progress)
        call RUN/1: completed Here is what the task comes down to. Com
        [x] session "One"
        [x] throw "No luck" (failed)
        notice: Run RUN: 1 session done
        -> error -32603: the program failed at line 2: No luck
        -> error -32603: `wrong.prose` has 1 error and is not run:
        line 2: unknown statement `sesion`; did you mean `session`?
    "#]]
    .assert_eq(&shown);
    editor.close().await;
}

#[tokio::test]
async fn nothing_outside_of_the_project_is_served() {
    let mut editor = Editor::new(&[("a.prose", "session \"A\"\n")], None).await;
    let outside = prose_fixture::tempdir().unwrap();
    std::fs::write(outside.path().join("other.prose"), "session \"Secret\"\n").unwrap();
    let other = outside.path().join("other.prose").to_string_lossy().into_owned();
    let session = editor.session().await;
    let shown = editor.prompt(&session, &other).await;
    assert!(shown.contains("is not a program of this folder"), "{shown}");
    let refused = editor.call("session/new", json!({ "cwd": outside.path(), "mcpServers": [] })).await;
    let error = refused.unwrap_err();
    assert!(error["message"].as_str().unwrap().contains("is outside the folder"), "{error}");
    let missing = editor.load("../../other").await;
    assert_eq!(missing, "-> error -32002: session `RUN` does not exist\n");
    editor.close().await;
}

#[tokio::test]
async fn messages_that_are_none_are_refused() {
    let mut editor = Editor::new(&[("a.prose", "session \"A\"\n")], None).await;
    let mut shown = String::new();
    for (method, params) in [
        ("session/prompt", json!({ "sessionId": "x", "prompt": [] })),
        ("session/prompt", json!({})),
        ("session/set_mode", json!({ "sessionId": "x", "modeId": "yolo" })),
        ("session/new", json!({ "cwd": 1 })),
    ] {
        let error = editor.call(method, params).await.unwrap_err();
        shown.push_str(&format!("{method}: {} {}\n", error["code"], error["message"].as_str().unwrap()));
    }
    expect![[r#"
        session/prompt: -32002 session `x` does not exist
        session/prompt: -32602 the parameters of `session/prompt` are not valid
        session/set_mode: -32601 method `session/set_mode` is not supported
        session/new: -32602 the parameters of `session/new` are not valid
    "#]]
    .assert_eq(&shown);
    editor.close().await;
}

#[tokio::test]
async fn a_run_waits_after_the_end_of_the_connection() {
    let (mut editor, session) = opened(&[("asks.prose", ASKS)]).await;
    editor.prompt(&session, "asks").await;
    let folder = editor.close().await;
    let run = prose_run::Project::new(folder.path()).show_run(&session).unwrap();
    assert_eq!(run.summary.status, prose_state::runs::RunState::Waiting);
    assert_eq!(run.summary.waiting[0].prompt, "What is it about?");
}

const CHOOSES: &str = "let a = session \"One\"\ninput go: \"Ship it? (yes/no)\"\noutput b = \"{go}\"\n";

#[tokio::test]
async fn choices_are_options() {
    let (mut editor, session) = opened(&[("chooses.prose", CHOOSES)]).await;
    editor.choice = Some("no");
    let shown = editor.prompt(&session, "chooses").await;
    expect![[r#"
        call RUN/1: One (in_progress)
        call RUN/1: completed Looked into the task and the details. Wh
        call RUN/question-1: go: Ship it? (yes/no) (pending)
        asked: yes (allow_once), no (allow_once)
        call RUN/question-1: completed no
        [x] let a = session "One"
        [x] input go: "Ship it? (yes/no)"
        [x] output b = "{go}"
        message: no
        notice: Run RUN: 1 session done
        -> end_turn
    "#]]
    .assert_eq(&shown);
    assert_eq!(sources_of_inputs(editor.path()), ["acp"]);
    editor.close().await;
}

#[tokio::test]
async fn choices_that_are_closed_are_answered_by_the_next_prompt() {
    check(
        ("chooses.prose", CHOOSES),
        None,
        &["chooses", "maybe", "Y"],
        expect![[r#"

            chooses
            call RUN/1: One (in_progress)
            call RUN/1: completed Looked into the task and the details. Wh
            [x] let a = session "One"
            [>] input go: "Ship it? (yes/no)"
            [ ] output b = "{go}"
            call RUN/question-1: go: Ship it? (yes/no) (pending)
            asked: yes (allow_once), no (allow_once)
            call RUN/question-1: failed No answer
            message: Ship it? (yes/no)
            -> end_turn

            maybe
            notice: `maybe` is not one of the answers; choose one of [y]es, [n]o
            call RUN/question-2: go: Ship it? (yes/no) (pending)
            asked: yes (allow_once), no (allow_once)
            call RUN/question-2: failed No answer
            message: Ship it? (yes/no)
            -> end_turn

            Y
            [x] let a = session "One"
            [x] input go: "Ship it? (yes/no)"
            [x] output b = "{go}"
            message: yes
            notice: Run RUN: 1 session done
            -> end_turn
        "#]],
    )
    .await;
}

#[tokio::test]
async fn choices_are_answered_after_a_restart() {
    let (mut editor, session) = opened(&[("chooses.prose", CHOOSES)]).await;
    editor.prompt(&session, "chooses").await;
    let mut editor = editor.restarted().await;
    let mut shown = editor.load(&session).await;
    shown.push_str(&editor.prompt(&session, "y").await);
    expect![[r#"
        user: /chooses
        call RUN/1: One (in_progress)
        call RUN/1: completed Looked into the task and the details. Wh
        message: Ship it? (yes/no)
        [x] let a = session "One"
        [ ] input go: "Ship it? (yes/no)"
        [ ] output b = "{go}"
        -> {}
        [x] let a = session "One"
        [x] input go: "Ship it? (yes/no)"
        [x] output b = "{go}"
        message: yes
        notice: Run RUN: 1 session done, 1 reused
        -> end_turn
    "#]]
    .assert_eq(&shown);
    editor.close().await;
}

#[tokio::test]
async fn limits_are_options() {
    let settings = "[run]\nharness = \"command\"\ncommand = [\"sh\", \"-c\", \"echo Done\"]\n[limits.run]\nask-sessions = 1\n";
    let program = "let a = session \"One\"\noutput b = session \"Two\"\n  context: a\n";
    let mut editor = Editor::new(&[("two.prose", program), ("prose.toml", settings)], None).await;
    editor.trust(settings);
    let session = editor.session().await;
    // A question that is closed stays open.
    let closed = editor.prompt(&session, "two").await;
    let mut editor = editor.restarted().await;
    let loaded = editor.load(&session).await;
    editor.choice = Some("once");
    let resumed = editor.prompt(&session, "/resume").await;
    // Whether the session that waits is shown before its question or after it is not determined.
    let shown = format!("{closed}{loaded}{resumed}");
    let is_asked = |line: &&str| !line.starts_with("call RUN/2") && !line.starts_with('[');
    let shown: Vec<&str> = shown.lines().filter(is_asked).collect();
    expect![[r#"
        call RUN/1: One (in_progress)
        call RUN/1: completed Done
        call RUN/question-1: the limit of 1 session is reached (`limits.run.ask-sessions`); use up to 1 session more? (pending)
        asked: Allow once (allow_once), Allow for this run (allow_always), Deny (reject_once)
        call RUN/question-1: failed No answer
        message: the limit of 1 session is reached (`limits.run.ask-sessions`); use up to 1 session more?

        Answer with one of [o]nce, [r]un, [d]eny.
        -> end_turn
        user: /two
        call RUN/1: One (in_progress)
        call RUN/1: completed Done
        message: the limit of 1 session is reached (`limits.run.ask-sessions`); use up to 1 session more?

        Answer with one of [o]nce, [r]un, [d]eny.
        -> {}
        call RUN/question-1: the limit of 1 session is reached (`limits.run.ask-sessions`); use up to 1 session more? (pending)
        asked: Allow once (allow_once), Allow for this run (allow_always), Deny (reject_once)
        call RUN/question-1: completed Allow once
        message: Done
        notice: Run RUN: 2 sessions done, 1 reused, 13 tokens
        -> end_turn"#]].assert_eq(&shown.join("\n"));
    editor.close().await;
}

#[tokio::test]
async fn a_session_has_all_its_runs() {
    let files = [("a.prose", "output a = \"A\"\n"), ("asks.prose", ASKS), ("b.prose", "output b = \"B\"\n")];
    let (mut editor, session) = opened(&files).await;
    editor.prompt(&session, "/a").await;
    editor.prompt(&session, "/asks").await;
    let mut editor = editor.restarted().await;
    let listed = editor.call("session/list", json!({})).await.unwrap();
    assert_eq!(listed["sessions"].as_array().unwrap().len(), 1, "{listed}");
    assert_eq!(listed["sessions"][0]["sessionId"], session.as_str());
    assert_eq!(listed["sessions"][0]["title"], "asks.prose (waiting)");
    let loaded = editor.load(&session).await;
    assert!(loaded.contains("user: /a\n") && loaded.contains("message: A\n"), "{loaded}");
    assert!(loaded.contains("user: /asks\n") && loaded.contains("message: What is it about?\n"), "{loaded}");
    // The prompt answers the question of the last run.
    let answered = editor.prompt(&session, "whales").await;
    assert!(answered.contains("Write about whales"), "{answered}");
    // Opened again in the same connection, it shows the same, and is used as before.
    let again = editor.load(&session).await;
    assert!(again.contains("message: A\n") && again.contains("user: whales\n"), "{again}");
    let later = editor.prompt(&session, "/b").await;
    assert!(later.contains("message: B\n") && later.ends_with("-> end_turn\n"), "{later}");
    let listed = editor.call("session/list", json!({})).await.unwrap();
    assert_eq!(listed["sessions"].as_array().unwrap().len(), 1, "{listed}");
    editor.close().await;
}

#[tokio::test]
async fn a_client_that_keeps_a_session_resumes_it() {
    let (mut editor, session) = opened(&[("asks.prose", ASKS)]).await;
    editor.prompt(&session, "asks").await;
    let mut editor = editor.restarted().await;
    let cwd = editor.path().to_owned();
    let params = json!({ "sessionId": session, "cwd": cwd, "mcpServers": [] });
    let resumed = editor.call("session/resume", params).await;
    assert_eq!(editor.shown(&session, resumed), "-> {}\n");
    let answered = editor.prompt(&session, "whales").await;
    assert!(answered.contains("Write about whales") && answered.ends_with("-> end_turn\n"), "{answered}");
    editor.close().await;
}

#[tokio::test]
async fn a_question_that_is_answered_elsewhere_is_closed() {
    let (mut editor, session) = opened(&[("chooses.prose", CHOOSES)]).await;
    editor.leaves_open = true;
    let prompt = editor.start("session/prompt", Editor::prompt_of(&session, "chooses")).await;
    editor.until(|update| update["toolCallId"].as_str().is_some_and(|id| id.contains("question"))).await;
    let folder = editor.path().join(".prose/runs").join(&session);
    let answering = tokio::task::spawn_blocking(move || {
        let by = prose_run::questions::user(AnswerSource::CommandLine);
        Client::connect(&folder).unwrap().answer(None, "yes", &by).unwrap();
    });
    answering.await.unwrap();
    let result = editor.result(prompt).await;
    let shown = editor.shown(&session, result);
    assert!(shown.contains("question-1: completed Answered elsewhere\n"), "{shown}");
    assert!(shown.contains("message: yes\n") && shown.ends_with("-> end_turn\n"), "{shown}");
    assert_eq!(sources_of_inputs(editor.path()), ["command-line"]);
    editor.close().await;
}

#[tokio::test]
async fn a_question_of_a_cancelled_turn_is_cancelled() {
    let mut editor = Editor::new(&[("chooses.prose", CHOOSES)], None).await;
    let session = editor.session().await;
    editor.leaves_open = true;
    let prompt = editor.start("session/prompt", Editor::prompt_of(&session, "chooses")).await;
    editor.until(|update| update["toolCallId"].as_str().is_some_and(|id| id.contains("question"))).await;
    editor
        .send(json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": { "sessionId": session } }))
        .await;
    let result = editor.result(prompt).await;
    let shown = editor.shown(&session, result);
    assert!(shown.contains("question-1: failed Cancelled\n"), "{shown}");
    assert!(!shown.contains("Answered elsewhere") && shown.ends_with("-> cancelled\n"), "{shown}");
    editor.close().await;
}

#[tokio::test]
async fn a_run_of_another_process_is_used_after_its_end() {
    let (mut editor, session) = opened(&[("asks.prose", ASKS)]).await;
    editor.prompt(&session, "asks").await;
    let mut other = editor.another().await;
    let loaded = other.load(&session).await;
    assert!(loaded.contains("is executed by another process"), "{loaded}");
    let refused = other.prompt(&session, "whales").await;
    assert!(refused.contains("-> error") && refused.contains("another process"), "{refused}");
    editor.prompt(&session, "krill").await;
    let used = other.prompt(&session, "/asks").await;
    assert!(used.contains("user: krill\n") && used.contains("message: What is it about?\n"), "{used}");
    other.close().await;
    editor.close().await;
}
