//! Official programs run to their end, without any model.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use prose_tests::{official_programs, prose_binary, sound_official_programs};
use serde_json::{Map, Value};
use tempfile::TempDir;

/// Starts some twenty thousand sessions, of which this many show enough.
const ENDLESS: &str = "28-gas-town.prose";
const MAX_SESSIONS: &str = "300";

/// No program takes longer; most take a part of a second.
const MAX_TIME: Duration = Duration::from_secs(120);

/// The exit status of a run that a limit has stopped.
const INTERRUPTED: i32 = 3;

struct Finished {
    status: i32,
    stdout: String,
    stderr: String,
}

fn prose(folder: &Path, arguments: &[&str]) -> Finished {
    let out = prose_fixture::tempdir().expect("a temporary folder can be made");
    let file = |name: &str| std::fs::File::create(out.path().join(name)).expect("a file can be made");
    let mut child = Command::new(prose_binary())
        .current_dir(folder)
        .args(arguments)
        .env("HOME", folder.join("home"))
        .env("PROSE_OFFLINE", "1")
        .stdin(Stdio::null())
        .stdout(file("stdout"))
        .stderr(file("stderr"))
        .spawn()
        .expect("the binary starts");
    let started = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("the binary can be waited for") {
            break status;
        }
        if started.elapsed() > MAX_TIME {
            child.kill().expect("it is ours");
            child.wait().expect("it ends");
            panic!("{arguments:?} takes longer than {MAX_TIME:?}");
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let read = |name: &str| {
        String::from_utf8_lossy(&std::fs::read(out.path().join(name)).expect("it was written")).into_owned()
    };
    Finished {
        status: status.code().expect("no signal ends it"),
        stdout: read("stdout"),
        stderr: read("stderr"),
    }
}

/// A folder with all programs, as they may import each other.
fn workspace(programs: &[(String, String)]) -> TempDir {
    let folder = prose_fixture::tempdir().expect("a temporary folder can be made");
    for (name, text) in programs {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("it is below the folder")).expect("folders can be made");
        std::fs::write(path, text).expect("files can be written");
    }
    folder
}

/// A value for each input that a program declares.
fn inputs(text: &str) -> Value {
    let declared = text.lines().filter_map(|line| line.trim().strip_prefix("input ")?.split_once(':'));
    let inputs: Map<String, Value> =
        declared.map(|(name, _)| (name.trim().to_owned(), format!("some {name}").into())).collect();
    inputs.into()
}

/// Programs that end with an error with the answers that are made up, and the error: mostly a `throw` of their own.
const FAILING: &[(&str, &str)] = &[
    ("examples/22-error-handling.prose", "Validation failed: missing required fields"),
    // Its `env(…)` is no call that the language has.
    ("examples/46-run-endpoint-ux-test-fast.prose", "there is no program `env` to call"),
    ("examples/47-language-self-improvement.prose", "No proposals approved - halting gracefully"),
    ("examples/48-habit-miner.prose", "User cancelled - no sources selected"),
];

/// Whether a program ends as it should.
fn check(name: &str, run: &Finished) -> Result<(), String> {
    let failing = FAILING.iter().find(|(failing, _)| *failing == name);
    let (status, said) = match failing {
        Some((_, error)) => (1, *error),
        None if name.ends_with(ENDLESS) => (INTERRUPTED, "the limit of 300 sessions is reached"),
        None => (0, ""),
    };
    match run.status == status && run.stderr.contains(said) && !run.stderr.contains("panicked") {
        true => Ok(()),
        false => Err(format!("{name} ends with status {}: {}", run.status, run.stderr)),
    }
}

#[test]
#[ignore = "needs the official programs, see tests/fetch-official-programs"]
fn official_programs_run_to_their_end_and_can_be_read_back() {
    official_programs();
    let programs = sound_official_programs();
    let folder = workspace(&programs);
    let mut wrong = Vec::new();
    for (name, text) in &programs {
        let file = folder.path().join("inputs.json");
        std::fs::write(&file, inputs(text).to_string()).expect("files can be written");
        let limit: &[&str] = if name.ends_with(ENDLESS) { &["--max-sessions", MAX_SESSIONS] } else { &[] };
        // The last narrated line says how it ended; in brackets, as the reader of narrations takes it.
        let arguments = [&["run", name, "--inputs", "inputs.json", "--narrate", "brackets"], limit].concat();
        let run = prose(folder.path(), &arguments);
        if let Err(error) = check(name, &run) {
            wrong.push(error);
            continue;
        }
        let narrated = prose_narration::transcript::read(&run.stdout);
        if narrated.is_complete != (run.status == 0) {
            wrong.push(format!("the narration of {name} does not tell its end"));
        }
        if let Err(error) = read_back(folder.path()) {
            wrong.push(format!("{name}: {error}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Reads the `state.md` of the only run as a program, and removes the run.
fn read_back(folder: &Path) -> Result<(), String> {
    let runs = folder.join(".prose/runs");
    let run = std::fs::read_dir(&runs).map_err(|error| error.to_string())?.flatten().next();
    let run = run.ok_or("there is no run")?.path();
    let state = std::fs::read_to_string(run.join("state.md")).map_err(|error| error.to_string())?;
    let trace = trace(&state).ok_or_else(|| format!("state.md has no trace:\n{state}"))?;
    let parsed = prose_syntax::parse(&trace);
    std::fs::remove_dir_all(&run).map_err(|error| error.to_string())?;
    let errors: Vec<_> =
        parsed.diagnostics().iter().filter(|found| found.code.as_str().starts_with('E')).collect();
    if errors.is_empty() { Ok(()) } else { Err(format!("state.md has errors: {errors:?}\n{trace}")) }
}

/// The program in a `state.md`, with its comments.
fn trace(state: &str) -> Option<String> {
    let mut lines = state.lines().skip_while(|line| !(line.starts_with("```") && line.ends_with("prose")));
    let fence = lines.next()?.trim_end_matches("prose");
    Some(lines.take_while(|line| *line != fence).flat_map(|line| [line, "\n"]).collect())
}
