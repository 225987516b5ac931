//! Agents that work in a repository, each session in a working tree of its own, or in a folder that workers share.

use std::path::Path;
use std::process::Command;

use super::Cluster;
use crate::common::Workspace;

const SETTINGS: &str = "[run]\nharness = \"command\"\ncommand = [\"sh\", \"agent.sh\"]\n";

/// An agent of the repository that writes into a file, and reports the branches that it is told of.
const AGENT: &str = r#"
prompt=$(cat)
case $prompt in
  *report*) printf '%s\n' "$prompt" | grep -o 'prose/[^/]*/[0-9]*' ;;
  *commit*) echo committed >> notes.txt; git add notes.txt; git -c user.name=a -c user.email=a@b commit -qm mine; echo done ;;
  *) printf '%s\n' "$prompt" | head -n 1 >> notes.txt; echo done ;;
esac
"#;

const PROGRAM: &str = "\
parallel:
  a = session \"write\"
  b = session \"commit\"
output text = session \"report\"
  context: { a, b }
";

/// Runs git, and returns what it writes.
#[track_caller]
fn git(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command.current_dir(folder).args(["-c", "user.name=ada", "-c", "user.email=ada@example.org"]);
    let output = command.args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Makes a repository of a workspace, with a remote beside it that has all of it.
fn publish(workspace: &Workspace) {
    let root = workspace.path("");
    git(&root, &["init", "-q", "--bare", "-b", "main", "remote.git"]);
    git(&root, &["init", "-q", "-b", "main"]);
    git(&root, &["remote", "add", "origin", "./remote.git"]);
    git(&root, &["add", "flows"]);
    git(&root, &["commit", "-qm", "first"]);
    git(&root, &["push", "-q", "origin", "main"]);
}

#[test]
#[ignore = "needs PostgreSQL"]
fn sessions_work_in_trees_of_the_commit_and_push_what_they_change() {
    let mut cluster = Cluster::new(&[
        ("flows/prose.toml", SETTINGS),
        ("flows/agent.sh", AGENT),
        ("flows/main.prose", PROGRAM),
        ("flows/notes.txt", "tides\n"),
    ]);
    publish(&cluster.workspace);
    cluster.worker(&["--class", "command"]);
    let run = cluster.prose(&["run", "flows/main.prose", "-q", "--git", "--trust"]).ended(0);
    let remote = cluster.workspace.path("remote.git");
    let branches = git(&remote, &["for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads/prose"]);
    assert_eq!(run.stdout, format!("text:\n{branches}"));
    assert_eq!(branches.lines().count(), 2);
    let mut notes = Vec::new();
    for branch in branches.lines() {
        // Nothing of the bundle, and nothing of the run.
        assert_eq!(git(&remote, &["diff", "--name-only", "main", branch]), "flows/notes.txt\n");
        notes.push(git(&remote, &["show", &format!("{branch}:flows/notes.txt")]));
    }
    notes.sort();
    assert_eq!(notes, ["tides\ncommitted\n", "tides\nwrite\n"]);
    assert_eq!(git(&remote, &["rev-list", "--count", "main"]), "1\n");
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_session_fails_whose_changes_cannot_be_pushed() {
    let mut cluster = Cluster::new(&[
        ("flows/prose.toml", SETTINGS),
        ("flows/agent.sh", AGENT),
        ("flows/main.prose", "session \"write\"\n"),
    ]);
    publish(&cluster.workspace);
    let hook = cluster.workspace.path("remote.git/hooks/pre-receive");
    std::fs::write(&hook, "#!/bin/sh\necho no room >&2\nexit 1\n").unwrap();
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    cluster.worker(&["--class", "command"]);
    let failed = cluster.prose(&["run", "flows/main.prose", "-q", "--git", "--trust"]).ended(1).stderr;
    assert!(failed.contains("the changes cannot be pushed to") && failed.contains("no room"), "{failed}");
}

#[test]
fn what_workers_could_not_start_from_is_refused() {
    let workspace = Workspace::new(&[("flows/prose.toml", ""), ("flows/main.prose", "session \"go\"\n")]);
    let refused = |why: &str| {
        let run = [
            "run",
            "flows/main.prose",
            "-q",
            "--git",
            "--trust",
            "--on",
            "postgresql://ada@127.0.0.1:1/prose",
        ];
        let stderr = workspace.prose(&run).ended(2).stderr;
        assert!(stderr.contains(why), "{stderr}");
    };
    let root = workspace.path("");
    refused("`--git` needs a project in a git repository");
    git(&root, &["init", "-q", "-b", "main"]);
    refused("`--git` needs a commit to start from");
    git(&root, &["add", "flows"]);
    git(&root, &["commit", "-qm", "first"]);
    refused("has no remote; add it with `git remote add origin URL`");
    git(&root, &["init", "-q", "--bare", "-b", "main", "remote.git"]);
    git(&root, &["remote", "add", "origin", "./remote.git"]);
    refused("`origin` does not have it; push it with `git push`");
    git(&root, &["push", "-q", "origin", "main"]);
    std::fs::write(workspace.path("flows/main.prose"), "session \"stay\"\n").unwrap();
    refused("these files have changed since: flows/main.prose; commit and push them");
    git(&root, &["checkout", "-q", "flows"]);
    git(&root, &["remote", "set-url", "origin", "https://ada:secret@example.org/flows.git"]);
    refused("has a password");
    git(&root, &["remote", "set-url", "origin", "./remote.git"]);
    // Now only the server is missing.
    refused("start the server, or correct `OPENPROSE_POSTGRES_URL`");
}

#[test]
#[ignore = "needs PostgreSQL"]
fn workers_that_share_a_folder_find_what_others_have_written() {
    let agent = "#!/bin/sh\ncase $(cat) in *first*) echo found > shared.txt; echo done ;; *) cat shared.txt ;; esac\n";
    let program = "let a = session \"first\"\noutput text = session \"next\"\n";
    let mut cluster = Cluster::new(&[
        ("project/prose.toml", SETTINGS),
        ("project/main.prose", program),
        ("shared/agent.sh", agent),
    ]);
    let shared = cluster.workspace.path("shared").display().to_string();
    cluster.worker(&["--class", "command", "--workspace", &shared]);
    cluster.worker(&["--class", "command", "--workspace", &shared]);
    let run = cluster.prose(&["run", "project/main.prose", "-q", "--trust"]).ended(0);
    assert_eq!(run.stdout, "text: found\n");
    let mut files: Vec<_> =
        std::fs::read_dir(&shared).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    files.sort();
    assert_eq!(files, ["agent.sh", "shared.txt"]);
    let refused = cluster.prose(&["worker", "--workspace", "nowhere"]).ended(2).stderr;
    assert!(refused.contains("agents cannot work in `nowhere`: "), "{refused}");
}
