//! What of a program matters to those that import it, and who they are.

use std::collections::{HashMap, HashSet};

use prose_analysis::contract::{Contract, contract, lost_words};
use prose_analysis::imports::imported_programs;
use prose_analysis::{AnalysisHost, Database, SourceFile};
use smol_str::SmolStr;

/// What of a program matters to those that import it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Face {
    contract: Contract,
    lost: Vec<SmolStr>,
    /// These matter to those too that import the program through others.
    pub(crate) imports: Vec<SourceFile>,
}

impl Face {
    pub(crate) fn of(db: &Database, program: SourceFile) -> Self {
        Self {
            contract: contract(db, program).clone(),
            lost: lost_words(db, program).clone(),
            imports: imported_programs(db, program).clone(),
        }
    }
}

/// The programs that import a program, or also those that do `through_others`.
pub(crate) fn importers(host: &AnalysisHost, program: SourceFile, through_others: bool) -> Vec<SourceFile> {
    let mut by_imported: HashMap<SourceFile, Vec<SourceFile>> = HashMap::new();
    for importer in host.files() {
        for imported in imported_programs(host.db(), importer) {
            by_imported.entry(*imported).or_default().push(importer);
        }
    }
    let mut found: HashSet<SourceFile> = HashSet::new();
    let mut waiting = vec![program];
    while let Some(imported) = waiting.pop() {
        for importer in by_imported.get(&imported).into_iter().flatten() {
            if found.insert(*importer) && through_others {
                waiting.push(*importer);
            }
        }
    }
    found.into_iter().collect()
}
