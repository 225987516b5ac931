//! `textDocument/semanticTokens`.

use prose_ide::SemanticToken;
use prose_ide::semantic_tokens::{Modifiers, TokenKind};
use serde_json::{Value, json};

use crate::protocol::convert::Converter;
use crate::protocol::json::{Json, json as text};
use crate::protocol::lsp;
use crate::protocol::uri::DocumentUri;
use crate::reads::views::Views;

/// The requested part of a document's semantic tokens.
#[derive(Debug, Clone)]
pub(crate) enum TokensWanted {
    /// `textDocument/semanticTokens/full`
    All,
    /// `textDocument/semanticTokens/full/delta`, since the answer of that id
    Since(String),
    /// `textDocument/semanticTokens/range`
    In(lsp::Range),
}

/// The answer to the requests for semantic tokens.
pub(crate) fn semantic_tokens(views: &Views, uri: &DocumentUri, wanted: &TokensWanted) -> Json {
    let mut encoded = Encoded::default();
    for view in views.each() {
        let (converter, file) = (view.converter(), view.snapshot.file);
        let tokens = match wanted {
            TokensWanted::In(range) => converter
                .text_range(*range)
                .map_or_else(Vec::new, |range| prose_ide::semantic_tokens_in(view.db, file, range)),
            TokensWanted::All | TokensWanted::Since(_) => prose_ide::semantic_tokens(view.db, file),
        };
        encoded.add(&tokens, &converter);
    }
    text(&match wanted {
        TokensWanted::In(_) => json!({ "data": encoded.data }),
        TokensWanted::All => views.tokens.full(uri, encoded.data),
        TokensWanted::Since(previous) => views.tokens.delta(uri, previous, encoded.data),
    })
}

/// The names that the numbers in semantic tokens stand for.
pub(crate) fn legend() -> Value {
    let kinds: Vec<&str> = TokenKind::ALL.iter().map(|kind| kind.name()).collect();
    json!({ "tokenTypes": kinds, "tokenModifiers": Modifiers::NAMES })
}

/// Each token as five numbers, its place relative to the one before.
#[derive(Default)]
struct Encoded {
    data: Vec<u32>,
    line: u32,
    column: u32,
}

impl Encoded {
    fn add(&mut self, tokens: &[SemanticToken], converter: &Converter<'_>) {
        self.data.reserve(tokens.len() * 5);
        for token in tokens {
            let lsp::Range { start, end } = converter.range(token.range);
            let from = if start.line == self.line { self.column } else { 0 };
            self.data.extend([start.line - self.line, start.character - from]);
            self.data.extend([
                end.character.saturating_sub(start.character),
                token.kind as u32,
                token.modifiers.bits(),
            ]);
            (self.line, self.column) = (start.line, start.character);
        }
    }
}
