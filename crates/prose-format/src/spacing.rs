//! The space between two pieces of one line.

use prose_syntax::SyntaxKind::*;

use crate::pieces::Piece;

/// The gap between a piece and the one before it on the same line.
pub(crate) fn between(before: &Piece, piece: &Piece) -> &'static str {
    if piece.kind == COMMENT {
        // Aligned later where several are under each other.
        return "  ";
    }
    let is_joined = match (before.kind, piece.kind) {
        (BYTE_ORDER_MARK, _) | (_, COMMA) => true,
        (_, COLON) => piece.parent != TERNARY,
        (DOT, _) | (_, DOT) => true,
        (L_BRACE, R_BRACE) | (L_PAREN | L_BRACKET, _) | (_, R_PAREN | R_BRACKET) => true,
        (_, L_PAREN) => matches!(piece.parent, ARG_LIST | PARAM_LIST),
        (_, L_BRACKET) => piece.parent == INDEX,
        (MINUS, _) => before.parent == UNARY,
        _ => false,
    };
    if is_joined { "" } else { " " }
}
