//! The console of other systems.

use std::io::{self, BufRead};
use std::sync::mpsc;
use std::thread;

use tokio::sync::Mutex;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::typed::{Pending, Typed};

/// The lines of standard input. A read cannot be cancelled, so one that no question waits for any more serves the next question.
struct Lines {
    wanted: mpsc::Sender<()>,
    read: UnboundedReceiver<Typed>,
    is_reading: bool,
}

static LINES: Mutex<Option<Lines>> = Mutex::const_new(None);

/// Consoles have no background.
pub(crate) fn is_foreground() -> bool {
    true
}

/// Completes at once.
pub(crate) async fn foreground() {}

/// Never completes.
pub(crate) async fn background() {
    std::future::pending().await
}

/// Discards the lines that were read. What the console has not handed over yet stays there: no library offers `FlushConsoleInputBuffer` without
/// unsafe code.
pub(crate) fn discard() {
    if let Ok(mut lines) = LINES.try_lock()
        && let Some(lines) = &mut *lines
    {
        while lines.read.try_recv().is_ok() {
            lines.is_reading = false;
        }
    }
}

/// The next line.
pub(crate) async fn line() -> Typed {
    let mut lines = LINES.lock().await;
    let lines = lines.get_or_insert_with(|| {
        let (wanted, wishes) = mpsc::channel();
        let (lines, read) = unbounded_channel();
        // Without a thread the channel is closed, as if standard input were.
        let _ = thread::Builder::new().name("stdin".to_owned()).spawn(move || read_lines(&wishes, &lines));
        Lines { wanted, read, is_reading: false }
    });
    if !lines.is_reading && lines.wanted.send(()).is_err() {
        return Typed::Closed;
    }
    lines.is_reading = true;
    let line = lines.read.recv().await.unwrap_or(Typed::Closed);
    lines.is_reading = false;
    line
}

fn read_lines(wishes: &mpsc::Receiver<()>, lines: &UnboundedSender<Typed>) {
    while wishes.recv().is_ok() {
        let mut line = Vec::new();
        let _ = io::stdin().lock().read_until(b'\n', &mut line);
        let line = Pending(line).take_line(true).unwrap_or(Typed::Closed);
        let is_over = matches!(line, Typed::Closed);
        if lines.send(line).is_err() || is_over {
            return;
        }
    }
}
