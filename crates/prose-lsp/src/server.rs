//! The protocol's side of the server: the life of the connection and the table of methods.
//!
//! Transport is the project's own, and short. The libraries for it hold every result as a tree of JSON values, which for the outline
//! of a long document is ten times what the rest of the server takes, and end the session at the first message they cannot read.

use std::sync::mpsc;
use std::time::Duration;

use ls_types::{
    DidChangeTextDocumentParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    DocumentDiagnosticParams, DocumentSymbolParams, FoldingRangeParams, SelectionRangeParams, Uri,
};
use serde::Deserialize;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite, BufReader};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::time::Instant;

use crate::convert::{Converter, Session};
use crate::documents::{DocumentUri, Snapshot};
use crate::framing::{FrameError, FrameReader, write_frames};
use crate::jsonrpc::{
    Answer, Error, INVALID_PARAMS, INVALID_REQUEST, Incoming, Json, METHOD_NOT_FOUND, Outgoing, PARSE_ERROR,
    RequestId, SERVER_NOT_INITIALIZED, decode,
};
use crate::owner::{Message, Owner};
use crate::reads::{Read, Reads, Work};
use crate::{diagnostics, parent};

/// How the connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// The client said `exit`, or closed the input, after `shutdown`.
    Orderly,
    /// The client said `exit`, or closed the input, without `shutdown`.
    Abrupt,
    /// The client's process is gone.
    ParentDied,
}

impl End {
    pub(crate) fn is_orderly(self) -> bool {
        self == End::Orderly
    }
}

/// How long a client that said `exit` has for reading its last answers. It does not wait for any.
const AFTER_EXIT: Duration = Duration::from_secs(2);
/// How long a client that closed the input has for reading its last answers, which it may well be waiting for.
const AFTER_END_OF_INPUT: Duration = Duration::from_secs(30);

/// Serves one client until it goes away.
pub(crate) async fn serve(input: impl AsyncRead + Unpin, output: impl AsyncWrite + Unpin) -> End {
    let (bodies, mut queue) = unbounded_channel();
    let (to_owner, messages) = mpsc::channel();
    let (events_sender, mut events) = unbounded_channel();
    let outgoing = Outgoing::new(bodies);

    let owner = Owner::new(Reads::new(tokio::runtime::Handle::current()), outgoing.clone());
    let owner_thread = std::thread::Builder::new().name("owner".to_owned());
    if let Err(error) = owner_thread.spawn(move || owner.run(&messages)) {
        tracing::error!("the server cannot start a thread: {error}");
        return End::Abrupt;
    }

    // The front, and with it the way to the owner, goes when there is no more to read. Then the owner goes, and when the last read
    // is answered all ways to the client are gone and the queue ends.
    let front = Front { phase: Phase::Uninitialized, to_owner, outgoing, events: events_sender };
    let connection = async {
        let read = async {
            read_messages(FrameReader::new(BufReader::new(input)), front).await;
            Ok(())
        };
        // A client that cannot be answered is gone, whatever it still sends.
        if let Err(error) = tokio::try_join!(read, write_frames(&mut queue, output)) {
            tracing::warn!("the client cannot be reached any more: {error}");
        }
    };

    let mut shut_down = false;
    let leaving = async {
        let mut deadline = None;
        loop {
            let event = match deadline {
                None => Ok(events.recv().await),
                Some(deadline) => tokio::time::timeout_at(deadline, events.recv()).await,
            };
            match event {
                Ok(Some(Event::ShutDown)) => shut_down = true,
                Ok(Some(Event::Exit)) => deadline = Some(Instant::now() + AFTER_EXIT),
                Ok(Some(Event::EndOfInput)) => deadline = Some(Instant::now() + AFTER_END_OF_INPUT),
                Ok(Some(Event::ParentDied)) => return true,
                // Nobody is left to tell anything, which leaves the deadline.
                Ok(None) => {
                    tokio::time::sleep_until(deadline.unwrap_or_else(Instant::now)).await;
                    return false;
                }
                Err(_) => return false,
            }
        }
    };
    let parent_died = tokio::select! {
        () = connection => false,
        parent_died = leaving => parent_died,
    };
    while let Ok(event) = events.try_recv() {
        shut_down |= event == Event::ShutDown;
    }
    match (parent_died, shut_down) {
        (true, _) => End::ParentDied,
        (false, true) => End::Orderly,
        (false, false) => End::Abrupt,
    }
}

/// What the connection as a whole has to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Event {
    ShutDown,
    Exit,
    EndOfInput,
    ParentDied,
}

async fn read_messages(mut frames: FrameReader<BufReader<impl AsyncRead + Unpin>>, mut front: Front) {
    loop {
        match frames.next().await {
            Ok(Some(frame)) => {
                if front.receive(frame) == Flow::Exit {
                    let _ = front.events.send(Event::Exit);
                    return;
                }
            }
            Ok(None) => break,
            Err(error) => {
                tracing::warn!("the input cannot be read any more: {error}");
                break;
            }
        }
    }
    let _ = front.events.send(Event::EndOfInput);
}

/// Where the connection is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Uninitialized,
    Running,
    ShutDown,
}

/// Whether the client has more to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flow {
    GoOn,
    Exit,
}

/// The first to see a message, one after the other, in the order of the wire. What concerns state goes on to the owner at once, so
/// it arrives there in the same order.
struct Front {
    phase: Phase,
    to_owner: mpsc::Sender<Message>,
    outgoing: Outgoing,
    events: UnboundedSender<Event>,
}

impl Front {
    fn receive(&mut self, frame: Result<Vec<u8>, FrameError>) -> Flow {
        let message = match &frame {
            Ok(body) => {
                tracing::trace!("<- {}", String::from_utf8_lossy(body));
                decode(body)
            }
            Err(error) => Err((RequestId::Null, Error::new(PARSE_ERROR, error.to_string()))),
        };
        match message {
            Ok(Incoming::Request { id, method, params }) => {
                self.request(&method, params, Answer::new(id, self.outgoing.clone()));
            }
            Ok(Incoming::Notification { method, .. }) if method == "exit" => return Flow::Exit,
            Ok(Incoming::Notification { method, params }) => self.notification(&method, params),
            Ok(Incoming::Response) => tracing::debug!("an answer is ignored, since nothing was asked"),
            Err((id, error)) => {
                tracing::warn!("a message could not be read: {error}");
                self.outgoing.respond(&id, Err(error));
            }
        }
        Flow::GoOn
    }

    fn request(&mut self, method: &str, params: &str, answer: Answer) {
        let refusal = match (self.phase, method) {
            (Phase::Uninitialized, "initialize") => {
                let result = self.initialize(params);
                return answer.give(result);
            }
            (Phase::Running, "shutdown") => {
                self.phase = Phase::ShutDown;
                let _ = self.events.send(Event::ShutDown);
                return self.send(Message::Shutdown(answer));
            }
            (Phase::Running, "initialize") => {
                Error::new(INVALID_REQUEST, "`initialize` may be sent only once")
            }
            (Phase::Running, _) => match READS.iter().find(|(name, _)| *name == method) {
                Some((method, decode)) => match decode(params) {
                    Ok(ReadParams { uri, outdated_by_edits, work }) => {
                        return self.send(Message::Read(Read {
                            method,
                            uri,
                            outdated_by_edits,
                            work,
                            answer,
                        }));
                    }
                    Err(problem) => {
                        let message = format!("the parameters of `{method}` are wrong: {problem}");
                        Error::new(INVALID_PARAMS, message)
                    }
                },
                None => {
                    let message = format!("`{method}` is not a request that prose answers");
                    Error::new(METHOD_NOT_FOUND, message)
                }
            },
            (Phase::Uninitialized, _) => {
                let message =
                    format!("`{method}` came before `initialize`, which has to be the first request");
                Error::new(SERVER_NOT_INITIALIZED, message)
            }
            (Phase::ShutDown, _) => {
                let message = format!("`{method}` came after `shutdown`, when only `exit` may follow");
                Error::new(INVALID_REQUEST, message)
            }
        };
        answer.give(Err(refusal));
    }

    fn initialize(&mut self, params: &str) -> Result<Json, Error> {
        let params = serde_json::from_str::<Value>(params).unwrap_or_default();
        if !params.is_object() {
            return Err(Error::new(INVALID_PARAMS, "the parameters of `initialize` have to be an object"));
        }
        self.phase = Phase::Running;
        let session = Session::from_initialize(&params);
        tracing::info!(?session, "the client introduced itself");
        if let Some(pid) = session.parent {
            let events = self.events.clone();
            parent::watch(pid, move || {
                let _ = events.send(Event::ParentDied);
            });
        }
        let result = session.initialize_result();
        self.send(Message::Start(session));
        Ok(result)
    }

    fn notification(&mut self, method: &str, params: &str) {
        if self.phase != Phase::Running {
            tracing::warn!("`{method}` is ignored, since it came before `initialize` or after `shutdown`");
            return;
        }
        match message(method, params) {
            Ok(Some(message)) => self.send(message),
            // Notifications that start so are optional, and every client sends `initialized`, which says nothing new.
            Ok(None) if method.starts_with("$/") || method == "initialized" => {}
            Ok(None) => tracing::debug!("`{method}` is not a notification that prose knows"),
            Err(problem) => {
                tracing::warn!("`{method}` is ignored because its parameters are wrong: {problem}");
            }
        }
    }

    fn send(&self, message: Message) {
        // A request that is lost here is answered by the drop of its `Answer`.
        if self.to_owner.send(message).is_err() {
            tracing::error!("the owner of the state is gone");
        }
    }
}

#[derive(Deserialize)]
struct CancelParams {
    // The types of the protocol have no room for ids of more than 32 bits, which are allowed.
    id: RequestId,
}

/// What a known notification asks of the owner.
fn message(method: &str, params: &str) -> serde_json::Result<Option<Message>> {
    Ok(Some(match method {
        "textDocument/didOpen" => {
            let document = serde_json::from_str::<DidOpenTextDocumentParams>(params)?.text_document;
            Message::Open { uri: name(&document.uri), version: document.version, text: document.text }
        }
        "textDocument/didChange" => {
            let DidChangeTextDocumentParams { text_document, content_changes } =
                serde_json::from_str(params)?;
            Message::Change {
                uri: name(&text_document.uri),
                version: text_document.version,
                changes: content_changes.into_iter().map(Into::into).collect(),
            }
        }
        "textDocument/didClose" => {
            let params: DidCloseTextDocumentParams = serde_json::from_str(params)?;
            Message::Close { uri: name(&params.text_document.uri) }
        }
        "$/cancelRequest" => Message::Cancel(serde_json::from_str::<CancelParams>(params)?.id),
        _ => return Ok(None),
    }))
}

/// What a read request asks for.
struct ReadParams {
    uri: DocumentUri,
    outdated_by_edits: bool,
    work: Work,
}

impl ReadParams {
    fn new(uri: &Uri, work: impl FnOnce(&Snapshot, &Session) -> Json + Send + 'static) -> Self {
        Self { uri: name(uri), outdated_by_edits: true, work: Box::new(work) }
    }
}

type ReadDecoder = fn(&str) -> serde_json::Result<ReadParams>;

/// Every request that looks at a document.
const READS: &[(&str, ReadDecoder)] = &[
    ("textDocument/diagnostic", |params| {
        let params: DocumentDiagnosticParams = serde_json::from_str(params)?;
        let previous = params.previous_result_id;
        let read = ReadParams::new(&params.text_document.uri, move |snapshot, session| {
            diagnostics::report(snapshot, session, previous.as_deref())
        });
        // Clients take the failure of this request badly: some show it, some remove the diagnostics that they have. What was
        // true a moment ago is the better answer, and they ask again after every edit anyway.
        Ok(ReadParams { outdated_by_edits: false, ..read })
    }),
    ("textDocument/documentSymbol", |params| {
        let params: DocumentSymbolParams = serde_json::from_str(params)?;
        Ok(ReadParams::new(&params.text_document.uri, |snapshot, session| {
            let symbols = prose_ide::document_symbols(&snapshot.parse.syntax());
            Converter { text: &snapshot.text, session }.symbols(&snapshot.uri, symbols)
        }))
    }),
    ("textDocument/foldingRange", |params| {
        let params: FoldingRangeParams = serde_json::from_str(params)?;
        Ok(ReadParams::new(&params.text_document.uri, |snapshot, session| {
            let folds = prose_ide::folding_ranges(&snapshot.parse.syntax());
            Converter { text: &snapshot.text, session }.folding_ranges(folds)
        }))
    }),
    ("textDocument/selectionRange", |params| {
        let SelectionRangeParams { text_document, positions, .. } = serde_json::from_str(params)?;
        Ok(ReadParams::new(&text_document.uri, move |snapshot, session| {
            let root = snapshot.parse.syntax();
            let around = |offset| prose_ide::selection_ranges(&root, offset);
            Converter { text: &snapshot.text, session }.selection_ranges(&positions, around)
        }))
    }),
    // The tests' own requests, which no built server knows.
    #[cfg(test)]
    ("test/panic", |params| {
        let params: FoldingRangeParams = serde_json::from_str(params)?;
        Ok(ReadParams::new(&params.text_document.uri, |_, _| panic!("this request always panics")))
    }),
    #[cfg(test)]
    ("test/wait", |params| {
        let params: FoldingRangeParams = serde_json::from_str(params)?;
        Ok(ReadParams::new(&params.text_document.uri, |snapshot, _| {
            crate::tests::GATES.pass(&snapshot.uri);
            crate::jsonrpc::json(&snapshot.version)
        }))
    }),
    #[cfg(test)]
    ("test/state", |params| {
        let params: FoldingRangeParams = serde_json::from_str(params)?;
        let read = ReadParams::new(&params.text_document.uri, |snapshot, _| {
            crate::jsonrpc::json(&(
                snapshot.version,
                snapshot.text.to_string(),
                snapshot.parse.syntax().text().to_string(),
            ))
        });
        Ok(ReadParams { outdated_by_edits: false, ..read })
    }),
];

fn name(uri: &Uri) -> DocumentUri {
    uri.as_str().into()
}
