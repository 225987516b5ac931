//! Packages: one version and one table of systems everywhere, and each package is installed by its package manager.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use prose_tests::{prose_binary, repository};
use regex::Regex;
use saphyr::{LoadableYamlNode, Yaml};
use serde_json::Value;

const RELEASE: &str = ".github/workflows/release.yml";

/// The files that contain the version in addition to `Cargo.toml`, each with what comes before it. The lock files of npm name it twice.
const VERSIONS: &[(&str, &str)] = &[
    ("deploy/helm/prose/Chart.yaml", r#"(?m)^(?:version|appVersion): "?"#),
    ("editors/agents/claude-code/.claude-plugin/plugin.json", r#""version": ""#),
    ("editors/agents/gemini-cli/gemini-extension.json", r#""version": ""#),
    ("editors/emacs/openprose-mode.el", "(?m)^;; Version: "),
    ("editors/vscode/package.json", r#"(?m)^  "version": ""#),
    ("editors/zed/Cargo.toml", r#"(?m)^version = ""#),
    ("editors/zed/extension.toml", r#"(?m)^version = ""#),
    ("syntaxes/tree-sitter-prose/Cargo.toml", r#"(?m)^version = ""#),
    ("syntaxes/tree-sitter-prose/Makefile", "(?m)^VERSION := "),
    ("syntaxes/tree-sitter-prose/package.json", r#"(?m)^  "version": ""#),
    ("syntaxes/tree-sitter-prose/tree-sitter.json", r#""version": ""#),
];

fn read(path: &str) -> String {
    let path = repository().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The rows of the table of systems.
fn targets() -> Vec<Value> {
    serde_json::from_str(&read("deploy/packages/targets.json")).unwrap()
}

fn name(row: &Value) -> &str {
    row["target"].as_str().unwrap()
}

/// A value of the table that manifests of the workspace inherit.
fn of_workspace(key: &str) -> String {
    let line = Regex::new(&format!(r#"(?m)^{key} = "(.*)"$"#)).unwrap();
    line.captures(&read("Cargo.toml")).unwrap_or_else(|| panic!("Cargo.toml has no {key}"))[1].to_owned()
}

#[test]
fn all_files_have_the_version_of_the_workspace() {
    let version = of_workspace("version");
    assert_eq!(version, env!("CARGO_PKG_VERSION"));
    let mut wrong = String::new();
    for (path, before) in VERSIONS {
        let found = Regex::new(&format!(r"{before}([0-9][0-9A-Za-z.+-]*)")).unwrap();
        let text = read(path);
        let found: BTreeSet<&str> =
            found.captures_iter(&text).map(|found| found.get(1).unwrap().as_str()).collect();
        if found != BTreeSet::from([version.as_str()]) {
            wrong += &format!("{path}: {found:?}\n");
        }
    }
    assert!(wrong.is_empty(), "the version is {version}, but not in:\n{wrong}");
}

#[test]
fn the_grammar_is_published_from_the_same_repository() {
    let repository = of_workspace("repository");
    for path in ["syntaxes/tree-sitter-prose/Cargo.toml", "syntaxes/tree-sitter-prose/package.json"] {
        assert!(read(path).contains(&repository), "{path}");
    }
}

#[test]
fn supported_systems_are_documented() {
    let page = read("docs/install.md");
    for row in targets() {
        assert!(page.contains(&format!("`{}`", name(&row))), "{} is not in docs/install.md", name(&row));
    }
    let rust = of_workspace("rust-version");
    assert!(
        page.contains(&format!("requires Rust {rust} ")),
        "docs/install.md names another Rust than {rust}"
    );
    // The oldest systems on which the workflow starts the programs.
    let images = Regex::new(r"(?m)^images_of_\w+=\((.*)\)$").unwrap();
    let script = read("tests/supported-systems");
    let images: Vec<&str> =
        images.captures_iter(&script).flat_map(|found| found.get(1).unwrap().as_str().split(' ')).collect();
    assert!(images.len() > 3, "{images:?}");
    for image in images {
        let system = image.replace("almalinux:", "AlmaLinux ").replace(':', " ");
        let is_named = page.to_lowercase().contains(&system.to_lowercase());
        assert!(is_named, "docs/install.md does not name {system}");
    }
}

/// `cargo binstall` fills in the templates of the manifest.
#[test]
fn metadata_of_binstall_names_the_archives() {
    let manifest = read("crates/prose-cli/Cargo.toml");
    let url =
        Regex::new(r#"(?m)^pkg-url = ".*/v\{ version \}/prose-\{ version \}-\{ target \}(.*)"$"#).unwrap();
    let kinds: Vec<&str> = url.captures_iter(&manifest).map(|found| found.get(1).unwrap().as_str()).collect();
    let windows: Vec<Value> = targets().into_iter().filter(|row| name(row).contains("-windows-")).collect();
    assert_eq!(kinds, [vec![".tar.gz"], vec![".zip"; windows.len()]].concat());
    for row in windows {
        assert!(manifest.contains(&format!("[package.metadata.binstall.overrides.{}]", name(&row))));
    }
}

#[test]
fn scripts_and_registries_are_documented() {
    let page = read("docs/packaging.md");
    for entry in fs::read_dir(repository().join("deploy/packages")).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if entry.file_type().unwrap().is_file() && !name.contains('.') && name != "plan" {
            let is_named = page.contains(&format!("| `{name} ")) || page.contains(&format!("/{name}`"));
            assert!(is_named, "docs/packaging.md does not name deploy/packages/{name}");
        }
    }
    let wanted =
        Regex::new(r"contains\(vars\.PUBLISH, '([a-z-]+)'\)|gallery: ([a-z-]+),|\{ name: ([a-z-]+),")
            .unwrap();
    let workflow = read(RELEASE);
    let names: BTreeSet<&str> = wanted
        .captures_iter(&workflow)
        .map(|found| found.iter().skip(1).flatten().next().unwrap().as_str())
        .collect();
    let rows = Regex::new(r"(?m)^\| `([a-z-]+)` \|").unwrap();
    let (_, section) = page.split_once("## Publishing a version").unwrap();
    let documented: BTreeSet<&str> =
        rows.captures_iter(section).map(|found| found.get(1).unwrap().as_str()).collect();
    assert_eq!(names, documented);
}

/// `tests/packages workflows` asks more of them.
#[test]
fn workflows_are_yaml_and_start_what_exists() {
    let script = Regex::new(r"(?:deploy/packages|editors/vscode|tests|\.ci)/[a-z.-]*[a-z]").unwrap();
    for path in [RELEASE, ".github/workflows/ci.yml"] {
        let text = read(path);
        let documents = Yaml::load_from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"));
        let jobs = documents[0]["jobs"].as_mapping().unwrap();
        let names: BTreeSet<&str> = jobs.keys().map(|name| name.as_str().unwrap()).collect();
        for (job, definition) in jobs {
            let job = job.as_str().unwrap();
            assert!(
                definition.as_mapping_get("timeout-minutes").is_some(),
                "{path}: {job} may run for hours"
            );
            let needs = definition.as_mapping_get("needs");
            let needs =
                needs.map(|needs| needs.as_sequence().map_or(std::slice::from_ref(needs), Vec::as_slice));
            for needed in needs.unwrap_or_default() {
                assert!(names.contains(needed.as_str().unwrap()), "{path}: {job} needs {needed:?}");
            }
        }
        for found in script.find_iter(&text) {
            assert!(repository().join(found.as_str()).exists(), "{path} starts {}", found.as_str());
        }
    }
}

/// Makes packages and installs them, with a script in the place of the program that starts the one under test.
#[track_caller]
fn installs(steps: &[&str]) {
    let mut command = Command::new(repository().join("tests/packages"));
    let output = command.arg("--debug").arg(prose_binary()).args(steps).output().unwrap();
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?} failed, {}:\n{stdout}{stderr}", output.status);
}

#[test]
#[ignore = "needs npm and python"]
fn archives_are_complete_and_always_the_same() {
    installs(&["archive"]);
}

#[test]
#[ignore = "needs npm and python"]
fn npm_installs_the_program_of_this_system() {
    installs(&["npm"]);
}

#[test]
#[ignore = "needs Debian trixie in tests/.cache"]
fn apt_installs_and_removes_the_package_of_debian() {
    installs(&["deb"]);
}

#[test]
#[ignore = "needs ruby and nix"]
fn the_formula_and_the_flake_are_read() {
    installs(&["homebrew", "nix"]);
}

#[test]
#[ignore = "needs Neovim 0.11 in tests/.cache"]
fn plugin_managers_install_the_plugin_of_neovim() {
    installs(&["neovim"]);
}

#[test]
#[ignore = "needs npm"]
fn projects_depend_on_the_grammar() {
    installs(&["grammar"]);
}
