//! A terminal with a person who answers.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// Runs a command at a terminal. `keys` are typed in their order, each when the terminal shows its text. Gives the exit status and all that the
/// terminal showed.
pub(crate) fn answered(command: &mut Command, keys: &[(&str, &str)]) -> (i32, String) {
    answered_after("", command, keys)
}

/// The same after keys that are typed before the command starts.
pub(crate) fn answered_after(
    ahead: &str,
    command: &mut Command,
    keys: &[(&str, impl AsRef<[u8]>)],
) -> (i32, String) {
    let keys = keys.iter().map(|(text, typed)| (*text, || typed.as_ref().to_vec()));
    play(ahead, command, keys, |shown, text| shown.ends_with(text.as_bytes()).then_some(shown.len()))
}

/// The same with keys that are found out when the terminal shows their text, where something else may be done first. Other lines may come after the text.
pub(crate) fn played<'a>(
    command: &mut Command,
    keys: impl IntoIterator<Item = (&'a str, impl FnOnce() -> String)>,
) -> (i32, String) {
    let keys = keys.into_iter().map(|(text, typed)| (text, || typed().into_bytes()));
    let end_of = |shown: &[u8], text: &str| {
        let start = shown.windows(text.len()).position(|part| part == text.as_bytes())?;
        Some(start + text.len())
    };
    play("", command, keys, end_of)
}

/// Starts a command at a terminal, in which something was typed before. Gives the other side of the terminal.
fn at_screen(ahead: &str, command: &mut Command) -> (File, Child) {
    let screen = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&screen).unwrap();
    unlockpt(&screen).unwrap();
    let name = ptsname(&screen, Vec::new()).unwrap();
    let line = || rustix::fs::open(&name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty());
    let (stdin, stderr) = (line().unwrap(), line().unwrap());
    command.stdin(Stdio::from(File::from(stdin))).stderr(Stdio::from(File::from(stderr)));
    // What is tested is what is written in lines; the screen of a run has tests of its own.
    if command.get_envs().all(|(name, _)| name != "TERM") {
        command.env("TERM", "dumb");
    }
    let mut screen = File::from(screen);
    screen.write_all(ahead.as_bytes()).unwrap();
    let child = command.stdout(Stdio::null()).spawn().unwrap();
    // The command holds its own ends; those of this process would keep the screen from ending.
    command.stdin(Stdio::null()).stderr(Stdio::null());
    (screen, child)
}

/// `end_of` gives where in what is shown the text of a key ends, once it is shown.
fn play<'a>(
    ahead: &str,
    command: &mut Command,
    keys: impl IntoIterator<Item = (&'a str, impl FnOnce() -> Vec<u8>)>,
    end_of: impl Fn(&[u8], &str) -> Option<usize>,
) -> (i32, String) {
    let (mut screen, mut child) = at_screen(ahead, command);
    let mut keys = keys.into_iter();
    let mut next = keys.next();
    let mut shown = Vec::new();
    let mut seen = 0;
    let mut buffer = [0; 4096];
    // The end of the other side is an error on Linux.
    while let Ok(count @ 1..) = screen.read(&mut buffer) {
        shown.extend_from_slice(&buffer[..count]);
        while let Some(end) = next.as_ref().and_then(|(text, _)| end_of(&shown[seen..], text)) {
            let (_, typed) = next.take().unwrap();
            next = keys.next();
            seen += end;
            screen.write_all(&typed()).unwrap();
        }
    }
    let status = child.wait().unwrap().code().unwrap();
    let shown = String::from_utf8_lossy(&shown).replace("\r\n", "\n");
    assert_eq!(next.map(|(text, _)| text), None, "{shown}");
    (status, shown)
}

/// Runs a command at a terminal that is closed as soon as it shows a text. Gives the exit status.
#[cfg(target_os = "linux")]
pub(crate) fn closed_at(command: &mut Command, text: &str) -> i32 {
    let mut command = controlled(command);
    // A terminal on which lines move.
    let (mut screen, mut child) = at_screen("", command.env("TERM", "xterm"));
    let mut shown = Vec::new();
    let mut buffer = [0; 4096];
    while !String::from_utf8_lossy(&shown).contains(text) {
        let count = screen.read(&mut buffer).unwrap();
        shown.extend_from_slice(&buffer[..count]);
    }
    drop(screen);
    child.wait().unwrap().code().unwrap()
}

/// The command with its folder and its environment, started by another program with these arguments before it.
#[cfg(target_os = "linux")]
pub(crate) fn started_by(starter: &[&str], command: &Command) -> Command {
    let mut outer = Command::new(starter[0]);
    outer.args(&starter[1..]).arg(command.get_program()).args(command.get_args());
    outer.current_dir(command.get_current_dir().unwrap());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => outer.env(name, value),
            None => outer.env_remove(name),
        };
    }
    outer
}

/// The command as the leader of a session with that terminal, so that Ctrl-C reaches it.
#[cfg(target_os = "linux")]
pub(crate) fn controlled(command: &Command) -> Command {
    started_by(&["setsid", "--ctty"], command)
}
