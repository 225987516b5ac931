//! Runs whose state is on a PostgreSQL server, which each test starts.

mod dropped;
mod unreachable;

use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use expect_test::expect;
use prose_fixture::postgres::PostgresServer;

use super::{ANSWERS, TWO};
use crate::common::{Run, Workspace};

/// A workspace whose runs keep their state on a server by its settings.
fn workspace(server: &PostgresServer, files: &[(&str, &str)]) -> Workspace {
    let workspace = Workspace::new(files);
    workspace.write("prose.toml", b"[run]\nstate = \"postgres\"\n");
    workspace.write(".prose/.env", format!("OPENPROSE_POSTGRES_URL={}\n", server.url()).as_bytes());
    workspace
}

fn run_ids(workspace: &Workspace) -> Vec<String> {
    let listed = workspace.prose(&["runs", "list"]).ended(0).stdout;
    listed.lines().filter_map(|line| Some(line.split_whitespace().next()?.to_owned())).collect()
}

#[test]
#[ignore = "needs PostgreSQL"]
fn the_commands_for_runs_show_a_run_on_a_server() {
    let server = PostgresServer::start();
    let workspace = workspace(&server, &[("two.prose", TWO), ("answers.toml", ANSWERS)]);
    workspace.prose(&["run", "two.prose", "-q", "--script", "answers.toml"]).ended(0);
    let listed = workspace.prose(&["runs", "list"]).ended(0).stdout;
    assert!(listed.contains("  completed  ") && listed.contains("  2 sessions  two.prose\n"), "{listed}");
    let shown = workspace.prose(&["runs", "show"]).ended(0).stdout;
    assert!(shown.contains("\nbindings\n  let    a (3 bytes)\n  output text (3 bytes)\n"), "{shown}");
    let told = workspace.prose(&["runs", "tail"]).ended(0).stdout;
    assert!(told.contains("[Output] output text = \"two\""), "{told}");

    let id = run_ids(&workspace).remove(0);
    let folder = workspace.path(".prose/runs").join(&id);
    assert!(folder.join("postgres.json").exists() && !folder.join("journal.jsonl").exists());
    // Whoever may read the folder learns no password.
    for file in
        fs::read_dir(&folder).unwrap().filter_map(|entry| fs::read_to_string(entry.unwrap().path()).ok())
    {
        assert!(!file.contains("tide"), "{file}");
    }
    // The documented queries (R119).
    assert_eq!(
        server.query(&format!("SELECT status, state_mode FROM openprose.run WHERE id = '{id}'")),
        "completed|postgres\n"
    );
    let bindings =
        format!("SELECT name, kind, value FROM openprose.bindings WHERE run_id = '{id}' ORDER BY name");
    assert_eq!(server.query(&bindings), "a|let|one\ntext|output|two\n");
    let open = "SELECT count(*) FROM openprose.execution WHERE status = 'executing'";
    assert_eq!(server.query(open), "0\n");

    workspace.prose(&["runs", "fork", &id, "--from", "2", "-q", "-y", "--script", "answers.toml"]).ended(0);
    workspace.prose(&["run", "two.prose", "-q", "--replay", &id]).ended(0);
    assert_eq!(server.query("SELECT count(*) FROM openprose.run"), "3\n");
    workspace.prose(&["runs", "rm", &id]).ended(0);
    assert_eq!(server.query("SELECT count(*) FROM openprose.run"), "2\n");
    assert_eq!(server.query(&format!("SELECT count(*) FROM openprose.journal WHERE run_id = '{id}'")), "0\n");
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_run_moves_to_a_server_and_back_and_goes_on_there() {
    let server = PostgresServer::start();
    let workspace = workspace(&server, &[("two.prose", TWO), ("answers.toml", ANSWERS)]);
    let one =
        ["run", "two.prose", "-q", "--state", "sqlite", "--script", "answers.toml", "--max-sessions", "1"];
    workspace.prose(&one).ended(3);
    for to in ["postgres", "filesystem", "postgres"] {
        workspace.prose(&["runs", "export", "2", "run.prose-run", "--force"]).ended(0);
        workspace.prose(&["runs", "rm", "2"]).ended(0);
        workspace.prose(&["runs", "import", "run.prose-run", "--state", to]).ended(0);
    }
    let resume = ["resume", "2", "--program", "two.prose", "--script", "answers.toml", "--max-sessions", "2"];
    let resumed = workspace.prose(&resume);
    assert_eq!((resumed.status, resumed.stdout.as_str()), (0, "text: two\n"), "{resumed:?}");
    assert!(resumed.stderr.contains("Reused 1 result"), "{resumed:?}");
    let bindings = "SELECT name, value FROM openprose.bindings ORDER BY name";
    assert_eq!(server.query(bindings), "a|one\ntext|two\n");
}

/// What a run prints, with the address of the server out of it.
fn refusal(server: &PostgresServer, workspace: &Workspace) -> String {
    let run = workspace.prose(&["run", "two.prose", "-q", "--script", "answers.toml"]);
    assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{run:?}");
    assert!(!run.stderr.contains("tide"), "{run:?}");
    let is_empty = fs::read_dir(workspace.path(".prose/runs")).map_or(true, |mut runs| runs.next().is_none());
    assert!(is_empty, "nothing is left of a run that did not start");
    let port = server.port().to_string();
    run.stderr.replace(&port, "PORT")
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_server_that_cannot_be_used_is_told_of_once_before_anything_starts() {
    let server = PostgresServer::start();
    let workspace = workspace(&server, &[("two.prose", TWO), ("answers.toml", ANSWERS)]);
    let mut told = String::new();
    let mut with = |url: &str| {
        workspace.write(".prose/.env", url.as_bytes());
        workspace.trust();
        told.push_str(&refusal(&server, &workspace));
    };
    let url = |user: &str, password: &str, database: &str| {
        format!("OPENPROSE_POSTGRES_URL={}\n", server.url_of(user, password, database))
    };
    with("");
    with("OPENPROSE_POSTGRES_URL=postgresql://prose:tide@here:no/x\n");
    with(&url("prose", "wrong", "postgres"));
    with(&url("prose", "tide", "nowhere"));
    server.query("CREATE ROLE reader LOGIN PASSWORD 'ebb'");
    with(&url("reader", "ebb", "postgres"));
    with(&format!("{}OPENPROSE_POSTGRES_SCHEMA=No Name\n", url("prose", "tide", "postgres")));
    with(&url("prose", "tide", "postgres").replace("/postgres\n", "/postgres?sslmode=verify-full\n"));
    server.query("CREATE DATABASE old ENCODING 'LATIN1' TEMPLATE template0");
    with(&url("prose", "tide", "old"));
    server.query("CREATE SCHEMA later; CREATE TABLE later.migration (version int); INSERT INTO later.migration VALUES (99)");
    with(&format!("{}OPENPROSE_POSTGRES_SCHEMA=later\n", url("prose", "tide", "postgres")));
    server.down();
    with(&url("prose", "tide", "postgres"));
    expect![[r#"
        error: no PostgreSQL server is configured; set `OPENPROSE_POSTGRES_URL` in `.prose/.env` or in the environment, such as `postgresql://user:password@localhost:5432/database`, or keep the state in a file with `--state sqlite`
        error: cannot use the address in OPENPROSE_POSTGRES_URL in `.prose/.env`: invalid connection string: invalid value for option `port`; use the form `postgresql://user:password@host:5432/database`
        error: cannot use the PostgreSQL server `127.0.0.1:PORT/postgres`: password authentication failed for user "prose"; correct the user and the password in `OPENPROSE_POSTGRES_URL`
        error: cannot use the PostgreSQL server `127.0.0.1:PORT/nowhere`: database "nowhere" does not exist; create the database with `createdb`, or correct its name in `OPENPROSE_POSTGRES_URL`
        error: cannot use the PostgreSQL server `127.0.0.1:PORT/postgres`: permission denied for database postgres; let the owner of the schema `openprose` run `prose cluster grant coordinator USER`, or `worker`, or `reader`; `prose cluster init` makes a schema that is not there
        error: cannot use the address in OPENPROSE_POSTGRES_URL in `.prose/.env`: `No Name` cannot be the name of a schema; use lower-case letters, digits and `_`
        error: cannot use the PostgreSQL server `127.0.0.1:PORT/postgres`: invalid peer certificate: UnknownIssuer; name the root certificate with `sslrootcert=FILE` in `OPENPROSE_POSTGRES_URL`, or use `sslmode=require` without it, which checks no certificate
        error: cannot use the PostgreSQL server `127.0.0.1:PORT/old`: the database has the encoding LATIN1; create one with `createdb --encoding=UTF8 --template=template0`
        error: cannot use the PostgreSQL server `127.0.0.1:PORT/postgres`: the schema `later` has version 99, but this `prose` supports versions up to 5; use the `prose` that wrote it, or a newer one
        error: cannot use the PostgreSQL server `127.0.0.1:PORT/postgres`: Connection refused (os error 111); start the server, or correct `OPENPROSE_POSTGRES_URL`
    "#]].assert_eq(&told);
}

/// The owner makes the schema, and others may only write to its tables.
#[test]
#[ignore = "needs PostgreSQL"]
fn a_user_who_may_not_make_tables_uses_those_that_are_there() {
    let server = PostgresServer::start();
    let workspace = workspace(&server, &[("two.prose", TWO), ("answers.toml", ANSWERS)]);
    workspace.prose(&["cluster", "init"]).ended(0);
    server.query(
        "CREATE ROLE writer LOGIN PASSWORD 'ebb'; GRANT USAGE ON SCHEMA openprose TO writer;
         GRANT ALL ON ALL TABLES IN SCHEMA openprose TO writer",
    );
    let url = server.url_of("writer", "ebb", "postgres");
    workspace.write(".prose/.env", format!("OPENPROSE_POSTGRES_URL={url}\n").as_bytes());
    workspace.prose(&["run", "two.prose", "-q", "--script", "answers.toml"]).ended(0);
    workspace.prose(&["runs", "rm", &run_ids(&workspace)[0]]).ended(0);
    assert_eq!(server.query("SELECT count(*) FROM openprose.run"), "0\n");
}

/// With the certificate of the server, its identity is checked.
#[test]
#[ignore = "needs PostgreSQL"]
fn the_certificate_of_a_server_is_checked_where_that_is_asked_for() {
    let server = PostgresServer::start();
    let workspace = workspace(&server, &[("two.prose", TWO), ("answers.toml", ANSWERS)]);
    let certificate = workspace.path("server.crt");
    fs::copy(server.certificate(), &certificate).unwrap();
    let url = format!("{}?sslmode=verify-full&sslrootcert={}", server.url(), certificate.display());
    workspace.write(".prose/.env", format!("OPENPROSE_POSTGRES_URL={url}\n").as_bytes());
    workspace.prose(&["run", "two.prose", "-q", "--script", "answers.toml"]).ended(0);
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_server_is_prepared_and_shown() {
    let server = PostgresServer::start();
    let workspace = workspace(&server, &[("two.prose", TWO), ("answers.toml", ANSWERS)]);
    let mut told = String::new();
    let mut with = |status: i32, arguments: &[&str]| {
        let run = workspace.prose(&[&["cluster"], arguments].concat()).ended(status);
        let port = server.port().to_string();
        told.push_str(&(run.stdout + &run.stderr).replace(&port, "PORT"));
    };
    with(1, &["status"]);
    with(0, &["init"]);
    with(0, &["migrate"]);
    workspace.prose(&["run", "two.prose", "-q", "--script", "answers.toml"]).ended(0);
    with(0, &["status"]);
    with(1, &["status", "--schema", "other"]);
    with(0, &["init", &server.url(), "--schema", "other"]);
    with(2, &["status", &server.url_of("prose", "wrong", "postgres")]);
    server.query("INSERT INTO openprose.migration (version) VALUES (99)");
    with(1, &["status"]);
    with(2, &["migrate"]);
    let version = server.query("SHOW server_version");
    expect![[r#"
        server   127.0.0.1:PORT/postgres, PostgreSQL VERSION
        schema   openprose, without tables: `prose cluster init` makes them
        runs     none
        made the tables in the schema `openprose` of `127.0.0.1:PORT/postgres`, version 5
        the schema `openprose` of `127.0.0.1:PORT/postgres` is up to date, version 5
        server   127.0.0.1:PORT/postgres, PostgreSQL VERSION
        schema   openprose, version 5
        runs     1 completed
        workers  none
        server   127.0.0.1:PORT/postgres, PostgreSQL VERSION
        schema   other, without tables: `prose cluster init` makes them
        runs     none
        made the tables in the schema `other` of `127.0.0.1:PORT/postgres`, version 5
        error: cannot read from the PostgreSQL server `127.0.0.1:PORT/postgres`: password authentication failed for user "prose"; correct the user and the password in `OPENPROSE_POSTGRES_URL`
        server   127.0.0.1:PORT/postgres, PostgreSQL VERSION
        schema   openprose, version 99: this `prose` supports versions up to 5; use a newer one
        runs     1 completed
        error: cannot use the PostgreSQL server `127.0.0.1:PORT/postgres`: the schema `openprose` has version 99, but this `prose` supports versions up to 5; use the `prose` that wrote it, or a newer one
    "#]].assert_eq(&told.replace(version.trim(), "VERSION"));
}

const SIX: &str = "\
let a = session \"A\"
let b = session \"B\"
let c = session \"C\"
let d = session \"D\"
let e = session \"E\"
output f = session \"F\"
";

/// Waits until a query has a result.
#[track_caller]
fn wait_for(server: &PostgresServer, sql: &str, expected: impl Fn(&str) -> bool) {
    let begin = Instant::now();
    loop {
        let found = server.query(sql);
        if expected(found.trim()) {
            return;
        }
        assert!(begin.elapsed() < Duration::from_secs(60), "{sql}: {found}");
        thread::sleep(Duration::from_millis(50));
    }
}

const ENDED: &str = "SELECT count(*) FROM openprose.journal WHERE line LIKE '%\"event\":\"session-ended\"%'";

#[test]
#[ignore = "needs PostgreSQL"]
fn a_run_waits_for_a_server_that_went_away_and_goes_on() {
    let server = PostgresServer::start();
    let workspace = workspace(&server, &[("six.prose", SIX)]);
    // The table is there before it is asked for.
    workspace.prose(&["run", "six.prose", "-q"]).ended(0);
    workspace.prose(&["runs", "rm", &run_ids(&workspace)[0]]).ended(0);
    let mut command = workspace.command();
    command.args(["run", "six.prose", "--delay", "700ms"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    wait_for(&server, ENDED, |count| count != "0");
    server.down();
    thread::sleep(Duration::from_secs(3));
    server.up();
    let run = Run::from(child.wait_with_output().unwrap());
    assert_eq!(run.status, 0, "{run:?}");
    let lost =
        run.stderr.lines().filter(|line| line.starts_with("warning: the PostgreSQL server `127.0.0.1:"));
    let lost: Vec<&str> = lost.collect();
    assert!(
        lost[0].contains("` cannot be reached: ") && lost[0].ends_with("; the run waits for it"),
        "{run:?}"
    );
    assert!(
        lost[1].contains("` was reached again after ") && lost[1].ends_with(" s; the run continues"),
        "{run:?}"
    );
    assert_eq!(server.query(ENDED), "6\n");
    assert_eq!(server.query("SELECT count(*) FROM openprose.bindings"), "6\n");
    let shown = workspace.prose(&["runs", "show"]).ended(0).stdout;
    assert!(shown.contains("completed"), "{shown}");
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_run_that_waits_for_a_server_is_interrupted_and_resumed() {
    let server = PostgresServer::start();
    let workspace = workspace(&server, &[("six.prose", SIX)]);
    workspace.prose(&["run", "six.prose", "-q"]).ended(0);
    workspace.prose(&["runs", "rm", &run_ids(&workspace)[0]]).ended(0);
    for (signal, arguments) in [("-INT", ["run", "six.prose"]), ("-TERM", ["resume", "-q"])] {
        let before = server.query(ENDED);
        let mut command = workspace.command();
        command.args(arguments).args(["--delay", "500ms"]).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        wait_for(&server, ENDED, |count| count != before.trim());
        server.down();
        thread::sleep(Duration::from_secs(2));
        Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
        let run = Run::from(child.wait_with_output().unwrap());
        assert_eq!(run.status, 3, "{run:?}");
        assert!(run.stderr.contains("the run was interrupted while it waited for the server"), "{run:?}");
        server.up();
    }
    let resumed = workspace.prose(&["resume"]).ended(0);
    assert!(resumed.stderr.contains("Reused "), "{resumed:?}");
    assert_eq!(server.query(ENDED), "6\n");
}

/// A server that accepts a connection and never answers.
#[test]
#[ignore = "needs PostgreSQL"]
fn a_server_that_does_not_answer_is_not_waited_for_after_a_signal() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let workspace = Workspace::new(&[("six.prose", SIX)]);
    let mut command = workspace.command();
    command.args(["run", "six.prose", "--state", "postgres"]).stdout(Stdio::null()).stderr(Stdio::piped());
    command.env("OPENPROSE_POSTGRES_URL", format!("postgresql://a:b@{}/c", silent.local_addr().unwrap()));
    let begin = Instant::now();
    let child = command.spawn().unwrap();
    let _connection = silent.accept().unwrap();
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let run = Run::from(child.wait_with_output().unwrap());
    assert!(run.status != 0 && begin.elapsed() < Duration::from_secs(20), "{run:?}");
    assert!(run.stderr.contains("the run was interrupted while it waited for the server"), "{run:?}");
    assert!(run_ids(&workspace).is_empty(), "nothing is left of a run that did not start");
}

/// A password in the environment is for the server that the environment names: another one may stand in a project of somebody else.
#[test]
#[ignore = "needs PostgreSQL"]
fn a_password_of_the_environment_is_not_sent_to_the_server_of_a_project() {
    let server = PostgresServer::start();
    let workspace = Workspace::new(&[("six.prose", SIX)]);
    let url = server.url().replace(":tide@", "@");
    let run = |name: &str, value: &str| {
        let mut command = workspace.command();
        command.args(["run", "six.prose", "-q", "--state", "postgres"]).env("PGPASSWORD", "tide");
        Run::of(command.env(name, value))
    };
    run("OPENPROSE_POSTGRES_URL", &url).ended(0);
    run("DATABASE_URL", &url).ended(0);
    workspace.write(".prose/.env", format!("OPENPROSE_POSTGRES_URL={url}\n").as_bytes());
    let refused = run("DATABASE_URL", &server.url()).ended(2);
    assert!(refused.stderr.contains("password missing; correct `OPENPROSE_POSTGRES_URL`"), "{refused:?}");
}

/// Another server has nothing of a run, which must not start again there; nor must a copied folder be taken for the run that it was copied from.
#[test]
#[ignore = "needs PostgreSQL"]
fn a_run_is_that_of_its_server_and_its_folder() {
    let server = PostgresServer::start();
    let workspace = workspace(&server, &[("six.prose", SIX)]);
    workspace.prose(&["run", "six.prose", "-q", "--max-sessions", "3"]).ended(3);
    let id = run_ids(&workspace).remove(0);
    server.query("CREATE DATABASE other");
    let other = server.url_of("prose", "tide", "other");
    workspace.write(".prose/.env", format!("OPENPROSE_POSTGRES_URL={other}\n").as_bytes());
    workspace.prose(&["cluster", "init"]).ended(0);
    for arguments in [&["resume", &id][..], &["runs", "rm", &id]] {
        let refused = workspace.prose(arguments).ended(2);
        let why = format!("its schema `openprose` does not have the run {id}, which was made on `127.0.0.1:");
        assert!(refused.stderr.contains(&why), "{refused:?}");
    }
    workspace.write(".prose/.env", format!("OPENPROSE_POSTGRES_URL={}\n", server.url()).as_bytes());
    let runs = workspace.path(".prose/runs");
    let copied =
        Command::new("cp").arg("-r").arg(runs.join(&id)).arg(runs.join("20260101-000000-copied")).status();
    assert!(copied.unwrap().success());
    let refused = workspace.prose(&["runs", "rm", "20260101-000000-copied"]).ended(2);
    assert!(
        refused.stderr.contains(&format!("it names the run {id}: the folder was copied or renamed")),
        "{refused:?}"
    );
    let resumed = workspace.prose(&["resume", &id, "--max-sessions", "9"]).ended(0);
    assert!(resumed.stderr.contains("Reused 3 results"), "{resumed:?}");
}

/// What a server ends by itself, and what it forgets.
#[test]
#[ignore = "needs PostgreSQL"]
fn connections_that_the_server_ends_are_made_again_and_rows_that_it_lost_are_noticed() {
    let server = PostgresServer::start();
    let workspace = workspace(&server, &[("six.prose", SIX)]);
    server.query("ALTER ROLE prose SET idle_session_timeout = 200");
    workspace.prose(&["run", "six.prose", "-q", "--delay", "500ms"]).ended(0);
    assert_eq!(server.query(ENDED), "6\n");
    workspace.prose(&["runs", "rm", &run_ids(&workspace)[0]]).ended(0);
    server.query("ALTER ROLE prose RESET idle_session_timeout");

    let mut command = workspace.command();
    command
        .args(["run", "six.prose", "-q", "--delay", "700ms"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    wait_for(&server, ENDED, |count| count == "2");
    server.query("DELETE FROM openprose.journal WHERE start > (SELECT min(start) FROM openprose.journal WHERE line LIKE '%\"event\":\"session-ended\"%')");
    server.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'prose'");
    let run = Run::from(child.wait_with_output().unwrap());
    assert_eq!(run.status, 2, "{run:?}");
    assert!(run.stderr.contains("rows were lost or changed"), "{run:?}");
    workspace.prose(&["resume", "-q"]).ended(0);
    assert_eq!(server.query(ENDED), "6\n");
    assert_eq!(server.query("SELECT count(*) FROM openprose.bindings"), "6\n");
}

/// A user who owns a schema needs no right to make others, and a connection over a socket needs no encryption.
#[test]
#[ignore = "needs PostgreSQL"]
fn a_schema_and_a_socket_of_its_own_are_enough() {
    let server = PostgresServer::start();
    let workspace = Workspace::new(&[("six.prose", SIX)]);
    server.query("CREATE ROLE writer LOGIN PASSWORD 'ebb'; CREATE SCHEMA \"order\" AUTHORIZATION writer");
    let url = format!(
        "host={} port={} user=writer password=ebb dbname=postgres",
        server.socket().display(),
        server.port()
    );
    workspace.write(
        ".prose/.env",
        format!("OPENPROSE_POSTGRES_URL={url}\nOPENPROSE_POSTGRES_SCHEMA=order\n").as_bytes(),
    );
    workspace.prose(&["run", "six.prose", "-q", "--state", "postgres"]).ended(0);
    assert_eq!(server.query("SELECT count(*) FROM \"order\".run"), "1\n");
}

#[test]
#[ignore = "needs PostgreSQL"]
fn killed_runs_go_on_where_they_were() {
    let server = PostgresServer::start();
    let workspace = workspace(&server, &[("six.prose", SIX)]);
    workspace.prose(&["run", "six.prose", "-q"]).ended(0);
    let whole = server.query("SELECT name, value FROM openprose.bindings ORDER BY name");
    workspace.prose(&["runs", "rm", &run_ids(&workspace)[0]]).ended(0);
    for moment in 0..12 {
        let mut command = workspace.command();
        let arguments: &[&str] = match moment {
            0 => &["run", "six.prose", "-q", "--delay", "60ms"],
            _ => &["resume", "-q", "--delay", "60ms"],
        };
        let mut child = command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        if moment == 0 {
            wait_for(&server, "SELECT count(*) FROM openprose.journal", |count| count != "0");
        } else {
            thread::sleep(Duration::from_millis(37 * moment));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        if workspace.prose(&["runs", "list"]).stdout.contains("completed") {
            break;
        }
    }
    workspace.prose(&["resume", "-q"]);
    assert!(workspace.prose(&["runs", "list"]).stdout.contains("completed"));
    assert_eq!(server.query(ENDED), "6\n");
    assert_eq!(server.query("SELECT name, value FROM openprose.bindings ORDER BY name"), whole);
}

/// The folder of a run may be on two machines, where the lock of one is none of the other.
#[test]
#[ignore = "needs PostgreSQL"]
fn one_process_executes_a_run_on_whatever_machine() {
    let server = PostgresServer::start();
    let workspace = workspace(&server, &[("six.prose", SIX)]);
    let mut command = workspace.command();
    command.args(["run", "six.prose", "-q", "--delay", "20s"]).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    wait_for(&server, "SELECT to_regclass('openprose.journal') IS NOT NULL", |there| there == "t");
    wait_for(&server, "SELECT count(*) FROM openprose.journal", |count| count.parse::<u32>().unwrap() > 1);
    let encrypted = "SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'prose'";
    assert_eq!(server.query(encrypted), "t\n");
    let other = self::workspace(&server, &[("six.prose", SIX)]);
    let copied = Command::new("cp")
        .arg("-r")
        .arg(workspace.path(".prose/runs"))
        .arg(other.path(".prose/runs"))
        .status();
    assert!(copied.unwrap().success());
    let refused = other.prose(&["resume", "2", "--program", "six.prose"]);
    assert_eq!(refused.status, 2, "{refused:?}");
    assert!(
        refused.stderr.contains("another process executes the run, perhaps on another machine"),
        "{refused:?}"
    );
    child.kill().unwrap();
    child.wait().unwrap();
    other.prose(&["resume", "2", "--program", "six.prose", "-q"]).ended(0);
    assert_eq!(server.query(ENDED), "6\n");
}

/// Texts that PostgreSQL cannot store, and large ones.
#[test]
#[ignore = "needs PostgreSQL"]
fn any_text_is_kept() {
    let server = PostgresServer::start();
    let program = "let a = session \"A\"\noutput b = session \"B\"\n  context: a\n";
    let workspace = workspace(&server, &[("two.prose", program)]);
    let large = "tide ".repeat(1 << 20);
    let answers = format!(
        "[[session]]\norder = 1\nreply = \"nul \\u0000 end\"\n\n[[session]]\norder = 2\nreply = \"{large}\"\n"
    );
    workspace.write("answers.toml", answers.as_bytes());
    let run =
        workspace.prose(&["run", "two.prose", "-q", "--script", "answers.toml", "--output", "b"]).ended(0);
    assert_eq!(run.stdout.trim_end().len(), large.trim_end().len());
    assert_eq!(server.query("SELECT value FROM openprose.bindings WHERE name = 'a'"), "nul \u{fffd} end\n");
    let attached =
        server.query("SELECT value IS NULL, attachment_path FROM openprose.bindings WHERE name = 'b'");
    assert_eq!(attached, "t|attachments/b.md\n");
    let again =
        workspace.prose(&["run", "two.prose", "-q", "--replay", &run_ids(&workspace)[0], "--output", "b"]);
    assert_eq!(again.ended(0).stdout.trim_end().len(), large.trim_end().len());
}
