//! Faults of providers, in their own words.

use expect_test::{Expect, expect};
use prose_harness::faults::{classify, delay_in, failure, is_transient, redacted};

#[track_caller]
fn check_classes(faults: &[(Option<u16>, &str)], expected: Expect) {
    let lines = faults.iter().map(|(status, message)| {
        let kind = classify(*status, message);
        let waits = if is_transient(kind) { ", tried again" } else { "" };
        let status = status.map_or_else(|| "---".to_owned(), |status| status.to_string());
        format!("{status} {message} → {kind:?}{waits}\n")
    });
    expected.assert_eq(&lines.collect::<String>());
}

#[test]
fn faults_of_anthropic() {
    check_classes(
        &[
            (
                Some(401),
                r#"{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}"#,
            ),
            (
                Some(403),
                r#"{"type":"error","error":{"type":"permission_error","message":"Your API key does not have permission to use the specified resource."}}"#,
            ),
            (
                Some(400),
                r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}"#,
            ),
            (
                Some(400),
                r#"{"type":"error","error":{"type":"invalid_request_error","message":"You have reached your specified API usage limits."}}"#,
            ),
            (
                Some(400),
                r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#,
            ),
            (
                Some(400),
                r#"{"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: must be at least 1"}}"#,
            ),
            (Some(404), r#"{"type":"error","error":{"type":"not_found_error","message":"model: claude-9"}}"#),
            (Some(413), "Request exceeds the maximum size"),
            (
                Some(429),
                r#"{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your organization's rate limit of 50 requests per minute"}}"#,
            ),
            (Some(500), r#"{"type":"error","error":{"type":"api_error","message":"Internal server error"}}"#),
            (Some(529), r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#),
        ],
        expect![[r#"
            401 {"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}} → Auth
            403 {"type":"error","error":{"type":"permission_error","message":"Your API key does not have permission to use the specified resource."}} → Auth
            400 {"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}} → Budget
            400 {"type":"error","error":{"type":"invalid_request_error","message":"You have reached your specified API usage limits."}} → Budget
            400 {"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}} → ContextTooLong
            400 {"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: must be at least 1"}} → Session
            404 {"type":"error","error":{"type":"not_found_error","message":"model: claude-9"}} → Session
            413 Request exceeds the maximum size → ContextTooLong
            429 {"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your organization's rate limit of 50 requests per minute"}} → RateLimit, tried again
            500 {"type":"error","error":{"type":"api_error","message":"Internal server error"}} → Provider, tried again
            529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}} → RateLimit, tried again
        "#]],
    );
}

#[test]
fn faults_of_openai_and_compatible_servers() {
    check_classes(
        &[
            (
                Some(401),
                r#"{"error":{"message":"Incorrect API key provided: sk-abc***xyz.","code":"invalid_api_key"}}"#,
            ),
            (Some(403), r#"{"error":{"code":"unsupported_country_region_territory"}}"#),
            (
                Some(429),
                r#"{"error":{"message":"Rate limit reached for gpt-5 on tokens per min (TPM): Limit 30000. Please try again in 6s.","code":"rate_limit_exceeded"}}"#,
            ),
            (
                Some(429),
                r#"{"error":{"message":"Request too large for gpt-5 on tokens per min (TPM): Limit 30000, Requested 40000."}}"#,
            ),
            (
                Some(429),
                r#"{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","code":"insufficient_quota"}}"#,
            ),
            (
                Some(400),
                r#"{"error":{"message":"Your input exceeds the context window of this model.","code":"context_length_exceeded"}}"#,
            ),
            (
                Some(400),
                r#"{"error":{"message":"Invalid prompt: your prompt was flagged as potentially violating our usage policy.","code":"invalid_prompt"}}"#,
            ),
            (Some(500), "The server had an error while processing your request. Sorry about that!"),
            (Some(503), "The engine is currently overloaded, please try again later"),
            (Some(503), "invalid api key"),
            (Some(502), "<html>nginx</html>"),
            (Some(404), r#"{"error":{"message":"model \"llama9\" not found, try pulling it first"}}"#),
        ],
        expect![[r#"
            401 {"error":{"message":"Incorrect API key provided: sk-abc***xyz.","code":"invalid_api_key"}} → Auth
            403 {"error":{"code":"unsupported_country_region_territory"}} → Auth
            429 {"error":{"message":"Rate limit reached for gpt-5 on tokens per min (TPM): Limit 30000. Please try again in 6s.","code":"rate_limit_exceeded"}} → RateLimit, tried again
            429 {"error":{"message":"Request too large for gpt-5 on tokens per min (TPM): Limit 30000, Requested 40000."}} → ContextTooLong
            429 {"error":{"message":"You exceeded your current quota, please check your plan and billing details.","code":"insufficient_quota"}} → Budget
            400 {"error":{"message":"Your input exceeds the context window of this model.","code":"context_length_exceeded"}} → ContextTooLong
            400 {"error":{"message":"Invalid prompt: your prompt was flagged as potentially violating our usage policy.","code":"invalid_prompt"}} → Refused
            500 The server had an error while processing your request. Sorry about that! → Provider, tried again
            503 The engine is currently overloaded, please try again later → RateLimit, tried again
            503 invalid api key → RateLimit, tried again
            502 <html>nginx</html> → Provider, tried again
            404 {"error":{"message":"model \"llama9\" not found, try pulling it first"}} → Session
        "#]],
    );
}

#[test]
fn faults_of_gemini() {
    check_classes(
        &[
            (
                Some(400),
                r#"{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}"#,
            ),
            (
                Some(403),
                r#"{"error":{"code":403,"message":"Method doesn't allow unregistered callers","status":"PERMISSION_DENIED"}}"#,
            ),
            (
                Some(429),
                r#"{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details. Please retry in 34.07s.","status":"RESOURCE_EXHAUSTED","details":[{"quotaId":"GenerateRequestsPerMinutePerProjectPerModel-FreeTier"}]}}"#,
            ),
            (
                Some(429),
                r#"{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.","status":"RESOURCE_EXHAUSTED","details":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]}}"#,
            ),
            (
                Some(400),
                r#"{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."}}"#,
            ),
            (
                Some(503),
                r#"{"error":{"code":503,"message":"The model is overloaded. Please try again later.","status":"UNAVAILABLE"}}"#,
            ),
            (
                Some(500),
                r#"{"error":{"code":500,"message":"An internal error has occurred.","status":"INTERNAL"}}"#,
            ),
        ],
        expect![[r#"
            400 {"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}} → Auth
            403 {"error":{"code":403,"message":"Method doesn't allow unregistered callers","status":"PERMISSION_DENIED"}} → Auth
            429 {"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details. Please retry in 34.07s.","status":"RESOURCE_EXHAUSTED","details":[{"quotaId":"GenerateRequestsPerMinutePerProjectPerModel-FreeTier"}]}} → RateLimit, tried again
            429 {"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.","status":"RESOURCE_EXHAUSTED","details":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]}} → Budget
            400 {"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."}} → ContextTooLong
            503 {"error":{"code":503,"message":"The model is overloaded. Please try again later.","status":"UNAVAILABLE"}} → RateLimit, tried again
            500 {"error":{"code":500,"message":"An internal error has occurred.","status":"INTERNAL"}} → Provider, tried again
        "#]],
    );
}

#[test]
fn faults_of_agents() {
    check_classes(
        &[
            // Claude Code
            (None, "Invalid API key · Please run /login"),
            (None, "OAuth token revoked · Please run /login"),
            (None, "Failed to authenticate. API Error: 401 {\"type\":\"error\"}"),
            (None, "Credit balance is too low"),
            (None, "You've hit your limit · resets 3pm"),
            (None, "Claude usage limit reached. Your limit will reset at 3pm"),
            (None, "Prompt is too long"),
            (
                None,
                "API Error: 529 {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}",
            ),
            (None, "API Error: Repeated 529 Overloaded errors"),
            (None, "API Error: Request timed out."),
            (
                None,
                "API Error: Claude Code is unable to respond to this request, which appears to violate our Usage Policy",
            ),
            // Codex
            (None, "unexpected status 401 Unauthorized: Missing bearer or basic authentication in header"),
            (None, "Your access token could not be refreshed. Please log out and sign in again."),
            (None, "exceeded retry limit, last status: 429 Too Many Requests"),
            (None, "You've hit your usage limit. Upgrade to Pro, or try again in 3 days 2 hours"),
            (None, "stream disconnected before completion: error sending request"),
            (None, "Selected model is at capacity. Please try a different model."),
            (None, "Codex ran out of room in the model's context window."),
            // OpenCode
            (None, "ProviderAuthError: no key"),
            (None, "AI_APICallError: Too Many Requests"),
            (None, "AI_LoadAPIKeyError: Anthropic API key is missing. Pass it using the 'apiKey' parameter"),
            // None of a provider
            (None, "error: unknown option '--outputs'"),
            (None, "the tests fail: 500 of 501"),
        ],
        expect![[r#"
            --- Invalid API key · Please run /login → Auth
            --- OAuth token revoked · Please run /login → Auth
            --- Failed to authenticate. API Error: 401 {"type":"error"} → Auth
            --- Credit balance is too low → Budget
            --- You've hit your limit · resets 3pm → Budget
            --- Claude usage limit reached. Your limit will reset at 3pm → Budget
            --- Prompt is too long → ContextTooLong
            --- API Error: 529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}} → RateLimit, tried again
            --- API Error: Repeated 529 Overloaded errors → RateLimit, tried again
            --- API Error: Request timed out. → Provider, tried again
            --- API Error: Claude Code is unable to respond to this request, which appears to violate our Usage Policy → Refused
            --- unexpected status 401 Unauthorized: Missing bearer or basic authentication in header → Auth
            --- Your access token could not be refreshed. Please log out and sign in again. → Auth
            --- exceeded retry limit, last status: 429 Too Many Requests → RateLimit, tried again
            --- You've hit your usage limit. Upgrade to Pro, or try again in 3 days 2 hours → Budget
            --- stream disconnected before completion: error sending request → Provider, tried again
            --- Selected model is at capacity. Please try a different model. → RateLimit, tried again
            --- Codex ran out of room in the model's context window. → ContextTooLong
            --- ProviderAuthError: no key → Auth
            --- AI_APICallError: Too Many Requests → RateLimit, tried again
            --- AI_LoadAPIKeyError: Anthropic API key is missing. Pass it using the 'apiKey' parameter → Auth
            --- error: unknown option '--outputs' → Session
            --- the tests fail: 500 of 501 → Session
        "#]],
    );
}

#[test]
fn failures_teach_how_to_fix_them() {
    let faults = [
        failure("claude", None, "Invalid API key · Please run /login"),
        failure("codex", Some(401), "Unauthorized"),
        failure(
            "openai",
            Some(401),
            r#"{"error":{"message":"Incorrect API key provided: sk-abcdef***uvw."}}"#,
        ),
        failure("opencode", None, "\u{1b}[91mError: \u{1b}[0mProviderAuthError"),
        failure(
            "claude",
            None,
            "API Error: 529 {\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}",
        ),
        failure("google", Some(500), ""),
        failure("anthropic", Some(400), "prompt is too long: 3 tokens > 2 maximum"),
        failure("anthropic", Some(400), "{\"error\":{\"message\":\"max_tokens: must be at least 1\"}}"),
        failure("codex", None, "You've hit your usage limit."),
        failure("openai", Some(400), "content_policy_violation"),
        failure(
            "codex",
            Some(400),
            r#"{"error":{"message":"\u001b[31mBad\u001b[0m: the request was: {\"model\":\"x\",\"input\":[\"the plan\"]}"}}"#,
        ),
    ];
    let lines: String = faults.iter().map(|fault| format!("{:?}: {}\n", fault.kind, fault.message)).collect();
    expect![[r#"
        Auth: claude is not signed in, or its key is not accepted (Invalid API key · Please run /login); sign in with `claude auth login`, or set `ANTHROPIC_API_KEY`, then resume the run
        Auth: codex is not signed in, or its key is not accepted (status 401: Unauthorized); sign in with `codex login`, or set `OPENAI_API_KEY`, then resume the run
        Auth: openai is not signed in, or its key is not accepted (status 401: Incorrect API key provided: [key]); set `OPENAI_API_KEY` to a valid key, then resume the run
        Auth: opencode is not signed in, or its key is not accepted (Error: ProviderAuthError); sign in with `opencode auth login`, then resume the run
        RateLimit: claude is overloaded or limits the rate of requests, and waiting did not help (Overloaded); resume the run later, or lower `run.max-parallel` in `prose.toml`
        Provider: google failed or cannot be reached (status 500); check the connection and the status page of the provider, then resume the run
        ContextTooLong: anthropic rejected the prompt because it is longer than the context of the model (status 400: prompt is too long: 3 tokens > 2 maximum); pass less in `context:`, or choose a model with a larger context
        Session: anthropic reported an error: status 400: max_tokens: must be at least 1
        Budget: codex rejected the request because a budget or usage limit of the account is exhausted (You've hit your usage limit); raise the limit or wait until it resets, then resume the run
        Refused: openai refused to answer (status 400: content_policy_violation); rephrase the task, or choose another model
        Session: codex reported an error: status 400: Bad: the request was
    "#]].assert_eq(&lines);
}

#[test]
fn keys_are_removed_from_messages() {
    expect!["no [key], no [key], no [key], no [key]"].assert_eq(&redacted(
        "no sk-proj-abcdefghijk, no AIzaSyA1234567890, no Bearer abcdefghijk, no key=abcdefghijk",
    ));
    expect!["no [key], no [key]"].assert_eq(&redacted("no sk-abc/def+0123=, no key=abc/def+0123="));
    expect!["the key is missing, sk-1"].assert_eq(&redacted("the key is missing, sk-1"));
}

#[test]
fn delays_are_read_from_messages() {
    let delays = [
        "Please try again in 6.5s.",
        "Please try again in 120ms.",
        "Please try again in 1m12.3s.",
        "Please retry in 34.07s.",
        "\"retryDelay\": \"34s\"",
        "try again in 2h3m",
        "try again later",
    ];
    let lines: String = delays.iter().map(|said| format!("{said} → {:?}\n", delay_in(said))).collect();
    expect![[r#"
        Please try again in 6.5s. → Some(6.5s)
        Please try again in 120ms. → Some(120ms)
        Please try again in 1m12.3s. → Some(72.3s)
        Please retry in 34.07s. → Some(34.07s)
        "retryDelay": "34s" → Some(34s)
        try again in 2h3m → Some(7380s)
        try again later → None
    "#]]
    .assert_eq(&lines);
}

#[test]
fn an_answer_that_was_cut_off_is_a_fault_of_the_connection() {
    check_classes(
        &[
            (None, "terminated"),
            (None, "fetch: terminated"),
            (None, "the session was terminated by its user"),
        ],
        expect![[r#"
            --- terminated → Provider, tried again
            --- fetch: terminated → Provider, tried again
            --- the session was terminated by its user → Session
        "#]],
    );
}
