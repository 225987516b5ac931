//! Expressions.

use super::{AstNode, Name, Str};
use super::{child, children, node_enum, nodes, token};
use crate::{SyntaxKind, SyntaxToken};

node_enum! {
    /// An expression of any kind.
    Expression {
        Str,
        Discretion,
        Literal,
        NameRef,
        Array,
        Object,
        Call,
        Field,
        Index,
        Binary,
        Unary,
        Ternary,
        Paren,
        InputValue,
        Placeholder,
    }
}

nodes! {
    /// A number, a duration, `true`, `false` or `null`
    Literal = LITERAL
    /// `[a, b]`
    Array = ARRAY
    /// `{ a, key: b }`
    Object = OBJECT
    /// One entry of an object
    ObjectEntry = OBJECT_ENTRY
    /// `f(x)`, with an optional `from "…"`
    Call = CALL
    /// `("x", depth: 3)`
    ArgList = ARG_LIST
    /// One argument
    Arg = ARG
    /// `a.b`
    Field = FIELD
    /// `a[0]`
    Index = INDEX
    /// Operands of one precedence side by side: `a + b - c`
    Binary = BINARY
    /// `not a`, `-a`
    Unary = UNARY
    /// `a ? b : c`
    Ternary = TERNARY
    /// `(a)`
    Paren = PAREN
    /// `input "…"` as a value
    InputValue = INPUT_VALUE
}

impl Literal {
    /// The number, duration or word.
    pub fn token(&self) -> Option<SyntaxToken> {
        self.0.first_token()
    }
}

impl Array {
    /// The items that are plain expressions. See [`super::Value`] for sessions among them.
    pub fn items(&self) -> impl Iterator<Item = super::Value> + use<> {
        children(self)
    }
}

impl Object {
    /// The entries in order.
    pub fn entries(&self) -> impl Iterator<Item = ObjectEntry> + use<> {
        children(self)
    }
}

impl ObjectEntry {
    /// The key, where it is a name. In a shorthand entry the value is the key.
    pub fn key(&self) -> Option<Name> {
        child(self)
    }

    /// The key, where it is a string.
    pub fn string_key(&self) -> Option<Str> {
        token(self, SyntaxKind::COLON).and_then(|_| child(self))
    }

    /// The value.
    pub fn value(&self) -> Option<super::Value> {
        let start = token(self, SyntaxKind::COLON).map(|colon| colon.text_range().end());
        self.syntax()
            .children()
            .filter(|node| start.is_none_or(|start| node.text_range().start() >= start))
            .find_map(super::Value::cast)
    }
}

impl Call {
    /// What is called.
    pub fn callee(&self) -> Option<Expression> {
        child(self)
    }

    /// The arguments.
    pub fn arguments(&self) -> Option<ArgList> {
        child(self)
    }

    /// The string after `from`.
    pub fn source(&self) -> Option<Str> {
        token(self, SyntaxKind::FROM_KW).and_then(|_| child(self))
    }
}

impl ArgList {
    /// The arguments in order.
    pub fn arguments(&self) -> impl Iterator<Item = Arg> + use<> {
        children(self)
    }
}

impl Arg {
    /// The name of a named argument.
    pub fn name(&self) -> Option<Name> {
        child(self)
    }

    /// The value.
    pub fn value(&self) -> Option<super::Value> {
        child(self)
    }
}

impl Field {
    /// What the property is of.
    pub fn base(&self) -> Option<Expression> {
        child(self)
    }

    /// The name after the dot.
    pub fn field(&self) -> Option<SyntaxToken> {
        token(self, SyntaxKind::IDENT)
    }
}

impl Index {
    /// What the item is of.
    pub fn base(&self) -> Option<Expression> {
        child(self)
    }

    /// What is between the brackets.
    pub fn index(&self) -> Option<Expression> {
        children(self).nth(1)
    }
}

impl Binary {
    /// The operands from left to right.
    pub fn operands(&self) -> impl Iterator<Item = super::Value> + use<> {
        children(self)
    }

    /// The operators between them.
    pub fn operators(&self) -> impl Iterator<Item = SyntaxToken> + use<> {
        self.0
            .children_with_tokens()
            .filter_map(|child| child.into_token())
            .filter(|token| !token.kind().is_trivia())
    }
}

impl Unary {
    /// `not` or `-`.
    pub fn operator(&self) -> Option<SyntaxToken> {
        self.0.first_token()
    }

    /// The operand.
    pub fn operand(&self) -> Option<Expression> {
        child(self)
    }
}

impl Ternary {
    /// What decides.
    pub fn condition(&self) -> Option<Expression> {
        child(self)
    }

    /// The value where the condition holds.
    pub fn then(&self) -> Option<Expression> {
        children(self).nth(1)
    }

    /// The value where it does not.
    pub fn otherwise(&self) -> Option<Expression> {
        children(self).nth(2)
    }
}

impl Paren {
    /// What is between the parentheses.
    pub fn inner(&self) -> Option<Expression> {
        child(self)
    }
}

impl InputValue {
    /// The question.
    pub fn prompt(&self) -> Option<Str> {
        child(self)
    }
}
