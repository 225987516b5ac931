//! Running the program of an agent: its input and output, its limits, and its end.

use std::io;
#[cfg(unix)]
use std::os::fd::OwnedFd;
#[cfg(unix)]
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::{oneshot, watch};
use tokio::time::{Instant, sleep_until};

#[cfg(unix)]
use crate::supervisor::{self, GRACE};
use crate::supervisor::{Group, Message};

/// What a program is started with.
pub(crate) struct Invocation {
    pub(crate) program: String,
    pub(crate) arguments: Vec<String>,
    pub(crate) folder: PathBuf,
    /// All of its environment.
    pub(crate) variables: Vec<(String, String)>,
    /// What it reads; it may leave it unread.
    pub(crate) input: Vec<u8>,
    pub(crate) limits: Limits,
}

/// How long a program may take and how much it may write.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) time: Option<Duration>,
    /// How long it may write nothing.
    pub(crate) idle: Option<Duration>,
    /// Bytes on standard output.
    pub(crate) output: usize,
}

/// What came of a program that ended by itself.
pub(crate) struct Finished {
    pub(crate) status: ExitStatus,
    pub(crate) output: Vec<u8>,
    /// The end of what it wrote to standard error.
    pub(crate) errors: Vec<u8>,
}

/// Why a program did not come to its end.
pub(crate) enum Stopped {
    /// It could not be started.
    NotStarted(io::Error),
    /// It could not be talked to any more.
    Lost(io::Error),
    /// It took too long.
    TimedOut(Duration),
    /// It wrote nothing for too long.
    Idle(Duration),
    /// It wrote too much.
    TooLong(usize),
}

/// How long output may come after a program has ended. Only what it leaves running still writes then, and that may run for ever.
const LINGER: Duration = Duration::from_millis(300);

/// More of standard error tells nobody more.
const ERRORS_KEPT: usize = 16 << 10;

/// Runs a program to its end. If the future is dropped, or a limit is reached, the program and all it has started are ended, which `endings` counts.
pub(crate) async fn run(
    invocation: Invocation,
    supervisor: Option<&Path>,
    endings: &Arc<Endings>,
) -> Result<Finished, Stopped> {
    let limits = invocation.limits;
    let Spawned { mut child, mut messages, prompt } =
        spawn(invocation, supervisor).map_err(Stopped::NotStarted)?;
    let mut stdout = child.stdout.take();
    let mut stderr = child.stderr.take();
    let mut running = Running { child: None, group: None, is_supervised: messages.is_some(), endings };
    if messages.is_none() {
        running.group = child.id().and_then(|id| i32::try_from(id).ok()).map(Group::new);
    }
    let child = running.child.insert(child);

    let (has_ended, heard_of_the_end) = oneshot::channel();
    let mut has_ended = Some(has_ended);
    let write = prompt.write(heard_of_the_end);
    tokio::pin!(write);
    let mut is_writing = true;
    let mut said = Vec::new();
    let mut status = None;
    let mut output = Vec::new();
    let mut errors = Vec::new();
    let start = Instant::now();
    let mut last_heard = start;
    let mut from_stdout = vec![0; 64 << 10];
    let mut from_stderr = vec![0; 8 << 10];
    while status.is_none() || stdout.is_some() || stderr.is_some() {
        let lingering = status.map(|_| last_heard + LINGER);
        tokio::select! {
            // What can be read is read before a limit counts, however long this task had to wait for its turn.
            biased;
            () = &mut write, if is_writing => is_writing = false,
            read = read(&mut stdout, &mut from_stdout), if stdout.is_some() => {
                last_heard = Instant::now();
                match read.map_err(Stopped::Lost)? {
                    [] => stdout = None,
                    bytes if output.len() + bytes.len() > limits.output => return Err(Stopped::TooLong(limits.output)),
                    bytes => output.extend_from_slice(bytes),
                }
            }
            read = read(&mut stderr, &mut from_stderr), if stderr.is_some() => {
                last_heard = Instant::now();
                match read.map_err(Stopped::Lost)? {
                    [] => stderr = None,
                    bytes => keep_end(&mut errors, bytes),
                }
            }
            message = next_message(&mut messages, &mut said), if status.is_none() && messages.is_some() => {
                match message {
                    Some(Message::Started(group)) => running.group = Some(Group::new(group)),
                    Some(Message::Failed(error)) => {
                        // There is nothing to end.
                        running.child = None;
                        return Err(Stopped::NotStarted(io::Error::from_raw_os_error(error)));
                    }
                    Some(Message::Ended(ended)) => {
                        last_heard = Instant::now();
                        status = Some(supervised_status(ended));
                        // Now the supervisor may go, and with it its ends of the pipes.
                        let _ = has_ended.take().map(|has_ended| has_ended.send(()));
                    }
                    None => {
                        let lost = "the process that supervises it has ended";
                        return Err(Stopped::Lost(io::Error::other(lost)));
                    }
                }
            }
            ended = child.wait(), if status.is_none() && messages.is_none() => {
                last_heard = Instant::now();
                status = Some(ended.map_err(Stopped::Lost)?);
            }
            () = at(limits.time.map(|time| start + time)), if status.is_none() => {
                return Err(Stopped::TimedOut(limits.time.unwrap_or_default()));
            }
            () = at(limits.idle.map(|idle| last_heard + idle)), if status.is_none() => {
                return Err(Stopped::Idle(limits.idle.unwrap_or_default()));
            }
            () = at(lingering) => break,
        }
    }
    // What it leaves running, such as a server that it was told to start, goes on.
    running.child = None;
    let status = status.expect("the loop ends only when there is one");
    Ok(Finished { status, output, errors })
}

/// A program that has just been started, or its supervisor.
struct Spawned {
    child: Child,
    /// What the supervisor says, if there is one.
    messages: Option<Messages>,
    prompt: Prompt,
}

/// The input of a program, on its way.
struct Prompt {
    text: Vec<u8>,
    to: PromptTo,
}

enum PromptTo {
    Program(Option<ChildStdin>),
    /// As long as this end is open, the program runs.
    #[cfg(unix)]
    Supervisor(tokio::net::unix::OwnedWriteHalf),
}

impl Prompt {
    #[cfg_attr(not(unix), allow(unused_variables, reason = "there are no supervisors there"))]
    async fn write(self, has_ended: oneshot::Receiver<()>) {
        match self.to {
            PromptTo::Program(None) => {}
            // A program that reads nothing of it has closed the pipe, which is no mistake.
            PromptTo::Program(Some(mut stdin)) => _ = stdin.write_all(&self.text).await,
            #[cfg(unix)]
            PromptTo::Supervisor(mut socket) => {
                // A supervisor that is gone is found out where its messages are read.
                let _ = socket.write_all(&supervisor::prompt_head(&self.text)).await;
                let _ = socket.write_all(&self.text).await;
                if has_ended.await.is_ok() {
                    let _ = socket.write_all(&[0]).await;
                }
            }
        }
    }
}

/// Starts a program, through a supervisor if there is one.
fn spawn(invocation: Invocation, supervisor: Option<&Path>) -> io::Result<Spawned> {
    let Invocation { program, arguments, folder, variables, input, .. } = invocation;
    let spare = spare_files()?;
    let mut command = Command::new(supervisor.unwrap_or(Path::new(&program)));
    #[cfg(unix)]
    let mut ours = None;
    match supervisor {
        #[cfg(unix)]
        Some(_) => {
            let (our_end, its_end) = UnixStream::pair()?;
            our_end.set_nonblocking(true)?;
            // Who kills processes called `prose` should not find those that end its agents.
            command.arg0(supervisor::COMMAND).arg(supervisor::COMMAND).arg(program);
            command.stdin(OwnedFd::from(its_end));
            ours = Some(tokio::net::UnixStream::from_std(our_end)?);
        }
        _ => _ = command.stdin(Stdio::piped()),
    }
    command.args(arguments).current_dir(folder).env_clear().envs(variables);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    // A group of its own, so that all it starts can be ended together, and so that ctrl-C at the terminal is for the run alone.
    #[cfg(unix)]
    command.process_group(0);
    // Elsewhere the program is ended without what it has started.
    #[cfg(not(unix))]
    command.kill_on_drop(true);
    let mut child = command.spawn()?;
    drop(spare);
    #[cfg(unix)]
    if let Some(ours) = ours {
        let (messages, socket) = ours.into_split();
        let prompt = Prompt { text: input, to: PromptTo::Supervisor(socket) };
        return Ok(Spawned { child, messages: Some(messages), prompt });
    }
    let prompt = Prompt { text: input, to: PromptTo::Program(child.stdin.take()) };
    Ok(Spawned { child, messages: None, prompt })
}

/// Whether a program could not be started because the system has too few file descriptors, processes or memory for it, which may change.
pub(crate) fn is_out_of_resources(error: &io::Error) -> bool {
    #[cfg(unix)]
    {
        use rustix::io::Errno;

        let number = error.raw_os_error().map(Errno::from_raw_os_error);
        matches!(number, Some(Errno::MFILE | Errno::NFILE | Errno::AGAIN | Errno::NOMEM))
    }
    #[cfg(not(unix))]
    {
        error.kind() == io::ErrorKind::OutOfMemory
    }
}

/// How many files the run itself may need at once: a program is not started with the last ones that there are.
const SPARE_FILES: usize = 8;

fn spare_files() -> io::Result<Vec<std::fs::File>> {
    let null = if cfg!(windows) { "NUL" } else { "/dev/null" };
    (0..SPARE_FILES).map(|_| std::fs::File::open(null)).collect()
}

#[cfg(unix)]
type Messages = tokio::net::unix::OwnedReadHalf;

/// There are no supervisors.
#[cfg(not(unix))]
enum Messages {}

/// The next thing that a supervisor says; none when it is gone.
#[cfg(unix)]
async fn next_message(from: &mut Option<Messages>, said: &mut Vec<u8>) -> Option<Message> {
    loop {
        if let Some(message) = Message::take(said) {
            return Some(message);
        }
        match from.as_mut()?.read_buf(said).await {
            Ok(0) | Err(_) => return None,
            Ok(_) => {}
        }
    }
}

#[cfg(not(unix))]
async fn next_message(from: &mut Option<Messages>, _: &mut Vec<u8>) -> Option<Message> {
    match *from.as_mut()? {}
}

#[cfg(unix)]
fn supervised_status(raw: i32) -> ExitStatus {
    std::os::unix::process::ExitStatusExt::from_raw(raw)
}

#[cfg(not(unix))]
fn supervised_status(raw: i32) -> ExitStatus {
    std::os::windows::process::ExitStatusExt::from_raw(raw.cast_unsigned())
}

/// Reads what there is; nothing at the end.
async fn read<'b, R: AsyncRead + Unpin>(from: &mut Option<R>, buffer: &'b mut [u8]) -> io::Result<&'b [u8]> {
    let read = match from {
        Some(from) => from.read(buffer).await?,
        None => 0,
    };
    Ok(&buffer[..read])
}

async fn at(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => std::future::pending().await,
    }
}

/// Appends to the end of a text of which only the end counts.
fn keep_end(text: &mut Vec<u8>, more: &[u8]) {
    text.extend_from_slice(more);
    if text.len() > 2 * ERRORS_KEPT {
        text.drain(..text.len() - ERRORS_KEPT);
    }
}

/// How many programs are being ended.
#[derive(Debug)]
pub(crate) struct Endings(watch::Sender<usize>);

impl Default for Endings {
    fn default() -> Self {
        Self(watch::Sender::new(0))
    }
}

impl Endings {
    /// Waits until none is.
    pub(crate) async fn settled(&self) {
        // It is an error only when this is gone.
        let _ = self.0.subscribe().wait_for(|count| *count == 0).await;
    }

    fn begin(self: &Arc<Self>) -> Ending {
        self.0.send_modify(|count| *count += 1);
        Ending(Arc::clone(self))
    }
}

/// A program that is being ended.
struct Ending(Arc<Endings>);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.0.send_modify(|count| *count -= 1);
    }
}

/// A program that is ended, with all it has started, when this is dropped before the program has ended.
#[cfg_attr(not(unix), allow(dead_code, reason = "the runtime ends the program there"))]
struct Running<'a> {
    /// The program, or its supervisor.
    child: Option<Child>,
    /// The group of the program; none as long as its supervisor has not said so.
    group: Option<Group>,
    is_supervised: bool,
    endings: &'a Arc<Endings>,
}

#[cfg(unix)]
impl Drop for Running<'_> {
    fn drop(&mut self) {
        let Some(mut child) = self.child.take() else { return };
        let ending = self.endings.begin();
        let group = self.group.take();
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        if self.is_supervised {
            // The supervisor asks the program to end, and kills it, as the other end of its socket is closed now. It may have been stopped or killed.
            runtime.spawn(async move {
                if tokio::time::timeout(2 * GRACE, child.wait()).await.is_err() {
                    let _ = child.start_kill();
                }
                if let Some(group) = group
                    && group.is_running()
                {
                    group.kill();
                }
                drop(ending);
            });
            return;
        }
        let Some(group) = group else { return };
        group.terminate();
        let last_resort = LastResort(group);
        runtime.spawn(async move {
            let end = Instant::now() + GRACE;
            let _ = tokio::time::timeout(GRACE, child.wait()).await;
            while last_resort.0.is_running() && Instant::now() < end {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            drop(last_resort);
            let _ = child.wait().await;
            drop(ending);
        });
    }
}

/// Kills what is left of a group of processes when it is dropped, which is after its time to end, or when the runtime ends earlier.
#[cfg(unix)]
struct LastResort(Group);

#[cfg(unix)]
impl Drop for LastResort {
    fn drop(&mut self) {
        if self.0.is_running() {
            self.0.kill();
        }
    }
}
