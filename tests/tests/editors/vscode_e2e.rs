//! A real editor: Visual Studio Code as a server, shown by a browser, with the packaged extension. What is done in it and what is to be
//! seen then stands in `tests/vscode`.

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::process::{Child, Command, Stdio};

use prose_fixture::postgres::PostgresServer;
use prose_tests::vscode::{node, web_package};
use prose_tests::{prose_binary, repository};

#[test]
#[ignore = "needs code-server and chromium"]
fn programs_are_written_with_help() {
    drive("features.test.mjs");
}

#[test]
#[ignore = "needs code-server and chromium"]
fn programs_are_run_watched_cancelled_and_resumed() {
    drive("runs.test.mjs");
}

#[test]
#[ignore = "needs code-server and chromium"]
fn programs_and_runs_are_debugged() {
    drive("debug.test.mjs");
}

#[test]
#[ignore = "needs code-server and chromium"]
fn tests_are_run_debugged_and_covered() {
    drive("testing.test.mjs");
}

#[test]
#[ignore = "needs code-server and chromium"]
fn programs_in_markdown_are_programs() {
    drive("markdown.test.mjs");
}

#[test]
#[ignore = "needs code-server and chromium"]
fn folders_that_are_not_trusted_run_and_fetch_nothing() {
    drive("trust.test.mjs");
}

#[test]
#[ignore = "needs code-server and chromium"]
fn windows_without_programs_have_no_server() {
    drive("idle.test.mjs");
}

/// A server of PostgreSQL and a worker, which the editor runs a program on.
#[test]
#[ignore = "needs code-server, chromium and postgresql"]
fn programs_are_run_on_a_cluster() {
    let server = PostgresServer::start();
    let worker = Command::new(prose_binary())
        .args(["worker", "--on", &server.url()])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .expect("the binary starts");
    let _worker = Stopped(worker);
    drive_with("cluster.test.mjs", &[("PROSE_CLUSTER_URL", server.url().as_ref())]);
}

/// A process that ends with this value.
struct Stopped(Child);

impl Drop for Stopped {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The extension for Visual Studio Code for the Web, which the worker of the browser runs.
#[test]
#[ignore = "needs code-server, chromium and the target wasm32-wasip1"]
fn programs_are_written_and_run_in_a_browser_alone() {
    drive_with("web.test.mjs", &[("PROSE_WEB_VSIX", web_package().as_ref())]);
}

/// A test that nobody starts would never fail.
#[test]
fn every_file_of_tests_is_driven() {
    let here = fs::read_to_string(repository().join("tests/tests/editors/vscode_e2e.rs")).unwrap();
    for entry in fs::read_dir(repository().join("tests/vscode")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name.ends_with(".test.mjs") {
            assert!(here.contains(&format!("(\"{name}\"")), "nothing starts {name}");
        }
    }
}

/// Runs a file of tests.
#[track_caller]
fn drive(tests: &str) {
    drive_with(tests, &[]);
}

/// The same with more variables.
#[track_caller]
fn drive_with(tests: &str, variables: &[(&str, &OsStr)]) {
    let mut command = node(&["--test", "--test-reporter=spec"], tests);
    let output = command.envs(variables.iter().copied()).output().unwrap();
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{tests} failed, {}:\n{stdout}{stderr}", output.status);
    for line in stdout.lines().filter(|line| line.contains("SECOND TRY")) {
        // Past the capture of the test, which has passed.
        let _ = writeln!(std::io::stderr(), "warning: {tests}: {line}");
    }
}
