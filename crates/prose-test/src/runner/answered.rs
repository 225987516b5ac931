//! One run of a case.

use std::fs;
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use prose_files::Limit;
use prose_harness::registry::asks_model;
use prose_harness::script::Script;
use prose_run::{
    FinishedRun, FromRun, Project, Questions, Redaction, RunHooks, RunRequest, Start, TrustSubject, prepare,
};
use prose_state::portable;
use prose_state::replay::RecordedRun;
use prose_vm::effect::Request;
use prose_vm::event::{Event, StateMode};
use prose_vm::harness::RunFolders;

use super::judge::judge;
use super::{Attempt, AttemptEnd, RunOptions, VariantResult};
use crate::check::check;
use crate::file::{Answers, Case, RecordedAnswers, TestFile};
use crate::observed::Observed;
use crate::subject::Subject;
use crate::variant::Variant;
use crate::workspace::Workspace;

/// Runs a variant of a case as often as the case says, on the calling thread.
pub fn run_variant(
    file: &TestFile,
    subject: &Subject,
    variant: &Variant,
    options: &RunOptions,
) -> VariantResult {
    let Some(case) = file.cases.get(variant.case) else { return VariantResult::default() };
    let mut result = result_of(case, variant);
    if result.skipped.is_none() {
        for number in 0..case.repeat {
            if options.is_stopped() {
                break;
            }
            result.attempts.push(attempt(case, subject, variant, number, options));
        }
    }
    result
}

/// The result of a variant before it is run.
pub(super) fn result_of(case: &Case, variant: &Variant) -> VariantResult {
    VariantResult {
        case: variant.case,
        id: variant.id.clone(),
        range: case.name_range,
        skipped: case.skip.clone(),
        at_least: case.at_least,
        attempts: Vec::new(),
    }
}

/// Runs a variant once. `number` is that of the run among the repeated ones, from 0.
pub(super) fn attempt(
    case: &Case,
    subject: &Subject,
    variant: &Variant,
    number: u32,
    options: &RunOptions,
) -> Attempt {
    let started = Instant::now();
    let mut observed = Observed::default();
    let end = match execute(case, subject, variant, number, options, &mut observed) {
        Ok(executed) => {
            observed.add_branches(&subject.coverable);
            end(case, subject, variant, &executed, &observed, options)
        }
        Err(message) => AttemptEnd::Error(message),
    };
    let end = if options.is_stopped() { AttemptEnd::Stopped } else { end };
    let executed = observed.executed(&subject.program);
    Attempt { took: started.elapsed(), end, executed, observed: Some(Box::new(observed)) }
}

/// A run that was executed.
struct Executed {
    finished: FinishedRun,
    workspace: Option<Workspace>,
}

fn end(
    case: &Case,
    subject: &Subject,
    variant: &Variant,
    Executed { finished, workspace }: &Executed,
    observed: &Observed,
    options: &RunOptions,
) -> AttemptEnd {
    if let Some(request) = &finished.not_recorded {
        return AttemptEnd::Error(not_recorded(request, case));
    }
    let read = |path: &str| {
        let folder = workspace.as_ref()?.path();
        prose_files::read_text(&folder.join(path), Limit::STATE).ok()
    };
    let mut judge =
        |criterion: &str, text: &str| judge(subject, variant.harness.as_deref(), criterion, text, options);
    let mismatches = check(case, &finished.end, observed, &read, &mut judge);
    match mismatches.is_empty() {
        true => AttemptEnd::Passed,
        false => AttemptEnd::Failed(mismatches),
    }
}

/// The message about a request that the recorded answers do not have.
fn not_recorded(request: &Request, case: &Case) -> String {
    let what = prose_harness::replay::what(request.effect.kind());
    let Answers::Recorded(RecordedAnswers { path, harness, .. }) = &case.answers else {
        return format!("the answers have nothing for the {what} at {}", request.line());
    };
    let asked = prose_run::asked_text(&request.effect);
    let fix = match harness {
        Some(_) => "`prose test --update` records it again".to_owned(),
        None => "add `harness` and `max-cost` to the case, and run `prose test --update` to record it again"
            .to_owned(),
    };
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    format!("`{name}` has no answer for the {what} at {}; {fix}\nasked:\n{asked}", request.line())
}

/// Executes a run of a case. The error is the reason why it could not be executed.
fn execute(
    case: &Case,
    subject: &Subject,
    variant: &Variant,
    number: u32,
    options: &RunOptions,
    observed: &mut Observed,
) -> Result<Executed, String> {
    match &case.answers {
        Answers::Script(script) => scripted(case, script, subject, variant, number, options, observed),
        Answers::Recorded(recorded) if options.updates && recorded.harness.is_some() => {
            let executed = asked(case, subject, variant, options, observed)?;
            record(&executed, &recorded.path, subject)?;
            Ok(executed)
        }
        Answers::Recorded(recorded) => replayed(case, recorded, subject, variant, options, observed),
        Answers::Harness(_) => asked(case, subject, variant, options, observed),
    }
}

/// The request for a run in a folder.
fn request(
    subject: &Subject,
    folder: &Path,
    start: Start,
    variant: &Variant,
    options: &RunOptions,
) -> RunRequest {
    let program = Arc::clone(&subject.program);
    let project = Project::new(folder);
    let mut request = RunRequest::new(program, project, start, &subject.config, options.trust.clone());
    // The folder of the run is a temporary one; what is trusted is the project.
    request.subject = TrustSubject::new(&subject.root, &subject.config);
    request.inputs.clone_from(&variant.inputs);
    request.config.notify = Vec::new();
    request
}

/// A run with entries of a script. It has no files.
fn scripted(
    case: &Case,
    script: &Script,
    subject: &Subject,
    variant: &Variant,
    number: u32,
    options: &RunOptions,
    observed: &mut Observed,
) -> Result<Executed, String> {
    let mut request = request(subject, &subject.root, Start::New, variant, options);
    let folders = RunFolders { root: subject.root.clone(), run: None };
    request.state = StateMode::InContext;
    request.seed = number.into();
    request.stand_in = Some(Arc::new(script.unused(number.into()).in_folders(folders)));
    // A scripted failure does not get better by waiting.
    request.config.backoff_ms = NonZeroU32::MIN;
    request.config.backoff_cap_ms = NonZeroU32::MIN;
    let finished = run(request, case, options, observed)?;
    Ok(Executed { finished, workspace: None })
}

/// A run with the answers of an exported run.
fn replayed(
    case: &Case,
    recorded: &RecordedAnswers,
    subject: &Subject,
    variant: &Variant,
    options: &RunOptions,
    observed: &mut Observed,
) -> Result<Executed, String> {
    let run_of_file = portable::open(&recorded.path).map_err(|error| match recorded.path.exists() {
        true => error.to_string(),
        false => {
            let name = prose_project::files::shown(&recorded.path);
            let fix = match &recorded.harness {
                Some(_) => "`prose test --update` records it",
                None => "write it with `prose runs export`, or add `harness` and `max-cost` and run `prose test --update`",
            };
            format!("`{}` does not exist; {fix}", name.display())
        }
    })?;
    let workspace =
        Workspace::empty().map_err(|error| format!("cannot create a temporary folder: {error}"))?;
    let start = Start::From(Box::new(FromRun::replay(run_of_file)));
    let request = request(subject, workspace.path(), start, variant, options);
    let finished = run(request, case, options, observed)?;
    Ok(Executed { finished, workspace: None })
}

/// A run with a harness, in a copy of the project.
fn asked(
    case: &Case,
    subject: &Subject,
    variant: &Variant,
    options: &RunOptions,
    observed: &mut Observed,
) -> Result<Executed, String> {
    let harness = variant.harness.clone().unwrap_or_default();
    let workspace = match asks_model(&harness) {
        true => Workspace::copy_of(&subject.root),
        false => Workspace::empty(),
    };
    let workspace = workspace.map_err(|error| format!("cannot create a temporary folder: {error}"))?;
    let mut request = request(subject, workspace.path(), Start::New, variant, options);
    let answers = match &case.answers {
        Answers::Harness(answers) => Some(answers),
        Answers::Recorded(recorded) => recorded.harness.as_ref(),
        Answers::Script(_) => None,
    };
    request.money.caps.cost = answers.and_then(|answers| answers.max_cost).or(request.money.caps.cost);
    request.harness = Some(harness);
    request.model.clone_from(&variant.model);
    let finished = run(request, case, options, observed)?;
    observed.files.extend(workspace.written());
    Ok(Executed { finished, workspace: Some(workspace) })
}

/// Executes a run.
fn run(
    request: RunRequest,
    case: &Case,
    options: &RunOptions,
    observed: &mut Observed,
) -> Result<FinishedRun, String> {
    let questions = Questions::new(request.inputs.clone());
    // No one answers: the run waits, and its case fails with the question.
    questions.abandon();
    let prepared = prepare(request).map_err(|failure| failure.to_string())?;
    let mut observer = |event: &Event, _: bool| observed.observe(event);
    let hooks = RunHooks {
        questions,
        observer: &mut observer,
        interrupted: options.interrupted(case.timeout),
        narration: None,
    };
    prepared.execute(hooks).map_err(|failure| failure.to_string())
}

/// Writes the run of a workspace to the file with the answers of its case.
fn record(executed: &Executed, path: &Path, subject: &Subject) -> Result<(), String> {
    let failed = |error: &dyn std::fmt::Display| format!("cannot write `{}`: {error}", path.display());
    let Some(workspace) = &executed.workspace else { return Ok(()) };
    let project = Project::new(workspace.path());
    let last = project.last_run().map_err(|error| failed(&error))?;
    let Some(last) = last else { return Err(failed(&"the run has no files")) };
    let run = RecordedRun::in_folder(&last.folder).map_err(|error| failed(&error))?;
    let redaction = Redaction::of(&subject.config);
    let mut bytes = Vec::new();
    redaction.export(&run, &mut bytes).map_err(|error| failed(&error))?;
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|error| failed(&error))?;
    }
    fs::write(path, bytes).map_err(|error| failed(&error))
}
