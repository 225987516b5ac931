//! What stays of programs whose trees are released.
//!
//! Of a program that nobody has open, others need its public interface, and the client its diagnostics. These take a small part of the memory of
//! its tree, its model and what was found out on the way. So they are stored, and all else is computed again if something asks for it.

use std::sync::Arc;

use crate::checks;
use crate::contract::{contract, inputs, words_of_unparsed_lines};
use crate::db::{Db, Results, SourceFile};
use crate::diagnostics::{diagnostics, error_count};
use crate::imports::{import_places, import_sites, imported_programs};
use crate::skills::named_skills;
use crate::statements::chunks::layout;
use crate::statements::{line_index, statements};

impl Results {
    /// The results of a program.
    pub(crate) fn of(db: &dyn Db, file: SourceFile) -> Self {
        Self {
            diagnostics: Arc::clone(diagnostics(db, file)),
            error_count: error_count(db, file),
            contract: contract(db, file).clone(),
            words_of_unparsed_lines: words_of_unparsed_lines(db, file).clone(),
            import_places: import_places(db, file).clone(),
            imported_programs: imported_programs(db, file).clone(),
            named_skills: named_skills(db, file),
        }
    }
}

/// Computes again what is kept of a program that was emptied, except for its [`Results`]. With the statements that are gone, salsa drops what was
/// computed from each of them.
pub(crate) fn release(db: &dyn Db, file: SourceFile) {
    layout(db, file);
    statements(db, file);
    line_index(db, file);
    crate::index::release(db, file);
    import_sites(db, file);
    inputs(db, file);
    crate::call_graph::call_graph(db, file);
    checks::check_file(db, file);
    checks::check_isolated(db, file);
    checks::check_imported(db, file);
}
