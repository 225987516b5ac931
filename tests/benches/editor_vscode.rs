//! How long Visual Studio Code takes to show a mistake in a program, beside what its own JSON extension takes for one in a JSON file.

use prose_tests::vscode::node;

fn main() {
    let status = node(&[], "benchmark.mjs").status().expect("Node.js starts");
    assert!(status.success(), "the measurement failed, {status}");
}
