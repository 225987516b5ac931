//! Whose turn it is: runs share the workers, priorities go first, and quotas hold for all workers together.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::{Cluster, ROUNDS};

/// A program with so many sessions, all at once.
fn parallel(sessions: usize) -> String {
    let items: Vec<String> = (0..sessions).map(|item| format!("\"{item}\"")).collect();
    format!("parallel for item in [{}]:\n  session \"work on {{item}}\"\n", items.join(", "))
}

/// How many sessions of a run nobody has claimed.
fn free(cluster: &Cluster, run: &str) -> i64 {
    let sql = format!("SELECT count(*) FROM effect WHERE run_id = '{run}' AND claim IS NULL");
    cluster.query(&sql).trim().parse().expect("it is a number")
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_short_run_does_not_wait_for_a_long_one() {
    let (many, few) = (parallel(60), parallel(6));
    let mut cluster = Cluster::new(&[("many.prose", &many), ("few.prose", &few)]);
    cluster.worker(&["--class", "offline", "--slots", "2"]);
    let long = cluster.submit("many.prose", &["--delay", "60ms"]);
    cluster.wait_for(&format!("SELECT count(*) > 40 FROM effect WHERE run_id = '{long}'"), "t\n");
    let short = cluster.submit("few.prose", &["--delay", "60ms"]);
    cluster.wait_for(&format!("SELECT state FROM job WHERE run_id = '{short}'"), "ended\n");
    assert!(free(&cluster, &long) > 20, "the runs take turns");
    cluster.wait_for("SELECT count(*) FROM job WHERE state = 'active'", "0\n");
    assert_eq!(cluster.outcomes(&long), "60|60\n");
}

#[test]
#[ignore = "needs PostgreSQL"]
fn sessions_of_a_higher_priority_start_first() {
    let (many, more, some) = (parallel(40), parallel(150), parallel(20));
    let mut cluster = Cluster::new(&[("many.prose", &many), ("more.prose", &more), ("some.prose", &some)]);
    cluster.worker(&["--class", "offline", "--slots", "1"]);
    let normal = cluster.submit("more.prose", &["--delay", "60ms"]);
    cluster.wait_for(&format!("SELECT count(*) > 100 FROM effect WHERE run_id = '{normal}'"), "t\n");
    let low = cluster.submit("many.prose", &["--delay", "60ms", "--priority", "low"]);
    let high = cluster.submit("some.prose", &["--delay", "60ms", "--priority", "high"]);
    cluster.wait_for(&format!("SELECT count(*) FROM effect WHERE run_id = '{low}'"), "40\n");
    cluster.wait_for(&format!("SELECT state FROM job WHERE run_id = '{high}'"), "ended\n");
    // No more than what was claimed before.
    assert_eq!((free(&cluster, &low), free(&cluster, &normal) > 15), (40, true));
    let said = cluster.prose(&["runs", "set-priority", &low, "high"]).ended(0).stdout;
    assert_eq!(said, format!("the priority of {low} is high\n"));
    cluster.wait_for(&format!("SELECT state FROM job WHERE run_id = '{low}'"), "ended\n");
    assert!(free(&cluster, &normal) > 10);
    let refused = cluster.prose(&["runs", "set-priority", &low, "low"]).ended(2).stderr;
    assert!(refused.contains(&format!("run {low} has ended")), "{refused}");
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_quota_holds_for_all_workers_together() {
    let program = parallel(30);
    let mut cluster = Cluster::new(&[("many.prose", &program)]);
    let url = cluster.server.url();
    let cluster_command = |arguments: &[&str]| cluster.workspace.prose(&[&["cluster"], arguments].concat());
    cluster_command(&["set-quota", "key", &url, "--class", "offline,claude", "--max-parallel", "3"]).ended(0);
    let listed = cluster_command(&["quotas", &url]).ended(0).stdout;
    assert_eq!(listed, "key  offline, claude: 0 of 3 at work\n");
    let refused =
        cluster_command(&["set-quota", "key", &url, "--class", "clod", "--max-parallel", "3"]).ended(2);
    assert!(refused.stderr.contains("`clod` is no harness"), "{refused:?}");
    for _ in 0..3 {
        cluster.worker(&["--class", "offline", "--slots", "8"]);
    }
    let run = cluster.submit("many.prose", &["--delay", "150ms"]);
    let (mut most, begin) = (0, Instant::now());
    while cluster.query("SELECT state FROM job") != "ended\n" {
        let at_work =
            cluster.query("SELECT count(*) FROM effect WHERE claim IS NOT NULL AND outcome IS NULL");
        most = most.max(at_work.trim().parse().expect("it is a number"));
        assert!(begin.elapsed() < Duration::from_secs(60), "the run does not end");
    }
    assert_eq!((most, cluster.outcomes(&run).as_str()), (3, "30|30\n"));
    // A killed worker does not take its part of the quota with it.
    let run = cluster.submit("many.prose", &["--delay", "300ms"]);
    cluster.wait_for("SELECT count(*) FROM effect WHERE claim IS NOT NULL AND outcome IS NULL", "3\n");
    cluster.kill(0);
    cluster.kill(1);
    cluster.wait_for(&format!("SELECT state FROM job WHERE run_id = '{run}'"), "ended\n");
    assert_eq!(cluster.outcomes(&run), "30|30\n");
    cluster.workspace.prose(&["cluster", "remove-quota", "key", &url]).ended(0);
    cluster.workspace.prose(&["cluster", "remove-quota", "key", &url]).ended(2);
}

/// An agent that reports a cost of 40 cents.
const AGENT: &str = r#"#!/bin/sh
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case $line in
    *'"initialize"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":1,"agentCapabilities":{}}}';;
    *'"session/new"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"sessionId":"s"}}';;
    *'"session/prompt"'*)
      echo '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"usage_update","used":10,"size":100,"cost":{"amount":0.4,"currency":"USD"}}}}'
      echo '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"done"}}}}'
      echo '{"jsonrpc":"2.0","id":'$id',"result":{"stopReason":"end_turn","usage":{"inputTokens":100,"outputTokens":10,"totalTokens":110}}}';;
  esac
done
"#;

#[test]
#[ignore = "needs PostgreSQL"]
fn what_all_runs_cost_together_has_a_limit() {
    let program = "repeat 4:\n  session \"Work\"\n";
    let mut cluster = Cluster::new(&[("main.prose", program), ("agent.sh", AGENT)]);
    let agent = cluster.workspace.path("agent.sh");
    let settings = format!("[run]\nharness = \"acp\"\ncommand = [\"sh\", \"{}\"]\n", agent.display());
    cluster.workspace.write("prose.toml", settings.as_bytes());
    cluster.workspace.trust();
    let url = cluster.server.url();
    cluster
        .workspace
        .prose(&["cluster", "set-quota", "all", &url, "--max-cost", "1.5", "--per", "month"])
        .ended(0);
    cluster.worker(&[]);
    let runs = [0, 1].map(|_| cluster.prose(&["run", "main.prose", "--detach", "-q"]).ended(0));
    cluster.wait_for("SELECT sum(cost) >= 1.5 FROM spending", "t\n");
    sleep(Duration::from_millis(1500));
    let spent = cluster.workspace.prose(&["cluster", "quotas", &url]).ended(0).stdout;
    // Sessions that were at work when the limit was reached are completed.
    assert!(
        spent == "all  all harnesses: $1.60 of $1.50 per month\n" || spent.contains("$2.00 of"),
        "{spent}"
    );
    assert_eq!(cluster.query("SELECT count(*) > 0 FROM effect WHERE claim IS NULL"), "t\n");
    cluster.workspace.prose(&["cluster", "set-quota", "all", &url, "--max-cost", "10"]).ended(0);
    cluster.wait_for("SELECT count(*) FROM job WHERE state = 'active'", "0\n");
    for run in runs {
        assert_eq!(cluster.outcomes(run.stdout.trim()), "4|4\n");
    }
    assert_eq!(cluster.query("SELECT round(sum(cost)::numeric, 2) FROM spending"), "3.20\n");
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_run_of_a_newer_version_waits_for_a_newer_worker() {
    let mut cluster = Cluster::new(&[("rounds.prose", ROUNDS)]);
    let run = cluster.submit("rounds.prose", &[]);
    cluster.query("UPDATE job SET format = 99");
    cluster.worker(&["--class", "offline"]);
    sleep(Duration::from_millis(1500));
    assert_eq!(cluster.query("SELECT state, epoch FROM job"), "active|0\n");
    cluster.query("UPDATE job SET format = 1");
    cluster.wait_for("SELECT state FROM job", "ended\n");
    assert_eq!(cluster.outcomes(&run), "37|37\n");
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_worker_tells_prometheus_what_it_does() {
    let cluster = Cluster::new(&[("rounds.prose", ROUNDS)]);
    let url = cluster.server.url();
    let mut command = cluster.workspace.command();
    command.args(["worker", "--on", &url, "--class", "offline", "--lease", "1s", "--metrics", "127.0.0.1:0"]);
    let mut worker = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
    let worker = worker.as_mut().expect("the binary starts");
    let told = BufReader::new(worker.stderr.take().expect("it is a pipe"));
    let address = told.lines().map_while(Result::ok).find_map(|line| {
        Some(line.split_once("metrics are at http://")?.1.split_once("/metrics")?.0.to_owned())
    });
    let address = address.expect("the worker tells its address");
    let get = |path: &str| {
        let mut stream = TcpStream::connect(&address).expect("the worker listens");
        write!(stream, "GET {path} HTTP/1.1\r\nHost: worker\r\nConnection: close\r\n\r\n").expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        answer
    };
    cluster.submit("rounds.prose", &[]);
    cluster.wait_for("SELECT state FROM job", "ended\n");
    cluster.prose(&["run", "rounds.prose", "-q", "--detach", "--harness", "claude", "--trust"]).ended(0);
    let begin = Instant::now();
    let text = loop {
        let text = get("/metrics");
        if text.contains("prose_cluster_requests{class=\"claude\",state=\"waiting\"} 3\n") {
            break text;
        }
        assert!(begin.elapsed() < Duration::from_secs(30), "{text}");
        sleep(Duration::from_millis(50));
    };
    for sample in [
        "prose_worker_connected 1",
        "prose_worker_slots 8",
        "prose_worker_runs_led 1",
        "prose_worker_requests_total{class=\"offline\",outcome=\"done\"} 37",
        "prose_worker_runs_total{status=\"completed\"} 1",
        "prose_cluster_runs{state=\"led\"} 1",
    ] {
        assert!(text.contains(&format!("\n{sample}\n")), "{sample} is missing: {text}");
    }
    assert!(get("/").starts_with("HTTP/1.1 404 "));
    worker.kill().expect("it is a process of ours");
    worker.wait().expect("it has ended");
}

#[test]
#[ignore = "needs PostgreSQL"]
fn old_runs_of_the_server_are_removed() {
    let mut cluster = Cluster::new(&[("few.prose", &parallel(2))]);
    cluster.worker(&["--class", "offline"]);
    for _ in 0..2 {
        cluster.prose(&["run", "few.prose", "-q", "--harness", "offline"]).ended(0);
    }
    let active = cluster.submit("few.prose", &["--delay", "30s"]);
    cluster.wait_for("SELECT count(*) FROM job WHERE state = 'active'", "1\n");
    let kept = cluster.prose(&["runs", "prune", "--older", "1h", "--yes"]).ended(0).stderr;
    assert!(kept.contains("There is no run to remove."), "{kept}");
    cluster.prose(&["runs", "prune", "--keep", "1", "--yes"]).ended(0);
    assert_eq!(cluster.query("SELECT id FROM run"), format!("{active}\n"));
    assert_eq!(
        cluster.query("SELECT count(*) FROM journal"),
        cluster.query("SELECT count(*) FROM journal WHERE run_id = (SELECT id FROM run)")
    );
}

#[test]
#[ignore = "needs PostgreSQL"]
fn what_a_killed_worker_leaves_is_removed_by_the_next_one() {
    let mut cluster = Cluster::new(&[("temporary/other/notes.md", "notes")]);
    let temporary = cluster.workspace.path("temporary");
    let folders = || {
        let names = std::fs::read_dir(&temporary).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    };
    let locked = |folder: &str| temporary.join(folder).join(".lock").exists();
    let url = cluster.server.url();
    cluster.workspace.prose(&["cluster", "init", &url]).ended(0);
    let variables = [("TMPDIR", temporary.to_str().unwrap())];
    cluster.worker_with(&variables, &url, &[]);
    cluster.wait_for("SELECT count(*) FROM worker", "1\n");
    let first = folders().into_iter().find(|folder| folder.starts_with("prose-worker-") && locked(folder));
    let first = first.expect("a worker has a folder");
    cluster.kill(0);
    // One that was killed just now could as well be one that has just begun.
    let lock = std::fs::File::options().write(true).open(temporary.join(&first).join(".lock")).unwrap();
    lock.set_modified(std::time::SystemTime::now() - Duration::from_secs(90)).unwrap();
    cluster.worker_with(&variables, &url, &[]);
    cluster.wait_for("SELECT count(*) FROM worker", "2\n");
    let second = folders();
    assert!(second.len() == 2 && second[0] == "other" && second[1] != first, "{first}: {second:?}");
    // A third one leaves that of the second, which works.
    let lock = std::fs::File::options().write(true).open(temporary.join(&second[1]).join(".lock")).unwrap();
    lock.set_modified(std::time::SystemTime::now() - Duration::from_secs(90)).unwrap();
    cluster.worker_with(&variables, &url, &[]);
    cluster.wait_for("SELECT count(*) FROM worker", "3\n");
    assert!(folders().contains(&second[1]));
}
