//! Vendored copies of imported programs.

use std::path::Path;

use prose_registry::Vendor;

use crate::files::{Failure, shown};

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
