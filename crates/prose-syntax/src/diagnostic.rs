//! What the tools say about a program: a coded, placed message with an optional fix.

use std::borrow::Cow;
use std::sync::Arc;

use rowan::{TextRange, TextSize};

use crate::codes::{Code, Level, Profile};
use crate::severity::Severity;

/// One finding in one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The entry of the code table; it gives the severity, the title and the explanation.
    pub code: Code,
    /// The bytes that are wrong. Never longer than what has to change, empty where something is missing.
    pub range: TextRange,
    /// One sentence that says what is wrong and what was probably meant.
    pub message: String,
    /// How to mend it, if a program can tell.
    pub fix: Option<Fix>,
    /// Other ways to mend it, for a person to choose from.
    pub other_fixes: Vec<Fix>,
    /// Other places that have to do with it, such as the first of two definitions.
    pub related: Vec<Related>,
    /// Whether the case is one of those that the default profile takes more lightly, since programs in use show them to be harmless.
    pub lenient: bool,
    /// The name that decides what is wrong. The parser does not look names up, so this is for the analysis.
    pub undecided: Option<UndecidedName>,
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

/// A place that explains a diagnostic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Related {
    /// The file; none where it is that of the diagnostic.
    pub path: Option<Arc<str>>,
    /// The bytes in that file.
    pub range: TextRange,
    /// What is to be seen there, as a short phrase.
    pub message: String,
}

impl Related {
    /// A place in a file, or in that of the diagnostic if none is given.
    pub fn new(path: Option<Arc<str>>, range: TextRange, message: impl Into<String>) -> Self {
        Self { path, range, message: shortened(message.into()) }
    }
}

impl Diagnostic {
    /// A diagnostic with nothing but its message.
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

    /// Says more behind the message.
    pub fn add_to_message(&mut self, more: impl Into<String>) {
        self.message += &shortened(more.into());
    }

    /// The same diagnostic with a fix, if there is one. One that has a fix already gets another to choose from.
    pub fn with_fix(mut self, fix: impl Into<Option<Fix>>) -> Self {
        let fix = fix.into();
        match self.fix {
            None => self.fix = fix,
            Some(_) => self.other_fixes.extend(fix),
        }
        self
    }

    /// The same diagnostic with a place in the same file that explains it.
    pub fn with_related(mut self, range: TextRange, message: impl Into<String>) -> Self {
        self.related.push(Related::new(None, range, message));
        self
    }

    /// The same diagnostic, lenient if the case is one that programs in use show to be harmless.
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

    /// The same diagnostic where its text has moved.
    pub fn moved(mut self, by: impl Fn(TextRange) -> TextRange) -> Self {
        self.range = by(self.range);
        if let Some(name) = &mut self.undecided {
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

/// The message with very long words cut in their middle: a name may be as long as its file, and nobody reads on behind it.
fn shortened(message: String) -> String {
    /// Longer than any name or path that somebody wrote by hand.
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

/// A change of the text that mends a diagnostic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    /// What the change does, in the imperative: `Insert ':'`.
    pub title: String,
    /// Whether the change keeps the meaning that the author must have had.
    pub safety: FixSafety,
    /// Replacements that do not overlap, in the order of the text.
    pub edits: Vec<TextEdit>,
}

impl Fix {
    /// A change that can be made without asking.
    pub fn safe(title: impl Into<String>, edits: Vec<TextEdit>) -> Self {
        Self { title: shortened(title.into()), safety: FixSafety::Safe, edits }
    }

    /// A guess.
    pub fn guess(title: impl Into<String>, edits: Vec<TextEdit>) -> Self {
        Self { title: shortened(title.into()), safety: FixSafety::Unsafe, edits }
    }

    /// A guess that puts what was probably meant in the place of what is written.
    pub fn change(range: TextRange, to: &str) -> Self {
        Self::guess(format!("Change to `{to}`"), vec![TextEdit::replace(range, to)])
    }
}

/// Whether a fix may be applied without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FixSafety {
    /// Only one thing can have been meant.
    Safe,
    /// A guess: a person should look at it.
    Unsafe,
}

/// Replaces the text of a range; an empty range inserts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextEdit {
    /// The bytes to replace, in the text before the change.
    pub range: TextRange,
    /// The text that takes their place.
    pub new_text: String,
}

impl TextEdit {
    /// Puts `new_text` at `offset`.
    pub fn insert(offset: TextSize, new_text: impl Into<String>) -> Self {
        Self { range: TextRange::empty(offset), new_text: new_text.into() }
    }

    /// Puts `new_text` in the place of `range`.
    pub fn replace(range: TextRange, new_text: impl Into<String>) -> Self {
        Self { range, new_text: new_text.into() }
    }

    /// Removes `range`.
    pub fn delete(range: TextRange) -> Self {
        Self { range, new_text: String::new() }
    }
}
