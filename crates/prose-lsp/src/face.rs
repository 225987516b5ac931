//! What of a program matters to those that import it.

use prose_analysis::contract::{Contract, contract, lost_words};
use prose_analysis::imports::imported_programs;
use prose_analysis::{Database, SourceFile};
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
