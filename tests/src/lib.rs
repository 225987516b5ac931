//! What the end-to-end tests share.

pub mod agents;
#[cfg(unix)]
pub mod drivers;
pub mod fault_proxy;
pub mod lsp;
pub mod namespaces;
pub mod planted;
pub mod registry;
#[cfg(unix)]
pub mod rules;
#[cfg(unix)]
pub mod served;
#[cfg(unix)]
pub mod tools;
pub mod vscode;
pub mod workspace;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Where the official programs are that show what is planned, and are declared not to work yet.
pub const PLANNED: &str = "examples/roadmap/";

/// The root of the repository.
pub fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("this package is a folder of the repository")
}

/// The folder of the official programs and documents. Only tests that are ignored by default may ask for it.
#[track_caller]
pub fn official_programs() -> PathBuf {
    let folder = std::env::var_os("PROSE_OFFICIAL_PROGRAMS")
        .map_or_else(|| repository().join("tests/.cache/official"), PathBuf::from);
    assert!(
        folder.is_dir(),
        "the official programs are not in {}; `tests/fetch-official-programs` puts them there",
        folder.display()
    );
    folder
}

/// The official programs that are declared to work: the path of each below [`official_programs`], with `/` on every system, and its text.
#[track_caller]
pub fn sound_official_programs() -> Vec<(String, String)> {
    let programs = official_files("prose").into_iter();
    programs.filter(|(name, _)| !name.starts_with(PLANNED)).collect()
}

/// The official files with an extension, in the order of their paths: the path of each below [`official_programs`] and its text.
#[track_caller]
pub fn official_files(extension: &str) -> Vec<(String, String)> {
    let root = official_programs();
    let mut paths = Vec::new();
    collect(&root, extension, &mut paths);
    paths.sort();
    assert!(!paths.is_empty(), "there is no .{extension} file in {}", root.display());
    let name = |path: &Path| {
        path.strip_prefix(&root).expect("it was found there").to_string_lossy().replace('\\', "/")
    };
    let text = |path: &Path| std::fs::read_to_string(path).expect("official files are UTF-8");
    paths.iter().map(|path| (name(path), text(path))).collect()
}

/// Adds the files below a folder that have an extension.
pub fn collect(folder: &Path, extension: &str, paths: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("the folder can be listed") {
        let path = entry.expect("the folder can be listed").path();
        if path.is_dir() {
            collect(&path, extension, paths);
        } else if path.extension().is_some_and(|found| found == extension) {
            paths.push(path);
        }
    }
}

/// The `prose` binary that cargo has built together with the tests; `PROSE_BINARY` names another one.
#[track_caller]
pub fn prose_binary() -> PathBuf {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| std::env::var_os("PROSE_BINARY").map_or_else(built_binary, PathBuf::from)).clone()
}

/// A command in the Debian trixie that `tests/install/trixie` installs; its program and arguments come next. The folders are there what they
/// are here, as the repository and `/tmp` always are.
pub fn in_trixie(folders: &[&Path]) -> Command {
    let mut command = Command::new(repository().join("tests/in-trixie"));
    // It has no other locale.
    command.env("LC_ALL", "C.UTF-8");
    for folder in folders {
        command.arg("--with").arg(folder);
    }
    command
}

fn built_binary() -> PathBuf {
    // Tests are in `target/<profile>/deps`, binaries in `target/<profile>`.
    let test = std::env::current_exe().expect("a running test has a path");
    let folder = test.parent().and_then(Path::parent).expect("tests are two folders below the target folder");
    let binary = folder.join(format!("prose-under-test{}", std::env::consts::EXE_SUFFIX));
    assert!(binary.is_file(), "{} is missing; `cargo test -p prose-tests` builds it", binary.display());
    binary
}
