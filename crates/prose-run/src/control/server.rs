//! The side of the channel in the process that executes the run.

use std::io;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use prose_vm::command::{CommandError, CommandSender};
use prose_vm::event::Event;
use prose_vm::questions::OpenQuestion;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::address::{Address, is_same_token, random};
use super::hub::{Attachment, Hub, Next};
use super::protocol::{Answer, Ask, Hello, MAX_MESSAGE, Message, PROTOCOL_VERSION, Request};
use super::transport::{AsyncListener, AsyncStream, Listener, is_of_user};
use crate::questions::{AnswerError, Attendance, Questions};

/// How many clients a run serves at the same time.
const MAX_CLIENTS: usize = 256;

/// How long a client may take for its first message.
const HELLO_TIME: Duration = Duration::from_secs(5);

/// How long clients may take to read the last events of a run. What they miss is in the journal.
const FAREWELL_TIME: Duration = Duration::from_millis(500);

/// How long the process waits at the end of a run until its clients have their answers, as it may end before that.
const MAX_FAREWELL: Duration = Duration::from_secs(2);

/// How long no connection is accepted after the system had no resources for it.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// A tenth of the weight of other threads, when the processor is short.
#[cfg(target_os = "linux")]
const NICENESS: i32 = 10;

/// How many answers wait for a client at most before its next request is read.
const MAX_ANSWERS: usize = 16;

/// The channel of a run. Dropping it ends it, after which the run cannot be reached.
pub(crate) struct Server {
    hub: Arc<Hub>,
    address: Address,
    folder: PathBuf,
    clients: Arc<AtomicUsize>,
    /// Ends when no client is served any more.
    served: Receiver<()>,
}

/// What the clients of a run share.
struct Service {
    hub: Arc<Hub>,
    address: Address,
    commands: CommandSender,
    desk: Questions,
    /// How many clients are connected.
    clients: Arc<AtomicUsize>,
}

/// What is written to a client in addition to events.
enum Outgoing {
    Message(Message),
    /// The answer to the request of that number, followed by events.
    Attach(u64),
    /// The answer to the request of that number, followed by the open questions, with the attendance of the client.
    Questions(u64, Option<Attendance>),
}

/// What follows for a client that has asked for it.
struct Following {
    hub: Arc<Hub>,
    desk: Questions,
    events: Option<Attachment>,
    questions: Option<FollowedQuestions>,
}

/// The questions that a client follows until it leaves.
struct FollowedQuestions {
    /// While it is there to answer them.
    _attendance: Option<Attendance>,
    changes: watch::Receiver<u64>,
    /// The questions that it was sent last.
    sent: Option<Vec<OpenQuestion>>,
}

impl Server {
    /// The same as [`Server::start`]. If that fails, the run is executed without the channel, and its folder says why.
    pub(crate) fn start_or_note(
        folder: &Path,
        run: &str,
        commands: CommandSender,
        desk: Questions,
    ) -> Option<Self> {
        let error = match Self::start(folder, run, commands, desk) {
            Ok(server) => return Some(server),
            Err(error) => error,
        };
        let problem = Some(error.to_string());
        let address = Address { problem, ..Address::new(run, String::new(), String::new()) };
        // Without the note, clients only learn that no process listens.
        let _ = address.write(folder);
        None
    }

    /// Starts the channel of the run in a folder.
    pub(crate) fn start(
        folder: &Path,
        run: &str,
        commands: CommandSender,
        desk: Questions,
    ) -> io::Result<Self> {
        let listener = Listener::bind(&random()?)?;
        let address = Address::new(run, listener.address()?, random()?);
        let hub = Arc::new(Hub::default());
        let clients = Arc::new(AtomicUsize::new(0));
        let (serving, served) = channel();
        let service = Arc::new(Service {
            hub: Arc::clone(&hub),
            address: address.clone(),
            commands,
            desk,
            clients: Arc::clone(&clients),
        });
        // From here on, a failure removes the address again.
        let server = Self { hub, address: address.clone(), folder: folder.to_owned(), clients, served };
        let thread = std::thread::Builder::new().name("run-control".to_owned());
        thread.spawn(move || serve(listener, &service, serving))?;
        address.write(folder)?;
        Ok(server)
    }

    /// Passes an event on to the watchers.
    pub(crate) fn observe(&self, event: &Event) {
        self.hub.add(event);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.address.remove(&self.folder);
        self.hub.end();
        if self.clients.load(Ordering::Relaxed) > 0 {
            // The sender is dropped when the last client has been served.
            let _ = self.served.recv_timeout(MAX_FAREWELL);
        }
    }
}

fn serve(listener: Listener, service: &Arc<Service>, _serving: Sender<()>) {
    yield_to_the_run();
    // Without resources for it, the run is executed all the same, and clients learn that no process listens.
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
    runtime.block_on(async {
        let Ok(listener) = listener.listen() else { return };
        let mut clients = JoinSet::new();
        accept(&listener, service, &mut clients).await;
        drop(listener);
        let farewell = async { while clients.join_next().await.is_some() {} };
        // A client that reads no more finds the rest in the journal.
        let _ = timeout(FAREWELL_TIME, farewell).await;
    });
}

/// Gives this thread less of the processor than those that execute the run, so that many watchers do not slow a run that keeps all
/// cores busy. They receive events later then; what they miss is in the journal.
#[cfg(target_os = "linux")]
fn yield_to_the_run() {
    // On Linux, this is the priority of the calling thread alone. Without it, everything works the same.
    let _ = rustix::process::nice(NICENESS);
}

/// Elsewhere, a priority would be that of the whole process.
#[cfg(not(target_os = "linux"))]
fn yield_to_the_run() {}

/// Accepts clients until the run has ended.
async fn accept(listener: &AsyncListener, service: &Arc<Service>, clients: &mut JoinSet<()>) {
    let mut writing = pin!(service.hub.write());
    loop {
        tokio::select! {
            () = &mut writing => return,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    let has_room = clients.len() < MAX_CLIENTS;
                    clients.spawn(client(stream, Arc::clone(service), has_room));
                    service.clients.store(clients.len(), Ordering::Relaxed);
                }
                Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
            },
            Some(_) = clients.join_next() => service.clients.store(clients.len(), Ordering::Relaxed),
        }
    }
}

/// Serves a client until it leaves, sends something that is refused, or the run has ended.
async fn client(stream: AsyncStream, service: Arc<Service>, has_room: bool) {
    let is_welcome = match is_of_user(&stream) {
        false => Err("the run belongs to another user".to_owned()),
        true if !has_room => Err(format!("the run has {MAX_CLIENTS} clients already")),
        true => Ok(()),
    };
    let (read, write) = stream.into_split();
    let (answers, outgoing) = mpsc::channel(MAX_ANSWERS);
    let is_answering = Arc::new(AtomicBool::new(false));
    let (hub, desk) = (Arc::clone(&service.hub), service.desk.clone());
    let following = Following { hub, desk, events: None, questions: None };
    let mut writing = pin!(send_all(write, outgoing, following, Arc::clone(&is_answering)));
    let reading = async move {
        let ended = match is_welcome {
            Ok(()) => receive(BufReader::new(read), &service, &answers, &is_answering).await,
            Err(refusal) => Err(refusal),
        };
        if let Err(refusal) = ended {
            // Who has left misses nothing.
            let _ = answers.send(Outgoing::Message(Message::Error(refusal))).await;
        }
    };
    tokio::select! {
        _ = &mut writing => {}
        () = reading => drop(writing.await),
    }
}

/// Answers the requests of a client until it leaves. The error is what the client is told before the connection is closed.
async fn receive(
    mut reader: impl AsyncBufReadExt + Unpin,
    service: &Service,
    answers: &mpsc::Sender<Outgoing>,
    is_answering: &AtomicBool,
) -> Result<(), String> {
    let hello = timeout(HELLO_TIME, line(&mut reader)).await;
    let Some(hello) = hello.map_err(|_| "no message within 5 seconds".to_owned())?? else { return Ok(()) };
    let hello: Hello = serde_json::from_slice(&hello)
        .map_err(|_| "the first message has to be the version, the run and its token".to_owned())?;
    if !is_same_token(&hello.token, &service.address.token) {
        return Err("the token is not that of the run".to_owned());
    }
    if hello.run != service.address.run {
        return Err(format!("this is run {}, not run {}", service.address.run, hello.run));
    }
    if hello.protocol != PROTOCOL_VERSION {
        let version = hello.protocol;
        return Err(format!(
            "the run is executed by a version of prose with control protocol {PROTOCOL_VERSION}, not {version}"
        ));
    }
    let welcome = Message::Hello { protocol: PROTOCOL_VERSION, process: service.address.process };
    let mut answer = Outgoing::Message(welcome);
    // A client that has left is no error.
    while answers.send(answer).await.is_ok() {
        is_answering.store(false, Ordering::Relaxed);
        let Some(line) = line(&mut reader).await? else { return Ok(()) };
        is_answering.store(true, Ordering::Relaxed);
        let request: Request = serde_json::from_slice(&line)
            .map_err(|error| format!("the message is not a request: {error}"))?;
        answer = service.answer(request).await?;
    }
    Ok(())
}

/// The next line of a client; `None` if it has left.
async fn line(reader: &mut (impl AsyncBufReadExt + Unpin)) -> Result<Option<Vec<u8>>, String> {
    let mut line = Vec::new();
    let read = reader.take(MAX_MESSAGE as u64 + 1).read_until(b'\n', &mut line).await;
    if line.len() > MAX_MESSAGE {
        return Err(format!("the message is longer than {MAX_MESSAGE} bytes"));
    }
    Ok((read.is_ok() && line.ends_with(b"\n")).then_some(line))
}

impl Service {
    async fn answer(&self, Request { id, ask, by }: Request) -> Result<Outgoing, String> {
        let answer = match (ask, by) {
            (Ask::Attach, _) => return Ok(Outgoing::Attach(id)),
            (Ask::Attend, _) => return Ok(Outgoing::Questions(id, Some(self.desk.attend()))),
            (Ask::FollowQuestions, _) => return Ok(Outgoing::Questions(id, None)),
            (Ask::Status, _) => match self.commands.status().await {
                Some(status) => Answer::Status(status),
                None => Answer::Rejected(CommandError::Ended),
            },
            (Ask::Questions, _) if self.desk.is_stopping() => Answer::Rejected(CommandError::Ended),
            (Ask::Questions, _) => Answer::Questions(self.desk.open()),
            // A person's word has a name in the journal (decision 25).
            (_, None) => return Err("the message does not say who sends it".to_owned()),
            (Ask::Answer { question, text }, Some(by)) => match self.desk.answer(question, &text, by) {
                Ok(()) => Answer::Done,
                Err(AnswerError::Stopping) => Answer::Rejected(CommandError::Ended),
                Err(refused) => Answer::Refused(refused.to_string()),
            },
            (ask, Some(by)) => match ask.command() {
                Some(command) => match self.commands.send(command, by).await {
                    Ok(()) => Answer::Done,
                    Err(error) => Answer::Rejected(error),
                },
                // The others are above.
                None => Answer::Done,
            },
        };
        Ok(Outgoing::Message(Message::Answer { id, answer }))
    }
}

/// Writes answers, events and questions to a client until there are no more.
async fn send_all(
    mut write: impl AsyncWrite + Unpin,
    mut outgoing: mpsc::Receiver<Outgoing>,
    mut following: Following,
    is_answering: Arc<AtomicBool>,
) -> io::Result<()> {
    let mut published = following.hub.published();
    loop {
        while let Ok(next) = outgoing.try_recv() {
            send(&mut write, next, &mut following).await?;
        }
        if let Some(questions) = following.new_questions() {
            write.write_all(&Message::Questions(questions).line()).await?;
        }
        match following.events.as_mut().map(Attachment::next) {
            Some(Next::Lines(chunk)) => {
                write.write_all(&chunk.lines).await?;
                continue;
            }
            Some(Next::Lagged(after)) => {
                write.write_all(&Message::Lagged { after }.line()).await?;
                continue;
            }
            // The command that ended the run is still to be answered.
            Some(Next::Finished) if !is_answering.load(Ordering::Relaxed) => return Ok(()),
            None if following.hub.is_finished() && !is_answering.load(Ordering::Relaxed) => return Ok(()),
            Some(Next::Nothing | Next::Finished) | None => {}
        }
        tokio::select! {
            next = outgoing.recv() => match next {
                Some(next) => send(&mut write, next, &mut following).await?,
                None => return Ok(()),
            },
            () = changed(&mut following.questions) => {}
            changed = published.changed() => {
                if changed.is_err() {
                    return Ok(());
                }
            }
        }
    }
}

impl Following {
    /// The open questions, if the client follows them and they have changed since it was sent them.
    fn new_questions(&mut self) -> Option<Vec<OpenQuestion>> {
        let followed = self.questions.as_mut()?;
        // What changes from here on wakes the client again.
        followed.changes.borrow_and_update();
        let open = self.desk.open();
        if followed.sent.as_ref() == Some(&open) {
            return None;
        }
        followed.sent = Some(open.clone());
        Some(open)
    }
}

/// Completes when the questions that a client follows may have changed; never without any.
async fn changed(followed: &mut Option<FollowedQuestions>) {
    match followed {
        // The desk lives as long as the client is served.
        Some(followed) => _ = followed.changes.changed().await,
        None => std::future::pending().await,
    }
}

async fn send(
    write: &mut (impl AsyncWrite + Unpin),
    next: Outgoing,
    following: &mut Following,
) -> io::Result<()> {
    match next {
        Outgoing::Message(message) => write.write_all(&message.line()).await,
        Outgoing::Attach(id) => {
            let (attachment, lines) = following.hub.attach();
            let answer = Answer::Attached { journal: attachment.journal, before: attachment.before };
            following.events = Some(attachment);
            write.write_all(&Message::Answer { id, answer }.line()).await?;
            write.write_all(&lines).await
        }
        Outgoing::Questions(id, attendance) => {
            let changes = following.desk.changes();
            following.questions = Some(FollowedQuestions { _attendance: attendance, changes, sent: None });
            write.write_all(&Message::Answer { id, answer: Answer::Done }.line()).await
        }
    }
}
