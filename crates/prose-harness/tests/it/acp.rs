//! Agents of the Agent Client Protocol, played by shells.

use std::sync::Arc;

use expect_test::{Expect, expect};
use prose_harness::decide::PromptedDecisions;
use prose_harness::drivers::acp::{AGENTS, Acp};
use prose_harness::drivers::{AgentHost, AgentProgram};
use prose_vm::activity::{Activity, NoApprovals, Reporter};
use prose_vm::effect::{Effect, Outcome, Permission, PermissionRule, RequestId, SessionTask};
use prose_vm::harness::{Harness, RunFolders};
use tokio::sync::mpsc;

use crate::support::*;

/// The agent's half of a conversation. A line `>` waits for a message of the client and appends it to the file `received`; other lines are sent.
fn script(conversation: &str) -> String {
    let mut script = String::from(": > received\n");
    for line in conversation.lines().map(str::trim).filter(|line| !line.is_empty()) {
        script.push_str(&match line {
            ">" => "read -r line && printf '%s\\n' \"$line\" >> received\n".to_owned(),
            line => format!("cat <<'E'\n{line}\nE\n"),
        });
    }
    script
}

const OPEN: &str = r#"
    >
    {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{},"authMethods":[]}}
    >
    {"jsonrpc":"2.0","id":2,"result":{"sessionId":"s7"}}
    >
"#;

/// Has an agent answer a request, and shows what it reports, the outcome and what it received after its session was opened.
async fn talk(conversation: &str, request: &prose_vm::effect::Request, agent: Option<&str>) -> String {
    let folder = prose_fixture::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let program = AgentProgram {
        program: "sh".into(),
        arguments: vec!["-c".into(), script(conversation)],
        variables: Vec::new(),
        unknown_models: Vec::new(),
        install: "",
    };
    let folders = RunFolders { root: root.clone(), run: None };
    let agent = agent.map(|name| AGENTS.iter().find(|agent| agent.name == name).unwrap());
    let supervisor = Some(env!("CARGO_BIN_EXE_supervisor-for-tests").into());
    let host = AgentHost::new("acp", program, folders);
    let harness = PromptedDecisions::new(Acp::new(host.supervised_by(supervisor), agent));
    let (sender, mut reports) = mpsc::unbounded_channel();
    let reporter = Reporter::new(RequestId(1), sender, Arc::new(NoApprovals));
    let outcome = match harness.perform(request, &reporter).await {
        Ok(Outcome::Reply(reply)) => format!("reply: {:?} {:?}\n", reply.text, reply.warnings),
        Ok(other) => format!("{other:?}\n"),
        Err(failure) => format!("{:?}: {}\n", failure.kind, failure.message),
    };
    harness.settled().await;
    let mut shown = String::new();
    while let Ok((_, activity)) = reports.try_recv() {
        shown.push_str(&match activity {
            Activity::Text { text } => format!("text: {text}\n"),
            Activity::Tool(tool) => {
                format!("tool: {:?} {} {:?} {:?}\n", tool.kind, tool.title, tool.paths, tool.status)
            }
            Activity::Used(usage) => {
                format!("used: {} {} {:?}\n", usage.input_tokens, usage.output_tokens, usage.cost)
            }
            Activity::Denied(denial) => format!("denied: {} ({})\n", denial.title, denial.reason),
            Activity::Asked(question) => format!("asked: {} ({})\n", question.title, question.rule),
            Activity::Answered { answer, .. } => format!("answered: {:?}\n", answer.from),
            Activity::Agent(agent) => format!("session: {} {:?}\n", agent.id, agent.model),
            other => format!("{other:?}\n"),
        });
    }
    shown.push_str(&outcome);
    let received = std::fs::read_to_string(root.join("received")).unwrap_or_default();
    for line in received.lines().skip(2).filter(|line| !line.contains("session/prompt")) {
        shown.push_str(&format!("received: {line}\n"));
    }
    shown.replace(&*root.to_string_lossy(), "ROOT")
}

async fn check(conversation: &str, expected: Expect) {
    expected.assert_eq(&talk(&format!("{OPEN}{conversation}"), &session("s1", "Do it"), None).await);
}

fn ruled(about: &str, rule: PermissionRule) -> prose_vm::effect::Request {
    let permissions = vec![Permission { about: about.into(), rule }];
    request("s1", Effect::Session(Arc::new(SessionTask { permissions, ..task("Do it") })))
}

#[tokio::test]
async fn a_turn_that_ends_after_its_provider_has_failed_is_no_success() {
    check(
        r#"
        {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s7","update":{"sessionUpdate":"session_info_update","_meta":{"codex":{"threadStatus":{"type":"systemError"}}}}}}
        {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s7","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"{\"error\": {\"message\": \"The prompt is too long\"}}"}}}}
        {"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn","usage":null}}
        >
        "#,
        expect![[r#"
            session: s7 None
            ContextTooLong: acp rejected the prompt because it is longer than the context of the model (The prompt is too long); pass less in `context:`, or choose a model with a larger context
        "#]],
    )
    .await;
}

#[tokio::test]
async fn the_reply_is_what_the_agent_wrote_after_its_last_tool_call() {
    check(
        r#"
        {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s7","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"I look."}}}}
        {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s7","update":{"sessionUpdate":"tool_call","toolCallId":"t1","title":"Read a.md","kind":"read","status":"in_progress","locations":[{"path":"/p/a.md"}]}}}
        {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s7","update":{"sessionUpdate":"tool_call_update","toolCallId":"t1","status":"completed"}}}
        {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s7","update":{"sessionUpdate":"of a later version","content":1}}}
        {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s7","update":{"sessionUpdate":"agent_message_chunk","messageId":"m2","content":{"type":"text","text":"All "}}}}
        {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s7","update":{"sessionUpdate":"agent_message_chunk","messageId":"m2","content":{"type":"text","text":"well."}}}}
        {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s7","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Please update."},"_meta":{"claudeCode":{"kind":"informational"}}}}}
        {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s7","update":{"sessionUpdate":"usage_update","used":9,"size":99,"cost":{"amount":0.25,"currency":"USD"}}}}
        {"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn","usage":{"totalTokens":120,"inputTokens":10,"cachedReadTokens":90,"outputTokens":20}}}
        >
        "#,
        expect![[r#"
            session: s7 None
            text: I look.
            tool: Read Read a.md ["/p/a.md"] Running
            tool: Read Read a.md ["/p/a.md"] Completed
            text: All 
            text: well.
            used: 100 20 Some(0.25)
            reply: "All well." []
        "#]],
    )
    .await;
}

#[tokio::test]
async fn rules_answer_permission_requests() {
    let conversation = r#"
        {"jsonrpc":"2.0","id":"a","method":"session/request_permission","params":{"sessionId":"s7","toolCall":{"toolCallId":"t1","title":"git log --output=x","kind":"execute","rawInput":{"command":"git log --output=x"}},"options":[{"optionId":"always","name":"Always","kind":"allow_always"},{"optionId":"once","name":"Once","kind":"allow_once"},{"optionId":"no","name":"No","kind":"reject_once"}]}}
        >
        {"jsonrpc":"2.0","id":"b","method":"session/request_permission","params":{"sessionId":"s7","toolCall":{"toolCallId":"t2","title":"git log -3","kind":"execute","rawInput":{"command":["git","log","-3"]}},"options":[{"optionId":"always","name":"Always","kind":"allow_always"},{"optionId":"once","name":"Once","kind":"allow_once"},{"optionId":"no","name":"No","kind":"reject_once"}]}}
        >
        {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s7","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Done."}}}}
        {"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}
        >
    "#;
    let request = ruled("bash", PermissionRule::Patterns(vec!["git log *".into()]));
    let shown = talk(&format!("{OPEN}{conversation}"), &request, None).await;
    expect![[r#"
        session: s7 None
        asked: git log --output=x (`--output=x` of `git log --output=x` can write files or run programs)
        answered: NoOne
        denied: git log --output=x (`--output=x` of `git log --output=x` can write files or run programs, and no one is there to answer)
        tool: Execute git log --output=x [] Denied
        text: Done.
        reply: "Done." []
        received: {"id":"a","jsonrpc":"2.0","result":{"outcome":{"optionId":"no","outcome":"selected"}}}
        received: {"id":"b","jsonrpc":"2.0","result":{"outcome":{"optionId":"once","outcome":"selected"}}}
    "#]]
    .assert_eq(&shown);
}

#[tokio::test]
async fn a_session_continues_whose_turn_ends_with_a_denied_call() {
    let conversation = r#"
        {"jsonrpc":"2.0","id":"a","method":"session/request_permission","params":{"sessionId":"s7","toolCall":{"toolCallId":"t1","title":"touch a","kind":"execute","rawInput":{"command":"touch a"}},"options":[{"optionId":"once","name":"Once","kind":"allow_once"},{"optionId":"no","name":"No","kind":"reject_once"}]}}
        >
        {"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}
        >
        {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s7","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Done."}}}}
        {"jsonrpc":"2.0","id":4,"result":{"stopReason":"end_turn"}}
        >
    "#;
    let shown = talk(&format!("{OPEN}{conversation}"), &ruled("bash", PermissionRule::Deny), None).await;
    expect![[r#"
        session: s7 None
        denied: touch a (`bash: deny`)
        tool: Execute touch a [] Denied
        text: Done.
        reply: "Done." []
        received: {"id":"a","jsonrpc":"2.0","result":{"outcome":{"optionId":"no","outcome":"selected"}}}
    "#]]
    .assert_eq(&shown);
}

#[tokio::test]
async fn a_message_that_is_written_again_counts_once() {
    let conversation = r#"
        {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s7","update":{"sessionUpdate":"agent_message_chunk","messageId":"m1","content":{"type":"text","text":"All w"}}}}
        {"jsonrpc":"2.0","method":"_claude/sdkMessage","params":{"sessionId":"s7","message":{"type":"system","subtype":"api_retry","attempt":1,"retry_delay_ms":500,"error":"unknown"}}}
        {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s7","update":{"sessionUpdate":"agent_message_chunk","messageId":"m2","content":{"type":"text","text":"All well."}}}}
        {"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}
        >
    "#;
    let shown =
        talk(&format!("{OPEN}{conversation}"), &session("s1", "Do it"), Some("claude-agent-acp")).await;
    assert!(shown.contains("reply: \"All well.\" []"), "{shown}");
}

#[tokio::test]
async fn warnings_of_codex_are_no_part_of_a_reply() {
    let conversation = r#"
        {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s7","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Warning: Falling back to HTTPS transport.\n\n"}}}}
        {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s7","update":{"sessionUpdate":"agent_message_chunk","messageId":"m2","content":{"type":"text","text":"Warning: all well."}}}}
        {"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}
        >
    "#;
    let shown = talk(&format!("{OPEN}{conversation}"), &session("s1", "Do it"), Some("codex-acp")).await;
    assert!(shown.contains("reply: \"Warning: all well.\" []"), "{shown}");
}

#[tokio::test]
async fn a_question_for_a_person_is_not_answered() {
    let conversation = r#"
        {"jsonrpc":"2.0","id":"a","method":"session/request_permission","params":{"sessionId":"s7","toolCall":{"toolCallId":"t1","title":"Ship it?"},"options":[{"optionId":"ship","name":"Ship","kind":"allow_once"},{"optionId":"wait","name":"Wait","kind":"allow_once"}]}}
        >
        {"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}
        >
    "#;
    check(
        conversation,
        expect![[r#"
            session: s7 None
            reply: "" []
            received: {"id":"a","jsonrpc":"2.0","result":{"outcome":{"outcome":"cancelled"}}}
        "#]],
    )
    .await;
}

#[tokio::test]
async fn files_of_the_client_are_under_the_rules() {
    let conversation = r#"
        {"jsonrpc":"2.0","id":1,"method":"fs/write_text_file","params":{"sessionId":"s7","path":"/etc/x","content":"x"}}
        >
        {"jsonrpc":"2.0","id":2,"method":"fs/write_text_file","params":{"sessionId":"s7","path":"docs/a.md","content":"one\ntwo\n"}}
        >
        {"jsonrpc":"2.0","id":3,"method":"fs/read_text_file","params":{"sessionId":"s7","path":".env"}}
        >
        {"jsonrpc":"2.0","id":4,"method":"terminal/create","params":{"sessionId":"s7","command":"ls"}}
        >
        {"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}
        >
    "#;
    let request = ruled("write", PermissionRule::Patterns(vec!["docs/".into()]));
    let shown = talk(&format!("{OPEN}{conversation}"), &request, Some("gemini")).await;
    expect![[r#"
        session: s7 None
        denied: write /etc/x (`write: ["docs/"]` does not cover `/etc/x`)
        asked: read .env (`.env` is a protected file)
        answered: NoOne
        denied: read .env (`.env` is a protected file, and no one is there to answer)
        reply: "" []
        received: {"error":{"code":-32001,"message":"writing `/etc/x` is not allowed in this session"},"id":1,"jsonrpc":"2.0"}
        received: {"id":2,"jsonrpc":"2.0","result":null}
        received: {"error":{"code":-32001,"message":"reading `.env` is not allowed in this session"},"id":3,"jsonrpc":"2.0"}
        received: {"error":{"code":-32601,"message":"method `terminal/create` is not supported"},"id":4,"jsonrpc":"2.0"}
    "#]].assert_eq(&shown);
}

#[tokio::test]
async fn a_question_denies_every_tool() {
    let conversation = r#"
        {"jsonrpc":"2.0","id":"a","method":"session/request_permission","params":{"sessionId":"s7","toolCall":{"toolCallId":"t1","title":"ls","kind":"execute","rawInput":{"command":"ls"}},"options":[{"optionId":"once","name":"Once","kind":"allow_once"},{"optionId":"no","name":"No","kind":"reject_once"}]}}
        >
        {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s7","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"VERDICT: yes\nREASON: the sand is dry"}}}}
        {"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}
        >
    "#;
    let shown = talk(&format!("{OPEN}{conversation}"), &condition("s1", "the tide is out"), None).await;
    expect![[r#"
        session: s7 None
        tool: Execute ls [] Denied
        text: VERDICT: yes
        REASON: the sand is dry
        Verdict(Verdict { met: true, reason: "the sand is dry", no_progress: false })
        received: {"id":"a","jsonrpc":"2.0","result":{"outcome":{"optionId":"no","outcome":"selected"}}}
    "#]]
    .assert_eq(&shown);
}

/// A question whose agent completes a tool call without asking.
async fn unasked(call: &str, agent: Option<&str>) -> String {
    let conversation = format!(
        r#"
        {{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s7","update":{{"sessionUpdate":"tool_call","toolCallId":"t1","status":"in_progress",{call}}}}}}}
        {{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s7","update":{{"sessionUpdate":"tool_call_update","toolCallId":"t1","status":"completed"}}}}}}
        {{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s7","update":{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":"VERDICT: yes"}}}}}}}}
        {{"jsonrpc":"2.0","id":3,"result":{{"stopReason":"end_turn"}}}}
        >
        "#
    );
    let shown = talk(&format!("{OPEN}{conversation}"), &condition("s1", "the tide is out"), agent).await;
    shown
        .lines()
        .find(|line| line.starts_with("Verdict") || line.contains(": `"))
        .unwrap_or(&shown)
        .to_owned()
}

#[tokio::test]
async fn a_question_fails_if_its_agent_changes_something_without_asking() {
    const EDIT: &str = r#""title":"Write a.md","kind":"edit","locations":[{"path":"/p/a.md"}]"#;
    const WRITING: &str = r#""title":"uniq a b","kind":"execute","rawInput":{"command":"uniq a b"}"#;
    const READING: &str = r#""title":"git log","kind":"execute","rawInput":{"command":"git log"}"#;
    for agent in [None, Some("gemini")] {
        for call in [EDIT, WRITING] {
            let shown = unasked(call, agent).await;
            assert!(shown.contains("was used without a question"), "{agent:?}: {shown}");
        }
        let shown = unasked(READING, agent).await;
        assert!(shown.contains("met: true"), "{agent:?}: {shown}");
    }
    // Its sandbox lets it write nothing, whatever it reports.
    let shown = unasked(WRITING, Some("codex-acp")).await;
    assert!(shown.contains("met: true"), "{shown}");
}

#[tokio::test]
async fn the_agent_is_set_to_ask_and_to_the_model() {
    let conversation = r#"
        >
        {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{},"authMethods":[]}}
        >
        {"jsonrpc":"2.0","id":2,"result":{"sessionId":"s7","modes":{"currentModeId":"yolo","availableModes":[{"id":"yolo","name":"Yolo"},{"id":"default","name":"Ask"}]},"configOptions":[{"id":"model","name":"Model","category":"model","type":"select","currentValue":"a/gpt-9","options":[{"value":"a/gpt-9","name":"G"},{"value":"b/claude-opus-9","name":"O"}]}]}}
        >
        {"jsonrpc":"2.0","id":3,"result":{}}
        >
        {"jsonrpc":"2.0","id":4,"result":{"configOptions":[]}}
        >
        {"jsonrpc":"2.0","id":5,"result":{"stopReason":"refusal"}}
        >
    "#;
    let task = SessionTask { model: Some("opus".into()), ..task("Do it") };
    let shown = talk(conversation, &request("s1", Effect::Session(Arc::new(task))), None).await;
    expect![[r#"
        session: s7 Some("b/claude-opus-9")
        Refused: acp refused to answer; rephrase the task, or choose another model
        received: {"id":3,"jsonrpc":"2.0","method":"session/set_mode","params":{"modeId":"default","sessionId":"s7"}}
        received: {"id":4,"jsonrpc":"2.0","method":"session/set_config_option","params":{"configId":"model","sessionId":"s7","value":"b/claude-opus-9"}}
    "#]].assert_eq(&shown);
}

#[tokio::test]
async fn failures_say_what_the_agent_reported() {
    check(
        r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32000,"message":"Authentication required"}}
        >"#,
        expect![[r#"
            session: s7 None
            Auth: acp is not signed in, or its key is not accepted (Authentication required); sign in to acp, or set its key in the environment, then resume the run
        "#]],
    )
    .await;
    check(
        r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32603,"message":"Internal error","data":{"details":"prompt is too long: 300000 tokens > 200000 maximum"}}}
        >"#,
        expect![[r#"
            session: s7 None
            ContextTooLong: acp rejected the prompt because it is longer than the context of the model (Internal error: prompt is too long: 300000 tokens > 200000 maximum); pass less in `context:`, or choose a model with a larger context
        "#]],
    )
    .await;
    check("", expect![[r#"
        session: s7 None
        AgentCrashed: acp ended before its session did (exit status: 0); try it by hand in the folder of the project, or choose another harness with `--harness`
    "#]]).await;
}
