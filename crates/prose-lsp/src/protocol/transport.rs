//! The transport: the library reads and decodes the messages of the client.
//!
//! It stops reading at the first message that it cannot decode, so only those that it can reach it; an error takes the place of
//! each of the others. Its output is not used: results are encoded where they are made, and written by [`crate::server`].

use std::collections::VecDeque;
use std::convert::Infallible;
use std::future::{Ready, ready};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use futures_util::sink::{self, Sink};
use futures_util::stream::{self, Pending};
use tokio::io::{AsyncRead, AsyncWriteExt, BufReader, DuplexStream};
use tower_lsp_server::jsonrpc::{Id, Request, Response};
use tower_lsp_server::{Loopback, Server};
use tower_service::Service;

use crate::protocol::framing::{FrameReader, write_frame};
use crate::protocol::incoming::{Incoming, Malformed, check_message, invalid};
use crate::protocol::recording::{Recorder, Side};
use crate::protocol::request::{Failure, RequestId};

const BUFFER: usize = 64 * 1024;

/// The method of the notification that takes the place of a malformed message, so that it is answered in the order of the wire.
const MALFORMED: &str = "$/malformed";

/// Hands the messages of the client to `receive` in the order of the wire, until the input ends or the client said `exit`.
/// Returns whether the input has ended.
pub(crate) async fn receive_messages(
    input: impl AsyncRead + Unpin,
    recorder: Option<&Recorder>,
    receive: impl FnMut(Result<Incoming, Malformed>) + Send + 'static,
) -> bool {
    let (checked, library_input) = tokio::io::duplex(BUFFER);
    let malformed = Arc::default();
    let receiver = Receiver { receive: Arc::new(Mutex::new(receive)), malformed: Arc::clone(&malformed) };
    let responses = Responses(Arc::clone(&receiver.receive));
    let server = Server::new(library_input, tokio::io::sink(), responses)
        // A limit would let edits and cancellations wait for the requests that they concern.
        .concurrency_level(usize::MAX)
        .serve(receiver);
    let mut has_ended = false;
    let relay = async {
        relay_checked(input, checked, recorder, &malformed).await;
        has_ended = true;
        // The library still reads what it has.
        std::future::pending::<()>().await;
    };
    tokio::select! {
        () = server => {}
        () = relay => {}
    }
    has_ended
}

/// Passes on the messages that the library can decode, until the input ends.
async fn relay_checked(
    input: impl AsyncRead + Unpin,
    mut output: DuplexStream,
    recorder: Option<&Recorder>,
    malformed: &Mutex<VecDeque<Malformed>>,
) {
    let mut frames = FrameReader::new(BufReader::with_capacity(BUFFER, input));
    loop {
        let body = match frames.next().await {
            Ok(Some(body)) => body,
            Ok(None) => return,
            Err(error) => {
                tracing::warn!("cannot read the input: {error}");
                return;
            }
        };
        if let (Ok(body), Some(recorder)) = (&body, recorder) {
            recorder.record(Side::Client, body);
        }
        let checked = match body {
            Ok(body) => check_message(&body).map(|()| body),
            Err(error) => Err((RequestId::Null, Failure::Unreadable(error.to_string()))),
        };
        let body = checked.unwrap_or_else(|error| {
            lock(malformed).push_back(error);
            format!(r#"{{"jsonrpc":"2.0","method":"{MALFORMED}"}}"#).into_bytes()
        });
        let written = async {
            write_frame(&mut output, &[body]).await?;
            output.flush().await
        };
        if written.await.is_err() {
            // The library reads no more, since the client said `exit`.
            return std::future::pending().await;
        }
    }
}

fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Each message is received whole or not at all.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

type Receive<F> = Arc<Mutex<F>>;

/// Receives requests and notifications. The library calls it once for each, in the order of the wire, and expects no response.
struct Receiver<F> {
    receive: Receive<F>,
    malformed: Arc<Mutex<VecDeque<Malformed>>>,
}

impl<F: FnMut(Result<Incoming, Malformed>)> Service<Request> for Receiver<F> {
    type Response = Option<Response>;
    type Error = Infallible;
    type Future = Ready<Result<Option<Response>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let (method, id, params) = request.into_parts();
        let (method, params) = (method.into_owned(), params.unwrap_or_default());
        let malformed = if method == MALFORMED { lock(&self.malformed).pop_front() } else { None };
        let message = match (malformed, id) {
            (Some(malformed), _) => Err(malformed),
            (None, id) if method.is_empty() => Err(invalid(id.map_or(RequestId::Null, request_id))),
            (None, Some(id)) => Ok(Incoming::Request { id: request_id(id), method, params }),
            (None, None) => Ok(Incoming::Notification { method, params }),
        };
        (*lock(&self.receive))(message);
        ready(Ok(None))
    }
}

/// Receives the responses of the client. The requests of the server are written with its results.
struct Responses<F>(Receive<F>);

impl<F: FnMut(Result<Incoming, Malformed>) + Send + 'static> Loopback for Responses<F> {
    type RequestStream = Pending<Request>;
    type ResponseSink = Pin<Box<dyn Sink<Response, Error = Infallible>>>;

    fn split(self) -> (Self::RequestStream, Self::ResponseSink) {
        let responses = sink::unfold(self.0, |receive, response: Response| {
            let (id, result) = response.into_parts();
            (*lock(&receive))(Ok(Incoming::Response { id: request_id(id), result: result.ok() }));
            ready(Ok(receive))
        });
        (stream::pending(), Box::pin(responses))
    }
}

fn request_id(id: Id) -> RequestId {
    match id {
        Id::Number(number) => RequestId::Number(number),
        Id::String(text) => RequestId::Text(text),
        Id::Null => RequestId::Null,
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    /// The choice that the library makes for each body.
    #[derive(Deserialize)]
    #[serde(untagged)]
    #[expect(dead_code, reason = "only whether a body can be decoded is of interest")]
    enum AnyMessage {
        Response(Response),
        Request(Request),
    }

    #[test]
    fn what_is_passed_on_can_be_decoded_by_the_library() {
        let deep = "[".repeat(200) + &"]".repeat(200);
        let values = [
            "1",
            "null",
            "\"é\"",
            "{}",
            "[1, {\"a\": 1.5e3}]",
            "1e999",
            "-1",
            "18446744073709551616",
            "\"\\ud800\"",
            "{\"\\ud800\": 1}",
            "{\"id\": 1, \"id\": 2}",
            "\"2.0\"",
            "\"1.0\"",
            "{\"code\": 1, \"message\": \"m\"}",
            &deep,
        ];
        let fields = ["jsonrpc", "method", "id", "params", "result", "error", "other"];
        let mut passed = 0;
        for first in fields {
            for second in fields {
                for value in values {
                    for rest in [
                        "",
                        r#","jsonrpc":"2.0""#,
                        r#","jsonrpc":"2.0","id":1"#,
                        r#","jsonrpc":"2.0","method":"a""#,
                    ] {
                        let body = format!(r#"{{"{first}":{value},"{second}":{value}{rest}}}"#);
                        if check_message(body.as_bytes()).is_ok() {
                            passed += 1;
                            assert!(serde_json::from_str::<AnyMessage>(&body).is_ok(), "{body}");
                        }
                    }
                }
            }
        }
        assert!(passed > 100, "only {passed} messages passed");
    }

    #[test]
    fn what_the_protocol_has_is_passed_on() {
        for body in [
            r#"{"jsonrpc":"2.0","id":1,"method":"shutdown"}"#,
            r#"{"jsonrpc":"2.0","id":"a","method":"shutdown","params":null}"#,
            r#"{"id":1,"params":{"a":["\ud83d\ude00",-1,1.5,true]},"method":"m","jsonrpc":"2.0"}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":null}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}"#,
        ] {
            assert_eq!(check_message(body.as_bytes()), Ok(()), "{body}");
        }
    }
}
