//! Questions of runs whose process is alive, has died, or has just started, and answers to them.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};

use expect_test::expect;

use crate::common::{Run, Workspace};

const RELEASE: &str = "let plan = session \"Plan\"\ninput go: \"Ship it? (yes/no)\"\noutput done = go\n";

/// The process of a run that stays while it waits, once it has written its question.
struct Staying {
    child: Child,
    stderr: String,
}

impl Staying {
    fn start(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
        let mut lines = BufReader::new(child.stderr.take().expect("it is piped")).lines();
        let mut stderr = String::new();
        while !stderr.contains("help: answer with") {
            stderr += &lines.next().unwrap_or_else(|| panic!("it ended: {stderr}")).expect("it is text");
            stderr.push('\n');
        }
        // It must not wait for a reader.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, stderr }
    }

    fn send(&mut self, signal: &str) {
        let sent = Command::new("kill").args([signal, &self.child.id().to_string()]).status();
        assert!(sent.is_ok_and(|status| status.success()));
        self.child.wait().expect("it ends");
    }
}

fn staying() -> Workspace {
    Workspace::new(&[("release.prose", RELEASE), ("prose.toml", "[run]\nwhen-waiting = \"stay\"\n")])
}

#[test]
fn a_run_that_stays_writes_its_question_and_is_listed_as_waiting() {
    let workspace = staying();
    let mut run = Staying::start(workspace.command().args(["run", "release.prose", "-q"]));
    expect![[r#"
        waiting: question 1 at line 2: go: Ship it? (yes/no)
        help: answer with `prose runs answer ID yes|no`
    "#]]
    .assert_eq(&workspace.masked(&run.stderr));
    let listed = workspace.prose(&["runs", "list", "--status", "waiting"]).stdout;
    assert!(listed.contains("  waiting  ") && listed.contains(": go: Ship it? (yes/no)"), "{listed}");
    let json = workspace.prose(&["runs", "list", "--json"]).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json[0]["status"], &json[0]["waiting"][0]["name"]), (&"waiting".into(), &"go".into()));
    let shown = workspace.prose(&["runs", "show"]).stdout;
    assert!(
        shown.contains("waiting:  question 1 at line 2: go: Ship it? (yes/no)\n          since 2"),
        "{shown}"
    );

    // Someone who watches without a terminal reads the question as well.
    let mut watched = Staying::start(workspace.command().args(["runs", "attach", "--read-only"]));
    assert!(
        watched.stderr.contains("waiting: question 1 at line 2: go: Ship it? (yes/no)\n"),
        "{}",
        watched.stderr
    );
    workspace.prose(&["runs", "answer", "2", "yes"]).ended(0);
    assert!(watched.child.wait().unwrap().success());
    assert!(run.child.wait().unwrap().success());
    let listed = workspace.prose(&["runs", "list"]).stdout;
    assert!(listed.contains("  completed  ") && !listed.contains("Ship it?"), "{listed}");
}

#[test]
fn a_question_outlives_the_process_that_asked_it() {
    for signal in ["-KILL", "-TERM", "-HUP"] {
        let workspace = staying();
        Staying::start(workspace.command().args(["run", "release.prose"])).send(signal);
        let listed = workspace.prose(&["runs", "list"]).stdout;
        assert!(listed.contains("  interrupted  ") && listed.contains(": go: Ship it? (yes/no)"), "{listed}");
        let shown = workspace.prose(&["runs", "show"]).stdout;
        assert!(shown.contains("waiting:  question 1 at line 2: go: Ship it? (yes/no)\n"), "{shown}");
        workspace.prose(&["runs", "answer", "2", "perhaps"]).ended(2);
        let answered = workspace.prose(&["runs", "answer", "2", "Y"]).ended(0);
        assert_eq!(answered.stdout, "done: yes\n", "{signal}: {answered:?}");
        assert!(
            answered.stderr.contains("Reused 1 result from the earlier execution, ran 0."),
            "{answered:?}"
        );
    }
}

#[test]
fn a_question_of_a_resumed_process_that_was_killed_is_answered_without_resuming() {
    let workspace = staying();
    Staying::start(workspace.command().args(["run", "release.prose"])).send("-KILL");
    Staying::start(workspace.command().args(["resume"])).send("-KILL");
    workspace.prose(&["runs", "answer", "2", "go", "no", "--no-resume"]).ended(0);
    let shown = workspace.prose(&["runs", "show"]).stdout;
    assert!(!shown.contains("waiting:"), "{shown}");
    assert_eq!(workspace.prose(&["resume", "-q"]).ended(0).stdout, "done: no\n");
}

#[test]
fn a_permission_outlives_the_process_that_asked_for_it() {
    let workspace = Workspace::new(&[
        ("main.prose", "agent a:\n  permissions:\n    bash: prompt\nsession: a\n  prompt: \"Look\"\n"),
        ("script.toml", "[[session]]\nreply = \"done\"\ntools = [\"bash: git log\"]\n"),
        ("prose.toml", "[run]\nwhen-waiting = \"stay\"\n"),
    ]);
    let run = ["run", "main.prose", "--script", "script.toml"];
    Staying::start(workspace.command().args(run)).send("-KILL");
    let answered = workspace.prose(&["runs", "answer", "2", "once"]).ended(0);
    assert!(answered.stdout.contains("done"), "{answered:?}");
}

#[test]
fn an_answer_holds_only_for_the_question_as_it_was_asked() {
    let program = |prompt: &str| format!("session \"Plan\"\nlet go = input \"{prompt}\"\noutput done = go\n");
    let workspace = Workspace::new(&[("main.prose", &program("Delete everything? (yes/no)"))]);
    workspace.prose(&["run", "main.prose"]).ended(5);
    workspace.prose(&["runs", "answer", "2", "yes", "--no-resume"]).ended(0);
    for prompt in ["Keep everything? (yes/no)", "Delete everything? (ja/nein)"] {
        workspace.write("main.prose", program(prompt).as_bytes());
        let resumed = workspace.prose(&["resume", "--accept-changes", "-q"]).ended(5);
        assert!(resumed.stderr.contains(prompt), "{resumed:?}");
    }
    let workspace = Workspace::new(&[("main.prose", &program("Delete everything? (yes/no)"))]);
    workspace.prose(&["run", "main.prose"]).ended(5);
    workspace.prose(&["runs", "answer", "2", "yes", "--no-resume"]).ended(0);
    workspace.write("main.prose", program("Keep everything? (yes/no)").as_bytes());
    let resumed = workspace.prose(&["resume", "--accept-changes", "-q"]);
    expect![[r#"
        status: 5
        waiting: question 1 at line 2: Keep everything? (yes/no)
        note: the earlier answer `yes` was to another question: Delete everything? (yes/no)
        help: answer with `prose runs answer ID yes|no`; recorded results are reused
    "#]]
    .assert_eq(&workspace.masked(&format!("status: {}\n{}", resumed.status, resumed.stderr)));
}

#[test]
fn answers_that_come_at_the_same_time_are_all_taken() {
    let program = "parallel:\n  a = input \"First?\"\n  b = input \"Second?\"\noutput c = \"{a} {b}\"\n";
    for round in 0..3 {
        let workspace = Workspace::new(&[("main.prose", program)]);
        workspace.prose(&["run", "main.prose"]).ended(5);
        let answer = |question: &str, value: &str| {
            let mut command = workspace.command();
            command.args(["runs", "answer", "2", question, value, "-q"]);
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts")
        };
        let answers = [answer("1", "one"), answer("2", "two")];
        let ended = answers.map(|answer| Run::from(answer.wait_with_output().expect("it ends")));
        // One of the two may have found the other question open, and nobody to answer it then.
        assert!(ended.iter().all(|run| matches!(run.status, 0 | 5)), "round {round}: {ended:?}");
        let shown = workspace.prose(&["runs", "show"]).stdout;
        assert!(
            shown.contains("  completed") && shown.contains("one two"),
            "round {round}: {shown} {ended:?}"
        );
    }
}

#[test]
fn an_input_without_a_let_is_answered_by_its_name() {
    let program = "let b = \"none\"\nb = input \"Second?\"\noutput c = b\n";
    let workspace = Workspace::new(&[("main.prose", program)]);
    workspace.prose(&["run", "main.prose"]).ended(5);
    assert_eq!(workspace.prose(&["runs", "answer", "2", "b", "two", "-q"]).ended(0).stdout, "c: two\n");
}

/// `prose mcp` with a run that waits for its client, or for a person.
struct Served {
    child: Child,
    _stdin: ChildStdin,
}

fn served(workspace: &Workspace) -> Served {
    workspace.trust();
    let mut command = workspace.command();
    command.arg("mcp").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().expect("the server starts");
    let mut stdin = child.stdin.take().expect("it is piped");
    let mut answers = BufReader::new(child.stdout.take().expect("it is piped")).lines();
    let client = r#""params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}"#;
    let run = r#""params":{"name":"run","arguments":{"path":"release.prose"}}"#;
    writeln!(stdin, r#"{{"jsonrpc":"2.0","id":1,"method":"initialize",{client}}}"#).unwrap();
    answers.next().unwrap().unwrap();
    writeln!(stdin, r#"{{"jsonrpc":"2.0","method":"notifications/initialized"}}"#).unwrap();
    writeln!(stdin, r#"{{"jsonrpc":"2.0","id":2,"method":"tools/call",{run}}}"#).unwrap();
    let asked = answers.next().unwrap().unwrap();
    assert!(asked.contains("Ship it?"), "{asked}");
    Served { child, _stdin: stdin }
}

#[test]
fn a_server_that_is_ended_by_a_signal_leaves_its_runs_waiting() {
    for (signal, status) in
        [("-TERM", "waiting"), ("-INT", "waiting"), ("-HUP", "waiting"), ("-KILL", "interrupted")]
    {
        let workspace = Workspace::new(&[("release.prose", RELEASE), ("prose.toml", "[mcp]\nrun = true\n")]);
        let mut server = served(&workspace);
        let listed = workspace.prose(&["runs", "list", "--status", "waiting"]).stdout;
        assert!(listed.contains("Ship it?"), "{listed}");
        let sent = Command::new("kill").args([signal, &server.child.id().to_string()]).status();
        assert!(sent.is_ok_and(|sent| sent.success()));
        let ended = server.child.wait().expect("it ends");
        assert_eq!(ended.code(), (signal != "-KILL").then_some(0), "{signal}");
        let listed = workspace.prose(&["runs", "list"]).stdout;
        assert!(listed.contains(&format!("  {status}  ")), "{signal}: {listed}");
        let answered = workspace.prose(&["runs", "answer", "2", "yes", "-q"]).ended(0);
        assert_eq!(answered.stdout, "done: yes\n");
    }
}
