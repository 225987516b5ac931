//! A server on this machine that plays a provider.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// What the server does with a request.
pub(crate) enum Does {
    /// Answers with a status, headers and a body.
    Answers(u16, &'static str, String),
    /// Answers with the events of a stream.
    Streams(Vec<Value>),
    /// Answers with the beginning of a stream, and closes the connection.
    BreaksOff(Vec<Value>),
    /// Resets the connection without an answer.
    Resets,
    /// Never answers.
    Hangs,
    /// Does something after a time.
    #[allow(dead_code, reason = "only benchmarks use it")]
    Later(Duration, Box<Does>),
}

/// A request.
#[derive(Clone)]
pub(crate) struct Asked {
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Value,
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// A server. It ends with the test.
pub(crate) struct Server {
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
    task: JoinHandle<()>,
}

impl Server {
    /// Starts a server. `does` gets the number of a request, from 1, and the request.
    pub(crate) async fn start(does: impl Fn(usize, &Asked) -> Does + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked: Arc<Mutex<Vec<Asked>>> = Arc::default();
        let (does, all) = (Arc::new(does), Arc::clone(&asked));
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (does, all) = (Arc::clone(&does), Arc::clone(&all));
                tokio::spawn(async move {
                    let mut stream = BufReader::new(stream);
                    while let Some(asked) = read(&mut stream).await {
                        let number = {
                            let mut all = all.lock().unwrap();
                            all.push(asked.clone());
                            all.len()
                        };
                        if !answer(stream.get_mut(), does(number, &asked)).await {
                            break;
                        }
                    }
                });
            }
        });
        Self { url, asked, task }
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn read(stream: &mut BufReader<TcpStream>) -> Option<Asked> {
    let mut line = String::new();
    stream.read_line(&mut line).await.ok()?;
    let path = line.split(' ').nth(1)?.to_owned();
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.push((name.to_lowercase(), value.to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let mut body = vec![0; length.map_or(Some(0), |(_, length)| length.parse().ok())?];
    stream.read_exact(&mut body).await.ok()?;
    // Agents also make requests without a body.
    let body = if body.is_empty() { Value::Null } else { serde_json::from_slice(&body).unwrap() };
    Some(Asked { path, headers, body })
}

/// Answers, and returns whether the connection is kept.
async fn answer(stream: &mut TcpStream, mut does: Does) -> bool {
    while let Does::Later(time, then) = does {
        tokio::time::sleep(time).await;
        does = *then;
    }
    let events = |events: Vec<Value>| events.iter().map(in_stream).collect::<String>();
    match does {
        Does::Answers(status, headers, body) => {
            let head = format!("HTTP/1.1 {status} S\r\n{headers}content-length: {}\r\n\r\n", body.len());
            stream.write_all((head + &body).as_bytes()).await.is_ok()
        }
        Does::Streams(parts) => {
            let body = events(parts);
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {}\r\n\r\n",
                body.len()
            );
            stream.write_all((head + &body).as_bytes()).await.is_ok()
        }
        Does::BreaksOff(parts) => {
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 9999\r\n\r\n";
            let _ = stream.write_all((head.to_owned() + &events(parts)).as_bytes()).await;
            false
        }
        Does::Resets => {
            let _ = stream.set_zero_linger();
            false
        }
        Does::Hangs => std::future::pending().await,
        Does::Later(..) => unreachable!("it was waited for"),
    }
}

/// An event as it is sent. Clients of some providers find its type only in the line before it.
fn in_stream(event: &Value) -> String {
    let line = event["type"].as_str().map(|name| format!("event: {name}\n")).unwrap_or_default();
    format!("{line}data: {event}\n\n")
}

/// The events of an answer of OpenAI.
pub(crate) fn openai(text: &str) -> Vec<Value> {
    let chunk = |delta: Value, stop: Value| json!({ "id": "chat-1", "model": "gpt-5", "choices": [{ "delta": delta, "finish_reason": stop }] });
    let (first, second) = text.split_at(text.len() / 2);
    vec![
        chunk(json!({ "role": "assistant", "content": first }), Value::Null),
        chunk(json!({ "content": second }), Value::Null),
        chunk(json!({}), json!("stop")),
        json!({ "id": "chat-1", "choices": [], "usage": {
            "prompt_tokens": 30, "completion_tokens": 7, "prompt_tokens_details": { "cached_tokens": 20 },
        } }),
    ]
}

/// The events of an answer of Anthropic.
pub(crate) fn anthropic(text: &str) -> Vec<Value> {
    vec![
        json!({ "type": "message_start", "message": { "id": "msg-1", "model": "claude-haiku-5-5", "usage": {
            "input_tokens": 10, "cache_creation_input_tokens": 3, "cache_read_input_tokens": 20, "output_tokens": 1,
        } } }),
        json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": "" } }),
        json!({ "type": "ping" }),
        json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": text } }),
        json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn" }, "usage": { "output_tokens": 7 } }),
        json!({ "type": "message_stop" }),
    ]
}

/// The events of an answer of Gemini.
pub(crate) fn gemini(text: &str) -> Vec<Value> {
    let part = |part: Value, stop: Value| {
        json!({
            "responseId": "g-1", "modelVersion": "gemini-2.5-flash",
            "candidates": [{ "content": { "parts": [part] }, "finishReason": stop }],
            "usageMetadata": {
                "promptTokenCount": 30, "cachedContentTokenCount": 20, "candidatesTokenCount": 5, "thoughtsTokenCount": 2,
            },
        })
    };
    vec![
        part(json!({ "text": "Hm.", "thought": true }), Value::Null),
        part(json!({ "text": text }), json!("STOP")),
    ]
}
