//! The folder that a server serves.

use std::collections::BTreeSet;
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use prose_project::files::leads_into;
use prose_project::imports::ImportOptions;
use prose_project::load::{self, Loaded};
use prose_project::settings::{Rules, Settings};
use prose_project::walk;
use prose_run::{Project, UserTrust};

use crate::Options;

/// The path of a program without one in its folder.
pub(crate) const UNNAMED: &str = "program.prose";

/// The folder of the project. Nothing outside of it is read for a client.
#[derive(Debug)]
pub(crate) struct Folder {
    root: PathBuf,
    /// The folder that the server was started for, which its programs may import from.
    served: PathBuf,
    offline: bool,
    trust: UserTrust,
}

impl Folder {
    pub(crate) fn new(options: Options) -> io::Result<Self> {
        let Options { folder, offline, trust } = options;
        let root = folder.canonicalize()?;
        Ok(Self { served: root.clone(), root, offline, trust })
    }

    /// What the user trusts.
    pub(crate) fn trust(&self) -> UserTrust {
        self.trust.clone()
    }

    /// The path of a program in the folder, which may not exist yet. The error says why it is refused.
    pub(crate) fn place(&self, path: &str) -> Result<PathBuf, String> {
        let joined = self.root.join(path);
        let document = prose_markdown::program_at_path(&joined).filter(|_| !joined.exists());
        let file = document.as_ref().map_or(joined.as_path(), |(document, _)| document);
        let is_program = file.extension().is_some_and(|extension| extension == "prose");
        if !is_program && !prose_markdown::is_markdown(file) {
            return Err(format!("`{path}` is not a program; name a `.prose` file or a Markdown document"));
        }
        if !leads_into(file, &self.root) {
            return Err(format!("`{path}` is outside the project `{}`", self.root.display()));
        }
        Ok(joined)
    }

    /// A path for display: relative to the folder, where it lies in it.
    pub(crate) fn shown(&self, path: &Path) -> String {
        path.strip_prefix(&self.root).unwrap_or(path).to_string_lossy().into_owned()
    }

    pub(crate) fn import_options(&self) -> ImportOptions {
        ImportOptions { offline: self.offline, within: Some(self.served.clone()), ..ImportOptions::default() }
    }

    /// Loads a program to run it.
    pub(crate) fn load(&self, path: &str) -> Result<Loaded, String> {
        let place = self.place(path)?;
        load::load_file(&place, self.import_options()).map_err(|reason| format!("`{path}` {reason}"))
    }

    /// Where the runs of a program are stored: in the folder of its `prose.toml`, else in this one.
    pub(crate) fn project_of(&self, loaded: &Loaded) -> Project {
        self.project_at(loaded.rules.folder())
    }

    /// The settings for the programs directly in a folder.
    pub(crate) fn rules_in(folder: &Path) -> Arc<Rules> {
        Settings::default().of(&folder.join(UNNAMED))
    }

    fn project_at(&self, settings: Option<&Path>) -> Project {
        Project { home: std::env::home_dir(), ..Project::new(settings.unwrap_or(&self.root)) }
    }

    /// The programs in the folder, without those that ignore files leave out.
    pub(crate) fn programs(&self) -> Vec<PathBuf> {
        walk::programs(std::slice::from_ref(&self.root), NonZeroUsize::MIN).programs
    }

    /// Where runs are looked for: in this folder, and where those of the programs in it are stored. Folders without runs are left out.
    pub(crate) fn projects(&self) -> Vec<Project> {
        let mut settings = Settings::default();
        // A program in the folder itself may have the settings of a folder above.
        let unnamed = self.root.join(UNNAMED);
        let mut folders = BTreeSet::from([self.root.clone()]);
        for program in std::iter::once(unnamed).chain(self.programs()) {
            folders.extend(settings.of(&program).folder().map(Path::to_owned));
        }
        let projects = folders.iter().map(|folder| self.project_at(Some(folder)));
        projects.filter(|project| project.runs().is_dir()).collect()
    }

    /// The folder itself.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The same with another folder in this one. The error says why it is refused.
    pub(crate) fn within(&self, folder: &Path) -> Result<Self, String> {
        let root = folder
            .canonicalize()
            .map_err(|error| format!("the folder `{}` cannot be opened: {error}", folder.display()))?;
        if !root.starts_with(&self.root) {
            return Err(format!(
                "`{}` is outside the folder `{}`, which is served; pass `--folder` to serve another one",
                folder.display(),
                self.root.display()
            ));
        }
        Ok(Self { root, served: self.served.clone(), offline: self.offline, trust: self.trust.clone() })
    }
}
