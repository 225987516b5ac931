//! What came of an action, in the last line of a screen for a while.

use ratatui::style::Style;
use ratatui::text::Line;

use crate::palette::Palette;
use crate::text::{fitted, one_line};

/// How often a screen is drawn with a message before the keys are shown again, unless one is pressed before: some seconds.
const DRAWINGS: u32 = 40;

/// What came of an action.
#[derive(Debug)]
pub(crate) struct Message {
    text: String,
    is_problem: bool,
    drawings_left: u32,
}

impl Message {
    /// A message that is shown from now on.
    pub(crate) fn new(text: &str, is_problem: bool) -> Self {
        Self { text: one_line(text).into_owned(), is_problem, drawings_left: DRAWINGS }
    }

    /// Counts a drawing.
    pub(crate) fn age(message: &mut Option<Self>) {
        if let Some(shown) = message {
            shown.drawings_left -= 1;
            if shown.drawings_left == 0 {
                *message = None;
            }
        }
    }

    /// The line with it.
    pub(crate) fn line(&self, width: usize, palette: Palette) -> Line<'static> {
        let style = if self.is_problem { palette.problem() } else { Style::new() };
        Line::styled(fitted(&self.text, width).into_owned(), style)
    }
}
