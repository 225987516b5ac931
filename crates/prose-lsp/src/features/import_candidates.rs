//! The candidates for the paths of `use`.

use std::path::{Path, PathBuf};

use prose_analysis::location::Origin;
use prose_analysis::{Db, SourceFile};
use prose_ide::PathCandidates;
use prose_syntax::TextSize;

use crate::reads::views::View;

/// The candidates for the path of `use`. Folders and the cache are read only if the line at the offset is a `use`.
pub(crate) fn candidates(view: &View<'_>, offset: TextSize) -> PathCandidates {
    let text = &view.snapshot.text;
    let line = text.byte_to_line(usize::from(offset).min(text.len_bytes()));
    if !text.line(line).chunks().any(|chunk| chunk.trim_start().starts_with(['u', 'i'])) {
        return PathCandidates::default();
    }
    let known = view.cache.list().into_iter().map(|source| source.reference);
    PathCandidates { local: nearby_programs(view, view.snapshot.file), known: known.collect() }
}

/// The programs that are known, and those in the folder of a program and directly below it.
fn nearby_programs(view: &View<'_>, file: SourceFile) -> Vec<PathBuf> {
    /// A folder with more than that is none that programs are kept in.
    const MAX_ENTRIES: usize = 2_000;
    let db: &dyn Db = view.db;
    let can_be_imported =
        |file: &SourceFile| *file.origin(db) == Origin::Local && !view.programs.is_part(*file);
    let known = view.db.programs().into_iter().filter(can_be_imported);
    let mut paths: Vec<PathBuf> = known.map(|file| file.path(db).to_path_buf()).collect();
    let Some(folder) = file.path(db).parent() else { return paths };
    let entries =
        |folder: PathBuf| std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    for path in entries(folder.to_owned()).take(MAX_ENTRIES) {
        if path.is_dir() {
            paths.extend(entries(path).take(MAX_ENTRIES).filter(|path| is_program(path)));
        } else if is_program(&path) {
            paths.push(path);
        }
    }
    paths.sort();
    paths.dedup();
    paths.retain(|path| path != &**file.path(db));
    paths
}

fn is_program(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "prose")
}
