//! What stands between the pieces of a program.

use prose_syntax::TextRange;

use crate::pieces::Piece;

/// What stands before a piece.
pub(crate) struct Gap {
    pub(crate) range: TextRange,
    /// What is to stand there; none if that is for the writer to say.
    pub(crate) wanted: Option<String>,
    pub(crate) piece: Piece,
}
