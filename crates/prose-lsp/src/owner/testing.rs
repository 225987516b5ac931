//! Test files: their diagnostics and lenses, and runs of their cases.

use std::path::Path;
use std::sync::Arc;

use prose_files::Limit;
use prose_project::files::{identity, read_program};
use prose_project::runnable::Refusal;
use prose_syntax::text::counted;
use prose_test::{
    Faulty, Job, Progress, RunOptions, Selection, Subject, Summary, TestFile, Unloadable, VariantResult,
    is_test_file, report, run_tests, test_file_of,
};
use prose_vm::program::Program;
use ropey::Rope;
use serde_json::Value;

use crate::documents::document::Document;
use crate::features::diagnostics;
use crate::owner::state::Owner;
use crate::panics::guard;
use crate::protocol::answer::{refuse, send};
use crate::protocol::json::{Json, json};
use crate::protocol::lsp::MessageType;
use crate::protocol::notification::Notification;
use crate::protocol::request::{CODE_LENS, COMPLETION, HOVER};
use crate::protocol::uri::{DocumentUri, path_of_uri, uri_of_path};
use crate::reads::read::Read;
use crate::testing::assist;
use crate::testing::commands::{TestArguments, TestCommand, TestMessage};
use crate::testing::document::{TestDocument, failures};

impl Owner {
    pub(super) fn test_message(&mut self, message: TestMessage) {
        match message {
            TestMessage::Command(command) => self.test_command(command),
            TestMessage::Ended { uri, number, results, summary } => {
                let has_failed = results.iter().any(VariantResult::is_failed);
                if self.tests.end(&uri, number, results) {
                    self.tests_changed();
                    let kind = if has_failed { MessageType::ERROR } else { MessageType::INFO };
                    self.publisher.notify(Notification::message(kind, &summary));
                }
            }
        }
    }

    /// Brings what is shown of test files up to date.
    fn tests_changed(&mut self) {
        self.tests.is_outdated = true;
        if self.session.refreshes_lenses {
            self.publisher.notify(Notification::request("workspace/codeLens/refresh", &()));
        }
    }

    fn test_command(&mut self, TestCommand { stops, given, answer }: TestCommand) {
        let uri = self.test_file_named(&given.uri);
        if stops {
            return match self.tests.stop(&uri) {
                true => send(answer, Ok(json(&()))),
                false => refuse(answer, "no tests of this file are run now".to_owned()),
            };
        }
        match self.test_job(&uri, &given) {
            Err(reason) => refuse(answer, reason),
            Ok((job, options, version)) => {
                let (number, stopped) = self.tests.start(&uri, version);
                self.tests_changed();
                let owner = self.tests.owner.clone();
                let options = RunOptions { stopped, ..options };
                let work = move || {
                    let run = || run_tests(&[job], &options, &mut |_: Progress<'_>| {});
                    let summary = guard("running tests", run).unwrap_or_default();
                    send(answer, Ok(json(&report::json(&summary, None))));
                    let summary_text = summary_of(&uri, &summary);
                    let results = summary.files.into_iter().flat_map(|file| file.results).collect();
                    owner.send(TestMessage::Ended { uri, number, results, summary: summary_text });
                };
                if let Err(error) = std::thread::Builder::new().name("tests".to_owned()).spawn(work) {
                    // The answer was dropped with the thread, and the client gets an error.
                    tracing::error!("a thread could not be started: {error}");
                }
            }
        }
    }

    /// The test file that a command is about: it, or that of a program.
    fn test_file_named(&self, uri: &DocumentUri) -> DocumentUri {
        let path = path_of_uri(uri);
        let is_program = path.extension().is_some_and(|extension| extension == "prose");
        let test_file =
            if is_program { test_file_of(&path).and_then(|path| uri_of_path(&path)) } else { None };
        self.documents.known_name(&test_file.unwrap_or_else(|| Arc::clone(uri)))
    }

    /// The cases that a command runs, and the version of the document that they are in, if it is open.
    fn test_job(
        &mut self,
        uri: &DocumentUri,
        given: &TestArguments,
    ) -> Result<(Job, RunOptions, Option<i32>), String> {
        let path = path_of_uri(uri);
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !is_test_file(&path) {
            return Err(format!("`{name}` is not a test file; the name of one ends with `.test.toml`"));
        }
        let open =
            self.documents.others.get(uri).map(|document| (document.version(), document.text().to_string()));
        let (version, text) = match open {
            Some((version, text)) => (Some(version), text),
            None => {
                let text = prose_files::read_text(&path, Limit::SCRIPT);
                (None, text.map_err(|error| format!("`{name}` {error}"))?)
            }
        };
        let file = TestFile::read(&path, &text);
        let config = self.analysis.settings.of(&identity(&file.program));
        if config.client().trusted == Some(false) {
            return Err(format!(
                "the tests of `{name}` are not run, since this workspace is not trusted. Trust the workspace first"
            ));
        }
        let subject =
            file.check(|program| self.subject(program)).map_err(|Faulty { problems, .. }| {
                let first = problems.first().map(|problem| problem.message.clone()).unwrap_or_default();
                format!("`{name}` has {} and is not run: {first}", counted(problems.len(), "error"))
            })?;
        let selection = Selection { texts: given.name.iter().cloned().collect(), is_exact: true };
        let variants = selection.variants(&file);
        if variants.is_empty() {
            return Err(match &given.name {
                Some(case) => format!("`{name}` has no case `{case}`"),
                None => format!("`{name}` has no cases"),
            });
        }
        let options = RunOptions { trust: config.user_trust(), ..RunOptions::default() };
        Ok((Job { file: Arc::new(file), subject, variants }, options, version))
    }

    /// A program as the editor has it, with its settings. One that is not known yet is read, and followed from then on.
    fn subject(&mut self, program: &Path) -> Result<Subject, Box<Unloadable>> {
        let unloadable = |reason: String| Box::new(Unloadable { reason, ..Unloadable::default() });
        let path = identity(program);
        self.sync_all();
        if self.analysis.host.file(&path).is_none() {
            let text = read_program(&path).map_err(unloadable)?;
            self.set_closed_text(&path, Some(text));
        }
        let Some(file) = self.analysis.host.file(&path) else {
            return Err(unloadable(Refusal::NotThere.to_string()));
        };
        let config = self.analysis.settings.of(&path);
        let program = config.runnable(self.analysis.host.db(), file);
        let program = program.map_err(|refusal| unloadable(refusal.to_string()))?;
        Ok(Subject::new(path, program, config.config().clone(), config.root()))
    }

    /// A test file that is open, with its problems.
    fn test_document(&mut self, uri: &DocumentUri) -> Option<TestDocument> {
        let document = self.documents.others.get(uri).filter(|document| is_test_file(&document.path))?;
        let (version, text) = (document.version(), document.text().clone());
        let file = TestFile::read(&document.path, &text.to_string());
        let problems = file.check(|program| self.subject(program)).err().map(|faulty| faulty.problems);
        Some(TestDocument {
            uri: Arc::clone(uri),
            version,
            text,
            file,
            problems: problems.unwrap_or_default(),
        })
    }

    /// The answer to a request about an open document that is no program. A test file has lenses, completions and documentation.
    pub(super) fn test_read(&mut self, read: &Read) -> Option<Json> {
        match (read.method, read.position) {
            (CODE_LENS, _) => {
                let lenses = self.test_lenses(&read.uri);
                (!lenses.is_empty()).then(|| json(&lenses))
            }
            (COMPLETION, Some(position)) => {
                let (text, program) = self.test_text(&read.uri)?;
                Some(assist::completions(&text, position, program.as_deref(), &self.session))
            }
            (HOVER, Some(position)) => {
                let (text, program) = self.test_text(&read.uri)?;
                assist::hover(&text, position, program.as_deref(), &self.session)
            }
            _ => None,
        }
    }

    /// The text of an open test file, and its program if that can be run. Its cases may have mistakes: they are being written.
    fn test_text(&mut self, uri: &DocumentUri) -> Option<(Rope, Option<Arc<Program>>)> {
        let document = self.documents.others.get(uri).filter(|document| is_test_file(&document.path))?;
        let (path, text) = (document.path.clone(), document.text().clone());
        let program = TestFile::read(&path, &text.to_string()).program;
        let program = self.subject(&program).ok().map(|subject| subject.program);
        Some((text, program))
    }

    fn test_lenses(&mut self, uri: &DocumentUri) -> Vec<Value> {
        let Some(document) = self.test_document(uri) else { return Vec::new() };
        document.lenses(self.tests.run_of(uri), &self.session)
    }

    /// Publishes the diagnostics of the open test files that the client does not have.
    pub(super) fn publish_test_files(&mut self) {
        let is_test = |(_, document): &(&DocumentUri, &Document)| is_test_file(&document.path);
        let open: Vec<DocumentUri> =
            self.documents.others.iter().filter(is_test).map(|(uri, _)| Arc::clone(uri)).collect();
        let mut before = std::mem::take(&mut self.tests.published);
        for uri in open {
            let Some(document) = self.test_document(&uri) else { continue };
            let found = document.diagnostics(self.tests.run_of(&uri), &self.session);
            let known = before.remove(&uri);
            if found.is_empty() && known.is_none() {
                continue;
            }
            let publication = diagnostics::of_items(&uri, Some(document.version), &found);
            let is_news = known.as_ref() != Some(&publication.params);
            if !found.is_empty() {
                self.tests.published.insert(uri, publication.params.clone());
            }
            if is_news {
                self.publisher.notify(publication);
            }
        }
        for uri in before.keys() {
            self.publisher.notify(diagnostics::cleared(uri));
        }
    }
}

/// How tests have ended, in a line for the user, and why the first one failed.
fn summary_of(uri: &DocumentUri, summary: &Summary) -> String {
    let path = path_of_uri(uri);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let counts =
        [(summary.failed(), "failed"), (summary.skipped(), "skipped"), (summary.stopped(), "stopped")];
    let others = counts.iter().filter(|(count, _)| *count > 0);
    let others: String = others.map(|(count, what)| format!(", {count} {what}")).collect();
    let mut text = format!("{name}: {} passed{others}", summary.passed());
    let failed = summary.results().find(|result| result.is_failed());
    if let Some((result, (_, message))) = failed.and_then(|it| Some((it, failures(it).into_iter().next()?))) {
        text += &format!("; {}: {}", result.id, message.lines().next().unwrap_or_default());
    }
    text
}
