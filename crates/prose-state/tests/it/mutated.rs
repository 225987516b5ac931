//! Runs whose journals have been damaged: they come to the same end, and exactly what was lost is asked again.
//!
//! `PROSE_JOURNAL_MUTANTS` says how many journals are damaged in the long test, `PROSE_JOURNAL_SEED` with which one it begins.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::UNIX_EPOCH;

use fastrand::Rng;
use prose_analysis::{AnalysisHost, Text};
use prose_fixture::number;
use prose_state::StateError;
use prose_state::filesystem::{FilesystemStore, Resume, Resumed};
use prose_state::folder::Project;
use prose_state::reader::JournalReader;
use prose_vm::activity::{NoApprovals, Reporter};
use prose_vm::budget::NoAccounts;
use prose_vm::effect::{
    Choice, Effect, Failure, Outcome, PermissionRule, Reply, Request, RequestId, Verdict, fingerprint,
};
use prose_vm::event::{Event, EventKind, RunEnd, RunStatus};
use prose_vm::harness::{Capabilities, Harness, HarnessFuture};
use prose_vm::machine::Machine;
use prose_vm::program::Program;
use prose_vm::runner::{self, Host, Limits, NoInputs};
use prose_vm::settings::Settings;
use prose_vm::store::{NoRecording, Recording};
use prose_vm::value::Value;
use serde_json::Value as Json;

use crate::support::project_in_memory;

/// Answers the same to the same, after pauses that differ from one execution to the next, and counts what it is asked.
struct Counting {
    salt: u64,
    /// What each request asks for, whatever its agent remembers.
    asked: Mutex<Vec<(RequestId, String)>>,
    /// After how many answers nothing is answered any more.
    stops_after: Option<u32>,
    answered: AtomicU32,
}

impl Counting {
    fn new(salt: u64, stops_after: Option<u32>) -> Self {
        Self { salt, asked: Mutex::default(), stops_after, answered: AtomicU32::new(0) }
    }

    fn asked(&self) -> Vec<String> {
        let mut asked: Vec<String> =
            self.asked.lock().unwrap().iter().map(|(_, asked)| asked.clone()).collect();
        asked.sort();
        asked
    }

    /// Notes a request and waits for a moment. Gives a number that depends on what is asked alone.
    async fn ask(&self, request: &Request) -> u64 {
        let mut effect = request.effect.clone();
        if let Effect::Session(task) = &mut effect {
            Arc::make_mut(task).memory = None;
        }
        // What a model judges by depends on the order in which branches have ended.
        if let Effect::Judge(question) | Effect::Choose(question) = &mut effect {
            Arc::make_mut(question).context.clear();
        }
        let print = fingerprint(&effect);
        self.asked.lock().unwrap().push((request.id, format!("{} {print}", effect.kind())));
        let number = u64::from_str_radix(&print, 16).unwrap();
        for _ in 0..(number ^ self.salt) % 7 {
            tokio::task::yield_now().await;
        }
        let before = self.answered.fetch_add(1, Ordering::Relaxed);
        if self.stops_after.is_some_and(|most| before >= most) {
            std::future::pending::<()>().await;
        }
        number
    }
}

impl Harness for Counting {
    fn name(&self) -> &str {
        "counting"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { reads_files: self.salt.is_multiple_of(2), writes_files: false }
    }

    fn enforces(&self, _: &str, _: &PermissionRule) -> bool {
        true
    }

    fn perform<'a>(&'a self, request: &'a Request, _: &'a Reporter) -> HarnessFuture<'a, Outcome> {
        Box::pin(async move {
            let number = self.ask(request).await;
            Ok(match &request.effect {
                Effect::Session(task) if task.task.contains("fails") => {
                    return Err(Failure::session("it broke"));
                }
                Effect::Session(_) => {
                    Outcome::Reply(Reply { text: format!("reply {number:x}").into(), ..Reply::default() })
                }
                Effect::Judge(_) => {
                    let met = number.is_multiple_of(3);
                    Outcome::Verdict(Verdict { met, reason: String::new(), no_progress: false })
                }
                Effect::Choose(question) => {
                    let index = number as usize % question.labels.len();
                    Outcome::Choice(Choice { index, reason: String::new() })
                }
                Effect::Extract(_) => Outcome::Value(Value::text(format!("part {number:x}"))),
                _ => Outcome::Value(Value::text(format!("summary {number:x}"))),
            })
        })
    }
}

/// A program out of pieces that ask for all kinds of things.
fn generated(random: &mut Rng) -> String {
    let mut text = "agent keeper:\n  prompt: \"You keep notes\"\n  persist: true\nagent worker:\n  prompt: \"You work\"\n  persist: project\n\nblock deep(n, name):\n  let v = session \"Depth {n} of {name}\"\n  if **{v} goes deeper**:\n    session \"Before the next of {name} at {n}\"\n  if n > 0:\n    do deep(n - 1, name)\n  output v\n\nlet v0 = session \"Begin\"\n".to_owned();
    let mut last = 0;
    for nth in 1..random.usize(3..8) {
        let known = format!("v{last}");
        let piece = match random.u8(..12) {
            0 => {
                last = nth;
                format!("let v{nth} = session \"Task {nth}\"\n  context: {known}\n")
            }
            1 => format!(
                "parallel:\n  b{nth} = session \"Branch one of {nth}\"\n  c{nth} = do deep(2, \"left {nth}\")\n  do:\n    do deep(1, \"right {nth}\")\n    session \"Third of {nth}\"\n      context: {known}\nsession \"Join {nth}\"\n  context: [b{nth}, c{nth}]\n"
            ),
            2 => format!(
                "parallel for x in [\"p\", \"q\", \"r\"]:\n  let y = session \"Look {nth} at {{x}}\"\n  session \"Look again {nth} at {{x}}\"\n    context: y\n"
            ),
            3 => format!(
                "loop until **round {nth} is done** (max: 4) as i:\n  session \"Round {nth} number {{i}}\"\n"
            ),
            4 => format!("if **way {nth}**:\n  session \"Then {nth}\"\nelse:\n  session \"Else {nth}\"\n"),
            5 => format!(
                "choice **side {nth}**:\n  option \"left\":\n    session \"Left {nth}\"\n  option \"right\":\n    session \"Right {nth}\"\n"
            ),
            6 => format!(
                "try:\n  session \"This fails {nth}\"\n    retry: 1\ncatch as e:\n  session \"After the failure {nth}\"\nfinally:\n  session \"Clean up {nth}\"\n"
            ),
            7 => format!(
                "let l{nth} = [\"k\", \"l\"]\n  | map:\n    session \"Change {nth} {{item}}\"\n  | pmap:\n    session \"Again {nth} {{item}}\"\nsession \"List {nth}\"\n  context: l{nth}\n"
            ),
            8 => format!("resume: keeper\n  prompt: \"Keep {nth}\"\n  context: {known}\n"),
            9 => format!("session: worker\n  prompt: \"Work {nth}\"\n"),
            10 => format!("resume: worker\n  prompt: \"Work on {nth}\"\n"),
            _ => format!(
                "repeat 2 as k:\n  session \"Repeated {nth} {{k}}\" -> session \"Second {nth} {{k}}\"\n"
            ),
        };
        text.push_str(&piece);
    }
    text.push_str(&format!("output final = session \"End\"\n  context: v{last}\n"));
    text
}

fn compile(text: &str) -> Arc<Program> {
    let mut host = AnalysisHost::default();
    let file = host.set_text(Path::new("/main.prose"), Text::new(text));
    Program::new(host.db(), file)
}

/// What came of an execution.
struct Execution {
    end: RunEnd,
    asked: Vec<String>,
    events: Vec<Event>,
}

fn execute(
    program: &Arc<Program>,
    store: &mut FilesystemStore,
    recall: &mut dyn Recording,
    settings: Settings,
    harness: &Arc<Counting>,
) -> Execution {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let mut events = Vec::new();
    let stopped = Arc::clone(harness);
    let host = Host {
        harness: Arc::clone(harness) as Arc<dyn Harness>,
        store,
        recall,
        trees: Arc::new(prose_vm::runner::NoTrees),
        inputs: Arc::new(NoInputs),
        approvals: Arc::new(NoApprovals),
        commands: prose_vm::command::Commands::none(),
        observer: &mut |event, _| events.push(event.clone()),
        interrupted: Box::pin(async move {
            while stopped.stops_after.is_none_or(|most| stopped.answered.load(Ordering::Relaxed) <= most) {
                tokio::task::yield_now().await;
                if stopped.stops_after.is_none() {
                    std::future::pending::<()>().await;
                }
            }
            "stopped".to_owned()
        }),
        accounts: Arc::new(NoAccounts),
        gate: None,
        limits: Limits { max_parallel: 3, ..Limits::default() },
        secrets: Arc::default(),
        clock: &|| 0,
    };
    let end = runtime.block_on(runner::run(Machine::new(Arc::clone(program), settings), host)).unwrap();
    Execution { end, asked: harness.asked(), events }
}

/// A run as it was left, with what is needed to say what becomes of it.
struct Original {
    _folder: tempfile::TempDir,
    project: Project,
    run: String,
    program: Arc<Program>,
    text: String,
    journal: Vec<u8>,
    /// What a run that nothing happens to comes to, and all that it asks.
    end: RunEnd,
    asked: Vec<String>,
    /// What the requests of this one ask for.
    requests: HashMap<u64, String>,
    /// The files as the run has left them, to be put back before each resumption.
    files: BTreeMap<PathBuf, Vec<u8>>,
    by_reference: bool,
}

impl Original {
    /// A run of a generated program, to its end or stopped on the way.
    fn new(random: &mut Rng) -> Self {
        let text = generated(random);
        Self::of(text, random)
    }

    fn of(text: String, random: &mut Rng) -> Self {
        let program = compile(&text);
        let by_reference = random.bool();
        let salt = |random: &mut Rng| random.u64(..) / 2 * 2 + u64::from(!by_reference);
        let settings =
            |run: &str| Settings { context_by_reference: by_reference, backoff_ms: 0, ..Settings::new(run) };
        let whole = {
            let (_folder, project) = project_in_memory();
            let mut store = FilesystemStore::create(&project, &text, UNIX_EPOCH).unwrap();
            let settings = settings(store.run());
            let harness = Arc::new(Counting::new(salt(random), None));
            execute(&program, &mut store, &mut NoRecording, settings, &harness)
        };
        assert_eq!(whole.end.status, RunStatus::Completed, "{:?}\n{text}", whole.end.error);
        let (folder, project) = project_in_memory();
        let mut store = FilesystemStore::create(&project, &text, UNIX_EPOCH).unwrap();
        let run = store.run().to_owned();
        let most = whole.asked.len() as u32;
        let stops_after = random.bool().then(|| random.u32(..most));
        let harness = Arc::new(Counting::new(salt(random), stops_after));
        let settings = settings(&run);
        execute(&program, &mut store, &mut NoRecording, settings, &harness);
        drop(store);
        let requests =
            harness.asked.lock().unwrap().iter().map(|(id, asked)| (id.0, asked.clone())).collect();
        let journal = fs::read(project.run(&run).unwrap().join("journal.jsonl")).unwrap();
        let mut files = BTreeMap::new();
        read_all(&project.root, &mut files);
        Self {
            _folder: folder,
            project,
            run,
            program,
            text,
            journal,
            end: whole.end,
            asked: whole.asked,
            requests,
            files,
            by_reference,
        }
    }

    fn path(&self) -> PathBuf {
        self.project.run(&self.run).unwrap().join("journal.jsonl")
    }

    /// What has to be asked when only these bytes of the journal are left: everything but what a whole line says.
    fn expected(&self, mutant: &[u8]) -> Vec<String> {
        let mut asked = self.asked.clone();
        let mut lost_memories = HashSet::new();
        let lines: Vec<&[u8]> =
            self.journal.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
        let start = b"{\"crc\":\"";
        let starts: Vec<usize> = (0..mutant.len()).filter(|&at| mutant[at..].starts_with(start)).collect();
        let is_whole = |line: &[u8]| {
            starts.iter().filter_map(|&at| mutant[at..].strip_prefix(line)).any(|rest| {
                rest.is_empty()
                    || rest.starts_with(b"\n")
                    || rest.starts_with(b"\r\n")
                    || rest.starts_with(start)
            })
        };
        let json = |line: &[u8]| serde_json::from_slice::<Json>(line).unwrap();
        for line in &lines {
            let event = json(line);
            if event["event"] == "effect" && event["effect"] == "memory" && !is_whole(line) {
                let place = event["place"].as_str().unwrap();
                lost_memories.insert(place.strip_suffix("/memory").unwrap().to_owned());
            }
        }
        for line in &lines {
            // What an agent remembered is in the task of its session as well.
            let event = json(line);
            if event["event"] == "session-started" && is_whole(line) {
                lost_memories.remove(event["place"].as_str().unwrap());
            }
        }
        for line in lines {
            let event = json(line);
            if event["event"] != "effect" || event["effect"] == "memory" || !is_whole(line) {
                continue;
            }
            let is_resumed = event["effect"] == "session" && {
                let place = event["place"].as_str().unwrap();
                lost_memories.contains(place) && self.resumes(place)
            };
            if is_resumed {
                continue;
            }
            let Some(key) = self.requests.get(&event["request"].as_u64().unwrap()) else { continue };
            let at = asked.iter().position(|asked| asked == key).expect("the whole run has asked it");
            asked.remove(at);
        }
        asked
    }

    /// Whether the session of a place goes on with a memory.
    fn resumes(&self, place: &str) -> bool {
        let journal = String::from_utf8(self.journal.clone()).unwrap();
        let mut started = journal.lines().map(|line| serde_json::from_str::<Json>(line).unwrap());
        started.any(|event| {
            event["event"] == "session-started"
                && event["place"] == place
                && event["task"]["memory"]["resumes"] == true
        })
    }

    /// Goes on with a damaged journal.
    #[track_caller]
    fn check(&self, mutant: &[u8], random: &mut Rng, what: &str) {
        for (path, bytes) in &self.files {
            fs::write(path, bytes).unwrap();
        }
        let folder = self.project.run(&self.run).unwrap();
        for entry in fs::read_dir(&folder).unwrap().flatten() {
            if entry.file_name().to_string_lossy().contains(".kept-") {
                fs::remove_file(entry.path()).unwrap();
            }
        }
        fs::write(self.path(), mutant).unwrap();
        let mut expected = self.expected(mutant);
        expected.sort();
        let resumed = FilesystemStore::resume(&self.project, &self.run, &self.text, Resume::Exact);
        if matches!(resumed, Err(StateError::Ended { .. })) {
            // What was damaged has not cost the end of the run.
            assert!(expected.is_empty(), "{what}");
            return;
        }
        let Resumed { mut store, mut recall, notes, .. } =
            resumed.unwrap_or_else(|error| panic!("{what}: {error}"));
        let is_damaged = !is_beginning(&self.journal, mutant);
        let copy = fs::read(folder.join("journal.kept-1.jsonl")).ok();
        // A memory that has changed since is told as well, and costs a copy only where something was answered after it.
        let is_told = notes.iter().any(|note| note.contains("is kept in journal.kept-1.jsonl"));
        assert_eq!(is_damaged, is_told, "{what}: {notes:?}");
        if is_damaged {
            assert!(copy.as_deref() == Some(mutant), "{what}: the journal is not kept as it was");
        }
        let settings = Settings {
            context_by_reference: self.by_reference,
            backoff_ms: 0,
            ..Settings::new(self.run.as_str())
        };
        let salt = random.u64(..) / 2 * 2 + u64::from(!self.by_reference);
        let harness = Arc::new(Counting::new(salt, None));
        let resumed = execute(&self.program, &mut store, &mut recall, settings, &harness);
        assert_eq!(resumed.end.outputs, self.end.outputs, "{what}");
        assert_eq!(resumed.end.status, RunStatus::Completed, "{what}");
        let notes = notes.join("\n");
        assert_eq!(resumed.asked, expected, "{what}: asked (left), lost (right)\n{notes}\n{}", self.text);
        drop(store);
        // The journal is whole again, and tells of the run as it went.
        let events: Vec<Event> = JournalReader::open(&self.path()).unwrap().map(Result::unwrap).collect();
        let told: Vec<&Event> = resumed.events.iter().filter(|event| !is_aside(event)).collect();
        assert_eq!(events.iter().collect::<Vec<_>>(), told, "{what}");
    }
}

fn is_aside(event: &Event) -> bool {
    matches!(
        event.kind,
        EventKind::Resumed { .. }
            | EventKind::Queued { .. }
            | EventKind::Begun { .. }
            | EventKind::Activity { .. }
    )
}

/// Whether a journal ends between two lines of another one that is otherwise the same.
fn is_beginning(journal: &[u8], mutant: &[u8]) -> bool {
    journal.starts_with(mutant) && (mutant.is_empty() || mutant.ends_with(b"\n"))
}

fn read_all(folder: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        if entry.path().is_dir() {
            read_all(&entry.path(), files);
        } else {
            files.insert(entry.path(), fs::read(entry.path()).unwrap());
        }
    }
}

/// A journal after an accident.
fn damaged(journal: &[u8], foreign: &[u8], random: &mut Rng) -> (Vec<u8>, String) {
    let mut lines: Vec<Vec<u8>> =
        journal.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    let foreign: Vec<&[u8]> = foreign.split_inclusive(|byte| *byte == b'\n').collect();
    let mut what = Vec::new();
    for _ in 0..random.usize(1..4) {
        if lines.is_empty() {
            break;
        }
        let at = random.usize(..lines.len());
        let other = random.usize(..lines.len());
        what.push(match random.u8(..11) {
            0 => {
                let byte = random.usize(..lines[at].len());
                let bit = random.u8(..8);
                lines[at][byte] ^= 1 << bit;
                format!("bit {bit} of byte {byte} of line {} is changed", at + 1)
            }
            1 => {
                lines.remove(at);
                format!("line {} is removed", at + 1)
            }
            2 => {
                let line = lines[at].clone();
                lines.insert(other, line);
                format!("line {} is there again at {}", at + 1, other + 1)
            }
            3 => {
                lines.swap(at, other);
                format!("lines {} and {} change places", at + 1, other + 1)
            }
            4 => {
                let length = random.usize(..lines[at].len());
                lines[at].truncate(length);
                format!("line {} is cut at {length}", at + 1)
            }
            5 => {
                let line = random.choice(&foreign).unwrap().to_vec();
                lines.insert(at, line);
                format!("a line of another run is at {}", at + 1)
            }
            6 => {
                lines.insert(at, vec![0; random.usize(1..5000)]);
                format!("zeros are at {}", at + 1)
            }
            7 => {
                let length = random.usize(..journal.len());
                let mut left = length;
                lines.retain_mut(|line| {
                    line.truncate(left);
                    left -= line.len();
                    !line.is_empty()
                });
                format!("only {length} bytes are left")
            }
            8 => {
                for line in &mut lines {
                    if line.ends_with(b"\n") {
                        line.pop();
                        line.extend(b"\r\n");
                    }
                }
                "lines end with carriage returns".to_owned()
            }
            9 => {
                lines[0].splice(0..0, *b"\xef\xbb\xbf");
                "there is a byte order mark".to_owned()
            }
            _ => {
                let mut rubbish = vec![b'x'; random.usize(1..20_000)];
                rubbish.push(b'\n');
                lines.insert(at, rubbish);
                format!("rubbish is at {}", at + 1)
            }
        });
    }
    (lines.concat(), what.join(", "))
}

fn check_mutants(seeds: impl Iterator<Item = u64>, each: usize) {
    let mut damages = 0;
    for seed in seeds {
        let mut random = Rng::with_seed(seed);
        let original = Original::new(&mut random);
        let foreign = Original::new(&mut random).journal;
        for nth in 0..each {
            let (mutant, what) = damaged(&original.journal, &foreign, &mut random);
            if ended(&mutant, &original) {
                continue;
            }
            damages += 1;
            original.check(&mutant, &mut random, &format!("seed {seed}, mutant {nth}: {what}"));
        }
    }
    assert!(damages > 0);
}

/// Whether a journal still says that its run has come to its end, so that there is nothing to go on with.
fn ended(mutant: &[u8], original: &Original) -> bool {
    fs::write(original.path(), mutant).unwrap();
    let details = original.project.show_run(&original.run).unwrap();
    details.summary.status.is_completed()
}

#[test]
fn of_damaged_journals_exactly_what_is_lost_is_asked_again() {
    check_mutants(0..8, 40);
}

#[test]
fn a_journal_may_end_at_any_byte() {
    let mut random = Rng::with_seed(3);
    let original = Original::new(&mut random);
    let start = original.journal.len().saturating_sub(4000);
    for length in (0..start).step_by(2999).chain((start..original.journal.len()).step_by(29)) {
        let mutant = &original.journal[..length];
        if !ended(mutant, &original) {
            original.check(mutant, &mut random, &format!("{length} bytes"));
        }
    }
}

#[test]
#[ignore = "takes a minute"]
fn of_many_damaged_journals_exactly_what_is_lost_is_asked_again() {
    let first = number("PROSE_JOURNAL_SEED").unwrap_or(1000);
    let mutants = number("PROSE_JOURNAL_MUTANTS").unwrap_or(2000_u64);
    check_mutants(first..first + mutants.div_ceil(50), 50);
}

/// `PROSE_JOURNAL_STEP=1` tries each byte; without it, one of several between the ends of lines, and each one around these.
#[test]
#[ignore = "takes a minute"]
fn a_journal_may_end_at_each_byte() {
    let mut random = Rng::with_seed(3);
    let text = "agent keeper:\n  prompt: \"Keep\"\n  persist: true\nparallel:\n  a = session \"A\"\n  resume: keeper\n    prompt: \"B\"\nif **{a} will do**:\n  session \"C\"\n    context: a\noutput final = session \"End\"\n";
    let original = Original::of(text.to_owned(), &mut random);
    let step = number("PROSE_JOURNAL_STEP").unwrap_or(6);
    let is_near_an_end = |length: usize| {
        original.journal[length.saturating_sub(2)..(length + 2).min(original.journal.len())].contains(&b'\n')
    };
    for length in 0..original.journal.len() {
        if length % step != 0 && !is_near_an_end(length) {
            continue;
        }
        let mutant = &original.journal[..length];
        if !ended(mutant, &original) {
            original.check(mutant, &mut random, &format!("{length} bytes"));
        }
    }
}
