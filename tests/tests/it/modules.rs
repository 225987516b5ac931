//! The modules of each crate import one another in one direction.

mod graph;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use expect_test::{Expect, expect};

use self::graph::{Allowed, ModuleGraph};

/// The crates in which no module may import, through however many others, one that imports it. In the other crates a module and those
/// inside it may import each other.
const WITHOUT_CYCLES: &[&str] = &["prose-cli", "prose-config", "prose-lsp"];

#[test]
fn modules_do_not_import_one_another_in_a_circle() {
    let crates = prose_tests::repository().join("crates");
    let mut names: Vec<String> = std::fs::read_dir(&crates)
        .expect("the folder of crates can be read")
        .map(|entry| entry.expect("it lies there").file_name().into_string().expect("its name is UTF-8"))
        .collect();
    names.sort();
    let mut found = String::new();
    for name in &names {
        let allowed =
            if WITHOUT_CYCLES.contains(&name.as_str()) { Allowed::Nothing } else { Allowed::ParentAndChild };
        let roots = ["lib.rs", "main.rs"].map(|root| crates.join(name).join("src").join(root));
        let roots = roots.iter().filter(|root| root.exists());
        let cycles: Vec<String> =
            roots.flat_map(|root| ModuleGraph::of_crate(root).cycles(allowed)).collect();
        found.extend(cycles.iter().map(|cycle| format!("{name}: {cycle}\n")));
    }
    assert!(found.is_empty(), "modules import one another in a circle:\n{found}");
}

/// The compiler does not see a file without a `mod` line, so its tests would never run.
#[test]
fn every_file_is_a_module() {
    let repository = prose_tests::repository();
    let list = ["ls-files", "--cached", "--others", "--exclude-standard", "crates/*.rs", "tests/*.rs"];
    let listed = Command::new("git").args(list).current_dir(repository).output().expect("git runs");
    let listed = String::from_utf8(listed.stdout).expect("names of files are UTF-8");
    let files: BTreeSet<&str> = listed.lines().filter(|file| repository.join(file).exists()).collect();
    // Those that cargo finds without a `mod` line.
    let is_root = |file: &str| {
        ["/lib.rs", "/main.rs", "/build.rs"].iter().any(|name| file.ends_with(name))
            || ["/benches/", "/bin/", "/examples/"].iter().any(|folder| file.contains(folder))
            || file == "tests/src/find_planted_key.rs"
    };
    let mut missing = String::new();
    for file in files.iter().filter(|file| !is_root(file)) {
        let path = file.trim_end_matches(".rs").trim_end_matches("/mod");
        let (folder, module) = path.rsplit_once('/').expect("a file is in a folder");
        let parents = [".rs", "/mod.rs", "/lib.rs", "/main.rs"].map(|end| format!("{folder}{end}"));
        let parents: Vec<&String> = parents.iter().filter(|parent| files.contains(parent.as_str())).collect();
        let declares = |parent: &&String| {
            let code = std::fs::read_to_string(repository.join(parent)).expect("it can be read");
            code.lines().any(|line| line.ends_with(&format!("mod {module};")))
        };
        if !parents.iter().any(declares) {
            missing += &format!("{file}: add `mod {module};` to {parents:?}, or remove the file\n");
        }
    }
    assert!(missing.is_empty(), "files that are not compiled:\n{missing}");
}

/// The cycles of a made-up crate, given as its files.
#[track_caller]
fn check(files: &[(&str, &str)], allowed: Allowed, expected: Expect) {
    let files: BTreeMap<PathBuf, &str> =
        files.iter().map(|(name, text)| (Path::new("src").join(name), *text)).collect();
    let graph =
        ModuleGraph::read(Path::new("src/lib.rs"), &|path| files.get(path).map(|text| (*text).to_owned()));
    expected.assert_eq(&graph.cycles(allowed).join("\n"));
}

#[test]
fn a_circle_is_found_and_shown() {
    check(
        &[
            ("lib.rs", "mod a; mod b; mod c; use a::A;"),
            ("a.rs", "use crate::b::{self, B as Other, inner::Deep};"),
            ("b.rs", "pub mod inner { pub struct Deep; } fn f() { super::c::g(); }"),
            ("c.rs", "pub fn g() -> u8 { println!(\"{}\", crate::a::h()); 1 }"),
        ],
        Allowed::ParentAndChild,
        expect!["a -> b (crate::b) -> c (super::c::g) -> a (crate::a::h)"],
    );
}

#[test]
fn what_is_exported_again_is_imported_from_where_it_is() {
    let files = [
        ("lib.rs", "mod a; mod b; pub use crate::a::A; pub use b::*;"),
        ("a.rs", "pub struct A; use crate::B;"),
        ("b.rs", "pub struct B; fn f(a: crate::A) {}"),
    ];
    check(&files, Allowed::ParentAndChild, expect!["a -> b (crate::B) -> a (crate::A)"]);
}

#[test]
fn a_module_and_those_inside_it_may_be_allowed_to_import_each_other() {
    let files = [
        ("lib.rs", "mod a; fn top() {}"),
        ("a.rs", "mod inner; fn f() { inner::g() } pub struct A;"),
        ("a/inner.rs", "use super::A; pub fn g() { crate::top() }"),
    ];
    check(&files, Allowed::ParentAndChild, expect![""]);
    check(&files, Allowed::Nothing, expect!["a -> a::inner (inner::g) -> a (super::A)"]);
}

#[test]
fn tests_and_names_that_only_look_like_modules_do_not_count() {
    let files = [
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "use std::fmt; fn f(b: u8) -> bool { b.b::<u8>() } pub struct A; pub(crate) mod c {}"),
        (
            "b.rs",
            "use crate::a::A; const T: &[u8] = &[1, #[cfg(test)] { crate::a::x() }, 2];
             #[cfg(test)] use crate::{a::A, b}; #[cfg(test)] mod tests { use super::*; use crate::a; }",
        ),
    ];
    check(&files, Allowed::Nothing, expect![""]);
}
