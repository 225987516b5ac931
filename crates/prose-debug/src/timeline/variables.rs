//! What names are bound to, and which of them a part of the run sees.

use prose_vm::effect::BindingKind;
use prose_vm::value::Value;
use smol_str::SmolStr;

use super::{NodeId, NodeKind, Timeline};
use crate::headers::LoopNames;

/// A name in a scope.
#[derive(Debug, Default)]
pub(super) struct Bindings {
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

/// Where a name is bound that a part of the run sees.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Seen {
    /// In this part only, such as the item of an iteration.
    Local(NodeId, Value),
    /// In a call, a program or a branch.
    Scope(NodeId, Value),
}

impl Timeline {
    /// The names of a loop in an iteration.
    pub(super) fn name_items(&mut self, node: NodeId, nth: u32) {
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
    pub(super) fn scope_of(&self, node: NodeId, frame: u32, known: Option<&SmolStr>) -> NodeId {
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

    pub(super) fn bind(
        &mut self,
        scope: NodeId,
        name: &SmolStr,
        kind: BindingKind,
        index: usize,
        value: Value,
    ) {
        let bindings = self.bindings.entry((scope, name.clone())).or_insert_with(|| {
            self.names.entry(scope).or_default().push(name.clone());
            Bindings::default()
        });
        bindings.kind = kind;
        bindings.values.push((index, value));
    }

    /// What a branch has bound is bound in the frame after it (R19).
    pub(super) fn take_over(&mut self, index: usize, branch: NodeId) {
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

    /// The value of a name as a part sees it (R16, R18).
    pub(crate) fn look_up(&self, node: NodeId, index: usize, name: &str) -> Option<Value> {
        match self.find(node, index, name)? {
            Seen::Local(_, value) | Seen::Scope(_, value) => Some(value),
        }
    }

    /// Where a name is bound that a part sees, with its value.
    pub(crate) fn find(&self, node: NodeId, index: usize, name: &str) -> Option<Seen> {
        let mut at = node;
        loop {
            let here = self.node(at)?;
            if let Some((_, value)) = here.locals.iter().find(|(local, _)| local == name) {
                return Some(Seen::Local(at, value.clone()));
            }
            if here.scope == at
                && let Some(value) = self.value(at, name, index)
            {
                return Some(Seen::Scope(at, value));
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
}
