//! Messages about imported programs.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use prose_analysis::SourceFile;
use prose_analysis::imports::{imported_programs, missing_remotes, remote};
use prose_analysis::location::{Origin, Remote};
use prose_config::FetchMode;
use prose_project::imports::FetchResult;

use crate::documents::public_interface::PublicInterface;
use crate::imports::commands::{Command, CommandKind, Import, ImportMessage};
use crate::imports::fetcher::{FETCH_IS_OFF, Imports, When};
use crate::owner::state::Owner;
use crate::protocol::answer::send;
use crate::protocol::json::json;
use crate::protocol::lsp::MessageType;
use crate::protocol::notification::Notification;
use crate::protocol::uri::{DocumentUri, path_of_uri};
use crate::workspace::settings::FileConfig;

impl Owner {
    pub(super) fn import_message(&mut self, message: ImportMessage) {
        match message {
            ImportMessage::Command(command) => self.execute(command),
            ImportMessage::Fetched(remote, result) => self.fetched(&remote, result),
            ImportMessage::RetryDue(remote) => self.retry_fetch(&remote),
            ImportMessage::Due(remote) => {
                let asker = self.analysis.host.importer_origin(&remote);
                self.fetcher.due(&remote, asker);
                self.report_progress();
            }
            ImportMessage::Pinned(Ok((message, lock_file))) => {
                // Not every client watches files.
                self.files_changed(&[lock_file]);
                self.report(&Ok(message));
            }
            ImportMessage::Pinned(Err(error)) => self.report(&Err(error)),
        }
    }

    pub(super) fn load_imports(&mut self, file: SourceFile, config: &FileConfig, when: When) {
        let mut imports = Imports {
            fetcher: &mut self.fetcher,
            settings: &mut self.analysis.settings,
            mode: config.fetch_mode(),
            when,
        };
        self.analysis.host.load_imports_with(file, &mut imports);
        self.report_progress();
    }

    /// Loads the imports of the programs that an opened program imports.
    pub(super) fn load_imports_of_imports(&mut self, program: SourceFile) {
        let mut known = HashSet::from([program]);
        let mut waiting = vec![program];
        while let Some(program) = waiting.pop() {
            let db = self.analysis.host.db();
            let imported = imported_programs(db, program).iter().copied();
            let local: Vec<_> = imported.filter(|imported| *imported.origin(db) == Origin::Local).collect();
            for imported in local {
                if known.insert(imported) {
                    let config = self.analysis.settings.of(imported.path(self.analysis.host.db()));
                    self.load_imports(imported, &config, When::Now);
                    waiting.push(imported);
                }
            }
        }
    }

    pub(super) fn fetched(&mut self, remote: &Remote, FetchResult { fetched, again_after }: FetchResult) {
        self.fetcher.fetched(remote, again_after);
        self.requests.reads.recall_views();
        // A program that was fetched by command needs its own imports as well.
        let mut imports = Imports {
            fetcher: &mut self.fetcher,
            settings: &mut self.analysis.settings,
            mode: FetchMode::Automatic,
            when: When::Now,
        };
        let direct = self.analysis.host.set_fetched(remote, fetched, &mut imports);
        self.report_progress();
        self.mark_programs(&direct);
        for importer in direct {
            let importers = self.analysis.host.importers(importer, true);
            self.mark_programs(&importers);
        }
    }

    /// Retries a failed fetch, if a local program still imports the program and fetching is automatic.
    pub(super) fn retry_fetch(&mut self, remote: &Remote) {
        if !self.fetcher.is_due_again(remote) {
            return;
        }
        let importers = self.analysis.host.importers_of(remote);
        let db = self.analysis.host.db();
        let is_wanted =
            importers.iter().filter(|importer| *importer.origin(db) == Origin::Local).any(|importer| {
                self.analysis.settings.of(importer.path(db)).fetch_mode() == FetchMode::Automatic
            });
        if is_wanted {
            self.fetcher.fetch(remote, Origin::Local);
            self.report_progress();
        }
    }

    /// Executes a command at an import.
    pub(super) fn execute(&mut self, Command { what, import: Import { uri, path }, answer }: Command) {
        self.sync_all();
        let uri = self.documents.known_name(&uri);
        let file = self.sync(&uri).map(|(file, _)| file);
        let remote = file.ok().and_then(|file| remote(self.analysis.host.db(), file, &path));
        let Some(remote) = remote else {
            send(answer, Ok(json(&())));
            return self.report(&Err(format!("`{path}` names nothing that could be fetched")));
        };
        let program = path_of_uri(&uri);
        let config = self.analysis.settings.of(&program);
        match what {
            CommandKind::Fetch if config.fetch_mode() == FetchMode::Off => {
                self.report(&Err(format!("`{path}` is not fetched: {FETCH_IS_OFF}")));
            }
            CommandKind::Fetch => {
                if let Some(asker) = self.analysis.host.importer_origin(&remote) {
                    self.fetcher.fetch(&remote, asker);
                    self.report_progress();
                }
            }
            CommandKind::Pin => {
                let folder = config.lock_folder().unwrap_or(Path::new("")).to_owned();
                self.fetcher.pin(&remote, folder);
            }
        }
        send(answer, Ok(json(&())));
    }

    pub(super) fn report(&mut self, result: &Result<String, String>) {
        let (kind, message) = match result {
            Ok(message) => (MessageType::INFO, message),
            Err(message) => (MessageType::ERROR, message),
        };
        self.publisher.notify(Notification::message(kind, message));
    }

    pub(super) fn report_progress(&mut self) {
        if self.session.shows_progress {
            let (count, one) = self.fetcher.under_way();
            let message = one.map(|one| match count {
                1 => one,
                count => format!("{one} and {} more", count - 1),
            });
            for notification in self.fetcher.progress.news(message) {
                self.publisher.notify(notification);
            }
        }
    }

    /// Retries the imports of a program that were not found.
    pub(super) fn retry_unfound_imports(&mut self, path: &Path) {
        let Some(file) = self.analysis.host.file(path) else { return };
        let lost = missing_remotes(self.analysis.host.db(), file);
        if lost.is_empty() {
            return;
        }
        self.requests.reads.recall_views();
        for remote in &lost {
            self.analysis.host.remove_fetched(remote);
        }
        let config = self.analysis.settings.of(path);
        self.load_imports(file, &config, When::Now);
    }

    /// Marks the importers of a program if its public interface changed.
    pub(super) fn mark_importers(&mut self, program: SourceFile, before: Option<&PublicInterface>) {
        let after = PublicInterface::of(self.analysis.host.db(), program);
        if before == Some(&after) {
            return;
        }
        let reaches_further = before.is_none_or(|before| after.reaches_further(before));
        let importers = self.analysis.host.importers(program, reaches_further);
        self.mark_programs(&importers);
    }

    pub(super) fn mark_programs(&mut self, programs: &[SourceFile]) {
        let open = programs.iter().filter_map(|program| self.analysis.programs.open_name(*program));
        let open: Vec<DocumentUri> = open.collect();
        for uri in &open {
            self.mark_unpublished(uri);
        }
        for program in programs {
            let path = Arc::clone(program.path(self.analysis.host.db()));
            self.mark_closed(&path);
        }
        self.publisher.must_refresh |= !open.is_empty();
    }
}
