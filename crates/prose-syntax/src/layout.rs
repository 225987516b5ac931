//! Layout: which tokens the grammar sees, and where its lines and indentations begin and end.
//!
//! The pass is pure. It groups raw tokens into logical lines, and puts `LINE_END`, `INDENT` and `DEDENT` between them; blank lines
//! and comments have no layout, nor have newlines inside brackets and literals.

use rowan::{TextRange, TextSize};

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Fix, FixSafety, TextEdit};
use crate::lexer::{Token, Tokens};
use crate::properties;
use crate::syntax_kind::SyntaxKind::{self, *};

/// How deep blocks and brackets may be nested together. Deeper text is an error, so that no input can exhaust the stack, neither
/// ours nor that of a caller who walks the tree.
pub(crate) const MAX_DEPTH: usize = 128;

/// How many columns a level has that is indented with tabs alone. Tabs are an error; the width only decides how the lines are
/// parsed all the same.
const LEVEL_COLUMNS: u32 = 2;

/// A token as the grammar sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lexeme {
    pub(crate) kind: SyntaxKind,
    /// The index of the raw token; of the next one for the kinds without text.
    pub(crate) token: u32,
}

/// The result of the pass.
#[derive(Debug)]
pub(crate) struct Layout {
    /// Closed by an `END`.
    pub(crate) lexemes: Vec<Lexeme>,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

struct Indentation {
    column: u32,
    /// A second column that is taken for the same, after an inconsistent dedent has been reported once.
    also: u32,
    /// Whether the line above opens a block, as far as its form shows.
    is_expected: bool,
}

struct LayoutPass<'a> {
    text: &'a str,
    tokens: &'a Tokens,
    at: usize,
    lexemes: Vec<Lexeme>,
    diagnostics: Vec<Diagnostic>,
    indentations: Vec<Indentation>,
    /// The first lexeme of the last line, and its column.
    last_line: (usize, u32),
    has_tabs: bool,
    /// The diagnostic of the last line, if that was indented with tabs.
    tabs_of_last_line: Option<usize>,
    /// The column of the first line of the program and of those that are indented like it, where that is indented with tabs:
    /// none should be.
    margin: u32,
}

/// Lays out the tokens of `text`.
pub(crate) fn lay_out(text: &str, tokens: &Tokens) -> Layout {
    let mut pass = LayoutPass {
        text,
        tokens,
        at: 0,
        lexemes: Vec::with_capacity(tokens.list.len()),
        diagnostics: Vec::new(),
        indentations: vec![Indentation { column: 0, also: 0, is_expected: true }],
        last_line: (0, 0),
        has_tabs: memchr::memchr(b'\t', text.as_bytes()).is_some(),
        tabs_of_last_line: None,
        margin: 0,
    };
    pass.check_foreign_trivia();
    while let Some(column) = pass.next_line() {
        pass.indent_to(column);
        pass.last_line = (pass.lexemes.len(), column);
        pass.logical_line(column);
    }
    for _ in 1..pass.indentations.len() {
        pass.push(DEDENT);
    }
    pass.push(END);
    Layout { lexemes: pass.lexemes, diagnostics: pass.diagnostics }
}

impl LayoutPass<'_> {
    fn token(&self, index: usize) -> Token {
        self.tokens.list[index]
    }

    fn push(&mut self, kind: SyntaxKind) {
        self.lexemes.push(Lexeme { kind, token: self.at as u32 });
    }

    /// Advances to the first token of the next line with code, and returns its column.
    fn next_line(&mut self) -> Option<u32> {
        let after_last = self.at;
        let (index, column) = self.first_of_line(self.at);
        self.at = index;
        if self.has_tabs {
            if self.lexemes.is_empty() && self.text[self.indentation()].contains('\t') {
                self.margin = column;
            }
            self.check_tabs(after_last);
        }
        (self.token(index).kind != END).then_some(column)
    }

    /// The first token of code at or after `index`, which starts a line, and its column.
    fn first_of_line(&self, mut index: usize) -> (usize, u32) {
        let mut column = 0;
        loop {
            match self.token(index).kind {
                WHITESPACE => column = self.columns(index),
                NEWLINE => column = 0,
                COMMENT | SLASH_COMMENT | STRAY_LINE | BYTE_ORDER_MARK => {}
                _ => return (index, column),
            }
            index += 1;
        }
    }

    fn columns(&self, index: usize) -> u32 {
        let whitespace = &self.text[self.tokens.range(index)];
        whitespace.bytes().fold(0, |column, byte| match byte {
            b'\t' => self.tab_stop(column),
            _ => column + 1,
        })
    }

    /// Where a tab at `column` leads: to the next level that the lines above are indented by.
    fn tab_stop(&self, column: u32) -> u32 {
        let top = self.indentations.last().map_or(0, |top| top.column);
        let open = self.indentations.iter().map(|level| level.column).find(|&level| level > column);
        open.unwrap_or(top + (column.saturating_sub(top) / LEVEL_COLUMNS + 1) * LEVEL_COLUMNS)
    }

    fn check_foreign_trivia(&mut self) {
        for &index in &self.tokens.foreign_trivia {
            let range = self.tokens.range(index);
            self.diagnostics.push(match self.token(index).kind {
                SLASH_COMMENT => slash_comment(range),
                _ if self.text[range].starts_with('`') => self.fence(index),
                _ => conflict_marker(range, &self.text[range]),
            });
        }
    }

    fn fence(&self, index: usize) -> Diagnostic {
        let is_indented = index.checked_sub(1).is_some_and(|before| self.token(before).kind == WHITESPACE);
        let start = self.tokens.range(if is_indented { index - 1 } else { index }).start();
        let end = self.tokens.list[index + 1..]
            .iter()
            .position(|token| matches!(token.kind, NEWLINE | END))
            .map_or(start, |newline| match self.token(index + 1 + newline).kind {
                NEWLINE => self.tokens.range(index + 1 + newline).end(),
                _ => TextSize::new(self.token(index + 1 + newline).start),
            });
        Diagnostic::new(
            Code::E004,
            self.tokens.range(index),
            "unexpected Markdown fence; keep only the lines between the fences",
        )
        .with_fix(Fix::safe("Remove the fence", TextEdit::delete(TextRange::new(start, end))))
    }

    /// Reports tabs before the current token, which starts a line. Comments between the lines may be indented as they like, but
    /// no tab is left after in them.
    fn check_tabs(&mut self, after_last: usize) {
        let mut edits: Vec<TextEdit> = (after_last + 1..self.at)
            .filter(|&index| self.token(index).kind == COMMENT)
            .filter_map(|comment| self.without_tabs(comment - 1))
            .collect();
        let code = match self.at.checked_sub(1) {
            Some(before) if before >= after_last && self.token(self.at).kind != END => {
                self.without_tabs(before)
            }
            _ => None,
        };
        if code.is_none() {
            let above = self.tabs_of_last_line.take().and_then(|index| self.diagnostics[index].fix.as_mut());
            if let Some(above) = above {
                above.edits.append(&mut edits);
            }
            return;
        }
        edits.extend(code);
        self.tabs_of_last_line = Some(self.diagnostics.len());
        self.diagnostics.push(
            Diagnostic::new(Code::E103, self.indentation(), "unexpected tab in the indentation; use spaces")
                .with_fix(Fix::safe("Indent with spaces", edits)),
        );
    }

    /// Spaces for the token at `index`, if it is whitespace with a tab that starts a line.
    fn without_tabs(&self, index: usize) -> Option<TextEdit> {
        let range = self.tokens.range(index);
        let starts_line = index.checked_sub(1).is_none_or(|before| self.token(before).kind == NEWLINE);
        let is_indentation = self.token(index).kind == WHITESPACE && starts_line;
        let spaces = || " ".repeat(self.columns(index).saturating_sub(self.margin) as usize);
        (is_indentation && self.text[range].contains('\t')).then(|| TextEdit::replace(range, spaces()))
    }

    fn indent_to(&mut self, column: u32) {
        // The outermost indentation is never popped, and no column is less than its.
        let is_at = |level: &Indentation| column == level.column || column == level.also;
        while self.indentations.len() > 1 {
            let [.., outer, top] = self.indentations.as_slice() else { break };
            if column >= top.column || is_at(top) {
                break;
            }
            if column > outer.column && !is_at(outer) && top.is_expected {
                self.inconsistent_dedent(column);
                return;
            }
            self.indentations.pop();
            self.push(DEDENT);
        }
        if self.indentations.len() == 1 && !self.lexemes.is_empty() {
            self.margin = 0;
        }
        let Some(top) = self.indentations.last() else { return };
        let is_deeper = column > top.column && !is_at(top);
        let is_below_last = column > self.last_line.1 && column == top.column;
        if !is_deeper && !is_below_last {
            return;
        }
        let is_expected = self.opens_block();
        // The line above was taken for one of this column, and yet this is its body.
        let is_body =
            is_below_last && (is_expected || (self.starts_property(self.at) && !self.follows_property()));
        if is_deeper || is_body {
            self.indentations.push(Indentation { column, also: column, is_expected });
            self.push(INDENT);
        }
    }

    /// Whether the line above has the form of one with an indented block below it, or the current line that of a continuation.
    /// Where neither is the case, something is wrong with the lines above, and the columns of the current ones are meaningless.
    fn opens_block(&self) -> bool {
        let line = &self.lexemes[self.last_line.0.min(self.lexemes.len())..];
        let kind = |index: usize| line.get(index).map_or(END, |lexeme| lexeme.kind);
        let has_properties = (0..line.len()).any(|index| {
            matches!(kind(index), SESSION_KW | RESUME_KW)
                && (kind(index + 1) == COLON || kind(index + 1).is_string())
                && (index == 0 || matches!(kind(index - 1), EQ | ARROW | COLON | OUTPUT_KW | RETURN_KW))
        });
        let mut tokens = line.iter().rev().filter(|lexeme| !matches!(lexeme.kind, LINE_END | DEDENT));
        let is_header = tokens.next().is_some_and(|last| last.kind == COLON)
            && tokens.next().is_some()
            && (kind(0).is_name() || kind(0) == PIPE);
        has_properties || is_header || matches!(self.token(self.at).kind, PIPE | ARROW)
    }

    /// Whether the line that starts at token `index` has the form of a property.
    fn starts_property(&self, index: usize) -> bool {
        let behind = (index + 1..self.tokens.list.len()).find(|&next| self.token(next).kind != WHITESPACE);
        behind.is_some_and(|behind| self.token(behind).kind == COLON)
            && properties::find(&self.text[self.tokens.range(index)]).is_some()
    }

    fn follows_property(&self) -> bool {
        let line = self.lexemes.get(self.last_line.0);
        line.is_some_and(|first| self.starts_property(first.token as usize))
    }

    /// The column lies between two open indentations: the line stays in the inner one.
    fn inconsistent_dedent(&mut self, column: u32) {
        let range = self.indentation();
        let [.., outer, top] = self.indentations.as_mut_slice() else { return };
        let (inner, outer) = (top.column, outer.column);
        top.also = column;
        self.diagnostics.push(Diagnostic::new(Code::E102, range, format!(
                "this line is indented by {column}, but the lines above are indented by {outer} and {inner}; \
                 indent it by one of the two"
            )).with_fix(Fix::new(format!("Indent by {inner}"), FixSafety::Unsafe, TextEdit::replace(range, " ".repeat(inner as usize)))));
    }

    /// The whitespace before the current token, which starts a line.
    fn indentation(&self) -> TextRange {
        match self.at.checked_sub(1) {
            Some(before) if self.token(before).kind == WHITESPACE => self.tokens.range(before),
            _ => TextRange::empty(TextSize::new(self.token(self.at).start)),
        }
    }

    /// Passes on the tokens of one logical line.
    fn logical_line(&mut self, column: u32) {
        let mut brackets = Brackets::default();
        // Set by a bracket that is never closed: its line ends like any other, so that a forgotten bracket costs one line and
        // not the rest of the file.
        let mut ends_at_newline = false;
        loop {
            let kind = self.token(self.at).kind;
            match kind {
                END => break,
                WHITESPACE | COMMENT | SLASH_COMMENT | STRAY_LINE | BYTE_ORDER_MARK => {}
                NEWLINE => match self.continuation(self.at, column) {
                    Some(next) if !brackets.is_empty() || (ends_at_newline && self.goes_on_at(next)) => {
                        let newline = self.at;
                        self.at = next;
                        if self.has_tabs {
                            self.check_tabs(newline);
                        }
                        continue;
                    }
                    _ => break,
                },
                _ => {
                    if opens(kind) && brackets.is_empty() && !ends_at_newline {
                        ends_at_newline = !self.is_closed(column);
                    }
                    if !ends_at_newline {
                        brackets.see(kind);
                    }
                    self.push(kind);
                }
            }
            self.at += 1;
        }
        self.push(LINE_END);
    }

    /// Whether the line at `next` is one of items, for a bracket that is never closed: the line above ends with a comma or
    /// the bracket of a call, and the line is one name, or ends with a comma too.
    fn goes_on_at(&self, next: usize) -> bool {
        let [.., before, last] = self.lexemes.as_slice() else { return false };
        let is_call = last.kind == L_PAREN && before.kind == IDENT && before.token + 1 == last.token;
        let line = self.tokens.list[next..].iter().take_while(|token| !matches!(token.kind, NEWLINE | END));
        let mut items = line.filter(|token| !token.kind.is_trivia());
        let first = items.next().map(|token| token.kind);
        let last_item = items.last().map(|token| token.kind);
        (is_call || last.kind == COMMA)
            && matches!(first, Some(IDENT | NUMBER | STRING_LITERAL))
            && matches!(last_item, None | Some(COMMA))
    }

    /// Whether the bracket at the current token is closed before a line that cannot belong to it.
    fn is_closed(&self, column: u32) -> bool {
        let mut brackets = Brackets::default();
        let mut index = self.at;
        loop {
            match self.token(index).kind {
                END => return false,
                NEWLINE => match self.continuation(index, column) {
                    Some(next) => {
                        index = next;
                        continue;
                    }
                    None => return false,
                },
                kind => brackets.see(kind),
            }
            if brackets.is_empty() {
                return true;
            }
            index += 1;
        }
    }

    /// The first token of the next line, where that line can continue with a bracket opened on a line at `column`: it is indented
    /// deeper, or starts with a closing bracket.
    fn continuation(&self, newline: usize, column: u32) -> Option<usize> {
        let (next, next_column) = self.first_of_line(newline);
        let kind = self.token(next).kind;
        (kind != END && (next_column > column || opener_of(kind).is_some())).then_some(next)
    }
}

fn slash_comment(range: TextRange) -> Diagnostic {
    let slashes = TextRange::at(range.start(), TextSize::new(2));
    Diagnostic::new(Code::E110, slashes, "a comment starts with `#`")
        .with_fix(Fix::safe("Change `//` to `#`", TextEdit::replace(slashes, "#")))
}

fn conflict_marker(range: TextRange, line: &str) -> Diagnostic {
    let message = match line.as_bytes() {
        [b'<', ..] => "an unresolved merge conflict starts here; keep one side and remove this line",
        [b'>', ..] => "an unresolved merge conflict ends here; remove this line",
        [b'=', ..] => {
            "the other side of an unresolved merge conflict starts here; keep one side, remove this line"
        }
        _ => "the common ancestor of an unresolved merge conflict starts here; remove it and this line",
    };
    Diagnostic::new(Code::E004, range, message)
}

/// The brackets that are open. A closing bracket that matches none of them is not counted.
#[derive(Default)]
struct Brackets(Vec<SyntaxKind>);

impl Brackets {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn see(&mut self, kind: SyntaxKind) {
        if opens(kind) {
            // Deeper ones are rejected by the parser; not counting them keeps the search below short.
            if self.0.len() < MAX_DEPTH {
                self.0.push(kind);
            }
        } else if let Some(opener) = opener_of(kind)
            && let Some(open) = self.0.iter().rposition(|&open| open == opener)
        {
            self.0.truncate(open);
        }
    }
}

fn opens(kind: SyntaxKind) -> bool {
    matches!(kind, L_PAREN | L_BRACKET | L_BRACE)
}

fn opener_of(kind: SyntaxKind) -> Option<SyntaxKind> {
    match kind {
        R_PAREN => Some(L_PAREN),
        R_BRACKET => Some(L_BRACKET),
        R_BRACE => Some(L_BRACE),
        _ => None,
    }
}
