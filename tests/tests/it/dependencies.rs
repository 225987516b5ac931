//! The crates that know the language know nothing of how it is served: no protocol, no transport, no network.

use std::collections::{BTreeMap, BTreeSet};

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, PackageId};

/// The crates that stay pure. A crate that does not exist yet is held to this from its first day.
const PURE: &[&str] = &[
    "prose-acp",
    "prose-syntax",
    "prose-files",
    "prose-reference",
    "prose-rights",
    "prose-config",
    "prose-toml",
    "prose-analysis",
    "prose-ide",
    "prose-graph",
    "prose-format",
    "prose-markdown",
    "prose-vm",
    "prose-view",
    "prose-tui",
    "prose-state",
    "prose-narration",
    "prose-backends",
    "prose-web",
    "prose-harness",
];

/// What none of them may reach, even through others.
const FORBIDDEN: &[&str] = &[
    "tower-lsp-server",
    "tower-lsp",
    "lsp-types",
    "ls-types",
    "lsp-server",
    "reqwest",
    "hyper",
    "ureq",
    "tokio",
];

/// Running a program is waiting for sessions, so `prose-vm` and what is made for it may use the tasks and the clock of tokio.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("prose-vm", "tokio"),
    ("prose-view", "tokio"),
    ("prose-tui", "tokio"),
    ("prose-state", "tokio"),
    ("prose-narration", "tokio"),
    ("prose-backends", "tokio"),
    ("prose-web", "tokio"),
    ("prose-harness", "tokio"),
    // A model of a provider is asked over HTTP.
    ("prose-harness", "reqwest"),
    ("prose-harness", "hyper"),
];

/// Which crates of the workspace each crate may depend on: only crates above it in this list. The arrows in `CONTRIBUTING.md` are the outline of it.
const ARROWS: &[(&str, &[&str])] = &[
    ("prose-syntax", &[]),
    ("prose-acp", &[]),
    ("prose-files", &[]),
    ("prose-reference", &[]),
    ("prose-fixture", &[]),
    ("tree-sitter-prose", &[]),
    ("prose-cluster-model", &[]),
    ("prose-rights", &["prose-reference"]),
    ("prose-format", &["prose-syntax"]),
    ("prose-markdown", &["prose-syntax"]),
    ("prose-toml", &["prose-syntax"]),
    ("prose-config", &["prose-files", "prose-reference", "prose-rights", "prose-syntax", "prose-toml"]),
    ("prose-registry", &["prose-files", "prose-reference"]),
    ("prose-analysis", &["prose-reference", "prose-rights", "prose-syntax"]),
    ("prose-ide", &["prose-analysis", "prose-reference", "prose-syntax"]),
    ("prose-graph", &["prose-analysis", "prose-ide", "prose-syntax"]),
    ("prose-vm", &["prose-analysis", "prose-rights", "prose-syntax"]),
    ("prose-view", &["prose-syntax", "prose-vm"]),
    ("prose-tui", &["prose-view", "prose-vm"]),
    (
        "prose-project",
        &[
            "prose-analysis",
            "prose-config",
            "prose-files",
            "prose-markdown",
            "prose-reference",
            "prose-registry",
            "prose-rights",
            "prose-syntax",
            "prose-vm",
        ],
    ),
    ("prose-state", &["prose-files", "prose-rights", "prose-syntax", "prose-view", "prose-vm"]),
    ("prose-narration", &["prose-syntax", "prose-view", "prose-vm"]),
    ("prose-backends", &["prose-rights", "prose-syntax", "prose-toml", "prose-vm"]),
    (
        "prose-web",
        &[
            "prose-analysis",
            "prose-backends",
            "prose-format",
            "prose-graph",
            "prose-ide",
            "prose-syntax",
            "prose-view",
            "prose-vm",
        ],
    ),
    (
        "prose-harness",
        &[
            "prose-acp",
            "prose-backends",
            "prose-files",
            "prose-registry",
            "prose-rights",
            "prose-syntax",
            "prose-vm",
        ],
    ),
    ("prose-telemetry", &["prose-registry", "prose-vm"]),
    (
        "prose-run",
        &[
            "prose-analysis",
            "prose-config",
            "prose-files",
            "prose-harness",
            "prose-narration",
            "prose-project",
            "prose-rights",
            "prose-state",
            "prose-syntax",
            "prose-telemetry",
            "prose-view",
            "prose-vm",
        ],
    ),
    (
        "prose-report",
        &[
            "prose-files",
            "prose-graph",
            "prose-ide",
            "prose-run",
            "prose-state",
            "prose-syntax",
            "prose-view",
            "prose-vm",
        ],
    ),
    (
        "prose-cluster",
        &[
            "prose-config",
            "prose-files",
            "prose-harness",
            "prose-project",
            "prose-registry",
            "prose-run",
            "prose-state",
            "prose-vm",
        ],
    ),
    (
        "prose-test",
        &[
            "prose-analysis",
            "prose-config",
            "prose-files",
            "prose-harness",
            "prose-project",
            "prose-run",
            "prose-state",
            "prose-syntax",
            "prose-toml",
            "prose-view",
            "prose-vm",
        ],
    ),
    (
        "prose-debug",
        &[
            "prose-analysis",
            "prose-markdown",
            "prose-project",
            "prose-run",
            "prose-state",
            "prose-syntax",
            "prose-view",
            "prose-vm",
        ],
    ),
    (
        "prose-serve",
        &[
            "prose-acp",
            "prose-analysis",
            "prose-config",
            "prose-files",
            "prose-format",
            "prose-ide",
            "prose-markdown",
            "prose-project",
            "prose-run",
            "prose-state",
            "prose-syntax",
            "prose-view",
            "prose-vm",
        ],
    ),
    (
        "prose-lsp",
        &[
            "prose-analysis",
            "prose-config",
            "prose-files",
            "prose-format",
            "prose-graph",
            "prose-ide",
            "prose-markdown",
            "prose-project",
            "prose-registry",
            "prose-run",
            "prose-state",
            "prose-syntax",
            "prose-test",
            "prose-view",
            "prose-vm",
        ],
    ),
];

/// The binary and the tests, which may name every crate.
const FACES: &[&str] = &["prose-cli", "prose-tests"];

#[test]
fn crates_depend_on_one_another_in_one_direction() {
    let reached = Reached::new();
    let mut offences = Vec::new();
    for name in reached.members().filter(|name| !FACES.contains(name)) {
        let Some((_, allowed)) = ARROWS.iter().find(|(from, _)| *from == name) else {
            offences.push(format!("{name} has no row in `ARROWS`"));
            continue;
        };
        let own = reached.direct(name).into_iter().filter(|used| reached.is_member(used));
        offences.extend(own.filter(|used| !allowed.contains(used)).map(|used| {
            format!("{name} must not depend on {used}; what both need belongs in a crate below both")
        }));
    }
    assert!(offences.is_empty(), "{}", offences.join("\n"));
}

#[test]
fn the_allowed_arrows_point_up() {
    for (row, (name, allowed)) in ARROWS.iter().enumerate() {
        for used in *allowed {
            let above = ARROWS[..row].iter().any(|(above, _)| above == used);
            assert!(above, "{name} is allowed to depend on {used}, which is not above it");
        }
    }
}

#[test]
fn pure_crates_reach_no_protocol_and_no_network() {
    let reached = Reached::new();
    let mut offences = Vec::new();
    for &pure in PURE.iter().filter(|&&pure| reached.is_member(pure)) {
        let packages = reached.from(pure);
        for &forbidden in FORBIDDEN {
            if packages.contains(forbidden) && !EXCEPTIONS.contains(&(pure, forbidden)) {
                offences.push(format!(
                    "{pure} reaches {forbidden}: `cargo tree -p {pure} -i {forbidden}` shows how"
                ));
            }
        }
    }
    assert!(offences.is_empty(), "{}", offences.join("\n"));
}

#[test]
fn the_registry_client_depends_on_references_and_nothing_else_of_the_language() {
    let reached = Reached::new();
    let packages = reached.from("prose-registry");
    let own: Vec<&str> = packages.iter().copied().filter(|name| reached.is_member(name)).collect();
    assert_eq!(own, ["prose-files", "prose-reference", "prose-registry"]);
    assert!(packages.contains("ring"));
    // These need more than Rust to be built.
    assert!(!packages.contains("aws-lc-rs") && !packages.contains("native-tls"));
}

#[test]
fn crates_that_store_and_narrate_runs_do_not_depend_on_the_runtime() {
    let reached = Reached::new();
    assert!(!reached.direct("prose-narration").contains("tokio"), "prose-narration uses tokio itself");
    // Stores are called from within a runtime and must not wait for another one: only the thread of a connection has one.
    let folder = prose_tests::repository().join("crates/prose-state/src");
    let mut files = Vec::new();
    prose_tests::collect(&folder, "rs", &mut files);
    files.retain(|file| std::fs::read_to_string(file).expect("a source file is text").contains("tokio::"));
    files.sort();
    // A worker of a cluster gets a connection for its own runtime.
    assert_eq!(files, ["postgres/link.rs", "postgres/server.rs"].map(|file| folder.join(file)));
}

#[test]
fn the_search_would_find_an_offence() {
    let reached = Reached::new();
    assert!(reached.is_member("prose-syntax") && reached.is_member("prose-ide"));
    // `rowan` brings `text-size`; nothing names that directly.
    assert!(reached.from("prose-syntax").contains("text-size"));
    assert!(reached.from("prose-ide").contains("text-size"));
}

/// The packages of the workspace and, for each package, what it needs when it is built for use.
struct Reached {
    metadata: Metadata,
    needs: BTreeMap<PackageId, Vec<PackageId>>,
}

impl Reached {
    fn new() -> Self {
        let manifest = prose_tests::repository().join("Cargo.toml");
        // The packages of this system have been fetched to build this test, so no network is needed.
        let options = ["--locked", "--offline", "--filter-platform", &host()];
        let metadata = MetadataCommand::new()
            .manifest_path(manifest)
            .other_options(options.map(str::to_owned))
            .exec()
            .expect("cargo describes the workspace");
        let resolve = metadata.resolve.as_ref().expect("cargo resolves the dependencies");
        let is_used = |kind: &cargo_metadata::DepKindInfo| kind.kind != DependencyKind::Development;
        let needs = resolve.nodes.iter().map(|node| {
            let used = node.deps.iter().filter(|dependency| dependency.dep_kinds.iter().any(is_used));
            (node.id.clone(), used.map(|dependency| dependency.pkg.clone()).collect())
        });
        Self { needs: needs.collect(), metadata }
    }

    /// The names of the workspace's packages.
    fn members(&self) -> impl Iterator<Item = &str> {
        self.metadata.workspace_packages().into_iter().map(|package| package.name.as_str())
    }

    fn is_member(&self, name: &str) -> bool {
        self.members().any(|member| member == name)
    }

    /// The names of the packages that the workspace's package `name` names itself.
    fn direct(&self, name: &str) -> BTreeSet<&str> {
        let members = self.metadata.workspace_packages();
        let start = members.iter().find(|package| package.name == name).expect("it is a member");
        self.needs[&start.id].iter().map(|id| self.metadata[id].name.as_str()).collect()
    }

    /// The names of all packages that the workspace's package `name` needs, directly or through others.
    fn from(&self, name: &str) -> BTreeSet<&str> {
        let members = self.metadata.workspace_packages();
        let start = members.iter().find(|package| package.name == name).expect("it is a member");
        let mut seen = BTreeSet::from([&start.id]);
        let mut open = vec![&start.id];
        while let Some(package) = open.pop() {
            open.extend(self.needs[package].iter().filter(|&needed| seen.insert(needed)));
        }
        seen.into_iter().map(|id| self.metadata[id].name.as_str()).collect()
    }
}

/// The system that cargo builds for, such as `x86_64-unknown-linux-gnu`.
fn host() -> String {
    let output = std::process::Command::new(env!("CARGO")).arg("-vV").output().expect("cargo runs");
    let text = String::from_utf8(output.stdout).expect("cargo writes UTF-8");
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.expect("cargo names its host").to_owned()
}
