//! The table in the documentation of the crate has the statements of the protocol.

use std::fs;
use std::path::Path;

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The names of the constants, in the order in which they are declared.
fn declared() -> Vec<String> {
    let source = read("../prose-state/src/protocol.rs");
    let names = source.lines().filter_map(|line| line.strip_prefix("pub const ")?.split(':').next());
    names.map(str::to_owned).collect()
}

/// The rows of the table that begin with the name of a statement: the name, and the transition.
fn documented() -> Vec<(String, String)> {
    let source = read("src/lib.rs");
    let rows = source.lines().filter_map(|line| line.strip_prefix("//! | `")?.split_once("` | "));
    let cells =
        rows.map(|(name, rest)| (name.to_owned(), rest.split(" | ").next().unwrap_or(rest).to_owned()));
    cells.collect()
}

#[test]
fn every_statement_of_the_protocol_is_in_the_table() {
    let (mut declared, documented) = (declared(), documented());
    let mut names: Vec<String> = documented.into_iter().map(|(name, _)| name).collect();
    declared.sort_unstable();
    names.sort_unstable();
    assert!(declared.len() > 10, "{declared:?}");
    assert_eq!(names, declared);
}

#[test]
fn every_transition_is_a_transaction_of_the_server() {
    let server = read("src/server.rs");
    for (name, transition) in documented() {
        let linked = transition.split_once("](Server::").and_then(|(_, rest)| rest.strip_suffix(')'));
        let Some(method) = linked else {
            assert_eq!(transition, "not in the model", "{name}");
            continue;
        };
        assert!(server.contains(&format!("    pub fn {method}(")), "{name}: `{method}`");
    }
}
