//! The program model: the meaning of a top-level statement, without punctuation and layout.
//!
//! A [`Body`] holds one top-level statement with everything below it. Its parts are named by ids, which count in the order of the
//! text and stay the same as long as nothing is added or removed before them in the same statement. Ranges are relative to the start of the
//! statement, so an edit elsewhere leaves the whole model as it is. Every id leads to a range and so to a node of the tree;
//! [`Body::stmt_at`] leads back.

mod body;

use prose_syntax::{SyntaxKind, TextRange, TextSize, properties};
use smol_str::SmolStr;

pub use self::body::Body;

macro_rules! ids {
    ($($(#[$meta:meta])* $id:ident -> $field:ident: $data:ident)*) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $id(pub(crate) u32);

        impl $id {
            pub(crate) fn nth(index: usize) -> Self {
                // Each part takes at least one byte of a text whose length fits.
                Self(index as u32)
            }
        }

        impl std::ops::Index<$id> for Body {
            type Output = $data;

            fn index(&self, id: $id) -> &$data {
                &self.$field[id.0 as usize]
            }
        }

        impl std::ops::IndexMut<$id> for Body {
            fn index_mut(&mut self, id: $id) -> &mut $data {
                &mut self.$field[id.0 as usize]
            }
        }
    )*};
}

ids! {
    /// A statement.
    StmtId -> stmts: StmtData
    /// An expression.
    ExprId -> exprs: ExprData
    /// A name where it is bound.
    NameId -> names: NameData
    /// A name where it is used.
    RefId -> refs: RefData
    /// A scope.
    ScopeId -> scopes: ScopeData
    /// Statements that are indented together.
    ListId -> lists: ListData
}

impl StmtId {
    /// The top-level statement itself.
    pub const ROOT: Self = Self(0);

    /// Its number in the top-level statement.
    pub fn index(self) -> u32 {
        self.0
    }
}

/// A statement with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StmtData {
    /// The statement.
    pub stmt: Stmt,
    /// The bytes of its node, relative to the top-level statement.
    pub range: TextRange,
    /// The kind of its node.
    pub syntax: SyntaxKind,
    /// The list it is in; none for the top-level statement itself and for one that is a value.
    pub list: Option<ListId>,
    /// The scope its names are looked up in.
    pub scope: ScopeId,
    /// Whether one of the lines where its properties stand is not a property: it may have been any.
    pub lost_property: bool,
}

/// An expression with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExprData {
    /// The expression.
    pub expr: Expr,
    /// The bytes of its node, relative to the top-level statement.
    pub range: TextRange,
}

/// A name where it is bound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameData {
    /// The name.
    pub text: SmolStr,
    /// Its bytes; those of the operator for the `item` of a pipeline, which is never written.
    pub range: TextRange,
    /// What is bound to it.
    pub kind: NameKind,
    /// The scope in which it can be seen.
    pub scope: ScopeId,
    /// The statement that binds it.
    pub stmt: StmtId,
}

/// A name where it is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefData {
    /// The name.
    pub text: SmolStr,
    /// Its bytes.
    pub range: TextRange,
    /// What it should be the name of.
    pub kind: RefKind,
    /// Where it is written.
    pub place: Place,
    /// The scope it is looked up in.
    pub scope: ScopeId,
    /// The statement it is part of.
    pub stmt: StmtId,
}

/// What is bound to a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NameKind {
    /// `agent name:`
    Agent,
    /// `block name:`
    Block,
    /// `use "…" as name`, or the last part of the path
    Import,
    /// `input name`
    Input,
    /// `output name = …`
    Output,
    /// `let name = …`
    Let,
    /// `const name = …`
    Const,
    /// `name = …`
    Assigned,
    /// `name = …` directly below `parallel:`
    Branch,
    /// `session name: agent`
    Session,
    /// A parameter of a block
    Param,
    /// The item of a `for`
    Item,
    /// The index of a `for`, `repeat` or `loop`
    Index,
    /// `catch as name:`
    Error,
    /// The `item` of `map`, `filter` and `pmap`
    ImplicitItem,
    /// The accumulator of a `reduce`
    Accumulator,
    /// The item of a `reduce`, or the unused one of another stage
    PipelineItem,
}

impl NameKind {
    /// Whether the name is looked up as a variable.
    pub fn is_variable(self) -> bool {
        !matches!(self, NameKind::Agent | NameKind::Block | NameKind::Import)
    }

    /// Whether the name is gone after the body it is bound for (R18).
    pub fn is_local(self) -> bool {
        matches!(
            self,
            NameKind::Item
                | NameKind::Index
                | NameKind::Error
                | NameKind::ImplicitItem
                | NameKind::Accumulator
                | NameKind::PipelineItem
        )
    }

    /// Whether the name is declared with a keyword, rather than bound in passing.
    pub fn is_declaration(self) -> bool {
        matches!(self, NameKind::Let | NameKind::Const | NameKind::Input)
    }

    /// What it is called in messages.
    pub fn noun(self) -> &'static str {
        match self {
            NameKind::Agent => "agent",
            NameKind::Block => "block",
            NameKind::Import => "imported program",
            NameKind::Input => "input",
            NameKind::Output => "output",
            NameKind::Let | NameKind::Assigned | NameKind::Session => "variable",
            NameKind::Const => "constant",
            NameKind::Branch => "branch",
            NameKind::Param => "parameter",
            NameKind::Item => "loop variable",
            NameKind::Index => "index",
            NameKind::Error => "error variable",
            NameKind::ImplicitItem | NameKind::Accumulator | NameKind::PipelineItem => "pipeline variable",
        }
    }
}

/// What a used name should be the name of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RefKind {
    /// An agent, after `session:` or `resume:`
    Agent,
    /// A block, after `do`
    Block,
    /// A program, before the parentheses of a call
    Callee,
    /// A variable
    Variable,
    /// A variable that gets a new value, where it is one of a body's own (R18)
    Write,
}

/// Where a name is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Place {
    /// In an expression
    Code,
    /// In an expression below `context:`
    Context,
    /// In braces in a one-line string
    OneLine,
    /// In braces in a triple-quoted string or a discretion, where an unknown name is text (decision 4)
    Literal,
    /// In braces in a text of an agent, which is interpolated where the agent is spawned (A11)
    Agent {
        /// Whether the text is a one-line string
        one_line: bool,
    },
}

impl Place {
    /// Whether the name is in braces in a text.
    pub fn is_text(self) -> bool {
        !matches!(self, Place::Code | Place::Context)
    }
}

/// A scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScopeData {
    /// The scope around it; none for that of the file.
    pub parent: Option<ScopeId>,
    /// What opens it.
    pub kind: ScopeKind,
    /// The names that are bound in it, in the order of the text.
    pub names: Vec<NameId>,
}

/// What opens a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScopeKind {
    /// The file
    Root,
    /// A block: each call has variables of its own (R16)
    Frame,
    /// A body that may run several times, with loop or pipeline variables
    Loop,
    /// The body of a `catch`
    Catch,
}

impl ScopeKind {
    /// Whether the scope has no variables but its own loop, catch or pipeline variables (R18).
    pub fn is_local(self) -> bool {
        matches!(self, ScopeKind::Loop | ScopeKind::Catch)
    }
}

/// Statements that are indented together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListData {
    /// The statements.
    pub stmts: Vec<StmtId>,
    /// Their bytes.
    pub range: TextRange,
    /// The statement whose body it is.
    pub owner: StmtId,
}

/// A word with its place that is neither bound nor looked up, such as a property's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// The word.
    pub text: SmolStr,
    /// Its bytes.
    pub range: TextRange,
}

/// A statement.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the parts of a statement are named for what they are")]
pub enum Stmt {
    /// `use "alice/research" as research`
    Use { path: Option<ExprId>, name: Option<NameId>, has_alias: bool },
    /// `import "skill" from "source"`
    Import { skill: Option<ExprId>, source: Option<ExprId> },
    /// `input topic: "What to research"`
    Input { name: Option<NameId>, description: Option<ExprId> },
    /// `output report = …`, or `output …` that returns
    Output { name: Option<NameId>, value: Option<Value> },
    /// `agent researcher:`
    Agent { name: Option<NameId>, properties: Vec<Property> },
    /// `block review(topic) (max_depth: 5):`
    Block { name: Option<NameId>, params: Vec<NameId>, options: Vec<Modifier>, body: Option<ListId> },
    /// `let x = …`, `const { a, b } = …`
    Let { is_const: bool, names: Vec<NameId>, destructured: bool, value: Option<Value> },
    /// `x = …`
    Assign { target: Option<Target>, value: Option<Value> },
    /// A call, or anything else that is alone
    Expr(Option<ExprId>),
    /// `session "…"`, `session: agent`
    Session { text: Option<ExprId>, name: Option<NameId>, agent: Option<RefId>, properties: Vec<Property> },
    /// `resume: agent`
    Resume { agent: Option<RefId>, properties: Vec<Property> },
    /// `session "a" -> session "b"`
    Chain(Vec<StmtId>),
    /// `xs | map: …`
    Pipeline { source: Option<Value>, stages: Vec<Stage> },
    /// `do review("x")`
    Call { block: Option<RefId>, arguments: Vec<Argument> },
    /// `do:`
    Do { body: Option<ListId> },
    /// `parallel ("first"):`
    Parallel { options: Vec<Modifier>, body: Option<ListId> },
    /// `for x, i in xs:`, `parallel for x in xs:`
    For {
        parallel: bool,
        item: Option<NameId>,
        index: Option<NameId>,
        collection: Option<ExprId>,
        body: Option<ListId>,
    },
    /// `repeat 3 as i:`
    Repeat { count: Option<ExprId>, index: Option<NameId>, body: Option<ListId> },
    /// `loop until **done** (max: 5) as i:`
    Loop { condition: Option<ExprId>, options: Vec<Modifier>, index: Option<NameId>, body: Option<ListId> },
    /// `try:` with its clauses
    Try { body: Option<ListId>, catches: Vec<Catch>, finally: Option<ListId> },
    /// `choice **which**:`
    Choice { criterion: Option<ExprId>, options: Vec<ChoiceOption>, body: Option<ListId> },
    /// An option outside of a choice
    StrayOption(Option<ListId>),
    /// `if **so**:` with its clauses
    If { branches: Vec<Branch>, otherwise: Option<ListId> },
    /// `throw "message"`
    Throw(Option<ExprId>),
    /// `return x`
    Return(Option<Value>),
    /// `break`
    Break,
    /// `continue`
    Continue,
    /// `assert x: "message"`
    Assert { condition: Option<ExprId>, message: Option<ExprId> },
    /// `...`
    Placeholder,
}

/// What an assignment gives a value to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Target {
    /// A variable of the frame.
    Name(NameId),
    /// A loop, catch or pipeline variable of a body around it.
    Local(RefId),
}

impl Stmt {
    /// The properties of an agent or a session.
    pub fn properties(&self) -> Option<&[Property]> {
        match self {
            Stmt::Agent { properties, .. }
            | Stmt::Session { properties, .. }
            | Stmt::Resume { properties, .. } => Some(properties),
            _ => None,
        }
    }

    /// What the statement decides by: the conditions of an `if` or a loop, the criterion of a `choice`.
    pub fn conditions(&self) -> impl Iterator<Item = ExprId> {
        let (branches, single) = match self {
            Stmt::If { branches, .. } => (branches.as_slice(), None),
            Stmt::Loop { condition, .. } | Stmt::Choice { criterion: condition, .. } => (&[][..], *condition),
            _ => (&[][..], None),
        };
        branches.iter().filter_map(|branch| branch.condition).chain(single)
    }
}

/// A value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Value {
    /// A session, a call, a loop …
    Stmt(StmtId),
    /// An expression.
    Expr(ExprId),
}

impl Value {
    /// The expression.
    pub fn expr(self) -> Option<ExprId> {
        match self {
            Value::Expr(expr) => Some(expr),
            Value::Stmt(_) => None,
        }
    }
}

/// `model: opus`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Property {
    /// The name before the colon.
    pub name: Word,
    /// The value on the line.
    pub value: Option<ExprId>,
    /// The entries below the line, as `permissions:` has them; none if nothing is below it.
    pub entries: Option<Vec<Property>>,
    /// Its bytes.
    pub range: TextRange,
}

impl Property {
    /// Whether it is the property of that name, or one without a meaning of its own that is nearly called so: what is
    /// misspelled is not missing as well.
    pub fn is_or_resembles(&self, name: &str) -> bool {
        properties::nearest_property(&self.name.text).is_some_and(|property| property.name == name)
    }
}

/// `max: 3` between parentheses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Modifier {
    /// The name before the colon; none for a strategy such as `"first"`.
    pub name: Option<Word>,
    /// The value.
    pub value: Option<ExprId>,
    /// Its bytes.
    pub range: TextRange,
}

/// An argument of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argument {
    /// The name before the colon.
    pub name: Option<Word>,
    /// The value.
    pub value: Option<Value>,
    /// Its bytes.
    pub range: TextRange,
}

/// `| map:` with its body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stage {
    /// The operator.
    pub operator: Option<StageKind>,
    /// The two names of a `reduce`, or the `item` of the others.
    pub names: Vec<NameId>,
    /// The body.
    pub body: Option<ListId>,
    /// Its bytes.
    pub range: TextRange,
}

/// The operator of a pipeline stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StageKind {
    /// Gives a value for each item.
    Map,
    /// Keeps some of the items.
    Filter,
    /// Gives a value for each item, all at once.
    Pmap,
    /// Combines all items into one value.
    Reduce,
}

/// `catch as error:`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Catch {
    /// The name of the error.
    pub error: Option<NameId>,
    /// The body.
    pub body: Option<ListId>,
    /// The bytes of the keyword.
    pub keyword: TextRange,
}

/// `if **so**:` or `elif **so**:`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Branch {
    /// The condition.
    pub condition: Option<ExprId>,
    /// The body.
    pub body: Option<ListId>,
}

/// `option "label":`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChoiceOption {
    /// The label.
    pub label: Option<ExprId>,
    /// The body.
    pub body: Option<ListId>,
    /// Its bytes.
    pub range: TextRange,
}

/// An expression.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the parts of an expression are named for what they are")]
pub enum Expr {
    /// A string or a discretion
    Text(Text),
    /// `3`, `0.5`
    Number(SmolStr),
    /// `120s`
    Duration(SmolStr),
    /// `true`, `false`
    Bool(bool),
    /// `null`
    Null,
    /// A variable
    Name(RefId),
    /// `[a, b]`
    Array(Vec<Value>),
    /// `{ a, key: b }`
    Object(Vec<Entry>),
    /// `f(x)`
    Call { callee: Option<ExprId>, arguments: Vec<Argument> },
    /// `a.b`
    Field { base: Option<ExprId>, field: Option<Word> },
    /// `a[0]`
    Index { base: Option<ExprId>, index: Option<ExprId> },
    /// Operands of one precedence side by side
    Binary { operands: Vec<Value>, operators: Vec<Operator> },
    /// `not a`, `-a`
    Unary { negates: bool, operand: Option<ExprId> },
    /// `a ? b : c`
    Ternary { condition: Option<ExprId>, then: Option<ExprId>, otherwise: Option<ExprId> },
    /// `input "…"` as a value
    Input(Option<ExprId>),
    /// `...`
    Placeholder,
}

/// An operator between two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "operators are named for what they do")]
pub enum Operator {
    And,
    Or,
    Equal,
    NotEqual,
    LessOrEqual,
    GreaterOrEqual,
    Less,
    Greater,
    Add,
    Subtract,
    Multiply,
    Divide,
}

/// One entry of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The key: the one given, or that of a shorthand.
    pub key: Option<Word>,
    /// The value.
    pub value: Option<Value>,
}

/// A string or a discretion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    /// How it is written.
    pub kind: TextKind,
    /// What is between the marks, with escapes replaced. Only of one-line strings, discretions and what inputs are for: a prompt
    /// may be long, and is read from the tree.
    pub value: Option<SmolStr>,
    /// How many characters are between the marks.
    pub chars: u32,
    /// Whether there is nothing but space between the marks.
    pub blank: bool,
    /// Whether it holds triple quotes that do not end it.
    pub nested_quotes: Option<TextSize>,
    /// The bytes between the marks.
    pub content: TextRange,
    /// The references in braces.
    pub interpolations: Vec<Interpolation>,
}

/// How a text is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TextKind {
    /// `"…"`
    OneLine,
    /// `"""…"""`
    Triple,
    /// `**…**`, `***…***`
    Discretion,
}

/// `{name.field[0]}`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interpolation {
    /// The name that is looked up.
    pub root: RefId,
    /// What is taken of its value.
    pub path: Vec<Step>,
    /// The bytes with the braces.
    pub range: TextRange,
}

/// A step of the path of an interpolation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// `.name`
    Field(Word),
    /// `[0]`
    Number(Word),
    /// `[name]`
    Name(RefId),
}
