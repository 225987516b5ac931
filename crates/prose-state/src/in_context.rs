//! The state of a run that keeps no files of its own (R106 to R110): its narration is its state, and only what agents remember beyond the run is on the
//! disk.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::Path;
use std::sync::Arc;

use prose_vm::effect::{
    Binding, Effect, Failure, FileUse, Memory, MemoryPlace, MemoryScope, MemoryUse, Request, RequestId,
};
use prose_vm::event::{Event, EventKind};
use prose_vm::place::Place;
use prose_vm::store::{Store, Turn};

use crate::context_file;
use crate::folder::Project;
use crate::memory::Memories;
use crate::turns::Turns;

/// Keeps what agents remember: that of the run in its own memory, that of the project and of the person where it always lies (R42).
#[derive(Debug)]
pub struct InContextStore {
    project: Project,
    files: Memories,
    /// Whether what lasts longer than the run is written.
    writes: bool,
    /// Whether agents have what they remember of other runs.
    remembers: bool,
    kept: HashMap<MemoryPlace, Memory>,
    turns: Turns,
    /// The places of sessions with a memory that an earlier execution has had answered.
    recalled: HashSet<Place>,
}

impl InContextStore {
    /// The store of a run of a project.
    pub fn new(project: &Project) -> Self {
        // Nothing is written below the folder of a run that has none.
        let files = Memories::new(project, Path::new(""));
        Self {
            project: project.clone(),
            files,
            writes: true,
            remembers: true,
            kept: HashMap::new(),
            turns: Turns::default(),
            recalled: HashSet::new(),
        }
    }

    /// The store of a run that reads what other runs do, and writes nothing: a dry run.
    pub fn dry(project: &Project) -> Self {
        Self { writes: false, ..Self::new(project) }
    }

    /// The store of a run that neither reads what agents remember of other runs nor writes anything: a test, which gives the same wherever it runs.
    pub fn alone(project: &Project) -> Self {
        Self { writes: false, remembers: false, ..Self::new(project) }
    }
}

impl Store for InContextStore {
    fn record(&mut self, event: &Event, is_new: bool) -> io::Result<()> {
        let EventKind::MemoryWritten { place, memory, segment, .. } = &event.kind else {
            return Ok(());
        };
        if place.scope == MemoryScope::Execution || !self.writes {
            let memory = Memory { text: Some(Arc::clone(memory)), segments: *segment };
            self.kept.insert(place.clone(), memory);
            return Ok(());
        }
        let folder = self.files.make(place)?;
        let _lock = self.turns.for_writing(&folder)?;
        // A narration does not say what an agent has sent along with its reply, but the record of the session is there.
        if !is_new || self.recalled.contains(&event.place) && self.files.has_segment_of(event)? {
            return Ok(());
        }
        Ok(self.files.take_up(event)?)
    }

    fn recalled(&mut self, request: &Request) {
        if let Effect::Session(task) = &request.effect
            && task.memory.is_some()
        {
            self.recalled.insert(request.place.clone());
        }
    }

    fn take_turn(&mut self, request: &Request, place: &MemoryPlace) -> io::Result<Turn> {
        if place.scope == MemoryScope::Execution || !self.writes {
            return Ok(Turn::Taken);
        }
        let folder = self.files.make(place)?;
        let turn = self.turns.take(request.id, &folder)?;
        if matches!(turn, Turn::Taken) {
            self.files.finish(place)?;
        }
        Ok(turn)
    }

    fn end_turn(&mut self, request: RequestId) {
        self.turns.end(request);
    }

    fn commit(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn read_binding(&mut self, _: &Binding) -> io::Result<Option<String>> {
        Ok(None)
    }

    fn read_memory(&mut self, place: &MemoryPlace) -> io::Result<Memory> {
        match self.kept.get(place) {
            Some(memory) => Ok(memory.clone()),
            None if place.scope == MemoryScope::Execution || !self.remembers => Ok(Memory::default()),
            None => Ok(self.files.read(place)?),
        }
    }

    fn read_file(&mut self, file: &FileUse) -> Result<Arc<str>, Failure> {
        context_file::read(&self.project, file)
    }

    fn check_file(&mut self, file: &FileUse) -> Result<(), Failure> {
        context_file::check(&self.project, file)
    }

    fn has_written_memory(&mut self, _: &MemoryUse) -> io::Result<bool> {
        Ok(false)
    }
}
