//! The tree-sitter grammar in its own tools: the generated parser is up to date, the trees of its corpus, and its bindings.

use std::process::Command;

use prose_tests::repository;

#[test]
#[ignore = "needs npm and tree-sitter"]
fn the_corpus_and_the_bindings_are_sound() {
    let script = repository().join("syntaxes/tree-sitter-prose/run-tests");
    let output = Command::new(&script).output().expect("`run-tests` starts");
    assert!(
        output.status.success(),
        "`{}` failed:\n{}{}",
        script.display(),
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
}
