//! Files on the disk: programs that are not open, and settings.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use prose_analysis::location::Origin;
use prose_analysis::skills::named_skills;
use prose_analysis::{SourceFile, Text};
use prose_project::checker::set_project;
use prose_project::files::read_import;
use prose_project::skills::SKILL_FILE;
use prose_registry::LOCK_FILE;

use crate::documents::public_interface::PublicInterface;
use crate::imports::fetcher::When;
use crate::owner::state::Owner;
use crate::protocol::uri::{DocumentUri, path_of_uri};
use crate::workspace::files::is_ignore_file;

impl Owner {
    /// Reads a program again, unless it is open.
    pub(super) fn reload(&mut self, path: &Path) {
        if self.documents.overlays.has(path) {
            return;
        }
        self.scanner.reads(path);
        // What a scan found while it was open may be unknown to the analysis.
        let is_found = self.scanner.has_found(path);
        if is_found || self.analysis.host.file(path).is_some() || self.analysis.host.is_imported(path) {
            let text = read_import(path).ok();
            let is_there = text.is_some();
            self.set_closed_text(path, text);
            if !is_there {
                return;
            }
        }
        if !self.scanner.has_found(path) && self.is_in_folders(path) {
            // Only a scan determines which files are ignored.
            self.start_scan();
        }
    }

    /// Sets the text of a program that is not open; none if it does not exist.
    pub(super) fn set_closed_text(&mut self, path: &Path, text: Option<String>) {
        let known = self.analysis.host.file(path);
        let is_imported = self.analysis.host.is_imported(path);
        self.requests.reads.recall_views();
        match (known, text) {
            (None, None) => {
                let importers = self.analysis.host.importers_at(path);
                self.forget_program_at(path, &importers);
            }
            (Some(file), Some(text)) if *text == *file.text(self.analysis.host.db()).as_str() => {}
            (_, Some(text)) => {
                let before = known.map(|file| PublicInterface::of(self.analysis.host.db(), file));
                let file = self.analysis.host.set_text(path, Text::new(text));
                let config = self.analysis.settings.of(path);
                if known.is_none() {
                    self.scanner.forget_closed();
                    set_project(
                        &mut self.analysis.host,
                        file,
                        config.meaning(),
                        self.fetcher.origin_of(path),
                    );
                }
                let when = if is_imported { When::Now } else { When::Opened };
                self.load_imports(file, &config, when);
                self.mark_importers(file, before.as_ref());
                self.mark_closed(path);
                self.releases.need(false);
            }
            // The text of a fetched program does not depend on the file that shows it.
            (Some(file), None) if *file.origin(self.analysis.host.db()) != Origin::Local => {}
            (Some(file), None) => {
                // Afterwards nothing imports it any more.
                let importers = self.analysis.host.importers(file, true);
                self.forget_program_at(path, &importers);
            }
        }
    }

    /// Removes the program at a path and marks its importers.
    pub(super) fn forget_program_at(&mut self, path: &Path, importers: &[SourceFile]) {
        self.analysis.host.remove(path);
        for importer in importers {
            let config = self.analysis.settings.of(importer.path(self.analysis.host.db()));
            self.load_imports(*importer, &config, When::Opened);
        }
        self.mark_programs(importers);
        self.lost(path);
    }

    pub(super) fn saved(&mut self, uri: &DocumentUri) {
        let path = path_of_uri(uri);
        for program in self.documents.paths_of_programs(&self.documents.known_name(uri)) {
            self.retry_unfound_imports(&program);
        }
        self.stop_typing(&self.documents.known_name(uri));
        if self.session.watches_files {
            return;
        }
        // A client that watches no files does not report other files that were written.
        let db = self.analysis.host.db();
        let closed = self.analysis.host.files().filter(|file| !self.analysis.programs.is_open(*file));
        let mut paths: Vec<PathBuf> = closed.map(|file| file.path(db).to_path_buf()).collect();
        paths.retain(|path| !self.scanner.has_found(path));
        paths.extend(self.analysis.host.missing());
        self.start_scan();
        if path.ends_with(prose_config::FILE_NAME) {
            paths.push(path);
        }
        if self.analysis.settings.read_locks() {
            self.settings_changed();
        }
        self.files_changed(&paths);
    }

    pub(super) fn files_changed(&mut self, paths: &[PathBuf]) {
        if paths.iter().any(|path| path.ends_with(prose_config::FILE_NAME) || path.ends_with(LOCK_FILE)) {
            self.analysis.settings.forget_files();
            self.settings_changed();
        }
        if paths.iter().any(|path| path.ends_with(SKILL_FILE)) {
            self.look_up_skills();
            self.settings_changed();
        }
        if paths.iter().any(|path| is_ignore_file(path)) {
            self.start_scan();
        }
        for path in paths.iter().chain(&self.programs_in(paths)) {
            self.reload(path);
        }
    }

    /// Looks again for the skills that programs name.
    fn look_up_skills(&mut self) {
        let db = self.analysis.host.db();
        let files: Vec<_> =
            self.analysis.host.files().filter(|file| !named_skills(db, *file).is_empty()).collect();
        if !files.is_empty() {
            self.releases.need(false);
            self.requests.reads.recall_views();
        }
        for file in files {
            let config = self.analysis.settings.of(file.path(self.analysis.host.db()));
            self.load_imports(file, &config, When::Opened);
        }
    }

    pub(super) fn settings_changed(&mut self) {
        let programs = self.documents.programs.values();
        for path in programs.map(|document| document.path.clone()).collect::<Vec<_>>() {
            // Whether something may be fetched is one of the settings.
            self.retry_unfound_imports(&path);
        }
        let uris = self.documents.programs.keys().chain(self.documents.markdown.keys());
        for uri in uris.map(Arc::clone).collect::<Vec<_>>() {
            self.documents.mark_edited(&uri);
            self.mark_unpublished(&uri);
        }
        self.mark_workspace();
        self.publisher.must_refresh = true;
        self.publisher.settings_files_outdated = true;
    }

    /// Marks a program whose diagnostics may be different, if it is one of the workspace.
    pub(super) fn mark_closed(&mut self, path: &Path) {
        if self.scanner.has_found(path) || self.publisher.reported_closed.contains_key(path) {
            self.publisher.unpublished_closed.insert(path.to_owned());
        }
    }

    /// Notes that there is no program at a path any more.
    pub(super) fn lost(&mut self, path: &Path) {
        self.mark_closed(path);
        self.scanner.forget(path);
    }
}
