//! Compares a program with the one that a run was started with.

use prose_vm::event::RunHead;
use prose_vm::program::Program;

/// The first difference between the program that a run was started with and the current one; `None` if they are equal. `before` is the text that the
/// run has stored.
pub(crate) fn first_difference(head: &RunHead, before: Option<&str>, now: &Program) -> Option<String> {
    if head.sha256 != now.sha256 {
        return Some(match before.and_then(|before| first_line(before, &now.text)) {
            Some(difference) => difference,
            None => "its text differs".to_owned(),
        });
    }
    let imports = now.imported();
    for (path, sha256) in &head.imports {
        match imports.iter().find(|(other, _)| other == path) {
            None => return Some(format!("the import `{path}` was removed or cannot be read")),
            Some((_, other)) if other != sha256 => {
                return Some(format!("the imported program `{path}` differs"));
            }
            Some(_) => {}
        }
    }
    let new = imports.iter().find(|(path, _)| head.imports.iter().all(|(known, _)| known != path));
    new.map(|(path, _)| format!("the import `{path}` is new"))
}

fn first_line(before: &str, now: &str) -> Option<String> {
    let mut lines = before.lines();
    let mut others = now.lines();
    for number in 1.. {
        match (lines.next(), others.next()) {
            (None, None) => return None,
            (before, now) if before == now => {}
            (before, now) => {
                let shown = |line: Option<&str>| match line {
                    Some(line) => format!("`{}`", line.trim_end()),
                    None => "nothing".to_owned(),
                };
                return Some(format!("line {number} was {} and is {}", shown(before), shown(now)));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_differs_is_shown() {
        assert_eq!(first_line("a\nb\n", "a\nc\n").as_deref(), Some("line 2 was `b` and is `c`"));
        assert_eq!(first_line("a\n", "a\nb").as_deref(), Some("line 2 was nothing and is `b`"));
        assert_eq!(first_line("a\n", "a\r\n"), None);
    }
}
