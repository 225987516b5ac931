//! Calls: what is given to blocks and programs, and what is taken of the results of programs.

use prose_syntax::suggest::nearest;
use prose_syntax::text::{counted, enumerated, plural, quoted};
use prose_syntax::{Code, Diagnostic, Fix, TextEdit, TextRange, TextSize};
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;

use super::names::did_you_mean;
use super::{Checker, Finding, repeated};
use crate::contract::{contract, inputs, may_have_output};
use crate::db::SourceFile;
use crate::imports::imported;
use crate::index::{Site, Symbol, lookup};
use crate::model::*;
use crate::neighbours::MAX_COMPARED;
use crate::resolve::{Resolved, variables};
use crate::statements::summary;

pub(super) fn check(checker: &mut Checker<'_, '_>) {
    let body = checker.body;
    for (_, data) in body.stmts() {
        match &data.stmt {
            Stmt::Call { block: Some(block), arguments } => {
                checker.arguments_of_block(*block, arguments);
                checker.named_twice(arguments);
            }
            Stmt::Block { params, .. } => checker.names_twice(params, "parameter"),
            Stmt::Let { names, destructured: true, value, .. } => {
                checker.names_twice(names, "name");
                checker.destructured_outputs(names, *value);
            }
            Stmt::For { item, index, .. } => {
                let names: Vec<NameId> = [*item, *index].into_iter().flatten().collect();
                checker.names_twice(&names, "loop variable");
            }
            Stmt::Pipeline { stages, .. } => {
                for stage in stages {
                    checker.names_twice(&stage.names, "name");
                }
            }
            _ => {}
        }
    }
    for (_, data) in body.exprs() {
        match &data.expr {
            Expr::Call { callee, arguments } => {
                checker.named_twice(arguments);
                if let Some(callee) = callee.and_then(|callee| body.name_of(callee)) {
                    checker.arguments_of_program(callee, arguments);
                }
            }
            Expr::Field { base: Some(base), field: Some(field) } => checker.field(*base, field),
            Expr::Object(entries) => checker.keys_twice(entries),
            Expr::Text(text) => {
                for part in &text.interpolations {
                    if let Some(Step::Field(field)) = part.path.first() {
                        checker.output_of_variable(part.root, field);
                    }
                }
            }
            _ => {}
        }
    }
}

/// An imported program whose text is known.
struct Program {
    /// The name it is called by.
    name: SmolStr,
    file: SourceFile,
}

impl<'db> Checker<'_, 'db> {
    fn arguments_of_block(&mut self, block: RefId, arguments: &[Argument]) {
        let body = self.body;
        let data = &body[block];
        let named = self.look_up(&data.text).unwrap_or_default();
        // Of two blocks with one name it is not known which is meant.
        let [site] = named.blocks.as_slice() else { return };
        let Some(facts) = summary(self.db, site.statement).block(site.name) else { return };
        if facts.has_lost_params {
            return;
        }
        let (wanted, given) = (facts.params.len(), arguments.len());
        // One too many under a name that the block does not have is that one, and not the last.
        let params: FxHashSet<&SmolStr> = match arguments.iter().any(|argument| argument.name.is_some()) {
            true => facts.params.iter().collect(),
            false => FxHashSet::default(),
        };
        let is_unknown =
            |argument: &Argument| argument.name.as_ref().is_some_and(|name| !params.contains(&name.text));
        let superfluous = match arguments.iter().position(is_unknown) {
            Some(at) if given == wanted + 1 => at..at + 1,
            _ => wanted.min(given)..given,
        };
        self.names_of_arguments(block, *site, &facts.params, arguments, &superfluous);
        if wanted == given {
            return;
        }
        let name = &data.text;
        let list = match facts.params.as_slice() {
            [] => String::new(),
            params => format!(" ({})", listed(params, "and")),
        };
        let message = format!(
            "block `{name}` takes {}{list}, but {} given",
            match wanted {
                0 => "no arguments".to_owned(),
                _ => counted(wanted, "argument"),
            },
            match given {
                0 => "none is".to_owned(),
                1 => "1 is".to_owned(),
                _ => format!("{given} are"),
            }
        );
        let diagnostic = match arguments.get(superfluous.clone()).unwrap_or_default() {
            [first, rest @ ..] => {
                let range = first.range.cover(rest.last().unwrap_or(first).range);
                Diagnostic::new(Code::W108, range, message).with_fix(remove(arguments, superfluous))
            }
            [] => Diagnostic::new(Code::W108, data.range, message),
        };
        self.report(Finding::from(diagnostic).with_site(Some(*site), takes(&facts.params)));
    }

    /// Checks the names that are given to the arguments of a block, which it takes in the order of its parameters all the same (R80).
    fn names_of_arguments(
        &mut self,
        block: RefId,
        site: Site<'db>,
        params: &[SmolStr],
        arguments: &[Argument],
        superfluous: &std::ops::Range<usize>,
    ) {
        let block = &self.body[block].text;
        let fits = arguments.iter().enumerate().filter(|(at, _)| !superfluous.contains(at));
        let named: Vec<_> = fits.filter_map(|(at, argument)| Some((at, argument.name.as_ref()?))).collect();
        if named.is_empty() {
            return;
        }
        let is_param: FxHashSet<&SmolStr> = params.iter().collect();
        let mut times_given: FxHashMap<&SmolStr, usize> = FxHashMap::default();
        for name in arguments.iter().filter_map(|argument| argument.name.as_ref()) {
            *times_given.entry(&name.text).or_default() += 1;
        }
        let (known, unknown): (Vec<_>, Vec<_>) =
            named.into_iter().partition(|(_, name)| is_param.contains(&name.text));
        let given = |param: &&SmolStr| times_given.contains_key(*param);
        for (at, name) in unknown {
            let free = params.iter().filter(|param| !given(param)).take(MAX_COMPARED);
            let message = format!("block `{block}` has no parameter `{}`", name.text);
            let in_place = params.get(at).filter(|param| !given(param));
            let mut finding =
                did_you_mean(Code::W142, name.range, message, &name.text, free.cloned().collect());
            if let Some(param) = in_place.filter(|_| finding.diagnostic.fix.is_none()) {
                finding.diagnostic.add_to_message(format!("; the argument goes to `{param}`"));
                finding = finding.with_fix(Fix::change(name.range, param));
            }
            self.report(finding.with_site(Some(site), takes(params)));
        }
        // Where one is missing or superfluous, that one may be why the others are not in their places.
        if arguments.len() != params.len() {
            return;
        }
        // Names that are given twice are reported as that.
        let is_only = |name: &Word| times_given.get(&name.text) == Some(&1);
        let is_moved = |(at, name): &(usize, &Word)| params.get(*at) != Some(&name.text) && is_only(name);
        let mut moved = known.into_iter().filter(is_moved);
        let Some((at, name)) = moved.next() else { return };
        let goes_to = params.get(at).map(SmolStr::as_str).unwrap_or_default();
        let message = format!(
            "argument `{}` is at the position of `{goes_to}`; other interpreters bind by position",
            name.text
        );
        let finding = Finding::new(Code::W142, name.range, message);
        self.report(finding.with_fix(self.reorder(params, arguments)).with_site(Some(site), takes(params)));
    }

    /// The fix that puts arguments in the order of the parameters that they name, if each names one.
    fn reorder(&self, params: &[SmolStr], arguments: &[Argument]) -> Option<Fix> {
        let mut named: FxHashMap<&SmolStr, &Argument> = FxHashMap::default();
        for argument in arguments {
            if let Some(name) = &argument.name {
                named.entry(&name.text).or_insert(argument);
            }
        }
        let ordered: Option<Vec<&Argument>> = params.iter().map(|param| named.get(param).copied()).collect();
        let edits = arguments.iter().zip(ordered?).filter(|(there, argument)| there.range != argument.range);
        let edits =
            edits.map(|(there, argument)| TextEdit::replace(there.range, self.source(argument.range)));
        let title = "Put the arguments in the order of the parameters";
        Some(Fix::suggestion(title, edits.collect::<Vec<_>>()))
    }

    /// The program that a callee or the result of a call names, if it is known, and its interface.
    fn program(&self, name: &SmolStr) -> Option<Program> {
        let named = self.look_up(name)?;
        let [site] = named.imports.as_slice() else { return None };
        let path = summary(self.db, site.statement).import(site.name)?.path.clone()?;
        let file = imported(self.db, self.file, path).program()?;
        Some(Program { name: name.clone(), file })
    }

    fn arguments_of_program(&mut self, callee: RefId, arguments: &[Argument]) {
        let body = self.body;
        let data = &body[callee];
        if data.kind != RefKind::Callee || self.resolution.of(callee) != Resolved::Program {
            return;
        }
        let Some(program) = self.program(&data.text) else {
            // That inputs are given by name is known without the program.
            self.positional_inputs(arguments, &[]);
            return;
        };
        let names_given: FxHashSet<&SmolStr> =
            arguments.iter().filter_map(|argument| Some(&argument.name.as_ref()?.text)).collect();
        let given = |name: &SmolStr| names_given.contains(name);
        let inputs = inputs(self.db, program.file);
        let names = inputs.iter().map(|input| &input.name);
        let free: Vec<&SmolStr> = names.filter(|input| !given(input)).collect();
        let positional = self.positional_inputs(arguments, &free);
        let mut missing: Vec<&SmolStr> = self.required_inputs(&program);
        let by_position: FxHashSet<&SmolStr> = free.iter().take(positional).copied().collect();
        missing.retain(|input| !given(input) && !by_position.contains(input));
        let known: FxHashSet<&SmolStr> = inputs.iter().map(|input| &input.name).collect();
        let named = arguments.iter().filter_map(|argument| Some((argument, argument.name.as_ref()?)));
        let unknown: Vec<_> = named
            .filter(|(_, name)| !known.contains(&name.text) && !self.is_lost_in(&program, &name.text))
            .collect();
        // An unknown input and a missing one are one mistake, if one may be meant by the other.
        let is_pair = unknown.len() == 1 && missing.len() == 1;
        for (argument, name) in unknown {
            let near = nearest(&name.text, free.iter().copied().take(MAX_COMPARED), |input| input.as_str());
            let near = near.or_else(|| is_pair.then(|| missing.first().copied()).flatten()).cloned();
            if let Some(near) = &near {
                missing.retain(|input| *input != near);
            }
            self.unknown_input(&program, arguments, argument, name, near);
        }
        if !missing.is_empty() {
            self.missing_inputs(&program, callee, arguments, &missing);
        }
    }

    /// The inputs that a program always asks for.
    fn required_inputs(&self, program: &Program) -> Vec<&'db SmolStr> {
        let required = inputs(self.db, program.file).iter().filter(|input| !input.is_optional());
        required.map(|input| &input.name).filter(|name| self.is_always_asked(program, name)).collect()
    }

    /// Whether an input is outside of all bodies, which may not run.
    fn is_always_asked(&self, program: &Program, name: &SmolStr) -> bool {
        self.input_sites(program, name).any(|site| {
            summary(self.db, site.statement).name(site.name).is_some_and(|bound| bound.list.is_none())
        })
    }

    fn input_sites(&self, program: &Program, name: &SmolStr) -> impl Iterator<Item = Site<'db>> {
        let named = lookup(self.db, program.file, name).unwrap_or_default();
        let inputs: Vec<_> = named
            .root_variables()
            .filter(|site| site.kind == NameKind::Input)
            .map(|variable| variable.site)
            .collect();
        inputs.into_iter()
    }

    /// Whether the word is on a line of the program that was not understood, and may be declared there.
    fn is_lost_in(&self, program: &Program, name: &SmolStr) -> bool {
        lookup(self.db, program.file, name).is_some_and(|named| named.lost)
    }

    /// Reports inputs that are given without a name, all of a call at once; `free` are those that they may be. Returns how many there are.
    fn positional_inputs(&mut self, arguments: &[Argument], free: &[&SmolStr]) -> usize {
        let positional: Vec<&Argument> =
            arguments.iter().filter(|argument| argument.name.is_none()).collect();
        let [first, ..] = positional.as_slice() else { return 0 };
        let range = first.range.cover(positional.last().unwrap_or(first).range);
        let meant: Vec<_> = positional.iter().zip(free).collect();
        let example = match meant.as_slice() {
            [] => "name: value".to_owned(),
            meant => meant.iter().map(|(_, input)| format!("{input}: …")).collect::<Vec<_>>().join(", "),
        };
        let message = format!("inputs of a program must be passed by name: `{example}`");
        let name = |(argument, input): &(&&Argument, &&SmolStr)| {
            TextEdit::insert(argument.range.start(), format!("{input}: "))
        };
        let edits: Vec<TextEdit> = meant.iter().map(name).collect();
        let fix = (edits.len() == positional.len()).then(|| Fix::suggestion("Name the inputs", edits));
        self.report(Diagnostic::new(Code::E027, range, message).with_fix(fix));
        positional.len()
    }

    fn unknown_input(
        &mut self,
        program: &Program,
        arguments: &[Argument],
        argument: &Argument,
        name: &Word,
        near: Option<SmolStr>,
    ) {
        let inputs = inputs(self.db, program.file).iter().map(|input| input.name.clone());
        let has = match inputs.collect::<Vec<_>>().as_slice() {
            [] => "; it has none".to_owned(),
            _ if near.is_some() => String::new(),
            inputs => format!("; it has {}", listed(inputs, "and")),
        };
        let meant = near.as_ref().map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        let message = format!("`{}` has no input `{}`{has}{meant}", program.name, name.text);
        let fix = match near {
            Some(near) => Some(Fix::change(name.range, &near)),
            None => arguments
                .iter()
                .position(|other| std::ptr::eq(other, argument))
                .and_then(|at| remove(arguments, at..at + 1)),
        };
        self.report(Diagnostic::new(Code::E027, name.range, message).with_fix(fix));
    }

    fn missing_inputs(
        &mut self,
        program: &Program,
        callee: RefId,
        arguments: &[Argument],
        missing: &[&SmolStr],
    ) {
        let range = self.body[callee].range;
        let names: Vec<SmolStr> = missing.iter().map(|name| (*name).clone()).collect();
        let message = format!(
            "missing {} {} in the call of `{}`",
            plural(names.len(), "input"),
            listed(&names, "and"),
            program.name,
        );
        let fix = self.give_inputs(range, arguments, &names);
        let mut finding = Finding::new(Code::E026, range, message).with_fix(fix);
        for name in &names {
            let site = self.input_sites(program, name).next();
            finding = finding.with_site(site, format!("`{name}` is declared here"));
        }
        self.report(finding);
    }

    /// The fix that gives inputs in a call.
    fn give_inputs(&self, callee: TextRange, arguments: &[Argument], names: &[SmolStr]) -> Option<Fix> {
        let value = |name: &SmolStr| {
            let is_variable = self.look_up(name).is_some_and(|named| named.first_root_variable().is_some());
            if is_variable { format!("{name}: {name}") } else { format!("{name}: \"\"") }
        };
        let given = names.iter().map(value).collect::<Vec<_>>().join(", ");
        let edit = match arguments.last() {
            Some(last) => TextEdit::insert(last.range.end(), format!(", {given}")),
            None => TextEdit::insert(self.after_parenthesis(callee.end())?, given),
        };
        Some(Fix::suggestion(format!("Pass {}", listed(names, "and")), edit))
    }

    /// The place after the parenthesis that opens next.
    pub(super) fn after_parenthesis(&self, at: TextSize) -> Option<TextSize> {
        let statement = self.source(TextRange::up_to(self.statement.len(self.db)));
        let mut rest = statement.get(usize::from(at)..)?.trim_start();
        while rest.starts_with('#') {
            rest = rest.split_once(['\n', '\r'])?.1.trim_start();
        }
        let inside = rest.strip_prefix('(')?;
        Some(TextSize::of(statement) - TextSize::of(inside))
    }

    fn field(&mut self, base: ExprId, field: &Word) {
        let body = self.body;
        match &body[base].expr {
            Expr::Name(name) => self.output_of_variable(*name, field),
            Expr::Call { .. } => {
                let program = body.called_program(Value::Expr(base)).and_then(|name| self.program(&name));
                if let Some(program) = program {
                    self.output(&program, field.range, &field.text);
                }
            }
            _ => {}
        }
    }

    /// Checks what is taken of a variable, if it can only be the result of one program or block.
    fn output_of_variable(&mut self, variable: RefId, field: &Word) {
        if self.body[variable].kind != RefKind::Variable {
            return;
        }
        let mut sites = variables(self.db, self.statement, variable);
        // What a name gets is made from what it stood for before (A3).
        sites.retain(|site| !self.is_made_from(site, variable));
        if self.resolution.of(variable) == Resolved::Root {
            // A block that declares no such variable of its own gives the one of the file a new value.
            let named = self.look_up(&self.body[variable].text).unwrap_or_default();
            let assigned = |site: &&crate::index::VariableSite<'db>| {
                site.block.is_some() && site.kind == NameKind::Assigned
            };
            sites.extend(named.variables.iter().filter(assigned).cloned());
        }
        let Some(first) = sites.first() else { return };
        let is_other = |site: &crate::index::VariableSite<'db>| {
            (&site.program, &site.called_block) != (&first.program, &first.called_block)
        };
        if sites.iter().any(is_other) {
            return;
        }
        if let Some(program) = first.program.as_ref().and_then(|name| self.program(name)) {
            self.output(&program, field.range, &field.text);
        } else if let Some(block) = &first.called_block {
            self.output_of_block(block, field.range, &field.text);
        }
    }

    /// Whether a use is in the value that its own name gets at the place, once in a run of the program.
    fn is_made_from(&self, site: &crate::index::VariableSite<'db>, variable: RefId) -> bool {
        if site.site.statement != self.statement || site.block.is_some() {
            return false;
        }
        let stmt = &self.body[self.body[site.site.name].stmt];
        let value = match stmt.stmt {
            Stmt::Let { value, .. } | Stmt::Assign { value, .. } | Stmt::Output { value, .. } => value,
            _ => None,
        };
        !self.body.is_in_loop(stmt.scope)
            && value
                .is_some_and(|value| self.body.value_range(value).contains_range(self.body[variable].range))
    }

    fn destructured_outputs(&mut self, names: &[NameId], value: Option<Value>) {
        let (body, Some(value)) = (self.body, value) else { return };
        let program = body.called_program(value).and_then(|name| self.program(&name));
        let block = body.called_block(value);
        for data in names.iter().map(|name| &body[*name]) {
            if let Some(program) = &program {
                self.output(program, data.range, &data.text);
            } else if let Some(block) = &block {
                self.output_of_block(block, data.range, &data.text);
            }
        }
    }

    fn output(&mut self, program: &Program, range: TextRange, output: &SmolStr) {
        if may_have_output(self.db, Symbol::new(self.db, program.file, output.clone())) {
            return;
        }
        let outputs = &contract(self.db, program.file).outputs;
        self.report(no_output(&program.name, outputs, range, output));
    }

    /// Checks what is taken of the result of a block, if that is surely made of the named outputs (R86).
    fn output_of_block(&mut self, block: &SmolStr, range: TextRange, output: &SmolStr) {
        let named = self.look_up(block).unwrap_or_default();
        // Of two blocks with one name it is not known which is meant.
        let [site] = named.blocks.as_slice() else { return };
        let Some(facts) = summary(self.db, site.statement).block(site.name) else { return };
        let is_lost = || self.look_up(output).is_some_and(|named| named.lost);
        if facts.gives_object && !facts.outputs.contains(output) && !is_lost() {
            let finding = no_output(block, &facts.outputs, range, output);
            self.report(finding.with_site(Some(*site), "the block is defined here"));
        }
    }

    /// Reports names that are bound twice in one list.
    fn names_twice(&mut self, names: &[NameId], what: &str) {
        let body = self.body;
        let names = names.iter().map(|name| (&body[*name].text, body[*name].range));
        for (text, first, range) in repeated(names) {
            let message = format!("duplicate {what} `{text}`; rename one of them");
            let diagnostic = Diagnostic::new(Code::E134, range, message);
            self.report(diagnostic.with_related(first, "first given here"));
        }
    }

    /// Reports named arguments that are given twice.
    fn named_twice(&mut self, arguments: &[Argument]) {
        let names = arguments.iter().enumerate().filter_map(|(position, argument)| {
            let name = argument.name.as_ref()?;
            Some((&name.text, (position, name.range)))
        });
        for (text, (_, first), (position, range)) in repeated(names) {
            let diagnostic =
                Diagnostic::new(Code::E134, range, format!("argument `{text}` is already given"))
                    .with_related(first, "first given here")
                    .with_fix(remove(arguments, position..position + 1));
            self.report(diagnostic);
        }
    }

    fn keys_twice(&mut self, entries: &[Entry]) {
        let keys = entries.iter().filter_map(|entry| entry.key.as_ref());
        for (text, first, range) in repeated(keys.map(|key| (&key.text, key.range))) {
            let message = format!("duplicate key `{text}`; this value replaces the first");
            let diagnostic = Diagnostic::new(Code::W139, range, message);
            self.report(diagnostic.with_related(first, "first given here"));
        }
    }
}

/// The finding of an output that a program or a block does not have.
fn no_output<'db>(name: &str, outputs: &[SmolStr], range: TextRange, output: &SmolStr) -> Finding<'db> {
    let has = match outputs {
        [] => "; it has none".to_owned(),
        outputs if nearest(output, outputs.iter().take(MAX_COMPARED), |output| output.as_str()).is_some() => {
            String::new()
        }
        outputs => format!("; it has {}", listed(outputs, "and")),
    };
    let message = format!("`{name}` has no output `{output}`{has}");
    did_you_mean(Code::E028, range, message, output, outputs.iter().take(MAX_COMPARED).cloned().collect())
}

fn takes(params: &[SmolStr]) -> String {
    match params {
        [] => "the block takes no arguments".to_owned(),
        params => format!("the block takes {}", listed(params, "and")),
    }
}

/// The fix that removes some arguments of a call.
fn remove(arguments: &[Argument], range: std::ops::Range<usize>) -> Option<Fix> {
    let (first, last) = (arguments.get(range.start)?, arguments.get(range.end.checked_sub(1)?)?);
    let covered =
        match (range.start.checked_sub(1).and_then(|at| arguments.get(at)), arguments.get(range.end)) {
            (Some(before), _) => TextRange::new(before.range.end(), last.range.end()),
            (None, Some(behind)) => TextRange::new(first.range.start(), behind.range.start()),
            (None, None) => first.range.cover(last.range),
        };
    let title = if range.len() == 1 { "Remove the argument" } else { "Remove the arguments" };
    Some(Fix::suggestion(title, TextEdit::delete(covered)))
}

/// More names than these are not read, and the messages about each of many would be as long as the program.
const MAX_LISTED: usize = 40;

/// Names one after the other, as in a sentence.
pub(super) fn listed(names: &[impl AsRef<str>], conjunction: &str) -> String {
    let (shown, others) = names.split_at(names.len().min(MAX_LISTED));
    let others = (!others.is_empty()).then(|| format!("{} more", others.len()));
    enumerated(shown.iter().map(|name| quoted(name.as_ref())).chain(others), conjunction)
}
