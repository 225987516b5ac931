//! The gaps between the pieces of a program.

use prose_syntax::TextRange;

use crate::pieces::Piece;

/// The gap before a piece.
pub(crate) struct Gap {
    pub(crate) range: TextRange,
    /// The formatted gap; none to keep the gap of the author.
    pub(crate) wanted: Option<String>,
    pub(crate) piece: Piece,
}
