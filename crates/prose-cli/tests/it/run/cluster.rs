//! Runs on the workers of a cluster, each with a server of its own.

mod chaos;
mod faults;
mod files;
mod forks;
mod repositories;
mod roles;
mod traces;
mod turns;

use std::path::Path;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use prose_fixture::postgres::PostgresServer;

use super::{ANSWERS, TWO};
use crate::common::{Run, Workspace};

/// A program that takes a while: 12 rounds of three sessions.
const ROUNDS: &str = "\
repeat 12:
  parallel:
    session \"left\"
    session \"right\"
    session \"middle\"
output text = session \"sum\"
";

/// A server with workers, which end with this value.
struct Cluster {
    server: PostgresServer,
    workspace: Workspace,
    workers: Vec<Child>,
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for worker in &mut self.workers {
            let _ = worker.kill();
            let _ = worker.wait();
        }
    }
}

impl Cluster {
    /// A server without workers, and a project.
    fn new(files: &[(&str, &str)]) -> Self {
        let (server, workspace) = (PostgresServer::start(), Workspace::new(files));
        Self { server, workspace, workers: Vec::new() }
    }

    /// Starts a worker in another folder. Returns its place among the workers.
    fn worker(&mut self, arguments: &[&str]) -> usize {
        let url = self.server.url();
        self.worker_on(&url, arguments)
    }

    /// The same with an address.
    fn worker_on(&mut self, url: &str, arguments: &[&str]) -> usize {
        self.worker_with(&[], url, arguments)
    }

    /// The same with variables.
    fn worker_with(&mut self, variables: &[(&str, &str)], url: &str, arguments: &[&str]) -> usize {
        let mut command = self.workspace.command();
        command.envs(variables.iter().copied());
        command.args(["worker", "--on", url]).args(arguments).current_dir("/");
        if !arguments.contains(&"--lease") {
            command.args(["--lease", "2s"]);
        }
        command.stdin(Stdio::null()).stdout(Stdio::null());
        if std::env::var_os("PROSE_SHOW_WORKERS").is_none() {
            command.stderr(Stdio::null());
        }
        self.workers.push(command.spawn().expect("the binary starts"));
        self.workers.len() - 1
    }

    fn kill(&mut self, worker: usize) {
        self.workers[worker].kill().expect("it is a process of ours");
        self.workers[worker].wait().expect("it has ended");
    }

    fn signal(&self, worker: usize, signal: rustix::process::Signal) {
        let process = rustix::process::Pid::from_child(&self.workers[worker]);
        rustix::process::kill_process(process, signal).expect("it is a process of ours");
    }

    fn prose(&self, arguments: &[&str]) -> Run {
        let url = self.server.url();
        self.workspace.prose(&[arguments, &["--on", &url]].concat())
    }

    /// Submits a run of a program with the harness `offline`. Returns its id.
    fn submit(&self, program: &str, arguments: &[&str]) -> String {
        let run = ["run", program, "-q", "--detach", "--harness", "offline"];
        self.prose(&[&run, arguments].concat()).ended(0).stdout.trim().to_owned()
    }

    fn query(&self, sql: &str) -> String {
        self.server.query(&format!("SET search_path TO openprose; {sql}"))
    }

    /// Waits until a query has this answer.
    #[track_caller]
    fn wait_for(&self, sql: &str, wanted: &str) {
        let begin = Instant::now();
        loop {
            let found = self.query(sql);
            if found == wanted {
                return;
            }
            assert!(begin.elapsed() < Duration::from_secs(60), "{sql}: {found}");
            sleep(Duration::from_millis(20));
        }
    }

    /// How many outcomes of sessions the journal of a run has, and of how many different requests.
    fn outcomes(&self, run: &str) -> String {
        self.query(&format!(
            "SELECT count(*), count(DISTINCT line::jsonb ->> 'request') FROM journal WHERE run_id = '{run}'
             AND line::jsonb ->> 'event' = 'effect'"
        ))
    }
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_run_is_executed_by_workers_and_shown_everywhere() {
    let library = "input topic: \"what\"\noutput said = session \"about {topic}\"\n";
    let main = "use \"./lib.prose\" as lib\nlet a = lib(topic: \"tides\")\noutput text = session \"two\"\n  context: a\n";
    let mut cluster = Cluster::new(&[("main.prose", main), ("lib.prose", library)]);
    cluster.worker(&["--leads", "0"]);
    cluster.worker(&["--slots", "0"]);
    let run = cluster.prose(&["run", "main.prose", "--harness", "offline"]).ended(0);
    assert!(run.stdout.starts_with("text: ") && run.stdout.ends_with("[offline]\n"), "{run:?}");
    assert!(run.stderr.contains("Completed: 2 sessions done"), "{run:?}");
    let listed = cluster.prose(&["runs", "list"]).ended(0).stdout;
    assert!(listed.contains("  completed  ") && listed.contains("  2 sessions  main.prose\n"), "{listed}");
    let told = cluster.prose(&["runs", "tail"]).ended(0).stdout;
    assert!(told.contains("[Output] output text = "), "{told}");
    let shown = cluster.prose(&["runs", "show"]).ended(0).stdout;
    assert!(shown.contains("\nprogram:  main.prose\n"), "{shown}");
    cluster.prose(&["runs", "report", "-o", "report.html"]).ended(0);
    let report = cluster.workspace.read("report.html");
    assert!(report.contains("about tides") && report.contains("[offline]"), "{report}");
    // Nothing is left but what is documented.
    assert_eq!(cluster.query("SELECT count(*) FROM effect"), "0\n");
    assert_eq!(cluster.query("SELECT state, epoch, holder FROM job"), "ended|1|\n");
    // The same as anywhere else.
    let here = cluster.workspace.prose(&["run", "main.prose", "--harness", "offline", "-q"]).ended(0);
    assert_eq!(run.stdout, here.stdout);
}

#[test]
#[ignore = "needs PostgreSQL"]
fn another_worker_continues_with_what_a_killed_one_had() {
    let mut cluster = Cluster::new(&[("rounds.prose", ROUNDS)]);
    cluster.worker(&["--class", "offline"]);
    cluster.worker(&["--class", "offline"]);
    let run = cluster.submit("rounds.prose", &["--delay", "200ms"]);
    for _ in 0..3 {
        sleep(Duration::from_millis(700));
        cluster.kill(0);
        cluster.workers.remove(0).wait().expect("it has ended");
        cluster.worker(&["--class", "offline"]);
    }
    cluster.wait_for("SELECT state FROM job", "ended\n");
    assert_eq!(cluster.outcomes(&run), "37|37\n");
    let shown = cluster.prose(&["runs", "show", &run]).ended(0).stdout;
    assert!(shown.contains("completed\n") && shown.contains("\nsessions: 37\n"), "{shown}");
    assert_ne!(cluster.query("SELECT epoch FROM job"), "1\n");
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_worker_that_was_stopped_for_longer_than_its_lease_writes_nothing_any_more() {
    let mut cluster = Cluster::new(&[("rounds.prose", ROUNDS)]);
    let stopped = cluster.worker(&["--class", "offline"]);
    let run = cluster.submit("rounds.prose", &["--delay", "150ms"]);
    cluster.wait_for("SELECT count(*) > 8 FROM journal", "t\n");
    cluster.signal(stopped, rustix::process::Signal::STOP);
    cluster.worker(&["--class", "offline"]);
    cluster.wait_for("SELECT epoch FROM job", "2\n");
    // Both believe that they lead the run.
    cluster.signal(stopped, rustix::process::Signal::CONT);
    cluster.wait_for("SELECT state FROM job", "ended\n");
    assert_eq!(cluster.outcomes(&run), "37|37\n");
    let shown = cluster.prose(&["runs", "show", &run]).ended(0).stdout;
    assert!(shown.contains("completed\n"), "{shown}");
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_run_waits_for_a_server_that_is_started_again() {
    let mut cluster = Cluster::new(&[("rounds.prose", ROUNDS)]);
    cluster.worker(&["--class", "offline"]);
    cluster.worker(&["--class", "offline"]);
    let run = cluster.submit("rounds.prose", &["--delay", "150ms"]);
    for _ in 0..2 {
        sleep(Duration::from_millis(500));
        cluster.server.down();
        sleep(Duration::from_millis(300));
        cluster.server.up();
    }
    cluster.wait_for("SELECT state FROM job", "ended\n");
    assert_eq!(cluster.outcomes(&run), "37|37\n");
}

/// A leader looks for outcomes of all of its runs at once, also of one whose program has not yet come to the request again.
#[test]
#[ignore = "needs PostgreSQL"]
fn an_outcome_that_a_new_leader_finds_before_it_asks_for_it_is_not_lost() {
    let mut cluster = Cluster::new(&[("one.prose", "output text = session \"one\"\n")]);
    let first = cluster.worker(&["--class", "offline", "--slots", "0"]);
    cluster.worker(&["--class", "offline", "--leads", "0"]);
    let run = cluster.submit("one.prose", &["--delay", "1s"]);
    cluster.wait_for("SELECT count(*) FROM effect WHERE claim IS NOT NULL", "1\n");
    cluster.kill(first);
    cluster.wait_for("SELECT count(*) FROM effect WHERE outcome IS NOT NULL", "1\n");
    // Whether it does so depends on the time.
    cluster.query(
        "CREATE FUNCTION take() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
         UPDATE effect SET taken = NEW.epoch WHERE run_id = NEW.run_id; RETURN NEW; END $$;
         CREATE TRIGGER take AFTER UPDATE OF epoch ON job FOR EACH ROW EXECUTE FUNCTION take()",
    );
    cluster.worker(&["--class", "offline", "--slots", "0"]);
    cluster.wait_for("SELECT state, epoch FROM job", "ended|2\n");
    assert_eq!(cluster.outcomes(&run), "1|1\n");
}

/// It leads the run in a second epoch while the program of the first one still ends.
#[test]
#[ignore = "needs PostgreSQL"]
fn a_worker_that_cannot_reach_its_server_for_longer_than_its_lease_begins_again() {
    let mut cluster = Cluster::new(&[("rounds.prose", ROUNDS)]);
    cluster.worker(&["--class", "offline"]);
    let run = cluster.submit("rounds.prose", &["--delay", "150ms"]);
    cluster.wait_for("SELECT count(*) > 8 FROM journal", "t\n");
    cluster.server.down();
    sleep(Duration::from_secs(3));
    cluster.server.up();
    cluster.wait_for("SELECT state, epoch FROM job", "ended|2\n");
    assert_eq!(cluster.outcomes(&run), "37|37\n");
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_run_that_its_leader_cannot_start_stays_with_the_reason() {
    let settings = "[run]\nharness = \"command\"\ncommand = [\"cat\"]\nisolation = \"worktree\"\n";
    let program = "parallel:\n  a = session \"one\"\n  b = session \"two\"\noutput text = \"{a} {b}\"\n";
    let mut cluster = Cluster::new(&[("prose.toml", settings), ("two.prose", program)]);
    cluster.workspace.trust();
    cluster.worker(&["--class", "command"]);
    let refused = cluster.prose(&["run", "two.prose"]).ended(2);
    assert!(refused.stderr.contains("needs a git repository"), "{refused:?}");
    assert_eq!(cluster.query("SELECT state, problem LIKE '%git%' FROM job"), "ended|t\n");
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_worker_that_is_asked_to_end_gives_everything_back_at_once() {
    let mut cluster = Cluster::new(&[("rounds.prose", ROUNDS)]);
    let first = cluster.worker(&["--class", "offline", "--lease", "60s"]);
    let run = cluster.submit("rounds.prose", &["--delay", "150ms"]);
    cluster.wait_for("SELECT count(*) > 8 FROM journal", "t\n");
    cluster.signal(first, rustix::process::Signal::TERM);
    assert!(cluster.workers[first].wait().unwrap().success());
    cluster.worker(&["--class", "offline"]);
    let attached = cluster.prose(&["runs", "attach", &run]).ended(0);
    assert!(attached.stderr.contains("has completed"), "{attached:?}");
    assert_eq!(cluster.outcomes(&run), "37|37\n");
    assert_eq!(cluster.query("SELECT epoch FROM job"), "2\n");
}

#[test]
#[ignore = "needs PostgreSQL"]
fn runs_are_paused_stopped_resumed_and_answered_from_anywhere() {
    let program = "let topic = input \"Which topic?\"\noutput text = session \"about {topic}\"\n";
    let mut cluster = Cluster::new(&[("rounds.prose", ROUNDS), ("ask.prose", program)]);
    cluster.worker(&["--class", "offline"]);
    let run = cluster.submit("rounds.prose", &["--delay", "100ms"]);
    cluster.wait_for("SELECT count(*) > 3 FROM journal", "t\n");
    cluster.prose(&["runs", "pause", &run]).ended(0);
    // Sessions at work complete.
    cluster.wait_for("SELECT count(*) FROM effect WHERE claim IS NOT NULL", "0\n");
    cluster.prose(&["runs", "continue", &run]).ended(0);
    let stopped = cluster.prose(&["runs", "stop", &run]).ended(0).stdout;
    assert!(stopped.starts_with("stopped "), "{stopped}");
    cluster.wait_for("SELECT state FROM job", "ended\n");
    let resumed = cluster.prose(&["resume", &run]).ended(0);
    assert!(resumed.stdout.starts_with("text: "), "{resumed:?}");
    assert_eq!(cluster.outcomes(&run), "37|37\n");

    let asking = cluster.submit("ask.prose", &[]);
    cluster.wait_for(&format!("SELECT count(*) > 1 FROM journal WHERE run_id = '{asking}'"), "t\n");
    let begin = Instant::now();
    while cluster.prose(&["runs", "answer", &asking, "tides"]).status != 0 {
        assert!(begin.elapsed() < Duration::from_secs(30));
    }
    cluster.wait_for(&format!("SELECT state FROM job WHERE run_id = '{asking}'"), "ended\n");
    let shown = cluster.prose(&["runs", "show", &asking]).ended(0).stdout;
    assert!(shown.contains("completed\n"), "{shown}");
    assert!(
        cluster.query(&format!("SELECT line FROM journal WHERE run_id = '{asking}'")).contains("\"ada\"")
    );
}

#[test]
#[ignore = "needs PostgreSQL"]
fn what_cannot_be_run_on_other_machines_is_refused_with_the_reason() {
    let mut cluster = Cluster::new(&[
        ("two.prose", TWO),
        ("answers.toml", ANSWERS),
        ("project/prose.toml", ""),
        ("project/out.prose", "use \"../two.prose\" as two\noutput t = two()\n"),
        ("memory.prose", "agent a:\n  persist: project\n  prompt: \"A\"\nsession: a\n  prompt: \"go\"\n"),
    ]);
    let refused = cluster.prose(&["run", "project/out.prose", "-q"]).ended(2).stderr;
    assert!(refused.contains("is not in the folder of the project"), "{refused}");
    let refused = cluster.prose(&["run", "memory.prose", "-q"]).ended(2).stderr;
    assert!(refused.contains("the agent `a` (line 1) keeps a memory that outlives the run"), "{refused}");
    let refused = cluster.workspace.prose(&["run", "two.prose", "--on", "postgresql://h@127.0.0.1:1/p"]);
    let refused = refused.ended(2).stderr;
    assert!(refused.contains("start the server, or correct `OPENPROSE_POSTGRES_URL`"), "{refused}");
    // A script is asked where the run is led.
    cluster.worker(&[]);
    let scripted = cluster.prose(&["run", "two.prose", "-q", "--script", "answers.toml"]).ended(0);
    assert_eq!(scripted.stdout, "text: two\n");
    assert!(!Path::new("/.prose").exists(), "a worker keeps nothing in its folder");
}

/// An agent that asks whether it may use the shell, and replies with the answer.
const AGENT: &str = r#"#!/bin/sh
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case $line in
    *'"initialize"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":1,"agentCapabilities":{}}}';;
    *'"session/new"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"sessionId":"s"}}';;
    *'"session/prompt"'*) prompt=$id
      echo '{"jsonrpc":"2.0","id":"ask","method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"t","title":"git log","kind":"execute","rawInput":{"command":"git log"}},"options":[{"optionId":"yes","name":"Once","kind":"allow_once"},{"optionId":"no","name":"No","kind":"reject_once"}]}}';;
    *'"outcome"'*) answer=$(printf '%s' "$line" | sed -n 's/.*"optionId":"\([a-z]*\)".*/\1/p')
      echo '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"said '$answer'"}}}}'
      echo '{"jsonrpc":"2.0","id":'$prompt',"result":{"stopReason":"end_turn"}}';;
  esac
done
"#;

#[test]
#[ignore = "needs PostgreSQL"]
fn the_question_of_an_agent_is_answered_from_another_machine() {
    let program = "agent historian:\n  permissions:\n    bash: prompt\noutput text = session: historian\n  prompt: \"Look\"\n";
    let mut cluster = Cluster::new(&[("main.prose", program), ("agent.sh", AGENT)]);
    let agent = cluster.workspace.path("agent.sh");
    let settings = format!("[run]\nharness = \"acp\"\ncommand = [\"sh\", \"{}\"]\n", agent.display());
    cluster.workspace.write("prose.toml", settings.as_bytes());
    cluster.workspace.trust();
    cluster.worker(&["--leads", "0"]);
    cluster.worker(&["--slots", "0"]);
    let run = cluster
        .prose(&["run", "main.prose", "--detach", "-q", "--allow-unenforced-permissions"])
        .ended(0)
        .stdout
        .trim()
        .to_owned();
    cluster.wait_for("SELECT count(*) FROM question WHERE taken IS NOT NULL", "1\n");
    let begin = Instant::now();
    while cluster.prose(&["runs", "answer", &run, "once"]).status != 0 {
        assert!(begin.elapsed() < Duration::from_secs(30));
    }
    cluster.wait_for("SELECT state FROM job", "ended\n");
    let shown = cluster.prose(&["runs", "show", &run]).ended(0).stdout;
    assert!(
        shown.contains("said yes") && shown.contains("asked: git log (bash: prompt): allowed by ada"),
        "{shown}"
    );
}

#[test]
#[ignore = "needs PostgreSQL"]
fn another_leader_has_the_memory_of_the_agents_of_the_run() {
    let program =
        "agent a:\n  persist: true\n  prompt: \"A\"\nrepeat 8:\n  resume: a\n    prompt: \"go on\"\n";
    let mut cluster = Cluster::new(&[("memory.prose", program)]);
    let first = cluster.worker(&["--class", "offline"]);
    let run = cluster.submit("memory.prose", &["--delay", "300ms"]);
    let written = "SELECT count(*) FROM journal WHERE line::jsonb ->> 'event' = 'memory-written'";
    cluster.wait_for(written, "2\n");
    cluster.kill(first);
    cluster.worker(&["--class", "offline"]);
    cluster.wait_for("SELECT state FROM job", "ended\n");
    // Each segment follows the one before.
    assert_eq!(cluster.query("SELECT count(*), max(segment_number) FROM agent_segments"), "8|8\n");
    let shown = cluster.prose(&["runs", "show", &run]).ended(0).stdout;
    assert!(shown.contains("completed\n"), "{shown}");
}

#[test]
#[ignore = "needs PostgreSQL"]
fn an_end_that_a_leader_could_not_tell_any_more_is_the_end() {
    let mut cluster = Cluster::new(&[("rounds.prose", ROUNDS), ("two.prose", TWO)]);
    cluster.worker(&["--class", "offline"]);
    let stopped = cluster.submit("rounds.prose", &["--delay", "100ms"]);
    cluster.wait_for("SELECT count(*) > 3 FROM journal", "t\n");
    cluster.prose(&["runs", "stop", &stopped]).ended(0);
    let completed = cluster.submit("two.prose", &[]);
    let ended = "SELECT count(*) FROM job WHERE state = 'ended' AND problem IS NULL";
    cluster.wait_for(ended, "2\n");
    let lines = cluster.query("SELECT count(*), max(start) FROM journal");
    // As if the leader had died after it had recorded the end.
    cluster.query("UPDATE job SET state = 'active', until = now()");
    cluster.wait_for(&format!("{ended} AND epoch > 1"), "2\n");
    assert_eq!(cluster.query("SELECT count(*), max(start) FROM journal"), lines, "nothing was executed");
    let listed = cluster.prose(&["runs", "list"]).ended(0).stdout;
    assert!(listed.contains("interrupted") && listed.contains("completed"), "{listed}");
    cluster.prose(&["resume", &stopped]).ended(0);
    assert_eq!(cluster.outcomes(&stopped), "37|37\n");
    let _ = completed;
}

#[test]
#[ignore = "needs PostgreSQL"]
fn what_waits_for_a_worker_when_a_run_is_paused_does_not_start() {
    let program = "parallel for item in [1, 2, 3, 4, 5, 6]:\n  session \"work on {item}\"\n";
    let mut cluster = Cluster::new(&[("six.prose", program)]);
    cluster.worker(&["--class", "offline", "--slots", "1"]);
    let run = cluster.submit("six.prose", &["--delay", "400ms"]);
    cluster.wait_for("SELECT count(*) FROM effect WHERE claim IS NOT NULL", "1\n");
    cluster.prose(&["runs", "pause", &run]).ended(0);
    cluster.wait_for(
        "SELECT count(*) > 0 AND bool_and(due = 'infinity') FROM effect WHERE claim IS NULL",
        "t\n",
    );
    let waiting = cluster.query("SELECT count(*) FROM effect WHERE claim IS NULL");
    sleep(Duration::from_millis(1500));
    assert_eq!(cluster.query("SELECT count(*) FROM effect WHERE claim IS NULL"), waiting);
    cluster.prose(&["runs", "continue", &run]).ended(0);
    cluster.wait_for("SELECT state FROM job", "ended\n");
    assert_eq!(cluster.outcomes(&run), "6|6\n");
}

#[test]
#[ignore = "needs PostgreSQL"]
fn many_requests_of_a_run_that_are_claimed_at_once_share_its_folder() {
    let items: Vec<String> = (0..600).map(|item| format!("\"{item}\"")).collect();
    let program = format!("parallel for item in [{}]:\n  session \"work on {{item}}\"\n", items.join(", "));
    let mut cluster = Cluster::new(&[("many.prose", &program)]);
    cluster.worker(&["--class", "offline", "--slots", "64", "--leads", "0"]);
    cluster.worker(&["--slots", "0"]);
    for _ in 0..3 {
        cluster.prose(&["run", "many.prose", "-q", "--harness", "offline"]).ended(0);
    }
}

#[test]
#[ignore = "needs PostgreSQL"]
fn the_status_shows_workers_and_what_waits_for_them() {
    let program = "parallel:\n  session \"one\"\n  session \"two\"\n";
    let settings = "[run]\ncommand = [\"cat\"]\n";
    let mut cluster = Cluster::new(&[("two.prose", program), ("prose.toml", settings)]);
    let status = |cluster: &Cluster| {
        let url = cluster.server.url();
        cluster.workspace.prose(&["cluster", "status", &url]).ended(0).stdout
    };
    cluster.worker(&["--class", "offline", "--slots", "1"]);
    cluster.submit("two.prose", &["--delay", "1m"]);
    cluster.prose(&["run", "two.prose", "-q", "--detach", "--harness", "command", "--trust"]).ended(0);
    cluster.wait_for("SELECT count(*), count(claim) FROM effect", "4|1\n");
    let shown = status(&cluster);
    let name = cluster.query("SELECT name FROM worker");
    let shown = shown.replace(name.trim(), "WORKER");
    let begin = shown.find("workers").unwrap();
    let oldest = shown.find(", the oldest for ").unwrap();
    assert_eq!(
        &shown[begin..oldest],
        "workers  WORKER  1 of 1 at work  offline\nwaiting  command  2 requests, and no worker performs them\n         offline  1 request"
    );
    cluster.kill(0);
    cluster.wait_for("SELECT count(*) FROM worker WHERE until > now()", "0\n");
    assert!(status(&cluster).contains("workers  none\n"));
}
