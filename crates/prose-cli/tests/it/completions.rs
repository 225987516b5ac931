//! Command lines that shells complete: what `prose` answers them, and the real shells with their scripts.

use std::process::Command;

use expect_test::{Expect, expect};

use crate::common::{Run, Workspace};

const REVIEW: &str = "\
input topic: \"What to write about\"
input style: \"How to write it\"
agent writer:
  prompt: \"You write\"
let draft = session: writer
  prompt: \"Write about {topic} in a {style} way\"
output summary = session \"Summarise {draft}\"
";

fn workspace() -> Workspace {
    Workspace::new(&[("review.prose", REVIEW), ("notes.txt", ""), ("my first.prose", REVIEW)])
}

/// What is offered for the last of some words.
fn offered(workspace: &Workspace, words: &[&str]) -> Run {
    let mut command = workspace.command();
    Run::of(command.env("PROSE_COMPLETE", "fish").args(["--", "prose"]).args(words))
}

#[track_caller]
fn check(workspace: &Workspace, words: &[&str], expected: Expect) {
    let run = offered(workspace, words);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{words:?}");
    expected.assert_eq(&run.stdout.replace('\t', "  "));
}

/// Makes a run, and gives its id.
fn run_once(workspace: &Workspace) -> String {
    workspace
        .prose(&["run", "review.prose", "--input", "topic=tides", "--input", "style=short", "-q"])
        .ended(0);
    let list = workspace.prose(&["runs", "list", "--json"]).stdout;
    list.split("\"run\": \"").nth(1).unwrap().split('"').next().unwrap().to_owned()
}

#[test]
fn programs_and_their_names_are_offered() {
    let workspace = workspace();
    check(
        &workspace,
        &["run", ""],
        expect![[r#"
        my first.prose
        review.prose
    "#]],
    );
    check(
        &workspace,
        &["run", "review.prose", "--input", ""],
        expect![[r#"
        topic=  What to write about
        style=  How to write it
    "#]],
    );
    check(
        &workspace,
        &["run", "review.prose", "--output", ""],
        expect![[r#"
        summary  output
    "#]],
    );
    check(
        &workspace,
        &["run", "review.prose", "--only", ""],
        expect![[r#"
        5  let draft = session: writer
        7  output summary = session "Summarise {draft}"
    "#]],
    );
    check(&workspace, &["estimate", "review.prose", "--input", "topic=ti"], expect![[r#""#]]);
}

#[test]
fn names_of_tables_are_offered() {
    let workspace = workspace();
    check(
        &workspace,
        &["run", "--harness", "o"],
        expect![[r#"
        offline  generates placeholder replies without a model
        opencode  uses OpenCode by one `opencode serve` for all sessions
        opencode-acp  starts OpenCode as an agent of the Agent Client Protocol, `opencode acp`
    "#]],
    );
    check(
        &workspace,
        &["run", "--harness=cl"],
        expect![[r#"
        --harness=claude  starts Claude Code, `claude -p`, for each session
        --harness=claude-agent-acp  starts Claude Code as an agent of the Agent Client Protocol
    "#]],
    );
    check(
        &workspace,
        &["check", "--level", "E00"],
        expect![[r#"
        E001=  unterminated literal
        E002=  unknown escape sequence
        E003=  session without text or agent
        E004=  unexpected text
        E005=  missing syntax
        E006=  agent defined twice
        E007=  agent not defined
        E008=  unknown model
        E009=  duplicate property
    "#]],
    );
    check(
        &workspace,
        &["check", "--level", "W101=o"],
        expect![[r#"
        W101=off
    "#]],
    );
    check(
        &workspace,
        &["explain", "E001"],
        expect![[r#"
        E001  unterminated literal
    "#]],
    );
    check(
        &workspace,
        &["examples", "h"],
        expect![[r#"
        hello  The smallest useful program: one session, and a second session that uses its result.
    "#]],
    );
    check(
        &workspace,
        &["completions", ""],
        expect![[r#"
        bash  Bash
        zsh  Zsh
        fish  fish
        powershell  PowerShell
        nushell  Nushell
    "#]],
    );
    check(
        &workspace,
        &["runs", "list", "--status", "co"],
        expect![[r#"
        completed
        completed with failures
    "#]],
    );
    check(
        &workspace,
        &["runs", "s"],
        expect![[r#"
            show  Show the status, outputs, census, sessions and files of a run
            stop  Stop a run; `prose resume` continues it
            skip  End a session of a run with an empty result, with a warning
            set-limit  Raise or lower a limit of a run
            set-priority  Change the priority of a run of a cluster
        "#]],
    );
}

#[test]
fn runs_are_offered_by_any_part_of_their_ids() {
    let workspace = workspace();
    check(
        &workspace,
        &["runs", "show", "--a"],
        expect![[r#"
        --all  List all sessions and failures of a long run
    "#]],
    );
    let id = run_once(&workspace);
    let expected = format!("{id}\treview.prose\n");
    assert_eq!(offered(&workspace, &["runs", "show", ""]).stdout, expected);
    assert_eq!(offered(&workspace, &["resume", &id[16..]]).stdout, expected);
    assert_eq!(offered(&workspace, &["run", "review.prose", "--replay", &id[..4]]).stdout, expected);
    assert_eq!(offered(&workspace, &["runs", "show", "no-such-run"]).stdout, "");
    check(
        &workspace,
        &["resume", &id, "--input", "to"],
        expect![[r#"
        topic=  What to write about
    "#]],
    );
    check(
        &workspace,
        &["runs", "fork", &id, "--from", ""],
        expect![[r#"
        failure  the statement that failed
        5  let draft = session: writer
        7  output summary = session "Summarise {draft}"
    "#]],
    );
}

#[test]
fn a_session_at_work_is_offered_by_its_number_and_its_agent() {
    let workspace = workspace();
    let id = run_once(&workspace);
    // The run as it is while its second session is at work.
    let journal = format!(".prose/runs/{id}/journal.jsonl");
    let text = workspace.read(&journal);
    let end = text.find("\"effect\":\"session\"").unwrap();
    let end = text[..end].rfind('\n').unwrap() + 1;
    workspace.write(&journal, &text.as_bytes()[..end]);
    check(
        &workspace,
        &["runs", "skip", &id, ""],
        expect![[r#"
        1  Write about tides in a short way
        writer  agent writer
    "#]],
    );
}

#[test]
fn variables_of_a_run_and_answers_to_its_questions_are_offered() {
    let asks = "let a = session \"Find tides\"\ninput go: \"Ship {a}? (yes/no)\"\n";
    let several = "parallel:\n  input who: \"To whom?\"\n  input when: \"When?\"\n";
    let workspace = Workspace::new(&[("asks.prose", asks)]);
    workspace.prose(&["run", "asks.prose", "-q"]).ended(5);
    check(
        &workspace,
        &["runs", "fork", "20", "--from", "2", "--set", ""],
        expect![[r#"
        a=  let a = session "Find tides"
    "#]],
    );
    check(
        &workspace,
        &["runs", "answer", "20", ""],
        expect![[r#"
        yes  yes
        no  no
    "#]],
    );
    let workspace = Workspace::new(&[("several.prose", several)]);
    workspace.prose(&["run", "several.prose", "-q"]).ended(5);
    check(
        &workspace,
        &["runs", "answer", "20", ""],
        expect![[r#"
        1  who: To whom?
        2  when: When?
    "#]],
    );
}

#[test]
fn what_is_broken_offers_nothing_and_says_nothing() {
    let workspace = Workspace::new(&[
        ("prose.toml", "run = ["),
        ("broken.prose", "input \nagent :\n\"\"\""),
        (".prose/runs/20260101-000000-aaaaaa/journal.jsonl", "{"),
        (".prose/runs/20260101-000000-bbbbbb/state.pg", "postgres://127.0.0.1:1/none"),
    ]);
    check(&workspace, &["run", "broken.prose", "--input", ""], expect![[r#""#]]);
    check(&workspace, &["run", "gone.prose", "--input", ""], expect![[r#""#]]);
    check(
        &workspace,
        &["runs", "show", ""],
        expect![[r#"
        20260101-000000-bbbbbb  run
        20260101-000000-aaaaaa  run
    "#]],
    );
    let run = offered(&workspace, &["no-such-command", ""]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    let mut command = workspace.command();
    let run = Run::of(command.env("PROSE_COMPLETE", "tcsh").args(["--", "prose", ""]));
    assert_eq!((run.status, run.stdout.as_str(), run.stderr.as_str()), (1, "", ""));
}

/// Completing happens while somebody types, maybe in a folder that nobody trusts.
#[test]
fn completing_writes_nothing() {
    let workspace = workspace();
    run_once(&workspace);
    let files = |workspace: &Workspace| {
        let list = Command::new("find")
            .args([".", "-printf", "%p %s %T@\n"])
            .current_dir(workspace.path(""))
            .output();
        String::from_utf8(list.unwrap().stdout).unwrap()
    };
    let before = files(&workspace);
    for words in [&["runs", "show", ""][..], &["run", "review.prose", "--input", ""], &["runs", "skip", ""]] {
        assert_ne!(offered(&workspace, words).stdout, "");
    }
    assert_eq!(files(&workspace), before);
    assert!(before.contains("journal.jsonl"), "{before}");
}

#[test]
fn scripts_name_the_program_and_the_variable() {
    let workspace = workspace();
    let program = env!("CARGO_BIN_EXE_prose");
    for shell in ["bash", "zsh", "fish", "powershell", "nushell"] {
        let script = workspace.prose(&["completions", shell]).ended(0).stdout;
        assert!(script.contains("PROSE_COMPLETE") && script.contains(program), "{script}");
    }
    // No PowerShell is there to run it.
    let script = workspace.prose(&["completions", "pwsh"]).ended(0).stdout;
    assert!(script.contains("Register-ArgumentCompleter -Native -CommandName prose"), "{script}");
    assert!(script.contains(&format!("& {program} -- $args")), "{script}");
}

#[cfg(target_os = "linux")]
mod shells {
    use super::{REVIEW, run_once, workspace};
    use crate::common::{Run, Workspace};
    use crate::terminal::{controlled, played};

    /// A shell with its script. It writes to its terminal by standard error.
    fn shell(workspace: &Workspace, start: &str) -> std::process::Command {
        let mut command = workspace.command_of("sh");
        command.args(["-c", &format!("exec {start} 1>&2")]).env("PS1", "$ ").env("TERM", "dumb");
        let mut command = controlled(&command);
        command.env("PATH", path());
        command
    }

    /// `PATH` with the tested `prose` first.
    fn path() -> String {
        let program = std::path::Path::new(env!("CARGO_BIN_EXE_prose"));
        format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap())
    }

    /// Types lines at a shell that has loaded the script, each with a tab at its end, and has it show the words that it has then.
    #[track_caller]
    fn check(workspace: &Workspace, start: &str, load: &str, lines: &[(&str, &str)]) {
        let mut keys = vec![("$ ", format!("{load}; echo loa''ded\n"))];
        let mut before = "loaded";
        for (line, words) in lines {
            // Ctrl-A goes to the start of the line.
            keys.push((before, format!("{line}\t\u{1}printf '<%s>' \n")));
            before = words;
        }
        keys.push((before, "exit\n".to_owned()));
        played(&mut shell(workspace, start), keys.into_iter().map(|(shown, text)| (shown, move || text)));
    }

    #[test]
    #[ignore = "needs bash, zsh, fish and Nushell"]
    fn bash_completes_words_with_separators_and_spaces() {
        let workspace = workspace();
        let id = run_once(&workspace);
        let load = "source <(prose completions bash)";
        check(
            &workspace,
            "bash --norc --noprofile -i",
            load,
            &[
                ("prose run review.prose --input to", "<prose><run><review.prose><--input><topic=>"),
                ("prose check --level W101=of", "<prose><check><--level><W101=off>"),
                ("prose run --harness=off", "<prose><run><--harness=offline>"),
                ("prose estimate my", "<prose><estimate><my first.prose>"),
                (r"prose estimate my\ first.prose --input st", "<my first.prose><--input><style=>"),
                ("prose runs show ", &format!("<prose><runs><show><{id}>")),
            ],
        );
    }

    #[test]
    #[ignore = "needs bash, zsh, fish and Nushell"]
    fn zsh_completes_words_with_separators_and_spaces() {
        let workspace = workspace();
        let id = run_once(&workspace);
        let initialise = "autoload -U compinit; compinit -u -D";
        let load = format!("{initialise}; source <(prose completions zsh)");
        check(
            &workspace,
            "zsh -f -i",
            &load,
            &[
                ("prose run review.prose --input to", "<prose><run><review.prose><--input><topic=>"),
                ("prose check --level W101=of", "<prose><check><--level><W101=off>"),
                ("prose run --harness=off", "<prose><run><--harness=offline>"),
                ("prose estimate my", "<prose><estimate><my first.prose>"),
                (r"prose estimate my\ first.prose --input st", "<my first.prose><--input><style=>"),
                ("prose runs show ", &format!("<prose><runs><show><{id}>")),
            ],
        );
        // As a file of `$fpath`, it completes from the first time on.
        let script = workspace.prose(&["completions", "zsh"]).ended(0).stdout;
        workspace.write("functions/_prose", script.as_bytes());
        let load = format!("fpath=($PWD/functions $fpath); {initialise}");
        check(&workspace, "zsh -f -i", &load, &[("prose check --level W101=of", "<--level><W101=off>")]);
    }

    #[test]
    #[ignore = "needs bash, zsh, fish and Nushell"]
    fn fish_completes_with_descriptions() {
        let workspace = workspace();
        let id = run_once(&workspace);
        for (line, expected) in [
            (
                "prose run review.prose --input ",
                "topic=\tWhat to write about\nstyle=\tHow to write it\n".to_owned(),
            ),
            (
                "prose run --harness=off",
                "--harness=offline\tgenerates placeholder replies without a model\n".to_owned(),
            ),
            ("prose run my", "my first.prose\n".to_owned()),
            ("prose runs show ", format!("{id}\treview.prose\n")),
        ] {
            let mut command = workspace.command_of("fish");
            let script = "prose completions fish | source; complete --do-complete $argv[1]";
            let run = Run::of(command.env("PATH", path()).args(["--no-config", "-c", script, line]));
            assert_eq!((run.stdout, run.stderr.as_str()), (expected, ""), "{line}");
        }
    }

    #[test]
    #[ignore = "needs bash, zsh, fish and Nushell"]
    fn nushell_completes_and_leaves_other_programs_to_other_completers() {
        let workspace = Workspace::new(&[("review.prose", REVIEW)]);
        let script = workspace.prose(&["completions", "nushell"]).ended(0).stdout;
        workspace.write("prose.nu", script.as_bytes());
        let nu = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/.cache/nushell/bin/nu");
        let earlier = "$env.config.completions.external.completer = {|spans| [$'other ($spans.0)'] }";
        for (spans, expected) in [
            (
                "[prose run review.prose --input 'st']",
                r#"[{"description":"How to write it","value":"style="}]"#,
            ),
            ("[prose run review.prose --input 'x']", "[]"),
            ("[git sta]", r#"["other git"]"#),
        ] {
            let code = format!(
                "{earlier}; source prose.nu; do $env.config.completions.external.completer {spans} | to json --raw"
            );
            let run =
                Run::of(workspace.command_of(nu).env("PATH", path()).args(["--no-config-file", "-c", &code]));
            assert_eq!((run.stdout.trim(), run.stderr.as_str()), (expected, ""), "{spans}");
        }
    }
}
