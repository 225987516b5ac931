//! The line in which an answer is typed.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// A line of text with a cursor.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct AnswerLine {
    text: Vec<char>,
    /// Before which character the cursor stands.
    cursor: usize,
}

impl AnswerLine {
    /// The text.
    pub fn text(&self) -> String {
        self.text.iter().collect()
    }

    /// The text before the cursor.
    pub fn before_cursor(&self) -> String {
        self.text[..self.cursor].iter().collect()
    }

    /// Inserts a text, such as one that is pasted: the breaks of its lines become spaces.
    pub fn insert(&mut self, text: &str) {
        for character in text.trim_end_matches(['\r', '\n']).chars() {
            let character = if matches!(character, '\n' | '\r' | '\t') { ' ' } else { character };
            if !character.is_control() {
                self.text.insert(self.cursor, character);
                self.cursor += 1;
            }
        }
    }

    /// Does what a key does in a line of text. Returns whether it does anything.
    pub fn key(&mut self, key: KeyEvent) -> bool {
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('u') if is_control => {
                self.text.drain(..self.cursor);
                self.cursor = 0;
            }
            KeyCode::Char('k') if is_control => self.text.truncate(self.cursor),
            KeyCode::Char('w') if is_control => {
                let is_space = |character: &&char| character.is_whitespace();
                let typed = &self.text[..self.cursor];
                let spaces = typed.iter().rev().take_while(is_space).count();
                let rest = &typed[..self.cursor - spaces];
                let word = rest.iter().rev().take_while(|character| !character.is_whitespace()).count();
                self.text.drain(self.cursor - spaces - word..self.cursor);
                self.cursor -= spaces + word;
            }
            KeyCode::Char('a') if is_control => self.cursor = 0,
            KeyCode::Char('e') if is_control => self.cursor = self.text.len(),
            KeyCode::Char(character) if !is_control => self.insert(character.encode_utf8(&mut [0; 4])),
            KeyCode::Backspace if self.cursor > 0 => {
                self.cursor -= 1;
                self.text.remove(self.cursor);
            }
            KeyCode::Delete if self.cursor < self.text.len() => drop(self.text.remove(self.cursor)),
            KeyCode::Left => self.cursor = self.cursor.saturating_sub(1),
            KeyCode::Right => self.cursor = (self.cursor + 1).min(self.text.len()),
            KeyCode::Home => self.cursor = 0,
            KeyCode::End => self.cursor = self.text.len(),
            _ => return false,
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(keys: &[(KeyCode, KeyModifiers)], expected: &str) {
        let mut line = AnswerLine::default();
        line.insert("high and low");
        for (code, modifiers) in keys {
            line.key(KeyEvent::new(*code, *modifiers));
        }
        assert_eq!(
            format!("{}|{}", line.before_cursor(), &line.text()[line.before_cursor().len()..]),
            expected
        );
    }

    #[test]
    fn keys_change_the_text_at_the_cursor() {
        use KeyCode::{Backspace, Char, Delete, End, Home, Left};
        let (none, control) = (KeyModifiers::NONE, KeyModifiers::CONTROL);
        check(&[(Char('!'), none)], "high and low!|");
        check(&[(Left, none), (Backspace, none), (Char('é'), none)], "high and lé|w");
        check(&[(Home, none), (Delete, none), (Char('H'), none)], "H|igh and low");
        check(&[(Char('w'), control), (Char('w'), control)], "high |");
        check(&[(Left, none), (Left, none), (Left, none), (Char('u'), control)], "|low");
        check(&[(Char('a'), control), (Char('k'), control), (Backspace, none), (End, none)], "|");
    }

    #[test]
    fn a_pasted_text_is_one_line() {
        let mut line = AnswerLine::default();
        line.insert("one\r\ntwo\u{1b}[2J\n");
        assert_eq!(line.text(), "one  two[2J");
    }
}
