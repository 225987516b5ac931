//! The client, as the rest of the server sends to it.

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::protocol::json::{Json, fields, json};
use crate::protocol::notification::Notification;
use crate::protocol::request::{Failure, RequestId};

/// Sends messages to the client, from any thread, in the order in which they are sent.
#[derive(Debug, Clone)]
pub(crate) struct Client(UnboundedSender<Outgoing>);

/// Output for the client.
#[derive(Debug)]
pub(crate) enum Outgoing {
    /// The bodies of messages, which go out together.
    Messages(Vec<Json>),
    /// There are no more.
    End,
}

impl Client {
    /// A client, and the messages that are sent to it.
    pub(crate) fn new() -> (Self, UnboundedReceiver<Outgoing>) {
        let (outgoing, messages) = unbounded_channel();
        (Self(outgoing), messages)
    }

    /// Sends notifications and requests.
    pub(crate) fn notify(&self, notifications: Vec<Notification>) {
        self.send(Outgoing::Messages(notifications.into_iter().map(body_of_notification).collect()));
    }

    /// Sends the response to a request.
    pub(crate) fn respond(&self, id: &RequestId, result: Result<Json, &Failure>) {
        let response = match result {
            Ok(result) => ("result", result),
            Err(failure) => {
                let (code, message) = failure.code_and_message();
                ("error", json(&serde_json::json!({ "code": code, "message": message })))
            }
        };
        self.send(Outgoing::Messages(vec![fields([("jsonrpc", json(&"2.0")), response, ("id", json(id))])]));
    }

    /// Ends the output after all that was sent before.
    pub(crate) fn end(&self) {
        self.send(Outgoing::End);
    }

    fn send(&self, outgoing: Outgoing) {
        // The channel closes with the connection.
        let _ = self.0.send(outgoing);
    }
}

fn body_of_notification(Notification { method, params, id }: Notification) -> Json {
    let id = id.map(|id| ("id", json(&id)));
    let params = (params != json(&())).then_some(("params", params));
    fields([("jsonrpc", json(&"2.0")), ("method", json(&method))].into_iter().chain(params).chain(id))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use serde_json::json;

    use super::*;

    #[test]
    fn messages_are_those_of_json_rpc() {
        let (client, mut messages) = Client::new();
        client.notify(vec![
            Notification::new("$/progress", &json!({ "token": 1 })),
            Notification { id: Some(7), ..Notification::new("workspace/codeLens/refresh", &()) },
        ]);
        client.respond(&RequestId::Text("a".into()), Ok(crate::protocol::json::json(&[1, 2])));
        client.respond(&RequestId::Null, Err(&Failure::Cancelled));
        client.end();
        let mut sent = String::new();
        while let Ok(Outgoing::Messages(bodies)) = messages.try_recv() {
            for body in bodies {
                sent += &format!("{}\n", String::from_utf8(body.into_pieces().concat()).unwrap());
            }
        }
        expect![[r#"
            {"jsonrpc":"2.0","method":"$/progress","params":{"token":1}}
            {"jsonrpc":"2.0","method":"workspace/codeLens/refresh","id":7}
            {"jsonrpc":"2.0","result":[1,2],"id":"a"}
            {"jsonrpc":"2.0","error":{"code":-32800,"message":"the request was cancelled"},"id":null}
        "#]]
        .assert_eq(&sent);
    }
}
