//! Sessions, control flow and jumps.

use super::{ArgList, AstNode, Block, Discretion, Expression, Name, NameRef, ParamList, Str, Value};
use super::{accessors, child, node_enum, nodes, token};
use crate::{SyntaxKind, SyntaxToken};

node_enum! {
    /// A statement of any kind.
    Statement {
        Use,
        Import,
        Input,
        Output,
        Agent,
        BlockDef,
        Let,
        Assignment,
        ExprStmt,
        Placeholder,
        Session,
        Resume,
        ArrowChain,
        Pipeline,
        DoCall,
        DoBlock,
        Parallel,
        ParallelFor,
        Repeat,
        For,
        Loop,
        Try,
        Choice,
        ChoiceOption,
        If,
        Throw,
        Return,
        Break,
        Continue,
        Assert,
    }
}

nodes! {
    /// An expression as a statement: a call or a pipeline
    ExprStmt = EXPR_STMT
    /// `...` where a sketch leaves something out
    Placeholder = PLACEHOLDER
    /// `session "…"`, `session: agent`, with its properties
    Session = SESSION
    /// `resume: agent`, with its properties
    Resume = RESUME
    /// `session "a" -> session "b"`
    ArrowChain = ARROW_CHAIN
    /// The properties of an agent or a session
    PropertyList = PROPERTY_LIST
    /// `model: opus`
    Property = PROPERTY
    /// `(max: 3)`, `("first", on-fail: "continue")`
    ModifierList = MODIFIER_LIST
    /// One modifier
    Modifier = MODIFIER
    /// `do review("x")`
    DoCall = DO_CALL
    /// `do:` with its body
    DoBlock = DO_BLOCK
    /// `parallel:` with its branches
    Parallel = PARALLEL
    /// `parallel for x in xs:`
    ParallelFor = PARALLEL_FOR
    /// `repeat 3 as i:`
    Repeat = REPEAT
    /// `for x, i in xs:`
    For = FOR
    /// `loop until **done** (max: 5) as i:`
    Loop = LOOP
    /// `try:` with its clauses
    Try = TRY
    /// `catch as error:`
    CatchClause = CATCH_CLAUSE
    /// `finally:`
    FinallyClause = FINALLY_CLAUSE
    /// `choice **which**:` with its options
    Choice = CHOICE
    /// `option "label":`
    ChoiceOption = CHOICE_OPTION
    /// `if **so**:` with its clauses
    If = IF
    /// `elif **so**:`
    ElifClause = ELIF_CLAUSE
    /// `else:`
    ElseClause = ELSE_CLAUSE
    /// `throw "message"`
    Throw = THROW
    /// `return x`
    Return = RETURN
    /// `break`
    Break = BREAK
    /// `continue`
    Continue = CONTINUE
    /// `assert x: "message"`
    Assert = ASSERT
    /// `xs | map: … | reduce(a, b): …`
    Pipeline = PIPELINE
    /// `| map:` with its body
    PipeStage = PIPE_STAGE
}

accessors! { ExprStmt
    /// The expression, unless it is a pipeline.
    expression: Expression,
    /// The pipeline.
    pipeline: Pipeline,
}

accessors! { Session
    /// The text after the keyword.
    text: Str,
    /// The name in `session name: agent`.
    name: Name,
    /// The agent.
    agent: NameRef,
    /// The properties on the session's line and below it.
    properties: [Property in PropertyList],
}

accessors! { Resume
    /// The agent that continues.
    agent: NameRef,
    /// The properties below the line.
    properties: [Property in PropertyList],
}

accessors! { ArrowChain
    /// The sessions from left to right.
    links: [Statement],
}

accessors! { PropertyList
    /// The properties in order.
    properties: [Property],
}

accessors! { Property
    /// The name before the colon.
    name: Name,
    /// The value on the line.
    value: Expression,
    /// The entries below the line, as `permissions:` has them.
    entries: PropertyList,
}

accessors! { ModifierList
    /// The modifiers in order.
    modifiers: [Modifier],
}

accessors! { Modifier
    /// The name before the colon; none for a strategy such as `"first"`.
    name: Name,
    /// The value.
    value: Expression,
}

accessors! { DoCall
    /// The block that is called.
    block: NameRef,
    /// The arguments, where there are parentheses.
    arguments: ArgList,
}

accessors! { Parallel
    /// The strategy, policy and count.
    modifiers: [Modifier in ModifierList],
}

accessors! { For
    /// The name of the item.
    item: Name,
    /// The name of the index.
    index: (Name 1),
    /// What is iterated over.
    collection: Expression,
}

accessors! { ParallelFor
    /// The name of the item.
    item: Name,
    /// The name of the index.
    index: (Name 1),
    /// What is iterated over.
    collection: Expression,
}

accessors! { Repeat
    /// How often.
    count: Expression,
    /// The name after `as`.
    index: Name,
}

accessors! { Loop
    /// The condition.
    condition: Expression,
    /// The name after `as`.
    index: Name,
    /// Modifiers such as `max: 5`.
    modifiers: [Modifier in ModifierList],
}

impl Loop {
    /// `until` or `while`; none for an unconditional loop.
    pub fn condition_keyword(&self) -> Option<SyntaxToken> {
        token(self, SyntaxKind::UNTIL_KW).or_else(|| token(self, SyntaxKind::WHILE_KW))
    }
}

accessors! { Try
    /// The handlers in order.
    catches: [CatchClause],
    /// What runs in any case.
    finally: FinallyClause,
}

accessors! { CatchClause
    /// The name of the error.
    error: Name,
}

accessors! { Choice
    /// What the choice is made by.
    criterion: Expression,
    /// The options in order.
    options: [ChoiceOption in Block],
}

accessors! { ChoiceOption
    /// The label.
    label: Str,
}

accessors! { If
    /// The condition.
    condition: Expression,
    /// The further conditions in order.
    elifs: [ElifClause],
    /// What runs otherwise.
    else_clause: ElseClause,
}

accessors! { ElifClause
    /// The condition.
    condition: Expression,
}

accessors! { Throw
    /// The message.
    message: Expression,
}

accessors! { Return
    /// The value.
    value: Value,
}

accessors! { Assert
    /// What has to hold.
    condition: Expression,
}

impl Assert {
    /// The message if it does not hold.
    pub fn message(&self) -> Option<Str> {
        let colon = token(self, SyntaxKind::COLON)?.text_range();
        self.syntax().children().filter(|node| node.text_range().start() >= colon.end()).find_map(Str::cast)
    }
}

accessors! { Pipeline
    /// What flows into the first stage.
    source: Value,
    /// The stages in order.
    stages: [PipeStage],
}

accessors! { PipeStage
    /// The names of a `reduce`.
    params: ParamList,
}

impl PipeStage {
    /// `map`, `filter`, `pmap` or `reduce`.
    pub fn operator(&self) -> Option<SyntaxToken> {
        use SyntaxKind::*;
        [MAP_KW, FILTER_KW, PMAP_KW, REDUCE_KW].into_iter().find_map(|kind| token(self, kind))
    }
}

/// The body of every node that has one.
macro_rules! bodies {
    ($($node:ident)*) => {$(
        impl $node {
            /// The statements below the header, or the one on its line.
            pub fn body(&self) -> Option<Block> {
                child(self)
            }
        }
    )*};
}

bodies! { DoBlock Parallel ParallelFor Repeat For Loop Try CatchClause FinallyClause ChoiceOption If ElifClause ElseClause PipeStage }

impl Discretion {
    /// Whether the marker is `***`.
    pub fn is_triple(&self) -> bool {
        token(self, SyntaxKind::DISCRETION_MARK).is_some_and(|mark| mark.text().len() == 3)
    }
}
