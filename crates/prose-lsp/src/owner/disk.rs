//! What lies on the disk, and what becomes of it: the texts of programs that are not open.

use std::path::{Path, PathBuf};

use prose_analysis::location::Origin;
use prose_analysis::{SourceFile, Text};
use prose_project::checker::set_project;
use prose_project::files::read_import;
use prose_registry::LOCK_FILE;

use super::Owner;
use crate::documents::public_interface::Face;
use crate::imports::fetcher::When;
use crate::protocol::uri::{DocumentUri, path_of_uri};
use crate::workspace::files::says_what_is_left_out;

impl Owner {
    /// Takes over what lies at a path, for those who import it.
    pub(super) fn read_again(&mut self, path: &Path) {
        self.workspace.reads(path);
        // What a scan found while it was open may be unknown to the analysis.
        let is_found = self.workspace.has_found(path);
        if is_found || self.host.file(path).is_some() || self.host.is_imported(path) {
            let text = read_import(path).ok();
            let is_there = text.is_some();
            self.take_over(path, text);
            if !is_there {
                return;
            }
        }
        if !self.workspace.has_found(path) && self.is_in_folders(path) {
            // Whether it is one that is left out is known to who looks through the folders.
            self.look_for_programs();
        }
    }

    /// Takes over the text of a program that is not open, or that there is none.
    pub(super) fn take_over(&mut self, path: &Path, text: Option<String>) {
        let known = self.host.file(path);
        let is_imported = self.host.is_imported(path);
        self.reads.recall_views();
        match (known, text) {
            (None, None) => {
                let importers = self.host.importers_at(path);
                self.forget_program_at(path, &importers);
            }
            (Some(file), Some(text)) if *text == *file.text(self.host.db()).as_str() => {}
            (_, Some(text)) => {
                let before = known.map(|file| Face::of(self.host.db(), file));
                let file = self.host.set_text(path, Text::new(text));
                let config = self.settings.of(path);
                if known.is_none() {
                    self.workspace.forget_closed();
                    set_project(&mut self.host, file, config.meaning(), self.fetcher.origin_of(path));
                }
                let when = if is_imported { When::Now } else { When::Opened };
                self.load_imports(file, &config, when);
                self.mark_importers(file, before.as_ref());
                self.workspace.mark(path);
            }
            // What came from the network is known, whatever became of the file that shows it.
            (Some(file), None) if *file.origin(self.host.db()) != Origin::Local => {}
            (Some(file), None) => {
                // Afterwards nothing imports it any more.
                let importers = self.host.importers(file, true);
                self.forget_program_at(path, &importers);
            }
        }
    }

    /// Takes over that there is no program at a path. Those who import it are told why there is none.
    pub(super) fn forget_program_at(&mut self, path: &Path, importers: &[SourceFile]) {
        self.host.remove(path);
        for importer in importers {
            let config = self.settings.of(importer.path(self.host.db()));
            self.load_imports(*importer, &config, When::Opened);
        }
        self.mark_programs(importers);
        self.workspace.lost(path);
    }

    pub(super) fn saved(&mut self, uri: &DocumentUri) {
        let path = path_of_uri(uri);
        for program in self.paths_of_programs(&self.known_name(uri)) {
            self.look_again(&program);
        }
        if self.session.watches_files {
            return;
        }
        // A client that watches no files will not tell of anything else that was written.
        let db = self.host.db();
        let closed = self.host.files().filter(|file| !self.programs.is_open(*file));
        let mut paths: Vec<PathBuf> = closed.map(|file| file.path(db).to_path_buf()).collect();
        paths.retain(|path| !self.workspace.has_found(path));
        paths.extend(self.host.missing());
        self.look_for_programs();
        if path.ends_with(prose_config::FILE_NAME) {
            paths.push(path);
        }
        if self.settings.read_locks() {
            self.settings_changed();
        }
        self.files_changed(&paths);
    }

    pub(super) fn files_changed(&mut self, paths: &[PathBuf]) {
        if paths.iter().any(|path| path.ends_with(prose_config::FILE_NAME) || path.ends_with(LOCK_FILE)) {
            self.settings.forget_files();
            self.settings_changed();
        }
        if paths.iter().any(|path| says_what_is_left_out(path)) {
            self.look_for_programs();
        }
        for path in paths.iter().chain(&self.programs_in(paths)) {
            // What is open is what the client says it is.
            if !self.names.contains_key(path) {
                self.read_again(path);
            }
        }
    }
}
