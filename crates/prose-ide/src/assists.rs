//! Assists: refactorings that are offered at the cursor or the selection.
//!
//! Each has its own file and is not offered where it does not apply, or where it would change the behaviour of the program
//! in a way that its label does not mention.

mod catch;
mod chain;
mod extract_agent;
mod extract_block;
mod inline_block;
mod loop_until;
mod output;
mod parallel;
mod resume;
mod source;
#[cfg(test)]
mod testing;
mod triple;
mod uses;

use prose_analysis::location::Origin;
use prose_analysis::{Db, SourceFile};
use prose_syntax::{TextEdit, TextRange, TextSize};

use source::Source;

/// A refactoring that is offered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assist {
    /// The label, in the imperative.
    pub label: String,
    /// Its kind.
    pub kind: AssistKind,
    /// The edits, in the order of the text.
    pub edits: Vec<TextEdit>,
    /// The position of a made-up name in the text after the edits, where a rename can start.
    pub new_name: Option<TextRange>,
}

/// The kind of an assist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AssistKind {
    /// Extracts a part of the program into a definition.
    Extract,
    /// Inlines a definition where it is used.
    Inline,
    /// Rewrites a part of the program with the same meaning.
    Rewrite,
    /// Organizes the imports.
    Organize,
}

impl Assist {
    fn new(label: impl Into<String>, kind: AssistKind, edits: Vec<TextEdit>) -> Self {
        Self { label: label.into(), kind, edits, new_name: None }
    }

    fn rewrite(label: impl Into<String>, edits: Vec<TextEdit>) -> Self {
        Self::new(label, AssistKind::Rewrite, edits)
    }

    /// The same with a made-up name, which is in the text of one of the edits.
    fn naming(mut self, edit: usize, at: usize, name: &str) -> Self {
        let mut start = usize::from(self.edits[edit].range.start()) + at;
        for earlier in &self.edits[..edit] {
            start = start + earlier.new_text.len() - usize::from(earlier.range.len());
        }
        self.new_name = Some(TextRange::at(source::size(start), TextSize::of(name)));
        self
    }
}

/// The assists at the cursor or the selection. Programs from the network have none.
pub fn assists(db: &dyn Db, file: SourceFile, range: TextRange) -> Vec<Assist> {
    if *file.origin(db) != Origin::Local {
        return Vec::new();
    }
    let Some(source) = Source::new(db, file, range) else { return Vec::new() };
    const ALL: &[fn(&Source<'_>) -> Option<Assist>] = &[
        extract_block::extract_block,
        extract_agent::extract_agent,
        inline_block::inline_block,
        parallel::to_parallel,
        parallel::to_sequence,
        resume::resume,
        chain::to_statements,
        chain::to_chain,
        triple::to_triple,
        output::to_output,
        catch::add_catch,
        catch::surround,
        loop_until::to_loop_until,
    ];
    ALL.iter().filter_map(|assist| assist(&source)).collect()
}

/// The assist that moves the imports of a program to one place and sorts them, if they are not.
pub fn organize_uses(db: &dyn Db, file: SourceFile) -> Option<Assist> {
    if *file.origin(db) != Origin::Local {
        return None;
    }
    uses::organize(&Source::new(db, file, TextRange::empty(TextSize::new(0)))?)
}
