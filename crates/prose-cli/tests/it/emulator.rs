//! A terminal as its user sees it: what programs write there is interpreted.

use std::fs::File;
use std::io::{Read, Write};
use std::num::NonZero;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

use crate::terminal::controlled;

/// How long something may take to be shown on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// How often the terminal looks whether it is to be closed.
const LOOK: Duration = Duration::from_millis(20);

/// A terminal with a command that it controls.
pub(crate) struct Emulator {
    keyboard: File,
    child: Child,
    shown: Arc<Mutex<Shown>>,
    /// Whether the terminal is to be closed.
    is_closed: Arc<AtomicBool>,
    reader: JoinHandle<()>,
    line: File,
}

struct Shown {
    parser: vt100::Parser,
    bytes: Vec<u8>,
}

/// What is left of a command at a terminal.
pub(crate) struct Left {
    /// Its exit status; none if a signal has ended it.
    pub(crate) status: Option<i32>,
    /// What the terminal shows.
    pub(crate) contents: String,
    /// All that was written to it.
    pub(crate) bytes: String,
    /// Whether the terminal is as programs expect it: on its first screen, with lines and an echo.
    pub(crate) is_restored: bool,
}

impl Emulator {
    pub(crate) fn start(command: &Command, (columns, rows): (u16, u16)) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let line = || {
            rustix::fs::open(&name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty()).unwrap()
        };
        tcsetwinsize(&master, size(columns, rows)).unwrap();
        let mut command = controlled(command);
        command.env("TERM", "xterm-256color").env_remove("NO_COLOR");
        let stdio = || Stdio::from(File::from(line()));
        let child = command.stdin(stdio()).stdout(stdio()).stderr(stdio()).spawn().unwrap();
        let kept = File::from(line());
        // The command holds its own ends; those of this process would keep the terminal from ending.
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let parser = vt100::Parser::new(cells(rows), cells(columns), 1000);
        let shown = Arc::new(Mutex::new(Shown { parser, bytes: Vec::new() }));
        let keyboard = File::from(master);
        let (mut output, told) = (keyboard.try_clone().unwrap(), Arc::clone(&shown));
        let is_closed = Arc::<AtomicBool>::default();
        let closed = Arc::clone(&is_closed);
        let reader = thread::spawn(move || {
            let mut buffer = [0; 4096];
            while !closed.load(Ordering::Relaxed) {
                let timeout = Timespec::try_from(LOOK).unwrap();
                if poll(&mut [PollFd::new(&output, PollFlags::IN)], Some(&timeout)) == Ok(0) {
                    continue;
                }
                // The end of the other side is an error on Linux.
                let Ok(count @ 1..) = output.read(&mut buffer) else { return };
                let mut shown = told.lock().unwrap();
                shown.parser.process(&buffer[..count]);
                shown.bytes.extend_from_slice(&buffer[..count]);
            }
        });
        Self { keyboard, child, shown, is_closed, reader, line: kept }
    }

    /// What is shown.
    pub(crate) fn contents(&self) -> String {
        self.shown.lock().unwrap().parser.screen().contents()
    }

    /// Whether a screen is open.
    pub(crate) fn has_screen(&self) -> bool {
        self.shown.lock().unwrap().parser.screen().alternate_screen()
    }

    /// Waits until something is shown.
    #[track_caller]
    pub(crate) fn until(&self, what: &str, is_shown: impl Fn(&str) -> bool) -> String {
        let begun = Instant::now();
        loop {
            let contents = self.contents();
            if is_shown(&contents) {
                return contents;
            }
            assert!(begun.elapsed() < PATIENCE, "it does not show {what}:\n{contents}");
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits until a text is shown.
    #[track_caller]
    pub(crate) fn shows(&self, text: &str) -> String {
        self.until(text, |contents| contents.contains(text))
    }

    pub(crate) fn types(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    pub(crate) fn resize(&self, columns: u16, rows: u16) {
        self.shown.lock().unwrap().parser.screen_mut().set_size(cells(rows), cells(columns));
        tcsetwinsize(&self.keyboard, size(columns, rows)).unwrap();
    }

    /// The number of the process.
    pub(crate) fn process(&self) -> rustix::process::Pid {
        rustix::process::Pid::from_child(&self.child)
    }

    /// Closes the terminal, and waits until the command ends.
    pub(crate) fn close(self) -> Option<i32> {
        let Self { keyboard, mut child, is_closed, reader, line, .. } = self;
        is_closed.store(true, Ordering::Relaxed);
        reader.join().unwrap();
        drop((keyboard, line));
        child.wait().unwrap().code()
    }

    /// Waits until the command ends.
    pub(crate) fn end(mut self) -> Left {
        let status = self.child.wait().unwrap().code();
        let modes = tcgetattr(&self.keyboard).unwrap().local_modes;
        drop(self.line);
        self.reader.join().unwrap();
        let shown = self.shown.lock().unwrap();
        let screen = shown.parser.screen();
        Left {
            status,
            contents: screen.contents(),
            bytes: String::from_utf8_lossy(&shown.bytes).into_owned(),
            is_restored: modes.contains(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG)
                && !screen.alternate_screen()
                && !screen.hide_cursor(),
        }
    }
}

fn cells(count: u16) -> NonZero<u16> {
    NonZero::new(count).expect("a terminal has cells")
}

fn size(columns: u16, rows: u16) -> Winsize {
    Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }
}
