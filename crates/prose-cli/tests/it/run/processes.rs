//! Agents end with `prose`, and do without what the system has none of.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Run, Workspace};
use crate::run::with_agent;

fn until(what: impl Fn() -> bool) {
    let start = Instant::now();
    while !what() {
        assert!(start.elapsed() < Duration::from_secs(120), "it takes too long");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Starts the program and waits until its agent is ready.
fn ready(workspace: &Workspace, arguments: &[&str]) -> Child {
    let mut command = workspace.command();
    command.args(["run", "main.prose", "-q"]).args(arguments);
    // A group of its own, as a shell gives it.
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let child = command.spawn().expect("the binary starts");
    until(|| workspace.path("ready").exists());
    child
}

fn kill(arguments: &[&str]) {
    let status = Command::new("kill").args(arguments).status();
    assert!(status.is_ok_and(|status| status.success()));
}

/// Whether a process that wrote its number to a file runs.
fn runs(workspace: &Workspace, file: &str) -> bool {
    let number = workspace.read(file);
    let state = Command::new("ps").args(["-o", "stat=", "-p", number.trim()]).output().expect("`ps` starts");
    let state = String::from_utf8_lossy(&state.stdout);
    // What has ended and is not yet fetched by its parent does not run.
    !state.trim().is_empty() && !state.trim().starts_with('Z')
}

const FAMILY: &str = "echo $$ > own; sh -c 'echo $$ > child; sleep 600 & echo $! > grandchild; wait' &
until [ -s grandchild ]; do sleep 0.01; done; : > ready; wait";

#[test]
fn agents_end_when_prose_is_killed() {
    let workspace = with_agent("session \"x\"\n", FAMILY);
    let mut child = ready(&workspace, &[]);
    child.kill().expect("it is ours");
    child.wait().expect("it ends");
    until(|| ["own", "child", "grandchild"].iter().all(|file| !runs(&workspace, file)));
}

#[test]
fn agents_that_do_not_end_are_killed_when_prose_was_killed() {
    let stubborn = "trap '' TERM; echo $$ > own; : > ready; while :; do sleep 0.1; done";
    let workspace = with_agent("session \"x\"\n", stubborn);
    let mut child = ready(&workspace, &[]);
    child.kill().expect("it is ours");
    child.wait().expect("it ends");
    let start = Instant::now();
    until(|| !runs(&workspace, "own"));
    assert!(start.elapsed() > Duration::from_secs(1), "it had no time to end");
}

#[cfg(target_os = "linux")]
#[test]
fn agents_that_write_when_prose_is_killed_leave_nothing_running() {
    // The agent is ended by its broken pipe, and not by its supervisor.
    let script = "setsid sh -c 'echo $$ > child; : > ready; sleep 600' & echo $$ > own; exec yes";
    let workspace = with_agent("session \"x\"\n", script);
    let mut child = ready(&workspace, &[]);
    child.kill().expect("it is ours");
    child.wait().expect("it ends");
    until(|| !runs(&workspace, "own") && !runs(&workspace, "child"));
}

/// Stops a run whose agent takes a while to clean up. Nothing may be left when the run is over.
#[track_caller]
fn cleans_up(stop: impl FnOnce(&Child), program: &str, arguments: &[&str], status: i32) {
    let script = "trap 'sleep 0.5; : > cleaned; exit' TERM; trap ': > interrupted' INT HUP
        sleep 600 & echo $! > own; : > ready; wait";
    let workspace = with_agent(program, script);
    let child = ready(&workspace, arguments);
    stop(&child);
    let run = Run::from(child.wait_with_output().expect("it ends"));
    assert_eq!(run.status, status, "{run:?}");
    assert!(workspace.path("cleaned").exists(), "{run:?}");
    assert!(!workspace.path("interrupted").exists(), "the signal went past `prose`");
    assert!(!runs(&workspace, "own"));
}

#[test]
fn agents_have_time_to_end_after_a_signal() {
    for signal in ["-INT", "-TERM", "-HUP"] {
        // As a terminal does it, to all of the group.
        let stop = |child: &Child| kill(&[signal, "--", &format!("-{}", child.id())]);
        cleans_up(stop, "session \"x\"\n", &[], 3);
    }
}

#[test]
fn agents_have_time_to_end_after_their_time() {
    cleans_up(|_| {}, "session \"x\"\n", &["--timeout", "10s"], 3);
    cleans_up(|_| {}, "session \"x\"\n  timeout: 10s\n", &[], 1);
}

#[test]
fn a_second_signal_kills_agents() {
    // No program is being started when the signal comes: some shells lose it then.
    let script =
        "trap ': > asked' TERM; echo $$ > own; sleep 600 & : > ready; wait; while :; do sleep 0.1; done";
    let ended_before_its_time = || {
        let workspace = with_agent("session \"x\"\n", script);
        let child = ready(&workspace, &[]);
        let number = child.id().to_string();
        let start = Instant::now();
        kill(&["-INT", &number]);
        until(|| workspace.path("asked").exists());
        kill(&["-INT", &number]);
        assert_eq!(Run::from(child.wait_with_output().expect("it ends")).status, 3);
        until(|| !runs(&workspace, "own"));
        start.elapsed() < Duration::from_secs(2)
    };
    // After one signal it is killed after two seconds. On a busy machine, the rest may take as long.
    assert!((0..20).any(|_| ended_before_its_time()), "the second signal has no effect");
}

const EIGHT: &str = "parallel for x in [1, 2, 3, 4, 5, 6, 7, 8]:\n  session \"{x}\"\n";

#[track_caller]
fn goes_on_with_fewer(run: &Run, reason: &str) {
    assert_eq!(run.status, 0, "{run:?}");
    let warnings: Vec<&str> = run.stderr.lines().filter(|line| line.contains("has no resources")).collect();
    let [warning] = warnings[..] else { panic!("{run:?}") };
    assert!(warning.contains(reason) && warning.contains(" fewer parallel sessions"), "{warning}");
}

#[test]
fn a_run_with_too_few_file_descriptors_goes_on_with_fewer_sessions() {
    let workspace = with_agent(EIGHT, "cat > /dev/null; sleep 0.3; echo done");
    let prose = env!("CARGO_BIN_EXE_prose");
    let mut command = Command::new("sh");
    let script = format!("ulimit -n 40; exec {prose} run main.prose -q --trust");
    command.arg("-c").arg(script).current_dir(workspace.path("")).stdin(Stdio::null());
    command.env("XDG_STATE_HOME", workspace.path("no-home"));
    goes_on_with_fewer(&Run::of(&mut command), "Too many open files");
}

/// Limits of processes hold only for others than root.
#[cfg(target_os = "linux")]
#[test]
fn a_run_with_too_few_processes_goes_on_with_fewer_sessions() {
    let is_root = rustix::process::getuid().is_root();
    if !is_root || Command::new("setpriv").arg("--version").output().is_err() {
        return;
    }
    // The agent itself needs no other process.
    let workspace = with_agent(EIGHT, "echo done; exec sleep 0.3");
    // A number that nobody else has processes of.
    const NOBODY: u32 = 2_063_597_568;
    let root = workspace.path("");
    for name in ["", "main.prose", "prose.toml", "agent.sh"] {
        std::os::unix::fs::chown(workspace.path(name), Some(NOBODY), None).expect("root may");
    }
    let prose = root.join("prose");
    fs::copy(env!("CARGO_BIN_EXE_prose"), &prose).expect("the binary can be copied");
    fs::set_permissions(&prose, fs::Permissions::from_mode(0o755)).expect("it is ours");
    let mut command = Command::new("setpriv");
    command.args([
        &format!("--reuid={NOBODY}"),
        "--clear-groups",
        "--inh-caps=-all",
        "prlimit",
        "--nproc=20",
    ]);
    command.args(["./prose", "run", "main.prose", "-q", "--trust"]);
    command.current_dir(root).stdin(Stdio::null()).env("HOME", workspace.path("no-home"));
    command.env_remove("XDG_STATE_HOME");
    goes_on_with_fewer(&Run::of(&mut command), "Resource temporarily unavailable");
}
