//! The executions of a run, that of its program and those of imported ones, as its events tell of them.

use std::collections::BTreeMap;
use std::ops::Bound;

use prose_vm::effect::RequestId;
use prose_vm::event::{Event, Status, What};
use prose_vm::place::Site;
use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use crate::state_file::StateFile;
use crate::trace::End;

/// What runs and has run, by program.
#[derive(Debug, Default)]
pub(crate) struct Executions {
    /// The text of the program that was started; taken when the run starts.
    text: String,
    run: SmolStr,
    /// By the number of the execution; 0 for the program that was started.
    files: BTreeMap<u32, StateFile>,
    /// Where imported programs were called, with their numbers.
    imports: FxHashMap<Box<str>, u32>,
    /// Statements that have started and not ended, by place.
    active: BTreeMap<Box<str>, Active>,
}

#[derive(Debug)]
struct Active {
    program: u32,
    line: u32,
    /// How many statements of the same program run inside it.
    inside: u32,
    /// The statement that it is inside of, if that one is of the same program.
    around: Option<Box<str>>,
}

impl Executions {
    pub(crate) fn new(text: &str) -> Self {
        Self { text: text.to_owned(), ..Self::default() }
    }

    /// The executions whose `state.md` is out of date.
    pub(crate) fn dirty(&mut self) -> impl Iterator<Item = &mut StateFile> {
        self.files.values_mut().filter(|file| file.is_dirty)
    }

    /// Notes what a session of a program waits for, or that it does not wait any more.
    pub(crate) fn wait_for(&mut self, request: RequestId, awaited: Option<(u32, String)>) {
        match awaited {
            Some((program, text)) => {
                if let Some(file) = self.files.get_mut(&program) {
                    file.is_dirty |= file.waiting.insert(request, text).is_none();
                }
            }
            None => {
                for file in self.files.values_mut() {
                    file.is_dirty |= file.waiting.remove(&request).is_some();
                }
            }
        }
    }

    /// An execution that has ended, which changes no more.
    pub(crate) fn take(&mut self, program: u32) -> Option<StateFile> {
        self.imports.retain(|_, found| *found != program);
        self.files.remove(&program)
    }

    /// Takes up an event.
    pub(crate) fn apply(&mut self, event: &Event) {
        match &event.what {
            What::RunStarted(head) => {
                let text = std::mem::take(&mut self.text);
                self.run = head.run.clone();
                let file = StateFile::new(head.run.clone(), head.program.clone(), "", event.at, &text);
                self.files.insert(0, file);
                return;
            }
            What::ImportCalled { program, alias, folder, text, .. } => {
                let file = StateFile::new(self.run.clone(), alias.clone(), folder, event.at, text);
                self.files.insert(*program, file);
                self.imports.insert(event.place.as_str().into(), *program);
            }
            _ => {}
        }
        let program = match event.site {
            Some(site) => site.program,
            None => nearest(event.place.as_str(), |place| self.imports.contains_key(place))
                .map_or(0, |place| self.imports[place]),
        };
        self.apply_to(program, event);
        if let Some(file) = self.files.get_mut(&program) {
            file.updated = event.at;
            file.is_dirty = true;
        }
    }

    fn apply_to(&mut self, program: u32, event: &Event) {
        let place = event.place.as_str();
        let lines = event.site.map_or((0, 0), |site| (site.line, site.last_line));
        match &event.what {
            What::StatementStarted { .. } => self.start(place, event.site),
            What::StatementEnded { status, error } => {
                let end = match (status, error) {
                    (Status::Failed, Some(error)) => End::Failed(error.message.clone()),
                    (Status::Failed, None) => End::Failed("no reason given".to_owned()),
                    (Status::Skipped, _) => End::Skipped,
                    (Status::Complete | Status::Left, _) => End::Complete,
                };
                self.end(place, end);
            }
            What::Bound { binding, .. } => {
                let statement = self.statement_at(place).map(|active| (active.program, active.line));
                // A program that was imported binds its inputs before its first statement, below the call of another program.
                let line = statement.filter(|(found, _)| *found == program).map(|(_, line)| line);
                if let Some(file) = self.files.get_mut(&program) {
                    file.bind(binding, line);
                }
            }
            What::Retrying { attempt, retries, .. } => {
                if let Some((found, line)) =
                    self.statement_at(place).map(|active| (active.program, active.line))
                    && let Some(file) = self.files.get_mut(&found)
                {
                    file.trace.retry(line, *attempt, *retries);
                }
            }
            what => {
                if matches!(what, What::BranchEnded { status: Status::Skipped, .. }) {
                    self.skip(place, event.at);
                }
                if let Some(file) = self.files.get_mut(&program) {
                    apply_to_file(file, place, lines, what);
                }
            }
        }
    }

    /// A branch was cancelled. What ran inside it has no end of its own (R52), also in programs that it had called.
    fn skip(&mut self, branch: &str, at: u64) {
        let from = (Bound::Included(branch), Bound::Unbounded);
        let behind = self.active.range::<str, _>(from).map(|(place, _)| place);
        let inside = behind.take_while(|place| place.starts_with(branch));
        let inside: Vec<_> = inside.filter(|place| is_inside(place, branch)).cloned().collect();
        // The places inside a place stand behind it: the innermost statements end first.
        for place in inside.iter().rev() {
            let program = self.active[place].program;
            self.end(place, End::Skipped);
            if let Some(file) = self.files.get_mut(&program) {
                file.updated = at;
                file.is_dirty = true;
            }
        }
        for file in self.files.values_mut() {
            file.drop_inside(branch);
        }
    }

    fn statement_at(&self, place: &str) -> Option<&Active> {
        nearest(place, |place| self.active.contains_key(place)).and_then(|place| self.active.get(place))
    }

    fn start(&mut self, place: &str, site: Option<Site>) {
        let Some(Site { program, line, .. }) = site else { return };
        let around = outer(place).and_then(|outer| nearest(outer, |place| self.active.contains_key(place)));
        let around: Option<Box<str>> =
            around.filter(|around| self.active[*around].program == program).map(Into::into);
        let Some(file) = self.files.get_mut(&program) else { return };
        if let Some(around) = around.as_ref().and_then(|around| self.active.get_mut(around)) {
            // The innermost statements are those that are executed; the ones around them wait.
            if around.inside == 0 {
                file.trace.wait(around.line);
            }
            around.inside += 1;
        }
        file.trace.run(line);
        self.active.insert(place.into(), Active { program, line, inside: 0, around });
    }

    fn end(&mut self, place: &str, end: End) {
        let Some(ended) = self.active.remove(place) else { return };
        let Some(file) = self.files.get_mut(&ended.program) else { return };
        if ended.inside > 0 {
            // Statements inside that were given up do not always end on their own.
            file.trace.run(ended.line);
        }
        file.trace.end(ended.line, end);
        if let Some(around) = ended.around.and_then(|around| self.active.get_mut(&around)) {
            around.inside = around.inside.saturating_sub(1);
            if around.inside == 0 {
                file.trace.run(around.line);
            }
        }
    }
}

fn apply_to_file(file: &mut StateFile, place: &str, lines: (u32, u32), what: &What) {
    match what {
        What::Defined { name, agents, .. } => {
            file.name = name.clone();
            file.define(agents);
        }
        What::ParallelStarted { branches, .. } => file.start_parallel(place, lines, branches),
        What::BranchStarted { index, name } => {
            if let Some(parallel) = nearest(place, |place| file.is_parallel(place)) {
                file.start_branch(parallel, *index, name);
            }
        }
        What::BranchEnded { index, name, status, .. } => {
            if let Some(parallel) = nearest(place, |place| file.is_parallel(place)) {
                file.end_branch(parallel, *index, name, *status);
            }
        }
        What::ParallelEnded { .. } => file.end_parallel(place),
        What::LoopStarted { kind, header, max } => file.start_loop(place, lines, *kind, header, *max),
        What::IterationStarted { number, .. } => {
            if let Some(found) = nearest(place, |place| file.is_loop(place)) {
                file.start_iteration(found, *number);
            }
        }
        What::LoopEnded { .. } => file.end_loop(place),
        What::FrameEntered { id, block, depth, parent, .. } => {
            file.enter_frame(*id, place, block, *depth, *parent);
        }
        What::FrameLeft { id, .. } => file.leave_frame(*id),
        _ => {}
    }
}

/// Whether a place is another one or inside it.
pub(crate) fn is_inside(place: &str, around: &str) -> bool {
    place.strip_prefix(around).is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '.']))
}

/// The place around a place, if it is not the outermost one.
fn outer(place: &str) -> Option<&str> {
    place.rfind(['/', '.']).map(|end| &place[..end])
}

/// The place itself or the closest one around it for which something holds.
fn nearest(place: &str, holds: impl Fn(&str) -> bool) -> Option<&str> {
    let mut at = Some(place);
    while let Some(place) = at {
        if holds(place) {
            return Some(place);
        }
        at = outer(place);
    }
    None
}
