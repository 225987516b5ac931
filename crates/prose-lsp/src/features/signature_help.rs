//! `textDocument/signatureHelp`.

use prose_syntax::TextSize;
use serde_json::{Value, json};

use crate::protocol::position::Encoding;
use crate::protocol::session::Session;
use crate::reads::views::View;

/// The characters that ask for it as soon as they are typed.
pub(crate) const TRIGGERS: &[&str] = &["(", ","];
/// The characters that ask for it again while it is shown.
pub(crate) const RETRIGGERS: &[&str] = &[":", ")"];

/// The answer to `textDocument/signatureHelp`.
pub(crate) fn signature_help(view: &View<'_>, offset: TextSize) -> Option<Value> {
    let session = view.session;
    let signature = prose_ide::signature_help(view.db, view.snapshot.file, offset)?;
    let parameters = signature.parameters.iter().map(|parameter| {
        let label = match session.takes_label_offsets {
            true => {
                // Whatever was agreed on for positions, the protocol counts these in UTF-16.
                let column = |at: usize| Encoding::Utf16.len(&signature.label[..at]);
                json!([column(parameter.range.start), column(parameter.range.end)])
            }
            false => json!(&signature.label[parameter.range.clone()]),
        };
        with_documentation(json!({ "label": label }), parameter.documentation.as_deref(), session)
    });
    let parameters: Vec<Value> = parameters.collect();
    // A client takes a number that is too high for none.
    let active = signature.active.unwrap_or(parameters.len());
    let shown = json!({ "label": signature.label, "parameters": parameters, "activeParameter": active });
    let signatures = [with_documentation(shown, signature.documentation.as_deref(), session)];
    Some(json!({ "signatures": signatures, "activeSignature": 0, "activeParameter": active }))
}

fn with_documentation(mut value: Value, documentation: Option<&str>, session: &Session) -> Value {
    if let Some(documentation) = documentation {
        value["documentation"] = session.signatures.content(documentation);
    }
    value
}
