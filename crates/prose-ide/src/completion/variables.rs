//! The variables that can be read at the cursor (R16–R18).

use std::collections::hash_map::Entry;

use prose_analysis::Db;
use prose_analysis::index::Site;
use prose_analysis::model::{Body, NameId, NameKind, ScopeId, Stmt};
use prose_analysis::statements::{Placed, TopStatement, body, statements, summary};
use prose_analysis::summary::Summary;
use prose_syntax::{SyntaxKind::*, TextRange, TextSize};
use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use super::{Completion, CompletionKind, Context};
use crate::cursor::{Cursor, Start, size, statement_start};
use crate::entity::{Composite, results};
use prose_syntax::lines::{line_end, line_start};

/// A variable that can be read at the cursor.
pub(super) struct Variable<'a> {
    pub(super) name: SmolStr,
    pub(super) kind: NameKind,
    /// The program whose result it is.
    pub(super) program: Option<SmolStr>,
    /// Where it is bound first.
    at: TextSize,
    /// Where it is bound.
    sites: Vec<Site<'a>>,
}

impl<'a> Variable<'a> {
    /// The completion of the variable itself.
    pub(super) fn item(&self, context: &Context<'_>) -> Completion {
        let kind = match self.kind {
            NameKind::Const => CompletionKind::Constant,
            NameKind::Input | NameKind::Param => CompletionKind::Parameter,
            _ => CompletionKind::Variable,
        };
        let detail = match &self.program {
            Some(program) => format!("result of `{program}`"),
            None => self.kind.noun().to_owned(),
        };
        context.item(kind, self.name.as_str()).detail(detail).documentation(self.line(context.cursor.text))
    }

    /// The values with named parts that it may stand for.
    pub(super) fn results(&self, db: &'a dyn Db) -> Vec<Composite<'a>> {
        self.sites.iter().flat_map(|site| results(db, *site)).collect()
    }

    /// The line that binds the variable.
    fn line(&self, text: &str) -> String {
        const MAX_LINE: usize = 200;
        let at = usize::from(self.at).min(text.len());
        let line = text[line_start(text, at)..line_end(text, at)].trim();
        let line = line.char_indices().nth(MAX_LINE).map_or(line, |(end, _)| &line[..end]);
        format!("```prose\n{line}\n```")
    }
}

/// Every variable that can be read at the cursor, each once: those of the bodies around it, then those of the file that are bound
/// above it, the nearest first, and last those that are bound below.
pub(super) fn visible<'a>(cursor: &Cursor<'a>) -> Vec<Variable<'a>> {
    let mut found = Found::default();
    if let Some(around) = Around::new(cursor) {
        around.locals(&mut found);
        around.frames(&mut found);
    }
    of_file(cursor, &mut found);
    found.list
}

/// The variables that a text of an agent may mean: it is interpolated where the agent is started (A11).
pub(super) fn anywhere<'a>(cursor: &Cursor<'a>) -> Vec<Variable<'a>> {
    let mut found = Found::default();
    of_file(cursor, &mut found);
    for placed in &statements(cursor.db, cursor.file).list {
        let names = &summary(cursor.db, placed.statement).names;
        for name in names.iter().filter(|name| name.kind.is_variable() && !name.kind.is_local()) {
            let at = size(placed.start as usize) + body(cursor.db, placed.statement)[name.id].range.start();
            found.add(Variable {
                name: name.text.clone(),
                kind: name.kind,
                program: name.program.clone(),
                at,
                sites: vec![Site { statement: placed.statement, name: name.id }],
            });
        }
    }
    found.list
}

#[derive(Default)]
struct Found<'a> {
    places: FxHashMap<SmolStr, usize>,
    list: Vec<Variable<'a>>,
}

impl<'a> Found<'a> {
    fn add(&mut self, variable: Variable<'a>) {
        match self.places.entry(variable.name.clone()) {
            Entry::Vacant(place) => {
                place.insert(self.list.len());
                self.list.push(variable);
            }
            Entry::Occupied(place) => {
                let earlier = &mut self.list[*place.get()];
                earlier.program = earlier.program.take().or(variable.program);
                earlier.sites.extend(variable.sites);
                // A variable is documented where it is declared.
                if earlier.kind == NameKind::Assigned {
                    (earlier.kind, earlier.at) = (variable.kind, variable.at);
                }
            }
        }
    }
}

/// The top-level statement around the cursor.
struct Around<'c, 'a> {
    cursor: &'c Cursor<'a>,
    statement: TopStatement<'a>,
    body: &'a Body,
    summary: &'a Summary,
    start: TextSize,
}

impl<'c, 'a> Around<'c, 'a> {
    fn new(cursor: &'c Cursor<'a>) -> Option<Self> {
        let outermost = cursor.headers.last().map_or(cursor.line.start(), |header| header.range.start());
        let anchor = match cursor.headers.is_empty() {
            // The line itself may be a header with a body after its colon.
            true => cursor.pieces.first()?.range.start(),
            false => outermost,
        };
        let (statement, start) = statements(cursor.db, cursor.file).at(anchor)?;
        let range = statement.range(cursor.db, start);
        range.contains(anchor).then(|| {
            let (body, summary) = (body(cursor.db, statement), summary(cursor.db, statement));
            Self { cursor, statement, body, summary, start }
        })
    }

    /// The variables of the loops, clauses and stages whose bodies the cursor is in, and the parameters of the blocks.
    fn locals(&self, found: &mut Found<'a>) {
        let (_, start) = statement_start(&self.cursor.pieces);
        let is_loop = self.cursor.pieces.iter().any(|piece| piece.kind == LOOP_KW);
        // The condition of a loop sees its index.
        let sees_own = start == Start::Body || is_loop;
        let own = sees_own.then_some(self.cursor.line);
        let headers = self.cursor.headers.iter().map(|header| header.range);
        for line in own.into_iter().chain(headers) {
            let names = self.body.names().filter(|(_, name)| {
                (name.kind.is_local() || name.kind == NameKind::Param)
                    && line.contains_range(name.range + self.start)
            });
            names.for_each(|(id, _)| found.add(self.variable(id)));
        }
    }

    /// The variables of the blocks around the cursor.
    fn frames(&self, found: &mut Found<'a>) {
        let headers = self.cursor.headers.iter().map(|header| header.range);
        for line in headers.chain([self.cursor.line]) {
            let Some(frame) = self.frame_of(line) else { continue };
            let mut names: Vec<NameId> = self.body[frame]
                .names
                .iter()
                .copied()
                .filter(|id| self.body[*id].kind.is_variable() && !self.is_being_bound(*id))
                .collect();
            // What was bound last is the likeliest to be used next.
            names.sort_by_key(|id| {
                let at = self.body[*id].range.start() + self.start;
                let is_below = at > self.cursor.offset;
                (is_below, if is_below { u32::from(at) } else { u32::MAX - u32::from(at) })
            });
            names.into_iter().for_each(|id| found.add(self.variable(id)));
        }
    }

    /// The scope of the block whose header is on a line.
    fn frame_of(&self, line: TextRange) -> Option<ScopeId> {
        let (_, data) = self.body.stmts().find(|(_, data)| {
            matches!(data.stmt, Stmt::Block { .. }) && line.contains(data.range.start() + self.start)
        })?;
        let Stmt::Block { params, body, .. } = &data.stmt else { return None };
        let inner = body.and_then(|list| self.body[list].stmts.first().copied());
        let scope = inner.map(|stmt| self.body[stmt].scope).or(params.first().map(|id| self.body[*id].scope));
        scope.map(|scope| self.body.frame(scope))
    }

    /// Whether the cursor is in the value that the name is given.
    fn is_being_bound(&self, id: NameId) -> bool {
        is_being_bound(self.cursor, self.body, id, self.start)
    }

    fn variable(&self, id: NameId) -> Variable<'a> {
        let name = &self.body[id];
        let at = name.range.start() + self.start;
        let program = self.summary.name(id).and_then(|bound| bound.program.clone());
        let sites = vec![Site { statement: self.statement, name: id }];
        Variable { name: name.text.clone(), kind: name.kind, program, at, sites }
    }
}

/// Whether the cursor is in the value that a name of a statement is given.
fn is_being_bound(cursor: &Cursor<'_>, body: &Body, id: NameId, start: TextSize) -> bool {
    let name = &body[id];
    let range = body[name.stmt].range + start;
    let is_bound = matches!(
        name.kind,
        NameKind::Input
            | NameKind::Let
            | NameKind::Const
            | NameKind::Output
            | NameKind::Assigned
            | NameKind::Branch
            | NameKind::Session
    );
    // The tree of a value that is being typed may end before the cursor.
    let mut lines = cursor.headers.iter().map(|header| header.range).chain([cursor.line]);
    is_bound
        && (lines.any(|line| line.contains_range(name.range + start))
            || (range.start() < cursor.offset && cursor.offset <= range.end()))
}

/// The variables of the file itself.
fn of_file<'a>(cursor: &Cursor<'a>, found: &mut Found<'a>) {
    let list = &statements(cursor.db, cursor.file).list;
    let here = list.partition_point(|placed| size(placed.start as usize) <= cursor.offset);
    // From the statement at the cursor upwards, then downwards.
    for placed in list[..here].iter().rev() {
        of_statement(cursor, placed, true, found);
    }
    let below = &list[here.saturating_sub(1)..];
    // A block may be called after what is bound below it. Elsewhere only a loop around the cursor comes back to what is bound below
    // (W125).
    let is_in_block = cursor
        .headers
        .iter()
        .any(|header| header.pieces.first().is_some_and(|first| matches!(first.kind, BLOCK_KW | AGENT_KW)));
    let reached = if is_in_block { below.len() } else { below.len().min(1) };
    for placed in &below[..reached] {
        of_statement(cursor, placed, false, found);
    }
}

fn of_statement<'a>(cursor: &Cursor<'a>, placed: &Placed<'a>, is_above: bool, found: &mut Found<'a>) {
    let start = size(placed.start as usize);
    let range = placed.statement.range(cursor.db, start);
    let summary = summary(cursor.db, placed.statement);
    let mut names: Vec<Variable<'a>> = Vec::new();
    for bound in &summary.names {
        if bound.block.is_some() || !bound.kind.is_variable() || bound.kind.is_local() {
            continue;
        }
        let body = body(cursor.db, placed.statement);
        let at = body[bound.id].range.start() + start;
        let is_near = range.contains_inclusive(cursor.offset)
            || cursor.line.contains(at)
            || cursor.headers.last().is_some_and(|outermost| outermost.range.contains(at));
        if (at < cursor.offset) == is_above && !(is_near && is_being_bound(cursor, body, bound.id, start)) {
            let program = bound.program.clone();
            let sites = vec![Site { statement: placed.statement, name: bound.id }];
            names.push(Variable { name: bound.text.clone(), kind: bound.kind, program, at, sites });
        }
    }
    if is_above {
        names.reverse();
    }
    names.into_iter().for_each(|variable| found.add(variable));
}
