//! The texts of a run that its journal only names: contexts that were passed by path, and the logs of agents.

use std::path::Path;

use prose_files::{Limit, read};
use prose_run::{Project, Redaction};
use prose_state::replay::RecordedRun;
use prose_state::{agent_log, binding_file};
use prose_view::SessionFiles;
use prose_vm::effect::RequestId;

/// How much of a log is in a report, from its end.
const MAX_LOG: usize = 64 << 10;

/// The files of a run, without what is redacted.
pub(crate) struct RedactedFiles<'a> {
    pub(crate) project: &'a Project,
    pub(crate) run: &'a RecordedRun,
    pub(crate) redaction: &'a Redaction,
}

impl RedactedFiles<'_> {
    fn redacted(&self, text: String) -> String {
        self.redaction.of_text(&text).unwrap_or(text)
    }

    /// The folder of the run; an exported one has none.
    fn folder(&self) -> Option<&Path> {
        self.run.path.parent().filter(|_| !self.run.is_exported())
    }
}

impl SessionFiles for RedactedFiles<'_> {
    fn text(&self, path: &str) -> Option<String> {
        self.folder()?;
        let bytes = read(&self.project.root.join(path), Limit::STATE).ok()?;
        Some(self.redacted(binding_file::read_bytes(&bytes)))
    }

    /// The text of the log: a report leads to no files.
    fn log(&self, request: RequestId, name: &str) -> Option<String> {
        let bytes = read(&self.folder()?.join(agent_log::path(request, name)), Limit::STATE).ok()?;
        // What is redacted could be cut in two.
        let text = self.redacted(String::from_utf8_lossy(&bytes).into_owned());
        let start = text.len().saturating_sub(MAX_LOG);
        let start = text[text.ceil_char_boundary(start)..].find('\n').map_or(start, |end| start + end + 1);
        Some(text.get(text.ceil_char_boundary(start)..).unwrap_or_default().to_owned())
    }
}
