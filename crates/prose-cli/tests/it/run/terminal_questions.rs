//! What is typed at a terminal answers the question that is shown, and no other one.

use expect_test::expect;
use rustix::process::getuid;

use crate::common::Workspace;
use crate::terminal::{answered, answered_after, played};

const ASKS: &str =
    "input logs: \"Keep logs? (yes/no)\"\ninput go: \"Ship it? (yes/no)\"\noutput done = \"{logs} {go}\"\n";

/// A program that asks twice, and the command that runs it.
fn asks() -> (Workspace, std::process::Command) {
    let workspace = Workspace::new(&[("asks.prose", ASKS)]);
    let mut command = workspace.command();
    command.args(["run", "asks.prose", "-q", "--color", "never"]);
    (workspace, command)
}

/// An agent that has to ask after an input was given.
fn removes(input: &str) -> Workspace {
    let program =
        format!("agent a:\n  permissions:\n    bash: prompt\n\n{input}session: a\n  prompt: \"Clean up\"\n");
    let script = "[[session]]\nreply = \"done\"\ntools = [\"bash: rm -rf x\"]\n";
    Workspace::new(&[("main.prose", &program), ("script.toml", script)])
}

fn run_script(workspace: &Workspace) -> std::process::Command {
    let mut command = workspace.command();
    command.args(["run", "main.prose", "--script", "script.toml", "-q", "--color", "never"]);
    command
}

fn answers_elsewhere(workspace: &Workspace, answer: &str) -> String {
    workspace.prose(&["runs", "answer", "20", answer]).ended(0);
    String::new()
}

#[test]
fn a_line_that_was_begun_for_a_question_does_not_answer_the_next_one() {
    let (workspace, mut command) = asks();
    let keys: [(&str, &dyn Fn() -> String); 4] = [
        ("Keep logs? (yes/no) [y]es, [n]o: ", &|| "y".to_owned()),
        ("y", &|| answers_elsewhere(&workspace, "no")),
        ("Ship it? (yes/no) [y]es, [n]o: ", &|| "\n".to_owned()),
        ("Ship it? (yes/no) [y]es, [n]o: ", &|| "n\n".to_owned()),
    ];
    let (status, shown) = played(&mut command, keys);
    assert_eq!(status, 0, "{shown}");
    let shown = workspace.prose(&["runs", "show"]).stdout;
    assert!(shown.contains("\ndone\nno no\n"), "{shown}");
}

#[test]
fn a_line_that_was_begun_for_an_input_does_not_allow_anything() {
    let workspace = removes("input logs: \"Keep logs? (yes/no)\"\n");
    let keys: [(&str, &dyn Fn() -> String); 4] = [
        ("[n]o: ", &|| "y".to_owned()),
        ("y", &|| answers_elsewhere(&workspace, "no")),
        ("or [d]eny? ", &|| "\n".to_owned()),
        ("or [d]eny? ", &|| "d\n".to_owned()),
    ];
    let (status, shown) = played(&mut run_script(&workspace), keys);
    assert_eq!(status, 0, "{shown}");
    assert!(shown.contains("warning: line 6: denied: `rm -rf x`"), "{shown}");
}

#[test]
fn what_was_typed_before_a_question_does_not_answer_it() {
    let workspace = removes("");
    let (status, shown) = answered_after("o\nr\n", &mut run_script(&workspace), &[("or [d]eny? ", "d\n")]);
    assert_eq!(status, 0, "{shown}");
    assert!(shown.contains("denied: `rm -rf x`"), "{shown}");
}

#[test]
fn a_question_is_written_again_after_other_output() {
    let workspace = Workspace::new(&[("asks.prose", ASKS)]);
    let mut command = workspace.command();
    command.args(["run", "asks.prose", "--color", "never"]);
    let set_limit = || {
        workspace.prose(&["runs", "set-limit", "20", "--max-sessions", "9"]).ended(0);
        String::new()
    };
    let keys: [(&str, &dyn Fn() -> String); 3] = [
        ("Keep logs? (yes/no) [y]es, [n]o: ", &set_limit),
        ("Keep logs? (yes/no) [y]es, [n]o: ", &|| "yes\n".to_owned()),
        ("Ship it? (yes/no) [y]es, [n]o: ", &|| "no\n".to_owned()),
    ];
    let (status, shown) = played(&mut command, keys);
    assert_eq!(status, 0, "{shown}");
    assert!(shown.contains("the limit is 9 sessions now"), "{shown}");
}

#[test]
fn a_line_that_is_not_utf8_is_asked_again() {
    let workspace = Workspace::new(&[("asks.prose", "input topic: \"What about\"\noutput o = topic\n")]);
    let mut command = workspace.command();
    command.args(["run", "asks.prose", "-q", "--color", "never"]);
    let keys: [(&str, &[u8]); 2] = [("about: ", b"caf\xe9\n"), ("about: ", "café\n".as_bytes())];
    let (status, shown) = answered_after("", &mut command, &keys);
    expect![[r#"
        status: 0
        topic — What about: caf�
        the answer is not UTF-8; type it again
        topic — What about: café
    "#]]
    .assert_eq(&workspace.masked(&format!("status: {status}\n{shown}")));
}

#[test]
fn a_user_without_a_name_is_named_by_number() {
    let workspace = Workspace::new(&[("asks.prose", "let a = session \"A\"\ninput go: \"Go?\"\n")]);
    workspace.prose(&["run", "asks.prose", "-q"]).ended(5);
    let mut command = workspace.command();
    for name in ["USER", "LOGNAME", "USERNAME"] {
        command.env_remove(name);
    }
    command.args(["runs", "answer", "20", "now", "-q"]);
    crate::common::Run::of(&mut command).ended(0);
    let journal = std::fs::read_to_string(workspace.run_folder().join("journal.jsonl")).unwrap();
    let by = format!("\"by\":\"uid {}\"", getuid().as_raw());
    assert!(journal.contains(&by), "{journal}");
}

/// A shell with job control starts it in a process group of its own.
#[cfg(target_os = "linux")]
#[test]
fn a_run_in_the_background_waits_as_without_a_terminal() {
    let program = "let a = session \"A\"\ninput go: \"Go? (yes/no)\"\n";
    let workspace = Workspace::new(&[("asks.prose", program)]);
    let mut command = workspace.command();
    let run = ["run", "asks.prose", "-q", "--color", "never"];
    let prose = command.get_program().to_owned();
    let mut shell = std::process::Command::new("sh");
    shell.args(["-mc", "\"$@\" & wait $!", "sh"]).arg(prose).args(run);
    shell.current_dir(command.get_current_dir().unwrap());
    shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command = crate::terminal::controlled(&shell);
    let (status, shown) = answered(&mut command, &[]);
    assert_eq!(status, 5, "{shown}");
    assert!(shown.contains("waiting: question 1 at line 2: go: Go? (yes/no)"), "{shown}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_closed_terminal_interrupts_the_run() {
    let workspace = Workspace::new(&[("slow.prose", "session \"First\"\n"), ("asks.prose", ASKS)]);
    for (arguments, text) in [
        (&["run", "slow.prose", "--plain", "--delay", "1h"][..], "First"),
        (&["run", "asks.prose", "--plain"], "[n]o: "),
    ] {
        let mut command = workspace.command();
        assert_eq!(crate::terminal::closed_at(command.args(arguments), text), 3, "{arguments:?}");
    }
}
