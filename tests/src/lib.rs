//! What the end-to-end tests share.

use std::path::{Path, PathBuf};

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

/// The `prose` binary that cargo built along with the tests.
#[track_caller]
pub fn prose_binary() -> PathBuf {
    if let Some(binary) = std::env::var_os("PROSE_BINARY") {
        return PathBuf::from(binary);
    }
    // Tests are in `target/<profile>/deps`, binaries in `target/<profile>`.
    let test = std::env::current_exe().expect("a running test has a path");
    let profile =
        test.parent().and_then(Path::parent).expect("tests are two folders below the target folder");
    let binary = profile.join(format!("prose{}", std::env::consts::EXE_SUFFIX));
    assert!(binary.is_file(), "{} is not there; `cargo build -p prose-cli` builds it", binary.display());
    binary
}
