//! Dispatches requests and notifications of the client to the owner.

use std::sync::mpsc;

use prose_run::{TemporaryProject, UserFiles};
use serde::Deserialize;
use serde_json::Value;

use crate::capabilities;
use crate::documents::message::DocumentMessage;
use crate::imports::commands::{Command, CommandKind, Import, ImportMessage};
use crate::messages::{Message, SessionMessage};
use crate::protocol::answer::{Answer, Unanswered, send};
use crate::protocol::client::Client;
use crate::protocol::client_requests::ClientRequests;
use crate::protocol::incoming::{Incoming, Malformed};
use crate::protocol::json::json;
use crate::protocol::lsp::{
    DidChangeConfigurationParams, DidChangeTextDocumentParams, DidChangeWatchedFilesParams,
    DidChangeWorkspaceFoldersParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    DidSaveTextDocumentParams, WorkspaceFolder,
};
use crate::protocol::parent;
use crate::protocol::request::{Failure, RequestId, decode, name};
use crate::protocol::session::Session;
use crate::protocol::uri::path_of_uri;
use crate::reads::read::{Read, ReadMessage};
use crate::requests::{READS, ReadParams};
use crate::runs::requests::{RunArguments, RunCommand, RunCommandKind, RunMessage, RunQuery};
use crate::testing::commands::{TestArguments, TestCommand, TestMessage};
use crate::workspace::message::WorkspaceMessage;
use crate::workspace::moves::Moves;

/// An event that may end the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    ShutDown,
    Exit,
    EndOfInput,
    ParentDied,
}

/// The phase of the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Uninitialized,
    Running,
    ShutDown,
}

/// Receives the messages of the client in the order of the wire and sends each to the owner, or answers it at once.
pub(crate) struct Dispatcher {
    phase: Phase,
    owner: mpsc::Sender<Message>,
    client: Client,
    client_requests: ClientRequests,
    unanswered: Unanswered,
    events: tokio::sync::mpsc::UnboundedSender<Event>,
}

impl Dispatcher {
    pub(crate) fn new(
        owner: mpsc::Sender<Message>,
        client: Client,
        client_requests: ClientRequests,
        events: tokio::sync::mpsc::UnboundedSender<Event>,
    ) -> Self {
        Self {
            phase: Phase::Uninitialized,
            owner,
            client,
            client_requests,
            unanswered: Unanswered::new(),
            events,
        }
    }

    /// Receives a message, or an error in the place of one.
    pub(crate) fn receive(&mut self, message: Result<Incoming, Malformed>) {
        match message {
            Ok(Incoming::Request { id, method, params }) => {
                let answer = self.unanswered.answer(id.clone(), &self.client);
                self.request(&method, id, params, answer);
            }
            Ok(Incoming::Notification { method, params }) => self.notification(&method, params),
            Ok(Incoming::Response { id: RequestId::Number(id), result }) => {
                self.client_requests.answered(id, result)
            }
            Ok(Incoming::Response { .. }) => {}
            Err((id, failure)) => {
                tracing::warn!("a message could not be read: {}", failure.code_and_message().1);
                send(self.unanswered.answer(id, &self.client), Err(failure));
            }
        }
    }

    /// Waits until every request has its answer. No message comes any more.
    pub(crate) async fn finish(self) {
        self.unanswered.wait().await;
    }

    fn request(&mut self, method: &str, id: RequestId, params: Value, answer: Answer) {
        let message = match (self.phase, method) {
            (Phase::Uninitialized, "initialize") => return self.initialize(&params, answer),
            (Phase::Uninitialized, _) => Err(Failure::NotInitialized(format!(
                "`{method}` came before `initialize`, which must be the first request"
            ))),
            (Phase::ShutDown, _) => Err(Failure::InvalidRequest(format!(
                "`{method}` came after `shutdown`, when only `exit` may follow"
            ))),
            (Phase::Running, "initialize") => {
                Err(Failure::InvalidRequest("`initialize` may be sent only once".to_owned()))
            }
            (Phase::Running, _) => decode_request(method, params),
        };
        match message {
            Ok(Request::Shutdown) => {
                self.phase = Phase::ShutDown;
                let _ = self.events.send(Event::ShutDown);
                self.send(SessionMessage::Shutdown(answer));
            }
            Ok(Request::Status) => self.send(SessionMessage::Status(answer)),
            Ok(Request::RunCommand(what, given)) => {
                self.send(RunMessage::Command(RunCommand { what, given, answer }));
            }
            Ok(Request::RunQuery(query)) => self.send(RunMessage::Query(query, answer)),
            Ok(Request::ImportCommand(what, import)) => {
                self.send(ImportMessage::Command(Command { what, import, answer }));
            }
            Ok(Request::TestCommand { stops, given }) => {
                self.send(TestMessage::Command(TestCommand { stops, given, answer }));
            }
            Ok(Request::WillMove(moves)) => self.send(WorkspaceMessage::WillMove(moves, answer)),
            Ok(Request::Read(method, ReadParams { uri, position, outdated_by_edits, work, nothing })) => {
                self.send(ReadMessage::Start(Read {
                    id,
                    method,
                    uri,
                    position,
                    outdated_by_edits,
                    work,
                    nothing,
                    answer,
                }));
            }
            Err(failure) => send(answer, Err(failure)),
        }
    }

    fn initialize(&mut self, params: &Value, answer: Answer) {
        if !params.is_object() {
            let message = "the parameters of `initialize` must be an object";
            return send(answer, Err(Failure::InvalidParams(message.to_owned())));
        }
        self.phase = Phase::Running;
        let temporary = Some(TemporaryProject::new(UserFiles::of_user()));
        let session = Session { temporary, ..Session::from_initialize(params) };
        tracing::info!(?session, "the client introduced itself");
        if let Some(pid) = session.parent {
            let events = self.events.clone();
            parent::watch(pid, move || {
                let _ = events.send(Event::ParentDied);
            });
        }
        send(answer, Ok(json(&capabilities::initialize_result(&session))));
        self.send(SessionMessage::Start(session));
    }

    fn notification(&mut self, method: &str, params: Value) {
        if method == "exit" {
            let _ = self.events.send(Event::Exit);
            self.send(SessionMessage::Leaving);
            return;
        }
        if self.phase != Phase::Running {
            tracing::warn!("`{method}` is ignored, since it came before `initialize` or after `shutdown`");
            return;
        }
        match message(method, params) {
            Ok(Some(message)) => self.send(message),
            // Notifications that start so are optional.
            Ok(None) if method.starts_with("$/") => {}
            Ok(None) => tracing::debug!("`{method}` is not a known notification"),
            Err(problem) => {
                tracing::warn!("`{method}` is ignored because its parameters are wrong: {problem}");
            }
        }
    }

    fn send(&self, message: impl Into<Message>) {
        // Without an owner the dropped answer becomes an error.
        if self.owner.send(message.into()).is_err() {
            tracing::error!("the owner of the state is gone");
        }
    }
}

/// A request, decoded.
enum Request {
    Shutdown,
    Status,
    RunCommand(RunCommandKind, Box<RunArguments>),
    RunQuery(RunQuery),
    ImportCommand(CommandKind, Import),
    TestCommand { stops: bool, given: TestArguments },
    WillMove(Moves),
    Read(&'static str, ReadParams),
}

fn decode_request(method: &str, params: Value) -> Result<Request, Failure> {
    let wrong =
        |problem| Failure::InvalidParams(format!("the parameters of `{method}` are wrong: {problem}"));
    match method {
        "shutdown" => return Ok(Request::Shutdown),
        "prose/status" => return Ok(Request::Status),
        "workspace/executeCommand" => {
            if let Some(test) = TestArguments::read(&params) {
                let request = test.map(|(stops, given)| Request::TestCommand { stops, given });
                return request.map_err(Failure::InvalidParams);
            }
            let command = match RunCommandKind::named(&params) {
                Some(kind) => {
                    RunArguments::read(kind, &params).map(|given| Request::RunCommand(kind, Box::new(given)))
                }
                None => Import::read(&params).map(|(kind, import)| Request::ImportCommand(kind, import)),
            };
            return command.map_err(Failure::InvalidParams);
        }
        "workspace/willRenameFiles" => return Moves::read(params).map(Request::WillMove).map_err(wrong),
        _ => {}
    }
    if let Some(query) = RunQuery::read(method, &params) {
        return query.map(Request::RunQuery).map_err(wrong);
    }
    match READS.iter().find(|(name, _)| *name == method) {
        Some((method, read)) => read(params).map(|read| Request::Read(method, read)).map_err(wrong),
        None => Err(Failure::MethodNotFound(format!("`{method}` is not a known request"))),
    }
}

#[derive(Deserialize)]
struct CancelParams {
    id: RequestId,
}

#[derive(Deserialize)]
struct ProgressCancelParams {
    token: Value,
}

/// The message that a notification is to the owner; none for one that the server does not support.
fn message(method: &str, params: Value) -> serde_json::Result<Option<Message>> {
    Ok(Some(match method {
        "textDocument/didOpen" => {
            let document = decode::<DidOpenTextDocumentParams>(params)?.text_document;
            Message::Document(DocumentMessage::Open {
                uri: name(&document.uri),
                language: document.language_id,
                version: document.version,
                text: document.text,
            })
        }
        "textDocument/didChange" => {
            let DidChangeTextDocumentParams { text_document, content_changes } = decode(params)?;
            Message::Document(DocumentMessage::Change {
                uri: name(&text_document.uri),
                version: text_document.version,
                changes: content_changes.into_iter().map(Into::into).collect(),
            })
        }
        "textDocument/didClose" => Message::Document(DocumentMessage::Close {
            uri: name(&decode::<DidCloseTextDocumentParams>(params)?.text_document.uri),
        }),
        "textDocument/didSave" => Message::Document(DocumentMessage::Save {
            uri: name(&decode::<DidSaveTextDocumentParams>(params)?.text_document.uri),
        }),
        "workspace/didChangeConfiguration" => Message::Workspace(WorkspaceMessage::Configure(
            decode::<DidChangeConfigurationParams>(params)?.settings,
        )),
        "workspace/didChangeWatchedFiles" => {
            let changes = decode::<DidChangeWatchedFilesParams>(params)?.changes;
            Message::Workspace(WorkspaceMessage::FilesChanged(
                changes.iter().map(|change| path_of_uri(&name(&change.uri))).collect(),
            ))
        }
        "workspace/didChangeWorkspaceFolders" => {
            let change = decode::<DidChangeWorkspaceFoldersParams>(params)?.event;
            let path = |folder: &WorkspaceFolder| path_of_uri(&name(&folder.uri));
            Message::Workspace(WorkspaceMessage::FoldersChanged {
                added: change.added.iter().map(path).collect(),
                removed: change.removed.iter().map(path).collect(),
            })
        }
        "initialized" => Message::Session(SessionMessage::Initialized),
        "workspace/didRenameFiles" => Message::Workspace(WorkspaceMessage::Moved(Moves::read(params)?)),
        "window/workDoneProgress/cancel" => {
            Message::Run(RunMessage::CancelProgress(decode::<ProgressCancelParams>(params)?.token))
        }
        "$/cancelRequest" => Message::Read(ReadMessage::Cancel(decode::<CancelParams>(params)?.id)),
        _ => return Ok(None),
    }))
}
