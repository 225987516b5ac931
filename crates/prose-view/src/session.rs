//! What sessions were asked and what came of it, with all texts: what a client shows of one session.

use std::collections::BTreeMap;
use std::sync::Arc;

use prose_vm::activity::{AgentSession, AskedPermission, Denial, Work};
use prose_vm::effect::{
    ContextItem, MemoryPlace, MemoryScope, Outcome, Permission, RequestId, SessionTask, Usage,
};
use prose_vm::event::{Event, EventKind, Status};
use prose_vm::place::{Place, Site};
use rustc_hash::FxHashMap;
use serde::Serialize;
use smol_str::SmolStr;

use crate::node::{Attempt, Node};
use crate::view::View;

/// The attempts of sessions, or one of them: a fold of the events of a run.
#[derive(Debug, Default)]
pub struct SessionRecords {
    /// The only one that is kept.
    only: Option<RequestId>,
    records: BTreeMap<RequestId, SessionRecord>,
    /// The requests at a place, which share the memory that is written there.
    at: FxHashMap<Place, Vec<RequestId>>,
}

/// The record of an attempt.
#[derive(Debug)]
pub struct SessionRecord {
    request: RequestId,
    started: u64,
    site: Option<Site>,
    task: Arc<SessionTask>,
    effect: Option<(Outcome, Option<u64>)>,
    usage: Option<Usage>,
    work: Work,
    memory: Option<Arc<str>>,
    ended: Option<(u64, Status)>,
}

impl SessionRecords {
    /// Keeps only the attempt with this request.
    pub fn of(request: RequestId) -> Self {
        Self { only: Some(request), ..Self::default() }
    }

    /// Adds an event.
    pub fn apply(&mut self, event: &Event) {
        match &event.kind {
            EventKind::SessionStarted { request, task } => {
                if self.only.is_some_and(|only| only != *request) {
                    return;
                }
                self.at.entry(event.place.clone()).or_default().push(*request);
                let record = SessionRecord {
                    request: *request,
                    started: event.at,
                    site: event.site,
                    task: Arc::clone(task),
                    effect: None,
                    usage: None,
                    work: Work::default(),
                    memory: None,
                    ended: None,
                };
                self.records.insert(*request, record);
            }
            EventKind::Effect { request, outcome, began, work, .. } => {
                let Some(record) = self.records.get_mut(request) else { return };
                record.work = Work::clone(work);
                record.effect = Some((outcome.clone(), *began));
                record.usage = Usage::sum([record.usage, event.kind.usage()]);
            }
            EventKind::Expense(expense) => {
                let request = expense.request.as_ref();
                let Some(record) = request.and_then(|request| self.records.get_mut(request)) else { return };
                record.usage = Usage::sum([record.usage, expense.work.usage]);
                if record.effect.is_none() {
                    record.work = expense.work.clone();
                }
            }
            EventKind::MemoryWritten { memory, .. } => {
                for request in self.at.get(&event.place).into_iter().flatten() {
                    if let Some(record) = self.records.get_mut(request) {
                        record.memory = Some(Arc::clone(memory));
                    }
                }
            }
            EventKind::SessionEnded { request, status, .. } => {
                if let Some(record) = self.records.get_mut(request) {
                    record.ended = Some((event.at, *status));
                }
            }
            _ => {}
        }
    }

    /// The attempt with a request.
    pub fn get(&self, request: RequestId) -> Option<&SessionRecord> {
        self.records.get(&request)
    }
}

/// The files of a run, as the details of a session name them. Without them, details have the texts that the run recorded.
pub trait SessionFiles {
    /// The text of a context that was passed by its path, relative to the folder that contains `.prose`.
    fn text(&self, _path: &str) -> Option<String> {
        None
    }

    /// What leads to that file.
    fn context(&self, _path: &str) -> Option<String> {
        None
    }

    /// What leads to the file of a result, whose path is relative to the folder of the run.
    fn result(&self, _path: &str) -> Option<String> {
        None
    }

    /// What leads to the file of a memory.
    fn memory(&self, _place: &MemoryPlace) -> Option<String> {
        None
    }

    /// What leads to the log of the agent.
    fn log(&self, _request: RequestId, _name: &str) -> Option<String> {
        None
    }
}

/// An attempt of a session with all its texts.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionDetails<'a> {
    request: RequestId,
    line: Option<u32>,
    program: Option<SmolStr>,
    agent: Option<&'a SmolStr>,
    model: Option<&'a SmolStr>,
    skills: &'a [SmolStr],
    permissions: &'a [Permission],
    attempt: u32,
    retries: u32,
    task: &'a str,
    prompt: &'a str,
    system: Option<String>,
    context: Vec<ShownContext<'a>>,
    memory: Option<ShownMemory<'a>>,
    name: &'a SmolStr,
    file: Option<String>,
    reply: Option<&'a str>,
    usage: Option<Usage>,
    calls: u32,
    denials: &'a [Denial],
    questions: &'a [AskedPermission],
    agent_session: Option<&'a AgentSession>,
    log: Option<String>,
    warnings: Option<&'a [String]>,
    error: Option<&'a str>,
    status: Option<Status>,
    started: u64,
    began: Option<u64>,
    ended: Option<u64>,
    took: Option<u64>,
    waited: u64,
}

#[derive(Debug, Serialize)]
struct ShownContext<'a> {
    name: &'a SmolStr,
    text: Option<String>,
    file: Option<String>,
}

#[derive(Debug, Serialize)]
struct ShownMemory<'a> {
    scope: MemoryScope,
    resumes: bool,
    before: Option<&'a str>,
    after: Option<&'a str>,
    file: Option<String>,
}

impl SessionRecord {
    /// The details. `attempt` is the attempt in the view with its node, if the view has it.
    pub fn details<'a>(
        &'a self,
        view: &View,
        attempt: Option<(&Node, &Attempt)>,
        files: &dyn SessionFiles,
    ) -> SessionDetails<'a> {
        let task = &*self.task;
        let line = self.site.and_then(|site| view.line(site));
        let outcome = self.effect.as_ref().map(|(outcome, _)| outcome);
        let reply = match outcome {
            Some(Outcome::Reply(reply)) => Some(reply),
            _ => None,
        };
        let error = match outcome {
            Some(Outcome::Failed(failure)) => Some(&*failure.message),
            _ => None,
        };
        SessionDetails {
            request: self.request,
            line: line.as_ref().map(|line| line.line),
            program: line.and_then(|line| line.program),
            agent: task.agent.as_ref(),
            model: task.model.as_ref(),
            skills: &task.skills,
            permissions: &task.permissions,
            attempt: task.attempt,
            retries: task.retries,
            task: &task.task,
            prompt: &task.prompt,
            system: task.system_part().map(|part| part.into_owned()),
            context: task.context.iter().map(|item| shown_context(item, files)).collect(),
            memory: task.memory.as_ref().map(|memory| ShownMemory {
                scope: memory.place.scope,
                resumes: memory.resumes,
                before: memory.text.as_deref(),
                after: self.memory.as_deref(),
                file: files.memory(&memory.place),
            }),
            name: &task.binding.name,
            file: files.result(&task.binding.path),
            reply: reply.map(|reply| &*reply.text),
            usage: self.usage,
            calls: self.work.calls,
            denials: &self.work.denials,
            questions: &self.work.questions,
            agent_session: self.work.agent.as_ref(),
            log: files.log(self.request, &task.binding.name),
            warnings: reply.map(|reply| &*reply.warnings),
            error,
            status: self.ended.map(|(_, status)| status),
            started: self.started,
            began: self.effect.as_ref().and_then(|(_, began)| *began),
            ended: self.ended.map(|(at, _)| at),
            took: attempt.map(|(node, attempt)| view.work_of(node, attempt)),
            waited: attempt.map_or(0, |(node, _)| view.times_of(node).waiting),
        }
    }
}

fn shown_context<'a>(item: &'a ContextItem, files: &dyn SessionFiles) -> ShownContext<'a> {
    let path = item.path.as_deref();
    // An agent that was given a path has read what was there.
    let text = item.text.as_deref().map(str::to_owned).or_else(|| files.text(path?));
    ShownContext { name: &item.name, text, file: path.and_then(|path| files.context(path)) }
}
