//! Raw tokens: every byte of the text belongs to exactly one, whitespace included.

use logos::Logos;
use rowan::{TextRange, TextSize};

use crate::literals::{self, Literal};
use crate::syntax_kind::SyntaxKind::{self, *};

/// A raw token. Its end is the start of the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: SyntaxKind,
    pub(crate) start: u32,
}

/// The tokens of a text, closed by an `END` token at its length.
#[derive(Debug)]
pub(crate) struct Tokens {
    pub(crate) list: Vec<Token>,
    /// The indices of the comments in the form of other languages, and of stray lines: what the grammar does not see, and is
    /// reported all the same.
    pub(crate) foreign_trivia: Vec<usize>,
    /// For each literal whose end depends on text after it: its start, and how far the text was looked at.
    pub(crate) lookaheads: Vec<TextRange>,
}

#[derive(Logos, Debug, Clone, Copy, PartialEq, Eq)]
#[logos(extras = LexerState)]
enum Raw {
    /// A token that is what it looks like, wherever it is.
    #[regex(r"[ \t\x0C]+", |_| WHITESPACE)]
    #[regex(r"\r\n|\n|\r", |lex| lex.extras.newline(lex.span().end))]
    #[regex(r"#[^\r\n]*", |_| COMMENT, allow_greedy = true)]
    #[regex(r"[\p{XID_Start}_]\p{XID_Continue}*(-\p{XID_Continue}+)*", |lex| keyword_or_name(lex.slice()))]
    #[regex(r"[0-9]+(\.[0-9]+)?", |_| NUMBER)]
    #[regex(r"[0-9]+(\.[0-9]+)?(ms|s|m|h)", |_| DURATION)]
    #[regex(r"'[^'\r\n]*'", |_| SINGLE_QUOTED)]
    #[regex(r"[A-Za-z0-9_]*[^\x00-\x7F\u{FEFF}]([A-Za-z0-9_]|[^\x00-\x7F\u{FEFF}])*", |_| UNKNOWN, priority = 1)]
    #[token("->", |_| ARROW)]
    #[token("==", |_| EQ_EQ)]
    #[token("!=", |_| BANG_EQ)]
    #[token("<=", |_| LT_EQ)]
    #[token(">=", |_| GT_EQ)]
    #[token("<", |_| LT)]
    #[token(">", |_| GT)]
    #[token("=", |_| EQ)]
    #[token("+", |_| PLUS)]
    #[token("-", |_| MINUS)]
    #[token("*", |_| STAR)]
    #[token("/", |_| SLASH)]
    #[token("|", |_| PIPE)]
    #[token(":", |_| COLON)]
    #[token(",", |_| COMMA)]
    #[token(".", |_| DOT)]
    #[token("...", |_| ELLIPSIS)]
    #[token("?", |_| QUESTION)]
    #[token("(", |_| L_PAREN)]
    #[token(")", |_| R_PAREN)]
    #[token("[", |_| L_BRACKET)]
    #[token("]", |_| R_BRACKET)]
    #[token("{", |_| L_BRACE)]
    #[token("}", |_| R_BRACE)]
    Plain(SyntaxKind),
    #[token("\"", |lex| lex.extras.literal(lex.source(), lex.span(), literals::one_line_string))]
    #[token("\"\"\"", |lex| lex.extras.literal(lex.source(), lex.span(), literals::triple_string))]
    #[regex(r"\*\*+", |lex| lex.extras.literal(lex.source(), lex.span(), literals::discretion))]
    Literal(Literal),
    #[token("\u{FEFF}")]
    ByteOrderMark,
    #[regex(r"//[^\r\n]*", allow_greedy = true)]
    SlashComment,
    #[regex(r"```+")]
    #[token("<<<<<<<")]
    #[token("|||||||")]
    #[token("=======")]
    #[token(">>>>>>>")]
    StrayMark,
}

fn keyword_or_name(word: &str) -> SyntaxKind {
    SyntaxKind::from_keyword(word).unwrap_or(IDENT)
}

/// What the lexer remembers from token to token.
#[derive(Default)]
struct LexerState {
    line_start: usize,
    memory: literals::Memory,
}

impl LexerState {
    fn newline(&mut self, end: usize) -> SyntaxKind {
        self.line_start = end;
        NEWLINE
    }

    fn literal(&mut self, text: &str, opener: logos::Span, scan: literals::Scan) -> Literal {
        let start = opener.start;
        let literal = scan(text, opener, self.line_start, &mut self.memory);
        if let Some(newline) = memchr::memrchr2(b'\n', b'\r', &text.as_bytes()[start..literal.end]) {
            self.line_start = start + newline + 1;
        }
        literal
    }
}

/// Splits `text` into tokens. Total: every text gives tokens, and their texts joined are the text.
pub(crate) fn lex(text: &str) -> Tokens {
    let mut lexer = Raw::lexer(text);
    // About one token for every four bytes of a typical program.
    let mut list: Vec<Token> = Vec::with_capacity(text.len() / 4 + 2);
    let mut foreign_trivia = Vec::new();
    while let Some(raw) = lexer.next() {
        let start = lexer.span().start;
        let kind = match raw {
            Ok(Raw::Literal(literal)) => {
                // The scanners give ends between the opener and the end of the text, on character boundaries.
                lexer.bump(literal.end - lexer.span().end);
                literal.kind
            }
            // An address without quotes is not a comment.
            Ok(Raw::SlashComment) if list.last().is_some_and(|last| last.kind == COLON) => UNKNOWN,
            Ok(Raw::SlashComment) => {
                foreign_trivia.push(list.len());
                SLASH_COMMENT
            }
            Ok(Raw::StrayMark) if is_stray_line(&list, lexer.slice(), lexer.remainder()) => {
                lexer.bump(rest_of_line(lexer.remainder()).trim_end().len());
                foreign_trivia.push(list.len());
                STRAY_LINE
            }
            Ok(Raw::ByteOrderMark) if start == 0 => BYTE_ORDER_MARK,
            Ok(Raw::Plain(kind)) => kind,
            Ok(Raw::ByteOrderMark | Raw::StrayMark) | Err(()) => UNKNOWN,
        };
        list.push(Token { kind, start: start as u32 });
    }
    list.push(Token { kind: END, start: text.len() as u32 });
    Tokens { list, foreign_trivia, lookaheads: lexer.extras.memory.into_lookaheads() }
}

/// Whether `mark`, which comes after the tokens of `list` and before `rest`, makes a stray line of its line.
fn is_stray_line(list: &[Token], mark: &str, rest: &str) -> bool {
    let starts_line =
        |tokens: &[Token]| tokens.last().is_none_or(|last| matches!(last.kind, NEWLINE | BYTE_ORDER_MARK));
    if mark.starts_with('`') {
        let above = match list {
            [above @ .., last] if last.kind == WHITESPACE => above,
            _ => list,
        };
        let is_info = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '+' | '.');
        return starts_line(above) && rest_of_line(rest).trim().chars().all(is_info);
    }
    // Git writes each of them at the start of a line, seven times, with a name after a space at most.
    starts_line(list) && matches!(rest.as_bytes(), [] | [b' ' | b'\n' | b'\r', ..])
}

fn rest_of_line(rest: &str) -> &str {
    &rest[..memchr::memchr2(b'\n', b'\r', rest.as_bytes()).unwrap_or(rest.len())]
}

impl Tokens {
    pub(crate) fn range(&self, index: usize) -> TextRange {
        TextRange::new(TextSize::new(self.list[index].start), TextSize::new(self.list[index + 1].start))
    }
}
