//! A screen of a run, with keys.

use expect_test::Expect;
use prose_tui::ratatui::Terminal;
use prose_tui::ratatui::backend::TestBackend;
use prose_tui::ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use prose_tui::{Action, Now, Outputs, Palette, RunScreen};
use prose_view::View;
use prose_vm::event::Event;
use prose_vm::questions::OpenQuestion;

/// A run on a screen.
pub(crate) struct Shown {
    pub(crate) view: View,
    pub(crate) outputs: Outputs,
    pub(crate) questions: Vec<OpenQuestion>,
    pub(crate) screen: RunScreen,
    terminal: Terminal<TestBackend>,
}

impl Shown {
    /// The run after some events, on a screen of a size.
    pub(crate) fn of(events: &[Event], (width, height): (u16, u16)) -> Self {
        let mut shown = Self {
            view: View::default(),
            outputs: Outputs::default(),
            questions: Vec::new(),
            screen: RunScreen::new(Palette { has_colors: true }),
            terminal: Terminal::new(TestBackend::new(width, height)).unwrap(),
        };
        events.iter().for_each(|event| shown.observe(event));
        shown.draw();
        shown
    }

    pub(crate) fn observe(&mut self, event: &Event) {
        self.view.apply(event);
        self.outputs.observe(event);
    }

    /// What is drawn, line by line.
    pub(crate) fn draw(&mut self) -> String {
        self.screen.update(&self.view);
        let output = self.screen.selected_request(&self.view).and_then(|request| self.outputs.of(request));
        let now =
            Now { view: &self.view, output, questions: &self.questions, limits: "at most $5", late: 300 };
        self.terminal.draw(|frame| self.screen.draw(frame, &now)).unwrap();
        let buffer = self.terminal.backend().buffer();
        let mut lines = String::new();
        for y in 0..buffer.area.height {
            let cells = (0..buffer.area.width).map(|x| buffer[(x, y)].symbol());
            lines += cells.collect::<String>().trim_end();
            lines.push('\n');
        }
        lines
    }

    /// Presses a key.
    pub(crate) fn press(&mut self, code: KeyCode) -> Option<Action> {
        self.press_with(code, KeyModifiers::NONE)
    }

    pub(crate) fn press_with(&mut self, code: KeyCode, modifiers: KeyModifiers) -> Option<Action> {
        let now = Now { view: &self.view, output: None, questions: &self.questions, limits: "", late: 0 };
        let action = self.screen.key(KeyEvent::new(code, modifiers), &now);
        self.draw();
        action
    }

    /// Types a text.
    pub(crate) fn types(&mut self, text: &str) {
        for character in text.chars() {
            assert_eq!(self.press(KeyCode::Char(character)), None, "{character}");
        }
    }

    #[track_caller]
    pub(crate) fn check(&mut self, expected: &Expect) {
        expected.assert_eq(&self.draw());
    }

    pub(crate) fn resize(&mut self, width: u16, height: u16) {
        self.terminal.backend_mut().resize(width, height);
    }
}
