//! The process that ends an agent's program when `prose` is gone, however it went.
//!
//! On Unix, `prose` does not start the program of an agent itself: it starts itself once more, as a supervisor, and that one starts the program in a
//! process group of its own. The two are connected by a socket, the standard input of the supervisor, which passes the prompt on. When
//! `prose` closes its end, or dies and the system closes it, the supervisor asks the program and all it has started to end, and kills what is left
//! after [`GRACE`]. On Linux it adopts what the program starts in sessions of their own, and ends it, too.
//!
//! A program that embeds the harnesses and is not its own supervisor starts agents without one. They are then ended by the process itself,
//! as long as it lives. So it is on other systems than Unix.

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
pub(crate) use self::message::prompt_head;

/// The first argument of a program that is started as a supervisor.
pub const COMMAND: &str = "agent-supervisor";

/// How long programs have to end after they were asked to.
pub const GRACE: Duration = Duration::from_secs(2);

/// The program that can be started as a supervisor.
static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// The process groups of the programs that run.
static AT_WORK: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

/// Supervises, and does not return, if this process was started for that. Otherwise this program supervises the agents that this process starts from
/// now on. It stands first in `main`.
pub fn enter() {
    #[cfg(unix)]
    {
        let mut arguments = std::env::args_os().skip(1);
        if arguments.next().is_some_and(|first| first == COMMAND) {
            process::supervise(arguments);
        }
        // On Linux, this is the program that runs also when its file has been replaced by a newer one.
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

/// Has a program that calls [`enter`] supervise the agents that this process starts from now on. The first one that is named counts.
pub fn supervise_with(program: PathBuf) {
    let _ = PROGRAM.set(program);
}

/// The program that supervises.
pub(crate) fn program() -> Option<&'static Path> {
    PROGRAM.get().map(PathBuf::as_path)
}

/// Kills all programs of agents at once, for a person who does not want to wait until they end.
pub fn kill_all() {
    for group in std::mem::take(&mut *at_work()) {
        kill(group);
    }
}

/// The process group of a program, for as long as it is there.
#[cfg_attr(not(unix), allow(dead_code, reason = "programs have no groups there"))]
pub(crate) struct Group(i32);

#[cfg_attr(not(unix), allow(dead_code, reason = "programs have no groups there"))]
impl Group {
    pub(crate) fn new(number: i32) -> Self {
        at_work().insert(number);
        Self(number)
    }

    /// Kills what is left of it.
    pub(crate) fn kill(&self) {
        kill(self.0);
    }

    /// Asks all of it to end. What has been stopped hears it, too.
    #[cfg(unix)]
    pub(crate) fn terminate(&self) {
        use rustix::process::{Pid, Signal, kill_process_group};

        if let Some(group) = Pid::from_raw(self.0) {
            // It may have ended just now, and then there is nothing to do.
            let _ = kill_process_group(group, Signal::TERM);
            let _ = kill_process_group(group, Signal::CONT);
        }
    }

    /// Whether there is anything left of it.
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
        // It may have ended just now, and then there is nothing to do.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
}

#[cfg(not(unix))]
fn kill(_: i32) {}
