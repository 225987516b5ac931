//! The terminal of a Unix process, which may be in the background of its shell.

use std::io::{self, BufRead};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rustix::process::getpgrp;
use rustix::termios::{QueueSelector, tcflush, tcgetattr, tcgetpgrp};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::time::sleep;

use super::typed::{Pending, Typed};

/// How long the signal that a terminal was closed may take to arrive after the end of its input.
const HANGUP_TIME: Duration = Duration::from_secs(1);

/// How often a process looks whether it is in the foreground: no event reports it.
const LOOK: Duration = Duration::from_millis(200);

/// The beginning of a line that was not typed to its end.
static PENDING: Mutex<Pending> = Mutex::new(Pending(Vec::new()));

/// Whether this process may read from the terminal. A terminal that does not control the process has no foreground.
pub(crate) fn is_foreground() -> bool {
    !tcgetpgrp(io::stdin()).is_ok_and(|group| group != getpgrp())
}

/// Completes when the process is in the foreground.
pub(crate) async fn foreground() {
    while !is_foreground() {
        sleep(LOOK).await;
    }
}

/// Completes when the process is in the background.
pub(crate) async fn background() {
    while is_foreground() {
        sleep(LOOK).await;
    }
}

/// Discards what was typed and not read: it was meant for an earlier question, or for none.
pub(crate) fn discard() {
    PENDING.lock().unwrap_or_else(PoisonError::into_inner).0.clear();
    // A process in the background would be stopped for it, and what is typed there is not for this process.
    if is_foreground() {
        let _ = tcflush(io::stdin(), QueueSelector::IFlush);
    }
}

/// The next line. Nothing is read before there is something to read, so that dropping the future leaves no read behind that takes a later line.
pub(crate) async fn line() -> Typed {
    loop {
        if let Some(line) = PENDING.lock().unwrap_or_else(PoisonError::into_inner).take_line(false) {
            return line;
        }
        let is_readable = async {
            // Registered again for each read, since only a registration reports what is there already.
            #[allow(deprecated, reason = "sound for standard input, which stays open")]
            let terminal = AsyncFd::with_interest(io::stdin(), Interest::READABLE)?;
            terminal.readable().await.map(drop)
        };
        tokio::select! {
            biased;
            () = background() => return Typed::Background,
            readable = is_readable => if readable.is_err() { return Typed::Closed },
        }
        if !is_foreground() {
            return Typed::Background;
        }
        match read() {
            Ok(0) => {
                let last = PENDING.lock().unwrap_or_else(PoisonError::into_inner).take_line(true);
                // A terminal that was closed also sends a signal, which says more than the end of the input.
                if tcgetattr(io::stdin()).is_err() {
                    sleep(HANGUP_TIME).await;
                }
                return last.unwrap_or(Typed::Closed);
            }
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => {
                sleep(HANGUP_TIME).await;
                return Typed::Closed;
            }
        }
    }
}

/// Reads what is there: a line, or its beginning if the user has ended the input within it.
fn read() -> io::Result<usize> {
    let mut stdin = io::stdin().lock();
    let bytes = stdin.fill_buf()?;
    let count = bytes.len();
    PENDING.lock().unwrap_or_else(PoisonError::into_inner).0.extend_from_slice(bytes);
    stdin.consume(count);
    Ok(count)
}
