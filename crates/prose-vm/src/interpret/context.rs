//! What is passed to sessions and shown to those who judge (R35 to R41).

use std::path::Path;
use std::sync::Arc;

use prose_analysis::model::{Expr, ExprId, Property, TextKind, Value as ValueNode};
use smol_str::SmolStr;

use super::scope::{Found, MAX_RECENT};
use super::{Cx, Exec};
use crate::effect::{ContextItem, Effect, FileUse, Outcome, Summary, SummaryLength, digest};
use crate::error::ErrorKind;
use crate::value::{Plain, Value};

/// From how many characters on a value is not put into a text but passed as context (R13).
pub(super) const MAX_INLINE: usize = 2000;

/// How many bytes of results a model judges by, at most, where they are passed as texts: a question is not worth more of its attention.
const MAX_EVIDENCE: usize = 40_000;

/// The maximum length in bytes of a value that a decision gets as text from agents that read files: a question is faster without a tool.
const MAX_INLINE_EVIDENCE: usize = 8 * 1024;

/// From how many characters on only the essentials are passed (R38).
const MAX_KEY_POINTS: usize = 8000;

/// A value on its way into a context.
pub(super) struct ContextValue {
    pub(super) name: SmolStr,
    pub(super) value: Value,
    /// Where the run keeps the value. A [`Value::File`] with one is a file of the run itself, which may well not be there yet.
    pub(super) path: Option<Arc<str>>,
    /// Whether it comes from outside of the program: an input, or a file.
    pub(super) is_foreign: bool,
    /// Whether it is a file that the program names itself, with no part of the path filled in.
    pub(super) is_exact: bool,
}

impl ContextValue {
    /// A value of the program that no file has.
    pub(super) fn new(name: SmolStr, value: Value) -> Self {
        Self { name, value, path: None, is_foreign: false, is_exact: false }
    }
}

impl Cx {
    /// What the `context` of a session passes.
    pub(super) async fn context(&self, property: &Property, by_reference: bool) -> Exec<Vec<ContextValue>> {
        let mut passed = Vec::new();
        if let Some(value) = property.value {
            self.pass(None, ValueNode::Expr(value), by_reference, &mut passed).await?;
        }
        for entry in property.entries.iter().flatten() {
            let Some(value) = entry.value else { continue };
            if entry.name.text == "file" {
                let path = self.text(value).await?;
                let name = path.rsplit('/').next().unwrap_or_default().into();
                let body = self.program().body(self.at);
                let is_exact = body.text(value).is_some_and(|text| text.interpolations.is_empty());
                let value = ContextValue::new(name, Value::File(path));
                passed.push(ContextValue { is_foreign: true, is_exact, ..value });
            } else {
                self.pass(Some(entry.name.text.clone()), ValueNode::Expr(value), by_reference, &mut passed)
                    .await?;
            }
        }
        Ok(passed)
    }

    /// Values in the form in which a session gets them.
    pub(super) async fn items(
        &self,
        passed: Vec<ContextValue>,
        by_reference: bool,
    ) -> Exec<Vec<ContextItem>> {
        let mut items = Vec::with_capacity(passed.len());
        for (nth, value) in passed.into_iter().enumerate() {
            items.push(self.step(format_args!("k{nth}")).item(value, by_reference).await?);
        }
        Ok(items)
    }

    /// Adds what an expression of a context passes. Arrays and objects pass each of their parts.
    async fn pass(
        &self,
        name: Option<SmolStr>,
        node: ValueNode,
        by_reference: bool,
        passed: &mut Vec<ContextValue>,
    ) -> Exec<()> {
        let program = Arc::clone(self.program());
        let body = program.body(self.at);
        let ValueNode::Expr(id) = node else {
            let value = self.value(Some(node)).await?;
            let name = name.unwrap_or_else(|| numbered("value", passed.len()));
            passed.push(ContextValue::new(name, value));
            return Ok(());
        };
        match &body[id].expr {
            Expr::Array(items) if name.is_none() => {
                for item in items {
                    Box::pin(self.pass(None, *item, by_reference, passed)).await?;
                }
            }
            Expr::Object(entries) if name.is_none() => {
                for entry in entries {
                    let key = entry.key.as_ref().map(|key| SmolStr::from(key.text.trim_matches('"')));
                    let Some(value) = entry.value else { continue };
                    let key = key.unwrap_or_else(|| numbered("value", passed.len()));
                    Box::pin(self.pass(Some(key), value, by_reference, passed)).await?;
                }
            }
            Expr::Name(reference) => {
                let text = body[*reference].text.clone();
                let label = name.unwrap_or_else(|| text.clone());
                match self.look_up(&text) {
                    Some(Found { value, path, is_input, .. }) => {
                        let value = ContextValue::new(label, value);
                        passed.push(ContextValue { path, is_foreign: is_input, ..value });
                    }
                    None if program.agent(&text).is_some() => {
                        self.pass_agent(label, &text, by_reference, passed)?
                    }
                    // An error that says what was probably meant.
                    None => drop(self.variable(&text)?),
                }
            }
            Expr::Text(text) if text.kind != TextKind::Discretion => {
                let name = name.unwrap_or_else(|| numbered("note", passed.len()));
                passed.push(ContextValue::new(name, Value::Text(self.text(id).await?)));
            }
            _ => {
                let value = self.expr(id).await?;
                let name = name.or_else(|| self.last_segment(id));
                let name = name.unwrap_or_else(|| numbered("value", passed.len()));
                passed.push(ContextValue::new(name, value));
            }
        }
        Ok(())
    }

    /// `b` of `a.b`, which is what a shorthand is called (C15).
    fn last_segment(&self, id: ExprId) -> Option<SmolStr> {
        match &self.program().body(self.at)[id].expr {
            Expr::Field { field: Some(field), .. } => Some(field.text.clone()),
            _ => None,
        }
    }

    /// An agent in a context passes its memory, or what it said last (A12).
    fn pass_agent(
        &self,
        label: SmolStr,
        agent: &SmolStr,
        by_reference: bool,
        passed: &mut Vec<ContextValue>,
    ) -> Exec<()> {
        if by_reference
            && let Some(at) = self.program().agent(agent)
            && let Some(place) = self.memory_place(agent, at)?
        {
            let path = self.memory_file(&place, "memory.md");
            let value = ContextValue::new(label, Value::File(Arc::clone(&path)));
            passed.push(ContextValue { path: Some(path), is_foreign: true, ..value });
            return Ok(());
        }
        match self.instance.replies.borrow().get(agent) {
            Some(value) => passed.push(ContextValue::new(label, value.clone())),
            None => self.warn(format!("agent `{agent}` has no reply yet and is left out of the context")),
        }
        Ok(())
    }

    /// A value as it is passed: its file where agents read files (R36), else the value, shortened if it is long (R38).
    async fn item(&self, passed: ContextValue, by_reference: bool) -> Exec<ContextItem> {
        let ContextValue { name, value, path, is_exact, .. } = passed;
        if value == Value::Null {
            return Ok(ContextItem { name, path: None, text: None, digest: None });
        }
        if let Value::File(file) = value {
            // A file of the run itself is in no working tree.
            let folder = self.tree_folder().filter(|_| path.is_none());
            let place = match &folder {
                Some(folder) if !is_elsewhere(&file) => {
                    self.path_from_root(&format!("{folder}/{}", file.strip_prefix("./").unwrap_or(&file)))
                }
                _ => Arc::clone(&file),
            };
            let grants = &self.run.world.settings.grants;
            let used = self.program().file_use(Arc::clone(&file), is_exact, grants);
            let used = FileUse { folder, ..used };
            let (shown, text) = match by_reference {
                true if path.is_some() => (Some(file), None),
                // Only a file that is there is one that an agent may be told to read (decision 14).
                true => (self.file(&file, Effect::FileCheck(used)).await?.map(|_| place), None),
                false => {
                    // For an agent that cannot read it (decision 12).
                    let text = match self.file(&file, Effect::File(used)).await? {
                        Some(value) => Some(self.shortened(&name, value.to_string().into()).await?),
                        None => None,
                    };
                    (Some(file), text)
                }
            };
            return Ok(ContextItem { name, path: shown, text, digest: None });
        }
        if let Some(path) = path.filter(|_| by_reference) {
            let digest = Some(digest(&shown(&value)));
            return Ok(ContextItem { name, path: Some(self.path_from_root(&path)), text: None, digest });
        }
        let text = match by_reference {
            true => shown(&value).into(),
            false => self.shortened(&name, shown(&value).into()).await?,
        };
        Ok(ContextItem::text(name, text))
    }

    /// What is asked of a file. A session does without one that cannot be passed to it (R40).
    async fn file(&self, path: &Arc<str>, effect: Effect) -> Exec<Option<Value>> {
        match self.step("file").request(effect).await {
            Outcome::Value(value) => Ok(Some(value)),
            Outcome::Failed(failure) if failure.kind != ErrorKind::UnsafePath => {
                self.warn(format!(
                    "the file `{path}` of the context is not passed to the session: {}",
                    failure.message
                ));
                Ok(None)
            }
            outcome => self.unexpected(&outcome),
        }
    }

    /// A text as it is, or what it comes down to if it is long (R38).
    async fn shortened(&self, name: &SmolStr, text: Arc<str>) -> Exec<Arc<str>> {
        let extent = match text.chars().count() {
            0..MAX_INLINE => return Ok(text),
            MAX_INLINE..=MAX_KEY_POINTS => SummaryLength::KeyPoints,
            _ => SummaryLength::Essentials,
        };
        let key = (Arc::clone(&text), extent);
        let known = self.run.summaries.borrow().get(&key).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        let summary = Summary { name: name.clone(), text, extent };
        match self.request(Effect::Summarise(summary.into())).await {
            Outcome::Value(value) => {
                let short: Arc<str> = value.to_string().into();
                self.run.summaries.borrow_mut().insert(key, Arc::clone(&short));
                Ok(short)
            }
            outcome => self.unexpected(&outcome),
        }
    }

    /// The path of a file of the run, from the folder that holds `.prose`.
    pub(super) fn path_from_root(&self, path: &str) -> Arc<str> {
        format!(".prose/runs/{}/{path}", self.run.world.settings.run).into()
    }

    /// What a model judges by: all results that can be seen from here, the oldest first, or the newest of very many or very long ones (R64).
    pub(super) fn evidence(&self) -> Vec<ContextItem> {
        let by_reference = self.run.world.settings.judge_reads();
        let mut items: Vec<ContextItem> = Vec::new();
        let mut add = |name: SmolStr, value: &Value, path: Option<&Arc<str>>| {
            if items.iter().any(|item| item.name == name) || *value == Value::Null {
                return;
            }
            let path = path.filter(|_| by_reference).map(|path| self.path_from_root(path));
            let shown = shown(value);
            let digest = path.as_ref().map(|_| digest(&shown));
            let text = match path {
                None => Some(cut(&shown).into()),
                Some(_) => (shown.len() < MAX_INLINE_EVIDENCE).then(|| shown.into()),
            };
            items.push(ContextItem { name, path, text, digest });
        };
        let mut local = self.locals.as_ref();
        while let Some(here) = local {
            add(here.name.clone(), &here.value, None);
            local = here.outer.as_ref();
        }
        for result in self.scope.around().flat_map(|scope| scope.recent()) {
            add(result.name, &result.value, result.path.as_ref());
        }
        items.truncate(MAX_RECENT);
        let (mut room, mut inline) = (MAX_EVIDENCE, MAX_EVIDENCE);
        items.retain_mut(|item| {
            let length = item.text.as_ref().map_or(0, |text| text.len());
            if item.path.is_some() {
                // What does not fit is read from its file.
                inline = inline.saturating_sub(length);
                item.text.take_if(|_| inline == 0);
                return true;
            }
            room = room.saturating_sub(length);
            room > 0
        });
        items.reverse();
        items
    }
}

/// Whether a path that a program names leads out of the project whatever folder that is in.
fn is_elsewhere(path: &str) -> bool {
    path.starts_with("~/") || Path::new(path).is_absolute()
}

fn numbered(name: &str, count: usize) -> SmolStr {
    format!("{name}_{}", count + 1).into()
}

/// A value as an agent reads it.
fn shown(value: &Value) -> String {
    match value {
        Value::Array(_) | Value::Object(_) => {
            serde_json::to_string(&Plain(value)).unwrap_or_else(|_| value.to_string())
        }
        _ => value.to_string(),
    }
}

/// The beginning and the end of a long text: what is in between rarely decides a question, and a model can be told so.
fn cut(text: &str) -> String {
    let count = text.chars().count();
    if count < MAX_INLINE {
        return text.to_owned();
    }
    let half = MAX_INLINE / 2;
    let start: String = text.chars().take(half).collect();
    let end: String = text.chars().skip(count - half).collect();
    format!("{start}\n[… {} characters left out …]\n{end}", count - 2 * half)
}
