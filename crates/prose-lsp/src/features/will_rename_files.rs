//! `workspace/willRenameFiles`: the edits that keep imports working when files move.

use prose_analysis::{AnalysisHost, Text};
use serde_json::Value;

use crate::features::rename::Changes;
use crate::protocol::convert::Converter;
use crate::protocol::session::Session;
use crate::workspace::moves::{Importer, Moves};

/// The edits that keep imports working when files move; null for none.
pub(crate) fn followed(moves: &Moves, importers: &[Importer], session: &Session) -> Value {
    let mut changes = Changes::default();
    for importer in importers.iter().filter(|importer| importer.text.contains("use")) {
        // Each on its own, so that thousands of programs are not kept in memory at once.
        let mut host = AnalysisHost::default();
        let file = host.set_text(&importer.path, Text::new(importer.text.as_str()));
        let edits = prose_ide::moved_imports(host.db(), file, |path| moves.of(path));
        if !edits.is_empty() {
            let converter = Converter::new(&importer.shown, session);
            changes.add(importer.uri.clone(), importer.version, converter.edits(&edits));
        }
    }
    if changes.is_empty() { Value::Null } else { changes.workspace_edit(session) }
}
