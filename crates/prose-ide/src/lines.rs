//! Lines, as people count them.

use prose_analysis::{Db, SourceFile};
use prose_syntax::TextSize;

/// The number of the line of an offset, from 1, in the document that shows the program.
pub(crate) fn line_number(db: &dyn Db, file: SourceFile, offset: TextSize) -> usize {
    let before = file.text(db).as_str().get(..offset.into()).unwrap_or_default();
    let returns = before.matches('\r').count() - before.matches("\r\n").count();
    file.lines_above(db) + before.matches('\n').count() + returns + 1
}
