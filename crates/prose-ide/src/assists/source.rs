//! The program that an assist is offered in: its text by lines, its tree, and what its names stand for.

use prose_analysis::model::{NameKind, Place, RefKind};
use prose_analysis::resolve::{Resolved, resolve};
use prose_analysis::statements::{body, parse, statements};
use prose_analysis::{Db, SourceFile};
use prose_syntax::SyntaxKind::*;
use prose_syntax::ast::{Agent, AstNode, Statement};
pub(super) use prose_syntax::chains::end;
use prose_syntax::fix::line_ending;
use prose_syntax::{NodeOrToken, SyntaxElement, SyntaxKind, SyntaxNode, TextEdit, TextRange, TextSize};
use smol_str::SmolStr;

use prose_analysis::index::Site;

pub(super) use crate::cursor::size;
use crate::entity::{Entity, EntityKind};
use prose_syntax::lines::{line_end, line_start};

/// A level of indentation.
pub(super) const INDENT: &str = "  ";

/// A program, and the position in it that assists are requested for.
pub(super) struct Source<'db> {
    pub(super) db: &'db dyn Db,
    pub(super) file: SourceFile,
    pub(super) text: &'db str,
    pub(super) root: SyntaxNode,
    /// What is selected; empty for a cursor.
    pub(super) range: TextRange,
}

/// Statements of one body that follow each other, each from the start of a line.
pub(super) struct Selection {
    /// The body, or the file.
    pub(super) list: SyntaxNode,
    pub(super) statements: Vec<SyntaxNode>,
    /// From the first statement to the end of the line of the last, with a comment that is there, and those below that are further right.
    pub(super) range: TextRange,
    /// The spaces that the statements come after.
    pub(super) indent: String,
    /// Whether the last of them is the last of the body that is executed.
    pub(super) is_last: bool,
}

impl<'db> Source<'db> {
    pub(super) fn new(db: &'db dyn Db, file: SourceFile, range: TextRange) -> Option<Self> {
        let text = file.text(db).as_str();
        text.get(std::ops::Range::<usize>::from(range))?;
        Some(Self { db, file, text, root: parse(db, file).syntax(), range })
    }

    /// The innermost node of a kind around the cursor or the selection.
    pub(super) fn node<N: AstNode>(&self) -> Option<N> {
        self.nodes().find_map(N::cast)
    }

    /// The nodes around the cursor or the selection, inner ones first.
    fn nodes(&self) -> impl Iterator<Item = SyntaxNode> {
        let around = |element: SyntaxElement| match element {
            NodeOrToken::Node(node) => Some(node),
            NodeOrToken::Token(token) => token.parent(),
        };
        let found = match self.trimmed() {
            Some(range) => vec![self.root.covering_element(range)],
            // A cursor after a word is at the word.
            None => {
                let tokens = self.root.token_at_offset(self.range.start());
                let mut tokens: Vec<_> = tokens.filter(|token| !token.kind().is_trivia()).collect();
                tokens.reverse();
                tokens.into_iter().map(NodeOrToken::Token).collect()
            }
        };
        found.into_iter().filter_map(around).flat_map(|node| node.ancestors())
    }

    /// The selection without blanks at its ends; none for a cursor.
    fn trimmed(&self) -> Option<TextRange> {
        let selected = &self.text[self.range];
        let blank = selected.len() - selected.trim_start().len();
        let trimmed = selected.trim();
        (!trimmed.is_empty()).then(|| TextRange::at(self.range.start() + size(blank), TextSize::of(trimmed)))
    }

    /// Whether the cursor or the selection is in the line that a node starts in.
    pub(super) fn is_in_header(&self, node: &SyntaxNode) -> bool {
        let start = node.text_range().start();
        TextRange::new(start, self.line_end(start)).contains_range(self.range)
    }

    /// Where the line of an offset starts.
    pub(super) fn line_start(&self, at: TextSize) -> TextSize {
        size(line_start(self.text, at.into()))
    }

    /// Where the line of an offset ends, before its line break.
    pub(super) fn line_end(&self, at: TextSize) -> TextSize {
        size(line_end(self.text, at.into()))
    }

    /// Where the line after that of an offset starts.
    pub(super) fn next_line(&self, at: TextSize) -> TextSize {
        let end = self.line_end(at);
        let rest = &self.text[usize::from(end)..];
        let length = if rest.starts_with("\r\n") { 2 } else { rest.len().min(1) };
        end + size(length)
    }

    /// The start of the first line from that at an offset on in which something is written.
    pub(super) fn after_blank_lines(&self, mut start: TextSize) -> TextSize {
        while start < TextSize::of(self.text) {
            let next = self.next_line(start);
            if !self.text[TextRange::new(start, next)].trim().is_empty() {
                break;
            }
            start = next;
        }
        start
    }

    /// What ends the lines of the program.
    pub(super) fn line_break(&self) -> &'static str {
        line_ending(self.text)
    }

    /// The spaces before a node that starts its line.
    pub(super) fn indent(&self, node: &SyntaxNode) -> Option<&'db str> {
        let start = node.text_range().start();
        let before = &self.text[TextRange::new(self.line_start(start), start)];
        before.bytes().all(|byte| byte == b' ').then_some(before)
    }

    /// The text of a node from its first to its last word.
    pub(super) fn code(&self, node: &SyntaxNode) -> &'db str {
        &self.text[TextRange::new(node.text_range().start(), end(node))]
    }

    /// The start of the line of a node, or of the comments directly above it.
    pub(super) fn start_with_comments(&self, node: &SyntaxNode) -> TextSize {
        let mut start = self.line_start(node.text_range().start());
        while start > TextSize::new(0) {
            let above = self.line_start(start - size(self.line_break().len()).min(start));
            if !self.text[TextRange::new(above, start)].trim_start_matches('\u{feff}').starts_with('#') {
                break;
            }
            start = above;
        }
        // A comment at the top of the file describes the file, if it can.
        if usize::from(start) == 0 && self.text.starts_with('\u{feff}') { size(3) } else { start }
    }

    /// The end of the last line of a node after an indentation, or of the comments below that stand further right and so belong to its body.
    pub(super) fn end_with_comments(&self, node: &SyntaxNode, indent: &str) -> TextSize {
        let mut found = self.line_end(end(node));
        let mut start = self.next_line(found);
        while start < TextSize::of(self.text) {
            let line = &self.text[TextRange::new(start, self.line_end(start))];
            let code = line.trim_start_matches(' ');
            if code.starts_with('#') && line.len() - code.len() > indent.len() {
                found = self.line_end(start);
            } else if !code.trim().is_empty() {
                break;
            }
            start = self.next_line(start);
        }
        found
    }

    /// A line break where something is in the line above that of an offset, so that a definition there is apart from it.
    pub(super) fn gap_above(&self, at: TextSize) -> &'static str {
        let start = self.line_start(at);
        let above = self.line_start(start - size(self.line_break().len()).min(start));
        let is_apart =
            self.text[TextRange::new(above, start)].trim_start_matches('\u{feff}').trim().is_empty();
        if is_apart { "" } else { self.line_break() }
    }

    /// The statement at the top level that a place belongs to.
    pub(super) fn top_level(&self, node: &SyntaxNode) -> Option<SyntaxNode> {
        node.ancestors().find(|node| node.parent().is_some_and(|parent| parent.parent().is_none()))
    }

    /// The statements that the selection touches; none for a cursor, or where they are not whole lines.
    pub(super) fn selection(&self) -> Option<Selection> {
        let selected = self.trimmed()?;
        let list = self.nodes().find(is_list)?;
        if list.parent().is_some_and(|owner| owner.kind() == SyntaxKind::CHOICE) {
            return None;
        }
        let children: Vec<SyntaxNode> = list.children().collect();
        let is_touched =
            |node: &&SyntaxNode| node.text_range().start() < selected.end() && selected.start() < end(node);
        let statements: Vec<SyntaxNode> = children.iter().filter(is_touched).cloned().collect();
        self.select(list, statements)
    }

    /// Some statements of a body, as a selection.
    pub(super) fn select(&self, list: SyntaxNode, statements: Vec<SyntaxNode>) -> Option<Selection> {
        let (first, last) = (statements.first()?, statements.last()?);
        let indent = self.indent(first)?.to_owned();
        let is_whole = |node: &SyntaxNode| {
            Statement::can_cast(node.kind()) && self.indent(node) == Some(&indent) && !has_mistakes(node)
        };
        if !statements.iter().all(is_whole) {
            return None;
        }
        let range = TextRange::new(first.text_range().start(), self.end_with_comments(last, &indent));
        // Definitions count wherever they stand, and have no value.
        let is_run = |node: &SyntaxNode| !matches!(node.kind(), USE | IMPORT | AGENT | BLOCK_DEF);
        let is_last = list.children().filter(is_run).last().as_ref() == Some(last);
        let is_whole = !self.has_errors(range);
        is_whole.then_some(Selection { list, statements, range, indent, is_last })
    }

    /// Whether a range contains an error.
    pub(super) fn has_errors(&self, range: TextRange) -> bool {
        let found = parse(self.db, self.file).diagnostics();
        found
            .iter()
            .any(|found| found.code.as_str().starts_with('E') && found.range.intersect(range).is_some())
    }

    /// Whether a condition may be judged after some statements have run, by all results at its position (R64). Conditions in the statements
    /// themselves, or in the definition that they come from, see the same results as before.
    pub(super) fn asks_after(&self, statements: &Selection, definition: Option<TextRange>) -> bool {
        let range = statements.range;
        // The outermost loop around them may have them run before any condition in it.
        let loops = statements.list.ancestors();
        let again = loops.filter(|node| matches!(node.kind(), REPEAT | FOR | LOOP | PARALLEL_FOR)).last();
        self.root.descendants().any(|node| {
            let at = node.text_range();
            let is_asked = node.kind() == DISCRETION
                && node.parent().is_none_or(|owner| owner.kind() != INPUT)
                && !range.contains_range(at)
                && definition.is_none_or(|definition| !definition.contains_range(at));
            let is_called = || node.ancestors().any(|node| node.kind() == BLOCK_DEF);
            let is_in_loop = || again.as_ref().is_some_and(|again| again.text_range().contains_range(at));
            is_asked && (at.start() > range.start() || is_called() || is_in_loop())
        })
    }

    /// Whether a session in a statement has a result without a name, which only conditions see.
    pub(super) fn has_unnamed_result(statement: &SyntaxNode) -> bool {
        let is_unnamed = |node: &SyntaxNode| {
            !matches!(node.parent().map(|owner| owner.kind()), Some(LET | ASSIGNMENT | OUTPUT | RETURN))
        };
        let mut sessions = statement.descendants().filter(|node| matches!(node.kind(), SESSION | RESUME));
        sessions.any(|node| is_unnamed(&node))
    }

    /// The lists of statements that surely run the statement at a place, from the innermost outward: a `parallel` and a `do` run all their
    /// statements, and others may not.
    pub(super) fn lists_of(&self, at: TextRange) -> Vec<SyntaxNode> {
        let around = match self.root.covering_element(at) {
            NodeOrToken::Node(node) => Some(node),
            NodeOrToken::Token(token) => token.parent(),
        };
        let mut found = Vec::new();
        for list in around.into_iter().flat_map(|node| node.ancestors()).filter(is_list) {
            let runs_all = list.parent().is_some_and(|owner| matches!(owner.kind(), PARALLEL | DO_BLOCK));
            found.push(list);
            if !runs_all {
                break;
            }
        }
        found
    }

    /// The edits that move whole lines from one indentation to another. Lines in texts stay as they are: where a text stands means nothing
    /// to it.
    ///
    /// None where that would not hold, since the text has texts in it.
    pub(super) fn moves(&self, range: TextRange, from: &str, to: &str) -> Option<Vec<TextEdit>> {
        let texts: Vec<TextRange> = self
            .root
            .descendants()
            .filter(|node| matches!(node.kind(), SyntaxKind::STRING | SyntaxKind::DISCRETION))
            .map(|node| node.text_range())
            .filter(|text| range.contains_range(*text) && self.text[*text].contains(['\n', '\r']))
            .collect();
        let has_texts = |text: &TextRange| self.text[*text].matches("\"\"\"").count() > 2;
        if from != to && texts.iter().any(has_texts) {
            return None;
        }
        let mut edits = Vec::new();
        let mut start = self.line_start(range.start());
        while start < range.end() {
            let line = &self.text[TextRange::new(start, self.line_end(start))];
            let is_text = texts.iter().any(|text| text.start() < start && start < text.end());
            if !is_text && !line.trim().is_empty() {
                let spaces = line.len() - line.trim_start_matches(' ').len();
                let margin = TextRange::at(start, size(spaces.min(from.len())));
                edits.push(TextEdit::replace(margin, to));
            }
            start = self.next_line(start);
        }
        Some(edits)
    }

    /// Whole lines, moved from one indentation to another.
    pub(super) fn moved(&self, range: TextRange, from: &str, to: &str) -> Option<String> {
        let mut moved = String::new();
        let mut at = self.line_start(range.start());
        for edit in self.moves(range, from, to)? {
            moved += &self.text[TextRange::new(at, edit.range.start())];
            moved += &edit.new_text;
            at = edit.range.end();
        }
        moved += &self.text[TextRange::new(at, range.end())];
        Some(moved)
    }

    /// A name that is not used in the file.
    pub(super) fn free_name(&self, wanted: &str) -> String {
        let words: std::collections::HashSet<&str> =
            self.text.split(|char: char| !(char.is_alphanumeric() || "_-".contains(char))).collect();
        let numbered = (2..).map(|number| format!("{wanted}_{number}"));
        let mut names = std::iter::once(wanted.to_owned()).chain(numbered);
        names.find(|name| !words.contains(name.as_str())).unwrap_or_default()
    }

    /// All names of the file.
    pub(super) fn names(&self) -> Names<'db> {
        let mut names = Names { bound: Vec::new(), used: Vec::new() };
        for placed in &statements(self.db, self.file).list {
            let statement = placed.statement;
            let body = body(self.db, statement);
            let resolution = resolve(self.db, statement);
            let start = TextSize::from(placed.start);
            for (name, data) in body.names() {
                let entity = Entity::of_site(self.db, Site { statement, name });
                names.bound.push(Bound { entity, kind: data.kind, range: data.range + start });
            }
            for (id, data) in body.refs() {
                names.used.push(Used {
                    name: data.text.clone(),
                    entity: Entity::of_ref(self.db, statement, id),
                    kind: data.kind,
                    place: data.place,
                    resolved: resolution.of(id),
                    range: data.range + start,
                });
            }
        }
        names
    }
}

/// All names of a file.
pub(super) struct Names<'db> {
    pub(super) bound: Vec<Bound<'db>>,
    pub(super) used: Vec<Used<'db>>,
}

/// A name where it is bound.
pub(super) struct Bound<'db> {
    pub(super) entity: Entity<'db>,
    pub(super) kind: NameKind,
    pub(super) range: TextRange,
}

/// A name where it is used.
pub(super) struct Used<'db> {
    pub(super) name: SmolStr,
    pub(super) entity: Option<Entity<'db>>,
    pub(super) kind: RefKind,
    pub(super) place: Place,
    pub(super) resolved: Resolved,
    pub(super) range: TextRange,
}

impl Names<'_> {
    /// Whether an agent's texts use a name. They are interpolated where the agent is spawned, with the values there (A11).
    pub(super) fn is_in_agent(&self, name: &str) -> bool {
        self.used.iter().any(|used| matches!(used.place, Place::Agent { .. }) && used.name == name)
    }

    /// Whether a part of the file spawns agents, or calls blocks that may, and the texts of agents might be interpolated differently elsewhere, since
    /// a body or a block has a variable of a name in them.
    pub(super) fn have_own_agents(&self, is_part: impl Fn(TextRange) -> bool) -> bool {
        let spawns = self
            .used
            .iter()
            .any(|used| is_part(used.range) && matches!(used.kind, RefKind::Agent | RefKind::Block));
        let is_own = |bound: &Bound<'_>| bound.kind.is_variable() && bound.entity.kind != EntityKind::Root;
        spawns && self.bound.iter().any(|bound| is_own(bound) && self.is_in_agent(&bound.entity.name))
    }
}

impl Used<'_> {
    /// Whether it is the name of that thing.
    pub(super) fn is(&self, entity: &Entity<'_>) -> bool {
        self.entity.as_ref().is_some_and(|used| used.may_be(entity))
    }
}

/// Whether an agent keeps a memory.
pub(super) fn has_memory(agent: &Agent) -> bool {
    let mut properties = agent.properties().into_iter().flat_map(|list| list.properties());
    properties.any(|property| property.name().is_some_and(|name| name.text() == "persist"))
}

/// Whether statements are the branches of a `parallel`.
pub(super) fn are_branches(list: &SyntaxNode) -> bool {
    list.parent().is_some_and(|owner| owner.kind() == PARALLEL)
}

/// Whether a node holds statements below each other.
pub(super) fn is_list(node: &SyntaxNode) -> bool {
    matches!(node.kind(), SyntaxKind::BLOCK | SyntaxKind::SOURCE_FILE)
}

fn has_mistakes(node: &SyntaxNode) -> bool {
    node.descendants().any(|node| node.kind() == SyntaxKind::ERROR)
}
