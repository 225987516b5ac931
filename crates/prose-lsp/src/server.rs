//! The protocol's side of the server: the life of the connection, the table of methods, the errors.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_channel::mpsc::{UnboundedReceiver, unbounded};
use futures_util::sink::Sink;
use futures_util::stream::{Stream, StreamExt};
use futures_util::{sink, stream};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite, BufReader, BufWriter};
use tokio::sync::oneshot;
use tokio::time::Instant;
use tower_lsp_server::jsonrpc::{Error, ErrorCode, Id, Request, Response};
use tower_lsp_server::{Loopback, Server};
use tower_service::Service;

use crate::capabilities;
use crate::documents::message::DocumentMessage;
use crate::imports::commands::{Command, ImportMessage};
use crate::mailbox::Mailbox;
use crate::messages::{Message, SessionMessage};
use crate::owner::Owner;
use crate::protocol::framing::FrameError;
use crate::protocol::json::Json;
use crate::protocol::lsp::{
    DidChangeConfigurationParams, DidChangeTextDocumentParams, DidChangeWatchedFilesParams,
    DidChangeWorkspaceFoldersParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    DidSaveTextDocumentParams, WorkspaceFolder,
};
use crate::protocol::notification::Notification;
use crate::protocol::questions::Questions;
use crate::protocol::recording::{Recorder, Side};
use crate::protocol::request::{Failure, RequestId, decode, name};
use crate::protocol::results::Results;
use crate::protocol::session::Session;
use crate::protocol::uri::path_of_uri;
use crate::protocol::{framing, parent};
use crate::reads::read::{Read, ReadMessage};
use crate::requests::{READS, ReadParams};
use crate::runs::registry::Runs;
use crate::runs::requests::{RunCommand, RunMessage, RunQuery};
use crate::workspace::message::WorkspaceMessage;
use crate::workspace::moves::Moves;

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
pub(crate) async fn serve(
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite + Unpin,
    recorder: Option<Recorder>,
) -> End {
    let (to_client, notifications) = unbounded();
    let (to_owner, messages) = mpsc::channel();
    let (events_sender, mut events) = tokio::sync::mpsc::unbounded_channel();
    let questions = Questions::new(to_client.clone());
    let runs = Runs::new(Mailbox::new(&to_owner), to_client.clone(), questions.clone());
    let end_of_input = to_owner.clone();
    let owner = Owner::new(&to_owner, to_client, Arc::clone(&runs));
    let owner_thread = std::thread::Builder::new().name("owner".to_owned());
    if let Err(error) = owner_thread.spawn(move || owner.run(&messages)) {
        tracing::error!("the server cannot start a thread: {error}");
        return End::Abrupt;
    }

    let results = Results::default();
    let (vetted_input, vetted) = tokio::io::duplex(BUFFER);
    let (bare_output, bare) = tokio::io::duplex(BUFFER);
    let relay_input = async {
        let vet = |frame| vet(frame, recorder.as_ref());
        if let Err(error) = framing::relay(BufReader::new(input), vetted, vet).await {
            tracing::warn!("the input cannot be read any more: {error}");
        }
        let _ = events_sender.send(Event::EndOfInput);
        let _ = end_of_input.send(SessionMessage::EndOfInput.into());
        // The rest of the connection says when it is over.
        std::future::pending::<()>().await;
    };
    let relay_output = async {
        let put_in = |frame| complete(&results, recorder.as_ref(), frame);
        if let Err(error) =
            framing::relay(BufReader::new(bare), BufWriter::with_capacity(BUFFER, output), put_in).await
        {
            tracing::warn!("the client cannot be reached any more: {error}");
        }
    };
    let front = Front {
        phase: Phase::Uninitialized,
        to_owner,
        results: results.clone(),
        events: events_sender.clone(),
    };
    let server = Server::new(vetted_input, bare_output, ToClient(notifications, questions))
        // A limit would let edits and cancellations wait behind the reads that they are about.
        .concurrency_level(usize::MAX)
        .serve(front);

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
                Ok(None) | Err(_) => return false,
            }
        }
    };
    let parent_died = tokio::select! {
        // The server's output ends with the server, so this is both at once unless the client cannot be reached.
        () = async { tokio::join!(server, relay_output); } => false,
        () = relay_input => false,
        parent_died = leaving => parent_died,
    };
    // Agents must not go on working for nobody, and what they have done is on the disk when this returns.
    runs.stop_all();
    runs.wait_until_over();
    while let Ok(event) = events.try_recv() {
        shut_down |= matches!(event, Event::ShutDown);
    }
    match (parent_died, shut_down) {
        (true, _) => End::ParentDied,
        (false, true) => End::Orderly,
        (false, false) => End::Abrupt,
    }
}

const BUFFER: usize = 64 * 1024;

/// What the connection as a whole has to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Event {
    ShutDown,
    Exit,
    EndOfInput,
    ParentDied,
}

/// The stream of the server's own messages, and who waits for what the client answers to them.
struct ToClient(UnboundedReceiver<Vec<Notification>>, Questions);

impl Loopback for ToClient {
    type RequestStream = Pin<Box<dyn Stream<Item = Request>>>;
    type ResponseSink = Pin<Box<dyn Sink<Response, Error = Infallible>>>;

    fn split(self) -> (Self::RequestStream, Self::ResponseSink) {
        let questions = self.1;
        let answers = sink::unfold((), move |(), response: Response| {
            if let (Id::Number(id), result) = response.into_parts() {
                questions.answered(id, result.ok());
            }
            std::future::ready(Ok(()))
        });
        (Box::pin(self.0.flat_map(stream::iter).map(request)), Box::pin(answers))
    }
}

fn request(Notification { method, params, id }: Notification) -> Request {
    let request = Request::build(method);
    let request = match id {
        Some(id) => request.id(id),
        None => request,
    };
    if params.is_null() { request.finish() } else { request.params(params).finish() }
}

/// Where the connection is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Uninitialized,
    Running,
    ShutDown,
}

/// The first to see a message. The library calls [`Front::call`] once for each message, one after the other, in the order of
/// the wire; but it polls the futures that the calls return in any order. So all that order matters for is done
/// in the call itself, and the future does nothing but wait for the answer.
struct Front {
    phase: Phase,
    to_owner: mpsc::Sender<Message>,
    results: Results,
    events: tokio::sync::mpsc::UnboundedSender<Event>,
}

impl Drop for Front {
    fn drop(&mut self) {
        // The owner holds a way to itself, so it does not see that nobody else does any more.
        let _ = self.to_owner.send(SessionMessage::End.into());
    }
}

type Reply = Pin<Box<dyn Future<Output = Result<Option<Response>, Infallible>> + Send>>;

impl Service<Request> for Front {
    type Response = Option<Response>;
    type Error = Infallible;
    type Future = Reply;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Reply {
        let (method, id, params) = request.into_parts();
        let params = params.unwrap_or(Value::Null);
        match id {
            None if method == MALFORMED => ready(Some(malformed_response(params))),
            None => {
                self.notification(&method, params);
                ready(None)
            }
            Some(id) => match self.request(&method, &id, params) {
                Ok(Outcome::Now(result)) => ready(Some(Response::from_ok(id, result))),
                Ok(Outcome::Later(answer)) => {
                    let results = self.results.clone();
                    Box::pin(async move {
                        let answer = answer.await.map(|result| result.map(|text| results.hold(text)));
                        Ok(Some(response(id, answer)))
                    })
                }
                Err(error) => ready(Some(Response::from_error(id, error))),
            },
        }
    }
}

fn ready(response: Option<Response>) -> Reply {
    Box::pin(std::future::ready(Ok(response)))
}

enum Outcome {
    Now(Value),
    Later(oneshot::Receiver<Result<Json, Failure>>),
}

impl Front {
    fn request(&mut self, method: &str, id: &Id, params: Value) -> Result<Outcome, Error> {
        match (self.phase, method) {
            (_, "") => {
                return Err(error(
                    ErrorCode::InvalidRequest,
                    "the message has neither a method nor a result",
                ));
            }
            (Phase::Uninitialized, "initialize") => return self.initialize(&params),
            (Phase::Uninitialized, _) => {
                let message =
                    format!("`{method}` came before `initialize`, which has to be the first request");
                return Err(error(ErrorCode::ServerError(SERVER_NOT_INITIALIZED), message));
            }
            (Phase::ShutDown, _) => {
                let message = format!("`{method}` came after `shutdown`, when only `exit` may follow");
                return Err(error(ErrorCode::InvalidRequest, message));
            }
            (Phase::Running, "initialize") => {
                return Err(error(ErrorCode::InvalidRequest, "`initialize` may be sent only once"));
            }
            (Phase::Running, "shutdown") => {
                self.phase = Phase::ShutDown;
                let _ = self.events.send(Event::ShutDown);
                let (answer, answered) = oneshot::channel();
                self.send(SessionMessage::Shutdown(answer));
                return Ok(Outcome::Later(answered));
            }
            (Phase::Running, "workspace/executeCommand") => {
                let (answer, answered) = oneshot::channel();
                let message = match RunCommand::kind(&params) {
                    Some(what) => RunCommand::read(what, &params, answer)
                        .map(|command| Message::Run(RunMessage::Command(command))),
                    None => Command::read(&params, answer)
                        .map(|command| Message::Import(ImportMessage::Command(command))),
                };
                self.send(message.map_err(|problem| error(ErrorCode::InvalidParams, problem))?);
                return Ok(Outcome::Later(answered));
            }
            (Phase::Running, "prose/status") => {
                let (answer, answered) = oneshot::channel();
                self.send(SessionMessage::Status(answer));
                return Ok(Outcome::Later(answered));
            }
            (Phase::Running, "workspace/willRenameFiles") => {
                let (answer, answered) = oneshot::channel();
                let moves = Moves::read(params)
                    .map_err(|problem| error(ErrorCode::InvalidParams, wrong_parameters(method, &problem)))?;
                self.send(WorkspaceMessage::WillMove(moves, answer));
                return Ok(Outcome::Later(answered));
            }
            (Phase::Running, _) => {}
        }
        let wrong = |problem| error(ErrorCode::InvalidParams, wrong_parameters(method, &problem));
        if let Some(query) = RunQuery::read(method, &params) {
            let (answer, answered) = oneshot::channel();
            self.send(RunMessage::Query(query.map_err(wrong)?, answer));
            return Ok(Outcome::Later(answered));
        }
        let Some((method, read)) = READS.iter().find(|(name, _)| *name == method) else {
            let message = format!("`{method}` is not a request that prose answers");
            return Err(error(ErrorCode::MethodNotFound, message));
        };
        let ReadParams { uri, outdated_by_edits, work, nothing } = read(params).map_err(wrong)?;
        let (answer, answered) = oneshot::channel();
        let id = request_id(id);
        self.send(ReadMessage::Start(Read { id, method, uri, outdated_by_edits, work, nothing, answer }));
        Ok(Outcome::Later(answered))
    }

    fn initialize(&mut self, params: &Value) -> Result<Outcome, Error> {
        if !params.is_object() {
            return Err(error(
                ErrorCode::InvalidParams,
                "the parameters of `initialize` have to be an object",
            ));
        }
        self.phase = Phase::Running;
        let session = Session::from_initialize(params);
        tracing::info!(?session, "the client introduced itself");
        if let Some(pid) = session.parent {
            let events = self.events.clone();
            parent::watch(pid, move || {
                let _ = events.send(Event::ParentDied);
            });
        }
        let result = capabilities::initialize_result(&session);
        self.send(SessionMessage::Start(session));
        Ok(Outcome::Now(result))
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
            Ok(None) => tracing::debug!("`{method}` is not a notification that prose knows"),
            Err(problem) => {
                tracing::warn!("`{method}` is ignored because its parameters are wrong: {problem}");
            }
        }
    }

    fn send(&self, message: impl Into<Message>) {
        // Without an owner nobody answers, and the future that waits for the answer says so.
        if self.to_owner.send(message.into()).is_err() {
            tracing::error!("the owner of the state is gone");
        }
    }
}

fn wrong_parameters(method: &str, problem: &serde_json::Error) -> String {
    format!("the parameters of `{method}` are wrong: {problem}")
}

/// The library's own type has no room for ids of more than 32 bits, which are allowed.
#[derive(Deserialize)]
struct CancelParams {
    id: Id,
}

#[derive(Deserialize)]
struct ProgressCancelParams {
    token: Value,
}

/// What a known notification asks of the owner.
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
        "$/cancelRequest" => {
            Message::Read(ReadMessage::Cancel(request_id(&decode::<CancelParams>(params)?.id)))
        }
        _ => return Ok(None),
    }))
}

fn request_id(id: &Id) -> RequestId {
    match id {
        Id::Number(number) => RequestId::Number(*number),
        Id::String(text) => RequestId::Text(text.clone()),
        Id::Null => RequestId::Null,
    }
}

const SERVER_NOT_INITIALIZED: i64 = -32002;
const REQUEST_FAILED: i64 = -32803;

fn error(code: ErrorCode, message: impl Into<std::borrow::Cow<'static, str>>) -> Error {
    Error { code, message: message.into(), data: None }
}

fn response(id: Id, answer: Result<Result<Value, Failure>, oneshot::error::RecvError>) -> Response {
    let failure = match answer {
        Ok(Ok(result)) => return Response::from_ok(id, result),
        Ok(Err(failure)) => failure,
        Err(_) => {
            let message = "the server could not answer this request; its log says why";
            return Response::from_error(id, error(ErrorCode::InternalError, message));
        }
    };
    Response::from_error(
        id,
        match failure {
            Failure::Cancelled => error(ErrorCode::RequestCancelled, "the request was cancelled"),
            Failure::ContentModified => {
                error(ErrorCode::ContentModified, "the document was edited while the answer was being made")
            }
            Failure::NotOpen(uri) => error(
                ErrorCode::InvalidParams,
                format!("{uri} is not open; `textDocument/didOpen` has to come first"),
            ),
            Failure::NothingNew => error(ErrorCode::RequestCancelled, "there is nothing new"),
            Failure::DuplicateId => {
                error(ErrorCode::InvalidRequest, "another request with this id has not been answered yet")
            }
            Failure::Refused(reason) => error(ErrorCode::ServerError(REQUEST_FAILED), reason),
            Failure::Panicked(panicked) => error(ErrorCode::InternalError, panicked.to_string()),
        },
    )
}

/// The method of the notification that stands in the place of a message that could not be read, so that the error is
/// answered in the order of the wire.
const MALFORMED: &str = "$/malformed";

/// What a message that could not be read is answered with.
#[derive(Debug, Serialize, Deserialize)]
struct Malformed {
    id: Id,
    code: ErrorCode,
    message: String,
}

/// The same choice, made in the same way, as the one the library makes for each body.
#[derive(Deserialize)]
#[serde(untagged)]
#[expect(dead_code, reason = "only whether a body can be decoded is of interest")]
enum AnyMessage {
    Response(Response),
    Request(Request),
}

/// The body for the library: the one of the frame if the library can decode it, else one that stands for the error.
fn vet(frame: Result<Vec<u8>, FrameError>, recorder: Option<&Recorder>) -> Vec<Vec<u8>> {
    if let (Some(recorder), Ok(body)) = (recorder, &frame) {
        recorder.record(Side::Client, body);
    }
    let malformed = match frame {
        Ok(body) => match malformed(&body) {
            None => return vec![body],
            Some(malformed) => malformed,
        },
        Err(error) => Malformed { id: Id::Null, code: ErrorCode::ParseError, message: error.to_string() },
    };
    tracing::warn!("a message could not be read: {}", malformed.message);
    vec![json!({ "jsonrpc": "2.0", "method": MALFORMED, "params": malformed }).to_string().into_bytes()]
}

/// The pieces of a frame of the library's, with its result.
fn complete(
    results: &Results,
    recorder: Option<&Recorder>,
    frame: Result<Vec<u8>, FrameError>,
) -> Vec<Vec<u8>> {
    match frame {
        Ok(body) => {
            let pieces = results.put_in(body);
            if let Some(recorder) = recorder {
                recorder.record(Side::Server, &pieces.concat());
            }
            if pieces.len() > 1 && tracing::enabled!(tracing::Level::TRACE) {
                tracing::trace!("-> {}", String::from_utf8_lossy(&pieces.concat()));
            }
            pieces
        }
        // The library writes good frames; should it be stopped inside one, nobody reads on.
        Err(_) => Vec::new(),
    }
}

fn malformed(body: &[u8]) -> Option<Malformed> {
    let text = match std::str::from_utf8(body) {
        Ok(text) => text,
        Err(error) => {
            let message = format!("the message is not UTF-8: {error}");
            return Some(Malformed { id: Id::Null, code: ErrorCode::ParseError, message });
        }
    };
    if serde_json::from_str::<AnyMessage>(text).is_ok() {
        return None;
    }
    Some(match serde_json::from_str::<Value>(text) {
        Err(error) => Malformed {
            id: Id::Null,
            code: ErrorCode::ParseError,
            message: format!("the message is not JSON: {error}"),
        },
        Ok(value) => Malformed {
            id: value.get("id").and_then(|id| serde_json::from_value(id.clone()).ok()).unwrap_or(Id::Null),
            code: ErrorCode::InvalidRequest,
            message: "the message is not a request, notification or response of JSON-RPC 2.0".to_owned(),
        },
    })
}

fn malformed_response(params: Value) -> Response {
    match decode::<Malformed>(params) {
        Ok(Malformed { id, code, message }) => Response::from_error(id, error(code, message)),
        Err(problem) => Response::from_error(Id::Null, error(ErrorCode::InvalidParams, problem.to_string())),
    }
}
