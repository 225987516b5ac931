//! The methods and their types in TypeScript.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

#[test]
fn every_method_has_its_types() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../editors/playground/src/language.ts");
    let types = fs::read_to_string(path).unwrap();
    let (_, table) = types.split_once("export interface Methods {\n").unwrap();
    let (table, _) = table.split_once("\n}\n").unwrap();
    let typed: BTreeSet<&str> =
        table.lines().filter_map(|line| Some(line.trim().split_once(": [")?.0)).collect();
    assert_eq!(typed, prose_web::methods().collect::<BTreeSet<_>>());
}
