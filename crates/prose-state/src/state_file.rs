//! What `state.md` shows of an execution of a program (R99).

use std::collections::BTreeMap;
use std::fmt::{Display, Write};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use prose_view::{Node, NodeId, NodeKind, Status, View};
use prose_vm::effect::{MemoryScope, RequestId};
use prose_vm::event::LoopKind;
use smol_str::SmolStr;

use crate::program::Program;
use crate::trace;

/// The name of the file.
pub(crate) const STATE_FILE: &str = "state.md";

/// How many branches are listed one by one. Of more, only the numbers are shown: ten thousand lines are too many to read.
const MAX_BRANCHES: usize = 100;

/// The file of an execution of a program.
#[derive(Debug)]
pub(crate) struct StateFile {
    text: Program,
    /// What sessions wait for in addition to their agents.
    waiting: BTreeMap<RequestId, String>,
    /// When the run ended.
    ended: Option<u64>,
    /// The revision of the view that was written; none if it is out of date for other reasons.
    written: Option<u64>,
}

impl StateFile {
    pub(crate) fn new(text: &str) -> Self {
        Self { text: Program::new(text), waiting: BTreeMap::new(), ended: None, written: None }
    }

    /// Whether something has changed since the file was written.
    pub(crate) fn is_dirty(&self, program: u32, view: &View) -> bool {
        let changed = view.program(program).map(|program| program.revision);
        changed.is_some_and(|changed| self.written.is_none_or(|written| written < changed))
    }

    /// The file shows the view.
    pub(crate) fn is_written(&mut self, view: &View) {
        self.written = Some(view.revision());
    }

    /// Notes what a session waits for, or that it does not wait any more.
    pub(crate) fn wait_for(&mut self, request: RequestId, awaited: Option<String>) {
        let is_news = match awaited {
            Some(text) => self.waiting.insert(request, text).is_none(),
            None => self.waiting.remove(&request).is_some(),
        };
        if is_news {
            self.written = None;
        }
    }

    /// Notes when the run ended.
    pub(crate) fn end(&mut self, at: u64) {
        (self.ended, self.written) = (Some(at), None);
    }

    /// The path of the file, relative to the folder of the run, and its text.
    pub(crate) fn text(&mut self, number: u32, view: &View) -> Option<(String, String)> {
        let program = view.program(number)?;
        let folder = program.folder.trim_end_matches('/');
        let folder = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        // The path of a file as this execution sees it.
        let own_path = |path: &str| path.strip_prefix(folder.as_str()).unwrap_or(path).to_owned();

        let mut out = String::with_capacity(1024 + self.text.text().len() + 64 * program.names.len());
        let run = view.head().map_or("", |head| head.run.as_str());
        let (started, updated) =
            (timestamp(program.started), timestamp(self.ended.unwrap_or(program.updated)));
        let _ = write!(
            out,
            "# Execution State\n\nrun: {run}\nprogram: {}\nstarted: {started}\nupdated: {updated}\n",
            program.name
        );
        for awaited in self.waiting.values() {
            let _ = writeln!(out, "waiting: {awaited}");
        }
        out.push_str("\n## Execution Trace\n\n");
        let marks = trace::marks(view, number, own_path);
        let shown = trace::write(&mut self.text, &marks, program.position, &mut out);
        out.push_str("\n## Active Constructs\n\n");
        let open = view.open_constructs(number);
        self.write_constructs(view, &open, (program.position, shown), &mut out);
        out.push_str("## Index\n\n### Bindings\n\n");
        table(
            &mut out,
            ["Name", "Kind", "Path", "Execution ID"],
            program.names.iter().map(|bound| {
                let binding = &bound.binding;
                let frame = if binding.frame == 0 { "(root)".to_owned() } else { binding.frame.to_string() };
                [binding.name.to_string(), binding.kind.name().to_owned(), own_path(&binding.path), frame]
            }),
        );
        out.push_str("### Agents\n\n");
        table(
            &mut out,
            ["Name", "Scope", "Path"],
            program.agents.iter().filter_map(|agent| {
                let memory = agent.memory.as_ref()?;
                let folder = match memory.scope {
                    MemoryScope::User => format!("~/{}", memory.folder),
                    _ => own_path(&memory.folder),
                };
                Some([agent.name.to_string(), scope_name(memory.scope).to_owned(), folder])
            }),
        );
        out.push_str("## Call Stack\n\n");
        let mut frames: Vec<_> = open
            .iter()
            .filter_map(|(_, node)| match node.kind {
                NodeKind::Block { id, depth, caller } => Some((depth, id, caller, &node.label)),
                _ => None,
            })
            .collect();
        frames.sort_by_key(|(depth, id, ..)| std::cmp::Reverse((*depth, *id)));
        table(
            &mut out,
            ["execution_id", "block", "depth", "status"],
            frames.iter().map(|(depth, id, _, block)| {
                let waits = frames.iter().any(|(_, _, caller, _)| caller == id);
                let status = if waits { "waiting" } else { "executing" };
                [id.to_string(), block.to_string(), depth.to_string(), status.to_owned()]
            }),
        );
        // One line break ends the file.
        out.truncate(out.trim_end().len());
        out.push('\n');
        Some((format!("{folder}{STATE_FILE}"), out))
    }

    fn write_constructs(
        &self,
        view: &View,
        open: &[(NodeId, &Node)],
        (position, shown): (u32, u32),
        out: &mut String,
    ) {
        let before = out.len();
        for (id, node) in open {
            let NodeKind::Parallel { branches, .. } = &node.kind else { continue };
            let (first, last) = lines(node);
            let _ = writeln!(out, "### Parallel (lines {first}-{last})\n");
            let mut branches: Vec<_> =
                branches.iter().map(|name| (name.clone(), BranchStatus::Pending)).collect();
            for (_, child) in view.children(*id) {
                if let NodeKind::Branch(index) = child.kind
                    && let Some(branch) = branches.get_mut(index as usize)
                {
                    *branch = (child.label.clone(), child.status.into());
                }
            }
            write_branches(&branches, out);
        }
        for (_, node) in open {
            if let NodeKind::Loop { kind, header, max, .. } = &node.kind {
                let condition = matches!(kind, LoopKind::Until | LoopKind::While).then_some(header.as_str());
                write_loop(out, lines(node), "executing", view.iteration(node), *max, condition);
            }
        }
        for statement in self.text.statements_between(position, shown) {
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

fn lines(node: &Node) -> (u32, u32) {
    node.site.map_or((0, 0), |site| (site.line, site.last_line))
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
            BranchStatus::Ended(Status::Complete) => "complete",
            BranchStatus::Ended(Status::Failed) => "failed",
            BranchStatus::Ended(_) => "skipped",
        }
    }
}

impl From<Status> for BranchStatus {
    fn from(status: Status) -> Self {
        if status.is_open() { BranchStatus::Executing } else { BranchStatus::Ended(status) }
    }
}

fn write_branches(branches: &[(SmolStr, BranchStatus)], out: &mut String) {
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
pub(crate) fn scope_name(scope: MemoryScope) -> &'static str {
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

/// A time as files of runs tell it, in milliseconds since 1970.
pub(crate) fn time(text: &str) -> Option<u64> {
    let time = humantime::parse_rfc3339_weak(text).ok()?;
    time.duration_since(UNIX_EPOCH).ok().map(|time| time.as_millis() as u64)
}

/// A time in milliseconds as files tell it.
pub(crate) fn timestamp(at: u64) -> String {
    humantime::format_rfc3339_seconds(system_time(at)).to_string()
}

/// The same with its milliseconds.
pub(crate) fn timestamp_in_milliseconds(at: u64) -> String {
    humantime::format_rfc3339_millis(system_time(at)).to_string()
}

fn system_time(at: u64) -> SystemTime {
    // Later than the year 9999 is a mistake of a clock, and no reason to stop.
    let most = Duration::from_secs(253_402_300_799);
    UNIX_EPOCH + Duration::from_millis(at).min(most)
}
