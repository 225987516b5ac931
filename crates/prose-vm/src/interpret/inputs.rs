//! Inputs: given by the caller, or asked for when they are reached (R88 to R90).

use prose_analysis::model::{ExprId, NameId, TextKind};

use super::{Cx, Exec};
use crate::effect::{BindingKind, Effect, InputRequest, Outcome};
use crate::error::ErrorKind;
use crate::event::EventKind;
use crate::program::is_optional;
use crate::value::Value;

impl Cx {
    /// `input topic: "What to research"`
    pub(super) async fn input(&self, name: Option<NameId>, description: Option<ExprId>) -> Exec<Value> {
        let Some(name) = name else { return Ok(Value::Null) };
        let name = self.name_text(name);
        let given = self.instance.inputs.iter().find(|(given, _)| *given == name);
        if let Some((_, value)) = given {
            // An input of the program was bound before its first statement, one inside a body is bound where it stands.
            if !self.instance.root.has(&name) {
                self.bind_value(&self.scope, name, BindingKind::Input, value.clone());
            }
            return Ok(value.clone());
        }
        let (prompt, may_rephrase) = match description {
            Some(description) => {
                let text = self.program().body(self.at).text(description);
                let is_discretion = text.is_some_and(|text| text.kind == TextKind::Discretion);
                (self.text(description).await?, is_discretion)
            }
            None => (name.as_str().into(), false),
        };
        let optional = is_optional(&prompt);
        let request = InputRequest {
            name: Some(name.clone()),
            keys: vec![name.clone()],
            prompt,
            may_rephrase,
            optional,
        };
        let value = self.ask_for_input(request).await?;
        self.bind_value(&self.scope, name, BindingKind::Input, value.clone());
        Ok(value)
    }

    /// `input "Which style?"` as a value
    pub(super) async fn unnamed_input(&self, id: ExprId, prompt: Option<ExprId>) -> Exec<Value> {
        let keys = self.program().keys_of_input(self.at.top, id).to_vec();
        if let Some((_, value)) = self.instance.inputs.iter().find(|(given, _)| keys.contains(given)) {
            return Ok(value.clone());
        }
        let prompt = self.optional_text(prompt).await?;
        let optional = is_optional(&prompt);
        let request = InputRequest { name: None, keys, prompt, may_rephrase: false, optional };
        let at = u32::from(self.program().body(self.at)[id].range.start());
        self.step(format_args!("e{at}")).ask_for_input(request).await
    }

    pub(super) async fn ask_for_input(&self, request: InputRequest) -> Exec<Value> {
        let name = request.name.clone();
        let cx = self.step("input");
        self.emit(EventKind::InputAsked {
            request: cx.next_request(),
            name: name.clone(),
            prompt: request.prompt.clone(),
        });
        match cx.request(Effect::Input(request.into())).await {
            // An input that the caller of an imported program leaves out cannot be given on the command line.
            Outcome::Failed(failure)
                if failure.kind == ErrorKind::MissingInput && self.instance.number > 0 =>
            {
                let name = name.unwrap_or_else(|| "its input".into());
                self.fail(
                    ErrorKind::MissingInput,
                    format!("the program was called without input `{name}`, which is required; pass it in the call: `({name}: …)`"),
                )
            }
            Outcome::Value(value) => {
                self.emit(EventKind::InputGiven { name, value: value.clone() });
                Ok(value)
            }
            outcome => self.unexpected(&outcome),
        }
    }
}
