//! Agents, blocks and imported programs: their names, their arguments and what they give.

use std::cmp::Reverse;
use std::fmt::Write;

use prose_analysis::SourceFile;
use prose_analysis::contract::{Contract, contract};
use prose_analysis::index::lookup;
use prose_analysis::model::{NameId, RefKind};
use prose_analysis::statements::{body, statements, summary};
use prose_analysis::summary::{AgentFacts, BlockFacts, Persist, Summary};
use prose_syntax::{SyntaxKind::*, TextRange};
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;

use super::item::escape;
use super::variables::visible;
use super::{CompletionKind, Context};
use crate::cursor::{Cursor, size};
use crate::entity::{Composite, programs};

/// A definition of the file, with its first lines.
pub(super) struct Definition<'a, T> {
    pub(super) name: SmolStr,
    pub(super) facts: &'a T,
    documentation: String,
}

/// Every agent of the file, each name once.
fn agents<'a>(cursor: &Cursor<'a>) -> Vec<Definition<'a, AgentFacts>> {
    definitions(cursor, RefKind::Agent, |summary| &summary.agents, |facts| facts.name)
}

/// Every block of the file, each name once.
pub(super) fn blocks<'a>(cursor: &Cursor<'a>) -> Vec<Definition<'a, BlockFacts>> {
    definitions(cursor, RefKind::Block, |summary| &summary.blocks, |facts| facts.name)
}

/// The definitions that a kind of reference means. What is used most is likely meant again; what is used equally often stays in the order of
/// the text.
fn definitions<'a, T>(
    cursor: &Cursor<'a>,
    kind: RefKind,
    facts: fn(&'a Summary) -> &'a Vec<T>,
    name: fn(&T) -> Option<NameId>,
) -> Vec<Definition<'a, T>> {
    let mut list: Vec<Definition<'a, T>> = Vec::new();
    let mut seen = FxHashSet::default();
    for placed in &statements(cursor.db, cursor.file).list {
        for facts in facts(summary(cursor.db, placed.statement)) {
            let Some(name) = name(facts) else { continue };
            let body = body(cursor.db, placed.statement);
            let name = &body[name];
            if seen.insert(&name.text) {
                let range = body[name.stmt].range + size(placed.start as usize);
                let documentation = first_lines(cursor.text, range);
                list.push(Definition { name: name.text.clone(), facts, documentation });
            }
        }
    }
    let uses = uses(cursor, kind);
    list.sort_by_key(|definition| Reverse(uses.get(definition.name.as_str()).copied().unwrap_or(0)));
    list
}

/// How often each name is used in the file as what a kind of reference means.
fn uses<'a>(cursor: &Cursor<'a>, kind: RefKind) -> FxHashMap<&'a str, usize> {
    let mut uses: FxHashMap<&str, usize> = FxHashMap::default();
    for placed in &statements(cursor.db, cursor.file).list {
        let used = summary(cursor.db, placed.statement).uses.iter().filter(|used| used.kind == kind);
        used.for_each(|used| *uses.entry(&used.text).or_default() += 1);
    }
    uses
}

/// The first lines of a definition, as Markdown.
fn first_lines(text: &str, range: TextRange) -> String {
    const MAX_LINES: usize = 8;
    const MAX_LINE: usize = 120;
    let mut shown = String::from("```prose\n");
    let mut lines = text[range].trim_end().lines();
    for line in lines.by_ref().take(MAX_LINES) {
        let line = line.char_indices().nth(MAX_LINE).map_or(line, |(end, _)| &line[..end]);
        // Three backticks would end the block of code.
        match line.contains("```") {
            true => shown.push_str(&line.replace("```", "'''")),
            false => shown.push_str(line),
        }
        shown.push('\n');
    }
    if lines.next().is_some() {
        shown.push_str("…\n");
    }
    shown.push_str("```");
    shown
}

/// The detail of an agent in the list.
fn agent_detail(facts: &AgentFacts) -> String {
    let mut detail = String::from("agent");
    if let Some(model) = facts.model.as_ref().filter(|model| !model.is_empty()) {
        // Writing to a string does not fail.
        let _ = write!(detail, " · {model}");
    }
    if is_persistent(facts) {
        detail.push_str(" · persistent");
    }
    detail
}

fn is_persistent(facts: &AgentFacts) -> bool {
    matches!(facts.persist, Persist::Run | Persist::Longer)
}

/// The agents after `session:`.
pub(super) fn agents_to_start(context: &mut Context<'_>) {
    agents_that(context, |_| true);
}

/// The agents after `resume:`: those with a memory, since any other would be an error there (E017).
pub(super) fn agents_to_resume(context: &mut Context<'_>) {
    agents_that(context, is_persistent);
}

fn agents_that(context: &mut Context<'_>, fit: fn(&AgentFacts) -> bool) {
    for agent in agents(&context.cursor).into_iter().filter(|agent| fit(agent.facts)) {
        let item = context.item(CompletionKind::Agent, agent.name.as_str());
        context.add(item.detail(agent_detail(agent.facts)).documentation(agent.documentation));
    }
}

/// `session: agent` and `resume: agent` for every agent.
pub(super) fn sessions_of_agents(context: &mut Context<'_>) {
    if !context.cursor.is_at_end() {
        return;
    }
    for agent in agents(&context.cursor) {
        let keywords: &[&str] =
            if is_persistent(agent.facts) { &["session", "resume"] } else { &["session"] };
        for keyword in keywords {
            let name = escape(&agent.name);
            let item = context
                .item(CompletionKind::Agent, format!("{keyword}: {}", agent.name))
                .snippet(format!("{keyword}: {name}\n  prompt: \"$1\""))
                .detail(agent_detail(agent.facts))
                .documentation(agent.documentation.clone());
            context.add(item);
        }
    }
}

/// The blocks, each with `before` before it, which is empty after `do`.
pub(super) fn blocks_to_call(context: &mut Context<'_>, before: &str) {
    let has_arguments = !context.cursor.is_at_end();
    for block in blocks(&context.cursor) {
        let params = &block.facts.params;
        let detail = match params.is_empty() {
            true => "block".to_owned(),
            false => format!("block · ({})", params.join(", ")),
        };
        let mut item = context
            .item(CompletionKind::Block, format!("{before}{}", block.name))
            .detail(detail)
            .documentation(block.documentation);
        if !params.is_empty() && !has_arguments {
            let gaps: Vec<String> = params
                .iter()
                .enumerate()
                .map(|(index, param)| format!("${{{}:{}}}", index + 1, escape(param)))
                .collect();
            item = item.snippet(format!("{before}{}({})", escape(&block.name), gaps.join(", ")));
        }
        context.add(item);
    }
}

/// The imported programs as calls.
pub(super) fn programs_to_call(context: &mut Context<'_>) {
    let has_arguments = !context.cursor.is_at_end();
    let mut names: Vec<SmolStr> = Vec::new();
    for placed in &statements(context.cursor.db, context.cursor.file).list {
        let summary = summary(context.cursor.db, placed.statement);
        let bound = summary.imports.iter().filter_map(|import| summary.name(import.name?));
        names.extend(bound.map(|name| name.text.clone()));
    }
    names.dedup();
    if names.len() > 1 {
        let uses = uses(&context.cursor, RefKind::Callee);
        names.sort_by_key(|name| Reverse(uses.get(name.as_str()).copied().unwrap_or(0)));
    }
    for name in names {
        let mut item = context.item(CompletionKind::Program, name.as_str()).detail("imported program");
        let known = program(&context.cursor, &name).map(|program| contract(context.cursor.db, program));
        if let Some(contract) = known {
            item = item.detail(signature(contract)).documentation(contract_documentation(contract));
        }
        if !has_arguments {
            let inputs = known.map(|contract| contract.inputs.as_slice()).unwrap_or_default();
            let needed = inputs.iter().filter(|input| !input.is_optional());
            let gaps: Vec<String> = needed
                .enumerate()
                .map(|(index, input)| format!("{}: ${}", escape(&input.name), index + 1))
                .collect();
            let arguments = if gaps.is_empty() { "$1".to_owned() } else { gaps.join(", ") };
            item = item.snippet(format!("{}({arguments})", escape(&name)));
        }
        context.add(item);
    }
}

fn signature(contract: &Contract) -> String {
    let inputs: Vec<&str> = contract.inputs.iter().map(|input| input.name.as_str()).collect();
    let outputs = contract.outputs.join(", ");
    match outputs.is_empty() {
        true => format!("program · ({})", inputs.join(", ")),
        false => format!("program · ({}) → {outputs}", inputs.join(", ")),
    }
}

fn contract_documentation(contract: &Contract) -> String {
    let lines: Vec<String> = contract
        .inputs
        .iter()
        .map(|input| match &input.description {
            Some(description) => format!("- `{}`: {description}", input.name),
            None => format!("- `{}`", input.name),
        })
        .collect();
    lines.join("\n")
}

/// The file of an imported program, where it is known.
pub(super) fn program(cursor: &Cursor<'_>, name: &SmolStr) -> Option<SourceFile> {
    programs(cursor.db, cursor.file, name).next()
}

/// The parts of a value, after the dot that ends the pieces.
pub(super) fn fields(context: &mut Context<'_>) {
    let pieces = &context.cursor.pieces[..context.cursor.pieces.len() - 1];
    match pieces {
        // What a field has for parts is not known.
        [.., dot, name] if dot.kind == DOT && name.is_name() => {}
        [.., name] if name.is_name() => {
            let name = name.text;
            parts_of_variable(context, name);
        }
        // `research(topic: "x").`
        [.., closer] if closer.kind == R_PAREN => {
            let mut depth = 0;
            let open = pieces.iter().rposition(|piece| {
                depth += crate::cursor::bracket(piece.kind);
                depth == 0
            });
            let callee = open.and_then(|open| pieces[..open].last());
            let callee = callee.filter(|callee| callee.is_name()).map(|callee| SmolStr::from(callee.text));
            if let Some(callee) = callee {
                outputs_of_program(context, &callee);
            }
        }
        _ => {}
    }
}

/// The parts of what a visible variable stands for: outputs, branches, entries.
pub(super) fn parts_of_variable(context: &mut Context<'_>, variable: &str) {
    let Some(variable) = visible(&context.cursor).into_iter().find(|visible| visible.name == variable) else {
        return;
    };
    for composite in variable.results(context.cursor.db) {
        let detail = match composite {
            Composite::Program(program) => match &variable.program {
                Some(name) => format!("output of `{name}`"),
                None => format!("output of `{}`", program.path(context.cursor.db).display()),
            },
            Composite::Block(block) => {
                format!("output of `{}`", body(context.cursor.db, block.statement)[block.name].text)
            }
            Composite::Parallel(..) => "branch".to_owned(),
            Composite::Object(..) => "entry".to_owned(),
            Composite::Error => "field of the error".to_owned(),
        };
        parts(context, composite, &detail);
    }
}

/// The parts of a value that are not offered yet.
fn parts(context: &mut Context<'_>, composite: Composite<'_>, detail: &str) {
    for part in composite.parts(context.cursor.db) {
        if context.items.iter().all(|item| item.label != part) {
            context.add(context.item(CompletionKind::Field, part.as_str()).detail(detail));
        }
    }
}

/// The outputs of an imported program.
pub(super) fn outputs_of_program(context: &mut Context<'_>, name: &SmolStr) {
    if let Some(program) = program(&context.cursor, name) {
        parts(context, Composite::Program(program), &format!("output of `{name}`"));
    }
}

/// The outputs of a block that gives several.
pub(super) fn outputs_of_block(context: &mut Context<'_>, name: &SmolStr) {
    let named = lookup(context.cursor.db, context.cursor.file, name).unwrap_or_default();
    for block in &named.blocks {
        parts(context, Composite::Block(*block), &format!("output of `{name}`"));
    }
}
