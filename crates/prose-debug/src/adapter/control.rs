//! Requests that move the debugger.

use std::io::Write;

use dapts::{IRequest, request};
use prose_vm::event::EventKind;
use serde_json::{Value as Json, json};

use super::{Adapter, Session, body, thread_of};
use crate::debuggee::{Reason, Step};
use crate::timeline::{NodeId, RUN};

/// The number of the target "next session" of stepping in.
const NEXT_SESSION: u64 = 1;

/// The most executions of a line that are offered to go to.
const MAX_TARGETS: usize = 50;

impl<W: Write> Adapter<W> {
    /// The branch of a request.
    fn thread(&self, arguments: &Json) -> Result<NodeId, String> {
        let id = arguments["threadId"].as_u64().unwrap_or(1);
        let thread = thread_of(id);
        let is_branch =
            thread == RUN || self.debuggee().timeline.node(thread).is_some_and(|node| node.thread == thread);
        if is_branch { Ok(thread) } else { Err(format!("the run has no branch {id}")) }
    }

    /// Whether the debugger stands still, so that it can move.
    fn check_stopped(&self) -> Result<(), String> {
        if !self.is_configured {
            return Err("the run has not started: `configurationDone` is missing".to_owned());
        }
        match self.debuggee().is_running() {
            true => Err("the run is executed; pause it first".to_owned()),
            false => Ok(()),
        }
    }

    pub(super) fn move_on(&mut self, step: Step, thread: NodeId) {
        self.handles.clear();
        let is_at_end = self.stop.as_ref().is_some_and(|stop| stop.reason == Reason::End);
        let (stop, is_over) = {
            let mut debuggee = self.shared.lock();
            let is_last = debuggee.cursor() + 1 >= debuggee.timeline.events().len();
            (debuggee.step(step, thread), is_last && debuggee.is_over())
        };
        self.shared.open();
        // What is recorded already does not need the process.
        if stop.is_none()
            && let Session::Attached(attached) = &mut self.session
        {
            attached.unpause();
        }
        // The end was shown already.
        if is_over && (is_at_end || !matches!(self.session, Session::Recorded)) {
            self.ends = true;
            return;
        }
        if stop.as_ref().is_some_and(|stop| stop.reason == Reason::End)
            && !matches!(self.session, Session::Recorded)
        {
            self.ends = true;
        }
        self.pending = stop;
    }

    pub(super) fn resume(&mut self, arguments: dapts::ContinueArguments) -> Result<Json, String> {
        let thread = self.thread(&json!({ "threadId": arguments.thread_id }))?;
        let is_single = arguments.single_thread == Some(true);
        let is_held = self.debuggee().holds(thread);
        if is_held {
            // A branch that was paused alone continues alone.
            self.debuggee().release(Some(thread));
            self.shared.open();
            if self.debuggee().is_running() {
                return body(dapts::ContinueResponse { all_threads_continued: Some(false) });
            }
        }
        self.check_stopped()?;
        {
            let mut debuggee = self.shared.lock();
            match is_single {
                true => debuggee.hold_others(thread),
                false => debuggee.release(None),
            }
        }
        self.move_on(Step::Continue, thread);
        body(dapts::ContinueResponse { all_threads_continued: Some(!is_single) })
    }

    pub(super) fn control(&mut self, command: &str, arguments: &Json) -> Result<Json, String> {
        let thread = self.thread(arguments)?;
        if command == request::Pause::COMMAND {
            return self.pause(thread);
        }
        self.check_stopped()?;
        match command {
            request::Next::COMMAND => self.move_on(Step::Over, thread),
            request::StepIn::COMMAND if arguments["targetId"] == json!(NEXT_SESSION) => {
                self.move_on(Step::Session, thread);
            }
            request::StepIn::COMMAND => self.move_on(Step::In, thread),
            request::StepOut::COMMAND => self.move_on(Step::Out, thread),
            request::StepBack::COMMAND => {
                let stop = self.debuggee().step_back(thread);
                self.pending = Some(stop);
            }
            _ => {
                let stop = self.debuggee().reverse();
                self.pending = Some(stop);
            }
        }
        Ok(Json::Null)
    }

    /// Pauses the run, or one branch while the others continue.
    fn pause(&mut self, thread: NodeId) -> Result<Json, String> {
        if !self.debuggee().is_running() {
            return Err("the run stands still already".to_owned());
        }
        if let Session::Attached(attached) = &mut self.session {
            attached.pause()?;
        }
        let is_branch = thread != RUN && matches!(self.session, Session::Live(_));
        let mut debuggee = self.shared.lock();
        self.pending = Some(match is_branch {
            true => {
                debuggee.hold(thread);
                crate::debuggee::Stop { reason: Reason::Pause, thread }
            }
            false => debuggee.pause(),
        });
        Ok(Json::Null)
    }

    pub(super) fn step_in_targets(&self) -> Result<Json, String> {
        body(dapts::StepInTargetsResponse {
            targets: vec![dapts::StepInTarget {
                id: NEXT_SESSION,
                label: "next session".to_owned(),
                line: None,
                column: None,
                end_line: None,
                end_column: None,
            }],
        })
    }

    /// The executions of a line: going to one of them shows the run as it was there.
    pub(super) fn goto_targets(&self, arguments: dapts::GotoTargetsArguments) -> Result<Json, String> {
        let line = arguments.line + 1 - self.lines_start;
        let path = arguments.source.path.as_deref().unwrap_or_default();
        let reference = arguments.source.source_reference.filter(|reference| *reference > 0);
        let sources = match reference {
            Some(reference) => self.sources.get(reference as usize).into_iter().collect(),
            None => {
                let found = self.sources.in_file(std::path::Path::new(path)).into_iter();
                found.map(|(_, source)| source).collect::<Vec<_>>()
            }
        };
        let lines: Vec<(&str, u32)> = sources
            .iter()
            .filter_map(|source| {
                let location = source.location_at(source.line_in_program(line)?)?;
                Some((source.from.as_str(), location.line))
            })
            .collect();
        let debuggee = self.debuggee();
        let timeline = &debuggee.timeline;
        let executions = timeline.events().iter().enumerate().filter(|(_, event)| {
            let is_statement = matches!(event.kind, EventKind::StatementStarted { .. });
            is_statement
                && event.site.is_some_and(|site| {
                    let from = timeline.program(site.program).map(|program| program.from.as_str());
                    lines.iter().any(|(of, line)| Some(*of) == from && *line == site.line)
                })
        });
        let targets = executions.take(MAX_TARGETS).map(|(index, event)| dapts::GotoTarget {
            id: index as u64,
            label: format!("{} (event {})", self.around(timeline, index), event.seq),
            line: arguments.line,
            column: None,
            end_line: None,
            end_column: None,
            instruction_pointer_reference: None,
        });
        let targets: Vec<_> = targets.collect();
        if targets.is_empty() {
            return Err("the run has not executed this line".to_owned());
        }
        body(dapts::GotoTargetsResponse { targets })
    }

    /// What an execution is in, in a few words.
    fn around(&self, timeline: &crate::timeline::Timeline, index: usize) -> String {
        let mut at = timeline.node_at(index);
        let mut parts = Vec::new();
        while at != RUN
            && let Some(node) = timeline.node(at)
        {
            if node.kind.is_frame() {
                parts.push(timeline.title(at).to_string());
            }
            at = node.parent;
        }
        if parts.is_empty() { "this line".to_owned() } else { parts.join(" in ") }
    }

    pub(super) fn go_to(&mut self, arguments: dapts::GotoArguments) -> Result<Json, String> {
        self.check_stopped()?;
        let stop = self.debuggee().go_to(arguments.target_id as usize);
        self.pending = Some(stop);
        Ok(Json::Null)
    }

    pub(super) fn restart_frame(&mut self, arguments: dapts::RestartFrameArguments) -> Result<Json, String> {
        self.check_stopped()?;
        let frame = self.handles.find_frame(arguments.frame_id)?;
        let stop = self.debuggee().restart(frame.node);
        self.pending = Some(stop.ok_or("nothing was executed in this frame")?);
        Ok(Json::Null)
    }
}
