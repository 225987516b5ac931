//! Runs of a server that start from what another one has recorded, or that come from elsewhere.

use super::Cluster;

const PROGRAM: &str = "\
use \"./lib.prose\" as lib
let first = session \"first\"
let said = lib(topic: first)
output text = session \"last\"
  context: said
";
const LIBRARY: &str = "input topic: \"what\"\noutput said = session \"about {topic}\"\n";

fn cluster() -> Cluster {
    let mut cluster = Cluster::new(&[("main.prose", PROGRAM), ("lib.prose", LIBRARY)]);
    cluster.worker(&["--class", "offline"]);
    cluster
}

/// How many requests of agents were performed for a run by the workers: those that another run has answered are none.
fn sessions_of(cluster: &Cluster, run: &str) -> String {
    let shown = cluster.prose(&["runs", "show", run]).ended(0).stdout;
    shown.lines().find(|line| line.starts_with("sessions:")).unwrap_or_default().to_owned()
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_fork_keeps_what_the_run_of_the_server_did_before() {
    let cluster = cluster();
    let run = cluster.submit("main.prose", &[]);
    cluster.wait_for("SELECT state FROM job", "ended\n");
    // The project is not needed, and may have changed.
    cluster.workspace.write("main.prose", b"session \"another\"\n");
    let refused =
        cluster.prose(&["runs", "fork", &run, "--from", "2", "--reply", "2=HIGH TIDE"]).ended(2).stderr;
    assert!(refused.contains("fork from a later point"), "{refused}");
    let forked = cluster.prose(&["runs", "fork", &run, "--reply", "2=HIGH TIDE", "--yes"]).ended(0);
    assert!(forked.stdout.starts_with("text: "), "{forked:?}");
    assert!(forked.stderr.contains(&format!("Fork of run {run}")), "{forked:?}");
    assert!(forked.stderr.contains("Completed: 3 sessions done, 1 reused"), "{forked:?}");
    let fork = cluster.query(&format!("SELECT run_id FROM job WHERE run_id <> '{run}'")).trim().to_owned();
    let prompts = cluster.query(&format!(
        "SELECT split_part(line::jsonb #>> '{{task,prompt}}', chr(10), 1) FROM journal WHERE run_id = '{fork}' AND line::jsonb ->> 'event' = 'session-started' ORDER BY start"
    ));
    assert_eq!(prompts, "first\nabout HIGH TIDE\nlast\n");
    assert_eq!(sessions_of(&cluster, &fork), "sessions: 3");
    // One with another program.
    cluster.workspace.write("main.prose", PROGRAM.replace("last", "very last").as_bytes());
    // The harness is that of the run, whatever the settings say.
    cluster.workspace.write("prose.toml", b"[run]\nharness = \"command\"\ncommand = [\"cat\"]\n");
    let claude = ["runs", "fork", &run, "--program", "main.prose", "--yes", "-q", "--harness", "claude"];
    let untrusted = cluster.prose(&claude).ended(2).stderr;
    assert!(untrusted.contains("is not trusted yet"), "{untrusted}");
    let claude = ["runs", "fork", &run, "--reply", "2=low", "--yes", "-q", "--harness", "claude"];
    let untrusted = cluster.prose(&claude).ended(2).stderr;
    assert!(untrusted.contains("if you trust its settings, pass `--trust`"), "{untrusted}");
    let edited = cluster.prose(&["runs", "fork", &run, "--program", "main.prose", "--yes", "-q"]).ended(0);
    assert!(edited.stdout.starts_with("text: "), "{edited:?}");
    let prompts = cluster.query(
        "SELECT count(*) FROM journal WHERE line::jsonb ->> 'event' = 'session-started' AND line::jsonb #>> '{task,prompt}' LIKE 'very last%'",
    );
    assert_eq!(prompts, "1\n");
    assert_eq!(cluster.query("SELECT count(*), max(format) FROM job"), "3|2\n");
}

#[test]
#[ignore = "needs PostgreSQL"]
fn an_imported_run_goes_on_where_it_was() {
    let cluster = cluster();
    let here = |arguments: &[&str]| cluster.workspace.prose(arguments);
    // It stops at its second session.
    let stopped = here(&["run", "main.prose", "-q", "--harness", "offline", "--max-sessions", "1"]).ended(3);
    let run = here(&["runs", "list", "--json"]).ended(0).stdout;
    let run: serde_json::Value = serde_json::from_str(&run).expect("it is JSON");
    let run = run[0]["id"].as_str().expect("there is a run").to_owned();
    here(&["runs", "export", &run, "run.prose-run"]).ended(0);
    let refused = cluster.prose(&["runs", "import", "run.prose-run", "--state", "sqlite"]).ended(2).stderr;
    assert!(refused.contains("leave `--state` out"), "{refused} {stopped:?}");
    cluster.prose(&["runs", "import", "run.prose-run"]).ended(0);
    assert_eq!(cluster.query("SELECT count(*) FROM job"), "0\n");
    let untrusted = cluster.prose(&["resume", &run, "--harness", "claude"]).ended(2).stderr;
    assert!(untrusted.contains("is not trusted yet"), "{untrusted}");
    assert_eq!(cluster.query("SELECT count(*) FROM job"), "0\n");
    let resumed = cluster.prose(&["resume", &run, "--max-sessions", "20"]).ended(0);
    assert!(resumed.stdout.starts_with("text: "), "{resumed:?}");
    assert_eq!(cluster.outcomes(&run), "3|3\n");
    // The program has to be there as it was.
    cluster.query(&format!("DELETE FROM job WHERE run_id = '{run}'"));
    cluster.workspace.write("main.prose", b"session \"another\"\n");
    let refused = cluster.prose(&["resume", &run]).ended(2).stderr;
    assert!(refused.contains("with its program `main.prose`, as it was then"), "{refused}");
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_fork_with_another_program_needs_trust_for_the_harness_of_its_run() {
    let settings = "[run]\ncommand = [\"cat\"]\n";
    let mut cluster =
        Cluster::new(&[("main.prose", PROGRAM), ("lib.prose", LIBRARY), ("prose.toml", settings)]);
    cluster.worker(&["--class", "command"]);
    cluster.prose(&["run", "main.prose", "-q", "--harness", "command", "--trust"]).ended(0);
    cluster.workspace.prose(&["trust", "--revoke"]).ended(0);
    let run = cluster.query("SELECT run_id FROM job").trim().to_owned();
    let fork = ["runs", "fork", &run, "--program", "main.prose", "--reply", "2=low", "--yes", "-q"];
    let untrusted = cluster.prose(&fork).ended(2).stderr;
    assert!(untrusted.contains("is not trusted yet, and the harness `command`"), "{untrusted}");
    assert_eq!(cluster.query("SELECT count(*) FROM job"), "1\n");
}
