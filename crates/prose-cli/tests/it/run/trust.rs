//! Whom a project may have started: nobody, until a person trusts it.

use std::fs;
#[cfg(unix)]
use std::os::unix::fs::PermissionsExt;

use expect_test::expect;

use crate::common::Workspace;
use crate::run::TWO;
#[cfg(unix)]
use crate::terminal::answered;

/// What somebody may have put into a repository that others clone.
const SETTINGS: &str =
    "[run]\nharness = \"command\"\ncommand = [\"./agent.sh\", \"--send\"]\nenvironment = [\"SECRET_KEY\"]\n";

/// A project whose agent leaves a file that says that it was started.
fn clone() -> Workspace {
    let agent = "#!/bin/sh\ncat > /dev/null\necho started >> started.txt\necho answer\n";
    Workspace::new(&[("main.prose", TWO), ("prose.toml", SETTINGS), ("agent.sh", agent)])
}

impl Workspace {
    /// How often the agent was started.
    fn started(&self) -> usize {
        fs::read_to_string(self.path("started.txt")).unwrap_or_default().lines().count()
    }
}

#[test]
fn a_clone_starts_nothing_before_it_is_trusted() {
    let workspace = clone();
    workspace.check(&["run", "main.prose"], expect![[r#"
        status: 2
        ---- stderr
        error: the project FOLDER is not trusted yet, and the harness `command` would start `./agent.sh --send` for each session, with the variables `SECRET_KEY`
        help: if you trust it, run `prose trust FOLDER`, or pass `--trust`
    "#]]);
    assert_eq!(workspace.started(), 0);
    assert!(!workspace.path(".prose").exists(), "a run that is refused leaves nothing");
}

#[test]
fn an_agent_that_the_person_names_needs_trust_as_well() {
    let workspace = Workspace::new(&[("main.prose", TWO)]);
    workspace.check(&["run", "main.prose", "--harness", "claude"], expect![[r#"
        status: 2
        ---- stderr
        error: the project FOLDER is not trusted yet, and the harness `claude` would start `claude` for each session, with the variables `ANTHROPIC_*`, `CLAUDE_*`, `API_TIMEOUT_MS`
        help: if you trust it, run `prose trust FOLDER`, or pass `--trust`
    "#]]);
}

#[test]
fn reading_and_runs_without_an_agent_need_no_trust() {
    let workspace = clone();
    let answers = "unmatched = \"offline\"\n";
    workspace.write("answers.toml", answers.as_bytes());
    for arguments in [
        &["check"][..],
        &["fmt", "--check"],
        &["compile", "main.prose"],
        &["runs", "list"],
        &["run", "main.prose", "--dry-run"],
        &["run", "main.prose", "--harness", "offline"],
        &["run", "main.prose", "--script", "answers.toml"],
        &["trust", "--list"],
    ] {
        let run = workspace.prose(arguments);
        assert_eq!(run.status, 0, "{arguments:?}: {run:?}");
        assert!(!run.stderr.contains("not trusted"), "{arguments:?}: {run:?}");
    }
    assert_eq!(workspace.started(), 0);
}

#[test]
fn workers_start_nothing_for_a_clone_before_it_is_trusted() {
    let workspace = clone();
    let server = ["--on", "postgresql://ada@127.0.0.1:1/prose"];
    workspace.check(&[&["run", "main.prose"][..], &server].concat(), expect![[r#"
        status: 2
        ---- stderr
        error: the project FOLDER is not trusted yet, and the harness `command` would start `./agent.sh --send` for each session, with the variables `SECRET_KEY`, on the machines of workers
        help: if you trust it, run `prose trust FOLDER`, or pass `--trust`
    "#]]);
    // Only the server is missing where nothing is started, and where the user trusts the project.
    for given in [["--harness", "offline"].as_slice(), &["--trust"], &[]] {
        let run = workspace.prose(&[&["run", "main.prose", "-q"], &server[..], given].concat()).ended(2);
        assert!(run.stderr.contains("start the server, or correct"), "{given:?}: {run:?}");
    }
}

#[test]
fn the_settings_in_a_folder_above_need_trust() {
    let workspace = clone();
    workspace.write("flows/deep/inner.prose", TWO.as_bytes());
    workspace.prose(&["run", "flows/deep/inner.prose"]).ended(2);
    assert_eq!(workspace.started(), 0);
}

#[test]
#[cfg(unix)]
fn a_project_is_trusted_once_and_again_when_its_settings_change() {
    let workspace = clone();
    workspace.check(
        &["trust"],
        expect![[r#"
            status: 0
            ---- stdout
            You trust FOLDER
              run.harness: command
              run.command: ./agent.sh --send
              run.environment: SECRET_KEY
            You must confirm changes of these settings. To revoke the trust, run `prose trust --revoke`.
        "#]],
    );
    for _ in 0..2 {
        workspace.prose(&["run", "main.prose", "-q"]).ended(0);
    }
    assert_eq!(workspace.started(), 4);
    // Neither another program nor other bytes of the agent are another setting, nor are settings that start nothing.
    workspace.write("main.prose", b"session \"Third\"\n");
    workspace.write("prose.toml", format!("{SETTINGS}max-parallel = 2\n").as_bytes());
    workspace.prose(&["run", "main.prose", "-q"]).ended(0);

    workspace.write("prose.toml", SETTINGS.replace("--send", "--send-all").as_bytes());
    workspace.check(&["run", "main.prose"], expect![[r#"
        status: 2
        ---- stderr
        error: these settings of the project FOLDER have changed since you trusted it: `run.command`, and the harness `command` would start `./agent.sh --send-all` for each session, with the variables `SECRET_KEY`
        help: if you trust it, run `prose trust FOLDER`, or pass `--trust`
    "#]]);
    assert_eq!(workspace.started(), 5);
    workspace.prose(&["run", "main.prose", "-q", "--trust"]).ended(0);
    assert_eq!(workspace.prose(&["run", "main.prose", "-q"]).status, 0, "`--trust` is remembered");
    assert_eq!(workspace.started(), 7);

    let listed = workspace.masked(&workspace.prose(&["trust", "--list"]).stdout);
    assert!(listed.ends_with("  FOLDER  (run.command, run.environment, run.harness)\n"), "{listed}");
    workspace.prints(&["trust", "--revoke"], expect!["You no longer trust FOLDER"]);
    workspace.prose(&["run", "main.prose", "-q"]).ended(2);
    workspace.check(
        &["trust", "--list"],
        expect![[r#"
            status: 0
            ---- stderr
            No project is trusted. To trust the project in this folder, run `prose trust`.
        "#]],
    );
    assert_eq!(workspace.started(), 7);
}

#[test]
#[cfg(unix)]
fn variables_of_the_project_are_trusted_with_it() {
    let workspace = clone();
    workspace.write(".prose/.env", b"USER_ID=user-1\n");
    workspace.trust();
    workspace.write(".prose/.env", b"USER_ID=user-2\nSESSION_ID=sess-1\n");
    assert_eq!(workspace.prose(&["run", "main.prose", "-q"]).status, 0, "these have no effect");
    workspace.write(".prose/.env", b"OPENPROSE_POSTGRES_URL=postgresql://elsewhere/x\n");
    let run = workspace.prose(&["run", "main.prose", "-q"]).ended(2);
    assert!(
        run.stderr.contains("have changed since you trusted it: `.prose/.env: OPENPROSE_POSTGRES_URL`"),
        "{}",
        run.stderr
    );
    assert!(!run.stderr.contains("postgresql://"), "values may be secret: {}", run.stderr);
}

#[test]
#[cfg(unix)]
fn what_is_trusted_is_remembered_outside_the_project_for_the_user_alone() {
    let workspace = clone();
    workspace.trust();
    let path = workspace.state().join("trust.json");
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(workspace.state().metadata().unwrap().permissions().mode() & 0o777, 0o700);
    assert!(!workspace.path(".prose").exists());
    fs::write(&path, "{").unwrap();
    let run = workspace.prose(&["run", "main.prose"]);
    assert_eq!((run.status, workspace.started()), (2, 0), "{run:?}");
    assert!(run.stderr.contains("remove it, then trust your projects again"), "{}", run.stderr);
    // The person's word counts for this run, and what cannot be read is not written over.
    let run = workspace.prose(&["run", "main.prose", "-q", "--trust"]).ended(0);
    assert!(run.stderr.contains("trusted for this run only"), "{}", run.stderr);
    assert_eq!(fs::read_to_string(&path).unwrap(), "{");
}

#[test]
#[cfg(unix)]
fn a_link_to_a_trusted_folder_is_that_folder() {
    let workspace = clone();
    workspace.trust();
    let elsewhere = Workspace::new(&[]);
    std::os::unix::fs::symlink(workspace.path(""), elsewhere.path("link")).unwrap();
    let mut command = workspace.command();
    let program = elsewhere.path("link/main.prose");
    let output = command.args(["run", "-q"]).arg(program).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
#[cfg(unix)]
fn in_a_terminal_the_person_is_asked() {
    let workspace = clone();
    let (status, shown) = answered(&mut run(&workspace), &[(QUESTION, "\n")]);
    assert_eq!((status, workspace.started()), (2, 0), "{shown}");
    expect![[r#"
        trust: the project FOLDER is not trusted yet
          the harness `command` would start `./agent.sh --send` for each session, with the variables `SECRET_KEY`
          its settings say:
            run.harness: command
            run.command: ./agent.sh --send
            run.environment: SECRET_KEY
          Agents have your rights, and the project's programs control what they do.
        Do you trust this project? [y/N] 
        error: the project is not trusted; no agent was started
    "#]]
    .assert_eq(&workspace.masked(&shown));

    let (status, shown) = answered(&mut run(&workspace), &[(QUESTION, "y\n")]);
    assert_eq!((status, workspace.started()), (0, 2), "{shown}");
    assert_eq!(workspace.prose(&["run", "main.prose", "-q"]).status, 0, "the answer is remembered");
}

#[cfg(unix)]
const QUESTION: &str = "? [y/N] ";

#[cfg(unix)]
fn run(workspace: &Workspace) -> std::process::Command {
    let mut command = workspace.command();
    command.args(["run", "main.prose", "-q", "--color", "never"]);
    command
}
