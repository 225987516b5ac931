//! The programs in a file: most files are one, but a Markdown document may have several.

use std::path::{Path, PathBuf};

use prose_markdown::{Fence, is_markdown, is_reported, path_of_program};
use prose_syntax::{LineIndex, TextEdit, TextRange};

use crate::settings::Diagnosed;

/// A program in a file.
pub enum Part<'a> {
    /// The whole file.
    Whole(&'a Path, &'a str),
    /// A fenced code block in a Markdown document. The path is that of the program.
    Fenced(PathBuf, Fence),
}

/// The document of a program by its path, and its number in it; `None` if the path is that of a file.
pub fn document_of(path: &Path) -> Option<(PathBuf, usize)> {
    prose_markdown::program_at_path(path).filter(|_| !path.exists())
}

/// The programs in a file, in file order.
pub fn parts<'a>(path: &'a Path, text: &'a str) -> Vec<Part<'a>> {
    if !is_markdown(path) {
        return vec![Part::Whole(path, text)];
    }
    let programs = prose_markdown::programs(text).into_iter();
    programs.map(|fence| Part::Fenced(path_of_program(path, fence.number), fence)).collect()
}

/// The program at a path and, in a document with several, its number. The error is the rest of a sentence that starts with the path.
pub fn part<'a>(path: &'a Path, text: &'a str, number: Option<usize>) -> Result<Part<'a>, String> {
    let mut parts = parts(path, text);
    let wanted = match number {
        Some(number) => {
            let wanted = path_of_program(path, number);
            parts.iter().position(|part| part.path() == wanted)
        }
        None => (parts.len() == 1).then_some(0),
    };
    if let Some(wanted) = wanted {
        return Ok(parts.swap_remove(wanted));
    }
    Err(missing_part(parts.iter().map(Part::path), number.is_some()))
}

/// The error for a document whose programs have these paths. `is_numbered` is set if the given number does not exist.
pub fn missing_part<'a>(parts: impl Iterator<Item = &'a Path>, is_numbered: bool) -> String {
    let names: Vec<String> = parts.map(|part| format!("`{}`", part.to_string_lossy())).collect();
    match (names.is_empty(), is_numbered) {
        (true, _) => "has no program; programs are code blocks that start with ```prose".to_owned(),
        (false, false) => format!("has several programs; choose one of {}", names.join(", ")),
        (false, true) => format!("does not exist; the document has {}", names.join(", ")),
    }
}

impl Part<'_> {
    /// The path of the program.
    pub fn path(&self) -> &Path {
        match self {
            Part::Whole(path, _) => path,
            Part::Fenced(path, _) => path,
        }
    }

    /// The text of the program.
    pub fn text(&self) -> &str {
        match self {
            Part::Whole(_, text) => text,
            Part::Fenced(_, fence) => &fence.text,
        }
    }

    /// The part of a range in the file that is in the program; `None` if they do not overlap.
    pub fn range_in_text(&self, range: TextRange) -> Option<TextRange> {
        match self {
            Part::Whole(..) => Some(range),
            Part::Fenced(_, fence) => fence.range_in_text(range),
        }
    }

    /// The line of the file with the first line of the program, from 0.
    pub fn first_line(&self, file: &str) -> usize {
        match self {
            Part::Whole(..) => 0,
            Part::Fenced(_, fence) => LineIndex::new(file).line(fence.in_document(0.into()).into()),
        }
    }

    /// Converts an edit of the program to one of the file.
    pub fn edit_in_document(&self, edit: &TextEdit) -> TextEdit {
        match self {
            Part::Whole(..) => edit.clone(),
            Part::Fenced(_, fence) => fence.edit_in_document(edit),
        }
    }

    /// Converts diagnostics of the program to those of the file.
    pub fn in_document(&self, diagnosed: Vec<Diagnosed>) -> Vec<Diagnosed> {
        let Part::Fenced(_, fence) = self else { return diagnosed };
        let reported = diagnosed.into_iter().filter(|diagnosed| is_reported(diagnosed.diagnostic.code));
        let moved = reported.map(|Diagnosed { diagnostic, severity }| Diagnosed {
            diagnostic: fence.diagnostic_in_document(&diagnostic),
            severity,
        });
        moved.collect()
    }
}
