//! `prose runs prune`, `prose runs show --session` and the pager.

use expect_test::expect;

use crate::common::Workspace;
use crate::run::TWO;

fn ids(workspace: &Workspace) -> Vec<String> {
    let list = workspace.prose(&["runs", "list", "--json"]).stdout;
    let list: serde_json::Value = serde_json::from_str(&list).expect("it is JSON");
    list.as_array().unwrap().iter().map(|run| run["run"].as_str().unwrap().to_owned()).collect()
}

/// Replaces the ids of runs by their numbers, the latest first.
fn without_ids(text: &str, ids: &[String]) -> String {
    ids.iter()
        .enumerate()
        .fold(text.to_owned(), |text, (number, id)| text.replace(id, &format!("RUN{number}")))
}

#[test]
fn runs_are_removed_after_a_confirmation_only() {
    let failing = "throw \"It has failed\"\n";
    let workspace = Workspace::new(&[("two.prose", TWO), ("failing.prose", failing)]);
    workspace.prose(&["run", "two.prose", "-q"]).ended(0);
    workspace.prose(&["run", "failing.prose", "-q"]).ended(1);
    let all = ids(&workspace);
    workspace.prose(&["runs", "prune"]).check(expect![[r#"
        status: 2
        ---- stderr
        error: the following required arguments were not provided:
          <--older <TIME>|--failed|--keep <N>>

        Usage: prose runs prune <--older <TIME>|--failed|--keep <N>>

        For more information, try '--help'.
    "#]]);
    workspace.prose(&["runs", "prune", "--older", "1d"]).check(expect![[r#"
        status: 0
        ---- stderr
        There is no run to remove.
    "#]]);
    workspace.prose(&["runs", "prune", "--keep", "5"]).check(expect![[r#"
        status: 0
        ---- stderr
        There is no run to remove.
    "#]]);
    let dry = workspace.prose(&["runs", "prune", "--keep", "0", "--failed", "--dry-run"]);
    expect![[r#"
        failed  just now  failing.prose
        Would remove 1 run with all their files.
    "#]]
    .assert_eq(&format!("{}{}", dry.stdout.split_once("  ").unwrap().1, dry.stderr));
    let refused = workspace.prose(&["runs", "prune", "--keep", "1"]);
    assert_eq!(refused.status, 2);
    expect![[r#"
        error: removing 1 run needs a confirmation; pass `--yes`
    "#]]
    .assert_eq(&refused.stderr);
    assert_eq!(ids(&workspace), all);
    let removed = workspace.prose(&["runs", "prune", "--failed", "--yes"]).ended(0);
    assert!(removed.stdout.starts_with("removed "), "{}", removed.stdout);
    assert_eq!(ids(&workspace).len(), 1);
}

#[test]
fn runs_that_are_needed_stay_with_a_reason() {
    let workspace = Workspace::new(&[
        ("two.prose", TWO),
        ("ask.prose", "session \"Plan\"\ninput go: \"Ship it? (yes/no)\"\nsession \"Deploy {go}\"\n"),
    ]);
    workspace.prose(&["run", "two.prose", "-q"]).ended(0);
    let original = ids(&workspace).remove(0);
    workspace.prose(&["runs", "fork", &original, "--from", "2", "--yes", "-q"]).ended(0);
    let fork = ids(&workspace).into_iter().find(|id| *id != original).unwrap();
    workspace.prose(&["run", "ask.prose", "-q"]).ended(5);
    let waiting = ids(&workspace).into_iter().find(|id| ![&original, &fork].contains(&id)).unwrap();
    let names = [original.clone(), fork.clone(), waiting];
    let pruned = workspace.prose(&["runs", "prune", "--keep", "0", "--yes"]);
    // The fork goes with what it continues from.
    expect![[r#"
        RUN2 stays: it waits for an answer
    "#]]
    .assert_eq(&without_ids(&pruned.stderr, &names));
    assert_eq!(ids(&workspace), [names[2].clone()]);
}

#[test]
fn failed_runs_are_listed() {
    let workspace = Workspace::new(&[("two.prose", TWO), ("failing.prose", "throw \"It has failed\"\n")]);
    workspace.prose(&["run", "two.prose", "-q"]).ended(0);
    workspace.prose(&["run", "failing.prose", "-q"]).ended(1);
    let failed = workspace.prose(&["runs", "list", "--failed"]).ended(0).stdout;
    assert!(failed.lines().count() == 1 && failed.contains("failing.prose"), "{failed}");
    let two = ["runs", "list", "--failed", "--status", "completed"];
    assert_eq!(workspace.prose(&two).stdout.lines().count(), 2);
}

#[test]
fn a_session_is_shown_with_its_prompt_and_its_reply() {
    let program = "agent writer:\n  prompt: \"You write\"\nlet a = session: writer\n  prompt: \"Write\"\nsession \"End\"\n  context: a\n";
    let workspace = Workspace::new(&[
        ("main.prose", program),
        ("script.toml", "[[session]]\nreply = \"A text\\nof two lines\"\n[[session]]\nreply = \"The end\"\n"),
    ]);
    workspace.prose(&["run", "main.prose", "-q", "--script", "script.toml"]).ended(0);
    let id = ids(&workspace);
    let show = |session: &str| {
        let run = workspace.prose(&["runs", "show", "--session", session]);
        without_ids(&format!("status: {}\n{}{}", run.status, run.stdout, run.stderr), &id)
    };
    expect![[r#"
        status: 0
        session 1 (a, agent writer) of RUN0: complete
        place:    line 3
        agent:    writer
        result:   a in bindings/a.md

        system
        You write

        prompt
        Write

        reply
        A text
        of two lines
    "#]]
    .assert_eq(&show("a"));
    assert_eq!(show("1"), show("writer"));
    expect![[r#"
        status: 2
        error: `7` names not exactly one session of run RUN0; pass the number of one of these: session 1 (a, agent writer), session 2 (anon_001)
    "#]].assert_eq(&show("7"));
    let json = workspace.prose(&["runs", "show", "--session", "1", "--json"]).ended(0).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["attempts"][0]["exchange"]["outcome"]["reply"]["text"], "A text\nof two lines");
}

#[cfg(target_os = "linux")]
mod paged {
    use super::*;
    use crate::terminal::{answered, controlled};

    /// Standard output and standard error are the terminal.
    fn at_terminal(workspace: &Workspace, pager: &str, arguments: &str) -> (i32, String) {
        let mut command = workspace.command_of("sh");
        command
            .args(["-c", &format!("{} {arguments} 1>&2", env!("CARGO_BIN_EXE_prose"))])
            .env("PAGER", pager);
        answered(&mut controlled(&command), &[])
    }

    #[test]
    fn output_at_a_terminal_goes_to_the_pager() {
        let workspace = Workspace::new(&[("two.prose", TWO)]);
        workspace.prose(&["run", "two.prose", "-q"]).ended(0);
        let pager = "tr a-z A-Z | sed 's/^/> /'";
        let (status, shown) = at_terminal(&workspace, pager, "runs list --color never");
        assert!(status == 0 && shown.starts_with("> ") && shown.contains("TWO.PROSE"), "{shown}");
        // Errors do not disturb the pager, and the status is that of the command.
        let (status, shown) = at_terminal(&workspace, pager, "runs show nothing --color never");
        assert!(status == 2 && shown.starts_with("> ERROR: "), "{shown}");
        // A pager that reads nothing, and none.
        assert_eq!(at_terminal(&workspace, "true", "runs show").0, 0);
        for (pager, arguments) in [("cat", "runs list"), ("", "runs list"), (pager, "runs list --no-pager")] {
            let (status, shown) = at_terminal(&workspace, pager, arguments);
            assert!(status == 0 && shown.contains("two.prose"), "{shown}");
        }
    }

    #[test]
    fn output_elsewhere_does_not() {
        let workspace = Workspace::new(&[("two.prose", TWO)]);
        workspace.prose(&["run", "two.prose", "-q"]).ended(0);
        let run =
            crate::common::Run::of(workspace.command().args(["runs", "list"]).env("PAGER", "touch paged"));
        assert!(run.stdout.contains("two.prose") && !workspace.path("paged").exists());
    }

    #[test]
    fn a_person_is_asked_before_runs_are_removed() {
        let workspace = Workspace::new(&[("two.prose", TWO)]);
        workspace.prose(&["run", "two.prose", "-q"]).ended(0);
        let prune = || {
            let mut command = workspace.command();
            command.args(["runs", "prune", "--keep", "0", "--color", "never"]);
            command
        };
        let question = "Remove 1 run with all their files? [y/N] ";
        let (status, shown) = answered(&mut prune(), &[(question, "\n")]);
        assert!(status == 0 && shown.ends_with("Nothing was removed.\n"), "{shown}");
        assert_eq!(ids(&workspace).len(), 1);
        assert_eq!(answered(&mut prune(), &[(question, "y\n")]).0, 0);
        assert_eq!(ids(&workspace).len(), 0);
    }
}
