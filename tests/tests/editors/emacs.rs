//! A real editor: Emacs with the package of this repository and its own client of the language server.

use std::path::PathBuf;
use std::process::Command;

use prose_tests::{in_trixie, prose_binary, repository};

#[test]
#[ignore = "needs Debian trixie in tests/.cache"]
fn programs_are_written_and_run() {
    let (package, home) = (package(), prose_fixture::tempdir().unwrap());
    let mut tests = emacs(&home);
    tests.env("PROSE", prose_binary()).arg("-L").arg(&package);
    tests.arg("-l").arg(package.join("test/openprose-tests.el")).args(["-f", "ert-run-tests-batch-and-exit"]);
    let output = output(tests);
    assert!(output.contains("0 unexpected"), "{output}");
}

#[test]
#[ignore = "needs Debian trixie in tests/.cache"]
fn the_package_is_installed_without_a_warning() {
    let home = prose_fixture::tempdir().unwrap();
    let file = package().join("openprose-mode.el");
    let install = format!(
        "(progn (require 'package) (setq package-archives nil byte-compile-error-on-warn t) (package-initialize)
           (package-install-file {file:?}))"
    );
    let installed = output(with_lisp(&home, &install));
    assert!(!installed.contains("Warning"), "{installed}");
    let style =
        output(with_lisp(&home, &format!("(progn (setq vc-handled-backends nil) (checkdoc-file {file:?}))")));
    assert_eq!(style, "");
    // As a person has it from now on, who has loaded nothing.
    let opened =
        r#"(progn (require 'package) (package-initialize) (find-file "new.prose") (princ major-mode))"#;
    assert_eq!(output(with_lisp(&home, opened)), "openprose-mode");
}

fn package() -> PathBuf {
    repository().join("editors/emacs")
}

/// An Emacs without a window and with a home of its own.
fn emacs(home: &tempfile::TempDir) -> Command {
    let mut command = in_trixie(&[prose_binary().parent().unwrap()]);
    command.env("HOME", home.path()).current_dir(home.path()).args(["emacs", "--batch", "--no-site-file"]);
    command
}

fn with_lisp(home: &tempfile::TempDir, lisp: &str) -> Command {
    let mut command = emacs(home);
    command.args(["--eval", lisp]);
    command
}

/// What a command that must succeed writes to either output.
#[track_caller]
fn output(mut command: Command) -> String {
    let output = command.output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    assert!(output.status.success(), "{}:\n{text}", output.status);
    text
}
