//! What is completed and documented in an open test file, as clients take it.

use prose_test::assist::{self, ProposalKind};
use prose_vm::program::Program;
use ropey::Rope;
use serde_json::{Value, json};

use crate::protocol::convert::Converter;
use crate::protocol::json::{Json, json as text};
use crate::protocol::lsp::Position;
use crate::protocol::program_document::ProgramDocument;
use crate::protocol::session::Session;

/// The answer to `textDocument/completion`.
pub(crate) fn completions(
    document: &Rope,
    position: Position,
    program: Option<&Program>,
    session: &Session,
) -> Json {
    let shown = ProgramDocument::alone(document.clone());
    let converter = Converter::new(&shown, session);
    let proposals = converter
        .text_offset(position)
        .map(|offset| assist::completions(&document.to_string(), offset, program));
    let items = proposals.unwrap_or_default().into_iter().enumerate().map(|(nth, proposal)| {
        let mut item = json!({
            "label": proposal.label,
            "kind": kind(proposal.kind),
            "sortText": format!("{nth:06}"),
            // What is replaced may begin with a quotation mark.
            "filterText": proposal.text,
            "textEdit": { "range": converter.range(proposal.range), "newText": proposal.text },
        });
        if let Some(about) = proposal.about {
            item["documentation"] = session.completions.content(&about);
        }
        item
    });
    text(&items.collect::<Vec<Value>>())
}

/// The answer to `textDocument/hover`; `None` where nothing is documented.
pub(crate) fn hover(
    document: &Rope,
    position: Position,
    program: Option<&Program>,
    session: &Session,
) -> Option<Json> {
    let shown = ProgramDocument::alone(document.clone());
    let converter = Converter::new(&shown, session);
    let offset = converter.text_offset(position)?;
    let (range, about) = assist::hover(&document.to_string(), offset, program)?;
    let contents = session.hovers.content(&about);
    Some(text(&json!({ "contents": contents, "range": converter.range(range) })))
}

/// The number of a kind in the protocol.
fn kind(kind: ProposalKind) -> u32 {
    match kind {
        ProposalKind::Key => 10,
        ProposalKind::Header => 22,
        ProposalKind::Value => 20,
        ProposalKind::Name => 6,
    }
}
