//! The format for people: the source line, what is wrong with it and how to mend it.

use std::borrow::Cow;
use std::ops::Range;

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Origin, Patch, Renderer, Snippet};
use prose_syntax::{Diagnostic, Fix, Severity, TextEdit, TextRange};

use crate::position::LineIndex;
use crate::terminal::one_line;

/// Lines longer than this many bytes are shown in part: nobody reads a megabyte to find the caret.
const LONGEST_SHOWN: usize = 1000;
/// How many bytes of such a line are shown before and after the range.
const CONTEXT: usize = 120;

/// How the findings are drawn.
pub(crate) fn renderer(styled: bool, width: Option<usize>) -> Renderer {
    let renderer = if styled { Renderer::styled() } else { Renderer::plain() };
    match width {
        Some(width) => renderer.term_width(width),
        None => renderer,
    }
}

/// Draws the diagnostics of one file, each followed by an empty line.
pub(crate) fn render(
    name: &str,
    text: &str,
    index: &LineIndex<'_>,
    diagnostics: &[Diagnostic],
    renderer: &Renderer,
) -> String {
    let mut drawn = String::new();
    for diagnostic in diagnostics {
        let sheet = Sheet { name: &one_line(name), text, index };
        drawn.push_str(&renderer.render(&sheet.groups(diagnostic)));
        drawn.push_str("\n\n");
    }
    drawn
}

/// The file that a diagnostic is drawn on.
struct Sheet<'a> {
    name: &'a str,
    text: &'a str,
    index: &'a LineIndex<'a>,
}

impl<'a> Sheet<'a> {
    fn groups(&'a self, diagnostic: &'a Diagnostic) -> Vec<Group<'a>> {
        let level = match diagnostic.severity() {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
            Severity::Information => Level::INFO,
            Severity::Hint => Level::NOTE.with_name("hint"),
        };
        let window = Window::around(self.text, self.index, diagnostic.range);
        let snippet = window.annotated(self.index, diagnostic.range);
        let title = level.primary_title(one_line(&diagnostic.message)).id(diagnostic.code.as_str());
        let primary = if window.is_cut {
            // Within a cutting the library would count columns from its start.
            let start = self.index.position(diagnostic.range.start());
            title.element(Origin::path(self.name).line(start.line).char_column(start.column)).element(snippet)
        } else {
            title.element(snippet.path(self.name))
        };
        let mut groups = vec![primary];
        groups.extend(diagnostic.fix.as_ref().map(|fix| self.help(fix)));
        groups
    }

    /// The title of the fix and, unless that would be unreadable, the lines as they would be.
    fn help(&self, fix: &'a Fix) -> Group<'a> {
        let title = Level::HELP.secondary_title(one_line(&fix.title));
        let Some(whole) = fix.edits.iter().map(|edit| edit.range).reduce(TextRange::cover) else {
            return Group::with_title(title);
        };
        let window = Window::around(self.text, self.index, whole);
        if window.is_cut || window.text.len() > LONGEST_SHOWN {
            return Group::with_title(title);
        }
        title.element(window.patched(self.index, &fix.edits))
    }
}

/// The part of a file that is shown: whole lines, or a cutting of one long line.
struct Window<'a> {
    text: &'a str,
    offset: usize,
    is_cut: bool,
}

impl<'a> Window<'a> {
    fn around(text: &'a str, index: &LineIndex<'_>, range: TextRange) -> Self {
        let (start, end) =
            (usize::from(range.start()).min(text.len()), usize::from(range.end()).min(text.len()));
        let mut lines = index.lines_around(start, end);
        if text[lines.clone()].starts_with('\u{feff}') && start >= lines.start + '\u{feff}'.len_utf8() {
            lines.start += '\u{feff}'.len_utf8();
        }
        if index.longest_line_around(start, end) <= LONGEST_SHOWN {
            return Self { text: &text[lines.clone()], offset: lines.start, is_cut: false };
        }
        let from = text.floor_char_boundary(start.saturating_sub(CONTEXT)).max(lines.start);
        let to = text.ceil_char_boundary(end.min(start + CONTEXT) + CONTEXT).min(lines.end);
        // A cutting never begins in an earlier line, so that its first line has the range's line number.
        let from = text[from..start].rfind('\n').map_or(from, |newline| from + newline + 1);
        Self { text: &text[from..to], offset: from, is_cut: true }
    }

    /// The range within the window; what lies outside is cut off.
    fn local(&self, range: TextRange) -> Range<usize> {
        let local = |offset: usize| offset.saturating_sub(self.offset).min(self.text.len());
        local(range.start().into())..local(range.end().into())
    }

    /// The window with a mark below the range.
    fn annotated(&self, index: &LineIndex<'_>, range: TextRange) -> Snippet<'a, Annotation<'a>> {
        Snippet::source(self.text)
            .line_start(self.first_line(index))
            .annotation(AnnotationKind::Primary.span(self.local(range)))
    }

    /// The window with the edits made.
    fn patched(&self, index: &LineIndex<'_>, edits: &'a [TextEdit]) -> Snippet<'a, Patch<'a>> {
        let mut text = Cow::Borrowed(self.text);
        if text.ends_with('\n') {
            // What is added after the last line break would be drawn on the line before it.
            text.to_mut().push('\n');
        }
        let patches = edits.iter().map(|edit| Patch::new(self.local(edit.range), edit.new_text.as_str()));
        Snippet::source(text).line_start(self.first_line(index)).patches(patches.collect::<Vec<_>>())
    }

    fn first_line(&self, index: &LineIndex<'_>) -> usize {
        let start = u32::try_from(self.offset).unwrap_or(u32::MAX);
        index.position(start.into()).line
    }
}
