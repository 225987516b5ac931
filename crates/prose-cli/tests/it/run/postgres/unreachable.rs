//! Runs whose server cannot be reached.

use std::io::Read;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use expect_test::expect;
use serde_json::Value as Json;

use crate::common::{Run, Workspace};

const RUNS: [&str; 3] = ["20260101-000001-aaaaaa", "20260101-000002-bbbbbb", "20260101-000003-cccccc"];

/// A workspace with the folders of runs whose state is on a server.
fn workspace() -> Workspace {
    let workspace = Workspace::new(&[]);
    for run in RUNS {
        let marker =
            format!(r#"{{"version":1,"run":"{run}","schema":"openprose","server":"db:5432/prose"}}"#);
        workspace.write(&format!(".prose/runs/{run}/postgres.json"), marker.as_bytes());
    }
    workspace
}

/// A list says what is wrong with the server, which it asks once, and not that runs are damaged.
#[test]
fn a_list_of_runs_connects_once_to_a_server_that_cannot_be_reached() {
    // It accepts connections and closes them.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let connections = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&connections);
    thread::spawn(move || {
        for connection in listener.incoming() {
            counter.fetch_add(1, Ordering::SeqCst);
            // One that is closed with something unread is reset instead.
            let _ = connection.and_then(|mut connection| connection.read(&mut [0; 1024]));
        }
    });
    let workspace = workspace();
    let prose = |arguments: &[&str]| {
        let mut command = workspace.command();
        command.args(arguments).env("OPENPROSE_POSTGRES_URL", format!("postgresql://a:b@127.0.0.1:{port}/c"));
        Run::of(&mut command)
    };
    let listed = prose(&["runs", "list"]).ended(0).stdout.replace(&port.to_string(), "PORT");
    expect![[r#"
        20260101-000003-cccccc  unreachable      ?  cannot read from the PostgreSQL server `127.0.0.1:PORT/c`: early eof; start the server, or correct `OPENPROSE_POSTGRES_URL`
        20260101-000002-bbbbbb  unreachable      ?  cannot read from the PostgreSQL server `127.0.0.1:PORT/c`: early eof; start the server, or correct `OPENPROSE_POSTGRES_URL`
        20260101-000001-aaaaaa  unreachable      ?  cannot read from the PostgreSQL server `127.0.0.1:PORT/c`: early eof; start the server, or correct `OPENPROSE_POSTGRES_URL`
    "#]].assert_eq(&listed);
    assert_eq!(connections.swap(0, Ordering::SeqCst), 1);

    let listed = prose(&["runs", "list", "--json", "--status", "unreachable"]).ended(0).stdout;
    let listed: Json = serde_json::from_str(&listed).unwrap();
    assert_eq!(listed.as_array().unwrap().len(), 3);
    assert!(
        listed[0]["error"].as_str().unwrap().starts_with("cannot read from the PostgreSQL server"),
        "{listed}"
    );
    assert_eq!(connections.swap(0, Ordering::SeqCst), 1);

    let checked = prose(&["doctor"]).stdout.replace(&port.to_string(), "PORT");
    let about: Vec<&str> =
        checked.lines().filter(|line| line.contains("PORT") || line.contains("3 runs")).collect();
    expect!["problem  runs: the state of 3 runs is unreachable: cannot read from the PostgreSQL server `127.0.0.1:PORT/c`: early eof; start the server, or correct `OPENPROSE_POSTGRES_URL`"].assert_eq(&about.join("\n"));
    assert_eq!(connections.swap(0, Ordering::SeqCst), 1);
}

/// Without an address, there is no server to ask, and the runs may be sound.
#[test]
fn runs_without_a_configured_server_are_unreachable() {
    let workspace = workspace();
    let listed = workspace.prose(&["runs", "list", "-n", "1"]).ended(0).stdout;
    expect![[r#"
        20260101-000003-cccccc  unreachable      ?  no PostgreSQL server is configured; set `OPENPROSE_POSTGRES_URL` in `.prose/.env` or in the environment, such as `postgresql://user:password@localhost:5432/database`, or keep the state in a file with `--state sqlite`
    "#]].assert_eq(&listed);
}
