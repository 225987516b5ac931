//! Which commit `prose --version` names, for builds from clones, archives and packages.

#[path = "../../build/version.rs"]
mod source;

use std::fs;
use std::path::Path;
use std::process::Command;

use prose_fixture::tempdir;
use source::{ARCHIVE, COMMIT, EPOCH, Source, files_of_head};

use crate::common::Workspace;

const HASH: &str = "0123456789abcdef0123456789abcdef01234567";

fn of_environment(commit: &str, epoch: &str) -> Source {
    Source::of_environment(|name| match name {
        COMMIT => Some(commit.to_owned()),
        EPOCH => Some(epoch.to_owned()),
        _ => None,
    })
}

/// Runs Git in a folder, with nothing of the settings of the user.
fn git(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command
        .current_dir(folder)
        .args(arguments)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1");
    for person in ["GIT_AUTHOR", "GIT_COMMITTER"] {
        command.env(format!("{person}_NAME"), "Ada").env(format!("{person}_EMAIL"), "ada@example.com");
        command.env(format!("{person}_DATE"), "2026-01-31T23:30:00+0100");
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A clone of one commit, and this commit.
fn clone(folder: &Path) -> String {
    git(folder, &["init", "--quiet", "--initial-branch=main"]);
    fs::create_dir_all(folder.join("package/build")).unwrap();
    fs::write(folder.join("package/Cargo.toml"), "").unwrap();
    fs::write(folder.join(".gitattributes"), "/package/build/commit.txt export-subst\n").unwrap();
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join(ARCHIVE);
    fs::copy(place, folder.join("package").join(ARCHIVE)).unwrap();
    git(folder, &["add", "."]);
    git(folder, &["commit", "--quiet", "--message", "Start"]);
    git(folder, &["rev-parse", "HEAD"]).trim().to_owned()
}

#[test]
fn packagers_say_the_commit_and_the_date() {
    assert_eq!(of_environment(HASH, "1769898600").version("0.1.0", true), "0.1.0 (012345678 2026-01-31)");
    assert_eq!(of_environment(HASH, "").version("0.1.0", true), "0.1.0 (012345678)");
    assert_eq!(of_environment("0123ABC", "951868800").version("0.1.0", true), "0.1.0 (0123abc 2000-03-01)");
    assert_eq!(of_environment("main", "soon").version("0.1.0", true), "0.1.0");
    assert_eq!(of_environment("", "").version("0.1.0", false), "0.1.0 (debug build)");
    assert_eq!(of_environment(HASH, "").version("0.1.0", false), "0.1.0 (012345678)");
}

#[test]
fn dates_are_those_of_the_calendar() {
    let date = |time: i64| Source::of_archive(&format!("- {time}")).version("", true);
    for (time, expected) in [
        (0, " (1970-01-01)"),
        (951_782_399, " (2000-02-28)"),
        (951_782_400, " (2000-02-29)"),
        (1_767_225_599, " (2025-12-31)"),
        (1_767_225_600, " (2026-01-01)"),
        (4_107_542_400, " (2100-03-01)"),
        (-1, " (1969-12-31)"),
    ] {
        assert_eq!(date(time), expected, "{time}");
    }
}

#[test]
fn clones_have_the_commit_and_its_date_in_utc() {
    let folder = tempdir().unwrap();
    let commit = clone(folder.path());
    let package = folder.path().join("package");
    let source = Source::of_git(&package);
    let expected = format!("0.1.0 ({} 2026-01-31)", &commit[..9]);
    assert_eq!(source.version("0.1.0", true), expected);
    assert!(!source.is_incomplete());
    // What packagers say comes first.
    assert!(of_environment(HASH, "").or(source).version("0.1.0", true).starts_with("0.1.0 (012345678 2026"));

    let files = files_of_head(&package);
    let branch = files.iter().find(|file| file.ends_with("refs/heads/main")).expect("the branch is watched");
    assert_eq!(fs::read_to_string(branch).unwrap().trim(), commit);
    assert!(files.iter().any(|file| file.ends_with("HEAD")) && files.iter().all(|file| file.is_file()));
}

#[test]
fn worktrees_watch_their_own_branch() {
    let folder = tempdir().unwrap();
    clone(folder.path());
    git(folder.path(), &["worktree", "add", "--quiet", "-b", "topic", "other"]);
    let package = folder.path().join("other/package");
    assert!(!Source::of_git(&package).is_incomplete());
    let files = files_of_head(&package);
    assert!(files.iter().any(|file| file.ends_with("refs/heads/topic")), "{files:?}");
    assert!(files.iter().any(|file| file.ends_with("worktrees/other/HEAD")), "{files:?}");
}

#[test]
fn archives_of_git_have_the_commit_in_a_file() {
    let folder = tempdir().unwrap();
    let commit = clone(folder.path());
    git(folder.path(), &["archive", "--format=tar", "--output=source.tar", "HEAD"]);
    let unpacked = folder.path().join("unpacked");
    fs::create_dir(&unpacked).unwrap();
    let mut tar = Command::new("tar");
    tar.arg("-xf").arg(folder.path().join("source.tar")).current_dir(&unpacked);
    assert!(tar.status().unwrap().success());
    let text = fs::read_to_string(unpacked.join("package").join(ARCHIVE)).unwrap();
    assert_eq!(Source::of_archive(&text), Source::of_git(&folder.path().join("package")));
    assert!(Source::of_archive(&text).version("0.1.0", true).contains(&commit[..9]));
    // In a clone, the file has nothing to say.
    let text = fs::read_to_string(folder.path().join("package").join(ARCHIVE)).unwrap();
    assert_eq!(Source::of_archive(&text).version("0.1.0", true), "0.1.0");
    // The unpacked folder is inside of a clone, which is not its own.
    assert_eq!(Source::of_git(&unpacked.join("package")).version("0.1.0", true), "0.1.0");
    assert_eq!(Source::of_git(Path::new("/")).version("0.1.0", true), "0.1.0");
}

/// The file has places for the commit only if Git is told to fill them in.
#[test]
fn the_archives_of_this_repository_have_the_commit() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(ARCHIVE);
    let attributes = git(path.parent().unwrap(), &["check-attr", "export-subst", "commit.txt"]);
    assert_eq!(attributes, "commit.txt: export-subst: set\n");
}

#[test]
fn commands_report_the_same_version() {
    let workspace = Workspace::new(&[]);
    let version = workspace.prose(&["--version"]).stdout;
    assert_eq!(version, format!("prose {}\n", env!("PROSE_VERSION")));
    assert_eq!(
        workspace.prose(&["runs", "list", "--version"]).stdout,
        version.replacen("prose", "prose-runs-list", 1)
    );
}
