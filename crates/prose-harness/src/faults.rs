//! Faults of providers: which class a failure belongs to, whether waiting helps, and what the user can do.
//!
//! Providers and agents report faults by an HTTP status, by a sentence, or by both. [`FAULTS`] has what they are recognised by. A message is matched only as
//! far as its status allows: a server error never counts as rejected credentials, whatever its text says.

use std::borrow::Cow;
use std::sync::LazyLock;
use std::time::Duration;

use prose_syntax::text;
use prose_vm::effect::Failure;
use prose_vm::error::ErrorKind;
use regex::Regex;

use crate::said;

/// A class of faults.
#[derive(Debug)]
pub struct FaultClass {
    /// The kind of error.
    pub kind: ErrorKind,
    /// The HTTP statuses that always stand for it.
    pub statuses: &'static [u16],
    /// Parts of messages by which it is recognised, in lower case.
    pub phrases: &'static [&'static str],
    /// The statuses with which the phrases count; without a status they always do.
    statuses_of_phrases: fn(u16) -> bool,
    /// What is wrong, after the name of the agent or provider.
    what: &'static str,
    /// How to fix it; empty where that depends on the agent.
    advice: &'static str,
}

fn of_request(status: u16) -> bool {
    (400..500).contains(&status) || status < 300
}

fn of_server(status: u16) -> bool {
    status >= 500 || matches!(status, 408 | 409 | 429) || status < 300
}

/// All classes. Of several that a message matches the first one counts, so the more specific ones come first.
pub const FAULTS: &[FaultClass] = &[
    FaultClass {
        kind: ErrorKind::ContextTooLong,
        statuses: &[413],
        phrases: &[
            "prompt is too long",
            "exceed context limit",
            "context_length_exceeded",
            "maximum context length",
            "exceeds the context window",
            "exceeds the available context size",
            "model's context window",
            "contextoverflowerror",
            "input token count",
            "request_too_large",
            "request too large for",
            "conversation too long",
        ],
        statuses_of_phrases: of_request,
        what: "rejected the prompt because it is longer than the context of the model",
        advice: "pass less in `context:`, or choose a model with a larger context",
    },
    FaultClass {
        kind: ErrorKind::RateLimit,
        statuses: &[],
        // Gemini reports a limit per minute in the words in which others report an exhausted budget.
        phrases: &["perminute", "per-minute", "per minute", "tokens per min", "requests per min"],
        statuses_of_phrases: of_server,
        what: "is overloaded or limits the rate of requests, and waiting did not help",
        advice: "resume the run later, or lower `run.max-parallel` in `prose.toml`",
    },
    FaultClass {
        kind: ErrorKind::Budget,
        statuses: &[402],
        phrases: &[
            "credit balance is too low",
            "billing_error",
            "insufficient_quota",
            "exceeded your current quota",
            "check your plan and billing",
            "billing hard limit",
            "billing_hard_limit",
            "billing_not_active",
            "api usage limits",
            "usage limit",
            "hit your limit",
            "hit your session limit",
            "hit your weekly limit",
            "hour limit reached",
            "weekly limit reached",
            "requests per day",
            "perday",
            "insufficient credits",
            "insufficient balance",
            "to use codex with your chatgpt plan",
            "spending cap",
        ],
        statuses_of_phrases: of_request,
        what: "rejected the request because a budget or usage limit of the account is exhausted",
        advice: "raise the limit or wait until it resets, then resume the run",
    },
    FaultClass {
        kind: ErrorKind::Auth,
        statuses: &[401],
        phrases: &[
            "authentication_error",
            "permission_error",
            "invalid x-api-key",
            "invalid api key",
            "invalid_api_key",
            "incorrect api key",
            "api key not valid",
            "api_key_invalid",
            "api key expired",
            "api key was reported as leaked",
            "api key is missing",
            "didn't provide an api key",
            "missing bearer",
            "unregistered callers",
            "not logged in",
            "please run /login",
            "failed to authenticate",
            "could not authenticate",
            "could not resolve authentication method",
            "token could not be refreshed",
            "oauth token",
            "log out and sign in again",
            "providerautherror",
            "unauthenticated",
            "permission_denied",
            "set an auth method",
            "authentication required",
            "organization has been disabled",
            "must be a member of an organization",
            "unsupported_country_region_territory",
            "401 unauthorized",
        ],
        statuses_of_phrases: of_request,
        what: "is not signed in, or its key is not accepted",
        advice: "",
    },
    FaultClass {
        kind: ErrorKind::Refused,
        statuses: &[],
        phrases: &[
            "violate our usage policy",
            "violating our usage policy",
            "content_policy_violation",
            "content_filter",
            "content management policy",
            "flagged as potentially",
            "your input was flagged",
            "prohibited_content",
            "blockreason",
            "the model refused",
        ],
        statuses_of_phrases: of_request,
        what: "refused to answer",
        advice: "rephrase the task, or choose another model",
    },
    FaultClass {
        kind: ErrorKind::RateLimit,
        statuses: &[429, 503, 529],
        phrases: &[
            "rate_limit",
            "rate limit",
            "too many requests",
            "resource_exhausted",
            "resource exhausted",
            "overloaded",
            "slow down",
            "high demand",
            "at capacity",
            "429 too many",
            "throttl",
        ],
        statuses_of_phrases: of_server,
        what: "is overloaded or limits the rate of requests, and waiting did not help",
        advice: "resume the run later, or lower `run.max-parallel` in `prose.toml`",
    },
    FaultClass {
        kind: ErrorKind::Provider,
        statuses: &[408, 500, 502, 504, 520, 521, 522, 523, 524],
        phrases: &[
            "api_error",
            "internal server error",
            "had an error while processing your request",
            "bad gateway",
            "gateway timeout",
            "service unavailable",
            "econnreset",
            "econnrefused",
            "enotfound",
            "etimedout",
            "connection reset",
            "connection refused",
            "connection error",
            "connection closed",
            "error sending request",
            "unable to connect",
            "fetch failed",
            "socket hang up",
            "network error",
            "request timed out",
            "stream disconnected",
        ],
        statuses_of_phrases: of_server,
        what: "failed or cannot be reached",
        advice: "check the connection and the status page of the provider, then resume the run",
    },
    FaultClass {
        kind: ErrorKind::AgentCrashed,
        statuses: &[],
        phrases: &[],
        statuses_of_phrases: |_| false,
        what: "ended before its session did",
        advice: "try it by hand in the folder of the project, or choose another harness with `--harness`",
    },
];

/// The kind of error of a fault; [`ErrorKind::Session`] if it is none of a provider. Without a status the one in the message counts, as agents quote it.
pub fn classify(status: Option<u16>, message: &str) -> ErrorKind {
    let status = status.or_else(|| quoted_status(message));
    let lower = message.to_lowercase();
    let of_status = |status| FAULTS.iter().find(|class| class.statuses.contains(&status));
    // These statuses say it all.
    if let Some(class) = status.filter(|status| [401, 402, 413, 529].contains(status)).and_then(of_status) {
        return class.kind;
    }
    let by_phrase = FAULTS.iter().find(|class| {
        status.is_none_or(class.statuses_of_phrases)
            && class.phrases.iter().any(|phrase| lower.contains(phrase))
    });
    let by_status = || match status? {
        403 => FAULTS.iter().find(|class| class.kind == ErrorKind::Auth),
        status if status >= 500 => {
            of_status(status).or_else(|| FAULTS.iter().find(|class| class.kind == ErrorKind::Provider))
        }
        status => of_status(status),
    };
    // What agents on Node report of an answer whose connection was lost in the middle.
    let is_cut = status.is_none() && lower.trim_end().rsplit(": ").next() == Some("terminated");
    let otherwise = if is_cut { ErrorKind::Provider } else { ErrorKind::Session };
    by_phrase.or_else(by_status).map_or(otherwise, |class| class.kind)
}

/// Whether the same request can succeed after a while, so that it is repeated after the gate of the provider opens.
pub fn is_transient(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::RateLimit | ErrorKind::Provider)
}

/// The failure of a session for a fault: what is wrong, what the agent or provider reported, and how to fix it. `who` is the name of the harness or of the
/// provider.
pub fn failure(who: &str, status: Option<u16>, message: &str) -> Failure {
    failure_of(classify(status, message), who, status, message)
}

/// The failure for a fault of a known class.
pub fn failure_of(kind: ErrorKind, who: &str, status: Option<u16>, message: &str) -> Failure {
    let reported = reported(status, message);
    let Some(class) = FAULTS.iter().find(|class| class.kind == kind) else {
        return Failure::new(kind, format!("{who} reported an error: {reported}"));
    };
    let advice = match kind {
        ErrorKind::Auth => Cow::from(format!("{}, then resume the run", sign_in(who))),
        _ => class.advice.into(),
    };
    let said = if reported.is_empty() { String::new() } else { format!(" ({reported})") };
    Failure::new(kind, format!("{who} {}{said}; {advice}", class.what))
}

/// What was reported, of the message of a [failure](failure_of) that may be followed by another attempt: it neither ends the session nor asks for advice.
pub fn cause(failure: &Failure) -> &str {
    let class = FAULTS.iter().find(|class| class.kind == failure.kind);
    let said = class.and_then(|class| failure.message.split_once(class.what)?.1.strip_prefix(" ("));
    said.and_then(|said| said.rsplit_once("); ")).map_or(&failure.message, |(said, _)| said)
}

/// How to sign in to an agent or provider.
pub fn sign_in(who: &str) -> Cow<'static, str> {
    Cow::Borrowed(match who {
        "claude" | "claude-agent-acp" => "sign in with `claude auth login`, or set `ANTHROPIC_API_KEY`",
        "codex" | "codex-acp" => "sign in with `codex login`, or set `OPENAI_API_KEY`",
        "opencode" | "opencode-acp" => "sign in with `opencode auth login`",
        "gemini" => "start `gemini` once and sign in, or set `GEMINI_API_KEY`",
        "qwen" => "start `qwen` once and sign in with `/auth`",
        "anthropic" => "set `ANTHROPIC_API_KEY` to a valid key",
        "openai" => "set `OPENAI_API_KEY` to a valid key",
        "google" => "set `GEMINI_API_KEY` to a valid key",
        who => return Cow::Owned(format!("sign in to {who}, or set its key in the environment")),
    })
}

/// What a provider or agent reported, in one line: its message instead of the JSON around it, without escape codes and keys.
pub fn reported(status: Option<u16>, message: &str) -> String {
    const MAX_SHOWN: usize = 300;
    let plain = said::plain(message);
    // Escape codes may be escaped themselves in JSON.
    let inner = json_message(&plain).map(|inner| said::plain(&inner));
    let line = inner.as_deref().unwrap_or(&plain).split_whitespace().collect::<Vec<_>>().join(" ");
    let line = redacted(without_request(&line));
    let line = text::shorten(line.trim_end_matches('.'), MAX_SHOWN);
    match status {
        Some(status) if line.is_empty() => format!("status {status}"),
        Some(status) if !line.contains(&status.to_string()) => format!("status {status}: {line}"),
        _ => line.into_owned(),
    }
}

/// A message without the request to a provider that it quotes, with its prompt.
fn without_request(message: &str) -> &str {
    let starts = message.match_indices('{').map(|(at, _)| at);
    let is_request = |at: &usize| {
        let body = &message[*at..];
        ["\"messages\"", "\"input\"", "\"contents\"", "\"prompt\""]
            .iter()
            .any(|key| body.find(key).is_some_and(|at| body[at + key.len()..].trim_start().starts_with(':')))
    };
    let request = starts.take(1).find(is_request);
    request.map_or(message, |at| message[..at].trim_end().trim_end_matches(':'))
}

/// A text without what looks like a key. Providers quote a rejected key, in part at least.
pub fn redacted(text: &str) -> Cow<'_, str> {
    // The pattern is constant and valid.
    #[allow(clippy::unwrap_used)]
    static KEYS: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?i)\b(sk|pk|rk|gsk|xai|key|sess|eyJ)[-_][A-Za-z0-9_*./+=\-]{6,}|\bAIza[A-Za-z0-9_*\-]{8,}|\beyJ[A-Za-z0-9_.\-]{16,}|\b(bearer|x-api-key:|api[-_]?key=|key=)\s*[A-Za-z0-9_*./+=\-]{8,}").unwrap()
    });
    KEYS.replace_all(text, "[key]")
}

/// The delay that a message asks for, as OpenAI and Gemini put it: `Please try again in 1m6.2s`, `Please retry in 34s`, `"retryDelay": "34s"`.
pub fn delay_in(message: &str) -> Option<Duration> {
    // The patterns are constant and valid.
    #[allow(clippy::unwrap_used)]
    static DELAY: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"(?i)(?:try (?:again )?in|retryDelay"?:) *"?((?:\d+(?:\.\d+)?(?:ms|h|m|s))+)"#).unwrap()
    });
    #[allow(clippy::unwrap_used)]
    static PART: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(?i)(\d+(?:\.\d+)?)(ms|h|m|s)").unwrap());
    let delay = DELAY.captures(message)?.get(1)?.as_str();
    let seconds = PART.captures_iter(delay).filter_map(|part| {
        let unit = match part.get(2)?.as_str() {
            "ms" => 0.001,
            "h" => 3600.0,
            "m" => 60.0,
            _ => 1.0,
        };
        Some(part.get(1)?.as_str().parse::<f64>().ok()? * unit)
    });
    Duration::try_from_secs_f64(seconds.sum()).ok()
}

/// The HTTP status that a message quotes, as in `API Error: 529 {…}` and `unexpected status 401 Unauthorized`.
pub(crate) fn quoted_status(message: &str) -> Option<u16> {
    // The pattern is constant and valid.
    #[allow(clippy::unwrap_used)]
    static STATUS: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"(?i)(?:api error:?|status(?:[ _]?code)?"?:?|http(?:/[\d.]+)?|"code":|error code:?|repeated) *\(?([45]\d\d)\b"#).unwrap()
    });
    STATUS.captures(message)?.get(1)?.as_str().parse().ok()
}

/// The message in the JSON that providers answer with, wherever it starts in the text.
fn json_message(text: &str) -> Option<String> {
    let start = text.find(['{', '['])?;
    let value =
        serde_json::Deserializer::from_str(&text[start..]).into_iter::<serde_json::Value>().next()?.ok()?;
    let value = value.get(0).unwrap_or(&value);
    let message = ["/error/message", "/message", "/error/error/message", "/detail", "/error"]
        .iter()
        .find_map(|path| value.pointer(path)?.as_str())?;
    // Agents quote the JSON of their provider in a message of their own.
    Some(json_message(message).unwrap_or_else(|| message.to_owned()))
}
