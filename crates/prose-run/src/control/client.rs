//! The side of the channel in other processes.

use std::fmt;
use std::io::{self, BufRead, BufReader, Write};
use std::net::Shutdown;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use prose_state::journal::journal_of;
use prose_state::lock::RunLock;
use prose_state::reader::JournalReader;
use prose_vm::command::{Command, CommandError, RunStatusReport};
use prose_vm::event::{Event, EventKind};
use prose_vm::questions::{Attribution, OpenQuestion, QuestionId};
use smol_str::SmolStr;

use super::address::Address;
use super::protocol::{Answer, Ask, Hello, Message, PROTOCOL_VERSION, Request};
use super::transport::{self, Stream};

/// How long a process that has just started to execute a run may take until it listens.
pub const START_TIME: Duration = Duration::from_secs(5);

/// How often such a process is tried.
const START_INTERVAL: Duration = Duration::from_millis(20);

/// How long a run may take to answer.
const ANSWER_TIME: Duration = Duration::from_secs(10);

/// A connection to a run that a process executes.
pub struct Client {
    run: SmolStr,
    folder: PathBuf,
    process: u32,
    reader: BufReader<Stream>,
    /// The number of the last request.
    requests: u64,
}

/// Why a run cannot be reached, or does not do what it is asked.
#[derive(Debug)]
pub enum ControlError {
    /// No process executes the run.
    NotRunning,
    /// A process executes the run and does not listen, with the reason if it is known.
    NoChannel(Option<String>),
    /// The command has no effect.
    Rejected(CommandError),
    /// The run refuses what it was sent, and why.
    Refused(String),
    /// The run has ended meanwhile, or its process.
    Closed,
    /// The system reports an error.
    Io(io::Error),
}

impl fmt::Display for ControlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ControlError::NotRunning => f.write_str("no process executes the run"),
            ControlError::NoChannel(Some(problem)) => {
                write!(f, "the process of the run cannot be reached, since it could not open a socket: {problem}")
            }
            ControlError::NoChannel(None) => f.write_str(
                "the process of the run cannot be reached: it has just started, or it is an earlier version of prose",
            ),
            ControlError::Rejected(error) => error.fmt(f),
            ControlError::Refused(reason) => f.write_str(reason),
            ControlError::Closed => f.write_str("the run has ended, or its process"),
            ControlError::Io(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                write!(f, "the run does not answer within {} seconds", ANSWER_TIME.as_secs())
            }
            ControlError::Io(error) => write!(f, "cannot reach the run: {error}"),
        }
    }
}

impl std::error::Error for ControlError {}

impl From<io::Error> for ControlError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset | io::ErrorKind::UnexpectedEof => {
                Self::Closed
            }
            _ => Self::Io(error),
        }
    }
}

impl Client {
    /// Connects to the run in a folder. An address that remains of a process that has died is removed.
    pub fn connect(folder: &Path) -> Result<Self, ControlError> {
        let is_executed = || RunLock::holder(folder).is_some();
        let absent = || if is_executed() { ControlError::NoChannel(None) } else { ControlError::NotRunning };
        let Some(address) = Address::read(folder)? else { return Err(absent()) };
        if let Some(problem) = &address.problem {
            return Err(if is_executed() {
                ControlError::NoChannel(Some(problem.clone()))
            } else {
                ControlError::NotRunning
            });
        }
        let stream = match transport::connect(&address.address) {
            Ok(stream) => stream,
            Err(error)
                if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused) =>
            {
                if !is_executed() {
                    address.remove(folder);
                }
                return Err(absent());
            }
            Err(error) => return Err(ControlError::Io(error)),
        };
        stream.set_read_timeout(Some(ANSWER_TIME))?;
        stream.set_write_timeout(Some(ANSWER_TIME))?;
        let Address { run, token, .. } = address;
        let hello = Hello { protocol: PROTOCOL_VERSION, run: run.clone(), token };
        let reader = BufReader::new(stream);
        let mut client = Self { run, folder: folder.to_owned(), process: 0, reader, requests: 0 };
        client.write(&hello)?;
        match client.read()? {
            Message::Hello { process, .. } => client.process = process,
            Message::Error(reason) => return Err(ControlError::Refused(reason)),
            _ => return Err(unexpected()),
        }
        Ok(client)
    }

    /// The same for a process that may have just started and does not listen yet.
    pub fn connect_within(folder: &Path, at_most: Duration) -> Result<Self, ControlError> {
        let deadline = Instant::now() + at_most;
        loop {
            match Self::connect(folder) {
                Err(ControlError::NoChannel(None)) if Instant::now() < deadline => {
                    std::thread::sleep(START_INTERVAL);
                }
                connected => return connected,
            }
        }
    }

    /// The id of the run.
    pub fn run(&self) -> &str {
        &self.run
    }

    /// The process that executes it.
    pub fn process(&self) -> u32 {
        self.process
    }

    /// Gives the run a command, and returns when it is recorded and has taken effect.
    pub fn command(&mut self, command: Command, by: &Attribution) -> Result<(), ControlError> {
        self.done(Ask::of(command), by)
    }

    /// Answers a question; the only one that waits if none is named.
    pub fn answer(
        &mut self,
        question: Option<QuestionId>,
        text: &str,
        by: &Attribution,
    ) -> Result<(), ControlError> {
        self.done(Ask::Answer { question, text: text.to_owned() }, by)
    }

    /// The questions that wait for a person, the oldest first.
    pub fn questions(&mut self) -> Result<Vec<OpenQuestion>, ControlError> {
        match self.request(Ask::Questions, None)? {
            Answer::Questions(questions) => Ok(questions),
            _ => Err(unexpected()),
        }
    }

    /// What the run does at the moment.
    pub fn status(&mut self) -> Result<RunStatusReport, ControlError> {
        match self.request(Ask::Status, None)? {
            Answer::Status(status) => Ok(status),
            _ => Err(unexpected()),
        }
    }

    /// Follows the events of the run after the one of that number.
    pub fn attach(mut self, after: u64) -> Result<Watcher, ControlError> {
        let Answer::Attached { journal, before } = self.request(Ask::Attach, None)? else {
            return Err(unexpected());
        };
        self.reader.get_ref().set_read_timeout(None)?;
        let mut watcher =
            Watcher { client: self, last: after, before, recorded: None, next: None, state: State::Live };
        if journal > after {
            watcher.read_journal(journal);
        }
        Ok(watcher)
    }

    /// Stays to answer the questions of the run: until the returned value is dropped, a run that only waits stays a process.
    pub fn attend(self) -> Result<QuestionListener, ControlError> {
        self.listen(Ask::Attend)
    }

    /// Follows the questions of the run, which may stop when it only waits.
    pub fn follow_questions(self) -> Result<QuestionListener, ControlError> {
        self.listen(Ask::FollowQuestions)
    }

    fn listen(mut self, ask: Ask) -> Result<QuestionListener, ControlError> {
        let Answer::Done = self.request(ask, None)? else { return Err(unexpected()) };
        self.reader.get_ref().set_read_timeout(None)?;
        Ok(QuestionListener(self))
    }

    /// Waits until the run has ended, or its process, at most for a time. Returns whether it has.
    pub fn wait_for_end(&mut self, at_most: Duration) -> bool {
        let waiting = self.reader.get_ref().set_read_timeout(Some(at_most));
        waiting.is_ok() && matches!(self.read(), Err(ControlError::Closed))
    }

    /// Sends the request of another client, and returns its answer, both lines of JSON.
    pub(super) fn pass_on(&mut self, request: &str) -> Result<String, ControlError> {
        let request: Request = serde_json::from_str(request)
            .map_err(|error| ControlError::Refused(format!("the message is not a request: {error}")))?;
        if matches!(request.ask, Ask::Attach | Ask::Attend | Ask::FollowQuestions) {
            return Err(ControlError::Refused("only a connection can be followed".to_owned()));
        }
        let id = request.id;
        self.write(&request)?;
        loop {
            let message = self.read()?;
            if matches!(&message, Message::Answer { id: of, .. } if *of == id)
                || matches!(message, Message::Error(_))
            {
                return Ok(String::from_utf8_lossy(&message.line()).into_owned());
            }
        }
    }

    fn closer(&self) -> io::Result<Closer> {
        self.reader.get_ref().try_clone().map(Closer)
    }

    fn done(&mut self, ask: Ask, by: &Attribution) -> Result<(), ControlError> {
        match self.request(ask, Some(by.clone()))? {
            Answer::Done => Ok(()),
            _ => Err(unexpected()),
        }
    }

    fn request(&mut self, ask: Ask, by: Option<Attribution>) -> Result<Answer, ControlError> {
        self.requests += 1;
        let id = self.requests;
        self.write(&Request { id, ask, by })?;
        loop {
            match self.read()? {
                Message::Answer { id: of, answer } if of == id => {
                    return match answer {
                        Answer::Rejected(error) => Err(ControlError::Rejected(error)),
                        Answer::Refused(reason) => Err(ControlError::Refused(reason)),
                        answer => Ok(answer),
                    };
                }
                Message::Error(reason) => return Err(ControlError::Refused(reason)),
                _ => {}
            }
        }
    }

    fn write(&mut self, message: &impl serde::Serialize) -> Result<(), ControlError> {
        let mut line = serde_json::to_vec(message).map_err(io::Error::from)?;
        line.push(b'\n');
        Ok(self.reader.get_mut().write_all(&line)?)
    }

    fn read(&mut self) -> Result<Message, ControlError> {
        let mut line = Vec::new();
        self.reader.read_until(b'\n', &mut line)?;
        if !line.ends_with(b"\n") {
            return Err(ControlError::Closed);
        }
        serde_json::from_slice(&line).map_err(|error| ControlError::Io(error.into()))
    }
}

fn unexpected() -> ControlError {
    ControlError::Io(io::Error::new(io::ErrorKind::InvalidData, "its answer is not understood"))
}

/// An event of a run that is followed.
#[derive(Debug, Clone, PartialEq)]
pub struct Watched {
    /// The event.
    pub event: Event,
    /// Whether it happened after the watcher had attached.
    pub is_live: bool,
}

/// Follows the events of a run. What it does not receive through the channel it reads from the journal.
pub struct Watcher {
    client: Client,
    /// The number of the last event.
    last: u64,
    /// The number of the last event before it attached.
    before: u64,
    /// The recorded events to read first, up to a number.
    recorded: Option<(JournalReader, u64)>,
    /// The event that was received and comes after the recorded ones.
    next: Option<Event>,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Live,
    /// The connection is closed, and the journal has the rest.
    Closed,
    /// The last event was returned.
    Over {
        has_ended: bool,
    },
}

impl Watcher {
    /// Waits for the next event; `None` after the last one.
    pub fn next_event(&mut self) -> Result<Option<Watched>, ControlError> {
        loop {
            if let Some(event) = self.recorded_event() {
                return Ok(Some(self.take(event)));
            }
            if let Some(event) = self.next.take() {
                if self.is_new(&event) {
                    return Ok(Some(self.take(event)));
                }
                continue;
            }
            match self.state {
                State::Live => self.receive()?,
                State::Closed => {
                    self.state = State::Over { has_ended: false };
                    self.read_journal(u64::MAX);
                }
                State::Over { .. } => return Ok(None),
            }
        }
    }

    /// Whether events that happened before it attached are still to come.
    pub fn is_behind(&self) -> bool {
        self.last < self.before
    }

    /// Whether the last event was the end of the run. If not, its process has died, and the run can be resumed.
    pub fn has_ended(&self) -> bool {
        self.state == State::Over { has_ended: true }
    }

    /// Waits until the process of a run that has ended has released its files, at most for a time.
    pub fn wait_for_release(&mut self, at_most: Duration) {
        let waiting = self.client.reader.get_ref().set_read_timeout(Some(at_most));
        // Messages that were sent after the end are of no use.
        while waiting.is_ok() && self.client.read().is_ok() {}
    }

    /// Ends [`Watcher::next_event`] from another thread.
    pub fn closer(&self) -> io::Result<Closer> {
        self.client.closer()
    }

    fn receive(&mut self) -> Result<(), ControlError> {
        match self.client.read() {
            Ok(Message::Event(event)) => self.next = Some(*event),
            Ok(Message::Lagged { .. }) => {
                // The event after the gap says how far the journal is to be read.
                self.receive()?;
                let until = match &self.next {
                    Some(event) => event.seq - u64::from(event.kind.is_recorded()),
                    None => u64::MAX,
                };
                self.read_journal(until);
            }
            Ok(Message::Error(reason)) => return Err(ControlError::Refused(reason)),
            Ok(Message::Hello { .. } | Message::Answer { .. } | Message::Questions(_)) => {}
            Err(ControlError::Closed) => self.state = State::Closed,
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn read_journal(&mut self, until: u64) {
        // A journal that cannot be read leaves a gap; the events after it are still shown.
        let journal = JournalReader::open(&journal_of(&self.client.folder));
        self.recorded = journal.ok().map(|journal| (journal, until));
    }

    fn recorded_event(&mut self) -> Option<Event> {
        let (journal, until) = self.recorded.as_mut()?;
        for event in journal {
            match event {
                Ok(event) if event.seq <= self.last => {}
                Ok(event) if event.seq <= *until => return Some(event),
                // The last line may just be written.
                Ok(_) | Err(_) => break,
            }
        }
        self.recorded = None;
        None
    }

    /// Whether an event was not returned yet. One that is not recorded has the number of the event before it.
    fn is_new(&self, event: &Event) -> bool {
        match event.kind.is_recorded() {
            true => event.seq > self.last,
            false => event.seq >= self.last,
        }
    }

    fn take(&mut self, event: Event) -> Watched {
        self.last = event.seq;
        if matches!(event.kind, EventKind::RunEnded(_)) {
            self.state = State::Over { has_ended: true };
        }
        let is_live = event.seq > self.before;
        Watched { event, is_live }
    }
}

/// Receives the open questions of a run. Another [`Client`] gives the answers.
pub struct QuestionListener(Client);

impl QuestionListener {
    /// Waits for the next list of open questions; `None` once the run has ended, or its process.
    pub fn questions(&mut self) -> Result<Option<Vec<OpenQuestion>>, ControlError> {
        loop {
            match self.0.read() {
                Ok(Message::Questions(questions)) => return Ok(Some(questions)),
                Ok(Message::Error(reason)) => return Err(ControlError::Refused(reason)),
                Ok(_) => {}
                Err(ControlError::Closed) => return Ok(None),
                Err(error) => return Err(error),
            }
        }
    }

    /// Ends [`QuestionListener::questions`] from another thread, and the attendance.
    pub fn closer(&self) -> io::Result<Closer> {
        self.0.closer()
    }
}

/// Closes the connection of a [`Watcher`] or a [`QuestionListener`].
pub struct Closer(Stream);

impl Closer {
    /// Closes it. A watcher returns the recorded events that are left and ends.
    pub fn close(&self) {
        // A connection that is closed already needs nothing.
        let _ = self.0.shutdown(Shutdown::Both);
    }
}
