//! Tables that a user dropped, although the schema has a version.

use std::collections::HashMap;

use super::link::Link;
use super::link_error::LinkError;
use super::schema::MIGRATIONS;

/// The tables whose rows nothing else has: an empty one in their place would hide that they are lost. What is in the others is written again from the journal
/// when a run is resumed, or requested again by the leader of a run.
const ONLY_COPIES: [&str; 5] = ["run", "journal", "job", "quota", "spending"];

/// The tables that a schema of a version does not have, in the order in which they are made.
pub(crate) fn missing_tables(link: &Link, version: i32) -> Result<Vec<String>, LinkError> {
    let sql = "SELECT name FROM unnest($1::text[]) WITH ORDINALITY AS expected (name, place)
        WHERE to_regclass(quote_ident(name)) IS NULL ORDER BY place";
    let expected: Vec<String> = statements(version)
        .iter()
        .filter(|statement| {
            ["CREATE TABLE ", "CREATE VIEW "].iter().any(|makes| statement.sql.starts_with(makes))
        })
        .map(|statement| statement.table.to_owned())
        .collect();
    let rows = link.query(sql, vec![Box::new(expected)])?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}

/// Those of the tables that cannot be made again.
pub(crate) fn lost_tables(missing: &[String]) -> Vec<&str> {
    missing.iter().map(String::as_str).filter(|table| ONLY_COPIES.contains(table)).collect()
}

/// The statements that make tables again, as they are in a version.
pub(crate) fn repair(missing: &[String], version: i32) -> String {
    let statements = statements(version);
    let wanted = statements.iter().filter(|statement| missing.iter().any(|table| table == statement.table));
    wanted.map(|statement| format!("{};\n", statement.sql)).collect()
}

/// A statement of a migration, and the table that it makes or changes.
struct Statement {
    sql: &'static str,
    table: &'static str,
}

/// The statements that lead to a version.
fn statements(version: i32) -> Vec<Statement> {
    let migrations = MIGRATIONS.iter().take(usize::try_from(version).unwrap_or_default());
    let all = migrations.flat_map(|sql| sql.split(";\n")).map(str::trim).filter(|sql| !sql.is_empty());
    let mut indexes = HashMap::new();
    all.filter_map(|sql| Some(Statement { sql, table: table_of(sql, &mut indexes)? })).collect()
}

/// The table that a statement makes or changes, with the tables of the indexes that earlier ones have made.
fn table_of(sql: &'static str, indexes: &mut HashMap<&'static str, &'static str>) -> Option<&'static str> {
    let mut words = sql.split([' ', '\n', '(']).filter(|word| !word.is_empty() && *word != "UNIQUE");
    match (words.next()?, words.next()?) {
        ("CREATE" | "ALTER", "TABLE" | "VIEW") => words.next(),
        ("CREATE", "INDEX") => {
            let index = words.next()?;
            let table = words.find(|word| *word != "ON")?;
            indexes.insert(index, table);
            Some(table)
        }
        ("DROP", "INDEX") => indexes.get(words.next()?).copied(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::postgres::schema::VERSION;

    #[test]
    fn every_statement_is_one_of_a_table() {
        let count: usize = MIGRATIONS.iter().map(|sql| sql.matches(";\n").count()).sum();
        // How the journal is compressed depends on the server. The journal is never made again.
        let depending = MIGRATIONS.iter().map(|sql| sql.matches("DO $$ BEGIN").count()).sum::<usize>();
        assert_eq!(statements(VERSION).len(), count - depending);
        assert!(statements(0).is_empty());
    }

    #[test]
    fn a_table_is_made_again_with_its_indexes() {
        let missing = ["agents".to_owned()];
        expect![[r#"
            CREATE TABLE agents (
                run_id TEXT REFERENCES run (id) ON DELETE CASCADE,
                name TEXT NOT NULL,
                scope TEXT NOT NULL CHECK (scope IN ('execution', 'project', 'user', 'custom')),
                memory TEXT,
                created_at TIMESTAMPTZ NOT NULL DEFAULT now(),
                updated_at TIMESTAMPTZ NOT NULL DEFAULT now(),
                metadata JSONB NOT NULL DEFAULT '{}'
            );
            CREATE UNIQUE INDEX agents_key ON agents (name, coalesce(run_id, '__project__'));
            CREATE INDEX agents_run ON agents (run_id) WHERE run_id IS NOT NULL;
        "#]]
        .assert_eq(&repair(&missing, 1));
        assert!(lost_tables(&missing).is_empty());
        assert_eq!(lost_tables(&["journal".to_owned(), "agents".to_owned()]), ["journal"]);
    }
}
