//! The places of a program at which a debugger can stop.

use prose_analysis::model::{ExprId, Stmt, StmtId};
use prose_syntax::lines::line_start;

use smol_str::{SmolStr, format_smolstr};

use super::{At, Program};

/// A place of a program at which its execution can be stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Location {
    /// Its first line, from 1.
    pub line: u32,
    /// Its last line.
    pub last_line: u32,
    /// The kind of place.
    pub kind: LocationKind,
}

/// Kinds of places.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LocationKind {
    /// A statement, before it is executed.
    Statement,
    /// The lines of a session after its first one: the session, before its prompt is sent.
    Session {
        /// The first line of the session.
        of: u32,
    },
    /// A condition of an `if` after the first one, before it is judged.
    Condition {
        /// The line of the `if`.
        of: u32,
        /// Its number among the conditions, from 0.
        nth: u32,
    },
}

impl Program {
    /// The step of a [`Place`](crate::place::Place) for the statement that starts in a line, from 1, after a number of bytes of that line; of several, for
    /// the one around the others. Statements that are values count, too.
    pub fn step_at(&self, line: u32, column: u32) -> Option<SmolStr> {
        let column_of = |start: u32| start as usize - line_start(&self.text, start as usize);
        let mut found: Option<(u32, SmolStr)> = None;
        for (top, statement) in (0..).zip(&self.statements) {
            for (stmt, _) in statement.body.stmts() {
                let site = self.site(0, At { top, stmt });
                let is_here = site.line == line && column_of(site.start) == column as usize;
                if is_here && found.as_ref().is_none_or(|(end, _)| *end < site.end) {
                    let step = match stmt {
                        StmtId::ROOT => format_smolstr!("s{top}"),
                        nested => format_smolstr!("{}", nested.index()),
                    };
                    found = Some((site.end, step));
                }
            }
        }
        found.map(|(_, step)| step)
    }

    /// Its places, in the order of their lines; those around others come first.
    pub fn locations(&self) -> Vec<Location> {
        let mut locations = Vec::new();
        for (top, statement) in (0..).zip(&self.statements) {
            for (stmt, data) in statement.body.stmts() {
                let at = At { top, stmt };
                let site = self.site(0, at);
                let is_executed = (data.list.is_some() || stmt == StmtId::ROOT) && !self.is_definition(at);
                if is_executed {
                    let (line, last_line) = (site.line, site.last_line);
                    locations.push(Location { line, last_line, kind: LocationKind::Statement });
                }
                match &data.stmt {
                    Stmt::Session { .. } | Stmt::Resume { .. } if site.last_line > site.line => {
                        let kind = LocationKind::Session { of: site.line };
                        locations.push(Location { line: site.line + 1, last_line: site.last_line, kind });
                    }
                    Stmt::If { branches, .. } => {
                        for (nth, branch) in (0..).zip(branches).skip(1) {
                            let Some(line) = branch.condition.map(|expr| self.line_of(at, expr)) else {
                                continue;
                            };
                            let kind = LocationKind::Condition { of: site.line, nth };
                            locations.push(Location { line, last_line: line, kind });
                        }
                    }
                    _ => {}
                }
            }
        }
        locations.sort_by_key(|location| (location.line, std::cmp::Reverse(location.last_line)));
        locations
    }

    /// The place for a breakpoint at a line: what starts there, else the innermost place around it, else the next one.
    pub fn location_at(&self, line: u32) -> Option<Location> {
        let locations = self.locations();
        let starting = locations.iter().find(|location| location.line == line);
        let around = || {
            let around = locations.iter().filter(|at| at.line <= line && line <= at.last_line);
            // An empty line or a comment in a body stands for what comes next in it.
            let innermost = around.min_by_key(|at| at.last_line - at.line)?;
            let opens_body =
                locations.iter().any(|at| at.line > innermost.line && at.last_line <= innermost.last_line);
            (!opens_body).then_some(innermost)
        };
        let next = || locations.iter().find(|location| location.line > line);
        starting.or_else(around).or_else(next).copied()
    }

    /// The line of an expression, from 1.
    pub(super) fn line_of(&self, at: At, expr: ExprId) -> u32 {
        self.line(u32::from(self.range(at, self.body(at)[expr].range).start()))
    }

    /// The names of its blocks and agents.
    pub fn functions(&self) -> impl Iterator<Item = &str> {
        self.blocks.keys().chain(self.agents.keys()).map(|name| name.as_str())
    }
}
