//! Permission questions, answered by a person at a terminal.

use expect_test::{Expect, expect};

use crate::common::Workspace;
use crate::terminal::answered;

const QUESTION: &str = "or [d]eny? ";

/// An agent that uses the shell twice, and has to ask.
fn historian() -> Workspace {
    let program =
        "agent historian:\n  permissions:\n    bash: prompt\n\nsession: historian\n  prompt: \"Look\"\n";
    let script = "[[session]]\nreply = \"done\"\ntools = [\"bash: git log\", \"bash: git show\"]\n";
    Workspace::new(&[("main.prose", program), ("script.toml", script)])
}

fn run(workspace: &Workspace) -> std::process::Command {
    let mut command = workspace.command();
    command
        .args(["run", "main.prose", "--script", "script.toml", "-q", "--color", "never"])
        .env("USER", "ada");
    command
}

/// What the terminal shows when these answers are typed, and what was recorded of them.
#[track_caller]
fn check(keys: &[&str], expected: Expect) {
    let workspace = historian();
    let keys: Vec<_> = keys.iter().map(|keys| (QUESTION, *keys)).collect();
    let (status, shown) = answered(&mut run(&workspace), &keys);
    let recorded = workspace.prose(&["runs", "show", "--color", "never"]).stdout;
    let asked = recorded.lines().filter(|line| line.contains("asked: "));
    let asked = asked.map(|line| {
        let (answer, time) = line.rsplit_once(", ").unwrap();
        assert!(time.ends_with('Z'), "{line}");
        format!("{answer}, TIME\n")
    });
    let asked: String = asked.collect();
    expected.assert_eq(&workspace.masked(&format!("status: {status}\n{shown}---- recorded\n{asked}")));
}

#[test]
fn each_use_is_allowed_once() {
    check(
        &["o\n", "yes\n"],
        expect![[r#"
        status: 0
        Agent `historian` asks for permission: git log (bash: prompt)
          allow [o]nce, allow for this [r]un, or [d]eny? o
        Agent `historian` asks for permission: git show (bash: prompt)
          allow [o]nce, allow for this [r]un, or [d]eny? yes
        ---- recorded
            asked: git log (bash: prompt): allowed by ada at the terminal, TIME
            asked: git show (bash: prompt): allowed by ada at the terminal, TIME
    "#]],
    );
}

#[test]
fn a_rule_is_allowed_for_the_run() {
    check(
        &["r\n"],
        expect![[r#"
        status: 0
        Agent `historian` asks for permission: git log (bash: prompt)
          allow [o]nce, allow for this [r]un, or [d]eny? r
        ---- recorded
            asked: git log (bash: prompt): allowed by ada at the terminal, TIME
            asked: git show (bash: prompt): allowed by ada with an earlier answer for the run, TIME
    "#]],
    );
}

#[test]
fn a_denied_use_is_a_warning() {
    check(
        &["d\n", "o\n"],
        expect![[r#"
        status: 0
        Agent `historian` asks for permission: git log (bash: prompt)
          allow [o]nce, allow for this [r]un, or [d]eny? d
        Agent `historian` asks for permission: git show (bash: prompt)
          allow [o]nce, allow for this [r]un, or [d]eny? o
        warning: line 5: denied: `git log` (the user denied it (bash: prompt))
        ---- recorded
            asked: git log (bash: prompt): denied by ada at the terminal, TIME
            asked: git show (bash: prompt): allowed by ada at the terminal, TIME
    "#]],
    );
}

#[test]
fn what_is_no_answer_is_asked_again() {
    check(
        &["perhaps\n", "\n", "o\n", "o\n"],
        expect![[r#"
            status: 0
            Agent `historian` asks for permission: git log (bash: prompt)
              allow [o]nce, allow for this [r]un, or [d]eny? perhaps
            `perhaps` is not one of the answers; choose one of [o]nce, [r]un, [d]eny
            Agent `historian` asks for permission: git log (bash: prompt)
              allow [o]nce, allow for this [r]un, or [d]eny? 
            Agent `historian` asks for permission: git log (bash: prompt)
              allow [o]nce, allow for this [r]un, or [d]eny? o
            Agent `historian` asks for permission: git show (bash: prompt)
              allow [o]nce, allow for this [r]un, or [d]eny? o
            ---- recorded
                asked: git log (bash: prompt): allowed by ada at the terminal, TIME
                asked: git show (bash: prompt): allowed by ada at the terminal, TIME
        "#]],
    );
}

#[test]
fn the_end_of_the_input_is_no_answer_and_stops_the_run() {
    check(
        &["\u{4}"],
        expect![[r#"
            status: 5
            Agent `historian` asks for permission: git log (bash: prompt)
              allow [o]nce, allow for this [r]un, or [d]eny? 
            waiting: question 1 at line 5: Agent `historian` asks for permission: git log (bash: prompt)
            help: answer with `prose runs answer ID once|run|deny`; recorded results are reused
            ---- recorded
        "#]],
    );
}

#[cfg(target_os = "linux")]
#[test]
fn ctrl_c_stops_the_run_while_it_asks() {
    let workspace = historian();
    let mut command = crate::terminal::controlled(&run(&workspace));
    let (status, shown) = answered(&mut command, &[(QUESTION, "\u{3}")]);
    expect![[r#"
        status: 3
        Agent `historian` asks for permission: git log (bash: prompt)
          allow [o]nce, allow for this [r]un, or [d]eny? ^C
        stopped: interrupted by Ctrl-C
        help: resume it with `prose resume ID`; recorded results are reused
    "#]]
    .assert_eq(&workspace.masked(&format!("status: {status}\n{shown}")));
    let mut resumed = workspace.command();
    resumed.args(["resume", "-q", "--color", "never"]);
    let (status, shown) = answered(&mut resumed, &[(QUESTION, "r\n")]);
    assert_eq!(status, 0, "{shown}");
}
