//! The terminal while a screen is open on it.

use std::io::{self, Stderr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use prose_tui::ratatui::backend::CrosstermBackend;
use prose_tui::ratatui::crossterm::cursor::Show;
use prose_tui::ratatui::crossterm::event::{self, DisableBracketedPaste, EnableBracketedPaste};
use prose_tui::ratatui::crossterm::execute;
use prose_tui::ratatui::crossterm::terminal::{
    Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use prose_tui::ratatui::{Frame, Terminal};

/// Whether the terminal is to be restored.
static IS_OPEN: AtomicBool = AtomicBool::new(false);

/// How long a process may take to stop after the signal.
#[cfg(unix)]
const STOP: Duration = Duration::from_millis(200);

/// A window over the whole terminal, on its alternate screen, so that nothing of it stays there. It is closed when it is dropped, also by a panic.
pub(crate) struct Window {
    terminal: Terminal<CrosstermBackend<Stderr>>,
    _restored: Restored,
}

impl Window {
    pub(crate) fn open() -> io::Result<Self> {
        enable_raw_mode()?;
        IS_OPEN.store(true, Ordering::Release);
        // From here on, dropping restores the terminal.
        let restored = Restored;
        // Not by `Terminal::clear`, which asks where the cursor is and waits for an answer.
        execute!(io::stderr(), EnterAlternateScreen, EnableBracketedPaste, Clear(ClearType::All))?;
        let terminal = Terminal::new(CrosstermBackend::new(io::stderr()))?;
        Ok(Self { terminal, _restored: restored })
    }

    /// The window, which is opened if it is not.
    pub(crate) fn opened(window: &mut Option<Self>) -> io::Result<&mut Self> {
        match window {
            Some(opened) => Ok(opened),
            none => Ok(none.insert(Self::open()?)),
        }
    }

    /// Draws what has changed.
    pub(crate) fn draw(&mut self, draw: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        self.terminal.draw(draw).map(drop)
    }
}

/// Waits until a key is pressed, at most for a time. Returns whether one was; an error says that the terminal is gone.
///
/// A terminal that was closed has an end of its input, which crossterm reads again and again without ever returning.
#[cfg(unix)]
pub(crate) fn is_pressed(at_most: Duration) -> io::Result<bool> {
    // What was read together with an earlier key is not in the terminal any more.
    let is_read = has_input(Duration::ZERO).and_then(|_| event::poll(Duration::ZERO))?;
    Ok(is_read || has_input(at_most)? && event::poll(Duration::ZERO)?)
}

/// Waits until there is something to read, at most for a time.
#[cfg(unix)]
fn has_input(at_most: Duration) -> io::Result<bool> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let stdin = io::stdin();
    let mut terminal = [PollFd::new(&stdin, PollFlags::IN)];
    let timeout = Timespec::try_from(at_most).map_err(io::Error::other)?;
    match poll(&mut terminal, Some(&timeout)) {
        Ok(0) | Err(rustix::io::Errno::INTR) => Ok(false),
        Ok(_) if terminal[0].revents().intersects(PollFlags::HUP | PollFlags::ERR) => {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        Ok(_) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

/// Waits until a key is pressed, at most for a time. Returns whether one was.
#[cfg(not(unix))]
pub(crate) fn is_pressed(at_most: Duration) -> io::Result<bool> {
    event::poll(at_most)
}

/// Restores the terminal when it is dropped.
struct Restored;

impl Drop for Restored {
    fn drop(&mut self) {
        restore();
    }
}

/// Restores the terminal, if a window is open.
pub(crate) fn restore() {
    if IS_OPEN.swap(false, Ordering::AcqRel) {
        // A terminal that was closed needs nothing.
        let _ = execute!(io::stderr(), DisableBracketedPaste, LeaveAlternateScreen, Show);
        let _ = disable_raw_mode();
    }
}

/// Stops this process as Ctrl-Z does, until the shell continues it.
pub(crate) fn suspend() {
    #[cfg(unix)]
    {
        use rustix::process::{Signal, kill_current_process_group};
        // A group without a shell that could continue it is not stopped by the system.
        let _ = kill_current_process_group(Signal::TSTP);
        // Another thread may be the one that takes the signal. Until it has, nothing is to be drawn.
        std::thread::sleep(STOP);
    }
}
