//! Tables that somebody dropped, although the schema has a version.

use expect_test::expect;
use prose_fixture::postgres::PostgresServer;

use super::{SIX, run_ids, workspace};

#[test]
#[ignore = "needs PostgreSQL"]
fn tables_that_were_dropped_are_named_and_made_again_unless_rows_are_lost() {
    let server = PostgresServer::start();
    let workspace = workspace(&server, &[("six.prose", SIX)]);
    workspace.prose(&["run", "six.prose", "-q", "--max-sessions", "3"]).ended(3);
    let run = run_ids(&workspace).remove(0);
    let mut told = String::new();
    let mut with = |status: i32, arguments: &[&str]| {
        let run = workspace.prose(arguments).ended(status);
        told.push_str(&format!("$ prose {}\n{}{}", arguments.join(" "), run.stdout, run.stderr));
    };
    let bindings = "SELECT string_agg(name, ' ' ORDER BY name) FROM openprose.bindings";
    assert_eq!(server.query(bindings), "a b c\n");

    server.query("DROP TABLE openprose.bindings, openprose.imports");
    with(1, &["cluster", "status"]);
    with(2, &["run", "six.prose", "-q"]);
    with(2, &["resume", "-q"]);
    with(0, &["cluster", "migrate"]);
    with(0, &["cluster", "status"]);
    assert_eq!(server.query(bindings), "\n");
    workspace.prose(&["resume", "-q", "--max-sessions", "9"]).ended(0);
    assert_eq!(server.query(bindings), "a b c d e f\n");
    let indexes = "SELECT count(*) FROM pg_indexes WHERE schemaname = 'openprose' AND tablename = 'bindings'";
    assert_eq!(server.query(indexes), "2\n");

    server.query("DROP TABLE openprose.journal, openprose.agents");
    with(1, &["cluster", "status"]);
    with(2, &["cluster", "init"]);
    with(2, &["run", "six.prose", "-q"]);
    with(0, &["runs", "list"]);
    server.query("DROP TABLE openprose.run CASCADE");
    with(1, &["cluster", "status"]);
    server.query("DROP TABLE openprose.migration");
    with(2, &["cluster", "init"]);
    let version = server.query("SHOW server_version");
    let told = told
        .replace(&workspace.path("").display().to_string(), "FOLDER/")
        .replace(&server.port().to_string(), "PORT")
        .replace(version.trim(), "VERSION")
        .replace(&run, "RUN");
    expect![[r#"
        $ prose cluster status
        server   127.0.0.1:PORT/postgres, PostgreSQL VERSION
        schema   openprose, version 5
        missing  bindings, imports: `prose cluster migrate` makes them again
        runs     1 interrupted
        $ prose run six.prose -q
        error: cannot use the PostgreSQL server `127.0.0.1:PORT/postgres`: the schema `openprose` does not have the tables `bindings` and `imports` any more; `prose cluster migrate` makes what is missing again
        $ prose resume -q
        error: cannot use the PostgreSQL server `127.0.0.1:PORT/postgres`: the schema `openprose` does not have the tables `bindings` and `imports` any more; `prose cluster migrate` makes what is missing again
        $ prose cluster migrate
        made the tables `bindings` and `imports` of the schema `openprose` again; resumed runs fill what is missing
        the schema `openprose` of `127.0.0.1:PORT/postgres` is up to date, version 5
        $ prose cluster status
        server   127.0.0.1:PORT/postgres, PostgreSQL VERSION
        schema   openprose, version 5
        runs     1 interrupted
        workers  none
        $ prose cluster status
        server   127.0.0.1:PORT/postgres, PostgreSQL VERSION
        schema   openprose, version 5
        missing  journal, agents: restore the schema from a copy
        runs     1 completed
        $ prose cluster init
        error: cannot use the PostgreSQL server `127.0.0.1:PORT/postgres`: the schema `openprose` does not have the table `journal` any more; restore the schema from a copy, or remove it with all of its runs: `DROP SCHEMA openprose CASCADE`
        $ prose run six.prose -q
        error: cannot use the PostgreSQL server `127.0.0.1:PORT/postgres`: the schema `openprose` does not have the table `journal` any more; restore the schema from a copy, or remove it with all of its runs: `DROP SCHEMA openprose CASCADE`
        $ prose runs list
        RUN  damaged      ?  cannot read the journal FOLDER/.prose/runs/RUN/postgres.json: cannot read from the PostgreSQL server `127.0.0.1:PORT/postgres`: relation "journal" does not exist; the schema is not complete; `prose cluster status` lists the tables that are missing
        $ prose cluster status
        server   127.0.0.1:PORT/postgres, PostgreSQL VERSION
        schema   openprose, version 5
        missing  run, journal, agents: restore the schema from a copy
        runs     none
        $ prose cluster init
        error: cannot use the PostgreSQL server `127.0.0.1:PORT/postgres`: relation "execution" already exists; the schema `openprose` has a table of another program, or lost its table `migration`; use another schema with `OPENPROSE_POSTGRES_SCHEMA`, or restore it from a copy
    "#]].assert_eq(&told);
}
