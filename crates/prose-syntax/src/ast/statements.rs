//! Sessions, control flow and jumps.

use super::{ArgList, AstNode, Block, Discretion, Expression, Name, NameRef, ParamList, Str, Value};
use super::{child, children, node_enum, nodes, token};
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

impl ExprStmt {
    /// The expression, unless it is a pipeline.
    pub fn expression(&self) -> Option<Expression> {
        child(self)
    }

    /// The pipeline.
    pub fn pipeline(&self) -> Option<Pipeline> {
        child(self)
    }
}

impl Session {
    /// The text after the keyword.
    pub fn text(&self) -> Option<Str> {
        child(self)
    }

    /// The name in `session name: agent`.
    pub fn name(&self) -> Option<Name> {
        child(self)
    }

    /// The agent.
    pub fn agent(&self) -> Option<NameRef> {
        child(self)
    }

    /// The properties on the session's line and below it.
    pub fn properties(&self) -> impl Iterator<Item = Property> + use<> {
        children::<PropertyList, _>(self).flat_map(|list| list.properties())
    }
}

impl Resume {
    /// The agent that continues.
    pub fn agent(&self) -> Option<NameRef> {
        child(self)
    }

    /// The properties below the line.
    pub fn properties(&self) -> impl Iterator<Item = Property> + use<> {
        children::<PropertyList, _>(self).flat_map(|list| list.properties())
    }
}

impl ArrowChain {
    /// The sessions from left to right.
    pub fn links(&self) -> impl Iterator<Item = Statement> + use<> {
        children(self)
    }
}

impl PropertyList {
    /// The properties in order.
    pub fn properties(&self) -> impl Iterator<Item = Property> + use<> {
        children(self)
    }
}

impl Property {
    /// The name before the colon.
    pub fn name(&self) -> Option<Name> {
        child(self)
    }

    /// The value on the line.
    pub fn value(&self) -> Option<Expression> {
        child(self)
    }

    /// The entries below the line, as `permissions:` has them.
    pub fn entries(&self) -> Option<PropertyList> {
        child(self)
    }
}

impl ModifierList {
    /// The modifiers in order.
    pub fn modifiers(&self) -> impl Iterator<Item = Modifier> + use<> {
        children(self)
    }
}

impl Modifier {
    /// The name before the colon; none for a strategy such as `"first"`.
    pub fn name(&self) -> Option<Name> {
        child(self)
    }

    /// The value.
    pub fn value(&self) -> Option<Expression> {
        child(self)
    }
}

impl DoCall {
    /// The block that is called.
    pub fn block(&self) -> Option<NameRef> {
        child(self)
    }

    /// The arguments, where there are parentheses.
    pub fn arguments(&self) -> Option<ArgList> {
        child(self)
    }
}

impl Parallel {
    /// The strategy, policy and count.
    pub fn modifiers(&self) -> impl Iterator<Item = Modifier> + use<> {
        child::<ModifierList>(self).into_iter().flat_map(|list| list.modifiers())
    }
}

/// The name of the item, and of the index.
macro_rules! loop_names {
    ($($node:ident)*) => {$(
        impl $node {
            /// The name of the item.
            pub fn item(&self) -> Option<Name> {
                child(self)
            }

            /// The name of the index.
            pub fn index(&self) -> Option<Name> {
                children(self).nth(1)
            }

            /// What is iterated over.
            pub fn collection(&self) -> Option<Expression> {
                child(self)
            }
        }
    )*};
}

loop_names! { For ParallelFor }

impl Repeat {
    /// How often.
    pub fn count(&self) -> Option<Expression> {
        child(self)
    }

    /// The name after `as`.
    pub fn index(&self) -> Option<Name> {
        child(self)
    }
}

impl Loop {
    /// `until` or `while`; none for an unconditional loop.
    pub fn condition_keyword(&self) -> Option<SyntaxToken> {
        token(self, SyntaxKind::UNTIL_KW).or_else(|| token(self, SyntaxKind::WHILE_KW))
    }

    /// The condition.
    pub fn condition(&self) -> Option<Expression> {
        child(self)
    }

    /// Modifiers such as `max: 5`.
    pub fn modifiers(&self) -> impl Iterator<Item = Modifier> + use<> {
        child::<ModifierList>(self).into_iter().flat_map(|list| list.modifiers())
    }

    /// The name after `as`.
    pub fn index(&self) -> Option<Name> {
        child(self)
    }
}

impl Try {
    /// The handlers in order.
    pub fn catches(&self) -> impl Iterator<Item = CatchClause> + use<> {
        children(self)
    }

    /// What runs in any case.
    pub fn finally(&self) -> Option<FinallyClause> {
        child(self)
    }
}

impl CatchClause {
    /// The name of the error.
    pub fn error(&self) -> Option<Name> {
        child(self)
    }
}

impl Choice {
    /// What the choice is made by.
    pub fn criterion(&self) -> Option<Expression> {
        child(self)
    }

    /// The options in order.
    pub fn options(&self) -> impl Iterator<Item = ChoiceOption> + use<> {
        child::<Block>(self).into_iter().flat_map(|block| children(&block))
    }
}

impl ChoiceOption {
    /// The label.
    pub fn label(&self) -> Option<Str> {
        child(self)
    }
}

impl If {
    /// The condition.
    pub fn condition(&self) -> Option<Expression> {
        child(self)
    }

    /// The further conditions in order.
    pub fn elifs(&self) -> impl Iterator<Item = ElifClause> + use<> {
        children(self)
    }

    /// What runs otherwise.
    pub fn else_clause(&self) -> Option<ElseClause> {
        child(self)
    }
}

impl ElifClause {
    /// The condition.
    pub fn condition(&self) -> Option<Expression> {
        child(self)
    }
}

impl Throw {
    /// The message.
    pub fn message(&self) -> Option<Expression> {
        child(self)
    }
}

impl Return {
    /// The value.
    pub fn value(&self) -> Option<Value> {
        child(self)
    }
}

impl Assert {
    /// What has to hold.
    pub fn condition(&self) -> Option<Expression> {
        child(self)
    }

    /// What is said where it does not hold.
    pub fn message(&self) -> Option<Str> {
        let colon = token(self, SyntaxKind::COLON)?.text_range();
        self.syntax().children().filter(|node| node.text_range().start() >= colon.end()).find_map(Str::cast)
    }
}

impl Pipeline {
    /// What flows into the first stage.
    pub fn source(&self) -> Option<Value> {
        child(self)
    }

    /// The stages in order.
    pub fn stages(&self) -> impl Iterator<Item = PipeStage> + use<> {
        children(self)
    }
}

impl PipeStage {
    /// `map`, `filter`, `pmap` or `reduce`.
    pub fn operator(&self) -> Option<SyntaxToken> {
        use SyntaxKind::*;
        [MAP_KW, FILTER_KW, PMAP_KW, REDUCE_KW].into_iter().find_map(|kind| token(self, kind))
    }

    /// The names of a `reduce`.
    pub fn params(&self) -> Option<ParamList> {
        child(self)
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
