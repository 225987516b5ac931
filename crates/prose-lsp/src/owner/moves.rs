//! Moved files.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use prose_analysis::location::Origin;
use ropey::Rope;

use crate::features::will_rename_files::followed;
use crate::owner::state::Owner;
use crate::panics::guard;
use crate::protocol::answer::{Answer, send};
use crate::protocol::json::json;
use crate::protocol::program_document::ProgramDocument;
use crate::protocol::request::Failure;
use crate::protocol::uri::uri_of_path;
use crate::workspace::moves::{Importer, Moves, programs_below};

impl Owner {
    /// Answers what changes in all programs that are known or lie in the folders of the session, when files are moved.
    pub(super) fn moving(&mut self, moves: Moves, answer: Answer) {
        self.sync_all();
        let mut known = self.open_importers();
        let mut paths: HashSet<PathBuf> = self.documents.overlays.paths().cloned().collect();
        let db = self.analysis.host.db();
        for file in self.analysis.host.files().filter(|file| *file.origin(db) == Origin::Local) {
            let path = file.path(db);
            let Some(uri) = uri_of_path(path).filter(|_| !self.analysis.programs.is_open(file)) else {
                continue;
            };
            let text = file.text(db).as_str().to_owned();
            let shown = ProgramDocument::alone(Rope::from_str(&text));
            paths.insert(path.to_path_buf());
            known.push(Importer { path: path.to_path_buf(), uri, version: None, text, shown });
        }
        let session = Arc::clone(&self.session);
        let serves_markdown = session
            .folders
            .first()
            .is_none_or(|folder| self.analysis.settings.of(&folder.join("a.md")).serves_markdown());
        // A large folder takes a while, and edits need not wait for it.
        let work = move || {
            let found = guard("looking for programs that import what is moved", || {
                known.extend(programs_below(&session.folders, &paths, serves_markdown));
                known.sort_by(|a, b| a.path.cmp(&b.path));
                json(&followed(&moves, &known, &session))
            });
            send(answer, found.map_err(Failure::Panicked));
        };
        if let Err(error) = std::thread::Builder::new().name("moves".to_owned()).spawn(work) {
            // The answer was dropped with the work, and the client gets an error.
            tracing::error!("the server cannot start a thread: {error}");
        }
    }

    /// The programs that are open, as they are edited.
    fn open_importers(&self) -> Vec<Importer> {
        let programs = self.documents.programs.iter().map(|(name, document)| {
            let (uri, shown) = match document.part_of() {
                Some(part_of) => (&part_of.uri, part_of.shown.clone()),
                None => (name, ProgramDocument::alone(document.text().clone())),
            };
            Importer {
                path: document.path.clone(),
                uri: Arc::clone(uri),
                version: Some(document.version()),
                text: document.text().to_string(),
                shown,
            }
        });
        programs.collect()
    }

    /// Looks at what lies on the disk now where files were moved from or to.
    pub(super) fn moved(&mut self, moves: &Moves) {
        let db = self.analysis.host.db();
        let known: Vec<PathBuf> =
            self.analysis.host.files().map(|file| file.path(db).to_path_buf()).collect();
        let mut paths: Vec<PathBuf> = moves.paths().cloned().collect();
        for path in known {
            let there = moves.of(&path);
            if there != path {
                paths.extend([path, there]);
            }
        }
        self.files_changed(&paths);
    }
}
