//! The text of a program as a trace shows it: lines, statements, and where the text can be cut.

use std::ops::Range;

use prose_syntax::ast::{self, AstNode};
use prose_syntax::text::one_line;
use prose_syntax::{LineIndex, Severity, SyntaxKind, SyntaxNode};

/// The text of a program.
#[derive(Debug)]
pub(crate) struct Program {
    text: String,
    /// The bytes of each line, without its line break.
    lines: Vec<Range<usize>>,
    /// Whether a comment can stand at the end of each line: a string or a discretion continues after the other ones.
    takes_comment: Vec<bool>,
    /// The statements at all depths in the order of the text, without definitions and what is inside them.
    statements: Vec<Statement>,
    /// The lines of every loop, also those in blocks, in the order of the text.
    loops: Vec<(u32, u32)>,
    /// The lines of every parallel block.
    parallels: Vec<(u32, u32)>,
    /// Every `try`, in the order of the text.
    tries: Vec<Try>,
    /// The lines in which the conditions of every `if` stand: its own, then those of its `elif`.
    conditions: Vec<Vec<u32>>,
    /// The lines of every statement, also of those inside definitions, in the order of the text.
    spans: Vec<(u32, u32)>,
    /// The lines of every block that is defined.
    blocks: Vec<(u32, u32)>,
    /// The first and the last line of each top-level statement, definitions included.
    top_level: Vec<(u32, u32)>,
    /// Whether the text can be cut after a line, as far as that has been found out.
    can_cut: Vec<Option<bool>>,
}

/// A statement of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Statement {
    /// Its first line, from 1.
    pub(crate) line: u32,
    /// Its last line.
    pub(crate) last_line: u32,
    /// Whether statements are inside it.
    pub(crate) has_body: bool,
    /// What it repeats by, if it is a `loop`.
    pub(crate) repeats: Option<Repeats>,
}

/// What the header of a loop says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Repeats {
    /// `until` or `while`, if there is a condition.
    pub(crate) keyword: Option<SyntaxKind>,
    /// The condition as it is written, if there is one.
    pub(crate) condition: Option<String>,
    /// The most iterations, if a number is written.
    pub(crate) max: Option<u32>,
}

/// The parts of a `try`, by their first and their last lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Try {
    /// The line of the `try` itself.
    pub(crate) line: u32,
    /// Its handler.
    pub(crate) catch: Option<(u32, u32)>,
    /// The name of the error in the handler.
    pub(crate) error: Option<String>,
    /// What runs in any case.
    pub(crate) finally: Option<(u32, u32)>,
    /// The lines of the sessions in its body.
    pub(crate) sessions: Vec<u32>,
    /// Whether its body may fail without a session that fails there: it throws, or calls something.
    pub(crate) fails_by_itself: bool,
}

impl Program {
    pub(crate) fn new(text: &str) -> Self {
        let text = text.trim_start_matches('\u{feff}').to_owned();
        let lines = split_lines(&text);
        let mut program = Self {
            takes_comment: vec![true; lines.len()],
            can_cut: vec![None; lines.len() + 1],
            text,
            lines,
            statements: Vec::new(),
            loops: Vec::new(),
            parallels: Vec::new(),
            tries: Vec::new(),
            conditions: Vec::new(),
            spans: Vec::new(),
            blocks: Vec::new(),
            top_level: Vec::new(),
        };
        let root = prose_syntax::parse(&program.text).syntax();
        for node in root.children() {
            let (line, last_line) = program.lines_of(&node);
            program.top_level.push((line, last_line));
        }
        program.collect(&root);
        program
    }

    fn collect(&mut self, parent: &SyntaxNode) {
        for node in parent.children() {
            match node.kind() {
                SyntaxKind::STRING | SyntaxKind::DISCRETION => {
                    let (line, last_line) = self.lines_of(&node);
                    for line in line..last_line {
                        self.takes_comment[line as usize - 1] = false;
                    }
                }
                kind => {
                    match kind {
                        SyntaxKind::LOOP | SyntaxKind::FOR | SyntaxKind::REPEAT => {
                            self.loops.push(self.lines_of(&node));
                        }
                        SyntaxKind::PARALLEL | SyntaxKind::PARALLEL_FOR => {
                            self.parallels.push(self.lines_of(&node));
                        }
                        SyntaxKind::TRY => {
                            self.tries.extend(ast::Try::cast(node.clone()).map(|it| self.parts_of(&it)))
                        }
                        SyntaxKind::IF => {
                            let clauses = node.children().filter(|it| it.kind() == SyntaxKind::ELIF_CLAUSE);
                            let lines = std::iter::once(node.clone()).chain(clauses);
                            self.conditions.push(lines.map(|it| self.lines_of(&it).0).collect());
                        }
                        _ => {}
                    }
                    if kind == SyntaxKind::BLOCK_DEF {
                        self.blocks.push(self.lines_of(&node));
                    }
                    let is_statement = ast::Statement::can_cast(node.kind())
                        && matches!(parent.kind(), SyntaxKind::SOURCE_FILE | SyntaxKind::BLOCK);
                    if is_statement && !is_definition(node.kind()) {
                        self.spans.push(self.lines_of(&node));
                    }
                    if is_statement && !is_definition(node.kind()) && !is_inside_definition(&node) {
                        let (line, last_line) = self.lines_of(&node);
                        let has_body = node.descendants().any(|inner| inner.kind() == SyntaxKind::BLOCK);
                        let repeats = node
                            .descendants()
                            .find_map(ast::Loop::cast)
                            .filter(|found| self.line_of(found.syntax().text_range().start().into()) == line);
                        let repeats = repeats.map(|found| repeats_of(&found));
                        self.statements.push(Statement { line, last_line, has_body, repeats });
                    }
                    self.collect(&node);
                }
            }
        }
    }

    fn parts_of(&self, found: &ast::Try) -> Try {
        use SyntaxKind::{ASSERT, CALL, DO_CALL, RESUME, SESSION, THROW};
        let catch = found.catches().next();
        let inside = || found.body().into_iter().flat_map(|body| body.syntax().descendants());
        let mut sessions: Vec<u32> = inside()
            .filter(|node| matches!(node.kind(), SESSION | RESUME))
            .map(|node| self.lines_of(&node).0)
            .collect();
        sessions.sort_unstable();
        Try {
            line: self.lines_of(found.syntax()).0,
            error: catch
                .as_ref()
                .and_then(|catch| Some(catch.error()?.syntax().text().to_string().trim().to_owned())),
            catch: catch.map(|catch| self.lines_of(catch.syntax())),
            finally: found.finally().map(|finally| self.lines_of(finally.syntax())),
            sessions,
            fails_by_itself: inside().any(|node| matches!(node.kind(), ASSERT | CALL | DO_CALL | THROW)),
        }
    }

    /// The first and the last line of what stands in a node.
    fn lines_of(&self, node: &SyntaxNode) -> (u32, u32) {
        let tokens = || node.descendants_with_tokens().filter_map(|element| element.into_token());
        let start = tokens().find(|token| !token.kind().is_trivia()).map(|token| token.text_range().start());
        let range = node.text_range();
        let text = node.text().to_string();
        let end = usize::from(range.start()) + text.trim_end().len();
        let start = usize::from(start.unwrap_or(range.start()));
        (self.line_of(start), self.line_of(end.saturating_sub(1).max(start)))
    }

    /// The line of a byte, from 1.
    fn line_of(&self, offset: usize) -> u32 {
        self.lines.partition_point(|line| line.start <= offset).max(1) as u32
    }

    /// How many lines there are.
    pub(crate) fn line_count(&self) -> u32 {
        self.lines.len() as u32
    }

    /// A line, from 1; empty for one that is not there.
    pub(crate) fn line(&self, number: u32) -> &str {
        let line = (number as usize).checked_sub(1).and_then(|index| self.lines.get(index));
        line.map_or("", |range| &self.text[range.clone()])
    }

    /// The text.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The line at whose end a comment about a line can stand: that line, or the one where the string ends that it begins.
    pub(crate) fn comment_line(&self, line: u32) -> u32 {
        let mut at = line.clamp(1, self.line_count().max(1));
        while at < self.line_count() && !self.takes_comment[at as usize - 1] {
            at += 1;
        }
        at
    }

    /// The line that a comment at the end of a line is about: the reverse of [`Self::comment_line`].
    pub(crate) fn commented_line(&self, line: u32) -> u32 {
        let mut at = line;
        while at > 1 && !self.takes_comment[at as usize - 2] {
            at -= 1;
        }
        // A string may begin below the first line of its statement, as a property does.
        match self.statement_around(line) {
            Some(statement) if self.comment_line(statement.line) == line => statement.line,
            _ => at,
        }
    }

    /// The first and the last line of each top-level statement, definitions included.
    pub(crate) fn top_level(&self) -> &[(u32, u32)] {
        &self.top_level
    }

    /// The statements that start after a line and up to another one.
    pub(crate) fn statements_between(&self, behind: u32, up_to: u32) -> impl Iterator<Item = &Statement> {
        let start = self.statements.partition_point(|statement| statement.line <= behind);
        self.statements[start..].iter().take_while(move |statement| statement.line <= up_to)
    }

    /// The innermost statement around a line.
    pub(crate) fn statement_around(&self, line: u32) -> Option<&Statement> {
        let end = self.statements.partition_point(|statement| statement.line <= line);
        self.statements[..end].iter().rev().find(|statement| line <= statement.last_line)
    }

    /// The last line of the outermost statement that starts in a line.
    pub(crate) fn last_line(&self, line: u32) -> u32 {
        let start = self.spans.partition_point(|(first, _)| *first < line);
        let starts_here = self.spans[start..].iter().take_while(|(first, _)| *first == line);
        starts_here.map(|(_, last)| *last).max().unwrap_or(line)
    }

    /// The lines of the block whose definition a line is in.
    pub(crate) fn block_around(&self, line: u32) -> Option<(u32, u32)> {
        self.blocks.iter().copied().find(|(first, last)| *first <= line && line <= *last)
    }

    /// Whether a statement ends above a line and runs before it wherever both run: they are in one body, and neither is in parallel with the other in a
    /// `parallel`.
    pub(crate) fn precedes(&self, line: u32, other: u32) -> bool {
        let has_both = |(first, last): &(u32, u32)| *first < line && other <= *last;
        self.last_line(line) < other
            && self.block_around(line) == self.block_around(other)
            && !self.parallels.iter().any(has_both)
    }

    /// The first lines of the statements around a line, without one that starts there.
    pub(crate) fn headers_around(&self, line: u32) -> impl Iterator<Item = u32> {
        let end = self.statements.partition_point(|statement| statement.line < line);
        self.statements[..end]
            .iter()
            .filter(move |statement| line <= statement.last_line)
            .map(|found| found.line)
    }

    /// The `try` that starts in a line.
    pub(crate) fn try_at(&self, line: u32) -> Option<&Try> {
        self.tries.iter().find(|found| found.line == line)
    }

    /// The line of the n-th condition, from 0, of the `if` that starts in a line.
    pub(crate) fn condition_line(&self, line: u32, nth: usize) -> Option<u32> {
        self.conditions.iter().find(|lines| lines.first() == Some(&line))?.get(nth).copied()
    }

    /// The first and the last line of every loop.
    pub(crate) fn loops(&self) -> impl Iterator<Item = (u32, u32)> {
        self.loops.iter().copied()
    }

    /// The first and the last line of every parallel block.
    pub(crate) fn parallels(&self) -> impl Iterator<Item = (u32, u32)> {
        self.parallels.iter().copied()
    }

    /// The last line to show where execution has come to a line (R100): five to ten lines ahead, or more where the text would make no sense if it
    /// ended there.
    pub(crate) fn cut_behind(&mut self, line: u32) -> u32 {
        let last = self.line_count();
        (line.saturating_add(5)..last).find(|&line| self.can_cut(line)).unwrap_or(last)
    }

    fn can_cut(&mut self, line: u32) -> bool {
        if let Some(known) = self.can_cut[line as usize] {
            return known;
        }
        let index = self.top_level.partition_point(|(first, _)| *first <= line);
        let around = index.checked_sub(1).map(|index| self.top_level[index]);
        let can_cut = match around {
            Some((first, last)) if line < last => {
                let piece =
                    &self.text[self.lines[first as usize - 1].start..self.lines[line as usize - 1].end];
                let parse = prose_syntax::parse(piece);
                parse.diagnostics().iter().all(|diagnostic| diagnostic.severity() != Severity::Error)
            }
            _ => true,
        };
        self.can_cut[line as usize] = Some(can_cut);
        can_cut
    }
}

fn is_definition(kind: SyntaxKind) -> bool {
    use SyntaxKind::{AGENT, BLOCK_DEF, IMPORT, USE};
    matches!(kind, AGENT | BLOCK_DEF | USE | IMPORT)
}

fn is_inside_definition(node: &SyntaxNode) -> bool {
    node.ancestors().skip(1).any(|around| is_definition(around.kind()))
}

fn repeats_of(found: &ast::Loop) -> Repeats {
    let max = found.modifiers().find_map(|modifier| {
        let text = modifier.syntax().text().to_string();
        let (name, value) = text.split_once(':')?;
        (name.trim() == "max").then(|| value.trim().parse().ok()).flatten()
    });
    let condition = found.condition().map(|condition| one_line(&condition.syntax().text().to_string()));
    Repeats { keyword: found.condition_keyword().map(|token| token.kind()), condition, max }
}

/// The name that a line gives a value to.
pub(crate) fn bound_name(line: &str) -> Option<&str> {
    let (left, _) = line.split_once('=')?;
    let name = left.split_whitespace().last()?;
    name.chars().all(|c| c.is_alphanumeric() || c == '_').then_some(name)
}

/// The lines of a text without their line breaks. A line break at the end starts no further line.
fn split_lines(text: &str) -> Vec<Range<usize>> {
    let index = LineIndex::new(text);
    let lines = (0..index.count()).map(|line| index.range(line)).filter(|line| !line.is_empty());
    lines.map(|line| line.start..line.start + text[line].trim_end_matches(['\n', '\r']).len()).collect()
}
