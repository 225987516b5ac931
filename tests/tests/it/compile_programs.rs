//! Programs run as before in their canonical form: the same sessions are asked the same, and the outputs are the same (R127).

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use prose_tests::{prose_binary, repository, sound_official_programs};
use serde_json::{Map, Value};

/// One program starts some twenty thousand, of which this many show enough.
const MAX_SESSIONS: &str = "300";

/// The exit status of a run that the limit has stopped.
const INTERRUPTED: Option<i32> = Some(3);

fn prose(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(prose_binary())
        .current_dir(folder)
        .args(arguments)
        .env("HOME", folder.join("home"))
        .env("PROSE_OFFLINE", "1")
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// Answers that depend on what is asked and not on where: places count statements, which are others in the canonical form.
const SCRIPT: &str = include_str!("../../data/answers.toml");

/// A value for each input that a program declares.
fn inputs(text: &str) -> Value {
    let declared = text.lines().filter_map(|line| line.trim().strip_prefix("input ")?.split_once(':'));
    let inputs: Map<String, Value> =
        declared.map(|(name, _)| (name.trim().to_owned(), format!("some {name}").into())).collect();
    inputs.into()
}

/// What a run did: each session with what it was told and what it said, in an order of their own as some run at once, and how it ended.
#[derive(Debug, PartialEq, Eq)]
struct Ran {
    sessions: Vec<String>,
    status: Option<i32>,
    outputs: Vec<String>,
}

fn ran(folder: &Path, name: &str) -> Ran {
    let script =
        ["--script", "script.toml", "--max-sessions", MAX_SESSIONS, "--allow-unenforced-permissions"];
    let run = prose(
        folder,
        &[&["run", name, "--inputs", "inputs.json", "--json", "--quiet"], &script[..]].concat(),
    );
    let text = String::from_utf8(run.stdout).unwrap();
    let (mut sessions, mut outputs) = (Vec::new(), Vec::new());
    for line in text.lines() {
        let event: Value = serde_json::from_str(line).unwrap();
        match event["event"].as_str().unwrap() {
            "session-started" => {
                let task = &event["task"];
                let told = ["agent", "task", "prompt", "system", "model", "skills", "permissions", "retries"];
                let told: Vec<String> = told.iter().map(|part| task[part].to_string()).collect();
                let told = told.join(" | ");
                // The mark around values depends on the place.
                let told = match task["mark"].as_str() {
                    Some(mark) => told.replace(mark, "MARK"),
                    None => told,
                };
                sessions.push(format!("{told} -> {}", task["binding"]["path"]));
            }
            "run-ended" | "program-ended" | "output-given" => {
                outputs.push(format!("{} {} {}", event["name"], event["value"], event["outputs"]));
            }
            _ => {}
        }
    }
    // What was under way when a run was stopped depends on which of several branches were first.
    if run.status.code() == INTERRUPTED {
        sessions.clear();
        outputs.clear();
    }
    sessions.sort();
    outputs.sort();
    for kept in [".prose", "home"] {
        let _ = fs::remove_dir_all(folder.join(kept));
    }
    Ran { sessions, status: run.status.code(), outputs }
}

/// The codes of what is wrong, sorted. What `ignore` comments hide is counted among it, as they go with the others.
fn findings(folder: &Path, name: &str) -> Vec<String> {
    let run = prose(folder, &["check", name, "--no-config", "--offline", "--output-format", "concise"]);
    let text = String::from_utf8(run.stdout).unwrap();
    let code = |line: &str| Some(line.split_once('[')?.1.split_once(']')?.0.to_owned());
    let mut codes: Vec<String> = text.lines().filter_map(code).collect();
    codes.sort();
    codes
}

#[track_caller]
fn check(programs: &[(String, String)]) {
    let folder = prose_fixture::tempdir().unwrap();
    for (name, text) in programs {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let (mut wrong, mut sessions) = (Vec::new(), 0);
    for (name, text) in programs {
        let compiled = prose(folder.path(), &["compile", name, "--offline"]);
        assert_eq!(compiled.status.code(), Some(0), "{name}: {}", String::from_utf8_lossy(&compiled.stderr));
        let compiled = String::from_utf8(compiled.stdout).unwrap();
        assert_eq!(prose_format::format(&compiled), compiled, "{name} is not formatted");
        assert_eq!(prose_format::canonical(&compiled), compiled, "{name} is not canonical");
        fs::write(folder.path().join("script.toml"), SCRIPT).unwrap();
        fs::write(folder.path().join("inputs.json"), inputs(text).to_string()).unwrap();
        let before = (findings(folder.path(), name), ran(folder.path(), name));
        // It stands where the program stood, which may be imported by others or import them.
        fs::write(folder.path().join(name), &compiled).unwrap();
        let after = (findings(folder.path(), name), ran(folder.path(), name));
        fs::write(folder.path().join(name), text).unwrap();
        if before.0 != after.0 {
            wrong.push(format!("{name}: other findings: {:?} and {:?}", before.0, after.0));
        }
        if before.1 != after.1 {
            let lines = |ran: &Ran| -> Vec<String> {
                let ended = format!("status {:?}, {} sessions", ran.status, ran.sessions.len());
                ran.sessions.iter().chain(&ran.outputs).cloned().chain([ended]).collect()
            };
            let (old, new) = (lines(&before.1), lines(&after.1));
            let gone: Vec<_> = old.iter().filter(|line| !new.contains(line)).collect();
            let come: Vec<_> = new.iter().filter(|line| !old.contains(line)).collect();
            wrong.push(format!("{name}: another run: without {gone:#?}, with {come:#?}"));
        }
        sessions += before.1.sessions.len();
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(sessions > 2 * programs.len(), "only {sessions} sessions were started");
}

#[test]
fn the_examples_run_as_before() {
    let folder = repository().join("examples");
    let mut programs = Vec::new();
    let mut folders = vec![folder.clone()];
    while let Some(at) = folders.pop() {
        for entry in fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "prose") {
                let name = path.strip_prefix(&folder).unwrap().to_string_lossy().replace('\\', "/");
                programs.push((name, fs::read_to_string(path).unwrap()));
            }
        }
    }
    // It is wrong on purpose.
    programs.retain(|(name, _)| name != "mistakes.prose");
    assert!(programs.len() > 5);
    check(&programs);
}

/// What is taken apart or moved on the way to the canonical form, in the places where that could change something.
const MOVED: &[&str] = &[
    // Chains as branches: their results are numbered as before, and those with a name are the last ones.
    r#"
parallel:
  session "one" -> session "two"
    model: opus
  y = session "three" -> session "four" -> session "five"
  session "six"
output r = session "{y}" -> session "list"
"#,
    r#"
try:
  parallel ("any", count: 1, on-fail: "ignore"):
    a = session "one" -> session "list"
    do:
      session "two" -> session "three"
    session "four" -> session "five"
      retry: 2
catch as e:
  session "{e.message}"
parallel for item in ["x", "y"]:
  session "of {item}" -> session "again {item}"
"#,
    // Definitions in bodies.
    r#"
let topic = "tides"
if **the first part**:
  block inner(a):
    session: helper
      prompt: "in {a} {topic}"
    output session "done {a}" -> session "so"
  agent helper:
    model: opus
    prompt: "You help"
  let x = do inner(1)
  session "{x}"
else:
  session "else"
let y = do inner(2)
repeat 2 as i:
  block of_loop:
    session "of {i} {y}"
  do of_loop
  session "round {i}"
output z = do inner(y)
"#,
    r#"
block outer(a):
  let local = session "local {a}"
  block deep(b):
    session "deep {b}" -> session "deeper {b}"
  block reads:
    session "reads {local}"
  agent told:
    prompt: "told {local}"
  do reads
  session: told
  do deep(a)
let r = do outer("x")
session "{r}"
do:
  agent late:
    prompt: "late {r}"
  session: late
"#,
    r#"
block a:
  session "a" -> session "b"
block c:
  do:
    block d:
      session "d"
    do d
  block e:
    block f:
      session "f"
    session "e"
    do f
let x = do a
let y = do c
let z = do e
output all = session "{x} {y} {z}"
"#,
];

#[test]
fn what_is_moved_runs_as_before() {
    let programs: Vec<_> = MOVED
        .iter()
        .enumerate()
        .map(|(number, text)| (format!("moved-{number}.prose"), text.trim_start().to_owned()))
        .collect();
    check(&programs);
}

#[test]
#[ignore = "needs the official programs, see tests/fetch-official-programs"]
fn the_official_programs_run_as_before() {
    check(&sound_official_programs());
}
