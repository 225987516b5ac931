//! `prose check` on the programs that the makers of the language publish.

use std::process::Command;

use serde_json::Value;

/// Some of the published programs show what is planned and are declared not to work yet.
const PLANNED: &str = "/roadmap/";

#[test]
#[ignore = "needs the official programs, see tests/fetch-official-programs"]
fn official_programs_have_no_errors() {
    let folder = prose_tests::official_programs();
    let output = Command::new(prose_tests::prose_binary())
        .current_dir(&folder)
        .args(["check", "--quiet", "--output-format", "json"])
        // The programs import others that this test is not about.
        .env("PROSE_OFFLINE", "1")
        .output()
        .expect("the binary starts");
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    let findings: Vec<Value> = serde_json::from_slice(&output.stdout).expect("the output is JSON");
    let errors: Vec<&Value> = findings
        .iter()
        .filter(|finding| finding["severity"] == "error")
        .filter(|finding| !finding["path"].as_str().unwrap_or_default().replace('\\', "/").contains(PLANNED))
        .collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

#[test]
#[ignore = "needs the official programs, see tests/fetch-official-programs"]
fn the_summary_counts_every_official_program() {
    let folder = prose_tests::official_programs();
    let output = Command::new(prose_tests::prose_binary())
        .current_dir(&folder)
        .args(["check", "examples", "lib"])
        .env("PROSE_OFFLINE", "1")
        .output()
        .expect("the binary starts");
    let summary = String::from_utf8_lossy(&output.stderr);
    assert!(summary.contains(" of 64 files"), "{summary}");
}
