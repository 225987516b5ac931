//! Control flow: conditions, loops, choices, errors, and what is assigned to.

use prose_syntax::suggest::nearest;
use prose_syntax::{Code, Diagnostic, Fix, FixSafety, SyntaxKind, TextEdit, TextRange, TextSize};
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;

use super::{Checker, Finding, repeated};
use crate::index::{Site, VariableSite};
use crate::model::*;

pub(super) fn check(checker: &mut Checker<'_, '_>) {
    let body = checker.body;
    let mut shared = FxHashSet::default();
    let mut names = NamesOfScopes::default();
    for (id, data) in body.stmts() {
        match &data.stmt {
            Stmt::If { branches, .. } => {
                for branch in branches {
                    checker.condition(branch.condition, "condition");
                }
                checker.repeated_conditions(branches);
            }
            Stmt::Loop { condition, options, body, .. } => {
                checker.condition(*condition, "condition");
                // An option that is not known is reported, and may have been meant as the bound.
                if condition.is_none() && options.is_empty() {
                    checker.endless_loop(id, *body);
                }
            }
            Stmt::Choice { criterion, options, body } => {
                checker.condition(*criterion, "criterion");
                checker.labels(options);
                if options.is_empty() {
                    checker.no_options(data, *body);
                }
            }
            Stmt::Try { body, catches, .. } => checker.handlers(data, *body, catches),
            Stmt::Throw(message) => checker.throw(data, *message),
            Stmt::Assert { condition, message } => {
                checker.condition(*condition, "condition");
                checker.empty_message(*message);
                checker.outside_of_reference(data, "assert");
            }
            Stmt::Return(_) => checker.outside_of_reference(data, "return"),
            Stmt::Break => checker.outside_of_reference(data, "break"),
            Stmt::Continue => checker.outside_of_reference(data, "continue"),
            Stmt::Input { description, .. } => checker.description(*description),
            Stmt::Session { name: Some(name), agent: Some(_), .. } => checker.named_session(id, *name),
            Stmt::Assign { target: Some(Target::Name(name)), .. }
                if body[*name].kind == NameKind::Assigned =>
            {
                checker.assignment(data, *name);
            }
            Stmt::For { parallel: true, body: Some(list), .. } => {
                checker.shared_variables(*list, &mut shared, &mut names)
            }
            _ => {}
        }
    }
    // That of a statement is reported with what it is there.
    let mut reported: Option<FxHashSet<TextRange>> = None;
    for (_, data) in body.exprs() {
        match &data.expr {
            Expr::Input(description) => checker.description(*description),
            Expr::Text(text) if text.kind == TextKind::Discretion && text.blank => {
                let ranges = || checker.findings.iter().map(|finding| finding.diagnostic.range).collect();
                if reported.get_or_insert_with(ranges).insert(data.range) {
                    checker.empty_judgement(data.range);
                }
            }
            _ => {}
        }
    }
}

/// The places where each variable of a scope is bound, in the order of the text, computed on demand.
#[derive(Default)]
struct NamesOfScopes<'a>(Option<FxHashMap<(&'a SmolStr, ScopeId), Vec<NameId>>>);

impl<'a> NamesOfScopes<'a> {
    fn of(&mut self, body: &'a Body, data: &'a NameData) -> &[NameId] {
        let names = self.0.get_or_insert_with(|| {
            let mut names: FxHashMap<(&SmolStr, ScopeId), Vec<NameId>> = FxHashMap::default();
            for (name, data) in body.names() {
                names.entry((&data.text, data.scope)).or_default().push(name);
            }
            names
        });
        names.get(&(&data.text, data.scope)).map(Vec::as_slice).unwrap_or_default()
    }
}

impl<'a> Checker<'a, '_> {
    /// Whether something in a range was not understood.
    pub(super) fn has_errors(&self, range: TextRange) -> bool {
        let errors = self.errors.get_or_init(|| {
            let nodes = self.statement.syntax(self.db).descendants();
            nodes.filter(|node| node.kind() == SyntaxKind::ERROR).map(|node| node.text_range()).collect()
        });
        let first = errors.partition_point(|error| error.start() < range.start());
        let mut inside = errors[first..].iter().take_while(|error| error.start() <= range.end());
        inside.any(|error| range.contains_range(*error))
    }

    /// A judgement as a value, such as `{ passed: **the tests pass** }`, must not be empty either.
    fn empty_judgement(&mut self, range: TextRange) {
        let message = "the condition is empty; describe what the model has to judge";
        self.report(Diagnostic::new(Code::E129, range, message));
    }

    /// Reports a condition without words.
    fn condition(&mut self, condition: Option<ExprId>, what: &str) {
        let Some(condition) = condition else { return };
        let body = self.body;
        if let Some(text) = body.text(condition)
            && text.kind == TextKind::OneLine
            && text.content != body[condition].range
        {
            // A text is never empty by chance, so the branch would always be taken.
            let range = body[condition].range;
            let message = format!("a {what} in words must be between `**`; a text in quotes is always true");
            let opening = TextRange::new(range.start(), text.content.start());
            let closing = TextRange::new(text.content.end(), range.end());
            let edits = vec![TextEdit::replace(opening, "**"), TextEdit::replace(closing, "**")];
            let fix = Fix::suggestion("Put the words between `**`", edits);
            self.report(Diagnostic::new(Code::E113, range, message).with_fix(fix));
            return;
        }
        for data in body.parts_of(condition) {
            let Expr::Text(text) = &data.expr else { continue };
            if text.kind != TextKind::Discretion {
                continue;
            }
            if text.blank {
                let message = format!("the {what} is empty; describe what the model has to judge");
                self.report(Diagnostic::new(Code::E129, data.range, message));
                continue;
            }
            let said = text.value.as_deref().unwrap_or_default();
            let is_short = said.split_whitespace().nth(1).is_none()
                || said.chars().filter(|c| c.is_alphanumeric()).nth(3).is_none();
            if is_short && text.interpolations.is_empty() {
                let message = format!(
                    "condition `{}` is too short; write a sentence that the model can judge",
                    said.trim()
                );
                self.report(Diagnostic::new(Code::W104, data.range, message));
            }
        }
    }

    /// Reports branches of an `if` with the condition of an earlier one.
    fn repeated_conditions(&mut self, branches: &[Branch]) {
        let body = self.body;
        let conditions = branches.iter().filter_map(|branch| branch.condition);
        let ranges: Vec<TextRange> = conditions
            // A condition without words or markers is reported for that.
            .filter(|id| body.text(*id).is_none_or(|text| text.kind == TextKind::Discretion && !text.blank))
            .map(|id| body[id].range)
            .filter(|range| !self.has_errors(*range))
            .collect();
        let repeated: Vec<_> = repeated(ranges.into_iter().map(|range| (self.source(range), range)))
            .map(|(_, first, range)| (first, range))
            .collect();
        for (first, range) in repeated {
            let message = "repeated condition; the branch above with this condition runs instead";
            let diagnostic = Diagnostic::new(Code::W154, range, message);
            self.report(diagnostic.with_related(first, "the same condition is here"));
        }
    }

    fn endless_loop(&mut self, id: StmtId, list: Option<ListId>) {
        let Some(list) = list else { return };
        let range = self.body[list].range;
        if self.body.may_leave(list) || self.breaks(list) || self.has_errors(range) {
            return;
        }
        let keyword = keyword(self.body[id].range, "loop");
        let edit = TextEdit::insert(keyword.end(), " (max: 10)");
        let message = "unbounded loop; add a condition, `max`, `break` or `return`";
        let diagnostic =
            Diagnostic::new(Code::W113, keyword, message).with_fix(Fix::suggestion("Add `(max: 10)`", edit));
        self.report(diagnostic);
    }

    /// Whether a `break` in the list ends the loop around it.
    fn breaks(&self, list: ListId) -> bool {
        let body = self.body;
        let range = body[list].range;
        let mut inner = TextRange::default();
        for (_, data) in body.stmts_in(range) {
            match data.stmt {
                Stmt::Loop { body: Some(other), .. }
                | Stmt::For { body: Some(other), .. }
                | Stmt::Repeat { body: Some(other), .. }
                    // Those in it end where it does, or before.
                    if range.contains_range(body[other].range) && inner.end() < body[other].range.end() =>
                {
                    inner = body[other].range;
                }
                Stmt::Break if range.contains_range(data.range) && !inner.contains_range(data.range) => {
                    return true;
                }
                _ => {}
            }
        }
        false
    }

    fn labels(&mut self, options: &[ChoiceOption]) {
        let body = self.body;
        let labels = options.iter().filter_map(|option| option.label);
        let labels = labels.filter_map(|label| Some((body.string(label)?, body[label].range)));
        for (text, first, range) in repeated(labels) {
            let message = format!("duplicate label `{text}`; the model cannot distinguish the options");
            self.report(Diagnostic::new(Code::W112, range, message).with_related(first, "first used here"));
        }
    }

    fn no_options(&mut self, data: &StmtData, list: Option<ListId>) {
        if self.has_errors(data.range) {
            return;
        }
        let has_statements = list.is_some_and(|list| !self.body[list].stmts.is_empty());
        let message = "`choice` has no options; add one with `option \"label\":`";
        // Statements without an option are reported one by one.
        let diagnostic =
            Diagnostic::new(Code::E131, keyword(data.range, "choice"), message).with_lenient(has_statements);
        self.report(diagnostic);
    }

    fn handlers(&mut self, data: &StmtData, list: Option<ListId>, catches: &[Catch]) {
        let [first, others @ ..] = catches else { return };
        for second in others {
            let message = "unreachable `catch`; the first `catch` handles every error";
            let diagnostic = Diagnostic::new(Code::W122, second.keyword, message);
            self.report(diagnostic.with_related(first.keyword, "errors are handled here"));
        }
        let Some(list) = list else { return };
        let statements = &self.body[list].stmts;
        let is_harmless = !statements.is_empty() && statements.iter().all(|stmt| self.cannot_fail(*stmt));
        if is_harmless && !self.has_errors(data.range) {
            let message = "unreachable `catch`; nothing in this `try` can fail";
            let diagnostic = Diagnostic::new(Code::W122, first.keyword, message)
                .with_related(self.body[list].range, "only constant values are bound here");
            self.report(diagnostic);
        }
    }

    /// Whether a statement only keeps a value that is written there.
    fn cannot_fail(&self, stmt: StmtId) -> bool {
        match self.body[stmt].stmt {
            Stmt::Let { value: Some(value), destructured: false, .. }
            | Stmt::Assign { value: Some(value), .. }
            | Stmt::Output { value: Some(value), .. } => self.is_constant(value),
            _ => false,
        }
    }

    fn is_constant(&self, value: Value) -> bool {
        let Value::Expr(expr) = value else { return false };
        match &self.body[expr].expr {
            Expr::Number(_) | Expr::Bool(_) | Expr::Null | Expr::Duration(_) => true,
            Expr::Text(text) => text.kind != TextKind::Discretion && text.interpolations.is_empty(),
            Expr::Array(items) => items.iter().all(|item| self.is_constant(*item)),
            Expr::Object(entries) => {
                entries.iter().all(|entry| entry.value.is_some_and(|value| self.is_constant(value)))
            }
            _ => false,
        }
    }

    fn throw(&mut self, data: &StmtData, message: Option<ExprId>) {
        self.empty_message(message);
        let in_catch =
            || self.body.scopes_around(data.scope).any(|scope| self.body[scope].kind == ScopeKind::Catch);
        if message.is_none() && !in_catch() {
            let message = "no error to rethrow outside of a `catch`; add a message: `throw \"…\"`";
            self.report(Diagnostic::new(Code::W135, data.range, message));
        }
    }

    fn empty_message(&mut self, message: Option<ExprId>) {
        self.empty_text(message, Code::W111, "the message is empty; describe what went wrong");
    }

    fn description(&mut self, description: Option<ExprId>) {
        self.empty_text(description, Code::W136, "the description is empty; describe the value");
    }

    fn empty_text(&mut self, text: Option<ExprId>, code: Code, message: &str) {
        let Some(expr) = text else { return };
        if self.body.text(expr).is_some_and(|text| text.blank) {
            self.report(Diagnostic::new(code, self.body[expr].range, message));
        }
    }

    fn outside_of_reference(&mut self, data: &StmtData, word: &str) {
        let message =
            format!("`{word}` is not part of the reference; another interpreter may not support it");
        self.report(Diagnostic::new(Code::W132, keyword(data.range, word), message));
    }

    fn named_session(&mut self, id: StmtId, name: NameId) {
        let data = &self.body[id];
        let (text, range) = (&self.body[name].text, self.body[name].range);
        let is_branch =
            data.list.is_some_and(|list| self.body[self.body[list].owner].syntax == SyntaxKind::PARALLEL);
        let binding = if is_branch { format!("{text} = ") } else { format!("let {text} = ") };
        let message = format!("named sessions are deprecated; write `{binding}session: …`");
        // One that is a value is bound to another name already.
        let stands_alone = data.list.is_some() || self.body.root() == Some(id);
        let fix = stands_alone.then(|| {
            let session = keyword(data.range, "session");
            // A variable of that name has its own declaration.
            let is_only = is_branch || self.look_up(text).is_some_and(|named| named.variables.len() == 1);
            let safety = if is_only { FixSafety::Safe } else { FixSafety::Unsafe };
            let title = format!("Write `{binding}session: …`");
            let rest = TextEdit::delete(TextRange::new(session.end(), range.end()));
            Fix::new(title, safety, [TextEdit::insert(session.start(), binding), rest])
        });
        self.report(Diagnostic::new(Code::W130, range, message).with_fix(fix));
    }

    /// An assignment to a name that nothing declares (R17).
    fn assignment(&mut self, data: &StmtData, name: NameId) {
        let text = &self.body[name].text;
        let scope = self.body[name].scope;
        let named = self.look_up(text).unwrap_or_default();
        let in_file = self.body[scope].kind == ScopeKind::Root;
        // A block sees the variables of the file, and those of blocks that call it.
        if named.lost || named.is_declared(in_file) {
            return;
        }
        let here = Site { statement: self.statement, name };
        let is_first = match in_file || named.first_root_variable().is_some() {
            true => named.first_root_variable().is_some_and(|first| first.site == here),
            // The first of the names that are only assigned answers to it.
            false => self.body.answer(scope, text) == Some(name),
        };
        if !is_first {
            return;
        }
        let range = self.body[name].range;
        let near = self.nearest_declared(text);
        let message = match &near {
            Some(near) => format!("`{text}` is not declared; did you mean `{near}`?"),
            None => format!("`{text}` is not declared; declare it with `let {text} = …`"),
        };
        let edit = TextEdit::insert(data.range.start(), "let ");
        let diagnostic = Diagnostic::new(Code::W138, range, message)
            .with_fix(near.map(|near| Fix::change(range, &near)))
            .with_fix(Fix::suggestion(format!("Declare `{text}` with `let`"), edit));
        self.report(diagnostic);
    }

    fn nearest_declared(&self, text: &SmolStr) -> Option<SmolStr> {
        let declared = |site: &VariableSite<'_>| !matches!(site.kind, NameKind::Assigned | NameKind::Const);
        let mut names = self.names_of_file(text, |named| named.variables.iter().any(declared));
        names.sort();
        nearest(text, names, |name| name.as_str())
    }

    /// Variables that several iterations of a `parallel for` change at once (D24).
    fn shared_variables(
        &mut self,
        list: ListId,
        shared: &mut FxHashSet<NameId>,
        names: &mut NamesOfScopes<'a>,
    ) {
        let body = self.body;
        let range = body[list].range;
        let mut reported: FxHashSet<&SmolStr> = FxHashSet::default();
        // What holds for one place where a scope's variable is changed holds for the others.
        let mut seen: FxHashSet<(&SmolStr, ScopeId)> = FxHashSet::default();
        let is_inside = |name: &NameId| range.contains_range(body[*name].range);
        for (id, data) in body.names_in(range) {
            if data.kind != NameKind::Assigned
                || !range.contains_range(data.range)
                || reported.contains(&data.text)
                || !seen.insert((&data.text, data.scope))
            {
                continue;
            }
            let same = names.of(body, data);
            let first_inside = same.partition_point(|name| body[*name].range.start() < range.start());
            let inside = same[first_inside..].iter().take_while(|name| is_inside(name));
            if inside.clone().any(|name| body[*name].kind.is_declaration()) {
                continue;
            }
            let behind = first_inside + inside.count();
            let outside = if first_inside > 0 { same.first() } else { same.get(behind) };
            let here = outside.map(|name| Site { statement: self.statement, name: *name });
            let in_file = || {
                let named = self.look_up(&data.text)?;
                named.first_root_variable_outside(self.statement).map(|variable| variable.site)
            };
            let Some(site) = here.or_else(in_file) else { continue };
            reported.insert(&data.text);
            // Nested branches would report it again.
            if !shared.insert(id) {
                continue;
            }
            let message =
                format!("concurrent branches change `{}` in the order in which they finish", data.text);
            let finding = Finding::new(Code::W133, data.range, message);
            self.report(finding.with_site(Some(site), "bound outside of the branches here"));
        }
    }
}

/// The range of the keyword that a statement starts with.
fn keyword(statement: TextRange, keyword: &str) -> TextRange {
    TextRange::at(statement.start(), TextSize::of(keyword))
}

impl Body {
    /// An expression and all that it is made of.
    fn parts_of(&self, whole: ExprId) -> impl Iterator<Item = &ExprData> {
        let range = self[whole].range;
        // The parts of an expression come right before it.
        let before = self.exprs[..=whole.0 as usize].iter().rev();
        before.take_while(move |data| range.contains_range(data.range))
    }
}
