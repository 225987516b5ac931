//! The driver of Claude Code, with a program in its place that follows a script.

use std::fmt::Write;
use std::sync::Arc;

use expect_test::{Expect, expect};
use prose_harness::decide::PromptedDecisions;
use prose_harness::drivers::claude::Claude;
use prose_harness::drivers::{AgentHost, AgentProgram};
use prose_vm::activity::{
    Activity, AnswerFuture, AnswerSource, Approvals, NoApprovals, PermissionAnswer, PermissionQuestion,
    Reporter,
};
use prose_vm::effect::{Effect, Failure, Permission, PermissionRule, Reply, RequestId, SessionTask};
use prose_vm::error::ErrorKind;
use prose_vm::harness::{Harness, RunFolders};
use tempfile::TempDir;
use tokio::sync::mpsc::unbounded_channel;

use crate::support::*;

/// The result of a turn in which nothing was used.
const DONE: &str = r#"{"send": {"type": "result", "subtype": "success", "result": "done\n"}}"#;

/// A project with the script of an agent.
struct Agent {
    folder: TempDir,
    harness: PromptedDecisions<Claude>,
}

impl Agent {
    fn new(script: &str) -> Self {
        let folder = prose_fixture::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        let script = script.replace("RECORD", &path("record"));
        std::fs::write(path("script"), script).unwrap();
        let program = program(env!("CARGO_BIN_EXE_agent-for-tests"), &[&path("script")]);
        let folders = RunFolders { root: folder.path().to_owned(), run: None };
        let supervisor = Some(env!("CARGO_BIN_EXE_supervisor-for-tests").into());
        // Other tests do not wait for its provider.
        let host = AgentHost::new("claude", program, folders)
            .supervised_by(supervisor)
            .sharing_gates(Some(&folder.path().join("gates")));
        let harness = PromptedDecisions::new(Claude::new(host));
        Self { folder, harness }
    }

    async fn session(&self, task: SessionTask) -> (Result<Reply, Failure>, Vec<Activity>) {
        self.session_with(task, Arc::new(NoApprovals)).await
    }

    async fn session_with(
        &self,
        task: SessionTask,
        approvals: Arc<dyn Approvals>,
    ) -> (Result<Reply, Failure>, Vec<Activity>) {
        let (sender, mut reports) = unbounded_channel();
        let reporter = Reporter::new(RequestId(1), sender, approvals);
        let asked = request("s1", Effect::Session(Arc::new(task)));
        let said = reply(self.harness.perform(&asked, &reporter).await);
        let mut seen = Vec::new();
        while let Ok((_, report)) = reports.try_recv() {
            seen.push(report);
        }
        (said, seen)
    }

    /// What the agent recorded.
    fn recorded(&self) -> String {
        let folder = self.folder.path().display().to_string();
        std::fs::read_to_string(self.folder.path().join("record")).unwrap().replace(&folder, "PROJECT")
    }
}

fn program(program: &str, arguments: &[&str]) -> AgentProgram {
    AgentProgram {
        program: program.to_owned(),
        arguments: arguments.iter().map(|argument| (*argument).to_owned()).collect(),
        variables: Vec::new(),
        unknown_models: Vec::new(),
        install: "npm install -g @anthropic-ai/claude-code",
    }
}

/// What a session with a script reports and says.
async fn told(script: &str, task: SessionTask) -> String {
    let agent = Agent::new(script);
    let (said, reports) = agent.session(task).await;
    let mut told = String::new();
    for report in reports {
        writeln!(told, "{}", serde_json::to_string(&report).unwrap()).unwrap();
    }
    match said {
        Ok(reply) => writeln!(told, "reply: {}", reply.text).unwrap(),
        Err(failure) => writeln!(told, "{:?}: {}", failure.kind, failure.message).unwrap(),
    }
    let told = told.replace(&agent.folder.path().display().to_string(), "PROJECT");
    // Questions are numbered over all tests.
    let number = told.find("permission-").map(|at| at + "permission-".len());
    let number = number.map(|at| told[at..].split('"').next().unwrap_or_default().to_owned());
    number.map_or(told.clone(), |number| told.replace(&format!("permission-{number}"), "permission-N"))
}

#[track_caller]
fn check(found: &str, expected: Expect) {
    expected.assert_eq(found);
}

fn rules(rules: &[(&str, PermissionRule)]) -> Vec<Permission> {
    let permission =
        |(about, rule): &(&str, PermissionRule)| Permission { about: (*about).into(), rule: rule.clone() };
    rules.iter().map(permission).collect()
}

#[tokio::test]
async fn everything_that_a_session_does_is_reported() {
    let script = r#"
        {"receive": {"type": "user"}}
        {"send": {"type": "control_request", "request_id": "1", "request": {"subtype": "hook_callback", "callback_id": "session", "input": {"transcript_path": "/home/t.jsonl", "cwd": "/"}}}}
        {"receive": {"type": "control_response", "response": {"subtype": "success", "request_id": "1"}}}
        {"send": {"type": "system", "subtype": "init", "session_id": "S1", "model": "claude-opus"}}
        {"send": {"type": "stream_event", "parent_tool_use_id": null, "event": {"type": "message_start", "message": {"id": "m1", "usage": {"input_tokens": 3, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 10, "output_tokens": 1}}}}}
        {"send": {"type": "stream_event", "parent_tool_use_id": null, "event": {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Which file?"}}}}
        {"send": {"type": "stream_event", "parent_tool_use_id": null, "event": {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "I look"}}}}
        {"send": {"type": "stream_event", "parent_tool_use_id": null, "event": {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": " into it."}}}}
        {"send": {"type": "assistant", "parent_tool_use_id": null, "message": {"id": "m1", "content": [{"type": "text", "text": "I look into it."}]}}}
        {"send": {"type": "assistant", "parent_tool_use_id": null, "message": {"id": "m1", "content": [{"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "/a.md"}}]}}}
        {"send": {"type": "stream_event", "parent_tool_use_id": null, "event": {"type": "message_delta", "delta": {}, "usage": {"output_tokens": 7}}}}
        {"send": {"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "t1", "is_error": true, "content": "no such file"}]}}}
        {"send": {"type": "assistant", "parent_tool_use_id": "t0", "message": {"id": "m2", "content": [{"type": "text", "text": "of a subagent"}]}}}
        {"send": {"type": "assistant", "parent_tool_use_id": null, "message": {"id": "m3", "content": [{"type": "text", "text": "Done."}]}}}
        {"send": {"type": "something_new", "of": ["a", "later", "version"]}}
        {"send": {"type": "result", "subtype": "success", "result": "Done.\n", "total_cost_usd": 0.25, "usage": {"input_tokens": 1}, "modelUsage": {"claude-opus": {"inputTokens": 5, "cacheReadInputTokens": 200, "cacheCreationInputTokens": 10, "outputTokens": 9}, "claude-haiku": {"inputTokens": 30, "outputTokens": 2}}}}
        {"wait": true}
    "#;
    check(
        &told(script, task("Look into tides")).await,
        expect![[r#"
        {"activity":"agent","id":"S1","model":"claude-opus","transcript":"/home/t.jsonl"}
        {"activity":"reasoning","text":"Which file?"}
        {"activity":"text","text":"I look"}
        {"activity":"text","text":" into it."}
        {"activity":"tool","id":"t1","kind":"read","title":"read /a.md","paths":["/a.md"],"status":"running"}
        {"activity":"used","input_tokens":113,"cache_read_tokens":100,"cache_write_tokens":10,"output_tokens":7}
        {"activity":"tool","id":"t1","kind":"read","title":"read /a.md","paths":["/a.md"],"status":"failed"}
        {"activity":"text","text":"\n\n"}
        {"activity":"text","text":"Done."}
        {"activity":"used","input_tokens":132,"cache_read_tokens":100,"output_tokens":4,"cost":0.25}
        reply: Done.
    "#]],
    );
}

#[tokio::test]
async fn every_use_of_a_tool_is_asked_and_answered() {
    let ask = |number: u32, tool: &str, input: &str| {
        format!(
            r#"{{"send": {{"type": "assistant", "parent_tool_use_id": null, "message": {{"id": "m{number}", "content": [{{"type": "tool_use", "id": "t{number}", "name": "{tool}", "input": {input}}}]}}}}}}
            {{"send": {{"type": "control_request", "request_id": "h{number}", "request": {{"subtype": "hook_callback", "callback_id": "tool", "input": {{"tool_name": "{tool}"}}}}}}}}
            {{"receive": {{"response": {{"request_id": "h{number}", "response": {{"hookSpecificOutput": {{"permissionDecision": "ask"}}}}}}}}}}
            {{"send": {{"type": "control_request", "request_id": "q{number}", "request": {{"subtype": "can_use_tool", "tool_name": "{tool}", "input": {input}, "tool_use_id": "t{number}"}}}}}}
            "#
        )
    };
    let result = |number: u32| {
        format!(
            r#"{{"send": {{"type": "user", "message": {{"content": [{{"type": "tool_result", "tool_use_id": "t{number}", "content": "fine"}}]}}}}}}
            "#
        )
    };
    let script = [
        r#"{"receive": {"type": "control_request", "request": {"subtype": "initialize", "hooks": {"PreToolUse": [{"hookCallbackIds": ["tool"]}]}}}}
        {"receive": {"type": "user"}}
        {"send": {"type": "system", "subtype": "init", "session_id": "S1"}}
        "#,
        &ask(1, "Bash", r#"{"command": "git log"}"#),
        r#"{"receive": {"response": {"request_id": "q1", "response": {"behavior": "allow", "updatedInput": {"command": "git log"}}}}}
        "#,
        &result(1),
        &ask(2, "Bash", r#"{"command": "git log --output=f"}"#),
        r#"{"receive": {"response": {"request_id": "q2", "response": {"behavior": "deny"}}}}
        "#,
        &result(2),
        r#"{"send": {"type": "result", "result": "done", "permission_denials": [{"tool_name": "Bash", "tool_use_id": "t2", "tool_input": {"command": "git log --output=f"}}, {"tool_name": "Write", "tool_use_id": "t3", "tool_input": {"file_path": "/etc/passwd"}}]}}
        {"wait": true}"#,
    ]
    .concat();
    let permissions = rules(&[("bash", PermissionRule::Patterns(vec!["git log*".to_owned()]))]);
    check(
        &told(&script, SessionTask { permissions, ..task("Look into tides") }).await,
        expect![[r#"
            {"activity":"agent","id":"S1"}
            {"activity":"tool","id":"t1","kind":"execute","title":"git log","status":"pending"}
            {"activity":"tool","id":"t1","kind":"execute","title":"git log","status":"running"}
            {"activity":"tool","id":"t1","kind":"execute","title":"git log","status":"completed"}
            {"activity":"tool","id":"t2","kind":"execute","title":"git log --output=f","status":"pending"}
            {"activity":"asked","id":"permission-N","title":"git log --output=f","rule":"`--output=f` of `git log --output=f` can write files or run programs"}
            {"activity":"answered","id":"permission-N","is_allowed":false,"from":"no-one"}
            {"activity":"denied","title":"git log --output=f","reason":"`--output=f` of `git log --output=f` can write files or run programs, and no one is there to answer"}
            {"activity":"tool","id":"t2","kind":"execute","title":"git log --output=f","status":"denied"}
            {"activity":"denied","title":"write /etc/passwd","reason":"the settings of claude deny it"}
            reply: done
        "#]],
    );
}

/// A person who gives an answer.
struct Says(bool);

impl Approvals for Says {
    fn ask<'a>(&'a self, question: &'a PermissionQuestion) -> AnswerFuture<'a> {
        assert_eq!((question.title.as_str(), question.rule.as_str()), ("make", "bash: prompt"));
        let answer = PermissionAnswer::once(self.0, AnswerSource::Terminal, None);
        Box::pin(std::future::ready(answer))
    }
}

#[tokio::test]
async fn a_person_answers_where_the_permissions_ask() {
    let script = r#"
        {"receive": {"type": "user"}}
        {"send": {"type": "control_request", "request_id": "q", "request": {"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "make"}, "tool_use_id": "t"}}}
        {"receive": {"type": "control_response"}}
        {"send": {"type": "result", "result": "$behavior"}}
        {"wait": true}
    "#;
    let task = || SessionTask {
        permissions: rules(&[("bash", PermissionRule::Prompt)]),
        agent: Some("builder".into()),
        ..task("Build it")
    };
    for (answer, behavior) in [(true, "allow"), (false, "deny")] {
        let (said, _) = Agent::new(script).session_with(task(), Arc::new(Says(answer))).await;
        assert_eq!(&*said.unwrap().text, behavior);
    }
    let (said, _) = Agent::new(script).session(task()).await;
    let failure = said.unwrap_err();
    assert_eq!(failure.kind, ErrorKind::ApprovalNeeded);
    assert!(failure.message.contains("agent `builder`"), "{}", failure.message);
}

#[tokio::test]
async fn without_rules_the_questions_of_the_agent_are_denied() {
    let script = r#"
        {"receive": {"type": "user"}}
        {"send": {"type": "control_request", "request_id": "q", "request": {"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "make"}, "tool_use_id": "t"}}}
        {"receive": {"type": "control_response"}}
        {"send": {"type": "control_request", "request_id": "r", "request": {"subtype": "of_a_later_version"}}}
        {"receive": {"type": "control_response", "response": {"subtype": "error", "request_id": "r"}}}
        {"send": {"type": "result", "result": "done"}}
        {"wait": true}
    "#;
    check(
        &told(script, task("Build it")).await,
        expect![[r#"
        {"activity":"denied","title":"make","reason":"no rule allows shell commands; write `bash: allow`, or patterns such as `execute: [\"git log*\"]`, below `permissions:` of the agent or in `[run.permissions]` in `prose.toml`"}
        reply: done
    "#]],
    );
}

#[tokio::test]
async fn a_tool_that_runs_without_a_question_ends_the_session() {
    let script = r#"
        {"receive": {"type": "user"}}
        {"send": {"type": "assistant", "parent_tool_use_id": null, "message": {"id": "m", "content": [{"type": "tool_use", "id": "t", "name": "Read", "input": {"file_path": "/etc/passwd"}}]}}}
        {"send": {"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "t", "content": "root"}]}}}
        {"wait": true}
    "#;
    let permissions = rules(&[("read", PermissionRule::Patterns(vec!["docs/**".to_owned()]))]);
    check(
        &told(script, SessionTask { permissions, ..task("Go") }).await,
        expect![[r#"
        {"activity":"tool","id":"t","kind":"read","title":"read /etc/passwd","paths":["/etc/passwd"],"status":"pending"}
        {"activity":"tool","id":"t","kind":"read","title":"read /etc/passwd","paths":["/etc/passwd"],"status":"completed"}
        Permission: claude has used a tool without asking, so its permissions cannot be enforced: read /etc/passwd; check its settings and version, or use another harness
    "#]],
    );
}

#[tokio::test]
async fn a_rejected_key_ends_the_session_before_the_agent_gives_up() {
    let script = r#"
        {"receive": {"type": "user"}}
        {"send": {"type": "system", "subtype": "api_retry", "attempt": 1, "max_retries": 10, "retry_delay_ms": 514.3, "error_status": 429, "error": "rate_limit"}}
        {"send": {"type": "system", "subtype": "api_retry", "attempt": 2, "max_retries": 10, "retry_delay_ms": 1000, "error_status": 401, "error": "authentication_failed"}}
        {"wait": true}
    "#;
    check(
        &told(script, task("Go")).await,
        expect![[r#"
        {"activity":"provider-retry","attempt":1,"status":429,"delay_ms":514,"message":"status 429: rate limit"}
        Auth: claude is not signed in, or its key is not accepted (status 401: authentication failed); sign in with `claude auth login`, or set `ANTHROPIC_API_KEY`, then resume the run
    "#]],
    );
}

#[tokio::test]
async fn a_session_that_has_used_a_tool_waits_for_its_provider_and_continues() {
    let script = r#"
        {"receive": {"type": "user"}}
        {"send": {"type": "assistant", "parent_tool_use_id": null, "message": {"id": "m1", "content": [{"type": "tool_use", "id": "t1", "name": "Write", "input": {"file_path": "/a.md"}}]}}}
        {"send": {"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "t1", "content": "written"}]}}}
        {"send": {"type": "result", "subtype": "success", "is_error": true, "result": "API Error: 429 rate_limit", "api_error_status": 429}}
        {"receive": {"type": "user", "message": {"role": "user", "content": "The provider turned your last request away. Continue where you stopped."}}}
        {"send": {"type": "result", "subtype": "success", "result": "done"}}
    "#;
    let (said, reports) = Agent::new(script).session(task("Go")).await;
    assert_eq!(&*said.unwrap().text, "done");
    let waits = reports.iter().filter(|it| matches!(it, Activity::ProviderRetry(_))).count();
    assert_eq!(waits, 1);
}

#[tokio::test]
async fn a_retry_of_the_agent_lets_other_sessions_wait_for_the_provider() {
    let script = r#"
        {"receive": {"type": "user"}}
        {"send": {"type": "system", "subtype": "api_retry", "attempt": 1, "max_retries": 10, "retry_delay_ms": 1500, "error_status": 429, "error": "rate_limit"}}
        {"send": {"type": "result", "subtype": "success", "result": "done"}}
    "#;
    let agent = Agent::new(script);
    let retries = |reports: Vec<Activity>| {
        let retries = reports.into_iter().filter_map(|report| match report {
            Activity::ProviderRetry(retry) => Some((retry.attempt, retry.status)),
            _ => None,
        });
        retries.collect::<Vec<_>>()
    };
    let (said, reports) = agent.session(task("Go")).await;
    assert_eq!((&*said.unwrap().text, retries(reports)), ("done", vec![(1, Some(429))]));
    // Its attempt of its own was repeated by the agent, and costs no retry of the program.
    let (said, reports) = agent.session(task("Go")).await;
    assert_eq!((&*said.unwrap().text, retries(reports)), ("done", vec![(0, None), (1, Some(429))]));
}

#[tokio::test]
async fn errors_are_classified_and_quote_no_prompt() {
    let mut shown = String::new();
    for result in [
        r#"{"is_error": true, "result": "API Error: 400 messages: too many images", "api_error_status": 400}"#,
        r#"{"is_error": true, "result": "Not logged in · Please run /login"}"#,
        r#"{"is_error": true, "result": "Credit balance is too low", "api_error_status": 400}"#,
        r#"{"is_error": true, "result": "Prompt is too long · the request is ~250000 tokens", "api_error_status": 400}"#,
        r#"{"is_error": true, "subtype": "error_max_turns"}"#,
        r#"{"is_error": true, "subtype": "error_during_execution", "errors": ["\u001b[91mboom\u001b[0m"]}"#,
    ] {
        let mut result: serde_json::Value = serde_json::from_str(result).unwrap();
        result["type"] = "result".into();
        let script =
            format!("{{\"receive\": {{\"type\": \"user\"}}}}\n{{\"send\": {result}}}\n{{\"wait\": true}}");
        shown.push_str(&told(&script, task("Look into tides")).await);
    }
    for script in [
        r#"{"say": "\u001b[91mSegmentation fault\u001b[0m"}
           {"exit": 139}"#,
        r#"{"say": "error: unknown option '--permission-prompt-tool'"}
           {"exit": 1}"#,
        r#"{"exit": 0}"#,
    ] {
        shown.push_str(&told(script, task("Look into tides")).await);
    }
    check(
        &shown,
        expect![[r#"
            Session: claude reported an error: API Error: 400 messages: too many images
            Auth: claude is not signed in, or its key is not accepted (Not logged in · Please run /login); sign in with `claude auth login`, or set `ANTHROPIC_API_KEY`, then resume the run
            Budget: claude rejected the request because a budget or usage limit of the account is exhausted (status 400: Credit balance is too low); raise the limit or wait until it resets, then resume the run
            ContextTooLong: claude rejected the prompt because it is longer than the context of the model (status 400: Prompt is too long · the request is ~250000 tokens); pass less in `context:`, or choose a model with a larger context
            Session: claude reported an error: error max turns
            Session: claude reported an error: boom
            AgentCrashed: claude ended before its session did (exit status: 139: Segmentation fault); try it by hand in the folder of the project, or choose another harness with `--harness`
            AgentCrashed: claude ended before its session did (exit status: 1: error: unknown option '--permission-NAgentCrashed: claude ended before its session did (exit status: 0); try it by hand in the folder of the project, or choose another harness with `--harness`
        "#]],
    );
}

#[tokio::test]
async fn r024_r026_the_model_and_the_permissions_are_arguments_and_the_system_part_is_not() {
    use PermissionRule::{Allow, Deny, Prompt};
    let script = format!(
        "{}\n{}\n{DONE}\n{}",
        r#"{"receive": {"type": "control_request"}}"#, r#"{"record": "RECORD"}"#, r#"{"wait": true}"#
    );
    let mut shown = String::new();
    for (permissions, model) in [
        (&[][..], None),
        (&[("bash", Allow), ("read", Allow)], Some("provider/large")),
        (&[("write", Deny), ("network", Allow)], Some("sonnet")),
        (&[("network", Deny)], None),
        (&[("bash", Prompt)], None),
    ] {
        let task = SessionTask {
            system: Some("Be careful.".into()),
            model: model.map(Into::into),
            permissions: rules(permissions),
            ..task("Go")
        };
        let agent = Agent::new(&script);
        agent.session(task).await.0.unwrap();
        let recorded: serde_json::Value = serde_json::from_str(&agent.recorded()).unwrap();
        writeln!(shown, "{}\n    {}", arguments(&recorded), recorded["received"]["request"]).unwrap();
    }
    check(
        &shown,
        expect![[r#"
        -p --input-format=stream-json --output-format=stream-json --verbose --include-partial-messages --permission-prompt-tool=stdio --strict-mcp-config --disallowedTools=AskUserQuestion --permission-mode=acceptEdits
            {"appendSystemPrompt":"Be careful.","hooks":{"UserPromptSubmit":[{"hookCallbackIds":["session"]}]},"subtype":"initialize"}
        -p --input-format=stream-json --output-format=stream-json --verbose --include-partial-messages --permission-prompt-tool=stdio --strict-mcp-config --model=provider/large --disallowedTools=AskUserQuestion --permission-mode=default --settings={"disableAllHooks":false}
            {"appendSystemPrompt":"Be careful.","hooks":{"PreToolUse":[{"hookCallbackIds":["tool"]}],"UserPromptSubmit":[{"hookCallbackIds":["session"]}]},"subtype":"initialize"}
        -p --input-format=stream-json --output-format=stream-json --verbose --include-partial-messages --permission-prompt-tool=stdio --strict-mcp-config --model=sonnet --disallowedTools=AskUserQuestion --permission-mode=default --settings={"disableAllHooks":false} --tools=Read,Glob,Grep,WebFetch,WebSearch
            {"appendSystemPrompt":"Be careful.","hooks":{"PreToolUse":[{"hookCallbackIds":["tool"]}],"UserPromptSubmit":[{"hookCallbackIds":["session"]}]},"subtype":"initialize"}
        -p --input-format=stream-json --output-format=stream-json --verbose --include-partial-messages --permission-prompt-tool=stdio --strict-mcp-config --disallowedTools=AskUserQuestion --permission-mode=default --settings={"disableAllHooks":false} --tools=Read,Glob,Grep,Write,Edit
            {"appendSystemPrompt":"Be careful.","hooks":{"PreToolUse":[{"hookCallbackIds":["tool"]}],"UserPromptSubmit":[{"hookCallbackIds":["session"]}]},"subtype":"initialize"}
        -p --input-format=stream-json --output-format=stream-json --verbose --include-partial-messages --permission-prompt-tool=stdio --strict-mcp-config --disallowedTools=AskUserQuestion --permission-mode=default --settings={"disableAllHooks":false}
            {"appendSystemPrompt":"Be careful.","hooks":{"PreToolUse":[{"hookCallbackIds":["tool"]}],"UserPromptSubmit":[{"hookCallbackIds":["session"]}]},"subtype":"initialize"}
    "#]],
    );
}

#[tokio::test]
async fn r064_a_question_has_no_tools_and_says_yes_or_no() {
    let script = r#"
        {"receive": {"type": "user"}}
        {"record": "RECORD"}
        {"send": {"type": "result", "result": "VERDICT: yes\nREASON: because"}}
        {"wait": true}
    "#;
    let agent = Agent::new(script);
    assert_eq!(said(&agent.harness, &condition("s1", "it is done")).await, "yes: because");
    let recorded: serde_json::Value = serde_json::from_str(&agent.recorded()).unwrap();
    assert!(recorded["received"]["message"]["content"].as_str().unwrap().contains("it is done"));
    check(
        &arguments(&recorded),
        expect![
            "-p --input-format=stream-json --output-format=stream-json --verbose --include-partial-messages --permission-prompt-tool=stdio --strict-mcp-config --tools= --system-prompt=You answer one question, in the form that it asks for. --safe-mode --disable-slash-commands --no-session-persistence"
        ],
    );
}

/// The recorded arguments of an agent.
fn arguments(recorded: &serde_json::Value) -> String {
    let arguments = recorded["arguments"].as_array().unwrap().iter().map(|it| it.as_str().unwrap());
    arguments.collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn what_a_session_is_asked_again_goes_to_the_same_process_once() {
    let script = r#"
        {"receive": {"type": "user", "message": {"content": "Look into tides"}}}
        {"send": {"type": "result", "result": "Binding written: x", "total_cost_usd": 1, "modelUsage": {"m": {"inputTokens": 10, "outputTokens": 1}}}}
        {"receive": {"type": "user", "message": {"content": "Once more"}}}
        {"send": {"type": "result", "result": "Tides come and go", "total_cost_usd": 1.5, "modelUsage": {"m": {"inputTokens": 30, "outputTokens": 4}}}}
        {"wait": true}
    "#;
    let agent = Agent::new(script);
    let run = agent.folder.path().join("run");
    let folders = RunFolders { root: agent.folder.path().to_owned(), run: Some(run) };
    let script = agent.folder.path().join("script").display().to_string();
    let claude = Claude::new(AgentHost::new(
        "claude",
        program(env!("CARGO_BIN_EXE_agent-for-tests"), &[&script]),
        folders,
    ));
    let agent = Agent { harness: PromptedDecisions::new(claude), ..agent };
    let task = |prompt: &str| SessionTask { writes_result: true, ..task(prompt) };
    let (said, _) = agent.session(task("Look into tides")).await;
    assert_eq!(&*said.unwrap().text, "Binding written: x");
    let (said, reports) = agent.session(task("Look into tides\n\nOnce more")).await;
    assert_eq!(&*said.unwrap().text, "Tides come and go");
    check(
        &serde_json::to_string(&reports).unwrap(),
        expect![[r#"[{"activity":"used","input_tokens":20,"output_tokens":3,"cost":0.5}]"#]],
    );
    agent.harness.settled().await;
}

#[tokio::test]
async fn a_missing_program_is_named() {
    let folders = RunFolders { root: "/".into(), run: None };
    let harness = PromptedDecisions::new(Claude::new(AgentHost::new(
        "claude",
        program("no-such-claude", &[]),
        folders,
    )));
    check(
        &said(&harness, &session("s1", "Go")).await,
        expect![
            "Session: program `no-such-claude` is not found; install claude, for example with `npm install -g @anthropic-ai/claude-code`; if it is installed, add its folder to `PATH`"
        ],
    );
}

#[test]
fn every_rule_is_enforced() {
    let folders = RunFolders { root: "/".into(), run: None };
    let claude =
        PromptedDecisions::new(Claude::new(AgentHost::new("claude", program("claude", &[]), folders)));
    for rule in [PermissionRule::Deny, PermissionRule::Prompt, PermissionRule::Patterns(Vec::new())] {
        for about in ["read", "write", "execute", "bash", "network"] {
            assert!(claude.enforces(about, &rule));
        }
        assert!(!claude.enforces("other", &rule));
    }
    assert!(claude.enforces("other", &PermissionRule::Allow));
}
