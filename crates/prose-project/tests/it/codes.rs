//! The examples of the codes that only a network can tell show what they say they show.

use prose_registry::{Hash, Lock, Program, Reference, Source, Timestamp};
use prose_syntax::{Code, Profile, Severity};
use url::Url;

use crate::support::{Checked, Page, REGISTRY, RESEARCH, Web};

const CODES: &[Code] = &[Code::E139, Code::E143, Code::E144, Code::E146, Code::W143, Code::W144, Code::W151];

/// Runs a command.
const BUILDER: &str = "agent builder:\n  permissions:\n    bash: [\"make *\"]\n\noutput found = session: builder\n  prompt: \"Build\"\n";

fn web() -> Web {
    Web::new(&[
        ("https://example.com/research.prose", Page::Text(RESEARCH)),
        ("https://example.com/moved.prose", Page::Moved("https://example.com/research.prose")),
        ("https://example.com/a-page", Page::Text("<!DOCTYPE html>\n<html><body>Research</body></html>\n")),
        ("https://registry.example.com/alice/research", Page::Text(RESEARCH)),
        ("https://registry.example.com/alice/changed", Page::Text(RESEARCH)),
        ("https://registry.example.com/alice/builder", Page::Text(BUILDER)),
    ])
}

/// A lock file in which `alice/changed` is another text than the registry has now.
fn lock() -> Lock {
    let mut lock = Lock::default();
    for (path, text) in [("alice/research", RESEARCH), ("alice/changed", "session \"As it was\"\n")] {
        let reference = Reference::parse(path).unwrap();
        let url = reference.urls(&Url::parse(REGISTRY).unwrap()).remove(0);
        let source = Source::new(reference.to_string(), url, Hash::of(text), Timestamp::now());
        lock.pin(&Program { text: text.into(), source }, None, Timestamp::now());
    }
    lock
}

fn check(code: Code, program: &str) -> Checked {
    let web = web();
    let lock = (code == Code::E146).then(lock);
    web.check_with(program, &web.client(lock))
}

/// The codes of a program, without those that are taken more lightly than `code`.
fn codes(code: Code, program: &str) -> Vec<Code> {
    let level = code.info().level(Profile::Default, false);
    let least = level.severity().unwrap_or(Severity::Hint).min(Severity::Warning);
    let found = check(code, program).found().into_iter();
    found
        .filter(|(severity, found)| found.code == code || *severity <= least)
        .map(|(_, found)| found.code)
        .collect()
}

#[test]
fn the_wrong_program_has_the_diagnostic_and_no_other() {
    for &code in CODES {
        assert_eq!(codes(code, code.info().wrong), [code], "{}", check(code, code.info().wrong).shown());
    }
}

#[test]
fn the_right_program_has_none() {
    for &code in CODES {
        assert_eq!(codes(code, code.info().right), [], "{}", check(code, code.info().right).shown());
    }
}
