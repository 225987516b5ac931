//! The fixtures of the TextMate grammar, run by the engine that Visual Studio Code uses.

use std::process::Command;

use prose_tests::repository;

#[test]
#[ignore = "needs npm"]
fn the_grammar_colours_its_fixtures_as_they_say() {
    let script = repository().join("syntaxes/run-tests");
    let output = Command::new(&script).output().expect("`syntaxes/run-tests` starts");
    assert!(
        output.status.success(),
        "`syntaxes/run-tests` failed:\n{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
}
