//! Used names: whether they are bound, and to the expected kind of definition.

use prose_syntax::suggest::nearest;
use prose_syntax::{Code, Diagnostic, Fix, TextEdit, TextRange};
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;

use super::conditions::Conditions;
use super::{Checker, Finding};
use crate::call_graph::call_graph;
use crate::index::{
    BindingBlocks, Confused, Named, Site, Symbol, binding_blocks, confused, has_nameless_input, index,
    keeps_memory, neighbours,
};
use crate::model::*;
use crate::neighbours::{MAX_COMPARED, Neighbours};
use crate::repairs::Repair;
use crate::resolve::Resolved;
use crate::statements::summary;

/// Functions of other languages. Nothing but a program that a `use` imports is called here.
const FUNCTIONS: &[&str] = &[
    "append",
    "assert",
    "console",
    "count",
    "enumerate",
    "exec",
    "float",
    "format",
    "int",
    "join",
    "json",
    "len",
    "length",
    "list",
    "log",
    "map",
    "max",
    "min",
    "open",
    "print",
    "printf",
    "println",
    "range",
    "read",
    "round",
    "sleep",
    "sorted",
    "split",
    "str",
    "sum",
    "system",
    "wait",
    "write",
    "zip",
];

pub(super) fn check(checker: &mut Checker<'_, '_>) {
    let body = checker.body;
    let mut reported_elsewhere = FxHashSet::default();
    let mut reported_words = FxHashSet::default();
    let mut conditions = Conditions::default();
    for (id, data) in body.refs() {
        match checker.resolution.of(id) {
            _ if checker.is_lost_input(data, checker.resolution.of(id)) => {}
            Resolved::Undefined => {
                if let Some(condition) = checker.condition_in_words(data, &mut conditions) {
                    if reported_words.insert(condition) {
                        checker.words_without_markers(condition);
                    }
                } else if let Some(site) = checker.bound_in_a_body(data) {
                    if reported_elsewhere.insert(&data.text) {
                        checker.gone(data, site);
                    }
                } else {
                    let mut finding = checker.undefined(data);
                    if data.kind == RefKind::Callee {
                        // Working programs call these: their hosts provide them.
                        let is_of_host = matches!(data.text.as_str(), "env" | "http");
                        finding.diagnostic.lenient = is_of_host || !checker.is_surely_reached(id);
                    }
                    checker.report(finding);
                }
            }
            Resolved::Literal if data.place == Place::Literal => checker.near_miss(data),
            Resolved::Elsewhere if reported_elsewhere.insert(&data.text) => checker.bound_elsewhere(id, data),
            Resolved::AgentAsValue => {
                let message =
                    format!("`{0}` is an agent; this passes its memory or its last result", data.text);
                checker.report(Diagnostic::new(Code::W134, data.range, message));
            }
            Resolved::Agent => checker.resumed_without_memory(data),
            _ => {}
        }
    }
    for (_, data) in body.stmts() {
        if let Stmt::Assign { target: Some(target), .. } = &data.stmt {
            checker.constant(*target);
        }
    }
}

impl<'db> Checker<'_, 'db> {
    fn named(&self, text: &SmolStr) -> std::sync::Arc<Named<'db>> {
        self.look_up(text).unwrap_or_default()
    }

    fn undefined(&self, data: &RefData) -> Finding<'db> {
        let (name, range) = (&data.text, data.range);
        let named = self.named(name);
        let is_agent = !named.agents.is_empty();
        let is_block = !named.blocks.is_empty();
        let is_program = !named.imports.is_empty();
        let is_variable = named.local.is_some() || self.is_variable(name, data.scope);
        match data.kind {
            RefKind::Agent if is_program => {
                let message =
                    format!("`{name}` is an imported program, not an agent; call it with `{name}(…)`");
                Finding::new(Code::E007, range, message)
            }
            RefKind::Agent if is_block => {
                let message = format!("`{name}` is a block, not an agent; call it with `do {name}`");
                let repair = Repair::AddAgent { name: name.clone() };
                Finding::new(Code::E007, range, message).with_repair(repair)
            }
            RefKind::Agent => {
                let message = match is_variable {
                    true => format!(
                        "`{name}` is a variable, not an agent; pass it to a session with `context: {name}`"
                    ),
                    false => format!("agent `{name}` is not defined"),
                };
                let repair = (!is_variable).then(|| Repair::AddAgent { name: name.clone() });
                let is_agent = |named: &Named<'db>| !named.agents.is_empty();
                self.with_nearest(Code::E007, range, message, name, is_agent).with_repair(repair)
            }
            RefKind::Block if is_agent => {
                let message = format!("`{name}` is an agent, not a block; run it with `session: {name}`");
                Finding::new(Code::E117, range, message)
            }
            RefKind::Block if is_program => {
                let message = format!(
                    "`{name}` is an imported program, not a block; call it with `{name}(…)` without `do`"
                );
                Finding::new(Code::E117, range, message)
            }
            RefKind::Block => {
                let message = match is_variable {
                    true => format!(
                        "`{name}` is a variable, not a block; interpolate it as `{{{name}}}` in a text"
                    ),
                    false => format!("block `{name}` is not defined"),
                };
                let params = || self.arguments_of_call(data);
                let repair =
                    (!is_variable).then(|| Repair::AddBlock { name: name.clone(), params: params() });
                let is_block = |named: &Named<'db>| !named.blocks.is_empty();
                self.with_nearest(Code::E117, range, message, name, is_block).with_repair(repair)
            }
            RefKind::Callee if is_block => {
                let message = format!("`{name}` is a block; call it with `do {name}(…)`");
                Finding::new(Code::E025, range, message).with_fix(call_of_block(data))
            }
            RefKind::Callee if is_agent => {
                let message = format!("`{name}` is an agent, not a program; run it with `session: {name}`");
                Finding::new(Code::E025, range, message)
            }
            RefKind::Callee => {
                let message = match FUNCTIONS.contains(&name.as_str()) {
                    true => format!("function `{name}` is not defined; only imported programs can be called"),
                    false => format!("program `{name}` is not imported"),
                };
                self.with_nearest(Code::E025, range, message, name, |named| !named.imports.is_empty())
            }
            RefKind::Variable | RefKind::Write => self.undefined_variable(data, &named),
        }
    }

    fn undefined_variable(&self, data: &RefData, named: &Named<'db>) -> Finding<'db> {
        let (name, range) = (&data.text, data.range);
        let in_string = matches!(data.place, Place::OneLine | Place::Agent { .. });
        let code = if in_string { Code::E120 } else { Code::E119 };
        if !named.blocks.is_empty() {
            let message =
                format!("`{name}` is a block, not a variable; bind its result with `let x = do {name}`");
            let fix = (!in_string).then(|| call_of_block(data));
            return Finding::new(code, range, message).with_fix(fix);
        }
        if !named.agents.is_empty() {
            let message = format!(
                "`{name}` is an agent, not a variable; bind its answer with `let x = session: {name}`"
            );
            return Finding::new(code, range, message);
        }
        if !named.imports.is_empty() {
            let message = format!(
                "`{name}` is an imported program, not a variable; bind its result with `let x = {name}(…)`"
            );
            return Finding::new(code, range, message);
        }
        // The constants of other languages.
        let constant = match name.as_str() {
            "None" | "nil" | "NULL" | "Null" | "undefined" => Some("null"),
            "True" | "TRUE" => Some("true"),
            "False" | "FALSE" => Some("false"),
            _ => None,
        };
        if let Some(constant) = constant.filter(|_| !in_string) {
            let message = format!("`{name}` is not defined; did you mean `{constant}`?");
            let fix = Fix::safe(format!("Change to `{constant}`"), TextEdit::replace(range, constant));
            return Finding::new(code, range, message).with_fix(fix);
        }
        // `depth-1` is one name; with a known `depth` it was meant as a difference.
        if let Some((left, right)) = name.split_once('-')
            && self.is_variable(left, data.scope)
        {
            let message =
                format!("variable `{name}` is not defined; write a difference as `{left} - {right}`");
            let edit = TextEdit::replace(range, format!("{left} - {right}"));
            let fix = Fix::suggestion("Put spaces around `-`", edit);
            return Finding::new(code, range, message).with_fix(fix);
        }
        let message = format!("variable `{name}` is not defined");
        let mut finding = did_you_mean(code, range, message, name, self.visible_variables(data));
        let confused = confused(self.db, self.file).as_ref().filter(|confused| confused.unknown == *name);
        if let Some(Confused { unused, .. }) = confused {
            finding.diagnostic.message.push_str(&format!("; did you mean the unused `{unused}`?"));
            finding.diagnostic.fix = Some(Fix::change(range, unused));
        }
        let is_condition = self.is_condition(data.stmt, range);
        if is_condition && (confused.is_some() || finding.diagnostic.fix.is_none()) {
            if confused.is_none() {
                finding.diagnostic.message.push_str("; a condition in words must be between `**`");
            }
            let edits = [TextEdit::insert(range.start(), "**"), TextEdit::insert(range.end(), "**")];
            finding = finding.with_fix(Fix::suggestion("Put the condition between `**`", edits));
        }
        if in_string && finding.diagnostic.fix.is_none() {
            let at = range.start() - prose_syntax::TextSize::new(1);
            let fix = Fix::suggestion("Write a literal brace", TextEdit::insert(at, "\\"));
            finding.diagnostic.other_fixes.push(fix);
        }
        finding.with_repair(Repair::AddInput { name: name.clone() })
    }

    /// Whether a name that stands for nothing may be that of an input that has none, which is reported there.
    fn is_lost_input(&self, data: &RefData, resolved: Resolved) -> bool {
        let is_near = || nearest(&data.text, self.visible_variables(data), |name| name).is_some();
        let is_unknown = matches!(resolved, Resolved::Elsewhere | Resolved::Literal | Resolved::Undefined);
        is_unknown
            && data.kind == RefKind::Variable
            && has_nameless_input(self.db, self.file)
            && (resolved != Resolved::Undefined || !is_near())
    }

    pub(super) fn is_variable(&self, name: &str, scope: ScopeId) -> bool {
        let text = SmolStr::from(name);
        self.body.scopes_around(scope).any(|scope| self.body.answers.contains_key(&(scope, text.clone())))
            || !self.named(&text).variables.is_empty()
    }

    /// A finding that proposes the nearest name of those that fit.
    fn with_nearest(
        &self,
        code: Code,
        range: TextRange,
        message: String,
        name: &str,
        fits: impl Fn(&Named<'db>) -> bool,
    ) -> Finding<'db> {
        did_you_mean(code, range, message, name, self.names_of_file(name, fits))
    }

    /// The names of the file that fit; of very many, those that are near to a word.
    pub(super) fn names_of_file(&self, near: &str, fits: impl Fn(&Named<'db>) -> bool) -> Vec<SmolStr> {
        let names = index(self.db, self.file);
        if names.len() <= MAX_COMPARED {
            let names = names.iter().filter(|(_, named)| fits(named));
            return names.map(|(name, _)| name.clone()).collect();
        }
        let near = neighbours(self.db, self.file).of(near);
        near.filter(|name| names.get(name).is_some_and(|named| fits(named))).collect()
    }

    /// The names of the variables that can be seen, or may be at run time; of very many, those that are near to the word.
    pub(super) fn visible_variables(&self, data: &RefData) -> Vec<SmolStr> {
        let mut names = self.names_of_file(&data.text, |named| !named.variables.is_empty());
        let scopes: Vec<ScopeId> = self.body.scopes_around(data.scope).collect();
        let count: usize = scopes.iter().map(|scope| self.body[*scope].names.len()).sum();
        if count <= MAX_COMPARED {
            let around = scopes.iter().flat_map(|scope| &self.body[*scope].names);
            names.extend(around.map(|name| self.body[*name].text.clone()));
        } else {
            let neighbours = self.neighbours.get_or_init(|| {
                Neighbours::new(self.body.names().map(|(name, data)| (name, data.text.clone())))
            });
            let near = neighbours.of(&data.text).filter(|name| scopes.contains(&self.body[*name].scope));
            names.extend(near.map(|name| self.body[name].text.clone()));
        }
        names
    }

    /// A word in braces in a long text that is nearly a name (decision 4).
    fn near_miss(&mut self, data: &RefData) {
        if data.text.chars().count() < 4 {
            return;
        }
        let names = self.visible_variables(data);
        let near = |name: &&SmolStr| {
            // Names of very different lengths are never near, and looking closer takes long.
            if name.len().abs_diff(data.text.len()) > 2 * char::MAX.len_utf8() {
                return false;
            }
            let distance = strsim::osa_distance(name, &data.text);
            (1..=2).contains(&distance) && name.chars().count() >= 4 && distance * 2 < name.chars().count()
        };
        let Some(nearest) = names
            .iter()
            .filter(near)
            .min_by_key(|name| (strsim::osa_distance(name, &data.text), (*name).clone()))
        else {
            return;
        };
        let message =
            format!("`{{{}}}` is literal text here; did you mean the variable `{nearest}`?", data.text);
        let fix = Fix::change(data.range, nearest);
        self.report(Diagnostic::new(Code::W127, data.range, message).with_fix(fix));
    }

    fn bound_elsewhere(&mut self, id: RefId, data: &RefData) {
        if matches!(data.place, Place::Agent { .. }) {
            return;
        }
        let named = self.named(&data.text);
        let BindingBlocks { blocks, is_called, are_params } =
            binding_blocks(self.db, Symbol::new(self.db, self.file, data.text.clone()));
        // In a long text, braces around the name of some block's parameter are most likely meant for the model.
        if *are_params && data.place == Place::Literal {
            return;
        }
        // The variables of a caller can be seen in what it calls (R16).
        if let Some(around) = self.block_around(id)
            && call_graph(self.db, self.file).may_be_reached_from(around, blocks)
        {
            return;
        }
        let Some(first) = named.variables.first() else { return };
        let block = first.block.clone().unwrap_or_default();
        let message = if *is_called {
            format!("`{}` is bound only inside block `{block}`; return it with `output`", data.text)
        } else {
            format!("`{}` is bound only inside block `{block}`, which is never called", data.text)
        };
        let finding = Finding::new(Code::W107, data.range, message).with_lenient(!*is_called);
        self.report(finding.with_site(Some(first.site), format!("`{}` is bound here", data.text)));
    }

    /// The loop, catch or pipeline variable of some body that a name which stands for nothing is that of.
    fn bound_in_a_body(&self, data: &RefData) -> Option<Site<'db>> {
        let named = self.look_up(&data.text)?;
        let is_more = !(named.agents.is_empty() && named.blocks.is_empty() && named.imports.is_empty());
        (data.kind == RefKind::Variable && !is_more).then_some(named.local).flatten()
    }

    /// Reports a variable that is gone after its body (R18).
    fn gone(&mut self, data: &RefData, site: Site<'db>) {
        // The session of an agent may be in the body.
        if matches!(data.place, Place::Agent { .. }) {
            return;
        }
        let Some(bound) = summary(self.db, site.statement).name(site.name) else { return };
        let name = &data.text;
        let message = format!(
            "`{name}` is a {} and visible only in its body; keep its value there with `let`",
            bound.kind.noun()
        );
        let finding = Finding::new(Code::W107, data.range, message);
        self.report(finding.with_site(Some(site), format!("`{name}` is bound here")));
    }

    /// The name of the block around a use.
    fn block_around(&self, id: RefId) -> Option<&SmolStr> {
        let body = self.body;
        let frames = self.frames.get_or_init(|| {
            let mut frames = FxHashMap::default();
            for (_, data) in body.stmts() {
                if let Stmt::Block { name: Some(name), body: Some(list), .. } = &data.stmt
                    && let Some(first) = body[*list].stmts.first()
                {
                    let frame = body.frame(body[*first].scope);
                    frames.entry(frame).or_insert_with(|| body[*name].text.clone());
                }
            }
            frames
        });
        let frame = body.frame(body[id].scope);
        frames.get(&frame).filter(|_| frame != ScopeId(0))
    }

    fn resumed_without_memory(&mut self, data: &RefData) {
        if !matches!(self.body[data.stmt].stmt, Stmt::Resume { .. }) {
            return;
        }
        let named = self.named(&data.text);
        let [agent, ..] = named.agents.as_slice() else { return };
        if keeps_memory(self.db, Symbol::new(self.db, self.file, data.text.clone())) {
            return;
        }
        let name = &data.text;
        let message = format!(
            "agent `{name}` has no memory to resume; add `persist: true` to it, or use `session: {name}`"
        );
        let finding = Finding::new(Code::E017, data.range, message)
            .with_site(Some(*agent), format!("`{name}` has no `persist:`"))
            .with_repair(Repair::AddPersist { agent: *agent });
        self.report(finding);
    }

    /// The names that a new block could give the arguments of a call.
    fn arguments_of_call(&self, data: &RefData) -> Vec<SmolStr> {
        let Stmt::Call { arguments, .. } = &self.body[data.stmt].stmt else { return Vec::new() };
        let mut params: Vec<SmolStr> = Vec::new();
        let mut known: FxHashSet<SmolStr> = FxHashSet::default();
        for (position, argument) in arguments.iter().enumerate() {
            let named = argument.name.as_ref().map(|name| name.text.clone());
            let variable = || match argument.value {
                Some(Value::Expr(expr)) => self.body.name_of(expr).map(|name| self.body[name].text.clone()),
                _ => None,
            };
            let name = named.or_else(variable).filter(|name| known.insert(name.clone()));
            params.push(name.unwrap_or_else(|| format!("arg{}", position + 1).into()));
        }
        params
    }

    fn constant(&mut self, target: Target) {
        match target {
            Target::Local(id) => {
                let data = &self.body[id];
                let Some(name) = self.body.local(id) else { return };
                let kind = self.body[name].kind;
                let message = format!("cannot assign to `{}`, the {} of this body", data.text, kind.noun());
                let diagnostic = Diagnostic::new(Code::E121, data.range, message)
                    .with_related(self.body[name].range, "bound here");
                self.report(diagnostic);
            }
            Target::Name(id) => {
                let data = &self.body[id];
                let answer = self.body.answer(data.scope, &data.text);
                let declared_here = answer.filter(|name| self.body[*name].kind != NameKind::Assigned);
                let declared = match declared_here {
                    Some(name) => Some((Site { statement: self.statement, name }, self.body[name].kind)),
                    None => {
                        let named = self.named(&data.text);
                        let declared = named.first_declared();
                        declared.map(|site| (site.site, site.kind))
                    }
                };
                let text = &data.text;
                // A branch of a `parallel` gives its name a value as an assignment does (R19).
                match declared {
                    Some((site, NameKind::Const)) => {
                        let message =
                            format!("cannot assign to constant `{text}`; declare it with `let` to change it");
                        let finding = Finding::new(Code::E121, data.range, message)
                            .with_site(Some(site), "declared with `const` here")
                            .with_repair(Repair::ChangeConst { name: site });
                        self.report(finding);
                    }
                    Some((site, NameKind::Param)) => {
                        let message = format!("cannot assign to parameter `{text}`; use a new name");
                        let finding = Finding::new(Code::E121, data.range, message);
                        self.report(finding.with_site(Some(site), "declared as a parameter here"));
                    }
                    _ => {}
                }
            }
        }
    }
}

/// The fix that puts `do` before the name of a block.
fn call_of_block(data: &RefData) -> Fix {
    let edit = TextEdit::insert(data.range.start(), "do ");
    Fix::suggestion(format!("Call the block with `do {}`", data.text), edit)
}

/// A finding that proposes the nearest of some names, or says what else to do.
pub(super) fn did_you_mean_or<'db>(
    code: Code,
    range: TextRange,
    message: String,
    name: &str,
    names: Vec<SmolStr>,
    hint: impl FnOnce() -> String,
) -> Finding<'db> {
    let mut finding = did_you_mean(code, range, message, name, names);
    if finding.diagnostic.fix.is_none() {
        finding.diagnostic.add_to_message(format!("; {}", hint()));
    }
    finding
}

/// A finding that proposes the nearest of some names.
pub(crate) fn did_you_mean<'db>(
    code: Code,
    range: TextRange,
    message: String,
    name: &str,
    mut names: Vec<SmolStr>,
) -> Finding<'db> {
    // The nearest of several is the first one, which has to be the same each time.
    names.sort();
    match nearest(name, names, |name| name.as_str()) {
        Some(near) => {
            let message = format!("{message}; did you mean `{near}`?");
            Finding::new(code, range, message).with_fix(Fix::change(range, &near))
        }
        None => Finding::new(code, range, message),
    }
}
