//! Expressions and texts.

use prose_syntax::ast::{self, AstNode, Expression, Part, Template};
use prose_syntax::{SyntaxKind, SyntaxNode, TextSize};

use super::statements::is_triple;
use super::{Lowering, name_word, word};
use crate::model::*;

impl Lowering {
    pub(super) fn expr(&mut self, expr: Expr, range: prose_syntax::TextRange) -> ExprId {
        let id = ExprId::nth(self.body.exprs.len());
        self.body.exprs.push(ExprData { expr, range });
        id
    }

    pub(super) fn value(&mut self, value: Option<ast::Value>) -> Option<Value> {
        Some(match value? {
            // A placeholder and a pipeline are both statements and values.
            ast::Value::Statement(statement) => Value::Stmt(self.statement(&statement, None)),
            ast::Value::Expression(expression) => Value::Expr(self.expression_of(&expression)),
        })
    }

    pub(super) fn expression(&mut self, expression: Option<Expression>) -> Option<ExprId> {
        expression.map(|expression| self.expression_of(&expression))
    }

    pub(super) fn expression_of(&mut self, expression: &Expression) -> ExprId {
        let range = expression.syntax().text_range();
        let expr = match expression {
            Expression::Str(node) => return self.text(node),
            Expression::Discretion(node) => return self.text(node),
            Expression::Literal(node) => literal(node),
            Expression::NameRef(node) => match node.token() {
                Some(token) => {
                    let place = self.code();
                    Expr::Name(self.reference(&token, RefKind::Variable, place))
                }
                None => Expr::Placeholder,
            },
            Expression::Array(node) => {
                Expr::Array(node.items().filter_map(|item| self.value(Some(item))).collect())
            }
            Expression::Object(node) => {
                Expr::Object(node.entries().map(|entry| self.entry(&entry)).collect())
            }
            Expression::Call(node) => {
                let callee = node.callee().map(|callee| self.callee(&callee));
                let arguments = self.arguments(node.arguments());
                self.string(node.source());
                Expr::Call { callee, arguments }
            }
            Expression::Field(node) => {
                let base = self.expression(node.base());
                Expr::Field { base, field: node.field().as_ref().map(word) }
            }
            Expression::Index(node) => {
                let base = self.expression(node.base());
                Expr::Index { base, index: self.expression(node.index()) }
            }
            Expression::Binary(node) => {
                let operands = node.operands().filter_map(|operand| self.value(Some(operand))).collect();
                let operators = node.operators().filter_map(|token| operator(token.kind())).collect();
                Expr::Binary { operands, operators }
            }
            Expression::Unary(node) => {
                let negates = node.operator().is_some_and(|token| token.kind() == SyntaxKind::NOT_KW);
                Expr::Unary { negates, operand: self.expression(node.operand()) }
            }
            Expression::Ternary(node) => Expr::Ternary {
                condition: self.expression(node.condition()),
                then: self.expression(node.then()),
                otherwise: self.expression(node.otherwise()),
            },
            Expression::Paren(node) => match node.inner() {
                Some(inner) => return self.expression_of(&inner),
                None => Expr::Placeholder,
            },
            Expression::InputValue(node) => Expr::Input(self.description(node.prompt())),
            Expression::Placeholder(_) => Expr::Placeholder,
        };
        self.expr(expr, range)
    }

    /// What is called: a program, or a function of one, as in `http.get(…)`.
    fn callee(&mut self, callee: &Expression) -> ExprId {
        let range = callee.syntax().text_range();
        let expr = match callee {
            Expression::NameRef(name) => match name.token() {
                Some(token) => {
                    let place = self.code();
                    Expr::Name(self.reference(&token, RefKind::Callee, place))
                }
                None => Expr::Placeholder,
            },
            Expression::Field(node) => {
                let base = node.base().map(|base| self.callee(&base));
                Expr::Field { base, field: node.field().as_ref().map(word) }
            }
            other => return self.expression_of(other),
        };
        self.expr(expr, range)
    }

    /// A word that stands for itself.
    pub(super) fn bare_word(&mut self, node: &SyntaxNode) -> ExprId {
        let range = node.text_range();
        let text = node.text().to_string();
        let text = Text {
            kind: TextKind::OneLine,
            chars: text.len() as u32,
            blank: false,
            nested_quotes: None,
            // A bare word has no quotes, which distinguishes it from a string.
            content: range,
            interpolations: Vec::new(),
            value: Some(text.into()),
        };
        self.expr(Expr::Text(text), range)
    }

    fn entry(&mut self, entry: &ast::ObjectEntry) -> Entry {
        let key = name_word(entry.key()).or_else(|| {
            let key = entry.string_key()?;
            Some(Word { text: key.text().into(), range: key.syntax().text_range() })
        });
        let value = entry.value();
        let key = key.or_else(|| match &value {
            Some(ast::Value::Expression(Expression::NameRef(name))) => name.token().as_ref().map(word),
            Some(ast::Value::Expression(Expression::Field(field))) => field.field().as_ref().map(word),
            _ => None,
        });
        Entry { key, value: self.value(value) }
    }

    pub(super) fn arguments(&mut self, list: Option<ast::ArgList>) -> Vec<Argument> {
        let arguments = list.into_iter().flat_map(|list| list.arguments());
        arguments
            .map(|argument| Argument {
                name: name_word(argument.name()),
                value: self.value(argument.value()),
                range: argument.syntax().text_range(),
            })
            .collect()
    }

    pub(super) fn string(&mut self, node: Option<ast::Str>) -> Option<ExprId> {
        node.map(|node| self.text(&node))
    }

    /// What an input is for. It is shown wherever the input is given, and its first word counts (B3), so it is kept however it is written.
    pub(super) fn description(&mut self, node: Option<ast::Str>) -> Option<ExprId> {
        let node = node?;
        let id = self.text(&node);
        if let Expr::Text(text) = &mut self.body[id].expr {
            text.value = Some(node.text().into());
        }
        Some(id)
    }

    pub(super) fn text(&mut self, node: &impl Template) -> ExprId {
        let kind = if node.syntax().kind() == SyntaxKind::DISCRETION {
            TextKind::Discretion
        } else if is_triple(node) {
            TextKind::Triple
        } else {
            TextKind::OneLine
        };
        let place = match (self.in_agent, kind) {
            (true, _) => Place::Agent { one_line: kind == TextKind::OneLine },
            (false, TextKind::OneLine) => Place::OneLine,
            (false, TextKind::Triple | TextKind::Discretion) => Place::Literal,
        };
        let mut text = Text {
            kind,
            value: None,
            chars: 0,
            blank: true,
            nested_quotes: None,
            content: node.content_range(),
            interpolations: Vec::new(),
        };
        for part in node.parts() {
            match part {
                Part::Text(token) => {
                    let content = token.text();
                    text.chars += content.chars().count() as u32;
                    text.blank &= content.trim().is_empty();
                    if kind == TextKind::Triple && text.nested_quotes.is_none() {
                        // Quotes inside are only those of a nested literal and of a run that is too long.
                        text.nested_quotes = nested_quotes(content)
                            .map(|at| token.text_range().start() + TextSize::new(at as u32));
                    }
                }
                Part::Escape(_) => {
                    text.chars += 1;
                    text.blank = false;
                }
                Part::Interpolation(node) => {
                    text.chars += u32::from(node.syntax().text_range().len());
                    text.blank = false;
                    let interpolation = self.interpolation(&node, place);
                    text.interpolations.extend(interpolation);
                }
            }
        }
        if kind != TextKind::Triple {
            text.value = Some(node.text().into());
        }
        self.expr(Expr::Text(text), node.syntax().text_range())
    }

    fn interpolation(&mut self, node: &ast::Interpolation, place: Place) -> Option<Interpolation> {
        let root_token = node.root()?.token()?;
        let root = self.reference(&root_token, RefKind::Variable, place);
        let mut path = Vec::new();
        let mut after_dot = false;
        for token in node.path() {
            match token.kind() {
                SyntaxKind::DOT => after_dot = true,
                SyntaxKind::IDENT if after_dot => {
                    path.push(Step::Field(word(&token)));
                    after_dot = false;
                }
                SyntaxKind::IDENT => path.push(Step::Name(self.reference(&token, RefKind::Variable, place))),
                SyntaxKind::NUMBER => path.push(Step::Number(word(&token))),
                _ => {}
            }
        }
        Some(Interpolation { root, path, range: node.syntax().text_range() })
    }
}

/// Where a line of the text ends in triple quotes, as the line of a sample does that opens a literal.
fn nested_quotes(content: &str) -> Option<usize> {
    let at = content.find("\"\"\"")?;
    let line_end = content[at + 3..].starts_with(['\n', '\r']);
    line_end.then_some(at)
}

fn literal(node: &ast::Literal) -> Expr {
    let Some(token) = node.token() else { return Expr::Placeholder };
    match token.kind() {
        SyntaxKind::DURATION => Expr::Duration(token.text().into()),
        SyntaxKind::TRUE_KW => Expr::Bool(true),
        SyntaxKind::FALSE_KW => Expr::Bool(false),
        SyntaxKind::NULL_KW => Expr::Null,
        _ => Expr::Number(token.text().into()),
    }
}

fn operator(token: SyntaxKind) -> Option<Operator> {
    Some(match token {
        SyntaxKind::AND_KW => Operator::And,
        SyntaxKind::OR_KW => Operator::Or,
        SyntaxKind::EQ_EQ | SyntaxKind::IS_KW => Operator::Equal,
        SyntaxKind::BANG_EQ => Operator::NotEqual,
        SyntaxKind::LT_EQ => Operator::LessOrEqual,
        SyntaxKind::GT_EQ => Operator::GreaterOrEqual,
        SyntaxKind::LT => Operator::Less,
        SyntaxKind::GT => Operator::Greater,
        SyntaxKind::PLUS => Operator::Add,
        SyntaxKind::MINUS => Operator::Subtract,
        SyntaxKind::STAR => Operator::Multiply,
        SyntaxKind::SLASH => Operator::Divide,
        _ => return None,
    })
}
