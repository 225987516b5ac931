//! How much a program asks agents to do, without running it: least, most and expected numbers.
//!
//! [`estimate`] walks through the program as the interpreter does (`interpret/`), with amounts instead of values. The least holds for every run
//! that completes, the most for every run; what is expected follows the assumptions, such as averages of earlier runs.

mod amounts;
mod expressions;
mod statements;

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use prose_analysis::model::{Expr, ExprId, NameKind, Stmt, Value as ValueNode};
use rustc_hash::FxHashMap;
use smol_str::SmolStr;

pub use self::amounts::Amounts;
use self::amounts::{Bounds, Count};
use crate::budget::grouped;
use crate::program::{At, Program};

/// What an agent is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "named for what they are")]
pub enum WorkKind {
    Session,
    Judge,
    Choose,
    Extract,
    Summarise,
}

/// A place in a program, as events name it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Spot {
    /// The SHA-256 of the text of the program.
    pub program: SmolStr,
    /// The first byte of the statement.
    pub start: u32,
}

/// A request to an agent.
#[derive(Debug, Clone, PartialEq)]
pub struct Work {
    /// The kind of request.
    pub kind: WorkKind,
    /// The statement that makes it.
    pub spot: Spot,
    /// The agent of a session.
    pub agent: Option<SmolStr>,
    /// The model that the program names for it.
    pub model: Option<SmolStr>,
    /// The length in bytes of the texts that the program itself has for it.
    pub length: usize,
}

/// The least, most and expected tokens and cost of one request.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct WorkUsage {
    /// The least tokens and their cost.
    pub least: (f64, f64),
    /// The most.
    pub most: (f64, f64),
    /// The expected ones.
    pub expected: (f64, f64),
}

/// What an estimate assumes.
pub trait Assumptions {
    /// The maximum number of iterations of a loop without its own limit.
    fn max_iterations(&self) -> u32 {
        1000
    }

    /// Whether an agent reads files, so that no value is summarised for it.
    fn passes_files(&self, agent: Option<&str>) -> bool {
        let _ = agent;
        false
    }

    /// The average number of iterations or items at a place in earlier runs.
    fn iterations(&self, spot: &Spot) -> Option<f64> {
        let _ = spot;
        None
    }

    /// The number of items of an input of the program, if it is given.
    fn input_items(&self, name: &str) -> Option<usize> {
        let _ = name;
        None
    }

    /// An input of the program as a number, if it is given and is one.
    fn input_number(&self, name: &str) -> Option<f64> {
        let _ = name;
        None
    }

    /// The average number of attempts of a session in earlier runs.
    fn attempts(&self, spot: &Spot) -> Option<f64> {
        let _ = spot;
        None
    }

    /// The usage of a request.
    fn usage(&self, work: &Work) -> WorkUsage {
        let _ = work;
        WorkUsage::default()
    }
}

/// No assumptions but the defaults.
pub struct NoAssumptions;

impl Assumptions for NoAssumptions {}

/// How much a program asks agents to do.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// The least that a run that completes can come to.
    pub least: Amounts,
    /// The most that a run can come to; infinite if nothing limits it.
    pub most: Amounts,
    /// What is expected.
    pub expected: Amounts,
    /// What makes the most infinite, in the order of the text.
    pub unbounded: Vec<Unbounded>,
    /// The loops that nothing but the setting `run.max-iterations` limits, in the same order.
    pub limited_by_setting: Vec<Unbounded>,
}

impl Estimate {
    /// What is left if a part of the program is not executed: at least `certain` and at most `possible` of it.
    #[must_use]
    pub fn without(self, certain: Amounts, possible: Amounts) -> Self {
        Self {
            least: self.least.without(possible),
            most: self.most.without(certain),
            expected: self.expected.without(possible),
            unbounded: self.unbounded,
            limited_by_setting: self.limited_by_setting,
        }
    }
}

/// A part of a program that nothing limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unbounded {
    /// The name of the program.
    pub program: SmolStr,
    /// The line, from 1.
    pub line: u32,
    /// Why it is unbounded, such as `the number of items of xs is only known in the run`.
    pub reason: String,
}

/// Estimates a program.
pub fn estimate(program: &Arc<Program>, assumptions: &dyn Assumptions) -> Estimate {
    estimate_part(program, None, assumptions)
}

/// Estimates one call of a block by the program; `None` if it has no block of that name.
pub fn estimate_block(program: &Arc<Program>, name: &str, assumptions: &dyn Assumptions) -> Option<Estimate> {
    let block = program.block(name)?;
    Some(estimate_part(program, Some(block), assumptions))
}

/// Estimates a block, or the whole program.
fn estimate_part(program: &Arc<Program>, block: Option<At>, assumptions: &dyn Assumptions) -> Estimate {
    let found = Found { assumptions, unbounded: RefCell::default(), limited_by_setting: RefCell::default() };
    let walk = Walk::new(program, &found, 0);
    let bounds = block.map_or_else(|| walk.program(), |block| walk.block(block));
    let least = bounds.least.completed();
    let mut unbounded = found.unbounded.into_inner();
    unbounded.dedup();
    Estimate {
        least,
        most: bounds.most,
        expected: bounds.expected.at_least(least).at_most(bounds.most),
        unbounded,
        limited_by_setting: found.limited_by_setting.into_inner(),
    }
}

/// What is found on the way through a program and its imports.
struct Found<'a> {
    assumptions: &'a dyn Assumptions,
    unbounded: RefCell<Vec<Unbounded>>,
    limited_by_setting: RefCell<Vec<Unbounded>>,
}

/// The depth of imports up to which programs are walked through; the interpreter has no limit.
const MAX_IMPORTS: u32 = 16;
/// The number of calls of blocks in one another up to which they are walked through.
const MAX_CALLS: usize = 64;
/// The maximum depth of recursion that is computed level by level.
const MAX_LEVELS: u32 = 1000;

/// The walk through one program.
struct Walk<'a> {
    program: &'a Arc<Program>,
    found: &'a Found<'a>,
    depth: u32,
    /// The bounds of blocks that do not call themselves.
    blocks: RefCell<FxHashMap<At, Bounds>>,
    /// The bounds of blocks that call themselves, one level deeper than the one that is computed.
    deeper: RefCell<FxHashMap<At, Bounds>>,
    /// The level of recursion that is computed, if one is.
    level: Cell<Option<u32>>,
    /// The blocks that are walked through.
    calls: RefCell<Vec<At>>,
    imports: RefCell<FxHashMap<usize, Bounds>>,
    /// The blocks that call themselves, once they are found.
    recursive: RefCell<FxHashMap<At, bool>>,
}

impl<'a> Walk<'a> {
    fn new(program: &'a Arc<Program>, found: &'a Found<'a>, depth: u32) -> Self {
        Self {
            program,
            found,
            depth,
            blocks: RefCell::default(),
            deeper: RefCell::default(),
            level: Cell::default(),
            calls: RefCell::default(),
            imports: RefCell::default(),
            recursive: RefCell::default(),
        }
    }

    /// The bounds of the whole program.
    fn program(&self) -> Bounds {
        Bounds::all(self.program.executed().map(|at| self.statement(at)))
    }

    fn spot(&self, at: At) -> Spot {
        let range = self.program.range(at, self.program.body(at)[at.stmt].range);
        Spot { program: self.program.sha256.as_str().into(), start: range.start().into() }
    }

    fn unbounded(&self, at: At, reason: impl Into<String>) {
        self.note(&self.found.unbounded, at, reason.into());
    }

    /// Notes a loop that ends by itself, or at the limit of the settings.
    fn limited_by_setting(&self, at: At) {
        let most = grouped(self.found.assumptions.max_iterations().into());
        let reason = format!("nothing but `run.max-iterations` ({most}) limits the loop; `(max: 5)` would");
        self.note(&self.found.limited_by_setting, at, reason);
    }

    fn note(&self, notes: &RefCell<Vec<Unbounded>>, at: At, reason: String) {
        let line = self.program.line(self.spot(at).start);
        let noted = Unbounded { program: self.program.name.clone(), line, reason };
        let mut known = notes.borrow_mut();
        if !known.contains(&noted) {
            known.push(noted);
        }
    }

    /// Decisions of one kind.
    fn decisions(&self, at: At, kind: WorkKind, length: usize, count: Count) -> Bounds {
        self.work(Work { kind, spot: self.spot(at), agent: None, model: None, length }, count)
    }

    /// Requests of one kind.
    fn work(&self, work: Work, count: Count) -> Bounds {
        let kind = work.kind;
        let usage = self.found.assumptions.usage(&work);
        let one = |(tokens, cost): (f64, f64)| match kind {
            WorkKind::Session => Amounts { sessions: 1.0, decisions: 0.0, tokens, cost },
            _ => Amounts { sessions: 0.0, decisions: 1.0, tokens, cost },
        };
        Bounds::work(
            one(usage.least).times(count.least),
            one(usage.most).times(count.most),
            one(usage.expected).times(count.expected),
        )
    }

    /// A decision that is made only if something is not clear without a model.
    fn possible(&self, at: At, kind: WorkKind, most: usize) -> Bounds {
        if most == 0 {
            return Bounds::default();
        }
        self.decisions(at, kind, 0, Count { least: 0.0, most: most as f64, expected: 0.0 })
    }

    /// The number of items of a collection.
    fn items(&self, at: At, collection: Option<ExprId>) -> Count {
        let written = collection.and_then(|collection| match &self.constant(at, collection)? {
            Expr::Array(items) => Some(items.len()),
            Expr::Object(entries) => Some(entries.len()),
            Expr::Null => Some(0),
            _ => None,
        });
        match written.or_else(|| self.input_items(at, collection?)) {
            Some(count) => Count::exactly(count as f64),
            None => Count { least: 0.0, most: f64::INFINITY, expected: 5.0 },
        }
    }

    /// The number of items of an input that is given and never assigned.
    fn input_items(&self, at: At, expr: ExprId) -> Option<usize> {
        self.found.assumptions.input_items(self.input(at, expr)?)
    }

    /// The name of the input that an expression is, if it is never assigned.
    fn input(&self, at: At, expr: ExprId) -> Option<&'a SmolStr> {
        let body = self.program.body(at);
        let text = &body[body.name_of(expr).filter(|_| self.depth == 0)?].text;
        let names = self.program.statements.iter().flat_map(|statement| statement.body.names());
        let mut bound = names.filter(|(_, name)| name.text == *text);
        match (bound.next(), bound.next()) {
            (Some((_, name)), None) if name.kind == NameKind::Input => Some(text),
            _ => None,
        }
    }

    /// A whole number, if the program or an input says which.
    fn number(&self, at: At, expr: ExprId) -> Option<f64> {
        match self.constant(at, expr) {
            Some(Expr::Number(digits)) => digits.replace('_', "").parse().ok(),
            _ => self.found.assumptions.input_number(self.input(at, expr)?),
        }
    }

    /// An expression, or the value of a variable that is bound only once in the whole program, to a literal.
    fn constant(&self, at: At, expr: ExprId) -> Option<Expr> {
        let body = self.program.body(at);
        let Expr::Name(name) = &body[expr].expr else { return Some(body[expr].expr.clone()) };
        let text = &body[*name].text;
        let mut bound = None;
        for (top, statement) in self.program.statements.iter().enumerate() {
            for (_, name) in statement.body.names().filter(|(_, name)| name.text == *text) {
                if bound.is_some() || !matches!(name.kind, NameKind::Let | NameKind::Const) {
                    return None;
                }
                bound = Some(At { top: top as u32, stmt: name.stmt });
            }
        }
        let bound = bound?;
        let body = self.program.body(bound);
        match self.program.stmt(bound) {
            Stmt::Let { destructured: false, value: Some(ValueNode::Expr(value)), .. } => {
                let expr = &body[*value].expr;
                (!matches!(expr, Expr::Name(_))).then(|| expr.clone())
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use expect_test::{Expect, expect};
    use prose_analysis::{AnalysisHost, Text};

    use super::*;

    fn program(text: &str) -> Arc<Program> {
        let mut host = AnalysisHost::default();
        let file = host.set_text(Path::new("/main.prose"), Text::new(text));
        Program::new(host.db(), file)
    }

    #[track_caller]
    fn check(text: &str, expected: Expect) {
        let Estimate { least, most, expected: likely, unbounded, .. } =
            estimate(&program(text), &NoAssumptions);
        let mut shown =
            format!("{} to {}, likely {} sessions", least.sessions, most.sessions, likely.sessions);
        if most.decisions > 0.0 {
            shown.push_str(&format!(
                "; {} to {}, likely {} decisions",
                least.decisions, most.decisions, likely.decisions
            ));
        }
        for Unbounded { line, reason, .. } in unbounded {
            shown.push_str(&format!("\nline {line}: {reason}"));
        }
        expected.assert_eq(&shown);
    }

    #[test]
    fn statements_add_up() {
        check(
            "session \"A\"\nlet b = session \"B\"\nsession \"C\" -> session \"D\"\n",
            expect!["4 to 4, likely 4 sessions"],
        );
        check("agent a:\n  retry: 2\nsession: a\n", expect!["1 to 3, likely 1.1099999999999999 sessions"]);
    }

    #[test]
    fn branches_are_alternatives() {
        check(
            "if **good**:\n  session \"A\"\nelif **fair**:\n  session \"B\"\n  session \"C\"\n",
            expect!["0 to 2, likely 1 sessions; 1 to 2, likely 1.6666666666666665 decisions"],
        );
        check(
            "choice **which**:\n  option \"a\":\n    session \"A\"\n  option \"b\":\n    repeat 3:\n      session \"B\"\n",
            expect!["1 to 3, likely 2 sessions; 1 to 1, likely 1 decisions"],
        );
    }

    #[test]
    fn loops_have_limits() {
        check("repeat 4:\n  session \"A\"\n", expect!["4 to 4, likely 4 sessions"]);
        check(
            "loop until **done** (max: 5):\n  session \"A\"\n",
            expect!["0 to 5, likely 3 sessions; 1 to 6, likely 4 decisions"],
        );
        check(
            "loop while **going**:\n  session \"A\"\n",
            expect!["0 to 1000, likely 3 sessions; 1 to 1001, likely 4 decisions"],
        );
        check("loop (max: 7):\n  session \"A\"\n", expect!["7 to 7, likely 7 sessions"]);
        check(
            "repeat 4:\n  session \"A\"\n  if **enough**:\n    break\n  session \"B\"\n",
            expect!["1 to 8, likely 8 sessions; 1 to 4, likely 4 decisions"],
        );
    }

    #[test]
    fn collections_count_if_the_program_says_how_many() {
        check(
            "for x in [\"a\", \"b\", \"c\"]:\n  session \"{x}\"\n",
            expect!["3 to 3, likely 3 sessions; 0 to 3, likely 0 decisions"],
        );
        check(
            "const xs = [1, 2]\nparallel for x in xs:\n  session \"{x}\"\n",
            expect!["2 to 2, likely 2 sessions; 0 to 2, likely 0 decisions"],
        );
        check(
            "let xs = session \"List\"\nfor x in xs:\n  session \"{x}\"\n",
            expect![[r#"
                1 to inf, likely 6 sessions; 0 to inf, likely 0 decisions
                line 2: the number of items of `xs` is only known in the run"#]],
        );
        check(
            "let xs = [1]\nxs = [1, 2]\nfor x in xs:\n  session \"{x}\"\n",
            expect![[r#"
                0 to inf, likely 5 sessions; 0 to inf, likely 0 decisions
                line 3: the number of items of `xs` is only known in the run"#]],
        );
    }

    #[test]
    fn pipelines_pass_on_items() {
        check(
            "let r = [1, 2, 3] | filter: session \"keep {item}\" | map: session \"use {item}\" | reduce(a, b): session \"{a} {b}\"\n",
            expect!["3 to 8, likely 8 sessions; 0 to 13, likely 0 decisions"],
        );
    }

    #[test]
    fn parallel_branches_all_start() {
        check("parallel:\n  session \"A\"\n  session \"B\"\n", expect!["2 to 2, likely 2 sessions"]);
        check(
            "parallel (\"first\"):\n  session \"A\"\n  session \"B\"\n",
            expect!["1 to 2, likely 2 sessions"],
        );
        check(
            "parallel (\"any\", count: 2):\n  session \"A\"\n  session \"B\"\n  session \"C\"\n",
            expect!["2 to 3, likely 3 sessions"],
        );
    }

    #[test]
    fn errors_lead_to_their_catch() {
        check(
            "try:\n  session \"A\"\n  session \"B\"\ncatch:\n  session \"C\"\n  session \"D\"\nfinally:\n  session \"E\"\n",
            expect!["3 to 5, likely 3.2 sessions"],
        );
        check("try:\n  throw \"no\"\ncatch:\n  session \"C\"\n", expect!["1 to 1, likely 1 sessions"]);
    }

    #[test]
    fn what_comes_after_a_return_does_not_happen() {
        check(
            "if **enough**:\n  return \"x\"\nsession \"A\"\n",
            expect!["0 to 1, likely 1 sessions; 1 to 1, likely 1 decisions"],
        );
        check("session \"A\"\nreturn \"x\"\nsession \"B\"\n", expect!["1 to 1, likely 1 sessions"]);
    }

    #[test]
    fn recursion_ends_at_its_depth() {
        check(
            "block f(x) (max_depth: 4):\n  session \"{x}\"\n  if **more**:\n    do f(x)\ndo f(1)\n",
            expect!["1 to 4, likely 1.75 sessions; 1 to 8, likely 1.75 decisions"],
        );
        check(
            "block f():\n  session \"A\"\n  if **more**:\n    do f()\n    do f()\ndo f()\n",
            expect![[r#"
                1 to inf, likely 3 sessions; 1 to inf, likely 3 decisions
                line 1: block `f` calls itself, up to 100 calls deep"#]],
        );
    }

    #[test]
    fn a_block_is_estimated_by_itself() {
        let program = program(
            "block f(x):\n  repeat 3:\n    session \"{x}\"\n  do g()\nblock g():\n  session \"A\"\nsession \"B\"\n",
        );
        let sessions = |block| Some(estimate_block(&program, block, &NoAssumptions)?.most.sessions);
        assert_eq!([sessions("f"), sessions("g"), sessions("h")], [Some(4.0), Some(1.0), None]);
    }

    #[test]
    fn values_that_are_texts_may_need_a_model() {
        check(
            "let a = session \"A\"\nsession \"B {a.part}\"\n  context: a\n",
            expect!["2 to 2, likely 2 sessions; 0 to 3, likely 0 decisions"],
        );
    }
}
