//! The extension of Visual Studio Code: its own tests, and what its package holds.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

use prose_tests::repository;

#[test]
#[ignore = "needs npm"]
fn the_extension_passes_its_tests() {
    let _alone = alone_in_the_folder();
    run(&mut Command::new(extension().join("run-tests")));
}

#[test]
#[ignore = "needs npm and unzip"]
fn the_package_holds_what_the_editor_needs_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let package = folder.path().join("openprose.vsix");
    {
        let _alone = alone_in_the_folder();
        run(Command::new(extension().join("package")).arg(&package));
    }

    let list = run(Command::new("unzip").arg("-Z1").arg(&package));
    let mut files: Vec<_> = list.lines().collect();
    files.sort_unstable();
    assert_eq!(
        files,
        [
            "[Content_Types].xml",
            "extension.vsixmanifest",
            "extension/LICENSE-APACHE",
            "extension/LICENSE-MIT",
            "extension/LICENSE.txt",
            "extension/dist/extension.js",
            "extension/dist/panel-style.css",
            "extension/dist/panel.js",
            "extension/dist/prose.tmLanguage.json",
            "extension/dist/third-party-licenses.txt",
            "extension/language-configuration.json",
            "extension/package.json",
            "extension/readme.md",
        ]
    );

    let contents = folder.path().join("contents");
    run(Command::new("unzip").arg("-q").arg(&package).arg("-d").arg(&contents));
    run(Command::new("node").arg("--check").arg(contents.join("extension/dist/extension.js")));
    let grammar = "prose.tmLanguage.json";
    assert_eq!(
        fs::read(contents.join("extension/dist").join(grammar)).unwrap(),
        fs::read(repository().join("syntaxes").join(grammar)).unwrap(),
        "the packaged grammar is not the one in `syntaxes`"
    );
    let size = fs::metadata(&package).unwrap().len();
    assert!(size < 300_000, "the package has grown to {size} bytes");
}

/// Where packages come from is the choice of whoever installs them.
#[test]
fn lock_files_name_no_registry() {
    for lock_file in
        ["editors/vscode/package-lock.json", "syntaxes/package-lock.json", "tests/agents/package-lock.json"]
    {
        let text = fs::read_to_string(repository().join(lock_file)).unwrap();
        let lines: Vec<_> = text.lines().filter(|line| line.contains("\"resolved\"")).collect();
        assert!(lines.is_empty(), "{lock_file} has addresses of packages:\n{}", lines.join("\n"));
    }
}

fn extension() -> PathBuf {
    repository().join("editors/vscode")
}

/// Both tests install packages into the extension's folder and build there.
fn alone_in_the_folder() -> MutexGuard<'static, ()> {
    static FOLDER: Mutex<()> = Mutex::new(());
    FOLDER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a command that must succeed, and returns what it writes.
#[track_caller]
fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?} does not start: {error}"));
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?} failed, {}:\n{stdout}{stderr}", output.status);
    stdout.into_owned()
}
