//! From the tree of a top-level statement to its model.

mod expressions;
mod statements;

use prose_syntax::ast::{self, AstNode};
use prose_syntax::{NodeOrToken, SyntaxKind, SyntaxNode, SyntaxToken, TextRange};
use smol_str::SmolStr;

use crate::model::*;

/// The model of a top-level statement. `node` is the root of its tree.
pub(crate) fn lower(node: SyntaxNode) -> Body {
    let mut lowering = Lowering::default();
    lowering.open_scope(ScopeKind::Root);
    words_of_errors(&node.green(), &mut lowering.body.lost);
    if let Some(statement) = ast::Statement::cast(node) {
        lowering.statement(&statement, None);
    }
    let mut body = lowering.body;
    body.shrink();
    body.note_order();
    body
}

#[derive(Default)]
struct Lowering {
    body: Body,
    scope: Option<ScopeId>,
    stmt: Option<StmtId>,
    /// Whether the text is that of an agent, whose references are filled in where it is spawned.
    in_agent: bool,
    in_context: bool,
}

impl Lowering {
    fn scope(&self) -> ScopeId {
        // The scope of the file is opened before anything else.
        self.scope.unwrap_or(ScopeId(0))
    }

    fn stmt(&self) -> StmtId {
        self.stmt.unwrap_or(StmtId(0))
    }

    /// Opens a scope inside the present one; gives the one to go back to.
    fn open_scope(&mut self, kind: ScopeKind) -> Option<ScopeId> {
        let parent = self.scope;
        let scope = ScopeId::nth(self.body.scopes.len());
        self.body.scopes.push(ScopeData { parent, kind, names: Vec::new() });
        self.scope.replace(scope);
        parent
    }

    fn within<T>(&mut self, kind: ScopeKind, lower: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.open_scope(kind);
        let result = lower(self);
        self.scope = outer;
        result
    }

    fn bind(&mut self, text: SmolStr, range: TextRange, kind: NameKind) -> NameId {
        // Constructs open no scopes for what is bound in them (R16), but loop, catch and pipeline variables are gone after
        // their body (R18).
        let scope = match kind {
            NameKind::Agent | NameKind::Block | NameKind::Import => ScopeId(0),
            _ if kind.is_local() || kind == NameKind::Param => self.scope(),
            _ => self.body.frame(self.scope()),
        };
        let name = NameId::nth(self.body.names.len());
        let stmt = self.stmt();
        self.body.names.push(NameData { text, range, kind, scope, stmt });
        self.body[scope].names.push(name);
        self.answer(scope, name);
        name
    }

    /// Has a name answer to its text in its scope. The first one does, but one that is only assigned may belong to the file
    /// (R17), so a declared one goes before it.
    fn answer(&mut self, scope: ScopeId, name: NameId) {
        if self.body[scope].kind == ScopeKind::Root {
            return;
        }
        let key = (scope, self.body[name].text.clone());
        let answering = self.body.answers.get(&key).map(|earlier| self.body[*earlier].kind);
        let is_assigned = self.body[name].kind == NameKind::Assigned;
        if answering.is_none_or(|kind| kind == NameKind::Assigned && !is_assigned) {
            self.body.answers.insert(key, name);
        }
    }

    fn name(&mut self, name: Option<ast::Name>, kind: NameKind) -> Option<NameId> {
        let token = name?.token()?;
        Some(self.bind(token.text().into(), token.text_range(), kind))
    }

    fn reference(&mut self, token: &SyntaxToken, kind: RefKind, place: Place) -> RefId {
        self.reference_at(token.text().into(), token.text_range(), kind, place)
    }

    fn reference_at(&mut self, text: SmolStr, range: TextRange, kind: RefKind, place: Place) -> RefId {
        let id = RefId::nth(self.body.refs.len());
        let (scope, stmt) = (self.scope(), self.stmt());
        self.body.refs.push(RefData { text, range, kind, place, scope, stmt });
        id
    }

    fn name_ref(&mut self, name: Option<ast::NameRef>, kind: RefKind) -> Option<RefId> {
        let token = name?.token()?;
        Some(self.reference(&token, kind, self.code()))
    }

    fn code(&self) -> Place {
        if self.in_context { Place::Context } else { Place::Code }
    }

    /// Whether a loop, catch or pipeline variable of that name can be seen here.
    fn sees_local(&self, text: &str) -> bool {
        self.body
            .scopes_around(self.scope())
            .take_while(|scope| self.body[*scope].kind.is_local())
            .any(|scope| self.body[scope].names.iter().any(|name| self.body[*name].text == text))
    }
}

/// Collects the words below the nodes of a tree that were not understood.
fn words_of_errors(node: &rowan::GreenNodeData, lost: &mut Vec<SmolStr>) {
    // Nodes without places cost nothing to look at, and there are many.
    for child in node.children().filter_map(NodeOrToken::into_node) {
        if is_lost(node, child) { words(child, lost) } else { words_of_errors(child, lost) }
    }
}

/// Whether a node was not understood, or stands where it is no part of the program: what it binds and uses is not known then.
pub(crate) fn is_lost(parent: &rowan::GreenNodeData, node: &rowan::GreenNodeData) -> bool {
    use SyntaxKind::*;
    let parent_kind = SyntaxKind::from(parent.kind());
    match SyntaxKind::from(node.kind()) {
        ERROR => true,
        // Lines that are indented too far.
        BLOCK => matches!(parent_kind, BLOCK | SOURCE_FILE),
        ELIF_CLAUSE | ELSE_CLAUSE | CATCH_CLAUSE | FINALLY_CLAUSE => {
            matches!(parent_kind, BLOCK | SOURCE_FILE)
        }
        CHOICE_OPTION => parent_kind == SOURCE_FILE,
        PARAM_LIST | MODIFIER_LIST => parent_kind == BLOCK_DEF && has_broken_header(parent),
        PROPERTY => false,
        _ => parent_kind == PROPERTY_LIST,
    }
}

/// Whether something in the header of a block was not understood.
pub(crate) fn has_broken_header(block: &rowan::GreenNodeData) -> bool {
    block.children().filter_map(NodeOrToken::into_node).any(|part| match SyntaxKind::from(part.kind()) {
        SyntaxKind::ERROR => true,
        SyntaxKind::BLOCK => false,
        _ => has_broken_header(part),
    })
}

/// Collects the words below a node.
pub(crate) fn words(node: &rowan::GreenNodeData, found: &mut Vec<SmolStr>) {
    for child in node.children() {
        match child {
            NodeOrToken::Node(node) => words(node, found),
            NodeOrToken::Token(token) => {
                let kind = SyntaxKind::from(token.kind());
                if kind == SyntaxKind::IDENT || kind.is_keyword() {
                    found.push(token.text().into());
                }
            }
        }
    }
}

fn word(token: &SyntaxToken) -> Word {
    Word { text: token.text().into(), range: token.text_range() }
}

fn name_word(name: Option<ast::Name>) -> Option<Word> {
    name?.token().as_ref().map(word)
}
