//! Runs the analysis on fixtures and compares what it finds with the marks in them.

use std::path::Path;

use expect_test::Expect;
use prose_analysis::diagnostics::diagnostics;
use prose_analysis::{AnalysisHost, SourceFile, Text};
use prose_fixture::{Fixture, FixtureFile, wording};
use prose_syntax::{Code, Diagnostic, Profile, Severity, fix};

/// The programs of a fixture, analysed together. A path that is no file of the fixture is known to be missing.
pub(crate) fn analysed(fixture: &Fixture) -> (AnalysisHost, Vec<SourceFile>) {
    let mut host = AnalysisHost::default();
    let texts = fixture.files.iter().filter(|file| file.path.ends_with(".prose"));
    let files: Vec<SourceFile> =
        texts.map(|file| host.set_text(Path::new(&file.path), Text::new(&*file.text))).collect();
    for file in &files {
        host.load_imports(*file, |_| None);
    }
    (host, files)
}

/// What is reported for a program in a profile, in words that keep to the rules of messages.
#[track_caller]
pub(crate) fn found(host: &AnalysisHost, file: SourceFile, profile: Profile) -> Vec<(Severity, Diagnostic)> {
    let diagnostics = diagnostics(host.db(), file);
    for diagnostic in diagnostics.iter() {
        wording::check_message(&diagnostic.message);
        for fix in diagnostic.fix.iter().chain(&diagnostic.other_fixes) {
            wording::check_title(&fix.title);
        }
        for related in &diagnostic.related {
            wording::check_message(&related.message);
        }
    }
    diagnostics
        .iter()
        .filter_map(|diagnostic| Some((diagnostic.level(profile).severity()?, diagnostic.clone())))
        .collect()
}

/// The diagnostics of the default profile are those that the fixture marks; hints need a mark only where one is marked.
#[track_caller]
pub(crate) fn check(fixture: &str) {
    check_in(Profile::Default, fixture);
}

/// The diagnostics of the strict profile are those that the fixture marks.
#[track_caller]
pub(crate) fn check_strict(fixture: &str) {
    check_in(Profile::Strict, fixture);
}

/// A rule of the reference: what the strict profile reports is marked in the wrong program, and it reports nothing about the right one.
#[track_caller]
pub(crate) fn check_rule(wrong: &str, right: &str) {
    let has_marks = |program| Fixture::parse(program).files.iter().any(|file| !file.marks.is_empty());
    assert!(has_marks(wrong) && !has_marks(right), "only the wrong program has marks");
    check_strict(wrong);
    check_strict(right);
}

#[track_caller]
pub(crate) fn check_in(profile: Profile, fixture: &str) {
    let fixture = Fixture::parse(fixture);
    let (host, files) = analysed(&fixture);
    let sources: Vec<&FixtureFile> =
        fixture.files.iter().filter(|file| file.path.ends_with(".prose")).collect();
    for (source, file) in sources.into_iter().zip(files) {
        let wants_hints = source.marks.iter().any(|mark| mark.severity == "hint");
        let found = found(&host, file, profile).into_iter();
        let found = found.filter(|(severity, _)| wants_hints || *severity != Severity::Hint);
        let labels: Vec<_> = found
            .map(|(severity, diagnostic)| {
                (diagnostic.range, format!("{severity}[{}] {}", diagnostic.code, diagnostic.message))
            })
            .collect();
        source.check(&labels);
    }
}

/// The codes that a program has, without those that are taken more lightly than `code`.
pub(crate) fn codes(program: &str, profile: Profile, code: Code) -> Vec<Code> {
    let text =
        if program.starts_with("//- ") { program.to_owned() } else { format!("//- /main.prose\n{program}") };
    let fixture = Fixture::parse(&text);
    let (host, files) = analysed(&fixture);
    let Some(file) = files.first() else { return Vec::new() };
    let least = code.info().level(profile, false).severity().unwrap_or(Severity::Hint).min(Severity::Warning);
    found(&host, *file, profile)
        .into_iter()
        .filter(|(severity, found)| found.code == code || *severity <= least)
        .map(|(_, found)| found.code)
        .collect()
}

/// The text of a program of one file and its diagnostics, without those of variables that are never read.
pub(crate) fn unmarked(program: &str) -> (String, Vec<Diagnostic>) {
    let fixture = Fixture::parse(program);
    let (host, files) = analysed(&fixture);
    let found = found(&host, files[0], Profile::Default);
    let found = found.into_iter().map(|(_, diagnostic)| diagnostic);
    (fixture.files[0].text.clone(), found.filter(|found| found.code != Code::W115).collect())
}

/// The program after each of the fixes of its only diagnostic.
#[track_caller]
pub(crate) fn check_fixes(program: &str, expected: Expect) {
    let (text, found) = unmarked(program);
    let [diagnostic] = found.as_slice() else { panic!("one diagnostic is wanted: {found:#?}") };
    let fixes = diagnostic.fix.iter().chain(&diagnostic.other_fixes);
    let fixed = fixes.map(|fix| format!("{}:\n{}", fix.title, fix::apply(&text, [fix]).text));
    expected.assert_eq(&fixed.collect::<Vec<_>>().join("\n"));
}

/// What the only diagnostic points to besides its own place.
#[track_caller]
pub(crate) fn check_related(program: &str, expected: Expect) {
    let (text, found) = unmarked(program);
    let [diagnostic] = found.as_slice() else { panic!("one diagnostic is wanted: {found:#?}") };
    let related = diagnostic.related.iter().map(|related| {
        let start = usize::from(related.range.start());
        let line = text[..start].matches('\n').count() + 1;
        format!("line {line}, `{}`: {}\n", &text[start..usize::from(related.range.end())], related.message)
    });
    expected.assert_eq(&related.collect::<String>());
}

/// What the fixes of a code's first diagnostic make of the first program, in the default profile or wherever it is reported: the lines that
/// change, below the title of each fix.
pub(crate) fn fixes(fixture: &str, code: Code) -> String {
    let fixture = Fixture::parse(fixture);
    let (host, files) = analysed(&fixture);
    let text = &fixture.files[0].text;
    let diagnostics = diagnostics(host.db(), files[0]);
    let diagnostic = diagnostics.iter().find(|diagnostic| diagnostic.code == code);
    let diagnostic = diagnostic.unwrap_or_else(|| panic!("there is no {code} in\n{text}"));
    let mut shown = String::new();
    for fix in diagnostic.fix.iter().chain(&diagnostic.other_fixes) {
        let fixed = prose_syntax::fix::apply(text, [fix]).text;
        let (before, after): (Vec<_>, Vec<_>) = (text.lines().collect(), fixed.lines().collect());
        let same = before.iter().zip(&after).take_while(|(a, b)| a == b).count();
        let left = before.len().min(after.len()) - same;
        let pairs = before.iter().rev().zip(after.iter().rev());
        let same_after = pairs.take(left).take_while(|(a, b)| a == b).count();
        let changed = &after[same..after.len() - same_after];
        let safety = match fix.safety {
            prose_syntax::FixSafety::Safe => "safe",
            prose_syntax::FixSafety::Unsafe => "guess",
        };
        shown += &format!("{} ({safety})\n", fix.title);
        shown.extend(changed.iter().map(|line| format!("| {line}\n")));
    }
    shown
}

/// The places that a code's first diagnostic in the first program points to.
pub(crate) fn related(fixture: &str, code: Code) -> String {
    let fixture = Fixture::parse(fixture);
    let (host, files) = analysed(&fixture);
    let diagnostics = diagnostics(host.db(), files[0]);
    let diagnostic = diagnostics.iter().find(|diagnostic| diagnostic.code == code);
    let diagnostic = diagnostic.unwrap_or_else(|| panic!("there is no {code}"));
    let mut shown = String::new();
    for related in &diagnostic.related {
        let path = related.path.as_deref().unwrap_or(&fixture.files[0].path);
        let text = fixture.text(path).expect("related places are in the files of the fixture");
        let line = text[..usize::from(related.range.start())].matches('\n').count() + 1;
        let place = &text[std::ops::Range::<usize>::from(related.range)];
        shown += &format!("{path}:{line} `{place}`: {}\n", related.message);
    }
    shown
}

/// What the fixes of a code's first diagnostic make of the first program, see [`fixes`].
#[track_caller]
pub(crate) fn check_fixes_of(code: Code, program: &str, expected: Expect) {
    expected.assert_eq(&fixes(program, code));
}

/// The places that a code's first diagnostic points to, see [`related`].
#[track_caller]
pub(crate) fn check_related_of(code: Code, program: &str, expected: Expect) {
    expected.assert_eq(&related(program, code));
}
