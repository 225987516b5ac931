//! The parts of a program that can be executed alone: statements that ask sessions, decisions of a model, and blocks.

use prose_syntax::TextRange;

use crate::model::{Body, Expr, ExprId, Stmt, StmtId, TextKind, Value};

/// A kind of part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PartKind {
    /// A statement that asks one or several sessions, such as `let x = session "…"`.
    Session,
    /// A condition of an `if` or a loop that a model evaluates.
    Condition,
    /// The decision of a `choice`.
    Choice,
    /// The body of a block.
    Block,
}

impl PartKind {
    /// The noun for texts.
    pub fn noun(self) -> &'static str {
        match self {
            PartKind::Session => "session",
            PartKind::Condition => "condition",
            PartKind::Choice => "choice",
            PartKind::Block => "block",
        }
    }
}

/// A part of a top-level statement that can be executed alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// The kind.
    pub kind: PartKind,
    /// The statement: the one that asks, decides, or defines the block.
    pub stmt: StmtId,
    /// The condition.
    pub condition: Option<ExprId>,
    /// The bytes of what is executed, relative to the top-level statement: the statement, the condition, the criterion, or the block.
    pub range: TextRange,
}

/// The parts of a top-level statement, in the order of the text. A statement with bodies is none, but its decisions and what is in the bodies may be.
pub fn parts(body: &Body) -> Vec<Part> {
    let mut found: Vec<Part> = Vec::new();
    let mut last_listed = StmtId::ROOT;
    for (stmt, data) in body.stmts() {
        if data.list.is_some() {
            last_listed = stmt;
        }
        let mut add = |kind, condition, range| found.push(Part { kind, stmt, condition, range });
        match &data.stmt {
            Stmt::Session { .. } | Stmt::Resume { .. } => {
                let asking = asking_statement(body, last_listed, data.range);
                found.extend(asking.filter(|part| found.last().is_none_or(|last| last.stmt != part.stmt)));
            }
            Stmt::If { .. } | Stmt::Loop { .. } => {
                for condition in data.stmt.conditions().filter(|condition| asks_model(body, *condition)) {
                    add(PartKind::Condition, Some(condition), body[condition].range);
                }
            }
            Stmt::Choice { criterion: Some(criterion), .. } => {
                add(PartKind::Choice, None, body[*criterion].range);
            }
            Stmt::Block { name: Some(_), body: Some(_), .. } => add(PartKind::Block, None, data.range),
            _ => {}
        }
    }
    found.sort_by_key(|part| part.range.start());
    found
}

/// The statement of a list that a session is a part of, unless it has bodies of its own. `stmt` is the last statement of a list that starts before.
fn asking_statement(body: &Body, mut stmt: StmtId, session: TextRange) -> Option<Part> {
    while !body[stmt].range.contains_range(session) {
        stmt = body[body[stmt].list?].owner;
    }
    let range = body[stmt].range;
    // A list of one statement has the same range as the statement.
    let is_inside = |owner: StmtId| range.contains_range(body[owner].range);
    let has_bodies = range != session && body.lists().any(|(_, list)| is_inside(list.owner));
    (!has_bodies).then_some(Part { kind: PartKind::Session, stmt, condition: None, range })
}

/// Whether a model evaluates a condition or a part of it.
fn asks_model(body: &Body, condition: ExprId) -> bool {
    match &body[condition].expr {
        Expr::Text(text) => text.kind == TextKind::Discretion,
        Expr::Unary { operand: Some(operand), .. } => asks_model(body, *operand),
        Expr::Binary { operands, .. } => {
            operands.iter().any(|operand| matches!(operand, Value::Expr(expr) if asks_model(body, *expr)))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use expect_test::{Expect, expect};

    use super::*;
    use crate::statements::{body, statements};
    use crate::{AnalysisHost, Text};

    #[track_caller]
    fn check(text: &str, expected: Expect) {
        let mut host = AnalysisHost::default();
        let file = host.set_text(Path::new("/main.prose"), Text::new(text));
        let mut shown = String::new();
        for placed in &statements(host.db(), file).list {
            for part in parts(body(host.db(), placed.statement)) {
                let start = usize::from(part.range.start()) + placed.start as usize;
                let source = text[start..].lines().next().unwrap();
                shown.push_str(&format!("{}: {source}\n", part.kind.noun()));
            }
        }
        expected.assert_eq(&shown);
    }

    #[test]
    fn statements_that_ask_sessions_are_parts_with_what_receives_the_reply() {
        check(
            r#"
agent writer:
  prompt: "x"
session "plain"
let a = session "bound"
a = session: writer
  prompt: "assigned"
session "one" -> session "two"
output b = session "given"
let both = { left: session "left", right: session "right" }
let none = "text"
"#,
            expect![[r#"
                session: session "plain"
                session: let a = session "bound"
                session: a = session: writer
                session: session "one" -> session "two"
                session: output b = session "given"
                session: let both = { left: session "left", right: session "right" }
            "#]],
        );
    }

    #[test]
    fn bodies_are_no_parts_but_what_is_in_them() {
        check(
            r#"
let all = parallel:
  a = session "a"
  session "b"
if **good** and x:
  session "c"
elif y:
  session "d"
elif not **fair**:
  session "e"
loop until **done** (max: 3):
  let z = session "f"
choice **which**:
  option "one":
    session "g"
block review(topic):
  session "h {topic}"
let r = xs | map: session "i {item}"
"#,
            expect![[r#"
                session: a = session "a"
                session: session "b"
                condition: **good** and x:
                session: session "c"
                session: session "d"
                condition: not **fair**:
                session: session "e"
                condition: **done** (max: 3):
                session: let z = session "f"
                choice: **which**:
                session: session "g"
                block: block review(topic):
                session: session "h {topic}"
                session: session "i {item}"
            "#]],
        );
    }
}
