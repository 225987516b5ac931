//! Diagnostics that wait while the user types, and the end of the wait.

use crate::documents::typing::Typing;
use crate::features::diagnostics;
use crate::owner::state::Owner;
use crate::protocol::lsp;
use crate::protocol::position::ContentChange;
use crate::protocol::uri::DocumentUri;
use crate::reads::views::View;

impl Owner {
    /// Notes the diagnostics of a document that the user begins to type in, or types in somewhere else, before it is changed.
    pub(super) fn start_typing(&mut self, uri: &DocumentUri, changes: &[ContentChange]) {
        // Other clients do not ask again after the pause.
        let is_released = !self.session.pulls_diagnostics || self.session.refreshes_diagnostics;
        let encoding = self.session.encoding;
        let (true, Some(first), Some(document)) =
            (is_released, changes.first(), self.documents.with_programs(uri))
        else {
            return;
        };
        if document.continues_typing(first, encoding) {
            return;
        }
        let found = self.found_in(uri);
        if let Some(document) = self.documents.with_programs(uri) {
            document.typing = found.map(|found| Typing::new(&found));
        }
    }

    /// Releases what is held back once no edit has followed for a while.
    pub(super) fn wait_for_pause(&mut self, uri: &DocumentUri) {
        let Some(document) = self.documents.with_programs(uri).filter(|document| document.typing.is_some())
        else {
            return;
        };
        document.last_edit = self.pauses.wait_after_edit(uri);
    }

    /// Releases what is held back of a document if the edit with this number was the last one.
    pub(super) fn paused(&mut self, uri: &DocumentUri, edit: u64) {
        if self.documents.with_programs(uri).is_some_and(|document| document.last_edit == edit) {
            self.stop_typing(uri);
        }
    }

    /// Releases what is held back of a document.
    pub(super) fn stop_typing(&mut self, uri: &DocumentUri) {
        let typing = self.documents.with_programs(uri).and_then(|document| document.typing.take());
        let (Some(typing), Some(found)) = (typing, self.found_in(uri)) else { return };
        let count = found.len();
        if typing.shown(found).len() == count {
            return;
        }
        if self.session.pulls_diagnostics {
            self.publisher.notify(diagnostics::refresh());
        } else if let Some(document) = self.documents.with_programs(uri) {
            if let Some(published) = &mut document.published {
                published.is_outdated = true;
            }
            self.mark_unpublished(uri);
        }
    }

    /// All diagnostics of a document in its present state, unless the analysis fails.
    fn found_in(&mut self, uri: &DocumentUri) -> Option<Vec<lsp::Diagnostic>> {
        let snapshots = self.snapshots(uri).ok()?;
        let (db, programs, cache) = (self.analysis.host.db(), &self.analysis.programs, &self.fetcher.cache());
        let (runs, session) = (&self.runs, &self.session);
        let views = snapshots.iter().map(|snapshot| View { snapshot, db, programs, cache, runs, session });
        Some(diagnostics::of_document(views))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::{Value, json};

    use super::*;
    use crate::documents::message::DocumentMessage;
    use crate::owner::desk::{Desk, places};

    const URI: &str = "file:///nowhere/typed.prose";
    const METHOD: &str = "textDocument/diagnostic";

    /// A document with a mistake and a place to type at.
    const TEXT: &str = "session: nobody\n\n# here\n";

    /// Nothing follows the last edit for a while.
    fn pause(desk: &mut Desk) {
        let edit = desk.owner.pauses.edits;
        desk.receive(DocumentMessage::Pause { uri: URI.into(), edit });
    }

    fn pulled(desk: &mut Desk) -> Value {
        let uri = DocumentUri::from(URI);
        let snapshots = desk.owner.snapshots(&uri).unwrap();
        let views = desk.owner.views(METHOD, &uri)(snapshots);
        let report: Value =
            serde_json::from_slice(&diagnostics::report(&views, None).into_pieces().concat()).unwrap();
        places(&report["items"])
    }

    #[test]
    fn a_half_written_line_has_no_diagnostics_until_a_pause() {
        let mut desk = Desk::open(URI, TEXT);
        assert_eq!(desk.published(), json!([1, [[0, 9, "E007"]]]));
        desk.edit("# here", "sess");
        assert_eq!(desk.published(), json!([2, [[0, 9, "E007"]]]));
        desk.edit("sess\n", "sessi\n");
        assert_eq!(desk.published(), json!([3, [[0, 9, "E007"]]]));

        // Another key has followed this one.
        let edit = desk.owner.pauses.edits - 1;
        desk.receive(DocumentMessage::Pause { uri: URI.into(), edit });
        assert_eq!(desk.published(), Value::Null);
        pause(&mut desk);
        assert_eq!(desk.published(), json!([3, [[0, 9, "E007"], [2, 0, "E107"]]]));
        // What is shown stays while the user corrects it, and goes when it is right.
        desk.edit("sessi\n", "sessio\n");
        assert_eq!(desk.published(), json!([4, [[0, 9, "E007"], [2, 0, "E107"]]]));
        desk.edit("sessio\n", "session \"a\"\n");
        assert_eq!(desk.published(), json!([5, [[0, 9, "E007"]]]));
    }

    #[test]
    fn an_edit_somewhere_else_shows_what_was_left() {
        let mut desk = Desk::open(URI, TEXT);
        desk.edit("# here", "sess");
        assert_eq!(desk.published(), json!([2, [[0, 9, "E007"]]]));
        desk.edit("nobody", "nobod");
        assert_eq!(desk.published(), json!([3, [[0, 9, "E007"], [2, 0, "E107"]]]));
    }

    #[test]
    fn saving_is_a_pause_and_a_paste_of_lines_needs_none() {
        let mut desk = Desk::open(URI, TEXT);
        desk.edit("# here", "sess");
        desk.published();
        desk.receive(DocumentMessage::Save { uri: URI.into() });
        assert_eq!(desk.published(), json!([2, [[0, 9, "E007"], [2, 0, "E107"]]]));
        desk.edit("sess\n", "# here\nsession: none\n");
        assert_eq!(desk.published(), json!([3, [[0, 9, "E007"], [3, 9, "E007"]]]));
    }

    #[test]
    fn clients_that_pull_are_asked_to_do_so_again() {
        let pulls = json!({ "diagnostic": {} });
        let capabilities =
            json!({ "textDocument": pulls, "workspace": { "diagnostics": { "refreshSupport": true } } });
        let mut desk = Desk::with_client(&capabilities, URI, TEXT);
        assert_eq!(pulled(&mut desk), json!([[0, 9, "E007"]]));
        desk.edit("# here", "sess");
        assert_eq!(pulled(&mut desk), json!([[0, 9, "E007"]]));
        assert_eq!(desk.sent(), [] as [Value; 0]);
        pause(&mut desk);
        assert_eq!(desk.sent()[0]["method"], "workspace/diagnostic/refresh");
        assert_eq!(pulled(&mut desk), json!([[0, 9, "E007"], [2, 0, "E107"]]));
        // Nothing was held back.
        desk.edit("sess\n", "# here\n");
        pause(&mut desk);
        assert_eq!(desk.sent(), [] as [Value; 0]);

        // This client would not ask again.
        let mut desk = Desk::with_client(&json!({ "textDocument": pulls }), URI, TEXT);
        desk.edit("# here", "sess");
        assert_eq!(pulled(&mut desk), json!([[0, 9, "E007"], [2, 0, "E107"]]));
    }

    #[test]
    fn each_document_has_its_own_pause() {
        let mut desk = Desk::open(URI, TEXT);
        desk.edit("# here", "sess");
        let edit = desk.owner.pauses.edits;
        let other = DocumentUri::from("file:///nowhere/other.prose");
        let open = |text: &str, version| DocumentMessage::Open {
            uri: Arc::clone(&other),
            language: String::new(),
            version,
            text: text.to_owned(),
        };
        desk.receive(open("", 1));
        let change = ContentChange { range: None, text: "s".to_owned() };
        desk.receive(DocumentMessage::Change { uri: Arc::clone(&other), version: 2, changes: vec![change] });
        desk.published();
        desk.receive(DocumentMessage::Pause { uri: URI.into(), edit });
        assert_eq!(desk.published(), json!([2, [[0, 9, "E007"], [2, 0, "E107"]]]));
    }
}
