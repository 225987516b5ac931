//! A run with every kind of statement in a folder of its own, and what it leaves there.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

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

/// An agent that says always the same to the same, whatever mark the lines around values have in a run, and writes down that it was asked.
const AGENT: &str = r#"#!/bin/sh
prompt=$(cat)
echo "$prompt" | head -n 1 >> "$PROSE_TEST_LOG"
sleep 0.00$(( $$ % 10 ))
case "$prompt" in
  *"This one fails"*) echo "it broke" >&2; exit 1 ;;
  *VERDICT:*) echo "VERDICT: no"; echo "REASON: not yet" ;;
  *CHOICE:*) echo "CHOICE: 2"; echo "REASON: why not" ;;
  *) echo "Answer $(echo "$prompt" | head -n 3 | sed 's/[0-9a-f]\{10\}//g' | cksum)" ;;
esac
"#;

/// A folder with the program.
pub(crate) struct Place {
    _folder: TempDir,
    path: PathBuf,
    /// Where agents write down what they were asked.
    log: PathBuf,
    /// Where runs keep their state.
    state: &'static str,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self::with_state("filesystem")
    }

    /// A folder whose runs keep their state there.
    pub(crate) fn with_state(state: &'static str) -> Self {
        let folder = prose_fixture::tempdir().unwrap();
        let (path, log) = (folder.path().join("project"), folder.path().join("log"));
        let place = Self { path, log, _folder: folder, state };
        fs::create_dir(&place.path).unwrap();
        fs::write(&place.log, "").unwrap();
        place.fill(&place.path);
        place
    }

    /// Writes the program and its agent into a folder.
    pub(crate) fn fill(&self, folder: &Path) {
        let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
        write("main.prose", PROGRAM);
        write("inner.prose", INNER);
        write("agent.sh", AGENT);
        write(
            "prose.toml",
            "[run]\nharness = \"command\"\ncommand = [\"./agent.sh\"]\nenvironment = [\"PROSE_TEST_LOG\"]\nbackoff-ms = 1\n",
        );
        let agent = folder.join("agent.sh");
        fs::set_permissions(&agent, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Uses the folder by another path.
    pub(crate) fn move_to(&mut self, path: PathBuf) {
        self.path = path;
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn prose(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(prose_binary());
        command.current_dir(self.path());
        self.complete(command, arguments)
    }

    /// Completes a command that starts `prose`.
    pub(crate) fn complete(&self, mut command: Command, arguments: &[&str]) -> Command {
        command
            .args(arguments)
            .env("PROSE_TEST_LOG", &self.log)
            .env("HOME", self.log.with_file_name("home"))
            .env("XDG_STATE_HOME", self.log.with_file_name("state"))
            .stdin(Stdio::null());
        if ["run", "resume"].contains(&arguments[0]) {
            command.arg("--trust");
        }
        command
    }

    pub(crate) fn run(&self) -> Command {
        self.prose(&["run", "main.prose", "--input", "topic=tides", "--quiet", "--state", self.state])
    }

    pub(crate) fn start(&self) -> Child {
        let mut command = self.run();
        command.stdout(Stdio::null()).stderr(File::create(self.errors()).unwrap()).spawn().unwrap()
    }

    /// Where a run that was started writes its errors.
    fn errors(&self) -> PathBuf {
        self.log.with_file_name("errors")
    }

    /// Waits until a run has written so many lines of its journal.
    #[track_caller]
    pub(crate) fn wait_for_lines(&self, run: &mut Child, lines: usize) {
        while self.journal().is_none_or(|journal| journal.lines().count() < lines) {
            if let Some(status) = run.try_wait().unwrap() {
                panic!("ended early, {status}: {}", fs::read_to_string(self.errors()).unwrap());
            }
            sleep(Duration::from_millis(5));
        }
    }

    #[track_caller]
    pub(crate) fn resume(&self) -> Output {
        let output = self.prose(&["resume", "--quiet"]).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{stderr}");
        output
    }

    /// How often each prompt was asked.
    pub(crate) fn asked(&self) -> HashMap<String, usize> {
        let mut asked = HashMap::new();
        for line in fs::read_to_string(&self.log).unwrap().lines() {
            *asked.entry(line.to_owned()).or_default() += 1;
        }
        asked
    }

    /// The first lines of the prompts whose outcome is recorded.
    pub(crate) fn recorded(&self) -> HashSet<String> {
        let Some(journal) = self.journal() else { return HashSet::new() };
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

    pub(crate) fn run_folder(&self) -> Option<PathBuf> {
        let mut runs = fs::read_dir(self.path().join(".prose/runs")).ok()?.map(|run| run.unwrap().path());
        runs.find(|path| path.is_dir())
    }

    /// The journal of the run, if it has one already.
    pub(crate) fn journal(&self) -> Option<String> {
        let folder = self.run_folder()?;
        match self.state {
            "sqlite" => {
                Some(query(&folder.join("state.db"), "SELECT line FROM journal ORDER BY start").concat())
            }
            _ => fs::read_to_string(folder.join("journal.jsonl")).ok(),
        }
    }

    /// All that the run has left, without what differs from run to run: times and ids.
    pub(crate) fn left(&self) -> BTreeMap<String, String> {
        let mut left = BTreeMap::new();
        collect(&self.path().join(".prose"), "", &mut left);
        if self.state == "sqlite" {
            let database = self.run_folder().unwrap().join("state.db");
            for table in TABLES {
                left.insert(table.to_owned(), query(&database, table).concat());
            }
            let of_project = self.path().join(".prose/agents.db");
            left.insert("agents.db".to_owned(), query(&of_project, SEGMENTS).concat());
        }
        left
    }
}

/// What the tables of a database tell that does not differ from run to run.
const TABLES: [&str; 4] = [
    "SELECT name, execution_id, kind, value, attachment_path FROM bindings WHERE name NOT LIKE '%anon_%' ORDER BY 1, 2",
    "SELECT status, count(*) FROM execution GROUP BY status",
    SEGMENTS,
    "SELECT status, state_mode FROM run",
];

const SEGMENTS: &str = "SELECT agent_name, segment_number, prompt FROM agent_segments ORDER BY 1, 2";

/// The rows that a query gives, one line for each; none where there is no table yet.
fn query(database: &Path, sql: &str) -> Vec<String> {
    let copy = prose_fixture::tempdir().unwrap();
    // SQLite resolves the links on the way, and so leaves the disk of another process, which has ended.
    let copied = || {
        let read = copy.path().join("copy.db");
        for ending in ["", "-wal"] {
            let path = |of: &Path| PathBuf::from(format!("{}{ending}", of.display()));
            let _ = fs::copy(path(database), path(&read));
        }
        rusqlite::Connection::open(&read)
    };
    // The run refuses a database that is there before it makes its own.
    let existing = rusqlite::OpenFlags::SQLITE_OPEN_READ_WRITE;
    let connection = rusqlite::Connection::open_with_flags(database, existing).or_else(|_| copied()).unwrap();
    let Ok(mut statement) = connection.prepare(sql) else { return Vec::new() };
    let columns = statement.column_count();
    let rows = statement.query_map((), |row| {
        let cells = (0..columns).map(|column| {
            row.get_ref(column).map(|cell| cell.as_str().map_or_else(|_| format!("{cell:?}"), str::to_owned))
        });
        Ok(cells.collect::<rusqlite::Result<Vec<_>>>()?.join(" | ") + "\n")
    });
    rows.unwrap().collect::<rusqlite::Result<_>>().unwrap()
}

pub(crate) fn collect(folder: &Path, name: &str, left: &mut BTreeMap<String, String>) {
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
        if !["journal.jsonl", ".lock", "state.md"].contains(&file.as_str())
            && !file.starts_with("anon_")
            && !file.starts_with("state.db")
            && !file.starts_with("agents.db")
        {
            let text = fs::read_to_string(entry.path()).unwrap();
            let lines = text.lines().filter(|line| {
                !["run: ", "started: ", "updated: ", "timestamp: "].iter().any(|head| line.starts_with(head))
            });
            left.insert(path, lines.collect::<Vec<_>>().join("\n"));
        }
    }
}
