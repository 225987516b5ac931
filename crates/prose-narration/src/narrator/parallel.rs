//! Branches that run together.
//!
//! A branch that is one session is narrated in lists: its task, its state, its result. Any other branch is narrated at length, and since
//! branches take turns, a line with the name of the branch stands wherever the turn changes.

use std::sync::Arc;

use prose_vm::event::{Event, StatementKind, Status};
use prose_vm::place::Place;
use prose_vm::value::Value;
use smol_str::SmolStr;

use super::{Construct, Narrator, parents};
use crate::markers::Marker;
use crate::text::{self, Length};

/// A `parallel` that runs, or that has been joined and whose statement has not ended.
#[derive(Debug)]
pub(super) struct Parallel {
    indent: usize,
    is_loop: bool,
    /// The branches by index: their names, and how they have ended.
    branches: Vec<(String, Option<Ended>)>,
    /// The names that the join has narrated.
    pub(super) joined: Vec<SmolStr>,
}

/// The end of a branch.
#[derive(Debug)]
enum Ended {
    /// With the reply of a session, where it was one.
    With(Option<Arc<str>>),
    Failed,
    Cancelled,
}

/// A branch that runs.
#[derive(Debug)]
pub(super) struct Branch {
    index: usize,
    name: String,
    is_lone: bool,
    /// Whether it is a body, whose statements are nested once more than a single statement.
    is_body: bool,
    statements: u32,
    sessions: u32,
    reply: Option<Arc<str>>,
}

/// The strategy with what differs from the defaults (R51).
pub(super) fn strategy_words(strategy: &str, policy: &str, count: u32) -> String {
    let mut words = format!("strategy: {strategy}");
    if strategy == "any" && count > 1 {
        words.push_str(&format!(", count: {count}"));
    }
    if policy != "fail-fast" {
        words.push_str(&format!(", on-fail: {policy}"));
    }
    words
}

/// What a branch is called: its name, or its number where it has none.
fn displayed(name: &str, index: usize, is_loop: bool) -> String {
    if text::is_name(name) && !is_loop { name.to_owned() } else { (index + 1).to_string() }
}

impl Branch {
    /// Its name with its number, since a name alone does not tell which branch it is before all are joined.
    fn title(&self) -> String {
        let number = self.index + 1;
        if self.name == number.to_string() { self.name.clone() } else { format!("{} ({number})", self.name) }
    }
}

impl Narrator {
    /// Where a line has said which statement it is, the tasks stand together on one line; otherwise branches are listed.
    pub(super) fn parallel_started(
        &mut self,
        event: &Event,
        names: &[SmolStr],
        strategy: &str,
        is_loop: bool,
    ) {
        let indent = self.indent_of_statement(event);
        let is_said = self.statement(&event.place).is_some_and(|statement| statement.is_said);
        let count = names.len();
        let branches: Vec<(String, Option<Ended>)> =
            names.iter().enumerate().map(|(index, name)| (displayed(name, index, is_loop), None)).collect();
        if is_said {
            self.put(indent, Marker::Parallel, format!("Entering parallel ({count} branches, {strategy})"));
            self.tasks = Some((indent + 1, Vec::new()));
        } else {
            let words = format!("Entering parallel block ({count} branches, {strategy})");
            self.put(indent, Marker::Parallel, words);
            if !is_loop {
                self.details(indent + 1, branches.iter().map(|(name, _)| format!("- {name}: pending")));
                self.detail(indent + 1, "[Multiple Task calls]");
            }
        }
        let parallel = Parallel { indent, is_loop, branches, joined: Vec::new() };
        self.start(&event.place, Construct::Parallel(parallel));
    }

    pub(super) fn branch_started(&mut self, event: &Event, index: u32, name: &str) {
        let index = index as usize;
        let is_loop = self.parallel_around(event.place.as_str()).is_some_and(|parallel| parallel.is_loop);
        let branch = Branch {
            index,
            name: displayed(name, index, is_loop),
            is_lone: !is_loop,
            is_body: is_loop,
            statements: 0,
            sessions: 0,
            reply: None,
        };
        self.start(&event.place, Construct::Branch(branch));
    }

    /// A branch is narrated at length as soon as it turns out to be more than one session.
    pub(super) fn note_in_branch(&mut self, place: &Place, kind: StatementKind, source: &str) {
        if let Some(branch) = self.branch_around(place) {
            branch.statements += 1;
            branch.is_body |= branch.statements == 1 && kind == StatementKind::Do;
            branch.is_lone &= branch.statements == 1
                && !source.contains("->")
                && matches!(kind, StatementKind::Session | StatementKind::Resume | StatementKind::Binding);
        }
    }

    pub(super) fn note_session_in_branch(&mut self, place: &Place) {
        if let Some(branch) = self.branch_around(place) {
            branch.sessions += 1;
            branch.is_lone &= branch.sessions == 1;
        }
    }

    /// Adds the task of a branch that is one session to the line that names the tasks.
    pub(super) fn add_task(&mut self, event: &Event, task: &str) {
        let task = format!("[Task: {}]", text::quoted(task, Length::Shortened));
        let indent = self.indent_of_branch(&event.place);
        if let Some((_, tasks)) = &mut self.tasks {
            tasks.push(task);
        } else if self.parallel_is_said(&event.place) {
            // A list of branches says that tasks are called; where there is none, one that starts late is worth a line.
            self.detail(indent, task);
        }
    }

    pub(super) fn narrate_tasks(&mut self) {
        if let Some((indent, tasks)) = self.tasks.take().filter(|(_, tasks)| !tasks.is_empty()) {
            self.push(indent, &tasks.join(" "));
        }
    }

    pub(super) fn lone_replied(&mut self, event: &Event, name: &str, reply: &Arc<str>) {
        if let Some(branch) = self.branch_around(&event.place) {
            branch.reply = Some(reply.clone());
        }
        // The join states the values, and a view can wait for it; state cannot.
        if self.length == Length::Whole {
            let indent = self.indent_of_branch(&event.place);
            self.detail(indent, format!("- {name}: complete = {}", text::quoted(reply, self.length)));
        }
    }

    pub(super) fn branch_ended(&mut self, event: &Event, status: Status) {
        let ended = match status {
            Status::Skipped => Ended::Cancelled,
            Status::Failed => Ended::Failed,
            Status::Complete | Status::Left => {
                let branch = self.branch_around(&event.place);
                Ended::With(branch.and_then(|branch| branch.reply.clone()))
            }
        };
        let index = self.branch_around(&event.place).map(|branch| branch.index);
        self.forget(&event.place, |construct| matches!(construct, Construct::Branch(_)));
        if let (Some(index), Some(parallel)) = (index, self.parallel_around_mut(&event.place))
            && let Some(entry) = parallel.branches.get_mut(index)
        {
            entry.1 = Some(ended);
        }
    }

    pub(super) fn parallel_ended(&mut self, event: &Event, bound: &[(SmolStr, Value)], status: Status) {
        let Some(parallel) = self.parallel_around_mut(&event.place) else { return };
        parallel.joined = bound.iter().map(|(name, _)| name.clone()).collect();
        let (indent, names) = (parallel.indent, parallel.joined.join(", "));
        let branches = std::mem::take(&mut parallel.branches);
        let mut lines = Vec::new();
        for (name, ended) in &branches {
            let value = bound.iter().find(|(it, _)| it == name).map(|(_, value)| value);
            let line = match (ended, value) {
                (Some(Ended::Cancelled), _) => Some(format!("- {name}: cancelled")),
                (Some(Ended::Failed), _) => Some(format!("- {name}: failed")),
                (Some(Ended::With(_)), Some(value)) => {
                    Some(format!("- {name} = {}", text::value(value, self.length)))
                }
                // A branch without a name is narrated with its result where that is not narrated elsewhere.
                (Some(Ended::With(Some(reply))), None) => {
                    Some(format!("- {name} = {}", text::quoted(reply, self.length)))
                }
                _ => None,
            };
            lines.extend(line);
        }
        let end = if status == Status::Failed { "failed" } else { "complete" };
        let colon = if lines.is_empty() { "" } else { ":" };
        self.put(indent, Marker::Parallel, format!("Parallel {end}{colon}"));
        self.details(indent + 1, lines);
        if !names.is_empty() {
            self.put(indent, Marker::Binding, format!("{names} bound"));
        }
    }

    /// The branches around a place that are narrated at length, from the outermost one.
    pub(super) fn strand(&self, place: &Place) -> Vec<String> {
        let mut titles: Vec<String> = self.long_branches(place.as_str()).map(|(_, title)| title).collect();
        titles.reverse();
        titles
    }

    /// How far the names of branches push what stands below them further in than it is nested.
    pub(super) fn indent_below_names(&self, place: &Place) -> usize {
        let is_body = |around: &&str| {
            self.constructs_at(around).any(|it| matches!(it, Construct::Branch(Branch { is_body: true, .. })))
        };
        self.long_branches(place.as_str()).filter(|(around, _)| !is_body(around)).count()
    }

    /// The places and titles of the branches around a place that are narrated at length, from the innermost one.
    fn long_branches<'a>(&'a self, place: &'a str) -> impl Iterator<Item = (&'a str, String)> {
        parents(place).filter_map(|around| {
            let title = match self.constructs_at(around).find_map(Construct::as_branch) {
                Some(branch) => (!branch.is_lone).then(|| branch.title()),
                None => self.item_of_stage(around),
            };
            Some((around, title?))
        })
    }

    /// The number of the item that a place is of a stage that works on all items at once. No event announces these branches.
    fn item_of_stage(&self, place: &str) -> Option<String> {
        let (stage, step) = place.rsplit_once('/')?;
        let index: usize = step.strip_prefix('i')?.parse().ok()?;
        let is_stage = self.constructs_at(stage).any(|construct| matches!(construct, Construct::Stage));
        is_stage.then(|| (index + 1).to_string())
    }

    /// Says whose turn it is, where that has changed.
    pub(super) fn narrate_branch(&mut self) {
        let strand = self.strand(&self.place);
        if strand == self.speaking {
            return;
        }
        let place = self.place.clone();
        let branch = self.long_branches(place.as_str()).next().map(|(branch, _)| branch);
        if let Some(branch) = branch {
            let indent = match self.item_of_stage(branch) {
                Some(_) => self.statement_around(branch).map_or(1, |statement| statement.indent + 1),
                None => self.parallel_around(branch).map_or(1, |parallel| parallel.indent + 1),
            };
            let marker = self.markers.write(Marker::Parallel);
            self.push(indent, &format!("{marker} Branch {}:", strand.join(" > ")));
        }
        self.speaking = strand;
    }

    /// Whether a place is in a branch that is narrated in lists.
    pub(super) fn is_lone(&self, place: &Place) -> bool {
        self.lone_name(place).is_some()
    }

    pub(super) fn lone_name(&self, place: &Place) -> Option<String> {
        let branch = self.around(place.as_str()).find_map(Construct::as_branch)?;
        branch.is_lone.then(|| branch.name.clone())
    }

    /// Narrates the branch at length that a place is in.
    pub(super) fn narrate_at_length(&mut self, place: &Place) {
        if let Some(branch) = self.branch_around(place) {
            branch.is_lone = false;
        }
    }

    /// How far lines about the branches are indented that a place is in.
    pub(super) fn indent_of_branch(&self, place: &Place) -> usize {
        self.parallel_around(place.as_str()).map_or(1, |parallel| parallel.indent + 1)
    }

    fn parallel_is_said(&self, place: &Place) -> bool {
        parents(place.as_str())
            .find(|around| self.constructs_at(around).any(|it| it.as_parallel().is_some()))
            .and_then(|around| self.started.get(around))
            .is_some_and(|statement| statement.is_said)
    }

    pub(super) fn parallel_around(&self, place: &str) -> Option<&Parallel> {
        self.around(place).find_map(Construct::as_parallel)
    }

    fn parallel_around_mut(&mut self, place: &Place) -> Option<&mut Parallel> {
        self.find_mut(place, |construct| match construct {
            Construct::Parallel(parallel) => Some(parallel),
            _ => None,
        })
    }

    /// The branch that a place is directly in.
    fn branch_around(&mut self, place: &Place) -> Option<&mut Branch> {
        self.find_mut(place, |construct| match construct {
            Construct::Branch(branch) => Some(branch),
            _ => None,
        })
    }
}
