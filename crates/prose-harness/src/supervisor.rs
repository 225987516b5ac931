//! The process that stops an agent's program when `prose` exits or dies.
//!
//! On Unix, `prose` does not start the program of an agent directly: it starts itself again as a supervisor, which starts the program in a process
//! group of its own. Both are connected by a socket, the standard input of the supervisor, which passes the input of the program on. When `prose` closes its end,
//! or dies and the system closes it, the supervisor terminates the program with its descendants, and kills what is left after [`GRACE`]. On Linux it
//! adopts descendants in other sessions and terminates them, too. At last it removes the files that were written for the program.
//!
//! A program that embeds the harnesses and is not its own supervisor starts agents without one, as on systems other than Unix. The process itself
//! then stops them as long as it lives.

mod message;
#[cfg(unix)]
mod process;
#[cfg(unix)]
mod tree;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

pub(crate) use self::message::Message;
#[cfg(unix)]
pub(crate) use self::message::{MAX_PART, part_head};

/// The first argument of a supervisor process. The files that it removes at its end follow, then [`END_OF_FILES`] and the program with its arguments.
pub const COMMAND: &str = "agent-supervisor";

/// The argument between the files and the program. The files have absolute paths.
pub(crate) const END_OF_FILES: &str = "--";

/// The time between the request to terminate and the kill.
pub const GRACE: Duration = Duration::from_secs(2);

/// The program that can run as a supervisor.
static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// The process groups of the running programs.
static AT_WORK: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

/// Runs the supervisor and does not return, if this process was started as one. Otherwise this program supervises the agents that this process starts
/// from now on. Must be the first call in `main`.
pub fn enter() {
    #[cfg(unix)]
    {
        let mut arguments = std::env::args_os().skip(1);
        if arguments.next().is_some_and(|first| first == COMMAND) {
            process::supervise(arguments);
        }
        // On Linux, this path is the running program even if its file has been replaced by a newer one.
        let running = Path::new("/proc/self/exe");
        let program = match running.exists() {
            true => Some(running.to_owned()),
            false => std::env::current_exe().ok(),
        };
        if let Some(program) = program {
            supervise_with(program);
        }
    }
}

/// Sets the program that calls [`enter`] as the supervisor of the agents that this process starts from now on. The first call counts.
pub fn supervise_with(program: PathBuf) {
    let _ = PROGRAM.set(program);
}

/// The supervisor program.
pub(crate) fn program() -> Option<&'static Path> {
    PROGRAM.get().map(PathBuf::as_path)
}

/// Kills all programs of agents immediately, for a user who does not wait until they exit.
pub fn kill_all() {
    for group in std::mem::take(&mut *at_work()) {
        kill(group);
    }
}

/// The process group of a program, as long as it exists.
#[cfg_attr(not(unix), allow(dead_code, reason = "programs have no groups there"))]
pub(crate) struct Group(i32);

#[cfg_attr(not(unix), allow(dead_code, reason = "programs have no groups there"))]
impl Group {
    pub(crate) fn new(number: i32) -> Self {
        at_work().insert(number);
        Self(number)
    }

    /// Kills the rest of it.
    pub(crate) fn kill(&self) {
        kill(self.0);
    }

    /// Terminates all of it, including suspended processes.
    #[cfg(unix)]
    pub(crate) fn terminate(&self) {
        use rustix::process::{Pid, Signal, kill_process_group};

        if let Some(group) = Pid::from_raw(self.0) {
            // It may have exited in the meantime.
            let _ = kill_process_group(group, Signal::TERM);
            let _ = kill_process_group(group, Signal::CONT);
        }
    }

    /// Whether any process of it is left.
    #[cfg(unix)]
    pub(crate) fn is_running(&self) -> bool {
        rustix::process::Pid::from_raw(self.0)
            .is_some_and(|group| rustix::process::test_kill_process_group(group).is_ok())
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        at_work().remove(&self.0);
    }
}

fn at_work() -> std::sync::MutexGuard<'static, BTreeSet<i32>> {
    AT_WORK.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(unix)]
fn kill(group: i32) {
    if let Some(group) = rustix::process::Pid::from_raw(group) {
        // It may have exited in the meantime.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
}

#[cfg(not(unix))]
fn kill(_: i32) {}
