//! Indentation of a line while it is typed.

use prose_syntax::SyntaxKind::*;
use prose_syntax::lines::{self, indentation, line_end, size};
use prose_syntax::{Parse, SyntaxNode, TextEdit, TextRange, TextSize};

use crate::layout::INDENT;

/// The characters after which [`edits_after_typing`] may return edits.
pub const TYPED: [&str; 2] = ["\n", ":"];

/// Indents the line at `at`, after `typed` was typed before it: a line below one that ends with `:` is indented, and
/// a clause such as `else:` is dedented to the statement that it belongs to.
pub fn edits_after_typing(parse: &Parse, text: &str, at: TextSize, typed: &str) -> Vec<TextEdit> {
    let Some(before) = text.get(..usize::from(at)) else { return Vec::new() };
    let line_start = lines::line_start(text, before.len());
    if is_in_literal(&parse.syntax(), size(line_start)) {
        return Vec::new();
    }
    let line = &text[line_start..line_end(text, line_start)];
    let wanted = match typed {
        "\n" => column_of_new_line(parse, text, line_start),
        ":" => column_of_clause(parse, text, line_start, line),
        _ => None,
    };
    let present = indentation(line);
    let wanted = wanted.map(|column| " ".repeat(column)).filter(|wanted| wanted != present);
    let range = TextRange::at(size(line_start), TextSize::of(present));
    wanted.map(|wanted| TextEdit::replace(range, wanted)).into_iter().collect()
}

fn column_of_new_line(parse: &Parse, text: &str, line_start: usize) -> Option<usize> {
    let above = lines_above(parse, text, line_start).find(|line| !line.text.trim().is_empty())?;
    let code = without_comment(parse, &above);
    let code_end = size(above.start + code.len());
    // A text whose end is missing, because it has just been taken to the new line, may end with a colon as well.
    let opens = code.ends_with([':', '(', '[', '{']) && !ends_in_literal(&parse.syntax(), code_end);
    Some(above.column() + if opens { INDENT as usize } else { 0 })
}

fn column_of_clause(parse: &Parse, text: &str, line_start: usize, line: &str) -> Option<usize> {
    let clause = line.trim_start();
    let column = line.len() - clause.len();
    let word = clause.split(|c: char| !c.is_alphanumeric()).next()?;
    let owners: &[&str] = match word {
        "elif" | "else" => &["if", "elif"],
        "catch" | "finally" => &["try", "catch"],
        "option" => &["choice", "option"],
        _ => return None,
    };
    let mut outermost = usize::MAX;
    for above in
        lines_above(parse, text, line_start).filter(|line| !line.text.trim().is_empty() && !line.is_comment())
    {
        let above_column = above.column();
        if above_column >= outermost {
            continue;
        }
        outermost = above_column;
        if above_column > column {
            continue;
        }
        let code = above.text.trim_start();
        // `let x = try:` owns clauses as well.
        let statement = code.rsplit("= ").next().unwrap_or(code);
        let Some(owner) = owners.iter().find(|owner| starts_with_word(statement, owner)) else { continue };
        let is_first_option = *owner == "choice";
        return Some(above_column + if is_first_option { INDENT as usize } else { 0 });
    }
    None
}

fn starts_with_word(code: &str, word: &str) -> bool {
    code.strip_prefix(word)
        .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '-')))
}

/// A line of the program, not one of a literal.
struct Line<'a> {
    start: usize,
    text: &'a str,
}

impl Line<'_> {
    fn column(&self) -> usize {
        indentation(self.text).len()
    }

    fn is_comment(&self) -> bool {
        self.text.trim_start().starts_with('#')
    }
}

/// The lines above, from below, without those that begin in a literal.
fn lines_above<'a>(parse: &Parse, text: &'a str, line_start: usize) -> impl Iterator<Item = Line<'a>> {
    let root = parse.syntax();
    let mut end = line_start;
    std::iter::from_fn(move || {
        if end == 0 {
            return None;
        }
        let above = text[..end].trim_end_matches(['\n', '\r']).len().max(lines::line_start(text, end - 1));
        let start = lines::line_start(text, above);
        end = start;
        Some(Line { start, text: &text[start..above] })
    })
    .filter(move |line| !is_in_literal(&root, size(line.start)))
}

/// The line without its comment.
fn without_comment<'a>(parse: &Parse, line: &Line<'a>) -> &'a str {
    let range = TextRange::at(size(line.start), TextSize::of(line.text));
    let mut end = line.text.len();
    let mut token = parse.syntax().token_at_offset(range.start()).right_biased();
    while let Some(found) = token.filter(|token| token.text_range().start() < range.end()) {
        if found.kind() == COMMENT {
            end = usize::from(found.text_range().start()) - line.start;
        }
        token = found.next_token();
    }
    line.text[..end].trim_end()
}

/// Whether the place is inside of a text or a condition, where spaces belong to it.
fn is_in_literal(root: &SyntaxNode, at: TextSize) -> bool {
    literals_before(root, at)
        .any(|literal| literal.text_range().start() < at && at < literal.text_range().end())
}

/// Whether what comes before the place belongs to a text or a condition.
fn ends_in_literal(root: &SyntaxNode, at: TextSize) -> bool {
    literals_before(root, at).next().is_some()
}

/// The texts and conditions around what comes before a place, from inside.
fn literals_before(root: &SyntaxNode, at: TextSize) -> impl Iterator<Item = SyntaxNode> {
    let token = root.token_at_offset(at).left_biased();
    token
        .into_iter()
        .flat_map(|token| token.parent_ancestors())
        .filter(|node| matches!(node.kind(), STRING | DISCRETION))
}
