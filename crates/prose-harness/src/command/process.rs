//! Running the program of an agent: its input and output, its limits, and its end.

use std::io;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep_until};

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

/// How long programs have to end after they were asked to.
#[cfg(unix)]
const GRACE: Duration = Duration::from_secs(2);

/// How long output may come after a program has ended. Only what it leaves running still writes then, and that may run for ever.
const LINGER: Duration = Duration::from_millis(300);

/// More of standard error tells nobody more.
const ERRORS_KEPT: usize = 16 << 10;

/// Runs a program to its end. If the future is dropped, or a limit is reached, the program and all it has started are ended.
pub(crate) async fn run(invocation: Invocation) -> Result<Finished, Stopped> {
    let Invocation { program, arguments, folder, variables, input, limits } = invocation;
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder).env_clear().envs(variables);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // A group of its own, so that all it starts can be ended together, and so that ctrl-C at the terminal is for the run alone.
    #[cfg(unix)]
    command.process_group(0);
    // Elsewhere the program is ended without what it has started.
    #[cfg(not(unix))]
    command.kill_on_drop(true);
    let mut running = Running::new(command.spawn().map_err(Stopped::NotStarted)?);
    let child = running.child.as_mut().expect("it was put there and is taken out only in the end");

    let mut stdin = child.stdin.take();
    let mut stdout = child.stdout.take();
    let mut stderr = child.stderr.take();
    let write = async {
        if let Some(mut stdin) = stdin.take() {
            // A program that reads nothing of it has closed the pipe, which is no mistake.
            let _ = stdin.write_all(&input).await;
        }
    };
    tokio::pin!(write);
    let mut is_writing = true;
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
            ended = child.wait(), if status.is_none() => {
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

/// A program that is ended, with all it has started, when this is dropped before the program has ended.
struct Running {
    child: Option<Child>,
    #[cfg(unix)]
    group: Option<rustix::process::Pid>,
}

#[cfg(unix)]
impl Running {
    fn new(child: Child) -> Self {
        // The group has the number of its first process.
        let number = child.id().and_then(|id| i32::try_from(id).ok());
        Self { child: Some(child), group: number.and_then(rustix::process::Pid::from_raw) }
    }
}

#[cfg(not(unix))]
impl Running {
    fn new(child: Child) -> Self {
        Self { child: Some(child) }
    }
}

#[cfg(unix)]
impl Drop for Running {
    fn drop(&mut self) {
        use rustix::process::{Signal, kill_process_group};

        let (Some(mut child), Some(group)) = (self.child.take(), self.group) else { return };
        // It may have ended just now, and then there is nothing to do.
        let _ = kill_process_group(group, Signal::TERM);
        let last_resort = LastResort(group);
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        runtime.spawn(async move {
            let end = Instant::now() + GRACE;
            let _ = tokio::time::timeout(GRACE, child.wait()).await;
            while last_resort.is_running() && Instant::now() < end {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            drop(last_resort);
            let _ = child.wait().await;
        });
    }
}

/// Kills what is left of a group of processes when it is dropped, which is after its time to end, or when the runtime ends earlier.
#[cfg(unix)]
struct LastResort(rustix::process::Pid);

#[cfg(unix)]
impl LastResort {
    fn is_running(&self) -> bool {
        rustix::process::test_kill_process_group(self.0).is_ok()
    }
}

#[cfg(unix)]
impl Drop for LastResort {
    fn drop(&mut self) {
        if self.is_running() {
            let _ = rustix::process::kill_process_group(self.0, rustix::process::Signal::KILL);
        }
    }
}
