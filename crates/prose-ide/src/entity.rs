//! Entities: the agent, block, program or variable that words refer to.

use prose_analysis::contract::contract;
use prose_analysis::imports::{Imported, imported};
use prose_analysis::index::{Named, Site, lookup};
use prose_analysis::model::*;
use prose_analysis::resolve::{Resolved, resolve};
use prose_analysis::statements::{TopStatement, body, summary};
use prose_analysis::{Db, SourceFile};
use prose_syntax::TextRange;
use smol_str::SmolStr;

use crate::element::{Base, Word};

/// Something with a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entity<'db> {
    /// The file it belongs to.
    pub(crate) file: SourceFile,
    /// Its name.
    pub(crate) name: SmolStr,
    /// What has the name.
    pub(crate) kind: EntityKind<'db>,
}

/// The name that a `use` gives its program.
pub(crate) fn import_site<'db>(
    db: &'db dyn Db,
    statement: TopStatement<'db>,
    import: StmtId,
) -> Option<Site<'db>> {
    match body(db, statement)[import].stmt {
        Stmt::Use { name: Some(name), .. } => Some(Site { statement, name }),
        _ => None,
    }
}

/// What has a name. Agents, blocks, programs and variables are looked up apart from each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntityKind<'db> {
    Agent,
    Block,
    Program,
    /// A variable of the file.
    Root,
    /// A variable of a block, known by the scope of the block.
    Frame(TopStatement<'db>, ScopeId),
    /// A loop, catch or pipeline variable.
    Local(TopStatement<'db>, ScopeId),
    /// A variable of some block that is used outside of every such block.
    AnyFrame,
}

impl<'db> Entity<'db> {
    /// What a bound name stands for.
    pub(crate) fn of_site(db: &'db dyn Db, site: Site<'db>) -> Self {
        let file = site.statement.file(db);
        let body = body(db, site.statement);
        let data = &body[site.name];
        let kind = match data.kind {
            NameKind::Agent => EntityKind::Agent,
            NameKind::Block => EntityKind::Block,
            NameKind::Import => EntityKind::Program,
            _ => match body[data.scope].kind {
                ScopeKind::Root => EntityKind::Root,
                ScopeKind::Loop | ScopeKind::Catch => EntityKind::Local(site.statement, data.scope),
                ScopeKind::Frame => {
                    // An assignment in a block gives a new value to the variable of the file, if the block declares none (R17).
                    let answer = body.answer(data.scope, &data.text);
                    let is_declared = answer.is_some_and(|name| body[name].kind != NameKind::Assigned);
                    let is_root = !is_declared
                        && lookup(db, file, &data.text)
                            .is_some_and(|named| named.first_root_variable().is_some());
                    if is_root { EntityKind::Root } else { EntityKind::Frame(site.statement, data.scope) }
                }
            },
        };
        Entity { file, name: data.text.clone(), kind }
    }

    /// What a used name stands for, if it is known.
    pub(crate) fn of_ref(db: &'db dyn Db, statement: TopStatement<'db>, id: RefId) -> Option<Self> {
        let kind = match resolve(db, statement).of(id) {
            Resolved::Local(name) => return Some(Entity::of_site(db, Site { statement, name })),
            Resolved::Root => EntityKind::Root,
            Resolved::Elsewhere => EntityKind::AnyFrame,
            Resolved::Agent | Resolved::AgentAsValue => EntityKind::Agent,
            Resolved::Block => EntityKind::Block,
            Resolved::Program => EntityKind::Program,
            Resolved::Literal | Resolved::Lost | Resolved::Undefined => return None,
        };
        Some(Entity { file: statement.file(db), name: body(db, statement)[id].text.clone(), kind })
    }

    /// What a word stands for. A name that is destructured stands for a new variable and, after it, for the outputs that it is
    /// taken from.
    pub(crate) fn of_word(db: &'db dyn Db, statement: TopStatement<'db>, word: &Word) -> Vec<Self> {
        match word {
            Word::Bound(name) => {
                let site = Site { statement, name: *name };
                std::iter::once(Entity::of_site(db, site)).chain(destructured(db, site)).collect()
            }
            Word::Used(id) => Entity::of_ref(db, statement, *id).into_iter().collect(),
            Word::Argument { callee, name } => parameters(db, statement, *callee, name),
            Word::Field { base, name } => match base {
                Base::Name(id) => {
                    let entity = Entity::of_ref(db, statement, *id);
                    let sites = entity.map(|entity| entity.sites(db)).unwrap_or_default();
                    let results = sites.into_iter().flat_map(|site| results(db, site));
                    distinct(results.flat_map(|result| result.field(db, name)))
                }
                Base::Call(callee) => {
                    let programs = programs(db, statement.file(db), &body(db, statement)[*callee].text);
                    distinct(programs.flat_map(|program| Composite::Program(program).field(db, name)))
                }
                Base::Other => Vec::new(),
            },
        }
    }

    /// Whether two words with these meanings may stand for the same thing.
    pub(crate) fn may_be(&self, other: &Self) -> bool {
        let is_same_kind = match (self.kind, other.kind) {
            (EntityKind::AnyFrame, EntityKind::Frame(..)) | (EntityKind::Frame(..), EntityKind::AnyFrame) => {
                true
            }
            (kind, other) => kind == other,
        };
        is_same_kind && self.name == other.name && self.file == other.file
    }

    /// The places where it is bound, in the order of the text; those of blocks after those of the file.
    pub(crate) fn sites(&self, db: &'db dyn Db) -> Vec<Site<'db>> {
        let named = lookup(db, self.file, &self.name);
        let named = named.as_deref();
        match self.kind {
            EntityKind::Agent => named.map(|named| named.agents.clone()).unwrap_or_default(),
            EntityKind::Block => named.map(|named| named.blocks.clone()).unwrap_or_default(),
            EntityKind::Program => named.map(|named| named.imports.clone()).unwrap_or_default(),
            EntityKind::Root => {
                let in_blocks = variables(named).filter(|(_, is_root)| !is_root);
                let in_blocks =
                    in_blocks.filter(|(site, _)| Entity::of_site(db, *site).kind == EntityKind::Root);
                let in_file = variables(named).filter(|(_, is_root)| *is_root);
                in_file.chain(in_blocks).map(|(site, _)| site).collect()
            }
            EntityKind::AnyFrame => variables(named).map(|(site, _)| site).collect(),
            EntityKind::Frame(statement, scope) | EntityKind::Local(statement, scope) => {
                let body = body(db, statement);
                let names = body[scope].names.iter().copied();
                names
                    .filter(|name| body[*name].text == self.name)
                    .map(|name| Site { statement, name })
                    .collect()
            }
        }
    }

    /// The places where it is declared: where there is a declaration, assignments are none.
    pub(crate) fn declarations(&self, db: &'db dyn Db) -> Vec<Site<'db>> {
        let sites = self.sites(db);
        let kind = |site: &Site<'db>| body(db, site.statement)[site.name].kind;
        let only = |wanted: &dyn Fn(NameKind) -> bool| {
            let found: Vec<_> = sites.iter().copied().filter(|site| wanted(kind(site))).collect();
            (!found.is_empty()).then_some(found)
        };
        only(&|kind| kind.is_declaration() || kind == NameKind::Param)
            .or_else(|| only(&|kind| kind != NameKind::Assigned))
            .unwrap_or(sites)
    }

    /// Whether other programs can name it: whether it is an input or an output of a program.
    pub(crate) fn is_in_contract(&self, db: &'db dyn Db) -> bool {
        let is_open = |site: Site<'db>| {
            matches!(body(db, site.statement)[site.name].kind, NameKind::Input | NameKind::Output)
        };
        self.kind == EntityKind::Root && self.sites(db).into_iter().any(is_open)
    }
}

fn variables<'a, 'db>(named: Option<&'a Named<'db>>) -> impl Iterator<Item = (Site<'db>, bool)> + 'a {
    let variables = named.map(|named| named.variables.as_slice()).unwrap_or_default();
    variables.iter().map(|variable| (variable.site, variable.block.is_none()))
}

fn distinct<'db>(entities: impl Iterator<Item = Entity<'db>>) -> Vec<Entity<'db>> {
    let mut found: Vec<Entity<'db>> = Vec::new();
    for entity in entities {
        if !found.contains(&entity) {
            found.push(entity);
        }
    }
    found
}

/// The known programs that a name is imported for.
pub(crate) fn programs<'db>(
    db: &'db dyn Db,
    file: SourceFile,
    name: &SmolStr,
) -> impl Iterator<Item = SourceFile> + use<'db> {
    let named = lookup(db, file, name).unwrap_or_default();
    named.imports.clone().into_iter().filter_map(|site| program_of(db, site))
}

/// The known program that an import leads to.
pub(crate) fn program_of<'db>(db: &'db dyn Db, site: Site<'db>) -> Option<SourceFile> {
    let path = summary(db, site.statement).import(site.name)?.path.clone()?;
    match imported(db, site.statement.file(db), path) {
        Imported::Program(program) => Some(program),
        Imported::Missing | Imported::Unknown => None,
    }
}

/// A value with named parts.
#[derive(Clone, Copy)]
pub(crate) enum Composite<'db> {
    /// The result of a program, whose parts are its outputs.
    Program(SourceFile),
    /// The result of a block.
    Block(Site<'db>),
    /// The result of a `parallel`, whose parts are its branches.
    Parallel(TopStatement<'db>, StmtId),
    /// An object that is written in the program.
    Object(TopStatement<'db>, ExprId),
    /// What a `catch` names.
    Error,
}

impl<'db> Composite<'db> {
    /// The names of the parts, each once, in the order of the text.
    pub(crate) fn parts(&self, db: &'db dyn Db) -> Vec<SmolStr> {
        let mut parts = match self {
            Composite::Program(program) => contract(db, *program).outputs.clone(),
            Composite::Block(site) => parts_of_block(db, *site).to_vec(),
            Composite::Parallel(statement, parallel) => {
                branches(body(db, *statement), *parallel).map(|(_, data)| data.text.clone()).collect()
            }
            Composite::Object(statement, object) => match &body(db, *statement)[*object].expr {
                Expr::Object(entries) => {
                    entries.iter().filter_map(|entry| Some(entry.key.as_ref()?.text.clone())).collect()
                }
                _ => Vec::new(),
            },
            // R74
            Composite::Error => {
                ["message", "kind", "line", "statement", "attempts"].map(SmolStr::new_static).to_vec()
            }
        };
        let mut seen = rustc_hash::FxHashSet::default();
        parts.retain(|part| seen.insert(part.clone()));
        parts
    }

    fn field(&self, db: &'db dyn Db, name: &SmolStr) -> Vec<Entity<'db>> {
        match self {
            Composite::Program(program) => root_variable(db, *program, name, NameKind::Output),
            Composite::Block(site) if parts_of_block(db, *site).is_empty() => Vec::new(),
            Composite::Block(site) => frame_variable(db, *site, name, NameKind::Output),
            Composite::Parallel(statement, parallel) => {
                let branches =
                    branches(body(db, *statement), *parallel).filter(|(_, data)| data.text == *name);
                distinct(branches.map(|(name, _)| Entity::of_site(db, Site { statement: *statement, name })))
            }
            // Their parts are no names that anything else in the program could speak of.
            Composite::Object(..) | Composite::Error => Vec::new(),
        }
    }
}

/// The parts of the result of a block: the only output of a block is its result, not a part of it (B6).
fn parts_of_block<'db>(db: &'db dyn Db, block: Site<'db>) -> &'db [SmolStr] {
    let outputs = summary(db, block.statement).block(block.name).map(|block| block.outputs.as_slice());
    outputs.filter(|outputs| outputs.len() > 1).unwrap_or_default()
}

/// The branches of a `parallel` that have a name.
fn branches(body: &Body, parallel: StmtId) -> impl Iterator<Item = (NameId, &NameData)> {
    body.names().filter(move |(_, data)| {
        data.kind == NameKind::Branch && body[data.stmt].list.is_some_and(|list| body[list].owner == parallel)
    })
}

/// The keys of the objects that a word after a dot is taken from, where these are written in the program.
pub(crate) fn keys_of_field<'db>(
    db: &'db dyn Db,
    statement: TopStatement<'db>,
    word: &Word,
) -> Vec<(TopStatement<'db>, TextRange)> {
    let Word::Field { base: Base::Name(id), name } = word else { return Vec::new() };
    let sites = Entity::of_ref(db, statement, *id).map(|entity| entity.sites(db)).unwrap_or_default();
    let objects = sites.into_iter().flat_map(|site| results(db, site)).filter_map(|result| match result {
        Composite::Object(statement, object) => Some((statement, object)),
        _ => None,
    });
    let keys = objects.flat_map(|(statement, object)| {
        let entries = match &body(db, statement)[object].expr {
            Expr::Object(entries) => entries.as_slice(),
            _ => &[],
        };
        let keys = entries.iter().filter_map(|entry| entry.key.as_ref()).filter(|key| key.text == *name);
        keys.map(move |key| (statement, key.range))
    });
    keys.collect()
}

/// The values with named parts that a bound name may stand for.
pub(crate) fn results<'db>(db: &'db dyn Db, site: Site<'db>) -> Vec<Composite<'db>> {
    let body = body(db, site.statement);
    if body[site.name].kind == NameKind::Error {
        return vec![Composite::Error];
    }
    match &body[body[site.name].stmt].stmt {
        Stmt::Let { value: Some(value), destructured: false, .. }
        | Stmt::Assign { value: Some(value), .. }
        | Stmt::Output { value: Some(value), .. } => composites(db, site.statement, *value),
        _ => Vec::new(),
    }
}

/// The known programs whose result a bound name may stand for.
pub(crate) fn programs_of_value<'db>(db: &'db dyn Db, site: Site<'db>) -> Vec<SourceFile> {
    let results = results(db, site).into_iter();
    let programs = results.filter_map(|result| match result {
        Composite::Program(program) => Some(program),
        _ => None,
    });
    programs.collect()
}

fn composites<'db>(db: &'db dyn Db, statement: TopStatement<'db>, value: Value) -> Vec<Composite<'db>> {
    let body = body(db, statement);
    match value {
        Value::Expr(expr) => match &body[expr].expr {
            Expr::Call { callee: Some(callee), .. } => {
                let callee = body.name_of(*callee).map(|callee| &body[callee].text);
                let programs = callee.into_iter().flat_map(|callee| programs(db, statement.file(db), callee));
                programs.map(Composite::Program).collect()
            }
            Expr::Object(_) => vec![Composite::Object(statement, expr)],
            _ => Vec::new(),
        },
        Value::Stmt(stmt) => match &body[stmt].stmt {
            Stmt::Call { block: Some(block), .. } => {
                let named = lookup(db, statement.file(db), &body[*block].text).unwrap_or_default();
                named.blocks.iter().copied().map(Composite::Block).collect()
            }
            Stmt::Parallel { .. } => vec![Composite::Parallel(statement, stmt)],
            _ => Vec::new(),
        },
    }
}

/// What a destructured name is taken from.
fn destructured<'db>(db: &'db dyn Db, site: Site<'db>) -> Vec<Entity<'db>> {
    let body = body(db, site.statement);
    let data = &body[site.name];
    match &body[data.stmt].stmt {
        Stmt::Let { names, value: Some(value), destructured: true, .. } if names.contains(&site.name) => {
            let composites = composites(db, site.statement, *value);
            distinct(composites.into_iter().flat_map(|composite| composite.field(db, &data.text)))
        }
        _ => Vec::new(),
    }
}

/// The inputs or parameters that a named argument is for.
fn parameters<'db>(
    db: &'db dyn Db,
    statement: TopStatement<'db>,
    callee: RefId,
    name: &SmolStr,
) -> Vec<Entity<'db>> {
    let data = &body(db, statement)[callee];
    if data.kind == RefKind::Block {
        let named = lookup(db, statement.file(db), &data.text).unwrap_or_default();
        let params = named.blocks.iter().flat_map(|site| frame_variable(db, *site, name, NameKind::Param));
        return distinct(params);
    }
    let programs = programs(db, statement.file(db), &data.text);
    distinct(programs.flat_map(|program| root_variable(db, program, name, NameKind::Input)))
}

/// The variable of a file, if it is bound there as `kind`.
fn root_variable<'db>(db: &'db dyn Db, file: SourceFile, name: &SmolStr, kind: NameKind) -> Vec<Entity<'db>> {
    let named = lookup(db, file, name).unwrap_or_default();
    let is_bound = named.root_variables().any(|variable| variable.kind == kind);
    let entity = is_bound.then(|| Entity { file, name: name.clone(), kind: EntityKind::Root });
    entity.into_iter().collect()
}

/// The variable of a block, if it is bound there as `kind`.
fn frame_variable<'db>(
    db: &'db dyn Db,
    block: Site<'db>,
    name: &SmolStr,
    kind: NameKind,
) -> Vec<Entity<'db>> {
    let summary = summary(db, block.statement);
    let index = summary.blocks.iter().position(|facts| facts.name == Some(block.name));
    let bound = summary.names.iter().find(|bound| {
        bound.kind == kind
            && bound.text == *name
            && bound.block.is_some()
            && bound.block.map(|block| block as usize) == index
    });
    let site = bound.map(|bound| Site { statement: block.statement, name: bound.id });
    site.map(|site| Entity::of_site(db, site)).into_iter().collect()
}

/// The range of a bound name in its file.
pub(crate) fn name_range<'db>(db: &'db dyn Db, site: Site<'db>) -> Option<TextRange> {
    let start = site.statement.start(db)?;
    Some(body(db, site.statement)[site.name].range + start)
}

/// The range of the statement that binds a name, in its file.
pub(crate) fn binding_range<'db>(db: &'db dyn Db, site: Site<'db>) -> Option<TextRange> {
    let start = site.statement.start(db)?;
    let body = body(db, site.statement);
    Some(body[body[site.name].stmt].range + start)
}
