//! Decides with which harness and program a run is resumed.
//!
//! A journal is part of the project. Its record of the start of the run is trusted if it has a seal made with this user's key, which is stored
//! outside of all projects: then `prose` itself wrote it for the same user. Otherwise the settings and the user choose the harness that starts
//! programs and what it is asked to do, not the journal.

use std::path::{Path, PathBuf};
use std::time::Duration;

use prose_config::{HarnessName, RunConfig, Word};
use prose_harness::command::CommandSettings;
use prose_harness::drivers::provider::{KnownProvider, ProviderSettings};
use prose_harness::registry::{HarnessSettings, Route, agent_command, used_harnesses};
use prose_harness::replay;
use prose_project::key::RunKey;
use prose_state::folder::Project;
use prose_state::journal::journal_of;
use prose_state::reader::read_seal;
use prose_vm::event::{RunHead, ScriptFile};
use prose_vm::harness::RunFolders;

use crate::error::{RunFailure, Unconfirmed, Untrusted};
use crate::program_check::check_program;
use crate::{FromRun, Routes, RunRequest, Start, UserFiles, tools};

/// The harness and the script of a run.
pub(crate) struct Origin {
    /// The harness.
    pub(crate) harness: String,
    /// The script for the harness `script`.
    pub(crate) script: Option<ScriptFile>,
    /// Whether it is confirmed that this user started the run.
    pub(crate) is_confirmed: bool,
    /// Notes for the user about that.
    pub(crate) notes: Vec<String>,
}

/// Whether it is confirmed that this user started a run: the first line of its journal has a seal made with the user's key and belongs to this run.
pub fn is_confirmed(project: &Project, run: &str, files: &UserFiles) -> bool {
    let head = || {
        let folder = project.existing_run(run).ok()?;
        let sealed = read_seal(&journal_of(&folder)).ok()??;
        let key = RunKey::find(files).ok()??;
        key.confirms(&sealed.text, &sealed.seal).then_some(())?;
        project.show_run(run).ok()?.head
    };
    head().is_some_and(|head| head.run == run)
}

/// The harness that a request asks; that of the settings if the run cannot start.
pub fn harness_of(request: &RunRequest) -> String {
    origin(request).map_or_else(|_| request.config.harness.as_str().to_owned(), |origin| origin.harness)
}

/// Finds out with what a run starts or continues.
pub(crate) fn origin(request: &RunRequest) -> Result<Origin, RunFailure> {
    let of_settings = request.config.harness.as_str();
    if request.start.is_replay() {
        let harness = replay::NAME.to_owned();
        return Ok(Origin { harness, script: None, is_confirmed: true, notes: Vec::new() });
    }
    if let Start::From(from) = &request.start {
        return Ok(origin_of_fork(request, from));
    }
    let Start::Resume { run, accept_changes } = &request.start else {
        let stand_in = request.stand_in.as_ref().map(|stand_in| stand_in.name().to_owned());
        let harness = stand_in.or_else(|| request.harness.clone()).unwrap_or_else(|| of_settings.to_owned());
        return Ok(Origin { harness, script: given_script(request), is_confirmed: true, notes: Vec::new() });
    };
    let details = request.project.show_run(run)?;
    check_program(request, &details, *accept_changes)?;
    let head = details.head;
    let is_confirmed = is_confirmed(&request.project, run, &request.trust.files);
    let of_harnesses = harness_settings(request, None);
    let starts = |harness: &str| {
        let mut used = used_harnesses(harness, &of_harnesses).into_iter();
        used.any(|harness| agent_command(harness, &of_harnesses).is_some())
    };
    let unconfirmed = |harness: &str, script: Option<&ScriptFile>| {
        let from = head.as_ref().map_or(&request.program.from, |head| &head.from);
        RunFailure::Unconfirmed(Box::new(Unconfirmed {
            run: run.to_string(),
            program: (starts(harness) && !request.names_program).then(|| from.clone()),
            harness: harness.to_owned(),
            is_other_harness: harness != of_settings,
            script: script.map(|script| script.path.clone()),
        }))
    };
    let of_head = head.as_ref().map(|head| head.harness.as_str());
    if request.harness.is_none() && of_head == Some(replay::NAME) {
        return Err(RunFailure::Replay { run: run.to_string() });
    }
    let harness = match (&request.harness, of_head) {
        (Some(named), _) => named.as_str(),
        (None, None) => of_settings,
        (None, Some(of_head)) if is_confirmed || of_head == of_settings || !starts(of_head) => of_head,
        (None, Some(of_head)) => return Err(unconfirmed(of_head, None)),
    };
    let script = match (given_script(request), &head) {
        (Some(given), _) => Some(given),
        (None, Some(head)) if head.harness == harness => recorded_script(request, head)?,
        (None, _) => None,
    };
    let mut notes = Vec::new();
    if !is_confirmed {
        if starts(harness) && !request.names_program {
            return Err(unconfirmed(harness, None));
        }
        let root = prose_state::folder::resolved(&request.project.root);
        let is_outside =
            |script: &ScriptFile| !prose_state::folder::resolved(Path::new(&script.path)).starts_with(&root);
        if let Some(script) = script.as_ref().filter(|script| request.script.is_none() && is_outside(script))
        {
            return Err(unconfirmed(harness, Some(script)));
        }
        if head.is_some() && !(request.names_program && request.harness.is_some()) {
            notes.push(format!(
                "cannot confirm that you started run {run} on this machine; it is resumed with the harness `{harness}`"
            ));
        }
    }
    Ok(Origin { harness: harness.to_owned(), script, is_confirmed, notes })
}

/// A fork asks the harness of its run if this user started that, and otherwise the one of the settings: the journal of another user does not choose it.
fn origin_of_fork(request: &RunRequest, from: &FromRun) -> Origin {
    let head = &from.recorded.head;
    let is_confirmed = is_confirmed(&request.project, &head.run, &request.trust.files)
        && from.recorded.path.parent() == request.project.run(&head.run).ok().as_deref();
    let recorded = is_confirmed && head.harness != replay::NAME;
    let of_settings = || request.config.harness.as_str().to_owned();
    let harness = match (&request.harness, recorded) {
        (Some(named), _) => named.clone(),
        (None, true) => head.harness.to_string(),
        (None, false) => of_settings(),
    };
    let of_head =
        || recorded_script(request, head).ok().flatten().filter(|_| recorded && head.harness == harness);
    Origin { script: given_script(request).or_else(of_head), harness, is_confirmed: true, notes: Vec::new() }
}

/// Checks that the user trusts the project as far as a request needs it: one that starts no program needs no trust.
pub fn check_trust(request: &RunRequest) -> Result<(), RunFailure> {
    check_trust_for(request, &origin(request)?.harness)
}

pub(crate) fn check_trust_for(request: &RunRequest, harness: &str) -> Result<(), RunFailure> {
    if request.start == Start::Dry || request.start.is_replay() {
        return Ok(());
    }
    let settings = harness_settings(request, None);
    let mut used = used_harnesses(harness, &settings).into_iter();
    let started = used.find_map(|harness| Some((harness, agent_command(harness, &settings)?)));
    let Some((harness, agent)) = started else { return Ok(()) };
    request.trust.check(&request.subject).map_err(|cause| {
        RunFailure::Untrusted(Box::new(Untrusted {
            subject: request.subject.clone(),
            harness: harness.to_owned(),
            is_address: agent.is_address,
            command: agent.command,
            variables: agent.variables,
            cause,
        }))
    })
}

/// The settings for the harness of a request.
pub(crate) fn harness_settings(request: &RunRequest, run: Option<PathBuf>) -> HarnessSettings {
    HarnessSettings {
        folders: RunFolders { root: request.project.root.clone(), run },
        seed: request.seed,
        delay: request.delay,
        gates: request.trust.files.path("gates"),
        ..backends(&request.config, &request.routes)
    }
}

/// The backends that a project configures, without the folders of a run.
pub(crate) fn backends(config: &RunConfig, routes: &Routes) -> HarnessSettings {
    let route = |harness: Option<HarnessName>, model: &Option<String>| Route {
        harness: harness.map(|harness| harness.as_str().to_owned()),
        model: model.clone(),
    };
    let RunConfig { judge, provider, .. } = config;
    let agents = routes.agents.iter();
    let defaults = HarnessSettings::new(RunFolders { root: PathBuf::new(), run: None });
    HarnessSettings {
        provider: match KnownProvider::named(provider.name.as_str()) {
            Some(known) => ProviderSettings {
                base_url: provider.base_url.as_ref().map(|url| url.as_str().to_owned()),
                model: provider.model.clone(),
                key_variable: provider.key_variable.as_ref().map(|name| name.as_str().to_owned()),
                patience: Duration::from_secs(provider.wait_seconds.get().into()),
                ..ProviderSettings::new(known)
            },
            None => defaults.provider.clone(),
        },
        judge: route(judge.harness, &judge.model),
        agents: agents.map(|(name, agent)| (name.into(), route(agent.harness, &agent.model))).collect(),
        models: routes.models.clone(),
        servers: tools::servers(routes),
        command: CommandSettings::from_words(config.command.iter().map(Word::as_str)),
        environment: config.environment.iter().map(|name| name.as_str().to_owned()).collect(),
        ..defaults
    }
}

/// The script that a request names. A path in the project is stored relative to it, so that the script is found after the project was moved.
fn given_script(request: &RunRequest) -> Option<ScriptFile> {
    let path = request.script.as_deref()?;
    let given = path.strip_prefix(&request.project.root).unwrap_or(path);
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let text = |path: &Path| path.to_string_lossy().into_owned();
    Some(ScriptFile { given: text(given), path: text(&absolute) })
}

/// The script that a run was started with, unless the request names another harness.
fn recorded_script(request: &RunRequest, head: &RunHead) -> Result<Option<ScriptFile>, RunFailure> {
    let uses_it = request.harness.as_deref().is_none_or(|harness| harness == head.harness);
    let Some(script) = head.script.as_ref().filter(|_| uses_it) else { return Ok(None) };
    let moved = request.project.root.join(&script.given).to_string_lossy().into_owned();
    let places = [&script.path, &moved];
    match places.into_iter().find(|path| Path::new(path).exists()) {
        Some(path) => Ok(Some(ScriptFile { given: script.given.clone(), path: path.clone() })),
        None => Err(RunFailure::ScriptGone { run: head.run.to_string(), script: script.as_ref().clone() }),
    }
}
