//! Branches that change files in working trees of their own (`run.isolation = "worktree"`).
//!
//! The agent is a shell: the prompts of the sessions are its commands, and their output, or else `done`, is its reply.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use expect_test::{Expect, expect};

use crate::common::{Run, Workspace};

const SETTINGS: &str = r#"
[run]
harness = "command"
command = ["sh", "-c", 'said=$(sh) || exit; echo "${said:-done}"']
isolation = "worktree"
"#;

/// A file with lines that are far enough from each other to be changed on their own.
const NOTES: &str = "one\n2\n3\n4\n5\n6\n7\n8\nnine\n";

/// A trusted project with a program.
fn project(program: &str) -> Workspace {
    let workspace = Workspace::new(&[
        ("prose.toml", SETTINGS),
        ("main.prose", program),
        ("notes.md", NOTES),
        (".gitignore", "/no-home\n/no-cache\n/ignored\n"),
    ]);
    workspace.trust();
    workspace
}

/// The same in a repository with one commit.
fn repository(program: &str) -> Workspace {
    let workspace = project(program);
    git(&workspace, &["init", "-q", "-b", "main"]);
    git(&workspace, &["add", "-A"]);
    git(&workspace, &["commit", "-q", "-m", "start"]);
    workspace
}

/// What a git command of the user writes.
#[track_caller]
fn git(workspace: &Workspace, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("GIT_") {
            command.env_remove(name);
        }
    }
    command.current_dir(workspace.path("")).env("HOME", workspace.path("no-home"));
    command.args(["-c", "user.name=u", "-c", "user.email=u@localhost"]).args(arguments);
    let output = command.output().expect("git is installed");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What the user sees of the repository: the branch, the changes, and all working trees.
fn state(workspace: &Workspace) -> String {
    let trees = git(workspace, &["worktree", "list", "--porcelain"]).matches("worktree ").count();
    let refs = git(workspace, &["for-each-ref", "--format=%(refname)"]);
    format!("{}{refs}trees: {trees}\n", git(workspace, &["status", "--porcelain", "--branch"]))
}

/// Everything that a user would see, without what differs between runs.
fn shown(run: &Run) -> String {
    let Run { status, stdout, stderr } = run;
    let is_kept =
        |line: &&str| !line.starts_with("Run ") && !line.starts_with("up to ") && !line.contains(" tokens");
    let lines: Vec<&str> = stderr.lines().filter(is_kept).collect();
    let mut text = format!("status: {status}\n{stdout}----\n{}\n", lines.join("\n"));
    for before in [".prose/runs/2", "prose resume 2"] {
        while let Some(at) = text.find(before) {
            let id = at + before.len() - 1;
            text.replace_range(id..id + "20260115-143052-a7b3c9".len(), "ID");
        }
    }
    text
}

fn check(run: &Run, expected: Expect) {
    expected.assert_eq(&shown(run));
}

fn run_id(workspace: &Workspace) -> String {
    let last = workspace.runs().pop().expect("there is a run");
    last.file_name().expect("it has a name").to_string_lossy().into_owned()
}

/// Two branches that change different lines of a file, and other files.
const TWO: &str = r#"
parallel:
  a = session "sed s/one/ONE/ notes.md > n; mv n notes.md; echo a > a.txt; cat draft.txt; git status --porcelain"
  b = session "sed s/nine/NINE/ notes.md > n; mv n notes.md; rm gone.txt; mkdir deep; echo b > deep/b.txt; chmod +x deep/b.txt"
output a = a
output notes = session "tail -n 1 notes.md; head -n 1 notes.md"
"#;

#[test]
fn changes_of_branches_are_merged_into_the_project_and_nothing_else_is_touched() {
    let workspace = repository(TWO);
    workspace.write("gone.txt", b"x");
    git(&workspace, &["add", "gone.txt"]);
    git(&workspace, &["commit", "-q", "-m", "more"]);
    // What is not committed belongs to the state that branches start with.
    workspace.write("draft.txt", b"a draft\n");
    workspace.write("staged.txt", b"staged\n");
    git(&workspace, &["add", "staged.txt"]);
    workspace.write("notes.md", NOTES.replace('5', "five").as_bytes());
    workspace.write("ignored/x", b"x");
    let run = workspace.prose(&["run", "main.prose", "-q"]);
    check(
        &run,
        expect![[r#"
            status: 0
            a:
            a draft
             M notes.md
            ?? a.txt
            ?? draft.txt
            ?? staged.txt
            notes:
            NINE
            ONE
            ----

        "#]],
    );
    assert_eq!(workspace.read("notes.md"), "ONE\n2\n3\n4\nfive\n6\n7\n8\nNINE\n");
    assert_eq!((workspace.read("a.txt"), workspace.read("deep/b.txt")), ("a\n".into(), "b\n".into()));
    assert_eq!(fs::metadata(workspace.path("deep/b.txt")).unwrap().permissions().mode() & 0o100, 0o100);
    expect![[r#"
        ## main
         D gone.txt
         M notes.md
        A  staged.txt
        ?? .prose/
        ?? a.txt
        ?? deep/
        ?? draft.txt
        refs/heads/main
        trees: 1
    "#]]
    .assert_eq(&state(&workspace));
    assert!(!workspace.path(&format!(".prose/runs/{}/trees", run_id(&workspace))).exists());
}

#[test]
fn the_first_lines_of_a_run_and_of_a_dry_run_say_so() {
    let workspace = repository(TWO);
    for arguments in [&["run", "main.prose"][..], &["run", "main.prose", "--dry-run"]] {
        let run = workspace.prose(arguments);
        assert!(
            run.stderr.contains("\nparallel branches that may change files work in a git worktree each")
                || run
                    .stderr
                    .starts_with("parallel branches that may change files work in a git worktree each"),
            "{}",
            run.stderr
        );
    }
    let workspace = repository("session \"echo x\"\n");
    let run = workspace.prose(&["run", "main.prose"]);
    assert!(!run.stderr.contains("worktree"), "{}", run.stderr);
}

const CONFLICT: &str = r#"
parallel:
  left = session "sed s/one/left/ notes.md > n; mv n notes.md; echo l > l.txt"
  right = session "sed s/one/right/ notes.md > n; mv n notes.md"
  session "true"
output notes = session "head -n 1 notes.md"
"#;

#[test]
fn a_conflict_names_both_sessions_and_keeps_both_trees_until_it_is_resolved() {
    let workspace = repository(CONFLICT);
    let run = workspace.prose(&["run", "main.prose", "-q"]);
    check(
        &run,
        expect![[r#"
            status: 1
            ----
            error: the program failed at line 2: branch `left` (session of line 3) and branch `right` (session of line 4) have changed `notes.md` in ways that cannot be merged; nothing was merged, and their work is kept in `.prose/runs/ID/trees/1-left` and `.prose/runs/ID/trees/2-right`: make these files the same in both, then resume the run, or discard a branch with `git worktree remove --force` and its folder
            help: resume it with `prose resume ID`; recorded results are reused
        "#]],
    );
    assert_eq!(workspace.read("notes.md"), NOTES);
    assert!(!workspace.path("l.txt").exists());
    let id = run_id(&workspace);
    let trees = workspace.path(&format!(".prose/runs/{id}/trees"));
    let mut names: Vec<_> = fs::read_dir(&trees).unwrap().flatten().map(|tree| tree.file_name()).collect();
    names.sort();
    assert_eq!(names, ["1-left", "2-right", "3-branch-3"]);
    assert_eq!(fs::read_to_string(trees.join("1-left/notes.md")).unwrap(), NOTES.replace("one", "left"));
    assert_eq!(fs::read_to_string(trees.join("2-right/notes.md")).unwrap(), NOTES.replace("one", "right"));

    // The same conflict again.
    workspace.prose(&["resume", "-q"]).ended(1);
    // Both are made the same.
    fs::copy(trees.join("1-left/notes.md"), trees.join("2-right/notes.md")).unwrap();
    let run = workspace.prose(&["resume", "-q"]);
    check(
        &run,
        expect![[r#"
        status: 0
        notes: left
        ----

    "#]],
    );
    assert_eq!(workspace.read("l.txt"), "l\n");
    assert!(!trees.exists());
    assert!(state(&workspace).ends_with("trees: 1\n"));
}

#[test]
fn the_work_of_a_branch_can_be_discarded_after_a_conflict() {
    let workspace = repository(CONFLICT);
    workspace.prose(&["run", "main.prose", "-q"]).ended(1);
    let tree = format!(".prose/runs/{}/trees/1-left", run_id(&workspace));
    git(&workspace, &["worktree", "remove", "--force", &tree]);
    let run = workspace.prose(&["resume", "-q"]);
    assert_eq!((run.status, run.stdout.as_str()), (0, "notes: right\n"), "{run:?}");
    assert!(!workspace.path("l.txt").exists());
}

#[test]
fn a_conflict_can_be_caught() {
    let program = r#"
try:
  parallel:
    session "echo 1 > f"
    session "echo 2 > f"
catch as e:
  output caught = e.message
"#;
    let workspace = repository(program);
    let run = workspace.prose(&["run", "main.prose", "-q"]).ended(0);
    assert!(
        run.stdout.contains(
            "branch 1 (session of line 4) and branch 2 (session of line 5) have changed `f` in ways"
        ),
        "{run:?}"
    );
    assert!(!workspace.path("f").exists());
    workspace.prose(&["runs", "rm", &run_id(&workspace)]).ended(0);
    assert!(state(&workspace).ends_with("trees: 1\n"), "{}", state(&workspace));
}

#[test]
fn a_file_that_the_user_changed_meanwhile_conflicts_only_where_a_branch_changed_it_too() {
    let program = r#"
parallel:
  session "sed s/one/ONE/ notes.md > n; mv n notes.md; echo mine > ../../../../../user.txt"
  session "sed s/8/EIGHT/ ../../../../../notes.md > n; mv n ../../../../../notes.md"
"#;
    let workspace = repository(program);
    workspace.prose(&["run", "main.prose", "-q"]).ended(0);
    assert_eq!(workspace.read("notes.md"), NOTES.replace("one", "ONE").replace('8', "EIGHT"));
    let workspace = repository(&program.replace("s/8/EIGHT/", "s/one/two/"));
    let run = workspace.prose(&["run", "main.prose", "-q"]);
    check(
        &run,
        expect![[r#"
            status: 1
            ----
            error: the program failed at line 2: `notes.md` was changed outside of the run while branch 1 (session of line 3) changed it, too, and the changes cannot be merged; nothing was merged, and its work is kept in `.prose/runs/ID/trees/1-branch-1`: make the file the same there, then resume the run, or discard the branch with `git worktree remove --force` and its folder
            help: resume it with `prose resume ID`; recorded results are reused
        "#]],
    );
    assert_eq!(workspace.read("notes.md"), NOTES.replace("one", "two"));
}

#[test]
fn branches_in_branches_are_merged_into_their_branch_first() {
    let program = r#"
parallel:
  do:
    session "echo outer > outer.txt"
    parallel for n in ["x", "y"]:
      session "cat outer.txt; pwd > {n}.txt; ls > list-{n}.txt"
    session "cat x.txt y.txt | grep -c trees/1-branch-1. > count.txt; mv outer.txt moved.txt"
  session "echo other > other.txt"
let items = ["p", "q"] | pmap:
  session "ls; echo {item} > {item}.txt"
"#;
    let workspace = repository(program);
    workspace.prose(&["run", "main.prose", "-q"]).ended(0);
    assert_eq!(workspace.read("count.txt"), "2\n");
    assert_eq!(
        workspace.read("list-x.txt"),
        "main.prose\nnotes.md\nouter.txt\nprose.toml\nx.txt\nlist-x.txt\n"
            .replace("list-x.txt\n", "")
            .replace("main.prose\n", "list-x.txt\nmain.prose\n")
    );
    expect![[r#"
        ## main
        ?? .prose/
        ?? count.txt
        ?? list-x.txt
        ?? list-y.txt
        ?? moved.txt
        ?? other.txt
        ?? p.txt
        ?? q.txt
        ?? x.txt
        ?? y.txt
        refs/heads/main
        trees: 1
    "#]]
    .assert_eq(&state(&workspace));
}

#[test]
fn work_of_branches_that_were_cancelled_or_failed_is_kept_but_not_merged() {
    let program = r#"
parallel ("first"):
  winner = session "until test -e ../2-loser/loser.txt -a -d ../3-idle; do sleep 0.01; done; echo w > winner.txt"
  loser = session "echo l > loser.txt; sleep 600"
  idle = session "sleep 600"
parallel (on-fail: "continue"):
  session "echo f > failed.txt; exit 1"
  session "echo g > good.txt"
"#;
    let workspace = repository(program);
    let run = workspace.prose(&["run", "main.prose"]);
    let warnings: Vec<&str> = run.stderr.lines().filter(|line| line.contains("not merged")).collect();
    assert_eq!((run.status, warnings.len()), (0, 2), "{run:?}");
    expect![[r#"
        ## main
        ?? .prose/
        ?? good.txt
        ?? winner.txt
        refs/heads/main
        trees: 3
    "#]]
    .assert_eq(&state(&workspace));
    let trees = workspace.path(&format!(".prose/runs/{}/trees", run_id(&workspace)));
    assert_eq!(fs::read_to_string(trees.join("2-loser/loser.txt")).unwrap(), "l\n");
    assert_eq!(fs::read_to_string(trees.join("4-branch-1/failed.txt")).unwrap(), "f\n");
}

#[test]
fn a_failed_parallel_goes_on_in_its_trees_when_the_run_is_resumed() {
    let program = r#"
parallel:
  session "echo a > a.txt"
  session "test -e ../../../../../allowed || exit 1; echo b > b.txt"
"#;
    let workspace = repository(program);
    workspace.write(".gitignore", b"/no-home\n/no-cache\n/allowed\n");
    workspace.prose(&["run", "main.prose", "-q", "--max-parallel", "1"]).ended(1);
    assert!(!workspace.path("a.txt").exists());
    workspace.write("allowed", b"");
    workspace.prose(&["resume", "-q"]).ended(0);
    assert_eq!((workspace.read("a.txt"), workspace.read("b.txt")), ("a\n".into(), "b\n".into()));
    assert!(state(&workspace).ends_with("trees: 1\n"));
}

/// A branch that succeeds and one that fails, below a statement.
const HALF: &str = r#"
session "echo first >> log.txt"
parallel:
  a = session "echo a >> a.txt; echo a >> ../../../../../asked"
  b = session "echo b > b.txt; exit 1"
output a = a
"#;

/// Runs a program that fails, changes it, and resumes the run. The user sees how often the branch `a` was asked.
#[track_caller]
fn changed(program: &str, changed: &str) -> (Workspace, Run) {
    let workspace = repository(program);
    workspace.write(".gitignore", b"/no-home\n/no-cache\n/asked\n");
    workspace.prose(&["run", "main.prose", "-q", "--max-parallel", "1"]).ended(1);
    assert!(!workspace.path("a.txt").exists());
    workspace.write("main.prose", changed.as_bytes());
    let run = workspace.prose(&["resume", "--accept-changes", "-q", "--max-parallel", "1"]);
    (workspace, run)
}

#[test]
fn a_changed_program_merges_the_work_of_the_sessions_that_it_reuses() {
    let (workspace, run) = changed(HALF, &HALF.replace("; exit 1", ""));
    assert_eq!((run.status, run.stdout.as_str()), (0, "a: done\n"), "{run:?}");
    assert_eq!((workspace.read("a.txt"), workspace.read("b.txt")), ("a\n".into(), "b\n".into()));
    assert_eq!((workspace.read("asked"), workspace.read("log.txt")), ("a\n".into(), "first\n".into()));
    assert!(state(&workspace).ends_with("trees: 1\n"), "{}", state(&workspace));
}

#[test]
fn a_session_is_asked_again_where_a_changed_program_gives_it_another_tree() {
    // The new branches have the first trees now, and the work in the tree of `a` is not that of a reused session.
    let before = "parallel:\n  session \"echo x > x.txt\"\n  session \"echo y > y.txt\"\n";
    let program = HALF.replace("; exit 1", "").replace("parallel:\n  a", &format!("{before}parallel:\n  a"));
    let (workspace, run) = changed(HALF, &program);
    assert_eq!((run.status, run.stdout.as_str()), (0, "a: done\n"), "{run:?}");
    for (file, text) in [("a.txt", "a\n"), ("b.txt", "b\n"), ("x.txt", "x\n"), ("y.txt", "y\n")] {
        assert_eq!(workspace.read(file), text);
    }
    assert_eq!(workspace.read("asked"), "a\na\n");
}

#[test]
fn a_branch_of_a_changed_program_does_not_start_with_the_work_of_another_one() {
    // The new session of the branch `b` gets the tree in which the old one has failed; that of `a` is reused with its tree.
    let (workspace, run) =
        changed(HALF, &HALF.replace("echo b > b.txt; exit 1", "ls > seen; echo new > new.txt"));
    assert_eq!((run.status, run.stdout.as_str()), (0, "a: done\n"), "{run:?}");
    assert!(!workspace.path("b.txt").exists(), "the work of the session that is gone");
    assert!(!workspace.read("seen").contains("b.txt"), "{}", workspace.read("seen"));
    assert_eq!((workspace.read("new.txt"), workspace.read("asked")), ("new\n".into(), "a\n".into()));
    assert!(
        run.stderr.contains("has only work of sessions that the changed program does not ask"),
        "{run:?}"
    );
    assert!(state(&workspace).ends_with("trees: 1\n"), "{}", state(&workspace));
}

#[test]
fn a_session_before_a_reused_one_starts_the_tree_of_its_branch_anew() {
    let program = HALF
        .replace("; exit 1", "")
        .replace("  a = session \"echo a", "  a = do:\n    session \"ls > seen\"\n    session \"echo a");
    let (workspace, run) = changed(HALF, &program);
    assert_eq!((run.status, run.stdout.as_str()), (0, "a: done\n"), "{run:?}");
    assert!(!workspace.read("seen").contains("a.txt"), "{}", workspace.read("seen"));
    // The work of the session after it was discarded with the tree, so it is asked again.
    assert_eq!((workspace.read("a.txt"), workspace.read("asked")), ("a\n".into(), "a\na\n".into()));
}

#[test]
fn merged_work_is_not_done_again_by_a_changed_program() {
    let program = HALF.replace("; exit 1", "").replace("output", "session \"exit 1\"\noutput");
    let (workspace, run) = {
        let workspace = repository(&program);
        workspace.write(".gitignore", b"/no-home\n/no-cache\n/asked\n");
        workspace.prose(&["run", "main.prose", "-q"]).ended(1);
        assert_eq!(workspace.read("a.txt"), "a\n");
        workspace.write("main.prose", program.replace("exit 1", "true").as_bytes());
        let run = workspace.prose(&["resume", "--accept-changes", "-q"]);
        (workspace, run)
    };
    assert_eq!((run.status, run.stdout.as_str()), (0, "a: done\n"), "{run:?}");
    assert_eq!((workspace.read("a.txt"), workspace.read("asked")), ("a\n".into(), "a\n".into()));
    assert!(state(&workspace).ends_with("trees: 1\n"), "{}", state(&workspace));
}

#[test]
fn files_of_a_context_are_those_of_the_tree() {
    let program = r#"
parallel:
  do:
    session "echo of the tree > notes.md"
    output seen = session "cat <<'END'"
      context:
        file: "notes.md"
  session "true"
"#;
    let workspace = repository(program);
    let run = workspace.prose(&["run", "main.prose", "-q"]);
    assert!(run.stdout.contains("notes.md: \"of the tree\""), "{run:?}");
}

#[test]
fn sessions_that_may_change_nothing_work_in_the_project() {
    let program = r#"
agent reader:
  permissions:
    write: deny
parallel:
  a = session: reader
    prompt: "pwd; exit"
  b = session "pwd"
output a = a
output b = b
"#;
    let workspace = repository(program);
    let run = workspace.prose(&["run", "main.prose", "-q", "--allow-unenforced-permissions"]);
    let root = workspace.path("").canonicalize().unwrap();
    let (root, id) = (root.display(), run_id(&workspace));
    assert_eq!(run.stdout, format!("a: {root}\nb: {root}/.prose/runs/{id}/trees/1-b\n"), "{run:?}");
}

#[test]
fn without_a_repository_nothing_is_started() {
    let workspace = project(TWO);
    let run = workspace.prose(&["run", "main.prose", "-q"]);
    let folder = workspace.path("").display().to_string();
    let message = shown(&run).replace(folder.trim_end_matches('/'), "FOLDER");
    expect![[r#"
        status: 2
        ----
        error: `run.isolation = "worktree"` needs a git repository, and the project FOLDER is in none; run `git init` there, or set `isolation = "none"` in `[run]` in `prose.toml`
    "#]].assert_eq(&message);
    workspace.prose(&["run", "main.prose", "--dry-run"]).ended(2);
    assert_eq!(workspace.prose(&["runs"]).stdout, "");
    // A program without branches needs none, nor does one that starts no agents.
    workspace.write("one.prose", b"session \"echo x\"\n");
    workspace.prose(&["run", "one.prose", "-q"]).ended(0);
    workspace.prose(&["run", "main.prose", "-q", "--harness", "offline"]).ended(0);
    workspace.prose(&["run", "main.prose", "-q", "--in-context"]).ended(2);
}

#[test]
fn without_git_nothing_is_started() {
    let workspace = repository(TWO);
    let run = Run::of(workspace.command().args(["run", "main.prose", "-q"]).env("PATH", "/nowhere"));
    check(
        &run,
        expect![[r#"
        status: 2
        ----
        error: `run.isolation = "worktree"` needs `git`, which is not installed; install it, or set `isolation = "none"` in `[run]` in `prose.toml`
    "#]],
    );
}

#[test]
fn a_repository_may_ignore_the_files_of_runs() {
    for ignored in ["/.prose", ".prose/", ".prose/*"] {
        let workspace = repository("parallel:\n  session \"echo a > a.txt\"\n  session \"echo b > b.txt\"\n");
        workspace.write(".gitignore", format!("/no-home\n/no-cache\n{ignored}\n").as_bytes());
        let run = workspace.prose(&["run", "main.prose", "-q"]);
        assert_eq!(run.status, 0, "{ignored}: {run:?}");
        assert_eq!((workspace.read("a.txt"), workspace.read("b.txt")), ("a\n".into(), "b\n".into()));
    }
}

#[test]
fn submodules_are_refused() {
    let workspace = repository(TWO);
    fs::create_dir(workspace.path("inner")).unwrap();
    git(&workspace, &["init", "-q", "inner"]);
    let run = workspace.prose(&["run", "main.prose", "-q"]);
    check(
        &run,
        expect![[r#"
        status: 2
        ----
        error: `inner` is a repository of its own; submodules and other repositories in a repository are not supported in working trees; add it to `.gitignore` if it is none, or set `isolation = "none"` in `[run]` in `prose.toml`
    "#]],
    );
}

#[test]
fn a_project_in_a_folder_of_a_repository_and_one_without_commits_work_too() {
    let workspace = Workspace::new(&[
        ("sub/prose.toml", SETTINGS),
        ("sub/main.prose", "parallel:\n  session \"pwd > ../a.txt\"\n  session \"cat ../top.txt > b.txt\"\n"),
        ("top.txt", "top\n"),
        (".gitignore", "/no-home\n/no-cache\n"),
    ]);
    git(&workspace, &["init", "-q", "-b", "main"]);
    Run::of(workspace.command().arg("trust").current_dir(workspace.path("sub"))).ended(0);
    let mut command = workspace.command();
    Run::of(command.current_dir(workspace.path("sub")).args(["run", "main.prose", "-q"])).ended(0);
    assert!(workspace.read("a.txt").ends_with("/trees/1-branch-1/sub\n"), "{}", workspace.read("a.txt"));
    assert_eq!(workspace.read("sub/b.txt"), "top\n");
}

#[test]
fn git_runs_no_programs_of_the_repository() {
    let workspace = repository(TWO);
    workspace.write("gone.txt", b"x");
    workspace.write("draft.txt", b"x");
    let ran = workspace.path("no-home/ran").display().to_string();
    fs::create_dir_all(workspace.path("no-home")).unwrap();
    let program = format!("echo ran >> {ran}; cat");
    git(&workspace, &["config", "filter.own.clean", &program]);
    git(&workspace, &["config", "filter.own.smudge", &program]);
    git(&workspace, &["config", "merge.own.driver", &format!("echo ran >> {ran}")]);
    git(&workspace, &["config", "core.fsmonitor", &format!("echo ran >> {ran}")]);
    workspace.write(".gitattributes", b"*.txt filter=own\n");
    for hook in ["post-checkout", "post-index-change", "reference-transaction", "pre-commit"] {
        let path = format!(".git/hooks/{hook}");
        workspace.write(&path, format!("#!/bin/sh\necho {hook} >> {ran}\n").as_bytes());
    }
    // The sessions start no git themselves.
    workspace.write("main.prose", TWO.replace("; git status --porcelain", "").as_bytes());
    workspace.prose(&["run", "main.prose", "-q"]).ended(0);
    assert!(!workspace.path("no-home/ran").exists(), "{}", workspace.read("no-home/ran"));
}

/// Kills `prose` before its command of git with a number, then resumes the run. Returns whether there was such a command.
fn killed_at(number: u32) -> bool {
    // The sessions start no git themselves: the parent of theirs is not `prose`.
    let workspace = repository(&TWO.replace("; git status --porcelain", ""));
    workspace.write("gone.txt", b"x");
    workspace.write("draft.txt", b"x");
    let real = Command::new("sh").args(["-c", "command -v git"]).output().unwrap();
    let real = String::from_utf8_lossy(&real.stdout).trim().to_owned();
    // Commands run at the same time, so each finds its own number: the line that it wrote.
    let count = workspace.path("no-home/count").display().to_string();
    let script = format!(
        "#!/bin/sh\necho $$ >> {count}\nif [ -n \"$KILL_AT\" ] && [ \"$(sed -n \"$KILL_AT\"p {count})\" = $$ ]; then kill -9 $PPID; exit 1; fi\nexec {real} \"$@\"\n"
    );
    workspace.write("no-home/bin/git", script.as_bytes());
    let path = format!("{}:{}", workspace.path("no-home/bin").display(), std::env::var("PATH").unwrap());
    let mut command = workspace.command();
    command.args(["run", "main.prose", "-q"]).env("PATH", &path).env("KILL_AT", number.to_string());
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    if status.success() {
        return false;
    }
    assert_eq!(status.code(), None, "command {number}");
    if workspace.path(".prose/runs").exists()
        && fs::read_dir(workspace.path(".prose/runs")).unwrap().count() > 0
    {
        let journal = workspace.read(&format!(".prose/runs/{}/journal.jsonl", run_id(&workspace)));
        let arguments: &[&str] =
            if journal.is_empty() { &["run", "main.prose", "-q"] } else { &["resume", "-q"] };
        let run = Run::of(workspace.command().args(arguments));
        assert_eq!(run.status, 0, "command {number}: {run:?}");
        assert_eq!(workspace.read("notes.md"), "ONE\n2\n3\n4\n5\n6\n7\n8\nNINE\n", "command {number}");
        assert_eq!(workspace.read("deep/b.txt"), "b\n", "command {number}");
        assert!(!workspace.path("gone.txt").exists(), "command {number}");
        assert!(
            state(&workspace).ends_with("refs/heads/main\ntrees: 1\n"),
            "command {number}: {}",
            state(&workspace)
        );
    }
    true
}

#[test]
fn a_run_that_was_killed_while_it_worked_with_trees_goes_on() {
    let mut number = 3;
    while killed_at(number) {
        number += 5;
    }
    assert!(number > 40, "{number}");
}

#[test]
#[ignore = "takes a minute"]
fn a_run_that_was_killed_at_any_command_of_git_goes_on() {
    let mut number = 1;
    while killed_at(number) {
        number += 1;
    }
}

#[test]
fn a_fork_keeps_what_was_merged_and_asks_the_rest_in_trees_of_its_own() {
    let workspace = repository(TWO);
    workspace.write("draft.txt", b"a draft\n");
    workspace.write("gone.txt", b"x");
    workspace.prose(&["run", "main.prose", "-q"]).ended(0);
    let id = run_id(&workspace);
    let before = state(&workspace);
    // The changes of the branches were merged before the point, and their sessions do not run again.
    workspace.write("notes.md", NOTES.as_bytes());
    let fork = workspace.prose(&["runs", "fork", &id, "--from", "6", "-q"]);
    check(
        &fork,
        expect![[r#"
        status: 0
        a:
        a draft
         M notes.md
        ?? a.txt
        ?? draft.txt
        ?? gone.txt
        notes:
        nine
        one
        ----

    "#]],
    );
    assert_eq!(workspace.read("notes.md"), NOTES);
    // From the branches on, they run again, in new trees, and are merged again.
    workspace.write("gone.txt", b"x");
    let fork = workspace.prose(&["runs", "fork", &id, "--from", "2", "-q"]);
    check(
        &fork,
        expect![[r#"
        status: 0
        a:
        a draft
         M notes.md
        ?? a.txt
        ?? deep/
        ?? draft.txt
        ?? gone.txt
        notes:
        NINE
        ONE
        ----

    "#]],
    );
    assert_eq!(workspace.read("notes.md"), NOTES.replace("one", "ONE").replace("nine", "NINE"));
    assert_eq!(state(&workspace), before, "no working tree is left");
}
