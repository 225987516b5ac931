//! The fixtures of the TextMate grammar, run by the engine that Visual Studio Code uses.

use std::path::Path;
use std::process::Command;

#[test]
#[ignore = "needs npm"]
fn the_grammar_colours_its_fixtures_as_they_say() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../syntaxes/test");
    let output = Command::new(&script).output().expect("`syntaxes/test` starts");
    assert!(
        output.status.success(),
        "`syntaxes/test` failed:\n{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
}
