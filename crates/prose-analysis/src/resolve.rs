//! Name resolution (A9, R16–R18).

use crate::db::{Db, SourceFile};
use crate::index::{Site, VariableSite, broken_headers, lookup_in};
use crate::model::{Body, NameData, NameId, NameKind, Place, RefData, RefId, RefKind};
use crate::statements::chunks::{Chunk, members};
use crate::statements::{TopStatement, body};

/// The definition that a name refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Resolved {
    /// A loop, catch or pipeline variable, or one of the frame of the block around it.
    Local(NameId),
    /// A variable of the file.
    Root,
    /// A variable of blocks around which the use does not stand. It is found if such a block calls or was called.
    Elsewhere,
    /// An agent, where one is expected.
    Agent,
    /// A block, where one is expected.
    Block,
    /// An imported program, where one is expected.
    Program,
    /// An agent where a value is expected (A12).
    AgentAsValue,
    /// A word in braces that is not a name, and so text.
    Literal,
    /// It may have been defined on a line that was not understood.
    Lost,
    /// Nothing.
    Undefined,
}

impl Resolved {
    /// Whether the name is resolved.
    pub fn is_found(self) -> bool {
        !matches!(self, Resolved::Literal | Resolved::Lost | Resolved::Undefined)
    }
}

/// The resolved names of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolution {
    targets: Vec<Resolved>,
}

impl Resolution {
    /// The definition that a name refers to.
    pub fn of(&self, id: RefId) -> Resolved {
        self.targets.get(id.0 as usize).copied().unwrap_or(Resolved::Undefined)
    }
}

/// The resolved names of a statement.
#[salsa::tracked(returns(ref))]
pub(crate) fn resolutions<'db>(db: &'db dyn Db, chunk: Chunk<'db>) -> Vec<Resolution> {
    let resolution = |body: &Body| Resolution {
        targets: body.refs().map(|(id, _)| target(db, chunk, body, id)).collect(),
    };
    members(db, chunk).iter().map(|member| resolution(member.tree.body())).collect()
}

/// What each used name of a statement is the name of.
pub fn resolve<'db>(db: &'db dyn Db, statement: TopStatement<'db>) -> &'db Resolution {
    const NOTHING: &Resolution = &Resolution { targets: Vec::new() };
    resolutions(db, statement.chunk(db)).get(statement.position(db) as usize).unwrap_or(NOTHING)
}

fn target<'db>(db: &'db dyn Db, chunk: Chunk<'db>, body: &Body, id: RefId) -> Resolved {
    let data = &body[id];
    let local = body.local(id);
    if let Some(name) = local
        && body[name].kind != NameKind::Assigned
    {
        return Resolved::Local(name);
    }
    let Some(named) = lookup_in(db, chunk, &data.text) else {
        return nothing(data.place);
    };
    let found = match data.kind {
        RefKind::Agent => (!named.agents.is_empty()).then_some(Resolved::Agent),
        RefKind::Block => (!named.blocks.is_empty()).then_some(Resolved::Block),
        RefKind::Callee if !named.imports.is_empty() => Some(Resolved::Program),
        // A value that is called is a mistake of its own, but its name is known.
        RefKind::Callee | RefKind::Variable | RefKind::Write => {
            let in_root = named.first_root_variable().is_some();
            if in_root {
                Some(Resolved::Root)
            } else if let Some(name) = local {
                Some(Resolved::Local(name))
            } else if !named.variables.is_empty() {
                Some(Resolved::Elsewhere)
            } else if !named.agents.is_empty() && data.place == Place::Context {
                Some(Resolved::AgentAsValue)
            } else {
                None
            }
        }
    };
    let is_unknown = matches!(found, None | Some(Resolved::Elsewhere));
    match found {
        _ if is_unknown && (named.lost || is_part_of_header(db, chunk.file(db), data)) => Resolved::Lost,
        Some(found) => found,
        None => nothing(data.place),
    }
}

/// Whether a name may be joined with another one in the header of a block, since the `(` between them is missing.
fn is_part_of_header(db: &dyn Db, file: SourceFile, data: &RefData) -> bool {
    if data.place == Place::Literal {
        return false;
    }
    match data.kind {
        RefKind::Block => broken_headers(db, file).start_with(&data.text),
        RefKind::Variable => broken_headers(db, file).end_with(&data.text),
        RefKind::Agent | RefKind::Callee | RefKind::Write => false,
    }
}

fn nothing(place: Place) -> Resolved {
    match place {
        Place::Literal | Place::Agent { one_line: false } => Resolved::Literal,
        Place::Code | Place::Context | Place::OneLine | Place::Agent { one_line: true } => {
            Resolved::Undefined
        }
    }
}

/// The places where the name of a use is bound, in the order of the text.
pub fn definitions<'db>(db: &'db dyn Db, statement: TopStatement<'db>, id: RefId) -> Vec<Site<'db>> {
    let body = body(db, statement);
    let here = |name: NameId| Site { statement, name };
    let resolved = resolve(db, statement).of(id);
    let named = || lookup_in(db, statement.chunk(db), &body[id].text).unwrap_or_default();
    match resolved {
        Resolved::Local(name) => {
            let NameData { text, scope, .. } = &body[name];
            let same = |other: &NameId| body[*other].text == *text && body[*other].scope == *scope;
            body[*scope].names.iter().copied().filter(same).map(here).collect()
        }
        Resolved::Root => {
            // A block may bind the name too, without declaring it.
            let sites = named();
            sites.root_variables().map(|variable| variable.site).collect()
        }
        Resolved::Elsewhere => named().variables.iter().map(|variable| variable.site).collect(),
        Resolved::Agent | Resolved::AgentAsValue => named().agents.clone(),
        Resolved::Block => named().blocks.clone(),
        Resolved::Program => named().imports.clone(),
        Resolved::Literal | Resolved::Lost | Resolved::Undefined => Vec::new(),
    }
}

/// The variables of the file or of blocks that a use may mean, with what is bound to them.
pub fn variables<'db>(db: &'db dyn Db, statement: TopStatement<'db>, id: RefId) -> Vec<VariableSite<'db>> {
    let text = &body(db, statement)[id].text;
    let Some(named) = lookup_in(db, statement.chunk(db), text) else { return Vec::new() };
    match resolve(db, statement).of(id) {
        Resolved::Root => named.root_variables().cloned().collect(),
        Resolved::Elsewhere => named.variables.clone(),
        Resolved::Local(name) => {
            let scope = body(db, statement)[name].scope;
            let is_same = |site: &&VariableSite<'db>| {
                site.site.statement == statement && body(db, statement)[site.site.name].scope == scope
            };
            named.variables.iter().filter(is_same).cloned().collect()
        }
        _ => Vec::new(),
    }
}
