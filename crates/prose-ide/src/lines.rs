//! The numbers of lines.

use prose_analysis::statements::line_index;
use prose_analysis::{Db, SourceFile};
use prose_syntax::TextSize;

/// The number of the line of an offset, from 1, in the document that shows the program.
pub(crate) fn line_number(db: &dyn Db, file: SourceFile, offset: TextSize) -> usize {
    file.lines_above(db) + line_index(db, file).line(offset.into()) + 1
}
