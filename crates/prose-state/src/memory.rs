//! The memory of persistent agents on the disk (R42, R46, R47).

use std::path::{Path, PathBuf};
use std::time::Duration;

use prose_files::Limit;
use prose_rights::is_in_git;
use prose_vm::effect::{Memory, MemoryPlace, MemoryScope, MemoryUse};
use prose_vm::event::{Event, EventKind};
use prose_vm::names::segment_file;
use serde::{Deserialize, Serialize};

use crate::agents_database::{self, AGENTS_DATABASE, StoredAgent, StoredSegment};
use crate::disk::{Tree, check_part, make_tree, open_tree, resolved};
use crate::error::StateError;
use crate::folder::{PROSE_FOLDER, Project};
use crate::state_file::timestamp_in_milliseconds;
use crate::tables::sql_time;

/// The file with the current memory of an agent.
const MEMORY_FILE: &str = "memory.md";

/// The file with what is about to be written to both.
const PENDING_FILE: &str = ".memory-pending.json";

/// How old a file has to be that a killed run may have left next to a memory, since other runs write there, too.
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
        let is_inside = resolved(&folder).starts_with(resolved(&limit));
        let is_allowed = place.scope == MemoryScope::Project && self.project.allows_outside;
        if !is_inside && !is_allowed {
            let why = format!("the memory of agent `{}` is outside of {}", place.agent, limit.display());
            return Err(StateError::refused(folder.display().to_string(), why));
        }
        Ok(folder)
    }

    /// The folders that the folder of a memory has to lie in, whatever links there are on the way. None are no limit.
    fn limits(&self, place: &MemoryPlace) -> Vec<PathBuf> {
        let home = self.project.home.as_ref().map(|home| home.join(PROSE_FOLDER));
        match place.scope {
            // That of the person may lie wherever the person has put it.
            MemoryScope::User => home.into_iter().collect(),
            MemoryScope::Execution => vec![self.run.clone()],
            _ if self.project.allows_outside => Vec::new(),
            MemoryScope::Project => vec![self.project.root.clone()],
            MemoryScope::Custom => std::iter::once(self.project.root.clone()).chain(home).collect(),
        }
    }

    /// The open folder of a memory; none if it does not exist.
    fn open(&self, place: &MemoryPlace) -> Result<Option<Tree>, StateError> {
        let (folder, limits) = (self.folder(place)?, self.limits(place));
        open_tree(&folder, &limits.iter().map(PathBuf::as_path).collect::<Vec<_>>())
    }

    /// The same, made if it does not exist.
    fn tree(&self, place: &MemoryPlace) -> Result<Tree, StateError> {
        let (folder, limits) = (self.folder(place)?, self.limits(place));
        if place.scope == MemoryScope::Project {
            self.project.make_prose_folder()?;
        }
        make_tree(&folder, &limits.iter().map(PathBuf::as_path).collect::<Vec<_>>())
    }

    fn home(&self, place: &MemoryPlace) -> Result<PathBuf, StateError> {
        self.project.home.clone().ok_or_else(|| {
            let why =
                format!("agent `{}` stores its memory in the home folder, but there is none", place.agent);
            StateError::refused(place.folder.as_ref(), why)
        })
    }

    fn custom_folder(&self, place: &MemoryPlace) -> Result<PathBuf, StateError> {
        if place.folder.starts_with("~/") {
            self.home(place)?;
        }
        let folder = self.project.named_by_program(&place.folder).ok_or_else(|| StateError::Outside {
            folder: place.folder.to_string(),
            agent: place.agent.to_string(),
            project: self.project.root.clone(),
        })?;
        if is_in_git(&place.folder) || is_in_git(&self.project.settled(&folder)) {
            let why = format!(
                "the memory of agent `{}` cannot be in `.git`, whose files are executed; use another folder",
                place.agent
            );
            return Err(StateError::refused(place.folder.as_ref(), why));
        }
        Ok(folder)
    }

    pub(crate) fn read(&self, place: &MemoryPlace) -> Result<Memory, StateError> {
        let Some(tree) = self.open(place)? else { return Ok(Memory::default()) };
        let bytes = tree.read(MEMORY_FILE, Limit::MEMORY)?;
        let text = bytes.map(|bytes| String::from_utf8_lossy(&bytes).into());
        let names = tree.folder().names()?;
        let segments = names.iter().filter_map(|name| segment_number(&place.agent, name)).max();
        Ok(Memory { text, segments: segments.unwrap_or(0) })
    }

    pub(crate) fn has_written(&self, memory: &MemoryUse) -> Result<bool, StateError> {
        let Some(tree) = self.open(&memory.place)? else { return Ok(false) };
        let segment = segment_file(&memory.place.agent, memory.segment);
        Ok(tree.has(MEMORY_FILE)? && tree.has(&segment)?)
    }

    /// The folder of a memory, made if it does not exist, without links in its path: by it a memory is known.
    pub(crate) fn make(&self, place: &MemoryPlace) -> Result<PathBuf, StateError> {
        Ok(self.tree(place)?.folder().path().to_owned())
    }

    /// Writes what a process was about to write that was killed. Only who has the turn at the memory may do so.
    pub(crate) fn finish(&self, place: &MemoryPlace) -> Result<(), StateError> {
        finish_write(&self.tree(place)?)
    }

    /// Writes what a session has left of its agent's memory. Memory and segment are written together: what is to be written stands in a file of its own
    /// first, so that the next turn finishes what a killed process did not.
    fn write(&self, written: &Written<'_>) -> Result<(), StateError> {
        let Written { place, memory, segment, at, prompt, record } = *written;
        let tree = self.tree(place)?;
        tree.remove_temporary_files(LONG_AGO);
        finish_write(&tree)?;
        let mut memory = memory.to_owned();
        let mut number = segment;
        // Another run has written since this one looked, so its record stays (R47, R49), and so does what its agent remembers.
        while tree.read(&segment_file(&place.agent, number), Limit::STATE)?.is_some() {
            number += 1;
        }
        if number > segment {
            let newer = self.read(place)?.text.unwrap_or_default();
            memory =
                format!("{}\n\n## Segment {number} Summary\n\n{}\n", newer.trim_end(), record.trim_end());
        }
        let pending = Pending {
            memory,
            segment: segment_file(&place.agent, number),
            record: segment_record(number, at, prompt, record),
        };
        let text = serde_json::to_vec(&pending).map_err(|error| {
            StateError::io("write", &tree.folder().path().join(PENDING_FILE))(error.into())
        })?;
        tree.write_durable(PENDING_FILE, &text)?;
        tree.sync_file(PENDING_FILE)?;
        finish_write(&tree)
    }

    /// Takes up that a session has written a memory.
    pub(crate) fn take_up(&self, event: &Event) -> Result<(), StateError> {
        let Some(written) = Written::of(event) else { return Ok(()) };
        self.write(&written)
    }

    /// The same for what an earlier execution may have written already.
    pub(crate) fn take_up_once(&self, event: &Event) -> Result<(), StateError> {
        let Some(written) = Written::of(event) else { return Ok(()) };
        if self.has_applied(&written)? { Ok(()) } else { self.write(&written) }
    }

    /// Copies what is remembered at a place to the database of the project or the user (R111), after a session that ended at a time. Only who has the
    /// turn at the memory may do so.
    pub(crate) fn copy_to_database(&self, place: &MemoryPlace, at: u64) -> Result<(), StateError> {
        let base = match place.scope {
            MemoryScope::Project => self.project.root.clone(),
            MemoryScope::User => self.home(place)?,
            // The database of the run has those that belong to it, and the program has chosen the place of others.
            MemoryScope::Execution | MemoryScope::Custom => return Ok(()),
        };
        let limits = self.limits(place);
        let limits: Vec<&Path> = limits.iter().map(PathBuf::as_path).collect();
        let database = make_tree(&base.join(PROSE_FOLDER), &limits)?.folder().path().join(AGENTS_DATABASE);
        let tree = self.tree(place)?;
        let text = self.read(place)?.text.unwrap_or_default();
        let name = place.folder.trim_end_matches('/');
        let name =
            name.strip_prefix(PROSE_FOLDER).and_then(|name| name.strip_prefix("/agents/")).unwrap_or(name);
        let agent = StoredAgent { name, scope: place.scope, memory: &text, at };
        agents_database::copy(&database, &agent, |known| {
            let names = tree.folder().names()?;
            let mut numbers: Vec<u32> =
                names.iter().filter_map(|name| segment_number(&place.agent, name)).collect();
            numbers.sort_unstable();
            let missing = numbers.into_iter().filter(|number| !known.contains(number));
            let read = |number| -> Result<Option<StoredSegment>, StateError> {
                let file = tree.read(&segment_file(&place.agent, number), Limit::STATE)?;
                Ok(file.map(|bytes| stored_segment(number, &String::from_utf8_lossy(&bytes))))
            };
            missing.filter_map(|number| read(number).transpose()).collect()
        })
    }

    /// Whether a segment says that a session has written its memory.
    fn has_applied(&self, written: &Written<'_>) -> Result<bool, StateError> {
        let Written { place, segment, at, prompt, record, .. } = *written;
        let tree = self.tree(place)?;
        finish_write(&tree)?;
        // Where other runs had taken its number, it has a later one.
        for number in segment.. {
            match tree.read(&segment_file(&place.agent, number), Limit::STATE)? {
                None => return Ok(false),
                Some(found) if found == segment_record(number, at, prompt, record).as_bytes() => {
                    return Ok(true);
                }
                Some(_) => {}
            }
        }
        Ok(false)
    }

    /// Whether one of the segments from a number on is that of a session with this task.
    pub(crate) fn has_segment_of(&self, event: &Event) -> Result<bool, StateError> {
        let Some(Written { place, prompt, .. }) = Written::of(event) else { return Ok(false) };
        let tree = self.tree(place)?;
        let line = format!("prompt: {}", serde_json::Value::from(prompt));
        for number in 1..=self.read(place)?.segments {
            let found = tree.read(&segment_file(&place.agent, number), Limit::STATE)?.unwrap_or_default();
            if String::from_utf8_lossy(&found).lines().take(5).any(|found| found == line) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// What a session has left of its agent's memory.
#[derive(Clone, Copy)]
struct Written<'a> {
    place: &'a MemoryPlace,
    memory: &'a str,
    segment: u32,
    at: u64,
    prompt: &'a str,
    record: &'a str,
}

impl<'a> Written<'a> {
    fn of(event: &'a Event) -> Option<Self> {
        let EventKind::MemoryWritten { place, memory, segment, prompt, record } = &event.kind else {
            return None;
        };
        Some(Self { place, memory, segment: *segment, at: event.at, prompt, record })
    }
}

/// What is about to be written to a memory.
#[derive(Serialize, Deserialize)]
struct Pending {
    memory: String,
    /// The name of the segment's file.
    segment: String,
    record: String,
}

/// Writes what a process was about to write that was killed.
fn finish_write(tree: &Tree) -> Result<(), StateError> {
    let Some(bytes) = tree.read(PENDING_FILE, Limit::STATE)? else { return Ok(()) };
    // The file is put in its place as a whole, so that one that cannot be read is none of ours.
    if let Ok(Pending { memory, segment, record }) = serde_json::from_slice(&bytes) {
        tree.write_durable(&segment, record.as_bytes())?;
        tree.write_durable(MEMORY_FILE, memory.as_bytes())?;
    }
    tree.remove(PENDING_FILE)
}

/// The file of a segment (R47). The prompt stands on one line, as a text of JSON. Runs that take turns at a memory may leave the same in one second; by
/// the milliseconds, a resumed run knows its own segment.
fn segment_record(segment: u32, at: u64, prompt: &str, record: &str) -> String {
    let prompt = serde_json::Value::from(prompt);
    let record = record.trim_end();
    format!(
        "# Segment {segment:03}\n\ntimestamp: {}\nprompt: {prompt}\n\n## Summary\n\n{record}\n",
        timestamp_in_milliseconds(at)
    )
}

/// What the file of a segment has. An agent or a person may have written it in another form.
fn stored_segment(number: u32, file: &str) -> StoredSegment {
    let (head, summary) = file.split_once("\n## Summary\n").unwrap_or(("", file));
    let field = |name: &str| head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    let prompt = field("prompt").unwrap_or_default();
    StoredSegment {
        number,
        timestamp: sql_time(field("timestamp").unwrap_or_default()),
        prompt: serde_json::from_str(prompt).unwrap_or_else(|_| prompt.to_owned()),
        summary: summary.trim().to_owned(),
    }
}

fn segment_number(agent: &str, name: &str) -> Option<u32> {
    let digits = name.strip_prefix(agent)?.strip_prefix('-')?.strip_suffix(".md")?;
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_of_one_second_differ() {
        let at = 1_780_000_000_000;
        let record = segment_record(1, at, "Keep this", "Kept.");
        assert!(record.contains("timestamp: 2026-05-28T20:26:40.000Z\n"), "{record}");
        assert_ne!(record, segment_record(1, at + 1, "Keep this", "Kept."));
    }
}
