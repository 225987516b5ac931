//! What the tests of this crate share.

use expect_test::Expect;
use prose_config::Config;
use prose_fixture::{Fixture, dedent, render};
use prose_syntax::{Diagnostic, FixSafety};

/// Checks what is said about settings, as marks below their lines. Returns the settings that are in effect all the same.
#[track_caller]
pub(crate) fn check(marked: Expect) -> Config {
    let unmarked = render(&Fixture::parse(marked.data()).files[0].text, &[]);
    check_text(&unmarked, marked)
}

/// The same for settings that are used without their marks, too.
#[track_caller]
pub(crate) fn check_text(text: &str, expect: Expect) -> Config {
    let text = &dedent(text);
    let (config, problems) = Config::parse(text);
    expect.assert_eq(&render(text, &problems.iter().map(labelled).collect::<Vec<_>>()));
    config
}

fn labelled(problem: &Diagnostic) -> (prose_syntax::TextRange, String) {
    let Diagnostic { code, message, .. } = problem;
    let fix = problem.fix.as_ref().map_or_else(String::new, |fix| {
        let safety = if fix.safety == FixSafety::Safe { "fix" } else { "guess" };
        format!(" ({safety}: {})", fix.title)
    });
    (problem.range, format!("{}[{code}] {message}{fix}", problem.severity()))
}

/// The text after all fixes.
pub(crate) fn mended(text: &str) -> String {
    let mut mended = text.to_owned();
    let (_, problems) = Config::parse(text);
    let edits = problems.into_iter().filter_map(|problem| problem.fix).flat_map(|fix| fix.edits);
    for edit in edits.collect::<Vec<_>>().iter().rev() {
        mended.replace_range(std::ops::Range::<usize>::from(edit.range), &edit.new_text);
    }
    mended
}
