//! The events of a run, with what a debugger asks of them: which statement, call and branch each belongs to, and what every name is bound to after it.
//!
//! All of it is found without folding events again, so that a step back takes the same time everywhere in a long run.

use prose_vm::effect::{BindingKind, RequestId, Usage};
use prose_vm::event::{Event, EventKind, RunHead, TryPart};
use prose_vm::place::{Place, Site};
use prose_vm::value::Value;
use rustc_hash::FxHashMap;
use smol_str::{SmolStr, format_smolstr};

use crate::headers::LoopNames;

/// The number of a part of a run.
pub(crate) type NodeId = u32;

/// The run as a whole. It is also the thread and the scope of the program that was started.
pub(crate) const RUN: NodeId = 0;

/// A part of a run: a statement, or what statements run in.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) kind: NodeKind,
    pub(crate) parent: NodeId,
    /// The event that starts it.
    pub(crate) start: usize,
    /// The event that ends it, if that is known.
    pub(crate) end: Option<usize>,
    /// The branch it runs in, or [`RUN`].
    pub(crate) thread: NodeId,
    /// The call, the program or the branch that names are bound in.
    pub(crate) scope: NodeId,
    /// The execution id of the frame of that scope.
    frame: u32,
    /// The number of calls and programs around it.
    pub(crate) depth: u32,
    pub(crate) site: Option<Site>,
    /// The number of the program.
    pub(crate) program: u32,
    pub(crate) children: Vec<NodeId>,
    /// The names that are there in this part only, such as the item of an iteration.
    pub(crate) locals: Vec<(SmolStr, Value)>,
    /// The place of what is inside, while it is open.
    key: Option<Place>,
    /// What had that place before.
    shadowed: Option<NodeId>,
}

/// Kinds of parts.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum NodeKind {
    Run,
    Statement { source: SmolStr },
    Iteration { number: u32, max: Option<u32> },
    Branch { name: SmolStr },
    Call { block: SmolStr },
    Import { alias: SmolStr },
    Session { request: RequestId },
    Catch,
}

impl NodeKind {
    /// Whether it is shown as a frame of its own.
    pub(crate) fn is_frame(&self) -> bool {
        matches!(
            self,
            NodeKind::Run
                | NodeKind::Iteration { .. }
                | NodeKind::Branch { .. }
                | NodeKind::Call { .. }
                | NodeKind::Import { .. }
        )
    }
}

/// A name in a scope.
#[derive(Debug, Default)]
struct Bindings {
    kind: BindingKind,
    /// Its values, each with the event that binds it.
    values: Vec<(usize, Value)>,
}

/// A variable at a point of the run.
#[derive(Debug, Clone)]
pub(crate) struct Variable {
    pub(crate) name: SmolStr,
    pub(crate) value: Value,
    pub(crate) kind: BindingKind,
}

/// The source of a program of a run.
#[derive(Debug, Clone, Default)]
pub(crate) struct ProgramSource {
    /// Its name, such as `review.prose`.
    pub(crate) name: SmolStr,
    /// What it was read from: a path or an address.
    pub(crate) from: String,
    /// Its text, if it was imported.
    pub(crate) text: Option<std::sync::Arc<str>>,
}

/// The events of a run up to now.
#[derive(Debug, Default)]
pub(crate) struct Timeline {
    events: Vec<Event>,
    node_of: Vec<NodeId>,
    nodes: Vec<Node>,
    /// The open parts, by the place of what is inside of them.
    open: FxHashMap<Place, NodeId>,
    sessions: FxHashMap<RequestId, NodeId>,
    by_thread: FxHashMap<NodeId, Vec<usize>>,
    branches: Vec<NodeId>,
    /// The names of each scope, in the order in which they were first bound.
    names: FxHashMap<NodeId, Vec<SmolStr>>,
    bindings: FxHashMap<(NodeId, SmolStr), Bindings>,
    programs: FxHashMap<u32, ProgramSource>,
    /// Where imported programs come from, by the importing program and the name in it.
    imports: FxHashMap<(u32, SmolStr), String>,
    /// The total usage after each event that has some.
    used: Vec<(usize, Usage)>,
    /// The events with which sessions ended.
    ended: Vec<usize>,
    head: Option<Box<RunHead>>,
}

impl Timeline {
    /// Takes up the next event. What only belongs to an execution is left out, except warnings and questions about permissions.
    pub(crate) fn push(&mut self, event: Event) {
        if let EventKind::RunStarted(head) = &event.kind {
            *self = Self { head: Some(head.clone()), ..Self::default() };
            self.nodes.push(Node {
                kind: NodeKind::Run,
                parent: RUN,
                start: 0,
                end: None,
                thread: RUN,
                scope: RUN,
                frame: 0,
                depth: 0,
                site: None,
                program: 0,
                children: Vec::new(),
                locals: Vec::new(),
                key: None,
                shadowed: None,
            });
            let from = head.from.clone();
            self.programs.insert(0, ProgramSource { name: head.program.clone(), from, text: None });
        }
        if self.nodes.is_empty() || !is_kept(&event.kind) {
            return;
        }
        let index = self.events.len();
        let node = self.take(index, &event);
        if let Some(usage) = event.kind.usage() {
            let before = self.used.last().map(|(_, usage)| *usage);
            self.used.push((index, before.map_or(usage, |before| before.and(usage))));
        }
        let thread = self.nodes[node as usize].thread;
        self.by_thread.entry(thread).or_default().push(index);
        self.node_of.push(node);
        self.events.push(event);
    }

    fn take(&mut self, index: usize, event: &Event) -> NodeId {
        let place = &event.place;
        let inner = |step: std::fmt::Arguments<'_>| place.step(step);
        match &event.kind {
            EventKind::Imported { from, alias, .. } => {
                let program = event.site.map_or(0, |site| site.program);
                self.imports.insert((program, alias.clone()), from.clone());
                self.around(place)
            }
            EventKind::Defined { program, name, .. } => {
                self.programs.entry(*program).or_default().name = name.clone();
                self.around(place)
            }
            // A command comes from outside, wherever the program is.
            EventKind::Commanded { .. } => self.node_of.last().copied().unwrap_or(RUN),
            EventKind::StatementStarted { source, .. } => {
                self.start(index, event, NodeKind::Statement { source: source.clone() }, Some(place.clone()))
            }
            EventKind::StatementEnded { .. } => self.end(index, place).unwrap_or_else(|| self.around(place)),
            EventKind::BranchEnded { .. } => {
                // The statement of a cancelled branch has the same place, and is still open.
                let branch = self.nodes[self.around(place) as usize].thread;
                if branch != RUN {
                    self.close(index, branch);
                }
                branch
            }
            EventKind::IterationStarted { number, max } => {
                let nth = number.saturating_sub(1);
                if nth > 0 {
                    self.end(index, &inner(format_args!("i{}", nth - 1)));
                }
                let kind = NodeKind::Iteration { number: *number, max: *max };
                let node = self.start(index, event, kind, Some(inner(format_args!("i{nth}"))));
                self.name_items(node, nth);
                node
            }
            EventKind::LoopEnded { .. } | EventKind::ParallelEnded { .. } => {
                let node = self.around(place);
                for child in self.nodes[node as usize].children.clone() {
                    let is_part = matches!(
                        self.nodes[child as usize].kind,
                        NodeKind::Iteration { .. } | NodeKind::Branch { .. }
                    );
                    if is_part {
                        self.take_over(index, child);
                        self.close(index, child);
                    }
                }
                node
            }
            EventKind::BranchStarted { index: nth, name } => {
                let node =
                    self.start(index, event, NodeKind::Branch { name: name.clone() }, Some(place.clone()));
                self.branches.push(node);
                self.name_items(node, *nth);
                node
            }
            EventKind::FrameEntered { id, block, arguments, .. } => {
                let key = inner(format_args!("f{id}"));
                let node = self.start(index, event, NodeKind::Call { block: block.clone() }, Some(key));
                self.nodes[node as usize].frame = *id;
                for (name, _, value) in arguments {
                    self.bind(node, name, BindingKind::Const, index, value.clone());
                }
                node
            }
            EventKind::FrameLeft { id, .. } => {
                let ended = self.end(index, &inner(format_args!("f{id}")));
                ended.unwrap_or_else(|| self.around(place))
            }
            EventKind::ImportCalled { program, alias, text, .. } => {
                let caller = event.site.map_or(0, |site| site.program);
                let from = self.imports.get(&(caller, alias.clone())).cloned().unwrap_or_default();
                let text = Some(std::sync::Arc::clone(text));
                self.programs.insert(*program, ProgramSource { name: alias.clone(), from, text });
                let key = inner(format_args!("m{program}"));
                let node = self.start(index, event, NodeKind::Import { alias: alias.clone() }, Some(key));
                self.nodes[node as usize].program = *program;
                node
            }
            EventKind::ImportEnded { program, .. } => {
                let ended = self.end(index, &inner(format_args!("m{program}")));
                ended.unwrap_or_else(|| self.around(place))
            }
            EventKind::SessionStarted { request, .. } => {
                let node = self.start(index, event, NodeKind::Session { request: *request }, None);
                self.sessions.insert(*request, node);
                node
            }
            EventKind::SessionEnded { request, .. } => {
                self.ended.push(index);
                match self.sessions.get(request).copied() {
                    Some(node) => {
                        self.close(index, node);
                        node
                    }
                    None => self.around(place),
                }
            }
            EventKind::Effect { request, .. } => {
                self.sessions.get(request).copied().unwrap_or_else(|| self.around(place))
            }
            EventKind::Caught { name, error } => {
                let key = Some(inner(format_args!("catch")));
                let node = self.start(index, event, NodeKind::Catch, key);
                let local = name.clone().map(|name| (name, Value::Error(std::sync::Arc::clone(error))));
                self.nodes[node as usize].locals.extend(local);
                node
            }
            EventKind::TryEnded { part: TryPart::Catch, .. } => {
                self.end(index, &inner(format_args!("catch"))).unwrap_or_else(|| self.around(place))
            }
            EventKind::Bound { binding, value, was, anonymous, .. } => {
                let node = self.around(place);
                if !anonymous {
                    let scope = self.scope_of(node, binding.frame, was.is_some().then_some(&binding.name));
                    self.bind(scope, &binding.name, binding.kind, index, value.clone());
                }
                node
            }
            EventKind::RunEnded(_) => {
                self.close(index, RUN);
                RUN
            }
            _ => self.around(place),
        }
    }

    /// The innermost open part around a place.
    fn around(&self, place: &Place) -> NodeId {
        let mut place = place.as_str();
        loop {
            if let Some(node) = self.open.get(place) {
                return *node;
            }
            match place.rfind('/') {
                Some(end) => place = &place[..end],
                None => return RUN,
            }
        }
    }

    fn start(&mut self, index: usize, event: &Event, kind: NodeKind, key: Option<Place>) -> NodeId {
        let parent = self.around(&event.place);
        let id = self.nodes.len() as NodeId;
        let Node { thread, scope, frame, depth, program, .. } = self.nodes[parent as usize];
        let is_call = matches!(kind, NodeKind::Call { .. } | NodeKind::Import { .. });
        let is_branch = matches!(kind, NodeKind::Branch { .. });
        let shadowed = key.as_ref().and_then(|key| self.open.insert(key.clone(), id));
        self.nodes.push(Node {
            parent,
            start: index,
            end: None,
            thread: if is_branch { id } else { thread },
            scope: if is_call || is_branch { id } else { scope },
            frame: if matches!(kind, NodeKind::Import { .. }) { 0 } else { frame },
            depth: depth + u32::from(is_call),
            site: event.site,
            program,
            children: Vec::new(),
            locals: Vec::new(),
            key,
            shadowed,
            kind,
        });
        self.nodes[parent as usize].children.push(id);
        id
    }

    /// Ends the part with that key.
    fn end(&mut self, index: usize, key: &Place) -> Option<NodeId> {
        let node = self.open.get(key).copied()?;
        self.close(index, node);
        Some(node)
    }

    /// Ends a part with all that is still open in it.
    fn close(&mut self, index: usize, node: NodeId) {
        let mut open = vec![node];
        while let Some(id) = open.pop() {
            let node = &mut self.nodes[id as usize];
            if node.end.is_some() {
                continue;
            }
            node.end = Some(index);
            let (key, shadowed) = (node.key.take(), node.shadowed);
            open.extend(&node.children);
            let before = shadowed.filter(|before| self.nodes[*before as usize].end.is_none());
            if let Some(key) = key.filter(|key| self.open.get(key) == Some(&id)) {
                match before {
                    Some(before) => self.open.insert(key, before),
                    None => self.open.remove(&key),
                };
            }
        }
    }

    /// The names of a loop in an iteration.
    fn name_items(&mut self, node: NodeId, nth: u32) {
        let statement = self.statement_of(node);
        let NodeKind::Statement { source } = &self.nodes[statement as usize].kind else { return };
        let names = LoopNames::of(source);
        let mut locals = Vec::new();
        if let Some(index) = names.index {
            locals.push((SmolStr::new(index), Value::Number(nth.into())));
        }
        if let (Some(item), Some(collection)) = (names.item, names.collection) {
            let start = self.nodes[statement as usize].start;
            let items = LoopNames::items(collection, |name| self.look_up(statement, start, name));
            if let Some(value) = items.and_then(|items| items.get(nth as usize).cloned()) {
                locals.push((SmolStr::new(item), value));
            }
        }
        self.nodes[node as usize].locals = locals;
    }

    /// The scope in which a name of a frame is bound: the one that has it already, if it gets another value.
    fn scope_of(&self, node: NodeId, frame: u32, known: Option<&SmolStr>) -> NodeId {
        let mut scope = self.nodes[node as usize].scope;
        let mut nearest = None;
        loop {
            let of = &self.nodes[scope as usize];
            if of.frame == frame {
                nearest.get_or_insert(scope);
                if known.is_none_or(|name| self.bindings.contains_key(&(scope, name.clone()))) {
                    return scope;
                }
            }
            if matches!(of.kind, NodeKind::Run | NodeKind::Import { .. }) {
                return nearest.unwrap_or(scope);
            }
            scope = self.nodes[of.parent as usize].scope;
        }
    }

    fn bind(&mut self, scope: NodeId, name: &SmolStr, kind: BindingKind, index: usize, value: Value) {
        let bindings = self.bindings.entry((scope, name.clone())).or_insert_with(|| {
            self.names.entry(scope).or_default().push(name.clone());
            Bindings::default()
        });
        bindings.kind = kind;
        bindings.values.push((index, value));
    }

    /// What a branch has bound is bound in the frame after it (R19).
    fn take_over(&mut self, index: usize, branch: NodeId) {
        if !matches!(self.nodes[branch as usize].kind, NodeKind::Branch { .. }) {
            return;
        }
        let outer = self.nodes[self.nodes[branch as usize].parent as usize].scope;
        for name in self.names.get(&branch).cloned().unwrap_or_default() {
            let Some(bound) = self.bindings.get(&(branch, name.clone())) else { continue };
            let (kind, Some((_, value))) = (bound.kind, bound.values.last().cloned()) else { continue };
            self.bind(outer, &name, kind, index, value);
        }
    }

    /// The events.
    pub(crate) fn events(&self) -> &[Event] {
        &self.events
    }

    /// An event.
    pub(crate) fn event(&self, index: usize) -> Option<&Event> {
        self.events.get(index)
    }

    /// With what the run was started.
    pub(crate) fn head(&self) -> Option<&RunHead> {
        self.head.as_deref()
    }

    /// The part that an event belongs to.
    pub(crate) fn node_at(&self, index: usize) -> NodeId {
        self.node_of.get(index).copied().unwrap_or(RUN)
    }

    pub(crate) fn node(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get(id as usize)
    }

    /// The branch that an event belongs to.
    pub(crate) fn thread_at(&self, index: usize) -> NodeId {
        self.node(self.node_at(index)).map_or(RUN, |node| node.thread)
    }

    /// The number of calls around an event.
    pub(crate) fn depth_at(&self, index: usize) -> u32 {
        self.node(self.node_at(index)).map_or(0, |node| node.depth)
    }

    /// Whether a part is another one or in it.
    pub(crate) fn is_within(&self, mut node: NodeId, outer: NodeId) -> bool {
        loop {
            if node == outer {
                return true;
            }
            if node == RUN {
                return false;
            }
            node = self.nodes[node as usize].parent;
        }
    }

    /// The branch around a branch.
    pub(crate) fn thread_around(&self, thread: NodeId) -> NodeId {
        self.node(thread).and_then(|node| self.node(node.parent)).map_or(RUN, |parent| parent.thread)
    }

    /// The branches at a point of the run, without the main one.
    pub(crate) fn branches_at(&self, index: usize) -> impl Iterator<Item = NodeId> {
        let until = self.branches.partition_point(|id| self.nodes[*id as usize].start <= index);
        self.branches[..until].iter().copied().filter(move |id| self.is_open(*id, index))
    }

    /// Whether a part has not ended at a point of the run.
    pub(crate) fn is_open(&self, node: NodeId, index: usize) -> bool {
        self.node(node).is_some_and(|node| node.end.is_none_or(|end| end > index))
    }

    /// The part that a branch is at.
    pub(crate) fn part_of_thread(&self, thread: NodeId, index: usize) -> NodeId {
        let events = self.by_thread.get(&thread).map(Vec::as_slice).unwrap_or_default();
        let last = events[..events.partition_point(|event| *event <= index)].last();
        let mut node = last.map_or(thread, |last| self.node_at(*last));
        // A part that has ended is left, except the one whose end is the very event.
        while node != thread && !self.is_open(node, index) && last.is_some_and(|last| *last < index) {
            node = self.nodes[node as usize].parent;
        }
        node
    }

    /// The innermost statement that a part is or is in.
    pub(crate) fn statement_of(&self, mut node: NodeId) -> NodeId {
        while node != RUN && !matches!(self.nodes[node as usize].kind, NodeKind::Statement { .. }) {
            node = self.nodes[node as usize].parent;
        }
        node
    }

    /// The value of a name as a part sees it (R16, R18).
    pub(crate) fn look_up(&self, node: NodeId, index: usize, name: &str) -> Option<Value> {
        let mut at = node;
        loop {
            let here = self.node(at)?;
            if let Some((_, value)) = here.locals.iter().find(|(local, _)| local == name) {
                return Some(value.clone());
            }
            if here.scope == at
                && let Some(value) = self.value(at, name, index)
            {
                return Some(value);
            }
            if matches!(here.kind, NodeKind::Run | NodeKind::Import { .. }) {
                return None;
            }
            at = here.parent;
        }
    }

    fn value(&self, scope: NodeId, name: &str, index: usize) -> Option<Value> {
        let bound = self.bindings.get(&(scope, SmolStr::new(name)))?;
        let until = bound.values.partition_point(|(event, _)| *event <= index);
        bound.values[..until].last().map(|(_, value)| value.clone())
    }

    /// The variables of the frame around a part, the innermost first and each name once.
    pub(crate) fn variables(&self, node: NodeId, index: usize) -> Vec<Variable> {
        let mut found: Vec<Variable> = Vec::new();
        let mut at = node;
        while let Some(here) = self.node(at) {
            for (name, value) in &here.locals {
                if found.iter().all(|known| known.name != *name) {
                    let (name, value) = (name.clone(), value.clone());
                    found.push(Variable { name, value, kind: BindingKind::Const });
                }
            }
            if here.scope == at {
                for name in self.names.get(&at).into_iter().flatten() {
                    let kind =
                        self.bindings.get(&(at, name.clone())).map_or(BindingKind::Let, |known| known.kind);
                    if let Some(value) = self.value(at, name, index)
                        && found.iter().all(|known| known.name != *name)
                    {
                        found.push(Variable { name: name.clone(), value, kind });
                    }
                }
            }
            if matches!(here.kind, NodeKind::Run | NodeKind::Import { .. } | NodeKind::Call { .. }) {
                break;
            }
            at = here.parent;
        }
        found
    }

    /// The program or the imported program that a part is in.
    pub(crate) fn root_of(&self, mut node: NodeId) -> NodeId {
        while let Some(here) = self.node(node) {
            if matches!(here.kind, NodeKind::Run | NodeKind::Import { .. }) {
                break;
            }
            node = here.parent;
        }
        node
    }

    /// The session of the statement that a part is in: the one at work, or the next one that is known.
    pub(crate) fn session_at(&self, node: NodeId, index: usize) -> Option<NodeId> {
        let is_session = |id: &NodeId| matches!(self.nodes[*id as usize].kind, NodeKind::Session { .. });
        if is_session(&node) {
            return Some(node);
        }
        let statement = self.node(self.statement_of(node))?;
        let mut sessions = statement.children.iter().copied().filter(is_session);
        let mut last = None;
        sessions
            .find(|id| {
                last = Some(*id);
                self.nodes[*id as usize].start >= index || self.is_open(*id, index)
            })
            .or(last)
    }

    /// The event with the outcome of a request, if it was before a point of the run.
    pub(crate) fn outcome_of(&self, request: RequestId, from: usize, until: usize) -> Option<&Event> {
        let events = self.events.get(from..=until.min(self.events.len().saturating_sub(1)))?;
        events
            .iter()
            .find(|event| matches!(&event.kind, EventKind::Effect { request: of, .. } if *of == request))
    }

    /// The source of a program of the run.
    pub(crate) fn program(&self, number: u32) -> Option<&ProgramSource> {
        self.programs.get(&number)
    }

    /// The sources of all programs of the run, by number.
    pub(crate) fn programs(&self) -> Vec<(u32, &ProgramSource)> {
        let mut programs: Vec<_> = self.programs.iter().map(|(number, source)| (*number, source)).collect();
        programs.sort_by_key(|(number, _)| *number);
        programs
    }

    /// What was used up to a point of the run.
    pub(crate) fn used(&self, index: usize) -> Usage {
        let until = self.used.partition_point(|(event, _)| *event <= index);
        self.used[..until].last().map(|(_, usage)| *usage).unwrap_or_default()
    }

    /// The number of sessions that have ended up to a point of the run.
    pub(crate) fn sessions_ended(&self, index: usize) -> usize {
        self.ended.partition_point(|event| *event <= index)
    }

    /// What a part is called in the stack.
    pub(crate) fn title(&self, node: NodeId) -> SmolStr {
        let Some(node) = self.node(node) else { return SmolStr::default() };
        match &node.kind {
            NodeKind::Run => self.program(0).map(|program| program.name.clone()).unwrap_or_default(),
            NodeKind::Statement { source } => source.clone(),
            NodeKind::Iteration { number, max: Some(max) } => {
                format_smolstr!("iteration {number} of {max}")
            }
            NodeKind::Iteration { number, max: None } => format_smolstr!("iteration {number}"),
            NodeKind::Branch { name } => {
                format_smolstr!("branch {name}").replacen("branch branch", "branch", 1).into()
            }
            NodeKind::Call { block } => format_smolstr!("block {block}"),
            NodeKind::Import { alias } => format_smolstr!("program {alias}"),
            NodeKind::Session { .. } => "session".into(),
            NodeKind::Catch => "catch".into(),
        }
    }
}

/// Whether an event is a part of the timeline.
fn is_kept(kind: &EventKind) -> bool {
    use prose_vm::activity::Activity;
    match kind {
        EventKind::Activity { activity, .. } => {
            matches!(activity, Activity::Asked(_) | Activity::Denied(_))
        }
        EventKind::Warning { .. } => true,
        kind => kind.is_recorded(),
    }
}
