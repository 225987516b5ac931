//! The sessions that a run can come to, as far as that is known before it.

use std::collections::BTreeSet;

use prose_analysis::model::{Expr, Property, Stmt};
use smol_str::SmolStr;

use super::{At, Program, is_definition};

/// A session that a run of a program or of its imports can start.
pub(super) struct ReachableSession<'p> {
    /// The program that contains it.
    pub(super) program: &'p Program,
    /// The path of that program where it is imported; `None` for the program that is run.
    pub(super) import: Option<&'p SmolStr>,
    /// The name of its agent.
    pub(super) agent: Option<SmolStr>,
    /// The definition of the agent.
    pub(super) defined: Option<At>,
    /// Where the session stands.
    pub(super) at: At,
    /// Its own properties.
    pub(super) properties: &'p [Property],
}

impl Program {
    /// The sessions in top-level statements that are executed, in those with the blocks and agents that these use, and in the imports that they run. All of such a
    /// statement counts.
    pub(super) fn reachable_sessions(&self) -> Vec<ReachableSession<'_>> {
        let mut sessions = Vec::new();
        self.collect_sessions(None, &mut BTreeSet::new(), &mut sessions);
        sessions
    }

    fn collect_sessions<'p>(
        &'p self,
        import: Option<&'p SmolStr>,
        visited: &mut BTreeSet<(&'p str, &'p str)>,
        sessions: &mut Vec<ReachableSession<'p>>,
    ) {
        // The same program may be imported by several paths.
        if !visited.insert((&self.from, &self.sha256)) {
            return;
        }
        let mut seen = vec![false; self.statements.len()];
        let is_executed = |top: &usize| {
            let body = &self.statements[*top].body;
            body.stmts().next().is_some_and(|(_, data)| !is_definition(&data.stmt))
        };
        let mut waiting: Vec<usize> = (0..self.statements.len()).filter(is_executed).rev().collect();
        while let Some(top) = waiting.pop() {
            if std::mem::replace(&mut seen[top], true) {
                continue;
            }
            let body = &self.statements[top].body;
            for (stmt, data) in body.stmts() {
                let at = At { top: top as u32, stmt };
                match &data.stmt {
                    Stmt::Session { agent, properties, .. } | Stmt::Resume { agent, properties } => {
                        let agent = agent.map(|agent| body[agent].text.clone());
                        let defined = agent.as_ref().and_then(|agent| self.agent(agent));
                        // Values of its properties may be sessions and calls.
                        waiting.extend(defined.map(|at| at.top as usize));
                        sessions.push(ReachableSession {
                            program: self,
                            import,
                            agent,
                            defined,
                            at,
                            properties,
                        });
                    }
                    Stmt::Call { block: Some(block), .. } => {
                        waiting.extend(self.block(&body[*block].text).map(|at| at.top as usize));
                    }
                    _ => {}
                }
            }
            for (_, data) in body.exprs() {
                let Expr::Call { callee: Some(callee), .. } = &data.expr else { continue };
                let Some(alias) = body.name_of(*callee).map(|name| &body[name].text) else { continue };
                if let Some((_, found)) = self.import(alias)
                    && let Some(program) = &found.program
                {
                    program.collect_sessions(Some(&found.path), visited, sessions);
                }
            }
        }
    }
}
