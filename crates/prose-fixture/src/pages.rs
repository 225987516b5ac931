//! Files in the repository that tests generate, such as the pages of the documentation.

use std::fs;
use std::path::Path;

/// Compares a generated text with its file; `path` is relative to the repository. With the environment variable `UPDATE_EXPECT`, the file is written
/// instead.
///
/// # Panics
///
/// If they differ. The message has the first line that does, and `command`, which updates the file: the arguments of `cargo test`.
#[track_caller]
pub fn check_page(path: &str, generated: &str, command: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    let written = fs::read_to_string(&file).unwrap_or_default();
    let Some(difference) = first_difference(&written, generated) else { return };
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&file, generated).unwrap_or_else(|error| panic!("{path} cannot be written: {error}"));
        return;
    }
    panic!(
        "{path} is generated and out of date, first in {difference}\n\nUpdate it with:\n\n    UPDATE_EXPECT=1 cargo test {command}\n"
    );
}

/// The first line in which two texts differ, as a part of a diff.
fn first_difference(before: &str, after: &str) -> Option<String> {
    if before == after {
        return None;
    }
    let (mut before, mut after) = (before.split('\n'), after.split('\n'));
    for line in 1_usize.. {
        let (old, new) = (before.next(), after.next());
        if old != new {
            let part =
                |sign, line: Option<&str>| line.map(|line| format!("\n{sign} {line}")).unwrap_or_default();
            return Some(format!("line {line}:{}{}", part('-', old), part('+', new)));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::first_difference;

    #[test]
    fn the_first_line_that_differs_is_shown() {
        assert_eq!(first_difference("a\nb\nc\n", "a\nB\nC\n").as_deref(), Some("line 2:\n- b\n+ B"));
        assert_eq!(first_difference("a\n", "a\nb\n").as_deref(), Some("line 2:\n- \n+ b"));
        assert_eq!(first_difference("a\nb", "a").as_deref(), Some("line 2:\n- b"));
        assert_eq!(first_difference("a\n", "a\n"), None);
    }
}
