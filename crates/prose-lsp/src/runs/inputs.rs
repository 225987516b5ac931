//! Inputs of runs: from the command, or asked from the user.

use std::collections::HashMap;

use prose_vm::effect::{Failure, InputRequest};
use prose_vm::error::ErrorKind;
use prose_vm::harness::HarnessFuture;
use prose_vm::runner::Inputs;
use prose_vm::value::Value;
use serde_json::json;
use smol_str::SmolStr;
use tokio::sync::mpsc::UnboundedSender;

use crate::protocol::client_requests::ClientRequests;
use crate::runs::registry::Stop;

/// The inputs of a run.
pub(super) struct EditorInputs {
    pub(super) run: SmolStr,
    pub(super) given: HashMap<SmolStr, Value>,
    /// The client, if it asks.
    pub(super) client: Option<ClientRequests>,
    /// Ends the run. A program that failed for want of an input would have to be started again; one that was stopped continues with it.
    pub(super) stop: UnboundedSender<Stop>,
}

impl Inputs for EditorInputs {
    fn give<'a>(&'a self, input: &'a InputRequest) -> HarnessFuture<'a, Value> {
        Box::pin(async move {
            if let Some(value) = input.keys.iter().find_map(|key| self.given.get(key)) {
                return Ok(value.clone());
            }
            let Some(client) = &self.client else {
                return self.without(input, "this editor does not ask for inputs").await;
            };
            let question = json!({
                "run": self.run,
                "name": input.name,
                "prompt": input.prompt,
                "mayRephrase": input.may_rephrase,
                "optional": input.optional,
            });
            let answer = client.ask("prose/input", question).await;
            match answer.as_ref().and_then(|answer| answer.get("value")).filter(|value| !value.is_null()) {
                Some(value) => Ok(Value::from_json(value)),
                None => self.without(input, "it was not given").await,
            }
        })
    }
}

impl EditorInputs {
    /// Continues without an input that the program can do without, and stops the run otherwise.
    async fn without(&self, input: &InputRequest, why: &str) -> Result<Value, Failure> {
        if input.optional {
            return Ok(Value::Null);
        }
        let reason = match input.keys.first() {
            Some(name) => format!(
                "the program waits for the input `{name}` ({}), and {why}. Resume the run with it: \
                 `prose.resume` with {{ \"inputs\": {{ \"{name}\": … }} }}",
                input.prompt
            ),
            None => format!(
                "the program asks a person ({}), and {why}. Resume the run in an editor that asks for inputs, or with `prose resume` in a terminal",
                input.prompt
            ),
        };
        if self.stop.send(Stop::NoInput(reason.clone())).is_ok() {
            // The run ends before this does.
            std::future::pending::<()>().await;
        }
        Err(Failure { kind: ErrorKind::MissingInput, message: reason })
    }
}
