//! What agents may do, and what happens if no one is there to answer.

use expect_test::expect;

use crate::common::Workspace;

/// An agent that uses the shell, with this rule about it.
fn historian(rule: &str) -> Workspace {
    let permissions = if rule.is_empty() { String::new() } else { format!("  permissions:\n    {rule}\n") };
    let program = format!(
        "agent historian:\n  prompt: \"Read\"\n{permissions}\nlet a = session \"First\"\nsession: historian\n"
    );
    let script = "[[session]]\nlabel = \"First\"\nreply = \"one\"\n[[session]]\nreply = \"done\"\ntools = [\"bash: git log\"]\n";
    Workspace::new(&[("main.prose", &program), ("script.toml", script)])
}

const RUN: &[&str] = &["run", "main.prose", "--script", "script.toml"];

/// The rule of the agent denies its call.
#[track_caller]
fn check_denied(workspace: &Workspace) {
    workspace.check(
        RUN,
        expect![[r#"
            status: 0
            ---- stdout
            done
            ---- stderr
            Run ID with script
            … First
            ✓ First (TIME)
            … historian: Read
            · historian: git log
            warning: line 7: denied: `git log` (`bash: deny`)
            ✓ historian: Read (TIME)
            Completed: 2 sessions done; 1 warning, 1 tool call denied
        "#]],
    );
}

#[test]
fn a_denied_call_is_a_warning_at_its_session_and_recorded() {
    let workspace = historian("bash: deny");
    check_denied(&workspace);
    let journal = std::fs::read_to_string(workspace.run_folder().join("journal.jsonl")).unwrap();
    let warnings = journal.lines().filter(|line| line.contains(r#""event":"warning""#));
    assert!(warnings.into_iter().any(|line| line.contains("denied: `git log` (`bash: deny`)")), "{journal}");
}

#[test]
fn a_failed_session_says_what_was_denied() {
    let workspace = historian("bash: deny");
    let script = "[[session]]\nlabel = \"First\"\nreply = \"one\"\n[[session]]\nfail = \"no history\"\ntools = [\"bash: git log\", \"bash: git log\"]\n";
    workspace.write("script.toml", script.as_bytes());
    workspace.check(
        &["run", "main.prose", "--script", "script.toml", "-q"],
        expect![[r#"
            status: 1
            ---- stderr
            error: the program failed at line 7: no history (denied 2 times: `git log` (`bash: deny`))
            help: its prompt is in `.prose/runs/ID/prompts/anon_001.md`
            help: resume it with `prose resume ID`; recorded results are reused
        "#]],
    );
}

#[test]
fn without_a_rule_shell_commands_are_denied_and_the_rule_to_write_is_named() {
    historian("").check(RUN, expect![[r#"
        status: 0
        ---- stdout
        done
        ---- stderr
        Run ID with script
        … First
        ✓ First (TIME)
        … historian: Read
        · historian: git log
        warning: line 5: denied: `git log` (no rule allows shell commands; write `bash: allow`, or patterns such as `execute: ["git log*"]`, below `permissions:` of the agent or in `[run.permissions]` in `prose.toml`)
        ✓ historian: Read (TIME)
        Completed: 2 sessions done; 1 warning, 1 tool call denied
    "#]]);
}

#[test]
fn a_prompt_without_anybody_stops_the_run_which_can_be_resumed() {
    let workspace = historian("bash: prompt");
    workspace.check(
        RUN,
        expect![[r#"
            status: 5
            ---- stderr
            Run ID with script
            … First
            ✓ First (TIME)
            … historian: Read
            Waiting: 1 session done, 1 interrupted
            waiting: question 1 at line 7: Agent `historian` asks for permission: git log (bash: prompt)
            help: answer with `prose runs answer ID once|run|deny`; recorded results are reused
        "#]],
    );
    let run = workspace.run_folder();
    let run = run.file_name().unwrap().to_str().unwrap();
    workspace.check(
        &["resume", run],
        expect![[r#"
            status: 5
            ---- stderr
            Run ID with script
            … historian: Read
            Recorded results reused; the run continues.
            Reused 1 result from the earlier execution, ran 0.
            Waiting: 1 session done, 1 interrupted, 1 reused
            waiting: question 1 at line 7: Agent `historian` asks for permission: git log (bash: prompt)
            help: answer with `prose runs answer ID once|run|deny`; recorded results are reused
        "#]],
    );
}

#[test]
fn rules_of_the_project_count_for_subjects_without_a_rule() {
    let workspace = historian("");
    workspace.write("prose.toml", b"[run.permissions]\nexecute = [\"git log*\"]\n");
    workspace.check(RUN, expect![[r#"
        status: 0
        ---- stdout
        done
        ---- stderr
        note: `execute: ["git log*"]` in `run.permissions` has no effect, since the project is not trusted; if you trust it, run `prose trust`
        Run ID with script
        … First
        ✓ First (TIME)
        … historian: Read
        · historian: git log
        warning: line 5: denied: `git log` (no rule allows shell commands; write `bash: allow`, or patterns such as `execute: ["git log*"]`, below `permissions:` of the agent or in `[run.permissions]` in `prose.toml`)
        ✓ historian: Read (TIME)
        Completed: 2 sessions done; 1 warning, 1 tool call denied
    "#]]);
    workspace.trust();
    workspace.check(
        RUN,
        expect![[r#"
            status: 0
            ---- stdout
            done
            ---- stderr
            Run ID with script
            … First
            ✓ First (TIME)
            … historian: Read
            · historian: git log
            ✓ historian: Read (TIME)
            Completed: 2 sessions done
        "#]],
    );
    let workspace = historian("bash: deny");
    workspace.write("prose.toml", b"[run.permissions]\nexecute = \"allow\"\n");
    workspace.trust();
    check_denied(&workspace);
}

#[cfg(unix)]
#[test]
fn a_program_with_rules_that_the_harness_cannot_enforce_is_refused_before_its_first_session() {
    let program = "agent a:\n  permissions:\n    write: [\"docs/\"]\n    bash: allow\nblock never():\n  session \"x\"\n    permissions:\n      read: deny\nsession \"First\"\nsession: a\n  prompt: \"x\"\n  permissions:\n    network: deny\n";
    let workspace = crate::run::with_agent(program, "cat > /dev/null; echo done");
    let refused = expect![[r#"
        status: 2
        ---- stderr
        main.prose:3:5: warning[W150]: harness `command` cannot enforce patterns of `write`; `claude`, `codex` and `opencode` can
        main.prose:8:7: warning[W150]: harness `command` cannot enforce `read: deny`; `claude`, `codex` and `opencode` can
        main.prose:13:5: warning[W150]: harness `command` cannot enforce `network: deny`; `claude`, `codex` and `opencode` can
        error: the harness `command` cannot enforce `write: ["docs/"]` (line 3), `network: deny` (line 13); use a harness that can, such as `claude`, or change the rules, or pass `--allow-unenforced-permissions` to run the program all the same
    "#]];
    for arguments in [&["run", "main.prose"][..], &["run", "main.prose", "--dry-run"]] {
        workspace.shows(workspace.prose(arguments), &refused);
        assert!(workspace.runs().is_empty());
    }
    workspace.check(
        &["check", "main.prose"],
        expect![[r#"
            status: 0
            ---- stdout
            warning[W150]: harness `command` cannot enforce patterns of `write`; `claude`, `codex` and `opencode` can
             --> main.prose:3:5
              |
            3 |     write: ["docs/"]
              |     ^^^^^^^^^^^^^^^^

            hint[W117]: block `never` is never called
             --> main.prose:5:7
              |
            5 | block never():
              |       ^^^^^
              |
            help: Remove the block `never`
              |
            5 - block never():
            6 -   session "x"
            7 -     permissions:
            8 -       read: deny
              |

            warning[W150]: harness `command` cannot enforce `read: deny`; `claude`, `codex` and `opencode` can
             --> main.prose:8:7
              |
            8 |       read: deny
              |       ^^^^^^^^^^

            warning[W150]: harness `command` cannot enforce `network: deny`; `claude`, `codex` and `opencode` can
              --> main.prose:13:5
               |
            13 |     network: deny
               |     ^^^^^^^^^^^^^

            ---- stderr
            Found 3 warnings and 1 hint in 1 file; 1 fixable with `--fix --unsafe-fixes`.
        "#]],
    );
}

#[test]
fn a_run_with_a_denied_call_is_answered_and_resumed() {
    for rule in ["bash: prompt", "bash: deny", ""] {
        let workspace = historian(rule);
        let asks =
            format!("{}let go = input \"Go? (yes/no)\"\noutput o = go\n", workspace.read("main.prose"));
        workspace.write("main.prose", asks.as_bytes());
        workspace.prose(RUN).ended(5);
        if rule == "bash: prompt" {
            workspace.prose(&["runs", "answer", "2", "deny"]).ended(5);
        }
        // Resuming changes nothing, however often.
        workspace.prose(&["resume"]).ended(5);
        let answered = workspace.prose(&["runs", "answer", "2", "yes", "-q"]).ended(0);
        assert_eq!(answered.stdout, "o: yes\n", "{rule}: {answered:?}");
        // The denied call is a warning once.
        let shown = workspace.prose(&["runs", "show"]).stdout;
        assert!(shown.contains("1 warning, 1 tool call denied"), "{rule}: {shown}");
    }
}
