//! `prose runs list`: which runs, how many, and how they fit.

use expect_test::expect;

use crate::common::{Run, Workspace};
use crate::run::TWO;

fn four_runs() -> Workspace {
    let failing = "let a = session \"A\"\nthrow \"It has failed\"\n";
    let workspace = Workspace::new(&[("two.prose", TWO), ("flows/failing.prose", failing)]);
    workspace.prose(&["run", "two.prose", "-q"]).ended(0);
    workspace.prose(&["run", "two.prose", "-q", "--max-sessions", "1"]).ended(3);
    workspace.prose(&["run", "flows/failing.prose", "-q"]).ended(1);
    workspace.prose(&["run", "two.prose", "-q"]).ended(0);
    workspace
}

/// The programs and statuses of the listed runs, in no order: runs that start in the same second are listed by their ids.
fn listed(run: &Run) -> Vec<(String, String)> {
    let lines = run.stdout.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let mut listed: Vec<_> = lines
        .map(|words| {
            let program = words.iter().find(|word| word.ends_with(".prose")).copied().unwrap_or("?");
            (program.to_owned(), words[1].to_owned())
        })
        .collect();
    listed.sort();
    listed
}

#[test]
fn runs_are_filtered() {
    let workspace = four_runs();
    let list = |arguments: &[&str]| workspace.prose(&[&["runs", "list"], arguments].concat());
    let of = |program: &str, status: &str| (program.to_owned(), status.to_owned());
    assert_eq!(list(&[]).stdout.lines().count(), 4);
    assert_eq!(listed(&list(&["--status", "failed"])), [of("failing.prose", "failed")]);
    assert_eq!(
        listed(&list(&["--status", "failed", "--status", "interrupted"])),
        [of("failing.prose", "failed"), of("two.prose", "interrupted")]
    );
    assert_eq!(listed(&list(&["--program", "flows/"])), [of("failing.prose", "failed")]);
    assert_eq!(listed(&list(&["--since", "1h"])).len(), 4);
    let json: serde_json::Value =
        serde_json::from_str(&list(&["--json", "--status", "interrupted"]).stdout).expect("it is JSON");
    assert_eq!(json.as_array().map(Vec::len), Some(1));
    list(&["--status", "running"]).check(expect![[r#"
        status: 0
        ---- stderr
        No matches in 4 runs.
    "#]]);
    list(&["--status", "broken"]).check(expect![[r#"
        status: 2
        ---- stderr
        error: invalid value 'broken' for '--status <STATUS>'
          [possible values: running, paused, completed, "completed with failures", failed, interrupted, waiting, foreign, newer, unreachable, damaged]

        For more information, try '--help'.
    "#]]);
}

#[test]
fn runs_are_listed_in_pages() {
    let workspace = four_runs();
    let list = |arguments: &[&str]| workspace.prose(&[&["runs", "list", "-n", "3"], arguments].concat());
    let (first, second) = (list(&[]), list(&["--page", "2"]));
    assert_eq!((first.stdout.lines().count(), second.stdout.lines().count()), (3, 1));
    let ids = |run: &Run| run.stdout.lines().map(|line| line[..22].to_owned()).collect::<Vec<_>>();
    let all = workspace.prose(&["runs", "list"]);
    assert_eq!([ids(&first), ids(&second)].concat(), ids(&all));
    expect![[r#"
        Runs 1 to 3 of 4; pass `--page 2` for more.
    "#]]
    .assert_eq(&first.stderr);
    expect![[r#"
        Runs 4 to 4 of 4.
    "#]]
    .assert_eq(&second.stderr);
    list(&["--page", "3"]).check(expect![[r#"
        status: 0
        ---- stderr
        The last page is 2.
    "#]]);
}

#[test]
fn a_failure_shows_which_file_has_the_prompt() {
    let program = "agent writer:\n  prompt: \"You write\"\nlet plan = session \"Plan\"\nlet draft = session: writer\n  prompt: \"Write\"\n  context: plan\n";
    let script = "[[session]]\nlabel = \"Plan\"\nreply = \"The plan\"\n[[session]]\nfail = \"no key\"\n";
    let workspace = Workspace::new(&[("p.prose", program), ("s.toml", script)]);
    workspace.check(
        &["run", "p.prose", "--script", "s.toml"],
        expect![[r#"
            status: 1
            ---- stderr
            Run ID with script
            … Plan
            ✓ Plan (TIME)
            … writer: Write
            ✗ writer: Write (TIME): no key
            Failed: 1 session done, 1 failed
              without a result: draft (line 4)
            error: the program failed at line 4: no key
            help: its prompt is in `.prose/runs/ID/prompts/draft.md`
            help: resume it with `prose resume ID`; recorded results are reused
        "#]],
    );
    let prompt =
        std::fs::read_to_string(workspace.run_folder().join("prompts/draft.md")).expect("it is there");
    expect![[r##"
        # The prompt of a failed session: draft

        line: 4
        agent: writer
        error: no key

        ## System

        You write

        ## Prompt

        Write

        Context provided:
        ---
        plan: "The plan"
        ---
    "##]]
    .assert_eq(&prompt);
    // The view says which file that is.
    let view: serde_json::Value =
        serde_json::from_str(&workspace.prose(&["runs", "show", "--json"]).stdout).unwrap();
    assert_eq!((&view["whole"], &view["end"]["status"]), (&true.into(), &"failed".into()), "{view:#}");
    let failed = view["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .find(|node| node["status"] == "failed" && node["kind"] == "session");
    assert_eq!(
        (&failed.unwrap()["file"], &failed.unwrap()["error"]),
        (&"bindings/draft.md".into(), &"no key".into())
    );
    let show = workspace.prose(&["runs", "show"]);
    assert!(show.stdout.contains("prompts of failed sessions\n  prompts/draft.md\n"), "{}", show.stdout);
}
