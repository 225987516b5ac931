//! Vendored copies of imported programs.

use std::path::Path;

use prose_registry::{Freshness, Program, Vendor};

use super::project::{ImportOptions, Imports, block_on};
use crate::checker::{Checker, Context};
use crate::files::{Failure, read_program, shown};
use crate::parts::parts;
use crate::settings::Settings;

/// The programs from registries that the programs in a file import, directly or through others, as they would be run now. The error is the first of those that
/// are not there.
pub fn copies_of_imports(path: &Path) -> Result<Vec<Program>, String> {
    let text = read_program(path).map_err(|reason| format!("`{}` {reason}", shown(path).display()))?;
    let mut settings = Settings::default();
    let rules = settings.of(path);
    let context = Context::new(settings, Imports::new(ImportOptions::default()));
    for part in parts(path, &text) {
        Checker::new(&context).note_imports(part.path(), part.text(), &rules);
    }
    let mut programs = Vec::new();
    for project in context.imports.projects().iter().filter(|project| project.has_remote_imports()) {
        let visited = block_on(project.walk(Freshness::Known)).map_err(|error| error.to_string())?;
        for (_, visited) in visited {
            match visited.outcome.result {
                Ok(found) => {
                    let mut program = found.program;
                    program.source.reference = visited.reference.to_string();
                    programs.push(program);
                }
                Err(_) => return Err(visited.outcome.to_string()),
            }
        }
    }
    Ok(programs)
}

/// The copies in a folder, if there are any, with warnings.
pub(crate) fn load(folder: &Path) -> Result<(Option<Vendor>, Vec<String>), Failure> {
    let vendor = Vendor::load(folder).map_err(|error| Failure::new(error.path(), &error))?;
    let folder = shown(folder);
    let folder = folder.display();
    let Some(vendor) = vendor else {
        let remark = format!(
            "folder `{folder}` of `registry.vendor` has no copies of programs; create them with `prose vendor {folder}`"
        );
        return Ok((None, vec![remark]));
    };
    let damaged = vendor.damaged().map(|copy| {
        format!(
            "`{}` is ignored, since it was changed after it was copied; copy it again with `prose vendor {folder}`",
            shown(&copy).display()
        )
    });
    let remarks = damaged.collect();
    Ok((Some(vendor), remarks))
}
