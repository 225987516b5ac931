//! The flow graph of a program.

mod graph;

use prose_analysis::model::{Body, Expr, ExprId, ListId, NameId, Property, Stmt, StmtId, Target, Value};
use prose_analysis::statements::{body, statements};
use prose_analysis::{Db, SourceFile};
use prose_syntax::text;
use prose_syntax::{TextRange, TextSize};
use rustc_hash::FxHashMap;
use smol_str::SmolStr;

pub use self::graph::{FlowEdge, FlowEdgeKind, FlowGraph, FlowKind, FlowNode};
use crate::symbols::label;

/// The flow graph of a program. Definitions of agents and imported skills are no part of it; blocks and imported programs are next to what calls them.
pub fn flow_graph(db: &dyn Db, file: SourceFile) -> FlowGraph {
    let mut graph = FlowGraph::default();
    let mut callees: FxHashMap<SmolStr, usize> = FxHashMap::default();
    let mut calls: Vec<(usize, SmolStr)> = Vec::new();
    let mut last = None;
    for placed in &statements(db, file).list {
        let body = body(db, placed.statement);
        let Some(root) = body.root() else { continue };
        let mut builder = Builder {
            body,
            text: file.text(db).as_str(),
            start: placed.start.into(),
            values: values(body),
            graph: &mut graph,
            callees: &mut callees,
            calls: &mut calls,
        };
        if let Some(node) = builder.statement(root, None) {
            last = builder.follow(last, None, node);
        }
    }
    for (from, callee) in calls {
        if let Some(to) = callees.get(&callee) {
            graph.edges.push(FlowEdge { from, to: *to, kind: FlowEdgeKind::Call });
        }
    }
    graph
}

/// The statements that are values, by the innermost statement around each.
fn values(body: &Body) -> FxHashMap<StmtId, Vec<StmtId>> {
    let mut values: FxHashMap<StmtId, Vec<StmtId>> = FxHashMap::default();
    let mut around: Vec<(StmtId, TextRange)> = Vec::new();
    for (id, data) in body.stmts() {
        // Outer statements come before those in them.
        while around.pop_if(|(_, range)| !range.contains_range(data.range)).is_some() {}
        if let (None, Some((parent, _))) = (data.list, around.last()) {
            values.entry(*parent).or_default().push(id);
        }
        around.push((id, data.range));
    }
    values
}

struct Builder<'a> {
    body: &'a Body,
    text: &'a str,
    /// Where the top-level statement starts.
    start: TextSize,
    values: FxHashMap<StmtId, Vec<StmtId>>,
    graph: &'a mut FlowGraph,
    /// The first block or imported program of each name, which answers to it (R8).
    callees: &'a mut FxHashMap<SmolStr, usize>,
    calls: &'a mut Vec<(usize, SmolStr)>,
}

impl Builder<'_> {
    /// Adds a statement with all that is in it. None for one that does nothing by itself.
    fn statement(&mut self, id: StmtId, parent: Option<usize>) -> Option<usize> {
        let body = self.body;
        let (name, value) = binds(body, &body[id].stmt);
        let what = match value {
            Some(Value::Stmt(value)) => value,
            _ => id,
        };
        let (kind, label, detail) = match &body[what].stmt {
            Stmt::Import { .. } | Stmt::Agent { .. } => return None,
            Stmt::Use { name, .. } => {
                if let Some(name) = name {
                    self.callees.entry(body[*name].text.clone()).or_insert(self.graph.nodes.len());
                }
                (FlowKind::Import, self.header(what), None)
            }
            Stmt::Session { text, agent, properties, .. } => {
                let label = agent.map_or("session", |agent| &body[agent].text);
                let prompt = text.or_else(|| property(properties, "prompt"));
                (FlowKind::Session, label.to_owned(), prompt.and_then(|prompt| self.beginning(prompt)))
            }
            Stmt::Resume { agent, properties } => {
                let label = agent.map_or("resume", |agent| &body[agent].text);
                let prompt = property(properties, "prompt");
                (FlowKind::Resume, label.to_owned(), prompt.and_then(|prompt| self.beginning(prompt)))
            }
            Stmt::Call { block, .. } => {
                let block = block.map(|block| body[block].text.clone()).unwrap_or_default();
                self.calls.push((self.graph.nodes.len(), block.clone()));
                (FlowKind::Call, block.to_string(), None)
            }
            Stmt::Block { name, .. } => {
                let name = name.map(|name| body[name].text.clone()).unwrap_or_default();
                self.callees.entry(name).or_insert(self.graph.nodes.len());
                (FlowKind::Block, self.header(what), None)
            }
            Stmt::Input { description, .. } => {
                let detail = description.and_then(|description| self.beginning(description));
                (FlowKind::Input, "input".to_owned(), detail)
            }
            Stmt::Return(value) if what == id => {
                (FlowKind::Return, "return".to_owned(), value.map(|value| self.shown(value)))
            }
            stmt => {
                let callee = match (stmt, value) {
                    (_, Some(Value::Expr(value))) => called_program(body, value),
                    (Stmt::Expr(Some(value)), _) => called_program(body, *value),
                    _ => None,
                };
                let kind = match callee {
                    Some(callee) => {
                        self.calls.extend(callee.map(|callee| (self.graph.nodes.len(), callee)));
                        FlowKind::Program
                    }
                    None => kind_of(stmt),
                };
                let label = match (kind, value) {
                    (FlowKind::Program | FlowKind::Binding | FlowKind::Output, Some(value)) => {
                        self.shown(value)
                    }
                    _ => self.header(what),
                };
                (kind, label, None)
            }
        };
        let name = name.or_else(|| match &body[what].stmt {
            Stmt::Session { name: Some(name), .. } => Some(body[*name].text.clone()),
            _ => None,
        });
        let range = body[id].range;
        let node = self.add(FlowNode { kind, label, detail, name, range, parent });
        let values = [id, what].into_iter().filter_map(|id| self.values.remove(&id));
        let values: Vec<StmtId> = values.flatten().filter(|value| *value != what).collect();
        let last = self.sequence(&values, node, None);
        self.parts(what, node, last);
        Some(node)
    }

    /// Adds the statements in the body of another, or its ways with theirs, after what is in its header.
    fn parts(&mut self, id: StmtId, node: usize, last: Option<usize>) {
        let body = self.body;
        match &body[id].stmt {
            Stmt::Block { body: Some(list), .. } | Stmt::Do { body: Some(list) } => {
                self.sequence(&body[*list].stmts, node, last);
            }
            Stmt::For { body: Some(list), .. }
            | Stmt::Repeat { body: Some(list), .. }
            | Stmt::Loop { body: Some(list), .. } => {
                let last = self.sequence(&body[*list].stmts, node, last);
                if let Some(from) = last.filter(|_| self.graph.nodes[node].kind == FlowKind::Loop) {
                    self.graph.edges.push(FlowEdge { from, to: node, kind: FlowEdgeKind::Again });
                }
            }
            Stmt::Parallel { body: Some(list), .. } => {
                for branch in &body[*list].stmts {
                    if let Some(branch) = self.statement(*branch, Some(node)) {
                        self.follow(None, Some(node), branch);
                    }
                }
            }
            Stmt::Try { body: tried, catches, finally } => {
                self.branch(node, "try".to_owned(), *tried);
                for catch in catches {
                    let error = catch.error.map(|error| body[error].text.as_str());
                    let label = error.map_or("catch".to_owned(), |error| format!("catch {error}"));
                    self.branch(node, label, catch.body);
                }
                self.branch(node, "finally".to_owned(), *finally);
            }
            Stmt::Choice { options, .. } => {
                for option in options {
                    let label = option.label.and_then(|label| self.beginning(label));
                    self.branch(node, label.unwrap_or_default(), option.body);
                }
            }
            Stmt::If { branches, otherwise } => {
                for branch in branches {
                    let label = branch.condition.map(|condition| self.shown(Value::Expr(condition)));
                    self.branch(node, label.unwrap_or_default(), branch.body);
                }
                self.branch(node, "else".to_owned(), *otherwise);
            }
            Stmt::Pipeline { stages, .. } => {
                let mut last = None;
                for stage in stages {
                    let header = self.first_line(stage.range).trim_start_matches('|').trim();
                    let label = label(header.strip_suffix(':').unwrap_or(header));
                    let stmts: &[StmtId] = stage.body.map_or(&[], |list| &body[list].stmts);
                    last = self.way(last, node, label, stage.range, stmts);
                }
            }
            _ => {}
        }
    }

    /// Adds one of the ways that a statement may take, if it is written.
    fn branch(&mut self, node: usize, label: String, list: Option<ListId>) {
        if let Some(list) = list {
            let list = &self.body[list];
            self.way(None, node, label, list.range, &list.stmts);
        }
    }

    /// Adds a way of a node with its statements, after the one before it. Gives what the next one follows.
    fn way(
        &mut self,
        before: Option<usize>,
        node: usize,
        label: String,
        range: TextRange,
        stmts: &[StmtId],
    ) -> Option<usize> {
        let kind = FlowKind::Way;
        let way = self.add(FlowNode { kind, label, detail: None, name: None, range, parent: Some(node) });
        let last = self.follow(before, Some(node), way);
        self.sequence(stmts, way, None);
        last
    }

    /// Adds statements that follow one another in a node, the first of them after `last`. Returns the last of them, unless it leads out.
    fn sequence(&mut self, stmts: &[StmtId], node: usize, mut last: Option<usize>) -> Option<usize> {
        let mut around = Some(node).filter(|_| last.is_none());
        for stmt in stmts {
            let Some(next) = self.statement(*stmt, Some(node)) else { continue };
            last = self.follow(last, around.take(), next);
        }
        last
    }

    /// Adds the edge to a node from the one before it, or else from the one around it. Gives what the next one follows.
    fn follow(&mut self, before: Option<usize>, around: Option<usize>, node: usize) -> Option<usize> {
        let kind = self.graph.nodes[node].kind;
        if kind.is_called() {
            return before;
        }
        match (before, around) {
            (Some(from), _) => {
                self.graph.edges.push(FlowEdge { from, to: node, kind: FlowEdgeKind::Next });
            }
            (None, Some(from)) => {
                self.graph.edges.push(FlowEdge { from, to: node, kind: FlowEdgeKind::Enter });
            }
            (None, None) => {}
        }
        (!kind.leads_out()).then_some(node)
    }

    fn add(&mut self, node: FlowNode) -> usize {
        let range = node.range + self.start;
        self.graph.nodes.push(FlowNode { range, ..node });
        self.graph.nodes.len() - 1
    }

    /// The first line of a statement without the colon of its body.
    fn header(&self, id: StmtId) -> String {
        let line = self.first_line(self.body[id].range);
        label(line.strip_suffix(':').unwrap_or(line))
    }

    fn first_line(&self, range: TextRange) -> &str {
        let text = self.text.get(std::ops::Range::from(range + self.start)).unwrap_or_default();
        text.lines().next().unwrap_or_default().trim()
    }

    fn shown(&self, value: Value) -> String {
        label(self.first_line(self.body.value_range(value)))
    }

    /// The first line with something on it of a text; of anything else, how it is written.
    fn beginning(&self, expr: ExprId) -> Option<String> {
        let Some(text) = self.body.text(expr) else { return Some(self.shown(Value::Expr(expr))) };
        let content = self.text.get(std::ops::Range::from(text.content + self.start))?;
        Some(label(text::first_line(content))).filter(|line| !line.is_empty())
    }
}

/// The name that a statement gives a value, and the value.
fn binds(body: &Body, stmt: &Stmt) -> (Option<SmolStr>, Option<Value>) {
    let text = |name: &NameId| body[*name].text.clone();
    match stmt {
        Stmt::Let { names, value, .. } => {
            let names: Vec<SmolStr> = names.iter().map(text).collect();
            (Some(names.join(", ").into()).filter(|name: &SmolStr| !name.is_empty()), *value)
        }
        Stmt::Assign { target, value } => {
            let name = target.map(|target| match target {
                Target::Name(name) => text(&name),
                Target::Local(name) => body[name].text.clone(),
            });
            (name, *value)
        }
        Stmt::Output { name, value } => (name.as_ref().map(text), *value),
        Stmt::Input { name, .. } => (name.as_ref().map(text), None),
        Stmt::Return(value) => (None, *value),
        _ => (None, None),
    }
}

fn kind_of(stmt: &Stmt) -> FlowKind {
    match stmt {
        Stmt::Let { .. } | Stmt::Assign { .. } => FlowKind::Binding,
        Stmt::Output { .. } => FlowKind::Output,
        Stmt::Chain(_) => FlowKind::Chain,
        Stmt::Pipeline { .. } => FlowKind::Pipeline,
        Stmt::Do { .. } => FlowKind::Do,
        Stmt::Parallel { .. } => FlowKind::Parallel,
        Stmt::For { parallel: true, .. } => FlowKind::ParallelLoop,
        Stmt::For { .. } | Stmt::Repeat { .. } | Stmt::Loop { .. } => FlowKind::Loop,
        Stmt::If { .. } => FlowKind::If,
        Stmt::Choice { .. } => FlowKind::Choice,
        Stmt::Try { .. } => FlowKind::Try,
        Stmt::Throw(_) => FlowKind::Throw,
        Stmt::Break => FlowKind::Break,
        Stmt::Continue => FlowKind::Continue,
        _ => FlowKind::Other,
    }
}

/// The name of the program that an expression calls, if it is such a call.
fn called_program(body: &Body, expr: ExprId) -> Option<Option<SmolStr>> {
    let Expr::Call { callee, .. } = &body[expr].expr else { return None };
    Some(callee.and_then(|callee| match &body[callee].expr {
        Expr::Name(name) => Some(body[*name].text.clone()),
        _ => None,
    }))
}

fn property(properties: &[Property], name: &str) -> Option<ExprId> {
    properties.iter().find(|property| property.name.text == name)?.value
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::testing::analysed;

    #[track_caller]
    fn check(fixture: &str, expected: Expect) {
        let at = analysed(&format!("$0{fixture}"));
        let graph = flow_graph(at.host.db(), at.file);
        let text = at.file.text(at.host.db()).as_str();
        let mut shown = String::new();
        for (index, node) in graph.nodes.iter().enumerate() {
            let depth = std::iter::successors(node.parent, |parent| graph.nodes[*parent].parent).count();
            let line = text[..node.range.start().into()].matches('\n').count() + 1;
            let name = node.name.as_deref().map(|name| format!("{name} = ")).unwrap_or_default();
            let detail = node.detail.as_deref().map(|detail| format!(" · {detail}")).unwrap_or_default();
            let edges = graph.edges.iter().filter(|edge| edge.from == index);
            let edges: Vec<_> = edges.map(|edge| format!("{} {}", edge.kind.name(), edge.to)).collect();
            let edges = if edges.is_empty() { String::new() } else { format!(" -> {}", edges.join(", ")) };
            shown += &format!(
                "{}{index}@{line} {}: {name}{}{detail}{edges}\n",
                "  ".repeat(depth),
                node.kind.name(),
                node.label
            );
        }
        expected.assert_eq(&shown);
    }

    #[test]
    fn statements_follow_one_another() {
        check(
            r#"agent writer:
  prompt: "You write"
input topic: "What about?"
let draft = session: writer
  prompt: """
    Write about {topic}
    at length
  """
resume: writer
  prompt: "Improve it"
let limit = 3
session "one" -> session "two"
session check: writer
output result = draft
"#,
            expect![[r#"
                0@3 input: topic = input · What about? -> next 1
                1@4 session: draft = writer · Write about {topic} -> next 2
                2@9 resume: writer · Improve it -> next 3
                3@11 binding: limit = 3 -> next 4
                4@12 chain: session "one" -> session "two" -> enter 5, next 7
                  5@12 session: session · one -> next 6
                  6@12 session: session · two
                7@13 session: check = writer -> next 8
                8@14 output: result = draft
            "#]],
        );
    }

    #[test]
    fn loops_start_again_and_branches_go_side_by_side() {
        check(
            r#"loop until **it is good** (max: 3):
  session "Improve"
  if **hopeless**:
    break
parallel (on-fail: "continue"):
  a = session "A"
  do:
    session "B"
    session "C"
let found = parallel for item in ["x", "y"]:
  session "Do {item}"
for x in [session "first", session "second"]:
  continue
"#,
            expect![[r#"
                0@1 loop: loop until **it is good** (max: 3) -> enter 1, next 5
                  1@2 session: session · Improve -> next 2
                  2@3 if: if **hopeless** -> enter 3, again 0
                    3@4 way: **hopeless** -> enter 4
                      4@4 break: break
                5@5 parallel: parallel (on-fail: "continue") -> enter 6, enter 7, next 10
                  6@6 session: a = session · A
                  7@7 do: do -> enter 8
                    8@8 session: session · B -> next 9
                    9@9 session: session · C
                10@10 parallel-loop: found = parallel for item in ["x", "y"] -> enter 11, next 12
                  11@11 session: session · Do {item}
                12@12 loop: for x in [session "first", session "second"] -> enter 13
                  13@12 session: session · first -> next 14
                  14@12 session: session · second -> next 15
                  15@13 continue: continue
            "#]],
        );
    }

    #[test]
    fn what_is_chosen_has_a_way_each() {
        check(
            r#"if **short**:
  session "Extend"
elif **long**:
  session "Shorten"
else:
  throw "neither"
choice **what next**:
  option "publish":
    session "Publish"
  option "drop":
    session "Drop"
try:
  session "Risky"
catch as err:
  session "Recover from {err}"
finally:
  session "Clean up"
let all = ["a", "b"]
  | filter:
    **{item} is good**
  | map:
    session "Look at {item}"
"#,
            expect![[r#"
                0@1 if: if **short** -> enter 1, enter 3, enter 5, next 7
                  1@2 way: **short** -> enter 2
                    2@2 session: session · Extend
                  3@4 way: **long** -> enter 4
                    4@4 session: session · Shorten
                  5@6 way: else -> enter 6
                    6@6 throw: throw "neither"
                7@7 choice: choice **what next** -> enter 8, enter 10, next 12
                  8@9 way: publish -> enter 9
                    9@9 session: session · Publish
                  10@11 way: drop -> enter 11
                    11@11 session: session · Drop
                12@12 try: try -> enter 13, enter 15, enter 17, next 19
                  13@13 way: try -> enter 14
                    14@13 session: session · Risky
                  15@15 way: catch err -> enter 16
                    16@15 session: session · Recover from {err}
                  17@17 way: finally -> enter 18
                    18@17 session: session · Clean up
                19@18 pipeline: all = ["a", "b"] -> enter 20
                  20@19 way: filter -> enter 21, next 22
                    21@20 other: **{item} is good**
                  22@21 way: map -> enter 23
                    23@22 session: session · Look at {item}
            "#]],
        );
    }

    #[test]
    fn calls_lead_to_blocks_and_imported_programs() {
        check(
            r#"use "./tool.prose" as tool
do review("x")
block review(text):
  let found = session "Review {text}"
  do missing
  return found
let result = do review("y")
let used = tool(text: result)
tool(text: used)
"#,
            expect![[r#"
                0@1 import: use "./tool.prose" as tool
                1@2 call: review -> next 6, call 2
                2@3 block: block review(text) -> enter 3
                  3@4 session: found = session · Review {text} -> next 4
                  4@5 call: missing -> next 5
                  5@6 return: return · found
                6@7 call: result = review -> next 7, call 2
                7@8 program: used = tool(text: result) -> next 8, call 0
                8@9 program: tool(text: used) -> call 0
            "#]],
        );
    }

    #[test]
    fn half_written_programs_have_a_flow_as_well() {
        check(
            "let =\nparallel:\nif\nloop:\n  session\ndo\nx =\n",
            expect![[r#"
            0@1 binding: let = -> next 1
            1@2 parallel: parallel -> enter 2, enter 3, enter 5, enter 6
              2@3 if: if
              3@4 loop: loop -> enter 4
                4@5 session: session -> again 3
              5@6 call: 
              6@7 binding: x = x =
        "#]],
        );
    }
}
