//! Sessions with a provider, which a server on this machine plays.

pub(crate) mod server;

use std::sync::Arc;

use expect_test::{Expect, expect};
use futures_util::future::join_all;
use prose_harness::decide::PromptedDecisions;
use prose_harness::drivers::provider::{KnownProvider, Provider, ProviderSettings};
use prose_registry::Secret;
use prose_vm::activity::{Activity, NoApprovals, Reporter};
use prose_vm::effect::{Effect, Failure, Reply, RequestId, SessionTask};
use prose_vm::error::ErrorKind;
use prose_vm::harness::Harness;
use serde_json::{Value, json};
use tokio::sync::mpsc::{self, UnboundedReceiver};

use self::server::{Does, Server, anthropic, gemini, openai};
use crate::support::*;

const KEY: &str = "sk-planted-0123456789";

fn settings(name: &str, server: &Server) -> ProviderSettings {
    ProviderSettings {
        base_url: Some(server.url.clone()),
        key: Some(Secret::new(KEY)),
        ..ProviderSettings::new(KnownProvider::named(name).unwrap())
    }
}

fn harness(settings: ProviderSettings) -> PromptedDecisions<Provider> {
    PromptedDecisions::new(Provider::new(settings))
}

/// Runs a session, and returns what was reported with what came of it.
async fn run(
    harness: &PromptedDecisions<Provider>,
    task: SessionTask,
) -> (Result<Reply, Failure>, Vec<Activity>) {
    let (reporter, reports) = reporter();
    let request = request("s0", Effect::Session(Arc::new(task)));
    let outcome = harness.perform(&request, &reporter).await;
    (reply(outcome), drain(reports))
}

fn reporter() -> (Reporter, UnboundedReceiver<(RequestId, Activity)>) {
    let (sink, reports) = mpsc::unbounded_channel();
    (Reporter::new(RequestId(1), sink, Arc::new(NoApprovals)), reports)
}

fn drain(mut reports: UnboundedReceiver<(RequestId, Activity)>) -> Vec<Activity> {
    std::iter::from_fn(|| Some(reports.try_recv().ok()?.1)).collect()
}

fn shown(reports: &[Activity]) -> String {
    reports.iter().map(|report| serde_json::to_string(report).unwrap() + "\n").collect()
}

#[track_caller]
fn check(found: &str, expected: Expect) {
    expected.assert_eq(found);
}

fn tides() -> SessionTask {
    SessionTask { system: Some("You are an oceanographer.".into()), ..task("Look into tides") }
}

#[tokio::test]
async fn anthropic_gets_the_system_part_to_cache_and_streams_its_reply() {
    let server = Server::start(|_, _| Does::Streams(anthropic("Tides come and go."))).await;
    let harness = harness(settings("anthropic", &server));
    let (reply, reports) = run(&harness, tides()).await;
    assert_eq!(&*reply.unwrap().text, "Tides come and go.");
    check(
        &shown(&reports),
        expect![[r#"
        {"activity":"agent","id":"msg-1","model":"claude-haiku-5-5"}
        {"activity":"used","input_tokens":33,"cache_read_tokens":20,"cache_write_tokens":3,"output_tokens":1}
        {"activity":"text","text":"Tides come and go."}
        {"activity":"used","input_tokens":0,"output_tokens":6}
    "#]],
    );
    let asked = server.asked().remove(0);
    assert_eq!((asked.path.as_str(), asked.header("x-api-key")), ("/v1/messages", Some(KEY)));
    check(
        &asked.body.to_string(),
        expect![[
            r#"{"max_tokens":32000,"messages":[{"content":"Look into tides","role":"user"}],"model":"claude-sonnet-5-5","stream":true,"system":[{"cache_control":{"type":"ephemeral"},"text":"You are an oceanographer.","type":"text"}]}"#
        ]],
    );
}

#[tokio::test]
async fn openai_and_compatible_servers_stream_their_reply() {
    let server = Server::start(|_, _| Does::Streams(openai("Tides come and go."))).await;
    let openai = harness(settings("openai", &server));
    let (reply, reports) = run(&openai, tides()).await;
    assert_eq!(&*reply.unwrap().text, "Tides come and go.");
    check(
        &shown(&reports),
        expect![[r#"
        {"activity":"agent","id":"chat-1","model":"gpt-5"}
        {"activity":"text","text":"Tides com"}
        {"activity":"text","text":"e and go."}
        {"activity":"used","input_tokens":30,"cache_read_tokens":20,"output_tokens":7}
    "#]],
    );
    let asked = server.asked().remove(0);
    assert_eq!(asked.path, "/chat/completions");
    assert_eq!(asked.header("authorization"), Some("Bearer sk-planted-0123456789"));
    check(
        &asked.body.to_string(),
        expect![[
            r#"{"messages":[{"content":"You are an oceanographer.","role":"system"},{"content":"Look into tides","role":"user"}],"model":"gpt-5.5","stream":true,"stream_options":{"include_usage":true}}"#
        ]],
    );

    // Ollama needs no key, and has the models that are installed.
    let local = ProviderSettings { key: None, ..settings("ollama", &server) };
    let ollama = harness(ProviderSettings { model: Some("llama3.3".to_owned()), ..local });
    run(&ollama, SessionTask { model: Some("opus".into()), ..tides() }).await.0.unwrap();
    let asked = server.asked().remove(1);
    assert_eq!((asked.header("authorization"), &asked.body["model"]), (None, &json!("llama3.3")));
}

#[tokio::test]
async fn gemini_streams_its_reply() {
    let server = Server::start(|_, _| Does::Streams(gemini("Tides come and go."))).await;
    let harness = harness(settings("google", &server));
    let (reply, reports) = run(&harness, tides()).await;
    assert_eq!(&*reply.unwrap().text, "Tides come and go.");
    check(
        &shown(&reports),
        expect![[r#"
        {"activity":"agent","id":"g-1","model":"gemini-2.5-flash"}
        {"activity":"reasoning","text":"Hm."}
        {"activity":"used","input_tokens":30,"cache_read_tokens":20,"output_tokens":7}
        {"activity":"text","text":"Tides come and go."}
    "#]],
    );
    let asked = server.asked().remove(0);
    assert_eq!(asked.path, "/models/gemini-2.5-flash:streamGenerateContent?alt=sse");
    assert_eq!(asked.header("x-goog-api-key"), Some(KEY));
    check(
        &asked.body.to_string(),
        expect![[
            r#"{"contents":[{"parts":[{"text":"Look into tides"}],"role":"user"}],"systemInstruction":{"parts":[{"text":"You are an oceanographer."}]}}"#
        ]],
    );
}

#[tokio::test]
async fn r024_names_of_sizes_and_of_the_project_are_mapped_to_models() {
    let server = Server::start(|_, _| Does::Streams(anthropic("Yes."))).await;
    let mut settings = settings("anthropic", &server);
    settings.models.insert("haiku".to_owned(), "claude-mini".to_owned());
    let harness = harness(settings);
    for model in [None, Some("haiku"), Some("opus"), Some("claude-opus-4-6")] {
        run(&harness, SessionTask { model: model.map(Into::into), ..tides() }).await.0.unwrap();
    }
    let models: Vec<Value> = server.asked().iter().map(|asked| asked.body["model"].clone()).collect();
    assert_eq!(models, ["claude-sonnet-5-5", "claude-mini", "claude-opus-5-5", "claude-opus-4-6"]);
}

#[tokio::test]
async fn r064_judges_get_a_schema_and_few_words() {
    let answer = r#"{"answer":"yes","reason":"all tests pass"}"#;
    let server = Server::start(move |_, _| Does::Streams(openai(answer))).await;
    for name in ["openai", "compatible"] {
        let harness = harness(ProviderSettings { model: Some("m".to_owned()), ..settings(name, &server) });
        assert_eq!(said(&harness, &condition("s1", "it is done")).await, "yes: all tests pass");
    }
    let bodies: Vec<_> = server.asked().into_iter().map(|asked| asked.body).collect();
    check(
        &bodies[0]["messages"].to_string(),
        expect![[
            r#"[{"content":"Is this condition met? Judge by its meaning. If you cannot tell, it is not met.\n\nit is done\n\n","role":"user"}]"#
        ]],
    );
    assert_eq!(bodies[0]["response_format"]["type"], "json_schema");
    // A server that may not know schemas gets it as text.
    assert_eq!(bodies[1]["response_format"], Value::Null);
    check(
        bodies[1]["messages"][0]["content"].as_str().unwrap(),
        expect![[r#"
        Is this condition met? Judge by its meaning. If you cannot tell, it is not met.

        it is done

        Answer with a JSON object of this schema and nothing else:

        {"additionalProperties":false,"properties":{"answer":{"description":"the verdict","enum":["yes","no"],"type":"string"},"reason":{"description":"one sentence","type":"string"}},"required":["answer","reason"],"type":"object"}
    "#]],
    );
}

#[tokio::test]
async fn a_session_that_is_turned_away_comes_again_without_a_retry_of_the_program() {
    let server = Server::start(|number, _| match number {
        1 => Does::Answers(
            429,
            "retry-after-ms: 30\r\n",
            "{\"error\":{\"message\":\"Rate limit reached\"}}".to_owned(),
        ),
        2 => Does::Answers(529, "retry-after: 0\r\n", "{\"error\":{\"message\":\"Overloaded\"}}".to_owned()),
        _ => Does::Streams(openai("Done.")),
    })
    .await;
    let (reply, reports) = run(&harness(settings("openai", &server)), tides()).await;
    assert_eq!(&*reply.unwrap().text, "Done.");
    check(
        &shown(&reports[..2]),
        expect![[r#"
        {"activity":"provider-retry","attempt":1,"status":429,"delay_ms":30,"message":"status 429: Rate limit reached"}
        {"activity":"provider-retry","attempt":2,"status":529,"delay_ms":0,"message":"status 529: Overloaded"}
    "#]],
    );
}

#[tokio::test]
async fn a_half_stream_counts_as_nothing_but_what_it_has_cost() {
    let server = Server::start(|number, _| match number {
        1 => Does::BreaksOff(anthropic("Tides")[..4].to_vec()),
        2 => Does::Resets,
        _ => Does::Streams(anthropic("Tides come and go.")),
    })
    .await;
    let (reply, reports) = run(&harness(settings("anthropic", &server)), tides()).await;
    assert_eq!(&*reply.unwrap().text, "Tides come and go.");
    let input: u64 = reports
        .iter()
        .filter_map(|report| match report {
            Activity::Used(usage) => Some(usage.input_tokens),
            _ => None,
        })
        .sum();
    assert_eq!(input, 66);
    let retries = reports.iter().filter(|report| matches!(report, Activity::ProviderRetry(_))).count();
    assert_eq!(retries, 2);
}

#[tokio::test]
async fn faults_that_waiting_does_not_help_fail_at_once() {
    let faults = [
        (401, r#"{"error":{"message":"Incorrect API key provided: sk-planted-0123456789."}}"#),
        (429, r#"{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}"#),
        (400, r#"{"error":{"message":"This model's maximum context length is 8192 tokens."}}"#),
        (404, r#"{"error":{"message":"model not found"}}"#),
    ];
    let server = Server::start(move |number, _| {
        let (status, body) = faults[number - 1];
        Does::Answers(status, "", body.to_owned())
    })
    .await;
    let harness = harness(settings("openai", &server));
    let mut failures = String::new();
    for _ in faults {
        let failure = run(&harness, tides()).await.0.unwrap_err();
        failures.push_str(&format!("{:?}: {}\n", failure.kind, failure.message));
    }
    check(
        &failures,
        expect![[r#"
        Auth: openai is not signed in, or its key is not accepted (status 401: Incorrect API key provided: [key]); set `OPENAI_API_KEY` to a valid key, then resume the run
        Budget: openai rejected the request because a budget or usage limit of the account is exhausted (status 429: You exceeded your current quota); raise the limit or wait until it resets, then resume the run
        ContextTooLong: openai rejected the prompt because it is longer than the context of the model (status 400: This model's maximum context length is 8192 tokens); pass less in `context:`, or choose a model with a larger context
        Session: openai reported an error: status 404: model not found
    "#]],
    );
    assert_eq!(server.asked().len(), faults.len());
}

#[tokio::test]
async fn refusals_and_cut_off_replies_are_reported() {
    let server = Server::start(|number, _| {
        let stop = ["refusal", "max_tokens"][number - 1];
        let mut events = anthropic("Tides");
        events[4]["delta"]["stop_reason"] = stop.into();
        Does::Streams(events)
    })
    .await;
    let harness = harness(settings("anthropic", &server));
    assert_eq!(run(&harness, tides()).await.0.unwrap_err().kind, ErrorKind::Refused);
    let reply = run(&harness, tides()).await.0.unwrap();
    assert_eq!(reply.warnings, ["the reply ends early, at the model's limit of output tokens"]);
}

#[tokio::test]
async fn a_missing_key_or_address_says_what_to_set() {
    let server = Server::start(|_, _| Does::Hangs).await;
    let without = ProviderSettings { key: None, ..settings("anthropic", &server) };
    let named = ProviderSettings { key_variable: Some("MY_KEY".to_owned()), ..without.clone() };
    let compatible = ProviderSettings { base_url: None, ..settings("compatible", &server) };
    let open = ProviderSettings {
        base_url: Some("http://models.example.com".to_owned()),
        ..settings("openai", &server)
    };
    let mut failures = String::new();
    for settings in [without, named, compatible, open] {
        let settings = ProviderSettings { model: Some("m".to_owned()), ..settings };
        let failure = run(&harness(settings), tides()).await.0.unwrap_err();
        failures.push_str(&format!("{:?}: {}\n", failure.kind, failure.message));
    }
    check(
        &failures,
        expect![[r#"
        Auth: the harness `provider` needs a key of Anthropic; set the environment variable `ANTHROPIC_API_KEY`, then resume the run
        Auth: the harness `provider` needs a key of Anthropic; set the environment variable `MY_KEY`, then resume the run
        Session: the provider `compatible` needs an address; set `base-url` in `[run.provider]` in `prose.toml`
        Session: the key of `openai` is not sent to `http://models.example.com/` without encryption; use an address with `https://`
    "#]],
    );
    assert!(server.asked().is_empty());
}

#[tokio::test]
async fn a_session_that_is_cancelled_closes_its_connection() {
    let (asks, asked) = tokio::sync::oneshot::channel();
    let (closes, closed) = tokio::sync::oneshot::channel();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        tokio::io::AsyncReadExt::read_u8(&mut stream).await.unwrap();
        asks.send(()).unwrap();
        // It reads until the client closes the connection.
        let _ = tokio::io::AsyncReadExt::read_to_end(&mut stream, &mut Vec::new()).await;
        closes.send(()).unwrap();
    });
    let settings = ProviderSettings {
        base_url: Some(url),
        model: Some("m".to_owned()),
        ..ProviderSettings::new(KnownProvider::named("compatible").unwrap())
    };
    let harness = harness(settings);
    tokio::select! {
        _ = run(&harness, tides()) => panic!("it has no answer"),
        asked = asked => asked.unwrap(),
    }
    closed.await.unwrap();
}

#[tokio::test]
async fn a_thousand_sessions_through_an_unsteady_provider_all_finish_once() {
    const SESSIONS: usize = 1_000;
    let server = Server::start(|number, asked| {
        let task = asked.body["messages"][0]["content"].as_str().unwrap().to_owned();
        match number {
            number if number % 50 == 0 => Does::Resets,
            number if number % 10 == 0 => Does::Answers(
                429,
                "retry-after-ms: 10\r\n",
                format!("{{\"error\":{{\"message\":\"Slow down, {KEY}\"}}}}"),
            ),
            _ => Does::Streams(openai(&task)),
        }
    })
    .await;
    let harness = harness(settings("openai", &server));
    let replies = join_all((0..SESSIONS).map(|number| {
        let harness = &harness;
        async move { run(harness, task(&format!("Session {number}."))).await }
    }))
    .await;
    let mut seen = String::new();
    for (number, (reply, reports)) in replies.iter().enumerate() {
        assert_eq!(&*reply.as_ref().unwrap().text, format!("Session {number}."));
        let used = reports.iter().filter(|report| matches!(report, Activity::Used(_))).count();
        assert_eq!(used, 1, "session {number} was answered once");
        seen.push_str(&shown(reports));
    }
    // Of ten requests nine are answered.
    let faults = server.asked().len() - SESSIONS;
    assert!((100..=125).contains(&faults), "{faults}");
    assert!(!seen.contains(KEY));
}

#[tokio::test]
async fn keys_are_nowhere_to_be_seen() {
    let server = Server::start(|_, asked| {
        let body =
            format!("{{\"error\":{{\"message\":\"bad key {}\"}}}}", asked.header("x-api-key").unwrap());
        Does::Answers(401, "", body)
    })
    .await;
    // A key may look like anything.
    let settings =
        ProviderSettings { key: Some(Secret::new("plain words")), ..settings("anthropic", &server) };
    let harness = harness(settings);
    let (reply, reports) = run(&harness, tides()).await;
    let failure = reply.unwrap_err();
    assert_eq!(failure.kind, ErrorKind::Auth);
    let seen = format!("{failure:?} {} {harness:?}", shown(&reports));
    assert!(!seen.contains("plain words") && seen.contains("bad key [key]"), "{seen}");
}
