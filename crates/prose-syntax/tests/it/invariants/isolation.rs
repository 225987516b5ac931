//! One mistake never hides or creates diagnostics elsewhere: garbage in one line leaves those of unrelated lines unchanged.
//!
//! Unrelated are all lines but the line itself and those of the same logical line, which a bracket or a literal makes of
//! several physical ones.

use std::collections::BTreeSet;

use prose_syntax::{Parse, SyntaxKind, SyntaxNode, parse};

/// What is in place of a line.
pub(crate) const GARBAGE: &[&str] = &[
    "@@ %% ^^",
    "foo bar baz",
    "(",
    "[",
    "{",
    "foo(",
    "let x = [1,",
    ")",
    "]",
    "}",
    "a) b] c}",
    "\"abc",
    "\"\"\"",
    "foo: \"\"\"",
    "text\"\"\"",
    "**",
    "***",
    "if **abc",
    "abc***",
    "'",
    "'abc",
    "`",
    ":",
    "= =",
    "->",
    "| |",
    "if else catch",
    "let let",
    "session session",
    "else",
    "catch",
    "option",
    "try",
    "if",
    "loop",
    "parallel",
    "session",
    "agent",
    "block",
    "repeat",
    "for",
    "do",
    "choice",
    "input",
    "output",
    "use",
    "throw throw throw",
    "return return return",
    "\\",
    "é ü",
    "\0",
];

/// The lines of a text, without their ends.
pub(crate) struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let bytes = text.as_bytes();
        let ends_line = |&at: &usize| match bytes[at] {
            b'\n' => true,
            b'\r' => bytes.get(at + 1) != Some(&b'\n'),
            _ => false,
        };
        let starts = std::iter::once(0).chain((0..bytes.len()).filter(ends_line).map(|at| at + 1)).collect();
        Self { text, starts }
    }

    pub(crate) fn len(&self) -> usize {
        self.starts.len()
    }

    pub(crate) fn range(&self, line: usize) -> std::ops::Range<usize> {
        let start = self.starts[line];
        let end = self.starts.get(line + 1).copied().unwrap_or(self.text.len());
        start..start + self.text[start..end].trim_end_matches(['\n', '\r']).len()
    }

    pub(crate) fn get(&self, line: usize) -> &'a str {
        &self.text[self.range(line)]
    }

    pub(crate) fn line_of(&self, offset: usize) -> usize {
        self.starts.partition_point(|&start| start <= offset) - 1
    }

    pub(crate) fn indentation(&self, line: usize) -> &'a str {
        let text = self.get(line);
        &text[..text.len() - text.trim_start_matches([' ', '\t']).len()]
    }

    pub(crate) fn is_blank(&self, line: usize) -> bool {
        self.get(line).trim().is_empty()
    }

    fn is_comment(&self, line: usize) -> bool {
        self.get(line).trim_start().starts_with('#')
    }
}

/// A diagnostic as it looks from its line.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Placed {
    pub(crate) line: usize,
    column: usize,
    lines: usize,
    end_column: usize,
    pub(crate) code: &'static str,
    message: String,
}

fn placed(parsed: &Parse, lines: &Lines<'_>) -> BTreeSet<Placed> {
    parsed
        .diagnostics()
        .iter()
        .map(|diagnostic| {
            let (start, end) = (usize::from(diagnostic.range.start()), usize::from(diagnostic.range.end()));
            let (line, end_line) = (lines.line_of(start), lines.line_of(end));
            Placed {
                line,
                column: start - lines.starts[line],
                lines: end_line - line,
                end_column: end - lines.starts[end_line],
                code: diagnostic.code.as_str(),
                message: diagnostic.message.clone(),
            }
        })
        .collect()
}

/// The first and the last line of everything that makes one logical line of several physical ones.
fn joined_lines(root: &SyntaxNode, lines: &Lines<'_>) -> Vec<(usize, usize)> {
    root.descendants()
        .filter(joins_lines)
        .filter_map(|node| {
            let range = node.text_range();
            let ends = (lines.line_of(range.start().into()), lines.line_of(range.end().into()));
            (ends.0 < ends.1).then_some(ends)
        })
        .collect()
}

fn joins_lines(node: &SyntaxNode) -> bool {
    use SyntaxKind::*;
    match node.kind() {
        STRING | DISCRETION | ERROR | ARRAY | OBJECT | PAREN | ARG_LIST | PARAM_LIST | MODIFIER_LIST
        | DESTRUCTURING | INDEX => true,
        PROPERTY_LIST => node.first_token().is_some_and(|token| token.kind() == L_PAREN),
        _ => false,
    }
}

/// A program, and what is compared again and again.
pub(crate) struct Original<'a> {
    text: &'a str,
    pub(crate) lines: Lines<'a>,
    diagnostics: BTreeSet<Placed>,
    joined: Vec<(usize, usize)>,
}

/// A difference on a line that has nothing to do with the garbage.
#[derive(Debug)]
pub(crate) struct Violation {
    pub(crate) line: usize,
    pub(crate) garbage: String,
    pub(crate) hidden: Vec<Placed>,
    pub(crate) created: Vec<Placed>,
    pub(crate) text: String,
}

impl<'a> Original<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let parsed = parse(text);
        let lines = Lines::new(text);
        Self {
            text,
            diagnostics: placed(&parsed, &lines),
            joined: joined_lines(&parsed.syntax(), &lines),
            lines,
        }
    }

    /// The lines that can be replaced: a blank line has no indentation, and that of a comment means nothing, unless it stands
    /// like the code below it.
    pub(crate) fn replaceable(&self) -> impl Iterator<Item = usize> {
        (0..self.lines.len()).filter(|&line| {
            let indentation = self.lines.indentation(line);
            let below =
                (line + 1..self.lines.len()).find(|&l| !self.lines.is_blank(l) && !self.lines.is_comment(l));
            let like_below = below.is_some_and(|below| self.lines.indentation(below) == indentation);
            !self.lines.is_blank(line) && (!self.lines.is_comment(line) || like_below)
        })
    }

    /// The logical line of `line`, before and after garbage has taken its place.
    fn related(&self, line: usize, garbage: &str, joined_after: &[(usize, usize)]) -> BTreeSet<usize> {
        let mut related = BTreeSet::from([line]);
        loop {
            let before = related.len();
            for &(first, last) in &self.joined {
                if related.range(first..=last).next().is_some() {
                    related.extend(first..=last);
                }
            }
            if related.len() == before {
                break;
            }
        }
        // Quotes above a literal whose own quotes are alone on their line, as the message of an `assert` does: nothing tells
        // which of the two is the opener.
        if garbage.contains("\"\"\"")
            && let Some(&(first, last)) = self.joined.iter().find(|&&(first, _)| first == line + 1)
            && self.lines.get(first).trim() == "\"\"\""
        {
            related.extend(first..=last);
        }
        for &(first, last) in joined_after {
            if (first..=last).contains(&line) {
                related.extend(first..=last);
            }
        }
        related
    }

    /// Puts `garbage` in place of `line`.
    pub(crate) fn violation(&self, line: usize, garbage: &str) -> Option<Violation> {
        let range = self.lines.range(line);
        let mut text = self.text.to_owned();
        text.replace_range(range.start + self.lines.indentation(line).len()..range.end, garbage);
        let parsed = super::check_parse(&text);
        let lines = Lines::new(&text);
        let after = placed(&parsed, &lines);
        let related = self.related(line, garbage, &joined_lines(&parsed.syntax(), &lines));
        let unrelated = |found: &&Placed| !related.contains(&found.line);
        let mut hidden: Vec<_> = self.diagnostics.difference(&after).filter(unrelated).cloned().collect();
        let mut created: Vec<_> = after.difference(&self.diagnostics).filter(unrelated).cloned().collect();
        let joined = &self.joined;
        let context = Context { before: &self.lines, after: &lines, joined, related: &related };
        let is_reworded =
            |new: &Placed| hidden.iter().any(|old| old.line == new.line && context.depends(old));
        created.retain(|new| !is_reworded(new) && !context.is_continued(new));
        hidden.retain(|old| !context.depends(old));
        (!hidden.is_empty() || !created.is_empty()).then(|| Violation {
            line,
            garbage: garbage.to_owned(),
            hidden,
            created,
            text,
        })
    }
}

/// The few diagnostics that are about two lines, and so cannot stay what they are when one of the two is garbage. They may
/// vanish, or be said in other words, but they are never new: what was right stays so.
struct Context<'a> {
    before: &'a Lines<'a>,
    after: &'a Lines<'a>,
    joined: &'a [(usize, usize)],
    related: &'a BTreeSet<usize>,
}

impl Context<'_> {
    /// Whether what is reported about the line depends on a line that is garbage now.
    fn depends(&self, found: &Placed) -> bool {
        let line = found.line;
        match found.code {
            // Is it a property, a statement, an option, inside of a loop? The lines it is indented below tell.
            "E004" | "E107" | "E114" | "W102" if self.is_below_related(line) => true,
            // What may be indented here, and how deep? So do they, and the line above.
            "E101" | "E102" => self.is_below_related(line) || self.follows_related(line),
            // The statement that a clause, a stage or an arrow belongs to is above it at its indentation.
            "E004" if self.after.get(line).trim_start().starts_with(['|', '-']) => {
                self.is_beside_related(line)
            }
            "E104" => self.is_below_related(line) || self.is_beside_related(line),
            // The `catch` of a `try` would come after its body.
            "E105" => self.ends_at_related(line),
            _ => false,
        }
    }

    /// The lines above that start a logical line, from the nearest on.
    fn above(&self, line: usize) -> impl Iterator<Item = usize> {
        (0..line).rev().filter(|&above| self.starts_logical_line(above))
    }

    fn starts_logical_line(&self, line: usize) -> bool {
        let is_inside = |&(first, last): &(usize, usize)| first < line && line <= last;
        self.related.contains(&line)
            || !(self.after.is_blank(line)
                || self.after.is_comment(line)
                || self.joined.iter().any(is_inside))
    }

    fn indentation(&self, line: usize) -> usize {
        self.after.indentation(line).len()
    }

    fn is_below_related(&self, line: usize) -> bool {
        let mut indentation = self.indentation(line);
        self.above(line).any(|above| {
            let is_owner = self.indentation(above) < indentation;
            indentation = indentation.min(self.indentation(above));
            is_owner && self.related.contains(&above)
        })
    }

    fn is_beside_related(&self, line: usize) -> bool {
        self.above(line)
            .take_while(|&above| self.indentation(above) >= self.indentation(line))
            .any(|above| self.indentation(above) == self.indentation(line) && self.related.contains(&above))
    }

    fn follows_related(&self, line: usize) -> bool {
        self.above(line).next().is_some_and(|above| self.related.contains(&above))
    }

    fn ends_at_related(&self, line: usize) -> bool {
        (line + 1..self.after.len())
            .find(|&below| {
                self.starts_logical_line(below) && self.indentation(below) <= self.indentation(line)
            })
            .is_some_and(|below| self.related.contains(&below))
    }

    /// Whether a name has lost the line that went on with it: nothing is left of `items` above `| map:`, which is a mistake of
    /// its own.
    fn is_continued(&self, found: &Placed) -> bool {
        let below = (found.line + 1..self.before.len())
            .find(|&below| !self.before.is_blank(below) && !self.before.is_comment(below));
        matches!(found.code, "E004" | "E107")
            && below.is_some_and(|below| {
                self.related.contains(&below) && self.before.get(below).trim_start().starts_with(['|', '-'])
            })
    }
}
