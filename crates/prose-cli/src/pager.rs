//! Shows long output in a pager, at a terminal only.

use std::io::{self, IsTerminal, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};

use tokio::signal::unix::{SignalKind, signal};

use crate::color::ColorWhen;
use crate::terminal::{self, Terminal};

/// The pager without `PAGER`: it ends at once if everything fits on the screen, and shows colours.
const PAGER: &str = "less";
const LESS: &str = "FRX";

/// Does work whose output goes to the pager of the user, if it goes to a terminal.
pub(crate) fn paged<T>(terminal: &Terminal, work: impl FnOnce(&Terminal) -> io::Result<T>) -> io::Result<T> {
    let Some(pager) = Pager::start() else { return work(terminal) };
    // The streams do not lead to the terminal any more.
    let color = if terminal.stdout_is_styled() { ColorWhen::Always } else { ColorWhen::Never };
    let redirected = pager.redirect();
    let done = match redirected {
        Ok(()) => work(&Terminal::new(color)),
        Err(error) => Err(error),
    };
    pager.finish();
    done
}

struct Pager {
    child: Child,
    /// Standard output and standard error as they were.
    before: [OwnedFd; 2],
    /// Whether standard error goes to the terminal as well. What is written there would disturb the pager.
    takes_stderr: bool,
    input: OwnedFd,
    /// Keeps signals from ending this process while the pager handles them.
    _runtime: Option<tokio::runtime::Runtime>,
}

impl Pager {
    /// Starts the pager. None if the output goes elsewhere, the user wants no pager, or it cannot be started.
    fn start() -> Option<Self> {
        if !io::stdout().is_terminal() {
            return None;
        }
        let named = std::env::var("PAGER").ok();
        let mut command = match named.as_deref().map(str::trim) {
            Some("" | "cat") => return None,
            Some(pager) => {
                // As other programs do: it may have options.
                let mut command = Command::new("sh");
                command.args(["-c", pager]);
                command
            }
            None => Command::new(PAGER),
        };
        if std::env::var_os("LESS").is_none() {
            command.env("LESS", LESS);
        }
        let before = [rustix::io::dup(io::stdout()).ok()?, rustix::io::dup(io::stderr()).ok()?];
        let mut child = command.stdin(Stdio::piped()).spawn().ok()?;
        let input = OwnedFd::from(child.stdin.take()?);
        terminal::keep_width();
        Some(Self {
            child,
            before,
            takes_stderr: io::stderr().is_terminal(),
            input,
            _runtime: handle_interrupts(),
        })
    }

    fn redirect(&self) -> io::Result<()> {
        rustix::stdio::dup2_stdout(&self.input)?;
        if self.takes_stderr {
            rustix::stdio::dup2_stderr(&self.input)?;
        }
        Ok(())
    }

    /// Ends the input of the pager and waits until the user leaves it.
    fn finish(mut self) {
        // A pager that the user has left reads nothing more.
        let _ = io::stdout().flush();
        let [stdout, stderr] = &self.before;
        let _ = rustix::stdio::dup2_stdout(stdout);
        let _ = rustix::stdio::dup2_stderr(stderr);
        drop(self.input);
        let _ = self.child.wait();
    }
}

/// Handles Ctrl-C from now on, which the pager receives as well: a process that ended before its pager would leave it without a terminal.
fn handle_interrupts() -> Option<tokio::runtime::Runtime> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
    // The handler stays when the stream of its signals is dropped.
    drop(runtime.block_on(async { signal(SignalKind::interrupt()) }).ok()?);
    Some(runtime)
}
