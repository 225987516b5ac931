//! Completions at the cursor.

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

/// The characters that trigger completion.
pub const TRIGGERS: &[&str] = &["{", ".", ":", "\"", "/", " ", "(", "[", ",", "|"];

/// The completions at an offset, the most likely first. `paths` are the candidates for `use`.
pub fn completions(
    db: &dyn Db,
    file: SourceFile,
    offset: TextSize,
    paths: &PathCandidates,
) -> Vec<Completion> {
    let Some(cursor) = Cursor::new(db, file, offset).filter(|cursor| !cursor.is_after_digit()) else {
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
