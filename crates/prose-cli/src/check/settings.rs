//! The settings that programs are checked under: what their `prose.toml` and the command line say.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use prose_analysis::host;
use prose_analysis::imports::normalized;
use prose_config::{Config, FILE_NAME, Overrides, Project, Projects};
use prose_project::trust::{TrustStore, accepts_settings, ignored_settings};
use prose_syntax::Diagnostic;

use super::Failure;
use super::diagnose::Diagnosed;
use crate::cli::CheckArgs;

/// Where settings come from.
enum Origin {
    /// The nearest `prose.toml` of each program.
    Nearest,
    /// One file for all programs.
    File(PathBuf),
    /// Nowhere: no file is read.
    Nowhere,
}

/// The settings of all that is checked.
pub(crate) struct Settings {
    origin: Origin,
    overrides: Arc<Overrides>,
    projects: Projects,
    /// Files of settings that the command line names, with their names there.
    named: BTreeMap<PathBuf, PathBuf>,
    /// What each file of settings says, which need not stand in it yet: it may just have been fixed.
    rules: HashMap<Option<PathBuf>, Arc<Rules>>,
}

/// What the settings say of the programs in a project.
pub(crate) struct Rules {
    overrides: Arc<Overrides>,
    project: Arc<Project>,
    meaning: host::Project,
}

/// A file of settings that was read.
pub(crate) struct SettingsFile {
    /// As the user would write it.
    pub(crate) path: PathBuf,
    /// Whether it is one of those to check, and is told of even if nothing is wrong.
    pub(crate) is_named: bool,
    project: Arc<Project>,
}

impl Settings {
    /// It fails if a file is named that cannot be read: all that is found would be found under other settings than those asked for.
    pub(crate) fn new(args: &CheckArgs) -> Result<Self, Failure> {
        let mut settings = Self::nearest();
        settings.overrides = Arc::new(Overrides { profile: args.profile, levels: args.levels() });
        if args.no_config {
            settings.origin = Origin::Nowhere;
        }
        if let Some(path) = &args.config {
            let identity = settings.read(path)?;
            settings.origin = Origin::File(identity);
        }
        Ok(settings)
    }

    /// Those of the nearest `prose.toml` of each program.
    pub(crate) fn nearest() -> Self {
        Self {
            origin: Origin::Nearest,
            overrides: Arc::default(),
            projects: Projects::accepting(|file| accepts_settings(&TrustStore::of_user(), file)),
            named: BTreeMap::new(),
            rules: HashMap::new(),
        }
    }

    /// Reads a file of settings in order to check it, too.
    pub(crate) fn add_named(&mut self, path: &Path) -> Result<(), Failure> {
        let identity = self.read(path)?;
        let shown = path.strip_prefix(".").unwrap_or(path).to_owned();
        self.named.entry(identity).or_insert(shown);
        Ok(())
    }

    fn read(&mut self, path: &Path) -> Result<PathBuf, Failure> {
        let failure = |reason| Failure { path: path.to_owned(), reason };
        let identity = identity(path);
        self.projects.at(identity.clone());
        match self.projects.take_failures().pop() {
            Some((_, error)) => Err(failure(error.to_string())),
            None => Ok(identity),
        }
    }

    /// The rules for a program.
    pub(crate) fn of(&mut self, program: &Path) -> Arc<Rules> {
        let project = match &self.origin {
            Origin::Nearest => self.projects.of(&identity(program)),
            Origin::File(path) => self.projects.at(path.clone()),
            Origin::Nowhere => Arc::default(),
        };
        let rules = self.rules.entry(project.path.clone());
        Arc::clone(rules.or_insert_with(|| Arc::new(Rules::new(project, Arc::clone(&self.overrides)))))
    }

    /// What could not be read of what was asked for with [`Settings::of`].
    pub(crate) fn take_failures(&mut self) -> Vec<Failure> {
        let failures = self.projects.take_failures().into_iter();
        failures.map(|(path, error)| Failure { reason: error.to_string(), path: shown(&path) }).collect()
    }

    /// What is told of files of other users, which are not read.
    pub(crate) fn take_ignored(&mut self) -> Vec<String> {
        self.projects.take_ignored().iter().map(|file| ignored_settings(&shown(file))).collect()
    }

    /// Every file that was read, in the order of their paths.
    pub(crate) fn files(&self) -> Vec<SettingsFile> {
        let files = self.projects.files().into_iter();
        files
            .filter_map(|project| {
                let path = project.path.as_deref()?;
                let named = self.named.get(path);
                let is_named = named.is_some();
                Some(SettingsFile { path: named.cloned().unwrap_or_else(|| shown(path)), is_named, project })
            })
            .collect()
    }

    /// From now on, a file of settings says something else.
    pub(crate) fn replace(&mut self, file: &SettingsFile, text: &str) {
        let path = file.project.path.clone();
        let rules = self.rules_in(path.clone(), text);
        self.rules.insert(path, Arc::new(rules));
    }

    /// What is wrong with the settings in a text that is to be that of a file.
    pub(crate) fn diagnose(&self, path: &Path, text: &str) -> Vec<Diagnosed> {
        let rules = self.rules_in(Some(identity(path)), text);
        rules.diagnosed(path, &rules.project.problems)
    }

    /// What is wrong with a file of settings as it was read.
    pub(crate) fn diagnose_file(&self, file: &SettingsFile) -> Vec<Diagnosed> {
        let rules = Rules::new(Arc::clone(&file.project), Arc::clone(&self.overrides));
        rules.diagnosed(&file.path, &file.project.problems)
    }

    fn rules_in(&self, path: Option<PathBuf>, text: &str) -> Rules {
        let (config, problems) = Config::parse(text);
        let project = Project { path, config, problems, text: text.to_owned() };
        Rules::new(Arc::new(project), Arc::clone(&self.overrides))
    }
}

impl SettingsFile {
    /// The text; where the file is not UTF-8, with replacement characters.
    pub(crate) fn text(&self) -> &str {
        &self.project.text
    }
}

impl Rules {
    fn new(project: Arc<Project>, overrides: Arc<Overrides>) -> Self {
        let config = &project.config;
        let meaning = host::Project::new(&config.models, config.registry.url.as_str());
        Self { overrides, project, meaning }
    }

    /// What changes what programs mean.
    pub(crate) fn meaning(&self) -> host::Project {
        self.meaning.clone()
    }

    /// The project.
    pub(crate) fn project(&self) -> &Project {
        &self.project
    }

    /// Diagnostics of the file at a path with their severities, without those that are off.
    pub(crate) fn diagnosed(&self, path: &Path, diagnostics: &[Diagnostic]) -> Vec<Diagnosed> {
        let path = identity(path);
        let reported = diagnostics.iter().filter_map(|diagnostic| {
            let severity = self.project.severity(&self.overrides, &path, diagnostic)?;
            Some(Diagnosed { diagnostic: diagnostic.clone(), severity })
        });
        reported.collect()
    }
}

/// Whether a path is that of settings and not of a program.
pub(crate) fn is_settings(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == FILE_NAME) && !path.is_dir()
}

/// The path that a file is known by: the same for all ways to name it, as far as that can be told from the names.
pub(crate) fn identity(path: &Path) -> PathBuf {
    normalized(&std::path::absolute(path).unwrap_or_else(|_| path.to_owned()))
}

/// An absolute path as somebody in the current folder would write it.
pub(crate) fn shown(path: &Path) -> PathBuf {
    let folder = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(folder).unwrap_or(path).to_owned()
}
