//! A terminal with a person who answers.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Command, Stdio};

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// Runs a command at a terminal. `keys` are typed in their order, each when the terminal shows its text. Gives the exit status and all that the
/// terminal showed.
pub(crate) fn answered(command: &mut Command, keys: &[(&str, &str)]) -> (i32, String) {
    let keys = keys.iter().map(|(text, typed)| (*text, move || (*typed).to_owned()));
    play(command, keys, |shown, text| shown.ends_with(text.as_bytes()))
}

/// The same with keys that are found out when the terminal shows their text, where something else may be done first. Other lines may come after the text.
pub(crate) fn played<'a>(
    command: &mut Command,
    keys: impl IntoIterator<Item = (&'a str, impl FnOnce() -> String)>,
) -> (i32, String) {
    play(command, keys, |shown, text| String::from_utf8_lossy(shown).contains(text))
}

fn play<'a>(
    command: &mut Command,
    keys: impl IntoIterator<Item = (&'a str, impl FnOnce() -> String)>,
    shows: impl Fn(&[u8], &str) -> bool,
) -> (i32, String) {
    let screen = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&screen).unwrap();
    unlockpt(&screen).unwrap();
    let name = ptsname(&screen, Vec::new()).unwrap();
    let line = || rustix::fs::open(&name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty());
    let (stdin, stderr) = (line().unwrap(), line().unwrap());
    command.stdin(Stdio::from(File::from(stdin))).stderr(Stdio::from(File::from(stderr)));
    let mut child = command.stdout(Stdio::null()).spawn().unwrap();
    // The command holds its own ends; those of this process would keep the screen from ending.
    command.stdin(Stdio::null()).stderr(Stdio::null());
    let mut screen = File::from(screen);
    let mut keys = keys.into_iter();
    let mut next = keys.next();
    let mut shown = Vec::new();
    let mut seen = 0;
    let mut buffer = [0; 4096];
    // The end of the other side is an error on Linux.
    while let Ok(count @ 1..) = screen.read(&mut buffer) {
        shown.extend_from_slice(&buffer[..count]);
        if let Some((_, typed)) = next.take_if(|(text, _)| shows(&shown[seen..], text)) {
            next = keys.next();
            seen = shown.len();
            screen.write_all(typed().as_bytes()).unwrap();
        }
    }
    let status = child.wait().unwrap().code().unwrap();
    let shown = String::from_utf8(shown).unwrap().replace("\r\n", "\n");
    assert_eq!(next.map(|(text, _)| text), None, "{shown}");
    (status, shown)
}

/// The command as the leader of a session with that terminal, so that Ctrl-C reaches it.
#[cfg(target_os = "linux")]
pub(crate) fn controlled(command: &Command) -> Command {
    let mut leader = Command::new("setsid");
    leader.arg("--ctty").arg(command.get_program()).args(command.get_args());
    leader.current_dir(command.get_current_dir().unwrap());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => leader.env(name, value),
            None => leader.env_remove(name),
        };
    }
    leader
}
