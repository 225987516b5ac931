use prose_analysis::diagnostics::diagnostics;
use prose_analysis::{AnalysisHost, SourceFile};
use prose_syntax::Profile;

use super::*;
use crate::documents::document::Document;

fn diagnostic(code: &str, line: u32) -> lsp::Diagnostic {
    let position = lsp::Position { line, character: 0 };
    lsp::Diagnostic {
        code: Some(lsp::NumberOrString::String(code.to_owned())),
        range: lsp::Range { start: position, end: position },
        ..lsp::Diagnostic::default()
    }
}

fn lines(diagnostics: &[lsp::Diagnostic]) -> Vec<u32> {
    diagnostics.iter().map(|diagnostic| diagnostic.range.start.line).collect()
}

/// The lines where a diagnostic is shown after the edits, of those in each of ten lines, if there was one in the line `before`.
fn shown_after(before: u32, edits: &[LineEdit]) -> Vec<u32> {
    let mut typing = Typing::new(&[diagnostic("E007", before)]);
    for edit in edits {
        typing = typing.after(edit).unwrap();
    }
    let everywhere = (0..10).map(|line| diagnostic("E007", line));
    lines(&everywhere.filter(|one| typing.shown(vec![one.clone()]).len() == 1).collect::<Vec<_>>())
}

fn edit(first: usize, removed: usize, inserted: usize) -> LineEdit {
    LineEdit { first, removed, inserted, is_typed: true }
}

#[test]
fn diagnostics_keep_their_place_in_the_text() {
    assert_eq!(shown_after(4, &[]), [4]);
    assert_eq!(shown_after(4, &[edit(6, 0, 1)]), [4]);
    assert_eq!(shown_after(4, &[edit(2, 0, 1)]), [5]);
    assert_eq!(shown_after(4, &[edit(2, 1, 0)]), [3]);
    assert_eq!(shown_after(4, &[edit(4, 0, 0)]), [4]);
    // Whether it was before or after the cursor is not known.
    assert_eq!(shown_after(4, &[edit(4, 0, 1)]), [4, 5]);
    assert_eq!(shown_after(4, &[edit(3, 1, 0)]), [3]);
    assert_eq!(shown_after(4, &[edit(4, 0, 1), edit(0, 0, 1)]), [5, 6]);
}

#[test]
fn a_second_diagnostic_of_a_line_is_a_new_one() {
    let typing = Typing::new(&[diagnostic("E007", 1), diagnostic("E005", 2)]).after(&edit(1, 0, 0)).unwrap();
    let found = ["E007", "E005", "E007"].map(|code| diagnostic(code, 1)).to_vec();
    assert_eq!(typing.shown(found).len(), 1);
    // Runs fail where they fail.
    let of_run = lsp::Diagnostic { code: None, ..diagnostic("", 7) };
    assert_eq!(lines(&typing.shown(vec![of_run])), [7]);
}

#[test]
fn letters_and_line_breaks_are_typed() {
    let text = Rope::from_str("one\ntwo\nthree\n");
    let is_typed = |replaced: Range<usize>, inserted: &str| LineEdit::of(&text, &replaced, inserted).is_typed;
    assert!(
        is_typed(0..0, "a") && is_typed(3..3, "\n    ") && is_typed(3..4, "") && is_typed(4..7, "session")
    );
    assert!(!is_typed(0..0, "a\nb") && !is_typed(0..0, "\n\n") && !is_typed(2..9, ""));
    assert_eq!(LineEdit::of(&text, &(3..4), "\n\n"), LineEdit { is_typed: false, ..edit(0, 1, 2) });
    assert_eq!(Typing::new(&[]).after(&LineEdit { is_typed: false, ..edit(0, 0, 0) }), None);
}

#[test]
fn the_edit_between_two_texts_is_what_differs() {
    let between = |before: &str, after: &str| LineEdit::between(&Rope::from_str(before), after);
    assert_eq!(between("a\nb\nc\n", "a\nbx\nc\n"), edit(1, 0, 0));
    assert_eq!(between("a\nb\nc\n", "a\nb\n    \nc\n"), edit(2, 0, 1));
    assert_eq!(between("a\na\n", "a\na\na\n"), edit(2, 0, 1));
    assert_eq!(between("aa", "a"), edit(0, 0, 0));
    assert_eq!(between("", ""), edit(0, 0, 0));
    // These share a byte, and no letter.
    assert_eq!(between("é\n", "è\n"), edit(0, 0, 0));
    assert_eq!(between("\u{e9}", "\u{129}"), edit(0, 0, 0));
}

#[test]
fn who_types_on_is_still_there_and_who_edits_other_lines_is_not() {
    let typing = Typing::new(&[]).after(&edit(3, 0, 0)).unwrap().after(&edit(3, 0, 1)).unwrap();
    assert!(typing.continues_with(&edit(4, 0, 0)) && typing.continues_with(&edit(3, 0, 0)));
    assert!(typing.continues_with(&edit(2, 1, 0)));
    assert!(!typing.continues_with(&edit(5, 0, 0)) && !typing.continues_with(&edit(2, 0, 0)));
    let moved = typing.after(&edit(1, 0, 1)).unwrap();
    assert!(moved.continues_with(&edit(5, 0, 0)) && !moved.continues_with(&edit(6, 0, 0)));
}

/// A program in an editor, as it is typed.
struct Desk {
    host: AnalysisHost,
    document: Document,
    file: SourceFile,
}

impl Desk {
    fn open(text: &str) -> Self {
        let mut host = AnalysisHost::default();
        let mut document = Document::new("/typed.prose".into(), 1, text).unwrap();
        let file = document.sync(&mut host).unwrap();
        Self { host, document, file }
    }

    fn found(&self) -> Vec<lsp::Diagnostic> {
        let found = diagnostics(self.host.db(), self.file).iter();
        let found = found.filter(|found| found.level(Profile::Default).severity().is_some());
        let line = |offset: usize| self.document.text().byte_to_line(offset);
        found
            .map(|found| diagnostic(&found.code.to_string(), line(found.range.start().into()) as u32))
            .collect()
    }

    /// Replaces some bytes; gives what is shown then.
    fn edit(&mut self, replaced: Range<usize>, inserted: &str) -> Vec<lsp::Diagnostic> {
        self.document.edit(replaced, inserted).unwrap();
        self.document.sync(&mut self.host).unwrap();
        self.document.typing.as_ref().unwrap().shown(self.found())
    }
}

#[test]
fn a_line_that_is_written_again_shows_what_stood_before_and_nothing_else() {
    let text = "agent writer:\n  model: sonnet\n\nlet topic = \"sun\"\n\ntry:\n  session: writer\n    prompt: \"Write of {topic}\"\ncatch as error:\n  session \"Fix {error}\"\n\nparallel (on-fail: \"continue\"):\n  a = session \"a\"\n  b = session \"b\"\n\nif **it is \"good\"**:\n  session \"{a} {b}\"\nsession: nobody\n";
    let mistake = |text: &str| diagnostic("E007", text.lines().count() as u32 - 1);
    let mut start = 0;
    let mut keys = 0;
    for line in text.split_inclusive('\n').take(text.lines().count() - 1) {
        let mut desk = Desk::open(text);
        let found = desk.found();
        assert_eq!(found, [mistake(text)]);
        desk.document.typing = Some(Typing::new(&found));
        let mut hidden = 0;
        let content = line.trim_end();
        let mut check = |desk: &mut Desk, shown: Vec<lsp::Diagnostic>| {
            keys += 1;
            assert_eq!(shown, [mistake(text)], "{}", desk.document.text());
            hidden += desk.found().len() - shown.len();
        };
        for end in (0..content.len()).rev() {
            let shown = desk.edit(start + end..start + end + 1, "");
            check(&mut desk, shown);
        }
        for (at, letter) in content.char_indices() {
            let shown = desk.edit(start + at..start + at, letter.encode_utf8(&mut [0; 4]));
            check(&mut desk, shown);
        }
        assert!(content.is_empty() || hidden > 0, "{content}");
        assert_eq!(desk.document.text().to_string(), text);
        start += line.len();
    }
    assert!(keys > 400);
}
