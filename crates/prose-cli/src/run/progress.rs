//! Shows how a run goes: a tree of what it does, with times and states.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use prose_run::Prepared;
use prose_vm::effect::RequestId;
use prose_vm::event::{ConditionOf, Event, Status, What};

use super::echo::{self, Echo};
use super::printed::shown;
use crate::terminal::{ERROR, HELP, Terminal, WARNING, first_line, one_line};

/// How many characters of a task or a value are shown.
const SHOWN: usize = 72;
/// How many sessions are shown as running at the same time: more would not fit a terminal.
const MOST: usize = 12;

/// The lines at the bottom of a terminal that show what is under way.
#[derive(Clone)]
pub(crate) struct Bars(MultiProgress);

impl Bars {
    /// Does something while they are not drawn, such as asking a question.
    pub(crate) fn hidden<T>(&self, work: impl FnOnce() -> T) -> T {
        self.0.set_draw_target(ProgressDrawTarget::hidden());
        let result = work();
        self.0.set_draw_target(ProgressDrawTarget::stderr());
        result
    }
}

/// Shows how a run goes on standard error: as lines that move on a terminal, as plain lines elsewhere.
pub(crate) struct Progress<'a> {
    is_quiet: bool,
    terminal: &'a Terminal,
    bars: Bars,
    is_live: bool,
    shown: RefCell<Shown>,
    /// Given back at the end.
    _echo: Option<Echo>,
}

#[derive(Default)]
struct Shown {
    sessions: HashMap<RequestId, Session>,
    /// Whether something has happened now, and not only once more.
    is_live: bool,
}

struct Session {
    line: String,
    started: u64,
    bar: Option<ProgressBar>,
    /// Whether it is said that it runs. What is only executed once more is not told of.
    is_told: bool,
}

impl<'a> Progress<'a> {
    pub(crate) fn new(is_quiet: bool, terminal: &'a Terminal) -> Self {
        let is_live = !is_quiet && io::stderr().is_terminal();
        let bars = MultiProgress::new();
        if !is_live {
            bars.set_draw_target(ProgressDrawTarget::hidden());
        }
        let echo = is_live.then(echo::hide_control_characters);
        Self { is_quiet, terminal, bars: Bars(bars), is_live, shown: RefCell::default(), _echo: echo }
    }

    /// The lines that have to be hidden while something is asked.
    pub(crate) fn bars(&self) -> Bars {
        self.bars.clone()
    }

    /// Says which run it is.
    pub(crate) fn start(&self, prepared: &Prepared) {
        for note in &prepared.notes {
            self.line(format_args!("{WARNING}note{WARNING:#}: {}", one_line(note)));
        }
        if self.is_quiet {
            return;
        }
        let marked = if prepared.harness() == "offline" { " (answers are made up)" } else { "" };
        self.line(format_args!("Run {} with {}{marked}", prepared.run(), prepared.harness()));
        for rights in &prepared.rights {
            self.line(format_args!("{}", one_line(rights)));
        }
    }

    /// Shows an event.
    pub(crate) fn tell(&self, event: &Event, is_new: bool) {
        if let What::Warning { message } = &event.what
            && is_new
        {
            let line = event.site.map_or(0, |site| site.line);
            self.line(format_args!("{WARNING}warning{WARNING:#}: line {line}: {}", shown(message)));
        }
        if self.is_quiet {
            return;
        }
        if is_new {
            self.tell_of_interrupted(event.at);
        }
        let indent = "  ".repeat(event.nesting.min(12) as usize);
        match &event.what {
            What::SessionStarted { request, task } => {
                let who = task.agent.as_ref().map_or(String::new(), |agent| format!("{agent}: "));
                let retry = if task.attempt > 0 {
                    format!(" (retry {} of {})", task.attempt, task.retries)
                } else {
                    String::new()
                };
                let text = if task.task.is_empty() { task.binding.name.as_str() } else { &task.task };
                let line = format!("{indent}{who}{}{retry}", beginning(text));
                self.session_started(*request, line, event.at);
            }
            What::SessionEnded { request, status, error } => {
                let why =
                    error.as_ref().map_or(String::new(), |error| format!(": {}", beginning(&error.message)));
                self.session_ended(*request, *status, &why, event.at);
            }
            _ if !is_new => {}
            What::Resumed { .. } => self.line(format_args!("What was recorded is done; the run goes on.")),
            What::MemoryAwaited { agent, .. } => {
                self.line(format_args!(
                    "{indent}waits for the memory of {agent}, which another run is using"
                ));
            }
            What::Retrying { delay_ms, .. } if *delay_ms > 0 => {
                let delay = humantime::format_duration(Duration::from_millis(*delay_ms));
                self.line(format_args!("{indent}waits {delay} before it tries again"));
            }
            What::ParallelStarted { branches, strategy, .. } => {
                self.line(format_args!("{indent}parallel: {} branches, {strategy}", branches.len()));
            }
            What::IterationStarted { number, max } => {
                let max = max.map_or(String::new(), |max| format!(" of {max}"));
                self.line(format_args!("{indent}iteration {number}{max}"));
            }
            What::ConditionJudged { met, reason, of } if *of != ConditionOf::Value => {
                let word = if *met { "met" } else { "not met" };
                let reason =
                    if reason.is_empty() { String::new() } else { format!(" ({})", beginning(reason)) };
                self.line(format_args!("{indent}condition {word}{reason}"));
            }
            What::Chosen { label, .. } => self.line(format_args!("{indent}chosen: {}", beginning(label))),
            What::FrameEntered { block, id, .. } => {
                self.line(format_args!("{indent}block {block} (call {id})"));
            }
            What::ImportCalled { alias, .. } => self.line(format_args!("{indent}program {alias}")),
            What::Caught { error, .. } => {
                self.line(format_args!("{indent}caught: {}", beginning(&error.message)));
            }
            _ => {}
        }
    }

    /// Takes the lines away that show what is under way.
    pub(crate) fn finish(&self) {
        // Those of sessions that were interrupted would be drawn again by their clocks.
        for session in self.shown.borrow_mut().sessions.values_mut() {
            if let Some(bar) = session.bar.take() {
                bar.finish_and_clear();
            }
        }
        _ = self.bars.0.clear();
    }

    fn session_started(&self, request: RequestId, line: String, at: u64) {
        let mut shown = self.shown.borrow_mut();
        let is_told = shown.is_live;
        shown.sessions.insert(request, Session { line, started: at, bar: None, is_told });
        if is_told {
            self.show_session(&mut shown, request);
        }
    }

    /// Tells of the sessions that were at work when the run stopped and are asked once more.
    fn tell_of_interrupted(&self, now: u64) {
        let mut shown = self.shown.borrow_mut();
        if std::mem::replace(&mut shown.is_live, true) {
            return;
        }
        let mut requests: Vec<RequestId> = shown.sessions.keys().copied().collect();
        requests.sort();
        for request in requests {
            if let Some(session) = shown.sessions.get_mut(&request) {
                session.started = now;
            }
            self.show_session(&mut shown, request);
        }
    }

    fn show_session(&self, shown: &mut Shown, request: RequestId) {
        let running = shown.sessions.values().filter(|session| session.bar.is_some()).count();
        let Some(session) = shown.sessions.get_mut(&request) else { return };
        session.is_told = true;
        if !self.is_live {
            self.line(format_args!("… {}", session.line));
        } else if running < MOST {
            let bar = self.bars.0.add(ProgressBar::new_spinner());
            // What is too long for the terminal is cut off: a line that wraps is not taken away as a whole everywhere.
            if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg} {elapsed:.dim}") {
                bar.set_style(style);
            }
            bar.set_message(session.line.clone());
            bar.enable_steady_tick(Duration::from_millis(120));
            session.bar = Some(bar);
        }
    }

    fn session_ended(&self, request: RequestId, status: Status, why: &str, at: u64) {
        let Some(session) = self.shown.borrow_mut().sessions.remove(&request) else { return };
        if let Some(bar) = session.bar {
            bar.finish_and_clear();
            self.bars.0.remove(&bar);
        }
        if !session.is_told {
            return;
        }
        let took = Duration::from_millis(at.saturating_sub(session.started));
        let took = humantime::format_duration(took);
        let line = session.line;
        match status {
            Status::Complete => self.line(format_args!("{HELP}✓{HELP:#} {line} ({took})")),
            _ => self.line(format_args!("{ERROR}✗{ERROR:#} {line} ({took}){why}")),
        }
    }

    fn line(&self, line: std::fmt::Arguments<'_>) {
        let write = || {
            // Who does not look at the progress does not miss it either.
            _ = writeln!(self.terminal.stderr(), "{line}");
        };
        if self.is_live { self.bars.0.suspend(write) } else { write() }
    }
}

/// The beginning of a text, on one line.
fn beginning(text: &str) -> String {
    let line = first_line(text);
    match line.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}
