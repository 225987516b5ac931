//! A program that exchanges lines of JSON with `prose` while it works.

use std::collections::VecDeque;
use std::io;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::sync::oneshot;
use tokio::task::AbortHandle;
use tokio::time::Instant;

use crate::process::{Change, Input, LINGER, Output, Process, at, read};
use crate::said::{keep_end, last_lines};

pub use crate::process::{Endings, Program};

/// The maximum length of a received line: 64 MiB.
pub const MAX_LINE_BYTES: usize = 64 << 20;

/// A started program with its standard input and output. When this is dropped, the program is stopped with its descendants, which the [`Endings`]
/// count. With a supervisor, it is also stopped when this process dies.
pub struct Connection {
    process: Process,
    output: Output,
    sender: Option<Sender>,
    writer: AbortHandle,
    /// Lets the writer acknowledge the exit of the program.
    has_exited: Option<oneshot::Sender<()>>,
    lines: Lines,
    /// The end of what it wrote for people.
    said: Vec<u8>,
    last_heard: Instant,
    status: Option<ExitStatus>,
    end: Option<End>,
    from_stdout: Box<[u8]>,
    from_stderr: Box<[u8]>,
}

/// Sends values to a program. Clones send to the same program and do not keep it running.
#[derive(Clone)]
pub struct Sender(UnboundedSender<Vec<u8>>);

/// The reason why nothing is received from a program any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// It has exited.
    Exited(ExitStatus),
    /// It wrote a line, or a whole output, that is longer than [`MAX_LINE_BYTES`].
    LineTooLong,
    /// The connection was lost, with the error.
    Lost(Arc<str>),
}

impl Sender {
    /// Sends a value in one line. It is not an error if the program does not read it any more: the end is received.
    pub fn send(&self, value: &impl Serialize) {
        // Values of protocols have only text as keys, which is what could fail.
        let Ok(mut line) = serde_json::to_vec(value) else { return };
        line.push(b'\n');
        let _ = self.0.send(line);
    }
}

impl Connection {
    /// Starts a program, through a supervisor if there is one.
    pub async fn start(
        program: Program,
        supervisor: Option<&Path>,
        endings: &Arc<Endings>,
    ) -> io::Result<Self> {
        let (mut process, input, output) = Process::start(program, supervisor, endings)?;
        if process.is_supervised() {
            match process.change().await {
                Change::NotStarted(error) | Change::Lost(error) => return Err(error),
                Change::Started | Change::Exited(_) => {}
            }
        }
        let (sender, lines) = mpsc::unbounded_channel();
        let (has_exited, heard_of_the_exit) = oneshot::channel();
        let writer = tokio::spawn(write(input, lines, heard_of_the_exit)).abort_handle();
        Ok(Self {
            process,
            output,
            sender: Some(Sender(sender)),
            writer,
            has_exited: Some(has_exited),
            lines: Lines::default(),
            said: Vec::new(),
            last_heard: Instant::now(),
            status: None,
            end: None,
            from_stdout: vec![0; 64 << 10].into(),
            from_stderr: vec![0; 8 << 10].into(),
        })
    }

    /// Sends a value in one line; does nothing after [`Self::close`].
    pub fn send(&self, value: &impl Serialize) {
        if let Some(sender) = &self.sender {
            sender.send(value);
        }
    }

    /// Sends a text as it is, such as a prompt; does nothing after [`Self::close`].
    pub fn send_text(&self, text: &str) {
        if let Some(Sender(lines)) = &self.sender {
            // It is not an error if the program does not read it any more: the end is received.
            let _ = lines.send(text.as_bytes().to_vec());
        }
    }

    /// Sends values from elsewhere, such as other tasks; `None` after [`Self::close`].
    pub fn sender(&self) -> Option<Sender> {
        self.sender.clone()
    }

    /// Closes the standard input after everything that was sent, by which most programs exit. Senders elsewhere keep it open.
    pub fn close(&mut self) {
        self.sender = None;
    }

    /// Receives the next value. Lines that are not JSON are kept for messages. Dropping the future loses nothing.
    pub async fn receive(&mut self) -> Result<Value, End> {
        loop {
            let line = self.receive_line().await?;
            match serde_json::from_slice(&line) {
                Ok(value) => return Ok(value),
                Err(_) => self.keep(&line),
            }
        }
    }

    /// Receives the next line of a program that writes for people, and keeps it for messages. Dropping the future loses nothing.
    pub async fn receive_text(&mut self) -> Result<String, End> {
        let line = self.receive_line().await?;
        self.keep(&line);
        Ok(String::from_utf8_lossy(&line).into_owned())
    }

    async fn receive_line(&mut self) -> Result<Vec<u8>, End> {
        loop {
            if let Some(line) = self.lines.complete.pop_front() {
                return Ok(line);
            }
            if let Some(end) = &self.end {
                return Err(end.clone());
            }
            self.read().await;
        }
    }

    /// Receives the whole standard output of a program that has sent nothing before, with its exit status.
    pub async fn receive_all(&mut self) -> Result<(ExitStatus, Vec<u8>), End> {
        self.lines.is_whole = true;
        loop {
            match &self.end {
                Some(End::Exited(status)) => {
                    return Ok((*status, self.lines.complete.pop_front().unwrap_or_default()));
                }
                Some(end) => return Err(end.clone()),
                None => self.read().await,
            }
        }
    }

    fn keep(&mut self, line: &[u8]) {
        keep_end(&mut self.said, line);
        keep_end(&mut self.said, b"\n");
    }

    /// Waits until the program has exited, and ignores what it sends.
    pub async fn exited(&mut self) -> End {
        loop {
            if let Err(end) = self.receive().await {
                return end;
            }
        }
    }

    /// The end of what the program wrote for people, for messages: its standard error and lines that are not JSON.
    pub fn said(&self) -> String {
        last_lines(&String::from_utf8_lossy(&self.said))
    }

    /// How the program ended, with what it wrote for people.
    pub fn ending(&self, end: &End) -> String {
        let how = match end {
            End::Exited(status) => status.to_string(),
            End::LineTooLong => "it wrote a line that is too long".to_owned(),
            End::Lost(error) => error.to_string(),
        };
        let said = self.said();
        if said.is_empty() { how } else { format!("{how}: {said}") }
    }

    /// Reads what comes next. Dropping the future loses nothing.
    async fn read(&mut self) {
        let Output { stdout, stderr } = &mut self.output;
        if self.status.is_some() && stdout.is_none() && stderr.is_none() {
            self.end_now();
            return;
        }
        let lingering = self.status.map(|_| self.last_heard + LINGER);
        tokio::select! {
            biased;
            read = read(stdout, &mut self.from_stdout), if stdout.is_some() => {
                self.last_heard = Instant::now();
                match read {
                    Ok([]) => {
                        *stdout = None;
                        self.lines.end();
                    }
                    Ok(bytes) => {
                        if self.lines.add(bytes).is_err() {
                            self.end = Some(End::LineTooLong);
                        }
                    }
                    Err(error) => self.end = Some(lost(&error)),
                }
            }
            read = read(stderr, &mut self.from_stderr), if stderr.is_some() => {
                self.last_heard = Instant::now();
                match read {
                    Ok([]) | Err(_) => *stderr = None,
                    Ok(bytes) => keep_end(&mut self.said, bytes),
                }
            }
            change = self.process.change(), if self.status.is_none() => match change {
                Change::Started => {}
                Change::Exited(status) => {
                    self.last_heard = Instant::now();
                    self.status = Some(status);
                    // Now the supervisor may exit and close its ends of the pipes.
                    let _ = self.has_exited.take().map(|has_exited| has_exited.send(()));
                }
                Change::NotStarted(error) | Change::Lost(error) => self.end = Some(lost(&error)),
            },
            () = at(lingering) => self.end_now(),
        }
    }

    fn end_now(&mut self) {
        self.lines.end();
        self.process.leave();
        self.end = self.status.map(End::Exited);
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // After an exit, the writer ends by itself. Before, it may wait for the program forever.
        if self.status.is_none() {
            let (sender, has_exited) = (self.sender.take(), self.has_exited.take());
            let input = OpenInput { _sender: sender, _has_exited: has_exited, writer: self.writer.clone() };
            self.process.keep_open(Box::new(input));
        }
    }
}

/// The input of a program that is being stopped. Dropping it closes the input.
struct OpenInput {
    /// Without these, the writer would close the input.
    _sender: Option<Sender>,
    _has_exited: Option<oneshot::Sender<()>>,
    writer: AbortHandle,
}

impl Drop for OpenInput {
    fn drop(&mut self) {
        self.writer.abort();
    }
}

fn lost(error: &io::Error) -> End {
    End::Lost(error.to_string().into())
}

/// Writes lines until all senders are gone or the program has exited.
async fn write(
    mut input: Input,
    mut lines: UnboundedReceiver<Vec<u8>>,
    mut heard_of_the_exit: oneshot::Receiver<()>,
) {
    let writing = async {
        while let Some(line) = lines.recv().await {
            input.write(&line).await;
        }
    };
    let has_exited = tokio::select! {
        () = writing => None,
        exited = &mut heard_of_the_exit => Some(exited.is_ok()),
    };
    let closed = input.close().await;
    let has_exited = match has_exited {
        Some(has_exited) => has_exited,
        None => heard_of_the_exit.await.is_ok(),
    };
    if has_exited {
        closed.acknowledge_exit().await;
    }
}

/// The received lines.
#[derive(Default)]
struct Lines {
    complete: VecDeque<Vec<u8>>,
    /// The beginning of the next one.
    partial: Vec<u8>,
    /// Whether everything is one line.
    is_whole: bool,
}

struct LineTooLong;

impl Lines {
    fn add(&mut self, mut bytes: &[u8]) -> Result<(), LineTooLong> {
        while !self.is_whole
            && let Some(end) = bytes.iter().position(|byte| *byte == b'\n')
        {
            self.partial.extend_from_slice(&bytes[..end]);
            bytes = &bytes[end + 1..];
            self.end();
        }
        self.partial.extend_from_slice(bytes);
        match self.partial.len() > MAX_LINE_BYTES {
            true => Err(LineTooLong),
            false => Ok(()),
        }
    }

    /// Ends the line.
    fn end(&mut self) {
        if !self.partial.trim_ascii().is_empty() {
            self.complete.push_back(std::mem::take(&mut self.partial));
        }
        self.partial.clear();
    }
}
