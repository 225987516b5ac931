//! Reports limits of agents that no program of a project has: a mistyped name limits nothing.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::path::Path;
use std::thread::available_parallelism;

use prose_files::{Limit, read_text};
use prose_project::walk;
use prose_syntax::ast::{Agent, AstNode};
use prose_syntax::suggest::nearest;
use prose_vm::program::Program;
use smol_str::SmolStr;

use crate::Money;

/// A note for each agent that has limits in the settings and exists neither in the program, with its imports, nor in another program of the project.
pub(crate) fn notes(money: &Money, program: &Program, root: &Path) -> Vec<String> {
    let mut known = BTreeSet::new();
    add_agents(program, &mut known);
    let unknown = |known: &BTreeSet<SmolStr>| -> Vec<String> {
        let limited = money.limits.agents.0.keys().map(|agent| agent.as_str());
        limited.filter(|agent| !known.contains(*agent)).map(str::to_owned).collect()
    };
    // The other programs are read only where this matters.
    if unknown(&known).is_empty() {
        return Vec::new();
    }
    let in_program = known.clone();
    let threads = available_parallelism().unwrap_or(NonZeroUsize::MIN);
    for path in walk::programs(&[root.to_owned()], threads).programs {
        let Ok(text) = read_text(&path, Limit::PROGRAM) else { continue };
        let root = prose_syntax::parse(&text).syntax();
        let agents = root.descendants().filter_map(Agent::cast).filter_map(|agent| agent.name());
        known.extend(agents.map(|name| SmolStr::new(name.text())));
    }
    let note = |agent: String| {
        let meant = nearest(&agent, in_program.iter(), |name| name.as_str());
        let meant = meant.map_or(String::new(), |name| format!("; did you mean `{name}`?"));
        format!(
            "`[limits.agents.{agent}]` limits nothing: no program of the project has the agent `{agent}`{meant}"
        )
    };
    unknown(&known).into_iter().map(note).collect()
}

fn add_agents(program: &Program, known: &mut BTreeSet<SmolStr>) {
    known.extend(program.agent_names());
    for import in program.imports.iter().filter_map(|import| import.program.as_deref()) {
        add_agents(import, known);
    }
}
