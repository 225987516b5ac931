//! The text between two spaces: tokens, whole literals and comments, with what their layout depends on.

use std::collections::HashMap;

use prose_syntax::SyntaxKind::{self, *};
use prose_syntax::{NodeOrToken, Parse, SyntaxNode, TextRange, TextSize, WalkEvent};

/// A token, a whole literal or a comment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Piece {
    pub(crate) range: TextRange,
    /// `STRING` and `DISCRETION` for a literal, else the kind of the token.
    pub(crate) kind: SyntaxKind,
    /// The kind of the node that it is in.
    pub(crate) parent: SyntaxKind,
    /// The level of its line, if it is the first piece of one.
    pub(crate) depth: u32,
    /// The number of line breaks before it.
    pub(crate) newlines: u32,
    /// Its column, in bytes.
    pub(crate) column: u32,
    pub(crate) place: Place,
    /// Whether it belongs to text that fits no rule of the grammar, or that has a comment where no line can end.
    pub(crate) is_broken: bool,
    /// Whether it is a comma before the end of a list on one line, where none is written.
    pub(crate) is_superfluous: bool,
}

/// The position of a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// At the start of a statement, a clause or a property.
    Line,
    /// The same, and it is the first of its body.
    FirstLine,
    /// At the start of a line that continues with the statement above.
    Continuation,
    /// At the start of an item of a list over several lines, or of the end of such a list.
    Item,
    /// After another one on the same line.
    Within,
}

/// The pieces of a program, in their order.
pub(crate) fn collect(parse: &Parse) -> Vec<Piece> {
    let root = parse.syntax();
    let mut walk = Walk::default();
    let mut events = root.preorder_with_tokens();
    while let Some(event) = events.next() {
        match event {
            WalkEvent::Enter(NodeOrToken::Node(node)) if matches!(node.kind(), STRING | DISCRETION) => {
                let parent = node.parent().map_or(SOURCE_FILE, |parent| parent.kind());
                walk.code(node.kind(), parent, node.text_range());
                events.skip_subtree();
            }
            WalkEvent::Enter(NodeOrToken::Node(node)) => walk.enter(&node),
            WalkEvent::Leave(NodeOrToken::Node(node)) => walk.leave(node.kind()),
            WalkEvent::Enter(NodeOrToken::Token(token)) => match token.kind() {
                WHITESPACE => {}
                NEWLINE => walk.newline(token.text_range().end()),
                COMMENT => {
                    let text = TextSize::of(token.text().trim_end());
                    walk.comment(TextRange::at(token.text_range().start(), text));
                }
                BYTE_ORDER_MARK => walk.byte_order_mark(token.text_range()),
                kind => {
                    let parent = token.parent().map_or(SOURCE_FILE, |parent| parent.kind());
                    walk.code(kind, parent, token.text_range());
                }
            },
            WalkEvent::Leave(NodeOrToken::Token(_)) => {}
        }
    }
    walk.pieces
}

/// A node that affects the indentation of lines.
struct Frame {
    node: SyntaxKind,
    role: Role,
    /// How many levels its lines are indented more than those around it. For a body and a stage that shows at its first piece.
    levels: u32,
    outer_levels: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Statements or properties.
    Body,
    /// A stage of a pipeline.
    Stage { has_line: bool },
    /// The content of brackets.
    Brackets { is_expanded: bool, expects_item: bool, last_code: Option<usize> },
}

#[derive(Default)]
struct Walk {
    pieces: Vec<Piece>,
    frames: Vec<Frame>,
    /// The number of frames whose first piece was seen.
    begun: usize,
    /// The sum of the levels of all frames.
    levels: u32,
    /// Whether the stages of a pipeline are on lines of their own, for those that were asked about: once for all of its stages.
    spread_out: HashMap<SyntaxNode, bool>,
    /// The number of open `ERROR` nodes.
    broken: u32,
    /// Line breaks since the last piece.
    newlines: u32,
    /// Whether there were any since the last piece that is not a comment.
    is_new_line: bool,
    line_start: TextSize,
    has_code: bool,
}

impl Walk {
    fn enter(&mut self, node: &SyntaxNode) {
        let kind = node.kind();
        self.broken += u32::from(kind == ERROR);
        let role = if starts_with_bracket(node) {
            let is_expanded = has_trailing_comma(kind) && spans_lines(node);
            Role::Brackets { is_expanded, expects_item: false, last_code: None }
        } else if kind == PIPE_STAGE {
            Role::Stage { has_line: node.parent().is_some_and(|pipeline| self.is_spread_out(pipeline)) }
        } else if matches!(kind, BLOCK | PROPERTY_LIST) {
            Role::Body
        } else {
            return;
        };
        self.frames.push(Frame { node: kind, role, levels: 0, outer_levels: self.levels });
    }

    fn is_spread_out(&mut self, pipeline: SyntaxNode) -> bool {
        *self.spread_out.entry(pipeline).or_insert_with_key(is_spread_out)
    }

    fn leave(&mut self, kind: SyntaxKind) {
        self.broken -= u32::from(kind == ERROR);
        if let Some(frame) = self.frames.pop_if(|frame| frame.node == kind) {
            self.levels = frame.outer_levels;
            self.begun = self.begun.min(self.frames.len());
        }
    }

    fn newline(&mut self, end: TextSize) {
        self.newlines += 1;
        self.is_new_line = true;
        self.line_start = end;
    }

    fn byte_order_mark(&mut self, range: TextRange) {
        self.push(BYTE_ORDER_MARK, SOURCE_FILE, range, Place::Within);
    }

    fn comment(&mut self, range: TextRange) {
        let brackets = self.brackets();
        let place = match brackets {
            _ if self.newlines == 0 && self.has_code => Place::Within,
            None => Place::Line,
            Some(_) => Place::Item,
        };
        let is_misplaced = matches!(brackets, Some(Role::Brackets { is_expanded: false, .. }));
        self.push(COMMENT, SOURCE_FILE, range, place);
        self.mark_broken(is_misplaced);
    }

    fn code(&mut self, kind: SyntaxKind, parent: SyntaxKind, range: TextRange) {
        let starts_line = self.is_new_line || !self.has_code;
        let is_first_of_body = self.begin_frames(starts_line);
        let place = self.place(kind, parent, starts_line, is_first_of_body);
        let follows_comment = self.pieces.last().is_some_and(|last| last.kind == COMMENT);
        self.push(kind, parent, range, place);
        self.mark_broken(follows_comment && place == Place::Within);
        self.is_new_line = false;
        self.has_code = true;
        self.note_bracket(kind, parent);
    }

    /// Sets the indentation of all frames that begin with the next piece. Returns whether it begins a body that has
    /// lines of its own.
    fn begin_frames(&mut self, starts_line: bool) -> bool {
        let starts_line = starts_line && self.brackets_among(self.begun).is_none();
        let mut is_first_of_body = false;
        for at in self.begun..self.frames.len() {
            let is_in_stage_with_line = at > 0
                && self.frames[at - 1].levels == 1
                && matches!(self.frames[at - 1].role, Role::Stage { .. });
            let frame = &mut self.frames[at];
            frame.outer_levels = self.levels;
            frame.levels = match &mut frame.role {
                Role::Stage { has_line } => {
                    *has_line |= starts_line;
                    u32::from(*has_line)
                }
                Role::Body if starts_line && !is_first_of_body => {
                    is_first_of_body = true;
                    // The body of a stage is under its word, which is after `| `.
                    if is_in_stage_with_line { 2 } else { 1 }
                }
                // Brackets count from the piece after their opening.
                Role::Body | Role::Brackets { .. } => 0,
            };
            self.levels += frame.levels;
        }
        self.begun = self.frames.len();
        is_first_of_body
    }

    fn place(
        &mut self,
        kind: SyntaxKind,
        parent: SyntaxKind,
        starts_line: bool,
        is_first_of_body: bool,
    ) -> Place {
        if let Some(frame) = self.innermost_brackets()
            && let Role::Brackets { is_expanded, expects_item, last_code } = frame.role
        {
            let closes = is_closing(kind) && frame.node == parent;
            if closes && is_expanded {
                let outer = frame.outer_levels;
                self.levels = outer;
            }
            let is_empty = last_code.is_none() && self.pieces.last().is_some_and(|last| last.kind != COMMENT);
            let is_item = is_expanded && if closes { !is_empty } else { expects_item };
            return if is_item { Place::Item } else { Place::Within };
        }
        match (kind, parent) {
            _ if is_first_of_body => Place::FirstLine,
            (PIPE, PIPE_STAGE) if self.frames.last().is_some_and(|stage| stage.levels > 0) => {
                Place::Continuation
            }
            (ARROW, ARROW_CHAIN) | (STRING, ASSERT) if starts_line => Place::Continuation,
            _ if starts_line => Place::Line,
            _ => Place::Within,
        }
    }

    fn push(&mut self, kind: SyntaxKind, parent: SyntaxKind, range: TextRange, place: Place) {
        let is_message = (kind, parent, place) == (STRING, ASSERT, Place::Continuation);
        self.pieces.push(Piece {
            range,
            kind,
            parent,
            depth: self.levels + u32::from(is_message),
            newlines: self.newlines,
            column: u32::from(range.start().checked_sub(self.line_start).unwrap_or_default()),
            place,
            is_broken: self.broken > 0
                || matches!(kind, UNKNOWN | SINGLE_QUOTED | SLASH_COMMENT | STRAY_LINE),
            is_superfluous: false,
        });
        self.newlines = 0;
    }

    fn mark_broken(&mut self, is_broken: bool) {
        if let Some(last) = self.pieces.last_mut() {
            last.is_broken |= is_broken;
        }
    }

    /// What the piece just pushed means for the innermost brackets.
    fn note_bracket(&mut self, kind: SyntaxKind, parent: SyntaxKind) {
        let at = self.pieces.len() - 1;
        let mut brackets =
            self.frames.iter_mut().rev().filter(|frame| matches!(frame.role, Role::Brackets { .. }));
        let Some(frame) = brackets.next() else { return };
        let outer = brackets.next().map(|frame| &mut frame.role);
        let node = frame.node;
        let Role::Brackets { is_expanded, expects_item, last_code } = &mut frame.role else { return };
        let is_own = node == parent;
        let is_opening = last_code.is_none() && !*expects_item;
        if is_opening {
            *expects_item = true;
            if *is_expanded {
                frame.levels = 1;
                self.levels += 1;
            }
        } else if is_own && is_closing(kind) {
            if let Some(last) = *last_code {
                let last = &mut self.pieces[last];
                last.is_superfluous = last.kind == COMMA && !*is_expanded && has_trailing_comma(node);
            }
        } else {
            *expects_item = is_own && kind == COMMA;
            *last_code = Some(at);
            return;
        }
        // To the brackets around them, these are a part of an item.
        if let Some(Role::Brackets { expects_item, last_code, .. }) = outer {
            *expects_item = false;
            *last_code = Some(at);
        }
    }

    fn innermost_brackets(&self) -> Option<&Frame> {
        // A body within brackets has no lines of its own, so whatever is inside of them counts as theirs. Brackets that begin with the
        // next piece do not have it inside.
        self.frames.iter().rfind(|frame| match frame.role {
            Role::Brackets { expects_item, last_code, .. } => expects_item || last_code.is_some(),
            _ => false,
        })
    }

    fn brackets(&self) -> Option<Role> {
        self.innermost_brackets().map(|frame| frame.role)
    }

    fn brackets_among(&self, count: usize) -> Option<&Frame> {
        self.frames[..count].iter().find(|frame| matches!(frame.role, Role::Brackets { .. }))
    }
}

fn starts_with_bracket(node: &SyntaxNode) -> bool {
    node.first_token().is_some_and(|token| is_opening(token.kind()) && token.parent().as_ref() == Some(node))
}

fn is_opening(kind: SyntaxKind) -> bool {
    matches!(kind, L_PAREN | L_BRACKET | L_BRACE)
}

fn is_closing(kind: SyntaxKind) -> bool {
    matches!(kind, R_PAREN | R_BRACKET | R_BRACE)
}

/// Whether a comma may come before the end of such a list.
fn has_trailing_comma(list: SyntaxKind) -> bool {
    matches!(list, ARRAY | OBJECT | ARG_LIST | PARAM_LIST)
}

/// Whether the list itself, and not only what is in it, goes over several lines.
fn spans_lines(list: &SyntaxNode) -> bool {
    list.children_with_tokens().any(|child| matches!(child.kind(), NEWLINE | COMMENT))
}

/// Whether each stage of the pipeline is on a line of its own: where it has several, on several lines.
fn is_spread_out(pipeline: &SyntaxNode) -> bool {
    let stages = pipeline.children().filter(|child| child.kind() == PIPE_STAGE);
    let has_lines = || pipeline.descendants_with_tokens().any(|element| element.kind() == NEWLINE);
    stages.count() > 1 && has_lines()
}
