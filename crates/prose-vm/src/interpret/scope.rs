//! Frames, variables and where they are looked up (R14 to R21, R80 to R85).

use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;

use crate::effect::{Binding, BindingKind};
use crate::value::Value;

/// How many results a scope remembers as the newest ones: all of most programs, but not all of a loop that continues for long.
pub(crate) const MAX_RECENT: usize = 200;

/// Where variables live: a frame, or the part of one that belongs to a branch or an iteration that runs in parallel with others.
///
/// Branches that run at the same time bind names of their own; after the join they are those of the frame (R19, R57), in the order of the text and
/// not of the clock.
pub(crate) struct Scope {
    pub(crate) frame: Rc<Frame>,
    /// The scope around it: that of the frame for a branch, that of the caller for a frame.
    pub(crate) outer: Option<Rc<Scope>>,
    /// What tells the files of this branch from those of the others: `_2` for the third iteration, `_b1` for the second branch. Empty for frames.
    suffix: SmolStr,
    /// The name that this branch binds for the frame, in the file that the name has there.
    own: Option<SmolStr>,
    /// With the order in which they were first bound.
    variables: RefCell<FxHashMap<SmolStr, (usize, Variable)>>,
    /// What was found out here last: variables, and results that nothing captures. The newest one comes last, and older ones of the same name may be left.
    recent: RefCell<Vec<Variable>>,
    /// The named outputs of a frame, in the order in which they were first given (R86).
    pub(crate) outputs: RefCell<Vec<(SmolStr, Value)>>,
    /// What frames that were called from here have bound and left at their end, with their execution ids: the newest of each name (A9).
    left_over: RefCell<FxHashMap<SmolStr, (u32, Variable)>>,
}

/// A call of a block, or the execution of a program itself.
pub(crate) struct Frame {
    /// The execution id; 0 for the program (R82).
    pub(crate) id: u32,
    /// The block; empty for the program.
    pub(crate) block: SmolStr,
    /// How many calls lie around it and with it (R82).
    pub(crate) depth: u32,
    /// The execution id of the frame that called it.
    pub(crate) parent: Option<u32>,
}

/// A variable.
#[derive(Clone)]
pub(crate) struct Variable {
    pub(crate) name: SmolStr,
    pub(crate) value: Value,
    pub(crate) mutable: bool,
    pub(crate) kind: BindingKind,
    /// Its file; none for arguments and what else has none.
    pub(crate) path: Option<Arc<str>>,
}

impl Variable {
    /// A value that is in no file.
    pub(crate) fn without_file(name: SmolStr, value: Value, kind: BindingKind) -> Self {
        Self { name, value, mutable: kind == BindingKind::Let, kind, path: None }
    }
}

/// A variable that is only there in a body: of a loop, a `catch` or a pipeline (R18).
pub(crate) struct Local {
    pub(crate) name: SmolStr,
    pub(crate) value: Value,
    pub(crate) outer: Option<Rc<Local>>,
}

/// What a look-up found.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) value: Value,
    pub(crate) path: Option<Arc<str>>,
    /// Whether it is an input.
    pub(crate) is_input: bool,
    /// The frame it was found in, if it is not the one that looked.
    pub(crate) elsewhere: Option<u32>,
    /// Whether it was found in a frame that has ended (A9).
    pub(crate) left_over: bool,
}

impl From<Variable> for Found {
    fn from(Variable { value, path, kind, .. }: Variable) -> Self {
        Self { value, path, is_input: kind == BindingKind::Input, ..Self::default() }
    }
}

impl Scope {
    pub(crate) fn root() -> Rc<Self> {
        Self::new(
            Frame { id: 0, block: SmolStr::default(), depth: 0, parent: None }.into(),
            None,
            "".into(),
            None,
        )
    }

    /// The scope of a call.
    pub(crate) fn call(caller: &Rc<Scope>, id: u32, block: SmolStr) -> Rc<Self> {
        let frame = Frame { id, block, depth: caller.frame.depth + 1, parent: Some(caller.frame.id) };
        Self::new(frame.into(), Some(Rc::clone(caller)), "".into(), None)
    }

    /// The scope of a branch or an iteration that runs in parallel with others.
    pub(crate) fn branch(outer: &Rc<Scope>, suffix: SmolStr, own: Option<SmolStr>) -> Rc<Self> {
        Self::new(Rc::clone(&outer.frame), Some(Rc::clone(outer)), suffix, own)
    }

    fn new(frame: Rc<Frame>, outer: Option<Rc<Scope>>, suffix: SmolStr, own: Option<SmolStr>) -> Rc<Self> {
        Rc::new(Self {
            frame,
            outer,
            suffix,
            own,
            variables: RefCell::default(),
            recent: RefCell::default(),
            outputs: RefCell::default(),
            left_over: RefCell::default(),
        })
    }

    /// Whether it is the part of a frame for a branch.
    pub(crate) fn is_branch(&self) -> bool {
        self.outer.as_ref().is_some_and(|outer| Rc::ptr_eq(&outer.frame, &self.frame))
    }

    /// The name that this branch binds for the frame.
    pub(crate) fn own_name(&self) -> Option<&SmolStr> {
        self.own.as_ref()
    }

    /// The scope of the whole frame.
    pub(crate) fn of_frame(self: &Rc<Self>) -> Rc<Self> {
        let mut scope = self;
        while scope.is_branch()
            && let Some(outer) = &scope.outer
        {
            scope = outer;
        }
        Rc::clone(scope)
    }

    /// The scopes from the inside out.
    pub(crate) fn around(self: &Rc<Self>) -> impl Iterator<Item = &Rc<Scope>> {
        std::iter::successors(Some(self), |scope| scope.outer.as_ref())
    }

    /// The variable of that name in this very scope.
    pub(crate) fn get(&self, name: &str) -> Option<Variable> {
        self.variables.borrow().get(name).map(|(_, variable)| variable.clone())
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.variables.borrow().contains_key(name)
    }

    /// Binds a name in this very scope. One that is there gets the new value, and its other properties with it.
    pub(crate) fn set(&self, variable: Variable) {
        let mut variables = self.variables.borrow_mut();
        let next = variables.len();
        let order = variables.get(&variable.name).map_or(next, |(order, _)| *order);
        variables.insert(variable.name.clone(), (order, variable));
    }

    /// Remembers what was found out.
    pub(crate) fn remember(&self, result: Variable) {
        let mut recent = self.recent.borrow_mut();
        recent.push(result);
        // Looking for the name each time would cost more than all else that a session needs here.
        if recent.len() == 2 * MAX_RECENT {
            *recent = newest(&recent);
            recent.reverse();
        }
    }

    /// What was found out here last, the newest first.
    pub(crate) fn recent(&self) -> Vec<Variable> {
        newest(&self.recent.borrow())
    }

    /// The variables of this very scope, in the order in which they were bound.
    pub(crate) fn variables(&self) -> Vec<Variable> {
        let mut variables: Vec<_> = self.variables.borrow().values().cloned().collect();
        variables.sort_by_key(|(order, _)| *order);
        variables.into_iter().map(|(_, variable)| variable).collect()
    }

    /// Looks a name up: here, in the frames that called, up to that of the program (R16); then in frames that were called from here and have
    /// ended, the newest first (A9).
    pub(crate) fn look_up(self: &Rc<Self>, name: &str) -> Option<Found> {
        let visible = self.around().find_map(|scope| {
            let elsewhere = (scope.frame.id != self.frame.id).then_some(scope.frame.id);
            Some(Found { elsewhere, ..scope.get(name)?.into() })
        });
        visible.or_else(|| {
            self.around().find_map(|scope| {
                let (frame, variable) = scope.left_over.borrow().get(name)?.clone();
                Some(Found { elsewhere: Some(frame), left_over: true, ..variable.into() })
            })
        })
    }

    /// The scope that an assignment without `let` writes to: that of the nearest variable of the name, else this one (R17).
    pub(crate) fn to_assign(self: &Rc<Self>, name: &str) -> Rc<Self> {
        self.around().find(|scope| scope.has(name)).map_or_else(|| Rc::clone(self), Rc::clone)
    }

    /// Takes a named output of the frame (R86). The last value of a name counts (R91).
    pub(crate) fn give(&self, name: SmolStr, value: Value) {
        let mut outputs = self.outputs.borrow_mut();
        match outputs.iter_mut().find(|(known, _)| *known == name) {
            Some(output) => output.1 = value,
            None => outputs.push((name, value)),
        }
    }

    /// Keeps what a frame has bound that was called from here and has ended.
    pub(crate) fn keep_ended(&self, scope: &Scope) {
        let mut left_over = self.left_over.borrow_mut();
        left_over.extend(scope.left_over.take());
        let variables = scope.variables.take().into_values();
        left_over.extend(variables.map(|(_, variable)| (variable.name.clone(), (scope.frame.id, variable))));
    }

    /// Takes over what a branch has bound, after the join (R19).
    pub(crate) fn take_over(&self, branch: &Scope) {
        for variable in branch.variables() {
            self.set(variable);
        }
        for result in branch.recent().into_iter().rev() {
            self.remember(result);
        }
        self.left_over.borrow_mut().extend(branch.left_over.take());
    }

    /// The file of a binding in this scope (R21, F22): `name`, `name__43`, `name__43_2` for the third iteration in parallel with others. The base stands for the
    /// name in it.
    pub(crate) fn file_name<'a>(&self, name: &str, base: &'a str) -> Cow<'a, str> {
        let mut suffix = String::new();
        let mut scope = self;
        while let Some(outer) = scope.outer.as_ref().filter(|_| scope.is_branch()) {
            if scope.own.as_ref().is_none_or(|own| own != name) {
                suffix.insert_str(0, &scope.suffix);
            }
            scope = outer;
        }
        match (self.frame.id, suffix.as_str()) {
            (0, "") => base.into(),
            (id, suffix) => format!("{base}__{id}{suffix}").into(),
        }
    }
}

/// The newest results of different names, the newest first.
fn newest(results: &[Variable]) -> Vec<Variable> {
    let mut names = FxHashSet::default();
    results.iter().rev().filter(|result| names.insert(&result.name)).take(MAX_RECENT).cloned().collect()
}

/// Where the value of a session goes.
#[derive(Clone)]
pub(crate) struct Target {
    pub(crate) scope: Rc<Scope>,
    pub(crate) name: SmolStr,
    pub(crate) binding: Binding,
    pub(crate) mutable: bool,
    pub(crate) anonymous: bool,
    /// Whether the name had a value before.
    pub(crate) was: Option<SmolStr>,
}
