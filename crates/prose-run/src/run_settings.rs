//! The settings of a run: those that it was started with, or new ones from the request and the harness.

use std::path::Path;
use std::sync::Arc;

use prose_harness::registry::has_tools;
use prose_vm::budget::Maximum;
use prose_vm::event::{RecordedRoute, StateMode};
use prose_vm::harness::{Capabilities, Harness};
use prose_vm::settings::Settings;

use crate::error::RunFailure;
use crate::origin::Origin;
use crate::request::{RunRequest, Start};
use crate::state::Opened;

/// The limits, and the time limit in milliseconds, of a run that is resumed from its narration.
fn narrated_limits(request: &RunRequest) -> (&[Maximum], Option<u64>) {
    match &request.start {
        Start::Transcript(recovered) => (&recovered.limits, recovered.timeout_ms),
        _ => (&[], None),
    }
}

/// A folder as it stands in prompts; `None` if it is not text.
pub(crate) fn absolute(folder: &Path) -> Option<Arc<str>> {
    std::path::absolute(folder).ok()?.to_str().map(Arc::from)
}

/// The settings of a run; a resumed run keeps its own, since the same settings give the same run.
pub(crate) fn settings(
    request: &RunRequest,
    origin: &Origin,
    opened: &Opened,
    harness: &dyn Harness,
    isolates: bool,
) -> Result<Settings, RunFailure> {
    let capabilities = harness.capabilities();
    let has_files = match request.start {
        Start::Dry => request.state != StateMode::InContext,
        _ => opened.folder.is_some(),
    };
    // Beside a database there are files for agents to read. Agents are not told to write tables: they reply (R113, R117).
    let has_results = has_files && !matches!(opened.state, StateMode::Sqlite | StateMode::Postgres);
    let mut settings = match (&opened.head, &request.start) {
        (Some(head), _) => Settings { changed: opened.changed.clone(), ..Settings::of(head) },
        (None, Start::From(from)) => from.settings(opened, request),
        (None, _) => Settings {
            state: opened.state,
            seed: request.seed,
            caps: request.money.caps.over(narrated_limits(request).0),
            timeout_ms: request.timeout_ms().or(narrated_limits(request).1),
            inputs: opened.inputs.clone().unwrap_or_else(|| request.inputs.clone()),
            max_iterations: request.config.max_iterations.get(),
            backoff_ms: u64::from(request.config.backoff_ms.get()),
            backoff_cap_ms: u64::from(request.config.backoff_cap_ms.get()),
            part: request.part.clone().map(Box::new),
            ..Settings::new(opened.run.clone())
        },
    };
    let keeps_prompts = matches!(request.start, Start::Resume { accept_changes: false, .. });
    if let Some(head) = opened.head.as_ref().filter(|_| keeps_prompts) {
        // Agents that cannot do what the prompts of the run require would fail at each of them.
        let recorded = Settings::of(head);
        let is_unable = |agent: Option<&str>| {
            let able = harness.of_agent(agent).unwrap_or(harness).capabilities();
            recorded.agent_reads(agent) && !able.reads_files
                || recorded.agent_writes(agent) && !able.writes_files
        };
        let mut agents = request
            .routes
            .agents
            .keys()
            .map(String::as_str)
            .chain(head.routes.iter().filter_map(|route| route.agent.as_deref()));
        let judge = harness.of_decisions().unwrap_or(harness);
        if is_unable(None)
            || agents.any(|agent| is_unable(Some(agent)))
            || recorded.judge_reads() && !judge.capabilities().reads_files
        {
            return Err(RunFailure::OtherHarness {
                run: head.run.to_string(),
                before: head.harness.to_string(),
                now: harness.name().to_owned(),
            });
        }
    } else {
        settings.harness = harness.name().into();
        settings.routes = routes(request, harness, (has_files, has_results), isolates);
        settings.script = origin.script.clone().map(Box::new);
        settings.context_by_reference = capabilities.reads_files && has_files;
        settings.agents_write = capabilities.writes_files && has_results;
        settings.isolates = isolates && has_tools(harness.name());
    }
    Ok(settings)
}

/// The agents and decisions with another harness than the program.
fn routes(
    request: &RunRequest,
    harness: &dyn Harness,
    (has_files, has_results): (bool, bool),
    isolates: bool,
) -> Vec<RecordedRoute> {
    let route = |agent: Option<&str>, other: &dyn Harness| {
        let Capabilities { reads_files, writes_files } = other.capabilities();
        RecordedRoute {
            agent: agent.map(Into::into),
            harness: other.name().into(),
            context_by_reference: reads_files && has_files,
            agents_write: writes_files && has_results,
            isolates: isolates && has_tools(other.name()),
            skills: agent.and_then(|agent| {
                let skills = request.routes.agents.get(agent)?.skills.as_ref()?;
                Some(skills.iter().map(|skill| skill.as_str().into()).collect())
            }),
        }
    };
    let agents = request.routes.agents.keys().map(String::as_str);
    let agents = agents.map(|agent| route(Some(agent), harness.of_agent(Some(agent)).unwrap_or(harness)));
    let judge = harness.of_decisions().map(|judge| route(None, judge));
    agents.chain(judge).filter(|route| route.harness != harness.name() || route.skills.is_some()).collect()
}
