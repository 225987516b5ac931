//! The open documents: their text as the client edits it, and a tree that follows.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use prose_analysis::statements::parse;
use prose_analysis::{AnalysisHost, SourceFile, Text};
use prose_files::Limit;
use prose_syntax::{Diagnostic, TextRange};
use ropey::Rope;

use crate::documents::snapshot::{PartOf, Snapshot};
use crate::documents::typing::{LineEdit, Typing};
use crate::panics::{Panicked, guard};
use crate::protocol::json::Digest;
use crate::protocol::position::{ContentChange, Encoding, size};
use crate::protocol::program_document::ProgramDocument;
use crate::protocol::uri::DocumentUri;
use crate::workspace::settings::FileConfig;

/// A document that the client has open.
#[derive(Debug)]
pub(crate) struct Document {
    /// Its path, whether it exists or not.
    pub(crate) path: PathBuf,
    version: i32,
    text: Rope,
    /// The changes since the last analysis.
    unknown: Unknown,
    /// The diagnostics that the client has.
    pub(crate) published: Option<Published>,
    /// The document that the text is a part of, if it is a program in a Markdown document.
    part_of: Option<PartOf>,
    /// Whether the client got the message that the document is too large to be analysed.
    reported_too_large: bool,
    /// What is held back while the user types in the document; none if nothing is.
    pub(crate) typing: Option<Typing>,
    /// The number of the last edit, for those that start a wait for a pause.
    pub(crate) last_edit: u64,
}

/// Larger documents are not analysed: a program on the disk may not be larger either.
pub(crate) const MAX_ANALYSED_BYTES: usize = Limit::PROGRAM.bytes as usize;

/// The diagnostics that were last published, to detect changes cheaply.
#[derive(Debug, Clone)]
pub(crate) struct Published {
    pub(crate) digest: Digest,
    /// The version and the inputs that they were made of.
    pub(crate) version: i32,
    pub(crate) found: Vec<Arc<[Diagnostic]>>,
    pub(crate) configs: Vec<Arc<FileConfig>>,
    /// Whether a run has started or ended since.
    pub(crate) is_outdated: bool,
}

impl Published {
    /// Whether a message made of these would be the same.
    pub(crate) fn is_of(&self, version: i32, snapshots: &[Snapshot], found: &[Arc<[Diagnostic]>]) -> bool {
        let leads_elsewhere =
            |diagnostic: &Diagnostic| diagnostic.related.iter().any(|place| place.path.is_some());
        !self.is_outdated
            && self.version == version
            && self.found.len() == found.len()
            && self.found.iter().zip(found).all(|(before, now)| Arc::ptr_eq(before, now))
            && self.configs.iter().eq(snapshots.iter().map(|snapshot| &snapshot.config))
            // Other files may have got or lost lines above the places in them.
            && !found.iter().flat_map(|found| found.iter()).any(leads_elsewhere)
    }
}

/// The changes of a document since the last analysis.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Unknown {
    Nothing,
    /// One edit, or several as one.
    Edit(Splice),
    Everything,
}

/// The edit would make the text longer than positions can express.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooLong;

impl Document {
    pub(crate) fn new(path: PathBuf, version: i32, text: &str) -> Result<Self, TooLong> {
        check_length(text.len())?;
        Ok(Self {
            path,
            version,
            text: Rope::from_str(text),
            unknown: Unknown::Everything,
            published: None,
            part_of: None,
            reported_too_large: false,
            typing: None,
            last_edit: 0,
        })
    }

    /// The document that the text is a part of, if the program is one of a Markdown document.
    pub(crate) fn part_of(&self) -> Option<&PartOf> {
        self.part_of.as_ref()
    }

    /// Says where the text is now that is a part of a document.
    pub(crate) fn set_part_of(&mut self, part_of: PartOf, version: i32) {
        self.part_of = Some(part_of);
        self.version = version;
    }

    /// The path that settings are about: that of the file that is edited.
    pub(crate) fn path_of_file(&self) -> &Path {
        self.part_of.as_ref().map_or(&self.path, |part_of| &part_of.path)
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

    /// Whether the document is so large that it is kept without being analysed: for the analysis it is empty.
    pub(crate) fn is_too_large(&self) -> bool {
        self.text.len_bytes() > MAX_ANALYSED_BYTES
    }

    /// Whether the document has become too large since this was last asked.
    pub(crate) fn became_too_large(&mut self) -> bool {
        let is_too_large = self.is_too_large();
        let was_too_large = std::mem::replace(&mut self.reported_too_large, is_too_large);
        is_too_large && !was_too_large
    }

    /// The text as the analysis sees it.
    fn analysed(&self) -> Rope {
        if self.is_too_large() { Rope::new() } else { self.text.clone() }
    }

    /// Replaces the whole text.
    pub(crate) fn replace(&mut self, text: &str) -> Result<(), TooLong> {
        check_length(text.len())?;
        if let Some(typing) = self.typing.take() {
            self.typing = typing.after(&LineEdit::between(&self.text, text));
        }
        self.text = Rope::from_str(text);
        self.forget_parse();
        Ok(())
    }

    /// Replaces the bytes of `range`, which lies inside the text and between characters, by `inserted`.
    pub(crate) fn edit(&mut self, range: Range<usize>, inserted: &str) -> Result<(), TooLong> {
        check_length(self.text.len_bytes() - range.len() + inserted.len())?;
        let was_too_large = self.is_too_large();
        if let Some(typing) = self.typing.take() {
            self.typing = typing.after(&LineEdit::of(&self.text, &range, inserted));
        }
        let chars = self.text.byte_to_char(range.start)..self.text.byte_to_char(range.end);
        let start = chars.start;
        self.text.remove(chars);
        self.text.insert(start, inserted);
        if was_too_large || self.is_too_large() {
            self.forget_parse();
            return Ok(());
        }
        let splice = Splice { old: range, new_len: inserted.len() };
        self.unknown = match std::mem::replace(&mut self.unknown, Unknown::Everything) {
            Unknown::Nothing => Unknown::Edit(splice),
            Unknown::Edit(earlier) => Unknown::Edit(earlier.then(splice)),
            Unknown::Everything => Unknown::Everything,
        };
        Ok(())
    }

    /// Whether the user, who types in the document, continues there with a change.
    pub(crate) fn continues_typing(&self, change: &ContentChange, encoding: Encoding) -> bool {
        self.typing.as_ref().is_some_and(|typing| {
            typing.continues_with(&match change.range_in(&self.text, encoding) {
                Some(range) => LineEdit::of(&self.text, &range, &change.text),
                None => LineEdit::between(&self.text, &change.text),
            })
        })
    }

    /// Has the whole text parsed again, whatever was known before.
    pub(crate) fn forget_parse(&mut self) {
        self.unknown = Unknown::Everything;
    }

    /// The file of the document in the analysis, if it is up to date.
    pub(crate) fn known(&self, host: &AnalysisHost) -> Option<SourceFile> {
        (self.unknown == Unknown::Nothing).then(|| host.file(&self.path)).flatten()
    }

    /// Brings the analysis up to date.
    pub(crate) fn sync(&mut self, host: &mut AnalysisHost) -> Result<SourceFile, Panicked> {
        let known = host.file(&self.path);
        let unknown = std::mem::replace(&mut self.unknown, Unknown::Everything);
        let file = match (known, unknown) {
            (Some(file), Unknown::Nothing) => file,
            (Some(file), Unknown::Edit(splice)) => {
                let before = Arc::clone(parse(host.db(), file));
                let text = Text::edited(self.contents(), before, splice.old_range(), size(splice.new_len));
                let file = host.set_text(&self.path, text);
                // A panic on the short way leaves the long one.
                if guard("parsing an edit", || parse(host.db(), file).diagnostics().len()).is_err() {
                    host.set_text(&self.path, Text::new(self.contents()));
                }
                file
            }
            _ => host.set_text(&self.path, Text::new(self.contents())),
        };
        guard("parsing", || parse(host.db(), file).diagnostics().len())?;
        self.unknown = Unknown::Nothing;
        Ok(file)
    }

    /// The one copy of the text that an edit takes: the analysis shares it.
    fn contents(&self) -> String {
        let text = self.analysed();
        let mut contents = String::with_capacity(text.len_bytes());
        contents.extend(text.chunks());
        contents
    }

    /// The current state, which is `file` in the analysis.
    pub(crate) fn snapshot(
        &self,
        name: &DocumentUri,
        file: SourceFile,
        host: &AnalysisHost,
        config: Arc<FileConfig>,
    ) -> Snapshot {
        let text = self.analysed();
        let (uri, shown) = match &self.part_of {
            Some(part_of) => (&part_of.uri, part_of.shown.clone()),
            None => (name, ProgramDocument::alone(text.clone())),
        };
        Snapshot {
            name: Arc::clone(name),
            uri: Arc::clone(uri),
            version: self.version,
            text,
            shown,
            contents: file.text(host.db()).clone(),
            parsed: Arc::clone(parse(host.db(), file)).into(),
            file,
            config,
        }
    }
}

fn check_length(length: usize) -> Result<(), TooLong> {
    if u32::try_from(length).is_ok() { Ok(()) } else { Err(TooLong) }
}

/// The replacement of one stretch of the text, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Splice {
    /// The replaced range, in the text before.
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
            let mut host = AnalysisHost::default();
            let mut expected = start.clone();
            let mut document = document(&start);
            for ((at, length, inserted), parse_now) in edits.iter().zip(parse_between) {
                let from = nearest_boundary(&expected, at % (expected.len() + 1));
                let to = nearest_boundary(&expected, from + length);
                expected.replace_range(from..to, inserted);
                document.edit(from..to, inserted).unwrap();
                if parse_now {
                    document.sync(&mut host).unwrap();
                }
            }
            let snapshot = snapshot(&mut document, &mut host);
            prop_assert_eq!(snapshot.text.to_string(), expected.clone());
            prop_assert_eq!(snapshot.parse().syntax().text().to_string(), expected.clone());
            prop_assert_eq!(&**snapshot.parse(), &prose_syntax::parse(&expected));
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

    fn document(text: &str) -> Document {
        Document::new("/a.prose".into(), 1, text).unwrap()
    }

    fn snapshot(document: &mut Document, host: &mut AnalysisHost) -> Snapshot {
        let file = document.sync(host).unwrap();
        document.snapshot(&"file:///a.prose".into(), file, host, Arc::default())
    }

    #[test]
    fn a_snapshot_keeps_its_state_while_the_document_goes_on() {
        let mut host = AnalysisHost::default();
        let mut document = document("session \"a\"\n");
        let before = snapshot(&mut document, &mut host);
        document.edit(9..10, "b").unwrap();
        document.set_version(2);
        let after = snapshot(&mut document, &mut host);

        assert_eq!((before.version, before.text.to_string()), (1, "session \"a\"\n".to_owned()));
        assert_eq!(before.parse().syntax().text().to_string(), "session \"a\"\n");
        assert_eq!((after.version, after.text.to_string()), (2, "session \"b\"\n".to_owned()));
        assert_eq!(after.parse().syntax().text().to_string(), "session \"b\"\n");
    }

    #[test]
    fn a_document_that_is_too_large_is_empty_for_the_analysis() {
        let mut host = AnalysisHost::default();
        let line = "session \"Go\"\n";
        let mut document = document(&line.repeat(MAX_ANALYSED_BYTES / line.len()));
        assert!(!snapshot(&mut document, &mut host).text.to_string().is_empty());

        document.edit(0..0, &line.repeat(2)).unwrap();
        assert!(document.became_too_large() && !document.became_too_large());
        let large = snapshot(&mut document, &mut host);
        assert_eq!((large.text.len_bytes(), large.parse().syntax().text().len()), (0, 0.into()));

        document.edit(line.len()..document.text().len_bytes(), "").unwrap();
        let small = snapshot(&mut document, &mut host);
        assert_eq!(
            (small.text.to_string(), small.parse().syntax().text().to_string()),
            (line.into(), line.into())
        );
    }

    #[test]
    fn a_document_that_was_not_edited_is_not_parsed_again() {
        let mut host = AnalysisHost::default();
        let mut document = document("session \"a\"\n");
        let first = snapshot(&mut document, &mut host);
        let second = snapshot(&mut document, &mut host);
        assert!(Arc::ptr_eq(first.parse(), second.parse()));
    }
}
