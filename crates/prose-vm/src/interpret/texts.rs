//! Texts with the references in braces filled in (R12, R13).

use std::sync::Arc;

use prose_analysis::model::{ExprId, Interpolation, Step};
use smol_str::SmolStr;

use super::context::{ContextValue, MAX_INLINE};
use super::{Cx, Exec};
use crate::program::Piece;
use crate::structure;
use crate::value::Value;

impl Cx {
    /// A text with every reference filled in.
    pub(super) async fn text(&self, expr: ExprId) -> Exec<Arc<str>> {
        self.render(expr, None).await
    }

    /// The same for one that may be missing, and is empty then.
    pub(super) async fn optional_text(&self, expr: Option<ExprId>) -> Exec<Arc<str>> {
        match expr {
            Some(expr) => self.text(expr).await,
            None => Ok("".into()),
        }
    }

    /// A text for a session: a value that is long goes into the context, and the text refers to it (R13).
    pub(super) async fn session_text(&self, expr: ExprId, long: &mut Vec<ContextValue>) -> Exec<Arc<str>> {
        self.render(expr, Some(long)).await
    }

    /// A text that has no references, as most have; it is shared with the program.
    pub(super) fn text_without_references(&self, expr: ExprId) -> Option<Arc<str>> {
        let program = self.program();
        let text = program.body(self.at).text(expr)?;
        match program.texts(self.at, expr).map(|pieces| &pieces[..]) {
            None => Some(text.value.as_deref().unwrap_or_default().into()),
            Some([]) => Some("".into()),
            Some([Piece::Text(text)]) => Some(Arc::clone(text)),
            Some(_) => None,
        }
    }

    async fn render(&self, expr: ExprId, mut long: Option<&mut Vec<ContextValue>>) -> Exec<Arc<str>> {
        if let Some(text) = self.text_without_references(expr) {
            return Ok(text);
        }
        let program = self.program();
        let (Some(text), Some(pieces)) = (program.body(self.at).text(expr), program.texts(self.at, expr))
        else {
            // Anything else that stands where a text does, such as a variable.
            return Ok(self.expr(expr).await?.to_string().into());
        };
        let mut out = String::new();
        for piece in pieces.iter() {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Hole(hole) => {
                    let Some(interpolation) = text.interpolations.get(*hole) else { continue };
                    let written = program.source(self.at, interpolation.range);
                    match self.interpolated(interpolation).await? {
                        None => out.push_str(written),
                        Some((value, path)) => {
                            let shown = value.to_string();
                            match &mut long {
                                Some(long) if shown.chars().count() >= MAX_INLINE => {
                                    let name = SmolStr::from(written.trim_matches(['{', '}']));
                                    out.push_str(&format!("[{name}, see the context]"));
                                    if !long.iter().any(|item| item.name == name) {
                                        long.push(ContextValue {
                                            path,
                                            is_foreign: true,
                                            ..ContextValue::new(name, value)
                                        });
                                    }
                                }
                                _ => out.push_str(&shown),
                            }
                        }
                    }
                }
            }
        }
        Ok(out.into())
    }

    /// The value of a reference in braces, and the file of the variable if it is nothing but one. None where the name is unknown: then the
    /// braces are text (A10).
    async fn interpolated(&self, interpolation: &Interpolation) -> Exec<Option<(Value, Option<Arc<str>>)>> {
        let program = Arc::clone(self.program());
        let body = program.body(self.at);
        let Some(found) = self.look_up(&body[interpolation.root].text) else { return Ok(None) };
        let mut value = found.value;
        for step in &interpolation.path {
            value = match step {
                Step::Field(name) => match structure::field(&value, &name.text) {
                    Some(value) => value,
                    None => self.field(&value, &name.text, name.range.start()).await?,
                },
                Step::Number(digits) => {
                    let index = Value::text(digits.text.as_str());
                    self.element(&value, &index, digits.range.start()).await?
                }
                Step::Name(name) => {
                    let Some(index) = self.look_up(&body[*name].text) else { return Ok(None) };
                    self.element(&value, &index.value, body[*name].range.start()).await?
                }
            };
        }
        let path = found.path.filter(|_| interpolation.path.is_empty());
        Ok(Some((value, path)))
    }
}
