//! Documentation comments, as Markdown.

use prose_analysis::index::Site;
use prose_analysis::statements::parse;
use prose_analysis::{Db, SourceFile};
use prose_syntax::text::shorten;
use prose_syntax::{SyntaxKind, SyntaxToken};

use crate::entity::binding_range;
use crate::markdown::escaped;

/// The comment that is right above the statement that binds a name, as Markdown. One at the start of a program describes the program, not its first input.
pub(crate) fn comment_above<'db>(db: &'db dyn Db, site: Site<'db>) -> String {
    let file = site.statement.file(db);
    let Some(range) = binding_range(db, site) else { return String::new() };
    let root = parse(db, file).syntax();
    let Some(token) = root.token_at_offset(range.start()).right_biased() else { return String::new() };
    let mut lines = Vec::new();
    let mut breaks = 0;
    let mut before = token.prev_token();
    let starts_program = loop {
        let Some(token) = before else { break true };
        match token.kind() {
            SyntaxKind::WHITESPACE | SyntaxKind::BYTE_ORDER_MARK => {}
            SyntaxKind::NEWLINE if breaks == 0 => breaks = 1,
            SyntaxKind::COMMENT if breaks == 1 && stands_alone(&token) => {
                lines.push(comment_text(token.text()).to_owned());
                breaks = 0;
            }
            _ => break false,
        }
        before = token.prev_token();
    };
    if starts_program && starts_with_input(&token) {
        return String::new();
    }
    lines.reverse();
    comment(&lines)
}

/// Whether the line of a token is an input. A program often starts with a comment about all of it, right above its first input.
fn starts_with_input(token: &SyntaxToken) -> bool {
    let line = std::iter::successors(Some(token.clone()), SyntaxToken::prev_token)
        .take_while(|token| token.kind() != SyntaxKind::NEWLINE);
    line.last().is_some_and(|first| first.kind() == SyntaxKind::INPUT_KW)
}

/// The comment at the start of a program, which describes it.
pub(crate) fn first_comment(db: &dyn Db, program: SourceFile) -> String {
    let mut lines = Vec::new();
    let mut breaks = 0;
    let mut token = parse(db, program).syntax().first_token();
    while let Some(next) = token {
        match next.kind() {
            SyntaxKind::COMMENT => {
                lines.push(comment_text(next.text()).to_owned());
                breaks = 0;
            }
            SyntaxKind::WHITESPACE | SyntaxKind::BYTE_ORDER_MARK => {}
            SyntaxKind::NEWLINE if lines.is_empty() || breaks == 0 => breaks += 1,
            _ => break,
        }
        token = next.next_token();
    }
    comment(&lines)
}

fn stands_alone(comment: &SyntaxToken) -> bool {
    let before = std::iter::successors(comment.prev_token(), SyntaxToken::prev_token)
        .find(|token| token.kind() != SyntaxKind::WHITESPACE);
    before.is_none_or(|token| matches!(token.kind(), SyntaxKind::NEWLINE | SyntaxKind::BYTE_ORDER_MARK))
}

fn comment_text(comment: &str) -> &str {
    comment.trim_start_matches('#').trim()
}

/// Lines of a comment as Markdown, without those that are only drawn.
fn comment(lines: &[String]) -> String {
    const MAX_LINES: usize = 20;
    const MAX_LINE: usize = 400;
    let has_words = |line: &&String| {
        line.is_empty() || line.chars().any(char::is_alphanumeric) && !line.starts_with("prose: ignore")
    };
    let lines: Vec<_> =
        lines.iter().filter(has_words).take(MAX_LINES).map(|line| shorten(line, MAX_LINE)).collect();
    escaped(lines.join("\n").trim())
}
