//! The screen of a run at the terminal of this process.

pub(crate) mod shown;
mod source;
pub(crate) mod window;

use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use prose_tui::ratatui::crossterm::event::{self, Event as Pressed};
use prose_tui::{Action, Now, Outputs, Palette, RunScreen};
use prose_view::View;
use prose_vm::command::Command;
use prose_vm::event::Event;

pub(crate) use self::source::{Elsewhere, Here, Source, send};
use self::window::Window;
use crate::keyboard;
use crate::run::interrupt::Interrupter;
use crate::run::progress::Bars;
use crate::run::terminal_questions::TerminalQuestions;
use crate::terminal::Terminal;

/// How long a run takes before its screen opens: one that is over in a moment would only flicker.
const OPEN_AFTER: Duration = Duration::from_millis(400);

/// How often the screen is drawn.
pub(crate) const FRAME: Duration = Duration::from_millis(100);

/// How often it is looked at whether the screen opens.
const LOOK: Duration = Duration::from_millis(20);

/// How long a screen may take to close.
const CLOSE_TIME: Duration = Duration::from_secs(2);

/// Whether a run is shown on a screen: at a terminal that can be drawn on and read from, unless lines are wanted.
pub(crate) fn fits(is_plain: bool) -> bool {
    let is_dumb = std::env::var_os("TERM").is_some_and(|terminal| terminal == "dumb");
    !is_plain && !is_dumb && io::stderr().is_terminal() && keyboard::can_ask()
}

/// A run as far as its events are known. Who follows the run brings it up to date, and the screen shows it.
#[derive(Clone)]
pub(crate) struct Followed(Arc<Mutex<Moment>>);

/// A run after an event.
#[derive(Default)]
pub(crate) struct Moment {
    pub(crate) view: View,
    /// What sessions write, if it is shown.
    outputs: Option<Outputs>,
    /// When the last event came.
    at: Option<Instant>,
}

impl Followed {
    /// A run before its first event.
    pub(crate) fn new(has_screen: bool) -> Self {
        let outputs = has_screen.then(Outputs::default);
        Self(Arc::new(Mutex::new(Moment { outputs, ..Moment::default() })))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Moment> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Moment {
    /// Adds an event.
    pub(crate) fn apply(&mut self, event: &Event) {
        self.view.apply(event);
        if let Some(outputs) = &mut self.outputs {
            outputs.observe(event);
            self.at = Some(Instant::now());
        }
    }

    /// No event follows: nothing takes longer than the last one says.
    fn stand_still(&mut self) {
        self.at = None;
    }

    fn late(&self) -> u64 {
        self.at.map_or(0, |at| at.elapsed().as_millis() as u64)
    }
}

/// What the screen of a run needs.
pub(crate) struct Host {
    pub(crate) followed: Followed,
    pub(crate) source: Arc<dyn Source>,
    /// The limits of the run, for display.
    pub(crate) limits: String,
    pub(crate) interrupter: Interrupter,
    pub(crate) palette: Palette,
}

/// The colours of a screen.
pub(crate) fn palette(terminal: &Terminal) -> Palette {
    Palette { has_colors: terminal.stderr_has_colors() }
}

/// The thread of a screen. It ends when it is told that the run is over.
pub(crate) struct ScreenThread {
    is_over: Arc<AtomicBool>,
    /// What the thread returns.
    questions: mpsc::Receiver<Option<TerminalQuestions>>,
    bars: Bars,
}

/// Shows a run on a screen while another thread follows it. `bars` are what is shown without the screen.
pub(crate) fn start(host: Host, bars: Bars) -> ScreenThread {
    let is_over = Arc::<AtomicBool>::default();
    // The run must not find itself alone before the thread has started.
    host.source.attend(keyboard::is_foreground());
    let (over, lines) = (Arc::clone(&is_over), bars.clone());
    let (returned, questions) = mpsc::channel();
    let showing = move || drop(returned.send(show(&host, &lines, &over)));
    // Without the thread, the run continues without a screen.
    let _ = thread::Builder::new().name("screen".to_owned()).spawn(showing);
    ScreenThread { is_over, questions, bars }
}

impl ScreenThread {
    /// Closes the screen, and shows the lines that it has hidden.
    pub(crate) fn finish(self) {
        self.is_over.store(true, Ordering::Release);
        // A thread that a closed terminal holds up must not hold up the end of the run.
        let questions = self.questions.recv_timeout(CLOSE_TIME);
        window::restore();
        if let Ok(Some(questions)) = questions {
            questions.finish();
        }
        self.bars.release(false);
    }
}

/// Why a window was closed.
enum Closed {
    /// The run is over.
    Over,
    /// The user wants to see lines.
    Left,
    /// The user goes back to the shell.
    Suspended,
    /// The shell has the terminal.
    Background,
    /// The terminal cannot be used.
    Failed,
}

/// Shows a run until it is over. If the user leaves the screen, returns what asks the questions of the run from then on.
fn show(host: &Host, bars: &Bars, is_over: &AtomicBool) -> Option<TerminalQuestions> {
    let begun = Instant::now();
    let mut screen = RunScreen::new(host.palette);
    loop {
        if is_over.load(Ordering::Acquire) {
            return None;
        }
        let is_time = begun.elapsed() >= OPEN_AFTER || !host.source.questions().is_empty();
        if !is_time || !keyboard::is_foreground() {
            // In the background, a screen that has time to open may be long in coming.
            thread::sleep(if is_time { FRAME } else { LOOK });
            continue;
        }
        bars.hold();
        host.source.attend(true);
        let closed = match Window::open() {
            Ok(mut window) => in_window(host, &mut screen, &mut window, is_over),
            Err(_) => Closed::Failed,
        };
        match closed {
            Closed::Over => return None,
            Closed::Suspended => {
                host.source.attend(false);
                window::suspend();
            }
            Closed::Background => host.source.attend(false),
            Closed::Left | Closed::Failed => {
                bars.release(true);
                return host.source.leave(bars);
            }
        }
    }
}

/// Draws the run and does what keys mean.
fn in_window(host: &Host, screen: &mut RunScreen, window: &mut Window, is_over: &AtomicBool) -> Closed {
    let (news, done) = mpsc::channel::<Result<String, String>>();
    loop {
        if is_over.load(Ordering::Acquire) {
            return Closed::Over;
        }
        if !keyboard::is_foreground() {
            return Closed::Background;
        }
        for outcome in done.try_iter() {
            match outcome {
                Ok(message) => screen.say(&message),
                Err(problem) => screen.report(&problem),
            }
        }
        let questions = host.source.questions();
        let (view, output, late) = {
            let moment = host.followed.lock();
            screen.update(&moment.view);
            let output = screen.selected_request(&moment.view).zip(moment.outputs.as_ref());
            let output = output.and_then(|(request, outputs)| outputs.of(request).cloned());
            (moment.view.clone(), output, moment.late())
        };
        let now =
            Now { view: &view, output: output.as_ref(), questions: &questions, limits: &host.limits, late };
        if window.draw(|frame| screen.draw(frame, &now)).is_err() {
            return Closed::Failed;
        }
        match window::is_pressed(FRAME) {
            Ok(false) => continue,
            Ok(true) => {}
            Err(_) => return Closed::Failed,
        }
        // All keys that were pressed, so that a pasted text is not drawn letter by letter.
        while let Ok(true) = window::is_pressed(Duration::ZERO) {
            let action = match event::read() {
                Ok(Pressed::Key(key)) => screen.key(key, &now),
                Ok(Pressed::Paste(text)) => {
                    screen.paste(&text);
                    None
                }
                Ok(_) => None,
                Err(_) => return Closed::Failed,
            };
            match action {
                None => {}
                Some(Action::Leave) => return Closed::Left,
                Some(Action::Suspend) => return Closed::Suspended,
                Some(Action::Interrupt) if !host.source.ends_with_screen() => return Closed::Left,
                Some(Action::Interrupt) => {
                    host.interrupter.interrupt();
                    screen.say("stopping; Ctrl-C once more ends the agents at once");
                }
                Some(Action::Answer(question, text)) => {
                    let source = Arc::clone(&host.source);
                    spawn(&news, move || source.answer(question, &text).map(|()| "answered".to_owned()));
                }
                Some(Action::Pause) => command(host, &news, Command::Pause, "paused"),
                Some(Action::Continue) => command(host, &news, Command::Continue, "continued"),
                Some(Action::Stop) => command(host, &news, Command::Stop, "stopping"),
                Some(Action::Skip(request)) => command(host, &news, Command::Skip { request }, "skipped"),
                Some(Action::Retry(request)) => {
                    command(host, &news, Command::Retry { request }, "the session starts again");
                }
            }
        }
    }
}

/// Gives the run a command, and tells what came of it.
fn command(host: &Host, news: &mpsc::Sender<Result<String, String>>, command: Command, done: &'static str) {
    let source = Arc::clone(&host.source);
    spawn(news, move || source.command(command).map(|()| done.to_owned()));
}

/// Does something that may take a moment, on a thread of its own: the screen is drawn meanwhile.
pub(crate) fn spawn(
    news: &mpsc::Sender<Result<String, String>>,
    work: impl FnOnce() -> Result<String, String> + Send + 'static,
) {
    let told = news.clone();
    let working = move || drop(told.send(work()));
    if let Err(error) = thread::Builder::new().name("command".to_owned()).spawn(working) {
        _ = news.send(Err(format!("cannot start a thread: {error}")));
    }
}
