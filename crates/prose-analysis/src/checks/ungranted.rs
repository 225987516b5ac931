//! Fetched programs that request rights which the project does not grant (decision 19).

use prose_syntax::Code;

use super::faulty_imports::path_of;
use super::{Finding, Found};
use crate::db::{Db, SourceFile};
use crate::imports::{import_sites, imported};
use crate::location::Origin;
use crate::rights::{self, Requests, identity};

/// Reports the fetched programs that a local file imports, if a run would be refused for what they request.
pub(super) fn check(db: &dyn Db, file: SourceFile) -> Found<'_> {
    let mut found = Vec::new();
    if !matches!(file.origin(db), Origin::Local) {
        return found;
    }
    for import in import_sites(db, file) {
        let Some(program) = imported(db, file, import.path.clone()).program() else { continue };
        // Other local programs report their own imports.
        let Some(own) = identity(db, program) else { continue };
        let missing = rights::missing(db, program, &file.project(db).grants);
        let Some(first) = missing.first() else { continue };
        let Some((statement, range)) = path_of(db, import) else { continue };
        let message = match first.identity == own {
            true => format!("`{}` requests {}", own.name, listed(first)),
            false => {
                format!("`{}` imports `{}`, which requests {}", own.name, first.identity.name, listed(first))
            }
        };
        let name = &first.identity.name;
        let message = format!("{message}; grant it in `[imports.\"{name}\"]` of `prose.toml`");
        found.push((statement, Finding::new(Code::W151, range, message)));
    }
    found
}

fn listed(requests: &Requests) -> String {
    let first = requests.rights.first().map_or(String::new(), |right| format!("`{right}`"));
    match requests.rights.len() {
        0 | 1 => first,
        count => format!("{first} and {} more", count - 1),
    }
}
