//! The parser's machinery: a cursor over lexemes that builds the green tree and collects diagnostics.
//!
//! The rules of the language are in `grammar`. They never fail: what fits no rule is wrapped in an `ERROR` node
//! that ends with its line, and is reported once.

mod literals;
mod reporting;

use rowan::{Checkpoint, GreenNode, GreenNodeBuilder, TextRange, TextSize};

use crate::diagnostic::Diagnostic;
use crate::layout::{Layout, Lexeme};
use crate::lexer::Tokens;
use crate::lines::{indentation, line_start};
use crate::syntax_kind::SyntaxKind::{self, *};

pub(crate) use self::reporting::{fix, safe_if};

pub(crate) struct Parser<'a> {
    text: &'a str,
    tokens: &'a Tokens,
    lexemes: &'a [Lexeme],
    /// The current lexeme.
    at: usize,
    /// The first raw token that is not yet in the tree.
    next_token: usize,
    builder: GreenNodeBuilder<'static>,
    diagnostics: Vec<Diagnostic>,
    /// The token at which the current line was reported, if it was: what follows on the line is a consequence.
    reported_at: Option<usize>,
    /// Whether the logical line above was reported, wherever on it.
    pub(crate) line_above_has_error: bool,
    /// Whether the current logical line was reported, wherever on it.
    pub(crate) is_line_reported: bool,
    pub(crate) depth: usize,
    /// How many loops enclose the current statement, within its block definition.
    pub(crate) loops: usize,
    /// Whether the current statement is a body on its header's line, which ends with that line.
    pub(crate) one_line: bool,
    /// Whether the current logical line has a bracket that is never closed.
    pub(crate) is_bracket_open: bool,
    /// Whether the logical line above has a bracket that is never closed.
    pub(crate) is_below_open_bracket: bool,
    /// Whether the lines of the current block may be items of such a bracket.
    pub(crate) is_among_items: bool,
    /// Whether the parent of the current statement is unknown.
    pub(crate) is_place_unknown: bool,
    /// Whether the current statement is part of an expression. The lines below belong to the statement that the expression is in.
    pub(crate) in_expression: bool,
    /// Whether a clause of the current statement has a header that was reported.
    pub(crate) clause_has_error: bool,
    /// The diagnostic of a `try` that just ended without a handler.
    pub(crate) handlerless_try: Option<usize>,
    /// Whether the current statement is in a body that is not indented.
    pub(crate) is_body_unindented: bool,
    /// The bodies of the current statement that are not indented, which are reported after it.
    pub(crate) unindented: Option<Unindented>,
    /// For each header without an indented body: its start, and how far the lines below it were
    /// looked at.
    lookaheads: Vec<TextRange>,
}

/// The bodies of one statement that are not indented.
pub(crate) struct Unindented {
    /// The first word of the first of the bodies.
    pub(crate) first: TextRange,
    /// The header above it, by its keyword.
    pub(crate) owner: String,
    /// Where the lines of the bodies start; those of a body inside of another more than once.
    pub(crate) lines: Vec<TextSize>,
    /// Whether nothing else can have been meant.
    pub(crate) is_clear: bool,
}

impl<'a> Parser<'a> {
    /// A parser before the first token of a text that was laid out.
    pub(crate) fn new(text: &'a str, tokens: &'a Tokens, layout: &'a mut Layout) -> Self {
        Self {
            text,
            tokens,
            lexemes: &layout.lexemes,
            at: 0,
            next_token: 0,
            builder: GreenNodeBuilder::new(),
            diagnostics: std::mem::take(&mut layout.diagnostics),
            reported_at: None,
            line_above_has_error: false,
            is_line_reported: false,
            depth: 0,
            loops: 0,
            one_line: false,
            is_bracket_open: false,
            is_below_open_bracket: false,
            is_among_items: false,
            is_place_unknown: false,
            in_expression: false,
            clause_has_error: false,
            handlerless_try: None,
            is_body_unindented: false,
            unindented: None,
            lookaheads: Vec::new(),
        }
    }

    /// The tree, the diagnostics and the lookaheads, when everything has been passed.
    pub(crate) fn into_parts(self) -> (GreenNode, Vec<Diagnostic>, Vec<TextRange>) {
        (self.builder.finish(), self.diagnostics, self.lookaheads)
    }
}

/// Looking.
impl<'a> Parser<'a> {
    pub(crate) fn kind(&self) -> SyntaxKind {
        self.lexemes[self.at].kind
    }

    /// The kind of the lexeme `ahead` places on; `END` after the last.
    pub(crate) fn nth(&self, ahead: usize) -> SyntaxKind {
        self.lexemes.get(self.at + ahead).map_or(END, |lexeme| lexeme.kind)
    }

    pub(crate) fn at(&self, kind: SyntaxKind) -> bool {
        self.kind() == kind
    }

    /// Whether the current lexeme can be a name. All keywords can (L14).
    pub(crate) fn at_name(&self) -> bool {
        self.kind().is_name()
    }

    pub(crate) fn at_string(&self) -> bool {
        self.kind().is_string()
    }

    pub(crate) fn at_line_end(&self) -> bool {
        matches!(self.kind(), LINE_END | INDENT | DEDENT | END)
    }

    /// Whether the lines below are indented, and are those of the current statement.
    pub(crate) fn at_lines_below(&self) -> bool {
        !self.in_expression && self.at(LINE_END) && self.nth(1) == INDENT
    }

    /// How many lexemes have been passed.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    /// Whether the line is over: its end was just passed, as part of a construct that spans lines.
    pub(crate) fn is_past_line(&self) -> bool {
        self.at
            .checked_sub(1)
            .is_some_and(|before| matches!(self.lexemes[before].kind, LINE_END | INDENT | DEDENT))
    }

    /// The text of the current token; empty for layout.
    pub(crate) fn token_text(&self) -> &'a str {
        self.nth_text(0)
    }

    pub(crate) fn nth_text(&self, ahead: usize) -> &'a str {
        &self.text[self.nth_range(ahead)]
    }

    pub(crate) fn range(&self) -> TextRange {
        self.nth_range(0)
    }

    /// The range of a lexeme. Layout has the empty range at the end of the text before it.
    pub(crate) fn nth_range(&self, ahead: usize) -> TextRange {
        let index = (self.at + ahead).min(self.lexemes.len() - 1);
        let lexeme = self.lexemes[index];
        match lexeme.kind {
            LINE_END | INDENT | DEDENT | END => TextRange::empty(self.end_before(index)),
            _ => self.tokens.range(lexeme.token as usize),
        }
    }

    fn end_before(&self, index: usize) -> TextSize {
        self.lexemes[..index]
            .iter()
            .rev()
            .find(|lexeme| !matches!(lexeme.kind, LINE_END | INDENT | DEDENT | END))
            .map_or(TextSize::new(0), |lexeme| self.tokens.range(lexeme.token as usize).end())
    }

    /// The end of the last token that was passed.
    pub(crate) fn previous_end(&self) -> TextSize {
        self.end_before(self.at)
    }

    /// Where something is missing: after the last token of the line, or at the token that is in its place.
    pub(crate) fn missing_at(&self) -> TextRange {
        if self.at_line_end() { TextRange::empty(self.previous_end()) } else { self.range() }
    }

    /// The range of the current token and the space before it.
    pub(crate) fn range_after_previous(&self) -> TextRange {
        TextRange::new(self.previous_end(), self.range().end())
    }

    /// The range of the current token and the space after it.
    pub(crate) fn range_before_next(&self) -> TextRange {
        TextRange::new(self.range().start(), self.nth_range(1).start())
    }

    /// The range of the last token that was passed.
    pub(crate) fn previous_range(&self) -> TextRange {
        self.lexemes[..self.at]
            .iter()
            .rev()
            .find(|lexeme| !matches!(lexeme.kind, LINE_END | INDENT | DEDENT | END))
            .map_or(TextRange::empty(TextSize::new(0)), |lexeme| self.tokens.range(lexeme.token as usize))
    }

    /// Whether nothing is between the previous token and the present one.
    pub(crate) fn is_glued(&self) -> bool {
        self.nth_is_glued(0)
    }

    /// Whether nothing is between the token `ahead` places on and the one before it.
    pub(crate) fn nth_is_glued(&self, ahead: usize) -> bool {
        let index = self.at + ahead;
        index > 0
            && self.lexemes.get(index).is_some_and(|lexeme| {
                self.lexemes[index - 1].token + 1 == lexeme.token
                    && self.nth_range(ahead).len() > TextSize::new(0)
            })
    }

    /// How many lexemes there are up to the end of the logical line.
    pub(crate) fn rest_of_line(&self) -> usize {
        self.lexemes[self.at..]
            .iter()
            .take_while(|lexeme| !matches!(lexeme.kind, LINE_END | INDENT | DEDENT | END))
            .count()
    }

    /// Whether a bracket is open that comes before the current token on its logical line.
    pub(crate) fn is_in_brackets(&self) -> bool {
        let line = self.lexemes[..self.at].iter().rev().take_while(|lexeme| lexeme.kind != LINE_END);
        let depth: i32 = line
            .map(|lexeme| match lexeme.kind {
                L_PAREN | L_BRACKET | L_BRACE => 1,
                R_PAREN | R_BRACKET | R_BRACE => -1,
                _ => 0,
            })
            .sum();
        depth > 0
    }

    /// The range from the current token to the last of the logical line.
    pub(crate) fn rest_of_line_range(&self) -> TextRange {
        match self.rest_of_line() {
            0 => self.range(),
            count => self.range().cover(self.nth_range(count - 1)),
        }
    }

    /// Where the physical lines of `range` start, without those inside of literals.
    pub(crate) fn line_starts(&self, range: TextRange) -> impl Iterator<Item = TextSize> {
        let first = range.start() - TextSize::of(self.indentation_at(range.start()));
        let list = &self.tokens.list;
        let from = list.partition_point(|token| TextSize::new(token.start) < range.start());
        let to = list.partition_point(|token| TextSize::new(token.start) < range.end());
        std::iter::once(first).chain(
            (from..to)
                .filter(|&index| list[index].kind == NEWLINE)
                .map(|index| self.tokens.range(index).end())
                .filter(move |&start| start < range.end())
                .filter(|&start| !self.text[usize::from(start)..].starts_with(['\n', '\r'])),
        )
    }

    pub(crate) fn text_at(&self, range: TextRange) -> &'a str {
        &self.text[range]
    }

    /// The whitespace that starts the physical line of `offset`.
    pub(crate) fn indentation_at(&self, offset: TextSize) -> &'a str {
        indentation(&self.text[line_start(self.text, offset.into())..])
    }
}

/// Building.
impl Parser<'_> {
    fn raw_token(&mut self, kind: SyntaxKind) {
        let range = self.tokens.range(self.next_token);
        self.builder.token(kind.into(), &self.text[range]);
        self.next_token += 1;
    }

    /// Puts the trivia before the current token into the open node.
    fn flush_trivia(&mut self) {
        let until = self.lexemes[self.at].token as usize;
        while self.next_token < until {
            let kind = self.tokens.list[self.next_token].kind;
            // Inside brackets a logical line has several physical ones, each with its own mistakes.
            if kind == NEWLINE && self.reported_at.is_some_and(|reported| reported <= self.next_token) {
                self.reported_at = None;
            }
            self.raw_token(kind);
        }
    }

    pub(crate) fn start(&mut self, kind: SyntaxKind) {
        self.flush_trivia();
        self.builder.start_node(kind.into());
    }

    /// Starts the root, which holds even the first trivia.
    pub(crate) fn start_root(&mut self) {
        self.builder.start_node(SOURCE_FILE.into());
    }

    pub(crate) fn checkpoint(&mut self) -> Checkpoint {
        self.flush_trivia();
        self.builder.checkpoint()
    }

    pub(crate) fn start_at(&mut self, checkpoint: Checkpoint, kind: SyntaxKind) {
        self.builder.start_node_at(checkpoint, kind.into());
    }

    pub(crate) fn finish(&mut self) {
        self.builder.finish_node();
    }

    /// Closes the root, with the trivia at the end of the file.
    pub(crate) fn finish_root(&mut self) {
        self.flush_trivia();
        self.builder.finish_node();
    }

    /// Closes a block, with the comments below its last line that are indented like it.
    pub(crate) fn finish_block(&mut self, column: usize) {
        let until = self.lexemes[self.at].token as usize;
        let mut keep = self.next_token;
        let mut on_new_line = false;
        let mut indent = 0;
        for index in self.next_token..until {
            match self.tokens.list[index].kind {
                NEWLINE => (on_new_line, indent) = (true, 0),
                WHITESPACE => indent = usize::from(self.tokens.range(index).len()),
                COMMENT if on_new_line && indent < column => break,
                COMMENT => keep = index + 1,
                _ => {}
            }
        }
        while self.next_token < keep {
            self.raw_token(self.tokens.list[self.next_token].kind);
        }
        self.builder.finish_node();
    }

    /// The column of the current token, in bytes.
    pub(crate) fn column(&self) -> usize {
        self.indentation_at(self.range().start()).len()
    }

    /// Passes the current lexeme, and puts it into the tree if it is a token.
    pub(crate) fn bump(&mut self) {
        self.bump_as(self.kind());
    }

    /// Passes the current token under another kind: a keyword that is a name here, or a misspelled keyword.
    pub(crate) fn bump_as(&mut self, kind: SyntaxKind) {
        match self.kind() {
            LINE_END => {
                self.line_above_has_error = std::mem::take(&mut self.is_line_reported);
                self.is_below_open_bracket = std::mem::take(&mut self.is_bracket_open);
                self.reported_at = None;
            }
            INDENT | DEDENT => self.reported_at = None,
            END => return,
            STRING_LITERAL
            | UNTERMINATED_STRING
            | TRIPLE_STRING_LITERAL
            | UNTERMINATED_TRIPLE_STRING
            | DISCRETION_LITERAL
            | UNTERMINATED_DISCRETION => {
                return self.literal();
            }
            _ => {
                self.flush_trivia();
                self.raw_token(kind);
            }
        }
        self.at += 1;
    }

    pub(crate) fn eat(&mut self, kind: SyntaxKind) -> bool {
        let found = self.at(kind);
        if found {
            self.bump();
        }
        found
    }

    /// Passes the current literal, split into its parts.
    fn literal(&mut self) {
        self.flush_trivia();
        let range = self.range();
        literals::literal(self, self.kind(), range);
        self.next_token += 1;
        self.at += 1;
    }

    /// Passes the current string, which holds nothing but a name, with that as a token of its own.
    pub(crate) fn bump_unquoted(&mut self) {
        self.flush_trivia();
        let range = self.range();
        let quote = TextSize::of('"');
        let name = TextRange::new(range.start() + quote, range.end() - quote);
        self.part(QUOTE, TextRange::new(range.start(), name.start()));
        self.part(IDENT, name);
        self.part(QUOTE, TextRange::new(name.end(), range.end()));
        self.next_token += 1;
        self.at += 1;
    }

    /// Puts a part of a literal into the tree.
    pub(crate) fn part(&mut self, kind: SyntaxKind, range: TextRange) {
        if !range.is_empty() {
            self.builder.token(kind.into(), &self.text[range]);
        }
    }

    /// Opens a node inside a literal, where there is no trivia.
    pub(crate) fn start_part(&mut self, kind: SyntaxKind) {
        self.builder.start_node(kind.into());
    }

    /// Passes some lexemes as an `ERROR` node.
    pub(crate) fn bump_error(&mut self, count: usize) {
        self.start(ERROR);
        for _ in 0..count {
            self.bump();
        }
        self.finish();
    }

    /// Passes the ends of as many of `indented` regions as end here.
    pub(crate) fn leave_indented(&mut self, indented: &mut usize) {
        while *indented > 0 && (self.at(DEDENT) || (self.at(LINE_END) && self.nth(1) == DEDENT)) {
            self.eat(LINE_END);
            self.bump();
            *indented -= 1;
        }
    }

    /// Wraps the rest of the logical line in an `ERROR` node, if there is any.
    pub(crate) fn skip_line(&mut self) {
        if self.at_line_end() {
            return;
        }
        self.start(ERROR);
        while !self.at_line_end() {
            self.bump();
        }
        self.finish();
    }

    /// Records that what is at `from` depends on the text up to the token `ahead` places on, so that both are parsed again together.
    pub(crate) fn looked_ahead(&mut self, from: TextSize, ahead: usize) {
        let first = (self.at + ahead).min(self.lexemes.len());
        let next = self.lexemes[first..].iter().find(|lexeme| lexeme.kind != LINE_END);
        let end = match next.map(|lexeme| lexeme.token as usize) {
            // Where a literal ends depends on text further down, and only that it starts there was of interest.
            Some(token) if self.tokens.list[token].kind.is_literal() => {
                self.tokens.range(token).start() + TextSize::of('"')
            }
            Some(token) if self.tokens.list[token].kind != END => self.tokens.range(token).end(),
            _ => TextSize::of(self.text),
        };
        self.lookaheads.push(TextRange::new(from, end));
    }
}
