//! Sessions whose prompt refers to earlier work without a `context:`: a session receives its prompt and its `context:` only (R35).
//!
//! The phrases of a prompt are found for each statement alone. Only if there are some are the earlier statements examined.

#![allow(missing_docs, reason = "the macros of salsa write functions that have none")]

mod phrases;

use std::cell::OnceCell;
use std::sync::Arc;

use prose_syntax::text::one_line;
use prose_syntax::{Code, TextRange};
use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use self::phrases::{Phrase, phrases};
use super::{Finding, Found};
use crate::db::{Db, SourceFile};
use crate::index::{Named, Site, lookup};
use crate::model::*;
use crate::repairs::{Repair, ResultToCapture};
use crate::resolve::{Resolution, Resolved, resolutions};
use crate::statements::chunks::{Chunk, Member, chunks, members, summarized};
use crate::statements::{TopStatement, body, summary};
use crate::summary::Persist;

/// A statement with more of such sessions than these has one mistake.
const MAX_IN_STATEMENT: usize = 100;

/// What stands farther above is not meant by `the draft`.
const MAX_BEFORE: usize = 100;

/// A session that is passed nothing, with the phrases of its prompt that refer to something.
#[derive(Debug, Clone, PartialEq, Eq, salsa::SalsaValue)]
pub(crate) struct Isolated<'db> {
    statement: TopStatement<'db>,
    stmt: StmtId,
    phrases: Vec<Phrase>,
}

/// The sessions of a chunk that are passed nothing and refer to something.
#[salsa::tracked(returns(ref))]
pub(crate) fn isolated<'db>(db: &'db dyn Db, chunk: Chunk<'db>) -> Vec<Isolated<'db>> {
    let mut found = Vec::new();
    for (member, resolution) in members(db, chunk).iter().zip(resolutions(db, chunk)) {
        isolated_in(member, resolution, &mut found);
    }
    found
}

fn isolated_in<'db>(member: &Member<'db>, resolution: &Resolution, found: &mut Vec<Isolated<'db>>) {
    let Member { statement, tree } = member;
    let body = tree.body();
    let before = found.len();
    for (stmt, data) in body.stmts() {
        let Stmt::Session { text, properties, .. } = &data.stmt else { continue };
        // A line that was not understood may have been `context:`.
        if data.lost_property || properties.iter().any(|property| property.is_or_resembles("context")) {
            continue;
        }
        let prompt = properties.iter().find(|property| property.name.text == "prompt");
        let prompt = prompt.and_then(|property| property.value);
        let texts: Vec<&Text> = text.iter().chain(&prompt).filter_map(|text| body.text(*text)).collect();
        let is_passed = |text: &&Text| {
            let mut roots = text.interpolations.iter().map(|interpolation| interpolation.root);
            roots.any(|root| resolution.of(root) != Resolved::Literal)
        };
        // A prompt that is a variable passes its value.
        let is_text = texts.len() == usize::from(text.is_some()) + usize::from(prompt.is_some());
        if !is_text || texts.iter().any(is_passed) {
            continue;
        }
        let mut all = Vec::new();
        for text in texts {
            let source = tree.syntax().text().slice(text.content).to_string();
            all.extend(phrases(&source, text.content.start()));
        }
        if !all.is_empty() {
            found.push(Isolated { statement: *statement, stmt, phrases: all });
        }
        // For each of them all of the statement is looked at.
        if found.len() - before == MAX_IN_STATEMENT {
            break;
        }
    }
}

/// What a statement may leave for those after it.
enum Left {
    /// Nothing.
    Nothing,
    /// The values of these variables.
    Names(Vec<SmolStr>),
    /// A result without a name.
    Anonymous,
    /// Something that no variable can be given to from outside.
    Hidden,
}

pub(super) fn check<'db>(db: &'db dyn Db, file: SourceFile) -> Found<'db> {
    let mut sessions = chunks(db, file).list.iter().flat_map(|chunk| isolated(db, *chunk)).peekable();
    if sessions.peek().is_none() {
        return Vec::new();
    }
    let statements: Vec<_> = summarized(db, file).map(|(statement, _)| statement).collect();
    let positions = statements.iter().zip(0..).map(|(statement, position)| (*statement, position)).collect();
    let order = Order { db, file, statements, positions, first_work: OnceCell::new() };
    let check = |session: &Isolated<'db>| {
        let statement = session.statement;
        let (position, body) = (order.position(statement), body(db, statement));
        let place = Place { order: &order, position, statement, body };
        Some((statement, place.check(session)?))
    };
    sessions.filter_map(check).collect()
}

/// The statements of a file.
struct Order<'db> {
    db: &'db dyn Db,
    file: SourceFile,
    statements: Vec<TopStatement<'db>>,
    /// Where each statement stands among the others.
    positions: FxHashMap<TopStatement<'db>, usize>,
    /// The position of the first statement that runs a session.
    first_work: OnceCell<usize>,
}

impl<'db> Order<'db> {
    fn position(&self, statement: TopStatement<'db>) -> usize {
        self.positions.get(&statement).copied().unwrap_or(usize::MAX)
    }

    fn first_work(&self) -> usize {
        *self.first_work.get_or_init(|| {
            let works = |statement: &TopStatement<'db>| {
                let summary = summary(self.db, *statement);
                summary.runs || summary.names.iter().any(|bound| bound.program.is_some())
            };
            self.statements.iter().position(works).unwrap_or(usize::MAX)
        })
    }
}

/// A session and where it stands.
struct Place<'a, 'db> {
    order: &'a Order<'db>,
    position: usize,
    statement: TopStatement<'db>,
    body: &'db Body,
}

impl<'db> Place<'_, 'db> {
    fn look_up(&self, name: &SmolStr) -> Option<Arc<Named<'db>>> {
        lookup(self.order.db, self.order.file, name)
    }

    fn check(&self, session: &Isolated<'db>) -> Option<Finding<'db>> {
        if self.agent_brings_something(session.stmt) {
            return None;
        }
        self.named(session).or_else(|| self.work(session))
    }

    /// Whether the agent of the session has a memory, or a prompt that a value is filled into.
    fn agent_brings_something(&self, session: StmtId) -> bool {
        let Stmt::Session { agent: Some(agent), .. } = &self.body[session].stmt else { return false };
        let Some(named) = self.look_up(&self.body[*agent].text) else { return true };
        let Some(site) = named.agents.first() else { return true };
        let summary = summary(self.order.db, site.statement);
        let remembers = summary.agent(site.name).is_none_or(|agent| agent.persist != Persist::No);
        let is_variable = |name| self.look_up(name).is_some_and(|named| !named.variables.is_empty());
        let mut filled = summary.uses.iter().filter(|used| used.place.is_text());
        remembers || filled.any(|used| is_variable(&used.text))
    }

    /// A prompt that refers to variables by their names.
    fn named(&self, session: &Isolated<'db>) -> Option<Finding<'db>> {
        let mut passed: Vec<(SmolStr, Site<'db>)> = Vec::new();
        let mut first = None;
        for phrase in &session.phrases {
            let Some((name, site)) = self.variable_called(phrase, session.stmt) else { continue };
            first.get_or_insert(phrase);
            if passed.iter().all(|(other, _)| *other != name) {
                passed.push((name, site));
            }
        }
        let phrase = first?;
        let (name, site) = passed.first()?.clone();
        let names: Vec<SmolStr> = passed.into_iter().map(|(name, _)| name).collect();
        let finding = self.finding(session.stmt, phrase, names, Vec::new());
        Some(finding.with_site(Some(site), format!("`{name}` is bound here")))
    }

    /// A prompt that refers to earlier work by what it is.
    fn work(&self, session: &Isolated<'db>) -> Option<Finding<'db>> {
        let phrase = session.phrases.iter().find(|phrase| phrase.is_work)?;
        if !self.has_work_before(session.stmt) {
            return None;
        }
        let (names, captured) = self.likely_results(session.stmt, phrase.is_plural);
        Some(self.finding(session.stmt, phrase, names, captured))
    }

    fn finding(
        &self,
        session: StmtId,
        phrase: &Phrase,
        names: Vec<SmolStr>,
        captured: Vec<ResultToCapture<'db>>,
    ) -> Finding<'db> {
        let source = self.statement.syntax(self.order.db).text().slice(phrase.range).to_string();
        let said = one_line(&source);
        let message = format!("the prompt refers to `{said}`, but the session has no `context:`");
        let finding = Finding::new(Code::W148, phrase.range, message);
        match names.is_empty() {
            true => finding,
            false => finding.with_repair(Repair::PassContext { session, names, captured }),
        }
    }

    /// The variable that a phrase calls by its name, of those that are bound before a session and that it can see: `the final draft` is
    /// `draft`, and `the market research` is `market_research`.
    fn variable_called(&self, phrase: &Phrase, session: StmtId) -> Option<(SmolStr, Site<'db>)> {
        // The longest name is the most specific.
        let names = (0..phrase.words.len()).flat_map(|first| {
            let words = &phrase.words[first..];
            let signs: &[&str] = if words.len() > 1 { &["_", "-"] } else { &[""] };
            signs.iter().map(|sign| SmolStr::from(words.join(sign)))
        });
        // Names of one or two letters are words of their own.
        names.filter(|name| name.len() > 2).find_map(|name| {
            let site = self.bound_before(&name, session)?;
            Some((name, site))
        })
    }

    /// Where a variable that a session can see gets a value before it.
    fn bound_before(&self, name: &SmolStr, session: StmtId) -> Option<Site<'db>> {
        let body = self.body;
        let here = body[session].range;
        let is_before = |name: NameId| {
            let data = &body[name];
            let is_own = body[data.stmt].range.contains_range(here) && is_bound_after(&body[data.stmt].stmt);
            data.range.end() <= here.start()
                && !is_own
                && data.kind != NameKind::Index
                && !self.is_apart(data.stmt, session)
        };
        let scopes = body.scopes_around(body[session].scope);
        let mut answers = scopes.filter_map(|scope| body.answer(scope, name));
        if let Some(name) = answers.find(|name| is_before(*name)) {
            return Some(Site { statement: self.statement, name });
        }
        let is_in_block = body.frame(body[session].scope) != ScopeId(0);
        let named = self.look_up(name)?;
        let mut sites = named.root_variables().map(|variable| variable.site);
        sites.find(|site| match site.statement == self.statement {
            true => !is_in_block && is_before(site.name),
            // A block sees the variables of the file, wherever they are bound.
            false => is_in_block || self.order.position(site.statement) < self.position,
        })
    }

    /// Whether some session or block surely or maybe ran before, whose result the prompt can mean.
    fn has_work_before(&self, session: StmtId) -> bool {
        let body = self.body;
        let here = &body[session];
        let frame = body.frame(here.scope);
        let in_statement = body.stmts().any(|(id, data)| {
            is_work(&data.stmt)
                && data.range.end() <= here.range.start()
                && body.frame(data.scope) == frame
                && !self.is_apart(id, session)
        });
        in_statement || frame == ScopeId(0) && self.order.first_work() < self.position
    }

    /// Whether two statements are on branches that exclude each other, or that run at once.
    fn is_apart(&self, one: StmtId, other: StmtId) -> bool {
        let body = self.body;
        let (one, other) = (body[one].range, body[other].range);
        let mut around = body
            .stmts()
            .filter(|(_, data)| data.range.contains_range(one) && data.range.contains_range(other));
        let holds = |list: &ListId, range: TextRange| body[*list].range.contains_range(range);
        let are_apart = |lists: Vec<ListId>| {
            let list_of = |range| lists.iter().find(|list| holds(list, range));
            list_of(one).is_some() && list_of(other).is_some() && list_of(one) != list_of(other)
        };
        around.any(|(_, data)| match &data.stmt {
            Stmt::Parallel { body: Some(list), .. } => {
                let branch =
                    |range| body[*list].stmts.iter().find(|stmt| body[**stmt].range.contains_range(range));
                branch(one).is_some() && branch(other).is_some() && branch(one) != branch(other)
            }
            Stmt::If { branches, otherwise } => {
                are_apart(branches.iter().filter_map(|branch| branch.body).chain(*otherwise).collect())
            }
            Stmt::Choice { options, .. } => {
                are_apart(options.iter().filter_map(|option| option.body).collect())
            }
            _ => false,
        })
    }

    /// The variables whose values the prompt most likely means, and the results that have to be given names for that.
    fn likely_results(&self, session: StmtId, is_plural: bool) -> (Vec<SmolStr>, Vec<ResultToCapture<'db>>) {
        const MAX_RESULTS: usize = 6;
        let mut names: Vec<SmolStr> = Vec::new();
        let mut anonymous: Vec<(TopStatement<'db>, StmtId)> = Vec::new();
        for (statement, stmt) in self.statements_before(session) {
            let body = body(self.order.db, statement);
            // A line that was not understood has no statement.
            let left = if body.root().is_some() { left(body, stmt) } else { Left::Hidden };
            match left {
                Left::Nothing => {}
                Left::Names(mut more) if anonymous.is_empty() => {
                    more.retain(|name| !names.contains(name));
                    names.splice(0..0, more);
                }
                Left::Anonymous if names.is_empty() => anonymous.insert(0, (statement, stmt)),
                _ => break,
            }
            let count = names.len() + anonymous.len();
            if count >= MAX_RESULTS || count > 0 && !is_plural {
                break;
            }
        }
        let is_one = anonymous.len() == 1;
        let mut captured = Vec::new();
        for (nth, (statement, stmt)) in anonymous.into_iter().enumerate() {
            let name = if is_one { "result".to_owned() } else { format!("result{}", nth + 1) };
            let name = self.free_name(&name);
            names.push(name.clone());
            captured.push(ResultToCapture { statement, stmt, name });
        }
        (names, captured)
    }

    fn free_name(&self, wanted: &str) -> SmolStr {
        let is_free = |name: &SmolStr| self.look_up(name).is_none();
        let others = (2..).map(|number| SmolStr::from(format!("{wanted}_{number}")));
        std::iter::once(SmolStr::from(wanted)).chain(others).find(is_free).unwrap_or_default()
    }

    /// The statements that run before a session in its frame, the nearest first. Those of a body come before those around it.
    fn statements_before(&self, session: StmtId) -> impl Iterator<Item = (TopStatement<'db>, StmtId)> {
        let body = self.body;
        let mut statements = Vec::new();
        let mut at = session;
        loop {
            let range = body[at].range;
            // A statement that is a value is in the list of the one that it is the value of.
            let around =
                body.stmts().filter(|(_, data)| data.list.is_some() && data.range.contains_range(range));
            let Some((listed, data)) = around.last() else { break };
            let Some(list) = data.list else { break };
            let owner = body[list].owner;
            if !matches!(body[owner].stmt, Stmt::Parallel { .. }) {
                let before = body[list].stmts.iter().rev().skip_while(|stmt| **stmt != listed).skip(1);
                statements.extend(before.map(|stmt| (self.statement, *stmt)));
            }
            at = owner;
            if matches!(body[owner].stmt, Stmt::Block { .. }) {
                break;
            }
        }
        let is_in_block = matches!(body[at].stmt, Stmt::Block { .. });
        let before = if is_in_block { &[] } else { &self.order.statements[..self.position] };
        let before = before.iter().rev().map(|statement| (*statement, StmtId::ROOT));
        statements.into_iter().chain(before).take(MAX_BEFORE)
    }
}

/// Whether the names of a statement are bound only when it ends.
fn is_bound_after(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Let { .. } | Stmt::Assign { .. } | Stmt::Output { .. } | Stmt::Session { .. })
}

/// Whether a statement runs a session.
fn is_work(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Session { .. } | Stmt::Resume { .. } | Stmt::Call { .. } | Stmt::Expr(_))
}

/// What a statement leaves for those after it.
fn left(body: &Body, stmt: StmtId) -> Left {
    let text = |name: &NameId| body[*name].text.clone();
    let is_result = |value: &Value| match value {
        Value::Stmt(_) => true,
        Value::Expr(expr) => matches!(body[*expr].expr, Expr::Call { .. }),
    };
    match &body[stmt].stmt {
        Stmt::Let { names, value: Some(value), .. } if is_result(value) => {
            Left::Names(names.iter().map(text).collect())
        }
        Stmt::Assign { target: Some(Target::Name(name)), value: Some(value) }
        | Stmt::Output { name: Some(name), value: Some(value) }
            if is_result(value) =>
        {
            Left::Names(vec![text(name)])
        }
        Stmt::Session { name: Some(name), .. } => Left::Names(vec![text(name)]),
        Stmt::Session { .. }
        | Stmt::Resume { .. }
        | Stmt::Call { .. }
        | Stmt::Chain(_)
        | Stmt::Pipeline { .. }
        | Stmt::Do { .. }
        | Stmt::For { parallel: true, .. }
        | Stmt::Expr(_) => Left::Anonymous,
        Stmt::Parallel { body: Some(list), .. } => {
            let names = body[*list].stmts.iter().filter_map(|stmt| match &body[*stmt].stmt {
                Stmt::Assign { target: Some(Target::Name(name)), .. }
                | Stmt::Session { name: Some(name), .. } => Some(text(name)),
                _ => None,
            });
            let names: Vec<SmolStr> = names.collect();
            if names.is_empty() { Left::Anonymous } else { Left::Names(names) }
        }
        Stmt::If { .. }
        | Stmt::Choice { .. }
        | Stmt::Loop { .. }
        | Stmt::For { .. }
        | Stmt::Repeat { .. }
        | Stmt::Try { .. } => Left::Hidden,
        _ => Left::Nothing,
    }
}
