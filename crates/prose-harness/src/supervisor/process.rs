//! The supervisor: starts a program, passes its input on, and stops the program when the other end of the socket is closed.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{ChildStdin, Command, Stdio, exit};
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, WaitOptions};

use super::message::Message;
use super::tree::Tree;
use super::{END_OF_FILES, GRACE};

/// The process group of the program.
static GROUP: OnceLock<Pid> = OnceLock::new();

/// The files that were written for the program.
static FILES: OnceLock<Vec<PathBuf>> = OnceLock::new();

/// Runs the program in the arguments until it exits.
pub(super) fn supervise(mut arguments: impl Iterator<Item = OsString>) -> ! {
    let files = arguments.by_ref().take_while(|argument| argument != END_OF_FILES);
    let _ = FILES.set(files.map(PathBuf::from).collect());
    let socket = io::stdin().as_fd().try_clone_to_owned().map(UnixStream::from);
    let (Some(program), Ok(mut socket)) = (arguments.next(), socket) else { leave(2) };
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).process_group(0);
    let started = prepare(&socket).and_then(|stdin| {
        let mut child = command.spawn()?;
        // A parent that has already exited leaves the input unread.
        let _ = child.stdin.take().map(|pipe| stdin.send(pipe));
        Ok(child.id())
    });
    let group = match started.map(|id| i32::try_from(id).ok().and_then(Pid::from_raw)) {
        Ok(Some(group)) => group,
        Ok(None) => leave(2),
        Err(error) => {
            let number = error.raw_os_error().unwrap_or_default();
            let _ = socket.write_all(&Message::Failed(number).encode());
            leave(1)
        }
    };
    let _ = GROUP.set(group);
    let _ = socket.write_all(&Message::Started(group.as_raw_nonzero().get()).encode());
    drop(command);
    // The other thread ends this process. Processes that exit before are reaped here.
    let mut has_ended = false;
    loop {
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(Some((ended, status))) if ended == group => {
                has_ended = true;
                let _ = socket.write_all(&Message::Ended(status.as_raw()).encode());
            }
            Ok(Some(_)) | Err(Errno::INTR) => {}
            // The parent of `prose` ignores SIGCHLD, so the exit status is not available.
            Err(_) if !has_ended => leave(1),
            _ => thread::sleep(Duration::from_millis(5)),
        }
    }
}

/// Starts the threads. Returns the writer for the standard input of the program.
fn prepare(socket: &UnixStream) -> io::Result<Sender<ChildStdin>> {
    #[cfg(target_os = "linux")]
    {
        // Any number works. A system without support terminates only the group.
        let _ = rustix::process::set_child_subreaper(Some(Pid::INIT));
    }
    let (stdin, takes_stdin) = channel();
    let (input, takes_input) = channel();
    let socket = socket.try_clone()?;
    let builder = |name: &str| thread::Builder::new().name(name.to_owned());
    builder("input").spawn(move || write(&takes_stdin, takes_input))?;
    builder("lifeline").spawn(move || {
        // The input stays open as long as the program runs: an agent whose input ends before its signal comes takes that for an answer, and works on.
        let _open = read(socket, input);
        end()
    })?;
    Ok(stdin)
}

/// Removes the files of the program, and exits.
fn leave(status: i32) -> ! {
    for file in FILES.get().into_iter().flatten() {
        // `prose` may have removed it.
        let _ = fs::remove_file(file);
    }
    exit(status)
}

/// Writes its input to the program. A program that ignores its input has closed the pipe, which is not an error.
fn write(takes_stdin: &Receiver<ChildStdin>, input: Receiver<Vec<u8>>) {
    let Ok(mut stdin) = takes_stdin.recv() else { return };
    for part in input {
        if stdin.write_all(&part).is_err() {
            return;
        }
    }
}

/// Passes the input on, and then waits until the other end is closed. A byte acknowledges the exit of the program and ends this process: background
/// processes, such as a server that the agent started, continue. Without this byte, the parent is gone; then, the input is returned unless it was closed.
fn read(mut socket: UnixStream, input: Sender<Vec<u8>>) -> Option<Sender<Vec<u8>>> {
    if pass_on(&mut socket, &input).is_err() {
        return Some(input);
    }
    // This closes the input of the program.
    drop(input);
    match socket.read_exact(&mut [0]) {
        Ok(()) => leave(0),
        Err(_) => None,
    }
}

/// Passes the input on until it is closed.
fn pass_on(socket: &mut UnixStream, input: &Sender<Vec<u8>>) -> io::Result<()> {
    let mut buffer = vec![0; 64 << 10];
    loop {
        let mut head = [0; 4];
        socket.read_exact(&mut head)?;
        let mut left = u32::from_le_bytes(head) as usize;
        if left == 0 {
            return Ok(());
        }
        while left > 0 {
            let room = left.min(buffer.len());
            let part = &mut buffer[..room];
            socket.read_exact(part)?;
            left -= room;
            // The program may have closed the pipe.
            let _ = input.send(part.to_vec());
        }
    }
}

/// Stops the program with its descendants, and then exits.
fn end() -> ! {
    let group = loop {
        // It is being started. If that fails, the other thread ends the process.
        match GROUP.get() {
            Some(group) => break *group,
            None => thread::sleep(Duration::from_millis(1)),
        }
    };
    let tree = Tree::of(group);
    tree.terminate();
    let deadline = Instant::now() + GRACE;
    while Instant::now() < deadline && tree.is_running() {
        thread::sleep(Duration::from_millis(10));
    }
    // Processes that start others while they are killed need more than one round.
    let last = Instant::now() + GRACE;
    while Instant::now() < last && tree.is_running() {
        tree.kill();
        thread::sleep(Duration::from_millis(5));
    }
    leave(0)
}
