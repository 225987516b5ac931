//! A program with its descendants.

use rustix::process::{Pid, Signal, kill_process, kill_process_group, test_kill_process_group};

/// A process group and, on Linux, all descendants of this process: it adopts those whose parents exit, so none is lost.
pub(super) struct Tree {
    group: Pid,
}

impl Tree {
    pub(super) fn of(group: Pid) -> Self {
        Self { group }
    }

    /// Terminates all of it, including suspended processes.
    pub(super) fn terminate(&self) {
        self.send(&[Signal::TERM, Signal::CONT]);
    }

    pub(super) fn kill(&self) {
        self.send(&[Signal::KILL]);
    }

    /// Whether any process of it is left.
    pub(super) fn is_running(&self) -> bool {
        test_kill_process_group(self.group).is_ok() || !descendants().is_empty()
    }

    fn send(&self, signals: &[Signal]) {
        // Those in the group receive the signal only once.
        let mut outside = descendants();
        outside.retain(|process| process.group != self.group);
        for &signal in signals {
            // Processes that have just exited need no signal.
            let _ = kill_process_group(self.group, signal);
            for process in &outside {
                let _ = kill_process(process.id, signal);
            }
        }
    }
}

/// A process that has not exited.
#[derive(Clone, Copy)]
struct Process {
    id: Pid,
    group: Pid,
}

#[cfg(target_os = "linux")]
fn descendants() -> Vec<Process> {
    let own = rustix::process::getpid();
    let all: Vec<_> = std::fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok())
        .filter_map(|id| stat(&std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?))
        .collect();
    let mut found: Vec<Process> = Vec::new();
    let mut parents = vec![own];
    while let Some(parent) = parents.pop() {
        for (process, of, has_ended) in &all {
            // A zombie has no children any more.
            if *of == parent && !has_ended {
                parents.push(process.id);
                found.push(*process);
            }
        }
    }
    found
}

/// A process, its parent, and whether it has exited, from `/proc/N/stat`: `N (name) state parent group …`.
#[cfg(target_os = "linux")]
fn stat(line: &str) -> Option<(Process, Pid, bool)> {
    // A name may contain parentheses and spaces.
    let (start, rest) = line.rsplit_once(')')?;
    let mut rest = rest.split_ascii_whitespace();
    let id = Pid::from_raw(start.split(' ').next()?.parse().ok()?)?;
    let has_ended = matches!(rest.next()?, "Z" | "X");
    let mut number = || Pid::from_raw(rest.next()?.parse().ok()?);
    let (parent, group) = (number()?, number()?);
    Some((Process { id, group }, parent, has_ended))
}

/// On other systems, processes outside of the group are not adopted.
#[cfg(not(target_os = "linux"))]
fn descendants() -> Vec<Process> {
    Vec::new()
}
