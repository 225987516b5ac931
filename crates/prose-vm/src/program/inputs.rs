//! The inputs of a program and the keys they can be given by (R88, R89), and the names of its outputs.

use prose_analysis::model::{Body, Expr, ExprId, Stmt, StmtId, Target, Value};
use prose_syntax::suggest::nearest;
use prose_syntax::text::first_line;
use smol_str::{SmolStr, format_smolstr};

use super::{Program, TopLevel, is_definition};
use crate::choices;
use crate::value;

/// An `input "Which style?"` used as a value.
#[derive(Debug)]
pub(super) struct UnnamedInput {
    top: u32,
    expr: ExprId,
    /// The keys it can be given by, the preferred one first.
    keys: Vec<SmolStr>,
}

impl Program {
    /// The key of each input, also in bodies: named inputs in source order, then the unnamed ones.
    pub fn inputs(&self) -> Vec<SmolStr> {
        let mut keys = self.named_inputs();
        for key in self.unnamed.iter().filter_map(|input| input.keys.first()) {
            if !keys.contains(key) {
                keys.push(key.clone());
            }
        }
        keys
    }

    fn named_inputs(&self) -> Vec<SmolStr> {
        let mut names: Vec<SmolStr> = Vec::new();
        for (body, stmt) in self.stmts() {
            if let Stmt::Input { name: Some(name), .. } = stmt
                && !names.contains(&body[*name].text)
            {
                names.push(body[*name].text.clone());
            }
        }
        names
    }

    pub(crate) fn has_named_input(&self, name: &str) -> bool {
        self.named_inputs().iter().any(|input| input == name)
    }

    /// The keys of an unnamed input, the preferred one first: the variable that receives it, and its number among such inputs.
    pub(crate) fn keys_of_input(&self, top: u32, expr: ExprId) -> &[SmolStr] {
        let found = self.unnamed.iter().find(|input| (input.top, input.expr) == (top, expr));
        found.map_or(&[], |input| &input.keys)
    }

    pub(super) fn unnamed_inputs(&self) -> Vec<UnnamedInput> {
        let named = self.named_inputs();
        let mut unnamed = Vec::new();
        for (top, TopLevel { body, .. }) in self.statements.iter().enumerate() {
            let inputs = body.exprs().filter(|(_, data)| matches!(data.expr, Expr::Input(_)));
            let mut inputs: Vec<_> = inputs.collect();
            inputs.sort_by_key(|(_, data)| data.range.start());
            for (expr, _) in inputs {
                let number = format_smolstr!("{}", unnamed.len() + 1);
                let variable = variable_of(body, expr).filter(|variable| !named.contains(variable));
                let keys = variable.into_iter().chain([number]).collect();
                unnamed.push(UnnamedInput { top: top as u32, expr, keys });
            }
        }
        unnamed
    }

    /// The keys of the inputs that the program requests before its first effect and that are neither given nor optional (B3).
    pub fn missing_at_start(&self, is_given: impl Fn(&SmolStr) -> bool) -> Vec<SmolStr> {
        let mut missing = Vec::new();
        for (top, TopLevel { body, .. }) in self.statements.iter().enumerate() {
            let (keys, prompt) = match &body[StmtId::ROOT].stmt {
                Stmt::Input { name: Some(name), description, .. } => {
                    (std::slice::from_ref(&body[*name].text), *description)
                }
                stmt if is_definition(stmt) => continue,
                Stmt::Let { value: Some(Value::Expr(value)), .. } => match &body[*value].expr {
                    Expr::Input(prompt) => (self.keys_of_input(top as u32, *value), *prompt),
                    _ => break,
                },
                _ => break,
            };
            let prompt = prompt.and_then(|prompt| body.text(prompt)?.value.as_deref());
            if !prompt.is_some_and(is_optional) && !keys.iter().any(&is_given) {
                missing.extend(keys.first().cloned());
            }
        }
        missing
    }

    /// The value of an input in the one form that the program receives. If its prompt offers answers, others are an error, as far as the prompt is known
    /// before the program runs.
    pub fn input_value(&self, name: &str, value: &value::Value) -> Result<value::Value, String> {
        let prompt = self.prompt_of_input(name).unwrap_or_default();
        // The last answers count, so those after all values are known.
        let choices = choices::choices(prompt.rsplit_once('}').map_or(prompt, |(_, rest)| rest));
        let text = value.to_string();
        if text.trim().is_empty() && is_optional(prompt) {
            return Ok(value.clone());
        }
        choices::value_among(&choices, value).ok_or_else(|| {
            let listed = choices::listed(&choices);
            format!(
                "`{}` is not one of the answers to input `{name}`; choose one of {listed}",
                first_line(&text)
            )
        })
    }

    /// The prompt of an input, as it is written.
    pub fn prompt_of_input(&self, name: &str) -> Option<&str> {
        let named = self.statements.iter().find_map(|top| {
            top.body.stmts().find_map(|(_, data)| match &data.stmt {
                Stmt::Input { name: Some(known), description, .. } if top.body[*known].text == name => {
                    Some((&top.body, (*description)?))
                }
                _ => None,
            })
        });
        let unnamed = || {
            let input = self.unnamed.iter().find(|input| input.keys.iter().any(|key| key == name))?;
            let body = &self.statements.get(input.top as usize)?.body;
            match &body[input.expr].expr {
                Expr::Input(prompt) => Some((body, (*prompt)?)),
                _ => None,
            }
        };
        let (body, prompt) = named.or_else(unnamed)?;
        body.text(prompt)?.value.as_deref()
    }

    /// The error for an input that the program does not have; `None` if it has one of that name. An unknown name is most likely a typo.
    pub fn refusal_of_input(&self, name: &str) -> Option<String> {
        let names = self.inputs();
        let is_unnamed = || self.unnamed.iter().any(|input| input.keys.iter().any(|key| key == name));
        if names.iter().any(|input| input == name) || is_unnamed() {
            return None;
        }
        Some(unknown_name("input", name, &names, "it has none"))
    }

    /// The names of its outputs, in the order of the text.
    pub fn outputs(&self) -> &[SmolStr] {
        &self.contract.outputs
    }

    /// The error for a named output that the program does not have; `None` if it has one of that name.
    pub fn refusal_of_output(&self, name: &str) -> Option<String> {
        let names = &self.contract.outputs;
        (!names.iter().any(|output| output == name))
            .then(|| unknown_name("output", name, names, "it has none"))
    }
}

/// The error for a name of an input or output that the program does not have: which one was probably meant, or which ones it has. `none` is the hint for a
/// program without any.
pub fn unknown_name(what: &str, name: &str, known: &[SmolStr], none: &str) -> String {
    let hint = match nearest(name, known, |name| name) {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => none.to_owned(),
        None => format!("it has `{}`", known.join("`, `")),
    };
    format!("the program has no {what} `{name}`; {hint}")
}

/// Whether the description marks an input as optional (B3).
pub(crate) fn is_optional(description: &str) -> bool {
    description.trim_start().get(..8).is_some_and(|word| word.eq_ignore_ascii_case("optional"))
}

/// The variable whose value is exactly one input.
fn variable_of(body: &Body, expr: ExprId) -> Option<SmolStr> {
    let is_it = |value: &Option<Value>| *value == Some(Value::Expr(expr));
    body.stmts().find_map(|(_, data)| match &data.stmt {
        Stmt::Let { names, destructured: false, value, .. } if is_it(value) => {
            Some(body[*names.first()?].text.clone())
        }
        Stmt::Assign { target: Some(Target::Name(name)), value } if is_it(value) => {
            Some(body[*name].text.clone())
        }
        _ => None,
    })
}
