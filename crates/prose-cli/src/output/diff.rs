//! Unified diffs for `patch` and `git apply`.

use std::borrow::Cow;
use std::fmt::Write;
use std::time::Duration;

use similar::{ChangeTag, TextDiff};

use crate::terminal::{BOLD, ERROR, HELP, one_line};

/// The target of a diff.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct DiffTarget {
    /// Whether styles are used.
    pub(crate) styled: bool,
    /// Whether the target is a terminal, which control characters in the program would affect. Other targets need the exact bytes.
    pub(crate) on_terminal: bool,
}

/// The time limit for a minimal diff, after which any correct diff is used: a program with a million changed lines would take hours.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The change from `old` to `new`.
pub(crate) fn render(name: &str, old: &str, new: &str, look: DiffTarget) -> String {
    render_between([name, name], old, new, look)
}

/// The change between two texts with names of their own.
pub(crate) fn render_between(names: [&str; 2], old: &str, new: &str, look: DiffTarget) -> String {
    // Diff tools only support lines that end in a line feed.
    let old_lines: Vec<&str> = old.split_inclusive('\n').collect();
    let new_lines: Vec<&str> = new.split_inclusive('\n').collect();
    let diff = TextDiff::configure().timeout(TIMEOUT).diff_slices(&old_lines, &new_lines);
    let [old_name, new_name] = names.map(one_line);
    let mut drawn = String::new();
    look.line(BOLD, &format!("--- {old_name}\n"), &mut drawn);
    look.line(BOLD, &format!("+++ {new_name}\n"), &mut drawn);
    for hunk in diff.unified_diff().iter_hunks() {
        look.line(HELP, &format!("{}\n", hunk.header()), &mut drawn);
        for change in hunk.iter_changes() {
            let (style, sign) = match change.tag() {
                ChangeTag::Equal => (anstyle::Style::new(), ' '),
                ChangeTag::Delete => (ERROR, '-'),
                ChangeTag::Insert => (anstyle::AnsiColor::Green.on_default(), '+'),
            };
            look.line(style, &format!("{sign}{}", look.shown(change.value())), &mut drawn);
            if !change.value().ends_with('\n') {
                drawn.push_str("\n\\ No newline at end of file\n");
            }
        }
    }
    drawn
}

impl DiffTarget {
    fn shown(self, line: &str) -> Cow<'_, str> {
        if !self.on_terminal {
            return Cow::Borrowed(line);
        }
        let (text, line_break) = match line.strip_suffix('\n') {
            Some(text) => (text.strip_suffix('\r').unwrap_or(text), "\n"),
            None => (line, ""),
        };
        // Tabs are harmless and more readable unescaped.
        let parts: Vec<Cow<'_, str>> = text.split('\t').map(one_line).collect();
        Cow::Owned(parts.join("\t") + line_break)
    }

    fn line(self, style: anstyle::Style, line: &str, drawn: &mut String) {
        let (text, line_break) = match line.strip_suffix('\n') {
            Some(text) => (text, "\n"),
            None => (line, ""),
        };
        let written = if self.styled && !style.is_plain() {
            write!(drawn, "{style}{text}{style:#}{line_break}")
        } else {
            drawn.write_str(line)
        };
        debug_assert!(written.is_ok(), "writing to a string cannot fail");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    #[track_caller]
    fn check(old: &str, new: &str, look: DiffTarget, expected: Expect) {
        let shown = render("a.prose", old, new, look).replace('\r', "␍").replace('\u{1b}', "␛");
        expected.assert_eq(&shown);
    }

    #[test]
    fn three_lines_around_a_change_are_shown() {
        check(
            "1\n2\n3\n4\n5\n6\n7\n8\n9\n",
            "1\n2\n3\n4\nfive\n6\n7\n8\n9\n",
            DiffTarget::default(),
            expect![[r#"
                --- a.prose
                +++ a.prose
                @@ -2,7 +2,7 @@
                 2
                 3
                 4
                -5
                +five
                 6
                 7
                 8
            "#]],
        );
    }

    #[test]
    fn a_missing_last_line_break_is_said() {
        check(
            "a\r\nb",
            "a\r\nb\r",
            DiffTarget::default(),
            expect![[r#"
            --- a.prose
            +++ a.prose
            @@ -1,2 +1,2 @@
             a␍
            -b
            \ No newline at end of file
            +b␍
            \ No newline at end of file
        "#]],
        );
    }

    #[test]
    fn a_terminal_gets_no_control_characters_of_the_program() {
        check(
            "\ta \u{1b}[31m\r\n",
            "\tb \u{1b}[31m\r\n",
            DiffTarget { styled: false, on_terminal: true },
            expect![[r#"
                --- a.prose
                +++ a.prose
                @@ -1 +1 @@
                -	a \u{1b}[31m
                +	b \u{1b}[31m
            "#]],
        );
    }

    #[test]
    fn changes_are_coloured() {
        check(
            "a\n",
            "b\n",
            DiffTarget { styled: true, on_terminal: false },
            expect![[r#"
            ␛[1m--- a.prose␛[0m
            ␛[1m+++ a.prose␛[0m
            ␛[1m␛[96m@@ -1 +1 @@␛[0m
            ␛[1m␛[91m-a␛[0m
            ␛[32m+b␛[0m
        "#]],
        );
    }
}
