//! What the parts of a program are called, for tests of the program that name them.

use prose_analysis::model::{Body, ExprId, Stmt, Target, Value};
use prose_syntax::text::first_line;
use smol_str::SmolStr;

use super::{At, Program};

impl Program {
    /// The names of its agents, in alphabetical order.
    pub fn agent_names(&self) -> Vec<SmolStr> {
        let mut names: Vec<SmolStr> = self.agents.keys().cloned().collect();
        names.sort();
        names
    }

    /// The names of the variables that receive the replies of sessions, in the order of the text.
    pub fn session_results(&self) -> Vec<SmolStr> {
        let mut names = Vec::new();
        for (body, stmt) in self.stmts() {
            let is_session = |value: &Option<Value>| matches!(value, Some(Value::Stmt(id)) if matches!(body[*id].stmt, Stmt::Session { .. } | Stmt::Resume { .. }));
            let name = match stmt {
                Stmt::Let { names, destructured: false, value, .. } if is_session(value) => names.first(),
                Stmt::Output { name: Some(name), value } if is_session(value) => Some(name),
                Stmt::Assign { target: Some(Target::Name(name)), value } if is_session(value) => Some(name),
                _ => None,
            };
            add(&mut names, name.map(|name| body[*name].text.as_str()));
        }
        names
    }

    /// The first lines of the tasks of its sessions, as far as they are fixed texts, in the order of the text.
    pub fn session_labels(&self) -> Vec<SmolStr> {
        let mut labels = Vec::new();
        for (body, stmt) in self.stmts() {
            if let Stmt::Session { text: Some(text), .. } = stmt {
                add(&mut labels, fixed(body, *text).map(|text| first_line(text.trim_start())));
            }
        }
        labels
    }

    /// The headers of its loops, in the order of the text.
    pub fn loop_headers(&self) -> Vec<SmolStr> {
        let mut headers = Vec::new();
        for (top, statement) in (0..).zip(&self.statements) {
            for (stmt, data) in statement.body.stmts() {
                if matches!(data.stmt, Stmt::For { .. } | Stmt::Repeat { .. } | Stmt::Loop { .. }) {
                    add(&mut headers, Some(&self.header(At { top, stmt })));
                }
            }
        }
        headers
    }
}

/// A string without references.
fn fixed(body: &Body, text: ExprId) -> Option<&str> {
    body.string(text).filter(|text| !text.contains('{'))
}

fn add(names: &mut Vec<SmolStr>, name: Option<&str>) {
    if let Some(name) = name.filter(|name| !name.is_empty())
        && !names.iter().any(|known| known == name)
    {
        names.push(name.into());
    }
}
