//! The public interface of a program: all that its importers depend on.

use prose_analysis::contract::{Contract, contract, words_of_unparsed_lines};
use prose_analysis::diagnostics::error_count;
use prose_analysis::imports::imported_programs;
use prose_analysis::{Database, SourceFile};
use smol_str::SmolStr;

/// The public interface of a program: all that its importers depend on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PublicInterface {
    contract: Contract,
    lost: Vec<SmolStr>,
    imports: Vec<SourceFile>,
    errors: usize,
}

impl PublicInterface {
    pub(crate) fn of(db: &Database, program: SourceFile) -> Self {
        Self {
            contract: contract(db, program).clone(),
            lost: words_of_unparsed_lines(db, program).clone(),
            imports: imported_programs(db, program).clone(),
            errors: error_count(db, program),
        }
    }

    /// Whether what has changed since `before` matters also to those that import the program through others: whether imports go in a circle,
    /// and whether one of them has errors, is a question of all who lead to it.
    pub(crate) fn reaches_further(&self, before: &Self) -> bool {
        self.imports != before.imports || self.errors != before.errors
    }
}
