//! Statements.

use prose_syntax::ast::{self, AstNode, Expression, Statement, Template};
use prose_syntax::options::{self, OptionValue};
use prose_syntax::{SyntaxKind, SyntaxNode, names, properties};

use super::{Lowering, name_word};
use crate::model::*;

impl Lowering {
    pub(super) fn statement(&mut self, statement: &Statement, list: Option<ListId>) -> StmtId {
        let id = StmtId::nth(self.body.stmts.len());
        let node = statement.syntax();
        // The place is taken before the parts are, so that outer statements come first.
        self.body.stmts.push(StmtData {
            stmt: Stmt::Placeholder,
            range: node.text_range(),
            syntax: node.kind(),
            list,
            scope: self.scope(),
            lost_property: has_lost_property(node),
        });
        let outer = self.stmt.replace(id);
        let stmt = self.parts(statement, list);
        self.body[id].stmt = stmt;
        self.stmt = outer;
        id
    }

    fn parts(&mut self, statement: &Statement, list: Option<ListId>) -> Stmt {
        match statement {
            Statement::Use(node) => self.import(node),
            Statement::Import(node) => {
                Stmt::Import { skill: self.string(node.skill()), source: self.string(node.source()) }
            }
            Statement::Input(node) => {
                let name = self.name(node.name(), NameKind::Input);
                let description = match node.discretion() {
                    Some(discretion) => Some(self.text(&discretion)),
                    None => self.description(node.description()),
                };
                Stmt::Input { name, description }
            }
            Statement::Output(node) => {
                // The value is made before the name is bound, but its name stands first in the text.
                let name = self.name(node.name(), NameKind::Output);
                Stmt::Output { name, value: self.value(node.value()) }
            }
            Statement::Agent(node) => {
                let name = self.name(node.name(), NameKind::Agent);
                self.in_agent = true;
                let properties =
                    self.properties(node.properties().into_iter().flat_map(|list| list.properties()));
                self.in_agent = false;
                Stmt::Agent { name, properties }
            }
            Statement::BlockDef(node) => self.block_definition(node),
            Statement::Let(node) => self.declaration(node),
            Statement::Assignment(node) => self.assignment(node, list),
            Statement::ExprStmt(node) => match node.pipeline() {
                Some(pipeline) => self.pipeline(&pipeline),
                None => Stmt::Expr(self.expression(node.expression())),
            },
            Statement::Placeholder(_) => Stmt::Placeholder,
            Statement::Session(node) => {
                let text = self.string(node.text());
                let name = self.name(node.name(), NameKind::Session);
                let agent = self.name_ref(node.agent(), RefKind::Agent);
                Stmt::Session { text, name, agent, properties: self.properties(node.properties()) }
            }
            Statement::Resume(node) => {
                let agent = self.name_ref(node.agent(), RefKind::Agent);
                Stmt::Resume { agent, properties: self.properties(node.properties()) }
            }
            Statement::ArrowChain(node) => {
                Stmt::Chain(node.links().map(|link| self.statement(&link, None)).collect())
            }
            Statement::Pipeline(node) => self.pipeline(node),
            Statement::DoCall(node) => {
                let block = self.name_ref(node.block(), RefKind::Block);
                Stmt::Call { block, arguments: self.arguments(node.arguments()) }
            }
            Statement::DoBlock(node) => Stmt::Do { body: self.list(node.body()) },
            Statement::Parallel(node) => {
                let options = self.modifiers(node.modifiers());
                Stmt::Parallel { options, body: self.list(node.body()) }
            }
            Statement::ParallelFor(node) => {
                let collection = self.expression(node.collection());
                self.for_each(true, node.item(), node.index(), collection, node.body())
            }
            Statement::For(node) => {
                let collection = self.expression(node.collection());
                self.for_each(false, node.item(), node.index(), collection, node.body())
            }
            Statement::Repeat(node) => {
                let count = self.expression(node.count());
                self.within(ScopeKind::Loop, |this| {
                    let index = this.name(node.index(), NameKind::Index);
                    Stmt::Repeat { count, index, body: this.list(node.body()) }
                })
            }
            Statement::Loop(node) => self.within(ScopeKind::Loop, |this| {
                // The condition is judged in every iteration, so it sees the index.
                let index = this.name(node.index(), NameKind::Index);
                let condition = this.expression(node.condition());
                let options = this.modifiers(node.modifiers());
                Stmt::Loop { condition, options, index, body: this.list(node.body()) }
            }),
            Statement::Try(node) => Stmt::Try {
                body: self.list(node.body()),
                catches: node.catches().map(|clause| self.catch(&clause)).collect(),
                finally: node.finally().and_then(|clause| self.list(clause.body())),
            },
            Statement::Choice(node) => self.choice(node),
            Statement::ChoiceOption(node) => {
                self.string(node.label());
                Stmt::StrayOption(self.list(node.body()))
            }
            Statement::If(node) => {
                let mut branches = vec![Branch {
                    condition: self.expression(node.condition()),
                    body: self.list(node.body()),
                }];
                for clause in node.elifs() {
                    let condition = self.expression(clause.condition());
                    branches.push(Branch { condition, body: self.list(clause.body()) });
                }
                let otherwise = node.else_clause().and_then(|clause| self.list(clause.body()));
                Stmt::If { branches, otherwise }
            }
            Statement::Throw(node) => Stmt::Throw(self.expression(node.message())),
            Statement::Return(node) => Stmt::Return(self.value(node.value())),
            Statement::Break(_) => Stmt::Break,
            Statement::Continue(_) => Stmt::Continue,
            Statement::Assert(node) => {
                let condition = self.expression(node.condition());
                Stmt::Assert { condition, message: self.string(node.message()) }
            }
        }
    }

    fn import(&mut self, node: &ast::Use) -> Stmt {
        let path = self.string(node.path());
        let has_alias = node.alias().is_some();
        let name = self.name(node.alias(), NameKind::Import).or_else(|| {
            let path = path?;
            let text = self.body.string(path)?;
            let name = implicit_name(text)?.into();
            let range = self.body.text(path)?.content;
            (!has_alias).then(|| self.bind(name, range, NameKind::Import))
        });
        Stmt::Use { path, name, has_alias }
    }

    fn block_definition(&mut self, node: &ast::BlockDef) -> Stmt {
        let name = self.name(node.name(), NameKind::Block);
        let options = self.modifiers(node.modifiers());
        self.within(ScopeKind::Frame, |this| {
            let params = node.params().into_iter().flat_map(|list| list.params());
            let params = params.filter_map(|param| this.name(param.name(), NameKind::Param)).collect();
            Stmt::Block { name, params, options, body: this.list(node.body()) }
        })
    }

    fn declaration(&mut self, node: &ast::Let) -> Stmt {
        let is_const = node.is_const();
        let kind = if is_const { NameKind::Const } else { NameKind::Let };
        let destructuring = node.destructuring();
        let names = match &destructuring {
            Some(list) => list.names().filter_map(|name| self.name(Some(name), kind)).collect(),
            None => self.name(node.name(), kind).into_iter().collect(),
        };
        let value = self.value(node.value());
        Stmt::Let { is_const, names, destructured: destructuring.is_some(), value }
    }

    fn assignment(&mut self, node: &ast::Assignment, list: Option<ListId>) -> Stmt {
        let is_branch = list.is_some_and(|list| {
            let owner = self.body[list].owner;
            self.body[owner].syntax == SyntaxKind::PARALLEL
        });
        let token = node.target().and_then(|target| target.token());
        let target = token.map(|token| {
            if !is_branch && self.sees_local(token.text()) {
                let place = self.code();
                return Target::Local(self.reference(&token, RefKind::Write, place));
            }
            let kind = if is_branch { NameKind::Branch } else { NameKind::Assigned };
            Target::Name(self.bind(token.text().into(), token.text_range(), kind))
        });
        Stmt::Assign { target, value: self.value(node.value()) }
    }

    fn for_each(
        &mut self,
        parallel: bool,
        item: Option<ast::Name>,
        index: Option<ast::Name>,
        collection: Option<ExprId>,
        body: Option<ast::Block>,
    ) -> Stmt {
        self.within(ScopeKind::Loop, |this| {
            let item = this.name(item, NameKind::Item);
            let index = this.name(index, NameKind::Index);
            Stmt::For { parallel, item, index, collection, body: this.list(body) }
        })
    }

    fn catch(&mut self, clause: &ast::CatchClause) -> Catch {
        let keyword = clause.syntax().first_token().map(|token| token.text_range());
        self.within(ScopeKind::Catch, |this| Catch {
            error: this.name(clause.error(), NameKind::Error),
            body: this.list(clause.body()),
            keyword: keyword.unwrap_or_else(|| clause.syntax().text_range()),
        })
    }

    fn choice(&mut self, node: &ast::Choice) -> Stmt {
        let criterion = self.expression(node.criterion());
        let block = node.syntax().children().find_map(ast::Block::cast);
        let mut options = Vec::new();
        let body = block.map(|block| {
            let list = self.open_list(&block);
            for statement in block.statements() {
                match statement {
                    Statement::ChoiceOption(option) => {
                        let label = self.string(option.label());
                        let range = option.syntax().text_range();
                        options.push(ChoiceOption { label, body: self.list(option.body()), range });
                    }
                    other => {
                        let id = self.statement(&other, Some(list));
                        self.body[list].stmts.push(id);
                    }
                }
            }
            list
        });
        Stmt::Choice { criterion, options, body }
    }

    fn open_list(&mut self, block: &ast::Block) -> ListId {
        let list = ListId::nth(self.body.lists.len());
        let owner = self.stmt();
        self.body.lists.push(ListData { stmts: Vec::new(), range: block.syntax().text_range(), owner });
        list
    }

    /// The statements of a body.
    pub(super) fn list(&mut self, block: Option<ast::Block>) -> Option<ListId> {
        let block = block?;
        let list = self.open_list(&block);
        for statement in block.statements() {
            let id = self.statement(&statement, Some(list));
            self.body[list].stmts.push(id);
        }
        Some(list)
    }

    fn pipeline(&mut self, node: &ast::Pipeline) -> Stmt {
        let source = self.value(node.source());
        let stages = node.stages().map(|stage| self.stage(&stage)).collect();
        Stmt::Pipeline { source, stages }
    }

    fn stage(&mut self, node: &ast::PipeStage) -> Stage {
        let token = node.operator();
        let operator = token.as_ref().and_then(|token| match token.kind() {
            SyntaxKind::MAP_KW => Some(StageKind::Map),
            SyntaxKind::FILTER_KW => Some(StageKind::Filter),
            SyntaxKind::PMAP_KW => Some(StageKind::Pmap),
            SyntaxKind::REDUCE_KW => Some(StageKind::Reduce),
            _ => None,
        });
        self.within(ScopeKind::Loop, |this| {
            let names = match (operator, token) {
                (Some(StageKind::Reduce), _) => {
                    let params = node.params().into_iter().flat_map(|list| list.params());
                    let kinds = [NameKind::Accumulator, NameKind::PipelineItem];
                    params.zip(kinds).filter_map(|(param, kind)| this.name(param.name(), kind)).collect()
                }
                (_, token) => {
                    let range = token.map_or_else(|| node.syntax().text_range(), |token| token.text_range());
                    let item = this.bind("item".into(), range, NameKind::ImplicitItem);
                    // A name in parentheses is reported where it stands, and not where it is used.
                    let params = node.params().into_iter().flat_map(|list| list.params());
                    let named = params.filter_map(|param| this.name(param.name(), NameKind::PipelineItem));
                    std::iter::once(item).chain(named).collect()
                }
            };
            Stage { operator, names, body: this.list(node.body()), range: node.syntax().text_range() }
        })
    }

    pub(super) fn properties(&mut self, properties: impl Iterator<Item = ast::Property>) -> Vec<Property> {
        properties.filter_map(|property| self.property(&property, false)).collect()
    }

    fn property(&mut self, node: &ast::Property, in_permissions: bool) -> Option<Property> {
        let name = name_word(node.name())?;
        let in_context = self.in_context;
        // A misspelled property is one mistake. What it holds is read as what was meant.
        let meant = properties::nearest_property(&name.text).map_or("", |property| property.name);
        self.in_context |= meant == "context";
        let takes_words = in_permissions
            || !self.in_context && !matches!(meant, "prompt" | "retry" | "timeout" | "early_exit");
        let value = node.value().map(|value| match &value {
            Expression::NameRef(_) if takes_words => self.bare_word(value.syntax()),
            Expression::Array(array) if meant == "skills" && !in_permissions => {
                let items = array.items().filter_map(|item| match &item {
                    ast::Value::Expression(Expression::NameRef(word)) => {
                        Some(Value::Expr(self.bare_word(word.syntax())))
                    }
                    _ => self.value(Some(item)),
                });
                let items = Expr::Array(items.collect());
                self.expr(items, value.syntax().text_range())
            }
            _ => self.expression_of(&value),
        });
        let in_permissions = meant == "permissions";
        let entries = node.entries().map(|list| {
            list.properties().filter_map(|entry| self.property(&entry, in_permissions)).collect()
        });
        self.in_context = in_context;
        Some(Property { name, value, entries, range: node.syntax().text_range() })
    }

    fn modifiers(&mut self, modifiers: impl Iterator<Item = ast::Modifier>) -> Vec<Modifier> {
        modifiers
            .map(|modifier| {
                let name = name_word(modifier.name());
                // A strategy or policy without quotes is not a variable; a count may be one.
                let is_count = name.as_ref().is_some_and(|name| {
                    options::OPTIONS
                        .iter()
                        .any(|option| option.name == name.text && option.value == OptionValue::Count)
                });
                let value = modifier.value().map(|value| match value {
                    ast::Expression::NameRef(word) if !is_count => self.bare_word(word.syntax()),
                    value => self.expression_of(&value),
                });
                Modifier { name, value, range: modifier.syntax().text_range() }
            })
            .collect()
    }
}

/// The name under which a program is known whose `use` gives it none: the last part of its path.
pub(crate) fn implicit_name(path: &str) -> Option<&str> {
    let path = path.trim_end_matches('/');
    let last = path.rsplit('/').next()?;
    let last = last.split('@').find(|part| !part.is_empty())?;
    let name = last.strip_suffix(".prose").unwrap_or(last);
    names::is_name(name).then_some(name)
}

/// Whether a text is written between triple quotes.
pub(super) fn is_triple(node: &impl Template) -> bool {
    node.syntax().first_token().is_some_and(|token| token.kind() == SyntaxKind::TRIPLE_QUOTE)
}

/// Whether something else than a property stands where those of the statement do, or than a parameter after the name of a block.
fn has_lost_property(node: &SyntaxNode) -> bool {
    if node.kind() == SyntaxKind::BLOCK_DEF {
        return super::has_broken_header(&node.green());
    }
    if !matches!(node.kind(), SyntaxKind::AGENT | SyntaxKind::SESSION | SyntaxKind::RESUME) {
        return false;
    }
    node.children().any(|child| match child.kind() {
        SyntaxKind::ERROR => true,
        SyntaxKind::PROPERTY_LIST => child.children().any(|line| line.kind() != SyntaxKind::PROPERTY),
        _ => false,
    })
}
