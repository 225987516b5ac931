//! The playground: a page in real browsers, with the language as a WebAssembly module.

use std::process::Command;

use prose_tests::repository;

#[test]
#[ignore = "needs npm, the target wasm32-wasip1, chromium, firefox and mdBook"]
fn the_page_passes_its_tests() {
    let output = Command::new(repository().join("editors/playground/run-tests")).output().unwrap();
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "the tests of the page failed, {}:\n{stdout}{stderr}", output.status);
}
