//! Who says with which harness and which program a run goes on.
//!
//! A journal lies in the project. What it says about its start is believed if it bears a seal of the key of this user, which lies outside all
//! projects: then `prose` itself has written it for the same person. What another one says chooses neither a harness that starts programs nor what
//! these are asked to do; the settings and the person do.

use std::path::{Path, PathBuf};

use prose_harness::registry::{HarnessSettings, started};
use prose_project::key::RunKey;
use prose_state::folder::Project;
use prose_state::journal::JOURNAL_FILE;
use prose_state::reader::read_seal;
use prose_vm::event::{RunHead, ScriptFile};
use prose_vm::harness::Workplace;

use crate::error::{RunFailure, Unconfirmed, Untrusted};
use crate::program_check::{check_program, commands};
use crate::{Order, Start, UserFiles};

/// With what a run starts or goes on.
pub(crate) struct Origin {
    /// The harness.
    pub(crate) harness: String,
    /// The file with answers for the harness `script`.
    pub(crate) script: Option<ScriptFile>,
    /// Whether it is known that this user has started the run.
    pub(crate) is_confirmed: bool,
    /// What the person should know about that.
    pub(crate) notes: Vec<String>,
}

/// Whether the journal of a run is known to be of a run that this user has started: its first line bears the seal of the user's key, and is about
/// this run.
pub fn is_confirmed(project: &Project, run: &str, files: &UserFiles) -> bool {
    let head = || {
        let folder = project.existing_run(run).ok()?;
        let sealed = read_seal(&folder.join(JOURNAL_FILE)).ok()??;
        let key = RunKey::find(files).ok()??;
        key.confirms(&sealed.text, &sealed.seal).then_some(())?;
        project.show_run(run).ok()?.head
    };
    head().is_some_and(|head| head.run == run)
}

/// Finds out with what a run starts or goes on.
pub(crate) fn origin(order: &Order) -> Result<Origin, RunFailure> {
    let of_settings = order.config.harness.as_str();
    let Start::Resume { run, accept_changes } = &order.start else {
        let harness = order.harness.clone().unwrap_or_else(|| of_settings.to_owned());
        return Ok(Origin { harness, script: given_script(order), is_confirmed: true, notes: Vec::new() });
    };
    let details = order.project.show_run(run)?;
    check_program(order, &details, *accept_changes)?;
    let head = details.head;
    let is_confirmed = is_confirmed(&order.project, run, &order.person.files);
    let starts = |harness: &str| started(harness, &harness_settings(order, None)).is_some();
    let unconfirmed = |harness: &str, script: Option<&ScriptFile>| {
        let from = head.as_ref().map_or(&order.program.from, |head| &head.from);
        RunFailure::Unconfirmed(Box::new(Unconfirmed {
            run: run.to_string(),
            program: (starts(harness) && !order.names_program).then(|| from.clone()),
            harness: harness.to_owned(),
            is_other_harness: harness != of_settings,
            script: script.map(|script| script.path.clone()),
        }))
    };
    let of_head = head.as_ref().map(|head| head.harness.as_str());
    let harness = match (&order.harness, of_head) {
        (Some(named), _) => named.as_str(),
        (None, None) => of_settings,
        (None, Some(of_head)) if is_confirmed || of_head == of_settings || !starts(of_head) => of_head,
        (None, Some(of_head)) => return Err(unconfirmed(of_head, None)),
    };
    let script = match (given_script(order), &head) {
        (Some(given), _) => Some(given),
        (None, Some(head)) if head.harness == harness => remembered_script(order, head)?,
        (None, _) => None,
    };
    let mut notes = Vec::new();
    if !is_confirmed {
        if starts(harness) && !order.names_program {
            return Err(unconfirmed(harness, None));
        }
        let root = prose_state::folder::resolved(&order.project.root);
        let is_outside =
            |script: &ScriptFile| !prose_state::folder::resolved(Path::new(&script.path)).starts_with(&root);
        if let Some(script) = script.as_ref().filter(|script| order.script.is_none() && is_outside(script)) {
            return Err(unconfirmed(harness, Some(script)));
        }
        if head.is_some() && !(order.names_program && order.harness.is_some()) {
            notes.push(format!(
                "nothing confirms that you started the run {run} on this machine; it goes on with the harness `{harness}`"
            ));
        }
    }
    Ok(Origin { harness: harness.to_owned(), script, is_confirmed, notes })
}

/// Whether the person trusts the project as far as an order needs it: one that starts no program needs no trust.
pub fn check_trust(order: &Order) -> Result<(), RunFailure> {
    check_trust_for(order, &origin(order)?.harness)
}

pub(crate) fn check_trust_for(order: &Order, harness: &str) -> Result<(), RunFailure> {
    if order.start == Start::Dry {
        return Ok(());
    }
    let Some(started) = started(harness, &harness_settings(order, None)) else { return Ok(()) };
    order.person.check(&order.subject).map_err(|doubt| {
        RunFailure::Untrusted(Box::new(Untrusted {
            subject: order.subject.clone(),
            harness: harness.to_owned(),
            command: started.command,
            variables: started.variables,
            doubt,
        }))
    })
}

/// What the harness of an order is made with.
pub(crate) fn harness_settings(order: &Order, run: Option<PathBuf>) -> HarnessSettings {
    let workplace = Workplace { root: order.project.root.clone(), run };
    HarnessSettings {
        seed: order.seed,
        delay: order.delay,
        commands: commands(&order.config),
        environment: order.config.environment.iter().map(|name| name.as_str().to_owned()).collect(),
        ..HarnessSettings::new(workplace)
    }
}

/// The script that an order names. One of the project is known by where it lies there, so that it is found when the project has been moved.
fn given_script(order: &Order) -> Option<ScriptFile> {
    let path = order.script.as_deref()?;
    let given = path.strip_prefix(&order.project.root).unwrap_or(path);
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let text = |path: &Path| path.to_string_lossy().into_owned();
    Some(ScriptFile { given: text(given), path: text(&absolute) })
}

/// The script that a run was started with, if it goes on with that.
fn remembered_script(order: &Order, head: &RunHead) -> Result<Option<ScriptFile>, RunFailure> {
    let goes_on_with_it = order.harness.as_deref().is_none_or(|harness| harness == head.harness);
    let Some(script) = head.script.as_ref().filter(|_| goes_on_with_it) else { return Ok(None) };
    let moved = order.project.root.join(&script.given).to_string_lossy().into_owned();
    let places = [&script.path, &moved];
    match places.into_iter().find(|path| Path::new(path).exists()) {
        Some(path) => Ok(Some(ScriptFile { given: script.given.clone(), path: path.clone() })),
        None => Err(RunFailure::ScriptGone { run: head.run.to_string(), script: script.as_ref().clone() }),
    }
}
