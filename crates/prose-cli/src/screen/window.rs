//! The terminal while a screen is open on it.

use std::io::{self, Stderr};
use std::sync::atomic::{AtomicBool, Ordering};

use prose_tui::ratatui::backend::CrosstermBackend;
use prose_tui::ratatui::crossterm::cursor::Show;
use prose_tui::ratatui::crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use prose_tui::ratatui::crossterm::execute;
use prose_tui::ratatui::crossterm::terminal::{
    Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use prose_tui::ratatui::{Frame, Terminal};

/// Whether the terminal is to be restored.
static IS_OPEN: AtomicBool = AtomicBool::new(false);

/// How long a process may take to stop after the signal.
#[cfg(unix)]
const STOP: std::time::Duration = std::time::Duration::from_millis(200);

/// A window over the whole terminal, on its alternate screen, so that nothing of it stays there. It is closed when it is dropped, also by a panic.
pub(crate) struct Window(Terminal<CrosstermBackend<Stderr>>);

impl Window {
    pub(crate) fn open() -> io::Result<Self> {
        enable_raw_mode()?;
        IS_OPEN.store(true, Ordering::Release);
        // From here on, dropping restores the terminal.
        let opened = Restored;
        // Not by `Terminal::clear`, which asks where the cursor is and waits for an answer.
        execute!(io::stderr(), EnterAlternateScreen, EnableBracketedPaste, Clear(ClearType::All))?;
        let terminal = Terminal::new(CrosstermBackend::new(io::stderr()))?;
        std::mem::forget(opened);
        Ok(Self(terminal))
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
        self.0.draw(draw).map(drop)
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        restore();
    }
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
