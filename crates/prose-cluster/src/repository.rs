//! Repositories of git that agents work in on any machine: each session in a working tree of its own, which starts with the commit at which the run was
//! submitted. What a session has changed is pushed as a branch of its own.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};

use prose_run::{git_in, written_by_git};
use serde::{Deserialize, Serialize};

/// The protocols that a repository is reached by. Others start programs that their address names.
const PROTOCOLS: &str = "file:git:http:https:ssh";

/// The variables of git for its logins, which commands that reach a repository keep.
const LOGINS: [&str; 6] =
    ["GIT_ASKPASS", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSL_CAINFO"];

/// How many files with changes an error names.
const NAMED: usize = 3;

/// A commit that agents start from, in a repository that workers reach with the logins of their machines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repository {
    url: String,
    commit: String,
    /// The folder of the project in the repository, with `/` at its end; empty if it is the same.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) folder: String,
}

impl Repository {
    /// The present commit of the repository with a project, as other machines find it.
    ///
    /// # Errors
    ///
    /// Says what keeps other machines from starting with the files as they are here, and what to do.
    pub fn of_project(root: &Path) -> Result<Self, String> {
        let shown = root.display();
        let read = |arguments: &[&str]| succeeded(git_in(root).args(arguments));
        let folder = read(&["rev-parse", "--show-prefix"])
            .map_err(|said| format!("`--git` needs a project in a git repository; {shown}: {said}"))?;
        let commit = read(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]).map_err(|_| {
            format!("`--git` needs a commit to start from, and the repository of {shown} has none")
        })?;
        let remotes = read(&["remote"])?;
        let remotes: Vec<&str> = remotes.lines().collect();
        let remote = match remotes[..] {
            [only] => only,
            _ if remotes.contains(&"origin") => "origin",
            [] => {
                return Err(format!(
                    "`--git` needs a repository that workers can reach, and the one of {shown} has no remote; add it with `git remote add origin URL`"
                ));
            }
            _ => {
                return Err(format!(
                    "`--git` takes the remote `origin`, and the repository of {shown} has {}; rename one of them",
                    remotes.join(", ")
                ));
            }
        };
        let changed = read(&["diff", "--name-only", "HEAD", "--"])?;
        let changed: Vec<&str> = changed.lines().collect();
        if !changed.is_empty() {
            let more = if changed.len() > NAMED { ", …" } else { "" };
            return Err(format!(
                "with `--git`, workers start from the last commit, and these files have changed since: {}{more}; commit and push them, or stash them",
                changed[..changed.len().min(NAMED)].join(", ")
            ));
        }
        let references = format!("refs/remotes/{remote}/");
        if read(&["for-each-ref", "--count=1", "--contains", &commit, &references])?.is_empty() {
            return Err(format!(
                "with `--git`, workers start from the last commit, and `{remote}` does not have it; push it with `git push`"
            ));
        }
        let url = read(&["remote", "get-url", remote])?;
        if has_password(&url) {
            return Err(format!(
                "the address of the remote `{remote}` has a password, which everybody with access to the cluster would see; remove it with `git remote set-url {remote} URL`, \
                 and log in on the machines of the workers"
            ));
        }
        // A path counts from the folder of the repository.
        let url = if is_path(&url) {
            let path = Path::new(&read(&["rev-parse", "--show-toplevel"])?).join(&url);
            let path = path.canonicalize().map_err(|error| format!("`{}`: {error}", path.display()))?;
            path.to_str().ok_or_else(|| format!("`{}` is not valid UTF-8", path.display()))?.to_owned()
        } else {
            url
        };
        Ok(Self { url, commit, folder })
    }
}

/// Whether the address of a repository has a password.
fn has_password(url: &str) -> bool {
    let authority = url.split_once("://").map(|(_, rest)| rest.split('/').next().unwrap_or_default());
    let login = authority.and_then(|authority| authority.rsplit_once('@')).map(|(login, _)| login);
    login.is_some_and(|login| login.contains(':'))
}

/// Whether the address of a repository is a path: it has no scheme, and no colon before its first slash.
fn is_path(url: &str) -> bool {
    !url.contains("://") && !url.split('/').next().unwrap_or_default().contains(':')
}

/// The repositories that a worker has fetched.
#[derive(Debug, Default)]
pub(crate) struct Clones {
    /// Of each address the number of its folder, which is locked while git writes there.
    known: Mutex<HashMap<String, Arc<Mutex<usize>>>>,
}

impl Clones {
    /// Writes the files of a commit into a new folder, a working tree of a clone in the folder of the worker.
    pub(crate) fn check_out(
        &self,
        repository: &Repository,
        worker: &Path,
        tree: &Path,
    ) -> Result<PathBuf, String> {
        let known = {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            let next = known.len();
            Arc::clone(known.entry(repository.url.clone()).or_insert_with(|| Arc::new(Mutex::new(next))))
        };
        let number = known.lock().unwrap_or_else(PoisonError::into_inner);
        let clone = worker.join("repositories").join(number.to_string());
        let Repository { url, commit, .. } = repository;
        if !clone.exists() {
            let new = clone.with_extension("new");
            let _ = fs::remove_dir_all(&new);
            fs::create_dir_all(&new).map_err(|error| format!("`{}`: {error}", new.display()))?;
            succeeded(reaching(&new).args(["clone", "--quiet", "--bare", "--no-tags", "--", url, "."]))
                .map_err(|said| format!("the repository `{url}` cannot be cloned: {said}"))?;
            fs::rename(&new, &clone).map_err(|error| format!("`{}`: {error}", clone.display()))?;
        }
        let object = format!("{commit}^{{commit}}");
        let has_commit = || succeeded(git_in(&clone).args(["cat-file", "-e", &object])).is_ok();
        if !has_commit() {
            let branches = "+refs/heads/*:refs/remotes/origin/*";
            succeeded(reaching(&clone).args(["fetch", "--quiet", "--no-tags", "--", url, branches]))
                .map_err(|said| format!("the repository `{url}` cannot be fetched: {said}"))?;
            if !has_commit() {
                return Err(format!("the repository `{url}` has no commit {commit}; was it pushed?"));
            }
        }
        // What earlier ones have left whose folder is gone.
        let _ = succeeded(git_in(&clone).args(["worktree", "prune"]));
        let add = ["worktree", "add", "--quiet", "--detach"].map(OsStr::new);
        succeeded(git_in(&clone).args(add).arg(tree).arg(commit))?;
        Ok(tree.join(&repository.folder))
    }
}

/// Pushes what is different in a working tree from the commit that it started with, as a branch. `ours` are paths that are not from the repository. Returns
/// the commit; `None` if nothing has changed.
pub(crate) fn push_changes(
    repository: &Repository,
    tree: &Path,
    ours: &[String],
    branch: &str,
    message: &str,
) -> Result<Option<String>, String> {
    let excludes = tree.with_extension("excludes");
    let lines: Vec<String> = ours.iter().map(|path| format!("/{}\n", literal(path))).collect();
    fs::write(&excludes, lines.concat()).map_err(|error| format!("`{}`: {error}", excludes.display()))?;
    let setting = format!("core.excludesFile={}", excludes.display());
    let added = succeeded(git_in(tree).args(["-c", &setting, "add", "--all", "--", ":/"]));
    let _ = fs::remove_file(&excludes);
    added?;
    let is_same = git_in(tree).args(["diff", "--cached", "--quiet"]).status();
    if !is_same.is_ok_and(|status| status.success()) {
        succeeded(git_in(tree).args(["commit", "--quiet", "--no-verify", "--message", message]))?;
    }
    let commit = succeeded(git_in(tree).args(["rev-parse", "HEAD"]))?;
    if commit == repository.commit {
        return Ok(None);
    }
    let to = format!("HEAD:refs/heads/{branch}");
    succeeded(reaching(tree).args(["push", "--quiet", "--no-verify", "--", &repository.url, &to])).map_err(
        |said| {
            format!("the changes cannot be pushed to `{}` as the branch `{branch}`: {said}", repository.url)
        },
    )?;
    Ok(Some(commit))
}

/// A path as a pattern of git that means this path alone.
fn literal(path: &str) -> String {
    path.chars()
        .flat_map(|char| {
            let escape = matches!(char, '*' | '?' | '[' | ']' | '\\' | ' ').then_some('\\');
            escape.into_iter().chain([char])
        })
        .collect()
}

/// The program `git`, which may reach other machines with the logins of this one.
fn reaching(folder: &Path) -> Command {
    let mut command = git_in(folder);
    command.env("GIT_ALLOW_PROTOCOL", PROTOCOLS);
    for name in LOGINS {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command
}

/// What a command writes, without the end of its last line; the error is what it says.
fn succeeded(command: &mut Command) -> Result<String, String> {
    let written = written_by_git(command)?;
    Ok(String::from_utf8_lossy(&written).trim_end_matches(['\n', '\r']).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_and_paths_are_told_from_addresses() {
        for (url, password, path) in [
            ("https://example.org/a/b.git", false, false),
            ("https://ada@example.org/a/b.git", false, false),
            ("https://ada:secret@example.org/a/b.git", true, false),
            ("ssh://git@example.org:22/a/b.git", false, false),
            ("git@example.org:a/b.git", false, false),
            ("/srv/git/b.git", false, true),
            ("../b.git", false, true),
            ("./a:b", false, true),
        ] {
            assert_eq!((has_password(url), is_path(url)), (password, path), "{url}");
        }
    }

    #[test]
    fn names_are_no_patterns() {
        assert_eq!(literal("a/[b] *?.prose"), "a/\\[b\\]\\ \\*\\?.prose");
    }
}
