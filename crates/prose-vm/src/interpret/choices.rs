//! `choice`: a model picks one of several options (R67).

use prose_analysis::model::{ChoiceOption, ExprId, ListId};
use smol_str::SmolStr;

use super::{Cx, Exec};
use crate::effect::{Effect, Outcome, Question};
use crate::error::ErrorKind;
use crate::event::EventKind;
use crate::value::Value;

/// What a model chose.
pub(super) struct ChosenOption {
    pub(super) label: SmolStr,
    pub(super) reason: String,
    body: Option<ListId>,
}

impl Cx {
    pub(super) async fn choice(&self, criterion: Option<ExprId>, options: &[ChoiceOption]) -> Exec<Value> {
        let chosen = self.choose(criterion, options).await?;
        self.list(chosen.body).await
    }

    /// Has a model choose, without executing what it chooses.
    pub(super) async fn choose(
        &self,
        criterion: Option<ExprId>,
        options: &[ChoiceOption],
    ) -> Exec<ChosenOption> {
        let criterion = self.optional_text(criterion).await?;
        // Of options with the same label the first one counts.
        let mut labels: Vec<SmolStr> = Vec::new();
        let mut bodies = Vec::new();
        for option in options {
            let Some(label) = option.label else { continue };
            let label = SmolStr::from(self.text(label).await?.as_ref());
            if !labels.contains(&label) {
                labels.push(label);
                bodies.push(option.body);
            }
        }
        if labels.is_empty() {
            return self.fail(
                ErrorKind::Undecided,
                "there are no options to choose from: a `choice` needs lines such as `option \"label\":`",
            );
        }
        let (text, context) = (criterion.clone(), self.evidence());
        let question = Question { labels: labels.clone(), ..Question::new(text, context) };
        let choice = match self.step("choice").request(Effect::Choose(question.into())).await {
            Outcome::Choice(choice) => choice,
            outcome => return self.unexpected(&outcome),
        };
        let (Some(label), Some(body)) = (labels.get(choice.index), bodies.get(choice.index)) else {
            return self.fail(
                ErrorKind::Undecided,
                format!("option {} was chosen, and there are {}", choice.index + 1, labels.len()),
            );
        };
        let (label, body, reason) = (label.clone(), *body, choice.reason);
        self.emit(EventKind::Chosen { criterion, label: label.clone(), reason: reason.clone() });
        Ok(ChosenOption { label, reason, body })
    }
}
