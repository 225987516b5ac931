//! What `state.md` shows of an execution of a program (R99).

use std::collections::BTreeMap;
use std::fmt::{Display, Write};
use std::time::{Duration, UNIX_EPOCH};

use prose_vm::effect::{Binding, MemoryScope, RequestId};
use prose_vm::event::{DefinedAgent, LoopKind, Status};
use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use crate::executions::is_inside;
use crate::trace::Trace;

/// The name of the file.
pub(crate) const STATE_FILE: &str = "state.md";

/// How many branches are listed one by one. Of more, only the numbers are told: nobody reads ten thousand lines.
const MAX_BRANCHES: usize = 100;

/// The state of an execution of a program.
#[derive(Debug)]
pub(crate) struct StateFile {
    /// The folder of the execution, relative to that of the run: empty, or ending with a slash.
    pub(crate) folder: String,
    pub(crate) run: SmolStr,
    pub(crate) name: SmolStr,
    pub(crate) started: u64,
    pub(crate) updated: u64,
    pub(crate) trace: Trace,
    /// What sessions wait for besides their agents.
    pub(crate) waiting: BTreeMap<RequestId, String>,
    /// Whether something has changed since the file was written.
    pub(crate) is_dirty: bool,
    parallels: BTreeMap<Box<str>, Parallel>,
    loops: BTreeMap<Box<str>, Loop>,
    bindings: Vec<Row>,
    row_of: FxHashMap<(SmolStr, u32), usize>,
    agents: Vec<DefinedAgent>,
    frames: BTreeMap<u32, Frame>,
}

#[derive(Debug)]
struct Parallel {
    lines: (u32, u32),
    branches: Vec<(SmolStr, BranchStatus)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BranchStatus {
    Pending,
    Executing,
    Ended(Status),
}

impl BranchStatus {
    const ALL: [BranchStatus; 5] = [
        BranchStatus::Pending,
        BranchStatus::Executing,
        BranchStatus::Ended(Status::Complete),
        BranchStatus::Ended(Status::Failed),
        BranchStatus::Ended(Status::Skipped),
    ];

    fn name(self) -> &'static str {
        match self {
            BranchStatus::Pending => "pending",
            BranchStatus::Executing => "executing",
            BranchStatus::Ended(Status::Complete | Status::Left) => "complete",
            BranchStatus::Ended(Status::Failed) => "failed",
            BranchStatus::Ended(Status::Skipped) => "skipped",
        }
    }
}

#[derive(Debug)]
struct Loop {
    lines: (u32, u32),
    kind: LoopKind,
    header: SmolStr,
    max: Option<u32>,
    iteration: u32,
}

#[derive(Debug)]
struct Row {
    name: SmolStr,
    kind: &'static str,
    path: String,
    frame: u32,
}

#[derive(Debug)]
struct Frame {
    place: Box<str>,
    block: SmolStr,
    depth: u32,
    parent: u32,
    /// How many frames it waits for.
    calls: u32,
}

impl StateFile {
    pub(crate) fn new(run: SmolStr, name: SmolStr, folder: &str, at: u64, text: &str) -> Self {
        let folder = folder.trim_end_matches('/');
        Self {
            folder: if folder.is_empty() { String::new() } else { format!("{folder}/") },
            run,
            name,
            started: at,
            updated: at,
            trace: Trace::new(text),
            waiting: BTreeMap::new(),
            is_dirty: true,
            parallels: BTreeMap::new(),
            loops: BTreeMap::new(),
            bindings: Vec::new(),
            row_of: FxHashMap::default(),
            agents: Vec::new(),
            frames: BTreeMap::new(),
        }
    }

    /// The path of its file, relative to the folder of the run.
    pub(crate) fn path(&self) -> String {
        format!("{}{STATE_FILE}", self.folder)
    }

    pub(crate) fn define(&mut self, agents: &[DefinedAgent]) {
        self.agents = agents.iter().filter(|agent| agent.memory.is_some()).cloned().collect();
    }

    /// The path of a file as this execution sees it.
    fn own_path<'a>(&self, path: &'a str) -> &'a str {
        path.strip_prefix(self.folder.as_str()).unwrap_or(path)
    }

    pub(crate) fn bind(&mut self, binding: &Binding, line: Option<u32>) {
        let path = self.own_path(&binding.path).to_owned();
        if let Some(line) = line {
            self.trace.bind(line, &path);
        }
        let row = Row { name: binding.name.clone(), kind: binding.kind.name(), path, frame: binding.frame };
        // What a branch has bound belongs to the frame after the join (F22), in a file of that frame.
        match self.row_of.get(&(row.name.clone(), row.frame)) {
            Some(&index) => self.bindings[index] = row,
            None => {
                self.row_of.insert((row.name.clone(), row.frame), self.bindings.len());
                self.bindings.push(row);
            }
        }
    }

    pub(crate) fn start_parallel(&mut self, place: &str, lines: (u32, u32), branches: &[SmolStr]) {
        let branches = branches.iter().map(|name| (name.clone(), BranchStatus::Pending)).collect();
        self.parallels.insert(place.into(), Parallel { lines, branches });
    }

    pub(crate) fn start_branch(&mut self, parallel: &str, index: u32, name: &SmolStr) {
        self.set_branch(parallel, index, name, BranchStatus::Executing);
    }

    pub(crate) fn end_branch(&mut self, parallel: &str, index: u32, name: &SmolStr, status: Status) {
        self.set_branch(parallel, index, name, BranchStatus::Ended(status));
    }

    fn set_branch(&mut self, parallel: &str, index: u32, name: &SmolStr, status: BranchStatus) {
        let Some(parallel) = self.parallels.get_mut(parallel) else { return };
        if let Some(branch) = parallel.branches.get_mut(index as usize) {
            *branch = (name.clone(), status);
        }
    }

    pub(crate) fn is_parallel(&self, place: &str) -> bool {
        self.parallels.contains_key(place)
    }

    pub(crate) fn end_parallel(&mut self, place: &str) {
        self.parallels.remove(place);
    }

    pub(crate) fn start_loop(
        &mut self,
        place: &str,
        lines: (u32, u32),
        kind: LoopKind,
        header: &SmolStr,
        max: Option<u32>,
    ) {
        let found = Loop { lines, kind, header: header.clone(), max, iteration: 0 };
        self.loops.insert(place.into(), found);
    }

    pub(crate) fn is_loop(&self, place: &str) -> bool {
        self.loops.contains_key(place)
    }

    pub(crate) fn start_iteration(&mut self, place: &str, number: u32) {
        let Some(found) = self.loops.get_mut(place) else { return };
        found.iteration = number;
        let (first, last) = found.lines;
        self.trace.forget(first + 1, last);
    }

    pub(crate) fn end_loop(&mut self, place: &str) {
        self.loops.remove(place);
    }

    pub(crate) fn enter_frame(&mut self, id: u32, place: &str, block: &SmolStr, depth: u32, parent: u32) {
        if let Some(parent) = self.frames.get_mut(&parent) {
            parent.calls += 1;
        }
        self.frames.insert(id, Frame { place: place.into(), block: block.clone(), depth, parent, calls: 0 });
    }

    pub(crate) fn leave_frame(&mut self, id: u32) {
        if let Some(frame) = self.frames.remove(&id)
            && let Some(parent) = self.frames.get_mut(&frame.parent)
        {
            parent.calls = parent.calls.saturating_sub(1);
        }
    }

    /// Takes away what has not ended inside a branch that was cancelled (R52).
    pub(crate) fn drop_inside(&mut self, branch: &str) {
        self.parallels.retain(|place, _| !is_inside(place, branch));
        self.loops.retain(|place, _| !is_inside(place, branch));
        let cancelled = self.frames.iter().filter(|(_, frame)| is_inside(&frame.place, branch));
        for id in cancelled.map(|(id, _)| *id).collect::<Vec<_>>() {
            self.leave_frame(id);
        }
    }

    /// Writes the text of the file.
    pub(crate) fn write(&mut self) -> String {
        let mut out =
            String::with_capacity(1024 + self.trace.program().text().len() + 64 * self.bindings.len());
        let (started, updated) = (timestamp(self.started), timestamp(self.updated));
        let _ = write!(
            out,
            "# Execution State\n\nrun: {}\nprogram: {}\nstarted: {started}\nupdated: {updated}\n",
            self.run, self.name
        );
        for awaited in self.waiting.values() {
            let _ = writeln!(out, "waiting: {awaited}");
        }
        out.push_str("\n## Execution Trace\n\n");
        let shown = self.trace.write(&mut out);
        out.push_str("\n## Active Constructs\n\n");
        self.write_constructs(&mut out, shown);
        out.push_str("## Index\n\n### Bindings\n\n");
        table(
            &mut out,
            ["Name", "Kind", "Path", "Execution ID"],
            self.bindings.iter().map(|row| {
                let frame = if row.frame == 0 { "(root)".to_owned() } else { row.frame.to_string() };
                [row.name.to_string(), row.kind.to_owned(), row.path.clone(), frame]
            }),
        );
        out.push_str("### Agents\n\n");
        table(
            &mut out,
            ["Name", "Scope", "Path"],
            self.agents.iter().filter_map(|agent| {
                let memory = agent.memory.as_ref()?;
                let folder = match memory.scope {
                    MemoryScope::User => format!("~/{}", memory.folder),
                    _ => self.own_path(&memory.folder).to_owned(),
                };
                Some([agent.name.to_string(), scope_name(memory.scope).to_owned(), folder])
            }),
        );
        out.push_str("## Call Stack\n\n");
        let mut frames: Vec<_> = self.frames.iter().collect();
        frames.sort_by_key(|(id, frame)| std::cmp::Reverse((frame.depth, **id)));
        table(
            &mut out,
            ["execution_id", "block", "depth", "status"],
            frames.into_iter().map(|(id, frame)| {
                let status = if frame.calls == 0 { "executing" } else { "waiting" };
                [id.to_string(), frame.block.to_string(), frame.depth.to_string(), status.to_owned()]
            }),
        );
        // One line break ends the file.
        out.truncate(out.trim_end().len());
        out.push('\n');
        out
    }

    fn write_constructs(&self, out: &mut String, shown: u32) {
        let before = out.len();
        for Parallel { lines, branches } in self.parallels.values() {
            let _ = writeln!(out, "### Parallel (lines {}-{})\n", lines.0, lines.1);
            if branches.len() <= MAX_BRANCHES {
                for (name, status) in branches {
                    let _ = writeln!(out, "- {name}: {}", status.name());
                }
            } else {
                for status in BranchStatus::ALL {
                    let count = branches.iter().filter(|(_, found)| found.name() == status.name()).count();
                    if count > 0 {
                        let _ = writeln!(out, "- {count} of {}: {}", branches.len(), status.name());
                    }
                }
            }
            out.push('\n');
        }
        for Loop { lines, kind, header, max, iteration } in self.loops.values() {
            let condition = matches!(kind, LoopKind::Until | LoopKind::While).then_some(header.as_str());
            write_loop(out, *lines, "executing", *iteration, *max, condition);
        }
        for statement in self.trace.program().statements_between(self.trace.position(), shown) {
            if let Some(repeats) = &statement.repeats {
                let lines = (statement.line, statement.last_line);
                let condition = repeats.condition.as_deref();
                write_loop(out, lines, "not yet entered", 0, repeats.max, condition);
            }
        }
        if out.len() == before {
            out.push_str("(none)\n\n");
        }
    }
}

fn write_loop(
    out: &mut String,
    (first, last): (u32, u32),
    status: &str,
    iteration: u32,
    max: Option<u32>,
    condition: Option<&str>,
) {
    let _ = write!(out, "### Loop (lines {first}-{last})\n\n- status: {status}\n- iteration: {iteration}");
    if let Some(max) = max {
        let _ = write!(out, "/{max}");
    }
    out.push('\n');
    if let Some(condition) = condition {
        let _ = writeln!(out, "- condition: {condition}");
    }
    out.push('\n');
}

/// As tables name a scope.
fn scope_name(scope: MemoryScope) -> &'static str {
    match scope {
        MemoryScope::Execution => "execution",
        MemoryScope::Project => "project",
        MemoryScope::User => "user",
        MemoryScope::Custom => "custom",
    }
}

/// Writes a table whose columns are as wide as their widest cell.
fn table<const N: usize>(out: &mut String, head: [&str; N], rows: impl Iterator<Item = [String; N]>) {
    let rows: Vec<_> = rows.collect();
    if rows.is_empty() {
        out.push_str("(none)\n\n");
        return;
    }
    let mut widths = head.map(|cell| cell.chars().count());
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    fn line<const N: usize>(out: &mut String, cells: [impl Display; N], widths: [usize; N]) {
        for (cell, width) in cells.into_iter().zip(widths) {
            let _ = write!(out, "| {cell:width$} ");
        }
        out.push_str("|\n");
    }
    line(out, head, widths);
    line(out, widths.map(|width| "-".repeat(width)), widths);
    for row in rows {
        // A bar in a cell would end it.
        line(out, row.map(|cell| cell.replace('|', "\\|")), widths);
    }
    out.push('\n');
}

/// A time in milliseconds as files tell it.
pub(crate) fn timestamp(at: u64) -> String {
    // Later than the year 9999 is a mistake of a clock, and no reason to stop.
    let most = Duration::from_secs(253_402_300_799);
    let time = UNIX_EPOCH + Duration::from_millis(at).min(most);
    humantime::format_rfc3339_seconds(time).to_string()
}
