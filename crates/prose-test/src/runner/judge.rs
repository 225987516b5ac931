//! Asks a model whether a value meets a criterion: by a run of a program with one condition, so that the trust, the limits and the prompts of decisions are
//! those of every run.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use prose_analysis::{AnalysisHost, Text};
use prose_harness::registry::asks_model;
use prose_run::{Project, Questions, RunHooks, RunRequest, Start, TrustSubject, prepare};
use prose_vm::event::{Event, EventKind, StateMode};
use prose_vm::harness::Harness;
use prose_vm::program::Program;
use prose_vm::value::Value;

use super::RunOptions;
use crate::subject::Subject;
use crate::workspace::Workspace;

/// The program that asks.
const PROGRAM: &str = "\
input value: \"The value that is judged\"
input criterion: \"What should be true of it\"

if **the value meets this criterion: {criterion}**:
  output met = \"yes\"
";

fn program() -> Arc<Program> {
    static JUDGE: OnceLock<Arc<Program>> = OnceLock::new();
    let read = || {
        let mut host = AnalysisHost::default();
        let file = host.set_text(Path::new("/judge.prose"), Text::new(PROGRAM));
        Program::new(host.db(), file)
    };
    Arc::clone(JUDGE.get_or_init(read))
}

/// Asks the model of decisions. The error is the reason why the criterion is not met, or why it cannot be judged.
pub(crate) fn judge(
    subject: &Subject,
    harness: Option<&str>,
    criterion: &str,
    text: &str,
    options: &RunOptions,
) -> Result<(), String> {
    let settings = &subject.config.run;
    let harness =
        harness.filter(|name| asks_model(name)).or(settings.judge.harness.map(|name| name.as_str()));
    let harness = harness.unwrap_or(settings.harness.as_str()).to_owned();
    let stand_in = options.judge.clone();
    if !asks_model(&harness) && stand_in.is_none() {
        return Err(format!(
            "the harness `{harness}` asks no model; set `run.judge = {{ harness = \"provider\" }}` in `prose.toml`, or another harness that asks one"
        ));
    }
    ask(subject, harness, stand_in, criterion, text, options)
}

fn ask(
    subject: &Subject,
    harness: String,
    stand_in: Option<Arc<dyn Harness>>,
    criterion: &str,
    text: &str,
    options: &RunOptions,
) -> Result<(), String> {
    // An agent that judges changes nothing in the project, and the command of the settings may be a file in it.
    let workspace = Workspace::copy_of(&subject.root)
        .map_err(|error| format!("cannot create a temporary folder: {error}"))?;
    let project = Project::new(workspace.path());
    let mut request = RunRequest::new(program(), project, Start::New, &subject.config, options.trust.clone());
    request.subject = TrustSubject::new(&subject.root, &subject.config);
    request.state = StateMode::InContext;
    request.harness = Some(harness);
    request.stand_in = stand_in;
    request.config.notify = Vec::new();
    request.inputs = vec![("value".into(), Value::text(text)), ("criterion".into(), Value::text(criterion))];
    let prepared = prepare(request).map_err(|failure| failure.to_string())?;
    let mut verdict = None;
    let mut observer = |event: &Event, _: bool| {
        if let EventKind::ConditionJudged { met, reason, .. } = &event.kind {
            verdict = Some((*met, reason.clone()));
        }
    };
    let hooks = RunHooks {
        questions: Questions::unanswered(),
        observer: &mut observer,
        interrupted: options.interrupted(None),
        narration: None,
    };
    let finished = prepared.execute(hooks).map_err(|failure| failure.to_string())?;
    match (verdict, finished.end.error) {
        (Some((true, _)), _) => Ok(()),
        (Some((false, reason)), _) if reason.is_empty() => Err("the model gave no reason".to_owned()),
        (Some((false, reason)), _) => Err(reason),
        (None, Some(error)) => Err(format!("it could not be judged: {error}")),
        (None, None) => Err("it could not be judged".to_owned()),
    }
}
