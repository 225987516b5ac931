//! Names: agents, blocks, programs and variables.

use std::collections::HashSet;
use std::ops::Range;

use prose_analysis::call_graph::call_graph;
use prose_analysis::contract::{ContractInput, contract};
use prose_analysis::imports::{Imported, imported, note, reference};
use prose_analysis::index::Site;
use prose_analysis::location::Origin;
use prose_analysis::model::*;
use prose_analysis::resolve::{Resolved, resolve};
use prose_analysis::rights::{Requests, identity, requests};
use prose_analysis::statements::{TopStatement, body, summary};
use prose_analysis::summary::Persist;
use prose_analysis::{Db, SourceFile};
use prose_reference::Reference;
use prose_syntax::{TextRange, TextSize};
use smol_str::SmolStr;

use crate::calls::{Callable, incoming_calls};
use crate::comments::{comment_above, first_comment};
use crate::element::Word;
use crate::entity::{Composite, Entity, EntityKind, binding_range, keys_of_field, name_range, results};
use crate::lines::line_number;
use crate::markdown::{escaped, excerpt, fenced, first_line, inline, paragraphs};
use crate::references::{Access, references_in};
use prose_syntax::lines::line_start;

/// Documentation of what a word stands for.
pub(super) fn of_word<'db>(db: &'db dyn Db, statement: TopStatement<'db>, word: &Word) -> Option<String> {
    if let Word::Used(id) = word
        && resolve(db, statement).of(*id) == Resolved::Literal
    {
        let name = inline(&format!("{{{}}}", body(db, statement)[*id].text));
        return Some(format!("{name} is literal text: nothing in this file has this name."));
    }
    let entities = Entity::of_word(db, statement, word);
    let of_entity = |entity: &Entity<'db>| {
        // An agent that is defined twice is shown as the definition that the cursor is on, if it is on one.
        let site = match word {
            Word::Bound(name) if entity.file == statement.file(db) => Some(Site { statement, name: *name }),
            _ => None,
        };
        match entity.kind {
            EntityKind::Agent => agent(db, entity, site.or_else(|| entity.sites(db).first().copied())?),
            EntityKind::Block => block(db, entity, site.or_else(|| entity.sites(db).first().copied())?),
            EntityKind::Program => program(db, site.or_else(|| entity.sites(db).first().copied())?),
            _ => variable(db, statement.file(db), entity, word),
        }
    };
    let mut found: Vec<String> = entities.iter().filter_map(of_entity).collect();
    found.extend(keys_of_field(db, statement, word).into_iter().filter_map(|(statement, key)| {
        let key = key + statement.start(db)?;
        let line = line_number(db, statement.file(db), key.start());
        Some(paragraphs([
            fenced("prose", &line_around(db, statement.file(db), key)),
            format!("entry {}, line {line}", inline(&statement.file(db).text(db).as_str()[key])),
        ]))
    }));
    (!found.is_empty()).then(|| found.join("\n\n---\n\n"))
}

/// Documentation of the program at the path of a `use`.
pub(super) fn of_path<'db>(db: &'db dyn Db, statement: TopStatement<'db>, import: StmtId) -> Option<String> {
    let Stmt::Use { path: Some(path), .. } = body(db, statement)[import].stmt else { return None };
    let start = statement.start(db)?;
    let range = body(db, statement)[import].range + start;
    let path = body(db, statement).string(path)?;
    Some(import_at(db, statement.file(db), range, path))
}

fn agent<'db>(db: &'db dyn Db, entity: &Entity<'db>, site: Site<'db>) -> Option<String> {
    let body = body(db, site.statement);
    let data = &body[site.name];
    let Stmt::Agent { properties, .. } = &body[data.stmt].stmt else { return None };
    let source = |range: TextRange| source_of(db, site.statement, range);
    let value = |name: &str| properties.iter().find(|property| property.name.text == name);
    let mut facts = Vec::new();
    if let Some(model) = value("model").and_then(|model| body.text(model.value?)?.value.clone()) {
        let alias = site.statement.file(db).project(db).models.get(&model).filter(|id| !id.is_empty());
        let alias = alias.map(|alias| format!(" ({})", inline(alias))).unwrap_or_default();
        facts.push(format!("- Model: {}{alias}", inline(&model)));
    }
    if value("model").is_none() {
        facts.push("- Model: the default of the harness".to_owned());
    }
    facts.extend(memory(db, site));
    if let Some(skills) = value("skills").and_then(|skills| skills.value) {
        facts.push(format!("- Skills: {}", inline(&source(body[skills].range))));
    }
    if let Some(permissions) = value("permissions") {
        let rules = permissions.entries.iter().flatten().filter_map(|rule| {
            let value = inline(&first_line(&source(body[rule.value?].range)));
            Some(format!("  - {}: {value}", inline(&rule.name.text)))
        });
        let rules: Vec<String> = rules.collect();
        if !rules.is_empty() {
            facts.push(format!("- Permissions:\n{}", rules.join("\n")));
        }
    }
    let prompt = value("prompt")
        .and_then(|prompt| body.text(prompt.value?))
        .map(|text| excerpt(&source(text.content)))
        .filter(|prompt| !prompt.is_empty())
        .map(|prompt| fenced("text", &prompt));
    Some(paragraphs([
        fenced("prose", &first_line(&format!("agent {}:", data.text))),
        comment_above(db, site),
        facts.join("\n"),
        prompt.unwrap_or_default(),
        uses(db, entity, "Used"),
    ]))
}

/// The place of the memory of an agent (R42).
fn memory<'db>(db: &'db dyn Db, site: Site<'db>) -> Option<String> {
    let facts = summary(db, site.statement).agent(site.name)?;
    let body = body(db, site.statement);
    let name = &body[site.name].text;
    let (lasts, path) = match &facts.persist {
        Persist::No | Persist::Invalid => return None,
        Persist::Run => ("with the run", format!(".prose/runs/…/agents/{name}/")),
        Persist::Longer => match persist_value(body, site.name)?.as_str() {
            "project" => ("with the project", format!(".prose/agents/{name}/")),
            "user" => ("for all your projects", format!("~/.prose/agents/{name}/")),
            path => ("at its own path", path.to_owned()),
        },
    };
    Some(format!("- Memory: kept {lasts}, in {}", inline(&path)))
}

fn persist_value(body: &Body, name: NameId) -> Option<SmolStr> {
    let Stmt::Agent { properties, .. } = &body[body[name].stmt].stmt else { return None };
    let persist = properties.iter().find(|property| property.name.text == "persist")?;
    body.text(persist.value?)?.value.clone()
}

fn block<'db>(db: &'db dyn Db, entity: &Entity<'db>, site: Site<'db>) -> Option<String> {
    let facts = summary(db, site.statement).block(site.name)?;
    let body = body(db, site.statement);
    let data = &body[site.name];
    let Stmt::Block { options, .. } = &body[data.stmt].stmt else { return None };
    let has_limit =
        options.iter().any(|option| option.name.as_ref().is_some_and(|name| name.text == "max_depth"));
    let options: Vec<String> =
        options.iter().map(|option| source_of(db, site.statement, option.range)).collect();
    let options = if options.is_empty() { String::new() } else { format!(" ({})", options.join(", ")) };
    let params = match facts.params.as_slice() {
        [] => String::new(),
        params => format!("({})", params.join(", ")),
    };
    let outputs = match facts.outputs.as_slice() {
        [] => String::new(),
        outputs => format!("Outputs: {}", names(outputs)),
    };
    let is_recursive = call_graph(db, entity.file).is_recursive(&entity.name);
    let depth = match (is_recursive, has_limit) {
        (true, false) => "Recursive, without `max_depth:`: at most 100 nested calls.",
        (true, true) => "Recursive, up to `max_depth:`.",
        (false, _) => "",
    };
    Some(paragraphs([
        fenced("prose", &first_line(&format!("block {}{params}{options}:", data.text))),
        comment_above(db, site),
        outputs,
        depth.to_owned(),
        callers(db, entity),
    ]))
}

/// Who calls a block, and in which lines.
fn callers<'db>(db: &'db dyn Db, block: &Entity<'db>) -> String {
    const MAX_CALLERS: usize = 20;
    let callee = Callable::Block(block.file, block.name.clone());
    let calls = incoming_calls(db, &callee, &[]);
    let more = calls.len().saturating_sub(MAX_CALLERS);
    let callers = calls.iter().take(MAX_CALLERS).map(|calls| {
        let lines = lines(db, block.file, calls.ranges.iter().map(|range| range.start()));
        match &calls.other {
            Callable::Block(_, name) => format!("block {} in {lines}", inline(name)),
            Callable::Program(_) => format!("the program in {lines}"),
        }
    });
    let more = (more > 0).then(|| format!("{more} more"));
    let callers: Vec<String> = callers.chain(more).collect();
    if callers.is_empty() { "Never called".to_owned() } else { format!("Called by {}", callers.join(", ")) }
}

/// Numbers of lines, as a part of a sentence.
fn lines(db: &dyn Db, file: SourceFile, offsets: impl Iterator<Item = TextSize>) -> String {
    const MAX_LINES: usize = 5;
    let mut lines: Vec<usize> =
        offsets.take(MAX_LINES + 1).map(|offset| line_number(db, file, offset)).collect();
    lines.sort_unstable();
    lines.dedup();
    let more = if lines.len() > MAX_LINES { " …" } else { "" };
    let shown: Vec<String> = lines.iter().take(MAX_LINES).map(usize::to_string).collect();
    match shown.as_slice() {
        [line] => format!("line {line}"),
        lines => format!("lines {}{more}", lines.join(", ")),
    }
}

fn names(names: &[SmolStr]) -> String {
    names.iter().map(|name| inline(name)).collect::<Vec<_>>().join(", ")
}

fn program<'db>(db: &'db dyn Db, site: Site<'db>) -> Option<String> {
    let facts = summary(db, site.statement).import(site.name)?;
    let range = binding_range(db, site)?;
    let path = facts.path.clone()?;
    Some(import_at(db, site.statement.file(db), range, &path))
}

fn import_at(db: &dyn Db, file: SourceFile, import: TextRange, path: &str) -> String {
    let about = match imported(db, file, path) {
        Imported::Program(program) => program_contract(db, program),
        Imported::Missing => "There is no program at this path.".to_owned(),
        Imported::Unknown => match reference(db, file, path) {
            Ok(Reference::Registry(_)) => "A program in a registry".to_owned(),
            Ok(Reference::Git(_)) => "A program in a git repository".to_owned(),
            Ok(Reference::Url(_)) => "A program at an address".to_owned(),
            Ok(Reference::Local(_)) => "A local program that is not loaded yet".to_owned(),
            Err(_) => String::new(),
        },
    };
    let note = note(db, file, path).map(|note| note.message.clone()).unwrap_or_default();
    paragraphs([fenced("prose", &line_of(db, file, import)), about, note])
}

/// What a program takes and gives.
fn program_contract(db: &dyn Db, program: SourceFile) -> String {
    let contract = contract(db, program);
    let inputs = contract.inputs.iter().map(input_entry);
    let outputs = contract.outputs.iter().map(|output| format!("- {}", inline(output)));
    let list = |title: &str, entries: Vec<String>| match entries.as_slice() {
        [] => String::new(),
        entries => format!("{title}:\n{}", entries.join("\n")),
    };
    let gives_nothing = contract.outputs.is_empty() && !contract.returns;
    paragraphs([
        match program.origin(db) {
            Origin::Local => program_name(db, program),
            Origin::Remote(_) => version(db, program),
        },
        first_comment(db, program),
        list("Inputs", inputs.collect()),
        list("Outputs", outputs.collect()),
        if gives_nothing { "No outputs.".to_owned() } else { String::new() },
        list(
            "Requested rights",
            requests(db, program).iter().map(|requests| request_entry(db, program, requests)).collect(),
        ),
    ])
}

/// What a fetched program requests in addition to its inputs, or one that it imports.
fn request_entry(db: &dyn Db, program: SourceFile, requests: &Requests) -> String {
    let rights: Vec<String> = requests.rights.iter().map(|right| inline(&right.to_string())).collect();
    let is_own = identity(db, program).is_some_and(|own| own == requests.identity);
    let of = if is_own { String::new() } else { format!("{}: ", inline(&requests.identity.name)) };
    format!("- {of}{}", rights.join(", "))
}

/// What a program is called: a file by its path, one of the network by what others import it by.
fn program_name(db: &dyn Db, program: SourceFile) -> String {
    match program.origin(db) {
        Origin::Local => inline(&program.path(db).to_string_lossy()),
        Origin::Remote(origin) => inline(&origin.reference.to_string()),
    }
}

/// Where a program of the network came from, and when.
fn version(db: &dyn Db, program: SourceFile) -> String {
    match program.origin(db) {
        Origin::Local => String::new(),
        Origin::Remote(origin) => escaped(&origin.version),
    }
}

fn input_entry(input: &ContractInput) -> String {
    let name = inline(&input.name);
    let optional = if input.is_optional() { " (optional)" } else { "" };
    match &input.description {
        Some(description) => format!("- {name}{optional}: {}", escaped(&first_line(description))),
        None => format!("- {name}"),
    }
}

fn variable<'db>(db: &'db dyn Db, from: SourceFile, entity: &Entity<'db>, word: &Word) -> Option<String> {
    const MAX_SITES: usize = 5;
    let mut sites = entity.declarations(db);
    let wanted = match word {
        Word::Argument { .. } => Some(NameKind::Input),
        Word::Field { .. } => Some(NameKind::Output),
        Word::Bound(_) | Word::Used(_) => None,
    };
    let kind = |site: &Site<'db>| body(db, site.statement)[site.name].kind;
    if let Some(wanted) = wanted
        && entity.sites(db).iter().any(|site| kind(site) == wanted)
    {
        sites = entity.sites(db);
        sites.retain(|site| kind(site) == wanted);
    }
    let first = *sites.first()?;
    let mut lines: Vec<String> = Vec::new();
    let mut seen = HashSet::new();
    for site in &sites {
        let line = binding_line(db, *site)?;
        if seen.insert(line.clone()) {
            lines.push(line);
        }
    }
    let more = lines.len().saturating_sub(MAX_SITES);
    lines.truncate(MAX_SITES);
    if more > 0 {
        lines.push(format!("# … and {more} more"));
    }
    let data = &body(db, first.statement)[first.name];
    Some(paragraphs([
        fenced("prose", &lines.join("\n")),
        format!("{} {}{}", data.kind.noun(), inline(&entity.name), place(db, from, entity, first)),
        comment_above(db, first),
        description(db, first),
        value_parts(db, &sites),
        other_values(db, entity, &sites),
        if entity.file == from { uses(db, entity, "Read") } else { String::new() },
        if entity.file == from { String::new() } else { version(db, entity.file) },
    ]))
}

/// The first line of the statement that binds a name. A clause or a stage further down has a line of its own.
fn binding_line<'db>(db: &'db dyn Db, site: Site<'db>) -> Option<String> {
    let file = site.statement.file(db);
    let (binding, name) = (binding_range(db, site)?, name_range(db, site)?);
    let is_local = body(db, site.statement)[site.name].kind.is_local();
    let before = file.text(db).as_str().get(usize::from(binding.start())..usize::from(name.start()));
    if !is_local || before.is_some_and(|before| !before.contains(['\n', '\r'])) {
        return Some(line_of(db, file, binding));
    }
    Some(line_around(db, file, name))
}

/// The line that a range begins in.
fn line_around(db: &dyn Db, file: SourceFile, range: TextRange) -> String {
    let text = file.text(db).as_str();
    first_line(&text[line_start(text, range.start().into())..]).into_owned()
}

/// Where a variable is bound, as the rest of a sentence.
fn place<'db>(db: &'db dyn Db, from: SourceFile, entity: &Entity<'db>, site: Site<'db>) -> String {
    let line = name_range(db, site).map(|range| line_number(db, entity.file, range.start()));
    let line = line.map(|line| format!(", line {line}")).unwrap_or_default();
    let facts = summary(db, site.statement);
    let block = facts.name(site.name).and_then(|bound| facts.blocks.get(bound.block? as usize));
    let block = block.and_then(|block| Some(&facts.name(block.name?)?.text));
    let block = block.map(|block| format!(" of block {}", inline(block))).unwrap_or_default();
    let file = match entity.file == from {
        true => String::new(),
        false => format!(" of {}", program_name(db, entity.file)),
    };
    format!("{block}{file}{line}")
}

/// What an input is for.
fn description<'db>(db: &'db dyn Db, site: Site<'db>) -> String {
    let body = body(db, site.statement);
    let Stmt::Input { description: Some(description), .. } = &body[body[site.name].stmt].stmt else {
        return String::new();
    };
    let text = body.text(*description).map(|text| source_of(db, site.statement, text.content));
    // One that is on the line is shown with it.
    let text = text.filter(|text| text.contains(['\n', '\r']));
    text.map(|text| fenced("text", &excerpt(&text))).unwrap_or_default()
}

/// What gave a variable its value, with the parts that have names.
fn value_parts<'db>(db: &'db dyn Db, sites: &[Site<'db>]) -> String {
    let listed = sites.iter().flat_map(|site| results(db, *site)).filter_map(|result| {
        let parts = result.parts(db);
        let giver = match result {
            Composite::Program(program) => format!("A result of {}", program_name(db, program)),
            Composite::Block(block) => {
                format!("A result of block {}", inline(&body(db, block.statement)[block.name].text))
            }
            Composite::Parallel(..) if parts.is_empty() => return None,
            Composite::Parallel(..) => return Some(format!("The results of the branches {}", names(&parts))),
            Composite::Error => return Some(format!("An error, with {}", names(&parts))),
            // It is shown as it is written.
            Composite::Object(..) => return None,
        };
        Some(if parts.is_empty() { giver } else { format!("{giver}, with {}", names(&parts)) })
    });
    let mut seen = HashSet::new();
    paragraphs(listed.filter(|listed| seen.insert(listed.clone())).collect::<Vec<_>>())
}

/// The lines that give a declared variable other values.
fn other_values<'db>(db: &'db dyn Db, entity: &Entity<'db>, declarations: &[Site<'db>]) -> String {
    let declarations: HashSet<&Site<'_>> = declarations.iter().collect();
    let sites = entity.sites(db).into_iter().filter(|site| !declarations.contains(site));
    let mut ranges = sites.filter_map(|site| name_range(db, site)).peekable();
    if ranges.peek().is_none() {
        return String::new();
    }
    format!("Assigned again in {}", lines(db, entity.file, ranges.map(|range| range.start())))
}

/// The lines of its own file that use an agent or the value of a variable.
fn uses<'db>(db: &'db dyn Db, entity: &Entity<'db>, verb: &str) -> String {
    let found = references_in(db, entity.file, entity).into_iter();
    let mut reads = found.filter(|found| found.access == Access::Read).peekable();
    if reads.peek().is_none() {
        return String::new();
    }
    format!("{verb} in {}", lines(db, entity.file, reads.map(|read| read.range.start())))
}

fn line_of(db: &dyn Db, file: SourceFile, range: TextRange) -> String {
    let text = file.text(db).as_str();
    first_line(text.get(Range::from(range)).unwrap_or_default()).into_owned()
}

/// The text of a part of a statement.
fn source_of(db: &dyn Db, statement: TopStatement<'_>, range: TextRange) -> String {
    let Some(start) = statement.start(db) else { return String::new() };
    let text = statement.file(db).text(db).as_str();
    text.get(Range::from(range + start)).unwrap_or_default().to_owned()
}
