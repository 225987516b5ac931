//! Markdown documents: each of their fenced code blocks with a program is a program like any other, with a name of its own, and where it is shown
//! is the only thing that the rest of the server knows of it.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use prose_markdown::{Fence, path_of_program};
use prose_project::files::check_size;
use prose_project::parts::missing_part;

use crate::documents::document::Document;
use crate::documents::snapshot::PartOf;
use crate::owner::state::Owner;
use crate::panics::guard;
use crate::protocol::program_document::ProgramDocument;
use crate::protocol::request::Failure;
use crate::protocol::uri::DocumentUri;

impl Owner {
    /// Finds the programs of a document in its present state. A program whose text is what it was is only shown elsewhere, and not analysed again.
    pub(super) fn find_programs(&mut self, uri: &DocumentUri) {
        let Some(markdown) = self.documents.markdown.get(uri) else { return };
        let (path, version) = (markdown.document.path.clone(), markdown.document.version());
        let (text, before) = (markdown.document.text().clone(), markdown.programs.clone());
        let is_too_large = markdown.document.is_too_large();
        let is_served = !is_too_large && self.analysis.settings.of(&path).serves_markdown();
        let found = if is_served {
            let found =
                guard("finding the programs of a document", || prose_markdown::programs(&text.to_string()));
            // After a panic the document has no programs, since their positions are unknown.
            found.unwrap_or_default()
        } else {
            Vec::new()
        };
        let name = |fence: &Fence| DocumentUri::from(format!("{uri}#{}", fence.number));
        let names: Vec<DocumentUri> = found.iter().map(name).collect();
        for gone in before.iter().filter(|known| !names.contains(known)) {
            self.forget_program(gone);
        }
        if let Some(markdown) = self.documents.markdown.get_mut(uri) {
            markdown.programs.clone_from(&names);
        }
        for (name, fence) in names.iter().zip(found) {
            let path_of_program = path_of_program(&path, fence.number);
            let program = match self.documents.programs.get_mut(name) {
                Some(program) if *program.text() == *fence.text => Ok(program),
                Some(program) => program.replace(&fence.text).map(|()| program),
                None => Document::new(path_of_program, version, &fence.text)
                    .map(|program| self.documents.programs.entry(Arc::clone(name)).or_insert(program)),
            };
            // A part is not longer than the document.
            let Ok(program) = program else { continue };
            let shown = ProgramDocument::in_fence(text.clone(), Arc::new(fence));
            let lines_above = shown.first_line();
            program.set_part_of(PartOf { uri: Arc::clone(uri), path: path.clone(), shown }, version);
            // Requests for the program itself get the error; others use its earlier state.
            if let Ok((file, _)) = self.sync(name)
                && let Some(program) = self.documents.programs.get(name)
            {
                if file.lines_above(self.analysis.host.db()) != lines_above {
                    self.requests.reads.recall_views();
                    self.analysis.host.set_lines_above(file, lines_above);
                }
                Arc::make_mut(&mut self.analysis.programs).open(file, Arc::clone(name), program);
            }
        }
    }

    /// The program that is meant by a name, which may be that of a document with one program.
    pub(super) fn program_named(&mut self, asked: &DocumentUri) -> Result<DocumentUri, Failure> {
        self.sync_all();
        let known = self.documents.known_name(asked);
        let markdown = self.documents.markdown.get(&known);
        if let Some(document) =
            markdown.map(|it| &it.document).or_else(|| self.documents.programs.get(&known))
        {
            let refused = |reason| Failure::Refused(format!("`{}` {reason}", file_name(&document.path)));
            check_size(document.text().len_bytes()).map_err(refused)?;
        }
        let Some(markdown) = markdown else { return Ok(known) };
        let asked = asked.rsplit('/').next().unwrap_or_default();
        let is_part = asked.contains('#');
        if let (false, [only]) = (is_part, markdown.programs.as_slice()) {
            return Ok(Arc::clone(only));
        }
        let name = if is_part { asked.into() } else { file_name(&markdown.document.path) };
        let paths = self.documents.paths_of_programs(&known);
        let names: Vec<PathBuf> = paths.iter().filter_map(|path| path.file_name().map(Into::into)).collect();
        let reason = missing_part(names.iter().map(PathBuf::as_path), is_part);
        Err(Failure::Refused(format!("`{name}` {reason}")))
    }
}

fn file_name(path: &Path) -> Cow<'_, str> {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde_json::{Value, json};

    use super::*;
    use crate::documents::message::DocumentMessage;
    use crate::owner::desk::Desk;
    use crate::workspace::message::WorkspaceMessage;

    const URI: &str = "file:///nowhere/docs/guide.md";

    const GUIDE: &str = "# Guide

```prose
agent writer:
  prompt: \"Write\"
session: writer
```

More:

> ```prose
> session: nobody
> ```
";

    #[track_caller]
    fn check_queries(queries: &[String], expect: Expect) {
        expect.assert_eq(&queries.join(" "));
    }

    #[test]
    fn an_edit_outside_of_the_programs_analyses_nothing_again() {
        let mut desk = Desk::open(URI, GUIDE);
        assert_eq!(desk.published(), json!([1, [[11, 11, "E007"]]]));
        check_queries(&desk.edit("# Guide\n", "# The guide\n\nWith a text.\n\n"), expect![""]);
        assert_eq!(desk.published(), json!([2, [[14, 11, "E007"]]]));
        // Where its lines start is not what they say.
        check_queries(&desk.edit("> session: nobody", ">session: nobody"), expect![""]);
        assert_eq!(desk.published(), json!([3, [[14, 10, "E007"]]]));
    }

    #[test]
    fn an_edit_of_a_program_is_one_of_that_program_alone() {
        let mut desk = Desk::open(URI, GUIDE);
        let before = desk.owner.documents.programs.len();
        desk.edit("nobody", "writer");
        assert_eq!(desk.published(), json!([2, [[11, 11, "E007"]]]));
        let programs =
            desk.queries.lock().unwrap().iter().filter(|query| query.starts_with("parse(")).count();
        assert_eq!((programs, before), (1, 2));
    }

    #[test]
    fn programs_come_and_go_with_their_fences() {
        let mut desk = Desk::open(URI, GUIDE);
        desk.edit("> ```prose\n", "> ```prose,ignore\n");
        assert_eq!(desk.published(), json!([2, []]));
        assert_eq!(
            desk.owner.documents.programs.keys().collect::<Vec<_>>(),
            [&DocumentUri::from(format!("{URI}#1"))]
        );
        assert_eq!(desk.owner.analysis.host.len(), 1);
        desk.edit("```prose,ignore", "```prose");
        assert_eq!(desk.published(), json!([3, [[11, 11, "E007"]]]));
        desk.receive(DocumentMessage::Close { uri: URI.into() });
        assert_eq!(desk.published(), json!([null, []]));
        assert!(
            desk.owner.documents.programs.is_empty()
                && desk.owner.analysis.host.is_empty()
                && desk.owner.documents.overlays.paths().next().is_none()
        );
    }

    #[test]
    fn a_setting_takes_the_programs_away() {
        let mut desk = Desk::open(URI, GUIDE);
        desk.published();
        desk.receive(WorkspaceMessage::Configure(json!({ "markdown": { "enabled": false } })));
        assert_eq!(desk.published(), json!([1, []]));
        desk.receive(WorkspaceMessage::Configure(json!({ "markdown": { "enabled": true } })));
        assert_eq!(desk.published(), json!([1, [[11, 11, "E007"]]]));
    }

    #[test]
    fn a_document_without_programs_is_not_spoken_of() {
        let mut desk = Desk::open(URI, "# Nothing but prose\n");
        assert_eq!(desk.published(), Value::Null);
        desk.edit("\n", "\n```prose\nsession: x\n```\n");
        assert_eq!(desk.published()[0], 2);
    }
}
