//! The runs of a project by their names alone, for command lines that are completed.

use std::fs;
use std::path::PathBuf;

use smol_str::SmolStr;

use crate::folder::Project;
use crate::reader::read_head;
use crate::source::JOURNAL_FILE;

/// A run, as far as its folder and the first line of its journal name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedRun {
    /// Its id.
    pub id: SmolStr,
    /// Its folder.
    pub folder: PathBuf,
    /// The name of its program, if a file has it.
    pub program: Option<SmolStr>,
}

impl NamedRun {
    /// Its journal, if that is a file.
    pub fn journal_file(&self) -> Option<PathBuf> {
        let file = self.folder.join(JOURNAL_FILE);
        file.symlink_metadata().is_ok_and(|metadata| metadata.is_file()).then_some(file)
    }
}

impl Project {
    /// The latest runs, the last one first, at most `max`. What cannot be read is left out. Opens no database and connects to no server, since the project may
    /// be one that nobody trusts.
    pub fn named_runs(&self, max: usize) -> Vec<NamedRun> {
        if !matches!(self.runs_tree(), Ok(Some(_))) {
            return Vec::new();
        }
        let entries = fs::read_dir(self.runs()).into_iter().flatten().flatten();
        let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        let mut ids: Vec<String> = folders.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        // They start with the time of their start.
        ids.sort_unstable_by(|a, b| b.cmp(a));
        ids.truncate(max);
        let named = ids.into_iter().map(|id| {
            let mut run = NamedRun { folder: self.runs().join(&id), id: id.into(), program: None };
            run.program = run.journal_file().and_then(|file| Some(read_head(&file).ok()?.1.program.clone()));
            run
        });
        named.collect()
    }
}
