//! Shows how a run goes: a tree of what it does, with times and states.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use prose_run::PreparedRun;
use prose_syntax::text::shorten;
use prose_view::{View, duration, usage_text};
use prose_vm::activity::{Activity, ProviderRetry, ToolStatus};
use prose_vm::command::Command;
use prose_vm::effect::{RequestId, SessionTask};
use prose_vm::event::{ConditionOf, Event, EventKind, Status};
use prose_vm::questions::{Attribution, OpenQuestion, QuestionId};

use smol_str::SmolStr;

use super::echo::{self, Echo};
use super::printed::shown;
use super::waiting;
use crate::keyboard;
use crate::terminal::{ERROR, HELP, Terminal, WARNING, first_line, one_line};

/// How many characters of a task or a value are shown.
const MAX_SHOWN: usize = 72;
/// How many bytes of lines are kept back at least, before the first ones are left out.
const MAX_HELD: usize = 1 << 20;
/// How many sessions are shown as running at the same time: more would not fit a terminal.
const MAX_SESSIONS: usize = 12;

/// The lines at the bottom of a terminal that show what is under way.
#[derive(Clone)]
pub(crate) struct Bars {
    lines: MultiProgress,
    question: Arc<Mutex<Option<Asked>>>,
    /// What is written once the screen of the run closes; `None` without a screen.
    held: Arc<Mutex<Option<Vec<u8>>>>,
    terminal: Terminal,
}

/// A question that waits for its answer in the last line of the terminal.
struct Asked {
    text: String,
    /// Whether what was typed up to now stays when the question is written again.
    keeps_typed: bool,
}

impl Bars {
    /// Writes a question. While it is shown, the lines at the bottom are hidden, and it is written again after other output.
    pub(crate) fn ask(&self, text: String, keeps_typed: bool) -> ShownQuestion {
        self.lines.set_draw_target(ProgressDrawTarget::hidden());
        let mut question = self.question();
        write_question(&text);
        *question = Some(Asked { text, keeps_typed });
        ShownQuestion(self.clone())
    }

    /// Keeps lines back while the screen of the run is open.
    pub(crate) fn hold(&self) {
        let mut held = self.held();
        if held.is_none() {
            // What cannot be taken away is hidden by the screen.
            _ = self.lines.clear();
            self.lines.set_draw_target(ProgressDrawTarget::hidden());
            *held = Some(Vec::new());
        }
    }

    /// Writes the lines that were kept back. The lines at the bottom are shown again if the run continues without its screen.
    pub(crate) fn release(&self, goes_on: bool) {
        let Some(text) = self.held().take() else { return };
        let mut stderr = self.terminal.stderr();
        if text.len() >= MAX_HELD {
            _ = writeln!(stderr, "… earlier lines are left out; `prose runs show` has what they say");
        }
        // Who does not look at the progress does not miss it either.
        _ = stderr.write_all(&text).and_then(|()| stderr.flush());
        if goes_on {
            self.lines.set_draw_target(ProgressDrawTarget::stderr());
        }
    }

    fn held(&self) -> MutexGuard<'_, Option<Vec<u8>>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes lines. A question that is shown is written again after them.
    pub(crate) fn around(&self, write: impl FnOnce(&mut dyn Write)) {
        let mut held = self.held();
        if let Some(text) = held.as_mut() {
            write(text);
            if text.len() > 2 * MAX_HELD {
                let line = text[text.len() - MAX_HELD..].iter().position(|byte| *byte == b'\n');
                text.drain(..text.len() - MAX_HELD + line.map_or(0, |end| end + 1));
            }
            return;
        }
        let question = self.question();
        if question.is_some() {
            write_question("\n");
        }
        self.lines.suspend(|| write(&mut self.terminal.stderr()));
        if let Some(Asked { text, keeps_typed }) = &*question {
            if !keeps_typed {
                keyboard::discard();
            }
            write_question(text);
        }
    }

    fn question(&self) -> MutexGuard<'_, Option<Asked>> {
        self.question.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn write_question(text: &str) {
    let mut stderr = io::stderr().lock();
    // Who cannot be written to does not look at the question either.
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}

/// A question that is shown. When it is dropped, the lines at the bottom are shown again.
pub(crate) struct ShownQuestion(Bars);

impl ShownQuestion {
    /// Ends the line of a question that was not answered in it.
    pub(crate) fn end_line(self) {
        let mut question = self.0.question();
        *question = None;
        write_question("\n");
    }
}

impl Drop for ShownQuestion {
    fn drop(&mut self) {
        *self.0.question() = None;
        self.0.lines.set_draw_target(ProgressDrawTarget::stderr());
    }
}

/// Shows the progress of a run on standard error: as lines that move on a terminal, as plain lines elsewhere.
pub(crate) struct Progress {
    is_quiet: bool,
    bars: Bars,
    is_live: bool,
    /// Whether the run has come to what happens now, rather than once more. What is only executed once more is not shown.
    is_now: Cell<bool>,
    /// The bars of sessions that run, with their lines.
    running: RefCell<HashMap<RequestId, (ProgressBar, String)>>,
    /// The last bar, with the usage up to now.
    total: RefCell<Option<ProgressBar>>,
    /// The tool calls that have a line, where there are no bars.
    calls: RefCell<HashSet<(RequestId, SmolStr)>>,
    /// The run whose questions are written, if no one is asked here, and those that were.
    questions: RefCell<Option<(SmolStr, HashSet<QuestionId>)>>,
    /// Given back at the end.
    _echo: Option<Echo>,
}

impl Progress {
    pub(crate) fn new(is_quiet: bool, terminal: &Terminal) -> Self {
        let is_live = !is_quiet && io::stderr().is_terminal();
        let bars = MultiProgress::new();
        if !is_live {
            bars.set_draw_target(ProgressDrawTarget::hidden());
        }
        let echo = is_live.then(echo::hide_control_characters);
        Self {
            is_quiet,
            bars: Bars {
                lines: bars,
                question: Arc::default(),
                held: Arc::default(),
                terminal: terminal.clone(),
            },
            is_live,
            is_now: Cell::default(),
            running: RefCell::default(),
            total: RefCell::default(),
            calls: RefCell::default(),
            questions: RefCell::default(),
            _echo: echo,
        }
    }

    /// The lines that have to be hidden while something is asked.
    pub(crate) fn bars(&self) -> Bars {
        self.bars.clone()
    }

    /// Says which run it is.
    pub(crate) fn start(&self, prepared: &PreparedRun) {
        for note in &prepared.notes {
            self.line(format_args!("{WARNING}note{WARNING:#}: {}", one_line(note)));
        }
        if self.is_quiet {
            return;
        }
        let marked = if prepared.harness() == "offline" { " (placeholder replies)" } else { "" };
        let limits = prepared.limits().map_or(String::new(), |limits| format!(", {limits}"));
        self.line(format_args!("Run {} with {}{marked}{limits}", prepared.run(), prepared.harness()));
        if let Some(parallelism) = prepared.parallelism() {
            self.line(format_args!("{parallelism}"));
        }
        if prepared.isolates {
            self.line(format_args!("{}", prose_run::ISOLATION));
        }
        for rights in &prepared.rights {
            self.line(format_args!("{}", one_line(rights)));
        }
    }

    /// From now on, writes the questions of the run when it starts to wait: no one is asked at this terminal.
    pub(crate) fn write_questions_of(&self, run: &str) {
        self.questions.replace(Some((run.into(), HashSet::new())));
    }

    /// Writes the questions that were not written yet.
    pub(crate) fn asked(&self, open: &[OpenQuestion]) {
        let mut written = self.questions.borrow_mut();
        let Some((run, written)) = written.as_mut() else { return };
        let new = open.iter().filter(|question| written.insert(question.id));
        let new: Vec<OpenQuestion> = new.cloned().collect();
        self.bars.around(|out| {
            // A question that cannot be written is listed by `prose runs`.
            _ = waiting::write_open(run, &new, open.len() == 1, out);
        });
    }

    /// Shows an event. The view is that of the run before it.
    pub(crate) fn show(&self, view: &View, event: &Event, is_new: bool) {
        if let EventKind::Warning { message } = &event.kind
            && is_new
        {
            // A warning about the run as a whole has no line.
            let line = view.line_prefix(event.site);
            self.line(format_args!("{WARNING}warning{WARNING:#}: {line}{}", shown(message)));
        }
        if let EventKind::QuestionsOpen { questions } = &event.kind
            && is_new
        {
            self.asked(questions);
        }
        if self.is_quiet {
            return;
        }
        if is_new {
            // The sessions that were open when the run stopped are asked once more.
            self.show_open(view);
        }
        let indent = indent(event.nesting);
        match &event.kind {
            EventKind::SessionStarted { request, task } if self.is_now.get() => {
                self.session_started(*request, session_line(event.nesting, task));
            }
            EventKind::SessionStarted { .. } => {}
            EventKind::SessionEnded { request, status, error } => {
                let why =
                    error.as_ref().map_or(String::new(), |error| format!(": {}", beginning(&error.message)));
                if let (Some((node, attempt)), Some(task), true) =
                    (view.attempt(*request), view.task(*request), self.is_now.get())
                {
                    let line = session_line(event.nesting, task);
                    let took = view.work_of(node, attempt);
                    self.session_ended(*request, *status, &line, &why, took);
                }
            }
            _ if !is_new => {}
            EventKind::Resumed { .. } => {
                self.line(format_args!("Recorded results reused; the run continues."))
            }
            EventKind::Commanded { command, by } => self.commanded(command, by),
            EventKind::MemoryAwaited { agent, .. } => {
                self.line(format_args!(
                    "{indent}waiting for the memory of {agent}, which another run is using"
                ));
            }
            EventKind::Retrying { delay_ms, .. } if *delay_ms > 0 => {
                let delay = humantime::format_duration(Duration::from_millis(*delay_ms));
                self.line(format_args!("{indent}retrying in {delay}"));
            }
            EventKind::ParallelStarted { branches, strategy, .. } => {
                self.line(format_args!("{indent}parallel: {} branches, {strategy}", branches.len()));
            }
            EventKind::IterationStarted { number, max } => {
                let max = max.map_or(String::new(), |max| format!(" of {max}"));
                self.line(format_args!("{indent}iteration {number}{max}"));
            }
            EventKind::ConditionJudged { met, reason, of } if *of != ConditionOf::Value => {
                let word = if *met { "met" } else { "not met" };
                let reason =
                    if reason.is_empty() { String::new() } else { format!(" ({})", beginning(reason)) };
                self.line(format_args!("{indent}condition {word}{reason}"));
            }
            EventKind::Chosen { label, .. } => {
                self.line(format_args!("{indent}chosen: {}", beginning(label)))
            }
            EventKind::FrameEntered { block, id, .. } => {
                self.line(format_args!("{indent}block {block} (call {id})"));
            }
            EventKind::ImportCalled { alias, .. } => self.line(format_args!("{indent}program {alias}")),
            EventKind::Caught { error, .. } => {
                self.line(format_args!("{indent}caught: {}", beginning(&error.message)));
            }
            _ => {}
        }
    }

    /// Shows the sessions that are at work, unless what happens now is shown already.
    pub(crate) fn show_open(&self, view: &View) {
        if self.is_quiet || self.is_now.replace(true) {
            return;
        }
        for (request, node, task) in view.open_sessions() {
            let nesting = view.node(node).map_or(0, |node| node.nesting);
            self.session_started(request, session_line(nesting, task));
        }
    }

    /// Shows what a person has commanded, as far as other lines do not.
    fn commanded(&self, command: &Command, by: &Attribution) {
        match command {
            Command::Pause => {
                self.line(format_args!("paused {by}; running sessions complete, and no new one starts"))
            }
            Command::Continue => self.line(format_args!("continued {by}")),
            Command::Retry { request } => {
                self.line(format_args!("session {} starts again, asked {by}", request.0))
            }
            Command::SetLimit { limit } => self.line(format_args!("the limit is {limit} now, set {by}")),
            Command::Reply { request, .. } => {
                self.line(format_args!("session {} ends with a reply that was given {by}", request.0));
            }
            Command::Prompt { request, .. } => {
                self.line(format_args!("session {} gets a prompt that was changed {by}", request.0));
            }
            Command::Skip { .. } | Command::Stop => {}
        }
    }

    /// Shows what a backend reports. The view is that of the run after the event.
    pub(crate) fn report(&self, view: &View, event: &Event) {
        let EventKind::Activity { request, activity } = &event.kind else {
            if matches!(event.kind, EventKind::Effect { .. }) {
                self.show_total(view);
            }
            return;
        };
        let task = view.task(*request);
        let agent = task.and_then(|task| task.agent.as_ref());
        let who = agent.map_or(String::new(), |agent| format!("{agent}: "));
        let line = view.line_prefix(event.site);
        let nesting = view.attempt(*request).map_or(0, |(node, _)| node.nesting);
        let indent = indent(nesting);
        match activity {
            Activity::Stalled { silent_ms } => {
                let silent = duration(*silent_ms);
                let limit = match task.and_then(|task| task.timeout) {
                    Some(timeout) => format!("it is cancelled after {}", humantime::format_duration(timeout)),
                    None => "give it a `timeout:` to cancel it".to_owned(),
                };
                self.line(format_args!(
                    "{WARNING}warning{WARNING:#}: {line}{who}no activity for {silent}; {limit}"
                ));
            }
            _ if self.is_quiet => {}
            Activity::ProviderRetry(ProviderRetry { attempt: 0, delay_ms, message, .. }) => {
                let delay = humantime::format_duration(Duration::from_millis(*delay_ms));
                self.line(format_args!("{indent}{who}waits {delay}: {}", beginning(message)));
            }
            Activity::ProviderRetry(retry) => {
                let status = retry.status.map_or(String::new(), |status| format!(" with status {status}"));
                let delay = humantime::format_duration(Duration::from_millis(retry.delay_ms));
                let why = beginning(&retry.message);
                self.line(format_args!("{indent}{who}provider failed{status}, retrying in {delay}: {why}"));
            }
            Activity::Tool(tool)
                if !self.is_live
                    && tool.status != ToolStatus::Pending
                    && self.calls.borrow_mut().insert((*request, tool.id.clone())) =>
            {
                self.line(format_args!("· {indent}{who}{}", beginning(&tool.title)));
            }
            _ => {}
        }
        if let (Some((bar, line)), Some((_, attempt))) =
            (self.running.borrow().get(request), view.attempt(*request))
        {
            let now = view.activity_of(*request);
            let doing = now.map_or(String::new(), |now| now.summary(view.now()));
            let calls = now.map_or(String::new(), |now| now.counted_calls());
            let usage = attempt.usage.map_or(String::new(), usage_text);
            let parts = [line.clone(), beginning(&doing), calls, usage];
            let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            bar.set_message(parts.join(" · "));
        }
        self.show_total(view);
    }

    /// Shows what the run has used up to now.
    fn show_total(&self, view: &View) {
        let Some(usage) = view.root().and_then(|root| root.usage).filter(|_| self.is_live) else { return };
        let mut total = self.total.borrow_mut();
        let bar = total.get_or_insert_with(|| {
            let bar = self.bars.lines.add(ProgressBar::new_spinner());
            if let Ok(style) = ProgressStyle::with_template("  {wide_msg:.dim}") {
                bar.set_style(style);
            }
            bar
        });
        bar.set_message(format!("{} up to now", usage_text(usage)));
    }

    /// Takes the lines away that show what is under way.
    pub(crate) fn finish(&self) {
        // Those of sessions that were interrupted would be drawn again by their clocks.
        for (bar, _) in self.running.borrow().values() {
            bar.finish_and_clear();
        }
        if let Some(bar) = &*self.total.borrow() {
            bar.finish_and_clear();
        }
        _ = self.bars.lines.clear();
    }

    fn session_started(&self, request: RequestId, line: String) {
        let mut running = self.running.borrow_mut();
        if !self.is_live {
            self.line(format_args!("… {line}"));
        } else if running.len() < MAX_SESSIONS {
            let bar = ProgressBar::new_spinner();
            let bar = match &*self.total.borrow() {
                Some(total) => self.bars.lines.insert_before(total, bar),
                None => self.bars.lines.add(bar),
            };
            // What is too long for the terminal is cut off: a line that wraps is not taken away as a whole everywhere.
            if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg} {elapsed:.dim}") {
                bar.set_style(style);
            }
            bar.set_message(line.clone());
            bar.enable_steady_tick(Duration::from_millis(120));
            running.insert(request, (bar, line));
        }
    }

    fn session_ended(&self, request: RequestId, status: Status, line: &str, why: &str, took: u64) {
        if let Some((bar, _)) = self.running.borrow_mut().remove(&request) {
            bar.finish_and_clear();
            self.bars.lines.remove(&bar);
        }
        let took = duration(took);
        match status {
            Status::Complete => self.line(format_args!("{HELP}✓{HELP:#} {line} ({took})")),
            Status::Skipped => self.line(format_args!("– {line} (skipped after {took})")),
            _ => self.line(format_args!("{ERROR}✗{ERROR:#} {line} ({took}){why}")),
        }
    }

    fn line(&self, line: std::fmt::Arguments<'_>) {
        self.bars.around(|out| {
            // Who does not look at the progress does not miss it either.
            _ = writeln!(out, "{line}");
        });
    }
}

/// What is shown of a session.
fn session_line(nesting: u32, task: &SessionTask) -> String {
    let who = task.agent.as_ref().map_or(String::new(), |agent| format!("{agent}: "));
    let retry = match task.attempt {
        0 => String::new(),
        attempt => format!(" (retry {attempt} of {})", task.retries),
    };
    let text = if task.task.is_empty() { task.binding.name.as_str() } else { &task.task };
    format!("{}{who}{}{retry}", indent(nesting), beginning(text))
}

fn indent(nesting: u32) -> String {
    "  ".repeat(nesting.min(12) as usize)
}

/// The beginning of a text, on one line.
fn beginning(text: &str) -> String {
    shorten(&first_line(text), MAX_SHOWN).into_owned()
}
