//! What is typed: lines, as they are read.

/// What was typed.
#[derive(Debug)]
pub(crate) enum Typed {
    /// A line without its end.
    Line(String),
    /// A line that is not UTF-8.
    NotText,
    /// The end of the input: no more lines follow.
    Closed,
    #[cfg_attr(not(unix), allow(dead_code, reason = "consoles have no background"))]
    /// Nothing: the process is in the background now, and its terminal belongs to another one.
    Background,
}

/// The bytes that were read: lines, and the beginning of one that was not typed to its end.
#[derive(Debug)]
pub(super) struct Pending(pub(super) Vec<u8>);

impl Pending {
    /// Removes the first line, if it is complete or nothing follows it.
    pub(super) fn take_line(&mut self, is_last: bool) -> Option<Typed> {
        let end = match self.0.iter().position(|byte| *byte == b'\n') {
            Some(at) => at + 1,
            None if is_last && !self.0.is_empty() => self.0.len(),
            None => return None,
        };
        let line: Vec<u8> = self.0.drain(..end).collect();
        let line = String::from_utf8(line).map(|line| line.trim_end_matches(['\n', '\r']).to_owned());
        Some(line.map_or(Typed::NotText, Typed::Line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], is_last: bool, expected: &[&str]) {
        let mut pending = Pending(bytes.to_vec());
        let lines = std::iter::from_fn(|| pending.take_line(is_last)).map(|line| format!("{line:?}"));
        assert_eq!(lines.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn lines_are_taken_when_they_are_complete() {
        check(b"a\r\nb\nc", false, &["Line(\"a\")", "Line(\"b\")"]);
        check(b"\nc", true, &["Line(\"\")", "Line(\"c\")"]);
        check(b"caf\xe9\n", false, &["NotText"]);
        check(b"", true, &[]);
    }
}
