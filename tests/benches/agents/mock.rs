//! A fast server in the place of a provider, and projects whose agents ask it.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use prose_tests::agents::{AgentProject, replies};
use prose_tests::drivers::Driver;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::server::{Asked, Does, Server, openai};

/// A server, with the threads that it answers from.
pub(crate) struct Mock {
    server: Server,
    _runtime: Runtime,
}

impl Mock {
    /// Starts a server. `does` gets the number of a request, from 1, and the request.
    pub(crate) fn start(does: impl Fn(usize, &Asked) -> Does + Send + Sync + 'static) -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let server = runtime.block_on(Server::start(does));
        Self { server, _runtime: runtime }
    }

    /// A server that gives the same answer to each request for a model, after a time.
    pub(crate) fn answering(text: &'static str, after: Duration) -> Self {
        Self::start(move |_, asked| Does::Later(after, Box::new(answer(asked, text))))
    }

    pub(crate) fn url(&self) -> &str {
        &self.server.url
    }

    /// The requests for a model.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        let mut asked = self.server.asked();
        asked.retain(is_for_model);
        asked
    }
}

fn is_for_model(asked: &Asked) -> bool {
    let paths = ["/v1/responses", "/v1/chat/completions", "/v1/messages", "/v1beta/models/"];
    !asked.body.is_null() && paths.iter().any(|path| asked.path.starts_with(path))
}

/// An answer in the terms of the API that is asked.
pub(crate) fn answer(asked: &Asked, text: &str) -> Does {
    if !is_for_model(asked) {
        return Does::Answers(404, "", "{}".to_owned());
    }
    match asked.path.split(['?', ':']).next().unwrap_or_default() {
        "/v1/responses" => Does::Streams(responses(text)),
        "/v1/chat/completions" => Does::Streams(openai(text)),
        path if path.starts_with("/v1beta/") => Does::Streams(crate::server::gemini(text)),
        _ => {
            // Agents add what streams to the message.
            let mut events = messages(text);
            events.retain(|event| event["type"] != "ping");
            Does::Streams(events)
        }
    }
}

/// The events of an answer by the API of responses.
fn responses(text: &str) -> Vec<Value> {
    let item = json!({
        "type": "message", "id": "m1", "role": "assistant", "content": [{ "type": "output_text", "text": text }],
    });
    vec![
        json!({ "type": "response.created", "response": { "id": "r1" } }),
        json!({ "type": "response.output_item.done", "output_index": 0, "item": item }),
        json!({ "type": "response.completed", "response": { "id": "r1", "usage": {
            "input_tokens": 30, "input_tokens_details": { "cached_tokens": 20 },
            "output_tokens": 7, "output_tokens_details": { "reasoning_tokens": 0 }, "total_tokens": 37,
        } } }),
    ]
}

/// The events of an answer by the API of messages, with all that its clients read.
fn messages(text: &str) -> Vec<Value> {
    let mut events = crate::server::anthropic(text);
    let message = &mut events[0]["message"];
    for (field, value) in [
        ("type", json!("message")),
        ("role", json!("assistant")),
        ("content", json!([])),
        ("stop_reason", Value::Null),
    ] {
        message[field] = value;
    }
    let stop = events.iter().position(|event| event["type"] == "message_delta").unwrap();
    events.insert(stop, json!({ "type": "content_block_stop", "index": 0 }));
    events
}

/// A project for agents that ask a mock.
pub(crate) fn project() -> AgentProject {
    // Its own provider is not asked.
    AgentProject::new(|_| vec![replies("never asked", "nothing")])
}

/// Runs a program, and returns how long that takes.
pub(crate) fn run(
    driver: &Driver,
    project: &AgentProject,
    mock: &Mock,
    program: &str,
    flags: &[&str],
) -> f64 {
    time(command(driver, project, mock, program).args(flags))
}

/// The command that runs a program.
pub(crate) fn command(driver: &Driver, project: &AgentProject, mock: &Mock, program: &str) -> Command {
    let mut command = driver.run(project, mock.url(), "sk-none-0123456789", program);
    command.args(["--max-tokens", "1000000000", "--max-sessions", "1000000", "--max-cost", "1000000"]);
    command
}

pub(crate) fn time(command: &mut Command) -> f64 {
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    let start = Instant::now();
    let output = command.output().unwrap();
    let time = start.elapsed().as_secs_f64();
    assert!(output.status.success(), "{}: {}", output.status, String::from_utf8_lossy(&output.stderr));
    time
}
