//! Stands for runs that other machines execute: their clients on this machine connect to it as to the process of a run.
//!
//! Commands and answers are passed on to that process, in whatever way it can be reached. Events come from the journal, so that those which are not
//! recorded are missing.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::Shutdown;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use prose_state::journal::journal_of;
use prose_state::reader::{JournalReader, read_last};
use prose_vm::event::EventKind;
use smol_str::SmolStr;

use super::address::{Address, is_same_token, random};
use super::client::{Client, ControlError};
use super::protocol::{Answer, Ask, Hello, MAX_MESSAGE, Message, PROTOCOL_VERSION, Request};
use super::transport::{Listener, Stream, is_of_user};

/// How often a journal is read again, and how often it is asked which questions are open.
const LOOK: Duration = Duration::from_millis(100);
const LOOK_FOR_QUESTIONS: Duration = Duration::from_millis(500);

/// After how many looks into the journal it is asked whether the run is over.
const LOOKS_FOR_END: u64 = 5;

/// How long a run may take to start that this process is about to execute.
const START_TIME: Duration = Duration::from_secs(3);

/// How a run is reached that another machine executes.
pub trait Remote: Send + Sync {
    /// Passes a request on, a line of JSON, and waits for the answer, which is one as well. The error is the reason for the user why there is none.
    fn ask(&self, run: &str, request: &str) -> Result<String, String>;

    /// Whether nothing executes the run any more.
    fn is_over(&self, run: &str) -> bool;
}

/// Passes on what another machine asks the run in a folder, which this process executes, or is about to. Returns the answer.
pub fn relay(folder: &Path, request: &str) -> String {
    let begin = Instant::now();
    let connected = loop {
        match Client::connect(folder) {
            Err(ControlError::NotRunning | ControlError::NoChannel(None)) if begin.elapsed() < START_TIME => {
                thread::sleep(LOOK);
            }
            connected => break connected,
        }
    };
    let answer = connected.and_then(|mut client| client.pass_on(request));
    answer.unwrap_or_else(|error| {
        String::from_utf8_lossy(&Message::Error(error.to_string()).line()).into_owned()
    })
}

/// Listens for the clients of runs that other machines execute. Dropping it ends that.
pub struct Bridge {
    shared: Arc<Shared>,
}

struct Shared {
    remote: Arc<dyn Remote>,
    address: String,
    token: String,
    /// The folders of the runs.
    runs: Mutex<HashMap<SmolStr, PathBuf>>,
}

impl Bridge {
    /// Starts to listen.
    pub fn start(remote: Arc<dyn Remote>) -> io::Result<Self> {
        let listener = Listener::bind(&random()?)?;
        let (address, token) = (listener.address()?, random()?);
        let shared = Arc::new(Shared { remote, address, token, runs: Mutex::default() });
        let serving = Arc::clone(&shared);
        thread::Builder::new().name("run-bridge".to_owned()).spawn(move || accept(listener, &serving))?;
        Ok(Self { shared })
    }

    /// From now on, clients find the run in a folder here.
    pub fn open(&self, run: &str, folder: &Path) -> io::Result<()> {
        let Shared { address, token, .. } = &*self.shared;
        self.shared.runs().insert(run.into(), folder.to_owned());
        Address::new(run, address.clone(), token.clone()).write(folder)
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        super::transport::remove(&self.shared.address);
    }
}

impl Shared {
    fn runs(&self) -> MutexGuard<'_, HashMap<SmolStr, PathBuf>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn accept(listener: Listener, shared: &Arc<Shared>) {
    // Without resources for it, clients learn that no process listens.
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
    runtime.block_on(async {
        let Ok(listener) = listener.listen() else { return };
        loop {
            let Ok((stream, _)) = listener.accept().await else {
                tokio::time::sleep(LOOK).await;
                continue;
            };
            if !is_of_user(&stream) {
                continue;
            }
            let Ok(stream) = stream.into_std() else { continue };
            let shared = Arc::clone(shared);
            let serving = move || {
                // A client that has left is no error.
                let _ = stream.set_nonblocking(false).and_then(|()| serve(stream, &shared));
            };
            let _ = thread::Builder::new().name("run-bridge".to_owned()).spawn(serving);
        }
    });
}

/// Writes to a client from several threads.
#[derive(Clone)]
struct Writer {
    stream: Arc<Mutex<Stream>>,
    has_left: Arc<AtomicBool>,
}

impl Writer {
    /// Whether the client has left.
    fn has_left(&self) -> bool {
        self.has_left.load(Ordering::Relaxed)
    }

    fn write(&self, line: &[u8]) -> io::Result<()> {
        self.stream.lock().unwrap_or_else(PoisonError::into_inner).write_all(line)
    }

    fn send(&self, message: &Message) -> io::Result<()> {
        self.write(&message.line())
    }

    fn close(&self) {
        // One that is closed already needs nothing.
        let _ = self.stream.lock().unwrap_or_else(PoisonError::into_inner).shutdown(Shutdown::Both);
    }
}

/// Serves a client until it leaves.
fn serve(stream: Stream, shared: &Arc<Shared>) -> io::Result<()> {
    let writer = Writer { stream: Arc::new(Mutex::new(stream.try_clone()?)), has_left: Arc::default() };
    let served = answer(BufReader::new(stream), &writer, shared);
    writer.has_left.store(true, Ordering::Relaxed);
    served
}

fn answer(mut reader: BufReader<Stream>, writer: &Writer, shared: &Arc<Shared>) -> io::Result<()> {
    let refuse = |reason: &str| writer.send(&Message::Error(reason.to_owned()));
    let Some(hello) = line(&mut reader)? else { return Ok(()) };
    let Ok(hello) = serde_json::from_slice::<Hello>(&hello) else {
        return refuse("the first message has to be the version, the run and its token");
    };
    let folder = shared.runs().get(&hello.run).cloned();
    let Some(folder) = folder.filter(|_| is_same_token(&hello.token, &shared.token)) else {
        return refuse("the token is not that of the run");
    };
    writer.send(&Message::Hello { protocol: PROTOCOL_VERSION, process: std::process::id() })?;
    while let Some(line) = line(&mut reader)? {
        let request: Request = match serde_json::from_slice(&line) {
            Ok(request) => request,
            Err(error) => return refuse(&format!("the message is not a request: {error}")),
        };
        let done = Message::Answer { id: request.id, answer: Answer::Done };
        match request.ask {
            Ask::Attach => {
                let before = read_last(&journal_of(&folder)).ok().flatten().map_or(0, |event| event.seq);
                let answer = Answer::Attached { journal: 0, before };
                writer.send(&Message::Answer { id: request.id, answer })?;
                let (writer, folder) = (writer.clone(), folder.clone());
                let (run, shared) = (hello.run.clone(), Arc::clone(shared));
                thread::spawn(move || follow_events(&writer, &folder, &run, shared.remote.as_ref()));
            }
            Ask::Attend | Ask::FollowQuestions => {
                writer.send(&done)?;
                let (writer, run, shared) = (writer.clone(), hello.run.clone(), Arc::clone(shared));
                thread::spawn(move || follow_questions(&writer, &run, shared.remote.as_ref()));
            }
            ask => {
                let stops = matches!(ask, Ask::Stop);
                let text = String::from_utf8_lossy(&line);
                match shared.remote.ask(&hello.run, text.trim_end()) {
                    Ok(answer) => writer.write(format!("{}\n", answer.trim_end()).as_bytes())?,
                    Err(reason) => {
                        let answer = Answer::Refused(reason);
                        writer.send(&Message::Answer { id: request.id, answer })?;
                    }
                }
                if stops {
                    let (writer, folder) = (writer.clone(), folder.clone());
                    thread::spawn(move || close_at_end(&writer, &folder));
                }
            }
        }
    }
    Ok(())
}

fn line(reader: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    reader.take(MAX_MESSAGE as u64 + 1).read_until(b'\n', &mut line)?;
    Ok(line.ends_with(b"\n").then_some(line))
}

/// Sends the events of a journal until the run has ended or the client has left.
fn follow_events(writer: &Writer, folder: &Path, run: &str, remote: &dyn Remote) {
    let path = journal_of(folder);
    let mut reader = None;
    let mut last = 0;
    let mut is_over = false;
    for look in 1_u64.. {
        match &mut reader {
            // There may be no line yet.
            None => reader = JournalReader::open(&path).ok(),
            Some(open) => match open.reopen() {
                Ok(true) => {}
                // Its last line was taken off, or the server cannot be reached for a moment.
                Ok(false) | Err(_) => reader = JournalReader::open(&path).ok(),
            },
        }
        let mut ends_early = false;
        for event in reader.iter_mut().flatten() {
            let Ok(event) = event else { break };
            if event.seq <= last {
                continue;
            }
            let is_end = matches!(event.kind, EventKind::RunEnded(_));
            // The end of an earlier execution is taken off by the leader that continues the run.
            if is_end && !remote.is_over(run) {
                ends_early = true;
                break;
            }
            last = event.seq;
            if writer.send(&Message::Event(Box::new(event))).is_err() {
                return;
            }
            if is_end {
                return writer.close();
            }
        }
        if writer.has_left() {
            return;
        }
        if ends_early {
            // Its last line is read again.
            reader = None;
        } else if is_over {
            return writer.close();
        }
        // What was recorded last is read once more.
        is_over = look.is_multiple_of(LOOKS_FOR_END) && remote.is_over(run);
        thread::sleep(LOOK);
    }
}

/// Sends the open questions of a run until the client has left.
fn follow_questions(writer: &Writer, run: &str, remote: &dyn Remote) {
    let request = serde_json::to_string(&Request { id: 0, ask: Ask::Questions, by: None });
    let request = request.unwrap_or_default();
    let mut sent = None;
    loop {
        let answer = remote.ask(run, &request).ok();
        let answer = answer.and_then(|answer| serde_json::from_str::<Message>(&answer).ok());
        if let Some(Message::Answer { answer: Answer::Questions(open), .. }) = answer
            && sent.as_ref() != Some(&open)
        {
            if writer.send(&Message::Questions(open.clone())).is_err() {
                return;
            }
            sent = Some(open);
        }
        if writer.has_left() {
            return;
        }
        thread::sleep(LOOK_FOR_QUESTIONS);
    }
}

/// Closes the connection when the run has ended.
fn close_at_end(writer: &Writer, folder: &Path) {
    let path = journal_of(folder);
    let has_ended =
        || matches!(read_last(&path), Ok(Some(event)) if matches!(event.kind, EventKind::RunEnded(_)));
    while !has_ended() {
        if writer.has_left() {
            return;
        }
        thread::sleep(LOOK);
    }
    writer.close();
}
