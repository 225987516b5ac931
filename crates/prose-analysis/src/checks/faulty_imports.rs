//! Imports that lead to programs with errors, or into a circle.

use std::collections::VecDeque;
use std::sync::Arc;

use prose_syntax::{Code, Diagnostic, Related, TextRange};
use rustc_hash::FxHashSet;

use super::imports::{display, with_imports};
use super::{Finding, Found};
use crate::db::{Db, SourceFile};
use crate::diagnostics::error_count;
use crate::imports::{ImportSite, cycle, first_cycle, import_sites, imported, imported_programs};
use crate::location::Origin;
use crate::model::Stmt;
use crate::statements::{TopStatement, body};

/// Reports the imports of a file that lead to programs with errors, or into a circle of imports, at once or through others.
pub(super) fn check(db: &dyn Db, file: SourceFile) -> Found<'_> {
    let mut found = Vec::new();
    for import in import_sites(db, file) {
        let Some(program) = imported(db, file, import.path.clone()).program() else { continue };
        // A cycle is reported as such, and each program in it reports its own errors.
        if cycle(db, file, program).is_some() {
            continue;
        }
        let Some((statement, range)) = path_of(db, import) else { continue };
        let Some((faulty, errors)) = first_faulty(db, program) else {
            let circle = first_cycle(db, program).map(|way| circle(db, file, import, range, &way));
            found.extend(circle.map(|finding| (statement, finding)));
            continue;
        };
        let count = if errors == 1 { "an error".to_owned() } else { format!("{errors} errors") };
        let message = match faulty == program {
            true => format!("`{}` has {count}, so this program cannot run", import.path),
            false => format!(
                "`{}` imports `{}`, which has {count}, so this program cannot run",
                import.path,
                name(db, faulty)
            ),
        };
        let mut diagnostic = Diagnostic::new(Code::E145, range, message);
        diagnostic.related.push(Related {
            path: Some(Arc::from(faulty.path(db).to_string_lossy())),
            // Where the errors are changes with every line above them, and would have this checked again each time.
            range: TextRange::default(),
            message: "the program with errors".to_owned(),
        });
        found.push((statement, diagnostic.into()));
    }
    found
}

/// Says that an import leads into the circle of imports that a way goes around.
fn circle<'db>(
    db: &'db dyn Db,
    file: SourceFile,
    import: &ImportSite<'db>,
    range: TextRange,
    way: &[SourceFile],
) -> Finding<'db> {
    let names: Vec<String> = way.iter().map(|program| display(db, file, *program)).collect();
    let message = format!(
        "`{}` has a circular import, so this program cannot run: {}",
        import.path,
        names.join(" -> ")
    );
    with_imports(db, Finding::new(Code::E145, range, message), file, way)
}

/// The first program with errors on the ways from `program`.
fn first_faulty(db: &dyn Db, program: SourceFile) -> Option<(SourceFile, usize)> {
    let mut seen = FxHashSet::from_iter([program]);
    let mut waiting = VecDeque::from([program]);
    while let Some(program) = waiting.pop_front() {
        match error_count(db, program) {
            0 => waiting.extend(imported_programs(db, program).iter().filter(|next| seen.insert(**next))),
            errors => return Some((program, errors)),
        }
    }
    None
}

/// The text of the path of an import, relative to its statement.
pub(super) fn path_of<'db>(
    db: &'db dyn Db,
    import: &ImportSite<'db>,
) -> Option<(TopStatement<'db>, TextRange)> {
    let statement = import.site?.statement;
    let body = body(db, statement);
    let range = body.stmts().find_map(|(_, data)| match data.stmt {
        Stmt::Use { path: Some(path), .. } if body.string(path) == Some(&import.path) => {
            Some(body.text(path)?.content)
        }
        _ => None,
    })?;
    Some((statement, range))
}

/// What a program is called in a sentence.
fn name(db: &dyn Db, program: SourceFile) -> String {
    match program.origin(db) {
        Origin::Remote(origin) => origin.reference.to_string(),
        Origin::Local => {
            let path = program.path(db);
            path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
        }
    }
}
