//! What can be known of a program before it runs and would stop it on its way.

use prose_analysis::Db;
use prose_analysis::db::SourceFile;
use prose_analysis::diagnostics::diagnostics;
use prose_analysis::model::Stmt;
use prose_syntax::Code;
use smol_str::SmolStr;

use super::{At, Program, property};
use crate::effect::{MemoryPlace, MemoryScope};
use crate::names;

impl Program {
    /// Why the program cannot run where nobody is there to give inputs: it calls programs, or those that it imports do, without an input that they
    /// need. A person is asked for that one (B4).
    pub fn refusal_of_calls(&self) -> Option<String> {
        let mut calls = Vec::new();
        self.collect_incomplete_calls(None, &mut calls);
        (!calls.is_empty()).then(|| {
            format!("{}. Nobody is there to give it; name it in the call: `(name: …)`", calls.join("; "))
        })
    }

    fn collect_incomplete_calls(&self, path: Option<&str>, calls: &mut Vec<String>) {
        for call in &self.incomplete_calls {
            let call = match path {
                Some(path) => format!("`{path}`, {call}"),
                None => call.clone(),
            };
            if !calls.contains(&call) {
                calls.push(call);
            }
        }
        for import in &self.imports {
            if let Some(program) = &import.program {
                program.collect_incomplete_calls(Some(&import.path), calls);
            }
        }
    }

    pub(super) fn find_incomplete_calls(&self, db: &dyn Db, file: SourceFile) -> Vec<String> {
        let found = diagnostics(db, file).iter().filter(|found| found.code == Code::E026);
        found
            .map(|found| format!("line {}: {}", self.line(found.range.start().into()), found.message))
            .collect()
    }

    /// The folders that the program and those that it imports name themselves for the memories of agents that they use (R42).
    pub fn named_memories(&self) -> Vec<MemoryPlace> {
        let mut places = Vec::new();
        for (agent, at) in self.agents() {
            let place = self.memory_place(agent, at, "");
            let named = place.filter(|place| place.scope == MemoryScope::Custom && self.uses_agent(agent));
            places.extend(named);
        }
        let imported = self.imports.iter().filter_map(|import| import.program.as_ref());
        places.extend(imported.flat_map(|program| program.named_memories()));
        places
    }

    fn uses_agent(&self, agent: &str) -> bool {
        self.statements.iter().any(|top| {
            top.body.stmts().any(|(_, data)| match &data.stmt {
                Stmt::Session { agent: Some(used), .. } | Stmt::Resume { agent: Some(used), .. } => {
                    top.body[*used].text == agent
                }
                _ => false,
            })
        })
    }

    /// Where an agent's memory lies; none if it is not persistent (R42). `run` is the folder of the program below that of the run.
    pub(crate) fn memory_place(&self, agent: &SmolStr, at: At, run: &str) -> Option<MemoryPlace> {
        let Stmt::Agent { properties, .. } = self.stmt(at) else { return None };
        let body = self.body(at);
        let value = property(properties, "persist").and_then(|property| property.value)?;
        // A word and a string are told apart: `persist: project` is a scope, `persist: "project"` a folder.
        let is_string = body.word(value).is_none() && body.string(value).is_some();
        let text =
            body.string(value).map_or_else(|| self.source(at, body[value].range).to_owned(), str::to_owned);
        let agent = names::memory_base(agent);
        let (scope, folder) = match (is_string, text.trim()) {
            (false, "false") => return None,
            (false, "true") => (MemoryScope::Execution, format!("{run}agents/{agent}/")),
            (false, "project") => (MemoryScope::Project, format!(".prose/agents/{agent}/")),
            (false, "user") => (MemoryScope::User, format!(".prose/agents/{agent}/")),
            (_, path) => (MemoryScope::Custom, format!("{}/", path.trim_end_matches('/'))),
        };
        Some(MemoryPlace { agent, scope, folder: folder.into() })
    }
}
