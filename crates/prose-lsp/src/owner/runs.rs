//! Messages about runs.

use std::path::Path;
use std::sync::Arc;

use prose_analysis::location::Origin;
use prose_analysis::{SourceFile, Text};
use prose_project::Diagnosed;
use prose_project::runnable::Refusal;
use prose_run::{FromRun, Money, Project, RunFailure, RunRequest, Start, TemporaryProject};
use prose_state::replay::RecordedRun;
use prose_vm::part::RunPart;
use prose_vm::program::Program;
use prose_vm::questions::AnswerSource;
use smol_str::SmolStr;

use crate::documents::snapshot::Snapshot;
use crate::imports::fetcher::When;
use crate::owner::state::Owner;
use crate::protocol::answer::{Answer, send};
use crate::protocol::convert::Converter;
use crate::protocol::json::{Json, json};
use crate::protocol::lsp::{self, MessageType};
use crate::protocol::notification::Notification;
use crate::protocol::position::position;
use crate::protocol::request::Failure;
use crate::protocol::uri::{DocumentUri, uri_of_path};
use crate::runs::control::control;
use crate::runs::execution::Launch;
use crate::runs::fork::ForkOrder;
use crate::runs::history::{block_of, path_of_block};
use crate::runs::launch::launch;
use crate::runs::project::project_of;
use crate::runs::queries;
use crate::runs::requests::{RunArguments, RunCommand, RunCommandKind, RunMessage, RunQuery};
use crate::workspace::settings::FileConfig;

impl Owner {
    pub(super) fn run_message(&mut self, message: RunMessage) {
        match message {
            RunMessage::Command(command) => self.run_command(command),
            RunMessage::Query(query, answer) => self.answer_query(query, answer),
            RunMessage::Changed(uri) => self.run_changed(&uri),
            RunMessage::CancelProgress(token) => self.runs.cancel_progress(&token),
        }
    }

    /// Executes a command about a run.
    pub(super) fn run_command(&mut self, RunCommand { what, given, answer }: RunCommand) {
        let uri = given.uri.as_deref().map(DocumentUri::from);
        if what.is_about_live_runs() {
            let names = uri.map(|uri| self.documents.names_of_programs(&self.documents.known_name(&uri)));
            return control(&self.runs, what, names.as_deref(), &given, answer);
        }
        // Without a program the command is not read.
        let Some(uri) = uri else { return };
        if what == RunCommandKind::ShowError {
            return send(answer, self.show_error(&uri));
        }
        if what == RunCommandKind::Save {
            return send(answer, self.keep(&given, &uri));
        }
        match self.order(what, &given, &uri) {
            Ok((order, fork, snapshot)) => {
                for remark in snapshot.config.remarks(self.analysis.host.db(), snapshot.file) {
                    let message = format!("{}: {remark}", order.program.name);
                    self.publisher.notify(Notification::message(MessageType::WARNING, &message));
                }
                launch(
                    &self.runs,
                    Launch {
                        request: order,
                        fork,
                        text: snapshot.text.to_string().into(),
                        first_line: snapshot.shown.first_line(),
                        uri: snapshot.name,
                        given: given.inputs(),
                        session: Arc::clone(&self.session),
                        answer,
                    },
                );
            }
            Err(failure) => send(answer, Err(failure)),
        }
    }

    /// Has the client show the first of the errors that keep a program from being run. There may be none any more.
    fn show_error(&mut self, uri: &DocumentUri) -> Result<Json, Failure> {
        let uri = &self.program_named(uri)?;
        let snapshot = self.snapshot(uri)?;
        let config = &snapshot.config;
        let db = self.analysis.host.db();
        let (message, place) = if let Err(refusal) = config.check_settings() {
            let place = config.run_error().and_then(|(path, text, range)| {
                let encoding = self.session.encoding;
                let selection = lsp::Range {
                    start: position(&text, range.start().into(), encoding),
                    end: position(&text, range.end().into(), encoding),
                };
                Some((uri_of_path(path)?, selection))
            });
            (format!("the program {refusal}"), place)
        } else if let Some(first) = config.errors(db, snapshot.file).first() {
            let selection = Converter::new(&snapshot.shown, &self.session).range(first.diagnostic.range);
            (first.diagnostic.message.to_string(), Some((snapshot.uri.clone(), selection)))
        } else {
            return Ok(json(&()));
        };
        let Some((uri, selection)) = place.filter(|_| self.session.shows_documents) else {
            return Err(Failure::Refused(message));
        };
        let params = serde_json::json!({ "uri": &*uri, "takeFocus": true, "selection": selection });
        self.publisher.notify(Notification::request("window/showDocument", &params));
        Ok(json(&()))
    }

    fn order(
        &mut self,
        what: RunCommandKind,
        given: &RunArguments,
        uri: &DocumentUri,
    ) -> Result<(RunRequest, Option<ForkOrder>, Snapshot), Failure> {
        let uri = &self.program_named(uri)?;
        if self.documents.others.contains_key(uri) {
            return Err(Failure::Refused(format!("{uri} is not a program")));
        }
        let snapshot = self.snapshot(uri)?;
        let order = self.order_of(what, given, &snapshot).map_err(Failure::Refused)?;
        let fork = what
            .is_fork()
            .then(|| ForkOrder::read(given, what == RunCommandKind::PlanFork, snapshot.shown.first_line()));
        Ok((order, fork.transpose().map_err(Failure::Refused)?, snapshot))
    }

    fn order_of(
        &mut self,
        what: RunCommandKind,
        given: &RunArguments,
        snapshot: &Snapshot,
    ) -> Result<RunRequest, String> {
        let config = &snapshot.config;
        let db = self.analysis.host.db();
        let path = snapshot.file.path(db).to_path_buf();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if config.client().trusted == Some(false) {
            return Err(format!(
                "`{name}` is not run, since this workspace is not trusted: its programs tell agents what to do on this machine. Trust the workspace first"
            ));
        }
        let origin = snapshot.file.origin(db).clone();
        if origin != Origin::Local && given.block.is_some() {
            return Err(format!(
                "`{name}` was fetched, and blocks of fetched programs do not run on their own; run the whole program"
            ));
        }
        let project = project_of(&path, &origin, config, &self.session);
        let is_temporary = project.as_ref().is_some_and(|project| self.session.is_temporary(&project.root));
        let project = match project {
            // It writes no files.
            project if what == RunCommandKind::DryRun => {
                project.filter(|project| project.root.is_dir()).unwrap_or_else(|| Project::new(""))
            }
            Some(_) if is_temporary => self.temporary_project()?,
            Some(project) if project.root.is_dir() => project,
            _ => {
                return Err(format!(
                    "`{name}` is not in a folder, where a run keeps its files; save the program first, or use a dry run"
                ));
            }
        };
        let project = Project { allows_outside: config.client().allows_outside, ..project };
        let mut part = None;
        let (start, block) = match what {
            RunCommandKind::DryRun => (Start::Dry, given.block.clone()),
            RunCommandKind::Resume | RunCommandKind::Fork | RunCommandKind::PlanFork => {
                // Runs of a fetched program name its URL.
                let started = match &origin {
                    Origin::Local => path.clone(),
                    Origin::Remote(origin) => origin.url.as_str().into(),
                };
                let (run, block, of_run) = self.earlier_run(given, &project, &started)?;
                part = of_run;
                match what.is_fork() {
                    true => (Start::From(Box::new(recorded(&project, &run)?)), block),
                    false => (Start::Resume { run, accept_changes: given.accept_changes }, block),
                }
            }
            _ => (Start::New, given.block.clone()),
        };
        let program = match &block {
            None => self.runnable(&name, snapshot.file, config, snapshot.shown.first_line())?,
            Some(block) => self.runnable_block(&path, block, snapshot)?,
        };
        if matches!(what, RunCommandKind::Run | RunCommandKind::DryRun) {
            part = given.line.map(|line| part_at(&program, &name, line, snapshot)).transpose()?;
        }
        let inputs = given.inputs();
        let refusal = |name: &SmolStr| match &part {
            Some(part) => program.refusal_of_value(name, part),
            None => program.refusal_of_input(name),
        };
        if let Some(refusal) = inputs.iter().find_map(|(input, _)| refusal(input)) {
            return Err(refusal);
        }
        let script = given.script.as_ref().map(|script| project.root.join(script));
        let of_script = || script.as_ref().map(|_| "script".to_owned());
        // A run continues with the harness that it was started with.
        let goes_on = matches!(start, Start::Resume { .. } | Start::From(_));
        let of_client = || config.client().harness.filter(|_| !goes_on);
        let harness = (given.harness.clone())
            .or_else(of_script)
            .or_else(|| of_client().map(|harness| harness.as_str().to_owned()));
        let asks_somebody = self.session.asks_inputs || harness.as_deref() == Some("script");
        if start == Start::New
            && !asks_somebody
            && let Some(refusal) = program.refusal_of_calls()
        {
            return Err(refusal);
        }
        let request = config.run_request(program, project, start);
        let money = Money { caps: given.caps(), caps_from: Some(AnswerSource::Editor), ..request.money };
        Ok(RunRequest { harness, script, inputs, part, money, ..request })
    }

    /// The temporary project of this server, with its folder.
    fn temporary_project(&self) -> Result<Project, String> {
        let temporary = self.session.temporary.as_ref().ok_or("this server has no temporary project")?;
        temporary.create().map_err(|error| format!("the files of the run have no folder: {error}"))
    }

    /// Moves a run of an unsaved program to the project of the program, which the user has saved.
    fn keep(&mut self, given: &RunArguments, uri: &DocumentUri) -> Result<Json, Failure> {
        let uri = self.program_named(uri)?;
        let snapshot = self.snapshot(&uri)?;
        let path = snapshot.file.path(self.analysis.host.db());
        let from = self.session.temporary.as_ref().and_then(TemporaryProject::root);
        let to = project_of(path, &Origin::Local, &snapshot.config, &self.session);
        let to = to.filter(|project| !self.session.is_temporary(&project.root));
        let (Some(from), Some(to), Some(run)) = (from.map(Project::new), to, &given.run) else {
            let message = "a run is saved with its program; save the program to a file first";
            return Err(Failure::Refused(message.to_owned()));
        };
        if !self.runs.live_folders(None, Some(run), None).is_empty() {
            return Err(Failure::Refused(format!(
                "the run {run} is still at work; save it when it has ended"
            )));
        }
        let kept = prose_run::keep_run(&from, run, &to, path);
        let id = kept.map_err(|error| Failure::Refused(error.for_editor()))?;
        let folder = to.existing_run(&id).ok().and_then(|folder| uri_of_path(&folder));
        Ok(json(&serde_json::json!({ "run": id, "folder": folder.as_deref() })))
    }

    /// The earlier run that is meant, and the block and the part that it is one of.
    fn earlier_run(
        &self,
        given: &RunArguments,
        project: &Project,
        path: &Path,
    ) -> Result<(SmolStr, Option<SmolStr>, Option<RunPart>), String> {
        let Some(run) = &given.run else {
            let last = self.runs.last_runs(project, path);
            let last = last.into_iter().find(|last| last.block == given.block);
            return match last {
                Some(last) => Ok((last.details.summary.id, last.block, None)),
                None => Err(format!(
                    "there is no run of `{}` in {}; run it first",
                    path.display(),
                    project.runs().display()
                )),
            };
        };
        let run = &project.find_run(run).map_err(|error| RunFailure::from(error).for_editor())?;
        let details = project.show_run(run).map_err(|error| error.for_editor())?;
        match details.head {
            // A run of another machine has only the name of its program.
            None => Ok((run.clone(), None, None)),
            Some(head) => match block_of(&head.from, path) {
                Some(block) => Ok((run.clone(), block, head.part.map(|part| *part))),
                None => Err(format!(
                    "the run {run} is one of `{}` and not of `{}`; open that program first",
                    head.from,
                    path.display()
                )),
            },
        }
    }

    /// A block of a program as a program. It is known to the analysis only while it is looked at.
    fn runnable_block(
        &mut self,
        path: &Path,
        block: &str,
        snapshot: &Snapshot,
    ) -> Result<Arc<Program>, String> {
        let text = prose_ide::block_program(self.analysis.host.db(), snapshot.file, block).ok_or_else(|| {
            format!(
                "`{block}` is not a block that can be run on its own: it has to stand at the top level of the program, and may use only agents, blocks \
                 and imported programs, and no variable of the program. Run the whole program instead"
            )
        })?;
        let path = path_of_block(path, block);
        self.requests.reads.recall_views();
        let file = self.analysis.host.set_text(&path, Text::new(text));
        self.analysis.host.set_project(file, snapshot.config.meaning());
        self.load_imports(file, &snapshot.config, When::Now);
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        // Its lines are those of the program.
        let program = self.runnable(&name, file, &snapshot.config, snapshot.shown.first_line());
        self.analysis.host.remove(&path);
        program
    }

    /// The program of a file, or why it is not run.
    fn runnable(
        &self,
        name: &str,
        file: SourceFile,
        config: &FileConfig,
        first_line: usize,
    ) -> Result<Arc<Program>, String> {
        let db = self.analysis.host.db();
        config.runnable(db, file).map_err(|refusal| {
            let first = match &refusal {
                Refusal::Errors(errors) => errors.first(),
                _ => None,
            };
            let first = first.map(|Diagnosed { diagnostic, .. }| {
                let line = Program::new(db, file).line(diagnostic.range.start().into()) as usize;
                format!("; line {}: {}", first_line + line, diagnostic.message)
            });
            format!("`{name}` {refusal}{}", first.unwrap_or_default())
        })
    }

    /// Answers a query about runs in the pool.
    pub(super) fn answer_query(&mut self, query: RunQuery, answer: Answer) {
        let mut projects = self.session.folders.clone();
        // Runs of unsaved programs whose documents were closed are listed as well.
        projects.extend(self.session.temporary.as_ref().and_then(TemporaryProject::root));
        for document in self.documents.programs.values() {
            let config = self.analysis.settings.of(&document.path);
            let file = self.analysis.host.file(&document.path);
            let origin = file.map(|file| file.origin(self.analysis.host.db()).clone()).unwrap_or_default();
            let project = project_of(&document.path, &origin, &config, &self.session);
            projects.extend(project.map(|project| project.root));
        }
        let (runs, session) = (Arc::clone(&self.runs), Arc::clone(&self.session));
        self.requests.reads.spawn(move || send(answer, queries::answer(&query, projects, &runs, &session)));
    }

    /// Shows that a run of a document has started or ended.
    pub(super) fn run_changed(&mut self, uri: &DocumentUri) {
        let uri = &self.documents.document_of(uri);
        let Some(document) = self.documents.with_programs(uri) else { return };
        if let Some(published) = &mut document.published {
            published.is_outdated = true;
        }
        self.mark_unpublished(uri);
        self.publisher.must_refresh = true;
    }
}

/// The part at a line of the document.
fn part_at(program: &Program, name: &str, line: u32, snapshot: &Snapshot) -> Result<RunPart, String> {
    let here = (line as usize).saturating_sub(snapshot.shown.first_line());
    program.part_at(here as u32).ok_or_else(|| {
        format!("line {line} of `{name}` is no session, condition, choice or block; pass a line of one, or run the program")
    })
}

/// All answers of a run, of which the plan of a fork leaves some out.
fn recorded(project: &Project, run: &str) -> Result<FromRun, String> {
    let folder = project.existing_run(run);
    let recorded =
        folder.and_then(|folder| RecordedRun::in_folder(&folder)).map_err(|error| error.for_editor())?;
    Ok(FromRun { is_live: true, ..FromRun::replay(recorded) })
}
