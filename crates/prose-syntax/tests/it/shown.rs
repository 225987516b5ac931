//! Shows what is reported about a program, where, and what fixes it.

use expect_test::Expect;
use prose_fixture::{dedent, wording};
use prose_syntax::{FixSafety, TextRange, TextSize, parse};

/// Checks what is reported about a program: each diagnostic stands below its line, with what its fix would write. The program is
/// what is left without these lines.
#[track_caller]
pub(crate) fn check(expect: Expect) {
    let shown = dedent(expect.data());
    let program: String = shown.split_inclusive('\n').filter(|line| !is_about_line_above(line)).collect();
    check_text(&program, expect);
}

/// Whether a line shows a diagnostic or a fix.
fn is_about_line_above(line: &str) -> bool {
    let line = line.trim_start_matches(' ');
    let label = line.trim_start_matches('^');
    let is_diagnostic = ["error[", "warning[", "info[", "hint["]
        .iter()
        .any(|severity| label.len() < line.len() && label.trim_start().starts_with(severity));
    is_diagnostic || line.starts_with("fix: ") || line.starts_with("guess: ")
}

/// The same for a program with white space that would be lost between the lines of what is reported.
#[track_caller]
pub(crate) fn check_text(text: &str, expect: Expect) {
    let parse = parse(text);
    for found in parse.diagnostics() {
        wording::check_message(&found.message);
        for fix in found.fix.iter().chain(&found.other_fixes) {
            wording::check_title(&fix.title);
        }
    }
    assert_eq!(parse.syntax().text().to_string(), text);
    let mut shown = String::new();
    let mut start = TextSize::new(0);
    for line in text.split_inclusive('\n') {
        let range = TextRange::at(start, TextSize::of(line));
        start = range.end();
        shown.push_str(line);
        for found in parse.diagnostics() {
            let is_here = range.contains(found.range.start())
                || (range.end() == TextSize::of(text) && found.range.start() == range.end());
            if !is_here {
                continue;
            }
            let indent = usize::from(found.range.start() - range.start());
            let marks = "^".repeat(text[found.range].chars().count().max(1));
            let column = line.get(..indent).map_or(indent, |before| before.chars().count());
            shown.push_str(&format!(
                "{:column$}{marks} {}[{}] {}\n",
                "",
                found.severity(),
                found.code,
                found.message
            ));
            if let Some(fix) = &found.fix {
                let mut mended = text.to_owned();
                for edit in fix.edits.iter().rev() {
                    mended.replace_range(std::ops::Range::<usize>::from(edit.range), &edit.new_text);
                }
                let kind = if fix.safety == FixSafety::Safe { "fix" } else { "guess" };
                let changed: Vec<&str> = changed_lines(text, &mended);
                shown.push_str(&format!("{:column$}{kind}: {} => {:?}\n", "", fix.title, changed.join("\n")));
            }
        }
    }
    expect.assert_eq(&shown);
}

/// The lines of `new` that are not at the same place, from the start or the end, in `old`.
fn changed_lines<'a>(old: &str, new: &'a str) -> Vec<&'a str> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let before = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let rest = old.len().min(new.len()) - before;
    let after = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
    new[before..new.len() - after].to_vec()
}
