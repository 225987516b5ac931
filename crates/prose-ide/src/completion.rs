//! What can be written at the cursor.

mod arguments;
mod brackets;
mod calls;
mod item;
mod lines;
mod paths;
mod postfix;
mod properties;
mod statements;
mod texts;
mod values;
mod variables;

use prose_analysis::{Db, SourceFile};
use prose_syntax::{SyntaxKind::*, TextRange, TextSize};

pub use item::{Completion, CompletionKind};
pub use paths::PathCandidates;

use crate::cursor::{self, Cursor};

/// The characters that ask for completions as soon as they are typed.
pub const TRIGGERS: &[&str] = &["{", ".", ":", "\"", "/", " ", "(", "[", ",", "|"];

/// Everything that can be written at an offset, the likeliest first. `paths` are those that `use` may take.
pub fn completions(
    db: &dyn Db,
    file: SourceFile,
    offset: TextSize,
    paths: &PathCandidates,
) -> Vec<Completion> {
    let Some(cursor) = Cursor::new(db, file, offset).filter(|cursor| !cursor.is_behind_digit()) else {
        return Vec::new();
    };
    let mut context = Context { replaced: cursor.word, cursor, paths, items: Vec::new() };
    if context.cursor.literal.is_some() {
        texts::complete(&mut context);
    } else if context.cursor.pieces.last().is_some_and(|last| last.kind == DOT) {
        calls::fields(&mut context);
        postfix::complete(&mut context);
    } else if let Some(open) = cursor::open_bracket(&context.cursor.pieces) {
        brackets::complete(&mut context, open);
    } else {
        lines::complete(&mut context);
    }
    let mut items = context.items;
    for (order, item) in items.iter_mut().enumerate() {
        item.order = order as u32;
    }
    items
}

/// The cursor, and what was found for it so far.
struct Context<'a> {
    cursor: Cursor<'a>,
    /// What an accepted completion replaces.
    replaced: TextRange,
    paths: &'a PathCandidates,
    items: Vec<Completion>,
}

impl Context<'_> {
    fn add(&mut self, item: Completion) {
        self.items.push(item);
    }

    /// A completion that writes its label.
    fn item(&self, kind: CompletionKind, label: impl Into<String>) -> Completion {
        Completion::new(kind, label, self.replaced)
    }
}
