//! The list of the runs of a project.

use ratatui::Frame;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::layout::{Constraint, Layout};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;
use smol_str::SmolStr;

use crate::draw::key_line;
use crate::keys::{KeyHelp, TOP_KEYS};
use crate::message::Message;
use crate::palette::Palette;
use crate::text::{columns, fitted, one_line};

/// A run in the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopRun {
    /// Its id.
    pub id: SmolStr,
    /// Its program.
    pub program: String,
    /// How it stands, in a word.
    pub status: &'static str,
    /// Whether a process executes it.
    pub is_executed: bool,
    /// Whether it is paused.
    pub is_paused: bool,
    /// Whether it waits for a person, or has failed.
    pub needs_attention: bool,
    /// How long it has worked, for display.
    pub took: String,
    /// How many sessions it has had, for display.
    pub sessions: String,
    /// What it has used, for display.
    pub usage: String,
    /// What it waits for, or why it failed.
    pub about: String,
}

/// What the user wants done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TopAction {
    /// A run is shown.
    Show(SmolStr),
    /// A run is paused.
    Pause(SmolStr),
    /// A paused run continues.
    Continue(SmolStr),
    /// A run stops.
    Stop(SmolStr),
    /// The list closes.
    Leave,
    /// Ctrl-Z.
    Suspend,
}

/// The list of runs.
#[derive(Debug)]
pub struct Top {
    palette: Palette,
    /// The folder of the project, for display.
    folder: String,
    runs: Vec<TopRun>,
    selected: Option<SmolStr>,
    first: usize,
    page: usize,
    hides_ended: bool,
    is_stopping: bool,
    message: Option<Message>,
}

impl Top {
    /// A list without runs, of the project in a folder.
    pub fn new(palette: Palette, folder: &str) -> Self {
        Self {
            palette,
            folder: one_line(folder).into_owned(),
            runs: Vec::new(),
            selected: None,
            first: 0,
            page: 1,
            hides_ended: false,
            is_stopping: false,
            message: None,
        }
    }

    /// Takes the runs as they are now, in the order in which they are shown.
    pub fn update(&mut self, runs: Vec<TopRun>) {
        self.runs = runs;
    }

    /// Says what came of an action.
    pub fn say(&mut self, message: &str) {
        self.message = Some(Message::new(message, false));
    }

    /// Says why an action has no effect.
    pub fn report(&mut self, problem: &str) {
        self.message = Some(Message::new(problem, true));
    }

    fn shown(&self) -> Vec<&TopRun> {
        self.runs
            .iter()
            .filter(|run| !self.hides_ended || run.is_executed || run.status == "waiting")
            .collect()
    }

    fn index(&self) -> usize {
        self.shown().iter().position(|run| Some(&run.id) == self.selected.as_ref()).unwrap_or(0)
    }

    fn move_to(&mut self, index: usize) {
        let shown = self.shown();
        self.selected = shown.get(index.min(shown.len().saturating_sub(1))).map(|run| run.id.clone());
    }

    /// Takes a key, and returns what is to be done.
    pub fn key(&mut self, key: KeyEvent) -> Option<TopAction> {
        if key.kind == KeyEventKind::Release {
            return None;
        }
        self.message = None;
        let run = self.shown().get(self.index()).map(|run| (*run).clone());
        if std::mem::take(&mut self.is_stopping) {
            return match key.code {
                KeyCode::Char('y' | 'Y') => run.map(|run| TopAction::Stop(run.id)),
                _ => None,
            };
        }
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        let page = self.page.max(1);
        match key.code {
            KeyCode::Char('c') if is_control => return Some(TopAction::Leave),
            KeyCode::Char('z') if is_control => return Some(TopAction::Suspend),
            KeyCode::Char('q') | KeyCode::Esc => return Some(TopAction::Leave),
            KeyCode::Enter => return run.map(|run| TopAction::Show(run.id)),
            KeyCode::Char('h') => self.hides_ended = !self.hides_ended,
            KeyCode::Up | KeyCode::Char('k') => self.move_to(self.index().saturating_sub(1)),
            KeyCode::Down | KeyCode::Char('j') => self.move_to(self.index() + 1),
            KeyCode::PageUp => self.move_to(self.index().saturating_sub(page)),
            KeyCode::PageDown => self.move_to(self.index() + page),
            KeyCode::Home => self.move_to(0),
            KeyCode::End => self.move_to(usize::MAX),
            KeyCode::Char('p' | 'x') => match run {
                Some(run) if !run.is_executed => {
                    self.report(&format!("run {} is not being executed ({})", run.id, run.status));
                }
                Some(run) if key.code == KeyCode::Char('x') => {
                    self.selected = Some(run.id);
                    self.is_stopping = true;
                }
                Some(run) if run.is_paused => return Some(TopAction::Continue(run.id)),
                Some(run) => return Some(TopAction::Pause(run.id)),
                None => {}
            },
            _ => {}
        }
        None
    }

    /// Draws the list, whatever the size of the screen.
    pub fn draw(&mut self, frame: &mut Frame<'_>) {
        let area = frame.area();
        let [head, list, foot] =
            Layout::vertical([Constraint::Length(2), Constraint::Min(0), Constraint::Length(1)]).areas(area);
        let width = usize::from(area.width);
        let index = self.index();
        self.page = usize::from(list.height);
        self.first = self.first.min(index).max((index + 1).saturating_sub(self.page.max(1)));
        let (palette, shown) = (self.palette, self.shown());
        let executed = self.runs.iter().filter(|run| run.is_executed).count();
        let count = format!("{} of {} at work", executed, self.runs.len());
        let folder = fitted(&self.folder, width.saturating_sub(columns(&count) + 1)).into_owned();
        let gap = " ".repeat(width.saturating_sub(columns(&count) + columns(&folder)));
        let title = Line::from(vec![Span::styled(folder, palette.bold()), Span::raw(gap), Span::raw(count)]);
        frame.render_widget(Paragraph::new(vec![title]), head);
        let cells = |run: &TopRun| {
            [
                run.id.to_string(),
                run.status.to_owned(),
                run.took.clone(),
                run.sessions.clone(),
                run.usage.clone(),
            ]
        };
        let widths: [usize; 5] = std::array::from_fn(|column| {
            shown.iter().map(|run| columns(&cells(run)[column])).max().unwrap_or(0)
        });
        let lines: Vec<Line<'_>> = shown
            .iter()
            .enumerate()
            .skip(self.first)
            .take(self.page)
            .map(|(number, run)| {
                let mut text = String::new();
                for (cell, wide) in cells(run).iter().zip(widths).filter(|(_, wide)| *wide > 0) {
                    text += cell;
                    text += &" ".repeat(wide - columns(cell) + 2);
                }
                text += &one_line(&run.program);
                if !run.about.is_empty() {
                    text += &format!("  {}", one_line(&run.about));
                }
                let text = fitted(&text, width).into_owned();
                let padded = format!("{text}{}", " ".repeat(width.saturating_sub(columns(&text))));
                let style = match run {
                    run if run.needs_attention => palette.question(),
                    run if run.is_executed => Style::new(),
                    _ => palette.faint(),
                };
                let line = Line::styled(padded, style);
                if number == index { line.style(palette.selected()) } else { line }
            })
            .collect();
        if lines.is_empty() {
            let why = match self.runs.is_empty() {
                true => "There are no runs; `prose run` starts one.",
                false => "All runs have ended, and those are hidden; `h` shows them.",
            };
            frame.render_widget(Paragraph::new(why), list);
        }
        frame.render_widget(Paragraph::new(lines), list);
        Message::age(&mut self.message);
        let last = match (&self.message, self.is_stopping) {
            (Some(message), _) => message.line(width, palette),
            (None, true) => {
                Line::styled("Stop the run? y stops it, any other key does not.", palette.question())
            }
            (None, false) => {
                let short = |key: &KeyHelp| {
                    if key.keys == "h" && self.hides_ended { "show ended" } else { key.short }
                };
                key_line(TOP_KEYS.iter().map(|key| (key.keys, short(key))), width, palette)
            }
        };
        frame.render_widget(Paragraph::new(last), foot);
    }
}
