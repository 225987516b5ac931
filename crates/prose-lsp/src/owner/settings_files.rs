//! The problems of the settings files in use.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::documents::document::Document;
use crate::features::diagnostics;
use crate::protocol::json::Json;
use crate::protocol::notification::Notification;
use crate::protocol::session::Session;
use crate::protocol::uri::{DocumentUri, uri_of_path};
use crate::workspace::settings::{Problems, Settings};

/// The published diagnostics of files with settings. Every client gets them without a request, since none asks for files that are not
/// open.
#[derive(Debug, Default)]
pub(crate) struct SettingsFiles {
    published: HashMap<DocumentUri, Json>,
}

impl SettingsFiles {
    /// What is news to the client: about the files that the programs at `programs` are under, as they are on the disk, and those that
    /// are open, as the client edits them.
    pub(crate) fn news<'a>(
        &mut self,
        settings: &mut Settings,
        programs: impl Iterator<Item = &'a Path>,
        open: impl Iterator<Item = (&'a DocumentUri, &'a Document)>,
        session: &Session,
    ) -> Vec<Notification> {
        let mut files: HashMap<PathBuf, (DocumentUri, Option<i32>, Problems)> = HashMap::new();
        for (uri, document) in open {
            let problems = settings.problems_of_text(&document.path, document.text());
            files.insert(document.path.clone(), (Arc::clone(uri), Some(document.version()), problems));
        }
        for program in programs {
            let Some(path) = settings.of(program).project_file().map(Path::to_owned) else { continue };
            if !files.contains_key(&path)
                && let Some(uri) = uri_of_path(&path)
                && let Some(problems) = settings.problems_of_project(program)
            {
                files.insert(path, (uri, None, problems));
            }
        }
        let mut before = std::mem::take(&mut self.published);
        let mut news = Vec::new();
        for (uri, version, problems) in files.into_values() {
            let known = before.remove(&uri);
            if problems.found.is_empty() && known.is_none() {
                continue;
            }
            let publication = diagnostics::of_settings(&uri, version, &problems, session);
            let is_news = known.as_ref() != Some(&publication.params);
            if !problems.found.is_empty() {
                self.published.insert(uri, publication.params.clone());
            }
            if is_news {
                news.push(publication);
            }
        }
        news.extend(before.keys().map(diagnostics::cleared));
        news
    }
}
