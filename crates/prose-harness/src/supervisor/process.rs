//! The supervisor: starts a program, passes the prompt on, and ends the program when nobody holds the other end of the socket any more.

use std::ffi::OsString;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{ChildStdin, Command, Stdio, exit};
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, WaitOptions};

use super::GRACE;
use super::message::Message;
use super::tree::Tree;

/// The process group of the program.
static GROUP: OnceLock<Pid> = OnceLock::new();

/// Runs the program that the arguments name to its end.
pub(super) fn supervise(mut arguments: impl Iterator<Item = OsString>) -> ! {
    let socket = io::stdin().as_fd().try_clone_to_owned().map(UnixStream::from);
    let (Some(program), Ok(mut socket)) = (arguments.next(), socket) else { exit(2) };
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).process_group(0);
    let started = prepare(&socket).and_then(|stdin| {
        let mut child = command.spawn()?;
        // Whoever is gone again has left the prompt unread.
        let _ = child.stdin.take().map(|pipe| stdin.send(pipe));
        Ok(child.id())
    });
    let group = match started.map(|id| i32::try_from(id).ok().and_then(Pid::from_raw)) {
        Ok(Some(group)) => group,
        Ok(None) => exit(2),
        Err(error) => {
            let number = error.raw_os_error().unwrap_or_default();
            let _ = socket.write_all(&Message::Failed(number).encode());
            exit(1)
        }
    };
    let _ = GROUP.set(group);
    let _ = socket.write_all(&Message::Started(group.as_raw_nonzero().get()).encode());
    drop(command);
    // The other thread ends this process. All that ends before is fetched here.
    let mut has_ended = false;
    loop {
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(Some((ended, status))) if ended == group => {
                has_ended = true;
                let _ = socket.write_all(&Message::Ended(status.as_raw()).encode());
            }
            Ok(Some(_)) | Err(Errno::INTR) => {}
            // Whoever started `prose` has the system fetch what ends, and nobody learns how the program did.
            Err(_) if !has_ended => exit(1),
            _ => thread::sleep(Duration::from_millis(5)),
        }
    }
}

/// Starts what has to run beside the program. Gives what takes the standard input of the program.
fn prepare(socket: &UnixStream) -> io::Result<Sender<ChildStdin>> {
    #[cfg(target_os = "linux")]
    {
        // Any number will do. An old system that cannot do it ends what stays in the group.
        let _ = rustix::process::set_child_subreaper(Some(Pid::INIT));
    }
    let (stdin, takes_stdin) = channel();
    let (prompt, takes_prompt) = channel();
    let socket = socket.try_clone()?;
    let builder = |name: &str| thread::Builder::new().name(name.to_owned());
    builder("prompt").spawn(move || write(&takes_stdin, takes_prompt))?;
    builder("lifeline").spawn(move || {
        read(socket, prompt);
        end()
    })?;
    Ok(stdin)
}

/// Writes the prompt to the program. A program that reads nothing of it has closed the pipe, which is no mistake.
fn write(takes_stdin: &Receiver<ChildStdin>, prompt: Receiver<Vec<u8>>) {
    let Ok(mut stdin) = takes_stdin.recv() else { return };
    for part in prompt {
        if stdin.write_all(&part).is_err() {
            return;
        }
    }
}

/// Reads the prompt, and then until nobody holds the other end any more. Who has heard of the end of the program answers with a byte, and this
/// process is done: what the program leaves running, such as a server that it was told to start, goes on. A program that ended since its reader is gone
/// gets no such answer.
fn read(mut socket: UnixStream, prompt: Sender<Vec<u8>>) {
    let mut head = [0; 8];
    if socket.read_exact(&mut head).is_err() {
        return;
    }
    let mut left = u64::from_le_bytes(head);
    // The program sees the end of its input when this is gone.
    let mut prompt = (left > 0).then_some(prompt);
    let mut buffer = vec![0; 64 << 10];
    loop {
        match socket.read(&mut buffer) {
            Ok(0) => return,
            Ok(_) if prompt.is_none() => exit(0),
            Ok(read) => {
                let part = &buffer[..read.min(usize::try_from(left).unwrap_or(usize::MAX))];
                left -= part.len() as u64;
                if let Some(prompt) = &prompt {
                    // It may have closed the pipe.
                    let _ = prompt.send(part.to_vec());
                }
                if part.len() < read {
                    exit(0);
                }
                if left == 0 {
                    prompt = None;
                }
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

/// Ends the program with all it has started, and then this process.
fn end() -> ! {
    let group = loop {
        // It is being started just now. If it cannot be, the other thread ends the process.
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
    // What starts others while it is killed needs more than one round.
    let last = Instant::now() + GRACE;
    while Instant::now() < last && tree.is_running() {
        tree.kill();
        thread::sleep(Duration::from_millis(5));
    }
    exit(0)
}
