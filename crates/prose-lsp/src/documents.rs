//! The open documents: their text as the client edits it, and a tree that follows.

use std::ops::Range;
use std::sync::Arc;

use prose_syntax::{Parse, TextRange, TextSize, parse};
use ropey::Rope;

use crate::panics::{Panicked, guard};

/// The name of a document, exactly as the client writes it.
pub(crate) type DocumentUri = Arc<str>;

/// A document that the client has open.
#[derive(Debug)]
pub(crate) struct Document {
    version: i32,
    text: Rope,
    /// The last parse; none before the first one and after one that failed.
    parse: Option<Arc<Parse>>,
    /// What was edited since the last parse.
    unparsed: Option<Splice>,
}

/// One state of a document, for work that goes on while the document changes.
#[derive(Debug, Clone)]
pub(crate) struct Snapshot {
    pub(crate) uri: DocumentUri,
    pub(crate) version: i32,
    pub(crate) text: Rope,
    pub(crate) parse: Arc<Parse>,
}

/// The edit would make the text longer than positions can tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooLong;

impl Document {
    pub(crate) fn new(version: i32, text: &str) -> Result<Self, TooLong> {
        check_length(text.len())?;
        Ok(Self { version, text: Rope::from_str(text), parse: None, unparsed: None })
    }

    pub(crate) fn version(&self) -> i32 {
        self.version
    }

    pub(crate) fn set_version(&mut self, version: i32) {
        self.version = version;
    }

    pub(crate) fn text(&self) -> &Rope {
        &self.text
    }

    /// Replaces the whole text.
    pub(crate) fn replace(&mut self, text: &str) -> Result<(), TooLong> {
        check_length(text.len())?;
        self.text = Rope::from_str(text);
        self.forget_parse();
        Ok(())
    }

    /// Replaces the bytes of `range`, which lies inside the text and between characters, by `inserted`.
    pub(crate) fn edit(&mut self, range: Range<usize>, inserted: &str) -> Result<(), TooLong> {
        check_length(self.text.len_bytes() - range.len() + inserted.len())?;
        let chars = self.text.byte_to_char(range.start)..self.text.byte_to_char(range.end);
        let start = chars.start;
        self.text.remove(chars);
        self.text.insert(start, inserted);
        let splice = Splice { old: range, new_len: inserted.len() };
        self.unparsed = Some(match self.unparsed.take() {
            Some(earlier) => earlier.then(splice),
            None => splice,
        });
        Ok(())
    }

    /// Has the next snapshot parsed from nothing, whatever was known before.
    pub(crate) fn forget_parse(&mut self) {
        self.parse = None;
        self.unparsed = None;
    }

    /// The present state. The text is parsed now, as far as it was edited since the last snapshot; `scratch` lends its memory.
    pub(crate) fn snapshot(&mut self, uri: &DocumentUri, scratch: &mut String) -> Result<Snapshot, Panicked> {
        let parse = match (self.parse.take(), self.unparsed.take()) {
            (Some(parse), None) => parse,
            (parse, splice) => {
                scratch.clear();
                scratch.extend(self.text.chunks());
                let parse = match (parse, splice) {
                    (Some(parse), Some(splice)) => update(&parse, &splice, scratch)?,
                    _ => guard("parsing", || prose_syntax::parse(scratch))?,
                };
                Arc::new(parse)
            }
        };
        self.parse = Some(Arc::clone(&parse));
        Ok(Snapshot { uri: Arc::clone(uri), version: self.version, text: self.text.clone(), parse })
    }
}

/// The parse after an edit. A panic on the short way leaves the long one.
fn update(parse: &Parse, splice: &Splice, text: &str) -> Result<Parse, Panicked> {
    guard("parsing an edit", || parse.reparse(splice.old_range(), size(splice.new_len), text))
        .or_else(|_| guard("parsing", || self::parse(text)))
}

fn check_length(length: usize) -> Result<(), TooLong> {
    if u32::try_from(length).is_ok() { Ok(()) } else { Err(TooLong) }
}

/// The replacement of one stretch of the text, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Splice {
    /// What was replaced, in the text before.
    old: Range<usize>,
    /// How long the replacement is.
    new_len: usize,
}

impl Splice {
    fn new_end(&self) -> usize {
        self.old.start + self.new_len
    }

    fn old_range(&self) -> TextRange {
        TextRange::new(size(self.old.start), size(self.old.end))
    }

    /// The one splice that covers this one and then `next`, with all that lies between them.
    fn then(self, next: Splice) -> Splice {
        let start = self.old.start.min(next.old.start);
        let end_between = self.new_end().max(next.old.end);
        Splice {
            old: start..end_between - self.new_end() + self.old.end,
            new_len: end_between - start - next.old.len() + next.new_len,
        }
    }
}

fn size(bytes: usize) -> TextSize {
    // `check_length` keeps longer texts out; the largest size is the nearest truth for one that slipped by.
    TextSize::try_from(bytes).unwrap_or(TextSize::new(u32::MAX))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn edits() -> impl Strategy<Value = Vec<(usize, usize, String)>> {
        let inserted =
            prop_oneof!["[a-c\n\r\"é😀]{0,4}", Just("session \"x\"\n".to_owned()), Just("\"\"\"".to_owned())];
        prop::collection::vec((any::<usize>(), 0..6usize, inserted), 1..12)
    }

    fn nearest_boundary(text: &str, offset: usize) -> usize {
        (0..=offset.min(text.len())).rev().find(|offset| text.is_char_boundary(*offset)).unwrap()
    }

    proptest! {
        #[test]
        fn edited_text_and_tree_are_those_of_the_final_text(
            start in "[a-c \n\"]{0,20}",
            edits in edits(),
            parse_between in prop::collection::vec(any::<bool>(), 12),
        ) {
            let uri: DocumentUri = "file:///a.prose".into();
            let mut scratch = String::new();
            let mut expected = start.clone();
            let mut document = Document::new(1, &start).unwrap();
            for ((at, length, inserted), parse_now) in edits.iter().zip(parse_between) {
                let from = nearest_boundary(&expected, at % (expected.len() + 1));
                let to = nearest_boundary(&expected, from + length);
                expected.replace_range(from..to, inserted);
                document.edit(from..to, inserted).unwrap();
                if parse_now {
                    document.snapshot(&uri, &mut scratch).unwrap();
                }
            }
            let snapshot = document.snapshot(&uri, &mut scratch).unwrap();
            prop_assert_eq!(snapshot.text.to_string(), expected.clone());
            prop_assert_eq!(snapshot.parse.syntax().text().to_string(), expected.clone());
            prop_assert_eq!(&*snapshot.parse, &parse(&expected));
        }

        #[test]
        fn two_splices_in_a_row_are_one(
            text in "[a-z]{0,12}",
            first in (0..13usize, 0..5usize, "[A-Z]{0,4}"),
            second in (0..17usize, 0..5usize, "[0-9]{0,4}"),
        ) {
            let (once, a) = spliced(&text, first);
            let (twice, b) = spliced(&once, second);
            let both = a.then(b);
            let mut at_once = text.clone();
            let inserted = &twice[both.old.start..both.new_end()];
            at_once.replace_range(both.old.clone(), inserted);
            prop_assert_eq!(at_once, twice);
        }
    }

    fn spliced(text: &str, (start, length, inserted): (usize, usize, String)) -> (String, Splice) {
        let start = start.min(text.len());
        let old = start..(start + length).min(text.len());
        let mut after = text.to_owned();
        after.replace_range(old.clone(), &inserted);
        (after, Splice { old, new_len: inserted.len() })
    }

    #[test]
    fn a_snapshot_keeps_its_state_while_the_document_goes_on() {
        let uri: DocumentUri = "file:///a.prose".into();
        let mut scratch = String::new();
        let mut document = Document::new(1, "session \"a\"\n").unwrap();
        let before = document.snapshot(&uri, &mut scratch).unwrap();
        document.edit(9..10, "b").unwrap();
        document.set_version(2);
        let after = document.snapshot(&uri, &mut scratch).unwrap();

        assert_eq!((before.version, before.text.to_string()), (1, "session \"a\"\n".to_owned()));
        assert_eq!(before.parse.syntax().text().to_string(), "session \"a\"\n");
        assert_eq!((after.version, after.text.to_string()), (2, "session \"b\"\n".to_owned()));
        assert_eq!(after.parse.syntax().text().to_string(), "session \"b\"\n");
    }

    #[test]
    fn a_document_that_was_not_edited_is_not_parsed_again() {
        let uri: DocumentUri = "file:///a.prose".into();
        let mut scratch = String::new();
        let mut document = Document::new(1, "session \"a\"\n").unwrap();
        let first = document.snapshot(&uri, &mut scratch).unwrap();
        let second = document.snapshot(&uri, &mut scratch).unwrap();
        assert!(Arc::ptr_eq(&first.parse, &second.parse));
    }
}
