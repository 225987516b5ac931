//! Runs that are killed at any moment go on without losing or repeating what was recorded (decision 10).
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use prose_tests::prose_binary;
use serde_json::Value;
use tempfile::TempDir;

/// A program with every kind of statement, whose sessions are all asked something of their own.
const PROGRAM: &str = r#"use "./inner.prose" as inner

agent keeper:
  prompt: "You remember."
  persist: project

agent worker:
  prompt: "You work."
  persist: true

input topic: "What it is about"

block deep(n):
  let v = session "Depth {n}"
  if n > 0:
    do deep(n - 1)
  output v

let a = session "First on {topic}"

parallel:
  b = session "Branch b"
  c = session: worker
    prompt: "Branch c"
  do:
    let d = session "Branch d, first part"
    session "Branch d, second part"
      context: d

resume: keeper
  prompt: "Keep what was found"
  context: { a, b, c }

loop until **all is done in the loop** (max: 3) as i:
  session "Round {i}"

parallel for x in ["p", "q", "r"]:
  let y = session "Look at {x}"
  session "Look again at {x}"
    context: y

let r = do deep(3)
let s = inner(subject: "tides")

try:
  session "This one fails"
    retry: 1
catch as e:
  session "After the failure"
finally:
  session "Cleaning up"

choice **which way to go**:
  option "left":
    session "Going left"
  option "right":
    session "Going right"

let t = ["k", "l", "m"]
  | map:
    session "Change {item}"
  | pmap:
    session "Change again {item}"

repeat 2 as k:
  let z = session "Repeated {k}" -> session "Repeated, second {k}"

resume: keeper
  prompt: "Keep the rest"

output final = session "Put together"
  context: [a, b, c, r, s, t]
"#;

const INNER: &str = r#"input subject: "What to look into"

let one = session "Inside, first on {subject}"
parallel:
  two = session "Inside, branch two"
  three = session "Inside, branch three"
output found = session "Inside, last"
  context: { one, two, three }
"#;

/// An agent that says always the same to the same, and writes down that it was asked.
const AGENT: &str = r#"#!/bin/sh
prompt=$(cat)
echo "$prompt" | head -n 1 >> "$PROSE_TEST_LOG"
sleep 0.00$(( $$ % 10 ))
case "$prompt" in
  *"This one fails"*) echo "it broke" >&2; exit 1 ;;
  *VERDICT:*) echo "VERDICT: no"; echo "REASON: not yet" ;;
  *CHOICE:*) echo "CHOICE: 2"; echo "REASON: why not" ;;
  *) echo "Answer $(echo "$prompt" | head -n 3 | cksum)" ;;
esac
"#;

struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        write("main.prose", PROGRAM);
        write("inner.prose", INNER);
        write("agent.sh", AGENT);
        write("log", "");
        write(
            "prose.toml",
            "[run]\nharness = \"command\"\ncommand = [\"./agent.sh\"]\nenvironment = [\"PROSE_TEST_LOG\"]\nbackoff-ms = 1\n",
        );
        let agent = folder.path().join("agent.sh");
        fs::set_permissions(&agent, fs::Permissions::from_mode(0o755)).unwrap();
        Self { folder }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn prose(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(prose_binary());
        command
            .current_dir(self.path())
            .args(arguments)
            .env("PROSE_TEST_LOG", self.path().join("log"))
            .env("HOME", self.path().join("home"))
            .stdin(Stdio::null());
        command
    }

    fn start(&self) -> Child {
        let mut command = self.prose(&["run", "main.prose", "--input", "topic=tides", "--quiet"]);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    #[track_caller]
    fn resume(&self) -> Output {
        let output = self.prose(&["resume", "--quiet"]).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{stderr}");
        output
    }

    /// How often each prompt was asked.
    fn asked(&self) -> HashMap<String, usize> {
        let mut asked = HashMap::new();
        for line in fs::read_to_string(self.path().join("log")).unwrap().lines() {
            *asked.entry(line.to_owned()).or_default() += 1;
        }
        asked
    }

    /// The first lines of the prompts whose outcome is recorded.
    fn recorded(&self) -> HashSet<String> {
        let Some(journal) = self.run_file("journal.jsonl") else { return HashSet::new() };
        let mut prompts: HashMap<u64, String> = HashMap::new();
        let mut recorded = HashSet::new();
        for line in journal.lines() {
            let Ok(event) = serde_json::from_str::<Value>(line) else { break };
            let Some(request) = event["request"].as_u64() else { continue };
            match event["event"].as_str() {
                Some("session-started") => {
                    let prompt = event["task"]["prompt"].as_str().unwrap_or_default();
                    prompts.insert(request, prompt.lines().next().unwrap_or_default().to_owned());
                }
                Some("effect") => recorded.extend(prompts.remove(&request)),
                _ => {}
            }
        }
        recorded
    }

    fn run_file(&self, name: &str) -> Option<String> {
        let runs = fs::read_dir(self.path().join(".prose/runs")).ok()?;
        let run = runs.map(|run| run.unwrap().path()).find(|path| path.is_dir())?;
        fs::read_to_string(run.join(name)).ok()
    }

    /// All that the run has left, without what differs from run to run: times and ids.
    fn left(&self) -> BTreeMap<String, String> {
        let mut left = BTreeMap::new();
        collect(&self.path().join(".prose"), "", &mut left);
        left
    }
}

fn collect(folder: &Path, name: &str, left: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let file = entry.file_name().into_string().unwrap();
        // The folder of a run is called after its time.
        let shown = if name == "/runs" { "run".to_owned() } else { file.clone() };
        let path = format!("{name}/{shown}");
        // Beside memories that other runs write too, what a killed run was writing is left until it is old.
        if path.starts_with("/agents/") && file.starts_with(".prose-tmp") {
            continue;
        }
        if entry.path().is_dir() {
            collect(&entry.path(), &path, left);
            continue;
        }
        // Sessions that nothing captures are numbered as they start, which branches do in the order in which agents answer.
        if !["journal.jsonl", ".lock", "state.md"].contains(&file.as_str()) && !file.starts_with("anon_") {
            let text = fs::read_to_string(entry.path()).unwrap();
            let lines = text.lines().filter(|line| {
                !["run: ", "started: ", "updated: ", "timestamp: "].iter().any(|head| line.starts_with(head))
            });
            left.insert(path, lines.collect::<Vec<_>>().join("\n"));
        }
    }
}

/// What came of a run that nobody killed, and how long it took.
fn undisturbed() -> (BTreeMap<String, String>, Vec<u8>, Duration) {
    let place = Place::new();
    // Building the binary is no part of the run.
    prose_binary();
    let start = Instant::now();
    let output = place.prose(&["run", "main.prose", "--input", "topic=tides", "--quiet"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    (place.left(), output.stdout, start.elapsed())
}

fn check(kills: usize) {
    let (expected, said, took) = undisturbed();
    let mut random = fastrand::Rng::with_seed(7);
    let mut hit = 0;
    for nth in 0..kills {
        let place = Place::new();
        let mut run = place.start();
        sleep(took.mul_f64(random.f64() * 1.1));
        let was_running = run.try_wait().unwrap().is_none();
        run.kill().unwrap();
        run.wait().unwrap();
        // What agents still do that were at work belongs to the time before.
        sleep(Duration::from_millis(30));
        let journal = place.run_file("journal.jsonl").unwrap_or_default();
        // One that had just come to its end has nothing to go on with.
        if !was_running || journal.is_empty() || journal.contains(r#""event":"run-ended""#) {
            continue;
        }
        hit += 1;
        let recorded = place.recorded();
        let before = place.asked();
        let output = place.resume();
        assert_eq!(output.stdout, said, "kill {nth}");
        let after = place.asked();
        for prompt in &recorded {
            if prompt != "This one fails" {
                assert_eq!(before.get(prompt), after.get(prompt), "kill {nth}: asked again: {prompt}");
            }
        }
        let left = place.left();
        for (file, text) in &expected {
            assert_eq!(left.get(file), Some(text), "kill {nth}: {file}");
        }
        let more: Vec<_> = left.keys().filter(|file| !expected.contains_key(*file)).collect();
        assert!(more.is_empty(), "kill {nth}: {more:?}");
    }
    assert!(hit * 2 > kills, "only {hit} of {kills} runs were still running when they were killed");
}

#[test]
fn a_run_that_was_killed_goes_on_where_it_was() {
    check(12);
}

#[test]
#[ignore = "takes some minutes"]
fn runs_that_were_killed_at_300_moments_go_on_where_they_were() {
    check(300);
}

#[test]
fn a_run_can_be_resumed_by_one_process_at_a_time() {
    let place = Place::new();
    let mut run = place.start();
    while place.run_file("journal.jsonl").is_none_or(|journal| journal.lines().count() < 5) {
        sleep(Duration::from_millis(5));
    }
    let output = place.prose(&["resume"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains(&run.id().to_string()), "{stderr}");
    run.kill().unwrap();
    run.wait().unwrap();
    // The lock has died with its owner.
    place.resume();
}

#[test]
fn two_runs_in_one_folder_do_not_disturb_each_other() {
    let place = Place::new();
    let (expected, ..) = undisturbed();
    let mut runs = [place.start(), place.start()];
    for run in &mut runs {
        assert_eq!(run.wait().unwrap().code(), Some(0));
    }
    let folders: Vec<_> = fs::read_dir(place.path().join(".prose/runs")).unwrap().collect();
    assert_eq!(folders.len(), 2);
    for folder in folders {
        let mut left = BTreeMap::new();
        collect(&folder.unwrap().path(), "/runs/run", &mut left);
        for (file, text) in left.iter().filter(|(file, _)| file.contains("bindings")) {
            assert_eq!(expected.get(file), Some(text), "{file}");
        }
    }
}
