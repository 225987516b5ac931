//! Imports, inputs, outputs, agents, blocks and bindings.

use super::{
    AstNode, Block, Discretion, Expression, Modifier, ModifierList, Name, NameRef, PropertyList, Str, Value,
};
use super::{accessors, nodes, token};
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

accessors! { Use
    /// The path in quotes.
    path: Str,
    /// The name after `as`.
    alias: Name,
}

accessors! { Import
    /// The name of the skill.
    skill: Str,
    /// Where the skill comes from.
    source: (Str 1),
}

accessors! { Input
    /// The name; none for an unnamed prompt.
    name: Name,
    /// The description, where it is a string.
    description: Str,
    /// The description, where it is a discretion.
    discretion: Discretion,
}

accessors! { Output
    /// The name; an output without one returns its value.
    name: Name,
    /// The value.
    value: Value,
}

accessors! { Agent
    /// The name.
    name: Name,
    /// The properties below the header.
    properties: PropertyList,
}

accessors! { BlockDef
    /// The name.
    name: Name,
    /// The parameters, where there are parentheses.
    params: ParamList,
    /// Modifiers such as `max_depth: 5`.
    modifiers: [Modifier in ModifierList],
    /// The body.
    body: Block,
}

accessors! { ParamList
    /// The parameters in order.
    params: [Param],
}

accessors! { Param
    /// The name.
    name: Name,
}

accessors! { Let
    /// The name, unless the value is destructured.
    name: Name,
    /// The names between braces.
    destructuring: Destructuring,
    /// The value.
    value: Value,
}

impl Let {
    /// Whether the binding can never be changed.
    pub fn is_const(&self) -> bool {
        token(self, SyntaxKind::CONST_KW).is_some()
    }
}

accessors! { Destructuring
    /// The names in order.
    names: [Name],
}

accessors! { Assignment
    /// The variable, or the name of a branch.
    target: NameRef,
}

impl Assignment {
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
