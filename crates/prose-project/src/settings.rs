//! The settings of programs: their `prose.toml`, after overrides from the command line or the client.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use prose_analysis::host;
use prose_analysis::skills::{MissingSkills, NamedSkill};
use prose_config::{Config, FILE_NAME, Overrides, Project, Projects, find_accepted};
use prose_registry::LOCK_FILE;
use prose_syntax::fix::Reported;
use prose_syntax::{Diagnostic, Severity};

use crate::files::{Failure, identity, shown};
use crate::skills;
use crate::trust::{TrustStore, accepts_settings, ignored_settings};

/// The source of settings.
#[derive(Debug, Clone, Default)]
pub enum SettingsSource {
    /// The nearest `prose.toml` of each program.
    #[default]
    Nearest,
    /// One file for all programs.
    File(PathBuf),
    /// No file.
    Nowhere,
}

/// The settings of all programs of a session.
#[derive(Debug)]
pub struct Settings {
    source: SettingsSource,
    overrides: Arc<Overrides>,
    projects: Projects,
    /// Settings files that the command line names, as named.
    named: BTreeMap<PathBuf, PathBuf>,
    /// Replaced contents of settings files, for fixes that are not written.
    rules: HashMap<Option<PathBuf>, Arc<Rules>>,
}

/// The settings of a project, with overrides.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Rules {
    overrides: Arc<Overrides>,
    project: Arc<Project>,
    meaning: host::Project,
}

/// A diagnostic with its severity for the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnosed {
    /// The diagnostic.
    pub diagnostic: Diagnostic,
    /// The severity after profile, levels and ignores.
    pub severity: Severity,
}

impl Reported for Diagnosed {
    fn diagnostic(&self) -> &Diagnostic {
        &self.diagnostic
    }

    fn severity(&self) -> Severity {
        self.severity
    }
}

/// A settings file that was read.
pub struct SettingsFile {
    /// Its path for display.
    pub path: PathBuf,
    /// Whether the command line names it, so that it is reported even without problems.
    pub is_named: bool,
    project: Arc<Project>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            source: SettingsSource::Nearest,
            overrides: Arc::default(),
            projects: projects(false),
            named: BTreeMap::new(),
            rules: HashMap::new(),
        }
    }
}

/// The projects whose settings are read: those of other users only if the workspace or their folders are trusted.
fn projects(is_trusted: bool) -> Projects {
    Projects::accepting(move |file| is_trusted || accepts_settings(&TrustStore::of_user(), file))
}

impl Settings {
    /// Fails if a named file cannot be read: other settings than the requested ones would apply.
    pub fn new(source: SettingsSource, overrides: Overrides) -> Result<Self, Failure> {
        let mut settings = Self { overrides: Arc::new(overrides), ..Self::default() };
        settings.source = match source {
            SettingsSource::File(path) => SettingsSource::File(settings.read(&path)?),
            source => source,
        };
        Ok(settings)
    }

    /// Adds a settings file that is to be checked, too.
    pub fn add_named(&mut self, path: &Path) -> Result<(), Failure> {
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

    /// Replaces the overrides. Returns whether they changed.
    pub fn set_overrides(&mut self, overrides: Overrides) -> bool {
        let changes = *self.overrides != overrides;
        if changes {
            self.overrides = Arc::new(overrides);
            self.rules.clear();
        }
        changes
    }

    /// Reads the files again, including those of other users if `is_trusted`.
    pub fn trust(&mut self, is_trusted: bool) {
        self.projects = projects(is_trusted);
        self.rules.clear();
    }

    /// Discards all files, so that they are read again.
    pub fn forget_files(&mut self) {
        self.projects.forget();
        self.rules.clear();
    }

    /// The settings of a program.
    pub fn of(&mut self, program: &Path) -> Arc<Rules> {
        let project = match &self.source {
            SettingsSource::Nearest if program.is_absolute() => self.projects.of(program),
            SettingsSource::Nearest => self.projects.of(&identity(program)),
            SettingsSource::File(path) => self.projects.at(path.clone()),
            SettingsSource::Nowhere => Arc::default(),
        };
        if let Some(rules) = self.rules.get(&project.path) {
            return Arc::clone(rules);
        }
        let path = project.path.clone();
        let rules = Arc::new(Rules::new(project, Arc::clone(&self.overrides)));
        self.rules.insert(path, Arc::clone(&rules));
        rules
    }

    /// The files of [`Settings::of`] that could not be read.
    pub fn take_failures(&mut self) -> Vec<Failure> {
        let failures = self.projects.take_failures().into_iter();
        failures.map(|(path, error)| Failure { reason: error.to_string(), path: shown(&path) }).collect()
    }

    /// Warnings about ignored files of other users.
    pub fn take_ignored(&mut self) -> Vec<String> {
        self.projects.take_ignored().iter().map(|file| ignored_settings(&shown(file))).collect()
    }

    /// All files that were read, sorted by path.
    pub fn files(&self) -> Vec<SettingsFile> {
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

    /// Replaces the content of a settings file.
    pub fn replace(&mut self, file: &SettingsFile, text: &str) {
        let path = file.project.path.clone();
        let rules = self.rules_in(path.clone(), text);
        self.rules.insert(path, Arc::new(rules));
    }

    /// The diagnostics of a text as the content of a settings file.
    pub fn diagnose(&self, path: &Path, text: &str) -> Vec<Diagnosed> {
        self.rules_in(Some(identity(path)), text).problems()
    }

    /// The diagnostics of a settings file as read.
    pub fn diagnose_file(&self, file: &SettingsFile) -> Vec<Diagnosed> {
        Rules::new(Arc::clone(&file.project), Arc::clone(&self.overrides)).problems()
    }

    fn rules_in(&self, path: Option<PathBuf>, text: &str) -> Rules {
        Rules::new(Arc::new(Project::parse(path, text.to_owned())), Arc::clone(&self.overrides))
    }
}

impl SettingsFile {
    /// The text, with replacement characters if it is not valid UTF-8.
    pub fn text(&self) -> &str {
        &self.project.text
    }
}

impl Rules {
    fn new(project: Arc<Project>, overrides: Arc<Overrides>) -> Self {
        let config = &project.config;
        let meaning = host::Project::new(&config.models, config.registry.url.as_str())
            .with_harness(config.run.harness.as_str())
            .with_agent_harnesses(config.agents.iter().filter_map(|(agent, config)| {
                config.harness.map(|harness| (agent.as_str(), harness.as_str()))
            }))
            .with_grants(config.grants())
            .with_servers(config.mcp.servers.0.keys().map(String::as_str));
        Self { overrides, project, meaning }
    }

    /// The part that changes the meaning of programs.
    pub fn meaning(&self) -> host::Project {
        self.meaning.clone()
    }

    /// The project.
    pub fn project(&self) -> &Project {
        &self.project
    }

    /// The settings.
    pub fn config(&self) -> &Config {
        &self.project.config
    }

    /// The folder of `prose.toml`.
    pub fn folder(&self) -> Option<&Path> {
        self.project.path.as_deref()?.parent()
    }

    /// The skills that cannot be used of those that a program of the project names.
    pub fn missing_skills(&self, program: &Path, named: &BTreeSet<NamedSkill>) -> MissingSkills {
        let root = self.folder().or(program.parent()).unwrap_or(Path::new(""));
        skills::missing(self.config(), root, named)
    }

    /// The configured folder with copies of imported programs.
    pub fn vendor(&self) -> Option<PathBuf> {
        Some(self.folder()?.join(self.config().registry.vendor.as_path()?))
    }

    /// The severity of a diagnostic of the file at an absolute path; `None` if it is disabled.
    pub fn severity(&self, path: &Path, diagnostic: &Diagnostic) -> Option<Severity> {
        self.project.severity(&self.overrides, path, diagnostic)
    }

    /// The diagnostics of a file with their severities, without disabled ones.
    pub fn diagnosed(&self, path: &Path, diagnostics: &[Diagnostic]) -> Vec<Diagnosed> {
        let path = identity(path);
        let reported = diagnostics.iter().filter_map(|diagnostic| {
            let severity = self.severity(&path, diagnostic)?;
            Some(Diagnosed { diagnostic: diagnostic.clone(), severity })
        });
        reported.collect()
    }

    /// The diagnostics of the settings file itself.
    pub fn problems(&self) -> Vec<Diagnosed> {
        let path = self.project.path.as_deref().unwrap_or(Path::new(FILE_NAME));
        let mut problems = self.project.problems.clone();
        let root = path.parent().unwrap_or(Path::new(""));
        problems.extend(skills::problems(&self.project, root));
        problems.sort_by_key(|problem| (problem.range.start(), problem.range.end()));
        self.diagnosed(path, &problems)
    }
}

/// Warnings about files of other users that would apply to a program.
pub fn ignored_for(program: &Path) -> Vec<String> {
    let store = TrustStore::of_user();
    let mut ignored = Vec::new();
    find_accepted(program, |file| {
        let is_accepted = accepts_settings(&store, file);
        if !is_accepted {
            ignored.push(ignored_settings(&shown(file)));
        }
        is_accepted
    });
    ignored
}

/// The folder of the lock file for programs without settings: the nearest one with a lock file of this user, otherwise the folder itself.
pub fn lock_folder(folder: &Path) -> PathBuf {
    let has_lock = |folder: &&Path| {
        let path = folder.join(LOCK_FILE);
        path.is_file() && accepts_settings(&TrustStore::of_user(), &path)
    };
    folder.ancestors().find(has_lock).unwrap_or(folder).to_owned()
}

/// Whether a path is a settings file, not a program.
pub fn is_settings(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == FILE_NAME) && !path.is_dir()
}
