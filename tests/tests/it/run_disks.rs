//! Runs whose disk is full, or whose folder cannot be written to, say so and lose nothing (decision 10).
#![cfg(target_os = "linux")]

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use prose_fixture::number;
use prose_fixture::permissions::obey_permissions;
use prose_tests::prose_binary;

use crate::run_crashes::place::Place;

const RUN: [&str; 5] = ["run", "main.prose", "--input", "topic=tides", "--quiet"];

/// The same with the state of the run in files or in a database.
fn run(state: &'static str) -> Vec<&'static str> {
    [&RUN[..], &["--state", state]].concat()
}

/// What is said where only the end of a run could not be kept.
const AT_THE_END: &str = "the program has completed, but its end cannot be recorded: ";

/// What was said to the person.
#[track_caller]
fn stopped(output: &Output) -> String {
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let expected = if stderr.contains(AT_THE_END) { 4 } else { 2 };
    assert_eq!(output.status.code(), Some(expected), "{stderr}");
    assert!(!stderr.contains("panicked"), "{stderr}");
    stderr
}

/// The run goes on to its end, and no agent is asked once more what it has answered.
#[track_caller]
fn check_resumed(place: &Place, mut resume: Command, expected: &Place, said: &[u8], what: &str) {
    let (recorded, before) = (place.recorded(), place.asked());
    let output = resume.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{what}: {stderr}");
    assert_eq!(output.stdout, said, "{what}");
    let after = place.asked();
    for prompt in recorded.iter().filter(|prompt| *prompt != "This one fails") {
        assert_eq!(before.get(prompt), after.get(prompt), "{what}: asked again: {prompt}");
    }
    let left = place.left();
    for (file, text) in expected.left() {
        assert_eq!(left.get(&file), Some(&text), "{what}: {file}");
    }
}

/// A run that nothing stood in the way of, and what it said.
fn undisturbed(state: &'static str) -> (Place, Vec<u8>) {
    let place = Place::with_state(state);
    let output = place.prose(&run(state)).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    (place, output.stdout)
}

/// Processes with a view of the disks of their own, in which a folder can be a disk of any size.
struct Mounts {
    holder: Child,
    disk: PathBuf,
}

impl Mounts {
    fn new(disk: PathBuf) -> Self {
        let mut unshare = Command::new("unshare");
        if !rustix::process::geteuid().is_root() {
            unshare.args(["--user", "--map-root-user"]);
        }
        // It lives until its standard input is closed.
        let mut holder = unshare
            .args(["--mount", "sh", "-c", "echo ready; read -r end"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("`unshare` of util-linux is there");
        let mut ready = String::new();
        BufReader::new(holder.stdout.take().unwrap()).read_line(&mut ready).unwrap();
        assert_eq!(ready, "ready\n", "this system lets nobody mount anything");
        let mounts = Self { holder, disk };
        mounts.mount(&["-t", "tmpfs", "disk"]);
        mounts
    }

    /// A command that sees the disk, in its folder.
    fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new("nsenter");
        command.arg(format!("--target={}", self.holder.id())).arg("--mount");
        if !rustix::process::geteuid().is_root() {
            command.args(["--user", "--preserve-credentials"]);
        }
        command.args(["--", "sh", "-c", "cd -- \"$0\" && exec \"$@\""]).arg(&self.disk).arg(program);
        command
    }

    /// The folder of the disk as other processes see it.
    fn seen(&self) -> PathBuf {
        let root = PathBuf::from(format!("/proc/{}/root", self.holder.id()));
        root.join(self.disk.strip_prefix("/").unwrap())
    }

    #[track_caller]
    fn mount(&self, arguments: &[&str]) {
        assert!(self.command("mount").args(arguments).arg(&self.disk).status().unwrap().success());
    }

    #[track_caller]
    fn resize(&self, bytes: u64) {
        // Named by its source, it keeps none of the options it has: those about users are refused inside a namespace of users.
        self.mount(&["-o", &format!("remount,size={bytes}"), "disk"]);
    }
}

impl Drop for Mounts {
    fn drop(&mut self) {
        drop(self.holder.stdin.take());
        let _ = self.holder.wait();
    }
}

/// What the files below a folder take of a disk that gives room by the page.
fn room(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    entries
        .map(|entry| match entry.metadata().unwrap() {
            found if found.is_dir() => room(&entry.path()),
            found => found.len().div_ceil(4096) * 4096,
        })
        .sum()
}

#[test]
#[ignore = "needs a mount"]
fn a_full_disk_is_told_and_nothing_is_lost_when_there_is_room_again() {
    check_full_disk("filesystem", 11);
}

#[test]
#[ignore = "needs a mount"]
fn a_disk_that_is_full_of_a_database_is_told_and_nothing_is_lost_when_there_is_room_again() {
    // An empty database with its log takes about half of what this one takes in the end.
    check_full_disk("sqlite", 5);
}

/// At least so many of 20 sizes of the disk let the run start. `PROSE_DISK_SIZES` says how many are tried.
#[track_caller]
fn check_full_disk(state: &'static str, least: usize) {
    let sizes = number("PROSE_DISK_SIZES").unwrap_or(20_u64).clamp(1, 20);
    let (expected, said) = undisturbed(state);
    let whole = room(&expected.path().join(".prose"));
    let mut full = 0;
    for part in (0..sizes).map(|size| size * 20 / sizes) {
        let mut place = Place::with_state(state);
        let mounts = Mounts::new(place.path().to_owned());
        place.fill(&mounts.seen());
        place.move_to(mounts.seen());
        mounts.resize(room(place.path()) + whole * part / 20);
        let what = format!("with {part} parts of 20");
        let output = place.complete(mounts.command(prose_binary()), &run(state)).output().unwrap();
        let error = stopped(&output);
        let is_full = ["No space left on device", "database or disk is full"];
        assert!(is_full.iter().any(|text| error.contains(text)), "{what}: {error}");
        mounts.resize(64 << 20);
        let start = run(state);
        let mut arguments = &start[..];
        if place.run_folder().is_none() {
            assert!(error.contains("free disk space and run the program again"), "{what}: {error}");
        } else if place.journal().is_some() {
            full += 1;
            let said_where = error.contains("cannot record the state of the run from ");
            assert!(said_where || error.contains(AT_THE_END), "{what}: {error}");
            assert!(error.contains("recorded results are not lost"), "{what}: {error}");
            assert!(error.contains("help: resume it with `prose resume 2"), "{what}: {error}");
            arguments = &["resume", "--quiet"];
        }
        let resume = place.complete(mounts.command(prose_binary()), arguments);
        check_resumed(&place, resume, &expected, &said, &what);
    }
    assert!(full >= least * sizes as usize / 20, "{full} of {sizes}");
}

#[test]
fn a_folder_that_cannot_be_written_to_is_told_and_nothing_is_lost_when_it_can_be() {
    obey_permissions();
    let (expected, said) = undisturbed("filesystem");
    // By the agent, so that it is always at the same moment: before a binding, and before the memory of an agent.
    for (moment, closed, line) in [
        ("Look at q", "runs/*/bindings", "38"),
        ("Keep the rest", "agents/keeper", "68"),
        // `state.md` is written now and then.
        ("Round 1", "runs/*", ""),
    ] {
        let place = Place::new();
        let agent = place.path().join("agent.sh");
        let script = fs::read_to_string(&agent).unwrap();
        let close = format!("case \"$prompt\" in *\"{moment}\"*) chmod 500 .prose/{closed} ;; esac\n");
        fs::write(&agent, script.replacen("sleep", &format!("{close}sleep"), 1)).unwrap();
        let output = place.prose(&RUN).output().unwrap();
        let error = stopped(&output);
        let place_of_error = format!("cannot record the state of the run from line {line}");
        assert!(error.contains(&place_of_error), "{error}");
        assert!(error.contains("Permission denied"), "{error}");
        assert!(error.contains("runs store their state in `.prose`, which must be writable"), "{error}");
        assert!(error.contains("help: resume it with `prose resume 2"), "{error}");
        fs::write(&agent, script).unwrap();
        let mut open = Command::new("sh");
        open.arg("-c").arg(format!("chmod 700 .prose/{closed}")).current_dir(place.path());
        assert!(open.status().unwrap().success());
        check_resumed(&place, place.prose(&["resume", "--quiet"]), &expected, &said, moment);
    }
}

#[test]
fn the_outputs_of_a_run_whose_end_cannot_be_recorded_are_written() {
    obey_permissions();
    let (expected, said) = undisturbed("filesystem");
    let place = Place::new();
    let agent = place.path().join("agent.sh");
    let script = fs::read_to_string(&agent).unwrap();
    // By the last session: nothing but the end of the run is written afterwards.
    let close = "case \"$prompt\" in *\"Put together\"*) chmod 500 .prose/runs/* ;; esac\n";
    fs::write(&agent, script.replacen("sleep", &format!("{close}sleep"), 1)).unwrap();
    let output = place.prose(&RUN).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{error}");
    assert_eq!(output.stdout, said, "the outputs are written");
    assert!(error.contains(AT_THE_END) && error.contains("Permission denied"), "{error}");
    assert!(error.contains("` records the end without running sessions again"), "{error}");
    fs::write(&agent, script).unwrap();
    let mut open = Command::new("sh");
    open.arg("-c").arg("chmod 700 .prose/runs/*").current_dir(place.path());
    assert!(open.status().unwrap().success());
    check_resumed(&place, place.prose(&["resume", "--quiet"]), &expected, &said, "at the end");
}
