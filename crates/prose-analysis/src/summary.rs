//! Summaries of statements, without positions.
//!
//! Everything that is asked across statements is asked here, so that an edit which leaves the summary as it is, such as one in a
//! prompt, has no effect on other statements.

use prose_syntax::braces;
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;

use crate::certain::{certain_calls, certain_calls_of_root, may_end};
use crate::model::*;

/// The summary of a statement: what the analysis of other statements depends on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Summary {
    /// Every name that is bound, in the order of the text.
    pub names: Vec<Bound>,
    /// Every name that is used, in the order of the text.
    pub uses: Vec<Used>,
    /// The agents that are defined.
    pub agents: Vec<AgentFacts>,
    /// The blocks that are defined.
    pub blocks: Vec<BlockFacts>,
    /// The programs that are imported.
    pub imports: Vec<ImportFacts>,
    /// The skills that `import` lines bring.
    pub skills: Vec<SmolStr>,
    /// The skills that agents and sessions have.
    pub used_skills: Vec<SmolStr>,
    /// The inputs that are declared outside of blocks.
    pub inputs: Vec<InputFacts>,
    /// Whether there is an input without a name.
    pub has_nameless_input: bool,
    /// Whether a statement that runs something is among these, or is this one.
    pub runs: bool,
    /// Whether the program returns a value without a name outside of blocks.
    pub returns: bool,
    /// Whether statements after this one are unreachable.
    pub leaves: bool,
    /// Whether the program may end at the statement, or may not come to the end of it.
    pub may_end: bool,
    /// Calls of blocks that every run of the statement comes to.
    pub certain_calls: Vec<RefId>,
    /// Words of lines that were not understood.
    pub lost: Vec<SmolStr>,
    /// The words of conditions, since a model that judges `**the draft is good**` gets `draft` without braces, too; and the names
    /// in braces of one-line strings that fill in nothing, which is reported there.
    pub mentions: Vec<SmolStr>,
}

/// A name that is bound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bound {
    /// The name in the model.
    pub id: NameId,
    /// The name.
    pub text: SmolStr,
    /// What is bound to it.
    pub kind: NameKind,
    /// The block whose frame it is bound in, as an index into [`Summary::blocks`]; none for the file's.
    pub block: Option<u32>,
    /// The list of statements that the binding stands in; none for the top level.
    pub list: Option<ListId>,
    /// The program whose result it is.
    pub program: Option<SmolStr>,
    /// The block whose result it is.
    pub called_block: Option<SmolStr>,
    /// Whether the value is made from what the name stood for before.
    pub from_itself: bool,
}

/// A name that is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Used {
    /// The use in the model.
    pub id: RefId,
    /// The name.
    pub text: SmolStr,
    /// What it should be the name of.
    pub kind: RefKind,
    /// Where it is written.
    pub place: Place,
    /// The block whose frame it is looked up in.
    pub block: Option<u32>,
    /// Whether a loop, catch or pipeline variable, or a name of the block's frame, answers to it.
    pub is_local: bool,
    /// Whether a session resumes the agent.
    pub resumes: bool,
}

/// The facts of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentFacts {
    /// Its name in the model.
    pub name: Option<NameId>,
    /// Where its memory is kept.
    pub persist: Persist,
    /// Whether it has a prompt, or may have one on a line that was not understood.
    pub has_prompt: bool,
    /// Whether its sessions are tried again, or may be.
    pub has_retry: bool,
    /// Its model, as it is written.
    pub model: Option<SmolStr>,
}

/// Where an agent's memory is kept.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Persist {
    /// It has none.
    #[default]
    No,
    /// With the run.
    Run,
    /// With the project or the user, or at a path, where it may be from an earlier run.
    Longer,
    /// The property has a value that cannot be right, or may stand on a line that was not understood.
    Invalid,
}

/// The facts of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockFacts {
    /// Its name in the model.
    pub name: Option<NameId>,
    /// Its parameters.
    pub params: Vec<SmolStr>,
    /// Whether there may be more of them, on a header that was not understood.
    pub has_lost_params: bool,
    /// Its named outputs, each once.
    pub outputs: Vec<SmolStr>,
    /// Whether each call surely gives an object of them (R86): two at least are always made, and nothing is returned without a name.
    pub gives_object: bool,
    /// Calls that every run of the block comes to.
    pub certain_calls: Vec<RefId>,
}

/// The facts of an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportFacts {
    /// The statement.
    pub stmt: StmtId,
    /// The path as it is written.
    pub path: Option<SmolStr>,
    /// The name it is called by.
    pub name: Option<NameId>,
    /// Whether that name is given with `as`.
    pub has_alias: bool,
}

/// The facts of an input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputFacts {
    /// Its name in the model.
    pub name: NameId,
    /// Its name.
    pub text: SmolStr,
    /// What it is for.
    pub description: Option<SmolStr>,
}

impl Summary {
    pub(crate) fn new(body: &Body) -> Self {
        Builder { body, summary: Summary { lost: body.lost.clone(), ..Summary::default() } }.build()
    }

    /// The name that is bound there.
    pub fn name(&self, id: NameId) -> Option<&Bound> {
        self.names.get(id.0 as usize)
    }

    /// The facts of the agent of that name.
    pub fn agent(&self, name: NameId) -> Option<&AgentFacts> {
        find(&self.agents, name, |agent| agent.name)
    }

    /// The facts of the block of that name.
    pub fn block(&self, name: NameId) -> Option<&BlockFacts> {
        find(&self.blocks, name, |block| block.name)
    }

    /// The facts of the import of that name.
    pub fn import(&self, name: NameId) -> Option<&ImportFacts> {
        find(&self.imports, name, |import| import.name)
    }
}

/// Finds the facts of a name in a list in the order of the text, and so of names; entries without a name may be in between.
fn find<T>(list: &[T], wanted: NameId, name: impl Fn(&T) -> Option<NameId>) -> Option<&T> {
    let (mut start, mut end) = (0, list.len());
    while start < end {
        let middle = start + (end - start) / 2;
        let named = (middle..end).find_map(|at| Some((at, name(&list[at])?)));
        match named {
            Some((at, found)) if found == wanted => return list.get(at),
            Some((at, found)) if found < wanted => start = at + 1,
            _ => end = middle,
        }
    }
    None
}

struct Builder<'a> {
    body: &'a Body,
    summary: Summary,
}

impl Builder<'_> {
    fn build(mut self) -> Summary {
        let body = self.body;
        let mut frames: FxHashMap<ScopeId, u32> = FxHashMap::default();
        for (id, data) in body.stmts() {
            match &data.stmt {
                Stmt::Agent { name, properties } => {
                    self.summary.agents.push(agent(body, *name, id, properties));
                    self.skills(properties);
                }
                Stmt::Session { properties, .. } | Stmt::Resume { properties, .. } => {
                    self.skills(properties);
                }
                Stmt::Import { skill: Some(skill), .. } => {
                    self.summary.skills.extend(body.string(*skill).map(SmolStr::from));
                }
                Stmt::Block { name, params, body: list, .. } => {
                    let inner =
                        list.map(|list| body.frame_of_list(list)).or(params.first().map(|p| body[*p].scope));
                    if let Some(scope) = inner {
                        frames.entry(scope).or_insert(self.summary.blocks.len() as u32);
                    }
                    self.summary.blocks.push(block(body, id, *name, params, *list, inner));
                }
                Stmt::Use { path, name, has_alias } => self.summary.imports.push(ImportFacts {
                    stmt: id,
                    path: path.and_then(|path| body.string(path)).map(SmolStr::from),
                    name: *name,
                    has_alias: *has_alias,
                }),
                Stmt::Input { name: Some(name), description } if body.frame(data.scope) == ScopeId(0) => {
                    let description =
                        description.and_then(|text| body.text(text)?.value.as_deref()).map(without_layout);
                    self.summary.inputs.push(InputFacts {
                        name: *name,
                        text: body[*name].text.clone(),
                        description,
                    });
                }
                Stmt::Input { name: None, .. } => self.summary.has_nameless_input = true,
                Stmt::Output { name: None, .. } if body.frame(data.scope) == ScopeId(0) => {
                    self.summary.returns = true;
                }
                _ => {}
            }
            self.summary.runs |= matches!(
                data.stmt,
                Stmt::Session { .. } | Stmt::Resume { .. } | Stmt::Call { .. } | Stmt::Expr(_)
            ) && body.frame(data.scope) == ScopeId(0);
        }
        // A jump without a loop around it is a mistake of its own.
        self.summary.leaves = body.root().is_some_and(|root| {
            !matches!(body[root].stmt, Stmt::Break | Stmt::Continue) && body.leaves(root)
        });
        // A definition runs nothing.
        if let Some(root) = body.root().filter(|root| !matches!(body[*root].stmt, Stmt::Block { .. })) {
            self.summary.may_end = may_end(body, root);
            self.summary.certain_calls = certain_calls_of_root(body);
        }
        let block_of = |scope: ScopeId| frames.get(&body.frame(scope)).copied();
        let mut values = vec![None; body.names().len()];
        for (name, value) in named_values(body) {
            values[name.0 as usize] = Some(value);
        }
        for ((id, data), value) in body.names().zip(values) {
            self.summary.names.push(Bound {
                id,
                text: data.text.clone(),
                kind: data.kind,
                block: block_of(data.scope),
                list: body[data.stmt].list,
                program: value.and_then(|value| body.called_program(value)),
                called_block: value.and_then(|value| body.called_block(value)),
                // Only what stands twice is of interest, and declarations do rarely.
                from_itself: data.kind == NameKind::Output
                    && value.is_some_and(|value| body.mentions(value, &data.text)),
            });
        }
        for (_, data) in body.exprs() {
            if let Expr::Text(Text { kind: TextKind::Discretion, value: Some(text), .. }) = &data.expr {
                let words = text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-')));
                self.summary.mentions.extend(words.filter(|word| !word.is_empty()).map(SmolStr::from));
            }
            if let Expr::Text(Text { kind: TextKind::OneLine, value: Some(text), .. }) = &data.expr
                && text.contains('{')
            {
                let names = braces::broken_interpolations(text)
                    .into_iter()
                    .map(|slip| SmolStr::from(&text[slip.name]));
                self.summary.mentions.extend(names);
            }
        }
        self.summary.mentions.sort();
        self.summary.mentions.dedup();
        for (id, data) in body.refs() {
            self.summary.uses.push(Used {
                id,
                text: data.text.clone(),
                kind: data.kind,
                place: data.place,
                block: block_of(data.scope),
                is_local: body.local(id).is_some(),
                resumes: matches!(&body[data.stmt].stmt, Stmt::Resume { .. }),
            });
        }
        self.summary
    }

    fn skills(&mut self, properties: &[Property]) {
        let body = self.body;
        let values = properties.iter().filter(|property| property.is_or_resembles("skills"));
        for (_, text) in values.filter_map(|property| property.value).flat_map(|value| body.skills(value)) {
            self.summary.used_skills.extend(text.value.clone());
        }
    }
}

fn agent(body: &Body, name: Option<NameId>, stmt: StmtId, properties: &[Property]) -> AgentFacts {
    // A line that was not understood may have been any property.
    let lost = body[stmt].lost_property;
    let has = |name: &str| lost || properties.iter().any(|property| property.is_or_resembles(name));
    let model = properties.iter().find(|property| property.name.text == "model");
    AgentFacts {
        name,
        persist: persist(body, properties, lost),
        has_prompt: has("prompt"),
        has_retry: has("retry"),
        model: model.and_then(|model| body.text(model.value?)?.value.clone()),
    }
}

fn persist(body: &Body, properties: &[Property], lost: bool) -> Persist {
    let Some(property) = properties.iter().find(|property| property.is_or_resembles("persist")) else {
        return if lost { Persist::Invalid } else { Persist::No };
    };
    let Some(value) = property.value else { return Persist::Invalid };
    match &body[value].expr {
        Expr::Bool(true) => Persist::Run,
        Expr::Bool(false) => Persist::No,
        Expr::Text(_) => match body.word(value) {
            None | Some("project" | "user") => Persist::Longer,
            Some(_) => Persist::Invalid,
        },
        _ => Persist::Invalid,
    }
}

fn block(
    body: &Body,
    stmt: StmtId,
    name: Option<NameId>,
    params: &[NameId],
    list: Option<ListId>,
    frame: Option<ScopeId>,
) -> BlockFacts {
    let mut outputs: Vec<SmolStr> = Vec::new();
    let mut known: FxHashSet<&SmolStr> = FxHashSet::default();
    let mut always_made: FxHashSet<&SmolStr> = FxHashSet::default();
    let range = body[stmt].range;
    for (_, data) in body.names_in(range).filter(|(_, data)| data.kind == NameKind::Output) {
        if Some(data.scope) == frame && known.insert(&data.text) {
            outputs.push(data.text.clone());
        }
        if list.is_some() && body[data.stmt].list == list {
            always_made.insert(&data.text);
        }
    }
    let returns = |data: &StmtData| {
        Some(body.frame(data.scope)) == frame
            && matches!(data.stmt, Stmt::Return(_) | Stmt::Output { name: None, .. })
    };
    let gives_object = outputs.iter().filter(|name| always_made.contains(name)).nth(1).is_some()
        && !body.stmts_in(range).any(|(_, data)| returns(data));
    BlockFacts {
        name,
        params: params.iter().map(|param| body[*param].text.clone()).collect(),
        has_lost_params: body[stmt].lost_property,
        outputs,
        gives_object,
        certain_calls: list.map(|list| certain_calls(body, list)).unwrap_or_default(),
    }
}

/// A text of several lines without the blanks that only serve the layout of the program.
fn without_layout(text: &str) -> SmolStr {
    text.trim().lines().map(str::trim).collect::<Vec<_>>().join("\n").into()
}

/// The names that are bound to a value of their own.
fn named_values(body: &Body) -> Vec<(NameId, Value)> {
    let mut values = Vec::new();
    for (_, data) in body.stmts() {
        match &data.stmt {
            Stmt::Let { names, value: Some(value), destructured: false, .. } => {
                values.extend(names.iter().map(|name| (*name, *value)));
            }
            Stmt::Assign { target: Some(Target::Name(name)), value: Some(value) }
            | Stmt::Output { name: Some(name), value: Some(value) } => values.push((*name, *value)),
            _ => {}
        }
    }
    values
}

impl Body {
    fn frame_of_list(&self, list: ListId) -> ScopeId {
        let owner = self[list].owner;
        let first = self[list].stmts.first().map(|stmt| self[*stmt].scope);
        self.frame(first.unwrap_or(self[owner].scope))
    }

    /// Whether a `return`, `throw` or unnamed `output` stands in the list or below it.
    pub(crate) fn may_leave(&self, list: ListId) -> bool {
        let range = self[list].range;
        self.stmts_in(range).any(|(_, data)| {
            range.contains_range(data.range)
                && matches!(data.stmt, Stmt::Return(_) | Stmt::Throw(_) | Stmt::Output { name: None, .. })
        })
    }

    /// The names of skills that a value holds.
    pub(crate) fn skills(&self, value: ExprId) -> Vec<(ExprId, &Text)> {
        let Expr::Array(items) = &self[value].expr else { return Vec::new() };
        let exprs = items.iter().filter_map(|item| item.expr());
        exprs.filter_map(|expr| Some((expr, self.text(expr)?))).collect()
    }

    /// The program that a value is the result of.
    pub(crate) fn called_program(&self, value: Value) -> Option<SmolStr> {
        let Expr::Call { callee: Some(callee), .. } = &self[value.expr()?].expr else { return None };
        self.name_of(*callee).map(|callee| self[callee].text.clone())
    }

    /// The block that a value is the result of.
    pub(crate) fn called_block(&self, value: Value) -> Option<SmolStr> {
        let Value::Stmt(stmt) = value else { return None };
        let Stmt::Call { block: Some(block), .. } = &self[stmt].stmt else { return None };
        Some(self[*block].text.clone())
    }

    /// Whether a value is made from what a name stands for.
    pub(crate) fn mentions(&self, value: Value, name: &str) -> bool {
        let range = self.value_range(value);
        self.refs_in(range).any(|(_, data)| {
            range.contains_range(data.range)
                && data.text == name
                && matches!(data.kind, RefKind::Variable | RefKind::Write)
        })
    }
}
