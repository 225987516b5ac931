//! Queries the machine: programs, environment variables, folders.

use std::env;
use std::io::{self, Read};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use prose_harness::mcp::is_installed;

/// The result of `--version`.
pub(super) enum Answer {
    /// The first line of the output.
    Version(String),
    NotFound,
    /// The reason why there is no version, as the rest of a sentence about the program.
    Failed(String),
}

/// Agents with a megabyte of JavaScript need a second or two to start on a slow machine.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Starts a program on `PATH` with `--version`.
pub(super) fn asked_for_version(program: &str) -> Answer {
    if !is_installed(program, Path::new(".")) {
        return Answer::NotFound;
    }
    let (status, said) = match run(program, &["--version"]) {
        Ok(finished) => finished,
        Err(reason) => return Answer::Failed(reason),
    };
    if !status.success() {
        return Answer::Failed(format!("exits with {status}"));
    }
    match said.lines().map(str::trim).find(|line| !line.is_empty()) {
        Some(line) => Answer::Version(line.to_owned()),
        None => Answer::Failed("prints nothing".to_owned()),
    }
}

/// Whether a program on `PATH` exits with 0; `None` if it does not run to its end.
pub(super) fn succeeds(program: &str, arguments: &[&str]) -> Option<bool> {
    run(program, arguments).ok().map(|(status, _)| status.success())
}

/// Runs a program and returns its output, or why it does not end, as the rest of a sentence about the program.
fn run(program: &str, arguments: &[&str]) -> Result<(ExitStatus, String), String> {
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("cannot be started: {error}"))?;
    let stdout = child.stdout.take();
    // A thread reads, so that a program that never exits cannot block.
    let reader = std::thread::spawn(move || {
        let mut said = Vec::new();
        // Unreadable output counts as empty.
        let _ = stdout.map(|stdout| stdout.take(64 * 1024).read_to_end(&mut said));
        said
    });
    let since = Instant::now();
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if since.elapsed() < TIMEOUT => std::thread::sleep(Duration::from_millis(10)),
            Ok(None) => {
                // A process that cannot be killed has already exited.
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("does not respond within {} seconds", TIMEOUT.as_secs()));
            }
            Err(error) => return Err(format!("has an unknown exit status: {error}")),
        }
    };
    let said = String::from_utf8_lossy(&reader.join().unwrap_or_default()).into_owned();
    Ok((status, said))
}

/// Whether an environment variable is set; a trailing `*` is a wildcard.
pub(super) fn is_set(name: &str) -> bool {
    match name.strip_suffix('*') {
        Some(start) => env::vars_os().any(|(name, _)| name.to_string_lossy().starts_with(start)),
        None => env::var_os(name).is_some(),
    }
}

/// Writes a file into a folder or its nearest existing parent, and removes it again.
pub(super) fn written_to(folder: &Path) -> io::Result<()> {
    let there = folder.ancestors().find(|folder| folder.exists());
    tempfile::tempfile_in(there.unwrap_or(folder)).map(drop)
}
