//! Forks: new runs that keep what a recorded run did before a point. Each is planned, and confirmed by the user, before it starts.

use std::sync::Arc;

use prose_run::{ForkPlan, ForkRequest, LineMap, Point, RunRequest, Start, describe_fork, plan_fork};
use prose_vm::questions::AnswerSource;
use prose_vm::value::Value as ProgramValue;
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedReceiver;

use crate::protocol::client_requests::ClientRequests;
use crate::protocol::lsp::MessageType;
use crate::runs::registry::Stop;
use crate::runs::requests::RunArguments;

/// The action that starts a fork.
const START: &str = "Start";

/// A fork to plan.
pub(crate) struct ForkOrder {
    request: ForkRequest,
    /// A line of the program as it is now, from 1, which stands for the statement that was there.
    line: Option<u32>,
    consent: Consent,
}

/// Whether the user knows what the fork asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Consent {
    /// Nothing is started.
    PlanOnly,
    /// The user is asked.
    Ask,
    /// The client has asked the user.
    Given,
}

/// What becomes of a fork.
pub(super) enum Decision {
    /// It starts.
    Start,
    /// It does not start, and this is the result of the command.
    Result(Value),
}

impl ForkOrder {
    /// Reads the arguments of a command about a program whose first line is the line `first_line` of its document.
    pub(crate) fn read(given: &RunArguments, plan_only: bool, first_line: usize) -> Result<Self, String> {
        let from = given.from.as_deref().map(str::parse::<Point>).transpose();
        let from = from.map_err(|error| format!("`from`: {error}"))?;
        let line = match given.line {
            Some(_) if from.is_some() => return Err("`from` and `line` are two points; pass one".to_owned()),
            Some(line) => {
                let line = (line as usize).checked_sub(first_line).filter(|line| *line > 0);
                Some(line.ok_or("`line` is not a line of this program")? as u32)
            }
            None => None,
        };
        let variables = given.variables.iter();
        let variables =
            variables.map(|(name, value)| (name.into(), ProgramValue::from_json(value))).collect();
        let replies = given.replies.iter().map(|reply| {
            let at: Point = reply.at.parse().map_err(|error| format!("`at` of a reply: {error}"))?;
            Ok((at, Arc::from(reply.text.as_str())))
        });
        let replies = replies.collect::<Result<_, String>>()?;
        let by = Some(prose_run::questions::user(AnswerSource::Editor));
        let consent = match (plan_only, given.confirmed) {
            (true, _) => Consent::PlanOnly,
            (false, true) => Consent::Given,
            (false, false) => Consent::Ask,
        };
        let first_line = u32::try_from(first_line).unwrap_or_default();
        Ok(Self { request: ForkRequest { from, variables, replies, by, first_line }, line, consent })
    }

    /// Plans the fork of the run that `request` starts from, and asks the user. `stopped` ends the question.
    pub(super) fn decide(
        mut self,
        request: &mut RunRequest,
        first_line: usize,
        client: &ClientRequests,
        stopped: &mut UnboundedReceiver<Stop>,
    ) -> Result<Decision, String> {
        let Start::From(from) = &request.start else { return Ok(Decision::Start) };
        let recorded = from.recorded.clone();
        if let Some(line) = self.line {
            let before = recorded.program.as_deref().unwrap_or_default();
            let map = LineMap::new(before, &request.program.text);
            self.request.from = Some(Point::of_line(map.nearest_before(line - 1) + 1));
        }
        let fork = plan_fork(recorded, self.request).map_err(|error| error.for_editor())?;
        request.start = Start::From(Box::new(fork.from.clone()));
        let plan = describe_fork(&fork, request);
        let plan = plan.map_err(|error| error.to_string())?;
        match self.consent {
            Consent::Given => Ok(Decision::Start),
            Consent::PlanOnly => {
                let line =
                    fork.site.filter(|site| site.program == 0).map(|site| first_line + site.line as usize);
                let asked = plan.rest.is_none().then(|| {
                    json!({ "sessions": fork.asked_sessions, "decisions": fork.asked_decisions, "usage": fork.expected })
                });
                Ok(Decision::Result(json!({
                    "run": fork.from.recorded.head.run,
                    "title": plan.title,
                    "details": plan.details,
                    "notes": plan.notes,
                    "line": line,
                    "place": fork.place,
                    "event": fork.from.before,
                    "harness": plan.harness,
                    "reused": { "sessions": fork.reused_sessions, "decisions": fork.reused_decisions, "usage": fork.reused },
                    "asked": asked,
                    "estimate": plan.rest.map(|rest| rest.to_json(&request.program.name)),
                })))
            }
            Consent::Ask if is_confirmed(&plan, client, stopped)? => Ok(Decision::Start),
            Consent::Ask => Ok(Decision::Result(Value::Null)),
        }
    }
}

/// Asks the user of a client that does not ask by itself.
fn is_confirmed(
    plan: &ForkPlan,
    client: &ClientRequests,
    stopped: &mut UnboundedReceiver<Stop>,
) -> Result<bool, String> {
    let lines = [&plan.title].into_iter().chain(&plan.details).chain(&plan.notes);
    let message = lines.map(String::as_str).collect::<Vec<_>>().join("\n");
    let params = json!({ "type": MessageType::INFO, "message": message, "actions": [{ "title": START }] });
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .map_err(|error| format!("the question whether to start it cannot be shown: {error}"))?;
    let reply = runtime.block_on(async {
        tokio::select! {
            reply = client.ask("window/showMessageRequest", params) => reply,
            _ = stopped.recv() => Some(Value::Null),
        }
    });
    match reply {
        Some(reply) => Ok(reply.get("title").and_then(Value::as_str) == Some(START)),
        None => Err(format!(
            "the fork is not started, because the client cannot ask whether to start it. Pass `\"confirmed\": true` to start it. {message}"
        )),
    }
}
