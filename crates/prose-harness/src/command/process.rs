//! Runs the program of an agent once, within limits: a prompt in, a reply out.

use std::io;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::process::{Change, Endings, LINGER, Output, Process, Program, at, read};
use crate::said::keep_end;

/// The invocation of a program.
pub(crate) struct Invocation {
    pub(crate) program: Program,
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

/// Runs a program until it exits. If the future is dropped or a limit is reached, the program and its descendants are stopped, which `endings`
/// counts.
pub(crate) async fn run(
    invocation: Invocation,
    supervisor: Option<&Path>,
    endings: &Arc<Endings>,
) -> Result<Finished, Stopped> {
    let limits = invocation.limits;
    let (mut process, mut stdin, Output { mut stdout, mut stderr }) =
        Process::start(invocation.program, supervisor, endings).map_err(Stopped::NotStarted)?;
    let (has_ended, heard_of_the_end) = oneshot::channel();
    let mut has_ended = Some(has_ended);
    let write = async move {
        stdin.write(&invocation.input).await;
        let closed = stdin.close().await;
        if heard_of_the_end.await.is_ok() {
            closed.acknowledge_exit().await;
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
            change = process.change(), if status.is_none() => match change {
                Change::Started => {}
                Change::NotStarted(error) => return Err(Stopped::NotStarted(error)),
                Change::Exited(ended) => {
                    last_heard = Instant::now();
                    status = Some(ended);
                    // Now the supervisor may exit and close its ends of the pipes.
                    let _ = has_ended.take().map(|has_ended| has_ended.send(()));
                }
                Change::Lost(error) => return Err(Stopped::Lost(error)),
            },
            () = at(limits.time.map(|time| start + time)), if status.is_none() => {
                return Err(Stopped::TimedOut(limits.time.unwrap_or_default()));
            }
            () = at(limits.idle.map(|idle| last_heard + idle)), if status.is_none() => {
                return Err(Stopped::Idle(limits.idle.unwrap_or_default()));
            }
            () = at(lingering) => break,
        }
    }
    process.leave();
    let status = status.expect("the loop ends only when there is one");
    Ok(Finished { status, output, errors })
}
