//! Merges the changes of branches and writes the result to the folder that they come from.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use prose_vm::effect::Failure;
use prose_vm::error::ErrorKind;
use prose_vm::trees::BranchTree;

use super::git::{Git, Temporary, failed, not_supported, path};

/// What was changed in a tree.
pub(super) struct Changes {
    /// The commit with the files that it started with.
    pub(super) base: String,
    /// Its files now.
    pub(super) files: String,
}

/// Changes that cannot be merged.
pub(super) struct MergeConflict {
    /// The files.
    pub(super) files: Vec<String>,
    /// The branch that changed them before, by its index; `None` if none did.
    pub(super) earlier: Option<usize>,
    /// The branch whose changes do not fit.
    pub(super) later: usize,
}

/// Merges into a folder.
pub(super) struct Merger<'a> {
    pub(super) git: &'a Git,
    /// The folder.
    pub(super) target: PathBuf,
    /// A folder for temporary files in the same file system.
    pub(super) temporary: PathBuf,
}

/// The result of a merge: the files, or the names of those in conflict.
type Merged = Result<String, Vec<String>>;

impl Merger<'_> {
    /// Merges changes in their order. The result is a commit with the merged files, whose parent has the files of the folder.
    pub(super) fn plan(
        &self,
        changed: &[(&BranchTree, Changes)],
    ) -> Result<Result<String, MergeConflict>, Failure> {
        let before = self.state()?;
        let mut files = before.clone();
        for (later, (_, changes)) in changed.iter().enumerate() {
            files = match self.merge(&changes.base, &files, &changes.files)? {
                Ok(files) => files,
                Err(names) => {
                    let mut earlier = None;
                    for (nth, (_, changes)) in changed[..later].iter().enumerate() {
                        let own = self.names(&changes.base, &changes.files)?;
                        if names.iter().any(|name| own.contains(name)) {
                            earlier = Some(nth);
                        }
                    }
                    return Ok(Err(MergeConflict { files: names, earlier, later }));
                }
            };
        }
        let before = self.git.commit(&before, &[])?;
        Ok(Ok(self.git.commit(&files, &[&before])?))
    }

    /// Brings the folder to a planned state. A part of it may have been written before.
    pub(super) fn apply(&self, plan: &str) -> Result<(), Failure> {
        let tree = |name: &str| self.git.id(&self.git.top, &["rev-parse", &format!("{name}^{{tree}}")]);
        let (before, planned, now) = (tree(&format!("{plan}^"))?, tree(plan)?, self.state()?);
        let goal = match now == before {
            true => planned,
            false => match self.merge(&format!("{plan}^"), &now, &planned)? {
                Ok(files) => files,
                Err(names) => {
                    let message = format!(
                        "{} was changed while changes of branches were written to it; nothing more is written, and the work of the branches is kept: undo the \
                         change, then resume the run",
                        shown_files(&names)
                    );
                    return Err(Failure::new(ErrorKind::Conflict, message));
                }
            },
        };
        self.write(&now, &goal)
    }

    fn state(&self) -> Result<String, Failure> {
        self.git.state(&self.target, &self.temporary)
    }

    /// Merges two states of the files with what both come from.
    fn merge(&self, base: &str, ours: &str, theirs: &str) -> Result<Merged, Failure> {
        let (ours, theirs) = (self.git.commit(ours, &[base])?, self.git.commit(theirs, &[base])?);
        let arguments = ["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", &ours, &theirs];
        let merged = self.git.output(&self.git.top, None, &arguments, None).map_err(failed)?;
        let mut parts = merged.stdout.split(|byte| *byte == 0).map(String::from_utf8_lossy);
        let files = parts.next().unwrap_or_default().trim().to_owned();
        match merged.status.code() {
            Some(0) => Ok(Ok(files)),
            Some(1) => {
                let names: BTreeSet<String> =
                    parts.map(String::from).filter(|name| !name.is_empty()).collect();
                Ok(Err(names.into_iter().collect()))
            }
            _ => Err(failed(format!(
                "`git merge-tree` failed: {}",
                String::from_utf8_lossy(&merged.stderr).trim()
            ))),
        }
    }

    /// The names of the files that differ.
    fn names(&self, from: &str, to: &str) -> Result<BTreeSet<String>, Failure> {
        let names = self
            .git
            .run(&self.git.top, &["diff-tree", "-r", "-z", "--no-renames", "--name-only", from, to])?;
        Ok(String::from_utf8_lossy(&names).split_terminator('\0').map(str::to_owned).collect())
    }

    /// Changes the files of the folder: each is replaced as a whole.
    fn write(&self, from: &str, to: &str) -> Result<(), Failure> {
        let raw =
            self.git.run(&self.git.top, &["diff-tree", "-r", "-z", "--no-renames", "--raw", from, to])?;
        let mut fields = raw.split(|byte| *byte == 0);
        let (mut removed, mut written) = (Vec::new(), Vec::new());
        while let (Some(change), Some(name)) =
            (fields.next().filter(|change| !change.is_empty()), fields.next())
        {
            if change.split(|byte| *byte == b' ').nth(1) == Some(b"160000".as_slice()) {
                return Err(failed(not_supported(&String::from_utf8_lossy(name))));
            }
            match change.last() {
                Some(b'D') => removed.push(name.to_vec()),
                _ => written.push(name.to_vec()),
            }
        }
        let staged = Temporary::new(&self.temporary)?;
        self.check_out(to, &written, &staged.0)?;
        for name in &removed {
            self.remove(&path(name)).map_err(|error| self.not_written(name, &error))?;
        }
        for name in &written {
            let file = path(name);
            let place = self.place(&file).and_then(|place| {
                place.parent().map_or(Ok(()), fs::create_dir_all)?;
                fs::rename(staged.0.join(&file), place)
            });
            place.map_err(|error| self.not_written(name, &error))?;
        }
        Ok(())
    }

    fn not_written(&self, name: &[u8], error: &io::Error) -> Failure {
        let file = self.target.join(path(name));
        failed(format!(
            "cannot change {}: {error}; the work of the branches is kept, so that the run can be resumed",
            file.display()
        ))
    }

    /// Writes files of a state to another folder, as git would to this one.
    fn check_out(&self, files: &str, names: &[Vec<u8>], folder: &Path) -> Result<(), Failure> {
        let (index, list) = (Temporary::new(&self.temporary)?, Temporary::new(&self.temporary)?);
        self.git.run_with(&self.target, Some(&index.0), &["read-tree", files], None)?;
        let opened = File::create(&list.0).and_then(|mut file| {
            for name in names {
                file.write_all(name)?;
                file.write_all(b"\0")?;
            }
            File::open(&list.0)
        });
        let input = opened.map_err(|error| failed(format!("cannot write {}: {error}", list.0.display())))?;
        fs::create_dir_all(folder)
            .map_err(|error| failed(format!("cannot create {}: {error}", folder.display())))?;
        let mut prefix = OsStr::new("--prefix=").to_owned();
        prefix.push(folder);
        prefix.push("/");
        let arguments = [
            OsStr::new("checkout-index"),
            OsStr::new("-f"),
            OsStr::new("-z"),
            OsStr::new("--stdin"),
            &prefix,
        ];
        self.git.run_with(&self.target, Some(&index.0), &arguments, Some(input))?;
        Ok(())
    }

    /// The place of a file in the folder. No link may lead it elsewhere.
    fn place(&self, file: &Path) -> io::Result<PathBuf> {
        let mut place = self.target.clone();
        for part in file.parent().into_iter().flat_map(Path::components) {
            place.push(part);
            if place.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink()) {
                return Err(io::Error::other(format!("`{}` is a symbolic link", place.display())));
            }
        }
        Ok(self.target.join(file))
    }

    /// Removes a file, and the folders that are empty without it.
    fn remove(&self, file: &Path) -> io::Result<()> {
        let place = self.place(file)?;
        match fs::remove_file(&place) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        for folder in place.ancestors().skip(1).take_while(|folder| **folder != self.target) {
            if fs::remove_dir(folder).is_err() {
                break;
            }
        }
        Ok(())
    }
}

/// Names of files for messages.
pub(super) fn shown_files(names: &[String]) -> String {
    const MAX_SHOWN: usize = 5;
    let mut shown: Vec<String> = names.iter().take(MAX_SHOWN).map(|name| format!("`{name}`")).collect();
    if names.len() > MAX_SHOWN {
        shown.push(format!("{} more", names.len() - MAX_SHOWN));
    }
    shown.join(", ")
}
