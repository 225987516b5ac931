//! Goes on with a run that another machine has made, which keeps no journal (R104): what its `state.md` and its files tell is taken for what came of
//! its requests.

use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::path::Path;

use prose_syntax::SyntaxKind;
use prose_vm::effect::{Choice, Effect, Outcome, Question, Reply, Request, RequestId, SessionTask, Verdict};
use prose_vm::place::{Place, Site};
use prose_vm::store::{Recall, Waiting};
use prose_vm::value::Value;
use rustc_hash::FxHashMap;

use crate::binding_file;
use crate::error::StateError;
use crate::folder::PROGRAM_FILE;
use crate::program::Program;
use crate::recall::later_than;
use crate::state_file::STATE_FILE;
use crate::told::{Mark, Told};

/// What a verdict that is taken from `state.md` gives for its reason.
const REASON: &str = "as state.md tells";

/// How deep imports of imports are followed, so that a link to a folder around it ends somewhere.
const MOST_IMPORTS: usize = 32;

/// What the files of a run tell that has no journal.
#[derive(Debug)]
pub struct ForeignRecall {
    /// By the folder of the execution, relative to that of the run: empty, or ending with a slash.
    executions: BTreeMap<String, Execution>,
    /// How often the condition in a line of the program has been answered.
    judged: FxHashMap<u32, u32>,
    known: VecDeque<(RequestId, Outcome)>,
    seen: Option<RequestId>,
    reused: u32,
    notes: Vec<String>,
}

/// What the files of an execution tell.
#[derive(Debug)]
struct Execution {
    program: Program,
    told: Told,
    /// The values of its bindings by file, as they were when the run stopped. The run that goes on writes them anew.
    bindings: FxHashMap<String, Stored>,
}

#[derive(Debug)]
struct Stored {
    is_input: bool,
    value: String,
}

/// What is known of a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    NotEntered,
    /// It was in this iteration, from 1.
    At(u32),
    Finished,
}

impl ForeignRecall {
    /// Reads the folder of a run. The text is that of the program as it is executed now.
    pub fn read(folder: &Path, text: &str) -> Result<Self, StateError> {
        let mut recall = Self {
            executions: BTreeMap::new(),
            judged: FxHashMap::default(),
            known: VecDeque::new(),
            seen: None,
            reused: 0,
            notes: Vec::new(),
        };
        recall.read_execution(folder, String::new(), Some(text), 0)?;
        let count: usize = recall.executions.values().map(|execution| execution.bindings.len()).sum();
        recall.notes.push(format!(
            "the run has no journal, so another machine made it. It goes on from {STATE_FILE} and {count} {} of bindings",
            if count == 1 { "file" } else { "files" }
        ));
        Ok(recall)
    }

    fn read_execution(
        &mut self,
        folder: &Path,
        name: String,
        text: Option<&str>,
        depth: usize,
    ) -> Result<(), StateError> {
        let read = |file: &str| {
            fs::read(folder.join(file)).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        };
        let text = match text {
            Some(text) => text.to_owned(),
            None => read(PROGRAM_FILE).unwrap_or_default(),
        };
        let program = Program::new(&text);
        let told = match read(STATE_FILE) {
            Ok(state) => Told::read(&state, &program),
            Err(_) => {
                self.notes.push(format!(
                    "{} is not there, so every session whose file exists is taken for finished",
                    folder.join(STATE_FILE).display()
                ));
                Told::default()
            }
        };
        let mut bindings = FxHashMap::default();
        for entry in fs::read_dir(folder.join("bindings")).into_iter().flatten().flatten() {
            let Ok(file) = entry.file_name().into_string() else { continue };
            if file.ends_with(".md") && !file.starts_with('.') {
                let path = entry.path();
                let bytes = fs::read(&path).map_err(StateError::io("read", &path))?;
                let text = String::from_utf8_lossy(&bytes);
                let is_input = binding_file::kind(&text) == Some("input");
                let value = binding_file::read(&text).to_owned();
                bindings.insert(file, Stored { is_input, value });
            }
        }
        self.executions.insert(name.clone(), Execution { program, told, bindings });
        for entry in fs::read_dir(folder.join("imports")).into_iter().flatten().flatten() {
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if let Ok(import) = entry.file_name().into_string()
                && is_folder
                && depth < MOST_IMPORTS
            {
                self.read_execution(&entry.path(), format!("{name}imports/{import}/"), None, depth + 1)?;
            }
        }
        Ok(())
    }

    /// What the person should know.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// How many outcomes have been taken from the files.
    pub fn reused(&self) -> u32 {
        self.reused
    }

    fn answer(&mut self, request: &Request) -> Option<Outcome> {
        match &request.effect {
            Effect::Session(task) => {
                let (folder, file) = task.binding.path.rsplit_once("bindings/")?;
                let execution = self.executions.get(folder)?;
                execution.session(request, task, file)
            }
            Effect::Input(input) => {
                let file = format!("{}.md", input.name.as_ref()?);
                let stored = self.executions.get("")?.bindings.get(&file)?;
                let is_own = request.site.program == 0 && stored.is_input;
                is_own.then(|| Outcome::Value(Value::text(stored.value.as_str())))
            }
            // Conditions have no file that tells which execution they belong to.
            Effect::Judge(_) if request.site.program == 0 => {
                let line = request.site.line;
                let times = self.judged.entry(line).or_default();
                let met = self.executions.get("")?.judge(line, *times)?;
                *times += 1;
                Some(Outcome::Verdict(Verdict { met, reason: REASON.to_owned(), no_progress: false }))
            }
            Effect::Choose(question) if request.site.program == 0 => {
                let index = self.executions.get("")?.choose(request.site, question)?;
                Some(Outcome::Choice(Choice { index, reason: REASON.to_owned() }))
            }
            _ => None,
        }
    }
}

impl Recall for ForeignRecall {
    fn recall(&mut self, waiting: &Waiting) -> Option<(RequestId, Outcome)> {
        for request in later_than(self.seen, waiting) {
            if let Some(outcome) = self.answer(request) {
                self.known.push_back((request.id, outcome));
            }
            self.seen = Some(request.id);
        }
        while let Some((id, outcome)) = self.known.pop_front() {
            if waiting.contains_key(&id) {
                self.reused += 1;
                return Some((id, outcome));
            }
        }
        None
    }

    fn may_know_more(&self) -> bool {
        true
    }
}

impl Execution {
    fn session(&self, request: &Request, task: &SessionTask, file: &str) -> Option<Outcome> {
        let stored = self.bindings.get(file)?;
        let line = request.site.line;
        let is_known = match self.compare_iterations(&request.place, line) {
            // It ran in an earlier iteration. What it gave there is overwritten by what it gave last, which is the best there is.
            std::cmp::Ordering::Less => true,
            std::cmp::Ordering::Greater => false,
            std::cmp::Ordering::Equal => self.is_finished(task, line),
        };
        let reply = Reply { text: stored.value.as_str().into(), wrote_binding: true, ..Reply::default() };
        is_known.then_some(Outcome::Reply(reply))
    }

    /// Whether a session whose file exists had finished.
    fn is_finished(&self, task: &SessionTask, line: u32) -> bool {
        let frame = task.binding.frame;
        if frame != 0 && !self.told.executes_in(frame) {
            // Marks in the body of a block are about the call at the top of the stack.
            return true;
        }
        if let Some(is_complete) = self.told.branch(&task.binding.name, line) {
            return is_complete;
        }
        let is_ahead = |line| self.told.mark(line) == Some(Mark::Ahead);
        // What had not been entered has no marks inside.
        self.told.mark(line) != Some(Mark::Executing)
            && !is_ahead(line)
            && !self.program.headers_around(line).any(is_ahead)
    }

    /// Where an execution stands relative to where the run had come in the loops around a line.
    fn compare_iterations(&self, place: &Place, line: u32) -> std::cmp::Ordering {
        let stopped: Vec<u32> = self
            .loops_around(line)
            .map(|(first, last)| match self.progress(first, last) {
                Progress::Finished => u32::MAX,
                Progress::At(iteration) => iteration,
                // The marks tell of the first iteration then.
                Progress::NotEntered => 1,
            })
            .collect();
        let mut steps: Vec<u32> = Vec::new();
        for step in place.as_str().split('/') {
            match step.strip_prefix('i').and_then(|number| number.parse().ok()) {
                Some(number) => steps.push(number),
                // A call leaves the loops around it for those of the block.
                None if step.starts_with('f') => steps.clear(),
                None => {}
            }
        }
        let here = &steps[steps.len().saturating_sub(stopped.len())..];
        // A loop that had finished decides nothing.
        here.iter()
            .zip(&stopped)
            .filter(|(_, stopped)| **stopped != u32::MAX)
            .map(|(here, stopped)| here.cmp(stopped))
            .find(|order| order.is_ne())
            .unwrap_or(std::cmp::Ordering::Equal)
    }

    /// The lines of the loops around a line, from the outermost one.
    fn loops_around(&self, line: u32) -> impl Iterator<Item = (u32, u32)> {
        self.program.loops().filter(move |(first, last)| *first < line && line <= *last)
    }

    fn progress(&self, first: u32, last: u32) -> Progress {
        match self.told.iteration(first, last) {
            Some(0) => Progress::NotEntered,
            Some(iteration) => Progress::At(iteration),
            None if self.told.mark(first) == Some(Mark::Complete) || self.told.position() > last => {
                Progress::Finished
            }
            None => Progress::NotEntered,
        }
    }

    /// What the condition in a line came to when it was judged for the n-th time, from 0.
    fn judge(&self, line: u32, times: u32) -> Option<bool> {
        let statement = self.program.statement_around(line)?;
        if statement.line == line
            && let Some(repeats) = &statement.repeats
        {
            let goes_on = repeats.keyword == Some(SyntaxKind::WHILE_KW);
            return match self.progress(statement.line, statement.last_line) {
                // One judgement stands before each iteration that was entered.
                Progress::At(iteration) => (times < iteration).then_some(goes_on),
                // How often it went round is not told: once gives every file that there is.
                Progress::Finished => Some(goes_on == times.is_multiple_of(2)),
                Progress::NotEntered => None,
            };
        }
        if self.has_run_below(line) {
            return Some(true);
        }
        let has_run = (statement.line..=statement.last_line).any(|line| self.has_run(line));
        (has_run || self.told.position() > statement.last_line).then_some(false)
    }

    fn choose(&self, site: Site, question: &Question) -> Option<usize> {
        let statement = self.program.statement_around(site.line)?;
        (statement.line..=statement.last_line).find_map(|line| {
            let label =
                self.program.line(line).trim().strip_prefix("option")?.trim_start().strip_prefix('"')?;
            let index = question.labels.iter().position(|found| {
                label.strip_prefix(found.as_str()).is_some_and(|rest| rest.starts_with('"'))
            })?;
            self.has_run_below(line).then_some(index)
        })
    }

    fn has_run(&self, line: u32) -> bool {
        matches!(self.told.mark(line), Some(Mark::Complete | Mark::Executing))
    }

    /// Whether a statement in the body below a header has run.
    fn has_run_below(&self, header: u32) -> bool {
        let indent = indent(self.program.line(header));
        (header + 1..=self.program.line_count())
            .map(|line| (line, self.program.line(line)))
            .take_while(|(_, text)| text.trim().is_empty() || self::indent(text) > indent)
            .any(|(line, _)| self.has_run(line))
    }
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}
