//! Names get values (R14 to R21).

use std::rc::Rc;
use std::sync::Arc;

use prose_analysis::model::{NameId, NameKind, Target as Assigned, Value as ValueNode};
use prose_syntax::suggest::nearest;
use prose_syntax::text;
use smol_str::SmolStr;

use super::scope::{Found, Scope, Target, Variable};
use super::{Cx, Exec};
use crate::effect::{BindingKind, RequestId};
use crate::error::ErrorKind;
use crate::event::EventKind;
use crate::structure;
use crate::value::Value;

/// How many characters of an earlier value an event shows.
const MAX_SHOWN: usize = 60;

impl Cx {
    /// `let x = …`, `const { a, b } = …`
    pub(super) async fn declare(
        &self,
        is_const: bool,
        names: &[NameId],
        destructured: bool,
        value: Option<ValueNode>,
    ) -> Exec<Value> {
        let kind = if is_const { BindingKind::Const } else { BindingKind::Let };
        if !destructured {
            let Some(name) = names.first() else { return Ok(Value::Null) };
            let name = self.name_text(*name);
            let target = self.target(&self.scope, name, kind, !is_const);
            return self.bind_result(target, value).await;
        }
        let whole = self.value(value).await?;
        let names: Vec<SmolStr> = names.iter().map(|name| self.name_text(*name)).collect();
        let mut parts = Vec::new();
        for name in &names {
            let Some(part) = structure::field(&whole, name) else {
                let has = match &whole {
                    Value::Object(entries) if !entries.is_empty() => {
                        let keys: Vec<_> = entries.iter().map(|(key, _)| format!("`{key}`")).collect();
                        format!("it has {}", keys.join(", "))
                    }
                    other => format!("it is {}", article(other.kind())),
                };
                return self.fail(
                    ErrorKind::UnknownName,
                    format!("the value that is taken apart here has no `{name}`: {has}"),
                );
            };
            parts.push(part);
        }
        for (name, part) in names.into_iter().zip(parts) {
            let target = self.target(&self.scope, name, kind, !is_const);
            self.bind(&target, part, None);
        }
        Ok(whole)
    }

    /// `x = …`
    pub(super) async fn assign(&self, target: Option<Assigned>, value: Option<ValueNode>) -> Exec<Value> {
        let body = self.program().body(self.at);
        match target {
            None => self.value(value).await,
            Some(Assigned::Local(name)) => {
                let name = body[name].text.clone();
                self.fail(
                    ErrorKind::Constant,
                    format!("`{name}` belongs to the body around it and keeps its value there; give the new value a name of its own"),
                )
            }
            Some(Assigned::Name(id)) => {
                let name = self.name_text(id);
                if body[id].kind == NameKind::Branch {
                    let target = self.target(&self.scope, name, BindingKind::Let, true);
                    return self.bind_result(target, value).await;
                }
                let scope = self.scope.to_assign(&name);
                let known = scope.get(&name);
                if known.as_ref().is_some_and(|known| !known.mutable) {
                    return self.fail(
                        ErrorKind::Constant,
                        format!("`{name}` is a constant and cannot get another value; declare it with `let` if it should"),
                    );
                }
                let kind = known.map_or(BindingKind::Let, |known| known.kind);
                let target = self.target(&scope, name, kind, true);
                self.bind_result(target, value).await
            }
        }
    }

    /// Gives variables the values that a person chose for this statement. A constant gets another value, too: it is the person's word.
    pub(super) fn change_variables(&self) {
        let all = self.run.world.settings.changed_variables().enumerate();
        for (nth, changed) in all.filter(|(_, changed)| self.run.is_at(&changed.place, &self.place)) {
            self.run.changed.borrow_mut().insert(nth);
            let scope = self.scope.to_assign(&changed.name);
            let known = scope.get(&changed.name);
            let kind = known.as_ref().map_or(BindingKind::Let, |known| known.kind);
            let mutable = known.is_none_or(|known| known.mutable);
            let target = self.target(&scope, changed.name.clone(), kind, mutable);
            self.bind(&target, changed.value.clone(), None);
        }
    }

    /// A warning for each variable that a person wants to be set at a statement that was not executed.
    pub(super) fn not_changed(&self) -> Vec<String> {
        let all = self.run.world.settings.changed_variables().enumerate();
        let missing = all.filter(|(nth, _)| !self.run.changed.borrow().contains(nth));
        missing
            .map(|(_, changed)| {
                format!(
                    "`{}` was not set as requested, because the statement at {} was not executed",
                    changed.name, changed.place
                )
            })
            .collect()
    }

    pub(super) fn name_text(&self, name: NameId) -> SmolStr {
        self.program().body(self.at)[name].text.clone()
    }

    /// Where a value goes that gets a name.
    pub(super) fn target(
        &self,
        scope: &Rc<Scope>,
        name: SmolStr,
        kind: BindingKind,
        mutable: bool,
    ) -> Target {
        let was = scope.get(&name).map(|known| beginning(&known.value));
        let binding = self.binding(scope, &name, kind);
        Target { scope: Rc::clone(scope), name, binding, mutable, anonymous: false, was }
    }

    /// Works a value out and binds it.
    pub(super) async fn bind_result(&self, target: Target, value: Option<ValueNode>) -> Exec<Value> {
        let (value, reply) = self.value_for(value, Some(&target)).await?;
        let value = self.kept(value)?;
        self.bind(&target, value.clone(), reply);
        Ok(value)
    }

    /// A value that can be kept: whatever is bound is written to journals, and has to be read again from there.
    pub(super) fn kept(&self, value: Value) -> Exec<Value> {
        if value.is_too_large() {
            return self.fail(ErrorKind::Type, "the value is too large or too deeply nested to be kept");
        }
        Ok(value)
    }

    /// Binds a value that is there already.
    pub(super) fn bind_value(&self, scope: &Rc<Scope>, name: SmolStr, kind: BindingKind, value: Value) {
        let mutable = matches!(kind, BindingKind::Let | BindingKind::Output);
        self.bind(&self.target(scope, name, kind, mutable), value, None);
    }

    /// Binds a value. `reply` is the request whose reply the value is, as it stands.
    pub(super) fn bind(&self, target: &Target, value: Value, reply: Option<RequestId>) {
        let variable = Variable {
            name: target.name.clone(),
            value: value.clone(),
            mutable: target.mutable,
            kind: target.binding.kind,
            path: Some(Arc::clone(&target.binding.path)),
        };
        target.scope.remember(variable.clone());
        if !target.anonymous {
            target.scope.set(variable);
        }
        self.emit(EventKind::Bound {
            binding: target.binding.clone(),
            value,
            reply,
            was: target.was.clone(),
            mutable: target.mutable,
            anonymous: target.anonymous,
        });
    }

    /// Looks a variable up: a loop, catch or pipeline variable of a body around, else one of the frames (R16, R18).
    pub(super) fn look_up(&self, name: &str) -> Option<Found> {
        let mut local = self.locals.as_ref();
        while let Some(here) = local {
            if here.name == name {
                return Some(Found { value: here.value.clone(), ..Found::default() });
            }
            local = here.outer.as_ref();
        }
        let found = self.scope.look_up(name)?;
        match found.elsewhere {
            Some(frame) if found.left_over => self.warn(format!(
                "`{name}` was bound in a block that has ended (execution_id {frame}); its value there is used"
            )),
            // That names of the file are seen everywhere needs no word.
            Some(frame) if frame > 0 => self.emit(EventKind::Resolved { name: name.into(), frame }),
            _ => {}
        }
        Some(found)
    }

    /// The value of a variable that has to be there.
    pub(super) fn variable(&self, name: &str) -> Exec<Found> {
        if let Some(found) = self.look_up(name) {
            return Ok(found);
        }
        let visible = self.scope.around().flat_map(|scope| scope.variables());
        let visible: Vec<SmolStr> = visible.map(|variable| variable.name).collect();
        let hint = nearest(name, &visible, |name| name).map_or_else(
            || "it has not been bound yet at this point of the run".to_owned(),
            |near| format!("`{near}` was probably meant"),
        );
        self.fail(ErrorKind::UnknownName, format!("nothing is called `{name}` here: {hint}"))
    }
}

/// The beginning of a value, on one line.
pub(super) fn beginning(value: &Value) -> SmolStr {
    match value {
        Value::Text(text) => text::beginning(text, MAX_SHOWN).into(),
        value => text::beginning(&value.to_string(), MAX_SHOWN).into(),
    }
}

pub(super) fn article(noun: &str) -> String {
    match noun {
        "null" | "text" => noun.to_owned(),
        _ if noun.starts_with(['a', 'e', 'i', 'o', 'u']) => format!("an {noun}"),
        _ => format!("a {noun}"),
    }
}
