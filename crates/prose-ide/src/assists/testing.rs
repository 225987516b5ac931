//! Helpers for the tests of the assists.

use expect_test::Expect;
use prose_analysis::diagnostics::diagnostics;
use prose_analysis::{AnalysisHost, Text};
use prose_fixture::Fixture;
use prose_syntax::{Fix, Severity, TextRange, fix};

use super::{Assist, assists, organize_uses};

/// The assists at the cursor or the selection of a fixture of one file.
#[track_caller]
fn offered(fixture: &str) -> (String, Vec<Assist>) {
    let fixture = Fixture::parse(fixture);
    let range = match (fixture.cursor, fixture.selection) {
        (Some((_, at)), _) => TextRange::empty(at),
        (_, Some((_, range))) => range,
        _ => TextRange::default(),
    };
    let text = fixture.files[0].text.clone();
    let mut host = AnalysisHost::default();
    let file = host.set_text("/main.prose".as_ref(), Text::new(&*text));
    let mut found = assists(host.db(), file, range);
    found.extend(organize_uses(host.db(), file));
    (text, found)
}

/// The text after an assist, which adds no error.
#[track_caller]
pub(super) fn applied(text: &str, assist: &Assist) -> String {
    let fix = Fix::safe("Assist", assist.edits.clone());
    let applied = fix::apply(text, [&fix]);
    assert_eq!(applied.applied, [0], "edits overlap or change nothing: {assist:#?}");
    let errors = |text: &str| {
        let mut host = AnalysisHost::default();
        let file = host.set_text("/main.prose".as_ref(), Text::new(text));
        let found = diagnostics(host.db(), file).iter();
        found.filter(|found| found.severity() == Severity::Error).count()
    };
    assert!(errors(&applied.text) <= errors(text), "errors in\n{}", applied.text);
    applied.text
}

/// The label, and the text after the assist whose label starts so, with the made-up name between `«` and `»`.
#[track_caller]
pub(super) fn check(label: &str, fixture: &str, expected: Expect) {
    let (text, found) = offered(fixture);
    let Some(assist) = found.iter().find(|assist| assist.label.starts_with(label)) else {
        panic!("only these are offered: {found:#?}");
    };
    let mut applied = applied(&text, assist);
    if let Some(name) = assist.new_name {
        applied.insert(name.end().into(), '»');
        applied.insert(name.start().into(), '«');
    }
    expected.assert_eq(&applied.replace('\r', "␍"));
}

/// No assist whose label starts so is offered.
#[track_caller]
pub(super) fn check_none(label: &str, fixture: &str) {
    let (_, found) = offered(fixture);
    let found = found.iter().find(|assist| assist.label.starts_with(label));
    assert_eq!(found, None);
}
