//! Refactorings: changes of a program that a person can choose where the cursor or the selection is.
//!
//! Each stands in a file of its own and gives nothing where it does not apply, which is also where it would change what the program does
//! in a way that its label does not say.

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

/// A change that can be chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assist {
    /// What it does, for a person.
    pub label: String,
    /// What sort of change it is.
    pub kind: AssistKind,
    /// The edits, in the order of the text.
    pub edits: Vec<TextEdit>,
    /// Where a name was made up that the person will want to choose, in the text after the edits.
    pub new_name: Option<TextRange>,
}

/// What sort of change an assist is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AssistKind {
    /// A part of the program becomes a thing with a name.
    Extract,
    /// A thing with a name is put where it is used.
    Inline,
    /// The same is said in another way.
    Rewrite,
    /// The imports are put in order.
    Organize,
}

impl Assist {
    fn new(label: impl Into<String>, kind: AssistKind, edits: Vec<TextEdit>) -> Self {
        Self { label: label.into(), kind, edits, new_name: None }
    }

    fn rewrite(label: impl Into<String>, edits: Vec<TextEdit>) -> Self {
        Self::new(label, AssistKind::Rewrite, edits)
    }

    /// The same with a made-up name, which stands in the text of one of the edits.
    fn naming(mut self, edit: usize, at: usize, name: &str) -> Self {
        let mut start = usize::from(self.edits[edit].range.start()) + at;
        for earlier in &self.edits[..edit] {
            start = start + earlier.new_text.len() - usize::from(earlier.range.len());
        }
        self.new_name = Some(TextRange::at(source::size(start), TextSize::of(name)));
        self
    }
}

/// The changes that can be chosen where the cursor or the selection is. Programs that came from the network have none.
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

/// The change that puts the imports of a program into one place and into order, if they are not.
pub fn organize_uses(db: &dyn Db, file: SourceFile) -> Option<Assist> {
    if *file.origin(db) != Origin::Local {
        return None;
    }
    uses::organize(&Source::new(db, file, TextRange::empty(TextSize::new(0)))?)
}
