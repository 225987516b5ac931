//! For tests: the owner of a session in which a document is edited, without threads and time.

use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};

use prose_analysis::{AnalysisHost, Database};
use serde_json::{Value, json};

use crate::documents::message::DocumentMessage;
use crate::mailbox::Mailbox;
use crate::messages::{Message, SessionMessage};
use crate::owner::state::Owner;
use crate::protocol::client::{Client, Outgoing};
use crate::protocol::client_requests::ClientRequests;
use crate::protocol::lsp::TextDocumentContentChangeEvent;
use crate::protocol::session::Session;
use crate::protocol::uri::DocumentUri;
use crate::runs::registry::Runs;

/// The owner of a session in which a document is edited, and what it does.
pub(super) struct Desk {
    pub(super) owner: Owner,
    uri: DocumentUri,
    pub(super) queries: Arc<Mutex<Vec<String>>>,
    outgoing: tokio::sync::mpsc::UnboundedReceiver<Outgoing>,
    version: i32,
}

impl Desk {
    pub(super) fn open(uri: &str, text: &str) -> Self {
        Self::with_client(&Value::Null, uri, text)
    }

    /// The same with a client that has some capabilities.
    pub(super) fn with_client(capabilities: &Value, uri: &str, text: &str) -> Self {
        let (to_self, _) = channel();
        let (client, outgoing) = Client::new();
        let client_requests = ClientRequests::new(client.clone());
        let runs = Runs::new(Mailbox::new(&to_self), client.clone(), client_requests);
        let mut owner = Owner::new(&to_self, client, runs);
        let queries: Arc<Mutex<Vec<String>>> = Arc::default();
        let log = Arc::clone(&queries);
        owner.analysis.host =
            AnalysisHost::with_database(Database::with_log(move |query| log.lock().unwrap().push(query)));
        let uri = DocumentUri::from(uri);
        let mut desk = Self { owner, uri: Arc::clone(&uri), queries, outgoing, version: 1 };
        let session = Session::from_initialize(&json!({ "capabilities": capabilities }));
        desk.receive(SessionMessage::Start(session));
        desk.receive(DocumentMessage::Open {
            uri,
            language: String::new(),
            version: 1,
            text: text.to_owned(),
        });
        desk
    }

    /// Deals with a message, with all that it leads to. Gives which queries ran.
    pub(super) fn receive(&mut self, message: impl Into<Message>) -> Vec<String> {
        self.queries.lock().unwrap().clear();
        self.owner.receive(message.into());
        while !self.owner.is_up_to_date() {
            self.owner.catch_up();
        }
        let queries = self.queries.lock().unwrap();
        let mut names: Vec<String> =
            queries.iter().map(|query| query.split('(').next().unwrap_or(query).to_owned()).collect();
        names.sort();
        names.dedup();
        names
    }

    /// Replaces what is the first `old` in the document.
    pub(super) fn edit(&mut self, old: &str, new: &str) -> Vec<String> {
        self.version += 1;
        let document = self.owner.documents.with_programs(&self.uri).unwrap();
        let text = document.text().to_string();
        let at = text.find(old).unwrap();
        let lines = prose_syntax::LineIndex::new(&text);
        let position = |at: usize| {
            let line = lines.line(at);
            json!({ "line": line, "character": at - lines.range(line).start })
        };
        let change: TextDocumentContentChangeEvent = serde_json::from_value(json!({
            "range": { "start": position(at), "end": position(at + old.len()) },
            "text": new,
        }))
        .unwrap();
        let changes = vec![change.into()];
        self.receive(DocumentMessage::Change { uri: Arc::clone(&self.uri), version: self.version, changes })
    }

    /// What the client got since this was last asked for.
    pub(super) fn sent(&mut self) -> Vec<Value> {
        let mut sent = Vec::new();
        while let Ok(Outgoing::Messages(messages)) = self.outgoing.try_recv() {
            let bodies = messages.into_iter().map(|message| message.into_pieces().concat());
            sent.extend(bodies.map(|body| serde_json::from_slice::<Value>(&body).unwrap()));
        }
        sent
    }

    /// The diagnostics that the client got last: the version and, for each diagnostic, line, column and code.
    pub(super) fn published(&mut self) -> Value {
        let last = self.sent().pop().unwrap_or_default();
        if last.is_null() {
            return last;
        }
        json!([last["params"]["version"], places(&last["params"]["diagnostics"])])
    }
}

/// Line, column and code of each diagnostic.
pub(super) fn places(diagnostics: &Value) -> Value {
    let place = |item: &Value| {
        let start = &item["range"]["start"];
        json!([start["line"], start["character"], item["code"]])
    };
    diagnostics.as_array().unwrap().iter().map(place).collect()
}
