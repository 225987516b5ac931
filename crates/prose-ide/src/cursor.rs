//! The context of the cursor for completion: the text or line that it is in, and the headers above.
//!
//! A line that is being typed is rarely valid, so its tree is of little use. The context is derived from the tokens of the line before
//! the cursor and from the indentation of the lines above; only literals are taken from the tree.

use prose_analysis::statements::parse;
use prose_analysis::{Db, SourceFile};
use prose_syntax::ast::{self, AstNode, Template};
use prose_syntax::properties::Owner;
use prose_syntax::{SyntaxKind, SyntaxKind::*, SyntaxNode, SyntaxToken, TextRange, TextSize, names};

use prose_syntax::lines::{line_end, line_start};

/// A word, a mark or a whole literal of a line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Piece<'a> {
    /// The kind of the token; that of the node for a literal. A word that spells a keyword has the kind of that, wherever it stands.
    pub(crate) kind: SyntaxKind,
    pub(crate) text: &'a str,
    pub(crate) range: TextRange,
}

impl Piece<'_> {
    pub(crate) fn is_name(self) -> bool {
        self.kind == IDENT || self.kind.is_keyword()
    }

    /// Whether a value can end with it.
    pub(crate) fn ends_value(self) -> bool {
        matches!(self.kind, STRING | DISCRETION | NUMBER | DURATION | R_PAREN | R_BRACKET | R_BRACE)
            || (self.is_name() && !is_infix(self.kind))
    }
}

/// Whether a value is expected after the word.
fn is_infix(kind: SyntaxKind) -> bool {
    matches!(kind, AND_KW | OR_KW | NOT_KW | IS_KW | IN_KW)
}

/// A line above that the line of the cursor is indented below.
pub(crate) struct Header<'a> {
    pub(crate) pieces: Vec<Piece<'a>>,
    pub(crate) range: TextRange,
}

/// A string or a discretion around the cursor.
pub(crate) struct Literal {
    pub(crate) node: SyntaxNode,
    /// The bytes between its marks.
    pub(crate) content: TextRange,
    pub(crate) is_closed: bool,
}

/// The place of the cursor.
pub(crate) struct Cursor<'a> {
    pub(crate) db: &'a dyn Db,
    pub(crate) file: SourceFile,
    pub(crate) text: &'a str,
    pub(crate) offset: TextSize,
    /// The whole word around the cursor; empty where there is none.
    pub(crate) word: TextRange,
    /// The string or discretion around the cursor.
    pub(crate) literal: Option<Literal>,
    /// The pieces of the line before the word or the literal.
    pub(crate) pieces: Vec<Piece<'a>>,
    /// The bytes of the line. It has several lines of text where a bracket or a literal spans them.
    pub(crate) line: TextRange,
    /// The headers that the line is below, the nearest first.
    pub(crate) headers: Vec<Header<'a>>,
    /// The nearest line above that is indented like this one and is below the same header.
    pub(crate) sibling: Option<Header<'a>>,
    column: usize,
    root: SyntaxNode,
}

impl<'a> Cursor<'a> {
    /// The place of an offset; none in a comment.
    pub(crate) fn new(db: &'a dyn Db, file: SourceFile, offset: TextSize) -> Option<Self> {
        let text = file.text(db).as_str();
        let mut at = usize::from(offset).min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        let root = parse(db, file).syntax();
        let lines = Lines { text, root: &root };
        let offset = size(at);
        let left = root.token_at_offset(offset).left_biased();
        if left.as_ref().is_some_and(|token| is_comment(token) && token.text_range().start() < offset) {
            return None;
        }
        let literal = lines.literal_around(offset);
        let word = word_around(text, at);
        let stop = literal.as_ref().map_or(word.start(), |literal| literal.node.text_range().start());
        let start = lines.logical_start(usize::from(stop));
        let pieces = lines.pieces(start, stop);
        let first = pieces.first().map_or(stop, |piece| piece.range.start());
        let column = usize::from(first) - start;
        let end = line_end(text, at.max(usize::from(word.end())));
        let line = TextRange::new(size(start), size(end));
        let (headers, sibling) = lines.above(start, column);
        Some(Self { db, file, text, offset, word, literal, pieces, line, headers, sibling, column, root })
    }

    /// Whether the cursor is in or right after a number, where nothing is completed.
    pub(crate) fn is_after_digit(&self) -> bool {
        let starts_with_digit = self.text[self.word].as_bytes().first().is_some_and(u8::is_ascii_digit);
        let before = &self.text[..usize::from(self.word.start())];
        self.literal.is_none() && (starts_with_digit || before.ends_with(|c: char| c.is_alphanumeric()))
    }

    /// What the line is below, if that takes properties.
    pub(crate) fn property_owner(&self) -> Option<PropertyOwner> {
        property_owner(self.headers.first()?, &self.headers)
    }

    /// The names before a colon on the lines that are indented like this one and are below the same header.
    pub(crate) fn names_of_siblings(&self) -> Vec<&'a str> {
        self.lines().names_at(self.line, self.column)
    }

    /// The names before a colon after the word, up to the bracket that closes the present one.
    pub(crate) fn names_after(&self) -> Vec<&'a str> {
        let pieces = self.pieces_after();
        let closed = (0..pieces.len()).find(|index| {
            let depth: i32 = pieces[..=*index].iter().map(|piece| bracket(piece.kind)).sum();
            depth < 0
        });
        names_before_colons(&pieces[..closed.unwrap_or(pieces.len())])
    }

    /// The pieces after the word up to the end of the line.
    pub(crate) fn pieces_after(&self) -> Vec<Piece<'a>> {
        self.lines().pieces(usize::from(self.word.end()), self.line.end())
    }

    fn lines(&self) -> Lines<'a, '_> {
        Lines { text: self.text, root: &self.root }
    }

    /// The literal with that range.
    pub(crate) fn literal_at(&self, range: TextRange) -> Option<SyntaxNode> {
        let token = self.root.token_at_offset(range.start()).right_biased()?;
        token.parent_ancestors().find(is_literal)
    }

    /// Whether nothing more is written after the word, so that there is room for a snippet.
    pub(crate) fn is_at_end(&self) -> bool {
        let line = self.after_word().split(['\n', '\r']).next().unwrap_or_default().trim_start();
        line.is_empty() || line.starts_with(['#', ')', ']', '}', ','])
    }

    /// The text after the word.
    pub(crate) fn after_word(&self) -> &'a str {
        &self.text[usize::from(self.word.end())..]
    }
}

/// What a line with properties is below.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PropertyOwner {
    /// An agent or a session.
    Statement(Owner),
    /// `permissions:`
    Permissions,
    /// `context:` with lines below it
    Context,
}

fn property_owner(header: &Header<'_>, headers: &[Header<'_>]) -> Option<PropertyOwner> {
    let (start, _) = statement_start(&header.pieces);
    let statement = &header.pieces[start..];
    let kinds: Vec<SyntaxKind> = statement.iter().map(|piece| piece.kind).collect();
    match kinds.as_slice() {
        [AGENT_KW, ..] => Some(PropertyOwner::Statement(Owner::Agent)),
        [SESSION_KW, next, ..] if matches!(next, COLON | STRING) || statement[1].is_name() => {
            Some(PropertyOwner::Statement(Owner::Session))
        }
        [SESSION_KW] => Some(PropertyOwner::Statement(Owner::Session)),
        [RESUME_KW, ..] => Some(PropertyOwner::Statement(Owner::Resume)),
        [_, COLON] => {
            let outer = headers.get(1)?;
            let is_property = matches!(property_owner(outer, &[]), Some(PropertyOwner::Statement(_)));
            match statement[0].text {
                "permissions" if is_property => Some(PropertyOwner::Permissions),
                "context" if is_property => Some(PropertyOwner::Context),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Why a statement, or a value, starts where it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    /// The line starts.
    Line,
    /// After the colon of a header.
    Body,
    /// After `=`.
    Value,
    /// After `->`.
    Arrow,
    /// At `|`.
    Stage,
}

/// Where the last statement or value of a line begins, as far as the pieces of the line go.
pub(crate) fn statement_start(pieces: &[Piece<'_>]) -> (usize, Start) {
    let mut start = (0, Start::Line);
    let mut depth = 0;
    for (index, piece) in pieces.iter().enumerate() {
        depth = (depth + bracket(piece.kind)).max(0);
        if depth > 0 {
            continue;
        }
        match piece.kind {
            EQ => start = (index + 1, Start::Value),
            ARROW => start = (index + 1, Start::Arrow),
            PIPE => start = (index, Start::Stage),
            COLON if pieces.get(start.0).is_some_and(|first| opens_body(first.kind)) => {
                start = (index + 1, Start::Body);
            }
            _ => {}
        }
    }
    start
}

/// Whether a colon after the word begins a body.
fn opens_body(keyword: SyntaxKind) -> bool {
    matches!(
        keyword,
        IF_KW
            | ELIF_KW
            | ELSE_KW
            | FOR_KW
            | PARALLEL_KW
            | LOOP_KW
            | REPEAT_KW
            | TRY_KW
            | CATCH_KW
            | FINALLY_KW
            | OPTION_KW
            | CHOICE_KW
            | BLOCK_KW
            | DO_KW
            | PIPE
    )
}

/// 1 for an opening bracket, −1 for a closing one.
pub(crate) fn bracket(kind: SyntaxKind) -> i32 {
    match kind {
        L_PAREN | L_BRACKET | L_BRACE => 1,
        R_PAREN | R_BRACKET | R_BRACE => -1,
        _ => 0,
    }
}

/// The brackets that are open at the end of the pieces, from outside to inside.
pub(crate) fn open_brackets(pieces: &[Piece<'_>]) -> Vec<usize> {
    let mut open = Vec::new();
    for (index, piece) in pieces.iter().enumerate() {
        match bracket(piece.kind) {
            1 => open.push(index),
            -1 => drop(open.pop()),
            _ => {}
        }
    }
    open
}

/// The last bracket that is open at the end of the pieces.
pub(crate) fn open_bracket(pieces: &[Piece<'_>]) -> Option<usize> {
    open_brackets(pieces).pop()
}

/// The pieces of the last item after an open bracket.
pub(crate) fn last_item<'p, 'a>(inside: &'p [Piece<'a>]) -> &'p [Piece<'a>] {
    let mut depth = 0;
    let mut start = 0;
    for (index, piece) in inside.iter().enumerate() {
        depth += bracket(piece.kind);
        if depth == 0 && piece.kind == COMMA {
            start = index + 1;
        }
    }
    &inside[start..]
}

/// The names before a colon outside of inner brackets.
pub(crate) fn names_before_colons<'a>(pieces: &[Piece<'a>]) -> Vec<&'a str> {
    let mut depth = 0;
    let mut names = Vec::new();
    for (index, piece) in pieces.iter().enumerate() {
        depth += bracket(piece.kind);
        if depth == 0 && piece.kind == COLON && index > 0 && pieces[index - 1].is_name() {
            names.push(pieces[index - 1].text);
        }
    }
    names
}

/// A text as lines, some of which belong to literals and brackets that start further up.
struct Lines<'a, 'r> {
    text: &'a str,
    root: &'r SyntaxNode,
}

impl<'a> Lines<'a, '_> {
    /// The literal that the offset is in.
    fn literal_around(&self, offset: TextSize) -> Option<Literal> {
        let mut token = self.root.token_at_offset(offset).left_biased()?;
        // The space after the last word of a text that is not closed yet is not a part of it for the parser.
        if token.kind() == WHITESPACE
            && let Some(before) = token.prev_token()
        {
            token = before;
        }
        let literal = literal_of(&token).filter(|literal| {
            let start = literal.content.start();
            start <= offset && (!literal.is_closed || offset <= literal.content.end())
        });
        literal.or_else(|| {
            // Between two marks the offset is after the first one.
            let token = self.root.token_at_offset(offset).right_biased()?;
            literal_of(&token).filter(|literal| literal.content.contains_inclusive(offset))
        })
    }

    /// The start of the line that the offset is on, counting a bracket or a literal that spans lines as one line.
    fn logical_start(&self, at: usize) -> usize {
        let mut start = line_start(self.text, at);
        while let Some(outer) = self.continued_from(start) {
            start = line_start(self.text, outer);
        }
        start
    }

    /// Where the bracket or literal starts in which a line of text starts.
    fn continued_from(&self, line: usize) -> Option<usize> {
        let before = self.root.token_at_offset(size(line)).left_biased()?;
        let before =
            std::iter::successors(Some(before), |token| token.prev_token()).find(|token| !is_space(token))?;
        let indent = self.indent_of(line);
        let continues = |node: &SyntaxNode| {
            let range = node.text_range();
            if usize::from(range.start()) >= line || !(is_literal(node) || is_bracketed(node)) {
                return false;
            }
            // A bracket that is not closed yet continues below the line that ends with it or with a comma.
            let is_open = matches!(before.kind(), L_PAREN | L_BRACKET | L_BRACE | COMMA)
                && !is_literal(node)
                && !is_closed(node)
                && indent > self.indent_of(line_start(self.text, usize::from(range.start())));
            usize::from(range.end()) > line || is_open
        };
        let outermost = before.parent_ancestors().filter(continues).last()?;
        Some(usize::from(outermost.text_range().start()))
    }

    fn indent_of(&self, line: usize) -> usize {
        self.text.as_bytes()[line..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
    }

    /// The pieces from a place up to `stop`.
    fn pieces(&self, from: usize, stop: TextSize) -> Vec<Piece<'a>> {
        let mut pieces = Vec::new();
        let mut next = self.root.token_at_offset(size(from)).right_biased();
        while let Some(token) = next {
            if token.text_range().start() >= stop {
                break;
            }
            let literal = token.parent_ancestors().find(is_literal);
            let (kind, range) = match &literal {
                Some(node) => (node.kind(), node.text_range()),
                None if token.kind() == IDENT => {
                    (SyntaxKind::from_keyword(token.text()).unwrap_or(IDENT), token.text_range())
                }
                None => (token.kind(), token.text_range()),
            };
            if !is_space(&token) && !range.is_empty() {
                pieces.push(Piece { kind, text: &self.text[range], range });
            }
            next = match literal {
                Some(node) => node.last_token().and_then(|last| last.next_token()),
                None => token.next_token(),
            };
        }
        pieces
    }

    /// The headers above a line, and the nearest line that is indented like it.
    fn above(&self, line: usize, column: usize) -> (Vec<Header<'a>>, Option<Header<'a>>) {
        let mut headers = Vec::new();
        let mut sibling = None;
        let mut outer = column;
        let mut at = line;
        while at > 0 && (outer > 0 || (headers.is_empty() && sibling.is_none())) {
            let mut start = line_start(self.text, at - 1);
            let is_wanted = |start: usize| {
                let indent = self.indent_of(start);
                let first = self.text.as_bytes().get(start + indent);
                let is_code = first.is_some_and(|byte| !matches!(byte, b'#' | b'\n' | b'\r'));
                let is_sibling = headers.is_empty() && sibling.is_none() && indent == column;
                is_code && (indent < outer || is_sibling)
            };
            if is_wanted(start) {
                start = self.logical_start(start);
            }
            if is_wanted(start) {
                let indent = self.indent_of(start);
                let header = self.header(start, at);
                if indent < outer {
                    outer = indent;
                    headers.push(header);
                } else {
                    sibling = Some(header);
                }
            }
            at = start;
        }
        (headers, sibling)
    }

    fn header(&self, start: usize, below: usize) -> Header<'a> {
        let stop = self.text[..below].trim_end().len().max(start);
        let range = TextRange::new(size(start), size(stop));
        Header { pieces: self.pieces(start, size(stop)), range }
    }

    /// The names before a colon on the lines around a line that are indented like it and are below the same header.
    fn names_at(&self, line: TextRange, column: usize) -> Vec<&'a str> {
        let mut names = Vec::new();
        let mut see = |start: usize| {
            let indent = self.indent_of(start);
            let line = &self.text[start..line_end(self.text, start)];
            let is_code = !matches!(line.trim_start().as_bytes().first(), None | Some(b'#'));
            if !is_code || indent > column || self.continued_from(start).is_some() {
                return true;
            }
            if indent == column
                && let Some((name, _)) = line.split_once(':')
            {
                names.push(name.trim());
            }
            indent == column
        };
        let mut at = usize::from(line.start());
        while at > 0 {
            at = line_start(self.text, at - 1);
            if !see(at) {
                break;
            }
        }
        let mut at = usize::from(line.end());
        while at < self.text.len() {
            at += if self.text[at..].starts_with("\r\n") { 2 } else { 1 };
            if !see(at) {
                break;
            }
            at = line_end(self.text, at);
        }
        names
    }
}

fn is_comment(token: &SyntaxToken) -> bool {
    matches!(token.kind(), COMMENT | SLASH_COMMENT)
}

fn is_space(token: &SyntaxToken) -> bool {
    token.kind().is_trivia() || token.kind() == SLASH_COMMENT
}

fn is_literal(node: &SyntaxNode) -> bool {
    matches!(node.kind(), STRING | DISCRETION)
}

fn is_bracketed(node: &SyntaxNode) -> bool {
    node.children_with_tokens().any(|child| matches!(child.kind(), L_PAREN | L_BRACKET | L_BRACE))
        && node.kind() != INTERPOLATION
}

fn is_closed(node: &SyntaxNode) -> bool {
    node.last_token().is_some_and(|last| bracket(last.kind()) < 0)
}

fn literal_of(token: &SyntaxToken) -> Option<Literal> {
    let node = token.parent_ancestors().find(is_literal)?;
    let content = match ast::Str::cast(node.clone()) {
        Some(string) => string.content_range(),
        None => ast::Discretion::cast(node.clone())?.content_range(),
    };
    let is_closed = content.end() < node.text_range().end();
    Some(Literal { node, content, is_closed })
}

/// The whole word around a place.
pub(crate) fn word_around(text: &str, at: usize) -> TextRange {
    let is_word = |c: char| names::is_part(c) || c == '-';
    let bytes = text.as_bytes();
    let mut start = text[..at].trim_end_matches(is_word).len();
    // A word starts with no hyphen, which is a minus or the start of an arrow there.
    while start < at && bytes[start] == b'-' {
        start += 1;
    }
    let mut end = text.len() - text[at..].trim_start_matches(is_word).len();
    while end > at && bytes[end - 1] == b'-' {
        end -= 1;
    }
    if start == at && bytes.get(at) == Some(&b'-') {
        end = at;
    }
    TextRange::new(size(start), size(end))
}

/// A place in a text: longer ones than fit have no tree.
pub(crate) fn size(at: usize) -> TextSize {
    TextSize::new(at as u32)
}
