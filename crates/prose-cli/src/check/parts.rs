//! The programs in a file: most files are one, and a Markdown document may have several.

use std::path::{Path, PathBuf};

use prose_markdown::{Fence, is_markdown, is_reported, path_of_program};
use prose_syntax::{TextEdit, TextRange};

use super::Diagnosed;

/// A program in a file.
pub(crate) enum Part<'a> {
    /// It is all of the file.
    Whole(&'a Path, &'a str),
    /// It stands in a fenced code block of a Markdown document. The path is that of the program.
    Fenced(PathBuf, Fence),
}

/// The programs in the file at a path, in its order.
pub(crate) fn parts<'a>(path: &'a Path, text: &'a str) -> Vec<Part<'a>> {
    if !is_markdown(path) {
        return vec![Part::Whole(path, text)];
    }
    let programs = prose_markdown::programs(text).into_iter();
    programs.map(|fence| Part::Fenced(path_of_program(path, fence.number), fence)).collect()
}

impl Part<'_> {
    /// The path of the program.
    pub(crate) fn path(&self) -> &Path {
        match self {
            Part::Whole(path, _) => path,
            Part::Fenced(path, _) => path,
        }
    }

    pub(crate) fn text(&self) -> &str {
        match self {
            Part::Whole(_, text) => text,
            Part::Fenced(_, fence) => &fence.text,
        }
    }

    /// The part of a range in the file that is in the program; none if it touches nothing of it.
    pub(crate) fn range_in_text(&self, range: TextRange) -> Option<TextRange> {
        match self {
            Part::Whole(..) => Some(range),
            Part::Fenced(_, fence) => fence.range_in_text(range),
        }
    }

    /// The edit of the file that is an edit of the program.
    pub(crate) fn edit_in_document(&self, edit: &TextEdit) -> TextEdit {
        match self {
            Part::Whole(..) => edit.clone(),
            Part::Fenced(_, fence) => fence.edit_in_document(edit),
        }
    }

    /// What there is to say about the program, as something about the file.
    pub(super) fn in_document(&self, diagnosed: Vec<Diagnosed>) -> Vec<Diagnosed> {
        let Part::Fenced(_, fence) = self else { return diagnosed };
        let reported = diagnosed.into_iter().filter(|diagnosed| is_reported(diagnosed.diagnostic.code));
        let moved = reported.map(|Diagnosed { diagnostic, severity }| Diagnosed {
            diagnostic: fence.diagnostic_in_document(&diagnostic),
            severity,
        });
        moved.collect()
    }
}
