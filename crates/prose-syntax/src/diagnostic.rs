//! Diagnostics: a code, a range, a message and optional fixes.

use std::borrow::Cow;
use std::sync::Arc;

use rowan::{TextRange, TextSize};

use crate::codes::{Code, Level, Profile};
use crate::severity::Severity;

/// A diagnostic in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The code, whose row of the table has the severity, the title and the explanation.
    pub code: Code,
    /// The range to change, as short as possible; empty where something is missing.
    pub range: TextRange,
    /// What is wrong in one clause, and how to fix it in a second: lower case, no full stop.
    pub message: String,
    /// The preferred fix, if there is one.
    pub fix: Option<Fix>,
    /// Alternative fixes, for the user to choose from.
    pub other_fixes: Vec<Fix>,
    /// Related locations, such as the first of two definitions.
    pub related: Vec<Related>,
    /// Whether the case has the lenient level in the default profile, since working programs show it to be harmless.
    pub lenient: bool,
    /// What decides about the mistake. The parser looks neither names up nor at the lines below, so this is for the analysis.
    pub undecided: Option<Undecided>,
}

/// What decides about a mistake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Undecided {
    /// The meaning of a name.
    Name(UndecidedName),
    /// Whether a string that is not closed on its line is closed on one below.
    OpenString,
    /// Whether a line that starts no statement belongs to a string that is open on a line above.
    Line,
}

/// A name whose meaning decides what is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UndecidedName {
    /// The place of the name.
    pub range: TextRange,
    /// What the name seems to be.
    pub role: NameRole,
}

/// What a name seems to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameRole {
    /// The agent in `session NAME`, which lacks its `:`.
    SessionAgent,
    /// The agent in `resume NAME`, which lacks its `:`.
    ResumeAgent,
    /// A word that is alone in its line.
    Statement,
}

/// A related location of a diagnostic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Related {
    /// The file; none for the file of the diagnostic.
    pub path: Option<Arc<str>>,
    /// The range in that file.
    pub range: TextRange,
    /// A short phrase about the location.
    pub message: String,
}

impl Undecided {
    /// Whether it is about a line that starts no statement.
    pub fn is_about_line(self) -> bool {
        match self {
            Undecided::Line => true,
            Undecided::Name(name) => name.role == NameRole::Statement,
            Undecided::OpenString => false,
        }
    }
}

impl Related {
    /// A location in a file, or in that of the diagnostic if none is given.
    pub fn new(path: Option<Arc<str>>, range: TextRange, message: impl Into<String>) -> Self {
        Self { path, range, message: shortened(message.into()) }
    }
}

impl Diagnostic {
    /// A diagnostic without fixes and related locations.
    pub fn new(code: Code, range: TextRange, message: impl Into<String>) -> Self {
        Self {
            code,
            range,
            message: shortened(message.into()),
            fix: None,
            other_fixes: Vec::new(),
            related: Vec::new(),
            lenient: false,
            undecided: None,
        }
    }

    /// Appends to the message.
    pub fn add_to_message(&mut self, more: impl Into<String>) {
        self.message += &shortened(more.into());
    }

    /// The same diagnostic with a fix, if there is one. A second fix becomes an alternative.
    pub fn with_fix(mut self, fix: impl Into<Option<Fix>>) -> Self {
        let fix = fix.into();
        match self.fix {
            None => self.fix = fix,
            Some(_) => self.other_fixes.extend(fix),
        }
        self
    }

    /// The same diagnostic with a related location in the same file.
    pub fn with_related(mut self, range: TextRange, message: impl Into<String>) -> Self {
        self.related.push(Related::new(None, range, message));
        self
    }

    /// The same diagnostic, lenient if the case is known to be harmless.
    pub fn with_lenient(mut self, lenient: bool) -> Self {
        self.lenient = lenient;
        self
    }

    /// The level in a profile.
    pub fn level(&self, profile: Profile) -> Level {
        self.code.info().level(profile, self.lenient)
    }

    /// The severity in the default profile; that of a hint where it is off there.
    pub fn severity(&self) -> Severity {
        self.level(Profile::Default).severity().unwrap_or(Severity::Hint)
    }

    /// The same diagnostic with its ranges mapped by `by`.
    pub fn moved(mut self, by: impl Fn(TextRange) -> TextRange) -> Self {
        self.range = by(self.range);
        if let Some(Undecided::Name(name)) = &mut self.undecided {
            name.range = by(name.range);
        }
        for fix in self.fix.iter_mut().chain(&mut self.other_fixes) {
            for edit in &mut fix.edits {
                edit.range = by(edit.range);
            }
        }
        for related in self.related.iter_mut().filter(|related| related.path.is_none()) {
            related.range = by(related.range);
        }
        self
    }
}

/// The message with very long words shortened in their middle, since a name may be as long as its file.
fn shortened(message: String) -> String {
    /// Longer than any real name or path.
    const MAX_WORD: usize = 160;
    const START: usize = 60;
    const END: usize = 20;
    let is_long = |word: &str| word.len() > MAX_WORD;
    if !is_long(&message) || !message.split(' ').any(is_long) {
        return message;
    }
    let words = message.split(' ').map(|word| match is_long(word) {
        true => {
            let start = word.floor_char_boundary(START);
            let end = word.ceil_char_boundary(word.len() - END);
            Cow::Owned(format!("{}…{}", &word[..start], &word[end..]))
        }
        false => Cow::Borrowed(word),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// A fix of a diagnostic: edits with a title.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    /// The title, in the imperative: `Insert ':'`.
    pub title: String,
    /// Whether the fix surely has the intended meaning.
    pub safety: FixSafety,
    /// Edits that do not overlap, in the order of the text.
    pub edits: Vec<TextEdit>,
}

impl Fix {
    /// A fix of one edit or several, which do not overlap and are in the order of the text.
    pub fn new(title: impl Into<String>, safety: FixSafety, edits: impl Into<Vec<TextEdit>>) -> Self {
        Self { title: shortened(title.into()), safety, edits: edits.into() }
    }

    /// A fix that can be applied without asking.
    pub fn safe(title: impl Into<String>, edits: impl Into<Vec<TextEdit>>) -> Self {
        Self::new(title, FixSafety::Safe, edits)
    }

    /// An unsafe fix, which the user has to confirm.
    pub fn suggestion(title: impl Into<String>, edits: impl Into<Vec<TextEdit>>) -> Self {
        Self::new(title, FixSafety::Unsafe, edits)
    }

    /// An unsafe fix that replaces a range with the probable intention.
    pub fn change(range: TextRange, to: &str) -> Self {
        Self::suggestion(format!("Change to `{to}`"), TextEdit::replace(range, to))
    }
}

/// Whether a fix may be applied without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FixSafety {
    /// The intention is certain.
    Safe,
    /// A guess, which the user has to confirm.
    Unsafe,
}

/// An edit that replaces a range; an empty range inserts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextEdit {
    /// The range to replace, in the text before the edit.
    pub range: TextRange,
    /// The new text.
    pub new_text: String,
}

impl From<TextEdit> for Vec<TextEdit> {
    fn from(edit: TextEdit) -> Self {
        vec![edit]
    }
}

impl TextEdit {
    /// Inserts `new_text` at `offset`.
    pub fn insert(offset: TextSize, new_text: impl Into<String>) -> Self {
        Self { range: TextRange::empty(offset), new_text: new_text.into() }
    }

    /// Replaces `range` with `new_text`.
    pub fn replace(range: TextRange, new_text: impl Into<String>) -> Self {
        Self { range, new_text: new_text.into() }
    }

    /// Removes `range`.
    pub fn delete(range: TextRange) -> Self {
        Self { range, new_text: String::new() }
    }
}
