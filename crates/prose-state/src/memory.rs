//! The memory of persistent agents on the disk (R42, R46, R47).

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use prose_vm::effect::{Memory, MemoryPlace, MemoryScope, MemoryUse};
use prose_vm::event::{Event, What};
use prose_vm::names::segment_file;

use crate::disk::{self, Tree, check_part};
use crate::error::StateError;
use crate::folder::{PROSE_FOLDER, Project, resolved};
use crate::state_file::timestamp;

/// The file with what an agent knows now.
const MEMORY_FILE: &str = "memory.md";

/// How old a file has to be that a killed run may have left beside a memory, since other runs write there, too.
const LONG_AGO: Duration = Duration::from_secs(60);

impl Project {
    /// Refuses a folder that a program names for the memory of an agent and that lies where memories may not lie (decision 14), before a run starts.
    pub fn check_memory(&self, place: &MemoryPlace) -> Result<(), StateError> {
        Memories::new(self, Path::new("")).folder(place).map(drop)
    }
}

/// Where the memories of agents lie.
#[derive(Debug)]
pub(crate) struct Memories {
    project: Project,
    run: PathBuf,
}

impl Memories {
    pub(crate) fn new(project: &Project, run: &Path) -> Self {
        Self { project: project.clone(), run: run.to_owned() }
    }

    /// The folder of a memory. One outside the places where memories may lie is refused (decision 14).
    fn folder(&self, place: &MemoryPlace) -> Result<PathBuf, StateError> {
        check_part(&place.agent, &place.agent)?;
        let base = match place.scope {
            MemoryScope::Execution => self.run.clone(),
            MemoryScope::Project => self.project.root.clone(),
            MemoryScope::User => self.home(place)?,
            MemoryScope::Custom => return self.custom_folder(place),
        };
        let mut folder = base.clone();
        for part in place.folder.trim_end_matches('/').split('/') {
            check_part(part, &place.folder)?;
            folder.push(part);
        }
        let limit = match place.scope {
            MemoryScope::Execution => base,
            _ => base.join(PROSE_FOLDER),
        };
        if !resolved(&folder).starts_with(resolved(&limit)) {
            let why = format!("the memory of agent `{}` would lie outside {}", place.agent, limit.display());
            return Err(StateError::refused(folder.display().to_string(), why));
        }
        Ok(folder)
    }

    fn home(&self, place: &MemoryPlace) -> Result<PathBuf, StateError> {
        self.project.home.clone().ok_or_else(|| {
            let why =
                format!("agent `{}` keeps its memory in the home folder, and there is none", place.agent);
            StateError::refused(place.folder.as_ref(), why)
        })
    }

    fn custom_folder(&self, place: &MemoryPlace) -> Result<PathBuf, StateError> {
        if place.folder.starts_with("~/") {
            self.home(place)?;
        }
        self.project.named_by_program(&place.folder).ok_or_else(|| StateError::Outside {
            folder: place.folder.to_string(),
            agent: place.agent.to_string(),
            project: self.project.root.clone(),
        })
    }

    pub(crate) fn read(&self, place: &MemoryPlace) -> Result<Memory, StateError> {
        let folder = self.folder(place)?;
        let path = folder.join(MEMORY_FILE);
        let text = match fs::read(&path) {
            Ok(bytes) => Some(String::from_utf8_lossy(&bytes).into()),
            Err(error) if disk::is_absent(&error) => None,
            Err(error) => return Err(StateError::io("read", &path)(error)),
        };
        let names = fs::read_dir(&folder).into_iter().flatten().flatten();
        let segments =
            names.filter_map(|entry| segment_number(&place.agent, entry.file_name().to_str()?)).max();
        Ok(Memory { text, segments: segments.unwrap_or(0) })
    }

    /// Makes the folder of a memory.
    pub(crate) fn prepare(&self, place: &MemoryPlace) -> Result<(), StateError> {
        Tree::new(&self.folder(place)?).map(drop)
    }

    pub(crate) fn has_written(&self, memory: &MemoryUse) -> Result<bool, StateError> {
        let folder = self.folder(&memory.place)?;
        let segment = segment_file(&memory.place.agent, memory.segment);
        Ok(folder.join(MEMORY_FILE).is_file() && folder.join(segment).is_file())
    }

    /// Writes a memory and the record of a segment. The record comes last: where it stands, the memory has been written too.
    pub(crate) fn write(
        &self,
        place: &MemoryPlace,
        memory: &str,
        segment: u32,
        record: &str,
        is_new: bool,
    ) -> Result<(), StateError> {
        let mut tree = Tree::new(&self.folder(place)?)?;
        tree.remove_temporary_files(LONG_AGO);
        tree.write_lasting(MEMORY_FILE, memory.as_bytes())?;
        // Another run may have taken the number since this one looked; its record stays (R47, R49).
        let mut segment = segment;
        while is_new && self.has_segment(place, segment)? {
            segment += 1;
        }
        tree.write_lasting(&segment_file(&place.agent, segment), record.as_bytes())
    }

    /// Takes up that a session has written a memory. In a run that is executed again, other runs may have written the memory since; where the segment
    /// stands, this run has written both.
    pub(crate) fn take_up(&self, event: &Event, is_new: bool) -> Result<(), StateError> {
        let What::MemoryWritten { place, memory, segment, prompt, record } = &event.what else {
            return Ok(());
        };
        if is_new || !self.has_segment(place, *segment)? {
            let record = segment_record(*segment, event.at, prompt, record);
            self.write(place, memory, *segment, &record, is_new)?;
        }
        Ok(())
    }

    fn has_segment(&self, place: &MemoryPlace, segment: u32) -> Result<bool, StateError> {
        Ok(self.folder(place)?.join(segment_file(&place.agent, segment)).is_file())
    }
}

/// The file of a segment (R47). The prompt stands on one line, as a text of JSON.
fn segment_record(segment: u32, at: u64, prompt: &str, record: &str) -> String {
    let prompt = serde_json::Value::from(prompt);
    let record = record.trim_end();
    format!(
        "# Segment {segment:03}\n\ntimestamp: {}\nprompt: {prompt}\n\n## Summary\n\n{record}\n",
        timestamp(at)
    )
}

fn segment_number(agent: &str, name: &str) -> Option<u32> {
    let digits = name.strip_prefix(agent)?.strip_prefix('-')?.strip_suffix(".md")?;
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
}
