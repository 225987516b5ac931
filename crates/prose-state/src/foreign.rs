//! Continues with a run that another machine has made, which keeps no journal (R104): what its `state.md` and its files tell is taken for what came of
//! its requests.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::path::Path;

use prose_files::Limit;
use prose_syntax::text::{counted, one_line};
use prose_vm::effect::{Choice, Effect, Outcome, Request, RequestId, Verdict};
use prose_vm::event::Event;
use prose_vm::store::{PendingRequests, Recording};
use prose_vm::value::Value;
use rustc_hash::FxHashMap;

use crate::binding_file;
use crate::disk::{OwnFile, is_absent, refuse_link};
use crate::error::StateError;
use crate::folder::PROGRAM_FILE;
use crate::foreign_state::ForeignState;
use crate::open_constructs::OpenConstructs;
use crate::program::Program;
use crate::recall::later_than;
use crate::state_file::STATE_FILE;

mod standing;

/// What a verdict that is taken from `state.md` gives for its reason.
const REASON: &str = "as stated in state.md";

/// How deep imports of imports are followed, so that a link to a folder around it ends somewhere.
const MAX_IMPORTS: usize = 32;

/// What the files of a run tell that has no journal.
#[derive(Debug, Default)]
pub struct ForeignRecording {
    /// By the folder of the execution, relative to that of the run: empty, or ending with a slash.
    executions: BTreeMap<String, Execution>,
    /// Where the execution is that asks.
    open: OpenConstructs,
    /// The execution ids that calls had in the run that stopped, by their program and their id now, where these may differ.
    calls: RefCell<FxHashMap<(u32, u32), u32>>,
    known: VecDeque<(RequestId, Outcome)>,
    seen: Option<RequestId>,
    reused: u32,
    notes: Vec<String>,
}

/// What the files of an execution tell.
#[derive(Debug)]
struct Execution {
    program: Program,
    told: ForeignState,
    /// The values of its bindings by file, as they were when the run stopped. The run that continues writes them again.
    bindings: FxHashMap<String, Stored>,
}

#[derive(Debug)]
struct Stored {
    is_input: bool,
    /// The first line of the statement that the head names as its source.
    source: Option<String>,
    value: String,
}

impl ForeignRecording {
    /// Reads the folder of a run. The text is that of the program as it is executed now.
    pub fn read(folder: &Path, text: &str) -> Result<Self, StateError> {
        let mut recall = Self::default();
        recall.read_execution(folder, String::new(), Some(text), 0)?;
        let count: usize = recall.executions.values().map(|execution| execution.bindings.len()).sum();
        recall.notes.push(format!(
            "the run has no journal, so it comes from another implementation; it is resumed from {STATE_FILE} and {} of bindings",
            counted(count, "file")
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
        let read = |file: &str| match OwnFile(&folder.join(file)).read(Limit::STATE) {
            Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
            Err(StateError::Io { error, .. }) if is_absent(&error) => Ok(None),
            Err(error) => Err(error),
        };
        let text = match text {
            Some(text) => text.to_owned(),
            None => read(PROGRAM_FILE)?.unwrap_or_default(),
        };
        let program = Program::new(&text);
        let told = match read(STATE_FILE)? {
            Some(state) => ForeignState::read(&state, &program),
            None => {
                self.notes.push(format!(
                    "{} does not exist, so every session with a file counts as completed",
                    folder.join(STATE_FILE).display()
                ));
                ForeignState::default()
            }
        };
        let mut bindings = FxHashMap::default();
        refuse_link(&folder.join("bindings"))?;
        for entry in fs::read_dir(folder.join("bindings")).into_iter().flatten().flatten() {
            let Ok(file) = entry.file_name().into_string() else { continue };
            if file.ends_with(".md") && !file.starts_with('.') {
                let path = entry.path();
                let bytes = OwnFile(&path).read(Limit::STATE)?;
                let text = String::from_utf8_lossy(&bytes);
                let is_input = binding_file::kind(&text) == Some("input");
                let value = binding_file::read(&text).to_owned();
                let source = binding_file::source(&text).map(one_line);
                bindings.insert(file, Stored { is_input, source, value });
            }
        }
        self.executions.insert(name.clone(), Execution { program, told, bindings });
        refuse_link(&folder.join("imports"))?;
        for entry in fs::read_dir(folder.join("imports")).into_iter().flatten().flatten() {
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if let Ok(import) = entry.file_name().into_string()
                && is_folder
                && depth < MAX_IMPORTS
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

    fn answer(&self, request: &Request) -> Option<Outcome> {
        let place = request.place.as_str();
        match &request.effect {
            Effect::Session(task) => {
                let (folder, file) = task.binding.path.rsplit_once("bindings/")?;
                let execution = self.executions.get(folder)?;
                // Others call the files of all names after them.
                let plain = file.replacen('~', "", 1);
                let file = if execution.bindings.contains_key(file) { file } else { &plain };
                self.session(execution, request, task, file)
            }
            Effect::Input(input) => {
                let file = format!("{}.md", input.name.as_ref()?);
                let stored = self.executions.get("")?.bindings.get(&file)?;
                let is_own = request.site.program == 0 && stored.is_input;
                is_own.then(|| Outcome::Value(Value::text(stored.value.as_str())))
            }
            Effect::Judge(question) => {
                let met = self.judge(place, question)?;
                Some(Outcome::Verdict(Verdict { met, reason: REASON.to_owned(), no_progress: false }))
            }
            Effect::Choose(question) => {
                let index = self.choose(place, question)?;
                Some(Outcome::Choice(Choice { index, reason: REASON.to_owned() }))
            }
            // The pause before a retry of what is known to have failed.
            Effect::Sleep(_) => {
                let stand = self.stand(place);
                let own = stand.own?;
                let has_failed = self.failure(&stand, own, false).is_some();
                has_failed.then_some(Outcome::Slept)
            }
            _ => None,
        }
    }
}

impl Recording for ForeignRecording {
    fn recall(&mut self, waiting: &PendingRequests) -> Option<(RequestId, Outcome)> {
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

    fn happened(&mut self, event: &Event) {
        self.open.apply(event);
    }
}
