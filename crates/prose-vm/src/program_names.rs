//! The names of the programs of a run, by the numbers of their executions.

use std::collections::{BTreeMap, HashMap};

use smol_str::SmolStr;

use crate::event::{Event, EventKind};
use crate::place::{NamedLine, Site, imported_name};

/// The programs that a run imports, folded from its events, so that lines can be named wherever only sites are known.
#[derive(Debug, Default, Clone)]
pub struct ProgramNames {
    /// What `use` lines import, by the program that has the line and the alias.
    imports: HashMap<(u32, SmolStr), ImportedProgram>,
    called: BTreeMap<u32, ImportedProgram>,
}

/// An imported program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedProgram {
    /// What messages call it, such as `lib.prose` or `alice/research`.
    pub name: SmolStr,
    /// What it was read from: a path, a reference, an address; empty if unknown.
    pub from: String,
}

impl ProgramNames {
    /// Takes up an event of the run. Events must come in their order.
    pub fn apply(&mut self, event: &Event) {
        let caller = event.program();
        match &event.kind {
            EventKind::Imported { path, alias, from, .. } => {
                let imported = ImportedProgram { name: imported_name(path), from: from.clone() };
                self.imports.insert((caller, alias.clone()), imported);
            }
            EventKind::ImportCalled { program, alias, .. } => {
                let imported = self.imports.get(&(caller, alias.clone())).cloned();
                let unknown = || ImportedProgram { name: alias.clone(), from: String::new() };
                self.called.insert(*program, imported.unwrap_or_else(unknown));
            }
            _ => {}
        }
    }

    /// An execution of an imported program; `None` for the program of the run.
    pub fn imported(&self, program: u32) -> Option<&ImportedProgram> {
        self.called.get(&program)
    }

    /// Whether a site is in a program of this name; `None` for the program of the run.
    pub fn has_name(&self, site: Site, name: Option<&str>) -> bool {
        match name {
            None => site.program == 0,
            Some(name) => self.imported(site.program).is_some_and(|imported| imported.name == name),
        }
    }

    /// The line of a site; `None` if it belongs to no statement.
    pub fn line(&self, site: Site) -> Option<NamedLine> {
        NamedLine::new(self.imported(site.program).map(|imported| imported.name.clone()), site.line)
    }
}
