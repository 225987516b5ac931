//! The nodes and edges of a flow graph.

use prose_syntax::TextRange;
use smol_str::SmolStr;

use crate::named::named;

/// The flow graph of a program.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FlowGraph {
    /// The nodes, outer ones before those inside them, and otherwise in the order of the text.
    pub nodes: Vec<FlowNode>,
    /// The edges.
    pub edges: Vec<FlowEdge>,
}

/// A statement, or one of the branches of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowNode {
    /// What it is.
    pub kind: FlowKind,
    /// Its label: the agent of a session, the block that is called, the header of a loop, the condition of a branch.
    pub label: String,
    /// The start of the prompt of a session.
    pub detail: Option<String>,
    /// The variable that its result is bound to.
    pub name: Option<SmolStr>,
    /// Its range. A statement whose value is bound has no node of its own but is part of the binding.
    pub range: TextRange,
    /// The index of its parent, which is smaller than its own.
    pub parent: Option<usize>,
}

impl FlowNode {
    /// What it does, in a line: the variable, the keyword unless the label starts with it, and the label.
    pub fn title(&self) -> String {
        let name = self.name.as_ref().map_or(String::new(), |name| format!("{name} = "));
        let kind = match self.kind {
            FlowKind::Way | FlowKind::Other => String::new(),
            kind if self.label.split([' ', ':']).next() == Some(kind.name()) => String::new(),
            // Their labels are statements or values as they are written.
            FlowKind::Import | FlowKind::Loop | FlowKind::Binding | FlowKind::Program => String::new(),
            FlowKind::Chain | FlowKind::Pipeline | FlowKind::ParallelLoop => String::new(),
            kind => format!("{} ", kind.name()),
        };
        format!("{name}{kind}{}", self.label)
    }
}

named! {
    /// What a [`FlowNode`] stands for.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    FlowKind;
    /// `session`
    Session = "session"
    /// `resume`
    Resume = "resume"
    /// `input`
    Input = "input"
    /// `output`
    Output = "output"
    /// A name that is given a value.
    Binding = "binding"
    /// `do name`
    Call = "call"
    /// A program that is called.
    Program = "program"
    /// `use "path" as name`
    Import = "import"
    /// `block name:` with its body.
    Block = "block"
    /// `do:`, a sequence.
    Do = "do"
    /// `session "a" -> session "b"`
    Chain = "chain"
    /// `parallel:`, whose branches run concurrently.
    Parallel = "parallel"
    /// `parallel for`, whose body runs for all items concurrently.
    ParallelLoop = "parallel-loop"
    /// `repeat`, `for`, `loop`
    Loop = "loop"
    /// `if` with its branches.
    If = "if"
    /// `choice` with its options.
    Choice = "choice"
    /// `try` with its clauses.
    Try = "try"
    /// `xs | map: …` with its stages.
    Pipeline = "pipeline"
    /// A branch of an `if`, an option of a `choice`, a clause of a `try`, or a stage of a pipeline.
    Way = "way"
    /// `throw`
    Throw = "throw"
    /// `return`
    Return = "return"
    /// `break`
    Break = "break"
    /// `continue`
    Continue = "continue"
    /// Anything else.
    Other = "other"
}

impl FlowKind {
    /// Whether it is executed where it is called rather than where it is written.
    pub fn is_called(self) -> bool {
        matches!(self, FlowKind::Block | FlowKind::Import)
    }

    /// Whether nothing follows it: it leads out of what is around it.
    pub(super) fn leads_out(self) -> bool {
        matches!(self, FlowKind::Throw | FlowKind::Return | FlowKind::Break | FlowKind::Continue)
    }
}

/// An edge between two nodes, by their indices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlowEdge {
    /// The source.
    pub from: usize,
    /// Where it leads.
    pub to: usize,
    /// How.
    pub kind: FlowEdgeKind,
}

named! {
    /// The kind of an edge.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    FlowEdgeKind;
    /// The target runs after the source.
    Next = "next"
    /// The target is a first child of the source.
    Enter = "enter"
    /// From the last statement of a loop back to the loop.
    Again = "again"
    /// The source calls the target.
    Call = "call"
}
