//! What changed in the view of a run between two events, as clients are sent it.

use std::borrow::Cow;

use prose_vm::place::Site;
use prose_vm::program_names::ImportedProgram;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use smol_str::SmolStr;

use crate::activity::NodeActivity;
use crate::agent::AgentTotal;
use crate::json::optional;
use crate::node::{Counts, Node, NodeId, NodeKind};
use crate::statement::Statement;
use crate::text::shortened;
use crate::view::{Entry, EntryKind, View};

/// What changed in a view since a revision: whole nodes, statements and entries of the log, those that changed and no others.
#[derive(Debug, Clone)]
pub struct Delta<'a> {
    view: Cow<'a, View>,
    since: u64,
    first_line: u32,
}

impl View {
    /// What changed since a revision; everything, if the run was repeated from its start since then.
    pub fn since(&self, revision: u64) -> Delta<'_> {
        Delta::new(Cow::Borrowed(self), revision)
    }
}

impl<'a> Delta<'a> {
    pub(crate) fn new(view: Cow<'a, View>, since: u64) -> Self {
        let since = if since < view.started_at { 0 } else { since };
        Self { view, since, first_line: 0 }
    }

    /// The delta with the lines of the program counted in a document whose line `first_line`, from 0, is the first one of the program.
    pub fn in_document(self, first_line: u32) -> Self {
        Self { first_line, ..self }
    }

    /// The view after the delta.
    pub fn view(&self) -> &View {
        &self.view
    }

    /// Whether it holds everything, rather than what changed since another view.
    pub fn is_whole(&self) -> bool {
        self.since == 0
    }

    /// The nodes that changed.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeId, &Node)> + Clone {
        self.view.nodes.since(self.since).map(|(index, node)| (NodeId(index as u32), node))
    }

    /// The statements that changed, of all programs.
    pub fn statements(&self) -> impl Iterator<Item = &Statement> + Clone {
        self.view.statements.since(self.since).map(|(_, statement)| statement)
    }

    /// The entries of the log that are new.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> + Clone {
        self.view.entries.since(self.since).map(|(_, entry)| entry)
    }

    /// The agents whose usage changed.
    pub fn agents(&self) -> impl Iterator<Item = &AgentTotal> + Clone {
        self.view.agents.since(self.since).map(|(_, agent)| agent)
    }

    /// What the backends of open nodes report, as far as it changed.
    pub fn activities(&self) -> impl Iterator<Item = &NodeActivity> + Clone {
        let changed = self.view.activities.since(self.since);
        // The others are free.
        let used = |(slot, activity): &(usize, &NodeActivity)| {
            self.view.activity_of.get(&activity.node) == Some(slot)
        };
        changed.filter(used).map(|(_, activity)| activity)
    }

    /// The executions of imported programs that started, which sites name by their numbers.
    fn programs(&self) -> impl Iterator<Item = ShownProgram<'_>> + Clone {
        let started = self.view.programs.iter().filter(|(_, program)| program.called_at > self.since);
        started.filter_map(|(number, _)| {
            let ImportedProgram { name, from } = self.view.program_names.imported(*number)?;
            Some(ShownProgram { program: *number, name, from })
        })
    }

    fn site(&self, mut site: Site) -> Site {
        if site.program == 0 {
            site.line += self.first_line;
            site.last_line += self.first_line;
        }
        site
    }
}

impl Serialize for Delta<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let view = &*self.view;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("whole", &self.is_whole())?;
        map.serialize_entry("revision", &view.revision)?;
        map.serialize_entry("seq", &view.seq)?;
        map.serialize_entry("now", &view.now)?;
        map.serialize_entry("paused", &(view.paused + view.waits.attended))?;
        if view.waits.since.is_some() {
            map.serialize_entry("waits", &true)?;
        }
        let times = view.times();
        if times.waiting > 0 || times.stopped > 0 {
            map.serialize_entry("times", &times)?;
        }
        map.serialize_entry("ended", &view.sessions_ended)?;
        map.serialize_entry("harness", &view.harness)?;
        if let Some(pause) = &view.pause {
            map.serialize_entry("pause", pause)?;
        }
        if let Some(head) = view.head.as_ref().filter(|_| self.is_whole()) {
            map.serialize_entry("run", &head.run)?;
            map.serialize_entry("program", &head.program)?;
            map.serialize_entry("from", &head.from)?;
            map.serialize_entry("inputs", &head.inputs)?;
        }
        if self.programs().next().is_some() {
            map.serialize_entry("programs", &Sequence(self.programs()))?;
        }
        if let Some(end) = &view.end {
            map.serialize_entry("end", &**end)?;
            map.serialize_entry("census", &view.census().in_document(self.first_line))?;
        }
        map.serialize_entry("nodes", &Sequence(self.nodes().map(|(id, node)| ShownNode(self, id, node))))?;
        // The texts of imported programs are others.
        let own = self.statements().filter(|statement| statement.site.program == 0);
        map.serialize_entry("statements", &Sequence(own.map(|statement| ShownStatement(self, statement))))?;
        map.serialize_entry("entries", &Sequence(self.entries().map(|entry| ShownEntry(self, entry))))?;
        if self.agents().next().is_some() {
            map.serialize_entry("agents", &Sequence(self.agents()))?;
        }
        if self.activities().next().is_some() {
            map.serialize_entry("activities", &Sequence(self.activities()))?;
        }
        map.end()
    }
}

/// Items that are serialized one by one: those of a long run have room enough once.
struct Sequence<I>(I);

impl<I: Iterator<Item: Serialize> + Clone> Serialize for Sequence<I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.clone())
    }
}

/// An execution of an imported program.
#[derive(Serialize)]
struct ShownProgram<'a> {
    /// Its number, as in sites.
    program: u32,
    /// What messages call it.
    name: &'a SmolStr,
    /// What it was read from: a path, a reference, an address.
    from: &'a str,
}

struct ShownNode<'a>(&'a Delta<'a>, NodeId, &'a Node);

impl Serialize for ShownNode<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(delta, id, node) = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", id)?;
        map.serialize_entry("kind", node.kind.name())?;
        optional(&mut map, "parent", &node.parent)?;
        map.serialize_entry("label", &node.label)?;
        map.serialize_entry("place", &node.place)?;
        map.serialize_entry("status", &node.status)?;
        map.serialize_entry("from", &node.from)?;
        let texts = [("detail", &node.detail), ("note", &node.note)];
        for (key, text) in texts.into_iter().filter(|(_, text)| !text.is_empty()) {
            map.serialize_entry(key, text)?;
        }
        optional(&mut map, "to", &node.to)?;
        optional(&mut map, "site", &node.site.map(|site| delta.site(site)))?;
        optional(&mut map, "waitsFor", &node.waits_for)?;
        let error = node.error.as_ref().map(|error| shortened(&error.message));
        optional(&mut map, "error", &error)?;
        optional(&mut map, "usage", &node.usage)?;
        if node.waiting.is_any() {
            map.serialize_entry("waiting", &node.waiting)?;
        }
        let stopped = delta.view.stopped_within(node);
        if stopped > 0 {
            map.serialize_entry("stopped", &stopped)?;
        }
        if node.sessions != Counts::default() {
            map.serialize_entry("sessions", &node.sessions)?;
        }
        match &node.kind {
            NodeKind::Session(session) => {
                optional(&mut map, "agent", &session.agent)?;
                optional(&mut map, "model", &session.model)?;
                map.serialize_entry("name", &session.name)?;
                map.serialize_entry("file", &session.file)?;
                map.serialize_entry("retries", &session.retries)?;
                map.serialize_entry("attempts", &session.attempts)?;
                if !session.pauses.is_empty() {
                    map.serialize_entry("pauses", &session.pauses)?;
                }
                if !session.waits.is_empty() {
                    map.serialize_entry("waits", &session.waits)?;
                }
            }
            NodeKind::Parallel { strategy, .. } => map.serialize_entry("strategy", strategy)?,
            NodeKind::Choice(label) => map.serialize_entry("chosen", label)?,
            _ => {}
        }
        map.end()
    }
}

struct ShownStatement<'a>(&'a Delta<'a>, &'a Statement);

impl Serialize for ShownStatement<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(delta, statement) = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("site", &delta.site(statement.site))?;
        let counts = [
            ("times", statement.times),
            ("running", statement.running),
            ("complete", statement.complete),
            ("failed", statement.failed),
        ];
        for (key, count) in counts {
            map.serialize_entry(key, &count)?;
        }
        map.serialize_entry("took", &statement.took)?;
        map.serialize_entry("started", &statement.started)?;
        optional(&mut map, "usage", &statement.usage)?;
        map.end()
    }
}

struct ShownEntry<'a>(&'a Delta<'a>, &'a Entry);

impl Serialize for ShownEntry<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(delta, entry) = self;
        let mut map = serializer.serialize_map(None)?;
        let kind = match &entry.kind {
            EntryKind::Started(_) => "started",
            EntryKind::Resumed(_) => "resumed",
            EntryKind::Attempt(..) => "attempt",
            EntryKind::AttemptEnded(..) => "attempt-ended",
            EntryKind::Pause(..) => "pause",
            EntryKind::Node(_) => "node",
            EntryKind::Cancelled(_) => "cancelled",
            EntryKind::MemoryAwaited(_) => "memory",
            EntryKind::Warning(_) => "warning",
            EntryKind::Denied(..) => "denied",
            EntryKind::Asked(..) => "asked",
            EntryKind::ProviderRetry(..) => "provider-retry",
            EntryKind::Stalled(..) => "stalled",
            EntryKind::Ended => "ended",
        };
        map.serialize_entry("kind", kind)?;
        map.serialize_entry("nesting", &entry.nesting)?;
        optional(&mut map, "site", &entry.site.map(|site| delta.site(site)))?;
        match &entry.kind {
            EntryKind::Attempt(node, index) | EntryKind::AttemptEnded(node, index) => {
                map.serialize_entry("node", node)?;
                map.serialize_entry("attempt", index)?;
            }
            EntryKind::Pause(node, delay) => {
                map.serialize_entry("node", node)?;
                map.serialize_entry("delay", delay)?;
            }
            EntryKind::Node(node) | EntryKind::Cancelled(node) => map.serialize_entry("node", node)?,
            EntryKind::Denied(node, denial) => {
                map.serialize_entry("node", node)?;
                map.serialize_entry("title", &shortened(&denial.title))?;
                map.serialize_entry("reason", &shortened(&denial.reason))?;
            }
            EntryKind::Asked(node, question) => {
                map.serialize_entry("node", node)?;
                map.serialize_entry("title", &shortened(&question.title))?;
                map.serialize_entry("rule", &shortened(&question.rule))?;
            }
            EntryKind::ProviderRetry(node, retry) => {
                map.serialize_entry("node", node)?;
                map.serialize_entry("status", &retry.status)?;
                map.serialize_entry("delay", &retry.delay_ms)?;
                map.serialize_entry("message", &shortened(&retry.message))?;
            }
            EntryKind::Stalled(node, silent) => {
                map.serialize_entry("node", node)?;
                map.serialize_entry("silent", silent)?;
            }
            EntryKind::MemoryAwaited(agent) => map.serialize_entry("agent", agent)?,
            EntryKind::Warning(message) => map.serialize_entry("message", &**message)?,
            EntryKind::Started(harness) | EntryKind::Resumed(harness) => {
                map.serialize_entry("harness", harness)?;
            }
            EntryKind::Ended => {}
        }
        map.end()
    }
}
