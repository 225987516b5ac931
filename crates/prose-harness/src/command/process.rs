//! Runs the program of an agent: input and output, limits, and termination.

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

/// The invocation of a program.
pub(crate) struct Invocation {
    pub(crate) program: String,
    pub(crate) arguments: Vec<String>,
    pub(crate) folder: PathBuf,
    /// The complete environment.
    pub(crate) variables: Vec<(String, String)>,
    /// The standard input; the program may ignore it.
    pub(crate) input: Vec<u8>,
    pub(crate) limits: Limits,
}

/// The limits on the time and output of a program.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) time: Option<Duration>,
    /// The timeout without output.
    pub(crate) idle: Option<Duration>,
    /// The maximum number of bytes on standard output.
    pub(crate) output: usize,
}

/// The result of a program that exited.
pub(crate) struct Finished {
    pub(crate) status: ExitStatus,
    pub(crate) output: Vec<u8>,
    /// The end of its standard error.
    pub(crate) errors: Vec<u8>,
}

/// The reason why a program did not exit by itself.
pub(crate) enum Stopped {
    /// It could not be started.
    NotStarted(io::Error),
    /// The connection was lost.
    Lost(io::Error),
    /// It exceeded its timeout.
    TimedOut(Duration),
    /// It wrote nothing for too long.
    Idle(Duration),
    /// It wrote too much.
    TooLong(usize),
}

/// How long output is read after a program has exited. Only background processes still write then, possibly forever.
const LINGER: Duration = Duration::from_millis(300);

/// More of standard error is not shown.
const ERRORS_KEPT: usize = 16 << 10;

/// Runs a program until it exits. If the future is dropped or a limit is reached, the program and its descendants are stopped, which `endings`
/// counts.
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
            // Available output is read before a limit applies, even if this task was scheduled late.
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
                        // There is nothing to stop.
                        running.child = None;
                        return Err(Stopped::NotStarted(io::Error::from_raw_os_error(error)));
                    }
                    Some(Message::Ended(ended)) => {
                        last_heard = Instant::now();
                        status = Some(supervised_status(ended));
                        // Now the supervisor may exit and close its ends of the pipes.
                        let _ = has_ended.take().map(|has_ended| has_ended.send(()));
                    }
                    None => {
                        let lost = "its supervisor process has exited";
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
    // Background processes, such as a server that the agent started, continue.
    running.child = None;
    let status = status.expect("the loop ends only when there is one");
    Ok(Finished { status, output, errors })
}

/// A started program or its supervisor.
struct Spawned {
    child: Child,
    /// The messages of the supervisor, if there is one.
    messages: Option<Messages>,
    prompt: Prompt,
}

/// The writer of the program's input.
struct Prompt {
    text: Vec<u8>,
    to: PromptTo,
}

enum PromptTo {
    Program(Option<ChildStdin>),
    /// The program runs as long as this end is open.
    #[cfg(unix)]
    Supervisor(tokio::net::unix::OwnedWriteHalf),
}

impl Prompt {
    #[cfg_attr(not(unix), allow(unused_variables, reason = "there are no supervisors there"))]
    async fn write(self, has_ended: oneshot::Receiver<()>) {
        match self.to {
            PromptTo::Program(None) => {}
            // A program that ignores its input has closed the pipe, which is not an error.
            PromptTo::Program(Some(mut stdin)) => _ = stdin.write_all(&self.text).await,
            #[cfg(unix)]
            PromptTo::Supervisor(mut socket) => {
                // A lost supervisor is detected where its messages are read.
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
            // The name differs from `prose`, so that killing processes by that name spares the supervisors.
            command.arg0(supervisor::COMMAND).arg(supervisor::COMMAND).arg(program);
            command.stdin(OwnedFd::from(its_end));
            ours = Some(tokio::net::UnixStream::from_std(our_end)?);
        }
        _ => _ = command.stdin(Stdio::piped()),
    }
    command.args(arguments).current_dir(folder).env_clear().envs(variables);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    // A separate process group, so that all descendants can be stopped together, and ctrl-C in the terminal reaches only the run.
    #[cfg(unix)]
    command.process_group(0);
    // On other systems the program is stopped without its descendants.
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

/// Whether a program could not be started because the system has too few file descriptors, processes or memory, which may change.
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

/// The number of files that the run itself may need: a program is not started with the last available descriptors.
const SPARE_FILES: usize = 8;

fn spare_files() -> io::Result<Vec<std::fs::File>> {
    let null = if cfg!(windows) { "NUL" } else { "/dev/null" };
    (0..SPARE_FILES).map(|_| std::fs::File::open(null)).collect()
}

#[cfg(unix)]
type Messages = tokio::net::unix::OwnedReadHalf;

/// There are no supervisors on this system.
#[cfg(not(unix))]
enum Messages {}

/// The next message of the supervisor; `None` when it has exited.
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

/// Reads available output; nothing at the end.
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

/// Appends to a text of which only the end is kept.
fn keep_end(text: &mut Vec<u8>, more: &[u8]) {
    text.extend_from_slice(more);
    if text.len() > 2 * ERRORS_KEPT {
        text.drain(..text.len() - ERRORS_KEPT);
    }
}

/// The number of programs that are being stopped.
#[derive(Debug)]
pub(crate) struct Endings(watch::Sender<usize>);

impl Default for Endings {
    fn default() -> Self {
        Self(watch::Sender::new(0))
    }
}

impl Endings {
    /// Waits until none is left.
    pub(crate) async fn settled(&self) {
        // It is an error only when the sender is gone.
        let _ = self.0.subscribe().wait_for(|count| *count == 0).await;
    }

    fn begin(self: &Arc<Self>) -> Ending {
        self.0.send_modify(|count| *count += 1);
        Ending(Arc::clone(self))
    }
}

/// A program that is being stopped.
struct Ending(Arc<Endings>);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.0.send_modify(|count| *count -= 1);
    }
}

/// Stops a program with its descendants when dropped before the program has exited.
#[cfg_attr(not(unix), allow(dead_code, reason = "the runtime ends the program there"))]
struct Running<'a> {
    /// The program or its supervisor.
    child: Option<Child>,
    /// The process group of the program; `None` until its supervisor has reported it.
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
            // The closed socket makes the supervisor stop the program. The supervisor itself may be suspended or killed.
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

/// Kills the rest of a process group when dropped, which is after its grace period, or earlier when the runtime ends.
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
