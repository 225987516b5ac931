//! The screen of one run: what is selected, and what keys mean.

use prose_view::{Node, NodeId, Status, View};
use prose_vm::effect::RequestId;
use prose_vm::event::RunStatus;
use prose_vm::questions::{OpenQuestion, QuestionId};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use crate::answer::AnswerLine;
use crate::message::Message;
use crate::output::Output;
use crate::palette::Palette;
use crate::tree::{Folding, Row, rows};

/// What is shown of a run at a moment.
#[derive(Debug, Clone, Copy)]
pub struct Now<'a> {
    /// The view of the run.
    pub view: &'a View,
    /// What the [selected session](RunScreen::selected_request) has written.
    pub output: Option<&'a Output>,
    /// The questions that wait for a person, the oldest first.
    pub questions: &'a [OpenQuestion],
    /// The limits of the run, for display.
    pub limits: &'a str,
    /// How many milliseconds ago the last event was.
    pub late: u64,
}

/// What the user wants done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// No session starts any more.
    Pause,
    /// A paused run continues.
    Continue,
    /// The run stops.
    Stop,
    /// A session ends with an empty result.
    Skip(RequestId),
    /// A session starts again.
    Retry(RequestId),
    /// A question is answered with a text.
    Answer(QuestionId, String),
    /// The screen closes, and the run continues.
    Leave,
    /// Ctrl-C.
    Interrupt,
    /// Ctrl-Z.
    Suspend,
}

/// The screen of a run.
#[derive(Debug)]
pub struct RunScreen {
    pub(crate) palette: Palette,
    pub(crate) folding: Folding,
    pub(crate) rows: Vec<Row>,
    /// The revision of the view and the changes of the folding that the rows are of.
    rows_of: Option<(u64, u64)>,
    pub(crate) selected: Option<NodeId>,
    /// Whether what runs is selected as the run continues.
    pub(crate) follows: bool,
    /// The first row that is shown, and how many are.
    pub(crate) first: usize,
    pub(crate) page: usize,
    /// How many lines of the text below its last ones are not shown.
    pub(crate) scrolled: usize,
    pub(crate) mode: Mode,
    /// The answer that was given last, until it is known what came of it.
    answered: Option<(QuestionId, AnswerLine)>,
    pub(crate) message: Option<Message>,
}

/// What keys are for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Mode {
    Tree,
    Answer(QuestionId, AnswerLine),
    ConfirmStop,
    Help,
}

impl RunScreen {
    /// A screen that selects what runs.
    pub fn new(palette: Palette) -> Self {
        Self {
            palette,
            folding: Folding::default(),
            rows: Vec::new(),
            rows_of: None,
            selected: None,
            follows: true,
            first: 0,
            page: 1,
            scrolled: 0,
            mode: Mode::Tree,
            answered: None,
            message: None,
        }
    }

    /// Brings the rows to a view, and the selection to the rows.
    pub fn update(&mut self, view: &View) {
        let of = Some((view.revision(), self.folding.changes));
        if self.rows_of == of {
            return;
        }
        self.rows = rows(view, &self.folding);
        self.rows_of = of;
        if self.follows {
            self.follow(view);
        }
        let has_row = |id: NodeId| self.rows.iter().any(|row| row.id == id);
        let selected = self.selected.filter(|id| has_row(*id)).or_else(|| {
            let around = view.ancestors(self.selected?).map(|(id, _)| id);
            around.into_iter().find(|id| has_row(*id))
        });
        self.select(selected.or_else(|| self.rows.first().map(|row| row.id)));
    }

    /// Selects a session that runs, unless the selected one does.
    fn follow(&mut self, view: &View) {
        let runs = |id: NodeId| {
            view.node(id).is_some_and(|node| node.session().is_some() && node.status == Status::Running)
        };
        if !self.selected.is_some_and(runs) {
            let next = self.rows.iter().map(|row| row.id).find(|id| runs(*id));
            let open = || {
                let is_open = |id: &NodeId| view.node(*id).is_some_and(|node| node.status.is_open());
                self.rows.iter().rev().map(|row| row.id).find(is_open)
            };
            if let Some(id) = next.or_else(open) {
                self.select(Some(id));
            }
        }
    }

    fn select(&mut self, id: Option<NodeId>) {
        if self.selected != id {
            self.scrolled = 0;
        }
        self.selected = id;
    }

    /// The index of the selected row.
    pub(crate) fn index(&self) -> usize {
        self.rows.iter().position(|row| Some(row.id) == self.selected).unwrap_or(0)
    }

    /// The last attempt of the selected session, if one is selected.
    pub fn selected_request(&self, view: &View) -> Option<RequestId> {
        self.selected_session(view).map(|(_, request)| request)
    }

    pub(crate) fn selected_session<'a>(&self, view: &'a View) -> Option<(&'a Node, RequestId)> {
        let node = view.node(self.selected?)?;
        Some((node, node.session()?.attempts.last()?.request))
    }

    /// Says what came of an action.
    pub fn say(&mut self, message: &str) {
        self.answered = None;
        self.message = Some(Message::new(message, false));
    }

    /// Says why an action has no effect. An answer that is refused can be changed.
    pub fn report(&mut self, problem: &str) {
        if let Some((question, line)) = self.answered.take() {
            self.mode = Mode::Answer(question, line);
        }
        self.message = Some(Message::new(problem, true));
    }

    /// Takes a text that was pasted.
    pub fn paste(&mut self, text: &str) {
        if let Mode::Answer(_, line) = &mut self.mode {
            line.insert(text);
        }
    }

    /// Takes a key, and returns what is to be done.
    pub fn key(&mut self, key: KeyEvent, now: &Now<'_>) -> Option<Action> {
        if key.kind == KeyEventKind::Release {
            return None;
        }
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            match key.code {
                KeyCode::Char('c') => return Some(Action::Interrupt),
                KeyCode::Char('z') => return Some(Action::Suspend),
                _ => {}
            }
        }
        self.message = None;
        self.answered = None;
        match std::mem::replace(&mut self.mode, Mode::Tree) {
            Mode::Tree => self.key_in_tree(key, now),
            Mode::Answer(question, line) => self.key_in_answer(question, line, key, now),
            Mode::ConfirmStop => match key.code {
                KeyCode::Char('y' | 'Y') => Some(Action::Stop),
                _ => None,
            },
            // Any key closes the help.
            Mode::Help => None,
        }
    }

    fn key_in_answer(
        &mut self,
        id: QuestionId,
        mut line: AnswerLine,
        key: KeyEvent,
        now: &Now<'_>,
    ) -> Option<Action> {
        let Some(question) = now.questions.iter().find(|question| question.id == id) else {
            self.say("the question was answered elsewhere");
            return None;
        };
        match key.code {
            KeyCode::Esc => return None,
            KeyCode::Enter if !line.text().trim().is_empty() || question.is_optional => {
                let text = line.text();
                self.answered = Some((id, line));
                return Some(Action::Answer(id, text));
            }
            _ => {
                line.key(key);
            }
        }
        self.mode = Mode::Answer(id, line);
        None
    }

    fn key_in_tree(&mut self, key: KeyEvent, now: &Now<'_>) -> Option<Action> {
        let page = self.page.max(1);
        match key.code {
            KeyCode::Char('q') | KeyCode::Esc => return Some(Action::Leave),
            KeyCode::Char('?') => self.mode = Mode::Help,
            KeyCode::Char('a') | KeyCode::Enter if !now.questions.is_empty() => {
                self.mode = Mode::Answer(now.questions[0].id, AnswerLine::default());
            }
            KeyCode::Char('a') if now.view.end().is_some_and(|end| end.status == RunStatus::Waiting) => {
                self.report("no process executes the run; `prose runs answer` answers it, and it continues");
            }
            KeyCode::Char('a') => self.report("the run waits for no answer"),
            KeyCode::Char('p') if now.view.pause().is_some() => return Some(Action::Continue),
            KeyCode::Char('p') => return Some(Action::Pause),
            KeyCode::Char('x') => self.mode = Mode::ConfirmStop,
            KeyCode::Char('s') => return self.session(now.view).map(Action::Skip),
            KeyCode::Char('r') => return self.session(now.view).map(Action::Retry),
            KeyCode::Char('f') => {
                self.follows = !self.follows;
                if self.follows {
                    self.follow(now.view);
                }
            }
            KeyCode::Char('h') => self.folding.toggle_complete(),
            KeyCode::Char('J') => self.scrolled = self.scrolled.saturating_sub(1),
            KeyCode::Char('K') => self.scrolled += 1,
            KeyCode::Up | KeyCode::Char('k') => self.move_to(self.index().saturating_sub(1)),
            KeyCode::Down | KeyCode::Char('j') => self.move_to(self.index() + 1),
            KeyCode::PageUp => self.move_to(self.index().saturating_sub(page)),
            KeyCode::PageDown => self.move_to(self.index() + page),
            KeyCode::Home | KeyCode::Char('g') => self.move_to(0),
            KeyCode::End | KeyCode::Char('G') => self.move_to(usize::MAX),
            KeyCode::Left => self.fold(),
            KeyCode::Right | KeyCode::Enter => self.open(),
            _ => {}
        }
        None
    }

    /// The selected session, if it can be skipped or started again.
    fn session(&mut self, view: &View) -> Option<RequestId> {
        let request = self.selected_session(view).filter(|(node, _)| node.status.is_open());
        if request.is_none() {
            self.report("select a session at work first");
        }
        request.map(|(_, request)| request)
    }

    fn move_to(&mut self, index: usize) {
        self.follows = false;
        let last = self.rows.len().saturating_sub(1);
        let row = self.rows.get(index.min(last)).map(|row| row.id);
        self.select(row);
    }

    /// Folds the selected part; where it is folded, selects the part around it.
    fn fold(&mut self) {
        self.follows = false;
        let index = self.index();
        let Some(row) = self.rows.get(index).copied() else { return };
        if row.is_open == Some(true) {
            self.folding.set(row.id, false);
            return;
        }
        let around = self.rows[..index].iter().rposition(|above| above.depth < row.depth);
        if let Some(around) = around {
            self.move_to(around);
        }
    }

    /// Opens the selected part; where it is open, selects the first part in it.
    fn open(&mut self) {
        self.follows = false;
        let index = self.index();
        match self.rows.get(index) {
            Some(Row { id, is_open: Some(false), .. }) => self.folding.set(*id, true),
            Some(Row { is_open: Some(true), .. }) => self.move_to(index + 1),
            _ => {}
        }
    }
}
