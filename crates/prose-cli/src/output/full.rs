//! The format for users: the source line, the message and the fix.

use std::borrow::Cow;
use std::fmt::Write;
use std::ops::Range;

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Origin, Patch, Renderer, Snippet};
use prose_syntax::{Fix, Severity, TextEdit, TextRange};

use crate::sources::{Source, Sources};
use crate::terminal::{BOLD, one_line};
use prose_project::Diagnosed;

/// The maximum number of displayed diagnostics per file, which may have a million.
const MAX_SHOWN: usize = 1000;
/// Lines longer than this many bytes are shown in part.
const MAX_LINE: usize = 1000;
/// The number of bytes of such a line before and after the range.
const CONTEXT: usize = 120;
/// A related place is shown together with the diagnostic if they are at most this many bytes apart. The lines between them are omitted.
const MAX_DISTANCE: u32 = 4000;

/// The drawing options.
pub(crate) fn renderer(styled: bool, width: Option<usize>) -> Renderer {
    let renderer = if styled { Renderer::styled() } else { Renderer::plain() };
    match width {
        Some(width) => renderer.term_width(width),
        None => renderer,
    }
}

/// Draws the diagnostics of one file, each followed by an empty line.
pub(crate) fn render(diagnosed: &[Diagnosed], sources: &Sources<'_>, renderer: &Renderer) -> String {
    let mut drawn = String::new();
    for diagnosed in diagnosed.iter().take(MAX_SHOWN) {
        drawn.push_str(&renderer.render(&groups(diagnosed, sources)));
        drawn.push_str("\n\n");
    }
    let left_out = diagnosed.len().saturating_sub(MAX_SHOWN);
    if left_out > 0 {
        let remark = format!("… and {left_out} more in {}", sources.own.name);
        let written = writeln!(drawn, "{BOLD}{remark}{BOLD:#}\n");
        debug_assert!(written.is_ok(), "writing to a string cannot fail");
    }
    drawn
}

fn groups<'a>(Diagnosed { diagnostic, severity }: &'a Diagnosed, sources: &'a Sources<'a>) -> Vec<Group<'a>> {
    let level = match severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Information => Level::INFO,
        Severity::Hint => Level::NOTE.with_name("hint"),
    };
    let title = level.primary_title(one_line(&diagnostic.message)).id(diagnostic.code.as_str());
    let mut marks = vec![Mark { range: diagnostic.range, kind: AnnotationKind::Primary, label: None }];
    let mut elsewhere = Vec::new();
    for related in &diagnostic.related {
        let mark = Mark {
            range: related.range,
            kind: AnnotationKind::Context,
            label: Some(one_line(&related.message)),
        };
        if related.path.is_none()
            && sources.own.shows_together(marks.iter().map(|mark| mark.range), mark.range)
        {
            marks.push(mark);
        } else {
            elsewhere.push((sources.of(related), mark));
        }
    }
    let mut primary = sources.own.draw(Group::with_title(title), marks);
    for (source, mark) in elsewhere {
        primary = source.draw(primary, vec![mark]);
    }
    let mut groups = vec![primary];
    groups.extend(diagnostic.fix.as_ref().map(|fix| help(&sources.own, fix)));
    groups
}

/// The title of the fix and, if that is readable, the fixed lines.
fn help<'a>(source: &'a Source<'a>, fix: &'a Fix) -> Group<'a> {
    let title = Level::HELP.secondary_title(one_line(&fix.title));
    let Some(whole) = fix.edits.iter().map(|edit| edit.range).reduce(TextRange::cover) else {
        return Group::with_title(title);
    };
    let window = Window::around(source, whole);
    if window.is_cut || window.text.len() > MAX_LINE {
        return Group::with_title(title);
    }
    title.element(window.patched(&fix.edits))
}

/// An underlined range.
struct Mark<'a> {
    range: TextRange,
    kind: AnnotationKind,
    label: Option<Cow<'a, str>>,
}

impl<'a> Source<'a> {
    /// Whether a range is near the others, and all of their lines can be shown completely.
    fn shows_together(&self, ranges: impl Iterator<Item = TextRange>, other: TextRange) -> bool {
        let whole = ranges.fold(other, TextRange::cover);
        let (start, end) = (usize::from(whole.start()), usize::from(whole.end()));
        u32::from(whole.len()) <= MAX_DISTANCE && self.index.longest_line_around(start, end) <= MAX_LINE
    }

    /// Adds the lines of the marks, the first of which names the place.
    fn draw(&'a self, group: Group<'a>, marks: Vec<Mark<'a>>) -> Group<'a> {
        let Some(first) = marks.first().map(|mark| mark.range) else { return group };
        let whole = marks.iter().map(|mark| mark.range).fold(first, TextRange::cover);
        let window = Window::around(self, whole);
        let snippet = window.annotated(marks);
        if window.is_cut {
            // In a cutting the library would count columns from its start.
            let start = self.index.position(first.start());
            let origin = Origin::path(self.name.as_ref()).line(start.line).char_column(start.column);
            group.element(origin).element(snippet)
        } else {
            group.element(snippet.path(self.name.as_ref()))
        }
    }
}

/// The displayed part of a file: whole lines, or a cutting of one long line.
struct Window<'a> {
    source: &'a Source<'a>,
    text: &'a str,
    offset: usize,
    is_cut: bool,
}

impl<'a> Window<'a> {
    fn around(source: &'a Source<'a>, range: TextRange) -> Self {
        let Source { text, index, .. } = source;
        let (start, end) =
            (usize::from(range.start()).min(text.len()), usize::from(range.end()).min(text.len()));
        let mut lines = index.lines_around(start, end);
        if text[lines.clone()].starts_with('\u{feff}') && start >= lines.start + '\u{feff}'.len_utf8() {
            lines.start += '\u{feff}'.len_utf8();
        }
        if index.longest_line_around(start, end) <= MAX_LINE {
            return Self { source, text: &text[lines.clone()], offset: lines.start, is_cut: false };
        }
        let from = text.floor_char_boundary(start.saturating_sub(CONTEXT)).max(lines.start);
        let to = text.ceil_char_boundary(end.min(start + CONTEXT) + CONTEXT).min(lines.end);
        // A cutting never begins in an earlier line, so that its first line has the range's line number.
        let from = text[from..start].rfind(['\n', '\r']).map_or(from, |newline| from + newline + 1);
        Self { source, text: &text[from..to], offset: from, is_cut: true }
    }

    /// The range within the window.
    fn local(&self, range: TextRange) -> Range<usize> {
        let local = |offset: usize| {
            self.text.floor_char_boundary(offset.saturating_sub(self.offset).min(self.text.len()))
        };
        local(range.start().into())..local(range.end().into())
    }

    /// The text with line breaks that the library supports.
    fn lines(&self) -> Cow<'a, str> {
        if !self.text.contains('\r') {
            return Cow::Borrowed(self.text);
        }
        let ends_line = |at: usize| !self.text[at + 1..].starts_with('\n');
        let characters = self.text.char_indices();
        characters.map(|(at, c)| if c == '\r' && ends_line(at) { '\n' } else { c }).collect::<String>().into()
    }

    /// The window with the marked ranges.
    fn annotated(&self, marks: Vec<Mark<'a>>) -> Snippet<'a, Annotation<'a>> {
        let annotations =
            marks.into_iter().map(|Mark { range, kind, label }| kind.span(self.local(range)).label(label));
        Snippet::source(self.lines())
            .line_start(self.first_line())
            .annotations(annotations.collect::<Vec<_>>())
    }

    /// The window with the edits applied.
    fn patched(&self, edits: &'a [TextEdit]) -> Snippet<'a, Patch<'a>> {
        let mut text = self.lines();
        if text.ends_with('\n') {
            // What is added after the last line break would be drawn on the line before it.
            text.to_mut().push('\n');
        }
        let patches = edits.iter().map(|edit| Patch::new(self.local(edit.range), edit.new_text.as_str()));
        Snippet::source(text).line_start(self.first_line()).patches(patches.collect::<Vec<_>>())
    }

    fn first_line(&self) -> usize {
        let start = u32::try_from(self.offset).unwrap_or(u32::MAX);
        self.source.index.position(start.into()).line
    }
}
