//! The folder that a server serves.

use std::io;
use std::path::{Path, PathBuf};

use prose_project::imports::ImportOptions;
use prose_project::load::{self, Loaded};
use prose_run::{Project, UserTrust};

use super::Options;

/// The folder of the project. Nothing outside of it is read for a client.
#[derive(Debug)]
pub(super) struct Folder {
    root: PathBuf,
    offline: bool,
    trust: UserTrust,
}

impl Folder {
    pub(super) fn new(options: Options) -> io::Result<Self> {
        let Options { folder, offline, trust } = options;
        Ok(Self { root: folder.canonicalize()?, offline, trust })
    }

    /// What the user trusts.
    pub(super) fn trust(&self) -> UserTrust {
        self.trust.clone()
    }

    /// The path of a program in the folder, which may not exist yet. The error says why it is refused.
    pub(super) fn place(&self, path: &str) -> Result<PathBuf, String> {
        let joined = self.root.join(path);
        let document = prose_markdown::program_at_path(&joined).filter(|_| !joined.exists());
        let file = document.as_ref().map_or(joined.as_path(), |(document, _)| document);
        let is_program = file.extension().is_some_and(|extension| extension == "prose");
        if !is_program && !prose_markdown::is_markdown(file) {
            return Err(format!("`{path}` is not a program; name a `.prose` file or a Markdown document"));
        }
        // Links are followed before the place is judged, also those in a folder in which the file does not exist yet.
        let real = match file.canonicalize() {
            Ok(real) => real,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let folder = file.parent().and_then(|folder| folder.canonicalize().ok());
                folder.unwrap_or_else(|| self.root.clone()).join(file.file_name().unwrap_or_default())
            }
            Err(error) => return Err(format!("`{path}` cannot be read: {error}")),
        };
        if !real.starts_with(&self.root) {
            return Err(format!("`{path}` is outside the project `{}`", self.root.display()));
        }
        Ok(joined)
    }

    /// A path for display: relative to the folder, where it lies in it.
    pub(super) fn shown(&self, path: &Path) -> String {
        path.strip_prefix(&self.root).unwrap_or(path).to_string_lossy().into_owned()
    }

    pub(super) fn import_options(&self) -> ImportOptions {
        ImportOptions { offline: self.offline, ..ImportOptions::default() }
    }

    /// Loads a program to run it.
    pub(super) fn load(&self, path: &str) -> Result<Loaded, String> {
        let place = self.place(path)?;
        load::load_file(&place, self.import_options()).map_err(|reason| format!("`{path}` {reason}"))
    }

    /// Where the runs of a program are stored: in the folder of its `prose.toml`, else in this one.
    pub(super) fn project_of(&self, loaded: &Loaded) -> Project {
        let root = loaded.rules.folder().unwrap_or(&self.root);
        Project { home: std::env::home_dir(), ..Project::new(root) }
    }

    /// Where runs are looked for.
    pub(super) fn project(&self) -> Project {
        Project { home: std::env::home_dir(), ..Project::new(&self.root) }
    }
}
