//! What users of the database may do who do not own its tables.

use super::{Cluster, ROUNDS};

/// A cluster with a user for each role, and one without rights. All have the password `tide`.
fn cluster_with_users(files: &[(&str, &str)]) -> Cluster {
    let cluster = Cluster::new(files);
    cluster.workspace.prose(&["cluster", "init", &cluster.server.url()]).ended(0);
    for user in ["coordinator", "worker", "reader", "nobody"] {
        cluster.query(&format!("CREATE ROLE {user} LOGIN PASSWORD 'tide'"));
        if user != "nobody" {
            let url = cluster.server.url();
            cluster.workspace.prose(&["cluster", "grant", user, user, &url]).ended(0);
        }
    }
    cluster
}

fn url_of(cluster: &Cluster, user: &str) -> String {
    cluster.server.url_of(user, "tide", "postgres")
}

/// What a statement of a user says.
fn query_as(cluster: &Cluster, user: &str, sql: &str) -> Result<String, String> {
    cluster.server.try_query(&url_of(cluster, user), &format!("SET search_path TO openprose; {sql}"))
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_worker_without_tables_performs_what_a_coordinator_leads() {
    let mut cluster = cluster_with_users(&[("rounds.prose", ROUNDS)]);
    let (coordinator, worker) = (url_of(&cluster, "coordinator"), url_of(&cluster, "worker"));
    cluster.query("INSERT INTO quota VALUES ('all', '{}', 2, NULL, 'day')");
    cluster.worker_on(&coordinator, &["--slots", "0"]);
    // It leads nothing, whatever it is told.
    cluster.worker_on(&worker, &["--class", "offline", "--metrics", "127.0.0.1:0"]);
    let submitted = ["run", "rounds.prose", "-q", "--harness", "offline", "--on", &coordinator];
    cluster.workspace.prose(&submitted).ended(0);
    let run = cluster.query("SELECT run_id FROM job").trim().to_owned();
    assert_eq!(cluster.outcomes(&run), "37|37\n");
    let shown = cluster.workspace.prose(&["runs", "show", "--on", &url_of(&cluster, "reader")]).ended(0);
    assert!(shown.stdout.contains("\nsessions: 37\n"), "{shown:?}");
}

#[test]
#[ignore = "needs PostgreSQL"]
fn nobody_does_more_than_the_role_says() {
    let cluster = cluster_with_users(&[("rounds.prose", ROUNDS)]);
    let url = cluster.server.url();
    cluster.workspace.prose(&["cluster", "init", "--schema", "tenant", &url]).ended(0);
    let run = cluster.submit("rounds.prose", &[]);
    let denied = |user: &str, sql: &str| {
        let error = query_as(&cluster, user, sql).expect_err(sql);
        assert!(error.contains("permission denied"), "{user}: {sql}: {error}");
    };
    for table in ["run", "journal", "job", "effect", "bindings", "question", "message", "quota", "worker"] {
        denied("worker", &format!("SELECT * FROM {table}"));
        denied("nobody", &format!("SELECT * FROM openprose.{table}"));
        denied("reader", &format!("DELETE FROM {table}"));
        for user in ["coordinator", "worker", "reader"] {
            denied(user, &format!("SELECT * FROM tenant.{table}"));
        }
    }
    denied("worker", &format!("INSERT INTO journal VALUES ('{run}', 0, '{{}}')"));
    denied("reader", "SELECT * FROM prose_worker_queue()");
    denied("coordinator", "UPDATE migration SET version = 9");
    // A bundle is that of a claim.
    let bundle = |claim: i64| {
        query_as(&cluster, "worker", &format!("SELECT * FROM prose_worker_bundle('{run}', {claim})"))
    };
    assert_eq!(bundle(1), Ok(String::new()));
    cluster.query(&format!(
        "INSERT INTO effect (run_id, id, fingerprint, class, request) VALUES ('{run}', 1, 'f', 'offline', '{{}}')"
    ));
    let claimed = "SELECT claim FROM prose_worker_claim('w', 60, '{offline}', 5, '{11,12,13,14,15}')";
    assert_eq!(query_as(&cluster, "worker", claimed), Ok("11\n".to_owned()));
    assert!(bundle(11).expect("it is claimed").contains("repeat 12"));
    // Functions run with the settings of their owner, whatever those of the user are.
    let shadowed = format!(
        "CREATE TEMP TABLE job (run_id text, bundle text); SET search_path TO pg_temp, openprose; {claimed}"
    );
    assert_eq!(query_as(&cluster, "worker", &shadowed), Ok(String::new()));
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_role_replaces_another_one_and_can_be_taken() {
    let cluster = cluster_with_users(&[("one.prose", "session \"one\"\n")]);
    let url = cluster.server.url();
    let may_read = || query_as(&cluster, "reader", "SELECT count(*) FROM journal").is_ok();
    let may_claim = || query_as(&cluster, "reader", "SELECT * FROM prose_worker_queue()").is_ok();
    assert_eq!((may_read(), may_claim()), (true, false));
    cluster.workspace.prose(&["cluster", "grant", "worker", "reader", &url]).ended(0);
    assert_eq!((may_read(), may_claim()), (false, true));
    // What is made again is for the same users.
    cluster.query("DROP FUNCTION prose_worker_queue()");
    cluster.workspace.prose(&["cluster", "migrate", &url]).ended(0);
    assert_eq!((may_read(), may_claim()), (false, true));
    cluster.workspace.prose(&["cluster", "revoke", "reader", &url]).ended(0);
    assert_eq!((may_read(), may_claim()), (false, false));

    let refused = |arguments: &[&str], reason: &str| {
        let stderr = cluster.workspace.prose(arguments).ended(2).stderr;
        assert!(stderr.contains(reason), "{stderr}");
    };
    refused(&["cluster", "grant", "worker", "missing", &url], "there is no user `missing`; make one first");
    refused(&["cluster", "revoke", "prose", &url], "`prose` owns the schema `openprose`");
    let (reader, worker) = (url_of(&cluster, "reader"), url_of(&cluster, "worker"));
    refused(
        &["cluster", "grant", "coordinator", "worker", &worker],
        "let the owner of the schema `openprose` run",
    );
    refused(&["worker", "--on", &reader], "let the owner of the schema `openprose` run");
    refused(&["runs", "list", "--on", &worker], "permission denied");
    cluster.workspace.prose(&["cluster", "grant", "reader", "reader", &url]).ended(0);
    refused(&["worker", "--on", &reader], "prose cluster grant worker reader");
    refused(&["run", "one.prose", "--on", &reader, "--harness", "offline"], "permission denied");
}
