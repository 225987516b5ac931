//! Vendored copies of imported programs, as settings name them.

use std::path::Path;

use prose_registry::Vendor;

use crate::files::{Failure, shown};

/// The copies in a folder, if there are any, with remarks about what is wrong with them.
pub(crate) fn load(folder: &Path) -> Result<(Option<Vendor>, Vec<String>), Failure> {
    let vendor = Vendor::load(folder).map_err(|error| Failure::new(error.path(), &error))?;
    let folder = shown(folder);
    let folder = folder.display();
    let Some(vendor) = vendor else {
        let remark = format!(
            "`{folder}` has no copies of programs, though `registry.vendor` names it; `prose vendor {folder}` writes them"
        );
        return Ok((None, vec![remark]));
    };
    let damaged = vendor.damaged().map(|copy| {
        format!(
            "`{}` is not used, since it is another text than the one that was copied; `prose vendor {folder}` copies it again",
            shown(&copy).display()
        )
    });
    let remarks = damaged.collect();
    Ok((Some(vendor), remarks))
}
