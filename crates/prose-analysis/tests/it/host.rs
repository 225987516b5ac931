//! What the host knows of programs, and what it looks for.

use std::path::Path;
use std::sync::Arc;

use prose_analysis::diagnostics::diagnostics;
use prose_analysis::statements::parse;
use prose_analysis::{AnalysisHost, Text};

/// An editor and `prose check --fix` have texts that are newer than the files.
#[test]
fn a_program_that_was_given_is_not_read_again() {
    let mut host = AnalysisHost::default();
    let importer = host.set_text(Path::new("/a.prose"), Text::new("use \"./b.prose\" as b\n\noutput b()\n"));
    host.set_text(Path::new("/b.prose"), Text::new("output \"new\"\n"));
    let mut read = Vec::new();
    host.load_imports(importer, |path| {
        read.push(path.to_owned());
        Some("session 'old'\n".to_owned())
    });
    assert_eq!(read, <[&Path; 0]>::default());
    assert_eq!(importer.text(host.db()).as_str(), "use \"./b.prose\" as b\n\noutput b()\n");
    assert_eq!(diagnostics(host.db(), importer).len(), 0, "{:?}", diagnostics(host.db(), importer));
}

#[test]
fn a_program_that_is_given_while_it_is_looked_for_is_not_read_again() {
    let mut host = AnalysisHost::default();
    let importer = host.set_text(Path::new("/a.prose"), Text::new("use \"./b.prose\" as b\n\noutput b()\n"));
    diagnostics(host.db(), importer);
    let imported = host.set_text(Path::new("/b.prose"), Text::new("output \"new\"\n"));
    host.load_imports(importer, |path| panic!("{path:?} is known"));
    assert_eq!(imported.text(host.db()).as_str(), "output \"new\"\n");
}

#[test]
fn nothing_is_kept_of_a_program_that_was_removed() {
    let mut host = AnalysisHost::default();
    let path = Path::new("/a.prose");
    let file = host.set_text(path, Text::new("let x = session \"Go\"\n"));
    diagnostics(host.db(), file);
    let text = Arc::downgrade(&file.text(host.db()).shared());
    let tree = Arc::downgrade(parse(host.db(), file));
    assert!(text.upgrade().is_some() && tree.upgrade().is_some());
    host.remove(path);
    // What is thrown away is so with the next change.
    host.set_text(Path::new("/b.prose"), Text::new(""));
    assert!(text.upgrade().is_none() && tree.upgrade().is_none());
}

/// Programs that import each other in a circle, one with a mistake of its own and one with a wrong argument.
const CIRCLE: [(&str, &str); 3] = [
    ("/a.prose", "use \"./b.prose\" as b\n\nlet x = b(topic: \"tides\")\noutput y = session: nobody\n"),
    ("/b.prose", "use \"./c.prose\" as c\n\ninput topic: \"What\"\noutput found = c(subject: \"{topic}\")\n"),
    (
        "/c.prose",
        "use \"./a.prose\" as a\n\ninput text: \"What\"\nlet unused = session \"Go\"\noutput x = a()\n",
    ),
];

fn loaded(programs: &[(&str, &str)]) -> AnalysisHost {
    let mut host = AnalysisHost::default();
    for (path, text) in programs {
        host.set_text(Path::new(path), Text::new(*text));
    }
    host
}

fn findings(host: &AnalysisHost) -> Vec<String> {
    let mut found = Vec::new();
    for (path, _) in CIRCLE {
        let file = host.file(Path::new(path)).unwrap();
        let named = |diagnostic| format!("{path} {diagnostic:?}");
        found.extend(diagnostics(host.db(), file).iter().map(named));
    }
    found
}

fn release_all(host: &mut AnalysisHost) {
    let files: Vec<_> = host.files().collect();
    host.release_trees(&files);
}

#[test]
fn of_programs_whose_trees_are_released_the_findings_stay() {
    let mut host = loaded(&CIRCLE);
    let before = findings(&host);
    assert!(before.len() >= 6, "{before:#?}");
    let file = host.file(Path::new("/a.prose")).unwrap();
    let tree = Arc::downgrade(parse(host.db(), file));
    release_all(&mut host);
    assert_eq!(findings(&host), before);
    host.set_text(Path::new("/other.prose"), Text::new(""));
    assert!(tree.upgrade().is_none(), "the findings need no tree");
    assert_eq!(findings(&host), before);
    // What else is asked is computed again.
    assert_eq!(parse(host.db(), file).syntax().text().to_string(), CIRCLE[0].1);
    release_all(&mut host);
    assert_eq!(findings(&host), before);
}

#[test]
fn findings_that_stay_change_with_everything_that_they_depend_on() {
    let edits = [
        ("/a.prose", "session \"Go\"\n"),
        (
            "/b.prose",
            "input topic: \"What\"\ninput other: \"What\"\noutput found = session \"{topic} {other}\"\n",
        ),
        ("/c.prose", "use \"./a.prose\" as a\n\ninput subject: \"What\"\noutput x = session \"{subject}\"\n"),
        ("/c.prose", "use \"./d.prose\" as d\n\noutput x = d()\n"),
        ("/d.prose", "output x = session: nobody\n"),
    ];
    for release_again in [false, true] {
        let mut host = loaded(&CIRCLE);
        let mut programs = CIRCLE.to_vec();
        for edit in edits {
            if release_again || programs.len() == CIRCLE.len() {
                release_all(&mut host);
            }
            host.set_text(Path::new(edit.0), Text::new(edit.1));
            programs.push(edit);
            assert_eq!(findings(&host), findings(&loaded(&programs)), "after {edit:?}");
        }
        release_all(&mut host);
        host.remove(Path::new("/d.prose"));
        programs.pop();
        assert_eq!(findings(&host), findings(&loaded(&programs)), "without `/d.prose`");
    }
}
