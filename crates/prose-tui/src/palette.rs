//! The colours of the screen, or none.

use prose_view::Status;
use ratatui::style::{Color, Modifier, Style};

/// The styles of the screen. Without colours, what stands out does so by weight and by being inverted, so that `NO_COLOR` removes colours and nothing else.
#[derive(Debug, Clone, Copy)]
pub struct Palette {
    /// Whether there are colours.
    pub has_colors: bool,
}

impl Palette {
    fn color(self, color: Color) -> Style {
        if self.has_colors { Style::new().fg(color) } else { Style::new() }
    }

    /// Of the symbol of a status.
    pub(crate) fn status(self, status: Status) -> Style {
        match status {
            Status::Running => self.color(Color::Cyan),
            Status::Waiting => self.color(Color::Yellow),
            Status::Complete => self.color(Color::Green),
            Status::Failed => self.color(Color::Red).add_modifier(Modifier::BOLD),
            Status::Skipped | Status::Interrupted => self.faint(),
        }
    }

    /// Of what is less important than what is around it.
    pub(crate) fn faint(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    /// Of names and titles.
    pub(crate) fn bold(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// Of the selected row.
    pub(crate) fn selected(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    /// Of what waits for the user.
    pub(crate) fn question(self) -> Style {
        self.color(Color::Yellow).add_modifier(Modifier::BOLD)
    }

    /// Of what went wrong.
    pub(crate) fn problem(self) -> Style {
        self.color(Color::Red).add_modifier(Modifier::BOLD)
    }
}
