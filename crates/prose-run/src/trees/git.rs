//! The program `git`, started so that it runs nothing that a repository configures and changes neither its branches nor its index.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

use prose_vm::effect::Failure;
use prose_vm::error::ErrorKind;

/// The first version with `git merge-tree --write-tree`.
const MIN_VERSION: (u32, u32) = (2, 38);

/// The settings that are the same for all commands: nothing starts hooks, monitors, or work in the background.
const SETTINGS: &[(&str, &str)] = &[
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("commit.gpgSign", "false"),
    ("submodule.recurse", "false"),
    ("diff.external", ""),
    ("core.safecrlf", "false"),
];

/// A repository.
#[derive(Debug)]
pub(super) struct Git {
    /// The folder of its working tree.
    pub(super) top: PathBuf,
    /// The folder of the project in it, with `/` at its end; empty if it is the same.
    pub(super) prefix: String,
    /// The folder that all its working trees share.
    pub(super) common: PathBuf,
    /// Settings that replace those of the repository.
    settings: Vec<(String, String)>,
}

/// Why there is no repository to work with.
#[derive(Debug)]
pub(super) enum NoRepository {
    /// `git` is not installed.
    NoGit,
    /// `git` is too old.
    TooOld(String),
    /// The folder is in none.
    None,
    /// `git` reports this.
    Failed(String),
}

impl Git {
    /// The repository with a project.
    pub(super) fn find(project: &Path) -> Result<Self, NoRepository> {
        let version = command(project).arg("--version").output().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => NoRepository::NoGit,
            _ => NoRepository::Failed(error.to_string()),
        })?;
        let version = String::from_utf8_lossy(&version.stdout).trim().to_owned();
        if !is_recent(&version) {
            return Err(NoRepository::TooOld(version));
        }
        let mut git = Self {
            top: project.to_owned(),
            prefix: String::new(),
            common: PathBuf::new(),
            settings: Vec::new(),
        };
        let paths =
            ["rev-parse", "--path-format=absolute", "--show-toplevel", "--git-common-dir", "--show-prefix"];
        let found = git.output(project, None, &paths, None).map_err(NoRepository::Failed)?;
        if !found.status.success() {
            let said = said(&found);
            return Err(
                match said.contains("not a git repository") || said.contains("must be run in a work tree") {
                    true => NoRepository::None,
                    false => NoRepository::Failed(said),
                },
            );
        }
        let text = String::from_utf8(found.stdout)
            .map_err(|_| NoRepository::Failed("the path of the repository is not valid UTF-8".to_owned()))?;
        let mut lines = text.lines();
        git.top = lines.next().unwrap_or_default().into();
        git.common = lines.next().unwrap_or_default().into();
        git.prefix = lines.next().unwrap_or_default().to_owned();
        git.settings = git.own_programs().map_err(|failure| NoRepository::Failed(failure.message))?;
        Ok(git)
    }

    /// Settings in place of those of the repository itself that name programs: its filters do nothing, and its merge drivers report conflicts.
    fn own_programs(&self) -> Result<Vec<(String, String)>, Failure> {
        let mut settings = Vec::new();
        for file in ["--local", "--worktree"] {
            let arguments =
                ["config", file, "--includes", "-z", "--name-only", "--get-regexp", r"^(filter|merge)\."];
            let found = self.output(&self.top, None, &arguments, None).map_err(failed)?;
            // It fails if there are none, or no such file.
            for name in String::from_utf8_lossy(&found.stdout).split_terminator('\0') {
                let Some((section, variable)) = name.rsplit_once('.') else { continue };
                let value = match (section.starts_with("merge."), variable) {
                    (false, "clean" | "smudge" | "process") => "",
                    (false, "required") => "false",
                    (true, "driver") => "false",
                    _ => continue,
                };
                settings.push((name.to_owned(), value.to_owned()));
            }
        }
        Ok(settings)
    }

    /// Runs a command, which succeeds, and returns what it writes.
    pub(super) fn run<S: AsRef<OsStr>>(&self, folder: &Path, arguments: &[S]) -> Result<Vec<u8>, Failure> {
        self.run_with(folder, None, arguments, None)
    }

    /// The same with an index of its own, and with a file as its input.
    pub(super) fn run_with<S: AsRef<OsStr>>(
        &self,
        folder: &Path,
        index: Option<&Path>,
        arguments: &[S],
        input: Option<File>,
    ) -> Result<Vec<u8>, Failure> {
        let output = self.output(folder, index, arguments, input).map_err(failed)?;
        match output.status.success() {
            true => Ok(output.stdout),
            false => {
                let name = arguments
                    .first()
                    .map_or(String::new(), |name| name.as_ref().to_string_lossy().into_owned());
                Err(failed(format!("`git {name}` in {} failed: {}", folder.display(), said(&output))))
            }
        }
    }

    /// Runs a command that may fail.
    pub(super) fn output<S: AsRef<OsStr>>(
        &self,
        folder: &Path,
        index: Option<&Path>,
        arguments: &[S],
        input: Option<File>,
    ) -> Result<Output, String> {
        let mut command = command(folder);
        let given = SETTINGS.iter().map(|(name, value)| (*name, *value));
        let own = self.settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let mut count = 0;
        for (name, value) in given.chain(own) {
            command.env(format!("GIT_CONFIG_KEY_{count}"), name);
            command.env(format!("GIT_CONFIG_VALUE_{count}"), value);
            count += 1;
        }
        command.env("GIT_CONFIG_COUNT", count.to_string());
        if let Some(index) = index {
            command.env("GIT_INDEX_FILE", index);
        }
        if let Some(parent) = folder.parent().filter(|_| folder != self.top) {
            // A working tree without its `.git` must not be taken for the repository around it.
            command.env("GIT_CEILING_DIRECTORIES", parent);
        }
        command.args(arguments).stdin(input.map_or_else(Stdio::null, Stdio::from));
        command.output().map_err(|error| format!("cannot start `git`: {error}"))
    }

    /// The id that a command writes.
    pub(super) fn id<S: AsRef<OsStr>>(&self, folder: &Path, arguments: &[S]) -> Result<String, Failure> {
        Ok(id_in(&self.run(folder, arguments)?))
    }

    /// The object that a name stands for, if there is one.
    pub(super) fn object(&self, folder: &Path, name: &str) -> Option<String> {
        let found = self.output(folder, None, &["rev-parse", "-q", "--verify", name], None).ok()?;
        found.status.success().then(|| id_in(&found.stdout))
    }

    /// A commit with these files, which no branch has.
    pub(super) fn commit(&self, files: &str, parents: &[&str]) -> Result<String, Failure> {
        let mut arguments = vec!["commit-tree", files, "-m", "a state of the files during a run of `prose`"];
        arguments.extend(parents.iter().flat_map(|parent| ["-p", parent]));
        self.id(&self.top, &arguments)
    }

    /// The files in a folder as they are now: tracked ones and others that are not ignored, with their changes; without what runs keep in `.prose`.
    /// `temporary` is a folder for an index.
    pub(super) fn state(&self, folder: &Path, temporary: &Path) -> Result<String, Failure> {
        let index = Temporary::new(temporary)?;
        let own = self.run(folder, &["rev-parse", "--path-format=absolute", "--git-path", "index"])?;
        let own = PathBuf::from(String::from_utf8_lossy(&own).trim_end_matches(['\n', '\r']));
        if own.exists() {
            // It holds which files have not changed, so that they are not read again.
            fs::copy(&own, &index.0)
                .map_err(|error| failed(format!("cannot copy {}: {error}", own.display())))?;
        }
        let of_runs = format!("{}.prose", self.prefix);
        let without = format!(":(top,exclude,literal){of_runs}");
        // Git fails where a path is excluded that it ignores anyway.
        let excludes = if self.ignores(folder, &of_runs) { vec![] } else { vec![without.as_str()] };
        let add = [&["add", "-A", "--", ":/"][..], &excludes].concat();
        self.run_with(folder, Some(&index.0), &add, None)?;
        let listed = self.run_with(folder, Some(&index.0), &["ls-files", "-s", "-z"], None)?;
        if let Some(repository) = repository_in(&listed) {
            return Err(failed(not_supported(&repository)));
        }
        Ok(id_in(&self.run_with(folder, Some(&index.0), &["write-tree"], None)?))
    }

    /// The repository in this one, if there is one: a submodule, or a folder with a repository that is not ignored.
    pub(super) fn inner_repository(&self) -> Result<Option<String>, Failure> {
        if let Some(submodule) = repository_in(&self.run(&self.top, &["ls-files", "-s", "-z"])?) {
            return Ok(Some(submodule));
        }
        let others = self.run(&self.top, &["ls-files", "-o", "--exclude-standard", "-z"])?;
        let others = String::from_utf8_lossy(&others).into_owned();
        // Folders are listed only if they are repositories.
        Ok(others.split_terminator('\0').find_map(|path| path.strip_suffix('/')).map(str::to_owned))
    }

    /// Whether the folder of the project is one that git ignores.
    pub(super) fn ignores_project(&self) -> bool {
        !self.prefix.is_empty() && self.ignores(&self.top, self.prefix.trim_end_matches('/'))
    }

    /// Whether git ignores a path in a working tree.
    fn ignores(&self, tree: &Path, path: &str) -> bool {
        let found = self.output(tree, None, &["check-ignore", "-q", "--", path], None);
        found.is_ok_and(|found| found.status.success())
    }
}

/// The files in the repository of a folder that differ from a commit, and those that it does not track and does not ignore. The error is for the user.
pub(super) fn changed(folder: &Path, commit: &str) -> Result<Vec<PathBuf>, String> {
    let output = |arguments: &[&str]| written(plain(folder).args(arguments));
    if commit.starts_with('-') {
        return Err(format!("`{commit}` is not a commit"));
    }
    let top = output(&["rev-parse", "--show-toplevel"])?;
    let top = path(top.strip_suffix(b"\n").unwrap_or(&top));
    let commit = output(&["rev-parse", "--verify", "--quiet", &format!("{commit}^{{commit}}")])
        .map_err(|_| format!("`{commit}` is not a commit"))?;
    let diff = ["diff", "--name-only", "--no-renames", "--no-ext-diff", "-z", &id_in(&commit), "--"];
    let files =
        [output(&diff)?, output(&["ls-files", "--others", "--exclude-standard", "--full-name", "-z", ":/"])?];
    let files = files.iter().flat_map(|listed| listed.split(|byte| *byte == 0));
    Ok(files.filter(|name| !name.is_empty()).map(|name| top.join(path(name))).collect())
}

/// The command with the settings that are the same for all.
pub(super) fn plain(folder: &Path) -> Command {
    let mut command = command(folder);
    for (name, value) in SETTINGS {
        command.args(["-c", &format!("{name}={value}")]);
    }
    command
}

/// What a command writes, which succeeds. The error is for the user.
pub(super) fn written(command: &mut Command) -> Result<Vec<u8>, String> {
    let output = command.output().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => "git is not installed".to_owned(),
        _ => format!("git cannot be started: {error}"),
    })?;
    match output.status.success() {
        true => Ok(output.stdout),
        false => Err(said(&output)),
    }
}

/// What is said of a repository in a repository.
pub(super) fn not_supported(repository: &str) -> String {
    format!(
        "`{repository}` is a repository of its own; submodules and other repositories in a repository are not supported in working trees"
    )
}

/// The command without the environment of a caller that is a part of git itself.
fn command(folder: &Path) -> Command {
    let mut command = Command::new("git");
    command.current_dir(folder).stdin(Stdio::null());
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().to_ascii_uppercase().starts_with("GIT_") {
            command.env_remove(name);
        }
    }
    command
        .env("LC_ALL", "C")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_ALLOW_PROTOCOL", "none");
    for who in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{who}_NAME"), "prose").env(format!("GIT_{who}_EMAIL"), "prose@localhost");
    }
    // Ctrl-C in the terminal stops the run, and not a command in the middle of its work.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command
}

fn is_recent(version: &str) -> bool {
    let mut numbers =
        version.trim_start_matches("git version ").split('.').map(|number| number.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= MIN_VERSION
}

/// What a command that failed says.
fn said(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = text.lines().map(|line| line.trim_start_matches("fatal: ").trim_end()).collect();
    match lines.is_empty() {
        true => output.status.to_string(),
        false => lines.join("; "),
    }
}

pub(super) fn failed(message: impl Into<String>) -> Failure {
    Failure::new(ErrorKind::Other, message)
}

fn id_in(output: &[u8]) -> String {
    String::from_utf8_lossy(output).trim().to_owned()
}

/// The first repository in a list of `git ls-files -s`.
fn repository_in(listed: &[u8]) -> Option<String> {
    let entry = listed.split(|byte| *byte == 0).find(|entry| entry.starts_with(b"160000 "))?;
    let entry = String::from_utf8_lossy(entry);
    Some(entry.split_once('\t')?.1.to_owned())
}

/// A path that a command writes.
pub(super) fn path(bytes: &[u8]) -> PathBuf {
    #[cfg(unix)]
    {
        PathBuf::from(<OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(bytes))
    }
    #[cfg(not(unix))]
    {
        PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
    }
}

/// A path for a file that is removed in the end.
pub(super) struct Temporary(pub(super) PathBuf);

impl Temporary {
    pub(super) fn new(folder: &Path) -> Result<Self, Failure> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        fs::create_dir_all(folder)
            .map_err(|error| failed(format!("cannot create {}: {error}", folder.display())))?;
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Ok(Self(folder.join(format!(".{}-{number}", std::process::id()))))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // It may be a file, a folder, or nothing yet; what is left over is removed with the run.
        let _ = fs::remove_file(&self.0).or_else(|_| fs::remove_dir_all(&self.0));
    }
}
