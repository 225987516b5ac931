//! Answers to requests: each request has exactly one.

use std::convert::Infallible;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::protocol::client::Client;
use crate::protocol::json::Json;
use crate::protocol::request::{Failure, RequestId};

/// Where the answer to a request goes. The client gets an error if it is dropped.
#[derive(Debug)]
pub(crate) struct Answer {
    id: RequestId,
    client: Client,
    is_sent: bool,
    _unanswered: UnboundedSender<Infallible>,
}

impl Drop for Answer {
    fn drop(&mut self) {
        if !self.is_sent {
            self.client.respond(&self.id, Err(&Failure::Dropped));
        }
    }
}

/// Counts the requests that have no answer yet.
#[derive(Debug)]
pub(crate) struct Unanswered {
    sender: UnboundedSender<Infallible>,
    receiver: UnboundedReceiver<Infallible>,
}

impl Unanswered {
    pub(crate) fn new() -> Self {
        let (sender, receiver) = unbounded_channel();
        Self { sender, receiver }
    }

    /// Where the answer to a new request goes.
    pub(crate) fn answer(&self, id: RequestId, client: &Client) -> Answer {
        Answer { id, client: client.clone(), is_sent: false, _unanswered: self.sender.clone() }
    }

    /// Waits until every request has its answer.
    pub(crate) async fn wait(self) {
        let Self { sender, mut receiver } = self;
        drop(sender);
        // Nothing is ever sent; the channel closes with the last answer.
        receiver.recv().await;
    }
}

/// Answers a request.
pub(crate) fn send(mut answer: Answer, result: Result<Json, Failure>) {
    answer.is_sent = true;
    match result {
        Ok(result) => answer.client.respond(&answer.id, Ok(result)),
        Err(failure) => answer.client.respond(&answer.id, Err(&failure)),
    }
}

/// Answers a request with a refusal.
pub(crate) fn refuse(answer: Answer, reason: impl Into<String>) {
    send(answer, Err(Failure::Refused(reason.into())));
}
