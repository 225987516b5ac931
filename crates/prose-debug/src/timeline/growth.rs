//! Takes up the events of a run: which part of the run each starts, ends or belongs to.

use std::sync::Arc;

use prose_vm::effect::BindingKind;
use prose_vm::event::{Event, EventKind, TryPart};
use prose_vm::place::Place;
use prose_vm::value::Value;

use super::{Node, NodeId, NodeKind, ProgramSource, RUN, Timeline};

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
                let program = event.program();
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
                let caller = event.program();
                let from = self.imports.get(&(caller, alias.clone())).cloned().unwrap_or_default();
                let text = Some(Arc::clone(text));
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
                let local = name.clone().map(|name| (name, Value::Error(Arc::clone(error))));
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
