//! Imports, inputs, outputs, agents, blocks and bindings.

use super::{
    AstNode, Block, Discretion, Expression, Modifier, ModifierList, Name, NameRef, PropertyList, Str, Value,
};
use super::{child, children, nodes, token};
use crate::SyntaxKind;

nodes! {
    /// `use "alice/research" as research`
    Use = USE
    /// `import "skill" from "source"`
    Import = IMPORT
    /// `input topic: "What to research"`
    Input = INPUT
    /// `output report = …`, or `output …` that returns
    Output = OUTPUT
    /// `agent researcher:` with its properties
    Agent = AGENT
    /// `block review(topic) (max_depth: 5):` with its body
    BlockDef = BLOCK_DEF
    /// `(topic, depth)` of a block, `(total, item)` of a `reduce`
    ParamList = PARAM_LIST
    /// One parameter
    Param = PARAM
    /// `let x = …` and `const x = …`
    Let = LET
    /// `{ a, b }` of a `let`
    Destructuring = DESTRUCTURING
    /// `x = …`, also a branch of a `parallel`
    Assignment = ASSIGNMENT
}

impl Use {
    /// The path in quotes.
    pub fn path(&self) -> Option<Str> {
        child(self)
    }

    /// The name after `as`.
    pub fn alias(&self) -> Option<Name> {
        child(self)
    }
}

impl Import {
    /// The name of the skill.
    pub fn skill(&self) -> Option<Str> {
        child(self)
    }

    /// Where the skill comes from.
    pub fn source(&self) -> Option<Str> {
        children(self).nth(1)
    }
}

impl Input {
    /// The name; none for an unnamed prompt.
    pub fn name(&self) -> Option<Name> {
        child(self)
    }

    /// The description, where it is a string.
    pub fn description(&self) -> Option<Str> {
        child(self)
    }

    /// The description, where it is a discretion.
    pub fn discretion(&self) -> Option<Discretion> {
        child(self)
    }
}

impl Output {
    /// The name; an output without one returns its value.
    pub fn name(&self) -> Option<Name> {
        child(self)
    }

    /// The value.
    pub fn value(&self) -> Option<Value> {
        child(self)
    }
}

impl Agent {
    /// The name.
    pub fn name(&self) -> Option<Name> {
        child(self)
    }

    /// The properties below the header.
    pub fn properties(&self) -> Option<PropertyList> {
        child(self)
    }
}

impl BlockDef {
    /// The name.
    pub fn name(&self) -> Option<Name> {
        child(self)
    }

    /// The parameters, where there are parentheses.
    pub fn params(&self) -> Option<ParamList> {
        child(self)
    }

    /// Modifiers such as `max_depth: 5`.
    pub fn modifiers(&self) -> impl Iterator<Item = Modifier> + use<> {
        child::<ModifierList>(self).into_iter().flat_map(|list| list.modifiers())
    }

    /// The body.
    pub fn body(&self) -> Option<Block> {
        child(self)
    }
}

impl ParamList {
    /// The parameters in order.
    pub fn params(&self) -> impl Iterator<Item = Param> + use<> {
        children(self)
    }
}

impl Param {
    /// The name.
    pub fn name(&self) -> Option<Name> {
        child(self)
    }
}

impl Let {
    /// Whether the binding can never be changed.
    pub fn is_const(&self) -> bool {
        token(self, SyntaxKind::CONST_KW).is_some()
    }

    /// The name, unless the value is destructured.
    pub fn name(&self) -> Option<Name> {
        child(self)
    }

    /// The names between braces.
    pub fn destructuring(&self) -> Option<Destructuring> {
        child(self)
    }

    /// The value.
    pub fn value(&self) -> Option<Value> {
        child(self)
    }
}

impl Destructuring {
    /// The names in order.
    pub fn names(&self) -> impl Iterator<Item = Name> + use<> {
        children(self)
    }
}

impl Assignment {
    /// The variable, or the name of a branch.
    pub fn target(&self) -> Option<NameRef> {
        child(self)
    }

    /// The value: what comes after the `=`.
    pub fn value(&self) -> Option<Value> {
        let equals = token(self, SyntaxKind::EQ)?.text_range();
        self.syntax()
            .children()
            .filter(|node| node.text_range().start() >= equals.end())
            .find_map(Value::cast)
    }
}

impl From<Expression> for Value {
    fn from(expression: Expression) -> Self {
        Value::Expression(expression)
    }
}
