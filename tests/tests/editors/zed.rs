//! The extension of Zed: that it builds to what Zed loads, and that what it is made of fits together.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use prose_tests::repository;

#[test]
#[ignore = "needs the target wasm32-wasip2"]
fn the_extension_is_built_to_a_component_that_zed_can_load() {
    let target = repository().join("tests/.cache/zed");
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--quiet", "--release", "--locked", "--target", "wasm32-wasip2", "--target-dir"]);
    // It is only looked at: what is not optimised is built faster.
    cargo.env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0").env("CARGO_PROFILE_RELEASE_LTO", "off");
    cargo.arg(&target).arg("--manifest-path").arg(extension().join("Cargo.toml"));
    let output = cargo.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));

    let component = fs::read(target.join("wasm32-wasip2/release/zed_openprose.wasm")).unwrap();
    let (head, mut rest) = component.split_at(8);
    assert_eq!(head, b"\0asm\x0d\0\x01\0", "it is no component");
    let mut exports = Vec::new();
    while let Some((&section, behind)) = rest.split_first() {
        let (size, behind) = number(behind);
        let (content, behind) = behind.split_at(size);
        // Exports, as the binary format of the component model numbers sections.
        if section == 11 {
            exports.extend_from_slice(content);
        }
        rest = behind;
    }
    for export in [
        "init-extension",
        "language-server-command",
        "language-server-initialization-options",
        "language-server-workspace-configuration",
    ] {
        assert!(contains(&exports, export), "there is no export `{export}`");
    }
    // Zed looks for this section to know which version of its interface it is.
    assert!(contains(&component, "zed:api-version"));
}

#[test]
fn the_extension_is_prepared_for_zed_with_the_grammar_of_this_clone() {
    let folder = prose_fixture::tempdir().unwrap();
    let prepared = folder.path().join("zed");
    let output = Command::new(extension().join("prepare")).arg(&prepared).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));

    let manifest = fs::read_to_string(prepared.join("extension.toml")).unwrap();
    let clone = format!("repository = \"file://{}\"", repository().display());
    assert!(manifest.contains(&clone), "{manifest}");
    let revision = manifest.lines().find_map(|line| line.strip_prefix("rev = ")).unwrap().trim_matches('"');
    let grammar = format!("{revision}:syntaxes/tree-sitter-prose/src/parser.c");
    let status = Command::new("git").arg("-C").arg(repository()).args(["cat-file", "-e", &grammar]).status();
    assert!(status.unwrap().success(), "{revision} has no grammar");
    for file in [
        "Cargo.toml",
        "Cargo.lock",
        "src/lib.rs",
        "languages/prose/config.toml",
        "languages/prose/highlights.scm",
    ] {
        assert!(prepared.join(file).is_file(), "{file} is missing");
    }
}

fn extension() -> PathBuf {
    repository().join("editors/zed")
}

/// A number in LEB128, and what stands behind it.
fn number(bytes: &[u8]) -> (usize, &[u8]) {
    let length = bytes.iter().position(|byte| byte & 0x80 == 0).unwrap() + 1;
    let (number, rest) = bytes.split_at(length);
    let digits = number.iter().rev().map(|byte| usize::from(byte & 0x7f));
    (digits.fold(0, |value, digit| value << 7 | digit), rest)
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}
