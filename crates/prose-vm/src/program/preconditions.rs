//! Checks of a program before it runs, for what would stop it later.

use prose_analysis::Db;
use prose_analysis::db::SourceFile;
use prose_analysis::diagnostics::diagnostics;
use prose_analysis::model::{StageKind, Stmt};
use prose_analysis::rights::Requests;
use prose_rights::{Grants, Right};
use prose_syntax::Code;
use smol_str::SmolStr;

use super::{At, Program, property};
use crate::effect::{MemoryPlace, MemoryScope};
use crate::names;

impl Program {
    /// The reason why the program cannot run without a terminal: it or one of its imports calls a program without a required input. At a terminal,
    /// the user is asked for that input (B4).
    pub fn refusal_of_calls(&self) -> Option<String> {
        let mut calls = Vec::new();
        self.collect_incomplete_calls(None, &mut calls);
        (!calls.is_empty()).then(|| format!("{}; pass it in the call: `(name: …)`", calls.join("; ")))
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

    /// The fetched programs among this one and its imports, with the rights they request, each once.
    pub fn requests(&self) -> Vec<&Requests> {
        let mut requests = Vec::new();
        self.collect_requests(&mut requests);
        requests
    }

    fn collect_requests<'a>(&'a self, requests: &mut Vec<&'a Requests>) {
        if let Some(own) = &self.fetched
            && !own.rights.is_empty()
            && !requests.contains(&own)
        {
            requests.push(own);
        }
        self.imported_programs().for_each(|imported| imported.collect_requests(requests));
    }

    /// The rights that fetched programs request and that are not granted (decision 19). Memories of the project and the user are not included:
    /// without the right, they are stored in the program's own folder.
    pub fn missing_rights(&self, grants: &Grants) -> Vec<Requests> {
        let mut missing: Vec<Requests> = Vec::new();
        for Requests { identity, rights } in self.requests() {
            let is_missing = |right: &&Right| !grants.permit(identity, right);
            for right in rights.iter().filter(is_missing) {
                match missing.iter_mut().find(|known| known.identity == *identity) {
                    Some(known) if known.rights.contains(right) => {}
                    Some(known) => known.rights.push(right.clone()),
                    None => {
                        missing.push(Requests { identity: identity.clone(), rights: vec![right.clone()] });
                    }
                }
            }
        }
        missing
    }

    /// The folders that the program and its imports name explicitly for agent memories (R42).
    pub fn named_memories(&self, grants: &Grants) -> Vec<MemoryPlace> {
        let mut places = Vec::new();
        for (agent, at) in self.agents() {
            let place = self.memory_place(agent, at, "", grants).ok().flatten();
            let named = place.filter(|place| place.scope == MemoryScope::Custom && self.uses_agent(agent));
            places.extend(named);
        }
        places.extend(self.imported_programs().flat_map(|program| program.named_memories(grants)));
        places
    }

    /// An agent that the program or one of its imports uses and whose memory outlives the run, with the line of the agent.
    pub fn lasting_memory(&self) -> Option<(SmolStr, u32)> {
        let own = self.agents().into_iter().find_map(|(agent, at)| {
            let place = self.memory_place(agent, at, "", &Grants::default()).ok().flatten()?;
            let outlives = place.scope != MemoryScope::Execution && self.uses_agent(agent);
            let start = self.range(at, self.body(at)[at.stmt].range).start();
            outlives.then(|| (agent.clone(), self.line(start.into())))
        });
        own.or_else(|| self.imported_programs().find_map(|program| program.lasting_memory()))
    }

    /// Whether the program or one of its imports has branches that run at the same time.
    pub fn has_branches(&self) -> bool {
        let is_parallel = |stmt: &Stmt| match stmt {
            Stmt::Parallel { .. } | Stmt::For { parallel: true, .. } => true,
            Stmt::Pipeline { stages, .. } => {
                stages.iter().any(|stage| stage.operator == Some(StageKind::Pmap))
            }
            _ => false,
        };
        self.stmts().any(|(_, stmt)| is_parallel(stmt))
            || self.imported_programs().any(|program| program.has_branches())
    }

    fn uses_agent(&self, agent: &str) -> bool {
        self.stmts().any(|(body, stmt)| match stmt {
            Stmt::Session { agent: Some(used), .. } | Stmt::Resume { agent: Some(used), .. } => {
                body[*used].text == agent
            }
            _ => false,
        })
    }

    /// The place of an agent's memory; `None` if it is not persistent (R42). `run` is the folder of the program relative to that of the run. Agents
    /// of a fetched program have their memories in the program's own folder unless it has the right to share them, and also without the right to a
    /// path of its own (decision 19).
    pub(crate) fn memory_place(
        &self,
        agent: &SmolStr,
        at: At,
        run: &str,
        grants: &Grants,
    ) -> Result<Option<MemoryPlace>, Right> {
        let Stmt::Agent { properties, .. } = self.stmt(at) else { return Ok(None) };
        let body = self.body(at);
        let Some(value) = property(properties, "persist").and_then(|property| property.value) else {
            return Ok(None);
        };
        // A word and a string differ: `persist: project` is a scope, `persist: "project"` a folder.
        let is_string = body.word(value).is_none() && body.string(value).is_some();
        let agent = names::memory_base(agent);
        let shared = |scope: &str| {
            let right = Right::memory(scope);
            match &self.fetched {
                Some(Requests { identity, .. }) if !grants.cover(&identity.name, &right) => {
                    format!(".prose/agents/{}/{agent}/", identity.folder)
                }
                _ => format!(".prose/agents/{agent}/"),
            }
        };
        let (scope, folder) = match (is_string, self.string_or_source(at, value).trim()) {
            (false, "false") => return Ok(None),
            (false, "true") => (MemoryScope::Execution, format!("{run}agents/{agent}/")),
            (false, "project") => (MemoryScope::Project, shared("project")),
            (false, "user") => (MemoryScope::User, shared("user")),
            (_, path) => {
                let right = Right::memory(path);
                if let Some(Requests { identity, .. }) = &self.fetched {
                    // The words are scopes: a right never refers to a folder with such a name.
                    if let Right::Memory(place) = &right
                        && matches!(place.as_str(), "project" | "user")
                    {
                        return Err(Right::Memory(format!("./{place}")));
                    }
                    if !grants.permit(identity, &right) {
                        return Err(right);
                    }
                }
                (MemoryScope::Custom, format!("{}/", path.trim_end_matches('/')))
            }
        };
        Ok(Some(MemoryPlace { agent, scope, folder: folder.into() }))
    }
}
