//! The extension of Visual Studio Code: its own tests, and what its package holds.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use prose_tests::vscode::{alone_in_the_folder, package, web_package};
use prose_tests::{prose_binary, repository};

#[test]
#[ignore = "needs npm and chromium"]
fn the_extension_passes_its_tests() {
    let _alone = alone_in_the_folder();
    run(Command::new(extension().join("run-tests")).env("PROSE_BINARY", prose_binary()));
}

#[test]
#[ignore = "needs npm and unzip"]
fn the_package_holds_what_the_editor_needs_and_nothing_else() {
    let folder = prose_fixture::tempdir().unwrap();
    let package = package();
    assert_eq!(contents(package), WITHOUT_PROGRAM);

    let contents = folder.path().join("contents");
    run(Command::new("unzip").arg("-q").arg(package).arg("-d").arg(&contents));
    let built = contents.join("extension/dist");
    run(Command::new("node").arg("--check").arg(built.join("extension.js")));
    for copied in [
        "syntaxes/prose.tmLanguage.json",
        "syntaxes/prose.markdown.tmLanguage.json",
        "docs/prose.schema.json",
    ] {
        let original = repository().join(copied);
        let copy = built.join(original.file_name().unwrap());
        assert_eq!(fs::read(copy).unwrap(), fs::read(&original).unwrap(), "the packaged copy of {copied}");
    }
    let size = fs::metadata(package).unwrap().len();
    assert!(size < 300_000, "the package has grown to {size} bytes");
}

#[test]
#[ignore = "needs npm, unzip and the target wasm32-wasip1"]
fn the_package_for_the_web_has_the_language_as_a_module() {
    let unpacked = prose_fixture::tempdir().unwrap();
    run(Command::new("unzip").arg("-q").arg(web_package()).arg("-d").arg(unpacked.path()));
    let manifest = fs::read_to_string(unpacked.path().join("extension.vsixmanifest")).unwrap();
    assert!(manifest.contains("TargetPlatform=\"web\""), "{manifest}");
    let extension = unpacked.path().join("extension");
    let package = fs::read_to_string(extension.join("package.json")).unwrap();
    // There is no other host of extensions than the browser.
    assert!(package.contains("\"browser\"") && !package.contains("\"main\""), "{package}");
    let module = fs::read(extension.join("dist/prose_web.wasm")).unwrap();
    assert!(module.starts_with(b"\0asm"));
    let script = fs::read_to_string(extension.join("dist/extension.js")).unwrap();
    assert!(!script.contains("node:"), "the script needs Node.js");
    assert!(fs::metadata(web_package()).unwrap().len() < 2_500_000);
}

/// The program here is a stand-in: that the real one leaves the package below its limit is for `editors/vscode/package` to see each time.
#[test]
#[ignore = "needs npm and unzip"]
fn packages_for_one_system_have_the_program_in_them() {
    for (target, name) in [("darwin-arm64", "prose"), ("win32-x64", "prose.exe")] {
        let folder = prose_fixture::tempdir().unwrap();
        let program = folder.path().join("built");
        fs::write(&program, "#!/bin/sh\necho started with \"$@\"\n").unwrap();
        let options = ["--target", target, "--binary", program.to_str().unwrap()];
        let package = packaged(folder.path(), &options);

        let name = format!("extension/server/{name}");
        let mut expected: Vec<_> =
            WITHOUT_PROGRAM.iter().map(|&file| file.to_owned()).chain([name.clone()]).collect();
        expected.sort_unstable();
        assert_eq!(contents(&package), expected);
        let unpacked = folder.path().join("contents");
        run(Command::new("unzip").arg("-q").arg(&package).arg("-d").arg(&unpacked));
        assert_eq!(run(Command::new(unpacked.join(name)).arg("lsp")), "started with lsp\n");
        let manifest = fs::read_to_string(unpacked.join("extension.vsixmanifest")).unwrap();
        assert!(manifest.contains(&format!("TargetPlatform=\"{target}\"")), "{manifest}");
    }
}

#[test]
#[ignore = "needs code-server"]
fn the_editor_installs_the_package_for_its_system() {
    let _alone = alone_in_the_folder();
    let script = repository().join("tests/packages");
    run(Command::new(script).arg("--debug").arg(prose_binary()).arg("extension"));
}

#[test]
#[ignore = "needs npm"]
fn packages_that_nobody_could_use_are_not_made() {
    let folder = prose_fixture::tempdir().unwrap();
    let file = folder.path().join("openprose.vsix");
    let refusal = |options: &[&str]| {
        let _alone = alone_in_the_folder();
        let output = Command::new(extension().join("package")).args(options).arg(&file).output().unwrap();
        assert!(!output.status.success(), "{options:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(
        refusal(&["--target", "plan9"]).contains("unknown target plan9; expected web or one of linux-x64, ")
    );
    assert!(refusal(&["--target", "linux-x64"]).contains("--target requires --binary"));
    assert!(
        refusal(&["--target", "linux-x64", "--binary", "/nowhere/prose"])
            .contains("`/nowhere/prose` does not exist")
    );
    assert!(refusal(&["--binary", "/bin/sh"]).contains("--binary requires --target"));
    // Random bytes get no smaller in a package.
    let large = folder.path().join("large");
    let bytes: Vec<u8> = std::iter::repeat_with(|| fastrand::u8(..)).take(30_000_000).collect();
    fs::write(&large, bytes).unwrap();
    let options = ["--target", "linux-x64", "--binary", large.to_str().unwrap()];
    assert!(refusal(&options).contains("more than the limit of 30000000"));
}

const WITHOUT_PROGRAM: &[&str] = &[
    "[Content_Types].xml",
    "extension.vsixmanifest",
    "extension/LICENSE-APACHE",
    "extension/LICENSE-MIT",
    "extension/LICENSE.txt",
    "extension/dist/compare.js",
    "extension/dist/extension.js",
    "extension/dist/flow.js",
    "extension/dist/panel-style.css",
    "extension/dist/panel.js",
    "extension/dist/prose.markdown.tmLanguage.json",
    "extension/dist/prose.schema.json",
    "extension/dist/prose.tmLanguage.json",
    "extension/dist/test.schema.json",
    "extension/dist/third-party-licenses.txt",
    "extension/images/icon.png",
    "extension/images/prose-dark.svg",
    "extension/images/prose-light.svg",
    "extension/language-configuration.json",
    "extension/package.json",
    "extension/readme.md",
    "extension/walkthrough/check.md",
    "extension/walkthrough/harness.md",
    "extension/walkthrough/resume.md",
    "extension/walkthrough/run.md",
    "extension/walkthrough/write.md",
];

fn packaged(folder: &Path, options: &[&str]) -> PathBuf {
    let package = folder.join("openprose.vsix");
    let _alone = alone_in_the_folder();
    run(Command::new(extension().join("package")).args(options).arg(&package));
    package
}

/// The names of the files in a package, in order.
fn contents(package: &Path) -> Vec<String> {
    let list = run(Command::new("unzip").arg("-Z1").arg(package));
    let mut files: Vec<_> = list.lines().map(str::to_owned).collect();
    files.sort_unstable();
    files
}

/// Where packages come from is the choice of whoever installs them.
#[test]
fn lock_files_name_no_registry() {
    for lock_file in [
        "editors/vscode/package-lock.json",
        "syntaxes/package-lock.json",
        "tests/acp-agents/package-lock.json",
        "tests/agents/package-lock.json",
        "tests/vscode/package-lock.json",
    ] {
        let text = fs::read_to_string(repository().join(lock_file)).unwrap();
        let lines: Vec<_> = text.lines().filter(|line| line.contains("\"resolved\"")).collect();
        assert!(lines.is_empty(), "{lock_file} has addresses of packages:\n{}", lines.join("\n"));
    }
}

fn extension() -> PathBuf {
    repository().join("editors/vscode")
}

/// Runs a command that must succeed, and returns what it writes.
#[track_caller]
fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?} does not start: {error}"));
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?} failed, {}:\n{stdout}{stderr}", output.status);
    stdout.into_owned()
}
