//! Expressions.

use super::{AstNode, Name, Str, Value};
use super::{accessors, child, node_enum, nodes, token};
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

accessors! { Array
    /// The items: expressions, and sessions among them.
    items: [Value],
}

accessors! { Object
    /// The entries in order.
    entries: [ObjectEntry],
}

accessors! { ObjectEntry
    /// The key, where it is a name. In a shorthand entry the value is the key.
    key: Name,
}

impl ObjectEntry {
    /// The key, where it is a string.
    pub fn string_key(&self) -> Option<Str> {
        token(self, SyntaxKind::COLON).and_then(|_| child(self))
    }

    /// The value.
    pub fn value(&self) -> Option<Value> {
        let start = token(self, SyntaxKind::COLON).map(|colon| colon.text_range().end());
        self.syntax()
            .children()
            .filter(|node| start.is_none_or(|start| node.text_range().start() >= start))
            .find_map(Value::cast)
    }
}

accessors! { Call
    /// What is called.
    callee: Expression,
    /// The arguments.
    arguments: ArgList,
}

impl Call {
    /// The string after `from`.
    pub fn source(&self) -> Option<Str> {
        token(self, SyntaxKind::FROM_KW).and_then(|_| child(self))
    }
}

accessors! { ArgList
    /// The arguments in order.
    arguments: [Arg],
}

accessors! { Arg
    /// The name of a named argument.
    name: Name,
    /// The value.
    value: Value,
}

accessors! { Field
    /// What the property is of.
    base: Expression,
}

impl Field {
    /// The name after the dot.
    pub fn field(&self) -> Option<SyntaxToken> {
        token(self, SyntaxKind::IDENT)
    }
}

accessors! { Index
    /// What the item is of.
    base: Expression,
    /// What is between the brackets.
    index: (Expression 1),
}

accessors! { Binary
    /// The operands from left to right.
    operands: [Value],
}

impl Binary {
    /// The operators between them.
    pub fn operators(&self) -> impl Iterator<Item = SyntaxToken> + use<> {
        self.0
            .children_with_tokens()
            .filter_map(|child| child.into_token())
            .filter(|token| !token.kind().is_trivia())
    }
}

accessors! { Unary
    /// The operand.
    operand: Expression,
}

impl Unary {
    /// `not` or `-`.
    pub fn operator(&self) -> Option<SyntaxToken> {
        self.0.first_token()
    }
}

accessors! { Ternary
    /// What decides.
    condition: Expression,
    /// The value where the condition holds.
    then: (Expression 1),
    /// The value where it does not.
    otherwise: (Expression 2),
}

accessors! { Paren
    /// What is between the parentheses.
    inner: Expression,
}

accessors! { InputValue
    /// The question.
    prompt: Str,
}
