//! The examples in the reference of keywords and properties are programs that nothing is wrong with.

use crate::support::{analysed, found};
use prose_fixture::{Fixture, render};
use prose_syntax::{Profile, Severity, keywords, properties};

const RESEARCH: &str =
    "//- /research.prose\ninput topic: \"What to read on\"\noutput findings = session \"Read on {topic}\"\n";

#[test]
fn examples_have_no_mistakes() {
    let keywords = keywords::REFERENCE.iter().map(|keyword| (keyword.text(), keyword.example));
    let properties = properties::PROPERTIES
        .iter()
        .chain(properties::PERMISSIONS)
        .map(|property| (property.name, property.example));
    for (name, example) in keywords.chain(properties) {
        let fixture = Fixture::parse(&format!("//- /main.prose\n{example}{RESEARCH}"));
        let (host, files) = analysed(&fixture);
        let mistakes: Vec<_> = found(&host, files[0], Profile::Default)
            .into_iter()
            .filter(|(severity, _)| *severity <= Severity::Warning)
            .map(|(severity, diagnostic)| {
                (diagnostic.range, format!("{severity}[{}] {}", diagnostic.code, diagnostic.message))
            })
            .collect();
        assert!(
            mistakes.is_empty(),
            "the example of `{name}` has mistakes:\n\n{}",
            render(&fixture.files[0].text, &mistakes)
        );
    }
}
