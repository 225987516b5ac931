//! The nodes and edges of a flow graph.

use prose_syntax::TextRange;
use smol_str::SmolStr;

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

/// What a [`FlowNode`] stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FlowKind {
    /// `session`
    Session,
    /// `resume`
    Resume,
    /// `input`
    Input,
    /// `output`
    Output,
    /// A name that is given a value.
    Binding,
    /// `do name`
    Call,
    /// A program that is called.
    Program,
    /// `block name:` with its body.
    Block,
    /// `do:`, a sequence.
    Do,
    /// `session "a" -> session "b"`
    Chain,
    /// `parallel:`, whose branches run concurrently.
    Parallel,
    /// `parallel for`, whose body runs for all items concurrently.
    ParallelLoop,
    /// `repeat`, `for`, `loop`
    Loop,
    /// `if` with its branches.
    If,
    /// `choice` with its options.
    Choice,
    /// `try` with its clauses.
    Try,
    /// `xs | map: …` with its stages.
    Pipeline,
    /// A branch of an `if`, an option of a `choice`, a clause of a `try`, or a stage of a pipeline.
    Way,
    /// `throw`
    Throw,
    /// `return`
    Return,
    /// `break`
    Break,
    /// `continue`
    Continue,
    /// Anything else.
    Other,
}

impl FlowKind {
    /// The name in the protocol.
    pub fn name(self) -> &'static str {
        match self {
            FlowKind::Session => "session",
            FlowKind::Resume => "resume",
            FlowKind::Input => "input",
            FlowKind::Output => "output",
            FlowKind::Binding => "binding",
            FlowKind::Call => "call",
            FlowKind::Program => "program",
            FlowKind::Block => "block",
            FlowKind::Do => "do",
            FlowKind::Chain => "chain",
            FlowKind::Parallel => "parallel",
            FlowKind::ParallelLoop => "parallel-loop",
            FlowKind::Loop => "loop",
            FlowKind::If => "if",
            FlowKind::Choice => "choice",
            FlowKind::Try => "try",
            FlowKind::Pipeline => "pipeline",
            FlowKind::Way => "way",
            FlowKind::Throw => "throw",
            FlowKind::Return => "return",
            FlowKind::Break => "break",
            FlowKind::Continue => "continue",
            FlowKind::Other => "other",
        }
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

/// The kind of an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FlowEdgeKind {
    /// The target runs after the source.
    Next,
    /// The target is a first child of the source.
    Enter,
    /// From the last statement of a loop back to the loop.
    Again,
    /// The source calls the target.
    Call,
}

impl FlowEdgeKind {
    /// The name in the protocol.
    pub fn name(self) -> &'static str {
        match self {
            FlowEdgeKind::Next => "next",
            FlowEdgeKind::Enter => "enter",
            FlowEdgeKind::Again => "again",
            FlowEdgeKind::Call => "call",
        }
    }
}
