//! How what is asked for stands in the run that stopped: whether it had ended, failed, or not run (decision 22).
//!
//! The trace has the first word: what it says has not ended is done again, whatever files there are. A file proves a session only where the trace
//! says nothing of it, and only in the iteration that the run had come to.

use prose_syntax::text::one_line;
use prose_vm::effect::{Failure, Outcome, Question, Reply, Request, SessionTask};
use prose_vm::event::LoopKind;
use rustc_hash::FxHashSet;

use super::{Execution, ForeignRecording, Stored};
use crate::foreign_state::{Mark, frame_of};
use crate::open_constructs::{ExecutionPoint, number, steps};
use crate::program::{Try, bound_name};

/// What stands for the result of a session that nothing captures and that left no file.
const NOT_KEPT: &str = "(the result was not kept)";

/// The execution id of a call that had not been made.
const NO_CALL: u32 = u32::MAX;

/// The message of an error whose own is not stated.
const NOT_STATED: &str = "it failed in the run that stopped, and state.md does not say why";

/// How a place stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlaceStatus {
    how: How,
    /// The innermost statement around the place, or that at the place itself.
    pub(super) own: Option<ExecutionPoint>,
    /// The innermost `try` in whose body the place is, if its body has failed.
    failed: Option<ExecutionPoint>,
}

/// How far what is around a place had come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    /// It had been entered, or nothing is stated of it.
    Open,
    /// It had ended.
    Complete,
    /// The place is in an iteration before the one that the run had come to.
    Earlier,
    /// It had not been entered.
    NotRun,
}

impl ForeignRecording {
    fn execution(&self, at: ExecutionPoint) -> Option<&Execution> {
        self.executions.get(self.open.folder(at.program)?)
    }

    fn statement(&self, place: &str) -> Option<ExecutionPoint> {
        self.open.statement(place).map(|at| self.as_it_was(at))
    }

    fn loop_at(&self, place: &str) -> Option<ExecutionPoint> {
        self.open.loop_at(place).map(|at| self.as_it_was(at))
    }

    fn try_at(&self, place: &str) -> Option<ExecutionPoint> {
        self.open.try_at(place).map(|at| self.as_it_was(at))
    }

    /// A standpoint with the execution id that its call had in the run that stopped.
    fn as_it_was(&self, at: ExecutionPoint) -> ExecutionPoint {
        let frame = self.calls.borrow().get(&(at.program, at.frame)).copied();
        ExecutionPoint { frame: frame.unwrap_or(at.frame), ..at }
    }

    /// Finds out which execution id a call had. A loop that has ended is not repeated as often as it was, so that calls after it have other ids; the
    /// call that was being executed is known by its depth on the stack then.
    fn identify(&self, stand: &PlaceStatus, call: ExecutionPoint, id: u32, depth: u32) {
        if stand.how != How::Open || self.calls.borrow().contains_key(&(call.program, id)) {
            return;
        }
        let Some(on_stack) = self.execution(call).and_then(|execution| execution.told.call_at(depth)) else {
            return;
        };
        if !self.is_about(call) || self.mark(call) == Some(Mark::Complete) {
            return;
        }
        let mut calls = self.calls.borrow_mut();
        let is_taken =
            |known: u32| calls.iter().any(|((program, _), it)| *program == call.program && *it == known);
        let it = on_stack.filter(|known| !is_taken(*known) && !self.is_preceded_by_open(call));
        calls.insert((call.program, id), it.unwrap_or(NO_CALL));
    }

    /// Whether marks are about this execution of a statement.
    fn is_about(&self, at: ExecutionPoint) -> bool {
        let Some(Execution { told, program, .. }) = self.execution(at) else { return false };
        at.frame == 0 || program.block_around(at.line).is_none_or(|block| told.is_about(at.frame, block))
    }

    /// The mark of a statement, if it is about this execution of it.
    fn mark(&self, at: ExecutionPoint) -> Option<Mark> {
        let Execution { told, program, .. } = self.execution(at)?;
        let mark = told.mark(at.line).filter(|_| self.is_about(at))?;
        // A list of branches says more of one than that it comes next.
        let is_branch =
            || bound_name(program.line(at.line)).is_some_and(|name| told.branch(name, at.line) == Some(true));
        Some(if mark == Mark::Ahead && is_branch() { Mark::Complete } else { mark })
    }

    /// How a place stands, as far as the statements around it tell. That of the innermost one itself is left to who asks.
    pub(super) fn stand(&self, place: &str) -> PlaceStatus {
        let mut stand = PlaceStatus { how: How::Open, own: None, failed: None };
        let mut depth = 0;
        for (around, next) in steps(place) {
            if let Some(at) = self.statement(around) {
                // The one before is around this one, so its mark is about this one as well.
                self.enter(&mut stand);
                stand.own = Some(at);
            }
            if number(next, "m").is_some() {
                depth = 0;
            }
            if let (Some(id), Some(call)) = (number(next, "f"), stand.own) {
                depth += 1;
                self.identify(&stand, call, id, depth);
            }
            if stand.how == How::Open
                && let Some(nth) = number(next, "i")
                && let Some(at) = self.loop_at(around)
                && self.mark(at) != Some(Mark::Complete)
            {
                self.iterate(&mut stand, at, nth + 1);
            }
            if matches!(stand.how, How::Open | How::Complete)
                && next == "try"
                && let Some(at) = self.try_at(around)
                && self.has_failed(at)
            {
                stand.failed = Some(at);
            }
            if stand.how == How::NotRun {
                break;
            }
        }
        stand
    }

    /// Takes the mark of the innermost statement for one around what comes.
    fn enter(&self, stand: &mut PlaceStatus) {
        let Some(mark) = stand.own.and_then(|own| self.mark(own)) else { return };
        match (stand.how, mark) {
            (How::Open | How::Complete, Mark::Ahead) => stand.how = How::NotRun,
            (How::Open, Mark::Complete) => stand.how = How::Complete,
            _ => {}
        }
    }

    /// Compares an iteration, from 1, with the one that the run had come to.
    fn iterate(&self, stand: &mut PlaceStatus, at: ExecutionPoint, iteration: u32) {
        let Some(Execution { told, program, .. }) = self.execution(at) else { return };
        if !self.is_about(at) {
            return;
        }
        let stopped = match told.iteration(at.line) {
            Some(stopped) => stopped,
            None if self.is_past(at, program.last_line(at.line)) => return,
            // The marks tell of the first iteration then.
            None => 1,
        };
        stand.how = match iteration.cmp(&stopped) {
            std::cmp::Ordering::Less => How::Earlier,
            std::cmp::Ordering::Equal => How::Open,
            std::cmp::Ordering::Greater => How::NotRun,
        };
    }

    /// Whether the run had passed a line, as far as that can be found out: lines of blocks stand anywhere.
    fn is_past(&self, at: ExecutionPoint, line: u32) -> bool {
        at.frame == 0 && self.execution(at).is_some_and(|execution| execution.told.position() > line)
    }

    /// Whether the body of a `try` has failed: what handles that has run, or what comes after it where nothing handles it.
    fn has_failed(&self, at: ExecutionPoint) -> bool {
        let Some(Execution { told, program, .. }) = self.execution(at) else { return false };
        let Some(found) = program.try_at(at.line) else { return false };
        if !self.is_about(at) {
            return found.catch.is_some_and(|(first, last)| self.has_files(at, first, last));
        }
        match (found.catch, found.finally) {
            (Some((first, last)), _) => told.has_run(first, last),
            (None, Some((first, last))) => {
                let has_failed = |line: &u32| told.mark(*line) == Some(Mark::Failed);
                told.has_run(first, last) && found.sessions.iter().any(has_failed)
            }
            (None, None) => false,
        }
    }

    pub(super) fn session(
        &self,
        execution: &Execution,
        request: &Request,
        task: &SessionTask,
        file: &str,
    ) -> Option<Outcome> {
        let stand = self.stand(request.place.as_str());
        if stand.how == How::NotRun {
            return None;
        }
        let own = stand.own?;
        // Its call may have had another id.
        let file = match task.binding.frame {
            frame if frame == own.frame => file.to_owned(),
            frame => file.replacen(&format!("__{frame}"), &format!("__{}", own.frame), 1),
        };
        let file = file.as_str();
        let is_captured = !task.binding.name.starts_with("anon_");
        let is_in_loop = steps(request.place.as_str()).any(|(_, next)| number(next, "i").is_some());
        let named = execution.told.file(own.line).filter(|_| self.mark(own).is_some());
        let named = named
            .filter(|named| frame_of(named) == own.frame)
            .and_then(|named| execution.bindings.get(named));
        let stored = match is_captured {
            true => execution.bindings.get(file).or(named),
            // Machines number sessions that nothing captures in ways of their own; the trace says which file is meant.
            false if named.is_some() && !is_in_loop => named,
            false => self.anonymous(execution, own, file).or(named),
        };
        // A file may be of the iteration before.
        let has_file = stored.is_some() && !self.is_repeated(request.place.as_str());
        if let Some(failed) = self.failure(&stand, own, has_file) {
            return Some(Outcome::Failed(failed));
        }
        let is_done = match (stand.how, self.mark(own)) {
            (How::NotRun, _) => false,
            (How::Earlier, _) => true,
            (_, Some(Mark::Executing | Mark::Failed | Mark::Ahead)) => false,
            (_, Some(Mark::Complete)) => !self.is_of_earlier_iteration(request.place.as_str(), own),
            (how, None) => match execution.told.branch(&task.binding.name, own.line) {
                Some(is_complete) if self.is_about(own) => is_complete,
                _ if how == How::Complete => true,
                _ => has_file && !self.is_preceded_by_open(own),
            },
        };
        if !is_done {
            return None;
        }
        let reply = match stored {
            // What an earlier iteration of it left would be there if it had not failed.
            None if stand.how == How::Earlier && self.was_recovered(request.place.as_str(), is_captured) => {
                return Some(Outcome::Failed(Failure::session(NOT_STATED)));
            }
            Some(stored) => {
                Reply { text: stored.value.as_str().into(), wrote_binding: true, ..Reply::default() }
            }
            // Other statements use it, so it is requested.
            None if is_captured && stand.how != How::Earlier && self.mark(own) == Some(Mark::Complete) => {
                return None;
            }
            None => {
                let line = own.line;
                let lost = format!("the session in line {line} is complete, but its result was not stored");
                Reply { text: NOT_KEPT.into(), warnings: vec![lost], ..Reply::default() }
            }
        };
        Some(Outcome::Reply(reply))
    }

    /// The file of a session that nothing captures: the one of that number, or another one that names the statement as its source.
    fn anonymous<'a>(&self, execution: &'a Execution, own: ExecutionPoint, file: &str) -> Option<&'a Stored> {
        let line = one_line(execution.program.line(own.line));
        let program = &execution.program;
        let is_a_line =
            |source: &str| (1..=program.line_count()).any(|line| one_line(program.line(line)) == source);
        let is_of_it = |stored: &Stored| {
            stored.source.as_ref().is_none_or(|source| *source == line || !is_a_line(source))
        };
        if let Some(stored) = execution.bindings.get(file).filter(|stored| is_of_it(stored)) {
            return Some(stored);
        }
        let suffix = if own.frame == 0 { ".md".to_owned() } else { format!("__{}.md", own.frame) };
        let others = execution.bindings.iter().filter(|(name, stored)| {
            let number = name.strip_prefix("anon_").and_then(|rest| rest.strip_suffix(suffix.as_str()));
            number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
                && stored.source.as_ref() == Some(&line)
        });
        others.max_by(|(one, _), (other, _)| one.cmp(other)).map(|(_, stored)| stored)
    }

    /// Whether a place is in the body of a `try` that has been recovered from: its handler has left files, or a result is missing that has to be there.
    fn was_recovered(&self, place: &str, is_missing: bool) -> bool {
        let mut tries = steps(place).filter(|(_, next)| *next == "try");
        tries.any(|(around, _)| {
            self.try_at(around).is_some_and(|at| {
                let found = self.execution(at).and_then(|execution| execution.program.try_at(at.line));
                let catch = found.and_then(|found| found.catch);
                catch.is_some_and(|(first, last)| is_missing || self.has_files(at, first, last))
            })
        })
    }

    /// Whether a place is in a later iteration than the first one of a loop, so that files there may be of the iteration before.
    fn is_repeated(&self, place: &str) -> bool {
        let loops = steps(place).filter_map(|(around, _)| self.loop_at(around));
        loops.into_iter().any(|at| {
            self.execution(at).is_some_and(|Execution { told, .. }| {
                self.is_about(at) && told.iteration(at.line).is_some_and(|iteration| iteration > 1)
            })
        })
    }

    /// Whether something that runs before a statement in the same body had not ended.
    fn is_preceded_by_open(&self, own: ExecutionPoint) -> bool {
        let Some(Execution { told, program, .. }) = self.execution(own) else { return false };
        let is_open = |mark| matches!(mark, Mark::Executing | Mark::Ahead);
        own.line > 1
            && self.is_about(own)
            && told
                .marks_in(1, own.line - 1)
                .any(|(line, mark)| is_open(mark) && program.precedes(line, own.line))
    }

    /// Whether a mark was left by the iteration before: something above it in the loop is being executed.
    fn is_of_earlier_iteration(&self, place: &str, own: ExecutionPoint) -> bool {
        let Some(Execution { told, program, .. }) = self.execution(own) else { return false };
        let around = steps(place).filter_map(|(around, _)| self.loop_at(around));
        around.filter(|at| (at.program, at.frame) == (own.program, own.frame)).any(|at| {
            let is_later = told.iteration(at.line).is_some_and(|iteration| iteration > 1);
            is_later
                && at.line < own.line
                && told.marks_in(at.line + 1, own.line - 1).any(|(line, mark)| {
                    mark == Mark::Executing && line < own.line && program.precedes(line, own.line)
                })
        })
    }

    /// What a session in the body of a `try` that failed has failed by, if it is the one.
    pub(super) fn failure(
        &self,
        stand: &PlaceStatus,
        own: ExecutionPoint,
        has_file: bool,
    ) -> Option<Failure> {
        let at = stand.failed?;
        let Execution { told, program, bindings, .. } = self.execution(at)?;
        let found = program.try_at(at.line)?;
        let is_it = match self.mark(own) {
            Some(Mark::Executing | Mark::Failed) => true,
            Some(Mark::Ahead) => false,
            Some(Mark::Complete) => {
                is_last_of_all(found, own)
                    && found.sessions.iter().all(|line| told.mark(*line) == Some(Mark::Complete))
            }
            None if !has_file => true,
            None => {
                let is_open = |line: &u32| matches!(told.mark(*line), Some(Mark::Executing | Mark::Failed));
                is_last_of_all(found, own) && !found.sessions.iter().any(is_open)
            }
        };
        let told_why = || {
            let name = found.error.as_ref()?;
            let file = if at.frame == 0 { format!("{name}.md") } else { format!("{name}__{}.md", at.frame) };
            Some(bindings.get(&file)?.value.trim().to_owned())
        };
        is_it.then(|| {
            let why = told.failure(own.line).map(str::to_owned).or_else(told_why);
            Failure::session(why.filter(|why| !why.is_empty()).unwrap_or_else(|| NOT_STATED.to_owned()))
        })
    }

    /// What a condition came to.
    pub(super) fn judge(&self, place: &str, question: &Question) -> Option<bool> {
        let (around, _) = place.rsplit_once('/')?;
        let (statement, step) = around.rsplit_once('/')?;
        if let Some(nth) = number(step, "i")
            && let Some(kind) = question.of_loop
        {
            let repeats = self.repeats(statement, nth)?;
            let at = self.loop_at(statement)?;
            let is_negated = self.is_negated(at, at.line);
            return Some((repeats == (kind == LoopKind::While)) != is_negated);
        }
        let nth = number(step, "if")?;
        let stand = self.stand(statement);
        let own = stand.own?;
        let Execution { told, program, .. } = self.execution(own)?;
        let line = program.condition_line(own.line, nth as usize)?;
        let last = program.last_line(own.line);
        let was_met = match (stand.how, self.mark(own)) {
            (How::NotRun, _) | (How::Open | How::Complete, Some(Mark::Ahead)) => return None,
            (How::Open | How::Complete, mark) if self.is_about(own) => {
                if self.has_run_below(own, line) {
                    true
                } else {
                    // That the statement itself was being executed says nothing: its condition may have been what it waited for.
                    let has_run = stand.how == How::Complete
                        || mark == Some(Mark::Complete)
                        || told.has_run(own.line + 1, last)
                        || self.is_past(own, last);
                    if !has_run {
                        return None;
                    }
                    false
                }
            }
            // Marks are about another execution; the files of this one show which way it took.
            (how, _) => {
                let end = end_of_body(program, line);
                match self.has_files(own, line + 1, end) {
                    true => true,
                    false if how == How::Earlier => self.has_run_below(own, line),
                    false if self.has_files(own, own.line + 1, program.line_count()) => false,
                    false => return None,
                }
            }
        };
        Some(was_met != self.is_negated(own, line))
    }

    /// Whether the loop at a place went on after so many iterations.
    fn repeats(&self, place: &str, done: u32) -> Option<bool> {
        let stand = self.stand(place);
        let at = self.loop_at(place)?;
        let Execution { told, program, .. } = self.execution(at)?;
        let last = program.last_line(at.line);
        let recorded = told.iteration(at.line).filter(|_| self.is_about(at));
        let mark = self.mark(at);
        // How often it was repeated is not stated: once gives all existing files.
        let was_entered = || {
            let is_about = stand.how != How::Earlier && self.is_about(at);
            (is_about && told.has_run(at.line + 1, last)) || self.has_files(at, at.line + 1, last)
        };
        let ended = |rounds: Option<u32>| Some(done < rounds.unwrap_or_else(|| u32::from(was_entered())));
        match stand.how {
            How::NotRun => None,
            How::Earlier => ended(None),
            How::Complete => ended(recorded),
            How::Open if !self.is_about(at) => {
                // Marks are about another call; the files of this one show whether it came here, and past it.
                let was_here = self.has_files(at, at.line + 1, last);
                let was_after = self.has_files(at, last + 1, program.line_count());
                (was_here || was_after).then_some(done < u32::from(was_here))
            }
            How::Open => match (mark, recorded) {
                (Some(Mark::Ahead), _) | (_, Some(0)) => None,
                (Some(Mark::Complete), _) => ended(recorded),
                // One judgement stands before each iteration that was entered.
                (_, Some(rounds)) => (done < rounds).then_some(true),
                _ if self.is_past(at, last) => ended(None),
                _ => (done == 0 && self.is_about(at) && told.has_run(at.line + 1, last)).then_some(true),
            },
        }
    }

    /// Which option was taken.
    pub(super) fn choose(&self, place: &str, question: &Question) -> Option<usize> {
        let (statement, _) = place.rsplit_once('/')?;
        let stand = self.stand(statement);
        let own = stand.own?;
        if stand.how == How::NotRun || self.mark(own) == Some(Mark::Ahead) {
            return None;
        }
        let Execution { program, .. } = self.execution(own)?;
        let is_told = self.is_about(own) && stand.how != How::Earlier;
        (own.line..=program.last_line(own.line)).find_map(|line| {
            let label = program.line(line).trim().strip_prefix("option")?.trim_start().strip_prefix('"')?;
            let index = question.labels.iter().position(|found| {
                label.strip_prefix(found.as_str()).is_some_and(|rest| rest.starts_with('"'))
            })?;
            let has_run = (is_told && self.has_run_below(own, line))
                || (!is_told && self.has_files(own, line + 1, end_of_body(program, line)));
            has_run.then_some(index)
        })
    }

    /// Whether the condition in a line is a text with `not` before it, which is judged without the `not`.
    fn is_negated(&self, at: ExecutionPoint, line: u32) -> bool {
        let header = self.execution(at).map_or("", |execution| execution.program.line(line));
        let words = header.split("**").next().unwrap_or_default();
        words.split_whitespace().next_back() == Some("not")
    }

    /// Whether a statement in the body below a header has run, or calls the block that was being executed.
    fn has_run_below(&self, at: ExecutionPoint, header: u32) -> bool {
        let Some(Execution { told, program, .. }) = self.execution(at) else { return false };
        let end = end_of_body(program, header);
        let calls = |block: &str| {
            let is_call = |line: &str| {
                let called = line.split_once("do ").map(|(_, called)| called.trim_start());
                let rest = called.and_then(|called| called.strip_prefix(block));
                rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
            };
            // A call that is marked is the one.
            let is_marked = told
                .marks_in(1, program.line_count())
                .any(|(line, mark)| mark == Mark::Executing && is_call(program.line(line)));
            !is_marked
                && (header + 1..=end).any(|line| told.mark(line).is_none() && is_call(program.line(line)))
        };
        told.has_run(header + 1, end) || told.called_from(at.frame).is_some_and(calls)
    }

    /// Whether there are files of what lines have given in a call.
    fn has_files(&self, at: ExecutionPoint, first: u32, last: u32) -> bool {
        let Some(Execution { bindings, program, .. }) = self.execution(at) else { return false };
        let suffix = if at.frame == 0 { String::new() } else { format!("__{}", at.frame) };
        let lines = || (first..=last).map(|line| program.line(line));
        let is_bound = |name: &str| bindings.contains_key(&format!("{name}{suffix}.md"));
        if lines().filter_map(bound_name).any(is_bound) {
            return true;
        }
        let lines: FxHashSet<String> = lines().map(one_line).collect();
        bindings.iter().any(|(file, stored)| {
            file.starts_with("anon_")
                && frame_of(file) == at.frame
                && stored.source.as_ref().is_some_and(|source| lines.contains(source))
        })
    }
}

/// Whether a session is the last thing in the body of a `try` that can have failed.
fn is_last_of_all(found: &Try, own: ExecutionPoint) -> bool {
    !found.fails_by_itself && found.sessions.last() == Some(&own.line)
}

/// The last line of the body below a header, by its indentation.
fn end_of_body(program: &crate::program::Program, header: u32) -> u32 {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let of_header = indent(program.line(header));
    (header + 1..=program.line_count())
        .take_while(|line| {
            let text = program.line(*line);
            text.trim().is_empty() || indent(text) > of_header
        })
        .last()
        .unwrap_or(header)
}
