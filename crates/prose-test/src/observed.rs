//! What a run did, as far as expectations are about it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use prose_view::View;
use prose_vm::activity::{Activity, ToolKind, ToolStatus};
use prose_vm::effect::SessionTask;
use prose_vm::error::RuntimeError;
use prose_vm::event::{Event, EventKind};
use prose_vm::place::{NamedLine, Place};
use prose_vm::program::{Coverable, Program};
use smol_str::SmolStr;

/// What a run did.
#[derive(Debug, Default)]
pub struct Observed {
    /// The view of the run.
    pub view: View,
    /// The sessions that were asked, in order; without repeated attempts.
    pub sessions: Vec<ObservedSession>,
    /// The branches that were taken.
    pub branches: Vec<ObservedBranch>,
    /// The loops that ended.
    pub loops: Vec<ObservedLoop>,
    /// The warnings.
    pub warnings: Vec<String>,
    /// The files that were written: those that agents reported, and those that have changed in the folder of the run.
    pub files: BTreeSet<String>,
    /// The open loops.
    open: BTreeMap<Place, (SmolStr, NamedLine)>,
    /// The calls of imported programs by their numbers: the number of the program that calls, and the name that it calls.
    calls: BTreeMap<u32, (u32, SmolStr)>,
}

/// How often the statements of a program were executed, by their ranges.
pub type Executed = BTreeMap<(u32, u32), u32>;

/// A session that was asked.
#[derive(Debug, Clone)]
pub struct ObservedSession {
    /// What it was asked.
    pub task: Arc<SessionTask>,
    /// The line of its statement.
    pub line: NamedLine,
}

/// A branch that was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObservedBranch {
    /// The label of an option, a condition as it is written, the name of a branch of a `parallel`, `else` or `catch`.
    pub name: SmolStr,
    /// The line of the statement that it belongs to.
    pub line: NamedLine,
}

/// A loop that ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObservedLoop {
    /// Its condition or its collection, as written.
    pub header: SmolStr,
    /// Its line.
    pub line: NamedLine,
    /// The number of its iterations.
    pub iterations: u32,
}

impl Observed {
    /// Takes the next event of the run.
    pub fn observe(&mut self, event: &Event) {
        self.view.apply(event);
        let line = event.site.and_then(|site| self.view.line(site));
        let line = line.unwrap_or(NamedLine { program: None, line: 0 });
        match &event.kind {
            EventKind::SessionStarted { task, .. } if task.attempt == 0 => {
                self.sessions.push(ObservedSession { task: Arc::clone(task), line });
            }
            EventKind::Chosen { label, .. } => self.take_branch(label.clone(), line),
            EventKind::BranchStarted { name, .. } => self.take_branch(name.clone(), line),
            EventKind::LoopStarted { header, .. } => {
                self.open.insert(event.place.clone(), (header.clone(), line));
            }
            EventKind::LoopEnded { iterations, .. } => {
                if let Some((header, line)) = self.open.remove(&event.place) {
                    self.loops.push(ObservedLoop { header, line, iterations: *iterations });
                }
            }
            EventKind::Warning { message } => self.warnings.push(message.clone()),
            EventKind::ImportCalled { program, alias, .. } => {
                let caller = event.program();
                self.calls.insert(*program, (caller, alias.clone()));
            }
            EventKind::Activity { activity: Activity::Tool(tool), .. }
                if tool.status == ToolStatus::Completed
                    && matches!(tool.kind, ToolKind::Edit | ToolKind::Delete | ToolKind::Move) =>
            {
                self.files.extend(tool.paths.iter().map(|path| path.trim_start_matches("./").to_owned()));
            }
            _ => {}
        }
    }

    /// Adds the branches whose first statement was executed.
    pub(crate) fn add_branches(&mut self, coverable: &Coverable) {
        for decision in &coverable.decisions {
            for branch in &decision.branches {
                let is_taken = self.view.statements(0).any(|it| it.site == branch.first && it.times > 0);
                if is_taken && branch.name != "body" {
                    let line = NamedLine { program: None, line: decision.site.line };
                    self.take_branch(branch.name.clone(), line);
                }
            }
        }
    }

    fn take_branch(&mut self, name: SmolStr, line: NamedLine) {
        let branch = ObservedBranch { name, line };
        if !self.branches.contains(&branch) {
            self.branches.push(branch);
        }
    }

    /// How often the statements of the program and of those that it imports were executed, by where each program was read from. Fetched programs are left out.
    pub(crate) fn executed(&self, program: &Arc<Program>) -> BTreeMap<String, Executed> {
        let mut programs = BTreeMap::from([(0, Arc::clone(program))]);
        // A program is called after the one that calls it, and so has a higher number.
        for (number, (caller, alias)) in &self.calls {
            let import =
                programs.get(caller).and_then(|it| it.imports.iter().find(|import| import.alias == *alias));
            if let Some(called) = import.and_then(|import| import.program.clone()) {
                programs.insert(*number, called);
            }
        }
        let mut executed: BTreeMap<String, Executed> = BTreeMap::new();
        for (number, program) in programs.into_iter().filter(|(_, program)| program.fetched.is_none()) {
            let of_program = executed.entry(program.from.clone()).or_default();
            for it in self.view.statements(number) {
                *of_program.entry((it.site.start, it.site.end)).or_default() += it.times;
            }
        }
        executed
    }

    /// The errors of the run: those that its program handled, and the one that ended it.
    pub fn errors(&self) -> Vec<Arc<RuntimeError>> {
        let census = self.view.census();
        let last = self.view.end().and_then(|end| end.error.clone());
        census.failures.into_iter().map(|failure| failure.error).chain(last).collect()
    }
}

impl ObservedSession {
    /// The first line of its task.
    pub fn label(&self) -> &str {
        self.task.task.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default()
    }

    /// The name of its result, if the program gives it one.
    pub fn name(&self) -> Option<&str> {
        Some(self.task.binding.name.as_str()).filter(|name| !name.starts_with("anon_") && !name.is_empty())
    }

    /// Whether it is called so: by the name of its result, its agent or its label.
    pub fn is_called(&self, name: &str) -> bool {
        self.name() == Some(name) || self.task.agent.as_deref() == Some(name) || self.label() == name.trim()
    }

    /// What messages call it.
    pub fn shown(&self) -> &str {
        self.name().or(self.task.agent.as_deref()).unwrap_or_else(|| self.label())
    }
}

impl ObservedBranch {
    /// Whether it is called so. Asterisks around a condition do not count.
    pub fn is_called(&self, name: &str) -> bool {
        let plain = |text: &str| text.trim().trim_matches('*').trim().to_owned();
        plain(&self.name) == plain(name)
    }
}

impl ObservedLoop {
    /// Whether it is called so: by its header as it is written, without its keyword, or by its line: `line 3`, `lib.prose:3`.
    pub fn is_called(&self, name: &str) -> bool {
        let plain = |text: &str| text.replace("**", "").split_whitespace().collect::<Vec<_>>().join(" ");
        let (wanted, header) = (plain(name), plain(&self.header));
        let words = ["loop until", "loop while", "until", "while", "loop", "repeat", "for", "parallel for"];
        let without = |text: &str| {
            let rest = words.iter().find_map(|word| text.strip_prefix(*word)?.strip_prefix(' '));
            rest.unwrap_or(text).to_owned()
        };
        plain(name) == self.line.to_string() || wanted == header || without(&wanted) == without(&header)
    }
}
