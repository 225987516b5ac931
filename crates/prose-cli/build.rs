//! Sets `PROSE_VERSION`: the version that `prose --version` prints, with the commit and its date.

#![allow(clippy::print_stdout, reason = "this is how a build script answers cargo")]

#[path = "build/version.rs"]
mod version;

use std::path::Path;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=build");
    println!("cargo:rerun-if-env-changed={}", version::COMMIT);
    println!("cargo:rerun-if-env-changed={}", version::EPOCH);

    // Cargo starts this in the folder of the package.
    let folder = Path::new(".");
    let variable = |name: &str| std::env::var(name).ok();
    let mut source = version::Source::of_environment(variable);
    // A debug build with the commit would compile this crate and the end-to-end tests again after each commit. The profile of a build is `debug` or
    // what it inherits from.
    let is_release = variable("PROFILE").is_some_and(|profile| profile == "release");
    if is_release {
        let archive = folder.join(version::ARCHIVE);
        println!("cargo:rerun-if-changed={}", version::ARCHIVE);
        source =
            source.or(version::Source::of_archive(&std::fs::read_to_string(archive).unwrap_or_default()));
        if source.is_incomplete() {
            source = source.or(version::Source::of_git(folder));
            for file in version::files_of_head(folder) {
                println!("cargo:rerun-if-changed={}", file.display());
            }
        }
    }
    let text = source.version(env!("CARGO_PKG_VERSION"), is_release);
    println!("cargo:rustc-env=PROSE_VERSION={text}");
}
